# SPDX-License-Identifier: MIT OR Apache-2.0
"""`measure --call`: calls of a function, one's own and the program's, beside a trace of the instructions that ran."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from sunseal import Machine, SunsealError, measure_calls
from test_variables import BOARDS, build

SOURCE = r"""
#include <stdint.h>
#define APART __attribute__((noinline))
volatile uint32_t total, rounds = 5;
APART uint32_t work(uint16_t n, uint32_t by) {
    uint32_t sum = 0;
    for (uint16_t i = 0; i < n; i++)
        sum += by ^ i;
    return sum;
}
APART unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
APART int8_t fill(uint8_t *out, const char *from, uint8_t n) {
    for (uint8_t i = 0; i < n; i++)
        out[i] = from[i] ^ 0x20;
    return (int8_t)-n;
}
APART void forever(void) {
    for (;;)
        total++;
}
struct pair {
    uint8_t a, b;
};
APART uint16_t joined(struct pair p) { return (uint16_t)(p.a + p.b + rounds); }
volatile float ratio = 1;
volatile double wide = 2;
APART float negated(float a, uint8_t twice) { return twice ? a : -a; }
APART double farther(uint16_t n, double a) { return n ? -a : a; }
void done(void) { __asm__ volatile(""); }
static uint8_t kept[4];
int main(void) {
    for (uint16_t i = 0; i < (uint16_t)rounds; i++)
        total = work(i, 70000);
    total += fib(6) + (uint8_t)fill(kept, "ab", 2) + kept[1];
    if (rounds == 1)
        forever();
    if (rounds == 2)
        total = joined((struct pair){1, (uint8_t)total});
    if (rounds == 3)
        ratio = negated(ratio, (uint8_t)total), wide = farther(3, wide);
    for (;;)
        done();
}
"""


@pytest.fixture(scope="module", params=BOARDS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    board: str = request.param
    return board, build(board, tmp_path_factory.mktemp(board), level="-O1", text=SOURCE)


def traced(board: str, elf: Path, function: str) -> list[int]:
    """Cycles of each call that `main` makes, by its instructions."""
    machine = Machine(board, elf)
    machine.run(until="main")
    rows, start = machine.trace("done", most=100_000), machine.address(function)
    sums = []
    for i in range(1, len(rows)):
        call = int(rows["address"][i - 1])
        if rows["address"][i] != start or not machine.describe(call).startswith("main"):
            continue
        end = next(j for j in range(i, len(rows)) if call < rows["PC"][j] <= call + 6)
        sums.append(int(rows["cycles"][i : end + 1].sum()))
    return sums


def test_the_programs_own_calls_take_what_their_instructions_take(program: tuple[str, Path]) -> None:
    board, elf = program
    found = measure_calls(elf, "work", board=board, repeat=5)
    assert [c.value for c in found.calls] == [sum(70000 ^ i for i in range(n)) for n in range(5)]
    assert [c.cycles for c in found.calls] == traced(board, elf, "work")
    spread = found.spread("cycles")
    assert spread["min"] == found.calls[0].cycles < spread["mean"] < spread["max"] == found.calls[4].cycles
    assert all(c.energy_low_j < c.energy_j < c.energy_high_j for c in found.calls)
    (recursive,) = measure_calls(elf, "fib", board=board).calls
    assert (recursive.value, [recursive.cycles]) == (8, traced(board, elf, "fib"))


def test_a_call_of_ones_own_is_the_one_that_the_program_makes(program: tuple[str, Path]) -> None:
    board, elf = program
    seen = measure_calls(elf, "work", board=board, repeat=5).calls
    for n, call in enumerate(seen):
        (own,) = measure_calls(elf, f"work({n}, 0x11170)", board=board).calls
        assert (own.cycles, own.value) == (call.cycles, call.value)
    twice = measure_calls(elf, 'fill([4], "aB", 3)', board=board, start="done", repeat=2)
    assert [c.value for c in twice.calls] == [-3, -3]
    assert twice.calls[0].cycles == twice.calls[1].cycles, "the buffers are filled anew"
    assert list(twice.written.items()) == [("1: [4]", b"Ab\x20\0"), ('2: "aB"', b"aB\0")]
    assert measure_calls(elf, "fill(&kept, x'6162', 2)".replace("'", '"'), board=board).calls[0].value == -2


def test_floating_point_numbers_are_passed_and_given_back(
    program: tuple[str, Path], tmp_path: Path, sunseal: Cli
) -> None:
    board, elf = program

    def result(call: str) -> object:
        return measure_calls(elf, call, board=board).calls[0].value

    assert [result(f"negated({a}, 0)") for a in ("0.1", "-2e-3", "7")] == [-0.1, 0.002, -7]
    assert result("farther(1, 1e-3)") == -0.001 and result("farther(0, 3.25)") == 3.25
    told = sunseal("measure", elf, "--board", board, "--call", "negated(nan, 0)", "--json")
    assert told.status == 0 and json.loads(told.out)["calls"][0]["value"] is None and "gave nan" in told.err
    if board == "msp432p401r-launchpad":
        flags = bytearray(elf.read_bytes())
        flags[37] |= 0x04  # EF_ARM_ABI_FLOAT_HARD
        hard = tmp_path / "hard.elf"
        hard.write_bytes(flags)
        assert measure_calls(hard, "work(3, 2)", board=board).calls[0].value == 2 + 3 + 0
        with pytest.raises(SunsealError, match="floating-point numbers in the unit's own registers"):
            measure_calls(hard, "negated(1, 0)", board=board)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("work(1)", "`work` takes uint16_t n, uint32_t by; 1 arguments were given"),
        ("work(70000, 1)", "`70000` for uint16_t n does not fit into 16 bits"),
        ("work([4], 1)", "is a buffer, and a number is wanted"),
        ("joined(1)", "only numbers and addresses are passed here"),
        ("negated(half, 0)", "`half` for float a is no number, such as `-1.5`"),
        ("work(1, two)", "is no argument: write a whole number"),
        ("fill([60000], 0, 1)", "do not fit into the"),
        ('fill(x"6", 0, 1)', "no row of bytes in hex"),
        ("work(1, ", "is no call"),
        ("fil([4], 0, 1)", "has no function `fil`"),
        ("forever()", "`forever` does not return: the machine stands at"),
    ],
)
def test_what_cannot_be_called_is_said(
    program: tuple[str, Path], call: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sunseal.measurement.measuring.CYCLES_MAX", 1_000_000)
    board, elf = program
    # TI's watchdog runs, as `main` does not stop it.
    if "forever" in call and board != "micaz":
        sentence = "`forever` does not return: 1 reset"
    with pytest.raises(SunsealError, match=re.escape(sentence)):
        measure_calls(elf, call, board=board)


def test_why_there_is_no_other_call_is_said(program: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    board, elf = program
    monkeypatch.setattr("sunseal.measurement.measuring.CYCLES_MAX", 20_000)  # before any watchdog
    with pytest.raises(SunsealError, match="never called `forever`: 20,000 cycles or an hour went by"):
        measure_calls(elf, "forever", board=board)
    few = measure_calls(elf, "work", board=board, repeat=9)
    assert len(few.calls) == 5
    assert "`work` was called 5 times, then 20,000 cycles or an hour went by" in few.lints


def test_the_command_tells_least_mean_and_most(program: tuple[str, Path], sunseal: Cli) -> None:
    board, elf = program
    told = json.loads(sunseal("measure", elf, "--board", board, "--call", "work", "--repeat", "5", "--json").out)
    assert [c["cycles"] for c in told["calls"]] == traced(board, elf, "work")
    assert told["cycles"]["max"] == told["calls"][4]["cycles"] and told["typed"] is True
    for args, sentence in (
        (("--repeat", "2"), "belongs to `--call`"),
        (("--call", "work", "--marks"), "`--marks` cannot stand beside `--call`"),
    ):
        refused = sunseal("measure", elf, "--board", board, *args)
        assert refused.status == 2 and sentence in refused.err


def test_without_debug_data_numbers_are_ints_and_that_is_said(tmp_path: Path) -> None:
    elf = build("msp430f5438a-anagear", tmp_path, dwarf="-g0", text=SOURCE)
    found = measure_calls(elf, "fib(5)", board="msp430f5438a-anagear")
    assert not found.typed and found.calls[0].value is None
    assert "numbers were passed as `int`" in found.lints[-1]
    with pytest.raises(SunsealError, match="does not fit the 16 bits of an `int`; compile it with"):
        measure_calls(elf, "fib(70000)", board="msp430f5438a-anagear")
