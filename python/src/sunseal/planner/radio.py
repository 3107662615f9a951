# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a message costs on the air: bits at a data rate and an output power, by a radio's currents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sunseal import _engine, boards
from sunseal.errors import SunsealError, unknown

SENDING: dict[str, dict[int, str]] = {
    "cc2420": {
        0: "tx.pa31",
        -1: "tx.pa27",
        -3: "tx.pa23",
        -5: "tx.pa19",
        -7: "tx.pa15",
        -10: "tx.pa11",
        -15: "tx.pa7",
        -25: "tx.pa3",
    },
    "cc1000-433": {
        -20: "tx.433mhz.pa01",
        -5: "tx.433mhz.pa09",
        0: "tx.433mhz.pa0f",
        5: "tx.433mhz.pa70",
        10: "tx.433mhz.paff",
    },
    "cc1000-868": {-20: "tx.868mhz.pa02", -5: "tx.868mhz.pa40", 0: "tx.868mhz.pa80", 5: "tx.868mhz.paff"},
}
"""Output power in dBm to the state of the radio (CC2420: SWRS041B, table 9; CC1000: SWRS048A, table 3)."""
RECEIVING = {"cc2420": "rx", "cc1000-433": "rx.433mhz", "cc1000-868": "rx.868mhz"}
RATE_BIT_S = {"cc2420": 250e3, "cc1000-433": 38.4e3, "cc1000-868": 38.4e3}
"""Payload bits a second: 802.15.4; the CC1000 at 76.8 kBd with Manchester coding."""
OF_BOARD = {"mica2dot": "cc1000-433", "mica2": "cc1000-433", "micaz": "cc2420", "telosb": "cc2420"}


def of_board(board: str) -> str:
    """Return the radio of a board that has one of these."""
    if board not in OF_BOARD:
        raise SunsealError(
            f"{board} has no radio whose messages are priced here; boards that do: {', '.join(OF_BOARD)}"
        )
    return OF_BOARD[board]


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
    if radio not in SENDING:
        raise unknown("radio", radio, SENDING)
    if dbm not in SENDING[radio]:
        offered = ", ".join(str(d) for d in sorted(SENDING[radio]))
        raise SunsealError(f"the {radio} has no output power of {dbm} dBm here; take one of {offered}")
    model = radio.partition("-")[0]
    found: Any = boards.power_set_path(power, model)
    data = str(boards.home() / "data" / "power")

    def power_w(state: str) -> float:
        return _engine.state_current_a(data, found.stem, model, "radio", state, vcc_v)[0] * vcc_v

    time_s = bits / RATE_BIT_S[radio]
    return Message(
        radio, bits, time_s, power_w(SENDING[radio][dbm]) * time_s, power_w(RECEIVING[radio]) * time_s, found.stem
    )
