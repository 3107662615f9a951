# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal.plan`: from requirements to the cheapest complete configurations, and how sure they are.

A configuration is an algorithm for each task, a board with its variant, a voltage, a clock, a protocol mode, and a
supply. All of them are judged (`sweep`); the cheapest few of different kinds are then played through the typical year
by the fleet's engine, and their margins get their uncertainty (`uncertainty`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sunseal import _engine, boards, citing, measuring, units
from sunseal import fleet as fleets
from sunseal.planner import lifetime, operations, sweep, uncertainty
from sunseal.planner import plan_link as links
from sunseal.planner import plan_requirements as wishes
from sunseal.planner import plan_supplies as supply
from sunseal.planner import radio as radios
from sunseal.planner.plan_requirements import Requirements

Numbers = npt.NDArray[np.int64]
BEST = 5
SPARE = 3
"""So many more are kept to take the place of one that the engine's year refuses."""
UNITS = {"link": "dB", "security": "bits"}
LIGHTS = 16
"""Factors of light that a relaxation tries at once."""
LIGHT_MOST = 1e3
PERIOD_MOST = 1e4
"""The largest factors of light and period that a relaxation tries."""


@dataclass(frozen=True)
class Margin:
    """How far a configuration is from failing a requirement; 0 is the edge.

    Relative to what is required, but for the link, in dB, and for security, in bits.
    """

    requirement: str
    value: float
    low: float
    high: float
    unit: str = ""

    @property
    def sure(self) -> bool:
        """Say whether the requirement holds at the unfavourable end as well."""
        return self.low >= 0.0


@dataclass(frozen=True)
class Configuration:
    """One complete answer. `row` has plain values, SI base units, unit last."""

    name: str
    row: dict[str, Any]
    cost: float
    margins: tuple[Margin, ...]
    sensitivity: tuple[uncertainty.Swing, ...]
    """Energy margin over each assumption's ends, widest first."""
    year: dict[str, Any] | None
    """The typical year by the fleet's engine; None of a battery."""
    words: str
    supply: supply.Harvested | supply.Battery = field(repr=False)
    load: pd.DataFrame = field(repr=False)

    @property
    def margin(self) -> dict[str, float]:
        """Return each requirement's margin."""
        return {m.requirement: m.value for m in self.margins}

    @property
    def unsure(self) -> tuple[str, ...]:
        """Name the requirements whose margin is inside its uncertainty."""
        return tuple(m.requirement for m in self.margins if not m.sure)

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {
            "name": self.name,
            "cost": self.cost,
            **self.row,
            "margins": [_finite(asdict(m) | {"sure": m.sure}) for m in self.margins],
            "sure": not self.unsure,
            "sensitivity": [_finite(s.to_dict()) for s in self.sensitivity],
            "year": self.year,
            "words": self.words,
        }


@dataclass(frozen=True)
class Relaxation:
    """How far one requirement alone would have to give way for something to qualify."""

    requirement: str
    wanted: str
    needed: str | None
    """None: no value of it helps."""
    name: str | None

    @property
    def sentence(self) -> str:
        """Say it."""
        if self.needed is None:
            return f"giving way in {self.requirement} alone does not help"
        return f"{self.requirement} of {self.needed} instead of {self.wanted} would do: {self.name}"


@dataclass(frozen=True)
class Planned:
    """The answer."""

    requirements: dict[str, Any]
    configurations: tuple[Configuration, ...]
    """Cheapest first; none if nothing qualifies."""
    losers: tuple[tuple[str, str], ...]
    """Each other algorithm and board, and in words why it lost."""
    relaxed: tuple[Relaxation, ...]
    remarks: tuple[str, ...]
    considered: int
    qualifying: int
    front: pd.DataFrame
    """The cheapest of each algorithm, board and store that qualifies: columns as in `row`."""
    candidates: pd.DataFrame
    """The same of everything that was considered, with what it meets."""
    citations: citing.Citations = field(repr=False)
    read: Requirements = field(repr=False)

    @property
    def best(self) -> Configuration | None:
        """Return the cheapest."""
        return self.configurations[0] if self.configurations else None

    @property
    def relaxations(self) -> list[str]:
        """Say what would have to give way, where nothing qualifies: what helps first."""
        useless = [r.requirement for r in self.relaxed if r.needed is None]
        told = [r.sentence for r in self.relaxed if r.needed is not None]
        if useless:
            names = useless[0] if len(useless) == 1 else f"{', '.join(useless[:-1])} or {useless[-1]}"
            told.append(f"giving way in {names} alone does not help")
        return told

    @property
    def sources(self) -> citing.Citations:
        """Return the same as `cite`."""
        return self.citations

    def cite(self) -> citing.Citations:
        """Return the documents behind every data file that entered."""
        return self.citations

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {
            "name": self.read.name,
            "considered": self.considered,
            "qualifying": self.qualifying,
            "configurations": [c.to_dict() for c in self.configurations],
            "runners_up": [{"name": name, "words": words} for name, words in self.losers],
            "relaxations": [asdict(r) | {"sentence": r.sentence} for r in self.relaxed],
            "remarks": list(self.remarks),
            "sources": [{"file": s.file, "source": s.text, "recalled": s.recalled} for s in self.citations],
        }


def factor(margin: float) -> str:
    """Write a relative margin: per cent, and from ten times of what is needed on as a factor."""
    if math.isinf(margin):
        return "without limit" if margin > 0 else "none"
    if margin < 9:
        return f"{margin:+.0%}"
    return f"x {margin + 1:.3g}" if margin < 999 else f"x {margin + 1:,.0f}"


def _finite(told: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in told.items()}


def plan(
    requirements: Path | Mapping[str, Any] | Requirements,
    *,
    best: int = BEST,
    check: bool = True,
    progress: operations.Progress | None = None,
) -> Planned:
    """Find the cheapest configurations that meet requirements: a file, its tables, or what was read of them.

    With `check`, a harvested supply is played through its year by the fleet's engine before it is offered. Raises
    `SunsealError` where the requirements cannot be read or ask for what cannot be; where nothing meets them, the
    answer has no configurations and says what would have to give way.
    """
    if isinstance(requirements, Requirements):
        wanted = requirements
    elif isinstance(requirements, Path | str):
        wanted = wishes.load(Path(requirements))
    else:
        wanted = wishes.read(requirements)
    return choose(sweep.field(wanted, progress=progress), best=best, check=check)


def choose(everything: sweep.Field, *, best: int = BEST, check: bool = True) -> Planned:
    """Choose from a field that was brought together before."""
    wanted, table = everything.requirements, everything.table
    groups, names = _groups(table)
    found = _Found(len(table))
    for i, judged in everything.judged():
        found.add(i, judged, groups)
    candidates = _frame(everything, found)
    configurations, dropped = _configurations(everything, candidates[candidates.qualifies], best, check)
    losers = [*dropped, *_losers(everything, found, groups, names, candidates, configurations)]
    relaxed = [] if configurations else _relaxations(everything, found, candidates)
    remarks = [f"taken only where they are named, for their keys are used up: {', '.join(sweep.used_up(wanted))}"]
    if not sweep.used_up(wanted):
        remarks = []
    remarks += everything.refused
    return Planned(
        requirements=wanted.to_dict(),
        configurations=tuple(configurations),
        losers=tuple(losers),
        relaxed=tuple(relaxed),
        remarks=tuple(remarks),
        considered=found.considered,
        qualifying=found.qualifying,
        front=candidates[candidates.qualifies].reset_index(drop=True),
        candidates=candidates,
        citations=_sources(everything, configurations),
        read=wanted,
    )


# --- Going through all of it -----------------------------------------------------------------


def _groups(table: pd.DataFrame) -> tuple[Numbers, list[tuple[str, str]]]:
    """Number the loads by algorithm and board."""
    index = pd.MultiIndex.from_frame(table[["workload", "board"]])
    codes, kinds = index.factorize()
    return np.asarray(codes, dtype=np.int64), [(str(w), str(b)) for w, b in kinds]


def _at(flags: sweep.Flags) -> Numbers:
    return np.flatnonzero(flags).astype(np.int64)


class _Found:
    """What is kept of each supply's judgement: the best of each group, and how near the others came."""

    def __init__(self, loads: int) -> None:
        self.considered = self.qualifying = 0
        self.kept: list[tuple[int, int, float, float, float, bool]] = []
        """Supply, load, cost, power drawn, energy margin, whether it qualifies."""
        self.margin = np.full(loads, -np.inf)
        """The best energy margin of each load, over all supplies."""
        self.supply = np.full(loads, -1)
        self.met: dict[str, sweep.Flags] = {}

    def add(self, i: int, judged: sweep.Judged, groups: Numbers) -> None:
        """Take one supply's judgement in."""
        good, margin = judged.all_met, judged.margin
        self.considered += int(judged.fits.sum())
        self.qualifying += int(good.sum())
        self.met = {k: v for k, v in judged.met.items() if k != "energy"}
        better = judged.fits & (margin > self.margin)
        self.margin[better], self.supply[better] = margin[better], i
        rest = judged.fits & ~good
        for some, qualifies, worth in ((good, True, judged.cost), (rest, False, -margin)):
            at = _at(some)
            # The cheapest of each group; of equals the one with the larger margin. Of what fails, the nearest.
            order = at[np.lexsort((-margin[at], worth[at]))]
            _, first = np.unique(groups[order], return_index=True)
            for load in order[first]:
                told = (float(v[load]) for v in (judged.cost, judged.drawn_w, margin))
                self.kept.append((i, int(load), *told, qualifies))  # type: ignore[arg-type]


def _frame(everything: sweep.Field, found: _Found) -> pd.DataFrame:
    """Return what was kept as a frame, best first."""
    supplies, at, cost, drawn_w, margin, good = (list(c) for c in zip(*found.kept, strict=True))
    out = everything.table.iloc[at].reset_index(drop=True)
    out.insert(0, "cost", cost)
    out["drawn_w"] = drawn_w
    out["energy_margin"], out["qualifies"], out["supply_index"], out["load_index"] = margin, good, supplies, at
    chosen = [everything.supplies[i] for i in supplies]
    out["supply"] = [s.name for s in chosen]
    out["store"] = [s.store.part if isinstance(s, supply.Harvested) else s.cell.part for s in chosen]
    out["panel"] = [s.panel if isinstance(s, supply.Harvested) else "" for s in chosen]
    out["panel_w"] = [s.panel_w if isinstance(s, supply.Harvested) else 0.0 for s in chosen]
    out["capacitance_f"] = [s.store.capacitance_f if isinstance(s, supply.Harvested) else 0.0 for s in chosen]
    out["energy_j"], out["time_s"] = out.round_j, out.latency_s
    keys = ["qualifies", "cost", "mean_w", "energy_margin", "panel_w", "supply", "workload", "board", "variant"]
    rising = [False, True, True, False, True, True, True, True, True]
    return out.sort_values(keys, ascending=rising, kind="stable").reset_index(drop=True)


# --- The best few ----------------------------------------------------------------------------


def _configurations(
    everything: sweep.Field, qualifying: pd.DataFrame, best: int, check: bool
) -> tuple[list[Configuration], list[tuple[str, str]]]:
    """Take the cheapest of different algorithm, board or store; play their year; give their margins ends."""
    different = qualifying.drop_duplicates(["workload", "board", "store", "mode"])
    kept: list[tuple[pd.Series, dict[str, Any] | None]] = []
    dropped: list[tuple[str, str]] = []
    for _, row in different.head(best + SPARE).iterrows():
        if len(kept) == best:
            break
        one = everything.supplies[int(row.supply_index)]
        year = None
        if check and isinstance(one, supply.Harvested):
            year = play_year(everything, one, everything.table.iloc[[int(row.load_index)]])
            if year["survived_share"] < everything.requirements.survive_share - 0.5 / supply.DAYS:
                share = f"{year['survived_share']:.1%} of days survived"
                dropped.append((_name(row), f"the engine's year refuses it: {share}"))
                continue
        kept.append((row, year))
    cases = [
        uncertainty.Case(everything.table.iloc[[int(r.load_index)]], everything.supplies[int(r.supply_index)])
        for r, _ in kept
    ]
    made = []
    for (row, year), case, swings in zip(kept, cases, uncertainty.tornadoes(everything, cases), strict=True):
        margins = _margins(everything.requirements, row, case, swings)
        made.append((row, year, case, swings, margins))
    out = []
    for n, (row, year, case, swings, margins) in enumerate(made):
        words = (
            _why_chosen(everything.requirements, row, margins, swings)
            if n == 0
            else _why_dearer(everything.requirements, row, made[0][0])
        )
        out.append(
            Configuration(
                name=_name(row),
                row=_row(row, case.supply),
                cost=float(row.cost),
                margins=tuple(margins),
                sensitivity=tuple(swings),
                year=year,
                words=words,
                supply=case.supply,
                load=case.load,
            )
        )
    return out, dropped


def _name(row: Mapping[str, Any] | pd.Series) -> str:
    place = f"{row['board']} {row['variant']}".strip()
    mode = ", asynchronous" if row["mode"] == "asynchronous" else ""
    return f"{row['workload']} on {place}, {row['vcc_v']:.2f} V, {row['freq_hz'] / 1e6:g} MHz{mode}; {row['supply']}"


def _row(row: pd.Series, one: supply.Harvested | supply.Battery) -> dict[str, Any]:
    names = "workload board variant vcc_v freq_hz mode security_bits energy_j compute_j radio_j time_s latency_s"
    names += " mean_w mean_low_w mean_high_w drawn_w sleep_w gate_j busy flash_bytes memory_bytes dbm"
    told = {n: v.item() if isinstance(v := row[n], np.generic) else v for n in names.split()}
    told["dbm"] = None if math.isnan(row.dbm) else int(row.dbm)
    if isinstance(one, supply.Harvested):
        told |= {"panel": one.panel, "harvester": one.harvester, "output": one.output, "store": one.store.part}
        told |= {"capacitance_f": one.store.capacitance_f or None, "store_j": one.store.full_j, "battery": None}
    else:
        told |= {"panel": None, "harvester": None, "output": one.converter, "store": None, "capacitance_f": None}
        told |= {"store_j": one.cell.energy_j(), "battery": one.cell.part}
    return told


def _margins(
    wanted: Requirements, row: pd.Series, case: uncertainty.Case, swings: Sequence[uncertainty.Swing]
) -> list[Margin]:
    slow, fast = wanted.uncertainty.clock
    share, bits = float(row.latency_share), float(row.security_bits - wanted.security_bits)
    found = [Margin("security", bits, bits, bits, UNITS["security"])]
    if share > 0:
        cpu = float(row.cpu_latency_s) / float(row.latency_s)
        ends = [1.0 / (share * (1.0 - cpu + cpu / f)) - 1.0 for f in (slow, fast)]
        found.append(Margin("latency", 1.0 / share - 1.0, ends[0], ends[1]))
    if math.isfinite(row.link_margin_db):
        low_db, high_db = wanted.uncertainty.path_loss_db
        radio = radios.of_board(str(row.board))
        assert wanted.link is not None
        _, worst = links.least_dbm(radio, wanted.link, high_db)
        spare = float(row.link_margin_db)
        # A worse path is answered by more power as long as there is some.
        found.append(Margin("link", spare, min(spare, worst), spare - low_db, UNITS["link"]))
    for name, bound, column in (
        ("flash", wanted.flash_bytes, "flash_bytes"),
        ("ram", wanted.ram_bytes, "memory_bytes"),
    ):
        if bound is not None:
            value = bound / float(row[column]) - 1.0
            found.append(Margin(name, value, value, value))
    if isinstance(case.supply, supply.Harvested):
        # One round with its safety factor, against what the store holds between its voltages.
        gate = float(sweep.gate_j(case.supply, case.load)[0])
        least = 1.0 - min(case.supply.store.tolerance_rel, 0.2)
        most = 1.0 + case.supply.store.tolerance_rel
        high = float(row.round_high_j / row.round_j)
        value = case.supply.store.full_j / gate
        found.append(Margin("store", value - 1.0, value * least / high - 1.0, value * most - 1.0))
    energy = float(row.energy_margin)
    name = "lifetime" if isinstance(case.supply, supply.Battery) else "energy"
    low, high = uncertainty.ends(energy, swings)
    return [*found, Margin(name, energy, low, high)]


def play_year(
    everything: sweep.Field, one: supply.Harvested, load: pd.DataFrame, days: int = supply.DAYS
) -> dict[str, Any]:
    """Play a configuration's typical year by the fleet's engine: its real store, efficiencies and gates."""
    row, wanted = load.iloc[0], everything.requirements
    periods = [t.every_s if row["mode"] == "periodic" else t.asked_s for t in wanted.tasks]
    shortest_s = min(periods)
    # Tasks of one row are known by their sums; as one task at the shortest period they ask for no less at a time.
    round_j = float(row.compute_w + row.radio_w) * shortest_s
    busy_s = max(float(row.busy) * shortest_s, 1e-6)
    task = fleets.Task("round", shortest_s, max(round_j, 1e-15), min(busy_s, 0.999 * shortest_s), float(row.gate_j))
    sleep_w = float(row.mean_w - row.compute_w - row.radio_w) / max(1.0 - float(row.busy), 1e-6)
    profile = fleets.NodeProfile(sleep_w, 0.0, 0.0, min(60.0, shortest_s), (task,))
    # Of the board a supply knows only the chip's brown-out, which lies below every cut-off here: any board will do.
    scenario = {"name": "plan", "board": boards.DEFAULT_BOARD, "firmware": "none", "duration_s": 1.0}
    scenario |= {"power": {"vcc_v": float(row.vcc_v)}, "supply": one.table()}
    node = {"profile": 0, "trace": 0, "light_scale": 1.0, "phase_s": 0.0, "capacitance_f": None}
    played = {"duration_s": days * fleets.DAY_S, "profiles": [profile.to_dict()], "nodes": [node]}
    data, light = str(boards.home() / "data"), everything.lights[one.panel]
    told = _engine.fleet(
        data, _engine.Scenario.from_json(json.dumps(scenario)), json.dumps(played), [light.trace], None
    )
    (fate,) = json.loads(told)
    due = max(fate["tasks"][0]["due"], 1)
    names = ("days", "days_survived", "brown_outs", "off_s", "v_min_v", "v_end_v")
    return {
        "survived_share": fate["days_survived"] / fate["days"],
        "done_share": fate["tasks"][0]["done"] / due,
        **{name: fate[name] for name in names},
        "panel_j": fate["sums"]["panel_j"],
        "curtailed_j": fate["sums"]["curtailed_j"],
        "energy_balance_rel": fate["balance_rel"],
    }


# --- Words -----------------------------------------------------------------------------------


def _why_chosen(
    wanted: Requirements, row: pd.Series, margins: Sequence[Margin], swings: Sequence[uncertainty.Swing]
) -> str:
    relative = [m for m in margins if not m.unit]
    tightest = min(relative, key=lambda m: m.value)
    told = f"the cheapest that meets everything ({_costs(wanted, row)}); nearest to failing: {tightest.requirement}, "
    told += f"by {factor(tightest.value)}"
    if swings:
        told += f"; depends most on {swings[0].assumption} ({swings[0].low} to {swings[0].high})"
    return told


def _costs(wanted: Requirements, row: pd.Series) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in _shares(wanted, row).items() if value > 0) or "no cost"


def _shares(wanted: Requirements, row: pd.Series) -> dict[str, float]:
    """Return what each weighed quantity adds to the cost; prices are what is left."""
    w = wanted.weights
    told = {
        "energy": w["joules_per_day"] * row.drawn_w * sweep.DAY_S,
        "latency": w["seconds"] * row.latency_s,
        "flash": w["flash_bytes"] * row.flash_bytes,
        "capacitance": w["farads"] * row.capacitance_f,
        "panel": w["panel_watts"] * row.panel_w,
    }
    rest = float(row.cost) - sum(told.values())
    told["prices" if w["prices"] else "battery"] = rest if abs(rest) > 1e-9 * abs(row.cost) else 0.0
    return {k: float(v) for k, v in told.items()}


def _why_dearer(wanted: Requirements, row: pd.Series, first: pd.Series) -> str:
    """Say what makes a configuration cost more than the first."""
    if row.cost <= first.cost * (1 + 1e-9):
        return f"costs the same as the first; its energy margin is {factor(float(row.energy_margin))}"
    mine, best = _shares(wanted, row), _shares(wanted, first)
    more = sorted(((mine[k] - best[k], k) for k in mine if mine[k] > best[k] * (1 + 1e-9)), reverse=True)
    why = ", ".join(f"{k} {mine[k]:.4g} against {best[k]:.4g}" for _, k in more[:3])
    times = row.cost / first.cost if first.cost > 0 else math.inf
    much = f"{times:.3g} times as much as" if times >= 2 else f"{100 * (times - 1):.2g} % more than"
    return f"costs {much} the first: {why}"


def _losers(
    everything: sweep.Field,
    found: _Found,
    groups: Numbers,
    names: Sequence[tuple[str, str]],
    candidates: pd.DataFrame,
    configurations: Sequence[Configuration],
) -> Iterator[tuple[str, str]]:
    """Say why each other algorithm and board lost: dearer, or what it fails and by how much."""
    chosen = {(c.row["workload"], c.row["board"]) for c in configurations}
    good = candidates[candidates.qualifies]
    first = good.iloc[0] if len(good) else None
    cheapest = {(r.workload, r.board): r for _, r in good[::-1].iterrows()}
    told = []
    for g, name in enumerate(names):
        if name in chosen:
            continue
        label = f"{name[0]} on {name[1]}"
        if name in cheapest and first is not None:
            row = cheapest[name]
            told.append((0, float(row.cost), label, _why_dearer(everything.requirements, row, first)))
        else:
            told.append((1, 0.0, label, _why_failed(everything, found, _at(groups == g))))
    for _, _, label, words in sorted(told):
        yield label, words


def _why_failed(everything: sweep.Field, found: _Found, at: Numbers) -> str:
    """Say what the nearest of some loads fails."""
    table, wanted = everything.table, everything.requirements
    fails = np.zeros(len(at))
    for holds in found.met.values():
        fails += ~holds[at]
    energy = found.margin[at]
    fails = fails + (energy < 0)
    nearest = at[np.lexsort((-energy, fails))[0]]
    row = table.iloc[nearest]
    said = []
    for name, holds in found.met.items():
        if not holds[nearest]:
            said.append(_failure(wanted, name, table.iloc[at], row))
    margin = found.margin[nearest]
    if margin == -np.inf:
        said.append("no allowed supply can hold its rail")
    elif margin < 0:
        best = everything.supplies[int(found.supply[nearest])].name
        if margin <= -1.0:
            said.append(f"no allowed supply carries it at all: {best} does not hold one round over the year")
        elif row.cell or best in {b.name for b in everything.batteries}:
            said.append(f"lasts {1 + margin:.0%} of the lifetime at most, on {best}")
        else:
            said.append(f"the best supply, {best}, carries {1 + margin:.0%} of what it takes")
    return "; ".join(said)


def _failure(wanted: Requirements, name: str, some: pd.DataFrame, row: pd.Series) -> str:
    if name == "security":
        return f"{int(row.security_bits)} bits of {wanted.security_bits}"
    if name == "latency":
        return f"{units.show(float(row.latency_s), 's')}: {some.latency_share.min():.2f} times the latency at best"
    if name == "link":
        lacking = -float(row.link_margin_db)
        if math.isinf(lacking):
            return "its radio has not that output power"
        return f"its radio lacks {lacking:.1f} dB for the distance"
    if name == "duty":
        return f"it is busy {float(some.busy.min()):.2f} times of the period"
    bound, column = (wanted.flash_bytes, "flash_bytes") if name == "flash" else (wanted.ram_bytes, "memory_bytes")
    return f"{name} of {int(some[column].min()):,} bytes, {bound:,} allowed"


# --- What would have to give way -------------------------------------------------------------


def _relaxations(everything: sweep.Field, found: _Found, candidates: pd.DataFrame) -> list[Relaxation]:
    """Find, for each requirement alone, the smallest change with which something would qualify."""
    wanted, table = everything.requirements, everything.table
    alive = found.margin >= 0.0
    out = []

    def others(name: str) -> sweep.Flags:
        whole = alive.copy() if name != "energy" else np.isfinite(found.margin)
        for other, holds in found.met.items():
            if other != name:
                whole &= holds
        return whole

    def label(at: int) -> str:
        row = dict(table.iloc[at]) | {"supply": everything.supplies[int(found.supply[at])].name}
        return _name(row)

    columns: dict[str, tuple[str, Any, Any]] = {
        "security": ("security_bits", wanted.security_bits, lambda v: f"{v:.0f} bits"),
        "latency": ("latency_share", 1.0, lambda v: f"{v:.3g} times what is allowed"),
        "link": ("link_margin_db", 0.0, lambda v: f"{v:.1f} dB to spare"),
        "flash": ("flash_bytes", wanted.flash_bytes, lambda v: f"{v:,.0f} bytes"),
        "ram": ("memory_bytes", wanted.ram_bytes, lambda v: f"{v:,.0f} bytes"),
        "duty": ("busy", 1.0, lambda v: f"{v:.3g} of the period"),
    }
    for name, holds in found.met.items():
        rest = _at(others(name))
        if holds[rest].any():
            continue  # it does not bind
        column, bound, tell = columns[name]
        values = table[column].to_numpy(dtype=float)[rest]
        values = np.where(np.isfinite(values), values, np.nan)
        if not len(rest) or np.isnan(values).all():
            out.append(Relaxation(name, tell(bound), None, None))
            continue
        at = int(np.nanargmax(values) if name in ("security", "link") else np.nanargmin(values))
        needed, wish = tell(values[at]), tell(bound)
        if name == "latency" and len(wanted.tasks) == 1:
            limit = wanted.tasks[0].latency_s
            needed, wish = (units.show(v, "s") for v in (limit * float(values[at]), limit))
        out.append(Relaxation(name, wish, needed, label(int(rest[at]))))
    rest = _at(others("energy"))
    if not alive[rest].any():
        out += _more_energy(everything, found, rest)
    return out


def _more_energy(everything: sweep.Field, found: _Found, rest: Numbers) -> list[Relaxation]:
    """Find what of light, days, lifetime or period would have to give way for the energy to suffice."""
    wanted = everything.requirements
    out = []
    if len(rest) == 0:
        return [Relaxation("energy", "", None, None)]
    nearest = int(rest[np.argmax(found.margin[rest])])
    out.append(_longer_period(everything, nearest))
    if wanted.lifetime_s is not None:
        years = lifetime.YEAR_S
        life, at = 0.0, nearest
        for i, judged in everything.judged():
            if i >= len(everything.harvested):
                mine = np.where(judged.fits[rest], judged.had[rest], 0.0)
                if mine.max() > life:
                    life, at = float(mine.max()), int(rest[mine.argmax()])
                    name = _name(dict(everything.table.iloc[at]) | {"supply": everything.supplies[i].name})
        if life > 0:
            out.append(
                Relaxation("lifetime", f"{wanted.lifetime_s / years:.3g} years", f"{life / years:.3g} years", name)
            )
    if everything.carried is not None:
        out += [_fewer_days(everything, rest), _more_light(everything, rest)]
    return out


def _longer_period(everything: sweep.Field, at: int) -> Relaxation:
    """Stretch all periods by one factor until the nearest load's best supply carries it."""
    wanted = everything.requirements
    row = everything.table.iloc[[at]]
    shortest = min(t.every_s for t in wanted.tasks)
    tasks_w = float((row.compute_w + row.radio_w).iloc[0])
    supplies = everything.supplies
    best: tuple[float, int] | None = None
    for i, one in enumerate(supplies):

        def enough(factor: float, i: int = i, one: supply.Harvested | supply.Battery = one) -> bool:
            eased = row.assign(mean_w=row.mean_w - tasks_w * (1.0 - 1.0 / factor))
            return _holds(everything, i, one, eased)

        high = PERIOD_MOST if best is None else best[0]
        if not enough(high):
            continue
        low = 1.0
        while high > low * 1.002:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        if best is None or high < best[0]:
            best = (high, i)
    wish = f"{shortest:g} s"
    if best is None:
        return Relaxation("period", wish, None, None)
    name = _name(dict(row.iloc[0]) | {"supply": supplies[best[1]].name})
    return Relaxation("period", wish, f"{shortest * best[0]:.4g} s", name)


def _holds(everything: sweep.Field, i: int, one: supply.Harvested | supply.Battery, load: pd.DataFrame) -> bool:
    wanted = everything.requirements
    if isinstance(one, supply.Harvested):
        assert everything.carried is not None
        carried = everything.carried
        judged = sweep.judge_harvested(wanted, load, one, lambda gate: carried.most_w(i, gate), {})
    else:
        judged = sweep.judge_battery(wanted, load, one, {})
    return bool(judged.all_met[0])


def _fewer_days(everything: sweep.Field, rest: Numbers) -> Relaxation:
    """Find the largest share of days that anything survives."""
    wanted, carried = everything.requirements, everything.carried
    assert carried is not None
    best, name = 0.0, None
    table = everything.table.iloc[rest]
    for i, one in enumerate(everything.harvested):
        fits = one.carries(table.vcc_v.to_numpy()) & (table.cell.to_numpy() == "")
        some = table[fits]
        if some.empty:
            continue
        needed = one.drawn_w(some.mean_w.to_numpy(), some.vcc_v.to_numpy())
        gates = sweep.gate_j(one, some)
        # The least load, and the least gate: between them lies whatever is best.
        for at in {int(needed.argmin()), int(gates.argmin())}:
            share = carried.share(i, float(needed[at]), float(gates[at]))
            if share > best:
                best, name = share, _name(dict(some.iloc[at]) | {"supply": one.name})
    wish = f"{wanted.survive_share:.1%} of days"
    return Relaxation("survive", wish, f"{best:.1%} of days" if name else None, name)


def _more_light(everything: sweep.Field, rest: Numbers) -> Relaxation:
    """Find the least factor of light with which something survives."""
    table = everything.table.iloc[rest]
    factors = np.geomspace(1.0, LIGHT_MOST, LIGHTS + 1)[1:]
    best: tuple[float, str] | None = None
    low, high = 1.0, LIGHT_MOST
    # The supplies that come nearest, then the factor between two that were tried.
    ranked = []
    for i, one in enumerate(everything.harvested):
        fits = one.carries(table.vcc_v.to_numpy()) & (table.cell.to_numpy() == "")
        some = table[fits]
        if some.empty:
            continue
        needed = one.drawn_w(some.mean_w.to_numpy(), some.vcc_v.to_numpy())
        at = int(needed.argmin())
        ranked.append((i, one, some.iloc[[at]], float(needed[at]), float(sweep.gate_j(one, some)[at])))
    for _ in range(2):
        supplies = [one for _, one, *_ in ranked for _ in factors]
        corners = [supply.Corner(light=float(f)) for _ in ranked for f in factors]
        if not supplies:
            break
        played = supply.carried(supplies, everything.lights, everything.requirements.survive_share, corners)
        best = None
        for n, (_, one, row, needed_w, gate) in enumerate(ranked):
            for k, factor in enumerate(factors):
                most = float(played.most_w(n * len(factors) + k, np.array([gate]))[0])
                if most >= needed_w and (best is None or factor < best[0]):
                    best = (float(factor), _name(dict(row.iloc[0]) | {"supply": one.name}))
                    low, high = (float(factors[k - 1]) if k else 1.0), float(factor)
        if best is None:
            break
        ranked = [r for r in ranked if best[1].endswith(r[1].name)]
        factors = np.linspace(low, high, 33)[1:]
    wish = "what the climate gives"
    return Relaxation("light", wish, f"{best[0]:.3g} times as much" if best else None, best[1] if best else None)


# --- Sources ---------------------------------------------------------------------------------


def _sources(everything: sweep.Field, configurations: Sequence[Configuration]) -> citing.Citations:
    """Collect the documents behind the configurations, or, where there are none, behind everything considered."""
    wanted = everything.requirements
    found = citing.NOTHING
    pairs = [(c.row["board"], c.supply) for c in configurations]
    if not pairs:
        pairs = [(b, s) for b in sorted(everything.table.board.unique()) for s in everything.supplies]
    for board in dict.fromkeys(b for b, _ in pairs):
        sets, parts = [measuring.PowerSet(wanted.power_set, board).name], []
        facts: Any = boards.read_toml(boards.board_path(board))
        if "radio" in facts:
            parts.append(facts["radio"]["part"])
            sets.append(radios.of_board(board).power_set)
        found += citing.of(board=board, power_sets=sets, parts=parts)
    found += citing.of(parts=dict.fromkeys(p for _, s in pairs for p in s.parts))
    for panel in dict.fromkeys(s.panel for _, s in pairs if isinstance(s, supply.Harvested)):
        found += citing.of(climate=everything.lights[panel].provenance)
    return found
