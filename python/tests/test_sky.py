# SPDX-License-Identifier: MIT OR Apache-2.0
"""Days that a wheel brings: light in a plane as pvlib has it, and the same answers where pvlib is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pvlib
import pytest

from conftest import Cli
from sunseal.catalog import boards
from sunseal.harvest import light

DEFAULT = light.DEFAULT_WEATHER


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation without pvlib, whose wheel brings the days of `light.CARRIED`."""
    for asked in light.CARRIED:
        path = light.carried_path(DEFAULT, *asked)
        light.computed_sky(DEFAULT, *asked).save(tmp_path / "home" / "cache" / "sky" / path.name)
    find = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> object:
        return None if name.partition(".")[0] == "pvlib" else find(name, package)

    def computed(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'pvlib'", name="pvlib")

    monkeypatch.setattr(importlib.util, "find_spec", without)
    monkeypatch.setattr(light, "computed_sky", computed)
    monkeypatch.setattr(boards, "CARRIED", tmp_path / "home")
    monkeypatch.setattr(boards, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path


@pytest.mark.parametrize("tilt_deg", [0.0, 36.0, 90.0])
@pytest.mark.parametrize("azimuth_deg", [180.0, 77.0, 0.0])
def test_light_in_a_plane_is_pvlibs_to_the_last_bit(tilt_deg: float, azimuth_deg: float) -> None:
    sky = light.computed_sky(DEFAULT, "12-21", 1, 60.0)
    place, sun = (sky.zenith_deg, sky.azimuth_deg), (sky.dni, sky.ghi, sky.dhi)
    theirs = pvlib.irradiance.get_total_irradiance(tilt_deg, azimuth_deg, *place, *sun, albedo=0.2)["poa_global"]
    assert np.array_equal(sky.plane_w_m2(tilt_deg, azimuth_deg), np.asarray(theirs))
    cell_c = pvlib.temperature.faiman(np.asarray(theirs), sky.air_c, sky.wind_m_s)
    panel = light.Panel.load("ixys-slmd600h10l")
    ours = light.sunlight("12-21", panel=panel, tilt_deg=tilt_deg, azimuth_deg=azimuth_deg)
    assert np.array_equal(ours.temperature_c, cell_c)


def test_a_sky_is_read_as_it_was_written(tmp_path: Path) -> None:
    sky = light.computed_sky(DEFAULT, "06-21", 2, 600.0)
    sky.save(tmp_path / "a.npz")
    again = light.Sky.load(tmp_path / "a.npz")
    assert all(np.array_equal(getattr(sky, name), getattr(again, name)) for name in light.SERIES)
    assert (again.latitude_deg, again.told) == (sky.latitude_deg, sky.told)


def test_without_pvlib_the_answer_is_the_same(base: Path, sunseal: Cli, firmware: None) -> None:
    asked = ("size", "ecdsa-p256-sign", "--every", "10min", "--shading", "0.01", "--json")
    told = sunseal(*asked)
    assert told.status in (0, 1), told.err
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boards, "CARRIED", base / "nothing")
        refused = sunseal(*asked)
        assert refused.status == 2 and "sunseal[climate]" in refused.err
    panel = light.Panel.load("ixys-slmd600h10l")
    carried = light.sunlight("12-21", panel=panel, tilt_deg=20.0)
    assert carried.provenance["weather_sha256"] == light.weather_id(DEFAULT)
    assert carried.energy_j > 0


def test_days_that_no_wheel_brings_name_the_extra(base: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        light.sunlight("03-21", panel=light.Panel.load("ixys-slmd600h10l"))


def test_another_source_does_not_find_what_this_one_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = light.carried_path(DEFAULT, *light.CARRIED[0]).name
    source = tmp_path / "light.py"
    source.write_bytes(Path(light.__file__).read_bytes() + b"\n")
    monkeypatch.setattr(light, "__file__", str(source))
    assert light.carried_path(DEFAULT, *light.CARRIED[0]).name != before


def test_a_sky_is_computed_once_and_again_for_other_weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(boards, "CARRIED", tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    own, computed = tmp_path / "own.csv", list[tuple[object, ...]]()
    text = light.weather_path(DEFAULT).read_bytes()
    own.write_bytes(text)
    compute = light.computed_sky

    def counted(*asked: Any) -> light.Sky:
        computed.append(asked)
        return compute(*asked)

    monkeypatch.setattr(light, "computed_sky", counted)
    first, again = (light.sky("own.csv", "06-21", 1, 600.0) for _ in range(2))
    assert len(computed) == 1
    assert all(np.array_equal(getattr(first, name), getattr(again, name)) for name in light.SERIES)
    assert (again.latitude_deg, again.told) == (first.latitude_deg, first.told)
    (kept,) = (tmp_path / "cache" / "sky").iterdir()
    kept.write_bytes(kept.read_bytes()[:1000])  # cut off in the middle
    light.sky("own.csv", "06-21", 1, 600.0)
    light.sky("own.csv", "06-21", 1, 300.0)
    own.write_bytes(text.replace(b"GREENSBORO", b"GREENSBORA"))
    light.sky("own.csv", "06-21", 1, 600.0)
    assert len(computed) == 4
