# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command `sunseal fleet`, its options and its answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from sunseal import requests
from sunseal.catalog import boards, places, units
from sunseal.cli.console import Output, err, out, print_json, report
from sunseal.cli.spread import spread


@spread
def fleet_command(
    folder: Annotated[Path, typer.Option("--out", help="Folder that the Parquet files are written to.")] = Path(
        "out/fleet"
    ),
    *,
    asked: requests.Fleet,
    output: Output,
) -> None:
    """Play thousands of nodes over years from one measured profile; Ctrl-C and again goes on where it was."""
    from sunseal.api import playing
    from sunseal.loop import simulation

    quiet = output.as_json or not err.is_terminal
    if not quiet:
        err.print("measuring the profile and drawing the fleet", style="dim")
    columns = (TextColumn("nodes"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err.console, transient=True, disable=quiet) as bar:
        task = bar.add_task("nodes", total=None)
        asked.heard = lambda done, of: bar.update(task, completed=done, total=of)
        played = playing.run_fleet(replace(asked, folder=folder))
    fleet = played.fleet
    places.look_beside(fleet.scenario.folder)
    output.draw(lambda: report("drawings").lights(played), lambda: report("planner_pages").fleet(played))
    board = str(simulation.facts(fleet.scenario)["board"])
    told = {**played.summary(), "residual_known": boards.residual_known(board)}
    if output.as_json:
        print_json("fleet", told)
        return
    for profile in fleet.profiles[:1]:
        for t in profile.tasks:
            out.print(
                f"{t.name} every {units.show(t.period_s, 's')}: {units.show(t.energy_j, 'J')}, "
                f"{units.show(t.time_s, 's')}; asleep {units.show(profile.sleep_w, 'W')}",
                style="dim",
            )
    if not told["residual_known"]:
        out.print(f"not counted: the residual current of {board}, nobody's measurement is known here", style="dim")
    _show(told, folder)


def _show(told: dict[str, Any], folder: Path) -> None:
    table = Table(box=None, show_header=False)
    shares = told["survived_share"]
    table.add_row("nodes, node-days", f"{told['nodes']:,}, {told['node_days']:,}")
    table.add_row(
        "days survived, of all",
        f"{shares['p50']:.1%} in the middle, {shares['p5']:.1%} and {shares['p95']:.1%} at the ends",
    )
    table.add_row("nodes that never went down", f"{told['nodes_never_down']:,}")
    table.add_row("brown-outs", f"{told['brown_outs']:,}")
    if told["done_share"] is not None:
        table.add_row("tasks done, of those due", f"{told['done_share']:.2%}")
    if told["curtailed_share"] is not None:
        table.add_row("light not taken: store full", f"{told['curtailed_share']:.1%}")
    if "low_light" in told:
        table.add_row("light, uncertain when low", told["low_light"])
    table.add_row("energy balance, worst node", f"{told['energy_balance_rel_max']:.1e}")
    out.print(table)
    out.print(f"wrote {folder}/part-*.parquet")
