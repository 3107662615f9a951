#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Read AVR ELFs back as check_elf.py does MSP430 ones: no recursion, and a stack that fits in the RAM.

    check_avr.py ELF...

For the node's programs, as they are linked; the bench's have calls through a register and frames of variable size, and
their stack is measured as they run.

Follows every path from the reset and the interrupt vectors, pushes and calls counted, and the frames that compiler and
assembly make by way of Y (IN from SPL, SBIW or SUBI and SBCI or SBC, OUT to SPL). A call or jump through a register
breaks a rule: nothing here has one. The node's program takes bytes of unused RAM for entropy, so its stack is held to
what the linker script keeps above __stack_reserve.
"""

from __future__ import annotations

import sys
from pathlib import Path

from check_elf import BrokenRuleError, Function, Image, Program, Walker, check_each, load

SPL, SPH = 0x3D, 0x3E
Y_LOW, Y_HIGH = 28, 29
RETURN_BYTES = 2
# 2467X, table 23: 35 vectors of two words.
VECTORS = range(4, 35 * 4, 4)
DATA_SPACE = 0x800000


def signed(value: int, bits: int) -> int:
    """Two's complement."""
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def words_of(word: int) -> int:
    """One, or two for LDS, STS, JMP and CALL."""
    return 2 if word & 0xFC0F == 0x9000 or word & 0xFE0C == 0x940C else 1


def written(word: int) -> tuple[int, ...]:
    """The registers that an instruction may change, of those that could be Y."""
    five, four = word >> 4 & 31, 16 + (word >> 4 & 15)
    if word & 0xFF00 == 0x0100:  # MOVW
        return (2 * (word >> 4 & 15), 2 * (word >> 4 & 15) + 1)
    if word & 0xFC00 in (0x0400, 0x1000, 0x1400):  # CPC, CPSE, CP
        return ()
    if 0x0400 <= word < 0x3000:
        return (five,)
    if word & 0xF000 == 0x3000:  # CPI
        return ()
    if word & 0xF000 in (0x4000, 0x5000, 0x6000, 0x7000, 0xE000):
        return (four,)
    if word & 0xD000 == 0x8000:  # LDD, STD, and LD, ST, LDS, STS, PUSH, POP
        load_of = () if word & 0x0200 else (five,)
        by_y = word & 0xFC00 == 0x9000 and word & 15 in (9, 10)
        return (*load_of, Y_LOW, Y_HIGH) if by_y else load_of
    if word & 0xFE08 == 0x9400 or word & 0xFE0F == 0x940A:
        return (five,)
    if word & 0xFE00 == 0x9600:  # ADIW, SBIW
        pair = 24 + 2 * (word >> 4 & 3)
        return (pair, pair + 1)
    if word & 0xF800 == 0xB000 or word & 0xFE08 == 0xF800:  # IN, BLD
        return (five,)
    return ()


class AvrWalker(Walker):
    """Follows one function of an AVR: at each address the bytes pushed, and where Y points in the stack, if it does."""

    def walk(self) -> Function:
        """All paths; an address again where less is known of Y."""
        seen: dict[int, tuple[int, int | None]] = {}
        todo: list[tuple[int, int, int | None]] = [(self.entry, 0, None)]
        while todo:
            at, depth, y = todo.pop()
            if at in seen:
                before, y_before = seen[at]
                if before != depth:
                    raise self.fail(at, f"is reached with {before} and with {depth} bytes pushed")
                if y_before is None or y_before == y:
                    continue
                y = None
            seen[at] = (depth, y)
            self.function.deepest = max(self.function.deepest, depth)
            todo += self.steps(at, depth, y)
        return self.function

    def call(self, at: int, target: int, behind: int, depth: int, y: int | None) -> list[tuple[int, int, int | None]]:
        """A call: what follows it, if the function returns. Y is the caller's."""
        if target == behind:  # RCALL .+0: two bytes of frame
            return [(behind, depth + RETURN_BYTES, y)]
        self.function.call(target, depth)
        return [(behind, depth, y)] if self.callee(target).returns else []

    def steps(self, at: int, depth: int, y: int | None) -> list[tuple[int, int, int | None]]:
        """One instruction: where it leads, with the bytes pushed and Y there."""
        word = self.fetch(at)
        behind = at + 2 * words_of(word)
        if word in (0x9508, 0x9518):  # RET, RETI
            if depth != 0:
                raise self.fail(at, f"returns with {depth} bytes still pushed")
            self.function.returns = True
            return []
        if word in (0x9409, 0x9419, 0x9509, 0x9519):
            raise self.fail(at, "jumps or calls through a register")
        if word & 0xFE0C == 0x940C:  # JMP, CALL
            target = 2 * self.fetch(at + 2)
            return self.call(at, target, behind, depth, y) if word & 2 else [(target, depth, y)]
        if word & 0xE000 == 0xC000:  # RJMP, RCALL
            target = behind + 2 * signed(word & 0xFFF, 12)
            return self.call(at, target, behind, depth, y) if word & 0x1000 else [(target, depth, y)]
        if word & 0xF800 == 0xF000:  # branches
            return [(behind, depth, y), (behind + 2 * signed(word >> 3 & 0x7F, 7), depth, y)]
        if word & 0xFE0F == 0x920F:  # PUSH
            return [(behind, depth + 1, y)]
        if word & 0xF800 == 0xB800:  # OUT
            port = word >> 5 & 0x30 | word & 15
            if port == SPL:
                if word >> 4 & 31 != Y_LOW or y is None:
                    raise self.fail(at, "gives SP a value that cannot be followed")
                depth = y
            return [(behind, depth, y)]
        known = self.y_behind(at, word, depth, y)
        if known is not None:
            return [known]
        touched = {Y_LOW, Y_HIGH} & set(written(word))
        if word & 0xFE0F == 0x900F:  # POP
            depth -= 1
        y = None if touched else y
        skips = word & 0xFC00 == 0x1000 or word & 0xFC08 == 0xFC00 or word & 0xFD00 == 0x9900
        over = [(behind + 2 * words_of(self.fetch(behind)), depth, y)] if skips else []
        return [(behind, depth, y), *over]

    def y_behind(self, at: int, word: int, depth: int, y: int | None) -> tuple[int, int, int | None] | None:
        """What makes a frame by Y: IN r28, SPL; SBIW r28; SUBI r28 and SBCI r29; LDI of the stack's top."""
        following = self.image.words.get(at + 2, 0)
        if word == 0xB7CD and following == 0xB7DE:  # IN r28, SPL; IN r29, SPH
            return at + 4, depth, depth
        if word & 0xFE30 == 0x9620 and y is not None:  # ADIW, SBIW of r28
            by = word >> 2 & 0x30 | word & 15
            return at + 2, depth, y + (by if word & 0x0100 else -by)
        if word & 0xF0F0 == 0x50C0 and following & 0xF0F0 == 0x40D0 and y is not None:  # SUBI r28, SBCI r29
            low, high = (w >> 4 & 0xF0 | w & 15 for w in (word, following))
            return at + 4, depth, y + signed(low | high << 8, 16)
        if word & 0xF0F0 == 0x50C0 and following == 0x09D1 and y is not None:  # SUBI r28; SBC r29, r1, which is zero
            return at + 4, depth, y + (word >> 4 & 0xF0 | word & 15)
        if word & 0xF0F0 == 0xE0C0 and following & 0xF0F0 == 0xE0D0:  # LDI r28, LDI r29
            low, high = (w >> 4 & 0xF0 | w & 15 for w in (word, following))
            if low | high << 8 == self.image.symbols["__stack_top"] - DATA_SPACE:
                return at + 4, depth, 0
        return None


def target_of(image: Image, vector: int) -> int:
    """Where the JMP of a vector leads."""
    return 2 * image.words[vector + 2]


def check(path: Path) -> str:
    """A line with the program's figures."""
    image = load(path)
    program = Program(image, AvrWalker)
    needs = program.bytes_from(0)
    handlers = {target_of(image, v) for v in VECTORS}
    interrupt = max(program.bytes_from(h) for h in handlers) + RETURN_BYTES
    floor = "__stack_reserve" if "hal_entropy_samples" in image.symbols else "__stack_limit"
    free = image.symbols["__stack_top"] - image.symbols[floor]
    if needs + interrupt > free:
        raise BrokenRuleError(f"may take {needs + interrupt} bytes of stack and has {free}: {program.deepest_chain(0)}")
    return (
        f"{path}: stack {needs} + {interrupt} in an interrupt, of {free} bytes; "
        f"{len(program.functions)} functions, no recursion; deepest: {program.deepest_chain(0)}"
    )


# A program that breaks a rule, and the rule. Addresses from 0x100 on.
FAULTY = {
    "calls itself": (0x940E, 0x0080, 0x9508),  # CALL 0x100 ; RET
    "returns with 1": (0x920F, 0x9508),  # PUSH r0 ; RET
    "is reached with 0 and with 1": (0x920F, 0xCFFE),  # PUSH r0 ; RJMP to it
    "through a register": (0x9509, 0x9508),  # ICALL
    "gives SP a value": (0xBFCD, 0x9508),  # OUT SPL, r28
    "runs into memory": (0x0000,),
}


def check_the_checker() -> None:
    """A program that breaks a rule must be refused for it, and a frame is counted."""
    for what, words in FAULTY.items():
        image = Image({0x100 + 2 * i: w for i, w in enumerate(words)}, {0x100: "faulty"})
        try:
            Program(image, AvrWalker).bytes_from(0x100)
        except BrokenRuleError as why:
            assert what in str(why), f"{why} instead of {what}"
        else:
            raise AssertionError(f"a program that {what} was let pass")
    # push r28 ; push r29 ; in r28, SPL ; in r29, SPH ; subi r28, 0x2C ; sbci r29, 1 ; out SPH, r29 ; out SPL, r28 ;
    # sbrc r0, 0 ; call the last RET ; subi r28, 0xD4 ; sbci r29, 0xFE ; out SPH, r29 ; out SPL, r28 ; pop r29 ;
    # pop r28 ; ret ; ret
    fine: tuple[int, ...] = (0x93CF, 0x93DF, 0xB7CD, 0xB7DE, 0x52CC, 0x40D1, 0xBFDE, 0xBFCD, 0xFC00, 0x940E, 0x0092)
    fine += (0x5DC4, 0x4FDE, 0xBFDE, 0xBFCD, 0x91DF, 0x91CF, 0x9508, 0x9508)
    framed = {0x100 + 2 * i: w for i, w in enumerate(fine)}
    assert Program(Image(framed, {0x100: "fine"}), AvrWalker).bytes_from(0x100) == 2 + 300 + 2
    # A load into Y between: the frame cannot be given back.
    framed[0x110] = 0x81C8  # ldd r28, Y+0
    framed[0x112] = framed[0x114] = 0
    try:
        Program(Image(framed, {0x100: "lost"}), AvrWalker).bytes_from(0x100)
    except BrokenRuleError as why:
        assert "gives SP a value" in str(why), why
    else:
        raise AssertionError("a Y that was loaded was taken for a frame's")


def main() -> int:
    """Checks every program named."""
    check_the_checker()
    sys.setrecursionlimit(10_000)
    return check_each("check_avr.py", sys.argv[1:], check)


if __name__ == "__main__":
    sys.exit(main())
