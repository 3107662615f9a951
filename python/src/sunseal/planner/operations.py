# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every operation of the firmware at every operating point: the frame that the planner asks.

One row is one workload on one board's firmware at one supply voltage and clock. Counts come from the cache of
profiles, so that a frame of a hundred thousand rows takes seconds once each workload has been run.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sunseal import _engine
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError
from sunseal.measurement import measuring, switching

COLUMNS = {
    "workload": "str",
    "algorithm": "str",
    "parameter": "str",
    "operation": "str",
    "security_bits": "int64",
    "board": "str",
    "variant": "str",
    "power_set": "str",
    "vcc_v": "float64",
    "freq_hz": "int64",
    "wait_states": "int64",
    "cycles": "int64",
    "time_s": "float64",
    "energy_j": "float64",
    "energy_low_j": "float64",
    "energy_high_j": "float64",
    "power_w": "float64",
    "flash_bytes": "int64",
    "ram_bytes": "int64",
    "stack_bytes": "int64",
    "start_s": "float64",
    "start_awake_s": "float64",
    **{
        f"{name}{end}_{unit}": "float64"
        for name, unit in (("start", "j"), ("wait", "w"))
        for end in ("", "_low", "_high")
    },
}
"""Columns of the frame, SI base units, unit last. `energy_low_j` and `energy_high_j` bound what the documents
leave open of the coefficients. `start_*` and `wait_*` are a coprocessor's between uses (`switching`), else 0."""

Progress = Callable[[int, int, str], None]
"""Done, of all, and what is next."""


@dataclass(frozen=True)
class Operation:
    """A workload in one of a board's variants."""

    workload: boards.Workload
    board: str
    variant: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        """Name it as a person would: workload, board, variant."""
        variant = boards.variant_text(dict(self.variant))
        return " ".join(filter(None, (self.workload.name, "on", self.board, variant)))


def operations(
    workloads: Iterable[str] | None = None, board_names: Iterable[str] | None = None, *, every_variant: bool = True
) -> list[Operation]:
    """List what there is to choose from: each workload that a board's firmware has, in each variant or the fastest.

    One that an oscillator times has no price at other clocks: it is refused where nothing else is asked for.
    """
    asked = [boards.workload(name) for name in workloads or boards.WORKLOADS]
    works = [work for work in asked if not work.own_clock]
    if asked and not works:
        raise SunsealError(
            f"`{asked[0].name}` sets up its own clock, so there is nothing to choose",
            hint="`sunseal measure` prices it as it runs",
        )
    found = []
    for board in board_names or boards.of_nodes():
        boards.board_path(board)
        values = boards.variants(board)
        every = [dict(zip(values, choice, strict=True)) for choice in itertools.product(*values.values())]
        chosen = every if every_variant else [boards.variant((), board)]
        found += [
            Operation(work, board, tuple(sorted(variant.items())))
            for work in works
            if boards.has_workload(board, work.name)
            for variant in chosen
        ]
    return found


def _between(found: switching.Between | None) -> tuple[float, ...]:
    if found is None:
        return (0.0,) * 8
    return found.start_s, found.start_awake_s, *found.start_j, *found.wait_w


def clocks_hz(weights: power_sets.PowerSet, vcc_v: float) -> list[int]:
    """Return the clocks that a board can run at a voltage: the only one that it has, or each whole megahertz."""
    fastest = weights.inner.freq_max_hz(vcc_v)
    only_hz = power_sets.only_clock_hz(weights.board)
    if only_hz is not None:
        return [only_hz] if only_hz <= fastest else []
    return list(range(1_000_000, fastest + 1, 1_000_000))


def points(
    chosen: Sequence[Operation],
    *,
    power: str = boards.DEFAULT_POWER,
    voltages_v: Sequence[float] = (),
    places: Mapping[str, Sequence[tuple[float, int]]] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Weigh operations at every voltage and clock that their boards allow, or at a board's `places`; see `COLUMNS`.

    Programs are counted several at a time, as the engine lets go of Python meanwhile.
    Raises `SunsealError` where a workload's result is wrong: its price would mean nothing.
    """
    rows: list[tuple[Any, ...]] = []
    sets = {board: power_sets.PowerSet(power, board) for board in sorted({o.board for o in chosen})}
    for vcc_v in voltages_v:
        if not any(clocks_hz(weights, vcc_v) for weights in sets.values()):
            raise SunsealError(
                f"at {vcc_v:g} V no clock is legal on {', '.join(sets)}; `sunseal boards` lists supplies"
            )

    stop = False

    def heard(_: int) -> None:
        if stop:
            raise KeyboardInterrupt

    def count(operation: Operation) -> _Counted:
        weights = sets[operation.board]
        every = places[operation.board] if places is not None else _everywhere(weights, voltages_v)
        return _count(operation, weights, every, heard)

    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        # Each in a copy of this context, which knows the folder of the scenario (places.beside).
        begun = [pool.submit(copy_context().run, count, operation) for operation in chosen]
        counted: list[_Counted] = []
        for operation, counting in zip(chosen, begun, strict=True):
            if progress is not None:
                progress(len(counted), len(chosen), operation.label)
            counted.append(counting.result())
    finally:
        stop = True
        pool.shutdown(cancel_futures=True)
    for operation, counts in zip(chosen, counted, strict=True):
        rows += _rows(operation, sets[operation.board], counts)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _everywhere(weights: power_sets.PowerSet, voltages_v: Sequence[float]) -> list[tuple[float, int]]:
    voltages = voltages_v or power_sets.curve_voltages(weights)
    return [(vcc_v, freq_hz) for vcc_v in voltages for freq_hz in clocks_hz(weights, vcc_v)]


@dataclass
class _Counted:
    """A workload's program on one board and, at each voltage and clock, its memory's wait states and what it counts."""

    program: measuring.Program
    points: list[tuple[float, int, int, _engine.Counts]]


def _count(
    operation: Operation,
    weights: power_sets.PowerSet,
    places: Iterable[tuple[float, int]],
    heard: Callable[[int], None],
) -> _Counted:
    program = measuring.builtin(operation.workload, operation.board, dict(operation.variant))
    found = _Counted(program, [])
    by_waits: dict[int, _engine.Counts] = {}
    for vcc_v, freq_hz in places:
        waits = power_sets.wait_states(weights, freq_hz, vcc_v)
        if waits not in by_waits:
            counts, valid = measuring.run(measuring.at_clock(program, weights, freq_hz, vcc_v), operation.board, heard)
            if valid is False:
                raise SunsealError(f"{operation.label} gives a wrong result, so its price would mean nothing")
            by_waits[waits] = counts
        found.points.append((vcc_v, freq_hz, waits, by_waits[waits]))
    return found


def _rows(operation: Operation, weights: power_sets.PowerSet, counted: _Counted) -> Iterator[tuple[Any, ...]]:
    work, variant = operation.workload, boards.variant_text(dict(operation.variant))
    for vcc_v, freq_hz, waits, counts in counted.points:
        weighed = power_sets.weighed(weights, operation.board, counts, freq_hz, vcc_v)
        between = switching.of(work.name, operation.board, operation.variant, vcc_v, weights.name)
        yield (
            work.name,
            work.algorithm,
            work.parameter or "",
            work.operation,
            work.security_bits,
            operation.board,
            variant,
            weights.name,
            vcc_v,
            freq_hz,
            waits,
            counts.cycles,
            weighed.time_s,
            *weighed.energy_j,
            weighed.energy_j[0] / weighed.time_s,
            counts.flash_bytes or measuring.image_bytes(counted.program.image),
            counts.ram_bytes,
            counts.stack_bytes,
            *_between(between),
        )
