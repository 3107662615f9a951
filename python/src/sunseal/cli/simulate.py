# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal simulate` and `sunseal demo`: the closed loop."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from sunseal import boards, places, units
from sunseal.cli.console import PAGE, Figure, Report, err, out, print_json, writable
from sunseal.cli.options import Board, Json, Seed
from sunseal.errors import Stopped, SunsealError
from sunseal.measurement import measuring


def simulate_command(
    scenario: Annotated[Path, typer.Argument(help="A scenario file (TOML).")],
    report: Report = None,
    figure: Figure = None,
    series: Annotated[Path | None, typer.Option("--series", help="Write the storage voltage over time as CSV.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Where the run is kept while it goes; else beside what is written."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from it: the same bytes come out.")] = False,
    functions: Annotated[
        bool, typer.Option("--functions", help="Tell the energy by function and component; takes longer.")
    ] = False,
    window: Annotated[
        str | None,
        typer.Option("--window", metavar="FROM..TO", help="A stretch of the run told step by step, as 60..61.5s."),
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Play a scenario: harvester, storage and node in a closed loop, down to the last joule.

    A run of more than half a minute is kept in a checkpoint, and so is one that Ctrl-C or SIGTERM stops. Exit status 1
    if the node never executed an instruction.
    """
    from sunseal import demo
    from sunseal.loop import simulation

    writable(report, PAGE)
    writable(figure)
    writable(series, (".csv",))
    writable(checkpoint, (".checkpoint",))
    beside = next((file.parent for file in (report, figure, series) if file is not None), Path())
    kept = checkpoint or beside / f"{scenario.stem}.checkpoint"
    if resume and not kept.is_file():
        raise SunsealError(f"there is no checkpoint `{kept}`; name it with `--checkpoint`, or leave `--resume` away")
    if kept.is_file() and not resume:
        err.print(f"`{escape(str(kept))}` keeps an earlier run (`--resume` goes on with it); this takes its place")
    loaded = simulation.load(scenario).observed(functions, None if window is None else _stretch(window))
    if seed is not None:
        loaded = loaded.seeded(seed)
    places.look_beside(loaded.folder)
    told = simulation.facts(loaded)
    options = [("--report", report), ("--figure", figure), ("--series", series), ("--checkpoint", checkpoint)]
    given = [text for name, file in options if file is not None for text in (name, str(file))]
    given += ["--functions"] * functions + (["--window", window] if window is not None else [])
    given += ["--seed", str(seed)] if seed is not None else []
    again = shlex.join(["sunseal", "simulate", str(scenario), *given])
    goes_on = f"`{kept}` keeps the run; `{again} --resume` goes on with it"
    keep = simulation.Checkpoint(kept, resume, told=lambda sentence: err.print(escape(sentence)))
    try:
        with _ended_by_sigterm(), demo.bar(err.console, as_json, told["duration_s"], told["start_s"]) as watch:
            played = simulation.play(loaded, watch, keep)
    except KeyboardInterrupt as e:
        raise Stopped(goes_on if kept.is_file() else f"nothing was written; `{again}` plays the same again") from e
    closing = played.closing()
    try:
        if series is not None:
            measuring.write_atomic(series, played.series_csv())
        if report is not None or figure is not None:
            from sunseal.report import plots
            from sunseal.report import scenario as reporting

            if figure is not None:
                plots.day_file(reporting.day_of(played), figure, played.record["scenario"])
            if report is not None:
                measuring.write_atomic(report, reporting.scenario_page(played, closing))
    except OSError as e:
        where = os.fsdecode(e.filename) if e.filename else "the output"
        raise SunsealError(
            f"`{where}` cannot be written: {e.strerror or e}", hint=goes_on if kept.is_file() else None
        ) from e
    kept.unlink(missing_ok=True)
    if as_json:
        print_json(closing)
    else:
        out.print(demo.closing_table(closing))
    if (never := played.never_ran()) is not None:
        err.print(escape(never))
        raise typer.Exit(1)


def _stretch(text: str) -> tuple[float, float]:
    """Read two times of a run, in seconds where no unit stands."""
    ends = text.split("..")
    if len(ends) != 2:
        raise SunsealError(f"`--window {text}` is no stretch of a run: write FROM..TO, as in 60..61.5s")

    def read(end: str) -> float:
        with contextlib.suppress(ValueError):
            return float(end)
        return units.time_s(end, "--window")

    return read(ends[0]), read(ends[1])


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end what runs the way Ctrl-C does, with what is left said."""
    import signal

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def demo_command(
    folder: Annotated[Path, typer.Option("--out", help="Where report, capture and series are written.")] = Path(
        "out/demo"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same bytes.")] = 1,
    scenario: Annotated[Path | None, typer.Option("--scenario", help="Another scenario than the one built in.")] = None,
    board: Board = boards.DEFAULT_BOARD,
    as_json: Json = False,
) -> None:
    """Run one day of a node against the real server, and write the report."""
    from sunseal import demo

    if scenario and board != boards.DEFAULT_BOARD:
        raise SunsealError("--scenario names its board itself; leave out --board")
    result = demo.run(folder, seed=seed, scenario=scenario, console=err.console, quiet=as_json, board=board)
    if as_json:
        print_json(result)
    else:
        out.print(demo.closing_table(result))
        out.print(f"report: {folder / 'report.html'}")
    if result["verified"] == 0 or any(a["verdict"] == 0 for a in result["intruder"]):
        raise typer.Exit(1)
