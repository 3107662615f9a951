# SPDX-License-Identifier: MIT OR Apache-2.0
"""Work of a program that could be done before its input comes: runs followed and joined, their cuts priced.

The method, what one run can show and how several are joined: docs/reference/precomputable.md.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sunseal import requests
from sunseal._engine import EngineError
from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import Verdict
from sunseal.catalog import power_sets
from sunseal.errors import SunsealError
from sunseal.machine import abi
from sunseal.machine.machine import Machine
from sunseal.requests.asking import answers
from sunseal.secure import constant_time

CYCLES_MAX = 2_000_000_000
"""A run that is longer is taken for one that does not end."""


@dataclass(frozen=True)
class Part:
    """Cycles of a function or source line, by dependence on the input, and the joules of those that can run ahead."""

    name: str
    independent_cycles: int
    """Cycles of stretches of code in which nothing takes the input: they can run ahead."""
    frame_cycles: int
    """Cycles of pointers, counters and constants beside work that takes the input: they run in both parts."""
    dependent_cycles: int
    """Cycles of instructions that take the input or what was made of it."""
    independent_j: float


@dataclass(frozen=True)
class Cut:
    """A moment up to which independent work is done ahead."""

    bytes: int
    """Bytes that a coupon carries: the sum of the two below; of several runs, what the one carries that carries
    most."""
    bytes_most: int
    """More than `bytes` where the input decides branches: runs may want other bytes each, and all together these."""
    data_bytes: int
    control_bytes: int
    """Addresses and counts among them, which could be made anew."""
    saved_cycles: int
    saved_j: float
    at: str | None
    """Function and offset of the first instruction behind it; None is the end of the independent work."""


@dataclass(frozen=True)
class Analysis(Shown):
    """Analysis of a run, or of several: what did not depend on its runtime input."""

    function: str
    board: str
    power_set: str
    runs: int
    """That were followed and joined."""
    cycles: int
    """Cycles of the longest run, whose joules and parts these are."""
    energy_j: float
    share_cycles: float
    """Independent cycles of all; of several runs, those that are independent in each."""
    share_j: float
    cuts: tuple[Cut, ...]
    """From small to large: none carries fewer bytes and saves as much as another."""
    functions: tuple[Part, ...]
    lines: tuple[Part, ...]
    not_followed: tuple[str, ...]
    """Means that the run used and that are not followed (transfers by DMA, bit-band): with one, the split may be
    wrong."""
    branches: tuple[tuple[str, int], ...]
    """Branches that the input decided, with how often: other inputs take other ways."""

    @property
    def judged(self) -> Verdict:
        """The verdict on the split, which finds nothing: it holds, or what a run used is not followed."""
        left = tuple(f"{what} is not followed, so that the split may be wrong" for what in self.not_followed)
        return Verdict(f"coupon analyze of {self.function}", self.runs, open=left)

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the contract."""
        return {
            **self.judged.to_dict(),
            **{k: v for k, v in vars(self).items() if k not in ("cuts", "functions", "lines", "branches")},
            "cuts": [vars(c) for c in self.cuts],
            "functions": [vars(p) for p in self.functions],
            "lines": [vars(p) for p in self.lines],
            "branches": [{"at": at, "count": count} for at, count in self.branches],
        }


@dataclass(frozen=True)
class _Followed:
    """A run of the function from its entry to its return."""

    cycles: int
    energy_j: float
    spent: dict[int, tuple[str, tuple[str, int] | None, tuple[int, int, int]]]
    """By address: place, line, cycles that are independent, frame and dependent."""
    cuts: list[tuple[int, int, int, str | None]]
    """Bytes of data and control, saved cycles, place."""
    branches: list[tuple[str, int]]
    holes: list[str]
    path: bytes
    """For each independent stretch the independent cycles behind it and a digest of the way up to there."""


@answers(requests.Analyze)
def analyze(to: requests.Analyze) -> Analysis:
    """Run the program, follow `function` from its entry to its return, and say what did not take `runtime_input`.

    Inputs and outputs are written `symbol`, `symbol+offset:bytes` or `0xADDRESS:bytes`; `call` says which call is
    followed, the first being 1; `given` is a file of values that are written before the program starts, as for
    `constant-time --input`. A machine that stands before the call may be given in place of a program. Several files
    are several runs; with `runs` the runtime input of all behind the first is drawn by `seed`. What is independent in
    each of them is told. Raises SunsealError if the function is never called, does not return, or never reads the
    input.
    """
    files = [to.given] if to.given is None or isinstance(to.given, Path) else list(to.given)
    if to.runs < 1 or not files:
        raise SunsealError("at least one run is followed")
    if to.runs > 1 and len(files) > 1:
        raise SunsealError("several files of values are a run each: runs with drawn inputs go with one, or none")
    weights = power_sets.PowerSet(to.power, to.board)
    begun = []
    for file in files:
        machine = to.elf if isinstance(to.elf, Machine) and len(files) == 1 else Machine(to.board, _program(to.elf))
        if file is not None:
            constant_time.write_input(machine, file, constant_time.read_input(file))
        _enter(machine, to.function, to.call)
        begun.append(machine)
    question = _Asked(to.function, to.runtime_input, to.output, begun[0], weights, to.vcc_v or weights.board.vcc_v)
    lives = _Lives(begun, question.inputs, to.runs, to.seed)
    followed = [question.follow(machine) for machine in lives]
    same = _same_work([run.path for run in followed])
    # Cuts behind the first difference are no cuts for all runs.
    if any(same < _work(run.path) for run in followed):
        fronts = [question.follow(machine, same).cuts for machine in lives]
    else:
        fronts = [run.cuts for run in followed]
    return _joined(followed, fronts, to.function, to.board, weights.name)


def _program(elf: Path | Machine) -> Path:
    if isinstance(elf, Machine):
        raise SunsealError("a machine that stands before the call is one run: give the program for several files")
    return elf


def _enter(machine: Machine, function: str, call: int) -> None:
    """Run to the entry of the call that is followed."""
    entry = machine.address(function)
    for i in range(call):
        if i:
            machine.step()
        stop = machine.run(entry, cycles=CYCLES_MAX)
        if stop.kind != "pc":
            raise SunsealError(
                f"`{function}` was not called {call} times: "
                f"the run ended by {stop.kind} at {machine.describe(stop.pc)}",
                hint="a program that waits for something outside needs it given; name a function that runs",
            )


class _Lives:
    """The runs that are joined: machines at the entry of the function, or one with its input as it is, then drawn."""

    def __init__(self, begun: list[Machine], inputs: list[tuple[int, int]], runs: int, seed: int) -> None:
        self._begun = [(m, m.snapshot()) for m in begun]
        self._inputs, self._runs, self._seed = inputs, runs, seed

    def __iter__(self) -> Iterator[Machine]:
        """Go through them, each time alike."""
        lots = random.Random(self._seed)
        for machine, here in self._begun:
            for i in range(self._runs):
                machine.restore(here)
                for at, size in self._inputs if i else ():
                    machine.write(at, lots.randbytes(size))
                yield machine


class _Asked:
    """Question: what is followed, and what it costs."""

    def __init__(
        self,
        function: str,
        runtime_input: Sequence[str],
        output: Sequence[str],
        machine: Machine,
        weights: power_sets.PowerSet,
        vcc_v: float,
    ) -> None:
        self.function, self.named = function, ", ".join(runtime_input)
        self.inputs, self.outputs = ([_range(machine, text) for text in texts] for texts in (runtime_input, output))
        self.weights, self.vcc_v = weights, vcc_v

    def follow(self, machine: Machine, most: int | None = None) -> _Followed:
        """Follow a run from the entry to the return; its cuts up to so many independent cycles."""
        try:
            backs, top = abi.of(machine.device).returns_to(machine), machine.registers["SP"]
        except EngineError as e:
            raise SunsealError(
                f"`{self.function}` was entered without a call: {e}", hint="name a function that is called and returns"
            ) from e
        goal = machine.goal(None, CYCLES_MAX, None, None)
        ended, counts, spent, cuts, branches, (was_read, holes, path) = machine.engine.offline(
            self.inputs, self.outputs, goal[0], goal[1], sorted({place for place, _ in backs}), goal[3], most
        )
        if ended[0] != "pc" or machine.registers["SP"] < top:
            raise SunsealError(
                f"`{self.function}` did not come back to its caller: "
                f"the run ended by {ended[0]} at {machine.describe(machine.pc)}"
            )
        if not was_read:
            raise SunsealError(
                f"the run of `{self.function}` never reads {self.named}: nothing depends on it",
                hint="name the bytes that come at run time, as `symbol:bytes`",
            )
        return _Followed(
            cycles=sum(sum(of) for _, _, _, of in spent),
            energy_j=self.weights.inner.weigh_as_run(counts, self.vcc_v).energy_j,
            spent={pc: (place, line, of) for pc, place, line, of in spent},
            cuts=cuts,
            branches=branches,
            holes=list(holes),
            path=path,
        )


STRETCH = struct.Struct("<QQ")


def _work(path: bytes) -> int:
    """Return the independent cycles of a run."""
    return int(STRETCH.unpack_from(path, len(path) - STRETCH.size)[0]) if path else 0


def _same_work(paths: Sequence[bytes]) -> int:
    """Return the independent cycles up to where the ways of all runs are one."""
    low, high = 0, min(len(path) for path in paths) // STRETCH.size
    while low < high:  # a digest is of all the way up to there
        at = (low + high + 1) // 2
        cut = slice((at - 1) * STRETCH.size, at * STRETCH.size)
        low, high = (at, high) if len({path[cut] for path in paths}) == 1 else (low, at - 1)
    return _work(paths[0][: low * STRETCH.size])


def _joined(
    followed: list[_Followed],
    fronts: list[list[tuple[int, int, int, str | None]]],
    function: str,
    board: str,
    power_set: str,
) -> Analysis:
    """Join runs: of each instruction those cycles are independent that are so in every run."""
    longest = max(followed, key=lambda run: run.cycles)
    j = longest.energy_j / longest.cycles
    rows = []
    for pc, (place, line, (ahead, frame, dependent)) in longest.spent.items():
        always = min(run.spent[pc][2][0] if pc in run.spent else 0 for run in followed)
        rows.append((place, line, (always, frame, dependent + ahead - always)))
    independent = sum(of[0] for _, _, of in rows)
    branches: dict[str, int] = {}
    for run in followed:
        for at, count in run.branches:
            branches[at] = branches.get(at, 0) + count
    return Analysis(
        function=function,
        board=board,
        power_set=power_set,
        runs=len(followed),
        cycles=longest.cycles,
        energy_j=longest.energy_j,
        share_cycles=independent / longest.cycles,
        share_j=independent / longest.cycles,
        cuts=tuple(_shared(fronts, j, bool(branches))),
        functions=_parts(((place.split("+")[0], of) for place, _, of in rows), j),
        lines=_parts(((f"{line[0]}:{line[1]}", of) for _, line, of in rows if line), j),
        not_followed=tuple(sorted({hole for run in followed for hole in run.holes})),
        branches=tuple(sorted(branches.items(), key=lambda item: -item[1]))
        if len(followed) > 1
        else tuple(followed[0].branches),
    )


def _shared(fronts: list[list[tuple[int, int, int, str | None]]], j: float, decided: bool) -> Iterator[Cut]:
    """Go through the cuts that every run has, behind the same work, from small to large."""
    first, *others = [{saved: (data, control, at) for data, control, saved, at in front if saved} for front in fronts]
    most, shared = 0, [saved for saved in first if all(saved in other for other in others)]
    for saved in sorted(shared, key=lambda saved: (sum(first[saved][:2]), -saved)):
        if saved > most:
            most = saved
            carried = [front[saved][:2] for front in (first, *others)]
            data, control = max(carried, key=sum)
            every = sum(sum(bytes_) for bytes_ in carried) if decided and others else data + control
            yield Cut(data + control, every, data, control, saved, saved * j, first[saved][2])


def _parts(rows: Any, j: float) -> tuple[Part, ...]:
    sums: dict[str, list[int]] = {}
    for name, of in rows:
        into = sums.setdefault(name, [0, 0, 0])
        for i in range(3):
            into[i] += of[i]
    parts = [Part(name, a, b, c, a * j) for name, (a, b, c) in sums.items()]
    return tuple(sorted(parts, key=lambda p: -(p.independent_cycles + p.frame_cycles + p.dependent_cycles)))


def _range(machine: Machine, text: str) -> tuple[int, int]:
    place, _, size = text.partition(":")
    name, _, offset = place.partition("+")
    try:
        off, bytes_ = (int(word, 0) if word else 0 for word in (offset, size))
        at, whole = (int(name, 0), 0) if name[:1].isdigit() else machine.ranges([name])[0]
    except ValueError as e:
        raise SunsealError(f"`{text}` is no place: write `symbol`, `symbol+16:32` or `0x1c00:32`") from e
    if whole and off + bytes_ > whole:
        raise SunsealError(f"`{text}` ends behind `{name}`, which has {whole} bytes")
    if not bytes_ and not whole:
        raise SunsealError(f"`{text}` needs its size: write `{place}:bytes`")
    return at + off, bytes_ or whole - off
