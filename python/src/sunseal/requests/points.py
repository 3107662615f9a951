# SPDX-License-Identifier: MIT OR Apache-2.0
"""Points of a sweep as they are asked for: key paths, their values, and the samplers that there are."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from sunseal.errors import SunsealError

if TYPE_CHECKING:
    import numpy as np

POINTS_MAX = 1_000_000
"""A sweep of more is refused: its journal and table are kept in memory."""
QUASI_RANDOM = ("sobol", "halton")
SAMPLERS = ("grid", *QUASI_RANDOM, "saltelli", "optuna")

Sampler: TypeAlias = "Callable[[Mapping[str, Any], int, np.random.Generator], Iterable[Mapping[str, Any]]]"
"""A sampler of one's own: gets `over`, `samples` and a generator of the seed, gives the points."""
_STEP = re.compile(r"([^.\[\]]+)((?:\[\d+\])*)")


def split(path: str) -> list[str | int]:
    """Take a key path apart: names and, of lists, indices."""
    steps: list[str | int] = []
    for part in path.split("."):
        match = _STEP.fullmatch(part)
        if match is None:
            raise SunsealError(
                f"`{path}` is no key path: write names with dots, and an index for one of several tables, as in "
                "`supply.capacitance_f` or `task[0].every`"
            )
        steps.append(match[1])
        steps += [int(index) for index in re.findall(r"\d+", match[2])]
    return steps


def typed(given: Sequence[str]) -> dict[str, Any]:
    """Read `KEY=VALUES` of the command line as entries of `over`."""
    wanted: dict[str, Any] = {}
    for text in given:
        path, values = _typed(text)
        if path in wanted:
            raise SunsealError(f"`--over {path}=...` stands twice; give all its values in one")
        wanted[path] = values
    return wanted


def _typed(text: str) -> tuple[str, Any]:
    path, equals, values = text.partition("=")
    if not (path and equals and values):
        raise SunsealError(f"`--over {text}` is not KEY=VALUES, such as `supply.capacitance_f=0.01:0.1:5`")
    split(path)
    ends = values.split(":")
    log = ends[-1] == "log"
    numbers = [_value(part) for part in (ends[:-1] if log else ends)]
    if len(ends) == 1 or not all(isinstance(n, int | float) for n in numbers):
        return path, [_value(part.strip()) for part in values.split(",")]
    if len(numbers) == 2:
        return path, (*numbers, *(["log"] * log))
    if len(numbers) != 3 or not isinstance(numbers[2], int) or numbers[2] < 2:
        raise SunsealError(f"`--over {text}`: a range is START:STOP:N, N two or more, or START:STOP for a sampler")
    return path, _range(text, numbers[0], numbers[1], numbers[2], log)


def _range(text: str, start: float, stop: float, count: int, log: bool) -> list[float]:
    if count > POINTS_MAX:
        raise SunsealError(f"`--over {text}` has {count:,} values; {POINTS_MAX:,} points are the most")
    if log and (start <= 0 or stop <= 0):
        raise SunsealError(f"`--over {text}`: a logarithmic range has both ends above 0")
    if log:
        values = [start * (stop / start) ** (i / (count - 1)) for i in range(count - 1)]
        return [*values, stop]
    # Exact, so that 0.1:0.5:5 gives 0.3 and not its neighbour: whole numbers over one denominator.
    low, step = Fraction(str(start)), (Fraction(str(stop)) - Fraction(str(start))) / (count - 1)
    below = math.lcm(low.denominator, step.denominator)
    first, each = int(low * below), int(step * below)
    if below == 1 and isinstance(start, int) and isinstance(stop, int):
        return [first + i * each for i in range(count)]
    return [(first + i * each) / below for i in range(count)]


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        with contextlib.suppress(ValueError):
            return read(text)
    return text
