# SPDX-License-Identifier: MIT OR Apache-2.0
"""Results in notebooks: each gives its figures as a frame and shows itself as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import making
import sunseal as tool
from sunseal.answers.shown import ROWS_MAX, Shown
from sunseal.planner import size as sizing

RESULTS: dict[str, Callable[[], Any]] = {
    "measure": lambda: tool.measure("sha256-hash"),
    "tune": lambda: tool.tune(["sha256-hash"], board_names=[making.BOARD], latency_s=2e-3),
    "size": lambda: sizing.size(making.DEMAND, making.BOARD, store_f=0.1, v_max_v=5.0, cutoff_v=1.9),
    "lifetime": lambda: tool.lifetime("sha256-hash", board="telosb", every_s=60, bits=320, cutoff_v=2.2),
    "plan": lambda: tool.plan(making.MOTE),
    "inject": lambda: tool.Injection("sum.elf", "telosb", 5, 5, 2, {}, 0, [], compared=["total"]),
    "hazard": lambda: tool.Hazard(0x1800, 2, "total", 0x4000, "add", 0x4006, "add", 3, 2),
    "verdict": lambda: tool.Verdict("inject <sum>.elf", 3),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_and_gives_a_frame(name: str, firmware: None) -> None:
    result = RESULTS[name]()
    assert isinstance(result, Shown)
    frame, shown = result.frame(), result._repr_html_()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    assert shown.count("<tr") <= ROWS_MAX + 2
    assert "<table" in shown and "<sum>" not in shown


def test_a_frame_has_the_keys_of_json(firmware: None) -> None:
    m = tool.measure("sha256-hash")
    told = dict(m.frame()["value"].items())
    assert told["energy_j"] == m.energy_j
    assert told["cycles"] == m.cycles
    assert {str(key).partition(".")[0].partition("[")[0] for key in told} <= set(m.to_dict())


def test_every_answer_of_the_package_shows_itself() -> None:
    kinds = "Calls Citations ConstantTime Ended FleetRun Hazard Injection Least Measurement Verdict".split()
    assert all(issubclass(getattr(tool, kind), Shown) for kind in kinds)


def test_a_chart_shows_itself_in_a_frame_that_asks_for_nothing() -> None:
    from sunseal.report import charts

    shown = charts.curve(making.POINTS, "curve")._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.count("<iframe") == 1
    assert "http" not in shown
