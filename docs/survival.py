# SPDX-License-Identifier: MIT OR Apache-2.0
"""Page of what deep sleeps leave of each chip's blocks: docs/reference/survival.md, from data/survival.

`docs/survival.py write` writes the page, `check` says whether it is what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from facts import DOCS, names, read, table

PAGE = DOCS / "reference" / "survival.md"
HEAD = """# What a deep sleep leaves

A block of each kind that a chip has, by the deepest sleeps that its machine has. `docs/survival.py` writes this page of
`data/survival`; `python/tests/test_survival.py` has a program on each chip write each register, sleep, wake, and look.
*Lost* wakes with noise; a number is what a reset leaves. Where a row names no source the mode's speaks. *Recalled* was
written from memory of the document.
"""


def _source(told: dict[str, Any]) -> str:
    return f"{told.get('source', '')}{' (recalled)' if told.get('recalled') else ''}"


def _behind(told: int | str) -> str:
    return told if isinstance(told, str) else f"{told:#x}"


def _rows(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for row in told["row"]:
        where = f"`{row['register']}`" if "register" in row else f"{row['address']:#x}"
        only = f" ({', '.join(row['only'])})" if "only" in row else ""
        left = (_behind(row["behind"][mode["name"]]) for mode in told["mode"])
        yield row["block"] + only, where, f"{row['set']:#x}", *left, _source(row)


def page() -> str:
    """Write the page of survival."""
    parts = [HEAD]
    for name in names("survival"):
        told = read("survival", name)
        parts += [f"## {told['title']}", ""]
        parts += [f"- **{mode['title']}**: {_source(mode)}." for mode in told["mode"]]
        head = ("block", "looked at", "set to", *(mode["title"] for mode in told["mode"]), "source")
        parts += ["", table(head, _rows(told))]
    return "\n".join(parts)


def main(mode: str) -> int:
    """Write the page, or say whether it is current."""
    wanted = page()
    if mode == "write":
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != wanted:
        print(f"{PAGE} is not what docs/survival.py writes; run `docs/survival.py write`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
