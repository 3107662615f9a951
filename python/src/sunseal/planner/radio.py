# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a message costs on the air: bits at a data rate and an output power, by a radio's currents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sunseal import _engine, boards
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
    source: str

    def power_w(self, state: str, vcc_v: float, power_set: str | None = None) -> tuple[float, float, float]:
        """Return what the chip takes in a state: typical, low, high."""
        data = str(boards.home() / "data" / "power")
        a = _engine.state_current_a(data, power_set or self.power_set, self.part, "radio", state, vcc_v)
        return a[0] * vcc_v, a[1] * vcc_v, a[2] * vcc_v

    def asleep_w(self, vcc_v: float) -> tuple[float, float, float]:
        """Return what it takes between messages."""
        return self.power_w(self.asleep, vcc_v)


@cache
def radios() -> dict[str, Radio]:
    """Read the messages of the parts that are radios."""
    found = {}
    for part in boards.names("parts"):
        facts: Any = boards.read_toml(boards.home() / "data" / "parts" / f"{part}.toml")
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
                source=m["source"],
            )
    return found


@cache
def of_boards() -> dict[str, str]:
    """Return the radio of each board that has one whose messages are priced."""
    tables: Any = {b: boards.read_toml(boards.board_path(b)).get("radio", {}) for b in boards.names("boards")}
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


def message(radio: str, bits: int, dbm: int = 0, vcc_v: float = 3.0, power: str = "datasheet") -> Message:
    """Price a message of so many bits, preamble and turn-round left out as in Piotrowski 2006, section 3.2."""
    if radio not in radios():
        raise unknown("radio", radio, radios())
    way = radios()[radio]
    if dbm not in way.send:
        offered = ", ".join(str(d) for d in sorted(way.send))
        raise SunsealError(f"the {radio} has no output power of {dbm} dBm here; take one of {offered}")
    power_set = boards.power_set_path(power, way.part).stem
    time_s = bits / way.rate_bit_s
    sending, receiving = (way.power_w(state, vcc_v, power_set)[0] for state in (way.send[dbm], way.receive))
    return Message(radio, bits, time_s, sending * time_s, receiving * time_s, power_set)
