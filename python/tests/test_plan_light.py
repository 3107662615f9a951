# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plans in little light: what panels give there, in offices too, and what holds at the low end of it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from sunseal.planner import choosing, plan, sweep, uncertainty
from sunseal.planner import plan_requirements as wishes
from test_plan import PANEL, field, frame, told

__all__ = ["frame"]


def test_what_a_panel_gives_in_low_light_is_among_what_a_plan_depends_on(frame: pd.DataFrame) -> None:
    wanted = {**told(), "climate": {"shading": 0.05, "survive": 0.5}}
    everything = sweep.field(wishes.read(wanted), frame)
    c = plan.choose(everything).configurations[0]
    swing = next(s for s in c.sensitivity if s.assumption == "the panel in low light")
    assert swing.outcome_low < c.margins[-1].value <= swing.outcome_high + 1e-9
    assert c.margins[-1].low <= swing.outcome_low
    assert c.year is not None
    low, high = c.year["low_light"]
    assert swing.low == f"x {round(low, 3):g}" and 0.3 < low < 0.9 and low + high == pytest.approx(2.0, abs=0.02)
    # Of a light that the file itself gives no panel was asked.
    assert everything.lights[PANEL].low_light is not None
    assert field(frame).lights[PANEL].low_light is None


def test_an_amorphous_cell_carries_a_node_through_an_office_year(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Ten hours of 500 lux a day: the panel's own table times the hours. Where it ends, the panel is left out."""
    rows = "".join(f"{hour},{500 if 8 <= hour < 18 else 0}\n" for hour in range(24))
    (tmp_path / "office.csv").write_text("hour,lux\n" + rows)
    climate = {"lux": str(tmp_path / "office.csv"), "light": "fluorescent", "survive": 0.9}
    panels = {"panels": ["panasonic-am-1815", PANEL]}
    asked = {**told(), "climate": climate, "allow": {**told()["allow"], **panels}}
    everything = sweep.field(wishes.read(asked), frame)
    light = everything.lights["panasonic-am-1815"]
    assert light.hours_w().mean() == pytest.approx(383.0e-6 * 10 / 24, rel=0.01)
    low, high = light.low_light or (0.0, 0.0)
    assert low == pytest.approx(0.895, abs=0.01) and low + high == pytest.approx(2.0, abs=1e-6)
    assert "of the sun's" in everything.lights[PANEL].provenance["light"]
    (tmp_path / "office.csv").write_text("hour,lux\n" + rows.replace("500", "5000"))
    everything = sweep.field(wishes.read(asked), frame)
    assert list(everything.lights) == [PANEL]
    assert any("asked for 5000.0000 lux, and its table goes from 50 to 1000 lux" in said for said in everything.refused)


def test_a_plan_says_what_holds_at_the_low_end_and_what_it_costs_more(frame: pd.DataFrame) -> None:
    """In light that hardly carries the cheapest, a larger panel holds at the low end, and is told with its cost."""
    allow = {"panels": ["ixys-slmd600h10l", "ixys-slmd121h04l", "anysolar-kxob201k04f"]}
    wanted = {**told(), "climate": {"shading": 0.003, "survive": 0.5}, "weights": {"panel_watts": 1.0}}
    wanted["allow"] = {**told()["allow"], **allow}
    everything = sweep.field(wishes.read(wanted), frame)
    planned = plan.choose(everything)
    first = planned.configurations[0]
    assert first.unsure == ("energy",)
    margin = 1 + first.margins[-1].value
    for other in planned.beside:
        assert other.cost >= first.cost and other.energy_margin > first.margins[-1].value
        assert (
            "more" in other.words or "times" in other.words or "the same" in other.words
        ) and "low end" in other.words
        if other.holds:
            assert other.low_end >= 0
        else:
            assert 1 + other.energy_margin >= 2 * margin and other.cost <= 1.1 * first.cost
    # What is told to hold does, asked anew, and the first does not.
    rows = {choosing.name_of(row): row for _, row in planned.front.iterrows()}
    for other in planned.beside:
        row = rows[other.name]
        case = uncertainty.Case(
            everything.table.iloc[[int(row.load_index)]], everything.supplies[int(row.supply_index)]
        )
        margins = plan._margins(everything.requirements, row, case, uncertainty.tornadoes(everything, [case])[0])
        assert all(m.sure for m in margins) or not other.holds
    assert sum(b.holds for b in planned.beside) == 1
    assert json.loads(json.dumps(planned.to_dict(), allow_nan=False))["beside"] == [b.to_dict() for b in planned.beside]
