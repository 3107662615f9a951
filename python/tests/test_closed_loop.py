# SPDX-License-Identifier: MIT OR Apache-2.0
"""Additions of `simulate --functions` and `--window` to a run, and the tracked figures of loop and fleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli
from sunseal.benchmark import bench_loop
from sunseal.catalog import boards

SCENARIO = """
name = "two minutes"
board = "msp430f5438a-anagear"
firmware = "{firmware}"
duration_s = 120
[supply]
initial_v = 4.0
[node]
period_s = 20
"""


@pytest.fixture
def scenario(tmp_path: Path, firmware: None) -> Path:
    program = boards.home() / "firmware" / "build" / "msp430f5438a-anagear" / "mpy-32" / "node-secp160r1.elf"
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO.format(firmware=program))
    return path


def test_energy_by_function_adds_up_and_is_printed(sunseal: Cli, scenario: Path) -> None:
    told = sunseal("simulate", scenario, "--functions", "--json")
    assert told.status == 0, told.err
    closing = json.loads(told.out)
    rows = closing["functions"]
    assert sum(r["energy_j"] for r in rows) == pytest.approx(closing["energy"]["out_j"], rel=1e-9)
    assert sum(r["time_s"] for r in rows if r["component"] == "cpu") == pytest.approx(120.0, abs=1e-6)
    assert {"cpu", "radio"} <= {r["component"] for r in rows}
    plain = json.loads(sunseal("simulate", scenario, "--json").out)
    assert {**plain, "functions": rows} == closing
    printed = sunseal("simulate", scenario, "--functions").out
    assert "energy by function" in printed
    assert "(asleep)" in printed


def test_a_window_is_told_step_by_step(sunseal: Cli, scenario: Path) -> None:
    closing = json.loads(sunseal("simulate", scenario, "--window", "10ms..0.02", "--json").out)
    window = closing["window"]
    assert (window["from_s"], window["to_s"], window["cut"]) == (0.01, 0.02, False)
    assert len(window["time_s"]) == len(window["vcap_v"]) == len(window["state"]) == len(window["load_w"])
    assert len(window["time_s"]) > 1000
    for wrong, says in (("5", "FROM..TO"), ("2..1", "it begins before it ends"), ("0..200s", "within the 120 s")):
        refused = sunseal("simulate", scenario, "--window", wrong)
        assert refused.status == 2
        assert says in refused.err


def test_the_benches_programs_do_what_their_figures_say(tmp_path: Path) -> None:
    busy, asleep = tmp_path / "busy.elf", tmp_path / "asleep.elf"
    busy.write_bytes(bench_loop.image_of(bench_loop.BUSY))
    asleep.write_bytes(bench_loop.image_of(bench_loop.ASLEEP))
    light = ([0.0, 2.0], [0.05, 0.05])
    awake, _ = bench_loop.played(
        bench_loop.scenario_of("busy", busy, 2.0, supply={"initial_v": 5.0}), light, 1, warm=False
    )
    assert awake["time_by_doing_s"]["compute"] > 1.9
    for name, supply in bench_loop.STORES.items():
        told, _ = bench_loop.played(bench_loop.scenario_of(name, asleep, 2.0, supply=supply), None, 1, warm=False)
        assert (told["brown_outs"], told["time_by_doing_s"]["sleep"] > 1.9) == (0, True), name
