# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fragments of the changelog: each is named by its kind and holds sentences for a user."""

from __future__ import annotations

import re
from pathlib import Path

FRAGMENTS = Path(__file__).resolve().parent.parent / "changelog"
NAME = re.compile(r"(added|changed|fixed|breaking)-[a-z0-9]+(-[a-z0-9]+)*\.md")


def test_each_fragment_has_a_kind_and_sentences() -> None:
    names = {path.name for path in FRAGMENTS.iterdir()} - {"README.md"}
    assert {name for name in names if not NAME.fullmatch(name)} == set()
    for name in sorted(names):
        text = (FRAGMENTS / name).read_text(encoding="utf-8").strip()
        assert len(text.split()) >= 5 and text.endswith((".", "`")), f"{name} is no sentence"
