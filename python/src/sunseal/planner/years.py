# SPDX-License-Identifier: MIT OR Apache-2.0
"""The typical year of a harvested supply by the fleet's engine: its real store, efficiencies, gates and outages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sunseal.loop import fleet as fleets
from sunseal.planner import plan_supplies as supply
from sunseal.planner import sweep
from sunseal.planner.plan_requirements import Requirements

SURELY = 0.10
"""Below this margin by the hourly year, the engine's year is asked for its own."""
FIRST_DAYS = 60
"""A year that loses too many days has mostly lost them by then, in its first winter."""


def play_year(
    everything: sweep.Field, one: supply.Harvested, load: pd.DataFrame, days: int = supply.DAYS
) -> dict[str, Any]:
    """Play a configuration's typical year by the fleet's engine."""
    fate = play_trace(
        one,
        float(load.vcc_v.iloc[0]),
        summed_profile(everything.requirements, one, load),
        everything.lights[one.panel].trace,
        days,
    )
    due = max(fate["tasks"][0]["due"], 1)
    names = ("days", "days_survived", "brown_outs", "off_s", "v_min_v", "v_end_v")
    return {
        "survived_share": fate["days_survived"] / fate["days"],
        "done_share": fate["tasks"][0]["done"] / due,
        **{name: fate[name] for name in names},
        "panel_j": fate["sums"]["panel_j"],
        "curtailed_j": fate["sums"]["curtailed_j"],
        "energy_balance_rel": fate["balance_rel"],
        "low_light": everything.lights[one.panel].low_light,
    }


def summed_profile(wanted: Requirements, one: supply.Harvested, load: pd.DataFrame) -> fleets.NodeProfile:
    """Return a load as the fleet's engine takes it: all tasks as one at the shortest period, which asks for no less
    at a time."""
    row = load.iloc[0]
    shortest_s = float(sweep.shortest_s(wanted, load)[0])
    round_j = float(row.compute_w + row.radio_w) * shortest_s
    busy_s = max(float(row.busy) * shortest_s, 1e-6)
    gate_j = float(sweep.gate_j(one, load)[0])
    if one.engine.keeps_reserve:
        # Under the round's mean power the engine keeps it by itself; the gate adds what the peak takes beyond.
        mean_w = np.array([(row.compute_w + row.radio_w) / max(float(row.busy), 1e-9)])
        gate_j -= float(np.minimum(one.reserve_j(mean_w, load.vcc_v.to_numpy()), gate_j)[0])
    task = fleets.Task("round", shortest_s, max(round_j, 1e-15), min(busy_s, 0.999 * shortest_s), gate_j)
    sleep_w = float(row.mean_w - row.compute_w - row.radio_w) / max(1.0 - float(row.busy), 1e-6)
    return fleets.NodeProfile(sleep_w, 0.0, 0.0, min(60.0, shortest_s), (task,))


def play_trace(
    one: supply.Harvested, vcc_v: float, profile: fleets.NodeProfile, trace: fleets.Trace, days: int
) -> dict[str, Any]:
    """Play a profile on a supply in a light, by the fleet's engine."""
    # The chip's brown-out lies below every cut-off here: any board will do.
    return fleets.play_one(profile, trace, days, vcc_v=vcc_v, supply=one.table())


class Years:
    """Shares of days that engine's years keep, so that none is played twice."""

    def __init__(self) -> None:
        """Begin with no year played."""
        self.known: dict[tuple[Any, ...], float] = {}
        self.at_most: dict[tuple[Any, ...], float] = {}
        """Bounds of years that were not played on."""
        self.lights: dict[int, supply.Light] = {}
        """Held, so that none takes another's number."""

    def share(self, everything: sweep.Field, one: supply.Harvested, load: pd.DataFrame) -> float:
        """Return the share of days that a year keeps."""
        key = self._key(everything, one, load)
        if key not in self.known:
            self.known[key] = float(play_year(everything, one, load)["survived_share"])
        return self.known[key]

    def survive(self, everything: sweep.Field, one: supply.Harvested, load: pd.DataFrame, share: float) -> bool:
        """Say whether a year keeps a share of its days; one that has lost too many early is not played on."""
        key = self._key(everything, one, load)
        if key not in self.known:
            if key not in self.at_most:
                first = play_year(everything, one, load, FIRST_DAYS)
                # What waits at the end of a part counts as a day lost there, and may yet be done.
                lost = first["days"] - first["days_survived"] - 1
                self.at_most[key] = 1.0 - lost / supply.DAYS
            if self.at_most[key] < share:
                return False
        return self.share(everything, one, load) >= share

    def _key(self, everything: sweep.Field, one: supply.Harvested, load: pd.DataFrame) -> tuple[Any, ...]:
        light = everything.lights[one.panel]
        self.lights[id(light)] = light
        return one.name, float(load.vcc_v.iloc[0]), summed_profile(everything.requirements, one, load), id(light)


def margin(everything: sweep.Field, one: supply.Harvested, load: pd.DataFrame, share: float) -> float:
    """Return by how much a load may grow until the engine's year refuses it, to a thousandth, up to `SURELY`.

    It grows by more time awake: pulses stay as heavy as they are.
    """
    low, high, played = 0.0, SURELY, Years()
    while high - low > 1e-3:
        middle = (low + high) / 2
        more = load.assign(**{name: load[name] * (1.0 + middle) for name in ("mean_w", "compute_w", "radio_w", "busy")})
        low, high = (middle, high) if played.survive(everything, one, more, share) else (low, middle)
    return low
