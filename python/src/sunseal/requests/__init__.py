# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests to commands and to their functions of the API, a dataclass each.

Light to import, as `--help` needs no more than this: what a request is about is imported where it is answered.
"""

from sunseal.requests.coupons import (
    COUPON_BOARD,
    Analyze,
    Breakeven,
    Fitted,
    Leak,
    Metrics,
    Randomness,
    Rates,
    Recorded,
    Recoveries,
)
from sunseal.requests.measuring import Curve, Measure, Operation, Point
from sunseal.requests.planning import RADIO, SENSOR, SHADING, Fleet, Life, Plan, Size, Sweep, Tune, Work
from sunseal.requests.recordings import Bench, Trigger, share, tolerances
from sunseal.requests.securing import END, ConstantTime, Inject, LeastCapacitor, War

__all__ = [
    "COUPON_BOARD",
    "END",
    "RADIO",
    "SENSOR",
    "SHADING",
    "Analyze",
    "Bench",
    "Breakeven",
    "ConstantTime",
    "Curve",
    "Fitted",
    "Fleet",
    "Inject",
    "Leak",
    "LeastCapacitor",
    "Life",
    "Measure",
    "Metrics",
    "Operation",
    "Plan",
    "Point",
    "Randomness",
    "Rates",
    "Recorded",
    "Recoveries",
    "Size",
    "Sweep",
    "Trigger",
    "Tune",
    "War",
    "Work",
    "share",
    "tolerances",
]
