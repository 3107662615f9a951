#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measure what outlasting the supply costs on the FR5994: python intermittent.py write|check.

The figures go between the marks in docs/reference/intermittent.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from figures import settle

from sunseal import Machine
from sunseal.catalog import boards
from sunseal.measurement import oracle

FIRMWARE = Path(__file__).resolve().parents[1]
PAGE = FIRMWARE.parent / "docs" / "reference" / "intermittent.md"
BOARD = "msp430fr5994-launchpad"
TITLES = {"secp160r1": "secp160r1", "p256": "P-256"}
STEPS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Program:
    """A bench program with its input in place, in front of the first instruction."""

    machine: Machine
    trial: oracle.Trial

    @property
    def output(self) -> bytes:
        """What it has put out."""
        return self.machine.read("bench_output")[: self.trial.output_bytes]

    def window(self) -> int:
        """Run it and return the cycles between its marks; what it puts out must be right."""
        m = self.machine
        m.run()
        if m.read_int("bench_status") != 0 or self.trial.right(self.output) is False:
            raise SystemExit("intermittent.py: a program's output is wrong")
        at = {level: cycles for _, cycles, _, level in m.pin_log()}
        return at[False] - at[True]


def program(name: str, steps: int | None = None) -> Program:
    """Load a workload's program; `steps` is how many are made between two commits."""
    m = Machine(BOARD, FIRMWARE / "build" / BOARD / "mpy-32" / f"bench-{name}.elf")
    trial = oracle.trial(boards.workload(name))
    m.write("bench_input", trial.fed)
    m.write("bench_input_len", len(trial.fed).to_bytes(2, "little"))
    if steps is not None:
        m.write("bench_steps_per_commit", bytes([steps]))
    return Program(m, trial)


def longest(curve: str, steps: int) -> int:
    """Most cycles from the first task's beginning or a commit to the next commit."""
    m = program(f"ecdsa-{curve}-sign-tasks", steps).machine
    m.run(until=f"{curve}_begin")
    last, most, commit = m.cycles, 0, m.address("sunseal_nvm_commit")
    while m.run(until="sunseal_nvm_commit").pc == commit and not m.read_int("bench_done"):
        most, last = max(most, m.cycles - last), m.cycles
    return most


def start(curve: str) -> int:
    """Cycles from power-on to the first task of a life that has a state to load."""
    m = program(f"ecdsa-{curve}-sign-tasks", 1).machine
    m.run(until=f"{curve}_steps")
    m.power_cut()
    m.power_on(1)
    begin = m.cycles
    m.run(until=f"{curve}_steps")
    return m.cycles - begin


def checkpoint(curve: str, at: str) -> tuple[int, int, int]:
    """Bytes saved, cycles to save and cycles from power-on to where the program goes on, for one place in it."""
    m = program(f"ecdsa-{curve}-sign-checkpoint").machine
    m.run(until=at)
    goes_on, sp = m.pc, m.registers["SP"] - 4
    m.write(sp, m.registers["SR"].to_bytes(2, "little") + m.pc.to_bytes(2, "little"))
    m.registers["SP"], m.registers["SR"] = sp, 0
    m.registers["PC"] = m.address("sunseal_isr_adc12")
    static = m.address("_end") - m.address("__data_start")
    size, begin = static + m.address("__stack_top") - sp + 48, m.cycles
    m.run(until="sunseal_supply_wait")
    save, begin = m.cycles - begin, m.cycles
    m.power_cut()
    m.power_on(1)
    begin = m.cycles
    m.run(until=goes_on)
    return size, save, m.cycles - begin


def figures() -> Iterator[str]:
    """Lines of the page."""
    yield "Cycles of one signature, and over the plain one, by steps between two commits:\n"
    yield "| curve | plain | steps alone | " + " | ".join(f"{k} a commit" for k in STEPS) + " | checkpoints |"
    yield "|---|" + "--:|" * (len(STEPS) + 3)
    for curve, title in TITLES.items():
        plain = program(f"ecdsa-{curve}-sign").window()
        runs = [
            program(f"ecdsa-{curve}-sign-steps").window(),
            *(program(f"ecdsa-{curve}-sign-tasks", k).window() for k in STEPS),
            program(f"ecdsa-{curve}-sign-checkpoint").window(),
        ]
        cells = [f"{run:,} (+{100 * (run / plain - 1):.1f} %)" for run in runs]
        yield f"| {title} | {plain:,} | " + " | ".join(cells) + " |"
    yield "\nA program of tasks makes progress in each life that holds start-up, load and its longest task. Cycles:\n"
    yield "| curve | from power-on to the task | " + " | ".join(f"longest stretch, {k} a commit" for k in STEPS) + " |"
    yield "|---|" + "--:|" * (len(STEPS) + 1)
    for curve, title in TITLES.items():
        cells = " | ".join(f"{longest(curve, k):,}" for k in STEPS)
        yield f"| {title} | {start(curve):,} | {cells} |"
    yield "\nOne checkpoint, at the clock after reset, 1 MHz. A life makes progress if longer than the last two columns"
    yield "together and the 240 us in which the converter sees the supply fall:\n"
    yield "| program, interrupted at | bytes | cycles to save | cycles from power-on until it goes on |"
    yield "|---|--:|--:|--:|"
    for curve, place in (
        ("secp160r1", "sunseal_ecdsa_secp160r1_sign"),
        ("secp160r1", "sunseal_fe160_mul"),
        ("p256", "sunseal_fe256_mul"),
        ("p256", "sunseal_sha256_compress"),
    ):
        size, save, back = checkpoint(curve, place)
        yield f"| {TITLES[curve]} sign, `{place}` | {size:,} | {save:,} | {back:,} |"


if __name__ == "__main__":
    sys.exit(settle(PAGE, figures(), __file__))
