# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal boards` and `sunseal workloads`: what there is."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import _engine
from sunseal.catalog import boards
from sunseal.cli.console import Json, out, print_json


def boards_command(
    gaps: Annotated[
        bool, typer.Option("--gaps", help="List what of each device and part is not modelled instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the boards, their device and its voltage and clock limits."""
    if gaps:
        _show_gaps(as_json)
        return
    rows: list[dict[str, Any]] = []
    for name in boards.names("boards"):
        board = boards.load(name)
        levels = _engine.levels(str(boards.device_path(board.device)))
        rows.append(
            {
                "board": name,
                "from": boards.origin(boards.board_path(name)),
                "file": str(boards.board_path(name)),
                "device": board.device,
                "parts": board.parts,
                "variants": [f"{k}={v}" for k, values in boards.variants(name).items() for v in values],
                "power_sets": [p for p in boards.names("power") if p.startswith(board.device)],
                "levels": [{"freq_max_hz": f, "vcc_min_v": v, "vcore": n} for f, v, n in levels],
            }
        )
    if as_json:
        print_json("boards", rows)
        return
    table = Table("board, device, variants", "parts", "clock, from", "power sets", box=None)
    for row in rows:
        table.add_row(
            "\n".join((row["board"] + _from(row), f"  {row['device']}", *(f"  {v}" for v in row["variants"]))),
            "\n".join(row["parts"]),
            "\n".join(f"{p['freq_max_hz'] / 1e6:.3g} MHz, {p['vcc_min_v']:g} V" for p in row["levels"]),
            "\n".join(p.removeprefix(f"{row['device']}-") for p in row["power_sets"]),
        )
    out.print(table)


def _from(row: dict[str, Any]) -> str:
    """Say where a board is from that is not the package's."""
    return "" if row["from"] == "package" else escape(f" (from {row['from']})")


def _show_gaps(as_json: bool) -> None:
    rows = [
        {"part": part, "block": block, "addresses": addresses, "what": what}
        for part in [*boards.names("devices"), *boards.names("parts")]
        for block, addresses, what in boards.gaps(part)
    ]
    if as_json:
        print_json("gaps", rows)
        return
    table = Table("part", "block", "addresses", "what happens, and why", box=None)
    for row in rows:
        table.add_row(*row.values())
    out.print(table)


def workloads_command(as_json: Json = False) -> None:
    """List the operations that `measure`, `profile` and `curve` know."""
    if as_json:
        print_json(
            "workloads",
            [
                {"workload": w.name, "security_bits": w.security_bits, "summary": w.summary}
                for w in boards.WORKLOADS.values()
            ],
        )
        return
    table = Table("workload", "security", "what it does", box=None)
    for w in boards.WORKLOADS.values():
        level = f"{w.security_bits} bit" + (", legacy" if w.security_bits < 112 else "")
        table.add_row(w.name, level, w.summary)
    out.print(table)
