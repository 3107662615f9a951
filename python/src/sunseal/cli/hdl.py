# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal hdl`: what the cores of hdl/ take."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from sunseal.catalog import units
from sunseal.cli.console import Json, VerdictFiles, judge, out, print_json
from sunseal.cli.spread import spread
from sunseal.papers.hdl import Row, judged, meets, size

hdl_app = typer.Typer(help="The coprocessor and the energy meter in hardware.", no_args_is_help=True)


@hdl_app.command("size")
@spread
def size_command(
    designs: Annotated[list[str] | None, typer.Argument(metavar="[DESIGN]...", help="Only these.")] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="Target: spartan3e, ice40 or gates. Repeatable.", show_default="all"),
    ] = None,
    *,
    files: VerdictFiles,
    as_json: Json = False,
) -> None:
    """Synthesize the cores and print what they take, beside their goals.

    Exit status 1 where a goal is missed; 3 where none of what was asked for has a goal.
    """
    rows = size(designs, target)
    judge("hdl-size", judged(rows), as_json, lambda: rows, lambda: _show_sizes(rows), files)


def _show_sizes(rows: list[Row]) -> None:
    table = Table("design", "target", "value", "unit", "goal", "how", box=None)
    for r in rows:
        goal, met = r["goal"], meets(r)
        verdict = "" if goal is None else f"{goal:g} {'met' if met else 'missed'}"
        table.add_row(
            r["design"], r["target"], f"{r['value']:g}", r["unit"], verdict, r["estimate"] or "placed and routed"
        )
    out.print(table)


@hdl_app.command("energy")
def energy_command(
    cores: Annotated[list[str] | None, typer.Argument(metavar="[CORE]...", help="aes128, xtea, present128.")] = None,
    as_json: Json = False,
) -> None:
    """Weigh cores for 16 bytes in cells of 0.18 um: each net's edges in simulation by the library's tables."""
    from sunseal.papers import asic

    found = asic.all_of(cores)
    if as_json:
        print_json("hdl-energy", [e.to_dict() for e in found])
        return
    table = Table("core", "16 bytes", "bracket", *asic.PARTS, "of it wires", "clocks", "cells", box=None)
    for e in found:
        bracket = f"{units.show(e.low_j, 'J', 3)} to {units.show(e.high_j, 'J', 3)}"
        parts = (units.show(e.parts_j[part], "J", 3) for part in asic.PARTS)
        sums = units.show(e.energy_j, "J", 3), bracket, *parts, units.show(e.wire_j, "J", 3)
        table.add_row(e.design, *sums, f"{e.clocks:,}", f"{e.cells:,}")
    out.print(table)
    out.print(
        f"{asic.LIBRARY}: each core alone, without pads, clock buffers, key store, bus and control; wires by Donath's "
        "mean length, the bracket from none to twice that and from the cheapest to the dearest input of each cell"
    )


@hdl_app.callback()
def _hdl() -> None:
    """The coprocessor and the energy meter in hardware."""
