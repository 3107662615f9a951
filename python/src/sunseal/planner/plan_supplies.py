# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every supply that the parts allow, and what it carries: a store under a typical year's light, or a battery's life.

Of a harvested supply the largest load is sought under which its store keeps a gate on the days that are asked for:
a bisection, on a scale of loads that knows neither light nor supply, so that a little more light cannot carry less.
A battery's life is the engine's (`lifetime.lives`).

The year is played by the hour, or in shorter steps where the light's points lie closer, as one rising or falling of
the store at a time. Below the cut-off the store only leaks and charges, cold if it is that low. Above it the load is
drawn even while the node is dark, and the node counts as awake again once the store has risen to the restart voltage
and holds the cost of a start besides: that is not kinder than the engine, and it makes the answer monotone. More light,
a smaller load or a smaller gate never survives fewer days.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sunseal import _engine, boards, part_files, places
from sunseal.errors import SunsealError
from sunseal.harvest import light as harvest
from sunseal.loop import fleet as fleets
from sunseal.measurement import measuring
from sunseal.planner import lifetime
from sunseal.planner.plan_requirements import Requirements

Array = npt.NDArray[np.float64]
HOUR_S = 3600.0
DAY_S = 86_400.0
DAYS = 365
OCTAVE = 512
"""Loads to a factor of two: what a supply carries is found to 0.14 %, on one scale for all supplies and lights."""
FINER = 8
"""Into so many parts a bracket is divided at a time, beginning with an octave."""
LEAST = 1e-6
"""The least load that is tried, as a share of the light's mean."""
GATES = np.array([0.0, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0])
"""Gates at which that is found, as shares of the store; between them it is a straight line."""
HEADROOM_V = 0.1
"""What a switching output needs above its rail; assumed."""
RAIL_V = 2.0
"""A rail for the current at which a switching output's efficiency over the store's voltage is looked up."""
FINEST = 48
"""A light with so many points a day at most is played from point to point, another in even steps."""
STEP_S = 600.0
"""Those."""
ROWS_MAX = 1e8
"""Of a year's trace: at a row a second, a third of this, a configuration's year takes seconds."""
KEPT = 150
"""Lengths of steps whose exponentials are kept at a time."""
KNOTS = 5
"""Voltages from cut-off to full at which a store's outflow is told; straight over the energy between them."""


@places.cached
def parts(kind: str) -> dict[str, dict[str, Any]]:
    """Read the parts that have a table of this name."""
    found: dict[str, dict[str, Any]] = {n: boards.part(n) for n in boards.names("parts")}
    return {name: facts for name, facts in found.items() if kind in facts}


@places.cached
def own_currents_a(charger: str | None, converter: str | None) -> tuple[float, float, float, float]:
    """Return what a supply's chips take for themselves, each counted whole: always, in light and in the dark; beside
    that, with the output on and off."""
    return _engine.own_currents_a(boards.library(), charger, converter)


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
    key = hashlib.sha256(repr((sorted(climate.items()), panel)).encode())
    key.update(json.dumps(boards.part(panel), sort_keys=True).encode())
    key.update(Path(harvest.__file__).read_bytes())
    if "latitude_deg" not in climate:
        key.update(harvest.weather_path(str(climate.get("weather", harvest.DEFAULT_WEATHER))).read_bytes())
    path = boards.cache_dir() / "light" / f"{key.hexdigest()}.npz"
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
        measuring.write_atomic(path, packed.getvalue())
    return found


def _computed(climate: Mapping[str, Any], panel: str) -> Light:
    plane = {
        "tilt_deg": float(climate.get("tilt_deg", 36.0)),
        "azimuth_deg": float(climate.get("azimuth_deg", 180.0)),
        "shading": float(climate.get("shading", 1.0)),
    }
    loaded = harvest.Panel.load(panel)
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


# --- Harvested supplies ----------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """A capacitor or a rechargeable cell between two voltages; energies above the cut-off."""

    part: str
    is_cell: bool
    title: str
    capacitance_f: float
    """Of a capacitor; 0 of a cell."""
    full_j: float
    on_j: float
    begin_j: float
    """Before anything has happened: a cell comes full, a capacitor at the restart voltage."""
    cut_j: float
    """What it holds at the cut-off, which the node never gets."""
    cold_j: float
    """Below this energy, counted from empty, a charger starts cold; 0 where there is none."""
    volts: tuple[tuple[float, float], ...]
    """From cut-off to full: shares of `full_j`, and the voltage there."""
    leak_w: tuple[float, ...]
    """Leakage at those voltages; below the cut-off it is in proportion to the energy counted from empty."""
    esr_ohm: float
    tolerance_low_rel: float
    """How far below its nominal capacity a store may be; above it `tolerance_rel`."""
    tolerance_rel: float


@dataclass(frozen=True)
class Harvested:
    """Panel, harvester or charger with an output, and a store."""

    harvester: str
    output: str | None
    store: Store
    panel: str
    v_max_v: float
    v_on_v: float
    v_cut_v: float
    start_j: float
    """What switching on costs the store."""

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
        """Return its parts."""
        return tuple(dict.fromkeys(filter(None, (self.panel, self.harvester, self.output, self.store.part))))

    @property
    def panel_w(self) -> float:
        """Return the panel's rated power."""
        facts = parts("panel")[self.panel]["panel"]
        return float(facts["v_mp_v"]) * float(facts["i_mp_mA"]) * 1e-3

    def table(self) -> dict[str, Any]:
        """Return the table [supply] of a scenario."""
        told: dict[str, Any] = {"cell": self.store.part} if self.store.is_cell else {"capacitor": self.store.part}
        if self.output is None:
            return {**told, "harvester": self.harvester}
        return {**told, "charger": self.harvester, "output": self.output}

    def carries(self, vcc_v: Array) -> npt.NDArray[np.bool_]:
        """Say at which rails it can hold a node."""
        if self.output is None:
            return vcc_v <= self.v_max_v
        facts = parts("converter")[self.output]["converter"]
        above_v = float(facts.get("dropout_mV", 0)) * 1e-3 if facts["kind"] == "linear" else HEADROOM_V
        return vcc_v + above_v <= self.v_cut_v

    def drawn_w(self, rail_w: Array, vcc_v: Array, efficiency: float = 1.0) -> Array:
        """Return what the store gives for a load at the rail; `efficiency` scales the output's."""
        middle_v = self.middle_v
        own_w = self._own_w(middle_v)
        if self.output is None:
            facts = parts("harvester")[self.harvester]["harvester"]
            share = min(float(facts["output_efficiency"]) * efficiency, 1.0)
            return rail_w / share + own_w
        facts = parts("converter")[self.output]["converter"]
        if facts["kind"] == "linear":
            return rail_w / vcc_v * middle_v + own_w
        shares = _efficiency(facts["efficiency"], middle_v, rail_w / vcc_v)
        return rail_w / np.minimum(shares * efficiency, 1.0) + own_w

    @property
    def keeps_reserve(self) -> bool:
        """Say whether the engine itself keeps what a load takes in the store's resistance: with a plain capacitor
        between converters of one efficiency it does."""
        facts = {} if self.store.is_cell else parts("capacitor")[self.store.part]["capacitor"]
        return self.output is None and bool(facts) and not {"branch", "derating_percent"} & facts.keys()

    @property
    def middle_v(self) -> float:
        """Return the voltage at which loads are priced at the store: that of half of its energy."""
        return math.sqrt((self.v_max_v**2 + self.v_cut_v**2) / 2)

    def _own_w(self, v_v: float) -> float:
        """Return what the electronics take with the output on; a charger's share goes with the square, as the
        engine has it."""
        if self.output is None:
            return float(parts("harvester")[self.harvester]["harvester"]["quiescent_on_uW"]) * 1e-6
        charger_a, _, converter_a, _ = own_currents_a(self.harvester, self.output)
        return converter_a * v_v + charger_a / self.v_on_v * v_v**2

    def drawn_at_w(self, drawn_w: Array, v_v: float) -> Array:
        """Return what the store gives at a voltage for loads for which it gives `drawn_w` at its middle one."""
        middle_v = self.middle_v
        own_w = self._own_w(middle_v)
        load_w = np.maximum(drawn_w - own_w, 0.0)
        if self.output is not None:
            facts = parts("converter")[self.output]["converter"]
            if facts["kind"] == "linear":
                load_w = load_w * (v_v / middle_v)
            else:
                table = facts["efficiency"]
                current_a = load_w * _efficiency(table, middle_v, load_w / RAIL_V) / RAIL_V
                load_w = load_w * (_efficiency(table, middle_v, current_a) / _efficiency(table, v_v, current_a))
        # Less than the electronics' own is drawn by nothing, but the scale of loads has it.
        return load_w + self._own_w(v_v) * np.minimum(drawn_w / own_w, 1.0)

    def reserve_j(self, peak_w: Array, vcc_v: Array) -> Array:
        """Return what must be left in the store so that its terminal does not fall to the cut-off under a peak."""
        current_a = self.drawn_w(peak_w, vcc_v) / self.v_cut_v
        inner_v = self.v_cut_v + current_a * self.store.esr_ohm
        if self.store.is_cell:
            share = np.clip((inner_v - self.v_cut_v) / (self.v_max_v - self.v_cut_v), 0.0, 1.0)
            return np.where(inner_v >= self.v_max_v, np.inf, share * self.store.full_j)
        part = (inner_v**2 - self.v_cut_v**2) / (self.v_max_v**2 - self.v_cut_v**2)
        return np.where(inner_v >= self.v_max_v, np.inf, part * self.store.full_j)

    def charged_w(self, power_w: Array, efficiency: float = 1.0) -> Array:
        """Return what reaches the store of a panel's power."""
        if self.output is None:
            facts = parts("harvester")[self.harvester]["harvester"]
            share = min(float(facts["charge_efficiency"]) * efficiency, 1.0)
            return np.where(power_w >= float(facts["panel_min_uW"]) * 1e-6, power_w * share, 0.0)
        facts = parts("charger")[self.harvester]["charger"]
        v_in_v = float(facts["v_in_default_V"])
        shares = np.minimum(_efficiency(facts["efficiency"], v_in_v, power_w / v_in_v) * efficiency, 1.0)
        return np.where(power_w >= float(facts["p_min_uW"]) * 1e-6, power_w * shares, 0.0)

    def off_per_s(self) -> float:
        """Return what the electronics take with the output off, as a share of the energy counted from empty."""
        on_j = self.store.cut_j + self.store.on_j
        if self.output is None:
            return float(parts("harvester")[self.harvester]["harvester"]["quiescent_off_uW"]) * 1e-6 / on_j
        charger_a, _, _, disabled_a = own_currents_a(self.harvester, self.output)
        return (charger_a + disabled_a) * self.v_on_v / on_j

    def charged_cold_w(self, power_w: Array) -> Array:
        """Return what reaches a store that is too low for the charger's converter."""
        if self.output is None:
            return self.charged_w(power_w)
        facts = parts("charger")[self.harvester]["charger"]
        share = float(facts["cold_efficiency_percent"]) / 100
        return np.where(power_w >= float(facts["cold_p_min_uW"]) * 1e-6, power_w * share, 0.0)


def _called(name: str) -> str:
    known = boards.names("parts")
    return " + ".join(boards.called("parts", part) if part in known else part for part in name.split(" + "))


def _efficiency(table: Mapping[str, Any], v_v: float, current_a: Array) -> Array:
    """Interpolate a part's table: straight in the voltage and in the logarithm of the current, held at its ends."""
    ln_a = np.log(np.maximum(current_a, 1e-12))
    known = np.log(np.asarray(table["current_mA"], dtype=float) * 1e-3)
    rows = [np.interp(ln_a, known, np.asarray(row, dtype=float) / 100) for row in table["percent"]]
    volts = np.asarray(table["v_V"], dtype=float)
    at = float(np.interp(v_v, volts, np.arange(len(volts))))
    low = min(int(at), len(volts) - 1)
    high = min(low + 1, len(volts) - 1)
    found: Array = rows[low] + (rows[high] - rows[low]) * (at - low)
    return found


def _capacitor(
    part: str, facts: Mapping[str, Any], v_max_v: float, v_on_v: float, v_cut_v: float, cold_v: float
) -> Store:
    whole_f = float(facts["capacitance_f"])
    volts = np.linspace(0.0, v_max_v, 801)
    if "derating_percent" in facts:
        at, share = (np.asarray(c, dtype=float) for c in zip(*facts["derating_percent"], strict=True))
        farads = whole_f * np.interp(volts, at, share / 100)
    elif "branch" in facts:
        # Branches settle within the hour, so together they are the store.
        farads = np.zeros_like(volts)
        for b in facts["branch"]:
            farads += float(b["capacitance_f"]) + float(b.get("capacitance_f_per_v", 0.0)) * volts
    else:
        farads = np.full_like(volts, whole_f)
    joules = np.concatenate(
        [[0.0], np.cumsum(np.diff(volts) * (farads[1:] * volts[1:] + farads[:-1] * volts[:-1]) / 2)]
    )
    cut_j, on_j, full_j = (float(np.interp(v, volts, joules)) for v in (v_cut_v, v_on_v, v_max_v))
    rated_v = float(facts["v_rated_v"])
    siemens = float(facts["leakage_uA"]) * 1e-6 / rated_v
    low_rel, high_rel = part_files.capacitor_tolerance_rel(parts("capacitor")[part])
    return Store(
        part=part,
        is_cell=False,
        title=part,
        volts=tuple(
            (float(np.interp(v, volts, joules) - cut_j) / (full_j - cut_j), float(v))
            for v in np.linspace(v_cut_v, v_max_v, KNOTS)
        ),
        capacitance_f=whole_f,
        full_j=full_j - cut_j,
        on_j=on_j - cut_j,
        begin_j=on_j - cut_j,
        cut_j=cut_j,
        cold_j=float(np.interp(cold_v, volts, joules)),
        leak_w=tuple(siemens * v**2 for v in np.linspace(v_cut_v, v_max_v, KNOTS).tolist()),
        esr_ohm=float(facts["esr_ohm"]),
        tolerance_low_rel=low_rel,
        tolerance_rel=high_rel,
    )


def _rechargeable(
    part: str, facts: Mapping[str, Any], v_max_v: float, v_on_v: float, v_cut_v: float, cold_v: float
) -> Store:
    cell = lifetime.battery(part)
    rate = cell.self_discharge_per_year / lifetime.YEAR_S
    ohms = float(np.mean([r for _, r in facts["r_ohm"]]))
    full_j = cell.energy_j(v_cut_v, v_max_v)
    knots = np.linspace(v_cut_v, v_max_v, KNOTS).tolist()
    return Store(
        part=part,
        is_cell=True,
        title=str(parts("cell")[part].get("title", part)),
        volts=tuple((cell.energy_j(v_cut_v, v) / full_j, v) for v in knots),
        capacitance_f=0.0,
        full_j=full_j,
        on_j=cell.energy_j(v_cut_v, v_on_v),
        begin_j=cell.energy_j(v_cut_v, v_max_v),
        cut_j=cell.energy_j(0.0, v_cut_v),
        cold_j=cell.energy_j(0.0, cold_v),
        leak_w=tuple(rate * cell.energy_j(0.0, v) for v in knots),
        esr_ohm=ohms,
        tolerance_low_rel=0.1,
        tolerance_rel=0.1,
    )


def _chosen(known: Mapping[str, Any], allowed: Sequence[str] | None) -> list[str]:
    return [name for name in known if not allowed or name in allowed]


def harvested(allow: Mapping[str, Sequence[str]]) -> tuple[list[Harvested], list[str]]:
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
            made = _supply(harvester, output, part, is_cell)
            if isinstance(made, str):
                refused.append(made)
                continue
            found += [replace(made, panel=panel) for panel in _chosen(parts("panel"), allow.get("panels"))]
    return found, refused


def _supply(harvester: str, output: str | None, part: str, is_cell: bool) -> Harvested | str:
    """Put a supply together as the engine does, or say why it cannot be."""
    start_j = cold_v = 0.0
    if output is None:
        facts = parts("harvester")[harvester]["harvester"]
        v_on_v, v_cut_v, v_max_v = float(facts["v_on_v"]), float(facts["v_cut_v"]), float(facts["v_max_v"])
        start_j = float(facts["overhead_mJ"]) * 1e-3
    else:
        facts = parts("charger")[harvester]["charger"]
        v_on_v, v_cut_v = float(facts["v_ok_rising_V"]), float(facts["v_ok_falling_V"])
        v_max_v, cold_v = float(facts["v_ov_V"]), float(facts["cold_until_V"])
        behind = parts("converter")[output]["converter"]
        v_on_v, v_cut_v = max(v_on_v, float(behind["v_start_V"])), max(v_cut_v, float(behind["v_in_min_V"]))
    own = parts("cell" if is_cell else "capacitor")[part]["cell" if is_cell else "capacitor"]
    if is_cell:
        v_cut_v = max(v_cut_v, float(own["v_end_V"]))
        v_on_v = max(v_on_v, v_cut_v * 1.01)
    v_max_v = min(v_max_v, float(own["v_charge_V"] if is_cell else own["v_rated_v"]))
    name = " + ".join(filter(None, (harvester, output, part)))
    if v_on_v >= v_max_v:
        return f"{name}: the store is charged to {v_max_v:g} V and the output comes on at {v_on_v:g} V"
    store = (_rechargeable if is_cell else _capacitor)(part, own, v_max_v, v_on_v, v_cut_v, cold_v)
    if start_j >= store.on_j:
        return (
            f"{name}: a start costs {start_j:g} J, and at {v_on_v:g} V the store holds {store.on_j:.3g} J above its "
            "cut-off"
        )
    return Harvested(harvester, output, store, "", v_max_v, v_on_v, v_cut_v, start_j)


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
    gain_w: Array
    """What reaches a store in each step, an hour or less: steps x kinds of light and charger."""
    cold_w: Array
    """The same of a store too low for the charger's converter."""
    source: npt.NDArray[np.intp]
    """Column of each supply."""
    edges_s: Array
    """Where the steps begin and end."""

    def lows(self, supplies: npt.NDArray[np.intp], drawn_w: Array) -> Array:
        """Play supplies under loads at their stores: the lowest energy of each day, rising: days x lanes."""
        pairs = [self.pairs[i] for i in supplies]
        found = _lows(pairs, drawn_w, self.gain_w, self.cold_w, self.source[supplies], self.edges_s)
        found.sort(axis=0)
        return found


@dataclass(frozen=True)
class Carried:
    """What harvested supplies carry: for each, the largest load at the store above gates."""

    year: Year
    full_j: Array
    """Of each store above its cut-off."""
    loads_w: Array
    """Supplies x gates of `GATES`, falling."""

    def only(self, supplies: Sequence[int]) -> Carried:
        """Return the same of some of the supplies."""
        at = np.asarray(supplies, dtype=np.intp)
        pairs = tuple(self.year.pairs[i] for i in supplies)
        year = replace(self.year, pairs=pairs, source=self.year.source[at])
        return Carried(year, self.full_j[at], self.loads_w[at])

    def most_w(self, supply: int, gate_j: Array) -> Array:
        """Return the largest load at the store under which it keeps `gate_j` on that share of days; 0 if none."""
        part = np.asarray(gate_j, dtype=float) / self.full_j[supply]
        found: Array = np.interp(part, GATES, self.loads_w[supply])
        return np.where(part > 1.0, 0.0, found)

    def share(self, supply: int, drawn_w: float, gate_j: float) -> float:
        """Return the share of days on which the store keeps `gate_j` under a load."""
        lows = self.year.lows(np.array([supply]), np.array([drawn_w]))
        return float((lows >= gate_j).mean())


def carried(
    supplies: Sequence[Harvested], lights: Mapping[str, Light], survive_share: float, corners: Sequence[Corner] = ()
) -> Carried:
    """Find what every supply carries over the typical year; one corner for each, or none."""
    each = corners or [Corner()] * len(supplies)
    gains: dict[tuple[Any, ...], int] = {}
    rows: list[Array] = []
    colds: list[Array] = []
    source: list[int] = []
    # All panels are in one light: the points of one are those of all.
    edges_s = max((light.edges_s() for light in lights.values()), key=len)
    for s, c in zip(supplies, each, strict=True):
        key = (s.panel, s.harvester, s.output is None, c.light, c.low_light, c.charge_efficiency)
        if key not in gains:
            gains[key] = len(rows)
            light_w = lights[s.panel].hours_w(c.low_light, edges_s) * c.light
            rows.append(s.charged_w(light_w, c.charge_efficiency))
            colds.append(s.charged_cold_w(light_w))
        source.append(gains[key])
    pairs = tuple(zip(supplies, each, strict=True))
    year = Year(pairs, np.stack(rows, axis=1), np.stack(colds, axis=1), np.asarray(source, dtype=np.intp), edges_s)
    full_j = np.array([s.store.full_j * c.capacitance for s, c in pairs])
    return Carried(year, full_j, _largest(year, full_j, survive_share))


def _largest(year: Year, full_j: Array, survive_share: float) -> Array:
    """Return the largest load of the scale that holds each gate, by supply; 0 where even the least does not."""
    fails = min(math.floor((1.0 - survive_share) * DAYS + 1e-9), DAYS - 1)
    count = len(full_j)
    # Nothing above the mean of the light can be carried.
    mean_w = np.maximum(year.gain_w.mean(axis=0)[year.source], 1e-12)
    first, last = (np.floor(np.log2(share * mean_w)).astype(np.int64) * OCTAVE for share in (LEAST, 2.1))
    known: list[dict[int, float]] = [{} for _ in range(count)]

    def play(wanted: Sequence[tuple[int, int]]) -> None:
        if wanted:
            lanes, steps = (np.asarray(c, dtype=np.int64) for c in zip(*wanted, strict=True))
            lows = year.lows(lanes, np.exp2(steps / OCTAVE))[fails]
            for lane, step, low in zip(lanes.tolist(), steps.tolist(), lows.tolist(), strict=True):
                known[lane][step] = low

    def largest(i: int, gate: float, steps: range) -> int | None:
        return max((k for k in steps if known[i][k] >= gate * full_j[i]), default=None)

    coarse = [range(int(first[i]), int(last[i]) + 1, OCTAVE) for i in range(count)]
    play([(i, k) for i in range(count) for k in coarse[i]])
    at = {(i, g): largest(i, gate, coarse[i]) for i in range(count) for g, gate in enumerate(GATES)}
    stride = OCTAVE
    while stride > 1:
        stride //= FINER
        parts = {(i, g): range(k, k + FINER * stride, stride) for (i, g), k in at.items() if k is not None}
        play(sorted({(i, k) for (i, _), steps in parts.items() for k in steps if k not in known[i]}))
        for (i, g), steps in parts.items():
            at[i, g] = largest(i, GATES[g], steps)
    found = np.zeros((count, len(GATES)))
    for (i, g), k in at.items():
        found[i, g] = 0.0 if k is None else 2.0 ** (k / OCTAVE)
    return found


def _lows(
    pairs: Sequence[tuple[Harvested, Corner]],
    drawn_w: Array,
    gain_w: Array,
    cold_w: Array,
    lane: npt.NDArray[np.intp],
    edges_s: Array | None = None,
) -> Array:
    """Play the year: each day's lowest energy above the cut-off, by day and lane.

    Steps are hours, if `edges_s` does not say when each begins and ends; none crosses the end of a day. Energies are
    counted from empty. A start's energy is owed until it has decayed, as any difference between two
    stores does, or is made good where the store is full.
    """
    at = {id(pair): i for i, pair in enumerate(pairs)}
    distinct = sorted(set(at.values()))
    which = np.searchsorted(distinct, [at[id(pair)] for pair in pairs])
    kinds = [pairs[i] for i in distinct]

    def lanes(of: Callable[[Harvested, Corner], float]) -> Array:
        return np.array([of(s, c) for s, c in kinds], dtype=float)[which]

    cut = lanes(lambda s, c: s.store.cut_j * c.capacitance)
    full = lanes(lambda s, c: s.store.full_j * c.capacitance)
    on = lanes(lambda s, c: s.store.on_j * c.capacitance)
    begin = lanes(lambda s, c: s.store.begin_j * c.capacitance)
    start = lanes(lambda s, _: s.start_j)
    top, back = cut + full, cut + np.minimum(on + start, full)
    flow = _Flow.of(kinds, which, drawn_w)
    flow.put(cut + np.maximum(begin - start, 0.0))
    awake, owed = flow.energy > cut, np.zeros_like(cut)
    lows = np.empty((DAYS, len(cut)))
    at_s = np.linspace(0.0, len(gain_w) * HOUR_S, len(gain_w) + 1) if edges_s is None else edges_s
    begins = np.searchsorted(at_s, (np.arange(DAYS + 1) * DAY_S) - 1e-3).tolist()
    # Steps of the same light are one: within it the energy only rises or only falls.
    moves = np.maximum(np.abs(np.diff(gain_w, axis=0)), np.abs(np.diff(cold_w, axis=0)))
    same = (moves <= 1e-9 * gain_w.max(axis=0)).all(axis=1)
    for day in range(DAYS):
        low, step, end = np.where(awake, flow.energy - cut - owed, -full), begins[day], begins[day + 1]
        while step < end:
            count = 1
            while step + count < end and same[step + count - 1]:
                count += 1
            keep = flow.step(round(at_s[step + count] - at_s[step], 3), gain_w[step][lane], cold_w[step][lane])
            owed = np.maximum(np.where(awake, owed * keep, owed) - np.maximum(flow.energy - top, 0.0), 0.0)
            energy = np.minimum(flow.energy, top, out=flow.energy)
            alive = awake & (energy > cut)
            owed = np.where(awake & ~alive, start, owed)
            awake = alive | (energy >= back)
            low = np.minimum(low, np.where(awake, energy - cut - owed, -full))
            step += count
        lows[day] = low
    return lows


class _Flow:
    """Stores under loads, a lane each: the outflow is a broken line over the energy, so each piece is an exponential.

    Below the cut-off only leakage and electronics draw, and below the energy of the charger's cold start light comes
    in as `cold_w`. The exact flow of one state: two stores never overtake each other.
    """

    def __init__(self, edges: Array, outflow: Array, slope: Array) -> None:
        """Take pieces x lanes: where each begins (and the last ends), the outflow there, and how it grows."""
        self.count = outflow.shape[1]
        self.lower, self.upper = edges[:-1].ravel(), edges[1:].ravel()
        self.edges, self.outflow, self.slope = edges, outflow.ravel(), slope.ravel()
        self.lanes = np.arange(self.count)
        self.energy = np.zeros(self.count)
        self.at = self.lanes.copy()
        """Piece of each lane, as an index of the flat tables: piece x lanes + lane."""
        self.spans: dict[float, Array] = {}

    @classmethod
    def of(cls, kinds: Sequence[tuple[Harvested, Corner]], which: npt.NDArray[np.intp], drawn_w: Array) -> _Flow:
        """Return the flow of supplies under loads; `which` says which supply each lane has."""
        edges = np.empty((KNOTS + 2, len(which)))
        outflow, slope = np.empty((KNOTS + 1, len(which))), np.empty((KNOTS + 1, len(which)))
        for i, (s, c) in enumerate(kinds):
            here = np.flatnonzero(which == i)
            leak_w = np.asarray(s.store.leak_w) * c.leakage
            shares, volts = zip(*s.store.volts, strict=True)
            knots_j = s.store.cut_j + np.asarray(shares) * s.store.full_j
            out = np.stack([s.drawn_at_w(drawn_w[here], v) for v in volts]) + leak_w[:, None]
            # A cell that is empty where its output goes off has nothing below that could leak.
            below_per_s = leak_w[0] / s.store.cut_j if s.store.cut_j > 0 else 0.0
            off = max(below_per_s + s.off_per_s(), 1e-12)
            cold_j = min(s.store.cold_j, s.store.cut_j)
            ends_j = np.concatenate([[-1.0, cold_j], knots_j[:-1], [np.inf]]) * c.capacitance
            edges[:, here] = ends_j[:, None]
            outflow[:2, here] = off * np.array([[-1.0], [cold_j]])
            outflow[2:, here] = out[:-1]
            slope[:2, here] = off / c.capacitance
            grows = np.diff(out, axis=0) / (np.diff(knots_j) * c.capacitance)[:, None]
            slope[2:, here] = np.where(np.abs(grows) < 1e-12, 1e-12, grows)
        return cls(edges, outflow, slope)

    def put(self, energy: Array) -> None:
        """Set each lane's energy."""
        self.energy = energy.copy()
        pieces = (self.edges[1:-1] <= energy).sum(axis=0)
        self.at = pieces * self.count + self.lanes

    def step(self, time_s: float, gain_w: Array, cold_w: Array) -> Array:
        """Let time go by; return what is left of a small difference between two stores at its end."""
        if time_s not in self.spans:
            if len(self.spans) == KEPT:
                self.spans.clear()
            self.spans[time_s] = -np.expm1(-self.slope * time_s) / self.slope
        at, e = self.at, self.energy
        rate, span = self.slope[at], self.spans[time_s][at]
        net_w = np.where(at < self.count, cold_w, gain_w) - self.outflow[at] - rate * (e - self.lower[at])
        moved, keep = e + net_w * span, 1.0 - rate * span
        beyond = np.flatnonzero((moved > self.upper[at]) | (moved < self.lower[at]))
        left_s, decayed = np.full(len(beyond), time_s), np.ones(len(beyond))
        while len(beyond):
            here, e_j, w = at[beyond], self.energy[beyond], net_w[beyond]
            up, rate = w > 0.0, self.slope[here]
            edge = np.where(up, self.upper[here], self.lower[here])
            spent_s = -np.log1p(-np.minimum(rate * (edge - e_j) / w, 1.0 - 1e-15)) / rate
            left_s = np.maximum(left_s - spent_s, 0.0)
            decayed = decayed * np.exp(-rate * spent_s)
            there = here + np.where(up, self.count, -self.count)
            light_w = np.where(there < self.count, cold_w[beyond], gain_w[beyond])
            rate = self.slope[there]
            w = light_w - self.outflow[there] - rate * (edge - self.lower[there])
            # Pushed back from both sides it stays at the edge.
            goes = (w > 0.0) == up
            at[beyond] = np.where(goes | up, there, here)
            span = -np.expm1(-rate * left_s) / rate
            self.energy[beyond], net_w[beyond] = edge, w
            moved[beyond] = np.where(goes, edge + w * span, edge)
            keep[beyond] = decayed * (1.0 - rate * span)
            now = at[beyond]
            again = goes & ((moved[beyond] > self.upper[now]) | (moved[beyond] < self.lower[now]))
            beyond, left_s, decayed = beyond[again], left_s[again], decayed[again]
        self.energy = moved
        return keep


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
        """Return its parts."""
        return tuple(filter(None, (self.part, self.converter)))

    def table(self, cutoff_v: float) -> dict[str, Any]:
        """Return the table [supply] of a scenario; the node ends, or the converter begins, at `cutoff_v`."""
        told: dict[str, Any] = {"cell": self.part, "charger": "diode", "output": self.converter or "direct"}
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
