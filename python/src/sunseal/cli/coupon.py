# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal coupon`: work that is done before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import requests
from sunseal.catalog import units
from sunseal.cli.console import Json, Output, VerdictFiles, answer, err, judge, out, report
from sunseal.cli.progress import bar
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    from sunseal.measurement import coupon
    from sunseal.papers import coupon_rate, coupon_recovery
    from sunseal.planner.breakeven import BreakEven
    from sunseal.secure import precomputable
    from sunseal.secure.leakage import Leakage
    from sunseal.secure.noise import Fit
    from sunseal.secure.randomness import Randomness

coupon_app = typer.Typer(
    help="Precomputed work: what of a program can be done before its input comes.", no_args_is_help=True
)


@coupon_app.callback()
def _group() -> None:
    """Precomputed work: what of a program can be done before its input comes."""


@coupon_app.command("analyze")
@spread
def analyze_command(asked: requests.Analyze, files: VerdictFiles, as_json: Json = False) -> None:
    """Say which cycles and joules of a function do not depend on its runtime input, and what a coupon would carry.

    A run shows the way that its input took; of several (--runs, or --input for each) it is told what holds in all.
    Exit status 3: a run used what is not followed (DMA, bit-band), which is named, and the split may be wrong.
    """
    from sunseal.secure import precomputable

    found = precomputable.analyze(asked)
    judge("coupon-analyze", found.judged, as_json, found.as_json, lambda: _show(found), files)


def _show(a: precomputable.Analysis) -> None:
    out.print(
        f"{a.share_cycles:.1%} of {a.cycles:,} cycles ({units.show(a.energy_j, 'J')}) of `{escape(a.function)}` "
        f"can run before its input comes{' in every run' if a.runs > 1 else ''}"
    )
    table = Table("a coupon of", "data", "control", "saves cycles", "of all", "saves", "done ahead up to", box=None)
    for cut in _some(a.cuts):
        table.add_row(
            f"{cut.bytes:,} bytes" if cut.bytes_most == cut.bytes else f"{cut.bytes:,} to {cut.bytes_most:,} bytes",
            f"{cut.data_bytes:,}",
            f"{cut.control_bytes:,}",
            f"{cut.saved_cycles:,}",
            f"{cut.saved_cycles / a.cycles:.1%}",
            units.show(cut.saved_j, "J"),
            escape(cut.at or "the end of what can be"),
        )
    if a.cuts:
        out.print(table)
    else:
        out.print("No moment has the same work before it in every run: there is no cut for all of them")
    table = Table("function", "can run ahead", "beside the input", "takes the input", box=None)
    for part in a.functions[:12]:
        table.add_row(
            escape(part.name), *(f"{n:,}" for n in (part.independent_cycles, part.frame_cycles, part.dependent_cycles))
        )
    out.print(table)
    if a.branches:
        at = ", ".join(f"{place} ({count})" for place, count in a.branches[:6])
        out.print(f"The input decided branches, so other inputs take other ways: {escape(at)}")
    if any(cut.bytes_most > cut.bytes for cut in a.cuts):
        out.print("Bytes: what one run carries at most, to what all together do if each wants others", style="dim")
    followed = "One run was" if a.runs == 1 else f"{a.runs:,} runs were"
    out.print(
        f"{followed} followed. Each cycle is given the same share of the joules; control bytes are addresses and "
        "counters, which could be made anew.",
        style="dim",
    )


def _some(cuts: tuple[precomputable.Cut, ...], most: int = 12) -> list[precomputable.Cut]:
    """Cuts for a table: the last, and of the others those that save most for each byte more."""
    if len(cuts) <= most:
        return list(cuts)
    step = (len(cuts) - 1) / (most - 1)
    return [cuts[round(i * step)] for i in range(most)]


@coupon_app.command("metrics")
@spread
def metrics_command(asked: requests.Metrics, as_json: Json = False) -> None:
    """Price coupons: the operation whole, ahead of time and at run time, the ratios, and what the store adds.

    At the clock after a reset, as programming flash takes its time at any clock.
    """
    from sunseal.measurement import coupon

    found = coupon.metrics(asked)
    answer("coupon-metrics", as_json, lambda: [m.as_json() for m in found], lambda: _show_metrics(found))


STORE = {
    "burn": "number",
    "drop": "slot given up",
    "write": "writing",
    "claim": "claim",
    "pass": "reading and check",
    "wipe": "wiping",
    "use": "claim, reading, check, wiping",
}
"""Words for what the functions of a store's medium do."""


def _show_metrics(found: list[coupon.Metrics]) -> None:
    first = found[0]
    out.print(f"{first.board}, {first.freq_hz / 1e6:.3g} MHz, {first.vcc_v:g} V, {first.power_set}")
    table = Table("kind", "variant", "", "cycles", "time", "energy", "EDP, J s", box=None)
    for m in found:
        rows = {"original": m.original, "precompute": m.precompute, "runtime": m.runtime, "without guard": m.bare}
        for what, cost in rows.items():
            if cost is not None:
                table.add_row(
                    m.kind,
                    m.variant,
                    what,
                    f"{cost.cycles:,}",
                    units.show(cost.time_s, "s"),
                    units.show(cost.energy_j, "J"),
                    f"{cost.edp_js:.3g}",
                )
    out.print(table)
    table = Table("kind", "variant", "original over", "cycles", "energy", "delay", "EDP", "slot", "guard", box=None)
    for m in found:
        told = m.as_json()
        share = told["store"]["guard_share_cycles"]
        for what, ratio in (
            ("runtime", told["ratio"]),
            ("without guard", told["ratio_without_guard"]),
            ("the paper's, over runtime", told["published"].get("ratio", {})),
            ("the paper's, without guard", told["published"].get("ratio_without_guard", {})),
        ):
            if ratio:
                table.add_row(
                    m.kind,
                    m.variant,
                    what,
                    *(f"{ratio[name]:,.3g}" for name in ("cycles", "energy_j", "time_s", "edp_js")),
                    f"{m.slot_bytes} bytes",
                    "" if share is None else f"{share:.0%}",
                )
    out.print(table)
    table = Table("kind", "slot", "of the store", "cycles", "time", "energy", box=None)
    for m in {m.kind: m for m in found}.values():
        for function, cost in m.store.items():
            told_of = (f"{cost.cycles:,}", units.show(cost.time_s, "s"), units.show(cost.energy_j, "J"))
            table.add_row(m.kind, f"{m.slot_bytes} bytes", STORE.get(function, function), *told_of)
    out.print(table)
    for m in {m.kind: m for m in found}.values():
        if m.note:
            out.print(f"{m.kind}: {escape(m.note)}", style="dim")


@coupon_app.command("rate")
@spread
def rate_command(asked: requests.Rates, output: Output) -> None:
    """Play signatures per second over harvested power: without coupons, with a store of them, with endless ones.

    Figure 4 of Suslowicz 2017 from the closed loop, on the MSP430FR5994, with the paper's formula beside it.
    """
    from sunseal.papers import coupon_rate

    found = coupon_rate.rates(asked)
    output.draw(lambda: report("coupon_pages").rates_chart(found), lambda: report("coupon_pages").rates_page(found))
    answer("coupon-rate", output.as_json, found.as_json, lambda: _show_rates(found))


def _show_rates(found: coupon_rate.Rates) -> None:
    from sunseal.papers import coupon_rate

    out.print(f"ECDSA P-256, {found.board}, {found.freq_hz / 1e6:.3g} MHz, {found.vcc_v:g} V, {found.power_set}")
    table = Table("harvested", *(f"{coupon_rate.TITLES[kind]}, formula" for kind in coupon_rate.KINDS), box=None)
    for light_w in dict.fromkeys(p.harvested_w for p in found.points):
        mine = {p.kind: p for p in found.points if p.harvested_w == light_w}
        cells = (f"{mine[kind].rate_hz:.4g}, {mine[kind].formula_hz:.4g} Hz" for kind in coupon_rate.KINDS)
        table.add_row(units.show(light_w, "W"), *cells)
    out.print(table)
    for kind, at in found.inflection_w.items():
        out.print(f"E/D, {coupon_rate.TITLES[kind]}: {units.show(at, 'W')} harvested")


@coupon_app.command("recovery")
@spread
def recovery_command(asked: requests.Recoveries, output: Output) -> None:
    """Play a node whose light was taken away and comes back: time and joules to its first answer.

    With the coupons that its memory has kept, and with none left, over the size of its store: section 3.5.1 of
    Suslowicz 2017 from the closed loop, on the MSP430FR5994.
    """
    from sunseal.papers import coupon_recovery

    asked.courses = output.report is not None
    found = coupon_recovery.recoveries(asked)
    output.draw(
        lambda: report("coupon_pages").recovery_chart(found), lambda: report("coupon_pages").recoveries_page(found)
    )
    answer("coupon-recovery", output.as_json, found.as_json, lambda: _show_recoveries(found))


def _show_recoveries(found: coupon_recovery.Recoveries) -> None:
    out.print(
        f"ECDSA P-256, {found.board}, {found.freq_hz / 1e6:.3g} MHz, {found.vcc_v:g} V, {found.power_set}; "
        f"{units.show(found.harvested_w, 'W', 3)} of light on a store at {found.starved_v:g} V"
    )
    for told in found.recoveries:
        out.print(told.sentence)


@coupon_app.command("breakeven")
@spread
def breakeven_command(asked: requests.Breakeven, output: Output) -> None:
    """Say whether coupons pay over a year of weather, and from which demand, light, slot price and store on.

    Both nodes are played by the fleet's engine: answers given, in time and lost, joules thrown away, with coupons and
    without. Exit status 1: they do not pay as it was asked.
    """
    from sunseal.planner import breakeven

    if output.report or output.figure:
        # Before the years are played: what is not installed is told at once.
        from sunseal.report import breakeven_page as drawn

    if asked.scenario is None and asked.supply is not None:
        asked.supply = _whole(asked.supply)
    with err.status("playing the year") as status:
        asked.heard = lambda nodes: status.update(f"playing the year: {nodes} nodes so far")
        found = breakeven.breakeven(asked)
    output.draw(lambda: drawn.chart(found), lambda: drawn.page(found))
    answer("coupon-breakeven", output.as_json, found.to_dict, lambda: _show_breakeven(found), int(not found.pays))


def _whole(supply: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the table [supply] where no scenario stands behind it."""
    from sunseal.planner.breakeven import SUPPLY

    told = dict(supply)
    for one_of in (("harvester", "charger"), ("capacitor", "cell")):
        if not {*one_of} & {*told}:
            told[one_of[0]] = SUPPLY[one_of[0]]
    return told


def _show_breakeven(found: BreakEven) -> None:
    from sunseal.planner import breakeven

    q, costs = found.question, found.question.costs
    out.print(found.sentence, style="bold")
    out.print(
        f"{costs.board}, {costs.freq_hz / 1e6:.3g} MHz, {costs.vcc_v:g} V, {costs.power_set}; {q.demand:,.4g} answers "
        f"a day, {units.show(q.mean_light_w, 'W', 3)} of light on average, {units.show(q.sleep_w, 'W', 3)} asleep"
    )
    store = f", the slot's guard {units.show(costs.guard.energy_j, 'J', 3)}" if costs.guard else ""
    store += f", its writing {units.show(costs.write.energy_j, 'J', 3)}" if costs.write else ""
    out.print(
        f"{costs.kind} whole ({costs.way}) {units.show(costs.whole.energy_j, 'J', 3)}, a coupon "
        f"{units.show(costs.make.energy_j, 'J', 3, costs.whole.energy_j)}, an answer from one "
        f"{units.show(costs.use.energy_j, 'J', 3, costs.whole.energy_j)}{store}"
    )
    table = Table(f"{q.days} days", "with coupons", "without", box=None)
    for row in breakeven.rows(found):
        table.add_row(*row)
    out.print(table)
    for edges in found.edges:
        out.print(edges.sentence)
    for remark in found.remarks:
        out.print(escape(remark), style="dim")


@coupon_app.command("leakage")
@spread
def leakage_command(asked: requests.Leak, output: Output, files: VerdictFiles) -> None:
    """Say what simulated power traces give away: an operation whole, the making of its coupon, and the coupon's use.

    Each is asked by Welch's t-test whether traces tell a fixed key from random ones, and a fixed message from random
    ones, and by correlation for the key: from how many traces on it is found. Exit status 1: they do, or it is.
    """
    from sunseal.secure import leakage

    with bar(output.as_json, "traces") as asked.heard:
        found = leakage.leakage(asked)
    output.draw(lambda: report("leakage_page").chart(found), lambda: report("leakage_page").page(found))
    judge("coupon-leakage", found.judged, output.as_json, found.as_json, lambda: _show_leakage(found), files)


def _show_leakage(found: Leakage) -> None:
    from sunseal.secure.leakage import KINDS

    asked = found.asked
    out.print(
        f"{KINDS[found.kind]}{f', {found.way}' * bool(found.way)}, {found.board}; {asked.traces:,} traces a question, "
        f"noise of {asked.noise:g} bits, seed {asked.seed}"
    )
    table = Table("when", "asked", "answer", box=None)
    for row in found.rows:
        table.add_row(*row)
    out.print(table)
    for remark in found.remarks:
        out.print(escape(remark), style="dim")


@coupon_app.command("randomness")
@spread
def randomness_command(
    asked: requests.Randomness,
    recordings: requests.Recorded,
    fitted: requests.Fitted,
    files: VerdictFiles,
    save: Annotated[Path | None, typer.Option("--save", help="File that --fit writes a model that holds to.")] = None,
    as_json: Json = False,
) -> None:
    """Ask NIST's estimators of raw noise sources (SP 800-90B) and of what generators make of them (SP 800-22).

    The board's own firmware runs, start after start. A simulated source proves the code and not the silicon: a chip's
    recordings are judged with --raw, --restarts and --values. --fit makes a model of one, --model plays it. Exit
    status 1: a claim does not hold, a test fails, or what a model foretells of the other half of its recording is not
    so; 3: nothing is claimed of a recording, or it is too short for a test.
    """
    from sunseal.secure import noise, randomness

    if fitted.recordings:
        if recordings != requests.Recorded() or asked != requests.Randomness():
            raise SunsealError(
                "--fit makes a model and judges nothing else: leave all but --start-bytes and --save away"
            )
        made = noise.fitted(fitted)
        if save is not None and made.judged.passed:
            save.write_text(made.toml(), encoding="utf-8")
        judge("coupon-noise", made.judged, as_json, made.as_json, lambda: _show_fit(made), files)
        return
    if save is not None or fitted.start_bytes is not None:
        raise SunsealError("--save and --start-bytes go with --fit")
    if recordings.raw or recordings.over_restarts or recordings.output:
        if asked.generators or asked.bits is not None:
            raise SunsealError("recordings have no generator of a board: leave --generator and --bits away")
        found = randomness.recorded(recordings)
    else:
        if recordings.claim is not None:
            raise SunsealError("the claim of a board's source is the firmware's: --claim goes with --raw")
        with bar(as_json, "starts") as asked.heard:
            found = randomness.randomness(asked)
    judge("coupon-randomness", found.judged, as_json, found.as_json, lambda: _show_randomness(found), files)


def _show_fit(made: Fit) -> None:
    out.print(escape(made.sentence), style="bold")
    table = Table("not fitted", "by the model", "in the half that judges", "", box=None)
    for f in made.foretold:
        table.add_row(f.name, f"{f.model:.4g}", f"{f.seen:.4g}", "" if f.holds else "[bold red]differs[/]")
    out.print(table)
    for remark in made.remarks:
        out.print(escape(remark), style="dim")


def _show_randomness(found: Randomness) -> None:
    out.print(escape(found.sentence), style="bold")
    table = Table("raw source", "stands", "SP 800-90B, min-entropy", box=None)
    for source in found.sources:
        table.add_row(escape(source.name), "yes" if source.holds else "no", escape(source.sentence))
    if found.sources:
        out.print(table)
    table = Table("generator", "stands", "SP 800-22", box=None)
    for output in found.outputs:
        table.add_row(escape(output.name), "yes" if output.holds else "no", escape(output.sentence))
    if found.outputs:
        out.print(table)
    for remark in found.remarks:
        out.print(escape(remark), style="dim")
