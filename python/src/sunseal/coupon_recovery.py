# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recovery from a denial of service: time and joules from the light's return to the first answer.

Section 3.5.1 of Suslowicz 2017, from the closed loop. Whoever keeps the light away stops a node, coupons or not; what
coupons change is how soon it answers when the light is back. The program of `coupon_rate` starts from a starved store,
once with the coupons that its memory has kept, once with none left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from sunseal import coupon_rate, requests
from sunseal.asking import answers
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.report import charts
from sunseal.units import show

CHARGE_SHARES = (0.05, 0.2, 0.5, 0.9, 1.2, 2.0, 3.0, 6.0)
"""Stores of a node that recovers: how many whole signatures one charge of it pays."""
FACTOR = 0.1
"""Harvested power, over that from which on a node without coupons computes all the time."""
CHARGES = 4
"""A node that has not answered after so many charges of its store never will: each begins as the first."""
FOUND_TO_S = 1e-5
"""The first answer is found to so much: a hundredth of what one from a coupon takes."""
COURSE_POINTS = 600


@dataclass(frozen=True)
class First:
    """The first answer after the light's return."""

    time_s: float
    harvested_j: float
    """Energy that the light has brought until then."""
    load_j: float
    """Energy that the node has drawn at its rail until then, in charges that ended before the answer, too."""
    brown_outs: int


@dataclass(frozen=True)
class Recovery:
    """From the return of the light to the first answer, on one store."""

    capacitance_f: float
    charge_share: float
    """Number of whole signatures that one charge of the store pays."""
    on_s: float
    """To the output's switching on, which coupons do not change."""
    coupons: First | None
    """With coupons left; None: not even that answer comes before the charge ends."""
    none: First | None
    """Without a coupon left; None: each charge ends before the signature does."""
    charges: int
    """Charges without an answer that the node without coupons was watched through, where it gives none."""

    @property
    def sentence(self) -> str:
        """Say it in words."""
        store = f"{show(self.capacitance_f, 'F', 3)}, which pay {self.charge_share:.3g} whole signatures a charge"
        if self.coupons is None:
            without = "" if self.none is None else f" and {_told(self.none)} without"
            return f"{store}: no first answer with coupons left{without}"
        return f"{store}: the first answer comes {_told(self.coupons)} with coupons left, {_without(self)}"


@dataclass(frozen=True)
class Recoveries:
    """Remains of a denial of service, over stores."""

    board: str
    power_set: str
    freq_hz: int
    vcc_v: float
    harvested_w: float
    starved_v: float
    """Voltage of the store when the light returns."""
    whole_j: float
    recoveries: tuple[Recovery, ...]
    courses: tuple[tuple[str, list[float], list[float]], ...] = ()
    """For the page: voltage of one store over time, with coupons and without."""

    def as_json(self) -> dict[str, Any]:
        """Return it in SI base units."""
        told = asdict(self)
        del told["courses"]
        return {**told, "recoveries": [asdict(r) for r in self.recoveries]}

    def chart(self) -> charts.Chart:
        """Draw the time to the first answer over the store; a node that never answers has no mark."""
        x = [r.capacitance_f for r in self.recoveries]
        traces = [charts.Trace("output on", x, [r.on_s for r in self.recoveries], "#888888", "lines", dash=True)]
        kinds = (("coupons left", "coupons", "#3b7a57"), ("no coupon left", "none", "#b5442e"))
        for title, kind, color in kinds:
            first: list[First | None] = [getattr(r, kind) for r in self.recoveries]
            said = ["" if f is None else f"{show(f.load_j, 'J')} at the rail" for f in first]
            mark = "circle" if kind == "coupons" else "circle-open"
            traces.append(
                charts.Trace(
                    title, x, [None if f is None else f.time_s for f in first], color, "markers", mark, 9, text=said
                )
            )
        never = [r.capacitance_f for r in self.recoveries if r.none is None]
        return charts.Chart(
            charts.Axis("store", "F", log=True),
            charts.Axis("first answer after the light", "s", log=True),
            traces,
            title=f"ECDSA P-256 on {self.board} behind {show(self.harvested_w, 'W', 3)} of light",
            x_lines={"never without coupons, up to here": max(never)} if never else {},
        )

    def joules(self) -> charts.Chart:
        """Draw what the first answer takes at the rail, over the store."""
        x = [r.capacitance_f for r in self.recoveries]
        traces = [
            charts.Trace(title, x, [None if f is None else f.load_j for f in first], color)
            for title, first, color in (
                ("coupons left", [r.coupons for r in self.recoveries], "#3b7a57"),
                ("no coupon left", [r.none for r in self.recoveries], "#b5442e"),
            )
        ]
        return charts.Chart(
            charts.Axis("store", "F", log=True), charts.Axis("drawn until the first answer", "J", log=True), traces
        )

    def course(self) -> charts.Chart:
        """Draw the voltage of the smallest store that a whole signature is too much for."""
        colors = ("#3b7a57", "#b5442e")
        store = coupon_rate.supply()
        return charts.Chart(
            charts.Axis("time", "s"),
            charts.Axis("store", "V"),
            [
                charts.Trace(name, times_s, volts_v, color, "lines")
                for (name, times_s, volts_v), color in zip(self.courses, colors, strict=True)
            ],
            y_lines={"output on": store.v_on_v, "cut-off": store.v_cut_v},
        )


def _told(first: First) -> str:
    cuts = f" and {first.brown_outs} brown-outs" if first.brown_outs else ""
    return f"after {show(first.time_s, 's')} and {show(first.load_j, 'J', 3)} at the rail{cuts}"


def _without(r: Recovery) -> str:
    if r.none is None:
        return f"and never without: {r.charges} charges ended before the signature did"
    return f"{_told(r.none)} without"


def page(found: Recoveries) -> str:
    """Write figures and table as a page of their own."""
    from sunseal.report.page import Page, right, table

    made = Page(
        "Recovery from a denial of service",
        f"ECDSA P-256 on {found.board} at {found.freq_hz / 1e6:g} MHz and {found.vcc_v:g} V, priced by "
        f"{found.power_set}; behind {coupon_rate.HARVESTER}, {show(found.harvested_w, 'W', 3)} of light on a store "
        f"that stands at {found.starved_v:g} V when it comes back.",
    )

    def cells(first: First | None) -> tuple[Any, ...]:
        return (
            ("never", "", "")
            if first is None
            else (
                right(show(first.time_s, "s")),
                right(show(first.harvested_j, "J", 3)),
                right(show(first.load_j, "J", 3)),
            )
        )

    rows = [
        (
            right(show(r.capacitance_f, "F", 3)),
            right(f"{r.charge_share:.3g}"),
            right(show(r.on_s, "s")),
            *cells(r.coupons),
            *cells(r.none),
        )
        for r in found.recoveries
    ]
    heads = ("first answer", "of light", "at the rail")
    made.section(
        "Time and joules to the first answer",
        "The same program with coupons left and without: what is asked is answered from what a start leaves, or waits "
        "for a whole signature. Where a charge does not pay one, no answer ever comes without coupons.",
        made.chart(found.chart()),
        made.chart(found.joules()),
        table(
            (
                "store",
                "a charge pays",
                "output on",
                *(f"{head}, {kind}" for kind in ("coupons", "none") for head in heads),
            ),
            rows,
        ),
    )
    if found.courses:
        made.section("The store meanwhile", "Up to the first answer, or until none comes.", made.chart(found.course()))
    return made.render()


def _scenario(kind: coupon_rate.Kind, asked: _Asked, capacitance_f: float, points: int = 2) -> dict[str, Any]:
    told = coupon_rate.scenario(kind, asked.light_w, capacitance_f, asked.weights)
    told["supply"]["initial_v"] = asked.starved_v
    told["output"] = {"points": points}
    return told


@dataclass(frozen=True)
class _Asked:
    light_w: float
    starved_v: float
    whole: measuring.Measurement
    weights: measuring.PowerSet

    @property
    def needs_j(self) -> float:
        """Return what a whole operation takes out of the store."""
        return coupon_rate.drawn_w(self.whole.energy_j / self.whole.time_s) * self.whole.time_s

    def charge_j(self, capacitance_f: float, from_v: float) -> float:
        """Return what the store takes up to its start."""
        store = coupon_rate.supply(capacitance_f)
        return store.energy_j(from_v, store.v_on_v)

    def most_s(self, capacitance_f: float) -> float:
        """Return how long a node is watched: twice what so many charges take, as the light goes on while it works."""
        store = coupon_rate.supply(capacitance_f)
        into_w = max(store.gains_w(self.light_w), 1e-9)
        charges_j = (2 * CHARGES - 1) * self.charge_j(capacitance_f, store.v_cut_v)
        return (self.charge_j(capacitance_f, self.starved_v) + charges_j) / into_w + 2 * self.whole.time_s


def _first(told: dict[str, Any], most_s: float) -> tuple[First | None, dict[str, Any]]:
    """Find the end of the first operation, and the record up to then; None if there is none so long."""
    record = coupon_rate.play(told, most_s)
    if not record["operations"]:
        return None, record
    low_s, high_s = 0.0, most_s
    while high_s - low_s > FOUND_TO_S:
        middle_s = (low_s + high_s) / 2
        tried = coupon_rate.play(told, middle_s)
        if tried["operations"]:
            high_s, record = middle_s, tried
        else:
            low_s = middle_s
    energy = record["energy"]
    found = First(high_s, energy["supply"]["panel_j"], energy["load"]["total_j"]["typ"], int(record["brown_outs"]))
    return found, record


def _recover(asked: _Asked, capacitance_f: float) -> Recovery:
    """Play a starved node with coupons left and without."""
    most_s = asked.most_s(capacitance_f)
    with_coupons, _ = _first(_scenario("store", asked, capacitance_f), most_s)
    without, record = _first(_scenario("none", asked, capacitance_f), most_s)
    on_s = next((float(e["time_s"]) for e in record["events"] if e["kind"] == "on"), None)
    if on_s is None:
        raise SunsealError(
            f"{asked.light_w:g} W do not bring a store of {capacitance_f:.3g} F to its start in {most_s:.3g} s"
        )
    cuts = int(record["brown_outs"])
    if without is None and cuts < 2:
        raise SunsealError(
            f"a node without coupons had {cuts} charges of {capacitance_f:.3g} F in {most_s:.3g} s: too few to say "
            "that it never answers"
        )
    share = asked.charge_j(capacitance_f, coupon_rate.supply().v_cut_v) / asked.needs_j
    return Recovery(capacitance_f, share, on_s, with_coupons, without, 0 if without else cuts)


def _courses(asked: _Asked, r: Recovery) -> tuple[tuple[str, list[float], list[float]], ...]:
    """Play one store once more for its voltage, with coupons and without, as long as the slower takes."""
    lasts_s = min(asked.most_s(r.capacitance_f), 1.1 * r.none.time_s if r.none else 4 * r.on_s)
    found = []
    kinds: tuple[tuple[coupon_rate.Kind, str], ...] = (("store", "coupons left"), ("none", "no coupon left"))
    for kind, name in kinds:
        series = coupon_rate.play(_scenario(kind, asked, r.capacitance_f, COURSE_POINTS), lasts_s)["series"]
        found.append((name, [p["time_s"] for p in series], [p["vcap_v"] for p in series]))
    return tuple(found)


@cache
def published(power: str) -> Recoveries:
    """Return the recovery on stores of `CHARGE_SHARES`, once a process."""
    return recoveries(power=power)


@answers(requests.Recoveries)
def recoveries(to: requests.Recoveries) -> Recoveries:
    """Play a node whose light comes back on each store; without any, on stores of `CHARGE_SHARES`.

    Raises:
        SunsealError: If the light cannot start the node, or the store stands above the start already.
    """
    coupon_rate.possible(to.board, [] if to.light_w is None else [to.light_w])
    store = coupon_rate.supply()
    starved_v = store.v_cut_v if to.starved_v is None else to.starved_v
    if not 0 <= starved_v < store.v_on_v:
        raise SunsealError(
            f"a store at {starved_v:g} V is not starved: the output of {coupon_rate.HARVESTER} starts at "
            f"{store.v_on_v:g} V; give --starved-to less"
        )
    weights = measuring.PowerSet(to.power, to.board)
    whole = coupon_rate.cost(coupon_rate.WHOLE, to.power)
    light_w = FACTOR * coupon_rate.harvested_w(whole.energy_j / whole.time_s) if to.light_w is None else to.light_w
    asked = _Asked(light_w, starved_v, whole, weights)
    each_f = asked.needs_j / asked.charge_j(1.0, store.v_cut_v)
    stores: Sequence[float] = to.capacitances_f or [share * each_f for share in CHARGE_SHARES]
    if wrong := [f for f in stores if not f > 0]:
        raise SunsealError(f"a store of {wrong[0]:g} F keeps nothing; --capacitance takes more than 0 F")
    found = tuple(_recover(asked, capacitance_f) for capacitance_f in sorted(stores))
    shown = next((r for r in reversed(found) if r.none is None), found[0])
    return Recoveries(
        to.board,
        weights.name,
        coupon_rate.FREQ_HZ,
        coupon_rate.VCC_V,
        light_w,
        starved_v,
        whole.energy_j,
        found,
        _courses(asked, shown) if to.courses else (),
    )
