# SPDX-License-Identifier: MIT OR Apache-2.0
"""The base station of Rizvi et al. 2009: blocks sent over the air to a node that encrypts them.

The host types packets into a mote's serial port, the mote hands them on by its radio, the node answers the same way:
two programs of firmware/base on one air. Stop-and-wait with sequence numbers that count down and ten more tries, as
section II-C of the report has it, and the bounds that it leaves open.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from sunseal import boards, coprocessor, hdlc
from sunseal.air import Air
from sunseal.errors import FindingsError, SunsealError, unknown
from sunseal.machine import Machine
from sunseal.measurement import references

STATION = "mica2"
BAUD = 57_600
SEGMENT_BYTES = 8
GROUP, BASE, NODE = 0x22, 1, 2
"""The group of the messages, TinyOS's default, and the motes' addresses (firmware/base/message.h)."""
TRIES = 11
"""The first, and ten more."""
ACK_S = 0.1
"""Time for which an ACK is waited for: two turns of serial port and air take some 40 ms."""
RESULT_S = 2.0
"""Time for which the first result is waited for: the slowest message takes 0.3 s, an FPGA 0.25 s to switch on."""
LINGER_S = 0.3
"""Time for which results are acknowledged behind the last, should its ACK have been lost."""
SLICE_S = 0.001


class Type(IntEnum):
    """Contents of a message; the type of the active message."""

    KEY = 1
    DATA = 2
    RESULT = 3
    ACK = 4
    REFUSED = 5
    FAILED = 6


REFUSALS = {
    1: "the message is longer than its buffer of {figure} segments of 8 bytes",
    2: "its cipher takes a key of {figure} bytes",
    3: "no key came before the data",
    4: "the data are no whole number of blocks of {figure} bytes",
}
"""Meanings of the reasons in a REFUSED."""


CIPHERS: dict[str, tuple[int, Callable[[bytes, bytes], bytes]]] = {
    "aes128": (16, references.aes128_encrypt),
    "xtea": (8, references.xtea_encrypt),
    "present128": (8, references.present_encrypt),
}
"""Bytes of a block, and an implementation that shares nothing with the firmware's."""


@dataclass(frozen=True)
class Message:
    """A message between host and node."""

    to: int
    sender: int
    type: int
    sequence: int
    body: bytes

    def pack(self) -> bytes:
        """Write the active message."""
        head = self.to.to_bytes(2) + self.sender.to_bytes(2) + bytes([1 + len(self.body), GROUP, self.type])
        return head + bytes([self.sequence]) + self.body

    @staticmethod
    def read(data: bytes) -> Message | None:
        """Read an active message of our group; None where it is none."""
        if len(data) < 8 or data[4] != len(data) - 7 or data[5] != GROUP:
            return None
        return Message(int.from_bytes(data[0:2]), int.from_bytes(data[2:4]), data[6], data[7], data[8:])


@dataclass(frozen=True)
class Text:
    """Request of a file, as it is sent."""

    key: bytes
    data: bytes


def cipher_of(name: str) -> tuple[int, Callable[[bytes, bytes], bytes]]:
    """Return a cipher's block and reference."""
    if name not in CIPHERS:
        raise unknown("cipher", name, CIPHERS)
    return CIPHERS[name]


def _hex(line: str, where: str) -> bytes:
    digits = "".join(line.split())
    wrong = next((c for c in digits if c not in "0123456789abcdefABCDEF"), None)
    if wrong is not None:
        raise SunsealError(f"{where} has `{wrong}`, which is no hex digit")
    if len(digits) % 2:
        raise SunsealError(f"{where} has {len(digits)} hex digits, an odd number: two make a byte")
    return bytes.fromhex(digits)


def read(path: str | Path, cipher: str, key_bytes: int, buffer_bytes: int) -> Text:
    """Read the report's file: the key on the first line, then blocks, in hex."""
    block_bytes, _ = cipher_of(cipher)
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be read: {e.strerror or e}") from e
    except UnicodeDecodeError as e:
        raise SunsealError(f"`{path}` is no text of hex digits: byte {e.start} is {e.object[e.start]:#04x}") from e
    if not lines or not lines[0].strip():
        wanted = f"{2 * key_bytes} hex digits for {cipher}"
        raise SunsealError(f"`{path}` has no key: its first line is the key, {wanted}, the others are blocks")
    key = _hex(lines[0], f"line 1 of `{path}`, the key,")
    if len(key) != key_bytes:
        raise SunsealError(f"line 1 of `{path}` is a key of {len(key)} bytes; {cipher} takes one of {key_bytes}")
    data = b""
    for number, line in enumerate(lines[1:], 2):
        blocks = _hex(line, f"line {number} of `{path}`")
        if len(blocks) % block_bytes:
            raise SunsealError(
                f"line {number} of `{path}` has {len(blocks)} bytes; {cipher} works on blocks of {block_bytes}"
            )
        data += blocks
    if not data:
        raise SunsealError(f"`{path}` has a key and no block behind it")
    if len(data) > buffer_bytes:
        raise SunsealError(
            f"`{path}` has {len(data) // block_bytes} blocks of {block_bytes} bytes; the node's buffer of "
            f"{buffer_bytes:,} bytes holds {buffer_bytes // block_bytes}"
        )
    return Text(key, data)


class NoAnswerError(FindingsError):
    """A mote stays silent, or refuses."""


@dataclass(frozen=True)
class Sent:
    """Outcome of a file that was sent."""

    cipher: str
    board: str
    variant: str
    text: Text
    result: bytes
    expected: bytes
    packets: int
    """Packets that the host typed, tries and acknowledgments included."""
    retries: int
    """Repetitions of the host; the node's own are on the air alone."""
    time_s: float
    """From the first packet to the last result, by the motes' clock."""
    encrypting_s: float
    """Time for which the node's trigger pin was high: loading the key and encrypting."""

    @property
    def valid(self) -> bool:
        """Tell whether all blocks are what the independent implementation gives."""
        return self.result == self.expected

    def blocks(self) -> list[tuple[bytes, bytes, bool]]:
        """Return plaintext, result and verdict of each block."""
        size, _ = CIPHERS[self.cipher]
        at = range(0, len(self.text.data), size)
        return [
            (
                self.text.data[i : i + size],
                self.result[i : i + size],
                self.result[i : i + size] == self.expected[i : i + size],
            )
            for i in at
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {
            "cipher": self.cipher,
            "board": self.board,
            "variant": self.variant,
            "blocks": [{"in": p.hex(), "out": c.hex(), "valid": ok} for p, c, ok in self.blocks()],
            "result_valid": self.valid,
            "packets": self.packets,
            "retries": self.retries,
            "time_s": self.time_s,
            "encrypting_s": self.encrypting_s,
        }


class Station:
    """A base station and a node on one air, and the host at the station's serial port."""

    def __init__(
        self,
        cipher: str = "aes128",
        board: str = STATION,
        variant: Mapping[str, str] | None = None,
        *,
        seed: int = 1,
        frame_loss: float = 0.0,
        distance_m: float = 10.0,
        wires: Mapping[str, str] | None = None,
    ) -> None:
        """Put both motes on the air; the node encrypts by its board's variant. Chances come from the seed.

        `wires` are others than the board's, as `Machine` takes them.
        """
        cipher_of(cipher)
        chosen = boards.variant((), board) if variant is None else dict(variant)
        self.cipher, self.board, self.variant = cipher, board, boards.variant_text(chosen)
        program = f"base-node-{cipher}"
        if program not in boards.base_programs(board):
            known = [b for b in boards.names("boards") if program in boards.base_programs(b)]
            raise SunsealError(f"{board} has no program `{program}`; these boards have: {', '.join(known)}")
        self.air = Air(seed, frame_loss=frame_loss)
        self.station = self.air.machine(STATION, boards.firmware_path(STATION, {}, "base-station"))
        elf = boards.firmware_path(board, chosen, program)
        self.node = self.air.machine(
            board, elf, x_m=distance_m, timing={**dict(coprocessor.wires(board, chosen)), **(wires or {})}
        )
        facts = boards.board(board)
        self.trigger = str(facts["trigger"]["pin"])
        self.packets = self.retries = 0
        self._serial = hdlc.Reader()
        self._sequence = 0
        self._typed_until_ps = 0
        # Both radios calibrate first, 60 ms.
        self.air.run(0.1)

    @property
    def key_bytes(self) -> int:
        """Count the bytes that the node keeps for a key."""
        return self.node.engine.symbol("key")[1]

    @property
    def buffer_bytes(self) -> int:
        """Count the bytes that the node keeps for data."""
        return self.node.engine.symbol("buffer")[1]

    # --- The serial port ---------------------------------------------------------------------------

    def type_in(self, data: bytes) -> None:
        """Type bytes into the station's serial port, behind what was typed before."""
        start = max(self.station.engine.time_ps, self._typed_until_ps)
        for byte in data:
            start += 10 * 10**12 // BAUD
            self.station.engine.uart_in("usart0", start, byte)
        self._typed_until_ps = start

    def packets_in(self, time_s: float) -> list[bytes]:
        """Run for a while; return the packets that the station has written meanwhile."""
        self.air.run(time_s)
        written = (byte for _, name, byte, _ in self.station.engine.take_uart() if name == "usart0")
        return [packet for byte in written if (packet := self._serial.take(byte)) is not None]

    def post(self, message: Message) -> int:
        """Type a message in; return the sequence byte that its serial ACK brings."""
        self._sequence = (self._sequence + 1) % 256
        self.packets += 1
        head = bytes([hdlc.PACKET_ACK, self._sequence, hdlc.DISPATCH_MESSAGE])
        self.type_in(hdlc.frame(head + message.pack()))
        return self._sequence

    # --- Stop-and-wait -----------------------------------------------------------------------------

    def _messages(self, time_s: float, acknowledged: set[int]) -> list[Message]:
        found = []
        for packet in self.packets_in(time_s):
            if packet[0] == hdlc.ACK:
                acknowledged.add(packet[1])
            elif packet[:2] == bytes([hdlc.PACKET_NOACK, hdlc.DISPATCH_MESSAGE]):
                message = Message.read(packet[2:])
                if message is not None and message.sender == NODE:
                    found.append(message)
        return found

    def deliver(self, kind: Type, sequence: int, body: bytes) -> Message | None:
        """Send until the node has acknowledged, ten times more at most.

        A result that comes in place of the ACK shows that all data came; it is returned. Raises NoAnswerError.
        """
        heard = False
        for tried in range(TRIES):
            self.retries += tried > 0
            serial, acknowledged = self.post(Message(NODE, BASE, kind, sequence, body)), set[int]()
            until = self._typed_until_ps * 1e-12 + ACK_S
            while self.station.time_s < until:
                for message in self._messages(SLICE_S, acknowledged):
                    if message.type == Type.ACK and message.sequence == sequence and message.body == bytes([kind]):
                        return None
                    if message.type == Type.REFUSED and message.sequence == sequence:
                        raise NoAnswerError(_refusal(kind, sequence, message))
                    if message.type in (Type.RESULT, Type.FAILED) and kind == Type.DATA and sequence == 0:
                        return message
            heard |= serial in acknowledged
        what = f"segment {sequence} of the {kind.name.lower()} was sent {TRIES} times"
        if not heard:
            raise NoAnswerError(f"the base station does not answer on its serial port: {what} without an ACK")
        raise NoAnswerError(
            f"the node does not answer: {what}, and the base station acknowledged it, but no ACK came over the air",
            hint="it may be off, out of reach, or run another program",
        )

    def _results(self, segments: int, first: Message | None) -> list[bytes]:
        """Take results as they count down, acknowledging each."""
        got: list[bytes] = []
        waiting = [] if first is None else [first]
        until = self.station.time_s + RESULT_S
        while True:
            for message in waiting:
                left = segments - len(got)
                if message.type not in (Type.RESULT, Type.FAILED):
                    continue
                if message.type == Type.FAILED:
                    self.post(Message(NODE, BASE, Type.ACK, message.sequence, bytes([Type.FAILED])))
                    raise NoAnswerError(
                        f"the node's cipher failed with status -{message.body[0]}, as an FPGA does that is off"
                    )
                if message.sequence > left or (message.sequence == left and not got):
                    raise NoAnswerError(f"the node gave result {message.sequence} where {left - 1} was due")
                if message.sequence == left - 1:
                    got.append(message.body)
                    until = self.station.time_s + (RESULT_S if left > 1 else LINGER_S)
                self.post(Message(NODE, BASE, Type.ACK, message.sequence, bytes([Type.RESULT])))
            if self.station.time_s >= until:
                break
            waiting = self._messages(SLICE_S, set())
        if len(got) < segments:
            raise NoAnswerError(
                f"the node took {segments} segments and gave {len(got)} results: then none for {RESULT_S:g} s"
            )
        return got

    def send(self, text: Text) -> Sent:
        """Send key and data, and take the results."""
        size, encrypt = CIPHERS[self.cipher]
        start_s = self.station.time_s
        first = None
        for kind, data in ((Type.KEY, text.key), (Type.DATA, text.data)):
            for sequence in reversed(range(len(data) // SEGMENT_BYTES)):
                first = self.deliver(kind, sequence, data[sequence * SEGMENT_BYTES :][:SEGMENT_BYTES])
        results = self._results(len(text.data) // SEGMENT_BYTES, first)
        blocks = [text.data[i : i + size] for i in range(0, len(text.data), size)]
        return Sent(
            cipher=self.cipher,
            board=self.board,
            variant=self.variant,
            text=text,
            result=b"".join(reversed(results)),
            expected=b"".join(encrypt(text.key, block) for block in blocks),
            packets=self.packets,
            retries=self.retries,
            time_s=self.station.time_s - LINGER_S - start_s,
            encrypting_s=_high_s(self.node, self.trigger),
        )


def _refusal(kind: Type, sequence: int, message: Message) -> str:
    reason, figure = message.body[:2]
    why = REFUSALS.get(reason, f"reason {reason}, which is none of firmware/base/message.h").format(figure=figure)
    return f"the node refuses segment {sequence} of the {kind.name.lower()}: {why}"


def _high_s(machine: Machine, pin: str) -> float:
    """Sum up how long a pin was high."""
    edges = [(time_s, level) for time_s, _, name, level in machine.pin_log() if name == pin]
    return sum(down - up for (up, high), (down, _) in itertools.pairwise(edges) if high)


def send(
    path: str | Path,
    cipher: str = "aes128",
    board: str = STATION,
    variant: tuple[str, ...] = (),
    *,
    seed: int = 1,
    frame_loss: float = 0.0,
    distance_m: float = 10.0,
) -> Sent:
    """Send a file's blocks to a node that encrypts them, and check what comes back."""
    if not distance_m > 0:
        raise SunsealError(f"distance_m is {distance_m:g}; the motes stand more than 0 m apart")
    chosen = boards.variant(variant, board) if boards.has_firmware(board) else {}
    place = Station(cipher, board, chosen, seed=seed, frame_loss=frame_loss, distance_m=distance_m)
    return place.send(read(path, cipher, place.key_bytes, place.buffer_bytes))
