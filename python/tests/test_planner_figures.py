# SPDX-License-Identifier: MIT OR Apache-2.0
"""The planner's figures, each computed a second time from the data by hand: what changes one of them is seen here."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sunseal import boards
from sunseal.errors import SunsealError
from sunseal.harvest import light
from sunseal.loop import fleet
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
    monkeypatch.setattr(size, "year_of", lambda *given, lender: played(*given, 1.0, 2, lender))
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
        assert chip.carrier_hz == near(said["carrier_MHz"] * 1e6) and chip.rate_bit_s == said["rate_bit_s"]
        assert chip.wake == tuple((s, near(us / 1e6)) for s, us in said["wake"])
        assert chip.settle == tuple((s, near(us / 1e6)) for s, us in said["settle"])
        assert chip.send == dict(said["send"]) and chip.receive == said["receive"]
        assert (chip.asleep, chip.overhead_bytes) == (facts["asleep"], said["overhead_bytes"])
        assert chip.sensitivity_dbm == facts["receiver"]["sensitivity_dBm"]
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
    assert (s.v_on_v, s.v_cut_v, s.v_max_v, s.start_j) == (2.6, 1.9, 5.0, near(0.125))
    assert s.store.full_j == near(0.25 * (25 - 3.61), 1e-5) and s.store.on_j == near(0.25 * (6.76 - 3.61), 1e-4)
    assert s.store.begin_j == s.store.on_j and s.store.cut_j == near(0.25 * 3.61, 1e-4) and s.store.cold_j == 0.0
    assert s.store.leak_w == near([2e-6 / 5.5 * v**2 for _, v in s.store.volts])
    assert (s.store.esr_ohm, s.store.tolerance_rel, s.store.tolerance_low_rel) == (0.08, 0.2, 0.2)
    assert not s.store.is_cell and s.store.capacitance_f == 0.5
    # The engine's solver of a plain capacitor between converters of one efficiency keeps what a pulse takes in it.
    ways: list[tuple[str, str | None, str]] = [
        ("anagear-an1010", None, "supercap-0f47-branches"),
        ("anagear-an1010", None, "ceramic-100u-x5r"),
        ("ti-bq25570", "ti-tps7a02", "capxx-hw203"),
    ]
    made_so = [supplies._supply(*parts, False) for parts in ways]
    assert s.keeps_reserve
    assert not any(one.keeps_reserve for one in made_so if not isinstance(one, str))
    assert sum(isinstance(one, str) for one in made_so) <= 1
    rails = np.array([1.8, 5.0, 5.01])
    assert s.carries(rails).tolist() == [True, True, False]
    load = np.array([1e-3])
    assert s.drawn_w(load, rails[:1])[0] == near(1e-3 / 0.85 + 6e-6)
    assert s.drawn_w(load, rails[:1], 0.5)[0] == near(1e-3 / 0.425 + 6e-6)
    assert s.drawn_w(load, rails[:1], 2.0)[0] == near(1e-3 + 6e-6)
    light_w = np.array([19e-6, 20e-6, 1e-3])
    assert s.charged_w(light_w) == near([0.0, 16e-6, 0.8e-3]) and s.charged_cold_w(light_w) == near([0, 16e-6, 0.8e-3])
    assert s.charged_w(light_w, 2.0) == near([0.0, 20e-6, 1e-3]) and s.charged_w(light_w, 0.5)[2] == near(0.4e-3)
    least_w = float(told("anagear-an1010", "harvester")["panel_min_uW"]) * 1e-6
    assert s.charged_w(np.array([least_w]))[0] == near(0.8 * least_w)
    assert s.off_per_s() == near(2e-6 / (0.25 * 6.76), 1e-4)
    inner_v = 1.9 + (0.1 / 0.85 + 6e-6) / 1.9 * 0.08
    reserve_j = s.reserve_j(np.array([0.1, 1e3]), np.array([1.8, 1.8]))
    assert reserve_j[0] == near((inner_v**2 - 3.61) / (25 - 3.61) * s.store.full_j) and reserve_j[1] == math.inf
    assert s.name == "ixys-slmd600h10l + anagear-an1010 + capxx-hw203"
    assert s.parts == ("ixys-slmd600h10l", "anagear-an1010", "capxx-hw203")
    facts = told("ixys-slmd600h10l", "panel")
    assert s.panel_w == near(facts["v_mp_v"] * facts["i_mp_mA"] / 1e3)
    assert s.table() == {"capacitor": "capxx-hw203", "harvester": "anagear-an1010"}


def test_a_charger_a_switching_output_and_a_rechargeable_cell() -> None:
    s = made("ti-bq25570", "ti-bq25570", "li-ion-lir2450", True)
    cell = lifetime.battery("li-ion-lir2450")
    assert (s.v_cut_v, s.v_on_v, s.v_max_v) == (2.75, 2.8, 4.18) and s.start_j == 0.0
    assert s.store.is_cell and s.store.capacitance_f == 0.0 and s.store.esr_ohm == near((1.2 + 0.6 + 0.4) / 3)
    assert s.store.full_j == cell.energy_j(2.75, 4.18) == s.store.begin_j
    assert s.store.on_j == cell.energy_j(2.75, 2.8) and s.store.cut_j == 0.0 == s.store.cold_j
    rate = 0.2 / YEAR_S
    assert s.store.leak_w == near([rate * cell.energy_j(0.0, v) for _, v in s.store.volts])
    assert (s.store.tolerance_rel, s.store.tolerance_low_rel) == (0.1, 0.1)
    assert s.carries(np.array([2.65, 2.66])).tolist() == [True, False]
    middle_v = math.sqrt((4.18**2 + 2.75**2) / 2)
    at = 1 + (middle_v - 3.0) / 1.2
    share = (0.91 + (0.89 - 0.91) * (at - 1)) * 1.0
    own_w = 488e-9 / 2.8 * middle_v**2
    assert s.drawn_w(np.array([1.8e-3]), np.array([1.8]))[0] == near(1.8e-3 / share + own_w)
    assert s.drawn_w(np.array([1.8e-3]), np.array([1.8]), 9.0)[0] == near(1.8e-3 + own_w)
    assert s.drawn_w(np.array([1.8e-3]), np.array([1.8]), 0.5)[0] == near(1.8e-3 / (share / 2) + own_w)
    # 1.2 V lies a fifth of the way from 1 V to 2 V; 1.2 mW are 1 mA there.
    assert s.charged_w(np.array([4.9e-6, 1.2e-3]))[1] == near(1.2e-3 * (0.87 + 0.2 * 0.05))
    assert s.charged_w(np.array([4.9e-6]))[0] == 0.0 and s.charged_w(np.array([5e-6]))[0] > 0.0
    assert s.charged_w(np.array([1.2e-3]), 9.0)[0] == near(1.2e-3)
    assert s.charged_cold_w(np.array([4.9e-6, 5e-6, 1e-3])) == near([0.0, 0.25e-6, 50e-6])
    assert s.off_per_s() == near(488e-9 * 2.8 / s.store.on_j)
    current_a = s.drawn_w(np.array([0.03]), np.array([1.8]))[0] / 2.75
    part = current_a * s.store.esr_ohm / (4.18 - 2.75)
    assert s.reserve_j(np.array([0.03]), np.array([1.8]))[0] == near(part * s.store.full_j)
    assert s.reserve_j(np.array([9.0]), np.array([1.8]))[0] == math.inf
    assert s.table() == {"cell": "li-ion-lir2450", "charger": "ti-bq25570", "output": "ti-bq25570"}
    assert s.parts == ("ixys-slmd600h10l", "ti-bq25570", "li-ion-lir2450")


def test_a_linear_output_and_stores_whose_capacitance_is_not_one_number() -> None:
    s = made("ti-bq25504", "ti-tps7a02", "supercap-0f47-branches")
    assert (s.v_on_v, s.v_cut_v, s.v_max_v) == (2.8, 2.4, 3.1)
    assert s.carries(np.array([2.38, 2.39])).tolist() == [True, False]
    middle_v = math.sqrt((3.1**2 + 2.4**2) / 2)
    own_w = 0.025e-6 * middle_v + 330e-9 / 2.8 * middle_v**2
    assert s.drawn_w(np.array([1e-3]), np.array([1.8]))[0] == near(1e-3 / 1.8 * middle_v + own_w)

    def joules(v: float) -> float:  # the integral of C(u) u
        return (0.2410 + 0.0893 + 0.1964) * v**2 / 2 + 0.0848 * v**3 / 3

    assert s.store.full_j == near(joules(3.1) - joules(2.4), 1e-4)
    assert s.store.on_j == near(joules(2.8) - joules(2.4), 1e-4) and s.store.begin_j == s.store.on_j
    assert s.store.cut_j == near(joules(2.4), 1e-4) and s.store.cold_j == near(joules(1.77), 1e-4)
    # As a share of the energy it would be 8 % less at 2.4 V than at 3.1 V: the capacitance grows with the voltage.
    assert s.store.leak_w == near([8e-6 / 5.4 * v**2 for v in np.linspace(2.4, 3.1, 5)])
    assert (s.store.tolerance_low_rel, s.store.tolerance_rel) == (0.0, 1.0)
    derated = made("ti-bq25504", "ti-tps7a02", "ceramic-100u-x5r").store
    u = np.linspace(0.0, 3.1, 20_001)
    farads = 1e-4 * np.interp(u, [0, 1, 2, 3, 4], [1.0, 0.96, 0.84, 0.68, 0.53])
    below = u <= 2.4
    assert derated.cut_j == near(np.trapezoid((farads * u)[below], u[below]), 1e-3)
    assert derated.full_j + derated.cut_j == near(np.trapezoid(farads * u, u), 1e-4)


def test_what_a_store_gives_goes_with_its_voltage() -> None:
    """A linear output takes a current, a switching one what its efficiency leaves, a harvester the same always."""
    loads_w = np.array([2e-6, 1e-3])
    for s in (made("anagear-an1010", None, "capxx-hw203"), made("ti-bq25570", "ti-bq25570", "capxx-hw203"),
              made("ti-bq25504", "ti-tps7a02", "capxx-hw203")):  # fmt: skip
        assert s.drawn_at_w(loads_w, s.middle_v) == near(loads_w, 1e-12), s.name
        ends = s.store.volts[0], s.store.volts[-1]
        assert ends == ((0.0, s.v_cut_v), (near(1.0), s.v_max_v))
    s = made("ti-bq25504", "ti-tps7a02", "capxx-hw203")
    # 25 nA of the regulator, and the charger's 330 nA at 2.8 V, as a resistance.
    own_w = 0.025e-6 * s.middle_v + 330e-9 / 2.8 * s.middle_v**2
    current_a = (1e-3 - own_w) / s.middle_v
    assert s.drawn_at_w(loads_w, 2.4)[1] == near((current_a + 0.025e-6) * 2.4 + 330e-9 / 2.8 * 2.4**2)
    s = made("ti-bq25570", "ti-bq25570", "capxx-hw203")
    # About 0.45 mA at 2 V: the table has 91 % of 0.1 mA and 92 % of 1 mA at 2.1 V, 86 and 89 % at 4.2 V.
    low_w, full_w = (float(s.drawn_at_w(loads_w, v)[1]) for v in (s.v_cut_v, s.v_max_v))
    assert 0.96 < low_w / full_w < 0.975


def test_a_stores_resistance_loses_while_the_node_is_awake() -> None:
    """0.1 F behind 75 ohm: a plan left out what pulses lose there, 6 % of a load at 3 mA."""
    s = made("anagear-an1010", None, "capxx-hf-0f1")
    load = pd.DataFrame({"mean_w": [1e-4], "vcc_v": [2.0], "compute_w": [6e-5], "radio_w": [3e-5], "busy": [0.01]})
    pulse_a = (9e-3 / 0.85 + 6e-6) / s.middle_v
    assert sweep.needed_w(s, load)[0] == near(1e-4 / 0.85 + 6e-6 + pulse_a**2 * 75.0 * 0.01)
    pulse_a = (9e-3 / 0.8075 + 6e-6) / s.middle_v
    assert sweep.needed_w(s, load, 0.95)[0] == near(1e-4 / 0.8075 + 6e-6 + pulse_a**2 * 75.0 * 0.01)


def test_supplies_that_cannot_be_are_told() -> None:
    # The charger stops at 3.1 V; a lithium cell may not be emptied below 2.75 V, so it is on above that.
    assert made("ti-bq25504", "ti-tps7a02", "li-ion-lir2450", True).v_on_v == 2.8
    found, refused = supplies.harvested({"harvesters": ["anagear-an1010"], "capacitors": ["ceramic-100u-x5r"]})
    assert found == [] and len(refused) == 1 and "a start costs 0.125 J" in refused[0]
    found, refused = supplies.harvested(
        {"harvesters": ["anagear-an1010"], "capacitors": ["capxx-hw203"], "panels": ["ixys-slmd600h10l"]}
    )
    assert [s.name for s in found] == ["ixys-slmd600h10l + anagear-an1010 + capxx-hw203"] and refused == []
    found, refused = supplies.harvested({})
    ways = {(s.harvester, s.output) for s in found}
    assert ways == {
        ("anagear-an1010", None),
        *((c, o) for c in ("ti-bq25504", "ti-bq25570") for o in ("ti-bq25570", "ti-tps7a02")),
    }
    assert {s.store.part for s in found if s.store.is_cell} <= {"li-ion-lir2450", "cymbet-cbc050"}
    assert any(s.store.is_cell for s in found) and len({s.panel for s in found}) == len(supplies.parts("panel"))
    only = supplies.harvested({"capacitors": ["capxx-hw203"]})[0]
    assert not any(s.store.is_cell for s in only)
    both = supplies.harvested({"capacitors": ["capxx-hw203"], "batteries": ["li-ion-lir2450"]})[0]
    assert {s.store.part for s in both} == {"capxx-hw203", "li-ion-lir2450"}


def stub_parts(monkeypatch: pytest.MonkeyPatch, **kinds: dict[str, dict[str, Any]]) -> None:
    """Put made-up parts in the place of those that the data describe."""
    monkeypatch.setattr(supplies, "parts", lambda kind: {n: {kind: f} for n, f in kinds.get(kind, {}).items()})


CHARGER = {"v_ok_rising_V": 2.8, "v_ok_falling_V": 2.4, "v_ov_V": 3.5, "cold_until_V": 1.5}


@pytest.mark.parametrize("rated_v", [2.8, 2.5, 2.9])
def test_a_store_that_is_never_charged_to_where_the_output_comes_on(
    monkeypatch: pytest.MonkeyPatch, rated_v: float
) -> None:
    facts = {"capacitance_f": 1.0, "v_rated_v": rated_v, "leakage_uA": 1, "esr_ohm": 0.1, "tolerance_rel": 0.2}
    stub_parts(monkeypatch, charger={"c": CHARGER}, capacitor={"k": facts})
    got = supplies._supply("c", "o", "k", False)
    if rated_v > 2.8:
        assert isinstance(got, supplies.Harvested) and got.v_max_v == rated_v
    else:
        assert got == f"c + o + k: the store is charged to {rated_v:g} V and the output comes on at 2.8 V"


def test_a_start_must_leave_something(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2 F between 1 V and 2 V hold 3 J above the cut-off.
    facts = {"capacitance_f": 2.0, "v_rated_v": 5.0, "leakage_uA": 1, "esr_ohm": 0.1, "tolerance_rel": 0.2}
    harvester = {"v_on_v": 2.0, "v_cut_v": 1.0, "v_max_v": 4.0}
    for overhead_mj, can_be in ((2990.0, True), (3010.0, False)):
        stub_parts(monkeypatch, harvester={"h": {**harvester, "overhead_mJ": overhead_mj}}, capacitor={"k": facts})
        got = supplies._supply("h", None, "k", False)
        assert isinstance(got, supplies.Harvested) == can_be, got
        if not can_be:
            assert f"a start costs {overhead_mj / 1e3:g} J, and at 2 V the store holds 3 J" in str(got)


def lossless(leak_per_s: float = 0.0, **changes: float) -> supplies.Harvested:
    """Make a store without leakage: its energy runs in straight lines. 10 J to the cut-off, 100 J above it."""
    s = made("anagear-an1010", None, "capxx-hw203")
    energies: Any = {"cut_j": 10.0, "full_j": 100.0, "on_j": 20.0, "begin_j": 20.0, "cold_j": 0.0}
    energies["leak_w"] = tuple(leak_per_s * (10.0 + 100.0 * share) for share, _ in s.store.volts)
    return dataclasses.replace(s, start_j=0.0, store=dataclasses.replace(s.store, **{**energies, **changes}))


@pytest.mark.parametrize(
    ("start_j", "days_w", "lows_j"),
    [
        # 86.4 J a day are drawn; on a day whose light covers that, the low is what the day begins with.
        # 20 J are gone in 5.6 h; then the light alone lifts the store. At the cut-off it is drawn from again: of 1.5 mW
        # 0.5 mW stay, 43.2 J in a day.
        (0.0, (0.0, 1.5e-3, 1e-3, 2e-3), (-100.0, -100.0, 43.2, 43.2)),
        # Less light than load, but some: it is held at the cut-off from both sides.
        (0.0, (0.5e-3, 0.5e-3, 1.6e-3, 1e-3), (-100.0, -100.0, -100.0, 51.84)),
        # More light than load: 43.2 J a day, until it is full; then as much less.
        (0.0, (1.5e-3, 1.5e-3, 1.5e-3, 0.5e-3), (20.0, 63.2, 100.0, 56.8)),
        # A start costs 5 J: of 20 J it leaves 15, and after the dark day the next one is still to be paid.
        (5.0, (1e-3, 0.0, 1.5e-3, 1.5e-3), (15.0, -100.0, -100.0, 38.2)),
        # 17.28 J above the cut-off are not the 20 J of a restart.
        (0.0, (0.0, 1.2e-3, 1e-3, 1e-3), (-100.0, -100.0, -100.0, -100.0)),
    ],
)
def test_a_store_without_leakage_runs_in_straight_lines(
    monkeypatch: pytest.MonkeyPatch, start_j: float, days_w: tuple[float, ...], lows_j: tuple[float, ...]
) -> None:
    """A constant light each day, so a day is one step; the electronics' 2 uW with the output off are the tolerance."""
    monkeypatch.setattr(supplies, "DAYS", len(days_w))
    s = dataclasses.replace(lossless(), start_j=start_j)
    gain_w = np.repeat(days_w, 24)[:, None]
    got = supplies._lows([(s, supplies.Corner())], np.array([1e-3]), gain_w, gain_w, np.zeros(1, dtype=np.intp))
    assert got[:, 0] == pytest.approx(lows_j, abs=0.3), got[:, 0]


def test_a_store_in_the_dark_leaks_on_below_the_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A night and most of a day without light, then 10 mW for two hours: each stretch by its exponential."""
    monkeypatch.setattr(supplies, "DAYS", 3)
    s, leak = lossless(leak_per_s=1e-5), 1e-5
    off = leak + s.off_per_s()
    # Below the cut-off from where 130 J above the rest of -100 J have become 110, until 22 h of the second day.
    dark_s = 46 * 3600.0 - math.log(130 / 110) / leak
    low_j = 10.0 * math.exp(-off * dark_s)
    rise_s = math.log((0.01 / off - low_j) / (0.01 / off - 10.0)) / off
    end_j = 900.0 - 890.0 * math.exp(-leak * (7200.0 - rise_s))
    gain_w = np.concatenate([np.zeros(46), np.full(2, 0.01), np.full(24, 0.002)])[:, None]
    got = supplies._lows([(s, supplies.Corner())], np.array([1e-3]), gain_w, gain_w, np.zeros(1, dtype=np.intp))
    assert got[:, 0] == pytest.approx([-100.0, -100.0, end_j - 10.0], rel=1e-6)


def test_a_full_store_without_leakage_carries_what_comes_in_and_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplies, "DAYS", 3)
    s = lossless(begin_j=100.0)
    always = supplies.Light(s.panel, np.array([0.0, 86_400.0]), np.full(2, 1e-3), {})
    # 80 % of 1 mW reach the store, and down to each gate it gives a share of its 100 J in the three days.
    shares = np.array([0.0, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0])
    expected_w = 0.8e-3 + (1.0 - shares) * 100.0 / (3 * 86_400.0)
    carried_w = supplies.carried([s], {s.panel: always}, 1.0).loads_w[0]
    # The scale of loads has 512 steps to an octave.
    assert ((carried_w <= expected_w * (1 + 1e-9)) & (carried_w >= expected_w * 2 ** (-1 / 512))).all(), carried_w
    whole = supplies.carried([s], {s.panel: always}, 1.0)
    assert whole.most_w(0, np.array([100.0, 100.1, 200.0])).tolist() == [carried_w[-1], 0.0, 0.0]
    both = supplies.carried([lossless(begin_j=20.0), s], {s.panel: always}, 1.0)
    alone = both.only([1])
    assert (alone.loads_w == both.loads_w[[1]]).all() and alone.full_j.tolist() == [100.0]
    load_w = float(carried_w[0])
    assert alone.share(0, load_w, 0.0) == both.share(1, load_w, 0.0) == 1.0 > both.share(0, load_w, 0.0)
    # A dark day may be lost of three, all but one, and all but the best where no share is asked for.
    dark = dataclasses.replace(
        always, time_s=np.array([0.0, 86_400.0, 86_401.0, 259_200.0]), power_w=np.array([1e-3, 1e-3, 0, 0])
    )
    each_w = [supplies.carried([s], {s.panel: dark}, share).loads_w[0][-1] for share in (1.0, 0.6, 0.3, 0.0)]
    assert each_w[:2] == [0.0, 0.0] and each_w[2] == each_w[3] == carried_w[-1]


def played(s: supplies.Harvested, corner: supplies.Corner, load_w: float, gain_w: Any, cold_w: Any) -> list[float]:
    """Play days by the ten seconds: the lowest energy above the cut-off of each, as `_lows` says it goes."""
    store, c = s.store, corner.capacitance
    cut, full, on = store.cut_j * c, store.full_j * c, store.on_j * c
    # Of a plain capacitor the same share of the energy at every voltage.
    rate = store.leak_w[-1] / (store.cut_j + store.full_j) * corner.leakage / c
    off_rate = rate + s.off_per_s() / c
    energy = cut + max(store.begin_j * c - s.start_j, 0.0)
    awake, owed, lows, step_s = energy > cut, 0.0, [], 10.0
    for day in range(len(gain_w) // 24):
        low = energy - cut - owed if awake else -full
        for hour in range(day * 24, day * 24 + 24):
            for _ in range(360):
                if energy > cut:
                    v_v = math.sqrt(2.0 * energy / (store.capacitance_f * c))
                    out_w = float(s.drawn_at_w(np.array([load_w]), v_v)[0])
                    energy += (gain_w[hour] - out_w - rate * energy) * step_s
                else:
                    warm_w = cold_w[hour] if energy < store.cold_j * c else gain_w[hour]
                    energy += (warm_w - off_rate * energy) * step_s
                energy = min(max(energy, 0.0), cut + full)
                if awake and energy <= cut:
                    awake, owed = False, s.start_j
            if not awake and energy >= cut + min(on + s.start_j, full):
                awake = True
            low = min(low, energy - cut - owed if awake else -full)
        lows.append(low)
    return lows


def harvester_days() -> tuple[supplies.Harvested, Any]:
    day = np.concatenate([np.zeros(7), np.full(5, 3e-3), np.full(4, 1e-3), np.zeros(8)])
    return made("anagear-an1010", None, "capxx-hw203"), np.concatenate([day, day * 0.1, day * 0.0, day, day, day])


def charger_days() -> tuple[supplies.Harvested, Any]:
    day = np.concatenate([np.zeros(7), np.full(9, 2e-4), np.zeros(8)])
    s = made("ti-bq25504", "ti-tps7a02", "tantalum-330u")
    return s, np.concatenate([day, day * 0.0, day, day, day * 0.2, day])


@pytest.mark.parametrize("days", [harvester_days, charger_days])
@pytest.mark.parametrize("corner", [supplies.Corner(), supplies.Corner(capacitance=0.8, leakage=3.0)])
def test_a_year_by_the_hour_is_one_by_the_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, days: Callable[[], tuple[supplies.Harvested, Any]], corner: supplies.Corner
) -> None:
    monkeypatch.setattr(supplies, "DAYS", 6)
    s, light_w = days()
    gain_w, cold_w = s.charged_w(light_w), s.charged_cold_w(light_w)
    mean_w = float(gain_w.mean())
    loads_w = np.array([0.3, 0.9, 1.5, 4.0]) * mean_w
    lanes = np.zeros(len(loads_w), dtype=np.intp)
    got = supplies._lows([(s, corner)] * len(lanes), loads_w, gain_w[:, None], cold_w[:, None], lanes)
    assert got.shape == (6, 4)
    for lane, load_w in enumerate(loads_w):
        expected = played(s, corner, float(load_w), gain_w, cold_w)
        full_j = s.store.full_j * corner.capacitance
        assert got[:, lane] == pytest.approx(expected, abs=0.01 * full_j), (lane, got[:, lane] / full_j)


def test_what_is_carried_is_the_largest_load_that_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplies, "DAYS", 6)
    s, light_w = harvester_days()
    trace = supplies.Light("ixys-slmd600h10l", np.linspace(0.0, 144 * 3600.0, 145), np.append(light_w, 0.0), {})
    for survive, corners in ((1.0, ()), (0.8, ()), (1.0, (supplies.Corner(light=2.0, charge_efficiency=0.5),))):
        got = supplies.carried([s], {"ixys-slmd600h10l": trace}, survive, corners)
        assert got.full_j.tolist() == [s.store.full_j]
        for gate in (0.0, 0.03, 0.1):
            gate_j = np.array([gate * s.store.full_j])
            (most_w,) = got.most_w(0, gate_j)
            shares = [got.share(0, most_w * x, float(gate_j[0])) for x in (0.999, 1.003)]
            assert most_w > 0 and shares[0] >= survive > shares[1], (gate, shares)
        (between_w,) = got.most_w(0, np.array([0.065 * s.store.full_j]))
        first_w, last_w = (got.loads_w[0][list(supplies.GATES).index(g)] for g in (0.03, 0.1))
        assert between_w == near((first_w + last_w) / 2) and got.most_w(0, np.array([1.01 * s.store.full_j]))[0] == 0.0
        assert (np.diff(got.loads_w[0]) <= 0).all()
    small = supplies.carried([s], {"ixys-slmd600h10l": trace}, 1.0, (supplies.Corner(capacitance=0.5),))
    assert small.full_j[0] == near(s.store.full_j / 2) and small.loads_w[0][0] < got.loads_w[0][0]
    dark = dataclasses.replace(trace, power_w=trace.power_w * 0.0)
    assert (supplies.carried([s], {"ixys-slmd600h10l": dark}, 1.0).loads_w == 0.0).all()


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
