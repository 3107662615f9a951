# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to `measure`, `curve` and `profile`: an operation of a board, and where it is priced."""

from __future__ import annotations

import os
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
    window: tuple[str, str] | Mapping[str, str | bool] | None = asked(
        {
            "start": Option("--from", "Symbol where the measurement begins.", called="start"),
            "end": Option("--to", "Symbol where the measurement ends.", called="end"),
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

    def __post_init__(self) -> None:
        """Take a first argument that is written like a file for a program of one's own."""
        self.elf = None if self.elf is None else Path(self.elf)  # a script may give a string
        given = self.workload
        if given is None or given in boards.WORKLOADS or self.elf is not None:
            return
        if given.endswith(".elf") or os.sep in given or "@0x" in given or Path(given).is_file():
            self.workload, self.elf = None, Path(given)

    @property
    def label(self) -> str:
        """Name of what is measured."""
        return self.workload or (self.elf.name if self.elf else "")

    @property
    def typed_window(self) -> tuple[str | None, str | None, bool]:
        """The two symbols as `--from` and `--to` have them, and whether the trigger marks are asked for."""
        if self.window is None or isinstance(self.window, tuple):
            return (*(self.window or (None, None)), False)
        start, end = (str(self.window[key]) if key in self.window else None for key in ("start", "end"))
        return start, end, bool(self.window.get("marks"))

    def between(self) -> tuple[str, str] | None:
        """Return the two symbols between which a program is measured; None stands for its trigger marks."""
        start, end, marks = self.typed_window
        if self.elf is None and (start or end or marks):
            raise SunsealError(
                "`--from`, `--to` and `--marks` need a program of yours: add `--elf FILE`; a workload has its own marks"
            )
        if marks and (start or end):
            raise SunsealError("`--marks` and `--from`/`--to` exclude each other: choose one of them")
        if start and end:
            return start, end
        if start or end:
            given, lacks = ("--from", "--to") if start else ("--to", "--from")
            raise SunsealError(f"`{given}` needs its other end: add `{lacks} SYMBOL`")
        return None


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
