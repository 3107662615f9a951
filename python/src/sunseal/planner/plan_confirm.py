# SPDX-License-Identifier: MIT OR Apache-2.0
"""A plan asked of the closed loop: scenario files that play its tasks, and what they gave beside what was foretold.

The closed loop plays each task's real program, and the same program idle, on the plan's board, voltage, clock and
supply: cycles, operations and joules of an operation and of sleep come from there. Together, with the messages at the
link layer's price, they are set beside the plan's mean power, and played by the fleet's engine through the darkest
week. A bound is 2 % of what was foretold: both sides weigh by the same coefficients, so no uncertainty of theirs
excuses a difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sunseal import _engine
from sunseal.answers import writing
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError
from sunseal.loop import fleet as fleets
from sunseal.loop import simulation
from sunseal.measurement import measuring, switching
from sunseal.planner import plan_supplies as supply
from sunseal.planner import radio, sweep
from sunseal.planner.plan import Configuration, Planned
from sunseal.planner.years import play_trace, summed_profile

ROUNDS = 3
"""Periods that the longer of two runs has more; their difference is free of the start."""
BOUND = 0.02
PLAYED_MOST_S = 600.0
"""The longest period that is played: an operation costs the same however long the sleep behind it."""
DUTY_CYCLES = 2_500
"""Cycles that the duty program adds around an operation, at most: 2,320 cycles on the MSP432P401R, measured."""
PAUSE_CYCLES = 3_000
"""Cycles that its pause in front of a coprocessor's start adds: 2,846 cycles on the ATmega128L, measured."""
IDLE_S = 65_520
"""The period of a program that only sleeps."""
WEEK = 7


@dataclass(frozen=True)
class Row:
    """One figure, foretold with its ends, and as it was played."""

    task: str
    quantity: str
    unit: str
    foretold: float
    low: float
    high: float
    played: float

    @property
    def inside(self) -> bool:
        """Say whether the loop agrees within the stated uncertainty."""
        return self.low <= self.played <= self.high


@dataclass(frozen=True)
class Confirmed:
    """Answer of the closed loop."""

    rows: tuple[Row, ...]

    @property
    def judged(self) -> Verdict:
        """The verdict: a figure that was played outside of its ends is a finding."""
        found = tuple(
            Finding(
                "outside",
                f"{r.task}: {r.quantity} is {r.played:g} {r.unit} where {r.low:g} to {r.high:g} was foretold",
                r.task,
            )
            for r in self.rows
            if not r.inside
        )
        return Verdict("plan --confirm", len(self.rows), found)

    @property
    def holds(self) -> bool:
        """Say whether there are figures, and every one lies within its ends."""
        return self.judged.passed

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {
            **self.judged.to_dict(),
            "holds": self.holds,
            "rows": [asdict(r) | {"inside": r.inside} for r in self.rows],
        }


def _tasks(planned: Planned, chosen: Configuration) -> list[tuple[str, str, float]]:
    """Return each task's name, workload and period."""
    works = str(chosen.row["workload"]).split(" + ")
    periodic = chosen.row["mode"] == "periodic"
    return [(t.name, w, t.every_s if periodic else t.asked_s) for t, w in zip(planned.read.tasks, works, strict=True)]


def scenario(
    planned: Planned,
    chosen: Configuration,
    task: int = 0,
    duration_s: float | None = None,
    period_s: float | None = None,
) -> _engine.Scenario:
    """Return the scenario that plays one task of a configuration, in light that carries it; with the task's bytes."""
    if chosen.row["coupons"]:
        raise SunsealError(
            f"{chosen.name}: the programs of a plan's scenarios keep no coupons",
            hint="leave `coupons` out of the task; examples/scenarios/coupons.toml plays a node that keeps them",
        )
    _, workload, every_s = _tasks(planned, chosen)[task]
    period_s = float(min(max(1, round(every_s)), simulation.PERIOD_MAX_S)) if period_s is None else period_s
    row, one, work = chosen.row, chosen.supply, boards.workload(workload)
    harvest: dict[str, Any] | None = None
    if isinstance(one, supply.Harvested):
        table = one.table() | {"initial_v": round((one.engine.v_on_v + one.engine.v_max_v) / 2, 3)}
        drawn_w = float(one.drawn_w(chosen.load.mean_w.to_numpy(), chosen.load.vcc_v.to_numpy())[0])
        harvest = {"constant_w": max(3.0 * drawn_w, 1e-4)}
    else:
        table = one.table(float(chosen.load.cutoff_v.iloc[0]))
        if one.kind != "linear":
            # The rail is the cell: at its mean voltage the node takes what was foretold.
            table["initial_v"] = float(row["vcc_v"])
    return simulation.duty_scenario(
        workload,
        board=row["board"],
        variant=tuple(v for v in str(row["variant"]).split(",") if v),
        vcc_v=float(row["vcc_v"]),
        freq_hz=int(row["freq_hz"]),
        period_s=int(period_s),
        duration_s=duration_s if duration_s is not None else 2 * ROUNDS * period_s,
        supply=table,
        harvest=harvest,
        power=planned.read.power_set,
        fed=sweep.fed(work, sweep.played_bytes(work, planned.read.tasks[task].size_bytes)[0]),
        switched_off=row["coprocessor"] == switching.OFF if row.get("coprocessor") else None,
    )


def write(planned: Planned, chosen: Configuration, path: Path) -> list[Path]:
    """Write a scenario for each task: `path` for the first, beside it for the others; `sunseal simulate` plays them."""
    written = []
    for i, (name, _, _) in enumerate(_tasks(planned, chosen)):
        file = path if i == 0 else path.with_name(f"{path.stem}-{name}{path.suffix}")
        told = json.loads(scenario(planned, chosen, i).to_json())
        told["firmware"] = os.path.relpath(told["firmware"], file.absolute().parent)
        head = f"# Written by `sunseal plan` for {chosen.name}: task `{name}`.\n"
        writing.write_atomic(file, head + toml(told))
        written.append(file)
    return written


def toml(table: Mapping[str, Any], where: str = "") -> str:
    """Write tables, numbers, text and lists as TOML; what is None is left out."""
    here, below = [], []
    for key, value in table.items():
        if value is None or value == {}:
            continue
        if isinstance(value, Mapping):
            name = f"{where}{key}"
            below.append(f"\n[{name}]\n{toml(value, f'{name}.')}")
        else:
            here.append(f"{key} = {_value(value)}\n")
    return "".join(here) + "".join(below)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class _Task:
    """Answer of the closed loop for a task: an operation beyond the sleep that it displaces."""

    operations: int
    cycles: float
    energy_j: float
    time_s: float
    idle_w: float
    brown_outs: int


def _difference(planned: Planned, chosen: Configuration, task: int, period_s: float, times: tuple[float, float]) -> Any:
    """Play a task for two durations; return what the longer has more: operations, cycles, joules, seconds awake."""
    played = [simulation.play(scenario(planned, chosen, task, d, period_s)) for d in times]
    duty = simulation.duty(played[1])
    if duty.failed:
        raise SunsealError(f"`{duty.workload}` gives a wrong result in the closed loop, so its price means nothing")
    sums = []
    for p in played:
        awake = [i for i in p.record["energy"]["load"]["items"] if i["name"].startswith("active.")]
        load_j = float(p.record["energy"]["supply"]["load_j"])
        sums.append(
            (
                float(p.record["operations"]),
                float(sum(i["cycles"] for i in awake)),
                load_j,
                float(sum(i["time_s"] for i in awake)),
                float(p.record["brown_outs"]),
            )
        )
    return [b - a for a, b in zip(*sums, strict=True)]


def _play(planned: Planned, chosen: Configuration, task: int, every_s: float) -> _Task:
    """Play a task at its period, in the middle of whose sleep the runs end, and the same program idle."""
    period_s = float(max(1, round(min(every_s, PLAYED_MOST_S))))
    span_s = ROUNDS * period_s
    times = 1.5 * period_s, 1.5 * period_s + span_s
    operations, cycles, load_j, awake_s, brown_outs = _difference(planned, chosen, task, period_s, times)
    _, idle_cycles, idle_j, idle_s, _ = _difference(planned, chosen, task, IDLE_S, times)
    idle_w, done = idle_j / span_s, max(operations, 1.0)
    time_s = (awake_s - idle_s) / done
    return _Task(
        operations=int(operations),
        cycles=(cycles - idle_cycles) / done,
        energy_j=(load_j - idle_w * (span_s - done * time_s)) / done,
        time_s=time_s,
        idle_w=idle_w,
        brown_outs=int(brown_outs),
    )


def confirm(planned: Planned, chosen: Configuration, everything: sweep.Field | None = None) -> Confirmed:
    """Play each task, then all of them together with their messages, and set both beside the plan.

    With the field that the plan was chosen from, a harvested node is played through its darkest week as well.
    """
    rows: list[Row] = []
    tasks = _tasks(planned, chosen)
    found = [_play(planned, chosen, i, every_s) for i, (_, _, every_s) in enumerate(tasks)]
    for (name, workload, _), one, task in zip(tasks, found, planned.read.tasks, strict=True):
        counted = _foretold_cycles(chosen, workload, sweep.played_bytes(boards.workload(workload), task.size_bytes)[0])
        start = _start_cycles(planned, chosen, workload)
        counted, around = counted + start, DUTY_CYCLES + (PAUSE_CYCLES if start else 0)
        low, high = _within(counted)
        rows += [
            Row(name, "cycles of an operation", "", counted, low, high + around, one.cycles),
            Row(name, "operations", "", ROUNDS, ROUNDS, ROUNDS, one.operations),
            Row(name, "brown-outs", "", 0, 0, 0, one.brown_outs),
        ]
    # What is beyond the program's buffer is as much more of the same.
    found = [
        replace(one, energy_j=one.energy_j * more, time_s=one.time_s * more)
        for one, more in zip(found, _beyond(planned, chosen), strict=True)
    ]
    idle_w = sum(one.idle_w for one in found) / len(found)
    radio_s = _radio_s(planned, chosen)
    mean_w = idle_w + float(chosen.row["listen_w"])
    for (_, _, every_s), one, told, on_air_s in zip(tasks, found, chosen.row["tasks"], radio_s, strict=True):
        mean_w += (one.energy_j - idle_w * one.time_s) / every_s + told["radio_w"] - idle_w * on_air_s / every_s
    foretold_w = float(chosen.row["mean_w"])
    rows.append(Row("all tasks", "mean power", "W", foretold_w, *_within(foretold_w), mean_w))
    if everything is not None and isinstance(chosen.supply, supply.Harvested):
        rows += _darkest_week(everything, chosen, tasks, found, radio_s, idle_w + float(chosen.row["listen_w"]))
    return Confirmed(tuple(rows))


def _beyond(planned: Planned, chosen: Configuration) -> list[float]:
    """Return how many times what was played each task's message takes."""
    found = []
    for task, (_, workload, _) in zip(planned.read.tasks, _tasks(planned, chosen), strict=True):
        where = workload, str(chosen.row["board"]), str(chosen.row["variant"])
        length, _ = sweep.played_bytes(boards.workload(workload), task.size_bytes)
        found.append(sweep.work_share(*where, task.size_bytes) / sweep.work_share(*where, length))
    return found


def _within(foretold: float) -> tuple[float, float]:
    return foretold * (1.0 - BOUND), foretold * (1.0 + BOUND)


def _foretold_cycles(chosen: Configuration, workload: str, size_bytes: int) -> float:
    """Return the cycles that the plan's price of an operation stands on."""
    row = chosen.row
    weights = power_sets.PowerSet(boards.DEFAULT_POWER, str(row["board"]))
    variant = dict(pair.split("=") for pair in str(row["variant"]).split(",") if pair)
    program = measuring.builtin(workload, str(row["board"]), variant)
    placed = measuring.at_clock(program, weights, int(row["freq_hz"]), float(row["vcc_v"]))
    counts, _ = measuring.run(placed, str(row["board"]))
    return counts.cycles * sweep.work_share(workload, str(row["board"]), str(row["variant"]), size_bytes)


def _start_cycles(planned: Planned, chosen: Configuration, workload: str) -> float:
    """Return the cycles in which the mote starts a coprocessor that is switched off between uses."""
    row = chosen.row
    if row.get("coprocessor") != switching.OFF:
        return 0.0
    variant = tuple(sorted((k, v) for k, _, v in (pair.partition("=") for pair in str(row["variant"]).split(","))))
    between = switching.of(workload, str(row["board"]), variant, float(row["vcc_v"]), planned.read.power_set)
    assert between is not None
    return between.start_awake_s * float(row["freq_hz"])


def _radio_s(planned: Planned, chosen: Configuration) -> list[float]:
    """Return how long the radio is on for each task's message, repetitions included."""
    link, row = planned.read.link, chosen.row
    found = []
    for task, (_, workload, _) in zip(planned.read.tasks, _tasks(planned, chosen), strict=True):
        if link is None or task.sends_bytes is None:
            found.append(0.0)
            continue
        prices = radio.prices(radio.of_board(row["board"], planned.read.radio), row["dbm"], row["vcc_v"], link.listen_s)
        body_bytes = sweep.body_bytes(boards.workload(workload), task.sends_bytes)
        found.append(prices.exchange(body_bytes).time_s * (1.0 + link.retries))
    return found


def _darkest_week(
    everything: sweep.Field,
    chosen: Configuration,
    tasks: list[tuple[str, str, float]],
    found: list[_Task],
    radio_s: list[float],
    rest_w: float,
) -> list[Row]:
    """Play all tasks as the loop measured them through the week of least light, beside the plan's own sums."""
    one = chosen.supply
    assert isinstance(one, supply.Harvested)
    hours_w = everything.lights[one.panel].hours_w()
    sums = np.convolve(hours_w, np.ones(WEEK * 24), "valid")[::24]
    first = int(sums.argmin()) * 24
    week_w = hours_w[first : first + WEEK * 24 + 1]
    trace = (np.arange(len(week_w)) * supply.HOUR_S).tolist(), week_w.tolist()
    gate_j = float(sweep.gate_j(one, chosen.load)[0])
    parts = []
    for (name, _, every_s), task, told, on_air_s in zip(tasks, found, chosen.row["tasks"], radio_s, strict=True):
        energy_j, time_s = task.energy_j + told["radio_w"] * every_s, task.time_s + on_air_s
        parts.append(fleets.Task(name, every_s, energy_j, time_s, gate_j))
    profile = fleets.NodeProfile(rest_w, 0.0, 0.0, min(60.0, *(p.period_s for p in parts)), tuple(parts))
    apart = play_trace(one, float(chosen.row["vcc_v"]), profile, trace, WEEK)
    summed = play_trace(
        one, float(chosen.row["vcc_v"]), summed_profile(everything.requirements, one, chosen.load), trace, WEEK
    )
    rows = [
        Row(
            "darkest week", "days survived", "", *(3 * (float(summed["days_survived"]),)), float(apart["days_survived"])
        )
    ]
    on_s = WEEK * fleets.DAY_S - apart["off_s"]
    if on_s > 0:
        foretold_w = float(chosen.row["mean_w"])
        rows.append(
            Row("darkest week", "power while on", "W", foretold_w, *_within(foretold_w), apart["sums"]["load_j"] / on_s)
        )
    return rows
