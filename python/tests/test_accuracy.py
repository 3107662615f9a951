# SPDX-License-Identifier: MIT OR Apache-2.0
"""Figures of docs/accuracy that our own programs give: recomputed, so that none goes stale."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from sunseal.catalog import boards
from sunseal.papers import published

TEXT = "".join(p.read_text(encoding="utf-8") for p in sorted((boards.home() / "docs" / "accuracy").glob("*.md")))
BOARD, SIGN, MANE_CYCLES = "msp430f5438a-anagear", "ecdsa-secp160r1-sign", 2_372_103


def told(pattern: str) -> list[float]:
    """Read the figures of the one sentence that has them."""
    (found,) = re.findall(pattern, TEXT)
    return [float(n.replace(",", "")) for n in ([found] if isinstance(found, str) else found)]


def ours(table: str) -> Mapping[str, published.Row]:
    return {row.label: row for row in published.reproduce(table).rows}


def test_the_set_fitted_to_mane_is_told_as_it_weighs() -> None:
    rows = ours("mane2014/chapter-5")
    for vcc_v, freq_mhz, printed_mj in ((2.0, 3, "2"), (2.7, 9, "2"), (2.7, 14, "1\\.9")):
        row = rows[f"energy at {vcc_v} V, {freq_mhz} MHz, at Mane's cycles"]
        line = rf"\| {vcc_v} V, {freq_mhz} MHz \| {printed_mj} mJ \| ([\d.]+) mJ \| ([+-][\d.]+) % \|"
        assert row.ours is not None and row.ratio is not None
        assert told(line) == [round(1e3 * row.ours, 3), round(100 * (row.ratio - 1), 1)]
    assert told(r"ours ([\d.]+) mJ at Mane's cycles") == pytest.approx([1e3 * (row.ours or 0.0)], abs=5e-4)


def test_factors_of_the_thesis_are_told_as_they_come() -> None:
    rows = ours("mane2014/conclusion")
    factor = rows["voltage scaling's factor, power set of the thesis"].ours
    assert told(r"\| 2\.7 V over 2\.0 V \(not fitted\) \| about 1\.4 \| ([\d.]+) \|") == pytest.approx(
        [factor], abs=5e-4
    )
    multiplier = rows["the multiplier's factor"].ours
    assert told(r"almost 8 \| ([\d.]+) \(ratio") == pytest.approx([multiplier], abs=5e-3)
    own = [rows[f"cheapest clock at 2.7 V{of}"].ours for of in (", read by the thesis's own meter", "")]
    meter_mhz, chip_mhz, as_cheap_mhz = told(
        r"where (\d+) MHz is cheapest to the meter and (\d+) or (\d+) MHz to the chip"
    )
    assert [1e6 * meter_mhz, 1e6 * chip_mhz] == own
    at = [
        rows[f"energy at 2.7 V, {mhz:.0f} MHz, read by the thesis's own meter"].ours for mhz in (chip_mhz, as_cheap_mhz)
    ]
    assert at[0] == pytest.approx(at[1], rel=1e-3)


def test_what_the_thesis_measured_over_the_datasheet_is_told_as_it_comes() -> None:
    ratios = []
    for vcc_v, freq_hz, printed_j in ((2.0, 3_000_000, 2e-3), (2.7, 9_000_000, 2e-3), (2.7, 14_000_000, 1.9e-3)):
        cost, _ = published._cost(published.Place(SIGN, BOARD, "datasheet", ("mpy=32",), vcc_v, freq_hz))
        ratios.append(printed_j / (cost.energy_j * MANE_CYCLES / cost.cycles))
    pattern = (
        r"At 3 MHz the thesis measured ([\d.]+) times .* takes, at 9 MHz ([\d.]+) times, at 14 MHz\n  ([\d.]+) times"
    )
    assert told(pattern) == pytest.approx(ratios, abs=6e-3)


def test_ram_of_table_4_2_counts_what_the_page_says() -> None:
    (bytes_,) = told(r"input and output buffers \((\d+) bytes\) are in it")
    for label, row in ours("mane2014/table-4.2").items():
        if label.startswith("RAM"):
            static, harness, stack = map(int, re.findall(r"(\d+) (?:bytes static|are input|of stack)", row.note))
            assert harness == bytes_ and row.ours == static + stack, label
