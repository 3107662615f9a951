# SPDX-License-Identifier: MIT OR Apache-2.0
"""Uncertainty of a plan's margin: each assumption moved to its ends alone, and the widest first (a tornado).

Ends of currents are those of the documents (typical to maximum, or what the power set brackets); ends of light,
efficiencies, leakage, capacity and path loss are the requirements' [uncertainty]; of a panel in low light they are
what its datasheet leaves open (`harvest.bounds`). Independent assumptions add by the
root of the sum of squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sunseal.planner import plan_supplies as supply
from sunseal.planner import sweep
from sunseal.planner.plan_requirements import Requirements

Load: TypeAlias = "Mapping[str, npt.NDArray[Any]]"
"""One load by its columns, arrays of one entry."""
COEFFICIENTS = {
    "compute": "current while computing",
    "sleep": "current asleep",
    "radio": "current of the radio",
    "listen": "current while listening",
    "coprocessor": "current of the waiting coprocessor",
}


@dataclass(frozen=True)
class Swing:
    """Swing of the energy margin between both ends of one assumption."""

    assumption: str
    low: str
    high: str
    outcome_low: float
    """Margin at `low`; 0 is the edge of failing."""
    outcome_high: float
    unit: str = "margin"

    @property
    def width(self) -> float:
        """Return how far the ends lie apart."""
        return abs(self.outcome_high - self.outcome_low)

    def eased(self, factor: float) -> Swing:
        """Return it with as much more carried at both ends."""
        low, high = ((1.0 + m) * factor - 1.0 for m in (self.outcome_low, self.outcome_high))
        return replace(self, outcome_low=low, outcome_high=high)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, as `--json` prints them."""
        return asdict(self)


@dataclass(frozen=True)
class Case:
    """A configuration whose margin is asked for: one row of the loads, and its supply."""

    load: pd.DataFrame
    supply: supply.Harvested | supply.Battery


def tornadoes(field: sweep.Field, cases: Sequence[Case]) -> list[list[Swing]]:
    """Return each case's swings, widest first."""
    found = ([s for s in swings if s.width > 0] for swings in _swings(field, cases))
    return [sorted(swings, key=lambda s: (-s.width, s.assumption)) for swings in found]


def ends(margin: float, swings: Sequence[Swing]) -> tuple[float, float]:
    """Return the ends of a margin: its swings to either side, added by the root of the sum of squares.

    Nothing carries, or lasts, less than nothing: no end lies below -100 %.
    """
    down = [max(margin - min(s.outcome_low, s.outcome_high), 0.0) for s in swings]
    up = [max(max(s.outcome_low, s.outcome_high) - margin, 0.0) for s in swings]
    return max(margin - math.hypot(*down), -1.0), margin + math.hypot(*up)


def _factor(value: float) -> str:
    return f"x {value:g}"


def _swings(field: sweep.Field, cases: Sequence[Case]) -> list[list[Swing]]:
    spreads = field.requirements.uncertainty
    corners: list[tuple[int, str, supply.Corner, str]] = []
    for i, case in enumerate(cases):
        one = case.supply
        if isinstance(one, supply.Harvested):
            low, high = 1.0 - one.store.tolerance_low_rel, 1.0 + one.store.tolerance_rel
            for name, key, pair in (
                ("light", "light", spreads.light),
                ("efficiency of the charger", "charge_efficiency", spreads.charge_efficiency),
                ("capacitance" if not one.store.is_cell else "capacity of the cell", "capacitance", (low, high)),
                ("leakage of the store", "leakage", spreads.leakage),
            ):
                corners += [(i, name, supply.Corner(**{key: end}), _factor(end)) for end in pair]
            if (shares := field.lights[one.panel].low_light) is not None:
                for reading, share in zip((-1.0, 1.0), shares, strict=True):
                    told = _factor(round(share, 3))
                    corners.append((i, "the panel in low light", supply.Corner(low_light=reading), told))
    carried = None
    if corners:
        stores = [c.supply for i, *_ in corners if isinstance((c := cases[i]).supply, supply.Harvested)]
        carried = supply.carried(
            [s for s in stores if isinstance(s, supply.Harvested)],
            field.lights,
            field.requirements.survive_share,
            [corner for _, _, corner, _ in corners],
        )
    found: list[list[Swing]] = []
    for i, case in enumerate(cases):
        one, load = case.supply, {str(name): case.load[name].to_numpy() for name in case.load}
        swings: list[Swing] = []
        if isinstance(one, supply.Harvested):
            assert field.carried is not None and carried is not None
            margin = _stored(field.requirements, one, _most(field.carried, field.harvested.index(one)))
            mine = [(n, name, told) for n, (j, name, _, told) in enumerate(corners) if j == i]
            for (n, name, told_low), (m, _, told_high) in zip(mine[::2], mine[1::2], strict=True):
                low, high = (_stored(field.requirements, one, _most(carried, k))(load) for k in (n, m))
                swings.append(Swing(name, told_low, told_high, low, high))
            a, b = spreads.output_efficiency
            most = _most(field.carried, field.harvested.index(one))
            low, high = (_stored(field.requirements, one, most, e)(load) for e in (a, b))
            swings.append(Swing("efficiency of the output", _factor(a), _factor(b), low, high))
        else:
            margin = _lasting(field, one)
            a, b = spreads.battery_capacity
            low, high = (_lasting(field, one, capacity=e)(load) for e in (a, b))
            swings.append(Swing("capacity of the battery", _factor(a), _factor(b), low, high))
            a, b = spreads.self_discharge
            low, high = (_lasting(field, one, self_discharge=e)(load) for e in (a, b))
            swings.append(Swing("self-discharge", _factor(a), _factor(b), low, high))
        found.append([*swings, *_currents(load, margin)])
    return found


def _stored(
    wanted: Requirements, one: supply.Harvested, most: Callable[[Any], Any], output: float = 1.0
) -> Callable[[Load], float]:
    def margin(load: Load) -> float:
        needed = sweep.needed_w(one, load, output)
        return float(most(sweep.lowest_j(wanted, one, load))[0] / needed[0] - 1.0)

    return margin


def _lasting(
    field: sweep.Field, one: supply.Battery, capacity: float = 1.0, self_discharge: float = 1.0
) -> Callable[[Load], float]:
    wanted_s = field.requirements.lifetime_s
    assert wanted_s is not None

    def margin(load: Load) -> float:
        _, life, _ = sweep.battery_life(pd.DataFrame(load), one, capacity=capacity, self_discharge=self_discharge)
        return float(life[0] / wanted_s - 1.0)

    return margin


def _most(carried: supply.Carried, i: int) -> Callable[[Any], Any]:
    return lambda gate: carried.most_w(i, gate)


def _currents(load: Load, margin: Callable[[Load], float]) -> list[Swing]:
    """Move each group of coefficients to its ends, and the path loss to the worse of its own."""
    found = []
    row, mean_w = {name: values[0] for name, values in load.items()}, load["mean_w"]
    for part, name in COEFFICIENTS.items():
        typical = float(row[f"{part}_w"])
        if typical == 0.0:
            continue
        low, high = ({**load, "mean_w": mean_w + row[f"{part}_{e}_w"] - typical} for e in ("low", "high"))
        told = [_factor(round(float(row[f"{part}_{e}_w"]) / typical, 3)) for e in ("low", "high")]
        found.append(Swing(name, told[0], told[1], margin(low), margin(high)))
    if np.isfinite(row["link_margin_db"]):
        more_w = float(row["radio_worst_w"] - row["radio_w"])
        worst = {**load, "mean_w": mean_w + more_w}
        power = "no output power is enough" if np.isnan(row["dbm_worst"]) else f"{row['dbm_worst']:+.0f} dBm"
        found.append(Swing("path loss", f"{row['dbm']:+.0f} dBm", power, margin(load), margin(worst)))
    return found
