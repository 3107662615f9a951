# SPDX-License-Identifier: MIT OR Apache-2.0
"""The cryptographic library's package in other people's builds: made of it alone, run, judged by another library."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import sizes
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from recipes import ALL, ARM, ARM_LINK, COMMANDS_MAX, LINES_MAX, RECIPES, Recipe

from sunseal import Machine

HERE = Path(__file__).resolve().parent
MESSAGE = b"21.5 C at noon".ljust(24, b"\0")
KEY, NONCE, HEADER = bytes(range(16)), bytes([1, 3, 5, 7, 9]).ljust(13, b"\0"), b"node7"
OK, ERR_SIGNATURE, ERR_TAG = 0, -1, -5
OUTCOME_BYTES = 64 + 64 + 24 + 16 + 7


@pytest.fixture(scope="session")
def path() -> str:
    return sizes.tools_path()


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sizes.make(tmp_path_factory.mktemp("dist"))


def unpacked(package: Path, folder: Path) -> str:
    """Unpack the archive into a folder and return the name of what lies there."""
    with tarfile.open(package) as tar:
        tar.extractall(folder, filter="data")
    return package.name.removesuffix(".tar.gz")


def missing(path: str, tools: tuple[str, ...]) -> list[str]:
    return [tool for tool in tools if shutil.which(tool, path=path) is None]


def ran(command: str, folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user types it; nothing of this tree is on its way but the compilers."""
    own = {"PATH": path, "HOME": str(folder), "LC_ALL": "C"}
    return subprocess.run(command, shell=True, cwd=folder, env=own, capture_output=True, text=True, check=False)


def lay(recipe: Recipe, package: Path, folder: Path) -> str:
    """Write what the user and his board bring beside the package, and return the package's name."""
    name = unpacked(package, folder)
    shutil.copy(HERE / "program" / "main.c", folder / recipe.main)
    for support in recipe.support:
        (folder / support).parent.mkdir(exist_ok=True)
        shutil.copy(HERE / "boards" / support, folder / support)
    for file, text in recipe.files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return name


def outcome(board: str, elf: Path) -> bytes:
    """Run the program and return what it leaves."""
    if board == "host":
        done = subprocess.run([str(elf)], check=True, capture_output=True, text=True)
        return bytes.fromhex(done.stdout)
    machine = Machine(board, elf)
    assert machine.run(until="finished", time_s=60).kind == "pc"
    return machine.read("outcome", OUTCOME_BYTES)


def judge(left: bytes) -> None:
    """Hold what a program left to another implementation of the same standards."""
    public, signature, sealed, tag = left[:64], left[64:128], left[128:152], left[152:168]
    statuses = [int.from_bytes([byte], "little", signed=True) for byte in left[168:]]
    assert statuses == [OK, OK, OK, ERR_SIGNATURE, OK, OK, ERR_TAG]
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\4" + public)
    r, s = (int.from_bytes(signature[at : at + 32], "big") for at in (0, 32))
    digest = hashlib.sha256(MESSAGE).digest()
    key.verify(encode_dss_signature(r, s), digest, ec.ECDSA(Prehashed(hashes.SHA256())))
    with pytest.raises(InvalidSignature):
        key.verify(encode_dss_signature(r, s), bytes(32), ec.ECDSA(Prehashed(hashes.SHA256())))
    assert AESCCM(KEY).decrypt(NONCE, sealed + tag, HEADER) == MESSAGE


def made(recipe: Recipe, package: Path, folder: Path, path: str) -> Path:
    """Follow a recipe and return the program; its commands say nothing that is wrong."""
    name = lay(recipe, package, folder)
    for command in recipe.commands:
        done = ran(command.replace("{S}", name).replace("{here}", str(folder)), folder, path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == "", done.stderr
    return folder / recipe.made


def test_a_recipe_is_short() -> None:
    assert {name: r.lines for name, r in RECIPES.items() if r.lines > LINES_MAX} == {}
    assert {name: len(r.commands) for name, r in RECIPES.items() if len(r.commands) > COMMANDS_MAX} == {}


@pytest.mark.parametrize("name", RECIPES)
def test_the_package_alone_signs_verifies_and_seals(name: str, package: Path, path: str, tmp_path: Path) -> None:
    recipe = RECIPES[name]
    lacking = missing(path, recipe.tools)
    if lacking and not os.environ.get("SUNSEAL_REQUIRE_TOOLS"):
        pytest.skip(f"there is no {lacking[0]} on PATH: `firmware/toolchain/get --for consumers`")
    assert not lacking
    judge(outcome(recipe.board, made(recipe, package, tmp_path, path)))


def test_one_archive_serves_every_convention_for_floats(package: Path, path: str, tmp_path: Path) -> None:
    """A program for hard float links an archive made for soft float, by GNU ld and by lld, and runs."""
    recipe = RECIPES["gcc, Cortex-M4, hard"]
    name = lay(recipe, package, tmp_path)
    soft = f"arm-none-eabi-gcc {ARM} -mfloat-abi=soft".replace("{S}", name)
    hard = f"arm-none-eabi-gcc {ARM} -mfloat-abi=hard -mfpu=fpv4-sp-d16".replace("{S}", name)
    archive = f"{soft} -c {ALL} && arm-none-eabi-ar rcs soft.a *.o && rm *.o".replace("{S}", name)
    for command in (archive, f"{hard} {ARM_LINK} main.c arm.c soft.a -o gnu.elf", f"{hard} -c main.c arm.c"):
        done = ran(command, tmp_path, path)
        assert (done.returncode, done.stderr) == (0, "")
    libc = "$(arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -print-file-name=libc.a)"
    done = ran(f"ld.lld --gc-sections -T arm.ld main.o arm.o soft.a {libc} -o lld.elf", tmp_path, path)
    assert (done.returncode, done.stderr) == (0, "")
    judge(outcome(recipe.board, tmp_path / "gnu.elf"))
    judge(outcome(recipe.board, tmp_path / "lld.elf"))


def test_a_wrong_outcome_is_seen(package: Path, path: str, tmp_path: Path) -> None:
    """The judge refuses one changed bit of each part: it does not just read the program's own verdicts."""
    left = bytearray(outcome("host", made(RECIPES["C++17, host"], package, tmp_path, path)))
    for at in (0, 64, 127, 128, 167, 168, 174):
        left[at] ^= 1
        with pytest.raises((AssertionError, InvalidSignature, InvalidTag, ValueError)):
            judge(bytes(left))
        left[at] ^= 1
    judge(bytes(left))
