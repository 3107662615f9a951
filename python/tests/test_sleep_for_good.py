# SPDX-License-Identifier: MIT OR Apache-2.0
"""Doings of a chip, and its current, while its CPU sleeps for good."""

import pytest

from sunseal import Bench
from sunseal.catalog import boards

BOARD = "msp430f5438a-anagear"


def _bench() -> Bench:
    return Bench(BOARD, boards.firmware_path(BOARD, boards.variant((), BOARD), "bench-sha256-hash"))


def test_the_time_that_was_asked_for_passes_asleep_and_its_energy_is_given() -> None:
    drawn = []
    for within in (2.0, 3.0, 5.0):
        bench = _bench()
        ended = bench.run(within=within)
        assert (ended.why, ended.exit_status) == ("halted", 0)
        assert bench.time_s == pytest.approx(within, abs=1e-6)
        drawn.append(bench.energy_j)
    a_second = drawn[1] - drawn[0]
    assert a_second > 0
    assert drawn[2] - drawn[1] == pytest.approx(2 * a_second, rel=1e-6)


def test_without_a_time_it_ends_where_it_sleeps_for_good() -> None:
    bench = _bench()
    ended = bench.run()
    assert ended.why == "halted"
    assert ": the CPU sleeps (lpm4) with GIE in SR clear" in ended.detail
    assert bench.time_s < 0.5
