# SPDX-License-Identifier: MIT OR Apache-2.0
"""Examples that travel with the package: what there are, and copies of them to work on, with the programs they name."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sunseal.catalog import boards
from sunseal.errors import SunsealError, unknown

PROGRAMS = "programs"
"""Folder beside the copies that holds the built programs which they name."""
BUILT = re.compile(r'"((?:\.\./)+)firmware/build/([^"]+)"')
WITH = {"fleet.toml": ("scenarios/day.toml",), "two-motes.toml": ("two-motes.packet",)}
"""Files that another one names."""
TOLD = {
    "intermittent": "Programs whose supply fails at any cycle, and a signature over many lives.",
    "own_firmware": "A program of one's own in C, what builds it, and what is measured of it.",
    "sibling_chip": "A chip that the package lacks, as its difference from one that it has.",
    "scenarios": "Days and years of nodes for `sunseal simulate`, `coupon breakeven` and `sweep`.",
}
"""Sentences on folders, whose files speak for themselves."""


@dataclass(frozen=True)
class Example:
    """A file or a folder of examples."""

    name: str
    about: str
    files: tuple[str, ...]
    """Names below the folder of examples."""


def folder() -> Path:
    """Return where the examples lie, in the tree or in the wheel."""
    return boards.home() / "examples"


def listed() -> list[Example]:
    """List the examples by name."""
    beside = {name for names in WITH.values() for name in names if "/" not in name}
    found = []
    for path in sorted(p for p in folder().iterdir() if p.name not in beside and not p.name.startswith((".", "_"))):
        if path.is_dir():
            inner = sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
            files = [str(p.relative_to(folder())) for p in inner]
        else:
            files = [path.name, *WITH.get(path.name, ())]
        found.append(Example(path.stem, TOLD.get(path.name) or _about(path), tuple(files)))
    return found


def _about(path: Path) -> str:
    """Return a file's first sentence: of its comment, or of a notebook's first text."""
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        lines = "".join(cells[0]["source"]).splitlines() if cells else []
        return next((line.lstrip("# ") for line in lines if line.strip()), "")
    said = [line.lstrip("# ") for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
    text = " ".join(line for line in said if not line.startswith("SPDX"))
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


def chosen(names: Sequence[str]) -> list[Example]:
    """Return the examples of these names; a file's ending may stand there, and `all` is all."""
    known = {example.name: example for example in listed()}
    found = {}
    for name in names:
        if name == "all":
            found.update(known)
            continue
        plain = Path(name).stem
        if plain not in known:
            raise unknown("example", name, known)
        found[plain] = known[plain]
    return list(found.values())


def copy(names: Sequence[str], to: Path) -> list[str]:
    """Copy examples into a folder, whole or not at all; return the names of the files.

    A program that one names travels along, and the copy names it there. A file that is there already and is the same
    stays; one that differs is somebody's work, and refused before anything is written.
    """
    files: dict[str, bytes] = {}
    for example in chosen(names):
        for name in example.files:
            files |= _with_programs(name)
    if to.exists() and not to.is_dir():
        raise SunsealError(f"`{to}` is a file; --to names a folder")
    wanted = {name: data for name, data in files.items() if not _same(to / name, data)}
    for name in wanted:
        if (to / name).exists() or (to / name).is_symlink():
            raise SunsealError(
                f"`{to / name}` is there and differs from the example, so nothing was copied",
                hint="move it away, or name another folder with --to",
            )
    _write(wanted, to)
    return sorted(files)


def _with_programs(name: str) -> dict[str, bytes]:
    """Read a file, with the built programs that it names; it names them in the folder of programs then."""
    data = (folder() / name).read_bytes()
    if not name.endswith(".toml"):
        return {name: data}
    text, found = data.decode(), {}
    for match in BUILT.finditer(text):
        source = boards.home() / "firmware" / "build" / match[2]
        if not source.is_file():
            raise SunsealError(
                f"the example `{name}` names the program {match[2]}, which is not built",
                hint=f"run `make firmware BOARD={match[2].partition('/')[0]}` in the repository",
            )
        found[f"{PROGRAMS}/{match[2]}"] = source.read_bytes()
    up = "../" * name.count("/")
    return {name: BUILT.sub(lambda m: f'"{up}{PROGRAMS}/{m[2]}"', text).encode(), **found}


def _same(path: Path, data: bytes) -> bool:
    return path.is_file() and not path.is_symlink() and path.read_bytes() == data


def _write(files: dict[str, bytes], to: Path) -> None:
    """Write files aside, then move them into place; what fails leaves nothing behind."""
    made: list[Path] = []
    done: list[Path] = []
    try:
        _make(to, made)
        with tempfile.TemporaryDirectory(dir=to, prefix=".sunseal.") as aside:
            for number, (name, data) in enumerate(files.items()):
                path = Path(aside) / str(number)
                path.write_bytes(data)
                path.chmod(0o755 if name.endswith(".sh") else 0o644)
            for number, name in enumerate(files):
                _make((to / name).parent, made)
                (Path(aside) / str(number)).rename(to / name)
                done.append(to / name)
    except BaseException as e:
        for path in done:
            path.unlink(missing_ok=True)
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir()
        if isinstance(e, OSError):
            raise SunsealError(
                f"the examples cannot be written into `{to}`: {e.strerror or e}; nothing was copied"
            ) from e
        raise


def _make(path: Path, made: list[Path]) -> None:
    """Make a folder and those above it, and keep which were not there."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    for new in reversed(missing):
        new.mkdir()
        made.append(new)
