# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal coupon metrics`: its shape, its ratios computed otherwise, its refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import Cli, refused, require
from sunseal import Machine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.measurement import coupon, measuring, oracle

FRAM, FLASH = "msp430fr5994-launchpad", "msp432p401r-launchpad"
COST = {"cycles", "time_s", "energy_j", "edp_js"}


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    for board in (FRAM, FLASH):
        for program in ("coupon-ctr-use", "aes128-sbox-encrypt"):
            try:
                boards.firmware_path(board, boards.variant((), board), f"bench-{program}")
            except SunsealError as e:
                require(False, f"{e} (make all-boards)")


def metrics(sunseal: Cli, *args: str) -> list[dict[str, Any]]:
    done = sunseal("coupon", "metrics", "--json", *args)
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def test_every_kind_has_the_shape_of_the_contract(sunseal: Cli) -> None:
    found = metrics(sunseal)
    assert {m["kind"] for m in found} == set(coupon.KINDS)
    assert [m["variant"] for m in found if m["kind"] == "ctr"] == ["sbox", "tbox", "fixslice", "hw"]
    for m in found:
        for part in ("precompute", "runtime", *(["original", "ratio"] if m["kind"] != "schedule" else [])):
            assert set(m[part]) == COST
            assert all(value > 0 for value in m[part].values())
            if part != "ratio":
                assert m[part]["edp_js"] == pytest.approx(m[part]["energy_j"] * m[part]["time_s"])
        assert (m["original"] == {}) == (m["kind"] == "schedule")
        if m["store"]["guard"]:
            assert m["store"]["guard"]["cycles"] == m["runtime"]["cycles"] - m["runtime_without_guard"]["cycles"]
        made, used = _of_the_store(m)
        assert made <= {"burn", "write", "erases"} and {"burn", "write"} <= made, m["kind"]
        assert used in ({"use"}, {"claim", "pass", "wipe"}), m["kind"]


def _of_the_store(m: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Hold what a store's functions take to the run that they are parts of; name those of making and of using."""
    functions = m["store"]["functions"]
    assert all(value > 0 for cost in functions.values() for value in cost.values()), m
    used = {name for name in functions if name in ("use", "claim", "pass", "wipe")}
    made = set(functions) - used
    for what in ("cycles", "energy_j"):
        of_making, of_use = (sum(functions[name][what] for name in names) for names in (made, used))
        assert of_making < m["precompute"][what]
        assert of_use < m["runtime"][what]
        assert m["store"]["write"][what] == pytest.approx(functions["burn"][what] + functions["write"][what])
    if m["kind"] == "random":  # which is fetched and no more: most of its use is the store's
        assert sum(functions[name]["cycles"] for name in used) > 0.6 * m["runtime"]["cycles"]
    return made, used


def test_ratios_are_those_of_measure(sunseal: Cli) -> None:
    """Measure at 1 MHz, where the FR5994 starts, gives the same original and runtime."""
    (m,) = metrics(sunseal, "--kind", "p256")
    whole, digest, used = (
        measuring.measure(name, board=FRAM, freq_hz=1_000_000)
        for name in ("ecdsa-p256-sign", "sha256-hash", "coupon-p256-use")
    )
    assert m["ratio"]["cycles"] == pytest.approx((whole.cycles - digest.cycles) / used.cycles)
    assert m["ratio"]["energy_j"] == pytest.approx((whole.energy_j - digest.energy_j) / used.energy_j, rel=1e-3)
    assert m["ratio"]["edp_js"] == pytest.approx(m["ratio"]["energy_j"] * m["ratio"]["time_s"])


@pytest.mark.parametrize("board", [FRAM, FLASH])
def test_the_papers_operations_stand_beside_our_runtime(sunseal: Cli, board: str) -> None:
    """Table 5's ratios are reached where the coupon lies in FRAM."""
    found = {m["variant"]: m for m in metrics(sunseal, "--kind", "ctr", "--board", board)}
    printed = {(FRAM, "sbox"): (153_989, 22.3, 28.1), (FRAM, "hw"): (13_043, 1.9, 2.1), (FLASH, "tbox"): (18_474, 0, 0)}
    for (where, way), (cycles, fewer, less_j) in printed.items():
        if where == board:
            ratio = found[way]["published"]["ratio"]
            assert ratio["cycles"] == pytest.approx(cycles / found[way]["runtime"]["cycles"])
            assert ratio["cycles"] > fewer
            assert ratio["energy_j"] > less_j
    assert found["fixslice"]["published"] == {}


def test_programming_flash_is_priced_at_the_clock_that_it_ran_at(sunseal: Cli) -> None:
    (m, *_) = metrics(sunseal, "--kind", "ctr", "--board", FLASH)
    machine = Machine(FLASH, boards.firmware_path(FLASH, boards.variant((), FLASH), "bench-coupon-ctr-use"))
    fed = oracle.trial(boards.workload("coupon-ctr-use")).fed
    machine.write("bench_input", fed)
    machine.write("bench_input_len", len(fed).to_bytes(2, "little"))
    machine.run()
    at = {level: time_s for time_s, _, _, level in machine.pin_log()}
    assert m["runtime"]["time_s"] == pytest.approx(at[False] - at[True], rel=1e-3)


@pytest.mark.parametrize(("board", "header"), [(FRAM, 14), (FLASH, 16)])
def test_a_slot_is_what_the_program_has(sunseal: Cli, board: str, header: int) -> None:
    for m in metrics(sunseal, "--board", board):
        name = f"coupon-{m['kind']}-produce"
        machine = Machine(board, boards.firmware_path(board, boards.variant((), board), f"bench-{name}"))
        fed = oracle.trial(boards.workload(name)).fed
        machine.write("bench_input", fed)
        machine.write("bench_input_len", len(fed).to_bytes(2, "little"))
        machine.run()
        payload = int.from_bytes(machine.read("kind", 4)[2:], "little")
        assert m["slot_bytes"] == payload + header


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--kind", "ctrl"), "unknown kind of coupon `ctrl`; nearest: ctr,"),
        (("--board", "micaz"), "the firmware of micaz keeps no coupons"),
        (("--board", "nothing"), "unknown board `nothing`"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(sunseal: Cli, args: tuple[str, ...], says: str) -> None:
    done = sunseal("coupon", "metrics", *args)
    refused(done, says)
