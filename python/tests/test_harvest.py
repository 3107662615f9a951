# SPDX-License-Identifier: MIT OR Apache-2.0
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.harvest.light import DEFAULT_WEATHER, Array, Panel, bounds, clear_sky, month_day, plane_of, sunlight

PANEL = "ixys-slmd600h10l"


V_THERMAL = 1.380649e-23 * 298.15 / 1.602176634e-19
"""k T / q at 25 degC."""


def facts(part: str, **changed: Any) -> dict[str, Any]:
    """Return a panel's table with other figures."""
    told = {**dict(boards.part(part)["panel"]), **changed}
    return {key: value for key, value in told.items() if value is not None}


def current_a(cell: Array, volts: float) -> float:
    """Solve two diodes' equation at a voltage, by bisection of the current."""
    i_l, i_1, r_s, r_sh, a_1, i_2, a_2 = cell
    low, high = -i_l, i_l

    def over(i: float) -> float:
        x = volts + i * r_s
        return float(i_l - i_1 * np.expm1(x / a_1) - i_2 * np.expm1(x / a_2) - x / r_sh - i)

    for _ in range(70):
        mid = (low + high) / 2
        low, high = (mid, high) if over(mid) > 0 else (low, mid)
    return float(low + high) / 2


@pytest.mark.parametrize("part", [PANEL, "anysolar-kxob25-05x3f"])
def test_the_maximum_of_two_diodes_is_that_of_their_equation(part: str) -> None:
    """Beside a scan of voltages, at each of which the equation is solved anew."""
    random = np.random.default_rng(15)
    panel = Panel.load(part)
    light, cell_c = 10 ** random.uniform(-1, 3.1, 12), random.uniform(-20, 70, 12)
    cells = panel.cells(light, cell_c)
    assert cells is not None
    for cell, v, i in zip(cells, *panel.at_maximum(light, cell_c), strict=True):
        assert current_a(cell, v) == pytest.approx(i, rel=1e-6)
        beside = [u * current_a(cell, u) for u in np.linspace(0.9, 1.1, 41) * v]
        assert max(beside) <= v * i * (1 + 1e-9)


@pytest.mark.parametrize("part", [PANEL, "ixys-slmd121h04l"])
def test_a_warm_panel_loses_what_its_datasheet_says(part: str) -> None:
    """Open-circuit voltage and current by their coefficients; power by those and the ideal fill factor of Green 1982.

    FF0 = (v - ln(v + 0.72)) / (v + 1) with v = Voc / (n Ns k T / q), of an ideality between one and the two diodes'
    own, as its fill factor at 25 degC has it. No coefficient of power of these sheets could be read.
    """
    panel, told = Panel.load(part), facts(part)
    cell_c = np.array([-10.0, 25.0, 60.0])
    volts, amps = panel.at_maximum(np.full(3, 1000.0), cell_c)
    warmer = cell_c - 25.0
    stated_v = told["v_oc_v"] * (1 + told["beta_oc_percent_per_k"] / 100 * warmer)
    assert panel.engine.v_oc([1000.0] * 3, cell_c.tolist()) == pytest.approx(stated_v, rel=1e-6)

    def ideal_per_k(ideality: float) -> Array:
        v = stated_v / (ideality * told["cells_in_series"] * V_THERMAL * (cell_c + 273.15) / 298.15)
        ideal = stated_v * (1 + told["alpha_sc_percent_per_k"] / 100 * warmer) * (v - np.log(v + 0.72)) / (v + 1)
        return np.asarray((ideal[[0, 2]] / ideal[1] - 1) / warmer[[0, 2]])

    power = volts * amps
    per_k = (power[[0, 2]] / power[1] - 1) / warmer[[0, 2]]
    assert (per_k < ideal_per_k(1.0) + 3e-4).all() and (per_k > ideal_per_k(2.5) - 3e-4).all(), per_k


def test_a_horizontal_panel_gets_the_files_energy_for_the_day() -> None:
    """Flat and unshaded, the light of the day is the sum of the file's hourly means: 5349 Wh/m2."""
    trace = sunlight("06-21", panel=Panel.load(PANEL), tilt_deg=0.0)
    light_wh = float(np.trapezoid(trace.irradiance_w_m2, trace.time_s)) / 3600.0
    assert light_wh == pytest.approx(5349.0, rel=0.02)


def test_the_sun_of_a_clear_day_stands_where_local_standard_time_puts_it() -> None:
    """Greensboro lies 4.95 degrees west of its meridian: noon is about 20 minutes after 12:00.

    Had the stamps been taken as the middle or the beginning of their hour, the light would come
    half an hour or an hour late.
    """
    trace = sunlight("06-30", panel=Panel.load(PANEL), tilt_deg=0.0)
    light = trace.irradiance_w_m2
    centre_h = float((light * trace.time_s).sum() / light.sum()) / 3600.0
    assert 12.0 < centre_h < 12.8


def test_night_is_dark_and_time_runs_forward_over_one_day() -> None:
    trace = sunlight("12-21", panel=Panel.load(PANEL))
    assert trace.time_s[0] == 0.0
    assert trace.time_s[-1] == 86_400.0
    assert (np.diff(trace.time_s) > 0).all()
    night = (trace.time_s < 5 * 3600) | (trace.time_s > 20 * 3600)
    assert (trace.power_w[night] == 0).all()
    assert trace.power_w.max() > 0
    assert np.isfinite(trace.power_w).all()


@pytest.mark.parametrize("day", ["01-01", "12-31"])
def test_the_first_and_the_last_day_of_the_year_are_whole(day: str) -> None:
    assert sunlight(day, panel=Panel.load(PANEL)).energy_j > 0


def test_half_the_light_is_about_half_the_power() -> None:
    panel = Panel.load(PANEL)
    whole, half = (sunlight("06-21", panel=panel, shading=s).energy_j for s in (1.0, 0.5))
    assert half == pytest.approx(whole / 2, rel=0.1)


@pytest.mark.parametrize("text", ["21-06", "6-21", "02-29", "00-10", "06-31", "june"])
def test_a_day_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SunsealError, match="MM-DD"):
        month_day(text)


def test_a_weather_file_that_is_not_there_says_which_one_is() -> None:
    with pytest.raises(SunsealError, match="neither in pvlib's package nor here") as caught:
        sunlight(panel=Panel.load(PANEL), weather="nowhere.csv")
    assert "723170TYA.CSV" in (caught.value.hint or "")


def test_a_part_that_is_no_panel_is_refused() -> None:
    with pytest.raises(SunsealError, match="is not a panel"):
        Panel.load("cc2500")


@pytest.mark.parametrize("part", [PANEL, "ixys-slmd121h04l"])
@pytest.mark.parametrize("shading", [1.0, 0.1, 0.004])
def test_a_year_by_pvlibs_diode_lies_within_what_is_open(part: str, shading: float) -> None:
    """Beside one diode by `fit_desoto`, which finds the ideality by itself, and `calcparams_desoto`."""
    import pvlib

    panel = Panel.load(part)
    told = facts(part)
    v_oc, i_sc, cells = told["v_oc_v"], told["i_sc_mA"] * 1e-3, told["cells_in_series"]
    a = 1.1 * cells * V_THERMAL
    ohm = v_oc / i_sc
    fit, _ = pvlib.ivtools.sdm.fit_desoto(
        told["v_mp_v"],
        told["i_mp_mA"] * 1e-3,
        v_oc,
        i_sc,
        told["alpha_sc_percent_per_k"] / 100 * i_sc,
        told["beta_oc_percent_per_k"] / 100 * v_oc,
        cells,
        init_guess={
            "IL_0": i_sc,
            "Io_0": i_sc * float(np.exp(-v_oc / a)),
            "Rs_0": 0.09 * ohm,
            "Rsh_0": 13 * ohm,
            "a_0": a,
        },
    )
    year = sunlight("01-01", panel=panel, shading=shading, days=365, step_s=3600.0)
    # One hour in eleven meets every hour of the day and every week.
    lit = np.flatnonzero(year.irradiance_w_m2 > 1e-3)[::11]
    fit = {k: v for k, v in fit.items() if k not in ("irrad_ref", "temp_ref")}
    diode = pvlib.pvsystem.calcparams_desoto(year.irradiance_w_m2[lit], year.temperature_c[lit], **fit)
    theirs = pvlib.pvsystem.max_power_point(*diode, method="brentq")["p_mp"].sum()
    ours = year.power_w[lit].sum()
    low, high = year.low_light
    # One diode whose shunt goes with the light all the way is nearly the brightest that a datasheet leaves open.
    assert ours * low < theirs < 1.02 * ours * high
    assert theirs == pytest.approx(ours, rel=0.05 if shading == 1.0 else 1.0)
    assert low + high == pytest.approx(2.0, abs=0.02) and low < 0.97
    assert f"{(low - 1) * 100:+.0f} to" in year.provenance["low_light"]


def test_a_point_at_low_light_narrows_what_is_open() -> None:
    part = "anysolar-kxob25-05x3f"
    panel, at = Panel.load(part), np.array([0.7, 3.5, 31.3])
    opened = Panel.of(part, facts(part, low_light_W_m2=None, low_light_p_mp_mW=None))
    volts, amps = panel.at_maximum(at, np.full(3, 25.0))
    assert volts[2] * amps[2] == pytest.approx(0.57e-3, rel=5e-3)
    (low, high), (open_low, open_high) = bounds(panel, at), bounds(opened, at)
    assert (high - low < (open_high - open_low) / 2).all()
    # 200 and 1,000 lux of white LEDs are about 0.7 and 3.5 W/m2 of the sun's.
    assert (low > 0.7).all() and (high < 1.3).all()


@pytest.mark.parametrize(("light", "open_v", "power_mw"), [(16.19, 1.3935, 0.2619), (40.47, 1.6055, 0.7789)])
def test_recorded_curves_that_were_not_fitted_are_met(light: float, open_v: float, power_mw: float) -> None:
    """Medians of the recording's darkest and brightest curves (anysolar-kxob25-05x3f.toml), and its open circuits."""
    panel = Panel.load("anysolar-kxob25-05x3f")
    volts, amps = panel.at_maximum(np.array([light]), np.array([25.0]))
    assert 1e3 * volts[0] * amps[0] == pytest.approx(power_mw, rel=0.04)
    assert panel.engine.v_oc([light], [25.0])[0] == pytest.approx(open_v, rel=0.03)


def test_a_panel_that_is_told_in_lux_is_not_told_in_the_sun() -> None:
    panel = Panel.load("panasonic-am-1815")
    with pytest.raises(SunsealError, match="panel panasonic-am-1815 is described by points in lux, and the sun's W/m2"):
        sunlight("06-21", panel=panel)
    with pytest.raises(SunsealError, match=r"is asked for 20\.0000 lux, and its table goes from 50 to 1000 lux"):
        panel.at_maximum(np.array([20.0]), np.array([25.0]))


@pytest.mark.parametrize("part", ["panasonic-am-1815", "panasonic-am-1417"])
def test_a_table_indoors_is_known_within_30_percent(part: str) -> None:
    low, high = bounds(Panel.load(part), np.array([200.0, 500.0, 1000.0]))
    assert (low > 0.7).all() and (high < 1.3).all()


def test_weather_with_a_gap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pvlib

    lines = (Path(pvlib.__file__).parent / "data" / DEFAULT_WEATHER).read_text().splitlines(keepends=True)
    monkeypatch.chdir(tmp_path)
    hole = [*lines[:5000], *lines[5003:]]
    Path("hole.csv").write_text("".join(hole))
    column = lines[1].split(",").index("GHI (W/m^2)")
    cells = lines[4000].split(",")
    cells[column] = "-9900"
    Path("blank.csv").write_text("".join([*lines[:4000], ",".join(cells), *lines[4001:]]))
    for name, said in (
        ("hole.csv", "has a gap: before 07-28"),
        ("blank.csv", "has a gap: ghi is -9900 in the hour to"),
    ):
        with pytest.raises(SunsealError, match=re.escape(said)):
            sunlight(panel=Panel.load(PANEL), weather=name)


def test_a_latitude_has_its_seasons() -> None:
    panel = Panel.load(PANEL)
    north = clear_sky(60.0, panel=panel, clearness=0.5, shading=0.01)
    days = (north.power_w[:-1] + north.power_w[1:]).reshape(365, 24).sum(axis=1)
    assert days[165:180].mean() > 3 * days[350:].mean() > 0
    assert np.isfinite(days).all()


def test_a_panel_that_is_tilted_away_from_the_noon_is_told_so() -> None:
    """A panel of which nobody says so looks south: on the southern half of the earth it gets less than lying flat."""
    panel = Panel.load(PANEL)
    south, flat, north = (
        clear_sky(-33.9, panel=panel, clearness=1.0, tilt_deg=tilt, azimuth_deg=azimuth)
        for tilt, azimuth in ((36.0, 180.0), (0.0, 180.0), (36.0, 0.0))
    )
    assert south.power_w.mean() < flat.power_w.mean() < north.power_w.mean()
    assert "away from the sun of noon, which stands in the north" in south.provenance["plane"]
    assert all("away" not in year.provenance["plane"] for year in (flat, north))
    assert "in the south" in plane_of(36.0, 10.0, 47.0)
    assert all("away" not in plane_of(36.0, azimuth, 47.0) for azimuth in (90.0, 180.0, 270.0))
    assert "away" not in plane_of(10.0, 180.0, -10.0)


def test_a_plan_begins_with_a_panel_that_is_tilted_away(firmware: None, tmp_path: Path, sunseal: Cli) -> None:
    asked = """
        [security]
        bits = 80
        [[task]]
        workloads = ["ecdsa-secp160r1-sign"]
        every = "10min"
        [climate]
        latitude_deg = {latitude}
        clearness = 0.5
        [allow]
        boards = ["msp430fr5994-launchpad"]
        capacitors = ["capxx-hw203"]
        panels = ["ixys-slmd600h10l"]
        harvesters = ["ti-bq25570"]
        [weights]
        joules_per_day = 1.0
    """
    for latitude, told in ((-33.9, True), (33.9, False)):
        (tmp_path / "r.toml").write_text(asked.format(latitude=latitude))
        done = sunseal("plan", tmp_path / "r.toml")
        assert done.status == 0, done.err
        assert done.out.startswith("the panel's plane: tilt 36 deg, azimuth 180 deg") is told
        assert ("stands in the north here" in done.out) is told
