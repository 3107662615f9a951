# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lose the power anywhere, boot again, and see whether the program still keeps its word.

>>> import sunseal
>>> done = sunseal.inject("node.elf", "msp430fr5994-launchpad", start="task", end="task_end", golden=["state"])
>>> done.passed, done.earliest  # doctest: +SKIP
(False, Failure(cycle=131, reason='`state` holds 07 00 where the uninterrupted run leaves 08 00', ...))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sunseal import requests
from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.errors import SunsealError, UndecidedError
from sunseal.machine.machine import Machine
from sunseal.requests.asking import answers
from sunseal.secure.cutting import Campaign, Left, Run, end_name, enough, kept, program_name, reach

TOLD = 100
"""Failures that are told with their place; the rest are counted."""
NOT_ASKED = (
    "nothing was compared with the uninterrupted run: the program came to its end behind each cut, right or wrong; say "
    "what must hold there by --golden OBJECT, --check FILE.py or --assert SYMBOL (`golden`, `invariants`, `assertions`)"
)
KEEPS_NOTHING = (
    "the stretch writes nothing to non-volatile memory: the program keeps nothing that survives a loss of power, and "
    "each life does the same anew"
)


@dataclass(frozen=True)
class Failure:
    """A cut after which the program did not keep its word."""

    cycle: int
    """From the beginning of the stretch."""
    reason: str
    pc: int
    """Address of the instruction that was cut, or would have been next."""
    place: str
    """Function and offset, with the source line where the image has debug data."""
    trace: str = ""
    """The last instructions, the cut one last."""
    registers: Mapping[str, int] = field(default_factory=dict)
    """In front of the cut instruction."""
    again: tuple[int, ...] = ()
    """The cuts behind that one, each in cycles from the reboot before it; place, trace and registers are the last's."""

    @property
    def path(self) -> str:
        """The cuts that led there, for a sentence."""
        return ", then ".join(str(cycle) for cycle in (self.cycle, *self.again))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told: dict[str, Any] = {"cycle": self.cycle, "reason": self.reason, "pc": self.pc, "place": self.place}
        if self.again:
            told["again"] = list(self.again)
        if self.trace:
            told |= {"trace": self.trace.splitlines(), "registers": dict(self.registers)}
        return told


@dataclass(frozen=True)
class Injection(Shown):
    """Outcome of all cuts."""

    program: str
    board: str
    stretch_cycles: int
    """Length of the stretch that was cut."""
    cuts: int
    """Number of cuts that have a verdict, those of recoveries and those that shrank the first failure included."""
    played: int
    """Number of runs behind a reboot that were made: one of each class, and those that stand alone."""
    alone: dict[str, int]
    """Numbers of cuts that are in no class, by the reason; none where classes were switched off."""
    failed: int
    """After how many cuts the program did not keep its word."""
    failures: list[Failure]
    """The first of them; the earliest has its trace."""
    losses: int | None = 1
    """Number of times in a row that the power went; none for any number of times."""
    recoveries: int = 0
    """Number of different recoveries that were cut too."""
    recovery_cuts: int = 0
    """Number of the cuts that fell there."""
    uncut: int = 0
    """Recoveries that were not cut, as there were too many different ones."""
    changing: Mapping[str, int] = field(default_factory=dict)
    """The objects that tell those from the others, by name, and how many values they had."""
    held: Sequence[str] = ()
    """Objects that each life began with as the image has them."""
    written: Sequence[str] = ()
    """Places that `setup` and `call` wrote anew behind each power-up, whatever the cut left of them."""
    compared: Sequence[str] = ()
    """Things that were held against the uninterrupted run behind each cut: objects, checks, assertions."""
    keeps_nothing: bool = False
    """True where the stretch writes nothing to non-volatile memory: no life finds anything of an earlier one."""

    @property
    def judged(self) -> Verdict:
        """The verdict: a cut that was not survived is a finding; with nothing compared all others show nothing."""
        found = tuple(
            Finding.at("not-survived", f"a cut at cycle {f.path} is not survived: {f.reason}", f.place)
            for f in self.failures
        )
        left = [] if self.compared else [NOT_ASKED]
        if self.keeps_nothing and not self.compared:
            left.append(KEEPS_NOTHING)
        if self.uncut:
            left.append(f"{self.uncut:,} more recoveries were not cut, as there were too many different ones")
        return Verdict(f"inject {Path(self.program).name}", self.cuts * len(self.compared), found, tuple(left))

    @property
    def passed(self) -> bool:
        """True if something was compared behind every cut, and every cut was survived."""
        return self.judged.passed

    @property
    def earliest(self) -> Failure | None:
        """The earliest cut that was not survived."""
        return self.failures[0] if self.failures else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = {**self.judged.to_dict(), **vars(self), "passed": self.passed}
        told["written"] = list(self.written)
        return {**told, "compared": list(self.compared), "failures": [f.to_dict() for f in self.failures]}


@dataclass(frozen=True)
class Hazard(Shown):
    """Non-volatile bytes that are read and then written before a commit."""

    address: int
    bytes: int
    """From the lowest to the highest."""
    symbol: str | None
    """The object they are in."""
    read_pc: int
    read_place: str
    write_pc: int
    write_place: str
    count: int
    """Number of bytes so written, each time counted."""
    changes: int
    """Number of them that became another value; the others did no harm this time."""


@answers(requests.War)
def war(to: requests.War) -> list[Hazard]:
    """Find non-volatile bytes that are read and then written between two commits, without having been written first.

    Code between two commits runs again from its beginning when the power is lost in it; such bytes make
    the second run another one. An instruction at one of `commits` begins a new region, and so does
    `start`. `ignore` names objects that keep themselves consistent, `adc_v` the voltages at channels of the ADC. Raises
    SunsealError if `end` or a commit is not reached, and UndecidedError where there is no verdict: nothing non-volatile
    was written, a DMA controller moved data, or something else than the CPU's stores (the erase of a flash segment)
    changed non-volatile memory. Raises EngineError on a fault, or on an AVR, whose non-volatile memory plain loads and
    stores do not reach.
    """
    m = Machine(to.board, to.elf, adc_v=to.adc_v)
    if to.setup is not None:
        to.setup(m)
    reach(m, to.start, to.limit_cycles)
    ends = [] if to.end is None else [m.address(to.end)]
    before = kept(m.engine.counts())
    ended, found, unmet, unfollowed = m.engine.war(
        [m.address(c) for c in to.commits],
        m.ranges(to.ignore),
        m.cycles + to.limit_cycles,
        None,
        ends,
        None,
    )
    if ended[0] not in ("pc", "halted"):
        raise SunsealError(
            f"the run does not reach {end_name(to.end)} in {to.limit_cycles:,} cycles; it stands at {m.describe(m.pc)}"
        )
    if unmet:
        names = ", ".join(end_name(c) for c in to.commits if m.address(c) in unmet)
        raise SunsealError(f"the run never reaches the commit {names}", hint="name commits that it passes")
    if unfollowed is not None:
        raise UndecidedError(
            f"no verdict: {unfollowed}, which `war` does not follow",
            hint="end the stretch in front of it, or let the CPU do it for this run",
        )
    if kept(m.engine.counts()) == before:
        raise UndecidedError(
            "no verdict: the stretch writes nothing to non-volatile memory, so there was no write to look at",
            hint="name a stretch in which the program keeps something, by --from and --to",
        )
    return [
        Hazard(addr, size, symbol, read[0], _where(read), write[0], _where(write), times, changes)
        for addr, size, symbol, read, write, times, changes in found
    ]


def war_judged(program: str, found: Sequence[Hazard]) -> Verdict:
    """Judge what `war` found; it raises where there is no verdict, so that here non-volatile writes were looked at."""
    hazards = (
        Finding.at(
            "write-after-read",
            f"{h.symbol or hex(h.address)} is read by {h.read_place} and then written by {h.write_place}",
            h.write_place,
        )
        for h in found
    )
    return Verdict(f"war {program}", 1, tuple(hazards))


def _where(place: tuple[int, str, str | None]) -> str:
    _, symbol, line = place
    return symbol if line is None else f"{symbol} ({line})"


@answers(requests.Inject)
def inject(to: requests.Inject) -> Injection:
    """Cut the power at every point of a stretch of the run, boot again, run on and check what must hold.

    The stretch goes from `start` to `end` (a symbol or an address; without it to the program's halt), or
    is the call of a function: `call(machine)`, at `main`, returns the function and its arguments, and is
    asked again behind each reboot. `points` are all its cycles, all its writes to non-volatile memory, or
    cycles counted from its beginning; of these each `every`-th. A cut falls between the bus accesses of
    an instruction, too. `setup(machine)` is called at each power-up, before the first instruction.

    The program must reach `end` within `limit_cycles` of the CPU (10^9, if not given) and, behind a reboot,
    `until` (`end`, if not given) within as many (ten times what the uninterrupted run took and a million).
    There `golden` symbols must hold what they hold in the uninterrupted run, `expect` symbols the given
    bytes, and every one of `invariants` must neither return False nor raise AssertionError. An instruction
    at one of `assertions` (by default at `sunseal_assert_failed`, if there is one) is a failure at once,
    and so is a fault.

    `losses` is how often in a row the power may go: with 2 each recovery is cut at all its points too, with None
    recoveries of recoveries as well until no cut leaves anything that was not there before, so that the verdict holds
    for any number of losses. A program that counts its lives never comes to that: name the count in `held`, and each
    life begins with what the image has there. `again` are, without that, cycles behind a reboot after which the power
    goes once more, one reboot each. The supply stays away for `off_s` seconds: memory that still holds its charge then
    keeps it. `seed` makes the noise with which RAM wakes, another one each time. `adc_v` are the voltages at channels
    of the ADC, in each life the same.

    Cuts that provably have the same run behind them are one class, of which the first is played; `brute` plays
    each cut, False one of each class. Where it is not said, so few cuts of a long stretch are each played that to
    survey it for classes would cost more. `setup`, `call` and `invariants` must then do the same whenever the machine
    is the same; where they ask for what tells one cut from another, such as `cycles`, each cut is played. What `setup`
    and `call` write they write in each life, and the answer names it.

    The first failure is followed back to the earliest cut that fails. With no `golden`, `expect`, invariant or
    assertion nothing is compared, and the verdict is undecided unless a cut keeps the program from its end. Raises
    SunsealError where the uninterrupted run does not reach its end or does not keep its word itself.
    """
    ends = (to.start, to.end, to.call, to.until, to.setup)
    keeps = (to.golden, to.expect or {}, to.invariants, to.assertions, to.held)
    run = Run(to.elf, to.board, *ends, *keeps, to.adc_v)
    told = run.uninterrupted(to.limit_cycles)
    if to.losses is not None and to.losses < 1:
        raise SunsealError(f"`losses` is {to.losses}; it must be 1 or more, or None for any number")
    if to.again and to.losses != 1:
        raise SunsealError(
            "`again` names single cycles of recoveries, `losses` has all of them cut: give one of the two"
        )
    root = Left((), stretch=run.stretch)
    campaign = Campaign(
        run,
        told,
        round(to.off_s * 1e12),
        to.seed,
        again=to.again,
        brute=bool(to.brute),
        losses=to.losses,
        points=to.points,
        every=to.every,
    )
    cuts = len(campaign.points_of(root))
    enough(run.stretch, to.points, to.every, cuts)
    if to.brute is None and to.losses == 1:
        campaign.brute = run.cheaper_alone(cuts)
    campaign.cut_all(root, to.stop_at_first, to.progress)
    found = _injection(campaign, program_name(to.elf), to.board, tuple(to.held))
    if not found.failed and 0 in campaign.twice:
        raise UndecidedError(
            f"no verdict: the supply never went {to.again[campaign.twice.index(0)]:,} cycles behind a reboot, as the "
            "program was at its end before",
            hint="give `again` fewer cycles",
        )
    return found


def _injection(campaign: Campaign, program: str, board: str, held: tuple[str, ...]) -> Injection:
    """Take down what came of a campaign."""
    root, alone, failed = campaign.nodes[0], dict[str, int](), 0
    failures: list[Failure] = []
    for node in campaign.nodes:
        for why, times in node.alone.items():
            alone[why] = alone.get(why, 0) + times
        bad = campaign.failed(node)
        failed += len(bad)
        for cycle, reason in bad[: TOLD - len(failures)]:
            assert node.stretch is not None
            path = (*node.path, cycle)
            where = campaign.run.where(node.stretch, cycle, traced=not failures)
            failures.append(Failure(path[0], reason, *where, again=path[1:]))
    assert root.stretch is not None
    return Injection(
        program,
        board,
        root.stretch.cycles,
        sum(campaign.cut(node) for node in campaign.nodes) + len(campaign.shrunk),
        campaign.runs,
        alone,
        failed,
        failures,
        campaign.losses,
        len(campaign.recoveries),
        sum(campaign.cut(node) for node in campaign.recoveries),
        len(campaign.uncut),
        campaign.changing(),
        held,
        tuple(campaign.run.written),
        campaign.run.compared,
        campaign.run.keeps_nothing,
    )
