# SPDX-License-Identifier: MIT OR Apache-2.0
from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli
from sunseal.errors import SunsealError
from sunseal.harvest.light import (
    DEFAULT_WEATHER,
    V_THERMAL,
    Panel,
    at_maximum_power,
    bounds,
    clear_sky,
    diode_at,
    month_day,
    plane_of,
    sunlight,
)

PANEL = "ixys-slmd600h10l"


def test_the_fitted_panel_gives_the_datasheet_power_at_test_conditions() -> None:
    import pvlib

    from sunseal.harvest.light import _single_diode

    panel = Panel.load(PANEL)
    i_l, i_0, r_s, r_sh, a = _single_diode(panel)
    point = pvlib.pvsystem.max_power_point(i_l, i_0, r_s, r_sh, a, method="brentq")
    assert point["p_mp"] == pytest.approx(panel.v_mp_v * panel.i_mp_a, rel=1e-6)
    assert point["v_mp"] == pytest.approx(panel.v_mp_v, rel=0.05)
    assert pvlib.singlediode.bishop88_i_from_v(0.0, i_l, i_0, r_s, r_sh, a) == pytest.approx(panel.i_sc_a, rel=1e-3)
    assert pvlib.singlediode.bishop88_v_from_i(0.0, i_l, i_0, r_s, r_sh, a) == pytest.approx(panel.v_oc_v, rel=1e-3)


def test_all_diodes_at_once_are_at_the_maximum_that_each_has_alone() -> None:
    import pvlib

    random = np.random.default_rng(15)
    light, cell_c = 10 ** random.uniform(-4, 3.1, 200), random.uniform(-20, 70, 200)
    diodes = diode_at(Panel.load(PANEL), light, cell_c)
    voltage, current = at_maximum_power(*diodes)
    point = pvlib.pvsystem.max_power_point(*diodes, method="brentq")
    assert voltage * current == pytest.approx(np.asarray(point["p_mp"]), rel=1e-12)
    assert voltage == pytest.approx(np.asarray(point["v_mp"]), rel=1e-9)


@pytest.mark.parametrize("part", [PANEL, "ixys-slmd121h04l"])
def test_a_warm_panel_loses_what_its_datasheet_says(part: str) -> None:
    """Open-circuit voltage and current by their coefficients; power by those and the ideal fill factor of Green 1982.

    FF0 = (v - ln(v + 0.72)) / (v + 1) with v = Voc / (n Ns k T / q); resistances may add 0.03 % a kelvin. No
    coefficient of power of these sheets could be read.
    """
    import pvlib

    panel = Panel.load(part)
    cell_c = np.array([-10.0, 25.0, 60.0])
    i_l, i_0, r_s, r_sh, a = diode_at(panel, np.full(3, 1000.0), cell_c)
    assert 1.0 <= a[1] / (panel.cells_in_series * V_THERMAL) * (1 + 1e-12) <= 1.3001
    volts = pvlib.singlediode.bishop88_v_from_i(np.zeros(3), i_l, i_0, r_s, r_sh, a)
    stated_v = panel.v_oc_v * (1 + panel.beta_oc_per_k * (cell_c - 25.0))
    assert volts == pytest.approx(stated_v, rel=2e-3)
    power = pvlib.pvsystem.max_power_point(i_l, i_0, r_s, r_sh, a, method="brentq")["p_mp"]
    v = stated_v / a
    ideal = stated_v * (1 + panel.alpha_sc_per_k * (cell_c - 25.0)) * (v - np.log(v + 0.72)) / (v + 1)
    per_k, ideal_per_k = ((p[[0, 2]] / p[1] - 1) / (cell_c[[0, 2]] - 25.0) for p in (power, ideal))
    assert per_k == pytest.approx(ideal_per_k, abs=3e-4)
    assert (per_k < 0).all()


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
def test_a_year_is_pvlibs_own_in_any_light(part: str, shading: float) -> None:
    """Beside `fit_desoto`, which finds the ideality by itself, and `calcparams_desoto`."""
    import pvlib

    panel = Panel.load(part)
    a = 1.1 * panel.cells_in_series * V_THERMAL
    ohm = panel.v_oc_v / panel.i_sc_a
    fit, _ = pvlib.ivtools.sdm.fit_desoto(
        panel.v_mp_v,
        panel.i_mp_a,
        panel.v_oc_v,
        panel.i_sc_a,
        panel.alpha_sc_per_k * panel.i_sc_a,
        panel.beta_oc_per_k * panel.v_oc_v,
        panel.cells_in_series,
        init_guess={
            "IL_0": panel.i_sc_a,
            "Io_0": panel.i_sc_a * float(np.exp(-panel.v_oc_v / a)),
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
    assert year.power_w[lit].sum() == pytest.approx(theirs, rel=0.03)
    low, high = year.low_light
    assert low < 0.97 and 1.0 <= high < 1.1
    assert f"{(low - 1) * 100:+.0f} to" in year.provenance["low_light"]


def test_a_point_at_low_light_settles_the_ideality() -> None:
    import pvlib

    from sunseal.harvest.light import _single_diode

    panel = Panel.load(PANEL)
    stated = 0.094 * panel.v_mp_v * panel.i_mp_a
    settled = replace(panel, low_light=(100.0, stated))
    point = pvlib.pvsystem.max_power_point(*diode_at(settled, np.array([100.0]), np.array([25.0])), method="brentq")
    assert point["p_mp"][0] == pytest.approx(stated, rel=1e-4)
    assert _single_diode(settled)[4] > _single_diode(panel)[4]
    # The shunt stays open below that point: 5 W/m2 may still be worth half, and the point itself nothing else.
    at = np.array([5.0, 100.0])
    (open_low, _), (low, high) = bounds(panel, at), bounds(settled, at)
    assert low[1] == pytest.approx(1.0, abs=2e-3) and high[1] == pytest.approx(1.0, abs=2e-3)
    assert open_low[0] < low[0] < 0.9


KXOB25 = replace(
    Panel.load(PANEL), part="kxob25-05x3f", v_oc_v=2.07, i_sc_a=19.5e-3, v_mp_v=1.67, i_mp_a=18.4e-3, cells_in_series=3
)
"""Three cells whose curve is square: no ideality above 1.19 passes through its points."""


@pytest.mark.parametrize("panel", [Panel.load(PANEL), Panel.load("ixys-slmd121h04l"), KXOB25], ids=lambda p: p.part)
def test_what_others_measured_at_low_light_lies_within_the_bounds(panel: Panel) -> None:
    low, high = bounds(panel, np.array([36.0, 50.0, 68.0, 1000.0]))
    assert (low[:3] <= 0.5).all() and low[3] > 0.98 and (high >= 1.0).all()
    # The darkest reading never gives more power in less light.
    light = np.geomspace(0.02, 1000.0, 200)
    assert (np.diff(bounds(panel, light)[0] * light) >= 0).all()


def test_a_shunt_that_is_a_plain_resistance_is_within_the_bounds() -> None:
    import pvlib

    from sunseal.harvest.light import _single_diode

    panel = Panel.load(PANEL)
    at, warm = np.array([20.0, 100.0, 300.0]), np.full(3, 25.0)
    i_l, i_0, r_s, r_sh, a = diode_at(panel, at, warm)
    told = pvlib.pvsystem.max_power_point(i_l, i_0, r_s, r_sh, a, method="brentq")["p_mp"]
    ohmic = pvlib.pvsystem.max_power_point(i_l, i_0, r_s, _single_diode(panel)[3], a, method="brentq")["p_mp"]
    assert (bounds(panel, at)[0] <= ohmic / told * 1.01).all()


def test_a_square_curve_is_a_panel_like_any_other() -> None:
    year = sunlight("06-21", panel=KXOB25)
    low, high = year.low_light
    assert 0.5 < low < 1.0 <= high < 1.1 and "measured cells" in year.provenance["low_light"]


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
    """Where nobody says so it looks south: on the southern half of the earth it gets less than lying flat."""
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
