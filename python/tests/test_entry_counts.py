# SPDX-License-Identifier: MIT OR Apache-2.0
"""A timer's value on entry to the handler that it woke the CPU for, where both count one source: one value.

On silicon timer and CPU count edges of one oscillator, so that the way from the compare to the handler is the same
number of them at every wake-up. `SUNSEAL_FREQUENCIES=1000` in the environment asks a thousand frequencies of each chip.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import require
from sunseal import Machine
from sunseal.catalog import places

WAKES = 400
"""Wakes of each run, the first three aside."""
MOST = int(os.environ.get("SUNSEAL_FREQUENCIES", "26"))
"""Frequencies of each chip: 26 of eight chips are 208."""


@dataclass(frozen=True)
class Chip:
    """A chip, the program that its timer wakes, and the settings that its clock is swept by."""

    name: str
    board: str
    source: str
    script: str
    target: tuple[str, ...]
    ram: int
    settings: tuple[int, ...] = ()
    """Words of RAM before the start; none: frequencies of a crystal."""
    crystal: str = ""
    hz: tuple[int, int] = (0, 0)
    timed: bool = False
    """Its wake-up takes a time that the clock does not make, so that the count is another one at another frequency."""


MSP430 = """
    .global main, done
    .text
main:
    mov #0x5A80, &{watchdog}
    mov #{stack}, r1
    mov #0xFFFF, r5
    clr r6
    clr r7
{clock}
    mov #{top}, &{timer}+0x12
    mov #0x10, &{timer}+2
    mov #0x214, &{timer}
1:  bis #0x18, r2
    jmp 1b
handler:
    mov &{timer}+0x10, r4
    inc r7
    cmp #4, r7
    jlo 3f
    cmp r5, r4
    jhs 2f
    mov r4, r5
2:  cmp r4, r6
    jhs 3f
    mov r4, r6
3:  cmp #{wakes}, r7
    jlo 4f
done:
    jmp done
4:  reti
unused:
    jmp unused
    .section .timer,"a",@progbits
    .word handler
    .section .vectors,"a",@progbits
    .word main
"""
MSP430_SCRIPT = """
SECTIONS {{
    . = {code};
    .text : {{ *(.text*) }}
    . = {vector};
    .timer : {{ KEEP(*(.timer)) }}
    . = 0xFFFE;
    .vectors : {{ KEEP(*(.vectors)) }}
    /DISCARD/ : {{ *(.comment) *(.note*) }}
}}
"""


def _msp430(
    name: str,
    board: str,
    clock: str,
    *,
    vector: int,
    watchdog: int = 0x15C,
    timer: int = 0x340,
    settings: tuple[int, ...] = (),
) -> Chip:
    ram = 0x1C00 if name != "msp430f1611" else 0x1100
    source = MSP430.format(watchdog=watchdog, stack=ram + 0x200, clock=clock, timer=timer, top=198, wakes=WAKES + 3)
    script = MSP430_SCRIPT.format(code=0x5C00 if name == "msp430f5438a" else 0x4400, vector=vector)
    target = ("--target=msp430",)
    if settings:
        return Chip(name, board, source, script, target, ram, settings)
    return Chip(name, board, source, script, target, ram, crystal="hfxt", hz=(4_000_000, 8_000_000), timed=True)


# RSELx and DCOCTL, where each bit of MODx and DCOx counts (DCOx below 7), up to 8 MHz.
DCO_1XX = tuple(r << 8 | d for r in range(8) for d in range(0xE0) if (r, d) < (7, 0x40))
# FLLREFDIV and FLLN, by the multiple of REFO that they make: 1.5 to 8 MHz, each multiple once.
MULTIPLES = {(n + 1) / (1 << d): d << 12 | n for d in range(4) for n in range((46 << d) - 1, min(1024, 244 << d))}
FLL = tuple(MULTIPLES[multiple] for multiple in sorted(MULTIPLES))


BASIC_CLOCK = """
    mov.b &0x1100, &0x56
    mov.b &0x1101, r8
    bis.b #0x80, r8
    mov.b r8, &0x57
    mov.b #0, &0x58
"""
# DCORSEL 4, DCOCLK itself.
UCS = """
    bis #0x40, r2
    mov &0x1C00, r8
    mov r8, r9
    and #0x3FF, r9
    swpb r8
    rra r8
    rra r8
    rra r8
    rra r8
    and #0x7, r8
    mov #0x0040, &0x162
    bis #0x1000, r9
    mov r9, &0x164
    bis #0x20, r8
    mov r8, &0x166
    mov #0x0244, &0x168
    bic #0x40, r2
"""
HFXT = """
    mov #0xA500, &0x160
    bis #0x00F0, &0x032A
    mov #0, &0x130
    mov #0x04C1, &0x168
9:  bic #3, &0x16A
    bic #2, &0x102
    bit #2, &0x16A
    jnz 9b
    mov #0x0155, &0x164
    mov #0, &0x166
"""

AVR = f"""
    .global main, done
    .text
    jmp main
    .org 0x30
    jmp handler
main:
    ldi r16, 0x10
    out 0x3E, r16
    ldi r16, 0xFF
    out 0x3D, r16
    mov r10, r16
    clr r11
    clr r24
    clr r25
    ldi r16, 0
    out 0x2B, r16
    ldi r16, 198
    out 0x2A, r16
    ldi r16, 0x10
    out 0x37, r16
    ldi r16, 0x20
    out 0x35, r16
    ldi r16, 0x09
    out 0x2E, r16
    sei
1:  sleep
    rjmp 1b
handler:
    in r18, 0x2C
    adiw r24, 1
    cpi r24, 4
    cpc r25, r1
    brlo 3f
    cp r18, r10
    brsh 2f
    mov r10, r18
2:  cp r11, r18
    brsh 3f
    mov r11, r18
3:  ldi r19, hi8({WAKES + 3})
    cpi r24, lo8({WAKES + 3})
    cpc r25, r19
    brlo 4f
done:
    rjmp done
4:  reti
"""
AVR_SCRIPT = "SECTIONS { . = 0; .text : { *(.text*) } /DISCARD/ : { *(.comment) *(.note*) } }"

ARM = """
    .syntax unified
    .thumb
    .global main, done
    .section .vectors,"a",%progbits
    .word {stack}
    .word main
    .rept {vector}
    .word handler
    .endr
    .text
    .thumb_func
main:
    ldr r5, =0xFFFFFFFF
    movs r6, #0
    movs r7, #0
{clock}
    ldr r0, =0xE000E010
    movs r1, #{top}
    str r1, [r0, #4]
    str r6, [r0, #8]
    movs r1, #7
    str r1, [r0]
1:  wfi
    b 1b
    .thumb_func
handler:
    ldr r0, =0xE000E010
    ldr r1, [r0, #8]
    adds r7, #1
    cmp r7, #4
    blo 2f
    cmp r1, r5
    it lo
    movlo r5, r1
    cmp r1, r6
    it hi
    movhi r6, r1
2:  ldr r0, ={wakes}
    cmp r7, r0
    blo 3f
done:
    b done
3:  bx lr
    .pool
"""
ARM_SCRIPT = """
SECTIONS {{
    . = {flash};
    .vectors : {{ KEEP(*(.vectors)) }}
    .text : {{ *(.text*) }}
    /DISCARD/ : {{ *(.comment) *(.note*) *(.ARM*) }}
}}
"""
DCO = """
    ldr r0, =0x4000480C
    ldr r1, =0x5A80
    strh r1, [r0]
    ldr r0, =0x40010400
    ldr r1, =0x695A
    str r1, [r0]
    ldr r2, =0x20000000
    ldr r1, [r2]
    str r1, [r0, #4]
"""
HSE = """
    ldr r0, =0x40021000
    ldr r1, =0x00010063
    str r1, [r0]
8:  ldr r1, [r0]
    tst r1, #0x20000
    beq 8b
    movs r1, #2
    str r1, [r0, #8]
"""
THUMB = ("--target=thumbv7em-none-eabi", "-mcpu=cortex-m4")


def _arm(clock: str, stack: int) -> str:
    return ARM.format(clock=clock, stack=stack, vector=14, top=198, wakes=WAKES + 3)


CHIPS = (
    _msp430("msp430f1611", "telosb", BASIC_CLOCK, vector=0xFFEC, watchdog=0x120, timer=0x160, settings=DCO_1XX),
    _msp430("msp430f5438a", "msp430f5438a-anagear", UCS, vector=0xFFEC, settings=FLL),
    _msp430("msp430fr5994", "msp430fr5994-launchpad", HFXT, vector=0xFFEA),
    _msp430("msp430fr5969", "msp430fr5969-launchpad", HFXT, vector=0xFFEA),
    _msp430("msp430fr6989", "msp430fr6989-launchpad", HFXT, vector=0xFFE8),
    Chip(
        "atmega128l",
        "micaz",
        AVR,
        AVR_SCRIPT,
        ("--target=avr", "-mmcu=atmega128"),
        0x800100,
        crystal="xtal",
        hz=(1_000_000, 8_000_000),
    ),
    Chip(
        "msp432p401r",
        "msp432p401r-launchpad",
        _arm(DCO, 0x20008000),
        ARM_SCRIPT.format(flash=0),
        THUMB,
        0x20000000,
        # DCORSEL of 1 to 4 MHz, DCOTUNE from -500 to 499 in two's complement of ten bits.
        settings=tuple(0x10000 | n & 0x3FF for n in range(-500, 500)),
    ),
    Chip(
        "stm32l476rg",
        "nucleo-l476rg",
        _arm(HSE, 0x20008000),
        ARM_SCRIPT.format(flash=0x08000000),
        THUMB,
        0x20000000,
        crystal="hse",
        hz=(4_000_000, 16_000_000),
    ),
)
REGISTERS = {"msp430": ("R5", "R6"), "avr": ("r10", "r11"), "thumbv7em-none-eabi": ("R5", "R6")}


def _built(chip: Chip, folder: Path) -> Path:
    clang, lld = shutil.which("clang"), shutil.which("ld.lld")
    require(clang is not None and lld is not None, "clang and ld.lld")
    source, script, elf = folder / "chip.S", folder / "chip.ld", folder / "chip.elf"
    source.write_text(chip.source)
    script.write_text(chip.script)
    subprocess.run([str(clang), *chip.target, "-c", "-o", f"{elf}.o", str(source)], check=True)
    subprocess.run([str(lld), "-T", str(script), "-e", "main", "-o", str(elf), f"{elf}.o"], check=True)
    return elf


def _machine(chip: Chip, elf: Path, folder: Path, n: int) -> Machine:
    """Make the chip at setting `n` of `MOST`, or on a board with a crystal of that frequency."""
    if chip.settings:
        m = Machine(chip.board, elf)
        word = chip.settings[n * len(chip.settings) // MOST]
        m.write(chip.ram, word.to_bytes(4, "little"))
        return m
    low, high = chip.hz
    # No step of a whole number of hertz that divides a second into whole picoseconds.
    hz = low + n * (high - low) // MOST + 7 * n % 1000
    board = f"at-{chip.name}-{hz}"
    (folder / f"{board}.toml").write_text(
        f'name = "{board}"\nextends = "{chip.board}"\n[crystal]\n{chip.crystal}_Hz = {hz}\n'
    )
    return Machine(board, elf)


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.name)
def test_a_timer_of_the_cpus_source_has_one_value_on_entry_to_its_handler(chip: Chip, tmp_path: Path) -> None:
    elf = _built(chip, tmp_path)
    seen, periods = set(), set()
    with places.beside(tmp_path):
        for n in range(MOST):
            m = _machine(chip, elf, tmp_path, n)
            assert m.run(until="done", cycles=1_000_000).kind == "pc"
            low, high = (m.registers[name] for name in REGISTERS[chip.target[0].removeprefix("--target=")])
            assert low == high, f"{low} and {high} at setting {n} of {MOST}"
            seen.add(low)
            periods.add(m.time_s / m.cycles)
    assert len(seen) == 1 or chip.timed, seen
    assert len(periods) == MOST, "each is another frequency"


COUNTERS = {"msp430f1611": (0x170, 16, 1), "atmega128l": (0x4C, 8, 1), "msp432p401r": (0xE000E018, 32, -1)}
"""Address and bits of the timer's count, and the way that it goes."""
COUNTERS |= {"stm32l476rg": COUNTERS["msp432p401r"]}


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.name)
def test_a_count_that_is_looked_at_asleep_is_that_of_now(chip: Chip, tmp_path: Path) -> None:
    address, bits, way = COUNTERS.get(chip.name, (0x350, 16, 1))
    elf = _built(chip, tmp_path)
    with places.beside(tmp_path):
        m = _machine(chip, elf, tmp_path, MOST // 2)
        entered_s = []
        for _ in range(3):
            m.run(cycles=5)
            assert m.run(until="handler", cycles=1_000_000).kind == "pc"
            entered_s.append(m.time_s)
        tick_s = (entered_s[2] - entered_s[1]) / 199
        # The handler is over by then, and the next compare is not yet there.
        m.run(time_s=110 * tick_s)
        assert m.states()["cpu"] != "active"
        counts = []
        for _ in range(3):
            counts.append(m.io.at(address, bits))
            m.run(time_s=20 * tick_s)
    assert [way * (b - a) for a, b in itertools.pairwise(counts)] == [20, 20]
