# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a message costs on the air, by a radio's currents and the link layer (docs/reference/link.md).

A body goes in fragments, each a packet of its own; behind the last the sender listens for the answer. `message` is
the bare product of bits and power as Piotrowski 2006 has it, for the reproduction alone.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sunseal import _engine, boards, places
from sunseal.errors import SunsealError, unknown


@dataclass(frozen=True)
class Radio:
    """A way to send: a radio of `data/parts`, in one of its bands where it has several."""

    name: str
    part: str
    power_set: str
    """The power set that the part names."""
    carrier_hz: float
    rate_bit_s: float
    """Payload bits a second."""
    receive: str
    """State of the receiver."""
    send: dict[int, str]
    """State of the sender by output power in dBm."""
    asleep: str
    """The state in which it waits with least current."""
    sensitivity_dbm: float
    overhead_bytes: int
    """Bytes of a packet around its frame."""
    wake: tuple[tuple[str, float], ...]
    """States with their times in seconds, from asleep to where a packet can begin."""
    settle: tuple[tuple[str, float], ...]
    """The same before each packet."""
    source: str

    def power_w(self, state: str, vcc_v: float, power_set: str | None = None) -> tuple[float, float, float]:
        """Return what the chip takes in a state: typical, low, high."""
        a = _engine.state_current_a(boards.library(), power_set or self.power_set, self.part, "radio", state, vcc_v)
        return a[0] * vcc_v, a[1] * vcc_v, a[2] * vcc_v

    def asleep_w(self, vcc_v: float) -> tuple[float, float, float]:
        """Return what it takes between messages."""
        return self.power_w(self.asleep, vcc_v)


@places.cached
def radios() -> dict[str, Radio]:
    """Read the messages of the parts that are radios."""
    found = {}
    for part in boards.names("parts"):
        facts: Any = boards.part(part)
        chip = facts.get("radio", {})
        for m in chip.get("message", []):
            found[m["name"]] = Radio(
                name=m["name"],
                part=part,
                power_set=chip["power_set"],
                carrier_hz=m["carrier_MHz"] * 1e6,
                rate_bit_s=m["rate_bit_s"],
                receive=m["receive"],
                send={int(dbm): str(state) for dbm, state in m["send"]},
                asleep=chip["asleep"],
                sensitivity_dbm=float(chip["receiver"]["sensitivity_dBm"]),
                overhead_bytes=int(m["overhead_bytes"]),
                wake=tuple((str(state), float(us) * 1e-6) for state, us in m["wake"]),
                settle=tuple((str(state), float(us) * 1e-6) for state, us in m["settle"]),
                source=m["source"],
            )
    return found


@places.cached
def of_boards() -> dict[str, str]:
    """Return the radio of each board that has one whose messages are priced."""
    tables: Any = {b: boards.board(b).get("radio", {}) for b in boards.names("boards")}
    found = {b: str(t.get("message", t.get("part"))) for b, t in tables.items()}
    return {b: name for b, name in found.items() if name in radios()}


def of_board(board: str) -> Radio:
    """Return the radio of a board that has one whose messages are priced."""
    boards.board_path(board)
    if board not in of_boards():
        raise SunsealError(
            f"{board} has no radio whose messages are priced here; boards that do: {', '.join(of_boards())}"
        )
    return radios()[of_boards()[board]]


@dataclass(frozen=True)
class Message:
    """A message on the air."""

    radio: str
    bits: int
    time_s: float
    send_j: float
    receive_j: float
    power_set: str


def _sending(radio: str, dbm: int) -> Radio:
    """Return a radio that has this output power."""
    if radio not in radios():
        raise unknown("radio", radio, radios())
    way = radios()[radio]
    if dbm not in way.send:
        offered = ", ".join(str(d) for d in sorted(way.send))
        raise SunsealError(f"the {radio} has no output power of {dbm} dBm here; take one of {offered}")
    return way


def message(radio: str, bits: int, dbm: int = 0, vcc_v: float = 3.0, power: str = "datasheet") -> Message:
    """Price a message of so many bits, preamble and turn-round left out as in Piotrowski 2006, section 3.2."""
    way = _sending(radio, dbm)
    power_set = boards.power_set_path(power, way.part).stem
    time_s = bits / way.rate_bit_s
    sending, receiving = (way.power_w(state, vcc_v, power_set)[0] for state in (way.send[dbm], way.receive))
    return Message(radio, bits, time_s, sending * time_s, receiving * time_s, power_set)


# --- The link layer --------------------------------------------------------------------------

HEADER_BYTES, FRAGMENT_BYTES, FRAGMENTS_MAX = 5, 56, 16
"""A frame's header, what it carries, and how many make a message: the table `Packet and frame` of link.md."""
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
    """Of the one that sends the body and listens for the answer."""
    receive_j: Ends
    """Of the one that hears the body and answers."""
    power_set: str

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`: typical energies."""
        return {**asdict(self), "send_j": self.send_j[0], "receive_j": self.receive_j[0]}


@dataclass(frozen=True)
class Prices:
    """What one byte of body, one packet and one message with its answer cost: J and s."""

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
        packets = math.ceil(body_bytes / FRAGMENT_BYTES)
        messages = math.ceil(packets / FRAGMENTS_MAX)

        def total(byte_j: Ends, packet_j: Ends, message_j: Ends) -> Ends:
            parts = zip(byte_j, packet_j, message_j, strict=True)
            typical, low, high = (body_bytes * b + packets * p + messages * m for b, p, m in parts)
            return typical, low, high

        return Exchange(
            radio=self.radio.name,
            body_bytes=body_bytes,
            messages=messages,
            packets=packets,
            time_s=body_bytes * self.byte_s + packets * self.packet_s + messages * self.message_s,
            send_j=total(self.send_byte_j, self.send_packet_j, self.send_message_j),
            receive_j=total(self.receive_byte_j, self.receive_packet_j, self.receive_message_j),
            power_set=self.radio.power_set,
        )


def prices(radio: str, dbm: int = 0, vcc_v: float = 3.0, listen_s: float | None = None) -> Prices:
    """Price a radio's bytes, packets and messages; `listen_s` is the window for the answer, else as long as it takes.

    A window is waited out in whole: the answer may come at its end.
    """
    way = _sending(radio, dbm)
    send_w, receive_w = way.power_w(way.send[dbm], vcc_v), way.power_w(way.receive, vcc_v)
    byte_s = 8.0 / way.rate_bit_s
    frame_s = (HEADER_BYTES + way.overhead_bytes) * byte_s
    answer_s = frame_s + ANSWER_BYTES * byte_s
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
