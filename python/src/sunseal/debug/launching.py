# SPDX-License-Identifier: MIT OR Apache-2.0
"""A launch request: which program on which board, what feeds it, and what is connected."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sunseal.catalog import units
from sunseal.debug.running import Runner
from sunseal.debug.source import Program
from sunseal.errors import SunsealError
from sunseal.machine import images
from sunseal.machine.running import Bench

OFF_S = 1.0
"""Time for which the supply stays away after each loss unless the request says so."""
EDITORS = set(
    "name type request preLaunchTask postDebugTask internalConsoleOptions debugServer presentation noDebug "
    "serverReadyAction suppressMultipleSessionWarning cwd env args console windows linux osx restart trace".split()
)
"""Keys that editors put beside ours."""


def quantity(unit: str) -> Callable[[Any, str], float]:
    """Return what reads a quantity: a number in the unit itself, or a text such as `120ms`."""

    def read(value: Any, key: str) -> float:
        if isinstance(value, str):
            return units.time_s(value, key) if unit == "s" else units.parse(value, unit, key, zero=True)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SunsealError(f"`{key}` of the launch request is {value!r}: write a number of {unit} or a text")
        return units.zero_or_more(float(value), key)

    return read


def of(kind: type, what: str) -> Callable[[Any, str], Any]:
    """Return what takes a value of a type and refuses others."""

    def read(value: Any, key: str) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise SunsealError(f"`{key}` of the launch request is {value!r}: write {what}")
        return value

    return read


def listed(value: Any, key: str) -> list[str]:
    """Take a list of texts."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SunsealError(f"`{key}` of the launch request is {value!r}: write a list of texts")
    return value


KEYS: dict[str, Callable[[Any, str], Any]] = {
    "program": of(str, "the path of your ELF"),
    "board": of(str, "a board's name, as `sunseal boards` lists them"),
    "stopOnEntry": lambda value, key: value if value == "reset" else of(bool, "true, false or `reset`")(value, key),
    "vcc": quantity("V"),
    "power": of(str, "a power set's name"),
    "off": quantity("s"),
    "powerLoss": lambda value, key: [quantity("s")(v, key) for v in of(list, "a list of times")(value, key)],
    "uart": of(str, "a serial interface's name"),
    "baud": of(int, "bits a second"),
    "seed": of(int, "an integer"),
    "adc": of(dict, "voltages by channel, such as {`3`: `1.2V`}"),
    "pins": of(dict, "levels by pin, such as {`P1.3`: true}"),
    "i2c": listed,
    "spi": listed,
    "allow": listed,
    "sources": listed,
}
"""Keys of the request, and what reads the value of each."""


def launch(arguments: Mapping[str, Any]) -> tuple[Runner, dict[str, Any], list[str]]:
    """Put the program on its board; return what runs it, the request as it was read, and warnings."""
    told = {key: KEYS[key](value, key) for key, value in arguments.items() if key in KEYS and value is not None}
    for key in ("program", "board"):
        if key not in told:
            raise SunsealError(
                f"the launch request lacks `{key}`: write {'your ELF' if key == 'program' else 'a board'}"
            )
    odd = [key for key in arguments if key not in KEYS and key not in EDITORS and not key.startswith(("__", "$"))]
    warnings = []
    for key in odd:
        near = difflib.get_close_matches(key, KEYS, n=1)
        warnings.append(f"`{key}` of the launch request is not known here" + (f": `{near[0]}`?" if near else ""))
    path = Path(told["program"])
    if not path.is_file():
        raise SunsealError(f"`{path}` is no file: build your program first, or correct `program`")
    bench = Bench(
        told["board"],
        path,
        uart=told.get("uart"),
        baud=told.get("baud"),
        power=told.get("power"),
        vcc_v=told.get("vcc"),
        i2c=told.get("i2c", ()),
        spi=told.get("spi", ()),
        seed=told.get("seed", 0),
        allow=told.get("allow", ()),
    )
    for channel, volts in told.get("adc", {}).items():
        if not str(channel).isdecimal():
            raise SunsealError(f"`adc` of the launch request names channel `{channel}`: write its number")
        bench.adc(int(channel), quantity("V")(volts, "adc"))
    for pin, level in told.get("pins", {}).items():
        bench.pin(pin, of(bool, "true or false")(level, f"pins.{pin}"))
    image = images.read(path, bench.machine.device)
    program = Program(image, path, [Path(folder) for folder in told.get("sources", ())])
    if program.missing:
        warnings.append(f"{program.missing}: breakpoints stand at symbols and addresses, steps are instructions")
    return Runner(bench, program, told.get("off", OFF_S), told.get("powerLoss", ())), told, warnings
