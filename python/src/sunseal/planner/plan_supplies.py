# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every supply that the parts allow, and what it carries: a store under a typical year's light, or a battery's life.

Of a harvested supply the largest load is sought under which its store keeps a gate on the days that are asked for.
A battery's life is the engine's (`lifetime.lives`).

The year is the engine's (`sunseal_power::Yearly`), by the hour, or in shorter steps where the light's points lie
closer: converters, chargers, leakage and resistance are those of the closed loop.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sunseal import _engine
from sunseal.answers import writing
from sunseal.catalog import boards, part_files, places
from sunseal.errors import SunsealError
from sunseal.harvest import climate as indoor
from sunseal.harvest import light as harvest
from sunseal.loop import fleet as fleets
from sunseal.measurement import measuring
from sunseal.planner import lifetime
from sunseal.planner.plan_requirements import Requirements

Array = npt.NDArray[np.float64]
HOUR_S = 3600.0
DAY_S = 86_400.0
DAYS = 365
GATES = np.array([0.0, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0])
"""Gates at which that is found, as shares of the store; between them it is a straight line."""
FINEST = 48
"""A light with so many points a day at most is played from point to point, another in even steps."""
STEP_S = 600.0
"""Length of these even steps."""
ROWS_MAX = 1e8
"""Most rows of a year's trace: at a row a second, a third of this, a configuration's year takes seconds."""


@places.cached
def parts(kind: str) -> dict[str, dict[str, Any]]:
    """Read the parts that have a table of this name."""
    found: dict[str, dict[str, Any]] = {n: boards.part(n) for n in boards.names("parts")}
    return {name: facts for name, facts in found.items() if kind in facts}


# --- Light -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Light:
    """A panel's power over the typical year, as points with straight lines between them."""

    panel: str
    time_s: Array
    power_w: Array
    provenance: dict[str, str]
    ends: tuple[Array, Array] | None = None
    """Shares of that power by the panel's darker and brighter reading (`harvest.bounds`), if it is computed."""

    @property
    def trace(self) -> fleets.Trace:
        """Return the same as the fleet's engine takes it."""
        return self.time_s.tolist(), self.power_w.tolist()

    @property
    def low_light(self) -> tuple[float, float] | None:
        """Return the year's energy by the panel's darker and brighter reading, over that of its fit."""
        whole_w = float(self.hours_w().mean())
        if self.ends is None or whole_w == 0.0:
            return None
        return float(self.hours_w(-1).mean()) / whole_w, float(self.hours_w(1).mean()) / whole_w

    def edges_s(self) -> Array:
        """Return where the steps of the year begin and end: each hour, and each point of the light."""
        length_s, end_s = float(self.time_s[-1] - self.time_s[0]), DAYS * DAY_S
        hours_s = np.arange(DAYS * 24 + 1) * HOUR_S
        if len(self.time_s) * DAY_S > FINEST * length_s:
            return np.linspace(0.0, end_s, round(end_s / STEP_S) + 1)
        rounds = np.arange(math.ceil(end_s / length_s))[:, None] * length_s
        points_s = (rounds + (self.time_s[:-1] - self.time_s[0])).ravel()
        whole = np.sort(np.concatenate([hours_s, points_s[points_s < end_s]]))
        found: Array = whole[np.concatenate([[True], np.diff(whole) > 1e-3])]
        return found

    def hours_w(self, reading: float = 0, edges_s: Array | None = None) -> Array:
        """Return each hour's mean over the year, or each step's; a shorter trace is repeated without end.

        By the panel's darker reading (-1), its fit (0) or its brighter reading (1).
        """
        t, p = self.time_s, self.power_w
        if reading and self.ends is not None:
            p = p * self.ends[reading > 0]
        energy = np.concatenate([[0.0], np.cumsum(np.diff(t) * (p[1:] + p[:-1]) / 2)])
        at_s = np.arange(DAYS * 24 + 1) * HOUR_S if edges_s is None else edges_s
        rounds, within = np.divmod(at_s, float(t[-1] - t[0]))
        # Between two points the engine takes their mean, so the energy is a straight line of itself.
        found: Array = np.diff(rounds * energy[-1] + np.interp(within, t - t[0], energy)) / np.diff(at_s)
        return found


def light(requirements: Requirements, panel: str) -> Light:
    """Return a panel's year in the climate that is asked for, from the cache if it was computed before."""
    assert requirements.climate is not None
    return light_in(requirements.climate, panel, requirements.folder)


def light_in(climate: Mapping[str, Any], panel: str, folder: Path) -> Light:
    """Return a panel's year in a climate; `folder` is where its trace lies."""
    if "constant_w" in climate:
        level_w = float(climate["constant_w"])
        ends = np.array([0.0, fleets.DAY_S]), np.full(2, level_w)
        return Light(panel, *ends, {"climate": f"{level_w:g} W always"})
    if "trace" in climate:
        path = folder / str(climate["trace"])
        time_s, power_w = (np.asarray(c, dtype=float) for c in fleets.trace_file(path))
        if (
            len(time_s) < 2
            or (np.diff(time_s) <= 0).any()
            or not (power_w >= 0).all()
            or not np.isfinite(power_w).all()
        ):
            raise SunsealError(f"the trace `{path}` must have rising times and powers from zero, without a gap")
        mean_s = float(time_s[-1] - time_s[0]) / (len(time_s) - 1)
        if mean_s * ROWS_MAX < DAYS * DAY_S:
            raise SunsealError(
                f"the trace `{path}` has a row each {mean_s:.3g} s, and a year would play {DAYS * DAY_S / mean_s:.2g}",
                hint=f"average its rows: from {DAYS * DAY_S / ROWS_MAX:.2g} s on they are taken",
            )
        return Light(panel, time_s, power_w, {"climate": f"trace {path.name}"})
    if "lux" in climate:
        return _indoors(climate, panel, folder)
    key = hashlib.sha256(repr((sorted(climate.items()), panel)).encode())
    key.update(json.dumps(boards.part(panel), sort_keys=True).encode())
    key.update(Path(harvest.__file__).read_bytes() + measuring.engine_id())
    if "latitude_deg" not in climate:
        key.update(harvest.weather_id(str(climate.get("weather", harvest.DEFAULT_WEATHER))).encode())
    path = boards.kept("light", f"{key.hexdigest()}.npz")
    try:
        with np.load(path) as kept:
            told = {str(k): str(v) for k, v in zip(kept["keys"], kept["told"], strict=True)}
            return Light(panel, kept["time_s"], kept["power_w"], told, (kept["low"], kept["high"]))
    except (OSError, ValueError, KeyError):
        found = _computed(climate, panel)
    packed = io.BytesIO()
    told = found.provenance
    keys, values = np.array(list(told)), np.array(list(told.values()))
    assert found.ends is not None
    low, high = found.ends
    np.savez_compressed(packed, time_s=found.time_s, power_w=found.power_w, low=low, high=high, keys=keys, told=values)
    with suppress(OSError):  # a cache that cannot be written only costs time
        writing.write_atomic(boards.cache_dir() / "light" / path.name, packed.getvalue())
    return found


EDGE_S = 1.0
"""So long a profile's light takes from one row to the next."""


def _indoors(climate: Mapping[str, Any], panel: str, folder: Path) -> Light:
    """Return a panel's year under a profile of indoor light, repeated without end; a row holds until the next."""
    loaded = _panel(panel)
    asked = loaded, str(climate.get("light", "led")), float(climate.get("shading", 1.0))
    rows = indoor.indoors(folder / str(climate["lux"]), *asked)
    begins, ends_s = rows.time_s[:-1], rows.time_s[1:] - np.minimum(EDGE_S, np.diff(rows.time_s) / 2)
    time_s = np.append(np.column_stack([begins, ends_s]).ravel(), rows.time_s[-1])
    power_w = np.append(np.repeat(rows.power_w, 2), rows.power_w[:1])
    low, high = np.ones_like(rows.power_w), np.ones_like(rows.power_w)
    shone = rows.power_w > 0.0
    low[shone], high[shone] = harvest.bounds(loaded, rows.light[shone])
    ends = tuple(np.append(np.repeat(end, 2), end[:1]) for end in (low, high))
    return Light(panel, time_s, power_w, rows.provenance, (ends[0], ends[1]))


def _computed(climate: Mapping[str, Any], panel: str) -> Light:
    plane: dict[str, Any] = {
        "tilt_deg": float(climate.get("tilt_deg", 36.0)),
        "azimuth_deg": float(climate.get("azimuth_deg", 180.0)),
        "shading": float(climate.get("shading", 1.0)),
    }
    loaded = _panel(panel)
    if "latitude_deg" in climate:
        year = harvest.clear_sky(
            float(climate["latitude_deg"]),
            panel=loaded,
            clearness=float(climate["clearness"]),
            air_c=float(climate.get("air_c", 15.0)),
            **plane,
        )
    else:
        weather = str(climate.get("weather", harvest.DEFAULT_WEATHER))
        year = harvest.sunlight("01-01", days=DAYS, step_s=HOUR_S, panel=loaded, weather=weather, **plane)
    ends = harvest.bounds(loaded, year.irradiance_w_m2)
    return Light(panel, year.time_s, year.power_w, year.provenance, ends)


@places.cached
def _panel(part: str) -> harvest.Panel:
    return harvest.Panel.load(part)


# --- Harvested supplies ----------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """A capacitor or a rechargeable cell."""

    part: str
    is_cell: bool
    capacitance_f: float
    """Capacitance of a capacitor; 0 of a cell."""
    tolerance_low_rel: float
    """Share by which a store may be below its nominal capacity; above it `tolerance_rel`."""
    tolerance_rel: float


@dataclass(frozen=True)
class Harvested:
    """Panel, harvester or charger with an output, and a store."""

    harvester: str
    output: str | None
    store: Store
    panel: str
    temperature_c: float = lifetime.WARM_C

    @property
    def name(self) -> str:
        """Name it as a person would."""
        return " + ".join(filter(None, (self.panel, self.harvester, self.output, self.store.part)))

    @property
    def title(self) -> str:
        """Return what its parts are called."""
        return _called(self.name)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts that it is made of."""
        return tuple(dict.fromkeys(filter(None, (self.panel, self.harvester, self.output, self.store.part))))

    @property
    def panel_w(self) -> float:
        """Return the panel's rated power."""
        return _panel(self.panel).engine.rated_w

    def table(self) -> dict[str, Any]:
        """Return the table [supply] of a scenario."""
        told: dict[str, Any] = {"cell": self.store.part} if self.store.is_cell else {"capacitor": self.store.part}
        if self.temperature_c != lifetime.WARM_C:
            told["temperature_c"] = self.temperature_c
        if self.output is None:
            return {**told, "harvester": self.harvester}
        return {**told, "charger": self.harvester, "output": self.output}

    @property
    def engine(self) -> _engine.Supply:
        """Return it as the engine has it."""
        return _engines(json.dumps(self.table()), 1.0, 1.0)

    def of(self, charge: float, leakage: float) -> _engine.Supply:
        """Return the same with shares of its store's charge and leakage."""
        return _engines(json.dumps(self.table()), charge, leakage)

    @property
    def full_j(self) -> float:
        """Return what the full store holds above the cut-off."""
        return self.engine.full_j

    def carries(self, vcc_v: Array) -> npt.NDArray[np.bool_]:
        """Say at which rails it can hold a node."""
        return vcc_v <= self.engine.rail_most_v

    def drawn_w(self, rail_w: Array, vcc_v: Array, efficiency: float = 1.0) -> Array:
        """Return what the store gives for loads at rails; `efficiency` scales the output's."""
        return _each(lambda pairs: self.engine.given_w(pairs, efficiency), rail_w, vcc_v)

    def reserve_j(self, peak_w: Array, vcc_v: Array) -> Array:
        """Return what must be left in the store so that its terminal does not fall to the cut-off under a peak."""
        return _each(self.engine.reserve_j, peak_w, vcc_v)


@places.cached
def _engines(table: str, charge: float, leakage: float) -> _engine.Supply:
    scenario = {"name": "a supply", "board": boards.DEFAULT_BOARD, "firmware": "none", "duration_s": 1.0}
    told = json.dumps({**scenario, "supply": json.loads(table)})
    return _engine.Supply(boards.library(), _engine.Scenario.from_json(told), charge, leakage)


def _each(of: Callable[[Array], bytes], power_w: Array, vcc_v: Array) -> Array:
    """Ask the engine of each load at a rail once: there are few of these and many configurations."""
    pairs = np.column_stack([np.asarray(power_w, dtype=np.float64), np.asarray(vcc_v, dtype=np.float64)])
    # As one number of sixteen bytes each: rows are equal or not, whatever their order.
    known, which = np.unique(np.ascontiguousarray(pairs).view(np.complex128).ravel(), return_inverse=True)
    found: Array = np.frombuffer(of(np.ascontiguousarray(known).view(np.float64)))[which]
    return found


def _called(name: str) -> str:
    known = boards.names("parts")
    return " + ".join(boards.called("parts", part) if part in known else part for part in name.split(" + "))


def _chosen(known: Mapping[str, Any], allowed: Sequence[str] | None) -> list[str]:
    return [name for name in known if not allowed or name in allowed]


def harvested(
    allow: Mapping[str, Sequence[str]], temperature_c: float = lifetime.WARM_C
) -> tuple[list[Harvested], list[str]]:
    """List the harvested supplies that the allowed parts make, and say in words which of them cannot be."""
    found, refused = [], []
    stores: list[tuple[str, bool]] = [(c, False) for c in _chosen(parts("capacitor"), allow.get("capacitors"))]
    if not allow.get("capacitors") or allow.get("batteries"):
        cells = {n: f for n, f in parts("cell").items() if f["cell"].get("rechargeable")}
        stores += [(c, True) for c in _chosen(cells, allow.get("batteries"))]
    ways: list[tuple[str, str | None]] = [(h, None) for h in _chosen(parts("harvester"), allow.get("harvesters"))]
    outputs = {n: f for n, f in parts("converter").items() if f["converter"]["kind"] in ("linear", "switching")}
    for charger in _chosen(parts("charger"), allow.get("harvesters")):
        ways += [(charger, c) for c in _chosen(outputs, allow.get("converters"))]
    for harvester, output in ways:
        for part, is_cell in stores:
            made = _supply(harvester, output, part, is_cell, temperature_c)
            if isinstance(made, str):
                refused.append(made)
                continue
            found += [replace(made, panel=panel) for panel in _chosen(parts("panel"), allow.get("panels"))]
    return found, refused


def lit(some: Sequence[Harvested], requirements: Requirements) -> tuple[list[Harvested], list[str]]:
    """Leave out panels that are told by indoor light where the climate's lies outside of their tables, and say so."""
    climate = requirements.climate or {}
    told: dict[str, str] = {}
    for panel in sorted({s.panel for s in some if _panel(s.panel).in_lux}):
        if "lux" in climate:
            try:
                light(requirements, panel)
            except SunsealError as e:
                told[panel] = str(e)
        elif "constant_w" not in climate and "trace" not in climate:
            told[panel] = f"{panel}: its datasheet tells it in lux, under indoor light, and not in the sun"
    return [s for s in some if s.panel not in told], list(told.values())


def _supply(
    harvester: str, output: str | None, part: str, is_cell: bool, temperature_c: float = lifetime.WARM_C
) -> Harvested | str:
    """Put a supply together, or say in the engine's words why it cannot be."""
    facts = parts("cell" if is_cell else "capacitor")[part]
    low_rel, high_rel = (0.1, 0.1) if is_cell else part_files.capacitor_tolerance_rel(facts)
    capacitance_f = 0.0 if is_cell else part_files.capacitance_f(part)
    made = Harvested(harvester, output, Store(part, is_cell, capacitance_f, low_rel, high_rel), "", temperature_c)
    try:
        charges = made.engine.v_on_v < made.engine.v_max_v
    except _engine.EngineError as e:
        return f"{made.name}: {e}"
    if charges:
        return made
    return (
        f"{made.name}: the store is charged to {made.engine.v_max_v:g} V and the output comes on at "
        f"{made.engine.v_on_v:g} V"
    )


@dataclass(frozen=True)
class Corner:
    """A supply's assumptions as factors; 1 is what the data say."""

    light: float = 1.0
    low_light: float = 0.0
    """Not a factor: the panel's darker reading at low light (-1), its fit, or its brighter reading (1)."""
    charge_efficiency: float = 1.0
    capacitance: float = 1.0
    leakage: float = 1.0


@dataclass(frozen=True)
class Year:
    """The typical year of supplies with their assumptions, ready to be played under any load."""

    pairs: tuple[tuple[Harvested, Corner], ...]
    light_w: tuple[Array, ...]
    """The panel's mean power in each step, an hour or less, of each supply."""
    edges_s: Array
    """Times at which the steps begin and end."""

    def engine(self, supply: int) -> _engine.Supply:
        """Return a supply as the engine has it under its assumptions."""
        one, corner = self.pairs[supply]
        return one.of(corner.capacitance, corner.leakage)

    def lows(self, supply: int, drawn_w: float) -> Array:
        """Play a supply under a load at its store: the lowest energy of each day, rising."""
        charger = self.pairs[supply][1].charge_efficiency
        found = self.engine(supply).lows(self.edges_s, self.light_w[supply], drawn_w, charger)
        return np.sort(np.frombuffer(found))

    def largest_w(self, supply: int, survive_share: float, gates: Array = GATES) -> list[float]:
        """Return the largest load that keeps each of rising gates on that share of days."""
        fails = min(math.floor((1.0 - survive_share) * DAYS + 1e-9), DAYS - 1)
        charger = self.pairs[supply][1].charge_efficiency
        return self.engine(supply).largest_w(self.edges_s, self.light_w[supply], fails, gates.tolist(), charger)


_Loads = dict[tuple[Harvested, Corner], tuple[int, list[float]]]


@dataclass(frozen=True)
class Carried:
    """Loads that harvested supplies carry: for each, the largest load at the store above gates."""

    year: Year
    full_j: Array
    """Energy of each full store above its cut-off."""
    survive_share: float
    _known: _Loads = field(default_factory=dict, repr=False, compare=False)
    """First gate of those that a supply was searched at, and its loads there: one year is played ten times a gate."""

    @property
    def loads_w(self) -> Array:
        """Supplies x gates of `GATES`, falling."""
        return np.array([self._loads(i, 0, len(GATES) - 1)[1] for i in range(len(self.year.pairs))])

    def only(self, supplies: Sequence[int]) -> Carried:
        """Return the same of some of the supplies."""
        at = np.asarray(supplies, dtype=np.intp)
        year = replace(
            self.year,
            pairs=tuple(self.year.pairs[i] for i in supplies),
            light_w=tuple(self.year.light_w[i] for i in supplies),
        )
        return Carried(year, self.full_j[at], self.survive_share, self._known)

    def _loads(self, supply: int, first: int, last: int) -> tuple[int, list[float]]:
        """Return the loads at a stretch of `GATES`, or at more, and the first of these."""
        pair = self.year.pairs[supply]
        if pair in self._known:
            begun, found = self._known[pair]
            if begun <= first and last < begun + len(found):
                return begun, found
            first, last = min(begun, first), max(begun + len(found) - 1, last)
        found = self.year.largest_w(supply, self.survive_share, GATES[first : last + 1])
        self._known[pair] = first, found
        return first, found

    def most_w(self, supply: int, gate_j: Array) -> Array:
        """Return the largest load at the store under which it keeps `gate_j` on that share of days; 0 if none."""
        part = np.asarray(gate_j, dtype=float) / self.full_j[supply]
        asked = part[part <= 1.0]
        if len(asked) == 0:
            return np.zeros(len(part))
        first = max(int(np.searchsorted(GATES, asked.min(), "right")) - 1, 0)
        first, loads_w = self._loads(supply, first, int(np.searchsorted(GATES, asked.max())))
        found: Array = np.interp(part, GATES[first : first + len(loads_w)], loads_w)
        return np.where(part > 1.0, 0.0, found)

    def share(self, supply: int, drawn_w: float, gate_j: float) -> float:
        """Return the share of days on which the store keeps `gate_j` under a load."""
        return float((self.year.lows(supply, drawn_w) >= gate_j).mean())


def carried(
    supplies: Sequence[Harvested], lights: Mapping[str, Light], survive_share: float, corners: Sequence[Corner] = ()
) -> Carried:
    """Find what every supply carries over the typical year; one corner for each, or none."""
    each = corners or [Corner()] * len(supplies)
    # All panels are in one light: the points of one are those of all.
    edges_s = max((light.edges_s() for light in lights.values()), key=len)
    known: dict[tuple[str, float, float], Array] = {}
    light_w = []
    for s, c in zip(supplies, each, strict=True):
        key = (s.panel, c.light, c.low_light)
        if key not in known:
            known[key] = np.ascontiguousarray(lights[s.panel].hours_w(c.low_light, edges_s) * c.light)
        light_w.append(known[key])
    year = Year(tuple(zip(supplies, each, strict=True)), tuple(light_w), edges_s)
    full_j = np.array([year.engine(i).full_j for i in range(len(supplies))])
    return Carried(year, full_j, survive_share)


# --- Batteries -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Battery:
    """A cell, and what stands between it and the node."""

    part: str
    converter: str | None
    kind: str
    """direct, linear or assisting."""
    temperature_c: float = lifetime.WARM_C

    def of(self, charge: float = 1.0, self_discharge: float = 1.0) -> _engine.Battery:
        """Return it as the engine has it, with shares of its file's charge and self-discharge."""
        return lifetime.battery(self.part, self.converter, self.temperature_c, charge, self_discharge)

    @property
    def full_j(self) -> float:
        """Return the energy of the full cell."""
        cell = self.of()
        return cell.energy_j(0.0, cell.full_v)

    @property
    def name(self) -> str:
        """Name it as a person would."""
        return " + ".join(filter(None, (self.part, self.converter)))

    @property
    def title(self) -> str:
        """Return what its parts are called."""
        return _called(self.name)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts that it is made of."""
        return tuple(filter(None, (self.part, self.converter)))

    def table(self, cutoff_v: float) -> dict[str, Any]:
        """Return the table [supply] of a scenario; the node ends, or the converter begins, at `cutoff_v`."""
        told: dict[str, Any] = {"cell": self.part, "charger": "diode", "output": self.converter or "direct"}
        if self.temperature_c != lifetime.WARM_C:
            told["temperature_c"] = self.temperature_c
        return {**told, "below_v": cutoff_v} if self.kind == "assisting" else told


def batteries(
    allow: Mapping[str, Sequence[str]], board_names: Sequence[str], temperature_c: float = lifetime.WARM_C
) -> list[Battery]:
    """List the allowed batteries with nothing behind them, a linear regulator, or a converter that assists.

    `own` in the list stands for what the boards bring; a board that brings none is told so.
    """
    named = list(allow.get("batteries", ()))
    if "own" in named:
        named = [n for n in named if n != "own"] + [lifetime.battery_of(b) for b in board_names]
    kinds = {
        n: f["converter"] for n, f in parts("converter").items() if f["converter"]["kind"] in ("linear", "assisting")
    }
    found = []
    for part in _chosen(parts("cell"), named or None):
        ways: list[tuple[str | None, str]] = [(None, "direct")]
        ways += [(c, kinds[c]["kind"]) for c in _chosen(kinds, allow.get("converters"))]
        for converter, kind in ways:
            found.append(Battery(part, converter, kind, temperature_c))
    return found
