# SPDX-License-Identifier: MIT OR Apache-2.0
"""The constant-time verdict: given only where it is earned, on each instruction set and through each compiler."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal import Machine, SunsealError
from sunseal.machine.taint import ConstantTime
from sunseal.secure import constant_time_matrix as matrix
from sunseal.secure.constant_time import program, read_input
from sunseal.secure.constant_time_matrix import Compiler, Question, build, compilers

Make = Callable[..., Path]
DATA = Path(__file__).parent / "data" / "constant_time"
SETS = {isa.name: isa for isa in matrix.SETS}
LEAKS, SELECTS = 25, 12

INITIALISED = """
#include <stdint.h>
uint8_t key[16] = {1, 2, 3};
volatile uint8_t table[256], result;
__attribute__((noinline)) void use(void) {
    for (uint8_t i = 0; i < 16; i++) {
        result = table[key[i]];
        if (key[i] & 1) result++;
    }
}
int main(void) {
    use();
    for (;;) {}
}
"""
"""A secret with an initial value: start-up code copies it over what is marked at reset."""


def compiler(isa: str) -> Compiler:
    """The last compiler for an instruction set; GCC for AVR and Arm, clang for the MSP430."""
    return [c for c in compilers(SETS[isa]) if isinstance(c, Compiler)][-1]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Compile C for an instruction set."""

    def made(isa: str, source: str | Path, *flags: str, level: str = "-Os") -> Path:
        file = source if isinstance(source, Path) else tmp_path / "program.c"
        if isinstance(source, str):
            file.write_text(source)
        return build(file, SETS[isa], compiler(isa), level, tmp_path, flags)

    return made


def judge(isa: str, elf: Path, **how: Any) -> ConstantTime:
    return program(elf, ["key"], SETS[isa].board, **how)


@pytest.mark.parametrize("isa", ["avr", "msp430x", "cortex-m4"])
def test_a_secret_with_an_initial_value_is_followed_by_the_command_of_the_readme(
    make: Make, sunseal_process: Cli, isa: str
) -> None:
    elf = make(isa, INITIALISED)
    done = sunseal_process(
        "constant-time", elf, "--board", SETS[isa].board, "--secret", "key", "--for", "20ms", "--json"
    )
    told = json.loads(done.out)
    assert (done.status, told["verdict"]) == (1, "findings")
    kinds = {(leak["place"].partition("+")[0], leak["kind"].removeprefix("cached-")) for leak in told["findings"]}
    assert ("use", "address") in kinds
    assert ("use", "branch") in kinds or isa == "cortex-m4"
    assert told["covered"]["secrets"] == [{"name": "key", "bytes": 16, "read": 16, "overwritten": 0}]
    assert "use" in told["covered"]["functions"]
    assert 0 < told["covered"]["code_share"] <= 1


CRC = """
#include <stdint.h>
#define R16(a) (*(volatile uint16_t *)(a))
volatile uint16_t key = 0x1234, result;
int main(void) {
    R16(INPUT) = key;
    if (R16(OUTPUT) & 1) result = 1;
    else result = 2;
    return 0;
}
"""


@pytest.mark.parametrize(
    ("crc", "given", "gives"), [("CRC32", 0x986, 0x98E), ("CRC16 beside it", 0x990, 0x998), ("CRC16", 0x150, 0x154)]
)
def test_a_branch_on_the_crc_of_a_secret_is_found(make: Make, crc: str, given: int, gives: int) -> None:
    judged = judge("msp430x", make("msp430x", CRC, f"-DINPUT={given:#x}", f"-DOUTPUT={gives:#x}"))
    assert [leak.kind for leak in judged.findings] == ["branch"], crc
    (block,) = judged.covered.blocks
    assert block.followed
    assert block.name == ("crc16" if crc == "CRC16" else "crc32")


def test_a_block_that_is_not_followed_is_named_and_nothing_is_clean(make: Make, sunseal_process: Cli) -> None:
    # TA0CCR1: when the timer's interrupt comes, is decided by the secret.
    elf = make("msp430x", CRC.replace("if (R16(OUTPUT) & 1) result = 1;\n    else result = 2;", ""), "-DINPUT=0x354")
    done = sunseal_process("constant-time", elf, "--board", "msp430fr5994-launchpad", "--secret", "key")
    assert done.status == 3
    assert done.out.startswith("undecided")
    assert "ta0" in done.out
    m = Machine("msp430fr5994-launchpad", elf)
    m.run(until="main")
    with pytest.raises(SunsealError, match=r"no constant-time verdict.*ta0"):
        m.leaks(["key"])


DMA = """
#include <stdint.h>
#define R16(a) (*(volatile uint16_t *)(a))
#define R32(a) (*(volatile uint32_t *)(a))
volatile uint16_t key[4] = {1, 2, 3, 4}, copy[4], result;
int main(void) {
    R16(0x512) = (uint16_t)(uintptr_t)key;  /* DMA0SA */
    R16(0x514) = 0;
    R16(0x516) = (uint16_t)(uintptr_t)copy; /* DMA0DA */
    R16(0x518) = 0;
    R16(0x51A) = 4;                         /* DMA0SZ */
    R16(0x510) = 0x1F11;                    /* a block, both addresses up, enabled, requested */
    __asm__ volatile("nop");
    if (copy[3] & 1) result = 1;
    else result = 2;
    return 0;
}
"""


def test_what_dma_copies_stays_secret(make: Make) -> None:
    judged = judge("msp430x", make("msp430x", DMA))
    assert [leak.kind for leak in judged.findings] == ["branch"]
    assert judged.covered.secrets[0].read == 8


UNREAD = """
#include <stdint.h>
volatile uint8_t key[4] = {1, 2, 3, 4}, result;
__attribute__((noinline)) void never(void) { result = key[0]; }
__attribute__((noinline)) void done(void) { __asm__ volatile("nop"); }
int main(void) {
    if (result) never();
    START
    done();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("start", "how", "why"),
    [
        ("", {}, "no byte of key was read"),
        ("key[0] = 0; result = key[1];", {}, "1 of 4 bytes of key were overwritten before they were read"),
        ("result = key[0];", {"until": "never"}, "before never"),
        ("result = key[0];", {"start": "never"}, "did not come to `never`"),
        ("result = key[0]; for (;;) result++;", {"time_s": 1e-3}, "the time given was over"),
        ("result = key[0]; *(volatile uint8_t *)0x5C00 = 1; for (;;) {}", {}, None),
    ],
)
def test_a_run_that_did_not_get_there_is_undecided(
    make: Make, start: str, how: dict[str, Any], why: str | None
) -> None:
    elf = make("msp430", UNREAD.replace("START", start))
    judged = judge("msp430", elf, **how)
    assert (judged.verdict, judged.findings) == ("undecided", [])
    assert judged.exit_status == 3
    assert why is None or any(why in reason for reason in judged.why), judged.why


def test_an_undecided_verdict_tells_of_resets_and_where_they_came_from(make: Make) -> None:
    # The watchdog of the FR5994 bites each 32,768 cycles of SMCLK at 1 MHz.
    elf = make(
        "msp430x",
        """
        volatile unsigned char key = 1, result;
        int main(void) {
            *(volatile unsigned *)0x015C = 0x5A0C;
            result = key;
            for (;;) {}
        }
        """,
    )
    judged = judge("msp430x", elf, time_s=0.2)
    assert judged.verdict == "undecided"
    assert "meanwhile 6 resets: the last 6 by the watchdog's time-out, before the instruction at main" in judged.why[0]
    assert "reset" not in judge("msp430x", elf, time_s=0.01).why[0]


def test_a_run_that_got_there_is_clean(make: Make) -> None:
    elf = make("msp430", UNREAD.replace("START", "result = key[0];"))
    for how in ({}, {"until": "done"}):
        judged = judge("msp430", elf, **how)
        assert (judged.verdict, judged.why, judged.exit_status) == ("clean", [], 0)
        assert judged.covered.secrets[0].read == 1
        assert 0 < judged.covered.code_share < 1


INPUTS = """
#include <stdint.h>
volatile uint8_t key[4] = {1, 2, 3, 4}, mode, block[2], result;
int main(void) {
    result = key[0];
    if (mode == 2 && block[1] == 7 && key[1] & 1) result = 2;
    return 0;
}
"""


def test_runs_with_other_public_inputs_are_joined(make: Make, tmp_path: Path, sunseal_process: Cli) -> None:
    elf = make("avr", INPUTS)
    a, b = tmp_path / "a.toml", tmp_path / "b.toml"
    a.write_text("mode = 1\n")
    (tmp_path / "block.bin").write_bytes(b"\0\7")
    b.write_text('mode = 2\nblock = "@block.bin"\n')
    assert judge("avr", elf, inputs=[a]).verdict == "clean"
    both = judge("avr", elf, inputs=[a, b])
    assert (both.verdict, both.covered.runs, both.covered.secrets[0].read) == ("findings", 2, 2)
    done = sunseal_process("constant-time", elf, "--board", "micaz", "--secret", "key", "--input", a)
    assert done.status == 0
    assert "other public inputs may lead elsewhere" in " ".join(done.out.split())
    for text in ('mode = "0x"', "mode = 1.5", "mode = 256", 'block = "000000"', "nothing = 1", "", "mode ="):
        a.write_text(text)
        assert sunseal_process("constant-time", elf, "--board", "micaz", "--secret", "key", "--input", a).status == 2
    assert read_input(b) == {"mode": 2, "block": b"\0\7"}


def cells(source: str, cases: int, step: int) -> list[tuple[str, str, int]]:
    """A sample of the cases, spread over sets and levels; each set has each `step`-th."""
    return [
        (isa, matrix.LEVELS[(case + n) % len(matrix.LEVELS)], case)
        for n, isa in enumerate(SETS)
        for case in range(n % step, cases, step)
    ]


@pytest.mark.parametrize(("isa", "level", "case"), cells("leaks", LEAKS, 4))
def test_a_seeded_leak_is_found(isa: str, level: str, case: int) -> None:
    question = matrix.question_in(DATA / "leaks.c")
    judged = matrix.cell(DATA / "leaks.c", question, SETS[isa], compiler(isa), level, [f"-DCASE={case}"]).verdict
    assert judged.verdict == "findings", judged.why


@pytest.mark.parametrize(("isa", "level", "case"), cells("selects", SELECTS, 2))
def test_a_good_select_is_clean(isa: str, level: str, case: int) -> None:
    question = matrix.question_in(DATA / "selects.c")
    judged = matrix.cell(DATA / "selects.c", question, SETS[isa], compiler(isa), level, [f"-DCASE={case}"]).verdict
    assert judged.verdict == "clean", (judged.findings, judged.why)


def test_a_matrix_has_a_verdict_a_cell_and_names_what_is_missing(tmp_path: Path, sunseal_process: Cli) -> None:
    source = tmp_path / "select.c"
    source.write_text((DATA / "selects.c").read_text().replace("#include", "#define CASE 11\n#include", 1))
    done = sunseal_process("constant-time", "--matrix", source, "--json")
    told = json.loads(done.out)
    assert (done.status, told["verdict"]) == (0, "clean"), done.err
    assert {cell["isa"] for cell in told["cells"]} == set(SETS)
    assert {cell["level"] for cell in told["cells"]} == set(matrix.LEVELS)
    named = {cell["compiler"].split(".")[0] for cell in told["cells"]} | {m.split(" (")[0] for m in told["missing"]}
    assert {f"clang {release}" for release in matrix.CLANGS} <= named
    source.write_text("int main(void) { return 0; }\n")
    refused = sunseal_process("constant-time", "--matrix", source)
    assert refused.status == 2
    assert "names no secret" in refused.err
    with pytest.raises(SunsealError, match="names no secret"):
        matrix.run(source, Question())


def test_an_image_needs_a_secret_with_a_size(make: Make, sunseal_process: Cli) -> None:
    image = make("msp430", UNREAD.replace("START", ""))
    assert sunseal_process("constant-time", image, "--board", "telosb").status == 2
    refused = sunseal_process("constant-time", image, "--board", "telosb", "--secret", "__stack_top")
    assert refused.status == 2
    assert "has no size" in refused.err
