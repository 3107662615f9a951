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
    rate_bit_s: float
    """Payload bits a second."""
    receive: str
    """State of the receiver."""
    send: dict[int, str]
    """State of the sender by output power in dBm."""
    source: str


@cache
def radios() -> dict[str, Radio]:
    """Read the messages of the parts that are radios."""
    found = {}
    for part in boards.names("parts"):
        facts: Any = boards.read_toml(boards.home() / "data" / "parts" / f"{part}.toml")
        for m in facts.get("radio", {}).get("message", []):
            send = {int(dbm): str(state) for dbm, state in m["send"]}
            found[m["name"]] = Radio(m["name"], part, m["rate_bit_s"], m["receive"], send, m["source"])
    return found


@cache
def of_boards() -> dict[str, str]:
    """Return the radio of each board that has one whose messages are priced."""
    tables: Any = {b: boards.read_toml(boards.board_path(b)).get("radio", {}) for b in boards.names("boards")}
    found = {b: str(t.get("message", t.get("part"))) for b, t in tables.items()}
    return {b: name for b, name in found.items() if name in radios()}


def of_board(board: str) -> str:
    """Return the radio of a board that has one whose messages are priced."""
    boards.board_path(board)
    if board not in of_boards():
        raise SunsealError(
            f"{board} has no radio whose messages are priced here; boards that do: {', '.join(of_boards())}"
        )
    return of_boards()[board]


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
    data = str(boards.home() / "data" / "power")

    def power_w(state: str) -> float:
        return _engine.state_current_a(data, power_set, way.part, "radio", state, vcc_v)[0] * vcc_v

    time_s = bits / way.rate_bit_s
    return Message(radio, bits, time_s, power_w(way.send[dbm]) * time_s, power_w(way.receive) * time_s, power_set)
