# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command `sunseal constant-time`, its options and its answer."""

from __future__ import annotations

import time as clock
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import requests
from sunseal.cli.console import PAGE, Json, Report, VerdictFiles, err, judge, out, report, writable, write_report
from sunseal.cli.debug import loaded
from sunseal.cli.progress import bar
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError
from sunseal.machine import taint
from sunseal.requests.asking import VARIANT
from sunseal.secure import constant_time
from sunseal.secure import constant_time_matrix as matrices


@spread
def constant_time_command(
    asked: requests.ConstantTime,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix", help="Compile FILE.c by each compiler that is there at -O0 to -Os for four instruction sets."
        ),
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Cells of a matrix at a time.", show_default="one a core")
    ] = None,
    variant: Annotated[list[str] | None, VARIANT] = None,
    *,
    files: VerdictFiles,
    page: Report = None,
    as_json: Json = False,
) -> None:
    """Follow secret bytes through runs of the binary: what branches on them, addresses memory or takes time.

    Exit status 0: clean; 1: something does; 3: undecided, as the run left something open, which is named: it did not
    reach its end, a secret was never read or was overwritten, or secret data went through a block that is not followed.
    """
    file = cast("Path", asked.elf)
    writable(page, PAGE)
    if matrix and page is not None:
        raise SunsealError("`--report` belongs to one program; a matrix of --matrix has no page")
    if matrix and asked.adc_v:
        raise SunsealError("`--adc` belongs to one program; a matrix of --matrix has none of a board's inputs")
    if matrix:
        given = matrices.Question(
            tuple(asked.secret), tuple(asked.public), asked.start, asked.until, asked.time_s, tuple(asked.inputs)
        )
        begun = clock.monotonic()
        with bar(as_json, "binaries compiled and judged") as progress:
            found = matrices.run(file, given, jobs, progress=progress)
        took_s = clock.monotonic() - begun
        show = partial(_show_matrix, found, took_s)
        judge("constant-time-matrix", found.judged, as_json, partial(matrices.as_json, file, found), show, files)
        return
    if not asked.secret:
        raise SunsealError("constant-time follows secret bytes: name them by `--secret SYMBOL`")
    asked.elf = loaded(file, asked.board, variant or (), asked.adc_v)
    judged = constant_time.program(asked)
    write_report(page, lambda: report("verdict_pages").constant_time(judged, file.name))
    judge("constant-time", judged.judged, as_json, judged.as_json, lambda: _show(judged, file.name), files)


def _show(judged: taint.ConstantTime, name: str) -> None:
    secrets = ", ".join(s.name for s in judged.covered.secrets)
    if judged.findings:
        table = Table("what", "where", "line", "instruction", "times", box=None)
        for leak in judged.findings:
            table.add_row(leak.kind, leak.place, leak.line or "", escape(leak.instruction), str(leak.count))
        out.print(table)
        out.print(f"findings: what {secrets} decides changes how `{name}` runs")
    elif judged.verdict == "clean":
        out.print(f"clean: nothing that {secrets} decides changes how `{name}` ran")
    else:
        out.print(f"undecided: nothing was found in `{name}`, which shows nothing")
    c = judged.covered
    read = "; ".join(f"{s.read} of {s.bytes} bytes of {s.name} read" for s in c.secrets)
    out.print(
        f"covered in {c.runs} run{'s' if c.runs > 1 else ''}: {read}; {c.code_share:.0%} of the code "
        f"({c.code_bytes_run} of {c.code_bytes} bytes)",
        style="dim",
    )
    if c.functions:
        out.print(f"functions with secret data: {escape(', '.join(c.functions))}", style="dim")
    if c.blocks:
        told = (f"{b.name} ({'followed' if b.followed else 'not followed'})" for b in c.blocks)
        out.print(f"blocks with secret data: {', '.join(told)}", style="dim")
    if judged.verdict == "clean":
        out.print(c.unseen, style="dim")


def _show_matrix(matrix: matrices.Matrix, took_s: float) -> None:
    table = Table("set", "compiler", *matrices.LEVELS, box=None)
    rows: dict[tuple[str, str], dict[str, taint.ConstantTime]] = {}
    for c in matrix.cells:
        rows.setdefault((c.isa, c.compiler), {})[c.level] = c.verdict
    for (isa, compiler), by_level in rows.items():
        table.add_row(isa, compiler, *(matrices.word(by_level[level]) for level in matrices.LEVELS))
    out.print(table)
    for name in matrix.missing:
        out.print(f"missing: {name}", style="dim", markup=False)
    err.print(f"{len(matrix.cells)} binaries in {took_s:.1f} s", style="dim")
