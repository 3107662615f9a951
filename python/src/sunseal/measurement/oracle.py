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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import accumulate
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import cmac, hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sunseal import _engine
from sunseal.answers import writing
from sunseal.catalog.boards import Workload, kept
from sunseal.catalog.boards import algorithms as described
from sunseal.measurement import handshake, references

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
    """Trial of a bench program: its input, laid out as its description says, and how its answer is judged."""

    fed: bytes
    output_bytes: int
    right: Callable[[bytes], bool | None]
    """None where nothing of the output can be judged."""
    refused: bytes | None = None
    """An input that must be refused."""


def _laid(work: Workload, parts: Mapping[str, bytes]) -> bytes:
    """Lay parts out by their names; what is worked on and not given is MESSAGE."""
    given = {**dict.fromkeys(("message", "data", "info", "in"), MESSAGE), **parts}
    names = [part.name for part in work.input]
    assert set(parts) <= set(names) <= set(given), (work.name, names, list(parts))
    wrong = [part.name for part in work.input if len(given[part.name]) != part.size]
    assert not wrong, (work.name, wrong)
    return b"".join(given[name] for name in names)


def _judged(work: Workload, right: Callable[..., bool], **parts: bytes) -> Trial:
    """Judge the parts of the output by their names."""
    ends = list(accumulate(part.size for part in work.output))

    def judge(output: bytes) -> bool:
        return right(**{p.name: output[end - p.size : end] for p, end in zip(work.output, ends, strict=True)})

    return Trial(_laid(work, parts), sum(part.size for part in work.output), judge)


def _exactly(work: Workload, *expected: bytes, **parts: bytes) -> Trial:
    """Expect these parts of the output."""
    assert [len(part) for part in expected] == [part.size for part in work.output], work.name
    whole = b"".join(expected)
    return Trial(_laid(work, parts), len(whole), lambda output: output == whole)


def _later(work: Workload, **parts: bytes) -> Trial:
    """Judge nothing: what was made for later, another workload shows."""
    return Trial(_laid(work, parts), 0, lambda _: None)


def _verdict(work: Workload, **parts: bytes) -> Trial:
    """Expect what another signer made to be accepted, and refused with one bit changed."""
    turned = parts["sig"][:-1] + bytes([parts["sig"][-1] ^ 1])
    return Trial(_laid(work, parts), 0, lambda _: True, _laid(work, {**parts, "sig": turned}))


def _hash(work: Workload) -> Trial:
    return _exactly(work, hashlib.new(work.algorithm, MESSAGE).digest())


def _ecdsa(work: Workload) -> Trial:
    parameter = (work.parameter or "").partition("-")[0]
    curve, d = CURVES[parameter], _private(parameter)
    suite = f"ecdsa-{parameter}-{work.hash}"
    entropy, public = _bytes(f"{parameter} entropy"), _public(parameter, d)

    def key_pair(d: bytes, q: bytes) -> bool:
        found = int.from_bytes(d, "big")
        return 0 < found < curve.n and q == _public(parameter, found)

    if work.operation == "keygen":
        return _judged(work, key_pair, entropy=entropy)
    if work.operation == "all":
        both = {"entropy": entropy, "added_entropy": _bytes("added entropy")}
        return _judged(work, lambda d, q, sig: key_pair(d, q) and verify(suite, q, MESSAGE, sig), **both)
    if work.operation in ("sign-offline", "produce"):
        return _later(work, entropy=entropy)
    if work.operation == "verify":
        return _verdict(work, q=public, sig=_sign(parameter, work.hash, d, MESSAGE))
    drawn = {work.input[1].name: _bytes("added entropy"), "d": d.to_bytes(curve.order_bytes, "big")}
    return _judged(work, lambda sig: verify(suite, public, MESSAGE, sig), **drawn)


def _off_the_curve(trial: Trial) -> Trial:
    """Have a point refused that is not on the curve: the last byte of the input is the last of one."""
    return replace(trial, refused=trial.fed[:-1] + bytes([trial.fed[-1] ^ 1]))


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
    return _off_the_curve(_exactly(work, shared, d=d.to_bytes(curve.order_bytes, "big"), q=q))


def _x25519(work: Workload) -> Trial:
    ours = x25519.X25519PrivateKey.from_private_bytes(_bytes("x25519 private"))
    theirs = x25519.X25519PrivateKey.from_private_bytes(_bytes("x25519 peer")).public_key()
    d, u = ours.private_bytes_raw(), theirs.public_bytes_raw()
    return replace(_exactly(work, ours.exchange(theirs), d=d, u=u), refused=_laid(work, {"d": d, "u": bytes(32)}))


def _ed25519(work: Workload) -> Trial:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(_bytes("ed25519 private"))
    q = key.public_key().public_bytes_raw()
    d = key.private_bytes_raw() + q
    if work.operation == "keygen":
        return _exactly(work, d, q, entropy=key.private_bytes_raw())
    if work.operation == "sign":
        return _exactly(work, key.sign(MESSAGE), d=d)
    return _verdict(work, q=q, sig=key.sign(MESSAGE))


@cache
def _prime(label: str, bits: int) -> int:
    """Find the first p above a number made of the label with its two highest bits set and 65537 not in p - 1.

    The search takes a tenth of a second and more: the cache keeps what it found, by the label and by this file.
    """
    key = hashlib.sha256(f"{label}, {bits} bits\n".encode() + Path(__file__).read_bytes())
    path = kept("primes", key.hexdigest())
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"), 16)
    found = _searched_prime(label, bits)
    with contextlib.suppress(OSError):  # a cache that cannot be written is none
        writing.write_atomic(path, f"{found:x}")
    return found


def _searched_prime(label: str, bits: int) -> int:
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


@cache
def _rsa_key(parameter: str, whose: str = "") -> tuple[rsa.RSAPrivateKey, bytes]:
    """Make a key pair, and its numbers n, p, q, dp, dq and qinv as the library takes them."""
    size, label = int(parameter) // 8, " ".join(filter(None, (f"rsa-{parameter}", whose)))
    p, q = (_prime(f"{label} {name}", 4 * size) for name in "pq")
    n, d = p * q, pow(65537, -1, (p - 1) * (q - 1))
    dp, dq, qinv = d % (p - 1), d % (q - 1), pow(q, -1, p)
    key = rsa.RSAPrivateNumbers(p, q, d, dp, dq, qinv, rsa.RSAPublicNumbers(65537, n)).private_key()
    return key, n.to_bytes(size, "big") + b"".join(v.to_bytes(size // 2, "big") for v in (p, q, dp, dq, qinv))


def _rsa(work: Workload) -> Trial:
    parameter = work.parameter or ""
    key, numbers = _rsa_key(parameter)
    signature = key.sign(MESSAGE, padding.PKCS1v15(), hashes.SHA256())
    if work.operation == "verify":
        return _verdict(work, n=numbers[: int(parameter) // 8], sig=signature)
    return _exactly(work, signature, key=numbers, random=_bytes("rsa blinding", 24))


def _hmac(work: Workload) -> Trial:
    key = _bytes("hmac key")
    return _exactly(work, hmac.digest(key, MESSAGE, "sha256"), key=key)


def _hkdf(work: Workload) -> Trial:
    salt, ikm = _bytes("hkdf salt"), _bytes("hkdf key material")
    return _exactly(work, HKDF(hashes.SHA256(), 42, salt, MESSAGE).derive(ikm), salt=salt, ikm=ikm)


def _aes128(work: Workload) -> Trial:
    key = _bytes("aes key", 16)
    cipher = algorithms.AES128(key)
    if work.parameter == "ctr":
        counter = _bytes("aes counter", 16)
        return _exactly(work, ctr(key, counter, MESSAGE), key=key, counter=counter)
    if work.parameter == "ccm":
        nonce, aad = _bytes("ccm nonce", 13), _bytes("ccm aad", 19)
        sealed = AESCCM(key).encrypt(nonce, MESSAGE, aad)
        return _exactly(work, sealed[:-16], sealed[-16:], key=key, nonce=nonce, aad=aad)
    if work.parameter == "cmac":
        tag = cmac.CMAC(cipher)
        tag.update(MESSAGE)
        return _exactly(work, tag.finalize(), key=key)
    blocks = _bytes("blocks", 256)
    # Block by block: what a mode would add is not measured here.
    return _exactly(work, Cipher(cipher, modes.ECB()).encryptor().update(blocks), key=key, **{"in": blocks})


def _blocks(work: Workload) -> Trial:
    """Blocks by our own reference."""
    encrypt, size = references.BLOCKS[work.algorithm], described().implementations[work.cipher].block_bytes
    key, blocks = _bytes(f"{work.algorithm} key", work.input[0].size), _bytes("blocks", 256)
    expected = b"".join(encrypt(key, blocks[i : i + size]) for i in range(0, 256, size))
    return _exactly(work, expected, key=key, **{"in": blocks})


def _ascon(work: Workload) -> Trial:
    if work.parameter == "hash256":
        return _exactly(work, references.ascon_hash256(MESSAGE))
    key, nonce, aad = (_bytes(f"ascon {name}", 16) for name in ("key", "nonce", "aad"))
    sealed = references.ascon_aead128_seal(key, nonce, aad, MESSAGE)
    return _exactly(work, sealed[:-16], sealed[-16:], key=key, nonce=nonce, aad=aad)


def _one_time(work: Workload) -> Trial:
    identifier, seed = _bytes("identifier", 8), _bytes("one-time seed")
    digest = hashlib.sha256(MESSAGE).digest()
    if work.operation == "keygen":
        return _exactly(work, references.wots_public_key(seed, 0), identifier=identifier, seed=seed)
    if work.algorithm == "ldots":
        values = references.lamport_sign(seed, 0, digest)
        folded = bytes(reduce(operator.xor, column) for column in zip(*values, strict=True))
        return _exactly(work, folded, identifier=identifier, seed=seed)
    signature = references.wots_sign(seed, 0, digest)
    if work.operation == "sign":
        return _exactly(work, signature, identifier=identifier, seed=seed)
    return _verdict(work, public_key=references.wots_public_key(seed, 0), sig=signature)


@cache
def _lms_key() -> references.Lms:
    return references.Lms(_bytes("lms identifier", 16), _bytes("lms seed", 32))


def _lms(work: Workload) -> Trial:
    key = _lms_key()
    if work.operation == "verify":
        signature = key.sign(3, MESSAGE, _bytes("lms randomizer", 24))
        return _verdict(work, public_key=key.public_key, sig=signature)
    # In front of the tree's nodes 1, 2, ... lies room for the index.
    store = {"record": bytes(32), "nodes": b"".join(key.nodes[1:])}
    return _judged(work, lambda sig: key.verify(MESSAGE, sig), identifier=key.identifier, seed=key.seed, **store)


MAC_KEY = bytes(range(16))
"""SP 800-90A, section 10.3.2, step 8."""
SRAM_SAMPLES_BYTES, OSCILLATOR_STARTUP = 5120, 1024
"""Constants that firmware/bench/generator.c has, too."""


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


AES_GENERATORS = ("sram_aes", "sram_aes_untested", "sram_swaes")


def _generated(generator: str, output: bytes) -> bool:
    """Recompute a generator's conditioning from the raw samples that its program left behind its 256 bits."""
    bits, samples = output[:32], output[32:]
    if generator == "sram_sha256":
        expected = hashlib.sha256(samples[:2560]).digest()
    elif generator in AES_GENERATORS:
        expected = _cbc_mac(MAC_KEY, samples[:1536]) + _cbc_mac(MAC_KEY, samples[1536:3072])
    elif generator == "sram_aes_folded":
        folded = bytes(reduce(operator.xor, samples[i:5120:32]) for i in range(32))
        expected = _cbc_mac(MAC_KEY, folded[:16]) + _cbc_mac(MAC_KEY, folded[16:])
    else:
        fold = _fold(generator)
        folded = _low_bits(samples, fold) if generator.startswith("osc") else samples
        expected = references.von_neumann(folded, fold, 32)
    return bits == expected


def samples_taken(generator: str, output: bytes) -> int:
    """Count the raw samples that a generator took for its 256 bits, start-up ones too."""
    fixed = {"sram_sha256": 2560, "sram_aes_folded": 5120, **dict.fromkeys(AES_GENERATORS, 3072)}
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
        return _judged(work, lambda entropy, samples: _generated(generator, entropy + samples))
    samples = _bytes("sram" if work.operation == "256bit" else "samples", work.input[-1].size)
    if work.operation == "256bit" or work.parameter == "sha256":
        return _exactly(work, hashlib.sha256(samples).digest(), samples=samples)
    if work.parameter == "aes":
        key = _bytes("conditioner key", 16)
        return _exactly(work, _cbc_mac(key, samples), key=key, samples=samples)
    fold = {"xor16": 16, "xor32": 32}[work.parameter or ""]
    return _exactly(work, references.von_neumann(samples, fold, work.output[0].size), samples=samples)


def _drbg(work: Workload) -> Trial:
    seed = _bytes("drbg entropy", 48)
    return _exactly(work, references.HmacDrbg(seed).generate(32), entropy=seed)


def _numbered(work: Workload, expected: Callable[[int], bytes], **parts: bytes) -> Trial:
    """Expect an answer with the number of its coupon behind it."""

    def right(number: bytes, **answer: bytes) -> bool:
        return b"".join(answer.values()) == expected(int.from_bytes(number, "little"))

    return _judged(work, right, **parts)


def ctr(key: bytes, counter: bytes, text: bytes) -> bytes:
    """Encrypt in counter mode (SP 800-38A, section 6.5)."""
    return Cipher(algorithms.AES128(key), modes.CTR(counter)).encryptor().update(text)


def _key_agreement(work: Workload) -> Trial:
    """A secret and the node's public key, from which the peer must come to the same secret."""
    curve = (work.parameter or "").removeprefix("ecdh-")
    entropy = _bytes(f"{curve} entropy")
    if work.operation == "produce":
        return _later(work, entropy=entropy)
    peer = ec.derive_private_key(_private(curve), LIBRARY[curve])

    def agreed(shared: bytes, q: bytes) -> bool:
        try:
            theirs = ec.EllipticCurvePublicKey.from_encoded_point(LIBRARY[curve], b"\x04" + q)
        except ValueError:
            return False
        return peer.exchange(ec.ECDH(), theirs) == shared

    return _off_the_curve(_judged(work, agreed, entropy=entropy, peer=_public(curve, _private(curve))))


def _chains(work: Workload) -> Trial:
    """A Winternitz signature, or what is made for it ahead."""
    seed, digest = _bytes("one-time seed")[: work.input[0].size], hashlib.new(work.hash, MESSAGE).digest()
    if work.operation == "produce":
        return _later(work, seed=seed)
    return _numbered(work, lambda n: references.wots_sign(seed, n, digest, work.hash), seed=seed)


def _coupon(work: Workload) -> Trial:
    parameter, making = work.parameter or "", work.operation == "produce"
    if parameter.startswith("ecdh-"):
        return _key_agreement(work)
    if parameter.partition("-")[0] in CURVES:
        return _ecdsa(work)
    if parameter.startswith("wots-"):
        return _chains(work)
    if parameter in ("random", "sealed"):
        fed = {"entropy": _bytes("coupon entropy"), "key": _bytes("device key", 16)}
        fed = {part.name: fed[part.name] for part in work.input}
        return _later(work, **fed) if making else _exactly(work, fed["entropy"], **fed)
    message = (MESSAGE + MESSAGE[::-1])[: work.input[-1].size]
    if work.operation == "bare":
        stream = _bytes("stream", 128)
        xor = bytes(a ^ b for a, b in zip(stream, message, strict=True))
        return _exactly(work, xor, stream=stream, message=message)
    key, nonce, aad = _bytes("coupon key", 16), _bytes("coupon nonce", 8), _bytes("coupon aad", 16)
    drawn = {"key": key, "nonce": nonce, "aad": aad, "message": message}
    drawn = {part.name: drawn[part.name] for part in work.input}

    def expected(number: int) -> bytes:
        counter = nonce + number.to_bytes(4, "big")
        if parameter == "ccm":
            return AESCCM(key).encrypt(counter + b"\0", message, aad)
        if parameter == "ctr":
            return ctr(key, counter + bytes(4), message)
        return references.aes128_schedule(ctr(key, counter + b"\xff" * 4, bytes(16)))

    return _later(work, **drawn) if making else _numbered(work, expected, **drawn)


def _oaep(n: int, message: bytes, seed: bytes) -> bytes:
    """Encrypt to n and 65537 with a seed that is given (RFC 8017, section 7.1.1; SHA-256, MGF1, no label)."""

    def masked(data: bytes, by: bytes) -> bytes:
        blocks = (hashlib.sha256(by + i.to_bytes(4, "big")).digest() for i in range(len(data) // 32 + 1))
        return bytes(a ^ b for a, b in zip(data, b"".join(blocks), strict=False))

    size = (n.bit_length() + 7) // 8
    block = hashlib.sha256().digest() + bytes(size - len(message) - 66) + b"\x01" + message
    block = masked(block, seed)
    encoded = int.from_bytes(masked(seed, block) + block, "big")
    return pow(encoded, 65537, n).to_bytes(size, "big")


@cache
def handshake_parties(name: str, session: int = 0) -> tuple[handshake.Suite, bytes, bytes]:
    """Return a client's suite, and the server's key and certificate; what a client draws differs by session."""
    drawn = _bytes(f"handshake {name} client {session}", 80)
    subject, secp160r1 = _bytes("handshake subject", handshake.SUBJECT_BYTES), CURVES["secp160r1"]
    if name == "rsa1024":
        numbers = _rsa_key("1024")[1]
        issuer, _ = _rsa_key("1024", "issuer")

        def encrypt(public: bytes) -> tuple[bytes, bytes]:
            return _oaep(int.from_bytes(public, "big"), drawn[:48], drawn[48:]), drawn[:48]

        def signed(text: bytes, signature: bytes) -> bool:
            try:
                issuer.public_key().verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
            except InvalidSignature:
                return False
            return True

        text = b"\x01" + subject + numbers[:128]
        certificate = text + issuer.sign(text, padding.PKCS1v15(), hashes.SHA256())
        return handshake.Suite(1, 128, 128, encrypt, signed), numbers, certificate
    d, by = _private(name), int.from_bytes(_bytes("handshake issuer", 48), "big") % (secp160r1.n - 1) + 1
    ephemeral = int.from_bytes(drawn, "big") % (secp160r1.n - 1) + 1

    def agree(public: bytes) -> tuple[bytes, bytes]:
        x, y = (int.from_bytes(half, "big") for half in (public[:20], public[20:]))
        return _public(name, ephemeral), _multiply(secp160r1, ephemeral, (x, y))[0].to_bytes(20, "big")

    def verified(text: bytes, signature: bytes) -> bool:
        return verify("ecdsa-secp160r1-sha256", _public(name, by), text, signature)

    text = b"\x02" + subject + _public(name, d)
    suite = handshake.Suite(2, 40, 42, agree, verified)
    return suite, d.to_bytes(secp160r1.order_bytes, "big"), text + _sign(name, "sha256", by, text)


def _handshake(work: Workload) -> Trial:
    """Play the client; what it must be answered follows from what the server draws, which is fed."""
    suite, key, certificate = handshake_parties(work.parameter or "")
    random, client = _bytes("handshake server"), handshake.Client(suite, _bytes("handshake client"))
    hello = client.hello()
    server_hello = bytes([handshake.SERVER_HELLO, suite.number]) + random
    parts = {"key": key, "certificate": certificate, "random": random, "blinding": _bytes("rsa blinding", 24)}
    parts |= {"hello": hello, "exchange": client.answer(server_hello + certificate)}

    def right(output: bytes) -> bool:
        with contextlib.suppress(handshake.HandshakeRefusedError):
            return output[:34] == server_hello and replace(client).finish(output[34:56]) == output[56:]
        return False

    fed = _laid(work, parts)
    return Trial(fed, 72, right, fed[:-1] + bytes([fed[-1] ^ 1]))


TRIALS: dict[str, Callable[[Workload], Trial]] = {
    **dict.fromkeys(references.BLOCKS, _blocks),
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
    "ascon": _ascon,
    "wots": _one_time,
    "ldots": _one_time,
    "lms": _lms,
    "trng": _trng,
    "drbg": _drbg,
    "coupon": _coupon,
    "handshake": _handshake,
}
"""Trials by their algorithm."""


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
