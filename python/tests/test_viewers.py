# SPDX-License-Identifier: MIT OR Apache-2.0
"""Profiles and traces as other people's viewers read them."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal import Bench
from sunseal.catalog import boards
from sunseal.loop import simulation
from sunseal.machine import waveforms
from sunseal.measurement import profiles

STACKS = {"main": 14, "main;sign": 26, "main;sign;mul": 300, "main;hash": 7, "other": 1}
JOULES = {stack: count * 3.75e-10 for stack, count in STACKS.items()}


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Read a message of Protocol Buffers by the rules of its encoding alone."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        match key & 7:
            case 0:
                yield key >> 3, varint()
            case 1:
                yield key >> 3, struct.unpack_from("<d", data, at)[0]
                at += 8
            case 2:
                size = varint()
                yield key >> 3, data[at : at + size]
                at += size
            case kind:
                raise AssertionError(kind)
    assert at == len(data)


def slices(trace: bytes) -> dict[str, list[tuple[str, int, int, int]]]:
    """Read a trace of Perfetto: name, depth, begin and end of the slices of each track."""
    names: dict[int, str] = {}
    found: dict[str, list[tuple[str, int, int, int]]] = {}
    open_slices: dict[int, list[tuple[str, int]]] = {}
    for field, packet in fields(trace):
        assert field == 1
        told = dict(fields(packet))
        if 60 in told:
            track = dict(fields(told[60]))
            names[track[1]] = track[2].decode()
            continue
        event = dict(fields(told[11]))
        track_open = open_slices.setdefault(event[11], [])
        if event[9] == 1:
            track_open.append((event[23].decode(), told[8]))
        elif event[9] == 2:
            name, began = track_open.pop()
            found.setdefault(names[event[11]], []).append((name, len(track_open), began, told[8]))
    assert not any(open_slices.values()), "each slice has an end"
    return found


def counters(trace: bytes) -> dict[str, list[tuple[int, float]]]:
    """Read the values of each counter of a trace of Perfetto."""
    names: dict[int, str] = {}
    found: dict[str, list[tuple[int, float]]] = {}
    for _, packet in fields(trace):
        told = dict(fields(packet))
        if 60 in told:
            track = dict(fields(told[60]))
            names[track[1]] = track[2].decode()
        elif (event := dict(fields(told[11])))[9] == 4:
            found.setdefault(names[event[11]], []).append((told[8], event[44]))
    return found


WEIGHTS = [profiles.cycles(STACKS), profiles.joules(JOULES)]


def test_speedscope_has_each_stack_with_its_weight() -> None:
    told = json.loads(profiles.speedscope("signature", WEIGHTS))
    frames = [f["name"] for f in told["shared"]["frames"]]
    both: list[tuple[profiles.Stacks, float]] = [(STACKS, 1.0), (JOULES, 1e12)]
    for profile, (weights, scale) in zip(told["profiles"], both, strict=True):
        assert profile["type"] == "sampled" and profile["unit"] == "none"
        stacks = [";".join(frames[i] for i in sample) for sample in profile["samples"]]
        assert dict(zip(stacks, profile["weights"], strict=True)) == {s: v * scale for s, v in weights.items()}
        assert profile["endValue"] == pytest.approx(sum(profile["weights"]))
    assert told["activeProfileIndex"] == 1


def test_perfetto_lays_functions_in_each_other() -> None:
    found = slices(profiles.perfetto("signature", WEIGHTS))
    assert [*found] == ["cycles, 1 ns is a cycle", "energy, 1 ns is a picojoule"]
    spans = {(name, depth): end - began for name, depth, began, end in found["cycles, 1 ns is a cycle"]}
    assert spans == {("main", 0): 347, ("sign", 1): 326, ("mul", 2): 300, ("hash", 1): 7, ("other", 0): 1}


def test_pprof_as_gos_tool_reads_it(tmp_path: Path) -> None:
    data = profiles.pprof("signature", WEIGHTS)
    assert data == profiles.pprof("signature", WEIGHTS), "the same bytes each time"
    texts = [text.decode() for field, text in fields(gzip.decompress(data)) if field == 6]
    assert texts[0] == "" and {"cycles", "energy", "picojoules", "main", "mul"} <= set(texts)
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    path = tmp_path / "a.pprof"
    path.write_bytes(data)

    def top(kind: str) -> dict[str, tuple[str, str]]:
        command = [go, "tool", "pprof", "-top", "-nodecount=0", f"-sample_index={kind}", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        rows = [line.split() for line in done.stdout.splitlines()]
        return {row[5]: (row[0], row[3]) for row in rows if len(row) == 6 and row[1].endswith("%")}

    assert top("cycles")["main"] == ("14", "347") and top("cycles")["mul"] == ("300", "300")
    assert top("energy")["mul"] == ("112500picojoules", "112500picojoules")


def test_profile_writes_what_is_asked_for(sunseal: Cli, tmp_path: Path) -> None:
    asked = ("profile", "aes128-encrypt", "--board", "micaz")
    for name, weight in (("a.json", "joules"), ("a.pprof", "cycles"), ("a.pftrace", "joules"), ("a.folded", "cycles")):
        done = sunseal(*asked, "--weight", weight, "--out", tmp_path / name)
        assert (done.status, done.out) == (0, f"wrote {tmp_path / name}\n"), done.err
    rows = (tmp_path / "a.folded").read_text().splitlines()
    stacks = {stack: float(value) for stack, _, value in (row.rpartition(" ") for row in rows)}
    told = json.loads((tmp_path / "a.json").read_text())
    assert sum(told["profiles"][0]["weights"]) == sum(stacks.values())
    measured = json.loads(sunseal("measure", "aes128-encrypt", "--board", "micaz", "--json").out)
    assert sum(told["profiles"][1]["weights"]) == pytest.approx(measured["energy_j"] * 1e12, rel=1e-6)
    whole = slices((tmp_path / "a.pftrace").read_bytes())["cycles, 1 ns is a cycle"]
    assert max(end for _, _, _, end in whole) == sum(stacks.values())
    for wrong, said in (
        (("--format", "flame"), "unknown format `flame`"),
        (("--out", tmp_path / "a.xyz"), "must end in .folded or .txt"),
        (("--format", "pprof", "--out", tmp_path / "a.json"), "must end in .pprof, .gz or .pb"),
        (("--format", "pprof", "--json"), "stands beside neither"),
        (("--out", tmp_path / "none" / "a.json"), "does not exist"),
    ):
        done = sunseal(*asked, *wrong)
        assert done.status == 2 and said in done.err, done.err


# --- Waveforms -----------------------------------------------------------------------------------

WAVED = ("waveform", "aes128-encrypt", "--board", "micaz", "--for", "50ms")
Changes = dict[str, list[tuple[int, str]]]
"""Time in picoseconds and value of each signal's changes, by its name."""


def viewer(name: str) -> str:
    """Return a tool of `firmware/toolchain/get --for viewers`."""
    get = [sys.executable, str(boards.home() / "firmware" / "toolchain" / "get"), "--for", "viewers", "--print-bin"]
    folder = Path(subprocess.run(get, check=True, capture_output=True, text=True).stdout.strip())
    found = shutil.which(str(folder / name)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not there; `firmware/toolchain/get --for viewers` brings it")
    return found


def as_pyvcd_reads(data: bytes) -> Changes:
    """Read a dump with pyvcd: the first value of a signal is a change, too."""
    import io

    from vcd.reader import TokenKind, tokenize

    names: dict[str, str] = {}
    found: Changes = {}
    tick_ps, now = 1, 0
    for token in tokenize(io.BytesIO(data)):
        if token.kind is TokenKind.TIMESCALE:
            scale = token.timescale
            tick_ps = int(scale.magnitude) * {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9}[scale.unit.value]
        elif token.kind is TokenKind.VAR:
            names[token.var.id_code] = token.var.reference
        elif token.kind is TokenKind.CHANGE_TIME:
            now = token.time_change * tick_ps
        elif token.kind in (TokenKind.CHANGE_SCALAR, TokenKind.CHANGE_VECTOR):
            change = token.scalar_change if token.kind is TokenKind.CHANGE_SCALAR else token.vector_change
            found.setdefault(names[change.id_code], []).append((now, str(change.value)))
    return found


def tick_ps(path: Path) -> int:
    number, unit = re.findall(r"\$timescale (\d+) (\w+)", path.read_text())[0]
    return int(number) * waveforms.UNITS_PS[unit]


def test_a_waveform_keeps_each_edge_in_few_ticks(sunseal: Cli, tmp_path: Path) -> None:
    coarse, exact = tmp_path / "a.vcd", tmp_path / "b.vcd"
    assert sunseal(*WAVED, "--out", coarse).status == 0
    assert sunseal(*WAVED, "--out", exact, "--exact").status == 0
    tick, one = tick_ps(coarse), tick_ps(exact)
    assert one == 1 < tick
    ours, finest = as_pyvcd_reads(coarse.read_bytes()), as_pyvcd_reads(exact.read_bytes())
    assert ours.keys() == finest.keys() and any(name.startswith("P") for name in ours)
    apart = []
    for name, changes in finest.items():
        assert ours[name] == [(at // tick * tick, value) for at, value in changes], name
        apart += [b - a for (a, _), (b, _) in itertools.pairwise(changes)]
    assert tick == min(10 ** len(str(min(apart))) // 10, 10**6), "the coarsest, of a microsecond at most"
    assert b"$var string" not in coarse.read_bytes()


def test_states_are_numbers_that_a_file_names(sunseal: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.vcd"
    assert sunseal(*WAVED, "--out", path).status == 0
    names = dict(line.split() for line in (tmp_path / "a.states.txt").read_text().splitlines())
    digits = len(next(iter(names)))
    cpu = {names[f"{int(value):0{digits}x}"] for _, value in as_pyvcd_reads(path.read_bytes())["cpu"]}
    assert any(name.startswith("active") for name in cpu) and len(cpu) > 1
    saved = (tmp_path / "a.gtkw").read_text()
    assert f'[dumpfile] "{path}"' in saved and f"^1 {tmp_path / 'a.states.txt'}" in saved
    assert re.search(r"^atmega128\w*\.states\.cpu\[\d+:0\]$", saved, re.M), saved
    assert sunseal(*WAVED, "--out", tmp_path / "c.vcd", "--logic-only").status == 0
    assert all(re.fullmatch(r"P[A-G]\d", name) for name in as_pyvcd_reads((tmp_path / "c.vcd").read_bytes()))
    assert not (tmp_path / "c.gtkw").exists()


def test_sigrok_takes_pins_without_a_warning(sunseal: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.vcd"
    assert sunseal(*WAVED, "--logic-only", "--out", path).status == 0
    command = [viewer("sigrok-cli"), "-i", str(path), "-I", "vcd", "-O", "csv:time=false"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    channels = re.findall(r"^; Channels \(.*\): (.*)$", done.stdout, re.M)[0].split(", ")
    rows = [line.split(",") for line in done.stdout.splitlines() if re.fullmatch(r"[01](,[01])*", line)]
    ours = as_pyvcd_reads(path.read_bytes())
    assert sorted(channels) == sorted(ours)
    edges = 0
    for column, pin in enumerate(channels):
        levels = [row[column] for row in rows]
        assert sum(a != b for a, b in itertools.pairwise(levels)) == len(ours[pin]) - 1, pin
        edges += len(ours[pin]) - 1
    assert edges >= 2, "the trigger rises and falls"


def test_an_fst_says_what_the_dump_says(sunseal: Cli, tmp_path: Path) -> None:
    for name in ("a.vcd", "a.fst"):
        assert sunseal(*WAVED, "--out", tmp_path / name).status == 0
    told = subprocess.run(
        [viewer("fst2vcd"), "-f", str(tmp_path / "a.fst")], capture_output=True, check=True, timeout=60
    )
    theirs, ours = as_pyvcd_reads(told.stdout), as_pyvcd_reads((tmp_path / "a.vcd").read_bytes())
    assert {name: changes[1:] for name, changes in theirs.items()} == {n: c[1:] for n, c in ours.items()}


def test_waveforms_that_cannot_be(sunseal: Cli, tmp_path: Path) -> None:
    for more, said in (
        (("--out", tmp_path / "a.png"), "must end in .vcd or .fst"),
        (("--out", tmp_path / "none" / "a.vcd"), "does not exist"),
        (("--out", tmp_path / "a.vcd", "--pin", "P9.9"), "P9.9"),
    ):
        done = sunseal(*WAVED, *more)
        assert done.status == 2 and said in done.err, done.err
    assert list(tmp_path.iterdir()) == [], "nothing half written is left"


# --- Tracks --------------------------------------------------------------------------------------


def test_a_run_has_tracks_of_states_pins_and_joules(firmware: None, tmp_path: Path) -> None:
    board = "micaz"
    path = tmp_path / "a.pftrace"
    bench = Bench(board, boards.firmware_path(board, {}, "bench-aes128-encrypt"))
    bench.pin("PD0", [(5e-3, True), (10e-3, False)])
    with bench.tracking(path):
        bench.run(within="20ms")
    trace = path.read_bytes()
    found, values = slices(trace), counters(trace)
    cpu = sorted((begin, end, name) for name, _, begin, end in found["cpu"])
    assert cpu[0][0] == 0 and all(a[1] == b[0] for a, b in itertools.pairwise(cpu)), "one state after the other"
    assert cpu[-1][1] == pytest.approx(bench.time_s * 1e9, abs=1)
    active = sum(end - begin for begin, end, name in cpu if name.startswith("active"))
    assert active == pytest.approx(bench.machine.cycles / 7.3728e6 * 1e9, rel=1e-3)
    assert values["chip"][-1][1] == pytest.approx(sum(bench.spent().by_component_j.values()))
    assert [v for _, v in values["supply"]] == [bench.machine.vcc_v] * len(values["supply"])
    driven = [(at * 1e-9, level) for at, level in values["PD0"]]
    assert [level for _, level in driven] == [0.0, 1.0, 0.0], "a pin that moved is there, who ever drives it"
    assert [at for at, _ in driven] == pytest.approx([0.0, 5e-3, 10e-3], abs=1e-5)


def test_a_scenario_has_tracks_of_what_the_node_did(sunseal: Cli, tmp_path: Path) -> None:
    scenario = boards.home() / "examples" / "scenarios" / "minutes.toml"
    path = tmp_path / "a.pftrace"
    assert sunseal("simulate", scenario, "--tracks", path).status == 0
    played = simulation.play(simulation.load(scenario))
    trace = path.read_bytes()
    found, values = slices(trace), counters(trace)
    did: dict[str, float] = {}
    for name, _, begin, end in found["activity"]:
        did[name] = did.get(name, 0.0) + (end - begin) * 1e-9
    for doing, time_s in played.record["time_by_doing_s"].items():
        assert did.get(doing, 0.0) == pytest.approx(time_s, rel=1e-3, abs=1e-3)
    assert values["node took"][-1][1] == pytest.approx(played.record["energy"]["supply"]["load_j"], rel=1e-4)
    assert values["storage voltage"][-1][1] == played.record["series"][-1]["vcap_v"]


def test_tracks_stand_beside_no_other_record(sunseal: Cli, firmware: None, tmp_path: Path) -> None:
    elf = boards.firmware_path("micaz", {}, "bench-aes128-encrypt")
    asked = ("run", elf, "--board", "micaz", "--for", "1ms")
    done = sunseal(*asked, "--tracks", tmp_path / "a.pftrace", "--vcd", tmp_path / "a.vcd")
    assert done.status == 2 and "cannot stand beside `--vcd`" in done.err
    assert "must end in .pftrace" in sunseal(*asked, "--tracks", tmp_path / "a.json").err
