# SPDX-License-Identifier: MIT OR Apache-2.0
"""Messages of Protocol Buffers, written field by field: the few kinds of fields that profiles and traces have."""

from __future__ import annotations

import struct
from collections.abc import Iterable

VARINT, FIXED64, BYTES = 0, 1, 2
"""Kinds of fields on the wire (Protocol Buffers, "Encoding")."""


def varint(value: int) -> bytes:
    """Write an integer in groups of seven bits, the lowest first; a negative one as 64 bits of two's complement."""
    value &= (1 << 64) - 1
    if value < 0x80:
        return bytes((value,))
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def number(field: int, value: int) -> bytes:
    """Write a field that is an integer, a truth value or an enumerator."""
    return varint(field << 3 | VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """Write a field that is a number of 64 bits of IEEE 754."""
    return varint(field << 3 | FIXED64) + struct.pack("<d", value)


def message(field: int, *parts: bytes) -> bytes:
    """Write a field that is a message of these fields, or bytes."""
    body = b"".join(parts)
    return varint(field << 3 | BYTES) + varint(len(body)) + body


def text(field: int, value: str) -> bytes:
    """Write a field that is text."""
    return message(field, value.encode())


def packed(field: int, values: Iterable[int]) -> bytes:
    """Write a field that repeats integers."""
    return message(field, *map(varint, values))
