# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reports in a real browser, what their pictures show, what results cite, and the notebooks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import making
from conftest import Cli, opened
from sunseal.api import playing
from sunseal.catalog import boards, citing
from sunseal.errors import SunsealError
from sunseal.papers import published
from sunseal.report import charts, plots
from sunseal.report import scenario as report
from sunseal.report.page import Page

BOARD = boards.DEFAULT_BOARD


# --- Citations -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", boards.names("parts"))
def test_every_part_says_where_it_is_from(name: str) -> None:
    assert len(citing.of(parts=[name])) > 0


WITHOUT_TABLES = {"shnayder2004", "residual"}
"""Papers that coefficients are from and of which `data/published` has no table."""


@pytest.mark.parametrize("name", boards.names("power"))
def test_every_set_of_coefficients_cites_its_documents_and_those_it_extends(name: str) -> None:
    cited = citing.of(power_sets=[name])
    told: Any = boards.read_toml(boards.home() / "data" / "power" / f"{name}.toml")
    assert {s.text for s in cited} >= {f"{d['document']}, {d['place']}" for d in told["source"].values()}
    if "extends" in told["set"]:
        assert f"data/power/{told['set']['extends']}.toml" in {s.file for s in cited}
    if not name.endswith("-datasheet") and not name.startswith("fpga-"):
        paper = name.rpartition("-")[2]
        assert (paper in {p.key for p in cited.papers}) == (paper not in WITHOUT_TABLES)


def test_the_four_papers_become_bibtex() -> None:
    told = citing.of(papers=citing._papers()).bibtex()
    assert told.count("@mastersthesis{mane2014,\n  author = {D. H. Mane},") == 1
    assert "author = {K. Piotrowski and P. Langendoerfer and S. Peter}" in told
    assert "title = {Optimizing Cryptography in Energy Harvesting Applications}" in told
    assert told.count("year = {") == 4
    assert "= {}" not in told


def test_citations_add_up_without_saying_anything_twice() -> None:
    one = citing.of(board=BOARD, power_sets=["msp430f5438a-mane2014"])
    two = citing.of(board="telosb")
    assert one + one == one
    assert len(one + two) == len(one) + len(two)
    assert [p.key for p in one.papers] == ["mane2014"]
    assert list(one.frame().columns) == ["file", "text", "note", "recalled", "assumed"]


# --- Pictures --------------------------------------------------------------------------------

OUTCOME = st.floats(-1e3, 1e3)


@given(ends=st.lists(st.tuples(OUTCOME, OUTCOME), min_size=1, max_size=6), answer=OUTCOME)
def test_a_tornado_reaches_from_the_answer_to_each_end_the_widest_first(
    ends: list[tuple[float, float]], answer: float
) -> None:
    swings = [charts.Swing(f"assumption {i}", low, high) for i, (low, high) in enumerate(ends)]
    drawn = charts.tornado(swings, answer, charts.Axis("answer"))
    widths = []
    for name in drawn.labels:
        reached = [answer + bars.length[bars.at.index(name)] for bars in drawn.bars]
        assert reached == pytest.approx(ends[int(name.split()[1])], abs=1e-9)
        widths.append(abs(reached[1] - reached[0]))
    assert widths == sorted(widths, reverse=True) or widths == pytest.approx(sorted(widths, reverse=True))


def test_a_curve_breaks_at_other_wait_states_too() -> None:
    points = [
        {
            "freq_hz": f * 10**6,
            "vcc_v": 2.0,
            "vcore": 0,
            "cycles": 100 + 9 * (f > 8),
            "time_s": 1 / f,
            "energy_j": 1 / f,
        }
        for f in range(1, 17)
    ]
    (line,) = charts.curve(points, over="throughput").traces
    assert line.x.index(None) == 8
    assert line.x.count(None) == 1


def test_a_chart_says_the_same_on_a_page_and_on_paper(browser: Any, tmp_path: Path) -> None:
    trace = charts.Trace("line", [1e-3, None, 1.0], [0.937e-3, None, 1.5e-3], plots.STORE)
    x, y = charts.Axis("latency", "s", log=True), charts.Axis("energy", "J")
    chart = charts.Chart(x, y, [trace], title="both", y_lines={"bound": 1e-3})
    (drawn,) = chart.told()["panels"]
    assert drawn["traces"][0]["y"] == [0.937e-3, None, 1.5e-3]
    made = Page("page", "lead")
    made.section("section", "text", made.chart(chart))
    (tmp_path / "a.html").write_text(made.render(), encoding="utf-8")
    chart.write(tmp_path / "a.svg")
    with opened(browser, tmp_path / "a.html", "#figure-1 svg") as tab:
        texts = [told.replace("\u00a0", " ") for told in tab.locator("#figure-1 text").all_text_contents()]
        assert {"1 ms", "100 ms", "energy [mJ]", "latency", "bound"} <= {*texts}
        # A point under the mouse tells both its figures, with a space before each unit.
        box = tab.locator("#figure-1 path.mark").last.bounding_box()
        tab.mouse.move(box["x"] + 4, box["y"] + box["height"] - 4)
        assert tab.locator(".tip").inner_text().replace("\u00a0", " ") == "line\n1 ms, 937 µJ"
    text = (tmp_path / "a.svg").read_text()
    assert all(word in text for word in ("latency", "energy", "both", "1 ms", "bound"))


@given(
    powers=st.lists(st.tuples(st.floats(0, 1e-3), st.floats(0, 1e-3)), min_size=1, max_size=100),
    volts=st.lists(st.floats(1.0, 5.0), min_size=101, max_size=101),
    width_s=st.sampled_from([0.5, 60.0, 3600.0]),
)
def test_scarcity_and_surplus_together_are_the_run(
    powers: list[tuple[float, float]], volts: list[float], width_s: float
) -> None:
    series = [
        {"time_s": width_s * i, "panel_w": p, "load_w": n, "vcap_v": volts[i + 1], "vcap_max_v": volts[0]}
        for i, (p, n) in enumerate(powers)
    ]
    found = report.regimes({"series": series, "simulated_s": width_s * len(series)}, 0.5)
    total = {key: sum(j[key] for j in found.values()) for key in ("time_s", *report.KEPT)}
    assert total["time_s"] == pytest.approx(width_s * len(series))
    assert total["light_j"] == pytest.approx(width_s * math.fsum(p for p, _ in powers), abs=1e-12)
    assert total["work_j"] == pytest.approx(width_s * math.fsum(n for _, n in powers), abs=1e-12)
    assert total["stored_j"] == pytest.approx(0.25 * (volts[len(series)] ** 2 - volts[0] ** 2), abs=1e-9)
    assert total["lost_j"] == pytest.approx(total["light_j"] - total["work_j"] - total["stored_j"], abs=1e-9)


def test_the_nights_of_a_year_are_scarce() -> None:
    series = [
        {"time_s": 3600.0 * h, "panel_w": 1e-3 * (6 <= h % 24 < 18), "load_w": 1e-5, "vcap_v": 3.0, "vcap_max_v": 3.0}
        for h in range(8760)
    ]
    found = report.regimes({"series": series, "simulated_s": 8760 * 3600.0}, 0.5)
    assert found["scarcity"]["time_s"] == pytest.approx(4380 * 3600.0)
    assert found["surplus"]["light_j"] == pytest.approx(4380 * 3.6)


def test_what_a_full_store_refuses_is_thrown_away_and_nothing_is_in_scarcity(firmware: None) -> None:
    rows = {r.label: r.ours for r in published.reproduce("suslowicz2017/figure-2").rows if r.ours is not None}
    for light, came in (("scarce light, 40 uW", 34.56), ("plentiful light, 400 uW", 345.6)):
        kept = [v for k, v in rows.items() if k.startswith(light) and not k.endswith(("asked", "came", "away"))]
        thrown = rows[f"{light}: thrown away, the store being full"]
        assert rows[f"{light}: light that came"] == pytest.approx(came)
        assert sum(kept) + (0 if thrown in kept else thrown) == pytest.approx(came, rel=1e-6)
    assert rows["scarce light, 40 uW: thrown away, the store being full"] == 0
    assert rows["scarce light, 40 uW: signatures done of those asked"] < 100
    assert rows["plentiful light, 400 uW: signatures done of those asked"] == 100


# --- Pages -----------------------------------------------------------------------------------


def headings(browser: Any, page: str, tmp_path: Path) -> Any:
    """Open a page: nothing sticks out, and every picture holds something. Return its headings."""
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    count = page.count('class="drawn"')
    with opened(browser, path, f"#figure-{count} svg") as tab:
        drawn = tab.evaluate("[...document.querySelectorAll('.drawn')].map((g) => g.querySelectorAll('.mark').length)")
        assert len(drawn) == count
        assert min(drawn) > 0, drawn
        for width in (1200, 400):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        found: list[str] = tab.locator("section h2").all_inner_texts()
    return found


@pytest.mark.parametrize(
    ("write", "wanted"),
    [
        (making.planned, {"The choice", "What the margin depends on", "The chosen operation over throughput"}),
        (making.nothing_planned, {"What would have to give way", "Cost and margin"}),
        (making.tuned, {"What binds", "Energy and latency of all of them", "Pareto front"}),
        (making.nothing_tuned, {"What would have to give way"}),
        (making.sized, {"Equations 6.1 to 6.3", "A typical year", "What the answers depend on"}),
        (making.lifetime, {"How long it lasts", "Where the battery's joules go"}),
        (making.reproduced, {"All of them", "mane2014 figure-4.2", "piotrowski2006 table-9"}),
        (making.fleet, {"Who survived", "Light and period"}),
        (
            None,
            {"The run", "A closer look", "Under scarcity and under surplus", "Energy by function and component"},
        ),
    ],
    ids=lambda p: getattr(p, "__name__", "_scenario" if p is None else ""),
)
def test_a_report_opens_in_a_browser(
    write: Callable[[], str] | None, wanted: set[str], browser: Any, firmware: None, tmp_path: Path
) -> None:
    page = making.scenario(tmp_path) if write is None else write()
    assert {*headings(browser, page, tmp_path)} >= {*wanted, "Assumptions and sources"}


def test_functions_and_components_are_all_of_the_run_s_energy(firmware: None, tmp_path: Path) -> None:
    record = making.minutes(tmp_path).record
    supply = record["energy"]["supply"]
    told_j = sum(row["energy_j"] for row in record["functions"])
    assert told_j == pytest.approx(supply["load_j"] + supply["store_load_j"])


def test_a_report_is_the_same_bytes_twice(firmware: None) -> None:
    assert making.lifetime() == making.lifetime()


def test_a_file_of_an_unknown_kind_is_refused_before_anything_runs(sunseal: Cli, tmp_path: Path) -> None:
    for command in (
        ["tune"],
        ["size"],
        ["lifetime"],
        ["reproduce", "--all"],
        ["fleet", "no.toml"],
        ["plan", "no.toml"],
    ):
        told = sunseal(*command, "--report", tmp_path / "report.pdf")
        assert told.status == 2
        assert "its name must end in .html" in told.err
        assert "/nowhere" in sunseal(*command, "--figure", "/nowhere/at/all.svg").err
    for command in (
        ["measure", "sha256-hash"],
        ["inject", "no.elf", "--board", BOARD],
        ["war", "no.elf", "--board", BOARD],
        ["constant-time", "sha256-hash", "--secret", "bench_input"],
        ["sweep", "no.toml", "--over", "seed=1,2"],
    ):
        told = sunseal(*command, "--report", tmp_path / "report.pdf")
        assert told.status == 2
        assert "its name must end in .html" in told.err


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        (("measure", "sha256-hash"), 0, "Where the joules go"),
        (("constant-time", "sha256-hash", "--secret", "bench_input"), 0, "secret bytes were read"),
        (("sweep", "pulse.toml", "--over", "supply.initial_v=3.0,3.2", "--show", "brown_outs"), 0, "brown_outs from"),
    ],
)
def test_what_is_judged_measured_or_swept_has_a_page(
    command: tuple[str, ...], status: int, says: str, sunseal: Cli, firmware: None, tmp_path: Path
) -> None:
    scenarios = boards.home() / "examples" / "scenarios"
    told = [str(scenarios / part) if part.endswith(".toml") else part for part in command]
    assert sunseal(*told, "--report", tmp_path / "page.html").status == status
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and says in page


# --- Notebooks -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planner", "year", "coupons"])
def test_a_notebook_runs(name: str, browser: Any, firmware: None, tmp_path: Path) -> None:
    notebook = json.loads((boards.home() / "examples" / f"{name}.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    try:
        for cell in notebook["cells"]:
            assert not cell.get("outputs"), "outputs are not kept"
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    except SunsealError as e:
        pytest.fail(str(e))
    if name == "planner":
        assert {*headings(browser, names["page"], tmp_path)} >= {"The choice", "What the margin depends on"}


@pytest.mark.parametrize(
    ("harvest", "seconds", "says"),
    [
        ({"constant_w": 1e-3}, 3.0, ["from the constant source", '"name":"constant source"', "time [s]", "3 s sim"]),
        (
            {"periodic": {"on_w": 1e-3, "period_s": 60.0, "on_s": 30.0}},
            1800.0,
            ["from the periodic source", "time [min]"],
        ),
        ({}, 36000.0, ["power of source (dark) and node", "time [h]", "10 h simulated", "The run"]),
        ({"constant_w": 1e-3}, 864000.0, ["time [d]", "240 h simulated"]),
    ],
)
def test_a_scenario_s_page_calls_scale_and_source_by_their_kind(
    harvest: dict[str, Any], seconds: float, says: list[str]
) -> None:
    steps = [{"lasts_s": 1.0, "current_a": 1e-5}]
    tables = {"name": "pulse", "board": "telosb", "duration_s": seconds, "load": {"steps": steps}, "harvest": harvest}
    supply = {"capacitor": "capxx-hw203", "charger": "diode", "output": "direct", "initial_v": 3.0}
    played = playing.simulate({**tables, "supply": supply})
    page = report.scenario_page(played, played.closing())
    for text in says:
        assert text in page, text
    for text in ("local standard time", "light on the panel", "The day", '"name":"panel"'):
        assert text not in page, text
