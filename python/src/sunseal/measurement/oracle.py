# SPDX-License-Identifier: MIT OR Apache-2.0
"""Inputs for the bench programs, and an independent opinion on what they put out.

What the package cryptography and the standard library have comes from them, verification on secp160r1
from the engine's verifying side, other algorithms from references.py; key pairs on secp160r1 are computed
here, in integers, by the affine formulas of SEC 1 section 2.2.1. None of it shares code with the firmware.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import hmac
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, reduce

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import cmac, hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sunseal import _engine
from sunseal.boards import Workload
from sunseal.measurement import references

MESSAGE = b"Sunseal bench: a short message of a sensor node, 64 bytes long.."
STATUS_OK = 0


@dataclass(frozen=True)
class Curve:
    """Domain parameters (SEC 2 version 1.0, section 2.4.2; FIPS 186-4, D.1.2.2 and D.1.2.3)."""

    p: int
    a: int
    n: int
    g: tuple[int, int]
    field_bytes: int
    order_bytes: int


SECP160R1 = Curve(
    p=2**160 - 2**31 - 1,
    a=2**160 - 2**31 - 4,
    n=0x0100000000000000000001F4C8F927AED3CA752257,
    g=(0x4A96B5688EF573284664698968C38BB913CBFC82, 0x23A628553168947D59DCC912042351377AC5FB32),
    field_bytes=20,
    order_bytes=21,
)
P256 = Curve(
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    a=2**256 - 2**224 + 2**192 + 2**96 - 4,
    n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    g=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
    field_bytes=32,
    order_bytes=32,
)
P224 = Curve(
    p=2**224 - 2**96 + 1,
    a=2**224 - 2**96 - 2,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D,
    g=(
        0xB70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21,
        0xBD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34,
    ),
    field_bytes=28,
    order_bytes=28,
)
CURVES = {"secp160r1": SECP160R1, "p224": P224, "p256": P256}
LIBRARY: dict[str, ec.EllipticCurve] = {"p224": ec.SECP224R1(), "p256": ec.SECP256R1()}
"""The curves that the package cryptography has."""


def _bytes(label: str, count: int = 32) -> bytes:
    return hashlib.shake_256(b"sunseal bench " + label.encode()).digest(count)


def _multiply(curve: Curve, k: int, point: tuple[int, int]) -> tuple[int, int]:
    """Compute k times a point of prime order, 0 < k < n, in affine coordinates."""
    result: tuple[int, int] | None = None
    for bit in bin(k)[2:]:
        if result is not None:
            result = _add(curve, result, result)
        if bit == "1":
            result = point if result is None else _add(curve, result, point)
    assert result is not None
    return result


def _add(curve: Curve, s: tuple[int, int], t: tuple[int, int]) -> tuple[int, int]:
    p = curve.p
    rise, run = (3 * s[0] * s[0] + curve.a, 2 * s[1]) if s == t else (t[1] - s[1], t[0] - s[0])
    slope = rise * pow(run, -1, p)
    x = (slope * slope - s[0] - t[0]) % p
    return x, (slope * (s[0] - x) - s[1]) % p


def _public(parameter: str, d: int) -> bytes:
    curve = CURVES[parameter]
    if parameter in LIBRARY:
        q = ec.derive_private_key(d, LIBRARY[parameter]).public_key().public_numbers()
        point = q.x, q.y
    else:
        point = _multiply(curve, d, curve.g)
    return b"".join(c.to_bytes(curve.field_bytes, "big") for c in point)


def _sign(parameter: str, hash_name: str, d: int, message: bytes) -> bytes:
    """Sign as another signer would, so that the firmware's verification has something true to judge."""
    curve = CURVES[parameter]
    digest = hashlib.new(hash_name, message).digest()
    # SEC 1, section 4.1.3: as many bits of the digest as the order has.
    surplus = max(0, 8 * len(digest) - curve.n.bit_length())
    e = int.from_bytes(digest, "big") >> surplus
    k = int.from_bytes(_bytes(f"{parameter} nonce", 48), "big") % (curve.n - 1) + 1
    r = _multiply(curve, k, curve.g)[0] % curve.n
    s = pow(k, -1, curve.n) * (e + r * d) % curve.n
    return b"".join(v.to_bytes(curve.order_bytes, "big") for v in (r, s))


def _private(parameter: str) -> int:
    n = CURVES[parameter].n
    return int.from_bytes(_bytes(f"{parameter} private", 48), "big") % (n - 1) + 1


@dataclass(frozen=True)
class Trial:
    """What a bench program is fed, by the layout that stands above its WORKLOAD, and how its answer is judged."""

    fed: bytes
    output_bytes: int
    right: Callable[[bytes], bool]
    refused: bytes | None = None
    """An input that must be refused."""


def _exactly(fed: bytes, expected: bytes) -> Trial:
    return Trial(fed, len(expected), lambda output: output == expected)


def _verdict(fed: bytes, spoilt_at: int) -> Trial:
    """What another signer made must be accepted, and refused with one bit changed."""
    return Trial(fed, 0, lambda _: True, fed[:spoilt_at] + bytes([fed[spoilt_at] ^ 1]) + fed[spoilt_at + 1 :])


def _hash(work: Workload) -> Trial:
    return _exactly(MESSAGE, hashlib.new(work.algorithm, MESSAGE).digest())


def _ecdsa(work: Workload) -> Trial:
    parameter = work.parameter or ""
    curve = CURVES[parameter]
    d = _private(parameter)
    suite = f"ecdsa-{parameter}-{work.hash}"
    public_bytes, signature_bytes = 2 * curve.field_bytes, 2 * curve.order_bytes

    def key_pair(output: bytes) -> bool:
        found = int.from_bytes(output[: curve.order_bytes], "big")
        return 0 < found < curve.n and output[curve.order_bytes :][:public_bytes] == _public(parameter, found)

    def all_three(output: bytes) -> bool:
        public, signature = output[curve.order_bytes :][:public_bytes], output[-signature_bytes:]
        return key_pair(output) and verify(suite, public, MESSAGE, signature)

    if work.operation == "keygen":
        return Trial(_bytes(f"{parameter} entropy"), curve.order_bytes + public_bytes, key_pair)
    if work.operation == "all":
        fed = _bytes(f"{parameter} entropy") + _bytes("added entropy") + MESSAGE
        return Trial(fed, curve.order_bytes + public_bytes + signature_bytes, all_three)
    if work.operation == "sign-offline":
        return _exactly(_bytes(f"{parameter} entropy"), b"")  # what a coupon is good for, sign-online shows
    if work.operation in ("sign", "sign-online", "sign-steps", "sign-tasks", "sign-checkpoint"):
        fed = d.to_bytes(curve.order_bytes, "big") + _bytes("added entropy") + MESSAGE
        public = _public(parameter, d)
        return Trial(fed, signature_bytes, lambda output: verify(suite, public, MESSAGE, output))
    fed = _public(parameter, d) + _sign(parameter, work.hash, d, MESSAGE) + MESSAGE
    return _verdict(fed, public_bytes + signature_bytes - 1)


def _ecdh(work: Workload) -> Trial:
    parameter = work.parameter or ""
    curve = CURVES[parameter]
    d = _private(parameter)
    peer = int.from_bytes(_bytes(f"{parameter} peer", 48), "big") % (curve.n - 1) + 1
    q = _public(parameter, peer)
    if parameter in LIBRARY:
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(LIBRARY[parameter], b"\x04" + q)
        shared = ec.derive_private_key(d, LIBRARY[parameter]).exchange(ec.ECDH(), theirs)
    else:
        shared = _public(parameter, d * peer % curve.n)[: curve.field_bytes]
    fed = d.to_bytes(curve.order_bytes, "big") + q
    return replace(_exactly(fed, shared), refused=fed[:-1] + bytes([fed[-1] ^ 1]))  # a point off the curve


def _x25519(_: Workload) -> Trial:
    ours = x25519.X25519PrivateKey.from_private_bytes(_bytes("x25519 private"))
    theirs = x25519.X25519PrivateKey.from_private_bytes(_bytes("x25519 peer")).public_key()
    fed = ours.private_bytes_raw() + theirs.public_bytes_raw()
    return replace(_exactly(fed, ours.exchange(theirs)), refused=fed[:32] + bytes(32))


def _ed25519(work: Workload) -> Trial:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(_bytes("ed25519 private"))
    public = key.public_key().public_bytes_raw()
    if work.operation == "keygen":
        return _exactly(key.private_bytes_raw(), key.private_bytes_raw() + public + public)
    if work.operation == "sign":
        return _exactly(key.private_bytes_raw() + public + MESSAGE, key.sign(MESSAGE))
    return _verdict(public + key.sign(MESSAGE) + MESSAGE, 32)


@cache
def _prime(label: str, bits: int) -> int:
    """Find the first p above a number made of the label with its two highest bits set and 65537 not in p - 1."""
    start = int.from_bytes(_bytes(label, bits // 8), "big") | 3 << bits - 2 | 1
    small = [q for q in range(3, 2000, 2) if all(q % r for r in range(3, int(q**0.5) + 1, 2))]
    for p in range(start, 1 << bits, 2):
        if (
            (p - 1) % 65537
            and all(p % q for q in small)
            and all(_passes(p, int.from_bytes(_bytes(f"{label} witness {i}"), "big")) for i in range(16))
        ):
            return p
    raise AssertionError(f"no prime of {bits} bits above {label}")


def _passes(p: int, witness: int) -> bool:
    """Put an odd p to the Miller-Rabin test (FIPS 186-5, B.3.1)."""
    odd, twos = p - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    x = pow(witness, odd, p)
    return x in (1, p - 1) or any((x := x * x % p) == p - 1 for _ in range(twos - 1))


def _rsa(work: Workload) -> Trial:
    size = int(work.parameter or 0) // 8
    p, q = (_prime(f"rsa-{work.parameter} {name}", 4 * size) for name in "pq")
    n, d = p * q, pow(65537, -1, (p - 1) * (q - 1))
    dp, dq, qinv = d % (p - 1), d % (q - 1), pow(q, -1, p)
    public = rsa.RSAPublicNumbers(65537, n)
    key = rsa.RSAPrivateNumbers(p, q, d, dp, dq, qinv, public).private_key()
    signature = key.sign(MESSAGE, padding.PKCS1v15(), hashes.SHA256())
    if work.operation == "verify":
        return _verdict(n.to_bytes(size, "big") + signature + MESSAGE, 2 * size - 1)
    parts = n.to_bytes(size, "big") + b"".join(v.to_bytes(size // 2, "big") for v in (p, q, dp, dq, qinv))
    return _exactly(parts + _bytes("rsa blinding", 24) + MESSAGE, signature)


def _hmac(_: Workload) -> Trial:
    key = _bytes("hmac key")
    return _exactly(key + MESSAGE, hmac.digest(key, MESSAGE, "sha256"))


def _hkdf(_: Workload) -> Trial:
    salt, ikm = _bytes("hkdf salt"), _bytes("hkdf key material")
    okm = HKDF(hashes.SHA256(), 42, salt, MESSAGE).derive(ikm)
    return _exactly(salt + ikm + MESSAGE, okm)


def _aes128(work: Workload) -> Trial:
    key = _bytes("aes key", 16)
    cipher = algorithms.AES128(key)
    if work.parameter == "ctr":
        counter = _bytes("aes counter", 16)
        return _exactly(key + counter + MESSAGE, ctr(key, counter, MESSAGE))
    if work.parameter == "ccm":
        nonce, aad = _bytes("ccm nonce", 13), _bytes("ccm aad", 19)
        return _exactly(key + nonce + aad + MESSAGE, AESCCM(key).encrypt(nonce, MESSAGE, aad))
    if work.parameter == "cmac":
        tag = cmac.CMAC(cipher)
        tag.update(MESSAGE)
        return _exactly(key + MESSAGE, tag.finalize())
    blocks = _bytes("blocks", 256)
    # Block by block: what a mode would add is not measured here.
    return _exactly(key + blocks, Cipher(cipher, modes.ECB()).encryptor().update(blocks))


def _blocks(work: Workload) -> Trial:
    """Short blocks by our own reference."""
    encrypt = references.xtea_encrypt if work.algorithm == "xtea" else references.present_encrypt
    key = _bytes(f"{work.algorithm} key", 10 if work.algorithm == "present80" else 16)
    blocks = _bytes("blocks", 256)
    return _exactly(key + blocks, b"".join(encrypt(key, blocks[i : i + 8]) for i in range(0, 256, 8)))


def _ascon(work: Workload) -> Trial:
    if work.parameter == "hash256":
        return _exactly(MESSAGE, references.ascon_hash256(MESSAGE))
    key, nonce, aad = (_bytes(f"ascon {name}", 16) for name in ("key", "nonce", "aad"))
    return _exactly(key + nonce + aad + MESSAGE, references.ascon_aead128_seal(key, nonce, aad, MESSAGE))


def _one_time(work: Workload) -> Trial:
    identifier, seed = _bytes("identifier", 8), _bytes("one-time seed")
    digest = hashlib.sha256(MESSAGE).digest()
    if work.operation == "keygen":
        return _exactly(identifier + seed, references.wots_public_key(seed, 0))
    if work.algorithm == "ldots":
        values = references.lamport_sign(seed, 0, digest)
        folded = bytes(reduce(operator.xor, column) for column in zip(*values, strict=True))
        return _exactly(identifier + seed + MESSAGE, folded)
    signature = references.wots_sign(seed, 0, digest)
    if work.operation == "sign":
        return _exactly(identifier + seed + MESSAGE, signature)
    return _verdict(references.wots_public_key(seed, 0) + signature + MESSAGE, 40)


@cache
def _lms_key() -> references.Lms:
    return references.Lms(_bytes("lms identifier", 16), _bytes("lms seed", 32))


def _lms(work: Workload) -> Trial:
    key = _lms_key()
    if work.operation == "verify":
        return _verdict(key.public_key + key.sign(3, MESSAGE, _bytes("lms randomizer", 24)) + MESSAGE, 100)
    # In front of the tree's nodes 1, 2, ... lies room for the index.
    fed = key.identifier + key.seed + bytes(32) + b"".join(key.nodes[1:]) + MESSAGE
    return Trial(fed, 1380, lambda output: key.verify(MESSAGE, output))


MAC_KEY = bytes(range(16))
"""SP 800-90A, section 10.3.2, step 8."""
SRAM_SAMPLES_BYTES, OSCILLATOR_STARTUP = 5120, 1024
"""Of firmware/bench/generator.c."""


def _cbc_mac(key: bytes, samples: bytes) -> bytes:
    return Cipher(algorithms.AES128(key), modes.CBC(bytes(16))).encryptor().update(samples)[-16:]


def _low_bits(output: bytes, fold: int) -> bytes:
    """Return the bytes whose folding is that of an oscillator's low bits behind its start-up ones: they lie packed."""
    bits = [byte >> i & 1 for byte in output for i in range(8)][OSCILLATOR_STARTUP:]
    whole = len(bits) // (8 * fold) * fold
    # A byte holds eight folded bits one behind the other, where SRAM's bytes are folded side by side.
    return bytes(
        sum(bits[8 * at + fold * i + j] << i for i in range(8)) for at in range(0, whole, fold) for j in range(fold)
    )


def _fold(generator: str) -> int:
    return 16 if generator in ("sram_xor16cvn", "osc_clksft") else 32


def _generated(generator: str, output: bytes) -> bool:
    """Recompute a generator's conditioning from the raw samples that its program left behind its 256 bits."""
    bits, samples = output[:32], output[32:]
    if generator == "sram_sha256":
        expected = hashlib.sha256(samples[:2560]).digest()
    elif generator in ("sram_aes", "sram_swaes"):
        expected = _cbc_mac(MAC_KEY, samples[:1536]) + _cbc_mac(MAC_KEY, samples[1536:3072])
    else:
        fold = _fold(generator)
        folded = _low_bits(samples, fold) if generator.startswith("osc") else samples
        expected = references.von_neumann(folded, fold, 32)
    return bits == expected


def samples_taken(generator: str, output: bytes) -> int:
    """Count the raw samples that a generator took for its 256 bits, start-up ones too."""
    fixed = {"sram_sha256": 2560, "sram_aes": 3072, "sram_swaes": 3072}
    if generator in fixed:
        return fixed[generator]
    fold, osc, samples = _fold(generator), generator.startswith("osc"), output[32:]
    folded = _low_bits(samples, fold) if osc else samples

    def full(folds: int) -> bool:
        with contextlib.suppress(ValueError):
            return bool(references.von_neumann(folded[: folds * fold], fold, 32))
        return False

    bytes_taken = fold * bisect.bisect_left(range(len(folded) // fold + 1), True, key=full)
    return 8 * bytes_taken + OSCILLATOR_STARTUP if osc else bytes_taken


def _trng(work: Workload) -> Trial:
    generator = work.parameter or ""
    if generator.startswith(("osc_", "sram_")):
        return Trial(b"", 32 + SRAM_SAMPLES_BYTES, lambda output: _generated(generator, output))
    if work.operation == "256bit":
        samples = _bytes("sram", 2560)
        return _exactly(samples, hashlib.sha256(samples).digest())
    samples = _bytes("samples", 512)
    if work.parameter == "sha256":
        return _exactly(samples, hashlib.sha256(samples).digest())
    if work.parameter == "aes":
        key = _bytes("conditioner key", 16)
        return _exactly(key + samples, _cbc_mac(key, samples))
    fold, count = {"xor16": (16, 6), "xor32": (32, 3)}[work.parameter or ""]
    return _exactly(samples, references.von_neumann(samples, fold, count))


def _drbg(_: Workload) -> Trial:
    seed = _bytes("drbg entropy", 48)
    return _exactly(seed, references.HmacDrbg(seed).generate(32))


def _numbered(fed: bytes, output_bytes: int, expected: Callable[[int], bytes]) -> Trial:
    """An answer with the number of its coupon behind it."""
    return Trial(fed, output_bytes + 4, lambda out: out[:-4] == expected(int.from_bytes(out[-4:], "little")))


def ctr(key: bytes, counter: bytes, text: bytes) -> bytes:
    """Encrypt in counter mode (SP 800-38A, section 6.5)."""
    return Cipher(algorithms.AES128(key), modes.CTR(counter)).encryptor().update(text)


def _key_agreement(work: Workload) -> Trial:
    """A secret and the node's public key, from which the peer must come to the same secret."""
    curve = (work.parameter or "").removeprefix("ecdh-")
    entropy = _bytes(f"{curve} entropy")
    if work.operation == "produce":
        return _exactly(entropy, b"")  # what it is good for, use shows
    peer = ec.derive_private_key(_private(curve), LIBRARY[curve])
    size = CURVES[curve].field_bytes

    def agreed(output: bytes) -> bool:
        try:
            theirs = ec.EllipticCurvePublicKey.from_encoded_point(LIBRARY[curve], b"\x04" + output[size:])
        except ValueError:
            return False
        return peer.exchange(ec.ECDH(), theirs) == output[:size]

    fed = entropy + _public(curve, _private(curve))
    return Trial(fed, 3 * size, agreed, fed[:-1] + bytes([fed[-1] ^ 1]))  # a point off the curve


def _coupon(work: Workload) -> Trial:
    if (work.parameter or "").startswith("ecdh-"):
        return _key_agreement(work)
    curve, _, way = (work.parameter or "").partition("-")
    if way in ("steps", "pool"):
        return _coupon(replace(work, parameter=curve))
    if work.parameter in CURVES:
        online = work.operation == "use"
        entropy = _bytes(f"{work.parameter} entropy")
        return _ecdsa(replace(work, operation="sign-online")) if online else _exactly(entropy, b"")
    if work.parameter == "random":
        entropy = _bytes("coupon entropy")
        return _exactly(entropy, b"" if work.operation == "produce" else entropy)
    if work.parameter == "sealed":
        entropy = _bytes("coupon entropy")
        fed = entropy + _bytes("device key", 16)
        return _exactly(fed, entropy if work.operation == "use" else b"")
    if work.parameter in ("wots-sha1", "wots-sha256"):
        seed, digest = (
            _bytes("one-time seed")[: 20 if work.hash == "sha1" else 32],
            hashlib.new(work.hash, MESSAGE).digest(),
        )
        if work.operation == "produce":
            return _exactly(seed, b"")
        length = len(references.wots_sign(seed, 0, digest, work.hash))
        return _numbered(seed + MESSAGE, length, lambda n: references.wots_sign(seed, n, digest, work.hash))
    if work.operation == "bare":
        stream, message = _bytes("stream", 128), MESSAGE + MESSAGE[::-1]
        return _exactly(stream + message, bytes(a ^ b for a, b in zip(stream, message, strict=True)))
    key, nonce, aad = _bytes("coupon key", 16), _bytes("coupon nonce", 8), _bytes("coupon aad", 16)
    if work.operation == "produce":
        return _exactly(key + nonce, b"")  # what it is good for, use shows
    if work.parameter == "ccm":
        return _numbered(
            key + nonce + aad + MESSAGE,
            len(MESSAGE) + 16,
            lambda n: AESCCM(key).encrypt(nonce + n.to_bytes(4, "big") + b"\0", MESSAGE, aad),
        )

    if work.parameter == "ctr":
        message = MESSAGE + MESSAGE[::-1]
        return _numbered(
            key + nonce + message, 128, lambda n: ctr(key, nonce + n.to_bytes(4, "big") + bytes(4), message)
        )
    return _numbered(
        key + nonce,
        176,
        lambda n: references.aes128_schedule(ctr(key, nonce + n.to_bytes(4, "big") + b"\xff" * 4, bytes(16))),
    )


TRIALS: dict[str, Callable[[Workload], Trial]] = {
    "sha1": _hash,
    "sha256": _hash,
    "sha512": _hash,
    "hmac": _hmac,
    "hkdf": _hkdf,
    "ecdsa": _ecdsa,
    "ecdh": _ecdh,
    "x25519": _x25519,
    "ed25519": _ed25519,
    "rsa": _rsa,
    "aes128": _aes128,
    "present80": _blocks,
    "present128": _blocks,
    "xtea": _blocks,
    "ascon": _ascon,
    "wots": _one_time,
    "ldots": _one_time,
    "lms": _lms,
    "trng": _trng,
    "drbg": _drbg,
    "coupon": _coupon,
}
"""By algorithm."""


@cache
def trial(workload: Workload) -> Trial:
    """Return what a workload is fed, and the judge of what it puts out."""
    return TRIALS[workload.algorithm](workload)


def verify(suite: str, public: bytes, message: bytes, signature: bytes) -> bool:
    """Verify a signature r || s under x || y by other people's code."""
    _, parameter, hash_name = suite.split("-")
    if parameter not in LIBRARY or hash_name != "sha256":
        return _engine.verify_ecdsa(suite, public, message, signature)
    half = len(signature) // 2
    r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(LIBRARY[parameter], b"\x04" + public)
        key.verify(utils.encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
