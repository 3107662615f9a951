# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sets of coefficients: what they allow of a chip, and what counts of a run weigh by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, coprocessor, places

DEFAULT_FREQ_HZ = 8_000_000
"""Clock where the board's crystal does not say otherwise."""
DEFAULT_VCC_V = 2.2


class PowerSet:
    """A set of coefficients, named by the document it comes from."""

    def __init__(self, name: str, board: str = boards.DEFAULT_BOARD, allow: Sequence[str] = ()) -> None:
        """Load the set `name`, with or without the device in front, for a board's device; see `--allow`."""
        self.board = boards.load(board)
        path = boards.power_set_path(name, self.board.device)
        device = boards.device_path(self.board.device)
        self.inner = _engine.PowerSet(boards.library(), path.stem, str(device), "overclock" in allow)
        self.name = self.inner.name

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Facts of the device's file, read where they are asked for: to price a count takes none of it."""
        return boards.device(self.board.device)

    def cite(self) -> list[str]:
        """Return the documents behind the coefficients."""
        return list(self.inner.cite())


def only_clock_hz(board: _engine.Board) -> int | None:
    """Return the one clock that a board's programs run at: its crystal's, or what they set up beside a coprocessor."""
    if board.clock_hz is not None:
        return board.clock_hz
    return DEFAULT_FREQ_HZ if coprocessor.fitted(board.name) else None


def wait_states(weights: PowerSet, freq_hz: int, vcc_v: float) -> int:
    """Return the wait states that the board's program memory needs at a clock."""
    facts, vcore = weights.facts, weights.inner.check(freq_hz, vcc_v)
    # A clock above the fastest, run by permission, has that one's.
    freq_hz = min(freq_hz, max(hz for hz, _, _ in weights.inner.levels()))
    if "fram" in facts:
        # Half a percent of grace, as the engine gives it: a clock of 16 MHz may be set up as 16.0x.
        return math.ceil(freq_hz / (float(facts["fram"]["access_max_MHz"]) * 1.005e6)) - 1
    limits: list[float] = facts.get("flash", {}).get(f"normal_read_vcore{vcore}_MHz", [math.inf])
    enough = [freq_hz <= limit * 1e6 for limit in limits[:-1]]
    return [*enough, True].index(True)  # a clock above the last, run by permission, has that one's


def operating_point(weights: PowerSet, freq_hz: int | None, vcc_v: float | None) -> tuple[int, float]:
    """Fill in what was not asked for: the board's crystal, or 8 MHz (where its supply does not allow that, as
    many whole megahertz as it does), and the board's supply (on the default board 2.2 V, the thesis's lowest
    for that clock)."""
    board = weights.board
    lowest = DEFAULT_VCC_V if board.name == boards.DEFAULT_BOARD else board.vcc_v
    vcc_v = lowest if vcc_v is None else vcc_v
    fastest = weights.inner.freq_max_hz(vcc_v) // 1_000_000 * 1_000_000 or DEFAULT_FREQ_HZ
    return freq_hz or board.clock_hz or min(DEFAULT_FREQ_HZ, fastest), vcc_v


def curve_voltages(weights: PowerSet) -> list[float]:
    """Return each level's lowest voltage at which the chip also starts, and Mane's 2.7 V."""
    start_v = starts_from_v(weights.board.name)
    return sorted({*(max(v, start_v) for _, v, _ in weights.inner.levels()), 2.7})


@places.cached
def starts_from_v(board: str) -> float:
    """Return the supply from which a board's chip starts, where that is more than it runs at.

    An FR5994's SVSH is on after a reset and lets go at its rising level.
    """
    device = boards.device(boards.board(board)["device"])
    return float(device.get("svs", {}).get("rising_V", 0.0))


@dataclass(frozen=True)
class Weighed:
    """Cost of a run at an operating point, its coprocessor's supplies included."""

    time_s: float
    energy_j: tuple[float, float, float]
    """Typical, lowest and highest coefficient."""


def weighed(weights: PowerSet, board: str, counts: _engine.Counts, freq_hz: int, vcc_v: float) -> Weighed:
    """Weigh a run of a board whole: the chip at a clock and a voltage, a coprocessor on its own supplies."""
    mote = weights.inner.weigh(coprocessor.without(board, counts), freq_hz, vcc_v)
    return with_coprocessor(mote, board, counts)


def with_coprocessor(mote: _engine.Weighed, board: str, counts: _engine.Counts) -> Weighed:
    """Add what a board's coprocessor took, if it has one, to what the chip alone did."""
    joules = mote.energy_j, mote.energy_low_j, mote.energy_high_j
    price = coprocessor.price(board, counts)
    if price is not None:
        own = price["energy_j"], price["energy_low_j"], price["energy_high_j"]
        joules = (joules[0] + own[0], joules[1] + own[1], joules[2] + own[2])
    return Weighed(mote.time_s, joules)


def used(names: list[str], point: _engine.Weighed) -> tuple[str, ...]:
    """Sort out states and events that weighed something: an event by its own name, and with its component."""
    return tuple(sorted(n for n in names if point.by_state_j.get(n, 1.0) > 0))
