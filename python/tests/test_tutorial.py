# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tutorial does what it says: each command of it is run, and what it prints is what stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from sunseal import boards

PAGE = boards.home() / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"\[(\d+)\]")


def steps() -> list[tuple[str, str]]:
    """Return files as ("name", text), and commands as ("$ command", what is to come out)."""
    found: list[tuple[str, str]] = []
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            name, _, body = text.partition("\n")
            found.append((name.removeprefix("# "), body))
            continue
        for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE)[1:]:
            command, _, told = part.partition("\n")
            found.append((command, told))
    return found


def words(line: str) -> str:
    return " ".join(line.split())


def test_the_tutorial_is_what_happens(firmware: None, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(boards.home() / "examples")
    python = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{python}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "160"}
    commands = 0
    for step, told in steps():
        if not step.startswith("$ "):
            (tmp_path / step).write_text(told)
            continue
        commands += 1
        done = subprocess.run(
            step[2:], shell=True, cwd=tmp_path, env=env, check=False, capture_output=True, text=True, timeout=300
        )
        out = [words(line) for line in (done.stdout + done.stderr).splitlines()]
        wanted = [words(line) for line in told.splitlines() if line.strip() not in ("", "...")]
        status = 0
        if wanted and (ends := STATUS.fullmatch(wanted[-1])):
            status = int(ends[1])
            wanted.pop()
        assert done.returncode == status, (step, done.stdout, done.stderr)
        at = 0
        for line in wanted:
            begins = line.removesuffix("...").strip()
            fits = [out[i] == line or (begins != line and out[i].startswith(begins)) for i in range(at, len(out))]
            assert any(fits), (step, line, out[at:])
            at += fits.index(True) + 1
    assert commands >= 9
