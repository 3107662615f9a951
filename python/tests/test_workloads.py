# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every workload on every device: its output, and the page that says what it costs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import Machine
from sunseal.benchmark import crypto_table
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError
from sunseal.measurement import measuring, oracle

# A multiplier makes no difference to the others; RSA-2048 without one takes a billion cycles.
MULTIPLYING = [
    name
    for name, w in boards.WORKLOADS.items()
    if boards.has_workload(boards.DEFAULT_BOARD, name)
    and (w.algorithm in ("ecdsa", "ecdh", "x25519", "ed25519") or name.startswith("rsa-1024"))
]


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    for board in crypto_table.TARGETS:
        try:
            boards.firmware_path(board, boards.variant((), board), "bench-sha256-hash")
        except SunsealError as e:
            require(False, f"{e} (make all-boards)")


TRIALS = {name: oracle.trial(work) for name, work in boards.WORKLOADS.items()}
LATER = {name for name, trial in TRIALS.items() if not trial.output_bytes and trial.refused is None}
"""Workloads that leave their result for another."""


@pytest.mark.parametrize("workload", sorted(boards.WORKLOADS))
@pytest.mark.parametrize("board", crypto_table.TARGETS)
def test_every_workload_is_right_on_every_device(board: str, workload: str) -> None:
    if not boards.has_workload(board, workload):
        with pytest.raises(SunsealError, match="lacks the hardware"):
            measuring.measure(workload, board=board)
        return
    m = measuring.measure(workload, board=board)
    # What is made for later is judged by nobody there, and not called right.
    assert m.result_valid is (None if workload in LATER else True)
    assert m.lints == ()
    assert m.energy_j > 0
    code = [size for name, _, size in Machine(board).engine.regions() if name in ("flash", "fram")]
    assert 0 < m.flash_bytes <= code[0]


@pytest.mark.parametrize("mpy", ["none", "16"])
@pytest.mark.parametrize("workload", MULTIPLYING)
def test_every_multiplier_gives_the_same(workload: str, mpy: str) -> None:
    # What is only made for later is held to nothing.
    valid = None if workload.endswith("-offline") else True
    assert measuring.measure(workload, variant=[f"mpy={mpy}"]).result_valid is valid


@pytest.mark.parametrize("board", ["mica2", "mica2dot"])
def test_boards_of_one_device_cost_the_same(board: str) -> None:
    """Boards with the ATmega128L differ in clock and wires only."""
    ours, micaz = (measuring.measure("sha256-hash", board=b) for b in (board, "micaz"))
    assert (ours.cycles, ours.result_valid) == (micaz.cycles, True)
    assert (ours.freq_hz == micaz.freq_hz) == (board == "mica2")


def test_clocks_that_need_wait_states_cost_more_cycles() -> None:
    """FR5994: one above 8 MHz (SLASE54D). MSP432: one above 16 MHz at VCORE 0, 24 at VCORE 1 (SLAS826H)."""
    for board, clocks in (
        ("msp430fr5994-launchpad", {8_000_000: 0, 16_000_000: 1}),
        ("msp432p401r-launchpad", {16_000_000: 0, 24_000_000: 1, 48_000_000: 1}),
        ("telosb", {1_000_000: 0, 6_000_000: 0}),
    ):
        weights = power_sets.PowerSet("datasheet", board)
        runs = {hz: measuring.measure("sha256-hash", board=board, freq_hz=hz) for hz in clocks}
        assert all(m.result_valid for m in runs.values())
        assert {hz: power_sets.wait_states(weights, hz, m.vcc_v) for hz, m in runs.items()} == clocks
        least = {m.cycles for hz, m in runs.items() if clocks[hz] == 0}
        assert len(least) == 1
        assert all(m.cycles > min(least) for hz, m in runs.items() if clocks[hz])
    points = measuring.curve("sha256-hash", board="msp430fr5994-launchpad", voltages_v=[3.0])
    assert len({p["cycles"] for p in points if p["freq_hz"] <= 8_000_000}) == 1
    assert len({p["cycles"] for p in points}) == 2


def test_the_page_of_costs_is_current(sunseal: Cli) -> None:
    outcome = sunseal("bench", "crypto", "--check")
    assert outcome.status == 0, outcome.out


def test_a_page_that_is_not_current_is_told_by_its_rows(
    sunseal: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = "| `sha256-hash` | 2 |\n| P-256 sign | Cortex-M4 | 3 |\n| same | row | 4 |\n"
    monkeypatch.setattr(crypto_table, "page", lambda _: page)
    monkeypatch.setattr(crypto_table, "PATH", str(tmp_path / "crypto.md"))
    (tmp_path / "crypto.md").write_text("| `sha256-hash` | 1 |\n| same | row | 4 |\n")
    outcome = sunseal("bench", "crypto", "--check")
    assert outcome.status == 1
    assert "sha256-hash on 2, P-256 sign on Cortex-M4" in " ".join(outcome.out.split())
    assert sunseal("bench", "crypto").status == 0
    assert (tmp_path / "crypto.md").read_text() == page
    assert sunseal("bench", "crypto", "--check").status == 0
    refused = sunseal("bench", "engine", "--check")
    assert refused.status == 2
    assert "--check" in refused.err


PROGRAM = """
#include <stdint.h>
volatile uint8_t data[16];
volatile uint16_t checksum;
uint16_t fletcher(const volatile uint8_t *bytes, uint8_t count) {
    uint16_t low = 0, high = 0;
    for (uint8_t i = 0; i < count; i++) {
        low = (uint16_t)((low + bytes[i]) % 255);
        high = (uint16_t)((high + low) % 255);
    }
    return (uint16_t)(high << 8 | low);
}
void done(void) { __asm__ volatile(""); }
int main(void) {
    for (uint8_t i = 0; i < 16; i++)
        data[i] = (uint8_t)(i * 7);
    checksum = fletcher(data, 16);
    done();
    for (;;) {
    }
}
"""
BARE = """
void _start(void) __attribute__((naked));
void _start(void) { __asm__ volatile("bl main"); }
__attribute__((section(".table"), used)) static void *const table[] = {(void *)0x20010000, (void *)_start};
"""
SCRIPT = """
SECTIONS {
    .table 0 : { KEEP(*(.table)) }
    .text : { *(.text*) *(.rodata*) }
    .bss 0x20000000 (NOLOAD) : { *(.data*) *(.bss*) *(COMMON) }
    /DISCARD/ : { *(.ARM.*) *(.comment) *(.llvm_addrsig) }
}
"""


def tool(name: str) -> Path:
    """Find a compiler on PATH or where the toolchain script has put it."""
    get = boards.home() / "firmware" / "toolchain" / "get"
    for group in ("firmware", "avr", "tests"):
        told = subprocess.run([get, "--for", group, "--print-bin"], capture_output=True, text=True, check=True)
        if (found := Path(told.stdout.strip()) / name).is_file():
            return found
    elsewhere = shutil.which(name)
    require(elsewhere is not None, f"{name} (firmware/toolchain/get --for tests)")
    return Path(str(elsewhere))


KEEP = ["-Os", "-g", "-fno-inline", "-ffunction-sections"]
ARM = ["-ffreestanding", "-nostdlib", "-nostartfiles"]
COMPILERS = {
    "avr-gcc": ("micaz", ["avr-gcc", "-mmcu=atmega128", *KEEP]),
    "arm-none-eabi-gcc": ("msp432p401r-launchpad", ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", *KEEP, *ARM]),
    "clang": (
        "msp432p401r-launchpad",
        ["clang", "--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-mfloat-abi=soft", *KEEP, *ARM],
    ),
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_program_of_one_s_own_runs_on_the_other_cores(sunseal: Cli, tmp_path: Path, compiler: str) -> None:
    board, command = COMPILERS[compiler]
    source, script, elf = tmp_path / "own.c", tmp_path / "own.ld", tmp_path / "own.elf"
    source.write_text(PROGRAM + ("" if compiler == "avr-gcc" else BARE))
    script.write_text(SCRIPT)
    extra: list[str | Path] = [] if compiler == "avr-gcc" else ["-T", script]
    if compiler == "clang":
        extra.append(f"--ld-path={tool('ld.lld')}")
    subprocess.run([tool(command[0]), *command[1:], source, *extra, "-o", elf], check=True)
    outcome = sunseal("measure", "--elf", elf, "--board", board, "--from", "fletcher", "--to", "done")
    assert outcome.status == 0, outcome.err
    assert board in outcome.out
    m = measuring.measure(elf=elf, board=board, window=("fletcher", "done"))
    assert 16 * 10 < m.cycles < 16 * 2000
    assert m.energy_j > 0
    assert not m.toolchain.startswith("unknown")
