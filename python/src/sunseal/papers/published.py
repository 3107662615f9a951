# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of the source papers beside our figures, with ratio and verdict."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal import _engine
from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import Finding, Verdict, listed
from sunseal.catalog import boards, citing, part_files, power_sets, si
from sunseal.catalog.units import show
from sunseal.errors import MissingToolError, SunsealError, unknown
from sunseal.machine.machine import Machine
from sunseal.measurement import coupon, measuring, oracle
from sunseal.papers import base, coupon_rate, coupon_recovery, evidence, offload
from sunseal.papers.arithmetic import arithmetic
from sunseal.papers.evidence import CLASSES, Evidence
from sunseal.requests.measuring import Progress

if TYPE_CHECKING:
    import pandas as pd

AGREES, BEATEN, DIFFERS, NOT_MET, MISPRINT = "agrees", "beaten", "differs", "not met", "misprint"
NOT_PRINTED = "not printed"
"""A figure that the paper only draws: ours stands alone."""
NOT_COMPUTED = "not computed"
"""Ours could not be had; the note says why."""
NO_TOOLS = "no tools"
"""Ours takes tools that are not installed here; the note says which, and how to get them."""
EASIER, MORE = "ours, easier task", "ours, more resources"
"""Less than the paper's figure, but by another task than the paper's, or by what the paper's does without."""
VERDICTS = (BEATEN, EASIER, MORE, AGREES, DIFFERS, MISPRINT, NOT_PRINTED, NOT_MET, NOT_COMPUTED, NO_TOOLS)
YEAR_S = 365.25 * 86_400.0
SUITES = {"secp160r1": "ecdsa-secp160r1-sha1", "p256": "ecdsa-p256-sha256"}
RADIO_VCC_V = 3.0
"""Supply of the radios in Piotrowski 2006, tables 8 to 11."""
NEAR = 0.10
"""Figures read off a printed curve with one or two digits agree within this share."""


@dataclass(frozen=True)
class Row:
    """Figure of a paper, beside ours."""

    label: str
    published: float | None
    ours: float | None
    unit: str
    verdict: str
    evidence: Evidence
    note: str = ""
    printed: str | None = None

    @property
    def ratio(self) -> float | None:
        """Return ours over the published figure."""
        return self.ours / self.published if self.published and self.ours is not None else None

    @property
    def kind(self) -> str:
        """The class of its evidence."""
        return self.evidence.kind

    @property
    def class_name(self) -> str:
        """The class as a reader has it."""
        return self.kind.replace("_", " ")

    def show(self, value: float | None) -> str:
        """Write a figure the way its unit is read."""
        if value is None:
            return "-"
        if self.unit in ("J", "s"):
            return show(value, self.unit, 4)
        if value == int(value):
            return f"{int(value):,} {self.unit}".strip()
        return f"{value:,.6g} {self.unit}".strip()


@dataclass(frozen=True)
class Reproduction(Shown):
    """Table of a paper, reproduced."""

    id: str
    title: str
    source: str
    rows: list[Row]
    confirmed: str
    """Sentence on what of the paper is confirmed independently."""
    board: str = ""
    """Board of which the paper's questions are asked unless a row names another."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False)
    """The table as data/published has it."""

    def frame(self) -> pd.DataFrame:
        """Return a row a figure, with the keys of a row of `to_dict`."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["rows"])

    def cite(self) -> citing.Citations:
        """Return the paper, and the documents behind the boards and coefficients that the rows were computed with."""
        paper, table = _tables()[self.id]
        found = citing.of(papers=[paper["key"]] if "key" in paper else [])
        for place in dict.fromkeys(
            (r.get("board", table.get("board", paper["board"])), _set(table, r))
            for r in table["row"]
            if "expr" not in r
        ):
            board, power = place
            device = str(boards.board(board)["device"])
            parts = citing.supply_parts(board) if self.raw["kind"] == "surplus" else []
            found += citing.of(board=board, power_sets=[boards.power_set_path(power, device).stem], parts=parts)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "confirmed": self.confirmed,
            "rows": [
                {
                    "label": r.label,
                    "published": r.published,
                    "ours": r.ours,
                    "ratio": r.ratio,
                    "verdict": r.verdict,
                    "class": r.kind,
                    "rule": r.evidence.why,
                    "task": r.evidence.task,
                    "resources": r.evidence.resources,
                    "coefficients": list(r.evidence.coefficients),
                    "run": r.evidence.run,
                    "unit": r.unit,
                    "printed": r.printed,
                    "note": r.note,
                }
                for r in self.rows
            ],
        }


def _set(table: dict[str, Any], raw: dict[str, Any]) -> str:
    return str(raw.get("power_set", table.get("power_set", boards.DEFAULT_POWER)))


@cache
def _tables() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for name in boards.names("published"):
        data: dict[str, Any] = boards.read_toml(boards.home() / "data" / "published" / f"{name}.toml")
        for table in data.get("table", []):
            found[table["id"]] = data["paper"], table
    return found


def ids() -> list[str]:
    """Return the identifiers of all tables."""
    return sorted(_tables(), key=lambda name: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)])


def named(name: str) -> list[str]:
    """Return a table, or all tables of a paper, such as `rizvi2009`."""
    return [i for i in ids() if i.startswith(f"{name}/")] or [name]


def reproduce(table_id: str, progress: Progress | None = None) -> Reproduction:
    """Compute our figures for one table."""
    tables = _tables()
    if table_id not in tables:
        raise unknown("table", table_id, tables)
    paper, table = tables[table_id]
    rows = []
    for raw in table["row"]:
        rows.append(_row(paper["board"], table, raw, progress))
    source = f"{paper['cite']}, {table['source']}"
    return Reproduction(table_id, table["title"], source, rows, paper["confirmed"], paper["board"], table)


BETTER = ("less", "more", "near", "equal", "below", "above")
"""Orders in which ours may stand to a published figure."""
NUMBERS = (
    "vcc_v",
    "freq_hz",
    "store_j",
    "period_s",
    "cycles",
    "ulp",
    "original",
    "limit",
    "factor",
    "near_hz",
    "light_w",
)
"""Keys of a row that must be numbers."""


def _check(table: dict[str, Any], raw: dict[str, Any]) -> None:
    """Refuse a row that cannot be read: better none than one that compares something else."""
    if "label" not in raw:
        raise SunsealError(f"a row in {table['id']} of data/published has no label: {raw}")
    where = f"`{raw['label']}` in {table['id']} of data/published"
    for key in ("published", *NUMBERS):
        given = raw.get(key)
        text = key == "published" and isinstance(given, str)  # the paper's equation on its inputs
        number = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
        if given is not None and not text and not number:
            raise SunsealError(f"{where} has {key} = {given!r}, which is no number")
    if "kind" not in {**table, **raw}:
        raise SunsealError(f"{where} lacks the key 'kind'")
    for key, known in (("kind", KINDS), ("better", BETTER)):
        given = raw.get(key, table.get(key))
        if given is not None and given not in known:
            raise unknown(key, str(given), known, f"of {where}")
    better = raw.get("better", table.get("better"))
    if "expr" in raw and "published" in raw and "ulp" not in raw and better not in ("below", "above"):
        raise SunsealError(f"{where} lacks the key 'ulp': how much its last printed digit is worth")
    solved = raw.get("solved")
    if isinstance(solved, dict) and not {"input", "from"} <= set(solved):
        raise SunsealError(f"{where} has `solved` without the input and what it was solved from")


def _row(board: str, table: dict[str, Any], raw: dict[str, Any], progress: Progress | None) -> Row:
    """Compute one figure; a figure that can't be had costs its own row, and says why."""
    _check(table, raw)
    printed, ours = _printed(raw), None
    behind = evidence.of(board, table, raw)
    try:
        with evidence.noting() as used:
            ours, note = KINDS[raw.get("kind", table["kind"])](board, table, raw, progress)
        behind = evidence.of(board, table, raw, used)
    except MissingToolError as e:
        note, verdict = ": ".join(filter(None, (str(e), e.hint))), NO_TOOLS
    except KeyError as e:
        raise SunsealError(f"`{raw['label']}` in {table['id']} of data/published lacks the key {e}") from e
    except (SunsealError, _engine.EngineError) as e:
        note, verdict = str(e), NOT_COMPUTED
    else:
        better = raw.get("better", table["better"])
        verdict = NOT_PRINTED if printed is None else _verdict(better, printed, ours, raw)
    return Row(
        label=raw["label"],
        published=printed,
        ours=ours,
        unit=raw.get("unit", table.get("unit", "")),
        verdict=verdict,
        evidence=behind,
        note="; ".join(n for n in (raw.get("easier", ""), raw.get("more", ""), raw.get("note", ""), note) if n),
        printed=raw.get("printed"),
    )


def judged(tables: Sequence[Reproduction]) -> Verdict:
    """Judge tables row by row: a figure that is not met is a finding, one that could not be had is left open."""
    parts = []
    for table in tables:
        for row in table.rows:
            told = f"{table.id}, {row.label}: {row.show(row.published)} published, {row.show(row.ours)} ours"
            found = (Finding("not-met", told, table.id),) if row.verdict == NOT_MET else ()
            lacking = row.verdict in (NOT_COMPUTED, NO_TOOLS)
            left = (f"{row.verdict}: {row.note}",) if lacking else ()
            compared = not lacking and row.verdict != NOT_PRINTED
            # What a paper only draws asks nothing of us.
            if compared or lacking:
                parts.append(Verdict(f"{table.id}, {row.label}", int(compared), found, left))
    return Verdict.joined("reproduce " + listed([table.id for table in tables], 3), parts)


def counts(reproductions: Iterable[Reproduction]) -> dict[str, Counter[str]]:
    """Count the verdicts, each class apart; classes without rows are left out."""
    found: dict[str, Counter[str]] = {name: Counter() for name in CLASSES}
    for r in reproductions:
        for row in r.rows:
            found[row.kind][row.verdict] += 1
    return {name: verdicts for name, verdicts in found.items() if verdicts}


def runs(reproductions: Iterable[Reproduction]) -> dict[str, int]:
    """Count the distinct runs and facts that the rows of each class rest on: many rows weigh one run."""
    found: dict[str, set[str]] = {}
    for r in reproductions:
        for row in r.rows:
            found.setdefault(row.kind, set()).add(row.evidence.run)
    return {name: len(distinct) for name, distinct in found.items()}


def _printed(raw: dict[str, Any]) -> float | None:
    """Return the published figure: a number, what the paper's equation gives for its inputs, or none."""
    given = raw.get("published")
    return arithmetic(given) if isinstance(given, str) else None if given is None else float(given)


def _verdict(better: str, published: float, ours: float, raw: dict[str, Any]) -> str:
    # What differs is either explained in the data or not met.
    note = raw.get("note", "")
    differs = MISPRINT if note.startswith("misprint") else DIFFERS if note else NOT_MET
    if "expr" in raw and better not in ("below", "above"):
        # The paper's own arithmetic: the last printed digit, rounded or cut off, but no whole digit up.
        over = (ours - published) / raw["ulp"]
        return AGREES if -0.5 - 1e-9 <= over < 1 + 1e-9 else differs
    if better in ("below", "above"):
        # A claim of order, not a figure to beat.
        return AGREES if (ours < published if better == "below" else ours > published) else differs
    if better in ("less", "more"):
        if ours == published:
            return AGREES
        if raw.get("quantity") == "slices" and offload.may_be_slices(ours, published):
            return differs
        won = EASIER if "easier" in raw else MORE if "more" in raw else BEATEN
        return won if (ours < published) == (better == "less") else differs
    if better == "equal" and raw.get("quantity") != "packet_energy_j":
        return AGREES if ours == published else differs
    return AGREES if abs(ours / published - 1) <= NEAR else differs


def _operating_point(
    board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None
) -> tuple[float, str]:
    device = boards.load(board).device
    levels = _engine.levels(str(boards.device_path(device)))
    for freq_hz, vcc_v, vcore in levels:
        if raw["freq_max_hz"] <= freq_hz:
            return (vcc_v if raw["quantity"] == "vcc_min_v" else float(vcore)), ""
    raise SunsealError(f"{device} has no level for {raw['freq_max_hz'] / 1e6:g} MHz")


def _counts(board: str, workload: str, mpy: str, progress: Progress | None) -> _engine.Counts:
    program = measuring.builtin(workload, board, {"mpy": mpy})
    counts, valid = measuring.run(program, board, progress)
    if valid is False:
        raise SunsealError(f"`{workload}` with mpy={mpy} gives a wrong result on {board}")
    return counts


def _cycles(board: str, _table: dict[str, Any], raw: dict[str, Any], progress: Progress | None) -> tuple[float, str]:
    return float(_counts(board, raw["workload"], raw["mpy"], progress).cycles), ""


HARNESS = ("bench_input", "bench_input_len", "bench_output", "bench_status")
"""Symbols that the host writes and reads: no part of a program that does its work in the field."""


def _footprint(board: str, _table: dict[str, Any], raw: dict[str, Any], progress: Progress | None) -> tuple[float, str]:
    """Take one program with all three operations, run through all of them."""
    program = measuring.builtin(boards.whole_program(raw["parameter"]), board, {"mpy": raw["mpy"]})
    counts, valid = measuring.run(program, board, progress)
    if valid is False:
        raise SunsealError(f"`{program.label}` with mpy={raw['mpy']} gives a wrong result on {board}")
    if raw["quantity"] == "flash_bytes":
        return float(counts.flash_bytes), "one program with all three operations, start-up and vectors included"
    harness = _engine.symbols_bytes(program.image, HARNESS)
    return float(counts.ram_bytes + counts.stack_bytes), (
        f"{counts.ram_bytes} bytes static, of which {harness} are input and output, and {counts.stack_bytes} of stack "
        "at its deepest"
    )


def _communication(
    board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None
) -> tuple[float, str]:
    link = _engine.response_air(SUITES[raw["parameter"]])
    if raw["quantity"] == "signature_bytes":
        return float(link.signature_bytes), ""
    if raw["quantity"] == "packets":
        return float(link.packets), f"body of {link.body_bytes} bytes"
    data = boards.home() / "data"
    energy_j = _engine.packet_energy_j(data, 64, 2.7)
    return (
        energy_j,
        "CC2500 datasheet, 0 dBm: settling, then 74 bytes at 249.9 kBd; 2.7 V and no calibration are the choice of the "
        "thesis's unprinted conditions that fits (0.152 mJ with calibration)",
    )


def _energy(board: str, table: dict[str, Any], raw: dict[str, Any], progress: Progress | None) -> tuple[float, str]:
    """Weigh the published cycle count, so that only the energy model is compared."""
    weights = power_sets.PowerSet(table["power_set"], board)
    counts = _counts(board, raw["workload"], raw["mpy"], progress)
    point = weights.inner.weigh(counts, raw["freq_hz"], raw["vcc_v"])
    evidence.note(evidence.weighed_by(weights.name, point.by_state_j))
    scale = raw["cycles"] / counts.cycles
    ours = point.energy_j if raw["quantity"] == "energy_j" else point.time_s
    return (
        ours * scale,
        f"our own program: {show(ours, raw['unit'], 3)} in {counts.cycles:,} cycles",
    )


@dataclass(frozen=True)
class Cost:
    """Cost of a question's operation."""

    cycles: float
    time_s: float
    energy_j: float
    coefficients: frozenset[str] = frozenset()
    """Coefficients by which the energy was weighed."""

    def plus(self, other: Cost, times: float = 1.0) -> Cost:
        """Add another operation's cost."""
        return Cost(
            self.cycles + times * other.cycles,
            self.time_s + times * other.time_s,
            self.energy_j + times * other.energy_j,
            self.coefficients | other.coefficients,
        )


@dataclass(frozen=True)
class Place:
    """Operation of ours that is asked, where it runs, and how many bytes it is fed where not all of the bench's."""

    workload: str
    board: str
    power: str
    variant: tuple[str, ...] = ()
    vcc_v: float | None = None
    freq_hz: int | None = None
    fed_bytes: int | None = None

    @staticmethod
    def of(board: str, table: dict[str, Any], raw: dict[str, Any]) -> Place:
        """Read a row of the file."""
        return Place(
            raw["workload"],
            raw.get("board", table.get("board", board)),
            _set(table, raw),
            tuple(raw.get("variant", ())),
            raw.get("vcc_v", table.get("vcc_v")),
            raw.get("freq_hz", table.get("freq_hz")),
            raw["head"] + raw["message_bytes"] if "message_bytes" in raw else None,
        )


@cache
def _cost(at: Place) -> tuple[Cost, str]:
    """Weigh one run, and say where it was."""
    weights = power_sets.PowerSet(at.power, at.board)
    freq_hz, vcc_v = power_sets.operating_point(weights, at.freq_hz, at.vcc_v)
    chosen = boards.variant(at.variant, at.board)
    program = measuring.builtin(at.workload, at.board, chosen)
    program = measuring.at_clock(program, weights, freq_hz, vcc_v)
    counts, valid = measuring.run(program, at.board)
    if valid is False:
        raise SunsealError(f"`{at.workload}` gives a wrong result on {at.board}")
    if at.fed_bytes is not None and program.workload is not None:
        # The whole input's output was judged; of a shorter one only the cycles are taken.
        fed = oracle.trial(program.workload).fed
        # An input that is too short for the row is repeated: no cipher here depends on what it encrypts.
        counts = measuring.count(program, at.board, (fed * 2)[: at.fed_bytes])
        if counts.status != oracle.STATUS_OK:
            raise SunsealError(f"`{at.workload}` takes no input of {at.fed_bytes} bytes on {at.board}")
    point = weights.inner.weigh(counts, freq_hz, vcc_v)
    place = f"{at.board} {boards.variant_text(chosen)}".strip()
    where = f"{at.workload} on {place}, {vcc_v:g} V, {freq_hz / 1e6:g} MHz, {weights.name}"
    used = evidence.weighed_by(weights.name, point.by_state_j)
    return Cost(counts.cycles, point.time_s, point.energy_j, used), where


@cache
def _called(at: Place, function: str) -> int:
    """Count a key schedule of the bench program alone: function(schedule, key), which its marks leave out."""
    machine = Machine(
        at.board, boards.firmware_path(at.board, boards.variant(at.variant, at.board), f"bench-{at.workload}")
    )
    machine.run(until="main")
    return machine.call(function, machine.address("schedule"), machine.place(bytes(range(16)))).cycles


def _asked(board: str, table: dict[str, Any], raw: dict[str, Any]) -> tuple[Cost, str]:
    """Answer a row's question, with what is added to the operation or taken off it."""
    cost, where = _cost(Place.of(board, table, raw))
    for sign, key in ((1.0, "plus"), (-1.0, "minus")):
        for other in raw.get(key, ()):
            cost = cost.plus(_cost(Place.of(board, table, raw | other))[0], sign)
            where = f"{key} {other['workload']}, {where}"
    for call in raw.get("calls", ()):
        # At the operation's own price of a cycle.
        cycles = call["times"] * _called(Place.of(board, table, raw), call["function"])
        cost = cost.plus(cost, cycles / cost.cycles)
        where = f"with {call['times']} x {call['function']}, {where}"
    used = cost.coefficients
    if "cycles" in raw:
        # Weigh the published cycle count, so that only the energy model is compared.
        cost = Cost(raw["cycles"], *(x * raw["cycles"] / cost.cycles for x in (cost.time_s, cost.energy_j)))
        where = f"at {raw['cycles']:,} cycles of {where}"
    evidence.note(used)
    return cost, where


def _quantity(cost: Cost, table: dict[str, Any], raw: dict[str, Any]) -> float:
    # A lifetime is, as in the paper, that of a node which does nothing else.
    ours: dict[str, Callable[[], float]] = {
        "time_s": lambda: cost.time_s,
        "energy_j": lambda: cost.energy_j,
        "cycles": lambda: cost.cycles,
        "power_w": lambda: cost.energy_j / cost.time_s,
        "edp_js": lambda: cost.energy_j * cost.time_s,
        "ua_per_mhz": lambda: 1e12 * cost.energy_j / raw["vcc_v"] / cost.cycles,
        "operations": lambda: raw["store_j"] / cost.energy_j,
        "duty_percent": lambda: 100 * cost.time_s / raw["period_s"],
        "lifetime_h": lambda: raw["store_j"] / cost.energy_j * raw["period_s"] / 3600,
    }
    if raw["quantity"] == "formula":
        text = raw["formula"]
        for name, value in (("energy_j", cost.energy_j), ("time_s", cost.time_s), ("cycles", cost.cycles)):
            text = text.replace(name, repr(value))
        return arithmetic(text)
    if raw["quantity"] not in ours:
        raise unknown("quantity", raw["quantity"], ours, f"of `{raw['label']}` in data/published")
    return ours[raw["quantity"]]()


def _paper(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Do the paper's arithmetic on its inputs, or ask its question of our firmware, as a ratio where it asks one."""
    if "expr" in raw:
        return arithmetic(raw["expr"]), f"= {raw['expr']}"
    cost, where = _asked(board, table, raw)
    value = _quantity(cost, table, raw)
    if "over" not in raw:
        return value, where
    other = raw | raw["over"]
    below, where_below = _asked(board, table, other)
    return value / _quantity(below, table, other), f"{where}; over {where_below}"


@cache
def _points(workload: str, board: str, variant: tuple[str, ...], power: str, vcc_v: float) -> list[dict[str, Any]]:
    return measuring.curve(workload, board=board, variant=variant, power=power, voltages_v=[vcc_v])


def _curve(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Read a figure off the curve of energy over the clock at one voltage, in whole megahertz as the thesis has it."""
    power = _set(table, raw)
    points = _points(raw["workload"], board, tuple(raw.get("variant", ())), power, raw["vcc_v"])
    # The same coefficients at every clock.
    evidence.note(_cost(Place.of(board, table, {k: v for k, v in raw.items() if k != "freq_hz"}))[0].coefficients)
    scale = raw.get("cycles", points[0]["cycles"]) / points[0]["cycles"]
    energy_j = {p["freq_hz"]: scale * p["energy_j"] for p in points}
    time_s = {p["freq_hz"]: scale * p["time_s"] for p in points}
    where = f"{raw['workload']}, {raw['vcc_v']:g} V, {power}"
    if "cycles" in raw:
        where += f", at {raw['cycles']:,} cycles"
    clocks = list(energy_j)
    if raw["quantity"] == "cheapest_hz":
        best = min(clocks, key=energy_j.__getitem__)
        return best, f"{where}: {show(energy_j[best], 'J', 3)} there, {show(energy_j[clocks[-1]], 'J', 3)} at the top"
    if raw["quantity"] == "step_hz":
        rises = {f: energy_j[g] / energy_j[f] - 1 for f, g in itertools.pairwise(clocks) if energy_j[g] > energy_j[f]}
        if not rises:
            raise SunsealError(f"the curve of {where} has no step")
        told = ", ".join(f"{100 * rise:.1f} % after {f / 1e6:g} MHz" for f, rise in rises.items())
        return min(rises, key=lambda f: abs(f - raw["near_hz"])), f"{where}: the energy rises by {told}"
    limits = energy_j if raw["quantity"] == "clock_for_energy_hz" else time_s
    met = [f for f in clocks if limits[f] <= raw["limit"]]
    if not met:
        raise SunsealError(f"no clock of {where} meets {raw['limit']:g}")
    return met[0], f"{where}: {show(energy_j[met[0]], 'J', 3)} in {show(time_s[met[0]], 's', 3)}"


def _unit(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Compare what the thesis's measurement unit would read with what it measures."""
    m = measuring.measure(
        raw["workload"], board=board, power=table["power_set"], freq_hz=raw["freq_hz"], vcc_v=raw["vcc_v"], unit=True
    )
    assert m.measurement_unit is not None
    evidence.note(evidence.weighed_by(m.power_set, m.energy_by_state_j))
    true = m.energy_j if raw["quantity"] == "energy_j" else float(m.cycles)
    where = f"{m.workload}, {m.vcc_v:g} V, {m.freq_hz / 1e6:g} MHz, {m.measurement_unit['samples']:,.0f} samples"
    return m.measurement_unit[raw["quantity"]] / true, where


METERED_HZ = (
    *range(1_000_000, 9_000_000, 1_000_000),
    10_000_000,
    *range(12_000_000, 25_000_000, 2_000_000),
    25_000_000,
)
"""Clocks at which a curve is read by the measurement unit: a run each, whole megahertz up to the highest."""


@cache
def metered(
    workload: str, variant: tuple[str, ...], power: str, board: str, vcc_v: float
) -> dict[int, tuple[float, float, int]]:
    """Read an operation by the thesis's measurement unit: by clock what it takes, what is read (J), and its cycles."""
    found = {}
    for freq_hz in METERED_HZ:
        m = measuring.measure(
            workload, board=board, variant=variant, power=power, freq_hz=freq_hz, vcc_v=vcc_v, unit=True
        )
        assert m.measurement_unit is not None
        found[freq_hz] = m.energy_j, float(m.measurement_unit["energy_j"]), m.cycles
    return found


def _metered(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Ask of the measurement unit what the thesis asked of it, at the thesis's own cycles."""
    power = _set(table, raw)
    found = metered(raw["workload"], tuple(raw.get("variant", ())), power, board, raw["vcc_v"])
    evidence.note(_cost(Place.of(board, table, {k: v for k, v in raw.items() if k != "freq_hz"}))[0].coefficients)
    true_j, read_j = ({hz: raw["cycles"] * reading[i] / reading[2] for hz, reading in found.items()} for i in (0, 1))
    where = f"{raw['workload']}, {raw['vcc_v']:g} V, {power}, at {raw['cycles']:,} cycles"
    if raw["quantity"] == "read_j":
        at = raw["freq_hz"]
        return read_j[at], f"{where}: it takes {show(true_j[at], 'J', 3)}"
    best = min(read_j, key=read_j.__getitem__)
    true_best = min(true_j, key=true_j.__getitem__)
    told = f"{show(read_j[best], 'J', 3)} read there, {show(true_j[best], 'J', 3)} taken"
    return float(best), f"{where}: {told}; without the meter {true_best / 1e6:g} MHz is cheapest"


def _sheet(path: Path) -> dict[str, Any]:
    return boards.read_toml(path)


def _facts(board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Look a property up in what we know of devices, boards and parts."""
    quantity = raw["quantity"]
    if quantity == "retention_s":
        told = "until its own leakage, a resistor, has taken it to 1/e of its voltage"
        return part_files.retention_s(raw["part"]), f"{raw['part']}: {told}"
    if quantity == "cell_retention_s":
        found_s = part_files.retention_s(raw["part"])
        yearly = 100 * YEAR_S / found_s
        return found_s, f"{raw['part']}: until its self-discharge, {yearly:g} % a year, has left 1/e of its charge"
    name = raw.get("board", board)
    known = _sheet(boards.board_path(name))
    if quantity == "clock_hz":
        return si.crystal_hz(known), known["title"]
    if quantity == "symbols_bytes":
        program = measuring.builtin(raw["workload"], name, boards.variant((), name))
        return float(_engine.symbols_bytes(program.image, raw["symbols"])), ", ".join(raw["symbols"])
    if quantity == "sleep_w":
        power = _sheet(boards.power_set_path(raw["power_set"], known["device"]))
        (state,) = (c for c in power["current"] if c["component"] == "cpu" and c["state"] == raw["state"])
        where = f"{name}, {raw['state']}, {raw['vcc_v']:g} V, {power['set']['name']}"
        return state["typ_ua"] * 1e-6 * raw["vcc_v"], where
    device = boards.device(known["device"])
    if quantity == "dma_channels":
        (dma,) = (block for block in device["block"] if block["name"] == "dma")
        return float(dma["channels"]), known["device"]
    memories = [m for m in device["memory"] if m["name"] in raw["memory"]]
    return float(sum(m["end"] - m["start"] + 1 for m in memories)), f"{known['device']}: {', '.join(raw['memory'])}"


@cache
def _supplied(
    board: str, workload: str, vcc_v: float, freq_hz: int, period_s: float, light_w: float, days: int
) -> dict[str, float]:
    """Play a node that does an operation every so often in steady light, and say where the light went."""
    from sunseal.planner import asleep, size

    cost, _ = _cost(Place(workload, board, boards.DEFAULT_POWER, vcc_v=vcc_v, freq_hz=freq_hz))
    demand = size.Demand(cost.energy_j, cost.time_s, 0.0, 0.0, asleep.of_board(board, vcc_v).total_w[0], period_s)
    light = [0.0, 86_400.0], [light_w] * 2
    found = size.year_of(demand, board, size.supply_of(board)["capacitance_f"], light, days=days)
    return {**found, "done_percent": 100 * found["done_share"]}


def _surplus(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Ask what scarce and plentiful light bring, and how much work ahead of its time the rest would pay."""
    keys = ("workload", "vcc_v", "freq_hz", "period_s", "light_w", "days")
    asked = {key: raw.get(key, table.get(key)) for key in keys}
    at = raw.get("board", table.get("board", board))
    found = _supplied(at, **asked)
    where = f"{asked['workload']} on {at} every {asked['period_s']:g} s for {asked['days']} days"
    if raw["quantity"] != "coupons":
        return found[raw["quantity"]], where
    ahead, told = _cost(Place(raw["coupon"], at, boards.DEFAULT_POWER, vcc_v=asked["vcc_v"], freq_hz=asked["freq_hz"]))
    return found["curtailed_j"] / ahead.energy_j, f"{show(ahead.energy_j, 'J', 3)} each: {told}"


def _note(weighed: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    for power_set, joules in weighed:
        evidence.note(evidence.weighed_by(power_set, joules))


def _coupon(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Set the paper's whole operation, or ours, over our runtime with a coupon."""
    at, power, kind = raw.get("board", board), _set(table, raw), raw["coupon"]
    if "original" in raw or raw.get("runtime"):
        guarded = raw.get("guard", True)
        ours = coupon.runtime(kind, at, power, coupon.PAPER_VCC_V, guarded=guarded)
        _note(coupon.weighed(kind, at, power, coupon.PAPER_VCC_V, guarded=guarded))
        guard = f"with{'' if guarded else 'out'} claim, check and wipe"
        if raw.get("runtime"):
            return ours.as_json()[raw["quantity"]], f"{ours.cycles:,} cycles {guard}, after reset on {at}, {power}"
        where = f"the paper's over ours, {ours.cycles:,} cycles {guard}"
        return raw["original"] / ours.as_json()[raw["quantity"]], f"{where}, after reset on {at}, {power}"
    found = {m.variant: m for m in coupon.metrics(kind, board=at, power=power)}
    if raw["whole"] not in found:
        raise unknown("original", raw["whole"], found, f"of `{raw['label']}` in data/published")
    m = found[raw["whole"]]
    assert m.original is not None
    _note(coupon.weighed(kind, at, power, way=m.variant))
    if not raw.get("alone"):
        _note(coupon.weighed(kind, at, power))
    if raw.get("alone"):
        where = f"ours, {m.original.cycles:,} cycles in {show(m.original.time_s, 's')}, at its clock, on {at}, {power}"
        return m.original.as_json()[raw["quantity"]], where
    where = f"ours, {m.original.cycles:,} cycles, over ours, {m.runtime.cycles:,} with claim, check and wipe"
    return m.original.over(m.runtime)[raw["quantity"]], f"{where}, after reset on {at}, {power}"


def _generator(
    board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None
) -> tuple[float, str]:
    """Count what a generator takes for its 256 bits."""
    at, work = raw.get("board", board), boards.workload(f"trng-{raw['generator']}-256bit")
    counts, valid = measuring.run(measuring.builtin(work, at, boards.variant((), at)), at)
    if valid is False:
        raise SunsealError(f"`{work.name}` gives a wrong result on {at}")
    return float(oracle.samples_taken(raw["generator"], counts.output)), f"{work.name} on {at}"


def _nist(board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Count the tests of SP 800-22 that a generator's values fail; what passes them may still hold nothing."""
    from sunseal.secure import randomness

    try:
        found = randomness.values_of(raw["generator"], board)
    except ModuleNotFoundError as e:
        raise MissingToolError(
            "asks NIST's test suite", hint="`make randomness` compiles it, or `pip install 'sunseal[randomness]'`"
        ) from e
    if found.bits is None:
        raise SunsealError(f"{raw['generator']} on {board} gave too few values for any test: {found.sentence}")
    return float(len(found.bits.failed)), f"{found.bits.bits:,} bits of {found.starts:,} starts: {found.sentence}"


def _rate(_board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Play operations per second at one harvested power, told as a multiple of the whole operation's E/D."""
    found = coupon_rate.around(_set(table, raw))
    if raw["quantity"] == "inflection_w":
        return found.inflection_w[raw["store"]], f"E/D at the rail, as harvested power behind {coupon_rate.HARVESTER}"
    at_w = raw["factor"] * found.inflection_w["none"]
    (p,) = [p for p in found.points if p.kind == raw["store"] and math.isclose(p.harvested_w, at_w)]
    where = f"{p.operations} in {p.time_s:.4g} s at {show(p.harvested_w, 'W')}, {p.brown_outs} brown-outs"
    return p.rate_hz, f"{where}; by the formula {p.formula_hz:.4g} Hz"


def _recovery(_board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Ask of a starved node's first answer, on a store that pays a share of a whole signature, or compare two."""
    found = coupon_recovery.published(_set(table, raw))
    (r,) = [r for r in found.recoveries if math.isclose(r.charge_share, raw["factor"])]
    first = r.coupons if raw["store"] == "store" else r.none
    where = (
        f"{show(r.capacitance_f, 'F', 3)} behind {show(found.harvested_w, 'W', 3)}, output on after {show(r.on_s, 's')}"
    )
    if raw["quantity"] == "answers":
        return float(
            first is not None
        ), where if first else f"{where}: {r.charges} charges end before the signature does"
    if first is None:
        raise SunsealError(f"{where}: no first answer, in {r.charges} charges")
    value = float(getattr(first, raw["quantity"]))
    if "over" not in raw:
        return value, where
    if r.none is None:
        raise SunsealError(f"{where}: no first answer without coupons to compare with")
    return value / float(getattr(r.none, raw["quantity"])), where


def _base(board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Send data by a base station to its node and back, with the node's joules and the seconds."""
    return base.figure(table.get("board", board), table, raw)


def _coprocessor(
    board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None
) -> tuple[float, str]:
    """Set a mote with a coprocessor beside software, or say what its FPGA takes."""
    return offload.figure(table.get("board", board), raw)


def _radio(_board: str, table: dict[str, Any], raw: dict[str, Any], _progress: Progress | None) -> tuple[float, str]:
    """Price a message on one of our radios: bare bits as the paper has them, or frames as they go on the air."""
    from sunseal.planner import radio

    name, dbm, bits, quantity = raw["radio"], raw["dbm"], raw.get("bits", 1), raw["quantity"]
    if quantity in ("frames_j", "exchange_j"):
        price = radio.prices(name, dbm, RADIO_VCC_V)
        whole = price.exchange(bits // 8)
        waits_j = whole.messages * price.send_message_j[0] if quantity == "frames_j" else 0.0
        return whole.send_j[0] - waits_j, f"{whole.packets} packet with {bits // 8} bytes, {whole.power_set}"
    bare = radio.message(name, bits, dbm, RADIO_VCC_V, _set(table, raw))
    joules = bare.send_j if quantity.startswith("send") else bare.receive_j
    return joules / bare.time_s if quantity.endswith("_w") else joules, f"{name} at {dbm} dBm, {bare.power_set}"


Compute = Callable[[str, dict[str, Any], dict[str, Any], Progress | None], tuple[float, str]]
KINDS: dict[str, Compute] = {
    "operating_points": _operating_point,
    "measure": _cycles,
    "footprint": _footprint,
    "communication": _communication,
    "energy": _energy,
    "paper": _paper,
    "curve": _curve,
    "unit": _unit,
    "metered": _metered,
    "facts": _facts,
    "surplus": _surplus,
    "coupon": _coupon,
    "generator": _generator,
    "nist": _nist,
    "rate": _rate,
    "recovery": _recovery,
    "base": _base,
    "coprocessor": _coprocessor,
    "radio": _radio,
}
