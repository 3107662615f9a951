# SPDX-License-Identifier: MIT OR Apache-2.0
"""The frame of every report: one HTML file with its style, its tables and its pictures; no network, opens anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from sunseal.catalog import citing
from sunseal.catalog.units import show
from sunseal.report import plots
from sunseal.report.charts import Chart
from sunseal.report.pieces import figure, part, whole

Cell = str | int | float | Markup


@dataclass(frozen=True)
class Section:
    """A stretch of a page under a heading and a sentence."""

    key: str
    title: str
    text: str
    parts: tuple[Markup, ...]


@dataclass
class Page:
    """A report in the making."""

    title: str
    lead: str
    sections: list[Section] = field(default_factory=list)
    cards: list[tuple[str, str]] = field(default_factory=list)
    figures: int = 0

    def section(self, title: str, text: str, *parts: Markup) -> None:
        """Add a section of finished parts under a heading and a sentence."""
        self.sections.append(Section(f"s{len(self.sections) + 1}", title, text, parts))

    def picture(self, told: Mapping[str, Any], caption: str = "") -> Markup:
        """Embed a picture that the page draws, over the sentence that says what it shows."""
        self.figures += 1
        key = f"figure-{self.figures}"
        return figure(key, told, caption)

    def chart(self, chart: Chart) -> Markup:
        """Embed a chart in the page."""
        return self.picture(chart.told(), chart.caption or chart.title)

    def pair(self, *charts: Chart) -> Markup:
        """Embed charts two by two."""
        return part("pair", [self.chart(c) for c in charts])

    def ledger(self, cited: citing.Citations, *assumptions: tuple[str, str, str]) -> None:
        """Close with what was assumed (name, value, why) and each document of each data file that entered."""
        papers = [part("paragraph", p.cite) for p in cited.papers]
        self.section(
            "Assumptions and sources",
            "What was assumed, and every data file that entered with the documents behind it. Unchecked: written from "
            "memory of the document and not read again.",
            *([table(("assumed", "value", "because"), assumptions)] if assumptions else []),
            *papers,
            *([part("fold", "BibTeX", part("pre", cited.bibtex()))] if papers else []),
            *(_documents(file, [s for s in cited if s.file == file]) for file in dict.fromkeys(s.file for s in cited)),
        )

    def render(self) -> str:
        """Write the whole file."""
        return str(whole("page.html", page=self))


def flame(folded: Mapping[str, float], unit: str, caption: str) -> Markup:
    """Embed a flame graph, once as wide as a desk has it and once as a phone does."""
    drawn = (Markup(plots.flame_graph(folded, unit, caption, width=w, headed=False)) for w in (1072, 330))
    return part("flame", *drawn, caption)  # it has escaped its own texts


def _documents(file: str, sources: Sequence[citing.Source]) -> Markup:
    """Fold a data file's documents under its name."""
    recalled, assumed = sum(s.recalled for s in sources), sum(bool(s.assumed) for s in sources)
    told = f"{len(sources)} document{'s' * (len(sources) > 1)}" + f", {recalled} unchecked" * bool(recalled)
    told += f", {assumed} assumed" * bool(assumed)
    rows = [(s.text, part("small", s.assumed or s.note), _marked(s)) for s in sources]
    name = part("beside", file, told)
    return part("fold", name, table(("document", "note", ""), rows))


def _marked(source: citing.Source) -> Markup:
    """Tell a source that was read from one recalled and from an assumption."""
    words = [word for word, holds in (("unchecked", source.recalled), ("assumed", source.assumed)) if holds]
    return part("verdict", ", ".join(words), "mild") if words else part("verdict", "read", "good")


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "") -> Markup:
    """Write a table; numbers stand to the right."""

    def cell(value: Cell) -> tuple[str, bool]:
        if isinstance(value, str):  # Markup is one, too
            return value, False
        return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}", True

    def to_right(value: Cell) -> bool:
        return 'class="n"' in value if isinstance(value, Markup) else not isinstance(value, str)

    whole = [list(row) for row in rows]
    first = whole[0] if whole else [""] * len(head)
    top = [(text, to_right(value)) for text, value in zip(head, first, strict=True)]
    return part("table", top, [[cell(value) for value in row] for row in whole], caption)


def right(text: str) -> Markup:
    """Write a quantity that stands to the right."""
    return part("right", text)


def energy_table(energies: Mapping[str, float], total_label: str, total_j: float) -> Markup:
    """Write joules by name with their share."""
    rows: list[Sequence[Cell]] = [
        (name, right(show(j, "J", 4, total_j)), right(f"{j / total_j:.2%}" if total_j else ""))
        for name, j in sorted(energies.items(), key=lambda kv: -kv[1])
        if j != 0
    ]
    rows.append((part("bold", total_label), right(show(total_j, "J", 5)), ""))
    return table(("", "energy", "share"), rows)
