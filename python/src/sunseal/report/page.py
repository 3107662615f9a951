# SPDX-License-Identifier: MIT OR Apache-2.0
"""The frame of every report: one HTML file with its style, its tables and its pictures; no network, opens anywhere."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sunseal import citing
from sunseal.report import plots
from sunseal.report.charts import Chart
from sunseal.units import show

if TYPE_CHECKING:
    import plotly.graph_objects as go

STYLE = f"""
:root {{
  color-scheme: light dark;
  --ink: {plots.INK}; --muted: #52606d; --grid: {plots.GRID}; --line: #e4e7eb; --paper: #fff; --ground: #f5f6f7;
  --good: #0a7457; --bad: #b3361f; --mild: #8a5a00; --link: #1d5f9a;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --ink: #e3e8ee; --muted: #9fb0c0; --grid: #33404d; --line: #2b3641; --paper: #182028; --ground: #10161c;
    --good: #4fc79e; --bad: #f08a6b; --mild: #e3b457; --link: #7db8ec;
  }}
  .flame .ground {{ fill: var(--paper); }}
}}
.flame .ink {{ fill: var(--ink); }} .flame .muted {{ fill: var(--muted); }}
* {{ box-sizing: border-box; }}
html {{ scroll-behavior: smooth; }}
body {{ margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 {plots.FONT}; }}
header {{ background: #17324d; color: #fff; padding: 34px 0 28px; }}
header p {{ color: #d3dde7; margin: 6px 0 0; max-width: 76ch; }}
h1 {{ font-size: 27px; line-height: 1.25; margin: 0; letter-spacing: -.01em; }}
h2 {{ font-size: 19px; margin: 0 0 4px; }}
main, header > div, footer {{ max-width: 1120px; margin: 0 auto; padding: 0 24px; }}
section {{ background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 22px 24px;
  margin: 20px 0; overflow-x: auto; scroll-margin-top: 12px; }}
section > p {{ color: var(--muted); margin: 0 0 14px; max-width: 86ch; }}
nav {{ margin-top: 14px; display: flex; flex-wrap: wrap; gap: 4px 18px; }}
nav a {{ color: #f3d27a; text-decoration: none; }}
nav a:hover, nav a:focus {{ text-decoration: underline; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(158px, 1fr)); gap: 12px; margin: 20px 0 0; }}
.card {{ background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }}
.card b {{ display: block; font-size: 22px; font-weight: 600; white-space: nowrap; }}
.card span {{ color: var(--muted); font-size: 13px; }}
.pair {{ display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px 28px; }}
@media (max-width: 1080px) {{ .pair {{ grid-template-columns: minmax(0, 1fr); }} }}
.pair > div {{ min-width: 0; }}
.scroll {{ overflow-x: auto; }}
.wide {{ overflow-x: auto; }} .wide > * {{ min-width: 640px; }}
.pair > .wide > * {{ min-width: 480px; }} /* below, legend and labels run into each other */
table {{ border-collapse: collapse; width: 100%; font-size: 14px; }}
caption {{ text-align: left; font-weight: 600; padding: 16px 0 6px; }}
th {{ font-weight: 600; color: var(--muted); border-bottom: 1px solid var(--grid); padding: 5px 14px 5px 0; }}
th:not(.n) {{ text-align: left; }}
td {{ border-bottom: 1px solid var(--line); padding: 5px 14px 5px 0; vertical-align: top; }}
tr.sub td:first-child {{ padding-left: 18px; color: var(--muted); }}
.n {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.good {{ color: var(--good); }} .bad {{ color: var(--bad); }} .mild {{ color: var(--mild); }}
small, .note {{ color: var(--muted); font-size: 13px; }}
details {{ margin-top: 10px; }} summary {{ cursor: pointer; color: var(--link); }}
pre {{ font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-x: auto; margin: 8px 0 0; }}
footer {{ color: var(--muted); font-size: 13px; padding: 4px 24px 40px; }}
@media print {{ section {{ break-inside: avoid; }} nav {{ display: none; }} }}
"""

# Pictures are drawn one after the other, so that a page of a hundred can be read at once. They take the page's colours,
# and take them again when the reader changes between light and dark.
DRAW = """
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const paint = (g) => {
    const ink = of("--ink"), muted = of("--muted"), grid = of("--grid");
    const to = {"font.color": ink};
    for (const key of Object.keys(g._fullLayout)) {
      if (/^[xy]axis\\d*$/.test(key)) {
        Object.assign(to, {[key + ".gridcolor"]: grid, [key + ".zerolinecolor"]: grid,
                           [key + ".linecolor"]: muted, [key + ".tickcolor"]: muted});
      }
    }
    (g.layout.annotations || []).forEach((_, i) => { to["annotations[" + i + "].font.color"] = muted; });
    Plotly.relayout(g, to);
    if (g.data.some((t) => t.type === "sankey")) Plotly.restyle(g, {"textfont.color": ink});
  };
  dark.addEventListener("change", () => document.querySelectorAll(".js-plotly-plot").forEach(paint));
  const draw = () => {
    const next = figures.shift();
    if (!next) return;
    Plotly.newPlot(...next).then((g) => { if (dark.matches) paint(g); setTimeout(draw); });
  };
  draw();
})();
"""

CONFIG = {"displayModeBar": False, "responsive": True}


@dataclass(frozen=True)
class Html:
    """Markup that is already escaped."""

    text: str


Cell = str | int | float | Html


@dataclass
class Page:
    """A report in the making."""

    title: str
    lead: str
    sections: list[tuple[str, str, str]] = field(default_factory=list)
    cards: list[tuple[str, str]] = field(default_factory=list)
    figures: int = 0

    def section(self, title: str, text: str, *parts: str) -> None:
        """Add a section of finished parts under a heading and a sentence."""
        key = f"s{len(self.sections) + 1}"
        body = f"<h2>{html.escape(title)}</h2><p>{html.escape(text)}</p>" + "".join(parts)
        self.sections.append((key, title, body))

    def figure(self, figure: go.Figure, height: int) -> str:
        """Embed an interactive picture."""
        self.figures += 1
        figure.update_layout(height=height)
        key = f"figure-{self.figures}"
        told = json.loads(figure.to_json())
        # `</` would end the script that it stands in.
        called = json.dumps([key, told["data"], told["layout"], CONFIG]).replace("</", "<\\/")
        place = f'<div id="{key}" class="plotly-graph-div" style="height:{height}px"></div>'
        return f"{place}<script>figures.push({called})</script>"

    def chart(self, chart: Chart) -> str:
        """Embed a chart; where the page is narrow it scrolls."""
        return f'<div class="wide">{self.figure(chart.figure(), chart.height)}</div>'

    def pair(self, *charts: Chart) -> str:
        """Embed charts two by two."""
        return f'<div class="pair">{"".join(self.chart(c) for c in charts)}</div>'

    def ledger(self, cited: citing.Citations, *assumptions: tuple[str, str, str]) -> None:
        """Close with what was assumed (name, value, why) and each document of each data file that entered."""
        files = "".join(
            _documents(file, [s for s in cited if s.file == file]) for file in dict.fromkeys(s.file for s in cited)
        )
        papers = "".join(f"<p>{html.escape(p.cite)}</p>" for p in cited.papers)
        bibtex = f"<details><summary>BibTeX</summary><pre>{html.escape(cited.bibtex())}</pre></details>"
        self.section(
            "Assumptions and sources",
            "What was assumed, and every data file that entered with the documents behind it. Unchecked: written from "
            "memory of the document and not read again.",
            table(("assumed", "value", "because"), assumptions) if assumptions else "",
            f"{papers}{bibtex}" if papers else "",
            files,
        )

    def render(self) -> str:
        """Write the whole file."""
        from plotly.offline import get_plotlyjs

        nav = "".join(f'<a href="#{k}">{html.escape(t)}</a>' for k, t, _ in self.sections)
        cards = "".join(
            f'<div class="card"><b>{html.escape(v)}</b><span>{html.escape(k)}</span></div>' for k, v in self.cards
        )
        body = "".join(f'<section id="{k}">{b}</section>' for k, _, b in self.sections)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<title>{html.escape(self.title)}</title><style>{STYLE}</style>"
            f"<script>{get_plotlyjs()}\nconst figures = [];</script></head><body>"
            f"<header><div><h1>{html.escape(self.title)}</h1><p>{html.escape(self.lead)}</p>"
            f'<nav aria-label="Sections">{nav}</nav></div></header>'
            f'<main><div class="cards">{cards}</div>{body}</main>'
            "<footer>Made by Sunseal. Same scenario, same seed, same engine: the same bytes.</footer>"
            f"<script>{DRAW}</script></body></html>\n"
        )


def _documents(file: str, sources: Sequence[citing.Source]) -> str:
    """Fold a data file's documents under its name."""
    recalled = sum(s.recalled for s in sources)
    told = f"{len(sources)} document{'s' * (len(sources) > 1)}" + f", {recalled} unchecked" * bool(recalled)
    rows = [(s.text, Html(f"<small>{html.escape(s.note)}</small>"), MARKED[s.recalled]) for s in sources]
    return (
        f"<details><summary>{html.escape(file)} <small>{told}</small></summary>"
        f"{table(('document', 'note', ''), rows)}</details>"
    )


MARKED = {
    False: Html('<span class="good">read</span>'),
    True: Html('<b class="mild">unchecked</b>'),
}
"""What is said of a source that was read, and of one recalled."""


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
    """Write a table; numbers stand to the right."""

    def cell(value: Cell) -> str:
        if isinstance(value, Html):
            return f"<td>{value.text}</td>"
        if isinstance(value, str):
            return f"<td>{html.escape(value)}</td>"
        return f'<td class="n">{value:,.6g}</td>' if isinstance(value, float) else f'<td class="n">{value:,}</td>'

    def to_right(value: Cell) -> bool:
        return 'class="n"' in value.text if isinstance(value, Html) else not isinstance(value, str)

    rows = list(rows)
    first = rows[0] if rows else [""] * len(head)
    top = "".join(
        f"<th{' class=n' if to_right(c) else ''}>{html.escape(h)}</th>" for h, c in zip(head, first, strict=True)
    )
    body = "".join("<tr>" + "".join(cell(c) for c in row) + "</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def right(text: str) -> Html:
    """Write a quantity that stands to the right."""
    return Html(f'<span class="n" style="display:block">{html.escape(text)}</span>')


def energy_table(energies: Mapping[str, float], total_label: str, total_j: float) -> str:
    """Write joules by name with their share."""
    rows: list[Sequence[Cell]] = [
        (name, right(show(j, "J", 4)), right(f"{j / total_j:.2%}" if total_j else ""))
        for name, j in sorted(energies.items(), key=lambda kv: -kv[1])
        if j != 0
    ]
    rows.append((Html(f"<b>{html.escape(total_label)}</b>"), right(show(total_j, "J", 5)), ""))
    return table(("", "energy", "share"), rows)
