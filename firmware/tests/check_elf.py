#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Read MSP430 ELFs back: no recursion, no call that cannot be followed, and a stack that fits in the RAM.

    check_elf.py ELF...
    check_elf.py --operands ELF...

Walks every path from the reset vector and the interrupt vectors through the machine code, adds up
what each function pushes, and compares the deepest chain of calls, an interrupt on top, with the
RAM between __stack_limit and __stack_top. A call through a register may lead to every function whose
address is taken, but for those that HELD_BY keeps to some callers: the linker's map and the objects that
it names tell where addresses are, so that no number is one by chance. Prints the figures; exits 1 if a
program breaks a rule.

With --operands only this, for every program linked: no PUSH, PUSHX, CALL or CALLA reads an operand by SP. Silicon
decrements SP before it makes the address of X(SP), compilers make code as if it did so behind (docs/accuracy.md).
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

# The folder that the linker ran in, to which a map's names are relative.
FIRMWARE = Path(__file__).resolve().parents[1]
PC, SP, SR, CG = 0, 1, 2, 3
RETI = 0x1300
RET = 0x4130
CALL_IMMEDIATE = 0x12B0
BR_IMMEDIATE = 0x4030
INTERRUPT_FRAME_BYTES = 4
# SLAS655, interrupt vectors of the MSP430F5438A; 0xFFFE is the reset.
VECTORS = range(0xFF80, 0xFFFE, 2)
RESET_VECTOR = 0xFFFE
UNUSED_VECTOR = 0xFFFF
# MSP430 ELF ABI (SLAA534), relocations: those that hold a distance and no address.
DISTANCES = (2, 4)  # R_MSP430_10_PCREL, R_MSP430_16_PCREL
# "    5c00     5c00       3c     1         build/crt0.S.o:(.text.start)"
PLACED = re.compile(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+[0-9a-f]+\s+\d+ {9}([^<\s]\S*):\((\.(?!debug)\S+)\)")
# Functions that only some callers hold a pointer to, by the type of the member that it stands in, which is in no ELF:
# whoever else calls through a register cannot reach them. By the function's name, or by that of the table that it
# stands in; the first that fits counts.
HELD_BY = (
    # struct sunseal_coupon_kind, and what a sealed kind makes its payload with: no sealed one (coupon_kinds.h)
    (re.compile(r"sunseal_coupon_sealed_make"), re.compile(r"sunseal_coupon_produce")),
    (re.compile(r"sunseal_coupon_\w+_make(_step|_pool)?"), re.compile(r"sunseal_coupon_(produce|sealed_make)")),
    # struct sunseal_coupon_medium is the store's (coupon/src/store.c, coupon.h), never the medium's own
    (re.compile(r"table sunseal_coupon_(fram|flash)"), re.compile(r"sunseal_coupon_(?!\w+_make)\w+|pass_bytes")),
    # struct sunseal_coupon_flash_driver is that medium's
    (
        re.compile(r"table sunseal_coupon_flash_msp\w+"),
        re.compile(r"(?!sunseal_)\w+|bench_setup_coupon_(ctr|random)_bare"),
    ),
)
CONSTANTS = {(SR, 2): 4, (SR, 3): 8, (CG, 0): 0, (CG, 1): 1, (CG, 2): 2, (CG, 3): 0xFFFF}


class BrokenRuleError(Exception):
    """A rule that a program breaks, as a sentence."""


class NotCallableError(BrokenRuleError):
    """A function that pops what others pushed: its address is held to jump there, not to call it."""


@dataclass
class Image:
    """Bytes and names of an ELF."""

    words: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)
    functions: set[int] = field(default_factory=set)
    labels: set[int] = field(default_factory=set)
    tables: list[tuple[int, int]] = field(default_factory=list)
    """Objects, first address and end."""
    references: dict[int, int] = field(default_factory=dict)
    """Words that hold an address, by their own, as the objects' relocations tell."""
    code: list[tuple[int, int]] = field(default_factory=list)
    """Executable sections, first address and end."""

    def taken(self) -> set[int]:
        """Functions and assembly's labels whose address is held by a word that is neither a vector nor called."""
        held = {
            target
            for at, target in self.references.items()
            if at not in VECTORS and at != RESET_VECTOR and self.words.get(at - 2) not in (CALL_IMMEDIATE, BR_IMMEDIATE)
        }
        # Flash may begin with the program where the stack begins, __stack_top.
        return held & (self.functions | self.labels) - {self.words.get(RESET_VECTOR)}

    def named(self, function: int) -> list[str]:
        """A function's name, and those of the tables that it stands in."""
        places = [at for at, target in self.references.items() if target == function]
        tables = {start for start, end in self.tables if any(start <= at < end for at in places)}
        return [self.name(function), *(f"table {n}" for n, at in self.symbols.items() if at in tables)]

    def name(self, address: int) -> str:
        """The function at an address, or the one before it with an offset."""
        below = max((a for a in self.names if a <= address), default=None)
        if below is None:
            return f"{address:#06x}"
        return self.names[below] + (f"+{address - below:#x}" if address != below else "")


@dataclass
class Function:
    """What one function does with the stack: its own deepest push, and its calls at their depths."""

    deepest: int = 0
    returns: bool = False
    calls: dict[int, int] = field(default_factory=dict)

    def call(self, target: int, depth: int) -> None:
        """Notes a call that finds `depth` bytes pushed."""
        self.calls[target] = max(self.calls.get(target, 0), depth)


def load(path: Path) -> Image:
    """Segments and symbols of a 32-bit little-endian ELF."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x01\x01":
        raise BrokenRuleError("is no 32-bit little-endian ELF")
    image = Image()
    phoff, shoff = struct.unpack_from("<II", data, 28)
    phnum, _, shnum = struct.unpack_from("<HHH", data, 44)
    for i in range(phnum):
        kind, offset, _, physical, size = struct.unpack_from("<5I", data, phoff + 32 * i)
        if kind == 1:
            count = size // 2
            words = struct.unpack_from(f"<{count}H", data, offset)
            image.words.update(zip(range(physical, physical + 2 * count, 2), words, strict=True))
    sections = [struct.unpack_from("<10I", data, shoff + 40 * i) for i in range(shnum)]
    for _, kind, flags, address, offset, length, link, _, _, _ in sections:
        if kind == 1 and flags & 4:
            image.code.append((address, address + length))
        if kind != 2:
            continue
        strings = sections[link][4]
        for at in range(offset, offset + length, 16):
            name, value, size, info, _, place = struct.unpack_from("<IIIBBH", data, at)
            text = data[strings + name : data.index(0, strings + name)].decode()
            if text:
                image.symbols[text] = value
            code = 0 < place < len(sections) and sections[place][2] & 4
            if info & 15 == 2:
                image.functions.add(value)
            elif info == 0 and code and text.isidentifier():  # those with numbers are none
                image.labels.add(value)
            elif info & 15 == 1 and size:
                image.tables.append((value, value + size))
            if (text and info & 15 == 2) or text.startswith("sunseal_isr_"):
                image.names.setdefault(value, text)
    return image


@cache
def relocations(path: Path) -> tuple[dict[str, list[int]], dict[int, list[tuple[int, str, int, int]]]]:
    """An object's sections by their names, and each one's absolute relocations: place, symbol, its section, addend.

    A symbol of this object is told as its section and its place there; another's by its name and section 0.
    """
    data = path.read_bytes()
    (shoff,), (shnum, names) = struct.unpack_from("<I", data, 32), struct.unpack_from("<HH", data, 48)
    sections = [struct.unpack_from("<10I", data, shoff + 40 * i) for i in range(shnum)]

    def text(strings: int, at: int) -> str:
        begin = sections[strings][4] + at
        return data[begin : data.index(0, begin)].decode()

    named: dict[str, list[int]] = {}
    for i, section in enumerate(sections):
        named.setdefault(text(names, section[0]), []).append(i)
    found: dict[int, list[tuple[int, str, int, int]]] = {}
    for _, kind, _, _, offset, length, link, target, _, _ in sections:
        if kind != 4 or not sections[target][2] & 2:  # SHT_RELA of what is loaded
            continue
        symbols, strings = sections[link][4], sections[link][6]
        for at in range(offset, offset + length, 12):
            place, info, addend = struct.unpack_from("<IIi", data, at)
            name, value, _, _, _, where = struct.unpack_from("<IIIBBH", data, symbols + 16 * (info >> 8))
            if info & 0xFF in DISTANCES:
                continue
            inside = 0 < where < len(sections)
            told = (place, "" if inside else text(strings, name), where if inside else 0, addend + value * inside)
            found.setdefault(target, []).append(told)
    return named, found


def references(path: Path, image: Image) -> dict[int, int]:
    """Where a program holds addresses: relocations of the objects that its map names, where that placed them."""
    try:
        placed = [m.groups() for m in map(PLACED.match, path.with_suffix(".map").read_text().splitlines()) if m]
    except OSError as e:
        raise BrokenRuleError(f"has no map beside it ({e.strerror}), which tells where addresses are") from e
    at: dict[Path, dict[int, int]] = {}
    for address, name, section in placed:
        file = FIRMWARE / name
        taken = at.setdefault(file, {})
        index = next(i for i in relocations(file)[0][section] if i not in taken)
        taken[index] = int(address, 16)
    found = {}
    for file, bases in at.items():
        held = relocations(file)[1]
        for section, start in bases.items():
            for place, symbol, where, addend in held.get(section, ()):
                base = bases.get(where) if where else image.symbols.get(symbol)
                if base is not None:
                    found[start + place] = base + addend
    return found


def operand(word: int, source: bool) -> tuple[int, int]:
    """Register and mode."""
    return (word >> 8 & 15, word >> 4 & 3) if source else (word & 15, word >> 7 & 1)


def extra(reg: int, mode: int) -> bool:
    """Whether an operand has a word of its own."""
    return (mode == 1 and reg != CG) or (mode == 3 and reg == PC)


def words_of(first: int, second: int) -> int:
    """How many words the instruction has whose first two these are."""
    if first & 0xF800 == 0x1800:  # extension word
        return 1 + words_of(second, 0)
    if first < 0x1000:
        return 1 + (first >> 4 & 15 in (2, 3, 6, 7, 8, 9, 10, 11))
    if 0x1300 < first < 0x1400:
        return 1 + (first >> 4 & 15 in (5, 8, 9, 11))
    if first < 0x1400:
        return 1 + extra(first & 15, first >> 4 & 3)
    if first < 0x4000:  # PUSHM, POPM, jumps
        return 1
    return 1 + extra(*operand(first, source=True)) + (first >> 7 & 1)


def by_stack(word: int) -> bool:
    """Whether this opcode pushes or calls what an address made of SP holds."""
    pushes = word & 0xFF80 in (0x1200, 0x1280) and word >> 4 & 3 != 0
    return word & 15 == SP and (pushes or word & 0xFFF0 in (0x1350, 0x1360, 0x1370))


def check_operands(image: Image) -> None:
    """Every instruction of the executable sections, taken up anew at each symbol: tables may lie between."""
    known = sorted({*image.functions, *image.labels, *image.symbols.values()})
    for start, end in image.code:
        begins = iter([*(a for a in known if start < a < end and a % 2 == 0), end])
        at, begin = start, next(begins)
        while at < end:
            first, second = image.words.get(at, 0), image.words.get(at + 2, 0)
            if by_stack(second if first & 0xF800 == 0x1800 else first):
                raise BrokenRuleError(
                    f"{image.name(at)} at {at:#06x} is a PUSH or CALL with an operand by SP, which silicon decrements "
                    "first: put the operand into a register, or write the call another way"
                )
            at += 2 * words_of(first, second)
            while begin < end and at >= begin:
                at, begin = begin, next(begins)


class Walker:
    """Follows one function from its entry."""

    def __init__(self, image: Image, entry: int, callee: Callable[[int], Function], taken: set[int]) -> None:
        """Starts at `entry`; `callee` tells what a called function does, `taken` where a register may lead."""
        self.image, self.entry, self.callee, self.taken = image, entry, callee, taken
        self.function = Function()
        self.depth_at: dict[int, int] = {}
        self.todo = [(entry, 0)]

    def fail(self, at: int, what: str) -> BrokenRuleError:
        """The sentence with its place."""
        own, here = self.image.name(self.entry), self.image.name(at)
        within = "" if here.startswith(own) else f", entered by {own},"
        return BrokenRuleError(f"{here} at {at:#06x}{within} {what}")

    def fetch(self, at: int) -> int:
        """One word of code."""
        if at not in self.image.words:
            raise self.fail(at, "runs into memory that the program does not fill")
        return self.image.words[at]

    def walk(self) -> Function:
        """All paths, each address once."""
        while self.todo:
            at, depth = self.todo.pop()
            while at is not None:
                if at in self.depth_at:
                    if self.depth_at[at] != depth:
                        raise self.fail(at, f"is reached with {self.depth_at[at]} and with {depth} bytes pushed")
                    break
                self.depth_at[at] = depth
                self.function.deepest = max(self.function.deepest, depth)
                at, depth = self.step(at, depth)
        return self.function

    def follow(self, at: int, target: int, depth: int) -> None:
        """A jump: within the function, or to another one that ends for this one and is walked with it."""
        self.todo.append((target, depth))

    def reachable(self) -> set[int]:
        """Where a register may lead."""
        caller = self.image.name(self.entry)

        def holds(target: int) -> bool:
            names = self.image.named(target)
            holders = (who for what, who in HELD_BY if any(map(what.fullmatch, names)))
            return (who := next(holders, None)) is None or who.fullmatch(caller) is not None

        return {target for target in self.taken if holds(target)}

    def into_what_follows(self, at: int, first: int, depth: int) -> int:
        """ADD to PC enters unrolled code anywhere up to its next jump: nothing there may move SP or return."""
        behind: int | None = first
        while self.fetch(behind) & 0xE000 != 0x2000:
            behind, there = self.step(behind, depth)
            if behind is None or there != depth:
                raise self.fail(at, "jumps by an offset into code that moves SP or ends")
        return first

    def step(self, at: int, depth: int) -> tuple[int | None, int]:
        """One instruction: the next address (None at the end of a path) and the depth there."""
        word = self.fetch(at)
        size = 2
        if word & 0xF800 == 0x1800:  # extension word
            size, word = 4, self.fetch(at + 2)
        first = at + size
        if word in (RETI, RET):
            if depth < 0:
                raise NotCallableError(self.fail(at, f"returns with {depth} bytes still pushed"))
            if depth > 0:
                raise self.fail(at, f"returns with {depth} bytes still pushed")
            self.function.returns = True
            return None, depth
        if word & 0xE000 == 0x2000:  # jumps
            offset = (word & 0x3FF) - (word & 0x200) * 2
            self.follow(at, first + 2 * offset, depth)
            return (None if word & 0x1C00 == 0x1C00 else first), depth
        if word < 0x1000:  # address instructions
            kind = word >> 4 & 15
            size += 2 if kind in (2, 3, 6, 7, 8, 9, 10, 11) else 0
            if word & 15 in (PC, SP) and kind not in (4, 5, 6, 7, 9, 13):
                raise self.fail(at, "changes PC or SP by an address instruction")
            return at + size, depth
        if 0x1400 <= word < 0x1800:  # PUSHM, POPM
            moved = ((word >> 4 & 15) + 1) * (2 if word & 0x0100 else 4)
            return first, depth + (moved if word < 0x1600 else -moved)
        if word < 0x1400:  # one operand
            reg, mode = word & 15, word >> 4 & 3
            size += 2 if extra(reg, mode) else 0
            if word & 0x0380 == 0x0200:
                depth += 2
            elif word & 0x0380 == 0x0280:
                targets = {self.fetch(first)} if (reg, mode) == (PC, 3) else self.reachable()
                if not targets:
                    raise self.fail(at, "calls through a register, and no function's address is taken")
                for target in sorted(targets):
                    self.function.call(target, depth)
                walked = [self.callee(target) for target in sorted(targets)]
                if not any(function.returns for function in walked):
                    return None, depth
            elif word >= 0x1300:
                raise self.fail(at, "is a 20-bit call, which small-model code has not")
            return at + size, depth
        source, mode = operand(word, source=True)
        target, indirect = operand(word, source=False)
        value = CONSTANTS.get((source, mode))
        if extra(source, mode):
            if (source, mode) == (PC, 3):
                value = self.fetch(at + size)
            size += 2
        size += 2 if indirect else 0
        operation = word >> 12
        if (source, mode) == (SP, 3):
            depth -= 2
        if not indirect and target == PC and (operation, mode) == (5, 0):
            return self.into_what_follows(at, first, depth), depth
        if not indirect and target == PC:
            if operation != 4 or value is None:
                raise self.fail(at, "jumps to a computed address")
            self.follow(at, value, depth)
            return None, depth
        if not indirect and target == SP and operation not in (9, 11):
            if operation not in (5, 8) or value is None:
                if operation == 4 and value == self.image.symbols["__stack_top"]:
                    return at + size, 0
                raise self.fail(at, "gives SP a computed value")
            depth += value if operation == 8 else -value
        return at + size, depth


class Program:
    """The call graph of an image."""

    def __init__(self, image: Image, walker: type[Walker] = Walker) -> None:
        """Nothing is walked yet; `walker` knows the instruction set."""
        self.image, self.walker = image, walker
        self.taken = {entry for entry in image.taken() if self.callable(entry)}
        self.functions: dict[int, Function] = {}
        self.need: dict[int, int] = {}
        self.chain: list[int] = []

    def callable(self, entry: int) -> bool:
        """Whether a call may lead there: not into what ends for those that jump to it."""
        try:
            self.walker(self.image, entry, lambda _: Function(returns=True), {entry}).walk()
        except NotCallableError:
            return False
        except BrokenRuleError:
            pass  # which the walk from its caller will say
        return True

    def function(self, entry: int) -> Function:
        """What the function at an address does; it may be asked for while its caller is walked."""
        if entry in self.chain:
            names = " -> ".join(self.image.name(a) for a in (*self.chain[self.chain.index(entry) :], entry))
            raise BrokenRuleError(f"calls itself: {names}")
        if entry not in self.functions:
            self.chain.append(entry)
            self.functions[entry] = self.walker(self.image, entry, self.function, self.taken).walk()
            self.chain.pop()
        return self.functions[entry]

    def bytes_from(self, entry: int) -> int:
        """Stack that a call of `entry` may take, the return address aside."""
        if entry not in self.need:
            f = self.function(entry)
            self.need[entry] = max([f.deepest, *(depth + 2 + self.bytes_from(t) for t, depth in f.calls.items())])
        return self.need[entry]

    def deepest_chain(self, entry: int) -> str:
        """The calls that take the most."""
        names = [self.image.name(entry)]
        calls = self.functions[entry].calls
        if calls:
            target = max(calls, key=lambda t: calls[t] + 2 + self.need[t])
            if calls[target] + 2 + self.need[target] == self.need[entry]:
                names.append(self.deepest_chain(target))
        return " > ".join(names)


def check(path: Path) -> str:
    """A line with the program's figures."""
    image = load(path)
    for symbol in ("__stack_top", "__stack_limit"):
        if symbol not in image.symbols:
            raise BrokenRuleError(f"has no symbol {symbol}")
    image.references = references(path, image)
    program = Program(image)
    sys.setrecursionlimit(10_000)
    reset = image.words[RESET_VECTOR]
    needs = program.bytes_from(reset)
    handlers = {image.words[v] for v in VECTORS if v in image.words} - {UNUSED_VECTOR}
    interrupt = max(program.bytes_from(h) for h in handlers) + INTERRUPT_FRAME_BYTES
    free = image.symbols["__stack_top"] - image.symbols["__stack_limit"]
    if needs + interrupt > free:
        raise BrokenRuleError(
            f"may take {needs + interrupt} bytes of stack and has {free}: {program.deepest_chain(reset)}"
        )
    return (
        f"{path}: stack {needs} + {interrupt} in an interrupt, of {free} bytes free; "
        f"{len(program.functions)} functions, no recursion; deepest: {program.deepest_chain(reset)}"
    )


# call #0x5C00 ; push r10 ; ret ; jmp to the push ; call r10 ; sub r10, sp ; br r10: each breaks a rule.
FAULTY = {
    "calls itself": (0x12B0, 0x5C00, RET),
    "returns with 2": (0x120A, RET),
    "is reached with 0 and with 2": (0x120A, 0x3FFE),
    "calls through a register": (0x128A, RET),
    "gives SP a computed value": (0x8A01, RET),
    "jumps to a computed address": (0x4A00, RET),
    "jumps by an offset into code that moves SP or ends": (0x5A00, 0x4303, 0x120A, 0x3FFD),
    "runs into memory": (0x430A,),
}


def check_the_checker() -> None:
    """A program that breaks a rule must be refused for it."""
    for what, words in FAULTY.items():
        image = Image({0x5C00 + 2 * i: w for i, w in enumerate(words)}, {0x5C00: "faulty"})
        try:
            Program(image).bytes_from(0x5C00)
        except BrokenRuleError as why:
            assert what in str(why), f"{why} instead of {what}"
        else:
            raise AssertionError(f"a program that {what} was let pass")
    # mov #0x5C08, r10 ; call r10 ; ret ; push r10 ; pop r10 ; ret: four bytes by the call through a register
    through = (0x403A, 0x5C08, 0x128A, RET, 0x120A, 0x413A, RET)
    image = Image({0x5C00 + 2 * i: w for i, w in enumerate(through)}, {0x5C00: "through"}, functions={0x5C08})
    image.references = {0x5C02: 0x5C08}
    assert Program(image).bytes_from(0x5C00) == 4
    # add r10, pc ; nop ; nop ; jne the first nop ; ret
    unrolled = (0x5A00, 0x4303, 0x4303, 0x23FD, RET)
    assert Program(Image({0x5C00 + 2 * i: w for i, w in enumerate(unrolled)}, {})).bytes_from(0x5C00) == 0
    # call 2(sp) ; push.b 2(sp) ; pushx.a 4(sp) ; calla 4(sp) ; call @sp, and forms that are fine: push sp ; call r10 ;
    # mov 2(sp), r10 ; push 0x1291(r10) ; pushm ; mov #0x1291, r8 ; ret
    for words in ((0x1291, 2), (0x1251, 2), (0x1800, 0x1251, 4), (0x1351, 4), (0x12A1,)):
        there = {0x5C00 + 2 * i: w for i, w in enumerate((0x4303, *words, RET))}
        image = Image(there, {0x5C00: "f"}, code=[(0x5C00, 0x5C0A)])
        try:
            check_operands(image)
        except BrokenRuleError as why:
            assert "at 0x5c02 is a PUSH or CALL" in str(why), why
        else:
            raise AssertionError(f"{words} was let pass")
    fine_words = (0x1201, 0x128A, 0x411A, 2, 0x121A, 0x1291, 0x1531, 0x4038, 0x1291, RET)
    check_operands(Image({0x5C00 + 2 * i: w for i, w in enumerate(fine_words)}, code=[(0x5C00, 0x5C14)]))
    # push r10 ; sub #6, sp ; call the last RET ; add #6, sp ; pop r10 ; ret ; ret
    fine = (0x120A, 0x8031, 6, 0x12B0, 0x5C12, 0x5031, 6, 0x413A, RET, RET)
    words = {0x5C00 + 2 * i: w for i, w in enumerate(fine)}
    assert Program(Image(words, {0x5C00: "fine"})).bytes_from(0x5C00) == 10


def check_each(tool: str, names: list[str], check: Callable[[Path], str | None]) -> int:
    """Checks every program named, and prints what is said of it."""
    if not names:
        print(f"{tool}: name the ELFs to check", file=sys.stderr)
        return 2
    status = 0
    for name in names:
        try:
            if said := check(Path(name)):
                print(said)
        except BrokenRuleError as why:
            print(f"{tool}: {name}: {why}", file=sys.stderr)
            status = 1
    return status


def main() -> int:
    """Checks every program named; behind `--operands`, what its instructions work on alone."""
    check_the_checker()
    if sys.argv[1:2] == ["--operands"]:
        return check_each("check_elf.py", sys.argv[2:], lambda path: check_operands(load(path)))
    return check_each("check_elf.py", sys.argv[1:], check)


if __name__ == "__main__":
    sys.exit(main())
