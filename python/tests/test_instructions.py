# SPDX-License-Identifier: MIT OR Apache-2.0
"""Instructions as they lie in memory and as they ran, on four instruction sets."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli, require
from sunseal import Bench, Machine, SunsealError
from sunseal.catalog import boards

FR, TELOSB, AVR, ARM = "msp430fr5994-launchpad", "telosb", "micaz", "msp432p401r-launchpad"
BOARDS = [FR, TELOSB, AVR, ARM]
OBJDUMP = {FR: "llvm-objdump", TELOSB: "llvm-objdump", AVR: "avr-objdump", ARM: "arm-none-eabi-objdump"}


def program(board: str, name: str = "bench-aes128-encrypt") -> Path:
    return next((boards.home() / "firmware" / "build" / board).glob(f"*/{name}.elf"))


def machine(board: str, name: str = "bench-aes128-encrypt") -> Machine:
    return Machine(str(boards.board(board)["device"]), program(board, name))


def elsewhere(elf: Path, tool: str) -> dict[int, str]:
    """Read from another disassembler where a program's instructions lie, and the first word of each."""
    text = subprocess.run([tool, "-d", str(elf)], check=True, capture_output=True, text=True).stdout
    rows = re.finditer(r"^\s+([0-9a-f]+):\s+(?:[0-9a-f]{2,8} )+\s*(\S*)", text, re.MULTILINE)
    return {int(row[1], 16): row[2] for row in rows}


@pytest.mark.parametrize("board", [TELOSB, AVR, ARM])
def test_a_listing_begins_each_instruction_where_other_tools_do(board: str) -> None:
    require(shutil.which(OBJDUMP[board]) is not None, OBJDUMP[board])
    m, theirs = machine(board), elsewhere(program(board), OBJDUMP[board])
    checked = 0
    for name in ("main", "bench_aes128_encrypt", "bench_setup_aes128_encrypt", "sunseal_block_encrypt"):
        start, size = m.engine.symbol(name)
        code = {at: word for at, word in theirs.items() if start <= at < start + size}
        assert [i.address for i in m.disassemble(name)] == sorted(code), name
        checked += len(code)
    assert checked > 40


@pytest.mark.parametrize("board", BOARDS)
def test_a_trace_is_the_run_itself(board: str) -> None:
    traced, plain = machine(board), machine(board)
    for m in (traced, plain):
        m.run(until="main")
    first = traced.cycles
    rows = traced.trace(cycles=20_000)
    plain.run(cycles=20_000)
    assert (traced.cycles, dict(traced.registers)) == (plain.cycles, dict(plain.registers))
    assert np.array_equal(traced.memory("bench_output"), plain.memory("bench_output"))
    assert rows["cycle"][0] == first
    assert rows["cycle"][-1] + rows["cycles"][-1] == traced.cycles
    assert (rows["cycle"][1:] == rows["cycle"][:-1] + rows["cycles"][:-1]).all()
    for name, value in traced.registers.items():
        assert rows[name][-1] == value
    # Each instruction leaves the program counter where the next one is, but an IT, which takes no step of its own.
    own = rows["cycles"][:-1] > 0
    assert (rows["PC"][:-1][own] == rows["address"][1:][own]).all()
    assert own.mean() > 0.9
    listed = {i.address: i.text for i in traced.disassemble("main")}
    inside = [row for row in rows if int(row["address"]) in listed]
    assert inside and all(row["text"] == listed[int(row["address"])] for row in inside)


def test_a_run_ends_at_whichever_place_comes_first() -> None:
    m = machine(FR)
    assert m.run(until=["bench_aes128_encrypt", "main"]).pc == m.address("main")
    assert m.run(until=[0x4, m.address("bench_setup_aes128_encrypt")]).pc == m.address("bench_setup_aes128_encrypt")
    node = Bench(FR, program(FR))
    with pytest.raises(SunsealError, match="none of `main`, `bench_aes128_encrypt` was reached"):
        node.run(until=["main", "bench_aes128_encrypt"], within=1e-6)


@pytest.mark.parametrize(("board", "flags"), [(FR, "GIE"), (TELOSB, "GIE"), (AVR, "I"), (ARM, "Z")])
def test_flags_have_names(board: str, flags: str) -> None:
    m = machine(board)
    held = m.flags[flags]
    m.flags[flags] = not held
    assert m.flags[flags] is not held
    m.flags[flags] = held
    with pytest.raises(SunsealError, match="unknown flag `Q7`"):
        m.flags["Q7"]


def test_what_is_no_instruction_is_a_word() -> None:
    m = machine(TELOSB)
    m.write(0x1200, b"\x00\x00\x03\x43")
    assert [(i.address, i.text) for i in m.disassemble((0x1200, 4))] == [
        (0x1200, ".word 0x0000"),
        (0x1202, "MOV #0, R3"),
    ]


def test_a_trace_that_is_too_long_says_so() -> None:
    m = machine(AVR)
    with pytest.raises(SunsealError, match="the trace holds 1,000 instructions"):
        m.trace(cycles=100_000, most=1000)
    with pytest.raises(SunsealError, match="holds nothing"):
        m.trace(most=0)


def test_the_command_writes_a_trace(sunseal: Cli, tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    done = sunseal("run", program(TELOSB), "--board", TELOSB, "--until", "main", "--until", "0x4000", "--trace", out)
    assert done.status == 0, done.err
    head, *rows = out.read_text(encoding="utf-8").splitlines()
    assert head.startswith("address,cycle,cycles,text,PC,SP,SR")
    assert len(rows) > 5
    refused = sunseal("run", program(TELOSB), "--board", TELOSB, "--trace", tmp_path / "t.txt")
    assert refused.status == 2
