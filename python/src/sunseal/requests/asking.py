# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests: one dataclass a command, of which its function's parameters and its options on the command line are made.

A field has the function's name, type and default, in SI base units. Its `Option` says how the command line asks for
it and reads what was typed; a field without one is the function's alone.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast, dataclass_transform, overload

from sunseal.catalog import boards, units
from sunseal.errors import SunsealError

P = ParamSpec("P")
Request = TypeVar("Request")
Answer = TypeVar("Answer")
Asked_contra = TypeVar("Asked_contra", contravariant=True)
Told_co = TypeVar("Told_co", covariant=True)


@dataclasses.dataclass(frozen=True)
class Option:
    """Option by which the command line asks for a field; without a name it is an argument, told by its place."""

    name: str
    help: str
    kind: Any = str
    """Type of what is typed."""
    read: Callable[[Any, str], Any] | None = None
    """Makes the field's value of what was typed; the option's name is for its sentences."""
    typed: Any = None
    """Default as it is typed, where it is read, or where the field has none."""
    otherwise: str | None = None
    """Words for what holds where nothing is typed, of a default that is no value: "the board's"."""
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    called: str | None = None
    """Name of the value in the manual, where it is not the option's."""
    offers: str | None = None
    """Offers of the Tab key: a function of `cli.completion`."""


class Fields(dict[str, Any]):
    """Fields that one option says something of, by their names."""


def asked(
    option: str | Option | Mapping[str, Option],
    help: str = "",
    kind: Any = str,
    *,
    default: Any = dataclasses.MISSING,
    kw_only: Any = dataclasses.MISSING,
    **told: Any,
) -> Any:
    """Make a field that the command line asks for, by an option, or by one for each key where it is a table."""
    if isinstance(option, str):
        option = Option(option, help, kind, **told)
    return dataclasses.field(default=default, metadata={"option": option}, kw_only=kw_only)


@dataclass_transform(field_specifiers=(asked, dataclasses.field))
def request(kind: type[Request]) -> type[Request]:
    """Make a dataclass of a request's fields."""
    return dataclasses.dataclass(kind)


class Asking(Protocol[P, Asked_contra, Told_co]):
    """Function that takes a request, or the request's fields."""

    __name__: str

    @overload
    def __call__(self, request: Asked_contra, /) -> Told_co: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Told_co: ...


def answers(kind: Callable[P, Request]) -> Callable[[Callable[[Request], Answer]], Asking[P, Request, Answer]]:
    """Give a function of a request the request's fields as its parameters, or the request itself."""

    def spread(function: Callable[[Request], Answer]) -> Asking[P, Request, Answer]:
        @functools.wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Answer:
            made = len(args) == 1 and not kwargs and isinstance(args[0], kind)  # type: ignore[arg-type]
            return function(_possible(args[0] if made else kind(*args, **kwargs)))

        answer = function.__annotations__["return"]
        asking.__signature__ = inspect.signature(kind).replace(return_annotation=answer)  # type: ignore[attr-defined]
        return cast("Asking[P, Request, Answer]", asking)

    return spread


def _possible(request: Request) -> Request:
    """Refuse numbers that the command line would: those that are none, and quantities below zero."""
    for field in dataclasses.fields(request):  # type: ignore[arg-type]
        value, option = getattr(request, field.name), field.metadata.get("option")
        if not isinstance(value, int | float) or isinstance(value, bool) or value == field.default:
            continue
        if not math.isfinite(value):
            raise SunsealError(f"{field.name} is {value}; it must be a finite number")
        if not isinstance(option, Option):
            continue
        least = 0.0 if option.read is not None and option.min is None else option.min
        if least is not None and value < least:
            raise SunsealError(f"{field.name} is {value:g}; it must be {least:g} or more")
    return request


@dataclasses.dataclass(frozen=True)
class Quantity:
    """Reader of a quantity of a unit; with `zero`, none is one too."""

    unit: str
    zero: bool = False

    def __call__(self, text: str, option: str) -> float:
        """Return what was typed in the unit; refuse what is none, with the option's name."""
        return units.parse(text, self.unit, option, zero=self.zero)


def adc_channel(given: str) -> tuple[int, str]:
    """Read a channel of the ADC, which data sheets call A3 or ADC3, and return what is said of it."""
    named, _, what = given.partition("=")
    channel = re.sub("^(ADC|A)", "", named.strip(), flags=re.IGNORECASE)
    if not (what and channel.isdecimal() and int(channel) < 256):
        raise SunsealError(f"--adc `{given}` is not CHANNEL=VOLTAGE, such as `3=1.2V`")
    return int(channel), what


def once(names: Iterable[object], what: str) -> None:
    """Refuse a name that is given twice, of which the later one would hold: `once(pins, "--pin names")`."""
    said: set[object] = set()
    for name in names:
        if name in said:
            raise SunsealError(f"{what} {name} twice")
        said.add(name)


def adc_of(given: list[str] | None, _: str = "--adc") -> dict[int, float]:
    """Read steady voltages at channels of the ADC."""
    said = [adc_channel(text) for text in given or ()]
    once((channel for channel, _ in said), "--adc names channel")
    return {channel: units.parse(what, "V", f"--adc {channel}", zero=True) for channel, what in said}


ALLOWED = ("overclock",)
"""Names that `--allow` takes: each is a switch of the machine, set."""


def allowed_of(given: list[str] | None, option: str = "--allow") -> tuple[str, ...]:
    """Read what is to be run though a data sheet does not vouch for it."""
    for name in given or ():
        if name not in ALLOWED:
            raise SunsealError(f"{option} `{name}` is none of what can be allowed: {', '.join(ALLOWED)}")
    return tuple(dict.fromkeys(given or ()))


def switches_of(to: Any) -> dict[str, Any] | None:
    """Return what a request tells a machine otherwise than by default: switches of its timing, and what is allowed."""
    return {**(to.timing or {}), **dict.fromkeys(to.allow, True)} or None


# --- Options of several commands ---------------------------------------------------------------

BOARD = Option("--board", "A board of `sunseal boards`.", typed=boards.DEFAULT_BOARD, offers="boards")
VARIANT = Option("--variant", "A hardware fact of the firmware, such as mpy=32. Repeatable.", list[str])
FREQ = Option(
    "--freq",
    "CPU clock, such as 8MHz. Your own ELF has the clock that it sets.",
    read=units.freq_hz,
    otherwise="the board's crystal, or 8 MHz",
)
VCC = Option("--vcc", "Supply voltage, such as 2.2V.", read=units.voltage_v, otherwise="the board's")
ALLOW = Option(
    "--allow",
    "Run what a bench would, with a warning: `overclock`, a clock up to a quarter above the chip's limit. Repeatable.",
    list[str],
    read=allowed_of,
)
VOLTAGES = Option(
    "--vcc",
    "Only these voltages. Repeatable.",
    list[str],
    read=lambda given, option: [units.voltage_v(text, option) for text in given],
)
POWER = Option("--power", "Parameter set: datasheet, mane2014, ...", offers="power_sets")
WORKLOAD = Option("", "A workload of `sunseal workloads`.", offers="workloads")
IMAGE = Option("", "Your program.", Path, metavar="FILE.elf")
ADC = Option(
    "--adc",
    "Voltage at a channel of the ADC, such as 3=1.2V. Repeatable.",
    list[str],
    read=adc_of,
    metavar="CHANNEL=VOLTAGE",
)
SLEEP = Option("--sleep", "Power between operations.", read=Quantity("W", zero=True), otherwise="the board's, asleep")
TEMPERATURE = Option(
    "--temperature",
    "Temperature of battery and store, such as -20C.",
    read=units.temperature_c,
    min=units.COLDEST_C,
    max=units.WARMEST_C,
    otherwise="25 degrees",
)
DBM = Option("--dbm", "Output power of the radio.", int, otherwise="0 dBm, or the least above it that it has")
GOLDEN = Option("--golden", "Symbol that must then hold what it holds uninterrupted. Repeatable.", list[str])
HOLD = Option("--hold", "Object that is as in the image in each life: a count of lives. Repeatable.", list[str])
OFF = Option("--off", "Time without supply.", read=units.time_s, typed="1s")
NOISE = Option("--seed", "Seed of the noise with which RAM wakes.", int, min=0)
DASK = Option("--dask", "A Dask scheduler, such as tcp://host:8786.")
REPORT = Option("--report", "Write a self-contained HTML report here.", Path)
FIGURE = Option("--figure", "Draw its main figure into this .svg, .png or .pdf file.", Path)
JSON = Option("--json", "Print JSON in SI base units instead of a table.", bool)
UNTIL = Option("--until", "Symbol where the run ends.", otherwise="the program's end")
FOR = Option("--for", "Simulated time to run, such as 20ms.", read=units.time_s, called="time")
SEED = Option(
    "--seed", "Seed of all that is left to chance, before the file's; same seed, same bytes.", int, min=0, max=2**63 - 1
)


def recordings_at(given: list[str], option: str) -> list[tuple[Path, float | None]]:
    """Read recordings with the temperature that they were made at: `FOLDER@25C`."""
    found: list[tuple[Path, float | None]] = []
    for text in given:
        named = re.fullmatch(r"(.+)@([^@/]*)C", text)
        if named is None:
            found.append((Path(text), None))
            continue
        try:
            found.append((Path(named[1]), float(named[2])))
        except ValueError as e:
            raise SunsealError(f"{option} `{text}` has `{named[2]}C`, which is no temperature: write it as 25C") from e
    return found
