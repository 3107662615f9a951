# SPDX-License-Identifier: MIT OR Apache-2.0
"""Printed cells of the papers' tables, and the rows of data/published that answer each.

A cell is answered where a row of its table has the cell's number, or where data/published/cells.toml gives a reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sunseal.catalog import boards, places
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    from sunseal.papers.published import Row

_NUMBER = re.compile(r"-?\d[\d,_]*\.?\d*(?:[eE][+-]?\d+)?")
_PRINTED = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:-\d+)?(?: ?[A-Za-z%][A-Za-z%/]*)?")
"""A figure as a table prints it: commas between thousands, a range, a unit behind it."""
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
    """Labels of those rows, the one first that has most words of the cell's head and column."""
    reason: str
    """Reason for there being none, where there is none."""


@dataclass(frozen=True)
class Beside:
    """A cell of the paper's layout with ours beside it."""

    text: str
    """As printed; empty where the text has lost it."""
    row: Row | None
    """Ours, None where there is none."""
    reason: str
    """Reason for there being none, where there is none."""

    @property
    def shown(self) -> str | None:
        """Figure that stands below the printed figure; None below an empty cell."""
        if not self.text:
            return None
        return self.row.show(self.row.ours) if self.row else "no row" if self.reason else "-"


@places.cached
def printed() -> tuple[Printed, ...]:
    """Read every printed table.

    Raises:
        SunsealError: If a line has not as many cells as the table has columns, or a figure cannot be read.
    """
    data: Any = boards.read_toml(boards.home() / "data" / "published" / "cells.toml")
    found: dict[str, Printed] = {}
    for i, table in enumerate(data["printed"]):
        for key in ("id", "columns", "rows"):
            if key not in table:
                name = table.get("id", f"table {i + 1}")
                raise SunsealError(f"{name} of data/published/cells.toml lacks the key '{key}'")
        if table["id"] in found:
            raise SunsealError(f"{table['id']} stands twice in data/published/cells.toml")
        for line in table["rows"]:
            _read(table["id"], table["columns"], line)
        rows = tuple(tuple(line) for line in table["rows"])
        found[table["id"]] = Printed(
            table["id"], tuple(table["columns"]), rows, dict(table.get("reasons", {})), table.get("reason", "")
        )
    return tuple(found.values())


def _read(table: str, columns: Sequence[str], line: Sequence[Any]) -> None:
    """Refuse a line whose figures nobody can be sure of."""
    if len(line) != len(columns):
        head = f"`{line[0]}`" if line else "a row"
        raise SunsealError(f"{head} of {table} has {len(line)} cells, not {len(columns)}")
    for text in line:
        if not isinstance(text, str):
            raise SunsealError(f"{text!r} of `{line[0]}` in {table} is no text; write it as printed, in quotes")
    for text in line[1:]:
        if text and not _PRINTED.fullmatch(text):
            raise SunsealError(
                f"`{text}` of `{line[0]}` in {table} is no figure: digits, commas between thousands, a "
                "point, and a unit; an empty cell is one lost"
            )


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
                # Where a reason is given, a row with the same number is there by chance.
                reason = table.reason or table.reasons.get(column, "") or table.reasons.get(head, "")
                rows = () if reason else tables.get(table.id, ())
                having = [row["label"] for row in rows if _has(row, value)]
                answers = sorted(having, key=lambda label: -_likeness(label, head, column))
                yield Cell(table.id, head, column, text, tuple(answers), reason)


def laid_out(
    table: Printed, asked: Sequence[Mapping[str, Any]], rows: Sequence[Row]
) -> list[tuple[str, tuple[Beside, ...]]]:
    """Lay a table out as the paper prints it, a head and its cells a line, with ours in each cell.

    `asked` are the table's rows as data/published has them, `rows` the same computed; without these ours is left out.
    """
    ours = {row.label: row for row in rows}
    figures = iter([cell for cell in walk({table.id: asked}) if cell.table == table.id])

    def beside(text: str) -> Beside:
        if not text:
            return Beside(text, None, "")
        cell = next(figures)
        answers = [ours[label] for label in cell.answers if label in ours]
        # The paper's arithmetic on itself says less than a run of ours.
        answers = [row for row in answers if row.kind != "arithmetic"] or answers
        return Beside(text, next((row for row in answers if row.ours is not None), None), cell.reason)

    return [(head, tuple(beside(text) for text in texts)) for head, *texts in table.rows]


def reasons(table: Printed, laid: Sequence[tuple[str, Sequence[Beside]]]) -> list[tuple[str, str]]:
    """Return each reason for which cells have no row, once, with the first column that has it."""
    columns = (zip(table.columns[1:], line, strict=True) for _, line in laid)
    return list(
        {cell.reason: (column, cell.reason) for line in columns for column, cell in line if cell.reason}.values()
    )


_WORD = re.compile(r"-?\d+(?:\.\d+)?|[^\W\d_]+")


def words(text: str) -> set[str]:
    """Return the words and numbers of a head or a label."""
    return {word.lower() for word in _WORD.findall(text)}


def _likeness(label: str, head: str, column: str) -> int:
    """Count what a label shares with a cell's head and column: equal figures stand in several rows."""
    return len(words(label) & (words(head) | words(column)))


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
