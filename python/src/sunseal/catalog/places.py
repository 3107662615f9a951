# SPDX-License-Identifier: MIT OR Apache-2.0
"""Places where files of the user's own are looked for: the one place that decides it, for Python and for the engine.

In this order: the folder of the scenario or requirements that are read, `./sunseal`, the user's data directory, the
package. In each a file lies in a room (`parts/`, `boards/`, `power/`, `devices/`, `scenarios/`) or loose.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from sunseal.errors import SunsealError

P = ParamSpec("P")
T = TypeVar("T")
OWN = "sunseal"
"""Name of the folder in the working directory, and in the user's data directory."""
_beside: ContextVar[Path | None] = ContextVar("beside", default=None)
_looked: ContextVar[list[tuple[Path, ...]] | None] = ContextVar("looked", default=None)
"""The user's folders, once they were looked at, while one file is worked on: a plan asks tens of thousands of times."""


def user_dir() -> Path:
    """Return the user's data directory (XDG base directory specification; Library on macOS, AppData on Windows)."""
    named = os.environ.get("XDG_DATA_HOME")
    if named:
        return Path(named) / OWN
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / OWN
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / OWN
    return Path.home() / ".local" / "share" / OWN


def look_beside(folder: Path | None) -> None:
    """Look first in a folder from now on, that of the file which the command was given; keep which there are."""
    _beside.set(None if folder is None else folder.absolute())
    _looked.set([])


@contextlib.contextmanager
def beside(folder: Path | None) -> Iterator[None]:
    """Look first in the folder of a scenario, if it came from a file, while it is worked on."""
    if folder is None:
        yield
        return
    token, looked = _beside.set(folder.absolute()), _looked.set([])
    try:
        yield
    finally:
        _beside.reset(token)
        _looked.reset(looked)


def own_folders() -> tuple[Path, ...]:
    """Return the user's folders that there are, the first first."""
    kept = _looked.get()
    if kept:
        return kept[0]
    near = _beside.get()
    wanted = dict.fromkeys([*([near] if near is not None else []), Path.cwd() / OWN, user_dir()])
    found = tuple(folder for folder in wanted if _readable(folder))
    if kept is not None:
        kept.append(found)
    return found


def _readable(folder: Path) -> bool:
    """Say whether a folder is there; one that may not be read is an error, as it may hold what is looked for."""
    try:
        if not folder.is_dir():
            return False
    except OSError:  # a home of somebody else: nothing of ours is in it
        return False
    try:
        next(folder.iterdir(), None)
    except OSError as e:
        raise SunsealError(
            f"the folder `{folder}` may hold parts of your own and cannot be read: {e.strerror or e}",
            hint="give yourself the right to read it, or move it away",
        ) from e
    return True


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Keep what a function of plain arguments found, for each list of folders that it may have looked in."""

    @cache
    def of(_folders: tuple[str, ...], args: tuple[object, ...]) -> T:
        return function(*args)  # type: ignore[arg-type,call-arg]

    @wraps(function)
    def found(*args: P.args, **named: P.kwargs) -> T:
        if named:
            raise TypeError(
                f"{function.__name__} is kept by its arguments in order: give {', '.join(named)} without name"
            )
        return of(tuple(map(str, own_folders())), args)

    return found
