# SPDX-License-Identifier: MIT OR Apache-2.0
"""Names and versions of what the commands print by `--json`; their schemas are `output_schemas`.

An answer says which it is: `"schema": {"name": "inject", "version": 1}`, in each item where the answer is a list. A
version rises where a key goes or changes its meaning; a new key leaves it as it is.
"""

from __future__ import annotations

from typing import Any

VERSIONS = dict.fromkeys(
    "bench boards calls challenge constant-time constant-time-matrix coupon-analyze coupon-breakeven coupon-leakage "
    "coupon-metrics coupon-noise coupon-randomness coupon-rate coupon-recovery curve demo doctor error events fleet "
    "gaps gateways hdl-energy hdl-size inject least-capacitor lifetime measure new node node-import nodes "
    "part-check part-fit part-new parts plan profile queue reproduce run run-network run-supply send simulate size "
    "sweep sweep-sobol trace-capacitor trace-capacitor-virtual trace-compare trace-energy trace-harvest trace-import "
    "tune war workloads".split(),
    1,
)
"""Each output's version, by its name."""


def head(name: str) -> dict[str, Any]:
    """Return what says which output it is."""
    return {"name": name, "version": VERSIONS[name]}


def stamped(name: str, value: Any) -> Any:
    """Return an answer with its schema's name and version: an object, or each object of a list."""
    if isinstance(value, list):
        return [stamped(name, item) for item in value]
    return {"schema": head(name), **value}
