#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""An independent model of ECDSA that makes secp160r1's known answers.

    python3 firmware/tests/model.py write|check     data/vectors/secp160r1.json
    python3 firmware/tests/model.py openssl         let the OpenSSL command line judge them

Textbook affine arithmetic on Python integers, hmac and hashlib: nothing in common with firmware/crypto.
"""

import base64
import hashlib
import hmac
import json
import subprocess
import sys
import tempfile
from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "data" / "vectors" / "secp160r1.json"
Point = tuple[int, int] | None

# SEC 2 version 1.0, section 2.4.2
P = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF7FFFFFFF
A = P - 3
N = 0x0100000000000000000001F4C8F927AED3CA752257
G = (0x4A96B5688EF573284664698968C38BB913CBFC82, 0x23A628553168947D59DCC912042351377AC5FB32)
OID = bytes.fromhex("06052b81040008")


def add(left: Point, right: Point) -> Point:
    """Affine sum."""
    if left is None or right is None:
        return left or right
    if left[0] == right[0]:
        if (left[1] + right[1]) % P == 0:
            return None
        slope = (3 * left[0] ** 2 + A) * pow(2 * left[1], P - 2, P)
    else:
        slope = (right[1] - left[1]) * pow(right[0] - left[0], P - 2, P)
    x = (slope**2 - left[0] - right[0]) % P
    return x, (slope * (left[0] - x) - left[1]) % P


def multiply(scalar: int, point: Point) -> Point:
    """Right-to-left double and add."""
    total: Point = None
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def bits_to_int(data: bytes) -> int:
    """RFC 6979, section 2.3.2."""
    value = int.from_bytes(data, "big")
    return value >> max(0, 8 * len(data) - N.bit_length())


def nonce(d: int, digest: bytes, added: bytes, name: str) -> tuple[int, int]:
    """RFC 6979, section 3.2 with 3.6; also how many candidates were refused."""
    size = hashlib.new(name).digest_size
    seed = d.to_bytes(21, "big") + (bits_to_int(digest) % N).to_bytes(21, "big") + added
    key, value = bytes(size), b"\x01" * size
    for separator in (b"\x00", b"\x01"):
        key = hmac.digest(key, value + separator + seed, name)
        value = hmac.digest(key, value, name)
    refused = 0
    while True:
        text = b""
        while 8 * len(text) < N.bit_length():
            value = hmac.digest(key, value, name)
            text += value
        candidate = bits_to_int(text)
        if 1 <= candidate < N:
            return candidate, refused
        refused += 1
        key = hmac.digest(key, value + b"\x00", name)
        value = hmac.digest(key, value, name)


def sign(d: int, digest: bytes, added: bytes) -> tuple[int, int, int]:
    """r, s and the number of refused candidates; the nonce's HMAC is over SHA-1."""
    k, refused = nonce(d, digest, added, "sha1")
    point = multiply(k, G)
    assert point is not None
    r = point[0] % N
    s = pow(k, N - 2, N) * (bits_to_int(digest) + r * d) % N
    assert r and s
    return r, s, refused


def key_pair(entropy: bytes) -> tuple[int, Point]:
    """FIPS 186-5, appendix A.2.1, as sunseal_ecdsa_secp160r1_keygen does it."""
    d = int.from_bytes(entropy, "big") % N
    return d, multiply(d, G)


def encode_point(point: Point) -> str:
    """x || y in hexadecimal."""
    assert point is not None
    return f"{point[0]:040x}{point[1]:040x}"


def make() -> str:
    """The vector file."""
    keygen, signs = [], []
    for i in range(12):
        entropy = hashlib.sha256(b"sunseal keygen %d" % i).digest()
        d, q = key_pair(entropy)
        keygen.append({"entropy": entropy.hex(), "d": f"{d:042x}", "q": encode_point(q)})
        for hash_name in ("sha1", "sha256"):
            for added in (b"", hashlib.sha256(b"sunseal added %d" % i).digest()):
                message = b"sunseal message %d" % i
                digest = hashlib.new(hash_name, message).digest()
                r, s, refused = sign(d, digest, added)
                signs.append(
                    {
                        "hash": hash_name,
                        "message": message.hex(),
                        "d": f"{d:042x}",
                        "q": encode_point(q),
                        "added_entropy": added.hex(),
                        "refused_candidates": refused,
                        "signature": f"{r:042x}{s:042x}",
                    }
                )
    for d in (1, 2, N - 2, N - 1):
        q = multiply(d, G)
        digest = hashlib.sha1(b"edge").digest()
        r, s, refused = sign(d, digest, b"")
        signs.append(
            {
                "hash": "sha1",
                "message": b"edge".hex(),
                "d": f"{d:042x}",
                "q": encode_point(q),
                "added_entropy": "",
                "refused_candidates": refused,
                "signature": f"{r:042x}{s:042x}",
            }
        )
    data = {
        "document": "SEC 2 version 1.0, section 2.4.2; FIPS 186-5; RFC 6979 with HMAC-SHA-1",
        "made_by": "python3 firmware/tests/model.py write",
        "keygen": keygen,
        "sign": signs,
    }
    return json.dumps(data, indent=1) + "\n"


def der(tag: int, body: bytes) -> bytes:
    """One DER element shorter than 128 bytes."""
    assert len(body) < 128
    return bytes([tag, len(body)]) + body


def der_integer(value: int) -> bytes:
    """A DER INTEGER."""
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def openssl() -> int:
    """Have OpenSSL verify every signature and refuse it with one bit turned."""
    data = json.loads(VECTORS.read_text(encoding="ascii"))
    algorithm = der(0x30, bytes.fromhex("06072a8648ce3d0201") + OID)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        key, sig, msg = (Path(folder) / name for name in ("key.pem", "sig", "msg"))
        for row in data["sign"]:
            bits = der(3, b"\x00\x04" + bytes.fromhex(row["q"]))
            body = base64.encodebytes(der(0x30, algorithm + bits)).decode()
            key.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}-----END PUBLIC KEY-----\n")
            msg.write_bytes(bytes.fromhex(row["message"]))
            raw = bytes.fromhex(row["signature"])
            for flip in (0, 1):
                r, s = int.from_bytes(raw[:21], "big"), int.from_bytes(raw[21:], "big") ^ flip
                sig.write_bytes(der(0x30, der_integer(r) + der_integer(s)))
                command = ["openssl", "dgst", f"-{row['hash']}", "-verify", str(key)]
                done = subprocess.run([*command, "-signature", str(sig), str(msg)], capture_output=True, check=False)
                wrong += (done.returncode == 0) != (flip == 0)
    print(f"openssl: {len(data['sign'])} signatures, {wrong} verdicts differ")
    return int(wrong > 0)


def main() -> int:
    """Write, check or cross-check."""
    if sys.argv[1:] == ["write"]:
        VECTORS.write_text(make(), encoding="ascii")
        return 0
    if sys.argv[1:] == ["check"]:
        if VECTORS.read_text(encoding="ascii") == make():
            return 0
        print("secp160r1.json is stale: run `python3 firmware/tests/model.py write`")
        return 1
    if sys.argv[1:] == ["openssl"]:
        return openssl()
    print("model.py: the one argument is 'write', 'check' or 'openssl'", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
