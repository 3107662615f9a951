# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to `plan`, `tune`, `size`, `lifetime`, `fleet` and `sweep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Any

from sunseal.catalog import boards, units
from sunseal.requests import points
from sunseal.requests.asking import (
    BOARD,
    DASK,
    DBM,
    FREQ,
    POWER,
    SEED,
    SLEEP,
    TEMPERATURE,
    VARIANT,
    VCC,
    VOLTAGES,
    WORKLOAD,
    Option,
    Quantity,
    asked,
    request,
)

SHADING = Option("--shading", "Share of the sun that reaches the panel.", float)
RADIO = Option("--radio", "A radio of data/parts on the board's pins.", otherwise="the board's")
SENSOR = Option("--sensor", "A sensor of data/parts, read with each operation. Repeatable.", list[str])


@request
class Plan:
    """Request to `plan`, and so to `sunseal plan`."""

    requirements: str | Path | Mapping[str, Any] = asked(
        "", "Requirements: the node's task, its light and its limits.", Path, metavar="REQUIREMENTS.toml", called="path"
    )
    _: KW_ONLY
    best: int = asked("--best", "Number of configurations to offer.", int, min=1, default=5)
    temperature_c: float | None = asked(TEMPERATURE, default=None)
    check: bool = True


@request
class Fleet:
    """Request to `run_fleet`, and so to `sunseal fleet`."""

    path: str | Path = asked("", "Scenario, climate, and how the nodes differ.", Path, metavar="FLEET.toml")
    folder: str | Path | None = None
    _: KW_ONLY
    jobs: int | None = asked("--jobs", "Threads.", int, min=1, default=None, otherwise="one a core")
    dask: str | None = asked(DASK, default=None)
    seed: int | None = asked(SEED, default=None)
    temperature_c: float | None = asked(TEMPERATURE, default=None)
    heard: Callable[[int, int], None] | None = None


@request
class Sweep:
    """Request to `sweep`: what is run, and at which points."""

    scenario_or_plan: str | Path | Mapping[str, Any] = asked(
        "", "A scenario, or requirements of a plan.", Path, metavar="FILE.toml", called="file"
    )
    over: Mapping[str, Any] = asked(
        "--over",
        "A key path and its values: a,b,c, START:STOP:N, START:STOP:N:log; for a sampler START:STOP. Repeatable.",
        list[str],
        read=lambda given, _: points.typed(given),
        metavar="KEY=VALUES",
    )
    _: KW_ONLY
    out: str | Path | None = asked(
        "--out", "Write a .parquet or .csv; again goes on with it.", Path, called="table", default=None
    )
    sampler: str | points.Sampler = asked("--sampler", f"{', '.join(points.SAMPLERS)}.", default="grid")
    samples: int | None = asked("--samples", "Points of a sampler.", int, min=1, default=None)
    seed: int = asked("--seed", "Seed of a sampler: same seed, same points.", int, min=0, default=1)
    minimise: str | None = asked(
        "--minimise", "Search for its least, by --sampler optuna.", metavar="FIGURE", default=None
    )
    maximise: str | None = asked(
        "--maximise", "Search for its greatest, by --sampler optuna.", metavar="FIGURE", default=None
    )
    jobs: int | None = asked(
        "--jobs", "Threads, of a plan processes.", int, min=1, default=None, otherwise="one a core, of a plan one"
    )
    dask: str | None = asked(DASK, default=None)
    heard: Callable[[int, int], None] | None = None


@request
class Tune:
    """Request to `tune`, and so to `sunseal tune`."""

    workloads: Iterable[str] | None = asked(
        "",
        "Workloads to choose from.",
        list[str],
        metavar="[WORKLOAD]...",
        called="workload",
        offers="workloads",
        default=None,
        otherwise="by --operation",
    )
    _: KW_ONLY
    operation: str = asked("--operation", "Kind of operation: sign, verify, agree, encrypt, ...", default="sign")
    board_names: Iterable[str] | None = asked(
        "--board", "Only these boards. Repeatable.", list[str], offers="boards", default=None
    )
    energy_j: float | None = asked(
        "--energy", "Most energy of one operation, such as 2mJ.", read=Quantity("J"), default=None
    )
    latency_s: float | None = asked(
        "--latency", "Longest time of one operation, such as 250ms.", read=units.unit_time_s, default=None
    )
    power_w: float | None = asked("--power-most", "Highest power, such as 10mW.", read=Quantity("W"), default=None)
    security_bits: int | None = asked("--security", "Least security, in bits.", int, min=1, default=None)
    flash_bytes: float | None = asked("--flash", "Most flash or FRAM, such as 32kB.", read=Quantity("B"), default=None)
    ram_bytes: float | None = asked("--ram", "Most RAM and stack, such as 4kB.", read=Quantity("B"), default=None)
    voltages_v: Sequence[float] = asked(VOLTAGES, default=())
    best: str | None = asked("--best", "Figure to rank by: energy, latency, power, security, flash, ram.", default=None)
    every_s: float | None = asked(
        "--every",
        "Time from one operation to the next, such as 10s: a coprocessor may wait.",
        read=units.time_s,
        default=None,
    )
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    progress: Callable[[int, int, str], None] | None = None


@request
class Work:
    """An operation at one operating point, again and again."""

    workload: str = asked(WORKLOAD, default="ecdsa-p256-sign")
    _: KW_ONLY
    every_s: float = asked(
        "--every", "Time from one operation to the next, such as 10min.", read=units.time_s, typed="600s", default=600.0
    )
    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    variant: Sequence[str] = asked(VARIANT, default=())
    freq_hz: int | None = asked(FREQ, default=None)
    vcc_v: float | None = asked(VCC, default=None)
    power: str = asked(POWER, default=boards.DEFAULT_POWER)


@request
class Size(Work):
    """Request to `size`, and so to `sunseal size`."""

    _: KW_ONLY
    radio_j: float | None = asked(
        "--message",
        "Energy of the message instead, such as 137uJ (Mane, table 4.3).",
        read=Quantity("J", True),
        default=None,
    )
    radio: str | None = asked(RADIO, default=None)
    sensors: Sequence[str] = asked(SENSOR, default=())
    sends_bytes: int = asked("--sends", "Bytes sent beside the signature.", int, min=0, default=16)
    dbm: int | None = asked(DBM, default=None)
    sleep_w: float | None = asked(SLEEP, default=None)
    capacitance_f: float | None = asked(
        "--capacitance", "The store, such as 470mF.", read=Quantity("F"), default=None, otherwise="the board's"
    )
    supply: str | None = asked(
        "--supply", "Board whose harvester, store and panel are taken.", default=None, otherwise="its own"
    )
    margin: float = asked("--margin", "Safety factor of equation 6.1.", float, default=2.0)
    overhead_j: float = asked(
        "--overhead",
        "The harvester's overhead in equation 6.1.",
        read=Quantity("J", True),
        typed="125mJ",
        default=0.125,
    )
    shading: float = asked(SHADING, default=1.0)
    year: bool = asked("--year/--no-year", "Play a typical year as well.", bool, default=True)
    temperature_c: float | None = asked(TEMPERATURE, default=None)


@request
class Life(Work):
    """Request to `lifetime`, and so to `sunseal lifetime`."""

    workload: str = asked(WORKLOAD, default="ecdsa-secp160r1-sign")
    _: KW_ONLY
    every_s: float = asked(
        "--every", "Time from one operation to the next.", read=units.time_s, default=0.0, otherwise="without pause"
    )
    board: str = asked(BOARD, default="mica2dot")
    battery: str | None = asked("--battery", "A cell of data/parts.", default=None, otherwise="the board's")
    cutoff_v: float = asked(
        "--cutoff", "Supply voltage below which the node stops.", read=units.voltage_v, typed="2.8V", default=2.8
    )
    sleep_w: float | None = asked(SLEEP, default=None)
    bits: int = asked("--bits", "Bits sent with each operation, in packets.", int, min=0, default=0)
    receives: int = asked("--receives", "Bits received with each operation.", int, min=0, default=0)
    radio: str | None = asked(RADIO, default=None)
    sensors: Sequence[str] = asked(SENSOR, default=())
    hops: int = asked("--hops", "Messages of other nodes passed on with each of its own.", int, min=0, default=0)
    dbm: int | None = asked(DBM, default=None)
    accelerator_j: float | None = asked(
        "--accelerator", "Energy of the operation in hardware instead, such as 30uJ.", read=Quantity("J"), default=None
    )
    converter: str | None = asked(
        "--converter", "Converter behind the cells: ti-tps61000 is switched on below the cut-off.", default=None
    )
    temperature_c: float | None = asked(TEMPERATURE, default=None)
