# SPDX-License-Identifier: MIT OR Apache-2.0
"""Smallest capacitor with which a program always makes progress, whatever its lives begin with.

A program makes progress if each life leaves it nearer to its end: fewer cycles without a further loss. What a cut can
leave is found by cutting the run from power-up, then each recovery, until nothing new is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sunseal import _engine, requests
from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import Verdict, listed
from sunseal.catalog import power_sets
from sunseal.errors import FindingsError, SunsealError
from sunseal.requests.asking import answers
from sunseal.secure.cutting import Campaign, Left, Run, program_name


@dataclass(frozen=True)
class Least(Shown):
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
    """Charge that the longest life that gets nowhere takes: the greater of the two voltages' prices."""
    energy_j: float
    """The same at `voltage_on_v`."""
    cycles: int
    """From power-up; a life that ends behind fewer may get nowhere."""
    time_s: float
    """From power-up, the start-up time included."""
    place: str
    """Place where such a life ends at the latest."""
    path: tuple[int, ...]
    """The cuts that lead to its beginning, each in cycles from power-up; none is the first life."""
    whole_f: float
    """The capacitance for the whole run in one life."""
    whole_cycles: int
    states: int
    """Number of different memories that a life may begin with; each was cut everywhere."""
    cuts: int
    runs: int
    uncut: int
    """Memories whose recovery was not cut, as there were too many: the answer leaves them out."""
    changing: Mapping[str, int]
    """The objects that tell those from the others, by name, and how many values they had."""
    held: tuple[str, ...]
    """Objects that each life began with as the image has them."""
    assumptions: tuple[str, ...] = ()
    """Assumptions of the answer, a sentence each."""

    @property
    def judged(self) -> Verdict:
        """The verdict: undecided where lives from some memories were not looked at, as one of them may need more."""
        left = f"lives from {self.uncut:,} more memories were not looked at, and one of them may need more"
        return Verdict(f"least-capacitor {Path(self.program).name}", self.cuts, open=(left,) if self.uncut else ())

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = {**self.judged.to_dict(), **vars(self)}
        return told | {name: list(told[name]) for name in ("path", "held", "assumptions")}


@answers(requests.LeastCapacitor)
def least_capacitor(to: requests.LeastCapacitor) -> Least:
    """Find the least capacitor with which a program comes from power-up to `end` whatever cuts it meets.

    A life begins with the capacitor at `voltage_on_v` and ends at `voltage_off_v` or later; nothing is harvested in
    it. The answer holds for all lives that are at least so long, of whatever lengths. Each life begins with what the
    image has in `held`, as a count of lives must for the answer to be one for any number of them. Without voltages a
    life goes from the board's supply down to the least at which the chip may run as fast as the program does; the
    answer says so, with all else that it takes for granted. Raises FindingsError where a cut is not survived.
    """
    weights = power_sets.PowerSet(to.power, to.board)
    if to.voltage_on_v is not None and to.voltage_off_v is not None:
        _span(to.voltage_on_v, to.voltage_off_v)
    ends = ("main", to.end, None, None, to.setup)
    run = Run(to.elf, to.board, *ends, to.golden, {}, to.invariants, None, to.held, to.adc_v)
    off_ps = round(to.off_s * 1e12)
    m = run.machine
    first = m.snapshot()
    told = run.uninterrupted(to.limit_cycles)
    volts, taken = _volts(to, weights, max(hz for hz, _, _ in m.engine.counts().clocks()))
    m.restore(first)
    m.power_cut()
    m.engine.reboot(off_ps, to.seed)
    campaign = Campaign(run, told, off_ps, to.seed, losses=None)
    campaign.cut_all(Left((), snapshot=m.snapshot()), False, to.progress)
    for node in campaign.nodes:
        for cycle, reason in campaign.failed(node)[:1]:
            path = ", then ".join(f"{c:,}" for c in (*node.path, cycle))
            raise FindingsError(
                f"no capacitor helps: a loss of power {path} cycles behind power-up is not survived: {reason}",
                hint="`sunseal inject` tells more of it",
            )
    lives = [(_price(campaign, weights, node, _in_vain(node), *volts), node) for node in campaign.nodes]
    (charge_c, energy_j, time_s), node = max(lives, key=lambda life: life[0][0])
    cycles = _in_vain(node)
    root = campaign.nodes[0]
    whole_c, _, _ = _price(campaign, weights, root, root.cycles, *volts)
    assert node.stretch is not None
    place = run.where(node.stretch, min(cycles, node.stretch.cycles), traced=False)[1]
    span_v = volts[0] - volts[1]
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
        (*taken, *_assumed(to, run)),
    )


def _span(on_v: float, off_v: float) -> tuple[float, float]:
    if not 0 < off_v < on_v:
        raise SunsealError(f"a life from {on_v:g} to {off_v:g} V has no energy: give the higher first")
    return on_v, off_v


def _volts(
    to: requests.LeastCapacitor, weights: power_sets.PowerSet, freq_hz: int
) -> tuple[tuple[float, float], tuple[str, ...]]:
    """Return the voltages between which a life goes, and what was taken for those that were not given."""
    told = []
    on_v, off_v = to.voltage_on_v, to.voltage_off_v
    if on_v is None:
        on_v = weights.board.vcc_v
        told.append(f"a life begins at {on_v:g} V, the supply of {to.board} (`--volts`)")
    if off_v is None:
        least = [v for most_hz, v, _ in weights.inner.levels() if most_hz >= freq_hz]
        if not least:
            raise SunsealError(
                f"the program runs at {freq_hz / 1e6:g} MHz, for which {weights.board.device} has no least supply: say "
                "by `--volts 3.0-1.8` where a life begins and ends"
            )
        off_v = min(least)
        told.append(
            f"it ends at {off_v:g} V, the least supply of {weights.board.device} at {freq_hz / 1e6:g} MHz, the fastest "
            "that the program runs (`--volts`)"
        )
    return _span(on_v, off_v), tuple(told)


def _assumed(to: requests.LeastCapacitor, run: Run) -> list[str]:
    """Say what the answer takes for granted beside its voltages."""
    end = "its halt" if run.rest is None else f"{run.rest}, where it stays for good"
    told = [] if to.end is not None else [f"the program has got on when it comes to {end} (`--to`)"]
    if run.compared:
        told.append(f"behind each cut there was compared: {listed(run.compared)}")
    else:
        told.append("whether what it leaves at its end is right was not compared (`--golden`, `--check`)")
    if run.keeps_nothing:
        told.append("it keeps nothing that survives a loss of power, so that it must come through in one life")
    told.append(f"the supply stays away for {to.off_s:g} s (`--off`), and nothing is harvested within a life")
    return [*told, "the capacitor feeds the chip alone, without a converter, leakage or a resistance of its own"]


def _in_vain(node: Left) -> int:
    """Return how long a life from here must at least last to leave less to do than there was."""
    assert node.stretch is not None
    latest = max((last for _, last, left in node.classes if left.cycles >= node.cycles), default=-1)
    in_front = node.cycles - node.stretch.cycles
    return min(in_front + latest + 1, node.cycles)


def _price(
    campaign: Campaign, weights: power_sets.PowerSet, node: Left, cycles: int, on_v: float, off_v: float
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
