# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fleets: the profile against the closed loop it stands for, pieces that resume, what is refused."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conftest import Cli
from sunseal import _engine, run_fleet
from sunseal.catalog import boards
from sunseal.errors import Stopped, SunsealError
from sunseal.loop import fleet, simulation
from sunseal.loop.services import Services

SCENARIOS = boards.home() / "examples" / "scenarios"
SPEC = """
scenario = "{scenario}"
nodes = 150
days = 20
[climate]
shading = 0.005
[spread]
light = {{ uniform = [0.3, 1.5] }}
period_s = {{ choice = [180, 3600] }}
"""
PROFILE = fleet.NodeProfile(2.5e-5, 4e-3, 0.4, 15.0, (fleet.Task("report", 180.0, 3.4e-3, 0.2, 5e-3),))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.toml"
    path.write_text(SPEC.format(scenario=SCENARIOS / "day.toml"))
    return path


def minutes() -> dict[str, Any]:
    """The minutes' scenario on P-256."""
    told = simulation.facts(simulation.load(SCENARIOS / "minutes.toml"))
    return {**told, "firmware": told["firmware"].replace("node-secp160r1", "node-p256")}


def closed_loop(changes: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Play the minutes' scenario, changed, against the real server."""
    told = minutes()
    for key, value in changes.items():
        told[key] = {**told[key], **value} if isinstance(value, dict) else value
    with Services(folder, 1) as served:
        served.call("POST", "/v1/nodes", {"node_id": told["node"]["node_id"], "name": "n"}, time_us=0)
        scenario = _engine.Scenario.from_json(json.dumps(told)).answered_by(served.gateway)
        return simulation.play(scenario).record


def test_a_profile_foretells_the_closed_loop(tmp_path: Path) -> None:
    # Measured at a period of 60 s and of 30 s, asked for 45 s, twenty minutes, other light, another store.
    told = minutes()
    profile = fleet.profile_of(_engine.Scenario.from_json(json.dumps(told)))
    changes = {"duration_s": 1800.0, "node": {"period_s": 45}, "harvest": {"constant_w": 4e-4}}
    record = closed_loop({**changes, "supply": {"initial_v": 3.0}}, tmp_path)
    told["supply"]["initial_v"] = 3.0
    plan = {
        "duration_s": 1800.0,
        "profiles": [fleet.every(profile, 45.0).to_dict()],
        "nodes": [{"profile": 0, "trace": 0, "light_scale": 1.0, "phase_s": 0.0, "capacitance_f": None}],
    }
    light = [([0.0, 86400.0], [4e-4, 4e-4])]
    data = str(boards.home() / "data")
    (fate,) = json.loads(
        _engine.fleet(data, _engine.Scenario.from_json(json.dumps(told)), json.dumps(plan), light, None)
    )
    load_j = record["energy"]["supply"]["load_j"]
    assert fate["tasks"][0]["done"] == pytest.approx(fleet.rounds_of(record), abs=1)
    assert fate["sums"]["load_j"] == pytest.approx(load_j, rel=0.02)
    assert fate["v_end_v"] == pytest.approx(record["series"][-1]["vcap_v"], abs=5e-3)


def test_a_fleet_that_is_cut_off_goes_on_where_it_was(spec: Path, tmp_path: Path) -> None:
    whole = fleet.run(fleet.load(spec, PROFILE), tmp_path / "whole")
    assert len(whole) == 150
    assert whole.balance_rel.abs().max() < 1e-6
    assert ((whole.report_done + whole.report_lost) <= whole.report_due).all()

    def impatient(done: int, _: int) -> None:
        if done >= fleet.PIECE:
            raise KeyboardInterrupt

    with pytest.raises(Stopped, match="the same command goes on from there"):
        fleet.run(fleet.load(spec, PROFILE), tmp_path / "cut", jobs=1, heard=impatient)
    left = sorted(p.name for p in (tmp_path / "cut").glob("part-*"))
    assert 0 < len(left) < 3
    resumed = fleet.run(fleet.load(spec, PROFILE), tmp_path / "cut")
    pd.testing.assert_frame_equal(whole, resumed)
    for path in (tmp_path / "whole").glob("part-*"):
        assert path.read_bytes() == (tmp_path / "cut" / path.name).read_bytes()


PROFILE_TEXT = """
[profile]
sleep_w = 2.5e-5
start_j = 4e-3
start_s = 0.4
poll_s = 15.0
[[profile.task]]
name = "report"
period_s = 180.0
energy_j = 3.4e-3
time_s = 0.2
gate_j = 5e-3
"""


def test_the_command_and_the_function_play_the_same_fleet(sunseal: Cli, spec: Path, tmp_path: Path) -> None:
    text = spec.read_text().replace("nodes = 150", "nodes = 12").replace("days = 20", "days = 3")
    spec.write_text(text + PROFILE_TEXT)
    done = sunseal("fleet", spec, "--out", tmp_path / "out", "--seed", "7", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    played = run_fleet(spec, seed=7)
    told = {k: v for k, v in told.items() if k not in ("schema", "sunseal")}
    assert told == {**played.summary(), "residual_known": told["residual_known"]}
    assert [p.name for p in (tmp_path / "out").glob("part-*")] == ["part-00000.parquet"]
    assert run_fleet(spec).summary() != played.summary()


def test_more_light_does_more_reports(spec: Path, tmp_path: Path) -> None:
    """The day's store is empty each night at this pace: no day is survived, and what is done grows with the light."""
    rows = fleet.run(fleet.load(spec, PROFILE), tmp_path / "out").sort_values("light")
    often = rows[rows.period_s == 180.0]
    done, third = often.report_done / often.report_due, len(often) // 3
    assert done.head(third).mean() < done.tail(third).mean()


def test_dask_plays_the_same(spec: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    alone = fleet.run(fleet.load(spec, PROFILE), tmp_path / "alone")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        spread = fleet.run(fleet.load(spec, PROFILE), tmp_path / "dask", dask=cluster.scheduler_address)
    pd.testing.assert_frame_equal(alone, spread)
    assert threading.active_count() < 50


def test_another_fleets_folder_is_refused(spec: Path, tmp_path: Path) -> None:
    fleet.run(fleet.load(spec, PROFILE), tmp_path / "out")
    spec.write_text(spec.read_text().replace("nodes = 150", "nodes = 151"))
    with pytest.raises(SunsealError, match="holds another fleet"):
        fleet.run(fleet.load(spec, PROFILE), tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("nodes = 150", "nodes = 0"), "nodes is 0; it must be a whole number, one or more"),
        (("nodes = 150", "nods = 150"), "unknown key `nods`"),
        (("[0.3, 1.5]", "[1.5, 0.3]"), "runs backwards"),
        (("[0.3, 1.5]", "[-1.5, 0.3]"), "it must stay above zero"),
        (("uniform", "uniforn"), "it must be a number, {uniform = [low, high]}"),
        (("shading", "shade"), "unknown key `shade`"),
        (("shading = 0.005", 'trace = "none.csv"'), "cannot be read"),
        (("[spread]", "[spread]\ntilt_deg = {{ uniform = [1, 2] }}".format()), "must be a choice"),
        (("shading = 0.005", 'shading = "some"'), "climate.shading is 'some'; it must be a number above 0 to 1"),
        (("shading = 0.005", "constant_w = -1.0"), "climate.constant_w is -1.0; it must be a number above 0"),
        (("shading = 0.005", "constant_w = nan"), "climate.constant_w is nan; it must be a number above 0"),
        (("shading = 0.005", "tilt_deg = 400"), "climate.tilt_deg is 400; it must be a number from 0 to 90"),
        (("shading = 0.005", "weather = 3"), "climate.weather is 3; it must be a text"),
        (("shading = 0.005", "constant_w = 1e-3\ntrace = 'a.csv'"), "climate.constant_w stands beside `trace`"),
        (("shading = 0.005", "shading = 0.005\nconstant_w = 1e-3"), "climate.shading stands beside `constant_w`"),
        (("[climate]", "[climate]\npanel = 'any'\ntrace = 'x.csv'"), "climate.panel stands beside `trace`"),
        (
            ("shading = 0.005\n[spread]", "constant_w = 1e-3\n[spread]\ntilt_deg = { choice = [1, 2] }"),
            "spread.tilt_deg stands beside climate.constant_w, which no tilt changes",
        ),
    ],
)
def test_what_is_wrong_with_a_fleet_file_is_said(spec: Path, change: tuple[str, str], told: str) -> None:
    spec.write_text(spec.read_text().replace(*change))
    with pytest.raises(SunsealError) as e:
        fleet.load(spec, PROFILE)
    assert told in str(e.value)


def test_a_battery_makes_no_fleet(spec: Path, firmware: None) -> None:
    """It said that there is a table [harvest], which nobody had written."""
    spec.write_text(SPEC.format(scenario=SCENARIOS / "node-telosb.toml"))
    with pytest.raises(SunsealError, match="telosb has no harvester, and a fleet lives on light") as e:
        fleet.load(spec)
    assert "sunseal lifetime --board telosb" in str(e.value.hint)
