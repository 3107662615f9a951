# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pages of the source papers: each of their tables in its own layout, with ours in every cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from facts import BREAK, read, table, toctree

from sunseal.papers import cells, published

Rows = Callable[[str], Sequence[published.Row]]
"""Rows of a table, computed."""
TELLING = (published.BEATEN, published.AGREES)
"""Verdicts that need no note below the table."""
TOLD = (
    "Each figure is as printed, misprints too; below it in bold stands ours, and the verdict. What a verdict means and "
    "which evidence ours rests on, `sunseal reproduce` tells row by row "
    "([tutorial](../tutorials/reproduce.md))."
)


def computed(name: str) -> Sequence[published.Row]:
    """Compute a table; none where the paper's is answered by no row."""
    return published.reproduce(name).rows if name in published.ids() else ()


def of_papers(rows: Rows) -> Iterator[tuple[str, str, str]]:
    """Write a page a paper, and their list."""
    listed = []
    for paper, tables in itertools.groupby(cells.printed(), key=lambda t: t.id.partition("/")[0]):
        facts = read("published", paper)
        whole = list(tables)
        asked = {t["id"]: t for t in facts["table"]}
        about = facts["paper"]
        listed.append((f"[{paper}]({paper}.md)", about["cite"], len(whole)))
        lines = [f"# {paper}", "", f"{about['cite']}: {about['platform']}.", "", about["confirmed"], "", TOLD, ""]
        for printed in whole:
            lines += _table(printed, asked.get(printed.id, {"row": []}), rows(printed.id))
        yield "papers", paper, "\n".join(lines)
    pages = [name.partition("]")[0][1:] for name, _, _ in listed]
    told = "Tables of the papers that `sunseal reproduce` goes through, in their own layout, with ours in every cell."
    body = ["# Papers", "", told, "", table(("", "paper", "tables"), listed), toctree(pages, hidden=True)]
    yield "papers", "index", "\n".join(body)


def _table(printed: cells.Printed, asked: dict[str, object], rows: Sequence[published.Row]) -> Iterator[str]:
    name = printed.id.partition("/")[2].replace("-", " ")
    title = f"{name}: {asked['title']}" if "title" in asked else name
    raws = asked["row"]
    assert isinstance(raws, list)
    laid = cells.laid_out(printed, raws, rows)
    yield f"## {title[0].upper()}{title[1:]}"
    yield ""
    yield table(printed.columns, ((head, *map(_cell, line)) for head, line in laid))
    if printed.reason:
        yield f"No row: {printed.reason}.\n"
    for heads, reason in cells.reasons(printed, laid):
        yield f"- No row for {heads}: {reason}"
    labels: dict[str, dict[str, None]] = {}
    for row in (c.row for _, line in laid for c in line if c.row):
        if row.note and row.verdict not in TELLING:
            labels.setdefault(row.note, {})[row.label] = None
    for note, own in labels.items():
        yield f"- {'; '.join(own)}: {note}"
    yield ""


def _cell(beside: cells.Beside) -> str:
    if not beside.shown:
        return beside.text
    if beside.row is None:
        return f"{beside.text}{BREAK}{beside.shown}"
    return f"{beside.text}{BREAK}**{beside.shown}**{BREAK}{beside.row.verdict}"
