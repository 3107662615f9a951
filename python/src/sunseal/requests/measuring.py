# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to `measure`, `curve` and `profile`: an operation of a board, and where it is priced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from pathlib import Path

from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.requests.asking import (
    ADC,
    ALLOW,
    BOARD,
    FREQ,
    POWER,
    VARIANT,
    VCC,
    VOLTAGES,
    Option,
    asked,
    request,
)

Progress = Callable[[int], None]
Timing = Mapping[str, str | bool | int]
"""Switches of the core's timing, by the names of docs/accuracy.md, with their values."""


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
