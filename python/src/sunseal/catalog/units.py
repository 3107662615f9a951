# SPDX-License-Identifier: MIT OR Apache-2.0
"""Quantities as people type them (`8MHz`, `2.2V`, `250mJ`) to SI numbers and back."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from sunseal.errors import SunsealError

# Symbols of the SI brochure, 9th edition, table 7; `u` stands for micro where a keyboard has no µ.
PREFIX: dict[str, int] = {
    "p": -12,
    "n": -9,
    "u": -6,
    "µ": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
}
SPANS_S: dict[str, float] = {
    **dict.fromkeys(("min", "minutes", "minute"), 60.0),
    **dict.fromkeys(("h", "hours", "hour"), 3600.0),
    **dict.fromkeys(("d", "days", "day"), 86_400.0),
    **dict.fromkeys(("weeks", "week"), 7 * 86_400.0),
    **dict.fromkeys(("years", "year"), 365.25 * 86_400.0),
}
"""Units of time beside the second."""
_BARE = re.compile(r"\d+\.?\d*")
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s.+-].*)?", re.ASCII)


def parse(text: str, unit: str, what: str, *, zero: bool = False, typed: str = "") -> float:
    """Read a positive quantity of `unit`: `parse("8MHz", "Hz", "--freq") == 8e6`; with `zero`, none is one too.

    A bare number counts in the unit itself. Decimal arithmetic keeps `2.7V` exactly 2.7. Errors quote what was `typed`.
    """
    shape = f"a number with a unit such as `{_example(unit)}`"
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise SunsealError(f"{what} `{text}` is not {shape}")
    suffix = (match.group(2) or "").strip()
    if suffix and not suffix.endswith(unit):
        folded = suffix.lower().endswith(unit.lower())
        hint = f"units are case-sensitive: {unit}" if folded else None
        raise SunsealError(f"{what} `{text}` is not in {unit}: write {shape}", hint)
    prefix = suffix.removesuffix(unit)
    if prefix not in PREFIX:
        raise SunsealError(
            f"{what} `{text}` has the unknown prefix `{prefix}`; known: " + ", ".join(p for p in PREFIX if p)
        )
    try:
        value = float(Decimal(match.group(1)).scaleb(PREFIX[prefix]))
    except ArithmeticError:
        value = float("inf")
    if not 0 <= value < float("inf") or (value == 0 and not zero):
        raise SunsealError(f"{what} `{typed or text}` must be {'zero or more' if zero else 'above zero'} and finite")
    return value


def zero_or_more(value: float, what: str) -> float:
    """Return a number that a program gave, which must be zero or more and finite: NaN slips through comparisons."""
    if not 0 <= value < math.inf:
        raise SunsealError(f"{what} is {value:g}; it must be zero or more and finite")
    return float(value)


SLOWEST_HZ = 1_000
"""Below any clock of a CPU here: the VLO's 9.4 kHz divided by eight is the slowest that a program sets up."""


def freq_hz(text: str, what: str = "--freq") -> int:
    """Read a clock in whole hertz."""
    value = parse(text, "Hz", what)
    if value < SLOWEST_HZ:
        bare = text.strip()
        meant = f"; write `{bare}MHz` if that is meant" if _BARE.fullmatch(bare) else ""
        raise SunsealError(f"{what} `{text}` is {value:g} Hz, slower than any clock of a CPU here{meant}")
    if value != int(value):
        raise SunsealError(f"{what} `{text}` is not a whole number of hertz")
    if value >= 2**32:  # the engine counts hertz in 32 bits; no clock of a node comes near
        raise SunsealError(f"{what} `{text}` is no clock of a microcontroller: write one such as `8MHz`")
    return int(value)


def voltage_v(text: str, what: str = "--vcc") -> float:
    """Read a voltage in volts."""
    return parse(text, "V", what)


def temperature_c(text: str, what: str = "--temperature") -> float:
    """Read a temperature in degrees Celsius: `-20C`, `25degC`, `-20`."""
    body = re.sub(r"(deg|\N{DEGREE SIGN})?\s*C$", "", text.strip()).strip()
    try:
        value = float(body)
    except ValueError:
        raise SunsealError(f"{what} `{text}` is not a temperature such as `-20C`") from None
    return degrees(value, what)


COLDEST_C, WARMEST_C = -60.0, 150.0


def degrees(value: float, what: str) -> float:
    """Return a temperature of electronics in degrees Celsius."""
    if not COLDEST_C <= value <= WARMEST_C:
        span = f"between {COLDEST_C:g} and {WARMEST_C:g} degrees Celsius"
        raise SunsealError(f"{what} is {value:g} degrees; it must lie {span}")
    return float(value)


def time_s(text: str, what: str = "--for") -> float:
    """Read a time in seconds: `600s`, `10min`, `2h`, `30d`, `2years`."""
    for suffix, span_s in SPANS_S.items():
        body = text.strip().removesuffix(suffix)
        if body != text.strip() and _NUMBER.fullmatch(body.strip()):
            return parse(f"{body.strip()}s", "s", what, typed=text) * span_s
    if (minutes := text.strip().removesuffix("m")) != text.strip() and _NUMBER.fullmatch(minutes):
        raise SunsealError(f"{what} `{text}` is not in s: write `{minutes}min` for minutes, or `{minutes}ms`")
    return parse(text, "s", what)


def unit_time_s(text: str, what: str = "--latency") -> float:
    """Read a time that is often meant in milliseconds, which must therefore say its unit."""
    if (bare := text.strip()) and _NUMBER.fullmatch(bare) and not bare[-1].isalpha():
        raise SunsealError(f"{what} `{text}` has no unit: write `{bare}ms` or `{bare}s`")
    return time_s(text, what)


def prefix_of(value: float) -> tuple[int, str]:
    """Return the prefix, with its power of ten, that leaves one to three digits before the point."""
    steps = ((9, "G"), (6, "M"), (3, "k"), (0, ""), (-3, "m"), (-6, "µ"), (-9, "n"))
    return next((step for step in steps if abs(value) >= 10.0 ** step[0]), (-12, "p"))


LEAST_SHARE, MOST_SHARE = 1e-2, 1e4
"""Between these a quantity takes the prefix of another that it stands beside, so that both are read in one unit."""


def show(value: float, unit: str, digits: int = 4, like: float | None = None) -> str:
    """Write a quantity with the prefix that leaves one to three digits before the point.

    Beside a quantity that it is `like`, with the prefix of that one, where this leaves 0.01 to 9999.
    """
    if value == 0:
        return f"0 {unit}"
    if not math.isfinite(value):
        return f"{value} {unit}"
    power, prefix = prefix_of(value)
    if like is not None and like != 0 and math.isfinite(like):
        wished = prefix_of(like)
        if LEAST_SHARE <= abs(value) / 10.0 ** wished[0] < MOST_SHARE:
            power, prefix = wished
    scaled = float(f"{value / 10.0**power:.{digits}g}")
    return f"{scaled:.{max(digits, 6)}g} {prefix}{unit}"


def span(low: float, high: float, unit: str, like: float, digits: int = 3) -> str:
    """Write two ends of a range in the unit of a quantity between them: `0.968 to 1.32 mJ`."""
    ends = [show(end, unit, digits, like) for end in (low, high)]
    (first, its), (_, other) = (end.rsplit(" ", 1) for end in ends)
    return f"{first} to {ends[1]}" if its == other else " to ".join(ends)


def duration(seconds: float) -> str:
    """Write a time: hours from one hour on, else seconds."""
    return f"{seconds / 3600:.4g} h" if seconds >= 3600 else show(seconds, "s", 4)


def _example(unit: str) -> str:
    return {"Hz": "8MHz", "V": "2.2V", "J": "2mJ", "s": "250ms", "F": "1.5F"}.get(unit, f"1{unit}")


MEASURES: dict[object, str] = {
    freq_hz: "FREQUENCY",
    temperature_c: "TEMPERATURE",
    time_s: "TIME",
    unit_time_s: "TIME",
    voltage_v: "VOLTAGE",
    "B": "BYTES",
    "F": "CAPACITANCE",
    "Hz": "FREQUENCY",
    "J": "ENERGY",
    "Ohm": "RESISTANCE",
    "V": "VOLTAGE",
    "W": "POWER",
    "ohm": "RESISTANCE",
}
"""The word for what a reader of quantities, or a unit, measures."""
