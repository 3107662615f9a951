# SPDX-License-Identifier: MIT OR Apache-2.0
"""Looks into a machine that stands still: scopes, expressions, memory and instructions."""

from __future__ import annotations

import re
from itertools import pairwise

from sunseal._engine import EngineError
from sunseal.debug import showing
from sunseal.debug.frames import Frame
from sunseal.debug.running import Runner
from sunseal.debug.showing import Shown
from sunseal.errors import SunsealError, unknown
from sunseal.machine.instructions import Instruction
from sunseal.machine.machine import Machine
from sunseal.machine.variables import Item

READ_BYTES_MAX = 1 << 20
INSTRUCTION_BYTES_MAX = 8
"""Longest instruction of the three cores: an MSP430X's with its extension word."""
INSTRUCTIONS_MOST = 10_000
_ASSIGNED = re.compile(r"(?P<name>[^=<>!]+?)\s*=\s*(?P<value>[^=].*)")
_NAME = re.compile(r"(?P<name>[A-Za-z_$][\w$]*)(?P<rest>.*)")


class Reading:
    """Rows of each scope, and values by name."""

    def __init__(self, runner: Runner) -> None:
        """Look into a runner's machine."""
        self._runner = runner
        self._machine = runner.bench.machine

    def locals(self, frame: Frame) -> list[Shown]:
        """Make a row for each argument and variable of a frame."""
        found = self._runner.stack.locals(frame)
        return [showing.item(it) if isinstance(it, Item) else Shown(name, f"<{it}>") for name, it in found]

    def globals(self) -> list[Shown]:
        """Make a row for each variable outside of functions."""
        variables = self._machine.variables
        try:
            return [showing.item(variables.item(name)) for name in variables]
        except SunsealError as e:
            return [Shown("variables", f"<{e}>")]

    def _variables(self) -> list[str]:
        try:
            return list(self._machine.variables)
        except SunsealError:
            return []

    def registers(self) -> list[Shown]:
        """Make a row for each register of the core."""
        return [showing.register(self._machine, name) for name in self._machine.registers]

    def peripherals(self) -> list[Shown]:
        """Make a row for each peripheral of the chip."""
        return showing.peripherals(self._machine)

    def energy(self) -> list[Shown]:
        """Make rows of what was drawn and counted."""
        supply = f"{self._machine.vcc_v:g} V{', away' if self._runner.off else ''}"
        return [
            showing.energy("since the last stop", self._runner.last),
            showing.energy("since the start", self._runner.total),
            Shown("supply", supply, "V"),
            Shown("resets", str(self._runner.bench.resets)),
        ]

    def evaluate(self, text: str, frame: Frame | None) -> Shown:
        """Find what a text names: of the frame, a global, a register, an I/O register; `x = 5` changes it."""
        assigned = _ASSIGNED.fullmatch(text)
        shown = self._named(assigned["name"] if assigned else text, frame)
        if assigned:
            if shown.put is None:
                raise SunsealError(f"`{assigned['name']}` cannot be changed: it lies in registers, or is no number")
            shown.put(assigned["value"])
            shown = self._named(assigned["name"], frame)
        return shown

    def _named(self, text: str, frame: Frame | None) -> Shown:
        if text.strip() == "energy":
            return showing.energy("energy", self._runner.last)
        name = _NAME.match(text)
        if name is not None and frame is not None:
            found = dict(self._runner.stack.locals(frame)).get(name["name"])
            if isinstance(found, str):
                raise SunsealError(f"`{name['name']}` has no value here: {found}")
            if found is not None:
                return showing.item(found.part(name["rest"]))
        try:
            return showing.item(self._machine.variables.item(text))
        except SunsealError as e:
            missing = e
        plain = text.lstrip("$")
        for register in self._machine.registers:
            if register.lower() == plain.lower():
                return showing.register(self._machine, register)
        if plain in list(self._machine.io):
            from sunseal.kit import registers

            bits = {r.name: r.bits for block in registers.blocks(self._machine.device) for r in block.registers}
            return showing.io(self._machine, plain, bits[plain])
        if name is None or name["rest"] or "::" in text:
            raise missing
        raise unknown("variable or register", plain, [*self._variables(), *self._machine.registers, *self._machine.io])


def memory(machine: Machine, address: int, count: int) -> tuple[bytes, int]:
    """Return the bytes from an address on, and how many of those asked for there are none of."""
    if count < 0 or address < 0:
        return b"", max(count, 0)
    count = min(count, READ_BYTES_MAX)
    for _, start, size in machine.engine.regions():
        if start <= address < start + size:
            got = min(count, start + size - address)
            return machine.read(address, got), count - got
    try:
        return b"".join(machine.io.at(address + i, 8).to_bytes(1, "little") for i in range(count)), 0
    except (SunsealError, EngineError):
        return b"", count


def instructions(runner: Runner, address: int, first: int, count: int) -> list[Instruction]:
    """List so many instructions, beginning with the `first` from an address on, filled up where there are none."""
    if not 0 <= count <= INSTRUCTIONS_MOST or abs(first) > INSTRUCTIONS_MOST:
        raise SunsealError(f"{count} instructions from {first} on are too many: at most {INSTRUCTIONS_MOST}")
    machine = runner.bench.machine
    region = next(((s, s + n) for _, s, n in machine.engine.regions() if s <= address < s + n), None)
    if region is None:
        return [Instruction(max(address + 2 * (first + i), 0), b"", "no memory") for i in range(count)]
    back = address - INSTRUCTION_BYTES_MAX * max(-first, 0)
    # Instructions have several lengths: those in front are read from where a function begins.
    marks = sorted({at for at in runner.program.entries.values() if region[0] <= at <= address} | {region[0]})
    start = max((at for at in marks if at <= max(back, region[0])), default=region[0])
    before: list[Instruction] = []
    if first < 0:
        for low, high in pairwise([*(at for at in marks if start <= at < address), address]):
            before += [i for i in machine.disassemble((low, high - low)) if i.address < high]
    lacking = max(-first - len(before), 0)
    rows = [Instruction(max(address - 2 * n, 0), b"", "no memory") for n in range(-first, -first - lacking, -1)]
    rows += before[len(before) + first + lacking :] if first < 0 else []
    ahead = max(first + count, 0)
    end = min(address + INSTRUCTION_BYTES_MAX * ahead, region[1])
    behind = machine.disassemble((address, end - address)) if end > address else []
    rows += behind[max(first, 0) :]
    rows = rows[:count]
    last = rows[-1].address if rows else address
    return rows + [Instruction(last + 2 * (i + 1), b"", "no memory") for i in range(count - len(rows))]
