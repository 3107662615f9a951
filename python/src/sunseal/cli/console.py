# SPDX-License-Identifier: MIT OR Apache-2.0
"""Streams to which every command writes: answers to standard output, the rest to standard error."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sunseal.answers import outputs
from sunseal.answers.verdicts import Verdict, judged
from sunseal.errors import FindingsError, SunsealError, UndecidedError
from sunseal.requests.asking import FIGURE, JSON, REPORT, asked, request

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.status import Status
    from rich.table import Table

    from sunseal.report.charts import Chart


PIPE_COLUMNS = 1000
"""A pipe has no width of its own: no cell of a table is cut or broken there."""


class Screen:
    """A console of rich's, which is imported when something is first printed."""

    def __init__(self, stderr: bool) -> None:
        """Set up a console that prints to standard output, or with `stderr` to standard error."""
        self._stderr = stderr
        self._console: Console | None = None
        self.displays = 0
        """Bars, spinners and the like that are on it now."""
        self.on_use: Callable[[Live | None], object] | None = None
        """Called before such a display begins, and before an answer is printed."""

    @property
    def console(self) -> Console:
        """Make the console at its first use."""
        if self._console is None:
            from rich.console import Console

            class Watched(Console):
                def set_live(self, live: Live) -> bool:
                    screen.use(live)
                    screen.displays += 1
                    return super().set_live(live)

                def clear_live(self) -> None:
                    screen.displays -= 1
                    super().clear_live()

            screen = self
            piped = not self._stderr and not (sys.stdout and sys.stdout.isatty())
            self._console = Watched(
                stderr=self._stderr, highlight=False, soft_wrap=True, width=PIPE_COLUMNS if piped else None
            )
        return self._console

    @property
    def is_terminal(self) -> bool:
        """Tell whether a person looks at it."""
        return self.console.is_terminal

    def use(self, live: Live | None = None) -> None:
        """Tell that something is about to be written."""
        if self.on_use is not None:
            self.on_use(live)

    def print(self, *things: Any, style: str | None = None, markup: bool | None = None) -> None:
        """Print text with markup, or a table."""
        for thing in things:
            for column in getattr(thing, "columns", ()):
                column.overflow = "fold"  # a word too long for its column is broken, not cut
        if not self._stderr:
            err.use()
        self.console.print(*things, style=style, markup=markup)

    def status(self, sentence: str) -> Status:
        """Show that something goes on."""
        return self.console.status(sentence)


out = Screen(stderr=False)
err = Screen(stderr=True)


def escape(text: str) -> str:
    """Take what stands in brackets for text and not for markup."""
    from rich.markup import escape as escaped

    return escaped(text)


def print_json(name: str, value: Any) -> None:
    """Write an answer as JSON under its schema's name; what JSON cannot hold is an error, not a word of JavaScript."""
    from sunseal.catalog.revision import made_by

    sys.stdout.write(json.dumps(outputs.stamped(name, value, made_by()), indent=2, allow_nan=False) + "\n")


def answer(name: str, as_json: bool, told: Callable[[], Any], show: Callable[[], object], status: int = 0) -> None:
    """Give an answer as JSON under its schema's name, or show it to a person, and end with a status."""
    if as_json:
        print_json(name, told())
    else:
        show()
    if status:
        raise typer.Exit(status)


REASONS_SHOWN = 8


@request
class VerdictFiles:
    """Files in which systems of continuous integration read a verdict."""

    junit: Path | None = asked("--junit", "Write the verdict into this JUnit .xml as well.", Path, default=None)
    sarif: Path | None = asked("--sarif", "Write its findings into this SARIF 2.1.0 file as well.", Path, default=None)

    def __post_init__(self) -> None:
        """Refuse a file that could not be written before anything long is run for it."""
        writable(self.junit, (".xml",))
        writable(self.sarif, (".sarif", ".json"))

    def write(self, verdict: Verdict) -> None:
        """Write what was asked for."""
        from sunseal.answers import verdict_files
        from sunseal.answers.writing import write_atomic

        if self.junit is not None:
            write_atomic(self.junit, verdict_files.junit(verdict))
        if self.sarif is not None:
            write_atomic(self.sarif, verdict_files.sarif(verdict))

    @contextlib.contextmanager
    def judging(self, of: str) -> Iterator[None]:
        """Write a verdict that ends in an exception, too."""
        try:
            yield
        except (FindingsError, UndecidedError) as e:
            self.write(judged(e, of))
            raise


def judge(
    name: str,
    verdict: Verdict,
    as_json: bool,
    told: Callable[[], Any],
    show: Callable[[], object],
    files: VerdictFiles,
) -> None:
    """Give a verdict with what it rests on, write it for other systems, and end with its status."""
    files.write(verdict)
    answer(name, as_json, told, show)
    if not as_json and verdict.why:
        word = "undecided" if verdict.word == "undecided" else "left open"
        for reason in verdict.why[:REASONS_SHOWN]:
            out.print(f"{word}: {escape(reason)}")
        if len(verdict.why) > REASONS_SHOWN:
            out.print(f"and {len(verdict.why) - REASONS_SHOWN:,} more reasons (`--junit FILE` has all)")
    if verdict.exit_status:
        raise typer.Exit(verdict.exit_status)


def facts_table() -> Table:
    """Make a table of facts, the name of each in its first column."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    return table


PICTURE = (".svg", ".png", ".pdf")
PAGE = (".html",)
Figure = Annotated[Path | None, FIGURE]
Report = Annotated[Path | None, REPORT]
Json = Annotated[bool, typer.Option(JSON.name, help=JSON.help)]


def writable(path: Path | None, endings: Sequence[str] = PICTURE) -> None:
    """Refuse a file that could not be written, before anything long is run for it."""
    if path is None:
        return
    if path.suffix not in endings:
        listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise SunsealError(f"`{path}` cannot be written: its name must end in {listed}")
    if not path.absolute().parent.is_dir():
        raise SunsealError(f"`{path}` cannot be written: the folder `{path.parent}` does not exist")
    if path.is_dir():
        raise SunsealError(f"`{path}` cannot be written: it is a folder; name a file in it")
    try:
        with tempfile.TemporaryFile(dir=path.absolute().parent):
            pass
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be written: {e.strerror or e}") from e


def report(module: str) -> Any:
    """Import a module of the reports where something is drawn: they take a quarter of a second."""
    return importlib.import_module(f"sunseal.report.{module}")


def write_report(path: Path | None, page: Callable[[], str]) -> None:
    """Write a page, if one is asked for."""
    from sunseal.answers.writing import write_atomic

    if path is not None:
        write_atomic(path, page())


@request
class Output:
    """Forms in which an answer is given: as a table or as JSON, and with a page and a figure in files."""

    report: Path | None = asked(REPORT, default=None)
    figure: Path | None = asked(FIGURE, default=None)
    as_json: bool = asked(JSON, default=False)

    def __post_init__(self) -> None:
        """Refuse a file that could not be written before anything long is run for it."""
        writable(self.report, PAGE)
        writable(self.figure)

    def draw(self, chart: Callable[[], Chart], page: Callable[[], str]) -> None:
        """Draw the figure and write the page, each where it is asked for."""
        if self.figure is not None:
            chart().write(self.figure)
        write_report(self.report, page)
