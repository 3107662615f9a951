# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parts of a supply and of a message: a chip is bought whole, a part is found by its own name, a key does something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sunseal as package
from conftest import Cli, put, refused
from sunseal import _engine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.planner import asleep, radio, sensors
from sunseal.planner import plan_supplies as supplies

GLIMPSE = {"periodic": {"on_w": 1e-3, "period_s": 1e6, "on_s": 1.0}}
"""Light from which a node could start, and that is gone."""
PULSE = [{"lasts_s": 0.01, "current_a": 5e-3}, {"lasts_s": 600.0, "current_a": 1e-6}]


def played(supply: dict[str, Any], duration_s: float = 86_400.0, **more: Any) -> dict[str, Any]:
    """Play steps of current on a supply; return what became of the energy."""
    told = {"name": "own", "board": "telosb", "radio": "none", "duration_s": duration_s, "load": {"steps": PULSE}}
    return dict(package.simulate({**told, "supply": supply, **more}).record["energy"]["supply"])


# --- A chip is bought whole ------------------------------------------------------------------


def test_half_a_chip_costs_the_whole_of_it() -> None:
    """The BQ25570 draws 488 nA with its buck on and 445 nA with it off, whoever charges (SLUSBH2C, page 5)."""

    def always_a(charger: str | None, output: str | None) -> tuple[float, float]:
        lit, dark, on, off = _engine.own_currents_a(boards.library(), charger, output)
        assert lit == dark
        return lit + on, lit + off

    assert always_a("ti-bq25570", "ti-bq25570") == pytest.approx((488e-9, 445e-9))
    assert always_a("ti-bq25504", "ti-bq25570") == pytest.approx((330e-9 + 488e-9, 330e-9 + 445e-9))
    assert always_a("ti-bq25570", "ti-tps7a02") == pytest.approx((470e-9, 445e-9))
    assert always_a(None, "ti-bq25570") == pytest.approx((488e-9, 445e-9))


def test_the_closed_loop_and_the_plan_take_the_same_current() -> None:
    """A day on a charged store without light: what the electronics took, over charge and time."""
    for charger in ("ti-bq25504", "ti-bq25570"):
        lit, _, on, _ = _engine.own_currents_a(boards.library(), charger, "ti-bq25570")
        store = {"capacitor": "capxx-hw203", "charger": charger, "output": "ti-bq25570", "initial_v": 3.1}
        took_j = played({**store, "v_max_v": 4.0})["quiescent_j"]
        # The store falls from 3.1 to some 2.7 V; the charger's current goes with the voltage, as told at 2.8 V.
        low_j, high_j = (86_400.0 * (lit * v * v / 2.8 + on * v) for v in (2.6, 3.1))
        assert low_j < took_j < high_j


def test_the_shipped_example_buys_no_half_chip() -> None:
    """Its winner once had the BQ25570's buck, at no current of its own, behind a BQ25504."""
    found, _ = supplies.harvested({"capacitors": ["capxx-hw203"]})
    own_w = {(s.harvester, s.output): s.drawn_w(np.zeros(1), np.full(1, 2.0))[0] for s in found}
    assert own_w["ti-bq25504", "ti-bq25570"] > own_w["ti-bq25570", "ti-bq25570"]


def test_a_disabled_output_draws_what_its_file_says(here: Path) -> None:
    """The store stands below its restart voltage, so the output is off all the hour."""
    part = 'name = "thirsty"\nextends = "{base}"\n[converter]\nshutdown_uA = {ua}\n'
    for base in ("ti-tps7a02", "ti-bq25570"):
        took = {}
        for ua in (0.0, 2.0):
            put(here / "sunseal/parts/thirsty.toml", part.format(base=base, ua=ua))
            store = {"capacitor": "capxx-hw203", "charger": "ti-bq25504", "output": "thirsty", "initial_v": 2.5}
            took[ua] = played(store, 3600.0, harvest=GLIMPSE)["quiescent_j"]
        # As a current at the restart voltage of 2.8 V; the store stands at 2.5 V.
        assert took[2.0] - took[0.0] == pytest.approx(2e-6 / 2.8 * 2.5**2 * 3600.0, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("chip", "[chip]\nquiescent_nA = 600\n", "less than the 600 nA of chip.quiescent_nA"),
        ("chip", "[converter]\nquiescent_uA = 0.0\n", "less than the 488 nA of chip.quiescent_nA"),
        ("converter", "[converter]\nhysteresis_mV = 10\n", "has converter.hysteresis_mV, which changes nothing"),
        ("converter", "[converter]\ndropout_mV = 10\n", "has converter.dropout_mV, which changes nothing"),
    ],
)
def test_a_chip_that_cannot_be_is_a_sentence(here: Path, sunseal: Cli, kind: str, change: str, says: str) -> None:
    file = put(here / "sunseal/parts/odd.toml", f'name = "odd"\nextends = "ti-bq25570"\n{change}')
    refused(sunseal("part", "check", file), says)
    supply = 'capacitor = "capxx-hw203"\ncharger = "odd"\noutput = "odd"\n'
    text = f'name = "own"\nboard = "telosb"\nradio = "none"\nduration_s = 10\n[supply]\n{supply}'
    text += "[load]\nsteps = [{ lasts_s = 1.0, current_a = 1e-4 }]\n"
    refused(sunseal("simulate", put(here / "own.toml", text)), says)


# --- A part is found by its own name ---------------------------------------------------------


def told_of_boards(names: list[str]) -> dict[str, Any]:
    """Tell what each board draws asleep and pays for a message."""
    found: dict[str, Any] = {}
    for board in names:
        vcc_v = float(boards.board(board)["power"]["vcc_v"])
        told: list[Any] = [asleep.of_board(board, vcc_v).to_dict()]
        if board in radio.of_boards():
            told.append(radio.prices(radio.of_board(board), None, vcc_v).exchange(200).to_dict())
        found[board] = told
    return found


def test_a_part_of_one_s_own_changes_no_board_that_does_not_name_it(here: Path, sunseal: Cli) -> None:
    """Radios were once found by the name inside the message's table, and the last file read won."""
    stock = boards.names("boards")
    before = told_of_boards(stock)
    assert sunseal("part", "new", "radio", "sx1276").status == 0
    file = here / "sunseal/parts/sx1276.toml"
    file.write_text(file.read_text().replace("rate_bit_s = 250000.0", "rate_bit_s = 5470.0"))
    for copied in ("cc1000", "cc2500", "cc2520"):
        change = f'name = "a-{copied}"\nextends = "{copied}"\n[radio]\nvcc_min_v = 2.0\n'
        put(here / f"sunseal/parts/a-{copied}.toml", change)
    assert told_of_boards(stock) == before
    # The board that names it pays its price.
    put(
        here / "sunseal/boards/mine.toml",
        'name = "mine"\nextends = "telosb"\n[radio]\npart = "sx1276"\nserial = "usart0"\ncsn = "P4.2"\n',
    )
    slow, fast = (radio.prices(radio.of_board(b)).exchange(200) for b in ("mine", "telosb"))
    assert slow.radio == "sx1276" and slow.time_s > 30 * fast.time_s


def test_a_dictionary_sees_the_parts_beside_it_as_a_file_does(here: Path, sunseal: Cli) -> None:
    put(here / "parts/mine.toml", 'name = "mine"\nextends = "capxx-hw203"\n[capacitor]\nleakage_uA = 50.0\n')
    supply = {"capacitor": "mine", "charger": "ti-bq25504", "output": "ti-tps7a02", "initial_v": 2.9}
    of_dictionary = played(supply)["leak_j"]
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in supply.items())
    steps = ", ".join(f"{{ lasts_s = {s['lasts_s']}, current_a = {s['current_a']} }}" for s in PULSE)
    text = f'name = "own"\nboard = "telosb"\nradio = "none"\nduration_s = 86400\n[supply]\n{lines}\n'
    file = put(here / "own.toml", text + f"[load]\nsteps = [{steps}]\n")
    assert package.simulate(file).record["energy"]["supply"]["leak_j"] == of_dictionary
    assert of_dictionary > 5 * played({**supply, "capacitor": "capxx-hw203"})["leak_j"]


# --- Other sources, other loads --------------------------------------------------------------


def test_a_source_gives_a_quarter_of_its_square_over_its_resistance() -> None:
    """At half of the open circuit; the charger takes it there, and what it does not take is booked."""
    store = {"capacitor": "eaton-pb-0f47", "charger": "ltc3108", "output": "ti-tps7a02", "initial_v": 3.2}
    sums = played(store, 3600.0, harvest={"source": {"v_oc_v": [0.1], "r_ohm": [3.0]}})
    assert sums["panel_j"] == pytest.approx(0.1**2 / 4 / 3.0 * 3600.0, rel=1e-6)
    assert abs(sums["mppt_j"]) < 1e-6 * sums["panel_j"] and sums["charger_j"] > 0.5 * sums["panel_j"]
    # Half the time at half the voltage.
    less = {"source": {"time_s": [0.0, 1800.0], "v_oc_v": [0.1, 0.05], "r_ohm": [3.0, 3.0]}}
    assert played(store, 3600.0, harvest=less)["panel_j"] == pytest.approx(0.625 * sums["panel_j"], rel=1e-6)


def test_a_sensor_is_what_its_file_says() -> None:
    read = sensors.of_parts(["tmp117", "sht31"], 3.0)
    assert read.idle_w == pytest.approx(0.35e-6 * 3.0)
    assert read.reading_j == pytest.approx((134.85e-6 * 15.5e-3 + 599.8e-6 * 12.5e-3) * 3.0)
    for part, vcc_v, says in (("ds18b20", 2.2, "works at 3 to 5.5 V"), ("cr2032", 3.0, "cannot be priced as a sensor")):
        with pytest.raises(SunsealError, match=says):
            sensors.of_parts([part], vcc_v)


def test_a_board_carries_another_radio_where_it_has_pins() -> None:
    own, other = (radio.of_board("telosb", name) for name in (None, "sx1276-sf9"))
    assert (own.name, other.name) == ("cc2420", "sx1276-sf9")
    drawn = [asleep.of_board("telosb", 3.0, "datasheet", name).radio_w[0] for name in (None, "sx1276-sf9")]
    assert drawn == pytest.approx([0.02e-6 * 3.0, 0.2e-6 * 3.0])
    # Whole symbols: one byte more is nothing, or a block of five symbols of 4.096 ms.
    steps = {round((other.airtime_s(n + 1) - other.airtime_s(n)) / 4.096e-3, 6) for n in range(5, 61)}
    assert steps == {0.0, 5.0}
    line = radio.prices(other, 13)
    for body in (1, 20, 55, 56, 57, 300):
        packets = -(-body // 56)
        straight_s = body * line.byte_s + packets * line.packet_s + line.message_s * -(-packets // 16)
        assert 0.0 <= straight_s - line.exchange(body).time_s < packets * 11 * 4.096e-3
    for board, name, says in (
        ("msp430fr5969-launchpad", "cc1101-868-1k2", "has no pins for a radio"),
        ("telosb", "cc1000-868", "has no pin for pale"),
        ("telosb", "sx1276", "name one of sx1276-sf7"),
        ("telosb", "sx9999", "unknown radio"),
    ):
        with pytest.raises((SunsealError, _engine.EngineError), match=says):
            radio.of_board(board, name)
