# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pages of what is judged, measured or swept: cuts, writes after reads, constant time, an operation, a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sunseal.answers.verdicts import Verdict
from sunseal.catalog.units import show, span
from sunseal.report import charts, plots
from sunseal.report.page import Page, right, table
from sunseal.report.pieces import part

if TYPE_CHECKING:
    import pandas as pd

    from sunseal.machine.taint import ConstantTime
    from sunseal.measurement.measuring import Measurement
    from sunseal.secure.injecting import Hazard, Injection

BARS_MAX = 20
"""Bars of a picture at most; a table has the rest."""


def _counted(counts: Mapping[str, float], axis: str, color: str, caption: str) -> charts.Chart:
    """Draw a bar for each name, the longest at the top."""
    first = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:BARS_MAX]
    names, lengths = [name for name, _ in first], [count for _, count in first]
    bars = charts.Bars(axis, names, lengths, color, text=[f"{count:,.0f}" for count in lengths])
    return charts.Chart(
        charts.Axis(axis, zero=True, whole=True),
        charts.Axis(""),
        bars=[bars],
        height=130 + 28 * len(names),
        caption=caption,
    )


def _judged(title: str, lead: str, verdict: Verdict) -> Page:
    """Begin the page of a verdict, with its questions that are left open."""
    made = Page(title, lead)
    made.cards = [
        ("verdict", verdict.word),
        ("compared", f"{verdict.compared:,}"),
        ("findings", f"{len(verdict.findings):,}"),
    ]
    if verdict.why:
        made.section(
            "What is left open", "The verdict does not speak of this.", table(("",), [(why,) for why in verdict.why])
        )
    return made


def _function(place: str) -> str:
    """Return the function of a place such as `sign+0x12 (sign.c:40)`."""
    return place.partition("+")[0].partition(" ")[0] or place


def injected(done: Injection) -> str:
    """Write the page of `inject`: how many cuts were survived, and where the others fell."""
    made = _judged(
        f"Losses of power in {done.program.rpartition('/')[2]}",
        f"{done.cuts:,} cuts in a stretch of {done.stretch_cycles:,} cycles on {done.board}; "
        f"{done.played:,} of them played, one of each class that has the same run behind it.",
        done.judged,
    )
    fate = {"survived": done.cuts - done.failed, "not survived": done.failed}
    told = "Each was compared with" if done.compared else "Nothing was compared behind a cut."
    made.section(
        "Cuts",
        f"{told} {', '.join(done.compared)}".strip(),
        made.chart(_counted(fate, "cuts", plots.STORE, f"{fate['survived']:,} of {done.cuts:,} cuts are survived")),
    )
    if done.failures:
        where = Counter(_function(f.place) for f in done.failures)
        name, most = where.most_common(1)[0]
        found = f"Of the {len(done.failures):,} failures kept, {most:,} are cuts in {name}"
        made.section(
            "Cuts that are not survived",
            "By the function in which the power went.",
            made.chart(_counted(where, "cuts", plots.BAD, found)),
            table(("cycle", "where", "what went wrong"), [(right(f.path), f.place, f.reason) for f in done.failures]),
            *([part("fold", "The last instructions before the earliest", part("pre", done.failures[0].trace))]),
        )
    return made.render()


def hazards(name: str, board: str, found: Sequence[Hazard], verdict: Verdict) -> str:
    """Write the page of `war`: which non-volatile objects are written after they were read."""
    made = _judged(
        f"Writes after reads in {name}",
        f"Non-volatile bytes that are read and then written between two commits, on {board}: code that is run again "
        "after a loss of power goes wrong there.",
        verdict,
    )
    if not found:
        made.section("None", f"No write after read in non-volatile memory of {name}.")
        return made.render()
    counts: Counter[str] = Counter()
    for h in found:
        counts[h.symbol or f"{h.address:#07x}"] += h.count
    worst, most = counts.most_common(1)[0]
    made.section(
        "By object",
        "Bytes written after they were read, each time counted.",
        made.chart(
            _counted(counts, "bytes written", plots.BAD, f"Most are in {worst}: {most:,} of {counts.total():,}")
        ),
        table(
            ("object", "address", "bytes", "read by", "written by", "times", "changing"),
            [
                (h.symbol or "", f"{h.address:#07x}", h.bytes, h.read_place, h.write_place, h.count, h.changes)
                for h in found
            ],
        ),
    )
    return made.render()


def constant_time(judged: ConstantTime, name: str) -> str:
    """Write the page of `constant-time`: what secret bytes decide, and what was followed to say so."""
    c = judged.covered
    names = ", ".join(s.name for s in c.secrets)
    runs = f"{c.runs} run{'s' * (c.runs > 1)}"
    made = _judged(f"Constant time of {name}", f"Bytes of {names}, followed through {runs}.", judged.judged)
    if judged.findings:
        counts = Counter({f"{leak.kind} in {_function(leak.place)}": 0 for leak in judged.findings})
        for leak in judged.findings:
            counts[f"{leak.kind} in {_function(leak.place)}"] += leak.count
        worst, most = counts.most_common(1)[0]
        made.section(
            "What the secret decides",
            "Times that an instruction ran in a way that marked data decides.",
            made.chart(_counted(counts, "times", plots.BAD, f"Most often by {worst}: {most:,} of {counts.total():,}")),
            table(
                ("what", "where", "line", "instruction", "times"),
                [(x.kind, x.place, x.line or "", x.instruction, x.count) for x in judged.findings],
            ),
        )
    read = [s.read for s in c.secrets]
    found = f"{sum(read):,} of {sum(s.bytes for s in c.secrets):,} secret bytes were read"
    labels = [s.name for s in c.secrets]
    left = [float(s.bytes - s.read) for s in c.secrets]
    made.section(
        "What was followed",
        f"{c.code_share:.0%} of the code ran ({c.code_bytes_run:,} of {c.code_bytes:,} bytes). {c.unseen}",
        made.chart(
            charts.Chart(
                charts.Axis("bytes of a secret", zero=True, whole=True),
                charts.Axis(""),
                bars=[
                    charts.Bars("read", labels, [float(n) for n in read], plots.STORE),
                    charts.Bars("not read", labels, left, plots.GREY),
                ],
                height=130 + 28 * len(labels),
                caption=found,
            )
        ),
        *([table(("functions with secret data",), [(f,) for f in c.functions])] if c.functions else []),
    )
    return made.render()


def measured(m: Measurement) -> str:
    """Write the page of `measure`: what an operation takes, by state of each component."""
    made = Page(
        f"{m.workload} on {m.board}",
        f"{m.variant} at {m.freq_hz / 1e6:g} MHz and {m.vcc_v:g} V, by {m.power_set}; {m.toolchain}.",
    )
    made.cards = [
        ("energy", show(m.energy_j, "J", 4)),
        ("time", show(m.time_s, "s", 4)),
        ("cycles", f"{m.cycles:,}"),
        ("flash, RAM, stack [bytes]", f"{m.flash_bytes:,}, {m.ram_bytes:,}, {m.stack_bytes:,}"),
    ]
    states = {name: joules for name, joules in m.energy_by_state_j.items() if joules > 0}
    ordered = sorted(states, key=lambda name: -states[name])
    low, high = (m.uncertainty[f"energy_{end}_j"] for end in ("low", "high"))
    most = f"{ordered[0]} takes {states[ordered[0]] / m.energy_j:.0%} of {show(m.energy_j, 'J', 3)}" if ordered else ""
    text = [show(states[name], "J", 3, m.energy_j) for name in ordered]
    drawn = charts.Chart(
        charts.Axis("energy", "J", zero=True),
        charts.Axis(""),
        bars=[charts.Bars("energy", ordered, [states[name] for name in ordered], plots.STORE, text=text)],
        height=130 + 28 * len(ordered),
        caption=most,
    )
    made.section(
        "Where the joules go",
        f"Counted states and events, weighed; sure within {span(low, high, 'J', m.energy_j)}.",
        *([made.chart(drawn)] if ordered else []),
        table(("counted", "times"), list(m.counts.items())),
    )
    result = {True: "agrees with an independent implementation", False: "is wrong", None: "was not checked"}
    made.section("Result", f"The operation's result {result[m.result_valid]}.")
    made.ledger(m.cite(), *(("", "", lint) for lint in m.lints))
    return made.render()


def swept(frame: pd.DataFrame, over: Sequence[str], figures: Sequence[str], title: str) -> str:
    """Write the page of `sweep`: each figure over the first key, a line for each value of the second."""
    done = frame[frame.error == ""]
    made = Page(title, f"{len(frame):,} points over {', '.join(over)}; {len(frame) - len(done):,} could not be run.")
    made.cards = [("points", f"{len(frame):,}"), ("not run", f"{len(frame) - len(done):,}")]
    for figure in figures:
        drawn = _over(done, over, figure)
        if drawn is not None:
            made.section(
                figure,
                f"Over {over[0]}" + (f", a line for each {over[1]}." if len(over) > 1 else "."),
                made.chart(drawn),
            )
    columns = [*over, *figures]
    rows = [tuple(_cell(row[c]) for c in columns) for _, row in frame.iterrows()]
    made.section("The points", "All of them, in order.", table(columns, rows))
    return made.render()


def _over(done: pd.DataFrame, over: Sequence[str], figure: str) -> charts.Chart | None:
    """Draw a figure over the first key; nothing where either is no number."""
    import pandas as pd

    if not over or not len(done) or not pd.api.types.is_numeric_dtype(done[over[0]].infer_objects()):
        return None
    values = pd.to_numeric(done[figure], errors="coerce")
    if values.isna().all():
        return None
    parts = (
        [("", done)]
        if len(over) < 2
        else [(f"{over[1]} {_cell(value)}", rows) for value, rows in done.groupby(over[1])]
    )
    traces = []
    for i, (name, rows) in enumerate(parts[:12]):
        along = rows.sort_values(over[0])
        x, y = (pd.to_numeric(along[c], errors="coerce").astype(float).tolist() for c in (over[0], figure))
        traces.append(charts.Trace(name or figure, x, y, plots.LINES[i % len(plots.LINES)], dash=i >= len(plots.LINES)))
    ends = [done.loc[[found]].iloc[0] for found in (values.idxmin(), values.idxmax())]
    low, high = (f"{_number(end[figure])} at {over[0]} {_cell(end[over[0]])}" for end in ends)
    same = values.min() == values.max()
    found = f"{figure} is {_number(values.min())} at every point" if same else f"{figure} from {low} to {high}"
    return charts.Chart(charts.Axis(over[0]), charts.Axis(figure), traces, caption=found)


def _number(value: float) -> str:
    return f"{float(value):,.6g}"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
