# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calls of C functions on each core: where arguments, return address and result lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sunseal.catalog import boards
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    import numpy as np

    from sunseal.machine.machine import Argument, Machine, Number


AVR_DATA = 0x80_0000
"""Address at which GNU tools, and so the debugger and the engine, have an AVR's data space."""


class Convention:
    """Common part of the three calling conventions: words in registers, the rest on the stack."""

    int_bytes: ClassVar[int] = 2
    stack_offset = 0
    """From the stack pointer's value to the lowest byte in use."""
    data_space = 0
    """Distance of the debugger's view of the stack from the pointer's bare value."""

    def stack(self, machine: Machine) -> int:
        """Return the address above the free bytes of the stack, as the debugger sees it."""
        return machine.registers["SP"] + self.stack_offset

    def enter(self, machine: Machine, function: int, args: Sequence[Argument], back: int) -> None:
        """Put arguments and return address where they belong and point the PC at the function."""
        raise NotImplementedError

    def returns_to(self, machine: Machine) -> set[tuple[int, int]]:
        """Return, at a function's first instruction, where it returns to, with the stack pointer's value there.

        Two places where either of two instructions may have called it.
        """
        raise NotImplementedError

    def leave(self, machine: Machine, top: int) -> None:
        """Take what `enter` has put on the stack off again."""
        machine.registers["SP"] = top - self.stack_offset

    def value(self, machine: Machine, returns: type[Number] | None) -> int | float:
        """Return the result, by its type or as an `int`."""
        kind = self.kind(returns)
        raw = self.result(machine)[: kind.itemsize]
        return self.number(raw, kind)

    def kind(self, returns: type[Number] | None) -> np.dtype[Any]:
        """Return the type of a result: as asked for, or the compiler's `int`."""
        import numpy as np

        return np.dtype(returns or f"i{self.int_bytes}")

    @staticmethod
    def number(raw: bytes, kind: np.dtype[Any]) -> int | float:
        """Read a little-endian number; a `float` of C as the shortest decimal that is it."""
        import numpy as np

        found = np.frombuffer(raw, dtype=kind.newbyteorder("<"))[0]
        return float(str(found)) if kind.kind == "f" else int(found)

    def result(self, machine: Machine) -> bytes:
        """Return the registers that hold a result, least significant byte first."""
        raise NotImplementedError

    def encode(self, arg: Argument) -> bytes:
        """Return an argument little-endian: a plain integer as wide as an `int`."""
        if not isinstance(arg, int):
            if not hasattr(arg, "dtype"):
                hint = "put bytes into RAM with `place` and pass their address; a float is a NumPy one, of its width"
                raise SunsealError(f"{arg!r} is neither an integer nor a NumPy number", hint)
            return arg.astype(arg.dtype.newbyteorder("<")).tobytes()
        bits = 8 * self.int_bytes
        if not -(1 << (bits - 1)) <= arg < 1 << bits:
            raise SunsealError(f"{arg} does not fit an `int` of {bits} bits; pass a NumPy integer of the right width")
        return (arg % (1 << bits)).to_bytes(bits // 8, "little")


class Msp430(Convention):
    """MSP430 Embedded ABI (SLAA534), section 3.3, small code and data model."""

    def enter(self, machine: Machine, function: int, args: Sequence[Argument], back: int) -> None:
        """R12 to R15; a number of 32 bits may lie half in R15 and half on the stack."""
        free, spilled, stacked = list(range(12, 16)), False, b""
        for arg in args:
            data = self.encode(arg)
            words = [data[i : i + 2].ljust(2, b"\0") for i in range(0, len(data), 2)]
            split = not spilled and len(words) == 2 and len(free) == 1
            if not split and len(words) > len(free):
                spilled, stacked = True, stacked + b"".join(words)
                continue
            spilled |= split
            for word in words:
                if free:
                    machine.registers[f"R{free.pop(0)}"] = int.from_bytes(word, "little")
                else:
                    stacked += word
        frame = back.to_bytes(2, "little") + stacked
        top = self.stack(machine) - len(frame)
        machine.write(top, frame)
        machine.registers["SP"] = top
        machine.registers["PC"] = function

    def returns_to(self, machine: Machine) -> set[tuple[int, int]]:
        """CALL leaves a word on the stack, CALLA 20 bits in two."""
        sp = machine.registers["SP"]
        low, high = (int.from_bytes(machine.read(at, 2), "little") for at in (sp, sp + 2))
        return {(low, sp + 2), (low | (high & 0xF) << 16, sp + 4)}

    def result(self, machine: Machine) -> bytes:
        """The lower words of R12 to R15, which have 20 bits."""
        return b"".join((machine.registers[f"R{r}"] & 0xFFFF).to_bytes(2, "little") for r in range(12, 16))


class Avr(Convention):
    """The convention of avr-gcc (its wiki's page "ABI"): pairs from r25 down, the rest on the stack."""

    stack_offset = AVR_DATA + 1
    data_space = AVR_DATA

    def encode(self, arg: Argument) -> bytes:
        """As elsewhere, and an address of the data space as the debugger sees it becomes a pointer."""
        return super().encode(arg - AVR_DATA if isinstance(arg, int) and arg >> 16 == 0x80 else arg)

    def enter(self, machine: Machine, function: int, args: Sequence[Argument], back: int) -> None:
        """r25 to r8; the return address is a word address, most significant byte lowest."""
        below, stacked = 26, b""
        for arg in args:
            data = self.encode(arg)
            first = below - (len(data) + 1) // 2 * 2
            if stacked or first < 8:
                stacked += data
                continue
            below = first
            for i, byte in enumerate(data):
                machine.registers[f"r{first + i}"] = byte
        frame = (back // 2).to_bytes(2, "big") + stacked
        top = self.stack(machine) - len(frame)
        machine.write(top, frame)
        machine.registers["r1"] = 0
        machine.registers["SP"] = top - self.stack_offset
        machine.registers["PC"] = function

    def returns_to(self, machine: Machine) -> set[tuple[int, int]]:
        """A word address, most significant byte lowest."""
        back = int.from_bytes(machine.read(self.stack(machine), 2), "big")
        return {(2 * back, machine.registers["SP"] + 2)}

    def result(self, machine: Machine) -> bytes:
        """A result ends in r25 and is as wide as an even number of registers; from r18 up at most."""
        return bytes(machine.registers[f"r{r}"] for r in range(18, 26))

    def value(self, machine: Machine, returns: type[Number] | None) -> int | float:
        """Results shorter than eight bytes lie in the upper registers."""
        kind = self.kind(returns)
        raw = self.result(machine)[8 - max(kind.itemsize, 2) :][: kind.itemsize]
        return self.number(raw, kind)


class Arm(Convention):
    """Procedure Call Standard for the Arm Architecture (IHI 0042), base standard."""

    int_bytes = 4

    def enter(self, machine: Machine, function: int, args: Sequence[Argument], back: int) -> None:
        """R0 to R3; 64-bit numbers begin at an even register or an eighth byte."""
        slots: list[bytes] = []
        for arg in args:
            data = self.encode(arg)
            if len(data) == 8 and len(slots) % 2:
                slots.append(bytes(4))
            data = data.ljust(-(-len(data) // 4) * 4, b"\0")
            slots += [data[i : i + 4] for i in range(0, len(data), 4)]
        for register, word in enumerate(slots[:4]):
            machine.registers[f"R{register}"] = int.from_bytes(word, "little")
        frame = b"".join(slots[4:])
        top = (self.stack(machine) - len(frame)) & ~7
        if frame:
            machine.write(top, frame)
        machine.registers["SP"] = top
        machine.registers["LR"] = back | 1
        machine.registers["PC"] = function & ~1

    def returns_to(self, machine: Machine) -> set[tuple[int, int]]:
        """The link register, whose lowest bit says Thumb."""
        return {(machine.registers["LR"] & ~1, machine.registers["SP"])}

    def result(self, machine: Machine) -> bytes:
        """Return what R0 and R1 hold."""
        return b"".join(machine.registers[f"R{r}"].to_bytes(4, "little") for r in range(2))


CONVENTIONS: dict[str, type[Convention]] = {"avr": Avr, "armv7em": Arm, "msp430": Msp430}
"""Calling conventions by the instruction set."""


def of(device: str) -> Convention:
    """Return the calling convention of a device's compilers."""
    return CONVENTIONS[boards.architecture(device)]()
