# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cost of a message on the air, by a radio's currents and the link layer (docs/reference/link.md).

How long a packet lasts is the engine's to say (`sunseal_radio::MessagePart`): bits at a rate, or LoRa's symbols. A
body goes in fragments, each a packet of its own; behind the last the sender listens for the answer. `message` is the
bare product of bits and power as Piotrowski 2006 has it, for the reproduction alone.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, places, si
from sunseal.errors import SunsealError, unknown

HEADER_BYTES, FRAGMENT_BYTES, FRAGMENTS_MAX = 5, 56, 16
"""A frame's header, what it carries, and how many make a message: the table `Packet and frame` of link.md."""


@dataclass(frozen=True)
class Radio:
    """A way to send: a radio of `data/parts`, in one of its bands where it has several."""

    name: str
    part: str
    device: str
    """The chip that the power set speaks for: another part may have it, too."""
    power_set: str
    """The power set that the part names."""
    carrier_hz: float
    message: str
    """The message's name in the part's file."""
    rate_bit_s: float | None
    """Payload bits a second; none of LoRa, whose packets last whole symbols."""
    receive: str
    """State of the receiver."""
    send: dict[int, str]
    """State of the sender by output power in dBm."""
    asleep: str
    """The state in which it waits with least current."""
    sensitivity_dbm: float
    overhead_bytes: float
    """Bytes of a packet around its frame."""
    fragment_bytes: int
    """Bytes of a body that a packet carries."""
    wake: tuple[tuple[str, float], ...]
    """States with their times in seconds, from asleep to where a packet can begin."""
    settle: tuple[tuple[str, float], ...]
    """The same before each packet."""
    source: str

    def airtime_s(self, frame_bytes: int) -> float:
        """Return how long one packet with a frame of so many bytes is on the air."""
        return _engine.airtime_s(boards.library(), self.part, self.message, frame_bytes)

    def power_w(self, state: str, vcc_v: float, power_set: str | None = None) -> tuple[float, float, float]:
        """Return what the chip takes in a state: typical, low, high."""
        a = _engine.state_current_a(boards.library(), power_set or self.power_set, self.device, "radio", state, vcc_v)
        return a[0] * vcc_v, a[1] * vcc_v, a[2] * vcc_v

    def asleep_w(self, vcc_v: float) -> tuple[float, float, float]:
        """Return what it takes between messages."""
        return self.power_w(self.asleep, vcc_v)


@places.cached
def of_part(part: str) -> dict[str, Radio]:
    """Read the messages of a part, by their names in its file; none of a part that is no radio."""
    chip: Any = boards.part(part).get("radio", {})
    return {
        m["name"]: Radio(
            name=_called(part, m["name"], len(chip["message"])),
            part=part,
            device=chip.get("device", chip["model"]),
            power_set=chip["power_set"],
            carrier_hz=si.carrier_hz(m),
            message=m["name"],
            rate_bit_s=m.get("rate_bit_s"),
            receive=m["receive"],
            send={int(dbm): str(state) for dbm, state in m["send"]},
            asleep=chip["asleep"],
            sensitivity_dbm=si.sensitivity_dbm(m, chip),
            overhead_bytes=float(m.get("overhead_bytes", 0)),
            fragment_bytes=min(
                FRAGMENT_BYTES, int(m.get("frame_max_bytes", HEADER_BYTES + FRAGMENT_BYTES)) - HEADER_BYTES
            ),
            wake=tuple((str(state), float(us) * 1e-6) for state, us in m["wake"]),
            settle=tuple((str(state), float(us) * 1e-6) for state, us in m["settle"]),
            source=m["source"],
        )
        for m in chip.get("message", [])
    }


def _called(part: str, message: str, count: int) -> str:
    """Name a message by its part: two parts may have messages of one name, a copy has those of its original."""
    if count == 1:
        return part
    return message if message.startswith(f"{part}-") else f"{part}-{message}"


@places.cached
def radios() -> dict[str, Radio]:
    """Read the messages of the parts that are radios; a part's own name goes before a band of another's."""
    found: dict[str, Radio] = {}
    for part in boards.names("parts"):
        for one in of_part(part).values():
            if one.name not in found or one.name == part:
                found[one.name] = one
    return found


def _of_table(board: str, other: str | None = None) -> Radio | None:
    """Return the radio that a board's table names, by its part and, where that has several, its message."""
    if other is not None:
        return _carried(board, other)
    table: Any = boards.board(board).get("radio", {})
    ways = of_part(str(table["part"])) if "part" in table else {}
    if "message" in table:
        return ways.get(str(table["message"]))
    return next(iter(ways.values())) if len(ways) == 1 else None


def _carried(board: str, name: str) -> Radio:
    """Return another radio on the board's pins, by its part's name or, where that has several messages, by one's."""
    ways = of_part(name) if name in boards.names("parts") else {}
    if len(ways) > 1:
        raise SunsealError(f"{name} sends in several ways; name one of {', '.join(way.name for way in ways.values())}")
    if not ways and name not in radios():
        raise unknown("radio", name, radios())
    one = next(iter(ways.values())) if ways else radios()[name]
    _engine.carries(boards.library(), boards.board_path(board), one.part)
    return one


@places.cached
def of_boards() -> dict[str, str]:
    """Return the radio of each board that has one whose messages are priced."""
    found = {board: _of_table(board) for board in boards.names("boards")}
    return {board: one.name for board, one in found.items() if one is not None}


def of_board(board: str, other: str | None = None) -> Radio:
    """Return the radio of a board that has one whose messages are priced, or another that it carries instead."""
    boards.board_path(board)
    one = _of_table(board, other)
    if one is None:
        raise SunsealError(
            f"{board} has no radio whose messages are priced here; boards that do: {', '.join(of_boards())}"
        )
    return one


@dataclass(frozen=True)
class Message:
    """A message on the air."""

    radio: str
    bits: int
    time_s: float
    send_j: float
    receive_j: float
    power_set: str


def _sending(radio: str | Radio, dbm: int | None) -> tuple[Radio, int]:
    """Return a radio and an output power that it has: 0 dBm, or the least above, where none is asked for."""
    if isinstance(radio, str) and radio not in radios():
        raise unknown("radio", radio, radios())
    way = radios()[radio] if isinstance(radio, str) else radio
    if dbm is None:
        return way, min((d for d in way.send if d >= 0), default=max(way.send))
    if dbm not in way.send:
        offered = ", ".join(str(d) for d in sorted(way.send))
        raise SunsealError(f"the {way.name} has no output power of {dbm} dBm here; take one of {offered}")
    return way, dbm


def message(radio: str, bits: int, dbm: int = 0, vcc_v: float = 3.0, power: str = "datasheet") -> Message:
    """Price a message of so many bits, preamble and turn-round left out as in Piotrowski 2006, section 3.2."""
    way, dbm = _sending(radio, dbm)
    power_set = boards.power_set_path(power, way.device).stem
    time_s = bits / way.rate_bit_s if way.rate_bit_s else way.airtime_s(math.ceil(bits / 8))
    sending, receiving = (way.power_w(state, vcc_v, power_set)[0] for state in (way.send[dbm], way.receive))
    return Message(way.name, bits, time_s, sending * time_s, receiving * time_s, power_set)


# --- The link layer --------------------------------------------------------------------------

REPORT_BYTES = 14
"""Body of a REPORT without data and signature: node, counter, suite, length of the data."""
ANSWER_BYTES = 13
"""Body of a VERDICT, the gateway's answer."""
TURNROUND_S = 2e-3
"""From the end of a message to the beginning of the gateway's answer."""
Ends = tuple[float, float, float]


@dataclass(frozen=True)
class Exchange:
    """A body on the air with its answer, as the link layer has it: energies typical, lowest, highest."""

    radio: str
    body_bytes: int
    messages: int
    packets: int
    time_s: float
    """With the radio on."""
    send_j: Ends
    """Energy of the one that sends the body and listens for the answer."""
    receive_j: Ends
    """Energy of the one that hears the body and answers."""
    power_set: str

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`: typical energies."""
        return {**asdict(self), "send_j": self.send_j[0], "receive_j": self.receive_j[0]}


@dataclass(frozen=True)
class Prices:
    """Cost of a body on the air, and its parts: J and s.

    Of LoRa, a byte and a packet are a straight line through the steps of its symbols, never below them; `exchange`
    counts the symbols.
    """

    radio: Radio
    byte_s: float
    packet_s: float
    message_s: float
    send_byte_j: Ends
    send_packet_j: Ends
    send_message_j: Ends
    receive_byte_j: Ends
    receive_packet_j: Ends
    receive_message_j: Ends

    heaviest_w: float
    """The most that it draws for it, sending or listening."""

    def exchange(self, body_bytes: int) -> Exchange:
        """Price a body; an empty one is not sent."""
        whole = self.radio.fragment_bytes
        packets = math.ceil(body_bytes / whole)
        messages = math.ceil(packets / FRAGMENTS_MAX)
        # What the straight line has too much.
        spare_s = 0.0
        if self.radio.rate_bit_s is None and packets:
            last = body_bytes - (packets - 1) * whole
            air_s = (packets - 1) * self.radio.airtime_s(HEADER_BYTES + whole)
            air_s += self.radio.airtime_s(HEADER_BYTES + last)
            spare_s = body_bytes * self.byte_s + packets * _frame_s(self.radio) - air_s

        def total(byte_j: Ends, packet_j: Ends, message_j: Ends) -> Ends:
            parts = zip(byte_j, packet_j, message_j, strict=True)
            counted = body_bytes - spare_s / self.byte_s
            typical, low, high = (counted * b + packets * p + messages * m for b, p, m in parts)
            return typical, low, high

        return Exchange(
            radio=self.radio.name,
            body_bytes=body_bytes,
            messages=messages,
            packets=packets,
            time_s=body_bytes * self.byte_s + packets * self.packet_s + messages * self.message_s - spare_s,
            send_j=total(self.send_byte_j, self.send_packet_j, self.send_message_j),
            receive_j=total(self.receive_byte_j, self.receive_packet_j, self.receive_message_j),
            power_set=self.radio.power_set,
        )


@places.cached
def _line(part: str, message: str) -> tuple[float, float]:
    """Return a byte's and an empty frame's time so that no fragment's packet lasts longer than the two say."""
    way = of_part(part)[message]
    if way.rate_bit_s:
        byte_s = 8.0 / way.rate_bit_s
        return byte_s, (HEADER_BYTES + way.overhead_bytes) * byte_s
    air_s = [way.airtime_s(HEADER_BYTES + n) for n in range(way.fragment_bytes + 1)]
    byte_s = (air_s[-1] - air_s[0]) / way.fragment_bytes
    return byte_s, max(s - n * byte_s for n, s in enumerate(air_s))


def _frame_s(way: Radio) -> float:
    return _line(way.part, way.message)[1]


def prices(radio: str | Radio, dbm: int | None = 0, vcc_v: float = 3.0, listen_s: float | None = None) -> Prices:
    """Price a radio's bytes, packets and messages; `listen_s` is the window for the answer, else as long as it takes.

    A window is waited out in whole: the answer may come at its end.
    """
    way, dbm = _sending(radio, dbm)
    send_w, receive_w = way.power_w(way.send[dbm], vcc_v), way.power_w(way.receive, vcc_v)
    byte_s, frame_s = _line(way.part, way.message)
    answer_s = frame_s + ANSWER_BYTES * byte_s if way.rate_bit_s else way.airtime_s(HEADER_BYTES + ANSWER_BYTES)
    window_s = TURNROUND_S + answer_s if listen_s is None else listen_s
    wake_s, settle_s = sum(s for _, s in way.wake), sum(s for _, s in way.settle)

    def joules(*spans: tuple[Ends, float]) -> Ends:
        typical, low, high = (sum(power_w[i] * time_s for power_w, time_s in spans) for i in range(3))
        return typical, low, high

    wake = [(way.power_w(state, vcc_v), time_s) for state, time_s in way.wake]
    settle = [(way.power_w(state, vcc_v), time_s) for state, time_s in way.settle]
    return Prices(
        radio=way,
        byte_s=byte_s,
        packet_s=settle_s + frame_s,
        message_s=wake_s + settle_s + window_s,
        send_byte_j=joules((send_w, byte_s)),
        send_packet_j=joules(*settle, (send_w, frame_s)),
        send_message_j=joules(*wake, *settle, (receive_w, window_s)),
        receive_byte_j=joules((receive_w, byte_s)),
        receive_packet_j=joules((receive_w, settle_s + frame_s)),
        receive_message_j=joules(*wake, *settle, (receive_w, TURNROUND_S), (send_w, answer_s)),
        heaviest_w=max(power_w[0] for power_w, _ in ((send_w, byte_s), (receive_w, window_s), *wake, *settle)),
    )


def added_bytes(work: boards.Workload) -> int:
    """Return what an operation puts on the air beside the data: its signature, its tag, its public key."""
    if work.name == "ldots-sign":
        return LDOTS_BYTES
    if work.operation == "agree":
        return work.input[-1].size
    if work.operation == "tag" or (work.operation.startswith("sign") and work.operation != "sign-offline"):
        return sum(part.size for part in work.output)
    return work.output[-1].size if work.operation == "seal" else 0


LDOTS_BYTES = 8192
"""The bench program gives a digest of the signature: it does not fit into the chip."""
