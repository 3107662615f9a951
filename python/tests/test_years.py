# SPDX-License-Identifier: MIT OR Apache-2.0
"""The hourly year beside the engine's under gates, and what both rest on."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sunseal.loop import fleet as fleets
from sunseal.planner import plan_requirements as wishes
from sunseal.planner import plan_supplies as supply
from sunseal.planner import sweep, years
from test_plan import frame, told

assert frame  # a fixture
GROWS = ("mean_w", "compute_w", "radio_w", "busy")


def edge(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect for the largest factor that holds."""
    while high > low * 1.003:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@pytest.mark.parametrize("store", ["avx-scmr14d474", "capxx-hw203", "supercap-0f47-branches"])
def test_under_gates_the_hourly_year_carries_what_the_engines_does(
    frame: pd.DataFrame, tmp_path: Path, store: str
) -> None:
    """The engine's gate was in joules of the rail, the hourly year waited for no light, and branches leaked too little:
    8 % less to 11 % more was carried."""
    days = np.arange(365.0)
    noon = 3e-3 * (1.0 + 0.9 * np.cos(2 * np.pi * (days + 170) / 365)) * (0.4 + 0.6 * np.sin(days * 1.7) ** 2)
    rows = [f"{d * 86400 + h * 3600!r},{p * f!r}" for d, p in zip(days.tolist(), noon.tolist(), strict=True)
            for h, f in ((0.0, 0.0), (8.0, 0.0), (10.0, 0.7), (12.0, 1.0), (16.0, 0.0))]  # fmt: skip
    path = tmp_path / "light.csv"
    path.write_text("time_s,power_w\n" + "\n".join(rows) + f"\n{365 * 86400.0!r},0.0\n")
    asked = told(
        climate={"trace": str(path), "survive": 1.0},
        allow={"capacitors": [store], "harvesters": ["ti-bq25570", "ti-bq25504", "anagear-an1010"]},
        task={"every": 600.0},
    )
    del asked["climate"]["constant_w"]
    everything = sweep.field(wishes.read(asked), frame)
    table, tried, apart = everything.table, 0, {}
    for i, one in enumerate(everything.harvested):
        load = table[one.carries(table.vcc_v.to_numpy()) & (table.cell == "")].sort_values("mean_w").iloc[[0]]

        def more(factor: float, load: pd.DataFrame = load) -> pd.DataFrame:
            return load.assign(**{name: load[name] * factor for name in GROWS})

        def hourly(factor: float, i: int = i, one: supply.Harvested = one) -> bool:
            assert everything.carried is not None
            lowest_j = sweep.lowest_j(everything.requirements, one, more(factor))
            return bool(sweep.needed_w(one, more(factor))[0] <= everything.carried.most_w(i, lowest_j)[0])

        def engines(factor: float, one: supply.Harvested = one) -> bool:
            return bool(years.play_year(everything, one, more(factor))["survived_share"] >= 1.0 - 0.5 / supply.DAYS)

        mine = edge(hourly, 1e-3, 1e4)
        if mine > 0.1:
            engines_most = edge(engines, mine / 2.0, mine * 2.0)
            # At the store, where the electronics' own draw is a part of it.
            mine_w, engines_w = (sweep.needed_w(one, more(factor))[0] for factor in (mine, engines_most))
            apart[one.name] = float(mine_w / engines_w - 1.0)
            tried += 1
    assert tried >= 2
    assert max(abs(v) for v in apart.values()) < 0.035, apart


def test_a_store_of_branches_that_begins_where_the_output_comes_on_is_on() -> None:
    """It began a rounding below 2.8 V, and was off until the first light: no plan behind such a charger survived."""
    profile = fleets.NodeProfile(1e-6, 0.0, 0.0, 60.0, (fleets.Task("round", 600.0, 1e-5, 0.01, 0.0),))
    night = [0.0, 8 * 3600.0, 12 * 3600.0, 18 * 3600.0, 86_400.0], [0.0, 0.0, 5e-4, 0.0, 0.0]
    for charger in ("ti-bq25504", "ti-bq25570"):
        parts = {"charger": charger, "output": "ti-tps7a02", "capacitor": "supercap-0f47-branches"}
        fate = fleets.play_one(profile, night, 2, vcc_v=1.8, supply=parts)
        assert (fate["off_s"], fate["starts"], fate["days_survived"]) == (0.0, 1, 2)


def test_a_switching_output_is_asked_asleep_and_awake(frame: pd.DataFrame) -> None:
    everything = sweep.field(
        wishes.read(told(climate={"constant_w": 1e-3}, allow={"harvesters": ["ti-bq25570"]})), frame
    )
    one = next(s for s in everything.harvested if s.output == "ti-bq25570")
    table = everything.table[one.carries(everything.table.vcc_v.to_numpy())].iloc[:20]
    names = ["mean_w", "compute_w", "radio_w", "busy", "vcc_v"]
    mean_w, compute_w, radio_w, busy, vcc_v = table[names].to_numpy(dtype=float).T
    awake_w = one.drawn_w((compute_w + radio_w) / busy, vcc_v)
    asleep_w = one.drawn_w((mean_w - compute_w - radio_w) / (1.0 - busy), vcc_v)
    got = sweep.needed_w(one, table)
    assert got == pytest.approx(awake_w * busy + asleep_w * (1.0 - busy))
    # At their mean current, which is as good as asleep, pulses would be dearer.
    assert (got < one.drawn_w(mean_w, vcc_v) * 1.05).all()
