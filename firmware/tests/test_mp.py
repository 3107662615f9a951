# SPDX-License-Identifier: MIT OR Apache-2.0
"""The long-number routines of the built libraries, alone, against Python's integers.

As test_fields.py: results, one count of cycles for all numbers of a length, the registers that a
caller keeps, and no instruction that runs as the data want.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_fields import LIBRARIES, family, kept, machine

from sunseal import EngineError, Machine

MODULI = {
    "secp160r1 n": (12, 0x0100000000000000000001F4C8F927AED3CA752257),
    "P-224 n": (14, 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D),
    "P-224 p": (14, 2**224 - 2**96 + 1),
    "P-256 n": (16, 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
    "P-256 p": (16, 2**256 - 2**224 + 2**192 + 2**96 - 1),
    "Curve25519 n": (16, 2**252 + 27742317777372353535851937790883648493),
}
"""Words and value of what the library computes with."""

MASK = 0xFFFF


ONE_EACH = [path for path in LIBRARIES if path.stem in ("library-ecc", "library-ecc-p256")]
"""All routines are in every library; one of a target is enough."""


@pytest.fixture(scope="module", params=ONE_EACH, ids=lambda path: "-".join(path.parts[-3:-1]))
def target(request: pytest.FixtureRequest) -> Machine:
    """One machine for each library."""
    path: Path = request.param
    return machine(path)


class Bench:
    """Calls of one function with numbers in memory, all watched."""

    def __init__(self, m: Machine, function: str) -> None:
        """Forget the numbers of the test before; skip where a target does without this function."""
        try:
            m.address(function)
        except EngineError:
            pytest.skip(f"{m.device} has no {function}")
        m.release()
        self.m, self.function, self.cycles = m, function, set[int]()
        self.secret: list[tuple[int, int]] = []

    def number(self, value: int, words: int) -> int:
        """Place a number (modulo 2^(16 words)) and return its address."""
        place = self.m.place((value % (1 << (16 * words))).to_bytes(2 * words, "little"))
        self.secret.append((place, 2 * words))
        return place

    def room(self, words: int) -> int:
        """Return the address of room for a result: what stands there is never read, so it cannot be a secret."""
        return self.m.place(2 * words)

    def read(self, place: int, words: int) -> int:
        """Return a number from memory."""
        return int.from_bytes(self.m.read(place, 2 * words), "little")

    def call(self, *args: int | np.integer[Any]) -> int:
        """Call the function and return its result as a word without sign."""
        for register in kept(self.m):
            self.m.registers[register] = 0x5A
        done = self.m.call(self.function, *args, returns=np.uint16)
        assert all(self.m.registers[register] == 0x5A for register in kept(self.m))
        self.cycles.add(done.cycles)
        return done.value

    def finish(self, *args: int | np.integer[Any]) -> None:
        """Check the counts, and call once more with the numbers as secrets."""
        assert len(self.cycles) == 1, self.cycles
        assert self.m.leaks(self.secret, call=(self.function, *args)) == []


def values(rng: random.Random, words: int, count: int) -> list[int]:
    """Extremes and random numbers."""
    top = 1 << (16 * words)
    return [0, 1, top - 1, top >> 1, (top >> 1) - 1, MASK, top - MASK, *(rng.randrange(top) for _ in range(count))]


@pytest.mark.parametrize("words", [10, 12, 14, 16, 17])
@pytest.mark.parametrize(
    ("function", "value"), [("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)], ids=["add", "sub"]
)
def test_sums(target: Machine, function: str, value: Callable[[int, int], int], words: int) -> None:
    """Sum, difference and what leaves at the top."""
    bench, rng = Bench(target, f"sunseal_mp_{function}"), random.Random(words)
    r, a, b = bench.room(words), bench.number(0, words), bench.number(0, words)
    size = 2 * words
    for n, (x, y) in enumerate(zip(values(rng, words, 30), reversed(values(rng, words, 30)), strict=True)):
        target.write(a, x.to_bytes(size, "little"))
        target.write(b, y.to_bytes(size, "little"))
        to = (r, a, b)[n % 3]
        carry = bench.call(to, a, b, words)
        want = value(x, y)
        assert (bench.read(to, words), carry) == (want % (1 << (16 * words)), abs(want >> (16 * words)))
    bench.finish(r, a, b, words)


@pytest.mark.parametrize("words", [10, 14, 16, 32])
def test_select_and_swap(target: Machine, words: int) -> None:
    """One of two numbers, or both exchanged, by a mask."""
    rng = random.Random(words)
    for function in ("select", "swap"):
        if function == "swap" and words % 4 and family(target) == "msp430":
            continue
        bench = Bench(target, f"sunseal_mp_{function}")
        for mask in (0, MASK, 0, MASK):
            x, y = rng.getrandbits(16 * words), rng.getrandbits(16 * words)
            bench.secret.clear()
            r, a = bench.number(x, words), bench.number(y, words)
            bench.call(r, a, np.uint16(mask), words)
            assert bench.read(r, words) == (y if mask else x)
            assert bench.read(a, words) == (x if mask and function == "swap" else y)
        bench.finish(r, a, np.uint16(mask), words)


@pytest.mark.parametrize("words", [12, 14, 16])
def test_bytes(target: Machine, words: int) -> None:
    """Big-endian strings, shorter, as long and longer than the number, and back."""
    rng = random.Random(words)
    longest = 2 * words + (0 if family(target) == "msp430" else 5)
    for count in (0, 1, 2, words, 2 * words - 3, 2 * words, longest):
        string = rng.randbytes(count)
        bench = Bench(target, "sunseal_mp_from_bytes")
        place, r = target.place(string + bytes(1)), bench.number(-1, words + 1)
        bench.call(r, place, count, words)
        want = int.from_bytes(string[-2 * words :], "big") if count else 0
        assert bench.read(r, words + 1) == want | MASK << (16 * words)
        bench = Bench(target, "sunseal_mp_to_bytes")
        size, number = min(count, 2 * words), rng.getrandbits(16 * words)
        to, a = target.place(b"\xa5" * (size + 2)), bench.number(number, words)
        bench.call(to + 1, a, size)
        want = number % (1 << (8 * size))
        assert target.read(to, size + 2) == b"\xa5" + want.to_bytes(size, "big") + b"\xa5"


@pytest.mark.parametrize("words", [20, 28, 32])
def test_pick(target: Machine, words: int) -> None:
    """Each entry of a table that lies where the comb's table lies."""
    bench, rng = Bench(target, "sunseal_mp_pick"), random.Random(words)
    before = target.snapshot()
    table, size = target.address("comb_table"), 2 * words
    entries = [rng.randbytes(size) for _ in range(32)]
    target.write(table, b"".join(entries))
    r = bench.number(0, words)
    for index, entry in enumerate(entries):
        bench.call(r, table, np.uint16(index), words)
        assert target.read(r, size) == entry, index
    place = bench.number(7, 1)
    assert target.read(place, 1) == b"\7"
    assert len(bench.cycles) == 1, bench.cycles
    target.restore(before)


@pytest.mark.parametrize("words", [20, 28, 29, 32, 48])
def test_pick8(target: Machine, words: int) -> None:
    """Each entry of a small table in RAM."""
    if words % 4 and family(target) == "msp430":
        pytest.skip("the MSP430 picks four words at a time")
    bench, rng = Bench(target, "sunseal_mp_pick8"), random.Random(words)
    entries = [rng.getrandbits(16 * words) for _ in range(8)]
    table = target.place(b"".join(entry.to_bytes(2 * words, "little") for entry in entries))
    bench.secret.append((table, 16 * words))
    r = target.place(b"\xff" * (2 * words + 2))
    for index, entry in enumerate(entries):
        bench.call(r, table, np.uint16(index), words)
        assert bench.read(r, words + 1) == entry | MASK << (16 * words)
    bench.finish(r, table, np.uint16(3), words)


@pytest.mark.parametrize("words", [11, 14, 16])
def test_addmul1(target: Machine, words: int) -> None:
    """A product with one word, added."""
    bench, rng = Bench(target, "sunseal_mp_addmul1"), random.Random(words)
    acc, a = bench.number(0, words), bench.number(0, words)
    for x, y in zip(values(rng, words, 30), reversed(values(rng, words, 30)), strict=True):
        for word in (0, 1, MASK, rng.getrandbits(16)):
            target.write(acc, x.to_bytes(2 * words, "little"))
            target.write(a, y.to_bytes(2 * words, "little"))
            top = bench.call(acc, a, np.uint16(word), words)
            assert bench.read(acc, words) | top << (16 * words) == x + y * word
    bench.finish(acc, a, np.uint16(word), words)


@pytest.mark.parametrize("words", [11, 15, 17])
@pytest.mark.parametrize("two", [False, True], ids=["three", "two"])
def test_combine(target: Machine, words: int, two: bool) -> None:
    """Exact quotients by 2^14, into a new place and into each operand."""
    bench, rng = Bench(target, f"sunseal_mp_combine{'_two' if two else ''}"), random.Random(words)
    bits = 16 * words
    places = [
        *(bench.number(0, words) for _ in range(2 if two else 3)),
        *(bench.room(words) for _ in range(2 if two else 1)),
    ]
    pitch = 8 if target.device.startswith("msp432") else 4
    terms = target.place(3 * pitch)
    bench.secret.append((terms, 2))
    for n in range(60):
        edge = [0, 1, -1, 1 << 14, -(1 << 14), 0x7FFF, -0x8000]
        factors = [rng.choice(edge) if rng.random() < 0.5 else rng.randrange(-(1 << 14), 1 << 14) for _ in range(2)]
        factors.append(rng.randrange(-(1 << 14), 1 << 14) | 1)
        if sum(map(abs, factors)) >= 1 << 16:
            continue
        most = 1 << (bits - 17)
        numbers = [rng.randrange(-most, most) for _ in range(2)]
        if n % 4 == 0:
            numbers = [rng.choice([-1, 0, 1, -most, most - 1]) for _ in range(2)]
        if two:
            # The second number makes the sum a multiple of 2^14, the third must not matter.
            factors[1] |= 1
            numbers[1] = -factors[0] * numbers[0] * pow(factors[1], -1, 1 << 14) % (1 << 14)
            factors[2] = 0
        rest = sum(f * x for f, x in zip(factors, numbers, strict=False))
        last = 0x1234 if two else -rest * pow(factors[2], -1, 1 << 14) % (1 << 14)
        numbers.append(last)
        want = (rest + factors[2] * last) >> 14
        for i, (factor, number) in enumerate(zip(factors, numbers, strict=True)):
            target.write(places[i], (number % (1 << bits)).to_bytes(2 * words, "little"))
            target.write(terms + pitch * i, (factor % (MASK + 1)).to_bytes(2, "little"))
            target.write(
                terms + pitch * i + pitch // 2, (places[i] % (1 << (4 * pitch))).to_bytes(pitch // 2, "little")
            )
        to = places[(3, 0, 1, 2)[n % 4]]
        bench.call(to, terms, words)
        assert bench.read(to, words) == want % (1 << bits)
    bench.finish(places[3], terms, words)


@pytest.mark.parametrize("half", [0, MASK])
def test_divsteps(target: Machine, half: int) -> None:
    """Fourteen division steps (eprint 2019/266, section 8; half: libsecp256k1's variant)."""
    bench, rng = Bench(target, "sunseal_mp_divsteps"), random.Random(half)
    matrix = target.place(12)
    bench.secret.append((matrix, 10))
    for _ in range(100):
        f, g = rng.getrandbits(16) | 1, rng.choice([0, 1, MASK, rng.getrandbits(16)])
        eta = rng.randrange(-30, 30)
        target.write(matrix + 8, (eta % (MASK + 1)).to_bytes(2, "little") + half.to_bytes(2, "little"))
        bench.call(matrix, np.uint16(f), np.uint16(g))
        u, v, q, r, top, _ = np.frombuffer(target.read(matrix, 12), "<i2").astype(int).tolist()
        x, y, delta = f, g, eta
        uu, vv, qq, rr = 1, 0, 0, 1
        for _ in range(14):
            if y & 1:
                sign, before = (-1, (x, uu, vv)) if delta < 0 else (1, (x, uu, vv))
                y, qq, rr = y + sign * x, qq + sign * uu, rr + sign * vv
                if delta < 0:
                    x, uu, vv = before[0] + y, before[1] + qq, before[2] + rr
                    delta = -delta - 2 + (1 if half else 0)
                else:
                    delta -= 1
            else:
                delta -= 1
            y >>= 1
            uu, vv = 2 * uu, 2 * vv
        assert (u, v, q, r, top) == (uu, vv, qq, rr, delta)
    bench.finish(matrix, np.uint16(f), np.uint16(g))


def modulus(m: Machine, words: int, n: int) -> int:
    """Find one of the library's descriptions of a modulus by what it points to."""
    want = n.to_bytes(2 * words, "little")
    place = m.place(want + bytes(4))
    wide, steps = {12: (11, 373), 14: (15, 518), 16: (17, 590)}[words]
    pointer = place.to_bytes(4, "little") if m.device.startswith("msp432") else (place & MASK).to_bytes(2, "little")
    content = pointer + (pow(n, -1, 1 << 14)).to_bytes(2, "little") + bytes(2)
    content += bytes([words, wide, -(-steps // 14)])
    content += bytes(-len(content) % (4 if m.device.startswith("msp432") else 1 if m.device.startswith("at") else 2))
    return m.place(content + (-pow(n, -1, 1 << 32) % (1 << 32)).to_bytes(4, "little"))


@pytest.mark.parametrize("name", MODULI)
@pytest.mark.parametrize("fixed", [False, True], ids=["any", "fixed"])
def test_montmul(target: Machine, name: str, fixed: bool) -> None:
    """A product over 2^(16 words), fully reduced; AVR has it for fixed lengths too, the Cortex-M4 for twelve words."""
    words, n = MODULI[name]
    bench, rng = Bench(target, f"sunseal_mp_montmul_{words}" if fixed else "sunseal_mp_montmul"), random.Random(name)
    described = modulus(target, words, n)
    top = 1 << (16 * words)
    r, a, b = bench.room(words), bench.number(0, words), bench.number(0, words)
    pairs = [(x, y % n) for x, y in zip(values(rng, words, 10), reversed(values(rng, words, 10)), strict=True)]
    pairs += [(top - 1, n - 1), (n, n - 1), (n - 1, n - 1), (top - 1, 1)]
    for i, (x, y) in enumerate(pairs):
        target.write(a, x.to_bytes(2 * words, "little"))
        target.write(b, y.to_bytes(2 * words, "little"))
        to = (r, a, b)[i % 3]
        bench.call(to, a, b, described)
        assert bench.read(to, words) == x * y * pow(top, -1, n) % n
    bench.finish(r, a, b, described)


@pytest.mark.parametrize("name", MODULI)
def test_in_range(target: Machine, name: str) -> None:
    """Whether 0 < a < m, which the Cortex-M4 has as one routine."""
    words, n = MODULI[name]
    bench, rng = Bench(target, "sunseal_mp_in_range"), random.Random(name)
    a, m = bench.number(0, words), bench.number(n, words)
    top = 1 << (16 * words)
    for x in (0, 1, n - 1, n, n + 1, top - 1, top >> 1, 1 << 32, *(rng.randrange(2 * n) % top for _ in range(20))):
        target.write(a, x.to_bytes(2 * words, "little"))
        assert bench.call(a, m, words) == (MASK if 0 < x < n else 0)
    bench.finish(a, m, words)


@pytest.mark.parametrize("name", MODULI)
def test_invert(target: Machine, name: str) -> None:
    """The inverse, and 0 for 0."""
    words, n = MODULI[name]
    bench, rng = Bench(target, "sunseal_mp_invert"), random.Random(name)
    described = modulus(target, words, n)
    r, a = bench.room(words), bench.number(0, words)
    for i, x in enumerate([0, 1, 2, n - 1, n >> 1, rng.randrange(n), rng.randrange(n)]):
        target.write(a, x.to_bytes(2 * words, "little"))
        to = (r, a)[i % 2]
        bench.call(to, a, described)
        assert bench.read(to, words) == (pow(x, -1, n) if x else 0)
    bench.finish(r, a, described)
