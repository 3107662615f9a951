#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Run every known answer through every implementation: python table.py write|check|sample [COLUMN...].

The host's library is called through ctypes, each target's on its simulated board. The table goes to
docs/reference/vectors.md: rows are documents and functions, columns are implementations, an empty cell
is a vector that nothing ran. A sample runs on the targets one in thirty-two of the calls of a row that are marked slow,
at least one of each, and holds the table to its rows and to which of its cells are empty.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from calls import PENDING, Argument, Call, Function, In, InOut, Into, Out, Struct, Symbol, cases
from refused import REFUSED
from rich.progress import track

from sunseal import EngineError, Machine, SunsealError
from sunseal.machine import abi

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
ROOM_BYTES = {
    HOST: 1 << 24,
    "msp430f5438a-anagear/mpy-none": 12_000,
    "msp430f5438a-anagear/mpy-16": 12_000,
    "msp430f5438a-anagear/mpy-32": 12_000,
    "msp430fr5994-launchpad/mpy-32": 4_000,
    "telosb/mpy-16": 6_000,
    "micaz/default": 2_400,
    "msp432p401r-launchpad/default": 30_000,
}
"""What a call's buffers may take beside static data and the stack."""
ECC_ROOM_BYTES = {"micaz/default": 480}
"""The same where a stack of 2 KB leaves less."""
SLOW = {
    "msp430f5438a-anagear/mpy-none": 96,
    "msp430f5438a-anagear/mpy-16": 12,
    "msp430fr5994-launchpad/mpy-32": 4,
    "micaz/default": 8,
    "telosb/mpy-16": 8,
}
"""Of the calls that are marked slow, one in so many runs here; all of them run in the other columns."""
STEPS_MOST = 100
"""Of one computation: so many make none that never ends."""
SAMPLED = 32
"""Of the slow calls of a row that a target runs, one in so many is in a sample."""


def content(arg: In | InOut | Out) -> bytes:
    """The bytes behind a pointer, before the call."""
    return FILL * arg.size if isinstance(arg, Out) else arg.data


def wrong(call: Call, value: int | None, outputs: Sequence[bytes]) -> str | None:
    """What differs from the known answer."""
    allowed = (call.expected,) if isinstance(call.expected, int) else call.expected
    if allowed is not None and value not in allowed:
        return f"{call.name}: {call.function} gave {value}, not {call.expected}"
    for at, (have, want) in enumerate(zip(outputs, call.outputs, strict=True)):
        if want is not None and have != want:
            return f"{call.name}: {call.function}, output {at}: {have.hex()} is not {want.hex()}"
    return None


class Implementation:
    """A library whose functions can be called: what the host's and the targets' have in common."""

    pointer_bytes: int
    aligned_bytes: int
    """Members of structures begin at multiples of their own size, up to this one."""

    def has(self, function: str) -> bool:
        """Say whether the function is there."""
        raise NotImplementedError

    def place(self, data: bytes) -> int:
        """Put bytes into memory that lasts as long as the call."""
        raise NotImplementedError

    def symbol(self, name: str) -> int:
        """The address of an object."""
        raise NotImplementedError

    def code(self, name: str) -> bytes:
        """A pointer to a function, as it lies in memory."""
        raise NotImplementedError

    def pointer(self, address: int) -> bytes:
        """A pointer to data, as it lies in memory."""
        return address.to_bytes(self.pointer_bytes, "little")

    def prepare(self, call: Call) -> tuple[list[int | np.integer], list[tuple[In | InOut | Out, int]]]:
        """Place what the call points to; return what is passed, and the buffers with their addresses."""
        buffers: list[tuple[In | InOut | Out, int]] = []

        def passed(arg: Argument) -> int | np.integer:
            if isinstance(arg, In | InOut | Out):
                buffers.append((arg, self.place(content(arg))))
                return buffers[-1][1]
            if isinstance(arg, Struct):
                return self.place(self.members(arg, passed))
            return self.symbol(arg.name) if isinstance(arg, Symbol) else 0 if isinstance(arg, Into) else arg

        numbers = [passed(arg) for arg in call.args]
        for i, arg in enumerate(call.args):
            if isinstance(arg, Into):
                numbers[i] = int(numbers[arg.argument]) + arg.offset
        return numbers, buffers

    def invoke(self, function: str, numbers: Sequence[int | np.integer]) -> int | None:
        """Call a function of it."""
        raise NotImplementedError

    def answer(self, call: Call, numbers: Sequence[int | np.integer]) -> int | None:
        """Call, in parts where it has some, and return what the last answers; one that refuses is the last."""
        value = None
        for part in call.parts or (None,):
            if part is None:
                return self.invoke(call.function, numbers)
            for _ in range(STEPS_MOST):
                value = self.invoke(part.function, [numbers[i] for i in part.arguments])
                if value != PENDING:
                    break
            if value != 0:
                break
        return value

    def members(self, struct: Struct, passed: Callable[[Argument], int | np.integer]) -> bytes:
        """A structure's bytes."""
        out = b""
        for member in struct.members:
            if isinstance(member, np.integer):
                data = member.tobytes()
            else:
                data = self.code(member.name) if isinstance(member, Function) else self.pointer(int(passed(member)))
            out += bytes(-len(out) % min(len(data), self.aligned_bytes)) + data
        return out


class Host(Implementation):
    """The library as this machine's compiler makes it."""

    pointer_bytes, aligned_bytes = 8, 8

    def __init__(self, path: Path) -> None:
        """Load a shared library."""
        self.library = ctypes.CDLL(str(path))
        self.held: list[ctypes.Array[ctypes.c_char]] = []

    def has(self, function: str) -> bool:
        """Say whether the function is there."""
        return hasattr(self.library, function)

    def place(self, data: bytes) -> int:
        """Held until the next call."""
        self.held.append(ctypes.create_string_buffer(data, max(len(data), 1)))
        return ctypes.addressof(self.held[-1])

    def symbol(self, name: str) -> int:
        """The address of an object."""
        return ctypes.addressof(ctypes.c_char.in_dll(self.library, name))

    def code(self, name: str) -> bytes:
        """As data."""
        return self.pointer(ctypes.cast(self.library[name], ctypes.c_void_p).value or 0)

    def invoke(self, function: str, numbers: Sequence[int | np.integer]) -> int:
        """As C's int."""
        answer: int = self.library[function](*(ctypes.c_uint64(int(n) % 2**64) for n in numbers))
        return answer

    def run(self, call: Call) -> str | None:
        """Call once; say what is wrong."""
        self.held.clear()
        numbers, buffers = self.prepare(call)
        value = self.answer(call, numbers)
        outputs = [ctypes.string_at(at, len(content(arg))) for arg, at in buffers if isinstance(arg, InOut | Out)]
        return wrong(call, value, outputs)


class Target(Implementation):
    """One `library-<group>.elf` on its simulated board."""

    def __init__(self, board: str, elf: Path) -> None:
        """Start the program and keep it as it stands at main."""
        self.elf = elf
        self.machine = Machine(board, elf)
        self.machine.run(until="main", cycles=10_000_000)
        self.ready = self.machine.snapshot()
        self.convention = abi.of(self.machine.device)
        self.pointer_bytes = self.convention.int_bytes
        self.aligned_bytes = {abi.Avr: 1, abi.Msp430: 2, abi.Arm: 8}[type(self.convention)]

    def has(self, function: str) -> bool:
        """Say whether the function is in this ELF."""
        try:
            self.machine.address(function)
        except EngineError:
            return False
        return True

    def place(self, data: bytes) -> int:
        """Into RAM that the program leaves free."""
        return self.machine.place(data)

    def symbol(self, name: str) -> int:
        """The address of an object."""
        return self.machine.address(name)

    def pointer(self, address: int) -> bytes:
        """As the calling convention has it."""
        return self.convention.encode(address)

    def code(self, name: str) -> bytes:
        """On AVR the address of a word; with Arm's lowest bit for Thumb."""
        at = self.machine.address(name)
        at = {abi.Avr: at // 2, abi.Msp430: at, abi.Arm: at | 1}[type(self.convention)]
        return at.to_bytes(self.pointer_bytes, "little")

    def prepare(self, call: Call) -> tuple[list[int | np.integer], list[tuple[In | InOut | Out, int]]]:
        """From the state at main."""
        self.machine.restore(self.ready)
        self.machine.release()
        return super().prepare(call)

    def invoke(self, function: str, numbers: Sequence[int | np.integer]) -> int | None:
        """By the calling convention."""
        return self.machine.call(function, *numbers).value

    def run(self, call: Call) -> str | None:
        """Call once from the same state as always; say what is wrong."""
        m = self.machine
        try:
            numbers, buffers = self.prepare(call)
            value = self.answer(call, numbers)
            if told := m.lints():
                return f"{call.name}: {call.function}: {told[0]}"
        except (EngineError, SunsealError) as e:
            return f"{call.name}: {call.function}: {e}"
        outputs = [m.read(at, len(content(arg))) for arg, at in buffers if isinstance(arg, InOut | Out)]
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
    return [*(part.function for part in call.parts), *([] if call.parts else [call.function]), *named(call.args)]


def named(args: Iterable[object]) -> list[str]:
    """The functions and objects that arguments point to."""
    found = []
    for arg in args:
        if isinstance(arg, Symbol | Function):
            found.append(arg.name)
        elif isinstance(arg, Struct):
            found += named(arg.members)
    return found


def row(call: Call) -> tuple[str, str]:
    """Where a vector stands: its document, and its function with what it works on."""
    source = call.name.split()[0].rstrip(",:")
    objects = [arg.name for arg in call.args if isinstance(arg, Symbol) and source != REFUSED]
    return source, " ".join([call.function, *objects])


def chosen(calls: Iterable[Call], column: str, sampled: bool) -> list[Call]:
    """The calls that a column runs: those that its RAM has room for; of slow ones, a sample on slow targets."""
    every, some, met = SLOW.get(column, 1), [], 0
    taken: dict[tuple[str, str], int] = defaultdict(int)
    thinned = SAMPLED if sampled and column != HOST else 1
    for call in calls:
        if not fits(call, column):
            continue
        met += call.slow
        if not call.slow:
            some.append(call)
        elif (met - 1) % every == 0:
            if taken[row(call)] % thinned == 0:
                some.append(call)
            taken[row(call)] += 1
    return some


def room_bytes(args: Iterable[object]) -> int:
    """What a call's buffers take."""
    return sum(
        room_bytes(arg.members) if isinstance(arg, Struct) else len(content(arg))
        for arg in args
        if isinstance(arg, In | InOut | Out | Struct)
    )


def fits(call: Call, column: str) -> bool:
    """Whether a column has room for a call."""
    room = ROOM_BYTES if call.group != "ecc" else ROOM_BYTES | ECC_ROOM_BYTES
    return room_bytes(call.args) <= room[column]


def answers(target: Target, group: str, column: str, each: int) -> tuple[int, list[str]]:
    """Run of each row of a group its shortest call, its longest, others between; tell how many, and what is wrong."""
    rows: dict[tuple[str, ...], list[Call]] = defaultdict(list)
    for call in ALL:
        if call.group == group and fits(call, column) and all(map(target.has, symbols(call))):
            rows[*row(call), str(call.expected)].append(call)
    ran = 0
    errors = []
    for calls in rows.values():
        calls.sort(key=lambda call: room_bytes(call.args))
        step = max(1, (len(calls) - 1) // max(1, each - 1))
        for call in {id(c): c for c in [*calls[::step][:each], calls[-1]]}.values():
            ran += 1
            if wrongly := target.run(call):
                errors.append(wrongly)
    return ran, errors


@dataclass(frozen=True)
class Share:
    """A part of a column's work."""

    column: str
    part: int
    parts: int
    sampled: bool


def work(share: Share) -> tuple[str, dict[tuple[str, str], int], list[str]]:
    """Run a share; return how many of each row were run, and what was wrong."""
    run: dict[tuple[str, str], int] = defaultdict(int)
    errors: list[str] = []
    for call in chosen(ALL, share.column, share.sampled)[share.part :: share.parts]:
        for implementation in implementations(share.column):
            if all(map(implementation.has, symbols(call))):
                run[row(call)] += 1
                found = implementation.run(call)
                if found:
                    errors.append(f"{share.column}: {found}")
                break
    return share.column, dict(run), errors


def tabulate(columns: Sequence[str], sampled: bool = False) -> tuple[str, list[str]]:
    """Run everything, or a sample; return the table as Markdown, and what was wrong."""
    counts: dict[str, dict[tuple[str, str], int]] = {c: defaultdict(int) for c in columns}
    errors: list[str] = []
    parts = 8
    shares = [Share(c, part, parts, sampled) for c in columns for part in range(parts)]
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


def shape(table: str) -> list[str]:
    """A table without its counts: rows, vectors, and which implementations ran any."""
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ") and "| all |" not in line]
    return [" | ".join([*r[:3], *("ran" if cell.strip(" |") else "" for cell in r[3:])]) for r in rows]


HEAD = """# Known answers

Written by `.venv/bin/python firmware/tests/table.py write`, after every call in it gave the known answer; `make
vectors` runs the same and compares, CI a sample of the slow calls. A cell counts the vectors that ran on this
implementation: the host's build, and the target's own binary on its simulated board. An empty cell is a vector
that nothing ran there. Slow targets run a sample of the operations that take tens of millions of cycles, and no
target a call whose buffers its RAM does not hold. Rows of a `_step` are whole computations in steps: begin, all
steps, and finish where there is one; the structure must be wiped in the end. Rows of `refused` are the calls above
with a null pointer or with overlapping buffers: each must answer its error and write nothing. Where the vectors
come from: [data/vectors](../../data/vectors/README.md).
"""

ALL = list(cases())


def main() -> int:
    """The verdict."""
    if (
        len(sys.argv) < 2
        or sys.argv[1] not in ("write", "check", "sample")
        or any(c not in COLUMNS for c in sys.argv[2:])
    ):
        print(f"table.py: write, check or sample, then any of the columns {', '.join(COLUMNS)}", file=sys.stderr)
        return 2
    columns = sys.argv[2:] or list(COLUMNS)
    table, errors = tabulate(columns, sys.argv[1] == "sample")
    for error in errors:
        print(error, file=sys.stderr)
    if errors or len(columns) < len(COLUMNS):
        print(table if not errors else f"table.py: {len(errors)} answers are wrong", file=sys.stderr)
        return bool(errors)
    if sys.argv[1] == "write":
        TABLE.write_text(table, encoding="utf-8")
        return 0
    compared = shape if sys.argv[1] == "sample" else str
    if compared(TABLE.read_text(encoding="utf-8")) != compared(table):
        print(
            f"table.py: {TABLE.name} is out of date; run `table.py write` and look at the difference", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
