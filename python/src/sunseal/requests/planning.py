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
    asked,
    quantity,
    request,
)

SHADING = Option("--shading", "Share of the sun that reaches the panel.", float)
RADIO = Option("--radio", "A radio of data/parts on the board's pins; else the board's.")
SENSOR = Option("--sensor", "A sensor of data/parts, read with each operation. Repeatable.", list[str])


@request
class Plan:
    """Request to `plan`, and so to `sunseal plan`."""

    requirements: str | Path | Mapping[str, Any] = asked(
        "", "What the node shall do, and under what.", Path, metavar="REQUIREMENTS.toml", called="path"
    )
    _: KW_ONLY
    best: int = asked("--best", "How many configurations to offer.", int, min=1, default=5)
    temperature_c: float | None = asked(TEMPERATURE, default=None)
    check: bool = True


@request
class Fleet:
    """Request to `run_fleet`, and so to `sunseal fleet`."""

    path: str | Path = asked("", "Scenario, climate, and how the nodes differ.", Path, metavar="FLEET.toml")
    folder: str | Path | None = None
    _: KW_ONLY
    jobs: int | None = asked("--jobs", "Threads; else one a core.", int, min=1, default=None)
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
    seed: int = asked("--seed", "Of a sampler: same seed, same points.", int, min=0, default=1)
    minimise: str | None = asked(
        "--minimise", "Search for its least, by --sampler optuna.", metavar="FIGURE", default=None
    )
    maximise: str | None = asked(
        "--maximise", "Search for its greatest, by --sampler optuna.", metavar="FIGURE", default=None
    )
    jobs: int | None = asked(
        "--jobs", "Threads, of a plan processes; else one a core, of a plan one.", int, min=1, default=None
    )
    dask: str | None = asked(DASK, default=None)
    heard: Callable[[int, int], None] | None = None


@request
class Tune:
    """Request to `tune`, and so to `sunseal tune`."""

    workloads: Iterable[str] | None = asked(
        "",
        "Workloads to choose from; else by --operation.",
        list[str],
        metavar="[WORKLOAD]...",
        called="workload",
        offers="workloads",
        default=None,
    )
    _: KW_ONLY
    operation: str = asked("--operation", "What is done: sign, verify, agree, encrypt, ...", default="sign")
    board_names: Iterable[str] | None = asked(
        "--board", "Only these boards. Repeatable.", list[str], offers="boards", default=None
    )
    energy_j: float | None = asked("--energy", "At most this energy, such as 2mJ.", read=quantity("J"), default=None)
    latency_s: float | None = asked(
        "--latency", "At most this time, such as 250ms.", read=units.unit_time_s, default=None
    )
    power_w: float | None = asked("--power-most", "At most this power, such as 10mW.", read=quantity("W"), default=None)
    security_bits: int | None = asked("--security", "At least this many bits.", int, min=1, default=None)
    flash_bytes: float | None = asked(
        "--flash", "At most this much flash or FRAM, such as 32kB.", read=quantity("B"), default=None
    )
    ram_bytes: float | None = asked(
        "--ram", "At most this much RAM and stack, such as 4kB.", read=quantity("B"), default=None
    )
    voltages_v: Sequence[float] = asked(VOLTAGES, default=())
    best: str | None = asked("--best", "What to ask for: energy, latency, power, security, flash, ram.", default=None)
    every_s: float | None = asked(
        "--every",
        "From one operation to the next, such as 10s: a coprocessor may wait.",
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
        "--every", "From one operation to the next, such as 10min.", read=units.time_s, typed="600s", default=600.0
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
        read=quantity("J", True),
        default=None,
    )
    radio: str | None = asked(RADIO, default=None)
    sensors: Sequence[str] = asked(SENSOR, default=())
    sends_bytes: int = asked("--sends", "Bytes sent beside the signature.", int, min=0, default=16)
    dbm: int | None = asked(DBM, default=None)
    sleep_w: float | None = asked(SLEEP, default=None)
    capacitance_f: float | None = asked(
        "--capacitance", "The store, such as 470mF; else the board's.", read=quantity("F"), default=None
    )
    supply: str | None = asked(
        "--supply", "Board whose harvester, store and panel are taken; else its own.", default=None
    )
    margin: float = asked("--margin", "Safety factor of equation 6.1.", float, default=2.0)
    overhead_j: float = asked(
        "--overhead",
        "The harvester's overhead in equation 6.1.",
        read=quantity("J", True),
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
        "--every", "From one operation to the next; else without pause.", read=units.time_s, default=0.0
    )
    board: str = asked(BOARD, default="mica2dot")
    battery: str | None = asked("--battery", "A cell of data/parts; else the board's.", default=None)
    cutoff_v: float = asked("--cutoff", "Where the node stops.", read=units.voltage_v, typed="2.8V", default=2.8)
    sleep_w: float | None = asked(SLEEP, default=None)
    bits: int = asked("--bits", "Bits sent with each operation, in packets.", int, min=0, default=0)
    receives: int = asked("--receives", "Bits received with each operation.", int, min=0, default=0)
    radio: str | None = asked(RADIO, default=None)
    sensors: Sequence[str] = asked(SENSOR, default=())
    hops: int = asked("--hops", "Messages of other nodes passed on with each of its own.", int, min=0, default=0)
    dbm: int | None = asked(DBM, default=None)
    accelerator_j: float | None = asked(
        "--accelerator", "Energy of the operation in hardware instead, such as 30uJ.", read=quantity("J"), default=None
    )
    converter: str | None = asked(
        "--converter", "Behind the cells: ti-tps61000 is switched on below the cut-off.", default=None
    )
    temperature_c: float | None = asked(TEMPERATURE, default=None)
