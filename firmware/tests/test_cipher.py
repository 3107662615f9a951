# SPDX-License-Identifier: MIT OR Apache-2.0
"""Block ciphers, modes and Ascon of the built libraries beyond known answers.

`python -m pytest firmware/tests/test_cipher.py` runs what `make -C firmware library host` has built: every
implementation against models in Python, in place and at odd addresses, with neighbours left alone, the caller's
registers kept and one count of cycles for all data; secrets followed through every target's binary; messages in
pieces; buffers that must be refused; the split-phase interface and the CC2420 with a chip made here.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_int, c_size_t, c_uint8, c_void_p
from dataclasses import dataclass
from pathlib import Path

import pytest
from table import COLUMNS, Target, answers
from test_fields import family, has, machine

from sunseal import Machine
from sunseal.catalog.algorithms import Implementation
from sunseal.catalog.boards import algorithms
from sunseal.measurement import references

BUILD = Path(__file__).resolve().parents[1] / "build"
# One board of each device: the others' libraries are the same.
LIBRARIES = sorted(path for column in COLUMNS for path in (BUILD / column).glob("library-cipher.elf"))
HOST = BUILD / "host" / "libsunseal.so"
OK, TAG, NULL, OVERLAP, LENGTH, UNSUPPORTED, BUSY, NO_KEY, ENGINE = 0, -5, -40, -41, -7, -43, -44, -45, -46
PENDING = 1

KEPT = {
    "avr": [*(f"r{n}" for n in range(2, 18)), "r28", "r29"],
    "msp430": [f"R{n}" for n in range(4, 11)],
    "arm": [f"R{n}" for n in range(4, 12)],
}


# --- Models that share nothing with the firmware --------------------------------------------------------------


def cmac(encrypt: Callable[[bytes], bytes], message: bytes, block: int) -> bytes:
    """SP 800-38B, section 6.2."""
    top, fold = 1 << 8 * block, 0x87 if block == 16 else 0x1B
    key = int.from_bytes(encrypt(bytes(block)), "big")

    def twice(k: int) -> int:
        return 2 * k % top ^ (fold if 2 * k >= top else 0)

    last = message[(len(message) - 1) // block * block :] if message else b""
    whole = message[: len(message) - len(last)]
    if len(last) < block:
        last, key = (last + b"\x80").ljust(block, b"\0"), twice(key)
    chain = 0
    for i in range(0, len(whole), block):
        chain = int.from_bytes(
            encrypt((chain ^ int.from_bytes(whole[i : i + block], "big")).to_bytes(block, "big")), "big"
        )
    return encrypt((chain ^ int.from_bytes(last, "big") ^ twice(key)).to_bytes(block, "big"))


@dataclass(frozen=True)
class Cipher:
    """One implementation, by what is described of it and the names of its functions."""

    told: Implementation
    set_key: str | None = None
    encrypt: str = "sunseal_block_encrypt"

    @property
    def name(self) -> str:
        """Name the object."""
        return self.told.symbol

    @property
    def model(self) -> Callable[[bytes, bytes], bytes]:
        """What encrypts a block in Python."""
        named = (f for name, f in references.BLOCKS.items() if f"{self.told.name}_".startswith(f"{name}_"))
        return next(named)


NAMED = {
    "aes128_sbox": ("sunseal_aes128_expand", "sunseal_aes128_sbox_encrypt"),
    "aes128_tbox": ("sunseal_aes128_expand", "sunseal_aes128_tbox_encrypt"),
    "aes128_fixslice": ("sunseal_aes128_fixslice_set_key", "sunseal_aes128_fixslice_encrypt"),
    "aes128_hw": ("sunseal_aes128_hw_set_key", "sunseal_aes128_hw_encrypt"),
    "xtea": (None, "sunseal_xtea_encrypt"),
    "present80": ("sunseal_present80_set_key", "sunseal_present_encrypt"),
    "present128": ("sunseal_present128_set_key", "sunseal_present_encrypt"),
}
"""Bare functions of those that have them; the others are called by the checked ones."""
CIPHERS = [
    Cipher(told, *NAMED.get(told.name, ()))
    for told in algorithms().implementations.values()
    if not told.chosen and "cc2420" not in told.needs
]
aes, xtea = references.BLOCKS["aes128"], references.BLOCKS["xtea"]
EACH = pytest.mark.parametrize("cipher", CIPHERS, ids=lambda c: c.name[8:])


# --- On the targets -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda path: "-".join(path.parts[-3:-1]))
def target(request: pytest.FixtureRequest) -> Machine:
    """One machine for each library."""
    return machine(request.param)


def skip_without(m: Machine, cipher: Cipher) -> None:
    """An accelerator is not on every board."""
    if not has(m, cipher.name):
        pytest.skip(f"{m.device} has no {cipher.name}")


def schedule(m: Machine, cipher: Cipher, key: bytes) -> int:
    """A key schedule in the target's RAM."""
    place, at = m.place(512), m.place(key)
    if cipher.set_key:
        assert m.call(cipher.set_key, place, at).value == OK
    else:
        assert m.call("sunseal_block_set_key", m.address(cipher.name), place, at, len(key)).value == OK
    return place


def encrypt(cipher: Cipher, m: Machine, *args: int) -> tuple[str, ...]:
    """The call of the bare function, or of the checked one where it has no name."""
    schedule_at, out, source, blocks = args
    if cipher.encrypt == "sunseal_block_encrypt":
        return (cipher.encrypt, m.address(cipher.name), schedule_at, out, source, blocks * cipher.told.block_bytes)
    return (cipher.encrypt, schedule_at, out, source, blocks)


def test_a_library_is_built() -> None:
    """Without one, the tests below would be none."""
    assert LIBRARIES, "run `make -C firmware library`"
    assert HOST.exists(), "run `make -C firmware host`"


@EACH
def test_cipher(target: Machine, cipher: Cipher) -> None:
    """Any number of blocks at any address, in place too; nothing else is touched, nothing tells the data."""
    m = target
    skip_without(m, cipher)
    rng = random.Random(cipher.name)
    cycles: dict[tuple[int, int, int], set[int]] = {}
    for n in range(24):
        m.release()
        key = rng.randbytes(cipher.told.key_bytes)
        at = schedule(m, cipher, key)
        blocks, odd_in, odd_out = (n // 4) % 6, n & 1, n >> 1 & 1
        size = blocks * cipher.told.block_bytes
        plain = rng.choice([bytes(size), b"\xff" * size, rng.randbytes(size), rng.randbytes(size)])
        want = b"".join(
            cipher.model(key, plain[i : i + cipher.told.block_bytes]) for i in range(0, size, cipher.told.block_bytes)
        )
        source = m.place(b"\x5a" * odd_in + plain + b"\x5a" * 4) + odd_in
        out = m.place(b"\xa5" * (size + 8)) + odd_out
        for register in KEPT[family(m)]:
            m.registers[register] = 0x5A
        done = m.call(*encrypt(cipher, m, at, out, source, blocks))
        assert done.value == OK
        # The fifth argument of the checked function is in one of them.
        if cipher.encrypt != "sunseal_block_encrypt":
            assert all(m.registers[register] == 0x5A for register in KEPT[family(m)])
        assert m.read(out - odd_out, odd_out + size + 4) == b"\xa5" * odd_out + want + b"\xa5" * 4
        assert m.read(source, size) == plain
        cycles.setdefault((blocks, odd_in, odd_out), set()).add(done.cycles)
        m.call(*encrypt(cipher, m, at, source, source, blocks))
        assert m.read(source, size + 4) == want + b"\x5a" * 4
    for (blocks, odd_in, odd_out), counts in cycles.items():
        for _ in range(3):
            m.release()
            at = schedule(m, cipher, rng.randbytes(cipher.told.key_bytes))
            source = m.place(rng.randbytes(blocks * cipher.told.block_bytes + 1)) + odd_in
            out = m.place(blocks * cipher.told.block_bytes + 1) + odd_out
            counts.add(m.call(*encrypt(cipher, m, at, out, source, blocks)).cycles)
    assert all(len(counts) == 1 for counts in cycles.values()), cycles


@EACH
def test_cipher_tells_nothing(target: Machine, cipher: Cipher) -> None:
    """Look-ups by secret bytes only where the header names them, and only in memory of one speed."""
    m = target
    skip_without(m, cipher)
    m.release()
    allowed = {"address"} if cipher.told.tables else set()
    # The FR5994's cache is in use above 8 MHz.
    if cipher.told.vartime_on and m.device in (*cipher.told.vartime_on, "msp430fr5994"):
        allowed |= {"cached-address"}
    key = m.place(random.Random(1).randbytes(cipher.told.key_bytes))
    at = m.place(512)
    if cipher.set_key:
        found = m.leaks([(key, cipher.told.key_bytes)], call=(cipher.set_key, at, key))
    else:
        call = ("sunseal_block_set_key", m.address(cipher.name), at, key, cipher.told.key_bytes)
        found = m.leaks([(key, cipher.told.key_bytes)], call=call)
    assert {leak.kind for leak in found} <= (allowed if "aes" in cipher.name else set()), found
    data = m.place(random.Random(2).randbytes(3 * cipher.told.block_bytes))
    found = m.leaks([(at, 512), (data, 3 * cipher.told.block_bytes)], call=encrypt(cipher, m, at, data, data, 3))
    assert {leak.kind for leak in found} <= allowed, found
    if cipher.told.tables and "present" not in cipher.name:
        assert found, "a table without a look-up: then the header says too little"
    if cipher.told.decrypts:
        call = ("sunseal_block_decrypt", m.address(cipher.name), at, data, data, 3 * cipher.told.block_bytes)
        found = m.leaks([(at, 512), (data, 3 * cipher.told.block_bytes)], call=call)
        assert {leak.kind for leak in found} <= allowed, found
    mode = ("sunseal_cmac", m.address(cipher.name), key, cipher.told.key_bytes, data, 11, m.place(8), 8)
    found = m.leaks([(key, cipher.told.key_bytes), (data, 11)], call=mode)
    assert {leak.kind for leak in found} <= allowed, found


def test_ascon_tells_nothing(target: Machine) -> None:
    """Neither direction, nor the hash."""
    m = target
    m.release()
    key, nonce, data, tag = m.place(b"k" * 16), m.place(16), m.place(b"d" * 37), m.place(16)
    head = (key, nonce, nonce, 16)
    secret = [(key, 16), (data, 37)]
    seal = ("sunseal_ascon_aead128_seal", *head, data, data, 37, tag, 16)
    assert m.leaks(secret, public=[(tag, 16)], call=seal) == []
    found = m.leaks([(key, 16)], call=("sunseal_ascon_aead128_open", *head, data, data, 37, tag, 16))
    # Whether the tag is right is what the answer says: once for what is wiped, and in each half of the verdict.
    assert {leak.kind for leak in found} <= {"branch"}, found
    assert all(leak.line and ("ascon_aead128.c" in leak.line or "mp_verdict.c" in leak.line) for leak in found), found
    assert len(found) <= 3, found
    assert m.leaks([(data, 37)], call=("sunseal_ascon_hash256", m.place(32), data, 37)) == []


def test_ascon_keeps_registers(target: Machine) -> None:
    """The permutation and what is built on it in assembly: one count of cycles, whatever the bytes and key are."""
    m = target
    rng = random.Random(3)
    cycles: dict[str, set[int]] = {}
    for _ in range(5):
        m.release()
        state, data, out, tag = (m.place(rng.randbytes(n)) for n in (56, 48, 48, 16))
        calls = (
            ("sunseal_ascon_permute", state, 12),
            ("sunseal_ascon_permute", state, 8),
            ("sunseal_ascon_add", state, 1, data, 2),
            ("sunseal_ascon_crypt", state, out, data, 3, 0),
            ("sunseal_ascon_crypt", state, out, data, 3, 1),
            ("sunseal_ascon_absorb", state, data, 3),
            ("sunseal_ascon_start", state, data, data + 16),
            ("sunseal_ascon_finish", state, tag),
            ("sunseal_ascon_get", out, state, 3, 2),
        )
        for number, call in enumerate(calls):
            before = m.read(state, 40) + m.read(out, 16) + m.read(tag, 16)
            for register in KEPT[family(m)]:
                m.registers[register] = 0x5A
            cycles.setdefault(f"{number} {call[0]}", set()).add(m.call(*call).cycles)
            # A fifth argument is in one of AVR's.
            held = [r for r in KEPT[family(m)] if len(call) < 6 or r not in ("r16", "r17")]
            assert all(m.registers[register] == 0x5A for register in held), call
            assert m.read(state, 40) + m.read(out, 16) + m.read(tag, 16) != before, call
    assert all(len(counts) == 1 for counts in cycles.values()), cycles


def test_pieces(target: Machine) -> None:
    """A message in pieces gives what it gives whole: counter mode, CMAC, Ascon-Hash256."""
    m = target
    rng = random.Random(4)
    for cipher in (c for c in CIPHERS if has(m, c.name)):
        for _ in range(3):
            m.release()
            key, counter = rng.randbytes(cipher.told.key_bytes), b"\xff" * (cipher.told.block_bytes - 1) + b"\xfe"
            at, message = schedule(m, cipher, key), rng.randbytes(rng.randrange(1, 70))
            numbers = [(i - 2) % (1 << 8 * cipher.told.block_bytes) for i in range(10)]
            stream = b"".join(cipher.model(key, n.to_bytes(cipher.told.block_bytes, "big")) for n in numbers)
            context, data, tag = m.place(64), m.place(message), m.place(16)
            m.call("sunseal_ctr_init", context, m.address(cipher.name), at, m.place(counter))
            mac = m.place(64)
            m.call("sunseal_cmac_init", mac, m.address(cipher.name), at)
            done = 0
            while done < len(message):
                part = min(rng.randrange(0, 40), len(message) - done)
                assert m.call("sunseal_cmac_update", mac, data + done, part).value == OK
                assert m.call("sunseal_ctr_update", context, data + done, data + done, part).value == OK
                done += part
            assert m.read(data, len(message)) == bytes(a ^ b for a, b in zip(message, stream, strict=False))
            assert m.call("sunseal_cmac_final", mac, tag, cipher.told.block_bytes).value == OK
            want = cmac(lambda b, c=cipher, k=key: c.model(k, b), message, cipher.told.block_bytes)
            assert m.read(tag, cipher.told.block_bytes) == want
            assert not any(m.read(mac, 36)), "the context is wiped"
    m.release()
    message = rng.randbytes(41)
    data, digest, context = m.place(message), m.place(32), m.place(64)
    m.call("sunseal_ascon_hash256", digest, data, 41)
    want = m.read(digest, 32)
    for step in (1, 7, 8, 9, 40):
        m.call("sunseal_ascon_hash256_init", context)
        for i in range(0, 41, step):
            m.call("sunseal_ascon_hash256_update", context, data + i, min(step, 41 - i))
        m.call("sunseal_ascon_hash256_final", context, digest)
        assert m.read(digest, 32) == want


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_known_answers(library: Path) -> None:
    """Ciphers, both directions, modes and Ascon as others have computed them, of each function and document a few."""
    column = "/".join(library.parts[-3:-1])
    ran, errors = answers(Target(library.parts[-3], library), "cipher", column, 8)
    assert ran > 300 and errors == []


def test_ascon_of_every_length(target: Machine) -> None:
    """Hash, seal and open beside the model in Python: no length shares its padding with another."""
    m = target
    rng = random.Random(6)
    for size in (*range(34), 47, 48, 64, 77):
        m.release()
        key, nonce, message = (rng.randbytes(n) for n in (16, 16, size))
        aad, odd = rng.randbytes((7 * size) % 34), size & 1
        data, digest, sealed = m.place(b"\x5a" + message) + 1, m.place(32), m.place(size + 18) + odd
        assert m.call("sunseal_ascon_hash256", digest, data, size).value == OK
        assert m.read(digest, 32) == references.ascon_hash256(message)
        head = (m.place(key), m.place(nonce), m.place(b"\x5a" * odd + aad) + odd, len(aad))
        assert m.call("sunseal_ascon_aead128_seal", *head, sealed, data, size, sealed + size, 16).value == OK
        want = references.ascon_aead128_seal(key, nonce, aad, message)
        assert m.read(sealed, size + 17) == want + b"\0"
        assert m.call("sunseal_ascon_aead128_open", *head, data, sealed, size, sealed + size, 16).value == OK
        assert m.read(data - 1, size + 1) == b"\x5a" + message
        # And in place, with a tag that is cut.
        assert m.call("sunseal_ascon_aead128_seal", *head, data, data, size, digest, 8).value == OK
        assert m.read(data, size) + m.read(digest, 8) == want[: size + 8]
        assert m.call("sunseal_ascon_aead128_open", *head, data, data, size, digest, 8).value == OK
        assert m.read(data, size) == message


def test_refused_buffers(target: Machine) -> None:
    """Overlaps and null pointers are errors of their own, and nothing is written."""
    m = target
    m.release()
    at, key = m.address("sunseal_xtea"), m.place(bytes(16))
    before = random.Random(5).randbytes(200)
    area = m.place(before)
    ecb = ("sunseal_ecb_encrypt", at, key, 16)
    for shift in (1, 7, 8, 15):
        assert m.call(*ecb, area + shift, area, 16).value == OVERLAP
        assert m.call(*ecb, area, area + shift, 16).value == OVERLAP
        assert m.call("sunseal_ctr", at, key, 16, key, area, area + shift, 16).value == OVERLAP
    assert m.call(*ecb, 0, area, 16).value == NULL
    assert m.call(*ecb, area, 0, 16).value == NULL
    assert m.call(*ecb, 0, 0, 0).value == OK
    assert m.call("sunseal_ctr", at, key, 16, 0, area, area, 16).value == NULL
    assert m.call("sunseal_cmac", at, key, 16, 0, 1, area, 8).value == NULL
    assert m.call("sunseal_cmac", at, key, 16, area, 1, 0, 8).value == NULL
    head = (m.address("sunseal_aes128_sbox"), key, 16, key, 13)
    assert m.call("sunseal_ccm_seal_once", *head, 0, 1, area, area, 16, area + 50, 16).value == NULL
    assert m.call("sunseal_ccm_seal_once", *head, 0, 0, area, area, 16, area + 8, 16).value == OVERLAP
    assert m.call("sunseal_ccm_seal_once", *head, 0, 0, area, area + 1, 16, area + 50, 16).value == OVERLAP
    assert m.call("sunseal_ccm_seal_once", at, *head[1:], 0, 0, area, area, 16, area + 50, 16).value == UNSUPPORTED
    ascon = ("sunseal_ascon_aead128_seal", key, key)
    assert m.call(*ascon, 0, 1, area, area, 16, area + 50, 16).value == NULL
    assert m.call(*ascon, 0, 0, area, area + 3, 16, area + 50, 16).value == OVERLAP
    assert m.call(*ascon, 0, 0, area, area, 16, area + 15, 16).value == OVERLAP
    assert m.call(*ascon, 0, 0, area, area, 16, 0, 16).value == NULL
    assert m.read(area, 200) == before


# --- On the host ----------------------------------------------------------------------------------------------


class Crypt(Structure):
    """struct sunseal_crypt."""


KEY_OR_DATA = CFUNCTYPE(None, POINTER(Crypt), c_int)


class Events(Structure):
    """struct sunseal_crypt_events."""

    _fields_ = (("key_loaded", KEY_OR_DATA), ("data_encrypted", KEY_OR_DATA))


class Driver(Structure):
    """struct sunseal_crypt_driver."""

    _fields_ = (
        ("block_bytes", c_uint8),
        ("key_bytes", c_uint8),
        ("start_key", CFUNCTYPE(c_int, c_void_p, POINTER(c_uint8))),
        ("start_data", CFUNCTYPE(c_int, c_void_p, POINTER(c_uint8), POINTER(c_uint8), c_size_t)),
        ("step", CFUNCTYPE(c_int, c_void_p)),
    )


Crypt._fields_ = (
    ("driver", POINTER(Driver)),
    ("engine", c_void_p),
    ("events", POINTER(Events)),
    ("user", c_void_p),
    ("out", c_void_p),
    ("len", c_size_t),
    ("pending", c_uint8),
    ("keyed", c_bool),
)


@pytest.fixture(scope="module")
def host() -> ctypes.CDLL:
    """The library of this machine."""
    library = ctypes.CDLL(str(HOST))
    library.sunseal_crypt_poll.restype = c_bool
    library.sunseal_crypt_block_size.restype = c_uint8
    library.sunseal_crypt_key_size.restype = c_uint8
    return library


class Bench:
    """A session that notes its events."""

    def __init__(self, library: ctypes.CDLL, driver: object, engine: object) -> None:
        """Start it over a driver."""
        self.library, self.seen, self.keep = library, [], (driver, engine)
        self.events = Events(
            KEY_OR_DATA(lambda _, error: self.seen.append(("key", error))),
            KEY_OR_DATA(lambda _, error: self.seen.append(("data", error))),
        )
        self.crypt = Crypt()
        library.sunseal_crypt_init(ctypes.byref(self.crypt), driver, engine, ctypes.byref(self.events))

    def set_key(self, key: bytes | None, size: int) -> int:
        """The command."""
        return self.library.sunseal_crypt_set_key(ctypes.byref(self.crypt), key, c_size_t(size))

    def encrypt(self, out: object, out_len: int, given: object, in_len: int) -> int:
        """The command."""
        crypt = ctypes.byref(self.crypt)
        return self.library.sunseal_crypt_encrypt_data(crypt, out, c_size_t(out_len), given, c_size_t(in_len))

    def poll(self) -> int:
        """Until nothing is pending; how often."""
        times = 1
        while self.library.sunseal_crypt_poll(ctypes.byref(self.crypt)):
            times += 1
            assert times < 1000
        return times


def test_split_phase_software(host: ctypes.CDLL) -> None:
    """Commands in any order, one event each, the work in steps."""
    engine, area = (c_char * 256)(), (c_uint8 * 512)()
    xtea_at = c_void_p(ctypes.addressof(c_char.in_dll(host, "sunseal_xtea")))
    host.sunseal_crypt_software_init(engine, xtea_at, area)
    bench = Bench(host, engine, engine)
    assert host.sunseal_crypt_block_size(ctypes.byref(bench.crypt)) == 8
    assert host.sunseal_crypt_key_size(ctypes.byref(bench.crypt)) == 16
    out = ctypes.create_string_buffer(b"\xa5" * 40, 40)
    key, plain = bytes(range(16)), bytes(range(100, 140))
    assert bench.encrypt(out, 40, plain, 40) == NO_KEY
    assert bench.set_key(key, 15) == LENGTH
    assert bench.set_key(None, 16) == NULL
    assert bench.set_key(key, 16) == OK
    assert bench.set_key(key, 16) == BUSY
    assert bench.encrypt(out, 40, plain, 40) == BUSY
    assert bench.seen == []
    bench.poll()
    assert bench.seen == [("key", OK)]
    assert bench.encrypt(out, 40, plain, 39) == LENGTH
    assert bench.encrypt(out, 39, plain, 39) == LENGTH
    assert bench.encrypt(out, 32, plain, 40) == LENGTH
    assert bench.encrypt(None, 40, plain, 40) == NULL
    inside = c_void_p(ctypes.addressof(out) + 8)
    assert bench.encrypt(inside, 16, out, 16) == OVERLAP
    assert out.raw == b"\xa5" * 40
    for _ in range(2):
        assert bench.encrypt(out, 40, plain, 40) == OK
        assert bench.poll() == 5, "a step is one block"
        assert out.raw == b"".join(xtea(key, plain[i : i + 8]) for i in range(0, 40, 8))
    assert bench.seen == [("key", OK), ("data", OK), ("data", OK)]
    assert not host.sunseal_crypt_poll(ctypes.byref(bench.crypt))


def test_split_phase_hardware_that_fails(host: ctypes.CDLL) -> None:
    """A coprocessor that takes its time, then breaks: the event says so and the output is wiped."""
    left, result = [0], [OK]

    def start_key(_engine: object, _key: object) -> int:
        left[0] = 3
        return OK

    def start_data(_engine: object, out: object, _in: object, blocks: int) -> int:
        left[0] = 2
        out[0] = 0x77
        return ENGINE if blocks > 2 else OK

    def step(_engine: object) -> int:
        left[0] -= 1
        return PENDING if left[0] > 0 else result[0]

    types = dict(Driver._fields_)
    driver = Driver(16, 16, types["start_key"](start_key), types["start_data"](start_data), types["step"](step))
    bench = Bench(host, ctypes.byref(driver), None)
    result[0] = ENGINE
    assert bench.set_key(bytes(16), 16) == OK
    assert bench.poll() == 3
    out = ctypes.create_string_buffer(b"\xa5" * 48, 48)
    assert bench.encrypt(out, 32, bytes(32), 32) == NO_KEY, "a key that failed to load is none"
    result[0] = OK
    assert bench.set_key(bytes(16), 16) == OK
    bench.poll()
    assert bench.encrypt(out, 48, bytes(48), 48) == ENGINE
    result[0] = ENGINE
    assert bench.encrypt(out, 32, bytes(32), 32) == OK
    assert bench.poll() == 2
    assert bench.seen == [("key", ENGINE), ("key", OK), ("data", ENGINE)]
    assert out.raw == bytes(32) + b"\xa5" * 16


class Chip:
    """What of a CC2420 its stand-alone encryption needs, after SWRS041."""

    def __init__(self) -> None:
        """The oscillator runs."""
        self.memory, self.control, self.busy, self.stuck, self.awake = bytearray(0x180), 0x0344, 0, False, True
        self.strobes = 0

    @property
    def status(self) -> int:
        """The byte that every transaction returns first."""
        self.busy = max(self.busy - 1, 0)
        return (0x40 if self.awake else 0) | (0x10 if self.busy or self.stuck else 0)

    def transfer(self, _user: object, out: object, given: object, size: int) -> int:
        """One transaction, as the transport does it."""
        sent = bytes(out[i] for i in range(size))
        answer = bytearray([self.status]) + bytes(size - 1)
        if sent[0] & 0x80:
            address, read = sent[0] & 0x7F | sent[1] >> 6 << 7, sent[1] & 0x20
            for i in range(2, size):
                answer[i] = self.memory[address + i - 2]
                if not read:
                    self.memory[address + i - 2] = sent[i]
        elif sent[0] & 0x3F == 0x0F:
            assert self.control & 0x80, "key 1 is what was written"
            key = bytes(self.memory[0x130:0x140])[::-1]
            self.memory[0x120:0x130] = aes(key, bytes(self.memory[0x120:0x130]))
            self.busy, self.strobes = 4, self.strobes + 1
        elif sent[0] == 0x59:
            answer[1:3] = self.control.to_bytes(2, "big")
        elif sent[0] == 0x19:
            self.control = int.from_bytes(sent[1:3], "big")
        if given:
            for i in range(size):
                given[i] = answer[i]
        return OK


TRANSFER = CFUNCTYPE(c_int, c_void_p, POINTER(c_uint8), POINTER(c_uint8), c_size_t)


class Transport(Structure):
    """struct sunseal_cc2420_transport."""

    _fields_ = (("transfer", TRANSFER), ("user", c_void_p))


def test_cc2420(host: ctypes.CDLL) -> None:
    """Blocks through the radio's chip; a chip that sleeps or hangs is an error and leaves no output."""
    chip = Chip()
    transport = Transport(TRANSFER(chip.transfer), None)
    area = (c_void_p * 1)(ctypes.addressof(transport))
    cipher = c_void_p(ctypes.addressof(c_char.in_dll(host, "sunseal_aes128_cc2420")))
    rng = random.Random(6)
    key, plain = rng.randbytes(16), rng.randbytes(48)
    out = ctypes.create_string_buffer(48)
    empty = (c_void_p * 1)(None)
    assert host.sunseal_block_set_key(cipher, empty, key, c_size_t(16)) == NULL
    assert host.sunseal_block_set_key(cipher, area, key, c_size_t(16)) == OK
    assert chip.control == 0x03C4
    assert host.sunseal_block_encrypt(cipher, area, out, plain, c_size_t(48)) == OK
    assert out.raw == b"".join(aes(key, plain[i : i + 16]) for i in range(0, 48, 16))
    assert chip.strobes == 3
    tag = ctypes.create_string_buffer(16)
    mac = ctypes.create_string_buffer(128)
    assert host.sunseal_cmac_init(mac, cipher, area) == OK
    assert host.sunseal_cmac_update(mac, plain, c_size_t(40)) == OK
    assert host.sunseal_cmac_final(mac, tag, c_size_t(16)) == OK
    assert tag.raw == cmac(lambda b: aes(key, b), plain[:40], 16)
    assert host.sunseal_block_decrypt(cipher, area, out, plain, c_size_t(48)) == UNSUPPORTED
    for trouble in ("stuck", "awake"):
        setattr(chip, trouble, trouble == "stuck")
        assert host.sunseal_block_encrypt(cipher, area, out, plain, c_size_t(48)) == ENGINE
        assert out.raw == bytes(48)
        assert host.sunseal_block_set_key(cipher, area, key, c_size_t(16)) == ENGINE
        setattr(chip, trouble, trouble != "stuck")
