# SPDX-License-Identifier: MIT OR Apache-2.0
"""Rounds of AES-128 (FIPS 197) over many blocks at once, as hypotheses of attacks want them.

A state is an array of uint8 whose last axis has the 16 bytes of a block in the order in which they are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

State: TypeAlias = "NDArray[np.uint8]"
SHIFTED = np.array([0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11])
"""Place of each byte before ShiftRows (5.1.2)."""
ROUNDS = 10


def _doubled(state: State) -> State:
    """Multiply bytes by x modulo x^8 + x^4 + x^3 + x + 1 (4.2.1)."""
    doubled: State = (state << np.uint8(1)) ^ np.where(state & 0x80, np.uint8(0x1B), np.uint8(0))
    return doubled


def _substitutions() -> State:
    """Return the S-box: the inverse in GF(2^8), then the affine map of 5.1.1."""
    powers = [1]
    while len(powers) < 255:  # of x + 1, which generates the field
        double = powers[-1] << 1 ^ (0x11B if powers[-1] & 0x80 else 0)
        powers.append(powers[-1] ^ double)
    inverse = np.zeros(256, dtype=np.uint8)
    for exponent, power in enumerate(powers):
        inverse[power] = powers[-exponent % 255]
    turned = [inverse << np.uint8(bits) | inverse >> np.uint8(8 - bits) for bits in range(1, 5)]
    box: State = inverse ^ turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ np.uint8(0x63)
    return box


SBOX = _substitutions()
INVERSE_SBOX = np.argsort(SBOX).astype(np.uint8)


def shift_rows(state: State) -> State:
    """Turn the rows of states (5.1.2)."""
    return state[..., SHIFTED]


def mix_columns(state: State) -> State:
    """Mix the columns of states (5.1.3)."""
    columns = state.reshape(*state.shape[:-1], 4, 4)
    after = np.roll(columns, -1, axis=-1)
    every = np.bitwise_xor.reduce(columns, axis=-1, keepdims=True)
    return (columns ^ every ^ _doubled(columns ^ after)).reshape(state.shape)


def _added(last_word: State, number: int) -> State:
    """Return what round `number` of the key expansion adds to its first word (5.2)."""
    constant = 1
    for _ in range(number - 1):
        constant = constant << 1 ^ (0x11B if constant & 0x80 else 0)
    added = SBOX[np.roll(last_word, -1)]
    added[0] ^= constant
    return added


def round_keys(key: bytes) -> State:
    """Expand a key into those of all rounds (5.2)."""
    words = [np.frombuffer(key, dtype=np.uint8)[i : i + 4] for i in range(0, 16, 4)]
    while len(words) < 4 * (ROUNDS + 1):
        number, place = divmod(len(words), 4)
        words.append(words[-4] ^ (words[-1] if place else _added(words[-1], number)))
    return np.concatenate(words).reshape(-1, 16)


def key_of(round_key: State, number: int) -> bytes:
    """Return the key whose expansion has this one in round `number`."""
    words = list(round_key.reshape(4, 4))
    for of in range(number, 0, -1):
        before = [words[i] ^ words[i - 1] for i in range(1, 4)]
        words = [words[0] ^ _added(before[-1], of), *before]
    return np.concatenate(words).tobytes()


def substituted(blocks: State, key: bytes, number: int) -> State:
    """Return what SubBytes of a round puts out."""
    keys = round_keys(key)
    state: State = SBOX[blocks ^ keys[0]]
    for of in range(1, number):
        state = SBOX[mix_columns(shift_rows(state)) ^ keys[of]]
    return state
