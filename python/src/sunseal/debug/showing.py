# SPDX-License-Identifier: MIT OR Apache-2.0
"""Values as a client shows them: variables with their parts, registers, and what the machine drew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sunseal._engine import EngineError
from sunseal.catalog import units
from sunseal.errors import SunsealError
from sunseal.machine.machine import Machine
from sunseal.machine.running import Spent
from sunseal.machine.variables import Enumerated, Item

TEXT_MOST = 120
"""Characters of a value that is shown in one line."""
PARTS_MOST = 1000


@dataclass
class Shown:
    """A row that a client shows."""

    name: str
    value: str
    type: str = ""
    parts: Callable[[], list[Shown]] | None = None
    """Makes the rows below it, where it has some."""
    put: Callable[[str], object] | None = None
    """Changes it by what was typed, where it can be changed."""
    address: int | None = None
    named: int = 0
    indexed: int = 0


def number(value: int, bits: int = 0) -> str:
    """Write a number in decimal and hexadecimal, of a register by its width alone."""
    return f"{value:#0{2 + bits // 4}x}" if bits else f"{value} ({value:#x})" if abs(value) > 9 else str(value)


def text(value: Any, pointer: bool = False) -> str:
    """Write a value in one line."""
    if isinstance(value, Mapping):
        made = "{" + ", ".join(f"{name} = {text(inner)}" for name, inner in list(value.items())[:16]) + "}"
    elif isinstance(value, bytes):
        plain = value.split(b"\0")[0]
        made = f'"{plain.decode()}"' if plain and plain.isascii() and plain.decode().isprintable() else value.hex(" ")
    elif isinstance(value, list):
        made = "[" + ", ".join(text(inner) for inner in value[:32]) + "]"
    elif isinstance(value, bool | Enumerated):
        made = str(value).lower() if isinstance(value, bool) else repr(value)
    elif isinstance(value, int):
        made = f"{value:#06x}" if pointer else number(value)
    else:
        made = repr(value)
    return made if len(made) <= TEXT_MOST else made[: TEXT_MOST - 1] + "…"


def item(shown: Item) -> Shown:
    """Make the row of a variable or a part of one."""
    try:
        value = text(shown.value, shown.is_pointer)
        named, indexed = shown.counts
    except (SunsealError, EngineError) as e:
        return Shown(shown.name, f"<{e}>", shown.type)
    many = named + indexed
    return Shown(
        shown.name,
        value,
        shown.type,
        parts=(lambda: [item(part) for part in shown.parts(PARTS_MOST)]) if many else None,
        put=None if (many and not shown.is_pointer) or shown.address is None else lambda typed: shown.put(read(typed)),
        address=shown.value if shown.is_pointer else shown.address,
        named=named,
        indexed=indexed,
    )


def read(typed: str) -> int | float | bool | str:
    """Read what somebody typed: a number of any base, a truth value, a character, or the name of an enumerator."""
    plain = typed.strip()
    if plain in ("true", "false"):
        return plain == "true"
    if len(plain) == 3 and plain[0] == plain[2] == "'":
        return ord(plain[1])
    for kind in (lambda given: int(given, 0), float):
        try:
            return kind(plain)
        except ValueError:
            continue
    return plain


def register(machine: Machine, name: str) -> Shown:
    """Make the row of a register of the core."""
    bits = {n: width for n, width, _ in machine.engine.registers()}[name]

    def put(typed: str) -> None:
        value = read(typed)
        if not isinstance(value, int):
            raise SunsealError(f"`{typed}` is no value of register {name}: give an integer")
        machine.registers[name] = value

    return Shown(name, number(machine.registers[name], bits), f"uint{bits}", put=put)


def peripherals(machine: Machine) -> list[Shown]:
    """Make a row for each block of the chip, with its registers below."""
    from sunseal.kit import registers

    def rows(block: Any) -> list[Shown]:
        return [io(machine, each.name, each.bits) for each in block.registers]

    blocks = [block for block in registers.blocks(machine.device) if block.registers]
    return [
        Shown(
            block.name,
            f"{len(block.registers)} registers",
            parts=lambda block=block: rows(block),  # type: ignore[misc]
            named=len(block.registers),
        )
        for block in blocks
    ]


def io(machine: Machine, name: str, bits: int) -> Shown:
    """Make the row of a peripheral's register; looking at it changes nothing."""
    try:
        return Shown(name, number(machine.io[name], bits), f"uint{bits}")
    except (SunsealError, EngineError) as e:
        return Shown(name, f"<{e}>", f"uint{bits}")


def energy(name: str, spent: Spent | str) -> Shown:
    """Make the row of a stretch: cycles, time, and joules by component; a text where it cannot be weighed."""
    if isinstance(spent, str):
        return Shown(name, f"<{spent}>")

    def rows() -> list[Shown]:
        told = [
            Shown("energy", units.show(spent.energy_j, "J"), "J"),
            Shown("cycles", f"{spent.cycles}", "CPU cycles"),
            Shown("time", units.show(spent.time_s, "s"), "s"),
        ]
        most = sorted(spent.by_component_j.items(), key=lambda each: -each[1])
        return told + [Shown(component, units.show(j, "J"), "J") for component, j in most]

    line = f"{units.show(spent.energy_j, 'J')}, {spent.cycles:,} cycles, {units.show(spent.time_s, 's')}"
    return Shown(name, line, parts=rows, named=3 + len(spent.by_component_j))
