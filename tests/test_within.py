# SPDX-License-Identifier: MIT OR Apache-2.0
"""`pytest --within`: the quickest tests first, and none behind the limit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SUITE = """
import time

def test_slow():
    time.sleep(0.4)

def test_quick():
    pass

def test_middling():
    time.sleep(0.2)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Lay out three tests of different length beside this house's conftest."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_three.py").write_text(SUITE)
    return tmp_path


def run(suite: Path, *options: str) -> list[str]:
    """Run the suite; answer a line for each test, in order: its name and what became of it."""
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:randomly", "-p", "no:xdist", *options]
    out = subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=60, check=True).stdout
    lines = [line.split("::")[1].split() for line in out.splitlines() if line.startswith("test_three.py::")]
    return [f"{name} {became}" for name, became, *_ in lines]


def test_the_quickest_of_the_last_run_come_first(suite: Path) -> None:
    assert [line.split()[0] for line in run(suite)] == ["test_slow", "test_quick", "test_middling"]
    ran = run(suite, "--within", "60")
    assert ran == ["test_quick PASSED", "test_middling PASSED", "test_slow PASSED"]


def test_none_begins_when_the_time_is_over(suite: Path) -> None:
    run(suite)
    ran = run(suite, "--within", "0.1")
    assert ran[-1] == "test_slow SKIPPED"
    assert "test_quick" in ran[0]
    # What was left out keeps the time that it took before.
    assert [line.split()[0] for line in run(suite, "--within", "60")] == ["test_quick", "test_middling", "test_slow"]
