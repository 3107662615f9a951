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

from sunseal.answers import writing
from sunseal.catalog import boards, places, units
from sunseal.cli.console import PAGE, Json, answer, err, out, print_json, writable
from sunseal.cli.spread import spread
from sunseal.errors import Stopped, SunsealError, missing_of
from sunseal.requests.asking import BOARD, FIGURE, REPORT, SEED, TEMPERATURE, asked, request


@request
class Run:
    """A scenario to play, and the files that are written of it."""

    scenario: Path = asked("", "A scenario file (TOML).", Path)
    report: Path | None = asked(REPORT, default=None)
    figure: Path | None = asked(FIGURE, default=None)
    series: Path | None = asked("--series", "Write the storage voltage over time as CSV.", Path, default=None)
    tracks: Path | None = asked("--tracks", "Write activity, events, voltage, joules for Perfetto.", Path, default=None)
    checkpoint: Path | None = asked(
        "--checkpoint",
        "File that the run is kept in while it goes.",
        Path,
        default=None,
        otherwise="beside what is written",
    )
    resume: bool = asked("--resume", "Go on from it: the same bytes come out.", bool, default=False)
    functions: bool = asked(
        "--functions", "Tell the energy by function and component; takes longer.", bool, default=False
    )
    window: str | None = asked(
        "--window", "A stretch of the run told step by step, as 60..61.5s.", metavar="FROM..TO", default=None
    )
    until: str | None = asked(
        "--until",
        "Event that ends the run before its time: `first-cut`, of the node's supply.",
        metavar="first-cut",
        default=None,
    )
    seed: int | None = asked(SEED, default=None)
    temperature_c: float | None = asked(TEMPERATURE, default=None)

    def __post_init__(self) -> None:
        """Refuse a file that could not be written before anything long is run for it."""
        writable(self.report, PAGE)
        writable(self.figure)
        writable(self.series, (".csv",))
        writable(self.tracks, (".pftrace", ".perfetto-trace"))
        writable(self.checkpoint, (".checkpoint",))

    @property
    def kept(self) -> Path:
        """The checkpoint: as it is named, else beside what is written."""
        beside = next(
            (file.parent for file in (self.report, self.figure, self.series, self.tracks) if file is not None), Path()
        )
        return self.checkpoint or beside / f"{self.scenario.stem}.checkpoint"

    @property
    def command(self) -> str:
        """The command that plays the same again."""
        given = ["sunseal", "simulate", str(self.scenario)]
        for name in ("report", "figure", "series", "tracks", "checkpoint"):
            given += [f"--{name}", str(file)] if (file := getattr(self, name)) is not None else []
        given += ["--functions"] * self.functions + (["--window", self.window] if self.window is not None else [])
        given += ["--temperature", str(self.temperature_c)] if self.temperature_c is not None else []
        given += ["--until", self.until] if self.until is not None else []
        return shlex.join(given + (["--seed", str(self.seed)] if self.seed is not None else []))


@spread
def simulate_command(asked: Run, as_json: Json = False) -> None:
    """Play a scenario: harvester, storage and node in a closed loop, down to the last joule.

    A run of more than half a minute is kept in a checkpoint, and so is one that Ctrl-C or SIGTERM stops. Exit status 1
    if the node never executed an instruction, or never got past what cuts it off.
    """
    from sunseal.cli import day
    from sunseal.loop import simulation, timeline
    from sunseal.report.closing import closing_table

    kept, again = asked.kept, asked.command
    if asked.resume and not kept.is_file():
        raise SunsealError(f"there is no checkpoint `{kept}`; name it with `--checkpoint`, or leave `--resume` away")
    if kept.is_file() and not asked.resume:
        err.print(f"`{escape(str(kept))}` keeps an earlier run (`--resume` goes on with it); this takes its place")
    window = None if asked.window is None else _stretch(asked.window)
    loaded = simulation.load(asked.scenario).observed(asked.functions, window)
    if asked.until is not None:
        loaded = loaded.ending(asked.until)
    if asked.seed is not None:
        loaded = loaded.seeded(asked.seed)
    if asked.temperature_c is not None:
        loaded = loaded.at_temperature(asked.temperature_c)
    places.look_beside(loaded.folder)
    told = simulation.facts(loaded)
    goes_on = f"`{kept}` keeps the run; `{again} --resume` goes on with it"
    keep = simulation.Checkpoint(kept, asked.resume, told=lambda sentence: err.print(escape(sentence)))
    try:
        with _ended_by_sigterm(), day.bar(err.console, as_json, told["duration_s"], told["start_s"]) as watch:
            played = simulation.play(loaded, watch, keep)
    except KeyboardInterrupt as e:
        raise Stopped(goes_on if kept.is_file() else f"nothing was written; `{again}` plays the same again") from e
    closing = played.closing()
    try:
        if asked.series is not None:
            writing.write_atomic(asked.series, played.series_csv())
        if asked.tracks is not None:
            timeline.write(asked.tracks, played.record)
        if asked.report is not None or asked.figure is not None:
            from sunseal.report import plots
            from sunseal.report import scenario as reporting

            if asked.figure is not None:
                plots.day_file(reporting.day_of(played), asked.figure, played.record["scenario"])
            if asked.report is not None:
                writing.write_atomic(asked.report, reporting.scenario_page(played, closing))
    except OSError as e:
        where = os.fsdecode(e.filename) if e.filename else "the output"
        raise SunsealError(
            f"`{where}` cannot be written: {e.strerror or e}", hint=goes_on if kept.is_file() else None
        ) from e
    kept.unlink(missing_ok=True)
    answer("simulate", as_json, lambda: closing, lambda: out.print(closing_table(closing)))
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


@spread
def demo_command(
    folder: Annotated[
        Path, typer.Option("--out", help="Folder that report, capture and series are written to.")
    ] = Path("out/demo"),
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same bytes.")] = 1,
    scenario: Annotated[Path | None, typer.Option("--scenario", help="Another scenario than the one built in.")] = None,
    board: Annotated[str, BOARD] = boards.DEFAULT_BOARD,
    as_json: Json = False,
) -> None:
    """Run one day of a node against the real server, and write the report (the extra `plots` draws it)."""
    from sunseal.cli import day
    from sunseal.report.closing import closing_table

    if scenario and board != boards.DEFAULT_BOARD:
        raise SunsealError("--scenario names its board itself; leave out --board")
    result = day.run(folder, seed=seed, scenario=scenario, console=err.console, quiet=as_json, board=board)
    if as_json:
        print_json("demo", result)
    else:
        out.print(closing_table(result))
        if str(folder / "report.html") in result["files"] and not missing_of("plots"):
            out.print(f"report: {folder / 'report.html'}")
    if missing_of("plots"):
        err.print("no report was drawn: `pip install 'sunseal[plots]'` brings what draws it", markup=False)
    if result["verified"] == 0 or any(a["verdict"] == 0 for a in result["intruder"]):
        raise typer.Exit(1)
