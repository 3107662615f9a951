# SPDX-License-Identifier: MIT OR Apache-2.0
"""Doc comments: each of the product says more than three words, and in rooms that were gone through each opens with a
noun of the field or a verb."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from undocumented import refused

ROOT = Path(__file__).resolve().parent.parent
ROOMS = [
    *(f"crates/sunseal-{name}/src" for name in ("board", "data", "node", "power", "py", "radio")),
    "python/src/sunseal",
]
ASKS = re.compile(r"(What|Whether|How|Which|When|Where|Of|Who|Whose|Why)\b")


NAMES_ALONE = re.compile(r"See \[|(?!.*\b[a-z]{2,}\b)")
"""A reference to another comment, or a name that a manual gives (an instruction, a function of Arm's pseudocode)."""


def comments_of_rust(text: str) -> Iterator[tuple[int, str]]:
    """Yield each doc comment with its line."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        comment = re.match(r"\s*(///|//!)(?!/)", lines[at])
        first = at
        while comment and at < len(lines) and lines[at].lstrip().startswith(comment[1]):
            at += 1
        if comment:
            yield first + 1, " ".join(line.lstrip()[3:].strip() for line in lines[first:at]).strip()
        else:
            at += 1


def comments_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the string that stands alone behind a head or a name: of modules, classes, functions, fields and names."""
    for node in ast.walk(ast.parse(text)):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield statement.lineno, value.value


READERS = {".rs": comments_of_rust, ".py": comments_of_python}


def files_of(room: str) -> list[Path]:
    """List a room's sources, without the copies that a wheel is filled with."""
    found = sorted((ROOT / room).rglob("*"))
    return [path for path in found if path.suffix in READERS and "home" not in path.relative_to(ROOT).parts]


@pytest.mark.parametrize("room", ROOMS)
def test_doc_comments_open_with_a_noun_or_a_verb(room: str) -> None:
    files = files_of(room)
    comments = [(path, *c) for path in files for c in READERS[path.suffix](path.read_text("utf-8"))]
    assert len(comments) > 15
    assert [f"{path.relative_to(ROOT)}:{line}: {said}" for path, line, said in comments if ASKS.match(said)] == []


def test_a_question_is_found() -> None:
    rust = "//! Supplies.\n//! What they do.\n\n/// When it ends.\n#[must_use]\n/// Of late.\nfn f() {}\n"
    assert [line for line, said in comments_of_rust(rust) if ASKS.match(said)] == [4, 6]
    python = '"""Rooms."""\nA = 1\n"""How many."""\ndef f():\n    """Whether it is."""\n'
    assert [line for line, said in comments_of_python(python) if ASKS.match(said)] == [3, 5]


@pytest.mark.parametrize("room", ["crates", "python/src/sunseal", "docs", "packaging"])
def test_doc_comments_say_more_than_three_words(room: str) -> None:
    files = files_of(room)
    comments = [(path, *c) for path in files for c in READERS[path.suffix](path.read_text("utf-8"))]
    short = [c for c in comments if len(c[2].split()) <= 3 and not NAMES_ALONE.match(c[2])]
    assert comments and [f"{path.relative_to(ROOT)}:{line}: {said}" for path, line, said in short] == []


def test_a_short_comment_is_found() -> None:
    rust = "/// The chip.\nstruct A;\n/// WDR\n/// See [`b`].\npub fn b() {}\n"
    said = list(comments_of_rust(rust))
    assert said == [(1, "The chip."), (3, "WDR See [`b`].")]
    assert [bool(NAMES_ALONE.match(text)) for text in ("The chip.", "WDR", "See [`b`].")] == [False, True, True]


def test_a_function_without_a_comment_is_refused_and_a_field_is_not() -> None:
    """Messages of rustc, cut to what is read of them."""

    def told(what: str, crate: str = "sunseal_link", kind: str = "lib") -> str | None:
        message = {
            "message": what,
            "level": "warning",
            "spans": [{"file_name": "crates/a/src/lib.rs"}],
            "rendered": what,
        }
        target = {"name": crate, "kind": [kind]}
        return refused(json.dumps({"reason": "compiler-message", "target": target, "message": message}))

    function, field, other = (
        f"missing documentation for {what}" for what in ("a function", "a struct field", "a constant")
    )
    assert (
        told(function) == function and told(other) == other and told("unused variable: `x`") == "unused variable: `x`"
    )
    assert told(field) is told(other, crate="sunseal_registers") is told(function, kind="bench") is None
