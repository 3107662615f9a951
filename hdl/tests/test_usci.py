# SPDX-License-Identifier: MIT OR Apache-2.0
"""The coprocessor on the SPI of an MSP430's own interface, beside a LaunchPad that runs the firmware's driver."""

from __future__ import annotations

import random

import conversation
import pytest
from bench import CIPHERS, ERR_ENGINE, goes_on_as_before, messages, tools_or_skip

from sunseal import Machine, _engine, curve, lifetime, tune
from sunseal.catalog import boards, coprocessor, power_sets
from sunseal.errors import SunsealError
from sunseal.loop import simulation
from sunseal.measurement import measuring, switching

BOARD = "msp430fr5994-fpga-up5k"
TRIGGER = "P1.0"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    with tools_or_skip():
        coprocessor.ready(BOARD, ())
        program("aes128-encrypt")


def program(workload: str) -> bytes:
    return boards.firmware_path(BOARD, boards.variant((), BOARD), f"bench-{workload}").read_bytes()


def machine(workload: str, fed: bytes, **wires: str) -> Machine:
    m = Machine(BOARD, program(workload), timing={f"coprocessor.{k}": v for k, v in wires.items()})
    feed(m, fed)
    return m


def feed(m: Machine, fed: bytes) -> None:
    m.write("bench_input", fed)
    m.write("bench_input_len", len(fed).to_bytes(2, "little"))


def status(m: Machine) -> int:
    return int.from_bytes(m.read("bench_status", 2), "little", signed=True)


def finish(m: Machine, output_bytes: int) -> bytes:
    assert m.run().kind == "halted"
    assert status(m) == 0
    return m.read("bench_output", output_bytes)


@pytest.mark.parametrize("cipher", CIPHERS)
def test_mote_gets_the_vectors(cipher: str) -> None:
    checked = 0
    for key, plaintext, ciphertext in messages(cipher)[:12]:
        assert finish(machine(f"{cipher}-encrypt", key + plaintext), len(plaintext)) == ciphertext
        checked += 1
    assert checked >= 3


@pytest.mark.parametrize("seed", range(8))
def test_any_phase_and_ratio_of_the_clocks_gives_the_vectors(seed: int) -> None:
    rng = random.Random(seed)
    cipher = rng.choice(sorted(CIPHERS))
    key, plaintext, ciphertext = rng.choice(messages(cipher))
    wires = {"clock_MHz": f"{rng.uniform(16.5, 27.0):.6f}", "phase": f"{rng.random():.9f}"}
    assert finish(machine(f"{cipher}-encrypt", key + plaintext, **wires), len(plaintext)) == ciphertext, wires


def test_clock_too_slow_for_sck_is_told_with_the_figure() -> None:
    # SCK has 2 MHz, so its rises are 500 ns apart.
    key, plaintext, _ = messages("aes128")[0]
    m = machine("aes128-encrypt", key + plaintext, clock_MHz="12")
    with pytest.raises(_engine.EngineError, match=r"SPI needs 4, so a clock of at least 16\.00 MHz instead of 12\.00"):
        m.run()


def test_fpga_that_is_off_ends_in_a_status() -> None:
    key, plaintext, _ = messages("aes128")[0]
    m = machine("aes128-encrypt", key + plaintext, power="P8.3")
    assert m.run().kind == "halted"
    assert status(m) == ERR_ENGINE


@pytest.mark.parametrize("cut_us", [10, 60, 200, 400])
def test_next_message_starts_clean_where_a_brown_out_cut_one(cut_us: int) -> None:
    rng = random.Random(cut_us)
    key, counter, data = rng.randbytes(16), rng.randbytes(16), rng.randbytes(160)
    m = machine("aes128-ctr-encrypt", key + counter + data)
    assert m.run(pin=TRIGGER).kind == "pin"
    assert m.run(time_s=cut_us * 1e-6).kind == "time"
    m.power_cut()
    m.power_on()
    feed(m, key + counter + data)
    assert finish(m, len(data)) == conversation.aes_ctr(key, counter, data)


@pytest.mark.parametrize("after_us", [7, 31, 90])
def test_snapshot_in_a_transfer_goes_on_as_the_run_did(after_us: int) -> None:
    key, plaintext, ciphertext = messages("aes128")[0]
    m = machine("aes128-encrypt", key + plaintext)
    assert m.run(pin=TRIGGER).kind == "pin"
    assert m.run(time_s=after_us * 1e-6).kind == "time"
    goes_on_as_before(m, finish, ciphertext)


def test_mote_sleeps_through_a_long_message() -> None:
    key = bytes(16)
    short, long = (machine("aes128-encrypt", key + bytes(n)) for n in (64, 512))
    slept = []
    for m in (short, long):
        assert m.run().kind == "halted"
        states, _ = m.engine.counts().of_part("cpu")
        slept.append(states.get("lpm0", 0.0))
    assert slept[0] == 0.0
    assert slept[1] > 1e-4


def test_measure_prices_it_at_the_clock_that_it_runs_at() -> None:
    m = measuring.measure("aes128-ctr-encrypt", board=BOARD)
    assert m.result_valid
    assert m.freq_hz == pytest.approx(8e6, rel=0.01)
    rails = [m.energy_by_state_j[f"coprocessor.{rail}"] for rail in ("core", "pll", "io")]
    assert 0 < sum(rails) < m.energy_j
    with pytest.raises(SunsealError, match="not at the 4 MHz asked for"):
        measuring.measure("aes128-ctr-encrypt", board=BOARD, freq_hz=4_000_000)
    assert {p["freq_hz"] for p in curve("aes128-ctr-encrypt", board=BOARD)} == {m.freq_hz}


def test_tune_weighs_it_at_its_only_clock() -> None:
    found = tune(["aes128-encrypt"], board_names=[BOARD], voltages_v=[3.0], every_s=0.5).points
    m = measuring.measure("aes128-encrypt", board=BOARD, vcc_v=3.0)
    assert {*found.freq_hz} == {m.freq_hz} == {power_sets.DEFAULT_FREQ_HZ}
    assert {*found.coprocessor} == {switching.ON, switching.OFF}
    for row in found.itertuples():
        assert row.energy_j - row.coprocessor_j == pytest.approx(m.energy_j)


CELL = "two-aa-piotrowski2006"


def played(period_s: float, duration_s: float, switched_off: bool) -> simulation.Played:
    scenario = simulation.duty_scenario(
        "aes128-encrypt",
        board=BOARD,
        vcc_v=3.0,
        period_s=period_s,
        duration_s=duration_s,
        supply={"cell": CELL, "initial_v": 3.0},
        switched_off=switched_off,
    )
    return simulation.play(scenario)


@pytest.mark.parametrize("switched_off", [False, True])
def test_what_the_loop_draws_is_what_the_ledger_weighs(switched_off: bool) -> None:
    run = played(1.0, 3.6, switched_off)
    energy, duty = run.record["energy"], simulation.duty(run)
    assert duty.operations >= 3
    assert (duty.failed, duty.right, duty.freq_hz) == (0, True, power_sets.DEFAULT_FREQ_HZ)
    assert abs(energy["loop_over_ledger_rel"]) < 1e-3
    assert abs(energy["balance_rel"]) < 1e-6
    (boots,) = {i["count"] for i in energy["load"]["items"] if i["name"] == "coprocessor.boot"}
    assert boots == (duty.operations if switched_off else 1)


@pytest.mark.parametrize("period_s", [1.0, 10.0])
def test_loop_and_lifetime_agree(period_s: float) -> None:
    use = lifetime("aes128-encrypt", every_s=period_s, board=BOARD, vcc_v=3.0, battery=CELL).question.use
    # Its crystal takes 0.8 s to start: between two ends in the middle of a sleep.
    switched_off, ends = period_s > 2.5, [period_s * (n + 0.5) + 0.9 for n in (1, 3)]
    before, after = (played(period_s, end, switched_off).record["energy"]["supply"]["load_j"] for end in ends)
    assert (after - before) / (ends[1] - ends[0]) == pytest.approx(use.mean_w, rel=0.02)


def test_no_other_clock_is_played() -> None:
    with pytest.raises(SunsealError, match="than the mote's, 8 MHz"):
        simulation.duty_scenario("aes128-encrypt", board=BOARD, freq_hz=4_000_000)


def test_bus_that_only_an_atmega_shows_is_refused() -> None:
    device = str(boards.home() / "data" / "devices" / "msp430fr5994.toml")
    switches = [("coprocessor.bus", "parallel")]
    with pytest.raises(_engine.EngineError, match="is followed pin by pin"):
        _engine.Machine(device, str(boards.board_path(BOARD)), None, switches, None, (0.0, 0.0))
