# SPDX-License-Identifier: MIT OR Apache-2.0
"""Inventory of what there is: boards, workloads, variants, power sets, and where their files lie."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.catalog import algorithms as described
from sunseal.catalog import places
from sunseal.catalog.algorithms import AlgorithmError, Library
from sunseal.errors import SunsealError, unknown

DEFAULT_BOARD = "msp430f5438a-anagear"
DEFAULT_POWER = "datasheet"
"""The power set of each board that is taken where none is asked for."""
ROOMS = ("parts", "boards", "power", "devices")
"""Rooms of `data/` in which the user may have files of his own."""
MULTIPLIERS = ("none", "16", "32")
CARRIED = Path(__file__).resolve().parent.parent / "home"
"""Folder that a wheel brings along (packaging/wheel)."""
PLAIN_VARIANT = "default"
"""The folder of a board whose firmware has no variants."""
Workload = described.Workload


@cache
def home() -> Path:
    """Find the tree that holds `data/` and `firmware/`: SUNSEAL_HOME, above the package, in an installed wheel, or
    above the working directory."""
    named = os.environ.get("SUNSEAL_HOME")
    if named:
        root = Path(named)
        if not (root / "data" / "devices").is_dir():
            raise SunsealError(f"SUNSEAL_HOME is `{named}`, which holds no `data/devices`")
        return root
    # The tree comes first: while a wheel is built, what it will carry lies half done in the package.
    for folder in (*Path(__file__).resolve().parents, CARRIED, Path.cwd(), *Path.cwd().parents):
        if (folder / "data" / "devices").is_dir() and (folder / "firmware").is_dir():
            return folder
    raise SunsealError(
        "the folders `data/` and `firmware/` are in no directory above the package or here",
        hint="set SUNSEAL_HOME to a clone of the repository",
    )


def text(path: Path) -> str:
    """Read a data file, which engine and package open once a process between them."""
    try:
        return _engine.text(path)
    except OSError:
        return path.read_text(encoding="utf-8")


def read_toml(path: Path, hint: str | None = None) -> dict[str, Any]:
    """Read a TOML file; one that is absent or broken is named, with the line."""
    try:
        return tomllib.loads(text(path))
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be read: {e.strerror or e}", hint) from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise SunsealError(f"`{path}` is not valid TOML: {e}", hint) from e


@cache
def _library(folders: tuple[Path, ...], data: Path) -> _engine.Library:
    return _engine.Library(list(folders), data)


def library() -> _engine.Library:
    """Return where the engine, and this module through it, look for parts, boards and power sets."""
    return _library(places.own_folders(), home() / "data")


def names(folder: str) -> list[str]:
    """List the entries of one room of `data/`, the user's own with them, by file name without its ending."""
    if folder in ROOMS:
        return library().names(folder)
    return sorted(p.stem for p in (home() / "data" / folder).glob("*.toml"))


def device(name: str) -> dict[str, Any]:
    """Return what a chip's file says, with what it extends."""
    return _facts("devices", device_path(name))


def device_kin(name: str) -> list[str]:
    """Name a chip and those that it extends, the nearest first: what is said of one's package holds for the others."""
    found = [name]
    while isinstance(base := read_toml(device_path(found[-1])).get("extends"), str):
        found.append(base)
    return found


def _path(room: str, kind: str, name: str) -> Path:
    """Return the file of a part, board or power set that exists; else say where it was looked for."""
    path = library().find(room, name)
    if path is None:
        wrong = unknown(kind, name, names(room))
        looked = ", ".join(f"`{folder}`" for folder in (*places.own_folders(), home() / "data"))
        hint = f"looked in {looked}"
        raise SunsealError(str(wrong), hint=f"{wrong.hint}; {hint}" if wrong.hint else hint)
    return path


def board_path(name: str) -> Path:
    """Return the file of a board that exists."""
    return _path("boards", "board", name)


def part_path(name: str) -> Path:
    """Return the file of a part that exists."""
    return _path("parts", "part", name)


def _facts(room: str, path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(library().table(room, path))
    return told


def board(name: str) -> dict[str, Any]:
    """Return what a board's file says, with what it extends; a radio `"none"` is none."""
    return _facts("boards", board_path(name))


def part(name: str) -> dict[str, Any]:
    """Return what a part's file says, with what it extends."""
    return _facts("parts", part_path(name))


def called(kind: str, name: str) -> str:
    """Return what a board or a part is called: its title up to the first comma or colon."""
    title: str = (board(name) if kind == "boards" else part(name)).get("title", name)
    return re.split("[,:]", title, maxsplit=1)[0]


def load(name: str) -> _engine.Board:
    """Return a board as the engine reads it."""
    return _engine.Board(board_path(name), library())


def origin(path: Path) -> str:
    """Say where a file is from: the package, or which folder of the user's own."""
    if path.is_relative_to(home() / "data"):
        return "package"
    cwd = Path.cwd()
    return str(path.parent.relative_to(cwd)) if path.is_relative_to(cwd) else str(path.parent)


def scenario_path(given: Path) -> Path:
    """Return a scenario's file: a path, or a name that is looked for in the user's folders and then in the package."""
    if given.is_file() or given.parent != Path() or given.suffix not in ("", ".toml"):
        return given
    file = f"{given.stem}.toml"
    folders = [f for own in (Path.cwd(), *places.own_folders()) for f in (own, own / "scenarios")]
    looked = [*folders, home() / "examples" / "scenarios"]
    found = next((folder / file for folder in looked if (folder / file).is_file()), None)
    if found is None:
        raise SunsealError(
            f"there is no scenario `{given}`, neither as a file nor by name",
            hint=f"looked for {file} in {', '.join(f'`{folder}`' for folder in dict.fromkeys(looked))}",
        )
    return found


def residual_known(name: str) -> bool:
    """Say whether a board's residual current, beside chip and radio, was measured by anybody."""
    power = board(name).get("power")
    return isinstance(power, dict) and "residual" in power


def power_set_path(name: str, device: str) -> Path:
    """Return the file of a power set, by its full name or without the device in front."""
    for candidate in (name, f"{device}-{name}"):
        found = library().find("power", candidate)
        if found is not None:
            return found
    fitting = [k for k in names("power") if k.startswith(f"{device}-")]
    raise unknown("power set", name, fitting, f"for {device}")


def gaps(part: str) -> list[tuple[str, str, str]]:
    """List what of a device or another part is not modelled: block, what of it, why or what happens."""
    for folder in ("devices", "parts"):
        if part in names(folder):
            facts = device(part) if folder == "devices" else _facts(folder, part_path(part))
            break
    else:
        raise unknown("device or part", part, [*names("devices"), *names("parts")])
    whole, some = (_tables(facts.get(key)) for key in ("gap", "partial"))
    return [
        *((g["name"], _span(g), f"traps: {g['why']}") for g in whole),
        *((p["name"], "", f"missing: {p['missing']}") for p in some),
    ]


def _tables(value: object) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else []


def _span(gap: dict[str, Any]) -> str:
    return f"{gap['start']:#06x} to {gap['end']:#06x}" if "start" in gap else ""


@cache
def algorithms() -> Library:
    """Return what the descriptions of the library's algorithms say (firmware/*/algorithms)."""
    try:
        return described.library(home() / "firmware", home() / "data")
    except AlgorithmError as e:
        raise SunsealError(str(e)) from e


class _Workloads(Mapping[str, Workload]):
    """The workloads by name, read when they are asked for."""

    def __getitem__(self, name: str) -> Workload:
        return _listed()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_listed())

    def __len__(self) -> int:
        return len(_listed())


@cache
def _listed() -> dict[str, Workload]:
    return {name: work for name, work in algorithms().workloads.items() if work.listed}


WORKLOADS: Mapping[str, Workload] = _Workloads()


def whole_program(parameter: str) -> Workload:
    """Return the bench program that holds key generation, signing and verification of a curve."""
    return algorithms().workloads[f"ecdsa-{parameter}-all"]


def workload(name: str) -> Workload:
    """Return a workload that exists."""
    try:
        return WORKLOADS[name]
    except KeyError:
        raise unknown("workload", name, WORKLOADS) from None


@cache
def _board_mk(board: str) -> dict[str, list[str]]:
    return described.board_mk(home() / "firmware", _firmware_board(board))


def variants(board: str) -> dict[str, tuple[str, ...]]:
    """Return each hardware fact that a board's firmware is built for, with its values, slowest first."""
    values: dict[str, list[str]] = {}
    if has_firmware(board):
        for folder in _board_mk(board)["VARIANTS_ALL"]:
            words = folder.split("-") if folder != PLAIN_VARIANT else []
            for key, value in zip(words[::2], words[1::2], strict=True):
                values.setdefault(key, []).append(value)
    return {key: tuple(dict.fromkeys(found)) for key, found in values.items()}


def variant(pairs: list[str] | tuple[str, ...], board: str = DEFAULT_BOARD) -> dict[str, str]:
    """Read `mpy=32` pairs over the board's fastest; what no firmware has is refused by name.

    Every variant of the firmware is constant-time, so the fastest is what `measure` takes.
    """
    known = variants(board)
    chosen = {key: values[-1] for key, values in known.items()}
    said: dict[str, str] = {}
    for pair in pairs:
        key, eq, value = pair.partition("=")
        if not eq or not key or not value:
            raise SunsealError(f"--variant `{pair}` is not written `name=value`, such as `mpy=32`")
        if key not in known:
            raise unknown("variant", key, known or ["none"], f"of {board}")
        if value not in known[key]:
            raise unknown("multiplier", value, known[key], f"of {board} in --variant `{pair}`")
        if said.setdefault(key, value) != value:
            raise SunsealError(f"--variant names {key} twice: `{key}={said[key]}` and `{pair}`")
        chosen[key] = value
    return chosen


def variant_text(chosen: dict[str, str]) -> str:
    """Write a variant the way it is typed."""
    return ",".join(f"{k}={v}" for k, v in sorted(chosen.items()))


def _firmware_board(name: str) -> str:
    """Return the board whose firmware a board runs: its own, or that of the board which it extends.

    That is the same program where chip and trigger pin are the same.
    """
    own, seen = name, {name}
    while not (home() / "firmware" / "boards" / own).is_dir():
        path = library().find("boards", own)
        base = read_toml(path).get("extends") if path is not None else None
        if not isinstance(base, str) or base in seen or library().find("boards", base) is None:
            return name
        seen.add(base)
        own = base
    if own != name and any(board(own)[key] != board(name)[key] for key in ("device", "trigger")):
        return name
    return own


def has_firmware(board: str) -> bool:
    """Say whether this tree holds firmware for a board."""
    return (home() / "firmware" / "boards" / _firmware_board(board)).is_dir()


def of_nodes() -> list[str]:
    """List the boards whose firmware here makes a node: the others are benches, as a mote with a coprocessor is."""
    return [
        name
        for name in names("boards")
        if has_firmware(name) and _board_mk(name).get("NODES") and "radio" in board(name)
    ]


def base_programs(board: str) -> list[str]:
    """List the programs of firmware/base that a board has: the base station, and its nodes, one a cipher."""
    return _board_mk(board).get("BASES", []) if has_firmware(board) else []


def has_workload(board: str, name: str) -> bool:
    """Say whether a board's firmware has a workload: not where it does not fit or lacks the hardware."""
    work = algorithms().workloads.get(name)
    if work is None or not has_firmware(board):
        return False
    return described.on(work, described.board_has(home() / "firmware", home() / "data", _firmware_board(board), text))


def firmware_path(board: str, chosen: dict[str, str], program: str) -> Path:
    """Return a program that `make firmware` has built."""
    if not has_firmware(board):
        raise SunsealError(
            f"there is no firmware for {board} here, so `{program}` cannot be run on it",
            hint="measure a program of yours with `--elf FILE`",
        )
    part = program.removeprefix("bench-").removeprefix("duty-")
    work = next((name for name, known in WORKLOADS.items() if known.program == part), None)
    if work is not None and not has_workload(board, work):
        raise SunsealError(
            f"{board} has no `{work}`: it lacks the hardware or the memory",
            hint=f"firmware/boards/{board}/board.mk says what it has",
        )
    build = home() / "firmware" / "build"
    folder = "-".join(f"{k}-{v}" for k, v in sorted(chosen.items())) or PLAIN_VARIANT
    path = build / _firmware_board(board) / folder / f"{program}.elf"
    if not path.is_file():
        raise SunsealError(
            f"the firmware `{program}` for {board}{', ' * bool(chosen)}{variant_text(chosen)}, is not built: "
            f"`{path.relative_to(home())}` is missing",
            hint="this wheel does not bring it; install it again, or measure a program of yours with `--elf FILE`"
            if home() == CARRIED
            else f"run `make firmware{'' if board == DEFAULT_BOARD else f' BOARD={board}'}` in the repository",
        )
    return path


def carried_compiler(board: str) -> str | None:
    """Return the compiler of a board's programs in a wheel, which come without the debug data that tell it."""
    path = CARRIED / "firmware" / "build" / "compilers.json"
    if home() != CARRIED or not path.is_file():
        return None
    told: str | None = json.loads(path.read_text(encoding="utf-8")).get(_firmware_board(board))
    return told


def cache_dir() -> Path:
    """Return the user's cache folder for operation profiles (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "sunseal"


def kept(room: str, name: str) -> Path:
    """Return a file of the cache: the user's, else the one that a wheel brings along, else where it would be.

    A file's name says everything that it was made of, so that one of another engine or program is never found.
    """
    own = cache_dir() / room / name
    carried = CARRIED / "cache" / room / name
    return carried if not own.is_file() and carried.is_file() else own


def slug(text: str) -> str:
    """Make a file name of a label."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def device_path(name: str) -> Path:
    """Return the file of a device that exists."""
    return _path("devices", "device", name)


ARCHITECTURES = {"cpu": "msp430", "cpuxv2": "msp430", "avre": "avr", "cortex_m4": "armv7em"}
"""Instruction sets by the cores of `data/devices`."""


@cache
def architecture(name: str) -> str:
    """Return the instruction set that a device of `data/devices` runs: avr, armv7em or msp430."""
    core = device(name)["core"]
    if core not in ARCHITECTURES:
        raise SunsealError(f"the device {name} has the core {core}, whose instruction set is not known here")
    return ARCHITECTURES[core]
