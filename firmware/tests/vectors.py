# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every known answer of data/vectors as one flat list of cases, for host and simulated target alike."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import model

FOLDER = Path(__file__).resolve().parents[2] / "data" / "vectors"
WYCHEPROOF = {
    "secp160r1": "ecdsa_secp160r1_sha256_p1363_test.json",
    "p256": "ecdsa_secp256r1_sha256_p1363_test.json",
}


@dataclass(frozen=True)
class Case:
    """operation: digest, hmac, keygen, sign or verify; algorithm: a hash or a curve."""

    name: str
    operation: str
    algorithm: str
    inputs: tuple[bytes, ...]
    # The output, or for verify one byte: 1 where the signature must be accepted.
    expected: bytes
    hash: str = ""
    wycheproof: bool = False


def load(name: str) -> Any:
    """One vector file."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def digest(row: dict[str, str]) -> bytes:
    """The hash of a row's message."""
    return hashlib.new(row["hash"], bytes.fromhex(row["message"])).digest()


def wycheproof(curve: str) -> Iterator[Case]:
    """Signatures of any other length never reach the library: its callers hold fixed-size arrays."""
    (told,) = (c for c in model.CURVES if c.name == curve)
    for group in load(f"wycheproof/{WYCHEPROOF[curve]}")["testGroups"]:
        key = bytes.fromhex(group["publicKey"]["uncompressed"])[1:]
        assert len(key) == told.field_digits
        for test in group["tests"]:
            signature = bytes.fromhex(test["sig"])
            assert test["result"] in ("valid", "invalid")
            if len(signature) != 2 * told.order_bytes:
                assert test["result"] == "invalid"
                continue
            message = hashlib.sha256(bytes.fromhex(test["msg"])).digest()
            yield Case(
                f"wycheproof {curve} {test['tcId']}: {test['comment']}",
                "verify",
                curve,
                (key, signature, message),
                bytes([test["result"] == "valid"]),
                "sha256",
                True,
            )


def cases() -> Iterator[Case]:
    """All of them."""
    for row in load("fips180.json")["digest"]:
        message = bytes.fromhex(row["message"]) * row["repeat"]
        name = f"fips180 {row['hash']} {row['message'][:8]} x{row['repeat']}"
        yield Case(name, "digest", row["hash"], (message,), bytes.fromhex(row["digest"]))
    for i, row in enumerate(load("rfc4231.json")["hmac"]):
        inputs = (bytes.fromhex(row["key"]), bytes.fromhex(row["message"]))
        yield Case(f"rfc4231 row {i}", "hmac", row["hash"], inputs, bytes.fromhex(row["tag"]))
    rfc = load("rfc6979.json")
    d, q = bytes.fromhex(rfc["d"]), bytes.fromhex(rfc["q"])
    for row in rfc["sign"]:
        name = f"rfc6979 {row['hash']} {bytes.fromhex(row['message']).decode()}"
        signature = bytes.fromhex(row["signature"])
        if row["hash"] == "sha256":
            yield Case(name, "sign", "p256", (d, digest(row), b""), signature, "sha256")
        yield Case(name, "verify", "p256", (q, signature, digest(row)), b"\x01", row["hash"])
    gec = load("gec2.json")
    for row in gec["verify"]:
        inputs = (bytes.fromhex(gec["q"]), bytes.fromhex(row["signature"]), digest(row))
        yield Case("gec2 secp160r1", "verify", "secp160r1", inputs, b"\x01", row["hash"])
    for curve in WYCHEPROOF:
        ours = load(f"{curve}.json")
        for i, row in enumerate(ours["keygen"]):
            expected = bytes.fromhex(row["d"]) + bytes.fromhex(row["q"])
            inputs = (bytes.fromhex(row["entropy"]),)
            yield Case(f"{curve} keygen {i}", "keygen", curve, inputs, expected)
        for i, row in enumerate(ours["sign"]):
            d, q, signature = (bytes.fromhex(row[key]) for key in ("d", "q", "signature"))
            name = f"{curve} {row['hash']} row {i}"
            inputs = (d, digest(row), bytes.fromhex(row["added_entropy"]))
            yield Case(name, "sign", curve, inputs, signature, row["hash"])
            yield Case(name, "verify", curve, (q, signature, digest(row)), b"\x01", row["hash"])
            turned = signature[:-1] + bytes([signature[-1] ^ 1])
            yield Case(f"{name}, a bit turned", "verify", curve, (q, turned, digest(row)), b"\x00")
    for curve in WYCHEPROOF:
        yield from wycheproof(curve)
