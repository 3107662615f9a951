# SPDX-License-Identifier: MIT OR Apache-2.0
"""From a year of measured weather to the power of a small panel over one day.

pvlib brings the weather file and the sun's position, of which a wheel has some days; the panel comes from
`data/parts`, and what it gives of the light is the engine's law.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from sunseal import _engine
from sunseal.answers import writing
from sunseal.catalog import boards
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[np.float64]
Told = TypeVar("Told")
STEP_S = 60.0
MODEL = (
    "two diodes moved by De Soto 2006 to light and by the datasheet's coefficients to temperature (Villalva, Gazoli "
    "and Filho 2009), in the middle of what the datasheet leaves open"
)
DAY_S = 86_400.0
DEFAULT_WEATHER = "723170TYA.CSV"
TROPIC_DEG = 23.44
AWAY = "tilted away from the sun of noon"


@dataclass(frozen=True)
class Panel:
    """A panel of `data/parts`; what it gives of light is the engine's law (`sunseal_power::Panel`)."""

    part: str
    source: str
    engine: _engine.Panel = field(repr=False, compare=False)

    @staticmethod
    def load(part: str) -> Panel:
        """Read a panel from `data/parts`."""
        path, data = boards.part_path(part), boards.part(part)
        panel = data.get("panel")
        if not isinstance(panel, dict):
            raise SunsealError(f"`{path.name}` is not a panel: it has no table `[panel]`")
        return Panel.of(part, panel)

    @staticmethod
    def of(part: str, panel: Mapping[str, Any]) -> Panel:
        """Make a panel of the keys of a table `[panel]`."""
        try:
            return Panel(part, str(panel.get("source", "")), _engine.Panel(part, json.dumps(panel)))
        except _engine.EngineError as e:
            raise SunsealError(str(e)) from e

    @property
    def in_lux(self) -> bool:
        """Say whether its datasheet tells it by indoor light."""
        return self.engine.in_lux

    def at_maximum(self, light: Array, cell_c: Array) -> tuple[Array, Array]:
        """Return voltage and current at the maximum power point in a light (W/m2; lux of a panel told in it)."""
        voltage, current = self._asked(lambda: self.engine.mp(light.tolist(), cell_c.tolist()))
        return np.array(voltage), np.array(current)

    def cells(self, light: Array, cell_c: Array) -> Array | None:
        """Return the seven figures of two diodes for each moment; None of a panel that is described by points."""
        rows = self.engine.cells(light.tolist(), cell_c.tolist())
        return None if rows is None else np.array(rows)

    def curves(self, light: Array, cell_c: Array, points: int) -> tuple[Array, Array]:
        """Return voltages, and the currents at them for each moment."""
        asked = light.tolist(), cell_c.tolist()
        grid = np.linspace(0.0, max(self._asked(lambda: self.engine.v_oc(*asked)), default=0.0) or 1.0, points)
        return grid, np.array(self._asked(lambda: self.engine.curves(*asked, grid.tolist())))

    def alike(self, light_w_m2: Array, reading: int) -> Array:
        """Return the light in which is told what the darkest (-1) or brightest (1) reading gives in this one."""
        grid = np.geomspace(DARK_W_M2, 2000.0, 400)
        volts, amps = self.at_maximum(grid, np.full_like(grid, 25.0))
        told = np.log(volts * amps)
        ends = told + np.log(bounds(self, grid)[reading > 0])
        found = np.zeros_like(light_w_m2)
        lit = light_w_m2 > DARK_W_M2
        wanted = np.interp(np.log(light_w_m2[lit]), np.log(grid), ends)
        found[lit] = np.exp(np.interp(wanted, told, np.log(grid)))
        return found

    def _asked(self, law: Callable[[], Told]) -> Told:
        try:
            return law()
        except _engine.EngineError as e:
            raise SunsealError(str(e)) from e


@dataclass(frozen=True)
class Trace:
    """One day of a panel at its maximum power point, from local standard midnight."""

    time_s: Array
    power_w: Array
    voltage_v: Array
    current_a: Array
    irradiance_w_m2: Array
    temperature_c: Array
    cells: Array | None
    """Two diodes for each moment; None of a panel that is described by points."""
    low_light: tuple[float, float] = (1.0, 1.0)
    """Energy by the darkest and the brightest reading of the panel's datasheet, over what is told."""
    provenance: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[float] | list[list[float]]:
        """Return what the engine plays: cells that hold until the next time, or powers of a panel told by points."""
        powers: list[float] = self.power_w.tolist()
        if self.cells is None:
            return powers
        cells: list[list[float]] = self.cells[:-1].tolist()
        return cells

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
    # To import pvlib takes a second, which light from the cache need not wait for.
    found = importlib.util.find_spec("pvlib")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'pvlib'", name="pvlib")
    for folder in (Path(found.origin).parent / "data", Path.cwd()):
        if (folder / name).is_file():
            return folder / name
    raise SunsealError(
        f"the weather file `{name}` is neither in pvlib's package nor here",
        hint=f"pvlib {importlib.metadata.version('pvlib')} ships {DEFAULT_WEATHER}",
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


@dataclass(frozen=True)
class Sky:
    """Days of a place: the sun's place, light and air for each moment, before any panel."""

    time_s: Array
    zenith_deg: Array
    azimuth_deg: Array
    dni: Array
    ghi: Array
    dhi: Array
    air_c: Array
    wind_m_s: Array
    latitude_deg: float
    told: dict[str, str]
    """Provenance: weather and its hash, days, scale of each component's energy."""

    def save(self, file: Path | io.BytesIO) -> None:
        """Write it into a file that `load` reads."""
        arrays = {name: getattr(self, name) for name in SERIES}
        about = json.dumps({"latitude_deg": self.latitude_deg, "told": self.told})
        if isinstance(file, Path):
            file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, about=np.array(about), **arrays)

    @staticmethod
    def load(path: Path) -> Sky:
        """Read what `save` wrote."""
        # From memory: of a broken file NumPy leaves the handle open.
        with np.load(io.BytesIO(path.read_bytes())) as kept:
            about = json.loads(str(kept["about"]))
            return Sky(**{name: kept[name] for name in SERIES}, **about)

    def plane_w_m2(self, tilt_deg: float, azimuth_deg: float) -> Array:
        """Compute the light in a plane: the sun's by its angle, the sky's from everywhere alike, the ground's.

        The isotropic sky of Liu and Jordan 1960, as pvlib computes it.
        """
        tilt, zenith = np.radians(tilt_deg), np.radians(self.zenith_deg)
        facing = np.cos(tilt) * np.cos(zenith)
        facing = facing + np.sin(tilt) * np.sin(zenith) * np.cos(np.radians(self.azimuth_deg - azimuth_deg))
        angle = np.degrees(np.arccos(np.clip(facing, -1, 1)))
        direct = np.maximum(self.dni * np.cos(np.radians(angle)), 0)
        sky = self.dhi * (1 + np.cos(tilt)) * 0.5
        ground = self.ghi * ALBEDO * (1 - np.cos(tilt)) * 0.5
        return np.asarray(direct + (sky + ground))


SERIES = ("time_s", "zenith_deg", "azimuth_deg", "dni", "ghi", "dhi", "air_c", "wind_m_s")
ALBEDO = 0.2
KEPT_MOST = 20_000
"""Moments of a sky up to which the cache keeps it: a day by the minute, a year by the hour."""
CARRIED = (("01-01", 365, 3600.0), ("12-21", 1, STEP_S), ("06-21", 1, STEP_S))
"""Days of the default weather that a wheel brings, as `sky` is asked: they take no pvlib."""


def carried_path(weather: str, day: str, days: int, step_s: float) -> Path:
    """Return where a wheel has a sky; its name tells it, and the source that made it, from any other."""
    key = hashlib.sha256(repr((weather, day, days, float(step_s))).encode() + Path(__file__).read_bytes())
    return boards.kept("sky", f"{key.hexdigest()}.npz")


def weather_id(weather: str) -> str:
    """Tell one weather from another: by the hash of its file, or by that of the file that the carried sky is of."""
    path = carried_path(weather, *CARRIED[0])
    if path.is_file():
        return Sky.load(path).told["weather_sha256"]
    return hashlib.sha256(weather_path(weather).read_bytes()).hexdigest()


def sky(weather: str, day: str, days: int, step_s: float) -> Sky:
    """Return days of a TMY3 file, as a wheel brings them, from the cache or computed anew."""
    carried = carried_path(weather, day, days, step_s)
    if carried.is_file():
        return Sky.load(carried)
    kept = _kept_path(weather_path(weather), day, days, step_s)
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile):  # not there, or not whole
        return Sky.load(kept)
    found = computed_sky(weather, day, days, step_s)
    if len(found.time_s) <= KEPT_MOST:
        with contextlib.suppress(OSError):  # a cache that cannot be written is none
            told = io.BytesIO()
            found.save(told)
            writing.write_atomic(kept, told.getvalue())
    return found


def _kept_path(weather: Path, day: str, days: int, step_s: float) -> Path:
    """Return where the cache has a sky: its name tells the weather's bytes, what computed it, and what was asked."""
    key = hashlib.sha256(weather.read_bytes() + Path(__file__).read_bytes())
    key.update(repr((weather.name, importlib.metadata.version("pvlib"), day, days, float(step_s))).encode())
    return boards.kept("sky", f"{key.hexdigest()}.npz")


def computed_sky(weather: str, day: str, days: int, step_s: float) -> Sky:
    """Compute the sun's place by pvlib, and light and air between the hours of a TMY3 file.

    TMY3 stamps an hour with its end, in local standard time; the irradiance is the mean over that
    hour, so it belongs to the half hour before the stamp (Wilcox and Marion 2008, NREL/TP-581-43156,
    section 3). Between those midpoints it is interpolated, cut off where the sun is down, and
    scaled so that each component's energy over the day stays that of the file.
    """
    import pandas as pd
    import pvlib

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
    zenith, azimuth = (sun[column].to_numpy(dtype=float) for column in ("apparent_zenith", "azimuth"))
    told = {
        "weather": f"{path.name} (TMY3, {meta['Name'].strip(chr(34))}, {meta['State']}), "
        f"shipped with pvlib {pvlib.__version__}",
        "weather_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "day": f"{day}{f' and {days - 1} days more' if days > 1 else ''}, local standard time UTC{meta['TZ']:+g} h",
        "energy_scale": ", ".join(scales),
    }
    air, latitude = (at("temp_air"), at("wind_speed")), float(meta["latitude"])
    return Sky(time_s, zenith, azimuth, light["dni"], light["ghi"], light["dhi"], *air, latitude, told)


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
    reading: int = 0,
) -> Trace:
    """Compute days of the panel's power under a TMY3 file's sun, up to the whole typical year.

    By what is told of the panel (0), or by the darkest (-1) or the brightest (1) reading of its datasheet.
    """
    if not 0 < shading <= 1:
        raise SunsealError(f"shading {shading} is not a share above 0 and up to 1")
    month_day(day)
    above = sky(weather, day, days, step_s)
    told = dict(above.told)
    scale = told.pop("energy_scale")
    return _on_panel(
        panel,
        above.time_s,
        above.plane_w_m2(tilt_deg, azimuth_deg),
        shading,
        above.air_c,
        above.wind_m_s,
        {**told, "plane": plane_of(tilt_deg, azimuth_deg, above.latitude_deg), "energy_scale": scale},
        reading,
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


FAIMAN_U0, FAIMAN_U1 = 25.0, 6.84
"""Heat that a module gives off: W/m2 a kelvin, and of it what a metre a second of wind adds (Faiman 2008)."""


def _on_panel(
    panel: Panel,
    time_s: Array,
    plane_w_m2: Array,
    shading: float,
    air_c: Array | float,
    wind_m_s: Array | float,
    sky: dict[str, str],
    reading: int = 0,
) -> Trace:
    """Compute what a panel gives of the light in its plane; `sky` says where that light is from."""
    if panel.in_lux:
        raise SunsealError(
            f"panel {panel.part} is described by points in lux, and the sun's W/m2 are outside of its table",
            hint="take a panel that is described at 1000 W/m2, or indoor light (`trace harvest --light`)",
        )
    poa = np.nan_to_num(plane_w_m2) * shading
    cell_c = np.asarray(air_c + poa / (FAIMAN_U0 + FAIMAN_U1 * np.asarray(wind_m_s)), dtype=float)
    told = panel.alike(poa, reading) if reading else poa
    lit = told > DARK_W_M2
    voltage, current = np.zeros_like(poa), np.zeros_like(poa)
    voltage[lit], current[lit] = panel.at_maximum(told[lit], cell_c[lit])
    power = voltage * current
    cells = panel.cells(np.where(lit, told, 0.0), cell_c)
    low_light = low_light_of(panel, poa, power)
    return Trace(
        time_s=time_s,
        power_w=power,
        voltage_v=voltage,
        current_a=current,
        irradiance_w_m2=poa,
        temperature_c=cell_c,
        cells=cells,
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


DARK_W_M2 = 0.01
"""Less light than this is none."""


def bounds(panel: Panel, light: Array) -> tuple[Array, Array]:
    """Bound what the panel gives at a light: the powers of the darkest and the brightest reading of its datasheet over
    what is told (`sunseal_power::Panel`)."""
    low, high = panel._asked(lambda: panel.engine.ends(light.tolist()))
    return np.array(low), np.array(high)


def low_light_of(panel: Panel, light: Array, power_w: Array) -> tuple[float, float]:
    """Return the energy of an even series by the panel's darkest and brightest reading, over what is told."""
    lit = power_w > 0.0
    whole = float(power_w.sum())
    if whole == 0.0:
        return 1.0, 1.0
    low, high = bounds(panel, light[lit])
    return float((power_w[lit] * low).sum()) / whole, float((power_w[lit] * high).sum()) / whole


def low_light_text(low_light: Sequence[float]) -> str:
    """Say how far the energy may be off by what the panel's datasheet leaves open of low light."""
    low, high = low_light
    return (
        f"{(low - 1) * 100:+.0f} to {(high - 1) * 100:+.0f} % of the light's energy, as the panel's datasheet leaves "
        "open what recombines and how the shunt goes with the light"
    )
