# SPDX-License-Identifier: MIT OR Apache-2.0
"""Packets on a serial line as TinyOS 2.1.2 frames them: the host's side of firmware/base/hdlc.c.

TEP 113, and where the code of 2.1.2 differs from it, the code: the CRC covers the protocol byte too.
"""

from __future__ import annotations

import binascii

FLAG, ESCAPE, ESCAPED_BIT = 0x7E, 0x7D, 0x20
ACK, PACKET_ACK, PACKET_NOACK = 0x43, 0x44, 0x45
"""Protocol bytes: an acknowledgment, a packet that wants one, a packet that wants none."""
DISPATCH_MESSAGE = 0
"""An active message follows."""


def frame(packet: bytes) -> bytes:
    """Write flag, packet, CRC, flag; flags and escapes within are escaped."""
    out = bytearray([FLAG])
    for byte in packet + binascii.crc_hqx(packet, 0).to_bytes(2, "little"):
        out += bytes([ESCAPE, byte ^ ESCAPED_BIT]) if byte in (FLAG, ESCAPE) else bytes([byte])
    out.append(FLAG)
    return bytes(out)


class Reader:
    """Reader of what a line brings, byte by byte."""

    def __init__(self) -> None:
        """Begin between two packets."""
        self._bytes = bytearray()
        self._escaped = False
        self.broken = 0
        """Packets whose CRC did not hold."""

    def take(self, byte: int) -> bytes | None:
        """Take a byte; return a packet without its CRC when one is whole."""
        if byte == FLAG:
            whole, aborted = bytes(self._bytes), self._escaped
            self._bytes.clear()
            self._escaped = False
            if not whole:
                return None
            if aborted or len(whole) < 3 or binascii.crc_hqx(whole[:-2], 0).to_bytes(2, "little") != whole[-2:]:
                self.broken += 1
                return None
            return whole[:-2]
        if byte == ESCAPE:
            self._escaped = True
            return None
        self._bytes.append(byte ^ ESCAPED_BIT if self._escaped else byte)
        self._escaped = False
        return None
