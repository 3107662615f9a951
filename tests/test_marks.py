# SPDX-License-Identifier: MIT OR Apache-2.0
"""Marks of data/: figures written from memory, and assumptions of ours. docs/accuracy.md has how many there are."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("boards", "devices", "errata", "noise", "parts", "power", "survival")
ROW = re.compile(r"^\| `data/(\w+)` \| (\d+) \| (\d+) \|$", re.M)


def marks(told: object) -> Iterator[tuple[str, object]]:
    """Yield each mark of a data file; a power set may call one of its sources by the same word."""
    if isinstance(told, dict):
        if "recalled" in told:
            yield "recalled", told["recalled"]
        if "assumed" in told and not isinstance(told["assumed"], dict):
            yield "assumed", told["assumed"]
    for inner in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from marks(inner)


def of_room(room: str) -> Iterator[tuple[Path, str, object]]:
    for path in sorted((ROOT / "data" / room).glob("*.toml")):
        for mark, value in marks(tomllib.loads(path.read_text(encoding="utf-8"))):
            yield path, mark, value


def test_the_accuracy_page_counts_what_was_recalled_and_what_is_assumed() -> None:
    told = {room: (int(r), int(a)) for room, r, a in ROW.findall((ROOT / "docs/accuracy.md").read_text("utf-8"))}
    counted = {room: Counter(mark for _, mark, _ in of_room(room)) for room in ROOMS}
    assert told == {room: (c["recalled"], c["assumed"]) for room, c in counted.items()}
    marked = {p.name for p in (ROOT / "data").iterdir() if p.is_dir() and any(of_room(p.name))}
    assert marked <= {*ROOMS}, "a room with marks that the page does not count"


def test_an_assumption_says_why_it_is_one_and_what_would_settle_it() -> None:
    assumed = [(path.name, value) for room in ROOMS for path, mark, value in of_room(room) if mark == "assumed"]
    assert assumed
    for name, value in assumed:
        assert isinstance(value, str), name
        assert "would settle" in value, f"{name}: {value}"
        assert len(value.split()) >= 5, f"{name}: {value}"


def test_a_recalled_block_says_so_by_true() -> None:
    for room in ROOMS:
        for path, mark, value in of_room(room):
            assert mark == "assumed" or value is True, f"{path.name}: recalled = {value!r}"
