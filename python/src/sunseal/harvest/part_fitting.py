# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parts fitted to what was measured: a capacitor to its discharge, a panel to its I-V points."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sunseal.errors import SunsealError
from sunseal.harvest.light import Panel, bounds

Array = npt.NDArray[np.float64]
POINTS_MIN = 8
POINTS_MAX = 1500
"""More points than this are thinned, denser at the beginning, where the fast branches show."""
BETTER = 0.8
"""A further branch must bring the residuals below this share, or it is not there."""
R_MIN_OHM = 1e-4
ALPHA_PERCENT_PER_K, BETA_PERCENT_PER_K = 0.05, -0.33
"""Temperature coefficients of a panel that nobody warmed: those of ixys-slmd600h10l, crystalline silicon."""
BOLTZMANN_V_PER_K = 8.617333262e-5


@dataclass(frozen=True)
class Discharge:
    """A capacitor's voltage over time while a current is drawn from it."""

    file: str
    time_s: Array
    voltage_v: Array
    current_a: Array
    """From each point to the next."""


@dataclass(frozen=True)
class IvPoints:
    """A panel's currents at voltages."""

    file: str
    voltage_v: Array
    current_a: Array


@dataclass(frozen=True)
class Fit:
    """A part's figures with their standard errors, and what the fit leaves."""

    kind: str
    table: dict[str, Any]
    """As it stands in the part's file."""
    figures: dict[str, tuple[float, float | None]]
    """Figures that were fitted, with their standard errors; None where the points do not tell it."""
    points: int
    rms: float
    worst: float
    unit: str
    remarks: tuple[str, ...] = ()
    branches: list[dict[str, float]] = field(default_factory=list)
    points_told: list[dict[str, float]] = field(default_factory=list)
    """Points of a panel that is described by them."""

    @property
    def inner(self) -> tuple[tuple[str, list[dict[str, float]]], ...]:
        """Return the tables inside of the part's own."""
        return ("branch", self.branches), ("point", self.points_told)

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "kind": self.kind,
            "figures": {k: {"value": v, "standard_error": e} for k, (v, e) in self.figures.items()},
            "part": {**self.table, **{name: rows for name, rows in self.inner if rows}},
            "points": self.points,
            "residual_rms": self.rms,
            "residual_max": self.worst,
            "residual_unit": self.unit,
            "remarks": list(self.remarks),
        }


def read(path: Path) -> Discharge | IvPoints:
    """Read a CSV file; its head says what it is, and every line that is none is named."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [
                (n, row) for n, row in enumerate(csv.reader(file), 1) if row and not row[0].lstrip().startswith("#")
            ]
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be read: {e.strerror or e}") from e
    except (UnicodeDecodeError, csv.Error) as e:
        raise SunsealError(f"`{path}` is no CSV file: {e}") from e
    head = [c.strip() for c in rows[0][1]] if rows else []
    shapes = (["time_s", "voltage_v"], ["time_s", "voltage_v", "current_a"], ["voltage_v", "current_a"])
    if head not in shapes:
        wanted = ", ".join(f"`{','.join(s)}`" for s in shapes)
        raise SunsealError(f"`{path}` has the head `{','.join(head)}`; it must be one of {wanted}")
    table = []
    for number, row in rows[1:]:
        try:
            values = [float(c) for c in row]
        except ValueError:
            values = []
        if len(values) != len(head) or not all(map(math.isfinite, values)):
            raise SunsealError(f"`{path}`, line {number}: `{','.join(row)}` is not {len(head)} numbers")
        table.append(values)
    if len(table) < POINTS_MIN:
        raise SunsealError(f"`{path}` has {len(table)} points; a fit needs {POINTS_MIN} or more")
    columns = np.array(table, dtype=float).T
    if head[0] != "time_s":
        return IvPoints(path.name, columns[0], columns[1])
    steps = np.diff(columns[0])
    if (steps <= 0).any():
        at = rows[int(np.argmax(steps <= 0)) + 2][0]
        raise SunsealError(f"`{path}`, line {at}: the time does not rise")
    if (columns[1] <= 0).any():
        at = rows[int(np.argmax(columns[1] <= 0)) + 1][0]
        raise SunsealError(f"`{path}`, line {at}: a capacitor's voltage must be above zero here")
    current = columns[2] if len(columns) > 2 else np.zeros_like(columns[0])
    return Discharge(path.name, columns[0] - columns[0][0], columns[1], current)


# --- A capacitor -----------------------------------------------------------------------------


def voltages(c_f: Array, r_ohm: Array, leak_s: float, v0_v: float, run: Discharge) -> Array:
    """Return the terminal's voltage of branches in parallel, of which the first leaks, from rest at a voltage.

    The network is linear and the current constant from point to point, so each step is exact, mode by mode.
    """
    to = 1.0 / r_ohm
    whole = to.sum()
    # dv/dt = a v + b i, with the terminal at (sum(v/r) - i) / sum(1/r).
    a = (np.outer(to, to) / whole - np.diag(to)) / c_f[:, None]
    a[0, 0] -= leak_s / c_f[0]
    b = -to / whole / c_f
    # Scaled by the roots of the capacitances it is symmetric, so its modes are real.
    root = np.sqrt(c_f)
    rates, modes = np.linalg.eigh(a * root[:, None] / root[None, :])
    rates = np.minimum(rates, -1e-18)
    dt = np.diff(run.time_s)
    decay = np.exp(np.outer(dt, rates))
    drive = np.expm1(np.outer(dt, rates)) / rates * (modes.T @ (b * root)) * run.current_a[:-1, None]
    state = np.empty((len(run.time_s), len(rates)))
    state[0] = modes.T @ (root * v0_v)
    for i in range(len(dt)):
        state[i + 1] = decay[i] * state[i] + drive[i]
    v = (state @ modes.T) / root
    found: Array = (v @ to - run.current_a) / whole
    return found


def _thinned(run: Discharge) -> Discharge:
    """Take fewer points where there are many, with the mean current between them, so that no charge is lost."""
    count = len(run.time_s)
    if count <= POINTS_MAX:
        return run
    early = np.unique(np.geomspace(1, count - 1, POINTS_MAX // 2).astype(int))
    steps = np.flatnonzero(np.abs(np.diff(run.current_a)) > 1e-3 * np.abs(run.current_a).max()) + 1
    near = [steps + k for k in (-1, 0, 1)] if len(steps) < POINTS_MAX // 8 else []
    even = np.linspace(0, count - 1, POINTS_MAX // 2).astype(int)
    at = np.unique(np.clip(np.concatenate([[0], early, even, *near]), 0, count - 1))
    charge = np.concatenate([[0.0], np.cumsum(run.current_a[:-1] * np.diff(run.time_s))])
    mean = np.diff(charge[at]) / np.diff(run.time_s[at])
    return Discharge(run.file, run.time_s[at], run.voltage_v[at], np.append(mean, run.current_a[-1]))


@dataclass(frozen=True)
class _Network:
    c_f: Array
    r_ohm: Array
    leak_s: float
    rms: float
    worst: float
    rel: Array
    """Relative standard errors of the capacitances and resistances; the conductance's own is absolute."""
    leak_error_s: float
    total_rel: float


def _fit_network(run: Discharge, count: int, total_f: float | None) -> _Network | None:
    from scipy.optimize import least_squares

    charge_c = float((run.current_a[:-1] * np.diff(run.time_s)).sum())
    fall_v = float(run.voltage_v.max() - run.voltage_v.min())
    c_f = total_f if total_f is not None else max(charge_c / max(fall_v, 1e-9), 1e-12)
    span_s = float(run.time_s[-1])
    loaded_a = float(np.abs(run.current_a).max())
    esr = 0.05 * fall_v / loaded_a if loaded_a > 0 else 1.0
    # The further branches begin with time constants spread over the run.
    tau = np.geomspace(span_s / 30, span_s / 3, count - 1) if count > 1 else np.empty(0)
    shares = np.array([1.0, *([0.3] * (count - 1))])
    c0 = c_f * shares / shares.sum()
    r0 = np.concatenate([[max(esr, 2 * R_MIN_OHM)], tau / c0[1:]])
    g_unit = c_f / span_s
    fixed = total_f is not None

    def unpack(x: Array) -> tuple[Array, Array, float, float]:
        c = np.exp(x[:count])
        if total_f is not None:
            c = c * (total_f / c.sum())
        return c, np.exp(x[count : 2 * count]), float(x[-2]) * g_unit, float(x[-1])

    def residuals(x: Array) -> Array:
        c, r, g, v0 = unpack(x)
        return voltages(c, r, g, v0, run) - run.voltage_v

    start = np.concatenate([np.log(c0), np.log(r0), [1e-3, float(run.voltage_v[0]) + r0[0] * run.current_a[0]]])
    low = np.concatenate([np.full(count, -40.0), np.full(count, math.log(R_MIN_OHM)), [0.0, 0.0]])
    high = np.concatenate([np.full(count, 15.0), np.full(count, 30.0), [50.0, 1e4]])
    try:
        found = least_squares(residuals, start, bounds=(low, high), x_scale="jac", xtol=1e-12, ftol=1e-12)
    except (ValueError, np.linalg.LinAlgError):
        return None
    c, r, g, _ = unpack(found.x)
    order = np.argsort(r)
    if order[0] != 0:  # the first is the one at the terminal, and it leaks
        return None
    n, p = len(run.time_s), len(start) - (1 if fixed else 0)
    variance = 2 * found.cost / max(n - p, 1)
    covariance = np.linalg.pinv(found.jac.T @ found.jac) * variance
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    # A direction that the points do not see at all has no entry in the pseudo-inverse.
    seen = np.abs(found.jac).max(axis=0) > 1e-9
    errors = np.where(seen, errors, np.inf)
    weights = np.concatenate([c / c.sum(), np.zeros(len(start) - count)])
    total_rel = 0.0 if fixed else float(np.sqrt(max(weights @ covariance @ weights, 0.0)))
    rest = found.fun
    rel = np.concatenate([errors[:count][order], errors[count : 2 * count][order]])
    return _Network(
        c[order], r[order], g, float(np.sqrt(np.mean(rest**2))), float(np.abs(rest).max()), rel,
        float(errors[-2]) * g_unit, total_rel,
    )  # fmt: skip


def capacitor(
    run: Discharge,
    *,
    rated_v: float | None,
    capacitance_f: float | None = None,
    esr_ohm: float | None = None,
    branches: int | None = None,
) -> Fit:
    """Fit capacitance, series resistance, leakage and, where they help, slower branches to a discharge from rest."""
    if rated_v is None:
        raise SunsealError(f"`{run.file}` does not tell a capacitor's rated voltage: say it by `--rated`")
    if run.voltage_v.max() > rated_v * 1.05:
        raise SunsealError(f"`{run.file}` has {run.voltage_v.max():g} V on a capacitor that is rated {rated_v:g} V")
    if not np.any(run.current_a) and (capacitance_f is None or esr_ohm is None):
        raise SunsealError(
            f"`{run.file}` draws no current, and what a capacitor loses by itself tells neither its size nor its "
            "series resistance: give them by `--capacitance` and `--esr`, or measure with a load and a column current_a"
        )
    if (run.current_a[:-1] * np.diff(run.time_s)).sum() < 0:
        raise SunsealError(f"`{run.file}` charges the capacitor: current_a is what is drawn from it, above zero")
    points = _thinned(run)
    best: _Network | None = None
    for count in [branches] if branches is not None else (1, 2, 3):
        if len(points.time_s) <= 2 * count + 3:
            break
        network = _fit_network(points, count, capacitance_f)
        if network is None or (best is not None and network.rms > BETTER * best.rms):
            break
        best = network
    if best is None:
        raise SunsealError(f"no capacitor with {branches or 1} branches fits `{run.file}`: try other `--branches`")
    return _capacitor_fit(run, points, best, rated_v, (capacitance_f, esr_ohm))


def _capacitor_fit(
    run: Discharge, points: Discharge, best: _Network, rated_v: float, given: tuple[float | None, float | None]
) -> Fit:
    given_f, given_ohm = given
    if given_ohm is not None:
        best.r_ohm[0], best.rel[len(best.c_f)] = given_ohm, np.inf
    count, total_f = len(best.c_f), float(best.c_f.sum())
    remarks = []
    told = best.leak_s > 2 * best.leak_error_s
    leak_s = best.leak_s if told else best.leak_s + 2 * best.leak_error_s
    if not math.isfinite(leak_s) or leak_s <= 0:
        raise SunsealError(f"`{run.file}` tells nothing of the leakage: measure longer, with the load off for a while")
    if not told:
        remarks.append(
            f"the leakage is not told by these points: at most {leak_s * rated_v * 1e6:.3g} uA at {rated_v:g} V, which "
            "is what is written; a longer rest would tell it"
        )
    figures: dict[str, tuple[float, float | None]] = {
        "capacitance_f": (total_f, None if given_f is not None else _known(total_f, best.total_rel)),
        "leakage_uA": (leak_s * rated_v * 1e6, best.leak_error_s * rated_v * 1e6 if told else None),
    }
    names = (
        [("esr_ohm", "")]
        if count == 1
        else [(f"branch[{k}].r_ohm", f"branch[{k}].capacitance_f") for k in range(count)]
    )
    for k, (r_name, c_name) in enumerate(names):
        r = float(best.r_ohm[k])
        figures[r_name] = (r, _known(r, float(best.rel[count + k])))
        if c_name:
            c = float(best.c_f[k])
            figures[c_name] = (c, _known(c, float(best.rel[k])))
    if given_ohm is not None:
        remarks.append("the series resistance is the one given")
    elif figures[names[0][0]][1] is None:
        remarks.append("the series resistance is not told by these points: a step of the current would tell it")
    if given_f is not None:
        remarks.append("the capacitance is the one given")
    table: dict[str, Any] = {
        "capacitance_f": _digits(total_f),
        "tolerance_rel": _digits(max(2 * best.total_rel, 0.001)),
        "esr_ohm": _digits(float(best.r_ohm[0])),
        "v_rated_v": rated_v,
        "leakage_uA": _digits(leak_s * rated_v * 1e6),
        "source": f"fitted to {run.file}: {len(points.time_s)} points over {run.time_s[-1]:.4g} s, residuals "
        f"{best.rms * 1e3:.3g} mV rms, {best.worst * 1e3:.3g} mV at most",
        "note": "One specimen: the tolerance is twice the fit's standard error. Capacitance taken as independent of "
        "the voltage." + "".join(f" {r[0].upper()}{r[1:]}." for r in remarks),
    }
    found = []
    if count > 1:
        found = [
            {"capacitance_f": _digits(float(c)), "r_ohm": _digits(float(r))}
            for c, r in zip(best.c_f, best.r_ohm, strict=True)
        ]
    return Fit("capacitor", table, figures, len(points.time_s), best.rms, best.worst, "V", tuple(remarks), found)


def _known(value: float, rel: float) -> float | None:
    """Return a standard error, None where it is as large as the value."""
    return value * rel if rel < 1.0 else None


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


# --- A panel ---------------------------------------------------------------------------------


def diode_current(x: Array, voltage_v: Array) -> Array:
    """Return the current of a single diode: photocurrent, ln of the saturation current, ln of the series resistance,
    shunt conductance, n Ns Vth."""
    from scipy.special import wrightomega

    i_l, ln_i0, ln_rs, g, a = x
    i_0, r_s = math.exp(ln_i0), math.exp(ln_rs)
    # i = i_l - i_0 (exp((v + i rs)/a) - 1) - g (v + i rs), solved by Lambert's W of a logarithm, which cannot overflow.
    k = 1.0 + g * r_s
    base = (i_l + i_0 - g * voltage_v) / k
    w = wrightomega(np.log(i_0 * r_s / (a * k)) + (voltage_v + r_s * base) / a)
    return np.asarray(base - a / r_s * w, dtype=float)


def _whole_curve(points: IvPoints) -> tuple[Array, Array, float, float]:
    """Return voltages and currents with the largest of each; refuse what is only a part of a curve."""
    v, i = points.voltage_v, points.current_a
    if i.max() <= 0 or v.max() <= 0:
        raise SunsealError(f"`{points.file}` has no point in which the panel gives power: current_a is what it gives")
    v_oc, i_sc = float(v.max()), float(i.max())
    if i[v >= 0.9 * v_oc].min() > 0.8 * i_sc or v[i >= 0.9 * i_sc].min() > 0.6 * v_oc:
        raise SunsealError(
            f"`{points.file}` shows only a part of the curve: take points from near the short circuit to "
            "near the open one"
        )
    return v, i, v_oc, i_sc


def panel(
    points: IvPoints,
    *,
    cells: int,
    temperature_c: float = 25.0,
    light_w_m2: float = 1000.0,
    lux: float | None = None,
) -> Fit:
    """Fit a single diode to I-V points, and tell the panel by it: at standard test conditions, or by its point in lux.

    What it writes is asked of the panel's law, and refused where no use would take it.
    """
    from scipy.optimize import least_squares

    if lux is not None and lux <= 0:
        raise SunsealError(f"--lux is {lux:g}; it must be above zero")
    if light_w_m2 <= 0:
        raise SunsealError(f"--light is {light_w_m2:g} W/m2; it must be above zero")
    if not -60 < temperature_c < 125:
        raise SunsealError(f"--temperature is {temperature_c:g} degC; it lies between -60 and 125")
    v, i, v_oc, i_sc = _whole_curve(points)
    a = 1.2 * cells * BOLTZMANN_V_PER_K * (temperature_c + 273.15)
    start = np.array([i_sc, math.log(i_sc) - v_oc / a, math.log(0.02 * v_oc / i_sc), 1e-3 * i_sc / v_oc, a])
    low = [0.0, -200.0, math.log(1e-6 * v_oc / i_sc), 0.0, a / 3.0]
    high = [10 * i_sc, math.log(i_sc), math.log(v_oc / i_sc), i_sc / v_oc, a * 2.5]
    start = np.clip(start, np.array(low) + 1e-12, np.array(high) - 1e-12)
    found = least_squares(
        lambda x: diode_current(x, v) - i, start, bounds=(low, high), x_scale="jac", xtol=1e-14, ftol=1e-14
    )
    rest, n = found.fun, len(v)
    rms, worst = float(np.sqrt(np.mean(rest**2))), float(np.abs(rest).max())
    variance = 2 * found.cost / max(n - len(start), 1)
    errors: list[float] = np.sqrt(np.maximum(np.diag(np.linalg.pinv(found.jac.T @ found.jac)) * variance, 0.0)).tolist()
    remarks = []
    if rms > 0.02 * i_sc:
        remarks.append(
            f"the residuals are {rms / i_sc:.1%} of the short-circuit current: a single diode does not describe it"
        )
    i_l, ln_i0, ln_rs, g, a = (float(value) for value in found.x)
    ideality = a / (cells * BOLTZMANN_V_PER_K * (temperature_c + 273.15))
    figures: dict[str, tuple[float, float | None]] = {
        "photocurrent_a": (i_l, _known(i_l, errors[0] / i_l)),
        "saturation_a": (math.exp(ln_i0), _known(math.exp(ln_i0), errors[1])),
        "r_series_ohm": (math.exp(ln_rs), _known(math.exp(ln_rs), errors[2])),
        "r_shunt_ohm": (1 / g if g > 0 else math.inf, _known(1 / g, errors[3] / g) if g > 0 else None),
        "ideality": (ideality, _known(ideality, errors[4] / a)),
    }
    if not math.isfinite(figures["r_shunt_ohm"][0]):
        del figures["r_shunt_ohm"]
        remarks.append("no shunt is seen in these points")
    fitted = _Diode(points, cells, found.x, figures, (rms, worst), tuple(remarks))
    return _at_stc(fitted, temperature_c, light_w_m2) if lux is None else _indoors(fitted, lux)


@dataclass(frozen=True)
class _Diode:
    """A single diode as it was fitted to a panel's points."""

    points: IvPoints
    cells: int
    x: Array
    """As `diode_current` takes it."""
    figures: dict[str, tuple[float, float | None]]
    residuals_a: tuple[float, float]
    remarks: tuple[str, ...]

    def at(self, sun: float) -> tuple[float, float, float, float]:
        """Return open circuit, short circuit and maximum power in so many times the light."""
        x = self.x * np.array([sun, 1.0, 1.0, sun, 1.0])
        return _points_of(lambda v: diode_current(x, v), float(x[4]), float(x[0]), math.exp(x[1]))

    @property
    def source(self) -> str:
        """Say what was fitted to what."""
        rms, worst = self.residuals_a
        return (
            f"fitted to {self.points.file}: a single diode through {len(self.points.voltage_v)} points, ideality "
            f"{self.figures['ideality'][0]:.3g}, residuals {rms * 1e6:.3g} uA rms, {worst * 1e6:.3g} uA at most"
        )

    def fit(self, table: dict[str, Any], remarks: tuple[str, ...], rows: list[dict[str, float]]) -> Fit:
        """Return the part that the table makes."""
        return Fit(
            "panel", table, self.figures, len(self.points.voltage_v), *self.residuals_a, "A", remarks, points_told=rows
        )


def _at_stc(diode: _Diode, temperature_c: float, light_w_m2: float) -> Fit:
    """Tell a panel at standard test conditions, and by the power in its own light, where that is low."""
    v_oc, i_sc, v_mp, i_mp = diode.at(1000.0 / light_w_m2)
    warmer_k, remarks = temperature_c - 25.0, list(diode.remarks)
    hot_v, hot_a = 1 + BETA_PERCENT_PER_K / 100 * warmer_k, 1 + ALPHA_PERCENT_PER_K / 100 * warmer_k
    if light_w_m2 != 1000.0 or temperature_c != 25.0:
        remarks.append(
            f"moved from {light_w_m2:g} W/m2 and {temperature_c:g} degC to 1000 W/m2 and 25 degC (De Soto 2006)"
        )
    table: dict[str, Any] = {
        "v_oc_v": _digits(v_oc / hot_v),
        "i_sc_mA": _digits(i_sc * 1e3 / hot_a),
        "v_mp_v": _digits(v_mp / hot_v),
        "i_mp_mA": _digits(i_mp * 1e3 / hot_a),
        "cells_in_series": diode.cells,
        "alpha_sc_percent_per_k": ALPHA_PERCENT_PER_K,
        "beta_oc_percent_per_k": BETA_PERCENT_PER_K,
        "source": diode.source,
        "note": "Temperature coefficients assumed: those of ixys-slmd600h10l, crystalline silicon."
        + "".join(f" {r[0].upper()}{r[1:]}." for r in remarks),
    }
    remarks.append("the temperature coefficients are assumed, those of crystalline silicon")
    _, _, v, i = diode.at(1.0)
    try:
        _gives(Panel.of(diode.points.file, table), light_w_m2, temperature_c, v * i)
    except SunsealError as e:
        raise SunsealError(
            f"`{diode.points.file}` makes no panel that could be used: {e}",
            hint="of an amorphous, dye or organic cell measure in the light of its use, and say it by `--lux`",
        ) from e
    return diode.fit(table, tuple(remarks), [])


BESIDE = 0.1
"""So far beyond the ends of its law a panel's measured power may lie."""


def _gives(panel: Panel, light_w_m2: float, temperature_c: float, measured_w: float) -> None:
    """Refuse a panel whose law does not give what was measured."""
    at = np.array([light_w_m2])
    volts, amps = panel.at_maximum(at, np.array([temperature_c]))
    low, high = (float(volts[0] * amps[0] * end[0]) for end in bounds(panel, at))
    if not low * (1 - BESIDE) <= measured_w <= high * (1 + BESIDE):
        raise SunsealError(
            f"diodes of crystalline silicon would give {low * 1e6:.4g} to {high * 1e6:.4g} uW at {light_w_m2:g} W/m2, "
            f"where its points have {measured_w * 1e6:.4g}"
        )


REACH = (0.25, 5.0)
"""A measured point indoors is carried on from a quarter of its light to five times as much."""


def _indoors(diode: _Diode, lux: float) -> Fit:
    """Tell a panel by the point that was measured in a light in lux."""
    v_oc, i_sc, v_mp, i_mp = diode.at(1.0)
    table: dict[str, Any] = {
        "cells_in_series": diode.cells,
        "light_range": [lux * reach for reach in REACH],
        "source": f"{diode.source}, at {lux:g} lux",
        "note": f"From {lux * REACH[0]:g} to {lux * REACH[1]:g} lux by this one point: current in proportion to the "
        "light, voltage by its logarithm." + "".join(f" {r[0].upper()}{r[1:]}." for r in diode.remarks),
    }
    row = {
        "lux": lux,
        "v_oc_v": _digits(v_oc),
        "i_sc_uA": _digits(i_sc * 1e6),
        "v_mp_v": _digits(v_mp),
        "i_mp_uA": _digits(i_mp * 1e6),
    }
    Panel.of(diode.points.file, {**table, "point": [row]})
    return diode.fit(table, diode.remarks, [row])


def _points_of(
    current: Callable[[Array], Array], a: float, i_l: float, i_0: float
) -> tuple[float, float, float, float]:
    """Return open circuit, short circuit and maximum power of a curve."""
    from scipy.optimize import brentq, minimize_scalar

    def at(voltage: float) -> float:
        return float(current(np.array([voltage]))[0])

    v_oc = float(brentq(at, 0.0, a * math.log1p(i_l / i_0) * 1.05 + a))
    top = minimize_scalar(lambda voltage: -voltage * at(voltage), bounds=(0.0, v_oc), method="bounded")
    v_mp = float(top.x)
    return v_oc, at(0.0), v_mp, at(v_mp)


def part_text(fit: Fit, name: str) -> str:
    """Write the part's file."""
    import json

    lines = [f'name = "{name}"', f'title = "{name}, {fit.kind} as measured"', "", f"[{fit.kind}]"]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fit.table.items()]
    for key, rows in fit.inner:
        for row in rows:
            lines += ["", f"[[{fit.kind}.{key}]]", *(f"{k} = {value}" for k, value in row.items())]
    return "\n".join(lines) + "\n"
