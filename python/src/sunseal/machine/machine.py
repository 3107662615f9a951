# SPDX-License-Identifier: MIT OR Apache-2.0
"""One simulated microcontroller to run, look into, change and take back.

>>> from sunseal import Machine
>>> m = Machine("msp430f5438a", "blink.elf")
>>> m.run(until="main")
Stop(kind='pc', pc=23634, pin=None)
>>> m.registers["SP"]
23552
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sunseal import _engine
from sunseal.catalog import boards, coprocessor, units
from sunseal.errors import SunsealError, UndecidedError, unknown
from sunseal.machine import abi, devices, images, instructions, taint, waveforms
from sunseal.machine.peripherals import BAUD, Peripherals, Uart
from sunseal.machine.taint import ConstantTime, Leak
from sunseal.machine.variables import Variables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sunseal.machine.instructions import Instruction, Trace

Bytes: TypeAlias = "NDArray[np.uint8]"
Place = str | int
"""A symbol of the image, or an address."""
Places: TypeAlias = "Place | Sequence[Place] | None"
"""Places where a run ends: one, or whichever of several comes first."""
Argument: TypeAlias = "int | np.integer[Any] | np.floating[Any]"
Number: TypeAlias = "np.integer[Any] | np.floating[Any]"
STACK_BYTES = 512
"""Bytes that `place` leaves to the stack at least."""
watching: Callable[[int], object] | None = None
"""Called with a machine's cycles every now and then while it runs: how commands show that they are alive."""
Kind = Literal["cycles", "time", "pc", "pin", "halted", "brown-out"]


@dataclass(frozen=True)
class Stop:
    """Reason for which a run ended: a limit, an address, a pin, for good (`halted`), or for want of supply."""

    kind: Kind
    pc: int
    """Address of the next instruction."""
    pin: tuple[str, bool] | None = None
    """The pin that ended the run, and its new level."""


@dataclass(frozen=True)
class Done:
    """Result and cost of a called function."""

    value: Any
    """Its return value, int or float; nonsense after a void function."""
    cycles: int
    """CPU cycles from its first instruction to its return."""
    stack_bytes: int
    """Deepest use of the stack below the caller's, with the return address."""


@dataclass(frozen=True)
class RadioCounts:
    """Counts of what a radio did since power-on."""

    sent: int
    sent_bytes: int
    received: int
    crc_failed: int
    filtered: int
    missed: int
    calibrations: int


class Registers(MutableMapping[str, int]):
    """The core's registers by the names of its manual; assigning changes the machine."""

    def __init__(self, inner: _engine.Machine) -> None:
        """Look at the registers of a machine."""
        self._inner = inner

    def __getitem__(self, name: str) -> int:
        """Return what a register holds."""
        found = {n: value for n, _, value in self._inner.registers()}
        try:
            return found[name]
        except KeyError:
            raise unknown("register", name, found) from None

    def __setitem__(self, name: str, value: int) -> None:
        """Change a register's value."""
        bits = {n: width for n, width, _ in self._inner.registers()}.get(name, 32)
        if not 0 <= value < 1 << bits:
            raise SunsealError(f"{value:#x} does not fit register {name}, which holds 0 to {(1 << bits) - 1:#x}")
        self._inner.set_register(name, value)

    def __delitem__(self, name: str) -> None:
        """Refuse to delete: registers stay."""
        raise SunsealError(f"register {name} cannot be taken out of a machine; assign 0 to it")

    def __iter__(self) -> Iterator[str]:
        """Go through the names in the order of their numbers."""
        return iter(name for name, _, _ in self._inner.registers())

    def __len__(self) -> int:
        """Count how many there are."""
        return len(self._inner.registers())

    def array(self) -> NDArray[np.uint32]:
        """Return the values in the order of their numbers."""
        import numpy as np

        return np.array([value for _, _, value in self._inner.registers()], dtype=np.uint32)


# SLAU208 and SLAU049, status register; DS40002198, SREG; DDI0403, B1.4.2.
FLAGS = {
    "SR": {"C": 0, "Z": 1, "N": 2, "GIE": 3, "CPUOFF": 4, "OSCOFF": 5, "SCG0": 6, "SCG1": 7, "V": 8},
    "SREG": {"C": 0, "Z": 1, "N": 2, "V": 3, "S": 4, "H": 5, "T": 6, "I": 7},
    "xPSR": {"N": 31, "Z": 30, "C": 29, "V": 28, "Q": 27, "T": 24},
}
"""Bits of each core's status register by the names of its manual."""


class Flags(MutableMapping[str, bool]):
    """The flags of the core's status register by name; assigning changes the machine."""

    def __init__(self, registers: Registers) -> None:
        """Look at the status register among the registers."""
        self._registers = registers
        self._status, self._bits = next((name, FLAGS[name]) for name in registers if name in FLAGS)

    def _bit(self, name: str) -> int:
        if name not in self._bits:
            raise unknown("flag", name, self._bits, f"of {self._status}")
        return 1 << self._bits[name]

    def __getitem__(self, name: str) -> bool:
        """Say whether a flag is set."""
        return bool(self._registers[self._status] & self._bit(name))

    def __setitem__(self, name: str, value: bool) -> None:
        """Set or clear a flag."""
        held, bit = self._registers[self._status], self._bit(name)
        self._registers[self._status] = held | bit if value else held & ~bit

    def __delitem__(self, name: str) -> None:
        """Refuse to delete: flags stay."""
        raise SunsealError(f"flag {name} cannot be taken out of {self._status}; assign False to it")

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._bits)

    def __len__(self) -> int:
        """Count how many there are."""
        return len(self._bits)


def timing_pairs(timing: Mapping[str, str | bool | int] | None) -> list[tuple[str, str]]:
    """Write switches of a core's timing as the engine reads them: `True` is `true`.

    A name with a dot is a wire of a part on the board, `coprocessor.phase`.
    """
    return [(n, str(value) if "." in n else str(value).lower()) for n, value in (timing or {}).items()]


class Machine:
    """A microcontroller with an image in it, just powered on."""

    def __init__(
        self,
        name: str,
        elf: str | os.PathLike[str] | bytes | None = None,
        *,
        timing: Mapping[str, str | bool | int] | None = None,
        adc_v: Mapping[int, float] | None = None,
        air: _engine.Air | None = None,
        place: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
        device_file: Path | None = None,
    ) -> None:
        """Make the machine of a device, or as it sits on a board (supply, crystals, fuses, radio).

        Load a program: an ELF, its bytes, or a file as `images.read` takes it. `timing` sets switches of the core's
        timing by the names of docs/accuracy.md: `{"trap_misaligned": False}`; `adc_v` is volts by channel of the ADC.
        Nobody hears the radio: machines that shall hear one another are made by `Air.machine`, which gives `air` and
        `place`. `seed` is the unit: its jitter, what RAM first holds. `device_file` replaces the device's.
        """
        board = boards.load(name) if boards.library().find("boards", name) is not None else None
        self.board = name if board is not None else None
        """The board that it sits on."""
        if board is not None:
            name = board.device
        if name not in boards.names("devices"):
            raise unknown("device or board", name, [*boards.names("devices"), *boards.names("boards")])
        image = elf if isinstance(elf, bytes) or elf is None else images.read(Path(elf), name)
        switches = timing_pairs(timing)
        device = str(device_file or boards.device_path(name))
        if self.board is not None:
            coprocessor.ready(self.board, tuple(switches))
        self._inner = _engine.Machine(device, board, image, switches, air, place, seed)
        if watching is not None:
            self._inner.set_progress(watching)
        for channel, volts in (adc_v or {}).items():
            self.adc_volts(channel, volts)
        self._hooks: dict[int, Callable[[Machine], object]] = {}
        self._free: int | None = None
        self.devices: dict[str, object] = {}
        """Devices that `i2c` and `spi` have put on its buses, by name."""
        self.wired: list[tuple[str, str, object, list[int], str | None]] = []
        """The same with their wires: name, interface, device, addresses on I2C, pin that selects on SPI."""
        self._selects: dict[str, str] = {}
        self.registers = Registers(self._inner)
        self.flags = Flags(self.registers)
        self.variables = Variables(self, image)
        """Variables of the program with the types of its debug data: `m.variables["state.samples[2]"]`."""
        self._unread: dict[str, bytearray] = {}
        self._terminals: dict[str, int] = {}
        """Picoseconds of a bit of each terminal that has a rate of its own."""
        self.baud: dict[str, int] = {}
        """Rate of each serial interface that wrote."""
        self.framing_errors: dict[str, int] = {}
        """Number of bytes without a stop bit that a terminal of another rate read, by interface."""
        self.io = Peripherals(self._inner, name)
        """I/O registers by the names of the manual: `m.io["P1OUT"]`."""

    @property
    def engine(self) -> _engine.Machine:
        """The engine's own machine, for what this class does not wrap."""
        return self._inner

    @property
    def device(self) -> str:
        """Part number in lower case."""
        return self._inner.device

    @property
    def timing(self) -> dict[str, str]:
        """Switches of the core's timing that were set otherwise than by default."""
        return dict(self._inner.timing())

    @property
    def cycles(self) -> int:
        """CPU cycles since power-on."""
        return self._inner.cycles

    @property
    def time_s(self) -> float:
        """Machine time since power-on in seconds."""
        return self._inner.time_ps * 1e-12

    @property
    def pc(self) -> int:
        """Address of the next instruction."""
        return self._inner.pc

    @property
    def radio(self) -> RadioCounts | None:
        """Count what the board's radio did so far; None without a radio."""
        counts = self._inner.radio_counts()
        return counts and RadioCounts(*counts)

    @property
    def vcc_v(self) -> float:
        """Supply voltage in volts."""
        return self._inner.vcc_v

    @vcc_v.setter
    def vcc_v(self, volts: float) -> None:
        self._inner.set_vcc(units.zero_or_more(volts, "vcc_v"))

    # --- Running ---------------------------------------------------------------------------------

    def run(
        self,
        until: Places = None,
        *,
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
    ) -> Stop:
        """Run until a symbol or address, or one of several, for so many cycles or seconds more, or until a pin changes.

        The first of what is given ends the run; with nothing given it ends when the program has stopped
        for good. A fault of the program raises EngineError with the address, the symbol and what would
        be right.
        """
        to_cycles, to_ps, goals, pin = self.goal(until, cycles, time_s, pin)
        while True:
            ended = self._inner.run(to_cycles, to_ps, [*self._hooks, *goals], pin)
            here = self.pc
            if ended[0] == "pc" and here in self._hooks:
                self._hooks[here](self)
                if here not in goals:
                    continue
            return self._stop(ended)

    def power_trace(
        self,
        until: Places = None,
        *,
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
        out: Bytes | None = None,
        bus_weight: int = 1,
        bus_distance: int = 0,
        register_distance: int = 1,
    ) -> Bytes:
        """Run as `run` does and return a sample of modelled activity for each CPU cycle.

        A sample is the Hamming weight of the values on the data bus and the Hamming distance of the
        registers that change, times the weights given, saturating at 255. The engine writes into `out`
        (shape: samples) without a copy; without it an array of 2^24 samples is made, or of `cycles`.
        Hooks are not called.
        """
        goal = self.goal(until, cycles, time_s, pin)
        if out is None:
            import numpy as np

            out = np.empty(1 << 24 if cycles is None else cycles + 64, dtype=np.uint8)
        weights = (bus_weight, bus_distance, register_distance)
        _, samples, lost = self._inner.power_trace(out, weights, *goal)
        if lost:
            raise SunsealError(
                f"the trace has {samples + lost} samples, {lost} more than the array holds",
                hint="give a larger array as `out`, or a nearer end",
            )
        return out[:samples]

    def disassemble(self, place: Place | tuple[int, int], size_bytes: int | None = None) -> list[Instruction]:
        """List the instructions of a function, of `(address, size in bytes)`, or of so many bytes at a place.

        It is memory as it is now, so code that was written into RAM is there as well. On a Cortex-M4 the first
        instruction is taken to stand outside of an IT block.
        """
        start, size = place if isinstance(place, tuple) else (self.address(place), size_bytes)
        if size is None and isinstance(place, str):
            size = self._inner.symbol(place)[1]
        if not size:
            raise SunsealError(f"code at {self.describe(start)} needs its size: write ({start:#x}, bytes)")
        return instructions.disassemble(self._inner, start, size)

    def trace(
        self,
        until: Places = None,
        *,
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
        most: int = instructions.MOST,
    ) -> Trace:
        """Run as `run` does and return a row for each instruction that ran, and for each way into an interrupt.

        Columns are `address`, `cycle` (CPU cycles since power-on when it began), `cycles`, `text` and the registers
        behind it by their names. A run of more than `most` instructions raises SunsealError. Hooks are not called.
        """
        rows, (kind, told) = instructions.trace(self._inner, most, self.goal(until, cycles, time_s, pin))
        if kind == "fault":
            raise _engine.EngineError(told)
        if kind == "state":
            raise instructions.full(most)
        return rows

    def constant_time(
        self,
        secret: Sequence[Place | tuple[int, int]],
        until: Places = None,
        *,
        public: Sequence[Place | tuple[int, int]] = (),
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
        call: tuple[Place, *tuple[Argument, ...]] | None = None,
    ) -> ConstantTime:
        """Run with marked bytes and judge the run: what they decide, what was covered, what is left open.

        `secret` and `public` are symbols, or addresses with sizes in bytes; what the program writes to
        `public`, such as a signature, is no secret any more. Hooks are not called. With `call`, a function and
        its arguments as for `call`, the run is that of the function.
        """
        hidden, shown = self.ranges(secret), self.ranges(public)
        names = [p if isinstance(p, str) else f"{p[0]:#x}" if isinstance(p, tuple) else hex(p) for p in secret]
        if call is None:
            run = taint.follow(self, names, hidden, shown, self.goal(until, cycles, time_s, pin))
        else:
            runs: list[taint.Run] = []

            def through(back: int) -> None:
                runs.append(taint.follow(self, names, hidden, shown, (None, None, [back], None)))

            self._at_main()
            self._call(call, None, through)
            (run,) = runs
        return taint.judge([run])

    def leaks(
        self,
        secret: Sequence[Place | tuple[int, int]],
        until: Places = None,
        *,
        public: Sequence[Place | tuple[int, int]] = (),
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
        call: tuple[Place, *tuple[Argument, ...]] | None = None,
    ) -> list[Leak]:
        """Run as `constant_time` does and return the instructions that let marked bytes out by the way they run.

        An empty list is the verdict `clean` for this run of this binary. A run that shows nothing and leaves
        something open raises UndecidedError with what that is.
        """
        judged = self.constant_time(secret, until, public=public, cycles=cycles, time_s=time_s, pin=pin, call=call)
        if judged.verdict == "undecided":
            raise UndecidedError(f"the run is no constant-time verdict: {'; '.join(judged.why)}")
        return judged.findings

    def coverage(
        self,
        until: Places = None,
        *,
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
    ) -> str:
        """Run as `run` does and return how often each source line ran, as an lcov tracefile."""
        return self._inner.coverage(*self.goal(until, cycles, time_s, pin))[1]

    def waveform(
        self,
        path: str | os.PathLike[str],
        until: Places = None,
        *,
        pins: Sequence[str] = (),
        symbols: Sequence[str] = (),
        states: bool = True,
        exact: bool = False,
        stimulus: str | os.PathLike[str] | None = None,
        signals: Mapping[str, str] | None = None,
        cycles: int | None = None,
        time_s: float | None = None,
        pin: str | None = None,
    ) -> Stop:
        """Run as `run` does and write pins (or all that move), components' states and symbols as `.vcd` or `.fst`.

        Ticks are as coarse as edges allow, or `exact` picoseconds. With `stimulus`, another dump, its `signals` (name
        in that dump: pin) drive pins at their times.
        """
        components = [name for name, _ in self._inner.states()] if states else []
        with waveforms.into(Path(path)) as (place, fst):
            driven = None if stimulus is None else os.fspath(stimulus)
            what = (fst, exact, pins, states, symbols, driven, list((signals or {}).items()))
            ended, names = self._inner.waveform(place, *what, *self.goal(until, cycles, time_s, pin))
        waveforms.name_states(Path(path), self.device, components, names)
        return self._stop(ended)

    def goal(
        self, until: Places, cycles: int | None, time_s: float | None, pin: str | None
    ) -> tuple[int | None, int | None, list[int], str | None]:
        """Return the end of a run as the engine takes it: cycles, picoseconds, addresses, pin."""
        for value, name in (cycles, "cycles"), (time_s, "time_s"):
            if value is not None:
                units.zero_or_more(value, name)
        return (
            None if cycles is None else self.cycles + cycles,
            None if time_s is None else self._inner.time_ps + round(time_s * 1e12),
            self.addresses(until),
            pin,
        )

    def _stop(self, ended: tuple[str, str]) -> Stop:
        kind, what = ended
        edge = None
        if kind == "pin":
            name, _, level = what.partition("=")
            edge = (name, level == "1")
        return Stop(kind, self.pc, edge)  # type: ignore[arg-type]

    def ranges(self, places: Sequence[Place | tuple[int, int]]) -> list[tuple[int, int]]:
        """Return address and size in bytes of symbols; such pairs stay themselves."""
        ranges = []
        for place in places:
            if isinstance(place, str):
                ranges.append(self._inner.symbol(place))
            elif isinstance(place, tuple):
                ranges.append(place)
            else:
                raise SunsealError(f"bytes at {place:#x} need their size: write ({place:#x}, size)")
        return ranges

    def step(self, instructions: int = 1) -> None:
        """Run single instructions; asleep, up to the next event."""
        for _ in range(instructions):
            self._inner.step()

    def hook(self, place: Place, call: Callable[[Machine], object]) -> None:
        """Have `call(machine)` called whenever the program is about to run the instruction at `place`."""
        self._hooks[self.address(place)] = call

    def unhook(self, place: Place) -> None:
        """Forget the hook at `place`."""
        self._hooks.pop(self.address(place), None)

    # --- Functions -------------------------------------------------------------------------------

    def call(self, function: Place, *args: Argument, returns: type[Number] | None = None) -> Done:
        """Call a C function of the image and run it to its return.

        The machine must stand at `main` (`run(until="main")`), or where an earlier call has ended. Plain
        integers are passed as wide as an `int` or pointer of the target, NumPy integers by their own
        width; what is pointed to is put into RAM with `place`. `returns` is the return type where it is
        not `int`. A fault in the function raises EngineError and leaves the machine there; so does a stack that
        runs into static data or what was placed.
        """
        low = math.inf

        def run(back: int) -> None:
            nonlocal low
            while True:
                at, overrun = self._inner.run_to([back, *self._hooks], self._free)
                low = min(low, at)
                if overrun is not None:
                    raise SunsealError(f"`{function}` gives nothing to rely on: {overrun}")
                if self.pc == back or self.pc not in self._hooks:
                    return
                self._hooks[self.pc](self)

        self._at_main()
        done = self._call((function, *args), returns, run)
        return replace(done, stack_bytes=done.stack_bytes - int(low))

    def call_here(
        self,
        function: Place,
        *args: Argument,
        returns: type[Number] | None = None,
        cycles: int | None = None,
        time_s: float | None = None,
    ) -> Done | None:
        """Call a C function as `call` does, from wherever the program stands, which then cannot go on from there.

        Afterwards the machine stands at `main`, for another call. None if the function has not returned within so
        many cycles or seconds, has put the chip to sleep for good, or was cut off by a reset. The stack's use is not
        told.
        """
        back, resets = False, self.resets

        def run(main: int) -> None:
            nonlocal back
            back = self.run(until=main, cycles=cycles, time_s=time_s).kind == "pc" and self.resets == resets

        done = self._call((function, *args), returns, run)
        return replace(done, stack_bytes=0) if back else None

    def returned(self, cycles: int | None = None, time_s: float | None = None) -> bool:
        """Run from a function's first instruction until it has returned to its caller; say whether it has.

        Between two times that it comes by there, as a recursion does, so many cycles and seconds may go by.
        """
        places, resets = abi.of(self.device).returns_to(self), self.resets
        while True:
            stop = self.run(until=sorted({place for place, _ in places}), cycles=cycles, time_s=time_s)
            if stop.kind != "pc" or self.resets != resets:
                return False
            if (self.pc, self.registers["SP"]) in places:
                return True

    def place(self, content: bytes | int, *, align_bytes: int = 8) -> int:
        """Put bytes, or so many zero bytes, into RAM that the program leaves free; return their address.

        They lie between the end of static data (the linker's symbol `_end`, or else the end of the segments) and
        the stack until `release`.
        """
        if align_bytes < 1:
            raise SunsealError(f"align_bytes is {align_bytes}; it must be 1 or more")
        data = bytes(content) if isinstance(content, int) else content
        if self._free is None:
            self._free = self._data_end()
        start = -(-self._free // align_bytes) * align_bytes
        room = abi.of(self.device).stack(self) - STACK_BYTES - start
        if len(data) > room:
            raise SunsealError(f"{len(data)} bytes do not fit into the {max(room, 0)} bytes of RAM that are free")
        self._free = start + len(data)
        self.write(start, data)
        return start

    def release(self) -> None:
        """Forget everything that was placed."""
        self._free = None

    def _data_end(self) -> int:
        end = self._inner.data_end()
        if end is None:
            raise SunsealError(
                "the image does not say where its static data end",
                hint="have the linker define `_end` behind .bss",
            )
        return end

    def _at_main(self) -> None:
        if self.pc != self.address("main"):
            raise SunsealError(
                f"the machine stands at {self.describe(self.pc)}; a function is called from `main`",
                hint='run(until="main") first',
            )

    def _call(
        self,
        call: tuple[Place, *tuple[Argument, ...]],
        returns: type[Number] | None,
        run: Callable[[int], object],
    ) -> Done:
        convention = abi.of(self.device)
        back, top = self.address("main"), convention.stack(self)
        convention.enter(self, self.address(call[0]), call[1:], back)
        begun = self.cycles
        run(back)
        cycles = self.cycles - begun
        convention.leave(self, top)
        # Less the lowest stack pointer, which `call` knows.
        return Done(convention.value(self, returns), cycles, top - convention.stack_offset + convention.data_space)

    # --- Memory ----------------------------------------------------------------------------------

    def address(self, place: Place) -> int:
        """Return the address of a symbol; an address stays itself."""
        return self._inner.symbol(place)[0] if isinstance(place, str) else place

    def addresses(self, places: Places) -> list[int]:
        """Return the addresses of one place, of several, or of none."""
        if places is None:
            return []
        return [self.address(p) for p in ([places] if isinstance(places, str | int) else places)]

    def describe(self, place: Place) -> str:
        """Say where an address lies: symbol and offset, with the source line where it is known."""
        return self._inner.describe(self.address(place))

    def memory(self, place: Place, size_bytes: int | None = None) -> Bytes:
        """Return memory as a read-only array that shows, without a copy, what the machine holds now.

        `place` is a symbol (with its size), the name of a region such as "ram", or an address with
        `size_bytes`. An AVR's data space lies at 0x800000, its EEPROM at 0x810000, as for GNU tools.
        """
        regions = {name: (start, size) for name, start, size in self._inner.regions()}
        if isinstance(place, str):
            addr, size = regions[place] if place in regions else self._inner.symbol(place)
        elif size_bytes is None:
            raise SunsealError(f"memory at {place:#x} needs its size in bytes")
        else:
            addr, size = place, size_bytes
        view = self._inner.view(addr, size if size_bytes is None else size_bytes)
        import numpy as np

        return np.frombuffer(memoryview(view), dtype=np.uint8)

    def read(self, place: Place, size_bytes: int | None = None) -> bytes:
        """Return a copy of memory; arguments as for `memory`."""
        return self.memory(place, size_bytes).tobytes()

    def write(self, place: Place, data: bytes | Bytes) -> None:
        """Change memory of any kind, as a programmer would."""
        self._inner.write(self.address(place), bytes(data))

    def read_int(self, symbol: str) -> int:
        """Return an unsigned little-endian integer of a symbol's size."""
        return int.from_bytes(self.read(symbol), "little")

    # --- Surroundings ----------------------------------------------------------------------------

    def states(self) -> dict[str, str]:
        """Return every component with its present state."""
        return dict(self._inner.states())

    def pin(self, name: str) -> bool:
        """Return the level at a pin."""
        return self._inner.pin(name)

    def set_pin(self, name: str, level: bool | None) -> None:
        """Drive a pin from outside, or let go of it with None."""
        self._inner.set_pin(name, level)

    def pin_log(self) -> list[tuple[float, int, str, bool]]:
        """Return the output pins that changed: time in seconds, cycles, pin, level."""
        return [(ps * 1e-12, cycles, pin, level) for ps, cycles, pin, level in self._inner.pin_log()]

    @property
    def led_out(self) -> str | None:
        """The serial interface that the board leads out (`[log]` in `data/boards`), if it does."""
        described = boards.board(self.board).get("log") if self.board is not None else None
        serial = described.get("serial") if isinstance(described, dict) else None
        return serial if isinstance(serial, str) else None

    def uart(self, name: str | None = None, *, baud: int | None = None) -> Uart:
        """Return the other end of a serial interface, 8N1: by its name, or the one that the board leads out.

        A terminal with a `baud` types and reads at it: a program of another rate sees framing errors and garbage, and
        so does the terminal. Without one it is as fast as the program set its interface.
        """
        known = self._inner.serials()
        if (name := name or self.led_out or known[0]) not in known:
            raise unknown("serial interface", name, known, f"of {self.device}")
        if baud is not None:
            if not 0 < baud < math.inf:
                raise SunsealError(f"a terminal of {baud} baud types nothing: give one such as {BAUD}")
            self._terminals[name] = round(1e12 / baud)
        return Uart(self, name, baud)

    def taken(self, name: str) -> bytes:
        """Return what is unread of a serial interface, which then is read."""
        return bytes(self._unread.pop(name, b""))

    def take_uarts(self) -> dict[str, bytes]:
        """Return what each serial interface has written since the last call, by name; `Uart.read` has it still."""
        wrote: dict[str, bytes] = {}
        rows = self._inner.take_uart()
        for name in dict.fromkeys(row[1] for row in rows):
            log = [row for row in rows if row[1] == name]
            self.baud[name] = round(1e12 / log[-1][3]) if log[-1][3] else 0
            bit_ps = self._terminals.get(name)
            heard = [(row[2], False) for row in log] if bit_ps is None else self._inner.uart_heard(log, bit_ps)
            self.framing_errors[name] = self.framing_errors.get(name, 0) + sum(bad for _, bad in heard)
            wrote[name] = bytes(byte for byte, _ in heard)
            self._unread.setdefault(name, bytearray()).extend(wrote[name])
        return wrote

    def adc(self, channel: int, volts: float | Sequence[tuple[float, float]]) -> None:
        """Connect a voltage to a channel of the ADC, or points of time in seconds and volts, straight between them."""
        if not 0 <= channel <= 255:
            raise SunsealError(f"channel {channel} is no channel of an ADC: give one of 0 to 255")
        if isinstance(volts, int | float):
            self.adc_volts(channel, float(volts))
        else:
            self._inner.adc_points(channel, list(volts))

    def adc_volts(self, channel: int, volts: float) -> None:
        """Connect a voltage to a channel of the analogue to digital converter."""
        self._inner.adc_volts(channel, units.zero_or_more(volts, f"the voltage at channel {channel}"))

    def i2c(
        self,
        address: int | Sequence[int],
        device: object,
        *,
        serial: str | None = None,
        name: str | None = None,
        **inputs: Any,
    ) -> Any:
        """Put a device on an I2C bus and return it.

        `device` names a part of the package, whose `inputs` are quantities such as `temperature=21.5` or points of
        seconds and value; or it is an object of your own, see `sunseal.machine.devices`. `serial` is the interface, by
        default the one that the board leads out or the only one; `name` what its states are booked under.
        """
        addresses = [address] if isinstance(address, int) else list(address)
        if not addresses:
            raise SunsealError("a device on I2C has at least one address; on SPI, `spi` takes it")
        for each in addresses:
            if not 0 <= each <= devices.ADDRESS_MAX:
                raise SunsealError(f"{each:#x} is no I2C address of seven bits: give one of 0x00 to 0x7f")
        kind = type(device).__name__.lower()
        if isinstance(device, str):
            kind = device
            device, allowed = devices.make("i2c", kind, self.vcc_v, inputs)
            if wrong := [each for each in addresses if each not in allowed]:
                listed = ", ".join(f"{each:#04x}" for each in allowed)
                raise SunsealError(f"a {kind} answers at {listed}, not at {wrong[0]:#04x}")
        elif inputs:
            raise SunsealError(
                f"`{next(iter(inputs))}` is an input of the package's devices; give it to your own yourself"
            )
        known = _engine.i2c_serials(self._inner)
        led_out = boards.board(self.board).get("i2c", {}).get("serial") if self.board is not None else None
        serial = serial or led_out or (known[0] if len(known) == 1 else None)
        if serial is None:
            if not known:
                raise SunsealError(f"{self.device} has no I2C master here, so {kind} has no bus to be on")
            listed = ", ".join(known)
            raise SunsealError(
                f"name the interface that {kind} is on, as `serial` or in front of its address: {listed}"
            )
        return self._attach(name or f"{kind}@{addresses[0]:#04x}", serial, device, addresses, None)

    def spi(
        self, select: str | None, device: object, *, serial: str | None = None, name: str | None = None, **inputs: Any
    ) -> Any:
        """Put a device on an SPI bus, selected while a pin is driven low, and return it; the rest as for `i2c`."""
        kind = type(device).__name__.lower()
        if isinstance(device, str):
            kind = device
            device, _ = devices.make("spi", kind, self.vcc_v, inputs)
        elif inputs:
            raise SunsealError(
                f"`{next(iter(inputs))}` is an input of the package's devices; give it to your own yourself"
            )
        if select is not None:
            self.pin(select)  # an unknown name is an error now
            radio = boards.board(self.board).get("radio", {}).get("csn") if self.board is not None else None
            chosen = {each: what for what, each in self._selects.items()} | ({radio: "the radio"} if radio else {})
            if select in chosen:
                raise SunsealError(f"{select} selects {chosen[select]} already: give {kind} a pin of its own")
        known = self._inner.serials()
        serial = serial or ("spi" if "spi" in known else None)
        if serial is None:
            listed = ", ".join(known)
            raise SunsealError(f"name the interface that {kind} is on, as `serial` or in front of its pin: {listed}")
        return self._attach(name or f"{kind}@{select or serial}", serial, device, [], select)

    def _attach(self, name: str, serial: str, device: object, addresses: list[int], select: str | None) -> object:
        if name in self.devices:
            # The same address or pin of another bus; on the same one the engine refuses it.
            name = f"{name} on {serial}"
        _engine.attach_device(self._inner, name, serial, device, addresses, select)
        self.devices[name] = device
        self.wired.append((name, serial, device, addresses, select))
        if select is not None:
            self._selects[name] = select
        return device

    @property
    def device_energy_j(self) -> dict[str, float | None]:
        """Return what each device on a bus drew since it was put there, at the supply, by its currents.

        None where it was in a state whose current is not known.
        """
        drawn: dict[str, float | None] = {}
        for name, device in self.devices.items():
            told_a = getattr(device, "current_a", {})
            times_s = {s: ps * 1e-12 for s, ps in _engine.component_states(self._inner, name).items() if ps}
            known = times_s.keys() <= told_a.keys()
            drawn[name] = self.vcc_v * sum(told_a[s] * time_s for s, time_s in times_s.items()) if known else None
        return drawn

    def lints(self) -> list[str]:
        """Return what the program did that works here and fails on a chip."""
        return self._inner.lints()

    # --- Supply and time travel ------------------------------------------------------------------

    def reset_loop(self) -> str | None:
        """Say, where the program is reset again and again by its watchdog or a slip, by what and from where.

        A run to a symbol, an address, a pin or the program's end raises EngineError with that sentence.
        """
        return self._inner.reset_loop()

    def last_reset(self) -> str | None:
        """Say what the last reset came from that the chip made itself, before which instruction, how many in a row."""
        return self._inner.last_reset()

    @property
    def resets(self) -> int:
        """Count how often the program was reset, by whatever, the reset at power-on included."""
        return self._inner.resets()[0]

    def explain_resets(self, since: int) -> str | None:
        """Say how many resets there were since `resets` was `since`, and what the last came from; None without any."""
        if (times := self.resets - since) <= 0:
            return None
        last = self.last_reset()
        return f"{times:,} reset{'s' if times > 1 else ''}" + (f": {last}" if last else "")

    def reset(self) -> None:
        """Reset as a brown-out does, with the supply on."""
        self._inner.reset()

    def power_cut(self) -> None:
        """Take the supply away: RAM and registers are lost, a write under way stays half done."""
        self._inner.power_cut()

    def power_on(self, ram_seed: int = 0) -> None:
        """Bring the supply back; RAM wakes with a pattern made from the seed.

        What RAM still holds of before follows from the machine time since `power_cut`, on chips whose cells are known
        (`run` lets time pass without supply). Where none has passed, the supply counts as away for long.
        """
        self._inner.power_on(ram_seed)

    def snapshot(self) -> _engine.Snapshot:
        """Keep everything that the machine is; refused where it shares its air with others."""
        return self._inner.snapshot()

    def restore(self, snapshot: _engine.Snapshot) -> None:
        """Go back to a snapshot of this machine or one like it."""
        self._inner.restore(snapshot)
