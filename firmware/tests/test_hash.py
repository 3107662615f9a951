# SPDX-License-Identifier: MIT OR Apache-2.0
"""The hashes of the built libraries: known answers on every target, and the compression of short blocks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from table import COLUMNS, Target, answers

from sunseal import Machine

BUILD = Path(__file__).resolve().parents[1] / "build"
# One board of each device: the others' libraries are the same.
LIBRARIES = sorted(path for column in COLUMNS for path in (BUILD / column).glob("library-hash.elf"))
LIBRARY = Path(__file__).resolve().parents[1] / "build" / "msp432p401r-launchpad" / "default" / "library-hash.elf"


def test_short_blocks_compress_alike() -> None:
    m, rng, cycles = Machine("msp432p401r-launchpad", LIBRARY), random.Random(1), set()
    m.run(until="main")
    state, block = m.place(20), m.place(64)
    for filling in (bytes(4), b"\x36" * 4, b"\x5c" * 4, *(rng.randbytes(4) for _ in range(20))):
        begun = rng.randbytes(20)
        m.write(block, rng.randbytes(24) + 9 * filling + rng.randbytes(4))
        m.write(state, begun)
        m.call("sunseal_sha1_compress", state, block)
        want = m.read(state, 20)
        m.write(state, begun)
        cycles.add(m.call("sunseal_sha1_compress_short", state, block).cycles)
        assert m.read(state, 20) == want
    assert len(cycles) == 1
    secret = [(state, 20), (block, 64)]
    assert m.leaks(secret, call=("sunseal_sha1_compress_short", state, block)) == []


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_known_answers(library: Path) -> None:
    """SHA, HMAC and HKDF as others have computed them, of each function and document a few."""
    column = "/".join(library.parts[-3:-1])
    ran, errors = answers(Target(library.parts[-3], library), "hash", column, 8)
    assert ran > 60 and errors == []
