# SPDX-License-Identifier: MIT OR Apache-2.0
"""The planner's pictures: front, store, battery, and what each answer depends on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from sunseal._engine import EngineError
from sunseal.catalog import boards, power_sets
from sunseal.catalog.units import duration, show
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.planner import lifetime as life
from sunseal.planner import size as sizing
from sunseal.planner.lifetime import Lifetime
from sunseal.planner.size import Sized
from sunseal.planner.tune import Tuned
from sunseal.report import plots
from sunseal.report.charts import MARKS, Axis, Bars, Chart, Swing, Trace, curve, tornado

if TYPE_CHECKING:
    from sunseal.loop.fleet import FleetRun
    from sunseal.planner.plan import Configuration, Planned

POINTS_MAX = 1500
"""Most points of a cloud that are drawn; the front and the chosen point always are."""
FILLED = [mark for mark in MARKS if mark not in ("star", "x") and not mark.endswith("-open")]
SPREAD = 0.2
"""Share by which an assumption is moved for a tornado where its source gives no bounds."""
ENERGY = Axis("energy per operation", "J", log=True)
LATENCY = Axis("latency", "s", log=True)


# --- Operating points ------------------------------------------------------------------------


def place(row: Mapping[str, Any] | pd.Series) -> str:
    """Say where a row's operation runs."""
    where = f"{row['board']} {row['variant']}".strip()
    return f"{where}, {row['vcc_v']:.2f} V, {row['freq_hz'] / 1e6:g} MHz"


def _dots(name: str, rows: pd.DataFrame, color: str, mark: str = "circle", **looks: Any) -> Trace:
    thin = rows.iloc[:: -(-len(rows) // POINTS_MAX)] if len(rows) else rows
    text = [f"{r['workload']} on {place(r)}" for _, r in thin.iterrows()]
    return Trace(
        name,
        thin.time_s.tolist(),
        thin.energy_j.tolist(),
        color,
        "markers",
        mark=mark,
        text=text,
        **{"size": 5, **looks},
    )


FRONTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (plots.INK, "circle-open", {}),
    (plots.MUTED, "square-open", {"dash": True}),
    (plots.INK, "diamond-open", {"dots": True}),
    (plots.MUTED, "circle-open", {"dots": True}),
    (plots.INK, "square-open", {"dash": True}),
)
"""Colour, mark and stroke of the fronts of one security level each."""


def points(frame: pd.DataFrame, front: pd.DataFrame, chosen: Mapping[str, Any] | None) -> list[Trace]:
    """Draw qualifying points by workload, cheapest first, the front by security level, and the chosen point."""
    groups = [(str(name), rows) for name, rows in frame.groupby("workload")]
    groups.sort(key=lambda g: float(g[1].energy_j.min()))
    marks, many = FILLED, len(plots.LINES)
    traces = [
        _dots(name, rows, plots.LINES[i % many], marks[(i + i // many) % len(marks)])
        for i, (name, rows) in enumerate(groups)
    ]
    for i, (bits, rows) in enumerate(front.groupby("security_bits")):
        color, mark, way = FRONTS[i % len(FRONTS)]
        line = _dots(f"front, {bits} bits", rows.sort_values("time_s"), color, mark, size=10, **way)
        traces.append(replace(line, look="lines+markers"))
    if chosen is not None:
        star = _dots("chosen", pd.DataFrame([chosen]), plots.BAD, "star", size=16)
        traces.append(star)
    return traces


def front(tuned: Tuned) -> Chart:
    """Draw all operating points, those that qualify in colour, bounds, front and the best."""
    outside = tuned.points[~_rows(tuned.points).isin(_rows(tuned.qualifying))]
    traces = [_dots("out of bounds", outside, plots.MUTED, size=4, faint=True)] if len(outside) else []
    best = tuned.best or tuned.nearest
    lines = {q: {f"{q} at most {show(v, u, 3)}": v} for q, u in (("energy", "J"), ("latency", "s"))
             if (v := tuned.bounds.get(q)) is not None}  # fmt: skip
    return Chart(
        LATENCY,
        ENERGY,
        [*traces, *points(tuned.qualifying, tuned.front, best)],
        x_lines=lines.get("latency", {}),
        y_lines=lines.get("energy", {}),
        height=560,
        caption=""
        if best is None
        else f"{best['workload']} on {place(best)} is "
        + ("the best that qualifies" if tuned.best is not None else "nearest to qualifying")
        + f": {show(best['energy_j'], 'J', 3)} in {show(best['time_s'], 's', 3)}",
    )


def _rows(frame: pd.DataFrame) -> pd.Index:
    return pd.MultiIndex.from_frame(frame[["workload", "board", "variant", "vcc_v", "freq_hz"]])


def mane(row: Mapping[str, Any], **bounds: float) -> Chart:
    """Draw a row's curve over throughput at every voltage, with the row itself and bounds of energy and latency."""
    board, power = str(row["board"]), str(row.get("power_set", boards.DEFAULT_POWER))
    weighed = measuring.curve(
        str(row["workload"]),
        board=board,
        variant=[v for v in str(row["variant"]).split(",") if v],
        power=power,
        voltages_v=sorted({*power_sets.curve_voltages(power_sets.PowerSet(power, board)), row["vcc_v"]}),
    )
    drawn = curve(weighed, over="throughput")
    at = min(weighed, key=lambda p: (abs(p["vcc_v"] - row["vcc_v"]), abs(p["freq_hz"] - row["freq_hz"])))
    chosen = Trace("chosen", [1 / at["time_s"]], [at["energy_j"]], plots.BAD, "markers", mark="star", size=16)
    # A bound far off would press the curves together.
    lines = {
        name: {f"{name} {show(bounds[name], unit, 3)}": limit}
        for name, unit, limit, most in (
            ("latency", "s", 1 / bounds.get("latency", math.inf), max(1 / p["time_s"] for p in weighed)),
            ("energy", "J", bounds.get("energy", math.inf), max(p["energy_j"] for p in weighed)),
        )
        if 0 < limit <= 1.5 * most
    }
    return replace(
        drawn,
        traces=[*drawn.traces, chosen],
        caption=f"{show(at['energy_j'], 'J', 3)} at {1 / at['time_s']:.3g} operations a second; {drawn.caption}",
        x_lines=lines.get("latency", {}),
        y_lines=lines.get("energy", {}),
        height=440,
    )


# --- What an answer depends on ---------------------------------------------------------------

T = TypeVar("T")


def swings(answer: Callable[[T], float], base: T, spans: Mapping[str, tuple[str, float, float]]) -> list[Swing]:
    """Move one field of a question at a time to both ends; what it then asks may have no answer."""
    found = []
    for name, (field, low, high) in spans.items():
        try:
            ends = [answer(replace(base, **{field: value})) for value in (low, high)]  # type: ignore[type-var]
        except SunsealError:
            continue
        found.append(Swing(name, *ends))
    return found


def _within(
    name: str, field: str, value: float, unit: str, spread: float = SPREAD
) -> dict[str, tuple[str, float, float]]:
    low, high = value * (1 - spread), value * (1 + spread)
    return {f"{name}, {show(low, unit, 3)} to {show(high, unit, 3)}": (field, low, high)} if value else {}


def _computed(energy_j: float, m: measuring.Measurement | None, field: str) -> dict[str, tuple[str, float, float]]:
    """Move the operation's energy between the bounds of its coefficients."""
    if m is None or not m.energy_j:
        return _within("operation", field, energy_j, "J")
    low, high = (energy_j * m.uncertainty[f"energy_{end}_j"] / m.energy_j for end in ("low", "high"))
    return {f"operation, {show(low, 'J', 3)} to {show(high, 'J', 3)}": (field, low, high)}


# --- Store and panel -------------------------------------------------------------------------


def store(sized: Sized) -> Chart:
    """Draw equation 6.1: the voltage that a store needs before an operation, over its capacitance."""
    q = sized.question
    around = np.geomspace(sized.capacitance_f / 2, max(q.store_f, sized.capacitance_f) * 4, 60)
    lines = [
        Trace(name, around.tolist(), [sizing.capacitor_v(q.demand, c, cut) for c in around], color, "lines")
        for name, cut, color in (("from 0 V (6.1)", 0.0, plots.STORE), ("above the cut-off", q.cutoff_v, plots.NODE))
    ]
    at = Trace("this store", [q.store_f], [sized.capacitor_above_cutoff_v], plots.BAD, "markers", mark="star", size=16)
    return Chart(
        Axis("capacitance", "F", log=True),
        Axis("voltage before it begins", "V", zero=True),
        [*lines, at],
        y_lines={f"highest, {q.v_max_v:g} V": q.v_max_v, f"cut-off, {q.cutoff_v:g} V": q.cutoff_v},
        caption=f"This store must stand at {sized.capacitor_above_cutoff_v:.3g} V before it begins; no less than "
        f"{show(sized.capacitance_f, 'F', 3)} would do",
    )


def least_capacitance(sized: Sized) -> Chart:
    """Say which assumption moves the least capacitance most."""
    q, d = sized.question, sized.question.demand

    def answer(asked: sizing.Question) -> float:
        return sizing.capacitance_f(asked.demand, asked.v_max_v, asked.cutoff_v)

    def of_demand(demand: sizing.Demand) -> float:
        return answer(replace(q, demand=demand))

    moved = [
        *swings(
            of_demand,
            d,
            {
                **_computed(d.compute_j, sized.measured, "compute_j"),
                **_within("message", "radio_j", d.radio_j, "J"),
                **_within("overhead", "overhead_j", d.overhead_j, "J"),
                "margin, 1 to 3": ("margin", 1.0, 3.0),
            },
        ),
        *swings(answer, q, {**_within("highest voltage", "v_max_v", q.v_max_v, "V", 0.05),
                            **_within("cut-off", "cutoff_v", q.cutoff_v, "V", 0.05)}),
    ]  # fmt: skip
    return tornado(moved, sized.capacitance_f, Axis("least capacitance", "F"))


def autonomy(sized: Sized) -> Chart:
    """Say which assumption moves the time without light most."""
    q, d = sized.question, sized.question.demand

    def answer(asked: sizing.Question) -> float:
        stored_j = asked.store_f * (asked.v_max_v**2 - asked.cutoff_v**2) / 2
        return sizing.autonomy_s(asked.demand, stored_j) / 3600

    moved = [
        *swings(
            lambda demand: answer(replace(q, demand=demand)),
            d,
            {
                **_computed(d.compute_j, sized.measured, "compute_j"),
                **_within("message", "radio_j", d.radio_j, "J"),
                **_within("asleep", "sleep_w", d.sleep_w, "W"),
                **_within("period", "period_s", d.period_s, "s"),
            },
        ),
        *swings(answer, q, _within("store", "store_f", q.store_f, "F")),
    ]
    return tornado(moved, sized.autonomy_s / 3600, Axis("without light [h]"))


LIGHT = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def survival(sized: Sized) -> Chart | None:
    """Play the year again in less and in more light."""
    q = sized.question
    if q.trace is None:
        return None
    years = [sizing.year_of(q.demand, q.board, q.store_f, q.trace, light, lender=q.lender) for light in LIGHT]
    return Chart(
        Axis("light, times what was asked", log=True),
        Axis("share of a typical year [%]", zero=True),
        [
            Trace("days survived", LIGHT, [100 * y["survived_share"] for y in years], plots.GOOD),
            Trace("operations done", LIGHT, [100 * y["done_share"] for y in years], plots.STORE, dash=True),
            Trace("light thrown away", LIGHT, [100 * y["curtailed_j"] / y["panel_j"] for y in years], plots.SUN),
        ],
        caption=f"In the light asked, {years[LIGHT.index(1.0)]['survived_share']:.1%} of the days are survived; in a "
        f"tenth of it, {years[0]['survived_share']:.1%}",
    )


# --- Batteries -------------------------------------------------------------------------------

ACCELERATOR_J = 30e-6
"""Energy of a 233-bit operation in hardware (Piotrowski 2006, section 5)."""
CONVERTER = "ti-tps61000"


def what_if(found: Lifetime) -> dict[str, Lifetime]:
    """Ask the same with one thing changed: nothing sent, in hardware, with a converter, on each other cell."""
    q = found.question
    use = q.use
    asked: dict[str, life.Question] = {}
    if use.radio_j:
        asked["nothing sent"] = replace(q, use=replace(use, radio_j=0.0, radio_s=0.0, pulse_w=0.0))
    if use.energy_j > ACCELERATOR_J:
        hard = replace(use, energy_j=ACCELERATOR_J, time_s=use.time_s / 1000)
        asked[f"in hardware, {show(ACCELERATOR_J, 'J', 3)}"] = replace(q, use=hard)
    if q.converter is None:
        asked[f"with {CONVERTER}"] = replace(q, converter=CONVERTER)
    asked |= {f"on {part}": replace(q, battery=part) for part in life.cells() if part != q.battery}
    answers = {"as asked": found}
    for name, question in asked.items():
        try:
            answers[name] = life.of(question)
        except (SunsealError, EngineError):  # a cell whose voltage lies below the cut-off, say: no bar
            continue
    return answers


def hours_text(hours: float) -> str:
    """Write a lifetime, with years where it has some."""
    return f"{hours:,.1f} h" if hours < 8766 else f"{hours:,.0f} h, {hours / 8766:.1f} years"


def hours(found: Lifetime) -> Chart:
    """Draw how long the battery lasts as asked and with one thing changed."""
    answers = what_if(found)
    texts = [hours_text(a.lifetime_h) for a in answers.values()]
    lived = [a.lifetime_h for a in answers.values()]
    name, best = max(answers.items(), key=lambda kv: kv[1].lifetime_h)
    return Chart(
        Axis("lifetime [h]", zero=True),
        Axis(""),
        bars=[Bars("lifetime", list(answers), lived, plots.STORE, text=texts)],
        height=150 + 34 * len(texts),
        caption=f"As asked the battery lasts {texts[0]}"
        + (f"; {name}, {hours_text(best.lifetime_h)}" if name != "as asked" else "; nothing tried here lasts longer"),
    )


def battery(found: Lifetime) -> Chart:
    """Draw where a battery's joules go, as asked and with one thing changed."""
    answers = {k: v for k, v in what_if(found).items() if v.battery == found.battery}
    named = ("operations", "radio", "asleep", "self-discharge", "lost in the resistance", "lost in the converter")
    parts: dict[str, list[float]] = {name: [] for name in (*named, "left unused")}
    for a in answers.values():
        use = a.question.use
        # A rail that follows the cell has the same current at another voltage.
        scale = a.delivered_j / (a.mean_w * a.lifetime_s)
        computing_j, radio_j = (scale * a.operations * j for j in (use.energy_j, use.radio_j))
        shares = (
            computing_j,
            radio_j,
            max(a.delivered_j - computing_j - radio_j, 0.0),
            a.self_discharged_j,
            a.resistance_lost_j,
            a.converter_lost_j,
            a.unused_j,
        )
        for values, share in zip(parts.values(), shares, strict=True):
            values.append(share)
    colors = (plots.NODE, plots.SUN, plots.STORE, plots.BAD, plots.GOOD, plots.GREY, plots.INK)
    return Chart(
        Axis("the battery's energy", "J", zero=True),
        Axis(""),
        bars=[
            Bars(name, list(answers), values, color)
            for (name, values), color in zip(parts.items(), colors, strict=True)
            if max(values) > 0
        ],
        height=170 + 34 * len(answers),
        caption=f"As asked, {_most(parts)} takes most of the battery",
    )


def _most(parts: Mapping[str, list[float]]) -> str:
    """Name the largest part of the first bar, with its share."""
    total = sum(values[0] for values in parts.values()) or 1.0
    name = max(parts, key=lambda n: parts[n][0])
    return f"what is called {name} ({parts[name][0] / total:.0%})"


def life_swings(found: Lifetime) -> Chart:
    """Say which assumption moves the lifetime most."""
    q = found.question

    def answer(asked: life.Question) -> float:
        return life.of(asked).lifetime_h

    moved = [
        *swings(
            lambda use: answer(replace(q, use=use)),
            q.use,
            {
                **_computed(q.use.energy_j, found.measured, "energy_j"),
                **_within("message", "radio_j", q.use.radio_j, "J"),
                **(_within("asleep", "sleep_w", q.use.sleep_w, "W") if q.use.period_s else {}),
                **(_within("period", "period_s", q.use.period_s, "s") if q.use.period_s else {}),
            },
        ),
        *swings(answer, q, {f"charge, {1 - SPREAD:.0%} to {1 + SPREAD:.0%}": ("charge", 1 - SPREAD, 1 + SPREAD)}),
        *swings(answer, q, _within("cut-off", "cutoff_v", q.cutoff_v, "V", 0.05)),
    ]
    return tornado(moved, found.lifetime_h, Axis("lifetime [h]"))


# --- Plans and fleets ------------------------------------------------------------------------


COST_MOST = 20.0
"""Times the cheapest; what costs more is not drawn."""
BRINGS_LEAST = 0.2
"""Share of what is needed, or of the most that any brings; what brings less is not drawn."""


def planned(plan: Planned) -> Chart:
    """Draw what each candidate costs against what its supply brings over what it needs; the star is chosen."""
    near = plan.candidates.cost <= COST_MOST * plan.candidates.cost.min()
    brings = 1 + plan.candidates.energy_margin.where(np.isfinite(plan.candidates.energy_margin), -1)
    every = plan.candidates[near & (brings > BRINGS_LEAST * min(1.0, brings[near].max()))]
    traces = [_offers("does not qualify", every[~every.qualifies.astype(bool)], plots.MUTED, size=4, faint=True)]
    good = every[every.qualifies.astype(bool)]
    marks, many = FILLED, len(plots.LINES)
    for i, (name, rows) in enumerate(good.groupby("workload")):
        traces.append(_offers(str(name), rows, plots.LINES[i % many], mark=marks[(i + i // many) % len(marks)]))
    if not good.empty:
        ordered = good.sort_values(["cost", "energy_margin"], ascending=[True, False])
        safest = ordered[ordered.energy_margin > ordered.energy_margin.cummax().shift(fill_value=-np.inf)]
        front = _offers("front", safest, plots.MUTED, mark="circle-open", size=10)
        traces.append(replace(front, look="lines+markers"))
        traces.append(_offers("chosen", ordered.head(1), plots.BAD, mark="star", size=16))
    return Chart(
        Axis("cost, by the weights given", log=True),
        Axis("what the supply brings over what is needed", log=True),
        [t for t in traces if t.x],
        y_lines={"the edge of failing": 1.0},
        height=520,
        caption=f"{len(good):,} of {len(plan.candidates):,} candidates qualify"
        + ("" if good.empty else f"; the cheapest brings {1 + ordered.energy_margin.iloc[0]:.3g} times what it needs"),
    )


def _offers(name: str, rows: pd.DataFrame, color: str, **looks: Any) -> Trace:
    thin = rows.iloc[:: -(-len(rows) // POINTS_MAX)] if len(rows) else rows
    text = [f"{r['workload']} on {place(r)}; {r['supply']}" for _, r in thin.iterrows()]
    brings = (1 + thin.energy_margin).tolist()
    return Trace(name, thin.cost.tolist(), brings, color, "markers", text=text, **{"size": 6, **looks})


def supply_margin(chosen: Configuration) -> tuple[str, float]:
    """Return the margin of a plan's supply: of a battery its lifetime's, else that of the energy."""
    return next((m.requirement, m.value) for m in chosen.margins if m.requirement in ("energy", "lifetime"))


def plan_swings(chosen: Configuration) -> Chart:
    """Draw what each assumption does to the margin of a plan's supply."""
    name, margin = supply_margin(chosen)
    ends = [end for s in chosen.sensitivity for end in (s.outcome_low, s.outcome_high) if math.isfinite(end)]
    most = 1.2 * max([abs(end) for end in ends] or [1.0])

    def shown(end: float) -> float:
        return 100 * min(max(end, -most), most)  # without end: as far as the picture goes

    moved = [
        Swing(f"{s.assumption}, {s.low} to {s.high}", shown(s.outcome_low), shown(s.outcome_high))
        for s in chosen.sensitivity
    ]
    drawn = tornado(moved, shown(margin), Axis(f"{name} margin [%]"))
    return replace(drawn, x_lines={**drawn.x_lines, "fails below": 0.0})


def survivors(run: FleetRun) -> Chart:
    """Draw how many nodes survived what share of their days."""
    edges = np.array([0.0, 0.1, 0.5, 0.9, 0.95, 0.99, 1.0])
    share = run.rows.survived_share.to_numpy()
    names = [f"{100 * a:g} to {100 * b:g} %" for a, b in itertools.pairwise(edges)] + ["all"]
    counts = [int(((share >= a) & (share < b)).sum()) for a, b in itertools.pairwise(edges)] + [int((share >= 1).sum())]
    return Chart(
        Axis("nodes", zero=True, whole=True),
        Axis("days survived"),
        bars=[
            Bars(
                "nodes",
                names[::-1],
                [float(c) for c in counts[::-1]],
                plots.STORE,
                text=[f"{c:,}" for c in counts[::-1]],
            )
        ],
        height=330,
        caption=f"{counts[-1]:,} of {len(share):,} nodes survived all their days",
    )


def lights(run: FleetRun) -> Chart:
    """Draw each node's share of days over its light, by period."""
    traces = []
    for i, (period_s, rows) in enumerate(run.rows.groupby("period_s")):
        thin = rows.iloc[:: -(-len(rows) // POINTS_MAX)]
        thrown = thin.curtailed_j / thin.panel_j
        text = [f"node {n}, {s:.1%} of the light thrown away" for n, s in zip(thin.node, thrown, strict=True)]
        survived = (100 * thin.survived_share).tolist()
        name = f"every {duration(float(str(period_s)))}"
        color = plots.LINES[i % len(plots.LINES)]
        traces.append(Trace(name, thin.light.tolist(), survived, color, "markers", text=text, size=5))
    shares = run.rows.survived_share
    return Chart(
        Axis("light, times the climate's"),
        Axis("days survived [%]", zero=True),
        traces,
        height=420,
        caption=f"The median node survives {shares.median():.1%} of its days, the worst {shares.min():.1%}",
    )


def main(answer: Tuned | Sized | Lifetime) -> Chart:
    """Choose the figure that says most of an answer."""
    if isinstance(answer, Tuned):
        return front(answer)
    if isinstance(answer, Sized):
        return store(answer)
    return hours(answer)
