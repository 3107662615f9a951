# SPDX-License-Identifier: MIT OR Apache-2.0
"""Relaxations where nothing meets the requirements: each of them alone, by the least that helps.

Of light, period and days the hourly year tells where that is about, and the engine's year, which decides what is
offered, how much less will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pandas as pd

from sunseal.catalog import units
from sunseal.planner import lifetime, sweep
from sunseal.planner import plan_requirements as wishes
from sunseal.planner import plan_supplies as supply
from sunseal.planner.choosing import FAR, Asked, Found, Numbers, at_true, name_of

LIGHT_MOST = 1024.0
PERIOD_MOST = 1e4
"""The largest factors of light and period that a relaxation tries."""
DIGITS = 4
"""Digits of the figure of a relaxation."""
STEP = 1.01
"""From one period to the next of the scale on which the shortest is sought, and how near light is to the least."""
DAY_STEP = 1e-3
"""The same of days, as a share of them."""


def factor(margin: float) -> str:
    """Write a relative margin: per cent, and from ten times of what is needed on as a factor."""
    if math.isinf(margin):
        return "without limit" if margin > 0 else "none"
    if margin < 9:
        return f"{margin:+.0%}"
    return f"x {margin + 1:.3g}" if margin < 999 else f"x {margin + 1:,.0f}"


@dataclass(frozen=True)
class Relaxation:
    """Distance by which one requirement alone would have to give way for something to qualify."""

    requirement: str
    wanted: str
    needed: str | None
    """The least that helps, rounded outwards and planned again; None: no value of it helps."""
    name: str | None
    """The cheapest node then."""
    figure: str = ""
    """Name that the file has for it, where that is another word."""
    remark: str = ""
    """Remark on what it is the least of."""

    @property
    def sentence(self) -> str:
        """Say it in a sentence."""
        if self.needed is None:
            return f"giving way in {self.requirement} alone does not help"
        told = f"{self.figure or self.requirement} of {self.needed} instead of {self.wanted} would do"
        return f"{told}{self.remark and f', {self.remark}'}: {self.name}"


def relaxations(everything: sweep.Field, found: Found, asked: Asked | None = None) -> list[Relaxation]:
    """Find, for each requirement alone, the smallest change with which something qualifies.

    With `asked`, something that a plan would offer: light, period and days are the least by the engine's year then.
    """
    alive = found.margin >= 0.0
    out = []
    for name, holds in found.met.items():
        if name == "link" and everything.requirements.link is None:
            continue
        rest = alive.copy()
        for other, flags in found.met.items():
            if other != name:
                rest &= flags
        at = at_true(rest)
        if not holds[at].any():  # else it does not bind
            out.append(_give_way(everything, name, everything.table.iloc[at]))
    whole = np.isfinite(found.margin)
    for flags in found.met.values():
        whole &= flags
    if not alive[at_true(whole)].any():
        out += _more_energy(everything, at_true(whole), asked)
    return out


def _outwards(value: float, up: bool) -> Decimal:
    """Round to some digits, away from what was wanted."""
    exact = Decimal(repr(float(value)))
    step = Decimal(1).scaleb(exact.adjusted() - DIGITS + 1)
    return exact.quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR)


def _cheapest(everything: sweep.Field) -> str | None:
    """Name the cheapest node that qualifies."""
    best: tuple[float, float, int, int] | None = None
    for i, judged in everything.judged():
        at = at_true(judged.all_met)
        if len(at):
            k = int(at[np.lexsort((-judged.margin[at], judged.cost[at]))[0]])
            here = (float(judged.cost[k]), -float(judged.margin[k]), i, k)
            best = here if best is None else min(best, here)
    if best is None:
        return None
    return name_of(dict(everything.table.iloc[best[3]]) | {"supply": everything.supplies[best[2]].name})


def _again(
    requirement: str,
    wish: str,
    value: float,
    up: bool,
    field_of: Callable[[float], sweep.Field],
    tell: Callable[[float], str],
    figure: str = "",
) -> Relaxation:
    """Plan again with a figure that gives way, rounded outwards; a few steps further if that was not enough."""
    rounded = _outwards(value, up)
    for _ in range(8):
        name = _cheapest(field_of(float(rounded)))
        if name is not None:
            return Relaxation(requirement, wish, tell(float(rounded)), name, figure)
        step = Decimal(1).scaleb(rounded.adjusted() - DIGITS + 1)
        rounded = rounded + step if up else rounded - step
    return Relaxation(requirement, wish, None, None, figure)


def _eased(everything: sweep.Field, **changes: Any) -> sweep.Field:
    """Return the same field under other requirements; what the supplies carry stays."""
    eased = replace(everything.requirements, **changes)
    return replace(everything, requirements=eased, table=sweep.loads(eased, everything.frame))


def _slower(everything: sweep.Field, factor: float) -> sweep.Field:
    """Stretch all periods by one factor; a latency that was the period follows it."""

    def slow(task: wishes.Task) -> wishes.Task:
        latency_s = task.latency_s * factor if task.latency_s == task.every_s else task.latency_s
        return replace(task, every_s=task.every_s * factor, asked_s=task.asked_s * factor, latency_s=latency_s)

    return _eased(everything, tasks=tuple(slow(t) for t in everything.requirements.tasks))


def _give_way(everything: sweep.Field, name: str, rest: pd.DataFrame) -> Relaxation:
    """Let a requirement that no supply changes give way until one of some loads, which fail it alone, meets it."""
    wanted = everything.requirements
    if name == "security":
        bits, most = wanted.security_bits, rest.security_bits.max()
        tell = "{:.0f} bits".format
        if rest.empty:
            return Relaxation(name, tell(bits), None, None)
        return _again(name, tell(bits), float(most), False, lambda v: _eased(everything, security_bits=int(v)), tell)
    if name == "latency":
        return _more_latency(everything, rest)
    if name == "link":
        return _shorter_link(everything, rest)
    if name == "duty":
        shortest_s = min(t.every_s for t in wanted.tasks)
        wish, figure = units.show(shortest_s, "s"), "period"
        if rest.empty:
            return Relaxation(name, wish, None, None, figure)
        return _again(
            name,
            wish,
            shortest_s * float(rest.busy.min()),
            True,
            lambda v: _slower(everything, v / shortest_s),
            lambda v: units.show(v, "s"),
            figure,
        )
    bound, column = (wanted.flash_bytes, "flash_bytes") if name == "flash" else (wanted.ram_bytes, "memory_bytes")
    wish = f"{bound:,} bytes"
    if rest.empty:
        return Relaxation(name, wish, None, None)
    least = int(rest[column].min())
    again = _cheapest(_eased(everything, **{"flash_bytes" if name == "flash" else "ram_bytes": least}))
    return Relaxation(name, wish, f"{least:,} bytes" if again else None, again)


def _more_latency(everything: sweep.Field, rest: pd.DataFrame) -> Relaxation:
    """Relax one task's latency, of several all of them by one factor."""
    wanted = everything.requirements
    alone = wanted.tasks[0].latency_s if len(wanted.tasks) == 1 else None
    wish = "what is allowed" if alone is None else units.show(alone, "s")
    if rest.empty:
        return Relaxation("latency", wish, None, None)

    def field_of(value: float) -> sweep.Field:
        factor = value if alone is None else value / alone
        return _eased(everything, tasks=tuple(replace(t, latency_s=t.latency_s * factor) for t in wanted.tasks))

    def tell(value: float) -> str:
        return f"{value:.4g} times" if alone is None else units.show(value, "s")

    least = float(rest.latency_share.min()) * (1.0 if alone is None else alone)
    return _again("latency", wish, least, True, field_of, tell)


def _shorter_link(everything: sweep.Field, rest: pd.DataFrame) -> Relaxation:
    """Come nearer, by the law of the path loss."""
    link = everything.requirements.link
    assert link is not None
    if link.distance_m is None:
        return Relaxation("link", f"{link.dbm} dBm", None, None)
    wish = units.show(link.distance_m, "m")
    lacking_db = float(rest.link_margin_db.max()) if len(rest) else -math.inf
    if not math.isfinite(lacking_db):
        return Relaxation("link", wish, None, None, "distance")
    return _again(
        "link",
        wish,
        link.distance_m * 10 ** (lacking_db / (10 * link.exponent)),
        False,
        lambda v: _eased(everything, link=replace(link, distance_m=v)),
        lambda v: units.show(v, "m"),
        "distance",
    )


def _least(holds: Callable[[float], bool], high: float, low: float = 1.0, to: float = 2e-4) -> float:
    """Bisect for the least factor that holds, to 0.02 %; `high` holds and `low` does not."""
    while high > low * (1.0 + to):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _more_energy(everything: sweep.Field, rest: Numbers, asked: Asked | None) -> list[Relaxation]:
    """Find what of light, days, lifetime or period would have to give way for the energy to suffice."""
    wanted = everything.requirements
    if len(rest) == 0:
        return [Relaxation("energy", "", None, None)]
    out = [_longer_period(everything, asked)]
    if wanted.lifetime_s is not None:
        out.append(_shorter_life(everything, rest))
    if everything.carried is not None:
        out += [_fewer_days(everything, rest, asked), _more_light(everything, asked)]
    return out


def _shorter_life(everything: sweep.Field, rest: Numbers) -> Relaxation:
    """Find the longest life of a battery."""
    wanted_s = everything.requirements.lifetime_s
    assert wanted_s is not None
    life_s = 0.0
    for i, judged in everything.judged():
        if i >= len(everything.harvested):
            life_s = max(life_s, float(np.where(judged.fits[rest], judged.had[rest], 0.0).max()))
    years, wish = lifetime.YEAR_S, f"{wanted_s / lifetime.YEAR_S:.3g} years"
    if life_s == 0.0:
        return Relaxation("lifetime", wish, None, None)
    return _again(
        "lifetime",
        wish,
        life_s / years,
        False,
        lambda v: _eased(everything, lifetime_s=v * years),
        lambda v: f"{v:.3g} years",
    )


# --- By the engine's year --------------------------------------------------------------------


def _narrowed(everything: sweep.Field) -> sweep.Field:
    """Leave out the supplies and operating points that no plan of this field would ask the engine's year of.

    Where less is allowed than here they are not asked either.
    """
    near = np.zeros(len(everything.table), dtype=bool)
    kept = []
    for i, judged in everything.judged():
        here = judged.all_but("energy") & (judged.margin >= (-FAR if i < len(everything.harvested) else 0.0))
        near |= here
        if here.any():
            kept.append(i)
    places = everything.table.loc[near, sweep.PLACE].drop_duplicates()
    frame = everything.frame.merge(places, on=sweep.PLACE)
    harvested = [i for i in kept if i < len(everything.harvested)]
    return replace(
        everything,
        table=sweep.loads(everything.requirements, frame) if len(frame) else everything.table[near],
        harvested=[everything.harvested[i] for i in harvested],
        batteries=[everything.batteries[i - len(everything.harvested)] for i in kept[len(harvested) :]],
        carried=everything.carried and everything.carried.only(harvested),
        frame=frame,
    )


def _rounded_up(value: float) -> float:
    return float(_outwards(value, True))


def _up_to_an_offer(
    value: float, below: float, field_of: Callable[[sweep.Field | None, float], sweep.Field], asked: Asked
) -> tuple[float, float, sweep.Field] | None:
    """Return the first value at which something is offered, the last at which nothing was, and what is offered."""
    field = field_of(None, value)
    for _ in range(40):
        if asked.any(field):
            return value, below, field
        below, value = value, _rounded_up(value * STEP)
        field = field_of(None, value)
    return None


def _shortest(
    hourly: float, wanted: float, field_of: Callable[[sweep.Field | None, float], sweep.Field], asked: Asked
) -> tuple[float, str] | None:
    """Return the shortest period of a scale in steps of one per cent, and what is offered then: all longer ones up to
    what the hourly year told do as well. The engine's year is not monotone in it, for rounds may fall due in the dark
    or at dawn.
    """
    if (begun := _up_to_an_offer(hourly, wanted, field_of, asked)) is None:
        return None
    value, _, field = begun
    some = _narrowed(field)
    while (less := _rounded_up(value / STEP)) > wanted and asked.any(shorter := field_of(some, less)):
        value, field = less, shorter
    name = asked.first(field)
    return None if name is None else (value, name)


def _dimmest(
    hourly: float, wanted: float, field_of: Callable[[sweep.Field | None, float], sweep.Field], asked: Asked
) -> tuple[float, str] | None:
    """Return the least light, to one per cent, and what is offered then."""
    if (begun := _up_to_an_offer(hourly, wanted, field_of, asked)) is None:
        return None
    value, wanted, field = begun
    some, factor = _narrowed(field), STEP
    fails = wanted
    while (less := _rounded_up(value / factor)) > wanted:
        if not asked.any(dimmer := field_of(some, less)):
            fails = less
            break
        value, field, factor = less, dimmer, factor**2
    # Half a step, for what is told is rounded.
    while value > fails * (1.0 + (STEP - 1.0) / 2):
        middle = _rounded_up(math.sqrt(value * fails))
        if middle >= value:
            break
        if asked.any(between := field_of(some, middle)):
            value, field = middle, between
        else:
            fails = middle
    name = asked.first(field)
    return None if name is None else (value, name)


# --- Period, days, light ---------------------------------------------------------------------


def _longer_period(everything: sweep.Field, asked: Asked | None) -> Relaxation:
    """Stretch all periods by one factor until something qualifies."""
    shortest_s = min(t.every_s for t in everything.requirements.tasks)
    wish = units.show(shortest_s, "s")

    def holds(factor: float) -> bool:
        return _cheapest(_slower(everything, factor)) is not None

    if not holds(PERIOD_MOST):
        return Relaxation("period", wish, None, None)
    least_s = shortest_s * _least(holds, PERIOD_MOST, to=STEP - 1.0 if asked else 2e-4)

    def tell(value: float) -> str:
        return units.show(value, "s")

    if asked is None:
        return _again("period", wish, least_s, True, lambda v: _slower(everything, v / shortest_s), tell)

    def field_of(some: sweep.Field | None, value: float) -> sweep.Field:
        return _slower(replace(some or everything, requirements=everything.requirements), value / shortest_s)

    found = _shortest(_rounded_up(least_s), shortest_s, field_of, asked)
    if found is None:
        return Relaxation("period", wish, None, None)
    return Relaxation("period", wish, tell(found[0]), found[1], remark="as would longer ones in steps of 1 %")


def _fewer_days(everything: sweep.Field, rest: Numbers, asked: Asked | None) -> Relaxation:
    """Find the largest share of days that anything survives."""
    wanted, carried = everything.requirements, everything.carried
    assert carried is not None
    near: list[tuple[float, int, int]] = []
    table = everything.table.iloc[rest]
    for i, one in enumerate(everything.harvested):
        fits = one.carries(table.vcc_v.to_numpy()) & (table.cell.to_numpy() == "")
        some = table[fits]
        if some.empty:
            continue
        needed = sweep.needed_w(one, some)
        lowest = sweep.lowest_j(wanted, one, some)
        # The least load, and the least gate: between them lies whatever is best.
        for at in {int(needed.argmin()), int(lowest.argmin())}:
            load_w = float(needed[at]) * (1.0 - FAR if asked else 1.0)
            near.append((carried.share(i, load_w, float(lowest[at])), i, int(rest[fits][at])))
    best = 0.0
    for hourly, i, at in sorted(near, reverse=True):
        if hourly <= best:
            break
        days = hourly
        if asked is not None:
            # To the nearest day.
            played = asked.years.share(everything, everything.harvested[i], everything.table.iloc[[at]])
            days = min(hourly, played + 0.5 / supply.DAYS)
        best = max(best, days)
    wish = f"{wanted.survive_share:.1%} of days"
    if best == 0.0:
        return Relaxation("survive", wish, None, None)

    chosen = sorted({i for hourly, i, _ in near if hourly >= best})
    harvested = [everything.harvested[i] for i in chosen]

    def field_of(share: float) -> sweep.Field:
        return replace(
            _eased(everything, survive_share=share),
            harvested=harvested,
            batteries=[],
            carried=supply.carried(harvested, everything.lights, share),
        )

    def tell(value: float) -> str:
        return f"{value:.1%} of days"

    if asked is None:
        return _again("survive", wish, best, False, field_of, tell)
    found = _most_days(best, wanted.survive_share, field_of, asked)
    return Relaxation("survive", wish, tell(found[0]) if found else None, found[1] if found else None)


def _most_days(
    guess: float, wanted: float, field_of: Callable[[float], sweep.Field], asked: Asked
) -> tuple[float, str] | None:
    """Return the largest share of days on the scale of what is printed near a guess, and what is offered then."""
    steps = math.floor(guess / DAY_STEP + 1e-9)
    field = field_of(steps * DAY_STEP)
    if asked.any(field):
        while (steps + 1) * DAY_STEP < wanted and asked.any(more := field_of((steps + 1) * DAY_STEP)):
            steps, field = steps + 1, more
    else:
        least = max(steps - 40, 0)
        while not asked.any(field := field_of(steps * DAY_STEP)):
            steps -= 1
            if steps <= least:
                return None
    name = asked.first(field)
    return None if name is None else (steps * DAY_STEP, name)


def _more_light(everything: sweep.Field, asked: Asked | None) -> Relaxation:
    """Find the least light with which something qualifies, and say it as the file does."""
    climate = everything.requirements.climate
    assert climate is not None

    def lit(factor: float, some: Sequence[supply.Harvested]) -> sweep.Field:
        lights = {panel: replace(one, power_w=one.power_w * factor) for panel, one in everything.lights.items()}
        carried = supply.carried(some, lights, everything.requirements.survive_share)
        return replace(everything, harvested=list(some), batteries=[], lights=lights, carried=carried)

    def holding(factor: float, some: Sequence[supply.Harvested]) -> list[supply.Harvested]:
        field = lit(factor, some)
        return [one for one, (_, judged) in zip(some, field.judged(), strict=True) if judged.all_met.any()]

    # By octaves, then within one among the supplies that hold at its end.
    factor, left = 2.0, holding(2.0, everything.harvested)
    while not left and factor < LIGHT_MOST:
        factor *= 2.0
        left = holding(factor, everything.harvested)
    if "constant_w" in climate:
        key, base, unit = "constant_w", float(climate["constant_w"]), "W"
    else:
        key, base, unit = "shading", float(climate.get("shading", 1.0)), ""
    wish = units.show(base, unit) if unit else f"{base:g}"
    if not left:
        return Relaxation("light", wish, None, None, key)
    least = _least(lambda f: bool(holding(f, left)), factor, factor / 2.0, STEP - 1.0 if asked else 2e-4)

    def brighter(some: sweep.Field | None, value: float) -> sweep.Field:
        eased = replace(everything.requirements, climate={**climate, key: value})
        lights = {panel: supply.light(eased, panel) for panel in everything.lights}
        return _under(some or everything, lights, requirements=eased)

    def scaled(some: sweep.Field | None, value: float) -> sweep.Field:
        lights = {panel: replace(one, power_w=one.power_w * value) for panel, one in everything.lights.items()}
        return _under(some or everything, lights)

    def tell(value: float) -> str:
        told = units.show(value, unit) if unit else f"{value:.4g}"
        return f"{told} times" if field_of is scaled else told

    field_of = brighter
    if key == "shading" and ("trace" in climate or "lux" in climate or base * least > 1.0):
        field_of, wish, base = scaled, "what the climate gives", 1.0
    if asked is None:
        return _again("light", wish, base * least, True, lambda v: field_of(None, v), tell, key)
    found = _dimmest(_rounded_up(base * least), base, field_of, asked)
    return Relaxation("light", wish, tell(found[0]) if found else None, found[1] if found else None, key)


def _under(some: sweep.Field, lights: dict[str, supply.Light], **changes: Any) -> sweep.Field:
    """Return a field in other light."""
    wanted = changes.get("requirements", some.requirements)
    carried = supply.carried(some.harvested, lights, wanted.survive_share) if some.harvested else None
    return replace(some, lights=lights, carried=carried, **changes)
