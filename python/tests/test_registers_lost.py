# SPDX-License-Identifier: MIT OR Apache-2.0
"""Registers behind a loss of power, chip by chip: a program sets them, and looks at them when it starts again.

Reset values: SLAU208, SLAU367, SLAU049, SLAU356 and 2467X, the registers' tables of each chapter.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import require
from sunseal import Machine

BOR, WATCHDOG_PASSWORD = 0x02, 0x18
"""Causes of resets in SYSRSTIV."""


@dataclass(frozen=True)
class Chip:
    """A chip, and what of it the program sets and looks at."""

    board: str
    code: int
    ram: int
    watchdog: int
    set_up: str
    """Code that sets the registers."""
    registers: dict[str, tuple[int, int, int]]
    """Address, what it holds when it is set, and what behind a loss of power, by name."""
    product: int
    """Address of the multiplier's low word of results."""
    cause: int | None
    """Address of SYSRSTIV, if it has one."""


MULTIPLY = """
    mov #1234, &{op1}
    mov #567, &{op2}
    nop
"""
CRC = """
    mov #0xFFFF, &0x0154
    mov #0x1234, &0x0150
"""


def crc16(*words: int) -> int:
    """CRC-CCITT as SLAU208 has it: each byte's bit 0 first."""
    crc = 0xFFFF
    for byte in (b for w in words for b in w.to_bytes(2, "little")):
        for n in range(8):
            top = crc >> 15 ^ byte >> n & 1
            crc = crc << 1 & 0xFFFF ^ (0x1021 if top else 0)
    return crc


RTC_B = """
    mov #0x6000, &0x04A0
"""
RTC_C = """
    mov #0xA500, &0x04A0
    bis #0x40, &0x04A2
"""
FRAM_PART = """
    mov #0x2A15, &0x04B0
    mov #2031, &0x04B6
    mov.b #0xA5, &0x0121
    mov #0x0100, &0x012A
    mov.b #0xA5, &0x0141
    mov #0x000E, &0x0146
    mov #0x0ABC, &0x0860
"""
FLASH_PART = """
    mov.b #0xA5, &0x0121
    mov #0x0100, &0x012C
    mov #0x0ABC, &0x0720
"""
CLOCK = {"RTCTIM0": (0x4B0, 0x2A15, 0), "RTCYEAR": (0x4B6, 2031, 2000)}
CHECKSUM = {"CRCINIRES": (0x154, crc16(0x1234), 0xFFFF)}
MPY32 = MULTIPLY.format(op1=0x4C0, op2=0x4C8)


def _fram(board: str, rtc: str) -> Chip:
    registers = {"PMMIFG": (0x12A, 0x0100, 0), "GCCTL1": (0x146, 0x000E, 0), "ADC12MEM0": (0x860, 0x0ABC, 0)}
    return Chip(board, 0x4400, 0x1C00, 0x15C, CRC + rtc + FRAM_PART + MPY32, CHECKSUM | CLOCK | registers, 0x4E4, 0x19E)


CHIPS = (
    _fram("msp430fr5994-launchpad", RTC_C),
    _fram("msp430fr5969-launchpad", RTC_B),
    _fram("msp430fr6989-launchpad", RTC_C),
    Chip(
        "msp430f5438a-anagear",
        0x5C00,
        0x1C00,
        0x15C,
        CRC + FLASH_PART + MPY32,
        CHECKSUM | {"PMMIFG": (0x12C, 0x0100, 0), "ADC12MEM0": (0x720, 0x0ABC, 0)},
        0x4E4,
        0x19E,
    ),
    Chip(
        "telosb",
        0x4000,
        0x1100,
        0x120,
        "    mov #0x0ABC, &0x0140\n" + MULTIPLY.format(op1=0x130, op2=0x138),
        {"ADC12MEM0": (0x140, 0x0ABC, 0)},
        0x13A,
        None,
    ),
)

PROGRAM = """
    .global main, waiting, done
    .text
main:
    mov #0x5A80, &{watchdog}
    tst &{phase}
    jne 1f
    inc &{phase}
    mov #0, &{watchdog}
1:  cmp #1, &{phase}
    jne look
{set_up}
waiting:
    jmp waiting
look:
{look}
done:
    jmp done
    .section .vectors,"a",@progbits
    .word main
"""
SCRIPT = """
SECTIONS {{
    . = {code};
    .text : {{ *(.text*) }}
    . = 0xFFFE;
    .vectors : {{ KEEP(*(.vectors)) }}
    /DISCARD/ : {{ *(.comment) *(.note*) }}
}}
"""


def _built(chip: Chip, folder: Path) -> Path:
    clang, lld = shutil.which("clang"), shutil.which("ld.lld")
    require(clang is not None and lld is not None, "clang and ld.lld")
    watched = [at for at, _, _ in chip.registers.values()] + [chip.product] + [chip.cause or chip.product] * 2
    look = "\n".join(f"    mov &{at}, &{chip.ram + 2 + 2 * i}" for i, at in enumerate(watched))
    source, script, elf = folder / "chip.S", folder / "chip.ld", folder / "chip.elf"
    source.write_text(PROGRAM.format(watchdog=chip.watchdog, phase=chip.ram, set_up=chip.set_up, look=look))
    script.write_text(SCRIPT.format(code=chip.code))
    subprocess.run([str(clang), "--target=msp430", "-c", "-o", f"{elf}.o", str(source)], check=True)
    subprocess.run([str(lld), "-T", str(script), "-e", "main", "-o", str(elf), f"{elf}.o"], check=True)
    return elf


def _looked(m: Machine, chip: Chip) -> dict[str, int]:
    """Have the program look at its registers, and return them, the product and two reads of the cause."""
    m.write(chip.ram, (2).to_bytes(2, "little"))
    assert m.run(until="done", cycles=1_000_000).kind == "pc"
    names = (*chip.registers, "product", "cause", "next cause")
    return {name: int.from_bytes(m.read(chip.ram + 2 + 2 * i, 2), "little") for i, name in enumerate(names)}


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.board)
def test_a_loss_of_power_leaves_of_registers_what_the_manual_says(chip: Chip, tmp_path: Path) -> None:
    elf = _built(chip, tmp_path)
    m = Machine(chip.board, elf)
    m.write(chip.ram, bytes(2))
    assert m.run(until="waiting", cycles=1_000_000).kind == "pc", "behind a reset by the watchdog's password"
    here = m.snapshot()
    m.registers["PC"] = m.address("main")
    held = _looked(m, chip)
    assert {name: held[name] for name in chip.registers} == {
        name: value for name, (_, value, _) in chip.registers.items()
    }
    assert held["product"] == 1234 * 567 & 0xFFFF
    if chip.cause is not None:
        assert (held["cause"], held["next cause"]) == (BOR, WATCHDOG_PASSWORD)
    woke = []
    for seed in (1, 2, 3):
        m.restore(here)
        m.power_cut()
        m.power_on(seed)
        left = _looked(m, chip)
        assert {name: left[name] for name in chip.registers} == {
            name: lost for name, (_, _, lost) in chip.registers.items()
        }
        if chip.cause is not None:
            assert (left["cause"], left["next cause"]) == (BOR, 0), "what reset it before is forgotten"
        woke.append(left["product"])
    assert len(set(woke)) == 3, "the multiplier's results wake with noise"
    assert held["product"] not in woke


AVR = """
    .global main, waiting, done
    .text
main:
    lds r16, {phase}
    cpi r16, 0
    brne 1f
    inc r16
    sts {phase}, r16
    ldi r17, 0x18
    sts 0x41, r17
    ldi r17, 0x08
    sts 0x41, r17
0:  rjmp 0b
1:  cpi r16, 1
    brne look
{set_up}
waiting:
    rjmp waiting
look:
{look}
done:
    rjmp done
"""
# 2467X, register summary: address in data space, what it is set to, and its initial value.
AVR_REGISTERS = {
    "ADMUX": (0x27, 0xC3, 0),
    "UBRR0L": (0x29, 0x33, 0),
    "SPCR": (0x2D, 0x03, 0),
    "OCR1AL": (0x4A, 0x5A, 0),
    "OCR0": (0x51, 0xA5, 0),
    "TWBR": (0x70, 0x48, 0),
    "OCR3AL": (0x86, 0x5A, 0),
    "UBRR1L": (0x99, 0x33, 0),
}
EEARL, MCUCSR, PORF, WDRF = 0x3E, 0x54, 0x01, 0x08


def test_a_loss_of_power_leaves_of_an_atmega_what_its_manual_says(tmp_path: Path) -> None:
    clang, lld = shutil.which("clang"), shutil.which("ld.lld")
    require(clang is not None and lld is not None, "clang and ld.lld")
    ram = 0x100
    set_up = "\n".join(f"    ldi r17, {v}\n    sts {at}, r17" for at, v, _ in AVR_REGISTERS.values())
    set_up += f"\n    ldi r17, 0x5A\n    sts {EEARL}, r17"
    watched = [at for at, _, _ in AVR_REGISTERS.values()] + [EEARL, MCUCSR]
    look = "\n".join(f"    lds r17, {at}\n    sts {ram + 2 + i}, r17" for i, at in enumerate(watched))
    source, script, elf = tmp_path / "chip.S", tmp_path / "chip.ld", tmp_path / "chip.elf"
    source.write_text(AVR.format(phase=ram, set_up=set_up, look=look))
    script.write_text("SECTIONS { . = 0; .text : { *(.text*) } /DISCARD/ : { *(.comment) *(.note*) } }")
    subprocess.run([str(clang), "--target=avr", "-mmcu=atmega128", "-c", "-o", f"{elf}.o", str(source)], check=True)
    subprocess.run([str(lld), "-T", str(script), "-e", "main", "-o", str(elf), f"{elf}.o"], check=True)
    data = 0x800000 + ram
    m = Machine("micaz", elf)

    def looked() -> dict[str, int]:
        m.write(data, b"\2")
        assert m.run(until="done", cycles=1_000_000).kind == "pc"
        return dict(zip([*AVR_REGISTERS, "EEARL", "MCUCSR"], m.read(data + 2, len(watched)), strict=True))

    m.write(data, b"\0")
    assert m.run(until="waiting", cycles=1_000_000).kind == "pc", "behind a reset by the watchdog"
    here = m.snapshot()
    m.registers["PC"] = m.address("main")
    held = looked()
    assert held == {name: v for name, (_, v, _) in AVR_REGISTERS.items()} | {"EEARL": 0x5A, "MCUCSR": PORF | WDRF}
    woke = []
    for seed in (1, 2, 3):
        m.restore(here)
        m.power_cut()
        m.power_on(seed)
        left = looked()
        woke.append(left.pop("EEARL"))
        assert left == {name: v for name, (_, _, v) in AVR_REGISTERS.items()} | {"MCUCSR": PORF}
    assert len(set(woke)) == 3, "EEAR is undefined behind a start"


ARM = """
    .syntax unified
    .thumb
    .global main, waiting, done
    .section .vectors,"a",%progbits
    .word 0x20008000
    .word main
    .text
    .thumb_func
main:
    ldr r0, =0x4000480C
    ldr r1, =0x5A80
    strh r1, [r0]
    ldr r4, =0x20000000
    ldr r5, [r4]
    cmp r5, #0
    bne 1f
    movs r5, #1
    str r5, [r4]
    movs r1, #0
    strh r1, [r0]
0:  b 0b
1:  cmp r5, #1
    bne look
{set_up}
waiting:
    b waiting
    .ltorg
look:
{look}
done:
    b done
    .ltorg
"""
# SLAU356's tables of registers, and DDI0403 for NVIC: address, bytes, what it is set to, and its value behind a reset.
ARM_REGISTERS = {
    "TA0CCR1": (0x40000014, 2, 0x1234, 0),
    "UCA0BRW": (0x40001006, 2, 0x0033, 0),
    "P1DIR": (0x40004C04, 1, 0x01, 0),
    "P1IE": (0x40004C1A, 1, 0x01, 0),
    "T32LOAD1": (0x4000C000, 4, 0x12345678, 0),
    "CRC32INIRES_LO": (0x40004008, 2, 0x1234, 0xFFFF),
    "CRC16INIRES": (0x40004018, 2, 0x5678, 0xFFFF),
    "NVIC_ISER0": (0xE000E100, 4, 0x00000100, 0),
}
HARDRESET_STAT = 0xE0042004


def test_a_loss_of_power_leaves_of_an_msp432_what_its_manual_says(tmp_path: Path) -> None:
    clang, lld = shutil.which("clang"), shutil.which("ld.lld")
    require(clang is not None and lld is not None, "clang and ld.lld")
    kind = {1: "b", 2: "h", 4: ""}
    set_up = "\n".join(
        f"    ldr r0, ={at}\n    ldr r1, ={v}\n    str{kind[size]} r1, [r0]"
        for at, size, v, _ in ARM_REGISTERS.values()
    )
    watched = [(at, size) for at, size, _, _ in ARM_REGISTERS.values()] + [(HARDRESET_STAT, 4)]
    look = "\n".join(
        f"    ldr r0, ={at}\n    ldr{kind[size]} r1, [r0]\n    str r1, [r4, #{4 + 4 * i}]"
        for i, (at, size) in enumerate(watched)
    )
    source, script, elf = tmp_path / "chip.S", tmp_path / "chip.ld", tmp_path / "chip.elf"
    source.write_text(ARM.format(set_up=set_up, look=look))
    script.write_text(
        "SECTIONS { . = 0; .vectors : { KEEP(*(.vectors)) } . = 0x140; .text : { *(.text*) } "
        "/DISCARD/ : { *(.comment) *(.note*) *(.ARM*) } }"
    )
    command = [str(clang), "--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-c", "-o", f"{elf}.o", str(source)]
    subprocess.run(command, check=True)
    subprocess.run([str(lld), "-T", str(script), "-e", "main", "-o", str(elf), f"{elf}.o"], check=True)
    ram = 0x20000000
    m = Machine("msp432p401r-launchpad", elf)

    def looked() -> dict[str, int]:
        m.write(ram, (2).to_bytes(4, "little"))
        assert m.run(until="done", cycles=1_000_000).kind == "pc"
        words = m.read(ram + 4, 4 * len(watched))
        values = [int.from_bytes(words[i : i + 4], "little") for i in range(0, len(words), 4)]
        return dict(zip([*ARM_REGISTERS, "HARDRESET_STAT"], values, strict=True))

    m.write(ram, bytes(4))
    assert m.run(until="waiting", cycles=1_000_000).kind == "pc", "behind a reset by the watchdog's password"
    here = m.snapshot()
    m.registers["PC"] = m.address("main")
    held = looked()
    assert held.pop("HARDRESET_STAT") != 0
    assert held == {name: v for name, (_, _, v, _) in ARM_REGISTERS.items()}
    for seed in (1, 2):
        m.restore(here)
        m.power_cut()
        m.power_on(seed)
        left = looked()
        assert left == {name: v for name, (_, _, _, v) in ARM_REGISTERS.items()} | {"HARDRESET_STAT": 0}
