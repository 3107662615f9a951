# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs of a program under a debugger: to breakpoints, by statements and instructions, through losses of the supply."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sunseal._engine import EngineError
from sunseal.catalog import units
from sunseal.debug.frames import AVR_HANDLER, Frame, Stack
from sunseal.debug.source import Program
from sunseal.errors import SunsealError
from sunseal.machine.running import Bench, Spent

SLICE_S = (1e-3, 1.0)
"""Machine time between two looks at the client: the shortest, and the longest, of what takes the host no time."""
LOOK_S = 0.05
"""Time of the host that a slice may take before the next one is shorter."""
CALLS = ("CALL", "CALLA", "RCALL", "ICALL", "BL", "BLX")
"""Mnemonics of calls, by instruction set."""


@dataclass(frozen=True)
class Stopped:
    """Reason for which a program stands still."""

    reason: str
    description: str
    text: str = ""
    hits: tuple[int, ...] = ()
    """Breakpoints that it stands at."""


@dataclass(frozen=True)
class Exited:
    """End of a program that left by semihosting."""

    status: int


@dataclass(frozen=True)
class Plan:
    """Places at which a run may end, and what says of a hit one that it does."""

    places: tuple[int, ...] = ()
    ends: Callable[[int], bool] = lambda _: True
    reason: str = "step"
    once: bool = False
    """True for a single instruction."""


class Runner:
    """A bench whose program runs in slices, so that a client is heard in between."""

    def __init__(self, bench: Bench, program: Program, off_s: float, losses_s: Iterable[float]) -> None:
        """Hold the program where it stands; the supply goes away at `losses_s`, for `off_s` each time."""
        self.bench, self.program, self.off_s = bench, program, off_s
        self.stack = Stack(bench.machine, program)
        self.breakpoints: dict[int, set[int]] = {}
        """Numbers of the breakpoints at an address."""
        self.stops_at_loss = True
        self.say: Callable[[str], object] = lambda _: None
        """Tells the client what happens while the program runs."""
        self.last: Spent | str = Spent()
        """Cycles and joules between the last two stops."""
        self.total: Spent | str = Spent()
        self._losses = sorted(losses_s)
        self._count = 0
        self._off = False
        self._plan = Plan()
        self._slice_s = SLICE_S[0]
        self._moment = bench.machine.engine.moment()
        self._all: tuple[int, ...] = ()

    @property
    def off(self) -> bool:
        """True while the supply is away."""
        return self._off

    # --- Where it goes ---------------------------------------------------------------------------

    def go(self, plan: Plan | None = None) -> None:
        """Let the program go on; where the supply is away it comes back first, and the program starts anew."""
        self._plan = plan or Plan()
        if self._off:
            self._count += 1
            self.bench.machine.engine.reboot(round(self.off_s * 1e12), self._count)
            self._off = False
        self._slice_s = SLICE_S[0]
        self.placed()

    def placed(self) -> None:
        """Take over the breakpoints, which may change while the program runs."""
        self._all = tuple(sorted({*self.breakpoints, *self._plan.places}))

    def over(self, into: bool = False) -> Plan:
        """Plan a step to the next statement of this function or its caller, with `into` of a function it calls."""
        frames = self.stack.frames()
        top, row = frames[0], self.program.row(frames[0].pc)
        caller = frames[1] if len(frames) > 1 else None
        bodies = set(self._bodies()) if into or row is None else set()
        own: set[int] = set()
        if row is not None and top.function is not None:
            here = (row.file, row.line)
            rows = self.program.within(top.function)
            own = {r.address for r in rows if r.starts and r.line and (r.file, r.line) != here} - bodies

        def ends(pc: int) -> bool:
            if caller is not None and pc == caller.pc and self._returned(top):
                return True
            now = self.stack.top()
            alike = None in (now.cfa, top.cfa) or now.cfa == top.cfa
            return (pc in own and alike) or (pc in bodies and (row is None or not alike or pc in own))

        return Plan(tuple(own | bodies | ({caller.pc} if caller is not None else set())), ends)

    def out(self) -> Plan:
        """Plan a run to this function's return."""
        frames = self.stack.frames()
        if len(frames) < 2:
            raise SunsealError("this function has no caller that can be told, so there is nowhere to step out to")
        return Plan((frames[1].pc,), lambda _: self._returned(frames[0]))

    def instruction(self, over: bool) -> Plan:
        """Plan a step of one instruction, with `over` a call as one."""
        machine = self.bench.machine
        told = machine.disassemble((machine.pc, 2))[0]
        if not over or told.text.split()[0].upper() not in CALLS:
            return Plan(once=True)
        sp = machine.registers["SP"]
        return Plan((told.address + len(told.data),), lambda _: machine.registers["SP"] >= sp)

    def to(self, place: str) -> Plan:
        """Plan a run to a symbol, as at the beginning."""
        return Plan((self.bench.machine.address(place),), reason="entry")

    def _returned(self, frame: Frame) -> bool:
        """Say whether a frame's function has returned: the stack grows down on all cores."""
        core = self.stack.core
        return frame.cfa is None or core.registers()[core.sp] >= frame.cfa

    def _bodies(self) -> list[int]:
        handlers = self.stack.core.handlers()
        found = [f for f in self.program.functions if f.low not in handlers and not f.name.startswith(AVR_HANDLER)]
        return [self.program.body(f) for f in found if self.program.row(f.low) is not None]

    # --- Running ---------------------------------------------------------------------------------

    def slice(self) -> Stopped | Exited | None:
        """Run for a while; return how it ended, if it did."""
        began = time.monotonic()
        machine = self.bench.machine
        span_s = self._slice_s
        if self._losses:
            span_s = min(span_s, max(self._losses[0] - machine.time_s, 0.0))
        try:
            kind = self.bench.advance(list(self._all), span_s, once=self._plan.once)
            loop = machine.reset_loop()
        except EngineError as e:
            return self.stopped(Stopped("exception", "Fault", str(e)))
        took_s = time.monotonic() - began
        self._slice_s = min(max(self._slice_s * (2.0 if took_s < LOOK_S else 0.5), SLICE_S[0]), SLICE_S[1])
        if self.bench.left is not None:
            return Exited(self.bench.left)
        if kind == "brown-out":
            return self._lost()
        if self._losses and machine.time_s >= self._losses[0] - 1e-12:
            self._losses.pop(0)
            machine.power_cut()
            return self._lost()
        if loop is not None:
            return self.stopped(Stopped("exception", "Reset again and again", loop))
        if kind == "halted" and not self.bench.awaits_input:
            why = machine.engine.asleep_for_good()
            text = f"it has stopped for good at {machine.describe(machine.pc)}" + (f": {why}" if why else "")
            return self.stopped(Stopped("halted", "Stopped for good", text))
        return self._arrived(machine.pc) if kind == "pc" or self._plan.once else None

    def _arrived(self, pc: int) -> Stopped | None:
        if hits := self.breakpoints.get(pc):
            return self.stopped(Stopped("breakpoint", "Stopped at a breakpoint", hits=tuple(sorted(hits))))
        if self._plan.once or (pc in self._plan.places and self._plan.ends(pc)):
            return self.stopped(Stopped(self._plan.reason, "Stopped behind a step"))
        return None

    def cut(self) -> Stopped:
        """Take the supply away."""
        if self._off:
            raise SunsealError("the supply is away already; go on and it comes back")
        self.bench.machine.power_cut()
        self._off = True
        return self.stopped(self._loss())

    def _lost(self) -> Stopped | None:
        self._off = True
        loss = self._loss()
        if self.stops_at_loss:
            return self.stopped(loss)
        self.say(loss.text)
        self.go(self._plan if self._plan.reason == "entry" else None)
        return None

    def _loss(self) -> Stopped:
        at, off = units.show(self.bench.time_s, "s"), units.show(self.off_s, "s")
        text = (
            f"power lost at {at}: RAM and registers are gone; the supply comes back {off} later, and the program starts"
        )
        return Stopped("power lost", "Power lost", text)

    def stopped(self, why: Stopped) -> Stopped:
        """Draw a line under what was counted since the last stop."""
        try:
            self.last = self.bench.spent(self._moment)
            self.total = self.total if isinstance(self.total, str) else self.total + self.last
        except (SunsealError, EngineError) as e:
            self.last = self.total = str(e)
        self._moment = self.bench.machine.engine.moment()
        return why

    def command(self, line: str) -> str | Stopped | None:
        """Carry out a command of the debug console; None where it is none."""
        word, _, rest = line.strip().partition(" ")
        machine = self.bench.machine
        match word:
            case "help":
                return HELP
            case "cut":
                return self.cut()
            case "reset":
                machine.reset()
                return self.stopped(Stopped("reset", "Reset", f"reset; next is {machine.describe(machine.pc)}"))
            case "vcc":
                if rest:
                    machine.vcc_v = units.parse(rest, "V", "vcc")
                return f"{machine.vcc_v:g} V, {'off' if self._off else 'on'}"
            case "type":
                self.bench.send(rest.encode().decode("unicode_escape").encode("latin-1"))
                return f"{rest} is typed once the program runs"
            case "states":
                return "\n".join(f"{component}: {state}" for component, state in machine.states().items())
            case "lints":
                return "\n".join(machine.lints()) or "nothing that works here and fails on a chip"
        return None


HELP = """cut          take the supply away; `continue` lets it come back, and the program starts anew
reset        reset with the supply on
vcc [VOLTS]  show or set the supply
type TEXT    type into the UART, \\n and the like as in C
states       each component's state
lints        what the program did that works here and fails on a chip
NAME         a variable, a register or an I/O register; NAME = VALUE changes it"""
