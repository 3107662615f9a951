# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coupons as one more way to do a task: what a supply does not carry, it may with work done ahead from surplus.

Where a task allows `coupons`, configurations that fail nothing but their energy are played through the typical year
by the fleet's engine, whole first and then with so many slots. One that survives with them, and throws energy away
without, qualifies; its cost counts what coupons add. Nothing that qualifies without coupons is touched, so a plan
that allows them is never dearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from sunseal.catalog import boards
from sunseal.catalog.units import show
from sunseal.errors import SunsealError
from sunseal.loop import fleet as fleets
from sunseal.measurement import coupon, measuring
from sunseal.measurement.costs import Cost
from sunseal.planner import plan_supplies as supply
from sunseal.planner import sweep
from sunseal.planner.plan_requirements import Requirements
from sunseal.planner.uncertainty import Swing
from sunseal.planner.years import play_trace, summed_profile

LEAST = -0.9
"""Configurations whose energy margin is lower are not tried: coupons move energy in time and bring none."""
PLAYS = 24
"""So many are tried, the cheapest first."""
LOOK_S = 1.0
"""From one coupon to the next while there is a surplus (`every_s` of `[node.coupons]`)."""
MARGIN = (-0.75, 1.0)
"""Loads between which a margin is sought, relative to what was asked."""


@dataclass(frozen=True)
class Priced:
    """A coupon's operation at an operating point, whole, made ahead and used."""

    kind: str
    whole: Cost
    make: Cost
    use: Cost


@dataclass(frozen=True)
class Offer:
    """A configuration that is carried with coupons."""

    row: pd.Series
    year: dict[str, Any]
    swings: tuple[Swing, ...]
    words: str


def task_of(wanted: Requirements) -> int | None:
    """Return the index of the task that allows coupons."""
    return next((i for i, t in enumerate(wanted.tasks) if t.coupons is not None), None)


def kind_of(workload: str, board: str, size_bytes: int) -> str | None:
    """Return the kind of coupon that serves a task on a board; none in flash, whose writing has no price per clock."""
    kind, message_bytes = coupon.OF_WORKLOAD.get(workload, (None, None))
    if kind is None or (message_bytes is not None and message_bytes != size_bytes):
        return None
    device = boards.load(board).device
    facts = boards.device(device)
    return kind if "fram" in facts and boards.has_workload(board, f"coupon-{kind}-use") else None


def eligible(wanted: Requirements, table: pd.DataFrame) -> sweep.Flags | None:
    """Tell which loads have a task that coupons can serve, and room for them; None if no task allows them."""
    i = task_of(wanted)
    if i is None:
        return None
    size_bytes, slots = wanted.tasks[i].size_bytes, wanted.tasks[i].coupons or 0
    room: dict[tuple[str, str, int], int] = {}
    for key in table[["workload", "board", "flash_bytes"]].drop_duplicates().itertuples(index=False, name=None):
        workload, board, program_bytes = key
        kind = kind_of(workload.split(" + ")[i], board, size_bytes)
        if kind is not None:
            room[key] = coupon.fitting(kind, board, int(program_bytes)) or 0
    if room and max(room.values()) < slots:
        (workload, board, program_bytes), most = max(room.items(), key=lambda found: found[1])
        raise SunsealError(
            f"[[task]] {wanted.tasks[i].name}: coupons is {slots:,}, and at most {most:,} fit: for {workload} on "
            f"{board}, beside a program of {program_bytes:,} bytes, into the {coupon.fram_bytes(board):,} bytes of "
            "FRAM that 16-bit pointers reach"
        )
    periodic = (table["mode"] == "periodic").to_numpy()
    keys = zip(table.workload, table.board, table.flash_bytes, strict=True)
    return np.array([room.get(key, -1) >= slots for key in keys]) & periodic


@cache
def priced(workload: str, kind: str, place: tuple[str, str, float, int], power: str) -> Priced:
    """Price a coupon at an operating point: board, variant, voltage, clock."""
    board, variant, vcc_v, freq_hz = place

    def cost(name: str) -> Cost:
        m = measuring.measure(
            name, board=board, variant=[v for v in variant.split(",") if v], freq_hz=freq_hz, vcc_v=vcc_v, power=power
        )
        return Cost(m.cycles, m.time_s, m.energy_j)

    return Priced(kind, cost(workload), cost(f"coupon-{kind}-produce"), cost(f"coupon-{kind}-use"))


def profile(
    wanted: Requirements, whole: fleets.NodeProfile, found: Priced, at_store: float, reserve_j: float
) -> fleets.NodeProfile:
    """Add coupons to a load that the fleet's engine takes as one round of all tasks.

    A gate is `at_store` times what the rail takes with its safety factor, and what the series resistance takes.
    """
    i = task_of(wanted)
    assert i is not None
    task, (one,) = wanted.tasks[i], whole.tasks
    share = one.period_s / task.every_s
    saved_j, saved_s = (
        (a - b) * share for a, b in zip(*((c.energy_j, c.time_s) for c in (found.whole, found.use)), strict=True)
    )
    energy_j = max(one.energy_j - saved_j, 1e-15)
    use = fleets.Work(energy_j, max(one.time_s - saved_s, 1e-6), at_store * wanted.safety * energy_j + reserve_j)
    make_j = found.make.energy_j * share
    make_gate_j = at_store * wanted.safety * (make_j + one.energy_j) + reserve_j
    make = fleets.Work(make_j, found.make.time_s * share, make_gate_j)
    assert task.coupons is not None
    return replace(whole, coupons=fleets.Coupons(max(int(task.coupons / share), 1), make, use, LOOK_S))


class Search:
    """Plays configurations of one field with coupons."""

    def __init__(self, everything: sweep.Field, share: float) -> None:
        """Take the share of days to survive."""
        self.everything, self.wanted, self.share = everything, everything.requirements, share

    def _year(self, row: pd.Series, load: float = 1.0, light: float = 1.0, *, kept: bool = True) -> dict[str, Any]:
        one = self.everything.supplies[int(row.supply_index)]
        assert isinstance(one, supply.Harvested)
        table = self.everything.table.iloc[[int(row.load_index)]]
        whole = summed_profile(self.wanted, one, table)
        (task,) = whole.tasks
        scaled = replace(task, energy_j=task.energy_j * load)
        whole = replace(whole, sleep_w=whole.sleep_w * load, tasks=(scaled,))
        at_store = float(sweep.at_store(one, table)[0])
        reserve_j = task.gate_j - at_store * float(row.gate_j)
        played = profile(self.wanted, whole, _scaled(self.priced(row), load), at_store, reserve_j) if kept else whole
        time_s, power_w = self.everything.lights[one.panel].trace
        trace = time_s, [p * light for p in power_w]
        return play_trace(one, float(row.vcc_v), played, trace, supply.DAYS)

    def priced(self, row: pd.Series) -> Priced:
        """Price the coupons of a configuration."""
        i = task_of(self.wanted)
        assert i is not None
        workload = str(row.workload).split(" + ")[i]
        kind = kind_of(workload, str(row.board), self.wanted.tasks[i].size_bytes)
        assert kind is not None
        place = str(row.board), str(row.variant), float(row.vcc_v), int(row.freq_hz)
        return priced(workload, kind, place, self.wanted.power_set)

    def carries(self, fate: dict[str, Any]) -> bool:
        """Say whether a year kept enough of its days."""
        return bool(fate["days_survived"] / fate["days"] >= self.share)

    def margin(self, row: pd.Series, light: float = 1.0) -> float:
        """Return by how much the whole load, coupons included, may grow until the year refuses it, to a hundredth."""
        low, high = MARGIN
        if not self.carries(self._year(row, 1.0 + low, light)):
            return low
        while high - low > 0.01:
            middle = (low + high) / 2
            low, high = (middle, high) if self.carries(self._year(row, 1.0 + middle, light)) else (low, middle)
        return low

    def offer(self, row: pd.Series, most: float) -> Offer | None:
        """Play one configuration whole and with coupons; nothing if these do not win it or cost more than `most`."""
        without = self._year(row, kept=False)
        if self.carries(without) or without["sums"]["curtailed_j"] <= 0.0:
            return None
        fate = self._year(row)
        kept = fate["coupons"]
        if not self.carries(fate) or kept["used"] == 0:
            return None
        one = self.everything.supplies[int(row.supply_index)]
        assert isinstance(one, supply.Harvested)
        found, row = self.priced(row), row.copy()
        # What coupons take beside what they save, over the year.
        days = fate["days"]
        added_j = kept["produced"] * found.make.energy_j - kept["used"] * (found.whole.energy_j - found.use.energy_j)
        rails = np.array([row.mean_w, row.mean_w + max(added_j, 0.0) / (days * fleets.DAY_S)])
        before_w, after_w = one.drawn_w(rails, np.full(2, float(row.vcc_v)))
        i = task_of(self.wanted)
        assert i is not None
        slots = self.wanted.tasks[i].coupons or 0
        bytes_ = slots * coupon.slot_bytes(found.kind, str(row.board))
        weights = self.wanted.weights
        row["cost"] = float(row.cost) + weights["joules_per_day"] * float(after_w - before_w) * sweep.DAY_S
        row["cost"] += weights["flash_bytes"] * bytes_
        row["drawn_w"] = float(row.drawn_w) + float(after_w - before_w)
        row["flash_bytes"] = int(row.flash_bytes) + bytes_
        if row.cost >= most or (self.wanted.flash_bytes is not None and row.flash_bytes > self.wanted.flash_bytes):
            return None
        row["qualifies"], row["coupons"] = True, slots
        words = (
            f"{self.wanted.tasks[i].name} from {slots} coupons: {kept['produced']:,} made of surplus at "
            f"{show(found.make.energy_j, 'J', 3)} and {kept['used']:,} used at {show(found.use.energy_j, 'J', 3)} for "
            f"{show(found.whole.energy_j, 'J', 3)} in the year; without them {without['days_survived']} of {days} days "
            f"would be survived, and {show(without['sums']['curtailed_j'] / days, 'J', 3)} a day thrown away"
        )
        return Offer(row, _told(fate, self.everything.lights[one.panel].low_light), (), words)

    def judged(self, offer: Offer) -> Offer:
        """Add the margin, and its ends by the light."""
        row = offer.row.copy()
        row["energy_margin"] = self.margin(row)
        low, high = self.wanted.uncertainty.light
        ends = (self.margin(row, low), self.margin(row, high))
        swing = Swing("light", f"x {low:g}", f"x {high:g}", *ends)
        return replace(offer, row=row, swings=(swing,) if swing.width > 0 else ())


def _scaled(found: Priced, load: float) -> Priced:
    def more(cost: Cost) -> Cost:
        return Cost(cost.cycles, cost.time_s, cost.energy_j * load)

    return Priced(found.kind, more(found.whole), more(found.make), more(found.use))


def _told(fate: dict[str, Any], low_light: tuple[float, float] | None) -> dict[str, Any]:
    names = ("days", "days_survived", "brown_outs", "off_s", "v_min_v", "v_end_v", "coupons")
    return {
        "survived_share": fate["days_survived"] / fate["days"],
        "done_share": fate["tasks"][0]["done"] / max(fate["tasks"][0]["due"], 1),
        **{name: fate[name] for name in names},
        "panel_j": fate["sums"]["panel_j"],
        "curtailed_j": fate["sums"]["curtailed_j"],
        "energy_balance_rel": fate["balance_rel"],
        "low_light": low_light,
    }


def offers(
    everything: sweep.Field, candidates: pd.DataFrame, share: float, plain: Sequence[float], best: int
) -> list[Offer]:
    """Return the cheapest configurations that coupons win, of different algorithm, board or store.

    `plain` are the costs of the best without: what is dearer than the last of `best` is not asked.
    """
    most = sorted(plain)[best - 1] if len(plain) >= best else float("inf")
    search, found = Search(everything, share), list[Offer]()
    seen: set[tuple[Any, ...]] = set()
    tried = 0
    for _, row in candidates.sort_values("cost", kind="stable").iterrows():
        kind = (row.workload, row.board, row.store)
        if tried == PLAYS or len(found) == best or row.cost >= most:
            break
        if kind in seen:
            continue
        tried += 1
        offer = search.offer(row, most)
        if offer is not None:
            seen.add(kind)
            found.append(offer)
    return [search.judged(o) for o in found]
