# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tables of `reproduce` are computed with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sunseal import published, published_page
from sunseal.errors import SunsealError


@given(a=st.floats(0.1, 1e3), b=st.floats(0.1, 1e3), c=st.floats(0.1, 1e3))
def test_arithmetic_is_arithmetic(a: float, b: float, c: float) -> None:
    assert published.arithmetic(f"-{a!r} * ({b!r} - {c!r}) / 2 ** 3") == -a * (b - c) / 2**3


@pytest.mark.parametrize("text", ["__import__('os')", "a + 1", "1 if 2 else 3", "1 / 0", "1 +", "'a' * 3", "max(1, 2)"])
def test_nothing_else_is_evaluated(text: str) -> None:
    with pytest.raises(SunsealError, match="no arithmetic on numbers"):
        published.arithmetic(text)


@pytest.mark.parametrize(
    ("ours", "verdict"), [(2.004, "agrees"), (1.996, "agrees"), (2.0101, "differs"), (1.98, "differs")]
)
def test_the_last_printed_digit_decides(ours: float, verdict: str) -> None:
    raw = {"expr": "", "ulp": 0.01, "note": "because"}
    assert published._verdict("less", 2.0, ours, raw) == verdict


@pytest.mark.parametrize(
    ("better", "ours", "verdict"),
    [
        ("less", 1.9, "beaten"),
        ("less", 2.1, "not met"),
        ("more", 2.1, "beaten"),
        ("more", 1.9, "not met"),
        ("below", 1.9, "agrees"),
        ("above", 1.9, "not met"),
        ("near", 2.19, "agrees"),
        ("near", 2.21, "not met"),
        ("equal", 2.01, "not met"),
    ],
)
def test_what_differs_unexplained_is_not_met(better: str, ours: float, verdict: str) -> None:
    assert published._verdict(better, 2.0, ours, {}) == verdict
    explained = {"not met": "differs"}.get(verdict, verdict)
    assert published._verdict(better, 2.0, ours, {"note": "because"}) == explained
    misprint = {"not met": "misprint"}.get(verdict, verdict)
    assert published._verdict(better, 2.0, ours, {"note": "misprint: of the paper's"}) == misprint


COST = published.Cost(cycles=4e6, time_s=0.5, energy_j=2e-3)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"quantity": "edp_js"}, 1e-3),
        ({"quantity": "power_w"}, 4e-3),
        ({"quantity": "ua_per_mhz", "vcc_v": 2.0}, 250.0),  # 2 mA at 8 MHz
        ({"quantity": "lifetime_h", "store_j": 7.2, "period_s": 10}, 10.0),
        ({"quantity": "duty_percent", "period_s": 10}, 5.0),
        ({"quantity": "formula", "formula": "energy_j / time_s + 1e-6 * cycles"}, 4.004),
    ],
)
def test_quantities_of_a_cost(raw: dict[str, object], value: float) -> None:
    assert published._quantity(COST, {}, raw) == pytest.approx(value)


def test_an_unknown_quantity_is_refused_by_name() -> None:
    with pytest.raises(SunsealError, match="energy_mj"):
        published._quantity(COST, {}, {"quantity": "energy_mj", "label": "a row"})


def test_a_figure_that_is_only_drawn_has_no_number() -> None:
    assert published._printed({}) is None
    assert published._printed({"published": "124942312 / 6408792"}) == pytest.approx(19.495, abs=1e-3)


def test_counter_mode_by_software_is_that_of_the_accelerator_with_the_other_cipher() -> None:
    board, head = "msp430fr5994-launchpad", {"message_bytes": 128, "vcc_v": 3.0, "freq_hz": 1_000_000}
    row = {
        **head,
        "workload": "aes128-sbox-encrypt",
        "head": 16,
        "plus": [{"workload": "aes128-ctr-encrypt", "head": 32}],
        "minus": [{"workload": "aes128-hw-encrypt", "head": 16}],
    }
    whole, _ = published._asked(board, {}, row)
    cipher, _ = published._asked(board, {}, {**head, "workload": "aes128-sbox-encrypt", "head": 16})
    assert cipher.cycles < whole.cycles < 1.1 * cipher.cycles
    # At one clock, cycles are time.
    assert whole.time_s == pytest.approx(whole.cycles / 1e6)


def test_the_report_has_a_style_for_every_verdict() -> None:
    verdicts = {
        published.AGREES,
        published.BEATEN,
        published.DIFFERS,
        published.NOT_MET,
        published.MISPRINT,
        published.NOT_PRINTED,
    }
    assert set(published_page.STYLE) == verdicts
    assert "not printed" in published_page.tables([published.reproduce("rizvi2009/figure-9")])
