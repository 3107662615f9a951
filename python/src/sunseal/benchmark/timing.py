# SPDX-License-Identifier: MIT OR Apache-2.0
"""CPU time of a run beside that of the yardstick: figures that hold on a busy machine and on another processor."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sunseal import _engine

Row = dict[str, Any]

LEAST_S = 0.9
"""CPU time that a figure is measured for, at least; so is the yardstick beside it."""
ROUNDS = 45
"""As many as a median needs that stays within some percent where ten others want the processor; 15 left 10 %."""


@dataclass(frozen=True)
class Timing:
    """CPU time of a run, and of the yardstick that took turns with it."""

    best_s: float
    """Fastest run of all."""
    spread: float
    """Share by which the median of the rounds lies above the fastest run."""
    rounds: int
    steps: float
    """Time of the run in instructions of the yardstick: the median of the rounds' ratios."""


def _turns_s(run: Callable[[], object], least_s: float, clock_ns: Callable[[], int]) -> list[float]:
    """Return the CPU time of each of as many runs as take `least_s` together, of one at least."""
    turns: list[float] = []
    while not turns or sum(turns) < least_s:
        began_ns = clock_ns()
        run()
        turns.append((clock_ns() - began_ns) * 1e-9)
    return turns


def timed(
    run: Callable[[], object],
    rounds: int = ROUNDS,
    warm: bool = True,
    clock_ns: Callable[[], int] = time.thread_time_ns,
) -> Timing:
    """Time a run in rounds with the yardstick between them, behind a run that decodes and fills caches.

    A run that starts threads of its own is timed by the clock of the process.
    """
    if warm:
        run()
    steps, _ = _engine.yardstick()
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(_turns_s(_engine.yardstick, LEAST_S / ROUNDS, time.thread_time_ns))
        ours.append(_turns_s(run, LEAST_S / ROUNDS, clock_ns))
    return summed_up(ours, theirs, steps)


def summed_up(ours: list[list[float]], theirs: list[list[float]], steps: int) -> Timing:
    """Sum up the rounds of a run and of the yardstick, which executes `steps` instructions a turn.

    A round's median against that of the yardstick beside it says more than the two minima: other work slows both, and
    a minimum is of a moment that the other need not have had.
    """
    medians = [statistics.median(turns) for turns in ours]
    ratios = [median / statistics.median(turns) for median, turns in zip(medians, theirs, strict=True)]
    best_s = min(min(turns) for turns in ours)
    spread = statistics.median(medians) / best_s - 1.0
    return Timing(best_s, spread, len(ours), steps * statistics.median(ratios))


def row(name: str, value: float, unit: str, conditions: str) -> Row:
    """Make a tracked figure that is no speed."""
    return {"name": name, "value": value, "unit": unit, "conditions": conditions}


def rate(name: str, timing: Timing, work: float, unit: str, conditions: str) -> Row:
    """Make a tracked figure of work a second; its ratio is by the yardstick's million instructions a second."""
    return _row(name, timing, (work / timing.best_s, work / timing.steps * 1e6), unit, conditions)


def cost(name: str, timing: Timing, each: float, unit: str, conditions: str) -> Row:
    """Make a tracked figure of time, `each` of a run's; its ratio is times the yardstick's million instructions/s."""
    return _row(name, timing, (timing.best_s * each, timing.steps * each / 1e6), unit, conditions)


def yardstick() -> Row:
    """Return the yardstick's own speed on this machine."""
    steps, _ = _engine.yardstick()
    return rate(
        "yardstick.mips", timed(_engine.yardstick), steps / 1e6, "million instructions/s", "fixed loop of the engine"
    )


def _row(name: str, timing: Timing, figures: tuple[float, float], unit: str, conditions: str) -> Row:
    value, ratio = figures
    rounds = f"{timing.rounds} rounds" if timing.rounds > 1 else "one run"
    told = {"ratio": ratio, "spread": timing.spread, "rounds": timing.rounds}
    return {**row(name, value, unit, f"{conditions}, CPU time, {rounds}"), **told}
