# SPDX-License-Identifier: MIT OR Apache-2.0
"""The points of a sweep that are done, kept beside its table so that the same call goes on with them.

`x.parquet.points` is JSON: a line with what makes the sweep this one and no other, then a line a point.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import IO, Any

from sunseal.answers import writing
from sunseal.errors import SunsealError
from sunseal.sweeps.figures import Row

_ABOVE_SWEEP = 5
"""Frames from a warning in `_read` up to who called `sweep`, that of `asking.answers` among them."""


class Journal:
    """The points that are done, in memory and, where the sweep has a file, beside it."""

    def __init__(self, spec: dict[str, Any], points: int, out: Path | None) -> None:
        """Read what an earlier call of the same sweep, which has so many points, has left."""
        self.rows: dict[int, Row] = {}
        self.path = None if out is None else out.with_name(f"{out.name}.points")
        self._file: IO[str] | None = None
        if self.path is None or out is None:
            return
        if self.path.is_file():
            self._read(spec, points)
        elif out.exists():
            raise SunsealError(
                f"`{out}` is there, and `{self.path}`, which says of what sweep, is not",
                hint="name another file, or move that one away",
            )
        else:
            writing.write_atomic(self.path, json.dumps(spec) + "\n")
        self._file = self.path.open("a", encoding="utf-8")

    def _read(self, wanted: dict[str, Any], points: int) -> None:
        assert self.path is not None
        lines = self.path.read_bytes().splitlines(keepends=True)
        try:
            spec = json.loads(lines[0])
        except (IndexError, ValueError):
            spec = None
        if not isinstance(spec, dict):
            raise SunsealError(f"`{self.path}` is no journal of a sweep", hint="name another file, or move it away")
        if differs := difference(spec, wanted):
            raise SunsealError(
                f"`{self.path}` keeps another sweep: {differs}",
                hint="name another file for this one, or remove both files of that one",
            )
        good = lines[:1]
        for number, line in enumerate(lines[1:], 2):
            if number == len(lines) and not line.endswith(b"\n"):
                break  # it was being written when the process ended
            if (told := _point(line, points)) is None:
                warnings.warn(
                    f"`{self.path}`, line {number} is damaged: its point is run again", stacklevel=_ABOVE_SWEEP
                )
                continue
            self.rows[told[0]] = told[1]
            good.append(line)
        if len(good) < len(lines):
            writing.write_atomic(self.path, b"".join(good))

    def keep(self, index: int, row: Row) -> None:
        """Add a point that is done."""
        self.rows[index] = row
        if self._file is not None:
            try:
                self._file.write(json.dumps({"point": index, "row": row}) + "\n")
                self._file.flush()
            except OSError as e:
                raise SunsealError(
                    f"`{self.path}` cannot be written: {e.strerror or e}", hint="make room; the same call goes on"
                ) from e

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


def _point(line: bytes, points: int) -> tuple[int, Row] | None:
    """Read a line: a point's index and figures; None for anything else."""
    try:
        told = json.loads(line)
    except ValueError:
        return None
    match told:
        case {"point": int(index), "row": {"error": str()} as row} if 0 <= index < points:
            return index, row
    return None


def difference(was: Any, now: Any, path: str = "") -> str:
    """Say where two specs differ first; an empty text if they do not."""
    if was == now:
        return ""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            if told := difference(was.get(key), now.get(key), f"{path}.{key}" if path else str(key)):
                return told
    if path == "points":
        return "its sampler gave other points"
    if path.startswith("files."):
        return f"`{path.removeprefix('files.')}` has changed since"
    return f"`{path}` was {_short(was)} and is {_short(now)}"


def _short(value: Any) -> str:
    text = json.dumps(value) if value is not None else "absent"
    return text if len(text) <= 60 else f"{text[:57]}..."
