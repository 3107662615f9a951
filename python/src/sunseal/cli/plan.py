# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command `sunseal plan`, its options and its answer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from sunseal import requests
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import boards, part_files, places, units
from sunseal.cli.console import Output, VerdictFiles, err, judge, out, report, writable
from sunseal.cli.spread import spread
from sunseal.cli.tune import weighing
from sunseal.errors import SunsealError
from sunseal.harvest.light import low_light_text

if TYPE_CHECKING:
    from sunseal.planner.plan import Configuration, Margin, Planned
    from sunseal.planner.plan_confirm import Confirmed


@spread
def plan_command(
    asked: requests.Plan,
    explain: Annotated[bool, typer.Option("--explain", help="Say in words why each other choice lost.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Name the documents behind every data file that entered.")] = (
        False
    ),
    scenario: Annotated[
        Path | None, typer.Option("--scenario", help="Write a scenario of the best, for `sunseal simulate`.")
    ] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Play the best in the closed loop and compare.")] = False,
    sweep: Annotated[
        Path | None, typer.Option("--sweep", help="Write every configuration into this .parquet as well.")
    ] = None,
    dask: Annotated[str | None, typer.Option("--dask", help="With --sweep: a scheduler, such as tcp://host:8786.")] = (
        None
    ),
    *,
    output: Output,
    files: VerdictFiles,
) -> None:
    """Find the cheapest node that meets requirements, how far it is from failing, and what that depends on.

    Exit status 1: nothing meets them, or --confirm found a figure outside of what was foretold.
    """
    from sunseal.planner import plan, plan_confirm, plan_requirements
    from sunseal.planner import sweep as sweeping

    writable(scenario, (".toml",))
    writable(sweep, (".parquet",))
    if dask is not None and sweep is None:
        raise SunsealError("`--dask` belongs to `--sweep`")
    path = cast("Path", asked.requirements)
    places.look_beside(path.parent)
    wanted = plan_requirements.load(path).at_temperature(asked.temperature_c)
    with weighing(output.as_json) as progress:
        everything = sweeping.field(wanted, progress=progress)
    planned = plan.choose(everything, best=asked.best, check=asked.check)
    swept = None if sweep is None else _sweep(everything, sweep, dask, output.as_json)
    written, confirmed = list[Path](), None
    if planned.best is not None:
        if scenario is not None:
            written = plan_confirm.write(planned, planned.best, scenario)
        if confirm:
            confirmed = plan_confirm.confirm(planned, planned.best, everything)
    output.draw(
        lambda: report("drawings").planned(planned), lambda: report("planner_pages").planned(planned, confirmed)
    )

    def show() -> None:
        _show(planned, explain)
        if swept is not None:
            out.print(f"wrote {sweep}: {swept:,} configurations")
        for file in written:
            out.print(f"wrote {file}: `sunseal simulate {file}` plays it")
        if confirmed is not None:
            _show_confirmed(confirmed)
        if cite:
            out.print(str(planned.cite()))

    verdict = _judged(planned, confirmed)
    told = planned.to_dict() | {"confirmed": confirmed.to_dict() if confirmed is not None else None}
    judge("plan", verdict, output.as_json, lambda: {**verdict.to_dict(), **told}, show, files)


def _judged(planned: Planned, confirmed: Confirmed | None) -> Verdict:
    """Judge a plan: that nothing meets the requirements is a finding, and what its confirmation finds is one, too."""
    lacking = "nothing meets the requirements"
    found = () if planned.best is not None else (Finding("nothing-meets", lacking),)
    parts = [Verdict("requirements", planned.considered, found)]
    return Verdict.joined("plan", parts if confirmed is None else [*parts, confirmed.judged])


def _sweep(everything: Any, path: Path, dask: str | None, quiet: bool) -> int:
    from sunseal.planner import sweep as sweeping

    columns = (TextColumn("supplies"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err.console, transient=True, disable=quiet or not err.is_terminal) as bar:
        task = bar.add_task("supplies", total=len(everything.supplies))
        return sweeping.write(everything, path, lambda done, _: bar.update(task, completed=done), dask)


def _show(planned: Planned, explain: bool) -> None:
    for remark in planned.turned_away:
        out.print(remark, style="bold")
    best = planned.best
    if best is None:
        out.print(f"nothing meets the requirements; {planned.considered:,} configurations were considered")
        for sentence in planned.relaxations:
            out.print(f"  {sentence}")
        if explain:
            _show_losers(planned)
        return
    out.print(f"cheapest: {best.title}", style="bold")
    out.print(f"  {_parts(best)}")
    out.print(f"  of {planned.considered:,} configurations {planned.qualifying:,} meet the requirements")
    out.print(f"  {_what(best)}")
    for sentence in _powers(best):
        out.print(f"  {sentence}")
    out.print(f"  {best.words}")
    for remark in part_files.deaf_to_temperature(best.supply.parts, planned.read.temperature_c):
        out.print(f"  {remark}")
    for m in best.margins:
        inside = "" if m.sure else "; inside its uncertainty"
        out.print(f"  {m.requirement}: {_margin(m, m.value)} ({_margin(m, m.low)} to {_margin(m, m.high)}){inside}")
    if best.year is not None:
        y = best.year
        out.print(
            f"  a typical year by the fleet's engine: {y['survived_share']:.1%} of days survived, "
            f"{y['brown_outs']} brown-outs, lowest {y['v_min_v']:.2f} V"
        )
        if y["low_light"] is not None:
            out.print(f"  the panel in low light: {low_light_text(y['low_light'])}")
    for other in planned.beside:
        kind = "the cheapest that holds at the low end of what is uncertain" if other.holds else "much more margin"
        out.print(f"  {kind}: {other.name}; {other.words}", style="bold")
    if best.unsure and not any(other.holds for other in planned.beside):
        out.print("  nothing that was looked at holds at the low end of what is uncertain", style="bold")
    _show_sensitivity(best)
    if len(planned.configurations) > 1:
        table = Table(
            "cost", "algorithm", "board", "supply", "power", "energy margin", "", box=None, title="the best few"
        )
        table.title_justify = "left"
        for c in planned.configurations:
            energy = c.margins[-1]
            table.add_row(
                f"{c.cost:.4g}",
                str(c.row["workload"]),
                f"{boards.called('boards', c.row['board'])} {c.row['variant']}".strip()
                + f", {c.row['vcc_v']:.2f} V, {_mhz(c)}",
                c.supply.title,
                units.show(c.row["mean_w"], "W", 3),
                f"{_margin(energy, energy.value)} ({_margin(energy, energy.low)} to {_margin(energy, energy.high)})",
                "" if not c.unsure else f"unsure: {', '.join(c.unsure)}",
            )
        out.print(table)
    if explain:
        _show_losers(planned)


def _parts(c: Configuration) -> str:
    """Say by which names board and parts stand in scenarios and requirements."""
    return f"board {c.row['board']}; parts {c.supply.name}"


def _mhz(c: Configuration) -> str:
    return f"{c.row['freq_hz'] / 1e6:g} MHz"


def _what(c: Configuration) -> str:
    row = c.row
    air = (
        f" and {units.show(row['radio_j'], 'J', 3, row['compute_j'])} on the air at {row['dbm']:+d} dBm"
        if row["radio_j"]
        else ""
    )
    ends = units.span(row["mean_low_w"], row["mean_high_w"], "W", row["mean_w"])
    round_s = units.show(row["latency_s"], "s", 3)
    return (
        f"at {row['vcc_v']:.2f} V and {_mhz(c)} {units.show(row['compute_j'], 'J', 3)}{air} a round, {round_s}; mean "
        f"{units.show(row['mean_w'], 'W', 3)} ({ends}), asleep {units.show(row['sleep_w'], 'W', 3, row['mean_w'])}; "
        f"{row['flash_bytes']:,} bytes of program, {row['memory_bytes']:,} of RAM and stack"
    )


def _powers(c: Configuration) -> list[str]:
    """Say what each task takes on average, and the sleep, a sentence each."""
    told = []
    for task in c.row["tasks"]:
        air = f" and {_microwatts(task['radio_w'])} for the radio" if task["radio_w"] else ""
        told.append(
            f"{task['name']} by {task['workload']} every {units.duration(task['every_s'])}: "
            f"{_microwatts(task['compute_w'])} for computing{air}"
        )
    if c.row["listen_w"]:
        told.append(f"listening for challenges: {_microwatts(c.row['listen_w'])}")
    if c.row.get("coprocessor"):
        told.append(_coprocessor(c))
    told.append(f"sleep: {_microwatts(c.row['sleep_w'])}")
    if c.row["asleep"]["remark"]:
        told.append(c.row["asleep"]["remark"])
    return told


def _coprocessor(c: Configuration) -> str:
    from sunseal.measurement import switching

    counted = "all its supplies counted, their regulators not"
    if c.row["coprocessor"] == switching.ON:
        return f"its FPGA {switching.ON}: {_microwatts(c.row['coprocessor_w'])} for waiting, {counted}"
    start = units.show(c.row["start_j"], "J", 3)
    return f"its FPGA {switching.OFF}: {start} a round for configuration and key, {counted}"


def _microwatts(power_w: float) -> str:
    return f"{power_w * 1e6:.3g} µW"


def _margin(m: Margin, value: float) -> str:
    from sunseal.planner.relaxations import factor

    if m.unit and math.isfinite(value):
        return f"{value:+.0f} bits" if m.unit == "bits" else f"{value:+.1f} {m.unit}"
    return factor(value)


def _show_sensitivity(c: Configuration) -> None:
    table = Table("assumption", "ends", "energy margin at its ends", box=None, title="what it depends on")
    table.title_justify = "left"
    energy = c.margins[-1]
    for s in c.sensitivity[:6]:
        ends = f"{_margin(energy, s.outcome_low)} to {_margin(energy, s.outcome_high)}"
        table.add_row(s.assumption, f"{s.low} to {s.high}", ends)
    out.print(table)


def _show_losers(planned: Planned) -> None:
    for c in planned.configurations[1:]:
        out.print(f"  {c.title}: {c.words}")
    # What is said of several boards is said once.
    said: dict[tuple[str, str], list[str]] = {}
    for name, words in planned.losers:
        work, _, board = name.partition(" on ")
        said.setdefault((work, words), []).append(board)
    for (work, words), named in said.items():
        out.print(f"  {work} on {', '.join(named)}: {words}")
    for remark in planned.remarks:
        out.print(f"  {remark}")
    for word, told in planned.citations.unread():
        out.print(f"  {word}: {told}")


def _show_confirmed(confirmed: Confirmed) -> None:
    table = Table("task", "figure", "foretold", "ends", "in the closed loop", "", box=None, title="the closed loop")
    table.title_justify = "left"
    for r in confirmed.rows:

        def tell(value: float, unit: str = r.unit) -> str:
            return units.show(value, unit) if unit else f"{value:g}"

        verdict = "inside" if r.inside else "OUTSIDE"
        table.add_row(r.task, r.quantity, tell(r.foretold), f"{tell(r.low)} to {tell(r.high)}", tell(r.played), verdict)
    out.print(table)
