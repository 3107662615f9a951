# SPDX-License-Identifier: MIT OR Apache-2.0
"""Slices of a Spartan-3, estimated from what yosys maps and judged by what ISE reported of others' designs.

A slice has two look-up tables, each with a flop behind it: a flop that a table feeds takes no place of its own, any
other does. So a design's places are its tables and its flops that none of them feeds, and its slices a constant times
their number. The constant is fitted to one design of each document of data/published/spartan3-slices.toml; the others
say how far the estimate is off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sunseal.catalog.boards import home, read_toml
from sunseal.errors import SunsealError

TABLE = re.compile(r"LUT[1-4]$|SRLC?16|RAM16X1S")
DATA = "data/published/spartan3-slices.toml"


@dataclass(frozen=True)
class Mapped:
    """Cells of a netlist for Spartan-3; a dual-port RAM counts as its two tables."""

    tables: int
    flops: int
    fed: int
    block_rams: int = 0

    @property
    def places(self) -> int:
        """Places of a table with its flop that the design needs."""
        return self.tables + self.flops - self.fed


@dataclass(frozen=True)
class Law:
    """Slices per place, and by how much the estimate missed each design that it was not fitted to."""

    slices_per_place: float
    fitted_to: tuple[str, ...]
    errors_rel: dict[str, float]

    def estimate(self, mapped: Mapped) -> float:
        """Estimate the slices that ISE would report."""
        return self.slices_per_place * mapped.places

    @property
    def bounds(self) -> tuple[float, float]:
        """Factors by which the estimate is multiplied at least and at most to give a held-out design's slices."""
        return 1 / (1 + max(self.errors_rel.values())), 1 / (1 + min(self.errors_rel.values()))

    def told(self, slices: float) -> str:
        """Say what the figure rests on and between which bounds it lies."""
        low, high = (slices * bound for bound in self.bounds)
        worst = f"{min(self.errors_rel.values()):+.0%} to {max(self.errors_rel.values()):+.0%}"
        return (
            f"estimate, {low:.0f} to {high:.0f}: fitted to {len(self.fitted_to)} ISE results, {worst} off on "
            f"{len(self.errors_rel)} others"
        )


def read_netlist(path: Path) -> Mapped:
    """Count the cells of the netlist that `write_json` wrote."""
    modules: dict[str, Any] = json.loads(path.read_text())["modules"]
    (top,) = (m for m in modules.values() if int(m["attributes"].get("top", "0"), 2))
    tables = flops = block_rams = 0
    outputs: set[int] = set()
    inputs: list[int] = []
    for cell in top["cells"].values():
        kind, pins = cell["type"], cell["connections"]
        if TABLE.match(kind):
            tables += 1
            outputs.update(pins.get("O", []) + pins.get("Q", []))
        elif kind.startswith("RAM16X1D"):
            tables += 2
            outputs.update(pins["DPO"] + pins["SPO"])
        elif kind == "XORCY":  # the sum of a carry chain leaves the place of the table before it
            outputs.update(pins["O"])
        elif kind.startswith("FD"):
            flops += 1
            inputs += pins["D"]
        elif kind.startswith("RAMB"):
            block_rams += 1
        elif kind.startswith(("RAM", "MUXF")):
            raise SunsealError(f"the estimate of slices knows no {kind}: none of the designs of {DATA} has one")
    return Mapped(tables, flops, len(outputs.intersection(inputs)), block_rams)


def fit(data: Mapping[str, Any]) -> Law:
    """Fit the constant to the designs that are marked so, as the mean of their own, and judge it by all others."""
    fitted: dict[str, float] = {}
    others: dict[str, float] = {}
    for document in data["document"]:
        for r in document["result"]:
            places = Mapped(r["tables"], r["flops"], r["fed"]).places
            kind = fitted if r.get("fits", False) else others
            kind[f"{document['name']}, {r['design']}"] = r["slices"] / places
    if not fitted or not others:
        raise SunsealError(f"{DATA} needs designs that the estimate is fitted to, and others that it is judged by")
    constant = sum(fitted.values()) / len(fitted)
    return Law(constant, tuple(fitted), {name: constant / own - 1 for name, own in others.items()})


@cache
def law() -> Law:
    """Read the designs and fit the constant to them."""
    return fit(read_toml(home() / DATA))
