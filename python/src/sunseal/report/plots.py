# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures: for the report by plotly, as files by matplotlib, flame graphs as plain SVG."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal.catalog.units import prefix_of, show

if TYPE_CHECKING:
    import plotly.graph_objects as go

INK, MUTED, GRID = "#1f2933", "#616e7c", "#d8dde3"
# Told apart by people with any colour vision (after Okabe and Ito), on light and on dark ground.
SUN, STORE, NODE, GOOD, BAD = "#d99000", "#2f7fc1", "#a367b5", "#0b9b76", "#d5542f"
LINES = (STORE, GOOD, SUN, BAD, NODE, "#7a8794")
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

# --- The day ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Day:
    """Figures that the pictures of one simulated day need: hours, volts, watts, events."""

    hour: Sequence[float]
    storage_v: Sequence[float]
    power_hour: Sequence[float]
    panel_w: Sequence[float]
    node_w: Sequence[float]
    events: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By kind: hours. Each kind has a lane of its own."""
    off: Sequence[tuple[float, float]] = ()
    """Hours from and to which the node had no supply."""
    thresholds_v: Mapping[str, float] = field(default_factory=dict)
    uses_j: Mapping[str, float] = field(default_factory=dict)
    """Uses of the day's joules, for the picture in one file."""
    between_v: tuple[Sequence[float], Sequence[float]] = ((), ())
    """Lowest and highest storage voltage within each point."""
    unit: str = "h"
    """Unit of the times: hours, minutes or seconds of a short run, days of a long one."""
    source: str = "panel"
    """Source of the power, in a word or two."""
    by_the_sun: bool = True
    """True if the times are those of a day with its sun; else of the run alone."""

    @property
    def time_title(self) -> str:
        """Return the title of the time axis."""
        if not self.by_the_sun:
            return f"time [{self.unit}]"
        scale = {"h": "hour", "min": "minute", "s": "second"}.get(self.unit)
        return "day" if scale is None else f"{scale} of the day, local standard time"

    @property
    def span(self) -> tuple[float, float]:
        """First and last hour; the hour of an event after the end included."""
        last = max([self.hour[-1], *(h for hours in self.events.values() for h in hours)])
        return min(self.hour[0], *self.hour), last


MARKS = {
    "operation": ("circle", "o", GOOD),
    "message sent": ("square", "s", SUN),
    "challenge answered": ("circle", "o", GOOD),
    "report accepted": ("square", "s", STORE),
    "refused": ("x", "x", BAD),
    "low on energy": ("diamond", "D", MUTED),
    "brown-out": ("triangle-down", "v", BAD),
    "start": ("triangle-up", "^", NODE),
}
DENSE = 60
"""So many events of a kind are drawn as ticks."""
TIMES_MAX = 3000
"""So many events of a kind are drawn."""
POWER_FLOOR_W = 1e-7
"""Lower end of the axis of power: less than the node takes asleep."""


def _lanes(day: Day) -> list[tuple[str, Sequence[float], int]]:
    """Return kind, times and count of what happened; of very many times every so-manieth."""
    known = [k for k in MARKS if day.events.get(k)]
    return [(k, day.events[k][:: -(-len(day.events[k]) // TIMES_MAX)], len(day.events[k])) for k in reversed(known)]


def _above_floor(power_w: Sequence[float]) -> list[float]:
    return [max(p, POWER_FLOOR_W) for p in power_w]


def _draw_lanes(figure: go.Figure, day: Day, lanes: list[tuple[str, Sequence[float], int]]) -> None:
    """Draw a row of marks for each kind of event."""
    for kind, hours, count in lanes:
        symbol, _, color = MARKS[kind]
        dense = len(hours) > DENSE
        figure.add_scatter(
            row=2,
            col=1,
            x=list(hours),
            y=[f"{kind} ({count:,})"] * len(hours),
            mode="markers",
            marker={
                "symbol": "line-ns-open" if dense else symbol,
                "color": color,
                "size": 8,
                "line": {"width": 1, "color": color} if dense else {},
            },
            showlegend=False,
            hovertemplate=f"%{{x:.4f}} {day.unit}<extra>{kind}</extra>",
        )


def day_figure(day: Day, *, slider: bool = False) -> go.Figure:
    """Storage voltage over the day, below it what happened, and the power of source and node."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, row_heights=[0.5, 0.2, 0.3], vertical_spacing=0.05)
    for values, fill in zip(day.between_v, (None, "tonexty"), strict=True):
        if len(values):
            figure.add_scatter(
                row=1,
                col=1,
                x=day.hour,
                y=values,
                mode="lines",
                line={"width": 0},
                fill=fill,
                fillcolor="rgba(47,127,193,0.2)",
                hoverinfo="skip",
                showlegend=False,
            )
    figure.add_scatter(
        row=1,
        col=1,
        x=day.hour,
        y=day.storage_v,
        name="storage voltage",
        mode="lines",
        line={"color": STORE, "width": 2},
        hovertemplate=f"%{{x:.3f}} {day.unit}, %{{y:.3f}} V<extra>storage</extra>",
    )
    for i, (begin, end) in enumerate(day.off):
        figure.add_vrect(
            x0=begin,
            x1=end,
            row=1,
            col=1,
            fillcolor="rgba(213,84,47,0.14)",
            line_width=0,
            layer="below",
            annotation={"text": "no supply", "font": {"size": 11, "color": MUTED}} if i == 0 else None,
        )
    for name, volts in day.thresholds_v.items():
        figure.add_hline(
            y=volts,
            row=1,
            col=1,
            line={"color": MUTED, "width": 1, "dash": "dot"},
            annotation={"text": f"{name} {volts:.2f} V", "font": {"size": 11, "color": MUTED}},
            annotation_position="bottom right",
        )
    lanes = _lanes(day)
    _draw_lanes(figure, day, lanes)
    for name, watts, color in ((day.source, day.panel_w, SUN), ("node", day.node_w, NODE)):
        figure.add_scatter(
            row=3,
            col=1,
            x=day.power_hour,
            y=_above_floor(watts),
            name=f"{name}, mean power",
            mode="lines",
            line={"color": color, "width": 1.5},
            customdata=[show(v, "W", 3) for v in watts],
            hovertemplate=f"%{{x:.2f}} {day.unit}, %{{customdata}}<extra>{name}</extra>",
        )
    begin, end = day.span
    shown = [begin, end + (end - begin) * 0.005]
    # With a slider the reader zooms, and fixed ticks would be gone.
    figure.update_xaxes(range=shown, dtick=None if slider else _tick(day), zeroline=False)
    figure.update_xaxes(title=day.time_title, row=3, col=1)
    if slider:
        figure.update_xaxes(rangeslider={"visible": True, "thickness": 0.08, "range": shown}, row=3, col=1)
    figure.update_yaxes(title="storage [V]", range=[0, max(day.storage_v, default=1.0) * 1.1], row=1, col=1)
    figure.update_yaxes(row=2, col=1, type="category", automargin=True, range=[-0.6, len(lanes) - 0.4])
    decades = [-7, math.log10(max([*day.panel_w, *day.node_w, 1e-3])) + 0.2]
    figure.update_yaxes(title="power [W]", type="log", range=decades, exponentformat="SI", dtick=2, row=3, col=1)
    styled(figure)
    return figure.update_layout(margin={"l": 64, "r": 24, "t": 40})


def window_figure(window: Mapping[str, Any], beside: str = "s") -> go.Figure:
    """Storage voltage and power of a short stretch, step by step, coloured by what the node was at."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.5, 0.5], vertical_spacing=0.05)
    time_s, state = window["time_s"], window["state"]
    power, prefix = prefix_of(max(window["load_w"], default=0.0) or 1.0)
    load = [w / 10.0**power for w in window["load_w"]]
    figure.add_scatter(
        row=1,
        col=1,
        x=time_s,
        y=window["vcap_v"],
        name="storage voltage",
        mode="lines",
        line={"color": STORE, "width": 2},
    )
    figure.add_scatter(
        row=2,
        col=1,
        x=time_s,
        y=load,
        name="power of the node",
        mode="lines",
        line={"color": MUTED, "width": 1, "shape": "hv"},
    )
    for name, color in STATES.items():
        # A stretch of a state from its step to the next, a gap else.
        x: list[float | None] = []
        y: list[float | None] = []
        for i in range(len(time_s) - 1):
            if state[i] == name:
                x += [time_s[i], time_s[i + 1], None]
                y += [load[i]] * 2 + [None]
        if x:
            figure.add_scatter(
                row=2,
                col=1,
                x=x,
                y=y,
                name=name,
                mode="lines",
                line={"color": color, "width": 3},
                hovertemplate=f"%{{x:.7g}} {beside}, %{{y:.4g}} {prefix}W<extra>{name}</extra>",
            )
    styled(figure)
    figure.update_yaxes(title="storage [V]", row=1, col=1)
    figure.update_yaxes(title="power", ticksuffix=f" {prefix}W", row=2, col=1)
    figure.update_xaxes(title="seconds of the run", rangeslider={"visible": True, "thickness": 0.08}, row=2, col=1)
    return figure.update_layout(margin={"l": 64, "r": 24, "t": 40})


STATES = {"off": BAD, "sleep": STORE, "compute": GOOD, "radio": SUN}
"""Colours of a node's activities, in the engine's words."""


def _tick(day: Day) -> float:
    span = day.span[1] - day.span[0]
    steps, last = ((1, 2, 5, 10, 30), 365) if day.unit == "d" else ((0.05, 0.1, 0.25, 0.5, 1, 3), 6)
    return next((step for step in steps if span / step <= (13 if day.unit == "d" else 10)), last)


def day_file(day: Day, path: Path, title: str = "One simulated day of the harvested node") -> None:
    """Draw the day with matplotlib."""
    plt = pyplot()
    figure, (store, lane, power, uses) = plt.subplots(
        4, 1, figsize=(9.6, 7.2), layout="constrained", height_ratios=[0.46, 0.2, 0.28, 0.12]
    )
    store.plot(day.hour, day.storage_v, color=STORE, linewidth=1.8 if len(day.hour) <= TIMES_MAX else 0.9)
    span = day.span[1] - day.span[0]
    for i, (begin, end) in enumerate(day.off):
        store.axvspan(begin, end, color=BAD, alpha=0.14, linewidth=0)
        if i > 0 and end - begin < 0.08 * span:
            continue  # its words would lie over others
        store.annotate(
            "no supply",
            ((begin + end) / 2, 0.97),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="top",
            fontsize=8,
            color=MUTED,
        )
    for name, volts in day.thresholds_v.items():
        store.axhline(volts, color=MUTED, linewidth=0.9, linestyle=":")
        store.annotate(
            f"{name} {volts:.2f} V",
            (1, volts),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 3 if volts == max(day.thresholds_v.values()) else -9),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=MUTED,
        )
    store.set_ylabel("storage [V]")
    store.set_ylim(0, max(day.storage_v, default=1.0) * 1.1)
    lanes = _lanes(day)
    for y, (kind, hours, _) in enumerate(lanes):
        _, symbol, color = MARKS[kind]
        if len(hours) > DENSE:
            lane.plot(hours, [y] * len(hours), linestyle="", marker="|", markersize=8, color=color, markeredgewidth=0.8)
        else:
            lane.scatter(hours, [y] * len(hours), marker=symbol, s=22, color=color, zorder=3, clip_on=False)
    lane.set_yticks(range(len(lanes)), [f"{kind} ({count:,})" for kind, _, count in lanes])
    lane.set_ylim(-0.6, len(lanes) - 0.4)
    power.plot(day.power_hour, _above_floor(day.panel_w), color=SUN, linewidth=1.4, label=day.source)
    power.plot(day.power_hour, _above_floor(day.node_w), color=NODE, linewidth=1.2, label="node")
    power.set(yscale="log", ylabel="power [W]", xlabel=day.time_title)
    power.set_ylim(POWER_FLOOR_W, 2 * max([*day.panel_w, *day.node_w, 1e-3]))
    power.legend(frameon=False, fontsize=9, loc="upper left")
    begin, end = day.span
    for axes in (store, lane, power):
        axes.set_xlim(begin, end)
        axes.xaxis.set_major_locator(_multiples(_tick(day)))
        axes.tick_params(labelbottom=axes is power)
    _uses_bar(uses, day.uses_j)
    uses.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    finish(plt, figure, [store, lane, power], path)


def _uses_bar(axes: Any, uses_j: Mapping[str, float]) -> None:
    """Draw where the joules went as one bar, each part as wide as its share."""
    at, total = 0.0, sum(uses_j.values()) or 1.0
    for name, joules in _main_uses(uses_j):
        axes.barh(0, joules, left=at, height=0.8, color=_use_color(name), edgecolor="#ffffff", linewidth=1.5)
        share = joules / total
        if share > 0.03:
            words = SHORT.get(name, name)
            axes.annotate(
                f"{words}\n{show(joules, 'J', 3)}",
                (at + joules / 2, 0),
                ha="center",
                va="center",
                fontsize=7,
                color="#ffffff",
                rotation=0 if share > 0.08 else 90,
            )
        at += joules
    axes.set(xlim=(0, total), yticks=[], xlabel="where the joules went [J]")
    axes.spines["left"].set_visible(False)


SHORT = {
    "left in the store": "left in\nthe store",
    "lost in the charger": "charger",
    "taken by the harvester itself": "harvester\nitself",
    "lost in the store's leakage": "leakage",
    "lost in the output converter": "converter",
    "overhead of switching on": "overhead",
    "not taken: the store was full": "store full",
    "not taken: too little to start the charger": "too dim",
}


def _multiples(step: float) -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(step)


# --- Where the joules went -------------------------------------------------------------------


def ledger_figure(incoming: Mapping[str, float], outgoing: Mapping[str, float]) -> go.Figure:
    """Draw sources on the left, uses and losses on the right, in joules."""
    import plotly.graph_objects as go

    left = [(k, v) for k, v in incoming.items() if v > 0]
    right = _main_uses(outgoing)
    labels = (
        [f"{k} · {show(v, 'J', 3)}" for k, v in left]
        + ["harvester and storage"]
        + [f"{k} · {show(v, 'J', 3)}" for k, v in right]
    )
    hub = len(left)
    figure = go.Figure(
        go.Sankey(
            arrangement="snap",
            node={
                "label": labels,
                "pad": 22,
                "thickness": 14,
                "color": [SUN] * len(left) + [STORE] + [_use_color(k) for k, _ in right],
                "line": {"width": 0},
                "hovertemplate": "%{label}<extra></extra>",
            },
            link={
                "source": list(range(hub)) + [hub] * len(right),
                "target": [hub] * hub + list(range(hub + 1, hub + 1 + len(right))),
                "value": [v for _, v in left] + [v for _, v in right],
                "color": ["rgba(217,144,0,0.30)"] * hub + ["rgba(47,127,193,0.24)"] * len(right),
                "hovertemplate": "%{value:.4g} J<extra></extra>",
            },
            textfont={"size": 13, "color": INK, "shadow": "none"},
        )
    )
    styled(figure)
    return figure.update_layout(margin={"t": 16, "b": 16, "l": 8, "r": 8})


def _main_uses(outgoing: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return the uses, largest first; what is too thin to be seen is one ribbon (the tables have each)."""
    uses = sorted(((k, v) for k, v in outgoing.items() if v > 0), key=lambda kv: -kv[1])
    least = sum(v for _, v in uses) * THIN
    thin = [kv for kv in uses if kv[1] < least]
    if len(thin) < 2:
        return uses
    return [*(kv for kv in uses if kv[1] >= least), (f"{len(thin)} smaller ones", sum(v for _, v in thin))]


THIN = 0.005


def _use_color(name: str) -> str:
    if "left in the store" in name:
        return STORE
    lost = ("lost", "overhead", "not taken", "harvester itself", "smaller ones")
    return MUTED if any(word in name for word in lost) else NODE


# --- Flame graph -----------------------------------------------------------------------------


@dataclass
class _Frame:
    name: str
    value: float = 0.0
    before: float = 0.0
    children: dict[str, _Frame] = field(default_factory=dict)


FAMILIES = (
    (("sha", "hash", "hmac", "drbg", "nonce", "key_state"), "#74a892"),
    (("mspabi", "memcpy", "memset"), "#b9a3c7"),
    (("point", "ec_", "ecc", "curve", "ladder", "comb", "scalar", "jac", "pick", "add_"), "#6d9dc5"),
    (("mul", "sqr", "mac", "mpy"), "#e0a100"),
    (("fp_", "field", "reduce", "mod", "inv"), "#ecc769"),
)


def flame_graph(
    folded: Mapping[str, float],
    unit: str,
    title: str,
    before: Mapping[str, float] | None = None,
    width: int = 1100,
) -> str:
    """Draw folded stacks (`main;sign;mul` to weight) as an SVG without scripts.

    With `before`, colour says what grew (red) and what shrank (blue) against those weights.
    """
    root = _Frame("all")
    for weights, old in ((folded, False), (before or {}, True)):
        for stack, value in weights.items():
            at = root
            for name in ["", *stack.split(";")]:
                if name:
                    at = at.children.setdefault(name, _Frame(name))
                if old:
                    at.before += value
                else:
                    at.value += value
    if root.value <= 0:
        raise ValueError("a flame graph needs a weight above zero")
    row, pad, top = 19, 12, 52
    least = root.value / (width - 2 * pad) * 0.4
    cells: list[str] = []

    def depth(frame: _Frame) -> int:
        return 1 + max((depth(c) for c in frame.children.values() if c.value > least), default=0)

    levels = depth(root)
    height = top + levels * row + 34

    def place(frame: _Frame, x: float, level: int) -> None:
        w = frame.value / root.value * (width - 2 * pad)
        y = height - 28 - (level + 1) * row
        share = frame.value / root.value
        tip = f"{frame.name}: {_weight(frame.value, unit)} ({share:.2%})"
        if before is not None:
            tip += f", before {_weight(frame.before, unit)}"
        cells.append(
            f'<g><title>{html.escape(tip)}</title><rect x="{x:.2f}" y="{y}" width="{max(w - 0.6, 0.3):.2f}" '
            f'height="{row - 1}" rx="1.5" fill="{_fill(frame, root, before is not None)}"/>'
        )
        room = int((w - 8) / 6.7)
        if room >= 3:
            short = frame.name.removeprefix("sunseal_")
            text = short if len(short) <= room else short[: room - 1] + "…"
            cells.append(f'<text x="{x + 4:.2f}" y="{y + 13}">{html.escape(text)}</text>')
        cells.append("</g>")
        for child in sorted(frame.children.values(), key=lambda c: (-c.value, c.name)):
            if child.value > least:
                place(child, x, level + 1)
            x += child.value / root.value * (width - 2 * pad)

    place(root, pad, 0)
    note = f"whole width: {_weight(root.value, unit)}"
    if before is not None:
        note += f", before {_weight(root.before, unit)}; red grew, blue shrank"
    return (
        f'<svg class="flame" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="100%" '
        f'role="img" aria-label="{html.escape(title)}" font-family="{html.escape(FONT)}" font-size="11.5" fill="{INK}">'
        f'<rect class="ground" width="{width}" height="{height}" fill="#ffffff"/>'
        f'<text class="ink" x="{pad}" y="24" font-size="16" font-weight="600">{html.escape(title)}</text>'
        f'<text class="muted" x="{pad}" y="{height - 9}" fill="{MUTED}">{html.escape(note)}</text>'
        + "".join(cells)
        + "</svg>\n"
    )


def _weight(value: float, unit: str) -> str:
    return show(value, "J", 4) if unit == "J" else f"{round(value):,} {unit}"


def _fill(frame: _Frame, root: _Frame, diff: bool) -> str:
    if diff:
        change = (frame.value - frame.before) / root.value
        strength = min(1.0, math.sqrt(abs(change)) * 3)
        base, far = (244, 244, 244), ((200, 60, 45) if change > 0 else (45, 105, 170))
        return "#" + "".join(f"{round(b + (f - b) * strength):02x}" for b, f in zip(base, far, strict=True))
    lower = frame.name.lower()
    for words, color in FAMILIES:
        if any(word in lower for word in words):
            return color
    return "#d3d9df"


# --- Shared ----------------------------------------------------------------------------------


def styled(figure: go.Figure) -> go.Figure:
    """Give a figure the house's fonts, grid and margins."""
    figure.update_layout(
        font={"family": FONT, "size": 13, "color": INK},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 64, "r": 64, "t": 64, "b": 56},
        hoverlabel={"font": {"family": FONT}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        title={"x": 0, "xref": "paper", "font": {"size": 15}, "y": 0.97},
    )
    figure.update_xaxes(gridcolor=GRID, linecolor=MUTED, ticks="outside", tickcolor=MUTED, title_font_size=13)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GRID, title_font_size=13)
    return figure


def pyplot() -> Any:
    """Return matplotlib's pyplot, set so that the same figure gives the same bytes."""
    import matplotlib as mpl

    mpl.use("Agg")
    # A fixed salt and no date: the same figure gives the same bytes.
    mpl.rcParams.update({"svg.hashsalt": "sunseal", "svg.fonttype": "none", "pdf.fonttype": 42, "font.size": 10})
    from matplotlib import pyplot

    return pyplot


PAGE_IN = 7.16
"""Width of both columns of an IEEE journal, in inches (IEEE Author Center, Resolution and Size)."""


def finish(plt: Any, figure: Any, all_axes: Sequence[Any], path: Path) -> None:
    """Give all axes the house's looks and write the file."""
    for axes in all_axes:
        axes.grid(color=GRID)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=MUTED)
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {"Software": None})
    if path.suffix == ".pdf":
        width_in, height_in = figure.get_size_inches()
        figure.set_size_inches(PAGE_IN, height_in * PAGE_IN / width_in)
    figure.savefig(path, dpi=144, metadata=metadata)
    plt.close(figure)
