# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings of harvesters, climate files and indoor light: read, checked, written for the engine and for Shepherd."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from conftest import Cli
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.harvest import climate, harvested
from sunseal.harvest import light as harvest

PANEL = "ixys-slmd121h04l"
Array = np.ndarray[Any, np.dtype[np.float64]]


def diode(volts: Array, a: float, b: float = 1e-9, c: float = 8.0) -> Array:
    return np.maximum(a - b * np.expm1(c * volts), 0.0)


def source(rows: int = 20, step_s: float = 0.1) -> harvested.Harvested:
    grid: Array = np.linspace(0.0, 2.6, 80)
    curves: Array = np.array([diode(grid, 1e-3 * (1 + k % 5)) for k in range(rows)])
    return harvested.of_curves(np.arange(rows + 1.0) * step_s, grid, curves, {"file": "made"})


def at_maximum(of: harvested.Harvested) -> harvested.Harvested:
    return harvested.Harvested(of.time_s, of.power_w, of.voltage_v, of.current_a)


# --- Shepherd --------------------------------------------------------------------------------


def test_curves_written_for_shepherd_are_read_back(tmp_path: Path) -> None:
    want = source()
    harvested.write_shepherd(want, tmp_path / "a.h5")
    got = harvested.shepherd(tmp_path / "a.h5", points=80)
    assert got.kind == "curves" and got.curves_a is not None and want.curves_a is not None
    # A sweep of 1000 samples takes 10 ms, so a curve of 0.1 s is swept ten times.
    assert got.time_s[::10] == pytest.approx(want.time_s, abs=1e-6)
    assert np.abs(got.curves_a[5::10] - want.curves_a).max() < 0.01 * want.curves_a.max()
    assert got.energy_j == pytest.approx(want.energy_j, rel=5e-3)


def test_samples_written_for_shepherd_are_read_back_as_its_own_reader_would(tmp_path: Path) -> None:
    """By the attributes that the format's description names: physical = raw * gain + offset."""
    import h5py

    want = at_maximum(source())
    harvested.write_shepherd(want, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["mode"] == "harvester" and file["data"].attrs["datatype"] == "ivsample"
        assert file["data"]["time"].dtype == np.uint64 and file["data"]["voltage"].dtype == np.uint32
        volts, amps = (file["data"][k][:] * file["data"][k].attrs["gain"] for k in ("voltage", "current"))
        assert set(np.diff(file["data"]["time"][:]).tolist()) == {10_000}
    assert float((volts * amps).sum() * 1e-5) == pytest.approx(want.energy_j, rel=1e-6)
    assert harvested.shepherd(tmp_path / "a.h5", step_s=0.2).energy_j == pytest.approx(want.energy_j, rel=1e-6)


def test_shepherds_own_harvester_gets_the_energy_of_what_we_write(tmp_path: Path) -> None:
    from shepherd_core.data_models.content.virtual_harvester_config import VirtualHarvesterConfig
    from shepherd_core.vsource import simulate_harvester

    want = source(rows=3, step_s=0.5)
    harvested.write_shepherd(want, tmp_path / "curves.h5")
    harvested.write_shepherd(at_maximum(want), tmp_path / "samples.h5")
    # It finds a curve's best point as it sweeps, so a change of light reaches it a sweep or two of 10 ms late.
    got_j = simulate_harvester(VirtualHarvesterConfig(name="mppt_opt"), tmp_path / "curves.h5")
    assert got_j == pytest.approx(want.energy_j, rel=0.02)
    got_j = simulate_harvester(VirtualHarvesterConfig(name="neutral"), tmp_path / "samples.h5")
    assert got_j == pytest.approx(want.energy_j, rel=1e-4)


@pytest.mark.parametrize("kind", ["ivtrace", "ivsurface"])
def test_what_shepherd_writes_today_is_read(tmp_path: Path, kind: str) -> None:
    import h5py
    from shepherd_core.writer import Writer

    want = source(rows=1, step_s=1.0)
    assert want.curves_a is not None and want.grid_v is not None
    n = np.arange(100_000)
    if kind == "ivsurface":
        volts = want.grid_v[-1] * (n % 1000) / 999
        amps = np.interp(volts, want.grid_v, want.curves_a[0])
    else:
        volts, amps = (np.full(n.shape, a[0]) for a in (want.voltage_v, want.current_a))
    path = tmp_path / "a.h5"
    window = 1000 if kind == "ivsurface" else 0
    with Writer(path, mode="harvester", datatype=kind, window_samples=window, verbose=False) as out:
        out.append_iv_data_si(n * 1e-5, volts, amps)
    with h5py.File(path) as file:
        assert file["data"].attrs["datatype"] == kind
    got = harvested.shepherd(path)
    assert got.kind == ("curves" if kind == "ivsurface" else "maximum power points")
    assert got.energy_j == pytest.approx(want.energy_j, rel=2e-3)


def test_a_recording_too_long_for_shepherds_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SunsealError, match="an hour is the most that fits"):
        harvested.write_shepherd(source(step_s=1000.0), tmp_path / "a.h5")
    assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t + (np.arange(len(t)) > 7).astype("u8") * 10**9, r"sample 8 of .*a gap of 1\S* s before it"),
        (lambda t: np.where(np.arange(len(t)) == 7, t[0], t).astype("u8"), "sample 7 of .*the time goes back"),
    ],
)
def test_a_shepherd_recording_with_a_gap_names_it(tmp_path: Path, change: Any, says: str) -> None:
    import h5py

    harvested.write_shepherd(at_maximum(source()), tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["data"]["time"][:] = change(file["data"]["time"][:])
    with pytest.raises(SunsealError, match=says):
        harvested.shepherd(tmp_path / "a.h5")


# --- IVonne, Ekho, SIREN ---------------------------------------------------------------------


def test_ivonnes_curves_end_at_the_open_circuit_voltage(tmp_path: Path) -> None:
    count = 30
    table = pd.DataFrame({"time": np.arange(count) * 0.02, "a": np.linspace(1e-4, 1e-3, count), "b": 1e-9, "c": 8.0})
    table.columns = table.columns.astype(object)  # as the pandas of that time names them
    table.to_pickle(tmp_path / "jog.iv")
    got = harvested.ivonne(tmp_path / "jog.iv", points=400)
    assert got.curves_a is not None and got.grid_v is not None
    assert got.curves_a[:, 0] == pytest.approx(table["a"].to_numpy())
    v_oc = float(np.log(1e-3 / 1e-9 + 1) / 8)
    assert got.grid_v[-1] == pytest.approx(v_oc)
    power = np.linspace(0, v_oc, 20_001)
    assert got.power_w[-1] == pytest.approx(float((power * diode(power, 1e-3)).max()), rel=1e-3)


class Nasty:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("echo bad",)


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.iv").write_bytes(pickle.dumps(Nasty()))
    with pytest.raises(SunsealError, match=r"wants `(posix|nt)\.system`; only tables of numbers"):
        harvested.ivonne(tmp_path / "bad.iv")


def test_ekhos_surface_is_65_doubles_a_curve(tmp_path: Path) -> None:
    grid: Array = np.arange(65.0) * harvested.EKHO_STEP_V
    curves = np.array([diode(grid, a, 1e-12, 4.0) for a in (1e-3, 2e-3)])
    curves.astype("<f8").tofile(tmp_path / "surface.raw")
    got = harvested.ekho(tmp_path / "surface.raw", 5.0)
    assert got.time_s.tolist() == [0.0, 0.2, 0.4]
    assert got.power_w == pytest.approx((curves * grid).max(axis=1))
    (tmp_path / "cut.raw").write_bytes(b"\0" * 521)
    with pytest.raises(SunsealError, match="521 bytes; a surface of Ekho has 520"):
        harvested.ekho(tmp_path / "cut.raw", 5.0)


SIREN = "2\n0,4\n0.2,4e-3,3e-3,2e-3,1e-3,0\n0.4,8e-3,6e-3,4e-3,2e-3,0\n"


def test_a_curve_of_siren_holds_until_its_own_time(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(SIREN)
    got = harvested.siren(tmp_path / "s.csv")
    assert got.grid_v is not None and got.grid_v.tolist() == [0, 1, 2, 3, 4]
    assert got.time_s.tolist() == [0.0, 0.2, 0.4]
    assert got.power_w.tolist() == [4e-3, 8e-3]
    assert got.energy_j == pytest.approx(0.2 * 4e-3 + 0.2 * 8e-3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SIREN.replace("4e-3,2e-3,0\n", "4e-3\n"), "line 4 of .*has 4 fields; .*are 6"),
        (SIREN.replace("0.4,", "0.1,"), "line 4 of .*time does not grow"),
        (SIREN.replace("8e-3", "nan"), "line 4 of .*no number"),
        (SIREN + "1.9,1,1,1,1,1\n", "curve 3 of .*a gap of 1.5 s"),
        ("x\n", "does not begin like a surface"),
    ],
)
def test_a_damaged_surface_of_siren_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(SunsealError, match=says):
        harvested.siren(tmp_path / "s.csv")


def test_sirens_voltage_trace_is_a_source_behind_a_resistance(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("1000.0\t3.0\n1001.0\t2.0\n1002.0\t0.0\n")
    got = harvested.siren_voltage(tmp_path / "v.txt", 1e3, points=301)
    # A quarter of V²/R at half the voltage.
    assert got.power_w == pytest.approx([9 / 4e3, 4 / 4e3, 0.0])
    assert got.time_s == pytest.approx([0, 1e-3, 2e-3, 3e-3])


# --- Climate ---------------------------------------------------------------------------------


def sky(hours: int) -> Iterator[tuple[pd.Timestamp, float, float, float]]:
    """A made sky: hour, horizontal light, beam, air."""
    for i in range(hours):
        stamp = pd.Timestamp("1990-01-01", tz="UTC") + pd.Timedelta(hours=i)
        up = max(0.0, float(np.sin((stamp.hour - 6) / 12 * np.pi)))
        yield stamp, 800 * up, 600 * up, 10 + 5 * up


def pvgis_csv(path: Path, hours: int = 72, skip: tuple[int, ...] = (), double: int | None = None) -> None:
    lines = ["Latitude (decimal degrees):\t45.000", "Longitude (decimal degrees):\t8.000", "Elevation (m):\t250"]
    lines += ["Radiation database:\tPVGIS-SARAH3", "", "", "Slope: 35 deg.", "Azimuth: 0 deg.", ""]
    lines += ["time,Gb(i),Gd(i),Gr(i),H_sun,T2m,WS10m,Int"]
    for i, (stamp, light, _, air) in enumerate(sky(hours)):
        row = f"{stamp:%Y%m%d:%H}10,{light * 0.7:.6f},{light * 0.28:.6f},{light * 0.02:.6f},10.0,{air:.6f},2.0,0.0"
        lines += [] if i in skip else [row, row] if i == double else [row]
    path.write_text("\n".join([*lines, "", "Gb(i): Beam irradiance"]) + "\n")


def test_pvgis_hourly_csv_and_json_give_the_same_cells(tmp_path: Path) -> None:
    pvgis_csv(tmp_path / "a.csv")
    hourly = [
        {"time": f"{t:%Y%m%d:%H}10", "Gb(i)": g * 0.7, "Gd(i)": g * 0.28, "Gr(i)": g * 0.02}
        | {"H_sun": 10.0, "T2m": air, "WS10m": 2.0, "Int": 0.0}
        for t, g, _, air in sky(72)
    ]
    place = {"latitude": 45.0, "longitude": 8.0, "elevation": 250.0}
    told = {
        "inputs": {"location": place, "meteo_data": {"radiation_db": "PVGIS-SARAH3"}},
        "outputs": {"hourly": hourly},
        "meta": {"inputs": {}},
    }
    (tmp_path / "a.json").write_text(json.dumps(told))
    panel = harvest.Panel.load(PANEL)
    got = [climate.cells(climate.read(tmp_path / n), panel) for n in ("a.csv", "a.json")]
    assert got[0].cells is not None and got[1].cells is not None
    assert got[0].cells == pytest.approx(got[1].cells, rel=1e-4)
    # Warm and in weak light, a panel gives less than that light would make it at test conditions.
    light = sum(g for _, g, _, _ in sky(72)) / 1000 * 3600
    assert 0.8 < got[0].energy_j / (light * panel.engine.rated_w) < 1.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"skip": (30, 31)}, "2 hours lack between 1990-01-02 05:00 and 1990-01-02 08:00 UTC"),
        ({"double": 30}, "an hour is there twice"),
    ],
)
def test_a_climate_file_with_a_gap_names_it(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    pvgis_csv(tmp_path / "a.csv", **change)
    with pytest.raises(SunsealError, match=says):
        climate.read(tmp_path / "a.csv")


def test_a_climate_file_without_a_value_names_the_hour(tmp_path: Path) -> None:
    pvgis_csv(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text().replace("19900102:0510,0.000000", "19900102:0510,nan")
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(SunsealError, match="no poa_global for 1990-01-02 05:00 UTC"):
        climate.read(tmp_path / "a.csv")


@pytest.mark.parametrize(("column", "lacks"), [(6, "99.9"), (13, "9999"), (14, "-9900"), (21, "999")])
def test_what_a_weather_file_writes_where_it_lacks_a_value_is_none(tmp_path: Path, column: int, lacks: str) -> None:
    """EPW's own words for missing, and TMY3's: dry bulb, global and direct light, wind."""
    epw(tmp_path / "a.epw")
    lines = (tmp_path / "a.epw").read_text().splitlines()
    row = lines[8 + 4000].split(",")
    row[column] = lacks
    lines[8 + 4000] = ",".join(row)
    (tmp_path / "a.epw").write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    with pytest.raises(SunsealError, match=rf"for 1990-06-16 16:00 UTC \({lacks} cannot be\)"):
        climate.read(tmp_path / "a.epw")


def test_a_leap_years_day_is_named(tmp_path: Path) -> None:
    epw(tmp_path / "a.epw")
    lines = (tmp_path / "a.epw").read_text().splitlines()
    lines.insert(9 + 59 * 24, ",".join(["2020", "2", "29", *lines[9 + 59 * 24].split(",")[3:]]))
    (tmp_path / "a.epw").write_text("\n".join(lines) + "\n")
    with pytest.raises(SunsealError, match="has a 29 February"):
        climate.read(tmp_path / "a.epw")


def epw(path: Path, hours: int = 8760) -> None:
    lines = ["LOCATION,Turin,-,ITA,made,160590,45.0,8.0,0.0,250.0", *["X"] * 7]
    for stamp, light, beam, air in sky(hours):
        row = ["0"] * 35
        row[:5] = [str(stamp.year), str(stamp.month), str(stamp.day), str(stamp.hour + 1), "0"]
        row[6], row[13], row[14], row[15], row[21] = f"{air}", f"{light}", f"{beam}", f"{light * 0.3}", "2.0"
        lines.append(",".join(row))
    path.write_text("\n".join(lines) + "\n")


def pvgis_tmy(path: Path) -> None:
    lines = ["Latitude (decimal degrees): 45.000", "Longitude (decimal degrees): 8.000", "Elevation (m): 250.0"]
    lines += ["Irradiance Time Offset (h): 0.1761", "month,year", *(f"{m},{2005 + m}" for m in range(1, 13))]
    lines += ["time(UTC),T2m,RH,G(h),Gb(n),Gd(h),IR(h),WS10m,WD10m,SP"]
    for stamp, light, beam, air in sky(8760):
        year = 2005 + stamp.month
        lines.append(f"{year}{stamp:%m%d:%H}00,{air},50,{light},{beam},{light * 0.3},300,2.0,0,99000")
    path.write_text("\n".join([*lines, ""]) + "\n")


def test_epw_and_pvgis_tmy_of_one_sky_agree(tmp_path: Path) -> None:
    """They differ by where in the hour the sun is taken to stand: half an hour, and 0.1761 h."""
    epw(tmp_path / "a.epw")
    pvgis_tmy(tmp_path / "t.csv")
    panel = harvest.Panel.load(PANEL)
    first, second = (climate.cells(climate.read(tmp_path / n), panel) for n in ("a.epw", "t.csv"))
    assert len(first.power_w) == len(second.power_w) == 8760
    assert first.energy_j == pytest.approx(second.energy_j, rel=0.02)
    epw(tmp_path / "short.epw", 8000)
    with pytest.raises(SunsealError, match="has 8000 hours; a typical year has 8760"):
        climate.read(tmp_path / "short.epw")


def test_a_typical_year_agrees_with_the_day_that_the_demo_plays() -> None:
    """The same TMY3 file through `harvest.sunlight`, which works in minutes: a June day within 3 %."""
    import pvlib

    panel = harvest.Panel.load(PANEL)
    path = Path(pvlib.__file__).parent / "data" / harvest.DEFAULT_WEATHER
    year = climate.cells(climate.read(path), panel)
    # The year begins at local midnight; day 172 is 21 June.
    day = year.part(171 * 86_400.0, 86_400.0)
    assert day.energy_j == pytest.approx(harvest.sunlight("06-21", panel=panel).energy_j, rel=0.03)


# --- Indoors ---------------------------------------------------------------------------------

X10 = [0.001368, 0.004243, 0.01431, 0.04351, 0.13438, 0.2839, 0.34828, 0.3362, 0.2908, 0.19536, 0.09564]
X10 += [0.03201, 0.0049, 0.0093, 0.06327, 0.1655, 0.2904, 0.43345, 0.5945, 0.7621, 0.9163, 1.0263, 1.0622]
X10 += [1.0026, 0.85445, 0.6424, 0.4479, 0.2835, 0.1649, 0.0874, 0.04677, 0.0227, 0.011359, 0.00579, 0.002899]
X10 += [0.00144, 0.00069, 0.000332, 0.000166, 0.000083, 0.000042]
Z10 = [0.00645, 0.02005, 0.06785, 0.2074, 0.6456, 1.3856, 1.74706, 1.77211, 1.6692, 1.28764, 0.81295, 0.46518]
Z10 += [0.272, 0.1582, 0.07825, 0.04216, 0.0203, 0.00875, 0.0039, 0.0021, 0.00165, 0.0011, 0.0008, 0.00034]
Z10 += [0.00019, 0.00005, 0.00002, *[0.0] * 14]


@pytest.mark.parametrize(("name", "x", "y"), [("led", 0.3756, 0.3723), ("fluorescent", 0.3805, 0.3771)])
def test_the_lights_spectra_have_the_chromaticity_that_cie_gives_them(name: str, x: float, y: float) -> None:
    """By the other two functions of the 1931 observer, which nothing else here uses (each 10 nm)."""
    from scipy.interpolate import CubicSpline

    rows = [r for r in (boards.home() / "data/light/cie.csv").read_text().splitlines() if not r.startswith("#")]
    head, *body = [r.split(",") for r in rows]
    table = {k: np.array([float(r[i]) for r in body]) for i, k in enumerate(head)}
    coarse, nm, light = np.arange(380, 781, 10), table["wavelength_nm"], table[name]
    sums = [float((f * light).sum()) for f in (CubicSpline(coarse, X10)(nm), table["v"], CubicSpline(coarse, Z10)(nm))]
    assert sums[0] / sum(sums) == pytest.approx(x, abs=5e-4)
    assert sums[1] / sum(sums) == pytest.approx(y, abs=5e-4)


def test_indoor_light_is_three_watts_for_a_thousand_lux_and_worth_more_than_the_suns_to_silicon() -> None:
    for name in climate.LIGHTS:
        shine = climate.light(name)
        assert 2.8 < shine.irradiance_w_m2(1000.0) < 3.3
        assert 1.0 < shine.mismatch < 1.25, "none of it lies beyond silicon's band gap"


def test_a_cell_indoors_gives_less_than_its_share_of_full_light(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("hour,lux\n0,0\n1,500\n2,1000\n")
    panel = harvest.Panel.load(PANEL)
    got = climate.indoors(tmp_path / "l.csv", panel, "led")
    share = climate.light("led").irradiance_w_m2(1000.0) * climate.light("led").mismatch / 1000
    assert got.power_w[0] == 0.0
    assert 0.2 < got.power_w[2] / (panel.engine.rated_w * share) < 0.9, "the voltage falls with the light"
    assert got.power_w[1] < got.power_w[2] / 2


def test_a_panel_that_is_told_in_lux_is_a_curve_for_each_row(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("hour,lux\n0,0\n1,200\n2,1000\n")
    got = climate.indoors(tmp_path / "l.csv", harvest.Panel.load("panasonic-am-1815"), "fluorescent")
    assert got.curves_a is not None and got.grid_v is not None and got.kind == "curves"
    assert np.interp(3.0, got.grid_v, got.curves_a[1]) == pytest.approx(45.7e-6, rel=5e-3)
    assert got.power_w[0] == 0.0 and not got.curves_a[0].any()
    assert got.power_w[2] == pytest.approx(5 * got.power_w[1], rel=0.15)
    harvested.write_csv(got, tmp_path / "t.csv")
    (tmp_path / "dim.csv").write_text("hour,lux\n0,20\n1,200\n")
    with pytest.raises(SunsealError, match=r"is asked for 20\.0000 lux, and its table goes from 50 to 1000 lux"):
        climate.indoors(tmp_path / "dim.csv", harvest.Panel.load("panasonic-am-1815"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,lux\n0,1\n1,1\n", "must be `time_s,lux`"),
        ("hour,lux\n0,1\n1,-1\n", "line 3 of .*no illuminance"),
        ("hour,lux\n0,1\n1,1\n3,1\n", "line 4 of .*a gap of 7200 s"),
        ("hour,lux\n0,1\n1,1\n1,1\n", "line 4 of .*does not grow"),
        ("hour,lux\n0,1\n1,bright\n", "line 3 of .*not a time and an illuminance"),
        ("hour,lux\n0,500,5\n1,400,2\n", "line 2 of .*has 3 fields, and its head 2"),
    ],
)
def test_a_lux_profile_that_is_none_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "l.csv").write_text(text)
    with pytest.raises(SunsealError, match=says):
        climate.lux_profile(tmp_path / "l.csv")


def test_shade_is_taken_off_indoor_light(tmp_path: Path, sunseal: Cli) -> None:
    profile = "# B\N{LATIN SMALL LETTER U WITH DIAERESIS}ro\nhour,lux\n0,{}\n1,{}\n"
    (tmp_path / "l.csv").write_text(profile.format(800, 800), encoding="latin-1")
    (tmp_path / "dim.csv").write_text(profile.format(200, 200), encoding="utf-8-sig")
    shaded, dim = (
        json.loads(sunseal("trace", "harvest", tmp_path / name, "--panel", PANEL, *more, "--json").out)
        for name, more in (("l.csv", ["--shading", "0.25"]), ("dim.csv", []))
    )
    assert shaded["energy_j"] == pytest.approx(dim["energy_j"], rel=1e-9)


# --- For the engine --------------------------------------------------------------------------


def test_the_engine_plays_what_was_written(tmp_path: Path, sunseal: Cli) -> None:
    """Voltage and current of the maximum power points, as `[harvest] trace` of a scenario reads them."""
    (tmp_path / "s.csv").write_text(SIREN)
    done = sunseal("trace", "harvest", tmp_path / "s.csv", "-o", tmp_path / "out.csv")
    assert done.status == 0 and "2.4 mJ" in done.out
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "# file: s.csv"
    assert lines[2] == "time_s,0,1,2,3,4"
    assert [line.split(",")[0] for line in lines[3:]] == ["0", "0.2", "0.4"]
    assert lines[-1].split(",")[1:] == lines[-2].split(",")[1:], "the last row only ends the trace"


def test_a_stretch_that_is_not_in_the_trace_is_refused() -> None:
    assert source().part(0.5, 1.0).energy_j == pytest.approx(float(source().power_w[5:15].sum()) * 0.1)
    assert source().part(0.5, 1.0).provenance["part"] == "from 500 ms to 1.5 s of the whole"
    with pytest.raises(SunsealError, match="not within the trace of 2 s"):
        source().part(1.5, 1.0)


def test_a_runs_voltage_becomes_a_waveform(tmp_path: Path, sunseal: Cli) -> None:
    """The series that `sunseal simulate --series` writes, with its shares that have no unit."""
    (tmp_path / "series.csv").write_text("time_s,vcap_v,off_share\n0.0,2.0,0.0\n0.5,2.0,0.0\n1.0,1.75,0.5\n")
    assert sunseal("trace", "import", tmp_path / "series.csv", "-o", tmp_path / "run.vcd").status == 0
    text = (tmp_path / "run.vcd").read_text()
    assert text.endswith('#0\nr2 !\nr0 "\n#1000000000\nr1.75 !\nr0.5 "\n')


def test_the_closed_loop_takes_what_was_written(tmp_path: Path, firmware: None) -> None:
    """20 s of the node in lamp light: the panel's energy is that of the trace."""
    from sunseal.loop import simulation

    (tmp_path / "l.csv").write_text("time_s,lux\n" + "".join(f"{t},20000\n" for t in range(0, 25, 5)))
    light = climate.indoors(tmp_path / "l.csv", harvest.Panel.load("ixys-slmd600h10l"))
    points = harvested.Harvested(light.time_s, light.power_w, light.voltage_v, light.current_a)
    harvested.write_csv(points, tmp_path / "h.csv")
    elf = boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, "node-secp160r1")
    scenario = f'name = "lamp"\nboard = "{boards.DEFAULT_BOARD}"\nfirmware = "{elf}"\nduration_s = 20\n'
    (tmp_path / "s.toml").write_text(scenario + '[supply]\ninitial_v = 3.0\n[harvest]\ntrace = "h.csv"\n')
    played = simulation.play(simulation.load(tmp_path / "s.toml"))
    assert played.energy()["in_j"] == pytest.approx(float(points.power_w[0]) * 20, rel=1e-6)
