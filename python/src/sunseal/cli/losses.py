# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal inject` and `sunseal war`: losses of power."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from sunseal import requests
from sunseal.cli.console import PAGE, Json, Report, VerdictFiles, judge, out, report, writable, write_report
from sunseal.cli.progress import bar
from sunseal.cli.spread import spread

if TYPE_CHECKING:
    from sunseal.secure.injecting import Hazard, Injection
    from sunseal.secure.lasting import Least


PATH_SHOWN = 5


@spread
def inject_command(asked: requests.Inject, files: VerdictFiles, page: Report = None, as_json: Json = False) -> None:
    """Cut the power at every cycle of a stretch, boot again and check that the program keeps its word.

    Exit status 1 if a cut is not survived: the earliest one is told with registers and last instructions. 3 if nothing
    was compared: what must hold is said by --golden, --check or --assert.
    """
    from sunseal.secure import injecting

    writable(page, PAGE)
    with files.judging(f"inject {_name(asked.elf)}"), bar(as_json, "cuts") as asked.progress:
        done = injecting.inject(asked)
    write_report(page, lambda: report("verdict_pages").injected(done))
    judge("inject", done.judged, as_json, done.to_dict, lambda: _show_injection(done), files)


def _show_injection(done: Injection) -> None:
    from sunseal.secure import injecting

    told = f"{done.failed:,} not survived" if done.failed or done.compared else "none kept from its end"
    out.print(f"{done.cuts:,} cuts in a stretch of {done.stretch_cycles:,} cycles, {told}")
    if done.losses != 1:
        often = "any number of times" if done.losses is None else f"{done.losses} times"
        fell = f"{done.recovery_cuts:,} of the cuts fell into {done.recoveries:,} recoveries"
        out.print(f"the power went {often} in a row: {fell}", style="dim")
        if done.uncut:
            out.print(f"not cut: {done.uncut:,} more recoveries{_told_apart(done.changing)}", style="yellow")
        if done.held:
            out.print(f"each life began with {_names(done.held)} as the image has it", style="dim")
    if done.written:
        out.print(f"the check wrote {_names(done.written)} anew in each life, whatever the cut left of it", style="dim")
    if done.played < done.cuts:
        out.print(f"{done.played:,} of them played, one of each class that has the same run behind it", style="dim")
        for why, times in sorted(done.alone.items(), key=lambda a: -a[1]):
            out.print(f"  {times:,} in no class: {escape(why)}", style="dim")
    if done.compared:
        out.print(f"compared behind each: {escape(', '.join(done.compared))}", style="dim")
        if done.keeps_nothing:
            out.print(injecting.KEEPS_NOTHING, style="yellow")
    first = done.earliest
    if first is None:
        return
    out.print(f"[bold red]cycle {first.path}[/], in {escape(first.place)}: {escape(first.reason)}")
    sys.stdout.write(first.trace)
    width = 4
    named = [f"{name}={value:0{width}x}" for name, value in first.registers.items()]
    for i in range(0, len(named), 8):
        out.print("  " + " ".join(named[i : i + 8]), style="dim")
    for failure in done.failures[1:11]:
        out.print(f"cycle {failure.path}, in {escape(failure.place)}: {escape(failure.reason)}", style="dim")
    if done.failed > 11:
        out.print(f"and {done.failed - 11:,} more", style="dim")


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{escape(name)}`" for name in names)


def _told_apart(changing: Mapping[str, int]) -> str:
    """Say what keeps changing, where a program never comes to memories that were there before."""
    from sunseal.secure.cutting import NOT_COMPARED

    if not changing:
        return ""
    if NOT_COMPARED in changing:
        return f": {NOT_COMPARED}, so that each loss counts as one of its own; on an MSP430F5xx or FR5xx it is"
    held = ", ".join(f"`{escape(name)}` ({values:,} values)" for name, values in list(changing.items())[:5])
    return f"; they are distinguished by {held}: if a program's lives are counted there, --hold it"


def _name(elf: object) -> str:
    return Path(str(elf)).name


@spread
def war_command(asked: requests.War, files: VerdictFiles, page: Report = None, as_json: Json = False) -> None:
    """Find non-volatile bytes that are read and then written between two commits.

    Code that is run again after a loss of power goes wrong there. Exit status 1 if there are any; 3 if nothing
    non-volatile was written, or not by the CPU's stores alone.
    """
    from sunseal.secure import injecting

    writable(page, PAGE)
    name = _name(asked.elf)
    with files.judging(f"war {name}"):
        found = injecting.war(asked)
    verdict = injecting.war_judged(name, found)
    write_report(page, lambda: report("verdict_pages").hazards(name, asked.board, found, verdict))
    told = {**verdict.to_dict(), "program": name, "board": asked.board, "hazards": [vars(h) for h in found]}
    judge("war", verdict, as_json, lambda: told, lambda: _show_war(name, found), files)


def _show_war(name: str, found: Sequence[Hazard]) -> None:
    if not found:
        out.print(f"no write after read in non-volatile memory of `{name}`")
        return
    table = Table("object", "address", "bytes", "read by", "written by", "times", "changing", box=None)
    for h in found:
        where = (escape(h.symbol or ""), f"{h.address:#07x}", str(h.bytes), escape(h.read_place))
        table.add_row(*where, escape(h.write_place), f"{h.count:,}", f"{h.changes:,}")
    out.print(table)


@spread
def least_command(asked: requests.LeastCapacitor, files: VerdictFiles, as_json: Json = False) -> None:
    """Find the smallest capacitor with which the program always makes progress, whenever power fails.

    Cuts at every cycle from power-up on, and at every cycle of each recovery, say which lives leave as much to do as
    there was; the answer bears a longer one. What it takes for granted is listed. Exit status 1 if a cut is not
    survived, whatever the capacitor; 3 if lives were not looked at.
    """
    from sunseal.secure import lasting

    with files.judging(f"least-capacitor {_name(asked.elf)}"), bar(as_json, "cuts") as asked.progress:
        found = lasting.least_capacitor(asked)
    judge("least-capacitor", found.judged, as_json, found.to_dict, lambda: _show_least(found), files)


def _show_least(found: Least) -> None:
    span = f"between {found.voltage_on_v:g} and {found.voltage_off_v:g} V"
    worth = f"{found.time_s * 1e3:.3g} ms, {found.energy_j * 1e6:.3g} uJ"
    least = "at least " if found.uncut else ""
    answer = f"[bold]{least}{found.capacitance_f * 1e6:.3g} uF[/]"
    out.print(f"{answer} {span}: each life has {found.cycles:,} cycles ({worth})")
    path = ", then ".join(f"{c:,}" for c in found.path[:PATH_SHOWN])
    if len(found.path) > PATH_SHOWN:
        path += f" and so on, {len(found.path):,} losses in all,"
    life = f"the life behind a loss of power {path} cycles behind power-up" if path else "the first life"
    out.print(f"with fewer {life} may leave as much to do as there was, where it ends in {escape(found.place)}")
    out.print(f"the whole run in one life takes {found.whole_cycles:,} cycles and {found.whole_f * 1e6:.3g} uF")
    out.print(
        f"this rests on {found.cuts:,} cuts of the runs from {found.states:,} memories that losses leave "
        f"({found.runs:,} runs made) and on `{found.power}`; taken for granted:",
        style="dim",
    )
    for sentence in found.assumptions:
        out.print(f"- {escape(sentence)}", style="dim")
    if found.uncut:
        out.print(f"{found.uncut:,} more memories{_told_apart(found.changing)}", style="yellow")
    if found.held:
        out.print(f"each life began with {_names(found.held)} as the image has it", style="dim")
