# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tutorials do what they say: each command of them is run, and what it prints is what stands there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from following import follow
from sunseal.catalog import boards

DOCS = boards.home() / "docs"
PAGES = [boards.home() / "README.md", DOCS / "tutorial.md", *sorted((DOCS / "tutorials").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_tutorial_is_what_happens(page: Path, firmware: None, tmp_path: Path) -> None:
    python = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{python}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "160"}
    assert follow(page, tmp_path, env) >= (1 if page.stem == "README" else 5)
