# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hashes, HMAC, HKDF, one-time signatures, LMS and randomness as calls.

Where no document has vectors, a model in these lines over Python's hashlib and hmac stands for one.
"""

import hashlib
import hmac
import random
from collections.abc import Iterator

import numpy as np
from calls import ERRORS, Argument, Call, In, InOut, Out, Symbol, load

DIGEST_BYTES = {"sha1": 20, "sha256": 32, "sha512": 64}
PLACED_BYTES_MAX = 2048
"""What the smallest target has room for, beside its stack."""
HKDF_MAX = 255 * 32
LENGTHS = (0, 1, 3, 20, 54, 55, 56, 57, 63, 64, 65, 111, 112, 113, 119, 120, 127, 128, 129, 183, 257, 600)


def unhex(row: dict[str, str], *names: str) -> tuple[bytes, ...]:
    """The named fields."""
    return tuple(bytes.fromhex(row[name]) for name in names)


def digests() -> Iterator[Call]:
    """FIPS 180's examples, and every length that pads in another way, at odd addresses too."""
    rows = [row for name in ("fips180.json", "sha512.json") for row in load(name)["digest"]]
    for row in rows:
        message = bytes.fromhex(row["message"]) * row.get("repeat", 1)
        if len(message) <= PLACED_BYTES_MAX:
            yield digest(
                f"fips180 {row['hash']} {row['message'][:8]}", row["hash"], message, bytes.fromhex(row["digest"])
            )
    for name in DIGEST_BYTES:
        for length in LENGTHS:
            message = random.Random(length).randbytes(length)
            yield digest(f"hashlib {name}, {length} bytes", name, message, hashlib.new(name, message).digest())


def digest(name: str, function: str, message: bytes, want: bytes) -> Call:
    """One hash."""
    assert len(want) == DIGEST_BYTES[function]
    return Call(name, "hash", f"sunseal_{function}", (Out(len(want)), In(message), len(message)), None, (want,))


def macs() -> Iterator[Call]:
    """RFC 2202, RFC 4231 and Wycheproof."""
    for file in ("rfc4231.json", "hmac.json"):
        for i, row in enumerate(load(file)["hmac"]):
            key, message, tag = unhex(row, "key", "message", "tag")
            yield from mac(f"{file.removesuffix('.json')} row {i}", row["hash"], key, message, tag)
    for name in ("sha1", "sha256"):
        for group in load(f"wycheproof/hmac_{name}_test.json")["testGroups"]:
            for test in group["tests"]:
                title = f"wycheproof hmac_{name} {test['tcId']}: {test['comment']}"
                key, message, tag = unhex(test, "key", "msg", "tag")
                yield from mac(title, name, key, message, tag, valid=test["result"] == "valid")


def mac(name: str, function: str, key: bytes, message: bytes, tag: bytes, valid: bool = True) -> Iterator[Call]:
    """The whole tag computed, and this one compared, whole, cut, too short and changed."""
    whole = DIGEST_BYTES[function]
    inputs = (In(key), len(key), In(message), len(message))
    if valid:
        want = hmac.digest(key, message, function)
        assert want.startswith(tag)
        yield Call(name, "hash", f"sunseal_hmac_{function}", (Out(whole), *inputs), None, (want,))
    verify = f"sunseal_hmac_{function}_verify"
    expected = 0 if valid else ERRORS["TAG"]
    yield Call(name, "hash", verify, (In(tag), len(tag), *inputs), expected, ())
    if valid and len(tag) == whole:
        changed = tag[:-1] + bytes([tag[-1] ^ 0x80])
        yield Call(f"{name}, changed", "hash", verify, (In(changed), whole, *inputs), ERRORS["TAG"], ())
        half = whole // 2
        yield Call(f"{name}, cut", "hash", verify, (In(tag), half, *inputs), 0, ())
        for length in (0, half - 1, whole + 1):
            args = (In(tag + b"\0"), length, *inputs)
            yield Call(f"{name}, {length} bytes", "hash", verify, args, ERRORS["TAG_LENGTH"], ())


def hkdf() -> Iterator[Call]:
    """RFC 5869 and Wycheproof."""
    function = "sunseal_hkdf_sha256"
    for i, row in enumerate(load("rfc5869.json")["hkdf"]):
        ikm, salt, info, prk, okm = unhex(row, "ikm", "salt", "info", "prk", "okm")
        name = f"rfc5869 row {i}"
        yield Call(name, "hash", f"{function}_extract", (Out(32), In(salt), len(salt), In(ikm), len(ikm)), None, (prk,))
        args = (Out(len(okm)), len(okm), In(prk), In(info), len(info))
        yield Call(name, "hash", f"{function}_expand", args, 0, (okm,))
    for group in load("wycheproof/hkdf_sha256_test.json")["testGroups"]:
        for test in group["tests"]:
            ikm, salt, info, okm = unhex(test, "ikm", "salt", "info", "okm")
            size = test["size"]
            if PLACED_BYTES_MAX < size <= HKDF_MAX:
                continue
            inputs = (In(salt), len(salt), In(ikm), len(ikm), In(info), len(info))
            good = test["result"] == "valid"
            # What is refused is not written, and nobody has room for it.
            yield Call(
                f"wycheproof hkdf_sha256 {test['tcId']}: {test['comment']}",
                "hash",
                function,
                (Out(size if good else 1), size, *inputs),
                0 if good else ERRORS["LENGTH"],
                (okm if good else b"\xa5",),
            )


class OneTime:
    """Lamport-Diffie and Winternitz as sunseal/ots.h has them."""

    def __init__(self, name: str, seed: int) -> None:
        """Keys of a hash, from a seed."""
        source = random.Random(seed)
        self.name = name
        self.n = DIGEST_BYTES[name]
        self.identifier, self.seed = source.randbytes(8), source.randbytes(self.n)
        self.hashed = source.randbytes(self.n)

    def h(self, data: bytes, times: int = 1) -> bytes:
        """A chain of hashes."""
        for _ in range(times):
            data = hashlib.new(self.name, data).digest()
        return data

    def x(self, index: int, j: int) -> bytes:
        """A secret value."""
        return self.h(self.seed + index.to_bytes(4, "big") + j.to_bytes(2, "big"))

    def digits(self) -> list[int]:
        """Of the hash and its checksum."""
        nibbles = [int(c, 16) for c in self.hashed.hex()]
        total = sum(15 - d for d in nibbles)
        return [*nibbles, total >> 8, total >> 4 & 15, total & 15]


def ots() -> Iterator[Call]:
    """Against the model: keys, signatures in parts, verification, and a bit changed."""
    for name in ("sha1", "sha256"):
        for index in (0, 1, 0x01020304):
            one = OneTime(name, index)
            n, key, number = one.n, In(one.identifier + one.seed), np.uint32(index)
            wots, lamport = f"sunseal_wots_{name}", f"sunseal_lamport_{name}"
            title = f"model {name} key {index}"
            digits = one.digits()
            public = one.h(b"".join(one.h(one.x(index, i), 15) for i in range(len(digits))))
            signature = b"".join(one.h(one.x(index, i), d) for i, d in enumerate(digits))
            yield Call(title, "ots", f"{wots}_public_key", (Out(n), key, number), None, (public,), slow=True)
            check = (In(public), In(signature), In(one.hashed))
            yield Call(title, "ots", f"{wots}_verify", check, 0, (), slow=True)
            for place, part in enumerate(check):
                changed = list(check)
                changed[place] = In(part.data[:-1] + bytes([part.data[-1] ^ 1]))
                refused = ERRORS["SIGNATURE"]
                yield Call(f"{title}, bit of {place}", "ots", f"{wots}_verify", tuple(changed), refused, (), slow=True)
            for j in (0, 1, 16 * n - 1):
                value = one.h(one.x(index, 0x8000 + j))
                args = (Out(n), key, number, np.uint16(j))
                yield Call(f"{title}, value {j}", "ots", f"{lamport}_public_key", args, None, (value,))


def lms() -> Iterator[Call]:
    """RFC 8554, appendix F, and what is malformed."""
    function = "sunseal_lms_verify"

    def call(what: str, key: bytes, signature: bytes, message: bytes, expected: str | None) -> Call:
        args = (In(key), len(key), In(signature), len(signature), In(message), len(message))
        return Call(
            what, "ots", function, args, ERRORS[expected] if expected else 0, (), slow=expected in (None, "SIGNATURE")
        )

    for row in load("rfc8554.json")["verify"]:
        key, signature, message = unhex(row, "public_key", "signature", "message")
        name = f"rfc8554 {row['comment']}"
        yield call(name, key, signature, message, None)
        yield call(f"{name}, path changed", key, signature[:-1] + bytes([signature[-1] ^ 1]), message, "SIGNATURE")
        yield call(f"{name}, another message", key, signature, message[:-1], "SIGNATURE")
        yield call(f"{name}, cut", key, signature[:-1], message, "SIGNATURE_FORMAT")
        yield call(f"{name}, empty", key, b"", message, "SIGNATURE_FORMAT")
        yield call(f"{name}, index too high", key, b"\1" + signature[1:], message, "SIGNATURE_FORMAT")
        yield call(
            f"{name}, other LM-OTS type", key, signature[:7] + b"\2" + signature[8:], message, "SIGNATURE_FORMAT"
        )
        yield call(f"{name}, key cut", key[:-1], signature, message, "PUBLIC_KEY_FORMAT")
        yield call(f"{name}, key of no type", key[:3] + b"\4" + key[4:], signature, message, "PUBLIC_KEY_FORMAT")
        yield call(f"{name}, no key", b"", signature, message, "PUBLIC_KEY_FORMAT")


class Drbg:
    """SP 800-90A, section 10.1.2, in its own words."""

    def __init__(self, *provided: bytes) -> None:
        """Instantiate."""
        self.k, self.v, self.requests = bytes(32), b"\1" * 32, 1
        self.update(b"".join(provided))

    def update(self, provided: bytes) -> None:
        """HMAC_DRBG_Update."""
        for separator in (b"\0", b"\1") if provided else (b"\0",):
            self.k = hmac.digest(self.k, self.v + separator + provided, "sha256")
            self.v = hmac.digest(self.k, self.v, "sha256")

    def reseed(self, *provided: bytes) -> None:
        """HMAC_DRBG_Reseed."""
        self.update(b"".join(provided))
        self.requests = 1

    def generate(self, count: int, additional: bytes = b"") -> bytes:
        """HMAC_DRBG_Generate."""
        if additional:
            self.update(additional)
        out = b""
        while len(out) < count:
            self.v = hmac.digest(self.k, self.v, "sha256")
            out += self.v
        self.update(additional)
        self.requests += 1
        return out[:count]

    def state(self) -> bytes:
        """struct sunseal_hmac_drbg."""
        return self.k + self.v + self.requests.to_bytes(4, "little")


def drbg() -> Iterator[Call]:
    """NIST's vectors, then personalization, reseeding and additional input against the model."""
    name = "sunseal_hmac_drbg"
    for i, row in enumerate(load("hmac_drbg.json")["generate"]):
        entropy, nonce, returned = unhex(row, "entropy", "nonce", "returned")
        yield from drbg_life(f"nist hmac_drbg row {i}", entropy, nonce, b"", b"", b"", returned)
    for i in range(6):
        source = random.Random(i)
        entropy, nonce, personal, fresh, additional = (source.randbytes(n) for n in (32 + i, 16, 7 * i, 32, 11 * i))
        yield from drbg_life(f"model hmac_drbg {i}", entropy, nonce, personal, fresh, additional, None)
    seeded = Drbg(bytes(48)).state()
    nothing = (In(b""), 0)
    short: tuple[Argument, ...] = (Out(68), In(bytes(31)), 31, In(bytes(17)), 17, *nothing)
    yield Call(
        "model hmac_drbg, 31 bytes of entropy", "random", f"{name}_instantiate", short, ERRORS["LENGTH"], (bytes(68),)
    )
    short = (Out(68), In(bytes(32)), 32, In(bytes(15)), 15, *nothing)
    yield Call(
        "model hmac_drbg, nonce too short", "random", f"{name}_instantiate", short, ERRORS["LENGTH"], (bytes(68),)
    )
    short = (InOut(seeded), In(bytes(31)), 31, *nothing)
    yield Call("model hmac_drbg, 31 bytes to reseed", "random", f"{name}_reseed", short, ERRORS["LENGTH"], (seeded,))
    for what, state in ("no seed", bytes(68)), ("65536 requests served", seeded[:64] + (65537).to_bytes(4, "little")):
        args = (InOut(state), Out(40), 40, *nothing)
        yield Call(
            f"model hmac_drbg, {what}", "random", f"{name}_generate", args, ERRORS["NOT_SEEDED"], (state, bytes(40))
        )


def drbg_life(
    name: str, entropy: bytes, nonce: bytes, personal: bytes, fresh: bytes, additional: bytes, returned: bytes | None
) -> Iterator[Call]:
    """Instantiate, generate, reseed if there is fresh entropy, generate."""
    prefix = "sunseal_hmac_drbg"
    own = Drbg(entropy, nonce, personal)
    args: tuple[Argument, ...] = (
        Out(68),
        In(entropy),
        len(entropy),
        In(nonce),
        len(nonce),
        In(personal),
        len(personal),
    )
    yield Call(name, "random", f"{prefix}_instantiate", args, 0, (own.state(),))
    size = len(returned) if returned else 77
    extra = (In(additional), len(additional))
    for turn in range(2):
        before = own.state()
        out = own.generate(size, additional)
        if turn == 1 and returned:
            assert out == returned, name
        args = (InOut(before), Out(size), size, *extra)
        yield Call(f"{name}, request {turn + 1}", "random", f"{prefix}_generate", args, 0, (own.state(), out))
        if turn == 0 and fresh:
            before = own.state()
            own.reseed(fresh, additional)
            args = (InOut(before), In(fresh), len(fresh), *extra)
            yield Call(f"{name}, reseeded", "random", f"{prefix}_reseed", args, 0, (own.state(),))


def conditioned(samples: bytes, fold: int) -> list[int]:
    """Bits by XOR and Von Neumann."""
    bits = []
    for start in range(0, len(samples) - fold + 1, fold):
        folded = 0
        for sample in samples[start : start + fold]:
            folded ^= sample
        pairs = [(folded >> i & 1, folded >> i + 1 & 1) for i in range(0, 8, 2)]
        bits += [low for low, high in pairs if low != high]
    return bits


def conditioning() -> Iterator[Call]:
    """Against the model; samples that do not suffice, and a fold that does not exist."""
    args: tuple[Argument, ...]
    samples = random.Random(90).randbytes(1024)
    for fold in (16, 32):
        bits = conditioned(samples, fold)
        count = len(bits) // 8
        out = bytes(sum(bit << i for i, bit in enumerate(bits[8 * at : 8 * at + 8])) for at in range(count))
        function = "sunseal_condition_xor_vartime"
        args = (In(samples), len(samples), np.uint8(fold))
        yield Call(f"model {fold}:1", "random", function, (Out(count), count, *args), 0, (out,))
        dry = (Out(count + 1), count + 1, *args)
        yield Call(f"model {fold}:1 runs dry", "random", function, dry, ERRORS["ENTROPY"], (bytes(count + 1),))
    args = (Out(4), 4, In(samples), len(samples), np.uint8(8))
    yield Call("model fold of 8", "random", function, args, ERRORS["PARAMETERS"], (bytes(4),))
    want = hashlib.sha256(samples).digest()
    args = (Out(32), In(samples), len(samples))
    yield Call("hashlib", "random", "sunseal_condition_sha256", args, None, (want,))


def cbc_mac() -> Iterator[Call]:
    """SP 800-38A, F.2.1, with the vector added to the first block: the last block is the tag."""
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    blocks = [
        bytes.fromhex("6bc0bce12a459991e134741a7f9e1925"),
        bytes.fromhex("ae2d8a571e03ac9c9eb76fac45af8e51"),
        bytes.fromhex("30c81c46a35ce411e5fbc1191a0a52ef"),
    ]
    tags = ("7649abac8119b246cee98e9b12e9197d", "5086cb9b507219ee95db113a917678b2", "73bed6b8e3c1743b7116e69e22229516")
    function, cipher = "sunseal_condition_cbc_mac", Symbol("sunseal_aes128")
    for count, tag in enumerate(tags, 1):
        samples = b"".join(blocks[:count])
        args = (Out(16), cipher, In(key), In(samples), len(samples))
        yield Call(f"sp800-38a cbc {count} blocks", "random", function, args, 0, (bytes.fromhex(tag),))
    for size in (0, 15, 33):
        args = (Out(16), cipher, In(key), In(bytes(size)), size)
        yield Call(f"sp800-38a cbc, {size} bytes", "random", function, args, ERRORS["LENGTH"], (bytes(16),))


def health() -> Iterator[Call]:
    """SP 800-90B, sections 4.4.1 and 4.4.2, one sample on either side of each cutoff; a failure stays."""

    def state(repeated: int, seen: int, matches: int, last: int, first: int, failed: int) -> bytes:
        words = (41, 410, repeated, seen, matches)
        return b"".join(w.to_bytes(2, "little") for w in words) + bytes([last, first, failed])

    bad = ERRORS["HEALTH"]
    rows = (
        ("the first sample", state(0, 0, 0, 0, 0, 0), 0, state(1, 1, 1, 0, 0, 0), 0),
        ("one less than too often in a row", state(39, 60, 3, 9, 8, 0), 9, state(40, 61, 3, 9, 8, 0), 0),
        ("too often in a row", state(40, 60, 3, 9, 8, 0), 9, state(41, 61, 3, 9, 8, 1), bad),
        ("another one", state(40, 60, 3, 9, 8, 0), 10, state(1, 61, 3, 10, 8, 0), 0),
        ("one less than too often in the window", state(2, 511, 408, 9, 8, 0), 8, state(1, 0, 409, 8, 8, 0), 0),
        ("too often in the window", state(2, 500, 409, 9, 8, 0), 8, state(1, 501, 410, 8, 8, 1), bad),
        ("a new window", state(2, 0, 409, 9, 8, 0), 7, state(1, 1, 1, 7, 7, 0), 0),
        ("failed before", state(1, 7, 1, 9, 8, 1), 3, state(1, 8, 1, 3, 8, 1), bad),
    )
    for what, before, sample, after, expected in rows:
        args = (InOut(before), np.uint8(sample))
        yield Call(f"model health: {what}", "random", "sunseal_health_sample", args, expected, (after,))


def cases() -> Iterator[Call]:
    """All of them."""
    yield from digests()
    yield from macs()
    yield from hkdf()
    yield from ots()
    yield from lms()
    yield from drbg()
    yield from conditioning()
    yield from cbc_mac()
    yield from health()
