# SPDX-License-Identifier: MIT OR Apache-2.0
"""Blocks behind a deep sleep, chip by chip: each row of data/survival is set, slept through and looked at."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import require
from sunseal import Machine
from sunseal.kit import registers

DATA = Path(__file__).parents[2] / "data" / "survival"
TABLES = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(DATA.glob("*.toml"))}

MSP430 = """
    .global main, asleep, woken
    .text
main:
    mov #0x5A80, &{watchdog}
    mov #{stack}, r1
{again}
{before}
{set_up}
{sleep}
asleep:
    bis #{bits}, r2
    nop
woken:
    jmp woken
handler:
    bic #0xF0, 0(r1)
    clr.b &{enable}
    reti
    .section .port,"a",@progbits
    .word handler
    .section .vectors,"a",@progbits
    .word main
"""
MSP430_SCRIPT = """
SECTIONS {{
    . = {code};
    .text : {{ *(.text*) }}
    . = {port};
    .port : {{ KEEP(*(.port)) }}
    . = 0xFFFE;
    .vectors : {{ KEEP(*(.vectors)) }}
    /DISCARD/ : {{ *(.comment) *(.note*) }}
}}
"""
# P1.5 wakes by a rising edge. LFXT, and the calendar counts.
FR = """
    mov #0, &0x0130
    clr.b &0x0218
    clr.b &0x021C
    mov.b #0x20, &0x021A
    mov #0xA500, &0x0160
    bis #0x0030, &0x032A
    bic #1, &0x0168
9:  bic #1, &0x016A
    bit #1, &0x016A
    jnz 9b
"""
ARM = """
    .syntax unified
    .thumb
    .global main, asleep, woken
    .section .vectors,"a",%progbits
    .word 0x20008000
    .word main
    .rept 96
    .word handler
    .endr
    .text
    .thumb_func
main:
{before}
{set_up}
{sleep}
    ldr r0, =0xE000ED10
    movs r1, #4
    str r1, [r0]
asleep:
    wfi
woken:
    b woken
    .thumb_func
handler:
{quiet}
    bx lr
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
AVR = """
    .global main, asleep, woken
    .text
    jmp main
    .org 0x0C
    jmp handler
main:
    ldi r16, 0x10
    out 0x3E, r16
    ldi r16, 0xFF
    out 0x3D, r16
{set_up}
    ldi r17, 0x04
    out 0x39, r17
    ldi r17, 0x30
    out 0x35, r17
    sei
asleep:
    sleep
woken:
    rjmp woken
handler:
    clr r17
    out 0x39, r17
    reti
"""


@dataclass(frozen=True)
class Chip:
    """A chip on a board, its program by the mode and the writes of its table, and the pin that wakes it."""

    board: str
    pin: str
    awake: bool
    """The level of that pin that wakes."""
    program: Callable[[str, str], tuple[str, str]]
    target: tuple[str, ...]
    write: Callable[[int, int, int], str]


def _mov(address: int, bits: int, value: int) -> str:
    return f"    mov{'.b' if bits == 8 else ''} #{value:#x}, &{address:#x}"


def _str(address: int, bits: int, value: int) -> str:
    size = {8: "b", 16: "h", 32: ""}[bits]
    return f"    ldr r0, ={address:#x}\n    ldr r1, ={value:#x}\n    str{size} r1, [r0]"


def _sts(address: int, bits: int, value: int) -> str:
    return f"    ldi r17, {value:#x}\n    sts {address & 0xFFFF:#x}, r17"


def _puts(*written: tuple[int, int], bits: int = 32) -> str:
    return "\n".join(_str(address, bits, value) for address, value in written)


def _fr(port: int, rtc_c: bool = True) -> Callable[[str, str], tuple[str, str]]:
    def program(mode: str, set_up: str) -> tuple[str, str]:
        # RTCHOLD decides between LPM3.5 and LPM4.5. RTC_B has RTCCTL1 as a byte, RTC_C behind a key.
        run = "    bic.b #0x40, &0x04A2" if rtc_c else "    bic.b #0x40, &0x04A1"
        sleep = (run if mode == "lpm35" else "") + "\n    mov #0xA550, &0x0120"
        source = MSP430.format(
            watchdog=0x15C,
            stack=0x1E00,
            again="    cmp #8, &0x019E\n    jeq woken",
            before=FR + "    mov #0xA500, &0x04A0\n" * rtc_c,
            set_up=set_up,
            sleep=sleep,
            bits=0xF8,
            enable=0x21A,
        )
        return source, MSP430_SCRIPT.format(code=0x4400, port=port)

    return program


def _flash(code: int, watchdog: int, edge: int, port: int, stack: int) -> Callable[[str, str], tuple[str, str]]:
    def program(mode: str, set_up: str) -> tuple[str, str]:
        flag, enable = (0x23, 0x25) if edge == 0x24 else (0x21C, 0x21A)
        before = f"    clr.b &{edge}\n    clr.b &{flag}\n    mov.b #0x20, &{enable}\n"
        source = MSP430.format(
            watchdog=watchdog,
            stack=stack,
            again="",
            before=before,
            set_up=set_up,
            sleep="",
            bits=0xF8,
            enable=enable,
        )
        return source, MSP430_SCRIPT.format(code=code, port=port)

    return program


PCMCTL0, PCMCTL1, RTCCTL0, RTCCTL13 = 0x40010000, 0x40010004, 0x40004400, 0x40004402
LPMR = {"lpm4": 0x00, "lpm35": 0xA0, "lpm45": 0xC0}


def _msp432(mode: str, set_up: str) -> tuple[str, str]:
    held = f"    ldr r0, ={PCMCTL1}\n    ldr r1, [r0]\n    tst r1, #1\n    bne woken\n"
    # The watchdog stops, P1.5 wakes by a rising edge, LFXT has its pins, all banks of SRAM are retained.
    before = held + "\n".join(
        [
            _str(0x4000480C, 16, 0x5A80),
            _str(0x40004C18, 8, 0),
            _str(0x40004C1A, 8, 0x20),
            _str(0x40004C1C, 8, 0),
            _str(0x40004D2A, 8, 3),
            _str(0xE0043014, 32, 0xFF),
            _str(0xE000E104, 32, 8),
            _str(RTCCTL0, 16, 0xA500),
        ]
    )
    run = _str(RTCCTL13, 16, 0x20) if mode == "lpm35" else ""
    sleep = run + "\n" + _str(PCMCTL0, 32, 0x695A0000 | LPMR[mode])
    source = ARM.format(before=before, set_up=set_up, sleep=sleep, quiet=_str(0x40004C1C, 8, 0))
    return source, ARM_SCRIPT.format(flash=0)


RCC, PWR, RTC = 0x40021000, 0x40007000, 0x40002800
LPMS = {"stop2": 2, "standby": 3, "shutdown": 4}


def _stm32(mode: str, set_up: str) -> tuple[str, str]:
    clocks = _puts(
        (RCC + 0x48, 0x101), (RCC + 0x4C, 0x2007), (RCC + 0x58, 0x90220001), (RCC + 0x5C, 1), (RCC + 0x60, 1)
    )
    # RTC_BKP1R tells the second start from the first, which the flags of PWR cannot behind Shutdown.
    again = f"    ldr r0, ={RTC + 0x54}\n    ldr r1, [r0]\n    cmp r1, #0\n    bne woken\n"
    wait = f"8:  ldr r0, ={RCC + 0x90}\n    ldr r1, [r0]\n    tst r1, #2\n    beq 8b\n"
    before = "\n".join([clocks, _puts((PWR, 0x300)), again, _puts((RCC + 0x90, 1)), wait])
    # WKUP1 is PA0, which is EXTI's line 0 as well.
    before += "\n" + _puts(
        (RCC + 0x90, 0x8101),
        (RTC + 0x24, 0xCA),
        (RTC + 0x24, 0x53),
        (RTC + 0x54, 1),
        (0x40010400, 1),
        (0x40010408, 1),
        (0xE000E100, 0x40),
    )
    sleep = _puts((PWR + 8, 0x8101), (PWR, 0x300 | LPMS[mode]))
    source = ARM.format(before=before, set_up=set_up, sleep=sleep, quiet=_puts((0x40010414, 1)))
    return source, ARM_SCRIPT.format(flash=0x08000000)


def _avr(mode: str, set_up: str) -> tuple[str, str]:
    script = "SECTIONS { . = 0; .text : { *(.text*) } /DISCARD/ : { *(.comment) *(.note*) } }"
    return AVR.format(set_up=set_up), script


THUMB = ("--target=thumbv7em-none-eabi", "-mcpu=cortex-m4")
M430 = ("--target=msp430",)
CHIPS = {
    "msp430fr5994": Chip("msp430fr5994-launchpad", "P1.5", True, _fr(0xFFDE), M430, _mov),
    "msp430fr5969": Chip("msp430fr5969-launchpad", "P1.5", True, _fr(0xFFDE, rtc_c=False), M430, _mov),
    "msp430fr6989": Chip("msp430fr6989-launchpad", "P1.5", True, _fr(0xFFDA), M430, _mov),
    "msp430f1611": Chip("telosb", "P1.5", True, _flash(0x4400, 0x120, 0x24, 0xFFE8, 0x1200), M430, _mov),
    "msp430f5438a": Chip(
        "msp430f5438a-anagear", "P1.5", True, _flash(0x5C00, 0x15C, 0x218, 0xFFDE, 0x1D00), M430, _mov
    ),
    "msp432p401r": Chip("msp432p401r-launchpad", "P1.5", True, _msp432, THUMB, _str),
    "stm32l476rg": Chip("nucleo-l476rg", "PA0", True, _stm32, THUMB, _str),
    "atmega128l": Chip("micaz", "PD2", False, _avr, ("--target=avr", "-mmcu=atmega128"), _sts),
}
CASES = [
    (device, mode["name"], told) for told in TABLES.values() for device in told["devices"] for mode in told["mode"]
]


def _rows(device: str, told: dict[str, Any]) -> list[tuple[dict[str, Any], int, int]]:
    """Return the rows of a chip, each with its address and width."""
    where = {r.name: r for block in registers.blocks(device) for r in block.registers}
    word = {"atmega128l": 8, "msp432p401r": 32, "stm32l476rg": 32}.get(device, 16)
    found = []
    for row in told["row"]:
        if device in row.get("only", [device]):
            register = where[row["register"]] if "register" in row else None
            found.append((row, register.address, register.bits) if register else (row, row["address"], word))
    return found


def _built(chip: Chip, mode: str, writes: str, folder: Path, then: str = "") -> Path:
    clang, lld = shutil.which("clang"), shutil.which("ld.lld")
    require(clang is not None and lld is not None, "clang and ld.lld")
    source, script, elf = folder / "chip.S", folder / "chip.ld", folder / "chip.elf"
    text, layout = chip.program(mode, writes)
    source.write_text(text.replace("\nwoken:\n", f"\nwoken:\n{then}\ndone:\n"))
    script.write_text(layout)
    subprocess.run([str(clang), *chip.target, "-c", "-o", f"{elf}.o", str(source)], check=True)
    subprocess.run([str(lld), "-T", str(script), "-e", "main", "-o", str(elf), f"{elf}.o"], check=True)
    return elf


def _held(m: Machine, row: dict[str, Any], address: int, bits: int) -> int:
    found = m.io[row["register"]] if "register" in row else int.from_bytes(m.read(address, bits // 8), "little")
    return int(found) & int(row.get("mask", 0xFFFFFFFF))


@pytest.mark.parametrize(("device", "mode", "told"), CASES, ids=[f"{device}-{mode}" for device, mode, _ in CASES])
def test_a_deep_sleep_leaves_of_each_block_what_its_table_says(
    device: str, mode: str, told: dict[str, Any], tmp_path: Path
) -> None:
    chip = CHIPS[device]
    rows = _rows(device, told)
    writes = "\n".join(chip.write(address, bits, row["set"]) for row, address, bits in rows)
    m = Machine(chip.board, _built(chip, mode, writes, tmp_path))
    m.set_pin(chip.pin, not chip.awake)
    assert m.run(until="asleep", cycles=20_000_000).kind == "pc"
    before = [_held(m, *row) for row in rows]
    assert before == [row["set"] & row.get("mask", 0xFFFFFFFF) for row, _, _ in rows], "it was set"
    m.run(time_s=2.0)
    assert m.states()["cpu"] == mode
    m.set_pin(chip.pin, chip.awake)
    assert m.run(until="woken", cycles=20_000_000).kind == "pc"
    wrong = []
    for (row, address, bits), was in zip(rows, before, strict=True):
        left, wanted = _held(m, row, address, bits), row["behind"][mode]
        fits = left != was if wanted == "lost" else left == (was if wanted == "kept" else wanted)
        if not fits:
            wrong.append(f"{row['block']}: {left:#x}, not {wanted}")
    assert not wrong


def test_every_chip_has_its_table() -> None:
    chips = {path.stem for path in (DATA.parent / "devices").glob("*.toml")}
    assert {device for told in TABLES.values() for device in told["devices"]} == chips == {*CHIPS}


HELD = [(d, mode) for d, mode, _ in CASES if mode in ("lpm35", "lpm45")]


@pytest.mark.parametrize(("device", "mode"), HELD, ids=[f"{device}-{mode}" for device, mode in HELD])
@pytest.mark.parametrize("timer", [False, True], ids=["port", "timer"])
def test_a_pin_holds_its_level_until_the_program_lets_go_of_it(
    device: str, mode: str, timer: bool, tmp_path: Path
) -> None:
    chip = CHIPS[device]
    where = {r.name: (r.address, r.bits) for block in registers.blocks(device) for r in block.registers}
    # P1.0 is TA0.1's on the FR5xx, an output unit that OUT sets; on the others the port's own.
    given = {"P1SEL0": 1, "TA0CCTL1": 4} if timer and device in ("msp430fr5994", "msp430fr5969") else {"P1OUT": 1}
    written = {"P1DIR": 1} | given
    writes = "\n".join(chip.write(*where[name], value) for name, value in written.items())
    unlock = _str(PCMCTL1, 32, 0x695A0000) if device == "msp432p401r" else _mov(0x130, 16, 0)
    m = Machine(chip.board, _built(chip, mode, writes, tmp_path, unlock))
    m.set_pin(chip.pin, not chip.awake)
    assert m.run(until="asleep", cycles=20_000_000).kind == "pc"
    assert m.pin("P1.0")
    m.run(time_s=0.5)
    assert m.states()["cpu"] == mode
    assert m.pin("P1.0"), "asleep"
    m.set_pin(chip.pin, chip.awake)
    assert m.run(until="woken", cycles=20_000_000).kind == "pc"
    assert m.pin("P1.0"), "awake, and locked"
    assert m.io["P1DIR"] == 0
    assert m.run(until="done", cycles=1000).kind == "pc"
    assert not m.pin("P1.0"), "an input behind a reset, and nothing holds it"


SECONDS = {"stm32l476rg": "RTC_TR", "msp430fr5969": "RTCSEC", "msp432p401r": "RTCTIM0"}
CLOCKS = [(d, mode, told) for d, mode, told in CASES if mode in ("lpm35", "standby", "shutdown")]


def _next_second(m: Machine, register: str, at_most_s: float) -> float:
    """Return the time at which a calendar's second changes, within 50 ms."""
    was, until = m.io[register], m.time_s + at_most_s
    while m.io[register] == was:
        assert m.time_s < until, "it stands still"
        m.run(time_s=0.05)
    return float(m.time_s)


@pytest.mark.parametrize(("device", "mode", "told"), CLOCKS, ids=[f"{device}-{mode}" for device, mode, _ in CLOCKS])
def test_a_calendar_that_is_kept_loses_nothing_at_the_wake_up(
    device: str, mode: str, told: dict[str, Any], tmp_path: Path
) -> None:
    chip, register = CHIPS[device], SECONDS.get(device, "RTCTIM0")
    m = Machine(chip.board, _built(chip, mode, "", tmp_path))
    m.set_pin(chip.pin, not chip.awake)
    assert m.run(until="asleep", cycles=20_000_000).kind == "pc"
    here, start_s = m.snapshot(), m.time_s
    m.registers["PC"] = m.address("woken")
    m.run(time_s=4.0)
    awake_s, awake = _next_second(m, register, 1.1), m.io[register]
    m.restore(here)
    before = m.io[register]
    m.run(time_s=2.3)
    assert m.states()["cpu"] == mode
    assert m.io[register] != before, "what is looked at asleep is of now"
    m.set_pin(chip.pin, chip.awake)
    assert m.run(until="woken", cycles=20_000_000).kind == "pc"
    m.run(time_s=start_s + 4.0 - m.time_s)
    assert _next_second(m, register, 1.1) == pytest.approx(awake_s, abs=0.051)
    assert m.io[register] == awake
