#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write bench programs from the descriptions of the library's algorithms (firmware/*/algorithms).

    python3 bench/generate.py DATA c FOLDER             a file in C for each description that says what to run
    python3 bench/generate.py DATA list BOARD BUILD FILE   for the Makefile: the workloads that a board has, by file

firmware/Makefile runs it, with python/src/sunseal/catalog on PYTHONPATH, before there is a virtual environment.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import algorithms
from algorithms import AlgorithmError, Bench, Description, Layout, Library, Part, Workload

FIRMWARE = Path(__file__).resolve().parents[1]
COPROCESSOR = "bench/coprocessor.c"


class Names:
    """What the names of a workload's description are in its program."""

    def __init__(self, work: Workload, rest: str = "") -> None:
        """Lay out what goes in and comes out; rest is the variable that has the length of what ends with the input."""
        self.work = work
        self.named = rest
        self.least = sum(part.size for part in work.input if not part.open)
        self.parts = {**_placed(work.output, "out", self.rest()), **_placed(work.input, "in", self.rest())}

    def rest(self) -> str:
        """The length of the part that has no other end than the input's."""
        return self.named or (f"in_len - {self.least}U" if self.least else "in_len")

    def length(self, name: str) -> str:
        """The length of a part."""
        part = self.parts[name][1]
        return self.rest() if part.open else str(part.size)

    def argument(self, name: str, function: str) -> str:
        """An argument in C."""
        of = name.removesuffix("_len")
        if name in self.work.given:
            return str(self.work.given[name])
        if name in self.parts:
            return self.parts[name][0]
        if name == "len":
            return self.rest()
        if of in self.parts:
            return self.length(of)
        if of == "hash":
            return "digest" if name == of else "sizeof digest"
        if name == "cipher" and self.work.cipher:
            return f"&sunseal_{self.work.cipher}"
        if name == "schedule":
            return name
        raise AlgorithmError(
            f"{self.work.file}.toml, workload `{self.work.name}`: argument `{name}` of `{function}` is no part of its "
            "input or output; say in `given` what it is"
        )

    def pointers(self, parts: Sequence[Part], kind: str, base: str) -> Iterator[str]:
        """Declarations of pointers to parts, one behind the other, that stand for them from then on."""
        whole = self.work.input if base == "in" else self.work.output
        begin = 0
        for part in parts:
            at = sum(p.size for p in whole[: whole.index(part)])
            if at:
                yield f"    {kind} *{part.name} = {base} + {at - begin};"
                self.parts[part.name] = (part.name, part)
                base, begin = part.name, at

    def code(self, text: str) -> str:
        """Declarations, parts in place of their names."""
        return re.sub(r"\b\w+\b", self._word, text.strip())

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        if word in self.parts and word not in ("in", "out"):
            return self.parts[word][0]
        of = word.removesuffix("_len")
        return self.length(of) if of != word and of in self.parts and of != "in" else word


def _placed(layout: Layout, base: str, rest: str) -> dict[str, tuple[str, Part]]:
    found, at, open_before = {}, 0, ""
    for part in layout:
        offset = " + ".join(filter(None, (open_before, str(at) if at else "")))
        found[part.name] = (f"{base} + {offset}" if offset else base, part)
        at += 0 if part.open else part.size
        open_before = rest if part.open else open_before
    return found


def program(work: Workload, bench: Bench, made: Library) -> Iterator[str]:
    """Write a workload, and its set-up where it has one."""
    names = Names(work)
    most = "INPUT_BYTES" if any(part.open for part in work.input) else str(names.least)
    checked = f"    BENCH_LENGTH({names.least}, {most});"
    message = work.input[-1].name if work.input else ""

    def hashing(into: str) -> str:
        function = bench.digest.replace("{hash}", work.hash)
        return f"    {function}({into}, {message}, in_len - (size_t)({message} - in));"

    def calls(functions: tuple[str, ...]) -> Iterator[str]:
        for function in functions:
            arguments = (names.argument(a, function) for a in made.functions[function].arguments)
            yield f"sunseal_{function}({', '.join(arguments)})"

    def body(functions: tuple[str, ...]) -> Iterator[str]:
        first, *others = calls(functions)
        if work.unchecked:
            yield from (f"    {call};" for call in (first, *others))
            yield "    return SUNSEAL_OK;"
        elif not others:
            yield f"    return (int16_t){first};"
        else:
            yield f"    int status = {first};"
            for call in others:
                yield from ("    if (status == SUNSEAL_OK)", f"        status = {call};")
            yield "    return (int16_t)status;"

    if work.before:
        yield f"SETUP({work.symbol}) {{"
        if work.digest_into:
            yield from names.pointers(work.input, "const uint8_t", "in")
        yield checked
        if work.digest_into:
            yield hashing(work.digest_into)
        yield from body(work.before)
        yield "}"
    names = Names(work)
    # Parts of the output that several of them take get a name.
    shared = [part for part in work.output if sum(part.name in made.functions[f].arguments for f in work.run) > 1]
    digest = "hash" not in work.given and any("hash" in made.functions[f].arguments for f in work.run)
    yield f"WORKLOAD({work.symbol}) {{"
    if work.code:
        yield from (f"    {line}" for line in names.code(work.code).splitlines())
    if digest:
        yield from names.pointers(work.input, "const uint8_t", "in")
    yield from names.pointers(shared, "uint8_t", "out")
    if any(part.open for part in work.output[:-1]):
        yield f"    const size_t len = {names.rest()};"
        names = Names(work, rest="len")
    if digest:
        yield f"    uint8_t digest[SUNSEAL_{work.hash.upper()}_BYTES];"
    if not work.before:
        yield checked
    if digest:
        yield hashing("digest")
    yield from (f"    {line}" for line in work.first)
    yield from body(work.run)
    yield "}"


def _names(told: Description) -> set[str]:
    return {thing.name for thing in (*told.functions, *told.implementations)}


def source(told: Description, made: Library) -> str:
    """Write the file of a description."""
    works = [work for work in told.workloads if work.run]
    used = {name for work in works for name in (*work.run, *work.before, work.hash)}
    used |= {work.cipher for work in works}
    headers = {h for d in made.files if d is told or used & _names(d) for h in d.headers}
    assert told.bench is not None
    lines = [
        f"/* Made by bench/generate.py from {told.path.relative_to(FIRMWARE)}. */",
        "#include <stddef.h>",
        '#include "bench.h"',
        *(f'#include "sunseal/{header}"' for header in sorted(headers)),
        f"#define INPUT_BYTES {told.bench.input_bytes}",
        f"BENCH_BUFFERS(INPUT_BYTES, {told.bench.output_bytes});",
        told.bench.code.strip(),
        *(line for work in works for line in program(work, told.bench, made)),
    ]
    return "\n".join(lines) + "\n"


def files_of(made: Library, has: dict[str, int], generated: str) -> dict[str, list[Workload]]:
    """The workloads that a board has, by the file that they are in."""
    found: dict[str, list[Workload]] = {}
    for work in made.workloads.values():
        if algorithms.on(work, has):
            file = f"bench/{work.by_hand}.c" if work.by_hand else f"{generated}/{work.file}.c"
            found.setdefault(COPROCESSOR if algorithms.COPROCESSOR in has else file, []).append(work)
    return found


def makefile(made: Library, has: dict[str, int], board: str, build: str) -> str:
    """Write what the Makefile includes."""
    generated = f"{build}/bench"
    files = files_of(made, has, generated)
    spending = [work for works in files.values() for work in works if work.operation == "spend"]
    lines = [f"# Made by bench/generate.py for {board}."]
    for file, works in files.items():
        names = [work.program for work in works if work not in spending]
        lines += [f"BENCH_FILES += {file}", f"WORKLOADS_{file} := {' '.join(names)}"]
        lines.append(f"LINKED_{file} := {works[0].group if file.startswith(generated) else Path(file).stem}")
    every = [work for works in files.values() for work in works if work not in spending]
    return "\n".join([
        *lines,
        f"SETUPS := {' '.join(w.program for w in every if w.before or w.set_up)}",
        f"DUTIES := {' '.join(w.program for w in every if w.duty)}",
        f"DUTY_SPENDS := {' '.join(w.program.removesuffix('-spend') for w in spending)}",
        f"BENCH_GENERATED := {' '.join(f'{generated}/{d.path.stem}.c' for d in made.files if d.bench)}",
        "",
    ])  # fmt: skip


def written(path: Path, text: str) -> None:
    """Write a file whole or not at all, and only if it is another one: what is made of it stays as it is."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(f".{os.getpid()}")
        begun.write_text(text, encoding="utf-8")
        begun.replace(path)


def main(args: list[str]) -> int:
    """Write, or say in a sentence what is wrong."""
    wanted = {"c": 3, "list": 5}
    if len(args) < 2 or wanted.get(args[1]) != len(args):
        print(__doc__, file=sys.stderr)
        return 2
    data = Path(args[0])
    try:
        made = algorithms.library(FIRMWARE, data)
        if args[1] == "c":
            for told in made.files:
                if told.bench is not None:
                    written(Path(args[2]) / f"{told.path.stem}.c", source(told, made))
        else:
            has = algorithms.board_has(FIRMWARE, data, args[2])
            written(Path(args[4]), makefile(made, has, args[2], args[3]))
            os.utime(args[4])
    except AlgorithmError as e:
        print(f"generate.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
