# SPDX-License-Identifier: MIT OR Apache-2.0
"""Paths and figures that the pages at the root name: each path is in the tree, each count of cycles is the table's."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/guide.md",
    "docs/figures.md",
    "docs/reference/mutants.md",
]
SUFFIX = re.compile(r"\.(c|h|S|sv|v|rs|py|inc|in|mk|ld|md|toml|json|ipynb)$")
MADE = {"chip.h", "memory.h"}
"""Headers that the build makes; what else it makes is told by its folder."""
TARGETS = ("MSP430X + MPY32", "MSP430F1611", "ATmega128L", "Cortex-M4")
UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


def tracked() -> set[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = listed.splitlines()
    return {*files, *(str(folder) for file in files for folder in PurePosixPath(file).parents)} - {"."}


def named(text: str) -> set[str]:
    """Return the paths between backticks and behind links: words with a slash or with the ending of a source."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    words = {word for code in re.findall(r"`([^`\n]+)`", prose) for word in code.split()}
    words |= {link for link in re.findall(r"\]\(([^)#\s]+)", prose) if "://" not in link}
    paths = {word.rstrip("/.,;:)").removeprefix("../") for word in words if re.fullmatch(r"[\w./<>{},*+-]+", word)}
    return {
        p for p in paths if ("/" in p or SUFFIX.search(p)) and not re.match(r"[./~]?/|\.venv/|out/|build/|\W+S$", p)
    }


def is_there(path: str, there: set[str]) -> bool:
    """Tell whether a path is tracked, from the root or from the room that its sentence is about."""
    if path in MADE or path.startswith("firmware/build/"):
        return True
    path = path.replace(".../", "python/src/sunseal/")
    either = re.search(r"\{(\w+(?:,\w+)+)\}", path)
    if either:
        return all(is_there(path.replace(either[0], one), there) for one in either[1].split(","))
    wanted = re.sub(r"<\w+>", "*", path)
    if "*" in wanted:
        return any(fnmatch(known, wanted) or fnmatch(known, f"*/{wanted}") for known in there)
    return wanted in there or any(known.endswith(f"/{wanted}") for known in there)


@pytest.mark.parametrize("page", PAGES)
def test_each_path_that_a_page_names_is_in_the_tree(page: str) -> None:
    there, paths = tracked(), named((ROOT / page).read_text("utf-8"))
    assert len(paths) > 4
    assert sorted(path for path in paths if not is_there(path, there)) == []


def test_a_path_that_is_gone_is_found() -> None:
    there = {"crates/sunseal-power/src/supply.rs", "python/src/sunseal/cli/app.py"}
    assert named("`supply.rs` and `crates/gone.rs`, [a page](docs/gone.md)\n```\n`shell.sh`\n```\n") == {
        "supply.rs", "crates/gone.rs", "docs/gone.md",
    }  # fmt: skip
    assert is_there("supply.rs", there) and is_there("src/*.rs", there) and is_there(".../cli/app.py", there)
    assert not is_there("upply.rs", there) and not is_there("src/{supply,gone}.rs", there)


def test_figures_of_operations_are_those_of_the_crypto_page() -> None:
    """A rounded count is within half of its last digit; a row that the page has under another name is not asked."""
    page = (ROOT / "docs/reference/crypto.md").read_text("utf-8")
    ours = {
        (what.removesuffix(", tables"), target): int(count.replace(",", ""))
        for what, target, count in re.findall(r"^\| ([^|`]+) \| ([^|]+) \| ([\d,]+) \|", page, re.M)
    }
    page = (ROOT / "docs/figures.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) ((?:\| [\d.,]+(?: [kM])? ){4})\|$", page, re.M)
    asked = 0
    for what, cells in rows:
        for target, cell in zip(TARGETS, cells.strip("| ").split(" | "), strict=True):
            if (what, target) in ours:
                figure, _, unit = cell.partition(" ")
                digit = UNITS[unit] / 10 ** len(figure.partition(".")[2])
                assert abs(float(figure.replace(",", "")) * UNITS[unit] - ours[what, target]) <= digit / 2, (what, cell)
                asked += 1
    assert asked > 35
