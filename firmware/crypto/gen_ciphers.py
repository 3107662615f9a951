#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write the tables of ciphers and Ascon, computed from their definitions, into a folder: gen_ciphers.py FOLDER."""

from collections.abc import Iterable, Sequence

from generated import write

PRESENT_S = (0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2)  # CHES 2007, section 3


def times(a: int, b: int) -> int:
    """Multiply in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def aes_s(x: int) -> int:
    """FIPS 197, section 5.1.1: the inverse, then the affine map."""
    inverse = next((y for y in range(256) if times(x, y) == 1), 0)
    wide = inverse ^ inverse << 1 ^ inverse << 2 ^ inverse << 3 ^ inverse << 4
    return 0x63 ^ (wide & 0xFF) ^ (wide >> 8)


AES_S = [aes_s(x) for x in range(256)]
AES_INVERSE = [AES_S.index(x) for x in range(256)]


def present_spread() -> list[int]:
    """Of two S-boxes: output bits b of the right and the left one, four times over, for each b."""
    pairs = []
    for b in range(4):
        for x in range(256):
            pair = (PRESENT_S[x & 15] >> b & 1) | (PRESENT_S[x >> 4] >> b & 1) << 1
            pairs.append(pair * 0x55)
    return pairs


def present_inverse() -> list[int]:
    """The inverse S-box on both halves of a byte."""
    inverse = [PRESENT_S.index(x) for x in range(16)]
    return [inverse[x & 15] | inverse[x >> 4] << 4 for x in range(256)]


def ascon_hash256_start() -> list[int]:
    """SP 800-232, section 5.1: the initial value behind Ascon-p[12], as little-endian bytes."""
    x = [0x0000080100CC0002, 0, 0, 0, 0]
    for i in range(12):
        x[2] ^= 0xF0 - 15 * i
        x[0], x[2], x[4] = x[0] ^ x[4], x[2] ^ x[1], x[4] ^ x[3]
        x = [x[j] ^ (~x[(j + 1) % 5] & x[(j + 2) % 5]) for j in range(5)]
        x[0], x[1], x[2], x[3] = x[0] ^ x[4], x[1] ^ x[0], x[2] ^ (1 << 64) - 1, x[3] ^ x[2]
        for j, turns in enumerate(((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))):
            x[j] ^= (x[j] << 64 | x[j]) >> turns[0] ^ (x[j] << 64 | x[j]) >> turns[1]
            x[j] &= (1 << 64) - 1
    return [byte for word in x for byte in word.to_bytes(8, "little")]


def c_array(kind: str, name: str, values: Sequence[int], digits: int) -> str:
    """Format one array for C."""
    per_line = 96 // (digits + 4)
    lines = [
        "    " + ", ".join(f"0x{v:0{digits}x}" for v in values[i : i + per_line])
        for i in range(0, len(values), per_line)
    ]
    return f"{kind} {name}[{len(values)}] = {{\n" + ",\n".join(lines) + "};\n"


def asm_array(directive: str, values: Sequence[int], digits: int) -> str:
    """Format one table for the assembler."""
    per_line = 16 if digits == 2 else 8
    return "".join(
        f"    {directive} " + ", ".join(f"0x{v:0{digits}x}" for v in values[i : i + per_line]) + "\n"
        for i in range(0, len(values), per_line)
    )


def files() -> Iterable[tuple[str, str]]:
    """Each file's name and text."""
    flash = "static const SUNSEAL_FLASH uint8_t"
    t0 = [times(s, 2) | s << 8 | s << 16 | times(s, 3) << 24 for s in AES_S]
    yield "aes_sbox_table.h", c_array(flash, "aes_s", AES_S, 2)
    yield "aes_inverse_table.h", c_array(flash, "aes_inverse_s", AES_INVERSE, 2)
    yield "aes_tbox_table.h", c_array("static AES_TBOX uint32_t", "aes_t", t0, 8)
    yield "present_table.h", c_array(flash, "present_spread", present_spread(), 2)
    yield "ascon_hash256_table.h", c_array(flash, "ascon_hash256_start", ascon_hash256_start(), 2)
    yield "present_inverse_table.h", c_array(flash, "present_inverse", present_inverse(), 2)
    # As bytes 2s s, s 3s, 3s 2s, s s: the four words that make up the columns of MixColumns.
    words = {
        "aes_21": [times(s, 2) | s << 8 for s in AES_S],
        "aes_13": [s | times(s, 3) << 8 for s in AES_S],
        "aes_32": [times(s, 3) | times(s, 2) << 8 for s in AES_S],
        "aes_11": [s | s << 8 for s in AES_S],
    }
    yield "aes_words.inc", "".join(f"{name}:\n{asm_array('.short', values, 4)}" for name, values in words.items())
    yield "aes_s.inc", asm_array(".byte", AES_S, 2)
    yield "aes_twice.inc", asm_array(".byte", [times(x, 2) for x in range(256)], 2)
    yield "aes_t.inc", asm_array(".long", t0, 8)


if __name__ == "__main__":
    write(dict(files()))
