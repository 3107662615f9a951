#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Change our own code, one place at a time, and count what the tests beside it notice: `make mutants`.

    mutants.py run [ROOM...] [--most N] [--seed S]   try so many of each room, drawn by the seed; all without --most
    mutants.py sample                                what CI runs: rooms that need no compiler of Rust, two minutes
    mutants.py page                                  write docs/reference/mutants.md from what was measured

Rooms and their judges stand in mutants.toml. Rust is changed by cargo-mutants, Python by Cosmic Ray's operators, C by
the few below, and compiled routines (C and assembly alike) in the program memory of their simulated part. What
survives is either the gap of a test or equivalent; equivalent ones stand in mutants.toml with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {room["name"]: room for room in tomllib.loads((ROOT / "tests/mutants.toml").read_text("utf-8"))["room"]}
OUT = ROOT / "out" / "mutants"
PAGE = ROOT / "docs" / "reference" / "mutants.md"
MEASURED = ROOT / "tests" / "mutants.json"
CARGO_MUTANTS = "27.1.0"
COSMIC_RAY = ROOT / "tests" / "mutants-requirements.txt"
SAMPLE = {"field arithmetic": 240, "counter": 12}
"""Mutants of each room that CI tries."""
GOAL = 0.95


@dataclass
class Tally:
    """What became of a room's mutants; `missed` holds the places of those that nothing noticed."""

    of: int = 0
    caught: int = 0
    missed: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    """Those of which the judge itself saw that they change nothing."""

    def add(self, place: str, caught: bool, *, same: bool = False) -> None:
        """Count one that could be built."""
        self.of += 1
        self.caught += caught
        if not caught:
            (self.same if same else self.missed).append(place)
        print(f"{'caught' if caught else 'same  ' if same else 'MISSED'}  {place}", flush=True)


def drawn(rng: random.Random, found: list[Any], most: int | None) -> list[Any]:
    """Take so many of them, each as likely, in their order."""
    if most is None or most >= len(found):
        return found
    return [found[i] for i in sorted(rng.sample(range(len(found)), most))]


# --- compiled routines ----------------------------------------------------------


def instructions(room: dict[str, Any], most: int | None, rng: random.Random) -> Tally:
    """Drop an instruction that a field's routine executes, or have it forget its carry."""
    sys.path.insert(0, str(ROOT / "firmware" / "tests"))
    import test_carries as carries
    from test_fields import KEPT, OPERATIONS, family, is_in, machine

    from sunseal import EngineError, SunsealError

    flags = {"msp430": "SR", "avr": "SREG", "arm": "xPSR"}
    carry = {"msp430": 1, "avr": 1, "arm": 1 << 29}
    nops = {"msp430": [b"\x03\x43"], "avr": [b"\x00\x00"], "arm": [b"\x00\xbf"]}
    writes_memory = {
        "msp430": lambda first: first & 0xF080 >= 0x4080 or first & 0xFF80 == 0x1200,
        "avr": lambda first: first & 0xD200 == 0x8200 or first & 0xFE00 == 0x9200,
        "arm": lambda first: True,
    }
    operands = cache(carries.operands)

    def changes_nothing(m: Any, at: int, after: int, call: Any, tuples: Any) -> bool:
        """Whether the right instruction wrote no memory, and left registers and carry as they were in all calls."""
        kind, first = family(m), int.from_bytes(m.read(at, 2), "little")
        if writes_memory[kind](first):
            return False
        kept: list[Any] = []
        differs: list[bool] = []

        def state() -> Any:
            held = dict(m.registers)
            held["carry"] = held.pop(flags[kind]) & carry[kind]
            held.pop("PC", None)
            return held

        m.hook(at, lambda m: kept.append(state()))
        m.hook(after, lambda m: differs.append(bool(kept) and kept.pop() != state()))
        for values in tuples:
            call(*values)
            if any(differs):
                break
        m.unhook(at)
        m.unhook(after)
        return not any(differs)

    tally = Tally()
    build = ROOT / "firmware" / "build"
    libraries = [p for board in room["boards"] for p in sorted((build / board).glob("library-ecc*.elf"))]
    if not libraries:
        raise SystemExit("mutants: no library is built; run `make all-boards`")
    for library in libraries:
        here = [operation for operation in OPERATIONS if is_in(library, operation.function)]
        m = machine(library)
        tried: list[tuple[Any, int, int, bytes, str]] = []
        for operation in here:
            for at, after in pairwise(carries.executed(m, operation)):
                size, code = after - at, m.read(at, 4)
                if size in (2, 4, 6) and code[:2] not in nops[family(m)]:
                    tried.append((operation, at, after, nops[family(m)][0] * (size // 2), "dropped"))
                if (other := carries.without_carry(m.device, code)) is not None:
                    tried.append((operation, at, after, other, "forgets its carry"))
        share = None if most is None else -(-most // len(libraries))
        for operation, at, after, other, what in drawn(rng, tried, share):
            call, tuples = carries.on_target(m, operation), operands(operation)
            before, place = m.snapshot(), m.describe(at)
            m.write(at, other)
            try:
                for register in KEPT[family(m)]:
                    m.registers[register] = 0x5A
                caught = carries.wrong(operation, call, tuples) is not None
                caught |= any(m.registers[register] != 0x5A for register in KEPT[family(m)])
            except (EngineError, SunsealError):
                caught = True
            m.restore(before)
            name = f"{library.relative_to(build)} {operation.function}: {place} {what}"
            if caught:
                same = False
            elif what == "dropped":
                same = changes_nothing(m, at, after, call, tuples)
            else:
                same = len(carries.carries(m, at, [(call, tuples)])) == 1
            m.restore(before)
            tally.add(name, caught, same=same)
    return tally


# --- sources --------------------------------------------------------------------

SWAPS = [
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" & ", " | "), (r" \| ", " & "),
    (r" \^ ", " | "), (r"\+\+;", "--;"), (r"!(?=[a-z(])", ""), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<![\w.])([0-9]+)(?=[;,)\] ])", lambda m: str(int(m[1]) + 1)),
    (r"^( +)[a-z]\w*(\(.*\)|.* [&|^+-]?= .*|\+\+);$", r"\1;"),
]  # fmt: skip
"""What is changed in C: relations, logic, arithmetic, constants, and statements that are left out."""


def changes_of_c(text: str) -> Iterator[tuple[int, str, str]]:
    """Find each place where a swap applies outside of comments: the line, the old line, the new one."""
    bare = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", "\0", m[0]), text, flags=re.DOTALL)
    for number, (line, code) in enumerate(zip(text.splitlines(), bare.splitlines(), strict=True), 1):
        if line.startswith("#"):
            continue
        for pattern, other in SWAPS:
            for match in re.finditer(pattern, code):
                new = match.expand(other) if isinstance(other, str) else other(match)
                yield number, line, line[: match.start()] + new + line[match.end() :]


def sources_of_c(room: dict[str, Any], most: int | None, rng: random.Random) -> Tally:
    """Change a line of C, build the host's tests with it and run them."""
    tree = OUT / "firmware"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "firmware", tree, ignore=shutil.ignore_patterns("build"))
    program = tree / "build" / room["build"]
    # Without the sanitizers, and each source apart: only one changes.
    dry = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "-C", str(tree), "EXTRA=", str(program.relative_to(tree))],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (compile_main, link) = (line.split() for line in dry.stdout.splitlines() if " -DNODE_" in line)
    program.parent.mkdir(parents=True)
    subprocess.run(compile_main, cwd=tree, check=True)
    sources = [word for word in link if word.endswith(".c")]
    objects = {source: f"build/host/{i}.o" for i, source in enumerate(sources)}
    flags = [word for word in link[: link.index("-o")] if word not in sources]
    linked = [*flags, "-o", str(program), *objects.values(), *link[link.index(sources[-1]) + 1 :]]

    def builds(source: str) -> bool:
        command = [*flags, "-c", source, "-o", objects[source]]
        return subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode == 0

    tally = Tally()

    def noticed(*changed: str) -> bool | None:
        """Tell whether the tests fail; None where it does not compile."""
        if not all(builds(source) for source in changed):
            return None
        subprocess.run(linked, cwd=tree, check=True)
        try:
            done = subprocess.run([str(program)], capture_output=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    if noticed(*sources) is not False:
        raise SystemExit(f"mutants: {program.name} does not pass as it is; run `make test-firmware`")
    for name in room["files"]:
        source = str(Path(name).relative_to("firmware"))
        file = tree / source
        text = file.read_text("utf-8")
        for number, line, new in drawn(rng, list(changes_of_c(text)), most):
            lines = text.splitlines()
            lines[number - 1] = new
            file.write_text("\n".join(lines) + "\n", "utf-8")
            if (caught := noticed(source)) is not None:
                tally.add(f"{name}:{number}: `{line.strip()}` as `{new.strip()}`", caught)
        file.write_text(text, "utf-8")
        builds(source)
    return tally


PYTHON_CHANGES = """
import json, re, sys
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
KIND = re.compile(r"Add_Sub|Sub_Add|Mul_Div|Div_Mul|Comparison|AddNot|AndWith|OrWith|True|False|Number|Break|Unary")
NOT = re.compile(r"_Is|Is_|IsNot|UAdd|Invert|USub_Not")
for name in sys.argv[1:]:
    text = open(name, encoding="utf-8").read()
    for operator in plugins.operator_names():
        if not KIND.search(operator) or NOT.search(operator):
            continue
        which = plugins.get_operator(operator)()
        places = [at for node in ast_nodes(get_ast(text)) for at in which.mutation_positions(node)]
        for n, (start, end) in enumerate(places):
            new = mutate_code(text, which, n)
            if new is not None and new != text:
                print(json.dumps([name, start[0], operator.removeprefix("core/"), new]))
"""


def sources_of_python(room: dict[str, Any], most: int | None, rng: random.Random) -> Tally:
    """Change an expression of Python by an operator of Cosmic Ray, and run the room's tests."""
    venv = OUT / "cosmic-ray"
    if not (venv / "bin/cosmic-ray").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", str(COSMIC_RAY)], check=True)
    tree = OUT / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "python", tree / "python")
    for name in ("data", "firmware", "examples", "docs", "fuzz", "pyproject.toml", "conftest.py"):
        (tree / name).symlink_to(ROOT / name)
    listing = [str(venv / "bin/python"), "-c", PYTHON_CHANGES, *(str(tree / name) for name in room["files"])]
    found = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.splitlines()
    environment = {**os.environ, "PYTHONPATH": str(tree / "python/src"), "SUNSEAL_HOME": str(tree)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "2", *room["tests"]]

    def noticed() -> bool:
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False, timeout=900)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    if noticed():
        raise SystemExit(f"mutants: the tests of {room['name']} do not pass as they are")
    tally = Tally()
    for row in drawn(rng, found, most):
        name, line, operator, new = json.loads(row)
        file = Path(name)
        text = file.read_text("utf-8")
        file.write_text(new, "utf-8")
        old = text.splitlines()[line - 1].strip()
        now = new.splitlines()[line - 1].strip() if line <= len(new.splitlines()) else ""
        tally.add(f"{file.relative_to(tree)}:{line}: {operator}: `{old}` as `{now}`", noticed())
        file.write_text(text, "utf-8")
    return tally


def sources_of_rust(room: dict[str, Any], most: int | None, rng: random.Random) -> Tally:
    """Have cargo-mutants change a crate's files and run its tests."""
    folder = OUT / "cargo"
    if not (folder / "bin/cargo-mutants").exists():
        install = ["cargo", "install", "cargo-mutants", "--locked", "--version", CARGO_MUTANTS, "--root", str(folder)]
        subprocess.run(install, check=True)
    # A copy, which may be changed in place: what was compiled for one mutant serves the next.
    tree = OUT / "rust"
    left_out = shutil.ignore_patterns("target", "out", ".venv", ".git", "build", "__pycache__")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=left_out)
    (tree / "firmware/build").symlink_to(ROOT / "firmware/build")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(OUT / "target")}
    files = [word for name in room["files"] for word in ("--file", name)]
    base = [str(folder / "bin/cargo-mutants"), "mutants", "--package", room["package"], *files, "--colors", "never"]
    listed = subprocess.run([*base, "--list", "--json"], cwd=tree, check=True, capture_output=True, text=True)
    shards = 1 if most is None else max(1, round(len(json.loads(listed.stdout)) / most))
    out = OUT / room["name"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = [*base, "--shard", f"{rng.randrange(shards)}/{shards}", "--sharding", "round-robin", "--in-place"]
    command += ["--timeout", "600", "--output", str(out), "--cargo-arg=--release", "--cargo-arg=--locked"]
    subprocess.run([*command, "--", *room["tests"]], cwd=tree, env=environment, check=False)
    tally = Tally()
    for outcome in json.loads((out / "mutants.out/outcomes.json").read_text("utf-8"))["outcomes"]:
        if outcome["scenario"] != "Baseline" and outcome["summary"] != "Unviable":
            name = outcome["scenario"]["Mutant"]["name"]
            tally.add(name, outcome["summary"] in ("CaughtMutant", "Timeout"))
    return tally


KINDS = {"instructions": instructions, "c": sources_of_c, "python": sources_of_python, "rust": sources_of_rust}


def equivalent(room: dict[str, Any], place: str) -> str | None:
    """Give the reason for which no test can tell this one from the right code."""
    known = room.get("equivalent", [])
    return next((e["reason"] for e in known if re.search(e["place"], place)), None)


def judged(room: dict[str, Any], tally: Tally) -> tuple[int, list[str]]:
    """Count what was caught among those that differ, and list the gaps."""
    gaps = [place for place in tally.missed if equivalent(room, place) is None]
    return tally.caught + len(gaps), gaps


def run(names: list[str], most: int | None, seed: int) -> None:
    """Measure rooms and keep the figures for the page."""
    kept = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    for name in names:
        room = ROOMS[name]
        print(f"# {name}", flush=True)
        tally = KINDS[room["kind"]](room, most, random.Random(seed))
        kept[name] = {**asdict(tally), "drawn": most is not None}
        differ, _ = judged(room, tally)
        print(f"{name}: {tally.caught} of {differ} that differ were caught; {tally.of - differ} are equivalent")
        MEASURED.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    write_page()


def sample(seed: int) -> int:
    """Try the sample of CI; a room below the goal is a failure that names what was missed."""
    bad = 0
    for name, most in SAMPLE.items():
        room = ROOMS[name]
        tally = KINDS[room["kind"]](room, most, random.Random(seed))
        differ, gaps = judged(room, tally)
        print(f"{name}: {tally.caught} of {differ} mutants caught, goal {GOAL:.0%}")
        if len(gaps) > max(1.0, (1.0 - GOAL) * differ):  # of a dozen, one is within chance
            print("mutants: no test noticed\n  " + "\n  ".join(gaps), file=sys.stderr)
            bad = 1
    return bad


def write_page() -> None:
    """Write what was measured, room by room, with each survivor and why it is one."""
    kept = json.loads(MEASURED.read_text("utf-8"))
    rows, gaps, same = [], [], []
    for name, room in ROOMS.items():
        if name not in kept:
            rows.append(f"| {name} | {', '.join(f'`{f}`' for f in room['files'])} | not measured | | |")
            continue
        how = "drawn" if kept[name].pop("drawn") else "all"
        tally = Tally(**kept[name])
        differ, left = judged(room, tally)
        share = f"{tally.caught / differ:.1%}" if differ else ""
        files = ", ".join(f"`{f}`" for f in room["files"])
        rows.append(f"| {name} | {files} | {tally.of} ({how}) | {tally.of - differ} | {tally.caught} ({share}) |")
        gaps += [f"- {name}: {place}" for place in left]
        same += [f"- {name}: {p}: {equivalent(room, p)}" for p in tally.missed if equivalent(room, p) is not None]
        same += [
            f"- {name}: {p}: no call sees it change a register, or its carry is always the same" for p in tally.same
        ]
    PAGE.write_text(
        "# What the tests notice\n\n"
        "Written by `make mutants` (tests/mutants.py): our own code is changed in one place at a time, and the tests\n"
        f"beside it run. The goal is {GOAL:.0%} of those that differ from the right code. CI tries a sample of the\n"
        "rooms that need no compiler of Rust. Where a room was not tried whole, the mutants were drawn, each as\n"
        "likely; of a hundred drawn, five points more or less are chance.\n\n"
        "| room | code | tried | equivalent | caught |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "## Survivors that differ: gaps of the tests\n\n" + ("\n".join(gaps) or "None was found.") + "\n\n"
        "## Survivors that no test can tell\n\n" + ("\n".join(same) or "None was found.") + "\n",
        "utf-8",
    )


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["run", "sample", "page"])
    parser.add_argument("room", nargs="*", help=", ".join(ROOMS))
    parser.add_argument("--most", type=int, help="mutants of each room, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.room) - ROOMS.keys():
        parser.error(f"no room is named {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    if given.what == "sample":
        return sample(given.seed)
    if given.what == "run":
        run(given.room or list(ROOMS), given.most, given.seed)
    write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
