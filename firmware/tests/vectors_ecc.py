# SPDX-License-Identifier: MIT OR Apache-2.0
"""P-224, ECDH, signatures in two parts, X25519 and Ed25519 as calls.

What a refused vector must answer follows from the vector itself, by the independent model of model.py.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import model
from calls import ERRORS, STEPPED_BYTES, Argument, Call, In, InOut, Out, load

CURVES = {curve.name: curve for curve in model.CURVES}
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
ED25519_P = 2**255 - 19
COUPON_READY = 0x53656C21
COUPON_WORDS = {"secp160r1": 12, "p224": 14, "p256": 16}
ENTROPY = bytes(range(0x31, 0x51))
FILL = b"\xa5"


def on_curve(curve: model.Curve, x: int, y: int) -> bool:
    """Whether a point is on the same curve as G."""
    gx, gy = curve.g
    return (y * y - gy * gy - (x**3 - gx**3) + 3 * (x - gx)) % curve.p == 0


def key_error(curve: model.Curve, q: bytes) -> int:
    """What the library says of a public key."""
    half = len(q) // 2
    x, y = int.from_bytes(q[:half], "big"), int.from_bytes(q[half:], "big")
    if max(x, y) >= curve.p:
        return ERRORS["PUBLIC_KEY_RANGE"]
    if x == y == 0:
        return ERRORS["INFINITY"]
    return 0 if on_curve(curve, x, y) else ERRORS["PUBLIC_KEY"]


def verdict(curve: model.Curve, q: bytes, signature: bytes, digest: bytes) -> int:
    """What the library says of a signature."""
    if error := key_error(curve, q):
        return error
    half = len(signature) // 2
    r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    if not (0 < r < curve.n and 0 < s < curve.n):
        return ERRORS["SIGNATURE_RANGE"]
    half = len(q) // 2
    point = int.from_bytes(q[:half], "big"), int.from_bytes(q[half:], "big")
    inverse = pow(s, -1, curve.n)
    total = curve.add(
        curve.multiply(curve.bits_to_int(digest) * inverse % curve.n, curve.g),
        curve.multiply(r * inverse % curve.n, point),
    )
    if total is None:
        return ERRORS["INFINITY"]
    return 0 if total[0] % curve.n == r else ERRORS["SIGNATURE"]


def acvp() -> Iterator[Call]:
    """FIPS 186-5 signatures of hashes, good and changed."""
    for group in load("acvp_ecdsa.json")["groups"]:
        name = group["curve"]
        for test in group["tests"]:
            q, signature, digest = (bytes.fromhex(test[part]) for part in ("q", "signature", "message"))
            expected = verdict(CURVES[name], q, signature, digest)
            assert (expected == 0) == (test["reason"] == "none")
            args = (In(q), In(signature), In(digest), len(digest))
            title = f"acvp SigVer {test['tcId']}: {test['reason']}"
            yield Call(title, "ecc", f"sunseal_ecdsa_{name}_verify", args, expected, (), slow=True)


def p224() -> Iterator[Call]:
    """Keys and signatures; the other curves' are among the cases of vectors.py."""
    curve = CURVES["p224"]
    ours = load("p224.json")
    for i, row in enumerate(ours["keygen"]):
        d, q = bytes.fromhex(row["d"]), bytes.fromhex(row["q"])
        args = (Out(28), Out(56), In(bytes.fromhex(row["entropy"])))
        yield Call(f"p224 keygen {i}", "ecc", "sunseal_ecdsa_p224_keygen", args, 0, (d, q))
    rfc = load("rfc6979_p224.json")
    rows = [(f"rfc6979 p224 {i}", rfc | row) for i, row in enumerate(rfc["sign"])]
    rows += [(f"p224 {row['hash']} row {i}", row) for i, row in enumerate(ours["sign"])]
    for name, row in rows:
        d, q, signature = (bytes.fromhex(row[key]) for key in ("d", "q", "signature"))
        digest = hashlib.new(row["hash"], bytes.fromhex(row["message"])).digest()
        added = bytes.fromhex(row.get("added_entropy", ""))
        args = (Out(56), In(d), In(digest), len(digest), In(added))
        if added:
            yield Call(name, "ecc", "sunseal_ecdsa_p224_sign", args, 0, (signature,))
        else:
            yield Call(name, "ecc", "sunseal_ecdsa_p224_sign_added", (*args, 0), 0, (signature,))
        for turned in (0, 1):
            other = signature[:-1] + bytes([signature[-1] ^ turned])
            args = (In(q), In(other), In(digest), len(digest))
            what = ERRORS["SIGNATURE"] if turned else 0
            yield Call(f"{name}, verified", "ecc", "sunseal_ecdsa_p224_verify", args, what, (), slow=True)
    for name in ("sha224", "sha256"):
        for group in load(f"wycheproof/ecdsa_secp224r1_{name}_p1363_test.json")["testGroups"]:
            q = bytes.fromhex(group["publicKey"]["uncompressed"])[1:]
            for test in group["tests"]:
                signature = bytes.fromhex(test["sig"])
                # Of any other length they never reach the library: its callers hold fixed-size arrays.
                if len(signature) != 56:
                    assert test["result"] == "invalid"
                    continue
                digest = hashlib.new(name, bytes.fromhex(test["msg"])).digest()
                what = verdict(curve, q, signature, digest) if test["result"] == "invalid" else 0
                assert (what == 0) == (test["result"] == "valid")
                title = f"wycheproof p224 {name} {test['tcId']}: {test['comment']}"
                args = (In(q), In(signature), In(digest), len(digest))
                yield Call(title, "ecc", "sunseal_ecdsa_p224_verify", args, what, (), slow=True)


def hash_lengths(name: str) -> Iterator[Call]:
    """Hashes that no function makes, which nothing is signed of, and the shortest and the longest that are some."""
    curve = CURVES[name]
    d = (3).to_bytes(curve.order_bytes, "big")
    point = curve.multiply(3, curve.g)
    assert point
    q = b"".join(part.to_bytes((curve.p.bit_length() + 7) // 8, "big") for part in point)
    signature = bytes([0] * (curve.order_bytes - 1) + [1]) * 2
    added = bytes(range(32))
    size = 2 * curve.order_bytes
    coupon = InOut(bytes(range(1, 5 + 6 * COUPON_WORDS[name])))
    for length in (0, 1, 19, 65, 200):
        hashed = In(bytes(range(1, 1 + length)))
        title = f"{name} hash of {length} bytes"
        error = ERRORS["LENGTH"]
        args: tuple[Argument, ...] = (Out(size), In(d), hashed, length, In(added))
        yield Call(title, "ecc", f"sunseal_ecdsa_{name}_sign", args, error, (FILL * size,))
        args = (Out(size), coupon, In(d), hashed, length)
        yield Call(title, "ecc", f"sunseal_ecdsa_{name}_sign_online", args, error, (FILL * size, coupon.data))
        state = STEPPED_BYTES[name][1]
        args = (Out(state), In(d), hashed, length, In(added))
        yield Call(title, "ecc", f"sunseal_ecdsa_{name}_sign_begin", args, error, (FILL * state,))
        args = (In(q), In(signature), hashed, length)
        yield Call(title, "ecc", f"sunseal_ecdsa_{name}_verify", args, error, ())
    for length in (20, 64):
        args = (In(q), In(signature), In(bytes(range(length))), length)
        title = f"{name} hash of {length} bytes, of another signature"
        expected = verdict(curve, q, signature, bytes(range(length)))
        assert expected == ERRORS["SIGNATURE"]
        yield Call(title, "ecc", f"sunseal_ecdsa_{name}_verify", args, expected, ())


def refused_keys(name: str) -> Iterator[Call]:
    """Keys that are out of range, off the curve, or infinity: outputs are zero."""
    curve = CURVES[name]
    size, order = curve.field_digits // 2, curve.order_bytes
    field_top = (1 << (8 * size)) - 1
    gx, gy = curve.g
    good = gx.to_bytes(size, "big") + gy.to_bytes(size, "big")
    d, hash_bytes = (5).to_bytes(order, "big"), bytes(range(32))
    publics = {
        "x is p": curve.p.to_bytes(size, "big") + gy.to_bytes(size, "big"),
        "y is the highest number": gx.to_bytes(size, "big") + field_top.to_bytes(size, "big"),
        "infinity": bytes(2 * size),
        "y is one off": good[:-1] + bytes([good[-1] ^ 1]),
        "on another curve": (1).to_bytes(size, "big") + (1).to_bytes(size, "big"),
    }
    for what, q in publics.items():
        error = key_error(curve, q)
        assert error
        yield Call(
            f"{name} ecdh, {what}", "ecc", f"sunseal_ecdh_{name}", (Out(size), In(d), In(q)), error, (bytes(size),)
        )
        args = (In(q), In(d + d), In(hash_bytes), 32)
        yield Call(f"{name} verify, {what}", "ecc", f"sunseal_ecdsa_{name}_verify", args, error, ())
    for what, number in (("0", 0), ("n", curve.n), ("the highest", (1 << (8 * order)) - 1)):
        d = number.to_bytes(order, "big")
        error = ERRORS["PRIVATE_KEY"]
        args = (Out(size), In(d), In(good))
        yield Call(f"{name} ecdh, d is {what}", "ecc", f"sunseal_ecdh_{name}", args, error, (bytes(size),))
        args = (Out(2 * order), In(d), In(hash_bytes), 32, In(ENTROPY))
        yield Call(f"{name} sign, d is {what}", "ecc", f"sunseal_ecdsa_{name}_sign", args, error, (bytes(2 * order),))
        one = (1).to_bytes(order, "big")
        for signature in (d + one, one + d):
            args = (In(good), In(signature), In(hash_bytes), 32)
            error = ERRORS["SIGNATURE_RANGE"]
            yield Call(f"{name} verify, r or s is {what}", "ecc", f"sunseal_ecdsa_{name}_verify", args, error, ())
    # u1 G + u2 Q with Q = G, e = n - r
    r = s = 1
    digest = (curve.n - r).to_bytes(order, "big") if curve.n.bit_length() % 8 == 0 else None
    if digest is not None:
        signature = r.to_bytes(order, "big") + s.to_bytes(order, "big")
        args = (In(good), In(signature), In(digest), len(digest))
        error = ERRORS["INFINITY"]
        assert verdict(curve, good, signature, digest) == error
        yield Call(f"{name} verify, the sum is infinity", "ecc", f"sunseal_ecdsa_{name}_verify", args, error, ())
    entropy = bytes(32) if curve.modular else b"\xff" * 32
    outputs = (bytes(order), bytes(2 * size))
    args = (Out(order), Out(2 * size), In(entropy))
    yield Call(f"{name} keygen, no key", "ecc", f"sunseal_ecdsa_{name}_keygen", args, ERRORS["ENTROPY"], outputs)


def coupons(name: str) -> Iterator[Call]:
    """A coupon from entropy, the signature of it, and that it is gone afterwards."""
    curve = CURVES[name]
    n, order, size = curve.n, curve.order_bytes, 2 * COUPON_WORDS[name]
    radix = 1 << (8 * size)
    k = int.from_bytes(ENTROPY, "big") % n if curve.modular else int.from_bytes(ENTROPY[:order], "big")
    point = curve.multiply(k, curve.g)
    assert point is not None
    r = point[0] % n
    numbers = (r, r * radix % n, pow(k, -1, n) * radix % n)
    coupon = COUPON_READY.to_bytes(4, "little") + b"".join(number.to_bytes(size, "little") for number in numbers)
    offline, online = f"sunseal_ecdsa_{name}_sign_offline", f"sunseal_ecdsa_{name}_sign_online"
    yield Call(f"{name} coupon", "ecc", offline, (Out(len(coupon)), In(ENTROPY)), 0, (coupon,))
    entropy = bytes(32) if curve.modular else b"\xff" * 32
    empty = bytes(len(coupon))
    yield Call(f"{name} coupon, no nonce", "ecc", offline, (Out(len(coupon)), In(entropy)), ERRORS["ENTROPY"], (empty,))
    for d in (1, n - 1, int.from_bytes(hashlib.sha256(b"coupon").digest(), "big") % n):
        for length in (20, 24, 28, 32, 64):
            digest = (hashlib.sha512(d.to_bytes(32, "big")).digest() if length % 8 else b"\xff" * 64)[:length]
            s = pow(k, -1, n) * (curve.bits_to_int(digest) + r * d) % n
            signature = r.to_bytes(order, "big") + s.to_bytes(order, "big")
            args = (Out(2 * order), InOut(coupon), In(d.to_bytes(order, "big")), In(digest), length)
            yield Call(f"{name} online, {length} bytes", "ecc", online, args, 0, (signature, empty))
    one = (1).to_bytes(order, "big")
    args = (Out(2 * order), InOut(empty), In(one), In(ENTROPY), 32)
    yield Call(f"{name} online, used", "ecc", online, args, ERRORS["COUPON"], (bytes(2 * order), empty))
    args = (Out(2 * order), InOut(coupon), In(bytes(order)), In(ENTROPY), 32)
    yield Call(f"{name} online, d is 0", "ecc", online, args, ERRORS["PRIVATE_KEY"], (bytes(2 * order), coupon))


def ecdh() -> Iterator[Call]:
    """The model's rows and Wycheproof's uncompressed points."""
    for name, curve in CURVES.items():
        size, order = curve.field_digits // 2, curve.order_bytes
        function = f"sunseal_ecdh_{name}"
        for i, row in enumerate(load(f"{name}.json")["ecdh"]):
            args = (Out(size), In(bytes.fromhex(row["d"])), In(bytes.fromhex(row["q"])))
            yield Call(f"{name} ecdh {i}", "ecc", function, args, 0, (bytes.fromhex(row["shared"]),))
        if name == "secp160r1":
            continue
        for group in load(
            f"wycheproof/ecdh_sec{name.replace('224', '224r1').replace('256', '256r1')}_ecpoint_test.json"
        )["testGroups"]:
            for test in group["tests"]:
                q = bytes.fromhex(test["public"])
                if len(q) != 1 + 2 * size or q[0] != 4:
                    continue  # compressed, or nothing at all
                d = int(test["private"], 16)
                error = key_error(curve, q[1:])
                assert (error == 0) == (test["result"] == "valid")
                shared = bytes(size) if error else bytes.fromhex(test["shared"])
                args = (Out(size), In(d.to_bytes(order, "big")), In(q[1:]))
                title = f"wycheproof ecdh {name} {test['tcId']}: {test['comment']}"
                yield Call(title, "ecc", function, args, error, (shared,), slow=True)


def x25519() -> Iterator[Call]:
    """All of Wycheproof's: keys on the twist are taken, an all-zero secret is refused."""
    rfc = load("rfc7748.json")
    for i, row in enumerate(rfc["keygen"]):
        d, q = bytes.fromhex(row["d"]), bytes.fromhex(row["q"])
        yield Call(f"rfc7748 keygen {i}", "ecc", "sunseal_x25519_keygen", (Out(32), Out(32), In(d)), 0, (d, q))
    rows: list[tuple[str, dict[str, Any]]] = [(f"rfc7748 {i}", row) for i, row in enumerate(rfc["x25519"])]
    for test in load("wycheproof/x25519_test.json")["testGroups"][0]["tests"]:
        row = {"d": test["private"], "u": test["public"], "shared": test["shared"]}
        rows.append((f"wycheproof x25519 {test['tcId']}: {test['comment']}", row))
    for name, row in rows:
        d, u, shared = (bytes.fromhex(row[key]) for key in ("d", "u", "shared"))
        error = 0 if any(shared) else ERRORS["INFINITY"]
        yield Call(name, "ecc", "sunseal_x25519", (Out(32), In(d), In(u)), error, (shared,), slow=True)


def ed25519() -> Iterator[Call]:
    """Keys, signatures, Wycheproof's verifications, and keys that no signature must be taken of."""
    for i, row in enumerate(load("rfc8032.json")["ed25519"]):
        seed, q, message, signature = (bytes.fromhex(row[key]) for key in ("seed", "q", "message", "signature"))
        args = (Out(64), Out(32), In(seed))
        yield Call(f"rfc8032 keygen {i}", "ecc", "sunseal_ed25519_keygen", args, 0, (seed + q, q))
        sign = (Out(64), In(seed + q), In(message), len(message))
        yield Call(f"rfc8032 sign {i}", "ecc", "sunseal_ed25519_sign", sign, 0, (signature,))
        verify = (In(q), In(signature), In(message), len(message))
        yield Call(f"rfc8032 verify {i}", "ecc", "sunseal_ed25519_verify", verify, 0, ())
    for group in load("wycheproof/ed25519_test.json")["testGroups"]:
        q = bytes.fromhex(group["publicKey"]["pk"])
        for test in group["tests"]:
            signature, message = bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"])
            if len(signature) != 64:
                assert test["result"] == "invalid"
                continue
            s_below = int.from_bytes(signature[32:], "little") < ED25519_ORDER
            error = 0 if test["result"] == "valid" else ERRORS["SIGNATURE" if s_below else "SIGNATURE_RANGE"]
            args = (In(q), In(signature), In(message), len(message))
            name = f"wycheproof ed25519 {test['tcId']}: {test['comment']}"
            yield Call(name, "ecc", "sunseal_ed25519_verify", args, error, (), slow=True)
    minus_one = ED25519_P - 1
    order_8 = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
    publics = {
        "the neutral element": ((1).to_bytes(32, "little"), "INFINITY"),
        "of order 2": (minus_one.to_bytes(32, "little"), "INFINITY"),
        "of order 4": (bytes(32), "INFINITY"),
        "of order 8": (bytes.fromhex(order_8), "INFINITY"),
        "y is p": (ED25519_P.to_bytes(32, "little"), "PUBLIC_KEY_RANGE"),
        "y is p + 1": ((ED25519_P + 1).to_bytes(32, "little"), "PUBLIC_KEY_RANGE"),
        "no x": ((2).to_bytes(32, "little"), "PUBLIC_KEY"),
        "x is 0 and odd": ((1 + 2**255).to_bytes(32, "little"), "PUBLIC_KEY"),
    }
    for what, (q, error_name) in publics.items():
        args = (In(q), In(bytes(64)), In(b"message"), 7)
        yield Call(f"ed25519, {what}", "ecc", "sunseal_ed25519_verify", args, ERRORS[error_name], (), slow=True)


def cases() -> Iterator[Call]:
    """All of them."""
    yield from acvp()
    yield from p224()
    yield from ecdh()
    for name in CURVES:
        yield from refused_keys(name)
        yield from hash_lengths(name)
        yield from coupons(name)
    yield from x25519()
    yield from ed25519()
