# SPDX-License-Identifier: MIT OR Apache-2.0
"""One description of a picture, drawn by a page or, for a paper, by matplotlib. SI base units throughout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sunseal.catalog.units import show
from sunseal.report import plots

Number = float | None
"""None is a gap in a line."""

MARKS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "cross": "P",
    "x": "x",
    "star": "*",
    "circle-open": "o",
    "diamond-open": "D",
    "square-open": "s",
}
"""A mark's name on a page and its letter in matplotlib."""


RINGS_MAX = 3
"""Most rings around a mark, for marks of as many more traces at the same place."""


@dataclass(frozen=True)
class Trace:
    """A line, or marks, or both."""

    name: str
    x: Sequence[Number]
    y: Sequence[Number]
    color: str
    look: Literal["lines", "markers", "lines+markers"] = "lines+markers"
    mark: str = "circle"
    size: float = 6
    text: Sequence[str] = ()
    """Text that a point shows under the mouse."""
    dash: bool = False
    dots: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, one a label; of several, each stands on those before it, or from `start`."""

    name: str
    at: Sequence[str]
    length: Sequence[float]
    color: str
    start: Sequence[float] | None = None
    text: Sequence[str] = ()


@dataclass(frozen=True)
class Axis:
    """A title, a unit to be written with SI prefixes, and whether it is logarithmic or begins at zero."""

    title: str
    unit: str = ""
    log: bool = False
    zero: bool = False
    whole: bool = False
    """True of counts: ticks stand at whole numbers."""

    def text(self, value: float) -> str:
        """Write a value of it."""
        return show(value, self.unit, 3) if self.unit else f"{value:,.6g}"

    def told(self) -> dict[str, Any]:
        """Describe it for a page."""
        steps = [step * 10**decade for decade in range(10) for step in (1, 2, 5)] if self.whole else None
        return {"title": self.title, "unit": self.unit, "log": self.log, "zero": self.zero, "steps": steps}


@dataclass(frozen=True)
class Chart:
    """Chart, described once, drawn by a page or by matplotlib."""

    x: Axis
    y: Axis
    traces: Sequence[Trace] = ()
    bars: Sequence[Bars] = ()
    title: str = ""
    bands: Sequence[tuple[float, float, str]] = ()
    """Stretches of the x axis with a label each, every other one shaded."""
    x_lines: Mapping[str, float] = field(default_factory=dict)
    y_lines: Mapping[str, float] = field(default_factory=dict)
    height: int = 400
    order: Sequence[str] = ()
    """The bars' labels from the top, where the bars themselves are not in order."""
    caption: str = ""
    """The finding: what the picture shows, in a sentence."""

    @property
    def labels(self) -> list[str]:
        """The bars' labels, from the top."""
        return list(self.order) or list(dict.fromkeys(label for bars in self.bars for label in bars.at))

    def told(self) -> dict[str, Any]:
        """Describe it for a page, which draws it (templates/draw.js)."""
        panel = {
            "y": self.y.told(),
            "traces": [
                plots.line(
                    t.name,
                    t.x,
                    t.y,
                    t.color,
                    look=t.look,
                    mark=t.mark,
                    size=t.size,
                    text=list(t.text) or None,
                    dash=t.dash,
                    dots=t.dots,
                    faint=t.faint,
                    rings=rings,
                )
                for t, rings in zip(self.traces, self.rings(), strict=True)
            ],
            "bars": [
                {
                    "name": b.name,
                    "at": list(b.at),
                    "length": plots.rounded(b.length),
                    "color": plots.on_page(b.color),
                    "start": None if b.start is None else plots.rounded(b.start),
                    "text": list(b.text) or None,
                    "ink": plots.ink_on(b.color),
                }
                for b in self.bars
            ],
            "labels": self.labels,
            "bands": self.bands,
            "x_lines": list(self.x_lines.items()),
            "y_lines": list(self.y_lines.items()),
        }
        return {
            "kind": "chart",
            "name": self.title or f"{self.y.title or 'bars'} over {self.x.title}",
            "height": self.height,
            "x": self.x.told(),
            "panels": [panel],
        }

    def _repr_html_(self) -> str:
        """Show it in a notebook as a page does."""
        from sunseal.report.pieces import alone

        return alone(self.told(), self.caption or self.title)

    def rings(self) -> list[list[int] | None]:
        """Count for each mark the traces that have one at the same place before it: twins become rings."""
        place = self._steps(self.x), self._steps(self.y)
        taken: dict[tuple[int, int], set[int]] = {}
        found: list[list[int] | None] = []
        for i, t in enumerate(self.traces):
            if t.look != "markers" or t.faint or t.mark == "star" or t.mark.endswith("-open"):
                found.append(None)
                continue
            rings = []
            for x, y in zip(t.x, t.y, strict=True):
                there = taken.setdefault((place[0](x), place[1](y)), set())
                rings.append(0 if x is None or y is None else min(len(there - {i}), RINGS_MAX))
                there.add(i)
            found.append(rings if any(rings) else None)
        return found

    def _steps(self, axis: Axis) -> Callable[[Number], int]:
        """Return which of a thousand steps of an axis a value lies on: marks on the same hide each other."""
        along = math.log10 if axis.log else float
        values = [along(v) for v in self._drawn(axis) if not axis.log or v > 0] or [0.0]
        low, width = min(values), (max(values) - min(values)) / 1000 or 1.0

        def step(value: Number) -> int:
            return -1 if value is None or (axis.log and value <= 0) else round((along(value) - low) / width)

        return step

    def _drawn(self, axis: Axis) -> list[float]:
        """Return what is drawn along an axis."""
        values: Iterable[Number] = [v for t in self.traces for v in (t.x if axis is self.x else t.y)]
        if self.bars and axis is self.x:
            values = [v for b in self.bars for v in b.length]
        lines = self.x_lines if axis is self.x else self.y_lines
        return [v for v in (*values, *lines.values()) if v is not None and not math.isnan(v)]

    def _decades(self, axis: Axis) -> tuple[float, float]:
        """Return the ends of a logarithmic axis as exponents: what is drawn, and some room."""
        shown = [math.log10(v) for v in self._drawn(axis) if v > 0] or [0.0]
        room = max(0.06 * (max(shown) - min(shown)), 0.12)
        return min(shown) - room, max(shown) + room

    def _ticks(self, axis: Axis) -> list[float]:
        """Return 1, 2 and 5 of each decade that a logarithmic axis shows; more where these are few, else the ones."""
        low, high = self._decades(axis)
        steps = (1, 1.5, 2, 3, 5, 7) if high - low < 0.8 else (1, 2, 5) if high - low <= 3 else (1,)
        decades = range(math.floor(low), math.ceil(high) + 1)
        every = [float(f"{step}e{decade}") for decade in decades for step in steps]
        return [v for v in every if low <= math.log10(v) <= high]

    def write(self, path: Path) -> None:
        """Draw it as a file; the ending chooses SVG, PNG or PDF. The same chart gives the same bytes."""
        plt = plots.pyplot()
        from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, NullLocator

        figure, axes = plt.subplots(figsize=(7.6, max(self.height / 90, 2.6)), layout="constrained")
        for i, (low, high, _) in enumerate(self.bands):
            if i % 2:
                axes.axvspan(low, high, color=plots.MUTED, alpha=0.14, linewidth=0)
            if i:
                axes.axvline(low, color=plots.MUTED, linewidth=0.8, linestyle=(0, (1, 3)), gid="mark-band")
        for i, (t, rings) in enumerate(zip(self.traces, self.rings(), strict=True)):
            self._draw_trace(axes, t, rings, f"mark-{i}")
        self._draw_bars(axes)
        for value in self.x_lines.values():
            axes.axvline(value, color=plots.BAD, linestyle=":", linewidth=1.2, gid="mark-line")
        for value in self.y_lines.values():
            axes.axhline(value, color=plots.BAD, linestyle=":", linewidth=1.2, gid="mark-line")
        axes.set(xlabel=self.x.title, ylabel=self.y.title)
        for axis, ticks, name in ((self.x, axes.xaxis, "x"), (self.y, axes.yaxis, "y")):
            if self.bars and axis is self.y:
                continue
            if axis.log:
                getattr(axes, f"set_{name}scale")("log")
                getattr(axes, f"set_{name}lim")(*(10.0**end for end in self._decades(axis)))
                ticks.set_major_locator(FixedLocator(self._ticks(axis)))
                ticks.set_minor_locator(NullLocator())
                ticks.set_major_formatter(FuncFormatter(lambda v, _, axis=axis: axis.text(v)))
            else:
                if axis.unit:
                    ticks.set_major_formatter(EngFormatter(axis.unit))
                if axis.whole:
                    ticks.get_major_locator().set_params(integer=True)
                if axis.zero:
                    getattr(axes, f"set_{name}lim")(**{"left" if name == "x" else "bottom": 0})
        if len(self.traces) + len(self.bars) > 1:
            figure.legend(frameon=False, loc="outside right upper", fontsize=7)
        plots.name_lines(figure, axes, self.x_lines, self.y_lines, self.bands, self.title)
        plots.finish(plt, figure, [axes], path, across=not self.bars)

    def _draw_trace(self, axes: Any, t: Trace, rings: Sequence[int] | None, gid: str) -> None:
        """Draw a line or marks; marks on those of a trace before it as rings around them."""
        x, y = ([math.nan if v is None else v for v in values] for values in (t.x, t.y))
        hollow = t.faint or t.mark.endswith("-open")
        looks = {
            "color": t.color,
            "markerfacecolor": "none" if hollow else t.color,
            "linewidth": 1.4,
            "gid": gid,
            "clip_on": False,
        }
        line = {"markers": ""}.get(t.look, "--" if t.dash else ":" if t.dots else "-")
        mark = MARKS[t.mark] if "markers" in t.look else ""
        if rings is None:
            edge = 0.5 if t.faint else 1.0
            axes.plot(
                x, y, linestyle=line, marker=mark, markersize=t.size * 0.6, markeredgewidth=edge, label=t.name, **looks
            )
            return
        for ring in range(max(rings) + 1):
            here = [v if r == ring else math.nan for v, r in zip(y, rings, strict=True)]
            around: dict[str, Any] = {"marker": "o", "markersize": t.size * 0.6 + 3 * ring, "markerfacecolor": "none"}
            shape = around if ring else {"marker": mark, "markersize": t.size * 0.6}
            axes.plot(x, here, linestyle="", label=None if ring else t.name, **{**looks, **shape})

    def _draw_bars(self, axes: Any) -> None:
        labels = self.labels
        ends = dict.fromkeys(labels, 0.0)
        for b in self.bars:
            starts = b.start if b.start is not None else [ends[label] for label in b.at]
            at = [len(labels) - 1 - labels.index(label) for label in b.at]
            drawn = axes.barh(at, b.length, left=starts, height=0.62, color=b.color, label=b.name)
            for bar in drawn:
                bar.set_gid("mark-bar")
            if b.text:
                axes.bar_label(drawn, b.text, label_type="edge", padding=3, fontsize=7, color=plots.INK)
            for label, length in zip(b.at, b.length, strict=True):
                ends[label] += length
        if labels:
            axes.set_yticks(range(len(labels)), labels[::-1])


# --- Energy over operating points ------------------------------------------------------------

Point = Mapping[str, Any]


def by_voltage(points: Sequence[Point]) -> dict[float, list[list[Point]]]:
    """Group a curve by voltage and cut each line where the core voltage level or the wait states change."""
    lines: dict[float, list[list[Point]]] = {}
    for p in sorted(points, key=lambda p: (p["vcc_v"], p["freq_hz"])):
        pieces = lines.setdefault(p["vcc_v"], [[]])
        # Cycles are those of one run: other wait states, other cycles.
        if pieces[-1] and any(pieces[-1][-1].get(key) != p.get(key) for key in ("vcore", "cycles")):
            pieces.append([])
        pieces[-1].append(p)
    return lines


def _throughput(p: Point) -> float:
    return float(1.0 / p["time_s"])


def _clock(p: Point) -> float:
    return float(p["freq_hz"])


def curve(points: Sequence[Point], title: str = "", *, over: Literal["clock", "throughput"] = "clock") -> Chart:
    """Energy per operation over clock or throughput, a line a voltage, broken as `by_voltage` cuts it."""
    place = _clock if over == "clock" else _throughput
    traces = []
    for i, (vcc_v, pieces) in enumerate(by_voltage(points).items()):
        broken: list[Point | None] = []
        for piece in pieces:
            broken += [*([None] if broken else []), *piece]
        traces.append(
            Trace(
                f"{vcc_v:g} V",
                [None if p is None else place(p) for p in broken],
                [None if p is None else p["energy_j"] for p in broken],
                plots.LINES[i % len(plots.LINES)],
                size=5,
                text=["" if p is None else _told(p) for p in broken],
            )
        )
    x = Axis("CPU clock", "Hz", zero=True) if over == "clock" else Axis("throughput [operations a second]", zero=True)
    return Chart(
        x,
        Axis("energy per operation", "J", zero=True),
        traces,
        title=title,
        bands=_levels(points, place),
        caption=_cheapest(points, title),
    )


def _cheapest(points: Sequence[Point], title: str) -> str:
    """Say at which voltage and clock an operation takes least."""
    least = min(points, key=lambda p: p["energy_j"])
    most = max(p["energy_j"] for p in points)
    return (
        f"{title}{': ' * bool(title)}{show(least['energy_j'], 'J', 3)} at {least['vcc_v']:g} V and "
        f"{least['freq_hz'] / 1e6:g} MHz is least, up to {show(most, 'J', 3)} elsewhere"
    )


def _told(p: Point) -> str:
    level = f", VCORE {p['vcore']}" if p["vcore"] else ""
    return f"{p['freq_hz'] / 1e6:g} MHz{level}, {show(p['time_s'], 's', 3)}"


def _levels(points: Sequence[Point], place: Any) -> list[tuple[float, float, str]]:
    """Return each core voltage level with the stretch of the axis that it serves, where there is more than one."""
    top: dict[int, float] = {}
    for p in points:
        top[p["vcore"]] = max(top.get(p["vcore"], 0.0), place(p))
    if len(top) < 2:
        return []
    edges, low = [], 0.0
    for vcore, high in sorted(top.items()):
        edges.append((low, high, f"VCORE {vcore}"))
        low = high
    return edges


# --- What an answer depends on ---------------------------------------------------------------


@dataclass(frozen=True)
class Swing:
    """Answers at both ends of an assumption, whose name says what these are."""

    assumption: str
    outcome_low: float
    outcome_high: float


def tornado(swings: Iterable[Swing], answer: float, axis: Axis, title: str = "") -> Chart:
    """Bars from the answer to what it becomes at each end of an assumption, the widest at the top."""
    ordered = sorted(swings, key=lambda s: -abs(s.outcome_high - s.outcome_low))
    names = [s.assumption for s in ordered]

    def bars(name: str, outcomes: list[float], color: str) -> Bars:
        return Bars(name, names, [o - answer for o in outcomes], color, start=[answer] * len(names))

    return Chart(
        axis,
        Axis(""),
        bars=[
            bars("at the low end", [s.outcome_low for s in ordered], plots.STORE),
            bars("at the high end", [s.outcome_high for s in ordered], plots.SUN),
        ],
        x_lines={"": answer},
        title=title,
        height=150 + 34 * len(names),
        caption=_widest(ordered, axis),
    )


def _widest(ordered: Sequence[Swing], axis: Axis) -> str:
    """Say which assumption moves an answer most, and between which values."""
    if not ordered or ordered[0].outcome_low == ordered[0].outcome_high:
        return "None of these assumptions moves the answer"
    first = ordered[0]
    low, high = (axis.text(float(f"{end:.3g}")) for end in sorted((first.outcome_low, first.outcome_high)))
    return f"Most depends on this: {first.assumption}; it moves the {axis.title} from {low} to {high}"
