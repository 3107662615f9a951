# SPDX-License-Identifier: MIT OR Apache-2.0
"""Errata in data/errata: every chip has them or says why not, its page shows them, and the machine does as they say."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sunseal import Machine
from sunseal.catalog import boards
from test_workloads import tool

FOLDER = boards.home() / "data" / "errata"
RADIOS = [
    n
    for n in boards.names("parts")
    if boards.read_toml(boards.home() / "data" / "parts" / f"{n}.toml").get("radio", {}).get("model", "priced")
    != "priced"
]
"""Those that are simulated: of the others messages alone are priced."""
NAMES = sorted(p.stem for p in FOLDER.glob("*.toml"))


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(boards.home() / "docs"))
        yield importlib.import_module("errata"), importlib.import_module("facts")


def test_every_chip_and_radio_has_errata_or_says_why_none() -> None:
    assert len(RADIOS) >= 4
    assert sorted([*boards.names("devices"), *RADIOS]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_it_must(name: str, modules: tuple[ModuleType, ModuleType]) -> None:
    errata, _ = modules
    told = errata.read(name)
    if "none" in told:
        assert len(told["none"]) > 40, "it says why, not only that"
    for erratum in told.get("erratum", []):
        assert erratum["model"] in ("follows", "does not", "not concerned")
        assert not erratum["silicon"].endswith("."), "the page sets the full stop"


GOOD: dict[str, Any] = {
    "document": "X1",
    "read": "all",
    "erratum": [
        dict.fromkeys(("id", "revisions", "silicon", "program", "here", "source"), "a") | {"model": "does not"},
    ],
}


def with_erratum(**changed: object) -> dict[str, Any]:
    return GOOD | {"erratum": [{k: v for k, v in (GOOD["erratum"][0] | changed).items() if v is not None}]}


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        (GOOD | {"title": "x"}, "unknown key `title`"),
        (GOOD | {"none": "nothing"}, "either tables"),
        ({"document": "X1", "read": "all"}, "either tables"),
        ({"document": "X1", "none": " "}, "`none` must say"),
        ({k: v for k, v in GOOD.items() if k != "read"}, "`read` must say"),
        (GOOD | {"document": ""}, "`document`"),
        (GOOD | {"erratum": GOOD["erratum"] * 2}, "`a` stands there twice"),
        (GOOD | {"unread": ["a"]}, "`a` stands there twice"),
        (with_erratum(model="yes"), "`model` must be one of"),
        (with_erratum(model=None), "`model` must be"),
        (with_erratum(source=None), "`source` must be a sentence"),
        (with_erratum(here=""), "`here` must be a sentence"),
        (with_erratum(fixed="Rev C"), "unknown key `fixed`"),
        (with_erratum(recalled="yes"), "`recalled` must be true or false"),
    ],
)
def test_a_wrong_file_is_refused_with_a_sentence(
    told: dict[str, Any], fault: str, modules: tuple[ModuleType, ModuleType]
) -> None:
    errata, _ = modules
    assert list(errata.faults(GOOD)) == []
    assert any(fault in sentence for sentence in errata.faults(told))


def test_a_refusal_names_the_file(tmp_path: Path, modules: tuple[ModuleType, ModuleType]) -> None:
    errata, _ = modules
    (tmp_path / "own.toml").write_text('document = "X1"\nnone = "not found"\nerratta = 1\n')
    with pytest.raises(errata.ErrataError, match=r"data/errata/own\.toml: unknown key `erratta`"):
        errata.read("own", tmp_path)


def test_pages_show_them(modules: tuple[ModuleType, ModuleType]) -> None:
    errata, facts = modules
    pages = {name: text for _, name, text in (*facts.of_chips(), *facts.of_parts())}
    for name in NAMES:
        told = errata.read(name)
        assert told["document"] in pages[name]
        assert told.get("none", told.get("read")) in pages[name]
        for erratum in told.get("erratum", []):
            row = next(line for line in pages[name].splitlines() if line.startswith(f"| **{erratum['id']}**<br>"))
            assert f"| **{erratum['model']}**: {erratum['here']}. |" in row
            assert all(erratum[key] in row for key in ("revisions", "silicon", "program", "source"))
            assert row.count("|") == 5, "a sentence with a bar in it would break the table"
        for unread in told.get("unread", []):
            assert unread in pages[name]


SCRIPT = """
SECTIONS {{
  .text {code} : {{ *(.text*) }}
  .vectors 0xfffe : {{ KEEP(*(.vectors)) }}
}}
"""
START = """
    .globl _start, done
_start:
    mov #0x5a80, &{watchdog}
    mov #{stack}, r1
    {task}
done:
    jmp done
    .section .vectors, "a"
    .word _start
"""
# Where programs begin, the watchdog's register, the top of a stack.
CHIPS = {
    "msp430f5438a": ("0x5c00", "0x015c", "0x5b00"),
    "msp430fr5994": ("0x4000", "0x015c", "0x2b00"),
    "msp430f1611": ("0x4000", "0x0120", "0x3800"),
}


tool_once = cache(tool)


def machine(folder: Path, device: str, task: str) -> Machine:
    code, watchdog, stack = CHIPS[device]
    (folder / "own.s").write_text(START.format(watchdog=watchdog, stack=stack, task=task))
    (folder / "own.ld").write_text(SCRIPT.format(code=code))
    subprocess.run([tool_once("clang"), "--target=msp430", "-c", "own.s", "-o", "own.o"], cwd=folder, check=True)
    subprocess.run([tool_once("ld.lld"), "-T", "own.ld", "own.o", "-o", "own.elf"], cwd=folder, check=True)
    return Machine(device, folder / "own.elf")


def at_done(m: Machine) -> Machine:
    assert m.run(until="done", cycles=1_000_000).kind == "pc"
    return m


def hz_behind_the_change(m: Machine) -> float:
    m.run(until="changed")
    cycles, time_s = m.cycles, m.time_s
    m.step()
    return (m.cycles - cycles) / (m.time_s - time_s)


def cycles_of_push(m: Machine) -> int:
    m.run(until="push")
    before = m.cycles
    m.step()
    return m.cycles - before


def asleep(m: Machine) -> str:
    m.run(cycles=10_000)
    return m.states()["cpu"]


# What a program sees here, which with the erratum would see something else.
RUNS: dict[tuple[str, str], tuple[str, Callable[[Machine], object], object]] = {
    # OP2H alone: on the chip, RES1 stays 0.
    ("msp430f5438a", "MPY1"): (
        "mov #3, &0x4d0\n mov #0, &0x4d2\n mov #1, &0x4e2\n .rept 12\n nop\n .endr\n mov &0x4e6, r12",
        lambda m: at_done(m).registers["R12"],
        3,
    ),
    # BIT @R5, PC at an address whose bit 1 is clear, with that bit as the mask: on the chip, Z.
    ("msp430f5438a", "CPU35"): (
        "mov #0x2000, r5\n mov #2, &0x2000\n jmp at\n .balign 4\nat: .word 0xb520\n mov r2, r12",
        lambda m: at_done(m).registers["R12"] & 2,
        0,
    ),
    # RET as the last word of RAM: on the chip, VMAIFG.
    ("msp430f5438a", "CPU47"): (
        "mov #0x4130, &0x5bfe\n call #0x5bfe\n mov &0x0102, r12",
        lambda m: at_done(m).registers["R12"] & 8,
        0,
    ),
    # SELS to another source and back: on the chip, perhaps more current than LPM3's.
    ("msp430f5438a", "UCS11"): (
        "mov #0x0333, &0x168\n mov #0x0344, &0x168\n mov #0x0333, &0x168\n bis #0x00d0, r2\n nop",
        asleep,
        "lpm3",
    ),
    ("msp430f1611", "CPU4"): (".globl push\npush: .word 0x1222", cycles_of_push, 3),
    # RESHI written by instructions at all eight places within 16 bytes.
    ("msp430f1611", "MPY2"): (
        "clr r12\n .rept 8\n mov #200, &0x13c\n mov &0x13c, r10\n sub #200, r10\n bis r10, r12\n nop\n .endr",
        lambda m: at_done(m).registers["R12"],
        0,
    ),
    # CCR1 = 5 from ACLK; at its compare, 6: on the chip, no second compare.
    ("msp430f1611", "TA12"): (
        "mov #5, &0x174\n mov #0, &0x164\n mov #0x124, &0x160\n"
        "1: bit #1, &0x164\n jz 1b\n bic #1, &0x164\n add #1, &0x174\n mov &0x170, r11\n"
        " mov #400, r10\n2: dec r10\n jnz 2b\n mov &0x164, r12",
        lambda m: (at_done(m).registers["R12"] & 1, m.registers["R11"]),
        (1, 5),
    ),
    # Stopped at TACCR0, TACLR, up mode: on the chip, TAIFG with the first tick.
    ("msp430f1611", "TA21"): (
        "mov #200, &0x172\n mov #200, &0x170\n mov #0x200, &0x160\n bis #4, &0x160\n bis #0x10, &0x160\n"
        " nop\n nop\n mov &0x160, r12",
        lambda m: at_done(m).registers["R12"] & 1,
        0,
    ),
    # DCO from 8 MHz to 1 MHz, divided by 8: on the chip, an overshoot for 10 us.
    ("msp430fr5994", "CS12"): (
        "mov #0xa500, &0x160\n mov #0, &0x162\n .globl changed\nchanged: nop\n nop",
        hz_behind_the_change,
        pytest.approx(125e3, rel=0.05),
    ),
    # Supply by channel 31, repeated, triggered again while busy: on the chip, no further conversion.
    ("msp430fr5994", "ADC42"): (
        "mov #0x0210, &0x800\n mov #0x0204, &0x802\n mov #0x20, &0x804\n mov #0x40, &0x806\n mov #31, &0x820\n"
        " mov #0x0213, &0x800\n mov #0x0213, &0x800\n mov #200, r10\n1: dec r10\n jnz 1b\n mov &0x80c, r11\n"
        " mov &0x860, r9\n mov #0x0213, &0x800\n mov #200, r10\n2: dec r10\n jnz 2b\n mov &0x80c, r12",
        lambda m: (at_done(m).registers["R11"] & 1, m.registers["R12"] & 1),
        (1, 1),
    ),
    # MOV @PC, R7: on the chip, the instruction behind it is lost.
    ("msp430fr5994", "CPU22"): ("clr r12\n mov @pc, r7\n add #1, r12", lambda m: at_done(m).registers["R12"], 1),
    # 0x0140 behind a jump: on the chip, it lands two bytes behind the label.
    ("msp430fr5994", "CPU40"): (
        "clr r12\n jmp 1f\n .word 0x0140\n1: mov #1, r12",
        lambda m: at_done(m).registers["R12"],
        1,
    ),
    # POPM up to the top of the RAM: on the chip, VMAIFG.
    ("msp430fr5994", "CPU46"): (
        "mov #0x3bfc, r1\n .word 0x171b\n mov &0x0102, r12",
        lambda m: (at_done(m).registers["R12"] & 8, m.registers["SP"]),
        (0, 0x3C00),
    ),
    # eUSCI_A0 as SPI master: on the chip, UCBUSY may stay.
    ("msp430fr5994", "USCI41"): (
        "mov #0x6981, &0x5c0\n mov #2, &0x5c6\n bic #1, &0x5c0\n mov #0x55, &0x5ce\n mov &0x5ca, r11\n"
        " mov #200, r10\n1: dec r10\n jnz 1b\n mov &0x5ca, r12",
        lambda m: (at_done(m).registers["R11"] & 1, m.registers["R12"] & 1),
        (1, 0),
    ),
    # Two bytes by UART: on the chip, UCTXCPTIFG behind the first.
    ("msp430fr5994", "USCI42"): (
        "mov #0x81, &0x5c0\n mov #8, &0x5c6\n bic #1, &0x5c0\n mov #0x55, &0x5ce\n mov #0x55, &0x5ce\n"
        "1: bit #2, &0x5dc\n jz 1b\n mov &0x5dc, r11\n mov #600, r10\n2: dec r10\n jnz 2b\n mov &0x5dc, r12",
        lambda m: (at_done(m).registers["R11"] & 8, m.registers["R12"] & 8),
        (0, 8),
    ),
}


@pytest.mark.parametrize(("device", "erratum"), list(RUNS))
def test_the_machine_does_as_the_file_says(
    device: str, erratum: str, tmp_path: Path, modules: tuple[ModuleType, ModuleType]
) -> None:
    # The FR5994's eUSCI is that of its siblings, one of whose sheets has the erratum.
    told = [e for n in (device, "msp430fr5969") for e in modules[0].read(n).get("erratum", []) if e["id"] == erratum]
    assert told[0]["model"] == "does not"
    task, seen, expected = RUNS[device, erratum]
    assert seen(machine(tmp_path, device, task)) == expected
