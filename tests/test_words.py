# SPDX-License-Identifier: MIT OR Apache-2.0
"""Doc comments of rooms that were gone through: each opens with a noun of the field or a verb, not with a question."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = [
    *(f"crates/sunseal-{name}/src" for name in ("board", "data", "node", "power", "py", "radio")),
    "python/src/sunseal",
]
ASKS = re.compile(r"(What|Whether|How|Which|When|Where|Of|Who|Whose|Why)\b")


def comments_of_rust(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line of each doc comment."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*(///|//!)(?!/) ?(.*)", line)
        if comment and not before.lstrip().startswith(comment[1]):
            yield number, comment[2]
        before = line


def comments_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the string that stands alone behind a head or a name: of modules, classes, functions, fields and names."""
    for node in ast.walk(ast.parse(text)):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield statement.lineno, value.value


READERS = {".rs": comments_of_rust, ".py": comments_of_python}


@pytest.mark.parametrize("room", ROOMS)
def test_doc_comments_open_with_a_noun_or_a_verb(room: str) -> None:
    files = [path for path in sorted((ROOT / room).rglob("*")) if path.suffix in READERS]
    comments = [(path, *c) for path in files for c in READERS[path.suffix](path.read_text("utf-8"))]
    assert len(comments) > 15
    assert [f"{path.relative_to(ROOT)}:{line}: {said}" for path, line, said in comments if ASKS.match(said)] == []


def test_a_question_is_found() -> None:
    rust = "//! Supplies.\n//! What they do.\n\n/// When it ends.\n#[must_use]\n/// Of late.\nfn f() {}\n"
    assert [line for line, said in comments_of_rust(rust) if ASKS.match(said)] == [4, 6]
    python = '"""Rooms."""\nA = 1\n"""How many."""\ndef f():\n    """Whether it is."""\n'
    assert [line for line, said in comments_of_python(python) if ASKS.match(said)] == [3, 5]
