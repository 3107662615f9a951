# SPDX-License-Identifier: MIT OR Apache-2.0
"""One HTML file that says where each joule went: no network, no server, opens anywhere."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal import boards, charts, measuring, plots
from sunseal.page import Cell, Html, Page, energy_table, right, table
from sunseal.units import duration, show

if TYPE_CHECKING:
    from sunseal.demo import Served
    from sunseal.published import Reproduction
    from sunseal.simulation import Played

VERDICT_STYLE = {
    "beaten": "good",
    "agrees": "good",
    "differs": "mild",
    "misprint": "mild",
    "not printed": "mild",
    "not met": "bad",
}


def published_tables(reproductions: Iterable[Reproduction]) -> str:
    """Write published figures beside ours."""
    parts = []
    for r in reproductions:
        rows = []
        for row in r.rows:
            style = VERDICT_STYLE[row.verdict]
            note = f"<small>{html.escape(row.note)}</small>" if row.note else ""
            printed = f" <small>(printed {html.escape(row.printed)})</small>" if row.printed else ""
            rows.append(
                (
                    Html(html.escape(row.label)),
                    Html(
                        f'<span class="n" style="display:block">{html.escape(row.show(row.published))}{printed}</span>'
                    ),
                    right(row.show(row.ours)),
                    right(f"{row.ratio:.3f}" if row.ratio is not None else ""),
                    Html(f'<b class="{style}">{html.escape(row.verdict)}</b>'),
                    Html(note),
                )
            )
        head = ("", "published", "ours", "ratio", "verdict", "note")
        parts.append(table(head, rows, f"{r.id}: {r.title}"))
        parts.append(f'<p class="note">{html.escape(r.source)}</p>')
    return "".join(parts)


def curve_parts(page: Page, curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
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
    start_h = played.scenario["start_s"] / 3600.0

    def hours(times_s: Iterable[float]) -> list[float]:
        return [start_h + t / 3600.0 for t in times_s]

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
    series = record["series"]
    hour = played.hours
    ends = hour[BIN - 1 :: BIN] + ([hour[-1]] if len(hour) % BIN else [])
    return plots.Day(
        # The voltage at the very beginning stands at the top of the first stretch.
        hour=[start_h, *hour],
        storage_v=[series[0]["vcap_max_v"], *(p["vcap_v"] for p in series)],
        power_hour=ends,
        panel_w=_means([p["panel_w"] for p in series]),
        node_w=_means([p["load_w"] for p in series]),
        events=events,
        off=_without_supply(told, start_h, record["simulated_s"]),
        thresholds_v=_thresholds(played.scenario),
        uses_j=_ways(played.energy())[1],
    )


BIN = 16
"""Points of the series in one point of the powers' picture: bursts of a second become a mean."""


def _means(values: Sequence[float]) -> list[float]:
    bins = [values[i : i + BIN] for i in range(0, len(values), BIN)]
    return [sum(b) / len(b) for b in bins]


def _without_supply(told: Sequence[tuple[str, float]], start_h: float, end_s: float) -> list[tuple[float, float]]:
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
    return [(start_h + a / 3600.0, start_h + b / 3600.0) for a, b in spans if b - a > 1.0]


def _thresholds(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Return the harvester's thresholds, as the scenario or the part's file gives them."""
    supply = scenario["supply"]
    board: dict[str, Any] = boards.read_toml(boards.board_path(scenario["board"]))
    name = supply.get("harvester") or board["supply"]["harvester"]
    part: dict[str, Any] = boards.read_toml(boards.home() / "data" / "parts" / f"{name}.toml")
    own = part["harvester"]
    thresholds = {"output on at": supply.get("v_on_v") or own["v_on_v"]}
    if own["overhead_reading"] == "per_start":
        thresholds["output off at"] = supply.get("v_cut_v") or own["v_cut_v"]
    return thresholds


def _day_section(page: Page, played: Played, served: Served | None) -> plots.Day:
    day = day_of(played, served)
    page.section(
        "The day",
        "Storage voltage, what happened, and the power of panel and node, each point a mean over "
        f"{BIN * played.record['duration_s'] / len(played.record['series']) / 60:.3g} minutes. Shaded: the node had no "
        "supply. The figures behind it stand in series.csv.",
        f'<div class="wide">{page.figure(plots.day_figure(day), 640)}</div>',
    )
    return day


def _ways(energy: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Return what the light brought and the store gave, and where both went."""
    delta = energy["stored_delta_j"]
    incoming = {"light on the panel": energy["in_j"], "taken from the store": max(-delta, 0.0)}
    used = {k: v for k, v in energy["by_component_j"].items() if v > 0}
    return incoming, {**used, **energy["lost_by_j"], "left in the store": max(delta, 0.0)}


def _ledger_section(page: Page, played: Played, closing: Mapping[str, Any]) -> None:
    energy = closing["energy"]
    incoming, outgoing = _ways(energy)
    balance = closing["energy_balance_rel"]
    bound = {item["name"] for item in played.record["energy"]["load"]["items"] if item["recalled"]}
    note = f" Unchecked coefficients: {', '.join(sorted(bound))}." if bound else ""
    page.section(
        "Energy ledger",
        f"In - out - lost - change of the store comes to {balance:.1e} of the energy moved; below 1e-6 it counts "
        f"as closed. The node's own joules are its counted states and events, priced by {played.record['power_set']}; "
        f"the closed loop delivered the same to {abs(played.record['energy']['loop_over_ledger_rel']):.1e}.{note}",
        f'<div class="wide">{page.figure(plots.ledger_figure(incoming, outgoing), 420)}</div>',
        '<div class="pair"><div>',
        energy_table(energy["by_component_j"], "delivered to the node", energy["out_j"]),
        "</div><div>",
        energy_table(energy["lost_by_j"], "lost or not taken", energy["lost_j"]),
        "</div></div><details><summary>By state and event</summary>",
        _states_table(played.record["energy"]["load"]),
        "</details>",
    )


def _states_table(load: Mapping[str, Any]) -> str:
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
    for label, row in sorted(sums.items(), key=lambda kv: -kv[1]["energy_j"]["typ"]):
        joules = row["energy_j"]
        if joules["typ"] == 0:
            continue
        unchecked = ' <b class="mild">unchecked</b>' if row["recalled"] else ""
        rows.append(
            (
                label,
                right(f"{row['count']:,} times" if row["kind"] == "event" else duration(row["time_s"])),
                right(show(joules["typ"], "J", 4)),
                right(f"{show(joules['low'], 'J', 3)} to {show(joules['high'], 'J', 3)}"),
                Html(f"<small>{html.escape(row['source'])}{unchecked}</small>"),
            )
        )
    return table(("state or event", "how long, how often", "energy", "bounds", "coefficient from"), rows)


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
        f"clock and voltage, by {m.power_set}. Width is energy; a call stands on its caller. All cycles here run from "
        "flash at one clock, so a function's share of the cycles is its share of the joules. Green: hashing and the "
        "nonce; blue: points and scalars; orange: multiplication and squaring; yellow: reduction and inversion; "
        "violet: run-time helpers.",
        f'<div class="wide">{svg}</div>',
    )
    return svg


def _curves_section(page: Page, board: str) -> dict[str, list[dict[str, Any]]]:
    curves = {
        f"{workload}, {power}": measuring.curve(workload, board=board, power=power)
        for workload in CURVE_WORKLOADS
        for power in CURVE_SETS
    }
    page.section(
        "Energy per signature over voltage and clock",
        "One counted run weighed at every clock and voltage that the PMM allows. A line breaks where the core "
        "voltage level changes. Left by the datasheet's currents, right by the set fitted to Mane 2014.",
        curve_parts(page, curves),
    )
    return curves


def _published_section(page: Page) -> None:
    from sunseal import published

    page.section(
        "Published figures beside ours",
        "Mane 2014 as printed, and the same quantity from this firmware on this machine.",
        published_tables(published.reproduce(i) for i in TABLES),
    )


def _origin_section(page: Page, played: Played) -> None:
    page.ledger(played.cite())
    scenario = json.dumps(played.scenario, indent=2, sort_keys=True)
    page.section("The scenario", "As it was played, defaults included.", f"<pre>{html.escape(scenario)}</pre>")


def _cards(closing: Mapping[str, Any]) -> list[tuple[str, str]]:
    energy = closing["energy"]
    cards = []
    if "verified" in closing:
        cards = [
            ("signatures verified", f"{closing['verified']}"),
            ("refused", f"{closing['refused']}"),
        ]
    return [
        *cards,
        ("light on the panel", show(energy["in_j"], "J", 4)),
        ("delivered to the node", show(energy["out_j"], "J", 4)),
        ("brown-outs", f"{closing['brown_outs']}"),
        ("balance error", f"{abs(closing['energy_balance_rel']):.0e}"),
    ]


def scenario_page(played: Played, closing: Mapping[str, Any]) -> str:
    """Write the report of `sunseal simulate`."""
    record = played.record
    page = Page(
        f"{record['scenario']} on {record['board']}",
        f"{record['simulated_s'] / 3600:.4g} simulated hours, {record['cycles']:,} CPU cycles, seed {record['seed']}.",
    )
    page.cards = _cards(closing)
    _day_section(page, played, None)
    _ledger_section(page, played, closing)
    _origin_section(page, played)
    return page.render()


def demo_page(
    played: Played, served: Served, closing: Mapping[str, Any], step: Callable[[str], None]
) -> tuple[str, list[Callable[[Path], None]]]:
    """Write the report of `sunseal demo`, and return what draws its pictures into a folder."""
    record = played.record
    page = Page(
        "A harvested MSP430 signs, and every joule is accounted for",
        f"{record['scenario']} on {record['board']}: {record['simulated_s'] / 3600:.4g} simulated hours of the node's "
        f"real firmware, {record['cycles']:,} cycle-exact CPU cycles, seed {record['seed']}.",
    )
    page.cards = _cards(closing)
    day = _day_section(page, played, served)
    _server_section(page, closing)
    _ledger_section(page, played, closing)
    step("the flame graph of one signature")
    svg = _signature_section(page, played, served.node["suite"] or "ecdsa-p256-sha256")
    step("energy curves")
    curves = _curves_section(page, record["board"])
    step("published tables")
    _published_section(page)
    _origin_section(page, played)

    def draw(folder: Path) -> None:
        plots.day_file(day, folder / "day.png")
        plots.day_file(day, folder / "day.svg")
        measuring.write_atomic(folder / "flame.svg", svg)
        for title, points in curves.items():
            charts.curve(points, title).write(folder / f"curve-{boards.slug(title)}.svg")

    return page.render(), [draw]
