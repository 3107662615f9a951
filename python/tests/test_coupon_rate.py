# SPDX-License-Identifier: MIT OR Apache-2.0
"""Figure 4 of Suslowicz 2017 from the closed loop, beside the paper's formula."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.papers import coupon_rate


@pytest.fixture(scope="module")
def built() -> None:
    """Skip where the firmware is not built."""
    try:
        boards.firmware_path(coupon_rate.BOARD, boards.variant((), coupon_rate.BOARD), coupon_rate.PROGRAM)
    except SunsealError as e:
        require(False, str(e))


def test_rates_follow_power_and_then_latency_as_the_formula_says(sunseal: Cli, tmp_path: Path, built: None) -> None:
    page, picture = tmp_path / "rate.html", tmp_path / "rate.svg"
    told = sunseal(
        "coupon", "rate", "--harvested", "1.5mW", "--harvested", "6mW", "--json", "--report", page, "--figure", picture
    )
    assert told.status == 0, told.err
    found = json.loads(told.out)
    scarce, plenty = ({p["kind"]: p for p in found["points"] if p["harvested_w"] == w} for w in (1.5e-3, 6e-3))
    for points in (scarce, plenty):
        assert points["none"]["rate_hz"] < points["store"]["rate_hz"] < points["endless"]["rate_hz"]
        # The store's signatures are what it has more than the node without.
        gained = points["store"]["operations"] - points["none"]["operations"]
        assert gained in (coupon_rate.NODE_STORE - 1, coupon_rate.NODE_STORE, coupon_rate.NODE_STORE + 1)
    # Scarce: energy is the limit; a restart, and the operation that the cut-off ends, are what the formula leaves out.
    for p in scarce.values():
        assert p["brown_outs"] > 0 and p["rate_hz"] == pytest.approx(p["formula_hz"], rel=0.12)
    # Plenty: latency is.
    assert plenty["none"]["rate_hz"] == pytest.approx(1 / found["whole_s"], rel=0.04)
    assert plenty["endless"]["rate_hz"] == pytest.approx(1 / found["runtime_s"], rel=0.02)
    assert all(p["brown_outs"] == 0 for p in plenty.values())
    for kind, joules, seconds in (("none", "whole_j", "whole_s"), ("endless", "runtime_j", "runtime_s")):
        at_rail_w = coupon_rate.usable_w(found["inflection_w"][kind])
        assert at_rail_w == pytest.approx(found[joules] / found[seconds])
        assert scarce[kind]["usable_w"] < at_rail_w < plenty[kind]["usable_w"]
    assert "From the closed loop" in page.read_text() and "<svg" in picture.read_text()


def test_power_that_leaves_nothing_is_refused(sunseal: Cli, built: None) -> None:
    told = sunseal("coupon", "rate", "--harvested", "1uW")
    assert told.status == 2 and "leave nothing behind the harvester's own; take more than 2e-05 W" in told.err
    assert sunseal("coupon", "rate", "--harvested", "1V").status == 2


def test_the_harvester_s_law_is_its_file_s_by_hand() -> None:
    """Of the light 80 % come into the store and 85 % of what leaves it to the rail; 6 and 2 uW are its own."""
    store = coupon_rate.supply(0.5)
    assert coupon_rate.usable_w(1e-3) == pytest.approx((1e-3 * 0.8 - 6e-6) * 0.85, rel=1e-6)
    assert coupon_rate.harvested_w(1e-3) == pytest.approx((1e-3 / 0.85 + 6e-6) / 0.8, rel=1e-6)
    assert coupon_rate.usable_w(19e-6) == 0.0, "the charger takes nothing below 20 uW"
    assert store.gains_w(1e-3) == pytest.approx(0.8e-3 - 2e-6, rel=1e-9)
    assert store.energy_j(1.9, 2.6) == pytest.approx(0.25 * (2.6**2 - 1.9**2), rel=1e-9)


def test_the_node_s_store_is_the_firmware_s() -> None:
    text = (boards.home() / "firmware" / "boards" / coupon_rate.BOARD / "board.h").read_text()
    assert f"#define BOARD_COUPON_FRAM_SLOTS {coupon_rate.NODE_STORE}\n" in text


def test_coupons_written_into_the_store_are_its_own(built: None) -> None:
    memory = bytes.fromhex(coupon_rate._coupons(3))
    words = struct.unpack("<8H", memory[:16])
    assert (words[0] ^ words[2], words[1] ^ words[3]) == (0xFFFF, 0xFFFF)
    slot_bytes = 14 + 100
    slots = [memory[16 + i * slot_bytes : 16 + (i + 1) * slot_bytes] for i in range(4)]
    assert [s[:2] for s in slots] == [b"\x55\x55"] * 3 + [b"\x00\x00"]
    assert len({s[14:] for s in slots[:3]}) == 3
