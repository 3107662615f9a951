# SPDX-License-Identifier: MIT OR Apache-2.0
"""Offers of a plan beside its cheapest: what holds at the low end of every interval, and much more margin for little.

A cheapest configuration is one because nothing of it is spare: at the low end of its light or its currents it may fail.
Of what costs more, only what has more margin, or another panel, is looked at, the cheapest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from sunseal.planner import sweep, uncertainty
from sunseal.planner.relaxations import factor

TRIED = 24
"""So many of the dearer ones are asked for their low end."""
LITTLE = 0.1
"""So much more cost is little."""
MUCH = 2.0
"""So many times what is needed in place of once is much more margin."""

LowEnd = tuple[bool, float]
"""Margins at their low ends: whether all hold, and the energy's there."""
LowEnds = Callable[[pd.Series, uncertainty.Case, Sequence[uncertainty.Swing]], LowEnd]


@dataclass(frozen=True)
class Beside:
    """A configuration beside the cheapest."""

    name: str
    cost: float
    energy_margin: float
    low_end: float
    """Its energy margin at its low end; 0 is the edge."""
    holds: bool
    """True if it is the cheapest that holds at the low end."""
    words: str
    """Words that tell what more it costs, and for what."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, as `--json` prints them."""
        return asdict(self)


def beside(
    everything: sweep.Field,
    candidates: pd.DataFrame,
    first: pd.Series,
    first_low: LowEnd,
    said: tuple[Callable[[pd.Series], str], Callable[[pd.Series], uncertainty.Case], LowEnds],
) -> tuple[Beside, ...]:
    """Return the cheapest that holds at its low end, where the first does not, and much more margin for little.

    `said` are how a candidate is named, its case, and its low end.
    """
    name_of, case_of, low_end = said
    rows = _dearer(candidates, first)
    cases = [case_of(row) for row in rows]
    lows = [low_end(*told) for told in zip(rows, cases, uncertainty.tornadoes(everything, cases), strict=True)]
    found: dict[str, Beside] = {}
    for row, (sure, low) in zip(rows, lows, strict=True):
        holds = sure and not first_low[0] and not any(b.holds for b in found.values())
        more = 1.0 + float(row.energy_margin) >= MUCH * (1.0 + float(first.energy_margin))
        little = float(row.cost) <= (1.0 + LITTLE) * float(first.cost)
        if holds or (more and little and not found):
            words = (
                f"{_costs(row, first)}: its energy margin is {factor(float(row.energy_margin))} in place of "
                f"{factor(float(first.energy_margin))}, and at the low end of what is uncertain {factor(low)} in "
                f"place of {factor(first_low[1])}"
            )
            found[name_of(row)] = Beside(name_of(row), float(row.cost), float(row.energy_margin), low, holds, words)
    return tuple(found.values())


def _dearer(candidates: pd.DataFrame, first: pd.Series) -> list[pd.Series]:
    """Return what qualifies, costs no less than the first and has more margin than all of its panel that costs less.

    By panel, for how wide an interval is depends most on what its datasheet leaves open.
    """
    most = {str(first.panel): float(first.energy_margin)}
    rows: list[pd.Series] = []
    good = candidates[candidates.qualifies & (candidates.cost >= first.cost)]
    for _, row in good.sort_values(["cost", "energy_margin"], ascending=[True, False], kind="stable").iterrows():
        if row.energy_margin > most.get(str(row.panel), -1.0) and len(rows) < TRIED:
            most[str(row.panel)] = float(row.energy_margin)
            rows.append(row)
    return rows


def _costs(row: pd.Series, first: pd.Series) -> str:
    if row.cost <= first.cost * (1 + 1e-9):
        return "costs the same as the cheapest"
    if first.cost <= 0:
        return f"costs {row.cost:.4g}, and the cheapest nothing"
    times = float(row.cost / first.cost)
    return f"costs {times:.3g} times as much" if times >= 2 else f"costs {100 * (times - 1):.2g} % more"
