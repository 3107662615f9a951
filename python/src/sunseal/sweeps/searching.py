# SPDX-License-Identifier: MIT OR Apache-2.0
"""Points that are chosen by what the points before them came to: Optuna's tree-structured Parzen estimator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sunseal.errors import SunsealError, unknown
from sunseal.sweeps.figures import Row
from sunseal.sweeps.sampling import Axis, Point

ROUND = 8
"""So many points are chosen at a time, whatever the number of workers: same seed, same points."""


@dataclass(frozen=True)
class Goal:
    """Figure that is to become small or large."""

    figure: str
    least: bool

    @classmethod
    def of(cls, minimise: str | None, maximise: str | None, sampler: object) -> Goal | None:
        """Read what a call asks for; only a search has a goal, and none is without."""
        if minimise is not None and maximise is not None:
            raise SunsealError("`minimise` and `maximise` are given; a search has one figure")
        figure = minimise if minimise is not None else maximise
        if (figure is not None) != (sampler == "optuna"):
            lacks = "needs `minimise` or `maximise`: the figure to be searched for"
            raise SunsealError(
                f"the sampler `optuna` {lacks}" if figure is None else "`minimise` and `maximise` need sampler `optuna`"
            )
        return None if figure is None else cls(figure, minimise is not None)

    def best(self, rows: Mapping[int, Row]) -> int | None:
        """Return the point that came closest to it, the first of several; None if no point has the figure."""
        known = {i: value for i in sorted(rows) if (value := self.value(rows[i])) is not None}
        sign = 1 if self.least else -1
        return min(known, key=lambda i: sign * known[i], default=None)

    def value(self, row: Row) -> float | None:
        """Return a point's figure where it has one that can be compared."""
        # A message that was never sent was sent no times, as in the table.
        value = row.get(self.figure, 0 if self.figure.startswith("messages_") else None)
        if row["error"] or isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)


class Search:
    """Ask for points, tell what came of them."""

    def __init__(self, axes: Sequence[Axis], seed: int, goal: Goal) -> None:
        """Begin a search; Optuna, the extra `search`, is asked for here."""
        import optuna

        self._optuna = optuna
        self.version = str(optuna.__version__)
        self.goal = goal
        self._axes = axes
        self._asked: list[Any] = []
        self._found = False
        was = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.ERROR)  # it would announce its study on standard error
        self._study = optuna.create_study(
            direction="minimize" if goal.least else "maximize", sampler=optuna.samplers.TPESampler(seed=seed)
        )
        optuna.logging.set_verbosity(was)

    def ask(self, count: int) -> list[Point]:
        """Choose the next points."""
        self._asked = [self._study.ask() for _ in range(count)]
        return [{axis.path: self._choose(trial, axis) for axis in self._axes} for trial in self._asked]

    @staticmethod
    def _choose(trial: Any, axis: Axis) -> Any:
        if axis.ends is None:
            return axis.values[trial.suggest_categorical(axis.path, range(len(axis.values)))]
        low, high = axis.ends
        if axis.whole:
            return trial.suggest_int(axis.path, math.ceil(low), math.floor(high), log=axis.log)
        return trial.suggest_float(axis.path, low, high, log=axis.log)

    def tell(self, rows: Sequence[Row]) -> None:
        """Say what the points asked for last came to, in their order; one without the figure counts as failed."""
        states = self._optuna.trial.TrialState
        ran = [row for row in rows if not row["error"]]
        self._found = self._found or any(self.goal.value(row) is not None for row in ran)
        if ran and not self._found:
            numbers = {k for row in ran for k, v in row.items() if isinstance(v, int | float)}
            raise unknown("figure", self.goal.figure, numbers, "of this sweep")
        for trial, row in zip(self._asked, rows, strict=True):
            value = self.goal.value(row)
            if value is None:
                self._study.tell(trial, state=states.FAIL)
            else:
                self._study.tell(trial, value)
