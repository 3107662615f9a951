# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal inject` and `sunseal war`: losses of power."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import boards, units
from sunseal.cli.console import out, print_json
from sunseal.cli.options import Board, Image, Json
from sunseal.cli.progress import bar
from sunseal.errors import SunsealError


def inject_command(
    elf: Image,
    board: Board = boards.DEFAULT_BOARD,
    start: Annotated[str, typer.Option("--from", help="Symbol where the stretch to cut begins.")] = "main",
    end: Annotated[str | None, typer.Option("--to", help="Symbol where it ends; else the program's halt.")] = None,
    at: Annotated[
        str, typer.Option("--at", help="cycles, writes (to non-volatile memory), or cycles of the stretch: 12,40-60.")
    ] = "cycles",
    every: Annotated[int, typer.Option("--every", min=1, help="Only each n-th of these points.")] = 1,
    until: Annotated[
        str | None, typer.Option("--until", help="Symbol that the program must reach after the reboot; else --to.")
    ] = None,
    golden: Annotated[
        list[str] | None,
        typer.Option("--golden", help="Symbol that must then hold what it holds uninterrupted. Repeatable."),
    ] = None,
    assertion: Annotated[
        list[str] | None,
        typer.Option("--assert", help="Symbol that must never be reached; else sunseal_assert_failed. Repeatable."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Python file: check_*(machine) must hold; setup(machine), call(machine)."),
    ] = None,
    again: Annotated[
        list[int] | None,
        typer.Option("--again", min=0, help="Cycles behind the reboot after which the power goes again. Repeatable."),
    ] = None,
    off: Annotated[str, typer.Option("--off", help="How long the supply stays away.")] = "1s",
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="CPU cycles allowed up to --to and after the reboot.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the noise with which RAM wakes.")] = 1,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first failure.")] = False,
    brute: Annotated[
        bool, typer.Option("--brute", help="Play each cut, not one of each class that has the same run behind it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Cut the power at every cycle of a stretch, boot again and check that the program keeps its word.

    Exit status 1 if a cut is not survived: the earliest one is told with registers and last instructions.
    """
    from sunseal.measurement import injecting

    checks = injecting.checks(check) if check is not None else injecting.Checks([], None, None)
    with bar(as_json, "cuts") as progress:
        done = injecting.inject(
            elf,
            board,
            start=start,
            end=end,
            call=checks.call,
            points=_points(at),
            every=every,
            setup=checks.setup,
            until=until,
            limit_cycles=limit,
            golden=golden or (),
            invariants=checks.invariants,
            assertions=assertion,
            again=again or (),
            off_s=units.time_s(off, "--off"),
            seed=seed,
            stop_at_first=first,
            brute=brute,
            progress=progress,
        )
    if as_json:
        print_json(done.to_dict())
    else:
        _show_injection(done)
    if not done.passed:
        raise typer.Exit(1)


def _points(text: str) -> Any:
    if text in ("cycles", "writes"):
        return text
    wanted: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            raise SunsealError(
                f"--at `{text}` is neither `cycles` nor `writes` nor numbers of cycles such as `12,40-60`"
            ) from None
        wanted.extend(range(first, last + 1))
    return wanted


def _show_injection(done: Any) -> None:
    out.print(f"{done.cuts:,} cuts in a stretch of {done.stretch_cycles:,} cycles, {done.failed:,} not survived")
    if done.played < done.cuts:
        out.print(f"{done.played:,} of them played, one of each class that has the same run behind it", style="dim")
        for why, times in sorted(done.alone.items(), key=lambda a: -a[1]):
            out.print(f"  {times:,} in no class: {escape(why)}", style="dim")
    first = done.earliest
    if first is None:
        return
    out.print(f"[bold red]cycle {first.cycle}[/], in {escape(first.place)}: {escape(first.reason)}")
    sys.stdout.write(first.trace)
    width = 4
    named = [f"{name}={value:0{width}x}" for name, value in first.registers.items()]
    for i in range(0, len(named), 8):
        out.print("  " + " ".join(named[i : i + 8]), style="dim")
    for failure in done.failures[1:11]:
        out.print(f"cycle {failure.cycle}, in {escape(failure.place)}: {escape(failure.reason)}", style="dim")
    if done.failed > 11:
        out.print(f"and {done.failed - 11:,} more", style="dim")


def war_command(
    elf: Image,
    board: Board = boards.DEFAULT_BOARD,
    start: Annotated[str, typer.Option("--from", help="Symbol where the run is looked at first.")] = "main",
    end: Annotated[str | None, typer.Option("--to", help="Symbol where it ends; else the program's halt.")] = None,
    commit: Annotated[
        list[str] | None,
        typer.Option("--commit", help="Symbol at which progress is kept: a new region begins. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="Object that keeps itself consistent. Repeatable.")
    ] = None,
    check: Annotated[Path | None, typer.Option("--check", help="Python file with setup(machine).")] = None,
    as_json: Json = False,
) -> None:
    """Find non-volatile bytes that are read and then written between two commits.

    Code that is run again after a loss of power goes wrong there. Exit status 1 if there are any.
    """
    from sunseal.measurement import injecting

    setup = injecting.checks(check).setup if check is not None else None
    found = injecting.war(elf, board, start=start, end=end, commits=commit or (), ignore=ignore or (), setup=setup)
    if as_json:
        print_json([vars(h) for h in found])
    elif not found:
        out.print(f"no write after read in non-volatile memory of `{elf.name}`")
    else:
        table = Table("object", "address", "bytes", "read by", "written by", "times", "changing", box=None)
        for h in found:
            where = (escape(h.symbol or ""), f"{h.address:#07x}", str(h.bytes), escape(h.read_place))
            table.add_row(*where, escape(h.write_place), f"{h.count:,}", f"{h.changes:,}")
        out.print(table)
    if found:
        raise typer.Exit(1)
