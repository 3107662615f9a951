# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arithmetic of the tables of `reproduce`."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sunseal import _engine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.papers import cells, evidence, published
from sunseal.papers.arithmetic import arithmetic
from sunseal.papers.slices import law
from sunseal.report import published_page


@given(a=st.floats(0.1, 1e3), b=st.floats(0.1, 1e3), c=st.floats(0.1, 1e3))
def test_arithmetic_is_arithmetic(a: float, b: float, c: float) -> None:
    assert arithmetic(f"-{a!r} * ({b!r} - {c!r}) / 2 ** 3") == -a * (b - c) / 2**3


@pytest.mark.parametrize("text", ["__import__('os')", "a + 1", "1 if 2 else 3", "1 / 0", "1 +", "'a' * 3", "max(1, 2)"])
def test_nothing_else_is_evaluated(text: str) -> None:
    with pytest.raises(SunsealError, match="no arithmetic on numbers"):
        arithmetic(text)


@pytest.mark.parametrize(
    ("ours", "verdict"),
    # Rounded or cut off, but 1.994 is not 2.00, which is a whole last digit up from 1.99.
    [(2.004, "agrees"), (2.009, "agrees"), (1.996, "agrees"), (1.994, "differs"), (2.0101, "differs")],
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


def test_a_claim_of_order_is_one_in_the_paper_s_own_arithmetic_too() -> None:
    raw = {"expr": "", "ulp": 0.01}
    assert published._verdict("below", 0.3, 0.248, raw) == "agrees"
    assert published._verdict("below", 0.3, 0.31, raw) == "not met"


def every_row() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    return [(i, table, row) for i, (_, table) in published._tables().items() for row in table["row"]]


def behind(where: str, label: str) -> evidence.Evidence:
    paper, table = published._tables()[where]
    (row,) = [row for row in table["row"] if row["label"] == label]
    return evidence.of(paper["board"], table, row)


def test_no_class_is_typed_and_each_row_has_one_by_rule() -> None:
    for where, table, row in every_row():
        found = evidence.of(published._tables()[where][0]["board"], table, row)
        place = where, row["label"]
        assert "class" not in row, place
        assert found.kind in evidence.CLASSES and found.why and found.task and found.run, place
        assert ("published" in row) == (found.kind != "not_printed"), place
        if "under any coefficient" in row.get("note", ""):
            assert found.kind == "by_construction", place
    for paper, _ in published._tables().values():
        assert paper["confirmed"].startswith("Independently confirmed"), paper["key"]


def test_a_typed_class_is_refused_by_name() -> None:
    table = {"id": "x/y", "kind": "paper"}
    with pytest.raises(SunsealError, match="`a row` in x/y of data/published names a class"):
        evidence.of("telosb", table, {"label": "a row", "class": "independent", "expr": "1", "published": 1})
    with pytest.raises(SunsealError, match="no rule gives `a row` in x/y"):
        evidence.of("telosb", {"id": "x/y"}, {"label": "a row", "published": 1})


def test_fitting_one_more_coefficient_changes_the_class_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody edits a row: the anchor of the T-box, declared fitted, makes what was predicted a fit."""
    label = "MSP432, T-box, energy, the paper's over our coupon"
    assert behind("suslowicz2017/table-3", "MSP432, T-box, energy, our firmware").kind == "independent"
    assert behind("suslowicz2017/table-5", label).kind == "independent"
    read = boards.read_toml

    def planted(path: Path) -> dict[str, Any]:
        data: dict[str, Any] = read(path)
        if path.stem != "msp432p401r-suslowicz2017":
            return data
        return data | {"anchor": [a | {"fitted": a["fitted"] or "T-box" in a["place"]} for a in data["anchor"]]}

    monkeypatch.setattr(evidence, "fitted", getattr(evidence.fitted, "__wrapped__", evidence.fitted))
    monkeypatch.setattr(boards, "read_toml", planted)
    assert behind("suslowicz2017/table-3", "MSP432, T-box, energy, our firmware").kind == "fitted"
    assert behind("suslowicz2017/table-3", "MSP432, T-box, cycles, our firmware").kind == "independent"
    found = behind("suslowicz2017/table-5", label)
    assert found.kind == "fitted" and "T-box" in found.why and "T-box" in found.coefficients[0]
    assert behind("suslowicz2017/table-5", "MSP430, S-box, energy, ours over our coupon").kind == "independent"


@pytest.mark.parametrize(("state", "kind"), [("active.ram", "independent"), ("active.flash", "fitted")])
def test_only_a_fitted_coefficient_that_a_figure_used_makes_it_a_fit(
    state: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One coefficient of the datasheet, declared fitted to what the thesis prints, changes its rows without an edit."""
    board, read = "msp430f5438a-anagear", boards.read_toml
    row = {
        **{"label": "a signature", "published": 1e-3, "unit": "J", "kind": "paper", "quantity": "energy_j"},
        **{"workload": "ecdsa-secp160r1-sign", "vcc_v": 2.0, "freq_hz": 3_000_000, "power_set": "datasheet"},
    }
    table = {"id": "x/y", "kind": "paper", "better": "near"}

    def planted(path: Path) -> dict[str, Any]:
        data: dict[str, Any] = read(path)
        if path.parent.name != "power" or path.stem != "msp430f5438a-datasheet":
            return data
        anchor = {"vcc_v": 2.0, "mclk_mhz": 3, "cycles": 1, "energy_mj": 2.0, "fitted": True, "place": "a planted page"}
        current = [c for c in data["current"] if (c["component"], c["state"]) == ("cpu", state)]
        assert current
        return data | {"current": current, "event": [], "anchor": [anchor]}

    before = published._row(board, table, row, None)
    assert before.kind == "independent"
    assert before.evidence.coefficients == ("msp430f5438a-datasheet: cpu.active.flash",)
    for cached in ("fitted", "_own"):
        monkeypatch.setattr(evidence, cached, getattr(evidence, cached).__wrapped__)
    monkeypatch.setattr(boards, "read_toml", planted)
    found = published._row(board, table, row, None)
    assert found.kind == kind
    assert ("a planted page" in found.evidence.coefficients[0]) == (kind == "fitted")
    assert found.ours == before.ours


@pytest.mark.parametrize(
    ("where", "label", "has"),
    [
        ("suslowicz2017/table-5", "MSP430, S-box, energy, ours over our coupon", "msp430fr5994-datasheet: crc16.byte"),
        ("mane2014/figure-5.1", "lowest clock within 2 mJ at 2.0 V, our firmware", "msp430f5438a-mane2014: cpu"),
        ("mane2014/conclusion", "energy at 2.7 V, 8 MHz, read by the thesis's own meter", "msp430f5438a-mane2014: cpu"),
    ],
)
def test_rows_of_coupons_and_curves_tell_single_coefficients_too(where: str, label: str, has: str) -> None:
    paper, table = published._tables()[where]
    (raw,) = [row for row in table["row"] if row["label"] == label]
    found = published._row(paper["board"], table, raw, None).evidence
    assert any(name.startswith(has) for name in found.coefficients), found.coefficients
    assert all(": " in name for name in found.coefficients)


def test_coefficients_are_told_one_by_one_with_the_set_that_states_each() -> None:
    joules = {"cpu.active.flash": 1e-3, "cpu.lpm3": 1e-9, "cpu.active.ram": 0.0}
    assert evidence.weighed_by("msp430f5438a-mane2014", joules) == {
        "msp430f5438a-mane2014: cpu.active.flash",
        "msp430f5438a-datasheet: cpu.lpm3",
    }


@pytest.mark.parametrize(
    ("where", "label", "kind"),
    [
        ("mane2014/table-4.3", "one 64-byte packet", "back_solved"),
        ("mane2014/conclusion", "voltage scaling's factor", "back_solved"),
        ("mane2014/chapter-5", "energy at 2.7 V, 14 MHz, at Mane's cycles", "fitted"),
        ("mane2014/chapter-5", "time at 2.7 V, 14 MHz, at Mane's cycles", "arithmetic"),
        ("mane2014/figure-5.1", "lowest clock within 2 mJ at 2.0 V, our firmware", "fitted"),
        ("mane2014/figure-6.1", "stored energy over what equation 6.1 asks, 0.5 F at 0.7 V: sleep", "by_construction"),
        ("suslowicz2017/table-5", "MSP432, S-box, energy, the paper's over our coupon", "fitted"),
        ("suslowicz2017/table-3", "MSP432, T-box, delay, our firmware", "back_solved"),
        ("suslowicz2017/table-3", "MSP432, S-box, EDP, our firmware", "fitted"),
        ("piotrowski2006/table-2", "ECC-160 handshake, TelosB, our server side", "not_printed"),
        (
            "rizvi2009/figure-9",
            "average power, PRESENT over AES: a faster algorithm takes less energy",
            "by_construction",
        ),
    ],
)
def test_the_rules_give_the_class_that_a_referee_would(where: str, label: str, kind: str) -> None:
    assert behind(where, label).kind == kind


def test_inputs_that_no_text_has_are_told_as_solved_from_the_answer() -> None:
    unprinted = ("74.1", "/ 3.89", "0.0094333", "4.38", "72.27")
    found = [(where, row) for where, _, row in every_row() if where.startswith("piotrowski") and "expr" in row]
    solved = [(where, row["label"]) for where, row in found if any(x in row["expr"] for x in unprinted)]
    assert len(solved) == 22
    assert {behind(where, label).kind for where, label in solved} == {"back_solved"}


def test_every_factor_of_two_supplies_is_by_construction() -> None:
    found = [
        (where, row)
        for where, _, row in every_row()
        if where.startswith("mane2014") and row.get("over", {}).get("vcc_v") and len(row["over"]) == 1
    ]
    assert len(found) == 11
    assert {behind(where, row["label"]).kind for where, row in found} == {"by_construction"}
    some = next(row for _, row in found if row["vcc_v"] == 2.7 and row["workload"] == "ecdsa-secp160r1-sign")
    ours = published._row("msp430f5438a-anagear", {"id": "x/y", "better": "near", "kind": "paper"}, some, None).ours
    assert ours == pytest.approx(2.7 / 2.0, rel=1e-3)


@pytest.mark.parametrize(
    ("given", "verdict"), [({"easier": "half of it"}, "easier task"), ({"more": "RAM"}, "more res")]
)
def test_beaten_takes_the_same_task_and_the_same_resources(given: dict[str, str], verdict: str) -> None:
    assert verdict in published._verdict("less", 2.0, 1.0, given)
    assert published._verdict("less", 2.0, 1.0, {}) == "beaten"
    assert published._verdict("less", 2.0, 3.0, given) == "not met"


def test_the_thesis_s_cheapest_clock_is_its_meter_s() -> None:
    """The main conclusion of the thesis: its meter clips, so that the highest clock reads cheapest."""
    read = published._tables()["mane2014/conclusion"][1]
    (row,) = [r for r in read["row"] if r["label"] == "cheapest clock at 2.7 V, read by the thesis's own meter"]
    ours = published._row("msp430f5438a-anagear", read, row, None)
    assert (ours.ours, ours.verdict, ours.kind) == (25e6, "agrees", "independent")
    found = published.metered("ecdsa-secp160r1-sign", ("mpy=32",), "mane2014", "msp430f5438a-anagear", 2.7)
    taken = {hz: true_j for hz, (true_j, _, _) in found.items()}
    assert min(taken, key=taken.__getitem__) <= 12_000_000
    assert all(abs(read_j / true_j - 1) < 0.01 for hz, (true_j, read_j, _) in found.items() if hz <= 12_000_000)


def test_rows_that_weigh_one_run_rest_on_one() -> None:
    energy = behind("mane2014/chapter-5", "energy at 2.7 V, 14 MHz, at Mane's cycles")
    other = behind("mane2014/chapter-5", "energy at 2.0 V, 3 MHz, at Mane's cycles")
    assert energy.run == other.run and energy.resources != other.resources


def test_energies_of_the_motes_stand_beside_those_at_the_paper_s_own_current() -> None:
    rows = [(where, row) for where, _, row in every_row() if where.startswith("piotrowski2006/table")]
    labels = {(where, row["label"]) for where, row in rows}
    found = 0
    for where, row in rows:
        if row.get("quantity") in ("energy_j", "operations", "lifetime_h") and "power_set" not in row:
            own = "at 13.8 mW" if where.endswith("table-3") else "the paper's current"
            assert (where, f"{row['label']}, {own}") in labels, (where, row["label"])
            found += 1
    assert found == 121
    # One operating point for times and energies.
    assert {row["vcc_v"] for _, row in rows if row.get("board") == "telosb"} == {3.6}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"label": "a row", "published": 1}, "`a row` in x/y of data/published lacks the key 'quantity'"),
        ({"label": "a row", "published": "one", "quantity": "clock_hz"}, "`one` in data/published is no arithmetic"),
        ({"label": "a row", "published": "9**999", "quantity": "clock_hz"}, "`9\\*\\*999` in .* is no arithmetic"),
        ({"label": "a row", "published": "(-8)**0.5", "quantity": "clock_hz"}, "is no arithmetic"),
        ({"label": "a row", "published": math.nan}, "`a row` in x/y of data/published has published = nan"),
        ({"label": "a row", "published": True}, "published = True, which is no number"),
        ({"label": "a row", "published": [1]}, r"published = \[1\], which is no number"),
        ({"label": "a row", "published": 1, "period_s": "x"}, "period_s = 'x', which is no number"),
        ({"label": "a row", "published": 1, "expr": "1 + 1"}, "`a row` in x/y of data/published lacks the key 'ulp'"),
        ({"published": 1}, "a row in x/y of data/published has no label"),
        ({"label": "a row", "published": 1, "kind": "fact"}, "unknown kind `fact` of `a row` in x/y"),
        ({"label": "a row", "published": 1, "better": "nicer"}, "unknown better `nicer` of `a row` in x/y"),
        ({"label": "a row", "published": 1, "solved": {"input": "clock"}}, "`solved` without the input and what"),
    ],
)
def test_a_cell_that_cannot_be_read_is_refused_by_name(row: dict[str, Any], said: str) -> None:
    with pytest.raises(SunsealError, match=said):
        published._row("telosb", {"id": "x/y", "kind": "facts", "better": "near"}, row, None)


def rows_by_table() -> dict[str, list[dict[str, Any]]]:
    return {name: table["row"] for name, (_, table) in published._tables().items()}


def test_every_printed_cell_has_a_row_of_ours_or_a_reason() -> None:
    walked = list(cells.walk(rows_by_table()))
    assert [c for c in walked if not c.answers and not c.reason] == []
    assert len(walked) == 523
    # As many tables as the papers have, but for Suslowicz's table 6, of labels, and Rizvi's II to IV, of signals.
    assert len(cells.printed()) == 29


def test_the_row_of_the_cells_head_and_column_comes_first() -> None:
    """Equal figures stand in several rows: 2 is a core voltage's level at 20 MHz and the supply in volts at 12."""
    found = {(c.table, c.head, c.column): c for c in cells.walk(rows_by_table())}
    assert found["mane2014/table-3.1", "20", "PMMCOREV"].answers[0] == "PMMCOREV at 20 MHz"
    assert found["mane2014/table-3.1", "12", "DVCC"].answers[0] == "minimum DVCC at 12 MHz"
    assert found["mane2014/table-4.2", "RAM", "P-256, with"].answers[0] == "RAM, P-256, with multiplier"
    # 26.7 mA at 10 dBm is an input, for all that 26.7 mW stands in the row of -5 dBm.
    cell = found["piotrowski2006/table-9", "433 MHz, TX 10 dBm", "current, mA"]
    assert cell.answers == () and cell.reason.startswith("an input")


def test_slices_that_the_estimate_leaves_open_are_not_beaten() -> None:
    raw = {"quantity": "slices", "note": "an estimate"}
    low, high = law().bounds
    assert published._verdict("less", 471, 400, raw) == published.DIFFERS
    assert published._verdict("less", 471, 471 / high * 0.99, raw) == published.BEATEN
    assert published._verdict("more", 471, 471 / low * 1.01, raw) == published.BEATEN
    assert published._verdict("less", 471, 400, {"quantity": "cycles"}) == published.BEATEN


def test_a_cell_whose_row_goes_is_missed() -> None:
    rows = rows_by_table()
    rows["suslowicz2017/table-4"] = [r for r in rows["suslowicz2017/table-4"] if "energy" not in r["label"]]
    missing = [(c.head, c.text) for c in cells.walk(rows) if not c.answers and not c.reason]
    assert missing == [("MSP432", "13.8"), ("MSP430", "8.7")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["RX", "1.8"], "cells, not 3"),
        ([], "a row of x/y has 0 cells"),
        (["RX", "1.8", "n/a"], "`n/a` of `RX` in x/y"),
        (["RX", "1.8", "1,8"], "`1,8` of `RX` in x/y is no figure"),
        (["RX", "1.8", "1.8.2"], "`1.8.2` of `RX`"),
        (["RX", "1.8?", "2"], r"`1.8\?` of `RX`"),
        (["RX", "O.8", "2"], "`O.8` of `RX`"),
        (["RX", 1.8, "2"], "1.8 of `RX` in x/y is no text"),
    ],
)
def test_a_printed_table_that_cannot_be_read_is_refused(
    line: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"printed": [{"id": "x/y", "columns": ["", "a", "b"], "rows": [line]}]}
    monkeypatch.setattr(boards, "read_toml", lambda _: data)
    with pytest.raises(SunsealError, match=said):
        getattr(cells.printed, "__wrapped__")()  # noqa: B009


def test_a_printed_table_that_stands_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"id": "x/y", "columns": ["", "a"], "rows": [["RX", "1.8"]]}
    for data, said in (([table, table], "x/y stands twice"), ([{"id": "x/y", "rows": []}], "lacks the key 'columns'")):
        monkeypatch.setattr(boards, "read_toml", lambda _, data=data: {"printed": data})
        with pytest.raises(SunsealError, match=said):
            getattr(cells.printed, "__wrapped__")()  # noqa: B009


def test_a_row_whose_run_did_not_end_is_left_open_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs_on(*_: object) -> None:
        raise _engine.EngineError("the program did not end within 1,000 cycles")

    monkeypatch.setattr(measuring, "run", runs_on)
    paper = {"board": "telosb", "cite": "A paper", "confirmed": "Independently confirmed is nothing."}
    row = {"label": "a hash", "published": 1, "workload": "sha256-hash", "quantity": "cycles", "vcc_v": 3.1}
    table = {"id": "x/y", "title": "", "source": "", "kind": "paper", "better": "less", "row": [row]}
    monkeypatch.setattr(published, "_tables", lambda: {"x/y": (paper, table)})
    found = published.reproduce("x/y")
    assert found.rows[0].verdict == "not computed" and found.rows[0].ours is None
    verdict = published.judged([found])
    assert verdict.exit_status == 3
    assert "did not end within 1,000 cycles" in str(verdict.why)


def test_a_paper_stands_for_all_its_tables() -> None:
    own = [i for i in published.ids() if i.startswith("rizvi2009/")]
    assert published.named("rizvi2009") == own
    assert {"rizvi2009/figure-8", "rizvi2009/figure-11", "rizvi2009/table-6", "rizvi2009/power-control"} < set(own)
    assert published.named("rizvi2009/table-5") == ["rizvi2009/table-5"]
    # Left to `reproduce`, which refuses it by name.
    assert published.named("rizvi") == ["rizvi"]


def test_an_impossible_row_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = {"board": "msp430f5438a-anagear", "cite": "A paper", "confirmed": "Independently confirmed is nothing."}
    row = {"published": 1, "workload": "ecdsa-secp160r1-sign", "quantity": "energy_j", "vcc_v": 1.8}
    rows = [
        row | {"label": "25 MHz at 1.8 V", "freq_hz": 25_000_000},
        {"label": "a sum", "published": 2, "expr": "1 + 1", "ulp": 1},
    ]
    table = {"id": "x/y", "title": "", "source": "", "kind": "paper", "better": "less", "row": rows}
    monkeypatch.setattr(published, "_tables", lambda: {"x/y": (paper, table)})
    found = published.reproduce("x/y")
    assert [r.verdict for r in found.rows] == ["not computed", "agrees"]
    assert found.rows[0].ours is None
    assert "1.8" in found.rows[0].note
    assert found.to_dict()["rows"][0]["ratio"] is None
    assert "not computed" in published_page.page([found])
    assert published.counts([found]) == {"independent": {"not computed": 1}, "arithmetic": {"agrees": 1}}


def test_a_key_schedule_for_each_block_is_paid() -> None:
    board, row = "msp430fr5994-launchpad", {"vcc_v": 3.0, "freq_hz": 1_000_000, "workload": "aes128-sbox-encrypt"}
    call = {"function": "sunseal_aes128_expand", "times": 8}
    without, _ = published._asked(board, {}, row)
    cost, where = published._asked(board, {}, {**row, "calls": [call]})
    each = (cost.cycles - without.cycles) / 8
    assert 1000 < each < 10_000
    assert cost.energy_j / without.energy_j == pytest.approx(cost.cycles / without.cycles)
    assert "8 x sunseal_aes128_expand" in where


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
    assert set(published_page.STYLE) == set(published.VERDICTS)
    assert "not printed" in published_page.tables([published.reproduce("rizvi2009/figure-9")])


def test_the_page_of_figures_counts_the_rows_by_class() -> None:
    """The class follows from the data alone, so nothing is run."""
    found = Counter(
        evidence.of(paper["board"], table, raw).kind
        for paper, table in published._tables().values()
        for raw in table["row"]
    )
    page = (boards.home() / "docs/figures.md").read_text(encoding="utf-8")
    told = re.search(
        r"prints ([\d,]+) figures of the four papers beside ours, each with the class of its evidence: (.*?)\.", page
    )
    assert told
    words = {
        "independent": "independent",
        "the papers' own arithmetic": "arithmetic",
        "not printed there": "not_printed",
        "true by construction": "by_construction",
        "back-solved": "back_solved",
        "fitted": "fitted",
    }
    counts = dict(part.split(" ", 1)[::-1] for part in told[2].split(", "))
    assert {words[name]: int(count.replace(",", "")) for name, count in counts.items()} == found
    assert int(told[1].replace(",", "")) == found.total()
    assert f"{told[1]} figures of four papers" in (boards.home() / "README.md").read_text(encoding="utf-8")
