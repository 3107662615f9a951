# SPDX-License-Identifier: MIT OR Apache-2.0
"""The planner's reports: each answer with its pictures, what it depends on, and what it rests on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from sunseal.catalog import boards
from sunseal.catalog.units import duration, show, span
from sunseal.harvest.light import low_light_text
from sunseal.measurement.measuring import Measurement
from sunseal.planner.lifetime import Lifetime
from sunseal.planner.size import DECISIONS, Sized
from sunseal.planner.tune import QUANTITIES, Tuned
from sunseal.report import drawings
from sunseal.report.page import Cell, Page, right, table
from sunseal.report.pieces import part

if TYPE_CHECKING:
    from sunseal.loop.fleet import FleetRun
    from sunseal.planner.plan import Configuration, Planned
    from sunseal.planner.plan_confirm import Confirmed

Assumption = tuple[str, str, str]
CURVES = (
    "A line breaks where the core voltage level changes, at 8, 12 and 20 MHz on the F5438A, or where program memory "
    "needs one more wait state. "
)


def page_of(answer: Tuned | Sized | Lifetime) -> str:
    """Write the report of an answer."""
    if isinstance(answer, Tuned):
        return tuned(answer)
    return sized(answer) if isinstance(answer, Sized) else lifetime(answer)


def quantity(name: str, value: float) -> str:
    """Write a value of `tune.QUANTITIES`."""
    unit = QUANTITIES[name][1]
    return f"{value:,.0f} {'bytes' if unit == 'B' else 'bits'}" if unit in ("B", "bit") else show(value, unit)


# --- tune ------------------------------------------------------------------------------------


def tuned(answer: Tuned) -> str:
    """Write the report of `sunseal tune`."""
    row = answer.best or answer.nearest
    assert row is not None
    bounds = ", ".join(
        f"{name} at {'least' if name == 'security' else 'most'} {quantity(name, value)}"
        for name, value in answer.bounds.items()
    )
    page = Page(
        f"{row['workload']} on {drawings.place(row)}",
        f"Asked for the best {answer.objective} with {bounds or 'no bounds'}, of {len(answer.points):,} operating "
        f"points on {', '.join(sorted(set(answer.points.board)))}."
        + ("" if answer.best else " None has that; this one comes nearest."),
    )
    page.cards = [
        ("energy", show(row["energy_j"], "J", 4)),
        ("latency", show(row["time_s"], "s", 4)),
        ("security", f"{row['security_bits']} bits"),
        ("operating points that qualify", f"{len(answer.qualifying):,}"),
    ]
    _tuned_words(page, answer)
    page.section(
        "Energy and latency of all of them",
        "Each mark is an operation at a voltage and a clock; the star is the chosen one. A front holds what no other "
        "point beats in energy, latency and security level together. Of a large cloud "
        f"{drawings.POINTS_MAX:,} points are drawn; the front is whole.",
        page.chart(drawings.front(answer)),
    )
    page.section(
        "The chosen operation over throughput",
        "Energy against operations a second for each supply voltage, one run weighed at every clock (Mane 2014, "
        f"figures 4.1 to 4.4). {CURVES}The star is the chosen point.",
        page.chart(drawings.mane(row, **{k: v for k, v in answer.bounds.items() if k in ("energy", "latency")})),
    )
    page.section("Pareto front", "Within the bounds.", points_table(answer.front))
    page.ledger(answer.cite(), *_coefficients(row))
    return page.render()


def _tuned_words(page: Page, answer: Tuned) -> None:
    if answer.best is None:
        rows: list[Sequence[Cell]] = [
            (
                r.quantity,
                quantity(r.quantity, r.bound),
                "no value of it helps" if r.needed is None else quantity(r.quantity, r.needed),
                "" if r.row is None else f"{r.row['workload']} on {drawings.place(r.row)}",
            )
            for r in answer.relaxations
        ]
        text = f"Or all bounds together by a factor of {answer.nearest_factor:.3g}."
        page.section("What would have to give way", text, table(("alone", "bound", "needed", "then"), rows))
        return
    binds: list[Sequence[Cell]] = [
        (b.quantity, quantity(b.quantity, b.bound), quantity(answer.objective, b.without), f"{b.gain:.0%}")
        for b in answer.binds
    ]
    text = "" if answer.best["sure"] else "The margin is inside the uncertainty of the coefficients. "
    if not binds:
        page.section("What binds", text + "No bound costs anything: without them the answer is the same.")
        return
    head = ("bound", "at", f"best {answer.objective} without it", "gain")
    page.section("What binds", text + "What lifting one bound alone would bring.", table(head, binds))


def points_table(rows: pd.DataFrame) -> Markup:
    """Write operating points as a table."""
    return table(
        ("workload", "where", "latency", "energy", "bounds", "bits"),
        [
            (
                str(r.workload),
                drawings.place(r),
                right(show(r.time_s, "s", like=rows.time_s.max())),
                right(show(r.energy_j, "J", like=rows.energy_j.max())),
                right(span(r.energy_low_j, r.energy_high_j, "J", r.energy_j)),
                int(r.security_bits),
            )
            for _, r in rows.iterrows()
        ],
    )


def _coefficients(row: Mapping[str, Any]) -> list[Assumption]:
    return [
        (
            "energy from",
            span(row["energy_low_j"], row["energy_high_j"], "J", row["energy_j"]),
            f"the bounds that {row['power_set']} gives its coefficients",
        )
    ]


# --- size ------------------------------------------------------------------------------------


def sized(answer: Sized) -> str:
    """Write the report of `sunseal size`."""
    q, d, m = answer.question, answer.question.demand, answer.measured
    what = "an operation" if m is None else f"{m.workload}, {_point(m)},"
    page = Page(
        f"A store and a panel for {q.board}",
        f"{what} every {duration(d.period_s)}, {show(d.compute_j, 'J')} and "
        f"{show(d.radio_j, 'J', like=d.compute_j)} on the air; {show(d.sleep_w, 'W')} between.",
    )
    page.cards = [
        ("least capacitance", show(answer.capacitance_f, "F", 3)),
        ("before an operation", f"{answer.capacitor_above_cutoff_v:.3g} V"),
        ("panel, in light without end", show(answer.panel_w, "W", 3)),
        ("without light", f"{answer.autonomy_s / 3600:,.3g} h"),
        *([("days survived", f"{answer.year['survived_share']:.1%}")] if answer.year else []),
    ]
    rows: list[Sequence[Cell]] = [
        ("6.1", "stored before an operation", right(show(answer.needed_j, "J"))),
        ("6.1", f"voltage of {show(q.store_f, 'F')}, from 0 V", right(f"{answer.capacitor_v:.3f} V")),
        ("6.1", f"the same above {q.cutoff_v:g} V", right(f"{answer.capacitor_above_cutoff_v:.3f} V")),
        (
            "6.1",
            f"least capacitance between {q.cutoff_v:g} V and {q.v_max_v:g} V",
            right(show(answer.capacitance_f, "F")),
        ),
        ("6.2", "panel without pause", right(show(answer.panel_w, "W"))),
        ("6.3", f"{show(q.store_f, 'F')} without light", right(f"{answer.autonomy_s / 3600:,.1f} h")),
    ]
    if answer.shortest_period_s is not None:
        rows.append(("6.2", "most often, in the year's mean light", right(show(answer.shortest_period_s, "s"))))
    page.section(
        "Equations 6.1 to 6.3",
        f"Mane 2014, chapter 6, with a safety factor of {d.margin:g}. By figure 6.1 the node stays in {DECISIONS[0]} "
        f"below {answer.capacitor_above_cutoff_v:.3f} V; above it, it is to {DECISIONS[1]} if it is periodic, and to "
        f"{DECISIONS[2]} if it is asked.",
        table(("equation", "", ""), rows),
        page.chart(drawings.store(answer)),
    )
    if answer.year is not None:
        _year(page, answer, answer.year)
    page.section(
        "What the answers depend on",
        "Each assumption moved alone: the operation between the bounds of its coefficients, voltages by 5 %, the "
        f"margin as named, everything else by {drawings.SPREAD:.0%}.",
        page.pair(drawings.least_capacitance(answer), drawings.autonomy(answer)),
    )
    page.ledger(
        answer.cite(),
        ("safety factor", f"{d.margin:g}", "equation 6.1; 2 in the thesis"),
        ("the harvester's overhead", show(d.overhead_j, "J"), "equation 6.1"),
        ("message", show(d.radio_j, "J"), "a packet of 64 bytes (Mane 2014, table 4.3), unless named"),
        ("asleep", show(d.sleep_w, "W"), "the board waiting for its timer, unless named"),
        ("charging", f"{q.efficiency:.0%}", "of the harvester's part, in the highest duty cycle"),
    )
    return page.render()


def _year(page: Page, answer: Sized, year: Mapping[str, Any]) -> None:
    chart = drawings.survival(answer)
    assert chart is not None
    low = f" The panel in low light: {low_light_text(year['low_light'])}." if "low_light" in year else ""
    page.section(
        "A typical year",
        f"The same node played through {year['days']} days on the board's own supply: {year['survived_share']:.1%} of "
        f"days survived, {year['done_share']:.2%} of operations done, {year['brown_outs']} brown-outs, "
        f"{year['curtailed_j'] / year['panel_j']:.1%} of the light thrown away because the store was full. The energy "
        f"balance closes to {abs(year['energy_balance_rel']):.0e}. Drawn: the year again in less and in more light."
        + low,
        page.chart(chart),
    )


def _point(m: Measurement) -> str:
    return ", ".join(filter(None, (m.variant, f"{m.vcc_v:g} V", f"{m.freq_hz / 1e6:g} MHz")))


# --- lifetime --------------------------------------------------------------------------------


def lifetime(found: Lifetime) -> str:
    """Write the report of `sunseal lifetime`."""
    q, use, cell = found.question, found.question.use, found.question.cell
    pause = f"every {duration(use.period_s)}" if use.period_s else "without pause"
    sent = f", {show(use.radio_j, 'J', like=use.energy_j)} on the air" if use.radio_j else ""
    page = Page(
        f"{use.board} on {q.title}",
        f"{use.operation} {pause}: {show(use.energy_j, 'J')} in {show(use.time_s, 's')}{sent}; up to "
        f"the first pulse that pulls the rail below {found.cutoff_v:g} V."
        + (f" But {found.supply_remark}." if found.supply_remark else ""),
    )
    page.cards = [
        ("lifetime", drawings.hours_text(found.lifetime_h)),
        ("operations", f"{found.operations:,.0f}"),
        ("duty cycle", f"{found.duty_percent:.4g} %"),
        ("radio's share of an operation", f"{found.radio_share:.1%}"),
        ("left unused in the battery", show(found.unused_j, "J", 4)),
    ]
    page.section(
        "How long it lasts",
        "As asked, and with one thing changed: nothing sent, the operation in hardware (30 uWs for a 233-bit ECC "
        "operation, Piotrowski 2006, section 5), a switched converter below the cut-off, another battery. A battery "
        "whose voltage never reaches the cut-off has no bar.",
        page.chart(drawings.hours(found)),
    )
    page.section("Where the battery's joules go", "The same battery each time.", page.chart(drawings.battery(found)))
    page.section(
        "What the lifetime depends on",
        "Each assumption moved alone: the operation between the bounds of its coefficients, the cut-off by 5 %, "
        f"everything else by {drawings.SPREAD:.0%}.",
        page.chart(drawings.life_swings(found)),
    )
    assumed: list[Assumption] = [
        ("charge", f"{cell.capacity_c / 3.6:,.4g} mAh", q.source),
        ("self-discharge", f"{cell.self_discharge_per_year:.1%} a year", q.source),
    ]
    if use.period_s:
        assumed.append(("asleep", show(use.sleep_w, "W"), "the board waiting for its timer, unless named"))
    page.ledger(found.cite(), *assumed)
    return page.render()


# --- plan ------------------------------------------------------------------------------------


def planned(plan: Planned, confirmed: Confirmed | None = None) -> str:
    """Write the report of `sunseal plan`, with what the closed loop said if it was asked."""
    best = plan.best
    page = Page(
        f"{plan.read.name}: "
        + (f"{best.row['workload']} on {best.row['board']}" if best else "nothing meets the requirements"),
        f"{plan.considered:,} configurations were judged, {plan.qualifying:,} meet everything.",
    )
    if best is None:
        rows = [(sentence,) for sentence in plan.relaxations]
        page.section("What would have to give way", "Each requirement alone.", table(("smallest relaxation",), rows))
    else:
        _chosen(page, plan, best)
        if plan.beside:
            others = [(other.name, SURE[other.holds], other.words) for other in plan.beside]
            page.section(
                "Beside the cheapest",
                "The cheapest that holds at the low end of everything uncertain, where the choice does not, and much "
                "more margin for little more cost.",
                table(("", "at the low end", ""), others),
            )
    if confirmed is not None:
        _confirmed(page, confirmed)
    page.section(
        "Cost and margin",
        "What a configuration costs by the weights given, against what its supply brings over what it needs. On the "
        "front nothing is both cheaper and safer; the star is the chosen one.",
        page.chart(drawings.planned(plan)),
    )
    if plan.losers:
        page.section("Why the others lost", "The best of each.", table(("", "because"), plan.losers))
    if plan.remarks:
        page.section("What was not judged", "And why.", table(("",), [(remark,) for remark in plan.remarks]))
    asked = json.dumps(plan.requirements, indent=2)
    page.section("The requirements", "As they were read.", part("pre", asked))
    page.ledger(plan.cite(), *_uncertain(plan))
    return page.render()


def _chosen(page: Page, plan: Planned, best: Configuration) -> None:
    row = best.row
    supplied, margin = drawings.supply_margin(best)
    page.cards = [
        ("cost, by the weights given", f"{best.cost:.4g}"),
        ("energy of a round", show(row["energy_j"], "J", 3)),
        ("latency", show(row["latency_s"], "s", 3)),
        ("security", f"{row['security_bits']} bits"),
        (f"{supplied} margin", _margin(margin, "")),
    ]
    unsure = f" Inside its uncertainty: {', '.join(best.unsure)}." if best.unsure else ""
    margins: list[Sequence[Cell]] = [
        (m.requirement, *(right(_margin(v, m.unit)) for v in (m.value, m.low, m.high)), SURE[m.sure])
        for m in best.margins
    ]
    year = best.year
    played = (
        f" Played through a typical year it survives {year['survived_share']:.1%} of the days and does "
        f"{year['done_share']:.2%} of its work."
        if year
        else ""
    )
    most_j, most_s = (max(c.row[key] for c in plan.configurations) for key in ("energy_j", "latency_s"))
    page.section(
        "The choice",
        f"{best.words[:1].upper()}{best.words[1:]}.{played} A margin says how far it is from failing, and what it is "
        f"at both ends of the assumptions together.{unsure}",
        table(("requirement", "margin", "unfavourable", "favourable", ""), margins),
        table(
            ("the best few", "cost", "energy of a round", "latency", "supply's margin"),
            [
                (
                    c.name,
                    round(c.cost, 4),
                    right(show(c.row["energy_j"], "J", 4, most_j)),
                    right(show(c.row["latency_s"], "s", 4, most_s)),
                    right(_margin(drawings.supply_margin(c)[1], "")),
                )
                for c in plan.configurations
            ],
        ),
    )
    if best.sensitivity:
        page.section(
            "What the margin depends on",
            "Each assumption moved alone to the ends that its documents or the requirements give.",
            page.chart(drawings.plan_swings(best)),
        )
    if row["workload"] in boards.WORKLOADS:
        page.section(
            "The chosen operation over throughput",
            f"Energy against operations a second for each supply voltage (Mane 2014, chapter 4). {CURVES}The star is "
            "the chosen voltage and clock.",
            page.chart(drawings.mane(row)),
        )


def _confirmed(page: Page, confirmed: Confirmed) -> None:
    def told(value: float, unit: str) -> Markup:
        return right(show(value, unit) if unit else f"{value:,.6g}")

    rows: list[Sequence[Cell]] = [
        (r.task, r.quantity, *(told(v, r.unit) for v in (r.foretold, r.low, r.high, r.played)), INSIDE[r.inside])
        for r in confirmed.rows
    ]
    page.section(
        "What the closed loop says",
        "The choice played cycle by cycle on its supply, beside what was foretold and the ends of its uncertainty.",
        table(("task", "figure", "foretold", "from", "to", "in the closed loop", ""), rows),
    )


INSIDE = {
    True: part("verdict", "inside", "good"),
    False: part("verdict", "outside", "bad"),
}
SURE = {
    True: part("verdict", "sure", "good"),
    False: part("verdict", "inside its uncertainty", "mild"),
}


def _margin(value: float, unit: str) -> str:
    from sunseal.planner.relaxations import factor

    return f"{value:+.3g} {unit}" if unit and math.isfinite(value) else factor(value)


def _uncertain(plan: Planned) -> list[Assumption]:
    best = plan.best
    if best is None:
        return []
    return [
        (s.assumption, f"{s.low} to {s.high}", "a current's documents, or the requirements") for s in best.sensitivity
    ]


# --- fleet -----------------------------------------------------------------------------------


def fleet(run: FleetRun) -> str:
    """Write the report of `sunseal fleet`."""
    told, fleet = run.summary(), run.fleet
    shares = told["survived_share"]
    page = Page(
        f"{fleet.name}: {told['nodes']:,} nodes for {fleet.days} days",
        f"{told['node_days']:,} node-days from {len(fleet.profiles)} measured profile"
        f"{'s' * (len(fleet.profiles) > 1)}, {len(fleet.traces)} light{'s' * (len(fleet.traces) > 1)}. The energy "
        f"balance of the worst node closes to {told['energy_balance_rel_max']:.0e}.",
    )
    page.cards = [
        ("days survived by the node in the middle", f"{shares['p50']:.1%}"),
        ("by the weakest twentieth", f"{shares['p5']:.1%}"),
        ("nodes that never went down", f"{told['nodes_never_down']:,}"),
        ("brown-outs", f"{told['brown_outs']:,}"),
        ("tasks done, of those due", f"{told['done_share']:.2%}" if told["done_share"] is not None else "-"),
        ("light thrown away", f"{told['curtailed_share']:.1%}" if told["curtailed_share"] is not None else "-"),
    ]
    page.section("Who survived", "Nodes by the share of their days without a gap.", page.chart(drawings.survivors(run)))
    page.section("Light and period", "Each mark is a node.", page.chart(drawings.lights(run)))
    rows: list[Sequence[Cell]] = [
        (t.name, *(right(text) for text in (duration(t.period_s), show(t.energy_j, "J"), show(t.time_s, "s"))))
        for profile in fleet.profiles
        for t in profile.tasks
    ]
    asleep = show(fleet.profiles[0].sleep_w, "W")
    page.section(
        "What a node does",
        f"Measured once in the closed loop; asleep it takes {asleep}, a start {show(fleet.profiles[0].start_j, 'J')}.",
        table(("task", "every", "energy", "time"), rows),
    )
    page.ledger(run.cite())
    return page.render()
