# SPDX-License-Identifier: MIT OR Apache-2.0
"""The page of published Cortex-M4 counts: current, measured with today's switches, split by a rule."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cortex_m4


def test_the_page_is_current_and_ours_were_measured_with_the_switches_of_today() -> None:
    data = cortex_m4.read(cortex_m4.DATA)
    assert cortex_m4.stale(data) == []
    assert cortex_m4.PAGE.read_text(encoding="utf-8") == cortex_m4.page(data)


def test_a_switch_that_became_another_asks_for_a_new_measurement() -> None:
    data = deepcopy(cortex_m4.read(cortex_m4.DATA))
    path = data["measured_with"]["l4"]
    path["stores_pair"] = not path["stores_pair"]
    (said,) = cortex_m4.stale(data)
    assert "stores_pair" in said


def test_the_split_is_near_half_and_every_path_names_every_switch() -> None:
    data = cortex_m4.read(cortex_m4.DATA)
    fitted = [cortex_m4.fitted_on(row["name"]) for row in data["pqm4"]["row"]]
    assert 0.35 < sum(fitted) / len(fitted) < 0.65
    for path in data["measured_with"].values():
        assert path.keys() == cortex_m4.switches({}).keys()


def test_the_table_of_bands_counts_each_row_once() -> None:
    rows = cortex_m4.read(cortex_m4.DATA)["pqm4"]["row"]
    assert sum(int(line.split("|")[3]) for line in cortex_m4.summary(rows)[2:]) == len(rows)
