# SPDX-License-Identifier: MIT OR Apache-2.0
"""Generators of random values on the simulated boards: their output, their health tests, their price."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sunseal import Machine, SunsealError, _engine
from sunseal.catalog import boards
from sunseal.measurement import measuring, oracle
from sunseal.planner import operations

FR5994 = "msp430fr5994-launchpad"
SRAM = ("sram_aes", "sram_swaes", "sram_sha256", "sram_xor16cvn", "sram_xor32cvn")
UNTESTED = ("sram_aes_untested", "sram_aes_folded")
OSCILLATORS = ("osc_clksft", "osc_noclksft")


def _program(generator: str, board: str = FR5994) -> measuring.Program:
    return measuring.builtin(f"trng-{generator}-256bit", board, boards.variant((), board))


def _status(name: str) -> int:
    header = (boards.home() / "firmware/crypto/include/sunseal/error.h").read_text(encoding="utf-8")
    (value,) = re.findall(rf"SUNSEAL_ERR_{name} = (-\d+)", header)
    return int(value)


@pytest.mark.parametrize("board", [FR5994, "msp432p401r-launchpad", "msp430f5438a-anagear"])
@pytest.mark.parametrize("generator", [*SRAM, *UNTESTED, *OSCILLATORS])
def test_a_generator_gives_what_its_raw_samples_give_recomputed(generator: str, board: str) -> None:
    work = boards.workload(f"trng-{generator}-256bit")
    if not boards.has_workload(board, work.name):
        with pytest.raises(SunsealError, match="lacks the hardware"):
            _program(generator, board)
        return
    counts, valid = measuring.run(_program(generator, board), board)
    assert valid
    # The judge is no rubber stamp: one bit of the value, or of a sample that went in, makes it wrong.
    trial = oracle.trial(work)
    for at in (0, 31, 32 + 512):
        spoilt = bytearray(counts.output)
        spoilt[at] ^= 1
        assert not trial.right(bytes(spoilt)), at


def test_the_names_of_design_and_the_old_one_are_known() -> None:
    assert boards.workload("trng-sram_sha256-256bit").program == "trng-sram-sha256-256bit"
    assert boards.workload("trng-sram-256bit").parameter == "sram"
    assert not boards.has_workload("telosb", "trng-sram_xor16cvn-256bit")
    assert boards.has_workload("telosb", "trng-sram-256bit")


@pytest.mark.parametrize("generator", SRAM)
def test_ram_that_does_not_wake_fails_its_health_test(generator: str) -> None:
    machine = Machine(FR5994, _program(generator).image)
    machine.write("bench_output", bytes([0x5A]) * len(machine.read("bench_output")))
    machine.write("bench_input_len", bytes(2))
    machine.run()
    assert int.from_bytes(machine.read("bench_status"), "little", signed=True) == _status("HEALTH")
    assert machine.read("bench_output")[:32] == bytes(32)


@pytest.mark.parametrize("generator", UNTESTED)
def test_what_no_health_test_sees_gives_a_value_of_ram_that_does_not_wake_and_costs_a_fraction(generator: str) -> None:
    tested, untested = (measuring.measure(f"trng-{name}-256bit", board=FR5994) for name in ("sram_aes", generator))
    assert untested.result_valid and 3 * untested.cycles < tested.cycles
    machine = Machine(FR5994, _program(generator).image)
    machine.write("bench_output", bytes([0x5A]) * len(machine.read("bench_output")))
    machine.write("bench_input_len", bytes(2))
    machine.run()
    assert machine.read("bench_status") == bytes(2)
    assert machine.read("bench_output")[:16] == machine.read("bench_output")[16:32] != bytes(16)


def _without_jitter(tmp_path: Path) -> Path:
    source = boards.home() / "data" / "devices" / "msp430fr5994.toml"
    text = source.read_text(encoding="utf-8")
    for key in ("vlo_sigma_percent = 0.1", "dco_sigma_percent = 0.25"):
        assert key in text
        text = text.replace(key, f"{key.split()[0]} = 0.0")
    still = tmp_path / "msp430fr5994.toml"
    still.write_text(text, encoding="utf-8")
    return still


@pytest.mark.parametrize("generator", OSCILLATORS)
def test_oscillators_without_jitter_fail_their_health_test_shifted_or_not(generator: str, tmp_path: Path) -> None:
    program = _program(generator)
    counts = _engine.run(
        boards.load(FR5994), str(_without_jitter(tmp_path)), program.image, None, b"", 64, 10**8, [], None
    )
    assert counts.status == _status("HEALTH")
    assert counts.output[:32] == bytes(32)


def test_an_oscillator_times_its_generator_so_another_clock_is_refused() -> None:
    name = "trng-osc_noclksft-256bit"
    measured = measuring.measure(name, board=FR5994)
    # 32 periods of 9.4 kHz a folded bit, four folded bits a bit, and 1024 periods tested before.
    assert measured.time_s == pytest.approx((32 * 4 * 256 + 1024) / 9400, rel=0.15)
    assert measured.cycles == pytest.approx(measured.time_s * measured.freq_hz, rel=1e-3)
    with pytest.raises(SunsealError, match="sets up its own clock"):
        measuring.measure(name, board=FR5994, freq_hz=8_000_000)
    with pytest.raises(SunsealError, match="nothing to choose"):
        operations.operations([name], [FR5994])
    assert {p["freq_hz"] for p in measuring.curve(name, board=FR5994)} == {4_000_000}
