# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tools that are there, missing or too old, and how to get them."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sunseal import _engine
from sunseal.answers.verdicts import Finding as Against
from sunseal.answers.verdicts import Verdict
from sunseal.catalog import boards, coprocessor
from sunseal.catalog.boards import CARRIED, DEFAULT_BOARD, MULTIPLIERS, architecture, firmware_path, home, names
from sunseal.errors import EXTRAS, SunsealError

SERVER = "sunseal-server"


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
    """A program, the names it may have, the versions that serve, and how to come by it."""

    name: str
    commands: tuple[str, ...]
    needed_for: str
    get: str
    required: bool
    flag: str = "--version"
    least: tuple[int, ...] = ()
    below: tuple[int, ...] = ()


PACKAGES = "Python packages"
DEBUGGERS = {"avr": "avr-gdb", "armv7em": "gdb-multiarch", "msp430": "msp430-elf-gdb"}
"""By the instruction set: the one of GDB's builds in Debian, or made from its sources, that knows it."""
TOOLCHAIN = "run `sunseal toolchain get`, which fetches the cross tools into the cache"
TESTS = "run `sunseal toolchain get --for tests`, or apt install"
HDL = "run `sunseal toolchain get --for hdl`"
TOOLS = (
    Tool("cargo", ("cargo",), "building the engine", "install Rust 1.88 or newer by rustup", True, least=(1, 88)),
    Tool("clang 19", ("clang-19", "clang"), "building firmware", TOOLCHAIN, True, least=(19,), below=(20,)),
    Tool("lld 19", ("ld.lld-19", "ld.lld"), "linking firmware", TOOLCHAIN, True, least=(19,), below=(20,)),
    Tool("msp430-elf-as", ("msp430-elf-as",), "assembling firmware", TOOLCHAIN, True),
    Tool("mspdebug", ("mspdebug",), "differential tests of the processor", f"{TESTS} mspdebug", False),
    Tool("openssl", ("openssl",), "differential tests of secp160r1", f"{TESTS} openssl", False, "version"),
    Tool(
        "chromium",
        ("chromium", "chromium-browser", "google-chrome"),
        "browser tests of the report",
        f"{TESTS} chromium",
        False,
    ),
    Tool("avr-gdb", ("avr-gdb",), "`sunseal gdb` of an ATmega", f"{TESTS} gdb-avr", False),
    Tool("gdb-multiarch", ("gdb-multiarch",), "`sunseal gdb` of an MSP432 or STM32", f"{TESTS} gdb-multiarch", False),
    Tool(
        "msp430-elf-gdb",
        ("msp430-elf-gdb",),
        "`sunseal gdb` of an MSP430",
        "run `sunseal toolchain get --for gdb`, which builds it from Debian's gdb-source",
        False,
    ),
    Tool("yosys", ("yosys",), "`sunseal hdl size`, netlists and proofs of hdl/", HDL, False),
    Tool("nextpnr-ice40", ("nextpnr-ice40",), "`sunseal hdl size`, place and route", HDL, False),
    Tool("iverilog", ("iverilog",), "simulating hdl/", HDL, False, "-V"),
    Tool("verilator", ("verilator",), "simulating hdl/ a second time", HDL, False),
    Tool("tshark", ("tshark",), "reading out/demo/air.pcap at the command line", f"{TESTS} tshark", False),
)


OF_THE_TREE = ("cargo", "mspdebug", "openssl", "chromium")
"""Tools that build or test Sunseal itself, of which nobody has need who installed a wheel."""


def in_tree() -> bool:
    """Say whether Sunseal runs from a source tree, in which it can be built, and not from a wheel."""
    return home() != CARRIED


def _again(target: str) -> str:
    """Say how to get what a tree builds and a wheel brings."""
    return f"run `make {target}`" if in_tree() else "install the wheel again, which brings it"


def _models() -> Finding:
    """Say whether boards with a coprocessor can be simulated."""
    ok, text = coprocessor.tool()
    needed_for = "boards with a coprocessor"
    if not ok:
        return Finding("coprocessor's model", False, needed_for, "", "", text)
    return Finding("coprocessor's model", True, needed_for, "", text.split()[0], "built when needed")


def tool_folders(groups: Sequence[str] = ("firmware", "tests", "gdb", "hdl")) -> list[Path]:
    """Ask the toolchain script where the tools of each group lie in the user's cache."""
    script = home() / "firmware" / "toolchain" / "get"
    if not script.is_file():
        return []
    folders = []
    for group in groups:
        asked = [sys.executable, str(script), "--for", group, "--print-bin"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        folders.append(Path(done.stdout.strip()))
    return [folder for folder in folders if folder != Path() and folder.is_dir()]


def find_tool(command: str, folders: list[Path]) -> str | None:
    """Return where a program lies: in one of the folders, or on PATH."""
    cached = next((folder / command for folder in folders if (folder / command).exists()), None)
    return str(cached) if cached else shutil.which(command)


def debugger(device: str) -> str:
    """Name the debugger that knows a device, with its place where it is not on PATH."""
    name = DEBUGGERS[architecture(device)]
    return name if shutil.which(name) else find_tool(name, tool_folders()) or name


def examine() -> list[Finding]:
    """Look for everything and say what was found."""
    extra = tool_folders()
    return [
        Finding("python", True, "everything", platform.python_version(), sys.executable, ""),
        _engine_finding(),
        _packages(),
        *(_tool(tool, extra) for tool in TOOLS if in_tree() or tool.name not in OF_THE_TREE),
        _server(),
        _firmware(),
        _data(),
        _models(),
        Finding("cache", True, "operation profiles and cross tools", "", str(boards.cache_dir()), "made when needed"),
    ]


def judged(findings: Sequence[Finding]) -> Verdict:
    """Judge what was found: a tool that the demo cannot do without and that is missing speaks against it."""
    missing = set(required_missing(findings))
    parts = []
    for f in findings:
        told = (Against("missing", f"{f.name} is missing: {f.get}", f.name),) if f.name in missing else ()
        parts.append(Verdict(f.name, 1, told))
    return Verdict.joined("doctor", parts)


def required_missing(findings: Sequence[Finding]) -> list[str]:
    """Name what the demo cannot do without; a wheel brings what the tools in the tree build."""
    built = {PACKAGES, *(t.name for t in TOOLS if t.required)} if in_tree() else set()
    must = built | {"engine", SERVER, "firmware", "data"}
    return [f.name for f in findings if not f.ok and f.name in must]


def _packages() -> Finding:
    """Say whether pages can be drawn and a place's climate computed: extras of the package bring what does."""
    missing = [name for name in ("jinja2", "matplotlib", "pvlib") if importlib.util.find_spec(name) is None]
    extras = ",".join(sorted({EXTRAS[name] for name in missing}))
    get = f"no {', '.join(missing)}; `pip install 'sunseal[{extras}]'`" if missing else ""
    return Finding(PACKAGES, not missing, "reports and figures, a place's climate", "", "", get)


def _engine_finding() -> Finding:
    from importlib.metadata import version

    ours, wants = _engine.VERSION, version("sunseal")
    get = "" if ours == wants else f"it is {ours} and the package {wants}; {_again('engine')}"
    return Finding("engine", not get, "everything", ours, _engine.__file__, get)


def _tool(tool: Tool, extra: list[Path]) -> Finding:
    unfit = ""
    for command in tool.commands:
        place = find_tool(command, extra)
        version = _version(place, tool.flag) if place else None
        if place is None or version is None:
            continue
        parts = tuple(int(n) for n in re.findall(r"\d+", version))
        if parts >= tool.least and (not tool.below or parts < tool.below):
            return Finding(tool.name, True, tool.needed_for, version, place, "")
        unfit = f"{place} is version {version}; "
    return Finding(tool.name, False, tool.needed_for, "", "", unfit + tool.get)


def _version(place: str, flag: str) -> str | None:
    try:
        done = subprocess.run(
            [place, flag], capture_output=True, text=True, check=False, timeout=20, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(?:\.\d+)+", done.stdout + done.stderr)
    return found.group(0) if found else ""


def _server() -> Finding:
    use, get = "`sunseal serve`, `sunseal gateway`, `sunseal demo`", _how_to_get_server()
    try:
        place = str(server_path())
    except SunsealError:
        return Finding(SERVER, False, use, "", "", get)
    version = _version(place, "--version")
    if version is None:
        return Finding(SERVER, False, use, "", "", f"{place} does not run; {get}")
    return Finding(SERVER, True, use, version, place, "")


def _firmware() -> Finding:
    use, get = "`sunseal measure WORKLOAD`, `sunseal demo`", _again("firmware")
    programs = [("32", "node-p256"), *((m, "bench-ecdsa-p256-sign") for m in MULTIPLIERS)]
    try:
        paths = [firmware_path(DEFAULT_BOARD, {"mpy": mpy}, program) for mpy, program in programs]
    except SunsealError as e:
        return Finding("firmware", False, use, "", "", f"{str(e).rpartition(': ')[2]}; {get}")
    built = len({p for path in paths for p in path.parent.glob("*.elf")})
    return Finding("firmware", True, use, f"{built} programs", str(paths[0].parents[1]), "")


def _data() -> Finding:
    found = names("boards")
    return Finding(
        "data",
        bool(found),
        "everything",
        f"{len(found)} board(s)",
        str(home() / "data"),
        "clone the repository, or install a wheel",
    )


def server_path() -> Path:
    """Return the verifying server's program: beside the interpreter, in the wheel, or on PATH."""
    beside, carried = Path(sys.executable).parent / SERVER, CARRIED / "bin" / SERVER
    if beside.is_file():
        return beside
    if carried.is_file():
        if not os.access(carried, os.X_OK):  # an installer may drop the mode
            carried.chmod(0o755)
        return carried
    found = shutil.which(SERVER)
    if found:
        return Path(found)
    raise SunsealError(
        f"the program `{SERVER}` is neither beside {sys.executable} nor on PATH",
        hint=_how_to_get_server(),
    )


def _how_to_get_server() -> str:
    if in_tree():
        return "run `make server`"
    return (
        "this package was built from a source distribution, which brings no server: install a wheel, which does, or "
        f"put the `{SERVER}` that `make server` builds in the repository on PATH"
    )
