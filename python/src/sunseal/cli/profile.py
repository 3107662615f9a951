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
from sunseal.errors import SunsealError, unknown
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
    form: Annotated[
        str | None,
        typer.Option("--format", help="folded, speedscope, pprof or perfetto."),
    ] = None,
    into: Annotated[Path | None, typer.Option("--out", help="Write that format into this file.")] = None,
    coverage: Annotated[
        Path | None,
        typer.Option("--coverage", help="Write how often each source line of your program ran (lcov) instead."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print folded stacks, ready for any flame graph tool, draw the flame graph, or write what a viewer opens.

    With `--weight joules`, speedscope, pprof and Perfetto get cycles and joules.
    """
    if weight not in ("cycles", "joules"):
        raise SunsealError(f"--weight `{weight}` is neither `cycles` nor `joules`")
    writable(figure, (".svg",))
    form = _form(form, into)
    if form is not None and (as_json or diff is not None or coverage is not None):
        raise SunsealError("`--format` stands beside neither `--json`, `--diff` nor `--coverage`")
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
    if form is not None:
        _write_as(form, into, f"{asked.label} on {asked.board}", cycles, folded if weight == "joules" else None)
    elif as_json:
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


def _form(form: str | None, into: Path | None) -> str | None:
    """Return the format that is asked for, by its name or by the file's; none is folded stacks for a person."""
    from sunseal.measurement.profiles import FORMS

    if form is not None and form not in FORMS:
        raise unknown("format", form, FORMS)
    if into is None:
        if form in ("pprof", "perfetto") and sys.stdout.isatty():
            raise SunsealError(f"`--format {form}` is binary: name a file by `--out`, or lead it into one")
        return form
    if form is None:
        form = next((name for name, (_, endings) in FORMS.items() if into.suffix in endings), "folded")
    writable(into, FORMS[form][1])
    return form


def _write_as(
    form: str, into: Path | None, title: str, cycles: dict[str, int], in_joules: dict[str, float] | None
) -> None:
    from sunseal.measurement import profiles

    weights = [profiles.cycles(cycles)]
    if in_joules is not None:
        weights.append(profiles.joules(in_joules))
    written = profiles.FORMS[form][0](title, weights)
    if into is not None:
        writing.write_atomic(into, written)
        out.print(f"wrote {into}")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(written.encode() if isinstance(written, str) else written)


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
