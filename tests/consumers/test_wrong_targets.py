# SPDX-License-Identifier: MIT OR Apache-2.0
"""Targets that the library's package does not take, and defines that are missing: one sentence that names the cure."""

from __future__ import annotations

import re
import subprocess
import tarfile
from pathlib import Path

import pytest
import sizes

CLANG = "clang --target=msp430 -isystem libc"
WRONG = {
    "no define for the CPU": (f"{CLANG} -DSUNSEAL_MPY=32", "define SUNSEAL_MSP430X as 1"),
    "no define for the multiplier": (f"{CLANG} -DSUNSEAL_MSP430X=1", "define SUNSEAL_MPY as 32"),
    "a multiplier that there is not": (f"{CLANG} -DSUNSEAL_MSP430X=1 -DSUNSEAL_MPY=8", "define SUNSEAL_MPY as 32"),
    "no place for the multiplier": (f"{CLANG} -DSUNSEAL_MSP430X=1 -DSUNSEAL_MPY=16", "define SUNSEAL_MPY_AT as 0x04C0"),
    "a place where none is": (
        f"{CLANG} -DSUNSEAL_MSP430X=1 -DSUNSEAL_MPY=16 -DSUNSEAL_MPY_AT=0x0500",
        "define SUNSEAL_MPY_AT as 0x04C0",
    ),
    "an MPY32 elsewhere": (
        f"{CLANG} -DSUNSEAL_MSP430X=1 -DSUNSEAL_MPY=32 -DSUNSEAL_MPY_AT=0x0130",
        "define SUNSEAL_MPY as 16",
    ),
    "430X code for a classic chip": (f"{CLANG} -mmcu=msp430f1611 -DSUNSEAL_MSP430X=1", "leave SUNSEAL_MSP430X out"),
    "20-bit pointers": (f"{CLANG} -mmcu=msp430f5438a -D__MSP430X_LARGE__=1", "compile with -msmall"),
    "an AVR without MUL": ("avr-gcc -mmcu=attiny85", "compile for avr4, avr5, avr51 or avr6"),
    "an AVR of another family": ("avr-gcc -mmcu=atxmega128a1", "compile for avr4, avr5, avr51 or avr6"),
    "a Cortex-M0": ("arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb", "define SUNSEAL_PORTABLE as 1"),
    "a Cortex-M4 whose CPU is not named": ("arm-none-eabi-gcc -mthumb", "compile with -mcpu=cortex-m4"),
    "a big-endian core": ("clang --target=mips-elf -isystem libc", "the sources are for little-endian cores"),
    "C that was switched off": ("arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -DSUNSEAL_PORTABLE=0", "SUNSEAL_PORTABLE"),
}
"""Compilers with their options, and what their one message says to do."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the package beside the header that clang lacks."""
    out = tmp_path_factory.mktemp("wrong")
    with tarfile.open(sizes.make(out)) as tar:
        tar.extractall(out, filter="data")
    (out / "libc").symlink_to(sizes.HERE / "boards" / "libc")
    return out


@pytest.mark.parametrize("what", WRONG)
def test_one_sentence_names_the_cure(what: str, folder: Path) -> None:
    """One source says what is wrong; others, which a user compiles beside it, say nothing."""
    compiler, cure = WRONG[what]
    files = sorted(str(path.relative_to(folder)) for path in folder.glob("sunseal-crypto-*/src/sunseal-crypto/*/*.c"))
    target = next(folder.glob("sunseal-crypto-*/src/sunseal-crypto/target.c")).relative_to(folder)
    command = f"{compiler} -fsyntax-only {target} {' '.join(files[:: 1 if what == 'a Cortex-M0' else 15])}"
    done = subprocess.run(
        command, shell=True, cwd=folder, env={"PATH": sizes.tools_path()}, capture_output=True, text=True, check=False
    )
    told = re.findall(r"error: (.*)", done.stderr)
    assert done.returncode != 0
    assert len(told) == 1, done.stderr
    assert "sunseal-crypto: " in told[0] and cure in told[0]
    assert "warning:" not in done.stderr


def test_every_sentence_of_the_package_is_asked_for(folder: Path) -> None:
    text = next(folder.glob("sunseal-crypto-*/src/sunseal-crypto/target.c")).read_text(encoding="utf-8")
    sentences = re.findall(r'#error "sunseal-crypto: (.*)"', text)
    asked = {s for s in sentences if any(cure in s for _, cure in WRONG.values())}
    # No other compiler than GCC and clang is at hand.
    assert {s for s in sentences if s not in asked} == {"the sources are for GCC and clang: use one of them"}
