# SPDX-License-Identifier: MIT OR Apache-2.0
"""The least capacitor with which a program always gets on, whatever its lives begin with.

A program gets on if each life leaves it nearer to its end: fewer cycles without a further loss. What a cut can
leave is found by cutting the run from power-up, then each recovery, until nothing new is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sunseal import _engine, requests
from sunseal.asking import answers
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.measurement.cutting import Campaign, Left, Run, program_name


@dataclass(frozen=True)
class Least:
    """The shortest lives that always get on, and the capacitor that bears them."""

    program: str
    board: str
    power: str
    """The set of coefficients."""
    voltage_on_v: float
    voltage_off_v: float
    capacitance_f: float
    """Least capacitance at the chip's terminals, charged to `voltage_on_v` where a life begins."""
    charge_c: float
    """What the longest life that gets nowhere takes: the greater of the two voltages' prices."""
    energy_j: float
    """The same at `voltage_on_v`."""
    cycles: int
    """From power-up; a life that ends behind fewer may get nowhere."""
    time_s: float
    """From power-up, the start-up time included."""
    place: str
    """Where such a life ends at the latest."""
    path: tuple[int, ...]
    """The cuts that lead to its beginning, each in cycles from power-up; none is the first life."""
    whole_f: float
    """The capacitance for the whole run in one life."""
    whole_cycles: int
    states: int
    """How many different memories a life may begin with; each was cut everywhere."""
    cuts: int
    runs: int
    uncut: int
    """Memories whose recovery was not cut, as there were too many: the answer leaves them out."""
    changing: Mapping[str, int]
    """The objects that tell those from the others, by name, and how many values they had."""
    held: tuple[str, ...]
    """Objects that each life began with as the image has them."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return vars(self) | {"path": list(self.path)}


@answers(requests.LeastCapacitor)
def least_capacitor(to: requests.LeastCapacitor) -> Least:
    """Find the least capacitor with which a program comes from power-up to `end` whatever cuts it meets.

    A life begins with the capacitor at `voltage_on_v` and ends at `voltage_off_v` or later; nothing is harvested in
    it. The answer holds for all lives that are at least so long, of whatever lengths. Each life begins with what the
    image has in `held`, as a count of lives must for the answer to be one for any number of them. Raises SunsealError
    where a cut is not survived.
    """
    volts = on_v, off_v = (to.voltage_on_v, to.voltage_off_v)
    if not 0 < off_v < on_v:
        raise SunsealError(f"a life from {on_v:g} to {off_v:g} V has no energy: give the higher first")
    weights = measuring.PowerSet(to.power, to.board)
    ends = ("main", to.end, None, None, to.setup)
    run = Run(to.elf, to.board, *ends, to.golden, {}, to.invariants, None, to.held, to.adc_v)
    off_ps = round(to.off_s * 1e12)
    m = run.machine
    first = m.snapshot()
    told = run.uninterrupted(to.limit_cycles)
    m.restore(first)
    m.power_cut()
    m.engine.reboot(off_ps, to.seed)
    campaign = Campaign(run, told, off_ps, to.seed, losses=None)
    campaign.cut_all(Left((), snapshot=m.snapshot()), False, to.progress)
    for node in campaign.nodes:
        for cycle, reason in campaign.failed(node)[:1]:
            path = ", then ".join(f"{c:,}" for c in (*node.path, cycle))
            raise SunsealError(
                f"no capacitor helps: a loss of power {path} cycles behind power-up is not survived: {reason}",
                hint="`sunseal inject` without --least tells more of it",
            )
    lives = [(_price(campaign, weights, node, _in_vain(node), *volts), node) for node in campaign.nodes]
    (charge_c, energy_j, time_s), node = max(lives, key=lambda life: life[0][0])
    cycles = _in_vain(node)
    root = campaign.nodes[0]
    whole_c, _, _ = _price(campaign, weights, root, root.cycles, *volts)
    assert node.stretch is not None
    place = run.where(node.stretch, min(cycles, node.stretch.cycles), traced=False)[1]
    span_v = on_v - off_v
    return Least(
        program_name(to.elf),
        to.board,
        weights.name,
        *volts,
        charge_c / span_v,
        charge_c,
        energy_j,
        cycles,
        time_s,
        place,
        node.path,
        whole_c / span_v,
        root.cycles,
        len(campaign.nodes),
        sum(campaign.cut(n) for n in campaign.nodes),
        campaign.runs,
        len(campaign.uncut),
        campaign.changing(),
        tuple(to.held),
    )


def _in_vain(node: Left) -> int:
    """Return how long a life from here must at least last to leave less to do than there was."""
    assert node.stretch is not None
    latest = max((last for _, last, left in node.classes if left.cycles >= node.cycles), default=-1)
    in_front = node.cycles - node.stretch.cycles
    return min(in_front + latest + 1, node.cycles)


def _price(
    campaign: Campaign, weights: measuring.PowerSet, node: Left, cycles: int, on_v: float, off_v: float
) -> tuple[float, float, float]:
    """Return charge, energy at the higher voltage and time of a life of so many cycles, its start-up included."""
    run, m = campaign.run, campaign.run.machine
    assert node.snapshot is not None
    m.restore(node.snapshot)
    m.power_cut()
    before, since_s = m.engine.counts(), m.time_s
    m.engine.reboot(campaign.off_ps, campaign.seed)
    booted = m.cycles
    run.begin()
    m.engine.power_cut_in(booted + cycles, [])
    after, until_s = m.engine.counts(), m.time_s

    def energy_j(counts: _engine.Counts, volts: float) -> float:
        return weights.inner.weigh_as_run(counts, volts).energy_j

    spent = {v: energy_j(after, v) - energy_j(before, v) for v in (on_v, off_v)}
    charge_c = max(spent[v] / v for v in (on_v, off_v))
    return charge_c, spent[on_v], until_s - since_s - campaign.off_ps * 1e-12
