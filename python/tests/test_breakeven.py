# SPDX-License-Identifier: MIT OR Apache-2.0
"""Break-even of coupons: the year of the fleet's engine beside the closed loop, its edges, and what is said."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Cli, require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.kit.doctor import server_path
from sunseal.loop import fleet as fleets
from sunseal.loop import simulation
from sunseal.measurement.costs import Cost
from sunseal.planner import breakeven

BOARD = "msp430fr5994-launchpad"
SHIPPED = boards.home() / "examples" / "scenarios" / "coupons.toml"
COSTS = breakeven.Costs(
    kind="p256",
    way="sign",
    board=BOARD,
    freq_hz=8_000_000,
    vcc_v=3.0,
    power_set="given",
    whole=Cost(2_000_000, 0.25, 8e-4),
    make=Cost(2_200_000, 0.28, 9e-4),
    use=Cost(12_000, 0.0015, 5e-6),
)
DAY = breakeven.switched(5e-3, 0.0, 86_400.0, 7200.0)
"""Two hours of light a day."""


def question(**changes: Any) -> breakeven.Question:
    asked: dict[str, Any] = {
        "costs": COSTS,
        "supply": {**breakeven.SUPPLY, "capacitance_f": 0.05, "overhead_j": 1e-3},
        "trace": DAY,
        "sleep_w": 2e-6,
        "demand": 1440.0,
        "slots": 400,
        "days": 20,
    }
    return breakeven.Question(**{**asked, **changes})


def books_close(o: breakeven.Outcome) -> None:
    assert o.asked == o.given + o.lost + o.missed and o.in_time <= o.given
    assert o.made == o.used + o.discarded + o.left
    assert abs(o.energy_balance_rel) < 1e-6 and o.thrown_away_j <= o.panel_j


# --- The engine's year beside the closed loop ------------------------------------------------

DAYS = 2
LIGHT = breakeven.switched(5e-3, 0.0, 21_600.0, 3600.0)
"""An hour of light every six."""


def demo(sunseal: Cli, folder: Path, high: str) -> dict[str, Any]:
    text = SHIPPED.read_text().replace("../../", f"{boards.home()}/")
    for was, now in (
        ("duration_s = 3600", f"duration_s = {DAYS * 86_400}"),
        ("period_s = 30\n", "period_s = 240\n"),
        ("period_s = 3600, on_s = 600", "period_s = 21600, on_s = 3600"),
    ):
        assert was in text
        text = text.replace(was, now)
    path = folder / f"days-{high[:4]}.toml"
    path.write_text(text + high)
    told = sunseal("demo", "--scenario", path, "--out", folder / path.stem, "--json")
    assert told.status == 0, told.err
    closing: dict[str, Any] = json.loads(told.out)
    return closing | {"path": path}


def measured(closing: dict[str, Any], none: dict[str, Any]) -> fleets.NodeProfile:
    """Take the node's profile from the closed loop: sleep, start and round, then what coupons change of a round."""
    scenario = simulation.load(none["path"])
    whole = fleets.profile_of(scenario)
    (task,) = whole.tasks
    told = simulation.facts(scenario)
    config = fleets._config(told, Path(told["firmware"]).read_bytes())
    made, kept = closing["coupons"], closing["coupons"]
    sign_j = none["coupons"]["fallback_j"] / none["coupons"]["fallbacks"]
    use_j, make_j = kept["used_j"] / kept["used"], made["produced_j"] / made["produced"]
    sign_s = task.time_s * sign_j / task.energy_j
    margin, policy = config["margin_percent"] / 100, told["node"]["coupons"]
    use_gate_j = task.gate_j - margin * (config["sign_uj"] - policy["use_uj"]) * 1e-6
    wanted_uj = told["node"]["keygen_uj"] + config["sign_uj"] + 2 * config["radio_uj"]
    make_gate_j = (config["overhead_uj"] + margin * wanted_uj) * 1e-6
    coupons = fleets.Coupons(
        slots=24,
        make=fleets.Work(make_j, sign_s * make_j / sign_j, make_gate_j),
        from_coupon=fleets.Work(task.energy_j - sign_j + use_j, max(task.time_s - sign_s, 1e-3), use_gate_j),
        every_s=policy["every_s"],
        refill_above_v=policy["refill_above_v"],
    )
    return replace(whole, coupons=coupons)


def test_the_engines_year_is_the_closed_loop_over_two_days(sunseal: Cli, tmp_path: Path) -> None:
    try:
        server_path()
        boards.firmware_path(BOARD, {"mpy": "32"}, "node-p256-coupons")
    except SunsealError as e:
        require(False, str(e))
    kept, none = (demo(sunseal, tmp_path, high) for high in ("", "high = 0\n"))
    profile = measured(kept, none)
    assert profile.coupons is not None
    supply = {k: v for k, v in simulation.facts(simulation.load(kept["path"]))["supply"].items() if v is not None}
    gained = []
    for closing, slots in ((kept, 24), (none, 0)):
        mine = replace(profile, coupons=replace(profile.coupons, slots=slots))
        o = breakeven.play_profile(BOARD, 3.0, supply, LIGHT, mine, days=DAYS)
        books_close(o)
        told = closing["coupons"]
        # An answer each time that it gets dark, every six hours: starts with their enrolment are not followed one by
        # one, and whether the gate is open at a start may hang on a millisecond's light.
        assert o.given == pytest.approx(closing["reports"], abs=DAYS * 4)
        assert o.made == pytest.approx(told["produced"], rel=0.03, abs=1)
        assert o.used == pytest.approx(told["used"], rel=0.03, abs=1)
        thrown_away_j = closing["energy"]["lost_by_j"]["not taken: the store was full"]
        assert o.thrown_away_j == pytest.approx(thrown_away_j, rel=0.01)
        assert o.brown_outs == closing["brown_outs"]
        gained.append((o.in_time, closing["reports"]))
    (kept_ours, kept_loop), (none_ours, none_loop) = gained
    assert kept_loop > none_loop + 12
    assert kept_ours - none_ours == pytest.approx(kept_loop - none_loop, abs=DAYS * 4)


# --- Joules and edges ------------------------------------------------------------------------


def test_coupons_pay_with_light_enough_and_a_night_to_carry() -> None:
    found = breakeven.answer(question())
    kept, without = found.asked.with_coupons, found.asked.without
    for o in (kept, without):
        books_close(o)
    assert found.pays and found.asked.gained > 1000 and "coupons pay here" in found.sentence
    assert kept.thrown_away_j < without.thrown_away_j and without.made == 0
    by_axis = {e.axis: e for e in found.edges}
    assert set(by_axis) == {"demand", "light", "slot price", "slots"}
    # With less light there is no surplus; a slot that costs too much is never worth it.
    assert by_axis["light"].pays_from is not None and by_axis["light"].pays_from < found.question.mean_light_w
    price_j, demand = by_axis["slot price"].pays_to, by_axis["demand"].pays_from
    assert price_j is not None and price_j > COSTS.whole.energy_j
    assert demand is not None and demand < 1440.0
    for edge in found.edges:
        for p in edge.points:
            books_close(p.with_coupons)


@pytest.mark.parametrize(
    ("changes", "slots"),
    [
        ({}, 400),
        ({}, 0),
        ({"demand": 288.0, "light": 0.2}, 24),
        ({"demand": 2880.0, "slots": 4096}, 4096),  # fills over more days than are compared
        ({"light": 0.02}, 400),  # runs dry
        ({"trace": breakeven.switched(5e-3, 0.0, 3600.0, 600.0), "demand": 2880.0}, 24),
        ({"trace": breakeven.switched(5e-3, 0.0, 7000.0, 600.0)}, 24),  # never the same at midnight
        ({"demand": 1441.3}, 24),
        ({"demand": 205.5, "light": 0.2}, 24),  # comes again each second day
    ],
)
def test_periods_that_are_alike_are_added_as_they_would_be_played(
    changes: dict[str, Any], slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = question(days=60, **changes)
    short = asdict(breakeven.play(asked, slots))
    monkeypatch.setattr(breakeven, "ALIKE_AFTER", ())
    whole = asdict(breakeven.play(asked, slots))
    for key in ("energy_balance_rel", "off_s"):
        assert short.pop(key) == pytest.approx(whole.pop(key), rel=1e-6, abs=1e-6)
    for key, value in whole.items():
        assert short[key] == (value if isinstance(value, int) else pytest.approx(value, rel=1e-7)), key


def test_periods_of_light_and_demand_that_come_again_are_not_played_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[float] = []
    play_one = fleets.play_one

    def counted(profile: fleets.NodeProfile, trace: fleets.Trace, days: float, **to: Any) -> dict[str, Any]:
        played.append(days)
        return play_one(profile, trace, days, **to)

    monkeypatch.setattr(fleets, "play_one", counted)
    breakeven.play(question(days=365, trace=breakeven.switched(5e-3, 0.0, 3600.0, 600.0)), 24)
    assert sum(played) < 3
    played.clear()
    breakeven.play(question(days=20, demand=1441.3), 24)
    assert played == [20]


@pytest.mark.parametrize("demand", [1.0, 3.3, 33.4, 104.1, 205.6, 4725.3, 19349.3, 19363.5])
def test_demands_that_are_tried_come_again_with_the_light(demand: float) -> None:
    asked = question(days=365)
    even = breakeven._even_demand(asked, demand)
    assert even == pytest.approx(demand, rel=breakeven.EVEN)
    again_s = breakeven._comes_again(replace(asked, demand=even).profile(24), asked.trace)
    # Few answers in many days are soon played.
    if demand > 10:
        assert again_s is not None and again_s <= breakeven.EVEN_DAYS * fleets.DAY_S
        for n in (2, 3, 4):  # rounding moves no answer over midnight
            assert breakeven._dues(fleets.DAY_S / even, n * again_s) == n * round(again_s * even / fleets.DAY_S)
    assert breakeven._even_demand(question(trace=([0.0, 7e4], [1e-3, 1e-3])), 4725.3) == 4725.3


@pytest.mark.parametrize("end_s", [0.0, 59.0, 60.0, 86_400.0 * 365, 86_400 / 19363 * 19363 * 2])
@pytest.mark.parametrize("period_s", [60.0, 0.1, 86_400 / 19363, 86_400 / 7])
def test_dues_are_counted_as_the_engine_counts_them(end_s: float, period_s: float) -> None:
    count = breakeven._dues(period_s, end_s)
    assert count * period_s >= end_s and (count == 0 or (count - 1) * period_s < end_s)


@pytest.mark.parametrize("axis", [a.name for a in breakeven.AXES])
def test_an_edge_is_an_edge(axis: str) -> None:
    asked = question()
    (edge,) = breakeven.answer(asked, [axis]).edges
    vary = next(a for a in breakeven.AXES if a.name == axis).vary

    def pays(value: float) -> bool:
        one = vary(asked, value)
        kept, without = breakeven.play(one, one.slots), breakeven.play(one, 0)
        return kept.in_time - without.in_time >= max(1.0, breakeven.LEAST * without.asked)

    assert edge.pays and (edge.pays_from is not None or edge.pays_to is not None)
    tried = [p.value for p in edge.points]
    for end, beyond in ((edge.pays_from, -1), (edge.pays_to, 1)):
        if end is None:
            continue
        # The next that was tried beyond it is near, and does not pay.
        outside = tried[tried.index(end) + beyond]
        near = 1 if axis == "slots" else 1.01 * breakeven.NEAR * end
        assert pays(end) and not pays(outside) and abs(outside - end) <= max(near, 0.0)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    light=st.floats(0.01, 3.0),
    demand=st.floats(10.0, 10_000.0),
    slots=st.integers(1, 500),
    capacitance_f=st.floats(0.005, 0.5),
    beside_j=st.floats(0.0, 1e-3),
)
def test_the_books_close_whatever_is_asked(
    light: float, demand: float, slots: int, capacitance_f: float, beside_j: float
) -> None:
    supply = {**breakeven.SUPPLY, "capacitance_f": capacitance_f, "overhead_j": 1e-3}
    asked = question(light=light, demand=demand, supply=supply, beside_j=beside_j, beside_s=0.01, days=3)
    kept, without = breakeven.play(asked, slots), breakeven.play(asked, 0)
    for o in (kept, without):
        books_close(o)
    # A coupon is made of surplus only: without one, nothing changes.
    if kept.made == 0:
        counts = [(o.asked, o.given, o.in_time, o.lost, o.used, o.brown_outs) for o in (kept, without)]
        assert counts[0] == counts[1]
        # Looks for a surplus divide time otherwise: the fourth digit may differ (1.1e-4 at 0.16 F in little light).
        assert kept.load_j == pytest.approx(without.load_j, rel=5e-4)
        assert kept.thrown_away_j == pytest.approx(without.thrown_away_j, rel=5e-4, abs=1e-3)
    if without.thrown_away_j == 0.0 and kept.brown_outs == 0:
        assert kept.in_time >= without.in_time - 2


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"costs": replace(COSTS, use=Cost(1, 0.3, 1e-3))}, "so there is nothing to save"),
        ({"trace": ([0.0, 86_400.0], [5e-3, 5e-3])}, "without them every answer is in time already"),
        ({"trace": ([0.0, 86_400.0], [3e-5, 3e-5])}, "the store is never full, so there is no surplus"),
        ({"refill_above_v": 4.99, "margin": 600.0}, "so none is made"),
    ],
)
def test_why_they_never_pay_is_said(changes: dict[str, Any], why: str) -> None:
    found = breakeven.answer(question(**changes), axes=[])
    assert not found.pays and why in found.sentence, found.sentence


# --- The command -----------------------------------------------------------------------------


def test_the_command_answers_with_figures_chart_and_page(sunseal: Cli, firmware: None, tmp_path: Path) -> None:
    page, picture = tmp_path / "b.html", tmp_path / "b.svg"
    told = sunseal(
        *("coupon", "breakeven", SHIPPED, "--days", "5", "--axis", "demand", "--axis", "slots", "--json"),
        *("--report", page, "--figure", picture),
    )
    assert told.status == 0, told.err
    found = json.loads(told.out)
    assert found["pays"] and found["question"]["demand"] == 2880.0 and found["costs"]["board"] == BOARD
    assert found["costs"]["guard"]["energy_j"] > 0
    assert found["with"]["in_time"] > found["without"]["in_time"]
    assert found["with"]["thrown_away_j"] < found["without"]["thrown_away_j"]
    assert [e["axis"] for e in found["break_even"]] == ["demand", "slots"]
    assert "Whether coupons pay" in page.read_text() and "<svg" in picture.read_text()
    shown = sunseal("coupon", "breakeven", SHIPPED, "--days", "5", "--axis", "slots")
    assert "coupons pay here" in shown.out and "slots: coupons pay" in shown.out


def test_a_year_of_weather_is_the_planners(sunseal: Cli, firmware: None) -> None:
    told = sunseal(
        *("coupon", "breakeven", "--kind", "ctr", "--shading", "0.002", "--days", "30", "--axis", "demand", "--json")
    )
    found = json.loads(told.out)
    assert told.status == (0 if found["pays"] else 1)
    assert found["costs"]["way"] in ("sbox", "tbox", "fixslice", "hw") and found["with"]["panel_j"] > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--kind", "otp"], "otp"),
        (["--kind", "schedule"], "no workload does the same whole"),
        (["--board", "mica2dot"], "keeps no coupons"),
        (["--way", "magic"], "magic"),
        (["--demand", "1e6"], "are more than half of the node's time; ask for"),
        (["--axis", "wind"], "wind"),
        (["--capacitor", "no-such-part"], "no-such-part"),
        (["--constant", "1V"], "--constant"),
        (["--deadline", "soon"], "--deadline"),
    ],
)
def test_what_is_wrong_is_one_sentence(sunseal: Cli, firmware: None, options: list[str], says: str) -> None:
    light = [] if "--constant" in options else ["--constant", "1mW"]
    told = sunseal("coupon", "breakeven", *light, "--days", "2", *options)
    assert told.status == 2 and says in told.err and "Traceback" not in told.err, told.err


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"climate": {"constant_w": 1e-3, "shading": 0.01}}, "climate.shading stands beside `constant_w`"),
        ({"climate": {"constant_w": 1e-3, "tilt_deg": 80.0}}, "climate.tilt_deg stands beside `constant_w`"),
        ({"climate": {"constant_w": 1e-3}, "panel": "none"}, "the panel `none` stands beside `constant_w`"),
        ({"scenario": SHIPPED, "panel": "none"}, "the panel `none` stands beside the light of"),
        ({"scenario": SHIPPED, "climate": {"shading": 0.5}}, "`shading` says no whole climate"),
    ],
)
def test_light_that_would_change_nothing_is_refused(asked: dict[str, Any], told: str) -> None:
    """Each of these was left out without a word, the scenario's light with the last."""
    with pytest.raises(SunsealError, match=told):
        breakeven.breakeven("p256", **asked, days=1, axes=[])


SLOW = """
import signal, sys, time
from sunseal.cli import app
from sunseal.planner import breakeven

def play(*_):
    print("plays", file=sys.stderr, flush=True)
    time.sleep(100)

breakeven.play = play
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["sunseal", "coupon", "breakeven", "--constant", "1mW"]
app.main()
"""
"""Years that a thread is in for longer than anybody waits."""


def test_ctrl_c_does_not_wait_for_a_year_that_is_under_way() -> None:
    child = subprocess.Popen([sys.executable, "-c", SLOW], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    while "plays" not in (line := child.stderr.readline()):
        assert line, "it ended before it played"
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "stopped; nothing was written" in said and "Traceback" not in said
