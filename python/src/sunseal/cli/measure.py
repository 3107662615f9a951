# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal measure` and `sunseal curve`: one operation, at one operating point or at all."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import requests
from sunseal.catalog import boards, units
from sunseal.cli.console import (
    PAGE,
    Figure,
    Json,
    Report,
    answer,
    err,
    facts_table,
    out,
    print_json,
    report,
    writable,
    write_report,
)
from sunseal.cli.progress import counting
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError
from sunseal.measurement import measuring

LATER = "it is made for later, and the workload that uses it is what shows it right"


@spread
def measure_command(
    asked: requests.Measure,
    call: Annotated[
        str | None,
        typer.Option(
            "--call",
            metavar="F(ARGS)",
            help="Call a function of your program, from main or --from, until it returns; F alone: as the program "
            "calls it.",
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", min=1, help="Number of calls; least, mean and most are printed.")
    ] = 1,
    page: Report = None,
    as_json: Json = False,
) -> None:
    """Measure one operation: cycles, time, joules, memory, and whether its result is right."""
    writable(page, PAGE)
    if call is not None:
        if page is not None:
            raise SunsealError("`--report` cannot stand beside `--call`: a page has one operation between its marks")
        _measure_calls(asked, call, repeat, as_json)
        return
    if repeat != 1:
        raise SunsealError("`--repeat` belongs to `--call`: a run between two marks is the same each time")
    with counting(as_json, asked.label) as asked.progress:
        m = measuring.measure(asked)
    write_report(page, lambda: report("verdict_pages").measured(m))
    for lint in m.lints:
        err.print(f"[bold yellow]warning:[/] {escape(lint)}")
    answer("measure", as_json, m.to_dict, lambda: _show_measurement(m), 1 if m.result_valid is False else 0)


def _measure_calls(asked: requests.Measure, call: str, repeat: int, as_json: bool) -> None:
    from sunseal.measurement import calling

    if asked.unit:
        raise SunsealError(
            "`--unit` cannot stand beside `--call`: the measurement unit reads a workload between its marks"
        )
    start, end, marks = asked.typed_window
    if asked.elf is None:
        raise SunsealError("`--call` needs a program of yours: name its ELF file")
    if asked.variant or end or marks:
        wrong = "--variant" if asked.variant else "--to" if end else "--marks"
        raise SunsealError(
            f"`{wrong}` cannot stand beside `--call`, which measures from a function's entry to its return"
        )
    how = {name: getattr(asked, name) for name in ("board", "freq_hz", "vcc_v", "power", "timing", "adc_v", "allow")}
    with counting(as_json, asked.label):
        found = calling.measure_calls(asked.elf, call, start=start, repeat=repeat, **how)
    for lint in found.lints:
        err.print(f"[bold yellow]warning:[/] {escape(lint)}")
    if as_json:
        print_json("calls", found.to_dict())
        return
    table = facts_table()
    table.add_row("call", escape(f"{found.call} in {found.program} on {found.board}"))
    table.add_row("operating point", f"{units.show(found.freq_hz, 'Hz')}, {found.vcc_v:g} V, {found.power_set}")
    if len(found.calls) > 1:
        table.add_row("calls", f"{len(found.calls):,}; least, mean, most:")
    for name, unit_of in (("cycles", ""), ("time_s", "s"), ("energy_j", "J")):
        spread = found.spread(name)
        ends = (spread["min"], spread["mean"], spread["max"]) if len(found.calls) > 1 else (spread["mean"],)
        shown = (
            units.show(v, unit_of, like=spread["max"]) if unit_of else f"{v:,.0f}" if v == int(v) else f"{v:,.1f}"
            for v in ends
        )
        table.add_row(name.partition("_")[0], ", ".join(shown))
    low, high = (
        sum(getattr(c, end) for c in found.calls) / len(found.calls) for end in ("energy_low_j", "energy_high_j")
    )
    table.add_row("  sure within", units.span(low, high, "J", found.spread("energy_j")["mean"]))
    values = [c.value for c in found.calls]
    if values[0] is not None:
        same = len(set(values)) == 1
        table.add_row("result", f"{values[0]:,}" if same else f"{values[0]:,} first, {values[-1]:,} last")
    for name, data in found.written.items():
        held = data[:32].hex(" ") + (f" and {len(data) - 32} more" if len(data) > 32 else "")
        table.add_row(escape(f"argument {name}"), held)
    if found.unchecked:
        table.add_row("unchecked", f"recalled from the document, not read again: {', '.join(found.unchecked)}")
    if found.assumed:
        table.add_row("assumed", f"by us, in no document: {', '.join(found.assumed)}")
    out.print(table)


def _show_measurement(m: measuring.Measurement) -> None:
    table = facts_table()
    valid = {
        True: "agrees with an independent implementation",
        False: "[bold red]wrong: an independent implementation disagrees[/]",
        None: "not checked: " + (LATER if m.workload in boards.WORKLOADS else "your own program"),
    }[m.result_valid]
    low, high = m.uncertainty["energy_low_j"], m.uncertainty["energy_high_j"]
    table.add_row("workload", ", ".join(filter(None, (f"{escape(m.workload)} on {m.board}", m.variant))))
    table.add_row("operating point", f"{units.show(m.freq_hz, 'Hz')}, {m.vcc_v:g} V, {m.power_set}")
    table.add_row("cycles", f"{m.cycles:,}")
    table.add_row("time", units.show(m.time_s, "s"))
    table.add_row(
        "energy",
        f"{units.show(m.energy_j, 'J')}  ({units.span(low, high, 'J', m.energy_j)})",
    )
    for state, joules in sorted(m.energy_by_state_j.items(), key=lambda kv: -kv[1]):
        if joules > 0:
            table.add_row(f"  {state}", units.show(joules, "J", like=m.energy_j))
    if m.unchecked:
        table.add_row("unchecked", f"recalled from the document, not read again: {', '.join(m.unchecked)}")
    if m.assumed:
        table.add_row("assumed", f"by us, in no document: {', '.join(m.assumed)}")
    if m.coprocessor is not None:
        own = m.coprocessor
        bracket = units.span(own["energy_low_j"], own["energy_high_j"], "J", own["energy_j"])
        table.add_row("mote alone", units.show(own["mote_j"], "J", like=m.energy_j))
        table.add_row(
            "coprocessor",
            f"{units.show(own['energy_j'], 'J', like=m.energy_j)}  ({bracket}), {own['clocks']:,} clocks, "
            f"{own['toggles']:,} toggles",
        )
    if m.measurement_unit is not None:
        read = m.measurement_unit
        table.add_row(
            "measurement unit",
            f"{units.show(read['energy_j'], 'J', like=m.energy_j)} in {read['cycles']:,.0f} cycles by "
            f"{read['samples']:,} samples at {read['sample_rate_hz'] / 1e6:g} MS/s; "
            f"{read['error_j'] / m.energy_j:+.2%} beside the energy above, "
            f"{read['clipped'] / read['samples']:.0%} clipped",
        )
    if m.timing is not None:
        before = m.timing["default"]
        switches = ", ".join(f"{name}={value}" for name, value in m.timing["switches"].items())
        more = [new / (old or 1) - 1 for new, old in ((m.cycles, before["cycles"]), (m.energy_j, before["energy_j"]))]
        table.add_row(
            "by default",
            f"{before['cycles']:,} cycles, {units.show(before['energy_j'], 'J', like=m.energy_j)}: "
            f"{escape(switches)} makes it {more[0]:+.4%} in cycles, {more[1]:+.4%} in joules",
        )
    if m.memory_path is not None:
        table.add_row("memory path", escape(m.memory_path))
    table.add_row("flash, RAM, stack", f"{m.flash_bytes:,}, {m.ram_bytes:,}, {m.stack_bytes:,} bytes")
    table.add_row("toolchain", escape(m.toolchain))
    table.add_row("result", valid)
    out.print(table)


@spread
def curve_command(asked: requests.Curve, figure: Figure = None, as_json: Json = False) -> None:
    """Weigh one run over every voltage and clock that the device allows."""
    writable(figure)
    with counting(as_json, asked.label) as asked.progress:
        points = measuring.curve(asked)
    if figure is not None:
        from sunseal.report import charts

        charts.curve(points, f"{asked.workload or asked.elf} on {asked.board}").write(figure)
    if as_json:
        print_json("curve", points)
        return
    table = Table("supply", "clock", "level", "time", "energy", "power", box=None)
    best = min(points, key=lambda p: p["energy_j"])
    most = {key: max(p[key] for p in points) for key in ("time_s", "energy_j", "power_w")}
    for p in points:
        table.add_row(
            f"{p['vcc_v']:g} V",
            f"{p['freq_hz'] / 1e6:g} MHz",
            str(p["vcore"]),
            units.show(p["time_s"], "s", like=most["time_s"]),
            units.show(p["energy_j"], "J", like=most["energy_j"]) + (" (least)" if p is best else ""),
            units.show(p["power_w"], "W", like=most["power_w"]),
            style="bold" if p is best else None,
        )
    out.print(table)
    least = f"{units.show(best['energy_j'], 'J')} at {best['vcc_v']:g} V, {best['freq_hz'] / 1e6:g} MHz"
    out.print(f"least energy of {len(points)} operating points: {least}, {units.show(best['time_s'], 's')}")
    if figure is not None:
        out.print(f"wrote {figure}")
