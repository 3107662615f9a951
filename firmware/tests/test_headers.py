# SPDX-License-Identifier: MIT OR Apache-2.0
"""The library's headers in a C++ program: each alone, without a warning, and its functions under C's names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(__file__).resolve().parents[1] / "crypto" / "include"
HEADERS = sorted(path.relative_to(INCLUDE) for path in (INCLUDE / "sunseal").glob("*.h"))
CXX = shutil.which("c++")
needs_cxx = pytest.mark.skipif(
    CXX is None and not os.environ.get("SUNSEAL_REQUIRE_TOOLS"), reason="there is no C++ compiler on PATH"
)


@needs_cxx
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.stem)
def test_in_a_program_of_cpp(header: Path, tmp_path: Path) -> None:
    """Taken by themselves; every function that is called by the header's name is asked of the linker by C's."""
    assert CXX
    text = (INCLUDE / header).read_text(encoding="utf-8")
    names = re.findall(r"^(?:int|void|bool|uint\w+|size_t) (sunseal_\w+)\(", text, re.MULTILINE)
    used = "".join(f"void *at_{name} = (void *){name};\n" for name in names)
    source, made = tmp_path / "user.cpp", tmp_path / "user.o"
    source.write_text(f'#include "{header}"\n{used}int main() {{ return 0; }}\n', encoding="utf-8")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Werror"]
    subprocess.run([CXX, *flags, f"-I{INCLUDE}", "-c", str(source), "-o", str(made)], check=True)
    asked = subprocess.run(["nm", "--undefined-only", str(made)], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"U (\w+)", asked)) >= set(names)


def test_all_headers_are_for_both() -> None:
    texts = {header.stem: (INCLUDE / header).read_text(encoding="utf-8") for header in HEADERS}
    assert len(texts) == 23
    assert [name for name, text in texts.items() if 'extern "C" {' not in text] == []
