# SPDX-License-Identifier: MIT OR Apache-2.0
"""Costs of the air for a task: the least output power that carries the distance, and the energy of its messages.

Path loss follows the log-distance law (Rappaport, Wireless Communications, 2nd edition, section 4.9.1) beyond one
metre of free space (Friis).
"""

from __future__ import annotations

import math

from sunseal.planner.plan_requirements import Link
from sunseal.planner.radio import Radio

C_M_S = 299_792_458.0


def loss_db(radio: Radio, link: Link) -> float:
    """Return the path loss of a link by its distance."""
    assert link.distance_m is not None
    metre_db = 20 * math.log10(4 * math.pi * radio.carrier_hz / C_M_S)
    return metre_db + 10 * link.exponent * math.log10(max(link.distance_m, 1e-3))


def least_dbm(radio: Radio, link: Link, more_db: float = 0.0) -> tuple[int | None, float]:
    """Return the least output power that carries a link, None if none does, and what it has to spare, in dB.

    Of a link that names its power the margin is infinite: nothing was asked of it.
    """
    if link.dbm is not None:
        if link.dbm not in radio.send:
            return None, -math.inf
        return link.dbm, math.inf
    need = radio.sensitivity_dbm + loss_db(radio, link) + more_db + link.margin_db
    enough = [dbm for dbm in sorted(radio.send) if dbm >= need]
    return (enough[0], enough[0] - need) if enough else (None, max(radio.send) - need)
