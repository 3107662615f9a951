# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calls of a function of one's own program, each from its first instruction to its return: cycles, time, joules."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from sunseal._engine import EngineError
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, coprocessor, power_sets
from sunseal.errors import SunsealError
from sunseal.machine import abi
from sunseal.machine.machine import Argument, Machine
from sunseal.machine.variables import Parameter, Prototype
from sunseal.measurement import measuring
from sunseal.requests.measuring import Timing

if TYPE_CHECKING:
    from sunseal.machine.machine import Number

REPEAT_MAX = 1_000_000


@dataclass(frozen=True)
class Call:
    """Cost of one call; `value` is what it gave back, where that is a number or a pointer."""

    cycles: int
    time_s: float
    energy_j: float
    energy_low_j: float
    energy_high_j: float
    value: int | float | None


@dataclass(frozen=True)
class Calls(Shown):
    """Calls of one function, in the order in which they were made."""

    program: str
    call: str
    """As it was asked for; a bare name stands for the calls that the program makes by itself."""
    board: str
    vcc_v: float
    freq_hz: int
    """The clock that most of their cycles ran at."""
    power_set: str
    calls: tuple[Call, ...]
    typed: bool
    """True if arguments and results have the types of debug data; else they are as wide as an `int`."""
    written: Mapping[str, bytes]
    """Contents of the buffers among the arguments behind the last call."""
    unchecked: tuple[str, ...]
    assumed: tuple[str, ...]
    lints: tuple[str, ...]

    def spread(self, what: str) -> dict[str, float]:
        """Return `min`, `mean` and `max` of `cycles`, `time_s` or `energy_j`."""
        values = [getattr(call, what) for call in self.calls]
        return {"min": min(values), "mean": sum(values) / len(values), "max": max(values)}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `--json`."""
        told = {k: v for k, v in vars(self).items() if k not in ("lints", "calls", "written")}
        told |= {what: self.spread(what) for what in ("cycles", "time_s", "energy_j")}
        told["calls"] = [{**vars(call), "value": call.value if _finite(call.value) else None} for call in self.calls]
        told["written"] = {name: data.hex() for name, data in self.written.items()}
        return told


def measure_calls(
    elf: Path,
    call: str,
    *,
    board: str = boards.DEFAULT_BOARD,
    start: str | None = None,
    repeat: int = 1,
    freq_hz: int | None = None,
    vcc_v: float | None = None,
    power: str = boards.DEFAULT_POWER,
    timing: Timing | None = None,
    adc_v: Mapping[int, float] | None = None,
    allow: Sequence[str] = (),
) -> Calls:
    """Measure calls of a function: `work(10, "text", [16])` is called here, `work` is watched in the program's own run.

    A call of one's own is made from `start`, or else from `main`, before the program has set up its clocks; it is
    repeated on the same machine, with the same arguments. Of a function that the program calls, the first `repeat`
    calls count. Arguments are numbers, `&symbol`, and what is put into free RAM and given by its address:
    a text with a zero behind it, `x"00ff"`, `[16]` for as many zero bytes.

    Raises
    ------
    SunsealError if the function is not there or does not return, and where arguments do not fit its debug data.
    """
    if not 1 <= repeat <= REPEAT_MAX:
        raise SunsealError(f"{repeat} repetitions cannot be measured: give 1 to {REPEAT_MAX:,}")
    program = measuring.own(elf, board, None, adc_v)
    weights = power_sets.PowerSet(power, board, allow)
    switches = {**(timing or {}), **dict.fromkeys(allow, True)}
    machine = Machine(board, program.image, timing=switches, adc_v=adc_v)
    name, arguments = _parse(call)
    try:
        machine.address(name)
    except EngineError as e:
        raise SunsealError(f"`{elf.name}` has no function `{name}`: {e}") from e
    prototype = machine.variables.prototype(name)
    _soft(prototype, program.image, name)
    own = arguments is not None
    walk = _Own(machine, name, arguments or [], prototype, start) if own else _Watched(machine, name, prototype, start)
    calls: list[Call] = []
    unchecked: set[str] = set()
    assumed: set[str] = set()
    clocks: dict[int, int] = {}
    supply_v = 0.0
    for _ in range(repeat):
        before = walk.begin()
        if before is None:
            break
        value = walk.finish()
        counts = machine.engine.counts(before)
        supply_v = measuring.own_vcc(weights, counts, vcc_v)
        measuring.own_clock(program, counts, freq_hz)
        point = weights.inner.weigh_as_run(coprocessor.without(board, counts), supply_v)
        whole = power_sets.with_coprocessor(point, board, counts)
        calls.append(Call(counts.cycles, whole.time_s, *whole.energy_j, value))
        unchecked.update(power_sets.used(point.unchecked, point))
        assumed.update(power_sets.used(point.assumed, point))
        for hz, _, cycles in counts.clocks():
            clocks[hz] = clocks.get(hz, 0) + cycles
    if not calls:
        raise SunsealError(f"`{elf.name}` never called `{name}`: {walk.over}")
    return Calls(
        program=elf.name,
        call=call,
        board=board,
        vcc_v=supply_v,
        freq_hz=max(clocks, key=lambda hz: clocks[hz], default=power_sets.DEFAULT_FREQ_HZ),
        power_set=weights.name,
        calls=tuple(calls),
        typed=prototype is not None,
        written=walk.written(),
        unchecked=tuple(sorted(unchecked)),
        assumed=tuple(sorted(assumed)),
        lints=(*machine.lints(), *_remarks(name, calls, repeat, walk, own and prototype is None)),
    )


def _remarks(name: str, calls: list[Call], repeat: int, walk: _Walk, untyped: bool) -> Iterator[str]:
    """Say what of the calls is not as it was asked."""
    if len(calls) < repeat:
        times = "once" if len(calls) == 1 else f"{len(calls)} times"
        yield f"`{name}` was called {times}, then {walk.over}"
    if untyped:
        yield f"no debug data tell the types of `{name}`: numbers were passed as `int`, the result is not read"
    if lost := [call.value for call in calls if not _finite(call.value)]:
        yield f"`{name}` gave {lost[0]}, which JSON does not have: its `value` there is null"


class _Most(TypedDict):
    cycles: int
    time_s: float


class _Walk:
    """The way from one call to the next."""

    def __init__(self, machine: Machine, name: str, prototype: Prototype | None, start: str | None) -> None:
        self.machine, self.name = machine, name
        self.resets = machine.resets
        """Time at which the call began."""
        self.over = ""
        """Reason for which there is no next call."""
        self.result = _kind(prototype.result) if prototype is not None else None
        if start is not None and machine.run(until=start, **_most()).kind != "pc":
            raise SunsealError(f"the program never comes to `{start}`, from where `{name}` was to be measured")

    def begin(self) -> Any:
        """Come to the next call's first instruction; return what was counted until there, None if there is none."""
        raise NotImplementedError

    def finish(self) -> int | float | None:
        """Run it to its return; give its result."""
        raise NotImplementedError

    def written(self) -> dict[str, bytes]:
        """Return what its buffers hold now."""
        return {}

    def _never(self) -> SunsealError:
        if self.machine.resets != self.resets and (told := self.machine.explain_resets(self.resets)):
            return SunsealError(
                f"`{self.name}` does not return: {told}",
                hint="a watchdog that `main` stops runs before `main`: measure `--from` a place behind that",
            )
        stands = self.machine.describe(self.machine.pc)
        return SunsealError(f"`{self.name}` does not return: the machine stands at {stands}")


class _Watched(_Walk):
    """Calls that the program makes."""

    def begin(self) -> Any:
        """Run to its first instruction."""
        stop = self.machine.run(until=self.name, **_most())
        if stop.kind != "pc":
            waited = f"{measuring.CYCLES_MAX:,} cycles or an hour went by"
            self.over = waited if stop.kind in ("cycles", "time") else "the program came to its end"
            return None
        self.resets = self.machine.resets
        return self.machine.engine.moment()

    def finish(self) -> int | float | None:
        """Run until the stack is the caller's again."""
        if not self.machine.returned(**_most()):
            raise self._never()
        return None if self.result is None else abi.of(self.machine.device).value(self.machine, self.result)


class _Own(_Walk):
    """Calls with arguments of one's own."""

    def __init__(
        self, machine: Machine, name: str, given: list[str], prototype: Prototype | None, start: str | None
    ) -> None:
        super().__init__(machine, name, prototype, start or "main")
        wanted = prototype.parameters if prototype is not None else ()
        if prototype is not None and len(given) != len(wanted):
            takes = ", ".join(f"{p.type} {p.name}".strip() for p in wanted) or "nothing"
            raise SunsealError(f"`{name}` takes {takes}; {len(given)} arguments were given")
        self.buffers: list[tuple[str, int, bytes]] = []
        pairs = zip(given, wanted or [None] * len(given), strict=True)
        self.arguments = [self._argument(text, parameter) for text, parameter in pairs]

    def _argument(self, text: str, parameter: Parameter | None) -> Argument:
        told = f"`{text}`" if parameter is None else f"`{text}` for {parameter.type} {parameter.name}".rstrip()
        if parameter is not None and parameter.kind == "other":
            raise SunsealError(f"{told} cannot be given: only numbers and addresses are passed here")
        if text.startswith("&"):
            return self.machine.address(text[1:])
        if (content := _buffer(text)) is not None:
            if parameter is not None and parameter.kind != "pointer":
                raise SunsealError(f"{told} is a buffer, and a number is wanted")
            place = self.machine.place(content)
            self.buffers.append((text, place, content))
            return place
        kind = _kind(parameter)
        if parameter is not None and parameter.kind == "float":
            assert kind is not None
            return self._real(text, told, kind)
        try:
            number = int(text, 0)
        except ValueError as e:
            raise SunsealError(
                f'{told} is no argument: write a whole number, `&symbol`, a text in quotes, x"00ff" or [16]'
            ) from e
        if parameter is None or parameter.kind == "pointer":
            bits = 8 * abi.of(self.machine.device).int_bytes
            if not -(1 << bits - 1) <= number < 1 << bits:
                types = "" if parameter else "; compile it with `-g -gdwarf-4`, and its types are known"
                raise SunsealError(f"{told} does not fit the {bits} bits of an `int`{types}")
            return number
        assert kind is not None
        low = -(1 << 8 * parameter.size_bytes - 1) if parameter.signed else 0
        if not low <= number < low + (1 << 8 * parameter.size_bytes):
            raise SunsealError(f"{told} does not fit into {8 * parameter.size_bytes} bits")
        return kind(number)

    @staticmethod
    def _real(text: str, told: str, kind: Callable[[str], Number]) -> Number:
        try:
            return kind(text)
        except ValueError as e:
            raise SunsealError(f"{told} is no number, such as `-1.5` or `2e-3`") from e

    def begin(self) -> Any:
        """Fill the buffers anew."""
        self.resets = self.machine.resets
        for _, place, content in self.buffers:
            self.machine.write(place, content)
        return self.machine.engine.moment()

    def finish(self) -> int | float | None:
        """Call the function to its end."""
        done = self.machine.call_here(self.name, *self.arguments, returns=self.result, **_most())
        if done is None:
            raise self._never()
        return None if self.result is None else done.value

    def written(self) -> dict[str, bytes]:
        """Return what its buffers hold now."""
        return {
            f"{i}: {text}": self.machine.read(place, len(content))
            for i, (text, place, content) in enumerate(self.buffers, 1)
        }


def _finite(value: float | None) -> bool:
    return value is None or math.isfinite(value)


ARM, FLOAT_HARD = 40, 0x400
"""EM_ARM, and EF_ARM_ABI_FLOAT_HARD of e_flags (ELF for the Arm Architecture, AAELF32, table 4-2)."""


def _soft(prototype: Prototype | None, image: bytes, name: str) -> None:
    """Refuse numbers that travel in registers of a floating-point unit."""
    machine, flags = int.from_bytes(image[18:20], "little"), int.from_bytes(image[36:40], "little")
    if prototype is None or machine != ARM or not flags & FLOAT_HARD:
        return
    if any(p is not None and p.kind == "float" for p in (*prototype.parameters, prototype.result)):
        raise SunsealError(
            f"`{name}` has its floating-point numbers in the unit's own registers, which are not filled here",
            hint="compile it with -mfloat-abi=softfp: the unit computes all the same",
        )


def _most() -> _Most:
    """Return where a run to a place is given up: the engine's own limits of a run between two marks."""
    return {"cycles": measuring.CYCLES_MAX, "time_s": 3600.0}


def _kind(parameter: Parameter | None) -> type[Number] | None:
    import numpy as np

    if parameter is None or parameter.kind == "other":
        return None
    letter = "f" if parameter.kind == "float" else "i" if parameter.signed else "u"
    kind: type[Number] = np.dtype(f"{letter}{parameter.size_bytes}").type
    return kind


def _parse(call: str) -> tuple[str, list[str] | None]:
    """Split `name(a, b)`; a bare name has no arguments at all."""
    text = call.strip()
    if re.fullmatch(r"[A-Za-z_$][\w$.]*", text):
        return text, None
    found = re.fullmatch(r"([A-Za-z_$][\w$.]*)\s*\((.*)\)", text, re.DOTALL)
    if found is None:
        raise SunsealError(f"`{call}` is no call: write it as C does, such as `work(10, 0x20)`")
    return found[1], list(_split(found[2], call))


def _split(text: str, call: str) -> Iterator[str]:
    if not text.strip():
        return
    at, one = 0, re.compile(r'\s*((?:x?"(?:[^"\\]|\\.)*")|[^,"]+?)\s*(,|$)')
    while at < len(text) or text[at - 1 : at] == ",":
        found = one.match(text, at)
        if found is None:
            raise SunsealError(f"the arguments of `{call}` cannot be read from `{text[at:]}` on")
        yield found[1]
        at = found.end()


def _buffer(text: str) -> bytes | None:
    """Return the bytes of a text, of x"00ff", or of [16]."""
    if size := re.fullmatch(r"\[(\d+)\]", text):
        return bytes(int(size[1]))
    if not text.endswith('"'):
        return None
    if text.startswith("x"):
        try:
            return bytes.fromhex(text[2:-1])
        except ValueError as e:
            raise SunsealError(f"`{text}` is no row of bytes in hex: {e}") from e
    return text[1:-1].encode().decode("unicode_escape").encode("latin-1") + b"\0"
