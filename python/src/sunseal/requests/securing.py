# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to what looks at a program for an attacker or a loss of power: constant time, cuts, least capacitors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sunseal.catalog import boards, units
from sunseal.errors import SunsealError
from sunseal.requests.asking import (
    ADC,
    BOARD,
    GOLDEN,
    HOLD,
    IMAGE,
    NOISE,
    OFF,
    POWER,
    UNTIL,
    Fields,
    Option,
    asked,
    request,
)
from sunseal.requests.checks import Call, Invariant, Points, checks

if TYPE_CHECKING:
    from sunseal.machine.machine import Machine, Place

END = Option("--to", "Symbol where it ends.", called="end", otherwise="the program's halt, or where it stays for good")


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
        "Symbol from which the bytes are secret.",
        default=None,
        otherwise="`main`, or the reset where there is none",
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


def _checks(path: Path) -> Fields:
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
    start: Place = asked("--from", "Symbol where the region to cut begins.", default="main")
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
        "--until", "Symbol that the program must reach after the reboot.", default=None, otherwise="--to"
    )
    golden: Sequence[str] = asked(GOLDEN, default=())
    expect: Mapping[str, bytes] | None = None
    assertions: Sequence[Place] | None = asked(
        "--assert",
        "Symbol that must never be reached. Repeatable.",
        list[str],
        called="assertion",
        default=None,
        otherwise="sunseal_assert_failed",
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
    brute: bool | None = asked(
        "--brute/--classes",
        "Play each cut, or one of each class that has the same run behind it.",
        bool,
        default=None,
        otherwise="what costs less",
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
        "Voltages of the capacitor at which the program starts and stops, such as 3.0-1.8.",
        read=_volts,
        default=None,
        otherwise="the board's supply and the chip's least",
    )
    voltage_off_v: float | None = None
    end: Place | None = asked(
        "--to",
        "Symbol that the program must reach.",
        called="end",
        default=None,
        otherwise="its halt, or where it stays for good",
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
