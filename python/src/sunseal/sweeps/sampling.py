# SPDX-License-Identifier: MIT OR Apache-2.0
"""Points of a sweep: a grid, quasi-random points, those of a sensitivity analysis, or a function's own."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from sunseal.errors import SunsealError, unknown
from sunseal.sweeps import keypaths

if TYPE_CHECKING:
    import numpy as np

POINTS_MAX = 1_000_000
"""A sweep of more is refused: its journal and table are kept in memory."""
QUASI_RANDOM = ("sobol", "halton")
SAMPLERS = ("grid", *QUASI_RANDOM, "saltelli", "optuna")

Point: TypeAlias = dict[str, Any]
Sampler: TypeAlias = "Callable[[Mapping[str, Any], int, np.random.Generator], Iterable[Mapping[str, Any]]]"
"""A sampler of one's own: gets `over`, `samples` and a generator of the seed, gives the points."""


@dataclass(frozen=True)
class Axis:
    """Axis of values that a key path may have: one of several values, or a number between two ends."""

    path: str
    values: tuple[Any, ...] = ()
    ends: tuple[float, float] | None = None
    log: bool = False
    whole: bool = False
    """The key takes whole numbers; both ends are among them."""

    def at(self, share: float) -> Any:
        """Return the value at a share from 0 up to 1 of the way."""
        if self.ends is None:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        low, high = self.ends
        if self.whole:
            return min(math.floor(low + share * (high - low + 1)), int(high))
        if self.log:
            return low * (high / low) ** share
        return low + share * (high - low)


def axis(path: str, told: Any, kind: str) -> Axis:
    """Read one entry of `over`: a list of values, or a tuple `(low, high)` or `(low, high, "log")`."""
    schema = keypaths.check(path, kind)
    if isinstance(told, tuple):
        return _between(path, told, schema)
    if isinstance(told, str) or not (hasattr(told, "__len__") and hasattr(told, "__iter__")):
        raise SunsealError(f"over `{path}` is {told!r}; it must be a list of values, or two ends as (low, high)")
    if len(told) > POINTS_MAX:
        raise _too_many(len(told))
    values = tuple(keypaths.plain(value, path, schema) for value in told)
    if not values:
        raise SunsealError(f"over `{path}` has no values")
    return Axis(path, values)


def _between(path: str, told: tuple[Any, ...], schema: Mapping[str, Any]) -> Axis:
    log = len(told) == 3 and told[2] == "log"
    ends = told[:2] if log or len(told) == 2 else ()
    numbers = [keypaths.plain(e, path, {"type": "number"}) for e in ends]
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise SunsealError(f'over `{path}` is {told!r}; a range is (low, high) or (low, high, "log"), low below high')
    if log and numbers[0] <= 0:
        raise SunsealError(f"over `{path}` from {numbers[0]:g} on has no logarithm: the low end must be above 0")
    if schema.get("type") not in (None, "number", "integer"):
        raise SunsealError(f"over `{path}` is a range, and the key is not a number: give a list of values")
    whole = schema.get("type") == "integer"
    return Axis(path, ends=(numbers[0], numbers[1]), log=log, whole=whole)


def _too_many(count: int) -> SunsealError:
    return SunsealError(
        f"the sweep has {count:,} points; {POINTS_MAX:,} are the most",
        hint='fewer values on each axis, or `sampler="sobol"` with `samples`',
    )


def count(axes: Sequence[Axis], sampler: str, samples: int | None) -> int:
    """Return the number of points; one that cannot be is an error, before any of them is made."""
    if sampler not in SAMPLERS:
        raise unknown("sampler", sampler, SAMPLERS)
    if sampler == "grid":
        for a in axes:
            if a.ends is not None:
                raise SunsealError(
                    f"over `{a.path}` is a range, and a grid needs values: give a list, or a sampler such as `sobol`"
                )
        if samples is not None:
            raise SunsealError("`samples` belongs to a sampler; a grid has as many points as its values make")
        wanted = math.prod(len(a.values) for a in axes)
    else:
        if samples is None or samples < 1:
            raise SunsealError(f"the sampler `{sampler}` needs `samples`: how many points, 1 or more")
        if sampler not in ("halton", "optuna") and samples & (samples - 1):
            near = 1 << round(math.log2(samples))
            raise SunsealError(
                f"`samples` is {samples}; Sobol's points are balanced only as a power of two: take {near}"
            )
        wanted = samples * (len(axes) + 2) if sampler == "saltelli" else samples
    if wanted > POINTS_MAX:
        raise _too_many(wanted)
    return wanted


def points(axes: Sequence[Axis], sampler: str, samples: int | None, seed: int) -> list[Point]:
    """Return the points in their order: of a grid the last key goes fastest."""
    count(axes, sampler, samples)
    paths = [a.path for a in axes]
    if sampler == "grid":
        return [dict(zip(paths, values, strict=True)) for values in itertools.product(*(a.values for a in axes))]
    assert samples is not None
    shares = saltelli(len(axes), samples, seed) if sampler == "saltelli" else _shares(len(axes), sampler, samples, seed)
    return [{a.path: a.at(float(share)) for a, share in zip(axes, row, strict=True)} for row in shares]


def each(axes: Sequence[Axis]) -> list[Point]:
    """Return a point for each value that is listed: what a search may name before it has chosen any."""
    return [{a.path: value} for a in axes for value in a.values]


def _shares(dimensions: int, sampler: str, samples: int, seed: int) -> Any:
    from scipy.stats import qmc

    engine = {"sobol": qmc.Sobol, "halton": qmc.Halton}[sampler]
    # The keyword of the seed was renamed within the SciPy versions that are allowed.
    import inspect

    word = "rng" if "rng" in inspect.signature(engine).parameters else "seed"
    return engine(dimensions, scramble=True, **{word: seed}).random(samples)


def saltelli(dimensions: int, samples: int, seed: int) -> Any:
    """Return rows of matrices A, B and, for each dimension i, A with B's column i (Saltelli 2010, table 2)."""
    import numpy as np

    both = _shares(2 * dimensions, "sobol", samples, seed)
    a, b = both[:, :dimensions], both[:, dimensions:]
    mixed = []
    for i in range(dimensions):
        one = a.copy()
        one[:, i] = b[:, i]
        mixed.append(one)
    return np.concatenate([a, b, *mixed])


def own(sampler: Sampler, over: Mapping[str, Any], samples: int | None, seed: int, kind: str) -> list[Point]:
    """Return the points of a function: each must set the same keys, all of them keys of the file."""
    import numpy as np

    found: list[Point] = []
    for point in sampler(over, samples or 0, np.random.default_rng(seed)):
        found.append({p: keypaths.plain(v, p, keypaths.check(p, kind)) for p, v in point.items()})
        if len(found) > POINTS_MAX:
            raise _too_many(len(found))
        if set(found[-1]) != set(found[0]):
            raise SunsealError(
                f"point {len(found) - 1} of the sampler sets {', '.join(found[-1])}, the first {', '.join(found[0])}"
            )
    if not found:
        raise SunsealError("the sampler gave no point")
    return found


# --- The command line's words ----------------------------------------------------------------------


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
    keypaths.split(path)
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
