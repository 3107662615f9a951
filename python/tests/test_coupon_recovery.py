# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recovery from a denial of service, section 3.5.1 of Suslowicz 2017, from the closed loop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.papers import coupon_rate


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    """Skip where the firmware is not built."""
    try:
        boards.firmware_path(coupon_rate.BOARD, boards.variant((), coupon_rate.BOARD), coupon_rate.PROGRAM)
    except SunsealError as e:
        require(False, str(e))


def test_a_coupon_answers_at_the_start_and_a_whole_signature_when_a_charge_pays_it(
    sunseal: Cli, tmp_path: Path
) -> None:
    page, picture = tmp_path / "recovery.html", tmp_path / "recovery.svg"
    asked = ("--capacitance", "700uF", "--capacitance", "300uF", "--harvested", "0.5mW", "--json")
    told = sunseal("coupon", "recovery", *asked, "--report", page, "--figure", picture)
    assert told.status == 0, told.err
    found = json.loads(told.out)
    small, large = found["recoveries"]
    assert small["capacitance_f"] == 300e-6 and small["charge_share"] < 1 < large["charge_share"]
    use, whole = (coupon_rate.cost(name, boards.DEFAULT_POWER) for name in (coupon_rate.USE, coupon_rate.WHOLE))
    for r in (small, large):
        # The light is steady, and the program begins a few milliseconds behind the output's start.
        first = r["coupons"]
        assert first["time_s"] == pytest.approx(r["on_s"] + use.time_s, abs=0.015) and first["brown_outs"] == 0
        assert first["harvested_j"] == pytest.approx(0.5e-3 * first["time_s"])
        # Start-up is the same with and without, and so small beside a whole signature.
        assert use.energy_j < first["load_j"] < use.energy_j + 0.1 * whole.energy_j
    # Each charge of the small one ends before the signature does: an operation that is cut off is none.
    assert small["none"] is None and small["charges"] >= 3
    gained = {key: large["none"][key] - large["coupons"][key] for key in ("time_s", "load_j")}
    assert gained["time_s"] == pytest.approx(whole.time_s - use.time_s, abs=0.05)
    # Two programs lie otherwise behind the FRAM's cache: without Ascon in front, the duty program takes 2.4 % more.
    assert gained["load_j"] == pytest.approx(whole.energy_j - use.energy_j, rel=0.03)
    assert "The store meanwhile" in page.read_text() and "<svg" in picture.read_text()


def test_a_store_that_is_emptier_takes_longer(sunseal: Cli) -> None:
    on_s = []
    for starved_to in ("1.9V", "0V"):
        told = sunseal("coupon", "recovery", "--capacitance", "100uF", "--starved-to", starved_to, "--json")
        on_s.append(json.loads(told.out)["recoveries"][0]["on_s"])
    # 1/2 C (2.6^2 - V^2) at one power; what the harvester itself takes is little.
    assert on_s[1] / on_s[0] == pytest.approx(2.6**2 / (2.6**2 - 1.9**2), rel=0.01)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("--harvested", "1uW"), "leave nothing behind the harvester's own; take more than 2e-05 W"),
        (("--starved-to", "2.6V"), "a store at 2.6 V is not starved: the output of anagear-an1010 starts at 2.6 V"),
        (("--capacitance", "0F"), "--capacitance"),
        (("--capacitance", "1mJ"), "--capacitance"),
    ],
)
def test_bad_input_is_told(sunseal: Cli, asked: tuple[str, ...], sentence: str) -> None:
    told = sunseal("coupon", "recovery", *asked)
    assert told.status == 2 and sentence in told.err.replace("\n", " ")
