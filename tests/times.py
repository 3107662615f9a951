# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times of the parts of `make test`: `python tests/times.py write` makes docs/reference/test-times.md of the last run.

Stages are in out/test-stages.tsv (the Makefile writes it), tests of Python in pytest's cache (conftest.py). Seconds are
of one machine and one run: the page says where time goes, and no test asserts it.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "test-times.md"
STAGES = ROOT / "out" / "test-stages.tsv"
TOOK = ROOT / ".pytest_cache" / "v" / "sunseal" / "took"
MOST = 20
"""Rows of each table."""
BESIDE = {"check": "beside firmware and library", "test-rust": "beside firmware and library"}


def stages() -> list[tuple[str, int]]:
    """Read the stages of the last run in their order, with their seconds."""
    return [(name, int(s)) for name, s in (line.split("\t") for line in STAGES.read_text().splitlines())]


def table(head: tuple[str, str], rows: list[tuple[str, str]]) -> list[str]:
    """Write rows as a table of Markdown."""
    return [f"| {head[0]} | {head[1]} |", "|---|--:|", *(f"| {name} | {told} |" for name, told in rows), ""]


def page(told: list[tuple[str, int]], took: dict[str, float]) -> str:
    """Write the page."""
    files: dict[str, float] = defaultdict(float)
    for test, seconds in took.items():
        files[test.partition("::")[0]] += seconds
    dear = sorted(took.items(), key=lambda t: -t[1])[:MOST]
    heavy = sorted(files.items(), key=lambda t: -t[1])[:MOST]
    whole = sum(took.values())
    cores = len(os.sched_getaffinity(0))
    return "\n".join(
        [
            "# What `make test` takes",
            "",
            f"One run on {cores} cores, {platform.system()} {platform.machine()}, everything built before; written by "
            "`python tests/times.py write`. Another machine has other seconds; the shares stay.",
            "",
            "## Stages",
            "",
            *table(
                ("stage", "seconds"),
                [(f"`{name}`" + (f", {BESIDE[name]}" if name in BESIDE else ""), f"{s}") for name, s in told],
            ),
            f"## Python: {len(took):,} tests, {whole:,.0f} s on one core",
            "",
            *table(("file", "seconds"), [(f"`{name}`", f"{s:.0f}") for name, s in heavy]),
            *table(("test", "seconds"), [(f"`{name}`", f"{s:.1f}") for name, s in dear]),
        ]
    )


def main() -> int:
    """Write the page of the last run."""
    if sys.argv[1:] != ["write"]:
        print("usage: python tests/times.py write", file=sys.stderr)
        return 2
    missing = [path for path in (STAGES, TOOK) if not path.is_file()]
    if missing:
        print(f"`{missing[0].relative_to(ROOT)}` is not there: run `make test` first", file=sys.stderr)
        return 2
    PAGE.write_text(page(stages(), json.loads(TOOK.read_text())), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
