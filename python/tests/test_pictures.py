# SPDX-License-Identifier: MIT OR Apache-2.0
from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import making
from looking import drawn_to
from making import DAY, FOLDED, POINTS
from sunseal.report import charts, page, plots

SVG = "{http://www.w3.org/2000/svg}"


def widths(svg: str) -> dict[str, float]:
    """Width of each frame by its name, from the tooltips."""
    found = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert title.text is not None
        assert rect is not None
        found[title.text.split(":")[0]] = float(rect.attrib["width"])
    return found


def test_a_frame_is_as_wide_as_its_share() -> None:
    w = widths(plots.flame_graph(FOLDED, "cycles", "title"))
    assert w["sign"] / w["all"] == pytest.approx(0.9, abs=0.002)
    assert w["mul"] / w["all"] == pytest.approx(0.6, abs=0.002)
    assert "<weird> & name" in w


def test_a_diff_colours_what_grew_red_and_what_shrank_blue() -> None:
    before = {"main;sign;mul": 300.0, "main;sign;sha256_update": 600.0, "main;<weird> & name": 100.0}
    svg = plots.flame_graph(FOLDED, "cycles", "title", before)
    fill: dict[str, tuple[int, ...]] = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert title.text is not None
        assert rect is not None
        fill[title.text.split(":")[0]] = tuple(bytes.fromhex(rect.attrib["fill"][1:]))
    assert fill["mul"][0] > fill["mul"][2]
    assert fill["sha256_update"][2] > fill["sha256_update"][0]
    assert fill["all"] == tuple(bytes.fromhex(plots.GREY[1:]))


def test_nothing_gives_no_flame_graph() -> None:
    with pytest.raises(ValueError, match="above zero"):
        plots.flame_graph({"main": 0.0}, "cycles", "title")


def test_a_curve_breaks_where_the_core_level_changes() -> None:
    lines = charts.by_voltage(POINTS)
    assert [[len(piece) for piece in pieces] for pieces in lines.values()] == [[8, 4], [8, 4]]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_pictures_are_the_same_bytes_twice(tmp_path: Path, ending: str) -> None:
    for name in ("a", "b"):
        charts.curve(POINTS, "curve").write(tmp_path / f"curve-{name}.{ending}")
        plots.day_file(DAY, tmp_path / f"day-{name}.{ending}")
    for kind in ("curve", "day"):
        a, b = ((tmp_path / f"{kind}-{n}.{ending}").read_bytes() for n in "ab")
        assert a == b
        assert len(a) > 2000


@pytest.fixture
def written() -> str:
    return making.pictures()


def test_the_page_is_the_same_twice_and_asks_for_nothing(written: str) -> None:
    assert written.count("<script") == written.count("</script>")
    assert " src=" not in written.split("</script>", 1)[1]
    assert "A title &amp; more" in written


def test_the_report_opens_in_a_browser_without_error_or_network(browser: Any, written: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(written, encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    trouble: list[str] = []
    asked: list[str] = []
    tab.on("pageerror", lambda e: trouble.append(str(e)))
    tab.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
    tab.on("request", lambda r: asked.append(r.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("#figure-4 svg")
    assert trouble == []
    assert [u for u in asked if not u.startswith(("file:", "data:", "blob:"))] == []
    assert tab.locator(".drawn > svg").count() == 4
    assert tab.locator("section h2").all_inner_texts() == ["The day", "Ledger", "Signature", "Curves"]
    # Nothing sticks out to the side, neither at a desk nor on a telephone: pictures are drawn again as wide as it is.
    for width in (1200, 400):
        tab.set_viewport_size({"width": width, "height": 900})
        drawn_to(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert all(
            w < width for w in tab.evaluate("[...document.querySelectorAll('.drawn > svg')].map((s) => s.clientWidth)")
        )
    tab.close()


def test_a_pdf_is_as_wide_as_a_page_and_the_same_each_time(tmp_path: Path) -> None:
    """MediaBox of PDF 32000-1, table 30, in points of 1/72 inch."""
    points = [{"freq_hz": f, "vcc_v": 2.2, "vcore": 0, "energy_j": 1e-5, "time_s": 1.0 / f} for f in (1e6, 2e6, 4e6)]
    files = [tmp_path / "one.pdf", tmp_path / "again.pdf"]
    for path in files:
        charts.curve(points, "aes128-encrypt on telosb").write(path)
    first, again = (path.read_bytes() for path in files)
    assert first == again and first.startswith(b"%PDF-")
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", first)
    assert box is not None and float(box[1]) == pytest.approx(plots.PAGE_IN * 72, abs=0.1)


def test_a_cards_figure_fits_its_card(browser: Any, tmp_path: Path) -> None:
    """On a phone and on a desk: `58,986 h, 6.7 years` ran out of its card."""
    cards = [("lifetime", "58,986 h, 6.7 years"), *((f"figure {i}", "14.85 kJ") for i in range(4))]
    path = tmp_path / "cards.html"
    path.write_text(page.Page("title", "what was asked", cards=cards).render(), encoding="utf-8")
    for width in (390, 1200):
        view = browser.new_page(viewport={"width": width, "height": 800})
        view.goto(path.as_uri())
        room = view.eval_on_selector_all(".card b", "all => all.map(b => [b.scrollWidth, b.clientWidth])")
        view.close()
        assert len(room) == 5
        assert all(needed <= given for needed, given in room), width
