#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hold classes of cuts to single cuts on a P-256 signature in steps with seeded faults: signature_faults.py [FAULTS].

To play each of its 2.4 million cuts takes a day, so two sets of each faulty signature's are played alone and their
verdicts compared with those of all cuts by classes: every cycle of a window where the fault acts, from the first time
it is run to the second write to FRAM behind that, `WINDOW_CYCLES` at most; and cuts drawn at random from all, half of
them beside writes. Of each fifth signature recoveries, too, by pairs of cuts. A fault is an instruction of the commits
or the tasks that is left out, swapped with its neighbour, or jumps the other way, where the signature still comes out
right without a cut.
"""

from __future__ import annotations

import contextlib
import os
import random
import struct
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from sunseal import EngineError, Machine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.measurement import measuring, oracle
from sunseal.secure.cutting import Campaign, Left, Run, reach

BOARD = "msp430fr5994-launchpad"
WORKLOAD = "ecdsa-p256-sign-tasks"
START = "bench_ecdsa_p256_sign_tasks"
ELF = Path(__file__).resolve().parents[1] / "build" / BOARD / "mpy-32" / f"bench-{WORKLOAD}.elf"
FUNCTIONS = (
    "sunseal_cell_load sunseal_cell_commit sunseal_nvm_commit sunseal_nvm_copy sunseal_program_run run "
    "p256_begin p256_steps p256_finish sunseal_ecdsa_p256_sign_step"
).split()
"""Where faults are seeded: how progress is kept, and what is done between two commits."""
NOP = 0x4303
OFF_PS = 10**12
LIMIT_CYCLES = 5_000_000
"""Of a faulty signature; a right one takes 2.4 million."""
CUTS, PAIRS, PAIRED_EVERY = 24, 12, 5
WINDOW_CYCLES, WINDOW_WRITES, WINDOW_BESIDE = 200, 2, 4


@dataclass(frozen=True)
class Instruction:
    """As the disassembler has it."""

    addr: int
    words: tuple[int, ...]


def instructions() -> list[Instruction]:
    """Disassemble the functions in which faults are seeded."""
    machine = Machine(BOARD, ELF)
    with ELF.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        symbols = [(s.name, s["st_value"]) for s in table.iter_symbols() if s["st_shndx"] != "SHN_ABS" and s.name]
    # Assembly has no sizes: a function ends where the next symbol stands.
    places = sorted({place for _, place in symbols})
    code = []
    for name, place in symbols:
        if name in FUNCTIONS:
            code += machine.disassemble((place, places[bisect_right(places, place)] - place))
    return [
        Instruction(i.address, struct.unpack(f"<{len(i.data) // 2}H", i.data))
        for i in sorted(code, key=lambda i: i.address)
    ]


OTHER_WAY = {0x2000: 0x2400, 0x2400: 0x2000, 0x2800: 0x2C00, 0x2C00: 0x2800, 0x3400: 0x3800, 0x3800: 0x3400}
"""JNE and JEQ, JNC and JC, JGE and JL."""


def _jumps(word: int) -> bool:
    return 0x2000 <= word < 0x4000


def faults(seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Go through faults in an order that the seed decides: name, address, code."""
    code = instructions()
    found: list[tuple[str, int, Sequence[int]]] = []
    for one, other in zip(code, [*code[1:], None], strict=True):
        found.append(("left out", one.addr, [NOP] * len(one.words)))
        if (other_way := OTHER_WAY.get(one.words[0] & 0xFC00)) is not None:
            found.append(("jumps the other way", one.addr, [other_way | one.words[0] & 0x3FF]))
        follows = other is not None and other.addr == one.addr + 2 * len(one.words)
        if other is not None and follows and not _jumps(one.words[0]) and not _jumps(other.words[0]):
            found.append(("swapped with the next", one.addr, [*other.words, *one.words]))
    random.Random(seed).shuffle(found)
    for name, addr, words in found:
        yield name, addr, struct.pack(f"<{len(words)}H", *words)


def patched(image: bytes, addr: int, code: bytes) -> bytes:
    """Return the program with other code at an address."""
    (at,), (size, count) = struct.unpack_from("<I", image, 28), struct.unpack_from("<HH", image, 42)
    for header in range(at, at + size * count, size):
        kind, offset, start, _, held = struct.unpack_from("<5I", image, header)
        if kind == 1 and start <= addr < start + held:
            place = offset + addr - start
            return image[:place] + code + image[place + len(code) :]
    raise SunsealError(f"the program has nothing at {addr:#x}")


class Signature:
    """A signature with a fault, and what becomes of cuts of it."""

    def __init__(self, image: bytes, right: dict[str, bytes]) -> None:
        """Run it once without a cut; raises where it is wrong then, too."""
        trial = oracle.trial(boards.workload(WORKLOAD))

        def setup(m: Machine) -> None:
            m.write("bench_input", trial.fed)
            m.write("bench_input_len", len(trial.fed).to_bytes(2, "little"))

        self.run = Run(image, BOARD, START, None, None, None, setup, (), right, (), None, ())
        m = Machine(BOARD, image)
        setup(m)
        reach(m, START, LIMIT_CYCLES)
        self.begun = m.snapshot()
        self.told = self.run.uninterrupted(LIMIT_CYCLES)

    def _campaign(self, seed: int, **more: object) -> tuple[Campaign, Left]:
        campaign = Campaign(self.run, self.told, OFF_PS, seed, **more)  # type: ignore[arg-type]
        root = Left((), stretch=self.run.stretch)
        campaign.cut_all(root, False, None)
        return campaign, root

    def by_classes(self, losses: int) -> Left:
        """Give each cut its verdict."""
        return self._campaign(1, losses=losses)[1]

    def alone(self, cuts: Sequence[int], again: Sequence[int] = ()) -> dict[int, str | None]:
        """Play these cuts, with other noise in RAM than the classes had."""
        campaign, root = self._campaign(2, brute=True, points=cuts, again=again)
        if 0 in campaign.twice:
            raise SunsealError(f"behind a cut at {cuts} the power did not go once more at {again}")
        return {cycle: left.reason for cycle, _, left in root.classes}

    def first_run(self, addr: int) -> int | None:
        """Return the cycle in which an instruction is run first without a cut; None where it is not."""
        m = self.run.machine
        m.restore(self.begun)
        begun = m.cycles
        stop = m.run(until=addr, cycles=LIMIT_CYCLES)
        return m.cycles - begun if stop.kind == "pc" else None

    def window(self, addr: int, left: Left) -> list[int]:
        """Name every cycle where a fault acts: from its first run on, past the next writes to FRAM."""
        assert left.stretch is not None
        first = self.first_run(addr)
        if first is None or first >= left.stretch.cycles:
            return []
        writes = left.stretch.writes
        behind = writes[bisect_left(writes, first) :][:WINDOW_WRITES]
        begin = max(first - WINDOW_BESIDE, 0)
        end = min(behind[-1] if behind else first, left.stretch.cycles - WINDOW_BESIDE) + WINDOW_BESIDE
        return list(range(begin, min(end, begin + WINDOW_CYCLES - 1) + 1))

    def drawn(self, lots: random.Random, left: Left, count: int) -> list[int]:
        """Draw cuts of a stretch, half of them beside writes."""
        assert left.stretch is not None
        end, writes = left.stretch.cycles, left.stretch.writes
        beside = [min(max(lots.choice(writes) + lots.randrange(-2, 3), 0), end) for _ in range(count // 2)]
        return sorted({*beside, *(lots.randrange(end + 1) for _ in range(count - len(beside)))})


def behind(left: Left, cycle: int) -> Left:
    """Return what a cut is taken for."""
    first, last, found = left.classes[bisect_right([first for first, _, _ in left.classes], cycle) - 1]
    assert first <= cycle <= last
    return found


def right_output() -> dict[str, bytes]:
    """Return what a signature without a fault leaves."""
    m = measuring.fed(WORKLOAD, BOARD)
    m.run()
    size = oracle.trial(boards.workload(WORKLOAD)).output_bytes
    return {"bench_output": m.read("bench_output", size), "bench_status": bytes(2)}


Asked = tuple[int, int, dict[str, bytes], str, int, bytes]
"""Number, seed, what is right, and a fault: its name, address and code."""


@dataclass
class Result:
    """What was compared, and what came of it."""

    faults: int = 0
    """Signatures that are right without a cut."""
    shown: int = 0
    """Of these, those that some cut spoils."""
    cuts: int = 0
    """Cuts that have a verdict by classes."""
    windows: int = 0
    """Signatures whose fault is run without a cut, too."""
    beside: int = 0
    """Cuts that were played alone where the fault acts."""
    beside_spoilt: int = 0
    """Of these, those that were not survived."""
    single: int = 0
    """Cuts drawn from all that were played alone."""
    spoilt: int = 0
    """Of these, those that were not survived."""
    pairs: int = 0
    """Cuts of recoveries that were played alone, too."""
    pairs_spoilt: int = 0


def compare(count: int, seed: int = 1, told: bool = False, jobs: int = 1) -> Result:
    """Compare so many faulty signatures; raises where a verdict by classes is another than that of the cut alone."""
    done, right = Result(), right_output()
    asked = ((n, seed, right, *fault) for n, fault in enumerate(faults(seed)))
    with contextlib.ExitStack() as held:
        if jobs > 1:
            pool = ProcessPoolExecutor(jobs)
            held.callback(pool.shutdown, cancel_futures=True)
            found = pool.map(compared, asked)
        else:
            found = (compared(one) for one in asked)
        for what, one in found:
            if one is None:
                continue
            for field in fields(Result):
                setattr(done, field.name, getattr(done, field.name) + getattr(one, field.name))
            if told:
                print(f"{what}: {done}", flush=True)
            if done.faults == count:
                break
    return done


def compared(asked: Asked) -> tuple[str, Result | None]:
    """Compare one fault; None where the signature is wrong without a cut, or never ends."""
    number, seed, right, name, addr, code = asked
    try:
        one = Signature(patched(ELF.read_bytes(), addr, code), right)
    except (SunsealError, EngineError):
        return name, None
    done, lots = Result(faults=1), random.Random(f"{seed} {number}")
    what = f"{name} at {one.run.machine.describe(addr)}"
    paired = number % PAIRED_EVERY == 0
    root = one.by_classes(2 if paired else 1)
    _compare_single(done, one, root, lots, what)
    _compare_window(done, one, root, addr, what)
    if paired:
        _compare_pairs(done, one, root, lots, what)
    done.shown = int(any(left.reason is not None for _, _, left in root.classes))
    assert root.stretch is not None
    done.cuts = root.stretch.cycles + 1
    return what, done


def _compare_single(done: Result, one: Signature, root: Left, lots: random.Random, what: str) -> None:
    for cycle, reason in one.alone(one.drawn(lots, root, CUTS)).items():
        if (by := behind(root, cycle).reason) != reason:
            raise SunsealError(f"{what}, cut at {cycle}: {reason}, and by its class: {by}")
        done.single += 1
        done.spoilt += reason is not None


def _compare_window(done: Result, one: Signature, root: Left, addr: int, what: str) -> None:
    cuts = one.window(addr, root)
    for cycle, reason in one.alone(cuts).items() if cuts else ():
        if (by := behind(root, cycle).reason) != reason:
            raise SunsealError(f"{what}, cut at {cycle} beside it: {reason}, and by its class: {by}")
        done.beside += 1
        done.beside_spoilt += reason is not None
    done.windows += bool(cuts)


def _compare_pairs(done: Result, one: Signature, root: Left, lots: random.Random, what: str) -> None:
    for cycle in one.drawn(lots, root, PAIRS):
        left = behind(root, cycle)
        if left.reason is not None or left.stretch is None:
            continue
        (second, *_) = one.drawn(lots, left, 2)
        (reason,) = one.alone([cycle], [second]).values()
        if (by := behind(left, second).reason) != reason:
            raise SunsealError(f"{what}, cut at {cycle}, then {second}: {reason}, and by its class: {by}")
        done.pairs += 1
        done.pairs_spoilt += reason is not None


if __name__ == "__main__":
    begun = time.monotonic()
    told = compare(int(sys.argv[1]) if len(sys.argv) > 1 else 100, told=True, jobs=os.cpu_count() or 1)
    spent = sum(os.times()[:4])
    print(told, f"{spent:.0f} s of processor time, {time.monotonic() - begun:.0f} s")
