# SPDX-License-Identifier: MIT OR Apache-2.0
"""One fault in a verifying function must not let a forgery through: a quick campaign of faults.py on three families."""

from __future__ import annotations

import os
import re

import faults
import pytest
from table import COLUMNS

JUDGING = sorted(faults.forgeries())
THOROUGH = bool(os.environ.get("SUNSEAL_SLOW"))


@pytest.mark.parametrize("column", faults.TARGETS, ids=lambda column: COLUMNS[column])
def test_no_fault_passes_a_forgery(column: str) -> None:
    """Every instruction of the tail; before it a sample, or with SUNSEAL_SLOW all that the page counts."""
    outcomes = faults.campaigns([column], thorough=THOROUGH)
    assert {o.function for o in outcomes} >= {"ecdsa_p256_verify", "ascon_aead128_open", "hmac_sha256_verify"}
    for o in outcomes:
        assert o.tried["skip"] >= faults.TAIL and o.tried["zero"] >= faults.TAIL and o.tried["invert"] > 0
    assert [f"{o.function}: {p.kind} {p.where}" for o in outcomes for p in o.passed if not p.inherent] == []


def test_every_function_that_judges_is_disturbed() -> None:
    """By the names of the headers' functions: one that is added must be added to the campaign."""
    headers = (faults.FIRMWARE / "crypto" / "include" / "sunseal").glob("*.h")
    named = {
        name
        for header in headers
        for name in re.findall(
            r"^int sunseal_(\w*_(?:verify|open|check|open_once)\w*|\w*decrypt_oaep)\(", header.read_text(), re.M
        )
    }
    # Of these the campaign runs what is built on them.
    within = {"ccm_open": "ccm_open_once", "cmac_verify": "cmac_check"}
    assert {within.get(name, name) for name in named} - set(JUDGING) - {"store_check"} == set()


def test_the_page_tells_of_no_fault_that_passed() -> None:
    rows = [line.split(" | ") for line in faults.PAGE.read_text(encoding="utf-8").splitlines() if "`sunseal_" in line]
    assert len(rows) > 50
    assert all((row[5], row[7], row[10].rstrip(" |")) == ("0", "0", "0") for row in rows)
