# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makers of small reports, one of each kind that the package writes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sunseal as tool
from sunseal.catalog import boards
from sunseal.loop import fleet as fleets
from sunseal.loop import simulation
from sunseal.loop.simulation import Played
from sunseal.machine.taint import Secret
from sunseal.measurement.costs import Cost
from sunseal.papers import coupon_rate, coupon_recovery, published
from sunseal.planner import breakeven
from sunseal.planner import size as sizing
from sunseal.report import (
    breakeven_page,
    coupon_pages,
    leakage_page,
    page,
    plots,
    published_page,
    trace_figures,
    verdict_pages,
)
from sunseal.report import planner_pages as pages
from sunseal.report import scenario as report
from sunseal.secure import attacking, leakage
from sunseal.secure.injecting import war_judged
from sunseal.trace.energy import Energy, Window
from sunseal.trace.model import Channel

BOARD = boards.DEFAULT_BOARD
DEMAND = sizing.Demand(1.2e-3, 0.3, 137e-6, 2e-3, 9e-6, 600.0)


def tuned() -> str:
    return pages.tuned(tool.tune(["sha1-hash", "sha256-hash"], board_names=[BOARD], latency_s=2e-3))


def nothing_tuned() -> str:
    return pages.tuned(tool.tune(["sha256-hash"], board_names=[BOARD], energy_j=1e-9, latency_s=1e-6))


def sized() -> str:
    light = [0.0, 86_400.0], [5e-5, 5e-5]
    return pages.sized(sizing.size(DEMAND, BOARD, store_f=0.1, v_max_v=5.0, cutoff_v=1.9, trace=light))


def lifetime() -> str:
    return pages.lifetime(tool.lifetime("sha256-hash", board="telosb", every_s=60, bits=320, cutoff_v=2.2))


def reproduced() -> str:
    ids = ("mane2014/figure-4.2", "piotrowski2006/table-8", "piotrowski2006/table-9", "suslowicz2017/table-1")
    return published_page.page([published.reproduce(i) for i in ids])


def fleet() -> str:
    scenario = simulation.load(boards.home() / "examples" / "scenarios" / "minutes.toml")
    tasks = (fleets.Task("sign", 600.0, 1.2e-3, 0.3, 2.4e-3),)
    profile = fleets.NodeProfile(9e-6, 0.0, 0.0, 60.0, tasks)
    nodes = [
        {"profile": 0, "trace": 0, "light_scale": 0.2 * i, "phase_s": 0.0, "capacitance_f": None} for i in range(1, 9)
    ]
    fleet = fleets.Fleet("street", scenario, 3, [profile], nodes, [([0.0, 86_400.0], [5e-5, 5e-5])])
    return pages.fleet(fleets.FleetRun(fleet, fleets.frame(fleet, fleets.play(fleet))))


def minutes(folder: Path) -> Played:
    """Play two minutes of a node, with what its functions take and a closer look."""
    scenarios = boards.home() / "examples" / "scenarios"
    text = (scenarios / "minutes.toml").read_text().replace("../../", f"{boards.home()}/").replace("= 600", "= 120")
    (folder / "minutes.toml").write_text(f"{text}\n[output]\nfunctions = true\nwindow = [60.0, 62.0]\n")
    return tool.simulate(folder / "minutes.toml")


def scenario(folder: Path) -> str:
    """Return the page of `simulate`."""
    played = minutes(folder)
    return report.scenario_page(played, played.closing())


MOTE = {
    "name": "mote",
    "security": {"bits": 80},
    "task": [{"workloads": ["hmac-sha256-tag"], "every": "1min", "latency": "1s"}],
    "battery": {"lifetime": "1year"},
    "allow": {"boards": ["telosb"], "batteries": ["own"]},
}


def planned() -> str:
    return pages.planned(tool.plan(MOTE))


def nothing_planned() -> str:
    return pages.planned(tool.plan({**MOTE, "battery": {"lifetime": "1000years"}}))


def rates() -> str:
    """Return the page of `coupon rate`, of points as they were found in September 2026 for the LaunchPad."""
    light_w = (366.5e-6, 1.466e-3, 2.932e-3, 5.498e-3)
    found = {
        "none": ((0.3519, 0.347), (1.413, 1.41), (2.821, 2.827), (3.536, 3.536)),
        "store": ((0.6216, 0.6271), (2.542, 2.534), (5.073, 5.07), (6.364, 6.349)),
        "endless": ((63.76, 68.25), (255.3, 277.3), (509.3, 556.0), (643.4, 649.9)),
    }
    points = tuple(
        coupon_rate.Point(w, w, kind, rate, formula, 100, 60.0, 3)  # type: ignore[arg-type]
        for kind, rows in found.items()
        for w, (rate, formula) in zip(light_w, rows, strict=True)
    )
    told = coupon_rate.Rates("msp430fr5994-launchpad", "given", 8_000_000, 2.8, 1e-3, 0.28, 5e-6, 1e-3, points)
    return coupon_pages.rates_page(told)


def recoveries() -> str:
    """Return the page of `coupon recovery`, of five stores of which two never answer without coupons."""
    first = coupon_recovery.First
    rows = tuple(
        coupon_recovery.Recovery(
            c,
            c / 400e-6,
            2.0 * c / 1e-3,
            first(2.1 * c / 1e-3, c, c / 3, 0),
            None if c < 4e-4 else first(9 * c / 1e-3, c, c, 1),
            1,
        )
        for c in (1e-4, 2e-4, 5e-4, 1e-3, 2e-3)
    )
    times = [0.1 * i for i in range(60)]
    courses = tuple(
        (name, times, [1.8 + k * t for t in times]) for name, k in (("coupons left", 0.2), ("no coupon left", 0.1))
    )
    told = coupon_recovery.Recoveries(
        "msp430fr5994-launchpad", "given", 8_000_000, 2.8, 3.7e-4, 0.1, 1e-3, rows, courses
    )
    return coupon_pages.recoveries_page(told)


def coupons_pay() -> str:
    """Return the page of `coupon breakeven`, of figures given."""
    cost = Cost
    costs = breakeven.Costs(
        kind="secp160r1",
        way="sign",
        board="telosb",
        freq_hz=8_000_000,
        vcc_v=3.0,
        power_set="given",
        whole=cost(2_000_000, 0.25, 8e-4),
        make=cost(2_200_000, 0.28, 9e-4),
        use=cost(12_000, 0.0015, 5e-6),
    )
    light = breakeven.switched(5e-3, 0.0, 86_400.0, 7200.0)
    asked = breakeven.Question(costs, breakeven.SUPPLY, light, sleep_w=2e-6, demand=1440.0, slots=400, days=5)

    def outcome(in_time: int) -> breakeven.Outcome:
        whole: dict[str, Any] = dict.fromkeys((f.name for f in dataclasses.fields(breakeven.Outcome)), 0)
        return breakeven.Outcome(**{**whole, "asked": 7200, "given": in_time, "in_time": in_time, "panel_j": 1.0})

    points = tuple(
        breakeven.Point(v, outcome(7200), outcome(min(7200, int(v**-0.5 * 90_000)))) for v in (40, 160, 1440, 9000)
    )
    edges = (
        breakeven.Edges("demand", "a day", 1440.0, (40.0, 9000.0), 160.0, None, True, points),
        breakeven.Edges("light", "W", 4e-4, (4e-5, 4e-3), 1e-4, 2e-3, True, points),
    )
    return breakeven_page.page(breakeven.BreakEven(asked, points[2], edges, ("given",)))


def leaked() -> str:
    """Return the page of `coupon leakage`, of an attack that finds all of a key but one byte."""

    def guessed(i: int) -> attacking.Guessed:
        curve = tuple((n, min(0.6, n / 500), 0.2) for n in (50, 100, 200, 300))
        return attacking.Guessed(f"byte {i}", i, i, 50 * (1 + i % 4) if i else None, 0.5, curve)

    t = 12 * np.sin(np.arange(5000) / 40.0) * np.exp(-np.arange(5000) / 2500.0)
    phases = tuple(
        leakage.Phase(
            name,
            title,
            (leakage.Test("key", 300, t * scale), leakage.Test("message", 300, t[::-1] * scale / 2)),
            attacking.Attack((tuple(guessed(i) for i in range(16)),), False, 300),
            "the key",
            True,
            {},
        )
        for name, title, scale in (("whole", "at message time, whole", 1.0), ("coupon", "from a coupon", 0.3))
    )
    asked = leakage.Asked(traces=300, noise=2.0, seed=1)
    return leakage_page.page(leakage.Leakage("ctr", "sign", "telosb", asked, phases))


def measured() -> str:
    """Return the page of `measure`."""
    return verdict_pages.measured(tool.measure("sha256-hash"))


def injected() -> str:
    """Return the page of `inject`, of cuts some of which are not survived."""
    places = ("commit+0x12 (sum.c:40)", "commit+0x14 (sum.c:41)", "main+0x2 (sum.c:7)")
    reason = "`total` is 7, not 8"
    failures = [tool.Failure(90 + i, reason, 0x4000 + i, place, "  4000 mov\n") for i, place in enumerate(places)]
    done = tool.Injection("out/sum.elf", "telosb", 5000, 5000, 120, {}, 3, failures, compared=["total"])
    return verdict_pages.injected(done)


def hazards() -> str:
    """Return the page of `war`, of two objects."""
    found = [
        tool.Hazard(0x1800 + i, 2, name, 0x4000, "add+0x2 (sum.c:3)", 0x4006, "add+0x8 (sum.c:4)", 40 - i, 30 - i)
        for i, name in enumerate(("total", "index"))
    ]
    return verdict_pages.hazards("sum.elf", "telosb", found, war_judged("sum.elf", found))


def constant_time() -> str:
    """Return the page of `constant-time`, of a lock that compares byte by byte."""
    leak = tool.Leak("branch", 0x4400, 12, "unlock+0x14", "lock.c:9", "jne 0x4410")
    covered = tool.Covered(1, [Secret("pin", 16, 12, 0)], ["main", "unlock"], 500, 300, [])
    return verdict_pages.constant_time(tool.ConstantTime([leak], covered, []), "lock.elf")


def swept() -> str:
    """Return the page of `sweep`, over two keys."""
    rows = [(c, p, 10.0 * c * p, c / p, "") for p in (1.0, 2.0) for c in (0.1, 0.2, 0.4)]
    frame = pd.DataFrame(rows, columns=["supply.capacitance_f", "period_s", "operations", "out_j", "error"])
    return verdict_pages.swept(frame, ["supply.capacitance_f", "period_s"], ["operations", "out_j"], "A sweep")


def recorded(path: Path) -> None:
    """Draw a recording with eight windows close to each other, and its idle power."""
    times = [1e-3 * i for i in range(200)]
    power = [5e-3 if i % 20 < 5 else 1e-4 for i in range(200)]
    seen = trace_figures.Envelope(1, times, power, power, power, end_s=0.2)
    windows = tuple(Window(20 * i, 5, 0.02 * i, 5e-3, 25e-6, 26e-6, 0.0, 5e-3) for i in range(8))
    energy = Energy(windows, Channel("current", "A"), (), 1e-4, True, 3.0, 1e-3, None, None, None)
    trace_figures.trace_file(seen, energy, "scope.csv", path)


FOLDED = {"main;sign;mul": 600.0, "main;sign;sha256_update": 300.0, "main;<weird> & name": 100.0}
POINTS = [
    {"freq_hz": f * 10**6, "vcc_v": v, "vcore": int(f > 8), "time_s": 1.0 / f, "energy_j": v / f}
    for v in (2.0, 2.7)
    for f in range(1, 13)
]
DAY = plots.Day(
    hour=[0, 6, 12, 24],
    storage_v=[2.0, 2.1, 3.5, 3.0],
    power_hour=[0, 6, 12, 24],
    panel_w=[0.0, 0.0, 0.08, 0.0],
    node_w=[6e-6, 0.0, 6e-6, 2e-4],
    events={"challenge answered": [12.0, 13.0], "refused": [], "brown-out": [3.0], "start": [6.0]},
    off=[(3.0, 6.0)],
    thresholds_v={"output off at": 1.9, "output on at": 2.6},
    uses_j={"cpu": 1.5, "lost in the charger": 0.5, "left in the store": 1.0},
)


def pictures() -> str:
    """Return a page with each kind of picture that pages have: a day, flows, a flame graph and curves."""
    told = page.Page("A title & more", "lead")
    told.cards = [("verified", "3")]
    told.section("The day", "What happened.", told.picture(plots.day_picture(DAY, 420)))
    told.section(
        "Ledger",
        "Joules.",
        told.picture(plots.ledger_picture({"panel": 2.0}, {"cpu": 1.5, "leakage": 0.5}, 300)),
        page.energy_table({"cpu": 1.5, "leakage": 0.5}, "all", 2.0),
    )
    told.section("Signature", "Cycles.", page.flame(FOLDED, "cycles", "flame"))
    told.section("Curves", "Energy.", report.curve_parts(told, {"one": POINTS, "two": POINTS}))
    return told.render()
