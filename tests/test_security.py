# SPDX-License-Identifier: MIT OR Apache-2.0
"""SECURITY.md names a test for each promise: here, that each of them is in the tree and runs."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from sunseal.catalog.boards import algorithms

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
SECTION = TEXT.split("## What is promised", 1)[1].split("\n## ", 1)[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SECTION.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| promise"))
]
FUNCTIONS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.split("## Side channels", 1)[1].split("\n## ", 1)[0].splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| functions"))
]
"""Rows of the table of functions: names, timing, blinding, fault checks, tests."""
NAMED = re.compile(r"`([\w/.-]+)::(\w+)`")


def runs(path: Path, name: str) -> bool:
    """Tell whether the file defines a test of this name, one that its runner calls."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        return re.search(rf"#\[(tokio::)?test[^\]]*\]\n(#\[(?!ignore).*\]\n)*(async )?fn {name}\(\)", text) is not None
    if path.suffix == ".c":
        # A test of several files has its main in one of them.
        mains = [f.read_text(encoding="utf-8").partition("int main(void)")[2] for f in path.parent.glob("*.c")]
        return f"void {name}(void) {{" in text and any(f"    {name}();" in main for main in mains)
    found = re.search(rf"^((?:@.*\n)*)def {name}\(", text, re.MULTILINE)
    return found is not None and re.search(r"mark\.(skip\(|xfail)", found[1]) is None


def test_each_promise_names_its_tests() -> None:
    assert len(ROWS) > 10
    assert [row[0] for row in ROWS if len(row) != 2 or not NAMED.search(row[1])] == []
    # A promise outside of the table would have no test.
    assert not re.search(r"^- ", SECTION, re.MULTILINE)


@pytest.mark.parametrize(
    ("path", "name"), sorted({pair for row in ROWS + FUNCTIONS for pair in NAMED.findall(row[-1])})
)
def test_a_named_test_is_there(path: str, name: str) -> None:
    assert runs(ROOT / path, name), f"SECURITY.md names {name}, which is no test of {path}"


def test_each_function_has_its_row() -> None:
    """Its timing there is that of its description, which test_algorithms.py holds to the headers."""
    met, wrong = set[int](), []
    for name, told in algorithms().functions.items():
        fits = (
            i for i, row in enumerate(FUNCTIONS) if any(fnmatchcase(name, n) for n in re.findall(r"`([\w*]+)`", row[0]))
        )
        at = next(fits, None)
        if at is None or FUNCTIONS[at][1] != told.timing:
            wrong.append((name, told.timing))
        else:
            met.add(at)
    assert wrong == []
    assert met == set(range(len(FUNCTIONS))), "a row that no function has"
    assert all(len(row) == 5 and all(row) and NAMED.search(row[4]) for row in FUNCTIONS)


def test_what_does_not_run_is_found(tmp_path: Path) -> None:
    idle = tmp_path / "idle.rs"
    idle.write_text("#[test]\n#[ignore]\nfn one() {}\n#[test]\nfn two() {}\n", encoding="utf-8")
    assert not runs(idle, "one") and runs(idle, "two")
    skipped = tmp_path / "skipped.py"
    skipped.write_text('@pytest.mark.skip("why")\ndef test_one():\n\ndef test_two():\n', encoding="utf-8")
    assert not runs(skipped, "test_one") and runs(skipped, "test_two")
    path = ROOT / "crates/sunseal-server/tests/server/verdicts.rs"
    assert runs(path, "of_answers_that_race_exactly_one_is_accepted")
    assert not runs(path, "order")
    assert not runs(path, "no_such_test")
    assert not runs(ROOT / "firmware/tests/test_node_world.c", "answer_with")
