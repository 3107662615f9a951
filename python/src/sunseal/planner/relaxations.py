# SPDX-License-Identifier: MIT OR Apache-2.0
"""What would have to give way where nothing meets the requirements: each of them alone, by the least that helps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sunseal import units
from sunseal.planner import lifetime, sweep
from sunseal.planner import plan_requirements as wishes
from sunseal.planner import plan_supplies as supply

if TYPE_CHECKING:
    from sunseal.planner.plan import Found

Numbers = npt.NDArray[np.int64]
LIGHT_MOST = 1024.0
PERIOD_MOST = 1e4
"""The largest factors of light and period that a relaxation tries."""
DIGITS = 4
"""Of the figure of a relaxation."""


def factor(margin: float) -> str:
    """Write a relative margin: per cent, and from ten times of what is needed on as a factor."""
    if math.isinf(margin):
        return "without limit" if margin > 0 else "none"
    if margin < 9:
        return f"{margin:+.0%}"
    return f"x {margin + 1:.3g}" if margin < 999 else f"x {margin + 1:,.0f}"


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


@dataclass(frozen=True)
class Relaxation:
    """How far one requirement alone would have to give way for something to qualify."""

    requirement: str
    wanted: str
    needed: str | None
    """The least that helps, rounded outwards and planned again; None: no value of it helps."""
    name: str | None
    """The cheapest node then."""
    figure: str = ""
    """What the file calls it, where that is another word."""

    @property
    def sentence(self) -> str:
        """Say it."""
        if self.needed is None:
            return f"giving way in {self.requirement} alone does not help"
        return f"{self.figure or self.requirement} of {self.needed} instead of {self.wanted} would do: {self.name}"


def relaxations(everything: sweep.Field, found: Found) -> list[Relaxation]:
    """Find, for each requirement alone, the smallest change with which something qualifies."""
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
        out += _more_energy(everything, at_true(whole))
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
    """Of one task its latency, of several all of them by one factor."""
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


def _least(holds: Callable[[float], bool], high: float, low: float = 1.0) -> float:
    """Bisect for the least factor that holds, to 0.02 %; `high` holds and `low` does not."""
    while high > low * 1.0002:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _more_energy(everything: sweep.Field, rest: Numbers) -> list[Relaxation]:
    """Find what of light, days, lifetime or period would have to give way for the energy to suffice."""
    wanted = everything.requirements
    if len(rest) == 0:
        return [Relaxation("energy", "", None, None)]
    out = [_longer_period(everything)]
    if wanted.lifetime_s is not None:
        life_s = 0.0
        for i, judged in everything.judged():
            if i >= len(everything.harvested):
                life_s = max(life_s, float(np.where(judged.fits[rest], judged.had[rest], 0.0).max()))
        years, wish = lifetime.YEAR_S, f"{wanted.lifetime_s / lifetime.YEAR_S:.3g} years"
        if life_s > 0:
            out.append(
                _again(
                    "lifetime",
                    wish,
                    life_s / years,
                    False,
                    lambda v: _eased(everything, lifetime_s=v * years),
                    lambda v: f"{v:.3g} years",
                )
            )
        else:
            out.append(Relaxation("lifetime", wish, None, None))
    if everything.carried is not None:
        out += [_fewer_days(everything, rest), _more_light(everything)]
    return out


def _longer_period(everything: sweep.Field) -> Relaxation:
    """Stretch all periods by one factor until something qualifies."""
    shortest_s = min(t.every_s for t in everything.requirements.tasks)
    wish = units.show(shortest_s, "s")

    def holds(factor: float) -> bool:
        return _cheapest(_slower(everything, factor)) is not None

    if not holds(PERIOD_MOST):
        return Relaxation("period", wish, None, None)
    least_s = shortest_s * _least(holds, PERIOD_MOST)
    return _again(
        "period", wish, least_s, True, lambda v: _slower(everything, v / shortest_s), lambda v: units.show(v, "s")
    )


def _fewer_days(everything: sweep.Field, rest: Numbers) -> Relaxation:
    """Find the largest share of days that anything survives."""
    wanted, carried = everything.requirements, everything.carried
    assert carried is not None
    best = 0.0
    table = everything.table.iloc[rest]
    for i, one in enumerate(everything.harvested):
        fits = one.carries(table.vcc_v.to_numpy()) & (table.cell.to_numpy() == "")
        some = table[fits]
        if some.empty:
            continue
        needed = sweep.needed_w(one, some)
        gates = sweep.gate_j(one, some)
        # The least load, and the least gate: between them lies whatever is best.
        for at in {int(needed.argmin()), int(gates.argmin())}:
            best = max(best, carried.share(i, float(needed[at]), float(gates[at])))
    wish = f"{wanted.survive_share:.1%} of days"
    if best == 0.0:
        return Relaxation("survive", wish, None, None)

    def field_of(share: float) -> sweep.Field:
        return replace(
            _eased(everything, survive_share=share),
            carried=supply.carried(everything.harvested, everything.lights, share),
        )

    return _again("survive", wish, best, False, field_of, lambda v: f"{v:.1%} of days")


def _more_light(everything: sweep.Field) -> Relaxation:
    """Find the least light with which something qualifies, and say it as the file does."""
    climate = everything.requirements.climate
    assert climate is not None

    def lit(factor: float, some: Sequence[supply.Harvested]) -> sweep.Field:
        corners = [supply.Corner(light=factor)] * len(some)
        carried = supply.carried(some, everything.lights, everything.requirements.survive_share, corners)
        return replace(everything, harvested=list(some), batteries=[], carried=carried)

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
    least = _least(lambda f: bool(holding(f, left)), factor, factor / 2.0)
    if key == "shading" and ("trace" in climate or base * least > 1.0):
        return _again(
            "light", "what the climate gives", least, True, lambda v: lit(v, left), lambda v: f"{v:.4g} times"
        )

    def field_of(value: float) -> sweep.Field:
        eased = replace(everything.requirements, climate={**climate, key: value})
        lights = {panel: supply.light(eased, panel) for panel in everything.lights}
        carried = supply.carried(everything.harvested, lights, eased.survive_share)
        return replace(everything, requirements=eased, lights=lights, carried=carried)

    def tell(value: float) -> str:
        return units.show(value, unit) if unit else f"{value:.4g}"

    return _again("light", wish, base * least, True, field_of, tell, key)


# --- Sources ---------------------------------------------------------------------------------
