# SPDX-License-Identifier: MIT OR Apache-2.0
"""From a year of measured weather to the power of a small panel over one day.

pvlib brings the weather file, the sun's position and the single-diode model; the panel comes from
`data/parts`. The engine gets arrays and does the rest.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sunseal import boards
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[np.float64]
STEP_S = 60.0
MODEL = (
    "single diode (finite shunt) moved by De Soto 2006 to light and by the datasheet's coefficients to temperature "
    "(Villalva, Gazoli and Filho 2009)"
)
DAY_S = 86_400.0
DEFAULT_WEATHER = "723170TYA.CSV"
TROPIC_DEG = 23.44
AWAY = "tilted away from the sun of noon"


@dataclass(frozen=True)
class Panel:
    """What a datasheet says of a panel at standard test conditions (1000 W/m2, 25 degC, AM 1.5)."""

    part: str
    v_oc_v: float
    i_sc_a: float
    v_mp_v: float
    i_mp_a: float
    cells_in_series: int
    alpha_sc_per_k: float
    beta_oc_per_k: float
    source: str
    low_light: tuple[float, float] | None = None
    """Light in W/m2 and power at its maximum power point, where a datasheet prints them: they settle the ideality."""

    @staticmethod
    def load(part: str) -> Panel:
        """Read a panel from `data/parts`."""
        path, data = boards.part_path(part), boards.part(part)
        panel = data.get("panel")
        if not isinstance(panel, dict):
            raise SunsealError(f"`{path.name}` is not a panel: it has no table `[panel]`")
        try:
            return Panel(
                part=part,
                v_oc_v=float(panel["v_oc_v"]),
                i_sc_a=float(panel["i_sc_mA"]) * 1e-3,
                v_mp_v=float(panel["v_mp_v"]),
                i_mp_a=float(panel["i_mp_mA"]) * 1e-3,
                cells_in_series=int(panel["cells_in_series"]),
                alpha_sc_per_k=float(panel["alpha_sc_percent_per_k"]) * 1e-2,
                beta_oc_per_k=float(panel["beta_oc_percent_per_k"]) * 1e-2,
                source=str(panel["source"]),
                low_light=(float(panel["low_light_W_m2"]), float(panel["low_light_p_mp_mW"]) * 1e-3)
                if "low_light_W_m2" in panel
                else None,
            )
        except KeyError as e:
            raise SunsealError(f"`{path.name}` lacks `panel.{e.args[0]}`") from e


@dataclass(frozen=True)
class Trace:
    """One day of a panel at its maximum power point, from local standard midnight."""

    time_s: Array
    power_w: Array
    voltage_v: Array
    current_a: Array
    irradiance_w_m2: Array
    temperature_c: Array
    low_light: tuple[float, float] = (1.0, 1.0)
    """Energy by the panel's darkest and brightest reading at low light, over that of its fit."""
    provenance: dict[str, str] = field(default_factory=dict)

    @property
    def energy_j(self) -> float:
        """Energy of the day if every watt at the maximum power point were taken."""
        return float(np.trapezoid(self.power_w, self.time_s))


def month_day(text: str) -> tuple[int, int]:
    """Read a day of the typical year, `06-21`."""
    match = re.fullmatch(r"(\d{2})-(\d{2})", text)
    month, day = (int(g) for g in match.groups()) if match else (0, 0)
    lengths = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        raise SunsealError(f"day `{text}` is not a day of a year of 365 written MM-DD, like 06-21")
    return month, day


def weather_path(name: str) -> Path:
    """Find a weather file: one that pvlib ships, or one here."""
    import pvlib

    for folder in (Path(pvlib.__file__).parent / "data", Path.cwd()):
        if (folder / name).is_file():
            return folder / name
    raise SunsealError(
        f"the weather file `{name}` is neither in pvlib's package nor here",
        hint=f"pvlib {pvlib.__version__} ships {DEFAULT_WEATHER}",
    )


TYPICAL_YEAR = 1990
"""The year that a typical year's months, each of another, are said to be of."""


def _typical_year(path: Path, days: int) -> tuple[Any, dict[str, Any]]:
    """Read the hours of a TMY3 file, each moved to its middle, with `days` more behind its end, and its station."""
    import pandas as pd
    import pvlib

    try:
        frame, meta = pvlib.iotools.read_tmy3(path, coerce_year=TYPICAL_YEAR, map_variables=True)
        _ = frame[["ghi", "dni", "dhi", "temp_air", "wind_speed"]].astype(float)
    except OSError as e:
        raise SunsealError(f"the weather file `{path}` cannot be read: {e.strerror or e}") from e
    except (ValueError, KeyError, IndexError, TypeError) as e:  # what pandas says of a file that is none
        raise SunsealError(
            f"the weather file `{path}` is not TMY3: it needs a line with the station, a line with the columns "
            "and a row for each hour of the year",
            hint=f"pvlib {pvlib.__version__} ships {DEFAULT_WEATHER}",
        ) from e
    _whole(frame, path)
    if not 1 <= days <= 365:
        raise SunsealError(f"{days} days of light: the typical year has 365")
    frame = frame.set_index(frame.index - pd.Timedelta(minutes=30))
    # The typical year closes on itself: it is followed by itself, and both ends get a neighbour.
    before, after = frame.iloc[[-1]].copy(), frame.iloc[: 24 * days + 1].copy()
    before.index = before.index - pd.Timedelta(days=365)
    after.index = after.index + pd.Timedelta(days=365)
    frame = pd.concat([before, frame, after]).sort_index()
    return frame, meta


def _of_energy(series: Array, time_s: Array, energy: float) -> tuple[Array, float]:
    """Scale a series so that its integral is `energy`; return it with the scale."""
    got = float(np.trapezoid(series, time_s))
    scale = energy / got if got > 0 else 1.0
    return series * scale, scale


def plane_of(tilt_deg: float, azimuth_deg: float, latitude_deg: float) -> str:
    """Say how a panel lies, and so where it looks away from the sun of noon, as 180 degrees do south of the tropics."""
    told = f"tilt {tilt_deg:g} deg, azimuth {azimuth_deg:g} deg, isotropic sky, albedo 0.2"
    away = math.cos(math.radians(azimuth_deg)) * math.copysign(1.0, latitude_deg)
    if tilt_deg == 0 or abs(latitude_deg) <= TROPIC_DEG or away < 0.01:
        return told
    way = "south" if latitude_deg > 0 else "north"
    return f"{told}; it is {AWAY}, which stands in the {way} here"


def sunlight(
    day: str = "06-21",
    *,
    panel: Panel,
    tilt_deg: float = 36.0,
    azimuth_deg: float = 180.0,
    weather: str = DEFAULT_WEATHER,
    shading: float = 1.0,
    days: int = 1,
    step_s: float = STEP_S,
) -> Trace:
    """Compute days of the panel's power under a TMY3 file's sun, up to the whole typical year.

    TMY3 stamps an hour with its end, in local standard time; the irradiance is the mean over that
    hour, so it belongs to the half hour before the stamp (Wilcox and Marion 2008, NREL/TP-581-43156,
    section 3). Between those midpoints it is interpolated, cut off where the sun is down, and
    scaled so that each component's energy over the day stays that of the file.
    """
    import pandas as pd
    import pvlib

    if not 0 < shading <= 1:
        raise SunsealError(f"shading {shading} is not a share above 0 and up to 1")
    (month, dom), path = month_day(day), weather_path(weather)
    frame, meta = _typical_year(path, days)
    midnight = pd.Timestamp(year=TYPICAL_YEAR, month=month, day=dom, tz=frame.index.tz)
    time_s = np.arange(0.0, days * DAY_S + step_s / 2, step_s)
    when = midnight + pd.to_timedelta(time_s, unit="s")
    have_s = (frame.index - midnight).total_seconds().to_numpy(dtype=float)
    in_day = (have_s >= 0) & (have_s < days * DAY_S)
    if int(in_day.sum()) != 24 * days:
        raise SunsealError(
            f"`{path.name}` has {int(in_day.sum())} hours from {day} for {days} days; a day needs 24 of them"
        )

    def at(column: str) -> Array:
        return np.asarray(np.interp(time_s, have_s, frame[column].to_numpy(dtype=float)))

    sun = pvlib.solarposition.get_solarposition(when, meta["latitude"], meta["longitude"], altitude=meta["altitude"])
    up = sun["elevation"].to_numpy(dtype=float) > 0
    light, scales = {}, []
    for column in ("ghi", "dni", "dhi"):
        hourly = frame[column].to_numpy(dtype=float)[in_day].sum() * 3600.0
        light[column], scale = _of_energy(np.where(up, at(column), 0.0), time_s, hourly)
        scales.append(f"{column} {scale:.4f}")

    plane = pvlib.irradiance.get_total_irradiance(
        tilt_deg,
        azimuth_deg,
        sun["apparent_zenith"],
        sun["azimuth"],
        *(light[column] for column in ("dni", "ghi", "dhi")),
        albedo=0.2,
    )
    return _on_panel(
        panel,
        time_s,
        plane["poa_global"].to_numpy(dtype=float),
        shading,
        at("temp_air"),
        at("wind_speed"),
        {
            "weather": f"{path.name} (TMY3, {meta['Name'].strip(chr(34))}, {meta['State']}), "
            f"shipped with pvlib {pvlib.__version__}",
            "weather_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "day": f"{day}{f' and {days - 1} days more' if days > 1 else ''}, local standard time UTC{meta['TZ']:+g} h",
            "plane": plane_of(tilt_deg, azimuth_deg, float(meta["latitude"])),
            "energy_scale": ", ".join(scales),
        },
    )


def clear_sky(
    latitude_deg: float,
    *,
    panel: Panel,
    clearness: float,
    air_c: float = 15.0,
    tilt_deg: float = 36.0,
    azimuth_deg: float = 180.0,
    shading: float = 1.0,
    step_s: float = 3600.0,
) -> Trace:
    """Compute a year of the panel's power under a sky that lets the same share of a clear day's light through always.

    Clear sky by Haurwitz 1945 (global horizontal irradiance from the zenith angle alone), all of it taken as diffuse
    and direct by Erbs 1982. It has the seasons and the length of the days of a latitude, and no weather: runs of dark
    days, which decide over a store, are not in it.
    """
    import pandas as pd
    import pvlib

    time_s = np.arange(0.0, 365 * DAY_S + step_s / 2, step_s)
    when = pd.Timestamp(year=1990, month=1, day=1, tz="UTC") + pd.to_timedelta(time_s, unit="s")
    sun = pvlib.solarposition.get_solarposition(when, latitude_deg, 0.0)
    ghi = pvlib.clearsky.haurwitz(sun["apparent_zenith"])["ghi"] * clearness
    split = pvlib.irradiance.erbs(ghi, sun["zenith"], when.day_of_year.to_numpy())
    plane = pvlib.irradiance.get_total_irradiance(
        tilt_deg, azimuth_deg, sun["apparent_zenith"], sun["azimuth"], split["dni"], ghi, split["dhi"], albedo=0.2
    )
    return _on_panel(
        panel,
        time_s,
        plane["poa_global"].to_numpy(dtype=float),
        shading,
        air_c,
        1.0,
        {
            "weather": f"none: clear sky (Haurwitz 1945) at latitude {latitude_deg:g} deg, {clearness:g} of it, "
            f"split by Erbs 1982; air at {air_c:g} degC",
            "plane": plane_of(tilt_deg, azimuth_deg, latitude_deg),
        },
    )


def _on_panel(
    panel: Panel,
    time_s: Array,
    plane_w_m2: Array,
    shading: float,
    air_c: Array | float,
    wind_m_s: Array | float,
    sky: dict[str, str],
) -> Trace:
    """Compute what a panel gives of the light in its plane; `sky` says where that light is from."""
    import pvlib

    poa = np.nan_to_num(plane_w_m2) * shading
    cell_c = np.asarray(pvlib.temperature.faiman(poa, air_c, wind_m_s), dtype=float)
    voltage, current = _at_maximum(panel, poa, cell_c)
    power = voltage * current
    low_light = low_light_of(panel, poa, power)
    return Trace(
        time_s=time_s,
        power_w=power,
        voltage_v=voltage,
        current_a=current,
        irradiance_w_m2=poa,
        temperature_c=cell_c,
        low_light=low_light,
        provenance={
            **sky,
            "shading": f"{shading:g} of the light reaches the panel",
            "panel": f"{panel.part}: {panel.source}",
            "low_light": low_light_text(low_light),
            "model": f"{MODEL}, at its maximum power point; cell temperature by Faiman 2008",
        },
    )


def _whole(frame: pd.DataFrame, path: Path) -> None:
    """Refuse weather with a gap: an hour that is not there, or one whose light or air nobody measured."""
    steps = frame.index.to_series().diff().dropna().dt.total_seconds()
    if (steps != 3600.0).any() or len(frame) != 8760:
        late = steps[steps != 3600.0]
        place = f"before {late.index[0]:%m-%d %H:%M}" if len(late) else f"it ends after {len(frame)} hours"
        raise SunsealError(
            f"the weather file `{path.name}` has a gap: {place}; a typical year has each of its 8760 hours"
        )
    for column, least in (("ghi", 0.0), ("dni", 0.0), ("dhi", 0.0), ("temp_air", -90.0), ("wind_speed", 0.0)):
        values = frame[column].to_numpy(dtype=float)
        bad = ~(values >= least)
        if bad.any():
            raise SunsealError(
                f"the weather file `{path.name}` has a gap: {column} is {values[bad][0]:g} in the hour to "
                f"{frame.index[bad][0]:%m-%d %H:%M}; fill it from the hours beside it, or take another year"
            )


def diode_at(panel: Panel, light_w_m2: Array, cell_c: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return a panel's single diode in a light (above 0) and at a temperature.

    Photocurrent, saturation current, series and shunt resistance, and ideality by cells by thermal voltage, as pvlib
    takes them. Photocurrent and shunt go with the light (De Soto 2006); the saturation current is the one that gives
    the open-circuit voltage of the datasheet's temperature coefficient (Villalva, Gazoli and Filho 2009). By the band
    gap alone, as De Soto has it, a fit whose ideality is not one loses voltage several times too fast.
    """
    i_l, _, r_s, r_sh, a_ref = _single_diode(panel)
    return _moved(panel, (i_l, r_s, r_sh, a_ref), desoto_ohm(r_sh, light_w_m2), light_w_m2, cell_c)


def _moved(
    panel: Panel, fit: tuple[float, float, float, float], r_sh: Array, light_w_m2: Array, cell_c: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Move a fit to a light and a temperature; `r_sh` is the shunt resistance in that light."""
    i_ref, r_s, r_sh_ref, a_ref = fit
    warmer_k = cell_c - 25.0
    a = a_ref * (cell_c + 273.15) / 298.15
    i_l = i_ref * (1.0 + panel.alpha_sc_per_k * warmer_k)
    v_oc = panel.v_oc_v * (1.0 + panel.beta_oc_per_k * warmer_k)
    i_0 = (i_l - v_oc / r_sh_ref) / np.expm1(v_oc / a)
    return i_l * light_w_m2 / 1000.0, i_0, np.full_like(light_w_m2, r_s), r_sh, a


def _at_maximum(panel: Panel, poa_w_m2: Array, cell_c: Array) -> tuple[Array, Array]:
    """Return a panel's voltage and current at its maximum power point."""
    voltage, current = np.zeros_like(poa_w_m2), np.zeros_like(poa_w_m2)
    # Of less than this the solver cannot tell the open circuit from none.
    lit = poa_w_m2 > 1e-5
    voltage[lit], current[lit] = at_maximum_power(*diode_at(panel, poa_w_m2[lit], cell_c[lit]))
    return voltage, current


def at_maximum_power(i_l: Array, i_0: Array, r_s: Array, r_sh: Array, a: Array) -> tuple[Array, Array]:
    """Return voltage and current of single diodes at their maximum power, all bisected at once.

    pvlib's own search goes diode by diode: a year of hours takes it seconds.
    """
    import pvlib

    figures = i_l, i_0, r_s, r_sh, a
    low, high = np.zeros_like(i_l), pvlib.singlediode.estimate_voc(i_l, i_0, a)
    for _ in range(52):
        middle = (low + high) / 2
        rises = pvlib.singlediode.bishop88(middle, *figures, gradients=True)[6] > 0.0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    current, voltage, _ = pvlib.singlediode.bishop88((low + high) / 2, *figures)
    return voltage, current


def bounds(panel: Panel, light_w_m2: Array) -> tuple[Array, Array]:
    """Bound what the panel gives at a light: the powers of a darker and a brighter reading of it over that of its fit.

    The four points of a datasheet leave the ideality open, and nothing in them says how the shunt goes with the light:
    all of its conductance may go with it (De Soto 2006), or all of it may be a resistor that the light does not move.
    Nor does every cell keep to its datasheet: what was measured on others (`measured_share`) is within, too. A printed
    point at low light settles what lies above it; below it the same two hold of the shunt there.
    """
    at, low, high = _bounds(panel)
    known = np.log(np.clip(light_w_m2, LEAST_W_M2, None))
    return np.interp(known, at, low), np.interp(known, at, high)


LEAST_W_M2 = 1e-2
"""Below this no bound is looked for: it is that of this light."""


@cache
def _bounds(panel: Panel) -> tuple[Array, Array, Array]:
    """Tabulate `bounds` over the logarithm of the light, at 25 degC: they hardly move with the temperature."""
    light = np.union1d(np.geomspace(LEAST_W_M2, 1500.0, 80), MEASURED_W_M2)
    cell_c = np.full_like(light, 25.0)

    def power(fit: tuple[float, float, float, float, float], law: Shunt) -> Array:
        i_l, _, r_s, r_sh, a = fit
        diode = _moved(panel, (i_l, r_s, r_sh, a), law(r_sh, light), light, cell_c)
        voltage, current = at_maximum_power(*diode)
        return voltage * current

    told = power(_single_diode(panel), desoto_ohm)
    known_w_m2 = 1000.0 if panel.low_light is None else panel.low_light[0]
    fits = {_fit(panel, n) for n in _idealities(panel)} if panel.low_light is None else {_single_diode(panel)}
    laws: tuple[Shunt, ...] = (desoto_ohm, lambda r_sh, at: desoto_ohm(r_sh, np.maximum(at, known_w_m2)))
    readings = [power(fit, law) / told for fit in fits for law in laws]
    if panel.low_light is None:
        readings.append(measured_share(light))
    both = np.stack([*readings, np.ones_like(light)])
    return np.log(light), both.min(axis=0), both.max(axis=0)


MEASURED_W_M2 = (36.0, 68.0, 1000.0)
"""Ends of the light in which cells were measured, and that of their datasheet."""


def measured_share(light_w_m2: Array) -> Array:
    """Return the least share of its fit that a small silicon cell was seen to give.

    KXOB25 cells at 36 to 68 W/m2 gave half (recalled: the report is not at hand). Brighter, a straight line over the
    logarithm of the light to the datasheet's own point; darker, as by a resistor, in proportion to the light.
    """
    darkest, brightest, datasheet = MEASURED_W_M2
    brighter = np.interp(np.log(light_w_m2), np.log([brightest, datasheet]), [0.5, 1.0])
    return np.asarray(brighter * np.minimum(light_w_m2 / darkest, 1.0))


def low_light_of(panel: Panel, light_w_m2: Array, power_w: Array) -> tuple[float, float]:
    """Return the energy of an even series by the panel's darker and brighter reading, over that of its fit."""
    whole = float(power_w.sum())
    if whole == 0.0:
        return 1.0, 1.0
    low, high = bounds(panel, light_w_m2)
    return float((power_w * low).sum()) / whole, float((power_w * high).sum()) / whole


def low_light_text(low_light: Sequence[float]) -> str:
    """Say how far the energy may be off for want of the panel's points at low light."""
    low, high = low_light
    return (
        f"{(low - 1) * 100:+.0f} to {(high - 1) * 100:+.0f} % of the light's energy, as datasheet and measured cells "
        "leave open the ideality (1 to 1.3) and how the shunt goes with the light"
    )


Shunt = Callable[[float, Array], Array]
"""Shunt resistance in a light, from that at 1000 W/m2."""


def desoto_ohm(r_sh: float, light_w_m2: Array) -> Array:
    """Let the shunt's conductance go with the light."""
    return r_sh * 1000.0 / light_w_m2


IDEALITY = (1.0, 1.3)
"""Crystalline silicon: 1 is a diode's least; above this only recombination that a single diode does not describe."""


@cache
def _idealities(panel: Panel) -> tuple[float, float]:
    """Return the ends of `IDEALITY` with which a curve passes through a panel's points.

    A good cell's curve is too square for the highest: the series resistance would be below zero, or the shunt's.
    """
    least, most = IDEALITY
    _fit(panel, least)
    if _passes(panel, most):
        return least, most
    low, high = least, most
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (middle, high) if _passes(panel, middle) else (low, middle)
    return least, low


def _passes(panel: Panel, ideality: float) -> bool:
    try:
        _fit(panel, ideality)
    except SunsealError:
        return False
    return True


@cache
def _single_diode(panel: Panel) -> tuple[float, float, float, float, float]:
    """Fit a single diode to a panel: photocurrent, saturation current, series and shunt resistance, n Ns Vth.

    v_oc, i_sc and the maximum power point leave one of the five open. A point at low light settles it where the
    datasheet prints one; else the ideality is De Soto's, which is that of the temperature coefficient of v_oc
    (`pvlib.ivtools.sdm.fit_desoto`), within what is physical.
    """
    import pvlib

    least, most = _idealities(panel)
    if panel.low_light is not None:
        return _fit(panel, _settled(panel, *panel.low_light))
    i_l, i_0, r_s, r_sh, a = _fit(panel, least)
    try:
        fitted, _ = pvlib.ivtools.sdm.fit_desoto(
            panel.v_mp_v,
            panel.i_mp_a,
            panel.v_oc_v,
            panel.i_sc_a,
            panel.alpha_sc_per_k * panel.i_sc_a,
            panel.beta_oc_per_k * panel.v_oc_v,
            panel.cells_in_series,
            init_guess={"IL_0": i_l, "Io_0": i_0, "Rs_0": r_s, "Rsh_0": r_sh, "a_0": a},
        )
        ideality = float(fitted["a_ref"]) / (panel.cells_in_series * V_THERMAL)
    except RuntimeError:  # it does not converge: nothing is known of the ideality
        ideality = (least + most) / 2.0
    return _fit(panel, min(max(ideality, least), most))


def _settled(panel: Panel, light_w_m2: float, p_mp: float) -> float:
    """Find the ideality with which the printed point at low light is met, or the end that comes nearest."""
    import pvlib
    from scipy.optimize import brentq

    def miss(ideality: float) -> float:
        i_l, i_0, r_s, r_sh, a = _fit(panel, ideality)
        share = light_w_m2 / 1000.0
        point = pvlib.pvsystem.max_power_point(i_l * share, i_0, r_s, r_sh / share, a, method="brentq")
        return float(point["p_mp"]) - p_mp

    least, most = _idealities(panel)  # power at low light falls with the ideality
    if miss(least) <= 0:
        return least
    return most if miss(most) >= 0 else float(brentq(miss, least, most, xtol=1e-6))


V_THERMAL = 1.380649e-23 * 298.15 / 1.602176634e-19
"""k T / q at 25 degC."""


def _fit(panel: Panel, ideality: float) -> tuple[float, float, float, float, float]:
    """Fit the other four figures of a single diode at an ideality, so that all four points of a datasheet are met.

    For a series resistance the equations at short circuit, open circuit and maximum power point are linear in
    photocurrent, saturation current and shunt conductance; the series resistance is the one at which the power has its
    maximum there.
    """
    from scipy.optimize import brentq

    a = ideality * panel.cells_in_series * V_THERMAL
    v_mp, i_mp = panel.v_mp_v, panel.i_mp_a

    def linear(r_s: float) -> tuple[float, float, float]:
        points = ((0.0, panel.i_sc_a), (panel.v_oc_v, 0.0), (v_mp, i_mp))
        inner = [v + i * r_s for v, i in points]
        rows = np.array([[1.0, -float(np.expm1(d / a)), -d] for d in inner])
        i_l, i_0, g = np.linalg.solve(rows, np.array([i for _, i in points]))
        return float(i_l), float(i_0), float(g)

    def slope(r_s: float) -> float:
        _, i_0, g = linear(r_s)
        s = i_0 / a * float(np.exp((v_mp + i_mp * r_s) / a)) + g
        return i_mp - v_mp * s / (1.0 + s * r_s)

    tried = np.linspace(0.0, (panel.v_oc_v - v_mp) / i_mp * 0.999, 200)
    slopes = [slope(float(r)) for r in tried]
    for low, high, at, then in zip(tried, tried[1:], slopes, slopes[1:], strict=False):
        if at * then < 0:
            r_s = float(brentq(slope, low, high, xtol=1e-12))
            i_l, i_0, g = linear(r_s)
            if g > 0 and i_0 > 0:
                return i_l, i_0, r_s, 1.0 / g, a
    raise SunsealError(
        f"no single-diode curve of ideality {ideality:.2f} passes through the datasheet points of panel "
        f"`{panel.part}`: v_oc {panel.v_oc_v} V, i_sc {panel.i_sc_a} A, v_mp {v_mp} V, i_mp {i_mp} A"
    )
