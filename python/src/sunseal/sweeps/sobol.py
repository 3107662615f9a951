# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sobol indices of a figure over the keys of a sweep: what share of its variance each key explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sunseal.errors import SunsealError, unknown
from sunseal.sweeps.figures import Row

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

RESAMPLES = 1000
CONFIDENCE = 0.95


def sobol_indices(frame: pd.DataFrame, figure: str, *, seed: int = 1) -> pd.DataFrame:
    """Return first-order and total Sobol indices of a figure over the keys of a sweep with `sampler="saltelli"`.

    Estimators of Saltelli et al. 2010, table 2, (b) and (f); `_low` and `_high` enclose the middle 95 % of 1000
    resamplings. An index of a figure that does not vary is missing.
    """
    import numpy as np
    import pandas as pd

    told = frame.attrs.get("sweep", {})
    if told.get("sampler") != "saltelli":
        raise SunsealError('Sobol indices need the points of a sweep with `sampler="saltelli"`')
    paths, samples = list(told["over"]), int(told["samples"])
    if figure not in frame or not pd.api.types.is_numeric_dtype(frame[figure]):
        numbers = [c for c in frame.columns if pd.api.types.is_numeric_dtype(frame[c]) and c not in paths]
        raise unknown("figure", figure, numbers, "of this sweep")
    values = frame[figure].to_numpy(dtype=float, na_value=np.nan)
    if len(values) != samples * (len(paths) + 2) or not np.isfinite(values).all():
        lost = int((~np.isfinite(values)).sum()) + samples * (len(paths) + 2) - len(values)
        raise SunsealError(
            f"{lost} points of the sweep have no `{figure}`; indices need all {samples * (len(paths) + 2)}"
        )
    # Around their mean: the first-order estimator's spread grows with the square of it.
    f_a, f_b, *mixed = (values - values[: 2 * samples].mean()).reshape(-1, samples)
    draws = np.random.default_rng(seed).integers(0, samples, (RESAMPLES, samples))
    rows = []
    for path, f_ab in zip(paths, mixed, strict=True):
        row: Row = {"key": path}
        for name, of in (("first_order", _first_order), ("total", _total)):
            row[name] = float(of(f_a, f_b, f_ab))
            again = of(f_a[draws], f_b[draws], f_ab[draws])
            ends = np.quantile(again[np.isfinite(again)], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
            row[f"{name}_low"], row[f"{name}_high"] = (float(e) for e in ends)
        rows.append(row)
    return pd.DataFrame(rows).set_index("key")


def _variance(f_a: np.ndarray[Any, Any], f_b: np.ndarray[Any, Any]) -> Any:
    import numpy as np

    return np.concatenate([f_a, f_b], axis=-1).var(axis=-1)


def _first_order(f_a: Any, f_b: Any, f_ab: Any) -> Any:
    return (f_b * (f_ab - f_a)).mean(axis=-1) / _variance(f_a, f_b)


def _total(f_a: Any, f_b: Any, f_ab: Any) -> Any:
    return ((f_a - f_ab) ** 2).mean(axis=-1) / (2 * _variance(f_a, f_b))
