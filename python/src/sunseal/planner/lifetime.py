# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lifetime of a battery under cryptography (Piotrowski 2006, section 4), and what its voltage leaves of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sunseal import _engine
from sunseal.catalog import boards, part_files
from sunseal.errors import SunsealError, unknown
from sunseal.planner.priced import Priced

Array = npt.NDArray[np.float64]
YEAR_S = 365.25 * 86_400.0
SHELF_LIFE_S = 10 * YEAR_S
"""Shelf life that makers promise of primary cells unused: Energizer of its alkaline AA, Panasonic of its lithium coin
cells."""
WARM_C = part_files.WARM_C


def parts_of(kind: str) -> dict[str, dict[str, Any]]:
    """Read the parts that have a table of this name."""
    found = {name: boards.part(name) for name in boards.names("parts")}
    return {name: facts for name, facts in found.items() if kind in facts}


def cells() -> list[str]:
    """List the batteries of `data/parts`."""
    return sorted(parts_of("cell"))


KINDS = ("linear", "assisting")
"""Converters that a battery may have behind it."""


def battery(
    part: str,
    converter: str | None = None,
    temperature_c: float = WARM_C,
    charge: float = 1.0,
    self_discharge: float = 1.0,
) -> _engine.Battery:
    """Return a cell of the library, a converter behind it or none, as the engine has it at a temperature."""
    if "cell" not in _part(part):
        raise unknown("battery", part, parts_of("cell"))
    if converter is not None and converter_kind(converter) not in KINDS:
        fitting = [c for c in parts_of("converter") if converter_kind(c) in KINDS]
        raise unknown("converter of a battery", converter, fitting)
    return _engine.Battery(boards.library(), part, converter, temperature_c, charge, self_discharge)


def converter_kind(part: str) -> str:
    """Return what a converter does: switching, linear, assisting; nothing of a part that is none."""
    return str(_part(part).get("converter", {}).get("kind", ""))


def _part(name: str) -> dict[str, Any]:
    return boards.part(name) if name in boards.names("parts") else {}


class Life(NamedTuple):
    """Lives of batteries under nodes, an array a figure."""

    lasts_s: Array
    """Up to the first time that the heaviest pulse pulls the rail below what the node needs."""
    end_v: Array
    used_j: Array
    left_j: Array
    leak_j: Array
    esr_j: Array
    output_j: Array
    rail_j: Array

    @property
    def drawn_w(self) -> Array:
        """Return what the cell gives on average beside what it loses by itself."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = np.where(self.lasts_s > 0, (self.used_j - self.leak_j) / self.lasts_s, np.inf)
        return found


def lives(
    of: _engine.Battery,
    *,
    vcc_v: Sequence[float] | Array,
    asleep_w: Sequence[float] | Array,
    awake_w: Sequence[float] | Array,
    busy: Sequence[float] | Array,
    peak_w: Sequence[float] | Array,
    needs_v: Sequence[float] | Array,
) -> Life:
    """Ask the engine how long a battery lasts under nodes: each keeps the currents of its powers at `vcc_v`."""
    asked = np.column_stack([vcc_v, asleep_w, awake_w, busy, peak_w, needs_v]).astype(np.float64)
    return Life(*np.frombuffer(of.lasts(np.ascontiguousarray(asked).ravel())).reshape(-1, len(Life._fields)).T)


@dataclass(frozen=True)
class Use:
    """Use of a node: an operation every so often, a packet with it perhaps, and sleep."""

    operation: str
    board: str
    vcc_v: float
    energy_j: float
    time_s: float
    radio_j: float
    radio_s: float
    sleep_w: float
    period_s: float
    """Time from one operation to the next; 0: without pause."""
    beside_w: float = 0.0
    """Power that goes on being drawn beside the CPU while the operation runs (`Asleep.beside_w`)."""
    coprocessor_j: float = 0.0
    """Energy that a coprocessor takes from one operation to the next: its start, or waiting."""
    pulse_w: float = 0.0
    """The heaviest that the radio draws; computing is heavier where that is less."""
    needs_v: float = 0.0
    """The least rail that chip and radio bear at that clock."""
    freq_hz: int = 0

    @property
    def round_j(self) -> float:
        """Energy of an operation with its packet and its coprocessor's start or waiting."""
        return self.energy_j + self.radio_j + self.coprocessor_j

    @property
    def duty(self) -> float:
        """Share of time in which the operation or the radio runs."""
        return 1.0 if self.period_s == 0 else (self.time_s + self.radio_s) / self.period_s

    @property
    def awake_w(self) -> float:
        """Mean power while the operation or the radio runs."""
        return self.round_j / (self.time_s + self.radio_s) + self.beside_w

    @property
    def peak_w(self) -> float:
        """Power of the heaviest pulse."""
        return max(self.awake_w, self.energy_j / self.time_s + self.beside_w, self.pulse_w)

    @property
    def mean_w(self) -> float:
        """Return the mean power of the node."""
        return self.awake_w * self.duty + self.sleep_w * (1.0 - self.duty)


@dataclass(frozen=True)
class Question:
    """Question that was asked."""

    use: Use
    battery: str
    cutoff_v: float
    converter: str | None = None
    temperature_c: float = WARM_C
    charge: float = 1.0
    """Share of what the cell's file says."""

    @property
    def ends_v(self) -> float:
        """Return the rail at which it ends, or the converter comes on: no node works below what it needs."""
        return max(self.cutoff_v, self.use.needs_v)

    @property
    def cell(self) -> _engine.Battery:
        """Return the battery as the engine has it."""
        return battery(self.battery, self.converter, self.temperature_c, self.charge)

    @property
    def title(self) -> str:
        """Return what the cell is called."""
        return str(boards.part(self.battery)["title"])

    @property
    def source(self) -> str:
        """Return where its figures come from."""
        return str(boards.part(self.battery)["cell"]["source"])


@dataclass(frozen=True)
class Lifetime(Priced):
    """The answer, in SI base units; hours and per cent beside them as the paper prints them.

    It ends where the heaviest pulse first pulls the rail below what chip or radio needs, or the cut-off above that.
    """

    battery: str
    temperature_c: float
    cutoff_v: float
    """The rail at which it ends."""
    end_v: float
    """The cell's open voltage there."""
    available_j: float
    """Energy taken out of the cell until then."""
    unused_j: float
    """Energy left in it."""
    operations: float
    lifetime_s: float
    lifetime_h: float
    duty_percent: float
    mean_w: float
    peak_w: float
    radio_share: float
    """Share of an operation's energy."""
    self_discharged_j: float
    resistance_lost_j: float
    converter_lost_j: float
    delivered_j: float
    """Energy that came to the rail."""
    question: Question = field(repr=False)
    supply_remark: str | None = None
    """Remark for the user where the cells' voltage is none that chip or radio bears, or the temperature is not
    counted."""

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


def remarks(asked: Question, high_v: float) -> str | None:
    """Say what of the question is answered otherwise than it was put: `high_v` is what chip and radio bear."""
    use, cell = asked.use, asked.cell
    told = []
    if asked.cutoff_v < use.needs_v - 1e-9:
        told.append(
            f"at {use.freq_hz / 1e6:g} MHz {use.board} needs {use.needs_v:g} V: it ends there, not at the cut-off of "
            f"{asked.cutoff_v:g} V, and what the battery holds below is not counted"
        )
    if cell.full_v > high_v + 1e-9 and (asked.converter is None or converter_kind(asked.converter) == "assisting"):
        told.append(f"the full battery has {cell.full_v:g} V, and {use.board} bears {high_v:g} V: it needs a regulator")
    told += part_files.deaf_to_temperature([asked.battery], asked.temperature_c)
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


def of(asked: Question) -> Lifetime:
    """Let a battery run down, up to the first time that the heaviest pulse pulls the rail below what the node needs."""
    use, ends_v = asked.use, asked.ends_v
    if use.period_s:
        fit(use.operation, use.board, use.time_s + use.radio_s, use.period_s)
    if asked.converter is not None and not ends_v <= use.vcc_v:
        raise SunsealError(
            f"{asked.converter} makes a rail of {use.vcc_v:g} V, and the node stops at {ends_v:g} V; take a lower "
            "cut-off, a lower clock, or a higher `--vcc`"
        )
    cell = asked.cell
    asleep_w = use.sleep_w if use.duty < 1.0 else use.awake_w
    life = lives(
        cell,
        vcc_v=[use.vcc_v],
        asleep_w=[asleep_w],
        awake_w=[use.awake_w],
        busy=[min(use.duty, 1.0)],
        peak_w=[use.peak_w],
        needs_v=[ends_v],
    )
    time_s, end_v, used_j, left_j, leak_j, esr_j, output_j, rail_j = (float(column[0]) for column in life)
    if not time_s > 0.0:
        pulse = f"{use.peak_w / use.vcc_v * 1e3:.3g} mA"
        sagged = f"its heaviest pulse of {pulse} pulls the rail of the full battery below that"
        raise SunsealError(
            f"{asked.title} has at most {cell.full_v:g} V, and the node stops at {ends_v:g} V: it never runs"
            + (f", as {sagged}" if cell.full_v > ends_v else "")
            + "; take a lower cut-off or clock, another battery, or a converter"
        )
    period_s = use.period_s or (use.time_s + use.radio_s)
    return Lifetime(
        battery=asked.battery,
        temperature_c=asked.temperature_c,
        cutoff_v=ends_v,
        end_v=end_v,
        available_j=used_j,
        unused_j=left_j,
        operations=time_s / period_s,
        lifetime_s=time_s,
        lifetime_h=time_s / 3600,
        duty_percent=100 * use.duty,
        mean_w=use.mean_w,
        peak_w=use.peak_w,
        radio_share=use.radio_j / use.round_j,
        self_discharged_j=leak_j,
        resistance_lost_j=esr_j,
        converter_lost_j=output_j,
        delivered_j=rail_j,
        question=asked,
    )
