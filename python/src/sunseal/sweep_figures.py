# SPDX-License-Identifier: MIT OR Apache-2.0
"""Figures of one point of a sweep: a flat row in SI base units, unit last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sunseal.loop.simulation import Played
    from sunseal.planner.plan import Planned

Row = dict[str, Any]
_UNIT = re.compile(r"(.+)_(j|s|w|v)")


def _flat(told: Mapping[str, Any], head: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the plain values below a table, the names joined; lists are left out."""
    for key, value in told.items():
        name = f"{head}_{key}" if head else key
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        elif value is None or isinstance(value, bool | int | float | str):
            yield name, value


def _each(told: Mapping[str, float], name: str) -> Row:
    """Name the entries of `by_component_j` and its like: `by_component_cpu_j`."""
    match = _UNIT.fullmatch(name)
    stem, unit = (match[1], f"_{match[2]}") if match else (name, "")
    return {f"{stem}_{re.sub(r'[^A-Za-z0-9]+', '_', key)}{unit}": value for key, value in told.items()}


def of_played(played: Played) -> Row:
    """Return the figures of a scenario's run: those of `Played.closing()`, and the ends of the store's voltage."""
    closing, record = played.closing(), played.record
    energy = dict(closing.pop("energy"))
    messages, load, coupons = closing.pop("messages"), closing.pop("load", None), closing.pop("coupons", None)
    low_light = closing.pop("low_light", None)
    for name in ("scenario", "functions", "window"):
        closing.pop(name, None)
    by_component, by_state = energy.pop("by_component_j"), energy.pop("by_state_j")
    del energy["lost_by_j"]
    series = record["series"]
    sums = record["energy"]["supply"]
    row: Row = {
        **closing,
        "vcap_min_v": min(p["vcap_min_v"] for p in series),
        "vcap_end_v": series[-1]["vcap_v"],
        **({"operations": record["operations"]} if "operations" in record else {}),
        **_each(record.get("time_by_doing_s", {}), "time_s"),
        **energy,
        **_each({key.removesuffix("_j"): sums[key] for key in _losses()}, "lost_j"),
        **_each(by_component, "by_component_j"),
        **_each(by_state, "by_state_j"),
        **dict(_flat(messages, "messages")),
        **dict(_flat(load or {}, "load")),
        **dict(_flat(coupons or {}, "coupons")),
    }
    if low_light is not None:
        row["low_light_darkest"], row["low_light_brightest"] = low_light
    row["remark"] = played.never_ran() or ""
    return row


def _losses() -> tuple[str, ...]:
    from sunseal.loop.simulation import LOSSES

    return tuple(LOSSES)


def of_planned(planned: Planned) -> Row:
    """Return the figures of a plan's cheapest configuration; where nothing qualifies, the remark says so."""
    row: Row = {"considered": planned.considered, "qualifying": planned.qualifying}
    best = planned.best
    if best is None:
        return {**row, "remark": "; ".join(("nothing meets the requirements", *planned.relaxations))}
    row |= {"name": best.name, "cost": best.cost, **dict(_flat(best.row))}
    for margin in best.margins:
        unit = f"_{margin.unit.lower()}" if margin.unit else ""
        for end, value in (("", margin.value), ("_low", margin.low), ("_high", margin.high)):
            row[f"margin_{margin.requirement}{end}{unit}"] = value
    row |= dict(_flat(best.year or {}, "year"))
    return {**row, "remark": f"unsure: {', '.join(best.unsure)}" if best.unsure else ""}
