# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prices that an answer about a node's operation rests on: the operation measured, the sleep, the message, the
coprocessor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sunseal.answers.shown import Shown
from sunseal.catalog import citing
from sunseal.measurement.measuring import Measurement
from sunseal.measurement.switching import Between
from sunseal.planner.asleep import Asleep
from sunseal.planner.radio import Exchange


@dataclass(frozen=True, kw_only=True)
class Priced(Shown):
    """An answer about an operation that is done again and again, with what it rests on."""

    measured: Measurement | None = field(default=None, repr=False)
    """The operation, where it was measured for this."""
    asleep: Asleep | None = field(default=None, repr=False)
    """Parts of the sleep's power; None: it was given."""
    exchange: Exchange | None = field(default=None, repr=False)
    """Exchange over the air with each operation; None: its energy was given."""
    between: Between | None = field(default=None, repr=False)
    """Cost of a coprocessor between two operations; None on a board without one."""
    citations: citing.Citations = field(default=citing.NOTHING, repr=False)

    def cite(self) -> citing.Citations:
        """Return the documents behind operation, supply, light, radio and equations."""
        return self.citations

    def figures(self) -> dict[str, Any]:
        """Return the answer's own fields, without the question and without what it rests on."""
        hidden = ("question", *Priced.__dataclass_fields__)
        return {name: value for name, value in vars(self).items() if name not in hidden}

    def parts(self) -> dict[str, Any]:
        """Return of what the sleep and the message consist."""
        return {
            "asleep": None if self.asleep is None else self.asleep.to_dict(),
            "exchange": None if self.exchange is None else self.exchange.to_dict(),
        }
