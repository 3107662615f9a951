# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal hdl`: what the cores of hdl/ take."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from sunseal.benchmark.hdl import meets, size
from sunseal.cli.console import out, print_json
from sunseal.cli.options import Json

hdl_app = typer.Typer(help="The coprocessor and the energy meter in hardware.", no_args_is_help=True)


@hdl_app.command("size")
def size_command(
    designs: Annotated[list[str] | None, typer.Argument(metavar="[DESIGN]...", help="Only these.")] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", help="spartan3e, ice40 or gates. Repeatable; else all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Synthesize the cores and print what they take, beside their goals; exit 1 where a goal is missed."""
    rows = size(designs, target)
    if as_json:
        print_json(rows)
    else:
        table = Table("design", "target", "value", "unit", "goal", "how", box=None)
        for r in rows:
            goal, met = r["goal"], meets(r)
            verdict = "" if goal is None else f"{goal:g} {'met' if met else 'missed'}"
            table.add_row(
                r["design"], r["target"], f"{r['value']:g}", r["unit"], verdict, r["estimate"] or "placed and routed"
            )
        out.print(table)
    if any(meets(r) is False for r in rows):
        raise typer.Exit(1)


@hdl_app.callback()
def _hdl() -> None:
    """The coprocessor and the energy meter in hardware."""
