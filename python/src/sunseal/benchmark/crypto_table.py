# SPDX-License-Identifier: MIT OR Apache-2.0
"""What each cryptographic workload costs on each target, beside records and goals: docs/reference/crypto.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sunseal import _engine, abi, boards
from sunseal.errors import SunsealError
from sunseal.machine import Machine
from sunseal.measurement import measuring, oracle
from sunseal.units import show

PATH = "docs/reference/crypto.md"
TARGETS = ("msp430f5438a-anagear", "msp430fr5994-launchpad", "telosb", "micaz", "msp432p401r-launchpad")
"""A board of each device."""
HARNESS = ("bench_input", "bench_input_len", "bench_output", "bench_status")
PAINT = 0xA5

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Cost:
    """One workload on one board, in its fastest variant."""

    workload: boards.Workload
    measured: measuring.Measurement
    static_bytes: int
    """RAM, the bench's own buffers left out."""
    stack_bytes: int
    timing: str


def timing(work: boards.Workload, board: str) -> str:
    """Say what the headers promise of a workload on a board; the constant-time tests check it on the binaries."""
    if work.operation == "verify":
        return "_vartime, public"
    if work.algorithm == "trng" and ("xor" in (work.parameter or "") or work.own_clock):
        return "_vartime"
    tables = work.parameter in ("table", "sram_swaes") or (
        work.algorithm == "aes128" and work.parameter in ("sbox", "tbox")
    )
    if work.parameter == "table" and board == "msp432p401r-launchpad":
        return "_vartime"
    return "constant, tables" if tables else "constant"


def cost(work: boards.Workload, board: str) -> Cost:
    """Measure a workload at the board's own operating point; a wrong result is an error."""
    measured = measuring.measure(work.name, board=board)
    if not measured.result_valid:
        raise SunsealError(f"`{work.name}` gives a wrong result on {board}")
    program = measuring.builtin(work, board, boards.variant((), board))
    static_bytes = measured.ram_bytes - _engine.symbols_bytes(program.image, HARNESS)
    stack_bytes = measured.stack_bytes or _stack(work, board)
    return Cost(work, measured, static_bytes, stack_bytes, timing(work, board))


def _stack(work: boards.Workload, board: str) -> int:
    """Return the deepest stack from reset to the end: what of painted RAM the program overwrites.

    For the AVR, whose stack pointer is set in two halves, so that the engine's watch does not know where it began.
    """
    machine = Machine(board, boards.firmware_path(board, boards.variant((), board), f"bench-{work.program}"))
    fed = oracle.trial(work).fed
    machine.write("bench_input", fed)
    machine.write("bench_input_len", len(fed).to_bytes(2, "little"))
    machine.run(until="main")
    bottom, free = machine.address("_end"), abi.of(machine.device).stack(machine)
    machine.write(bottom, bytes([PAINT]) * (free - bottom))
    machine.run()
    used = np.flatnonzero(machine.memory(bottom, free - bottom) != PAINT)
    top = machine.address("__stack_top") + 1
    return top - (bottom + int(used[0]) if used.size else free)


def per_unit(row: dict[str, Any], name: str, board: str) -> int:
    """Return the cycles of one of the units by which two runs differ, or of the whole."""
    work = boards.workload(name)
    program = measuring.builtin(work, board, boards.variant((), board))
    fed = oracle.trial(work).fed

    def cycles(given: bytes) -> int:
        return measuring.count(program, board, given).cycles

    if "units" in row:
        short, long = (cycles(fed[: row["head"] + row[key]]) for key in ("short", "long"))
        return round((long - short) / int(row["units"]))
    return cycles(fed)


def costs(board: str, progress: Progress | None = None) -> Iterator[Cost]:
    """Measure every workload that a board has; coupons are on a page of their own, docs/reference/coupon.md."""
    for work in boards.WORKLOADS.values():
        if work.algorithm != "coupon" and boards.has_workload(board, work.name):
            if progress is not None:
                progress(f"{work.name} on {board}")
            yield cost(work, board)


def rows() -> list[dict[str, Any]]:
    """Return the figures as `sunseal bench --json` lists them."""
    return [
        {
            "name": f"crypto.{board}.{c.workload.name}.{name}",
            "value": value,
            "unit": unit,
            "conditions": f"{c.measured.variant or 'no variants'}, {c.measured.toolchain}, no wait states",
        }
        for board in TARGETS
        for c in costs(board)
        for name, value, unit in (
            ("cycles", c.measured.cycles, "cycles"),
            ("flash", c.measured.flash_bytes, "bytes"),
            ("ram", c.static_bytes + c.stack_bytes, "bytes"),
        )
    ]


def page(progress: Progress | None = None) -> str:
    """Write the page."""
    parts = [
        "# What the cryptography costs on each target\n\n"
        "Generated by `sunseal bench crypto` from runs on the simulated chips; `sunseal bench crypto --check` says\n"
        "whether it is current. Every output was checked against an independent implementation in the same run.\n"
        "Clocks are such that no memory has wait states; cycles do not depend on them then.\n\n" + _records(progress)
    ]
    parts += [_target(board, progress) for board in TARGETS]
    return "\n".join(parts)


def _records(progress: Progress | None) -> str:
    data: dict[str, Any] = boards.read_toml(boards.home() / "data" / "published" / "crypto-records.toml")
    lines = [
        "## Beside records and goals",
        "",
        "Goals and records: `data/published/crypto-records.toml`. Ratios: ours by theirs. A record's conditions are",
        "its authors'; hash, padding, blinding and checks are part of ours. A signature takes one count of cycles for",
        "all messages, keys and entropies. A block is what one more of them costs.",
        "",
        "| operation | target | ours | goal | ratio | record | ratio | whose |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    for row in data["row"]:
        for key, target in data["targets"].items():
            if key not in row:
                continue
            theirs = row[key]
            name = theirs.get("workload", row["workload"])
            if progress is not None:
                progress(f"{name} on {target['board']}")
            ours = per_unit(row, name, target["board"])
            cells = [row["operation"], target["title"], _number(ours)]
            for figure in ("goal", "record"):
                value = theirs.get(figure)
                cells += ["", ""] if value is None else [_number(value), f"{ours / value:.2f}"]
            lines.append(f"| {' | '.join([*cells, theirs.get('source', '')])} |")
    return "\n".join(lines) + "\n"


def _target(board: str, progress: Progress | None) -> str:
    measured = list(costs(board, progress))
    first = measured[0].measured
    device = boards.load(board).device
    assembler = "GNU as 2.40" if device.startswith("msp430") else "the compiler's assembler"
    about = (
        f"{board}{f', {first.variant}' if first.variant else ''}. {first.toolchain}, {assembler}. Time and energy at "
        f"{first.freq_hz / 1e6:g} MHz and {first.vcc_v:g} V by {first.power_set}."
    )
    lines = [
        f"## {device.upper()}",
        "",
        about,
        "",
        "Flash: the whole program. Static: RAM without the bench's buffers. Stack: the deepest, from reset on.",
        "",
        "| workload | cycles | time | energy | flash | static | stack | timing |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for c in measured:
        m = c.measured
        cells = (
            f"`{c.workload.name}`",
            _number(m.cycles),
            show(m.time_s, "s", 3),
            show(m.energy_j, "J", 3),
            _number(m.flash_bytes),
            _number(c.static_bytes),
            _number(c.stack_bytes),
            c.timing,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _number(value: int) -> str:
    return f"{value:,}"


def differing(written: str, current: str) -> list[str]:
    """Name the first rows that are not what was written."""
    old = set(written.splitlines())
    rows = (re.match(r"\| `?([^|`]+)`? \| ([^|]+) \|", line) for line in current.splitlines() if line not in old)
    return [f"{m.group(1)} on {m.group(2)}" for m in rows if m][:5] or ["its text"]
