# SPDX-License-Identifier: MIT OR Apache-2.0
"""What check_elf.py says of programs with tables of functions, beside runs of them, and recursion that it must find."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from check_elf import BrokenRuleError, Program, Walker, check, load, references

from sunseal import Machine
from sunseal.catalog import boards
from sunseal.measurement import oracle

BUILD = Path(__file__).resolve().parents[1] / "build"
STORES = {"msp430fr5994-launchpad/mpy-32": "sunseal_coupon_fram", "msp430f5438a-anagear/mpy-32": "sunseal_coupon_flash"}
KINDS = ("ctr-use", "ccm-use", "random-use", "sealed-use", "schedule-use")


def elf(column: str, kind: str) -> Path:
    return BUILD / column / f"bench-coupon-{kind}.elf"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", STORES)
def test_calls_through_registers_go_where_the_walk_has_them_and_the_stack_stays_within_it(
    column: str, kind: str
) -> None:
    path = elf(column, kind)
    image = load(path)
    image.references = references(path, image)
    program = Program(image)
    walked = program.bytes_from(image.symbols["_start"])
    machine = Machine(column.partition("/")[0], path)
    fed = oracle.trial(boards.workload(f"coupon-{kind}")).fed
    machine.write("bench_input", fed)
    machine.write("bench_input_len", len(fed).to_bytes(2, "little"))
    ran = machine.trace(most=2_000_000)
    assert machine.read_int("bench_status") == 0
    top = image.symbols["__stack_top"]
    deepest = top - min(int(sp) for sp in ran["SP"] if 0 < sp <= top and sp > image.symbols["__stack_limit"])
    assert 0 < deepest <= walked
    calls = 0
    rows = list(zip(ran["address"], ran["text"], strict=True))
    for (at, text), (target, _) in itertools.pairwise(rows):
        if text.startswith("CALL R"):
            entry = max(a for a in image.names if a <= at)
            assert target in Walker(image, entry, program.function, program.taken).reachable(), image.name(at)
            calls += 1
    assert calls >= 5


@pytest.mark.parametrize("column", STORES)
@pytest.mark.parametrize("back", ["sunseal_coupon_open", "sunseal_coupon_produce"])
def test_a_table_that_leads_back_into_the_store_is_recursion(column: str, back: str) -> None:
    path = elf(column, "ctr-use")
    image = load(path)
    image.references = references(path, image)
    start = image.symbols[STORES[column]]
    end = next(end for begun, end in image.tables if begun == start)
    assert "no recursion" in check(path)
    at = next(at for at, target in image.references.items() if start <= at < end and image.name(target) == "use")
    image.references[at] = image.symbols[back]
    with pytest.raises(BrokenRuleError, match="calls itself"):
        Program(image).bytes_from(image.symbols["_start"])
