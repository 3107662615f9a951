# SPDX-License-Identifier: MIT OR Apache-2.0
"""Warnings of compilers and analysers about the library's package: none, at those that its users turn on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import sizes

WARNINGS = "-Wall -Wextra -pedantic -Wconversion -Wsign-conversion"
COMPILERS = {
    "GCC, host": "cc -O2",
    "clang, host": "clang -O2",
    "GCC, Cortex-M4": "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -O2",
    "clang, Cortex-M4": "clang --target=thumbv7em-none-eabi -mcpu=cortex-m4 -mfloat-abi=soft -O2 -isystem libc",
    "GCC, ATmega128": "avr-gcc -mmcu=atmega128 -Os",
    "clang, MSP430F5438A": "clang --target=msp430-elf -mmcu=msp430f5438a -Os -isystem libc",
}
CPPCHECK = (
    "cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr"
    " --template='{file}:{line}: {id}: {message}' --suppress=missingIncludeSystem --suppress=toomanyconfigs"
)
KNOWN = {
    "cipher/cmac.c core.UndefinedBinaryOperatorResult": (
        "sunseal_cmac_init sets the cipher; what it refuses, sunseal_block_set_key has refused before it"
    ),
    "random/jitter_msp430.c core.uninitialized.Assign": (
        "`alone` is not set where an edge failed; the loop ends by the status then, and nothing reads it"
    ),
    "cipher/present_expand_c.c uninitvar": "k[0] to k[words - 1] are written in the loop before, from the last down",
    "ecc/ed25519.c uninitvar": "an output of field addition, which is assembly or another file",
    "ecdsa/nonce.inc bufferAccessOutOfBounds": (
        "hmac_zero_key has the states of inner and outer, which one declaration lays behind each other: both on purpose"
    ),
    "ecdsa/steps.inc bufferAccessOutOfBounds": "the same two",
    "mp/mp_invert_c.c uninitvar": "pointers into a structure that memset clears as a whole",
}
"""Findings that were looked at, by file and kind, and why each is none or does no harm."""


def unknown(text: str, pattern: str) -> tuple[set[str], set[str]]:
    """Return the findings of a kind in a text, and those of them that nobody has looked at."""
    found = {f"{file} {kind}" for file, kind in re.findall(pattern, text, re.M)}
    return found, found - KNOWN.keys()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the package beside the header that clang lacks on a bare target."""
    out = tmp_path_factory.mktemp("warned")
    with tarfile.open(sizes.make(out)) as tar:
        tar.extractall(out, filter="data")
    (out / "libc").symlink_to(sizes.HERE / "boards" / "libc")
    return out


def said(command: str, folder: Path) -> str:
    """Run a compiler over all C sources and return what it says."""
    files = "$(find sunseal-crypto-* -path '*/src/*.c')"
    env = {**os.environ, "PATH": sizes.tools_path()}
    done = subprocess.run(
        f"{command} {files}", shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", COMPILERS)
def test_no_compiler_warns(name: str, folder: Path) -> None:
    assert said(f"{COMPILERS[name]} {WARNINGS} -c", folder) == ""


def test_a_warning_would_be_seen(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "narrow.c"
    source.write_text(
        "#include <stdint.h>\nuint8_t f(int x);\nuint8_t f(int x) {\n    return x;\n}\n", encoding="utf-8"
    )
    for compiler in ("cc", "avr-gcc -mmcu=atmega128", "clang"):
        made = f"{compiler} {WARNINGS} -fsyntax-only {source}"
        env = {**os.environ, "PATH": sizes.tools_path()}
        done = subprocess.run(made, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=True)
        assert "conversion" in done.stderr


@pytest.mark.parametrize("name", ["clang, Cortex-M4", "clang, MSP430F5438A"])
def test_clang_s_analyser_finds_nothing_new(name: str, folder: Path) -> None:
    text = said(f"{COMPILERS[name]} --analyze", folder)
    found, new = unknown(text, r"/sunseal-crypto/(\S+?):\d+:\d+: warning: .* \[(\S+)\]$")
    assert len(found) == text.count("warning: ")
    assert new == set(), text
    assert found, "no finding that is known: does it run?"


def test_cppcheck_finds_nothing_new(folder: Path) -> None:
    if shutil.which("cppcheck", path=sizes.tools_path()) is None and not os.environ.get("SUNSEAL_REQUIRE_TOOLS"):
        pytest.skip("there is no cppcheck: `firmware/toolchain/get --for consumers`")
    text = said(CPPCHECK, folder)
    found, new = unknown(text, r"/sunseal-crypto/(\S+?):\d+: (\w+): ")
    assert new == set(), text
    assert found, "no finding that is known: does it run?"
