# SPDX-License-Identifier: MIT OR Apache-2.0
"""How long a battery lasts under cryptography (Piotrowski 2006, section 4), and what its voltage leaves of it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sunseal import _engine, boards
from sunseal.errors import SunsealError, unknown
from sunseal.planner.priced import Priced

YEAR_S = 365.25 * 86_400.0
SHELF_LIFE_S = 10 * YEAR_S
"""What makers promise of primary cells unused: Energizer of its alkaline AA, Panasonic of its lithium coin cells."""
STEPS = 256
"""Into so many pieces a stretch of the charge is cut."""


def decay_per_s(self_discharge_per_year: float) -> float:
    """Return the rate at which a cell loses charge, as the closed loop has it (`sunseal_power::parts`)."""
    return self_discharge_per_year / YEAR_S


def _parts(kind: str) -> dict[str, dict[str, Any]]:
    """Read the parts that have a table of this name."""
    found = {name: boards.part(name) for name in boards.names("parts")}
    return {name: facts for name, facts in found.items() if kind in facts}


def cells() -> list[str]:
    """List the batteries of `data/parts`."""
    return sorted(_parts("cell"))


@dataclass(frozen=True)
class Cell:
    """A battery of `data/parts`: open-circuit voltage over the charge left, several cells in a row."""

    part: str
    title: str
    capacity_c: float
    """Charge, coulombs."""
    charge: tuple[float, ...]
    """Share of the charge left, rising from 0 to 1."""
    open_v: tuple[float, ...]
    """Voltage of the whole row of cells at each share."""
    self_discharge_per_year: float
    source: str

    @classmethod
    def load(cls, part: str) -> Cell:
        """Read a part that is a cell."""
        cells = _parts("cell")
        if part not in cells:
            raise unknown("battery", part, cells)
        facts = cells[part]["cell"]
        row, yearly = float(facts.get("cells_in_series", 1)), float(facts.get("self_discharge_percent_per_year", 0.0))
        if not 0.0 <= yearly < math.inf:
            raise SunsealError(f"`{part}`: cell.self_discharge_percent_per_year is {yearly:g}; it must be zero or more")
        share, volts = zip(*facts["ocv_V"], strict=True)
        return cls(
            part,
            str(cells[part]["title"]),
            float(facts["capacity_mAh"]) * 3.6,
            tuple(s / 100 for s in share),
            tuple(v * row for v in volts),
            yearly / 100,
            str(facts["source"]),
        )

    def share_above(self, cutoff_v: float) -> float:
        """Return the share of the charge that flows before the voltage has fallen to the cut-off."""
        if cutoff_v <= self.open_v[0]:
            return 1.0
        if cutoff_v >= self.open_v[-1]:
            return 0.0
        return 1.0 - float(np.interp(cutoff_v, self.open_v, self.charge))

    def energy_j(self, cutoff_v: float = 0.0, from_v: float = math.inf) -> float:
        """Return the energy between two open-circuit voltages: the area under the curve."""
        low, high = 1.0 - self.share_above(cutoff_v), 1.0 - self.share_above(from_v)
        if high <= low:
            return 0.0
        q = np.unique([low, high, *[c for c in self.charge if low < c < high]])
        return float(np.trapezoid(np.interp(q, self.charge, self.open_v), q)) * self.capacity_c

    def time_s(self, power_w: float, cutoff_v: float = 0.0, from_v: float = math.inf) -> float:
        """Return how long a load runs between two open-circuit voltages, self-discharge beside it.

        Self-discharge takes its share k of all the charge q that is left, of what lies below the cut-off too: the
        time is the integral of V dq / (P + k q V).
        """
        low, high = 1.0 - self.share_above(cutoff_v), 1.0 - self.share_above(from_v)
        if high <= low:
            return 0.0
        rate = decay_per_s(self.self_discharge_per_year)
        q = np.unique([*np.linspace(low, high, STEPS + 1), *[c for c in self.charge if low < c < high]])
        volts = np.interp(q, self.charge, self.open_v)
        return float(np.trapezoid(volts / (power_w + rate * q * self.capacity_c * volts), q)) * self.capacity_c


@dataclass(frozen=True)
class Boost:
    """A converter that is switched on only when the cells fall below what the node needs."""

    part: str
    quiescent_a: float
    disabled_a: float
    """Own current before it is needed."""
    v_in_min_v: float
    v_in_v: tuple[float, ...]
    current_a: tuple[float, ...]
    share: tuple[tuple[float, ...], ...]

    @classmethod
    def load(cls, part: str) -> Boost:
        """Read a part that is an assisting converter."""
        fitting = {
            name: facts for name, facts in _parts("converter").items() if facts["converter"]["kind"] == "assisting"
        }
        if part not in fitting:
            raise unknown("switched converter", part, fitting)
        facts = fitting[part]["converter"]
        table = facts["efficiency"]
        always_a, _, on_a, off_a = _engine.own_currents_a(boards.library(), None, part)
        return cls(
            part,
            always_a + on_a,
            always_a + off_a,
            float(facts["v_in_min_V"]),
            tuple(map(float, table["v_V"])),
            tuple(float(i) * 1e-3 for i in table["current_mA"]),
            tuple(tuple(float(p) / 100 for p in row) for row in table["percent"]),
        )

    def efficiency(self, v_in_v: float, power_w: float, out_v: float) -> float:
        """Interpolate between the points, over the logarithm of the output current; flat beyond them."""
        i = math.log(max(power_w / out_v, 1e-9))
        by_current = [float(np.interp(i, np.log(self.current_a), row)) for row in self.share]
        return float(np.interp(v_in_v, self.v_in_v, by_current))

    def drawn_w(self, v_in_v: float, power_w: float, out_v: float) -> float:
        """Return what the cells give for a load, the converter's own consumption included."""
        return power_w / self.efficiency(v_in_v, power_w, out_v) + self.quiescent_a * v_in_v


@dataclass(frozen=True)
class Use:
    """What a node does: an operation every so often, a packet with it perhaps, and sleep."""

    operation: str
    board: str
    vcc_v: float
    energy_j: float
    time_s: float
    radio_j: float
    radio_s: float
    sleep_w: float
    period_s: float
    """0: without pause."""
    beside_w: float = 0.0
    """What goes on being drawn beside the CPU while the operation runs (`Asleep.beside_w`)."""
    coprocessor_j: float = 0.0
    """What a coprocessor takes from one operation to the next: its start, or waiting."""

    @property
    def round_j(self) -> float:
        """Energy of an operation with its packet and its coprocessor's start or waiting."""
        return self.energy_j + self.radio_j + self.coprocessor_j

    @property
    def duty(self) -> float:
        """Share of time in which the operation or the radio runs."""
        return 1.0 if self.period_s == 0 else (self.time_s + self.radio_s) / self.period_s

    @property
    def mean_w(self) -> float:
        """Mean power."""
        if self.period_s == 0:
            return self.round_j / (self.time_s + self.radio_s) + self.beside_w
        return self.round_j / self.period_s + self.sleep_w * (1.0 - self.duty) + self.beside_w * self.duty


@dataclass(frozen=True)
class Question:
    """What was asked."""

    use: Use
    cell: Cell
    cutoff_v: float
    boost: Boost | None


@dataclass(frozen=True)
class Lifetime(Priced):
    """The answer, in SI base units; hours and per cent beside them as the paper prints them."""

    battery: str
    cutoff_v: float
    available_j: float
    """Above the cut-off, or above the converter's end; without self-discharge."""
    unused_j: float
    operations: float
    lifetime_s: float
    lifetime_h: float
    duty_percent: float
    mean_w: float
    radio_share: float
    """Of an operation's energy."""
    self_discharged_j: float
    converter_lost_j: float
    question: Question = field(repr=False)
    supply_remark: str | None = None
    """Where the cells' voltage is none that chip or radio bears."""

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        use = self.question.use
        return {
            **self.figures(),
            "sleep_w": use.sleep_w,
            "compute_j": use.energy_j,
            "radio_j": use.radio_j,
            **({"coprocessor_j": use.coprocessor_j, **self.between.to_dict()} if self.between else {}),
            **self.parts(),
            "remark": beyond_shelf_life(self.lifetime_s),
            "unchecked": self.citations.unchecked,
            "assumed": self.citations.assumed,
        }


def beyond_limits(use: Use, cell: Cell, cutoff_v: float, limits_v: tuple[float, float], freq_hz: int) -> str | None:
    """Say where cells straight on the rail leave what chip and radio bear: `limits_v` at that clock."""
    (low_v, high_v), full_v = limits_v, cell.open_v[-1]
    told = []
    if max(cutoff_v, cell.open_v[0]) < low_v - 1e-9:
        told.append(
            f"at {freq_hz / 1e6:g} MHz {use.board} needs {low_v:g} V: what the battery holds between that and the "
            f"cut-off of {cutoff_v:g} V is counted, and cannot be used"
        )
    if full_v > high_v + 1e-9:
        told.append(f"the full battery has {full_v:g} V, and {use.board} bears {high_v:g} V: it needs a regulator")
    return "; ".join(told) or None


def beyond_shelf_life(time_s: float) -> str | None:
    """Say what no maker promises, where a battery is to last longer than its shelf life."""
    if time_s <= SHELF_LIFE_S:
        return None
    return (
        f"{time_s / YEAR_S:.0f} years are more than the ten that makers promise a cell on the shelf: self-discharge is "
        "counted, ageing is not"
    )


def battery_of(board: str) -> str:
    """Return the battery of a board that has one."""
    battery = boards.load(board).battery
    if battery is None:
        raise SunsealError(
            f"{board} has no battery, so nothing says how long it lasts",
            hint="name one with `--battery`, or ask `sunseal size`",
        )
    return battery


def fit(operation: str, board: str, takes_s: float, period_s: float) -> None:
    """Refuse a period that is shorter than the operation with its messages."""
    if takes_s > period_s:
        raise SunsealError(
            f"`{operation}` takes {takes_s:.3g} s on {board} and is asked for every {period_s:g} s: the node cannot do "
            "it; take a period above that, or another operation"
        )


def of(use: Use, cell: Cell, cutoff_v: float, boost: Boost | None = None) -> Lifetime:
    """Let a battery run down: first on the cells alone, then, if there is one, on the switched converter."""
    if use.period_s:
        fit(use.operation, use.board, use.time_s + use.radio_s, use.period_s)
    whole_j, direct_j = cell.energy_j(), cell.energy_j(cutoff_v)
    if direct_j <= 0 and boost is None:
        raise SunsealError(
            f"{cell.title} has at most {cell.open_v[-1]:g} V, and the node stops at {cutoff_v:g} V: it never runs; "
            "take a lower cut-off, another battery, or a switched converter"
        )
    idle_w = 0.0 if boost is None else boost.disabled_a * (cell.open_v[-1] + max(cutoff_v, cell.open_v[0])) / 2
    time_s = cell.time_s(use.mean_w + idle_w, cutoff_v)
    leaked_j, lost_j, available_j = direct_j - (use.mean_w + idle_w) * time_s, idle_w * time_s, direct_j
    if boost is not None:
        # In slices of 50 mV, in which the efficiency changes little, and what is left of one at the end.
        end_v = max(boost.v_in_min_v, cell.open_v[0])
        volts = np.arange(min(cutoff_v, cell.open_v[-1]), end_v, -0.05)
        for high, low in itertools.pairwise([*map(float, volts), end_v]):
            slice_j, drawn_w = cell.energy_j(low, high), boost.drawn_w((high + low) / 2, use.mean_w, use.vcc_v)
            slice_s = cell.time_s(drawn_w, low, high)
            time_s, leaked_j = time_s + slice_s, leaked_j + slice_j - drawn_w * slice_s
            lost_j += (drawn_w - use.mean_w) * slice_s
            available_j += slice_j
    period_s = use.period_s or (use.time_s + use.radio_s)
    return Lifetime(
        battery=cell.part,
        cutoff_v=cutoff_v,
        available_j=available_j,
        unused_j=whole_j - available_j,
        operations=time_s / period_s,
        lifetime_s=time_s,
        lifetime_h=time_s / 3600,
        duty_percent=100 * use.duty,
        mean_w=use.mean_w,
        radio_share=use.radio_j / use.round_j,
        self_discharged_j=leaked_j,
        converter_lost_j=lost_j,
        question=Question(use, cell, cutoff_v, boost),
    )
