# SPDX-License-Identifier: MIT OR Apache-2.0
"""Climate files (PVGIS, EPW, TMY3) and indoor light, as the cell of a panel over time."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sunseal.catalog import boards
from sunseal.errors import SunsealError, unknown
from sunseal.harvest.harvested import Harvested
from sunseal.harvest.light import DARK_W_M2, MODEL, Panel, low_light_of, low_light_text, plane_of
from sunseal.trace.model import Array

if TYPE_CHECKING:
    import pandas as pd

HOUR_S = 3600.0
LUMENS_PER_WATT = 683.0
"""Luminous efficacy of 540 THz (SI brochure, 9th edition, 2.3.1); at the peak of V it is 683.002."""
POSSIBLE = {
    **dict.fromkeys(("ghi", "dni", "dhi", "poa_global"), (0.0, 2000.0)),
    "temp_air": (-90.0, 70.0),
    "wind_speed": (0.0, 110.0),
}
"""Ends of what can be in an hour. What a file lacks it writes beyond them: 9999, 99.9 and 999 in EPW, -9900 in TMY3."""
LIGHTS = ("led", "fluorescent")
INDOOR_C = 25.0
CURVE_POINTS = 65
"""Voltages of a curve of a panel that is described by points."""


@dataclass(frozen=True)
class Climate:
    """A climate file: light and air for each hour."""

    frame: pd.DataFrame
    """ghi, dni, dhi or poa_global [W/m2], temp_air [degC], wind_speed [m/s]; indexed by where the hour begins, UTC."""
    middle_s: float
    """Moment of an hour at which the sun stood that the figures belong to."""
    latitude: float
    longitude: float
    altitude_m: float
    form: str
    source: str
    typical: bool
    """True if the months are of different years."""


def read(path: Path) -> Climate:
    """Read a climate file; its content says which it is. Hours that lack or repeat are named."""
    import pandas as pd
    import pvlib

    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as e:
        raise SunsealError(f"the climate file `{path}` cannot be read: {e.strerror or e}") from e
    lines = text.splitlines()[:40]
    try:
        if text.lstrip().startswith("{"):
            outputs = json.loads(text).get("outputs", {})
            if "hourly" in outputs:
                return _pvgis_hourly(path, "json")
            if "tmy_hourly" in outputs:
                return _pvgis_tmy(path, "json")
        elif lines and lines[0].startswith("LOCATION,"):
            frame, meta = pvlib.iotools.read_epw(path, coerce_year=1990)
            frame.index = frame.index.tz_convert("UTC")
            # The row of an hour is stamped with its beginning by pvlib.
            return _climate(path, frame, _place(meta, "altitude"), ("EPW", str(meta["city"])), HOUR_S / 2, typical=True)
        elif lines and lines[0].startswith("Latitude"):
            heads = [line for line in lines if line.startswith("time")]
            return _pvgis_tmy(path, "csv") if heads and heads[0].startswith("time(UTC)") else _pvgis_hourly(path, "csv")
        elif len(lines) > 1 and lines[1].startswith("Date (MM/DD/YYYY)"):
            frame, meta = pvlib.iotools.read_tmy3(path, coerce_year=1990, map_variables=True)
            frame.index = frame.index.tz_convert("UTC") - pd.Timedelta(hours=1)  # TMY3 stamps the end of an hour
            return _climate(
                path, frame, _place(meta, "altitude"), ("TMY3", str(meta["Name"])), HOUR_S / 2, typical=True
            )
    except SunsealError:
        raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as e:
        if re.search(r"^(\d+,0?2,29,|02/29/)", text, re.MULTILINE):
            raise SunsealError(
                f"the climate file `{path.name}` has a 29 February; a typical year has 8760 hours: take that day out"
            ) from e
        raise SunsealError(f"the climate file `{path.name}` is damaged or cut off: {_first_line(e)}") from e
    raise SunsealError(f"`{path.name}` is no climate file: PVGIS hourly or TMY (CSV or JSON), EPW and TMY3 can be read")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _pvgis_hourly(path: Path, form: str) -> Climate:
    import pvlib

    frame, meta = pvlib.iotools.read_pvgis_hourly(path, pvgis_format=form)
    place = meta["inputs"].get("location", meta["inputs"])
    parts = [c for c in ("poa_direct", "poa_sky_diffuse", "poa_ground_diffuse") if c in frame]
    if "poa_global" not in frame and parts:
        frame["poa_global"] = frame[parts].sum(axis=1, skipna=False)
    database = str(
        meta["inputs"].get("radiation_database") or meta["inputs"].get("meteo_data", {}).get("radiation_db", "")
    )
    # The stamp is the satellite's moment within the hour.
    minute = float(frame.index[0].minute)
    frame.index = frame.index.floor("h")
    return _climate(path, frame, _place(place, "elevation"), ("PVGIS hourly", database), minute * 60.0, typical=False)


def _pvgis_tmy(path: Path, form: str) -> Climate:
    import pandas as pd
    import pvlib

    frame, meta = pvlib.iotools.read_pvgis_tmy(path, pvgis_format=form)
    place = meta["inputs"].get("location", meta["inputs"])
    years = ", ".join(f"{m['month']}/{m['year']}" for m in meta["months_selected"])
    offset_s = float(place.get("irradiance_time_offset", place.get("irradiance time offset", 0.0))) * HOUR_S
    stamps = frame.index
    leap = (stamps.month == 2) & (stamps.day == 29)
    frame = frame[~leap]
    frame.index = pd.DatetimeIndex([t.replace(year=1990) for t in frame.index.to_pydatetime()], name="time")
    return _climate(
        path, frame, _place(place, "elevation"), ("PVGIS TMY", f"months of {years}"), offset_s, typical=True
    )


def _place(told: Mapping[str, Any], height: str) -> tuple[float, float, float]:
    """Return latitude, longitude and height of a place."""
    return float(told["latitude"]), float(told["longitude"]), float(told[height] or 0.0)


def _climate(
    path: Path,
    frame: pd.DataFrame,
    place: tuple[float, float, float],
    said: tuple[str, str],
    middle_s: float,
    *,
    typical: bool,
) -> Climate:
    """Check the hours; `said` are the file's form and where its figures are from."""
    import pandas as pd

    light = ["poa_global"] if "poa_global" in frame else ["ghi", "dni", "dhi"]
    for column in (*light, "temp_air", "wind_speed"):
        if column not in frame:
            raise SunsealError(f"the climate file `{path.name}` lacks {column}")
        values, (least, most) = frame[column].to_numpy(dtype=float), POSSIBLE[column]
        if (bad := np.flatnonzero(~((values >= least) & (values <= most)))).size:
            when, value = frame.index[int(bad[0])], float(values[bad[0]])
            why = f" ({value:g} cannot be)" if np.isfinite(value) else ""
            raise SunsealError(
                f"the climate file `{path.name}` has no {column} for {when:%Y-%m-%d %H:%M} UTC{why}",
                hint="fill it from the hours beside it, or take another year",
            )
    frame = frame.sort_index() if typical else frame
    steps = frame.index.to_series().diff().iloc[1:]
    wrong = np.flatnonzero((steps != pd.Timedelta(hours=1)).to_numpy())
    if wrong.size:
        at = int(wrong[0])
        before, after = frame.index[at], frame.index[at + 1]
        missing = round((after - before).total_seconds() / HOUR_S) - 1
        if missing < 0:
            raise SunsealError(
                f"the climate file `{path.name}`: {after:%Y-%m-%d %H:%M} UTC comes after {before:%Y-%m-%d %H:%M}: "
                "time goes back or an hour is there twice"
            )
        raise SunsealError(
            f"the climate file `{path.name}` has a gap: {missing} hours lack between {before:%Y-%m-%d %H:%M} and "
            f"{after:%Y-%m-%d %H:%M} UTC",
            hint="download it again, or cut the file there",
        )
    if typical and len(frame) != 8760:
        raise SunsealError(f"the climate file `{path.name}` has {len(frame)} hours; a typical year has 8760")
    form, source = said
    return Climate(frame, middle_s, *place, form, source.strip('" '), typical)


def cells(
    climate: Climate,
    panel: Panel,
    *,
    tilt_deg: float = 36.0,
    azimuth_deg: float = 180.0,
    shading: float = 1.0,
    file: str = "",
) -> Harvested:
    """Turn a climate into the panel's cell for each hour (cell temperature by Faiman 2008).

    Where the file has the light on the panel's plane already (PVGIS `G(i)`), tilt and azimuth are its own.
    """
    import pandas as pd
    import pvlib

    if panel.in_lux:
        raise SunsealError(
            f"panel {panel.part} is described by points in lux, and a climate's W/m2 are outside of its table"
        )
    frame = climate.frame
    if "poa_global" in frame:
        poa = frame["poa_global"].to_numpy(dtype=float)
        plane = "the file's own plane"
    else:
        moments = pd.DatetimeIndex(frame.index) + pd.Timedelta(seconds=climate.middle_s)
        sun = pvlib.solarposition.get_solarposition(
            moments, climate.latitude, climate.longitude, altitude=climate.altitude_m
        )
        sun.index = frame.index
        total = pvlib.irradiance.get_total_irradiance(
            tilt_deg,
            azimuth_deg,
            sun["apparent_zenith"],
            sun["azimuth"],
            frame["dni"],
            frame["ghi"],
            frame["dhi"],
            albedo=0.2,
        )
        poa = np.nan_to_num(total["poa_global"].to_numpy(dtype=float))
        plane = plane_of(tilt_deg, azimuth_deg, float(climate.latitude))
    poa = np.maximum(poa, 0.0) * shading
    cell_c = pvlib.temperature.faiman(
        poa, frame["temp_air"].to_numpy(dtype=float), frame["wind_speed"].to_numpy(dtype=float)
    )
    about = {
        "file": file,
        "format": f"{climate.form}, {climate.source}",
        "place": f"{climate.latitude:.4f} N, {climate.longitude:.4f} E, {climate.altitude_m:g} m",
        "begins": f"{frame.index[0]:%m-%d %H:%M} UTC" if climate.typical else f"{frame.index[0]:%Y-%m-%d %H:%M} UTC",
        "plane": plane,
        "shading": f"{shading:g} of the light reaches the panel",
    }
    hours = np.arange(len(poa) + 1, dtype=np.float64) * HOUR_S
    return _of_light(hours, np.asarray(poa, dtype=np.float64), np.asarray(cell_c), panel, about)


def _of_light(time_s: Array, light: Array, cell_c: Array, panel: Panel, about: dict[str, str]) -> Harvested:
    """Compute a panel's rows in W/m2, or in lux of a panel that is described in it."""
    lit = light > DARK_W_M2
    volts, amps = np.zeros(len(light)), np.zeros(len(light))
    volts[lit], amps[lit] = panel.at_maximum(light[lit], cell_c[lit])
    about["panel"] = f"{panel.part}: {panel.source}"
    # Rows of a climate and of a profile are even.
    about["low_light"] = low_light_text(low_light_of(panel, light, volts * amps))
    rows = panel.cells(np.where(lit, light, 0.0), cell_c)
    if rows is not None:
        about["model"] = MODEL
        return Harvested(time_s, volts * amps, volts, amps, cells=rows, light=light, provenance=about)
    about["model"] = "points of the datasheet, straight over the logarithm of the light"
    grid, curves = panel.curves(light[lit], cell_c[lit], CURVE_POINTS)
    whole = np.zeros((len(light), len(grid)))
    whole[lit] = curves
    return Harvested(time_s, volts * amps, volts, amps, grid_v=grid, curves_a=whole, light=light, provenance=about)


# --- Indoors ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Light:
    """Kind of indoor light, to the eye and to a silicon cell."""

    name: str
    efficacy_lm_w: float
    """Luminous efficacy of its radiation between 380 nm and 780 nm: lux for a watt on a square metre."""
    mismatch: float
    """Current that a watt of it gives in a silicon cell, to that of a watt of the sun's AM 1.5 global spectrum."""

    def irradiance_w_m2(self, lux: float | Array) -> Any:
        """Turn illuminance into irradiance."""
        return np.asarray(lux) / self.efficacy_lm_w


def light(name: str) -> Light:
    """Compute a light's figures from its CIE spectrum, V(lambda), and pvlib's silicon response and AM 1.5 spectrum."""
    import pvlib

    if name not in LIGHTS:
        raise unknown("light", name, LIGHTS)
    path = boards.home() / "data" / "light" / "cie.csv"
    rows = list(
        csv.DictReader(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    )
    nm, eye, spectrum = (np.array([float(r[k]) for r in rows]) for k in ("wavelength_nm", "v", name))
    efficacy = LUMENS_PER_WATT * float((eye * spectrum).sum() / spectrum.sum())
    response = pvlib.spectrum.get_example_spectral_response()
    sun = pvlib.spectrum.get_reference_spectra(standard="ASTM G173-03")["global"]
    wave, silicon = response.index.to_numpy(dtype=float), response.to_numpy(dtype=float)
    indoors = float((np.interp(nm, wave, silicon) * spectrum).sum() / spectrum.sum())
    sun_nm, sun_w = sun.index.to_numpy(dtype=float), sun.to_numpy(dtype=float)
    outdoors = float(np.trapezoid(np.interp(sun_nm, wave, silicon, left=0, right=0) * sun_w, sun_nm))
    return Light(name, efficacy, indoors / (outdoors / float(np.trapezoid(sun_w, sun_nm))))


def lux_profile(path: Path) -> tuple[Array, Array]:
    """Read an indoor profile: CSV with `time_s,lux` or `hour,lux`, evenly spaced; a row holds until the next."""
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    rows = [(i, r) for i, r in enumerate(csv.reader(lines), 1) if r and not r[0].startswith("#")]
    head = [c.strip().lower() for c in rows[0][1]] if rows else []
    scale = {"time_s": 1.0, "hour": HOUR_S, "time_h": HOUR_S}.get(head[0] if head else "")
    if scale is None or head[1:2] != ["lux"]:
        raise SunsealError(f"`{path.name}` is no lux profile: its head must be `time_s,lux` or `hour,lux`")
    time: list[float] = []
    lux: list[float] = []
    for line, row in rows[1:]:
        if len(row) > len(head):
            raise SunsealError(f"line {line} of `{path.name}` has {len(row)} fields, and its head {len(head)}")
        try:
            when, value = float(row[0]) * scale, float(row[1])
        except (ValueError, IndexError) as e:
            raise SunsealError(f"line {line} of `{path.name}` is not a time and an illuminance") from e
        if not 0 <= value < 2e5:
            raise SunsealError(
                f"line {line} of `{path.name}`: {value:g} lux is no illuminance; noon in the sun has 120000"
            )
        if time and not when > time[-1]:
            raise SunsealError(f"line {line} of `{path.name}`: the time does not grow")
        if len(time) > 1 and abs((when - time[-1]) / (time[1] - time[0]) - 1) > 0.5:
            raise SunsealError(
                f"line {line} of `{path.name}`: a gap of {when - time[-1]:g} s; "
                f"the rows are {time[1] - time[0]:g} s apart"
            )
        time.append(when)
        lux.append(value)
    if len(time) < 2:
        raise SunsealError(f"`{path.name}` has {len(time)} rows; at least two tell how far apart they are")
    return np.append(time, time[-1] + time[1] - time[0]) - time[0], np.array(lux)


def indoors(path: Path, panel: Panel, kind: str = "led", shading: float = 1.0) -> Harvested:
    """Turn a lux profile into the cell of a silicon panel, or into curves of one described in lux, at 25 degC."""
    shine = light(kind)
    time_s, lux = lux_profile(path)
    warm = np.full(len(lux), INDOOR_C)
    if panel.in_lux:
        said = {"file": path.name, "format": "lux profile", "light": f"{kind}, as lux on the panel's own table"}
        return _of_light(time_s, lux * shading, warm, panel, said)
    irradiance = np.asarray(shine.irradiance_w_m2(lux), dtype=float) * shading
    about = {
        "file": path.name,
        "format": "lux profile",
        "shading": f"{shading:g} of the light reaches the panel",
        "light": f"{kind}: {shine.efficacy_lm_w:.1f} lux are 1 W/m2, worth {shine.mismatch:.3f} W/m2 of the sun's",
    }
    return _of_light(time_s, irradiance * shine.mismatch, warm, panel, about)
