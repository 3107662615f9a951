# SPDX-License-Identifier: MIT OR Apache-2.0
"""Block ciphers, their modes and Ascon: every implementation of a cipher is asked every vector of it."""

from collections.abc import Iterator, Sequence

from calls import Call, In, InOut, Out, Symbol, load

from sunseal.catalog.algorithms import Implementation
from sunseal.catalog.boards import algorithms

OK, TAG, TAG_LENGTH, LENGTH = 0, -5, -6, -7
NULL, OVERLAP, NONCE_LENGTH, UNSUPPORTED = -40, -41, -42, -43
FILL = b"\xa5"

Row = dict[str, str]
# A radio's cipher takes a transport for its schedule. The accelerator is only on boards that have one; the table leaves
# the other cells empty.
AES128 = [
    i
    for i in algorithms().implementations.values()
    if i.name.startswith("aes128") and not i.chosen and "cc2420" not in i.needs
]


def ecb(name: str, cipher: Implementation, row: Row) -> Iterator[Call]:
    """Both directions, the message once more in place, and each block alone and three times over."""
    key, plain, crypt = (bytes.fromhex(row[n]) for n in ("key", "plaintext", "ciphertext"))

    def call(what: str, function: str, given: bytes, want: bytes) -> Call:
        args = (Symbol(cipher.symbol), In(key), len(key), Out(len(want)), In(given), len(given))
        return Call(f"{name}{what}", "cipher", function, args, OK, (want,))

    yield call("", "sunseal_ecb_encrypt", plain, crypt)
    if (block := cipher.block_bytes) < len(plain):
        yield call(", first block", "sunseal_ecb_encrypt", plain[:block], crypt[:block])
    else:
        yield call(", three times", "sunseal_ecb_encrypt", plain * 3, crypt * 3)
    if cipher.decrypts:
        yield call("", "sunseal_ecb_decrypt", crypt, plain)
    else:
        args = (Symbol(cipher.symbol), In(key), len(key), Out(len(plain)), In(crypt), len(crypt))
        wanted = (FILL * len(plain),)
        yield Call(f"{name}, backwards", "cipher", "sunseal_ecb_decrypt", args, UNSUPPORTED, wanted)


def ctr(name: str, cipher: Implementation, row: Row) -> Iterator[Call]:
    """Whole, and cut anywhere in a block."""
    key, counter, plain, crypt = (bytes.fromhex(row[n]) for n in ("key", "counter", "plaintext", "ciphertext"))
    for size in (len(plain), len(plain) - 1, 33, 17, 15, 1, 0):
        args = (Symbol(cipher.symbol), In(key), len(key), In(counter), Out(size), In(plain[:size]), size)
        yield Call(f"{name}, {size} bytes", "cipher", "sunseal_ctr", args, OK, (crypt[:size],))


def cmac(name: str, cipher: Implementation, row: Row, valid: bool = True) -> Iterator[Call]:
    """The tag computed and compared."""
    key, message, tag = (bytes.fromhex(row[n]) for n in ("key", "message", "tag"))
    head = (Symbol(cipher.symbol), In(key), len(key), In(message), len(message))
    size = len(tag)
    wrong = LENGTH if len(key) != 16 else TAG_LENGTH if not 8 <= size <= 16 else None
    if valid:
        yield Call(name, "cipher", "sunseal_cmac", (*head, Out(size), size), OK, (tag,))
    elif wrong is not None:
        yield Call(name, "cipher", "sunseal_cmac", (*head, Out(size), size), wrong, (FILL * size,))
    yield Call(name, "cipher", "sunseal_cmac_check", (*head, In(tag), size), OK if valid else wrong or TAG, ())


def ccm(name: str, cipher: Implementation, row: Row, valid: bool = True) -> Iterator[Call]:
    """Sealed and opened; what must not open leaves zeros, what is refused leaves nothing."""
    names = ("key", "nonce", "aad", "plaintext", "ciphertext", "tag")
    key, nonce, aad, plain, crypt, tag = (bytes.fromhex(row[n]) for n in names)
    head = (Symbol(cipher.symbol), In(key), len(key), In(nonce), len(nonce), In(aad), len(aad))
    size = len(plain)
    wrong = None
    if not 7 <= len(nonce) <= 13:
        wrong = NONCE_LENGTH
    elif len(tag) not in range(4, 17, 2):
        wrong = TAG_LENGTH
    args = (*head, Out(size), In(plain), size, Out(len(tag)), len(tag))
    if valid:
        yield Call(name, "cipher", "sunseal_ccm_seal_once", args, OK, (crypt, tag))
    elif wrong is not None:
        yield Call(name, "cipher", "sunseal_ccm_seal_once", args, wrong, (FILL * size, FILL * len(tag)))
    args = (*head, Out(size), In(crypt), size, In(tag), len(tag))
    want = plain if valid else FILL * size if wrong is not None else bytes(size)
    yield Call(name, "cipher", "sunseal_ccm_open_once", args, OK if valid else wrong or TAG, (want,))


def ascon(name: str, row: Row, valid: bool) -> Iterator[Call]:
    """Sealed and opened, the latter in place too."""
    key, nonce, aad, plain, crypt, tag = (bytes.fromhex(row[n]) for n in ("key", "iv", "aad", "msg", "ct", "tag"))
    head = (In(key), In(nonce), In(aad), len(aad))
    size = len(crypt)
    if valid:
        args = (*head, Out(size), In(plain), size, Out(len(tag)), len(tag))
        yield Call(name, "cipher", "sunseal_ascon_aead128_seal", args, OK, (crypt, tag))
    args = (*head, Out(size), In(crypt), size, In(tag), len(tag))
    want = plain if valid else bytes(size)
    yield Call(name, "cipher", "sunseal_ascon_aead128_open", args, OK if valid else TAG, (want,))


def refused(cipher: Implementation) -> Iterator[Call]:
    """Lengths that no cipher takes; nothing may be written."""
    key_len, block = cipher.key_bytes, cipher.block_bytes
    key = bytes(key_len)
    at = Symbol(cipher.symbol)
    for size in (1, block - 1, block + 1):
        args = (at, In(key), key_len, Out(size), In(bytes(size)), size)
        yield Call(f"lengths {size}", "cipher", "sunseal_ecb_encrypt", args, LENGTH, (FILL * size,))
    for size in (0, key_len - 1, key_len + 1):
        args = (at, In(key), size, Out(block), In(bytes(block)), block)
        yield Call(f"lengths key of {size}", "cipher", "sunseal_ecb_encrypt", args, LENGTH, (FILL * block,))
    nulls: Sequence[tuple[str, tuple]] = (
        ("key", (at, 0, key_len, Out(block), In(bytes(block)), block)),
        ("input", (at, In(key), key_len, Out(block), 0, block)),
        ("cipher", (0, In(key), key_len, Out(block), In(bytes(block)), block)),
    )
    for what, args in nulls:
        yield Call(f"null {what}", "cipher", "sunseal_ecb_encrypt", args, NULL, (FILL * block,))
    for size in (0, 7, 17):
        args = (at, In(key), key_len, In(b"abc"), 3, Out(size), size)
        yield Call(f"lengths tag of {size}", "cipher", "sunseal_cmac", args, TAG_LENGTH, (FILL * size,))


def wycheproof(name: str) -> Iterator[tuple[str, dict, bool]]:
    """Each test with its group's name and its verdict."""
    for group in load(f"wycheproof/{name}_test.json")["testGroups"]:
        for test in group["tests"]:
            yield f"wycheproof {name} {test['tcId']}: {test['comment']}", test, test["result"] == "valid"


def cases() -> Iterator[Call]:
    """All of them."""
    aes = load("aes128.json")
    for cipher in AES128:
        for mode, function in (("ecb", ecb), ("ctr", ctr), ("cmac", cmac), ("ccm", ccm)):
            for row in aes[mode]:
                yield from function(row["document"], cipher, row)
        for name, test, valid in wycheproof("aes_cmac"):
            row = {"key": test["key"], "message": test["msg"], "tag": test["tag"]}
            yield from cmac(name, cipher, row, valid)
        for name, test, valid in wycheproof("aes_ccm"):
            row = {"nonce": test["iv"], "plaintext": test["msg"], "ciphertext": test["ct"]}
            yield from ccm(name, cipher, row | {n: test[n] for n in ("key", "aad", "tag")}, valid)
        yield from refused(cipher)
    for told in algorithms().files:
        for cipher in told.implementations if told.path.stem != "aes" else ():
            for row in load(f"{told.path.stem}.json")[cipher.name.removesuffix("_table")]:
                yield from ecb(row.get("document", "botan"), cipher, row)
            yield from refused(cipher)
    for name, test, valid in wycheproof("ascon_sp800_232_aead128"):
        yield from ascon(name, test, valid)
    for row in load("ascon.json")["hash256"]:
        message = bytes(range(row["bytes"]))
        args = (Out(32), In(message), len(message))
        digest = bytes.fromhex(row["digest"])
        yield Call(f"ascon-c {len(message)} bytes", "cipher", "sunseal_ascon_hash256", args, 0, (digest,))
    for size in (0, 7, 17):
        args = (In(bytes(16)), In(bytes(16)), In(b""), 0, Out(3), In(b"abc"), 3, Out(size), size)
        wanted = (FILL * 3, FILL * size)
        yield Call(f"lengths tag of {size}", "cipher", "sunseal_ascon_aead128_seal", args, TAG_LENGTH, wanted)
    head = (In(bytes(16)), In(bytes(16)), In(b""), 0)
    for what, args in (
        ("input", (InOut(bytes(32)), 0, 32, Out(16), 16)),
        ("tag", (InOut(bytes(32)), In(b""), 0, 0, 16)),
    ):
        wanted = (bytes(32), FILL * 16)[: sum(isinstance(a, InOut | Out) for a in args)]
        yield Call(f"null {what}", "cipher", "sunseal_ascon_aead128_seal", (*head, *args), NULL, wanted)
