# SPDX-License-Identifier: MIT OR Apache-2.0
"""Set every published count of a Cortex-M4 beside ours: python tests/cortex_m4.py write|check.

Writes docs/reference/cortex-m4.md from data/published/cortex-m4.toml. The programs of others are no part of this
repository, so ours stand there as they were measured, with the switches that they were measured with: when the
core's defaults or the STM32L476's memory path become others, `check` asks for a new measurement.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data/published/cortex-m4.toml"
PAGE = ROOT / "docs/reference/cortex-m4.md"
TIMING = ROOT / "crates/sunseal-isa/src/thumb/timing.rs"
L476 = ROOT / "data/devices/stm32l476rg.toml"


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def fitted_on(name: str) -> bool:
    """Say on which side of the split a row of pqm4 is: the parity of its name's SHA-256."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0


def switches(path: dict[str, Any]) -> dict[str, Any]:
    """Return the core's defaults, as timing.rs has them, with those of a memory path."""
    default = re.search(r"CORTEX_M4: Self = Self \{(.*?)\n    \};", TIMING.read_text(encoding="utf-8"), re.S)
    assert default is not None
    found = {name: tomllib.loads(f"v = {value}")["v"] for name, value in re.findall(r"(\w+): (\w+),", default[1])}
    return found | path


def stale(data: dict[str, Any]) -> list[str]:
    """Name the switches that were others when ours were measured."""
    now = {"l4": switches(read(L476)["memory_path"]["switches"]), "f4": switches({})}
    return [
        f"ours of path `{path}` were measured with {name} = {then!r}, and it is {now[path].get(name)!r} now"
        for path, all_then in data["measured_with"].items()
        for name, then in all_then.items()
        if now[path].get(name) != then
    ]


def error(row: dict[str, Any]) -> float:
    return 100 * (float(row["ours"]) / float(row["published"]) - 1)


def assembly(row: dict[str, Any]) -> bool:
    return bool(row["name"].split("/")[1].startswith("m4"))


def band(rows: list[dict[str, Any]]) -> str:
    off = [abs(error(row)) for row in rows]
    return f"{len(off)} | {median(off):.2f} % | {max(off):.1f} %" if off else "0 | | "


def summary(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| rows | | how many | median | worst |", "|---|---|--:|--:|--:|"]
    for kind, wanted in (("assembly", True), ("C", False)):
        for side, fitted in (("never fitted on", False), ("fitted on", True)):
            chosen = [r for r in rows if assembly(r) is wanted and fitted_on(r["name"]) is fitted]
            lines.append(f"| {kind} | {side} | {band(chosen)} |")
    return lines


def page(data: dict[str, Any]) -> str:
    rows = sorted(data["pqm4"]["row"], key=lambda row: str(row["name"]))
    lines = [
        "# Published counts of a Cortex-M4 beside ours",
        "",
        "Written by `python tests/cortex_m4.py write` from `data/published/cortex-m4.toml`, which has the documents.",
        "",
        "What the core does is one set of switches for every chip; what flash, cache and bus add is `[memory_path]` of",
        f"the chip's file in data/devices. {data['pqm4']['text']}",
        "",
        "## pqm4",
        "",
        f"Board: {data['pqm4']['board']}. Compiler: {data['pqm4']['compiler']} {data['pqm4']['rule']}",
        "",
        *summary(rows),
        "",
        *(f"- {note}" for note in data["pqm4"]["notes"]),
        "",
        "| row | published | ours | | used to fit |",
        "|---|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row['name']} | {row['published']:,} | {row['ours']:,} | {error(row):+.2f} % "
        f"| {'yes' if fitted_on(row['name']) else 'no'} |"
        for row in rows
    ]
    others = data["other"]
    off = [abs(error(row)) for row in others]
    lines += [
        "",
        "## Other boards",
        "",
        f"Ours with an STM32F407's memory path, the default: median {median(off):.2f} %, worst {max(off):.1f} %.",
        "",
        "| routine | board | compiler | published | ours | | used to fit |",
        "|---|---|---|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row['name']} | {row['board']} | {row['compiler']} | {row['published']:,} | {row['ours']:,} "
        f"| {error(row):+.2f} % | {row['fit']} |"
        for row in others
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    data = read(DATA)
    if sys.argv[1:] not in (["write"], ["check"]):
        print("cortex_m4.py: the one argument is `write` or `check`", file=sys.stderr)
        return 2
    if wrong := stale(data):
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if sys.argv[1] == "write":
        PAGE.write_text(page(data), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page(data):
        print(f"{PAGE} is not what {DATA} gives: run `python tests/cortex_m4.py write`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
