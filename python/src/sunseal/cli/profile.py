# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal profile`: where cycles and joules go."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import requests
from sunseal.answers import writing
from sunseal.cli.console import Json, err, out, print_json, writable
from sunseal.cli.progress import counting
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.requests.asking import switches_of


@spread
def profile_command(
    asked: requests.Operation,
    point: requests.Point,
    weight: Annotated[str, typer.Option("--weight", help="cycles or joules.")] = "cycles",
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw a flame graph into this .svg file.")] = None,
    diff: Annotated[
        Path | None,
        typer.Option("--diff", help="Folded stacks of an earlier build to compare with."),
    ] = None,
    coverage: Annotated[
        Path | None,
        typer.Option("--coverage", help="Write how often each source line of your program ran (lcov) instead."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print folded stacks, ready for any flame graph tool, or draw the flame graph."""
    if weight not in ("cycles", "joules"):
        raise SunsealError(f"--weight `{weight}` is neither `cycles` nor `joules`")
    writable(figure, (".svg",))
    before = _read_folded(diff) if diff is not None else None
    if coverage is not None:
        _cover(coverage, asked)
        return
    with counting(as_json, asked.label) as asked.progress:
        cycles = measuring.profile(asked)
        folded: dict[str, float] = dict(cycles)
        if weight == "joules":
            m = measuring.measure(**{**vars(asked), **vars(point), "progress": None})
            folded = measuring.in_joules(cycles, m.cycles, m.energy_j)
    unit = "J" if weight == "joules" else "cycles"
    if figure is not None:
        from sunseal.report import plots

        title = f"{asked.label} on {asked.board}"
        writing.write_atomic(figure, plots.flame_graph(folded, unit, title, before))
    if as_json:
        print_json("profile", {"unit": unit, "stacks": folded, "before": before})
    elif before is not None:
        _show_diff(folded, before, unit)
    elif figure is None:
        # Folded stacks go on to other programs as they are, so what they are stands beside them.
        err.print(f"{asked.label} on {asked.board}: {sum(folded.values()):,.6g} {unit} by call stack")
        for stack in sorted(folded):
            value = folded[stack]
            sys.stdout.write(f"{stack} {value:.12g}\n")
    if figure is not None and not as_json:
        out.print(f"wrote {figure}")


def _cover(path: Path, asked: requests.Operation) -> None:
    from sunseal.machine.machine import Machine

    if asked.elf is None:
        raise SunsealError("`--coverage` belongs to a program of yours; give its ELF")
    writable(path, (".info", ".lcov"))
    m = Machine(asked.board, asked.elf, timing=switches_of(asked), adc_v=asked.adc_v)
    window = asked.between()
    if window is not None:
        m.run(until=window[0])
    writing.write_atomic(path, m.coverage(window[1] if window else None))
    out.print(f"wrote {path}")


def _read_folded(path: Path) -> dict[str, float]:
    stacks: dict[str, float] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as e:
        raise SunsealError(f"the earlier profile `{path}` cannot be read: {e.strerror or e}") from e
    except UnicodeDecodeError as e:
        raise SunsealError(f"the earlier profile `{path}` is not text: {e}") from e
    for number, line in enumerate(lines, 1):
        stack, _, value = line.rpartition(" ")
        try:
            stacks[stack] = float(value)
        except ValueError:
            stack = ""
        if not stack or not 0 <= stacks[stack] < math.inf:
            raise SunsealError(
                f"`{path}` line {number} is not a folded stack: write `outer;inner 123`",
                hint="`sunseal profile ... > old.folded` makes such a file",
            )
    return stacks


def _show_diff(folded: dict[str, float], before: dict[str, float], unit: str) -> None:
    def leaves(stacks: dict[str, float]) -> dict[str, float]:
        sums: dict[str, float] = {}
        for stack, value in stacks.items():
            leaf = stack.rsplit(";", 1)[-1]
            sums[leaf] = sums.get(leaf, 0.0) + value
        return sums

    now, old = leaves(folded), leaves(before)
    table = Table("function", "before", "now", "change", box=None)
    for name in sorted(now | old, key=lambda n: -abs(now.get(n, 0) - old.get(n, 0))):
        a, b = old.get(name, 0.0), now.get(name, 0.0)
        if a != b:
            table.add_row(escape(name), f"{a:,.6g}", f"{b:,.6g}", f"{b - a:+,.6g} {unit}")
    total_a, total_b = sum(old.values()), sum(now.values())
    table.add_row("all", f"{total_a:,.6g}", f"{total_b:,.6g}", f"{total_b - total_a:+,.6g} {unit}")
    out.print(table)
