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
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from sunseal.errors import SunsealError

P = ParamSpec("P")
T = TypeVar("T")
OWN = "sunseal"
"""Name of the folder in the working directory, and in the user's data directory."""
_beside: ContextVar[Path | None] = ContextVar("beside", default=None)
_Looked = dict[tuple[Path, ...], tuple[Path, ...]]
_looked: ContextVar[_Looked | None] = ContextVar("looked", default=None)
"""Wanted folders that exist, while one file is worked on: a plan asks tens of thousands of times."""


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
    _looked.set({})


@contextlib.contextmanager
def beside(folder: Path | None) -> Iterator[None]:
    """Look first in the folder of a scenario, if it came from a file, while it is worked on."""
    if folder is None:
        yield
        return
    token, looked = _beside.set(folder.absolute()), _looked.set({})
    try:
        yield
    finally:
        _beside.reset(token)
        _looked.reset(looked)


def own_folders() -> tuple[Path, ...]:
    """Return the user's folders that there are, the first first."""
    near = _beside.get()
    named = tuple(os.environ.get(key, "") for key in ("XDG_DATA_HOME", "APPDATA", "HOME", "USERPROFILE"))
    wanted = _wanted(near, os.getcwd(), named)  # noqa: PTH109 - a plan asks ten thousands of times
    kept = _looked.get()
    if kept is not None and wanted in kept:
        return kept[wanted]
    found = tuple(folder for folder in wanted if _readable(folder))
    if kept is not None:
        kept[wanted] = found
    return found


@lru_cache(maxsize=64)
def _wanted(near: Path | None, working: str, _named: tuple[str, ...]) -> tuple[Path, ...]:
    """List the folders for a working directory and an environment, whether they are there or not."""
    return tuple(dict.fromkeys([*([near] if near is not None else []), Path(working) / OWN, user_dir()]))


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
    def of(_folders: tuple[Path, ...], args: tuple[object, ...]) -> T:
        return function(*args)  # type: ignore[arg-type,call-arg]

    @wraps(function)
    def found(*args: P.args, **named: P.kwargs) -> T:
        if named:
            raise TypeError(
                f"{function.__name__} is kept by its arguments in order: give {', '.join(named)} without name"
            )
        return of(own_folders(), args)

    return found
