# SPDX-License-Identifier: MIT OR Apache-2.0
"""The report of `sunseal reproduce`: every table and figure of the papers beside ours, drawn."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from sunseal.catalog import citing
from sunseal.catalog.units import show
from sunseal.measurement import measuring
from sunseal.papers import cells, evidence, published
from sunseal.papers.published import Reproduction, Row
from sunseal.report import plots
from sunseal.report.charts import Axis, Bars, Chart, Trace, curve
from sunseal.report.page import Cell, Page, right, table
from sunseal.report.pieces import part

STYLE = {
    published.BEATEN: ("good", plots.GOOD),
    published.EASIER: ("mild", plots.SUN),
    published.MORE: ("mild", plots.SUN),
    published.AGREES: ("good", plots.STORE),
    published.DIFFERS: ("mild", plots.SUN),
    published.MISPRINT: ("mild", plots.NODE),
    published.NOT_PRINTED: ("mild", plots.MUTED),
    published.NOT_MET: ("bad", plots.BAD),
    published.NOT_COMPUTED: ("bad", plots.INK),
    published.NO_TOOLS: ("mild", plots.MUTED),
}
"""Styles of a verdict in a table and in a picture."""
BARS_MAX = 14
"""Above so many rows a table is drawn as points."""
LABEL_MAX = 56


def tables(reproductions: Iterable[Reproduction]) -> Markup:
    """Write published figures beside ours."""
    return Markup().join(_table(r, f"{r.id}: {r.title}") for r in reproductions)


def _table(r: Reproduction, caption: str) -> Markup:
    rows: list[Sequence[Cell]] = []
    for row in r.rows:
        rows.append(
            (
                row.label,
                part("printed", row.show(row.published), row.printed),
                right(row.show(row.ours)),
                right(f"{row.ratio:.3f}" if row.ratio is not None else ""),
                part("strong", row.verdict, STYLE[row.verdict][0]),
                row.class_name,
                part("small", row.note) if row.note else "",
            )
        )
    head = ("", "published", "ours", "ratio", "verdict", "class", "note")
    return table(head, rows, caption) + part("note", r.source)


def as_printed(r: Reproduction) -> Markup | None:
    """Lay a table out as the paper prints it: each figure with ours below, or the reason why there is none."""
    layout = next((p for p in cells.printed() if p.id == r.id), None)
    if layout is None:
        return None
    laid = cells.laid_out(layout, r.raw["row"], r.rows)
    lines = [(head, *(part("above", beside.text, beside.shown) for beside in line)) for head, line in laid]
    why = [layout.reason] * bool(layout.reason) + [
        f"{heads}: {reason}" for heads, reason in cells.reasons(layout, laid)
    ]
    told = Markup().join(part("note", sentence) for sentence in why)
    return part("fold", "As printed, with ours below each figure", told + table(layout.columns, lines))


# --- Pictures --------------------------------------------------------------------------------


def charts_of(r: Reproduction) -> list[Chart]:
    """Draw a table: a figure as the paper has it, anything else as ours over published."""
    if any(_kind(r, raw) == "metered" for raw in r.raw["row"]):
        return [_meter(r)]
    if "figure" not in r.id:
        compared = _compared(r.rows)
        return [ratios(compared) if len(compared) <= BARS_MAX else scatter(compared)] if compared else []
    drawn = [_curves(r)] if any(_kind(r, raw) == "curve" for raw in r.raw["row"]) else []
    units = dict.fromkeys(row.unit for row in r.rows)
    return drawn + [values(rows) for unit in units if unit != "Hz" and len(rows := _of(r, unit)) > 1]


def _of(r: Reproduction, unit: str) -> list[Row]:
    return [row for row in r.rows if row.unit == unit]


def _kind(r: Reproduction, raw: dict[str, Any]) -> str:
    return str(raw.get("kind", r.raw["kind"]))


def _compared(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.ratio is not None and row.ratio > 0 and row.ours]


def _labels(rows: Sequence[Row]) -> list[str]:
    """Shorten labels, and tell apart those that are the same."""
    short = [r.label if len(r.label) <= LABEL_MAX else r.label[: LABEL_MAX - 1] + "…" for r in rows]
    seen: Counter[str] = Counter()
    found = []
    for label in short:
        seen[label] += 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return found


def ratios(rows: Sequence[Row]) -> Chart:
    """Draw ours over published as bars from 1, coloured by verdict."""
    labels = _labels(rows)
    bars = []
    for verdict, (_, color) in STYLE.items():
        of = [(label, row.ratio) for label, row in zip(labels, rows, strict=True) if row.verdict == verdict]
        told = [(label, ratio) for label, ratio in of if ratio is not None]
        if told:
            names = [label for label, _ in told]
            bars.append(Bars(verdict, names, [ratio - 1 for _, ratio in told], color, start=[1.0] * len(told)))
    height = 110 + 24 * len(labels)
    return Chart(
        Axis("ours over published"),
        Axis(""),
        bars=bars,
        order=labels,
        x_lines={"": 1.0},
        height=height,
        caption=_near(rows),
    )


def _near(rows: Sequence[Row]) -> str:
    """Say how many figures of ours lie within a tenth of the published."""
    near = sum(row.ratio is not None and abs(row.ratio - 1) <= 0.1 for row in rows)
    return f"{near:,} of {len(rows):,} figures of ours are within 10 % of what is printed"


def scatter(rows: Sequence[Row]) -> Chart:
    """Draw ours over published against the published, each in its own unit."""
    traces = []
    for verdict, (_, color) in STYLE.items():
        of = [row for row in rows if row.verdict == verdict and row.published]
        if of:
            text = [f"{row.label}: {row.show(row.published)}, ours {row.show(row.ours)}" for row in of]
            x, y = [row.published for row in of], [row.ratio for row in of]
            traces.append(Trace(verdict, x, y, color, "markers", size=7, text=text))
    return Chart(
        Axis("published, in the figure's unit", log=True),
        Axis("ours over published", log=True),
        traces,
        y_lines={"the same": 1.0},
        height=440,
        caption=_near(rows),
    )


def values(rows: Sequence[Row]) -> Chart:
    """Draw the values of a figure, ours beside the published where there is one."""
    unit = rows[0].unit
    told, ours, printed = [], [], []
    for label, row in zip(_labels(rows), rows, strict=True):
        if row.published is not None:
            told.append(f"{label}, published")
            printed.append((told[-1], row.published))
        if row.ours is not None:
            told.append(label)
            ours.append((label, row.ours))
    bars = [
        Bars(name, [label for label, _ in pairs], [value for _, value in pairs], color)
        for name, pairs, color in (("published", printed, plots.SUN), ("ours", ours, plots.STORE))
        if pairs
    ]
    axis = Axis("", unit, zero=True) if unit in ("J", "s", "W", "V", "Hz") else Axis(unit or "number", zero=True)
    return Chart(
        axis,
        Axis(""),
        bars=bars,
        order=told,
        height=110 + 24 * len(told),
        caption=_near(both) if (both := _compared(rows)) else "",
    )


def _curves(r: Reproduction) -> Chart:
    """Draw a figure's curves by our firmware, and where the paper and we read off them."""
    pairs = [(raw, row) for raw, row in zip(r.raw["row"], r.rows, strict=True) if _kind(r, raw) == "curve"]
    first = pairs[0][0]
    power = first.get("power_set", r.raw["power_set"])
    points = measuring.curve(
        first["workload"],
        board=r.board,
        variant=first.get("variant", ()),
        power=power,
        voltages_v=sorted({raw["vcc_v"] for raw, _ in pairs}),
    )
    drawn = curve(points, f"{first['workload']} {' '.join(first.get('variant', ()))}, {power}")
    marks = []
    for cycles in dict.fromkeys(raw["cycles"] for raw, _ in pairs if "cycles" in raw):
        for t in drawn.traces:
            y = [None if v is None else v * cycles / points[0]["cycles"] for v in t.y]
            marks.append(replace(t, name=f"{t.name}, {cycles:,} cycles", y=y, look="lines", dash=True))
    for name, color, mark in (("published", plots.BAD, "x"), ("ours", plots.INK, "circle-open")):
        at = [
            (hz, _energy_at(points, raw, hz), f"{row.label}: {show(hz, 'Hz')}")
            for raw, row in pairs
            if (hz := row.published if name == "published" else row.ours) is not None
        ]
        x, y, text = [a[0] for a in at], [a[1] for a in at], [a[2] for a in at]
        marks.append(Trace(name, x, y, color, "markers", mark=mark, size=11, text=text))
    return Chart(drawn.x, drawn.y, [*drawn.traces, *marks], title=drawn.title, bands=drawn.bands, height=460)


def _meter(r: Reproduction) -> Chart:
    """Draw what an operation takes over the clock, and what the thesis's measurement unit reads of it."""
    raw = next(raw for raw in r.raw["row"] if _kind(r, raw) == "metered")
    power = str(raw.get("power_set", r.raw["power_set"]))
    found = published.metered(raw["workload"], tuple(raw["variant"]), power, r.board, raw["vcc_v"])
    traces = []
    for name, color, i in (("taken by the chip", plots.STORE, 0), ("read by the thesis's meter", plots.BAD, 1)):
        y = [raw["cycles"] * reading[i] / reading[2] for reading in found.values()]
        traces.append(Trace(name, list(found), y, color, "lines+markers"))
    title = "The meter clips at 5 mA: the highest clock is cheapest to it, not to the chip"
    return Chart(Axis("clock", "Hz"), Axis("energy of a signature", "J", zero=True), traces, title=title, height=420)


def _energy_at(points: Sequence[dict[str, Any]], raw: dict[str, Any], hz: float) -> float:
    """Read a curve at a clock, or a reading at the paper's own cycles."""
    nearest = min((p for p in points if p["vcc_v"] == raw["vcc_v"]), key=lambda p: abs(p["freq_hz"] - hz))
    return float(nearest["energy_j"] * raw.get("cycles", nearest["cycles"]) / nearest["cycles"])


def main(reproductions: Sequence[Reproduction]) -> Chart:
    """Choose the figure that says most: of one table its own, of all of them their ratios."""
    if len(reproductions) == 1 and (drawn := charts_of(reproductions[0])):
        return drawn[0]
    return scatter(_compared([row for r in reproductions for row in r.rows]))


# --- The page --------------------------------------------------------------------------------


def page(reproductions: Sequence[Reproduction]) -> str:
    """Write the report of one table or of all."""
    rows = [row for r in reproductions for row in r.rows]
    told = Page(
        reproductions[0].title if len(reproductions) == 1 else "The papers' tables and figures beside ours",
        f"{len(rows):,} figures of {len(reproductions)} table{'s' * (len(reproductions) > 1)}: what is printed, what "
        "our firmware and models give, the ratio, a verdict, and what an agreement is worth.",
    )
    kinds = Counter(row.kind for row in rows)
    told.cards = [(name.replace("_", " "), f"{kinds[name]:,}") for name in evidence.CLASSES if kinds[name]]
    _classes(told, reproductions)
    if len(reproductions) > 1:
        _overview(told, reproductions)
    for paper, of in itertools.groupby(reproductions, key=lambda r: r.id.partition("/")[0]):
        for r in of:
            drawn = [told.chart(chart) for chart in charts_of(r)]
            laid = [found] if (found := as_printed(r)) is not None else []
            told.section(f"{paper} {r.id.partition('/')[2]}", r.title, *drawn, *laid, _table(r, ""))
    told.ledger(sum((r.cite() for r in reproductions), citing.NOTHING))
    return told.render()


def _classes(told: Page, reproductions: Sequence[Reproduction]) -> None:
    rows: list[Sequence[Cell]] = []
    runs, found = published.runs(reproductions), published.counts(reproductions)
    verdicts = [v for v in STYLE if any(of[v] for of in found.values())]
    for name, of in found.items():
        by_verdict = (right(f"{of[v]:,}" if of[v] else "") for v in verdicts)
        rows.append((name.replace("_", " "), *by_verdict, right(f"{runs[name]:,}"), evidence.CLASSES[name]))
    papers = dict.fromkeys((r.id.partition("/")[0], r.confirmed) for r in reproductions)
    told.section(
        "What is confirmed",
        "Only rows of the first class speak of the world: the others agree by the paper's arithmetic, by a fit, or by "
        "what our model is.",
        table(("class", *verdicts, "distinct runs or facts", ""), rows),
        *(part("named", key, said) for key, said in papers),
    )


def _overview(told: Page, reproductions: Sequence[Reproduction]) -> None:
    rows: list[Sequence[Cell]] = []
    for r in reproductions:
        counts = Counter(row.verdict for row in r.rows)
        rows.append((r.id, r.title, *(counts[verdict] for verdict in STYLE)))
    told.section(
        "All of them",
        "Each point a figure in its own unit; on the line ours is what the paper prints.",
        told.chart(main(reproductions)),
        part("fold", "Verdicts by table", table(("", "", *STYLE), rows)),
    )
