# SPDX-License-Identifier: MIT OR Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from sunseal.errors import SunsealError
from sunseal.harvest import Panel, diode_at, month_day, sunlight

PANEL = "ixys-slmd600h10l"


def test_the_fitted_panel_gives_the_datasheet_power_at_test_conditions() -> None:
    import pvlib

    from sunseal.harvest import _single_diode

    panel = Panel.load(PANEL)
    i_l, i_0, r_s, r_sh, a = _single_diode(panel)
    point = pvlib.pvsystem.max_power_point(i_l, i_0, r_s, r_sh, a, method="brentq")
    assert point["p_mp"] == pytest.approx(panel.v_mp_v * panel.i_mp_a, rel=1e-6)
    assert point["v_mp"] == pytest.approx(panel.v_mp_v, rel=0.05)
    assert pvlib.singlediode.bishop88_i_from_v(0.0, i_l, i_0, r_s, r_sh, a) == pytest.approx(panel.i_sc_a, rel=1e-3)
    assert pvlib.singlediode.bishop88_v_from_i(0.0, i_l, i_0, r_s, r_sh, a) == pytest.approx(panel.v_oc_v, rel=1e-3)


@pytest.mark.parametrize("part", [PANEL, "ixys-slmd121h04l"])
def test_a_warm_panel_loses_what_its_datasheet_says(part: str) -> None:
    """Open-circuit voltage by its coefficient; power by 0.4 to 0.5 % a kelvin, as crystalline silicon does."""
    import pvlib

    panel = Panel.load(part)
    cell_c = np.array([-10.0, 25.0, 60.0])
    i_l, i_0, r_s, r_sh, a = diode_at(panel, np.full(3, 1000.0), cell_c)
    volts = pvlib.singlediode.bishop88_v_from_i(np.zeros(3), i_l, i_0, r_s, r_sh, a)
    assert volts / panel.v_oc_v - 1 == pytest.approx(panel.beta_oc_per_k * (cell_c - 25.0), abs=2e-3)
    power = pvlib.pvsystem.max_power_point(i_l, i_0, r_s, r_sh, a, method="brentq")["p_mp"]
    per_k = (power[[0, 2]] / power[1] - 1) / (cell_c[[0, 2]] - 25.0)
    assert ((per_k > -0.005) & (per_k < -0.004)).all()


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
