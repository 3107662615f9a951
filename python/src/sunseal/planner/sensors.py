# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sensors as loads: what a part draws between readings, and what one reading costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sunseal.catalog import boards, part_files
from sunseal.errors import SunsealError


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
        told = part_files.sensor(part)
        if told is None:
            raise SunsealError(
                f"{part} cannot be priced as a sensor: its file needs [peripheral] with convert_ms, and current_uA "
                f"with `convert` and one of {', '.join(part_files.IDLE)}"
            )
        low_v, high_v = told.vcc_v
        if not low_v <= vcc_v <= high_v:
            raise SunsealError(
                f"{part} works at {low_v:g} to {high_v:g} V, and the rail has {vcc_v:g} V; "
                "take another supply by `--vcc`"
            )
        idle_w += told.idle_a * vcc_v
        reading_j += (told.convert_a - told.idle_a) * vcc_v * told.convert_s
        reading_s += told.convert_s
    return Sensors(named, idle_w, reading_j, reading_s)
