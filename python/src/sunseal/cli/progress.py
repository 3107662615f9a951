# SPDX-License-Identifier: MIT OR Apache-2.0
"""Progress bars: on standard error, and only to a person."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sunseal.cli.console import err

if TYPE_CHECKING:
    from rich.live import Live

ALIVE_AFTER_S = 1.0


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
    with contextlib.ExitStack() as shown:
        progress = Progress(*columns, console=err.console, transient=True)
        task = progress.add_task(what, total=None)

        def report(done: int, of: int) -> None:
            if not progress.live.is_started:
                shown.enter_context(progress)
            progress.update(task, completed=done, total=of)

        yield report


class Alive:
    """A spinner with the time and a machine's cycles, wherever a command has shown nothing for a moment."""

    def __init__(self) -> None:
        """Begin to look at the clock."""
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        # Answers go to standard output, whatever is shown here.
        self._progress = Progress(
            *columns, console=err.console, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._task = self._progress.add_task("working", total=None)
        self._lock = threading.RLock()
        self._quiet_since = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        err.on_use = self._yield_to
        self._thread.start()

    def tell(self, cycles: int) -> None:
        """Hear of a machine's cycles."""
        self._progress.update(self._task, description=f"{cycles / 1e6:,.0f} M cycles")

    def end(self) -> None:
        """Show nothing any more."""
        err.on_use = None
        self._ended.set()
        self._thread.join()
        self._progress.stop()

    def _look(self) -> None:
        while not self._ended.wait(ALIVE_AFTER_S / 4):
            with self._lock:
                if err.displays:
                    self._quiet_since = time.monotonic()
                elif time.monotonic() - self._quiet_since > ALIVE_AFTER_S:
                    self._progress.start()

    def _yield_to(self, live: Live | None) -> None:
        if live is not self._progress.live:
            with self._lock:
                self._progress.stop()
                self._quiet_since = time.monotonic()


_ALIVE: list[Alive] = []


@contextlib.contextmanager
def alive(quiet: bool) -> Iterator[None]:
    """Show that a command goes on that takes more than a moment and shows nothing itself."""
    if quiet or not err.is_terminal:
        yield
        return
    from sunseal.machine import machine

    _ALIVE.append(Alive())
    machine.watching = _ALIVE[-1].tell
    try:
        yield
    finally:
        leave()


def leave() -> None:
    """Leave the terminal to the command."""
    from sunseal.machine import machine

    machine.watching = None
    while _ALIVE:
        _ALIVE.pop().end()
