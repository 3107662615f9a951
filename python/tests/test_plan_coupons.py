# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal plan` with coupons: chosen when they win, never without a surplus, never dearer than without."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conftest import Cli
from sunseal.errors import SunsealError
from sunseal.measurement import coupon
from sunseal.planner import breakeven, plan, plan_confirm, sweep
from sunseal.planner import plan_requirements as wishes

BOARD = "msp430fr5994-launchpad"
WORKS = ["ecdsa-secp160r1-sign", "ecdsa-p256-sign"]


def light(folder: Path, level_w: float, hours: float) -> str:
    """Write a day with so many hours of light."""
    path = folder / f"light-{level_w!r}-{hours!r}.csv"
    points = zip(*breakeven.switched(level_w, 0.0, 86_400.0, hours * 3600.0), strict=True)
    path.write_text("time_s,power_w\n" + "".join(f"{t!r},{p!r}\n" for t, p in points))
    return str(path)


def told(trace: str, coupons: int | None = None, **changes: Any) -> dict[str, Any]:
    """Return requirements of a node that signs often, with a short day's light."""
    task = {"operation": "sign", "every": 60.0, "latency": 2.0} | changes.pop("task", {})
    allow = {"boards": [BOARD], "workloads": WORKS, "panels": ["ixys-slmd600h10l"]}
    allow |= {
        "capacitors": changes.pop("capacitors", ["capxx-hw203", "capxx-hf-0f1"]),
        "harvesters": ["anagear-an1010"],
    }
    return {
        "security": {"bits": 112},
        "task": [task | ({} if coupons is None else {"coupons": coupons})],
        "climate": {"trace": trace, "survive": 0.9},
        "allow": allow,
        "weights": {"joules_per_day": 0.01, "farads": 100.0},
        **changes,
    }


@pytest.fixture(scope="session")
def frame(firmware: None, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Price both signatures at a few operating points."""
    whole = sweep.points(wishes.read(told(light(tmp_path_factory.mktemp("light"), 1e-3, 2.0), security={"bits": 80})))
    return whole[whole.freq_hz.isin([1_000_000, 8_000_000])].reset_index(drop=True)


def chosen(frame: pd.DataFrame, wanted: dict[str, Any]) -> plan.Planned:
    return plan.choose(sweep.field(wishes.read(wanted), frame))


def cost(planned: plan.Planned) -> float:
    return planned.best.cost if planned.best is not None else math.inf


def test_coupons_win_where_the_small_store_does_not_carry_the_night(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "relaxations", lambda *_: [])  # what would have to give way without them
    trace, small = light(tmp_path, 20e-3, 12.0), ["capxx-hf-0f1"]
    with_them, without = (chosen(frame, told(trace, n, capacitors=small)) for n in (230, None))
    best = with_them.best
    assert best is not None and best.row["coupons"] == 230
    assert best.cost < cost(without)
    assert best.name.endswith(", 230 coupons")
    assert "sign from 230 coupons: " in best.words and "without them" in best.words and "thrown away" in best.words
    assert best.year is not None and best.year["coupons"]["used"] > 0 and best.year["survived_share"] >= 0.9 - 0.5 / 365
    assert best.margin["energy"] >= 0.0
    # The memory of the slots is the program's: 64 bytes of (k^-1, r), a header, and not more than there is.
    assert 230 * (64 + 10) < best.row["flash_bytes"] <= 0xFF80 - 0x4000
    with pytest.raises(SunsealError, match="keep no coupons"):
        plan_confirm.scenario(with_them, best)
    # What else is offered stays; the rest of the plan knows no coupons.
    assert all(c.row["coupons"] in (0, 230) for c in with_them.configurations)
    assert all(c.row["coupons"] == 0 for c in without.configurations)


def test_without_a_surplus_they_are_never_chosen(frame: pd.DataFrame, tmp_path: Path) -> None:
    for level_w in (1e-5, 1e-4):
        wanted = told(light(tmp_path, level_w, 23.9), 230, task={"every": 10.0})
        assert all(c.row["coupons"] == 0 for c in chosen(frame, wanted).configurations)


@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    level_w=st.floats(1e-4, 5e-2),
    hours=st.floats(0.5, 23.0),
    every_s=st.floats(15.0, 600.0),
    coupons=st.integers(1, 230),
)
def test_a_plan_that_allows_coupons_is_never_dearer(
    frame: pd.DataFrame, tmp_path: Path, level_w: float, hours: float, every_s: float, coupons: int
) -> None:
    trace = light(tmp_path, level_w, hours)
    allowed, plain = (chosen(frame, told(trace, n, task={"every": every_s})) for n in (coupons, None))
    assert cost(allowed) <= cost(plain)
    for c in allowed.configurations:
        if c.row["coupons"]:
            assert c.year is not None and c.year["coupons"]["produced"] > 0
    # What qualified before is still there, as far as there is room.
    kept = [c.cost for c in allowed.configurations if not c.row["coupons"]]
    assert kept == [c.cost for c in plain.configurations][: len(kept)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"task": {"coupons": 0}}, "coupons is 0; it must be a whole number from 1"),
        ({"task": {"operation": "hash", "coupons": 4}}, "has a part that is done ahead"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path: Path, sunseal: Cli, change: dict[str, Any], says: str) -> None:
    wanted = told(light(tmp_path, 1e-3, 2.0), **change)
    del wanted["allow"]["workloads"]
    with pytest.raises(SunsealError, match=says):
        wishes.read(wanted)


def test_more_than_fit_beside_the_program_are_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    # 0x4000 to 0xFF7F: what lies above 64 KB no 16-bit pointer reaches.
    room = 0xFF80 - 0x4000
    most = {w: (room - flash) // coupon.slot_bytes(k, BOARD) for w, k, flash in _programs(frame)}
    trace = light(tmp_path, 1e-3, 2.0)
    with pytest.raises(SunsealError, match=f"at most {max(most.values())} fit"):
        chosen(frame, told(trace, max(most.values()) + 1))
    chosen(frame, told(trace, max(most.values())))


def _programs(frame: pd.DataFrame) -> list[tuple[str, str, int]]:
    kinds = dict(zip(WORKS, ("secp160r1", "p256"), strict=True))
    rows = frame[["workload", "flash_bytes"]].drop_duplicates().itertuples(index=False, name=None)
    return [(w, kinds[w], int(flash)) for w, flash in rows]


def test_a_plan_keeps_coupons_for_one_task(tmp_path: Path) -> None:
    wanted = told(light(tmp_path, 1e-3, 2.0), 5)
    wanted["task"] *= 2
    with pytest.raises(SunsealError, match="more than one task has `coupons`"):
        wishes.read(wanted)
