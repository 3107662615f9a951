#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Judge the seeded leaks and the known-good selects through every compiler that is there: python compilers.py [EVERY].

Each case of python/tests/data/constant_time becomes a binary of each compiler, level and instruction set; with EVERY
only each so-many-th of all is built. A leak that is missed, a select that is not clean and a case that does not
compile are printed and fail, but for what COMPILERS names.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from rich.progress import track

from sunseal.catalog import boards
from sunseal.secure import constant_time_matrix as matrix

DATA = boards.home() / "python" / "tests" / "data" / "constant_time"
CASES = {"leaks": ("findings", 25), "selects": ("clean", 12)}
CLANG = ("13.0.1", "14.0.6", "15.0.6", "16.0.6", "19.1.7")
COMPILERS = {
    # error: ran out of registers during register allocation
    **{("leaks", 10, "avr", f"clang {v}", "-O0"): "undecided" for v in CLANG},
    # The first carry of the sum becomes a branch (BRCS, BRLO) over a MOV: as many cycles, another path.
    **{("selects", 7, "avr", f"clang {v}", "-O3"): "findings" for v in ("16.0.6", "19.1.7")},
}
"""What a compiler does to a case, seen in its output: the verdict is right, the case is as it should be."""


def cpu_s(who: int) -> float:
    """Processor time of this process or of those that it started and that ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Say what is wrong, and how many binaries a minute were judged."""
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    there = [(isa, c) for isa in matrix.SETS for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler)]
    jobs = [
        (name, case, isa, compiler, level)
        for name, (_, count) in CASES.items()
        for case in range(count)
        for isa, compiler in there
        for level in matrix.LEVELS
    ][::every]
    questions = {name: matrix.question_in(DATA / f"{name}.c") for name in CASES}

    def judge(job: tuple[str, int, matrix.Set, matrix.Compiler, str]) -> tuple[str, int, matrix.Cell]:
        name, case, isa, compiler, level = job
        flags = [f"-DCASE={case}"]
        return name, case, matrix.cell(DATA / f"{name}.c", questions[name], isa, compiler, level, flags)

    begun, wrong = time.monotonic(), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, case, cell in track(pool.map(judge, jobs), total=len(jobs), disable=not sys.stderr.isatty()):
            right = COMPILERS.get((name, case, cell.isa, cell.compiler, cell.level), CASES[name][0])
            if cell.verdict.verdict != right:
                wrong += 1
                told = [f"{leak.kind} at {leak.place}: {leak.instruction}" for leak in cell.verdict.findings]
                what = "; ".join(told or cell.verdict.why)
                print(f"{name} {case}, {cell.isa}, {cell.compiler} {cell.level}: {cell.verdict.verdict}: {what}")
    minutes = (time.monotonic() - begun) / 60
    following_s, compiling_s = cpu_s(resource.RUSAGE_SELF), cpu_s(resource.RUSAGE_CHILDREN)
    print(
        f"{len(jobs)} binaries, {wrong} wrong; {len(jobs) / minutes:.0f} a minute, "
        f"{len(jobs) / (following_s + compiling_s):.1f} a second of processor time: "
        f"{compiling_s:.0f} s compiling, {following_s:.0f} s following",
        file=sys.stderr,
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
