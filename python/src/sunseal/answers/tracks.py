# SPDX-License-Identifier: MIT OR Apache-2.0
"""A trace of tracks for Perfetto: slices with names, and values over time.

Fields are those of `perfetto/trace/*.proto`: TracePacket, TrackDescriptor, CounterDescriptor, TrackEvent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sunseal.answers import protobuf as pb

PACKET = 1
TIMESTAMP, SEQUENCE, EVENT, FLAGS, DESCRIPTOR = 8, 10, 11, 13, 60
CLEARED = 1
"""Flag of a sequence's first packet: nothing came before it."""
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Tracks:
    """Writer of a trace; times are nanoseconds, which must not go back on a track."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        """Write packets as they come."""
        self._write = write
        self._uuids = itertools.count(1)
        self._first = True

    def _packet(self, *parts: bytes) -> None:
        flags = pb.number(FLAGS, CLEARED) if self._first else b""
        self._first = False
        self._write(pb.message(PACKET, *parts, pb.number(SEQUENCE, 1), flags))

    def track(self, name: str, parent: int | None = None) -> int:
        """Begin a track of slices, below another one; return its number."""
        return self._described(name, parent)

    def counter(self, name: str, unit: str, parent: int | None = None) -> int:
        """Begin a track of values in a unit; return its number."""
        return self._described(name, parent, pb.message(8, pb.text(6, unit)))

    def _described(self, name: str, parent: int | None, more: bytes = b"") -> int:
        uuid = next(self._uuids)
        below = b"" if parent is None else pb.number(5, parent)
        self._packet(pb.message(DESCRIPTOR, pb.number(1, uuid), below, pb.text(2, name), more))
        return uuid

    def begin(self, track: int, at_ns: int, name: str) -> None:
        """Begin a slice, within those of the track that are open."""
        event = pb.message(EVENT, pb.number(9, BEGIN), pb.number(11, track), pb.text(23, name))
        self._packet(pb.number(TIMESTAMP, at_ns), event)

    def end(self, track: int, at_ns: int) -> None:
        """End the innermost slice of a track."""
        self._packet(pb.number(TIMESTAMP, at_ns), pb.message(EVENT, pb.number(9, END), pb.number(11, track)))

    def instant(self, track: int, at_ns: int, name: str) -> None:
        """Mark a moment on a track."""
        event = pb.message(EVENT, pb.number(9, INSTANT), pb.number(11, track), pb.text(23, name))
        self._packet(pb.number(TIMESTAMP, at_ns), event)

    def value(self, track: int, at_ns: int, value: float) -> None:
        """Say what a counter's value is from a time on."""
        event = pb.message(EVENT, pb.number(9, COUNTER), pb.number(11, track), pb.double(44, value))
        self._packet(pb.number(TIMESTAMP, at_ns), event)
