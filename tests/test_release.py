# SPDX-License-Identifier: MIT OR Apache-2.0
"""A release: one version, no dead link on the front page, licences that may be handed on, a wheel's contents."""

from __future__ import annotations

import base64
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, ModuleType]]:
    """The modules of packaging/, which import each other."""
    sys.path.insert(0, str(ROOT / "packaging"))
    yield {name: importlib.import_module(name) for name in ("components", "filling", "front", "release")}
    sys.path.remove(str(ROOT / "packaging"))


@pytest.fixture
def copied(tools: dict[str, ModuleType], tmp_path: Path) -> Path:
    """The files that hold the version, in a folder of their own."""
    for name in tools["release"].HOLDERS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "crates" / "a").mkdir(parents=True)
    (tmp_path / "crates" / "a" / "Cargo.toml").write_text('name = "a"\nversion.workspace = true\n')
    return tmp_path


# --- Version -----------------------------------------------------------------------------------------


def test_the_version_stands_in_one_place(tools: dict[str, ModuleType]) -> None:
    from importlib.metadata import version

    from sunseal import _engine

    assert list(tools["release"].numbers()) == []
    assert list(tools["release"].history()) == list(tools["release"].page()) == []
    assert tools["release"].version() == _engine.VERSION == version("sunseal")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project and "version" in project["dynamic"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("CITATION.cff", "version: ", "version: 9.9.9 # "),
        ("docs/reference/stability.md", '"version": "', '"version": "7'),
        ("crates/a/Cargo.toml", "version.workspace = true", 'version = "0.1.0"'),
    ],
)
def test_another_number_is_named(tools: dict[str, ModuleType], copied: Path, file: str, old: str, new: str) -> None:
    assert list(tools["release"].numbers(copied)) == []
    path = copied / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (wrong,) = tools["release"].numbers(copied)
    assert wrong.startswith(f"{file}: has ")


def test_a_new_number_is_written_everywhere(
    tools: dict[str, ModuleType], copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = tools["release"]
    assert release.set_version("1.2", copied) == 2
    asked: list[Any] = []
    monkeypatch.setattr(release.subprocess, "run", lambda command, **_: asked.append(command))
    assert release.set_version("1.20.3", copied) == 0 and asked[0][:2] == ["cargo", "update"]
    monkeypatch.setattr(release, "version", lambda: "1.20.3")
    assert list(release.numbers(copied)) == []


# --- Front page --------------------------------------------------------------------------------------


def test_no_link_of_the_front_page_is_dead(tools: dict[str, ModuleType]) -> None:
    page = tools["front"].PAGE.read_text(encoding="utf-8")
    links = tools["front"].LINK.findall(page)
    assert all(re.match(r"https?://", target) for _, _, target in links)
    assert "](docs/" not in page and page.count("```") % 2 == 0


def test_with_an_address_each_link_and_the_picture_lead_there(tools: dict[str, ModuleType]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = tools["front"].page(readme, "https://example.org/sunseal/", "1.2.3")
    mine, theirs = tools["front"].LINK.findall(readme), tools["front"].LINK.findall(page)
    assert len(mine) == len(theirs) > 15 and any(mark for mark, _, _ in theirs)
    for (mark, _, target), (_, _, absolute) in zip(mine, theirs, strict=True):
        path = absolute.removeprefix(f"https://example.org/sunseal/{'raw' if mark else 'blob'}/v1.2.3/")
        assert path == target and (ROOT / path.partition("#")[0]).exists()
    assert tools["front"].page("```\n[a](b.md)\n```\n", None, "1.2.3").endswith("```\n[a](b.md)\n```\n")


# --- Components and licences -------------------------------------------------------------------------


def test_what_is_linked_in_may_be_handed_on(tools: dict[str, ModuleType]) -> None:
    components = tools["components"]
    told = components.metadata()
    packages, _ = components.carried(told)
    names = {p["name"] for p in packages.values()}
    assert {"sunseal-py", "sunseal-server", "pyo3", "rusqlite", "aws-lc-sys", "gimli"} <= names
    assert not names & {"proptest", "criterion", "serde_derive", "cc", "sunseal-dev"}, "of tests, builds and macros"
    assert components.errors(packages) == []
    texts = components.texts(packages)
    assert "SQLite" in texts or "rusqlite" in texts
    bill = components.sbom(told)
    assert bill == components.sbom(told)
    refs = [part["bom-ref"] for part in bill["components"]]
    assert len(refs) == len(set(refs)) > 80
    named = {ref for node in bill["dependencies"] for ref in (node["ref"], *node["dependsOn"])}
    assert named <= {*refs, bill["metadata"]["component"]["bom-ref"]} and set(refs) <= named


@pytest.mark.parametrize(
    ("licence", "may"),
    [
        ("MIT OR Apache-2.0", True),
        ("MIT", True),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
        ("ISC AND (Apache-2.0 OR ISC) AND OpenSSL", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("MIT WITH Classpath-exception-2.0", False),
        ("Apache-2.0 AND (GPL-2.0-only OR AGPL-3.0-only)", False),
        ("", False),
        ("MIT MIT", False),
        ("(MIT", False),
    ],
)
def test_an_expression_is_read_as_spdx_means_it(tools: dict[str, ModuleType], licence: str, may: bool) -> None:
    assert tools["components"].allowed(licence) is may


# --- The wheel's list --------------------------------------------------------------------------------


def wheel_of(path: Path, files: dict[str, bytes]) -> Path:
    """Make a wheel by hand."""
    with zipfile.ZipFile(path, "w") as out:
        rows = []
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o755 if name.endswith("run") else 0o644) << 16
            out.writestr(entry, data)
            rows.append(f"{name},sha256={digest(data)},{len(data)}")
        out.writestr("a-1.dist-info/RECORD", "\n".join([*rows, "a-1.dist-info/RECORD,,"]) + "\n")
    return path


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def test_what_is_put_into_a_wheel_stands_in_its_list(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    path = wheel_of(tmp_path / "a-1-py3-none-any.whl", {"a/run": b"x", "a/old.json": b"1"})
    tools["filling"].amend(path, {"a/new.json": b"{}", "a/old.json": b"22"})
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        names = packed.namelist()
        assert sorted(names) == ["a-1.dist-info/RECORD", "a/new.json", "a/old.json", "a/run"]
        assert packed.getinfo("a/run").external_attr >> 16 == 0o755
        lines = packed.read("a-1.dist-info/RECORD").decode().splitlines()
        assert lines[-1] == "a-1.dist-info/RECORD,," and len(lines) == 4
        for line in lines[:-1]:
            name, said, size = line.split(",")
            data = packed.read(name)
            assert (said, size) == (f"sha256={digest(data)}", str(len(data)))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "board", ["msp430f5438a-anagear/mpy-32", "msp430fr5994-launchpad/mpy-32", "micaz/default", "nucleo-l476rg/default"]
)
def test_a_carried_program_loads_what_the_built_one_does(board: str, tmp_path: Path) -> None:
    """Gaps between its segments are closed; bytes, addresses and symbols stay, as pyelftools reads them."""
    loader = importlib.machinery.SourceFileLoader("wheel", str(ROOT / "packaging" / "wheel"))
    spec = importlib.util.spec_from_loader("wheel", loader)
    assert spec is not None
    wheel = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "packaging"))
    loader.exec_module(wheel)
    sys.path.remove(str(ROOT / "packaging"))
    built = ROOT / "firmware" / "build" / board / "bench-sha256-hash.elf"
    copy = Path(shutil.copy(built, tmp_path))
    wheel.close_up(copy)
    subprocess.run([wheel.tool("llvm-strip"), "--strip-debug", str(copy)], check=True)

    def told(path: Path) -> tuple[list[Any], dict[str, int]]:
        with path.open("rb") as file:
            elf = ELFFile(file)
            # Linked for an MSP430, the first one is the file's own headers, which no chip has at that address.
            loads = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD" and s["p_offset"]]
            names = ("p_vaddr", "p_paddr", "p_memsz", "p_flags")
            segments = [(*(s[name] for name in names), s.data()) for s in loads]
            table = elf.get_section_by_name(".symtab")
            symbols = {s.name: s["st_value"] for s in table.iter_symbols() if s["st_info"]["bind"] == "STB_GLOBAL"}
            return [elf["e_entry"], *segments], symbols

    assert told(copy) == told(built)
    assert copy.stat().st_size < 16_000 < built.stat().st_size


def test_a_wheel_that_lacks_something_is_named(
    tools: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = tools["release"]
    assert release.check(tmp_path / "none.whl") == 2
    bare = b"Metadata-Version: 2.4\nName: a\nVersion: 0.0.1\n\n"
    path = wheel_of(tmp_path / "a-1-py3-none-any.whl", {"a-1.dist-info/METADATA": bare})
    assert release.check(path) == 1
    said = capsys.readouterr().out
    for part in (
        "lacks Keywords",
        "lacks License-Expression",
        "has version 0.0.1",
        "LICENSE-THIRD-PARTY",
        "no list of",
    ):
        assert part in said


def test_a_list_of_components_that_is_none_is_refused(tools: dict[str, ModuleType]) -> None:
    release = tools["release"]
    if not release.JUDGES.is_dir():
        assert not os.environ.get("SUNSEAL_REQUIRE_TOOLS"), "`make test-python` installs what is asked here"
        pytest.skip("`make test-python` installs what judges a list of components")
    told = tools["components"].sbom(tools["components"].metadata())
    assert list(release.bill(json.dumps(told))) == []
    assert any("components: " in wrong for wrong in release.bill(json.dumps({**told, "version": "one"})))
    fewer = {**told, "components": told["components"][1:]}
    assert any("not those of this tree" in wrong for wrong in release.bill(json.dumps(fewer)))


def test_each_package_that_a_command_may_lack_has_its_extra() -> None:
    from sunseal.errors import EXTRAS, missing_of

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(extras)
    base = {re.split(r"[<>=]", text)[0] for text in project["dependencies"]}
    assert not base & {"matplotlib", "pvlib", "scipy"} and {"numpy", "pandas"} <= base
    for package in ("matplotlib", "pvlib", "scipy", "h5py", "optuna"):
        assert any(text.startswith(f"{package}>=") for text in extras[EXTRAS[package]])
    assert missing_of("plots") == [], "here all of it is installed"
