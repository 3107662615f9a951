# SPDX-License-Identifier: MIT OR Apache-2.0
"""Messages of the Debug Adapter Protocol on a stream of bytes: a header with the length of the JSON behind it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

from sunseal.errors import SunsealError

Message = dict[str, Any]
HEADER_BYTES_MAX = 4096
BODY_BYTES_MAX = 1 << 24
CHUNK_BYTES = 1 << 16


class Wire:
    """Both directions of a connection to a client."""

    def __init__(self, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
        """Talk through `read`, which returns up to so many bytes and none at the end, and `write`."""
        self._read, self._write = read, write
        self._held = bytearray()
        self._numbers = itertools.count(1)

    def receive(self) -> Message | None:
        """Wait for the next message; None where the client is gone."""
        while (end := self._held.find(b"\r\n\r\n")) < 0:
            if len(self._held) > HEADER_BYTES_MAX:
                raise SunsealError(f"a header of the client has no end within {HEADER_BYTES_MAX} bytes")
            if not self._more():
                return None
        size_bytes = _length(bytes(self._held[:end]))
        del self._held[: end + 4]
        while len(self._held) < size_bytes:
            if not self._more():
                return None
        body = bytes(self._held[:size_bytes])
        del self._held[:size_bytes]
        try:
            message = json.loads(body)
        except ValueError as e:
            raise SunsealError(f"a message of the client is no JSON: {e}") from e
        if not isinstance(message, dict):
            raise SunsealError("a message of the client is no object of JSON")
        return message

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message with the next number; a client that is gone hears nothing."""
        body = json.dumps({"seq": next(self._numbers), "type": kind, **fields}, allow_nan=False).encode()
        self._write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def _more(self) -> bool:
        try:
            got = self._read(CHUNK_BYTES)
        except ConnectionError:
            return False
        self._held += got
        return bool(got)


def _length(header: bytes) -> int:
    for line in header.decode("ascii", errors="replace").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-length":
            digits = value.strip()
            if not digits.isdecimal() or int(digits) > BODY_BYTES_MAX:
                raise SunsealError(
                    f"a message of the client has a length of `{digits}`: at most {BODY_BYTES_MAX} bytes"
                )
            return int(digits)
    raise SunsealError("a header of the client lacks Content-Length; is it a client of the Debug Adapter Protocol?")
