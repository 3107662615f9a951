# SPDX-License-Identifier: MIT OR Apache-2.0
"""Inputs over time: points of a .csv, levels of a .vcd."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from sunseal.errors import SunsealError

VCD_UNIT_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15}


def read_points(path: Path, what: str) -> list[tuple[float, float]]:
    """Read two columns, time in seconds and a value, of a CSV file; a first line of names is passed over.

    Raises
    ------
    SunsealError names the line where a value is missing, is no number, or where time does not rise.
    """
    return [(time_s, value) for time_s, value in read_rows(path, what, 1)]


def read_levels(path: Path, signal: str, what: str) -> list[tuple[float, bool | None]]:
    """Read the edges of one signal of a value change dump (IEEE 1364): seconds and level, None where it is x or z.

    `signal` is its name, whole (`top.bus.ready`) or its end, and may be empty where the dump has one alone of one bit.

    Raises
    ------
    SunsealError names the signals of one bit where none or several are meant, and what is wrong with the file.
    """
    from vcd.reader import TokenKind, VCDParseError, tokenize

    levels = {"0": False, "1": True}
    ids: dict[str, str] = {}
    points: list[tuple[float, bool | None]] = []
    scopes: list[str] = []
    chosen, now, tick_s = "", 0, 1.0
    try:
        with path.open("rb") as file:
            for token in tokenize(file):
                match token.kind:
                    case TokenKind.TIMESCALE:
                        tick_s = int(token.timescale.magnitude) * VCD_UNIT_S[token.timescale.unit.value]
                    case TokenKind.SCOPE:
                        scopes.append(token.scope.ident)
                    case TokenKind.UPSCOPE:
                        scopes.pop()
                    case TokenKind.VAR if token.var.size == 1:
                        ids[".".join([*scopes, token.var.reference])] = token.var.id_code
                    case TokenKind.ENDDEFINITIONS:
                        chosen = ids[_signal(ids, signal, path, what)]
                    case TokenKind.CHANGE_TIME:
                        now = token.time_change
                    case TokenKind.CHANGE_SCALAR if token.scalar_change.id_code == chosen:
                        points.append((now * tick_s, levels.get(token.scalar_change.value)))
    except OSError as e:
        raise SunsealError(f"the file `{path}` for {what} cannot be read: {e.strerror or e}") from e
    except VCDParseError as e:
        raise SunsealError(f"the file `{path}` for {what} is no value change dump: {e}") from e
    if not points:
        raise SunsealError(f"`{path}` for {what} holds no level of a signal")
    return points


def _signal(ids: dict[str, str], wanted: str, path: Path, what: str) -> str:
    found = [name for name in ids if not wanted or name == wanted or name.endswith(f".{wanted}")]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(list(found or ids)[:20]) or "none"
    if not found:
        raise SunsealError(f"`{path}` for {what} has no signal `{wanted}` of one bit; it has {listed}")
    raise SunsealError(f"`{path}` for {what} has several signals, {listed}: name one, as `{path.name}:{found[0]}`")


def read_rows(path: Path, what: str, values: int) -> list[tuple[float, ...]]:
    """Read a column of time in seconds and some of values, as `read_points` does."""
    wanted = "a time in seconds and " + ("a value" if values == 1 else f"{values} values")
    example = ",".join(["0.25", "1.2", "0.1", "1.0"][: 1 + values])
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # spreadsheets write a byte order mark
    except OSError as e:
        raise SunsealError(f"the file `{path}` for {what} cannot be read: {e.strerror or e}") from e
    except UnicodeDecodeError as e:
        raise SunsealError(f"the file `{path}` for {what} cannot be read: {e}") from e
    points: list[tuple[float, ...]] = []
    for number, row in enumerate(csv.reader(lines), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        try:
            point = tuple(float(cell) for cell in cells)
        except ValueError:
            point = ()
        if len(point) != 1 + values:
            if number == 1 and all(cell and not cell[0].isdigit() for cell in cells):
                continue
            raise SunsealError(f"`{path}` line {number} is not {wanted}: write `{example}`")
        if not all(map(math.isfinite, point)):
            raise SunsealError(f"`{path}` line {number} holds what is no finite number: `{','.join(row)}`")
        if points and point[0] <= points[-1][0]:
            raise SunsealError(f"`{path}` line {number} does not come after the line before it: its time must rise")
        points.append(point)
    if not points:
        raise SunsealError(f"`{path}` for {what} holds no points: write lines such as `{example}`")
    return points
