# SPDX-License-Identifier: MIT OR Apache-2.0
"""One HTML file that says where each joule went: no network, no server, opens anywhere."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sunseal import plots
from sunseal.units import show

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from sunseal.published import Reproduction

STYLE = f"""
:root {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: #f5f6f7; color: {plots.INK}; font: 15px/1.55 {plots.FONT}; }}
header {{ background: #17324d; color: #fff; padding: 34px 0 30px; }}
header p {{ color: #cfd9e3; margin: 6px 0 0; max-width: 74ch; }}
h1 {{ font-size: 27px; margin: 0; letter-spacing: -.01em; }}
h2 {{ font-size: 19px; margin: 0 0 4px; }}
main, header > div {{ max-width: 1120px; margin: 0 auto; padding: 0 24px; }}
section {{ background: #fff; border: 1px solid #e4e7eb; border-radius: 8px; padding: 22px 24px; margin: 20px 0; overflow-x: auto; }}
section > p {{ color: {plots.MUTED}; margin: 0 0 14px; max-width: 84ch; }}
nav {{ margin-top: 14px; display: flex; flex-wrap: wrap; gap: 4px 18px; }}
nav a {{ color: #f3d27a; text-decoration: none; }}
nav a:hover {{ text-decoration: underline; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0 0; }}
.card {{ background: #fff; border: 1px solid #e4e7eb; border-radius: 8px; padding: 12px 16px; }}
.card b {{ display: block; font-size: 22px; font-weight: 600; white-space: nowrap; }}
.card span {{ color: {plots.MUTED}; font-size: 13px; }}
.pair {{ display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px 22px; }}
@media (max-width: 860px) {{ .pair {{ grid-template-columns: minmax(0, 1fr); }} }}
.pair > div {{ min-width: 0; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: 14px; }}
caption {{ text-align: left; font-weight: 600; padding: 16px 0 6px; }}
th:not(.n) {{ text-align: left; }} th {{ font-weight: 600; color: {plots.MUTED}; border-bottom: 1px solid #cbd2d9; padding: 5px 14px 5px 0; }}
td {{ border-bottom: 1px solid #eef0f2; padding: 5px 14px 5px 0; vertical-align: top; }}
.n {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.good {{ color: {plots.GOOD}; }} .bad {{ color: {plots.BAD}; }} .mild {{ color: #8a6400; }}
small, .note {{ color: {plots.MUTED}; font-size: 13px; }}
footer {{ max-width: 1120px; margin: 0 auto; padding: 4px 24px 40px; color: {plots.MUTED}; font-size: 13px; }}
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
        markup: str = figure.to_html(
            full_html=False, include_plotlyjs=False, config=CONFIG, div_id=f"figure-{self.figures}"
        )
        return markup

    def render(self) -> str:
        """Write the whole file."""
        from plotly.offline import get_plotlyjs

        nav = "".join(f'<a href="#{k}">{html.escape(t)}</a>' for k, t, _ in self.sections)
        cards = "".join(
            f'<div class="card"><b>{html.escape(v)}</b><span>{html.escape(k)}</span></div>'
            for k, v in self.cards
        )
        body = "".join(f'<section id="{k}">{b}</section>' for k, _, b in self.sections)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<title>{html.escape(self.title)}</title><style>{STYLE}</style>"
            f"<script>{get_plotlyjs()}</script></head><body>"
            f"<header><div><h1>{html.escape(self.title)}</h1><p>{html.escape(self.lead)}</p><nav>{nav}</nav></div></header>"
            f'<main><div class="cards">{cards}</div>{body}</main>'
            "<footer>Made by Sunseal. Same scenario, same seed, same engine: the same bytes.</footer>"
            "</body></html>\n"
        )


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
        f"<th{' class=n' if to_right(c) else ''}>{html.escape(h)}</th>"
        for h, c in zip(head, first, strict=True)
    )
    body = "".join("<tr>" + "".join(cell(c) for c in row) + "</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def right(text: str) -> Html:
    """Write a quantity that stands to the right."""
    return Html(f'<span class="n" style="display:block">{html.escape(text)}</span>')


VERDICT_STYLE = {"beaten": "good", "agrees": "good", "differs": "mild", "not met": "bad"}


def published_tables(reproductions: Iterable[Reproduction]) -> str:
    """Write published figures beside ours."""
    parts = []
    for r in reproductions:
        rows = []
        for row in r.rows:
            style = VERDICT_STYLE[row.verdict]
            note = f"<small>{html.escape(row.note)}</small>" if row.note else ""
            printed = f" <small>(printed {html.escape(row.printed)})</small>" if row.printed else ""
            rows.append(
                (
                    Html(html.escape(row.label)),
                    Html(f'<span class="n" style="display:block">{html.escape(row.show(row.published))}{printed}</span>'),
                    right(row.show(row.ours)),
                    right(f"{row.ratio:.3f}" if row.ratio is not None else ""),
                    Html(f'<b class="{style}">{html.escape(row.verdict)}</b>'),
                    Html(note),
                )
            )
        head = ("", "published", "ours", "ratio", "verdict", "note")
        parts.append(table(head, rows, f"{r.id}: {r.title}"))
        parts.append(f'<p class="note">{html.escape(r.source)}</p>')
    return "".join(parts)


def energy_table(energies: Mapping[str, float], total_label: str, total_j: float) -> str:
    """Write joules by name with their share."""
    rows: list[Sequence[Cell]] = [
        (name, right(show(j, "J", 4)), right(f"{j / total_j:.2%}" if total_j else ""))
        for name, j in sorted(energies.items(), key=lambda kv: -kv[1])
        if j != 0
    ]
    rows.append((Html(f"<b>{html.escape(total_label)}</b>"), right(show(total_j, "J", 5)), ""))
    return table(("", "energy", "share"), rows)


def curve_parts(page: Page, curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Embed energy curves two by two."""
    cells = "".join(
        f"<div>{page.figure(plots.curve_figure(points, title), 360)}</div>" for title, points in curves.items()
    )
    return f'<div class="pair">{cells}</div>'


def sources_table(rows: Iterable[tuple[str, str, str, bool]], caption: str) -> str:
    """Write documents behind the figures; what nobody has checked says so."""
    return table(
        ("document", "place", "note", ""),
        [
            (d, p, n, Html('<b class="mild">unchecked</b>' if recalled else '<span class="good">read</span>'))
            for d, p, n, recalled in rows
        ],
        caption,
    )
