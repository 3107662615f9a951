# SPDX-License-Identifier: MIT OR Apache-2.0
"""Play a scenario in the closed loop, and say where each joule went."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal import _engine
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, citing, coprocessor, part_files, places, power_sets
from sunseal.catalog.units import show
from sunseal.errors import SunsealError
from sunseal.harvest import light as harvest
from sunseal.machine import devices
from sunseal.machine.machine import Machine
from sunseal.measurement import measuring, oracle, switching

if TYPE_CHECKING:
    import pandas as pd

EVERY_S = 30.0
"""Between two checkpoints of a run, by the clock on the wall."""

Watch = Callable[[float, float, int, int], None]
"""Hears simulated seconds, storage voltage, brown-outs, packets sent."""

LOSSES = {
    "unused_j": "not taken: too little to start the charger",
    "curtailed_j": "not taken: the store was full",
    "mppt_j": "not taken: away from the maximum power point",
    "charger_j": "lost in the charger",
    "leak_j": "lost in the store's leakage",
    "esr_j": "lost in the store's series resistance",
    "quiescent_j": "taken by the harvester itself",
    "overhead_j": "overhead of switching on",
    "converter_j": "lost in the output converter",
    "decoupling_j": "left in the decoupling capacitance at a cut",
}
DIVIDER = "voltage divider"
DEVICES = "devices"
"""Name that the engine has for the prices of devices on buses, whose parts a scenario names."""
BALANCE_MAX = 1e-6
TOLD = ("functions", "window", "coupons", "load", "first_cut_s", "repeated", "stuck")
"""Figures that only some runs have."""


@dataclass(frozen=True)
class Played(Shown):
    """A scenario, its light, and what the run left behind."""

    scenario: dict[str, Any]
    record: dict[str, Any]
    light: harvest.Trace | None
    folder: Path | None = None
    """Folder in which its file lies, and parts of its own may."""

    @property
    def hours(self) -> list[float]:
        """Hour of the day of each point of the series, at the point's end."""
        start_s = self.scenario["start_s"]
        series = self.record["series"]
        ends = [p["time_s"] for p in series[1:]] + [self.record["simulated_s"]]
        return [(start_s + t) / 3600.0 for t in ends]

    def vcap_at(self, time_s: float) -> float:
        """Storage voltage at a moment, from the series."""
        series = self.record["series"]
        ends = [p["time_s"] for p in series[1:]] + [self.record["simulated_s"]]
        import numpy as np

        return float(np.interp(time_s, ends, [p["vcap_v"] for p in series]))

    def energy(self) -> dict[str, Any]:
        """Joules in, out, lost and stored, with the balance that the engine closed."""
        record = self.record["energy"]
        sums = record["supply"]
        by_state: dict[str, float] = {}
        by_component: dict[str, float] = {}
        for item in record["load"]["items"]:
            joules = item["energy_j"]["typ"]
            state = item["name"] if item["kind"] == "event" else f"{item['component']}.{item['name']}"
            by_state[state] = by_state.get(state, 0.0) + joules
            by_component[item["component"]] = by_component.get(item["component"], 0.0) + joules
        by_component[DIVIDER] = sums["store_load_j"]
        lost = {text: sums[key] for key, text in LOSSES.items()}
        return {
            "in_j": sums["panel_j"],
            "out_j": sums["load_j"] + sums["store_load_j"],
            "lost_j": sum(lost.values()),
            "stored_begin_j": record["stored_begin_j"],
            "stored_end_j": record["stored_end_j"],
            "stored_delta_j": record["stored_end_j"] - record["stored_begin_j"],
            "by_component_j": dict(sorted(by_component.items())),
            "by_state_j": dict(sorted(by_state.items())),
            "lost_by_j": lost,
        }

    def untouched(self) -> list[str]:
        """Say of a radio that the program never spoke to what it took: it stays as it powered up, which costs."""
        items = self.record["energy"]["load"]["items"]
        mine = [i for i in items if i["component"] == "radio" and i["kind"] == "state"]
        stays = {i["name"] for i in mine} - {"off", "startup"}
        if not stays:
            return []
        with places.beside(self.folder):
            serial = boards.board(str(self.record["board"])).get("radio", {}).get("serial", "")
        spoken = any(i["kind"] == "event" and i["component"] in (serial, "radio") and i["count"] for i in items)
        joules, all_j = (sum(i["energy_j"]["typ"] for i in some) for some in (mine, items))
        if len(stays) != 1 or spoken or not joules > 0:
            return []
        return [
            f"the program never spoke to the radio, which stayed {stays.pop()} as it powers up: {show(joules, 'J')} of "
            f'{show(all_j, "J")} went there; put it to sleep, or leave it out by `radio = "none"` in the scenario'
        ]

    def deaf_to_temperature(self) -> list[str]:
        """Say which figures of the store stay those of 25 degrees, where it is played at others."""
        told, supply = self.scenario, self.scenario["supply"]
        temperature_c = supply.get("temperature_c")
        with places.beside(self.folder):
            stores = citing.supply_parts(str(told["board"]), supply)
            if not supply.get("cell") and not supply.get("capacitor"):
                stores += filter(None, [boards.load(str(told["board"])).battery])
            warm = told.get("temperature_c") if temperature_c is None else temperature_c
            return part_files.deaf_to_temperature(stores, warm)

    def closing(self) -> dict[str, Any]:
        """Return the figures that stand at the end of a run. No wall clock: same run, same bytes."""
        record = self.record
        return {
            "scenario": record["scenario"],
            "board": record["board"],
            "power_set": record["power_set"],
            "seed": record["seed"],
            "simulated_s": record["simulated_s"],
            "cycles": record["cycles"],
            "starts": record["starts"],
            "brown_outs": record["brown_outs"],
            "supervisor_resets": record["supervisor_resets"],
            "messages": record["messages"],
            "energy": self.energy(),
            "energy_balance_rel": record["energy"]["balance_rel"],
            "residual_known": any(i["component"] == "board" for i in record["energy"]["load"]["items"]),
            **({"low_light": list(self.light.low_light)} if self.light is not None else {}),
            **({"untouched": untouched} if (untouched := self.untouched()) else {}),
            **({"remarks": remarks} if (remarks := self.deaf_to_temperature()) else {}),
            **{key: record[key] for key in TOLD if record.get(key) is not None},
        }

    def never_ran(self) -> str | None:
        """Say so of a node that never executed an instruction, or never got past what cuts it off."""
        record = self.record
        stuck: str | None = record.get("stuck")
        if record["cycles"] or "load" in record:
            return stuck
        return (
            f"{stuck + '; ' if stuck else ''}the node never executed an instruction: {record['starts']:,} starts, "
            f"{record['brown_outs']:,} brown-outs, {record['supervisor_resets']:,} times held in reset by its "
            "supervisor; a larger or fuller store, more light, a higher `supply.v_on_v` or a lower `supply.v_cut_v` "
            "would let it start"
        )

    def frame(self) -> pd.DataFrame:
        """Return the series, a row a stretch of the run; `time_s` is its beginning, `vcap_v` the voltage at its end."""
        import pandas as pd

        return pd.DataFrame(self.record["series"])

    def cite(self) -> citing.Citations:
        """Return the documents behind board, parts, coefficients and light."""
        sets = [name.strip() for name in self.record["power_set"].split("+")]
        sets = [name for name in sets if name != DEVICES]
        light = self.light.provenance if self.light is not None else None
        with places.beside(self.folder):
            return citing.of_scenario(self.scenario, sets) + citing.of(climate=light)

    def series_csv(self) -> str:
        """Write the series as CSV: a header with units, a line for each stretch of the run."""
        series = self.record["series"]
        columns = list(series[0])
        lines = [",".join(columns)]
        lines += [",".join(repr(p[c]) for c in columns) for p in series]
        return "\n".join(lines) + "\n"


def load(path: Path, program: Path | None = None) -> _engine.Scenario:
    """Read a scenario by its path or its name; parts and boards of its own are looked for in its folder first.

    With `program`, that is played, and what the file says of a program of its own is left out.
    """
    return _engine.Scenario(str(boards.scenario_path(path)), None if program is None else str(program))


def play_tables(tables: Mapping[str, Any], folder: Path | None = None, watch: Watch | None = None) -> Played:
    """Play the tables of a scenario file; files in them are named from the working directory.

    `folder` is where parts and boards of one's own are looked for first: the working directory, as of a file that lay
    there.
    """
    folder = folder or Path.cwd()
    name = f"scenario {tables.get('name', 'without a name')}"
    try:
        with places.beside(folder):
            scenario = _engine.Scenario.from_json(json.dumps(tables, allow_nan=False))
            return replace(play(scenario, watch), folder=folder)
    except _engine.EngineError as e:
        # Where a file would be named stands nothing, and a line of JSON was never seen by anybody.
        sentence = re.sub(r" at line \d+ column \d+$", "", str(e)).replace("scenario : ", f"{name}: ", 1)
        raise SunsealError(sentence if sentence.startswith("scenario ") else f"{name}: {sentence}") from e
    except (TypeError, ValueError) as e:
        raise SunsealError(f"{name}: a value is none that a file could hold: {e}") from e


def facts(scenario: _engine.Scenario) -> dict[str, Any]:
    """Return everything that a scenario says, defaults included."""
    told: dict[str, Any] = json.loads(scenario.to_json())
    return told


def sunlight(scenario: Mapping[str, Any], reading: int = 0) -> harvest.Trace | None:
    """Compute the panel's power, for as many days as the run needs, if the scenario asks for weather.

    `reading` is which of those that the panel's datasheet leaves open: the darkest (-1), what is told, the brightest.
    """
    wanted = scenario["harvest"].get("sunlight")
    if wanted is None:
        return None
    part = wanted.get("panel")
    if part is None:
        board = boards.board(scenario["board"])
        supply = board["supply"]
        assert isinstance(supply, dict)
        part = str(supply["panel"])
    return harvest.sunlight(
        wanted["day"],
        panel=harvest.Panel.load(part),
        tilt_deg=wanted["tilt_deg"],
        azimuth_deg=wanted["azimuth_deg"],
        weather=wanted.get("weather") or harvest.DEFAULT_WEATHER,
        shading=wanted["shading"],
        days=math.ceil((scenario["start_s"] + scenario["duration_s"]) / harvest.DAY_S),
        reading=reading,
    )


@dataclass(frozen=True)
class Checkpoint:
    """File in which a run is kept while it goes, so that it can be gone on with."""

    path: Path
    resume: bool = False
    """Go on from what is there."""
    every_s: float = EVERY_S
    """By the clock on the wall."""
    told: Callable[[str], None] | None = None
    """Hears where the run goes on, and what could not be written."""


def play(
    scenario: _engine.Scenario,
    watch: Watch | None = None,
    checkpoint: Checkpoint | None = None,
    *,
    reading: int = 0,
) -> Played:
    """Play a scenario to its end; what comes out is the same, gone on with or not. `reading` is that of `sunlight`.

    With `checkpoint` the run is kept in its file every so often and when it is interrupted. Where the file cannot
    be written, the last one stays whole and the run goes on. Raises EngineError if what is to be gone on with is of
    another scenario, program, light or engine.
    """
    with places.beside(scenario.folder):
        return _play(scenario, watch, checkpoint, reading)


def _play(scenario: _engine.Scenario, watch: Watch | None, checkpoint: Checkpoint | None, reading: int) -> Played:

    told = facts(scenario)
    for bus in ("i2c", "spi"):
        if scenario.folder is not None and bus in told:
            told[bus] = [devices.from_folder(text, scenario.folder) for text in told[bus]]
    on_buses = _on_buses(told)
    switches = {f"{part}.{key}": value for part, own in told.get("wires", {}).items() for key, value in own.items()}
    coprocessor.ready(told["board"], tuple(switches.items()))
    light = sunlight(told, reading)
    keep, resume, told_of = None, False, None
    if checkpoint is not None:
        keep, resume, told_of = (str(checkpoint.path), checkpoint.every_s), checkpoint.resume, checkpoint.told
    arrays = None if light is None else (light.time_s.tolist(), light.rows)
    record = json.loads(_engine.simulate(boards.library(), scenario, arrays, watch, keep, resume, told_of, on_buses))
    off = record["energy"]["balance_rel"]
    if not abs(off) <= BALANCE_MAX:
        raise SunsealError(
            f"the energy balance is off by {off:.1e} of the energy moved; {BALANCE_MAX:g} is allowed, "
            "so the figures of this run mean nothing"
        )
    told.pop("gateway", None)  # a port that was free today is no fact of the scenario
    told["firmware"] = Path(told["firmware"]).name
    return Played(told, record, light, scenario.folder)


DUTY_SYMBOLS = ("bench_output", "bench_status", "duty_failed")
PERIOD_MAX_S = 65_535
LASTING = ("sign-steps", "sign-tasks", "sign-checkpoint")


def duty_scenario(
    workload: str,
    *,
    board: str = boards.DEFAULT_BOARD,
    variant: Sequence[str] = (),
    vcc_v: float | None = None,
    freq_hz: int | None = None,
    period_s: float = 600.0,
    duration_s: float = 86_400.0,
    power: str = boards.DEFAULT_POWER,
    supply: Mapping[str, Any] | None = None,
    harvest: Mapping[str, Any] | None = None,
    temperature_c: float | None = None,
    seed: int = 1,
    fed: bytes | None = None,
    switched_off: bool | None = None,
) -> _engine.Scenario:
    """Make a scenario of a workload every so often, asleep in between, by the real firmware `firmware/bench/duty.c`.

    Clock and supply are filled in as `measuring.measure` does. The program comes as near to the clock as its device
    can without being above it. `supply` and `harvest` are the tables of a scenario file; without them the store is the
    board's own, in the dark. `period_s` is a whole number of seconds, 0 for no pause at all. `fed` is the
    program's input where it shall not be the workload's own; nobody judges its output. `switched_off` says what becomes
    of a board's coprocessor between uses; without it, what takes less.
    """
    work = boards.workload(workload)
    if work.operation in LASTING:
        raise SunsealError(
            f"`{work.name}` lasts over a loss of the supply and has no duty cycle; take ecdsa-{work.parameter}-sign"
        )
    chosen = boards.variant(tuple(variant), board)
    path = boards.firmware_path(board, chosen, f"duty-{work.name}")
    if period_s != int(period_s) or not 0 <= period_s <= PERIOD_MAX_S:
        raise SunsealError(
            f"the period is {period_s:g} s; the program counts whole seconds, from 0 (no pause) to {PERIOD_MAX_S}"
        )
    weights = power_sets.PowerSet(power, board)
    freq_hz, vcc_v = power_sets.operating_point(weights, freq_hz, vcc_v)
    measuring.only_as_wired(board, weights, freq_hz)
    weights.inner.check(freq_hz, vcc_v)
    fed = oracle.trial(work).fed if fed is None else fed
    write = {
        "duty_input": fed.hex(),
        "duty_input_len": len(fed),
        "duty_period_s": int(period_s),
        "duty_mclk_khz": freq_hz // 1000,
    }
    if waits := power_sets.wait_states(weights, freq_hz, vcc_v):
        write["bench_wait_states"] = waits
    if coprocessor.fitted(board):
        if switched_off is None:
            between = switching.of(work.name, board, tuple(sorted(chosen.items())), vcc_v, power)
            switched_off = between is not None and between.pause_s < period_s
        write["duty_switched_off"] = int(switched_off)
    told: dict[str, Any] = {
        "name": f"{work.name} on {board}",
        "board": board,
        "firmware": str(path),
        "seed": seed,
        "duration_s": duration_s,
        "power": {"set": weights.name, "vcc_v": vcc_v},
        "supply": _stopping(dict(supply or {}), weights, freq_hz),
        "harvest": dict(harvest or {}),
        "write": write,
        "output": {"points": 2000, "symbols": list(DUTY_SYMBOLS)},
    }
    for wire, value in coprocessor.wires(board, chosen):
        part, key = wire.split(".")
        told.setdefault("wires", {}).setdefault(part, {})[key] = value
    if temperature_c is not None:
        told["temperature_c"] = temperature_c
    return _engine.Scenario.from_json(json.dumps(told))


def _stopping(supply: dict[str, Any], weights: power_sets.PowerSet, freq_hz: int) -> dict[str, Any]:
    """Stop a node whose store is its rail below what its clock needs, as a supervisor would stop it."""
    direct = supply.get("output", "direct") == "direct" and "harvester" not in supply
    if not direct or "v_cut_v" in supply or "supply" in boards.board(weights.board.name):
        return supply
    least_v = min(v for hz, v, _ in weights.inner.levels() if hz >= freq_hz * 0.995)
    on_v = least_v + 0.1
    if "cell" in supply:
        # Nothing flows from a cell at the lowest voltage that it has.
        on_v = max(on_v, 1.01 * _engine.Battery(boards.library(), supply["cell"], None, 25.0, 1.0, 1.0).empty_v)
    return {"v_cut_v": least_v, "v_on_v": on_v, **supply}


@dataclass(frozen=True)
class Duty:
    """Outcome of a node of `duty_scenario`."""

    workload: str
    operations: int
    """Finished ones, over all lives."""
    failed: int | None
    """Those of the last life that a status spoke against; None if the node is off at the end."""
    right: bool | None
    """True if an independent implementation agrees with the last output; None where there is none, or it is lost."""
    freq_hz: int
    """The clock that the program reached."""


def duty(played: Played) -> Duty:
    """Read what a node of `duty_scenario` did from its run's record."""
    record = played.record
    name = Path(played.scenario["firmware"]).stem.removeprefix("duty-")
    work = boards.workload(name)
    wanted_hz = 1000 * played.scenario["write"]["duty_mclk_khz"]
    running = [i for i in record["energy"]["load"]["items"] if i["name"].startswith("active.")]
    # At start-up the clock is another; where a crystal gives it, it is what that is.
    near = [i for i in running if abs(i["mclk_hz"] / wanted_hz - 1) < 0.25] or running
    freq_hz = max(near, key=lambda i: float(i["time_s"]))["mclk_hz"] if near else 0
    operations = int(record["operations"])
    if record["starts"] == record["brown_outs"] or operations == 0:
        return Duty(name, operations, None, None, freq_hz)
    symbols = {k: bytes.fromhex(v) for k, v in record["symbols"].items()}
    failed = int.from_bytes(symbols["duty_failed"], "little")
    trial = oracle.trial(work)
    right = failed == 0 and trial.right(symbols["bench_output"][: trial.output_bytes]) is not False
    return Duty(name, operations, failed, right, freq_hz)


OnBus = tuple[str, str, object, list[int], str | None, dict[str, float]]
"""A device as the engine's closed loop takes it: name, interface, itself, addresses, select pin, amperes by state."""


def _on_buses(scenario: Mapping[str, Any]) -> list[OnBus]:
    """Make the devices that a scenario names; their files are named from the working directory."""
    listed = [(bus, text) for bus in ("i2c", "spi") for text in scenario.get(bus, ())]
    if not listed:
        return []
    # A machine that never runs: it knows the board's buses, and refuses what cannot be on them.
    trial = Machine(scenario["board"])
    if (vcc_v := scenario["power"].get("vcc_v")) is not None:
        trial.vcc_v = vcc_v
    for bus, text in listed:
        devices.put(trial, bus, text, what=bus)
    return [(*wired, dict(getattr(wired[2], "current_a", {}))) for wired in trial.wired]
