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

from sunseal import requests
from sunseal.answers.shown import Shown
from sunseal.catalog import power_sets
from sunseal.catalog.units import show
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.papers import coupon_rate
from sunseal.requests.asking import answers

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
class Recoveries(Shown):
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


def _told(first: First) -> str:
    cuts = f" and {first.brown_outs} brown-outs" if first.brown_outs else ""
    return f"after {show(first.time_s, 's')} and {show(first.load_j, 'J', 3)} at the rail{cuts}"


def _without(r: Recovery) -> str:
    if r.none is None:
        return f"and never without: {r.charges} charges ended before the signature did"
    return f"{_told(r.none)} without"


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
    weights: power_sets.PowerSet

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
    weights = power_sets.PowerSet(to.power, to.board)
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
