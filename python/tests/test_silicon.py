# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs of a user's own on an MSP430: operands by SP, disputed timing, the clock they set, their stack."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import sunseal as package
from conftest import Cli
from sunseal import EngineError, Machine, SunsealError
from sunseal.catalog import boards
from sunseal.measurement import measuring
from test_workloads import tool

START = """
    .section .text
    .globl _start
_start:
    mov #0x5a80, &0x015c
    mov #{stack}, r1
    {clock}
    call #main
stop:
    jmp stop
    .globl done
done:
    ret
    .section .vectors, "a"
    .word _start
"""
# No symbol `_end`, as in the scripts of other makers.
SCRIPT = """
ENTRY(_start)
SECTIONS {{
  .text {code} : {{ *(.text*) *(.rodata*) }}
  .bss {ram} (NOLOAD) : {{ *(.bss*) *(.data*) }}
  .vectors 0xfffe : {{ KEEP(*(.vectors)) }}
}}
"""
F5438A = {"code": "0x5c00", "ram": "0x1c00"}, "0x5c00"
FR5994 = {"code": "0x4000", "ram": "0x1c00"}, "0x2c00"
# CS unlocked, DCO of 8 MHz undivided: no wait states.
AT_8_MHZ = "mov #0xa500, &0x160\n mov #0, &0x166"

CALL_BY_SP = """
typedef int (*fn)(int);
__attribute__((noinline)) int inc(int x) { return x + 1; }
__attribute__((noinline)) int last(int a, int b, int c, int d, fn e) { return e(a) + 1; }
volatile int out; volatile fn f; void done(void);
int main(void) { f = inc; out = last(40, 1, 2, 3, f); done(); return 0; }
"""
WORK = """
volatile unsigned total; void done(void);
__attribute__((noinline)) void work(void) { for (unsigned i = 0; i < 1000; i++) total += i; }
int main(void) { work(); done(); return 0; }
"""
DEEP = """
unsigned char data[@DATA]; void done(void);
__attribute__((noinline)) unsigned deep(void) {
  volatile unsigned char big[9000];
  for (unsigned i = 0; i < sizeof big; i++) big[i] = i;
  return big[123] + data[5];
}
int main(void) { data[5] = 1; deep(); done(); return 0; }
"""


def build(folder: Path, source: str, chip: tuple[dict[str, str], str] = F5438A, clock: str = "") -> Path:
    places, stack = chip
    (folder / "own.c").write_text(source)
    (folder / "start.s").write_text(START.format(stack=stack, clock=clock))
    (folder / "own.ld").write_text(SCRIPT.format(**places))
    for name, flags in (("own.c", ["-O2", "-g", "-ffreestanding"]), ("start.s", [])):
        command: list[str | Path] = [tool("clang"), "--target=msp430", *flags, "-c", name, "-o", f"{name}.o"]
        subprocess.run(command, cwd=folder, check=True)
    subprocess.run([tool("ld.lld"), "-T", "own.ld", "own.c.o", "start.s.o", "-o", "own.elf"], cwd=folder, check=True)
    return folder / "own.elf"


def test_a_call_by_sp_goes_where_silicon_goes_and_is_named(sunseal: Cli, tmp_path: Path) -> None:
    elf = build(tmp_path, CALL_BY_SP)
    m = Machine("msp430f5438a", elf)
    m.run(until="done", cycles=100_000)
    # As on the board: what `last` calls is where it was called from, not `inc`.
    assert m.read_int("out") != 42
    assert any("PUSH or CALL with an operand by SP" in lint and "at last" in lint for lint in m.lints())
    checked = boards.home() / "firmware" / "tests" / "check_elf.py"
    done = subprocess.run(["python3", checked, "--operands", elf], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "last" in done.stderr and "operand by SP" in done.stderr


def test_measure_warns_of_an_operand_by_sp(sunseal: Cli, tmp_path: Path) -> None:
    elf = build(tmp_path, CALL_BY_SP)
    outcome = sunseal("measure", "--elf", elf, "--from", "main", "--to", "last")
    assert (outcome.status, outcome.err) == (0, "")
    outcome = sunseal("measure", "--elf", elf, "--from", "main", "--to", "done")
    assert outcome.status == 0, outcome.err
    assert "PUSH or CALL with an operand by SP" in outcome.err


def test_a_program_is_priced_at_the_clock_that_it_sets(sunseal: Cli, tmp_path: Path) -> None:
    window = ("work", "done")
    elf = build(tmp_path, WORK)
    m = measuring.measure(elf=elf, window=window)
    assert m.freq_hz == pytest.approx(1_048_576, rel=0.005)  # of the FLL behind a reset
    assert m.time_s == pytest.approx(m.cycles / m.freq_hz, rel=1e-6)
    outcome = sunseal("measure", "--elf", elf, "--from", "work", "--to", "done", "--freq", "8MHz")
    assert (outcome.status, outcome.out) == (2, "")
    assert f"{m.freq_hz / 1e6:.6g} MHz at core voltage level 0" in outcome.err
    assert {p["freq_hz"] for p in measuring.curve(elf=elf, window=window)} == {m.freq_hz}

    board = "msp430fr5994-launchpad"
    fast = build(tmp_path, WORK, FR5994, AT_8_MHZ)
    m = measuring.measure(elf=fast, board=board, window=window, freq_hz=8_000_000)
    assert (m.freq_hz, m.cycles) == (8_000_000, round(m.time_s * 8e6))
    for asked in (1_000_000, 16_000_000):
        with pytest.raises(SunsealError, match="8 MHz at core voltage level 0"):
            measuring.measure(elf=fast, board=board, window=window, freq_hz=asked)


def test_a_disputed_row_shows_what_the_result_owes_to_it(sunseal: Cli, tmp_path: Path) -> None:
    elf = build(tmp_path, WORK)
    window = ("main", "done")
    plain = measuring.measure(elf=elf, window=window)
    changed = measuring.measure(elf=elf, window=window, timing={"pc_write_one_less": True})
    assert plain.cycles - changed.cycles == 1  # the RET of `work`
    assert changed.timing is not None
    assert changed.timing["default"]["cycles"] == plain.cycles
    assert changed.energy_j < plain.energy_j
    text = sunseal("measure", "--elf", elf, "--from", "main", "--to", "done", "--timing", "pc_write_one_less=true").out
    assert f"{plain.cycles:,} cycles" in text and "pc_write_one_less=true makes it" in text
    for wrong, why in (
        ("pc_write_one_les=true", "no switch"),
        ("pc_write_one_less=2", "true or false"),
        ("x", "NAME=VALUE"),
    ):
        refused = sunseal("measure", "--elf", elf, "--from", "main", "--to", "done", "--timing", wrong)
        assert refused.status == 2 and why in refused.err, refused
    assert Machine("msp430f5438a", elf, timing={"trap_misaligned": False}).timing == {"trap_misaligned": "false"}


def test_a_board_s_file_sets_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elf = build(tmp_path, WORK)
    own = tmp_path / "data" / "boards" / "msp430f5438a-anagear.toml"
    text = boards.board_path(boards.DEFAULT_BOARD).read_text()
    own.parent.mkdir(parents=True)
    (tmp_path / "data" / "parts").symlink_to(boards.home() / "data" / "parts")
    own.write_text(text + "\n[timing]\npc_write_one_less = true\n")
    device = boards.home() / "data" / "devices" / "msp430f5438a.toml"
    run = (elf.read_bytes(), ("main", "done"), None, 0, 10**7)
    plain = package._engine.run(str(boards.board_path(boards.DEFAULT_BOARD)), str(device), *run, [], None)
    changed = package._engine.run(str(own), str(device), *run, [], None)
    back = package._engine.run(str(own), str(device), *run, [("pc_write_one_less", "false")], None)
    assert (plain.cycles - changed.cycles, back.cycles) == (1, plain.cycles)
    assert changed.timing == [("pc_write_one_less", "true")]
    own.write_text(text + "\n[timing]\nit_folds = true\n")
    with pytest.raises(EngineError, match=r"\[timing\].*no switch `it_folds`"):
        package._engine.run(str(own), str(device), *run, [], None)


def test_a_call_knows_its_stack_and_what_it_runs_into(sunseal: Cli, tmp_path: Path) -> None:
    m = Machine("msp430f5438a", build(tmp_path, DEEP.replace("@DATA", "100")))
    m.run(until="main")
    assert 9000 < m.call("deep").stack_bytes < 9100
    assert m.place(4) >= 0x1C00 + 100
    elf = build(tmp_path, DEEP.replace("@DATA", "8000"))
    m = Machine("msp430f5438a", elf)
    m.run(until="main")
    with pytest.raises(SunsealError, match=r"the stack runs into data: .*deep"):
        m.call("deep")
    outcome = sunseal("measure", "--elf", elf, "--from", "deep", "--to", "done")
    assert "the stack runs into data" in outcome.err, outcome


def test_a_clock_that_no_cpu_has_is_refused(sunseal: Cli) -> None:
    for text, says in (("8", "`8MHz`"), ("999Hz", "slower than any clock")):
        outcome = sunseal("measure", "sha256-hash", "--freq", text)
        assert (outcome.status, outcome.out) == (2, "")
        assert says in outcome.err
