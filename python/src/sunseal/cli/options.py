# SPDX-License-Identifier: MIT OR Apache-2.0
"""Options that stand on several commands, each defined once, and what is read from them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sunseal import asking, boards, units
from sunseal.asking import Option, adc_of
from sunseal.cli.completion import workloads
from sunseal.cli.console import PAGE, Figure, Report, writable
from sunseal.errors import SunsealError
from sunseal.measurement.measuring import DEFAULT_POWER, write_atomic

if TYPE_CHECKING:
    from sunseal.machine import Machine
    from sunseal.report.charts import Chart

Json = Annotated[bool, typer.Option("--json", help="Print JSON in SI base units instead of a table.")]
Board = Annotated[str, asking.BOARD]
Variant = Annotated[list[str] | None, asking.VARIANT]
Freq = Annotated[str | None, asking.FREQ]
Voltages = Annotated[list[str] | None, asking.VOLTAGES]
Vcc = Annotated[str | None, asking.VCC]
Power = Annotated[str, asking.POWER]
WorkloadName = Annotated[
    str | None,
    typer.Argument(
        metavar="[WORKLOAD|FILE.elf]",
        help="A workload of `sunseal workloads`, or a program of yours.",
        autocompletion=workloads,
    ),
]
TimingSwitch = Annotated[
    list[str] | None,
    typer.Option(
        "--timing",
        metavar="NAME=VALUE",
        help="A disputed row of the core's timing (docs/accuracy.md), against the default. Repeatable.",
    ),
]
Adc = Annotated[list[str] | None, asking.ADC]
ElfPath = Annotated[Path | None, typer.Option("--elf", help="Your own program instead of a workload.")]
FromSymbol = Annotated[str | None, typer.Option("--from", help="Symbol where the measurement begins.")]
ToSymbol = Annotated[str | None, typer.Option("--to", help="Symbol where it ends.")]
Marks = Annotated[
    bool,
    typer.Option("--marks", help="Measure from the rise to the fall of the board's trigger pin."),
]

Seed = Annotated[int | None, asking.SEED]
UNTIL = Option("--until", "Symbol where the run ends; else the program's end.")
FOR = Option("--for", "Simulated time to run, such as 20ms.", read=units.time_s, called="time")


def loaded(image: Path, board: str, variant: Sequence[str], adc_v: Mapping[int, float] | None) -> Machine:
    """Return a board with a program of the user's own, or with a workload that has its operands."""
    from sunseal.machine import Machine
    from sunseal.measurement import measuring

    if str(image) in boards.WORKLOADS:
        if adc_v:
            raise SunsealError("`--adc` belongs to a program of yours; no workload reads the ADC")
        return measuring.fed(str(image), board, boards.variant(tuple(variant), board))
    if variant:
        raise SunsealError("`--variant` belongs to a workload; your own ELF is one variant already")
    return Machine(board, image, adc_v=adc_v)


def _timing_of(switches: list[str] | None) -> dict[str, str]:
    pairs = [switch.partition("=") for switch in switches or ()]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise SunsealError(
                f"--timing `{name}{equals}{value}` is not NAME=VALUE, such as `pc_write_one_less=true`",
                hint="docs/accuracy.md lists the switches of each core",
            )
    return {name: value for name, _, value in pairs}


def freq_of(text: str | None) -> int | None:
    """Read a clock, if there is one."""
    return None if text is None else units.freq_hz(text)


def vcc_of(text: str | None) -> float | None:
    """Read a supply voltage, if there is one."""
    return None if text is None else units.voltage_v(text)


def _window_of(elf: Path | None, start: str | None, end: str | None, marks: bool) -> tuple[str, str] | None:
    if elf is None:
        if start or end or marks:
            raise SunsealError("`--from`, `--to` and `--marks` need a program of yours: add `--elf FILE`")
        return None
    if marks and (start or end):
        raise SunsealError("`--marks` and `--from`/`--to` exclude each other: choose one of them")
    if start and end:
        return start, end
    if start or end:
        given, lacks = ("--from", "--to") if start else ("--to", "--from")
        raise SunsealError(f"`{given}` needs its other end: add `{lacks} SYMBOL`")
    return None


@dataclass
class Operation:
    """What is measured: a workload of a board's firmware, or a stretch of a program of the user's own."""

    workload: WorkloadName = None
    board: Board = boards.DEFAULT_BOARD
    variant: Variant = None
    elf: ElfPath = None
    start: FromSymbol = None
    end: ToSymbol = None
    marks: Marks = False
    timing: TimingSwitch = None
    adc: Adc = None

    def calls(self, call: str) -> dict[str, Any]:
        """Return what `measure_calls` takes of it."""
        if self.elf is None or self.variant or self.end or self.marks:
            wrong = "--variant" if self.variant else "--to" if self.end else "--marks"
            if self.elf is None:
                raise SunsealError("`--call` needs a program of yours: name its ELF file")
            raise SunsealError(
                f"`{wrong}` cannot stand beside `--call`, which measures from a function's entry to its return"
            )
        asked = {"elf": self.elf, "call": call, "board": self.board, "start": self.start}
        return {**asked, "timing": _timing_of(self.timing), "adc_v": adc_of(self.adc)}

    def __post_init__(self) -> None:
        """Take a first argument that is written like a file for a program of the user's own."""
        given = self.workload
        if given is None or given in boards.WORKLOADS or self.elf is not None:
            return
        if given.endswith(".elf") or os.sep in given or "@0x" in given or Path(given).is_file():
            self.workload, self.elf = None, Path(given)

    @property
    def label(self) -> str:
        """Name what is measured."""
        return self.workload or (self.elf.name if self.elf else "")

    @property
    def window(self) -> tuple[str, str] | None:
        """Return the two symbols between which a program is measured; None stands for its trigger marks."""
        return _window_of(self.elf, self.start, self.end, self.marks)

    def asked(self) -> dict[str, Any]:
        """Return what `measuring.measure`, `curve` and `profile` all take."""
        return {
            "workload": self.workload,
            "board": self.board,
            "variant": self.variant or (),
            "elf": self.elf,
            "window": self.window,
            "timing": _timing_of(self.timing),
            "adc_v": adc_of(self.adc),
        }


def report(module: str) -> Any:
    """Import a module of the reports where something is drawn: they take a quarter of a second."""
    return importlib.import_module(f"sunseal.report.{module}")


@dataclass
class Output:
    """How an answer is given: as a table or as JSON, and with a page and a figure in files."""

    report: Report = None
    figure: Figure = None
    as_json: Json = False

    def __post_init__(self) -> None:
        """Refuse a file that could not be written before anything long is run for it."""
        writable(self.report, PAGE)
        writable(self.figure)

    def draw(self, chart: Callable[[], Chart], page: Callable[[], str]) -> None:
        """Draw the figure and write the page, each where it is asked for."""
        if self.figure is not None:
            chart().write(self.figure)
        if self.report is not None:
            write_atomic(self.report, page())


@dataclass
class Point:
    """The operating point, and whose coefficients weigh there."""

    freq: Freq = None
    vcc: Vcc = None
    power: Power = DEFAULT_POWER

    def asked(self) -> dict[str, Any]:
        """Return it as `measuring.measure` takes it."""
        return {"freq_hz": freq_of(self.freq), "vcc_v": vcc_of(self.vcc), "power": self.power}
