# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures: for the report by plotly, as files by matplotlib, flame graphs as plain SVG."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal.units import show

if TYPE_CHECKING:
    import plotly.graph_objects as go

INK, MUTED, GRID = "#1f2933", "#616e7c", "#e4e7eb"
SUN, STORE, NODE, GOOD, BAD = "#e0a100", "#24598f", "#7a4b94", "#1b7f5c", "#b3362b"
LINES = ("#24598f", "#1b7f5c", "#e0a100", "#b3362b", "#7a4b94", "#4a5568")
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

Point = Mapping[str, Any]


# --- Energy over operating points ------------------------------------------------------------


def by_voltage(points: Sequence[Point]) -> dict[float, list[list[Point]]]:
    """Group a curve by voltage and cut each line where the core voltage level changes."""
    lines: dict[float, list[list[Point]]] = {}
    for p in sorted(points, key=lambda p: (p["vcc_v"], p["freq_hz"])):
        pieces = lines.setdefault(p["vcc_v"], [[]])
        if pieces[-1] and pieces[-1][-1]["vcore"] != p["vcore"]:
            pieces.append([])
        pieces[-1].append(p)
    return lines


def curve_figure(points: Sequence[Point], title: str) -> go.Figure:
    """Energy per operation against throughput, a line for each voltage (Mane 2014, figure 4.2)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for color, (vcc_v, pieces) in zip(LINES, by_voltage(points).items(), strict=False):
        for i, piece in enumerate(pieces):
            figure.add_scatter(
                x=[1.0 / p["time_s"] for p in piece],
                y=[p["energy_j"] * 1e3 for p in piece],
                customdata=[[p["freq_hz"] / 1e6, p["vcore"], p["time_s"] * 1e3] for p in piece],
                name=f"{vcc_v:g} V",
                legendgroup=f"{vcc_v:g}",
                showlegend=i == 0,
                mode="lines+markers",
                line={"color": color, "width": 2},
                marker={"size": 5},
                hovertemplate="%{customdata[0]:g} MHz, PMMCOREV %{customdata[1]}<br>"
                "%{y:.3f} mJ, %{customdata[2]:.1f} ms<extra>" + f"{vcc_v:g} V" + "</extra>",
            )
    figure.update_layout(title=title)
    figure.update_xaxes(title="operations per second", rangemode="tozero")
    figure.update_yaxes(title="energy per operation [mJ]", rangemode="tozero")
    _style(figure)
    # The curves fall to the right, so the upper right corner is free.
    return figure.update_layout(
        legend={"orientation": "v", "x": 1, "xanchor": "right", "y": 1, "yanchor": "top"},
        margin={"r": 16, "t": 44},
    )


def curve_file(points: Sequence[Point], title: str, path: Path) -> None:
    """Draw the curve with matplotlib; the ending of `path` chooses SVG or PNG."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
    for color, (vcc_v, pieces) in zip(LINES, by_voltage(points).items(), strict=False):
        for i, piece in enumerate(pieces):
            axes.plot(
                [1.0 / p["time_s"] for p in piece],
                [p["energy_j"] * 1e3 for p in piece],
                color=color,
                marker="o",
                markersize=3,
                label=f"{vcc_v:g} V" if i == 0 else None,
            )
    axes.set(xlabel="operations per second", ylabel="energy per operation [mJ]", title=title)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(title="supply", frameon=False)
    _finish(plt, figure, axes, path)


# --- The day ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Day:
    """What the pictures of one simulated day need: hours, volts, light, events."""

    hour: Sequence[float]
    storage_v: Sequence[float]
    light_hour: Sequence[float]
    irradiance_w_m2: Sequence[float]
    events: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """By kind: (hour, storage voltage)."""
    thresholds_v: Mapping[str, float] = field(default_factory=dict)


MARKS = {
    "verified": ("circle", "o", GOOD),
    "refused": ("x", "x", BAD),
    "brown-out": ("triangle-down", "v", BAD),
    "start": ("triangle-up", "^", NODE),
    "low": ("diamond", "D", MUTED),
}


def day_figure(day: Day) -> go.Figure:
    """Storage voltage over the day with the light behind it and what happened on top."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scatter(
        x=day.light_hour,
        y=day.irradiance_w_m2,
        name="light on the panel",
        yaxis="y2",
        mode="lines",
        line={"color": SUN, "width": 0.8},
        fill="tozeroy",
        fillcolor="rgba(224,161,0,0.16)",
        hovertemplate="%{y:.0f} W/m²<extra>light</extra>",
    )
    figure.add_scatter(
        x=day.hour,
        y=day.storage_v,
        name="storage voltage",
        mode="lines",
        line={"color": STORE, "width": 2},
        hovertemplate="%{y:.3f} V<extra>storage</extra>",
    )
    for kind, marks in day.events.items():
        if marks:
            symbol, _, color = MARKS.get(kind, ("circle", "o", MUTED))
            figure.add_scatter(
                x=[m[0] for m in marks],
                y=[m[1] for m in marks],
                name=f"{kind} ({len(marks)})",
                mode="markers",
                marker={"symbol": symbol, "color": color, "size": 8},
                hovertemplate="%{x:.2f} h, %{y:.3f} V<extra>" + kind + "</extra>",
            )
    for name, volts in day.thresholds_v.items():
        figure.add_hline(
            y=volts,
            line={"color": MUTED, "width": 1, "dash": "dot"},
            annotation={"text": f"{name} {volts:.2f} V", "font": {"size": 11, "color": MUTED}},
            annotation_position="bottom right",
        )
    top_v = max(day.storage_v, default=1.0)
    top_light = _light_top(day)
    figure.update_xaxes(
        title="hour of the day, local standard time", range=[0, 24], dtick=3, zeroline=False
    )
    figure.update_layout(
        yaxis={"title": "storage [V]", "range": [0, top_v * 1.15]},
        yaxis2={
            "title": "light on the panel [W/m²]",
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "range": [0, top_light],
            "dtick": 200,
            "zeroline": False,
        },
    )
    return _style(figure)


def _light_top(day: Day) -> float:
    return 200.0 * math.ceil(max(day.irradiance_w_m2, default=1.0) * 1.1 / 200.0 + 1e-9)


def day_file(day: Day, path: Path) -> None:
    """Draw the day with matplotlib."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(8.6, 4.4), layout="constrained")
    light = axes.twinx()
    light.fill_between(day.light_hour, day.irradiance_w_m2, color=SUN, alpha=0.2, linewidth=0)
    light.set_ylabel("light on the panel [W/m²]", color="#8a6400")
    light.set_ylim(0, _light_top(day))
    axes.plot(day.hour, day.storage_v, color=STORE, linewidth=1.8, label="storage voltage")
    for kind, marks in day.events.items():
        if marks:
            _, symbol, color = MARKS.get(kind, ("circle", "o", MUTED))
            axes.scatter(
                [m[0] for m in marks],
                [m[1] for m in marks],
                marker=symbol,
                s=26,
                color=color,
                label=f"{kind} ({len(marks)})",
                zorder=3,
            )
    axes.set(xlabel="hour of the day, local standard time", ylabel="storage [V]", xlim=(0, 24))
    axes.set_xticks(range(0, 25, 3))
    axes.set_ylim(0, max(day.storage_v, default=1.0) * 1.15)
    axes.set_zorder(light.get_zorder() + 1)
    axes.patch.set_visible(False)
    figure.legend(loc="outside upper center", ncols=6, frameon=False, fontsize=9)
    light.spines["top"].set_visible(False)
    light.tick_params(colors=MUTED)
    _finish(plt, figure, axes, path)


# --- Where the joules went -------------------------------------------------------------------


def ledger_figure(incoming: Mapping[str, float], outgoing: Mapping[str, float]) -> go.Figure:
    """Draw sources on the left, uses and losses on the right, in joules."""
    import plotly.graph_objects as go

    left = [(k, v) for k, v in incoming.items() if v > 0]
    right = sorted(((k, v) for k, v in outgoing.items() if v > 0), key=lambda kv: -kv[1])
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
                "color": ["rgba(224,161,0,0.28)"] * hub + ["rgba(36,89,143,0.20)"] * len(right),
                "hovertemplate": "%{value:.4g} J<extra></extra>",
            },
            textfont={"size": 13, "color": INK, "shadow": "none"},
        )
    )
    _style(figure)
    return figure.update_layout(margin={"t": 16, "b": 16, "l": 8, "r": 8})


def _use_color(name: str) -> str:
    if "stored" in name:
        return STORE
    lost = ("loss", "lost", "leak", "overhead", "not taken", "spilled", "resistance")
    return MUTED if any(word in name for word in lost) else NODE


# --- Flame graph -----------------------------------------------------------------------------


@dataclass
class _Frame:
    name: str
    value: float = 0.0
    before: float = 0.0
    children: dict[str, _Frame] = field(default_factory=dict)


FAMILIES = (
    (("sha", "hash", "hmac", "drbg", "nonce"), "#74a892"),
    (("mspabi", "memcpy", "memset"), "#b9a3c7"),
    (("point", "ec_", "ecc", "curve", "ladder", "comb", "scalar", "jac"), "#6d9dc5"),
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
            text = frame.name if len(frame.name) <= room else frame.name[: room - 1] + "…"
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
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="100%" '
        f'role="img" aria-label="{html.escape(title)}" font-family="{html.escape(FONT)}" font-size="11.5" fill="{INK}">'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
        f'<text x="{pad}" y="24" font-size="16" font-weight="600">{html.escape(title)}</text>'
        f'<text x="{pad}" y="{height - 9}" fill="{MUTED}">{html.escape(note)}</text>' + "".join(cells) + "</svg>\n"
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


def _style(figure: go.Figure) -> go.Figure:
    figure.update_layout(
        font={"family": FONT, "size": 13, "color": INK},
        paper_bgcolor="#ffffff",
        plot_bgcolor="#ffffff",
        margin={"l": 64, "r": 64, "t": 64, "b": 56},
        hoverlabel={"font": {"family": FONT}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        title={"x": 0, "xref": "paper", "font": {"size": 15}, "y": 0.97},
    )
    figure.update_xaxes(gridcolor=GRID, linecolor=MUTED, ticks="outside", tickcolor=MUTED)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GRID)
    return figure


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    # A fixed salt and no date: the same figure gives the same bytes.
    mpl.rcParams.update({"svg.hashsalt": "sunseal", "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot

    return pyplot


def _finish(plt: Any, figure: Any, axes: Any, path: Path) -> None:
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=MUTED)
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    figure.savefig(path, dpi=144, metadata=metadata)
    plt.close(figure)
