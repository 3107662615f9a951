# SPDX-License-Identifier: MIT OR Apache-2.0
"""Page of each chip's blocks and their modes: docs/reference/modes.md, from data/modes, the tests and data/devices.

`docs/modes.py write` writes the page, `check` says whether it is what would be written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from facts import BREAK, DOCS, ROOT, names, read, table

PAGE = DOCS / "reference" / "modes.md"
HEAD = """# Modes of each block

What is right by which judge, what is refused, and what is a gap, chip by chip. `docs/modes.py` writes this page.
What is right are the names of the tests that `data/modes` lists, beside the document that gives their figures; what is
missing of a modelled block, and which blocks are missing, is what `data/devices` says, and a program that touches it is
told.
"""
RUST = re.compile(r"#\[test\]\n(?: *#\[.*\]\n)* *fn (\w+)")
PROGRAM = re.compile(r'^    "(\w+)": Effect\((.*)', re.MULTILINE)


def tests(row: dict[str, Any]) -> list[str]:
    """List the tests that judge a block, as sentences; of programs those that are refused say so."""
    text = (ROOT / row["tests"]).read_text(encoding="utf-8")
    if row["tests"].endswith(".rs"):
        found = RUST.findall(text)
    else:
        found = [f"{name}{' (told)' * how.startswith('refused')}" for name, how in PROGRAM.findall(text)]
    prefix = row.get("prefix", "")
    return [name.removeprefix(prefix).replace("_", " ") for name in found if name.startswith(prefix)]


def _judged(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for row in told["judged"]:
        yield row["block"], BREAK.join(tests(row)), row["judge"], f"`{row['tests']}`"


def page() -> str:
    """Write the page of modes."""
    parts = [HEAD]
    for name in names("modes"):
        device = read("devices", name)
        gaps = ((gap["name"], gap["why"]) for gap in device.get("gap", ()))
        missing = ((part["name"], part["missing"]) for part in device.get("partial", ()))
        parts += [f"## {name.upper()}", ""]
        parts += [table(("block", "right", "judge", "tests"), _judged(read("modes", name)))]
        parts += [table(("modelled, but for", "refused or without effect"), missing)]
        parts += [table(("gap", "why"), gaps)]
    return "\n".join(parts)


def main(mode: str) -> int:
    """Write the page, or say whether it is current."""
    wanted = page()
    if mode == "write":
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != wanted:
        print(f"{PAGE} is not what docs/modes.py writes; run `docs/modes.py write`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
