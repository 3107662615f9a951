#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Change our own code, one place at a time, and count what the tests beside it notice: `make mutants`.

    mutants.py run [ROOM...] [--most N] [--minutes M] [--seed S]
                                                     try so many of each room, drawn by the seed; all without --most
    mutants.py sample                                what CI runs: rooms that need no compiler of Rust, two minutes
    mutants.py page                                  write docs/reference/mutants.md from what was measured

Rooms and their judges stand in mutants.toml. Rust is changed as cargo-mutants would, all
changes in one build behind a switch; Python by Cosmic Ray's operators, C by
the few below, and compiled routines (C and assembly alike) in the program memory of their simulated part. What
survives is either the gap of a test or equivalent; equivalent ones stand in mutants.toml with the reason.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.machinery import SourceFileLoader
from itertools import accumulate, pairwise
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
    """Fate of a room's mutants; `missed` holds the places of those that nothing noticed."""

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


NOPS = {"msp430": b"\x03\x43", "avr": b"\x00\x00", "arm": b"\x00\xbf"}
CARRY = {"msp430": ("SR", 1), "avr": ("SREG", 1), "arm": ("xPSR", 1 << 29)}
"""Register and bit in which an instruction set keeps its carry."""
WRITES_MEMORY = {
    "msp430": lambda first: first & 0xF080 >= 0x4080 or first & 0xFF80 == 0x1200,
    "avr": lambda first: first & 0xD200 == 0x8200 or first & 0xFE00 == 0x9200,
    "arm": lambda first: True,
}
"""Tests whether an instruction may write memory, by its first word."""


def changes_nothing(m: Any, kind: str, at: int, after: int, call: Any, tuples: Any) -> bool:
    """Tell whether the right instruction wrote no memory, and left registers and carry as they were in all calls."""
    if WRITES_MEMORY[kind](int.from_bytes(m.read(at, 2), "little")):
        return False
    kept: list[Any] = []
    differs: list[bool] = []
    flags, carry = CARRY[kind]

    def state() -> Any:
        held = dict(m.registers)
        held["carry"] = held.pop(flags) & carry
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


def instructions(room: dict[str, Any], most: int | None, rng: random.Random, until_s: float) -> Tally:
    """Drop an instruction that a field's routine executes, or have it forget its carry."""
    sys.path.insert(0, str(ROOT / "firmware" / "tests"))
    import test_carries as carries
    from test_fields import KEPT, OPERATIONS, family, is_in, machine

    from sunseal import EngineError, SunsealError

    operands = cache(carries.operands)
    tally = Tally()
    build = ROOT / "firmware" / "build"
    libraries = [p for board in room["boards"] for p in sorted((build / board).glob("library-ecc*.elf"))]
    if not libraries:
        raise SystemExit("mutants: no library is built; run `make all-boards`")
    for library in libraries:
        here = [operation for operation in OPERATIONS if is_in(library, operation.function)]
        m = machine(library)
        kind = family(m)
        tried: list[tuple[Any, int, int, bytes, str]] = []
        for operation in here:
            for at, after in pairwise(carries.executed(m, operation)):
                size, code = after - at, m.read(at, 4)
                if size in (2, 4, 6) and code[:2] != NOPS[kind]:
                    tried.append((operation, at, after, NOPS[kind] * (size // 2), "dropped"))
                if (other := carries.without_carry(m.device, code)) is not None:
                    tried.append((operation, at, after, other, "forgets its carry"))
        share = None if most is None else -(-most // len(libraries))
        for operation, at, after, other, what in drawn(rng, tried, share):
            call, tuples = carries.on_target(m, operation), operands(operation)
            before, place = m.snapshot(), m.describe(at)
            m.write(at, other)
            try:
                for register in KEPT[kind]:
                    m.registers[register] = 0x5A
                caught = carries.wrong(operation, call, tuples) is not None
                caught |= any(m.registers[register] != 0x5A for register in KEPT[kind])
            except (EngineError, SunsealError):
                caught = True
            m.restore(before)
            name = f"{library.relative_to(build)} {operation.function}: {place} {what}"
            if caught:
                same = False
            elif what == "dropped":
                same = changes_nothing(m, kind, at, after, call, tuples)
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
"""Changes of C: relations, logic, arithmetic, constants, and statements that are left out."""


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


def sources_of_c(room: dict[str, Any], most: int | None, rng: random.Random, until_s: float) -> Tally:
    """Change a line of C, build the host's tests with it and run them."""
    tree = OUT / "firmware"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "firmware", tree, ignore=shutil.ignore_patterns("build"))
    for made in ("tables", "chips"):
        shutil.copytree(ROOT / "firmware" / "build" / made, tree / "build" / made)
    program = tree / "build" / room["build"]
    # Without the sanitizers, and each source apart: only one changes.
    dry = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "-C", str(tree), "EXTRA=", f"DATA={ROOT / 'data'}",
         f"SUNSEAL={ROOT / 'python/src/sunseal'}", str(program.relative_to(tree))],
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
import json, random, re, sys
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
KIND = re.compile(r"Add_Sub|Sub_Add|Mul_Div|Div_Mul|Comparison|AddNot|AndWith|OrWith|True|False|Number|Break|Unary")
NOT = re.compile(r"_Is|Is_|IsNot|UAdd|Invert|USub_Not")
most, seed, *names = sys.argv[1:]
found, texts = [], {}
for name in names:
    texts[name] = open(name, encoding="utf-8").read()
    nodes = list(ast_nodes(get_ast(texts[name])))
    for operator in plugins.operator_names():
        if KIND.search(operator) and not NOT.search(operator):
            which = plugins.get_operator(operator)()
            places = [at for node in nodes for at in which.mutation_positions(node)]
            found += [(name, operator, n, start[0]) for n, (start, _) in enumerate(places)]
if int(most) and int(most) < len(found):
    found = random.Random(int(seed)).sample(found, int(most))
for name, operator, n, line in found:
    new = mutate_code(texts[name], plugins.get_operator(operator)(), n)
    if new is not None and new != texts[name]:
        print(json.dumps([name, line, operator.removeprefix("core/"), new]))
"""


def sources_of_python(room: dict[str, Any], most: int | None, rng: random.Random, until_s: float) -> Tally:
    """Change an expression of Python by an operator of Cosmic Ray, and run the room's tests."""
    venv = OUT / "cosmic-ray"
    if not (venv / "bin/cosmic-ray").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "--no-deps", "-r", str(COSMIC_RAY)], check=True)
    tree = OUT / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "python", tree / "python")
    for name in ("data", "firmware", "examples", "docs", "fuzz", "pyproject.toml", "conftest.py"):
        (tree / name).symlink_to(ROOT / name)
    draw = [str(most or 0), str(rng.randrange(1 << 30))]
    listing = [str(venv / "bin/python"), "-c", PYTHON_CHANGES, *draw, *(str(tree / name) for name in room["files"])]
    found = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.splitlines()
    for module in room["preload"]:
        importlib.import_module(module)

    def begun(file: Path, new: str) -> int:
        """Run the tests on one changed module in a process of its own, which has the libraries already."""
        if child := os.fork():
            return child
        status = 1
        with suppress(BaseException):
            signal.alarm(1200)
            changed_module(file, new)
            os.chdir(tree)
            os.environ["SUNSEAL_HOME"] = str(tree)
            sys.path.insert(0, str(tree / "python/src"))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            status = int(importlib.import_module("pytest").main(["-q", "-x", "-p", "no:cacheprovider", *room["tests"]]))
        os._exit(status)

    some = tree / room["files"][0]
    if os.waitpid(begun(some, some.read_text("utf-8")), 0)[1] != 0:
        raise SystemExit(f"mutants: the tests of {room['name']} do not pass as they are")
    tally = Tally()
    running: dict[int, str] = {}

    def ended() -> None:
        child, status = os.wait()
        tally.add(running.pop(child), status != 0)

    for row in found:
        if time.monotonic() > until_s:
            break
        name, line, operator, new = json.loads(row)
        file = Path(name)
        old = file.read_text("utf-8").splitlines()[line - 1].strip()
        now = new.splitlines()[line - 1].strip() if line <= len(new.splitlines()) else ""
        place = f"{file.relative_to(tree)}:{line}: {operator}: `{old}` as `{now}`"
        running[begun(file, new)] = place
        while len(running) >= 2 * (os.cpu_count() or 1):
            ended()
    while running:
        ended()
    return tally


def changed_module(file: Path, new: str) -> None:
    """Have the next import of a file read another text, and no code that was compiled before."""
    read = SourceFileLoader.get_data

    def data(self: SourceFileLoader, path: str) -> bytes:
        if path == str(file):
            return new.encode()
        if path.endswith(".pyc") and Path(path).name.startswith(f"{file.stem}."):
            raise FileNotFoundError(path)
        return read(self, path)

    sys.dont_write_bytecode = True
    SourceFileLoader.get_data = data  # type: ignore[method-assign]


SWITCH = """
fn mutant() -> u32 {
    static CHOSEN: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("MUTANT").map_or(0, |chosen| chosen.parse().unwrap()));
    *CHOSEN
}
"""
"""Function that a changed file asks which of its mutants is to run; 0 is the right code."""


def switched(text: str, mutants: dict[int, dict[str, Any]]) -> tuple[str, dict[int, int]]:
    """Give each function its changed bodies beside its own, behind a switch; tell the mutant of each line written."""
    begins = list(accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0))

    def span_of(told: dict[str, Any]) -> tuple[int, int]:
        first, last = ((begins[told[end]["line"] - 1] + told[end]["column"] - 1) for end in ("start", "end"))
        return first, last

    bodies: dict[tuple[int, int], list[int]] = {}
    for number, mutant in mutants.items():
        first, last = span_of(mutant["function"]["span"])
        bodies.setdefault((text.index("{", first) + 1, last - 1), []).append(number)
    # A function within a function is changed with the outer one.
    for inner in sorted(bodies, key=lambda body: body[1] - body[0]):
        outer = next((body for body in bodies if body[0] < inner[0] and inner[1] < body[1]), None)
        if outer is not None:
            bodies[outer] += bodies.pop(inner)
    new, written, done = "", {}, 0
    for (first, last), numbers in sorted(bodies.items()):
        new += text[done:first]
        for number in numbers:
            here, there = span_of(mutants[number]["span"])
            begin = new.count("\n") + 1
            body = text[first:here] + mutants[number]["replacement"] + text[there:last]
            new += f"\nif mutant() == {number} {{\n{body}\n}} else "
            written |= dict.fromkeys(range(begin + 1, new.count("\n") + 2), number)
        new += "{\n" + text[first:last] + "\n}\n"
        done = last
    # Inlined into every handler of a core, a hundred bodies are a hundred times as long to compile.
    new = (new + text[done:] + SWITCH).replace("#[inline(always)]", "#[inline(never)]")
    return new, written


def built(tree: Path, room: dict[str, Any], mutants: dict[int, dict[str, Any]]) -> list[list[str]]:
    """Compile a room's tests once with all mutants in them, but those that do not compile, which are taken out."""
    command = ["cargo", "test", "--no-run", "--locked", "--profile", "mutants", "--message-format", "json"]
    command += ["--package", room["package"], *room["tests"]]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(OUT / "target")}
    while True:
        written = {}
        for name in room["files"]:
            here = {number: mutant for number, mutant in mutants.items() if mutant["file"] == name}
            new, written[name] = switched((ROOT / name).read_text("utf-8"), here)
            (tree / name).write_text(new, "utf-8")
        done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode == 0:
            return [[told["executable"]] for told in told if told.get("executable") and told["profile"]["test"]]
        errors = [t["message"] for t in told if t["reason"] == "compiler-message" and t["message"]["level"] == "error"]
        spans = [span for error in errors for span in error["spans"]]
        bad = {
            written.get(s["file_name"], {}).get(line)
            for s in spans
            for line in range(s["line_start"], s["line_end"] + 1)
        }
        if not bad & mutants.keys():
            raise SystemExit(f"mutants: {room['name']} does not compile:\n" + "".join(e["rendered"] for e in errors))
        for number in bad & mutants.keys():
            del mutants[number]


DRAWN_CASES = {
    "PROPTEST_RNG_SEED": "1",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
}
"""Each mutant meets the same cases of a property, none found by another, and the first that fails is enough."""


def fails(command: list[str], folder: Path, mutant: int, timeout_s: float) -> bool:
    """Run a test binary with one mutant in it, up to the first test that fails or for so long."""
    environment = {**os.environ, "MUTANT": str(mutant), **DRAWN_CASES}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    ) as running:  # fmt: skip
        timer = threading.Timer(timeout_s, os.killpg, (running.pid, signal.SIGKILL))
        timer.start()
        assert running.stdout is not None
        failed = any(line.rstrip().endswith("... FAILED") for line in running.stdout)
        if failed:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        timer.cancel()
    return failed or running.returncode != 0


TOGETHER = 120
"""So many mutants are compiled into one program: with all 1,850 of the supply the compiler took 23 GB."""


def sources_of_rust(room: dict[str, Any], most: int | None, rng: random.Random, until_s: float) -> Tally:
    """Change a crate's functions as cargo-mutants would; many changes are compiled at once, and tried one by one."""
    folder = OUT / "cargo"
    if not (folder / "bin/cargo-mutants").exists():
        install = ["cargo", "install", "cargo-mutants", "--locked", "--version", CARGO_MUTANTS, "--root", str(folder)]
        subprocess.run(install, check=True)
    tree = OUT / f"rust-{room['name']}"
    left_out = shutil.ignore_patterns("target", "out", ".venv", ".git", "build", "__pycache__")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=left_out)
    (tree / "firmware/build").symlink_to(ROOT / "firmware/build")
    files = [word for name in room["files"] for word in ("--file", name)]
    listing = [str(folder / "bin/cargo-mutants"), "mutants", "--package", room["package"], *files, "--list", "--json"]
    listed = json.loads(subprocess.run(listing, cwd=tree, check=True, capture_output=True, text=True).stdout)
    # What is evaluated while it is compiled cannot ask a switch.
    listed = [m for m in listed if m["function"] and not re.search(r"\bconst fn\b", head_of(tree, m))]
    numbered = list(enumerate(drawn(rng, listed, most), 1))
    rng.shuffle(numbered)
    tally = Tally()
    for first in range(0, len(numbered), TOGETHER):
        if time.monotonic() > until_s:
            break
        try_together(tree, room, dict(sorted(numbered[first : first + TOGETHER])), tally, until_s)
    return tally


def try_together(tree: Path, room: dict[str, Any], mutants: dict[int, Any], tally: Tally, until_s: float) -> None:
    """Compile a room's tests with these mutants in them, and try one after the other."""
    commands = built(tree, room, mutants)
    # Quick tests come first: most mutants go no further.
    commands = [[*command, *room["first"]] for command in commands if "first" in room] + commands
    crate = tree / "crates" / room["package"]
    begun_s = time.monotonic()
    if any(fails(command, crate, 0, 1800.0) for command in commands):
        raise SystemExit(f"mutants: the tests of {room['name']} do not pass as they are")
    timeout_s = 30.0 + 5.0 * (time.monotonic() - begun_s)
    for number, mutant in mutants.items():
        if time.monotonic() > until_s:
            break
        tally.add(mutant["name"], any(fails(command, crate, number, timeout_s) for command in commands))


def head_of(tree: Path, mutant: dict[str, Any]) -> str:
    """Return the line on which a mutant's function begins."""
    lines = (tree / mutant["file"]).read_text("utf-8").splitlines()
    return lines[mutant["function"]["span"]["start"]["line"] - 1]


KINDS = {"instructions": instructions, "c": sources_of_c, "python": sources_of_python, "rust": sources_of_rust}


def equivalent(room: dict[str, Any], place: str) -> str | None:
    """Give the reason for which no test can tell this one from the right code."""
    known = room.get("equivalent", [])
    return next((e["reason"] for e in known if re.search(e["place"], place)), None)


def judged(room: dict[str, Any], tally: Tally) -> tuple[int, list[str]]:
    """Count what was caught among those that differ, and list the gaps."""
    gaps = [place for place in tally.missed if equivalent(room, place) is None]
    return tally.caught + len(gaps), gaps


def run(names: list[str], most: int | None, seed: int, minutes: float) -> None:
    """Measure rooms and keep the figures for the page."""
    for name in names:
        room = ROOMS[name]
        print(f"# {name}", flush=True)
        tally = KINDS[room["kind"]](room, most, random.Random(seed), time.monotonic() + 60.0 * minutes)
        kept = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
        day = time.strftime("%Y-%m-%d", time.gmtime())
        drew = most is not None or minutes < math.inf
        kept[name] = {**asdict(tally), "drawn": drew, "day": day, "files": room["files"]}
        differ, _ = judged(room, tally)
        print(f"{name}: {tally.caught} of {differ} that differ were caught; {tally.of - differ} are equivalent")
        MEASURED.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    write_page()


def sample(seed: int) -> int:
    """Try the sample of CI; a room below the goal is a failure that names what was missed."""
    bad = 0
    for name, most in SAMPLE.items():
        room = ROOMS[name]
        tally = KINDS[room["kind"]](room, most, random.Random(seed), math.inf)
        differ, gaps = judged(room, tally)
        print(f"{name}: {tally.caught} of {differ} mutants caught, goal {GOAL:.0%}")
        if len(gaps) > max(1.0, (1.0 - GOAL) * differ):  # of a dozen, one is within chance
            print("mutants: no test noticed\n  " + "\n  ".join(gaps), file=sys.stderr)
            bad = 1
    return bad


def stands(place: str) -> bool:
    """Tell whether the code of a survivor is still there: the line of C or Python, the function of Rust."""
    found = re.match(r"([^:]+\.(?:c|py|rs)):[\d:]+ (?:.*?`(.*?)` as `.*| ?.* in (?:.*::)?(\w+))$", place)
    if found is None:
        return True  # a place in a program that is built
    file, line, function = found.groups()
    text = (ROOT / file).read_text("utf-8") if (ROOT / file).exists() else ""
    return line in text if line is not None else f"fn {function}" in text


def shown(place: str) -> str:
    """Leave out the line of a place, which moves; tests/mutants.json has it as it was tried."""
    return re.sub(r"(\.(?:c|py|rs)):[\d:]+", r"\1:", place)


def write_page() -> None:
    """Write what was measured, room by room, with each survivor and why it is one."""
    kept = json.loads(MEASURED.read_text("utf-8"))
    rows, gaps, same, gone = [], [], [], 0
    for name, room in ROOMS.items():
        if name not in kept:
            rows.append(f"| {name} | {', '.join(f'`{f}`' for f in room['files'])} | | not measured | | |")
            continue
        how = "drawn" if kept[name].pop("drawn") else "all"
        files, day = ", ".join(f"`{f}`" for f in kept[name].pop("files")), kept[name].pop("day")
        tally = Tally(**kept[name])
        differ, left = judged(room, tally)
        share = f"{tally.caught / differ:.1%}" if differ else ""
        caught = f"{tally.caught} ({share})"
        rows.append(f"| {name} | {files} | {day} | {tally.of} ({how}) | {tally.of - differ} | {caught} |")
        gone += sum(not stands(place) for place in tally.missed)
        gaps += [f"- {name}: {shown(place)}" for place in left if stands(place)]
        same += [
            f"- {name}: {shown(p)}: {why}"
            for p in tally.missed
            if (why := equivalent(room, p)) is not None and stands(p)
        ]
        same += [
            f"- {name}: {p}: no call sees it change a register, or its carry is always the same" for p in tally.same
        ]
    PAGE.write_text(
        "# What the tests notice\n\n"
        "Written by `make mutants` (tests/mutants.py): our own code is changed in one place at a time, and the tests\n"
        f"beside it run. The goal is {GOAL:.0%} of those that differ from the right code. CI tries a sample of the\n"
        "rooms that need no compiler of Rust. Where a room was not tried whole, the mutants were drawn, each as\n"
        "likely; of a hundred drawn, five points more or less are chance. A room's figures are of its code on the\n"
        f"day that is named; {gone} survivors whose line or function is no longer there are counted in them,\n"
        "not listed.\n\n"
        "| room | code | on | tried | equivalent | caught |\n|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
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
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no mutant of Rust or Python after that")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.room) - ROOMS.keys():
        parser.error(f"no room is named {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    if given.what == "sample":
        return sample(given.seed)
    if given.what == "run":
        run(given.room or list(ROOMS), given.most, given.seed, given.minutes)
    write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
