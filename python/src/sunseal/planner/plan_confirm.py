# SPDX-License-Identifier: MIT OR Apache-2.0
"""A plan asked of the closed loop: scenario files that play its tasks, and what they gave beside what was foretold.

Each task is played alone, by the firmware's duty program, on the plan's board, voltage, clock and supply. What the
radio takes for messages is not in it: the closed loop plays the radio asleep.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sunseal import _engine, measuring, simulation
from sunseal.errors import SunsealError
from sunseal.planner import plan_supplies as supply
from sunseal.planner import sweep
from sunseal.planner.plan import Configuration, Planned

ROUNDS = 3
"""Periods of the shorter of two runs; the longer has twice as many, and their difference is free of the start."""


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
    """What the closed loop said."""

    rows: tuple[Row, ...]

    @property
    def holds(self) -> bool:
        """Say whether every figure lies within its ends."""
        return all(r.inside for r in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {"holds": self.holds, "rows": [asdict(r) | {"inside": r.inside} for r in self.rows]}


def _tasks(planned: Planned, chosen: Configuration) -> list[tuple[str, str, float]]:
    """Return each task's name, workload and period."""
    works = str(chosen.row["workload"]).split(" + ")
    periodic = chosen.row["mode"] == "periodic"
    return [(t.name, w, t.every_s if periodic else t.asked_s) for t, w in zip(planned.read.tasks, works, strict=True)]


def scenario(
    planned: Planned, chosen: Configuration, task: int = 0, duration_s: float | None = None
) -> _engine.Scenario:
    """Return the scenario that plays one task of a configuration; in light that is twice what it needs at least."""
    _, workload, period_s = _tasks(planned, chosen)[task]
    period_s = float(max(1, round(period_s)))
    row, one = chosen.row, chosen.supply
    harvest: dict[str, Any] | None = None
    if isinstance(one, supply.Harvested):
        table = one.table() | {"initial_v": round((one.v_on_v + one.v_max_v) / 2, 3)}
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
    )


def write(planned: Planned, chosen: Configuration, path: Path) -> list[Path]:
    """Write a scenario for each task: `path` for the first, beside it for the others; `sunseal simulate` plays them."""
    written = []
    for i, (name, _, _) in enumerate(_tasks(planned, chosen)):
        file = path if i == 0 else path.with_name(f"{path.stem}-{name}{path.suffix}")
        told = json.loads(scenario(planned, chosen, i).to_json())
        told["firmware"] = os.path.relpath(told["firmware"], file.absolute().parent)
        head = f"# Written by `sunseal plan` for {chosen.name}: task `{name}`.\n"
        measuring.write_atomic(file, head + toml(told))
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


def confirm(planned: Planned, chosen: Configuration) -> Confirmed:
    """Play each task for some periods and for twice as many, and set the difference against the plan."""
    rows: list[Row] = []
    for i, (name, workload, period_s) in enumerate(_tasks(planned, chosen)):
        span_s = ROUNDS * float(max(1, round(period_s)))
        played = [simulation.play(scenario(planned, chosen, i, s)) for s in (span_s, 2 * span_s)]
        duties = [simulation.duty(p) for p in played]
        if duties[1].right is False or duties[1].failed:
            raise SunsealError(f"`{workload}` gives a wrong result in the closed loop, so its price means nothing")
        loads = [p.record["energy"]["supply"]["load_j"] for p in played]
        rows += [
            Row(name, "mean power", "W", *foretold_w(planned, chosen, i), (loads[1] - loads[0]) / span_s),
            Row(name, "operations", "", ROUNDS, ROUNDS - 1, ROUNDS + 1, duties[1].operations - duties[0].operations),
            Row(name, "brown-outs", "", 0, 0, 0, played[1].record["brown_outs"]),
        ]
    return Confirmed(tuple(rows))


def foretold_w(planned: Planned, chosen: Configuration, task: int) -> tuple[float, float, float]:
    """Return the mean power at the rail of one task alone, without messages: typical, low, high."""
    _, workload, period_s = _tasks(planned, chosen)[task]
    period_s = float(max(1, round(period_s)))
    row = chosen.row
    variant = tuple(v for v in str(row["variant"]).split(",") if v)
    one = measuring.measure(
        workload,
        board=str(row["board"]),
        variant=variant,
        freq_hz=int(row["freq_hz"]),
        vcc_v=float(row["vcc_v"]),
        power=planned.read.power_set,
    )
    asleep = sweep.asleep(str(row["board"]), float(row["vcc_v"]), planned.read.power_set)
    quiet = max(1.0 - one.time_s / period_s, 0.0)
    energies = one.energy_j, one.uncertainty["energy_low_j"], one.uncertainty["energy_high_j"]
    typical, low, high = (e / period_s + a * quiet for e, a in zip(energies, asleep, strict=True))
    # The loop counts whole operations: one more or less of a few, where a clock is a little off its period.
    slow, fast = planned.read.uncertainty.clock
    return typical, low * min(slow, 1.0), high * max(fast, 1.0) if math.isfinite(high) else high
