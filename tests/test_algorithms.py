# SPDX-License-Identifier: MIT OR Apache-2.0
"""Descriptions of the library's algorithms: held to the headers, and refused in a sentence where they are wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sunseal.catalog.algorithms import AlgorithmError, Description, Library, library

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "firmware" / "crypto" / "include" / "sunseal"
LIBRARY = library(ROOT / "firmware", ROOT / "data")
ALONE = {"error.h"}
"""Header that declares no function."""
PROTOTYPE = re.compile(r"^(?:void|bool|int|size_t|u?int\d+_t) \*?sunseal_(\w+)\(([^;{]*?)\);", re.MULTILINE)


def code(header: str) -> str:
    """A header without comments and directives."""
    text = re.sub(r"/\*.*?\*/", "", (HEADERS / header).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)


def declared(header: str) -> dict[str, tuple[str, ...]]:
    """The functions of a header with the names of their arguments."""
    return {
        name: tuple(re.sub(r"\[.*?\]", "", argument).split()[-1].lstrip("*") for argument in arguments.split(","))
        for name, arguments in PROTOTYPE.findall(code(header))
    }


@pytest.mark.parametrize("told", [d for d in LIBRARY.files if d.headers], ids=lambda d: d.path.stem)
def test_a_header_declares_what_is_described(told: Description) -> None:
    described = {f.name: f.arguments for f in told.functions}
    assert described == {name: args for header in told.headers for name, args in declared(header).items()}
    ciphers = re.findall(r"extern const struct sunseal_block sunseal_(\w+);", "".join(map(code, told.headers)))
    assert ciphers == [i.name for i in told.implementations]


def test_every_header_is_described() -> None:
    named = [header for told in LIBRARY.files for header in told.headers]
    assert sorted([*named, *ALONE]) == sorted(path.name for path in HEADERS.glob("*.h"))
    # What looks like a prototype and was not read as one.
    for header in named:
        calls = set(re.findall(r"\bsunseal_(\w+)\(", code(header)))
        assert calls == set(declared(header)), header


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str, str], Library]:
    """Read the library with a text of one of its files put in another's place."""
    for folder in ("crypto/algorithms", "coupon/algorithms", "handshake/algorithms", "boards", "bench"):
        shutil.copytree(ROOT / "firmware" / folder, tmp_path / "firmware" / folder)

    def read(file: str, old: str, new: str) -> Library:
        path = tmp_path / "firmware" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return library(tmp_path / "firmware", ROOT / "data")

    return read


XTEA, ASCON = "crypto/algorithms/xtea.toml", "crypto/algorithms/ascon.toml"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (XTEA, "summary =", "sumary =", r"xtea.toml, workload `xtea-encrypt`: unknown key `sumary`"),
        (XTEA, "title =", "titel =", r"xtea.toml: unknown key `titel`; there are: title"),
        (XTEA, 'title = "XTEA"\n', "", r"xtea.toml: `title` is missing"),
        (XTEA, 'group = "cipher"', 'group = "ciphers"', r"xtea.toml: `group` is `ciphers`; there are: ecc, rsa"),
        (XTEA, "key_bytes = 16", 'key_bytes = "16"', r"implementation `xtea`: `key_bytes` is '16', which is no int"),
        (XTEA, "security_bits = 126\n", "", r"workload `xtea-encrypt`: `security_bits` is missing"),
        (XTEA, 'input = "key[16]', 'input = "key[sixteen]', r"`input`: `key\[sixteen\]` is no part of a layout"),
        (XTEA, 'secret = ["key", "in"]', 'secret = ["kay"]', r"`secret` names `kay`, which is no part of its input"),
        (XTEA, 'secret = ["key", "in"]', 'secret = "key"', r"`secret` is 'key', which is no list of names"),
        (XTEA, 'run = ["block_encrypt"]', 'run = ["encrypt"]', r"`xtea-encrypt`: there is no function `encrypt`"),
        (XTEA, 'cipher = "xtea"', 'cipher = "tea"', r"`xtea-encrypt`: there is no implementation `tea`"),
        (XTEA, "coprocessor = true", 'needs = ["tea"]', r"`xtea-encrypt`: `needs` names `tea`, which no board"),
        (XTEA, "coprocessor = true", 'timing = "fast"', r"`timing` is `fast`; there are: constant, tables"),
        (XTEA, "coprocessor = true", 'vartime_on = ["z80"]', r"`vartime_on` names `z80`, which is no device"),
        (XTEA, 'run = ["block_encrypt"]', "", r"either `run` says how it runs or `by_hand` which file"),
        (XTEA, 'title = "XTEA"', "title = 5", r"xtea.toml: `title` is 5, which is no str"),
        (XTEA, "order = 3", 'order = "3"', r"xtea.toml: `order` is '3', which is no int"),
        (XTEA, 'headers = ["xtea.h"]', "headers = [1]", r"`headers` is \[1\], which is no list of names"),
        (XTEA, "xtea = {", '"{way}" = {', r"no set gives `way`; there are: no sets"),
        (XTEA, 'operation = "encrypt"', 'operation = "{way}"', r"no set gives `way`; there are: no sets"),
        (XTEA, "[bench]", "[bunch]", r"xtea.toml: unknown key `bunch`"),
        (XTEA, "[implementations]", "[[]", r"xtea.toml is not valid TOML"),
        (ASCON, 'tag = "tag"', 'tag = "tog"', r"function `ascon_aead128_open`, `tag`: `tog` is no argument"),
        (ASCON, 'secret = ["data"] }', 'secret = ["d[a"] }', r"`d\[a` is neither an argument nor bytes of one"),
        (ASCON, 'secret = ["data"] }', 'secret = ["datum"] }', r"`ascon_hash256`, `secret`: `datum` is no argument"),
        (ASCON, "ascon_hash256_init =", "sha1_init =", r"`sha1_init` stands twice among the functions"),
        ("boards/msp432p401r-launchpad/board.mk", ":= aes", ":= ase", r"HAS names `ase`, which no workload"),
        ("crypto/algorithms/rsa.toml", "{size}_public", "{bytes}_public", r"no set gives `bytes`; there are: SIZE"),
        ("crypto/algorithms/aes.toml", "[[workload]]", '[[workload]]\nsets = ["hf"]', r"there is no set `hf`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    changed: Callable[[str, str, str], Library], file: str, old: str, new: str, said: str
) -> None:
    with pytest.raises(AlgorithmError, match=said):
        changed(file, old, new)


def test_an_argument_that_nothing_gives_is_named(tmp_path: Path, changed: Callable[[str, str, str], Library]) -> None:
    changed(XTEA, 'before = ["block_', 'before = ["ctr_init", "block_')
    done = subprocess.run(
        [sys.executable, tmp_path / "firmware" / "bench" / "generate.py", ROOT / "data", "c", tmp_path],
        env={"PYTHONPATH": str(ROOT / "python" / "src" / "sunseal" / "catalog")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "argument `ctr` of `ctr_init` is no part of its input or output; say in `given` what it is" in done.stderr
