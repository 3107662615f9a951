# SPDX-License-Identifier: MIT OR Apache-2.0
"""The references that the firmware's output is judged by, against the known answers of their documents."""

from __future__ import annotations

import json
from typing import Any

from sunseal.catalog import boards
from sunseal.measurement import references


def rows(file: str, key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((boards.home() / "data" / "vectors" / file).read_text())[key]
    assert found
    return found


def test_xtea_gives_the_published_blocks() -> None:
    for row in rows("xtea.json", "xtea"):
        plain = bytes.fromhex(row["plaintext"])
        got = b"".join(
            references.xtea_encrypt(bytes.fromhex(row["key"]), plain[i : i + 8]) for i in range(0, len(plain), 8)
        )
        assert got.hex() == row["ciphertext"]


def test_present_gives_the_blocks_of_its_paper() -> None:
    for row in rows("present.json", "present80") + rows("present.json", "present128"):
        got = references.present_encrypt(bytes.fromhex(row["key"]), bytes.fromhex(row["plaintext"]))
        assert got.hex() == row["ciphertext"], row


def test_ascon_hash256_gives_the_known_answers() -> None:
    for row in rows("ascon.json", "hash256"):
        assert references.ascon_hash256(bytes(i % 256 for i in range(row["bytes"]))).hex() == row["digest"]


def test_ascon_aead128_gives_the_answers_of_wycheproof() -> None:
    (file,) = (boards.home() / "data" / "vectors" / "wycheproof").glob("ascon*128*.json")
    seen = 0
    for group in json.loads(file.read_text())["testGroups"]:
        if group["tagSize"] != 128:
            continue
        for test in group["tests"]:
            if test["result"] == "valid":
                key, nonce, aad, message = (bytes.fromhex(test[k]) for k in ("key", "iv", "aad", "msg"))
                assert references.ascon_aead128_seal(key, nonce, aad, message).hex() == test["ct"] + test["tag"], test
                seen += 1
    assert seen > 10


def test_lms_accepts_its_own_signature_and_nothing_near_it() -> None:
    key = references.Lms(bytes(16), bytes(24))
    signature = key.sign(5, b"message", bytes(range(24)))
    assert len(signature) == 1380
    assert key.verify(b"message", signature)
    assert not key.verify(b"massage", signature)
    assert not key.verify(b"message", signature[:-1])
    for at in (3, 7, 8, 40, 1300, 1379):
        assert not key.verify(b"message", signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1 :]), at


def test_aes128_schedule_of_fips_197() -> None:
    """Expand the key of appendix A.1."""
    schedule = references.aes128_schedule(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
    assert schedule[16:32].hex() == "a0fafe1788542cb123a339392a6c7605"
    assert schedule[-16:].hex() == "d014f9a8c9ee2589e13f0cc8b6630ca6"
