# SPDX-License-Identifier: MIT OR Apache-2.0
"""One C source through many compilers, levels and instruction sets: a constant-time verdict for each binary.

Compilers undo what a source took care of, and differ in it from release to release: a verdict belongs to a binary.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sunseal._engine import EngineError
from sunseal.answers.verdicts import Verdict
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.machine.taint import CALLED, ConstantTime, Judged, judge
from sunseal.machine.taint import Run as OneRun
from sunseal.secure.constant_time import program

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
CLANGS = ("13", "14", "15", "16", "19")
"""Releases of clang that Debian 12 has."""
TIME_S = 10.0
"""Simulated seconds after which a binary is undecided, where no time is given."""


@dataclass(frozen=True)
class Set:
    """An instruction set: the board that runs it, and how a program for it is compiled and linked."""

    name: str
    board: str
    clang: tuple[str, ...]
    gcc: str | None
    gcc_flags: tuple[str, ...] = ()
    script: str | None = None
    """Below `firmware/`; without one GCC links."""
    runtime: str = ""
    """Start-up code and helpers of the compiler, below `firmware/build/obj/`."""


SETS = (
    Set(
        "msp430",
        "telosb",
        ("--target=msp430", "-mhwmult=16bit"),
        None,
        script="build/telosb/link.ld",
        runtime="msp430f1611/mpy-16/runtime/msp430",
    ),
    Set(
        "msp430x",
        "msp430fr5994-launchpad",
        ("--target=msp430", "-mhwmult=f5series"),
        None,
        script="build/msp430fr5994-launchpad/link.ld",
        runtime="msp430fr5994/mpy-32/runtime/msp430",
    ),
    Set("avr", "micaz", ("--target=avr", "-mmcu=atmega128"), "avr-gcc", ("-mmcu=atmega128",)),
    Set(
        "cortex-m4",
        "msp432p401r-launchpad",
        ("--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-mfloat-abi=soft"),
        "arm-none-eabi-gcc",
        ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft"),
        script="build/msp432p401r-launchpad/link.ld",
        runtime="msp432p401r/default/runtime/armv7em",
    ),
)


@dataclass(frozen=True)
class Question:
    """Question that is asked of every binary."""

    secret: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    start: str | None = None
    until: str | None = None
    time_s: float | None = None
    inputs: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Compiler:
    """A compiler that is there."""

    name: str
    """`clang 16`, `avr-gcc 5.4.0`."""
    program: str
    clang: bool


@dataclass(frozen=True)
class Cell:
    """Answer for one binary, a cell of the matrix."""

    isa: str
    compiler: str
    level: str
    verdict: ConstantTime


@dataclass(frozen=True)
class Matrix:
    """The verdicts about one source."""

    cells: list[Cell]
    missing: list[str]
    """Compilers that were asked for and are not there, with the command that brings them."""

    @property
    def judged(self) -> Verdict:
        """The verdict, a part for each binary."""
        parts = (replace(c.verdict.judged, of=f"{c.isa}, {c.compiler} {c.level}") for c in self.cells)
        return Verdict.joined("constant-time of all binaries", parts)

    @property
    def verdict(self) -> Judged:
        """`findings` if a cell has some, else `undecided` if one is, else `clean`."""
        return CALLED[self.judged.word]


def question_in(source: Path) -> Question:
    """Read the question from the source's comments: `sunseal constant-time: --secret key --until done`."""
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        why = getattr(e, "strerror", None) or e
        raise SunsealError(f"`{source}` cannot be read as C: {why}") from e
    lists: dict[str, list[str]] = {"--secret": [], "--public": []}
    single: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not (found := re.search(r"sunseal constant-time:(.*?)(\*/|$)", line)):
            continue
        words = shlex.split(found[1])
        for option, value in zip(words[::2], [*words[1::2], None], strict=False):
            if value is None or option not in (*lists, "--from", "--until"):
                raise SunsealError(
                    f"{source}:{number}: `{option}` is not `--secret`, `--public`, `--from` or `--until` with a symbol"
                )
            if option in lists:
                lists[option].append(value)
            else:
                single[option] = value
    return Question(tuple(lists["--secret"]), tuple(lists["--public"]), single.get("--from"), single.get("--until"))


@cache
def _folders() -> tuple[str, ...]:
    """List the folders where compilers may lie: PATH, then what `sunseal toolchain get` has fetched."""
    script = boards.home() / "firmware" / "toolchain" / "get"
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for group in ("firmware", "tests", "avr", "matrix"):
        done = subprocess.run([script, "--for", group, "--print-bin"], capture_output=True, text=True, check=False)
        folders.append(done.stdout.strip())
    return tuple(folders)


@cache
def _find(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join(_folders()))


@cache
def _version(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"(?:version|\)) *(\d+(?:\.\d+)+)", done.stdout)
    return found[1] if found else ""


def compilers(isa: Set) -> Iterator[Compiler | str]:
    """Compilers for an instruction set; one that is not there by its name."""
    for release in CLANGS:
        places = [p for p in (_find(f"clang-{release}"), _find("clang")) if p]
        right = [p for p in places if _version(p).startswith(f"{release}.")]
        if right:
            yield Compiler(f"clang {_version(right[0])}", right[0], clang=True)
        else:
            group = "firmware" if release == "19" else "matrix"
            yield f"clang {release} (`sunseal toolchain get --for {group}`)"
    if isa.gcc is not None:
        place = _find(isa.gcc)
        if place:
            yield Compiler(f"{isa.gcc} {_version(place)}", place, clang=False)
        else:
            yield f"{isa.gcc} (`sunseal toolchain get --for tests`)"


def build(source: Path, isa: Set, compiler: Compiler, level: str, into: Path, flags: Sequence[str] = ()) -> Path:
    """Compile and link one binary."""
    firmware = boards.home() / "firmware"
    target = isa.clang if compiler.clang else isa.gcc_flags
    common = ["-std=gnu11", "-ffreestanding", "-ffunction-sections", "-g", "-gdwarf-4", level, *flags]
    obj, elf = into / "cell.o", into / "cell.elf"
    _do([compiler.program, *target, *common, "-c", str(source.resolve()), "-o", str(obj)], f"{compiler.name} {level}")
    if isa.script is None:
        assert isa.gcc is not None
        linker = _find(isa.gcc)
        if linker is None:
            raise SunsealError(f"{isa.gcc}, which links for {isa.name}, is missing: `sunseal toolchain get --for avr`")
        _do([linker, *isa.gcc_flags, str(obj), "-o", str(elf)], f"linking by {isa.gcc}")
        return elf
    lld = _find("ld.lld")
    runtime = sorted((firmware / "build" / "obj" / isa.runtime).glob("*.o"))
    if lld is None or not runtime or not (firmware / isa.script).is_file():
        raise SunsealError(f"the start-up code of {isa.board} is not built: `make firmware BOARD={isa.board}`")
    command = [lld, "-T", isa.script, "--gc-sections", "-o", str(elf), *map(str, runtime), str(obj)]
    _do(command, "linking by ld.lld", cwd=firmware)
    return elf


def _do(command: list[str], what: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise SunsealError(f"{what} fails: {lines[0] if lines else f'exit status {done.returncode}'}")


def cell(source: Path, question: Question, isa: Set, compiler: Compiler, level: str, flags: Sequence[str] = ()) -> Cell:
    """Build a binary and judge it; one that cannot be built or run is undecided."""
    with tempfile.TemporaryDirectory(prefix="sunseal-matrix-") as folder:
        try:
            elf = build(source, isa, compiler, level, Path(folder), flags)
            verdict = program(elf, board=isa.board, **vars(question))
        except (EngineError, SunsealError) as e:
            verdict = judge([OneRun(list(question.secret), why=[str(e)])])
    return Cell(isa.name, compiler.name, level, verdict)


def run(
    source: Path,
    question: Question,
    jobs: int | None = None,
    levels: Sequence[str] = LEVELS,
    flags: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Matrix:
    """Judge one source in every binary that the compilers here make of it; `progress` hears how many of them are."""
    noted = question_in(source)
    question = replace(
        question,
        secret=question.secret or noted.secret,
        public=question.public or noted.public,
        start=question.start or noted.start,
        until=question.until or noted.until,
        time_s=question.time_s or TIME_S,
    )
    if not question.secret:
        raise SunsealError(
            f"`{source}` names no secret",
            hint="`--secret SYMBOL`, or a comment `sunseal constant-time: --secret SYMBOL` in the file",
        )
    there = [(isa, compiler) for isa in SETS for compiler in compilers(isa)]
    todo = [(i, c, level) for i, c in there if isinstance(c, Compiler) for level in levels]
    missing = list(dict.fromkeys(c for _, c in there if isinstance(c, str)))
    if not todo:
        raise SunsealError(f"no compiler is there: {'; '.join(missing)}")
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        cells = []
        for judged in pool.map(lambda one: cell(source, question, one[0], one[1], one[2], flags), todo):
            cells.append(judged)
            if progress is not None:
                progress(len(cells), len(todo))
    return Matrix(cells, missing)


def word(verdict: ConstantTime) -> str:
    """A cell in a word: `clean`, `branch 2, address 1`, `undecided`."""
    if not verdict.findings:
        return verdict.verdict
    kinds = [leak.kind for leak in verdict.findings]
    return ", ".join(f"{kind} {kinds.count(kind)}" for kind in sorted(set(kinds)))


def as_json(source: Path, matrix: Matrix) -> dict[str, Any]:
    """The matrix as the command prints it."""
    cells = [{"isa": c.isa, "compiler": c.compiler, "level": c.level, **c.verdict.as_json()} for c in matrix.cells]
    return {
        "source": source.name,
        "verdict": matrix.verdict,
        "why": list(matrix.judged.why),
        "missing": matrix.missing,
        "cells": cells,
    }
