# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the heads of assembly routines state, held to runs of the built libraries: cycles and stack."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from sunseal import EngineError, Machine

FIRMWARE = Path(__file__).resolve().parents[1]
COLUMNS = {
    "mpynone": ("msp430f5438a-anagear/mpy-none",),
    "mpy16": ("msp430f5438a-anagear/mpy-16",),
    "mpy32": ("msp430f5438a-anagear/mpy-32",),
    "msp430": ("msp430f5438a-anagear/mpy-32",),
    "avr": ("micaz/default",),
    "armv7em": ("msp432p401r-launchpad/default",),
}
"""Where a file's end says that it runs. Cycles of the F1611's classic core differ and are not stated."""
LENGTHS = (4, 8, 16)


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


def heads() -> Iterator[Head]:
    """All heads whose arguments are pointers and a length."""
    for file in sorted((FIRMWARE / "crypto" / "src").rglob("*.S")):
        text = file.read_text(encoding="utf-8")
        for block in re.findall(r"(?:^[;*/ ]+.*\n)+", text, re.MULTILINE):
            name = re.search(r"name:\s+\w+ (sunseal_\w+)\(([^)]*)\)", block.replace("\n;", " ").replace("\n *", " "))
            cycles = re.search(r"cycles:\s+(\d+)(?: \+ (\d+) n(?:/(\d+))?)?\s*$", block, re.MULTILINE)
            stack = re.search(r"stack:\s+(\d+)", block)
            if name is None or cycles is None:
                continue
            types = tuple(part.strip() for part in name[2].split(","))
            if "struct" in name[2] or not all("*" in t or "[" in t or t == "size_t n" for t in types):
                continue
            for column in COLUMNS[file.stem.rpartition("_")[2]]:
                numbers = int(cycles[1]), int(cycles[2] or 0), int(cycles[3] or 1)
                yield Head(file, column, name[1], types, *numbers, int(stack[1]) if stack else None)


HEADS = list(heads())


@cache
def machines(column: str) -> list[Machine]:
    """The libraries of a column, standing at main."""
    found = []
    for elf in sorted((FIRMWARE / "build" / column).glob("library-*.elf")):
        found.append(Machine(column.partition("/")[0], elf))
        found[-1].run(until="main")
    return found


def holding(head: Head) -> Machine:
    """The machine that has a routine."""
    for machine in machines(head.column):
        try:
            machine.address(head.name)
        except EngineError:
            continue
        return machine
    raise AssertionError(f"{head.name} is in no library of {head.column}")


@pytest.mark.parametrize("head", HEADS, ids=[f"{h.column.replace('/', '-')}-{h.name}" for h in HEADS])
def test_a_head_states_its_cycles_and_stack(head: Head) -> None:
    machine, some = holding(head), random.Random(5)
    ready = machine.snapshot()
    for n in LENGTHS if "size_t n" in head.types else (0,):
        machine.restore(ready)
        machine.release()
        done = machine.call(
            head.name, *(n if t == "size_t n" else machine.place(some.randbytes(160)) for t in head.types)
        )
        assert done.cycles == head.base + head.slope * n // head.per, f"{head.file.name}: {head.name}, n = {n}"
        if head.stack_bytes is not None:
            assert done.stack_bytes <= head.stack_bytes, f"{head.file.name}: {head.name}"
    machine.restore(ready)


def test_routines_state_their_cycles() -> None:
    assert len(HEADS) > 60
    assert {h.column for h in HEADS} == {c for columns in COLUMNS.values() for c in columns}
