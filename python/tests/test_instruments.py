# SPDX-License-Identifier: MIT OR Apache-2.0
"""Instruments that explain or clear a program say so when it cannot: loops of resets, coverage without lines, call
stacks."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import EngineError, Machine

HANG = (0x3FFF,)  # jmp $
NO_PASSWORD = {"msp430f5438a": (0x4382, 0x015C, 0x3FFF), "msp430f1611": (0x4382, 0x0120, 0x3FFF)}  # mov #0, &WDTCTL

AVR = """
#include <avr/io.h>
#include <avr/interrupt.h>
volatile unsigned char sink;
volatile unsigned ticks;
__attribute__((noinline)) void use(volatile unsigned char *p) { sink = *p; }
__attribute__((noinline)) void room(void) { volatile unsigned char a[4]; a[0] = 1; a[3] = 2; use(a); }
ISR(TIMER0_OVF_vect) { ticks++; }
__attribute__((noinline)) void done(void) { __asm__ volatile("" ::: "memory"); }
int main(void) {
    TCCR0 = 1; TIMSK = 1; sei();
    for (int i = 0; i < 500; i++) room();
    done();
    for (;;) {}
}
"""


def machine(device: str, words: tuple[int, ...]) -> Machine:
    """Put a few words of code into a device and start it there."""
    m = Machine(device)
    if device.startswith("msp430"):
        code = 0x5C00
        m.write(code, struct.pack(f"<{len(words)}H", *words))
        m.write(0xFFFE, struct.pack("<H", code))
    elif device == "atmega128l":
        m.write(0, struct.pack(f"<{len(words)}H", *words))
    else:
        m.write(0, struct.pack(f"<2I{len(words)}H", 0x2001_0000, 9, *words))
    m.reset()
    return m


@pytest.mark.parametrize(
    ("device", "words", "cause"),
    [
        ("msp430f5438a", HANG, "the watchdog's time-out"),
        ("msp430f1611", HANG, "the watchdog's time-out"),
        ("msp430fr5994", HANG, "the watchdog's time-out"),
        ("msp432p401r", (0xE7FE,), "the watchdog's time-out"),
        # ldi r24, 0x08; out WDTCR, r24; rjmp .
        ("atmega128l", (0xE088, 0xBD81, 0xCFFF), "the watchdog's time-out"),
        ("msp430f5438a", NO_PASSWORD["msp430f5438a"], "without its password"),
        ("msp430f1611", NO_PASSWORD["msp430f1611"], "without its password"),
    ],
)
def test_a_loop_of_resets_is_told_with_cause_place_and_period(device: str, words: tuple[int, ...], cause: str) -> None:
    m = machine(device, words)
    begun = m.cycles
    with pytest.raises(EngineError, match=r"again and again: \d+ times in a row by .* every [1-9]\d* cycles") as told:
        m.run(until=0x7000)
    assert cause in str(told.value)
    assert m.cycles - begun < 60e6, "told within three slices of a run, not at the end of its limit"
    # A run of so many cycles is one of so many cycles, and can be asked.
    again = machine(device, words)
    assert again.run(cycles=3_000_000).kind == "cycles"
    assert cause in (again.reset_loop() or "")


def test_a_program_that_gets_further_at_each_reset_is_in_no_loop() -> None:
    # FRAM: inc &0x5000; mov #0, &WDTCTL. A count of boots is progress.
    m = machine("msp430fr5994", (0x5392, 0x5000, 0x4382, 0x015C))
    m.run(cycles=100_000)
    assert int.from_bytes(m.read(0x5000, 2), "little") > 100
    assert m.reset_loop() is None


def avr_gcc(tmp_path: Path, *flags: str) -> Path:
    gcc = shutil.which("avr-gcc")
    require(gcc is not None, "avr-gcc (firmware/toolchain/get --for tests)")
    source, elf = tmp_path / "room.c", tmp_path / "room.elf"
    source.write_text(AVR)
    subprocess.run([str(gcc), "-mmcu=atmega128", "-Os", *flags, "-o", str(elf), str(source)], check=True)
    return elf


def test_a_profile_of_an_avr_knows_room_on_the_stack_and_names_interrupts(sunseal: Cli, tmp_path: Path) -> None:
    elf = avr_gcc(tmp_path, "-gdwarf-2")
    done = sunseal("profile", elf, "--board", "micaz", "--from", "main", "--to", "done")
    assert done.status == 0, done.err
    stacks = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in done.out.splitlines()}
    # `rcall .+0` in `room` calls nothing, and the vector's jump leads to the handler.
    interrupted = {"main", "main;room", "main;room;use"}
    assert set(stacks) == interrupted | {f"{stack};__vector_16" for stack in interrupted}
    measured = sunseal("measure", elf, "--board", "micaz", "--from", "main", "--to", "done", "--json")
    assert f'"cycles": {sum(stacks.values())},' in measured.out, "no cycle is lost"


def test_coverage_without_lines_is_refused_and_nothing_is_written(sunseal: Cli, tmp_path: Path) -> None:
    elf, info = avr_gcc(tmp_path, "-gstabs"), tmp_path / "room.info"
    options = ("--board", "micaz", "--from", "main", "--to", "done", "--coverage", info)
    refused = sunseal("profile", elf, *options)
    assert refused.status == 2
    assert "-gdwarf-2" in refused.err
    assert not info.exists()
    assert sunseal("profile", avr_gcc(tmp_path, "-gdwarf-2"), *options).status == 0
    assert "SF:" in info.read_text()


def test_a_machine_that_runs_long_tells_its_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr("sunseal.machine.machine.watching", told.append)
    m = machine("msp430f5438a", (0x40B2, 0x5A80, 0x015C, 0x3FFF))  # mov #WDTPW+WDTHOLD, &WDTCTL; jmp $
    m.run(cycles=50_000_000)
    assert told == sorted(told)
    assert len(told) == 2, "every 20 million cycles"


SILENT = """
import sys
import time
from sunseal.cli import console, progress

with progress.alive(quiet=False):
    time.sleep(2.0)
    sys.stdout.write("raw\\n")
    console.out.print("answer")
    with progress.bar(False, "cuts") as told:
        told(1, 2)
        time.sleep(2.0)
"""


def test_a_command_that_shows_nothing_for_a_moment_is_seen_to_go_on() -> None:
    person, terminal = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", SILENT], stdout=subprocess.PIPE, stderr=terminal) as command:
        os.close(terminal)
        seen = b""
        with contextlib.suppress(OSError):  # the command has ended
            while more := os.read(person, 65536):
                seen += more
        os.close(person)
        answer, _ = command.communicate()
    assert answer == b"raw\nanswer\n", "an answer goes to standard output, whatever is shown meanwhile"
    waited, _, counted = seen.partition(b"cuts")
    assert b"working" in waited
    assert b"working" not in counted, "a bar has the screen to itself"
