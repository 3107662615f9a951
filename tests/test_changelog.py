# SPDX-License-Identifier: MIT OR Apache-2.0
"""The changelog: fragments and sections are as `packaging/changelog.py` asks, and a release makes a section of them."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def changelog() -> ModuleType:
    spec = importlib.util.spec_from_file_location("changelog", ROOT / "packaging" / "changelog.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Changelog and fragments of a house of its own."""
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    (tmp_path / "changelog").mkdir()
    for kind in ("fixed", "added", "breaking"):
        (tmp_path / "changelog" / f"{kind}-one.md").write_text(f"- The {kind} thing\n  is told here in words.\n")
    return tmp_path


def test_each_fragment_and_each_section_is_as_it_should_be(changelog: ModuleType) -> None:
    assert changelog.fragment_errors(ROOT / "changelog") == []
    assert changelog.page_errors((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("new-thing.md", "A thing is there that was not there.", "its name must be"),
        ("added-Thing.md", "A thing is there that was not there.", "its name must be"),
        ("added-thing.txt", "A thing is there that was not there.", "its name must be"),
        ("added-thing.md", "A thing.", "fewer than 5 words"),
        ("added-thing.md", "A thing is there that was not there", "does not end"),
        ("added-thing.md", "things are there that were not there.", "small letter"),
        ("added-thing.md", "A thing " * 100 + "is there.", "700 are enough"),
        ("added-thing.md", "- A thing is there now.\n- Another one is there, too.\n", "is a list"),
        ("added-thing.md", "A thing is there now, TODO tell where.", "not finished"),
        ("added-thing.md", "A thing lies in /home/anna/thing where nobody has it.", "one machine"),
        ("added-thing.md", "A thing is told at https://example.org/thing now.", "names an address"),
    ],
)
def test_a_fragment_that_is_wrong_is_named(
    changelog: ModuleType, tree: Path, name: str, text: str, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "changelog" / name).write_text(text, encoding="utf-8")
    for command in (["check"], ["gather", "0.9.0", "--date", "2026-01-31"]):
        assert changelog.main(command, tree) == 1
        assert f"changelog/{name}: " in (said := capsys.readouterr().err) and wrong in said
    assert (tree / "CHANGELOG.md").read_bytes() == (ROOT / "CHANGELOG.md").read_bytes()


def test_a_release_makes_a_section_and_loses_nothing(changelog: ModuleType, tree: Path) -> None:
    before = (tree / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.main(["gather", "0.9.0", "--date", "2026-01-31"], tree) == 0
    page = (tree / "CHANGELOG.md").read_text(encoding="utf-8")
    new = page[page.index("## 0.9.0 (2026-01-31)\n") : page.index("\n## ", page.index("## 0.9.0") + 1)]
    told = [line for line in new.splitlines() if line]
    assert told == [
        "## 0.9.0 (2026-01-31)",
        "### Added", "- The added thing is told here in words.",
        "### Fixed", "- The fixed thing is told here in words.",
        "### Breaking", "- The breaking thing is told here in words.",
    ]  # fmt: skip
    assert page.replace(new + "\n", "") == before
    assert list((tree / "changelog").iterdir()) == []
    assert changelog.main(["gather", "0.9.1", "--date", "2026-02-01"], tree) == 2, "nothing is left to release"


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "0.1.0", "0.0.9"])
def test_a_version_that_cannot_come_next_is_refused(changelog: ModuleType, tree: Path, version: str) -> None:
    assert changelog.main(["gather", version, "--date", "2026-01-31"], tree) == 2
    assert changelog.main(["gather", "0.9.0", "--date", "31.1.2026"], tree) == 2
    assert len(list((tree / "changelog").iterdir())) == 3
    assert (tree / "CHANGELOG.md").read_bytes() == (ROOT / "CHANGELOG.md").read_bytes()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("## Unreleased", "is no section"),
        ("## 99.0.0", "the newest version comes first"),
        ("### Removed", "is none of Added"),
        ("A paragraph that is no line of a list.", "begins with `- `"),
        ("- short.", "is no sentence"),
    ],
)
def test_a_section_that_is_wrong_is_named(changelog: ModuleType, line: str, wrong: str) -> None:
    page = "# Changelog\n\n## 0.2.0\n\n### Added\n\n- One thing is there at last.\n" + line + "\n"
    assert any(wrong in said for said in changelog.page_errors(page))
