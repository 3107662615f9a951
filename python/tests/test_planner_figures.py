# SPDX-License-Identifier: MIT OR Apache-2.0
"""The planner's figures, each computed a second time from the data by hand: what changes one of them is seen here."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.harvest import light
from sunseal.loop import fleet
from sunseal.measurement import oracle
from sunseal.planner import asleep, lifetime, radio, size, sweep, uncertainty
from sunseal.planner import plan_supplies as supplies
from sunseal.planner.plan_requirements import Requirements

YEAR_S = 365.25 * 86_400.0
DEMAND = size.Demand(2e-3, 0.2, 1e-3, 0.05, 1e-5, 100.0, 2.0, 0.125)


def told(part: str, kind: str) -> Any:
    """Read a table of a part as it stands in its file."""
    return tomllib.loads((boards.home() / "data" / "parts" / f"{part}.toml").read_text("utf-8"))[kind]


def near(expected: Any, rel: float = 1e-9) -> Any:
    return pytest.approx(expected, rel=rel, abs=1e-300)


# --- size ------------------------------------------------------------------------------------


def test_a_demand_and_its_equations() -> None:
    assert size.OVERHEAD_J == 0.125 and size.MARGIN == 2.0
    assert size.Demand(1.0, 1.0, 1.0, 1.0, 1.0, 1.0).needed_j == near(4.125)
    assert DEMAND.needed_j == near(0.131)
    assert DEMAND.mean_w == near(1e-5 + 3e-5)
    assert size.capacitor_v(DEMAND, 0.5) == near(math.sqrt(0.524))
    assert size.capacitor_v(DEMAND, 0.5, 1.5) == near(math.sqrt(0.524 + 2.25))
    assert size.capacitance_f(DEMAND, 3.0, 1.0) == near(0.262 / 8.0)
    assert size.capacitance_f(DEMAND, 2.0) == near(0.262 / 4.0)
    assert size.autonomy_s(DEMAND, 8.0) == near(2e5)
    assert size.shortest_period_s(DEMAND, 4e-5) == near(100.0)
    assert size.shortest_period_s(DEMAND, 1.0) == near(0.25)
    assert size.panel_w(DEMAND) == near(4e-5)
    for refused in (
        lambda: size.capacitor_v(DEMAND, 0.0),
        lambda: size.capacitance_f(DEMAND, 2.0, 2.0),
        lambda: size.shortest_period_s(DEMAND, 1e-5),
        lambda: size.decide(DEMAND, 0.5, 3.0, "sometimes", True),
        lambda: size.supply_of("telosb"),
    ):
        with pytest.raises(SunsealError):
            refused()
    exactly_v = size.capacitor_v(DEMAND, 0.5)
    assert size.decide(DEMAND, 0.5, exactly_v, "periodic", False) == "sign and send"


def test_a_mean_is_weighed_by_time() -> None:
    assert size.mean_w(([100.0, 110.0, 140.0], [1.0, 3.0, 5.0])) == near((20.0 + 120.0) / 40.0)


def test_the_answer_puts_the_equations_together(monkeypatch: pytest.MonkeyPatch) -> None:
    trace: fleet.Trace = ([0.0, 86_400.0], [1e-4, 1e-4])
    asked: dict[str, Any] = {"store_f": 0.5, "v_max_v": 5.0, "cutoff_v": 1.9}
    got = size.size(DEMAND, boards.DEFAULT_BOARD, **asked, efficiency=0.8)
    assert got.year is None and got.shortest_period_s is None
    assert got.capacitor_v == size.capacitor_v(DEMAND, 0.5)
    assert got.capacitor_above_cutoff_v == size.capacitor_v(DEMAND, 0.5, 1.9)
    assert got.capacitance_f == size.capacitance_f(DEMAND, 5.0, 1.9)
    assert got.panel_w == near(5e-5)
    assert got.autonomy_s == near(0.25 * (25.0 - 3.61) / 4e-5)
    shown = got.to_dict()
    assert {k: shown[k] for k in ("mean_w", "sleep_w", "compute_j", "radio_j", "asleep", "exchange")} == {
        "mean_w": DEMAND.mean_w, "sleep_w": 1e-5, "compute_j": 2e-3, "radio_j": 1e-3, "asleep": None, "exchange": None,
    }  # fmt: skip
    assert "question" not in shown and "measured" not in shown and "citations" not in shown
    played: Any = size.year_of
    monkeypatch.setattr(
        size, "year_of", lambda *given, lender, temperature_c: played(*given, 1.0, 2, lender, temperature_c)
    )
    lit = size.size(DEMAND, boards.DEFAULT_BOARD, **asked, trace=trace, efficiency=0.8)
    assert lit.shortest_period_s == near(3e-3 / (8e-5 - 1e-5))
    assert lit.year is not None and lit.year == played(DEMAND, boards.DEFAULT_BOARD, 0.5, trace, days=2)
    asleep_is_too_much = dataclasses.replace(DEMAND, sleep_w=1e-3)
    dark = size.size(asleep_is_too_much, boards.DEFAULT_BOARD, **asked, trace=trace, efficiency=0.8)
    assert dark.shortest_period_s is None


def test_a_year_keeps_its_books() -> None:
    trace: fleet.Trace = ([0.0, 86_400.0], [1e-3, 1e-3])
    busy = dataclasses.replace(DEMAND, period_s=50.0)
    got = size.year_of(busy, boards.DEFAULT_BOARD, 0.5, trace, light=0.5, days=4)
    assert got["days"] == 4 and got["survived_share"] == got["days_survived"] / 4
    assert got["panel_j"] == near(0.5e-3 * 4 * 86_400.0, 1e-3)
    assert 0.0 < got["done_share"] <= 1.0 and got["brown_outs"] == 0
    # While it is on, the node sleeps, and works every 50 s.
    on_s = 4 * 86_400.0 - got["off_s"]
    assert got["work_j"] == near(on_s * (1e-5 + 3e-3 / 50.0), 0.03)
    assert got["done_share"] == near(on_s / (4 * 86_400.0), 0.01)
    assert abs(got["energy_balance_rel"]) < 1e-6
    assert got["lost_j"] > 0.0 and got["stored_j"] > 0.0
    # A store that began at the restart voltage holds what came to it.
    assert got["stored_j"] == near(0.25 * (got["v_end_v"] ** 2 - 2.6**2), 0.1)


def test_a_year_is_played_from_the_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    def noted(profile: fleet.NodeProfile, *_: Any, **how: Any) -> Any:
        told.append((profile, how))
        raise LookupError

    monkeypatch.setattr(fleet, "play_one", noted)
    # A node that has nothing to do for long looks once a minute.
    for period_s, poll_s in ((50.0, 50.0), (60.5, 60.0), (1e5, 60.0)):
        demand = dataclasses.replace(DEMAND, period_s=period_s)
        with pytest.raises(LookupError):
            size.year_of(demand, "telosb", 0.5, ([0.0, 1.0], [1.0, 1.0]))
        task = fleet.Task("sign", period_s, near(3e-3), near(0.25), near(6e-3))
        assert told[-1] == (
            fleet.NodeProfile(1e-5, 0.0, 0.0, poll_s, (task,)),
            {"board": "telosb", "supply": None, "light": 1.0, "capacitance_f": 0.5},
        )


@pytest.mark.parametrize("module", [size, lifetime, asleep, radio, supplies])
def test_figures_do_not_change_once_they_are_told(module: Any) -> None:
    """Answers and parts are kept and handed out more than once: nobody may write into them."""
    own: list[Any] = [
        c for c in vars(module).values() if dataclasses.is_dataclass(c) and c.__module__ == module.__name__
    ]
    assert own and all(c.__dataclass_params__.frozen for c in own), own


def test_a_board_brings_its_own_supply() -> None:
    own = size.supply_of("msp430f5438a-anagear")
    assert own == {"capacitance_f": 0.5, "v_max_v": 5.0, "v_cut_v": 1.9, "charge_efficiency": 0.8}


# --- lifetime --------------------------------------------------------------------------------


def use(**changes: float) -> lifetime.Use:
    fields: dict[str, Any] = {
        "energy_j": 6e-3,
        "time_s": 0.5,
        "radio_j": 2e-3,
        "radio_s": 0.1,
        "sleep_w": 1e-5,
        "period_s": 60.0,
    }
    return lifetime.Use("sign", "telosb", 3.0, **{**fields, **changes})


def test_what_a_node_does_has_a_mean() -> None:
    assert use().round_j == near(8e-3) and use().duty == near(0.01)
    assert use(beside_w=4e-5).mean_w == near(8e-3 / 60 + 1e-5 * 0.99 + 4e-7)
    endless = use(period_s=0.0, beside_w=4e-5)
    assert endless.duty == 1.0 and endless.mean_w == near(8e-3 / 0.6 + 4e-5)


# --- asleep and radio ------------------------------------------------------------------------


def test_a_sleeping_board_is_the_sum_of_its_parts() -> None:
    got = asleep.Asleep("x", (1.0, 0.5, 2.0), (0.1, 0.05, 0.2), (0.01, 0.005, 0.02), (3.0, 2.0, 4.0))
    assert got.total_w == near((4.11, 2.555, 6.22)) and got.beside_w == near((3.11, 2.055, 4.22))
    assert got.remark is None
    assert got.to_dict() == {
        "total_w": near(4.11), "total_low_w": near(2.555), "total_high_w": near(6.22), "cpu_w": 1.0,
        "oscillator_w": 0.1, "radio_w": 0.01, "residual_w": 3.0, "remark": None,
    }  # fmt: skip
    unknown = dataclasses.replace(got, residual_w=None)
    assert unknown.total_w == near((1.11, 0.555, 2.22)) and "left out" in (unknown.remark or "")
    assert unknown.to_dict()["residual_w"] is None


def test_a_board_that_was_measured_whole_counts_its_radio_once() -> None:
    whole, parts = asleep.of_board("mica2", 3.0, "shnayder2004"), asleep.of_board("mica2", 3.0)
    assert whole.radio_w == (0.0, 0.0, 0.0) and whole.residual_w is not None and parts.radio_w[0] > 0.0
    assert parts.oscillator_w[0] > 0.0 and parts.residual_w is not None
    assert parts.radio_w[0] == near(radio.of_board("mica2").asleep_w(3.0)[0])
    for board in boards.of_nodes():
        drawn = asleep.of_board(board, 3.0)
        half = asleep.of_board(board, 2.5)
        assert all(low <= typical <= high for typical, low, high in (drawn.total_w, drawn.cpu_w, drawn.radio_w))
        assert 0.0 < half.total_w[0] < drawn.total_w[0]
    assert asleep.power_sets("mica2")[0] == "cc1000-datasheet" and len(asleep.power_sets("mica2")) == 2


def test_a_radio_is_what_its_file_says() -> None:
    for name, chip in radio.radios().items():
        facts = told(chip.part, "radio")
        (said,) = (m for m in facts["message"] if m["name"] == name)
        assert chip.carrier_hz == near(said["carrier_MHz"] * 1e6) and chip.rate_bit_s == said.get("rate_bit_s")
        assert chip.wake == tuple((s, near(us / 1e6)) for s, us in said["wake"])
        assert chip.settle == tuple((s, near(us / 1e6)) for s, us in said["settle"])
        assert chip.send == dict(said["send"]) and chip.receive == said["receive"]
        assert (chip.asleep, chip.overhead_bytes) == (facts["asleep"], said.get("overhead_bytes", 0))
        whole = facts.get("receiver", said)
        assert chip.sensitivity_dbm == whole["sensitivity_dBm"]
        # A current at the supply is a power.
        assert chip.power_w(chip.receive, 3.0)[0] > 0.0
    assert radio.of_board("telosb").name == "cc2420"
    silent = set(boards.names("boards")) - radio.of_boards().keys()
    assert silent
    for board in silent:
        with pytest.raises(SunsealError, match="no radio whose messages"):
            radio.of_board(board)
    for price in (radio.message, radio.prices):
        with pytest.raises(SunsealError, match="radio"):
            price("no-such-radio", 0)
    assert radio.prices("cc2420") == radio.prices("cc2420", 0, 3.0, None)
    assert radio.message("cc2420", 8) == radio.message("cc2420", 8, 0, 3.0)
    with pytest.raises(SunsealError, match="no output power of 7 dBm"):
        radio.prices("cc2420", 7)
    with pytest.raises(SunsealError, match="no output power of 7 dBm"):
        radio.message("cc2420", 8, 7)


def test_a_message_is_bits_times_power() -> None:
    got, chip = radio.message("cc2420", 500, -5, 2.5), radio.radios()["cc2420"]
    assert got.time_s == near(500 / 250e3) and got.bits == 500
    assert got.send_j == near(got.time_s * chip.power_w("tx.pa19", 2.5)[0])
    assert got.receive_j == near(got.time_s * chip.power_w("rx", 2.5)[0])


@pytest.mark.parametrize("listen_s", [None, 0.01])
def test_an_exchange_is_its_bytes_packets_and_messages(listen_s: float | None) -> None:
    chip, got = radio.radios()["cc1000-433"], radio.prices("cc1000-433", 5, 3.0, listen_s)
    byte_s = 8 / 38.4e3
    frame_s, settle_s, wake_s = 16 * byte_s, 250e-6, 2200e-6
    window_s = 2e-3 + 29 * byte_s if listen_s is None else 0.01
    for i in range(3):
        tx_w, rx_w, xosc_w, bias_w, synth_w = (
            chip.power_w(s, 3.0)[i] for s in ("tx.433mhz.pa70", chip.receive, "xosc", "xosc.bias", "synth.433mhz")
        )
        wake_j = 2000e-6 * xosc_w + 200e-6 * bias_w
        for body, packets, messages in ((0, 0, 0), (56, 1, 1), (900, 17, 2)):
            air = got.exchange(body)
            assert (air.packets, air.messages, air.body_bytes) == (packets, messages, body)
            send_j = body * byte_s * tx_w + packets * (settle_s * synth_w + frame_s * tx_w)
            send_j += messages * (wake_j + settle_s * synth_w + window_s * rx_w)
            hear_j = body * byte_s * rx_w + packets * (settle_s + frame_s) * rx_w
            hear_j += messages * (wake_j + settle_s * synth_w + 2e-3 * rx_w + 29 * byte_s * tx_w)
            assert (air.send_j[i], air.receive_j[i]) == (near(send_j), near(hear_j))
            time_s = body * byte_s + packets * (settle_s + frame_s) + messages * (wake_s + settle_s + window_s)
            assert air.time_s == near(time_s)
    shown = got.exchange(56).to_dict()
    assert (shown["send_j"], shown["receive_j"]) == (got.exchange(56).send_j[0], got.exchange(56).receive_j[0])


def test_what_an_operation_puts_on_the_air() -> None:
    for work, added in {
        "ecdh-secp160r1-agree": 40, "ecdh-p224-agree": 56, "ecdh-p256-agree": 64, "x25519-agree": 32,
        "ecdsa-p256-sign": 64, "ecdsa-p256-verify": 0, "aes128-ctr-encrypt": 0, "aes128-ccm-seal": 16,
        "ldots-sign": 8192, "sha256-hash": 0, "ldots-sign-offline": 0,
    }.items():  # fmt: skip
        try:
            known = boards.workload(work)
        except SunsealError:
            continue
        assert radio.added_bytes(known) == added, work


def test_bodies_are_as_long_as_the_link_layer_has_them() -> None:
    """The columns of the table of messages in link.md: `u8`, `u32`, `name[8]`; data and signature come on top."""
    rows = (boards.home() / "docs" / "reference" / "link.md").read_text("utf-8").splitlines()

    def fixed_bytes(kind: str) -> int:
        (body,) = (row.split("|")[4] for row in rows if re.match(rf"\| \d+ \| {kind} \|", row))
        return sum(int(n) for n in re.findall(r"\[(\d+)\]", body)) + sum(
            int(n) // 8 for n in re.findall(r"\bu(\d+)\b", body)
        )

    assert fixed_bytes("REPORT") == radio.REPORT_BYTES
    assert fixed_bytes("VERDICT") == radio.ANSWER_BYTES


# --- supplies --------------------------------------------------------------------------------


def wanted(**climate: Any) -> Requirements:
    blank: Any = Requirements.__new__(Requirements)
    for name, value in {"climate": climate, "folder": Path()}.items():
        object.__setattr__(blank, name, value)
    made: Requirements = blank
    return made


def test_hours_of_light_are_means_and_repeat() -> None:
    # Two hours and a half: a ramp, of which the engine takes the mean, then as much as at its end.
    ramp = supplies.Light("p", np.array([0.0, 3600.0, 9000.0]), np.array([0.0, 2.0, 2.0]), {})
    hours = ramp.hours_w()
    assert len(hours) == 8760
    assert hours[:5] == near([1.0, 2.0, 1.5, 1.5, 2.0])
    assert ramp.low_light is None and ramp.trace == ([0.0, 3600.0, 9000.0], [0.0, 2.0, 2.0])
    late = supplies.Light("p", ramp.time_s + 500.0, ramp.power_w, {})
    assert late.hours_w()[:5] == near(hours[:5])
    ends = np.array([0.5, 0.5, 0.5]), np.array([2.0, 2.0, 2.0])
    spread = dataclasses.replace(ramp, ends=ends)
    assert spread.hours_w(-1)[0] == near(0.5) and spread.hours_w(1)[0] == near(2.0) and spread.hours_w()[0] == near(1.0)
    assert spread.low_light == near((0.5, 2.0))
    assert supplies.Light("p", ramp.time_s, ramp.power_w * 0, {}, ends).low_light is None


def test_a_constant_light_and_a_trace_are_taken_as_they_are(tmp_path: Path) -> None:
    always = supplies.light(wanted(constant_w=2e-3), "p")
    assert always.time_s.tolist() == [0.0, 86_400.0] and always.power_w.tolist() == [2e-3, 2e-3]
    assert always.hours_w().mean() == near(2e-3)
    path = tmp_path / "light.csv"

    def read(rows: str) -> supplies.Light:
        path.write_text("time_s,power_w\n" + rows)
        return supplies.light(wanted(trace=str(path)), "p")

    got = read("0,1\n10,0\n30,2\n")
    assert got.time_s.tolist() == [0.0, 10.0, 30.0] and got.power_w.tolist() == [1.0, 0.0, 2.0]
    for bad in ("0,1\n", "0,1\n0,2\n", "0,1\n5,2\n4,2\n", "0,1\n5,-1\n", "0,1\n5,nan\n", "0,1\n5,inf\n"):
        with pytest.raises(SunsealError):
            read(bad)


def test_a_plane_that_is_not_told_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def noted(*place: float, **plane: Any) -> Any:
        asked.append({"place": place, **plane})
        raise LookupError

    monkeypatch.setattr(light, "clear_sky", noted)
    monkeypatch.setattr(light, "sunlight", noted)
    usual = {"tilt_deg": 36.0, "azimuth_deg": 180.0, "shading": 1.0}
    other = {"tilt_deg": 10.0, "azimuth_deg": 90.0, "shading": 0.5}
    for climate, told_too in (
        ({"latitude_deg": 50.0, "clearness": 0.6}, {"place": (50.0,), "clearness": 0.6, "air_c": 15.0}),
        ({}, {"place": ("01-01",), "days": 365, "step_s": 3600.0}),
    ):
        for plane in (usual, other):
            with pytest.raises(LookupError):
                supplies._computed({**climate, **(plane if plane is other else {})}, "ixys-slmd600h10l")
            assert {**plane, **told_too}.items() <= asked[-1].items()


def made(harvester: str, output: str | None, store: str, is_cell: bool = False) -> supplies.Harvested:
    got = supplies._supply(harvester, output, store, is_cell)
    assert not isinstance(got, str), got
    return dataclasses.replace(got, panel="ixys-slmd600h10l")


def test_a_harvester_and_its_capacitor() -> None:
    s = made("anagear-an1010", None, "capxx-hw203")
    e = s.engine
    assert (e.v_on_v, e.v_cut_v, e.v_max_v, e.start_j) == (2.6, 1.9, 5.0, near(0.125))
    assert s.full_j == near(0.25 * (25 - 3.61))
    assert (s.store.tolerance_rel, s.store.tolerance_low_rel) == (0.2, 0.2)
    assert not s.store.is_cell and s.store.capacitance_f == 0.5
    # The engine's solver of a plain capacitor between converters of one efficiency keeps what a pulse takes in it.
    assert e.keeps_reserve
    assert not made("anagear-an1010", None, "supercap-0f47-branches").engine.keeps_reserve
    assert not made("ti-bq25570", "ti-tps7a02", "capxx-hw203").engine.keeps_reserve
    rails = np.array([1.8, 5.0, 5.01])
    assert s.carries(rails).tolist() == [True, True, False]
    # 0.08 ohm take next to nothing of half a milliampere; each load is asked of once.
    load = np.array([1e-3, 2e-3, 1e-3])
    own_w, vcc_v = 6e-6, np.full(3, 1.8)
    assert s.drawn_w(load, vcc_v) == near(load / 0.85 + own_w, 1e-4)
    assert s.drawn_w(load, vcc_v, 0.5) == near(load / 0.425 + own_w, 1e-4)
    assert s.drawn_w(load, vcc_v, 2.0) == near(load + own_w, 1e-4)
    inner_v = 1.9 + (0.1 / 0.85 + own_w) / 1.9 * 0.08
    assert s.reserve_j(np.array([0.1]), vcc_v[:1])[0] == near(0.25 * (inner_v**2 - 3.61), 1e-4)
    assert s.name == "ixys-slmd600h10l + anagear-an1010 + capxx-hw203"
    assert s.parts == ("ixys-slmd600h10l", "anagear-an1010", "capxx-hw203")
    facts = told("ixys-slmd600h10l", "panel")
    assert s.panel_w == near(facts["v_mp_v"] * facts["i_mp_mA"] / 1e3)
    assert s.table() == {"capacitor": "capxx-hw203", "harvester": "anagear-an1010"}
    assert dataclasses.replace(s, temperature_c=-5.0).table()["temperature_c"] == -5.0


def test_a_charger_a_switching_output_and_a_rechargeable_cell() -> None:
    s = made("ti-bq25570", "ti-bq25570", "li-ion-lir2450", True)
    e, cell = s.engine, lifetime.battery("li-ion-lir2450")
    assert (e.v_cut_v, e.v_on_v, e.v_max_v, e.start_j) == (2.75, 2.8, 4.18, 0.0)
    assert s.store.is_cell and s.store.capacitance_f == 0.0
    assert s.full_j == near(cell.energy_j(2.75, 4.18), 1e-6)
    assert (s.store.tolerance_rel, s.store.tolerance_low_rel) == (0.1, 0.1)
    assert s.carries(np.array([2.65, 2.66])).tolist() == [True, False]
    assert s.reserve_j(np.array([9.0]), np.array([1.8]))[0] == math.inf
    assert s.table() == {"cell": "li-ion-lir2450", "charger": "ti-bq25570", "output": "ti-bq25570"}
    assert s.parts == ("ixys-slmd600h10l", "ti-bq25570", "li-ion-lir2450")
    cold = dataclasses.replace(s, temperature_c=-10.0)
    assert cold.full_j == near(s.full_j * (1.0 - 0.005 * 35), 1e-6)


def test_a_linear_output_and_stores_whose_capacitance_is_not_one_number() -> None:
    s = made("ti-bq25504", "ti-tps7a02", "supercap-0f47-branches")
    assert (s.engine.v_on_v, s.engine.v_cut_v, s.engine.v_max_v) == (2.8, 2.4, 3.1)
    assert s.carries(np.array([2.37, 2.39])).tolist() == [True, False]
    middle_v = math.sqrt((3.1**2 + 2.4**2) / 2)
    more_w = s.drawn_w(np.array([1e-3, 0.0]), np.array([1.8, 1.8]))
    assert more_w[0] - more_w[1] == near(1e-3 / 1.8 * middle_v, 2e-3)

    def joules(v: float) -> float:  # the integral of C(u) u
        return (0.2410 + 0.0893 + 0.1964) * v**2 / 2 + 0.0848 * v**3 / 3

    assert s.full_j == near(joules(3.1) - joules(2.4), 1e-6)
    assert (s.store.tolerance_low_rel, s.store.tolerance_rel) == (0.0, 1.0)
    derated = made("ti-bq25504", "ti-tps7a02", "ceramic-100u-x5r")
    u = np.linspace(2.4, 3.1, 20_001)
    farads = 1e-4 * np.interp(u, [0, 1, 2, 3, 4], [1.0, 0.96, 0.84, 0.68, 0.53])
    assert derated.full_j == near(np.trapezoid(farads * u, u), 1e-4)


def test_a_stores_resistance_loses_while_the_node_is_awake() -> None:
    """0.1 F behind 75 ohm: a plan left out what pulses lose there, 6 % of a load at 3 mA."""
    s = made("anagear-an1010", None, "capxx-hf-0f1")
    load = pd.DataFrame({"mean_w": [1e-4], "vcc_v": [2.0], "compute_w": [6e-5], "radio_w": [3e-5], "busy": [0.01]})
    middle_v = math.sqrt((s.engine.v_max_v**2 + s.engine.v_cut_v**2) / 2)
    awake_w = 9e-3 / 0.85 + 6e-6
    # The terminal sags under it: the larger root of (V - I R) I = P.
    pulse_a = (middle_v - math.sqrt(middle_v**2 - 4 * 75.0 * awake_w)) / (2 * 75.0)
    assert sweep.needed_w(s, load)[0] == near(1e-4 / 0.85 + 6e-6 + pulse_a**2 * 75.0 * 0.01, 1e-4)


def test_supplies_that_cannot_be_are_told() -> None:
    # The charger stops at 3.1 V; a lithium cell may not be emptied below 2.75 V, so it is on above that.
    assert made("ti-bq25504", "ti-tps7a02", "li-ion-lir2450", True).engine.v_on_v == 2.8
    found, refused = supplies.harvested({"harvesters": ["anagear-an1010"], "capacitors": ["ceramic-100u-x5r"]})
    assert (
        found == [] and len(refused) == 1 and "after the start overhead of 0.125 J the store would stand" in refused[0]
    )
    found, refused = supplies.harvested(
        {"harvesters": ["anagear-an1010"], "capacitors": ["capxx-hw203"], "panels": ["ixys-slmd600h10l"]}
    )
    assert [s.name for s in found] == ["ixys-slmd600h10l + anagear-an1010 + capxx-hw203"] and refused == []
    found, refused = supplies.harvested({"panels": ["ixys-slmd600h10l"]})
    assert {s.output for s in found if s.harvester == "anagear-an1010"} == {None}
    assert {"ti-bq25570", "ti-tps7a02"} <= {s.output for s in found if s.harvester == "ti-bq25504"}
    assert any(s.store.is_cell for s in found)
    only = supplies.harvested({"capacitors": ["capxx-hw203"]})[0]
    assert not any(s.store.is_cell for s in only)
    both = supplies.harvested({"capacitors": ["capxx-hw203"], "batteries": ["li-ion-lir2450"]})[0]
    assert {s.store.part for s in both} == {"capxx-hw203", "li-ion-lir2450"}


def six_days() -> tuple[supplies.Harvested, supplies.Light]:
    day = np.concatenate([np.zeros(7), np.full(5, 3e-3), np.full(4, 1e-3), np.zeros(8)])
    light_w = np.concatenate([day, day * 0.1, day * 0.0, day, day, day])
    one = made("anagear-an1010", None, "capxx-hw203")
    return one, supplies.Light(one.panel, np.linspace(0.0, 144 * 3600.0, 145), np.append(light_w, 0.0), {})


def test_what_is_carried_is_the_largest_load_that_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplies, "DAYS", 6)
    s, trace = six_days()
    for survive, corners in ((1.0, ()), (0.8, ()), (1.0, (supplies.Corner(light=2.0, charge_efficiency=0.5),))):
        got = supplies.carried([s], {s.panel: trace}, survive, corners)
        assert got.full_j.tolist() == [s.full_j]
        for gate in (0.0, 0.03, 0.1):
            gate_j = np.array([gate * s.full_j])
            (most_w,) = got.most_w(0, gate_j)
            shares = [got.share(0, most_w * x, float(gate_j[0])) for x in (0.999, 1.003)]
            assert most_w > 0 and shares[0] >= survive > shares[1], (gate, shares)
        (between_w,) = got.most_w(0, np.array([0.065 * s.full_j]))
        first_w, last_w = (got.loads_w[0][list(supplies.GATES).index(g)] for g in (0.03, 0.1))
        assert between_w == near((first_w + last_w) / 2) and got.most_w(0, np.array([1.01 * s.full_j]))[0] == 0.0
        assert (np.diff(got.loads_w[0]) <= 0).all()
    small = supplies.carried([s], {s.panel: trace}, 1.0, (supplies.Corner(capacitance=0.5),))
    assert small.full_j[0] == near(s.full_j / 2) and small.loads_w[0][0] < got.loads_w[0][0]
    both = supplies.carried([made("anagear-an1010", None, "capxx-hf-0f1"), s], {s.panel: trace}, 1.0)
    alone = both.only([1])
    assert (alone.loads_w == both.loads_w[[1]]).all() and alone.full_j.tolist() == [s.full_j]
    assert alone.share(0, 1e-5, 0.0) == both.share(1, 1e-5, 0.0)
    dark = dataclasses.replace(trace, power_w=trace.power_w * 0.0)
    assert (supplies.carried([s], {s.panel: dark}, 1.0).loads_w == 0.0).all()


def test_gates_that_are_asked_for_alone_are_those_of_the_whole_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplies, "DAYS", 6)
    s, trace = six_days()
    corner = supplies.Corner(leakage=2.0)
    whole = supplies.carried([s], {s.panel: trace}, 1.0, [corner]).loads_w[0]
    for parts in ([0.0], [0.02], [0.03, 0.2], [0.6, 1.0], [0.4, 1.5], [1.5]):
        some = supplies.carried([s, s], {s.panel: trace}, 1.0, [supplies.Corner(), corner])
        expected = np.where(np.array(parts) > 1.0, 0.0, np.interp(parts, supplies.GATES, whole))
        for _ in range(2):  # the second time from what is known
            assert some.most_w(1, np.array(parts) * s.full_j) == near(expected)
        assert (some.only([1]).most_w(0, np.array([0.05]) * s.full_j)[0]) == near(
            np.interp(0.05, supplies.GATES, whole)
        )
        assert (some.loads_w[1] == whole).all()


def test_primes_are_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(boards, "CARRIED", tmp_path / "none")
    find, found = oracle._prime.__wrapped__, oracle._searched_prime("a label", 256)
    assert find("a label", 256) == found
    monkeypatch.setattr(oracle, "_searched_prime", lambda *_: 4)
    assert (find("a label", 256), find("another", 256)) == (found, 4)
    (kept, _) = sorted((tmp_path / "primes").iterdir(), key=lambda path: -path.stat().st_size)
    kept.write_text("no number", encoding="ascii")
    assert find("a label", 256) == 4


def test_a_battery_is_a_scenarios_supply() -> None:
    battery = supplies.Battery("li-ion-lir2450", None, "direct")
    assert battery.table(2.0) == {"cell": "li-ion-lir2450", "charger": "diode", "output": "direct"}
    helped = dataclasses.replace(battery, converter="ti-tps61000", kind="assisting")
    assert helped.table(2.5) == {**battery.table(2.0), "output": "ti-tps61000", "below_v": 2.5}
    assert helped.name == "li-ion-lir2450 + ti-tps61000" and helped.parts == ("li-ion-lir2450", "ti-tps61000")
    assert battery.name == "li-ion-lir2450" and battery.parts == ("li-ion-lir2450",)
    assert battery.full_j == near(battery.of().energy_j(2.75, 4.2))


def test_batteries_that_are_allowed() -> None:
    got = supplies.batteries({"batteries": ["own"], "converters": ["ti-tps7a02"]}, ["telosb"])
    own = lifetime.battery_of("telosb")
    assert [(b.part, b.converter, b.kind) for b in got] == [(own, None, "direct"), (own, "ti-tps7a02", "linear")]
    beside = supplies.batteries({"batteries": ["own", "li-ion-lir2450"], "converters": ["ti-tps7a02"]}, ["telosb"])
    assert {b.part for b in beside} == {own, "li-ion-lir2450"}
    every = supplies.batteries({}, [])
    assert {b.part for b in every} == set(lifetime.cells())
    assert {b.kind for b in every} == {"direct", "linear", "assisting"}
    assert "ti-bq25570" not in {b.converter for b in every}


def test_no_margin_ends_below_nothing() -> None:
    worst = [uncertainty.Swing(name, "", "", -1.0, 1.5) for name in ("light", "leakage")]
    assert uncertainty.ends(0.5, worst) == near((-1.0, 0.5 + math.sqrt(2.0)))
    assert uncertainty.ends(0.5, [dataclasses.replace(worst[0], outcome_low=0.2)]) == near((0.2, 1.5))
    # A tenth more is carried at both ends; nothing stays nothing.
    assert worst[0].eased(1.1).outcome_low == -1.0 and worst[0].eased(1.1).outcome_high == pytest.approx(1.75)
