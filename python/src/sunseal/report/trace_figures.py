# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures of recordings: the power with its windows marked, and measured beside simulated power."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sunseal.catalog.units import PREFIX, show
from sunseal.report import plots
from sunseal.requests import Bench, Trigger
from sunseal.trace.comparing import Comparison
from sunseal.trace.energy import Energy, front, powers
from sunseal.trace.model import Array, Recording, Told

BINS = 1500
"""So many bins a picture has at least, and less than twice as many."""
LABELS_MAX = 8
"""Windows beyond so many are shaded without their energies."""


@dataclass
class Envelope:
    """Least, mean and greatest power in bins of even length, made in one pass over any number of samples."""

    bin_samples: int = 1
    begin_s: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    _rest: list[tuple[Array, Array]] = field(default_factory=list)
    end_s: float = 0.0

    def add(self, time_s: Array, power_w: Array, end_s: float) -> None:
        """Take samples in the order of time."""
        self._rest.append((time_s, power_w))
        self.end_s = end_s
        time = np.concatenate([t for t, _ in self._rest])
        power = np.concatenate([p for _, p in self._rest])
        whole = len(time) // self.bin_samples * self.bin_samples
        self._bins(time[:whole], power[:whole])
        self._rest = [(time[whole:], power[whole:])]
        while len(self.begin_s) >= 2 * BINS:
            self._halve()

    def _bins(self, time: Array, power: Array) -> None:
        if not len(time):
            return
        rows = power.reshape(-1, self.bin_samples)
        self.begin_s += time[:: self.bin_samples].tolist()
        self.least += rows.min(axis=1).tolist()
        self.mean += rows.mean(axis=1).tolist()
        self.most += rows.max(axis=1).tolist()

    def _halve(self) -> None:
        if len(self.begin_s) % 2:  # the last bin goes back into the rest, as its samples are gone, by its mean
            last = (np.full(self.bin_samples, self.begin_s.pop()), np.full(self.bin_samples, self.mean.pop()))
            self.least.pop()
            self.most.pop()
            self._rest.insert(0, last)
        pairs = slice(0, None, 2), slice(1, None, 2)
        self.begin_s = self.begin_s[pairs[0]]
        self.least = [min(a, b) for a, b in zip(self.least[pairs[0]], self.least[pairs[1]], strict=True)]
        self.most = [max(a, b) for a, b in zip(self.most[pairs[0]], self.most[pairs[1]], strict=True)]
        self.mean = [(a + b) / 2 for a, b in zip(self.mean[pairs[0]], self.mean[pairs[1]], strict=True)]
        self.bin_samples *= 2


def envelope(
    recording: Recording,
    bench: Bench,
    trigger: Trigger,
    told: Told | None = None,
    *,
    from_s: float = -np.inf,
    to_s: float = np.inf,
) -> Envelope:
    """Read a recording's power between two times into bins."""
    chain = front(recording, bench, trigger)
    found = Envelope()
    for block, power in powers(recording, chain, told=told):
        inside = (block.time_s >= from_s) & (block.time_s < to_s)
        if inside.any():
            found.add(block.time_s[inside], power[inside], float((block.time_s + block.width_s)[inside][-1]))
    return found


def _scale(most: float, unit: str) -> tuple[float, str]:
    """Return the factor and the name of the unit with the prefix that suits a value."""
    prefix = show(most, unit).partition(" ")[2].removesuffix(unit)
    return 10.0 ** -PREFIX[prefix], prefix + unit


def trace_file(seen: Envelope, measured: Energy, title: str, path: Path) -> None:
    """Draw a recording's power with its windows; the ending of `path` chooses SVG or PNG."""
    plt = plots.pyplot()
    figure, axes = plt.subplots(figsize=(8.4, 3.9), layout="constrained")
    length, time_unit = _scale(max(abs(seen.begin_s[0]), abs(seen.end_s)), "s")
    height, power_unit = _scale(max(seen.most, default=0.0) or 1.0, "W")
    _draw(axes, seen, length, height)
    top = max(seen.most) * height
    named: list[tuple[float, float, str]] = []
    for number, window in enumerate(measured.windows, 1):
        begin, end = window.begin_s * length, (window.begin_s + window.time_s) * length
        axes.axvspan(begin, end, color=plots.SUN, alpha=0.18, linewidth=0)
        if len(measured.windows) <= 4 * LABELS_MAX:  # windows may touch
            axes.axvline(begin, color=plots.SUN, linewidth=0.8)
            axes.axvline(end, color=plots.SUN, linewidth=0.8)
        if len(measured.windows) <= LABELS_MAX:
            named.append((begin, end, f"{number}: {show(window.energy_j, 'J', 3)}"))
    idle = {}
    if measured.idle_w is not None:
        axes.axhline(measured.idle_w * height, color=plots.MUTED, linewidth=0.9, linestyle=":", gid="mark-idle")
        idle[f"idle {show(measured.idle_w, 'W', 3)}"] = measured.idle_w * height
    axes.set(xlabel=f"time [{time_unit}]", ylabel=f"power [{power_unit}]")
    axes.set_xlim(seen.begin_s[0] * length, seen.end_s * length)
    low = min(0.0, min(seen.least) * height)
    axes.set_ylim(low, top * 1.06)
    plots.name_lines(figure, axes, {}, idle, named, title)
    plots.finish(plt, figure, [axes], path)


def _draw(axes: Any, seen: Envelope, length: float, height: float) -> None:
    edges = np.append(seen.begin_s, seen.end_s) * length
    least, mean, most = (np.array(v) * height for v in (seen.least, seen.mean, seen.most))
    if seen.bin_samples > 1:
        axes.fill_between(
            edges,
            np.append(least, least[-1]),
            np.append(most, most[-1]),
            step="post",
            color=plots.STORE,
            alpha=0.35,
            lw=0,
        )
    axes.plot(
        edges,
        np.append(mean, mean[-1]),
        drawstyle="steps-post",
        color=plots.STORE,
        linewidth=1.0,
        label="measured",
        gid="mark-measured",
    )


def comparison_file(seen: Envelope, compared: Comparison, begin_s: float, title: str, path: Path) -> None:
    """Draw one window's measured power over the simulated one, aligned at the trigger's edge."""
    plt = plots.pyplot()
    figure, axes = plt.subplots(figsize=(8.4, 3.9), layout="constrained")
    simulated = compared.simulated
    shifted = Envelope(
        seen.bin_samples,
        [t - begin_s for t in seen.begin_s],
        seen.least,
        seen.mean,
        seen.most,
        end_s=seen.end_s - begin_s,
    )
    length, time_unit = _scale(simulated.end_s, "s")
    height, power_unit = _scale(max([*seen.most, *simulated.power_w]), "W")
    _draw(axes, shifted, length, height)
    axes.plot(
        np.append(simulated.begin_s, simulated.end_s) * length,
        np.append(simulated.power_w, simulated.power_w[-1]) * height,
        drawstyle="steps-post",
        color=plots.BAD,
        linewidth=1.8,
        label="simulated",
        gid="mark-simulated",
    )
    axes.axvspan(0, simulated.time_s * length, color=plots.SUN, alpha=0.14, linewidth=0)
    axes.set(xlabel=f"time from the trigger's edge [{time_unit}]", ylabel=f"power [{power_unit}]", title=title)
    axes.set_xlim(-0.1 * simulated.time_s * length, simulated.end_s * length)
    axes.set_ylim(bottom=min(0.0, min(seen.least) * height))
    figure.legend(frameon=False, loc="outside right upper")
    plots.finish(plt, figure, [axes], path)
