# SPDX-License-Identifier: MIT OR Apache-2.0
"""The closed loop's and the fleet's own speed, in CPU time, and the page that holds them."""

from __future__ import annotations

import json
import os
import platform
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.benchmark import provenance
from sunseal.benchmark.timing import ROUNDS, Row, Timing, cost, rate, row, timed
from sunseal.catalog import boards

Light = tuple[list[float], list[float]] | None

PAGE = Path("docs/reference/loop.md")
DAY_S = 86_400.0
YEAR_DAYS = 365
BOARD = "msp430f5438a-anagear"

STORES: dict[str, dict[str, Any]] = {
    "supercapacitor": {},
    "supercapacitor with branches": {"capacitor": "supercap-0f47-branches"},
    "supercapacitor, BQ25504, direct": {"charger": "ti-bq25504", "output": "direct"},
    "tantalum": {"capacitor": "tantalum-330u", "overhead_j": 1e-5},
    "ceramic": {"capacitor": "ceramic-100u-x5r", "overhead_j": 1e-5},
    "thin-film cell and ceramic, LDO": {
        "cell": "cymbet-cbc050",
        "capacitor": "ceramic-100u-x5r",
        "output": "ti-tps7a02",
    },
    "Li-ion cell, LDO": {"cell": "li-ion-lir2450", "output": "ti-tps7a02"},
    "two AA cells, TPS61000": {"cell": "two-aa-energizer-e91", "output": "ti-tps61000", "below_v": 2.2},
    "CR2354, direct": {"cell": "panasonic-cr2354", "output": "direct"},
}
"""By name, as a scenario's `[supply]` says them."""

ASLEEP = (
    *(0x40B2, 0x5A80, 0x015C),  # mov #WDTPW|WDTHOLD, &WDTCTL
    *(0x40F2, 0x000E, 0x022A, 0x40F2, 0x0001, 0x0222, 0x40F2, 0x0001, 0x0224),  # P3: SPI pins; CSn high, an output
    *(0x40F2, 0x0001, 0x05E0, 0x40F2, 0x00A9, 0x05E1, 0x40F2, 0x0080, 0x05E0),  # USCI_B0: SPI master on SMCLK
    *(0x40F2, 0x0000, 0x0222, 0x403F, 0x0200, 0x831F, 0x23FE),  # CSn low, until the radio's crystal runs
    *(0x40F2, 0x0039, 0x05EE, 0x403F, 0x0040, 0x831F, 0x23FE),  # SPWD, until the byte is out
    *(0x40F2, 0x0001, 0x0222),  # CSn high: the radio sleeps
    *(0xD032, 0x00D0, 0x3FFF),  # bis #LPM3, SR; jmp $
)
BUSY = (0x40B2, 0x5A80, 0x015C, 0x5F0F, 0x3FFE)  # watchdog; add R15, R15; jmp back: 3 cycles for two instructions
BUSY_CYCLES_PER_INSTRUCTION = 1.5
CODE = 0x5C00


def image_of(words: tuple[int, ...]) -> bytes:
    """An ELF file for the MSP430: these words, and the reset vector that leads to them."""
    code = struct.pack(f"<{len(words)}H", *words)
    head = bytes.fromhex("7f454c46010101") + bytes(9)
    head += struct.pack("<HHIIIIIHHHHHH", 2, 105, 1, CODE, 52, 0, 0, 52, 32, 2, 40, 0, 0)
    first = 52 + 2 * 32
    for at, offset, size in ((CODE, first, len(code)), (0xFFFE, first + len(code), 2)):
        head += struct.pack("<8I", 1, offset, at, at, size, size, 5, 2)
    return head + code + struct.pack("<H", CODE)


def scenario_of(name: str, image: Path, duration_s: float, **more: Any) -> _engine.Scenario:
    """Make a scenario of some keys."""
    supply = more.pop("supply", {})
    told = {"name": name, "board": BOARD, "firmware": str(image), "duration_s": duration_s, "supply": supply, **more}
    return _engine.Scenario.from_json(json.dumps(told))


def played(
    scenario: _engine.Scenario, light: Light, rounds: int = ROUNDS, warm: bool = True
) -> tuple[dict[str, Any], Timing]:
    """Play a scenario in rounds: the last run's record, and the CPU time of a run."""
    data = str(boards.home() / "data")
    records: list[str] = []
    timing = timed(
        lambda: records.append(_engine.simulate(data, scenario, light, None, None, False, None)), rounds, warm
    )
    return json.loads(records[-1]), timing


def _by_store(folder: Path) -> Iterator[Row]:
    """A day off and a day asleep on every store."""
    image = folder / "asleep.elf"
    image.write_bytes(image_of(ASLEEP))
    for name, supply in STORES.items():
        for state in ("off", "asleep"):
            cell = "cell" in supply
            if state == "off" and cell:
                continue  # a cell does not stand below its restart voltage
            chosen = dict(supply)
            if state == "off":
                chosen["initial_v"] = 0.5
                # Light at the very end, so that the node can start at all.
                light: Light = ([0.0, DAY_S, DAY_S + 1.0], [0.0, 0.0, 1.0])
            else:
                light = None if cell else ([0.0, DAY_S], [0.05, 0.05])
            scenario = scenario_of(name, image, DAY_S, supply=chosen)
            record, timing = played(scenario, light)
            share = record["time_by_doing_s"].get("off" if state == "off" else "sleep", 0.0) / DAY_S
            conditions = f"{name}, one day, 2000 points, {share:.2%} of it {state}"
            yield rate(f"loop.{state}.x_real_time", timing, DAY_S, "simulated s/s", conditions)


def loop() -> list[Row]:
    """Measure the loop: computing, off, asleep."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        busy = folder / "busy.elf"
        busy.write_bytes(image_of(BUSY))
        scenario = scenario_of("busy", busy, 120.0, supply={"initial_v": 5.0})
        record, timing = played(scenario, ([0.0, 120.0], [0.05, 0.05]), rounds=5)
        work = record["cycles"] / BUSY_CYCLES_PER_INSTRUCTION / 1e6
        conditions = "add and jump for two minutes at the reset clock, supply and brown-out on"
        rows.append(rate("loop.active.mips", timing, work, "million instructions/s", conditions))
        rows += _by_store(folder)
    return rows


def year() -> list[Row]:
    """Play a year of a node that signs (secp160r1, MPY32, 16 MHz) every ten minutes, against the real server."""
    from sunseal.loop.services import Services

    image = boards.home() / "firmware" / "build" / BOARD / "mpy-32" / "node-secp160r1.elf"
    node = {"node_id": "53756e7365616c01", "mode": "periodic", "period_s": 600, "mclk_khz": 16000}
    duration_s = YEAR_DAYS * DAY_S
    light = ([0.0, duration_s], [1e-3, 1e-3])
    scenario = scenario_of("year", image, duration_s, supply={"initial_v": 3.0}, node=node)
    with tempfile.TemporaryDirectory() as folder, Services(Path(folder), 1) as served:
        served.call("POST", "/v1/nodes", {"node_id": node["node_id"], "name": "bench"}, time_us=0)
        record, timing = played(scenario.answered_by(served.gateway), light, rounds=1, warm=False)
    messages = record["messages"]
    reports = messages["sent"].get("REPORT", 0)
    conditions = (
        f"{YEAR_DAYS} days in one run, {record['cycles']:,} cycles, every instruction executed, {reports:,} signatures "
        f"sent, the server accepts {messages['verdicts'].get('0', 0):,} with the enrolment; of the engine alone"
    )
    return [cost("loop.year.s", timing, 1.0, "s", conditions)]


PROFILE = {
    "sleep_w": 2e-5,
    "start_j": 3e-3,
    "start_s": 0.5,
    "poll_s": 30.0,
    "tasks": [{"name": "sign", "period_s": 600.0, "energy_j": 2e-3, "time_s": 0.2, "gate_j": 4e-3}],
}
NODES = 16


def fleet() -> list[Row]:
    """Measure nodes from a profile: one after the other, and what a node costs where two threads play at once."""
    hours = [h * 3600.0 for h in range(24 * YEAR_DAYS + 1)]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        image = Path(name) / "asleep.elf"
        image.write_bytes(image_of(ASLEEP))
        for store in ("supercapacitor", "supercapacitor with branches", "Li-ion cell, LDO"):
            scenario = scenario_of("fleet", image, 1.0, supply=STORES[store])
            for kind, peak_w in (("plenty", 5e-3), ("scarcity", 2e-4), ("brown-outs", 6e-5)):
                trace = (hours, [max(0.0, peak_w * _sine((h % 24 - 6) / 12)) for h in range(len(hours))])
                rows += _nodes(scenario, trace, f"{store}, {kind}")
    return rows


def _nodes(scenario: _engine.Scenario, trace: tuple[list[float], list[float]], kind: str) -> list[Row]:
    """Play a year of each node in one light."""
    node = {"profile": 0, "trace": 0, "light_scale": 1.0, "phase_s": 60.0, "capacitance_f": None}
    members = [{**node, "phase_s": 60.0 + i} for i in range(NODES)]
    plan = json.dumps({"duration_s": YEAR_DAYS * DAY_S, "profiles": [PROFILE], "nodes": members})
    data = str(boards.home() / "data")
    told: list[str] = []

    def play() -> None:
        told.append(_engine.fleet(data, scenario, plan, [trace], None))

    alone = timed(play, rounds=5)
    two = timed(lambda: _threads(play), rounds=5, clock_ns=time.process_time_ns)
    fates = json.loads(told[-1])
    done = sum(f["tasks"][0]["done"] for f in fates) / sum(f["tasks"][0]["due"] for f in fates)
    conditions = f"{kind}, {NODES} years, hourly light, {done:.0%} of the tasks done"
    return [
        cost("fleet.node_year.ms", alone, 1e3 / NODES, "ms", conditions),
        rate("fleet.node_days", alone, NODES * YEAR_DAYS * 60.0, "node-days/min", f"{conditions}, one core"),
        row(
            "fleet.threads.cost",
            two.steps / (2 * alone.steps),
            "of one thread's",
            f"{conditions}, CPU time of a node where two threads play at once",
        ),
    ]


def _sine(half_turns: float) -> float:
    from math import pi, sin

    return sin(half_turns * pi)


def _threads(play: Callable[[], None]) -> None:
    threads = [threading.Thread(target=play) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


GOALS = """\
| what | at least | best elsewhere |
|---|---|---|
| closed loop, node computing | 100 M instructions/s with power, storage and brown-out on | 0.43 M (Fused) |
| closed loop, node off or asleep | 100,000 x real time | 1.3 x (Fused), 7 to 30 x (Simba, no firmware) |
| one year of a node that signs (secp160r1, MPY32) every ten minutes, every instruction executed | under 300 s | none |
| the same year from profiles | under 1 s | none |
| fleet from profiles | 1,000,000 node-days a minute on two cores | none |
| sweep of V x f x multiplier x capacitor x panel | 10,000 a minute from profiles | 7.7 days (EStacker, hardware) |
"""


def page(rows: list[Row]) -> str:
    """Write the page: goals, other people's figures, ours."""
    keys = (("ratio", ",.4g"), ("spread", ".0%"), ("value", ",.4g"), ("unit", ""), ("conditions", ""))
    cells = [[f"`{r['name']}`", *(format(r[key], form) if key in r else "" for key, form in keys)] for r in rows]
    table = "".join(f"| {' | '.join(row)} |\n" for row in cells)
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return f"""# Speed of the closed loop

Generated by `sunseal bench loop --page`; do not edit. No test looks at these figures: they are those of one machine on
one day. `sunseal bench --check` says whether the engine has changed since.

## What it must do

{GOALS}
The figures of others are speeds that were measured on a machine of this kind when these goals were set, not printed by
their authors. What Fused's authors print is how near it comes to hardware, and it is the design point beside which the
loop is built: execution time within 0.2 % and power within 3.4 % of a commercial microcontroller (geometric means over
their workloads), and the time to complete a workload through up to 70 power cycles within 7 % (Sliper et al.: Fused:
closed-loop performance and energy simulation of embedded systems. ISPASS 2020, abstract, eprints.soton.ac.uk/439059).

## What it does

`sunseal bench planner` measures the sweep.

{provenance.line(boards.home())} on {platform.machine()}, {cores} logical cores, Linux
{platform.release()}, load {load:.2f}. All are CPU time, warm, in turns with the yardstick: a fixed loop in the engine,
`yardstick.mips` in the table. The ratio is a speed by the yardstick's, or a time multiplied by it: other work and
another processor leave it alone, which they do not the value. The spread is the share by which the median of the
rounds lies above the fastest run.

| figure | ratio | spread | value | unit | conditions |
|---|---|---|---|---|---|
{table}"""
