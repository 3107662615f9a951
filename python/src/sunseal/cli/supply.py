# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal size` and `sunseal lifetime`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table

from sunseal import requests
from sunseal.catalog import units
from sunseal.cli.console import Output, answer, out, print_json, report
from sunseal.cli.spread import spread
from sunseal.harvest.light import low_light_text
from sunseal.measurement import switching

if TYPE_CHECKING:
    from sunseal.catalog.citing import Citations
    from sunseal.measurement.switching import Between
    from sunseal.planner.asleep import Asleep
    from sunseal.planner.lifetime import Lifetime
    from sunseal.planner.radio import Exchange
    from sunseal.planner.size import Sized


@spread
def size_command(asked: requests.Size, output: Output) -> None:
    """Size capacitor and panel (Mane 2014, equations 6.1 to 6.3), then play the node through a typical year."""
    from sunseal.api import planning

    sized = planning.size(asked)
    output.draw(lambda: report("drawings").main(sized), lambda: report("planner_pages").page_of(sized))
    answer("size", output.as_json, sized.to_dict, lambda: _show_sized(sized))


def _show_sized(sized: Sized) -> None:
    asked, m = sized.question, sized.measured
    demand, store_f = asked.demand, asked.store_f
    assert m is not None
    table = Table(box=None, show_header=False)
    place = f"{m.board} {m.variant}".strip()
    table.add_row("operation", f"{m.workload} on {place}, {m.vcc_v:g} V, {m.freq_hz / 1e6:g} MHz")
    air = f"{units.show(demand.radio_j, 'J', like=demand.compute_j)} on the air{_packets(sized.exchange)}"
    table.add_row("", f"{units.show(demand.compute_j, 'J')} and {air}, every {units.duration(demand.period_s)}")
    _show_between(table, sized.between, demand.between)
    _show_asleep(table, sized.asleep, demand.sleep_w)
    table.add_row(
        "stored before it begins", f"{units.show(sized.needed_j, 'J')} (equation 6.1, margin {demand.margin:g})"
    )
    above = f"with the cut-off at {asked.cutoff_v:g} V {sized.capacitor_above_cutoff_v:.3f} V"
    table.add_row(f"voltage of {units.show(store_f, 'F')}", f"{sized.capacitor_v:.3f} V (6.1); {above}")
    table.add_row(
        "least capacitance",
        f"{units.show(sized.capacitance_f, 'F')} between {asked.cutoff_v:g} V and {asked.v_max_v:g} V",
    )
    table.add_row("panel", f"{units.show(sized.panel_w, 'W')} without pause (6.2)")
    ideal = f"{sized.autonomy_s / 3600:,.1f} h by 6.3, which counts neither losses nor leakage"
    table.add_row("without light", f"{sized.dark_s / 3600:,.1f} h; {ideal}")
    for remark in sized.remarks:
        table.add_row("", remark)
    if sized.shortest_period_s is not None:
        table.add_row("most often", f"every {units.show(sized.shortest_period_s, 's')} in the year's mean light (6.2)")
    if sized.year is not None:
        y = sized.year
        table.add_row(
            "a typical year",
            f"{y['survived_share']:.1%} of days survived, {y['done_share']:.2%} of operations done, "
            f"{y['brown_outs']} brown-outs",
        )
        table.add_row("its light, uncertain when low", low_light_text(y["low_light"]))
    _show_unread(table, sized.citations)
    out.print(table)


def _show_unread(table: Table, rests_on: Citations) -> None:
    for word, told in rests_on.unread():
        table.add_row(word, told)


@spread
def lifetime_command(asked: requests.Life, output: Output) -> None:
    """Tell how long a battery lasts under an operation (Piotrowski 2006, section 4)."""
    from sunseal.api import planning

    found = planning.lifetime(asked)
    output.draw(lambda: report("drawings").main(found), lambda: report("planner_pages").page_of(found))
    if output.as_json:
        print_json("lifetime", found.to_dict())
        return
    _show(found)


def _packets(exchange: Exchange | None, before: str = " (", after: str = ")") -> str:
    if exchange is None or exchange.packets == 0:
        return ""
    answers = "1 answer" if exchange.messages == 1 else f"{exchange.messages} answers"
    packets = "1 packet" if exchange.packets == 1 else f"{exchange.packets} packets"
    return f"{before}{packets} for {exchange.body_bytes:,} bytes, {answers}{after}"


def _show_between(table: Table, between: Between | None, chosen: str) -> None:
    if between is None:
        return
    started, rest_w = units.show(between.start_j[0], "J"), units.show(between.wait_w[0], "W")
    told = f"a start {started} (configuration, key), waiting {rest_w}"
    if math.isfinite(between.start_j[0]):
        told += f"; off pays from {units.show(between.pause_s, 's')} between uses"
    table.add_row("coprocessor", f"{chosen}: {told}")
    table.add_row("", "all supplies of the FPGA are counted, their regulators not")


def _show_asleep(table: Table, asleep: Asleep | None, sleep_w: float) -> None:
    if asleep is None:
        table.add_row("asleep", f"{units.show(sleep_w, 'W')}, as given")
        return
    parts = (("chip", asleep.cpu_w), ("crystal", asleep.oscillator_w), ("radio", asleep.radio_w))
    told = [f"{name} {units.show(power_w[0], 'W', 3)}" for name, power_w in parts if power_w[0]]
    if asleep.residual_w is not None:
        told.append(f"board {units.show(asleep.residual_w[0], 'W', 3)}")
    table.add_row("asleep", f"{units.show(sleep_w, 'W')}: {', '.join(told)}")
    if asleep.remark is not None:
        table.add_row("", asleep.remark)


def _show(found: Lifetime) -> None:
    from sunseal.planner.lifetime import WARM_C, beyond_shelf_life

    use = found.question.use
    table = Table(box=None, show_header=False)
    share = f"{found.radio_share:.1%}{_packets(found.exchange, ', ', '')}"
    radio = f" and {units.show(use.radio_j, 'J', like=use.energy_j)} on the air ({share})" if use.radio_j else ""
    table.add_row(
        "operation",
        f"{use.operation} on {use.board}: {units.show(use.energy_j, 'J')}{radio}, {units.show(use.time_s, 's')}",
    )
    if use.period_s and found.between is not None:
        waits = use.coprocessor_j < found.between.start_j[0]
        _show_between(table, found.between, switching.ON if waits else switching.OFF)
    if use.period_s:
        _show_asleep(table, found.asleep, use.sleep_w)
    else:
        table.add_row("asleep", "never")
    warm = "" if found.temperature_c == WARM_C else f" at {found.temperature_c:g} degrees"
    if found.question.converter is not None:
        warm += f", {found.question.converter} behind it"
    table.add_row("battery", f"{found.question.title}{warm}")
    if found.supply_remark is not None:
        table.add_row("", found.supply_remark)
    pulse = f"{found.peak_w / use.vcc_v * 1e3:.3g} mA"
    table.add_row(
        "ends", f"where {pulse} pull the rail below {found.cutoff_v:g} V: at {found.end_v:.3f} V without load"
    )
    table.add_row("operations", f"{found.operations:,.0f}")
    years = found.lifetime_h / 8766
    table.add_row("lifetime", f"{found.lifetime_h:,.1f} h" + (f" ({years:.2f} years)" if years > 0.5 else ""))
    if (remark := beyond_shelf_life(found.lifetime_s)) is not None:
        table.add_row("", remark)
    taken = f"{found.available_j:,.0f} J taken out, {found.unused_j:,.0f} J left in the battery"
    table.add_row("energy", f"{taken}, which the node cannot use")
    table.add_row("duty cycle", f"{found.duty_percent:.4g} %")
    if found.self_discharged_j > 0:
        table.add_row("lost to self-discharge", units.show(found.self_discharged_j, "J"))
    table.add_row("lost in its resistance", units.show(found.resistance_lost_j, "J"))
    if found.converter_lost_j > 0:
        table.add_row("lost in the converter", units.show(found.converter_lost_j, "J"))
    _show_unread(table, found.citations)
    out.print(table)
