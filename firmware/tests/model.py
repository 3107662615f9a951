#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""An independent model of ECDSA and ECDH that makes known answers for all curves.

    python3 firmware/tests/model.py write|check     data/vectors/{secp160r1,p224,p256}.json
    python3 firmware/tests/model.py openssl         let the OpenSSL command line judge them

Textbook affine arithmetic on Python integers, hmac and hashlib: nothing in common with firmware/crypto.
"""

import base64
import hashlib
import hmac
import itertools
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "data" / "vectors"
Point = tuple[int, int] | None


@dataclass(frozen=True)
class Curve:
    """A short Weierstrass curve with a = -3, and how the library uses it."""

    name: str
    document: str
    p: int
    n: int
    g: tuple[int, int]
    oid: bytes  # as a DER object identifier
    nonce_hash: str  # of the HMAC that makes the nonces
    hashes: tuple[str, ...]  # of messages
    modular: bool  # entropy is taken modulo n, not as the key itself

    @property
    def field_digits(self) -> int:
        """Hexadecimal digits of a coordinate."""
        return 2 * ((self.p.bit_length() + 7) // 8)

    @property
    def order_bytes(self) -> int:
        """Bytes of a scalar."""
        return (self.n.bit_length() + 7) // 8

    def add(self, left: Point, right: Point) -> Point:
        """Affine sum."""
        if left is None or right is None:
            return left or right
        p = self.p
        if left[0] == right[0]:
            if (left[1] + right[1]) % p == 0:
                return None
            slope = (3 * left[0] ** 2 - 3) * pow(2 * left[1], -1, p)
        else:
            slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, p)
        x = (slope**2 - left[0] - right[0]) % p
        return x, (slope * (left[0] - x) - left[1]) % p

    def multiply(self, scalar: int, point: Point) -> Point:
        """Right-to-left double and add."""
        total: Point = None
        while scalar:
            if scalar & 1:
                total = self.add(total, point)
            point = self.add(point, point)
            scalar >>= 1
        return total

    def bits_to_int(self, data: bytes) -> int:
        """RFC 6979, section 2.3.2."""
        value = int.from_bytes(data, "big")
        return value >> max(0, 8 * len(data) - self.n.bit_length())

    def nonce(self, d: int, digest: bytes, added: bytes) -> tuple[int, int]:
        """RFC 6979, section 3.2 with 3.6; also how many candidates were refused.

        With added entropy a modular curve reduces 256 bits of the string: FIPS 186-5, appendix A.3.1.
        """
        name, n, count = self.nonce_hash, self.n, self.order_bytes
        size = hashlib.new(name).digest_size
        seed = d.to_bytes(count, "big") + (self.bits_to_int(digest) % n).to_bytes(count, "big") + added
        key, value = bytes(size), b"\x01" * size
        for separator in (b"\x00", b"\x01"):
            key = hmac.digest(key, value + separator + seed, name)
            value = hmac.digest(key, value, name)
        refused = 0
        while True:
            text = b""
            while 8 * len(text) < n.bit_length():
                value = hmac.digest(key, value, name)
                text += value
            extra = self.modular and added
            candidate = int.from_bytes(text[:32], "big") % n if extra else self.bits_to_int(text)
            if 1 <= candidate < n:
                return candidate, refused
            refused += 1
            key = hmac.digest(key, value + b"\x00", name)
            value = hmac.digest(key, value, name)

    def sign(self, d: int, digest: bytes, added: bytes) -> tuple[int, int, int]:
        """r, s and the number of refused candidates."""
        k, refused = self.nonce(d, digest, added)
        point = self.multiply(k, self.g)
        assert point is not None
        r = point[0] % self.n
        s = pow(k, self.n - 2, self.n) * (self.bits_to_int(digest) + r * d) % self.n
        assert r and s
        return r, s, refused

    def encode(self, point: Point) -> str:
        """x || y in hexadecimal."""
        assert point is not None
        return f"{point[0]:0{self.field_digits}x}{point[1]:0{self.field_digits}x}"

    def scalar(self, value: int) -> str:
        """A scalar in hexadecimal."""
        return f"{value:0{2 * self.order_bytes}x}"

    def keygen_row(self, entropy: bytes) -> dict[str, str]:
        """FIPS 186-5, appendix A.2.1 where modular, else A.2.2."""
        d = int.from_bytes(entropy if self.modular else entropy[: self.order_bytes], "big")
        d = d % self.n if self.modular else d
        assert 0 < d < self.n
        q = self.encode(self.multiply(d, self.g))
        return {"entropy": entropy.hex(), "d": self.scalar(d), "q": q}

    def sign_row(self, d: int, hash_name: str, message: bytes, added: bytes) -> dict[str, Any]:
        """A signature with all that goes into it."""
        r, s, refused = self.sign(d, hashlib.new(hash_name, message).digest(), added)
        return {
            "hash": hash_name,
            "message": message.hex(),
            "d": self.scalar(d),
            "q": self.encode(self.multiply(d, self.g)),
            "added_entropy": added.hex(),
            "refused_candidates": refused,
            "signature": self.scalar(r) + self.scalar(s),
        }

    def ecdh_row(self, d: int, other: int) -> dict[str, str]:
        """The abscissa that d shares with the key of other."""
        q = self.multiply(other, self.g)
        point = self.multiply(d, q)
        assert point is not None
        return {"d": self.scalar(d), "q": self.encode(q), "shared": f"{point[0]:0{self.field_digits}x}"}

    def vectors(self) -> str:
        """The vector file."""
        edges = (1, 2, 3, self.n >> 1, self.n - 2, self.n - 1)
        # Entropy that is no longer than the key, or that is taken modulo n, ends with it; else it begins so.
        pad = 0 if self.modular else 32 - self.order_bytes
        keygen = [self.keygen_row(d.to_bytes(32 - pad, "big") + bytes(pad)) for d in edges]
        signs = [self.sign_row(d, self.hashes[0], b"edge", b"") for d in edges]
        for i in range(12):
            row = self.keygen_row(hashlib.sha256(b"sunseal keygen %d" % i).digest())
            keygen.append(row)
            for hash_name in self.hashes:
                for added in (b"", hashlib.sha256(b"sunseal added %d" % i).digest()):
                    d = int(row["d"], 16)
                    signs.append(self.sign_row(d, hash_name, b"sunseal message %d" % i, added))
        ends = (*range(1, 9), 15, 16, 17, *(self.n - i for i in (*range(1, 9), 14, 16, 30, 31, 32)))
        ecdh = [self.ecdh_row(d, 0x5EA1 + d % 65537) for d in ends]
        ecdh += [self.ecdh_row(int(a["d"], 16), int(b["d"], 16)) for a, b in itertools.pairwise(keygen[6:])]
        data = {
            "document": f"{self.document}; FIPS 186-5; RFC 6979 with HMAC-{self.nonce_hash.upper()}",
            "made_by": "python3 firmware/tests/model.py write",
            "keygen": keygen,
            "sign": signs,
            "ecdh": ecdh,
        }
        return json.dumps(data, indent=1) + "\n"

    @property
    def file(self) -> Path:
        """Where the vectors lie."""
        return FOLDER / f"{self.name}.json"


CURVES = (
    Curve(
        name="secp160r1",
        document="SEC 2 version 1.0, section 2.4.2",
        p=2**160 - 2**31 - 1,
        n=0x0100000000000000000001F4C8F927AED3CA752257,
        g=(0x4A96B5688EF573284664698968C38BB913CBFC82, 0x23A628553168947D59DCC912042351377AC5FB32),
        oid=bytes.fromhex("06052b81040008"),
        nonce_hash="sha1",
        hashes=("sha1", "sha256"),
        modular=True,
    ),
    Curve(
        name="p224",
        document="SEC 2 version 2.0, section 2.3.2",
        p=2**224 - 2**96 + 1,
        n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D,
        g=(
            0xB70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21,
            0xBD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34,
        ),
        oid=bytes.fromhex("06052b81040021"),
        nonce_hash="sha256",
        hashes=("sha256", "sha224"),
        modular=False,
    ),
    Curve(
        name="p256",
        document="SEC 2 version 2.0, section 2.4.2",
        p=2**256 - 2**224 + 2**192 + 2**96 - 1,
        n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
        g=(
            0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
            0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        ),
        oid=bytes.fromhex("06082a8648ce3d030107"),
        nonce_hash="sha256",
        hashes=("sha256",),
        modular=False,
    ),
)


def der(tag: int, body: bytes) -> bytes:
    """One DER element shorter than 128 bytes."""
    assert len(body) < 128
    return bytes([tag, len(body)]) + body


def der_integer(value: int) -> bytes:
    """A DER INTEGER."""
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def openssl(curve: Curve) -> int:
    """Have OpenSSL verify every signature and refuse it with one bit turned."""
    data = json.loads(curve.file.read_text(encoding="ascii"))
    algorithm = der(0x30, bytes.fromhex("06072a8648ce3d0201") + curve.oid)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        key, sig, msg = (Path(folder) / name for name in ("key.pem", "sig", "msg"))
        for row in data["sign"]:
            bits = der(3, b"\x00\x04" + bytes.fromhex(row["q"]))
            body = base64.encodebytes(der(0x30, algorithm + bits)).decode()
            key.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}-----END PUBLIC KEY-----\n")
            msg.write_bytes(bytes.fromhex(row["message"]))
            raw = bytes.fromhex(row["signature"])
            half = len(raw) // 2
            for flip in (0, 1):
                r, s = int.from_bytes(raw[:half], "big"), int.from_bytes(raw[half:], "big") ^ flip
                sig.write_bytes(der(0x30, der_integer(r) + der_integer(s)))
                command = ["openssl", "dgst", f"-{row['hash']}", "-verify", str(key)]
                command += ["-signature", str(sig), str(msg)]
                done = subprocess.run(command, capture_output=True, check=False)
                wrong += (done.returncode == 0) != (flip == 0)
    print(f"openssl, {curve.name}: {len(data['sign'])} signatures, {wrong} verdicts differ")
    return int(wrong > 0)


def main() -> int:
    """Write, check or cross-check."""
    if sys.argv[1:] == ["write"]:
        for curve in CURVES:
            curve.file.write_text(curve.vectors(), encoding="ascii")
        return 0
    if sys.argv[1:] == ["check"]:
        for curve in CURVES:
            if curve.file.read_text(encoding="ascii") != curve.vectors():
                print(f"{curve.file.name} is stale: run `python3 firmware/tests/model.py write`")
                return 1
        return 0
    if sys.argv[1:] == ["openssl"]:
        return max(openssl(curve) for curve in CURVES)
    print("model.py: the one argument is 'write', 'check' or 'openssl'", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
