# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sensors as loads: what a part draws between readings, and what one reading costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sunseal import boards
from sunseal.errors import SunsealError

IDLE = ("shutdown", "standby")
"""States of a part between readings, the least current first."""


@dataclass(frozen=True)
class Sensors:
    """Sensors of a node, each read once an operation."""

    parts: tuple[str, ...]
    idle_w: float
    reading_j: float
    reading_s: float
    """One after the other."""


def of_parts(parts: Iterable[str], vcc_v: float) -> Sensors:
    """Price sensors by the currents and the time of a conversion that their files say, at a supply."""
    named, idle_w, reading_j, reading_s = tuple(parts), 0.0, 0.0, 0.0
    for part in named:
        boards.part_path(part)
        told: Any = boards.part(part).get("peripheral", {})
        current_ua = told.get("current_uA", {})
        idle = next((current_ua[state] for state in IDLE if state in current_ua), None)
        if idle is None or "convert" not in current_ua or "convert_ms" not in told:
            raise SunsealError(
                f"{part} cannot be priced as a sensor: its file needs [peripheral] with convert_ms, and current_uA "
                f"with `convert` and one of {', '.join(IDLE)}"
            )
        if not told["vcc_min_v"] <= vcc_v <= told["vcc_max_v"]:
            raise SunsealError(
                f"{part} works at {told['vcc_min_v']:g} to {told['vcc_max_v']:g} V, and the rail has {vcc_v:g} V; "
                "take another supply by `--vcc`"
            )
        takes_s = told["convert_ms"] * 1e-3
        idle_w += idle * 1e-6 * vcc_v
        reading_j += (current_ua["convert"] - idle) * 1e-6 * vcc_v * takes_s
        reading_s += takes_s
    return Sensors(named, idle_w, reading_j, reading_s)
