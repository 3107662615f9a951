# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs of one function: linked of nothing that they do not call, and as many bytes as the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sizes

CURVES = {
    "p256": r"_p256_|_fe256_",
    "p224": r"_p224_|_fe224_",
    "secp160r1": r"_secp160r1_|_fe160_",
    "25519": r"25519",
}
HASHES = {name: rf"_{name}(_|$)" for name in ("sha1", "sha256", "sha512")}
RSA, CIPHERS, ASCON = r"_rsa", r"_(aes|present|xtea|ccm|cmac|ctr)", r"_ascon_"
EVERYTHING = {*CURVES.values(), *HASHES.values(), RSA, CIPHERS, ASCON}
OPENS, DECRYPTS = r"_(ccm|ascon_aead128)_open|_hmac_\w+_verify", r"_decrypt$"

MAY_HAVE: dict[str, set[str]] = {
    "ECDSA P-256: key pair": {CURVES["p256"]},
    # RFC 6979's nonce is an HMAC.
    "ECDSA P-256: sign": {CURVES["p256"], HASHES["sha256"]},
    "ECDSA P-256: verify": {CURVES["p256"]},
    "ECDH P-256": {CURVES["p256"]},
    "ECDSA P-224: sign": {CURVES["p224"], HASHES["sha256"]},
    "ECDSA secp160r1: sign": {CURVES["secp160r1"], HASHES["sha1"]},
    "X25519": {CURVES["25519"]},
    "Ed25519: sign": {CURVES["25519"], HASHES["sha512"]},
    "Ed25519: verify": {CURVES["25519"], HASHES["sha512"]},
    "RSA-2048-PSS: sign": {RSA, HASHES["sha256"]},
    "RSA-2048-PSS: verify": {RSA, HASHES["sha256"]},
    "SHA-256": {HASHES["sha256"]},
    "SHA-512": {HASHES["sha512"]},
    "HMAC-SHA-256": {HASHES["sha256"]},
    "HKDF-SHA-256": {HASHES["sha256"]},
    "AES-128-CCM: seal and open": {CIPHERS},
    "AES-128-CTR": {CIPHERS},
    "AES-128-CMAC": {CIPHERS},
    "Ascon-AEAD128: seal": {ASCON},
    "Ascon-Hash256": {ASCON},
    "LMS: verify": {HASHES["sha256"]},
    "HMAC-DRBG": {HASHES["sha256"]},
}
"""Families of functions, by their names, that a function may bring with it."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sizes.make(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def objects(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the package for each target; as a side effect the table is made of the same objects."""
    work = tmp_path_factory.mktemp("objects")
    (work / "table").write_text(sizes.table(package, work, sizes.tools_path()), encoding="utf-8")
    return work


def test_the_readme_s_sizes_are_what_the_linkers_give(objects: Path) -> None:
    told = sizes.TABLE.search(sizes.README.read_text(encoding="utf-8"))
    assert told and told[0] == (objects / "table").read_text(encoding="utf-8"), "run tests/consumers/sizes.py write"


@pytest.mark.parametrize("target", sizes.TARGETS)
@pytest.mark.parametrize("row", sizes.OPERATIONS)
def test_only_what_is_called_is_linked(row: str, target: str, objects: Path) -> None:
    names = sizes.OPERATIONS[row]
    there = sizes.kept(sizes.linked(sizes.TARGETS[target], objects / target, names, sizes.tools_path()))
    assert {f"sunseal_{name}" for name in names} <= there
    for family in EVERYTHING - MAY_HAVE[row]:
        assert sorted(name for name in there if re.search(family, name)) == [], family
    if "open" not in row:
        assert sorted(name for name in there if re.search(OPENS, name)) == []


@pytest.mark.parametrize("target", ["avr", "msp430"])
def test_a_cipher_without_decryption_brings_none(target: str, package: Path, objects: Path, tmp_path: Path) -> None:
    """A structure names both directions, so the linker keeps both, unless the build says that it only encrypts."""
    path, names = sizes.tools_path(), ["aes128", "ccm_seal"]
    both = sizes.linked(sizes.TARGETS[target], objects / target, names, path)
    assert any(re.search(DECRYPTS, name) for name in sizes.kept(both))
    lean = tmp_path / "lean"
    sizes.compiled(sizes.TARGETS[target], package, lean, path, "-DSUNSEAL_ENCRYPT_ONLY=1")
    one = sizes.linked(sizes.TARGETS[target], lean, names, path)
    assert not any(re.search(DECRYPTS, name) for name in sizes.kept(one))
    assert sizes.size(one)[0] < sizes.size(both)[0] - 500
