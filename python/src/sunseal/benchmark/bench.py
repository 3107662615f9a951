# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tracked figures: the simulator's own speed, of this machine at this moment, and what cryptography costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sunseal import _engine
from sunseal.benchmark import bench_loop, crypto_table
from sunseal.benchmark.timing import Row, cost, rate, row, timed, yardstick
from sunseal.catalog import boards, coprocessor
from sunseal.errors import unknown
from sunseal.loop import simulation
from sunseal.machine.machine import Machine
from sunseal.measurement import measuring, oracle

CORES = {
    "msp430": ("msp430f5438a-anagear", "msp430fr5994-launchpad", "telosb"),
    "avr": ("micaz",),
    "thumb": ("msp432p401r-launchpad", "nucleo-l476rg"),
}
"""The instruction sets, each with the boards whose chip has a loop of its own."""


def _engine_speed() -> list[Row]:
    """Run whole signatures on each machine with its energy books open, from the state behind its reset."""
    rows = [yardstick()]
    for core, named in CORES.items():
        for board in named:
            device = boards.load(board).device
            paths = str(boards.board_path(board)), str(boards.device_path(device))
            for name in ("ecdsa-p256-sign", "ecdsa-secp160r1-sign"):
                chosen = boards.variant((), board)
                fed = oracle.trial(boards.workload(name)).fed
                instructions, cycles = _engine.length(*paths, measuring.builtin(name, board, chosen).image, fed)
                machine = measuring.fed(name, board, chosen)
                kept = machine.snapshot()

                def run(machine: Machine = machine, kept: _engine.Snapshot = kept) -> None:
                    machine.restore(kept)
                    machine.run()

                timing = timed(run)
                on = ", ".join((board, *([boards.variant_text(chosen)] if chosen else [])))
                conditions = f"{name}, {on}, whole program from reset"
                rows += [
                    rate(f"engine.{core}.mips", timing, instructions / 1e6, "million instructions/s", conditions),
                    rate(f"engine.{core}.mcps", timing, cycles / 1e6, "million cycles/s", conditions),
                ]
    return rows


def _coprocessor_speed() -> list[Row]:
    """Encrypt 256 bytes beside each FPGA on each bus: the mote's clocks, and both's.

    The FPGA's are those that come to its flops: a clock that stands still is not stepped.
    """
    rows: list[Row] = []
    there, told = coprocessor.tool()
    for board in ("mica2-fpga-up5k", "mica2-fpga-spartan3e") if there else ():
        for bus in ("parallel", "spi"):
            m = measuring.fed("aes128-encrypt", board, {"aes": "fpga", "bus": bus})
            pin = str(boards.board(board)["trigger"]["pin"])
            m.run(pin=pin)
            begin, kept = coprocessor.price(board, m.engine.counts()), m.snapshot()

            def run(machine: Machine = m, kept: _engine.Snapshot = kept, pin: str = pin) -> None:
                machine.restore(kept)
                machine.run(pin=pin)

            before = m.cycles
            timing = timed(run)
            end, cycles = coprocessor.price(board, m.engine.counts()), m.cycles - before
            assert begin is not None
            assert end is not None
            clocks = end["clocks"] - begin["clocks"]
            conditions = f"aes128-encrypt, 256 bytes, {board}, {bus}, model by {told.split()[-1]}"
            name = f"engine.coprocessor.{board.rpartition('-')[2]}.{bus}"
            rows += [
                rate(f"{name}.mote_mcps", timing, cycles / 1e6, "million cycles/s", conditions),
                rate(f"{name}.both_mcps", timing, (cycles + clocks) / 1e6, "million cycles/s", conditions),
            ]
    return rows


def _loop_speed() -> list[Row]:
    """Play the demo's day without a gateway: nobody answers, so the node enrols in vain."""
    from sunseal.loop import served

    scenario = simulation.load(served.built_in())
    records: list[dict[str, Any]] = []
    timing = timed(lambda: records.append(simulation.play(scenario).record), rounds=3)
    record = records[-1]
    conditions = f"{served.built_in().name}, {record['cycles']:,} cycles, no gateway"
    return [
        yardstick(),
        rate("loop.day.x_real_time", timing, record["simulated_s"], "simulated s/s", conditions),
        *bench_loop.loop(),
    ]


SWEEP = {
    "security": {"bits": 80},
    "task": [{"workloads": ["*"], "every": "10min"}],
    "climate": {"shading": 0.01, "survive": 0.99},
    "battery": {"lifetime": "1year"},
}
"""Every workload on every board and variant, at every operating point, on every supply that the parts make."""


def _planner_speed() -> list[Row]:
    """Sweep everything that a plan may choose from, profiles and light from the cache."""
    from sunseal.planner import plan_requirements, sweep

    wanted = plan_requirements.read(SWEEP, "bench")
    sweep.field(wanted)  # fills the cache
    oracle.trial.cache_clear()
    fields: list[sweep.Field] = []
    began = time.perf_counter()
    timing = timed(lambda: fields.append(sweep.field(wanted)), rounds=1, warm=False, clock_ns=time.process_time_ns)
    wall_s = time.perf_counter() - began
    everything = fields[-1]
    conditions = f"{len(everything.table):,} loads, {len(everything.supplies)} supplies, from cached profiles"
    return [
        row("planner.sweep.configurations", everything.configurations, "configurations", conditions),
        cost("planner.sweep.cpu", timing, 1.0, "s", conditions),
        row("planner.sweep.wall", wall_s, "s", f"{conditions}, by the clock, one run"),
    ]


def _inject_speed() -> list[Row]:
    """Cut a P-256 signature in steps at every cycle by classes, and at few each alone, in CPU time."""
    from sunseal.secure import injecting

    board, name = "msp430fr5994-launchpad", "ecdsa-p256-sign-tasks"
    fed = oracle.trial(boards.workload(name)).fed

    def setup(machine: Machine) -> None:
        machine.write("bench_input", fed)
        machine.write("bench_input_len", len(fed).to_bytes(2, "little"))

    rows: list[Row] = []
    for way, every, brute in (("classes", 1, False), ("alone", 42_274, True)):
        began = time.process_time()
        done = injecting.inject(
            boards.firmware_path(board, boards.variant((), board), f"bench-{name}"),
            board,
            start="bench_ecdsa_p256_sign_tasks",
            golden=("bench_output", "bench_status"),
            setup=setup,
            every=every,
            brute=brute,
        )
        cpu_s = time.process_time() - began
        conditions = f"{name}, {board}, {done.cuts:,} cuts, {done.played:,} of them played, one run, CPU time"
        rows.append(row(f"inject.{way}.cpu", cpu_s, "s", conditions))
    return rows


PARTS: dict[str, Callable[[], list[Row]]] = {
    "engine": _engine_speed,
    "coprocessor": _coprocessor_speed,
    "loop": _loop_speed,
    "year": bench_loop.year,
    "fleet": bench_loop.fleet,
    "planner": _planner_speed,
    "inject": _inject_speed,
    "crypto": crypto_table.rows,
}


def run(part: str | None) -> list[Row]:
    """Measure one part, or all."""
    if part is not None and part not in PARTS:
        raise unknown("part", part, PARTS)
    return [figure for name, measure in PARTS.items() if part in (None, name) for figure in measure()]
