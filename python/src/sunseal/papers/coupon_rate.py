# SPDX-License-Identifier: MIT OR Apache-2.0
"""Signatures per second over harvested power, without coupons, with a store of them and with endless ones.

Figure 4 of Suslowicz 2017, from the closed loop: one program, `duty-coupon-p256.elf`, signs one message behind the
other, from a coupon where its store has one and whole where it has none; only what the store holds at the beginning
differs. Coupons are made by the program's own store beforehand. Beside each rate stands the paper's formula: an
operation every E/P, and no faster than one every D.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from sunseal import _engine, requests
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError, unknown
from sunseal.loop import simulation
from sunseal.machine.machine import Machine
from sunseal.measurement import measuring, oracle
from sunseal.requests.asking import answers

BOARD = "msp430fr5994-launchpad"
"""The board whose duty program keeps a store in FRAM."""
PROGRAM, USE, WHOLE = "duty-coupon-p256", "coupon-p256-use", "ecdsa-p256-sign"
FREQ_HZ, VCC_V = 8_000_000, 2.8
HARVESTER = "anagear-an1010"
NODE_STORE = 24
"""Coupons that the node's program keeps on this board: `BOARD_COUPON_FRAM_SLOTS`."""
ENDLESS = 120
"""So many are not used up while the rate is counted."""
WHOLE_PER_CHARGE, COUPONS_PER_CHARGE = 10, 100
"""Signatures that one charge of the capacitor pays: the last one of a charge is cut off and lost."""
CHARGES = 3
FACTORS = (0.1, 0.4, 0.8, 1.5)
"""Harvested power, over that from which on a node without coupons computes all the time."""

Kind = Literal["none", "store", "endless"]
KINDS: tuple[Kind, ...] = ("none", "store", "endless")
TITLES = {"none": "no coupons", "store": f"a store of {NODE_STORE}", "endless": "endless coupons"}


@dataclass(frozen=True)
class Point:
    """The rates at one harvested power."""

    harvested_w: float
    usable_w: float
    """Part of it that reaches the rail while the output is on."""
    kind: Kind
    rate_hz: float
    """From the closed loop."""
    formula_hz: float
    operations: int
    time_s: float
    brown_outs: int


@dataclass(frozen=True)
class Rates(Shown):
    """Rates of answers: figure 4 of the paper."""

    board: str
    power_set: str
    freq_hz: int
    vcc_v: float
    whole_j: float
    whole_s: float
    runtime_j: float
    runtime_s: float
    points: tuple[Point, ...]

    @property
    def inflection_w(self) -> dict[str, float]:
        """E/D: the harvested power from which on latency is the limit, not energy."""
        return {
            "none": harvested_w(self.whole_j / self.whole_s),
            "endless": harvested_w(self.runtime_j / self.runtime_s),
        }

    def as_json(self) -> dict[str, Any]:
        """Return it in SI base units."""
        return {**asdict(self), "inflection_w": self.inflection_w, "points": [asdict(p) for p in self.points]}


def _store(capacitance_f: float) -> dict[str, Any]:
    """Return the harvester and a store of so much that neither leaks nor resists: a table [supply]."""
    return {
        "harvester": HARVESTER,
        "capacitor": "capxx-hw203",
        "capacitance_f": capacitance_f,
        "esr_ohm": 0.01,
        "leak_ohm": 1e9,
        "overhead_j": 0.0,
    }


@cache
def supply(capacitance_f: float = 1.0) -> _engine.Supply:
    """Return the harvester with a store of so much, as the engine has it."""
    told = {"name": "a store", "board": BOARD, "firmware": "none", "duration_s": 1.0, "supply": _store(capacitance_f)}
    return _engine.Supply(boards.library(), _engine.Scenario.from_json(json.dumps(told)))


def _given_w(rail_w: float) -> float:
    """Return what the store gives for a load at the rail, what the harvester draws itself included."""
    return float(np.frombuffer(supply().given_w(np.array([rail_w, VCC_V])))[0])


def drawn_w(rail_w: float) -> float:
    """Return what a load at the rail takes out of the store."""
    return _given_w(rail_w) - _given_w(0.0)


def usable_w(power_w: float) -> float:
    """Return what of harvested power reaches the rail, while the output is on."""
    return supply().carried_w(supply().charged_w(power_w), VCC_V)


def harvested_w(rail_w: float) -> float:
    """Return the harvested power that brings so much to the rail."""
    return supply().light_w(_given_w(rail_w))


@cache
def _program() -> tuple[str, bytes]:
    """Return the program and what it is fed: key, entropy and message."""
    path = boards.firmware_path(BOARD, boards.variant((), BOARD), PROGRAM)
    return str(path), oracle.trial(boards.workload(USE)).fed


@cache
def _coupons(count: int) -> str:
    """Have the program's own store make so many, each of other entropy; return its memory."""
    path, fed = _program()
    machine = Machine(BOARD, path)
    machine.run(until="main", time_s=1.0)
    machine.write("bench_input", fed)
    at, out = machine.address("bench_input"), machine.address("bench_output")
    status = [machine.call("bench_setup", at, len(fed), out).value]
    for i in range(count):
        machine.write(at + 32, (i + 1).to_bytes(32, "little"))
        status.append(machine.call("sunseal_coupon_produce", machine.address("store")).value)
    if any(status):
        raise SunsealError(f"the store of {PROGRAM} made no {count} coupons: it answered {max(status)}")
    return machine.read("spend_memory").hex()


def scenario(kind: Kind, light_w: float, capacitance_f: float, weights: power_sets.PowerSet) -> dict[str, Any]:
    """Make the tables of a node behind the harvester, its store at the cut-off."""
    path, fed = _program()
    write: dict[str, Any] = {
        "duty_input": fed.hex(),
        "duty_input_len": len(fed),
        "duty_period_s": 0,
        "duty_mclk_khz": FREQ_HZ // 1000,
    }
    if waits := power_sets.wait_states(weights, FREQ_HZ, VCC_V):
        write["bench_wait_states"] = waits
    if kind != "none":
        write["spend_memory"] = _coupons(ENDLESS if kind == "endless" else NODE_STORE)
    return {
        "name": f"{TITLES[kind]} at {light_w:g} W",
        "board": BOARD,
        "firmware": path,
        "power": {"set": weights.name, "vcc_v": VCC_V},
        "supply": {**_store(capacitance_f), "initial_v": supply().v_cut_v},
        "harvest": {"constant_w": light_w},
        "write": write,
        "output": {"points": 2},
    }


def play(told: dict[str, Any], duration_s: float) -> dict[str, Any]:
    """Play a scenario for so long; return its record."""
    return simulation.play(_engine.Scenario.from_json(json.dumps({**told, "duration_s": duration_s}))).record


def _count(told: dict[str, Any], begins_s: float, lasts_s: float, skip_s: float) -> tuple[int, float, int]:
    """Count operations for `lasts_s`, `skip_s` behind the start, of a node whose capacitor is never empty."""
    record = play(told, begins_s + skip_s + lasts_s)
    (on_s,) = [e["time_s"] for e in record["events"] if e["kind"] == "on"]
    begun = int(play(told, on_s + skip_s)["operations"]) if skip_s else 0
    return int(play(told, on_s + skip_s + lasts_s)["operations"]) - begun, lasts_s, 0


def _count_charges(told: dict[str, Any], charges: int, most_s: float) -> tuple[int, float, int]:
    """Count operations over whole charges of the capacitor, each from empty to empty."""
    record = play(told, most_s)
    cuts = [e["time_s"] for e in record["events"] if e["kind"] == "brown-out"]
    if len(cuts) < charges:
        raise SunsealError(f"{told['name']}: {len(cuts)} brown-outs in {most_s:g} s, of {charges} charges")
    end_s = cuts[charges - 1]
    # Off from there on for longer than this.
    return int(play(told, end_s + 1e-3)["operations"]), end_s, charges


def _point(kind: Kind, light_w: float, costs: tuple[float, float, float, float], weights: power_sets.PowerSet) -> Point:
    whole_j, whole_s, runtime_j, runtime_s = costs
    rail_w = usable_w(light_w)
    each_j, each_s = (runtime_j, runtime_s) if kind == "endless" else (whole_j, whole_s)
    share = min(rail_w / (each_j / each_s), 1.0)
    # Of what a charge pays, with what the light adds meanwhile.
    most = COUPONS_PER_CHARGE if kind == "endless" else WHOLE_PER_CHARGE
    charge_j = most * each_s * drawn_w(each_j / each_s) * max(1.0 - share, 0.05)
    capacitance_f = charge_j / supply().energy_j(supply().v_cut_v, supply().v_on_v)
    charge_s = charge_j / max(supply().gains_w(light_w), 1e-9)
    told = scenario(kind, light_w, capacitance_f, weights)
    charges = 1 if kind == "endless" else CHARGES
    if share == 1.0:
        # The store's part comes at the beginning; the others are counted when they have got going.
        skip_s = 0.0 if kind == "store" else 0.15 * most * each_s
        counted = _count(told, 1.5 * charge_s, charges * most * each_s, skip_s)
    else:
        counted = _count_charges(told, charges, (charges + 0.3) * (charge_s + 1.5 * most * each_s))
    operations, time_s, cuts = counted
    if kind == "store":
        spent_s = NODE_STORE * max(runtime_s, runtime_j / rail_w)
        formula = (NODE_STORE + max(time_s - spent_s, 0.0) * min(rail_w / whole_j, 1 / whole_s)) / time_s
    else:
        formula = min(rail_w / each_j, 1 / each_s)
    return Point(light_w, rail_w, kind, operations / time_s, formula, operations, time_s, cuts)


def possible(board: str, lights_w: Iterable[float]) -> None:
    """Refuse a board without the program, and light that the harvester takes for itself."""
    if board != BOARD:
        raise unknown(f"board with the program {PROGRAM}", board, [BOARD])
    for light_w in lights_w:
        if not usable_w(light_w) > 0:
            raise SunsealError(
                f"{light_w:g} W of harvested power leave nothing behind the harvester's own; take more than "
                f"{harvested_w(0.0):.2g} W"
            )


def cost(workload: str, power: str) -> measuring.Measurement:
    """Measure an operation at the program's clock and supply."""
    return measuring.measure(workload, board=BOARD, freq_hz=FREQ_HZ, vcc_v=VCC_V, power=power)


@cache
def around(power: str) -> Rates:
    """Return figure 4 at `FACTORS`, once a process."""
    return rates(power=power)


@answers(requests.Rates)
def rates(to: requests.Rates) -> Rates:
    """Play the three stores at each harvested power; without any, around where latency becomes the limit."""
    lights_w = to.lights_w
    possible(to.board, lights_w)
    weights = power_sets.PowerSet(to.power, to.board)
    whole, runtime = (cost(name, to.power) for name in (WHOLE, USE))
    costs = (whole.energy_j, whole.time_s, runtime.energy_j, runtime.time_s)
    at = lights_w or [factor * harvested_w(whole.energy_j / whole.time_s) for factor in FACTORS]
    points = tuple(_point(kind, light_w, costs, weights) for light_w in at for kind in KINDS)
    return Rates(to.board, weights.name, FREQ_HZ, VCC_V, *costs, points)
