#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write the tables of the curves into a folder; firmware/Makefile names it.

    python3 firmware/crypto/gen_curves.py FOLDER

Everything is computed from the domain parameters of SEC 2 (version 1.0 for secp160r1, 2.0 for P-256)
and from FIPS 180-4; nothing outside the standard library is used.
"""

import hashlib
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from generated import primes, write

Point = tuple[int, int] | None


def division_steps(bits: int) -> int:
    """Division steps from delta 1/2 that surely invert a number of so many bits (eprint 2019/266, section 11, with the
    bound for that start: eprint 2021/549)."""
    return -(-(45907 * bits + 26313) // 19929)


class Group(ABC):
    """Points under addition, and the tables that multiplication of the base point looks up."""

    neutral: ClassVar[Point] = None
    teeth: int

    @property
    @abstractmethod
    def base(self) -> Point:
        """The base point."""

    @abstractmethod
    def add(self, left: Point, right: Point) -> Point:
        """Affine addition with every special case."""

    @abstractmethod
    def negate(self, point: Point) -> Point:
        """The point's inverse."""

    def multiply(self, scalar: int, point: Point) -> Point:
        """Double and add, most significant bit first."""
        result = self.neutral
        for bit in bin(scalar)[2:]:
            result = self.add(result, result)
            if bit == "1":
                result = self.add(result, point)
        return result

    def odd_multiples(self, width: int) -> list[Point]:
        """The base point times 1, 3, 5, ... for verification's signed digits of so many bits."""
        twice = self.add(self.base, self.base)
        points = [self.base]
        while len(points) < 1 << (width - 2):
            points.append(self.add(points[-1], twice))
        return points

    def comb(self, distance: int, tables: int) -> list[Point]:
        """The points sum(sign_i 2^(distance i)) 2^(table step) times the base point; the last sign is +, the others
        are the bits of the index (1 for +)."""
        step = distance // tables
        assert step * tables == distance
        powers = [self.base]
        while len(powers) <= self.teeth * distance:
            powers.append(self.add(powers[-1], powers[-1]))
        points: list[Point] = []
        for first in range(0, distance, step):
            row = [powers[first + distance * (self.teeth - 1)]]
            for i in range(self.teeth - 1):
                row[0] = self.add(row[0], self.negate(powers[first + distance * i]))
            for i in range(self.teeth - 1):
                row += [self.add(entry, powers[first + distance * i + 1]) for entry in row]
            points += row
        return points


@dataclass(frozen=True, kw_only=True)
class Curve(Group):
    """Short Weierstrass curve with a = -3 and the shape of its signed comb."""

    name: str
    document: str
    p: int
    b: int
    n: int
    gx: int
    gy: int
    montgomery: bool = False  # field elements are kept times 2^(16 field_words)
    teeth: int = 6  # bits that one look-up consumes
    small: tuple[int, int]  # bits between neighbouring teeth, and tables, each distance / tables bits further on
    large: tuple[int, int]  # the same where there is flash for it
    zero_hash: str  # hash of the nonce's HMAC
    wide_words: int  # words that hold 2^15 n and a sign
    steps: int  # division steps from delta 1/2 that surely invert
    g_width: int = 8  # bits of verification's signed digits for G: 2^(g_width - 2) points

    @property
    def base(self) -> Point:
        """G."""
        return self.gx, self.gy

    @property
    def field_words(self) -> int:
        """16-bit words of a field element."""
        return -(-self.p.bit_length() // 16)

    @property
    def order_words(self) -> int:
        """16-bit words of a scalar, an even number."""
        return 2 * -(-self.n.bit_length() // 32)

    def add(self, left: Point, right: Point) -> Point:
        """Affine addition with every special case."""
        if left is None:
            return right
        if right is None:
            return left
        (x1, y1), (x2, y2) = left, right
        if x1 == x2:
            if (y1 + y2) % self.p == 0:
                return None
            slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, self.p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, self.p)
        x3 = (slope * slope - x1 - x2) % self.p
        return x3, (slope * (x1 - x3) - y1) % self.p

    def negate(self, point: Point) -> Point:
        """The point's mirror image."""
        return point and (point[0], self.p - point[1])

    def encode(self, value: int) -> int:
        """The value as the firmware keeps it."""
        return (value << (16 * self.field_words)) % self.p if self.montgomery else value % self.p

    def encoded(self, points: list[Point]) -> list[int]:
        """The words of x and y of each point."""
        assert None not in points
        return [word for point in points for v in point or () for word in words(self.encode(v), self.field_words)]


SECP160R1 = Curve(
    name="secp160r1",
    document="SEC 2 version 1.0, section 2.4.2",
    p=2**160 - 2**31 - 1,
    b=0x1C97BEFC54BD7A8B65ACF89F81D4D4ADC565FA45,
    n=0x0100000000000000000001F4C8F927AED3CA752257,
    gx=0x4A96B5688EF573284664698968C38BB913CBFC82,
    gy=0x23A628553168947D59DCC912042351377AC5FB32,
    small=(28, 7),
    large=(27, 9),
    zero_hash="sha1",
    wide_words=11,
    steps=division_steps(161),
)
P224 = Curve(
    name="p224",
    document="SEC 2 version 2.0, section 2.3.2",
    p=2**224 - 2**96 + 1,
    b=0xB4050A850C04B3ABF54132565044B0B7D7BFD8BA270B39432355FFB4,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D,
    gx=0xB70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21,
    gy=0xBD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34,
    small=(40, 4),
    large=(40, 10),
    zero_hash="sha256",
    wide_words=15,
    steps=division_steps(224),
)
P256 = Curve(
    name="p256",
    document="SEC 2 version 2.0, section 2.4.2",
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    gx=0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    gy=0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    montgomery=True,
    small=(44, 4),
    large=(44, 11),
    zero_hash="sha256",
    wide_words=17,
    steps=590,  # libsecp256k1, doc/safegcd_implementation.md: enough for 256 bits
)

SHA256_INITIAL = [
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
]  # fmt: skip
SHA1_INITIAL = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
MASK32 = 0xFFFFFFFF


def cube_root_words(count: int) -> list[int]:
    """SHA-256's constants: first 32 bits of the fractional part of the cube roots of the primes."""
    words = []
    for prime in primes(count):
        target = prime << 96
        low, high = 0, 1 << 36
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**3 <= target else (low, middle)
        words.append(low & MASK32)
    return words


def rotate_right(value: int, count: int) -> int:
    """32-bit rotation."""
    return ((value >> count) | (value << (32 - count))) & MASK32


def sha256_compress(state: list[int], block: bytes) -> list[int]:
    """FIPS 180-4, section 6.2.2."""
    w = list(struct.unpack(">16I", block))
    for t in range(16, 64):
        s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ (w[t - 15] >> 3)
        s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ (w[t - 2] >> 10)
        w.append((w[t - 16] + s0 + w[t - 7] + s1) & MASK32)
    a, b, c, d, e, f, g, h = state
    for k, word in zip(cube_root_words(64), w, strict=True):
        t1 = h + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25))
        t1 += (g ^ (e & (f ^ g))) + k + word
        t2 = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) + ((a & b) | (c & (a | b)))
        a, b, c, d, e, f, g, h = (t1 + t2) & MASK32, a, b, c, (d + t1) & MASK32, e, f, g
    return [(x + y) & MASK32 for x, y in zip(state, [a, b, c, d, e, f, g, h], strict=True)]


def sha1_compress(state: list[int], block: bytes) -> list[int]:
    """FIPS 180-4, section 6.1.2."""
    w = list(struct.unpack(">16I", block))
    for t in range(16, 80):
        w.append(rotate_right(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 31))
    a, b, c, d, e = state
    for t, word in enumerate(w):
        f, k = (
            (d ^ (b & (c ^ d)), 0x5A827999),
            (b ^ c ^ d, 0x6ED9EBA1),
            ((b & c) | (d & (b | c)), 0x8F1BBCDC),
            (b ^ c ^ d, 0xCA62C1D6),
        )[t // 20]
        a, b, c, d, e = (
            (rotate_right(a, 27) + f + e + k + word) & MASK32,
            a,
            rotate_right(b, 2),
            c,
            d,
        )
    return [(x + y) & MASK32 for x, y in zip(state, [a, b, c, d, e], strict=True)]


def words(value: int, count: int) -> list[int]:
    """Little-endian 16-bit words."""
    assert value < 1 << (16 * count)
    return [(value >> (16 * i)) & 0xFFFF for i in range(count)]


def rows(values: list[int]) -> str:
    """C initialiser lines of sixteen words."""
    lines = []
    for start in range(0, len(values), 12):
        lines.append("    " + " ".join(f"0x{v:04x}," for v in values[start : start + 12]))
    return "\n".join(lines)


def array(name: str, values: list[int], flash: bool = False) -> str:
    """A static constant array of words."""
    kind = "const SUNSEAL_FLASH" if flash else "const"
    return f"static {kind} uint16_t {name}[{len(values)}] SUNSEAL_MP_ALIGNED = {{\n{rows(values)}\n}};\n"


def zero_key_states(name: str) -> list[int]:
    """HMAC midstates of an all-zero key: after the inner and after the outer pad block."""
    if name == "sha256":
        assert hashlib.sha256(b"").digest()[:4] == struct.pack(
            ">I", sha256_compress(SHA256_INITIAL, b"\x80" + bytes(63))[0]
        )
        both = sha256_compress(SHA256_INITIAL, b"\x36" * 64) + sha256_compress(SHA256_INITIAL, b"\x5c" * 64)
    else:
        assert hashlib.sha1(b"").digest()[:4] == struct.pack(">I", sha1_compress(SHA1_INITIAL, b"\x80" + bytes(63))[0])
        both = sha1_compress(SHA1_INITIAL, b"\x36" * 64) + sha1_compress(SHA1_INITIAL, b"\x5c" * 64)
    return both


def comb_shape(distance: int, tables: int) -> str:
    """The lines of a header that say how a comb's tables lie."""
    return f"#define COMB_DISTANCE {distance}\n#define COMB_TABLES {tables}\n#define COMB_STEP {distance // tables}\n"


def curve_header(curve: Curve) -> str:
    """The text of one curve's table header."""
    assert (curve.gy**2 - curve.gx**3 + 3 * curve.gx - curve.b) % curve.p == 0
    assert curve.multiply(curve.n, curve.base) is None
    assert all(curve.teeth * distance >= curve.n.bit_length() for distance, _ in (curve.small, curve.large))
    r_order = 1 << (16 * curve.order_words)
    scale = curve.encode(1)
    initial = SHA1_INITIAL if curve.zero_hash == "sha1" else SHA256_INITIAL
    states = zero_key_states(curve.zero_hash)
    text = f"""/* From {curve.document}. */
/* Words are 16 bits, least significant first. Field elements are kept {
        f"times 2^{16 * curve.field_words} mod p (Montgomery)" if curve.montgomery else "plain"
    }. */
#ifndef SUNSEAL_{curve.name.upper()}_TABLES_H
#define SUNSEAL_{curve.name.upper()}_TABLES_H

#include <stdint.h>

#include "mp/mp.h"

#define FIELD_WORDS {curve.field_words}
#define FIELD_BYTES {2 * curve.field_words}
#define ORDER_WORDS {curve.order_words}
#define ORDER_BITS {curve.n.bit_length()}
#define ORDER_BYTES {(curve.n.bit_length() + 7) // 8}
#define COMB_TEETH {curve.teeth}
#ifdef __arm__
{comb_shape(*curve.large)}#else
{comb_shape(*curve.small)}#endif
#define COMB_POINTS {1 << (curve.teeth - 1)}
#define G_WIDTH {curve.g_width}
#define FIELD_IS_MONTGOMERY {int(curve.montgomery)}

"""
    longest = max(curve.wide_words, curve.order_words)
    text += array("field_p", words(curve.p, longest))
    text += array("field_b", words(curve.encode(curve.b), curve.field_words))
    text += array("field_one", words(scale, curve.field_words))
    if curve.montgomery:
        text += array("field_r2", words(scale * scale % curve.p, curve.field_words))
    text += array("order_n", words(curve.n, longest))
    for name, modulus in (("field_p", curve.p), ("order_n", curve.n)):
        # The least value is above -2^15 m + m.
        assert (2**15 - 1) * modulus <= 1 << (16 * curve.wide_words - 1)
        batches = -(-curve.steps // 14)
        text += (
            f"static const struct sunseal_mp_modulus {name}_modulus = {{{name}, "
            f"0x{pow(modulus, -1, 1 << 14):04x}, 0, "
            f"{curve.order_words}, {curve.wide_words}, {batches}, 0x{-pow(modulus, -1, 1 << 32) % (1 << 32):08x}}};\n"
        )
    text += "/* 2^(2 * 16 ORDER_WORDS) mod n */\n"
    text += array("order_r2", words(r_order * r_order % curve.n, curve.order_words))
    text += f"/* {curve.zero_hash.upper()}'s initial state. */\n"
    text += f"static const uint32_t hash_initial[{len(initial)}] = {{\n    "
    text += " ".join(f"0x{s:08x}," for s in initial) + "\n};\n"
    text += f"/* HMAC-{curve.zero_hash.upper()} midstates of the all-zero key, inner then outer. */\n"
    text += (
        f"static const uint32_t hmac_zero_key[{len(states)}] = {{\n    "
        + " ".join(f"0x{s:08x}," for s in states[: len(states) // 2])
        + "\n    "
        + " ".join(f"0x{s:08x}," for s in states[len(states) // 2 :])
        + "\n};\n"
    )

    text += "/* x, y of sum(sign_i 2^(COMB_DISTANCE i)) 2^(COMB_STEP table) G; last sign +. */\n"
    text += "#ifdef __arm__\n" + array("comb_table", curve.encoded(curve.comb(*curve.large)), flash=True)
    text += "#else\n" + array("comb_table", curve.encoded(curve.comb(*curve.small)), flash=True) + "#endif\n"
    text += "/* x, y of G, 3 G, 5 G, ... */\n"
    text += array("g_table", curve.encoded(curve.odd_multiples(curve.g_width)), flash=True)
    return text + "\n#endif\n"


@dataclass(frozen=True)
class Edwards(Group):
    """Ed25519's curve -x^2 + y^2 = 1 + d x^2 y^2 and the shape of its signed comb."""

    p: int = 2**255 - 19
    n: int = 2**252 + 27742317777372353535851937790883648493
    teeth: int = 6
    distance: int = 44
    tables: int = 4
    width: int = 7  # bits of verification's signed digits for B: 32 points
    neutral: ClassVar[Point] = (0, 1)

    @property
    def d(self) -> int:
        """RFC 8032, section 5.1."""
        return -121665 * pow(121666, -1, self.p) % self.p

    @property
    def root(self) -> int:
        """The square root of -1."""
        return pow(2, (self.p - 1) // 4, self.p)

    @property
    def base(self) -> Point:
        """y = 4/5 and the even x."""
        y = 4 * pow(5, -1, self.p) % self.p
        square = (y * y - 1) * pow(self.d * y * y + 1, -1, self.p) % self.p
        x = pow(square, (self.p + 3) // 8, self.p)
        if (x * x - square) % self.p:
            x = x * self.root % self.p
        return (self.p - x if x & 1 else x), y

    def add(self, left: Point, right: Point) -> Point:
        """The complete affine law."""
        assert left and right
        (x1, y1), (x2, y2), p = left, right, self.p
        t = self.d * x1 * x2 * y1 * y2
        # One inversion for both coordinates.
        both = pow(1 - t * t, -1, p)
        return (x1 * y2 + x2 * y1) * (1 - t) * both % p, (y1 * y2 + x1 * x2) * (1 + t) * both % p

    def negate(self, point: Point) -> Point:
        """The point with -x."""
        return point and (self.p - point[0], point[1])

    def niels(self, points: list[Point]) -> list[int]:
        """The words of y + x, y - x, 2 d x y of each point."""
        flat: list[int] = []
        for point in points:
            assert point
            x, y = point
            for value in (y + x, y - x, 2 * self.d * x * y):
                flat += words(value % self.p, 16)
        return flat


def edwards_headers() -> tuple[str, str]:
    """The texts of field25519_tables.h and ed25519_tables.h."""
    curve = Edwards()
    assert curve.base
    x, y = curve.base
    assert (-x * x + y * y - 1 - curve.d * x * x * y * y) % curve.p == 0
    assert curve.multiply(curve.n, curve.base) == (0, 1)

    def modulus(name: str, value: int) -> str:
        assert (2**15 - 1) * value <= 1 << (16 * 17 - 1)
        return (
            f"static const struct sunseal_mp_modulus {name}_modulus = {{{name}, "
            f"0x{pow(value, -1, 1 << 14):04x}, 0, 16, 17, {-(-590 // 14)}, "
            f"0x{-pow(value, -1, 1 << 32) % (1 << 32):08x}}};\n"
        )

    def head(guard: str) -> str:
        return (
            "/* From RFC 8032, section 5.1. */\n"
            "/* Words are 16 bits, least significant first. */\n"
            f"#ifndef SUNSEAL_{guard}_TABLES_H\n#define SUNSEAL_{guard}_TABLES_H\n\n"
            '#include <stdint.h>\n\n#include "mp/mp.h"\n\n'
        )

    field = head("FIELD25519") + array("field_p", words(curve.p, 17)) + modulus("field_p", curve.p) + "\n#endif\n"
    text = (
        head("ED25519")
        + f"""#define ORDER_WORDS 16
#define ORDER_BITS {curve.n.bit_length()}
#define COMB_TEETH {curve.teeth}
#define COMB_DISTANCE {curve.distance}
#define COMB_TABLES {curve.tables}
#define COMB_STEP {curve.distance // curve.tables}
#define COMB_POINTS {1 << (curve.teeth - 1)}
#define B_WIDTH {curve.width}

"""
    )
    text += array("order_n", words(curve.n, 17)) + modulus("order_n", curve.n)
    text += "/* 2^512 mod n */\n" + array("order_r2", words(pow(2, 512, curve.n), 16))
    text += array("curve_d", words(curve.d, 16))
    text += array("curve_2d", words(2 * curve.d % curve.p, 16))
    text += array("root_of_minus_one", words(curve.root, 16))
    text += "/* y + x, y - x, 2 d x y of sum(sign_i 2^(COMB_DISTANCE i)) 2^(COMB_STEP table) B; last sign +. */\n"
    text += array("comb_table", curve.niels(curve.comb(curve.distance, curve.tables)), flash=True)
    text += "/* The same of B, 3 B, 5 B, ... */\n"
    text += array("b_table", curve.niels(curve.odd_multiples(curve.width)), flash=True)
    return field, text + "\n#endif\n"


if __name__ == "__main__":
    FIELD25519, ED25519 = edwards_headers()
    write({"field25519_tables.h": FIELD25519, "ed25519_tables.h": ED25519})
    write({f"{curve.name}_tables.h": curve_header(curve) for curve in (SECP160R1, P224, P256)})
