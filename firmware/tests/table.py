#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Run every known answer through every implementation: python table.py write|check [COLUMN...].

The host's library is called through ctypes, each target's on its simulated board. The table goes to
docs/reference/vectors.md: rows are documents and functions, columns are implementations, an empty cell
is a vector that nothing ran.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from calls import Call, In, InOut, Out, Symbol, cases
from rich.progress import track

from sunseal import EngineError, Machine, SunsealError

FIRMWARE = Path(__file__).resolve().parents[1]
TABLE = FIRMWARE.parent / "docs" / "reference" / "vectors.md"
FILL = b"\xa5"
HOST = "host"
COLUMNS = {
    HOST: "host C",
    "msp430f5438a-anagear/mpy-none": "F5438A, no multiplier",
    "msp430f5438a-anagear/mpy-16": "F5438A, 16-bit",
    "msp430f5438a-anagear/mpy-32": "F5438A, MPY32",
    "msp430fr5994-launchpad/mpy-32": "FR5994",
    "telosb/mpy-16": "F1611",
    "micaz/default": "ATmega128L",
    "msp432p401r-launchpad/default": "MSP432P401R",
}
SLOW = {
    "msp430f5438a-anagear/mpy-none": 96,
    "msp430f5438a-anagear/mpy-16": 12,
    "msp430fr5994-launchpad/mpy-32": 4,
    "micaz/default": 8,
    "telosb/mpy-16": 8,
}
"""Of the calls that are marked slow, one in so many runs here; all of them run in the other columns."""


def contents(call: Call) -> list[bytes | Symbol | int | np.integer]:
    """The bytes behind each pointer, and the others as they are."""
    return [
        arg.data if isinstance(arg, In | InOut) else FILL * arg.size if isinstance(arg, Out) else arg
        for arg in call.args
    ]


def wrong(call: Call, value: int, outputs: Sequence[bytes]) -> str | None:
    """What differs from the known answer."""
    allowed = (call.expected,) if isinstance(call.expected, int) else call.expected
    if allowed is not None and value not in allowed:
        return f"{call.name}: {call.function} gave {value}, not {call.expected}"
    for at, (have, want) in enumerate(zip(outputs, call.outputs, strict=True)):
        if want is not None and have != want:
            return f"{call.name}: {call.function}, output {at}: {have.hex()} is not {want.hex()}"
    return None


class Host:
    """The library as this machine's compiler makes it."""

    def __init__(self, path: Path) -> None:
        """Load a shared library."""
        self.library = ctypes.CDLL(str(path))

    def has(self, function: str) -> bool:
        """Say whether the function is there."""
        return hasattr(self.library, function)

    def number(self, given: Symbol | int | np.integer) -> int:
        """What is passed for it."""
        if isinstance(given, Symbol):
            return ctypes.addressof(ctypes.c_char.in_dll(self.library, given.name))
        return int(given) % 2**64

    def run(self, call: Call) -> str | None:
        """Call once; say what is wrong."""
        given = contents(call)
        buffers = [ctypes.create_string_buffer(g, max(len(g), 1)) if isinstance(g, bytes) else None for g in given]
        numbers = [None if isinstance(g, bytes) else ctypes.c_uint64(self.number(g)) for g in given]
        value = self.library[call.function](*(b if b is not None else n for b, n in zip(buffers, numbers, strict=True)))
        outputs = [
            b.raw[: len(g)]
            for b, g, arg in zip(buffers, given, call.args, strict=True)
            if isinstance(arg, Out | InOut) and b is not None and isinstance(g, bytes)
        ]
        return wrong(call, value, outputs)


class Target:
    """One `library-<group>.elf` on its simulated board."""

    def __init__(self, board: str, elf: Path) -> None:
        """Start the program and keep it as it stands at main."""
        self.machine = Machine(board, elf)
        self.machine.run(until="main", cycles=10_000_000)
        self.ready = self.machine.snapshot()

    def has(self, function: str) -> bool:
        """Say whether the function is in this ELF."""
        try:
            self.machine.address(function)
        except EngineError:
            return False
        return True

    def arguments(self, call: Call) -> list[int | np.integer]:
        """Go back to the state at main; put the arguments' bytes into RAM and return what is passed."""
        m = self.machine
        m.restore(self.ready)
        m.release()
        return [
            m.place(g) if isinstance(g, bytes) else m.address(g.name) if isinstance(g, Symbol) else g
            for g in contents(call)
        ]

    def run(self, call: Call) -> str | None:
        """Call once from the same state as always; say what is wrong."""
        m = self.machine
        try:
            args = self.arguments(call)
            value = m.call(call.function, *args).value
            if told := m.lints():
                return f"{call.name}: {call.function}: {told[0]}"
        except (EngineError, SunsealError) as e:
            return f"{call.name}: {call.function}: {e}"
        outputs = [
            m.read(int(place), arg.size if isinstance(arg, Out) else len(arg.data))
            for place, arg in zip(args, call.args, strict=True)
            if isinstance(arg, Out | InOut)
        ]
        return wrong(call, value, outputs)


@cache
def implementations(column: str) -> tuple[Host | Target, ...]:
    """What a column is made of: a target's flash does not hold all groups at once."""
    folder = FIRMWARE / "build" / column
    if column == HOST:
        return (Host(folder / "libsunseal.so"),)
    return tuple(Target(column.partition("/")[0], elf) for elf in sorted(folder.glob("library-*.elf")))


def symbols(call: Call) -> list[str]:
    """What the library must have."""
    return [call.function, *(arg.name for arg in call.args if isinstance(arg, Symbol))]


def row(call: Call) -> tuple[str, str]:
    """Where a vector stands: its document, and its function with what it works on."""
    return call.name.split()[0].rstrip(",:"), " ".join(symbols(call))


def chosen(calls: Iterable[Call], column: str) -> list[Call]:
    """The calls that a column runs: of slow ones, a sample on slow targets."""
    every, some, met = SLOW.get(column, 1), [], 0
    for call in calls:
        met += call.slow
        if not call.slow or (met - 1) % every == 0:
            some.append(call)
    return some


@dataclass(frozen=True)
class Share:
    """A part of a column's work."""

    column: str
    part: int
    parts: int


def work(share: Share) -> tuple[str, dict[tuple[str, str], int], list[str]]:
    """Run a share; return how many of each row were run, and what was wrong."""
    run: dict[tuple[str, str], int] = defaultdict(int)
    errors: list[str] = []
    for call in chosen(ALL, share.column)[share.part :: share.parts]:
        for implementation in implementations(share.column):
            if all(map(implementation.has, symbols(call))):
                run[row(call)] += 1
                found = implementation.run(call)
                if found:
                    errors.append(f"{share.column}: {found}")
                break
    return share.column, dict(run), errors


def tabulate(columns: Sequence[str]) -> tuple[str, list[str]]:
    """Run everything; return the table as Markdown, and what was wrong."""
    counts: dict[str, dict[tuple[str, str], int]] = {c: defaultdict(int) for c in columns}
    errors: list[str] = []
    parts = 8
    shares = [Share(c, part, parts) for c in columns for part in range(parts)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for column, run, found in track(
            pool.map(work, shares), total=len(shares), description="known answers", disable=not sys.stderr.isatty()
        ):
            errors += found
            for key, count in run.items():
                counts[column][key] += count
    total: dict[tuple[str, str], int] = defaultdict(int)
    for call in ALL:
        total[row(call)] += 1
    lines = [HEAD, "| source | function | vectors | " + " | ".join(COLUMNS[c] for c in columns) + " |"]
    lines.append("|---" * (3 + len(columns)) + "|")
    for key in sorted(total):
        cells = [str(counts[c][key] or "") for c in columns]
        lines.append(f"| {key[0]} | `{key[1]}` | {total[key]} | " + " | ".join(cells) + " |")
    sums = [str(sum(counts[c].values())) for c in columns]
    lines.append(f"| | all | {sum(total.values())} | " + " | ".join(sums) + " |")
    return "\n".join(lines) + "\n", errors


HEAD = """# Known answers

Written by `.venv/bin/python firmware/tests/table.py write`, after every call in it gave the known answer; CI
runs the same and compares. A cell counts the vectors that ran on this implementation: the host's build, and
the target's own binary on its simulated board. An empty cell is a vector that nothing ran there. Slow targets
run a sample of the operations that take tens of millions of cycles. Where the vectors come from:
[data/vectors](../../data/vectors/README.md).
"""

ALL = list(cases())


def main() -> int:
    """The verdict."""
    if len(sys.argv) < 2 or sys.argv[1] not in ("write", "check") or any(c not in COLUMNS for c in sys.argv[2:]):
        print(f"table.py: write or check, then any of the columns {', '.join(COLUMNS)}", file=sys.stderr)
        return 2
    columns = sys.argv[2:] or list(COLUMNS)
    table, errors = tabulate(columns)
    for error in errors:
        print(error, file=sys.stderr)
    if errors or len(columns) < len(COLUMNS):
        print(table if not errors else f"table.py: {len(errors)} answers are wrong", file=sys.stderr)
        return bool(errors)
    if sys.argv[1] == "write":
        TABLE.write_text(table, encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != table:
        print(
            f"table.py: {TABLE.name} is out of date; run `table.py write` and look at the difference", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
