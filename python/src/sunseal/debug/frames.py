# SPDX-License-Identifier: MIT OR Apache-2.0
"""Frames of a program's stack by its call frame information, and the variables of each by their locations.

Numbers of registers are DWARF's: MSP430 Embedded ABI (SLAA534), avr-gcc (avr.h, DWARF_FRAME_REGNUM), Arm's IHI 0040.
"""

from __future__ import annotations

import bisect
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sunseal.catalog import boards
from sunseal.debug.source import DIE, Function, Program, name_of, ranges
from sunseal.errors import SunsealError
from sunseal.machine.abi import AVR_DATA
from sunseal.machine.machine import Machine
from sunseal.machine.variables import Item

AVR_HANDLER = "__vector_"
"""Beginning of the names of interrupts' handlers on AVR."""
AVR_PROLOGUE = bytes.fromhex("1f92 0f92 0fb6 0f92")
"""Instructions push r1, push r0, in r0 from SREG, push r0: how avr-gcc begins a handler."""
FRAMES_MAX = 64
EXC_RETURN = 0xFFFF_FFE0
"""Lowest value in LR that ends an exception: Armv7-M (DDI0403), B1.5.8."""
SCOPES = ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine", "DW_TAG_try_block")


class Unavailable(Exception):  # noqa: N818  # no error of anybody's
    """Value that cannot be told here; the text says why."""


@dataclass
class Frame:
    """Function that was called and has not returned, with its registers by DWARF's numbers."""

    pc: int
    registers: dict[int, int]
    lookup: int
    """Address by which it is looked up: of the call, where it called another."""
    function: Function | None
    cfa: int | None = None
    """Value of the stack pointer in its caller."""
    interrupted: bool = field(default=False)
    """True where an interrupt's handler is above it."""


class Core:
    """Registers and stack of an architecture as its debug data have them."""

    pc = sp = 0
    word_bytes = 2
    back: int | None = None
    """Register with the return address, where there is one."""

    def __init__(self, machine: Machine) -> None:
        """Look at a machine."""
        self.machine = machine

    def registers(self) -> dict[int, int]:
        """Return the registers as they are now."""
        return dict(enumerate(self.machine.registers.values()))

    def value(self, registers: dict[int, int], number: int) -> int:
        """Return what a register holds as an address."""
        if number not in registers:
            raise Unavailable(f"register {number} of the debug data is not known here")
        return registers[number]

    def bytes_of(self, registers: dict[int, int], number: int, size_bytes: int) -> bytes:
        """Return the low bytes of a register, and of those behind it where a value is wider."""
        raw = b""
        while len(raw) < size_bytes:
            raw += self.value(registers, number).to_bytes(4, "little")[: self.word_bytes]
            number += 1
        return raw[:size_bytes]

    def data(self, address: int) -> int:
        """Return where the machine has an address of data."""
        return address

    def read(self, address: int, size_bytes: int) -> int:
        """Read a number from the stack."""
        try:
            return int.from_bytes(self.machine.read(self.data(address), size_bytes), "little")
        except Exception as e:
            raise Unavailable(str(e)) from e

    def returned(self, cfa: int, offset: int) -> int:
        """Return the address that a call has left at an offset from the frame's end."""
        return self.read(cfa + offset, self.word_bytes)

    def handlers(self) -> set[int]:
        """Return where interrupts' handlers begin."""
        return set()

    def interrupted(self, frame: Frame, cfa: int, caller: dict[int, int]) -> bool:
        """Correct what the information of a call says where an interrupt was it; say whether one was."""
        return False


class Msp430(Core):
    """MSP430: CALL leaves a word; an interrupt the status register, too."""

    pc, sp = 0, 1

    def handlers(self) -> set[int]:
        """Return the words of the table of vectors but for the reset's."""
        return {self.read(at, 2) for at in range(0xFF80, 0xFFFE, 2)}

    def interrupted(self, frame: Frame, cfa: int, caller: dict[int, int]) -> bool:
        """PC lies below SR, whose upper bits are the PC's (SLAU208, 1.3.4)."""
        if frame.function is None or frame.function.low not in self.handlers():
            return False
        status = self.read(cfa - 2, 2)
        caller[self.pc] = self.read(cfa, 2) | (status >> 12) << 16
        caller[2], caller[self.sp] = status & 0xFFF, cfa + 2
        return True


class Avr(Core):
    """AVR: registers of a byte, addresses in pairs of them, a return address most significant byte first."""

    pc, sp, word_bytes = 36, 32, 1

    def registers(self) -> dict[int, int]:
        """Return r0 to r31, the stack pointer and the program counter."""
        held = self.machine.registers
        return {**{n: held[f"r{n}"] for n in range(32)}, 32: held["SP"], 36: self.machine.pc}

    def value(self, registers: dict[int, int], number: int) -> int:
        """X, Y and Z are pairs."""
        low = super().value(registers, number)
        return low | super().value(registers, number + 1) << 8 if number in (26, 28, 30) else low

    def bytes_of(self, registers: dict[int, int], number: int, size_bytes: int) -> bytes:
        """Bytes lie in one register after the other."""
        return bytes(super(Avr, self).value(registers, number + i) & 0xFF for i in range(size_bytes))

    def data(self, address: int) -> int:
        """Return an address of the data space as debuggers have it."""
        return address if address >= AVR_DATA else AVR_DATA + (address & 0xFFFF)

    def returned(self, cfa: int, offset: int) -> int:
        """Return a word address, most significant byte lowest."""
        word = self.read(cfa + offset, 2)
        return 2 * ((word & 0xFF) << 8 | word >> 8)

    def interrupted(self, frame: Frame, cfa: int, caller: dict[int, int]) -> bool:
        """Tell a handler by avr-gcc's name; its information leaves the push of SREG out, which is mended here."""
        function = frame.function
        if function is None or not function.name.startswith(AVR_HANDLER):
            return False
        if frame.pc >= function.low + len(AVR_PROLOGUE) and self.machine.read(function.low, 8) == AVR_PROLOGUE:
            caller[self.pc], caller[self.sp] = self.returned(cfa, 0), cfa + 1
        return True


class Arm(Core):
    """Cortex-M: the return address is in LR; an exception has a frame of its own."""

    pc, sp, word_bytes, back = 15, 13, 4, 14

    def returned(self, cfa: int, offset: int) -> int:
        """Return an address with the bit of Thumb."""
        return self.read(cfa + offset, 4)

    def handlers(self) -> set[int]:
        """Return the table of vectors but for the stack pointer and the reset."""
        return {self.read(at, 4) & ~1 for at in range(8, 0x1C0, 4)}

    def interrupted(self, frame: Frame, cfa: int, caller: dict[int, int]) -> bool:
        """Registers that the exception put on the stack (DDI0403, B1.5.6)."""
        back = caller[self.pc]
        if back < EXC_RETURN:
            return False
        at = self.machine.registers["PSP"] if back & 4 else cfa
        for i, number in enumerate((0, 1, 2, 3, 12, 14, 15)):
            caller[number] = self.read(at + 4 * i, 4)
        status = self.read(at + 28, 4)
        caller[self.sp] = at + (0x20 if back & 0x10 else 0x68) + (4 if status & 1 << 9 else 0)
        return True


CORES: dict[str, type[Core]] = {"msp430": Msp430, "avr": Avr, "armv7em": Arm}


class Stack:
    """Frames of a machine that stands still."""

    def __init__(self, machine: Machine, program: Program) -> None:
        """Unwind a machine's stack by a program's information."""
        self.core = CORES[boards.architecture(machine.device)](machine)
        self.program = program

    @cached_property
    def _stretches(self) -> list[tuple[int, int, Any]]:
        from elftools.dwarf.callframe import FDE

        dwarf = self.program.dwarf
        entries: list[Any] = []
        if dwarf is not None and dwarf.has_CFI():
            entries = dwarf.CFI_entries()
        elif dwarf is not None and dwarf.has_EH_CFI():
            entries = dwarf.EH_CFI_entries()
        found = [
            (e.header["initial_location"], e.header["initial_location"] + e.header["address_range"], e)
            for e in entries
            if isinstance(e, FDE)
        ]
        return sorted((each for each in found if each[0] and each[1] > each[0]), key=lambda each: each[:2])

    def _rule(self, address: int) -> tuple[dict[Any, Any], Any] | None:
        i = bisect.bisect_right([low for low, _, _ in self._stretches], address) - 1
        if i < 0 or address >= self._stretches[i][1]:
            return None
        entry = self._stretches[i][2]
        rows = [row for row in entry.get_decoded().table if row["pc"] <= address]
        return (rows[-1], entry.cie.header["return_address_register"]) if rows else None

    def top(self) -> Frame:
        """Return the innermost frame."""
        pc = self.core.machine.pc
        frame = Frame(pc, self.core.registers(), pc, self.program.function(pc))
        with contextlib.suppress(Unavailable):
            self._caller(frame)
        return frame

    def frames(self) -> list[Frame]:
        """List the frames, the innermost first."""
        found = [self.top()]
        while len(found) < FRAMES_MAX:
            try:
                caller = self._caller(found[-1])
            except Unavailable:
                break
            if caller is None:
                break
            found.append(caller)
        return found

    def _caller(self, frame: Frame) -> Frame | None:
        core, told = self.core, self._rule(frame.lookup)
        if told is None:
            return self._guessed(frame)
        if frame.function is None and frame.lookup != frame.pc:
            return None  # start-up code, which nobody has called
        row, back = told
        rule = row["cfa"]
        if rule.expr is not None:
            raise Unavailable("the frame's end is told by an expression")
        cfa = core.value(frame.registers, rule.reg) + rule.offset
        frame.cfa = cfa
        caller = dict(frame.registers)
        for number, how in row.items():
            if not isinstance(number, int):
                continue
            if how.type == "OFFSET":
                caller[number] = (
                    core.returned(cfa, how.arg) if number == back else core.read(cfa + how.arg, core.word_bytes)
                )
            elif how.type == "REGISTER":
                caller[number] = core.value(frame.registers, how.arg)
            elif how.type == "UNDEFINED":
                caller.pop(number, None)
        if back not in caller:
            return None
        caller[core.pc], caller[core.sp] = caller[back], cfa
        interrupted = core.interrupted(frame, cfa, caller)
        return self._made(frame, caller, interrupted)

    def _guessed(self, frame: Frame) -> Frame | None:
        """Return the caller of a function without information, at its first instruction or where a register has it."""
        core = self.core
        if frame.lookup != frame.pc:
            return None
        caller = dict(frame.registers)
        if core.back is not None:
            caller[core.pc] = caller[core.back]
            frame.cfa = caller[core.sp]
            interrupted = core.interrupted(frame, frame.cfa, caller)
            return self._made(frame, caller, interrupted)
        if frame.pc not in self.program.entries.values():
            return None
        frame.cfa = core.value(caller, core.sp) + 2
        caller[core.pc] = core.returned(frame.cfa, -2 if isinstance(core, Msp430) else -1)
        caller[core.sp] = frame.cfa
        return self._made(frame, caller, False)

    def _made(self, frame: Frame, caller: dict[int, int], interrupted: bool) -> Frame | None:
        pc = caller[self.core.pc] & ~1 if isinstance(self.core, Arm) else caller[self.core.pc]
        caller[self.core.pc] = pc
        lookup = pc if interrupted else pc - 1
        if pc == 0 or (pc == frame.pc and caller[self.core.sp] == frame.registers[self.core.sp]):
            return None
        function = self.program.function(lookup)
        # Code without debug data is a caller, too; what is no code at all is the end of the stack.
        if function is None and not any(low <= lookup < high for low, high in self._code):
            return None
        return Frame(pc, caller, lookup, function, interrupted=interrupted)

    @cached_property
    def _code(self) -> list[tuple[int, int]]:
        """Stretches of memory with a symbol in front of them."""
        at = sorted(set(self.program.entries.values()))
        regions = [(start, start + size) for _, start, size in self.core.machine.engine.regions()]
        return [(low, high) for low, high in regions if any(low <= address < high for address in at)]

    # --- Variables -------------------------------------------------------------------------------

    def locals(self, frame: Frame) -> list[tuple[str, Item | str]]:
        """List a frame's arguments and variables; a text says why one cannot be told. The innermost hides others."""
        if frame.function is None:
            return []
        found: dict[str, Item | str] = {}
        for die in _visible(frame.function.die, frame.lookup):
            name = name_of(die)
            try:
                found[name] = self._item(die, name, frame)
            except (Unavailable, SunsealError) as e:
                found[name] = str(e)
        return list(found.items())

    def _item(self, die: DIE, name: str, frame: Frame) -> Item:
        variables = self.core.machine.variables
        if "DW_AT_const_value" in die.attributes:
            return variables.constant(die, name, die.attributes["DW_AT_const_value"].value)
        location = self._location(die, frame)
        size_bytes = variables.size_bytes(die)
        pieces, left = b"", size_bytes
        simple: int | None = None
        stack: list[int] = []
        held: bytes | None = None
        for op, args in [*location, ("end", [])]:
            if op in ("DW_OP_piece", "end"):
                width = int(args[0]) if args else left
                if held is not None:
                    pieces += held[:width].ljust(width, b"\0")
                elif stack:
                    at = self.core.data(stack.pop())
                    if op == "end" and not pieces:
                        simple = at
                    else:
                        pieces += self.core.machine.read(at, width)
                elif op == "DW_OP_piece":
                    raise Unavailable("a part of it was optimised away")
                left, held = left - width, None
            elif op.startswith("DW_OP_reg"):
                number = int(args[0]) if args else int(op[9:])
                held = self.core.bytes_of(frame.registers, number, left)
            elif op == "DW_OP_stack_value":
                held = (stack.pop() & (1 << 64) - 1).to_bytes(8, "little")
            elif op == "DW_OP_implicit_value":
                held = bytes(args[0])
            else:
                self._operate(op, args, stack, frame)
        if simple is not None:
            return variables.placed(die, name, simple)
        if len(pieces) < size_bytes:
            raise Unavailable("it was optimised away here")
        return variables.held(die, name, pieces)

    def _location(self, die: DIE, frame: Frame) -> list[tuple[str, list[Any]]]:
        told = die.attributes.get("DW_AT_location")
        origin = die
        if told is None and "DW_AT_abstract_origin" in die.attributes:
            origin = die.get_DIE_from_attribute("DW_AT_abstract_origin")
            told = origin.attributes.get("DW_AT_location")
        if told is None:
            raise Unavailable("it was optimised away")
        expression = told.value
        if not isinstance(expression, list):
            expression = self._listed(origin, int(expression), frame.lookup)
        return _parsed(origin, expression)

    def _listed(self, die: DIE, offset: int, address: int) -> list[int]:
        from elftools.dwarf.locationlists import BaseAddressEntry

        base = die.cu.get_top_DIE().attributes.get("DW_AT_low_pc")
        at = int(base.value) if base is not None else 0
        for entry in die.dwarfinfo.location_lists().get_location_list_at_offset(offset, die):
            if isinstance(entry, BaseAddressEntry):
                at = entry.base_address
                continue
            shift = 0 if getattr(entry, "is_absolute", False) else at
            if shift + entry.begin_offset <= address < shift + entry.end_offset:
                return list(entry.loc_expr)
        raise Unavailable("it was optimised away here")

    def _operate(self, op: str, args: list[Any], stack: list[int], frame: Frame) -> None:
        """Carry out an operation that leaves an address or a number on the stack of an expression."""
        core = self.core
        if op in ("DW_OP_addr", "DW_OP_constu", "DW_OP_consts") or op[6:12] in ("const1", "const2", "const4", "const8"):
            stack.append(int(args[0]))
        elif op.startswith("DW_OP_lit"):
            stack.append(int(op[9:]))
        elif op == "DW_OP_fbreg":
            stack.append(self._frame_base(frame) + int(args[0]))
        elif op.startswith("DW_OP_breg"):
            number, offset = (int(op[10:]), args[0]) if op != "DW_OP_bregx" else (int(args[0]), args[1])
            stack.append(core.value(frame.registers, number) + int(offset))
        elif op == "DW_OP_call_frame_cfa":
            if frame.cfa is None:
                self._caller(frame)
            stack.append(frame.cfa or 0)
        elif op == "DW_OP_plus_uconst":
            stack.append(stack.pop() + int(args[0]))
        elif op in _TWO:
            b, a = stack.pop(), stack.pop()
            stack.append(_TWO[op](a, b))
        elif op == "DW_OP_deref":
            stack.append(core.read(stack.pop(), max(core.word_bytes, 2)))
        elif op in ("DW_OP_neg", "DW_OP_not"):
            stack.append(-stack.pop() if op == "DW_OP_neg" else ~stack.pop())
        elif op.endswith("entry_value"):
            raise Unavailable("it was optimised away here")
        else:
            raise Unavailable(f"its place is told by {op}, which is not followed here")

    def _frame_base(self, frame: Frame) -> int:
        told = frame.function.die.attributes.get("DW_AT_frame_base") if frame.function is not None else None
        if told is None or not isinstance(told.value, list):
            raise Unavailable("the frame's base is not told")
        stack: list[int] = []
        for op, args in _parsed(frame.function.die, told.value) if frame.function is not None else ():
            if op.startswith("DW_OP_reg"):
                stack.append(self.core.value(frame.registers, int(args[0]) if args else int(op[9:])))
            elif op != "DW_OP_stack_value":
                self._operate(op, args, stack, frame)
        return stack[-1]


_TWO = {
    "DW_OP_plus": lambda a, b: a + b,
    "DW_OP_minus": lambda a, b: a - b,
    "DW_OP_mul": lambda a, b: a * b,
    "DW_OP_and": lambda a, b: a & b,
    "DW_OP_or": lambda a, b: a | b,
    "DW_OP_xor": lambda a, b: a ^ b,
    "DW_OP_shl": lambda a, b: a << min(b, 64),
    "DW_OP_shr": lambda a, b: a >> min(b, 64),
    "DW_OP_shra": lambda a, b: a >> min(b, 64),
}


def _parsed(die: DIE, block: list[int]) -> list[tuple[str, list[Any]]]:
    from elftools.dwarf.dwarf_expr import DWARFExprParser

    return [(op.op_name, op.args) for op in DWARFExprParser(die.cu.structs).parse_expr(block)]


def _visible(die: DIE, address: int) -> Iterator[DIE]:
    """Go through arguments and variables of a function's blocks around an address, the outermost first."""
    for child in die.iter_children():
        if child.tag in ("DW_TAG_formal_parameter", "DW_TAG_variable"):
            yield child
    for child in die.iter_children():
        if child.tag in SCOPES and any(low <= address < high for low, high in ranges(child)):
            yield from _visible(child, address)
