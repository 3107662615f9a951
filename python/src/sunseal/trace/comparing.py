# SPDX-License-Identifier: MIT OR Apache-2.0
"""A measured trace beside a simulated one: each window's time, energy and power, and the waveform."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sunseal import _engine
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError
from sunseal.machine import waveforms
from sunseal.machine.machine import Machine
from sunseal.measurement import measuring, oracle
from sunseal.trace.energy import Energy
from sunseal.trace.model import Array

POINTS = 4000
"""So many points a waveform has at most."""


@dataclass(frozen=True)
class Simulated:
    """A workload at an operating point: its figures, and its power over time from the trigger's edge on."""

    workload: str
    board: str
    power_set: str
    freq_hz: int
    vcc_v: float
    cycles: int
    time_s: float
    energy_j: float
    energy_low_j: float
    energy_high_j: float
    begin_s: Array
    """Times at which each stretch of even power begins; the trigger rises at 0."""
    power_w: Array
    end_s: float

    def at(self, time_s: Array) -> Array:
        """Return the power at some times; 0 before the first and after the last stretch."""
        place = np.searchsorted(self.begin_s, time_s, side="right") - 1
        known = (place >= 0) & (time_s < self.end_s)
        return np.where(known, self.power_w[np.maximum(place, 0)], 0.0)


@dataclass(frozen=True)
class Row:
    """One window against the simulation."""

    window: int
    time_s: float
    cycles: float
    energy_j: float
    power_w: float
    time_ratio: float
    energy_ratio: float
    power_ratio: float


@dataclass(frozen=True)
class Comparison:
    """All windows against the simulation; ratios are measured to simulated."""

    measured: Energy
    simulated: Simulated
    rows: tuple[Row, ...]

    @property
    def energy_ratio(self) -> float:
        """Mean measured energy to simulated."""
        return self.measured.energy_j / self.simulated.energy_j

    @property
    def within(self) -> bool:
        """Tell whether the measured energy, with its uncertainty, meets the range of the power set."""
        u = self.measured.expanded_j
        low, high = self.simulated.energy_low_j, self.simulated.energy_high_j
        return self.measured.energy_j + u >= low and self.measured.energy_j - u <= high

    @property
    def judged(self) -> Verdict:
        """The verdict: measured energy outside of the power set's range is a finding."""
        s, u = self.simulated, self.measured.expanded_j
        told = (
            f"{s.workload}: measured {self.measured.energy_j:.4g} J, give or take {u:.2g}, lies outside of "
            f"{s.energy_low_j:.4g} to {s.energy_high_j:.4g} J of {s.power_set}"
        )
        found = () if self.within else (Finding("outside", told, s.workload),)
        return Verdict(f"trace compare with {s.workload}", len(self.rows), found)

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints, in SI units."""
        s = self.simulated
        return {
            **self.judged.to_dict(),
            "measured": self.measured.to_dict(),
            "simulated": {
                "workload": s.workload,
                "board": s.board,
                "power_set": s.power_set,
                "freq_hz": s.freq_hz,
                "vcc_v": s.vcc_v,
                "cycles": s.cycles,
                "time_s": s.time_s,
                "energy_j": s.energy_j,
                "energy_low_j": s.energy_low_j,
                "energy_high_j": s.energy_high_j,
                "power_w": s.energy_j / s.time_s,
            },
            "windows": [vars(r) for r in self.rows],
            "energy_ratio": self.energy_ratio,
            "energy_ratio_uncertainty": self.measured.expanded_j / s.energy_j,
            "within": self.within,
        }


def compare(measured: Energy, simulated: Simulated) -> Comparison:
    """Hold every window of a measurement against a simulation."""
    if measured.idle_subtracted:
        note = "the idle level is subtracted from what was measured, and not from what was simulated"
        raise SunsealError(f"{note}: leave `--subtract-idle` out")
    power = simulated.energy_j / simulated.time_s
    rows = tuple(
        Row(
            window=i,
            time_s=w.time_s,
            cycles=w.time_s * simulated.freq_hz,
            energy_j=w.energy_j,
            power_w=w.power_w,
            time_ratio=w.time_s / simulated.time_s,
            energy_ratio=w.energy_j / simulated.energy_j,
            power_ratio=w.power_w / power,
        )
        for i, w in enumerate(measured.windows, 1)
    )
    return Comparison(measured, simulated, rows)


def simulate(
    workload: str,
    *,
    board: str,
    variant: Sequence[str] = (),
    freq_hz: int | None = None,
    vcc_v: float | None = None,
    power: str = boards.DEFAULT_POWER,
) -> Simulated:
    """Run a workload and weigh what the board did between every two changes of a component's state.

    The energy of counted events, of which no change of state tells the time, lies evenly over the window.
    """
    weights = power_sets.PowerSet(power, board)
    freq_hz, vcc_v = power_sets.operating_point(weights, freq_hz, vcc_v)
    program = measuring.builtin(workload, board, boards.variant(tuple(variant), board))
    program = measuring.at_clock(program, weights, freq_hz, vcc_v)
    counts, valid = measuring.run(program, board)
    if valid is False:
        raise SunsealError(f"`{workload}` gives a wrong result on {board}, so its energy would mean nothing")
    whole = weights.inner.weigh(counts, freq_hz, vcc_v)
    assert program.workload is not None
    changes, edges = _states(board, program.image, oracle.trial(program.workload).fed, weights.board.trigger)
    begin, watts, end = _weighed(changes, edges, counts, weights, freq_hz, vcc_v)
    inside = (begin >= -1e-12) & (begin < whole.time_s - 1e-12)
    lengths = np.diff(np.append(begin, end))
    missing = whole.energy_j - float((watts * lengths)[inside].sum())
    watts = np.where(inside, watts + missing / whole.time_s, watts)
    return Simulated(
        workload,
        board,
        weights.name,
        freq_hz,
        vcc_v,
        counts.cycles,
        whole.time_s,
        whole.energy_j,
        whole.energy_low_j,
        whole.energy_high_j,
        begin,
        watts,
        end,
    )


Change = tuple[int, dict[str, str]]


def _states(board: str, image: bytes, fed: bytes, trigger: str) -> tuple[list[Change], tuple[int, int]]:
    """Return the components' states from each change on, in picoseconds, and when the trigger rose and fell."""
    machine = Machine(board, image)
    machine.write(machine.address("bench_input"), fed)
    machine.write(machine.address("bench_input_len"), len(fed).to_bytes(2, "little"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.vcd"
        machine.waveform(path, pins=[trigger], exact=True)
        told = waveforms.read(path)
    state: dict[str, str] = {}
    changes: list[Change] = []
    rises: list[int] = []
    falls: list[int] = []
    for now, code, value in told.changes:
        scope, name = told.signals[code]
        if scope == "states":
            state[name] = told.states[value]
            if changes and changes[-1][0] == now:
                changes[-1] = (now, dict(state))
            else:
                changes.append((now, dict(state)))
        elif scope == "pins":
            (rises if value else falls).append(now)
    if not rises or not (after := [f for f in falls if f > rises[0]]):
        raise SunsealError(f"the trigger {trigger} of {board} never rose and fell, so there is no window to align")
    return changes, (rises[0], after[0])


def _weighed(
    changes: list[Change],
    edges: tuple[int, int],
    counts: _engine.Counts,
    weights: power_sets.PowerSet,
    freq_hz: int,
    vcc_v: float,
) -> tuple[Array, Array, float]:
    """Weigh every stretch: its beginning from the trigger's edge on, its power, and where the last one ends."""
    told = json.loads(counts.to_json())
    point = {k: told["spans"][0][k] for k in ("mclk_hz", "smclk_hz", "aclk_hz", "vcore")}
    known = {s["component"] for s in told["spans"]}
    rise, fall = edges
    margin = (fall - rise) // 5
    marks = sorted({rise, fall, *(t for t, _ in changes)})
    cuts = [t for t in marks if rise - margin <= t <= fall + margin]
    cuts = [rise - margin, *[t for t in cuts if t > rise - margin], fall + margin]
    cuts = sorted({max(t, 0) for t in cuts})
    begin: list[float] = []
    watts: list[float] = []
    clock = 0.0
    at_rise = 0.0
    cache: dict[str, tuple[float, float]] = {}
    times = [t for t, _ in changes]
    for start, stop in itertools.pairwise(cuts):
        place = int(np.searchsorted(times, start, side="right")) - 1
        state = changes[max(place, 0)][1]
        key = json.dumps(sorted((c, s) for c, s in state.items() if c in known))
        if key not in cache:
            cache[key] = _power(told, json.loads(key), point, weights, freq_hz, vcc_v)
        power, pace = cache[key]
        if start == rise:
            at_rise = clock
        begin.append(clock)
        watts.append(power)
        clock += (stop - start) * 1e-12 * pace
    starts = np.array(begin) - at_rise
    # Asleep, the machine's own time stays as it is: the picture ends a quarter of the window after its fall.
    end = min(clock - at_rise, 1.25 * weights.inner.weigh(counts, freq_hz, vcc_v).time_s)
    shown = starts < end
    return starts[shown], np.array(watts)[shown], end


def _power(
    told: dict[str, Any],
    states: list[list[str]],
    point: dict[str, int],
    weights: power_sets.PowerSet,
    freq_hz: int,
    vcc_v: float,
) -> tuple[float, float]:
    """Return the power of components in some states, and how many seconds one of the machine's is at that clock."""
    cycles, time_ps = point["mclk_hz"], 10**12
    awake = any(c == "cpu" and s.startswith("active") for c, s in states)
    spans = [
        {"component": c, "state": s, **point, "cycles": cycles if awake else 0, "time_ps": time_ps} for c, s in states
    ]
    facts = {**told["facts"], "cycles": cycles if awake else 0, "time_ps": time_ps}
    text = json.dumps({**told, "facts": facts, "spans": spans, "events": {}})
    point_j = weights.inner.weigh(_engine.Counts.from_json(text), freq_hz, vcc_v)
    return point_j.energy_j / point_j.time_s, point_j.time_s
