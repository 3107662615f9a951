# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program under test, the cuts of its run, and the cuts of the recoveries behind them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sunseal import _engine
from sunseal.errors import SunsealError
from sunseal.machine import abi
from sunseal.machine.machine import Machine, Place
from sunseal.requests.checks import Call, Invariant, Points

STAYS = "it stays for good in a loop of one jump"
"""The engine's words for a program whose `main` ends like that, as firmware's does."""
KEPT = re.compile(r"(fram|flash|eeprom)\.(\w+_)?(write|erase)$")
"""Events in which what survives a loss of power becomes another."""
ASSERTION = "sunseal_assert_failed"
WALK_CYCLES = 1_000_000_000
"""So far an uninterrupted run is looked at, if no limit is given: seconds."""
TRACE_INSTRUCTIONS = 12
SHRINK_CUTS = 10_000
RECOVERIES_MOST = 1000
"""So many different recoveries are cut; each keeps its stretch, a megabyte."""
SURVEYED_FROM = 100_000
"""Cycles of a stretch from which on the survey that classes want is worth a thought: it takes 50 ms."""
SURVEY_CYCLES = 80
"""Cycles of a run that are played in the time in which one cycle of a stretch is surveyed for classes."""
LAST_KEPT = 64
"""So many of what a last loss left are kept, to recognise others by: in flash there are thousands, hardly two alike."""
UNCUT_NAMED = 100
"""Number of cuts not made of which it is told what tells them from those that were."""
NOT_COMPARED = "what losses leave is not compared on this chip"
"""Reason that keeps recoveries apart where no two are told to be the same: all but the MSP430F5xx and FR5xx."""
PLAIN = frozenset(
    "address addresses adc_volts board describe device flags hook memory pc pin place ranges read read_int registers "
    "release run set_pin states timing unhook vcc_v write __class__".split()
)
"""Names that checks may ask a machine for without being told when the cut fell."""


def end_name(end: Place | None) -> str:
    """Name where a run ends, for a sentence."""
    return "its halt" if end is None else f"`{end}`" if isinstance(end, str) else f"{end:#x}"


def program_name(elf: str | os.PathLike[str] | bytes) -> str:
    """Name a program, for an answer."""
    return "(bytes)" if isinstance(elf, bytes) else os.fspath(elf)


def reach(m: Machine, place: Place, limit: int) -> None:
    """Run to a place in so many cycles, or say where the program stays instead."""
    if m.pc == m.address(place):
        return
    stop = m.run(until=place, cycles=limit)
    if stop.kind != "pc":
        raise SunsealError(
            f"the program does not reach {end_name(place)}: after {m.cycles:,} cycles it "
            f"{'has halted' if stop.kind == 'halted' else 'still runs'} at {m.describe(m.pc)}",
            hint="name a symbol that the program passes",
        )


class _Witness(Machine):
    """A machine as those see it who set it up and check it: keeps what they ask for beyond `PLAIN`, and write."""

    def __init__(self, machine: Machine, asked: set[str], written: dict[str, None]) -> None:
        def write(place: Place, data: bytes) -> None:
            addr = machine.address(place)
            found = None if isinstance(place, str) else machine.engine.object_at(addr)
            written[place if isinstance(place, str) else found[0] if found is not None else f"{addr:#x}"] = None
            machine.write(place, data)

        object.__setattr__(self, "_seen", (machine, asked, write))

    def __getattribute__(self, name: str) -> Any:
        machine, asked, write = object.__getattribute__(self, "_seen")
        if name == "write":
            return write
        if name not in PLAIN:
            asked.add(name)
        return getattr(machine, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(object.__getattribute__(self, "_seen")[0], name, value)


class Run:
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
        held: Sequence[str] = (),
        adc_v: Mapping[int, float] | None = None,
    ) -> None:
        """Load the program and look its places up; each life begins with what the image has in `held`."""
        self.machine = m = Machine(board, elf, adc_v=adc_v)
        self.held = [(m.address(name), m.read(name)) for name in held]
        self.call, self.setup = call, setup
        self.start: Place = "main" if call is not None else start
        if call is not None and (end is not None or until is not None):
            raise SunsealError("`call` ends at its return: `end` and `until` do not go with it")
        ends = [m.address("main")] if call is not None else [] if end is None else [m.address(end)]
        self.ends = ends
        self.goals = ends if until is None else [m.address(until)]
        self.until = "the return of the call" if call is not None else end_name(end if until is None else until)
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
        self.rest: str | None = None
        """Address where it stays for good, if it does so in place of a halt."""
        self.keeps_nothing = False
        """True where the stretch writes nothing to non-volatile memory."""
        self.asked: set[str] = set()
        """Names that `setup`, `call` and invariants asked for which tell when a cut fell."""
        self.written: dict[str, None] = {}
        """Places that `setup` and `call` write anew behind each power-up, whatever a cut left of them."""
        self.witness = _Witness(m, self.asked, self.written)

    @property
    def compared(self) -> list[str]:
        """Name what is held against the uninterrupted run behind each cut."""
        told = [f"object {name}" for name in (*self.golden, *(n for n in self.expect if n not in self.golden))]
        told += [f"check {getattr(invariant, '__name__', 'an invariant')}" for invariant in self.invariants]
        return told + [
            f"assertion {place if isinstance(place, str) else hex(place)}" for place in self.assertions.values()
        ]

    def uninterrupted(self, limit_cycles: int | None) -> dict[str, bytes]:
        """Walk the stretch and return what the symbols of `golden` and `expect` must hold."""
        m = self.machine
        self._power_up(WALK_CYCLES)
        before = kept(m.engine.counts())
        self.stretch = self._walked(limit_cycles or WALK_CYCLES)
        self.keeps_nothing = kept(m.engine.counts()) == before
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

    def _walked(self, limit: int) -> _engine.Stretch:
        """Walk to the end, which is where the program stays for good if none is named and it does not halt."""
        m, begun = self.machine, self.machine.snapshot()
        try:
            return _engine.Stretch(m.engine, self.ends, limit)
        except _engine.EngineError as e:
            if self.ends or STAYS not in str(e):
                raise
        self.rest = m.describe(m.pc)
        same, self.ends = self.goals is self.ends, [m.pc]
        if same:
            self.goals, self.until = self.ends, self.rest
        m.restore(begun)
        return _engine.Stretch(m.engine, self.ends, limit)

    def cheaper_alone(self, cuts: int) -> bool:
        """Say whether so many cuts cost less played each than the survey of the stretch that classes want."""
        surveyed, each = self.stretch.cycles, self.machine.cycles
        return surveyed >= SURVEYED_FROM and cuts * each + surveyed < SURVEY_CYCLES * surveyed

    def begin(self) -> None:
        """Prepare the first instruction behind a power-up."""
        for addr, image in self.held:
            self.machine.write(addr, image)
        if self.setup is not None:
            self.setup(self.witness)

    def stretch_behind(self) -> _engine.Stretch:
        """Walk from behind a reboot to where the program must come, as far as a cut may fall there."""
        self.begin()
        if self.call is not None:
            self._enter(self.limit)
        return _engine.Stretch(self.machine.engine, self.goals, self.limit)

    def outcome(self, told: Mapping[str, bytes], *, there: bool = False) -> str | None:
        """Run on from the reboot, unless the end is `there`; return what is wrong then, if anything."""
        try:
            if self.call is not None:
                self._enter(self.limit)
            return self._arrive(there) or self._broken(told)
        except (SunsealError, _engine.EngineError) as e:
            return str(e)

    def where(self, stretch: _engine.Stretch, cycle: int, *, traced: bool) -> tuple[int, str, str, dict[str, int]]:
        """Say where a cut was: address and place, what led to it and the registers in front of it."""
        text, pc, registers = stretch.trace(cycle, TRACE_INSTRUCTIONS if traced else 1)
        held = {name: value for name, _, value in registers}
        return (pc, self.machine.describe(pc), text, held) if traced else (pc, self.machine.describe(pc), "", {})

    def _power_up(self, limit: int) -> None:
        self.begin()
        if self.call is not None:
            self._enter(limit)
        else:
            reach(self.machine, self.start, limit)

    def _enter(self, limit: int) -> None:
        assert self.call is not None
        m = self.machine
        reach(m, "main", limit)
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


@dataclass(eq=False)
class Left:
    """Remains of a cut, and what became of them."""

    path: tuple[int, ...]
    """The cuts that led there first, each counted from the beginning of the stretch that it fell into."""
    reason: str | None = None
    """Reason for which something was wrong at the end of the run behind it, if anything."""
    run: int = -1
    """The number of that run, counted from 0 over the campaign."""
    cycles: int = 0
    """From the reboot to that end."""
    seen: _engine.Footprint | None = None
    """Footprint of that run, and of runs behind further cuts of it."""
    asked: str = ""
    """Name that checks asked for which tells when the cut fell."""
    kept: _engine.Left | None = None
    """Memory, registers and parts as the cut left them, to recognise others by."""
    grown: int = 0
    """Number of times that `seen` has become more."""
    snapshot: _engine.Snapshot | None = None
    """Snapshot of the machine about to boot."""
    uncut: bool = False
    """Its recovery was to be cut, and there were too many."""
    stretch: _engine.Stretch | None = None
    """Stretch of that run in which it is cut too."""
    origin: int = 0
    """The machine's cycles where the stretch begins."""
    classes: list[tuple[int, int, Left]] = field(default_factory=list)
    """First and last cut of its stretch that left the same, and that."""
    alone: dict[str, int] = field(default_factory=dict)
    """Numbers of these cuts that are in no class, by the reason."""
    plays: dict[int, Taken] = field(default_factory=dict)
    """Remains of the cuts that were made, by their cycles."""


@dataclass(eq=False)
class Taken:
    """A cut, and the state that what it left is taken for."""

    left: Left
    differing: _engine.Differing | None
    """Places where what it left differs from that state; none if it is the state itself."""
    compared: int
    """Value of `left.grown` when they were compared."""
    joined: int = -1
    """Value of it when the run that was cut took over what is read behind the cut."""
    last: tuple[int | None, str | None] | None = None
    """The last cut of its class, or why it is in none; kept where the power does not go again behind it."""

    def holds(self) -> bool:
        """Tell whether the two have the same run still, as far as is known what runs behind further cuts read."""
        left = self.left
        if self.differing is None or self.compared == left.grown:
            return True
        assert left.seen is not None
        self.compared = left.grown
        return not self.differing.read_by(left.seen)


class Campaign:
    """The cuts of a stretch, of the recoveries behind them, and what became of them."""

    def __init__(
        self,
        run: Run,
        told: Mapping[str, bytes],
        off_ps: int,
        seed: int,
        *,
        again: Sequence[int] = (),
        brute: bool = False,
        losses: int | None = 1,
        points: Points | str = "cycles",
        every: int = 1,
        every_behind: int = 1,
        recoveries_most: int | None = None,
    ) -> None:
        """Say what is cut, and what must hold in the end.

        Of a recovery's points each `every_behind`-th is cut, in each from another one on.
        """
        self.run, self.told, self.off_ps, self.seed, self.again = run, told, off_ps, seed, again
        self.brute, self.losses, self.points = brute, losses, points
        self.every, self.every_behind = every, every_behind
        self.recoveries_most = RECOVERIES_MOST if recoveries_most is None else recoveries_most
        self.uncut: list[Left] = []
        """Recoveries that were not cut, as there were too many."""
        self.runs = 0
        """Runs behind a reboot that were made."""
        self.shrunk: list[tuple[int, Left]] = []
        """Cuts between a survived one and the first that was not."""
        self.nodes: list[Left] = []
        """Nodes of the campaign that are cut: the stretch, then each different recovery."""
        self.twice = [0] * len(again)
        """Reboots behind which the power went once more, by the entries of `again`."""
        self._known: list[Left] = []
        """Remains that others can be taken for, of losses that are not the last."""
        self._last_left: deque[Left] = deque()
        """The same of last losses: the latest."""
        self._like: _engine.Left | None = None

    @property
    def recoveries(self) -> list[Left]:
        """The recoveries that were cut."""
        return self.nodes[1:]

    def points_of(self, node: Left) -> Sequence[int]:
        """Return where its stretch is cut."""
        assert node.stretch is not None
        chosen = self.points if isinstance(self.points, str) or len(node.path) == 0 else "cycles"
        if node.path and self.every_behind > 1:
            return points_of(node.stretch, chosen)[sum(node.path) % self.every_behind :: self.every_behind]
        return points_of(node.stretch, chosen)[:: self.every]

    def cut_all(self, root: Left, stop_at_first: bool, progress: Callable[[int, int], None] | None) -> None:
        """Give each cut its verdict, until what the runs behind all of them look at is known."""
        self.nodes = [root]
        grown = True
        while grown:
            grown, cut, total = False, 0, 0
            for node in self.nodes:  # which grow meanwhile
                if node.stretch is None:
                    self._open(node)
                at = self.points_of(node)
                told = None if progress is None else _further(progress, cut, total)
                grown |= self._walk(node, at, stop_at_first, told)
                cut, total = cut + len(at), total + len(at)
                if stop_at_first and self._fails(node):
                    return

    def cut(self, node: Left) -> int:
        """Return how many cuts of a stretch have a verdict."""
        at = self.points_of(node)
        return bisect_right(at, node.classes[-1][1]) if node.classes else 0

    def failed(self, node: Left) -> list[tuple[int, str]]:
        """Return cycle and reason of every cut of a stretch that was not survived."""
        at = self.points_of(node)
        shrunk = [(c, left.reason) for c, left in self.shrunk if left.reason is not None and node is self.nodes[0]]
        return shrunk + [
            (cycle, left.reason)
            for first, last, left in node.classes
            if left.reason is not None
            for cycle in at[bisect_right(at, first) - 1 : bisect_right(at, last)]
        ]

    @staticmethod
    def _fails(node: Left) -> bool:
        return any(left.reason is not None for _, _, left in node.classes)

    def _open(self, node: Left) -> None:
        """Walk the run behind a cut, to cut it too."""
        assert node.snapshot is not None
        run = self.run
        run.machine.restore(node.snapshot)
        booted = run.machine.cycles
        node.stretch = run.stretch_behind()
        # The walk has ended at the goal.
        node.origin = run.machine.cycles - node.stretch.cycles
        node.cycles = run.machine.cycles - booted

    def _walk(
        self, node: Left, at: Sequence[int], stop_at_first: bool, progress: Callable[[int, int], None] | None
    ) -> bool:
        """Cut a stretch at the points, which rise; true if more was found than was known before."""
        grown, done, survived = False, 0, -1
        node.classes, node.alone = [], {}
        while done < len(at):
            cycle = at[done]
            taken, new = self._play(node, cycle)
            left = taken.left
            grown |= new | self._join(node, cycle, taken)
            behind = max(bisect_right(at, self._last(node, cycle, taken)), done + 1)
            if left.reason is not None:
                behind = done + 1 if stop_at_first else behind
                if node is self.nodes[0] and not self._fails(node) and not self.shrunk:
                    self._shrink(node, survived, cycle)
            survived = at[behind - 1]
            node.classes.append((cycle, survived, left))
            if self.losses == 1:
                left.seen = None  # nobody asks again, and there may be a million of them
            done = behind
            if progress is not None:
                progress(done, len(at))
            if left.reason is not None and stop_at_first:
                break
        return grown

    def _join(self, node: Left, cycle: int, taken: Taken) -> bool:
        """Have a run read what the one behind its cut reads; true if that is more than was known."""
        left = taken.left
        if node.seen is None or left.seen is None or taken.joined == left.grown:
            return False
        more = node.seen.join(self.run.machine.engine, node.origin + cycle, self.off_ps, left.seen)
        taken.joined = left.grown
        node.grown += more
        return more

    def _play(self, node: Left, cycle: int) -> tuple[Taken, bool]:
        """Cut a stretch at a cycle; return what that is taken for, and whether that changes what is known."""
        run, engine = self.run, self.run.machine.engine
        if (known := node.plays.get(cycle)) is not None and known.holds():
            return known, False
        assert node.stretch is not None
        noise = self.seed * 0x9E3779B97F4A7C15
        for earlier in node.path:
            noise = (noise + earlier + 1) * 0xD1342543DE82EF95
        noise += cycle * (1 + len(self.again))
        node.stretch.cut(cycle, self.off_ps, noise % 2**64)
        path = (*node.path, cycle)
        left = Left(path, run=self.runs)
        taken = Taken(left, None, 0)
        deeper = self.losses != 1
        if deeper:
            left.kept = self._like = engine.left(self.off_ps, self._like)
            if not self.brute and (same := self._recognise(left)) is not None:
                node.plays[cycle] = same
                return same, known is not None
            node.plays[cycle] = taken
        new = self._keep(left, path)
        booted = engine.cycles
        self.runs += 1
        run.asked.clear()
        if not self.brute:
            engine.follow()
        left.reason = self._further_cuts(noise)
        left.cycles = engine.cycles - booted
        left.seen, left.asked = engine.followed(), ", ".join(f"`{name}`" for name in sorted(run.asked))
        followed = left.seen is not None and left.seen.alone is None
        if deeper and left.kept is not None and not left.asked and followed:
            if self._deep_enough(path):
                self._known.append(left)
            else:
                self._last_left.append(left)
        elif deeper and not self._deep_enough(path):
            left.kept = None
        if len(self._last_left) > LAST_KEPT:
            # Both take hundreds of kilobytes.
            forgotten = self._last_left.popleft()
            forgotten.kept = forgotten.seen = None
        if new and left.reason is not None:
            self.nodes.remove(left)
            new = False
        elif not new and left.reason is None and self._deep_enough(path):
            left.uncut = True
            self.uncut.append(left)
        return taken, new or known is not None

    def _recognise(self, found: Left) -> Taken | None:
        """Find a known state that has the same run, and the same runs behind the cuts that may follow."""
        if found.kept is None:
            return None
        last: Sequence[Left] = () if self._deep_enough(found.path) else self._last_left
        for left in (*self._known, *last):
            assert left.kept is not None and left.seen is not None
            differing = found.kept.differing(left.kept)
            if differing is None or differing.read_by(left.seen):
                continue
            # It may have been met so deep that its recovery was cut less often, or not at all.
            cut = left.snapshot is not None and (self.losses is None or len(left.path) <= len(found.path))
            if cut or left.reason is not None or left.uncut or not self._deep_enough(found.path):
                return Taken(left, differing, left.grown)
        return None

    def _deep_enough(self, path: tuple[int, ...]) -> bool:
        """Say whether a recovery behind these cuts is to be cut, too."""
        return self.losses is None or len(path) < self.losses

    def _keep(self, left: Left, path: tuple[int, ...]) -> bool:
        """Have the recovery that the machine is about to begin cut too, if so many losses are asked for."""
        if not self._deep_enough(path) or len(self.nodes) > self.recoveries_most:
            return False
        left.snapshot = self.run.machine.snapshot()
        self.nodes.append(left)
        return True

    def changing(self) -> dict[str, int]:
        """Return what told recoveries that were not cut from those that were: objects, with the values they had."""
        found: dict[tuple[str, int, int], set[bytes]] = {}
        for left in self.uncut[:UNCUT_NAMED]:
            for name in self._told_by(left):
                found[name] = set()
        for name, values in found.items():
            held = (left.kept.bytes(*name[1:]) for left in (*self.nodes, *self.uncut) if left.kept is not None)
            values.update(bytes(value) for value in held if value is not None)
        if self.uncut and all(left.kept is None for left in self.uncut):
            return {NOT_COMPARED: len(self.uncut)}
        if self.uncut and not found:
            return {"registers or parts": len(self.uncut)}
        return {name: len(values) for (name, _, _), values in sorted(found.items(), key=lambda f: -len(f[1]))}

    def _told_by(self, left: Left) -> list[tuple[str, int, int]]:
        """Return the objects by which a state differs from the known one that is nearest."""
        best: list[int] | None = None
        for known in self.recoveries:
            if left.kept is None or known.kept is None or known.seen is None or known is left:
                continue
            differing = left.kept.differing(known.kept)
            seen = [] if differing is None else differing.seen_by(known.seen)
            if seen and (best is None or len(seen) < len(best)):
                best = seen
        engine = self.run.machine.engine
        named = [engine.object_at(addr) or (f"{addr:#07x}", addr, 1) for addr in best or ()]
        return sorted({(name, addr, size) for name, addr, size in named if size})

    def _further_cuts(self, noise: int) -> str | None:
        """Run on behind a reboot, through the cuts of `again`; return what is wrong at the end, if anything."""
        run, engine = self.run, self.run.machine.engine
        for n, more in enumerate(self.again, 1):
            run.begin()
            stops = [] if run.call is not None else [*run.goals, *run.assertions]
            if not engine.power_cut_in(run.machine.cycles + more, stops):
                return run.outcome(self.told, there=bool(stops))
            self.twice[n - 1] += 1
            engine.reboot(self.off_ps, (noise + n) % 2**64)
        run.begin()
        return run.outcome(self.told)

    def _last(self, node: Left, cycle: int, taken: Taken) -> int:
        """Return the last cut of the class of the one that left this: itself, if it stands alone."""
        if self.brute:
            return cycle
        assert node.stretch is not None
        left = taken.left
        if taken.last is not None:
            last, why = taken.last
        else:
            last, why = node.stretch.covers(cycle, self.off_ps, left.seen)
            if not self._deep_enough(left.path):
                taken.last = last, why
        if left.asked:
            why = f"the checks ask the machine for {left.asked}"
        elif last is not None:
            return last
        node.alone[str(why)] = node.alone.get(str(why), 0) + 1
        return cycle

    def _shrink(self, node: Left, good: int, bad: int) -> None:
        """Look for an earlier failure between a cut that was survived and one that was not."""
        assert node.stretch is not None
        for earlier in [w for w in node.stretch.writes if good < w < bad][:SHRINK_CUTS]:
            taken = self._play(node, earlier)[0]
            left = taken.left
            self.shrunk.append((earlier, left))
            self._last(node, earlier, taken)
            if left.reason is not None:
                return


def _further(progress: Callable[[int, int], None], cut: int, total: int) -> Callable[[int, int], None]:
    """Tell progress of one stretch as that of all so far."""
    return lambda done, points: progress(cut + done, total + points)


def points_of(stretch: _engine.Stretch, points: Points | str) -> Sequence[int]:
    """Return the cycles of a stretch at which it is cut."""
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


def kept(counts: _engine.Counts) -> int:
    """Return how often non-volatile memory was written or erased, by the events that are counted of it."""
    return sum(times for event, times in counts.counts().items() if KEPT.match(event))


def enough(stretch: _engine.Stretch, points: Points | str, every: int, chosen: int) -> None:
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
