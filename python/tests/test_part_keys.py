# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every numeric key of a part changes a figure, or is refused where it cannot: a part of each kind, key by key."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sunseal as package
from sunseal import _engine
from sunseal.catalog import boards, part_files
from sunseal.errors import SunsealError
from sunseal.harvest import light
from sunseal.planner import lifetime, plan_link, plan_requirements, radio, sensors, sweep
from sunseal.planner import plan_supplies as supplies

Facts = dict[str, Any]
Ask = Callable[[], object]

ELSEWHERE = {
    "fpga": "what a coprocessor's clocks, boot and rails cost: python/tests/test_machine.py, hdl/",
    "radio": "times of a simulated chip's states: crates/sunseal-radio/tests, a file a chip",
    "radio.receiver": "who hears whom: crates/sunseal-radio/tests/air.rs",
    "panel.point": "what a panel gives by its points: crates/sunseal-power/src/panel.rs",
    "panel": "the light that its points hold in: the same",
    "peripheral": "a device's bus, memory and name: python/tests/test_devices.py",
}
"""Tables whose other keys a program sees, and where that is tested."""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Facts], Path]:
    """Write the part into a folder of its own: what was read from a folder is kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    number = itertools.count()

    def put(facts: Facts) -> Path:
        folder = tmp_path / str(next(number))
        (folder / "sunseal" / "parts").mkdir(parents=True)
        monkeypatch.chdir(folder)
        file = folder / "sunseal" / "parts" / "own.toml"
        file.write_text(text_of(facts))
        return file

    return put


def text_of(facts: Facts) -> str:
    plain = {k: v for k, v in facts.items() if not isinstance(v, dict)}
    lines = ['name = "own"', 'title = "own"', *(f"{k} = {v}" for k, v in plain.items())]
    for key, table in facts.items():
        if key in plain:
            continue
        lines += part_files._table(key, {"source": "ours", **table}, {}) if key != "tolerance" else ["[tolerance]"]
        lines += [f"{k} = {v}" for k, v in table.items()] if key == "tolerance" else []
    return "\n".join(lines) + "\n"


def leaves(facts: Facts, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Go through the numbers by where each stands; a list counts as one."""
    for key, value in facts.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for i, row in enumerate(value):
                yield from leaves(row, (*path, key, str(i)))
        elif (isinstance(value, list) and value and not isinstance(value[0], str)) or (
            isinstance(value, int | float) and not isinstance(value, bool)
        ):
            yield (*path, key)


def changed(facts: Facts, path: tuple[str, ...], by: float) -> Facts:
    """Return the facts with one number changed; of a list, all of its last column."""
    copy: Facts = json.loads(json.dumps(facts))
    at: Any = copy
    for key in path[:-1]:
        at = at[int(key)] if isinstance(at, list) else at[key]
    key = path[-1]

    def more(value: Any) -> Any:
        if isinstance(value, list):
            if value and isinstance(value[0], list) and len(value[0]) == 2:
                return [[a, more(b)] if not isinstance(b, str) else [more(a), b] for a, b in value]
            return [more(v) for v in value]
        if isinstance(value, str):
            return value
        return value + 1 if isinstance(value, int) and value < 20 else round(value * by, 9)

    at[key] = more(at[key])
    return copy


def day(supply: Facts, duration_s: float = 7200.0, **more: Any) -> Ask:
    steps = [{"lasts_s": 0.01, "current_a": 3e-3}, {"lasts_s": 60.0, "current_a": 2e-6}]
    told = {"name": "own", "board": "telosb", "radio": "none", "duration_s": duration_s, "load": {"steps": steps}}

    def ask() -> object:
        record = package.simulate({**told, "supply": supply, **more}).record
        return record["energy"]["supply"], record["energy"]["stored_end_j"], record["starts"], record["brown_outs"]

    return ask


BOUGHT = {"charger": "ti-bq25504", "output": "ti-tps7a02"}
CURVE = {"v_V": [1.0, 3.0], "current_mA": [0.001, 10.0], "percent": [[70, 80], [75, 85]]}
GLIMPSE = {"periodic": {"on_w": 1e-3, "period_s": 1e5, "on_s": 30.0}}
SOURCE = {"source": {"v_oc_v": [0.5], "r_ohm": [100.0]}}
LIGHT_W_M2, CELL_C = np.array([100.0, 800.0]), np.array([0.0, 50.0])
BOUNDS: Any = SimpleNamespace(mass_g=3.1, volume_cm3=1.03)
ONLY = {"chip": ("chip", "charger.disabled_nA"), "size and mass": ("mass_g", "volume_cm3")}
"""Keys that a case is for, where it is not for all of its own."""
CASES: dict[str, tuple[Facts, list[Ask]]] = {
    "capacitor with branches": (
        {
            "capacitor": {
                "capacitance_f": 0.047,
                "tolerance_rel": 0.3,
                "esr_ohm": 1.0,
                "v_rated_v": 3.0,
                "leakage_uA": 8.0,
                "leakage_doubles_K": 15.0,
                "branch": [
                    {"capacitance_f": 0.03, "capacitance_f_per_v": 0.004, "r_ohm": 1.0},
                    {"capacitance_f": 0.01, "capacitance_f_per_v": 0.002, "r_ohm": 500.0},
                ],
            },
            "tolerance": {"low_rel": 0.1},
        },
        [
            day({**BOUGHT, "capacitor": "own", "initial_v": 2.9}, temperature_c=40.0),
            day({**BOUGHT, "capacitor": "own", "initial_v": 2.9, "plain": True}),
            lambda: str(supplies.harvested({"capacitors": ["own"], "panels": ["ixys-slmd600h10l"]})),
        ],
    ),
    "capacitor with derating": (
        {
            "capacitor": {
                "capacitance_f": 0.01,
                "tolerance_rel": 0.3,
                "esr_ohm": 1.0,
                "v_rated_v": 4.0,
                "leakage_uA": 1.0,
                "derating_percent": [[0.0, 100.0], [4.0, 50.0]],
            }
        },
        [
            day({**BOUGHT, "capacitor": "own", "initial_v": 2.9}),
            lambda: str(supplies.harvested({"capacitors": ["own"], "panels": ["ixys-slmd600h10l"]})),
        ],
    ),
    "cell": (
        {
            "cell": {
                "capacity_mAh": 1.0,
                "cells_in_series": 1,
                "ocv_V": [[0, 2.5], [50, 3.0], [100, 3.2]],
                "r_ohm": [[0, 30.0], [100, 10.0]],
                "self_discharge_percent_per_year": 20.0,
                "self_discharge_doubles_K": 10.0,
                "r_percent_per_K_below": 3.0,
                "capacity_percent_per_K_below": 0.5,
                "rechargeable": True,
                "v_charge_V": 3.15,
                "v_end_V": 2.6,
            }
        },
        [
            day({"cell": "own", "charger": "diode", "output": "direct"}, 200_000.0, temperature_c=-10.0),
            day(
                {"cell": "own", "charger": "diode", "output": "direct", "initial_v": 3.1},
                harvest={"constant_w": 1e-3},
            ),
            day({"cell": "own", "charger": "diode", "output": "direct", "initial_v": 2.7}),
        ],
    ),
    "cell by tables": (
        {
            "cell": {
                "capacity_mAh": 100.0,
                "ocv_V": [[0, 2.5], [50, 3.0], [100, 3.2]],
                "r_ohm": [[0, 30.0], [100, 10.0]],
                "self_discharge_percent_per_year": 1.0,
                "rechargeable": False,
                "v_end_V": 2.6,
                "temperature": {
                    "t_C": [-20.0, 0.0, 25.0],
                    "capacity_percent": [60.0, 85.0, 100.0],
                    "resistance_percent": [400.0, 200.0, 100.0],
                    "source": "ours",
                },
                "rate": {"current_mA": [0.001, 1.0], "capacity_percent": [100.0, 60.0], "source": "ours"},
            }
        },
        [
            lambda: [
                *lifetime.lives(
                    lifetime.battery("own", temperature_c=-10.0),
                    vcc_v=[3.0],
                    asleep_w=[1e-5],
                    awake_w=[0.03],
                    busy=[0.01],
                    peak_w=[0.03],
                    needs_v=[2.2],
                ).lasts_s
            ],
        ],
    ),
    "charger": (
        {
            "charger": {
                "mppt_percent": 80.0,
                "v_in_min_mV": 130.0,
                "p_min_uW": 10.0,
                "cold_v_in_min_mV": 300.0,
                "cold_p_min_uW": 15.0,
                "cold_efficiency_percent": 5.0,
                "cold_until_V": 1.77,
                "quiescent_nA": 330.0,
                "asleep_nA": 200.0,
                "v_ov_V": 3.0,
                "v_ok_rising_V": 2.8,
                "v_ok_falling_V": 2.4,
                "v_in_default_V": 1.2,
                "efficiency": CURVE,
            }
        },
        [
            day({"capacitor": "tantalum-330u", "charger": "own", "output": "ti-tps7a02", "initial_v": 0.5}, harvest=h)
            for h in (
                SOURCE,
                {"constant_w": 1e-3},
                {"constant_w": 15.5e-6},
                {"source": {"v_oc_v": [0.31], "r_ohm": [1.0]}},
                {"periodic": {"on_w": 1e-3, "period_s": 600.0, "on_s": 300.0}},
            )
        ]
        + [
            day({"capacitor": "tantalum-330u", "charger": "own", "output": "ti-tps7a02", "initial_v": 2.9}, harvest=h)
            for h in ({"constant_w": 10.3e-6}, {"source": {"v_oc_v": [0.165], "r_ohm": [100.0]}})
        ],
    ),
    "switching": (
        {
            "converter": {
                "kind": "switching",
                "quiescent_uA": 0.5,
                "shutdown_uA": 0.1,
                "v_start_V": 2.85,
                "v_in_min_V": 2.5,
                "efficiency": CURVE,
            }
        },
        [day({"capacitor": "tantalum-330u", "charger": "ti-bq25504", "output": "own", "initial_v": 3.0}, 3600.0)],
    ),
    "linear": (
        {
            "converter": {
                "kind": "linear",
                "dropout_mV": 300.0,
                "quiescent_uA": 0.5,
                "shutdown_uA": 0.1,
                "v_start_V": 2.85,
                "v_in_min_V": 2.5,
            }
        },
        [
            day({"capacitor": "tantalum-330u", "charger": "ti-bq25504", "output": "own", "initial_v": 3.0}, 3600.0),
        ],
    ),
    "assisting": (
        {
            "converter": {
                "kind": "assisting",
                "quiescent_uA": 5.0,
                "shutdown_uA": 0.5,
                "hysteresis_mV": 20.0,
                "v_start_V": 2.0,
                "v_in_min_V": 1.9,
                "efficiency": CURVE,
            }
        },
        [
            day(
                {
                    "capacitor": "capxx-hw203",
                    "capacitance_f": 0.05,
                    "charger": "diode",
                    "output": "own",
                    "initial_v": 2.5,
                    "below_v": 2.45,
                    "v_max_v": 3.5,
                },
                40_000.0,
                harvest={"periodic": {"on_w": 6e-5, "period_s": 20_000.0, "on_s": 5_000.0}},
            ),
            day(
                {"capacitor": "tantalum-330u", "charger": "diode", "output": "own", "initial_v": 1.95, "below_v": 2.45}
            ),
        ],
    ),
    "chip": (
        {
            "chip": {"quiescent_nA": 488.0},
            "charger": {
                **boards.part("ti-bq25570")["charger"],
                "disabled_nA": 100.0,
            },
            "converter": boards.part("ti-bq25570")["converter"],
        },
        [day({"capacitor": "capxx-hw203", "charger": "ti-bq25504", "output": "own", "initial_v": 3.0}, 600.0)],
    ),
    "harvester": (
        {
            "harvester": {
                "overhead_mJ": 0.02,
                "overhead_reading": "per_start",
                "charge_efficiency": 0.8,
                "output_efficiency": 0.85,
                "panel_min_uW": 20.0,
                "quiescent_on_uW": 6.0,
                "quiescent_off_uW": 2.0,
                "v_max_v": 3.2,
                "v_on_v": 2.8,
                "v_cut_v": 2.4,
            }
        },
        [
            day(
                {
                    "capacitor": "capxx-hw203",
                    "capacitance_f": 0.005,
                    "harvester": "own",
                    "initial_v": 2.5,
                    "plain": True,
                },
                harvest=h,
            )
            for h in ({"constant_w": 1e-3}, {"constant_w": 20.5e-6}, GLIMPSE)
        ],
    ),
    "panel": (
        {
            "panel": {
                "v_oc_v": 6.3,
                "i_sc_mA": 25.0,
                "v_mp_v": 5.01,
                "i_mp_mA": 22.3,
                "cells_in_series": 10,
                "alpha_sc_percent_per_k": 0.05,
                "beta_oc_percent_per_k": -0.33,
                "low_light_W_m2": 200.0,
                "low_light_p_mp_mW": 22.0,
            }
        },
        [
            lambda: [x.tolist() for x in light.Panel.load("own").at_maximum(LIGHT_W_M2, CELL_C)],
            lambda: [x.tolist() for x in light.bounds(light.Panel.load("own"), LIGHT_W_M2)],
        ],
    ),
    "messages": (
        {
            "radio": {
                "model": "priced",
                "device": "cc2500",
                "power_set": "cc2500-datasheet",
                "asleep": "sleep",
                "vcc_min_v": 2.2,
                "vcc_max_v": 3.3,
                "message": [
                    {
                        "name": "own-fsk",
                        "carrier_MHz": 868.0,
                        "rate_bit_s": 38.4e3,
                        "overhead_bytes": 11.0,
                        "frame_max_bytes": 40,
                        "sensitivity_dBm": -100.0,
                        "wake": [["startup", 150.0]],
                        "settle": [["settle", 88.0]],
                        "receive": "rx",
                        "send": [[0, "tx.0dbm"]],
                        "source": "ours",
                    },
                    {
                        "name": "own-lora",
                        "carrier_MHz": 868.0,
                        "overhead_bytes": 4.0,
                        "frame_max_bytes": 40,
                        "sensitivity_dBm": -130.0,
                        "wake": [["startup", 150.0]],
                        "settle": [["settle", 88.0]],
                        "receive": "rx",
                        "send": [[0, "tx.0dbm"]],
                        "source": "ours",
                        "lora": {
                            "modem": "sx127x",
                            "spreading_factor": 9,
                            "bandwidth_kHz": 125.0,
                            "coding_rate": 5,
                            "preamble_symbols": 8,
                        },
                    },
                ],
            }
        },
        [
            lambda: [
                (
                    radio.prices(way, max(way.send)).exchange(150).to_dict(),
                    plan_link.least_dbm(way, plan_requirements.Link(None, 100.0, 3.0, 10.0, 0.0, None)),
                )
                for way in radio.of_part("own").values()
            ],
            lambda: sweep.rail_limits("telosb", True, "own-fsk"),
        ],
    ),
    "size and mass": (
        {
            "mass_g": 3.0,
            "volume_cm3": 1.0,
            "cell": {**boards.part("cr2032")["cell"]},
        },
        [
            lambda: str(sweep._bounded(BOUNDS, [b for b in supplies.batteries({}, []) if b.part == "own"], [])),
        ],
    ),
    "sensor": (
        {
            "peripheral": {
                "model": "load",
                "buses": ["i2c"],
                "vcc_min_v": 2.0,
                "vcc_max_v": 2.05,
                "convert_ms": 20.0,
                "current_uA": {"shutdown": 0.5, "convert": 100.0},
            }
        },
        [lambda: sensors.of_parts(["own"], 2.03)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_key_changes_a_figure_or_is_refused(case: str, write: Callable[[Facts], Path]) -> None:
    facts, asks = CASES[case]
    boards.library().check_part(write(facts))
    before = [told(ask) for ask in asks]
    assert any(not isinstance(was, Refused) for was in before), before
    dead = []
    for path in leaves(facts):
        if not ".".join(path).startswith(ONLY.get(case, "")):
            continue
        for by in (1.06, 0.94):
            file = write(changed(facts, path, by))
            try:
                boards.library().check_part(file)
            except _engine.EngineError:
                break
            if any(told(ask) != was for ask, was in zip(asks, before, strict=True)):
                break
        else:
            dead.append(".".join(path))
    assert dead == []


class Refused(str):
    """The sentence that stands for an answer."""


def told(ask: Ask) -> object:
    """Return an answer, or the sentence by which it is refused."""
    try:
        return ask()
    except (SunsealError, _engine.EngineError) as e:
        return Refused(e)


def test_no_key_of_the_schema_is_left_out() -> None:
    """Each numeric key stands in a case above, or in a table that a program sees."""
    seen = {".".join(p for p in path if not p.isdigit()) for facts, _ in CASES.values() for path in leaves(facts)}
    schema = json.loads(_engine.schema("part"))
    left = {key for key in _numeric(schema, schema, "") if key not in seen and key.rpartition(".")[0] not in ELSEWHERE}
    assert left <= {"fpga.rail.voltage_V"}, left


def _numeric(schema: Any, node: Any, path: str, inside: tuple[str, ...] = ()) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _numeric(schema, item, path, inside)
    if not isinstance(node, dict):
        return
    name = node.get("$ref", "").rpartition("/")[2]
    if name and name not in inside:
        yield from _numeric(schema, schema["$defs"][name], path, (*inside, name))
    kinds = node.get("type")
    if {"number", "integer"} & set(kinds if isinstance(kinds, list) else [kinds]):
        yield path
    for key, value in node.get("properties", {}).items():
        yield from _numeric(schema, value, f"{path}.{key}".lstrip("."), inside)
    for key in ("items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties"):
        yield from _numeric(schema, node.get(key), path, inside)
