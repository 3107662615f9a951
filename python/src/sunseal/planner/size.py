# SPDX-License-Identifier: MIT OR Apache-2.0
"""Supercapacitor and panel: the energy model of Mane 2014, chapter 6, then the same node over a real year."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sunseal import _engine
from sunseal.catalog import boards, citing, part_files
from sunseal.errors import SunsealError
from sunseal.loop import fleet as fleets
from sunseal.loop.simulation import LOSSES
from sunseal.measurement import switching
from sunseal.measurement.switching import Between
from sunseal.planner.priced import Priced

OVERHEAD_J = 0.125
"""The harvester's overhead in equation 6.1."""
MARGIN = 2.0
"""The safety factor in equation 6.1."""
DECISIONS = ("sleep", "sign and send", "answer a challenge")


@dataclass(frozen=True)
class Demand:
    """Demand of a node on its supply; energies at the regulated output."""

    compute_j: float
    compute_s: float
    radio_j: float
    radio_s: float
    sleep_w: float
    period_s: float
    margin: float = MARGIN
    overhead_j: float = OVERHEAD_J
    between: str = ""
    """Word for what becomes of a coprocessor between uses; its start is part of computing, its waiting of the sleep."""

    @property
    def needed_j(self) -> float:
        """Return what must be stored before an operation begins: the right side of equation 6.1."""
        return self.margin * (self.compute_j + self.radio_j) + self.overhead_j

    @property
    def mean_w(self) -> float:
        """Mean power: the right side of equation 6.2, with the duty cycle as operations a second."""
        return self.sleep_w + (self.compute_j + self.radio_j) / self.period_s


def ways(demand: Demand, between: Between | None) -> list[Demand]:
    """Add what a coprocessor takes between uses: one demand where it is switched off, one where it is left on."""
    if between is None:
        return [demand]
    (start_j, _, _), (wait_w, _, _) = between.start_j, between.wait_w
    found = [replace(demand, sleep_w=demand.sleep_w + wait_w, between=switching.ON)]
    if math.isfinite(start_j):
        # The sleep through its configuration is in `sleep_w`.
        compute_j, compute_s = demand.compute_j + start_j, demand.compute_s + between.start_awake_s
        found.append(replace(demand, compute_j=compute_j, compute_s=compute_s, between=switching.OFF))
    return found


def capacitor_v(demand: Demand, capacitance_f: float, cutoff_v: float = 0.0) -> float:
    """Return the voltage that the store needs before an operation (equation 6.1).

    The thesis counts the store from 0 V; with a cut-off only what lies above it can be used.
    """
    if not capacitance_f > 0:
        raise SunsealError(f"a capacitance of {capacitance_f:g} F stores nothing; it must be above zero")
    return math.sqrt(2 * demand.needed_j / capacitance_f + cutoff_v**2)


def capacitance_f(demand: Demand, v_max_v: float, cutoff_v: float = 0.0) -> float:
    """Return the capacitance that holds an operation between two voltages (equation 6.1, solved for C)."""
    if v_max_v <= cutoff_v:
        raise SunsealError(
            f"the store is charged to {v_max_v:g} V and cut off at {cutoff_v:g} V: nothing lies between; "
            "take a lower cut-off or a store for a higher voltage"
        )
    return 2 * demand.needed_j / (v_max_v**2 - cutoff_v**2)


def panel_w(demand: Demand, efficiency: float = 1.0, sun_hours: float = 24.0) -> float:
    """Return the panel's rated power (equation 6.2), for so many hours of full sun a day."""
    return demand.mean_w / efficiency * 24.0 / sun_hours


def autonomy_s(demand: Demand, stored_j: float) -> float:
    """Return how long a store lasts without light (equation 6.3)."""
    return stored_j / demand.mean_w


def shortest_period_s(demand: Demand, power_w: float) -> float:
    """Return the highest duty cycle that a mean power carries (equation 6.2), as the time between operations."""
    spare_w = power_w - demand.sleep_w
    if spare_w <= 0:
        raise SunsealError(
            f"{power_w:.3g} W from the panel do not even cover the sleep of {demand.sleep_w:.3g} W; no duty cycle "
            "is possible"
        )
    return max((demand.compute_j + demand.radio_j) / spare_w, demand.compute_s + demand.radio_s)


def decide(demand: Demand, capacitance_f: float, v_v: float, mode: str, asked: bool, cutoff_v: float = 0.0) -> str:
    """Take the decision of figure 6.1: what a node does at a voltage of its store.

    `mode` is `periodic` (it signs whenever it can) or `asynchronous` (it answers when it is `asked`).
    """
    if mode not in ("periodic", "asynchronous"):
        raise SunsealError(f"the mode is `{mode}`; figure 6.1 has periodic and asynchronous")
    if v_v < capacitor_v(demand, capacitance_f, cutoff_v):
        return DECISIONS[0]
    if mode == "periodic":
        return DECISIONS[1]
    return DECISIONS[2] if asked else DECISIONS[0]


@dataclass(frozen=True)
class Question:
    """Question that was asked: a demand on a store between two voltages, in a light or in none."""

    demand: Demand
    board: str
    store_f: float
    v_max_v: float
    cutoff_v: float
    trace: fleets.Trace | None
    efficiency: float
    lender: str | None = None
    """The board whose supply it is; None: its own."""
    vcc_v: float = 3.0
    temperature_c: float | None = None


@dataclass(frozen=True)
class Sized(Priced):
    """The answer, SI base units."""

    needed_j: float
    capacitor_v: float
    """By equation 6.1, from 0 V as the thesis has it."""
    capacitor_above_cutoff_v: float
    """The same above the cut-off."""
    capacitance_f: float
    panel_w: float
    """By equation 6.2 in light without end; over a year see `year`."""
    autonomy_s: float
    """By equation 6.3, between the highest voltage and the cut-off."""
    dark_s: float
    """Time for which the full store lasts without light: with the output's losses, the electronics' own consumption,
    leakage, and what the heaviest pulse must find in the store's resistance."""
    shortest_period_s: float | None
    """By equation 6.2 with the year's mean light; None where even sleep is too much."""
    year: dict[str, Any] | None
    remarks: tuple[str, ...]
    """Figures of the store that its sheet does not have over the temperature."""
    question: Question = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        demand = self.question.demand
        return {
            **self.figures(),
            "mean_w": demand.mean_w,
            "sleep_w": demand.sleep_w,
            "compute_j": demand.compute_j,
            "radio_j": demand.radio_j,
            **({"coprocessor": {"between": demand.between, **self.between.to_dict()}} if self.between else {}),
            "unchecked": self.citations.unchecked,
            "assumed": self.citations.assumed,
            **self.parts(),
        }


def year_of(
    demand: Demand,
    board: str,
    capacitance_f: float,
    trace: fleets.Trace,
    light: float = 1.0,
    days: int = 365,
    lender: str | None = None,
    temperature_c: float | None = None,
) -> dict[str, Any]:
    """Play a year on the board's own supply, or a lender's, from the profile that `demand` is.

    See `sunseal_node::fleet`.
    """
    task = fleets.Task(
        "sign",
        demand.period_s,
        demand.compute_j + demand.radio_j,
        demand.compute_s + demand.radio_s,
        demand.margin * (demand.compute_j + demand.radio_j),
    )
    profile = fleets.NodeProfile(demand.sleep_w, 0.0, 0.0, min(60.0, demand.period_s), (task,))
    supply = supply_table(lender, temperature_c) or None
    fate = fleets.play_one(profile, trace, days, board=board, supply=supply, light=light, capacitance_f=capacitance_f)
    sums = fate["sums"]
    work_j = sums["load_j"] + sums["store_load_j"]
    lost_j = sum(sums[key] for key in LOSSES if key != "curtailed_j")
    return {
        "survived_share": fate["days_survived"] / fate["days"],
        "done_share": fate["tasks"][0]["done"] / max(fate["tasks"][0]["due"], 1),
        **{key: fate[key] for key in ("days", "days_survived", "brown_outs", "starts", "off_s", "v_min_v", "v_end_v")},
        "panel_j": sums["panel_j"],
        "work_j": work_j,
        "curtailed_j": sums["curtailed_j"],
        "lost_j": lost_j,
        "stored_j": sums["panel_j"] - work_j - lost_j - sums["curtailed_j"],
        "energy_balance_rel": fate["balance_rel"],
    }


def supply_table(lender: str | None, temperature_c: float | None) -> dict[str, Any]:
    """Return the table [supply] of a scenario: a lender's harvester and store, else the board's own."""
    told = {} if lender is None else {k: v for k, v in boards.board(lender)["supply"].items() if k != "panel"}
    return told if temperature_c is None else {**told, "temperature_c": temperature_c}


def _engines(board: str, table: dict[str, Any]) -> _engine.Supply:
    """Return a board's supply as the engine has it, changed by a table [supply]."""
    told = {"name": "a store", "board": board, "firmware": "none", "duration_s": 1.0, "supply": table}
    return _engine.Supply(boards.library(), _engine.Scenario.from_json(json.dumps(told)))


def dark_s(
    demand: Demand, board: str, vcc_v: float, capacitance_f: float, lender: str | None, temperature_c: float | None
) -> float:
    """Ask the engine how long a full store lasts without light, until the heaviest pulse meets the cut-off."""
    store = _engines(board, {**supply_table(lender, temperature_c), "capacitance_f": capacitance_f})
    peak_w = max(
        joules / time_s for joules, time_s in ((demand.compute_j, demand.compute_s), (demand.radio_j, demand.radio_s))
        if time_s > 0
    )  # fmt: skip
    given_w, reserve_j = (np.frombuffer(of(np.array([demand.mean_w, vcc_v, peak_w, vcc_v]))) for of in
                          (store.given_w, store.reserve_j))  # fmt: skip
    return store.dark_s(float(given_w[0]), float(reserve_j[1])) if reserve_j[1] < store.full_j else 0.0


def mean_w(trace: fleets.Trace) -> float:
    """Return the mean power of a trace."""
    time_s, power_w = trace
    total = sum((b - a) * (p + q) / 2 for a, b, p, q in zip(time_s, time_s[1:], power_w, power_w[1:], strict=False))
    return total / (time_s[-1] - time_s[0])


def size(
    demand: Demand,
    board: str,
    *,
    store_f: float,
    v_max_v: float,
    cutoff_v: float,
    trace: fleets.Trace | None = None,
    efficiency: float = 1.0,
    lender: str | None = None,
    others: Sequence[Demand] = (),
    vcc_v: float = 3.0,
    temperature_c: float | None = None,
) -> Sized:
    """Answer equations 6.1 to 6.3 for a store, and play the year if there is light to play.

    `others` are the same operation with its coprocessor left on or switched off instead: at the shortest period that
    may take less.
    """
    stored_j = store_f * (v_max_v**2 - cutoff_v**2) / 2
    period_s = None
    if trace is not None:
        for one in (demand, *others):
            with contextlib.suppress(SunsealError):
                shortest_s = shortest_period_s(one, efficiency * mean_w(trace))
                period_s = shortest_s if period_s is None else min(period_s, shortest_s)
    return Sized(
        needed_j=demand.needed_j,
        capacitor_v=capacitor_v(demand, store_f),
        capacitor_above_cutoff_v=capacitor_v(demand, store_f, cutoff_v),
        capacitance_f=capacitance_f(demand, v_max_v, cutoff_v),
        panel_w=panel_w(demand, efficiency),
        autonomy_s=autonomy_s(demand, stored_j),
        dark_s=dark_s(demand, board, vcc_v, store_f, lender, temperature_c),
        shortest_period_s=period_s,
        year=None
        if trace is None
        else year_of(demand, board, store_f, trace, lender=lender, temperature_c=temperature_c),
        remarks=tuple(part_files.deaf_to_temperature(citing.supply_parts(lender or board), temperature_c)),
        question=Question(demand, board, store_f, v_max_v, cutoff_v, trace, efficiency, lender, vcc_v, temperature_c),
    )


def supply_of(board: str) -> dict[str, float]:
    """Return the figures of a board's own store and harvester: capacitance_f, v_max_v, v_cut_v, charge_efficiency."""
    facts: Any = boards.board(board)
    if "supply" not in facts:
        raise SunsealError(
            f"{board} has no harvester and no store of its own: it lives on a battery; see `lifetime`",
            hint="`--supply msp430f5438a-anagear` takes that board's harvester, store and panel",
        )
    own = _engines(board, {})
    return {
        "capacitance_f": part_files.capacitance_f(facts["supply"]["capacitor"]),
        "v_max_v": own.v_max_v,
        "v_cut_v": own.v_cut_v,
        "charge_efficiency": own.charged_w(1.0),
    }
