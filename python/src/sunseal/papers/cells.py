# SPDX-License-Identifier: MIT OR Apache-2.0
"""Printed cells of the papers' tables, and the rows of data/published that answer each.

A cell is answered where a row of its table has the cell's number, or where data/published/cells.toml gives a reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sunseal import boards, places
from sunseal.errors import SunsealError

_NUMBER = re.compile(r"-?\d[\d,_]*\.?\d*(?:[eE][+-]?\d+)?")
PREFIXES = (*(10.0**power for power in range(-12, 13, 3)), 1 / 1024)
"""Scales between a figure in SI units, or in bytes, and the same as printed."""


@dataclass(frozen=True)
class Printed:
    """A table as the paper prints it."""

    id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    reasons: dict[str, str]
    """Reasons for columns and rows without a row of ours, by their heads."""
    reason: str
    """Reason for a whole table that holds no measurement."""


@dataclass(frozen=True)
class Cell:
    """A printed figure with the rows of data/published that have its number."""

    table: str
    head: str
    column: str
    text: str
    answers: tuple[str, ...]
    """Labels of those rows."""
    reason: str
    """Reason for there being none, where there is none."""


@places.cached
def printed() -> tuple[Printed, ...]:
    """Read every printed table.

    Raises:
        SunsealError: If a line has not as many cells as the table has columns, or a figure cannot be read.
    """
    data: Any = boards.read_toml(boards.home() / "data" / "published" / "cells.toml")
    found = []
    for table in data["printed"]:
        for line in table["rows"]:
            if len(line) != len(table["columns"]):
                raise SunsealError(f"`{line[0]}` of {table['id']} has {len(line)} cells, not {len(table['columns'])}")
            for text in line[1:]:
                if text and number(text) is None:
                    raise SunsealError(
                        f"`{text}` of `{line[0]}` in {table['id']} is no figure; an empty cell is one lost"
                    )
        rows = tuple(tuple(line) for line in table["rows"])
        found.append(
            Printed(table["id"], tuple(table["columns"]), rows, dict(table.get("reasons", {})), table.get("reason", ""))
        )
    return tuple(found)


def number(text: str) -> float | None:
    """Return the first number of a text."""
    found = _NUMBER.search(text)
    return float(found.group().replace(",", "").replace("_", "")) if found else None


def walk(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Cell]:
    """Yield every printed figure; `tables` has the rows of data/published by the table's name."""
    for table in printed():
        for head, *cells in table.rows:
            for column, text in zip(table.columns[1:], cells, strict=True):
                if not text:
                    continue
                value = number(text)
                assert value is not None
                answers = tuple(row["label"] for row in tables.get(table.id, ()) if _has(row, value))
                reason = table.reason or table.reasons.get(column, "") or table.reasons.get(head, "")
                yield Cell(table.id, head, column, text, answers, "" if answers else reason)


def _has(row: Mapping[str, Any], value: float) -> bool:
    """Tell whether a row's published side has a number, in the printed unit or in another scale of it."""
    if "printed" in row and (shown := number(str(row["printed"]))) is not None and math.isclose(shown, value):
        return True
    given = row.get("published")
    if isinstance(given, str):
        return any(math.isclose(float(n), value) for n in re.findall(r"\d+\.?\d*", given))
    return given is not None and any(
        math.isclose(given * scale, value, rel_tol=1e-6, abs_tol=1e-30) for scale in PREFIXES
    )
