# SPDX-License-Identifier: MIT OR Apache-2.0
"""Secrets that traces of an operation give away, as a page and as a picture."""

from __future__ import annotations

import numpy as np

from sunseal.report import charts, plots
from sunseal.report.page import Page, table
from sunseal.secure.attacking import Guessed
from sunseal.secure.leakage import KINDS, Leakage, Phase

COLORS = {"whole": plots.BAD, "production": plots.SUN, "coupon": plots.STORE}
TEST_COLORS = {"key": plots.BAD, "message": plots.STORE}
POINTS = 600
"""Points of a line over cycles: each is the greatest of its stretch."""


def chart(found: Leakage) -> charts.Chart:
    """Draw the share of a key's parts that an attack has right, over traces."""
    lines = []
    for phase in found.phases:
        parts = phase.attack.parts
        counts = sorted({point[0] for part in parts for point in part.curve})
        shares = [
            sum(part.disclosed_at is not None and part.disclosed_at <= n for part in parts) / len(parts) for n in counts
        ]
        lines.append(charts.Trace(phase.title, counts, shares, COLORS[phase.name], size=5))
    return charts.Chart(
        charts.Axis("traces", log=True),
        charts.Axis("share of what is guessed that is right", zero=True),
        lines,
        title=f"{KINDS[found.kind]} on {found.board}",
        caption="; ".join(
            f"{line.name}: {line.y[-1] or 0.0:.0%} right after {line.x[-1]:,.0f} traces" for line in lines if line.x
        ),
    )


def over_cycles(phase: Phase) -> charts.Chart:
    """Draw |t| over the cycles of a trace."""
    lines = []
    for test in phase.tests:
        edges = np.linspace(0, len(test.t), min(POINTS, len(test.t)), endpoint=False).astype(int)
        heights = np.maximum.reduceat(np.abs(test.t), edges)
        color = TEST_COLORS[test.of]
        name = f"fixed {test.of} against random ones"
        lines.append(charts.Trace(name, edges.tolist(), heights.tolist(), color, look="lines"))
    return charts.Chart(
        charts.Axis("cycle"),
        charts.Axis("|t|", zero=True),
        lines,
        y_lines={"by chance": phase.tests[0].threshold},
        height=320,
        caption="; ".join(
            f"{test.of}: |t| up to {np.abs(test.t).max():.3g}, by chance {test.threshold:.3g}" for test in phase.tests
        ),
    )


def hardest(phase: Phase) -> Guessed:
    """Return the part of the key that took most traces, or the first that was not found."""
    parts = phase.attack.parts
    lost = [part for part in parts if part.disclosed_at is None]
    return lost[0] if lost else max(parts, key=lambda part: part.disclosed_at or 0)


def over_traces(phase: Phase) -> charts.Chart:
    """Draw the correlation of the right guess and of the best other one over traces, for the hardest part."""
    part = hardest(phase)
    counts = [point[0] for point in part.curve]
    return charts.Chart(
        charts.Axis("traces", log=True),
        charts.Axis("correlation", zero=True),
        [
            charts.Trace("the right guess", counts, [p[1] for p in part.curve], COLORS[phase.name], look="lines"),
            charts.Trace("the best other one", counts, [p[2] for p in part.curve], plots.GREY, look="lines", dash=True),
        ],
        title=part.name,
        height=320,
        caption=f"{part.name}: "
        + ("not found" if part.disclosed_at is None else f"found after {part.disclosed_at:,} traces"),
    )


def page(found: Leakage) -> str:
    """Write the answer as a page of its own."""
    asked = found.asked
    made = Page("What coupons leave to side channels", f"{found.sentence}.")
    made.section(
        KINDS[found.kind],
        f"{found.board}; {asked.traces:,} simulated traces a question, {asked.noise:g} switched bits of noise on each "
        f"sample, seed {asked.seed}.",
        table(("when", "asked", "answer"), found.rows),
        made.chart(chart(found)),
    )
    for phase in found.phases:
        made.section(
            phase.title[0].upper() + phase.title[1:],
            "Welch's t of each cycle, and the correlation of the part of the key that was hardest to find.",
            made.chart(over_cycles(phase)),
            made.chart(over_traces(phase)),
        )
    made.ledger(found.cite(), *(("", "", remark) for remark in found.remarks))
    return made.render()
