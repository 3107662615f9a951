# SPDX-License-Identifier: MIT OR Apache-2.0
from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sunseal.catalog import units
from sunseal.errors import SunsealError, unknown


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("8MHz", "Hz", 8e6),
        ("8 MHz", "Hz", 8e6),
        ("32768", "Hz", 32768.0),
        ("2.7V", "V", 2.7),
        ("2700mV", "V", 2.7),
        ("1.5e-3F", "F", 1.5e-3),
        ("470uF", "F", 470e-6),
        ("470µF", "F", 470e-6),
        (".5s", "s", 0.5),
    ],
)
def test_a_quantity_is_read_as_it_is_typed(text: str, unit: str, value: float) -> None:
    assert units.parse(text, unit, "--x") == value


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("fast", "Hz", "is not a number with a unit such as `8MHz`"),
        ("8MHZ", "Hz", "is not in Hz"),
        ("8V", "Hz", "is not in Hz"),
        ("8xHz", "Hz", "unknown prefix `x`"),
        ("0Hz", "Hz", "above zero"),
        ("-3V", "V", "above zero"),
        ("1e999V", "V", "finite"),
        ("", "V", "is not a number"),
        ("1.2.3V", "V", "is not"),
        ("nanV", "V", "is not a number"),
    ],
)
def test_what_is_no_quantity_is_refused_by_name(text: str, unit: str, says: str) -> None:
    with pytest.raises(SunsealError, match=r"--x") as caught:
        units.parse(text, unit, "--x")
    assert says in str(caught.value)


def test_a_time_that_is_none_is_quoted_as_it_was_typed() -> None:
    for text in ("-3min", "0h", "1e999d"):
        with pytest.raises(SunsealError, match=re.escape(f"--every `{text}` must be above zero and finite")):
            units.time_s(text, "--every")


def test_a_wrong_case_is_pointed_out() -> None:
    with pytest.raises(SunsealError) as caught:
        units.freq_hz("8mhz")
    assert caught.value.hint == "units are case-sensitive: Hz"


def test_a_clock_is_whole() -> None:
    with pytest.raises(SunsealError, match="whole number of hertz"):
        units.freq_hz("8000000.5Hz")


def test_a_clock_fits_the_engine() -> None:
    with pytest.raises(SunsealError, match=r"99GHz.*no clock of a microcontroller"):
        units.freq_hz("99GHz")


@given(st.text(max_size=12))
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        value = units.parse(text, "Hz", "--freq")
    except SunsealError:
        return
    assert 0 < value < float("inf")


@given(st.integers(1, 10**12), st.sampled_from(sorted(units.PREFIX)))
def test_the_prefix_only_moves_the_point(count: int, prefix: str) -> None:
    whole = units.parse(f"{count}{prefix}V", "V", "--vcc")
    assert whole == pytest.approx(count * 10.0 ** units.PREFIX[prefix], rel=1e-15)


@given(st.floats(1e-11, 1e11))
def test_what_is_shown_reads_back(value: float) -> None:
    text = units.show(value, "J", 17)
    assert units.parse(text, "J", "shown") == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("value", "like", "says"),
    [
        (937e-6, 1.5e-3, "0.937 mJ"),
        (1.5e-3, 937e-6, "1500 µJ"),
        (20e-6, 1.5e-3, "0.02 mJ"),
        (3e-6, 1.5e-3, "3 µJ"),
        (15.0, 1.5e-3, "15 J"),
        (-937e-6, 1.5e-3, "-0.937 mJ"),
        (937e-6, 0.0, "937 µJ"),
        (0.0, 1.5e-3, "0 J"),
    ],
)
def test_a_quantity_takes_the_unit_of_the_one_beside_it(value: float, like: float, says: str) -> None:
    assert units.show(value, "J", like=like) == says


def test_the_ends_of_a_range_share_a_unit() -> None:
    assert units.span(968e-6, 1.32e-3, "J", 1.145e-3) == "0.968 to 1.32 mJ"
    assert units.span(2e-9, 1.32e-3, "J", 1.145e-3) == "2 nJ to 1.32 mJ"


def test_a_minute_is_not_m_and_a_latency_says_its_unit() -> None:
    with pytest.raises(SunsealError, match="`10min` for minutes"):
        units.time_s("10m", "--every")
    with pytest.raises(SunsealError, match="`300ms` or `300s`"):
        units.unit_time_s("300")
    assert units.unit_time_s("300ms") == 0.3


def test_a_long_list_of_names_is_told_by_the_nearest() -> None:
    names = [f"part-{i}" for i in range(40)]
    error = unknown("part", "part-7x", names)
    assert "part-7" in str(error) and "of 40" in str(error) and str(error).count("part-") < 12
