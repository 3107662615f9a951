# SPDX-License-Identifier: MIT OR Apache-2.0
"""The documentation's site, as it is before Sphinx: every link arrives, and everything has its page.

`make docs` builds it and fails at what Sphinx warns of; here its pages are only brought together, without the gallery.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sunseal.catalog import boards
from sunseal.cli import app
from sunseal.papers import cells

DOCS = boards.home() / "docs"
FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.M | re.S)
LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.M)


@pytest.fixture(scope="session")
def pages() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        yield importlib.import_module("pages")


@pytest.fixture(scope="session")
def source(pages: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "source"
    pages.gather(folder, run=False)
    return folder


def prose(path: Path) -> str:
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return the anchors that MyST gives a page: those of three levels of headings, numbered where they repeat."""
    facts = sys.modules["facts"]  # which `pages` imports
    found: set[str] = set()
    for marks, title in HEADING.findall(prose(path)):
        slug = facts.anchor(title)
        if len(marks) <= 3:
            found.add(next(s for n in range(99) if (s := f"{slug}-{n}" if n else slug) not in found))
    return found


def test_every_link_arrives(source: Path) -> None:
    links, dead = 0, []
    for page in source.rglob("*.md"):
        for link in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link) or target.startswith("../gallery/") or target.startswith("gallery/"):
                continue
            links += 1
            path = (page.parent / target).resolve() if target else page
            if not path.is_file() or (anchor and anchor not in anchors(path)):
                dead.append(f"{page.relative_to(source)}: {link}")
    assert not dead
    assert links > 200


def test_a_dead_link_would_be_seen(source: Path) -> None:
    there = anchors(source / "accuracy" / "msp430fr5xx.md")
    assert "msp430fr5994" in there
    assert "no-such-heading" not in there


@pytest.mark.parametrize(
    ("room", "names"),
    [("boards", "boards"), ("chips", "devices"), ("parts", "parts")],
)
def test_everything_of_data_has_its_page(room: str, names: str, source: Path) -> None:
    told = (source / room / "index.md").read_text(encoding="utf-8")
    for name in (p.stem for p in (boards.home() / "data" / names).glob("*.toml")):
        text = (source / room / f"{name}.md").read_text(encoding="utf-8")
        assert f"({name}.md)" in told
        assert text.startswith(f"# {name}" if room != "chips" else f"# {name.upper()}")


@pytest.mark.parametrize("device", boards.names("devices"))
def test_a_chips_page_says_what_it_lacks_and_what_it_draws(device: str, source: Path) -> None:
    text = (source / "chips" / f"{device}.md").read_text(encoding="utf-8")
    for block, _, _ in boards.gaps(device):
        assert f"| {block} |" in text
    assert text.count("](../accuracy/") >= 1, "it says where docs/accuracy speaks of it"
    told = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "accuracy").glob("*.md"))
    for core in sys.modules["facts"].OF_CORES.values():
        assert all(f"# {heading}\n" in told for heading in core)
    for heading in ("Not modelled", "Errata and assumptions", "What it draws", "What is modelled"):
        assert f"\n## {heading}\n" in text
    assert re.search(r"\| `cpu` \| `active[.a-z]*` \| [a-z_0-9]+ \| [^|]*\d [µm]?A", text)


@pytest.mark.parametrize("command", list(app.COMMANDS))
def test_every_command_has_its_page(command: str, source: Path) -> None:
    text = (source / "commands" / f"{command}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# `sunseal {command}`\n")
    assert len(text.split("\n\n")[1]) > 20, "it says what it does"


def test_every_public_name_is_in_the_reference(source: Path) -> None:
    import sunseal

    text = (source / "python.md").read_text(encoding="utf-8")
    for name in sunseal.__all__:
        assert name[0] == "_" or f":: sunseal.{name}\n" in text


def test_every_page_of_docs_is_in_the_navigation(source: Path) -> None:
    index = (source / "index.md").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        if not name.startswith(("adr/", "pictures/")):
            assert f"\n{name}\n" in index


def test_nothing_is_loaded_from_the_net(pages: ModuleType, source: Path, tmp_path: Path) -> None:
    for page in source.rglob("*.md"):
        assert not re.search(r"!\[[^\]]*\]\(\w+:|<(script|img|link|iframe)\b", prose(page)), page
    lock = (DOCS / "requirements.txt").read_text(encoding="utf-8")
    assert "--hash=sha256:" in lock
    assert not re.search(r"^\s*(-i\b|--index|--extra-index|--find-links)|https?://", lock, re.M)
    (tmp_path / "a.html").write_text(
        '<a href="https://x.org">x</a><link href="_static/a.css"><svg xmlns="http://w3.org">'
    )
    assert list(pages.from_the_net(tmp_path)) == []
    (tmp_path / "b.html").write_text('<script async src="https://x.org/a.js"></script>')
    (tmp_path / "c.css").write_text("body { background: url(//x.org/a.png) }")
    assert [line.split(":")[0] for line in pages.from_the_net(tmp_path)] == ["b.html", "c.css"]


def test_the_page_of_deep_sleeps_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(boards.home() / "docs"))
    survival = importlib.import_module("survival")
    assert survival.PAGE.read_text(encoding="utf-8") == survival.page(), "run docs/survival.py write"


def test_the_page_of_modes_is_current_and_claims_no_judge_without_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(boards.home() / "docs"))
    modes = importlib.import_module("modes")
    assert modes.PAGE.read_text(encoding="utf-8") == modes.page(), "run docs/modes.py write"
    assert modes.names("modes") == modes.names("devices")
    rows = [row for name in modes.names("modes") for row in modes.read("modes", name)["judged"]]
    assert [row["block"] for row in rows if not modes.tests(row)] == []


def test_the_table_of_parts_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(boards.home() / "docs"))
    catalogue = importlib.import_module("catalogue")
    text = catalogue.PAGE.read_text(encoding="utf-8")
    assert catalogue.page(text) == text, "run docs/catalogue.py write"
    listed = {line.split("`")[1] for line in catalogue.catalogue().splitlines() if line.startswith("| `")}
    assert listed == {p.stem for p in (boards.home() / "data" / "parts").glob("*.toml")}


def test_a_papers_page_has_every_printed_cell_and_ours_below(pages: ModuleType) -> None:
    """Cheap tables are computed as the site computes them; a row that is taken away leaves its cell bare."""
    papers = sys.modules["papers"]
    cheap = {"mane2014/table-3.1", "rizvi2009/table-7"}

    def rows(name: str) -> Any:
        return papers.computed(name) if name in cheap else ()

    found = {name: text for _, name, text in papers.of_papers(rows)}
    assert set(found) == {"index", *(t.id.partition("/")[0] for t in cells.printed())}
    for table in cells.printed():
        text = found[table.id.partition("/")[0]]
        _, _, own = text.partition(f"\n## {table.id.partition('/')[2].replace('-', ' ').capitalize()}")
        lines = own.partition("\n## ")[0].splitlines()
        for head, *figures in table.rows:
            told = [x.split("<br>")[0].strip() for line in lines if line.startswith("|") for x in line.split("|")]
            assert all(facts_cell(x) in told for x in (head, *figures)), (table.id, head)
    lines = found["mane2014"].partition("## Table 3.1")[2].partition("\n## ")[0]
    assert "| 25 | 2.4 V<br>**2.4 V**<br>agrees | 3<br>**3 level**<br>agrees |" in lines
    bare = {name: text for _, name, text in papers.of_papers(lambda _: ())}
    assert "**2.4 V**" not in bare["mane2014"]


def facts_cell(text: str) -> str:
    return str(sys.modules["facts"]._cell(text)).strip()
