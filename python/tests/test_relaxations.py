# SPDX-License-Identifier: MIT OR Apache-2.0
"""Relaxations, asked again: what is told does, and a step less does not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sunseal.planner import plan, sweep
from sunseal.planner import plan_requirements as wishes
from sunseal.planner.relaxations import DAY_STEP, STEP, Relaxation

PANEL = "ixys-slmd600h10l"
PREFIXES = {"k": 1e3, "m": 1e-3, "µ": 1e-6, "n": 1e-9}


def needed(one: Relaxation) -> float:
    """Read what is told: a number with a unit and its prefix, or per cent of days."""
    assert one.needed is not None
    digits, _, unit = one.needed.replace(",", "").partition(" ")
    if digits.endswith("%"):
        return float(digits[:-1]) / 100
    return float(digits) * (PREFIXES.get(unit[0], 1.0) if len(unit) > 1 else 1.0)


def eased(asked: dict[str, Any], requirement: str, value: float) -> dict[str, Any]:
    """Put a figure in the place of what was asked."""
    told = copy.deepcopy(asked)
    if requirement == "period":
        (task,) = told["task"]
        task["every"] = value
    elif requirement == "survive":
        told["climate"]["survive"] = value
    else:
        told["climate"]["constant_w" if "constant_w" in told["climate"] else "shading"] = value
    return told


def tighter(requirement: str, value: float) -> float:
    """Return a step of what the answer promises to be least by, nearer to what was asked."""
    if requirement == "survive":
        return value + DAY_STEP
    return value / STEP


def held(asked: dict[str, Any]) -> set[str]:
    """Plan, and plan each of the relaxations of light, period and days again; return which there were."""
    wanted = wishes.read(asked)
    frame = sweep.points(wanted)
    planned = plan.choose(sweep.field(wanted, frame))
    assert planned.best is None
    kinds = set()
    for one in planned.relaxed:
        if one.requirement in ("light", "period", "survive") and one.needed is not None:
            value = needed(one)

            def best(value: float, requirement: str = one.requirement) -> str | None:
                again = sweep.field(wishes.read(eased(asked, requirement, value)), frame)
                with pytest.MonkeyPatch.context() as patched:  # what would have to give way then nobody asks
                    patched.setattr(plan, "relaxations", lambda *_: [])
                    found = plan.choose(again).best
                return None if found is None else found.name

            assert best(value) == one.name, one.sentence
            assert best(tighter(one.requirement, value)) is None, one.sentence
            kinds.add(one.requirement)
    return kinds


def harvested(board: str, work: str, every_s: float, climate: dict[str, Any], **allow: Any) -> dict[str, Any]:
    return {
        "security": {"bits": 80},
        "task": [{"workloads": [work], "every": every_s}],
        "climate": {"tilt_deg": 36, **climate},
        "allow": {"boards": [board], "panels": [PANEL], **allow},
        "weights": {"joules_per_day": 1.0, "farads": 1.0},
    }


def test_what_is_told_does_and_a_step_less_does_not(firmware: None) -> None:
    """By the hourly year alone a shading of 0.001094 and a period of 1,568 s were told where 0.00105 and 1,180 s do."""
    store = {"harvesters": ["ti-bq25570"], "capacitors": ["capxx-hw203"]}
    climate = {"shading": 0.0016, "survive": 0.99}
    asked = harvested("msp430fr5994-launchpad", "ecdsa-p256-sign", 600.0, climate, **store)
    assert held(asked) == {"light", "period", "survive"}


def test_in_the_dark_the_engines_days_are_told(firmware: None) -> None:
    """0.5 % of days were told where 11.8 % do."""
    store = {"harvesters": ["ti-bq25570"], "capacitors": ["capxx-hw203"]}
    climate = {"shading": 0.0008, "survive": 0.99}
    asked = harvested("msp430fr5994-launchpad", "ecdsa-p256-sign", 600.0, climate, **store)
    assert {"light", "survive"} <= held(asked)


def test_branches_are_told_what_does(firmware: None) -> None:
    """On a store of several branches the hourly year is the kinder one: what it told did not do."""
    store = {"harvesters": ["anagear-an1010"], "capacitors": ["supercap-0f47-branches"]}
    climate = {"shading": 0.001, "survive": 0.97}
    asked = harvested("msp430fr5994-launchpad", "ecdsa-p256-sign", 300.0, climate, **store)
    assert "light" in held(asked)


def test_a_batterys_period_is_the_shortest_of_the_scale(firmware: None) -> None:
    asked: dict[str, Any] = {
        "security": {"bits": 80},
        "task": [{"workloads": ["ecdsa-secp160r1-sign"], "every": 2.0}],
        "battery": {"lifetime": "9year"},
        "allow": {"boards": ["telosb"], "batteries": ["own"]},
        "weights": {"joules_per_day": 1.0},
    }
    assert held(asked) == {"period"}
