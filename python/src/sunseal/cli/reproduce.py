# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal reproduce`: published figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from sunseal.cli.console import Output, VerdictFiles, judge, out, report
from sunseal.cli.progress import counting
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError


@spread
def reproduce_command(
    table_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A table, such as mane2014/table-4.1, or a paper.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every table there is.")] = False,
    *,
    output: Output,
    files: VerdictFiles,
) -> None:
    """Print published figures beside ours, with ratio and verdict, and what each agreement is worth.

    Exit status 1: a figure is not met; 3: one could not be had, or nothing was printed to compare with.
    """
    from sunseal.papers import published

    if (table_id is None) != everything:
        raise SunsealError("`reproduce` takes one table or `--all`; the tables are " + ", ".join(published.ids()))
    wanted = published.ids() if table_id is None else published.named(table_id)
    with counting(output.as_json, "reproducing") as progress:
        tables = [published.reproduce(i, progress) for i in wanted]
    output.draw(lambda: report("published_page").main(tables), lambda: report("published_page").page(tables))
    told = lambda: [t.to_dict() for t in tables]  # noqa: E731
    judge("reproduce", published.judged(tables), output.as_json, told, lambda: _show(tables), files)


def _show(tables: Sequence[Any]) -> None:
    for t in tables:
        _show_table(t)
    _show_classes(tables)


def _show_classes(tables: Sequence[Any]) -> None:
    from sunseal.papers import evidence, published

    found = published.counts(tables)
    verdicts = [v for v in published.VERDICTS if any(of[v] for of in found.values())]
    runs = published.runs(tables)
    table = Table("class", *verdicts, "distinct runs", "what it is worth", box=None)
    for name, of in found.items():
        counts = (str(of[v] or "") for v in verdicts)
        table.add_row(name.replace("_", " "), *counts, str(runs[name]), evidence.CLASSES[name])
    out.print(table)
    for paper, confirmed in dict.fromkeys((t.id.partition("/")[0], t.confirmed) for t in tables):
        out.print(f"{paper}: {confirmed}")


def _show_table(t: Any) -> None:
    table = Table("", "published", "ours", "ratio", "verdict", "class", title=f"{t.id}: {t.title}", box=None)
    table.title_justify = "left"
    for row in t.rows:
        table.add_row(
            row.label,
            row.show(row.published),
            row.show(row.ours),
            f"{row.ratio:.3f}" if row.ratio is not None else "",
            row.verdict,
            row.class_name,
        )
    out.print(table)
    for row in t.rows:
        if row.note:
            out.print(f"  {row.label}: {row.note}", style="dim")
    out.print(f"  source: {t.source}\n", style="dim")
