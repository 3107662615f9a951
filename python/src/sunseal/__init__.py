# SPDX-License-Identifier: MIT OR Apache-2.0
"""A workbench for cryptography on sensor nodes that live on harvested light.

>>> import sunseal
>>> sunseal.measure("ecdsa-p256-sign", freq_hz=8_000_000, vcc_v=2.2).energy_j  # doctest: +SKIP

A name is imported when it is first used, so that `import sunseal` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sunseal._engine import EngineError
    from sunseal.air import Air, Frame
    from sunseal.api import FleetRun, lifetime, plan, reproduce, run_fleet, simulate, size, tune
    from sunseal.citing import Citations
    from sunseal.errors import FindingsError, SunsealError, UndecidedError
    from sunseal.machine import Machine, Stop
    from sunseal.measurement.calling import Calls, measure_calls
    from sunseal.measurement.constant_time import ConstantTime, Covered, Leak
    from sunseal.measurement.coupon import metrics as coupon_metrics
    from sunseal.measurement.injecting import Failure, Hazard, Injection, inject, war
    from sunseal.measurement.lasting import Least, least_capacitor
    from sunseal.measurement.leakage import leakage as coupon_leakage
    from sunseal.measurement.measuring import Measurement, PowerSet, curve, in_joules, measure, profile
    from sunseal.measurement.noise import fitted as coupon_noise
    from sunseal.measurement.randomness import randomness as coupon_randomness
    from sunseal.planner.breakeven import breakeven as coupon_breakeven
    from sunseal.running import Bench, Ended
    from sunseal.sweeps.sobol import sobol_indices
    from sunseal.sweeps.sweeping import sweep
    from sunseal.verdicts import Finding, Verdict

    __version__: str

_HOME = {
    "_engine": "EngineError",
    "air": "Air Frame",
    "api": "FleetRun lifetime plan reproduce run_fleet simulate size tune",
    "citing": "Citations",
    "errors": "FindingsError SunsealError UndecidedError",
    "machine": "Machine Stop",
    "measurement.calling": "Calls measure_calls",
    "measurement.constant_time": "ConstantTime Covered Leak",
    "measurement.injecting": "Failure Hazard Injection inject war",
    "measurement.lasting": "Least least_capacitor",
    "measurement.measuring": "Measurement PowerSet curve in_joules measure profile",
    "running": "Bench Ended",
    "sweeps.sobol": "sobol_indices",
    "sweeps.sweeping": "sweep",
    "verdicts": "Finding Verdict",
}
"""Module in which each public name is defined; no module here may have a public name, which it would replace."""
_RENAMED = {
    "coupon_breakeven": ("planner.breakeven", "breakeven"),
    "coupon_leakage": ("measurement.leakage", "leakage"),
    "coupon_metrics": ("measurement.coupon", "metrics"),
    "coupon_noise": ("measurement.noise", "fitted"),
    "coupon_randomness": ("measurement.randomness", "randomness"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("sunseal")
    elif name in _RENAMED:
        module, own = _RENAMED[name]
        value = getattr(import_module(f"sunseal.{module}"), own)
    elif name in _MODULE_OF:
        value = getattr(import_module(f"sunseal.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module `sunseal` has no attribute `{name}`")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Air",
    "Bench",
    "Calls",
    "Citations",
    "ConstantTime",
    "Covered",
    "Ended",
    "EngineError",
    "Failure",
    "Finding",
    "FindingsError",
    "FleetRun",
    "Frame",
    "Hazard",
    "Injection",
    "Leak",
    "Least",
    "Machine",
    "Measurement",
    "PowerSet",
    "Stop",
    "SunsealError",
    "UndecidedError",
    "Verdict",
    "__version__",
    "coupon_breakeven",
    "coupon_leakage",
    "coupon_metrics",
    "coupon_noise",
    "coupon_randomness",
    "curve",
    "in_joules",
    "inject",
    "least_capacitor",
    "lifetime",
    "measure",
    "measure_calls",
    "plan",
    "profile",
    "reproduce",
    "run_fleet",
    "simulate",
    "size",
    "sobol_indices",
    "sweep",
    "tune",
    "war",
]
