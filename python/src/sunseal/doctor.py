# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which tools are there, which are missing, and how to get them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sunseal.boards import DEFAULT_BOARD, FASTEST, cache_dir, firmware_path, home, names
from sunseal.errors import SunsealError


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's list."""

    name: str
    ok: bool
    needed_for: str
    version: str
    place: str
    get: str


@dataclass(frozen=True)
class Tool:
    """A program, the names it may have, and how to come by it."""

    name: str
    commands: tuple[str, ...]
    needed_for: str
    get: str
    required: bool
    flag: str = "--version"


TOOLCHAIN = "run `make firmware`; it fetches the cross tools into the cache"
TOOLS = (
    Tool("cargo", ("cargo",), "building the engine", "install Rust 1.88 or newer by rustup", True),
    Tool("clang 19", ("clang-19", "clang"), "building firmware", TOOLCHAIN, True),
    Tool("lld 19", ("ld.lld-19", "ld.lld"), "linking firmware", TOOLCHAIN, True),
    Tool("msp430-elf-as", ("msp430-elf-as",), "assembling firmware", TOOLCHAIN, True),
    Tool("mspdebug", ("mspdebug",), "differential tests of the processor", TOOLCHAIN, False),
    Tool(
        "openssl",
        ("openssl",),
        "differential tests of secp160r1",
        "apt install openssl",
        False,
        "version",
    ),
    Tool(
        "chromium",
        ("chromium", "chromium-browser", "google-chrome"),
        "browser tests of the report",
        "apt install chromium",
        False,
    ),
    Tool(
        "tshark",
        ("tshark",),
        "reading out/demo/air.pcap on the command line",
        "apt install tshark",
        False,
    ),
)


def tool_folder() -> Path | None:
    """Ask the toolchain script where the cross tools lie in the user's cache."""
    script = home() / "firmware" / "toolchain" / "get"
    if not script.is_file():
        return None
    done = subprocess.run([sys.executable, str(script), "--print-bin"], capture_output=True, text=True, check=False)
    folder = Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None
    return folder if folder and folder.is_dir() else None


def examine() -> list[Finding]:
    """Look for everything and say what was found."""
    extra = tool_folder()
    findings = [_tool(tool, extra) for tool in TOOLS]
    findings.append(_file("sunseal-server", server_path, "`sunseal serve`, `sunseal demo`", "run `make server`"))
    findings.append(
        _file(
            "firmware",
            lambda: firmware_path(DEFAULT_BOARD, dict(FASTEST), "bench-ecdsa-p256-sign"),
            "`sunseal measure WORKLOAD`",
            "run `make firmware`",
        )
    )
    data = home() / "data"
    findings.append(
        Finding(
            "data",
            bool(names("boards")),
            "everything",
            f"{len(names('boards'))} boards",
            str(data),
            "clone the repository",
        )
    )
    findings.append(
        Finding(
            "cache",
            True,
            "operation profiles and cross tools",
            "",
            str(cache_dir()),
            "made when needed",
        )
    )
    return findings


def required_missing(findings: list[Finding]) -> list[str]:
    """Name what the demo cannot do without."""
    must = {t.name for t in TOOLS if t.required} | {"sunseal-server", "firmware", "data"}
    return [f.name for f in findings if not f.ok and f.name in must]


def _tool(tool: Tool, extra: Path | None) -> Finding:
    for command in tool.commands:
        place = (str(extra / command) if extra and (extra / command).exists() else None) or shutil.which(command)
        if place:
            version = _version(place, tool.flag)
            if version is not None:
                return Finding(tool.name, True, tool.needed_for, version, place, "")
    return Finding(tool.name, False, tool.needed_for, "", "", tool.get)


def _version(place: str, flag: str) -> str | None:
    try:
        done = subprocess.run(
            [place, flag],
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(?:\.\d+)+[a-z]?", done.stdout + done.stderr)
    return found.group(0) if found else ""


def _file(name: str, find: Callable[[], Path], needed_for: str, get: str) -> Finding:
    try:
        return Finding(name, True, needed_for, "", str(find()), "")
    except SunsealError:
        return Finding(name, False, needed_for, "", "", get)


def server_path() -> Path:
    """Return the verifying server's program: beside the interpreter, or on PATH."""
    beside = Path(sys.executable).parent / "sunseal-server"
    if beside.is_file():
        return beside
    found = shutil.which("sunseal-server")
    if found:
        return Path(found)
    raise SunsealError(
        f"the program `sunseal-server` is neither beside {sys.executable} nor on PATH",
        hint="run `make server` in the repository",
    )
