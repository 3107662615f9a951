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
    from sunseal.answers.verdicts import Finding, Verdict
    from sunseal.api.planning import lifetime, plan, size, tune
    from sunseal.api.playing import run_fleet, simulate
    from sunseal.catalog.citing import Citations
    from sunseal.catalog.power_sets import PowerSet
    from sunseal.errors import FindingsError, SunsealError, UndecidedError
    from sunseal.loop.fleet import FleetRun
    from sunseal.machine.air import Air, Frame
    from sunseal.machine.machine import Machine, Stop
    from sunseal.machine.running import Bench, Ended
    from sunseal.machine.taint import ConstantTime, Covered, Leak
    from sunseal.measurement.calling import Calls, measure_calls
    from sunseal.measurement.coupon import metrics as coupon_metrics
    from sunseal.measurement.measuring import Measurement, curve, in_joules, measure, profile
    from sunseal.papers.published import reproduce
    from sunseal.planner.breakeven import breakeven as coupon_breakeven
    from sunseal.secure.injecting import Failure, Hazard, Injection, inject, war
    from sunseal.secure.lasting import Least, least_capacitor
    from sunseal.secure.leakage import leakage as coupon_leakage
    from sunseal.secure.noise import fitted as coupon_noise
    from sunseal.secure.randomness import randomness as coupon_randomness
    from sunseal.sweeps.sobol import sobol_indices
    from sunseal.sweeps.sweeping import sweep

    __version__: str

_HOME = {
    "_engine": "EngineError",
    "answers.verdicts": "Finding Verdict",
    "api.planning": "lifetime plan size tune",
    "api.playing": "run_fleet simulate",
    "catalog.citing": "Citations",
    "catalog.power_sets": "PowerSet",
    "errors": "FindingsError SunsealError UndecidedError",
    "loop.fleet": "FleetRun",
    "machine.air": "Air Frame",
    "machine.machine": "Machine Stop",
    "machine.running": "Bench Ended",
    "machine.taint": "ConstantTime Covered Leak",
    "measurement.calling": "Calls measure_calls",
    "measurement.measuring": "Measurement curve in_joules measure profile",
    "papers.published": "reproduce",
    "secure.injecting": "Failure Hazard Injection inject war",
    "secure.lasting": "Least least_capacitor",
    "sweeps.sobol": "sobol_indices",
    "sweeps.sweeping": "sweep",
}
"""Module in which each public name is defined; no module here may have a public name, which it would replace."""
_RENAMED = {
    "coupon_breakeven": ("planner.breakeven", "breakeven"),
    "coupon_leakage": ("secure.leakage", "leakage"),
    "coupon_metrics": ("measurement.coupon", "metrics"),
    "coupon_noise": ("secure.noise", "fitted"),
    "coupon_randomness": ("secure.randomness", "randomness"),
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
