# SPDX-License-Identifier: MIT OR Apache-2.0
"""Losses of power at every cycle of programs of a few instructions, right ones and wrong ones."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sunseal
from conftest import Cli, require
from sunseal import EngineError, Machine, SunsealError
from sunseal.catalog import boards, power_sets
from sunseal.requests.checks import checks
from sunseal.secure import cutting, injecting
from test_variables import build as compiled

BOARD = "msp430fr5994-launchpad"
SCRIPT = Path(__file__).parents[2] / "crates/sunseal-mcu/tests/fr5994/program/msp430fr5994.ld"
PROGRAM = """
    .global main, task, done, {symbols}
    .text
main:
    mov #0x2C00, r1
    mov #0x5A80, &0x015C
    mov #0, &0x0130
task:
{task}
done:
    jmp done
    .section .persistent,"aw",@progbits
{data}
    .section .vectors,"a",@progbits
    .word main
"""


def word(name: str, value: int) -> str:
    return f"    .type {name}, @object\n    .size {name}, 2\n{name}: .word {value}\n"


# Counts to 8 once. The first is cut between its two writes and counts twice; the second writes a
# shadow, and which of the two counts is one word.
NAIVE = """
    tst &flag
    jne done
    mov &count, r12
    add #1, r12
    mov r12, &count
    nop
    mov #1, &flag
"""
SOUND = """
    tst &flag
    jne done
    mov &count, r12
    add #1, r12
    mov r12, &shadow
    mov #1, &flag
"""
ASSERTS = """
    mov #0, &count
    mov &flag, r12
    cmp #1, r12
    jne 1f
    br #sunseal_assert_failed
1:  mov #1, &flag
    mov #0, &flag
    jmp done
sunseal_assert_failed:
    jmp sunseal_assert_failed
"""

Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    clang, gas, lld = (shutil.which(name) for name in ("clang", "msp430-elf-as", "ld.lld"))
    require(None not in (clang, gas, lld), "clang, msp430-elf-as and ld.lld")

    def make(name: str, task: str, *, lines: bool = True, **values: int) -> Path:
        source, elf = tmp_path / f"{name}.S", tmp_path / f"{name}.elf"
        names = [*values, *(["sunseal_assert_failed"] if "assert" in task else [])]
        data = "".join(word(n, v) for n, v in values.items())
        source.write_text(PROGRAM.format(symbols=", ".join(names), task=task, data=data))
        # GNU's assembler starts in a tenth of the time; its table of lines is none that lld can link.
        assemble = [str(clang), "--target=msp430", "-g", "-c"] if lines else [str(gas), "-mcpu=430", "-mn"]
        subprocess.run([*assemble, "-o", str(elf) + ".o", str(source)], check=True)
        subprocess.run([str(lld), "-T", str(SCRIPT), "-e", "main", "-o", str(elf), str(elf) + ".o"], check=True)
        return elf

    return make


def test_a_count_that_a_loss_can_double_fails_in_exactly_those_cycles(build: Build) -> None:
    elf = build("naive", NAIVE, count=7, flag=0)
    done = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"])
    assert done.cuts == done.stretch_cycles + 1
    # Behind the last cycle of `mov r12, &count`, and up to the last but one of `mov #1, &flag`.
    m = Machine(BOARD, elf)
    m.run(until="task")
    origin = m.cycles
    while m.read_int("count") == 7:
        m.step()
    first = m.cycles - origin
    while m.read_int("flag") == 0:
        m.step()
    last = m.cycles - origin - 1
    assert [f.cycle for f in done.failures] == list(range(first, last + 1))
    earliest = done.earliest
    assert earliest is not None
    assert "`count` holds 09 00 where 08 00" in earliest.reason
    assert "naive.S:15" in earliest.place, "the instruction that was next"
    *_, write, cut = earliest.trace.splitlines()
    assert "MOV R12, &" in write
    assert "MOV #0, R3" in cut
    assert earliest.registers["R12"] == 8


def test_a_count_in_two_steps_survives_every_cut(build: Build) -> None:
    elf = build("sound", SOUND, count=7, flag=0, shadow=0)
    done = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count", "shadow", "flag"])
    assert done.passed
    assert done.earliest is None
    again = sunseal.inject(elf, BOARD, start="task", end="done", golden=["shadow"], again=(3, 14))
    assert again.passed


def test_few_points_find_the_earliest_cut_too(build: Build) -> None:
    elf = build("naive", NAIVE, count=7, flag=0)
    every = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"]).earliest
    late = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"])
    last = late.failures[-1].cycle
    few = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"], points=[0, last])
    assert few.earliest is not None
    assert every is not None
    assert few.earliest.cycle == every.cycle
    writes = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"], points="writes")
    assert writes.earliest is not None
    assert writes.earliest.cycle == every.cycle


def test_invariants_and_assertions_are_heard(build: Build) -> None:
    naive = build("naive", NAIVE, count=7, flag=0)

    def at_most_eight(m: Machine) -> None:
        assert m.read_int("count") <= 8, f"count is {m.read_int('count')}"

    done = sunseal.inject(naive, BOARD, start="task", end="done", invariants=[at_most_eight])
    assert done.earliest is not None
    assert done.earliest.reason == "`at_most_eight` does not hold: count is 9"
    elf = build("asserts", ASSERTS, count=0, flag=0)
    done = sunseal.inject(elf, BOARD, start="task", end="done")
    assert done.earliest is not None
    assert done.earliest.reason == "the assertion `sunseal_assert_failed` failed"


def test_a_called_function_is_called_again_behind_the_reboot() -> None:
    elf = boards.firmware_path("telosb", {"mpy": "16"}, "bench-aes128-encrypt")
    m = Machine("telosb", elf)
    assert m.run(until="main").kind == "pc"
    seen = []

    def call(m: Machine) -> tuple[str, int, int, int]:
        key = m.place(bytes(range(32)))
        seen.append(m.cycles)
        return "bench_setup", key, 32, m.place(64)

    done = sunseal.inject(elf, "telosb", call=call, every=5, off_s=0.1, brute=True)
    assert (done.failed, done.judged.word) == (0, "undecided"), "nothing was compared"
    assert len(seen) == done.cuts + 1


def test_write_after_read_is_found_where_it_is(build: Build) -> None:
    found = sunseal.war(build("naive", NAIVE, count=7, flag=0), BOARD, start="task", end="done")
    assert [h.symbol for h in found] == ["count", "flag"]
    count = found[0]
    assert "naive.S:14" in count.write_place
    assert "naive.S:12" in count.read_place
    assert (count.bytes, count.changes) == (2, 1)
    assert [h.symbol for h in sunseal.war(build("s", SOUND, count=7, flag=0, shadow=0), BOARD, end="done")] == ["flag"]
    assert sunseal.war(build("s", SOUND, count=7, flag=0, shadow=0), BOARD, end="done", ignore=["flag"]) == []
    with pytest.raises(sunseal.EngineError, match="no non-volatile memory that plain loads"):
        sunseal.war(boards.firmware_path("micaz", {}, "bench-aes128-encrypt"), "micaz")


def test_the_commands_say_no_by_their_status(build: Build, sunseal: Cli, tmp_path: Path) -> None:
    elf = build("naive", NAIVE, count=7, flag=0)
    done = sunseal("inject", elf, "--board", BOARD, "--from", "task", "--to", "done", "--golden", "count")
    assert done.status == 1
    assert "not survived" in done.out
    assert "naive.S:15" in done.out
    checks = tmp_path / "checks.py"
    checks.write_text("def check_count(m):\n    assert m.read_int('count') < 10\n")
    done = sunseal("inject", elf, "--board", BOARD, "--from", "task", "--to", "done", "--check", checks, "--json")
    assert done.status == 0
    assert json.loads(done.out)["passed"] is True
    assert sunseal("war", elf, "--board", BOARD, "--from", "task", "--to", "done").status == 1
    assert sunseal("war", elf, "--board", BOARD, "--to", "done", "--ignore", "count", "--ignore", "flag").status == 0


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"end": "nowhere"}, "nowhere"),
        ({"golden": ["nothing"]}, "nothing"),
        ({"points": [5, 100_000]}, "cycle 100000 is not in the stretch"),
        ({"points": []}, "there is no point to cut at"),
        ({"expect": {"count": b"\x01\x00"}}, "the uninterrupted run fails: `count` holds 08 00"),
        ({"every": 0}, "every is 0; it must be 1 or more"),
        ({"every": 1_000}, "each 1,000th is only the first"),
        ({"golden": ["main"]}, "`main` has no size"),
    ],
)
def test_what_cannot_be_is_one_sentence(build: Build, wrong: dict[str, object], told: str) -> None:
    elf = build("naive", NAIVE, count=7, flag=0)
    with pytest.raises((SunsealError, sunseal.EngineError), match=told):
        sunseal.inject(elf, BOARD, **{"start": "task", "end": "done", **wrong})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("task", "limit", "told"),
    [
        ("bis #0xF0, r2", [], "it sleeps, and nothing can wake it, at done"),
        ("1: jmp 1b", [], "it stays for good in a loop of one jump at task"),
        ("1: nop\n jmp 1b", ["--limit", "1000000"], "it still runs at task"),
    ],
)
def test_an_end_that_is_never_reached_is_told_with_where_the_program_is(
    build: Build, sunseal: Cli, task: str, limit: list[str], told: str
) -> None:
    elf = build("never", task, count=7)
    done = sunseal("inject", elf, "--board", BOARD, "--from", "task", "--to", "done", *limit)
    assert done.status == 2
    assert told in " ".join(done.err.split())
    assert "or allow more cycles" in " ".join(done.err.split())


def test_cuts_that_never_come_are_no_verdict(build: Build) -> None:
    elf = build("sound", SOUND, count=7, flag=0, shadow=0)
    with pytest.raises(SunsealError, match="no verdict: the supply never went 100,000 cycles behind a reboot"):
        sunseal.inject(elf, BOARD, start="task", end="done", golden=["shadow"], again=[100_000])
    idle = build("idle", IDLE, count=0)
    with pytest.raises(SunsealError, match="writes nothing to non-volatile memory"):
        sunseal.inject(idle, BOARD, start="task", end="done", points="writes")
    kept = sunseal.inject(idle, BOARD, start="task", end="done", golden=["count"])
    assert kept.passed and kept.keeps_nothing


IDLE = """
    mov #40, r12
1:  dec r12
    jnz 1b
"""
DMA = """
    mov #0, &0x0500
    mov #shadow, &0x0512
    mov #count, &0x0516
    mov #1, &0x051A
    mov #0x0010, &0x0510
    mov #0x0011, &0x0510
    nop
    nop
    nop
    nop
"""


def test_write_after_read_gives_no_verdict_where_it_cannot_look(build: Build) -> None:
    elf = build("sound", SOUND, count=7, flag=0, shadow=0)
    with pytest.raises(SunsealError, match="never reaches the commit `done`"):
        sunseal.war(elf, BOARD, start="task", end="done", commits=["done"])
    # A word is moved over another one, by software's request.
    moved = build("dma", DMA, count=7, flag=0, shadow=9)
    m = Machine(BOARD, moved)
    m.run(until="done")
    assert m.read_int("count") == 9, "the DMA controller has moved a word"
    with pytest.raises(SunsealError, match="no verdict: the DMA controller made 1 transfers"):
        sunseal.war(moved, BOARD, start="task", end="done")


def test_checks_that_do_not_run_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def check_it(m: return\n")
    with pytest.raises(SunsealError, match=r"bad.py` do not run: SyntaxError"):
        checks(bad)
    bad.write_text("x = 1\n")
    with pytest.raises(SunsealError, match=r"has no function `check_"):
        checks(bad)


def test_a_program_that_is_done_is_not_cut_again(tmp_path: Path) -> None:
    """With few cycles left behind the first cut, it comes to its end before the second."""
    examples = Path(__file__).parents[2] / "examples"
    elf = tmp_path / "sum.elf"
    command = [str(examples / "own_firmware" / "build.sh"), str(elf), str(examples / "intermittent" / "sum.c")]
    subprocess.run(command, check=True, env={**os.environ, "BOARD": BOARD})
    for again in (30, 90, 200):
        told = sunseal.inject(elf, BOARD, start="main", end="done", golden=["result"], again=[again])
        assert (told.cuts > 600, told.failures) == (True, [])


# A count with a shadow and a flag, in eight ways to write its words, each with one fault that a constant seeds.
def _seeded(n: int) -> str:
    """Return a task of four stores in an order, of values and to words that the number decides."""
    names = ["count", "flag", "shadow", "other"]
    lines = ["    tst &flag", "    jne done"] if n % 3 else []
    for i in range(4):
        target = names[(n // 4**i) % 4]
        source = ["&count", "&shadow", "&other", f"#{n % 7 + 1}"][(n * 7 + i * 5) // 3 % 4]
        lines += [
            f"    mov {source}, r12",
            f"    add #{(n + i) % 3}, r12",
            "    nop" * (n % 2),
            f"    mov r12, &{target}",
        ]
    return "\n".join([*lines, "    mov #1, &flag", ""])


def test_classes_have_the_verdicts_of_single_cuts_on_a_hundred_seeded_faults(build: Build) -> None:
    """Each cut alone, and one of each class: the same cuts fail for the same reasons, and most fall into classes."""
    failing = cuts = played = 0
    for n in range(100):
        elf = build(f"seeded{n}", _seeded(37 * n + 11), lines=False, count=7, flag=0, shadow=3, other=1)
        brute, classes = (
            sunseal.inject(elf, BOARD, start="task", end="done", golden=["count", "shadow", "other"], brute=brute)
            for brute in (True, False)
        )
        assert brute.played == brute.cuts
        assert (classes.cuts, classes.failed) == (brute.cuts, brute.failed)
        assert [(f.cycle, f.reason) for f in classes.failures] == [(f.cycle, f.reason) for f in brute.failures]
        failing += not brute.passed
        cuts, played = cuts + classes.cuts, played + classes.played
    assert 40 < failing < 100
    assert played < cuts / 3


def test_few_cuts_of_a_long_stretch_are_played_each(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brute force where it costs less than to tell classes; with the verdicts of both ways."""
    elf = build("naive", NAIVE, count=7, flag=0, shadow=0)
    asked: dict[str, Any] = {"start": "task", "end": "done", "golden": ["count"]}
    classes = sunseal.inject(elf, BOARD, **asked)
    assert classes.played < classes.cuts, "a short stretch is surveyed at once"
    monkeypatch.setattr(cutting, "SURVEYED_FROM", 1)
    monkeypatch.setattr(cutting, "SURVEY_CYCLES", 10_000)
    few, told = sunseal.inject(elf, BOARD, **asked), sunseal.inject(elf, BOARD, **asked, brute=False)
    assert (few.played, told.played) == (few.cuts, classes.played)
    assert [f.cycle for f in few.failures] == [f.cycle for f in told.failures] == [f.cycle for f in classes.failures]
    monkeypatch.setattr(cutting, "SURVEY_CYCLES", 1)
    assert sunseal.inject(elf, BOARD, **asked).played == classes.played


def test_what_a_check_writes_in_each_life_is_told(build: Build, sunseal: Cli, tmp_path: Path) -> None:
    elf, checks = build("sound", SOUND, count=7, flag=0, shadow=0, other=0), tmp_path / "checks.py"
    checks.write_text("def setup(machine):\n    machine.write('other', b'\\1\\0')\n", encoding="utf-8")
    asked = ("inject", elf, "--board", BOARD, "--from", "task", "--to", "done", "--golden", "count", "--check", checks)
    assert "the check wrote `other` anew in each life" in sunseal(*asked).out
    assert json.loads(sunseal(*asked, "--json").out)["written"] == ["other"]
    assert json.loads(sunseal(*asked[:-2], "--json").out)["written"] == []


def test_checks_that_ask_when_the_cut_fell_have_each_cut_played(build: Build) -> None:
    elf = build("sound", SOUND, count=7, flag=0, shadow=0)

    def late(m: Machine) -> bool:
        return m.cycles > 0

    done = sunseal.inject(elf, BOARD, start="task", end="done", invariants=[late])
    assert done.played == done.cuts
    assert done.alone == {"the checks ask the machine for `cycles`": done.cuts}


NOISE = """
    mov &0x1C80, r12
    mov r12, &count
"""


def test_a_program_that_reads_ram_as_it_woke_has_each_cut_played(build: Build) -> None:
    done = sunseal.inject(build("noise", NOISE, count=7), BOARD, start="task", end="done")
    assert done.played == done.cuts
    assert done.alone == {"RAM is read that woke with noise": done.cuts}


def test_an_accumulator_of_which_a_program_sets_only_what_it_uses_is_no_noise(build: Build) -> None:
    """MAC with 16 bits adds to RESLO and RESHI: the words above them may be anything; of the whole, it is noise."""
    narrow = """
        mov #3, &0x04CA
        mov #0, &0x04CC
        mov #5, &0x04C4
        mov #7, &0x04C8
        nop
        mov &0x04CA, r12
        mov r12, &count
    """
    elf = build("narrow", narrow, count=7)
    done = sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"])
    assert (done.passed, done.alone) == (True, {})
    assert Machine(BOARD, elf).run(until="done").kind == "pc"
    wide = narrow.replace("0x04C4", "0x04D8").replace("0x04C8", "0x04E0")  # MAC32L, OP2L
    done = sunseal.inject(build("wide", wide, count=7), BOARD, start="task", end="done")
    assert done.alone == {"the multiplier is used as it woke, with noise": done.cuts}


def test_a_store_that_the_mpu_refuses_is_not_taken_for_one(build: Build) -> None:
    """The value in a refused word survives, and is read."""
    refused = """
        mov #0xA500, &0x05A0
        mov #0, &0x05A6
        mov #0x1000, &0x05A4
        mov #0x7757, &0x05A8
        mov #0xA501, &0x05A0
        mov #1, &count
        mov &count, r12
        mov r12, &0x1C80
    """
    done = sunseal.inject(build("refused", refused, count=7), BOARD, start="task", end="done", golden=["count"])
    assert done.passed
    assert done.alone == {"FRAM holds something else than what was stored there": done.cuts}


@pytest.mark.parametrize("refused", [True, False])
def test_a_store_that_is_refused_is_refused_in_front_of_a_cut_too(build: Build, refused: bool) -> None:
    """The MPU lets nothing be written where `count` lies, or is not switched on: in no cycle is the word another."""
    store = f"""
        mov #0xA500, &0x05A0
        mov #0, &0x05A6
        mov #0x1000, &0x05A4
        mov #0x7757, &0x05A8
        mov #{0xA501 if refused else 0xA500}, &0x05A0
    store:
        mov #1, &count
    stored:
        nop
    """
    m = Machine(BOARD, build("store", store, count=7))
    m.run(until="store")
    here, first = m.snapshot(), m.cycles
    m.run(until="stored")
    seen = []
    for at in range(first, m.cycles + 1):
        m.restore(here)
        assert m.engine.power_cut_in(at, [])
        seen.append(m.read_int("count"))
    assert len(seen) == 4
    assert (set(seen), seen[-1]) == (({7}, 7) if refused else ({7, 1}, 1))


def _verdicts(elf: Path, brute: bool, losses: int = 2, every: int = 1) -> dict[tuple[int, ...], str | None]:
    """Cut so often in a row; return what is wrong by the cycles of all cuts."""
    run = cutting.Run(elf, BOARD, "task", "done", None, None, None, ["count", "shadow", "other"], {}, [], None)
    told = run.uninterrupted(None)
    campaign = cutting.Campaign(run, told, 10**12, 1, losses=losses, brute=brute, every=every, recoveries_most=100_000)
    root = cutting.Left((), stretch=run.stretch)
    campaign.cut_all(root, False, None)
    assert not campaign.uncut
    found: dict[tuple[int, ...], str | None] = {}

    def look(path: tuple[int, ...], node: cutting.Left) -> None:
        for first, last, left in node.classes:
            for cycle in range(first, last + 1):
                if cycle % every == 0 and (len(path) + 1 == losses or not left.classes):
                    found[*path, cycle] = left.reason
                elif cycle % every == 0:
                    look((*path, cycle), left)

    look((), root)
    return found


def test_second_losses_have_the_verdicts_of_single_cuts(build: Build) -> None:
    """Each pair of cuts alone, and one of each class of recoveries and of cuts in them."""
    failing = 0
    for n in range(0, 100, 9):
        elf = build(f"twice{n}", _seeded(37 * n + 11), lines=False, count=7, flag=0, shadow=3, other=1)
        brute, classes = (_verdicts(elf, brute) for brute in (True, False))
        assert classes == brute
        failing += any(reason is not None for reason in brute.values())
    assert failing > 1


# Wrong only where two losses follow each other: the first leaves `flag` at 1, the second finds it so.
TWICE = """
    cmp #2, &flag
    jeq done
    add #1, &tries
    cmp #3, &tries
    jlo 1f
    mov #9, &count
1:  nop
    mov #2, &flag
"""


def test_a_fault_that_takes_two_losses_is_found_by_two(build: Build, sunseal: Cli) -> None:
    elf = build("twice", TWICE, count=7, flag=0, tries=0)
    asked = ("inject", elf, "--board", BOARD, "--from", "task", "--to", "done", "--golden", "count")
    assert "0 not survived" in sunseal(*asked).out
    done = sunseal(*asked, "--losses", "2", "--json")
    assert done.status == 1
    told = json.loads(done.out)
    assert told["recoveries"] > 0
    assert all(len(f["again"]) == 1 for f in told["failures"])
    assert "`count` holds 09 00 where 07 00" in told["failures"][0]["reason"]


# The high byte of `w` is 9 between two stores, which the run behind a cut there does not read; the run behind one more
# cut, with `flag` at 1, counts it. The low byte, which is read, has had each of its values before.
LATE = """
    cmp #2, &flag
    jeq done
    cmp #1, &flag
    jeq 2f
    tst &begun
    jnz 1f
    mov #1, &begun
    mov #0x0701, &w
    mov #0x0702, &w
    mov #0x0901, &w
    nop
    mov #0x0702, &w
1:  cmp.b #2, &w
    mov #1, &flag
    nop
    mov #0x0502, &w
    jmp 3f
2:  mov.b &w+1, r12
    mov r12, &count
    mov #0x0502, &w
3:  mov #2, &flag
"""


def test_what_only_a_further_loss_reads_tells_two_recoveries_apart(build: Build) -> None:
    """Taken for each other by what their own runs read, they are compared again when more is known."""

    def counts_seven_or_five(m: Machine) -> bool:
        return m.read_int("count") in (5, 7)

    elf = build("late", LATE, count=7, flag=0, begun=0, w=0x0700)
    once, twice, often, brute = (
        sunseal.inject(
            elf, BOARD, start="task", end="done", invariants=[counts_seven_or_five], losses=losses, brute=brute
        )
        for losses, brute in ((1, False), (2, False), (None, False), (2, True))
    )
    assert once.passed
    assert {f.cycle for f in twice.failures} < {f.cycle for f in brute.failures}
    for done in (twice, often):
        assert done.earliest is not None
        assert (done.uncut, len(done.earliest.again)) == (0, 1)


THRICE = TWICE.replace("cmp #3", "cmp #4")


def test_a_fault_that_takes_three_losses_is_found_by_any_number(build: Build) -> None:
    elf = build("thrice", THRICE, count=7, flag=0, tries=0)
    two, three, every = (
        sunseal.inject(elf, BOARD, start="task", end="done", golden=["count"], losses=n) for n in (2, 3, None)
    )
    assert two.passed
    assert (three.passed, every.passed, every.uncut) == (False, False, 0)
    assert {len(f.again) for f in three.failures} == {2}


def test_third_losses_have_the_verdicts_of_single_cuts(build: Build) -> None:
    failing = 0
    for n in range(4, 100, 24):
        elf = build(f"thrice{n}", _seeded(37 * n + 11), lines=False, count=7, flag=0, shadow=3, other=1)
        brute, classes = (_verdicts(elf, brute, losses=3, every=4) for brute in (True, False))
        assert classes == brute
        failing += any(reason is not None for reason in brute.values())
    assert failing > 0


COUNTS = """
    add #1, &lives
    tst &flag
    jne done
    mov #1, &flag
"""


def test_a_count_of_lives_is_named_and_may_be_held(build: Build, sunseal: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "RECOVERIES_MOST", 40)
    elf = build("counts", COUNTS, flag=0, lives=0)
    asked = ("--board", BOARD, "--to", "done", "--golden", "flag")
    done = sunseal("inject", elf, *asked, "--from", "task", "--losses", "any", "--json")
    told = json.loads(done.out)
    assert told["uncut"] > 0
    assert list(told["changing"]) == ["lives"]
    assert told["changing"]["lives"] > 15
    least = sunseal("least-capacitor", elf, *asked, "--volts", "3.0-2.0")
    assert (done.status, least.status) == (3, 3)
    assert "distinguished by `lives`" in " ".join(least.out.split())
    told = json.loads(
        sunseal("inject", elf, *asked, "--from", "task", "--losses", "any", "--hold", "lives", "--json").out
    )
    assert (told["passed"], told["uncut"], told["held"]) == (True, 0, ["lives"])
    least = sunseal("least-capacitor", elf, *asked, "--volts", "3.0-2.0", "--hold", "lives", "--json")
    assert (least.status, json.loads(least.out)["uncut"]) == (0, 0)


GETS_ON = """
    mov &count, r12
1:  cmp #9, r12
    jeq done
    mov #20, r13
2:  dec r13
    jne 2b
    add #1, r12
    mov r12, &count
    jmp 1b
"""


def _ends(elf: Path, cycles: int) -> bool:
    """Say whether lives of so many cycles come to the end."""
    m = Machine(BOARD, elf)
    m.power_cut()
    for life in range(40):
        m.engine.reboot(10**12, life)
        if not m.engine.power_cut_in(m.cycles + cycles, [m.address("done")]):
            return True
    return False


def _ends_on(elf: Path, capacitance_f: float, on_v: float, off_v: float) -> bool:
    """Say whether lives on a capacitor come to the end: each is followed cycle by cycle until it is too low."""
    m, weights = Machine(BOARD, elf), power_sets.PowerSet("msp430fr5994-datasheet", BOARD).inner
    m.power_cut()
    for life in range(40):
        volts, before = on_v, m.engine.counts()
        m.engine.reboot(10**12, life)
        while volts > off_v:
            after = m.engine.counts()
            spent_j = weights.weigh_as_run(after, volts).energy_j - weights.weigh_as_run(before, volts).energy_j
            volts, before = volts - spent_j / volts / capacitance_f, after
            if volts > off_v and m.engine.run(m.cycles + 1, None, [m.address("done")], None)[0] == "pc":
                return True
        m.power_cut()
    return False


def test_the_least_capacitor_is_that_of_the_longest_life_that_gets_nowhere(build: Build, sunseal: Cli) -> None:
    elf = build("gets_on", GETS_ON, count=0)
    asked = ("least-capacitor", elf, "--board", BOARD, "--to", "done", "--volts", "3.0-2.0", "--golden", "count")
    found = json.loads(sunseal(*asked, "--json").out)
    assert _ends(elf, found["cycles"])
    assert not _ends(elf, found["cycles"] - 1)
    assert found["cycles"] < found["whole_cycles"] / 5
    # Charge by the datasheet's current of the time that it takes, and as much as the energy at 3 V says at least.
    assert found["capacitance_f"] == pytest.approx(found["charge_c"] / 1.0)
    assert found["charge_c"] >= found["energy_j"] / 3.0 * 0.999
    assert "uF between 3 and 2 V" in sunseal(*asked).out
    refused = sunseal(*asked[:-4], "--volts", "2-3")
    assert (refused.status, "has no energy: give the higher first" in refused.err) == (2, True)
    # The same by the joules of each cycle, on a capacitor that lives leave at 2 V.
    on = {share: _ends_on(elf, share * found["capacitance_f"], 3.0, 2.0) for share in (0.98, 1.0, 1.02)}
    assert on == {0.98: False, 1.0: True, 1.02: True}
    # A program that keeps nothing must come through in one life.
    once = build("once", "    mov #200, r13\n2:  dec r13\n    jne 2b\n", count=0)
    found = json.loads(sunseal("least-capacitor", once, *asked[2:6], "--volts", "3.0-2.0", "--json").out)
    assert found["cycles"] == found["whole_cycles"]


MEASURES = """
    bis.b #8, &0x020A
    bis.b #8, &0x020C
    mov #0x0210, &0x0800
    mov #0x0200, &0x0802
    mov #3, &0x0820
    bis #3, &0x0800
1:  bit #1, &0x080C
    jz 1b
    mov &0x0860, &level
"""


def test_a_voltage_at_the_adc_is_there_in_each_life(build: Build, sunseal: Cli) -> None:
    """P1.3 is A3; ADC12_B against AVCC, 3 V."""
    elf = build("measures", MEASURES, level=0)
    with pytest.raises(EngineError, match="channel A3 has no voltage"):
        injecting.inject(elf, BOARD, start="task", end="done", golden=["level"])
    told = (2048).to_bytes(2, "little")
    done = injecting.inject(elf, BOARD, start="task", end="done", expect={"level": told}, losses=2, adc_v={3: 1.5})
    assert done.passed
    assert done.recoveries > 0
    asked = ("inject", elf, "--board", BOARD, "--from", "task", "--to", "done", "--golden", "level")
    assert sunseal(*asked, "--adc", "3=1.5V").status == 0
    assert sunseal("war", elf, "--board", BOARD, "--to", "done", "--adc", "3=1.5V").status == 0
    least = ("least-capacitor", elf, "--board", BOARD, "--to", "done", "--volts", "3.0-1.8")
    assert sunseal(*least, "--adc", "3=1.5V").status == 0
    for command in (least, ("war", elf, "--board", BOARD, "--to", "done")):
        refused = sunseal(*command)
        assert refused.status == 2
        assert "channel A3 has no voltage" in " ".join(refused.err.split())


def test_a_chip_on_which_losses_are_not_compared_is_told(tmp_path: Path, sunseal: Cli) -> None:
    text = (
        'volatile int result;\n__attribute__((noinline)) void done(void) { __asm__ volatile(""); }\n'
        "int main(void) { result = 3; for (;;) done(); }\n"
    )
    elf = compiled("msp432p401r-launchpad", tmp_path, text=text)
    told = sunseal("inject", elf, "--board", "msp432p401r-launchpad", "--to", "done", "--losses", "any")
    assert told.status == 3 and cutting.NOT_COMPARED in " ".join(told.out.split())
