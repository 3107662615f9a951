# SPDX-License-Identifier: MIT OR Apache-2.0
"""The NUCLEO-L476RG through the commands: cycles, prices by clock and range, sleep, a node's life."""

from __future__ import annotations

import pytest

from conftest import Cli, require
from sunseal import Bench
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.planner import asleep

BOARD = "nucleo-l476rg"
ARM = "msp432p401r-launchpad"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    for board in (BOARD, ARM):
        try:
            boards.firmware_path(board, boards.variant((), board), "bench-sha256-hash")
        except SunsealError as e:
            require(False, f"{e} (make all-boards)")


def test_without_wait_states_it_counts_as_every_cortex_m4() -> None:
    """Two makers' parts, one core: without wait states, by one memory path, they differ by the marks' stores alone."""
    path = {"unaligned_wide_run_anywhere": "true", "indexed_pairs": "false"}
    beyond = set()
    for workload in ("aes128-sbox-encrypt", "sha256-hash", "ecdsa-p256-sign", "x25519-agree"):
        ours, other = (
            measuring.measure(workload, board=board, freq_hz=4_000_000, timing=path) for board in (BOARD, ARM)
        )
        assert (ours.result_valid, ours.lints) == (True, ())
        beyond.add(ours.cycles - other.cycles)
    assert beyond == {-2}


def test_each_wait_state_costs_and_range_2_wants_more_of_them() -> None:
    """STM32CubeL4, stm32l4xx_ll_utils.c: 6, 12, 18, 26 MHz in Range 2; 16, 32, 48, 64, 80 MHz in Range 1."""
    weights = power_sets.PowerSet("datasheet", BOARD)
    waits = {
        mhz: power_sets.wait_states(weights, mhz * 1_000_000, 3.0) for mhz in (4, 6, 7, 12, 18, 26, 27, 48, 64, 80)
    }
    assert waits == {4: 0, 6: 0, 7: 1, 12: 1, 18: 2, 26: 3, 27: 1, 48: 2, 64: 3, 80: 4}
    cycles = [
        measuring.measure("sha256-hash", board=BOARD, freq_hz=mhz * 1_000_000).cycles for mhz in (6, 12, 18, 26, 80)
    ]
    assert cycles == sorted(set(cycles))


@pytest.mark.parametrize(
    ("mhz", "current_a"), [(4, 550e-6), (16, 1830e-6), (26, 2880e-6), (48, 6280e-6), (80, 10.2e-3)]
)
def test_a_workload_is_priced_by_range_and_clock(mhz: int, current_a: float) -> None:
    m = measuring.measure("sha256-hash", board=BOARD, freq_hz=mhz * 1_000_000, vcc_v=3.0)
    assert m.time_s == pytest.approx(m.cycles / (mhz * 1e6), rel=1e-6)
    assert m.energy_j == pytest.approx(current_a * 3.0 * m.time_s, rel=1e-3)


def test_a_clock_above_80_mhz_has_no_price(sunseal: Cli) -> None:
    outcome = sunseal("measure", "sha256-hash", "--board", BOARD, "--freq", "81MHz")
    assert outcome.status == 2
    assert "the fastest is 80 MHz" in outcome.err


def test_it_sleeps_in_stop_2_with_its_crystal() -> None:
    """DS10198, first page: 1.1 uA, and 1.4 uA with RTC, at 1.8 V; beside it the SX1262 sleeps with 0.6 uA."""
    told = asleep.of_board(BOARD, 1.8)
    assert told.cpu_w[0] == pytest.approx(1.14e-6 * 1.8, rel=1e-6)
    assert told.total_w[0] == pytest.approx((1.44e-6 + 0.6e-6) * 1.8, rel=1e-6)


def test_a_battery_under_signatures_is_a_command(sunseal: Cli) -> None:
    at = ("--vcc", "3.0V", "--battery", "panasonic-cr2354", "--cutoff", "2.0V")
    outcome = sunseal("lifetime", "ecdsa-p256-sign", "--board", BOARD, "--every", "600s", *at)
    assert outcome.status == 0, outcome.err
    assert "recalled" in outcome.out


def test_a_nodes_life_signs_every_second_and_stops_in_between() -> None:
    """duty-sha256-hash: clocked by the PLL, woken by the RTC through Stop 2."""
    elf = boards.firmware_path(BOARD, boards.variant((), BOARD), "duty-sha256-hash")
    node = Bench(BOARD, elf)
    node.machine.write(node.machine.address("duty_period_s"), (1).to_bytes(4, "little"))
    node.machine.write(node.machine.address("duty_mclk_khz"), (20_000).to_bytes(2, "little"))
    node.machine.write(node.machine.address("bench_wait_states"), b"\x03")
    node.run(within="2.5s")
    told = node.machine.read_int("duty_count")
    node.run(within="10s")
    assert node.machine.read_int("duty_count") == told + 10
    assert (node.resets, node.machine.lints()) == (0, [])
    assert node.machine.states()["cpu"] == "stop2"
