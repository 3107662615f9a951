# SPDX-License-Identifier: MIT OR Apache-2.0
"""Break-even of coupons: a node's answers over a year of weather, with a store of coupons and without.

The fleet's engine plays both nodes on the same supply in the same light (`crates/sunseal-node/src/fleet`): the node
makes a coupon when its store has a surplus, answers from one while there is one, and whole otherwise. What an answer
and a coupon cost is measured (`measurement.coupon`), the store's writing, claim, check and wipe included. Coupons pay
where more answers are given in time than without. Demand, light, price of a slot and number of slots at which they
begin and end to pay are found by bisection.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sunseal import requests
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, citing, places
from sunseal.catalog.units import show
from sunseal.errors import SunsealError, unknown
from sunseal.loop import fleet as fleets
from sunseal.loop import simulation
from sunseal.measurement import coupon
from sunseal.measurement.costs import Cost
from sunseal.planner import asleep, plan_requirements
from sunseal.planner import plan_supplies as supplies
from sunseal.requests.asking import answers

LEAST = 1e-3
"""Coupons pay from so many more answers in time on, as a share of those asked for: fewer may be dusk's rounding."""
NEAR = 0.02
"""An edge is found to so much."""
FINEST_STEPS = 12
GRID = 4.0
"""From one value that is tried to the next, before an edge is bisected."""
LIGHT = (1 / 64, 64.0)
SLOTS = (1, 4096)
DEMAND = (1.0, 2e4)
"""Answers a day; no more than the node has time for."""
PRICE = (1e-2, 1e3)
"""A slot's further price, over what a whole operation takes."""
BUSY = 0.5
"""So much of its time a node may answer at most."""
ALIKE_AFTER = (2, 10, 50)
"""Periods after which three are compared, where light and demand come again after a period."""
ALIKE = 1e-9
"""Share by which joules and seconds of periods that are alike may differ: a clock's rounding."""
ALIKE_SHORTEST_S = 3600.0
"""Least stretch that is taken for a period: what changes slower than it is seen in it."""
EVEN = 0.005
"""Share by which a demand that is tried may be moved so that its answers come again with the light."""
EVEN_DAYS = 8
"""Days after which they do at the latest."""
SUPPLY = {"harvester": "anagear-an1010", "capacitor": "capxx-hw203"}
PANEL = "ixys-slmd600h10l"


@dataclass(frozen=True)
class Costs:
    """An answer's operation whole, a coupon made ahead, and the operation from one; energies at the rail."""

    kind: str
    way: str
    """Way in which the operation is done without a coupon."""
    board: str
    freq_hz: int
    vcc_v: float
    power_set: str
    whole: Cost
    make: Cost
    """Writing the slot included."""
    use: Cost
    """Claim, check and wipe included."""
    guard: Cost | None = None
    """Part of `use` that claim, check and wipe take; None: not measured alone."""
    write: Cost | None = None
    """Part of `make` that writing the slot takes; None: not measured alone."""
    slot_bytes: int = 0
    note: str = ""


@dataclass(frozen=True)
class Question:
    """A node, what it is asked for, and what feeds it."""

    costs: Costs
    supply: Mapping[str, Any]
    """Table [supply] of a scenario."""
    trace: fleets.Trace
    """Power that the panel offers, repeated without end."""
    sleep_w: float
    demand: float
    """Answers that are asked for a day."""
    deadline_s: float | None = None
    """Deadline of an answer; None: until the next is asked for."""
    slots: int = 24
    slot_price_j: float = 0.0
    """Energy that a coupon costs beyond what was measured."""
    beside_j: float = 0.0
    """Energy that an answer takes beside the operation: radio, sensor."""
    beside_s: float = 0.0
    margin: float = 2.0
    """Safety factor of equation 6.1 of Mane 2014."""
    refill_above_v: float | None = None
    every_s: float = 10.0
    light: float = 1.0
    """Share of the trace's power that reaches the node."""
    start_j: float = 0.0
    start_s: float = 0.0
    days: int = supplies.DAYS

    @property
    def mean_light_w(self) -> float:
        """Return the mean power that the panel offers."""
        time_s, power_w = self.trace
        steps = zip(time_s, time_s[1:], power_w, power_w[1:], strict=False)
        return self.light * sum((b - a) * (p + q) / 2 for a, b, p, q in steps) / (time_s[-1] - time_s[0])

    @property
    def demand_most(self) -> float:
        """Return the demand that keeps the node busy for `BUSY` of its time."""
        return BUSY * fleets.DAY_S / (self.costs.whole.time_s + self.beside_s)

    def profile(self, slots: int) -> fleets.NodeProfile:
        """Return the node as the fleet's engine takes it."""

        def work(cost: Cost, then_j: float = 0.0) -> fleets.Work:
            energy_j = cost.energy_j + self.beside_j
            return fleets.Work(energy_j, cost.time_s + self.beside_s, self.margin * (energy_j + then_j))

        costs, period_s = self.costs, fleets.DAY_S / self.demand
        whole, use = work(costs.whole), work(costs.use)
        make_j = costs.make.energy_j + self.slot_price_j
        # Behind a coupon there must still be what the next answer wants.
        make = fleets.Work(make_j, costs.make.time_s, self.margin * (make_j + whole.energy_j))
        task = fleets.Task("answer", period_s, whole.energy_j, whole.time_s, whole.gate_j, self.deadline_s)
        kept = fleets.Coupons(slots, make, use, self.every_s, self.refill_above_v)
        poll_s = min(60.0, period_s)
        return fleets.NodeProfile(self.sleep_w, self.start_j, self.start_s, poll_s, (task,), kept)


@dataclass(frozen=True)
class Outcome:
    """Outcome for the answers and for the joules over the time that was played."""

    asked: int
    given: int
    in_time: int
    lost: int
    """Begun when the supply went."""
    missed: int
    """Neither given nor begun."""
    thrown_away_j: float
    """Energy that the panel offered while the store was full."""
    panel_j: float
    load_j: float
    brown_outs: int
    off_s: float
    made: int
    used: int
    discarded: int
    """Claimed when the supply went."""
    interrupted: int
    """Not finished when the supply went."""
    left: int
    refill_above_v: float
    energy_balance_rel: float


SUMMED = tuple(f.name for f in fields(Outcome) if f.name not in ("left", "refill_above_v", "energy_balance_rel"))
"""Figures that a longer play adds to."""


def play(asked: Question, slots: int) -> Outcome:
    """Play the node with so many slots; 0: without coupons."""
    costs, where = asked.costs, (asked.supply, asked.trace)
    return play_profile(costs.board, costs.vcc_v, *where, asked.profile(slots), light=asked.light, days=asked.days)


def play_profile(
    board: str,
    vcc_v: float,
    supply: Mapping[str, Any],
    trace: fleets.Trace,
    profile: fleets.NodeProfile,
    *,
    light: float = 1.0,
    days: int = supplies.DAYS,
) -> Outcome:
    """Play a node that keeps coupons, on a supply, in a light, by the fleet's engine.

    Where light and tasks come again after a period, periods are played until they are alike, and the rest is added as
    these.
    """

    def of(end_s: float) -> tuple[Outcome, float]:
        first = end_s / fleets.DAY_S
        fate = fleets.play_one(profile, trace, first, board=board, vcc_v=vcc_v, supply=supply, light=light)
        return _outcome(fate), fate["v_end_v"]

    whole_s = days * fleets.DAY_S
    again = _comes_again(profile, trace)
    return (_by_the_period(of, profile, again, whole_s) if again is not None else None) or of(whole_s)[0]


def _outcome(fate: Mapping[str, Any]) -> Outcome:
    off = float(fate["balance_rel"])
    if not abs(off) <= simulation.BALANCE_MAX:
        raise SunsealError(f"the year's energy balance is off by {off:.1e} of the energy moved, so it means nothing")
    task, kept, sums = fate["tasks"][0], fate["coupons"], fate["sums"]
    return Outcome(
        asked=task["due"],
        given=task["done"],
        in_time=task["in_time"],
        lost=task["lost"],
        missed=task["due"] - task["done"] - task["lost"],
        thrown_away_j=sums["curtailed_j"],
        panel_j=sums["panel_j"],
        load_j=sums["load_j"],
        brown_outs=fate["brown_outs"],
        off_s=fate["off_s"],
        made=kept["produced"],
        used=kept["used"],
        discarded=kept["discarded"],
        interrupted=kept["interrupted"],
        left=kept["in_store_end"],
        refill_above_v=kept["refill_above_v"],
        energy_balance_rel=off,
    )


def _comes_again(profile: fleets.NodeProfile, trace: fleets.Trace) -> float | None:
    """Return the time after which both light and tasks are as they were; None: there is no such that is a number."""
    spans_s = (trace[0][-1], *(task.period_s for task in profile.tasks))
    parts = [Fraction(span_s).limit_denominator(100_000) for span_s in spans_s]
    common_s = math.lcm(*(part.numerator for part in parts)) / math.gcd(*(part.denominator for part in parts))
    again_s = common_s * math.ceil(ALIKE_SHORTEST_S / common_s)
    return again_s if all(abs(math.remainder(again_s, span_s)) <= ALIKE for span_s in spans_s) else None


def _dues(period_s: float, end_s: float) -> int:
    """Count the times that a task falls due before an end, as the engine counts them: rounding decides at the end."""
    count = math.ceil(end_s / period_s)
    while count > 0 and (count - 1) * period_s >= end_s:
        count -= 1
    return count + (count * period_s < end_s)


def _by_the_period(
    of: Callable[[float], tuple[Outcome, float]], profile: fleets.NodeProfile, again_s: float, whole_s: float
) -> Outcome | None:
    """Play until a period leaves the node as it found it, and does what the one before did; None: none does so soon."""
    periods, rest_s = divmod(whole_s, again_s)
    for first in ALIKE_AFTER:
        if periods <= 2 * (first + 2):
            return None
        ends_s = [rest_s + (first + more) * again_s for more in range(3)]
        more = round(periods) - (first + 2)
        for task in profile.tasks:
            each = round(again_s / task.period_s)
            dues = [_dues(task.period_s, end_s) for end_s in (*ends_s, whole_s)]
            if [b - a for a, b in itertools.pairwise(dues)] != [each, each, more * each]:
                return None
        played = [of(end_s) for end_s in ends_s]
        (_, before_v), (_, between_v), (last, after_v) = played
        steps = [
            {key: getattr(a, key) - getattr(b, key) for key in SUMMED}
            for (a, _), (b, _) in ((played[2], played[1]), (played[1], played[0]))
        ]
        scale = {key: ALIKE * abs(float(getattr(last, key))) for key in SUMMED}
        same = all(math.isclose(v, after_v, rel_tol=ALIKE) for v in (before_v, between_v))
        same = same and len({o.left for o, _ in played}) == 1
        if same and all(math.isclose(steps[0][k], steps[1][k], rel_tol=ALIKE, abs_tol=scale[k]) for k in SUMMED):
            return replace(last, **{key: getattr(last, key) + more * steps[0][key] for key in SUMMED})
    return None


def _even_demand(asked: Question, demand: float) -> float:
    """Return the nearest demand whose answers come again with the light after some days, if it is near enough."""
    if abs(math.remainder(fleets.DAY_S, asked.trace[0][-1])) > ALIKE:
        return demand
    for days in range(1, EVEN_DAYS + 1):
        for step in (0, 1, -1, 2, -2):
            answers_ = round(demand * days) + step
            even = answers_ / days
            if answers_ < 1 or abs(even - demand) > EVEN * demand:
                continue
            ends = [(n * days, n * answers_) for first in ALIKE_AFTER for n in range(first, first + 3)]
            ends += [(asked.days, round(asked.days * even))] if asked.days % days == 0 else []
            if all(_dues(fleets.DAY_S / even, n * fleets.DAY_S) == count for n, count in ends):
                return even
    return demand


@dataclass(frozen=True)
class Point:
    """One value of an axis, played with coupons and without."""

    value: float
    with_coupons: Outcome
    without: Outcome

    @property
    def gained(self) -> int:
        """Return how many more answers are in time with coupons."""
        return self.with_coupons.in_time - self.without.in_time

    @property
    def pays(self) -> bool:
        """Say whether that is more than the play's own rounding."""
        return self.gained >= max(1.0, LEAST * self.without.asked)


@dataclass(frozen=True)
class Axis:
    """A quantity of the question that is varied, everything else as it was asked."""

    name: str
    title: str
    unit: str
    low: float
    high: float
    asked: Callable[[Question], float]
    vary: Callable[[Question, float], Question]
    whole: bool = False
    """True if only whole numbers make sense."""
    near: Callable[[Question, float], float] = lambda _, v: v
    """Value that is tried in place of another, as it is next to it and sooner played."""


@dataclass(frozen=True)
class Edges:
    """From where to where coupons pay along an axis; None: as far as it was tried."""

    axis: str
    unit: str
    asked: float
    tried: tuple[float, float]
    pays_from: float | None
    pays_to: float | None
    pays: bool
    """Anywhere in the range."""
    points: tuple[Point, ...] = field(repr=False)
    thrown_away_j_per_day: float | None = None
    """Without coupons, where they begin to pay."""

    def text(self, value: float) -> str:
        """Write a value of it."""
        return show(value, self.unit, 3) if self.unit in ("W", "J") else f"{value:,.4g} {self.unit}".strip()

    @property
    def sentence(self) -> str:
        """Say it in words."""
        low, high = (self.text(v) for v in self.tried)
        if not self.pays:
            return f"{self.axis}: at no value from {low} to {high} do coupons pay"
        begins = (
            f"from {self.text(self.pays_from)}" if self.pays_from is not None else f"already at {low}, the least tried,"
        )
        ends = f"up to {self.text(self.pays_to)}" if self.pays_to is not None else f"up to {high}, the most tried"
        surplus = ""
        if self.thrown_away_j_per_day is not None:
            surplus = f"; there a node without coupons throws away {show(self.thrown_away_j_per_day, 'J', 3)} a day"
        return f"{self.axis}: coupons pay {begins} {ends}{surplus}"

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        told = {k: v for k, v in vars(self).items() if k != "points"}
        curve = [{"value": p.value, "with": asdict(p.with_coupons), "without": asdict(p.without)} for p in self.points]
        return {**told, "sentence": self.sentence, "points": curve}


AXES = (
    Axis(
        "demand",
        "answers a day",
        "a day",
        *DEMAND,
        lambda q: q.demand,
        lambda q, v: replace(q, demand=v),
        near=_even_demand,
    ),
    Axis(
        "light",
        "mean power that the panel offers",
        "W",
        *LIGHT,
        lambda q: q.mean_light_w,
        lambda q, v: replace(q, light=q.light * v / q.mean_light_w),
    ),
    Axis(
        "slot price",
        "further price of a coupon's slot",
        "J",
        *PRICE,
        lambda q: q.slot_price_j,
        lambda q, v: replace(q, slot_price_j=v),
    ),
    Axis("slots", "slots", "slots", *SLOTS, lambda q: q.slots, lambda q, v: replace(q, slots=round(v)), True),
)


class _Search:
    """Plays each question once, several at a time: the engine lets go of Python while it plays."""

    def __init__(self, question: Question, heard: Callable[[int], object] | None = None) -> None:
        self.question = question
        self.heard = heard
        self.played: dict[tuple[str, float], Outcome] = {}

    def points(self, axis: Axis, values: Iterable[float]) -> dict[float, Point]:
        """Play an axis at some values, with coupons and without."""
        wanted: dict[float, list[tuple[str, float]]] = {}
        missing: dict[tuple[str, float], tuple[Question, int]] = {}
        for value in values:
            asked = axis.vary(self.question, value)
            for of, slots in ((asked, asked.slots), (replace(asked, slot_price_j=0.0), 0)):
                key = json.dumps(of.profile(slots).to_dict()), of.light
                wanted.setdefault(value, []).append(key)
                if key not in self.played:
                    missing[key] = of, slots
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            # Each in a copy of this context, which knows the folder of the scenario (places.beside).
            begun = {key: pool.submit(copy_context().run, play, of, n) for key, (of, n) in missing.items()}
            for key, playing in begun.items():
                self.played[key] = playing.result()
                if self.heard is not None:
                    self.heard(len(self.played))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # a year that is under way takes seconds
        return {value: Point(value, *(self.played[k] for k in keys)) for value, keys in wanted.items()}

    def edges(self, axis: Axis) -> Edges:
        low, high = _range(axis, self.question)
        grid = _grid(axis, self.question, low, high)
        points = self.points(axis, grid)
        at = axis.asked(self.question)
        first, last = _run([points[v].pays for v in grid], min(range(len(grid)), key=lambda i: abs(grid[i] - at)))
        begins = ends = None
        if first is not None and last is not None:
            if first > 0:
                begins = self._edge(axis, points, grid[first - 1], grid[first])
            if last < len(grid) - 1:
                ends = self._edge(axis, points, grid[last + 1], grid[last])
        surplus_j = None
        if axis.name in ("demand", "light") and begins is not None:
            surplus_j = points[begins].without.thrown_away_j / self.question.days
        return Edges(
            axis=axis.name,
            unit=axis.unit,
            asked=at,
            tried=(low, high),
            pays_from=begins,
            pays_to=ends,
            pays=first is not None,
            points=tuple(points[v] for v in sorted(points)),
            thrown_away_j_per_day=surplus_j,
        )

    def _edge(self, axis: Axis, points: dict[float, Point], out: float, inside: float) -> float:
        """Bisect between a value that does not pay and one that does; return one that does."""
        for _ in range(FINEST_STEPS):
            if abs(math.log(out / inside)) <= math.log1p(NEAR) or (axis.whole and abs(out - inside) <= 1):
                break
            middle = axis.near(self.question, math.sqrt(out * inside))
            if axis.whole:
                middle = min(max(round(middle), min(out, inside) + 1), max(out, inside) - 1)
            points |= self.points(axis, [middle])
            out, inside = (out, middle) if points[middle].pays else (middle, inside)
        return inside


def _range(axis: Axis, asked: Question) -> tuple[float, float]:
    if axis.name == "demand":
        return axis.low, min(axis.high, asked.demand_most)
    if axis.name == "slots":
        most = coupon.fitting(asked.costs.kind, asked.costs.board)
        return axis.low, axis.high if most is None else min(axis.high, most)
    scale = {"light": asked.mean_light_w, "slot price": asked.costs.whole.energy_j}.get(axis.name, 1.0)
    return axis.low * scale, axis.high * scale


def _grid(axis: Axis, question: Question, low: float, high: float) -> list[float]:
    steps = max(round(math.log(high / low, GRID)), 1)
    values = {axis.near(question, low * (high / low) ** (i / steps)) for i in range(steps + 1)}
    asked = axis.asked(question)
    values |= {asked} if low <= asked <= high else set()
    return sorted({float(round(v)) for v in values} if axis.whole else values)


def _run(pays: Sequence[bool], at: int) -> tuple[int | None, int | None]:
    """Return the ends of the stretch of values that pay: that of the asked value, else the first."""
    if not any(pays):
        return None, None
    first = last = at if pays[at] else pays.index(True)
    while first > 0 and pays[first - 1]:
        first -= 1
    while last < len(pays) - 1 and pays[last + 1]:
        last += 1
    return first, last


@dataclass(frozen=True)
class BreakEven(Shown):
    """Answer of the command: where coupons begin to pay."""

    question: Question = field(repr=False)
    asked: Point
    edges: tuple[Edges, ...]
    remarks: tuple[str, ...]
    citations: citing.Citations = field(default=citing.NOTHING, repr=False)

    @property
    def pays(self) -> bool:
        """Say whether coupons pay as the question stands."""
        return self.asked.pays

    @property
    def sentence(self) -> str:
        """Say in words whether they do, and if not why."""
        return _why(self.question, self.asked)

    def cite(self) -> citing.Citations:
        """Return the documents behind board, supply and light."""
        return self.citations

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        q, hidden = self.question, ("costs", "supply", "trace")
        return {
            "pays": self.pays,
            "sentence": self.sentence,
            "costs": asdict(q.costs),
            "supply": {k: v for k, v in q.supply.items() if v is not None},
            "question": {**{k: v for k, v in vars(q).items() if k not in hidden}, "mean_light_w": q.mean_light_w},
            "with": asdict(self.asked.with_coupons),
            "without": asdict(self.asked.without),
            "break_even": [e.to_dict() for e in self.edges],
            "remarks": list(self.remarks),
        }


def _why(asked: Question, at: Point) -> str:
    costs, without, kept = asked.costs, at.without, at.with_coupons
    more = f"{kept.in_time:,} of {kept.asked:,} answers in time with {asked.slots} slots, {without.in_time:,} without"
    if at.pays:
        saved_j = without.thrown_away_j - kept.thrown_away_j
        return f"coupons pay here: {more}; {show(saved_j, 'J', 3)} fewer are thrown away"
    if costs.use.energy_j >= costs.whole.energy_j:
        why = (
            f"an answer from a coupon takes {show(costs.use.energy_j, 'J', 3)} and the whole operation "
            f"{show(costs.whole.energy_j, 'J', 3)}, so there is nothing to save"
        )
    elif without.in_time == without.asked:
        why = "without them every answer is in time already"
    elif without.thrown_away_j == 0.0:
        why = "the store is never full, so there is no surplus to make them of"
    elif kept.made == 0:
        why = (
            f"the store never stands at {kept.refill_above_v:.3g} V with what making one and answering want, "
            "so none is made"
        )
    else:
        why = "what they save does not reach further than what they and the sleep between answers cost"
    return f"coupons do not pay here: {why} ({more})"


def costs_of(
    kind: str, board: str, *, way: str | None = None, variant: Sequence[str] = (), power: str = boards.DEFAULT_POWER
) -> Costs:
    """Price a kind of coupon and its whole operation by `coupon.metrics`; without `way`, the cheapest way to do it."""
    found = coupon.metrics(kind, board=board, variant=variant, power=power)
    ways = {m.variant: m for m in found if m.original is not None}
    if not ways:
        raise SunsealError(
            f"coupons of kind `{kind}` have no break-even on {board}: no workload does the same whole",
            hint=f"those that have one: {', '.join(k for k, v in coupon.KINDS.items() if v.originals)}",
        )
    if way is not None and way not in ways:
        raise unknown("way to do it whole", way, ways, f"for coupons of kind `{kind}` on {board}")
    whole = {name: m.original for name, m in ways.items() if m.original is not None}
    chosen = way if way is not None else min(whole, key=lambda name: whole[name].energy_j)
    m = ways[chosen]
    return Costs(
        kind=kind,
        way=chosen,
        board=board,
        freq_hz=m.freq_hz,
        vcc_v=m.vcc_v,
        power_set=m.power_set,
        whole=whole[chosen],
        make=m.precompute,
        use=m.runtime,
        guard=None if m.bare is None else m.runtime - m.bare,
        write=m.store["burn"] + m.store["write"],
        slot_bytes=m.slot_bytes,
        note=m.note,
    )


def answer(
    question: Question,
    axes: Sequence[str] | None = None,
    remarks: Sequence[str] = (),
    heard: Callable[[int], object] | None = None,
) -> BreakEven:
    """Play the question as it stands, then search along each axis; `heard` is told how many nodes were played."""
    if not question.demand <= question.demand_most:
        each_s = question.costs.whole.time_s + question.beside_s
        raise SunsealError(
            f"{question.demand:,.6g} answers a day of {show(each_s, 's')} each are more than half of the node's time; "
            f"ask for {math.floor(question.demand_most):,} at most"
        )
    if question.slots < 1:
        raise SunsealError(f"{question.slots} slots keep no coupon; take one or more")
    most = coupon.fitting(question.costs.kind, question.costs.board)
    if most is not None and question.slots > most:
        raise SunsealError(
            f"{question.slots:,} slots are more than the {most:,} that the FRAM of {question.costs.board} holds as far "
            "as 16-bit pointers reach"
        )
    for name in axes or ():
        if name not in {a.name for a in AXES}:
            raise unknown("axis", name, [a.name for a in AXES])
    search = _Search(question, heard)
    asked = search.points(AXES[0], [question.demand])[question.demand]
    edges = tuple(search.edges(a) for a in AXES if axes is None or a.name in axes)
    note = [question.costs.note] if question.costs.note else []
    return BreakEven(question, asked, edges, (*note, *remarks))


FIGURES = (
    "deadline_s slots slot_price_j beside_j beside_s margin refill_above_v every_s light start_j start_s days".split()
)
"""Figures of a `Question` that a request may name."""


@answers(requests.Breakeven)
def breakeven(to: requests.Breakeven) -> BreakEven:
    """Ask whether coupons of a kind pay on a board, behind a supply, in a climate; SI base units, a demand a day.

    A scenario file gives board, supply, light, demand (its node's period) and policy; what is named beside it goes
    first. `climate` is the table of a requirements file; further figures are those of `Question`.
    """
    given: dict[str, Any] = {}
    board, supply = to.board, to.supply
    folder = Path() if to.scenario is None else Path(to.scenario).parent
    with places.beside(None if to.scenario is None else folder):
        if to.scenario is not None:
            path = Path(to.scenario)
            told = simulation.facts(simulation.load(path))
            board = str(told["board"])
            given = _of_scenario(told, path, to.climate is None)
            if to.climate and not set(to.climate) & {"weather", "constant_w", "trace", "latitude_deg"}:
                raise SunsealError(
                    f"`{sorted(to.climate)[0]}` says no whole climate, and the light of `{path}` is taken as it is",
                    hint="give `--weather FILE` beside it, or change the scenario's own light",
                )
            supply = {**given.pop("supply"), **(supply or {})}
            if to.panel is not None and "trace" in given:
                raise SunsealError(
                    f"the panel `{to.panel}` stands beside the light of `{path}`, which has its own",
                    hint="give `--weather FILE` beside it, or change the scenario's panel",
                )
        wished = plan_requirements.climate(to.climate or {}, "the options")
        if to.panel is not None and (own := [k for k in ("trace", "constant_w") if k in wished]):
            raise SunsealError(f"the panel `{to.panel}` stands beside `{own[0]}`, which is a panel's own power")
        costs = costs_of(to.kind, board, way=to.way, variant=to.variant, power=to.power)
        where: dict[str, str] = {"climate": f"the light of {to.scenario}"}
        if "trace" not in given:
            light = supplies.light_in(wished, to.panel or _panel(board), folder)
            given["trace"], where = light.trace, light.provenance
        remarks, sleep_w = [], to.sleep_w
        if sleep_w is None:
            waiting = asleep.of_board(board, costs.vcc_v, to.power)
            sleep_w = waiting.total_w[0]
            remarks += [waiting.remark] if waiting.remark else []
        behind = dict(SUPPLY if supply is None else supply)
        question = Question(
            costs=costs,
            supply=behind,
            sleep_w=sleep_w,
            demand=to.demand or given.pop("demand", 144.0),
            **{**given, **{k: v for k in FIGURES if (v := getattr(to, k)) is not None}},
        )
        parts = [str(v) for v in behind.values() if isinstance(v, str) and v in boards.names("parts")]
        cited = citing.of(board=board, power_sets=[costs.power_set], parts=parts, climate=where)
        return replace(answer(question, to.axes, remarks, to.heard), citations=cited)


def _panel(board: str) -> str:
    facts = boards.board(board)
    return str(facts.get("supply", {}).get("panel", PANEL))


def _of_scenario(told: Mapping[str, Any], path: Path, with_light: bool) -> dict[str, Any]:
    """Read what a scenario says of supply, light, demand and policy."""
    found: dict[str, Any] = {"supply": {k: v for k, v in told["supply"].items() if v is not None}}
    node = told.get("node") or {}
    if node.get("period_s"):
        found["demand"] = fleets.DAY_S / float(node["period_s"])
    policy = node.get("coupons") or {}
    names = {"high": "slots", "refill_above_v": "refill_above_v", "every_s": "every_s"}
    found |= {ours: policy[theirs] for theirs, ours in names.items() if policy.get(theirs)}
    if with_light:
        found["trace"] = _light_of(told, path)
    return found


def switched(on_w: float, off_w: float, period_s: float, on_s: float) -> fleets.Trace:
    """Return light that is on for the first part of each period."""
    edge_s = on_s + 1e-3
    # The engine takes no row much longer after the one before than the second after the first.
    rows = max(math.ceil((period_s - edge_s) / on_s), 1)
    dark_s = [edge_s + (period_s - edge_s) * i / rows for i in range(rows + 1)]
    return [0.0, on_s, *dark_s], [on_w, on_w, *[off_w] * len(dark_s)]


def _light_of(told: Mapping[str, Any], path: Path) -> fleets.Trace:
    harvest = told["harvest"]
    if harvest.get("constant_w") is not None:
        return [0.0, fleets.DAY_S], [float(harvest["constant_w"])] * 2
    if harvest.get("periodic") is not None:
        p = harvest["periodic"]
        return switched(*(float(p[key]) for key in ("on_w", "off_w", "period_s", "on_s")))
    if harvest.get("sunlight") is not None:
        sun = harvest["sunlight"]
        climate = {
            k: sun[k] for k in ("tilt_deg", "azimuth_deg", "shading", "weather", "panel") if sun.get(k) is not None
        }
        return fleets.sunlit(str(told["board"]), climate)
    if harvest.get("trace") is not None:
        return fleets.trace_file(path.parent / str(harvest["trace"]))
    raise SunsealError(
        f"`{path}`: its light is none that a year can be made of (constant_w, periodic, sunlight, trace); give a "
        "climate beside it, such as `--weather FILE` or `--constant 1mW`"
    )


# --- The answer as a table ---------------------------------------------------------------------

ROWS = (
    ("answers asked for", "asked"),
    ("given", "given"),
    ("in time", "in_time"),
    ("lost, begun when the supply went", "lost"),
    ("missed", "missed"),
    ("brown-outs", "brown_outs"),
    ("coupons made", "made"),
    ("used", "used"),
    ("discarded", "discarded"),
    ("interrupted", "interrupted"),
    ("left", "left"),
)


def rows(found: BreakEven) -> list[tuple[str, str, str]]:
    """Return the outcome as a table: what, with coupons, without."""
    kept, without = found.asked.with_coupons, found.asked.without
    told = [(title, f"{getattr(kept, key):,}", f"{getattr(without, key):,}") for title, key in ROWS]
    for title, key in (("thrown away", "thrown_away_j"), ("taken by the node", "load_j")):
        told.append((title, show(getattr(kept, key), "J"), show(getattr(without, key), "J")))
    return told
