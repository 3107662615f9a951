# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tables of `reproduce` are computed with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sunseal import published
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
