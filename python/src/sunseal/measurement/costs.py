# SPDX-License-Identifier: MIT OR Apache-2.0
"""Costs of an operation's parts, and of two such parts together."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Cost:
    """Cost of a part of an operation."""

    cycles: int
    time_s: float
    energy_j: float

    @property
    def edp_js(self) -> float:
        """Return the product of energy and delay."""
        return self.energy_j * self.time_s

    def __add__(self, other: Cost) -> Cost:
        """Do one after the other."""
        return Cost(self.cycles + other.cycles, self.time_s + other.time_s, self.energy_j + other.energy_j)

    def __sub__(self, other: Cost) -> Cost:
        """Leave a part out."""
        return Cost(self.cycles - other.cycles, self.time_s - other.time_s, self.energy_j - other.energy_j)

    def over(self, other: Cost) -> dict[str, float]:
        """Return the four improvement ratios; one for something that takes nothing would be infinite."""
        ours, theirs = self.as_json(), other.as_json()
        return {name: ours[name] / theirs[name] for name in ours}

    def as_json(self) -> dict[str, float]:
        """Return the contract's shape."""
        return {**asdict(self), "edp_js": self.edp_js}
