# SPDX-License-Identifier: MIT OR Apache-2.0
"""RSA's assembly in the built libraries, alone, against Python's integers, and a whole private operation.

As test_mp.py; besides, every key of one size takes the same number of cycles.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import vectors_rsa
from calls import ERRORS, load
from table import COLUMNS
from test_fields import BUILD, family, kept, machine
from test_mp import Bench

from sunseal import Machine

# One board of each device: the others' libraries are the same.
LIBRARIES = sorted(path for column in COLUMNS for path in (BUILD / column).glob("library-rsa.elf"))
REVERSED_LIMB = {"mpy-32": 2, "mpy-16": 1}
"""Words of a limb, for kernels that read a copy of the modulus in reverse behind the modulus."""


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda path: "-".join(path.parts[-3:-1]))
def library(request: pytest.FixtureRequest) -> tuple[Machine, int]:
    """One machine for each library, and the size of reversed limbs."""
    path: Path = request.param
    return machine(path), REVERSED_LIMB.get(path.parts[-2], 0)


def reverse(number: bytes, limb: int) -> bytes:
    """Limbs of so many words in reverse."""
    return b"".join(number[i : i + 2 * limb] for i in range(len(number) - 2 * limb, -1, -2 * limb))


@pytest.mark.parametrize("words", [32, 64, 128])
@pytest.mark.parametrize("square", [False, True], ids=["mul", "sqr"])
def test_montgomery(library: tuple[Machine, int], square: bool, words: int) -> None:
    """Products divided by R: of extremes too, and with the result in an operand's place."""
    m, limb = library
    bench, rng = Bench(m, f"sunseal_rsa_mont{'sqr' if square else 'mul'}"), random.Random(words)
    r, pointer_bytes = 1 << 16 * words, 4 if m.device.startswith("msp432") else 2
    place, a, b = (bench.number(0, words * (2 if limb and i == 0 else 1)) for i in range(3))
    if square:
        bench.secret.pop()  # no operand, but the place of a result
    scratch = m.place(4 * words)
    at = m.place(16)
    numbers = [0, 1, r - 1, r >> 1, (r >> 1) - 1, *(rng.getrandbits(16 * words) for _ in range(7))]
    for n, modulus in enumerate(((r >> 1) + 1, r - 1, *(rng.getrandbits(16 * words) | r >> 1 | 1 for _ in range(10)))):
        text = modulus.to_bytes(2 * words, "little")
        m.write(place, text + (reverse(text, limb) if limb else b""))
        fields = [(place, pointer_bytes), (scratch, pointer_bytes), (-pow(modulus, -1, 1 << 32), 4), (words, 2)]
        m.write(at, b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value, size in fields))
        x, y = rng.choice(numbers), numbers[n % len(numbers)]
        m.write(a, x.to_bytes(2 * words, "little"))
        m.write(b, y.to_bytes(2 * words, "little"))
        to = (a, b)[n % 2]
        bench.call(to, *((a, at) if square else (a, b, at)))
        assert bench.read(to, words) % modulus == x * (x if square else y) * pow(r, -1, modulus) % modulus
    bench.finish(b, *((a, at) if square else (a, b, at)))


@pytest.mark.parametrize("words", [32, 64])
def test_pick(library: tuple[Machine, int], words: int) -> None:
    """Every entry of a table."""
    m, _ = library
    m.release()
    entries = 8 if m.device.startswith("atmega") and words == 64 else 16
    content = random.Random(words).randbytes(2 * words * entries)
    table, r = m.place(content), m.place(2 * words)
    # The AVR's fifth argument lies in a register that is kept.
    registers = [name for name in kept(m) if name not in ("r16", "r17")]
    cycles = set[int]()
    for i in range(entries):
        for name in registers:
            m.registers[name] = 0x5A
        done = m.call("sunseal_rsa_pick", r, table, np.uint16(i), np.uint16(entries), np.uint16(words))
        assert all(m.registers[name] == 0x5A for name in registers)
        cycles.add(done.cycles)
        assert m.read(r, 2 * words) == content[2 * words * i :][: 2 * words]
    assert (
        m.leaks(
            [(table, len(content))],
            call=("sunseal_rsa_pick", r, table, np.uint16(1), np.uint16(entries), np.uint16(words)),
        )
        == []
    )
    assert len(cycles) == 1


def test_private(library: tuple[Machine, int]) -> None:
    """The same cycles for every key, message and blinding, and nothing of them shows."""
    m, _ = library
    cycles = set[int]()
    for row, entropy in zip(load("rsa.json")["keys"][:2], (bytes(24), b"\xff" * 24), strict=True):
        m.release()
        key = {name: int(row[name], 16) for name in ("n", "p", "q", "dp", "dq", "qinv")}
        secret, message = vectors_rsa.blob(key, 1024), bytes.fromhex(row["pkcs1_sha1"])
        places = [m.place(content) for content in (bytes(128), secret, message, entropy)]
        done = m.call("sunseal_rsa1024_private", *places)
        assert done.value == 0
        assert m.read(places[0], 128) == vectors_rsa.power(key, message, 1024)
        cycles.add(done.cycles)
    assert len(cycles) == 1
    out, at, _, random_at = places
    outcome = m.address("sunseal_rsa_verdict")
    secrets = [(at, len(secret)), (random_at, 24)]
    assert m.leaks(secrets, public=[(out, 128), (outcome, 1)], call=("sunseal_rsa1024_private", *places)) == []


def arguments(m: Machine) -> tuple[int, int, int]:
    """Where sunseal_rsa_pick is called: its table's address, the entry that is asked for, and how many there are."""
    if family(m) == "avr":
        pairs = [m.registers[f"r{low}"] | m.registers[f"r{low + 1}"] << 8 for low in (22, 20, 18)]
        return 0x800000 | pairs[0], pairs[1], pairs[2]
    first = 1 if family(m) == "arm" else 13
    table, index, entries = (m.registers[f"R{first + i}"] for i in range(3))
    return table, index & 0xFFFF, entries & 0xFFFF


def test_entropy_blinds_the_message_and_both_exponents(library: tuple[Machine, int]) -> None:
    """What the exponentiations work on, read where a digit is looked up: m r^e and d + k (p - 1), r, k by entropy."""
    m, _ = library
    row = load("rsa.json")["keys"][0]
    key = {name: int(row[name], 16) for name in ("n", "p", "q", "dp", "dq", "qinv")}
    message, bases, exponents = bytes.fromhex(row["pkcs1_sha1"]), set[int](), set[int]()
    looks: list[tuple[int, int, int]] = []

    def look(m: Machine) -> None:
        table, index, entries = arguments(m)
        looks.append((int.from_bytes(m.read(table + 64, 64), "little"), index, entries.bit_length() - 1))

    m.hook("sunseal_rsa_pick", look)
    try:
        for entropy in (random.Random(1).randbytes(24), random.Random(2).randbytes(24)):
            m.release()
            looks.clear()
            out, secret, at, entropy_at = (
                m.place(content) for content in (bytes(128), vectors_rsa.blob(key, 1024), message, entropy)
            )
            assert m.call("sunseal_rsa1024_private", out, secret, at, entropy_at).value == 0
            assert m.read(out, 128) == vectors_rsa.power(key, message, 1024)
            base = int.from_bytes(entropy[:16], "big") | 1 | 1 << 127
            blinded = int.from_bytes(message, "big") * pow(base, vectors_rsa.E, key["n"]) % key["n"]
            half = len(looks) // 2
            # First modulo q, then modulo p.
            for prime, d, factor, part in (
                ("q", "dq", entropy[20:], looks[:half]),
                ("p", "dp", entropy[16:20], looks[half:]),
            ):
                exponent = 0
                for entry, index, window in part:
                    assert entry % key[prime] == (blinded << 512) % key[prime]
                    exponent = exponent << window | index
                assert exponent == key[d] + int.from_bytes(factor, "big") * (key[prime] - 1)
                exponents.add(exponent)
            bases.add(blinded)
    finally:
        m.unhook("sunseal_rsa_pick")
    assert (len(bases), len(exponents)) == (2, 4)


def test_overlap(library: tuple[Machine, int]) -> None:
    """An output across an input is refused, and both stay as they are; the same place will do."""
    m, _ = library
    m.release()
    row = load("rsa.json")["keys"][0]
    key = {name: int(row[name], 16) for name in ("n", "p", "q", "dp", "dq", "qinv")}
    secret = vectors_rsa.blob(key, 1024)
    at, entropy, free = m.place(secret), m.place(bytes(32)), m.place(bytes(256))
    for out in (at, at + len(secret) - 1, at - 127, entropy, entropy + 31):
        assert m.call("sunseal_rsa1024_sign_pkcs1_sha256", out, at, entropy, entropy).value == ERRORS["OVERLAP"]
        assert m.read(at, len(secret)) == secret
    assert m.call("sunseal_rsa1024_public", free + 1, at, free).value == ERRORS["OVERLAP"]
    m.write(free, vectors_rsa.text(3, 1024))
    assert m.call("sunseal_rsa1024_public", free, at, free).value == 0
    assert int.from_bytes(m.read(free, 128), "big") == pow(3, vectors_rsa.E, key["n"])
