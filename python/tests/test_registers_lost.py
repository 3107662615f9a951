# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a loss of power takes from registers, chip by chip: a program sets them, and looks at them when it starts again.

Reset values: SLAU208, SLAU367 and SLAU049, the registers' tables of each chapter.
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
    """Sets the registers."""
    registers: dict[str, tuple[int, int, int]]
    """Address, what it holds when it is set, and what behind a loss of power, by name."""
    product: int
    """Address of the multiplier's low word of results."""
    cause: int | None
    """Address of SYSRSTIV."""


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
