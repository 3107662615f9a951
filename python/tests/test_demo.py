# SPDX-License-Identifier: MIT OR Apache-2.0
"""The closed loop from end to end: the node's real firmware, the real gateway, the real server."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import Cli, opened, require
from looking import drawn_to, faults
from sunseal.catalog import boards
from sunseal.cli import day as demo
from sunseal.errors import SunsealError
from sunseal.kit.doctor import server_path
from sunseal.loop import served, services, simulation
from sunseal.report.closing import rows as closing_rows

HALF_HOUR = """
name = "half-hour"
board = "msp430f5438a-anagear"
firmware = "{firmware}"
duration_s = {duration_s}

[supply]
initial_v = 3.5

[harvest]
constant_w = 0.0005

[node]
node_id = "53756e7365616c01"
mode = "both"
period_s = 120
"""


def write_scenario(folder: Path, duration_s: float = 1800.0) -> Path:
    firmware = boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, "node-p256")
    path = folder / "half-hour.toml"
    path.write_text(HALF_HOUR.format(firmware=firmware, duration_s=duration_s))
    return path


@pytest.fixture(scope="session")
def built() -> None:
    """Skip where server or firmware are not built."""
    try:
        boards.firmware_path(boards.DEFAULT_BOARD, {"mpy": "32"}, "node-p256")
        server_path()
    except SunsealError as e:
        require(False, str(e))


@pytest.fixture(scope="session")
def played(built: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Half an hour of the node against the server, once for all tests here."""
    root = tmp_path_factory.mktemp("demo")
    closing = demo.run(root / "out", seed=7, scenario=write_scenario(root), console=Console(quiet=True), quiet=True)
    return root / "out", closing


def test_the_node_is_verified_in_both_modes_and_an_intruder_is_not(
    played: tuple[Path, dict[str, Any]],
) -> None:
    _, closing = played
    assert closing["asked"] == demo.CHALLENGES
    kinds = closing["verified_by_kind"]
    assert kinds["response"] >= 3
    assert kinds["report"] >= 3
    assert closing["verified"] == kinds["response"] + kinds["report"]
    assert [(a["what"], a["verdict_name"]) for a in closing["intruder"]] == [
        ("replay", "replayed-counter"),
        ("flipped bit", "bad-signature"),
    ]
    assert closing["refused_by_verdict"] == {"bad-signature": 1, "replayed-counter": 1}
    assert closing["accepted_by_security_bits"] == {"128": closing["verified"]}
    assert closing["brown_outs"] == 0


def test_every_joule_is_accounted_for(played: tuple[Path, dict[str, Any]]) -> None:
    _, closing = played
    energy = closing["energy"]
    assert abs(closing["energy_balance_rel"]) < 1e-6
    assert energy["in_j"] == pytest.approx(0.0005 * 1800, rel=1e-9)
    rest = energy["in_j"] - energy["out_j"] - energy["lost_j"] - energy["stored_delta_j"]
    assert abs(rest) < 1e-6 * energy["in_j"]
    # What the loop delivered is what the machine's own books cost.
    assert sum(energy["by_component_j"].values()) == pytest.approx(energy["out_j"], rel=1e-5)
    assert sum(energy["by_state_j"].values()) == pytest.approx(
        energy["out_j"] - energy["by_component_j"][simulation.DIVIDER], rel=1e-5
    )
    assert set(energy["by_component_j"]) >= {"cpu", "radio", "flash", "adc12"}


def test_the_folder_holds_what_the_report_names(played: tuple[Path, dict[str, Any]]) -> None:
    folder, closing = played
    names = {p.name for p in folder.iterdir()}
    assert names >= {"report.html", "demo.json", "air.pcap", "events.jsonl", "series.csv", "day.png", "day.svg"}
    assert closing["files"] == sorted(str(p) for p in folder.iterdir())
    assert [p.name for p in folder.parent.iterdir() if p.name.startswith(".")] == []
    kept = json.loads((folder / "demo.json").read_text())
    assert kept["closing"] == {k: v for k, v in closing.items() if k in kept["closing"]}
    assert "wall_s" not in kept["closing"]
    rows = (folder / "series.csv").read_text().splitlines()
    assert rows[0].startswith("time_s,vcap_v,")
    assert len(rows) == len(kept["record"]["series"]) + 1
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert [e["event_id"] for e in events] == sorted(e["event_id"] for e in events)


def test_the_air_is_a_pcap_of_frames(played: tuple[Path, dict[str, Any]]) -> None:
    folder, closing = played
    packets = services.capture(folder / "air.pcap")
    assert struct.unpack("<I", (folder / "air.pcap").read_bytes()[20:24]) == (147,)  # DLT_USER0
    assert all(len(p.packet) == p.packet[0] + 1 for p in packets)
    times = [p.time_us for p in packets]
    assert times == sorted(times)
    reports = {p.message for p in packets if p.kind == services.REPORT_KIND and not p.sent_by_gateway}
    assert len(reports) >= closing["reports"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_in_a_browser_and_fits(played: tuple[Path, dict[str, Any]], browser: Any, scheme: str) -> None:
    folder, closing = played
    with opened(browser, folder / "report.html", "#figure-6 svg", color_scheme=scheme) as tab:
        # The run, the ledger and four curves by script; the flame graph as plain SVG.
        assert tab.locator(".drawn > svg").count() == 6
        assert tab.locator("svg.flame text").count() > 10
        assert tab.locator(".card b").first.inner_text() == str(closing["verified"])
        headings = tab.locator("section h2").all_inner_texts()
        assert headings[:3] == ["The run", "What the server says", "Energy ledger"]  # of half an hour
        assert tab.locator("caption", has_text="mane2014/table-4.1").count() == 1
        for width in (1400, 400):
            tab.set_viewport_size({"width": width, "height": 900})
            drawn_to(tab)
            assert faults(tab) == []


def test_the_same_seed_gives_the_same_bytes(played: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, _ = played
    scenario = write_scenario(tmp_path)
    demo.run(tmp_path / "again", seed=7, scenario=scenario, console=Console(quiet=True), quiet=True)
    for name in ("report.html", "demo.json", "air.pcap", "events.jsonl", "series.csv", "day.png", "day.svg"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name


def test_a_day_in_the_sun_has_its_verdict_at_both_ends_of_the_light(built: None, tmp_path: Path) -> None:
    """An hour around noon in dim light: the ends get less and more of it, and each is judged by a server of its own."""
    sun = '[harvest.sunlight]\nday = "12-21"\nshading = 0.01\n'
    text = write_scenario(tmp_path, 3600.0).read_text().replace("[harvest]\nconstant_w = 0.0005\n", sun)
    path = tmp_path / "sun.toml"
    path.write_text(text.replace("duration_s =", "start_s = 43200\nduration_s ="))
    closing = demo.run(tmp_path / "out", seed=7, scenario=path, console=Console(quiet=True), quiet=True)
    dark, bright = closing["ends"]
    assert (dark["reading"], bright["reading"]) == ("darkest", "brightest")
    assert dark["in_j"] < 0.8 * closing["energy"]["in_j"] < closing["energy"]["in_j"] < 0.9 * bright["in_j"]
    assert all(day["verified"] > 0 and day["asked"] == demo.CHALLENGES for day in closing["ends"])
    rows = dict(closing_rows(closing))
    same = all(day["answered"] == closing["answered"] and not day["brown_outs"] for day in closing["ends"])
    assert ("the same at both ends" in rows["verdict"]) == same
    other = {**closing, "ends": [{**dark, "brown_outs": 7}, bright]}
    assert "NOT the same" in dict(closing_rows(other))["verdict"]


def test_a_node_on_the_smaller_curve_is_verified_and_labelled(built: None, tmp_path: Path) -> None:
    text = write_scenario(tmp_path, 600.0).read_text().replace("node-p256", "node-secp160r1")
    path = tmp_path / "legacy.toml"
    path.write_text(text)
    scenario = simulation.load(path)
    with services.Services(tmp_path, seed=5) as real:
        demo._prepare(real, simulation.facts(scenario))
        simulation.play(scenario.answered_by(real.gateway))
        node = real.call("GET", "/v1/nodes/53756e7365616c01")
        summary = real.call("GET", "/v1/summary")
    assert (node["security_bits"], node["security_label"]) == (80, "legacy")
    assert summary["accepted_by_security_bits"].get("80", 0) >= 3
    assert set(summary["verdicts"]) == {"accepted"}


@pytest.mark.parametrize(
    "board", ["msp430fr5994-launchpad", "telosb", "micaz", "msp432p401r-launchpad", "mica2", "mica2dot"]
)
def test_the_same_program_is_verified_on_other_boards(board: str, built: None, tmp_path: Path) -> None:
    try:
        boards.firmware_path(board, boards.variant((), board), "node-p256")
    except SunsealError as e:
        require(False, str(e))
    closing = demo.run(tmp_path / "out", seed=1, scenario=None, console=Console(quiet=True), quiet=True, board=board)
    kinds = closing["verified_by_kind"]
    # An hour, a turn every five minutes; the first is the enrolment's.
    assert (kinds["response"], kinds["report"]) >= (5, 5)
    assert closing["verified"] == kinds["response"] + kinds["report"]
    # Nothing but what the intruder sent is refused.
    assert closing["refused_by_verdict"] == {"bad-signature": 1, "replayed-counter": 1}
    assert closing["brown_outs"] == 0
    assert abs(closing["energy_balance_rel"]) < 1e-6
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Mane 2014 as printed" not in page  # the published tables are the default board's


def test_every_board_has_a_scenario_for_the_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for board in boards.of_nodes():
        assert simulation.facts(simulation.load(served.built_in(board)))["board"] == board
    home = boards.home()
    (tmp_path / "examples" / "scenarios").mkdir(parents=True)
    (tmp_path / "examples" / "scenarios" / "node-telosb.toml").touch()
    (tmp_path / "data").symlink_to(home / "data")
    monkeypatch.setattr(boards, "home", lambda: tmp_path)
    with pytest.raises(SunsealError, match="mica2 has no scenario") as refused:
        served.built_in("mica2")
    assert "telosb" in (refused.value.hint or "")


def test_simulate_plays_a_scenario_without_anybody_to_answer(sunseal: Cli, built: None, tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, 300.0)
    series, page = tmp_path / "series.csv", tmp_path / "report.html"
    outcome = sunseal("simulate", scenario, "--series", series, "--report", page, "--json")
    assert outcome.status == 0, outcome.err
    closing = json.loads(outcome.out)
    assert closing["simulated_s"] == pytest.approx(300.0)
    assert closing["messages"]["received"] == {}
    assert abs(closing["energy_balance_rel"]) < 1e-6
    assert len(series.read_text().splitlines()) == 2001
    assert "half-hour" in page.read_text()


def catches(pid: int, number: signal.Signals) -> bool:
    """Tell whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (mask,) = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(mask >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_stopped_run_is_gone_on_with_to_the_same_bytes(
    sunseal: Cli, built: None, tmp_path: Path, number: signal.Signals
) -> None:
    scenario = write_scenario(tmp_path, 5 * 86_400.0)
    series, kept = tmp_path / "series.csv", tmp_path / "s.checkpoint"
    command = ("simulate", str(scenario), "--series", str(series), "--checkpoint", str(kept), "--json")
    refused = sunseal(*command, "--resume")
    assert (refused.status, "there is no checkpoint" in refused.err) == (2, True)
    whole = sunseal(*command)
    expected = series.read_bytes()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    child = subprocess.Popen(
        [sys.executable, "-m", "sunseal", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while child.poll() is None and not catches(child.pid, signal.SIGTERM):
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(number)
    said_out, said = child.communicate(timeout=30)
    if child.returncode == 0:
        pytest.skip("it was done before it could be stopped")
    assert (child.returncode, said_out) == (130, "")
    if "nothing was written" in said:
        pytest.skip("it was stopped before it had begun")
    assert f"{kept}` keeps the run; `sunseal simulate" in said
    assert "--resume` goes on with it" in said
    series.unlink()
    rest = sunseal(*command, "--resume")
    assert rest.status == 0, rest.err
    assert "goes on at" in rest.err
    assert (rest.out, series.read_bytes()) == (whole.out, expected)
    assert not kept.exists()


def children_of(pid: int) -> list[str]:
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            text = status.read_text()
            if f"PPid:\t{pid}\n" in text:
                found.append(text.split("\n", 1)[0].removeprefix("Name:\t"))
    return found


@pytest.fixture
def running_demo(built: None, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A demo that plays five simulated days: long enough to be stopped in the middle."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("of yesterday")
    scenario = write_scenario(tmp_path, 5 * 86_400.0)
    # A shell starts background jobs deaf to Ctrl-C, and a child inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    child = subprocess.Popen(
        [sys.executable, "-m", "sunseal", "demo", "--out", str(out), "--scenario", str(scenario), "--seed", "3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while len(children_of(child.pid)) < 2 and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    yield child, out
    if child.poll() is None:
        child.kill()
    child.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_stopped_demo_leaves_no_half_and_says_how_to_go_on(
    running_demo: tuple[subprocess.Popen[str], Path], number: signal.Signals
) -> None:
    child, out = running_demo
    kin = children_of(child.pid)
    assert len(kin) == 6  # server and gateway of the day and of both ends of its light
    child.send_signal(number)
    said_out, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert said_out == ""
    last = said.strip().splitlines()[-1]
    assert last.startswith("stopped; ")
    assert "`sunseal demo --seed 3" in last
    assert "Traceback" not in said
    assert [p.name for p in out.iterdir()] == ["report.html"]
    assert (out / "report.html").read_text() == "of yesterday"
    assert [p.name for p in out.parent.iterdir() if p.name.startswith(".")] == []


def test_killing_the_demo_ends_its_children(running_demo: tuple[subprocess.Popen[str], Path]) -> None:
    child, _ = running_demo
    pids = [
        int(status.parent.name)
        for status in Path("/proc").glob("[0-9]*/status")
        if f"PPid:\t{child.pid}\n" in _text(status)
    ]
    assert len(pids) == 6
    child.kill()
    child.wait()
    deadline = time.monotonic() + 10
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "server or gateway outlived the demo"
        time.sleep(0.05)


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in _text(Path(f"/proc/{pid}/status"))
