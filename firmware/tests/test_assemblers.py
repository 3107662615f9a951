# SPDX-License-Identifier: MIT OR Apache-2.0
"""The library's assembly for the Cortex-M4 by GNU as, beside LLVM's, which the firmware is built with."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FIRMWARE = Path(__file__).resolve().parents[1]
GCC = shutil.which("arm-none-eabi-gcc")
SOURCES = sorted((FIRMWARE / "crypto" / "src").rglob("*_armv7em.S"))
INCLUDES = [f"-I{FIRMWARE / at}" for at in ("crypto/include", "crypto/src", "build/tables", "runtime/include")]


@pytest.mark.skipif(
    GCC is None and not os.environ.get("SUNSEAL_REQUIRE_TOOLS"), reason="there is no arm-none-eabi-gcc on PATH"
)
def test_gnu_as_takes_every_source(tmp_path: Path) -> None:
    assert GCC
    assert len(SOURCES) > 20
    flags = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16", "-Werror", "-Wa,--fatal-warnings"]
    refused = []
    for source in SOURCES:
        made = [GCC, *flags, *INCLUDES, "-c", str(source), "-o", str(tmp_path / "made.o")]
        done = subprocess.run(made, capture_output=True, text=True, check=False)
        if done.returncode:
            refused.append(f"{source.name}: {done.stderr}")
    assert refused == []
