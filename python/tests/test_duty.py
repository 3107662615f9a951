# SPDX-License-Identifier: MIT OR Apache-2.0
"""The bench's operations as duty cycles in the closed loop, on every board."""

from __future__ import annotations

from typing import Any

import pytest

from sunseal import _engine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.loop import simulation
from sunseal.measurement import measuring

SIGN = "ecdsa-secp160r1-sign"
STIFF = {"cell": "two-aa-energizer-e91", "output": "ti-tps7a02"}
"""The same 3.0 V on every board, whatever it draws."""


def play(board: str, **changes: Any) -> simulation.Played:
    return simulation.play(simulation.duty_scenario(SIGN, board=board, **changes))


@pytest.mark.parametrize("board", boards.of_nodes())
def test_a_period_of_seconds_takes_no_more_wake_ups_than_one_of_minutes(board: str) -> None:
    def cycles(period_s: int) -> float:
        few, many = (
            simulation.play(
                simulation.duty_scenario(
                    "sha256-hash", board=board, supply=STIFF, vcc_v=3.0, period_s=period_s, duration_s=n * period_s + 5
                )
            )
            for n in (1, 4)
        )
        assert [simulation.duty(p).operations for p in (few, many)] == [2, 5]
        awake = [
            sum(i["cycles"] for i in p.record["energy"]["load"]["items"] if i["name"].startswith("active."))
            for p in (few, many)
        ]
        return float(awake[1] - awake[0]) / 3

    # A timer of eight bits fires each 8 s, 60 cycles a time.
    assert cycles(30) < cycles(60) + 8 * 60


@pytest.mark.parametrize("board", boards.of_nodes())
def test_a_duty_cycle_takes_its_operations_and_its_sleep(board: str) -> None:
    """From one duration to a longer one start-up cancels; sleep, with its wake-ups, is that of an idle node."""

    def drawn(period_s: int, duration_s: int) -> tuple[float, simulation.Played]:
        played = play(board, supply=STIFF, vcc_v=3.0, period_s=period_s, duration_s=duration_s)
        record = played.record["energy"]
        assert abs(record["loop_over_ledger_rel"]) < 1e-4
        return record["supply"]["load_j"], played

    (short_j, short), (long_j, long) = drawn(120, 600), drawn(120, 1800)
    idle_w = (drawn(65_520, 1800)[0] - drawn(65_520, 600)[0]) / 1200
    few, many = simulation.duty(short), simulation.duty(long)
    assert many.right is True and many.failed == 0
    asked_hz = 1000 * long.scenario["write"]["duty_mclk_khz"]
    own = measuring.measure(SIGN, board=board, vcc_v=3.0, freq_hz=min(asked_hz, many.freq_hz))
    done = many.operations - few.operations
    assert done == 10
    expected_j = done * own.energy_j + idle_w * (1200 - done * own.time_s)
    assert long_j - short_j == pytest.approx(expected_j, rel=0.02)


@pytest.mark.parametrize("board", ["telosb", "mica2", "mica2dot", "micaz"])
def test_motes_sign_from_their_own_batteries(board: str) -> None:
    played = play(board, period_s=60, duration_s=200)
    duty = simulation.duty(played)
    assert (duty.operations, duty.failed, duty.right) == (4, 0, True)
    # The cells are the rail.
    assert played.record["vcc_v"] > 2.9 and played.record["energy"]["stored_begin_j"] > 1000


def test_operations_are_counted_over_lives() -> None:
    """A capacitor that carries two signatures at a time: the program counts anew in each life, the loop goes on."""
    played = play(
        "msp430fr5994-launchpad",
        period_s=5,
        duration_s=600,
        supply={"harvester": "anagear-an1010", "capacitor": "tantalum-330u", "capacitance_f": 2e-3, "overhead_j": 0.0},
        harvest={"constant_w": 60e-6},
    )
    record = played.record
    assert record["brown_outs"] > 3
    duty = simulation.duty(played)
    # Without supply at the end there is no RAM to read the count from.
    alive = record["starts"] > record["brown_outs"]
    assert duty.operations > record["brown_outs"]
    assert (duty.failed, duty.right) == ((0, True) if alive else (None, None))
    assert abs(record["energy"]["balance_rel"]) < 1e-6


def test_a_program_finds_its_clock_at_any_temperature() -> None:
    """The F1611's DCO is set against the watch crystal at each start, so its drift is in the settings."""
    for temperature_c in (0, 50):
        played = play(
            "telosb",
            supply=STIFF,
            vcc_v=3.0,
            freq_hz=4_000_000,
            period_s=60,
            duration_s=100,
            temperature_c=temperature_c,
        )
        assert simulation.duty(played).freq_hz == pytest.approx(4e6, rel=0.006)


def test_what_cannot_be_is_one_sentence() -> None:
    with pytest.raises(SunsealError, match="the program counts whole seconds"):
        play("telosb", period_s=0.5)
    with pytest.raises(_engine.EngineError, match="neither battery nor capacitor"):
        play("msp432p401r-launchpad")
    with pytest.raises(_engine.EngineError, match="telosb has no harvester"):
        play("telosb", harvest={"constant_w": 1e-3})
    with pytest.raises(SunsealError, match="has no duty cycle"):
        simulation.duty_scenario("ecdsa-p256-sign-tasks", board="msp430fr5994-launchpad")
