# SPDX-License-Identifier: MIT OR Apache-2.0
"""`tune`, `size`, `lifetime` and `plan` over boards with a coprocessor, beside what `measure` says of the same runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from bench import tools_or_skip

from sunseal import lifetime, plan, size, tune
from sunseal.catalog import boards, coprocessor
from sunseal.errors import SunsealError
from sunseal.measurement import measuring, switching
from sunseal.papers import offload
from sunseal.planner import asleep

UP5K, SPARTAN3E = "mica2-fpga-up5k", "mica2-fpga-spartan3e"
LENDER = "msp430f5438a-anagear"
PARALLEL = (("aes", "fpga"), ("bus", "parallel"))


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    with tools_or_skip():
        for board in (UP5K, SPARTAN3E):
            coprocessor.ready(board, ())
            boards.firmware_path(board, dict(PARALLEL), "bench-aes128-encrypt")


def between(board: str, bus: str = "parallel") -> switching.Between:
    found = switching.of("aes128-encrypt", board, (("aes", "fpga"), ("bus", bus)))
    assert found is not None
    return found


def requirements(**told: Any) -> dict[str, Any]:
    task = {"workloads": ["aes128-encrypt"], "every": "1s", "bytes": "256B", **told.pop("task", {})}
    return {
        "name": "beside an FPGA",
        "security": {"bits": 128},
        "task": [task],
        "allow": {"boards": [UP5K], "voltages": ["3V"]},
        "battery": {"lifetime": "0.01years"},
        **told,
    }


@pytest.mark.parametrize("board", [UP5K, SPARTAN3E])
def test_a_start_is_configuration_wait_and_key(board: str) -> None:
    found = between(board)
    boot_s = float(next(iter(coprocessor.fitted(board).values()))["fpga"]["boot_ms"]) * 1e-3
    # The driver waits somewhat longer than the configuration takes; the key takes less than a millisecond.
    assert boot_s < found.start_s < 1.2 * boot_s
    assert 0 < found.start_awake_s < 1e-3
    rest_j = (found.start_s - boot_s) * found.wait_w[0]
    mote = measuring.measure("aes128-encrypt", board="mica2", vcc_v=3.0)
    key_j = mote.energy_j / mote.time_s * found.start_awake_s
    assert found.start_j[0] == pytest.approx(offload.boot_j(board) + rest_j + key_j, rel=2e-3)
    assert found.start_j[1] < found.start_j[0] < found.start_j[2]
    assert found.wait_w[1] < found.wait_w[0] < found.wait_w[2]


def test_waiting_on_the_uart_takes_its_clock_too() -> None:
    # The UP5K's clock stands still on the parallel bus and never on the UART: 24 MHz by 42.75 pC at 1.219 V.
    assert between(UP5K, "uart").wait_w[0] - between(UP5K).wait_w[0] == pytest.approx(
        24e6 * 42.75e-12 * 1.219, rel=0.05
    )


def test_tuned_points_are_the_measured_ones_and_what_lies_between() -> None:
    found = tune(["aes128-encrypt"], board_names=[UP5K], voltages_v=[3.0]).points
    assert set(found.coprocessor) == {switching.OFF}
    for row in found.itertuples():
        m = measuring.measure("aes128-encrypt", board=UP5K, variant=tuple(str(row.variant).split(",")), vcc_v=3.0)
        assert row.energy_j - row.coprocessor_j == pytest.approx(m.energy_j)
        assert row.energy_low_j < row.energy_j < row.energy_high_j
        asleep_j = asleep.of_board(UP5K, 3.0).total_w[0] * (row.start_s - row.start_awake_s)
        assert row.coprocessor_j == pytest.approx(row.start_j + asleep_j)
        assert row.time_s == pytest.approx(m.time_s + row.start_s)


def test_a_period_lets_the_coprocessor_wait_where_that_takes_less() -> None:
    pause_s = between(UP5K).pause_s
    asked = {"workloads": ["aes128-encrypt"], "board_names": [UP5K], "voltages_v": [3.0]}
    often, seldom = tune(**asked, every_s=pause_s / 2).best, tune(**asked, every_s=pause_s * 2).best  # type: ignore[arg-type]
    assert often is not None
    assert seldom is not None
    assert (often["coprocessor"], seldom["coprocessor"]) == (switching.ON, switching.OFF)
    assert often["coprocessor_j"] == pytest.approx(seldom["coprocessor_j"] / 2, rel=0.1)
    # Who cannot wait for a start leaves it on, whatever that takes.
    quick = tune(**asked, every_s=pause_s * 2, latency_s=0.01).best  # type: ignore[arg-type]
    assert quick is not None
    assert quick["coprocessor"] == switching.ON


def test_lifetime_pays_for_the_start_or_for_waiting() -> None:
    def coprocessor_j(every_s: float) -> float:
        return lifetime("aes128-encrypt", every_s=every_s, board=UP5K).question.use.coprocessor_j

    pause_s = between(UP5K).pause_s
    assert coprocessor_j(0) == 0
    assert coprocessor_j(pause_s / 2) == pytest.approx(between(UP5K).start_j[0] / 2, rel=0.01)
    assert coprocessor_j(pause_s * 2) == between(UP5K).start_j[0]


def test_size_takes_a_lent_supply_and_more_light_is_never_worse() -> None:
    def sized(every_s: float, shading: float = 1.0) -> Any:
        return size("aes128-encrypt", every_s=every_s, board=UP5K, supply=LENDER, shading=shading, capacitance_f=20.0)

    with pytest.raises(SunsealError, match="lives on a battery"):
        size("aes128-encrypt", board=UP5K)
    m = measuring.measure("aes128-encrypt", board=UP5K, variant=("aes=fpga",))
    seldom, often = sized(600.0).question.demand, sized(1.0).question.demand
    assert (seldom.between, often.between) == (switching.OFF, switching.ON)
    assert seldom.compute_j == pytest.approx(m.energy_j + between(UP5K).start_j[0], rel=1e-3)
    assert often.sleep_w - seldom.sleep_w == pytest.approx(between(UP5K).wait_w[0])
    survived = [sized(600.0, shading).year["survived_share"] for shading in (0.01, 0.1, 1.0)]
    assert survived == sorted(survived)
    assert survived[0] < survived[-1]


def planned(told: Mapping[str, Any]) -> dict[str, Any]:
    best = plan(told, check=False).best
    assert best is not None
    return best.row


def test_plan_counts_the_start_or_the_waiting() -> None:
    m = measuring.measure("aes128-encrypt", board=UP5K, variant=("aes=fpga", "bus=parallel"), vcc_v=3.0)
    often = planned(requirements())
    assert (often["coprocessor"], often["variant"]) == (switching.ON, "aes=fpga,bus=parallel")
    assert often["coprocessor_w"] == pytest.approx(between(UP5K).wait_w[0], rel=1e-3)
    assert often["compute_j"] == pytest.approx(m.energy_j)
    parts = sum(often["tasks"][0][k] for k in ("compute_w", "radio_w"))
    assert often["mean_w"] == pytest.approx(parts + often["sleep_w"] + often["listen_w"] + often["coprocessor_w"])
    seldom = planned(requirements(task={"every": "60s"}))
    assert (seldom["coprocessor"], seldom["coprocessor_w"]) == (switching.OFF, 0.0)
    assert seldom["compute_j"] == pytest.approx(m.energy_j + between(UP5K).start_j[0])
    assert seldom["tasks"][0]["compute_w"] == pytest.approx(seldom["compute_j"] / 60)
    # Who asks for an answer sooner than a start takes has it left on.
    assert planned(requirements(task={"every": "60s", "latency": "10ms"}))["coprocessor"] == switching.ON


def test_two_tasks_share_one_coprocessor_that_waits() -> None:
    task = {"workloads": ["aes128-encrypt"], "every": "1s", "bytes": "256B"}
    told = requirements()
    told["task"] = [{**task, "name": "a"}, {**task, "name": "b"}]
    two = planned(told)
    assert two["coprocessor"] == switching.ON
    assert two["coprocessor_w"] == pytest.approx(between(UP5K).wait_w[0], rel=5e-3)


def test_a_planned_message_is_priced_as_it_was_measured() -> None:
    cost = offload.message("aes128", 64, UP5K, "parallel")
    row = planned(requirements(task={"bytes": "64B"}))
    assert row["compute_j"] == pytest.approx(cost.energy_j(), rel=1e-3)
    # Beyond the program's buffer: 1,024 bytes of it by the slope, the driver's own run beside it.
    long = planned(requirements(task={"bytes": "1024B"}))
    assert long["compute_j"] == pytest.approx(offload.message("aes128", 1024, UP5K, "parallel").energy_j(), rel=0.05)


def test_more_light_carries_no_less() -> None:
    margins = []
    for shading in (0.2, 0.5, 1.0):
        told = requirements(climate={"shading": shading})
        del told["battery"]
        found = plan(told, check=False).candidates
        margins.append(float(found.energy_margin.max()))
    assert margins == sorted(margins)
