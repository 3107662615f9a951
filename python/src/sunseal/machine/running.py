# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program on a board as on a bench: its terminal, voltages and levels at its inputs, until something is seen.

>>> from sunseal import Bench
>>> node = Bench("msp430fr5994-launchpad", "boot.elf")  # doctest: +SKIP
>>> node.run(until_uart="ready", within="2s")  # doctest: +SKIP
Ended(why='uart', exit_status=0, detail="eusci_a0 wrote `ready`")
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sunseal import _engine
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, coprocessor, power_sets, units
from sunseal.errors import SunsealError
from sunseal.machine import abi, instructions, machine, waveforms
from sunseal.machine.machine import Machine, Places
from sunseal.requests.asking import allowed_of

if TYPE_CHECKING:
    from sunseal.machine.air import Air, Frame
    from sunseal.machine.instructions import Trace

Why = Literal["until", "uart", "exit", "halted", "reset loop", "brown-out", "time", "failed", "debugger"]
SLICE_S = (1e-3, 0.25)
"""Machine time between two looks at the terminal: the shortest, where it talks, and the longest."""
PS = 10**12
BKPT_SEMIHOSTING = b"\xab\xbe"
"""BKPT 0xAB in Thumb code: Arm, Semihosting for AArch32 and AArch64 (2022), section 3.1."""
TEXT_BYTES_MAX = 1 << 16


@dataclass(frozen=True)
class Ended(Shown):
    """Reason for which a run ended, with the exit status that goes with it: what the program asked for by semihosting,
    1 of a loop.

    `Bench.run` raises where a run failed; only the command line writes that down as `failed`.
    """

    why: Why
    detail: str
    exit_status: int = 0


@dataclass(frozen=True)
class Spent:
    """Cycles, time and joules of a stretch of a run: the chip's, at the supply."""

    cycles: int = 0
    time_s: float = 0.0
    energy_j: float = 0.0
    by_component_j: dict[str, float] = field(default_factory=dict)

    def __add__(self, other: Spent) -> Spent:
        """Add the counts of another run."""
        both = {name: j + other.by_component_j.get(name, 0.0) for name, j in self.by_component_j.items()}
        return Spent(
            self.cycles + other.cycles,
            self.time_s + other.time_s,
            self.energy_j + other.energy_j,
            {**other.by_component_j, **both},
        )


class Bench:
    """A board with a program, just powered on, whose terminal and inputs are in your hands."""

    def __init__(
        self,
        board: str,
        elf: str | os.PathLike[str] | bytes,
        *,
        uart: str | None = None,
        baud: int | None = None,
        power: str | None = None,
        vcc_v: float | None = None,
        air: Air | None = None,
        x_m: float = 0.0,
        y_m: float = 0.0,
        i2c: Sequence[str] = (),
        spi: Sequence[str] = (),
        seed: int = 0,
        allow: Sequence[str] = (),
    ) -> None:
        """Put a program on a board.

        With an `air`, its radio's antenna stands there, and `Air.run` or `machine.network` runs it with the others.
        `uart` is the serial interface that `send` types into, by default the one that the board leads out; `baud`
        is how fast (8N1), else as the program set it. `power` is the power set that `energy_j` is weighed with, `vcc_v`
        the supply. `i2c` and `spi` are devices on its buses as `sunseal run` takes them, `0x48=tmp102:21.5C`. `seed`
        chooses the unit, as for `Machine`; `allow` is what `--allow` names, "overclock".
        """
        if boards.library().find("boards", board) is None:
            raise SunsealError(
                f"`{board}` is no board; known: {', '.join(boards.names('boards'))}",
                hint="a bench needs a board's supply and crystals; `sunseal.Machine` runs a bare device",
            )
        switches = dict.fromkeys(allowed_of(list(allow), "allow"), True)
        if air is None:
            self.machine = Machine(board, elf, seed=seed, timing=switches)
        else:
            self.machine = air.machine(board, elf, x_m=x_m, y_m=y_m, seed=seed, timing=switches)
        self._allow = tuple(allow)
        self.board = board
        if power is not None:
            boards.power_set_path(power, self.machine.device)  # an unknown one is an error now
        if vcc_v is not None:
            self.machine.vcc_v = vcc_v
        self.serials = self.machine.engine.serials()
        self.uart = uart if uart is not None else self.machine.led_out
        if self.uart is not None and self.uart not in self.serials:
            raise SunsealError(f"{board} has no serial interface `{self.uart}`; it has {', '.join(self.serials)}")
        self.received: dict[str, bytearray] = {}
        """Bytes that each interface has written since power-on."""
        self.console = bytearray()
        """Text that the program has written by semihosting."""
        self._power = power
        self._line = None if self.uart is None else self.machine.uart(self.uart, baud=baud)
        self._exit: int | None = None
        self._traced: list[Trace] | None = None
        self._weights: power_sets.PowerSet | None = None
        self._sample: Callable[[], object] | None = None
        self._sent: list[Frame] = []
        self._resets_before = self.machine.resets
        self._drives: list[tuple[int, int, str, bool | None, Iterator[tuple[int, bool | None]]]] = []
        self._order = itertools.count()
        self.on_output: Callable[[str, bytes], object] | None = None
        """Called with an interface, or `semihosting`, and what it has just written."""
        self.on_slice: Callable[[Bench], object] | None = None
        """Called each time the machine stands still for a look at the terminal."""
        for bus, listed in (("i2c", i2c), ("spi", spi)):
            for given in listed:
                self.put(bus, given)

    # --- What goes in ----------------------------------------------------------------------------

    def send(self, data: bytes | str, at_s: float | None = None) -> None:
        """Type into the UART, behind what was typed before, from `at_s` of machine time on."""
        if self._line is None:
            raise SunsealError(f"{self.board} leads no UART out: name one of {', '.join(self.serials)} as `uart`")
        self._line.send(data, at_s)

    def adc(self, channel: int, volts: float | Sequence[tuple[float, float]]) -> None:
        """Connect a voltage, or points of machine time in seconds and volts with straight lines between them."""
        self.machine.adc(channel, volts)

    def pin(self, name: str, levels: bool | Sequence[tuple[float, bool | None]] | None) -> None:
        """Drive a pin: a level, or points of machine time in seconds and level; None lets go of it."""
        if levels is None or isinstance(levels, bool):
            self.machine.set_pin(name, levels)
            return
        self.machine.pin(name)  # an unknown name is an error now
        self._drive(name, iter([(round(t * PS), level) for t, level in levels]))

    def toggle(self, name: str, freq_hz: float) -> None:
        """Drive a pin with a square wave that starts low: `freq_hz` whole periods a second."""
        if not 0 < freq_hz <= 1e6:
            raise SunsealError(f"{name} cannot toggle at {freq_hz:g} Hz: give more than 0 and at most 1 MHz")
        self.machine.set_pin(name, False)
        half_ps = PS / (2 * freq_hz)
        start = self._now_ps
        self._drive(name, ((start + round(n * half_ps), n % 2 == 1) for n in itertools.count(1)))

    def i2c(
        self,
        address: int | Sequence[int],
        device: object,
        *,
        serial: str | None = None,
        name: str | None = None,
        **inputs: Any,
    ) -> Any:
        """Put a device on an I2C bus, as `Machine.i2c` does."""
        return self.machine.i2c(address, device, serial=serial, name=name, **inputs)

    def spi(
        self, select: str | None, device: object, *, serial: str | None = None, name: str | None = None, **inputs: Any
    ) -> Any:
        """Put a device on an SPI bus, as `Machine.spi` does."""
        return self.machine.spi(select, device, serial=serial, name=name, **inputs)

    def put(self, bus: str, given: str, folder: Path | None = None) -> Any:
        """Put a device of the package on a bus as text: `[SERIAL:]ADDRESS=DEVICE:INPUTS` on `i2c`, a pin on `spi`.

        Files are looked for in `folder`.
        """
        from sunseal.machine import devices

        return devices.put(self.machine, bus, given, folder)

    def _drive(self, name: str, points: Iterator[tuple[int, bool | None]]) -> None:
        following = next(points, None)
        if following is not None:
            heapq.heappush(self._drives, (following[0], next(self._order), name, following[1], points))

    def quiet_s(self, most_s: float) -> float:
        """Return the seconds up to which no pin is driven, or `most_s`."""
        return min(most_s, (self._drives[0][0] - self._now_ps) / PS) if self._drives else most_s

    def drive_due(self) -> None:
        """Drive the pins whose time has come, before the machine runs on."""
        while self._drives and self._drives[0][0] <= self._now_ps:
            _, _, name, level, points = heapq.heappop(self._drives)
            self.machine.set_pin(name, level)
            self._drive(name, points)

    @contextlib.contextmanager
    def recording(
        self, path: Path, pins: Sequence[str] = (), *, states: bool = True, exact: bool = False
    ) -> Iterator[None]:
        """Write all that runs here as a waveform, `.vcd` or `.fst`: these pins, or all that move, and states.

        A tick is the coarsest that keeps each two changes of a signal apart; with `exact` a picosecond.
        """
        components = [name for name, _ in self.machine.engine.states()] if states else []
        with waveforms.into(path) as (place, fst):
            self.machine.engine.record(place, list(pins), states, exact)
            try:
                yield
            finally:
                names = self.machine.engine.recorded(fst)
        waveforms.name_states(path, self.machine.device, components, names)

    @contextlib.contextmanager
    def tracking(self, path: Path) -> Iterator[None]:
        """Write all that runs here as a trace for Perfetto: states, pins that move, supply, joules by component."""
        from sunseal.machine import timeline

        samples: list[timeline.Sample] = []

        def sample() -> None:
            joules = self.spent().by_component_j
            samples.append(timeline.Sample(self._now_ps, self.machine.vcc_v, joules))

        self.spent()  # a set of coefficients that does not fit is an error now
        self._sample = sample
        with tempfile.TemporaryDirectory(prefix="sunseal.") as folder:
            dump = Path(folder) / "run.vcd"
            try:
                with self.recording(dump, exact=True):
                    yield
            finally:
                self._sample = None
                sample()
                if dump.is_file():
                    timeline.write(path, f"{self.board}: {self.machine.device}", dump, samples)

    def keep_trace(self) -> None:
        """Take down each instruction that runs from now on, for `trace`: some hundred thousand a second."""
        self._traced = []

    @property
    def trace(self) -> Trace:
        """Return what has run since `keep_trace`, as `Machine.trace` returns it."""
        import numpy as np

        if not self._traced:
            raise SunsealError("nothing has been traced: call `keep_trace`, then run")
        return np.concatenate(self._traced)

    def keep_frames(self) -> None:
        """Keep what the radio sends from now on, for `frames`. On an air of several, `Air.frames` has it."""
        if self.machine.radio is None:
            raise SunsealError(f"{self.board} has no radio, so it sends no frames")
        self.machine.engine.keep_sent()

    # --- What comes out --------------------------------------------------------------------------

    @property
    def frames(self) -> list[Frame]:
        """Return what the radio has sent since `keep_frames`, in the order in which it ended."""
        from sunseal.machine.air import frames_of

        self._sent += frames_of(self.machine.engine.take_sent(), [self.machine])
        return self._sent

    @property
    def _now_ps(self) -> int:
        return self.machine.engine.time_ps

    @property
    def time_s(self) -> float:
        """Machine time since power-on in seconds."""
        return self.machine.time_s

    @property
    def text(self) -> str:
        """Return what the board's UART has written, or the only one that has, as text."""
        return self._talking().decode("utf-8", errors="replace")

    def _talking(self) -> bytes:
        wrote = [name for name, data in self.received.items() if data]
        if self.uart in wrote or len(wrote) != 1:
            return bytes(self.received.get(self.uart or "", b"")) or bytes(self.console)
        return bytes(self.received[wrote[0]])

    @property
    def energy_j(self) -> float:
        """Return what the chip drew since power-on in joules, by the power set, at the supply; without radio and LEDs.

        A coprocessor in an FPGA is counted, on each of its supplies.
        """
        return self.spent().energy_j

    def spent(self, since: _engine.Moment | None = None) -> Spent:
        """Return cycles, time and joules since a moment of the engine's or since power-on, weighed as `energy_j` is."""
        if self._weights is None:
            self._weights = power_sets.PowerSet(self._power or boards.DEFAULT_POWER, self.board, self._allow)
        weights = self._weights
        counts = self.machine.engine.counts(since)
        mote = weights.inner.weigh_as_run(coprocessor.without(self.board, counts), self.machine.vcc_v)
        energy_j = power_sets.with_coprocessor(mote, self.board, counts).energy_j[0]
        return Spent(counts.cycles, counts.time_s, energy_j, {n: j for n, j in mote.by_component_j.items() if j})

    @property
    def resets(self) -> int:
        """Count how often the program was reset since power-on, by whatever."""
        return self.machine.resets - self._resets_before

    def explain_resets(self) -> str | None:
        """Say how many resets there were since power-on and what the last came from; None without any."""
        return self.machine.explain_resets(self._resets_before)

    # --- Running ---------------------------------------------------------------------------------

    def run(
        self,
        until: Places = None,
        *,
        until_uart: str | bytes | None = None,
        within: str | float | None = None,
    ) -> Ended:
        """Run to a symbol or one of several, until a UART has written a text from now on, or for so long.

        With `until` or `until_uart`, `within` is a deadline: a run that does not get there raises SunsealError. Without
        them it ends by `within`, by the program's end, or where the program is reset again and again. `within` is in
        seconds of machine time, or a text such as `2s`. A text is seen up to a millisecond of machine time after its
        last byte. A fault of the program raises EngineError.
        """
        span_s = units.time_s(within, "within") if isinstance(within, str) else within
        end_ps = None if span_s is None else self._now_ps + round(span_s * PS)
        goals = self.machine.addresses(until)
        wanted = until_uart.encode() if isinstance(until_uart, str) else until_uart
        seen_from = {name: len(data) for name, data in self.received.items()}
        slice_s = SLICE_S[0]
        while True:
            self.drive_due()
            kind, slept = self._slice(goals, end_ps, slice_s)
            wrote = self.collect()
            slice_s = SLICE_S[0] if wrote or not slept else min(2 * slice_s, SLICE_S[1])
            if self._sample is not None:
                self._sample()
            if self.on_slice is not None:
                self.on_slice(self)
            if machine.watching is not None:
                machine.watching(self.machine.cycles)
            if kind == "halted" and not goals and wanted is None and end_ps is not None and end_ps > self._now_ps:
                # What sleeps for good still draws: the time that was asked for passes.
                kind, slice_s = "asleep", max(slice_s, (end_ps - self._now_ps) / PS)
            found = self._ended(kind, goals, wanted, seen_from, end_ps)
            if found is not None:
                missed = (until is not None or wanted is not None) and found.why not in ("until", "uart")
                if missed:
                    aim = _missed(until) if wanted is None else f"no UART wrote `{_shown(wanted)}`"
                    raise SunsealError(f"{aim}: {found.detail}; {self._last_words()}")
                return found

    def advance(self, goals: list[int], span_s: float, *, once: bool = False) -> str:
        """Run to one of the addresses or for so long, or with `once` a single instruction, for who looks on in between.

        Returns what ended it: `pc`, `time`, `halted`, `brown-out`, `semihosting`, or `step`.
        """
        self.drive_due()
        kind = "step"
        if once:
            try:
                self.machine.step()
            except _engine.EngineError:
                if not self._semihosting():
                    raise
        else:
            kind, _ = self._slice(goals, None, span_s)
        self.collect()
        return kind

    @property
    def left(self) -> int | None:
        """Status with which the program has left by semihosting; None while it has not."""
        return self._exit

    @property
    def awaits_input(self) -> bool:
        """Tell whether pins are still to be driven, or something is being typed."""
        typing = self._line is not None and self._line.typed_until_ps > self._now_ps
        return bool(self._drives) or typing

    def _slice(self, goals: list[int], end_ps: int | None, slice_s: float) -> tuple[str, bool]:
        """Run for a slice of machine time; say how it ended, and whether nothing was typed or driven in it."""
        stop_ps = self._now_ps + round(slice_s * PS)
        quiet = True
        if self._drives:
            stop_ps, quiet = min(stop_ps, self._drives[0][0]), False
        if end_ps is not None:
            stop_ps = min(stop_ps, end_ps)
        try:
            return self._run(stop_ps, goals), quiet
        except _engine.EngineError:
            if not self._semihosting():
                raise
            return "semihosting", False

    def _run(self, stop_ps: int, goals: list[int]) -> str:
        if self._traced is None:
            return self.machine.engine.run(None, stop_ps, goals, None)[0]
        left = instructions.MOST - sum(map(len, self._traced))
        rows, (kind, told) = instructions.trace(self.machine.engine, left, (None, stop_ps, goals, None))
        self._traced.append(rows)
        if kind == "fault":
            raise _engine.EngineError(told)
        if kind == "state":
            raise instructions.full(instructions.MOST)
        return kind

    def collect(self) -> bool:
        """Take what the UARTs have written; say whether it was anything."""
        wrote = self.machine.take_uarts()
        for name, data in wrote.items():
            self.received.setdefault(name, bytearray()).extend(data)
            if self.on_output is not None:
                self.on_output(name, data)
        return bool(wrote)

    def _ended(
        self, kind: str, goals: list[int], wanted: bytes | None, seen_from: dict[str, int], end_ps: int | None
    ) -> Ended | None:
        m = self.machine
        if wanted is not None:
            for name, data in self.received.items():
                if wanted in data[max(0, seen_from.get(name, 0)) :]:
                    return Ended("uart", f"{name} wrote `{_shown(wanted)}`")
            if wanted in self.console:
                return Ended("uart", f"the program wrote `{_shown(wanted)}` by semihosting")
        if self._exit is not None:
            return Ended("exit", f"the program left by semihosting with status {self._exit}", self._exit)
        if kind == "pc" and m.pc in goals:
            return Ended("until", f"it stands at {m.describe(m.pc)}")
        if kind == "brown-out":
            return Ended("brown-out", "the supply is too low to run")
        if kind == "halted" and not self.awaits_input and self.on_slice is None:
            why = m.engine.asleep_for_good()
            return Ended("halted", f"it has stopped for good at {m.describe(m.pc)}" + (f": {why}" if why else ""))
        loop = m.reset_loop()
        if loop is not None:
            return Ended("reset loop", loop, 1)
        if end_ps is not None and self._now_ps >= end_ps:
            why = m.engine.asleep_for_good()
            over = f"{units.show(self.time_s, 's')} of machine time are over"
            return Ended("time", f"{over}; {why}" if why else over)
        return None

    def _last_words(self) -> str:
        said = self._talking()
        return f"its last words were `{_shown(said[-200:])}`" if said else "it has written nothing"

    # --- Semihosting -----------------------------------------------------------------------------

    def _semihosting(self) -> bool:
        """Answer a call of the debugger by Thumb code; False where the machine stands at no such call."""
        m = self.machine
        if not isinstance(abi.of(m.device), abi.Arm) or m.read(m.pc, 2) != BKPT_SEMIHOSTING:
            return False
        operation, argument = m.registers["R0"], m.registers["R1"]
        m.registers["R0"] = self._semihosting_call(operation, argument) & 0xFFFF_FFFF
        m.registers["PC"] = m.pc + 2
        return True

    def _semihosting_call(self, operation: int, argument: int) -> int:
        # Arm, Semihosting for AArch32 and AArch64 (2022), section 5: numbers and parameter blocks of the operations.
        m = self.machine

        def word(i: int) -> int:
            return int.from_bytes(m.read(argument + 4 * i, 4), "little")

        match operation:
            case 0x01:  # SYS_OPEN: `:tt`, the console, alone
                name = m.read(word(0), min(word(2), TEXT_BYTES_MAX))
                return (2 if word(1) >= 4 else 1) if name == b":tt" else -1
            case 0x02 | 0x09:  # SYS_CLOSE; SYS_ISTTY
                return 0 if operation == 0x02 else 1
            case 0x03:  # SYS_WRITEC
                self._say(m.read(argument, 1))
            case 0x04:  # SYS_WRITE0
                self._say(self._string(argument))
            case 0x05:  # SYS_WRITE
                self._say(m.read(word(1), min(word(2), TEXT_BYTES_MAX)))
                return 0
            case 0x06:  # SYS_READ: the end of the file at once, all bytes unread
                return word(2)
            case 0x13:  # SYS_ERRNO
                return 0
            case 0x18:  # SYS_EXIT; ADP_Stopped_ApplicationExit is the good end
                self._exit = 0 if argument == 0x20026 else 1
            case 0x20:  # SYS_EXIT_EXTENDED
                self._exit = word(1) & 0xFF if word(0) == 0x20026 else 1
            case 0x10 | 0x11:  # SYS_CLOCK in hundredths of a second; SYS_TIME in seconds
                return int(self.time_s * (100 if operation == 0x10 else 1))
            case _:
                raise SunsealError(
                    f"the program asks its debugger for semihosting operation {operation:#04x} at "
                    f"{m.describe(m.pc)}, which is not answered here",
                    hint="console output, exit and the clock are: SYS_WRITE0, SYS_WRITEC, SYS_WRITE, SYS_EXIT",
                )
        return 0

    def _string(self, address: int) -> bytes:
        text = bytearray()
        while len(text) < TEXT_BYTES_MAX and (byte := self.machine.read(address + len(text), 1)) != b"\0":
            text += byte
        return bytes(text)

    def _say(self, data: bytes) -> None:
        self.console.extend(data)
        if self.on_output is not None:
            self.on_output("semihosting", data)


def _missed(places: Places) -> str:
    several = [
        f"`{p:#x}`" if isinstance(p, int) else f"`{p}`"
        for p in ([places] if isinstance(places, str | int) else places or ())
    ]
    return f"{several[0]} was not reached" if len(several) == 1 else f"none of {', '.join(several)} was reached"


def _shown(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").encode("unicode_escape").decode("ascii")
