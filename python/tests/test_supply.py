# SPDX-License-Identifier: MIT OR Apache-2.0
"""`size` and `lifetime`: the papers' equations on the papers' figures, limits that must hold, what is refused."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sunseal
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.planner import lifetime, radio, size

# Mane 2014, section 5.2 and table 4.3: 1.9 mJ and 0.137 mJ.
MANE = size.Demand(1.9e-3, 1 / 6, 0.137e-3, 2e-3, 1e-5, 600.0)


def test_equation_6_1_of_the_thesis() -> None:
    # V = sqrt((2 (Ec + Erf) + 125) / (500 C)), energies in mJ.
    for farad in (0.1, 0.47, 1.0):
        assert size.capacitor_v(MANE, farad) == pytest.approx(math.sqrt((2 * (1.9 + 0.137) + 125) / (500 * farad)))
        assert size.capacitance_f(MANE, size.capacitor_v(MANE, farad)) == pytest.approx(farad)


@given(
    compute_j=st.floats(1e-6, 1.0),
    period_s=st.floats(10.0, 1e5),
    sleep_w=st.floats(1e-6, 1e-3),
    cutoff_v=st.floats(0.0, 2.0),
)
def test_the_three_equations_agree_with_each_other(
    compute_j: float, period_s: float, sleep_w: float, cutoff_v: float
) -> None:
    demand = size.Demand(compute_j, 0.1, 1e-4, 1e-3, sleep_w, period_s)
    power_w = size.panel_w(demand)
    assert size.shortest_period_s(demand, power_w) == pytest.approx(max(period_s, 0.101), rel=1e-6)
    assert size.autonomy_s(demand, power_w * 3600) == pytest.approx(3600)
    volts = size.capacitor_v(demand, 0.5, cutoff_v)
    assert 0.25 * (volts**2 - cutoff_v**2) == pytest.approx(demand.needed_j)
    assert size.decide(demand, 0.5, volts * 1.001, "periodic", False, cutoff_v) == "sign and send"
    assert size.decide(demand, 0.5, volts * 0.999, "periodic", False, cutoff_v) == "sleep"
    assert size.decide(demand, 0.5, volts * 1.001, "asynchronous", False, cutoff_v) == "sleep"
    assert size.decide(demand, 0.5, volts * 1.001, "asynchronous", True, cutoff_v) == "answer a challenge"


def test_a_year_of_more_store_and_more_light_survives_no_fewer_days() -> None:
    day = [0.0, 6 * 3600.0, 12 * 3600.0, 18 * 3600.0, 86400.0], [0.0, 0.0, 6e-4, 0.0, 0.0]
    board = boards.DEFAULT_BOARD
    shares = [
        size.year_of(dataclasses.replace(MANE, period_s=120.0), board, farad, day, light, days=60)["survived_share"]
        for farad, light in ((0.3, 1.0), (1.0, 1.0), (1.0, 2.0))
    ]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0 > shares[0]


def test_the_bands_of_piotrowski_2006() -> None:
    pack = lifetime.battery("two-aa-piotrowski2006")
    assert pack.energy_j(0.0, 3.2) == pytest.approx(21_600, rel=1e-9)
    for high, low, joules in ((3.2, 2.8, 6750), (2.8, 2.4, 5850), (2.4, 2.0, 4950), (2.0, 1.6, 4050)):
        assert pack.energy_j(low, high) == pytest.approx(joules, rel=1e-9)
    # 4400 Ws of the coin cell above 2.8 V, read off a flat curve.
    assert lifetime.battery("panasonic-cr2354").energy_j(2.8, 3.0) == pytest.approx(4400, rel=0.06)


def use(**changes: float) -> lifetime.Use:
    # Table 7: a signature on the TelosB, every ten minutes.
    fields: dict[str, Any] = {
        "energy_j": 6.26e-3,
        "time_s": 0.52,
        "radio_j": 0.0,
        "radio_s": 0.0,
        "sleep_w": 0.0,
        "period_s": 600.0,
    }
    return lifetime.Use("sign", "telosb", 3.0, **{**fields, **changes})


def lasts(of: lifetime.Use, battery: str, cutoff_v: float, converter: str | None = None) -> lifetime.Lifetime:
    return lifetime.of(lifetime.Question(of, battery, cutoff_v, converter))


def test_table_12_and_table_14_of_piotrowski_2006() -> None:
    assert lasts(use(), "two-aa-piotrowski2006", 2.8).duty_percent == pytest.approx(0.0866, abs=1e-4)
    # The paper has no self-discharge; what 0.3 ohm take of 4 mA is below a thousandth.
    pack, one = lifetime.battery("two-aa-piotrowski2006", self_discharge=0.0), use()
    found = lifetime.lives(pack, vcc_v=[3.0], asleep_w=[0.0], awake_w=[one.awake_w], busy=[one.duty],
                           peak_w=[one.peak_w], needs_v=[2.8])  # fmt: skip
    assert found.lasts_s[0] / 600.0 == pytest.approx(1_078_275, rel=5e-3)
    # The table divides 156.25 h by the rounded duty cycle; energies give 0.3 % less.
    assert found.lasts_s[0] / 3600.0 == pytest.approx(180_288.46, rel=7e-3)


@given(
    sleep_w=st.floats(1e-6, 1e-3),
    period_s=st.floats(1.0, 1e5),
    energy_j=st.floats(1e-5, 1e-1),
    cutoff_v=st.floats(1.7, 3.1),
)
def test_less_is_never_longer(sleep_w: float, period_s: float, energy_j: float, cutoff_v: float) -> None:
    def of(cutoff_v: float = cutoff_v, **changes: float) -> lifetime.Lifetime:
        base = {"sleep_w": sleep_w, "period_s": period_s, "energy_j": energy_j}
        return lasts(use(**{**base, **changes}), "two-aa-energizer-e91", cutoff_v)

    base = of()
    lost_j = base.self_discharged_j + base.resistance_lost_j + base.converter_lost_j
    assert base.available_j == pytest.approx(base.delivered_j + lost_j, rel=1e-3)
    for worse in (of(sleep_w=sleep_w + 1e-5), of(energy_j=energy_j * 1.5), of(cutoff_v + 0.05)):
        assert worse.lifetime_s <= base.lifetime_s * (1 + 1e-9)


def test_a_switched_converter_takes_what_the_cut_off_leaves() -> None:
    alone = lasts(use(), "two-aa-piotrowski2006", 2.8)
    helped = lasts(use(), "two-aa-piotrowski2006", 2.8, "ti-tps61000")
    assert 1.05 * alone.lifetime_s < helped.lifetime_s < 21_600 / 6750 * alone.lifetime_s
    assert helped.converter_lost_j > 0


def test_table_11_of_piotrowski_2006_by_the_datasheets() -> None:
    # Its per-bit figures are of front pages; the tables of output power are within ten per cent of them.
    assert radio.message("cc2420", 320, 0).send_j == pytest.approx(66.88e-6, rel=0.01)
    assert radio.message("cc1000-433", 320, 0).send_j == pytest.approx(259.84e-6, rel=0.01)
    assert radio.message("cc1000-868", 320, 5).send_j == pytest.approx(634.88e-6, rel=0.01)
    assert radio.message("cc1000-433", 320).receive_j == pytest.approx(184.96e-6, rel=0.01)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(SunsealError, match="it never runs"):
        lasts(use(), "two-aa-piotrowski2006", 3.3)
    with pytest.raises(SunsealError, match="the node cannot do it"):
        lasts(use(period_s=0.1), "two-aa-piotrowski2006", 2.8)
    with pytest.raises(SunsealError, match="unknown converter of a battery `ti-bq25570`"):
        lasts(use(), "two-aa-piotrowski2006", 2.8, "ti-bq25570")
    with pytest.raises(SunsealError, match="has no battery"):
        lifetime.battery_of("msp430f5438a-anagear")
    with pytest.raises(SunsealError, match="unknown battery"):
        lifetime.battery("cr9999")
    with pytest.raises(SunsealError, match="nothing lies between"):
        size.capacitance_f(MANE, 1.8, 1.9)
    with pytest.raises(SunsealError, match="no duty cycle"):
        size.shortest_period_s(MANE, 1e-6)
    with pytest.raises(SunsealError, match="no output power of 20 dBm"):
        radio.message("cc2420", 100, 20)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"every_s": math.nan}, "every_s is nan; it must be a finite number"),
        ({"every_s": -5.0}, "every_s is -5; it must be 0 or more"),
        ({"sleep_w": math.nan}, "sleep_w is nan"),
        ({"cutoff_v": math.inf}, "cutoff_v is inf"),
        ({"bits": -3}, "bits is -3; it must be 0 or more"),
    ],
)
def test_a_function_refuses_the_numbers_that_its_command_does(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(SunsealError, match=says):
        sunseal.lifetime("ecdsa-p256-sign", board="telosb", **asked)


def test_a_node_is_not_sized_for_what_it_cannot_do(firmware: None) -> None:
    for every_s in (0.0, 1e-3, 0.29):
        with pytest.raises(SunsealError, match=r"takes 0.292 s on .* the node cannot do it"):
            sunseal.size("ecdsa-p256-sign", every_s=every_s, year=False)
    assert sunseal.size("ecdsa-p256-sign", every_s=0.3, year=False).panel_w > 0


def test_a_panel_must_give_more_where_less_arrives() -> None:
    """Equation 6.2: what is lost on the way, and the hours without sun, make the panel larger."""
    whole = size.panel_w(MANE)
    assert size.panel_w(MANE, efficiency=0.5) == pytest.approx(2.0 * whole)
    assert size.panel_w(MANE, sun_hours=6.0) == pytest.approx(4.0 * whole)
    assert size.panel_w(MANE, 0.8, 12.0) * 0.8 * 12.0 / 24.0 == pytest.approx(MANE.mean_w)
