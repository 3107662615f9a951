# SPDX-License-Identifier: MIT OR Apache-2.0
"""Energy of a coprocessor from one use to the next: switched off and started anew, or left on to wait.

A start is what the workload's own program does from the pin that switches the supply to its trigger: configuration
and the key, which the FPGA loses with its supply. Through the configuration a node sleeps, as that of firmware/base
does, where the bench program waits awake: of the mote the key alone is counted. Regulators are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, coprocessor, power_sets
from sunseal.errors import SunsealError
from sunseal.measurement import measuring

Ends = tuple[float, float, float]
"""Typical, lowest and highest coefficient."""
OFF, ON = "switched off between uses", "left on between uses"
WAITED_S = 0.01
"""So long a waiting FPGA is watched."""


@dataclass(frozen=True)
class Between:
    """Cost of a coprocessor between two uses; energies of mote and FPGA."""

    start_j: Ends
    """All supplies of the FPGA from switching it on until its key is loaded, and the mote that loads it; infinite
    where nothing switches it."""
    start_s: float
    start_awake_s: float
    """Part of that time for which the mote is awake."""
    wait_w: Ends
    """Power of the FPGA alone, on all its supplies."""

    @property
    def pause_s(self) -> float:
        """Return the time between uses from which switching it off saves."""
        return self.start_j[0] / self.wait_w[0]

    def energy_j(self, pause_s: float) -> float:
        """Return what a pause takes: a start behind it, or waiting if that is less."""
        return min(self.start_j[0], self.wait_w[0] * max(pause_s, 0.0))

    def to_dict(self) -> dict[str, float | None]:
        """Return the shape of `--json`."""
        switched = math.isfinite(self.start_j[0])
        return {
            "start_j": self.start_j[0] if switched else None,
            "start_s": self.start_s if switched else None,
            "wait_w": self.wait_w[0],
            "pause_s": self.pause_s if switched else None,
        }


@cache
def _counted(workload: str, board: str, variant: tuple[tuple[str, str], ...], models: str) -> tuple[Any, ...]:
    """Count a workload's program to the supply's pin, configured, to its trigger, and having waited there."""
    ((_, fpga),) = coprocessor.fitted(board).items()
    m = measuring.fed(workload, board, dict(variant))

    def until(pin: str) -> _engine.Counts:
        while not m.pin(pin):
            if m.run(pin=pin, cycles=measuring.CYCLES_MAX).kind != "pin":
                raise SunsealError(
                    f"`{workload}` on {board} never raises {pin}, so its coprocessor's start has no price"
                )
        return m.engine.counts()

    before = configured = None
    if "power" in fpga:
        before = until(fpga["power"])
        if m.run("sunseal_coprocessor_init", cycles=measuring.CYCLES_MAX).kind != "pc":
            raise SunsealError(
                f"`{workload}` on {board} never calls its driver, so its coprocessor's start has no price"
            )
        configured = m.engine.counts()
    started = until(str(boards.board(board)["trigger"]["pin"]))
    # The trigger's rise is in front of the first command: from here the mote does nothing.
    m.engine.set_register("PC", m.address("sunseal_halt"))
    m.run(time_s=WAITED_S)
    return before, configured, started, m.engine.counts()


def _energies(board: str, counts: _engine.Counts) -> Ends:
    price = coprocessor.price(board, counts)
    assert price is not None
    return price["energy_j"], price["energy_low_j"], price["energy_high_j"]


def _less(after: Ends, before: Ends) -> Ends:
    typical, low, high = (a - b for a, b in zip(after, before, strict=True))
    return typical, low, high


def of(
    workload: str,
    board: str,
    variant: tuple[tuple[str, str], ...],
    vcc_v: float | None = None,
    power: str = boards.DEFAULT_POWER,
) -> Between | None:
    """Measure what a board's coprocessor takes between two uses by a workload; None where there is none."""
    if not coprocessor.fitted(board):
        return None
    before, configured, started, waited = _counted(workload, board, variant, coprocessor.models_id(board))
    weights = power_sets.PowerSet(power, board)
    freq_hz, vcc_v = power_sets.operating_point(weights, None, vcc_v)
    resting = _less(_energies(board, waited), _energies(board, started))
    wait_w = (resting[0] / WAITED_S, resting[1] / WAITED_S, resting[2] / WAITED_S)
    if before is None:
        return Between((math.inf, math.inf, math.inf), 0.0, 0.0, wait_w)
    begin, middle, end = (
        weights.inner.weigh(coprocessor.without(board, c), freq_hz, vcc_v) for c in (before, configured, started)
    )
    fpga = _less(_energies(board, started), _energies(board, before))
    start_j = (
        end.energy_j - middle.energy_j + fpga[0],
        end.energy_low_j - middle.energy_low_j + fpga[1],
        end.energy_high_j - middle.energy_high_j + fpga[2],
    )
    return Between(start_j, end.time_s - begin.time_s, end.time_s - middle.time_s, wait_w)
