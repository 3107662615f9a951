# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to commands and to their functions of the API.

Light to import, as `--help` needs no more than this: what a request is about is imported where it is read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sunseal import boards, units
from sunseal.asking import (
    ADC,
    ALLOW,
    BOARD,
    DASK,
    DBM,
    FREQ,
    GOLDEN,
    HOLD,
    IMAGE,
    NOISE,
    OFF,
    POWER,
    SEED,
    SLEEP,
    TEMPERATURE,
    UNTIL,
    VARIANT,
    VCC,
    VOLTAGES,
    WORKLOAD,
    Fields,
    Option,
    asked,
    quantity,
    recordings_at,
    request,
)
from sunseal.errors import SunsealError
from sunseal.sweeps import sampling

if TYPE_CHECKING:
    from sunseal.machine import Machine, Place
    from sunseal.measurement.cutting import Call, Invariant, Points
    from sunseal.measurement.leakage import Heard
    from sunseal.measurement.measuring import Progress, Timing
    from sunseal.planner import operations

COUPON_BOARD = "msp430fr5994-launchpad"
SHADING = Option("--shading", "Share of the sun that reaches the panel.", float)
RADIO = Option("--radio", "A radio of data/parts on the board's pins; else the board's.")
SENSOR = Option("--sensor", "A sensor of data/parts, read with each operation. Repeatable.", list[str])
END = Option("--to", "Symbol where it ends; else the program's halt, or where it stays for good.", called="end")


def _timing(switches: list[str], _: str) -> Timing:
    pairs = [switch.partition("=") for switch in switches]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise SunsealError(
                f"--timing `{name}{equals}{value}` is not NAME=VALUE, such as `pc_write_one_less=true`",
                hint="docs/accuracy.md lists the switches of each core",
            )
    return {name: value for name, _, value in pairs}


@request
class Operation:
    """A workload of a board's firmware, or a stretch of a program of one's own: what `profile` is asked."""

    workload: str | None = asked(
        "",
        "A workload of `sunseal workloads`, or a program of yours.",
        metavar="[WORKLOAD|FILE.elf]",
        offers="workloads",
        default=None,
    )
    _: KW_ONLY
    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    variant: Sequence[str] = asked(VARIANT, default=())
    elf: Path | None = asked("--elf", "Your own program instead of a workload.", Path, default=None)
    window: tuple[str, str] | None = asked(
        {
            "start": Option("--from", "Symbol where the measurement begins.", called="start"),
            "end": Option("--to", "Symbol where it ends.", called="end"),
            "marks": Option(
                "--marks", "Measure from the rise to the fall of the board's trigger pin.", bool, typed=False
            ),
        },
        default=None,
    )
    timing: Timing | None = asked(
        "--timing",
        "A disputed row of the core's timing (docs/accuracy.md), against the default. Repeatable.",
        list[str],
        read=_timing,
        metavar="NAME=VALUE",
        default=None,
    )
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)
    allow: Sequence[str] = asked(ALLOW, default=())
    progress: Progress | None = None


@request
class Point:
    """The operating point, and whose coefficients weigh there."""

    freq_hz: int | None = asked(FREQ, default=None, kw_only=True)
    vcc_v: float | None = asked(VCC, default=None, kw_only=True)
    power: str = asked(POWER, default=boards.DEFAULT_POWER, kw_only=True)


@request
class Measure(Point, Operation):
    """Request to `measure`, and so to `sunseal measure`."""

    unit: bool = asked(
        "--unit",
        "Also say what the measurement unit of Mane 2014 would have read.",
        bool,
        default=False,
        kw_only=True,
    )


@request
class Curve(Operation):
    """Request to `curve`, and so to `sunseal curve`."""

    power: str = asked(POWER, default=boards.DEFAULT_POWER, kw_only=True)
    voltages_v: Sequence[float] = asked(VOLTAGES, default=(), kw_only=True)


@request
class ConstantTime:
    """Bytes that are secret, and the runs in which they are followed."""

    elf: Path | bytes | Machine = asked(
        "",
        "Your program, or a workload with its operands in `bench_input`; with --matrix, a source in one file.",
        Path,
        metavar="FILE.elf|WORKLOAD|FILE.c",
    )
    secret: Sequence[str] = asked(
        "--secret",
        "Symbol with secret bytes. Repeatable. In a C file for --matrix a comment line `sunseal constant-time: "
        "--secret key --public tag` says the same.",
        list[str],
        default=(),
    )
    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    _: KW_ONLY
    public: Sequence[str] = asked(
        "--public", "Symbol that is no secret once written, such as a signature. Repeatable.", list[str], default=()
    )
    start: str | None = asked(
        "--from",
        "Symbol from which the bytes are secret; else `main`, or the reset where there is none.",
        default=None,
    )
    until: str | None = asked(UNTIL, default=None)
    time_s: float | None = asked(
        "--for",
        "Simulated time to run, such as 20ms; a matrix: else 10s.",
        read=units.time_s,
        called="time",
        default=None,
    )
    inputs: Sequence[Path] = asked(
        "--input",
        "A file of public inputs, TOML: a line `symbol = VALUE` each, VALUE an integer (little-endian, as wide as the "
        'symbol), hexadecimal bytes ("00 ff") or a file with the bytes ("@block.bin", beside the TOML file). They are '
        "written where the marks are set. Repeatable: one run each, joined to one verdict.",
        list[Path],
        metavar="FILE",
        called="inputs",
        default=(),
    )
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)


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
        read=lambda given, _: sampling.typed(given),
        metavar="KEY=VALUES",
    )
    _: KW_ONLY
    out: str | Path | None = asked(
        "--out", "Write a .parquet or .csv; again goes on with it.", Path, called="table", default=None
    )
    sampler: str | sampling.Sampler = asked("--sampler", f"{', '.join(sampling.SAMPLERS)}.", default="grid")
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
    progress: operations.Progress | None = None


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


def _checks(path: Path) -> Fields:
    from sunseal.measurement.injecting import checks

    return Fields(vars(checks(path)))


def _points(text: str, option: str) -> Points:
    if text in ("cycles", "writes"):
        return cast("Points", text)
    wanted: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            raise SunsealError(
                f"{option} `{text}` is neither `cycles` nor `writes` nor numbers of cycles such as `12,40-60`"
            ) from None
        wanted.extend(range(first, last + 1))
    return wanted


def _losses(text: str, option: str) -> Fields:
    try:
        return Fields(losses=None if text == "any" else int(text))
    except ValueError:
        raise SunsealError(f"{option} `{text}` is neither a number nor `any`") from None


@request
class War:
    """Request to `war`: which program, from where to where."""

    elf: str | os.PathLike[str] | bytes = asked(IMAGE)
    board: str = asked(BOARD)
    _: KW_ONLY
    start: Place = asked("--from", "Symbol where the run is looked at first.", default="main")
    end: Place | None = asked(END, default=None)
    commits: Sequence[Place] = asked(
        "--commit", "Symbol at which progress is kept: a new region begins. Repeatable.", list[str], default=()
    )
    ignore: Sequence[Place | tuple[int, int]] = asked(
        "--ignore", "Object that keeps itself consistent. Repeatable.", list[str], default=()
    )
    setup: Invariant | None = asked(
        "--check", "Python file with setup(machine).", Path, read=lambda path, _: _checks(path)["setup"], default=None
    )
    limit_cycles: int = 1_000_000_000
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)


@request
class Inject:
    """Request to `inject`, and so to `sunseal inject`."""

    elf: str | os.PathLike[str] | bytes = asked(IMAGE)
    board: str = asked(BOARD)
    _: KW_ONLY
    start: Place = asked("--from", "Symbol where the stretch to cut begins.", default="main")
    end: Place | None = asked(END, default=None)
    call: Call | None = None
    points: Points = asked(
        "--at",
        "cycles, writes (to non-volatile memory), or cycles of the stretch: 12,40-60.",
        read=_points,
        typed="cycles",
        default="cycles",
    )
    every: int = asked("--every", "Only each n-th of these points.", int, min=1, default=1)
    setup: Invariant | None = None
    until: Place | None = asked(
        "--until", "Symbol that the program must reach after the reboot; else --to.", default=None
    )
    golden: Sequence[str] = asked(GOLDEN, default=())
    expect: Mapping[str, bytes] | None = None
    assertions: Sequence[Place] | None = asked(
        "--assert",
        "Symbol that must never be reached; else sunseal_assert_failed. Repeatable.",
        list[str],
        called="assertion",
        default=None,
    )
    invariants: Sequence[Invariant] = asked(
        "--check",
        "Python file: check_*(machine) must hold; setup(machine), call(machine).",
        Path,
        read=lambda path, _: _checks(path),
        default=(),
    )
    again: Sequence[int] = asked(
        "--again",
        "Cycles behind the reboot after which the power goes again. Repeatable.",
        list[int],
        min=0,
        default=(),
    )
    losses: int | None = asked(
        "--losses", "So many losses in a row, or any: recoveries are cut too.", read=_losses, typed="1", default=1
    )
    held: Sequence[str] = asked(HOLD, default=())
    off_s: float = asked(OFF, default=1.0)
    limit_cycles: int | None = asked(
        "--limit", "CPU cycles allowed up to --to and after the reboot.", int, min=1, default=None
    )
    seed: int = asked(NOISE, default=1)
    stop_at_first: bool = asked("--first", "Stop at the first failure.", bool, default=False)
    brute: bool = asked(
        "--brute", "Play each cut, not one of each class that has the same run behind it.", bool, default=False
    )
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)
    progress: Callable[[int, int], None] | None = None


def _volts(text: str, option: str) -> Fields:
    try:
        on_v, off_v = (float(v.strip().removesuffix("V")) for v in text.split("-"))
    except ValueError:
        raise SunsealError(f"{option} `{text}` are not two voltages such as `3.0-1.8`") from None
    return Fields(voltage_on_v=on_v, voltage_off_v=off_v)


def _uncalled(path: Path, _: str) -> Fields:
    found = _checks(path)
    if found.pop("call") is not None:
        raise SunsealError(f"`{path}` calls a function, but lives begin at power-up: leave `call` out")
    return found


@request
class LeastCapacitor:
    """Request to `least_capacitor`, beside those of `inject`."""

    elf: str | os.PathLike[str] | bytes = asked(IMAGE)
    board: str = asked(BOARD)
    _: KW_ONLY
    voltage_on_v: float | None = asked(
        "--volts",
        "Of the capacitor where a life begins and where it ends, such as 3.0-1.8; else the board's supply and the "
        "chip's least.",
        read=_volts,
        default=None,
    )
    voltage_off_v: float | None = None
    end: Place | None = asked(
        "--to",
        "Symbol that the program must reach; else its halt, or where it stays for good.",
        called="end",
        default=None,
    )
    golden: Sequence[str] = asked(GOLDEN, default=())
    invariants: Sequence[Invariant] = asked(
        "--check", "Python file: check_*(machine) must hold; setup(machine).", Path, read=_uncalled, default=()
    )
    setup: Invariant | None = None
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    held: Sequence[str] = asked(HOLD, default=())
    off_s: float = asked(OFF, default=1.0)
    limit_cycles: int | None = asked("--limit", "CPU cycles allowed up to --to.", int, min=1, default=None)
    seed: int = asked(NOISE, default=1)
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)
    progress: Callable[[int, int], None] | None = None


@request
class Analyze:
    """Request to `analyze`: a recording, and how it was made."""

    elf: Path | Machine = asked(IMAGE)
    function: str = asked("--function", "The operation: followed from its entry to its return.")
    runtime_input: Sequence[str] = asked(
        "--runtime-input",
        "Bytes that are there at run time only: symbol, symbol+offset:bytes or 0xADDRESS:bytes. Repeatable.",
        list[str],
        metavar="BUF[:LEN]",
    )
    _: KW_ONLY
    output: Sequence[str] = asked(
        "--output", "What the operation leaves as its result. Repeatable.", list[str], metavar="BUF[:LEN]", default=()
    )
    board: str = asked(BOARD)
    call: int = asked("--call", "Follow this call of the function, 1 first.", int, min=1, default=1)
    given: Path | Sequence[Path] | None = asked(
        "--input",
        "Values to write before the start: `symbol = VALUE`; of several, a run each.",
        list[Path],
        metavar="FILE",
        default=None,
    )
    runs: int = asked(
        "--runs", "Follow so many runs; all behind the first with runtime inputs drawn.", int, min=1, default=1
    )
    seed: int = asked("--seed", "Of the inputs that are drawn.", int, default=1)
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    vcc_v: float | None = asked(VCC, default=None)


@request
class Metrics:
    """Request to `metrics`: recordings and their inputs."""

    kind: str | None = asked("--kind", "One kind of coupon, such as `ctr` or `p256`.", default=None)
    _: KW_ONLY
    board: str = asked(BOARD, default=COUPON_BOARD)
    variant: Sequence[str] = asked(VARIANT, default=())
    power: str = asked(POWER, default=boards.DEFAULT_POWER)


def _lights_w(given: list[str], option: str) -> list[float]:
    return [units.parse(text, "W", option) for text in given]


@request
class Rates:
    """Request to `rates`: light, store and operation."""

    lights_w: Sequence[float] = asked(
        "--harvested",
        "Harvested power, such as 1mW; else around E/D. Repeatable.",
        list[str],
        read=_lights_w,
        metavar="POWER",
        default=(),
    )
    _: KW_ONLY
    board: str = COUPON_BOARD
    power: str = asked(POWER, default=boards.DEFAULT_POWER)


def _capacitances_f(given: list[str], option: str) -> list[float]:
    return [units.parse(text, "F", option) for text in given]


@request
class Recoveries:
    """Request to `recoveries`: light, store and operation."""

    capacitances_f: Sequence[float] = asked(
        "--capacitance",
        "The store, such as 1mF; else by what of a whole signature one charge pays. Repeatable.",
        list[str],
        read=_capacitances_f,
        metavar="CAPACITANCE",
        default=(),
    )
    _: KW_ONLY
    light_w: float | None = asked(
        "--harvested",
        "Power of the light that comes back, such as 1mW; else 0.1 of E/D.",
        read=quantity("W"),
        default=None,
    )
    starved_v: float | None = asked(
        "--starved-to",
        "Voltage of the store when it comes back; else the harvester's cut-off.",
        read=quantity("V", zero=True),
        default=None,
    )
    board: str = COUPON_BOARD
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    courses: bool = False
    """Play one store again for the picture of its voltage."""


@request
class Breakeven:
    """Request to `breakeven`, and so to `sunseal coupon breakeven`."""

    scenario: str | Path | None = asked(
        "",
        "Board, supply, light, period and policy; options go first.",
        Path,
        metavar="[SCENARIO.toml]",
        default=None,
        kw_only=True,
    )
    kind: str = asked("--kind", "A kind of coupon, such as `ctr` or `p256`.", default="p256")
    _: KW_ONLY
    way: str | None = asked("--way", "How it is done whole: sbox, hw, ...; else the cheapest.", default=None)
    board: str = asked(BOARD, default=COUPON_BOARD)
    variant: Sequence[str] = ()
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    demand: float | None = asked("--demand", "Answers a day; else 144.", float, min=1.0, default=None)
    deadline_s: float | None = asked(
        "--deadline", "Of an answer, such as 10s; else the next one.", read=units.time_s, default=None
    )
    slots: int | None = asked("--slots", "Coupons that are kept; else 24.", int, min=1, default=None)
    slot_price_j: float | None = asked(
        "--slot-price",
        "What a coupon costs beyond what was measured, such as 20uJ.",
        read=quantity("J", zero=True),
        default=None,
    )
    beside_j: float | None = asked(
        "--beside",
        "What an answer takes beside the operation, such as 1mJ of radio.",
        read=quantity("J", zero=True),
        default=None,
    )
    sleep_w: float | None = asked(replace(SLEEP, help="Power between answers; else the board's, asleep."), default=None)
    supply: Mapping[str, Any] | None = asked(
        {
            "capacitor": Option("--capacitor", "A store of data/parts."),
            "capacitance_f": Option("--capacitance", "Another one than its own, such as 5mF.", read=quantity("F")),
            "cell": Option("--cell", "A rechargeable cell instead."),
            "harvester": Option("--harvester", "A harvester of data/parts."),
            "charger": Option("--charger", "A charger instead, with --converter."),
            "output": Option("--converter", "The converter behind it."),
        },
        default=None,
    )
    panel: str | None = asked("--panel", "A panel of data/parts.", default=None)
    climate: Mapping[str, Any] | None = asked(
        {
            "weather": Option("--weather", "A TMY3 file; else the one that pvlib ships."),
            "constant_w": Option("--constant", "The same light always instead, such as 1mW.", read=quantity("W")),
            "shading": replace(SHADING, min=1e-9, max=1.0),
            "tilt_deg": Option("--tilt", "Of the panel, in degrees.", float),
        },
        default=None,
    )
    axes: Sequence[str] | None = asked(
        "--axis", "Only this break-even: demand, light, `slot price`, slots. Repeatable.", list[str], default=None
    )
    days: int = asked("--days", "How long to play.", int, min=1, default=365)
    beside_s: float | None = None
    margin: float | None = None
    refill_above_v: float | None = None
    every_s: float | None = None
    light: float | None = None
    start_j: float | None = None
    start_s: float | None = None
    heard: Callable[[int], object] | None = None


@request
class Leak:
    """Request to `leakage`, and so to `sunseal leakage`."""

    kind: str = asked("--kind", "ctr: AES-128 in counter mode; secp160r1, p224, p256: ECDSA.", default="ctr")
    _: KW_ONLY
    way: str = asked("--way", "The cipher in software: sbox or tbox.", default="sbox")
    board: str = asked(BOARD, default=COUPON_BOARD)
    traces: int = asked("--traces", "For each t-test, and at most for each attack.", int, default=10_000)
    noise: float = asked("--noise", "Standard deviation on each sample, in switched bits.", float, default=10.0)
    seed: int = asked("--seed", "Of keys, messages and noise: the same one, the same answer.", int, default=1)
    journal: Path | None = asked(
        "--journal", "Keeps each answer; the same command goes on from it when it was interrupted.", Path, default=None
    )
    heard: Heard | None = None


@request
class Randomness:
    """Request to `randomness`: a board's generators."""

    generators: Sequence[str] | None = asked(
        "--generator", "One of the board's generators, such as `sram_sha256`. Repeatable.", list[str], default=None
    )
    _: KW_ONLY
    board: str = asked(BOARD, default=COUPON_BOARD)
    bits: int | None = asked(
        "--bits", "Of each generator, for SP 800-22; else 1,000,000, and 100,000 of oscillators.", int, default=None
    )
    off_s: float = asked(
        "--off",
        "How long the supply stays away between two starts, such as 10s.",
        read=units.time_s,
        typed="10s",
        default=10.0,
    )
    seed: int = asked("--seed", "Of the simulated noise: the same one, the same answer.", int, default=1)
    model: Path | None = asked(
        "--model", "Noise of a chip: of --fit, or of data/noise.", Path, metavar="MODEL", default=None
    )
    at_c: float | None = asked("--at", "Temperature of the --model's memory, in C.", float, default=None)
    heard: Callable[[int, int], object] | None = None


@request
class Fitted:
    """Request to `fitted`: recordings of which a model is made."""

    recordings: Sequence[tuple[Path, float | None]] = asked(
        "--fit",
        "Make a model of a recording: a folder of start-up dumps, a file of many, or a .csv of an oscillator's "
        "periods. Repeatable for a memory at other temperatures: FOLDER@25C.",
        list[str],
        read=recordings_at,
        metavar="RECORDING",
        default=(),
    )
    _: KW_ONLY
    start_bytes: int | None = asked(
        "--start-bytes", "Bytes of a start, where a file of --fit has many.", int, min=1, default=None
    )


@request
class Recorded:
    """Request to `recorded`: recordings of a chip."""

    _: KW_ONLY
    raw: Path | None = asked("--raw", "A chip's own noise instead: a million samples, a byte each.", Path, default=None)
    over_restarts: Path | None = asked(
        "--restarts", "Beside --raw: 1,000 samples of each of 1,000 starts.", Path, default=None
    )
    output: Path | None = asked(
        "--values", "A generator's own values instead, as bytes.", Path, called="output", default=None
    )
    width: int = asked("--width", "Bits of a sample of --raw.", int, default=8)
    claim: float | None = asked(
        "--claim", "Min-entropy that is claimed of a sample of --raw, in bits.", float, default=None
    )


# --- Recordings of an instrument -----------------------------------------------------------------------


def share(text: str, what: str) -> float:
    """Read `1%` or `50ppm` as a share."""
    for ending, factor in (("%", 1e-2), ("ppm", 1e-6)):
        if text.endswith(ending):
            with contextlib.suppress(ValueError):
                value = float(text.removesuffix(ending)) * factor
                if 0 <= value < 1:
                    return value
    raise SunsealError(f"{what} `{text}` is no share: write it as `1%` or `50ppm`")


def tolerances(given: Sequence[str], known: tuple[str, ...]) -> tuple[dict[str, float], str | None]:
    """Read how well parts are known, as shares; of an offset, which is none, the text."""
    found: dict[str, str] = {}
    for pair in given:
        name, eq, value = pair.partition("=")
        if not eq or name not in known:
            raise SunsealError(f"--tolerance `{pair}` is none of {', '.join(f'{k}=…' for k in known)}")
        found[name] = value
    offset = found.pop("offset", None)
    return {f"{name}_tolerance": share(value, f"--tolerance {name}") for name, value in found.items()}, offset


def _unitful(text: str, what: str) -> tuple[float, str]:
    for base in ("V", "A", "W"):
        if text.endswith(base):
            return units.parse(text, base, what), base
    raise SunsealError(f"{what} `{text}` is no voltage, current or power: write it such as `1V` or `10mA`")


def _scale(text: str, option: str) -> Fields:
    factor, unit = _unitful(text, option)
    return Fields(scale=factor, scale_unit=unit)


def _known(given: list[str], option: str) -> Fields:
    shares, offset = tolerances(given, ("shunt", "gain", "vcc", "timebase", "offset"))
    return Fields(shares if offset is None else {**shares, "offset_tolerance": _unitful(offset, f"{option} offset")[0]})


@dataclass(frozen=True)
class Bench:
    """Wiring of the instrument, and how well its parts are known (half widths, each a uniform distribution)."""

    current: str | None = asked("--current", "Channel of the current, shunt voltage, power or energy.", default=None)
    vcc_v: float | None = asked("--vcc", "Supply voltage, such as 2.2V.", read=units.voltage_v, default=None)
    vcc_channel: str | None = asked("--vcc-channel", "Channel of the supply voltage.", default=None)
    shunt_ohm: float | None = asked(
        "--shunt", "Shunt, such as 100ohm; a probe of 5 mV/mA is 5ohm.", read=quantity("ohm"), default=None
    )
    gain: float = asked("--gain", "Gain of the amplifier behind the shunt or probe.", float, default=1.0)
    offset: float = asked("--offset", "What the channel shows without a current, in its unit.", float, default=0.0)
    scale: float = asked(
        "--scale", "What 1 is in an array that has no unit, such as 1V or 10mA.", read=_scale, default=1.0
    )
    scale_unit: str | None = None
    burden: bool = asked(
        "--burden", "--vcc is the voltage before the shunt: take off what falls over it.", bool, default=False
    )
    adc_bits: int | None = asked("--adc-bits", "Bits of the converter.", int, min=1, max=32, default=None)
    vref_v: float | None = asked("--vref", "Range of the converter, such as 0.5V.", read=units.voltage_v, default=None)
    lsb: float | None = None
    static_w: float = 0.0
    """Added to what is measured: the static power of Rizvi's equations 3 and 4."""
    shunt_tolerance: float = asked(
        "--tolerance",
        "How well a part is known, such as shunt=1%, gain=3%, vcc=0.5%, timebase=50ppm, offset=0.2mV. Repeatable.",
        list[str],
        read=_known,
        default=0.0,
    )
    gain_tolerance: float = 0.0
    vcc_tolerance: float = 0.0
    offset_tolerance: float = 0.0
    """In the channel's unit."""
    timebase_tolerance: float = 0.0


@dataclass(frozen=True)
class Trigger:
    """Choice of the samples that count. Without a channel and times, all of them."""

    channel: str | None = asked(
        "--trigger",
        "Channel that marks the windows, or `power`; else the whole recording.",
        called="trigger",
        default=None,
    )
    level: float | None = asked("--level", "Trigger level in the channel's unit; else half way.", float, default=None)
    hysteresis: float | None = asked("--hysteresis", "Width around it; else a tenth of the range.", float, default=None)
    falling: bool = asked("--falling", "Windows are where the trigger is low.", bool, default=False)
    window_min_s: float = asked("--min-window", "Leave out windows shorter than this.", read=units.time_s, default=0.0)
    from_s: float | None = None
    to_s: float | None = None
    samples_min: int = asked("--samples-min", "Samples that a window needs at least.", int, min=1, default=10)
    """A window of fewer samples is not resolved: its edges alone make it uncertain by more than 4 %."""
