# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lose the power anywhere, boot again, and see whether the program still keeps its word.

>>> import sunseal
>>> done = sunseal.inject("node.elf", "msp430fr5994-launchpad", start="task", end="task_end", golden=["state"])
>>> done.passed, done.earliest  # doctest: +SKIP
(False, Failure(cycle=131, reason='`state` holds 07 00 where the uninterrupted run leaves 08 00', ...))
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sunseal import _engine, abi
from sunseal.errors import SunsealError
from sunseal.machine import Argument, Machine, Place

Invariant = Callable[[Machine], object]
"""Fails by `AssertionError` or by returning False."""
Call = Callable[[Machine], tuple[Place, *tuple[Argument, ...]]]
"""Puts arguments in place and says what to call: a function and its arguments."""
Points = Literal["cycles", "writes"] | Sequence[int]
ASSERTION = "sunseal_assert_failed"
WALK_CYCLES = 1_000_000_000
"""So far an uninterrupted run is looked at, if no limit is given: seconds."""
TRACE_INSTRUCTIONS = 12
SHRINK_CUTS = 10_000
TOLD = 100
"""Failures that are told with their place; the rest are counted."""
PLAIN = frozenset(
    "address addresses adc_volts board describe device flags hook memory pc pin place ranges read read_int registers "
    "release run set_pin states timing unhook vcc_v write __class__".split()
)
"""What checks may ask a machine for without being told when the cut fell."""


@dataclass(frozen=True)
class Failure:
    """A cut after which the program did not keep its word."""

    cycle: int
    """From the beginning of the stretch."""
    reason: str
    pc: int
    """Of the instruction that was cut, or would have been next."""
    place: str
    """Function and offset, with the source line where the image has debug data."""
    trace: str = ""
    """The last instructions, the cut one last."""
    registers: Mapping[str, int] = field(default_factory=dict)
    """In front of the cut instruction."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told: dict[str, Any] = {"cycle": self.cycle, "reason": self.reason, "pc": self.pc, "place": self.place}
        if self.trace:
            told |= {"trace": self.trace.splitlines(), "registers": dict(self.registers)}
        return told


@dataclass(frozen=True)
class Injection:
    """What came of all cuts."""

    program: str
    board: str
    stretch_cycles: int
    """Length of the stretch that was cut."""
    cuts: int
    """How many have a verdict, those that shrank the first failure included."""
    played: int
    """How many were made: one of each class, and those that stand alone."""
    alone: dict[str, int]
    """How many of these are in no class, by the reason; none where classes were switched off."""
    failed: int
    """After how many cuts the program did not keep its word."""
    failures: list[Failure]
    """The first of them; the earliest has its trace."""

    @property
    def passed(self) -> bool:
        """Whether every cut was survived."""
        return self.failed == 0

    @property
    def earliest(self) -> Failure | None:
        """The earliest cut that was not survived."""
        return self.failures[0] if self.failures else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = {**vars(self), "passed": self.passed}
        return {**told, "failures": [f.to_dict() for f in self.failures]}


@dataclass(frozen=True)
class Hazard:
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
    """How many bytes were so written, each time counted."""
    changes: int
    """How many of them became another value; the others did no harm this time."""


def war(
    elf: str | os.PathLike[str] | bytes,
    board: str,
    *,
    start: Place = "main",
    end: Place | None = None,
    commits: Sequence[Place] = (),
    ignore: Sequence[Place | tuple[int, int]] = (),
    setup: Invariant | None = None,
    limit_cycles: int = 1_000_000_000,
) -> list[Hazard]:
    """Find non-volatile bytes that are read and then written between two commits, without having been written first.

    Code between two commits runs again from its beginning when the power is lost in it; such bytes make
    the second run another one. An instruction at one of `commits` begins a new region, and so does
    `start`. `ignore` names objects that keep themselves consistent. Raises SunsealError if `end` or a commit is
    not reached, or where there would be no verdict: a DMA controller moved data, or something else than the CPU's
    stores (the erase of a flash segment) changed non-volatile memory. Raises EngineError on a fault, or on an AVR,
    whose non-volatile memory plain loads and stores do not reach.
    """
    m = Machine(board, elf)
    if setup is not None:
        setup(m)
    _reach(m, start, limit_cycles)
    ends = [] if end is None else [m.address(end)]
    ended, found, unmet, unfollowed = m.engine.war(
        [m.address(c) for c in commits],
        m.ranges(ignore),
        m.cycles + limit_cycles,
        None,
        ends,
        None,
    )
    if ended[0] not in ("pc", "halted"):
        raise SunsealError(
            f"the run does not reach {_end_name(end)} in {limit_cycles:,} cycles; it stands at {m.describe(m.pc)}"
        )
    if unmet:
        names = ", ".join(_end_name(c) for c in commits if m.address(c) in unmet)
        raise SunsealError(f"the run never reaches the commit {names}", hint="name commits that it passes")
    if unfollowed is not None:
        raise SunsealError(
            f"no verdict: {unfollowed}, which `war` does not follow",
            hint="end the stretch in front of it, or let the CPU do it for this run",
        )
    return [
        Hazard(addr, size, symbol, read[0], _where(read), write[0], _where(write), times, changes)
        for addr, size, symbol, read, write, times, changes in found
    ]


def _where(place: tuple[int, str, str | None]) -> str:
    _, symbol, line = place
    return symbol if line is None else f"{symbol} ({line})"


def _end_name(end: Place | None) -> str:
    return "its halt" if end is None else f"`{end}`" if isinstance(end, str) else f"{end:#x}"


def _reach(m: Machine, place: Place, limit: int) -> None:
    if m.pc == m.address(place):
        return
    stop = m.run(until=place, cycles=limit)
    if stop.kind != "pc":
        raise SunsealError(
            f"the program does not reach {_end_name(place)}: after {m.cycles:,} cycles it "
            f"{'has halted' if stop.kind == 'halted' else 'still runs'} at {m.describe(m.pc)}",
            hint="name a symbol that the program passes",
        )


def inject(
    elf: str | os.PathLike[str] | bytes,
    board: str,
    *,
    start: Place = "main",
    end: Place | None = None,
    call: Call | None = None,
    points: Points = "cycles",
    every: int = 1,
    setup: Invariant | None = None,
    until: Place | None = None,
    limit_cycles: int | None = None,
    golden: Sequence[str] = (),
    expect: Mapping[str, bytes] | None = None,
    invariants: Sequence[Invariant] = (),
    assertions: Sequence[Place] | None = None,
    again: Sequence[int] = (),
    off_s: float = 1.0,
    seed: int = 1,
    stop_at_first: bool = False,
    brute: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Injection:
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

    `again` are cycles behind a reboot after which the power goes once more, one reboot each. The supply
    stays away for `off_s` seconds: memory that still holds its charge then keeps it. `seed` makes the
    noise with which RAM wakes, another one each time.

    Cuts that provably have the same run behind them are one class, of which the first is played; `brute` plays
    each cut. `setup`, `call` and `invariants` must then do the same whenever the machine is the same; where they
    ask for what tells one cut from another, such as `cycles`, each cut is played.

    The first failure is followed back to the earliest cut that fails. Raises SunsealError where the
    uninterrupted run does not reach its end or does not keep its word itself.
    """
    run = _Run(elf, board, start, end, call, until, setup, golden, expect or {}, invariants, assertions)
    told = run.uninterrupted(limit_cycles)
    stretch = run.stretch
    if every < 1:
        raise SunsealError(f"`every` is {every}; it must be 1 or more")
    at = _points(stretch, points)[::every]
    _enough(stretch, points, every, len(at))
    off_ps = round(off_s * 1e12)

    campaign = _Campaign(run, told, off_ps, seed, again, brute)
    campaign.cut_all(at, stop_at_first, progress)
    if not campaign.failed and 0 in campaign.twice:
        raise SunsealError(
            f"no verdict: the supply never went {again[campaign.twice.index(0)]:,} cycles behind a reboot, as the "
            "program was at its end before",
            hint="give `again` fewer cycles",
        )
    return Injection(
        os.fspath(elf) if not isinstance(elf, bytes) else "(bytes)",
        board,
        stretch.cycles,
        campaign.cuts,
        campaign.played,
        campaign.alone,
        campaign.failed,
        [run.failure(c, r, traced=i == 0) for i, (c, r) in enumerate(campaign.failures)],
    )


class _Campaign:
    """The cuts of a stretch and what became of them."""

    def __init__(
        self,
        run: _Run,
        told: Mapping[str, bytes],
        off_ps: int,
        seed: int,
        again: Sequence[int],
        brute: bool,
    ) -> None:
        self.run, self.told, self.off_ps, self.seed, self.again = run, told, off_ps, seed, again
        self.brute = brute
        self.cuts = self.played = self.failed = 0
        self.alone: dict[str, int] = {}
        self.failures: list[tuple[int, str]] = []
        """Cycle and reason of the first that were not survived."""
        self.twice = [0] * len(again)
        """Reboots behind which the power went once more, by the entries of `again`."""

    def _play(self, cycle: int) -> str | None:
        """Cut at a cycle; return what is wrong then, if anything."""
        run, engine = self.run, self.run.machine.engine
        noise = self.seed * 0x9E3779B97F4A7C15 + cycle * (1 + len(self.again))
        run.stretch.cut(cycle, self.off_ps, noise % 2**64)
        self.played += 1
        if not self.brute:
            run.asked.clear()
            engine.follow()
        for n, more in enumerate(self.again, 1):
            run.begin()
            stops = [] if run.call is not None else [*run.goals, *run.assertions]
            if not engine.power_cut_in(run.machine.cycles + more, stops):
                return run.outcome(self.told, there=bool(stops))
            self.twice[n - 1] += 1
            engine.reboot(self.off_ps, (noise + n) % 2**64)
        run.begin()
        return run.outcome(self.told)

    def _last(self, cycle: int) -> int:
        """Return the last cut of the class of the one that was just played: itself, if it stands alone."""
        if self.brute:
            return cycle
        last, why = self.run.stretch.covers(cycle, self.off_ps)
        if self.run.asked:
            why = "the checks ask the machine for " + ", ".join(f"`{name}`" for name in sorted(self.run.asked))
        elif last is not None:
            return last
        self.alone[str(why)] = self.alone.get(str(why), 0) + 1
        return cycle

    def _shrink(self, good: int, bad: int) -> None:
        """Look for an earlier failure between a cut that was survived and one that was not."""
        for earlier in [w for w in self.run.stretch.writes if good < w < bad][:SHRINK_CUTS]:
            self.cuts += 1
            reason = self._play(earlier)
            self._last(earlier)
            if reason is not None:
                self.failures.append((earlier, reason))
                self.failed += 1
                return

    def cut_all(self, at: Sequence[int], stop_at_first: bool, progress: Callable[[int, int], None] | None) -> None:
        """Give each of the cuts, which rise, its verdict."""
        last_good, done = -1, 0
        while done < len(at):
            cycle = at[done]
            reason = self._play(cycle)
            behind = max(bisect_right(at, self._last(cycle)), done + 1)
            if reason is not None and stop_at_first:
                behind = done + 1
            self.cuts += behind - done
            if reason is None:
                last_good = at[behind - 1] if not self.failed else last_good
            else:
                if not self.failed:
                    self._shrink(last_good, cycle)
                self.failed += behind - done
                room = max(TOLD - len(self.failures), 0)
                self.failures += [(c, reason) for c in at[done : min(behind, done + room)]]
            done = behind
            if progress is not None:
                progress(done, len(at))
            if reason is not None and stop_at_first:
                return


def _points(stretch: _engine.Stretch, points: Points | str) -> Sequence[int]:
    if points == "cycles":
        return range(stretch.cycles + 1)
    if points == "writes":
        return stretch.writes
    if isinstance(points, str):
        raise SunsealError(f"points `{points}` are neither `cycles` nor `writes` nor numbers")
    wanted = sorted(set(points))
    if wanted and not 0 <= wanted[0] <= wanted[-1] <= stretch.cycles:
        bad = wanted[0] if wanted[0] < 0 else wanted[-1]
        raise SunsealError(f"cycle {bad} is not in the stretch, which has {stretch.cycles} cycles")
    return wanted


def _enough(stretch: _engine.Stretch, points: Points | str, every: int, chosen: int) -> None:
    """Refuse what would pass for want of cuts."""
    if not chosen:
        raise SunsealError('there is no point to cut at; give cycles of the stretch, or "cycles"')
    if points == "writes" and set(stretch.writes) <= {0, stretch.cycles}:
        raise SunsealError(
            "the stretch writes nothing to non-volatile memory, so there is no write to cut",
            hint="cut at `cycles`, or name a stretch that writes",
        )
    if every > 1 and chosen == 1:
        raise SunsealError(
            f"of the points of the stretch ({stretch.cycles:,} cycles) each {every:,}th is only the first",
            hint="give a smaller `every`",
        )


class _Witness(Machine):
    """A machine as those see it who set it up and check it: keeps a list of what they ask for beyond `PLAIN`."""

    def __init__(self, machine: Machine, asked: set[str]) -> None:
        object.__setattr__(self, "_seen", (machine, asked))

    def __getattribute__(self, name: str) -> Any:
        machine, asked = object.__getattribute__(self, "_seen")
        if name not in PLAIN:
            asked.add(name)
        return getattr(machine, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(object.__getattribute__(self, "_seen")[0], name, value)


class _Run:
    """A program under test: how it begins, where it ends, what must hold there."""

    def __init__(
        self,
        elf: str | os.PathLike[str] | bytes,
        board: str,
        start: Place,
        end: Place | None,
        call: Call | None,
        until: Place | None,
        setup: Invariant | None,
        golden: Sequence[str],
        expect: Mapping[str, bytes],
        invariants: Sequence[Invariant],
        assertions: Sequence[Place] | None,
    ) -> None:
        self.machine = m = Machine(board, elf)
        self.call, self.setup = call, setup
        self.start: Place = "main" if call is not None else start
        if call is not None and (end is not None or until is not None):
            raise SunsealError("`call` ends at its return: `end` and `until` do not go with it")
        ends = [m.address("main")] if call is not None else [] if end is None else [m.address(end)]
        self.ends = ends
        self.goals = ends if until is None else [m.address(until)]
        self.until = "the return of the call" if call is not None else _end_name(end if until is None else until)
        if empty := [name for name in (*golden, *expect) if not m.ranges([name])[0][1]]:
            raise SunsealError(
                f"`{empty[0]}` has no size, so nothing of it would be compared",
                hint="name an object; in assembly, give it `.size`",
            )
        self.golden, self.expect, self.invariants = golden, expect, invariants
        if assertions is None:
            assertions = [ASSERTION] if _has(m, ASSERTION) else []
        self.assertions = {m.address(a): a for a in assertions}
        self.limit = 0
        self.stretch: _engine.Stretch
        self.asked: set[str] = set()
        """What `setup`, `call` and invariants asked for that tells when a cut fell."""
        self.witness = _Witness(m, self.asked)

    def uninterrupted(self, limit_cycles: int | None) -> dict[str, bytes]:
        """Walk the stretch and return what the symbols of `golden` and `expect` must hold."""
        m = self.machine
        self._power_up(WALK_CYCLES)
        self.stretch = _engine.Stretch(m.engine, self.ends, limit_cycles or WALK_CYCLES)
        self.limit = 10 * m.cycles + 1_000_000 if limit_cycles is None else limit_cycles
        at_end = m.snapshot()
        told = {name: m.read(name) for name in self.golden if name not in self.expect} | dict(self.expect)
        # The uninterrupted run must keep its word, and all that is said of it be sound.
        if self.goals != self.ends and (reason := self._arrive()) is not None:
            raise SunsealError(f"the uninterrupted run fails: {reason}")
        told |= {name: m.read(name) for name in self.golden if name not in self.expect}
        if (reason := self._broken(told)) is not None:
            raise SunsealError(f"the uninterrupted run fails: {reason}")
        m.restore(at_end)
        return told

    def begin(self) -> None:
        """Prepare the first instruction behind a power-up."""
        if self.setup is not None:
            self.setup(self.witness)

    def outcome(self, told: Mapping[str, bytes], *, there: bool = False) -> str | None:
        """Run on from the reboot, unless the end is `there`; return what is wrong then, if anything."""
        try:
            if self.call is not None:
                self._enter(self.limit)
            return self._arrive(there) or self._broken(told)
        except (SunsealError, _engine.EngineError) as e:
            return str(e)

    def failure(self, cycle: int, reason: str, *, traced: bool) -> Failure:
        """Say where a cut was, and what led to it."""
        text, pc, registers = self.stretch.trace(cycle, TRACE_INSTRUCTIONS if traced else 1)
        held = {name: value for name, _, value in registers}
        place = self.machine.describe(pc)
        return Failure(cycle, reason, pc, place, text, held) if traced else Failure(cycle, reason, pc, place)

    def _power_up(self, limit: int) -> None:
        self.begin()
        if self.call is not None:
            self._enter(limit)
        else:
            _reach(self.machine, self.start, limit)

    def _enter(self, limit: int) -> None:
        assert self.call is not None
        m = self.machine
        _reach(m, "main", limit)
        m.release()
        function, *args = self.call(self.witness)
        abi.of(m.device).enter(m, m.address(function), args, m.address("main"))

    def _arrive(self, there: bool = False) -> str | None:
        m = self.machine
        stops = [*self.goals, *self.assertions]
        if there and m.pc in stops:  # a run would pass the address where it begins
            kind, what = "pc", str(m.pc)
        else:
            kind, what = m.engine.run(m.cycles + self.limit, None, stops, None)
        if kind == "pc" and (pc := int(what)) in self.assertions:
            return f"the assertion `{self.assertions[pc]}` failed"
        if kind == "pc" or (kind == "halted" and not self.goals):
            return None
        did = "it has halted" if kind == "halted" else f"it still runs after {self.limit:,} cycles"
        return f"the program does not come to {self.until} any more: {did} at {m.describe(m.pc)}"

    def _broken(self, told: Mapping[str, bytes]) -> str | None:
        for name, wanted in told.items():
            held = self.machine.read(name)[: len(wanted)]
            if held != wanted:
                first = next(i for i, (a, b) in enumerate(zip(held, wanted, strict=True)) if a != b)
                a, b = (x[first : first + 8].hex(" ") for x in (held, wanted))
                where = f" from byte {first} on" if first else ""
                source = "is expected" if name in self.expect else "stands after the uninterrupted run"
                return f"`{name}` holds {a}{where} where {b} {source}"
        for invariant in self.invariants:
            name = getattr(invariant, "__name__", "an invariant")
            try:
                if invariant(self.witness) is False:
                    return f"`{name}` does not hold"
            except AssertionError as e:
                return f"`{name}` does not hold" + (f": {str(e).splitlines()[0]}" if str(e) else "")
        return None


def _has(m: Machine, symbol: str) -> bool:
    try:
        m.address(symbol)
    except _engine.EngineError:
        return False
    return True


@dataclass(frozen=True)
class Checks:
    """What a file of checks brings."""

    invariants: list[Invariant]
    setup: Invariant | None
    call: Call | None


def checks(path: Path) -> Checks:
    """Read a Python file: its functions `check_*`, and `setup` and `call` if they are there."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as e:
        raise SunsealError(f"the checks `{path}` cannot be read: {e.strerror or e}") from e
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), names)  # the user's own file, named by the user
    except Exception as e:
        raise SunsealError(f"the checks `{path}` do not run: {type(e).__name__}: {e}") from e
    invariants = [f for n, f in names.items() if n.startswith("check_") and callable(f)]
    found = Checks(invariants, names.get("setup"), names.get("call"))
    if not invariants and found.setup is None and found.call is None:
        raise SunsealError(f"`{path}` has no function `check_...(machine)`, `setup(machine)` or `call(machine)`")
    return found
