# SPDX-License-Identifier: MIT OR Apache-2.0
"""Figures and pages of `sunseal coupon rate` and `coupon recovery`."""

from __future__ import annotations

from typing import Any

from sunseal.catalog.units import show
from sunseal.papers.coupon_rate import HARVESTER, KINDS, TITLES, Rates, supply
from sunseal.papers.coupon_recovery import First, Recoveries
from sunseal.report import charts, plots
from sunseal.report.page import Page, right, table


def rates_chart(found: Rates) -> charts.Chart:
    """Draw rates over power, the formula dashed."""
    colors = {"none": plots.BAD, "store": plots.GOOD, "endless": plots.STORE}
    traces = []
    for kind in KINDS:
        mine = [p for p in found.points if p.kind == kind]
        x = [p.harvested_w for p in mine]
        told = [f"{p.operations} in {p.time_s:.4g} s, {p.brown_outs} brown-outs" for p in mine]
        traces.append(
            charts.Trace(TITLES[kind], x, [p.rate_hz or None for p in mine], colors[kind], "markers", text=told)
        )
        traces.append(
            charts.Trace(f"{TITLES[kind]}, formula", x, [p.formula_hz for p in mine], colors[kind], "lines", dash=True)
        )
    lines = {f"E/D, {TITLES[kind]}": at for kind, at in found.inflection_w.items()}
    return charts.Chart(
        charts.Axis("harvested power", "W", log=True),
        charts.Axis("signatures per second", "Hz", log=True),
        traces,
        title=f"ECDSA P-256 on {found.board}, {found.freq_hz / 1e6:g} MHz",
        x_lines=lines,
        caption=_gain(found),
    )


def _gain(found: Rates) -> str:
    """Say how many times as often a node signs with coupons as without, in the scarcest light."""
    scarce = min(p.harvested_w for p in found.points)
    rate = {p.kind: p.rate_hz for p in found.points if p.harvested_w == scarce}
    told = [
        f"{TITLES[kind]} {rate[kind] / rate['none']:.3g} times" for kind in KINDS if kind != "none" and rate.get("none")
    ]
    return f"At {show(scarce, 'W', 3)}, of the rate without coupons: {', '.join(told)}" if told else ""


def rates_page(found: Rates) -> str:
    """Write figure and table as a page of their own."""
    made = Page(
        "Signatures per second over harvested power",
        f"ECDSA P-256 on {found.board} at {found.freq_hz / 1e6:g} MHz and {found.vcc_v:g} V, "
        f"priced by {found.power_set}; behind {HARVESTER}.",
    )
    rows = [
        (show(p.harvested_w, "W"), TITLES[p.kind], right(f"{p.rate_hz:.4g}"), right(f"{p.formula_hz:.4g}"))
        for p in found.points
    ]
    made.section(
        "From the closed loop",
        "Marks are played: whole charges of a capacitor, or a stretch without any brown-out. Dashed is the formula of "
        "Suslowicz 2017, figure 4: an operation every E/P, and no faster than one every D. The difference is what a "
        "restart takes, the operation that the cut-off ends, and what the harvester draws while the node is off.",
        made.chart(rates_chart(found)),
        table(("harvested", "coupons", "1/s", "formula, 1/s"), rows),
    )
    return made.render()


def recovery_chart(found: Recoveries) -> charts.Chart:
    """Draw the time to the first answer over the store; a node that never answers has no mark."""
    x = [r.capacitance_f for r in found.recoveries]
    traces = [charts.Trace("output on", x, [r.on_s for r in found.recoveries], plots.MUTED, "lines", dash=True)]
    kinds = (("coupons left", "coupons", plots.GOOD), ("no coupon left", "none", plots.BAD))
    for title, kind, color in kinds:
        first: list[First | None] = [getattr(r, kind) for r in found.recoveries]
        said = ["" if f is None else f"{show(f.load_j, 'J')} at the rail" for f in first]
        mark = "circle" if kind == "coupons" else "circle-open"
        traces.append(
            charts.Trace(
                title, x, [None if f is None else f.time_s for f in first], color, "markers", mark, 9, text=said
            )
        )
    never = [r.capacitance_f for r in found.recoveries if r.none is None]
    return charts.Chart(
        charts.Axis("store", "F", log=True),
        charts.Axis("first answer after the light", "s", log=True),
        traces,
        title=f"ECDSA P-256 on {found.board} behind {show(found.harvested_w, 'W', 3)} of light",
        x_lines={"never without coupons, up to here": max(never)} if never else {},
        caption=f"Without coupons a store of {show(max(never), 'F', 3)} or less never answers"
        if never
        else "Every store answers, with coupons and without",
    )


def recovery_joules(found: Recoveries) -> charts.Chart:
    """Draw what the first answer takes at the rail, over the store."""
    x = [r.capacitance_f for r in found.recoveries]
    traces = [
        charts.Trace(title, x, [None if f is None else f.load_j for f in first], color)
        for title, first, color in (
            ("coupons left", [r.coupons for r in found.recoveries], plots.GOOD),
            ("no coupon left", [r.none for r in found.recoveries], plots.BAD),
        )
    ]
    return charts.Chart(
        charts.Axis("store", "F", log=True),
        charts.Axis("drawn until the first answer", "J", log=True),
        traces,
        caption="What the first answer takes at the rail",
    )


def recovery_course(found: Recoveries) -> charts.Chart:
    """Draw the voltage of the smallest store that a whole signature is too much for."""
    colors = (plots.GOOD, plots.BAD)
    store = supply()
    return charts.Chart(
        charts.Axis("time", "s"),
        charts.Axis("store", "V"),
        [
            charts.Trace(name, times_s, volts_v, color, "lines")
            for (name, times_s, volts_v), color in zip(found.courses, colors, strict=True)
        ],
        y_lines={"output on": store.v_on_v, "cut-off": store.v_cut_v},
        caption="The smallest store that a whole signature is too much for",
    )


def recoveries_page(found: Recoveries) -> str:
    """Write figures and table as a page of their own."""
    made = Page(
        "Recovery from a denial of service",
        f"ECDSA P-256 on {found.board} at {found.freq_hz / 1e6:g} MHz and {found.vcc_v:g} V, priced by "
        f"{found.power_set}; behind {HARVESTER}, {show(found.harvested_w, 'W', 3)} of light on a store "
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
        made.chart(recovery_chart(found)),
        made.chart(recovery_joules(found)),
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
        made.section(
            "The store meanwhile", "Up to the first answer, or until none comes.", made.chart(recovery_course(found))
        )
    return made.render()
