# SPDX-License-Identifier: MIT OR Apache-2.0
"""One law of a supply: every command tells the same, and by hand it is the same again."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sunseal as api
from conftest import Cli, put
from sunseal import EngineError, _engine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.loop import fleet
from sunseal.planner import lifetime, size, sweep
from sunseal.planner import plan_supplies as supplies

YEAR_S = 365.25 * 86_400.0
VCC_V = 2.4


def cell(name: str, of: dict[str, Any]) -> str:
    """Write a part's file of a made-up cell."""
    curves = "\n".join(f"{key} = {[list(p) for p in of[key]]}" for key in ("ocv_V", "r_ohm"))
    return f"""name = "{name}"
title = "a cell of ours"

[cell]
capacity_mAh = {of["capacity_mAh"]!r}
{curves}
self_discharge_percent_per_year = {of["yearly"]!r}
rechargeable = false
v_end_V = {of["ocv_V"][0][1]!r}
source = "ours"

[cell.temperature]
t_C = [-20, 0, 20]
capacity_percent = {of["cold_capacity"]!r}
resistance_percent = {of["cold_ohms"]!r}
source = "ours"
"""


def drawn_case(seed: int) -> dict[str, Any]:
    """Draw a cell, a pulse, a temperature and a cut-off."""
    r = random.Random(seed)
    empty_v, full_v = r.uniform(1.6, 2.2), r.uniform(2.7, 3.3)
    knee_v = empty_v + (full_v - empty_v) * r.uniform(0.5, 0.9)
    ohms = math.exp(r.uniform(math.log(0.02), math.log(20.0)))
    return {
        "capacity_mAh": r.uniform(2.0, 20.0),
        "ocv_V": ((0, empty_v), (r.uniform(10, 50), knee_v), (100, full_v)),
        "r_ohm": ((0, ohms * r.uniform(1.0, 4.0)), (100, ohms)),
        "yearly": r.uniform(0.0, 30.0),
        "cold_capacity": [r.uniform(30, 60), r.uniform(60, 90), 100.0],
        "cold_ohms": [r.uniform(250, 400), r.uniform(120, 200), 100.0],
        "temperature_c": r.choice([-20.0, -10.0, 5.0, 20.0, 40.0]),
        "pulse_a": r.uniform(1e-3, 15e-3),
        "asleep_a": r.uniform(2e-5, 2e-4),
        "pulse_s": 2.0,
        "every_s": r.uniform(60.0, 300.0),
        "needs_v": min(r.uniform(empty_v - 0.2, empty_v + 0.5 * (full_v - empty_v)), VCC_V),
        "linear": r.random() < 0.3,
    }


def by_hand_s(of: dict[str, Any]) -> float:
    """Count coulombs from the full cell down to the first charge at which the pulse pulls too low."""
    warm = np.array([-20.0, 0.0, 20.0])
    charge_c = of["capacity_mAh"] * 3.6 * np.interp(of["temperature_c"], warm, of["cold_capacity"]) / 100
    q = np.linspace(1.0, 0.0, 20_001)
    volts, ohms = (np.interp(100 * q, *np.array(of[key]).T) for key in ("ocv_V", "r_ohm"))
    ohms = ohms * np.interp(of["temperature_c"], warm, of["cold_ohms"]) / 100
    own_a, drop_v = (30e-6, 0.1) if of["linear"] else (0.0, 0.0)
    # The part's own end, or what the node needs behind the regulator, whichever is more.
    holds = volts - (of["pulse_a"] + own_a) * ohms > max(of["needs_v"] + drop_v, of["ocv_V"][0][1])
    count = len(q) if holds.all() else int(np.argmin(holds))
    busy = of["pulse_s"] / of["every_s"]
    mean_a = of["pulse_a"] * busy + of["asleep_a"] * (1 - busy) + own_a
    fall = mean_a / charge_c + of["yearly"] / 100 / YEAR_S * q[:count]
    return float(np.trapezoid(1.0 / fall, -q[:count])) if count > 1 else 0.0


REGULATOR = """name = "ldo"
title = "a regulator of ours"

[converter]
kind = "linear"
dropout_mV = 100
quiescent_uA = 30
v_start_V = 1.0
v_in_min_V = 1.0
source = "ours"
"""


@pytest.fixture
def here(here: Path) -> Path:
    """A working directory with a regulator of one's own."""
    put(here / "sunseal/parts/ldo.toml", REGULATOR)
    return here


def use_of(of: dict[str, Any]) -> lifetime.Use:
    """Return the same as `lifetime` has it: powers at a rail whose currents these are."""
    pulse_w, asleep_w = of["pulse_a"] * VCC_V, of["asleep_a"] * VCC_V
    return lifetime.Use("pulse", "telosb", VCC_V, pulse_w * of["pulse_s"], of["pulse_s"], 0.0, 0.0, asleep_w,
                        of["every_s"], needs_v=of["needs_v"])  # fmt: skip


def lifetimes_s(name: str, of: dict[str, Any]) -> float:
    asked = lifetime.Question(use_of(of), name, 0.0, "ldo" if of["linear"] else None, of["temperature_c"])
    return lifetime.of(asked).lifetime_s


def plans_s(name: str, of: dict[str, Any]) -> float:
    use = use_of(of)
    busy = use.duty
    row = {
        "vcc_v": VCC_V, "cutoff_v": of["needs_v"], "cell": "" if of["linear"] else name, "busy": busy,
        "compute_w": use.awake_w * busy, "radio_w": 0.0, "mean_w": use.mean_w, "peak_w": use.peak_w,
    }  # fmt: skip
    converter, kind = ("ldo", "linear") if of["linear"] else (None, "direct")
    one = supplies.Battery(name, converter, kind, of["temperature_c"])
    fits, life, _ = sweep.battery_life(pd.DataFrame([row]), one)
    assert fits.all()
    return float(life[0])


def simulates_s(name: str, of: dict[str, Any], guess_s: float) -> float:
    """Play it pulse by pulse in the closed loop up to the first cut; what comes back is left alone."""
    cut_v = of["needs_v"] + (0.1 if of["linear"] else 0.0)
    full_v, end_v = of["ocv_V"][-1][1], of["ocv_V"][0][1]
    played = api.simulate(
        {
            "name": "life", "board": "telosb", "duration_s": 1.2 * guess_s + 3 * of["every_s"], "radio": "none",
            "temperature_c": of["temperature_c"],
            "power": {"vcc_v": VCC_V},
            "supply": {"cell": name, "output": "ldo" if of["linear"] else "direct", "v_cut_v": max(cut_v, end_v),
                       "v_on_v": full_v - 1e-3, "initial_v": full_v},
            "load": {"steps": [{"lasts_s": of["pulse_s"], "current_a": of["pulse_a"]},
                               {"lasts_s": of["every_s"] - of["pulse_s"], "current_a": of["asleep_a"]}]},
            "output": {"points": 10},
        }
    )  # fmt: skip
    cuts = [e["time_s"] for e in played.record["events"] if e["kind"] == "brown-out"]
    return float(cuts[0])


@pytest.mark.parametrize("seed", range(30))
def test_a_battery_lasts_alike_in_every_command_and_by_hand(here: Path, seed: int) -> None:
    of = drawn_case(seed)
    (here / "sunseal/parts/drawn.toml").write_text(cell("drawn", of))
    hand_s = by_hand_s(of)
    if hand_s == 0.0:
        with pytest.raises(SunsealError, match="never runs"):
            lifetimes_s("drawn", of)
        assert plans_s("drawn", of) == 0.0
        return
    near = pytest.approx(hand_s, rel=0.005, abs=2 * of["every_s"])
    assert lifetimes_s("drawn", of) == near
    assert plans_s("drawn", of) == pytest.approx(lifetimes_s("drawn", of), rel=1e-9)
    assert simulates_s("drawn", of, hand_s) == near


@pytest.mark.parametrize(
    "change", [{"capacity_mAh": 1.05}, {"r_ohm": 1.05}, {"yearly": 1.05}, {"cold_capacity": 1.05}, {"cold_ohms": 1.05}]
)
def test_a_change_of_a_law_moves_every_command_alike(here: Path, change: dict[str, float]) -> None:
    of = drawn_case(3) | {"yearly": 2000.0, "pulse_s": 0.5, "every_s": 20.0, "linear": False, "temperature_c": -10.0}
    of |= {"capacity_mAh": 20.0, "ocv_V": ((0, 1.9), (100, 3.2)), "r_ohm": ((0, 40.0), (100, 20.0))}
    of |= {"pulse_a": 6e-3, "needs_v": 2.2}
    ratios = []
    for asked in (lifetimes_s, plans_s, lambda n, o: simulates_s(n, o, by_hand_s(o))):
        both = []
        for name, k in (("before", 1.0), ("after", next(iter(change.values())))):
            key = next(iter(change))
            told = of[key]
            moved = (
                told * k
                if isinstance(told, float)
                else [[p[0], p[1] * k] if isinstance(p, tuple) else p * k for p in told]
            )
            changed = of | {key: moved}
            (here / f"sunseal/parts/{name}.toml").write_text(cell(name, changed))
            both.append(asked(name, changed))
        ratios.append(both[1] / both[0])
    assert abs(ratios[0] - 1.0) > 2e-3
    assert ratios == pytest.approx([ratios[0]] * 3, rel=2e-3)


def test_a_cell_is_refused_below_its_coldest_figure_and_told_to_ignore_the_cold(here: Path) -> None:
    of = drawn_case(1) | {"linear": False}
    (here / "sunseal/parts/drawn.toml").write_text(cell("drawn", of))
    with pytest.raises(EngineError, match="drawn is asked at -21 degrees, and its sheet's coldest figures are at -20"):
        lifetimes_s("drawn", of | {"temperature_c": -21.0})
    use = use_of(of)
    deaf = lifetime.Question(use, "two-aa-piotrowski2006", 2.0, temperature_c=-20.0)
    sentence = "the sheet of two-aa-piotrowski2006 gives no figures over temperature: at -20 degrees its charge and res"
    assert sentence in str(lifetime.remarks(deaf, 3.6))
    warm, cold = (
        lifetime.of(lifetime.Question(use, "two-aa-energizer-e91", 2.0, temperature_c=c)).lifetime_s
        for c in (20.0, -20.0)
    )
    assert cold < 0.8 * warm


def test_a_coin_cell_sags(here: Path) -> None:
    """A CR2032 of next to no resistance, and one of 20 to 60 ohm."""
    shared = {
        "capacity_mAh": 225.0, "ocv_V": ((0, 2.0), (5, 2.45), (10, 2.62), (20, 2.8), (70, 2.87), (90, 2.9), (100, 3.0)),
        "yearly": 1.0, "cold_capacity": [60.0, 90.0, 100.0], "cold_ohms": [300.0, 150.0, 100.0],
        "temperature_c": 25.0, "linear": False, "pulse_a": 16e-3, "asleep_a": 1.9e-6, "pulse_s": 10e-3,
        "every_s": 300.0, "needs_v": 2.3,
    }  # fmt: skip
    lives = []
    for name, ohms in (("stiff", (0.01, 0.01)), ("weak", (60.0, 20.0))):
        of = shared | {"r_ohm": ((0, ohms[0]), (100, ohms[1]))}
        (here / f"sunseal/parts/{name}.toml").write_text(cell(name, of))
        lives.append(lifetimes_s(name, of))
        assert lives[-1] == pytest.approx(by_hand_s(of), rel=2e-3)
    assert lives[1] < 0.9 * lives[0]


# --- Harvested supplies ----------------------------------------------------------------------

PARTS: dict[str, dict[str, Any]] = {
    "store": {"capacitance_f": 0.5, "tolerance_rel": 0.2, "esr_ohm": 2.0, "v_rated_v": 5.0, "leakage_uA": 40.0},
    "harvester": {
        "overhead_mJ": 1.0, "overhead_reading": "per_start", "charge_efficiency": 0.8, "output_efficiency": 0.7,
        "panel_min_uW": 20.0, "quiescent_on_uW": 60.0, "quiescent_off_uW": 1.0, "v_max_v": 4.5, "v_on_v": 2.6,
        "v_cut_v": 1.9,
    },
    "charger": {
        "mppt_percent": 80.0, "v_in_min_mV": 100.0, "p_min_uW": 5.0, "cold_v_in_min_mV": 330.0, "cold_p_min_uW": 5.0,
        "cold_efficiency_percent": 10.0, "cold_until_V": 1.7, "quiescent_nA": 2e4, "v_ov_V": 4.5,
        "v_ok_rising_V": 2.8, "v_ok_falling_V": 2.4, "v_in_default_V": 1.2,
        "efficiency": "{ v_V = [1, 2], current_mA = [0.1, 1], percent = [[60, 70], [65, 75]] }",
    },
    "output": {
        "kind": "switching", "quiescent_uA": 20.0, "v_start_V": 2.0, "v_in_min_V": 2.0,
        "efficiency": "{ v_V = [2, 5], current_mA = [0.01, 1], percent = [[60, 80], [50, 75]] }",
    },
}  # fmt: skip
TABLE = {"store": "capacitor", "harvester": "harvester", "charger": "charger", "output": "converter"}


def told(part: str, name: str, key: str = "", by: float = 1.0) -> str:
    """Write a part's file, one figure of it changed."""
    rows = []
    for k, value in PARTS[part].items():
        shown = repr(value * by if k == key else value) if isinstance(value, float) else f'"{value}"'
        if k == "efficiency":
            head, cells = str(value).split("percent = ")
            changed = [[p * (by if k == key else 1.0) for p in row] for row in json.loads(cells.removesuffix(" }"))]
            shown = f"{head}percent = {changed} }}"
        rows.append(f"{k} = {shown}")
    body = "\n".join(rows)
    return f'name = "{name}"\ntitle = "one of ours"\n[{TABLE[part]}]\n{body}\nsource = "ours"\n'


RAIL_W, RAIL_V = 4e-4, 2.0
COLD = {"cold_until_V": 2.5}
"""Above the cut-off: below it a plan's year never begins."""
COLD_F, COLD_RAIL_W = 12.0, 1e-7
"""A store that takes half a day to get warm; next to no load and output, which a plan's year draws while off, too."""


def supply_of(chips: bool, of: str) -> dict[str, Any]:
    ways = {"charger": f"charger{of}", "output": f"output{of}"} if chips else {"harvester": f"harvester{of}"}
    return {**ways, "capacitor": f"store{of}"}


def plays(table: dict[str, Any], days: int, light_w: float) -> dict[str, float]:
    """Play it in the closed loop under a constant load: when it is cut off, and what it then holds."""
    played = api.simulate(
        {
            "name": "store", "board": "msp430fr5994-launchpad", "radio": "none", "duration_s": days * 86_400.0,
            "power": {"vcc_v": RAIL_V}, "supply": table, "output": {"points": 10}, "harvest": {"constant_w": light_w},
            "load": {"steps": [{"lasts_s": 3600.0, "current_a": RAIL_W / RAIL_V}]},
        }
    ).record  # fmt: skip
    cuts = [e["time_s"] for e in played["events"] if e["kind"] == "brown-out"]
    gained_j = played["energy"]["stored_end_j"] - played["energy"]["stored_begin_j"]
    return {"lasts_s": cuts[0] if cuts else math.inf, "gained_j": gained_j}


def fleets_(table: dict[str, Any], days: int, light_w: float) -> dict[str, float]:
    profile = fleet.NodeProfile(RAIL_W, 0.0, 0.0, 60.0, ())
    trace = ([0.0, 86_400.0], [light_w, light_w])
    fate = fleet.play_one(profile, trace, days, board="msp430fr5994-launchpad", vcc_v=RAIL_V, supply=table)
    sums = fate["sums"]
    lost = ("unused_j", "curtailed_j", "mppt_j", "charger_j", "leak_j", "esr_j", "quiescent_j", "overhead_j",
            "converter_j", "decoupling_j", "load_j", "store_load_j")  # fmt: skip
    gained_j = sums["panel_j"] - sum(sums[key] for key in lost)
    return {"lasts_s": days * 86_400.0 - fate["off_s"], "gained_j": gained_j}


def plans(table: dict[str, Any], days: int, light_w: float) -> dict[str, float]:
    scenario = {"name": "s", "board": "msp430fr5994-launchpad", "firmware": "none", "duration_s": 1.0, "supply": table}
    one = _engine.Supply(boards.library(), _engine.Scenario.from_json(json.dumps(scenario)))
    (given_w,) = np.frombuffer(one.given_w(np.array([RAIL_W, RAIL_V])))
    (reserve_j,) = np.frombuffer(one.reserve_j(np.array([RAIL_W, RAIL_V])))
    edges_s = np.arange(24 * (days + 1) + 1) * 3600.0
    lows = np.frombuffer(one.lows(edges_s, np.full(len(edges_s) - 1, light_w), given_w))
    # Dark on its first day, a store begins at the cut-off.
    begin_j = max(lows[0], 0.0)
    return {"lasts_s": one.dark_s(given_w, reserve_j), "gained_j": float(lows[days] - begin_j)}


@pytest.mark.parametrize(
    ("chips", "part", "key"),
    [
        (False, "store", "capacitance_f"),
        (False, "store", "leakage_uA"),
        (False, "harvester", "output_efficiency"),
        (False, "harvester", "quiescent_on_uW"),
        (False, "harvester", "charge_efficiency"),
        (True, "store", "leakage_uA"),
        (True, "output", "efficiency"),
        (True, "output", "quiescent_uA"),
        (True, "charger", "efficiency"),
        (True, "charger", "quiescent_nA"),
        (True, "charger", "cold_efficiency_percent"),
        (True, "charger", "cold_until_V"),
    ],
)
def test_a_change_of_a_harvested_supplys_law_moves_every_command_alike(
    here: Path, monkeypatch: pytest.MonkeyPatch, chips: bool, part: str, key: str
) -> None:
    charging = part in ("charger", "harvester") and "efficiency" in key and key != "output_efficiency"
    cold = key.startswith("cold_")
    charging |= cold
    if cold:
        monkeypatch.setitem(globals(), "RAIL_W", COLD_RAIL_W)
        monkeypatch.setitem(PARTS, "charger", PARTS["charger"] | COLD)
        monkeypatch.setitem(PARTS, "output", PARTS["output"] | {"quiescent_uA": 1e-3})
    what, light_w, begin_v = ("gained_j", 2e-3, 2.4 if cold else 3.0) if charging else ("lasts_s", 0.0, 4.5)
    found: list[list[float]] = []
    for of, by in (("1", 1.0), ("2", 1.05)):
        for name in PARTS:
            text = told(name, f"{name}{of}", key if name == part else "", by)
            (here / f"sunseal/parts/{name}{of}.toml").write_text(text)
        # Charging a larger one, which a day does not fill.
        larger = {"capacitance_f": COLD_F if cold else 20.0} if charging else {}
        table, days = {**supply_of(chips, of), "initial_v": begin_v, **larger}, 1 if charging else 60
        row = [asked(table, days, light_w)[what] for asked in (plays, fleets_, plans)]
        if not chips and not charging:
            text = f'name = "mine{of}"\nextends = "msp430f5438a-anagear"\n[supply]\nharvester = "harvester{of}"\n'
            (here / "sunseal/boards").mkdir(exist_ok=True)
            (here / f"sunseal/boards/mine{of}.toml").write_text(text + f'capacitor = "store{of}"\n')
            demand = size.Demand(RAIL_W * 1e-3, 1e-3, 0.0, 0.0, RAIL_W * 0.99999, 100.0)
            store_f = 0.5 * (by if key == "capacitance_f" else 1.0)
            row.append(size.dark_s(demand, f"mine{of}", RAIL_V, store_f, f"mine{of}", None))
        found.append(row)
    first, second = found
    # The laws are asked at five voltages, straight between them: a per cent in itself, nothing in a ratio.
    assert first == pytest.approx([first[0]] * len(first), rel=0.02)
    ratios = [b / a for a, b in zip(first, second, strict=True)]
    assert abs(ratios[0] - 1.0) > 2e-3
    # Of the figure before the change, where that makes a third of it: the time to get warm is no knot of a year.
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=2e-3, abs=2e-3 if cold else 0.0)


def test_a_store_that_ignores_the_cold_is_named_by_every_command(sunseal: Cli, firmware: None, here: Path) -> None:
    """A supercapacitor, and cells on the straight line of a paper: neither file says anything of the temperature."""
    put(
        here / "cold.toml",
        '[security]\nbits = 80\n[[task]]\noperation = "seal"\nevery = "1min"\nbytes = "64B"\n'
        '[battery]\nlifetime = "30day"\n[allow]\nboards = ["telosb"]\nbatteries = ["two-aa-piotrowski2006"]\n'
        'workloads = ["aes128-ccm-seal"]\n',
    )
    put(
        here / "load.toml",
        'name = "cold"\nboard = "telosb"\nduration_s = 60.0\ntemperature_c = -20.0\nradio = "none"\n'
        '[supply]\ncapacitor = "capxx-hw203"\noutput = "direct"\ncharger = "diode"\ninitial_v = 2.6\n'
        "v_cut_v = 2.0\nv_on_v = 2.5\n[[load.steps]]\nlasts_s = 1.0\ncurrent_a = 1e-5\n",
    )
    asked = {
        "two-aa-piotrowski2006": [["plan", "cold.toml"], ["lifetime", "aes128-ccm-seal", "--board", "telosb"]],
        "capxx-hw203": [["size", "--no-year"], ["simulate", "load.toml"]],
    }
    for store, commands in asked.items():
        for command in commands:
            cold = [] if command[0] == "simulate" else ["--temperature", "-20C"]
            said = sunseal(*command, *cold)
            told = f"the sheet of {store} gives no figures over temperature: at -20 degrees its "
            assert said.status == 0 and told in " ".join(said.out.split()), (command, said.out, said.err)
    assert json.loads(sunseal("plan", "cold.toml", "--temperature", "-20C", "--json").out)["remarks"]
