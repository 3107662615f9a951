# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command `sunseal sweep`, its options and its answer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from sunseal import requests
from sunseal.cli import progress
from sunseal.cli.console import PAGE, Json, Report, err, escape, out, print_json, report, writable, write_report
from sunseal.cli.spread import spread
from sunseal.errors import Stopped, SunsealError

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 24
"""So many points are printed; the others are in the file."""
FIRST = {
    "scenario": ("operations", "brown_outs", "vcap_min_v", "out_j", "stored_end_j"),
    "requirements": ("qualifying", "board", "workload", "mean_w", "cost"),
}
"""Figures that are printed unless `--show` names others."""


@spread
def sweep_command(
    asked: requests.Sweep,
    show: Annotated[list[str] | None, typer.Option("--show", help="A figure to print. Repeatable.")] = None,
    sobol: Annotated[
        str | None, typer.Option("--sobol", metavar="FIGURE", help="Its Sobol indices, by --sampler saltelli.")
    ] = None,
    page: Report = None,
    as_json: Json = False,
) -> None:
    """Run a scenario or a plan at many points, into one table; Ctrl-C and again goes on where it was.

    A point that could not be run is a row with the sentence in column `error`. Exit status 2 if no point could be run.
    """
    from sunseal.sweeps import sobol as indexing
    from sunseal.sweeps import sweeping

    table = None if asked.out is None else Path(asked.out)
    writable(table, sweeping.ENDINGS)
    writable(page, PAGE)
    if sobol is not None and asked.sampler != "saltelli":
        raise SunsealError("`--sobol` needs the points of `--sampler saltelli`, and `--samples`")
    frame = _swept(asked, as_json)
    lost = frame[frame.error != ""]
    if len(lost) == len(frame):
        raise SunsealError(f"no point could be run; the first: {lost.error.iloc[0]}")
    indices = None if sobol is None else indexing.sobol_indices(frame, sobol, seed=asked.seed)
    figure = asked.minimise or asked.maximise
    show = show or []
    show = show if figure is None or figure in show else [figure, *show]
    kind = "requirements" if "qualifying" in frame else "scenario"
    figures = _figures(frame, show, kind)
    title = f"A sweep over {', '.join(asked.over)}"
    write_report(page, lambda: report("verdict_pages").swept(frame, list(asked.over), figures, title))
    if as_json:
        rows = _rows(frame.reset_index())
        if indices is None:
            print_json("sweep", rows)
        else:
            print_json("sweep-sobol", {"points": rows, "indices": _rows(indices.reset_index())})
        return
    _show(frame, list(asked.over), figures)
    if figure is not None:
        _show_best(frame, list(asked.over), figure)
    if indices is not None:
        _show_indices(indices, str(sobol))
    for index, sentence in list(lost.error.items())[:3]:
        err.print(f"point {index}: {escape(sentence)}")
    if len(lost) > 3:
        err.print(f"and {len(lost) - 3:,} more points that could not be run, in column `error`")
    if table is not None:
        out.print(f"wrote {table}: {len(frame):,} points, {len(lost):,} of them not run")


def _swept(asked: requests.Sweep, as_json: bool) -> Any:
    """Run the points with a bar, and tell what a journal had to warn of."""
    from sunseal.sweeps import sweeping

    done = [0, 0]
    with warnings.catch_warnings(record=True) as warned, progress.bar(as_json, "points") as bar:
        warnings.simplefilter("always", UserWarning)

        def heard(points: int, of: int) -> None:
            done[:] = points, of
            if bar is not None:
                bar(points, of)

        asked.heard = heard
        try:
            return sweeping.sweep(asked)
        except KeyboardInterrupt as e:
            if asked.out is None or not done[1]:
                raise
            raise Stopped(
                f"`{asked.out}` has {done[0]:,} of {done[1]:,} points; the same command goes on with them"
            ) from e
        finally:
            for warning in warned:
                err.print(f"[bold yellow]warning:[/] {escape(str(warning.message))}")


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows for JSON, which has no word for a figure that is missing or without end."""
    return [
        {str(k): None if _missing(v) or v in (math.inf, -math.inf) else v for k, v in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _figures(frame: pd.DataFrame, show: Sequence[str], kind: str) -> list[str]:
    """Return the figures that are shown: those asked for, else the usual ones of what is swept."""
    from sunseal.errors import unknown

    for name in show:
        if name not in frame:
            raise unknown("figure", name, frame.columns, "of this sweep")
    return list(show) or [name for name in FIRST[kind] if name in frame]


def _show(frame: pd.DataFrame, paths: list[str], figures: list[str]) -> None:
    columns = [*paths, *figures]
    shown = Table("point", *columns, box=None)
    for index, row in frame.head(SHOWN).iterrows():
        shown.add_row(str(index), *(_cell(row[name]) for name in columns))
    out.print(shown)
    if len(frame) > SHOWN:
        out.print(f"and {len(frame) - SHOWN:,} more", style="dim")


def _show_best(frame: pd.DataFrame, paths: list[str], figure: str) -> None:
    best = frame.attrs["best"]
    row = frame.loc[best]
    named = ", ".join(f"{path} {_cell(row[path])}" for path in paths)
    out.print(f"best: point {best}, {figure} {_cell(row[figure])} with {named}")


def _cell(value: Any) -> str:
    if _missing(value):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _show_indices(indices: pd.DataFrame, figure: str) -> None:
    table = Table("key", "first order", "", "total", "", box=None, title=f"Sobol indices of {figure}")
    table.title_justify = "left"
    for key, row in indices.iterrows():
        ends = (f"{row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f}" for name in ("first_order", "total"))
        first, total = ends
        table.add_row(str(key), f"{row['first_order']:.3f}", first, f"{row['total']:.3f}", total)
    out.print(table)
