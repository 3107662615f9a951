# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal sweep`."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from sunseal.asking import DASK, asked, request
from sunseal.cli import progress
from sunseal.cli.console import err, escape, out, print_json, writable
from sunseal.cli.options import Json
from sunseal.cli.spread import spread
from sunseal.errors import Stopped, SunsealError
from sunseal.sweeps import keypaths, sampling

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 24
"""So many points are printed; the others are in the file."""
FIRST = {
    "scenario": ("operations", "brown_outs", "vcap_min_v", "out_j", "stored_end_j"),
    "requirements": ("qualifying", "board", "workload", "mean_w", "cost"),
}
"""Figures that are printed unless `--show` names others."""


@request
class Points:
    """What is run at which points, and what is told of it."""

    file: Path = asked("", "A scenario, or requirements of a plan.", Path, metavar="FILE.toml")
    over: Sequence[str] = asked(
        "--over",
        "A key path and its values: a,b,c, START:STOP:N, START:STOP:N:log; for a sampler START:STOP. Repeatable.",
        list[str],
        metavar="KEY=VALUES",
    )
    table: Path | None = asked(
        "--out", "Write a .parquet or .csv; again goes on with it.", Path, called="table", default=None
    )
    sampler: str = asked("--sampler", f"{', '.join(sampling.SAMPLERS)}.", default="grid")
    samples: int | None = asked("--samples", "Points of a sampler.", int, min=1, default=None)
    seed: int = asked("--seed", "Of a sampler: same seed, same points.", int, min=0, default=1)
    minimise: str | None = asked(
        "--minimise", "Search for its least, by --sampler optuna.", metavar="FIGURE", default=None
    )
    maximise: str | None = asked(
        "--maximise", "Search for its greatest, by --sampler optuna.", metavar="FIGURE", default=None
    )
    jobs: int | None = asked(
        "--jobs", "Threads, of a plan processes; else one a core, of a plan one.", int, min=1, default=None
    )
    dask: str | None = asked(DASK, default=None)
    show: Sequence[str] = asked("--show", "A figure to print. Repeatable.", list[str], default=())
    sobol: str | None = asked("--sobol", "Its Sobol indices, by --sampler saltelli.", metavar="FIGURE", default=None)


@spread
def sweep_command(asked: Points, as_json: Json = False) -> None:
    """Run a scenario or a plan at many points, into one table; Ctrl-C and again goes on where it was.

    A point that could not be run is a row with the sentence in column `error`. Exit status 2 if no point could be run.
    """
    from sunseal.sweeps import sobol as indexing
    from sunseal.sweeps import sweeping

    table, sobol = asked.table, asked.sobol
    writable(table, sweeping.ENDINGS)
    if sobol is not None and asked.sampler != "saltelli":
        raise SunsealError("`--sobol` needs the points of `--sampler saltelli`, and `--samples`")
    wanted: dict[str, Any] = {}
    for text in asked.over:
        path, values = _over(text)
        if path in wanted:
            raise SunsealError(f"`--over {path}=...` stands twice; give all its values in one")
        wanted[path] = values
    how = ("sampler", "samples", "seed", "minimise", "maximise", "jobs", "dask")
    frame = _swept(asked.file, wanted, table, as_json, {name: getattr(asked, name) for name in how})
    lost = frame[frame.error != ""]
    if len(lost) == len(frame):
        raise SunsealError(f"no point could be run; the first: {lost.error.iloc[0]}")
    indices = None if sobol is None else indexing.sobol_indices(frame, sobol, seed=asked.seed)
    if as_json:
        rows = _rows(frame.reset_index())
        print_json(rows if indices is None else {"points": rows, "indices": _rows(indices.reset_index())})
        return
    figure = asked.minimise or asked.maximise
    shown = asked.show if figure is None or figure in asked.show else [figure, *asked.show]
    _show(frame, list(wanted), shown, "requirements" if "qualifying" in frame else "scenario")
    if figure is not None:
        _show_best(frame, list(wanted), figure)
    if indices is not None:
        _show_indices(indices, str(sobol))
    for index, sentence in list(lost.error.items())[:3]:
        err.print(f"point {index}: {escape(sentence)}")
    if len(lost) > 3:
        err.print(f"and {len(lost) - 3:,} more points that could not be run, in column `error`")
    if table is not None:
        out.print(f"wrote {table}: {len(frame):,} points, {len(lost):,} of them not run")


def _swept(file: Path, wanted: dict[str, Any], table: Path | None, as_json: bool, asked: dict[str, Any]) -> Any:
    """Run the points with a bar, and tell what a journal had to warn of."""
    from sunseal.sweeps import sweeping

    done = [0, 0]
    with warnings.catch_warnings(record=True) as warned, progress.bar(as_json, "points") as bar:
        warnings.simplefilter("always", UserWarning)

        def heard(points: int, of: int) -> None:
            done[:] = points, of
            if bar is not None:
                bar(points, of)

        try:
            return sweeping.sweep(file, wanted, **asked, out=table, heard=heard)
        except KeyboardInterrupt as e:
            if table is None or not done[1]:
                raise
            raise Stopped(f"`{table}` has {done[0]:,} of {done[1]:,} points; the same command goes on with them") from e
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


def _over(text: str) -> tuple[str, Any]:
    """Read `KEY=VALUES`."""
    path, equals, values = text.partition("=")
    if not (path and equals and values):
        raise SunsealError(f"`--over {text}` is not KEY=VALUES, such as `supply.capacitance_f=0.01:0.1:5`")
    keypaths.split(path)
    ends = values.split(":")
    log = ends[-1] == "log"
    numbers = [_value(part) for part in (ends[:-1] if log else ends)]
    if len(ends) == 1 or not all(isinstance(n, int | float) for n in numbers):
        return path, [_value(part.strip()) for part in values.split(",")]
    if len(numbers) == 2:
        return path, (*numbers, *(["log"] * log))
    if len(numbers) != 3 or not isinstance(numbers[2], int) or numbers[2] < 2:
        raise SunsealError(f"`--over {text}`: a range is START:STOP:N, N two or more, or START:STOP for a sampler")
    return path, _range(text, numbers[0], numbers[1], numbers[2], log)


def _range(text: str, start: float, stop: float, count: int, log: bool) -> list[float]:
    if count > sampling.POINTS_MAX:
        raise SunsealError(f"`--over {text}` has {count:,} values; {sampling.POINTS_MAX:,} points are the most")
    if log and (start <= 0 or stop <= 0):
        raise SunsealError(f"`--over {text}`: a logarithmic range has both ends above 0")
    if log:
        values = [start * (stop / start) ** (i / (count - 1)) for i in range(count - 1)]
        return [*values, stop]
    # Exact, so that 0.1:0.5:5 gives 0.3 and not its neighbour: whole numbers over one denominator.
    low, step = Fraction(str(start)), (Fraction(str(stop)) - Fraction(str(start))) / (count - 1)
    below = math.lcm(low.denominator, step.denominator)
    first, each = int(low * below), int(step * below)
    if below == 1 and isinstance(start, int) and isinstance(stop, int):
        return [first + i * each for i in range(count)]
    return [(first + i * each) / below for i in range(count)]


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        with contextlib.suppress(ValueError):
            return read(text)
    return text


def _show(frame: pd.DataFrame, paths: list[str], show: Sequence[str], kind: str) -> None:
    from sunseal.errors import unknown

    for name in show:
        if name not in frame:
            raise unknown("figure", name, frame.columns, "of this sweep")
    columns = [*paths, *(show or [name for name in FIRST[kind] if name in frame])]
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
