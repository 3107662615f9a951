# SPDX-License-Identifier: MIT OR Apache-2.0
"""Follows a page as a reader would: each of its commands is run, and what it prints must be what stands there."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = re.compile(r"127\.0\.0\.1:\d+")
STATUS = re.compile(r"\[(\d+)\]")


def steps(page: Path) -> list[tuple[str, str]]:
    """Return files as ("name", text), and commands as ("$ command", what is to come out)."""
    found: list[tuple[str, str]] = []
    whole = page.read_text(encoding="utf-8")
    for port in sorted({*PORT.findall(whole)}):
        with socket.socket() as free:  # the pages' own may be taken, by this test elsewhere on the machine
            free.bind(("127.0.0.1", 0))
            whole = whole.replace(port, f"127.0.0.1:{free.getsockname()[1]}")
    for kind, text in BLOCK.findall(whole):
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


def follow(page: Path, folder: Path, env: Mapping[str, str]) -> int:
    """Run the steps of a page in a folder; return how many commands there were."""
    env = dict(env)
    commands = 0
    groups: list[int] = []
    try:
        for step, told in steps(page):
            if not step.startswith("$ "):
                (folder / step).write_text(told)
                continue
            commands += 1
            command = step[2:]
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                shown = subprocess.run(
                    ["sh", "-c", f'printf %s "{value}"'],
                    cwd=folder,
                    env=env,
                    check=True,
                    capture_output=True,
                    text=True,
                )
                env[name] = shown.stdout
                continue
            done = subprocess.Popen(
                command,
                shell=True,
                cwd=folder,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            groups.append(done.pid)
            out, err = done.communicate(timeout=300)
            compare(step, told, out + err, done.returncode)
    finally:
        for group in groups:  # what a step has left in the background
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
    return commands


def compare(step: str, told: str, printed: str, returncode: int) -> None:
    """Look for each line of a page in what came out, in order."""
    out = [words(line) for line in printed.splitlines()]
    wanted = [words(line) for line in told.splitlines() if line.strip() not in ("", "...")]
    status = 0
    if wanted and (ends := STATUS.fullmatch(wanted[-1])):
        status = int(ends[1])
        wanted.pop()
    assert returncode == status, (step, printed)
    at = 0
    for line in wanted:
        begins = line.removesuffix("...").strip()
        fits = [out[i] == line or (begins != line and out[i].startswith(begins)) for i in range(at, len(out))]
        assert any(fits), (step, line, out[at:])
        at += fits.index(True) + 1
