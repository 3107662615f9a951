# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that `sunseal new` writes for editors, CI and containers: read as these read them, and each command runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import require
from sunseal import _engine, kit
from sunseal.catalog import boards
from sunseal.kit.doctor import DEBUGGERS, find_tool, tool_folders

BOARDS = ["msp430fr5994-launchpad", "micaz", "nucleo-l476rg"]
JUDGES = Path(os.environ.get("CARGO_TARGET_DIR") or boards.home() / "target") / "judges"


@pytest.fixture(params=BOARDS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    kit.write(tmp_path / "node", request.param)
    return request.param, tmp_path / "node"


def settings(folder: Path, name: str) -> dict[str, Any]:
    """Read JSON without comments and without a comma too many, which every editor takes."""
    told: dict[str, Any] = json.loads((folder / ".vscode" / name).read_text(encoding="utf-8"))
    return told


def task(folder: Path, label: str) -> dict[str, Any]:
    (found,) = (t for t in settings(folder, "tasks.json")["tasks"] if t["label"] == label)
    return dict(found)


def test_launches_name_the_program_the_board_and_tasks_that_there_are(project: tuple[str, Path]) -> None:
    board, folder = project
    launch = settings(folder, "launch.json")
    assert launch["version"] == "0.2.0" and settings(folder, "tasks.json")["version"] == "2.0.0"
    adapter, debugger = launch["configurations"]
    assert {k: adapter[k] for k in ("type", "request", "board", "stopOnEntry")} == {
        "type": "sunseal", "request": "launch", "board": board, "stopOnEntry": True,
    }  # fmt: skip
    assert adapter["program"] == "${workspaceFolder}/build/node.elf"
    architecture = boards.architecture(str(boards.board(board)["device"]))
    arm = architecture == "armv7em"
    assert debugger["type"] == ("cortex-debug" if arm else "cppdbg")
    assert debugger["gdbPath" if arm else "miDebuggerPath"] == DEBUGGERS[architecture]
    for configuration in launch["configurations"]:
        assert task(folder, configuration["preLaunchTask"])
    named = json.dumps([launch, settings(folder, "tasks.json")])
    assert "@" not in named and str(folder) not in named


def test_a_debugger_meets_the_task_that_serves_it(project: tuple[str, Path]) -> None:
    """The task's own command is run, and what ends the editor's waiting is what it prints."""
    board, folder = project
    architecture = boards.architecture(str(boards.board(board)["device"]))
    gdb = find_tool(DEBUGGERS[architecture], tool_folders())
    # The MSP430's is built in seven minutes by `make debugger`: without it, what is printed is held to the task alone.
    require(gdb is not None or architecture == "msp430", DEBUGGERS[architecture])
    done = subprocess.run(
        ["make", "-s", f"SUNSEAL={sys.executable} -m sunseal"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    serve = task(folder, "sunseal gdb")
    args = [arg.replace(":3333", ":0") for arg in serve["args"]]
    watched = serve["problemMatcher"]["background"]["endsPattern"]
    with subprocess.Popen([sys.executable, "-m", "sunseal", *args], cwd=folder, stderr=subprocess.PIPE, text=True) as p:
        assert p.stderr is not None
        line = p.stderr.readline()
        assert re.search(watched, line), line
        address = re.findall(r"127\.0\.0\.1:\d+", line)[0]
        if gdb is not None:
            steps = [f"target remote {address}", "break main", "continue", "info symbol $pc", "kill"]
            command = [str(gdb), "-q", "-batch", "build/node.elf", *(word for step in steps for word in ("-ex", step))]
            told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
            assert "main" in told.stdout.splitlines()[-2:][0] + told.stdout.splitlines()[-1], told.stdout + told.stderr
        p.terminate()
    error = subprocess.run(
        [sys.executable, "-m", "sunseal", "gdb", "nothing.elf", "--board", board],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    pattern = serve["problemMatcher"]["pattern"]["regexp"]
    assert re.search(watched, error.stderr) and re.search(pattern, error.stderr, re.M)


def test_the_workflow_is_what_github_takes(project: tuple[str, Path]) -> None:
    """By the schema of workflows that check-jsonschema brings (packaging/judges.txt)."""
    require(JUDGES.is_dir(), "what judges a workflow (`make test-python` installs it)")
    _, folder = project
    workflow = folder / ".github" / "workflows" / "test.yml"
    run = f"import sys; sys.path.insert(0, {str(JUDGES)!r}); from check_jsonschema import main; main()"

    def judged(path: Path) -> int:
        asked = [sys.executable, "-c", run, "--builtin-schema", "vendor.github-workflows", str(path)]
        return subprocess.run(asked, capture_output=True, check=False).returncode

    assert judged(workflow) == 0
    text = workflow.read_text(encoding="utf-8")
    (folder / "bad.yml").write_text(text.replace("runs-on:", "runs-in:"), encoding="utf-8")
    assert judged(folder / "bad.yml") != 0
    assert f"sunseal=={_engine.VERSION}" in text and "@" not in re.sub(r"actions/[a-z-]+@v\d", "", text)


def test_ci_and_container_do_what_the_makefile_does(project: tuple[str, Path]) -> None:
    board, folder = project
    avr = board == "micaz"
    dockerfile = (folder / "Dockerfile").read_text(encoding="utf-8")
    workflow = (folder / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    for text in (dockerfile, workflow):
        assert ("sunseal toolchain get --for avr" in text) is avr and "sunseal toolchain get" in text
    assert dockerfile.splitlines()[1] == "FROM debian:bookworm-slim"
    assert f"ARG SUNSEAL=sunseal=={_engine.VERSION}\n" in dockerfile and "@" not in dockerfile
    make = (folder / "Makefile").read_text(encoding="utf-8")
    assert "$(PYTHON) -m pytest $(PYTEST)" in make and 'PYTEST="--junit-xml' in workflow


def test_new_says_how_to_get_compilers_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert kit.compilers_missing("telosb") == "sunseal toolchain get"
    assert kit.compilers_missing("micaz") == "sunseal toolchain get --for avr"
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert kit.compilers_missing("telosb") is None
