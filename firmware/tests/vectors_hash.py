# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hashes, HMAC, HKDF, one-time signatures, LMS and randomness as calls.

Where no document has vectors, a model in these lines over Python's hashlib and hmac stands for one.
"""

import hashlib
import hmac
import random
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import xor

import numpy as np
from calls import ERRORS, Argument, Call, Function, In, InOut, Out, Struct, Symbol, load
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

DIGEST_BYTES = {"sha1": 20, "sha256": 32, "sha512": 64}
LENGTHS = (0, 1, 3, 20, 54, 55, 56, 57, 63, 64, 65, 111, 112, 113, 119, 120, 127, 128, 129, 183, 257, 600)


def unhex(row: dict[str, str], *names: str) -> tuple[bytes, ...]:
    """The named fields."""
    return tuple(bytes.fromhex(row[name]) for name in names)


def digests() -> Iterator[Call]:
    """FIPS 180's examples, and every length that pads in another way, at odd addresses too."""
    rows = [row for name in ("fips180.json", "sha512.json") for row in load(name)["digest"]]
    for row in rows:
        message = bytes.fromhex(row["message"]) * row.get("repeat", 1)
        name = f"fips180 {row['hash']} {row['message'][:8]}"
        yield digest(name, row["hash"], message, bytes.fromhex(row["digest"]))
    for name in DIGEST_BYTES:
        for length in LENGTHS:
            message = random.Random(length).randbytes(length)
            yield digest(f"hashlib {name}, {length} bytes", name, message, hashlib.new(name, message).digest())


def digest(name: str, function: str, message: bytes, want: bytes) -> Call:
    """One hash."""
    assert len(want) == DIGEST_BYTES[function]
    return Call(name, "hash", f"sunseal_{function}", (Out(len(want)), In(message), len(message)), 0, (want,))


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
        yield Call(name, "hash", f"sunseal_hmac_{function}", (Out(whole), *inputs), 0, (want,))
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
        yield Call(name, "hash", f"{function}_extract", (Out(32), In(salt), len(salt), In(ikm), len(ikm)), 0, (prk,))
        args = (Out(len(okm)), len(okm), In(prk), In(info), len(info))
        yield Call(name, "hash", f"{function}_expand", args, 0, (okm,))
    for group in load("wycheproof/hkdf_sha256_test.json")["testGroups"]:
        for test in group["tests"]:
            ikm, salt, info, okm = unhex(test, "ikm", "salt", "info", "okm")
            size = test["size"]
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

    def store(self, index: int) -> bytes:
        """What it holds."""
        return record(index, self.identifier)

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
            yield Call(title, "ots", f"{wots}_public_key", (Out(n), key, number), 0, (public,), slow=True)
            burnt = one.store(index + 1)
            args = (Out(len(signature)), key, memory(one.store(index)), number, In(one.hashed))
            yield Call(title, "ots", f"{wots}_sign", args, 0, (signature, burnt), slow=True)
            args = (Out(len(signature)), key, memory(burnt), number, In(one.hashed))
            refused = ERRORS["INDEX_USED"]
            yield Call(f"{title}, used", "ots", f"{wots}_sign", args, refused, (bytes(len(signature)), burnt))
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
                yield Call(f"{title}, value {j}", "ots", f"{lamport}_public_key", args, 0, (value,))
            yield from lamport_life(one, lamport, title, index)


def lamport_life(one: OneTime, function: str, title: str, index: int) -> Iterator[Call]:
    """The first, the last, and one too many of a signature's values; all of them verified."""
    n, key = one.n, one.identifier + one.seed
    bits = [byte >> (7 - i) & 1 for byte in one.hashed for i in range(8)]
    values = [one.x(index, 0x8000 + 2 * i + bit) for i, bit in enumerate(bits)]

    def state(left: int) -> bytes:
        """The structure, with what pads it where words are aligned."""
        body = key + index.to_bytes(4, "little") + one.hashed + left.to_bytes(2, "little")
        return body + bytes(-len(body) % 4)

    began = (None, one.store(index + 1))
    args: tuple[Argument, ...] = (
        Out(len(state(0))),
        In(key),
        memory(one.store(index)),
        np.uint32(index),
        In(one.hashed),
    )
    yield Call(title, "ots", f"{function}_begin", args, 0, began)
    for left in (8 * n, 8 * n - 1, 2):
        after = state(left - 1)
        args = (Out(n), InOut(state(left)))
        yield Call(f"{title}, {left} left", "ots", f"{function}_next", args, 0, (values[-left], after))
    args = (Out(n), InOut(state(1)))
    yield Call(f"{title}, the last", "ots", f"{function}_next", args, 0, (values[-1], bytes(len(state(0)))))
    args = (Out(n), InOut(bytes(len(state(0)))))
    gone = bytes(len(state(0)))
    yield Call(f"{title}, none left", "ots", f"{function}_next", args, ERRORS["INDEX_USED"], (bytes(n), gone))
    public = b"".join(one.h(one.x(index, 0x8000 + j)) for j in range(16 * n))
    signature = b"".join(values)
    check = (In(public), In(signature), In(one.hashed))
    yield Call(title, "ots", f"{function}_verify", check, 0, ())
    changed = (In(public), In(signature[:-1] + bytes([signature[-1] ^ 1])), In(one.hashed))
    yield Call(f"{title}, changed", "ots", f"{function}_verify", changed, ERRORS["SIGNATURE"], ())


def memory(content: bytes) -> Struct:
    """A store in memory, struct sunseal_store."""
    held = Struct((InOut(content), np.uint32(len(content))))
    return Struct((Function("sunseal_store_memory_read"), Function("sunseal_store_memory_write"), held))


def record(index: int, identifier: bytes) -> bytes:
    """What a store holds of the lowest free index, twice."""
    begun = index.to_bytes(4, "big") + identifier[:8]
    return 2 * (begun + hashlib.sha256(begun).digest()[:4])


def indices() -> Iterator[Call]:
    """The records by themselves: a new one, one that is torn, one of another key, the last index of all."""
    identifier, other = bytes(range(8)), bytes(range(1, 9))
    create, following, burn = (f"sunseal_index_{verb}" for verb in ("create", "next", "burn"))
    empty, first = b"\xff" * 32, record(0, identifier)
    torn = record(7, identifier)[:16] + record(8, identifier)[16:28] + bytes(4)
    key = In(identifier)
    store, used = ERRORS["STORE"], ERRORS["INDEX_USED"]
    yield Call("model index, a new store", "ots", create, (memory(empty), key), 0, (first,))
    yield Call("model index, once more", "ots", create, (memory(first), key), 0, (first,))
    five = record(5, identifier)
    yield Call("model index, in use", "ots", create, (memory(five), key), used, (five,))
    for what, content, want in ("whole", five, 5), ("torn", torn, 7):
        args = (Out(4), memory(content), key)
        yield Call(f"model index, {what}", "ots", following, args, 0, (want.to_bytes(4, "little"), content))
    for what, content in ("empty", empty), ("of another key", record(5, other)):
        args = (Out(4), memory(content), key)
        yield Call(f"model index, {what}", "ots", following, args, store, (b"\xff" * 4, content))
    for at, expected in (5, 0), (9, 0), (4, used), (2**32 - 1, ERRORS["EXHAUSTED"]):
        after = five if expected else record(at + 1, identifier)
        yield Call(f"model index, burn {at}", "ots", burn, (memory(five), key, np.uint32(at)), expected, (after,))


LMS_TYPES = {24: 10, 32: 5}
"""Of trees of 32 leaves."""
LMOTS_TYPES = {(24, 2): (6, 101, 6), (24, 4): (7, 51, 4), (32, 4): (3, 67, 4)}
"""Type, p and ls by n and w: RFC 8554, table 1, and SP 800-208, table 3."""


class Tree:
    """LMS in RFC 8554's words, for signing."""

    def __init__(self, n: int, w: int, seed: int) -> None:
        """A tree of 32 leaves."""
        source = random.Random(seed)
        self.n, self.w, self.h = n, w, 5
        self.lms_type = LMS_TYPES[n]
        self.lmots_type, self.p, self.shift = LMOTS_TYPES[n, w]
        self.identifier, self.seed = source.randbytes(16), source.randbytes(32)
        self.nodes = {32 + q: self.leaf(q) for q in range(32)}
        for number in range(31, 0, -1):
            children = self.nodes[2 * number], self.nodes[2 * number + 1]
            self.nodes[number] = self.hash(number, 0x8383, *children)

    def hash(self, number: int, domain: int, *parts: bytes) -> bytes:
        """H(I || u32str(number) || u16str(domain) || ...)."""
        prefix = self.identifier + number.to_bytes(4, "big") + domain.to_bytes(2, "big")
        return hashlib.sha256(prefix + b"".join(parts)).digest()[: self.n]

    def chain(self, q: int, i: int, steps: int) -> bytes:
        """Appendix A's first value, and so many steps."""
        x = self.hash(q, i, b"\xff", self.seed)
        for j in range(steps):
            x = self.hash(q, i, bytes([j]), x)
        return x

    def leaf(self, q: int) -> bytes:
        """Algorithms 1 and 2."""
        ends = (self.chain(q, i, 2**self.w - 1) for i in range(self.p))
        return self.hash(32 + q, 0x8282, self.hash(q, 0x8080, *ends))

    def public(self) -> bytes:
        """Section 5.3."""
        return (
            b"".join(t.to_bytes(4, "big") for t in (self.lms_type, self.lmots_type)) + self.identifier + self.nodes[1]
        )

    def key(self) -> bytes:
        """struct sunseal_lms_key."""
        return bytes([self.lms_type, self.lmots_type]) + self.identifier + self.seed

    def store(self, index: int, nodes: Iterable[int] = range(1, 64)) -> bytes:
        """What the store holds, of the nodes too."""
        return record(index, self.identifier) + b"".join(
            self.nodes[i] if i in nodes else b"\xff" * self.n for i in range(1, 64)
        )

    def sign(self, q: int, message: bytes, randomizer: bytes | None) -> bytes:
        """Algorithms 3 and 4; the checksum is section 4.4's."""
        c = randomizer or self.hash(q, 0xFFFD, b"\xff", self.seed)
        hashed = self.hash(q, 0x8181, c, message)
        most, per = 2**self.w - 1, 8 // self.w
        digits = [byte >> (8 - self.w * (k + 1)) & most for byte in hashed for k in range(per)]
        total = sum(most - d for d in digits) << self.shift
        digits += [byte >> (8 - self.w * (k + 1)) & most for byte in total.to_bytes(2, "big") for k in range(per)]
        values = b"".join(self.chain(q, i, digits[i]) for i in range(self.p))
        path = b"".join(self.nodes[(32 + q >> level) ^ 1] for level in range(5))
        types = [t.to_bytes(4, "big") for t in (q, self.lmots_type, self.lms_type)]
        return types[0] + types[1] + c + values + types[2] + path


def lms_signing() -> Iterator[Call]:
    """ACVP's keys; leaves, keys and signatures against the model; none left, and a wrong length."""
    for group in load("acvp_lms.json")["keygen"]:
        h = {10: 5, 11: 10}[group["lms_type"]]
        for test in group["tests"]:
            identifier, seed, public = unhex(test, "i", "seed", "publicKey")
            key = bytes([group["lms_type"], group["lmots_type"]]) + identifier + seed
            args = (Out(48), In(key), memory(b"\xff" * (32 + 24 * (2 ** (h + 1) - 1))))
            yield Call(f"acvp keyGen {test['tcId']}", "ots", "sunseal_lms_keygen", args, 0, (public, None), slow=True)
    for n, w in (24, 4), (24, 2), (32, 4):
        tree = Tree(n, w, n + w)
        title, key, message = f"model n = {n}, w = {w}", In(tree.key()), b"A message that no one has sent."
        args: tuple[Argument, ...]
        leaf = range(32, 41)
        args = (key, memory(tree.store(0, leaf)), np.uint32(9))
        after = tree.store(0, (*leaf, 41, 20))
        yield Call(f"{title}, leaf 9", "ots", "sunseal_lms_keygen_leaf", args, 0, (after,), slow=True)
        args = (Out(24 + n), key, memory(b"\xff" * 32 + tree.store(0)[32:]))
        yield Call(title, "ots", "sunseal_lms_keygen_finish", args, 0, (tree.public(), tree.store(0)))
        for q, randomizer in (6, bytes(range(n))), (31, None):
            signature = tree.sign(q, message, randomizer)
            given = In(randomizer) if randomizer else 0
            args = (
                Out(len(signature)),
                len(signature),
                key,
                memory(tree.store(q)),
                0,
                In(message),
                len(message),
                given,
            )
            want = (signature, tree.store(q + 1))
            yield Call(f"{title}, index {q}", "ots", "sunseal_lms_sign", args, 0, want, slow=True)
            check = (In(tree.public()), 24 + n, In(signature), len(signature), In(message), len(message))
            yield Call(f"{title}, index {q}", "ots", "sunseal_lms_verify", check, 0, (), slow=True)
        size, full = len(signature), tree.store(32)
        for what, length, error, out in ("none left", size, "EXHAUSTED", 0), ("too long", size + 1, "LENGTH", 0xA5):
            args = (Out(length), length, key, memory(full), 0, In(message), len(message), 0)
            want = (bytes([out]) * length, full)
            yield Call(f"{title}, {what}", "ots", "sunseal_lms_sign", args, ERRORS[error], want)


def hss() -> Iterator[Call]:
    """RFC 8554, test case 2 as it is printed: one HSS signature, taken apart by section 6.3."""
    rows = {row["comment"].partition(":")[0]: row for row in load("rfc8554.json")["verify"]}
    top, second = rows["test case 2, top tree"], rows["test case 2, second tree"]
    whole = (1).to_bytes(4, "big") + b"".join(
        bytes.fromhex(part) for part in (top["signature"], second["public_key"], second["signature"])
    )
    key = bytes.fromhex(top["public_key"])
    message = bytes.fromhex(second["message"])
    signed, left = int.from_bytes(whole[:4], "big"), whole[4:]
    for level in range(signed + 1):
        length = lms_signature_bytes(key)
        signature, left = left[:length], left[length:]
        following, left = (left[:56], left[56:]) if level < signed else (message, left)
        args = (In(key), len(key), In(signature), length, In(following), len(following))
        yield Call(f"rfc8554 whole signature, level {level}", "ots", "sunseal_lms_verify", args, 0, (), slow=True)
        key = following
    assert not left


def lms_signature_bytes(key: bytes) -> int:
    """By the types that a public key begins with, n = 32: table 1 and section 5.1."""
    h, p = {5: 5, 6: 10}[int.from_bytes(key[:4], "big")], {3: 67, 4: 34}[int.from_bytes(key[4:8], "big")]
    return 12 + 32 * (1 + p + h)


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
    yield from acvp_drbg()
    for i in range(6):
        source = random.Random(i)
        entropy, nonce, personal, fresh, additional = (source.randbytes(n) for n in (32 + i, 16, 7 * i, 32, 11 * i))
        yield from drbg_life(f"model hmac_drbg {i}", entropy, nonce, personal, fresh, additional, None)
    seeded = Drbg(bytes(48)).state()
    nothing = (In(b""), 0)
    short: tuple[Argument, ...] = (Out(68), In(bytes(31)), 31, In(bytes(17)), 17, *nothing)
    yield Call(
        "model hmac_drbg, 31 bytes of entropy",
        "random",
        f"{name}_instantiate",
        short,
        ERRORS["LENGTH"],
        (b"\xa5" * 68,),
    )
    short = (Out(68), In(bytes(32)), 32, In(bytes(15)), 15, *nothing)
    yield Call(
        "model hmac_drbg, nonce too short", "random", f"{name}_instantiate", short, ERRORS["LENGTH"], (b"\xa5" * 68,)
    )
    short = (InOut(seeded), In(bytes(31)), 31, *nothing)
    yield Call("model hmac_drbg, 31 bytes to reseed", "random", f"{name}_reseed", short, ERRORS["LENGTH"], (seeded,))
    for what, state in ("no seed", bytes(68)), ("65536 requests served", seeded[:64] + (65537).to_bytes(4, "little")):
        args = (InOut(state), Out(40), 40, *nothing)
        yield Call(
            f"model hmac_drbg, {what}", "random", f"{name}_generate", args, ERRORS["NOT_SEEDED"], (state, bytes(40))
        )


def acvp_drbg() -> Iterator[Call]:
    """ACVP's: with prediction resistance each request is a reseeding and a request without more input."""
    prefix = "sunseal_hmac_drbg"
    for test in load("acvp_drbg.json")["tests"]:
        name = f"acvp hmacDRBG {test['tcId']}"
        first = unhex(test, "entropyInput", "nonce", "persoString")
        own, out = Drbg(*first), b""
        args: tuple[Argument, ...] = (Out(68), *(part for given in first for part in (In(given), len(given))))
        yield Call(name, "random", f"{prefix}_instantiate", args, 0, (own.state(),))
        for turn, row in enumerate(test["otherInput"]):
            additional, entropy = unhex(row, "additionalInput", "entropyInput")
            if entropy:
                before = own.state()
                own.reseed(entropy, additional)
                args = (InOut(before), In(entropy), len(entropy), In(additional), len(additional))
                yield Call(f"{name}, {turn} reseeded", "random", f"{prefix}_reseed", args, 0, (own.state(),))
                additional = b""
            if row["intendedUse"] == "generate":
                before = own.state()
                out = own.generate(512, additional)
                args = (InOut(before), Out(512), 512, In(additional), len(additional))
                want = (own.state(), out)
                yield Call(f"{name}, {turn}", "random", f"{prefix}_generate", args, 0, want)
        assert out == bytes.fromhex(test["returnedBits"]), name


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
    yield Call("model fold of 8", "random", function, args, ERRORS["PARAMETERS"], (b"\xa5" * 4,))
    want = hashlib.sha256(samples).digest()
    args = (Out(32), In(samples), len(samples))
    yield Call("hashlib", "random", "sunseal_condition_sha256", args, 0, (want,))


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
        yield Call(f"sp800-38a cbc, {size} bytes", "random", function, args, ERRORS["LENGTH"], (b"\xa5" * 16,))


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


def gathered() -> Iterator[Call]:
    """Entropy from SRAM whose bytes are trusted with 8 bits: 40 of them; one byte for ever fails, and leaves zeros."""
    for what, count, samples, expected in (
        ("40 samples", 40, random.Random(7).randbytes(40), 0),
        ("one byte for ever", 40, bytes([0x5A] * 40), ERRORS["HEALTH"]),
        ("runs dry", 20, random.Random(7).randbytes(40), ERRORS["ENTROPY"]),
    ):
        sram = Struct((In(samples), np.uint16(count)))
        numbers = (np.uint16(5), np.uint16(300), np.uint16(0), np.uint8(64))
        source = Struct((Function("sunseal_sram_read"), sram, *numbers))
        digest = hashlib.sha256(samples).digest() if not expected else bytes(32)
        args = (Out(32), source, InOut(bytes(18)))
        yield Call(f"model entropy, {what}", "random", "sunseal_entropy", args, expected, (digest, None))


def unequal(fold: int, count: int) -> bytes:
    """Samples of which Von Neumann drops nothing: each two bits of what is folded differ."""
    source = random.Random(fold)
    samples = b""
    for _ in range(count // 4):
        group = source.randbytes(fold - 1)
        folded = sum(source.choice((1, 2)) << i for i in range(0, 8, 2))
        samples += group + bytes([reduce(xor, group) ^ folded])
    return samples


def generator(samples: bytes, count: int, cipher: Argument, fold: int) -> Struct:
    """A generator over SRAM whose bytes are trusted with 8 bits; health is new."""
    sram = Struct((In(samples), np.uint16(count)))
    source = (Function("sunseal_sram_read"), sram, np.uint16(5), np.uint16(300), np.uint16(0), np.uint8(64))
    # Health, of 14 bytes for each of four clocks; then cipher, fold and what stays 0.
    return Struct((*source, *[np.uint16(0)] * 28, cipher, np.uint8(fold), *[np.uint8(0)] * 4))


def generated() -> Iterator[Call]:
    """Generators over SRAM against hashlib, CBC-MAC by the package cryptography, and the model."""
    aes, none = Symbol("sunseal_aes128"), In(b"")
    samples = random.Random(7).randbytes(64)
    encrypt = algorithms.AES128(bytes(range(16)))
    macs = [
        Cipher(encrypt, modes.CBC(bytes(16))).encryptor().update(half)[-16:] for half in (samples[:32], samples[32:])
    ]
    rows = [
        ("generate_sha256", samples, none, 0, hashlib.sha256(samples[:40]).digest()),
        ("generate_cbc_mac", samples, aes, 0, b"".join(macs)),
    ]
    for fold in (16, 32):
        folded = unequal(fold, 256)
        bits = conditioned(folded, fold)
        out = bytes(sum(bit << i for i, bit in enumerate(bits[8 * at : 8 * at + 8])) for at in range(32))
        rows.append(("generate_xor_vartime", folded, none, fold, out))
    for name, given, cipher, fold, out in rows:
        for what, fed, count, expected in (
            ("", given, len(given), 0),
            (", one byte for ever", bytes([0x5A] * len(given)), len(given), ERRORS["HEALTH"]),
            (", runs dry", given, 38, ERRORS["ENTROPY"]),
        ):
            args = (generator(fed, count, cipher, fold), Out(32))
            want = bytes(32) if expected else out
            yield Call(f"model {fold or ''}{what}", "random", f"sunseal_{name}", args, expected, (want,))


def cases() -> Iterator[Call]:
    """All of them."""
    yield from gathered()
    yield from generated()
    yield from digests()
    yield from macs()
    yield from hkdf()
    yield from ots()
    yield from indices()
    yield from lms()
    yield from lms_signing()
    yield from hss()
    yield from drbg()
    yield from conditioning()
    yield from cbc_mac()
    yield from health()
