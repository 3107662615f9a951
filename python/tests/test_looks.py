# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every kind of report under the linter of pictures, and the linter before pages that have each fault."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import making
from looking import faults, looked_at
from sunseal.report import charts, plots
from sunseal.report.page import Page

MOST_BYTES = 1_500_000
"""Bytes of a report page at most."""
PAGES: dict[str, Callable[[], str]] = {
    f.__name__: f
    for f in (
        making.pictures,
        making.tuned,
        making.nothing_tuned,
        making.sized,
        making.lifetime,
        making.planned,
        making.nothing_planned,
        making.fleet,
        making.reproduced,
        making.rates,
        making.recoveries,
        making.coupons_pay,
        making.leaked,
        making.measured,
        making.injected,
        making.hazards,
        making.constant_time,
        making.swept,
    )
}


@pytest.mark.parametrize("name", [*PAGES, "scenario"])
def test_nothing_of_a_report_is_unreadable(name: str, browser: Any, firmware: None, tmp_path: Path) -> None:
    page = making.scenario(tmp_path) if name == "scenario" else PAGES[name]()
    assert looked_at(browser, page, tmp_path) == []
    assert len(page.encode()) < MOST_BYTES
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def _figures() -> dict[str, charts.Chart]:
    far = charts.Trace("far", [1e-4, 1e-3], [1.0, 2.0], plots.STORE)
    close = charts.Trace("close", [1e-4, 1e-3], [1.1, 2.0], plots.GOOD, "markers")
    lines = {"E/D, endless coupons": 3.4e-4, "E/D, no coupons": 3.5e-4}
    heights = {"highest, 5 V": 1.6, "cut-off, 4.9 V": 1.61}
    power, rate = charts.Axis("power", "W", log=True), charts.Axis("rate", "Hz")
    swings = [charts.Swing(f"assumption {i}, 1 mJ to 2 mJ", 1.0, 1.0 + i) for i in range(6)]
    return {
        "lines": charts.Chart(power, rate, [far, close], title="two of a kind", x_lines=lines, y_lines=heights),
        "curve": charts.curve(making.POINTS, "curve"),
        "tornado": charts.tornado(swings, 1.0, charts.Axis("lifetime [h]")),
    }


@pytest.mark.parametrize("name", ["lines", "curve", "tornado", "day", "flame", "grown", "trace"])
def test_nothing_of_a_figure_in_a_file_is_unreadable(name: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    if name == "day":
        plots.day_file(making.DAY, path)
    elif name == "trace":
        making.recorded(path)
    elif name in ("flame", "grown"):
        before = {stack: weight / 2 for stack, weight in making.FOLDED.items()} if name == "grown" else None
        path.write_text(plots.flame_graph(making.FOLDED, "cycles", "flame", before), encoding="utf-8")
    else:
        _figures()[name].write(path)
    assert looked_at(browser, path.read_text(encoding="utf-8"), tmp_path) == []


# --- The linter itself -----------------------------------------------------------------------

INK = 'fill="#000" font-size="12"'
FAULTY = {
    "labels overlap": f'<text x="20" y="40" {INK}>one label</text><text x="40" y="42" {INK}>another label</text>',
    "a label is cut off": f'<text x="180" y="40" {INK}>a label that ends outside</text>',
    "a label lies over data": '<path class="mark" d="M0,60L200,20" fill="none" stroke="#000"/>'
    f'<text x="80" y="45" {INK}>label</text>',
    "a label has little contrast": '<text x="20" y="40" fill="#999" font-size="12">pale</text>',
    "a mark has little contrast": '<rect class="mark" x="20" y="20" width="40" height="40" fill="#ecc769"/>',
    "a mark is cut off": '<rect class="mark" x="180" y="20" width="40" height="40" fill="#000"/>',
    "a mark is cut off by its axes": '<clipPath id="c"><rect x="0" y="0" width="100" height="90"/></clipPath>'
    '<g clip-path="url(#c)"><circle class="mark" cx="100" cy="50" r="8" fill="#000"/></g>',
}


@pytest.mark.parametrize("fault", FAULTY)
def test_the_linter_finds_each_fault_and_no_other(fault: str, browser: Any) -> None:
    tab = browser.new_page(viewport={"width": 400, "height": 300}, color_scheme="light")
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">'
    tab.set_content(f'<body style="background:#fff">{svg}{FAULTY[fault]}</svg>')
    found = faults(tab)
    tab.close()
    assert {said.partition(":")[0] for said in found} == {fault}


def test_the_linter_reads_the_text_of_a_page_too(browser: Any) -> None:
    tab = browser.new_page(viewport={"width": 400, "height": 300})
    tab.set_content('<body style="background:#fff"><p style="color:#aaa">pale</p><div style="width:900px">wide</div>')
    found = sorted(said.partition(":")[0] for said in faults(tab))
    tab.close()
    assert found == ["text has little contrast", "the page is wider than the screen"]


# --- Colours ---------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0: linear RGB as people see it who lack a kind of cone.
SEEN = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
APART = 18.0
"""Least distance of two colours in CIE 1976 L*a*b*; 2.3 is just noticed."""


def _linear(color: str) -> list[float]:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def _lab(rgb: list[float]) -> tuple[float, float, float]:
    """CIE 1976 L*a*b* of linear sRGB under D65."""
    to = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (max(sum(a * b for a, b in zip(row, rgb, strict=True)), 0) / w for row, w in zip(to, white, strict=True))
    fx, fy, fz = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("seen", SEEN)
def test_the_palette_is_told_apart_by_everybody(seen: str) -> None:
    labs = {
        color: _lab(
            [min(max(sum(a * b for a, b in zip(row, _linear(color), strict=True)), 0), 1) for row in SEEN[seen]]
        )
        for color in plots.LINES
    }
    assert len(labs) == 6
    for a, b in itertools.combinations(labs, 2):
        assert math.dist(labs[a], labs[b]) > APART, (a, b)


def test_black_or_white_is_read_on_every_colour() -> None:
    for color in (*plots.LINES, plots.INK, plots.MUTED):
        ground, ink = (
            sum(c * w for c, w in zip(_linear(told), (0.2126, 0.7152, 0.0722), strict=True))
            for told in (color, plots.ink_on(color))
        )
        assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 4.5, color


# --- Charts ----------------------------------------------------------------------------------


def test_twins_are_rings_and_none_hides_another() -> None:
    at = [1.0, 2.0], [3.0, 4.0]
    traces = [charts.Trace(name, *at, plots.STORE, "markers") for name in ("first", "second", "third")]
    assert charts.Chart(charts.Axis("x"), charts.Axis("y"), traces).rings() == [None, [1, 1], [2, 2]]


def test_a_page_zooms_by_keys_and_by_dragging_and_goes_back(browser: Any, tmp_path: Path) -> None:
    told = Page("run", "lead")
    told.section("The run", "What happened.", told.picture(plots.day_picture(making.DAY, zoom=True)))
    path = tmp_path / "run.html"
    path.write_text(told.render(), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.goto(path.as_uri())
    ticks = "[...document.querySelectorAll('#figure-1 text')].map((t) => t.textContent).join(' ')"
    whole = tab.evaluate(ticks)
    tab.focus("#figure-1 svg")
    tab.keyboard.press("+")
    near = tab.evaluate(ticks)
    tab.keyboard.press("0")
    assert near != whole == tab.evaluate(ticks)
    box = tab.locator("#figure-1 svg").bounding_box()
    tab.mouse.move(box["x"] + 400, box["y"] + 200)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 600, box["y"] + 210)
    tab.mouse.up()
    assert tab.evaluate(ticks) not in (whole, near)
    tab.click(".whole")
    assert tab.evaluate(ticks) == whole
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 150)
    tab.close()
