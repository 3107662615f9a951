# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command `sunseal tune`, its options and its answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from sunseal import requests
from sunseal.catalog import units
from sunseal.cli.console import Output, answer, err, out, report
from sunseal.cli.spread import spread

if TYPE_CHECKING:
    from pandas import Series

    from sunseal.planner import operations
    from sunseal.planner.tune import Tuned


@contextlib.contextmanager
def weighing(quiet: bool) -> Iterator[operations.Progress | None]:
    """Show which operation is being run, on stderr and only to a person."""
    if quiet or not err.is_terminal:
        yield None
        return
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=err.console, transient=True
    ) as bar:
        task = bar.add_task("weighing")
        yield lambda done, total, label: bar.update(task, completed=done, total=total, description=label)


@spread
def tune_command(
    asked: requests.Tune,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows of the table of qualifying curves.")] = 12,
    *,
    output: Output,
) -> None:
    """Find the voltage, clock, board and algorithm within bounds (Mane 2014, chapter 5), over all curves at once."""
    from sunseal.api import planning

    with weighing(output.as_json) as asked.progress:
        tuned = planning.tune(asked)
    output.draw(lambda: report("drawings").front(tuned), lambda: report("planner_pages").tuned(tuned))
    answer("tune", output.as_json, tuned.to_dict, lambda: _show(tuned, rows), 1 if tuned.best is None else 0)


def _quantity(name: str, value: float) -> str:
    from sunseal.planner.tune import QUANTITIES

    unit = QUANTITIES[name][1]
    return f"{value:,.0f} {'bytes' if unit == 'B' else 'bits'}" if unit in ("B", "bit") else units.show(value, unit)


def _where(row: dict[str, Any]) -> str:
    return f"{row['workload']} on {_place(row)}, {row['vcc_v']:.2f} V, {row['freq_hz'] / 1e6:g} MHz"


def _place(row: Mapping[str, Any] | Series) -> str:
    rest = f"FPGA {row['coprocessor']}" if row["coprocessor"] else ""
    return " ".join(filter(None, (row["board"], row["variant"], rest)))


def _show(tuned: Tuned, rows: int) -> None:
    if tuned.left_out:
        out.print(
            f"not weighed, as no node's program runs there: {', '.join(tuned.left_out)}; --board names them",
            style="dim",
        )
    bounds = ", ".join(
        f"{name} {'at least' if name == 'security' else 'at most'} {_quantity(name, value)}"
        for name, value in tuned.bounds.items()
    )
    best = tuned.best
    if best is None:
        out.print(f"no operating point has {bounds}")
        for r in tuned.relaxations:
            if r.needed is None or r.row is None:
                out.print(f"  giving way in {r.quantity} alone does not help")
            else:
                out.print(
                    f"  {r.quantity} of {_quantity(r.quantity, r.needed)} instead of "
                    f"{_quantity(r.quantity, r.bound)} would do: {_where(r.row)}"
                )
        if tuned.nearest is not None and all(r.needed is None for r in tuned.relaxations):
            out.print(f"  all of them by a factor of {tuned.nearest_factor:.3g} would do: {_where(tuned.nearest)}")
        return
    out.print(f"{len(tuned.qualifying):,} operating points have {bounds or 'no bounds'}")
    out.print(f"best {tuned.objective}: {_where(best)}", style="bold")
    out.print(
        f"  {units.show(best['energy_j'], 'J')} "
        f"({units.span(best['energy_low_j'], best['energy_high_j'], 'J', best['energy_j'], 4)}), "
        f"{units.show(best['time_s'], 's')}, {units.show(best['power_w'], 'W')}, {best['security_bits']} bits, "
        f"{best['flash_bytes']:,} bytes of program, "
        f"{best['memory_bytes']:,} of RAM and stack"
    )
    if best["coprocessor"]:
        out.print(
            f"  of which {units.show(best['coprocessor_j'], 'J')} for the FPGA {best['coprocessor']}; mote and all "
            "supplies of the FPGA are counted, their regulators not"
        )
    if not best["sure"]:
        out.print("  its margin is inside the uncertainty of the coefficients: see `sure` in --json")
    for b in tuned.binds:
        out.print(
            f"  {b.quantity} binds: without its bound the best {tuned.objective} would be "
            f"{_quantity(tuned.objective, b.without)} ({100 * b.gain:.0f} %)"
        )
    table = Table("workload", "board", "supply", "clocks", "latency", "energy", box=None, title="curves that qualify")
    table.title_justify = "left"
    for _, c in tuned.curves.head(rows).iterrows():
        clocks = (
            f"{c.freq_min_hz / 1e6:g}"
            if c.freq_min_hz == c.freq_max_hz
            else f"{c.freq_min_hz / 1e6:g} to {c.freq_max_hz / 1e6:g}"
        )
        table.add_row(
            c.workload,
            _place(c),
            f"{c.vcc_v:.2f} V",
            f"{clocks} MHz",
            _span(c.time_min_s, c.time_max_s, "s"),
            _span(c.energy_min_j, c.energy_max_j, "J"),
        )
    out.print(table)
    if len(tuned.curves) > rows:
        out.print(f"  and {len(tuned.curves) - rows} curves more (--rows)")
    front = Table("workload", "where", "latency", "energy", "bits", box=None, title="Pareto front")
    front.title_justify = "left"
    most_s, most_j = tuned.front.time_s.max(), tuned.front.energy_j.max()
    for _, p in tuned.front.iterrows():
        where = f"{_place(p)}, {p.vcc_v:.2f} V, {p.freq_hz / 1e6:g} MHz"
        time, energy = units.show(p.time_s, "s", like=most_s), units.show(p.energy_j, "J", like=most_j)
        front.add_row(p.workload, where, time, energy, str(p.security_bits))
    out.print(front)


def _span(low: float, high: float, unit: str) -> str:
    return units.show(low, unit) if low == high else units.span(low, high, unit, high, 4)
