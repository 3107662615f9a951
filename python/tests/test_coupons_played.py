# SPDX-License-Identifier: MIT OR Apache-2.0
"""The shipped scenario with coupons against the real server, and the same node without any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli, require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.kit.doctor import server_path

SHIPPED = boards.home() / "examples" / "scenarios" / "coupons.toml"


def demo(sunseal: Cli, folder: Path, high: str) -> dict[str, Any]:
    path = folder / f"coupons-{high or 'all'}.toml"
    path.write_text(SHIPPED.read_text().replace("../../", f"{boards.home()}/") + high)
    told = sunseal("demo", "--scenario", path, "--out", folder / path.stem, "--json")
    assert told.status == 0, told.err
    closing: dict[str, Any] = json.loads(told.out)
    return closing


def test_coupons_made_of_surplus_carry_the_node_further_into_the_dark(sunseal: Cli, tmp_path: Path) -> None:
    try:
        server_path()
        boards.firmware_path("msp430fr5994-launchpad", {"mpy": "32"}, "node-p256-coupons")
    except SunsealError as e:
        require(False, str(e))
    with_them, without = (demo(sunseal, tmp_path, high) for high in ("", "high = 0\n"))
    made, none = with_them["coupons"], without["coupons"]
    assert (none["produced"], none["used"]) == (0, 0)
    for closing in (with_them, without):
        told = closing["coupons"]
        # The intruder's two are refused; of the node's own, none. One more signature enrols the key.
        assert closing["verified"] == closing["reports"] and closing["refused"] == len(closing["intruder"])
        assert told["used"] + told["fallbacks"] in (closing["verified"] + 1, closing["verified"] + 2)
        assert told["produced"] == told["used"] + told["discarded"] + told["in_store_end"]
        assert closing["energy_balance_rel"] < 1e-6
    # 24 coupons at the end of the light; a signature from one takes next to nothing.
    assert made["produced"] > 40
    assert made["used_j"] / made["used"] < 0.01 * made["fallback_j"] / made["fallbacks"]
    assert with_them["verified"] >= without["verified"] + 10
    thrown_away = [c["energy"]["lost_by_j"]["not taken: the store was full"] for c in (with_them, without)]
    assert thrown_away[1] - thrown_away[0] > made["produced_j"] / 2
    page = (tmp_path / "coupons-all" / "report.html").read_text()
    assert "Signatures prepared from surplus energy" in page and f"{made['produced']:,} for" in page


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("high = 25\n", "node.coupons.high is 25; the program's memory keeps 24 coupons, so take 24 or fewer"),
        ("per_wake = 0\n", "node.coupons.per_wake is 0; it must be one or more"),
        ("low = 3\nhigh = 2\n", "node.coupons.low is 3 and high is 2"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(
    sunseal: Cli, tmp_path: Path, firmware: None, table: str, told: str
) -> None:
    path = tmp_path / "coupons.toml"
    path.write_text(SHIPPED.read_text().replace("../../", f"{boards.home()}/") + table)
    answer = sunseal("simulate", path)
    assert answer.status == 2 and told in answer.err
