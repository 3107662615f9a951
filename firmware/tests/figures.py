# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the scripts beside this file that write figures into a page of docs/reference share."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def settle(page: Path, lines: Iterable[str], script: str) -> int:
    """Write the lines between the page's marks, or say whether they stand there: the command line's one argument."""
    name = Path(script).name
    if sys.argv[1:] not in (["write"], ["check"]):
        print(f"usage: {name} write|check", file=sys.stderr)
        return 2
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    new = head + BEGIN + "\n".join(lines) + "\n" + END + tail
    if sys.argv[1] == "write":
        page.write_text(new, encoding="utf-8")
    elif new != text:
        print(f"{page} is not current: python firmware/tests/{name} write", file=sys.stderr)
        return 1
    return 0
