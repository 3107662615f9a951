# SPDX-License-Identifier: MIT OR Apache-2.0
"""Progress bars: on standard error, and only to a person."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from sunseal.cli.console import err

ALIVE_AFTER_S = 1.0
_SHOWING: list[str] = []
"""Bars that are on the screen: a console takes one at a time."""


@contextlib.contextmanager
def counting(quiet: bool, what: str) -> Iterator[Callable[[int], None] | None]:
    """Show how far a run is, in cycles."""
    if quiet or not err.is_terminal:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err.console, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def report(cycles: int) -> None:
            progress.update(task, description=f"{what}: {cycles / 1e6:,.0f} M cycles")

        yield report


@contextlib.contextmanager
def bar(quiet: bool, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show how many of a known number are done."""
    if quiet or not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=err.console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        _SHOWING.append(what)
        try:
            yield lambda done, of: progress.update(task, completed=done, total=of)
        finally:
            _SHOWING.clear()


@contextlib.contextmanager
def alive(quiet: bool) -> Iterator[None]:
    """Show the cycles of any machine that runs for more than a moment and that no other bar tells of."""
    if quiet or not err.is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from sunseal import machine

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    progress = Progress(*columns, console=err.console, transient=True)
    task = progress.add_task("", total=None)
    began = time.monotonic()

    def tell(cycles: int) -> None:
        if time.monotonic() - began > ALIVE_AFTER_S and not _SHOWING:
            progress.start()
            progress.update(task, description=f"{cycles / 1e6:,.0f} M cycles")

    machine.watching = tell
    try:
        yield
    finally:
        machine.watching = None
        progress.stop()
