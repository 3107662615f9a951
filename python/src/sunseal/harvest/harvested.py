# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings of harvesters, as the engine takes it: power, curves over a grid of voltages, or cells.

Readers for Shepherd HDF5, IVonne's `.iv`, Ekho and SIREN; writers of the engine's CSV and of Shepherd HDF5.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from sunseal.catalog.units import show
from sunseal.errors import SunsealError
from sunseal.trace.binaries import shepherd_data
from sunseal.trace.model import BLOCK_SAMPLES, Array
from sunseal.trace.writers import whole

POINTS = 64
"""Voltages of the grid on which curves are put."""
IVONNE_STEP_S = 0.02
EKHO_POINTS, EKHO_STEP_V = 65, 0.12085189123076923
"""Points of a curve, and the step of their voltages (Ekho, code/record/pc/surface_render.cpp)."""
SHEPHERD_RAW_MAX = 2**31
CELL = ["photocurrent_a", "saturation_a", "series_ohm", "shunt_ohm", "n_ns_vth_v", "saturation_2_a", "n_ns_vth_2_v"]
"""Columns of a cell of two diodes, as `[harvest] trace` heads them."""


@dataclass(frozen=True)
class Harvested:
    """A source over time, in even steps from 0.

    N stretches: the last entry of `time_s`, the N + 1st, is the end. Either `power_w` alone, or `power_w` with the
    voltage and current of the maximum power point, or a curve or a cell for each stretch.
    """

    time_s: Array
    power_w: Array
    """At the maximum power point."""
    voltage_v: Array
    current_a: Array
    grid_v: Array | None = None
    curves_a: Array | None = None
    """Current at each voltage of the grid, a row for each stretch."""
    cells: Array | None = None
    """The figures of `CELL`, or the first five: a row for each stretch."""
    provenance: dict[str, str] = field(default_factory=dict)
    light: Array = field(default_factory=lambda: np.empty(0))
    """Light on a panel in each stretch, where the harvest was computed of it: W/m2, or lux of a panel told in it."""

    @property
    def energy_j(self) -> float:
        """Integrate what the maximum power point gives over the whole time."""
        return float((self.power_w * np.diff(self.time_s)).sum())

    @property
    def kind(self) -> str:
        """Say what is known of each stretch."""
        return "curves" if self.curves_a is not None else "cells" if self.cells is not None else "maximum power points"

    def part(self, from_s: float, duration_s: float | None) -> Harvested:
        """Cut out a stretch; its time begins at 0."""
        end = self.time_s[-1] if duration_s is None else from_s + duration_s
        if not 0 <= from_s < end <= self.time_s[-1] * (1 + 1e-9):
            raise SunsealError(
                f"from {show(from_s, 's')} to {show(float(end), 's')} is not within the trace of "
                f"{show(float(self.time_s[-1]), 's')}"
            )
        a, b = (int(np.argmin(np.abs(self.time_s - t))) for t in (from_s, end))
        if a == b:
            raise SunsealError(f"from {show(from_s, 's')} to {show(float(end), 's')} lies no whole step of the trace")

        def rows(values: Array | None) -> Array | None:
            return None if values is None else values[a:b]

        cut = f"from {show(float(self.time_s[a]), 's', 9)} to {show(float(self.time_s[b]), 's', 9)} of the whole"
        return replace(
            self,
            provenance={**self.provenance, "part": cut},
            time_s=self.time_s[a : b + 1] - self.time_s[a],
            power_w=self.power_w[a:b],
            voltage_v=self.voltage_v[a:b],
            current_a=self.current_a[a:b],
            curves_a=rows(self.curves_a),
            cells=rows(self.cells),
        )


def _mpp(grid_v: Array, curves_a: Array) -> tuple[Array, Array, Array]:
    """Return power, voltage and current of each curve's maximum power point."""
    powers = curves_a * grid_v
    best = powers.argmax(axis=1)
    rows = np.arange(len(powers))
    return powers[rows, best], grid_v[best], curves_a[rows, best]


def of_curves(time_s: Array, grid_v: Array, curves_a: Array, provenance: dict[str, str]) -> Harvested:
    """Make a source of curves on one grid of voltages; negative currents are none."""
    power, volts, amps = _mpp(grid_v, np.maximum(curves_a, 0.0))
    return Harvested(time_s, power, volts, amps, grid_v, np.maximum(curves_a, 0.0), None, provenance)


# --- Shepherd --------------------------------------------------------------------------------


def shepherd(path: Path, step_s: float | None = None, points: int = POINTS) -> Harvested:
    """Read a harvester's recording (`ivtrace`, once `ivsample`: voltage and current; `ivsurface`, `ivcurve`: sweeps).

    Samples are put together into steps of `step_s` (a millisecond, unless given) by their mean power; sweeps go on
    one grid of voltages.
    """
    import h5py

    with h5py.File(path, "r") as file:
        data = shepherd_data(file, path)
        kind = str(data.attrs.get("datatype", "ivsample"))
        window = int(data.attrs.get("window_samples", 0))
        samples = int(data["time"].shape[0])
        if samples < 2:
            raise SunsealError(f"`{path.name}` holds {samples} samples; at least two tell how far apart they are")
        tick = float(data["time"].attrs.get("gain", 1e-9))
        interval = (int(data["time"][1]) - int(data["time"][0])) * tick
        _even(data["time"], tick, interval, path)
        about = {"file": path.name, "format": f"Shepherd, {kind}", "host": str(file.attrs.get("hostname", "unknown"))}
        if kind in SHEPHERD_SAMPLES:
            return _ivsamples(data, samples, interval, step_s or max(1e-3, interval), about, path)
        if kind in SHEPHERD_CURVES:
            return _ivcurves(data, samples, interval, window, points, about, path)
    raise SunsealError(
        f"`{path.name}` holds `{kind}`, of which no power follows; `ivtrace` (`ivsample`) and `ivsurface` (`ivcurve`) "
        "can be read",
        hint="convert it to ivsurface with shepherd-data",
    )


def _even(times: Any, tick: float, interval: float, path: Path) -> None:
    """Refuse time that goes back and gaps, naming them."""
    if not interval > 0:
        raise SunsealError(f"sample 1 of `{path.name}`: the time stands still or goes back")
    last: int | None = None
    for at in range(0, times.shape[0], BLOCK_SAMPLES):
        part = times[at : at + BLOCK_SAMPLES].astype(np.int64)
        steps = np.diff(part, prepend=part[0] if last is None else last) * tick
        wrong = np.abs(steps - interval) > 0.5 * interval
        if last is None:
            wrong[0] = False
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            what = f"a gap of {show(float(steps[i]), 's')} before it" if steps[i] > 0 else "the time goes back"
            raise SunsealError(
                f"sample {at + i} of `{path.name}`: {what}; the samples are {show(interval, 's')} apart",
                hint="shepherd-data repairs recordings; or cut the recording there",
            )
        last = int(part[-1])


def _si(data: Any, name: str, at: int, end: int) -> Array:
    attrs = data[name].attrs
    return np.asarray(data[name][at:end] * float(attrs["gain"]) + float(attrs["offset"]), dtype=np.float64)


def _ivsamples(data: Any, samples: int, interval: float, step_s: float, about: dict[str, str], path: Path) -> Harvested:
    each = max(1, round(step_s / interval))
    rows = samples // each
    if rows == 0:
        raise SunsealError(f"`{path.name}` is shorter than one step of {show(step_s, 's')}", hint="give `--step`")
    power, volts = np.empty(rows), np.empty(rows)
    take = max(1, BLOCK_SAMPLES // each)
    for row in range(0, rows, take):
        n = min(take, rows - row)
        v, i = (_si(data, k, row * each, (row + n) * each).reshape(n, each) for k in ("voltage", "current"))
        power[row : row + n], volts[row : row + n] = (v * i).mean(axis=1), v.mean(axis=1)
    current = np.divide(power, volts, out=np.zeros_like(power), where=volts > 0)
    about["step"] = f"means of {each} samples"
    return Harvested(np.arange(rows + 1.0) * each * interval, power, volts, current, provenance=about)


def _ivcurves(
    data: Any, samples: int, interval: float, window: int, points: int, about: dict[str, str], path: Path
) -> Harvested:
    if window < 2:
        raise SunsealError(f"`{path.name}` says a curve has {window} samples (`window_samples`); at least 2 are needed")
    rows = samples // window
    if rows == 0:
        raise SunsealError(f"`{path.name}` has {samples} samples, less than the one curve of {window}")
    top = max(float(_si(data, "voltage", at, at + BLOCK_SAMPLES).max()) for at in range(0, samples, BLOCK_SAMPLES))
    grid = np.linspace(0.0, top, points)
    curves = np.empty((rows, points))
    for row in range(rows):
        v, i = (_si(data, k, row * window, (row + 1) * window) for k in ("voltage", "current"))
        order = np.argsort(v, kind="stable")
        curves[row] = np.interp(grid, v[order], i[order], right=0.0)
    about["grid"] = f"{points} voltages to {top:.4g} V"
    return of_curves(np.arange(rows + 1.0) * window * interval, grid, curves, about)


def write_shepherd(source: Harvested, path: Path, window_samples: int = 1000) -> None:
    """Write Shepherd HDF5: sweeps (`ivcurve`) where curves are known, else `ivsample` of the maximum power points.

    Layout as shepherd-core writes and reads it: group `data` with `time` (u8, ns), `voltage` and `current` (u4, with
    `gain` and `offset`), attributes `mode`, `datatype`, `window_samples`; 100,000 samples a second, in whole blocks
    of that many, as its harvesters and `simulate_harvester` take them: the last one ends in the dark. A curve is
    swept again and again, once in `window_samples` samples, as long as it holds.
    """
    import h5py

    span_s = float(source.time_s[-1])
    if span_s > SHEPHERD_LONGEST_S:
        raise SunsealError(
            f"`{path}` cannot be written: {show(span_s, 's')} are {span_s * SHEPHERD_RATE_HZ:.3g} samples of "
            f"Shepherd's 100 kHz, and an hour is the most that fits; write a stretch of it"
        )
    volts, amps, curves = source.voltage_v, source.current_a, False
    if source.curves_a is not None and source.grid_v is not None:
        volts, amps, curves = source.grid_v, source.curves_a, True
    if not curves and not source.voltage_v.any() and source.power_w.any():
        raise SunsealError(
            f"`{path}` cannot be written: of this source only the power is known, no voltage and current"
        )
    with whole(path, binary=True) as out, h5py.File(out, "w") as file:
        file.attrs["mode"], file.attrs["hostname"] = "harvester", "sunseal"
        data = file.create_group("data")
        data.attrs["datatype"] = "ivcurve" if curves else "ivsample"
        data.attrs["window_samples"] = window_samples if curves else 0
        gains = {}
        for name, values in (("voltage", volts), ("current", amps)):
            most = float(np.max(values, initial=0.0))
            gains[name] = 10.0 ** math.ceil(math.log10(most / SHEPHERD_RAW_MAX)) if most > 0 else 1e-9
        blocks = math.ceil(span_s * SHEPHERD_RATE_HZ / SHEPHERD_BLOCK - 1e-9)
        made = {
            "time": _dataset(data, "time", np.uint64, blocks, 1e-9, "s"),
            "voltage": _dataset(data, "voltage", np.uint32, blocks, gains["voltage"], "V"),
            "current": _dataset(data, "current", np.uint32, blocks, gains["current"], "A"),
        }
        for block in range(blocks):
            at = slice(block * SHEPHERD_BLOCK, (block + 1) * SHEPHERD_BLOCK)
            n = np.arange(at.start, at.stop)
            row = np.searchsorted(source.time_s, (n + 0.5) / SHEPHERD_RATE_HZ, side="right") - 1
            lit = row < len(source.time_s) - 1
            row = np.minimum(row, len(source.time_s) - 2)
            v, i = _shepherd_samples(source, n, row, window_samples)
            made["time"][at] = n.astype(np.uint64) * np.uint64(10**9 // SHEPHERD_RATE_HZ)
            made["voltage"][at] = np.round(v / gains["voltage"]).astype(np.uint32)
            made["current"][at] = np.round(np.where(lit, i, 0.0) / gains["current"]).astype(np.uint32)


SHEPHERD_RATE_HZ = 100_000
SHEPHERD_BLOCK = 100_000
SHEPHERD_LONGEST_S = 3600.0
SHEPHERD_SAMPLES = ("ivsample", "ivsamples", "ivtrace")
SHEPHERD_CURVES = ("ivcurve", "ivcurves", "ivsurface")


def _shepherd_samples(source: Harvested, n: Any, row: Any, window_samples: int) -> tuple[Array, Array]:
    """Return voltage and current of samples `n`, which lie in the rows `row` of a source."""
    if source.curves_a is None or source.grid_v is None:
        return source.voltage_v[row], source.current_a[row]
    volts = np.linspace(0.0, float(source.grid_v[-1]), window_samples)[n % window_samples]
    amps = np.empty(len(n))
    for k in np.unique(row):
        of_row = row == k
        amps[of_row] = np.interp(volts[of_row], source.grid_v, source.curves_a[k])
    return volts, amps


def _dataset(data: Any, name: str, kind: Any, blocks: int, gain: float, unit: str) -> Any:
    made = data.create_dataset(
        name, (blocks * SHEPHERD_BLOCK,), kind, chunks=(10_000,), compression="gzip", compression_opts=1
    )
    made.attrs["gain"], made.attrs["offset"], made.attrs["unit"] = gain, 0.0, unit
    made.attrs["description"] = f"{name} [{unit}] = value * gain + offset"
    return made


# --- IVonne, Ekho, SIREN ---------------------------------------------------------------------

_SAFE = {
    ("builtins", "slice"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    *(
        (f"numpy.{core}.{module}", name)
        for core in ("core", "_core")
        for module, name in (
            ("multiarray", "_reconstruct"),
            ("numeric", "_frombuffer"),
            ("multiarray", "scalar"),
        )
    ),
    ("pandas", "DataFrame"),
    ("pandas", "Index"),
    ("pandas", "RangeIndex"),
    ("pandas", "StringDtype"),
    ("pandas.arrays", "StringArray"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.internals.managers", "BlockManager"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.indexes.numeric", "Int64Index"),
    ("pandas.core.arrays.string_", "StringDtype"),
    ("pandas.core.arrays.string_", "StringArray"),
    ("pandas.core.arrays.string_arrow", "ArrowStringArray"),
}
"""All that a pickled table of numbers needs. A pickle may run anything else, so nothing else is let in."""


def ivonne(path: Path, points: int = POINTS) -> Harvested:
    """Read IVonne's `.iv`: a pickled table of `time`, `a`, `b`, `c`, with I(V) = a - b (exp(c V) - 1)."""
    table = _pickled_table(path)
    lacks = [c for c in ("time", "a", "b", "c") if c not in table]
    if lacks:
        raise SunsealError(f"`{path.name}` is a table without the column `{lacks[0]}`, so it is no recording of IVonne")
    time, a, b, c = (np.asarray(table[k], dtype=np.float64) for k in ("time", "a", "b", "c"))
    _regular(time, path, "row")
    for name, values in (("a", a), ("b", b), ("c", c)):
        if (bad := np.flatnonzero(~np.isfinite(values))).size:
            raise SunsealError(f"row {int(bad[0])} of `{path.name}`: `{name}` is no number")
    step = float(np.median(np.diff(time))) if len(time) > 1 else IVONNE_STEP_S
    with np.errstate(divide="ignore", invalid="ignore"):
        v_oc = np.where((a > 0) & (b > 0) & (c > 0), np.log(a / b + 1) / c, 0.0)
    grid = np.linspace(0.0, float(v_oc.max()) or 1.0, points)
    within = grid[None, :] <= v_oc[:, None]
    exponent = np.where(within, c[:, None] * grid, 0.0)
    curves = np.where(within, a[:, None] - b[:, None] * np.expm1(exponent), 0.0)
    return of_curves(
        np.append(time - time[0], time[-1] - time[0] + step), grid, curves, {"file": path.name, "format": "IVonne"}
    )


def _pickled_table(path: Path) -> Any:
    from pandas.compat import pickle_compat  # type: ignore[import-not-found,unused-ignore]

    class Careful(pickle_compat.Unpickler):  # type: ignore[misc,unused-ignore]
        def find_class(self, module: str, name: str) -> Any:
            if (module, name) not in _SAFE:
                raise SunsealError(
                    f"`{path.name}` is a Python pickle that wants `{module}.{name}`; only tables of numbers are read",
                    hint="convert it to HDF5 with shepherd-data, where you trust the file",
                )
            return super().find_class(module, name)

    try:
        with path.open("rb") as file:
            table = Careful(file).load()
    except SunsealError:
        raise
    except Exception as e:  # a pickle that is none fails in many ways
        raise SunsealError(f"`{path.name}` is no pickled table, as IVonne writes it: {e}") from e
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        raise SunsealError(f"`{path.name}` holds no table, but a {type(table).__name__}")
    return table


def ekho(path: Path, rate_hz: float) -> Harvested:
    """Read Ekho's `surface.raw`: 65 doubles a curve, at fixed voltages; it does not say how many curves a second."""
    size = path.stat().st_size
    if size == 0 or size % (EKHO_POINTS * 8):
        raise SunsealError(
            f"`{path.name}` has {size} bytes; a surface of Ekho has {EKHO_POINTS * 8} for each curve, "
            f"{EKHO_POINTS} doubles"
        )
    curves = np.asarray(np.fromfile(path, dtype="<f8"), dtype=np.float64).reshape(-1, EKHO_POINTS)
    if (bad := np.flatnonzero(~np.isfinite(curves).all(axis=1))).size:
        raise SunsealError(f"curve {int(bad[0])} of `{path.name}` holds what is no number")
    if np.abs(curves).max() > 10.0:
        raise SunsealError(f"`{path.name}` holds currents up to {np.abs(curves).max():.3g} A: it is no surface of Ekho")
    grid = np.arange(float(EKHO_POINTS)) * EKHO_STEP_V
    return of_curves(np.arange(len(curves) + 1.0) / rate_hz, grid, curves, {"file": path.name, "format": "Ekho"})


def siren(path: Path) -> Harvested:
    """Read SIREN's surface: a line n, a line least,most voltage, then time,2**n + 1 currents in A.

    SIREN takes the first curve whose time is later than now: a curve holds until its own time.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(i, [c.strip() for c in row]) for i, row in enumerate(csv.reader(file), 1)]
    rows = [(i, row) for i, row in rows if any(row)]
    try:
        power = int(rows[0][1][0])
        low, high = (float(c) for c in rows[1][1][:2])
    except (IndexError, ValueError) as e:
        raise SunsealError(
            f"`{path.name}` does not begin like a surface of SIREN: a line n, a line least,most volts"
        ) from e
    columns = 2**power + 1 if 0 < power < 16 else 0
    if columns == 0 or not 0 <= low < high:
        raise SunsealError(f"`{path.name}`: n = {power} and {low:g} V to {high:g} V are no grid of voltages")
    if len(rows) < 3:
        raise SunsealError(f"`{path.name}` has no curve")
    table = []
    for line, row in rows[2:]:
        if len(row) != columns + 1:
            raise SunsealError(
                f"line {line} of `{path.name}` has {len(row)} fields; a time and {columns} currents are {columns + 1}"
            )
        try:
            table.append([float(c) for c in row])
        except ValueError as e:
            raise SunsealError(f"line {line} of `{path.name}`: {e}") from e
    values = np.array(table)
    if (bad := np.argwhere(~np.isfinite(values))).size:
        raise SunsealError(f"line {rows[2 + int(bad[0][0])][0]} of `{path.name}` holds what is no number")
    ends = np.concatenate([[0.0], values[:, 0]])
    if (still := np.flatnonzero(np.diff(ends) <= 0)).size:
        raise SunsealError(f"line {rows[2 + int(still[0])][0]} of `{path.name}`: the time does not grow")
    _regular(ends, path, "curve")
    grid = np.linspace(low, high, columns)
    return of_curves(ends, grid, values[:, 1:], {"file": path.name, "format": "SIREN surface"})


def siren_voltage(path: Path, source_ohm: float, points: int = POINTS) -> Harvested:
    """Read SIREN's (and Mementos') voltage trace: time in ms and volts, a tab between; behind the source's resistance.

    The file holds an open-circuit voltage only: I(V) = (Voc - V) / R, with R from the user.
    """
    times: list[float] = []
    volts: list[float] = []
    for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip():
            continue
        try:
            when, volt = (float(c) for c in text.split("\t")[:2])
        except ValueError as e:
            raise SunsealError(f"line {line} of `{path.name}` is not a time and a voltage with a tab between") from e
        if not math.isfinite(when + volt) or (times and when * 1e-3 <= times[-1]):
            raise SunsealError(f"line {line} of `{path.name}`: the time does not grow, or a value is no number")
        times.append(when * 1e-3)
        volts.append(volt)
    if len(times) < 2:
        raise SunsealError(f"`{path.name}` has {len(times)} lines; at least two tell how far apart they are")
    time = np.array(times) - times[0]
    _regular(time, path, "line")
    v_oc = np.maximum(np.array(volts), 0.0)
    grid = np.linspace(0.0, float(v_oc.max()) or 1.0, points)
    curves = np.maximum(v_oc[:, None] - grid, 0.0) / source_ohm
    about = {"file": path.name, "format": "SIREN voltage trace", "source": f"{show(source_ohm, 'ohm')} in series"}
    return of_curves(np.append(time, time[-1] + np.median(np.diff(time))), grid, curves, about)


def _regular(time: Array, path: Path, what: str) -> None:
    steps = np.diff(time)
    if not steps.size:
        return
    usual = float(np.median(steps))
    if (bad := np.flatnonzero(~(steps > 0))).size:
        raise SunsealError(f"{what} {int(bad[0]) + 1} of `{path.name}`: the time stands still or goes back")
    if (bad := np.flatnonzero(steps > 1.5 * usual)).size:
        at = int(bad[0])
        raise SunsealError(
            f"{what} {at + 1} of `{path.name}`: a gap of {show(float(steps[at]), 's')} after "
            f"{show(float(time[at]), 's', 6)}; the others are {show(usual, 's')} apart"
        )


# --- For the engine --------------------------------------------------------------------------


def write_csv(source: Harvested, path: Path) -> None:
    """Write what `[harvest] trace` of a scenario reads: provenance, a head, a row for each stretch from 0 on."""
    with whole(path) as file:
        for key, value in source.provenance.items():
            file.write(f"# {key}: {' '.join(value.split())}\n")
        if source.curves_a is not None and source.grid_v is not None:
            _rows(file, [f"{v:.9g}" for v in source.grid_v], source.time_s, source.curves_a)
        elif source.cells is not None:
            names = CELL[: source.cells.shape[1]]
            _rows(file, names, source.time_s, source.cells)
        elif source.voltage_v.any():
            _rows(
                file, ["voltage_v", "current_a"], source.time_s, np.column_stack([source.voltage_v, source.current_a])
            )
        else:
            _rows(file, ["power_w"], source.time_s, source.power_w[:, None])


def _rows(file: IO[str], names: list[str], time_s: Array, values: Array) -> None:
    """Write rows; the last one only ends the trace."""
    file.write(",".join(["time_s", *names]) + "\n")
    text = io.StringIO()
    table = np.column_stack([time_s, np.vstack([values, values[-1:]])])
    np.savetxt(text, table, fmt=["%.12g", *["%.9g"] * values.shape[1]], delimiter=",")
    file.write(text.getvalue())
