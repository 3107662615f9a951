# SPDX-License-Identifier: MIT OR Apache-2.0
"""RSA as calls: Wycheproof, rows made with another library, and keys, numbers and paddings that are wrong.

`python3 vectors_rsa.py write` makes data/vectors/rsa.json anew with the Python package `cryptography`. What
has no such row (PSS and OAEP with a given salt or seed) is computed here, with Python's own integers.
"""

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

from calls import ERRORS, VECTORS, Call, In, Out, load

E = 65537
OAEP_BYTES = {1024: 62, 2048: 190}
PREMASTER_BYTES = 48
RANDOM = random.Random("rsa")

Key = dict[str, int]


def text(number: int, bits: int) -> bytes:
    """Big-endian bytes."""
    return number.to_bytes(bits // 8, "big")


def blob(key: Key, bits: int) -> bytes:
    """A struct sunseal_rsa*_key."""
    return text(key["n"], bits) + b"".join(text(key[part], bits // 2) for part in ("p", "q", "dp", "dq", "qinv"))


def power(key: Key, message: bytes, bits: int) -> bytes:
    """The private operation."""
    d = pow(E, -1, (key["p"] - 1) * (key["q"] - 1))
    return text(pow(int.from_bytes(message, "big"), d, key["n"]), bits)


def mgf1(seed: bytes, size: int) -> bytes:
    """RFC 8017, appendix B.2.1."""
    blocks = (hashlib.sha256(seed + i.to_bytes(4, "big")).digest() for i in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def xor(a: bytes, b: bytes) -> bytes:
    """Bytewise."""
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def pss(digest: bytes, salt: bytes, bits: int) -> bytes:
    """RFC 8017, section 9.1.1."""
    size = bits // 8
    h = hashlib.sha256(bytes(8) + digest + salt).digest()
    db = bytes(size - 34 - len(salt)) + b"\x01" + salt
    masked = xor(db, mgf1(h, len(db)))
    return bytes([masked[0] & 0x7F]) + masked[1:] + h + b"\xbc"


def oaep(message: bytes, seed: bytes, bits: int, *, first: int = 0, label: bytes = b"", one: bytes = b"\x01") -> bytes:
    """RFC 8017, section 7.1.1; the named arguments break it."""
    size = bits // 8
    db = hashlib.sha256(label).digest() + bytes(size - 65 - len(one) - len(message)) + one + message
    masked = xor(db, mgf1(seed, len(db)))
    return bytes([first]) + xor(seed, mgf1(masked, 32)) + masked


def private_key(group: dict[str, Any], bits: int) -> bytes:
    """The key of one of Wycheproof's groups."""
    names = {"n": "modulus", "p": "prime1", "q": "prime2", "dp": "exponent1", "dq": "exponent2", "qinv": "coefficient"}
    return blob({ours: int(group["privateKey"][theirs], 16) for ours, theirs in names.items()}, bits)


def wycheproof() -> Iterator[Call]:
    """Signatures and ciphertexts of any other length never reach the library."""
    for file, function in (
        ("rsa_signature_2048_sha256_test.json", "verify_pkcs1_sha256"),
        ("rsa_pss_2048_sha256_mgf1_32_test.json", "verify_pss_sha256"),
    ):
        for group in load(f"wycheproof/{file}")["testGroups"]:
            n = bytes.fromhex(group["publicKey"]["modulus"])[-256:]
            for test in group["tests"]:
                signature = bytes.fromhex(test["sig"])
                if len(signature) != 256:
                    assert test["result"] == "invalid"
                    continue
                # One encoding is taken: that without the NULL, which is "acceptable", is not.
                yield Call(
                    f"wycheproof {function} {test['tcId']}: {test['comment']}",
                    "rsa",
                    f"sunseal_rsa2048_{function}",
                    (In(n), In(signature), In(hashlib.sha256(bytes.fromhex(test["msg"])).digest())),
                    0 if test["result"] == "valid" else ERRORS["SIGNATURE"],
                    (),
                    slow=True,
                )
    for group in load("wycheproof/rsa_pkcs1_1024_sig_gen_test.json")["testGroups"]:
        name = group["sha"].replace("-", "").lower()
        for test in group["tests"]:
            # "acceptable" for the small modulus and SHA-1 alone.
            digest = hashlib.new(name, bytes.fromhex(test["msg"])).digest()
            yield Call(
                f"wycheproof sign pkcs1_{name} {test['tcId']}: {test['comment']}",
                "rsa",
                f"sunseal_rsa1024_sign_pkcs1_{name}",
                (Out(128), In(private_key(group, 1024)), In(digest), In(digest[:20] + bytes(4))),
                0,
                (bytes.fromhex(test["sig"]),),
                slow=True,
            )
    for group in load("wycheproof/rsa_oaep_2048_sha256_mgf1sha256_test.json")["testGroups"]:
        key = private_key(group, 2048)
        for test in group["tests"]:
            sealed, message = bytes.fromhex(test["ct"]), bytes.fromhex(test["msg"])
            if len(sealed) != 256:
                assert test["result"] == "invalid"
                continue
            valid = test["result"] == "valid" and not test["label"]
            refusals = (ERRORS["DECRYPTION"], ERRORS["RSA_RANGE"])
            yield Call(
                f"wycheproof rsa_oaep {test['tcId']}: {test['comment']}",
                "rsa",
                "sunseal_rsa2048_decrypt_oaep",
                (Out(len(message)), len(message), In(key), In(sealed), In(bytes(24))),
                0 if valid else refusals,
                (message if valid else bytes(len(message)),),
                slow=True,
            )


def others() -> Iterator[Call]:
    """What `cryptography` signed and sealed, and what it would take."""
    for row in load("rsa.json")["keys"]:
        bits = row["bits"]
        size, prefix = bits // 8, f"sunseal_rsa{bits}_"
        key = {name: int(row[name], 16) for name in ("n", "p", "q", "dp", "dq", "qinv")}
        n, whole, message = text(key["n"], bits), blob(key, bits), bytes.fromhex(row["message"])
        sha1, sha256 = hashlib.sha1(message).digest(), hashlib.sha256(message).digest()
        entropy = In(bytes.fromhex(row["random"]))
        name = f"cryptography {bits} {row['name']}"
        for kind, digest in (("pkcs1_sha1", sha1), ("pkcs1_sha256", sha256)):
            signature = bytes.fromhex(row[kind])
            args = (Out(size), In(whole), In(digest), entropy)
            yield Call(f"{name} sign {kind}", "rsa", f"{prefix}sign_{kind}", args, 0, (signature,), slow=True)
            yield from verified(f"{name} {kind}", bits, f"{prefix}verify_{kind}", n, signature, digest)
        yield from verified(f"{name} pss", bits, f"{prefix}verify_pss_sha256", n, bytes.fromhex(row["pss"]), sha256)
        salt = hashlib.sha256(b"salt" + n).digest()
        signature = power(key, pss(sha256, salt, bits), bits)
        salted = (Out(size), In(whole), In(sha256), In(salt), entropy)
        yield Call(f"{name} sign pss", "rsa", f"{prefix}sign_pss_sha256", salted, 0, (signature,), slow=True)

        premaster, sealed = bytes.fromhex(row["premaster"]), bytes.fromhex(row["oaep"])
        for length in (PREMASTER_BYTES, PREMASTER_BYTES - 1):
            yield Call(
                f"{name} decrypt, {length} bytes expected",
                "rsa",
                f"{prefix}decrypt_oaep",
                (Out(length), length, In(whole), In(sealed), entropy),
                0 if length == PREMASTER_BYTES else ERRORS["DECRYPTION"],
                (premaster if length == PREMASTER_BYTES else bytes(length),),
                slow=True,
            )
        for length in (0, PREMASTER_BYTES, OAEP_BYTES[bits]):
            plain, seed = RANDOM.randbytes(length), RANDOM.randbytes(32)
            sealed = text(pow(int.from_bytes(oaep(plain, seed, bits), "big"), E, key["n"]), bits)
            yield Call(
                f"{name} encrypt {length} bytes",
                "rsa",
                f"{prefix}encrypt_oaep",
                (Out(size), In(n), In(plain), length, In(seed)),
                0,
                (sealed,),
                slow=bits == 2048,
            )
        if row["name"] == "first":
            yield from edges(name, bits, key)
            yield from refused(name, bits, key)


def verified(name: str, bits: int, function: str, n: bytes, signature: bytes, digest: bytes) -> Iterator[Call]:
    """A signature that must pass, and what must not: another hash, another key, and the signature plus n."""
    wrong = ERRORS["SIGNATURE"]
    beyond = int.from_bytes(signature, "big") + int.from_bytes(n, "big")
    rows: list[tuple[str, bytes, bytes, int]] = [
        ("verify", signature, digest, 0),
        ("another hash", signature, digest[::-1], wrong),
        ("another signature", signature[:-1] + bytes([signature[-1] ^ 1]), digest, wrong),
        ("zero", bytes(len(n)), digest, wrong),
        ("n", n, digest, wrong),
    ]
    if beyond < 1 << bits:
        rows.append(("plus n", text(beyond, bits), digest, wrong))
    for what, given, hashed, expected in rows:
        yield Call(f"{name} {what}", "rsa", function, (In(n), In(given), In(hashed)), expected, (), slow=bits == 2048)


def edges(name: str, bits: int, key: Key) -> Iterator[Call]:
    """The primitives on numbers at the ends, with blinding of all ones and of all zeros."""
    n = key["n"]
    for x in (0, n - 1, key["p"], n - key["q"], 1 << bits // 2)[: 5 if bits == 1024 else 3]:
        public = (text(pow(x, E, n), bits),)
        args = (Out(bits // 8), In(text(n, bits)), In(text(x, bits)))
        yield Call(f"{name} {x:x}^e", "rsa", f"sunseal_rsa{bits}_public", args, 0, public, slow=bits == 2048)
        if bits == 2048:
            # Key, argument and result together leave the ATmega128 no stack.
            continue
        private = power(key, text(x, bits), bits)
        for entropy in (bytes(24), b"\xff" * 24):
            yield Call(
                f"{name} {x:x}^d, blinded by {entropy[0]:02x}",
                "rsa",
                f"sunseal_rsa{bits}_private",
                (Out(bits // 8), In(blob(key, bits)), In(text(x, bits)), In(entropy)),
                0,
                (private,),
                slow=True,
            )


def refused(name: str, bits: int, key: Key) -> Iterator[Call]:
    """Malformed keys, numbers out of range, forged paddings: each has its error, and nothing is written."""
    size, half = bits // 8, bits // 2
    one, entropy = text(1, bits), bytes(range(24))
    public, private = f"sunseal_rsa{bits}_public", f"sunseal_rsa{bits}_private"
    sha1, decrypt = f"sunseal_rsa{bits}_sign_pkcs1_sha1", f"sunseal_rsa{bits}_decrypt_oaep"
    args: tuple[In | Out | int, ...]
    for what, n, error in (
        ("n = 0", 0, "RSA_ZERO"),
        ("n even", key["n"] - 1, "RSA_EVEN"),
        ("n short", key["n"] >> 1 | 1, "RSA_SIZE"),
    ):
        args = (Out(size), In(text(n, bits)), In(one))
        yield Call(f"{name} {what}", "rsa", public, args, ERRORS[error], (bytes(size),))
        args = (Out(size), In(blob(key | {"n": n}, bits)), In(bytes(20)), In(entropy))
        yield Call(f"{name} sign, {what}", "rsa", sha1, args, ERRORS[error], (bytes(size),))
    bad: list[tuple[str, Key, str]] = [
        (f"{part} = 0", key | {part: 0}, "RSA_ZERO") for part in ("p", "q", "dp", "dq", "qinv")
    ]
    for part in ("p", "q"):
        bad.append((f"{part} even", key | {part: key[part] ^ 1}, "RSA_EVEN"))
        bad.append((f"{part} short", key | {part: key[part] ^ 1 << half - 1}, "RSA_SIZE"))
    bad += [(f"{part} disturbed", key | {part: key[part] ^ 16}, "RSA_FAULT") for part in ("p", "dp", "dq", "qinv")]
    bad.append(("p and q swapped", key | {"p": key["q"], "q": key["p"]}, "RSA_FAULT"))
    for what, broken, error in bad:
        slow = error == "RSA_FAULT"
        yield Call(
            f"{name} sign, {what}",
            "rsa",
            f"sunseal_rsa{bits}_sign_pkcs1_sha256",
            (Out(size), In(blob(broken, bits)), In(bytes(32)), In(entropy)),
            ERRORS[error],
            (bytes(size),),
            slow=slow,
        )
    for x in (key["n"], key["n"] + 1, (1 << bits) - 1):
        args = (Out(size), In(text(key["n"], bits)), In(text(x, bits)))
        yield Call(f"{name} {x:x} >= n", "rsa", public, args, ERRORS["RSA_RANGE"], (bytes(size),))
        if bits == 1024:
            args = (Out(size), In(blob(key, bits)), In(text(x, bits)), In(entropy))
            yield Call(f"{name} private, {x:x} >= n", "rsa", private, args, ERRORS["RSA_RANGE"], (bytes(size),))
        args = (Out(8), 8, In(blob(key, bits)), In(text(x, bits)), In(entropy))
        yield Call(f"{name} decrypt, {x:x} >= n", "rsa", decrypt, args, ERRORS["RSA_RANGE"], (bytes(8),))
    for length in (OAEP_BYTES[bits] + 1,):
        args = (Out(size), In(text(key["n"], bits)), In(bytes(length)), length, In(bytes(32)))
        encrypt = f"sunseal_rsa{bits}_encrypt_oaep"
        yield Call(f"{name} encrypt {length} bytes", "rsa", encrypt, args, ERRORS["LENGTH"], (b"\xa5" * size,))
        args = (Out(length), length, In(blob(key, bits)), In(one), In(entropy))
        yield Call(f"{name} decrypt {length} bytes", "rsa", decrypt, args, ERRORS["LENGTH"], (b"\xa5" * length,))
    message, seed = bytes(range(PREMASTER_BYTES)), bytes(range(32))
    forged: dict[str, dict[str, Any]] = {
        "first byte 1": {"first": 1},
        "another label": {"label": b"label"},
        "no 1 before the message": {"one": b"\x00"},
        "2 before the message": {"one": b"\x02"},
        "padding not zero": {"one": b"\x80\x01"},
    }
    for what, how in forged.items():
        sealed = text(pow(int.from_bytes(oaep(message, seed, bits, **how), "big"), E, key["n"]), bits)
        yield Call(
            f"{name} decrypt, {what}",
            "rsa",
            decrypt,
            (Out(PREMASTER_BYTES), PREMASTER_BYTES, In(blob(key, bits)), In(sealed), In(entropy)),
            ERRORS["DECRYPTION"],
            (bytes(PREMASTER_BYTES),),
            slow=True,
        )


def cases() -> Iterator[Call]:
    """All of them."""
    RANDOM.seed("rsa")
    yield from wycheproof()
    yield from others()


def write() -> None:
    """Make rsa.json anew: other keys each time."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    keys: list[dict[str, Any]] = []
    for bits in (1024, 2048):
        for name in ("first", "second"):
            key = rsa.generate_private_key(E, bits)
            numbers = key.private_numbers()
            message, premaster = random.randbytes(40), random.randbytes(PREMASTER_BYTES)
            mgf = padding.MGF1(hashes.SHA256())
            sign: Callable[..., bytes] = key.sign
            fields: dict[str, str] = {
                "n": f"{numbers.public_numbers.n:x}",
                "p": f"{numbers.p:x}",
                "q": f"{numbers.q:x}",
                "dp": f"{numbers.dmp1:x}",
                "dq": f"{numbers.dmq1:x}",
                "qinv": f"{numbers.iqmp:x}",
                "message": message.hex(),
                "random": random.randbytes(24).hex(),
                "pkcs1_sha1": sign(message, padding.PKCS1v15(), hashes.SHA1()).hex(),
                "pkcs1_sha256": sign(message, padding.PKCS1v15(), hashes.SHA256()).hex(),
                "pss": sign(message, padding.PSS(mgf, 32), hashes.SHA256()).hex(),
                "premaster": premaster.hex(),
                "oaep": key.public_key().encrypt(premaster, padding.OAEP(mgf, hashes.SHA256(), None)).hex(),
            }
            keys.append({"bits": bits, "name": name, **fields})
    (VECTORS / "rsa.json").write_text(json.dumps({"keys": keys}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["write"]:
        sys.exit("usage: python3 vectors_rsa.py write")
    write()
