# SPDX-License-Identifier: MIT OR Apache-2.0
"""Points of a sweep: a grid, quasi-random points, those of a sensitivity analysis, or a function's own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from sunseal.errors import SunsealError, unknown
from sunseal.requests.points import POINTS_MAX, SAMPLERS, Sampler
from sunseal.schemas import keypaths

if TYPE_CHECKING:
    pass

Point: TypeAlias = dict[str, Any]


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
