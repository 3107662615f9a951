# SPDX-License-Identifier: MIT OR Apache-2.0
"""A node that listens by wake-on-radio, its real firmware, against the real gateway and the real server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal import _engine
from sunseal.catalog import boards
from sunseal.loop import simulation
from sunseal.loop.services import Services

SCENARIO = boards.home() / "examples" / "scenarios" / "listening.toml"
DAY_S = 86_400.0


@dataclass(frozen=True)
class Scene:
    """Account of a run and of its server."""

    record: dict[str, Any]
    events: list[dict[str, Any]]

    def times_s(self, kind: str) -> list[float]:
        """List when the server took in what of this kind it accepted, or, without a verdict, took in at all."""
        return [e["time_us"] / 1e6 for e in self.events if e["kind"] == kind and e["verdict"] in (0, None)]

    @property
    def load_w(self) -> float:
        """Mean power at the store."""
        return float(self.record["energy"]["supply"]["load_j"]) / float(self.record["simulated_s"])


def play(folder: Path, due_s: list[float], **changes: Any) -> Scene:
    """Play the scenario, changed, with challenges that become due at these times."""
    told = simulation.facts(simulation.load(SCENARIO))
    for key, value in changes.items():
        told[key] = {**told[key], **value} if isinstance(value, dict) else value
    node = f"/v1/nodes/{told['node']['node_id']}"
    with Services(folder, 1) as served:
        served.call("POST", "/v1/nodes", {"node_id": told["node"]["node_id"], "name": "n"}, time_us=0)
        for due in due_s:
            served.call("POST", f"{node}/challenges", {"not_before_us": int(due * 1e6)}, time_us=0)
        scenario = _engine.Scenario.from_json(json.dumps(told)).answered_by(served.gateway)
        record = simulation.play(scenario).record
        return Scene(record, list(served.events()))


@pytest.mark.parametrize("every_s", [0.5, 1.0, 4.0])
def test_a_sleeping_node_answers_within_its_listening_interval(tmp_path: Path, firmware: None, every_s: float) -> None:
    due_s = [150.2, 301.7, 444.4]
    heard = play(tmp_path, due_s, duration_s=600.0, node={"listen_every_s": every_s})
    answered_s = heard.times_s("response")
    assert len(answered_s) == 3
    # The look that hears it, the rest of the train (1.05 intervals), signature and frames.
    late_s = [b - a for a, b in zip(due_s, answered_s, strict=True)]
    print(f"every {every_s} s: answered after {', '.join(f'{s:.2f}' for s in late_s)} s")
    assert all(every_s * 1.05 < s < every_s * 1.06 + 0.5 for s in late_s), late_s
    # One HELLO in all that time: nothing was asked by one.
    assert len(heard.times_s("hello")) == 1
    assert heard.record["energy"]["balance_rel"] < 1e-6


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, firmware: None) -> None:
    """Though the gateway hears of what is due beside the simulation's own time."""
    told = []
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        scene = play(tmp_path / run, [20.0 * k for k in range(1, 25)], duration_s=600.0, node={"wakes_max": 30})
        assert len(scene.times_s("response")) == 24
        told.append((scene.events, (tmp_path / run / "air.pcap").read_bytes(), scene.load_w))
    assert told[0] == told[1]


def test_without_listening_it_answers_at_its_next_hello(tmp_path: Path, firmware: None) -> None:
    deaf = play(tmp_path, [150.2], duration_s=700.0, node={"listen_every_s": 0.0, "period_s": 600})
    first, second = deaf.times_s("hello")
    assert second - first == pytest.approx(600.0, rel=0.02)
    (answered_s,) = deaf.times_s("response")
    assert second < answered_s < second + 2.0


def test_what_listening_costs_a_day(tmp_path: Path, firmware: None) -> None:
    def load_w(every_s: float) -> float:
        folder = tmp_path / str(every_s)
        folder.mkdir()
        return play(folder, [], duration_s=1200.0, node={"listen_every_s": every_s}).load_w

    deaf_w = load_w(0.0)
    extra_j = {s: (load_w(s) - deaf_w) * DAY_S for s in (1.0, 10.0)}
    print(f"asleep {deaf_w * DAY_S:.2f} J a day; listening adds {extra_j} J")
    # SWRS040C, 4.1: 8.1 uA on average with one look a second, 0.4 uA in SLEEP; 2.8 V behind a converter of 85 %.
    foretold_j = (8.1e-6 - 0.4e-6) * 2.8 / 0.85 * DAY_S
    assert extra_j[1.0] == pytest.approx(foretold_j, rel=0.25)
    assert 0.1 * extra_j[1.0] < extra_j[10.0] < 0.35 * extra_j[1.0]


def test_a_node_below_its_gate_does_not_answer_and_survives(tmp_path: Path, firmware: None) -> None:
    """Half a minute of light, then none: twenty looks a second take the store down to the gate, and no further."""
    poor = play(
        tmp_path,
        [300.0],
        duration_s=700.0,
        supply={"capacitance_f": 0.01, "overhead_j": 0.0, "initial_v": 3.5},
        harvest={"constant_w": None, "periodic": {"on_w": 3e-3, "period_s": 4000.0, "on_s": 30.0}},
        node={"listen_every_s": 0.05, "period_s": 600},
    )
    assert poor.times_s("response") == []
    assert (poor.record["starts"], poor.record["brown_outs"]) == (1, 0)
    assert [e["detail"]["reason"] for e in poor.events if e["kind"] == "hello"] == ["boot", "low"]
    # The gate: twice signature and message of 4000 and 1200 uJ above 1.9 V, on 0.01 F.
    volts = {round(p["time_s"]): p["vcap_v"] for p in poor.record["series"]}
    gate_v = (1.9**2 + 2 * 2 * 5.2e-3 / 0.01) ** 0.5
    fall_v_s = {s: (volts[s] - volts[s + 30]) / 30 for s in (90, 210)}
    assert volts[90] > gate_v > volts[210] > gate_v - 0.1
    assert fall_v_s[90] > 10 * fall_v_s[210]


def test_who_cannot_listen_is_told(sunseal: Cli, tmp_path: Path, firmware: None) -> None:
    text = SCENARIO.read_text().replace("../../", f"{boards.home()}/")
    other = tmp_path / "other.toml"
    board = text.replace('"msp430f5438a-anagear"', '"telosb"').replace("[supply]\ninitial_v = 3.5", "")
    other.write_text(board.replace("[harvest]\nconstant_w = 1e-3", ""))
    told = sunseal("simulate", other)
    assert told.status == 2
    assert "node.listen_every_s: telosb has cc2420, which no timer of its own wakes" in told.err
    other.write_text(text.replace("mpy-32/node-p256", "mpy-16/node-secp160r1"))
    told = sunseal("simulate", other)
    assert told.status == 2
    assert "has no wake-on-radio; take a program for a CC2500 that has room for it" in told.err
