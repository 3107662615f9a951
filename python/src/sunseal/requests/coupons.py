# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to the commands of `sunseal coupon`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal.catalog import boards, units
from sunseal.requests.asking import (
    BOARD,
    IMAGE,
    POWER,
    SLEEP,
    VARIANT,
    VCC,
    Option,
    Quantity,
    asked,
    recordings_at,
    request,
)
from sunseal.requests.planning import SHADING

if TYPE_CHECKING:
    from sunseal.machine.machine import Machine

COUPON_BOARD = "msp430fr5994-launchpad"
Heard = Callable[[int, int], object]


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
        "--output",
        "Buffer that the operation leaves its result in. Repeatable.",
        list[str],
        metavar="BUF[:LEN]",
        default=(),
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
    seed: int = asked("--seed", "Seed of the inputs that are drawn.", int, default=1)
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
        "Harvested power, such as 1mW. Repeatable.",
        list[str],
        read=_lights_w,
        metavar="POWER",
        default=(),
        otherwise="around E/D",
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
        "The store, such as 1mF. Repeatable.",
        list[str],
        read=_capacitances_f,
        metavar="CAPACITANCE",
        default=(),
        otherwise="by what of a whole signature one charge pays",
    )
    _: KW_ONLY
    light_w: float | None = asked(
        "--harvested",
        "Power of the light that comes back, such as 1mW.",
        read=Quantity("W"),
        default=None,
        otherwise="0.1 of E/D",
    )
    starved_v: float | None = asked(
        "--starved-to",
        "Voltage of the store when it comes back.",
        read=Quantity("V", zero=True),
        default=None,
        otherwise="the harvester's cut-off",
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
    way: str | None = asked(
        "--way", "Variant that does it whole: sbox, hw, ...", default=None, otherwise="the cheapest"
    )
    board: str = asked(BOARD, default=COUPON_BOARD)
    variant: Sequence[str] = ()
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    demand: float | None = asked("--demand", "Answers a day.", float, min=1.0, default=None, otherwise="144")
    deadline_s: float | None = asked(
        "--deadline",
        "Time within which an answer is due, such as 10s.",
        read=units.time_s,
        default=None,
        otherwise="the next one",
    )
    slots: int | None = asked("--slots", "Coupons that are kept.", int, min=1, default=None, otherwise="24")
    slot_price_j: float | None = asked(
        "--slot-price",
        "Energy of a coupon beyond what was measured, such as 20uJ.",
        read=Quantity("J", zero=True),
        default=None,
    )
    beside_j: float | None = asked(
        "--beside",
        "Energy of an answer beside the operation, such as 1mJ of radio.",
        read=Quantity("J", zero=True),
        default=None,
    )
    sleep_w: float | None = asked(
        replace(SLEEP, help="Power between answers.", otherwise="the board's, asleep"), default=None
    )
    supply: Mapping[str, Any] | None = asked(
        {
            "capacitor": Option("--capacitor", "A store of data/parts."),
            "capacitance_f": Option("--capacitance", "Another one than its own, such as 5mF.", read=Quantity("F")),
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
            "weather": Option("--weather", "A TMY3 file.", otherwise="the one that pvlib ships"),
            "constant_w": Option("--constant", "The same light always instead, such as 1mW.", read=Quantity("W")),
            "shading": replace(SHADING, min=1e-9, max=1.0),
            "tilt_deg": Option("--tilt", "Tilt of the panel, in degrees.", float),
        },
        default=None,
    )
    axes: Sequence[str] | None = asked(
        "--axis", "Only this break-even: demand, light, `slot price`, slots. Repeatable.", list[str], default=None
    )
    days: int = asked("--days", "Days to play.", int, min=1, default=365)
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
    seed: int = asked("--seed", "Seed of keys, messages and noise: the same one, the same answer.", int, default=1)
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
        "--bits",
        "Bits of each generator, for SP 800-22.",
        int,
        default=None,
        otherwise="1,000,000, and 100,000 of oscillators",
    )
    off_s: float = asked(
        "--off",
        "Time without supply between two starts, such as 10s.",
        read=units.time_s,
        typed="10s",
        default=10.0,
    )
    seed: int = asked("--seed", "Seed of the simulated noise: the same one, the same answer.", int, default=1)
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
