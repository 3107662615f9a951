# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal.plan`: from requirements to the cheapest complete configurations, and how sure they are.

A configuration is an algorithm for each task, a board with its variant, a voltage, a clock, a protocol mode, and a
supply. All of them are judged (`sweep`); the cheapest few of different kinds are then played through the typical year
by the fleet's engine, and their margins get their uncertainty (`uncertainty`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sunseal.answers.shown import Shown
from sunseal.catalog import boards, citing, part_files, places, power_sets, units
from sunseal.harvest.light import AWAY
from sunseal.planner import asleep, choosing, lifetime, operations, plan_coupons, surest, sweep, uncertainty
from sunseal.planner import plan_link as links
from sunseal.planner import plan_requirements as wishes
from sunseal.planner import plan_supplies as supply
from sunseal.planner import radio as radios
from sunseal.planner.choosing import Found, Numbers, at_true, name_of
from sunseal.planner.plan_requirements import Requirements
from sunseal.planner.relaxations import Relaxation, factor, relaxations

UNITS = {"link": "dB", "security": "bits"}


@dataclass(frozen=True)
class Margin:
    """Distance of a configuration from failing a requirement; 0 is the edge.

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
class Configuration(Shown):
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
    def title(self) -> str:
        """Return its name with board and parts as they are called, in place of the names of their files."""
        board = str(self.row["board"])
        shown = self.name.replace(f" on {board}", f" on {boards.called('boards', board)}", 1)
        return shown.replace(self.supply.name, self.supply.title, 1)

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
class Planned(Shown):
    """Answer of the command: what was planned."""

    requirements: dict[str, Any]
    configurations: tuple[Configuration, ...]
    """Cheapest first; none if nothing qualifies."""
    beside: tuple[surest.Beside, ...]
    """Configurations beside it: what holds at the low end where the cheapest does not, and what has much more margin
    for little more cost."""
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
        """Return the cheapest configuration."""
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
    def turned_away(self) -> list[str]:
        """Return the remarks that the panel looks away from the sun, which whoever reads the answer must know."""
        return [remark for remark in self.remarks if AWAY in remark]

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
            "beside": [b.to_dict() for b in self.beside],
            "runners_up": [{"name": name, "words": words} for name, words in self.losers],
            "relaxations": [asdict(r) | {"sentence": r.sentence} for r in self.relaxed],
            "remarks": list(self.remarks),
            "sources": [
                {"file": s.file, "source": s.text, "recalled": s.recalled, "assumed": s.assumed or None}
                for s in self.citations
            ],
            "unchecked": self.citations.unchecked,
            "assumed": self.citations.assumed,
        }


def _finite(told: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in told.items()}


def plan(
    requirements: Path | Mapping[str, Any] | Requirements,
    *,
    best: int = choosing.BEST,
    check: bool = True,
    temperature_c: float | None = None,
    progress: operations.Progress | None = None,
) -> Planned:
    """Find the cheapest configurations that meet requirements: a file, its tables, or what was read of them.

    With `check`, a harvested supply is played through its year by the fleet's engine before it is offered;
    `temperature_c` goes before that of the requirements. Raises
    `SunsealError` where the requirements cannot be read or ask for what cannot be; where nothing meets them, the
    answer has no configurations and says what would have to give way.
    """
    if isinstance(requirements, Requirements):
        wanted = requirements
    elif isinstance(requirements, Path | str):
        wanted = wishes.load(Path(requirements))
    else:
        with places.beside(Path.cwd()):
            wanted = wishes.read(requirements)
    wanted = wanted.at_temperature(temperature_c)
    with places.beside(wanted.folder):
        return choose(sweep.field(wanted, progress=progress), best=best, check=check)


def choose(everything: sweep.Field, *, best: int = choosing.BEST, check: bool = True) -> Planned:
    """Choose from a field that was brought together before."""
    wanted, table = everything.requirements, everything.table
    groups, names = choosing.groups_of(table)
    found = Found(len(table), plan_coupons.eligible(wanted, table) if check else None)
    for i, judged in everything.judged():
        found.add(i, judged, groups)
    candidates = choosing.frame(everything, found, found.kept)
    configurations, dropped = _configurations(everything, candidates, found, best, check)
    losers = [*dropped, *_losers(everything, found, groups, names, candidates, configurations)]
    relaxed = [] if configurations else relaxations(everything, found, choosing.Asked() if check else None)
    remarks = [f"taken only where they are named, for their keys are used up: {', '.join(sweep.used_up(wanted))}"]
    if not sweep.used_up(wanted):
        remarks = []
    remarks += everything.refused
    planes = {light.provenance.get("plane", "") for light in everything.lights.values()}
    stores = [name for c in configurations for name in c.supply.parts]
    remarks += part_files.deaf_to_temperature(stores, wanted.temperature_c)
    remarks += [f"the panel's plane: {plane}" for plane in sorted(planes) if AWAY in plane]
    return Planned(
        requirements=wanted.to_dict(),
        configurations=tuple(configurations),
        beside=_beside(everything, candidates, configurations),
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


# --- The best few ----------------------------------------------------------------------------


def _configurations(
    everything: sweep.Field, candidates: pd.DataFrame, found: Found, best: int, check: bool
) -> tuple[list[Configuration], list[tuple[str, str]]]:
    """Take the cheapest of different algorithm, board or store; play their year; give their margins ends."""
    kept, dropped = choosing.picked(everything, candidates, best, check)
    cases = [_case(everything, row) for row, _, _ in kept]
    made: list[_Made] = []
    for (row, year, easier), case, swings in zip(kept, cases, uncertainty.tornadoes(everything, cases), strict=True):
        made.append((row, year, case, [s.eased(easier) for s in swings], ""))
    if found.for_coupons:
        rows = choosing.frame(everything, found, found.for_coupons)
        share = choosing.share_of(everything)
        for offer in plan_coupons.offers(everything, rows, share, [float(r.cost) for r, _, _ in kept], best):
            made.append((offer.row, offer.year, _case(everything, offer.row), offer.swings, offer.words))
        made = sorted(made, key=lambda m: float(m[0].cost))[:best]
    return _told(everything, made), dropped


def _beside(
    everything: sweep.Field, candidates: pd.DataFrame, configurations: Sequence[Configuration]
) -> tuple[surest.Beside, ...]:
    """Look for what holds at the low end and for more margin at little more cost than the cheapest's."""
    if not configurations or configurations[0].row["coupons"]:
        return ()
    first = configurations[0]

    def low_end(row: pd.Series, case: uncertainty.Case, swings: Sequence[uncertainty.Swing]) -> surest.LowEnd:
        margins = _margins(everything.requirements, row, case, swings)
        return all(m.sure for m in margins), margins[-1].low

    told = pd.Series({"cost": first.cost, "energy_margin": first.margins[-1].value, "panel": first.row["panel"] or ""})
    said = name_of, lambda row: _case(everything, row), low_end
    return surest.beside(everything, candidates, told, (not first.unsure, first.margins[-1].low), said)


_Made = tuple[pd.Series, dict[str, Any] | None, uncertainty.Case, Sequence[uncertainty.Swing], str]
"""A candidate, its year, its case, what its margin depends on, and what coupons do for it."""


def _case(everything: sweep.Field, row: pd.Series) -> uncertainty.Case:
    return uncertainty.Case(everything.table.iloc[[int(row.load_index)]], everything.supplies[int(row.supply_index)])


def _told(everything: sweep.Field, made: Sequence[_Made]) -> list[Configuration]:
    """Give the chosen their names, margins and words."""
    out = []
    for n, (row, year, case, swings, kept) in enumerate(made):
        margins = _margins(everything.requirements, row, case, swings)
        words = (
            _why_chosen(everything.requirements, row, margins, swings)
            if n == 0
            else _why_dearer(everything.requirements, row, made[0][0])
        )
        if isinstance(case.supply, supply.Battery) and everything.requirements.lifetime_s is not None:
            lasts_s = everything.requirements.lifetime_s * (1.0 + float(row.energy_margin))
            words = "; ".join(filter(None, (words, lifetime.beyond_shelf_life(lasts_s))))
        out.append(
            Configuration(
                name=f"{name_of(row)}, {row.coupons} coupons" if kept else name_of(row),
                row=_row(everything.requirements, row, case.supply),
                cost=float(row.cost),
                margins=tuple(margins),
                sensitivity=tuple(swings),
                year=year,
                words=f"{words}; {kept}" if kept else words,
                supply=case.supply,
                load=case.load,
            )
        )
    return out


def _row(wanted: Requirements, row: pd.Series, one: supply.Harvested | supply.Battery) -> dict[str, Any]:
    names = "workload board variant vcc_v freq_hz mode security_bits energy_j compute_j radio_j time_s latency_s"
    names += " mean_w mean_low_w mean_high_w drawn_w sleep_w gate_j busy flash_bytes memory_bytes dbm"
    names += " coprocessor coprocessor_w start_j" if row["coprocessor"] else ""
    told = {n: v.item() if isinstance(v := row[n], np.generic) else v for n in names.split()}
    told["dbm"] = None if math.isnan(row.dbm) else int(row.dbm)
    told["tasks"] = [
        {
            "name": task.name,
            "workload": work,
            "every_s": task.every_s if row["mode"] == "periodic" else task.asked_s,
            "compute_w": float(row[f"task{i}_compute_w"]),
            "radio_w": float(row[f"task{i}_radio_w"]),
        }
        for i, (task, work) in enumerate(zip(wanted.tasks, str(row.workload).split(" + "), strict=True))
    ]
    told["coupons"] = int(row.get("coupons", 0))
    told["listen_w"] = float(row.listen_w)
    told["asleep"] = asleep.of_board(str(row.board), float(row.vcc_v), wanted.power_set, wanted.radio).to_dict()
    if isinstance(one, supply.Harvested):
        told |= {"panel": one.panel, "harvester": one.harvester, "output": one.output, "store": one.store.part}
        told |= {"capacitance_f": one.store.capacitance_f or None, "store_j": one.full_j, "battery": None}
    else:
        told |= {"panel": None, "harvester": None, "output": one.converter, "store": None, "capacitance_f": None}
        told |= {"store_j": one.full_j, "battery": one.part}
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
        radio = radios.of_board(str(row.board), wanted.radio)
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
        least = 1.0 - case.supply.store.tolerance_low_rel
        most = 1.0 + case.supply.store.tolerance_rel
        high = float(row.round_high_j / row.round_j)
        value = case.supply.full_j / gate
        found.append(Margin("store", value - 1.0, value * least / high - 1.0, value * most - 1.0))
    energy = float(row.energy_margin)
    name = "lifetime" if isinstance(case.supply, supply.Battery) else "energy"
    low, high = uncertainty.ends(energy, swings)
    return [*found, Margin(name, energy, low, high)]


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
    found: Found,
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
            told.append((1, 0.0, label, _why_failed(everything, found, at_true(groups == g))))
    for _, _, label, words in sorted(told):
        yield label, words


def _why_failed(everything: sweep.Field, found: Found, at: Numbers) -> str:
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


def _sources(everything: sweep.Field, configurations: Sequence[Configuration]) -> citing.Citations:
    """Collect the documents behind the configurations, or, where there are none, behind everything considered."""
    wanted = everything.requirements
    found = citing.NOTHING
    pairs = [(c.row["board"], c.supply) for c in configurations]
    if not pairs:
        pairs = [(b, s) for b in sorted(everything.table.board.unique()) for s in everything.supplies]
    for board in dict.fromkeys(b for b, _ in pairs):
        sets, parts = [power_sets.PowerSet(wanted.power_set, board).name, *asleep.power_sets(board, wanted.radio)], []
        facts: Any = boards.board(board)
        if wanted.radio is not None:
            parts.append(radios.of_board(board, wanted.radio).part)
        elif "radio" in facts:
            parts.append(facts["radio"]["part"])
        found += citing.of(board=board, power_sets=sets, parts=parts)
    found += citing.of(parts=dict.fromkeys(p for _, s in pairs for p in s.parts))
    for panel in dict.fromkeys(s.panel for _, s in pairs if isinstance(s, supply.Harvested)):
        found += citing.of(climate=everything.lights[panel].provenance)
    return found
