# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of the source papers beside our figures, with ratio and verdict."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sunseal import _engine, boards, measuring
from sunseal.errors import SunsealError, unknown
from sunseal.units import show

AGREES, BEATEN, DIFFERS, NOT_MET, MISPRINT = "agrees", "beaten", "differs", "not met", "misprint"
SUITES = {"secp160r1": "ecdsa-secp160r1-sha1", "p256": "ecdsa-p256-sha256"}
NEAR = 0.10
"""Figures read off a printed curve with one or two digits agree within this share."""


@dataclass(frozen=True)
class Row:
    """One figure."""

    label: str
    published: float
    ours: float
    unit: str
    verdict: str
    note: str = ""
    printed: str | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over published."""
        return self.ours / self.published if self.published else None

    def show(self, value: float) -> str:
        """Write a figure the way its unit is read."""
        if self.unit in ("J", "s"):
            return show(value, self.unit, 4)
        if value == int(value):
            return f"{int(value):,} {self.unit}"
        return f"{value:g} {self.unit}"


@dataclass(frozen=True)
class Reproduction:
    """One table."""

    id: str
    title: str
    source: str
    rows: list[Row]

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "rows": [
                {
                    "label": r.label,
                    "published": r.published,
                    "ours": r.ours,
                    "ratio": r.ratio,
                    "verdict": r.verdict,
                    "unit": r.unit,
                    "printed": r.printed,
                    "note": r.note,
                }
                for r in self.rows
            ],
        }


def _tables() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for name in boards.names("published"):
        data: dict[str, Any] = boards.read_toml(boards.home() / "data" / "published" / f"{name}.toml")
        for table in data.get("table", []):
            found[table["id"]] = data["paper"], table
    return found


def ids() -> list[str]:
    """Return the identifiers of all tables."""
    return sorted(_tables())


def reproduce(table_id: str, progress: measuring.Progress | None = None) -> Reproduction:
    """Compute our figures for one table."""
    tables = _tables()
    if table_id not in tables:
        raise unknown("table", table_id, tables)
    paper, table = tables[table_id]
    compute = KINDS[table["kind"]]
    rows = []
    for raw in table["row"]:
        ours, note = compute(paper["board"], table, raw, progress)
        notes = [n for n in (raw.get("note", ""), note) if n]
        rows.append(
            Row(
                label=raw["label"],
                published=float(raw["published"]),
                ours=ours,
                unit=raw.get("unit", table.get("unit", "")),
                verdict=_verdict(raw.get("better", table["better"]), float(raw["published"]), ours, raw),
                note="; ".join(notes),
                printed=raw.get("printed"),
            )
        )
    return Reproduction(table_id, table["title"], f"{paper['cite']}, {table['source']}", rows)


def _verdict(better: str, published: float, ours: float, raw: dict[str, Any]) -> str:
    if "expr" in raw:
        # The paper's own arithmetic: the last printed digit, rounded or cut off.
        if abs(ours - published) <= raw["ulp"] * (1 + 1e-9):
            return AGREES
        note = raw.get("note", "")
        return MISPRINT if note.startswith("misprint") else DIFFERS if note else NOT_MET
    if better == "more":
        better, published, ours = "less", ours, published
    if better == "less":
        if ours > published:
            return DIFFERS if raw.get("note") else NOT_MET
        return BEATEN if ours < published else AGREES
    if better == "equal" and raw.get("quantity") != "packet_energy_j":
        return AGREES if ours == published else DIFFERS
    return AGREES if abs(ours / published - 1) <= NEAR else DIFFERS


def _operating_point(
    board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: measuring.Progress | None
) -> tuple[float, str]:
    device = _engine.Board(str(boards.board_path(board))).device
    levels = _engine.levels(str(boards.home() / "data" / "devices" / f"{device}.toml"))
    for freq_hz, vcc_v, vcore in levels:
        if raw["freq_max_hz"] <= freq_hz:
            return (vcc_v if raw["quantity"] == "vcc_min_v" else float(vcore)), ""
    raise SunsealError(f"{device} has no level for {raw['freq_max_hz'] / 1e6:g} MHz")


def _counts(board: str, workload: str, mpy: str, progress: measuring.Progress | None) -> _engine.Counts:
    program = measuring.builtin(workload, board, {"mpy": mpy})
    counts, valid = measuring.run(program, board, progress)
    if not valid:
        raise SunsealError(f"`{workload}` with mpy={mpy} gives a wrong result on {board}")
    return counts


def _cycles(
    board: str, _table: dict[str, Any], raw: dict[str, Any], progress: measuring.Progress | None
) -> tuple[float, str]:
    return float(_counts(board, raw["workload"], raw["mpy"], progress).cycles), ""


HARNESS = ("bench_input", "bench_input_len", "bench_output", "bench_status")
"""What the host writes and reads: no part of a program that does its work in the field."""


def _footprint(
    board: str, _table: dict[str, Any], raw: dict[str, Any], progress: measuring.Progress | None
) -> tuple[float, str]:
    """Take one program with all three operations, run through all of them."""
    program = measuring.builtin(boards.whole_program(raw["parameter"]), board, {"mpy": raw["mpy"]})
    counts, valid = measuring.run(program, board, progress)
    if not valid:
        raise SunsealError(f"`{program.label}` with mpy={raw['mpy']} gives a wrong result on {board}")
    if raw["quantity"] == "flash_bytes":
        return float(counts.flash_bytes), "one program with all three operations, start-up and vectors included"
    harness = _engine.symbols_bytes(program.image, HARNESS)
    own = counts.ram_bytes - harness + counts.stack_bytes
    return float(own), (
        f"{counts.ram_bytes - harness} bytes static and {counts.stack_bytes} of stack at its deepest; "
        f"the bench's {harness} bytes of input and output are left out"
    )


def _communication(
    board: str, _table: dict[str, Any], raw: dict[str, Any], _progress: measuring.Progress | None
) -> tuple[float, str]:
    link = _engine.response_air(SUITES[raw["parameter"]])
    if raw["quantity"] == "signature_bytes":
        return float(link.signature_bytes), ""
    if raw["quantity"] == "packets":
        return float(link.packets), f"body of {link.body_bytes} bytes"
    data = boards.home() / "data"
    energy_j = _engine.packet_energy_j(str(data / "parts"), str(data / "power"), 64, 250e3, 2.7)
    return (
        energy_j,
        "CC2500 datasheet: settling with calibration, then 64 bytes at 250 kBd, 0 dBm, 2.7 V",
    )


def _energy(
    board: str, table: dict[str, Any], raw: dict[str, Any], progress: measuring.Progress | None
) -> tuple[float, str]:
    """Weigh the published cycle count, so that only the energy model is compared."""
    weights = measuring.PowerSet(table["power_set"], board)
    counts = _counts(board, raw["workload"], raw["mpy"], progress)
    point = weights.inner.weigh(counts, raw["freq_hz"], raw["vcc_v"])
    scale = raw["cycles"] / counts.cycles
    ours = point.energy_j if raw["quantity"] == "energy_j" else point.time_s
    return (
        ours * scale,
        f"our own program: {show(ours, raw['unit'], 3)} in {counts.cycles:,} cycles",
    )


_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def arithmetic(text: str) -> float:
    """Compute `+ - * / **` on numbers; anything else is refused."""

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.operand))
        raise SunsealError(f"`{text}` in data/published is no arithmetic on numbers")

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as e:
        raise SunsealError(f"`{text}` in data/published is no arithmetic on numbers: {e}") from e


@cache
def _measured(workload: str, board: str, vcc_v: float, power: str) -> measuring.Measurement:
    measured = measuring.measure(workload, board=board, vcc_v=vcc_v, power=power)
    if measured.result_valid is False:
        raise SunsealError(f"`{workload}` gives a wrong result on {board}")
    return measured


def _paper(
    board: str, table: dict[str, Any], raw: dict[str, Any], _progress: measuring.Progress | None
) -> tuple[float, str]:
    """Do the paper's arithmetic on its inputs, or ask its question of our firmware."""
    if "expr" in raw:
        return arithmetic(raw["expr"]), f"= {raw['expr']}"
    power = raw.get("power_set", table.get("power_set", measuring.DEFAULT_POWER))
    m = _measured(raw["workload"], raw.get("board", board), raw["vcc_v"], power)
    # A lifetime is, as in the paper, that of a node which does nothing else.
    ours = {
        "time_s": m.time_s,
        "energy_j": m.energy_j,
        "cycles": float(m.cycles),
        "operations": raw.get("store_j", 0.0) / m.energy_j,
        "duty_percent": 100 * m.time_s / raw.get("period_s", m.time_s),
        "lifetime_h": raw.get("store_j", 0.0) / m.energy_j * raw.get("period_s", 0.0) / 3600,
    }[raw["quantity"]]
    place = f"{m.board} {m.variant}".strip()
    return ours, f"{m.workload} on {place}, {m.vcc_v:g} V, {m.freq_hz / 1e6:g} MHz, {m.power_set}"


Compute = Callable[[str, dict[str, Any], dict[str, Any], measuring.Progress | None], tuple[float, str]]
KINDS: dict[str, Compute] = {
    "operating_points": _operating_point,
    "measure": _cycles,
    "footprint": _footprint,
    "communication": _communication,
    "energy": _energy,
    "paper": _paper,
}
