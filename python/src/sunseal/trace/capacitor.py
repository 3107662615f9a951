# SPDX-License-Identifier: MIT OR Apache-2.0
"""The capacitor method: charge it, run on it alone, measure the voltage left.

Rizvi et al. 2009 wished for it (section V, "Future work") to confirm what their oscilloscope said. As a
calculation, and as an instrument at a simulated board: the board's own ledger says what it should have read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import power_sets
from sunseal.catalog.units import show
from sunseal.errors import SunsealError
from sunseal.trace.energy import ROOT_3, ROOT_12, Term

STEPS = 64
"""Into so many pieces an operation is cut while the voltage falls."""


@dataclass(frozen=True)
class Setup:
    """The capacitor and the voltmeter; tolerances are half widths of uniform distributions."""

    capacitance_f: float
    capacitance_tolerance: float = 0.0
    leak_ohm: float | None = None
    """Resistance that the capacitor's own leakage, and the voltmeter's input, are like."""
    leak_tolerance: float = 0.0
    esr_ohm: float = 0.0
    esr_tolerance: float = 0.0
    meter_gain_tolerance: float = 0.0
    """Gain error of the voltmeter's reading; the same error in both readings."""
    meter_offset_tolerance_v: float = 0.0
    """The same in both readings."""
    resolution_v: float = 0.0
    """One step of the voltmeter; the readings' errors are independent."""


@dataclass(frozen=True)
class Reading:
    """Reading of the method for one operation."""

    v1_v: float
    v2_v: float
    time_s: float
    operations: int
    stored_j: float
    """Energy that left the capacitor."""
    leak_j: float
    esr_j: float
    terms: tuple[Term, ...]
    """Standard uncertainties of the energy of one operation."""

    @property
    def energy_j(self) -> float:
        """Energy of one operation."""
        return (self.stored_j - self.leak_j - self.esr_j) / self.operations

    @property
    def standard_j(self) -> float:
        """Combined standard uncertainty of `energy_j`."""
        return math.hypot(*(t.standard_j for t in self.terms), 0.0)

    @property
    def expanded_j(self) -> float:
        """Twice that: 95 %."""
        return 2.0 * self.standard_j

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints, in SI units."""
        return {
            **{name: value for name, value in vars(self).items() if name != "terms"},
            "energy_j": self.energy_j,
            "standard_uncertainty_j": self.standard_j,
            "expanded_uncertainty_j": self.expanded_j,
            "uncertainty": [vars(t) for t in self.terms],
        }


def calculate(setup: Setup, v1_v: float, v2_v: float, time_s: float = 0.0, operations: int = 1) -> Reading:
    """E = C/2 (V1² - V2²), less what leaked and what fell on the series resistance, of each operation.

    Between the readings the voltage is taken to fall evenly, and the current to be even: leakage takes
    t (V1² + V1 V2 + V2²) / 3R, the series resistance ESR (C (V1 - V2))² / t. Both voltages are those of the
    capacitor at rest, without the current of the load.
    """
    if not v1_v > v2_v >= 0:
        raise SunsealError(
            f"the capacitor had {v1_v:g} V before and {v2_v:g} V after: it must have lost voltage, and keep some"
        )
    if operations < 1:
        raise SunsealError(f"{operations} operations were run; at least one is needed")
    if (setup.leak_ohm is not None or setup.esr_ohm) and not time_s > 0:
        raise SunsealError("leakage and series resistance need the time between the readings", hint="give `--time`")
    c = setup.capacitance_f
    stored = 0.5 * c * (v1_v**2 - v2_v**2)
    leak = time_s * (v1_v**2 + v1_v * v2_v + v2_v**2) / 3 / setup.leak_ohm if setup.leak_ohm else 0.0
    esr = setup.esr_ohm * (c * (v1_v - v2_v)) ** 2 / time_s if setup.esr_ohm else 0.0
    if leak + esr >= stored:
        raise SunsealError(
            f"leakage and series resistance alone take {show(leak + esr, 'J')} of the {show(stored, 'J')} that left "
            "the capacitor, so nothing is left for the operations",
            hint="check the leakage and the time, or run more operations in less time",
        )
    parts = {
        "capacitance": (stored - 2 * esr) * setup.capacitance_tolerance / ROOT_3,
        "voltmeter gain": 2 * (stored - leak - esr) * setup.meter_gain_tolerance / ROOT_3,
        "voltmeter offset": c * (v1_v - v2_v) * setup.meter_offset_tolerance_v / ROOT_3,
        "voltmeter resolution": c * math.hypot(v1_v, v2_v) * setup.resolution_v / ROOT_12,
        "leakage": leak * setup.leak_tolerance / ROOT_3,
        "series resistance": esr * setup.esr_tolerance / ROOT_3,
    }
    terms = tuple(Term(name, abs(value) / operations, "B") for name, value in parts.items() if value)
    return Reading(v1_v, v2_v, time_s, operations, stored, leak, esr, terms)


def capacitance_for(energy_j: float, v1_v: float, v2_v: float) -> float:
    """Return the capacitance from which an energy takes the voltage from `v1_v` to `v2_v`."""
    return 2 * energy_j / (v1_v**2 - v2_v**2)


# --- At a simulated board --------------------------------------------------------------------


@dataclass(frozen=True)
class Virtual:
    """Reading of the instrument at a simulated board, beside the board's ledger."""

    workload: str
    board: str
    freq_hz: int
    power_set: str
    reading: Reading
    ledger_j: float
    """Energy of one operation by the ledger, over the same fall of the voltage."""
    true_v2_v: float
    seed: int | None
    held_j: float
    """In the capacitor at the beginning: the reading is a small difference of two such energies."""

    @property
    def error_j(self) -> float:
        """Return the error of the instrument."""
        return self.reading.energy_j - self.ledger_j

    @property
    def agrees(self) -> bool:
        """Tell whether that lies within the expanded uncertainty and what a double's digits leave of it, step by
        step."""
        rounding_j = 4 * STEPS * float(np.finfo(float).eps) * self.held_j
        return abs(self.error_j) <= self.reading.expanded_j + rounding_j

    @property
    def judged(self) -> Verdict:
        """The verdict: an instrument that disagrees with the ledger beyond its uncertainty is a finding."""
        told = f"the instrument reads {self.error_j / self.ledger_j:+.3%} beside the ledger, more than its uncertainty"
        found = () if self.agrees else (Finding("disagrees", told, self.workload),)
        return Verdict(f"trace capacitor at {self.workload}", 1, found)

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints, in SI units."""
        return {
            **self.judged.to_dict(),
            **{name: getattr(self, name) for name in ("workload", "board", "freq_hz", "power_set", "seed")},
            **self.reading.to_dict(),
            "ledger_j": self.ledger_j,
            "error_j": self.error_j,
            "agrees": self.agrees,
        }


def virtual(
    setup: Setup,
    workload: str,
    *,
    board: str,
    v1_v: float,
    operations: int,
    variant: tuple[str, ...] = (),
    freq_hz: int | None = None,
    power: str = "datasheet",
    seed: int | None = None,
) -> Virtual:
    """Run a workload's board on the capacitor alone, and measure it as the bench would.

    The run is weighed anew at every voltage on the way down. With a seed the true capacitor and voltmeter are
    drawn from the tolerances; without one they are exact, and only the resolution errs.
    """
    from sunseal.catalog import boards
    from sunseal.measurement import measuring

    weights = power_sets.PowerSet(power, board)
    freq_hz, _ = power_sets.operating_point(weights, freq_hz, v1_v)
    program = measuring.builtin(workload, board, boards.variant(variant, board))
    counts, valid = measuring.run(measuring.at_clock(program, weights, freq_hz, v1_v), board)
    if valid is False:
        raise SunsealError(f"`{workload}` gives a wrong result on {board}, so its energy would mean nothing")
    truth = _truth(setup, seed)

    volts, energy, spent_s, cache = v1_v, 0.0, 0.0, {}
    for operation in range(operations):
        for _ in range(STEPS):
            key = round(volts, 4)
            if key not in cache:
                try:
                    cache[key] = weights.inner.weigh(counts, freq_hz, key)
                except Exception as e:
                    raise SunsealError(
                        f"the capacitor has fallen to {volts:.3f} V after {operation} of {operations} operations: {e}",
                        hint="take a larger capacitor, a higher voltage or fewer operations",
                    ) from e
            piece_j, piece_s = cache[key].energy_j / STEPS, cache[key].time_s / STEPS
            current = piece_j / piece_s / volts
            lost = piece_j + truth.esr_ohm * current**2 * piece_s
            if truth.leak_ohm:
                lost += volts**2 / truth.leak_ohm * piece_s
            left = volts**2 - 2 * lost / truth.capacitance_f
            if left <= 0:
                raise SunsealError(
                    f"{show(truth.capacitance_f, 'F')} at {v1_v:g} V are empty after {operation} of {operations} "
                    "operations",
                    hint="take a larger capacitor or fewer operations",
                )
            volts, energy, spent_s = math.sqrt(left), energy + piece_j, spent_s + piece_s
    reading = calculate(setup, truth.read(v1_v), truth.read(volts), spent_s, operations)
    held_j = setup.capacitance_f * v1_v**2 / 2
    return Virtual(workload, board, freq_hz, weights.name, reading, energy / operations, volts, seed, held_j)


@dataclass(frozen=True)
class _Truth:
    """The parts as they really are, unknown to who measures."""

    capacitance_f: float
    leak_ohm: float | None
    esr_ohm: float
    gain: float
    offset_v: float
    resolution_v: float

    def read(self, volts: float) -> float:
        """Show a voltage as the voltmeter does."""
        shown = volts * self.gain + self.offset_v
        return round(shown / self.resolution_v) * self.resolution_v if self.resolution_v else shown


def _truth(setup: Setup, seed: int | None) -> _Truth:
    draws = np.zeros(5) if seed is None else np.random.default_rng(seed).uniform(-1.0, 1.0, 5)
    c, leak, esr, gain, offset = (float(d) for d in draws)
    return _Truth(
        capacitance_f=setup.capacitance_f * (1 + c * setup.capacitance_tolerance),
        leak_ohm=setup.leak_ohm and setup.leak_ohm / (1 + leak * setup.leak_tolerance),
        esr_ohm=setup.esr_ohm * (1 + esr * setup.esr_tolerance),
        gain=1 + gain * setup.meter_gain_tolerance,
        offset_v=offset * setup.meter_offset_tolerance_v,
        resolution_v=setup.resolution_v,
    )
