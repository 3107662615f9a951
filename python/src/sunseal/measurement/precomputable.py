# SPDX-License-Identifier: MIT OR Apache-2.0
"""What of a program could be done before its input comes: the run followed, its cuts priced.

The method and what one run can show: docs/reference/precomputable.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sunseal.errors import SunsealError
from sunseal.machine import Machine
from sunseal.measurement import constant_time, measuring

CYCLES_MAX = 2_000_000_000
"""A run that is longer is taken for one that does not end."""


@dataclass(frozen=True)
class Part:
    """A function's or a line's cycles and their share of the joules."""

    name: str
    independent_cycles: int
    """Of stretches of code in which nothing takes the input: they can run ahead."""
    frame_cycles: int
    """Of pointers, counters and constants beside work that takes the input: they run in both parts."""
    dependent_cycles: int
    """Of instructions that take the input or what was made of it."""
    independent_j: float


@dataclass(frozen=True)
class Cut:
    """A moment up to which independent work is done ahead."""

    bytes: int
    """What a coupon carries: the sum of the two below."""
    data_bytes: int
    control_bytes: int
    """Addresses and counts among them, which could be made anew."""
    saved_cycles: int
    saved_j: float
    at: str | None
    """Function and offset of the first instruction behind it; None is the end of the independent work."""


@dataclass(frozen=True)
class Analysis:
    """What of a run did not depend on its runtime input."""

    function: str
    board: str
    power_set: str
    cycles: int
    energy_j: float
    share_cycles: float
    """Independent cycles of all."""
    share_j: float
    cuts: tuple[Cut, ...]
    """From small to large: none carries fewer bytes and saves as much as another."""
    functions: tuple[Part, ...]
    lines: tuple[Part, ...]
    not_followed: tuple[str, ...]
    """What the run used and what is not followed (transfers by DMA, bit-band): with one, the split may be wrong."""
    branches: tuple[tuple[str, int], ...]
    """Branches that the input decided, with how often: other inputs take other ways."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the contract."""
        return {
            **{k: v for k, v in vars(self).items() if k not in ("cuts", "functions", "lines", "branches")},
            "cuts": [vars(c) for c in self.cuts],
            "functions": [vars(p) for p in self.functions],
            "lines": [vars(p) for p in self.lines],
            "branches": [{"at": at, "count": count} for at, count in self.branches],
        }


def analyze(
    elf: Path | Machine,
    function: str,
    runtime_input: Sequence[str],
    *,
    board: str,
    output: Sequence[str] = (),
    power: str = measuring.DEFAULT_POWER,
    vcc_v: float | None = None,
    call: int = 1,
    given: Path | None = None,
) -> Analysis:
    """Run the program, follow `function` from its entry to its return, and say what did not take `runtime_input`.

    Inputs and outputs are written `symbol`, `symbol+offset:bytes` or `0xADDRESS:bytes`; `call` says which call is
    followed, the first being 1; `given` is a file of values that are written before the program starts, as for
    `constant-time --input`. A machine that stands before the call may be given in place of a program. Raises
    SunsealError if the function is never called, does not return, or never reads the input.
    """
    machine = elf if isinstance(elf, Machine) else Machine(board, elf)
    if given is not None:
        constant_time.write_input(machine, given, constant_time.read_input(given))
    entry = machine.address(function)
    for i in range(call):
        if i:
            machine.step()
        stop = machine.run(entry, cycles=CYCLES_MAX)
        if stop.kind != "pc":
            raise SunsealError(
                f"`{function}` was not called {call} times: "
                f"the run ended by {stop.kind} at {machine.describe(stop.pc)}",
                hint="a program that waits for something outside needs it given; name a function that runs",
            )
    inputs, outputs = ([_range(machine, text) for text in texts] for texts in (runtime_input, output))
    backs, top = _returns_to(machine), machine.registers["SP"]
    goal = machine.goal(None, CYCLES_MAX, None, None)
    ended, counts, spent, cuts, branches, (was_read, holes) = machine.engine.offline(
        inputs, outputs, goal[0], goal[1], backs, goal[3]
    )
    if ended[0] != "pc" or machine.registers["SP"] < top:
        raise SunsealError(
            f"`{function}` did not come back to its caller: "
            f"the run ended by {ended[0]} at {machine.describe(machine.pc)}"
        )
    if not was_read:
        raise SunsealError(
            f"the run of `{function}` never reads {', '.join(runtime_input)}: nothing depends on it",
            hint="name the bytes that come at run time, as `symbol:bytes`",
        )
    weights = measuring.PowerSet(power, board)
    point = weights.inner.weigh_as_run(counts, vcc_v or weights.board.vcc_v)
    cycles = sum(sum(of) for _, _, _, of in spent)
    j = point.energy_j / cycles
    independent = sum(of[0] for _, _, _, of in spent)
    return Analysis(
        function=function,
        board=board,
        power_set=weights.name,
        cycles=cycles,
        energy_j=point.energy_j,
        share_cycles=independent / cycles,
        share_j=independent / cycles,
        cuts=tuple(Cut(d + c, d, c, saved, saved * j, at) for d, c, saved, at in cuts if saved),
        functions=_parts(((place.split("+")[0], of) for _, place, _, of in spent), j),
        lines=_parts(((f"{line[0]}:{line[1]}", of) for _, _, line, of in spent if line), j),
        not_followed=tuple(holes),
        branches=tuple(branches),
    )


def _parts(rows: Any, j: float) -> tuple[Part, ...]:
    sums: dict[str, list[int]] = {}
    for name, of in rows:
        into = sums.setdefault(name, [0, 0, 0])
        for i in range(3):
            into[i] += of[i]
    parts = [Part(name, a, b, c, a * j) for name, (a, b, c) in sums.items()]
    return tuple(sorted(parts, key=lambda p: -(p.independent_cycles + p.frame_cycles + p.dependent_cycles)))


def _range(machine: Machine, text: str) -> tuple[int, int]:
    place, _, size = text.partition(":")
    name, _, offset = place.partition("+")
    try:
        off, bytes_ = (int(word, 0) if word else 0 for word in (offset, size))
        at, whole = (int(name, 0), 0) if name[:1].isdigit() else machine.ranges([name])[0]
    except ValueError as e:
        raise SunsealError(f"`{text}` is no place: write `symbol`, `symbol+16:32` or `0x1c00:32`") from e
    if whole and off + bytes_ > whole:
        raise SunsealError(f"`{text}` ends behind `{name}`, which has {whole} bytes")
    if not bytes_ and not whole:
        raise SunsealError(f"`{text}` needs its size: write `{place}:bytes`")
    return at + off, bytes_ or whole - off


def _returns_to(machine: Machine) -> list[int]:
    """Where the call that has just been made comes back to."""
    sp = machine.registers["SP"]
    if machine.device.startswith("atmega"):
        high, low = machine.read(0x800000 + sp + 1, 2)
        return [2 * (high << 8 | low)]
    if "LR" in list(machine.registers):
        return [machine.registers["LR"] & ~1]
    word, more = (int.from_bytes(machine.read(sp + i, 2), "little") for i in (0, 2))
    # CALL stores 16 bits, CALLA 20: the stack pointer behind the return tells which it was.
    return sorted({word, word | (more & 0xF) << 16})
