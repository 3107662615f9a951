# SPDX-License-Identifier: MIT OR Apache-2.0
"""The heads of assembly routines: signature, cycles, stack, as their sources state them.

A head stands before its routine, or once for several in a file that each field's or multiplier's source includes:
`sunseal_FE_mul` is that of every field, and `fe160 18, fe224 24` or `mpy16 666, mpy32 366` are the numbers of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "crypto" / "src"
COLUMNS = {
    "mpynone": ("msp430f5438a-anagear/mpy-none",),
    "mpy16": ("msp430f5438a-anagear/mpy-16",),
    "mpy32": ("msp430f5438a-anagear/mpy-32",),
    "msp430": ("msp430f5438a-anagear/mpy-32",),
    "avr": ("micaz/default",),
    "armv7em": ("msp432p401r-launchpad/default",),
}
"""Where a file's end says that it runs. Cycles of the F1611's classic core differ and are not stated."""


@dataclass(frozen=True)
class Head:
    """A routine that states its cycles as a number, or as a line in n."""

    file: Path
    column: str
    name: str
    types: tuple[str, ...]
    base: int
    slope: int
    per: int
    stack_bytes: int | None


def of_each(text: str) -> dict[str, int]:
    """Read `fe160 18, fe224 24`: the number of each field or multiplier, or "" for one that all have."""
    if one := re.match(r"\d+\b", text):
        return {"": int(one[0])}
    return {key: int(number) for key, number in re.findall(r"\b(fe\d+|mpy\w+) (\d+)", text)}


def heads() -> Iterator[Head]:
    """All heads whose arguments are pointers and a length."""
    for file in sorted(f for ending in ("S", "inc") for f in SOURCES.rglob(f"*.{ending}")):
        text = file.read_text(encoding="utf-8")
        for block in re.findall(r"(?:^[;*/ ]+.*\n)+", text, re.MULTILINE):
            name = re.search(r"name:\s+\w+ (sunseal_\w+)\(([^)]*)\)", block.replace("\n;", " ").replace("\n *", " "))
            line = re.search(r"cycles:\s+(\d+)(?: \+ (\d+) n(?:/(\d+))?)?\s*$", block, re.MULTILINE)
            table = re.search(r"cycles:\s+((?:(?:fe|mpy)\w+ \d+(?:, )?)+)$", block, re.MULTILINE)
            if name is None:
                continue
            if table:
                cycles, slope, per = of_each(table[1]), 0, 1
            elif line:
                cycles, slope, per = of_each(line[1]), int(line[2] or 0), int(line[3] or 1)
            else:
                continue
            types = tuple(part.strip() for part in name[2].split(","))
            if "struct" in name[2] or not all("*" in t or "[" in t or t == "size_t n" for t in types):
                continue
            stated = re.search(r"stack:\s+(.*)", block)
            stacks = of_each(stated[1]) if stated else {}
            for key, base in cycles.items():
                end = key if key in COLUMNS else file.stem.rpartition("_")[2]
                routine = name[1].replace("_FE_", f"_{key}_")
                for column in COLUMNS[end]:
                    yield Head(file, column, routine, types, base, slope, per, stacks.get(key, stacks.get("")))
