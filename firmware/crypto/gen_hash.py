#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write or check the round constants of SHA-256 and SHA-512.

    python3 firmware/crypto/gen_hash.py write|check

The first bits of the fractional parts of the cube roots of the primes, FIPS 180-4, sections 4.2.2
and 4.2.3. One file serves C and every assembler: the includer defines K(word).
"""

import sys
from pathlib import Path

from settle import command, settle

HASH = Path(__file__).resolve().parent / "src" / "hash"
COMMAND = command(__file__)


def primes(count: int) -> list[int]:
    """The first primes."""
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


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
    return (
        "/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n"
        f"/* Generated from FIPS 180-4, section {section}, by `{COMMAND}`. Do not edit. */\n"
        + "".join(f"K(0x{word:0{bits // 4}x})\n" for word in words)
    )


def files() -> dict[Path, str]:
    """The files and what is in them."""
    return {
        HASH / "sha256_k.inc": constants("4.2.2", 64, 32),
        HASH / "sha512_k.inc": constants("4.2.3", 80, 64),
    }


if __name__ == "__main__":
    sys.exit(settle(files(), __file__))
