# SPDX-License-Identifier: MIT OR Apache-2.0
"""One HTML file that says where each joule went: no network, no server, opens anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sunseal.answers import writing
from sunseal.catalog import boards, citing, part_files
from sunseal.catalog.units import duration, show, span
from sunseal.loop.simulation import LOSSES
from sunseal.measurement import measuring
from sunseal.report import charts, plots
from sunseal.report.closing import of_coupons
from sunseal.report.page import Cell, Page, energy_table, flame, right, table
from sunseal.report.pieces import part

if TYPE_CHECKING:
    from sunseal.loop.served import Served
    from sunseal.loop.simulation import Played


def curve_parts(page: Page, curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> Markup:
    """Embed energy curves two by two."""
    return page.pair(*(charts.curve(points, title) for title, points in curves.items()))


# --- The pages -------------------------------------------------------------------------------

SIGN_WORKLOAD = {
    "ecdsa-p256-sha256": "ecdsa-p256-sign",
    "ecdsa-secp160r1-sha1": "ecdsa-secp160r1-sign",
    "ecdsa-secp160r1-sha256": "ecdsa-secp160r1-sign-sha256",
}
CURVE_WORKLOADS = ("ecdsa-secp160r1-sign", "ecdsa-p256-sign")
CURVE_SETS = ("datasheet", "mane2014")
TABLES = ("mane2014/table-4.1", "mane2014/table-4.2")


def day_of(played: Played, served: Served | None = None) -> plots.Day:
    """Gather what the pictures of the day show."""
    record = played.record
    start_s = played.scenario["start_s"]
    unit, unit_s = ("h", 3600.0) if record["simulated_s"] <= DAYS_FROM_S else ("d", 86_400.0)
    if served is None and record["simulated_s"] <= MINUTES_TO_S:
        unit, unit_s = ("s", 1.0) if record["simulated_s"] <= SECONDS_TO_S else ("min", 60.0)

    def hours(times_s: Iterable[float]) -> list[float]:
        return [(start_s + t) / unit_s for t in times_s]

    told = [(e["kind"], e["time_s"]) for e in record["events"]]
    events = {
        "start": hours(t for kind, t in told if kind == "on"),
        "brown-out": hours(t for kind, t in told if kind == "brown-out"),
    }
    if served is not None:
        signed = served.judged("response", "report")
        at = {id(e): e["time_us"] * 1e-6 for e in served.events}
        events |= {
            "challenge answered": hours(at[id(e)] for e in signed if e["kind"] == "response" and e["verdict"] == 0),
            "report accepted": hours(at[id(e)] for e in signed if e["kind"] == "report" and e["verdict"] == 0),
            "refused": hours(at[id(e)] for e in signed if e["verdict"] != 0),
        }
    else:
        events["message sent"] = hours(t for kind, t in told if kind == "sent")
        events["operation"] = hours(record["computations_s"])
    series = record["series"]
    hour = [h * 3600.0 / unit_s for h in played.hours]
    drawn = _drawn(record)
    ends = hour[drawn - 1 :: drawn] + ([hour[-1]] if len(hour) % drawn else [])
    return plots.Day(
        # The voltage at the very beginning stands at the top of the first stretch.
        hour=[start_s / unit_s, *hour],
        storage_v=[series[0]["vcap_max_v"], *(p["vcap_v"] for p in series)],
        power_hour=ends,
        panel_w=_means([p["panel_w"] for p in series], drawn),
        node_w=_means([p["load_w"] for p in series], drawn),
        events=events,
        off=[(a, b) for a, b in (hours(span) for span in _without_supply(told, record["simulated_s"]))],
        thresholds_v=_thresholds(played.scenario),
        uses_j=_ways(played.energy(), _brought(played.scenario))[1],
        between_v=(
            [series[0]["vcap_min_v"], *(p["vcap_min_v"] for p in series)],
            [series[0]["vcap_max_v"], *(p["vcap_max_v"] for p in series)],
        ),
        unit=unit,
        source=source_of(played.scenario),
        by_the_sun=played.light is not None,
    )


SOURCES = {
    "trace": "recorded source",
    "constant_w": "constant source",
    "periodic": "periodic source",
    "markov": "random source",
    "sunlight": "panel",
}
"""Sources of the power, by the key of [harvest] that says so."""


def source_of(scenario: Mapping[str, Any]) -> str:
    """Call a scenario's source by its kind."""
    told = scenario.get("harvest") or {}
    return next((kind for key, kind in SOURCES.items() if told.get(key) is not None), "source (dark)")


DAYS_FROM_S = 4 * 86_400.0
"""From here on a run is drawn over days."""
MINUTES_TO_S = 7200.0
"""Up to here a run without a server is drawn over minutes..."""
SECONDS_TO_S = 120.0
"""...and up to here over seconds."""


BIN = 16
"""Points of the series that are taken together at most: bursts of a second become a mean..."""
BIN_S = 700.0
"""...unless they are longer than this."""
DAILY_FROM_S = 100 * 86_400.0
"""From here on the picture of the powers shows days."""


def _taken_together(record: Mapping[str, Any]) -> int:
    """Return how many points of the series are one, so that neither bursts nor nights are lost."""
    return max(1, min(BIN, round(BIN_S / _width_s(record))))


def _drawn(record: Mapping[str, Any]) -> int:
    """Return how many points of the series are one in the picture of the powers."""
    if record["simulated_s"] >= DAILY_FROM_S:
        return max(1, round(86_400.0 / _width_s(record)))
    return max(_taken_together(record), len(record["series"]) // 400)


def _width_s(record: Mapping[str, Any]) -> float:
    return float(record["simulated_s"]) / len(record["series"])


def _means(values: Sequence[float], together: int) -> list[float]:
    bins = [values[i : i + together] for i in range(0, len(values), together)]
    return [sum(b) / len(b) for b in bins]


def _without_supply(told: Sequence[tuple[str, float]], end_s: float) -> list[tuple[float, float]]:
    spans, since = [], 0.0
    off = True
    for kind, time_s in told:
        if kind == "on" and off:
            spans.append((since, time_s))
            off = False
        elif kind == "brown-out" and not off:
            since, off = time_s, True
    if off:
        spans.append((since, end_s))
    return [(a, b) for a, b in spans if b - a > 1.0]


def _thresholds(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Return where the supply switches on and off, as the scenario or a part's file says; a direct rail says neither.

    A charger's own comparator comes before a converter's limits, and these before the harvester's.
    """
    supply = scenario["supply"]
    named: Any = boards.board(scenario["board"]).get("supply", {})
    places = (
        ("charger", supply.get("charger")),
        ("converter", supply.get("output")),
        ("harvester", supply.get("harvester") or named.get("harvester")),
    )
    on: float | None = None
    off: float | None = None
    for kind, name in places:
        if name in boards.names("parts"):
            on, off = part_files.switches_v(name, kind)
            # A cell's end may lie above it.
            off = None if supply.get("cell") else off
            break
        if name is not None:
            break  # a diode or a direct rail
    found = {"output on at": supply.get("v_on_v") or on, "output off at": supply.get("v_cut_v") or off}
    return {name: volts for name, volts in found.items() if volts is not None}


def _day_section(page: Page, played: Played, served: Served | None) -> plots.Day:
    day = day_of(played, served)
    zoom = " Drag over it to zoom; the keys +, -, 0 and the arrows do the same." if served is None else ""
    if played.record["events_cut"] or played.record["computations_cut"]:
        zoom += " So much happened that the list of it ends before the run."
    page.section(
        "The day" if day.unit == "h" and day.by_the_sun else "The run",
        f"Storage voltage, what happened, and the power of {day.source} and node, each point a mean over "
        f"{duration(_drawn(played.record) * _width_s(played.record))}. Shaded: the node had no "
        f"supply. The figures behind it stand in series.csv.{zoom}",
        page.picture(plots.day_picture(day, zoom=served is None), _day_found(day)),
    )
    return day


def _day_found(day: plots.Day) -> str:
    """Say what the picture of a run shows: how far the store went down, and whether the supply held."""
    low = min(v for v in (*day.between_v[0], *day.storage_v))
    off = sum(end - begin for begin, end in day.off)
    held = f"the node was without supply for {off:.3g} {day.unit}" if off else "the supply held throughout"
    return f"The store went from {low:.2f} V to {max((*day.between_v[1], *day.storage_v)):.2f} V; {held}"


def _ledger_found(incoming: Mapping[str, float], outgoing: Mapping[str, float]) -> str:
    """Say what the picture of the flows shows: how much came, and where most of it went."""
    total = sum(incoming.values())
    if total <= 0:
        return "No energy was moved"
    name, most = max(outgoing.items(), key=lambda kv: kv[1])
    return f"Of {show(total, 'J', 3)}, {most / total:.0%} went here: {name}"


def _window_section(page: Page, window: Mapping[str, Any] | None) -> None:
    if window is None:
        return
    cut = " It was too long to be kept whole." if window["cut"] else ""
    page.section(
        "A closer look",
        f"From {window['from_s']:.9g} s to {window['to_s']:.9g} s of the run, in the engine's own steps: every change "
        f"of state, and each brown-out to the cycle.{cut}",
        page.picture(plots.window_picture(window)),
    )


STACKS_MAX = 16
"""So many functions have a bar of their own."""
STEADY = ("(asleep)", "(off)", "(starting)")


def components_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the components that took energy, the largest first: each keeps its colour from picture to picture."""
    total: dict[str, float] = {}
    for row in rows:
        total[row["component"]] = total.get(row["component"], 0.0) + row["energy_j"]
    return sorted((c for c in total if total[c] > 0), key=lambda c: -total[c])


def stacks(rows: Sequence[Mapping[str, Any]], components: Sequence[str]) -> charts.Chart:
    """Draw energy by function, stacked by component, the largest at the top, the smallest together."""
    sums: dict[str, dict[str, float]] = {}
    for row in rows:
        by = sums.setdefault(row["function"], {})
        by[row["component"]] = by.get(row["component"], 0.0) + row["energy_j"]
    order = sorted(sums, key=lambda name: -sum(sums[name].values()))
    rest = order[STACKS_MAX:]
    if rest:
        together = sums.setdefault(f"{len(rest)} others", {})
        for name in rest:
            for component, joules in sums[name].items():
                together[component] = together.get(component, 0.0) + joules
        order = [*order[:STACKS_MAX], f"{len(rest)} others"]
    return charts.Chart(
        charts.Axis("energy", "J", zero=True),
        charts.Axis(""),
        bars=[
            charts.Bars(c, order, [sums[name].get(c, 0.0) for name in order], plots.LINES[i % len(plots.LINES)])
            for i, c in enumerate(components)
            if any(c in sums[name] for name in order)
        ],
        height=160 + 26 * len(order),
        caption=_most_found(sums),
    )


def _most_found(sums: Mapping[str, Mapping[str, float]]) -> str:
    """Say which function takes most of the energy."""
    whole = {name: sum(by.values()) for name, by in sums.items()}
    total = sum(whole.values())
    name = max(whole, key=lambda n: whole[n], default="")
    return f"{name} takes {whole[name] / total:.0%} of {show(total, 'J', 3)}" if total > 0 else ""


def _stacks_section(page: Page, record: Mapping[str, Any]) -> None:
    told = record.get("functions")
    if told is None:
        states = [
            {"function": item["name"], "component": item["component"], "energy_j": item["energy_j"]["typ"]}
            for item in record["energy"]["load"]["items"]
        ]
        page.section(
            "Energy by state and component",
            "The node's joules by what each component was at. `sunseal simulate --functions` tells them by the "
            "firmware's functions as well.",
            page.chart(stacks(states, components_of(states))),
        )
        return
    components = components_of(told)
    awake = [row for row in told if row["function"] not in STEADY]
    page.section(
        "Energy by function and component",
        "What each of the firmware's functions took while it ran itself, by component; what it took asleep and to "
        "start is below, as that would press the rest together.",
        *([page.chart(stacks(awake, components))] if awake else []),
        page.chart(stacks([row for row in told if row["function"] in STEADY and row["energy_j"] > 0], components)),
    )


# --- Scarcity and surplus --------------------------------------------------------------------


def regimes(record: Mapping[str, Any], capacitance_f: float) -> dict[str, dict[str, float]]:
    """Split a run where the light brought less than the node took from where it brought more; joules in each.

    Points are taken together, so that the seconds of an operation do not make a scarcity of their own.
    """
    series, together = record["series"], _taken_together(record)
    found = {name: dict.fromkeys(("time_s", "light_j", "work_j", "stored_j"), 0.0) for name in ("scarcity", "surplus")}
    before_v = series[0]["vcap_max_v"]
    ends = [p["time_s"] for p in series[1:]] + [record["simulated_s"]]
    for i in range(0, len(series), together):
        points = series[i : i + together]
        spans = [to - p["time_s"] for p, to in zip(points, ends[i : i + together], strict=True)]
        light_j = sum(p["panel_w"] * s for p, s in zip(points, spans, strict=True))
        work_j = sum(p["load_w"] * s for p, s in zip(points, spans, strict=True))
        after_v = points[-1]["vcap_v"]
        into = found["surplus" if light_j > work_j else "scarcity"]
        into["time_s"] += sum(spans)
        into["light_j"] += light_j
        into["work_j"] += work_j
        into["stored_j"] += capacitance_f * (after_v**2 - before_v**2) / 2
        before_v = after_v
    for into in found.values():
        into["lost_j"] = into["light_j"] - into["work_j"] - into["stored_j"]
    return found


def balance_chart(found: Mapping[str, Mapping[str, float]]) -> charts.Chart:
    """Draw what came and where it went, under scarcity and under surplus (Suslowicz 2017, figure 2)."""
    bars: dict[str, tuple[str, list[float]]] = {
        "light": (plots.SUN, []),
        "from the store": (plots.LINES[0], []),
        "work done": (plots.NODE, []),
        "stored": (plots.GOOD, []),
        "lost or thrown away": (plots.MUTED, []),
    }
    labels = []
    for name, j in found.items():
        labels += [f"{name}: came", f"{name}: went"]
        given, kept = max(-j["stored_j"], 0.0), max(j["stored_j"], 0.0)
        for (_, values), pair in zip(
            bars.values(),
            ((j["light_j"], 0.0), (given, 0.0), (0.0, j["work_j"]), (0.0, kept), (0.0, max(j["lost_j"], 0.0))),
            strict=True,
        ):
            values.extend(pair)
    return charts.Chart(
        charts.Axis("energy", "J", zero=True),
        charts.Axis(""),
        bars=[charts.Bars(name, labels, values, color) for name, (color, values) in bars.items()],
        height=300,
        caption=_balance_found(found),
    )


def _balance_found(found: Mapping[str, Mapping[str, float]]) -> str:
    """Say how much of the light came while there was too much of it."""
    light_j = sum(j["light_j"] for j in found.values())
    if light_j <= 0:
        return "No light came: all work was the store's"
    return (
        f"{found['surplus']['light_j'] / light_j:.0%} of the light came while there was more of it than the node took"
    )


def _regimes_section(page: Page, played: Played) -> None:
    capacitance_f = _capacitance_f(played.scenario)
    if capacitance_f is None:
        return
    found = regimes(played.record, capacitance_f)
    energy = played.energy()
    error_j = abs(sum(j["stored_j"] for j in found.values()) - energy["stored_delta_j"])
    if error_j > 0.01 * (energy["in_j"] + energy["out_j"]):
        return  # a store that is more than one capacitance: its voltage does not tell what is in it
    lost = energy["lost_by_j"]
    full, dim = (lost[LOSSES[key]] for key in ("curtailed_j", "unused_j"))
    most_j = max(abs(j[k]) for j in found.values() for k in KEPT)
    rows: list[Sequence[Cell]] = [
        (name, right(duration(j["time_s"])), *(right(show(j[k], "J", 4, most_j)) for k in KEPT))
        for name, j in found.items()
    ]
    page.section(
        "Under scarcity and under surplus",
        "Scarcity is where the light brought less than the node took, surplus where it brought more (Suslowicz 2017, "
        f"figure 2). Of what was thrown away, {show(full, 'J', 3)} came when the store was full, {show(dim, 'J', 3)} "
        "were too little to start the charger: work that could have been done ahead of its time.",
        page.chart(balance_chart(found)),
        table(("", "time", "light", "work done", "change of the store", "lost or thrown away"), rows),
    )


KEPT = ("light_j", "work_j", "stored_j", "lost_j")


def _capacitance_f(scenario: Mapping[str, Any]) -> float | None:
    """Return the store's capacitance, if it is one capacitor."""
    supply = scenario["supply"]
    if supply.get("capacitance_f"):
        return float(supply["capacitance_f"])
    for name in citing.supply_parts(scenario["board"], supply):
        part: dict[str, Any] = boards.part(name)
        if "capacitor" in part and not supply.get("cell"):
            return float(part["capacitor"]["capacitance_f"])
    return None


def _brought(scenario: Mapping[str, Any]) -> str:
    """Call what a scenario's source brought."""
    source = source_of(scenario)
    return "light on the panel" if source == "panel" else f"from the {source.partition(' (')[0]}"


def _ways(energy: Mapping[str, Any], brought: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return what the source brought and the store gave, and where both went."""
    delta = energy["stored_delta_j"]
    incoming = {brought: energy["in_j"], "taken from the store": max(-delta, 0.0)}
    used = {k: v for k, v in energy["by_component_j"].items() if v > 0}
    return incoming, {**used, **energy["lost_by_j"], "left in the store": max(delta, 0.0)}


def _ledger_section(page: Page, played: Played, closing: Mapping[str, Any]) -> None:
    energy = closing["energy"]
    incoming, outgoing = _ways(energy, _brought(played.scenario))
    balance = closing["energy_balance_rel"]
    note = ""
    for word, mark in (("Unchecked", "recalled"), ("Assumed", "assumed")):
        if bound := {item["name"] for item in played.record["energy"]["load"]["items"] if item[mark]}:
            note += f" {word} coefficients: {', '.join(sorted(bound))}."
    page.section(
        "Energy ledger",
        f"In - out - lost - change of the store comes to {balance:.1e} of the energy moved; below 1e-6 it counts "
        f"as closed. The node's own joules are its counted states and events, priced by {played.record['power_set']}; "
        f"the closed loop delivered the same to {abs(played.record['energy']['loop_over_ledger_rel']):.1e}.{note}",
        page.picture(plots.ledger_picture(incoming, outgoing), _ledger_found(incoming, outgoing)),
        part(
            "halves",
            [
                energy_table(energy["by_component_j"], "delivered to the node", energy["out_j"]),
                energy_table(energy["lost_by_j"], "lost or not taken", energy["lost_j"]),
            ],
        ),
        part("fold", "By state and event", _states_table(played.record["energy"]["load"])),
    )


def _states_table(load: Mapping[str, Any]) -> Markup:
    """Write each state and event once, the CPU's by clock."""
    sums: dict[str, dict[str, Any]] = {}
    for item in load["items"]:
        clock = f", {item['mclk_hz'] / 1e6:.4g} MHz" if item["component"] == "cpu" and item["mclk_hz"] else ""
        label = f"{item['component']} {item['name']}{clock}"
        row = sums.setdefault(
            label, {**item, "time_s": 0.0, "count": 0, "energy_j": dict.fromkeys(item["energy_j"], 0.0)}
        )
        row["time_s"] += item["time_s"]
        row["count"] += item["count"]
        for end, joules in item["energy_j"].items():
            row["energy_j"][end] += joules
    rows: list[Sequence[Cell]] = []
    most_j = max((row["energy_j"]["typ"] for row in sums.values()), default=0.0)
    for label, row in sorted(sums.items(), key=lambda kv: -kv[1]["energy_j"]["typ"]):
        joules = row["energy_j"]
        if joules["typ"] == 0:
            continue
        rows.append(
            (
                label,
                right(f"{row['count']:,} times" if row["kind"] == "event" else duration(row["time_s"])),
                right(show(joules["typ"], "J", 4, most_j)),
                right(span(joules["low"], joules["high"], "J", joules["typ"])),
                part("coefficient", row["source"], row["recalled"], row["assumed"]),
            )
        )
    return table(("state or event", "how long, how often", "energy", "bounds", "coefficient from"), rows)


def _coupons_section(page: Page, closing: Mapping[str, Any]) -> None:
    if "coupons" not in closing:
        return
    page.section(
        "Coupons",
        "Signatures prepared from surplus energy, and what became of them. Their joules are at the rail and lie in the "
        "ledger above: begin + produced = used + discarded + end.",
        table(("", ""), [(name.strip(), text) for name, text in of_coupons(closing["coupons"])]),
    )


def _server_section(page: Page, closing: Mapping[str, Any]) -> None:
    kinds = closing["verified_by_kind"]
    refused = closing["refused_by_verdict"]
    rows: list[Sequence[Cell]] = [
        ("challenges queued by the server", closing["asked"]),
        ("challenges answered (asynchronous mode)", closing["answered"]),
        ("reports sent unasked (periodic mode)", closing["reports"]),
        ("responses verified", kinds["response"]),
        ("reports verified", kinds["report"]),
        ("refused", closing["refused"]),
        *((f"refused as {name}", n) for name, n in refused.items()),
    ]
    for day in closing.get("ends", ()):
        told = f"by the {day['reading']} reading of the panel: "
        rows += [(told + name.replace("_", "-"), day[name]) for name in ("answered", "verified", "brown_outs")]
    tried = ", ".join(f"{a['what']}: {a['verdict_name']}" for a in closing["intruder"])
    tail = f" After the day somebody else sent the node's last report again ({tried})." if tried else ""
    bits = " and ".join(f"{n} at {b} bits" for b, n in closing["accepted_by_security_bits"].items())
    page.section(
        "What the server says",
        f"Every signature came over the simulated air and was judged by the real server; accepted: {bits or 'none'}. "
        f"Below 112 bits it is labelled legacy.{tail} The event log is events.jsonl, the air is air.pcap.",
        table(("", "count"), rows),
    )


def _clock_hz(played: Played) -> int:
    """Return the clock at which the node computed: that of most of its cycles."""
    cycles: dict[int, int] = {}
    for item in played.record["energy"]["load"]["items"]:
        if item["component"] == "cpu" and item["name"].startswith("active"):
            cycles[item["mclk_hz"]] = cycles.get(item["mclk_hz"], 0) + item["cycles"]
    return max(cycles, key=lambda hz: cycles[hz])


def _signature_section(page: Page, played: Played, suite: str) -> str:
    workload = SIGN_WORKLOAD[suite]
    vcc_v, board = played.record["vcc_v"], played.record["board"]
    power = played.record["power_set"].split("+")[0].strip()
    m = measuring.measure(workload, board=board, freq_hz=_clock_hz(played), vcc_v=vcc_v, power=power)
    folded = measuring.in_joules(measuring.profile(workload, board=board), m.cycles, m.energy_j)
    title = f"{workload}, {m.variant}, {m.freq_hz / 1e6:.4g} MHz, {vcc_v:g} V"
    svg = plots.flame_graph(folded, "J", title)
    page.section(
        "Where the energy of one signature goes",
        f"{m.cycles:,} cycles, {show(m.time_s, 's')}, {show(m.energy_j, 'J')} between the trigger marks at the node's "
        f"clock and voltage, by {m.power_set}. All cycles here run from "
        "flash at one clock, so a function's share of the cycles is its share of the joules.",
        flame(folded, "J", title),
    )
    return svg


def _device(board: str) -> str:
    return str(boards.board(board)["device"])


def _curves_section(page: Page, board: str) -> dict[str, list[dict[str, Any]]]:
    sets = [s for s in CURVE_SETS if f"{_device(board)}-{s}" in boards.names("power")]
    curves = {
        f"{workload}, {power}": measuring.curve(workload, board=board, power=power)
        for workload in CURVE_WORKLOADS
        for power in sets
    }
    by = "Left by the datasheet's currents, right by the set fitted to Mane 2014."
    page.section(
        "Energy per signature over voltage and clock",
        "One counted run weighed at every clock and voltage that the device allows. A line breaks where the core "
        f"voltage level changes. {by if len(sets) > 1 else 'By the datasheet.'}",
        curve_parts(page, curves),
    )
    return curves


def _published_section(page: Page) -> None:
    from sunseal.papers import published
    from sunseal.report import published_page

    page.section(
        "Published figures beside ours",
        "Mane 2014 as printed, and the same quantity from this firmware on this machine.",
        published_page.tables(published.reproduce(i) for i in TABLES),
    )


def _origin_section(page: Page, played: Played) -> None:
    page.ledger(played.cite())
    scenario = json.dumps(played.scenario, indent=2, sort_keys=True)
    page.section("The scenario", "As it was played, defaults included.", part("pre", scenario))


def _cards(closing: Mapping[str, Any], brought: str) -> list[tuple[str, str]]:
    energy = closing["energy"]
    cards = []
    if "verified" in closing:
        cards = [
            ("signatures verified", f"{closing['verified']}"),
            ("refused", f"{closing['refused']}"),
        ]
    return [
        *cards,
        (brought, show(energy["in_j"], "J", 4)),
        ("delivered to the node", show(energy["out_j"], "J", 4, energy["in_j"])),
        ("brown-outs", f"{closing['brown_outs']}"),
        *([("supervisor resets", f"{closing['supervisor_resets']:,}")] if closing["supervisor_resets"] else []),
        ("balance error", f"{abs(closing['energy_balance_rel']):.0e}"),
    ]


def scenario_page(played: Played, closing: Mapping[str, Any]) -> str:
    """Write the report of `sunseal simulate`."""
    record = played.record
    page = Page(
        f"{record['scenario']} on {record['board']}",
        f"{duration(record['simulated_s'])} simulated, {record['cycles']:,} CPU cycles, seed {record['seed']}.",
    )
    page.cards = _cards(closing, _brought(played.scenario))
    _day_section(page, played, None)
    _window_section(page, record.get("window"))
    _regimes_section(page, played)
    _ledger_section(page, played, closing)
    _coupons_section(page, closing)
    _stacks_section(page, record)
    _origin_section(page, played)
    return page.render()


def demo_page(
    played: Played, served: Served, closing: Mapping[str, Any], step: Callable[[str], None]
) -> tuple[str, list[Callable[[Path], None]]]:
    """Write the report of `sunseal demo`, and return what draws its pictures into a folder."""
    record = played.record
    page = Page(
        f"A node on {_device(record['board'])} signs, and every joule is accounted for",
        f"{record['scenario']} on {record['board']}: {duration(record['simulated_s'])} of the node's "
        f"real firmware, simulated: {record['cycles']:,} cycle-exact CPU cycles, seed {record['seed']}.",
    )
    page.cards = _cards(closing, _brought(played.scenario))
    day = _day_section(page, played, served)
    _server_section(page, closing)
    _ledger_section(page, played, closing)
    _coupons_section(page, closing)
    step("the flame graph of one signature")
    svg = _signature_section(page, played, served.node["suite"] or "ecdsa-p256-sha256")
    step("energy curves")
    curves = _curves_section(page, record["board"])
    if record["board"] == boards.DEFAULT_BOARD:
        step("published tables")
        _published_section(page)
    _origin_section(page, played)

    def draw(folder: Path) -> None:
        plots.day_file(day, folder / "day.png")
        plots.day_file(day, folder / "day.svg")
        writing.write_atomic(folder / "flame.svg", svg)
        for title, points in curves.items():
            charts.curve(points, title).write(folder / f"curve-{boards.slug(title)}.svg")

    return page.render(), [draw]
