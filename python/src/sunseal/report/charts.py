# SPDX-License-Identifier: MIT OR Apache-2.0
"""One description of a picture, drawn by plotly for a page and by matplotlib for a paper. SI base units throughout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sunseal.catalog.units import prefix_of, show
from sunseal.report import plots

if TYPE_CHECKING:
    import plotly.graph_objects as go

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
}
"""A mark's name in plotly and its letter in matplotlib."""


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

    def text(self, value: float) -> str:
        """Write a value of it."""
        return show(value, self.unit, 3) if self.unit else f"{value:,.6g}"


@dataclass(frozen=True)
class _Scale:
    """Scale of an axis: the power of ten by which its figures are divided, and what stands behind each."""

    power: int
    suffix: str

    def of(self, value: Number) -> Any:
        """Return a figure as it is drawn."""
        return value if value is None or self.power == 0 else value / 10.0**self.power


def _pointed(axis: Axis, value: Number) -> str:
    """Write a value under the pointer."""
    if value is None:
        return ""
    return show(value, axis.unit) if axis.unit else f"{value:,.6g}"


@dataclass(frozen=True)
class Chart:
    """Chart, described once and drawn by plotly or matplotlib."""

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

    @property
    def labels(self) -> list[str]:
        """The bars' labels, from the top."""
        return list(self.order) or list(dict.fromkeys(label for bars in self.bars for label in bars.at))

    def figure(self) -> go.Figure:
        """Draw it for a page."""
        import plotly.graph_objects as go

        figure = go.Figure()
        x, y = self._scale(self.x), self._scale(self.y)
        for i, (low, high, label) in enumerate((x.of(a), x.of(b), name) for a, b, name in self.bands):
            if i % 2:
                figure.add_vrect(x0=low, x1=high, fillcolor="rgba(122,135,148,0.12)", line_width=0, layer="below")
            figure.add_annotation(x=(low + high) / 2, y=0.01, yref="paper", yanchor="bottom", text=label, **_LABEL)
        for t in self.traces:
            figure.add_scatter(
                x=[x.of(v) for v in t.x],
                y=[y.of(v) for v in t.y],
                text=list(t.text) or None,
                name=t.name,
                mode=t.look,
                opacity=0.3 if t.faint else 1,
                line={"color": t.color, "width": 2, "dash": "dash" if t.dash else "solid"},
                marker={"symbol": t.mark, "size": t.size, "color": t.color},
                customdata=[(_pointed(self.x, a), _pointed(self.y, b)) for a, b in zip(t.x, t.y, strict=True)],
                hovertemplate="%{customdata[0]}, %{customdata[1]}"
                + ("<br>%{text}" if t.text else "")
                + f"<extra>{t.name}</extra>",
            )
        for b in self.bars:
            figure.add_bar(
                y=list(b.at),
                x=[x.of(v) for v in b.length],
                base=[x.of(v) for v in b.start] if b.start is not None else None,
                text=list(b.text) or None,
                textposition="inside" if b.text else "none",
                insidetextanchor="middle",
                constraintext="inside",
                name=b.name,
                orientation="h",
                marker={"color": b.color},
                customdata=[_pointed(self.x, v) for v in b.length],
                hovertemplate=f"%{{y}}<br>%{{customdata}}<extra>{b.name}</extra>",
            )
        plots.styled(figure)
        for axis, scale, update, lines in (
            (self.x, x, figure.update_xaxes, self.x_lines),
            (self.y, y, figure.update_yaxes, self.y_lines),
        ):
            update(title=axis.title, ticksuffix=scale.suffix, automargin=True, separatethousands=True)
            draw = figure.add_vline if axis is self.x else figure.add_hline
            for name, value in lines.items():
                draw(scale.of(value), line={"color": plots.BAD, "dash": "dot", "width": 1.5})
                # Plotly puts an annotation on a logarithmic axis by its exponent.
                at = math.log10(value) if axis.log else scale.of(value)
                place: dict[str, Any] = (
                    {"x": at, "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "top"}
                    if axis is self.x
                    else {"y": at, "x": 1, "xref": "paper", "xanchor": "right", "yanchor": "bottom"}
                )
                figure.add_annotation(text=name, **place, **_LABEL)
            if axis.log:
                ticks = self._ticks(axis)
                update(
                    type="log",
                    range=self._decades(axis),
                    tickvals=ticks,
                    ticktext=[axis.text(v) for v in ticks],
                    ticksuffix="",
                )
            elif axis.zero:
                update(rangemode="tozero")
        if self.bars:
            figure.update_layout(barmode="overlay" if any(b.start for b in self.bars) else "stack", bargap=0.35)
            figure.update_yaxes(categoryorder="array", categoryarray=self.labels[::-1], ticksuffix="  ")
        if len(self.traces) + len(self.bars) == 1:
            figure.update_layout(showlegend=False)
        top = 16 + 28 * bool(self.title) + 28 * (len(self.traces) + len(self.bars) > 1)
        return figure.update_layout(
            title=self.title or None, margin={"r": 20, "t": top}, height=self.height, legend={"traceorder": "normal"}
        )

    def _drawn(self, axis: Axis) -> list[float]:
        """Return what is drawn along an axis."""
        values: Iterable[Number] = [v for t in self.traces for v in (t.x if axis is self.x else t.y)]
        if self.bars and axis is self.x:
            values = [v for b in self.bars for v in b.length]
        lines = self.x_lines if axis is self.x else self.y_lines
        return [v for v in (*values, *lines.values()) if v is not None and not math.isnan(v)]

    def _scale(self, axis: Axis) -> _Scale:
        """Return how a page draws an axis: a linear one with one prefix, as Plotly puts no space before a unit."""
        if axis.log or not axis.unit:
            return _Scale(0, "")
        power, prefix = prefix_of(max((abs(v) for v in self._drawn(axis)), default=0.0) or 1.0)
        return _Scale(power, f" {prefix}{axis.unit}")

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
        for i, (low, high, label) in enumerate(self.bands):
            if i % 2:
                axes.axvspan(low, high, color=plots.MUTED, alpha=0.1, linewidth=0)
            place = {"xycoords": ("data", "axes fraction"), "ha": "center", "fontsize": 7, "color": plots.MUTED}
            axes.annotate(label, ((low + high) / 2, 0.02), **place)
        for t in self.traces:
            axes.plot(
                [math.nan if v is None else v for v in t.x],
                [math.nan if v is None else v for v in t.y],
                color=t.color,
                linestyle={"markers": ""}.get(t.look, "--" if t.dash else "-"),
                linewidth=1.4,
                marker=MARKS[t.mark] if "markers" in t.look else "",
                markersize=t.size * 0.6,
                markerfacecolor="none" if t.mark.endswith("-open") else t.color,
                alpha=0.3 if t.faint else 1,
                label=t.name,
            )
        self._draw_bars(axes)
        for name, value in self.x_lines.items():
            axes.axvline(value, color=plots.BAD, linestyle=":", linewidth=1)
            axes.annotate(name, (value, 1), xycoords=("data", "axes fraction"), ha="right", va="top", **_SMALL)
        for name, value in self.y_lines.items():
            axes.axhline(value, color=plots.BAD, linestyle=":", linewidth=1)
            axes.annotate(name, (1, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", **_SMALL)
        axes.set(xlabel=self.x.title, ylabel=self.y.title, title=self.title)
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
                if axis.zero:
                    getattr(axes, f"set_{name}lim")(**{"left" if name == "x" else "bottom": 0})
        if len(self.traces) + len(self.bars) > 1:
            figure.legend(frameon=False, loc="outside right upper", fontsize=7)
        plots.finish(plt, figure, [axes], path)

    def _draw_bars(self, axes: Any) -> None:
        labels = self.labels
        ends = dict.fromkeys(labels, 0.0)
        for b in self.bars:
            starts = b.start if b.start is not None else [ends[label] for label in b.at]
            at = [len(labels) - 1 - labels.index(label) for label in b.at]
            drawn = axes.barh(at, b.length, left=starts, height=0.62, color=b.color, label=b.name)
            if b.text:
                axes.bar_label(drawn, b.text, label_type="center", fontsize=7, color=plots.INK)
            for label, length in zip(b.at, b.length, strict=True):
                ends[label] += length
        if labels:
            axes.set_yticks(range(len(labels)), labels[::-1])


_LABEL: dict[str, Any] = {"showarrow": False, "font": {"size": 10, "color": plots.MUTED}}
_SMALL: dict[str, Any] = {"fontsize": 7, "color": plots.MUTED}


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
    return Chart(x, Axis("energy per operation", "J", zero=True), traces, title=title, bands=_levels(points, place))


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
    )
