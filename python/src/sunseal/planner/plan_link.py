# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the air costs a task: the least output power that carries the distance, and the energy of its messages.

Path loss follows the log-distance law (Rappaport, Wireless Communications, 2nd edition, section 4.9.1) beyond one
metre of free space (Friis).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from sunseal import _engine, boards
from sunseal.errors import SunsealError
from sunseal.planner import radio
from sunseal.planner.plan_requirements import Link

C_M_S = 299_792_458.0
Ends = tuple[float, float, float]
"""Typical, low, high."""

ASLEEP = {"cc1000": "power_down", "cc2420": "vreg_off", "cc2500": "sleep", "cc2520": "lpm2"}
"""The state in which a radio waits with least current."""


@dataclass(frozen=True)
class Radio:
    """A board's radio as a planner sees it."""

    name: str
    model: str
    power_set: str
    states: dict[int, str]
    """Output power in dBm to the state that draws for it."""
    receiving: str
    rate_bit_s: float
    carrier_hz: float
    sensitivity_dbm: float

    def power_w(self, state: str, vcc_v: float) -> Ends:
        """Return what the chip takes in a state: typical, low, high."""
        data = str(boards.home() / "data" / "power")
        a = _engine.state_current_a(data, self.power_set, self.model, "radio", state, vcc_v)
        return a[0] * vcc_v, a[1] * vcc_v, a[2] * vcc_v

    def asleep_w(self, vcc_v: float) -> Ends:
        """Return what it takes between messages."""
        return self.power_w(ASLEEP[self.model], vcc_v)

    def loss_db(self, link: Link) -> float:
        """Return the path loss of a link by its distance."""
        assert link.distance_m is not None
        metre_db = 20 * math.log10(4 * math.pi * self.carrier_hz / C_M_S)
        return metre_db + 10 * link.exponent * math.log10(max(link.distance_m, 1e-3))

    def least_dbm(self, link: Link, more_db: float = 0.0) -> tuple[int | None, float]:
        """Return the least output power that carries a link, None if none does, and what it has to spare, in dB.

        Of a link that names its power the margin is infinite: nothing was asked of it.
        """
        if link.dbm is not None:
            if link.dbm not in self.states:
                return None, -math.inf
            return link.dbm, math.inf
        need = self.sensitivity_dbm + self.loss_db(link) + more_db + link.margin_db
        enough = [dbm for dbm in sorted(self.states) if dbm >= need]
        return (enough[0], enough[0] - need) if enough else (None, max(self.states) - need)


@cache
def of_board(board: str) -> Radio:
    """Read the radio of a board."""
    facts: Any = boards.read_toml(boards.board_path(board))
    part = facts.get("radio", {}).get("part")
    if part is None:
        raise SunsealError(f"{board} has no radio, so nothing can be sent")
    return radio_of(part, radio.of_boards().get(board, part))


CARRIERS_HZ = {"cc1000-433": 433e6, "cc1000-868": 868e6, "cc2420": 2.44e9, "cc2500": 2.44e9, "cc2520": 2.44e9}


def radio_of(part: str, name: str) -> Radio:
    """Read a radio of `data/parts`, in the band of `name`."""
    facts: Any = boards.read_toml(boards.home() / "data" / "parts" / f"{part}.toml")
    way = radio.radios()[name]
    return Radio(
        name=name,
        model=facts["radio"]["model"],
        power_set=facts["radio"]["power_set"],
        states=way.send,
        receiving=way.receive,
        rate_bit_s=way.rate_bit_s,
        carrier_hz=CARRIERS_HZ[name],
        sensitivity_dbm=float(facts["radio"]["receiver"]["sensitivity_dBm"]),
    )
