#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package's front page: README.md as an index of packages shows it, where no file lies beside it.

    front.py write | check           write packaging/front.md, or say whether it is current

Links and the picture lead to the repository's address, `Source` in [project.urls] of pyproject.toml, at the version's
tag. Where no address is given, a link is its words and the picture is left out.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "packaging" / "front.md"
HEAD = "<!-- made of README.md by packaging/front.py write -->\n"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#", re.I)


def page(readme: str, address: str | None, version: str) -> str:
    """Write the front page: each link absolute or its words alone, in text and not in code."""

    def absolute(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if ELSEWHERE.match(target):
            return match[0]
        if address is None:
            return "" if mark else words
        return f"{mark}[{words}]({address.rstrip('/')}/{'raw' if mark else 'blob'}/v{version}/{target})"

    parts = re.split(r"(^```.*?^```$)", readme, flags=re.M | re.S)
    text = "".join(part if n % 2 else LINK.sub(absolute, part) for n, part in enumerate(parts))
    return HEAD + re.sub(r"\n{3,}", "\n\n", text)


def facts() -> tuple[str | None, str]:
    """Return the repository's address, if it has one, and the version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    return project.get("urls", {}).get("Source"), workspace["package"]["version"]


def current() -> str:
    """Write the front page of this tree."""
    return page((ROOT / "README.md").read_text(encoding="utf-8"), *facts())


def main() -> int:
    """Write the page, or say whether it is current."""
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(current(), encoding="utf-8")
        return 0
    if sys.argv[1:] == ["check"]:
        if PAGE.read_text(encoding="utf-8") == current():
            return 0
        print("packaging/front.md is not made of this README.md: run packaging/front.py write", file=sys.stderr)
        return 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
