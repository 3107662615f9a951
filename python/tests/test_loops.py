# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cycles of a load that go by at once against the same ones played each by itself; loops of starts and cuts, told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal.loop.simulation import Played, duty_scenario, play, play_tables

BOARD = "msp430fr5994-launchpad"
PULSES = [{"lasts_s": 0.01, "current_a": 0.016}, {"lasts_s": 29.99, "current_a": 5e-6}]
BRIGHT = {"constant_w": 1e-3}


def rounds(duration_s: float, supply: dict[str, Any], steps: list[dict[str, float]], **more: Any) -> Played:
    if "cell" not in supply:
        supply = {"charger": "ti-bq25570", **supply}
        more.setdefault("harvest", BRIGHT)
    tables = {"name": "loops", "board": BOARD, "duration_s": duration_s, "supply": supply, "load": {"steps": steps}}
    return play_tables({"output": {"points": 7}, **tables, **more})


@pytest.mark.parametrize(
    ("duration_s", "supply", "steps", "harvest"),
    [
        (4e5, {"cell": "panasonic-cr2354", "output": "direct", "v_cut_v": 2.0, "v_on_v": 2.1}, PULSES, {}),
        (6e4, {"capacitor": "capxx-hw203", "output": "direct", "initial_v": 3.5}, PULSES, BRIGHT),
        (6e4, {"capacitor": "supercap-0f47-branches", "output": "ti-tps7a02", "initial_v": 3.5}, PULSES, BRIGHT),
        (
            6e4,
            {"capacitor": "capxx-hw203", "output": "ti-bq25570", "initial_v": 3.5},
            PULSES,
            {"periodic": {"on_w": 3e-4, "period_s": 20_000.0, "on_s": 7000.0}},
        ),
        # Lives of one cut each; a store that rests above its restart voltage, and fills.
        (60.0, {"capacitor": "tantalum-330u", "output": "ti-bq25570"}, [{"lasts_s": 9.0, "current_a": 0.01}], BRIGHT),
        (3.0, {"capacitor": "capxx-hf-0f1", "output": "direct", "initial_v": 3.5}, PULSES, BRIGHT),
        (30.0, {"capacitor": "capxx-hf-0f1", "output": "ti-tps7a02", "initial_v": 3.5}, PULSES, BRIGHT),
    ],
    ids=["cell", "full", "branches", "periodic", "cuts", "rests", "fills"],
)
def test_cycles_at_once_do_what_they_do_one_by_one(
    duration_s: float, supply: dict[str, Any], steps: list[dict[str, float]], harvest: dict[str, Any]
) -> None:
    """Cycles in a window are told step by step, and so is played step by step."""
    at_once = rounds(duration_s, supply, steps, harvest=harvest).record
    each = rounds(duration_s, supply, steps, harvest=harvest, output={"points": 7, "window": [0.0, duration_s]}).record
    assert at_once["repeated"]["cycles"] > 50 and "repeated" not in each
    assert abs(at_once["starts"] - each["starts"]) <= 1 and abs(at_once["brown_outs"] - each["brown_outs"]) <= 1
    assert at_once["operations"] == each["operations"]
    assert at_once["energy"]["balance_rel"] < 1e-6
    sums, others = at_once["energy"]["supply"], each["energy"]["supply"]
    moved_j = others["panel_j"] + others["load_j"] + others["leak_j"]
    for key, joules in others.items():
        assert sums[key] == pytest.approx(joules, abs=2e-6 * moved_j), key
    assert at_once["energy"]["stored_end_j"] == pytest.approx(each["energy"]["stored_end_j"], abs=2e-6 * moved_j)
    if not each["brown_outs"]:
        # A pulse that is cut short is drawn at the power that it began with; at once it has that of its energy.
        drawn = [p["load_w"] for p in each["series"]]
        assert [p["load_w"] for p in at_once["series"]] == pytest.approx(drawn, rel=0.02)


def test_a_coin_cell_is_played_to_its_first_cut_and_past_its_end() -> None:
    """132,000 rounds, then a start each millisecond for a year: both end, and meet the same first cut."""
    steps = [{"lasts_s": 0.01, "current_a": 0.016}, {"lasts_s": 29.99, "current_a": 2e-4}]
    supply = {"cell": "panasonic-cr2354", "output": "direct", "v_cut_v": 2.3, "v_on_v": 2.4}
    whole = rounds(3e7, supply, steps).record
    assert whole["simulated_s"] == pytest.approx(3e7) and whole["brown_outs"] > 1_000_000
    cut = rounds(3e7, supply, steps, until="first-cut").record
    assert cut["brown_outs"] == 1 and cut["simulated_s"] == cut["first_cut_s"] == whole["first_cut_s"]
    each = rounds(3e7, supply, steps, until="first-cut", output={"points": 7, "window": [0.0, 3e7]}).record
    assert each["first_cut_s"] == pytest.approx(cut["first_cut_s"], abs=30.1)


def test_what_would_get_a_load_past_its_cut_does() -> None:
    steps = [{"lasts_s": 0.008, "current_a": 0.008}, {"lasts_s": 60.0, "current_a": 2e-6}]
    own = {
        "capacitor": "capxx-hf-0f1",
        "plain": True,
        "output": "direct",
        "v_max_v": 3.6,
        "v_on_v": 2.5,
        "v_cut_v": 2.3,
    }

    def record(**other: float) -> dict[str, Any]:
        return rounds(200.0, {**own, **other}, steps).record

    told = record()["stuck"]

    def figure(behind: str) -> float:
        found = re.search(re.escape(behind) + r" ([0-9.]+)", told)
        assert found, f"{behind} in: {told}"
        return float(found[1])

    assert "step 1" in told and "behind 75.000 ohm" in told
    # 8 mA at 75 ohm are 0.6 V, and their charge a millivolt; the light's milliwatt brings 0.4 mA of them at most.
    assert 2.9 - 75 * 1e-3 / 2.3 < figure("it needs") < 2.902
    for key, name, worse in [
        ("v_on_v", "(`supply.v_on_v`) of", -4e-3),
        ("esr_ohm", "a resistance of", 0.5),
        ("v_cut_v", "(`supply.v_cut_v`) of", 4e-3),
    ]:
        does = record(**{key: figure(name)})
        assert "stuck" not in does and does["operations"] > 0, (key, told)
        assert "stuck" in record(**{key: figure(name) + worse}), (key, told)


FIRMWARE = Path(__file__).parents[2] / "firmware/build"


def node(duration_s: float, light_w: float = 1.8e-3, **supply: float) -> dict[str, Any]:
    """Play the node's program behind a store of 75 ohm, in a light that never carries its transmission."""
    told = {
        "name": "lives",
        "board": BOARD,
        "firmware": str(FIRMWARE / BOARD / "mpy-32/node-p256.elf"),
        "seed": 1,
        "duration_s": duration_s,
        "power": {"vcc_v": 1.9},
        "supply": {
            "charger": "ti-bq25570",
            "output": "ti-bq25570",
            "capacitor": "kemet-fc0h105zf",
            "capacitance_f": 0.05,
            "esr_ohm": 75.0,
            "v_on_v": 2.3,
            "v_cut_v": 1.98,
            "initial_v": 2.0,
            **supply,
        },
        "harvest": {"constant_w": light_w},
        "node": {"node_id": "53756e7365616c02", "mode": "both", "period_s": 300},
    }
    record = play_tables(told).record
    assert record["energy"]["balance_rel"] < 1e-6
    return record


def test_a_node_that_never_gets_past_its_radio_is_told() -> None:
    """The voltage that it is said to need carries its first packets, two hundredths of it less do not."""
    stuck = node(1e6)
    told = stuck["stuck"]
    assert stuck["simulated_s"] < 400 and stuck["messages"]["sent"] == {} and stuck["brown_outs"] < 200
    assert "first transmission" in told and "behind 75.000 ohm, and starts at 2.300 V" in told
    needs_v = float(re.search(r"needs ([0-9.]+) V", told)[1])  # type: ignore[index]
    for share, sent in ((1.0, {"ENROL": 3}), (0.98, {})):
        does = node(3.0, v_on_v=2.0, initial_v=round(needs_v * share, 3))
        assert does["messages"]["sent"] == sent, share


def test_a_node_that_gets_on_in_time_is_played() -> None:
    """Behind 155 cuts the store has filled, and the node comes through: nothing is told before."""
    record = node(400.0, 8e-3, v_on_v=2.8, v_cut_v=2.5)
    assert "stuck" not in record


def test_a_computation_that_no_life_ends_is_told() -> None:
    """A signature of 4.9 M cycles on a store that holds 0.47 M of them: each life begins it anew."""
    supply = {"charger": "ti-bq25570", "output": "ti-tps7a02", "capacitor": "tantalum-330u", "v_on_v": 3.3}
    lives = {"initial_v": 0.0, "v_cut_v": 2.7, **supply}
    harvest = {"constant_w": 1.2e-3}
    small = duty_scenario("ecdsa-secp160r1-sign", board="telosb", freq_hz=6_000_000, supply=lives, harvest=harvest)
    record = play(small).record
    assert "never gets past what it computes" in record["stuck"] and record["simulated_s"] < 600
    large = {**lives, "capacitor": "capxx-hw203"}
    bears = duty_scenario("ecdsa-secp160r1-sign", board="telosb", freq_hz=6_000_000, supply=large, harvest=harvest)
    assert "stuck" not in play(bears).record


def test_a_load_that_no_store_starts_is_told_in_no_time(sunseal: Cli, tmp_path: Any) -> None:
    path = tmp_path / "heavy.toml"
    path.write_text(
        f'name = "heavy"\nboard = "{BOARD}"\nduration_s = 1e8\n[supply]\ncapacitor = "capxx-hw203"\n'
        'charger = "ti-bq25570"\noutput = "direct"\n[harvest]\nconstant_w = 1e-3\n'
        "[load]\nsteps = [{ lasts_s = 1, current_a = 100 }]\n"
    )
    told = sunseal("simulate", path, "--until", "first-cut", "--json")
    closing = json.loads(told.out)
    assert told.status == 1 and "never gets past step 1" in told.err
    assert closing["brown_outs"] == 1 and closing["first_cut_s"] == closing["simulated_s"]
    assert "first cut" in sunseal("simulate", path, "--until", "first-cut").out
    wrong = sunseal("simulate", path, "--until", "sunset")
    assert wrong.status == 2 and "first-cut" in wrong.err
