# SPDX-License-Identifier: MIT OR Apache-2.0
"""Commit that a page of speeds was measured of, and whether the engine has changed since."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sunseal.errors import SunsealError


@dataclass(frozen=True)
class Page:
    """Page of speeds: the command that renews it, and the crates whose code it measures."""

    command: str
    crates: tuple[str, ...]


CORES = ("trace", "data", "isa", "part", "registers", "mcu")
PAGES = {
    Path("docs/reference/performance.md"): Page("cargo run --release -p sunseal-dev -- performance", CORES),
    Path("docs/reference/loop.md"): Page(
        "sunseal bench loop --page", (*CORES, "power", "radio", "link", "board", "node", "py")
    ),
}
CODE = r"^[ \t]*([^/ \t]|/[^/])"
"""A line of Rust that is no comment."""
COMMIT = re.compile(r"\bof commit ([0-9a-f]{40})\b")


def _git(home: Path, *words: str) -> str | None:
    """Return what git prints in a repository; none if it refuses."""
    try:
        done = subprocess.run(("git", *words), cwd=home, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SunsealError("git is not on PATH, and the pages name commits; install git") from None
    return done.stdout if done.returncode == 0 else None


def _changed(home: Path, commit: str, crates: Iterable[str]) -> list[str] | None:
    """Name the files whose code differs from a commit's; none if the history does not have it."""
    sources = [f"crates/sunseal-{crate}/src" for crate in crates]
    told = _git(home, "diff", "--name-only", "-G", CODE, commit, "--", *sources, "Cargo.lock")
    return None if told is None else told.split()


def line(home: Path) -> str:
    """Begin a page's sentence of where it was measured: the day, and the commit if the engine is one's."""
    day = f"Measured {datetime.now(UTC):%Y-%m-%d}"
    commit = (_git(home, "rev-parse", "HEAD") or "").strip()
    crates = {crate for page in PAGES.values() for crate in page.crates}
    if not commit or _changed(home, commit, crates):
        return f"{day} of code that no commit has,"
    return f"{day} of commit {commit}"


def older(home: Path) -> dict[Path, str]:
    """Return the pages that are not of the present engine, each with the sentence that says so."""
    told = {}
    for path, page in PAGES.items():
        if not (home / path).is_file():
            raise SunsealError(
                f"there is no {path} in {home}; the pages of speeds are judged in a clone of the repository"
            )
        found = COMMIT.search((home / path).read_text("utf-8"))
        changed = _changed(home, found.group(1), page.crates) if found else None
        if found is None:
            why = "does not name the commit that it was measured of"
        elif changed is None:
            why = f"was measured of commit {found.group(1)[:12]}, which this history does not have"
        elif changed:
            files = changed[0] + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")
            why = f"is older than the engine: {files} changed since commit {found.group(1)[:12]}"
        else:
            continue
        told[path] = f"{path} {why}; `{page.command}` renews it"
    return told
