# SPDX-License-Identifier: MIT OR Apache-2.0
"""The cryptographic library's package itself: the same bytes each time, whole, and what each target takes of it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path, PurePosixPath

import pytest
import sizes

ROOT = sizes.ROOT
INNER = "src/sunseal-crypto/"
F5438A = "clang --target=msp430 -DSUNSEAL_MSP430X=1 -DSUNSEAL_MPY"
BOARDS = {
    ("msp430f5438a-anagear", "mpy-none"): f"{F5438A}=0",
    ("msp430f5438a-anagear", "mpy-16"): f"{F5438A}=16 -DSUNSEAL_MPY_AT=0x04C0",
    ("msp430f5438a-anagear", "mpy-32"): "clang --target=msp430 -mmcu=msp430f5438a",
    ("msp430fr5994-launchpad", "mpy-32"): "clang --target=msp430 -mmcu=msp430fr5994",
    ("msp430fr5969-launchpad", "mpy-32"): "clang --target=msp430 -mmcu=msp430fr5969",
    ("telosb", "mpy-16"): "clang --target=msp430 -mmcu=msp430f1611",
    ("micaz", "default"): "avr-gcc -mmcu=atmega128",
    ("msp432p401r-launchpad", "default"): "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -DSUNSEAL_MSP432=1",
    ("nucleo-l476rg", "default"): "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb",
}
"""Boards of this tree with their variants, and what a user of the package says to have the same."""
TIMERS_UNKNOWN = {("msp430f5438a-anagear", "mpy-none"), ("msp430f5438a-anagear", "mpy-16")}
"""Variants that name no chip, so that the source of jitter, which has a chip's timer, is left out."""


@pytest.fixture(scope="module")
def path() -> str:
    return sizes.tools_path()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sizes.make(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def folder(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the package."""
    out = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(package) as tar:
        tar.extractall(out, filter="data")
    return out / package.name.removesuffix(".tar.gz")


def test_the_same_sources_give_the_same_bytes(package: Path, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for generator in ("curves", "ciphers", "hash", "fixslice"):
        made = ["python3", str(ROOT / f"firmware/crypto/gen_{generator}.py"), str(tmp_path / "tables")]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    again = [str(ROOT / "packaging/crypto/dist"), str(tmp_path / "tables"), str(tmp_path)]
    subprocess.run(again, check=True, stdout=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "TZ": "Asia/Tokyo"})
    assert (tmp_path / package.name).read_bytes() == package.read_bytes()


def test_every_file_is_as_its_list_says(folder: Path) -> None:
    listed = re.findall(r"^  ([0-9a-f]{64})  (\S+)$", (folder / "META").read_text(encoding="utf-8"), re.M)
    there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} - {"META"}
    assert {name for _, name in listed} == there
    assert [n for digest, n in listed if hashlib.sha256((folder / n).read_bytes()).hexdigest() != digest] == []


def test_the_version_is_the_project_s_in_each_build_file(folder: Path) -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert folder.name == f"sunseal-crypto-{version}"
    assert json.loads((folder / "library.json").read_text(encoding="utf-8"))["version"] == version
    for name in ("CMakeLists.txt", "meson.build", "library.properties", "META", "src/sunseal.h", "README.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert version in text and "@" not in re.sub(r"@(echo|[rR]\d)", "", text), name


def test_nothing_outside_is_included_and_no_generator_is_needed(folder: Path) -> None:
    system = {"limits.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}
    checked = 0
    for file in folder.rglob("*"):
        if file.suffix not in (".c", ".h", ".S", ".inc"):
            continue
        for kind, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', file.read_text(encoding="utf-8"), re.M):
            checked += 1
            assert name in system if kind == "<" else (file.parent / name).resolve().is_relative_to(folder), file
            assert kind == "<" or (file.parent / name).is_file(), f"{file}: {name}"
    assert checked > 500
    assert not [p for p in folder.rglob("*") if p.suffix in (".py", ".awk", ".toml")]


def sources_of(board: str, variant: str) -> set[str]:
    """Ask firmware/Makefile which sources of the library a variant of a board is made of."""
    rule = f"asked: ; @echo $(crypto_{variant})"
    asked = ["make", "-s", "-C", str(ROOT / "firmware"), f"BOARD={board}", "--eval", rule, "asked"]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    return {word.removeprefix("crypto/src/") for word in answer.split() if word.startswith("crypto/src/")}


@pytest.mark.parametrize(("board", "variant"), BOARDS)
def test_a_target_takes_what_our_own_build_gives_it(
    board: str, variant: str, folder: Path, path: str, tmp_path: Path
) -> None:
    """The preprocessor's choice is the Makefile's, source by source."""
    lines = ['#include "src/sunseal-crypto/target.h"']
    for file in sorted((folder / INNER).rglob("*.[cS]")):
        condition = re.search(r"^#if (SUNSEAL_TARGET_KNOWN.*)", file.read_text(encoding="utf-8"), re.M)
        if condition:
            lines += [f"#if {condition[1]}", f"taken {PurePosixPath(file.relative_to(folder / INNER))}", "#endif"]
    shutil.copytree(folder / "src", tmp_path / "src")
    (tmp_path / "asked.c").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = f"{BOARDS[board, variant]} -E -P asked.c"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env={"PATH": path}, check=True, capture_output=True)
    taken = {name.replace(" ", "") for name in re.findall(r"^taken (.*)", done.stdout.decode(), re.M)}
    timers = {"random/jitter_msp430.c"} if (board, variant) in TIMERS_UNKNOWN else set()
    assert taken == sources_of(board, variant) - timers
    assert len(taken) > 80
