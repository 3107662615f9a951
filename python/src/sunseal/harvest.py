# SPDX-License-Identifier: MIT OR Apache-2.0
"""From a year of measured weather to the power of a small panel over one day.

pvlib brings the weather file, the sun's position and the single-diode model; the panel comes from
`data/parts`. The engine gets arrays and does the rest.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sunseal.boards import home, names, read_toml
from sunseal.errors import SunsealError, unknown

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[np.float64]
STEP_S = 60.0
MODEL = (
    "single diode (open shunt) moved by De Soto 2006 to light and by the datasheet's coefficients to temperature "
    "(Villalva, Gazoli and Filho 2009)"
)
DAY_S = 86_400.0
DEFAULT_WEATHER = "723170TYA.CSV"


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

    @staticmethod
    def load(part: str) -> Panel:
        """Read a panel from `data/parts`."""
        path = home() / "data" / "parts" / f"{part}.toml"
        if not path.is_file():
            raise unknown("part", part, names("parts"))
        data = read_toml(path)
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
    month, dom = month_day(day)
    path = weather_path(weather)
    year = 1990
    try:
        frame, meta = pvlib.iotools.read_tmy3(path, coerce_year=year, map_variables=True)
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
    frame = frame.set_index(frame.index - pd.Timedelta(minutes=30))
    if not 1 <= days <= 365:
        raise SunsealError(f"{days} days of light: the typical year has 365")
    # The typical year closes on itself: it is followed by itself, and both ends get a neighbour.
    before, after = frame.iloc[[-1]].copy(), frame.iloc[: 24 * days + 1].copy()
    before.index = before.index - pd.Timedelta(days=365)
    after.index = after.index + pd.Timedelta(days=365)
    frame = pd.concat([before, frame, after]).sort_index()

    midnight = pd.Timestamp(year=year, month=month, day=dom, tz=frame.index.tz)
    span_s = days * DAY_S
    time_s = np.arange(0.0, span_s + step_s / 2, step_s)
    when = midnight + pd.to_timedelta(time_s, unit="s")
    have_s = (frame.index - midnight).total_seconds().to_numpy(dtype=float)
    in_day = (have_s >= 0) & (have_s < span_s)
    if int(in_day.sum()) != 24 * days:
        raise SunsealError(
            f"`{path.name}` has {int(in_day.sum())} hours from {day} for {days} days; a day needs 24 of them"
        )

    def at(column: str) -> Array:
        return np.asarray(np.interp(time_s, have_s, frame[column].to_numpy(dtype=float)))

    sun = pvlib.solarposition.get_solarposition(when, meta["latitude"], meta["longitude"], altitude=meta["altitude"])
    up = sun["elevation"].to_numpy(dtype=float) > 0
    light: dict[str, Array] = {}
    scales: list[str] = []
    for column in ("ghi", "dni", "dhi"):
        series = np.where(up, at(column), 0.0)
        hourly = frame[column].to_numpy(dtype=float)[in_day].sum() * 3600.0
        got = float(np.trapezoid(series, time_s))
        scale = hourly / got if got > 0 else 1.0
        light[column] = series * scale
        scales.append(f"{column} {scale:.4f}")

    plane = pvlib.irradiance.get_total_irradiance(
        tilt_deg,
        azimuth_deg,
        sun["apparent_zenith"],
        sun["azimuth"],
        light["dni"],
        light["ghi"],
        light["dhi"],
        albedo=0.2,
    )
    poa = np.nan_to_num(plane["poa_global"].to_numpy(dtype=float)) * shading
    cell_c = np.asarray(pvlib.temperature.faiman(poa, at("temp_air"), at("wind_speed")), dtype=float)
    voltage, current = _at_maximum(panel, poa, cell_c)
    return Trace(
        time_s=time_s,
        power_w=voltage * current,
        voltage_v=voltage,
        current_a=current,
        irradiance_w_m2=poa,
        temperature_c=cell_c,
        provenance={
            "weather": f"{path.name} (TMY3, {meta['Name'].strip(chr(34))}, {meta['State']}), "
            f"shipped with pvlib {pvlib.__version__}",
            "weather_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "day": f"{day}{f' and {days - 1} days more' if days > 1 else ''}, local standard time UTC{meta['TZ']:+g} h",
            "plane": f"tilt {tilt_deg:g} deg, azimuth {azimuth_deg:g} deg, isotropic sky, albedo 0.2",
            "energy_scale": ", ".join(scales),
            "shading": f"{shading:g} of the light reaches the panel",
            "panel": f"{panel.part}: {panel.source}",
            "model": f"{MODEL}, at its maximum power point; cell temperature by Faiman 2008",
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
    poa = np.nan_to_num(plane["poa_global"].to_numpy(dtype=float)) * shading
    cell_c = np.asarray(pvlib.temperature.faiman(poa, air_c, 1.0), dtype=float)
    voltage, current = _at_maximum(panel, poa, cell_c)
    return Trace(
        time_s=time_s,
        power_w=voltage * current,
        voltage_v=voltage,
        current_a=current,
        irradiance_w_m2=poa,
        temperature_c=cell_c,
        provenance={
            "weather": f"none: clear sky (Haurwitz 1945) at latitude {latitude_deg:g} deg, {clearness:g} of it, "
            f"split by Erbs 1982; air at {air_c:g} degC",
            "plane": f"tilt {tilt_deg:g} deg, azimuth {azimuth_deg:g} deg, isotropic sky, albedo 0.2",
            "shading": f"{shading:g} of the light reaches the panel",
            "panel": f"{panel.part}: {panel.source}",
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
    _, _, r_s, r_sh, a_ref = _single_diode(panel)
    warmer_k = cell_c - 25.0
    a = a_ref * (cell_c + 273.15) / 298.15
    i_sc = panel.i_sc_a * (1.0 + panel.alpha_sc_per_k * warmer_k)
    i_0 = i_sc / np.expm1(panel.v_oc_v * (1.0 + panel.beta_oc_per_k * warmer_k) / a)
    share = light_w_m2 / 1000.0
    return i_sc * share, i_0, np.full_like(share, r_s), r_sh / share, a


def _at_maximum(panel: Panel, poa_w_m2: Array, cell_c: Array) -> tuple[Array, Array]:
    """Return a panel's voltage and current at its maximum power point."""
    import pvlib

    voltage, current = np.zeros_like(poa_w_m2), np.zeros_like(poa_w_m2)
    # Of less than this the solver cannot tell the open circuit from none.
    lit = poa_w_m2 > 1e-5
    point = pvlib.pvsystem.max_power_point(*diode_at(panel, poa_w_m2[lit], cell_c[lit]), method="brentq")
    voltage[lit] = np.asarray(point["v_mp"], dtype=float)
    current[lit] = np.asarray(point["i_mp"], dtype=float)
    return voltage, current


@cache
def _single_diode(panel: Panel) -> tuple[float, float, float, float, float]:
    """Fit a single diode with an open shunt to the datasheet's v_oc, i_sc and maximum power point.

    For each ideality the series resistance follows from the power; the ideality whose v_mp lies
    nearest is taken. De Soto's fit of five parameters does not converge for panels this small.
    """
    import pvlib
    from scipy.optimize import brentq

    p_mp = panel.v_mp_v * panel.i_mp_a
    v_thermal = panel.cells_in_series * 1.380649e-23 * 298.15 / 1.602176634e-19
    r_sh = 1e4 * panel.v_oc_v / panel.i_sc_a
    best: tuple[float, tuple[float, float, float, float, float]] | None = None
    for ideality in np.arange(0.6, 2.51, 0.02):
        a = float(ideality) * v_thermal
        i_0 = panel.i_sc_a / float(np.expm1(panel.v_oc_v / a))

        def point(r_s: float, a: float = a, i_0: float = i_0, column: str = "p_mp") -> float:
            mpp = pvlib.pvsystem.max_power_point(panel.i_sc_a, i_0, r_s, r_sh, a, method="brentq")
            return float(mpp[column])

        r_max = (panel.v_oc_v - panel.v_mp_v) / panel.i_mp_a
        if point(0.0) < p_mp or point(r_max) > p_mp:
            continue
        r_s = float(brentq(lambda r: point(r) - p_mp, 0.0, r_max, xtol=1e-9 * r_max))
        miss = abs(point(r_s, column="v_mp") - panel.v_mp_v) / panel.v_mp_v
        if best is None or miss < best[0]:
            best = miss, (panel.i_sc_a, i_0, r_s, r_sh, a)
    if best is None or best[0] > 0.05:
        raise SunsealError(
            f"no single-diode curve passes through the datasheet points of panel `{panel.part}`: "
            f"v_oc {panel.v_oc_v} V, i_sc {panel.i_sc_a} A, v_mp {panel.v_mp_v} V, i_mp {panel.i_mp_a} A"
        )
    return best[1]
