# SPDX-License-Identifier: MIT OR Apache-2.0
"""Break-even of coupons, as a page and as a picture."""

from __future__ import annotations

from sunseal.catalog.units import show
from sunseal.planner.breakeven import AXES, BreakEven, Edges, Outcome, rows
from sunseal.report import charts, plots
from sunseal.report.page import Page, right, table


def chart(found: BreakEven, edges: Edges | None = None) -> charts.Chart:
    """Draw the share of answers in time with coupons and without along an axis; without `edges`, the first."""
    edges = edges or found.edges[0]
    axis = next(a for a in AXES if a.name == edges.axis)
    x = [p.value for p in edges.points]
    traces = []
    for name, color, of in (
        (f"{found.question.slots} slots" if axis.name != "slots" else "coupons", plots.STORE, "with_coupons"),
        ("no coupons", plots.BAD, "without"),
    ):
        outcomes: list[Outcome] = [getattr(p, of) for p in edges.points]
        told = [f"{o.in_time:,} of {o.asked:,}; {show(o.thrown_away_j, 'J', 3)} thrown away" for o in outcomes]
        traces.append(charts.Trace(name, x, [o.in_time / max(o.asked, 1) for o in outcomes], color, text=told))
    ends = {"pays from": edges.pays_from, "pays to": edges.pays_to}
    return charts.Chart(
        charts.Axis(axis.title, axis.unit if axis.unit in ("W", "J") else "", log=True),
        charts.Axis("share of answers in time", zero=True),
        traces,
        title=f"{found.question.costs.kind} on {found.question.costs.board}",
        x_lines={name: at for name, at in ends.items() if at is not None},
        caption=edges.sentence,
    )


def page(found: BreakEven) -> str:
    """Write the answer as a page of its own."""
    q, costs = found.question, found.question.costs
    made = Page("Whether coupons pay", f"{found.sentence}.")
    made.section(
        f"{q.days} days with coupons and without",
        f"{q.demand:,.4g} answers a day, {show(q.mean_light_w, 'W', 3)} offered by the panel on average, "
        f"{q.slots} slots of {costs.slot_bytes} bytes; played by the fleet's engine.",
        table(("", "with coupons", "without"), [(a, right(b), right(c)) for a, b, c in rows(found)]),
    )
    for edges in found.edges:
        made.section(f"Over the {edges.axis}", "Played at each mark.", made.chart(chart(found, edges)))
    priced = {"whole": costs.whole, f"made ahead ({costs.kind})": costs.make, "from a coupon": costs.use}
    priced |= {name: c for name, c in (("of that, the guard", costs.guard), ("writing the slot", costs.write)) if c}
    made.section(
        "What it costs",
        f"At {costs.freq_hz / 1e6:.3g} MHz and {costs.vcc_v:g} V, priced by {costs.power_set}.",
        table(
            ("", "cycles", "time", "energy"),
            [(n, c.cycles, right(show(c.time_s, "s")), right(show(c.energy_j, "J"))) for n, c in priced.items()],
        ),
    )
    made.ledger(found.cite(), *(("", "", remark) for remark in found.remarks))
    return made.render()
