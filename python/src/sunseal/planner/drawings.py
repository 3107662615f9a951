# SPDX-License-Identifier: MIT OR Apache-2.0
"""The planner's pictures: energy against latency, bounds, front; files by matplotlib, pages by plotly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sunseal import plots
from sunseal.planner.tune import Tuned

if TYPE_CHECKING:
    import plotly.graph_objects as go

MARKS = "osD^vP"


def _clouds(frame: pd.DataFrame) -> list[tuple[str, str, str, pd.DataFrame]]:
    """Group points by workload, cheapest first: name, colour, mark, rows."""
    groups = [(str(name), rows) for name, rows in frame.groupby("workload")]
    groups.sort(key=lambda g: float(g[1].energy_j.min()))
    many = len(plots.LINES)
    return [(name, plots.LINES[i % many], MARKS[i // many % len(MARKS)], rows) for i, (name, rows) in enumerate(groups)]


def _levels(front: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    """Cut the front by security level: within one, less time costs more energy."""
    return [(int(str(bits)), rows.sort_values("time_s")) for bits, rows in front.groupby("security_bits")]


def _places(frame: pd.DataFrame) -> pd.Series:
    clock = (frame.freq_hz / 1e6).map("{:g} MHz".format)
    return frame.board + " " + frame.variant + ", " + frame.vcc_v.map("{:.2f} V".format) + ", " + clock


def front_figure(frame: pd.DataFrame, tuned: Tuned) -> go.Figure:
    """Draw all operating points, those that qualify in colour, and the front; a point tells its place."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scattergl(
        x=frame.time_s * 1e3,
        y=frame.energy_j * 1e3,
        text=frame.workload + " on " + _places(frame),
        mode="markers",
        name="out of bounds",
        marker={"size": 4, "color": plots.MUTED, "opacity": 0.2},
    )
    for name, color, _, rows in _clouds(tuned.qualifying):
        figure.add_scattergl(
            x=rows.time_s * 1e3,
            y=rows.energy_j * 1e3,
            text=_places(rows),
            mode="markers",
            name=name,
            marker={"size": 6, "color": color},
        )
    for bits, rows in _levels(tuned.front):
        figure.add_scatter(
            x=rows.time_s * 1e3,
            y=rows.energy_j * 1e3,
            text=rows.workload + " on " + _places(rows),
            mode="lines+markers",
            name=f"front, {bits} bits",
            line={"color": plots.INK, "width": 1},
            marker={"size": 10, "symbol": "circle-open", "color": plots.INK},
        )
    for quantity, draw in (("energy", figure.add_hline), ("latency", figure.add_vline)):
        if quantity in tuned.bounds:
            draw(tuned.bounds[quantity] * 1e3, line={"color": plots.BAD, "dash": "dash", "width": 1})
    plots.styled(figure)
    figure.update_xaxes(title="latency [ms]", type="log")
    figure.update_yaxes(title="energy per operation [mJ]", type="log")
    return figure


def front_file(frame: pd.DataFrame, tuned: Tuned, path: Path) -> None:
    """Draw the same as SVG, PNG or a self-contained page; the ending of `path` chooses."""
    if path.suffix == ".html":
        front_figure(frame, tuned).write_html(path, include_plotlyjs=True)
        return
    plt = plots.pyplot()
    figure, axes = plt.subplots(figsize=(7.6, 4.8), layout="constrained")
    faint = {"color": plots.GRID, "markersize": 3, "markeredgewidth": 0}
    axes.plot(frame.time_s * 1e3, frame.energy_j * 1e3, "o", label="out of bounds", **faint)
    for name, color, mark, rows in _clouds(tuned.qualifying):
        looks = {"color": color, "markersize": 3.5, "markeredgewidth": 0}
        axes.plot(rows.time_s * 1e3, rows.energy_j * 1e3, mark, label=name, **looks)
    for i, (_, rows) in enumerate(_levels(tuned.front)):
        looks = {"color": plots.INK, "markerfacecolor": "none", "linewidth": 0.8, "markersize": 6}
        axes.plot(rows.time_s * 1e3, rows.energy_j * 1e3, "o-", label="front" if i == 0 else None, **looks)
    for quantity, draw in (("energy", axes.axhline), ("latency", axes.axvline)):
        if quantity in tuned.bounds:
            draw(tuned.bounds[quantity] * 1e3, color=plots.BAD, linestyle="--", linewidth=0.8)
    axes.set(xlabel="latency [ms]", ylabel="energy per operation [mJ]", xscale="log", yscale="log")
    figure.legend(frameon=False, loc="outside right upper", fontsize=7)
    plots.finish(plt, figure, [axes], path)
