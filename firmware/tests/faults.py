#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Disturb verifying functions by one fault each and count what passes: python faults.py write|check [COLUMN...].

A forgery (a known answer with one bit changed) is given to each function that judges one, on each target's binary. At
a chosen place of the run one fault happens: an instruction is skipped, two registers become zero, or a conditional
branch goes the other way. A run whose status then is SUNSEAL_OK has let the forgery through.
"""

from __future__ import annotations

import os
import random
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from calls import Call, In, Symbol
from elftools.elf.elffile import ELFFile
from refused import REFUSED
from table import ALL, COLUMNS, FIRMWARE, Target, fits, implementations, symbols

from sunseal import EngineError
from sunseal.catalog.boards import algorithms
from sunseal.machine import abi

PAGE = FIRMWARE.parent / "docs" / "reference" / "faults.md"
ARITHMETIC = re.compile(
    r"sunseal_(fe\d+|mp|rsa_(mont|pick)|sha\d+_compress|ascon_permute|aes\w*|xtea|present\w*)(_|$)|__|mem(cpy|set)$"
)
"""Functions in which places are drawn instead of taken one by one: arithmetic, compression, ciphers, copies."""
TAIL = 900
"""Instructions at a run's end that are all disturbed, in a quick campaign too."""
INSIDE = 2000
"""Instructions inside arithmetic that are drawn."""
EACH_TIMES = 2
"""Times that an instruction outside it is disturbed before the tail: the first, and a drawn one."""
Kind = Literal["skip", "zero", "invert"]
KINDS: tuple[Kind, ...] = ("skip", "zero", "invert")
CHANGED = {
    r"ecdsa_\w+_verify": 2,
    r"ed25519_verify": 2,
    r"ascon_aead128_open": 7,
    r"ccm_open_once": 10,
    r"cmac_check": 5,
    r"hmac_\w+_verify": 0,
    r"rsa\d+_verify_\w+": 2,
    r"rsa\d+_decrypt_oaep": 3,
    r"wots_\w+_verify": 2,
    r"lamport_\w+_verify": 2,
    r"lms_verify": 4,
}
"""Functions that judge a forgery, and the argument in which a bit is changed."""
GENERAL = {
    abi.Avr: [f"r{n}" for n in range(32)],
    abi.Msp430: [f"R{n}" for n in range(4, 16)],
    abi.Arm: [f"R{n}" for n in range(13)] + ["LR"],
}
RESULT = {abi.Avr: {"r24", "r25"}, abi.Msp430: {"R12"}, abi.Arm: {"R0"}}
"""Registers that return an `int`: a zero there, after the last instruction that writes it, is the answer OK itself."""


@dataclass(frozen=True)
class Place:
    """One instruction of a run."""

    number: int
    address: int
    cycle: int


@dataclass(frozen=True)
class Passed:
    """A fault that let the forgery through."""

    kind: Kind
    number: int
    where: str
    inherent: bool


@dataclass(frozen=True)
class Outcome:
    """Outcome of the faults on one function of one target."""

    column: str
    function: str
    instructions: int
    cycles: int
    tried: Counter[Kind]
    passed: tuple[Passed, ...]


@cache
def forgeries() -> dict[str, Call]:
    """The shortest known answer of each function, and cipher, that succeeds, with one bit changed."""
    found: dict[str, Call] = {}
    for call in ALL:
        at = next((at for name, at in CHANGED.items() if re.fullmatch(f"sunseal_{name}", call.function)), None)
        if at is None or call.expected != 0 or call.parts or call.name.startswith(REFUSED):
            continue
        arg = call.args[at]
        if not isinstance(arg, In) or not arg.data:
            continue
        name = call.function.removeprefix("sunseal_")
        if size(call) < size(found.get(name)):
            # A tag is changed in four bytes: a fault in a cipher changes one, and finds a tag like that by chance.
            changed = bytes(
                b ^ (i >= len(arg.data) - (4 if "tag" in name_of(call, at) else 1)) for i, b in enumerate(arg.data)
            )
            found[name] = replace(call, args=(*call.args[:at], In(changed), *call.args[at + 1 :]))
    return found


def name_of(call: Call, at: int) -> str:
    """Name of an argument in the header."""
    told = algorithms().functions[call.function.removeprefix("sunseal_")]
    return told.arguments[at]


def size(call: Call | None) -> float:
    """Bytes behind a call's pointers, by which the shortest is found."""
    if call is None:
        return float("inf")
    given = {a.name for a in call.args if isinstance(a, Symbol)}
    # One cipher that every target has.
    return sum(len(a.data) for a in call.args if isinstance(a, In)) + 10_000 * bool(given - {"sunseal_aes128_sbox"})


NOPS = {abi.Avr: (b"\x00\x00",), abi.Msp430: (b"\x03\x43",), abi.Arm: (b"\x00\xbf", b"\xaf\xf3\x00\x80")}
"""An instruction that does nothing, of each length: one of Arm's moves an IT block on as what it replaces does."""
BRANCH = {
    abi.Avr: re.compile(r"(BR\w\w|CPSE|SBRC|SBRS|SBIC|SBIS)\b"),
    abi.Msp430: re.compile(r"J(NE|EQ|NC|C|N|GE|L|LO|HS|Z|NZ)\b"),
    abi.Arm: re.compile(r"(B(EQ|NE|CS|CC|MI|PL|VS|VC|HI|LS|GE|LT|GT|LE|HS|LO)(\.[NW])?|CBN?Z)\b"),
}
LAST_WORD = 0x1_FFFE
QUICK_WINDOW, THOROUGH_WINDOW = 10_000, 200_000
"""Cycles at each end of what lies before the tail of a run from which places are taken."""
LATER_CYCLES = 20_000
"""So much longer than without a fault a run may take; one that takes longer does not return as far as anybody waits."""


class Bench:
    """One call on a machine, to be disturbed at any of its instructions."""

    def __init__(self, target: Target, call: Call) -> None:
        """Stand at the function's first instruction; the run without a fault must refuse the forgery."""
        self.machine, self.call = target.machine, call
        self.kind = type(target.convention)
        numbers, _ = target.prepare(call)
        m = self.machine
        # Where no program comes by itself, as a reset brings it to main: of an AVR the last word of flash, or RAM.
        self.back = LAST_WORD if self.kind is abi.Avr else m.place(bytes(4), align_bytes=4)
        target.convention.enter(m, m.address(call.function), numbers, self.back)
        self.convention = target.convention
        self.start, self.begun = m.snapshot(), m.cycles
        m.run(until=self.back)
        self.cycles = m.cycles - self.begun
        self.answer = self.status()
        if self.answer == 0:
            raise AssertionError(f"{call.function} takes a forgery without any fault")
        m.restore(self.start)

    def status(self) -> int:
        """Answer of the function."""
        return int(self.convention.value(self.machine, None))

    def places(self, first: int, last: int) -> Iterator[Place]:
        """The instructions that begin within these cycles of the run, numbered from the first of them."""
        m = self.machine
        m.restore(self.start)
        if first > 0:
            m.run(until=self.back, cycles=first)
        number = 0
        while (address := m.pc) != self.back and (cycle := m.cycles - self.begun) < last:
            yield Place(number, address, cycle)
            if self.kind is abi.Arm and self.instruction(address).text.startswith("IT"):
                # It takes no cycle of its own, and a step goes on to what follows.
                yield Place(number + 1, address + 2, cycle)
                number += 1
            number += 1
            m.step()

    @cache  # noqa: B019 - a bench is made for one call and dropped
    def instruction(self, address: int) -> Any:
        """The instruction that lies there."""
        return self.machine.disassemble((address, 2))[0]

    def passes(self, kind: Kind, snapshot: Any, place: Place, pair: tuple[str, str]) -> bool | None:
        """Do one fault where the snapshot stands; None where this kind finds nothing to disturb."""
        m, address = self.machine, place.address
        instruction = self.instruction(address)
        if kind == "invert" and not BRANCH[self.kind].match(instruction.text):
            return None
        m.restore(snapshot)
        try:
            if kind == "skip":
                self.skip(address, instruction.data)
            elif kind == "zero":
                for name in pair:
                    m.registers[name] = 0
            else:
                self.invert(address, instruction)
            stop = m.run(until=self.back, cycles=self.cycles - place.cycle + LATER_CYCLES)
        except EngineError:
            return False
        return stop.kind == "pc" and self.status() == 0

    def skip(self, address: int, data: bytes) -> None:
        """Step over an instruction."""
        m = self.machine
        nops = NOPS[self.kind]
        if self.kind is abi.Arm and m.registers["xPSR"] & 0x0600_FC00:
            nop = nops[len(data) // 2 - 1]
            m.write(address, nop)
            m.step()
            m.write(address, data)
        else:
            m.registers["PC"] = address + len(data)

    def invert(self, address: int, instruction: Any) -> None:
        """Go the other way."""
        m = self.machine
        behind = address + len(instruction.data)
        m.step()
        if m.pc != behind:
            m.registers["PC"] = behind
        elif target := re.search(r"0x([0-9a-f]+)$", instruction.text):
            m.registers["PC"] = int(target[1], 16)
        else:
            m.registers["PC"] = behind + len(self.instruction(behind).data)


def functions(target: Target) -> tuple[list[int], list[str]]:
    """Addresses at which code begins, and the names there."""
    with target.elf.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        named = {
            s["st_value"] & ~(1 if target.pointer_bytes == 4 else 0): s.name
            for s in table.iter_symbols()
            if s["st_info"]["type"] in ("STT_FUNC", "STT_NOTYPE")
            and s["st_shndx"] != "SHN_ABS"
            and s.name[:1] not in "$."
        }
    starts = sorted(named)
    return starts, [named[start] for start in starts]


class Campaign:
    """Faults on one function of one target."""

    def __init__(self, column: str, name: str, cycles_most: int) -> None:
        """Find the library that holds the function; `cycles_most` are simulated at most behind the tail's faults."""
        self.column, self.name = column, name
        call = forgeries()[name]
        held = [t for t in implementations(column) if isinstance(t, Target) and all(map(t.has, symbols(call)))]
        self.bench = Bench(held[0], call) if held and fits(call, column) else None
        self.starts, self.names = functions(held[0]) if held else ([], [])
        self.left = cycles_most
        self.rng = random.Random(f"{column} {name}")

    def of(self, address: int) -> str:
        """The function that an address lies in."""
        return self.names[max(bisect_right(self.starts, address) - 1, 0)]

    def chosen(self, *, thorough: bool) -> list[Place]:
        """Take the tail whole; before it, as the budget lets, each instruction twice, and some inside arithmetic."""
        bench = self.bench
        assert bench
        total = bench.cycles
        reach = min(total, TAIL * 6)
        tail = list(bench.places(total - reach, total))[-TAIL:]
        before = tail[0].cycle
        outside: dict[int, list[Place]] = {}
        inside: list[Place] = []
        # Of a long run its two ends alone are looked through.
        window = THOROUGH_WINDOW if thorough else QUICK_WINDOW
        for first in (0, before - window) if window < before else (0,):
            window = min(window, before)
            for place in bench.places(first, first + window):
                if ARITHMETIC.match(self.of(place.address)):
                    if len(inside) < INSIDE:
                        inside.append(place)
                    elif self.rng.random() < INSIDE / (place.number + 1):
                        inside[self.rng.randrange(INSIDE)] = place
                    continue
                met = outside.setdefault(place.address, [])
                if len(met) < EACH_TIMES:
                    met.append(place)
                elif self.rng.random() < 0.1:
                    met[-1] = place
        drawn = [place for met in outside.values() for place in met]
        self.rng.shuffle(drawn)
        self.rng.shuffle(inside)
        taken = list(tail)
        for place in (
            [p for pair in zip(drawn, inside, strict=False) for p in pair] + drawn[len(inside) :] + inside[len(drawn) :]
        ):
            self.left -= 2 * (total - place.cycle)
            if self.left < 0:
                break
            taken.append(place)
        return [place for _, place in sorted({(place.cycle, place.address): place for place in taken}.items())]

    def is_answer(self, snapshot: Any, place: Place, pair: tuple[str, str]) -> bool:
        """Tell if one of two registers holds the answer, or a half of it."""
        bench = self.bench
        assert bench
        bits = 8 * bench.convention.int_bytes
        halves = {bench.answer % (1 << bits), 1 << (bits - 1)}
        m = bench.machine
        m.restore(snapshot)
        if bench.kind is not abi.Avr:
            return any(m.registers[name] % (1 << bits) in halves for name in pair)
        result = [name for name in pair if name in RESULT[bench.kind]]
        return bool(result) and bool(bench.passes("zero", snapshot, place, (result[0], result[-1])))

    def run(self, *, thorough: bool) -> Outcome | None:
        """Disturb each chosen place in each way."""
        bench = self.bench
        if bench is None:
            return None
        tried: Counter[Kind] = Counter()
        passed: list[Passed] = []
        places = self.chosen(thorough=thorough)
        m, at = bench.machine, bench.start
        registers = GENERAL[bench.kind]
        for place in places:
            m.restore(at)
            if (ahead := place.cycle - (m.cycles - bench.begun)) > 0:
                m.run(until=bench.back, cycles=ahead)
            if m.pc != place.address:
                # An IT that takes no cycle of its own stands before it.
                m.run(until=place.address, cycles=4)
            if m.pc != place.address:
                raise AssertionError(f"{self.name}: the run stands at {m.pc:#x}, not at {place.address:#x}")
            at = m.snapshot()
            a, b = self.rng.sample(registers, 2)
            for kind in KINDS:
                through = bench.passes(kind, at, place, (a, b))
                if through is None:
                    continue
                tried[kind] += 1
                if through:
                    inherent = kind == "zero" and self.is_answer(at, place, (a, b))
                    offset = place.address - self.starts[bisect_right(self.starts, place.address) - 1]
                    text = bench.instruction(place.address).text
                    behind = bench.cycles - place.cycle
                    where = f"{self.of(place.address)}+{offset:#x} {text}, {behind} cycles from the end"
                    passed.append(Passed(kind, place.cycle, where + (f" {a} {b}" if kind == "zero" else ""), inherent))
        return Outcome(self.column, self.name, len(places), bench.cycles, tried, tuple(passed))


QUICK_CYCLES = 4_000_000
"""Cycles that a quick campaign simulates before the tail of one function's run."""
THOROUGH_CYCLES = 80_000_000
TARGETS = ("msp430f5438a-anagear/mpy-32", "micaz/default", "msp432p401r-launchpad/default")
"""A target of each family."""


def campaign(job: tuple[str, str, bool]) -> Outcome | None:
    """One function on one target."""
    column, name, thorough = job
    return Campaign(column, name, THOROUGH_CYCLES if thorough else QUICK_CYCLES).run(thorough=thorough)


def campaigns(columns: Sequence[str], *, thorough: bool, workers: int | None = None) -> list[Outcome]:
    """Every function on every target that has it and room for its forgery."""
    jobs = [(column, name, thorough) for column in columns for name in sorted(forgeries())]
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        return [outcome for outcome in pool.map(campaign, jobs) if outcome is not None]


HEAD = """# One fault in a function that verifies

Written by `.venv/bin/python firmware/tests/faults.py write`, which takes about {minutes} minutes on two cores; `check`
runs the same and compares, and `firmware/tests/test_faults.py` a quick campaign in every test run. To each function
that judges something, on each target's own binary, a forgery is given: a known answer with one bit changed, of a tag
one in each of its last four bytes. In each run one thing happens once:

- skip: one instruction is passed over;
- zero: two registers, drawn for each place, become zero before it;
- invert: a conditional branch (on AVR also a skip) goes the other way.

Of the last {tail} instructions of a run each is disturbed. Before them places are drawn: outside of arithmetic (fields,
long numbers, compression, ciphers, copies) each instruction of the program the first time that it runs and one drawn
time more, and up to {inside:,} inside arithmetic; of a long run from {window:,} cycles at its beginning and as many
before its tail, and only as many places as {million} million simulated cycles a function and target pay for. The
columns count places, faults tried, and of how many the answer then was SUNSEAL_OK.

What is covered: the answer. It is built of two comparisons (`firmware/crypto/src/verdict.h`), of which one counts what
differs and the other what agrees, with the number of bytes that each has seen; no register holds SUNSEAL_OK before, an
error on its way out cannot become it, and behind each return lies a loop.

What is not:

- The answer itself: SUNSEAL_OK is zero, so a fault that sets the registers to zero that hold the answer, or its two
  halves, gives it. The column "answer" counts these among the zeros. A caller that cannot have that calls twice.
- The caller: `if (sunseal_..._verify(...) != SUNSEAL_OK)` is one branch of the caller's program.
- What a refused call leaves: a fault that passes over the wiping of an opened message leaves it in `out`, behind an
  answer that refuses.
- The refusal of a public key that is off the curve or of an argument, and two faults in one run.
- A fault in a cipher or a hash that comes out at the forged tag: by the chance that a guess has.
- A fault in what is signed or opened: signing checks itself in RSA alone (`SUNSEAL_ERR_RSA_FAULT`).
"""


def tabulate(outcomes: Sequence[Outcome]) -> str:
    """The page."""
    lines = [
        HEAD.format(
            minutes=MINUTES, tail=TAIL, inside=INSIDE, million=THOROUGH_CYCLES // 10**6, window=THOROUGH_WINDOW
        ),
        "| target | function | cycles | places | skip | passed | zero | passed | answer | invert | passed |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for o in outcomes:
        passed = Counter(p.kind for p in o.passed if not p.inherent)
        inherent = sum(p.inherent for p in o.passed)
        cells = [f"{o.cycles:,}", f"{o.instructions:,}"]
        for kind in KINDS:
            cells += [f"{o.tried[kind]:,}", str(passed[kind])]
            if kind == "zero":
                cells.append(str(inherent))
        lines.append(f"| {COLUMNS[o.column]} | `sunseal_{o.function}` | " + " | ".join(cells) + " |")
    tried, passed = Counter[Kind](), Counter[Kind]()
    for o in outcomes:
        tried += o.tried
        passed += Counter(p.kind for p in o.passed if not p.inherent)
    cells = ["", f"{sum(o.instructions for o in outcomes):,}"]
    for kind in KINDS:
        cells += [f"{tried[kind]:,}", str(passed[kind])]
        if kind == "zero":
            cells.append(str(sum(p.inherent for o in outcomes for p in o.passed)))
    lines.append("| | all | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


MINUTES = 3
"""That a whole campaign takes."""


def main() -> int:
    """The verdict."""
    if len(sys.argv) < 2 or sys.argv[1] not in ("write", "check") or any(c not in TARGETS for c in sys.argv[2:]):
        print(f"faults.py: write or check, then any of the columns {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    columns = sys.argv[2:] or TARGETS
    outcomes = campaigns(columns, thorough=True)
    through = [(o, p) for o in outcomes for p in o.passed if not p.inherent]
    for o, p in through:
        print(f"{o.column}: sunseal_{o.function}: {p.kind} at cycle {p.number}: {p.where}", file=sys.stderr)
    if through or len(columns) < len(TARGETS):
        return bool(through)
    page = tabulate(outcomes)
    if sys.argv[1] == "write":
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        print(f"faults.py: {PAGE.name} is out of date; run `faults.py write` and look at it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
