# SPDX-License-Identifier: MIT OR Apache-2.0
"""Architecture tuning (Mane 2014, chapter 5), over all curves at once: some bounds given, the best of the rest.

Section 5.1 bounds the energy and asks for the latency; section 5.2 bounds the latency and asks for the energy. Here
any of energy, latency, power, security level, flash and RAM may be bounded, and any of them may be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sunseal.answers.shown import Shown
from sunseal.catalog import citing
from sunseal.errors import SunsealError, unknown
from sunseal.measurement import switching
from sunseal.planner import asleep

QUANTITIES = {
    "energy": ("energy_j", "J"),
    "latency": ("time_s", "s"),
    "power": ("power_w", "W"),
    "security": ("security_bits", "bit"),
    "flash": ("flash_bytes", "B"),
    "ram": ("memory_bytes", "B"),
}
"""Quantities that may be bounded or asked for: column and unit. RAM counts the stack as well."""
MORE_IS_BETTER = frozenset({"security"})
SPREAD = {"energy": ("energy_low_j", "energy_high_j"), "power": ("power_low_w", "power_high_w")}
"""Two ends of a quantity whose coefficients the documents leave open."""
SAME = 1e-12
"""Relative; a bound that is met to the last bits of a float is met."""


@dataclass(frozen=True)
class Binding:
    """A bound that the best point would gain from."""

    quantity: str
    bound: float
    without: float
    """The best value of what was asked for if this bound alone were lifted."""
    gain: float
    """Share of the best value that lifting it would save."""


@dataclass(frozen=True)
class Relaxation:
    """Distance by which a bound alone would have to give way for some point to qualify; None: no value of it helps."""

    quantity: str
    bound: float
    needed: float | None
    row: dict[str, Any] | None


@dataclass(frozen=True)
class Tuned(Shown):
    """The answer: frames have the columns of the operations, `memory_bytes`, power's two ends and `sure`."""

    objective: str
    bounds: dict[str, float]
    qualifying: pd.DataFrame
    """Best first. `sure` tells whether the bounds hold at the unfavourable end of each coefficient too."""
    front: pd.DataFrame
    """The qualifying points that no other beats in energy, latency and security level together."""
    curves: pd.DataFrame
    """One row a curve (workload, board, variant, voltage): the span of clocks that qualifies."""
    binds: list[Binding]
    relaxations: list[Relaxation]
    nearest: dict[str, Any] | None
    """Nearest point where nothing qualifies: that whose largest excess over the bounds, as a factor, is smallest."""
    nearest_factor: float | None
    """That factor: all bounds together would have to give way by it."""
    points: pd.DataFrame = field(repr=False)
    """All that there was to choose from."""
    left_out: tuple[str, ...] = ()
    """Boards that do this too and were not weighed, as no node's program runs on them and nobody named them."""

    @property
    def best(self) -> dict[str, Any] | None:
        """The first of the qualifying points."""
        return None if self.qualifying.empty else _plain(self.qualifying.iloc[0])

    def frame(self) -> pd.DataFrame:
        """Return the qualifying points, best first."""
        return self.qualifying

    def cite(self) -> citing.Citations:
        """Return the documents behind the boards and coefficients of all points that were weighed."""
        cited = citing.of(papers=["mane2014"])
        for board, rows in self.points.groupby("board"):
            cited += citing.of(board=str(board), power_sets=sorted(set(rows.power_set)))
        return cited

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {
            "objective": self.objective,
            "bounds": {f"{QUANTITIES[q][0]}": value for q, value in self.bounds.items()},
            "best": self.best,
            "qualifying": [_plain(row) for _, row in self.qualifying.iterrows()],
            "front": [_plain(row) for _, row in self.front.iterrows()],
            "binds": [vars(b) for b in self.binds],
            "relaxations": [vars(r) for r in self.relaxations],
            "nearest": self.nearest,
            "nearest_factor": self.nearest_factor,
            "left_out": list(self.left_out),
        }


def _plain(row: pd.Series) -> dict[str, Any]:
    return {str(k): v.item() if isinstance(v, np.generic) else v for k, v in row.items()}


def with_derived(frame: pd.DataFrame) -> pd.DataFrame:
    """Add what the bounds speak of and the operations do not hold: RAM with stack, and the ends of the power."""
    return frame.assign(
        memory_bytes=frame.ram_bytes + frame.stack_bytes,
        power_low_w=frame.energy_low_j / frame.time_s,
        power_high_w=frame.energy_high_j / frame.time_s,
    )


def between_uses(frame: pd.DataFrame, every_s: float | None) -> pd.DataFrame:
    """Add what a coprocessor takes between uses, in column `coprocessor_j`, and in `coprocessor` what becomes of it.

    It is switched off, so that each operation starts it, the mote asleep meanwhile; or, where `every_s` says for how
    long, left on to wait.
    """
    fitted = frame.wait_w.to_numpy() > 0.0
    found = [frame[~fitted].assign(coprocessor="", coprocessor_j=0.0)]
    own = frame[fitted]
    for between in (switching.OFF, switching.ON) if len(own) else ():
        if between == switching.ON and every_s is None:
            continue
        some = own[np.isfinite(own.start_j)] if between == switching.OFF else own
        pause_s = 0.0 if every_s is None else np.maximum(every_s - some.time_s, 0.0)
        added = {}
        places = zip(some.board, some.vcc_v, some.power_set, strict=True)
        asleep_w = np.array([asleep.of_board(*place).total_w for place in places]).reshape(-1, 3)
        for i, end in enumerate(("", "_low", "_high")):
            of = some[f"wait{end}_w"] * pause_s
            if between == switching.OFF:
                of = some[f"start{end}_j"] + asleep_w[:, i] * (some.start_s - some.start_awake_s)
            added[f"energy{end}_j"] = some[f"energy{end}_j"] + of
        if between == switching.OFF:
            added["time_s"] = some.time_s + some.start_s
            added["power_w"] = added["energy_j"] / added["time_s"]
        coprocessor_j = added["energy_j"] - some.energy_j
        found.append(some.assign(coprocessor=between, coprocessor_j=coprocessor_j, **added))
    return pd.concat(found, ignore_index=True)


def tune(
    frame: pd.DataFrame, bounds: Mapping[str, float], objective: str | None = None, every_s: float | None = None
) -> Tuned:
    """Find the operating points within `bounds` (SI base units, by the names of `QUANTITIES`), best first.

    Without an objective: the latency if the energy is bounded and the latency is not, else the energy. `every_s` is
    from one operation to the next, of which a coprocessor's price depends.
    """
    for name in (*bounds, *([objective] if objective else [])):
        if name not in QUANTITIES:
            raise unknown("quantity", name, QUANTITIES)
    if frame.empty:
        raise SunsealError("there is no operation to choose from: the filters leave none")
    if objective is None:
        objective = "latency" if "energy" in bounds and "latency" not in bounds else "energy"
    frame = between_uses(with_derived(frame), every_s)
    met = {name: _met(frame, name, bound) for name, bound in bounds.items()}
    qualifying = _sorted(frame[_all(frame, met)], objective)
    sure = {name: _met(qualifying, name, bound, unfavourable=True) for name, bound in bounds.items()}
    qualifying = qualifying.assign(sure=_all(qualifying, sure))
    best = None if qualifying.empty else float(qualifying.iloc[0][QUANTITIES[objective][0]])
    nearest, factor = (None, None) if best is not None else _nearest(frame, bounds)
    return Tuned(
        objective=objective,
        bounds=dict(bounds),
        qualifying=qualifying,
        front=_front(qualifying),
        curves=_curves(qualifying),
        binds=[] if best is None else _binds(frame, met, bounds, objective, best),
        relaxations=[] if best is not None else _relaxations(frame, met, bounds),
        nearest=nearest,
        nearest_factor=factor,
        points=frame,
    )


def _met(frame: pd.DataFrame, name: str, bound: float, *, unfavourable: bool = False) -> pd.Series:
    column = QUANTITIES[name][0]
    if name in MORE_IS_BETTER:
        return frame[column] >= bound * (1 - SAME)
    if unfavourable and name in SPREAD:
        column = SPREAD[name][1]
    return frame[column] <= bound * (1 + SAME)


def _all(frame: pd.DataFrame, met: Mapping[str, pd.Series], but: str | None = None) -> pd.Series:
    whole = pd.Series(True, index=frame.index)
    for name, holds in met.items():
        if name != but:
            whole &= holds
    return whole


def _sorted(frame: pd.DataFrame, objective: str) -> pd.DataFrame:
    # What ties is settled by energy, then time, then names, so that the same question has the same answer.
    keys = [QUANTITIES[objective][0], "energy_j", "time_s", "workload", "board", "variant", "coprocessor", "vcc_v"]
    keys.append("freq_hz")
    keys = list(dict.fromkeys(keys))
    rising = [key != QUANTITIES[objective][0] or objective not in MORE_IS_BETTER for key in keys]
    return frame.sort_values(keys, ascending=rising, kind="stable").reset_index(drop=True)


def _front(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep what no other point beats or equals in energy, time and security (Kung, Luccio, Preparata 1975)."""
    ordered = frame.sort_values(["energy_j", "time_s", "security_bits"], ascending=[True, True, False], kind="stable")
    levels = np.unique(ordered.security_bits.to_numpy())
    fastest = dict.fromkeys(levels, np.inf)
    keep = []
    for place, time_s, bits in zip(ordered.index, ordered.time_s, ordered.security_bits, strict=True):
        if all(time_s < fastest[level] for level in levels[levels >= bits]):
            keep.append(place)
            fastest[bits] = time_s
    return ordered.loc[keep].reset_index(drop=True)


def _curves(frame: pd.DataFrame) -> pd.DataFrame:
    by = ["workload", "board", "variant", "coprocessor", "vcc_v"]
    return frame.groupby(by, sort=False, as_index=False).agg(
        freq_min_hz=("freq_hz", "min"),
        freq_max_hz=("freq_hz", "max"),
        time_min_s=("time_s", "min"),
        time_max_s=("time_s", "max"),
        energy_min_j=("energy_j", "min"),
        energy_max_j=("energy_j", "max"),
    )


def _binds(
    frame: pd.DataFrame, met: Mapping[str, pd.Series], bounds: Mapping[str, float], objective: str, best: float
) -> list[Binding]:
    found = []
    for name in bounds:
        if name == objective:
            continue
        values = frame.loc[_all(frame, met, but=name), QUANTITIES[objective][0]]
        without = float(values.max() if objective in MORE_IS_BETTER else values.min())
        gain = abs(best - without) / best
        if gain > SAME:
            found.append(Binding(name, bounds[name], without, gain))
    return sorted(found, key=lambda b: -b.gain)


def _nearest(frame: pd.DataFrame, bounds: Mapping[str, float]) -> tuple[dict[str, Any], float]:
    excess = np.zeros(len(frame))
    for name, bound in bounds.items():
        ratio = frame[QUANTITIES[name][0]].to_numpy(dtype=float) / bound
        excess = np.maximum(excess, 1 / ratio if name in MORE_IS_BETTER else ratio)
    at = int(excess.argmin())
    return _plain(frame.iloc[at]), float(excess[at])


def _relaxations(frame: pd.DataFrame, met: Mapping[str, pd.Series], bounds: Mapping[str, float]) -> list[Relaxation]:
    out = []
    for name, bound in bounds.items():
        rest = frame[_all(frame, met, but=name)]
        if rest.empty:
            out.append(Relaxation(name, bound, None, None))
            continue
        column = QUANTITIES[name][0]
        values = rest[column].to_numpy(dtype=float)
        at = int(values.argmax() if name in MORE_IS_BETTER else values.argmin())
        out.append(Relaxation(name, bound, float(values[at]), _plain(rest.iloc[at])))
    return out
