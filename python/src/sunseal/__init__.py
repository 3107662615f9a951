# SPDX-License-Identifier: MIT OR Apache-2.0
"""A workbench for cryptography on sensor nodes that live on harvested light.

>>> import sunseal
>>> sunseal.measure("ecdsa-p256-sign", freq_hz=8_000_000, vcc_v=2.2).energy_j  # doctest: +SKIP
"""

from importlib.metadata import version

from sunseal._engine import EngineError
from sunseal.air import Air, Frame
from sunseal.api import FleetRun, lifetime, plan, reproduce, run_fleet, simulate, size, tune
from sunseal.citing import Citations
from sunseal.errors import SunsealError
from sunseal.machine import Machine, Stop
from sunseal.measurement.constant_time import Covered, Leak, Verdict
from sunseal.measurement.coupon import metrics as coupon_metrics
from sunseal.measurement.injecting import Failure, Hazard, Injection, inject, war
from sunseal.measurement.measuring import Measurement, PowerSet, curve, in_joules, measure, profile
from sunseal.running import Bench, Ended

__version__ = version("sunseal")

__all__ = [
    "Air",
    "Bench",
    "Citations",
    "Covered",
    "Ended",
    "EngineError",
    "Failure",
    "FleetRun",
    "Frame",
    "Hazard",
    "Injection",
    "Leak",
    "Machine",
    "Measurement",
    "PowerSet",
    "Stop",
    "SunsealError",
    "Verdict",
    "__version__",
    "coupon_metrics",
    "curve",
    "in_joules",
    "inject",
    "lifetime",
    "measure",
    "plan",
    "profile",
    "reproduce",
    "run_fleet",
    "simulate",
    "size",
    "tune",
    "war",
]
