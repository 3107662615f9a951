#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Changelog of fragments: `changelog/<kind>-<slug>.md`, a file a change, and sections of CHANGELOG.md.

changelog.py check               say what is wrong with a fragment or with CHANGELOG.md; exit 1 if anything is
changelog.py show VERSION        print the section that the fragments make
changelog.py gather VERSION      put it at the head of CHANGELOG.md and remove the fragments (a release does)
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "breaking": "Breaking"}
"""Kinds of changes by the first word of a fragment's name, in the order of a section."""
NAME = re.compile(rf"({'|'.join(KINDS)})-[a-z0-9]+(-[a-z0-9]+)*\.md")
WORDS_LEAST, LENGTH_MOST = 5, 700
SECTION = re.compile(r"## (\d+\.\d+\.\d+)(?: \((\d{4}-\d{2}-\d{2})\))?")
FORBIDDEN = {
    r"\b(TODO|FIXME|XXX|WIP)\b": "is not finished",
    r"(?<![\w.])/(home|root|Users)/": "names a path of one machine",
    r"\bhttps?://(?!127\.0\.0\.1|localhost)": "names an address, which ages: name the page or the document",
}
"""Words that a sentence for users does not have, and what is wrong with each."""


def sentence_errors(text: str) -> Iterator[str]:
    """Say what is wrong with the sentences of one change."""
    if len(text) > LENGTH_MOST:
        yield f"has {len(text)} characters; {LENGTH_MOST} are enough for what a user must know, the rest is for docs/"
    if len(text.split()) < WORDS_LEAST:
        yield f"has fewer than {WORDS_LEAST} words, which is no sentence"
    if not re.search(r"[.`)]$", text):
        yield "does not end as a sentence does"
    if re.match(r"[a-z]", text):
        yield "begins with a small letter; begin with a capital or with a name in backticks"
    for pattern, why in FORBIDDEN.items():
        if re.search(pattern, text):
            yield why


def plain(text: str) -> str:
    """Return a fragment as one line: without the dash of a list and without its line ends."""
    return " ".join(re.sub(r"^\s*-\s+", "", text).split())


def fragments(folder: Path) -> dict[str, str]:
    """Read the fragments by name, each as one line."""
    found = sorted(p for p in folder.iterdir() if p.name != "README.md" and not p.name.startswith("."))
    return {p.name: plain(p.read_text(encoding="utf-8")) for p in found}


def fragment_errors(folder: Path) -> list[str]:
    """Say what is wrong with the fragments of a folder."""
    found = []
    for name, text in fragments(folder).items():
        if not NAME.fullmatch(name):
            kinds = ", ".join(KINDS)
            found.append(f"changelog/{name}: its name must be <kind>-<slug>.md, the kind one of {kinds}")
        found += [f"changelog/{name}: {wrong}" for wrong in sentence_errors(text)]
        if re.search(r"\n\s*-\s", (folder / name).read_text(encoding="utf-8").strip()):
            found.append(f"changelog/{name}: is a list; one change is one fragment")
    return found


def page_errors(page: str) -> list[str]:
    """Say what is wrong with the sections of CHANGELOG.md: headings, their order, and each line."""
    found, versions, kinds = [], [], []
    for number, line in enumerate(page.splitlines(), 1):
        where = f"CHANGELOG.md:{number}"
        if line.startswith("## "):
            match = SECTION.fullmatch(line)
            if not match:
                found.append(f"{where}: `{line}` is no section; write `## 1.2.3 (2026-01-31)`")
                continue
            versions.append(tuple(map(int, match[1].split("."))))
            kinds = []
        elif line.startswith("### "):
            kinds.append(line.removeprefix("### "))
            if kinds != [k for k in KINDS.values() if k in kinds]:
                found.append(f"{where}: `{line}` is none of {', '.join(KINDS.values())}, in this order")
        elif line.startswith("- "):
            found += [f"{where}: {wrong}" for wrong in sentence_errors(line[2:])]
        elif kinds and line:
            found.append(f"{where}: under a kind each change is a line that begins with `- `")
    if versions != sorted(set(versions), reverse=True):
        found.append("CHANGELOG.md: the newest version comes first, and each once")
    return found


def section(version: str, date: str | None, told: dict[str, str]) -> str:
    """Write a version's section of fragments."""
    lines = [f"## {version} ({date})" if date else f"## {version}"]
    for kind, title in KINDS.items():
        rows = [text for name, text in told.items() if name.startswith(f"{kind}-")]
        lines += ["", f"### {title}", "", *(f"- {text}" for text in rows)] if rows else []
    return "\n".join(lines) + "\n"


def gathered(page: str, new: str) -> str:
    """Put a section in front of the others."""
    head, mark, rest = page.partition("\n## ")
    return f"{head.rstrip()}\n\n{new}{mark}{rest}" if mark else f"{head.rstrip()}\n\n{new}"


def main(args: list[str] | None = None, root: Path = ROOT) -> int:
    """Check, show or gather."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "show", "gather"))
    parser.add_argument("version", nargs="?", help="the version that is released, as 1.2.3")
    parser.add_argument("--date", help="the day of the release, as 2026-01-31")
    given = parser.parse_args(args)
    folder, path = root / "changelog", root / "CHANGELOG.md"
    page = path.read_text(encoding="utf-8")
    if wrong := [*fragment_errors(folder), *page_errors(page)]:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    told = fragments(folder)
    if given.what == "check":
        print(f"{len(told)} fragments and the sections of CHANGELOG.md are as they should be")
        return 0
    heading = f"## {given.version} ({given.date})" if given.date else f"## {given.version}"
    if not given.version or not SECTION.fullmatch(heading):
        print(f"`{heading}` is no section: give the version as 1.2.3 and --date as 2026-01-31", file=sys.stderr)
        return 2
    if not told:
        print("there is no fragment in changelog/, so there is nothing to release", file=sys.stderr)
        return 2
    new = section(given.version, given.date, told)
    if given.what == "show":
        print(new, end="")
        return 0
    if wrong := page_errors(whole := gathered(page, new)):
        print(*wrong, sep="\n", file=sys.stderr)
        return 2
    path.write_text(whole, encoding="utf-8")
    for name in told:
        (folder / name).unlink()
    print(f"{len(told)} fragments are the section {given.version} of CHANGELOG.md now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
