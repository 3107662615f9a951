# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests about recordings of an instrument: how it was wired, and which samples count."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from sunseal.catalog import units
from sunseal.errors import SunsealError
from sunseal.requests.asking import Fields, Quantity, asked


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
    vcc_v: float | None = asked("--vcc", "Steady supply voltage, such as 2.2V.", read=units.voltage_v, default=None)
    vcc_channel: str | None = asked("--vcc-channel", "Channel of the supply voltage.", default=None)
    shunt_ohm: float | None = asked(
        "--shunt", "Shunt, such as 100ohm; a probe of 5 mV/mA is 5ohm.", read=Quantity("ohm"), default=None
    )
    gain: float = asked("--gain", "Gain of the amplifier behind the shunt or probe.", float, default=1.0)
    offset: float = asked("--offset", "Reading of the channel without a current, in its unit.", float, default=0.0)
    scale: float = asked(
        "--scale", "Quantity that 1 is in an array without unit, such as 1V or 10mA.", read=_scale, default=1.0
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
        "Tolerance of a part, such as shunt=1%, gain=3%, vcc=0.5%, timebase=50ppm, offset=0.2mV. Repeatable.",
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
        "Channel that marks the windows, or `power`.",
        called="trigger",
        default=None,
        otherwise="the whole recording",
    )
    level: float | None = asked(
        "--level", "Trigger level in the channel's unit.", float, default=None, otherwise="half way"
    )
    hysteresis: float | None = asked(
        "--hysteresis", "Width around it.", float, default=None, otherwise="a tenth of the range"
    )
    falling: bool = asked("--falling", "Windows are where the trigger is low.", bool, default=False)
    window_min_s: float = asked("--min-window", "Leave out windows shorter than this.", read=units.time_s, default=0.0)
    from_s: float | None = None
    to_s: float | None = None
    samples_min: int = asked("--samples-min", "Samples that a window needs at least.", int, min=1, default=10)
    """A window of fewer samples is not resolved: its edges alone make it uncertain by more than 4 %."""
