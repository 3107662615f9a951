# SPDX-License-Identifier: MIT OR Apache-2.0
"""The table of parts in docs/reference/parts.md, from data/parts: of each, what was read and what recalled.

`docs/catalogue.py write` puts it there, `check` says whether it is what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from facts import DOCS, names, read, table

PAGE = DOCS / "reference" / "parts.md"
BEGIN, END = "<!-- docs/catalogue.py writes from here -->", "<!-- to here -->"
SETS = "data/power"


def marks(told: Any) -> Iterator[str]:
    """Yield the marks of a file's blocks."""
    if isinstance(told, Mapping):
        yield from (key for key in ("recalled", "assumed") if told.get(key) and not isinstance(told[key], Mapping))
    for inner in told.values() if isinstance(told, Mapping) else told if isinstance(told, list) else ():
        yield from marks(inner)


def notes(told: Mapping[str, Any]) -> str:
    """Return what the tables of a file say of their reading."""
    own = [t["note"] for t in told.values() if isinstance(t, Mapping) and "note" in t]
    assumed = [f"Assumed: {t['assumed']}." for t in told.values() if isinstance(t, Mapping) and "assumed" in t]
    return " ".join([*own, *assumed])


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield each part: its kind, whether its figures were read, and what is to be known of that."""
    for name in names("parts"):
        told = read("parts", name)
        kinds = [k for k, v in told.items() if isinstance(v, Mapping) and k not in ("tolerance", "chip")]
        own = set(marks(told))
        for kind in kinds:
            power_set = told[kind].get("power_set") if kind == "radio" else None
            if power_set is not None:
                own |= {f"{mark} ({SETS})" for mark in marks(read("power", power_set))}
        state = ", ".join(sorted(own)) or "read"
        yield f"`{name}`", ", ".join(kinds), told["title"], state, notes(told)


def catalogue() -> str:
    """Write the section of the catalogue, of `data/parts` alone."""
    found = list(rows())
    whole = sum(state == "read" for *_, state, _ in found)
    head = (
        f"{len(found)} parts. Of {whole} every figure was read in the document that the file names; *recalled* has "
        "figures written from memory of it, *assumed* some that no document prints. An answer says what it rests on."
    )
    return "\n".join([head, "", table(("part", "kind", "what", "figures", "what was read"), found)])


def page(text: str) -> str:
    """Return the page with the section as it should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{catalogue()}\n{END}{after}"


def main(mode: str) -> int:
    """Write the section, or say whether it is current."""
    text = PAGE.read_text(encoding="utf-8")
    wanted = page(text)
    if mode == "write":
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if text != wanted:
        print(f"{PAGE} is not what docs/catalogue.py writes; run `docs/catalogue.py write`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "check"))
