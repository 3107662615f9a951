# SPDX-License-Identifier: MIT OR Apache-2.0
"""`make speed`: two engines take turns, and a fall is told."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def speed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("speed", ROOT / "tests" / "speed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["speed"] = module
    spec.loader.exec_module(module)
    return module


def engine(path: Path, cycles: int, ns: str) -> Path:
    """Stand in for a compiled engine: answers each request with so many cycles and nanoseconds."""
    path.write_text(
        f"#!{sys.executable}\nimport sys\nfor i, line in enumerate(sys.stdin):\n"
        f"    print(100, {cycles}, {ns}, flush=True)\n"
    )
    path.chmod(0o755)
    return path


def test_a_ratio_is_of_the_best_of_all_rounds_and_of_cycles(speed: ModuleType, tmp_path: Path) -> None:
    # The old one is disturbed in every second round; the new one executes twice the cycles.
    old = speed.Child(engine(tmp_path / "old", 1000, "500 if i % 2 else 900"), "chip", tmp_path)
    new = speed.Child(engine(tmp_path / "new", 2000, "800"), "chip", tmp_path)
    best, spread = speed.compare(old, new, "silent", 8, 0.01)
    assert best == pytest.approx(0.5 / 0.4)
    assert spread > 0
    assert (old.end(), new.end()) == ("", "")


def test_an_engine_that_lacks_the_machine_is_no_fall(speed: ModuleType, tmp_path: Path) -> None:
    dead = tmp_path / "dead"
    dead.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('there is no such chip')\n")
    dead.chmod(0o755)
    old = speed.Child(dead, "chip", tmp_path)
    new = speed.Child(engine(tmp_path / "new", 1000, "800"), "chip", tmp_path)
    assert speed.compare(old, new, "silent", 3, 0.01) is None
    assert old.end() == "there is no such chip"
    new.end()


def test_a_fall_is_named_and_fails(
    speed: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = engine(tmp_path / "old", 1000, "500"), engine(tmp_path / "new", 1000, "800 if 'taint' in line else 500")
    monkeypatch.setattr(speed, "older", lambda _: programs[0])
    monkeypatch.setattr(speed, "build", lambda *_: programs[1])
    monkeypatch.setattr(speed, "commit_of", lambda name: name * 40)
    monkeypatch.setattr(speed, "ROOT", tmp_path)
    image = tmp_path / "firmware" / "build" / speed.MACHINES["msp430f1611"] / speed.IMAGE
    image.parent.mkdir(parents=True)
    image.touch()
    assert speed.main(["a", "--machine", "msp430f1611", "--rounds", "3"]) == 1
    told = capsys.readouterr().out
    assert "slower by more than 3%: msp430f1611 taint" in told
    assert "1.00 ± 0.00" in told
    assert "0.62 ± 0.00" in told


def test_a_commit_that_is_not_there_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "speed.py", "nothing-like-it"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("speed: OLD=nothing-like-it: there is no such commit")
