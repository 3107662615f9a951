# SPDX-License-Identifier: MIT OR Apache-2.0
from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sunseal import Machine
from sunseal.catalog import boards
from sunseal.cli import app as cli
from sunseal.errors import SunsealError
from sunseal.papers import offload
from validating import wrong_output


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


Cli = Callable[..., Outcome]


def as_published(args: tuple[str | Path, ...], outcome: Outcome) -> Outcome:
    """Hold each answer in JSON to its published schema, whichever test asked for it."""
    # A program that others read their arguments from has no such answer, nor has one that was stopped.
    if "--json" in args and outcome.out and outcome.status in (0, 1, 2, 3):
        assert not (bad := wrong_output(outcome.out)), (args, bad[:5])
    return outcome


@pytest.fixture
def sunseal(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process."""

    def run(*args: str | Path) -> Outcome:
        capsys.readouterr()
        status = cli.run([str(a) for a in args])
        captured = capsys.readouterr()
        return as_published(args, Outcome(status, captured.out, captured.err))

    return run


@pytest.fixture
def sunseal_process() -> Cli:
    """Run a command as a user does, in a process of its own."""

    def run(*args: str | Path, **env: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "sunseal", *map(str, args)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | env,
        )
        return as_published(args, Outcome(done.returncode, done.stdout, done.stderr))

    return run


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs NIST's estimators where they are not: no skip then hides among those of `make test`."""
    if importlib.util.find_spec("sp800_90b") is None:
        left_out = [item for item in items if item.get_closest_marker("nist_packages")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache; the workers of a session share one, which begins empty."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache" / "sunseal"
    # The cross tools stay where they are: only the profiles move.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boards, "cache_dir", lambda: root)
        # What runs or synthesizes hardware is left to the tests of hdl/, which bring its tools.
        patch.setattr(offload, "missing", lambda: "left to `make test-hdl`")
        yield


def require(condition: bool, why: str) -> None:
    """Skip for want of a tool, unless the run is one that must have them all."""
    if not condition:
        if os.environ.get("SUNSEAL_REQUIRE_TOOLS"):
            pytest.fail(f"needed for this run and missing: {why}")
        pytest.skip(why)


@pytest.fixture(scope="session")
def firmware() -> None:
    """Skip where the firmware is not built."""
    try:
        boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, "bench-sha256-hash")
    except SunsealError as e:
        require(False, str(e))


def refused(done: Outcome, *says: str) -> None:
    """Hold that a command told what is wrong with its input, in one sentence on standard error and nothing else."""
    assert done.status == 2, done
    assert done.out == ""
    said, *more = [line for line in done.err.strip().splitlines() if not line.startswith("hint:")]
    assert said.startswith("error: ") and not more, done.err
    assert all(part in " ".join(done.err.split()) for part in says), done.err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory and a user's data directory of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path


def put(path: Path, text: str) -> Path:
    """Write a file, its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


WITH_FIRMWARE = sorted(filter(boards.has_firmware, boards.names("boards")), key=len, reverse=True)
ONE_OF_EACH_CHIP = list({boards.board(board)["device"]: board for board in WITH_FIRMWARE}.values())
"""The board of the shortest name for each chip: without a coprocessor beside it."""


def bench(board: str) -> Machine:
    """Put a program of the bench on a board."""
    return Machine(board, boards.firmware_path(board, boards.variant((), board), "bench-sha256-hash"))


@contextlib.contextmanager
def opened(browser: Any, page: Path, ready: str, **context: str) -> Iterator[Any]:
    """Open a page until something of it is ready; nothing may be asked of the network or logged."""
    seen = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True, **context)
    tab = seen.new_page()
    trouble: list[str] = []
    asked: list[str] = []
    tab.on("pageerror", lambda e: trouble.append(str(e)))
    tab.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("request", lambda r: asked.append(r.url))
    tab.goto(page.as_uri())
    tab.wait_for_selector(ready)
    assert trouble == []
    assert [u for u in asked if not u.startswith(("file:", "data:", "blob:"))] == []
    yield tab
    seen.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the chromium that the toolchain script or Debian brought."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    require(chromium is not None, "no chromium on PATH (apt install chromium)")
    with sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=chromium,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-background-networking",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def own_elf(firmware: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the example of a user's own program, as the user does."""
    elf = tmp_path_factory.mktemp("own") / "fletcher.elf"
    subprocess.run([str(boards.home() / "examples" / "own_firmware" / "build.sh"), str(elf)], check=True)
    return elf
