# SPDX-License-Identifier: MIT OR Apache-2.0
"""The closed loop of supply and node on boards with a coprocessor: its energy, its configuration, `plan --confirm`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench import tools_or_skip

from sunseal import lifetime, plan, simulate
from sunseal.catalog import boards, coprocessor
from sunseal.errors import SunsealError
from sunseal.loop import simulation
from sunseal.measurement import measuring, switching
from sunseal.planner import asleep, plan_confirm

UP5K, SPARTAN3E = "mica2-fpga-up5k", "mica2-fpga-spartan3e"
AES = "aes128-encrypt"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    with tools_or_skip():
        for board in (UP5K, SPARTAN3E):
            coprocessor.ready(board, ())
            boards.firmware_path(board, {"aes": "fpga", "bus": "parallel"}, f"duty-{AES}")


def variant(bus: str) -> tuple[str, str]:
    return "aes=fpga", f"bus={bus}"


def played(board: str, bus: str = "parallel", **told: Any) -> simulation.Played:
    # The rail is the cells': at 3 V, as all else is weighed here.
    asked = {"period_s": 1.0, "duration_s": 3.5, "vcc_v": 3.0, "supply": {"initial_v": 3.0}, **told}
    return simulation.play(simulation.duty_scenario(AES, board=board, variant=variant(bus), **asked))


def load_w(board: str, period_s: float, rounds: int, **told: Any) -> float:
    """Mean power over whole periods, between two ends in the middle of a sleep."""
    ends = [period_s * (n + 0.5) for n in (1, 1 + rounds)]
    before, after = (
        played(board, period_s=period_s, duration_s=end, **told).record["energy"]["supply"]["load_j"] for end in ends
    )
    return float(after - before) / (ends[1] - ends[0])


@pytest.mark.parametrize("switched_off", [False, True])
@pytest.mark.parametrize(("board", "bus"), [(UP5K, "parallel"), (UP5K, "spi"), (UP5K, "uart"), (SPARTAN3E, "parallel")])
def test_what_the_loop_draws_is_what_the_ledger_weighs(board: str, bus: str, switched_off: bool) -> None:
    run = played(board, bus, switched_off=switched_off)
    energy = run.record["energy"]
    duty = simulation.duty(run)
    assert (duty.operations, duty.failed, duty.right) == (4, 0, True)
    # Without an FPGA it is 6e-5 here: the cells' voltage moves with the current, and the ledger is weighed at its mean.
    assert abs(energy["loop_over_ledger_rel"]) < 1e-3
    assert abs(energy["balance_rel"]) < 1e-6
    items = [i for i in energy["load"]["items"] if i["component"] == "coprocessor"]
    rails = coprocessor.fitted(board)["coprocessor"]["fpga"]["rail"]
    assert {i["set"] for i in items} == {r["power_set"] for r in rails}
    (boots,) = {i["count"] for i in items if i["name"] == "coprocessor.boot"}
    assert boots == (4 if switched_off else 1)
    assert all(r["power_set"] in run.record["power_set"] for r in rails)


@pytest.mark.parametrize(("board", "bus"), [(UP5K, "parallel"), (UP5K, "uart"), (SPARTAN3E, "parallel")])
@pytest.mark.parametrize("period_s", [1.0, 10.0])
def test_loop_and_lifetime_agree(board: str, bus: str, period_s: float) -> None:
    # Both weigh by the same coefficients: what differs is the program around the operation.
    use = lifetime(AES, every_s=period_s, board=board, variant=variant(bus), vcc_v=3.0).question.use
    assert load_w(board, period_s, 2, bus=bus) == pytest.approx(use.mean_w, rel=0.02)


@pytest.mark.parametrize("board", [UP5K, SPARTAN3E])
def test_switched_off_and_left_on_take_what_was_foretold(board: str) -> None:
    between = switching.of(AES, board, (("aes", "fpga"), ("bus", "parallel")), 3.0)
    assert between is not None
    m = measuring.measure(AES, board=board, variant=variant("parallel"), vcc_v=3.0)
    sleep_w = asleep.of_board(board, 3.0).total_w[0]
    period_s = 2.0
    left_on = load_w(board, period_s, 2, switched_off=False)
    assert left_on == pytest.approx(sleep_w + between.wait_w[0] + m.energy_j / period_s, rel=0.02)
    off = load_w(board, period_s, 2, switched_off=True)
    assert off == pytest.approx(sleep_w + (between.start_j[0] + m.energy_j) / period_s, rel=0.02)


def planned(board: str, every: str) -> tuple[Any, Any]:
    task = {"workloads": [AES], "every": every, "bytes": "256B"}
    told = {
        "name": "beside an FPGA",
        "security": {"bits": 128},
        "task": [task],
        "allow": {"boards": [board], "voltages": ["3V"]},
        "battery": {"lifetime": "0.01years"},
    }
    found = plan(told, check=False)
    assert found.best is not None
    return found, found.best


@pytest.mark.parametrize(("every", "between"), [("1s", switching.ON), ("20s", switching.OFF)])
def test_plan_is_confirmed(every: str, between: str) -> None:
    found, best = planned(UP5K, every)
    assert best.row["coprocessor"] == between
    confirmed = plan_confirm.confirm(found, best)
    assert confirmed.holds, [r for r in confirmed.rows if not r.inside]


DYING = {
    "capacitor": "capxx-hw203",
    "capacitance_f": 5e-4,
    "output": "direct",
    "charger": "diode",
    "plain": True,
    "v_max_v": 3.5,
    "v_on_v": 3.2,
    "v_cut_v": 2.7,
    "initial_v": 3.3,
}


@pytest.mark.parametrize("bus", ["parallel", "uart"])
def test_brown_outs_take_the_configuration_and_nothing_else(bus: str) -> None:
    light = {"periodic": {"on_w": 0.05, "period_s": 6.0, "on_s": 1.0}}
    run = played(UP5K, bus, duration_s=33.3, switched_off=False, supply=DYING, harvest=light)
    assert run.record["brown_outs"] > 3
    duty = simulation.duty(run)
    assert duty.failed in (0, None)
    assert duty.operations > 3
    items = [i for i in run.record["energy"]["load"]["items"] if i["name"] == "coprocessor.boot"]
    # Each life configures it anew, unless the next cut comes before that is done.
    assert 3 < items[0]["count"] <= run.record["starts"]
    load = run.record["energy"]["load"]["items"]
    booting_s = {i["set"]: 0.0 for i in load if i["name"] == "configuring"}
    for i in load:
        if i["name"] == "configuring":
            booting_s[i["set"]] += i["time_s"]
    # 70 ms each: none begins before the program asks for it.
    for time_s in booting_s.values():
        assert -1e-9 < time_s - 0.07 * items[0]["count"] < 0.07 * run.record["brown_outs"] * 0.5
    # The rail moves by a quarter, and in its mean counts the power of a clock, which on the UART never stands still.
    assert abs(run.record["energy"]["loop_over_ledger_rel"]) < (0.02 if bus == "uart" else 2e-3)


def test_run_that_was_stopped_goes_on_as_if_it_never_was(tmp_path: Path) -> None:
    scenario = simulation.duty_scenario(AES, board=UP5K, variant=variant("parallel"), period_s=1.0, duration_s=90.5)
    whole = simulation.play(scenario).record
    # Its progress is told by the clock on the wall: it must last longer than that.
    kept = tmp_path / "kept"
    seen = []

    def stop(time_s: float, *_: Any) -> None:
        seen.append(time_s)
        if time_s > 2.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation.play(scenario, stop, simulation.Checkpoint(kept))
    assert 2.0 < seen[-1] < 90.5
    assert simulation.play(scenario, None, simulation.Checkpoint(kept, resume=True)).record == whole


def test_bus_out_of_its_contract_ends_the_run() -> None:
    told = simulation.facts(simulation.duty_scenario(AES, board=UP5K, variant=variant("parallel"), duration_s=1.0))
    told["wires"] = {"coprocessor": {"bus": "parallel", "clock_MHz": "5", "read_cycles": "100"}}
    with pytest.raises(SunsealError, match=r"so a clock of at least 7\.37 MHz instead of 5\.00 MHz"):
        simulate(told)


def test_wire_of_a_part_that_is_not_there_is_told() -> None:
    told = simulation.facts(simulation.duty_scenario(AES, board=UP5K, variant=variant("parallel"), duration_s=1.0))
    with pytest.raises(SunsealError, match=r"wires\.fpga: mica2-fpga-up5k has no such \[\[part\]\]"):
        simulate({**told, "wires": {"fpga": {"bus": "spi"}}})
