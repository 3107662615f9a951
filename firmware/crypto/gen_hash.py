#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write the round constants of SHA-256 and SHA-512 into a folder; firmware/Makefile names it.

    python3 firmware/crypto/gen_hash.py FOLDER

The first bits of the fractional parts of the cube roots of the primes, FIPS 180-4, sections 4.2.2
and 4.2.3. One file serves C and every assembler: the includer defines K(word).
"""

from generated import primes, write


def cube_root(value: int) -> int:
    """The integer part."""
    low, high = 0, 1 << (value.bit_length() // 3 + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= value else (low, middle)
    return low


def constants(section: str, count: int, bits: int) -> str:
    """The text of one file."""
    words = [cube_root(prime << (3 * bits)) % (1 << bits) for prime in primes(count)]
    return f"/* FIPS 180-4, section {section}. */\n" + "".join(f"K(0x{word:0{bits // 4}x})\n" for word in words)


if __name__ == "__main__":
    write({"sha256_k.inc": constants("4.2.2", 64, 32), "sha512_k.inc": constants("4.2.3", 80, 64)})
