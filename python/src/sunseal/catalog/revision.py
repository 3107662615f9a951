# SPDX-License-Identifier: MIT OR Apache-2.0
"""Version of the package and revision of its data: by both, a figure can be found again."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from sunseal import _engine
from sunseal.catalog import boards
from sunseal.errors import SunsealError

ONLY_FOR_TESTS = ("single-step", "vectors")
"""Rooms of `data/` that no figure rests on."""
DIGITS = 12


def digest(data: Path) -> str:
    """Hash a folder's files by name and content, as `sha256sum` lists them in the order of their bytes."""
    names = []
    for folder, folders, files in os.walk(data):
        inside = Path(folder).relative_to(data)
        if inside == Path():
            folders[:] = [name for name in folders if name not in ONLY_FOR_TESTS]
        names += [f"./{(inside / name).as_posix()}" for name in files]
    whole = hashlib.sha256()
    for name in sorted(names, key=os.fsencode):
        whole.update(f"{hashlib.sha256((data / name).read_bytes()).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()


@cache
def data_revision() -> str:
    """Return the revision of `data/` as it is installed, or `none` where there is no such folder."""
    try:
        return digest(boards.home() / "data")[:DIGITS]
    except (SunsealError, OSError):
        return "none"


def made_by() -> dict[str, str]:
    """Return what each answer in JSON says of what made it."""
    return {"version": _engine.VERSION, "data": data_revision()}
