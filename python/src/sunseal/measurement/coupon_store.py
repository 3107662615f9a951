# SPDX-License-Identifier: MIT OR Apache-2.0
"""Costs of a coupon's store: each function of its medium, priced in the run that makes or uses a coupon."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sunseal._engine import EngineError
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError
from sunseal.machine import abi
from sunseal.machine.machine import Machine
from sunseal.measurement import measuring
from sunseal.measurement.costs import Cost

MEDIUM = ("format", "open", "burn", "drop", "write", "claim", "pass", "wipe", "use", "erases")
"""The functions of `struct sunseal_coupon_medium`, in its order (firmware/coupon/include/sunseal/coupon.h)."""
MEDIA = ("sunseal_coupon_fram", "sunseal_coupon_flash")
CYCLES_MAX = 200_000_000
"""A program that is longer does not end."""


@cache
def parts(workload: str, board: str, variant: tuple[str, ...], power: str, vcc_v: float | None) -> dict[str, Cost]:
    """Price the functions of the store's medium that a workload calls, by their names; each sum is of one coupon.

    `burn` gives the coupon a number and `write` keeps it; `claim`, `pass` (which reads and checks the payload, and
    wipes it on FRAM) and `wipe` are those of a use, or `use` is all three in one.
    """
    weights = power_sets.PowerSet(power, board)
    volts = power_sets.operating_point(weights, None, vcc_v)[1]
    machine = measuring.fed(workload, board, boards.variant(variant, board))

    def spent() -> Cost:
        counts = machine.engine.counts()
        point = weights.inner.weigh_as_run(counts, volts)
        return Cost(counts.cycles, point.time_s, point.energy_j)

    functions = _functions(machine)
    _reach(machine, [machine.address(f"bench_{workload.replace('-', '_')}")], workload)
    ends = _ends(machine)
    found: dict[str, Cost] = {}
    while _reach(machine, [*functions, *ends], workload) not in ends:
        name, before = functions[machine.pc], spent()
        _reach(machine, _ends(machine), workload)
        done = spent() - before
        found[name] = found[name] + done if name in found else done
    return found


def _ends(machine: Machine) -> list[int]:
    return sorted({place for place, _ in abi.of(machine.device).returns_to(machine)})


def _reach(machine: Machine, places: list[int], workload: str) -> int:
    stop = machine.run(until=places, cycles=CYCLES_MAX)
    if stop.kind != "pc":
        raise SunsealError(
            f"`{workload}` ended by {stop.kind} at {machine.describe(stop.pc)}, so its store has no price"
        )
    return machine.pc


def _functions(machine: Machine) -> dict[int, str]:
    """Read the medium's functions from its table in the program."""
    return dict(_table(machine))


def _table(machine: Machine) -> Iterator[tuple[int, str]]:
    wide = abi.of(machine.device).int_bytes  # as wide as a pointer
    for medium in MEDIA:
        try:
            words = machine.read(medium)
        except EngineError:
            continue
        for i, name in enumerate(MEDIUM):
            yield int.from_bytes(words[wide * i : wide * (i + 1)], "little") & ~1, name
