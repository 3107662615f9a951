# SPDX-License-Identifier: MIT OR Apache-2.0
"""Distance between a write of an MSP430F1611's timer and a read of it, under a switch."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from sunseal import Machine
from test_workloads import tool

TEXT = """
    .global main, asleep, done
    .text
main:
    mov #0x5A80, &0x0120
    mov #0x1400, r1
{task}
unused:
    jmp unused
    .section .vectors,"a",@progbits
    .rept 15
    .word unused
    .endr
    .word main
"""
SCRIPT = """
SECTIONS {
    . = 0x4000;
    .text : { *(.text*) }
    . = 0xFFE0;
    .vectors : { KEEP(*(.vectors)) }
    /DISCARD/ : { *(.comment) *(.note*) }
}
"""
DONE = """
done:
    jmp done
"""

once = cache(tool)


def machine(folder: Path, task: str, timing: dict[str, bool | int] | None = None) -> Machine:
    """Put a task on an F1611."""
    (folder / "own.s").write_text(TEXT.format(task=task))
    (folder / "own.ld").write_text(SCRIPT)
    subprocess.run([once("clang"), "--target=msp430", "-c", "own.s", "-o", "own.o"], cwd=folder, check=True)
    subprocess.run([once("ld.lld"), "-T", "own.ld", "-e", "main", "own.o", "-o", "own.elf"], cwd=folder, check=True)
    return Machine("telosb", folder / "own.elf", timing=timing)


def finished(m: Machine) -> Machine:
    """Run it to its end."""
    assert m.run(until="done", cycles=1_000_000).kind == "pc"
    return m


@pytest.mark.parametrize(("later", "count"), [(False, 8), (True, 6)])
def test_a_switch_has_a_timer_count_two_cycles_later(later: bool, count: int, tmp_path: Path) -> None:
    """A count that is written is read five NOPs on: MOV &TAR has its access in the third cycle (docs/accuracy.md)."""
    nops = "    nop\n" * 5
    task = f"    mov #0x0220, &0x0160\n    mov #0, &0x0170\n{nops}    mov &0x0170, r5\n{DONE}"
    timing: dict[str, bool | int] = {"timer_write_counts_2_later": later}
    assert finished(machine(tmp_path, task, timing)).registers["R5"] == count
