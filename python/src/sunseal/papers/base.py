# SPDX-License-Identifier: MIT OR Apache-2.0
"""The base station of Rizvi et al. 2009: blocks sent over the air to a node that encrypts them.

The host types packets into a mote's serial port, the mote hands them on by its radio, the node answers the same way:
two programs of firmware/base on one air. Stop-and-wait with sequence numbers that count down and ten more tries, as
section II-C of the report has it, and the bounds that it leaves open; or larger packets in a window, which its section
V-D leaves for later, and the joules that either takes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, coprocessor, power_sets
from sunseal.errors import FindingsError, SunsealError, unknown
from sunseal.machine.air import Air
from sunseal.machine.machine import Machine
from sunseal.measurement import references
from sunseal.papers import hdlc

STATION = "mica2"
BAUD = 57_600
SEGMENT_BYTES = 8
PACKET_BYTES_MAX, WINDOW_MAX = 48, 16
"""Most that the firmware takes of a window (message.h, window.h)."""
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
SERIAL_S = 0.05
"""Time for which a serial ACK is waited for before the packet is typed anew: the station may be sending another."""


class Type(IntEnum):
    """Contents of a message; the type of the active message."""

    KEY = 1
    DATA = 2
    RESULT = 3
    ACK = 4
    REFUSED = 5
    FAILED = 6
    START = 7
    DATA_ENDS = 8
    RESULT_ENDS = 9


REFUSALS = {
    1: "the message is longer than its buffer of {figure} segments of 8 bytes",
    2: "its cipher takes a key of {figure} bytes",
    3: "no key came before the data",
    4: "the data are no whole number of blocks of {figure} bytes",
    5: "it takes packets of 8 to {figure} bytes in eights, and windows of 1 to 16",
    6: "no start came before the burst",
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


@dataclass
class Window:
    """Packets that a receiver has, numbered from 0, as firmware/base/window.h keeps them."""

    packets: int
    first: int = 0
    """The first that is missing."""
    beyond: set[int] = field(default_factory=set)
    """Those behind it that are there."""

    def has(self, packet: int) -> bool:
        """Tell whether a packet is there."""
        return packet < self.first or packet in self.beyond

    @property
    def whole(self) -> bool:
        """Tell whether nothing is missing."""
        return self.first == self.packets

    def take(self, packet: int) -> None:
        """Take a packet that has arrived."""
        if packet >= self.first:
            self.beyond.add(packet)
        while self.first in self.beyond:
            self.beyond.remove(self.first)
            self.first += 1

    def pack(self) -> bytes:
        """Write it as an ACK has it."""
        mask = sum(1 << (packet - self.first - 1) for packet in self.beyond)
        return bytes([self.first]) + mask.to_bytes(2)

    def read(self, told: bytes) -> bool:
        """Take over what an ACK tells; False where that is nothing new."""
        first, mask = told[0], int.from_bytes(told[1:3])
        beyond = {first + 1 + i for i in range(WINDOW_MAX) if mask >> i & 1}
        if first > self.packets or first < self.first or (first == self.first and beyond <= self.beyond):
            return False
        self.first, self.beyond = first, beyond
        return True

    def due(self, most: int) -> list[int]:
        """Return the packets of the next burst."""
        return [p for p in range(self.first, min(self.first + most, self.packets)) if not self.has(p)]


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
    packet_bytes: int
    window: int
    """Packets of a burst; 0: stop-and-wait, as the report has it."""
    time_s: float
    """From the first packet to the last result, by the motes' clock."""
    encrypting_s: float
    """Time for which the node's trigger pin was high: loading the key and encrypting."""
    node_j: float
    """Energy of the node for it all, radio and FPGA included."""
    node_radio_j: float
    """Energy of its radio alone, which listens where it does not send."""
    station_j: float
    """Energy of the mote at the serial port."""

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
            "packet_bytes": self.packet_bytes,
            "window": self.window,
            "time_s": self.time_s,
            "encrypting_s": self.encrypting_s,
            "node_j": self.node_j,
            "node_radio_j": self.node_radio_j,
            "station_j": self.station_j,
        }


def _radio_times_s(machine: Machine) -> dict[str, float]:
    """Return for how long a board's radio was in each of its states so far."""
    return {state: ps * 1e-12 for state, ps in _engine.component_states(machine.engine, "radio").items()}


class Meter:
    """Joules of a mote from a moment on: the chip's, its FPGA's, and those of the radio by the states it was in."""

    def __init__(self, machine: Machine) -> None:
        """Begin the account at this moment."""
        assert machine.board is not None
        self.machine, self.board = machine, machine.board
        self._begun, self._radio_s = machine.engine.moment(), _radio_times_s(machine)

    def read(self) -> tuple[float, float]:
        """Return what was taken since: of all, and of the radio."""
        weights = power_sets.PowerSet(boards.DEFAULT_POWER, self.board)
        counts = self.machine.engine.counts(self._begun)
        mote = weights.inner.weigh_as_run(coprocessor.without(self.board, counts), self.machine.vcc_v)
        chip = str(boards.board(self.board)["radio"]["part"])
        radio_set = boards.power_set_path(boards.DEFAULT_POWER, chip).stem
        radio_j = 0.0
        for state, time_s in _radio_times_s(self.machine).items():
            if lasted_s := time_s - self._radio_s.get(state, 0.0):
                told = boards.library(), radio_set, chip, "radio", state, self.machine.vcc_v
                radio_j += _engine.state_current_a(*told)[0] * self.machine.vcc_v * lasted_s
        return power_sets.with_coprocessor(mote, self.board, counts).energy_j[0] + radio_j, radio_j


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
        self._kept: list[Message] = []
        """Messages that came while a burst was typed."""
        self._typed: set[int] = set()
        self._meters: tuple[Meter, ...] = ()
        self._spent: tuple[float, tuple[float, float], float] | None = None
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
                    if left == 1:
                        self._done()
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

    # --- In a window -------------------------------------------------------------------------------

    def _burst(self, due: list[int], packets: list[bytes]) -> None:
        """Type packets one behind the other, each when the station has acknowledged the one before."""
        for packet in due:
            kind = Type.DATA_ENDS if packet == due[-1] else Type.DATA
            for _ in range(TRIES):
                serial, acknowledged = self.post(Message(NODE, BASE, kind, packet, packets[packet])), set[int]()
                until = self._typed_until_ps * 1e-12 + SERIAL_S
                while self.station.time_s < until and serial not in acknowledged:
                    self._kept += self._messages(SLICE_S, acknowledged)
                if serial in acknowledged:
                    break
            else:
                raise NoAnswerError(
                    f"the base station does not answer on its serial port: packet {packet} was typed {TRIES} times "
                    "without an ACK"
                )

    def _deliver_in_bursts(self, packets: list[bytes], most: int) -> None:
        """Send what is missing until the node has said that all came; behind a silence the last packet asks again."""
        had, tries = Window(len(packets)), 0
        while not had.whole:
            due = had.due(most)
            self.retries += 1 if tries else sum(packet in self._typed for packet in due)
            self._typed |= set(due)
            self._burst(due[-1:] if tries else due, packets)
            tries += 1
            until = self.station.time_s + ACK_S
            while self.station.time_s < until:
                self._kept += self._messages(SLICE_S, set())
                if any(m.type in (Type.RESULT, Type.RESULT_ENDS, Type.FAILED) for m in self._kept):
                    # All data came: what it answers shows it.
                    return
                told, self._kept = self._kept, []
                for m in told:
                    if m.type == Type.REFUSED:
                        raise NoAnswerError(_refusal(Type.DATA, m.sequence, m))
                    if m.type == Type.ACK and m.body[:1] == bytes([Type.DATA_ENDS]) and had.read(m.body[1:]):
                        tries, until = 0, 0.0
            if tries >= TRIES:
                raise NoAnswerError(
                    f"the node does not answer: packet {due[-1]} of the data was sent {TRIES} times, and the base "
                    "station acknowledged it, but no ACK came over the air",
                    hint="it may be off, out of reach, or run another program",
                )

    def _results_in_bursts(self, packets: list[bytes]) -> list[bytes]:
        """Take results as they come, and say at each burst's end what is there."""
        got, came = dict[int, bytes](), Window(len(packets))
        until = self.station.time_s + RESULT_S
        while self.station.time_s < until:
            told, self._kept = self._kept + self._messages(SLICE_S, set()), []
            for m in told:
                if m.type == Type.FAILED:
                    self.post(Message(NODE, BASE, Type.ACK, m.sequence, bytes([Type.FAILED])))
                    raise NoAnswerError(
                        f"the node's cipher failed with status -{m.body[0]}, as an FPGA does that is off"
                    )
                if m.type not in (Type.RESULT, Type.RESULT_ENDS):
                    continue
                if m.sequence >= len(packets) or len(m.body) != len(packets[m.sequence]):
                    raise NoAnswerError(f"the node gave result {m.sequence} of {len(m.body)} bytes, which is none")
                if not came.has(m.sequence):
                    came.take(m.sequence)
                    got[m.sequence] = m.body
                    until = self.station.time_s + (LINGER_S if came.whole else RESULT_S)
                    if came.whole:
                        self._done()
                if m.type == Type.RESULT_ENDS:
                    body = bytes([Type.RESULT_ENDS]) + came.pack()
                    self.post(Message(NODE, BASE, Type.ACK, m.sequence, body))
        if not came.whole:
            raise NoAnswerError(
                f"the node took {len(packets)} packets and gave {len(got)} results: then none for {RESULT_S:g} s"
            )
        return [got[packet] for packet in range(len(packets))]

    def _done(self) -> None:
        node, station = (meter.read() for meter in self._meters)
        self._spent = self.station.time_s, node, station[0]

    def send(self, text: Text, packet_bytes: int = SEGMENT_BYTES, window: int = 0) -> Sent:
        """Send key and data, and take the results: by stop-and-wait, or so many packets of so many bytes a burst."""
        check_packets(packet_bytes, window)
        size, encrypt = CIPHERS[self.cipher]
        start_s = self.station.time_s
        self._meters = Meter(self.node), Meter(self.station)
        self._kept.clear()
        self._typed.clear()
        if window:
            packets = [text.data[i : i + packet_bytes] for i in range(0, len(text.data), packet_bytes)]
            self.deliver(Type.START, 0, len(text.data).to_bytes(2) + bytes([packet_bytes, window]) + text.key)
            self._deliver_in_bursts(packets, window)
            result = b"".join(self._results_in_bursts(packets))
        else:
            first = None
            for kind, data in ((Type.KEY, text.key), (Type.DATA, text.data)):
                for sequence in reversed(range(len(data) // SEGMENT_BYTES)):
                    first = self.deliver(kind, sequence, data[sequence * SEGMENT_BYTES :][:SEGMENT_BYTES])
            result = b"".join(reversed(self._results(len(text.data) // SEGMENT_BYTES, first)))
        assert self._spent is not None
        ended_s, (node_j, radio_j), station_j = self._spent
        blocks = [text.data[i : i + size] for i in range(0, len(text.data), size)]
        return Sent(
            cipher=self.cipher,
            board=self.board,
            variant=self.variant,
            text=text,
            result=result,
            expected=b"".join(encrypt(text.key, block) for block in blocks),
            packets=self.packets,
            retries=self.retries,
            packet_bytes=packet_bytes,
            window=window,
            time_s=ended_s - start_s,
            encrypting_s=_high_s(self.node, self.trigger),
            node_j=node_j,
            node_radio_j=radio_j,
            station_j=station_j,
        )


SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the losses that a figure is the mean of."""


@cache
def _mean(cipher: str, board: str, data_bytes: int, packet_bytes: int, window: int, loss: float) -> tuple[float, float]:
    """Send bytes that count up; return the node's joules and the seconds, the mean over losses where there are any."""
    key_bytes = 16
    text = Text(bytes(range(key_bytes)), bytes(i % 256 for i in range(data_bytes)))
    seeds = SEEDS if loss else SEEDS[:1]
    found = []
    for seed in seeds:
        sent = Station(cipher, board, seed=seed, frame_loss=loss).send(text, packet_bytes, window)
        if not sent.valid:
            raise SunsealError(f"a result of base-node-{cipher} on {board} is wrong at a loss of {loss:g}")
        found.append((sent.node_j, sent.time_s))
    node_j, time_s = (sum(each) / len(seeds) for each in zip(*found, strict=True))
    return node_j, time_s


def figure(board: str, table: Mapping[str, Any], raw: Mapping[str, Any]) -> tuple[float, str]:
    """Price a way of sending, or set it over another, for a row of data/published."""

    def of(keys: Mapping[str, Any]) -> float:
        asked = {
            key: keys.get(key, table.get(key)) for key in ("cipher", "data_bytes", "packet_bytes", "window", "loss")
        }
        node_j, time_s = _mean(board=board, **asked)
        return node_j if keys["quantity"] == "node_j" else time_s

    told = f"{table['data_bytes']} bytes there and back, the node's radio and chip"
    if raw["loss"]:
        told += f"; mean of {len(SEEDS)} seeds, each frame lost with one chance whatever its length"
    return of(raw) / (of({**raw, **raw["over"]}) if "over" in raw else 1.0), told


def check_packets(packet_bytes: int, window: int) -> None:
    """Refuse packets and windows that the firmware does not take."""
    if not 0 <= window <= WINDOW_MAX:
        raise SunsealError(f"a window holds 1 to {WINDOW_MAX} packets, 0 is stop-and-wait; {window} was given")
    if packet_bytes % SEGMENT_BYTES or not SEGMENT_BYTES <= packet_bytes <= PACKET_BYTES_MAX:
        raise SunsealError(
            f"packets of {packet_bytes} bytes: the node takes {SEGMENT_BYTES} to {PACKET_BYTES_MAX} bytes in eights"
        )
    if packet_bytes != SEGMENT_BYTES and not window:
        raise SunsealError(f"stop-and-wait has segments of {SEGMENT_BYTES} bytes; more go in a window, of 1 at least")


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
    packet_bytes: int = SEGMENT_BYTES,
    window: int = 0,
) -> Sent:
    """Send a file's blocks to a node that encrypts them, and check what comes back."""
    if not distance_m > 0:
        raise SunsealError(f"distance_m is {distance_m:g}; the motes stand more than 0 m apart")
    check_packets(packet_bytes, window)
    chosen = boards.variant(variant, board) if boards.has_firmware(board) else {}
    place = Station(cipher, board, chosen, seed=seed, frame_loss=frame_loss, distance_m=distance_m)
    return place.send(read(path, cipher, place.key_bytes, place.buffer_bytes), packet_bytes, window)
