# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures: told to a page, which draws them; as files by matplotlib; flame graphs as plain SVG."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sunseal.catalog.units import show

INK, MUTED, GRID = "#1f2933", "#616e7c", "#d8dde3"
# Told apart by people with any colour vision (Machado 2009), and at least 3:1 on light and on dark ground.
SUN, STORE, NODE, GOOD, BAD, GREY = "#bf7703", "#2b6fdc", "#995db1", "#0aa070", "#c23f38", "#74808c"
LINES = (STORE, GOOD, SUN, BAD, NODE, GREY)
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

# --- Told to a page --------------------------------------------------------------------------


def rounded(values: Sequence[float | None], digits: int = 6) -> list[float | None]:
    """Shorten figures to what a picture can show; infinite ones and those that are none become gaps."""
    return [float(f"{v:.{digits}g}") if v is not None and math.isfinite(v) else None for v in values]


def on_page(color: str) -> str:
    """Return a colour as a page has it: ink and muted ink are others on dark ground."""
    return {INK: "var(--ink)", MUTED: "var(--muted)", GRID: GREY}.get(color, color)


def ink_on(color: str) -> str:
    """Return black or white, whichever is read better on a colour."""
    if not color.startswith("#"):
        return "#ffffff"
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    luminance = sum(c * weight for c, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
    return "#000000" if luminance > 0.18 else "#ffffff"


def line(
    name: str, x: Sequence[float | None], y: Sequence[float | None], color: str, look: str = "lines", **looks: Any
) -> dict[str, Any]:
    """Tell a page of a line or of marks; times keep ten digits."""
    told = {"name": name, "x": rounded(x, 10), "y": rounded(y), "color": on_page(color), "look": look}
    return told | {key: value for key, value in looks.items() if value}


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


def _lanes_told(day: Day) -> list[dict[str, Any]]:
    """Tell a page of a row of marks for each kind of event, the first at the top."""
    return [
        {
            "name": f"{kind} ({count:,})",
            "x": rounded(hours, 10),
            "mark": "tick" if len(hours) > DENSE else MARKS[kind][0],
            "color": on_page(MARKS[kind][2]),
        }
        for kind, hours, count in reversed(_lanes(day))
    ]


def day_picture(day: Day, height: int = 680, *, zoom: bool = False) -> dict[str, Any]:
    """Tell a page of the storage voltage over the day, of what happened, and of the power of source and node."""
    begin, end = day.span
    shown = [begin, end + (end - begin) * 0.005]
    low, high = day.between_v
    store = [line("storage voltage", day.hour, day.storage_v, STORE)]
    if len(low):
        store.insert(0, line("", day.hour, high, STORE, below=rounded(low), quiet=True))
    powers = ((day.source, day.panel_w, SUN), ("node", day.node_w, NODE))
    most_w = 1.6 * max([*day.panel_w, *day.node_w, 1e-3])
    lanes = _lanes_told(day)
    return {
        "kind": "chart",
        "name": f"storage voltage, events and power of {day.source} and node",
        "height": height,
        "zoom": zoom,
        "x": {"title": day.time_title, "range": shown, "steps": TIME_STEPS.get(day.unit), "after": f" {day.unit}"},
        "panels": [
            {
                "share": 0.6,
                "y": {"title": "storage", "unit": "V", "range": [0, max([*day.storage_v, 1e-3], default=1.0) * 1.1]},
                "traces": store,
                "shades": day.off,
                "y_lines": [(f"{name} {volts:.2f} V", volts) for name, volts in day.thresholds_v.items()],
            },
            *([{"lanes": lanes}] if lanes else []),
            {
                "share": 0.4,
                "y": {"title": "mean power", "unit": "W", "log": True, "range": [POWER_FLOOR_W, most_w]},
                "traces": [
                    line(name, day.power_hour, _above_floor(watts), color, width=1.5) for name, watts, color in powers
                ],
            },
        ],
    }


TIME_STEPS = {
    "h": (0.25, 0.5, 1, 2, 3, 6, 12, 24, 48),
    "min": (1, 2, 5, 10, 15, 30, 60),
    "d": (1, 2, 5, 10, 20, 30, 60),
}
"""Steps between ticks of a time axis that people count in, by its unit."""


def window_picture(window: Mapping[str, Any], beside: str = "s", height: int = 560) -> dict[str, Any]:
    """Tell a page of a short stretch: storage voltage and power step by step, coloured by what the node was at."""
    time_s, state, load_w = window["time_s"], window["state"], window["load_w"]
    traces = [line("power of the node", time_s, load_w, MUTED, step=True, width=1)]
    for name, color in STATES.items():
        # A stretch of a state from its step to the next, a gap else.
        x: list[float | None] = []
        y: list[float | None] = []
        for i in range(len(time_s) - 1):
            if state[i] == name:
                x += [time_s[i], time_s[i + 1], None]
                y += [load_w[i]] * 2 + [None]
        if x:
            traces.append(line(name, x, y, color, width=3))
    return {
        "kind": "chart",
        "name": "storage voltage and power, step by step",
        "height": height,
        "zoom": True,
        "x": {
            "title": f"{beside} of the run" if beside != "s" else "seconds of the run",
            "tight": True,
            "after": f" {beside}",
        },
        "panels": [
            {
                "y": {"title": "storage", "unit": "V"},
                "traces": [line("storage voltage", time_s, window["vcap_v"], STORE)],
            },
            {"y": {"title": "power", "unit": "W"}, "traces": traces},
        ],
    }


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
    width = 1.8 if len(day.hour) <= TIMES_MAX else 0.9
    store.plot(day.hour, day.storage_v, color=STORE, linewidth=width, gid="mark-store")
    span = day.span[1] - day.span[0]
    outages: list[tuple[float, float, str]] = []
    for i, (begin, end) in enumerate(day.off):
        store.axvspan(begin, end, color=BAD, alpha=0.18, linewidth=0)
        if i > 0 and end - begin < 0.08 * span:
            continue  # its words would lie over others
        outages.append((begin, end, "no supply"))
    for volts in day.thresholds_v.values():
        store.axhline(volts, color=MUTED, linewidth=0.9, linestyle=":", gid="mark-line")
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
    for name, watts, color in ((day.source, day.panel_w, SUN), ("node", day.node_w, NODE)):
        power.plot(day.power_hour, _above_floor(watts), color=color, linewidth=1.4, label=name, gid="mark-power")
    power.set(yscale="log", ylabel="power [W]", xlabel=day.time_title)
    power.set_ylim(POWER_FLOOR_W, 2 * max([*day.panel_w, *day.node_w, 1e-3]))
    power.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
    begin, end = day.span
    for axes in (store, lane, power):
        axes.set_xlim(begin, end)
        axes.xaxis.set_major_locator(_multiples(_tick(day)))
        axes.tick_params(labelbottom=axes is power)
    _uses_bar(figure, uses, day.uses_j)
    name_lines(figure, store, {}, {f"{name} {volts:.2f} V": volts for name, volts in day.thresholds_v.items()}, outages)
    uses.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    finish(plt, figure, [store, lane, power], path)


def _uses_bar(figure: Any, axes: Any, uses_j: Mapping[str, float]) -> None:
    """Draw where the joules went as one bar, each part as wide as its share and named where it has room."""
    at, total = 0.0, sum(uses_j.values()) or 1.0
    axes.set(xlim=(0, total), yticks=[], xlabel="where the joules went [J]")
    axes.spines["left"].set_visible(False)
    named = []
    for name, joules in _main_uses(uses_j):
        color = _use_color(name)
        axes.barh(0, joules, left=at, height=0.8, color=color, edgecolor="#ffffff", linewidth=1.5)[0].set_gid(
            "mark-use"
        )
        words = f"{SHORT.get(name, name)}\n{show(joules, 'J', 3)}"
        place = {"ha": "center", "va": "center", "fontsize": 7, "color": ink_on(color)}
        named.append((axes.annotate(words, (at + joules / 2, 0), **place), joules))
        at += joules
    figure.draw_without_rendering()
    for text, joules in named:
        room = axes.transData.transform((joules, 0))[0] - axes.transData.transform((0, 0))[0] - 4
        if text.get_window_extent().width > room:
            text.set_rotation(90)
        if text.get_window_extent().width > room or text.get_window_extent().height > axes.bbox.height:
            text.remove()


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


def ledger_picture(incoming: Mapping[str, float], outgoing: Mapping[str, float], height: int = 420) -> dict[str, Any]:
    """Tell a page of sources on the left, uses and losses on the right, in joules."""
    return {
        "kind": "flows",
        "name": "where the energy came from and where it went",
        "height": height,
        "unit": "J",
        "hub": "harvester and storage",
        "color": STORE,
        "sources": [(name, value, SUN) for name, value in incoming.items() if value > 0],
        "uses": [(name, value, on_page(_use_color(name))) for name, value in _main_uses(outgoing)],
    }


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
    (("sha", "hash", "hmac", "drbg", "nonce", "key_state"), GOOD, "hashing and the nonce"),
    (("mspabi", "memcpy", "memset"), NODE, "run-time helpers"),
    (("point", "ec_", "ecc", "curve", "ladder", "comb", "scalar", "jac", "pick", "add_"), STORE, "points and scalars"),
    (("mul", "sqr", "mac", "mpy"), SUN, "multiplying and squaring"),
    (("fp_", "field", "reduce", "mod", "inv"), BAD, "reduction and inversion"),
)
"""Words in a function's name, the colour of those that have one, and what they do."""
OTHERS = (GREY, "all else")
WIDE, SLIM = frozenset("mwMWGOQ@%…"), frozenset("ijltfrI.,:;|' ()")
ROW_PX, SIDE_PX = 19, 12


def _tree(folded: Mapping[str, float], before: Mapping[str, float]) -> _Frame:
    """Put folded stacks together."""
    root = _Frame("all")
    for weights, old in ((folded, False), (before, True)):
        for stack, value in weights.items():
            at = root
            for name in ["", *stack.split(";")]:
                if name:
                    at = at.children.setdefault(name, _Frame(name))
                if old:
                    at.before += value
                else:
                    at.value += value
    return root


def flame_graph(
    folded: Mapping[str, float],
    unit: str,
    title: str,
    before: Mapping[str, float] | None = None,
    width: int = 1100,
    *,
    headed: bool = True,
) -> str:
    """Draw folded stacks (`main;sign;mul` to weight) as an SVG without scripts; each frame's title tells its weight.

    With `before`, colour says what grew (red) and what shrank (blue) against those weights.
    """
    root = _tree(folded, before or {})
    if root.value <= 0:
        raise ValueError("a flame graph needs a weight above zero")
    room = width - 2 * SIDE_PX
    least = root.value / room * 0.4

    def depth(frame: _Frame) -> int:
        return 1 + max((depth(c) for c in frame.children.values() if c.value > least), default=0)

    note = f"The whole width is {_weight(root.value, unit)}"
    if before is not None:
        note += f" (before: {_weight(root.before, unit)})"
    words: list[tuple[str, float, str, int]] = (
        [(line, 16, "ink", 600) for line in textwrap.wrap(title, int(room / 9.5))] if headed else []
    )
    words += [
        (line, 11.5, "muted", 400) for line in textwrap.wrap(f"{note}; a call stands on its caller.", int(room / 6))
    ]
    head, y = "", 8.0
    for text, size, tone, weight in words:
        y += size + 5
        head += (
            f'<text class="{tone}" x="{SIDE_PX}" y="{y:g}" fill="{INK if tone == "ink" else MUTED}" '
            f'font-size="{size}" font-weight="{weight}">{html.escape(text)}</text>'
        )
    keys, top = _flame_key(root, before is not None, room, y + 10)
    height = top + depth(root) * ROW_PX + 12
    cells: list[str] = []

    def place(frame: _Frame, x: float, level: int) -> None:
        w = frame.value / root.value * room
        cells.append(_cell(frame, root, unit, (x, height - 8 - (level + 1) * ROW_PX, w), diff=before is not None))
        for child in sorted(frame.children.values(), key=lambda c: (-c.value, c.name)):
            if child.value > least:
                place(child, x, level + 1)
            x += child.value / root.value * room

    place(root, SIDE_PX, 0)
    return (
        f'<svg class="flame" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="100%" '
        f'role="img" aria-label="{html.escape(title)}" font-family="{html.escape(FONT)}" font-size="11.5" fill="{INK}">'
        "<style>.flame g:hover rect { stroke: currentColor; stroke-width: 1.5 }</style>"
        f'<rect class="ground" width="{width}" height="{height:g}" fill="#ffffff"/>{head}{keys}{"".join(cells)}</svg>\n'
    )


def _width_px(text: str) -> float:
    """Return the width of a flame graph's label in DejaVu Sans, the widest of the fonts it may be drawn with."""
    return sum(11.6 if c in WIDE else 5.0 if c in SLIM else 7.6 for c in text)


def _cell(frame: _Frame, root: _Frame, unit: str, box: tuple[float, float, float], *, diff: bool) -> str:
    """Draw a frame, with its name where it has room and its weight where that has, too."""
    (x, y, w), share = box, frame.value / root.value
    tip = f"{frame.name}: {_weight(frame.value, unit)} ({share:.2%})"
    if diff:
        tip += f", before {_weight(frame.before, unit)}"
    color = _fill(frame, root, diff)
    drawn = (
        f'<g><title>{html.escape(tip)}</title><rect class="mark" data-name="{html.escape(frame.name)}" x="{x:.2f}" '
        f'y="{y:g}" width="{max(w - 0.6, 0.3):.2f}" height="{ROW_PX - 1}" rx="1.5" fill="{color}"/>'
    )
    short = frame.name.removeprefix("sunseal_")
    cut = [f"{short[:n]}…" for n in range(len(short) - 1, 1, -1)]
    fits = (t for t in (f"{short} {_weight(frame.value, unit)}", short, *cut) if _width_px(t) <= w - 8)
    text = next(fits, None)
    if text is None:
        return drawn + "</g>"
    return f'{drawn}<text x="{x + 4:.2f}" y="{y + 13:g}" fill="{ink_on(color)}">{html.escape(text)}</text></g>'


def _flame_key(root: _Frame, diff: bool, room: float, y: float) -> tuple[str, float]:
    """Draw what the colours mean, of those that are there; return it and where it ends."""

    def colors(frame: _Frame) -> set[str]:
        return {_fill(frame, root, diff)}.union(*(colors(c) for c in frame.children.values()))

    there = colors(root)
    told = [(color, name) for *_, color, name in (*FAMILIES, OTHERS) if color in there]
    if diff:
        told = [(BAD, "grew"), (STORE, "shrank"), (GREY, "as before")]
    x, drawn = float(SIDE_PX), ""
    for color, name in told:
        width = 18 + _width_px(name)
        if x > SIDE_PX and x + width > SIDE_PX + room:
            x, y = float(SIDE_PX), y + 18
        drawn += f'<rect class="mark key" x="{x:.1f}" y="{y:g}" width="12" height="12" rx="2" fill="{color}"/>'
        drawn += f'<text class="ink" x="{x + 17:.1f}" y="{y + 10:g}">{html.escape(name)}</text>'
        x += width + 12
    return drawn, y + 22


def _weight(value: float, unit: str) -> str:
    return show(value, "J", 4) if unit == "J" else f"{round(value):,} {unit}"


def _fill(frame: _Frame, root: _Frame, diff: bool) -> str:
    if diff:
        change = (frame.value - frame.before) / root.value
        strength = min(1.0, math.sqrt(abs(change)) * 3)
        ends = ([int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in (GREY, BAD if change > 0 else STORE))
        return "#" + "".join(f"{round(b + (f - b) * strength):02x}" for b, f in zip(*ends, strict=True))
    lower = frame.name.lower()
    return next((color for words, color, _ in FAMILIES if any(word in lower for word in words)), OTHERS[0])


# --- Shared ----------------------------------------------------------------------------------


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


POINTS_PER_ROW = 10
"""Height of a row of small labels, in points."""


def name_lines(
    figure: Any,
    axes: Any,
    x_lines: Mapping[str, float],
    y_lines: Mapping[str, float],
    bands: Sequence[tuple[float, float, str]] = (),
    title: str = "",
) -> None:
    """Name lines and bands outside the axes, where no data is: above them in rows, and on the right, spread."""
    small = {"fontsize": 7, "color": MUTED, "textcoords": "offset points", "annotation_clip": False}
    pixels = figure.dpi / 72
    right = [
        (name, axes.annotate(name, (1, v), xycoords=("axes fraction", "data"), xytext=(4, 0), va="center", **small), v)
        for name, v in y_lines.items()
        if name
    ]
    above = [
        axes.annotate(name, (v, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), ha="center", **small)
        for name, v in (*((name, (low + high) / 2) for low, high, name in bands), *x_lines.items())
        if name
    ]
    figure.draw_without_rendering()
    rows: list[list[tuple[float, float]]] = []
    frame = figure.bbox
    for text in above:
        box = text.get_window_extent()
        shift = max(0.0, frame.x0 + 2 - box.x0) - max(0.0, box.x1 + 2 - frame.x1)
        ends = box.x0 + shift, box.x1 + shift
        row = next((i for i, r in enumerate(rows) if all(ends[0] > b + 6 or ends[1] < a - 6 for a, b in r)), len(rows))
        if row == len(rows):
            rows.append([])
        rows[row].append(ends)
        text.set_position((shift / pixels, 3 + POINTS_PER_ROW * row))
    placed = sorted(((axes.transData.transform((0, v))[1] / pixels, text) for _, text, v in right), key=lambda p: p[0])
    last = -math.inf
    for at, text in placed:
        last = max(at, last + POINTS_PER_ROW)
        text.set_position((4, last - at))
    axes.set_title(title, pad=6 + POINTS_PER_ROW * len(rows))


def finish(plt: Any, figure: Any, all_axes: Sequence[Any], path: Path, *, across: bool = True) -> None:
    """Give all axes the house's looks and write the file."""
    for axes in all_axes:
        axes.grid(color=GRID, axis="both" if across else "x")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=MUTED)
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {"Software": None})
    if path.suffix == ".pdf":
        width_in, height_in = figure.get_size_inches()
        figure.set_size_inches(PAGE_IN, height_in * PAGE_IN / width_in)
    figure.savefig(path, dpi=144, metadata=metadata)
    plt.close(figure)
