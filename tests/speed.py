# SPDX-License-Identifier: MIT OR Apache-2.0
"""Speed of the present engine beside that of an older commit: `make speed OLD=<commit>`.

Both are compiled once (`crates/sunseal-mcu/examples/speed.rs`, which is put into the older sources, below
`target/speed`) and then take turns on each machine under each instrument, so that other work meets both. The table has
new by old: above 1 is faster. Exit status 1 says that a machine is slower by more than 3 %.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PUT_IN = ("crates/sunseal-mcu/examples/speed.rs", "crates/sunseal-isa/benches/shared/clock.rs")
BUILD = ("cargo", "build", "--locked", "--quiet", "--release", "-p", "sunseal-mcu", "--example", "speed")
IMAGE = "bench-ecdsa-secp160r1-sign.elf"
MACHINES = {
    "msp430f1611": "telosb/mpy-16",
    "msp430f5438a": "msp430f5438a-anagear/mpy-32",
    "msp430fr5994": "msp430fr5994-launchpad/mpy-32",
    "msp432p401r": "msp432p401r-launchpad/default",
    "atmega128l": "micaz/default",
    "stm32l476rg": "nucleo-l476rg/default",
}
"""Chips, each with the folder of `firmware/build` that has its image."""
INSTRUMENTS = ("silent", "counting", "leakage", "taint")
LEAST = 0.97
"""Slower than this share of the older speed is a fall."""


class SpeedError(Exception):
    """Reason for which two commits cannot be compared."""


@dataclass(frozen=True)
class Told:
    """A request's answer: what a run executes, and the CPU time of the fastest."""

    instructions: int
    cycles: int
    best_ns: int


class Child:
    """A compiled engine with one machine, waiting for requests."""

    def __init__(self, program: Path, device: str, image: Path) -> None:
        self.device = device
        self.process = subprocess.Popen(
            [program, device, image], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ask(self, instrument: str, least_s: float) -> Told | None:
        """Time runs for so long; none if the engine cannot run this machine."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(instrument, least_s, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return None
        words = self.process.stdout.readline().split()
        return Told(*map(int, words)) if words else None

    def end(self) -> str:
        """Let it end; what it says if it failed."""
        return self.process.communicate()[1].strip()


def commit_of(name: str) -> str:
    """Return the full hash of a commit by any of its names."""
    done = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SpeedError(f"OLD={name}: there is no such commit in this repository; `git log --oneline` lists them")
    return done.stdout.strip()


def build(sources: Path, target: Path) -> Path:
    """Compile the half that runs machines; the program's path."""
    done = subprocess.run(BUILD, cwd=sources, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, check=False)
    if done.returncode != 0:
        raise SpeedError(f"the engine in {sources} does not compile {PUT_IN[0]}; try a later commit")
    return target / "release" / "examples" / "speed"


def older(commit: str) -> Path:
    """Compile an older commit's engine, unless it lies there from the last time."""
    sources = TARGET / "speed" / commit
    if not (sources / "Cargo.toml").is_file():
        sources.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", sources], input=archive, check=True)
    for name in PUT_IN:
        place = sources / name
        if not place.is_file() or place.read_bytes() != (ROOT / name).read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place)
    return build(sources, sources / "target")


def compare(old: Child, new: Child, instrument: str, rounds: int, least_s: float) -> tuple[float, float] | None:
    """Let two engines take turns: speed of the new by that of the old, best of all rounds, and its spread.

    Speeds are cycles by CPU time. The spread is half the distance between the quartiles of the rounds' own ratios.
    """
    pairs: list[tuple[float, float]] = []
    for i in range(rounds):
        order = (old, new) if i % 2 == 0 else (new, old)
        answers = {id(child): child.ask(instrument, least_s) for child in order}
        was, now = answers[id(old)], answers[id(new)]
        if was is None or now is None:
            return None
        pairs.append((was.best_ns / was.cycles, now.best_ns / now.cycles))
    ratios = [was / now for was, now in pairs]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    best = min(was for was, _ in pairs) / min(now for _, now in pairs)
    return best, (quartiles[2] - quartiles[0]) / 2


def machine(programs: Sequence[Path], device: str, rounds: int, least_s: float) -> list[tuple[float, float] | None]:
    """Compare two engines on a machine, under each instrument."""
    image = ROOT / "firmware" / "build" / MACHINES[device] / IMAGE
    if not image.is_file():
        raise SpeedError(f"{image.relative_to(ROOT)} is not built; `make all-boards` does")
    old, new = (Child(program, device, image) for program in programs)
    told = [compare(old, new, instrument, rounds, least_s) for instrument in INSTRUMENTS]
    failed = [f"{whose}: {said}" for whose, said in (("old", old.end()), ("new", new.end())) if said]
    if failed:
        print(f"{device} is left out; {'; '.join(failed)}", file=sys.stderr)
    return told


def main(arguments: Sequence[str]) -> int:
    """Compare, and print a row for each machine."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", help="commit to compare with")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each engine (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.03, help="least CPU time of a turn (%(default)s)")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="only this one; may be repeated")
    asked = parser.parse_args(arguments)
    if asked.rounds < 1 or asked.seconds <= 0:
        parser.error("--rounds and --seconds are positive")
    commit = commit_of(asked.old)
    programs = older(commit), build(ROOT, TARGET)
    print(
        f"speed of the present engine by that of {commit[:12]}: best of {asked.rounds} in turns ± half their quartiles"
    )
    print(f"{'':14}" + "".join(f"{name:>15}" for name in INSTRUMENTS))
    fallen = []
    for device in asked.machine or MACHINES:
        told = machine(programs, device, asked.rounds, asked.seconds)
        cells = ["-" if cell is None else f"{cell[0]:.2f} ± {cell[1]:.2f}" for cell in told]
        print(f"{device:14}" + "".join(f"{cell:>15}" for cell in cells), flush=True)
        fallen += [f"{device} {name}" for name, cell in zip(INSTRUMENTS, told, strict=True) if cell and cell[0] < LEAST]
    if fallen:
        print(f"slower by more than {1 - LEAST:.0%}: {', '.join(fallen)}")
    return 1 if fallen else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SpeedError as e:
        print(f"speed: {e}", file=sys.stderr)
        sys.exit(2)
