# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the heads of assembly routines state, held to runs of the built libraries: cycles and stack."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from heads import COLUMNS, Head, heads

from sunseal import EngineError, Machine

FIRMWARE = Path(__file__).resolve().parents[1]
LENGTHS = (4, 8, 16)

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
            assert 0 <= done.stack_bytes <= head.stack_bytes, f"{head.file.name}: {head.name}"
    machine.restore(ready)


def test_routines_state_their_cycles() -> None:
    assert len(HEADS) > 90
    assert {h.column for h in HEADS} == {c for columns in COLUMNS.values() for c in columns}
