# SPDX-License-Identifier: MIT OR Apache-2.0
"""Choice of the few of all judged configurations that a plan looks at closer, and of those that the engine's year is
asked of."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sunseal.planner import plan_coupons, sweep, years
from sunseal.planner import plan_supplies as supply

Numbers = npt.NDArray[np.int64]
Kept = tuple[int, int, float, float, float, bool]
"""Supply, load, cost, power drawn, energy margin, whether it qualifies."""
Picked = tuple[pd.Series, dict[str, Any] | None, float]
"""A candidate, its year, and by how much more than the hourly year the engine's carries."""
BEST = 5
SPARE = 3
"""So many more are kept to take the place of one that the engine's year refuses."""
NEAR = 0.05
"""So much below the edge the engine's year is asked, for the hourly year is a little harder than it."""
NEAR_PLAYS = 24
"""So many of those at most, the cheapest first."""
FAR = 0.25
"""The hourly year is harder by less than so much: 13 % more load was carried by the engine's (docs/accuracy.md)."""
FAR_PLAYS = 24
"""So many between these two at most are asked of the engine's year, the nearest to the edge: more light adds others
behind them."""
KIND = ["workload", "board", "store", "mode"]
"""Columns of whose every combination one configuration is offered."""
COMMON = ("security", "latency", "link", "flash", "ram", "duty")
"""Requirements that no supply changes."""


def name_of(row: Mapping[str, Any] | pd.Series) -> str:
    """Name a configuration: algorithm, board, operating point, supply."""
    place = f"{row['board']} {row['variant']}".strip()
    mode = ", asynchronous" if row["mode"] == "asynchronous" else ""
    rest = f", its FPGA {row['coprocessor']}" if row.get("coprocessor") else ""
    point = f"{row['vcc_v']:.2f} V, {row['freq_hz'] / 1e6:g} MHz"
    return f"{row['workload']} on {place}, {point}{mode}{rest}; {row['supply']}"


def at_true(flags: sweep.Flags) -> Numbers:
    """Return the indices of what holds."""
    return np.flatnonzero(flags).astype(np.int64)


def groups_of(table: pd.DataFrame) -> tuple[Numbers, list[tuple[str, str]]]:
    """Number the loads by algorithm and board."""
    index = pd.MultiIndex.from_frame(table[["workload", "board"]])
    codes, kinds = index.factorize()
    return np.asarray(codes, dtype=np.int64), [(str(w), str(b)) for w, b in kinds]


class Found:
    """Best of each supply's judgement: the best of each group, and how near the others came."""

    def __init__(self, loads: int, coupons: sweep.Flags | None) -> None:
        """Begin with nothing found for any of so many loads; `coupons` tells which of them these could serve."""
        self.considered = self.qualifying = 0
        self.kept: list[Kept] = []
        self.coupons = coupons
        self.for_coupons: list[Kept] = []
        """The same of what fails nothing but its energy, where coupons could move some of it."""
        self.margin = np.full(loads, -np.inf)
        """The best energy margin of each load, over all supplies."""
        self.supply = np.full(loads, -1)
        self.met: dict[str, sweep.Flags] = {}

    def add(self, i: int, judged: sweep.Judged, groups: Numbers) -> None:
        """Take one supply's judgement in."""
        good, margin = judged.all_met, judged.margin
        self.considered += int(judged.fits.sum())
        self.qualifying += int(good.sum())
        self.met = {k: v for k, v in judged.met.items() if k != "energy"}
        better = judged.fits & (margin > self.margin)
        self.margin[better], self.supply[better] = margin[better], i
        rest = judged.fits & ~good
        short = judged.all_but("energy") & ~good
        near, far = short & (margin >= -NEAR), short & (margin < -NEAR) & (margin >= -FAR)
        classes = [
            (good, True, judged.cost, self.kept),
            (near, False, judged.cost, self.kept),
            (far, False, judged.cost, self.kept),
            (rest, False, -margin, self.kept),
        ]
        if self.coupons is not None and not judged.is_battery:
            eased = short & (margin >= plan_coupons.LEAST) & self.coupons
            classes.append((eased, False, judged.cost, self.for_coupons))
        for some, qualifies, worth, kept in classes:
            at = at_true(some)
            # The cheapest of each group; of equals the one with the larger margin. Of what fails, the nearest.
            order = at[np.lexsort((-margin[at], worth[at]))]
            _, first = np.unique(groups[order], return_index=True)
            for load in order[first]:
                told = (float(v[load]) for v in (judged.cost, judged.drawn_w, margin))
                kept.append((i, int(load), *told, qualifies))  # type: ignore[arg-type]


def frame(everything: sweep.Field, found: Found, some: Sequence[Kept]) -> pd.DataFrame:
    """Return what was kept as a frame, best first."""
    kept = dict.fromkeys(some)  # the nearest of what fails may be the cheapest as well
    supplies, at, cost, drawn_w, margin, good = (list(c) for c in zip(*kept, strict=True))
    out = everything.table.iloc[at].reset_index(drop=True)
    out.insert(0, "cost", cost)
    out["drawn_w"] = drawn_w
    for name, holds in found.met.items():
        out[f"meets_{name}"] = holds[np.asarray(at)]
    out["energy_margin"], out["qualifies"], out["supply_index"], out["load_index"] = margin, good, supplies, at
    chosen = [everything.supplies[i] for i in supplies]
    out["supply"] = [s.name for s in chosen]
    out["store"] = [s.store.part if isinstance(s, supply.Harvested) else s.part for s in chosen]
    out["panel"] = [s.panel if isinstance(s, supply.Harvested) else "" for s in chosen]
    out["panel_w"] = [s.panel_w if isinstance(s, supply.Harvested) else 0.0 for s in chosen]
    out["capacitance_f"] = [s.store.capacitance_f if isinstance(s, supply.Harvested) else 0.0 for s in chosen]
    out["energy_j"], out["time_s"] = out.round_j, out.latency_s
    keys = ["qualifies", "cost", "mean_w", "energy_margin", "panel_w", "supply", "workload", "board", "variant"]
    rising = [False, True, True, False, True, True, True, True, True]
    return out.sort_values(keys, ascending=rising, kind="stable").reset_index(drop=True)


# --- What the engine's year is asked of -------------------------------------------------------


def to_play(candidates: pd.DataFrame, best: int, check: bool) -> Generator[pd.Series, bool, None]:
    """Yield the candidates that are offered or asked of the engine's year, cheapest first, until enough are kept.

    After each it may be sent that this one is kept. With `check`, what the hourly year refuses by a little is among
    them.
    """
    asked, tried = candidates.qualifies, NEAR_PLAYS
    if check:
        asked = asked | _worth_asking(candidates, best)
    kept, seen = 0, set[tuple[Any, ...]]()
    for row in (r.copy() for _, r in candidates[asked].sort_values("cost", kind="stable").iterrows()):
        kind = tuple(row[KIND])
        if kept == best or (row.qualifies and len(seen) >= best + SPARE):
            return
        near = not row.qualifies and row.energy_margin >= -NEAR
        if kind in seen or (near and tried == 0):
            continue
        if (yield row):
            kept += 1
            seen.add(kind)
        elif row.qualifies:
            seen.add(kind)
        else:
            tried -= near


def picked(
    everything: sweep.Field, candidates: pd.DataFrame, best: int, check: bool
) -> tuple[list[Picked], list[tuple[str, str]]]:
    """Take the cheapest of different algorithm, board or store, play their years, and tell who was dropped."""
    share = share_of(everything)
    kept: list[Picked] = []
    dropped: list[tuple[str, str]] = []
    rows = to_play(candidates, best, check)
    row = next(rows, None)
    while row is not None:
        one = everything.supplies[int(row.supply_index)]
        year, easier, good = None, 1.0, True
        if check and isinstance(one, supply.Harvested):
            load = everything.table.iloc[[int(row.load_index)]]
            year = years.play_year(everything, one, load)
            good = year["survived_share"] >= share
            if not good and row.qualifies:
                refused = f"the engine's year refuses it: {year['survived_share']:.1%} of days survived"
                dropped.append((name_of(row), refused))
            hourly = float(row.energy_margin)
            if good and hourly < years.SURELY:
                # The larger of two margins that both grow with the light: so does what is told.
                margin = max(years.margin(everything, one, load, share), hourly)
                easier = (1.0 + margin) / (1.0 + hourly)
                row["qualifies"], row["energy_margin"] = True, margin
        if good:
            kept.append((row, year, easier))
        try:
            row = rows.send(good)
        except StopIteration:
            row = None
    return kept, dropped


class Asked:
    """Plans fields anew as `plan` does, the engine's years asked, but no further than to its first offer."""

    def __init__(self) -> None:
        """Begin without a year that was played."""
        self.years = years.Years()
        self.last: tuple[Any, ...] = ()
        """Configuration of the last offer: the first that is asked."""

    def first(self, everything: sweep.Field) -> str | None:
        """Name the cheapest that a plan of this field would offer; None if it would offer nothing."""
        return next((name_of(row) for row in self._played(everything) if self._kept(everything, row)), None)

    def any(self, everything: sweep.Field) -> bool:
        """Say whether a plan of this field would offer anything."""
        rows = sorted(self._played(everything), key=lambda row: (_one(row) != self.last, -row.energy_margin))
        found = next((row for row in rows if self._kept(everything, row)), None)
        if found is not None:
            self.last = _one(found)
        return found is not None

    def _played(self, everything: sweep.Field) -> list[pd.Series]:
        """Return, cheapest first, all that a plan would play if none were kept: one that is kept is among them."""
        groups, _ = groups_of(everything.table)
        found = Found(len(everything.table), None)
        for i, judged in everything.judged():
            found.add(i, judged, groups)
        if not found.kept:
            return []
        return list(to_play(frame(everything, found, found.kept), BEST, True))

    def _kept(self, everything: sweep.Field, row: pd.Series) -> bool:
        one = everything.supplies[int(row.supply_index)]
        if not isinstance(one, supply.Harvested):
            return True
        load = everything.table.iloc[[int(row.load_index)]]
        return self.years.survive(everything, one, load, share_of(everything))


def _one(row: pd.Series) -> tuple[Any, ...]:
    return tuple(row[["supply", "workload", "board", "variant", "vcc_v", "freq_hz", "mode"]])


def share_of(everything: sweep.Field) -> float:
    """Return the share of days that a year must keep: to the nearest day of what is wanted."""
    return everything.requirements.survive_share - 0.5 / supply.DAYS


def _worth_asking(candidates: pd.DataFrame, best: int) -> pd.Series:
    """Return which of those that the hourly year refuses the engine's year is asked for."""
    others = candidates[[f"meets_{name}" for name in COMMON if f"meets_{name}" in candidates]].all(axis=1)
    short = (candidates.panel != "") & others & ~candidates.qualifies
    near = short & (candidates.energy_margin >= -NEAR)
    # Whatever is dearer than all that is offered anyway is not reached.
    offered = candidates[candidates.qualifies].sort_values("cost", kind="stable").drop_duplicates(KIND).cost
    most = offered.iloc[best - 1] if len(offered) >= best else math.inf
    far = short & ~near & (candidates.energy_margin >= -FAR) & (candidates.cost < most)
    nearest = candidates.energy_margin[far].nlargest(FAR_PLAYS)
    return near | candidates.index.isin(nearest.index)
