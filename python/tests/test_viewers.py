# SPDX-License-Identifier: MIT OR Apache-2.0
"""Profiles and traces as other people's viewers read them."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
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
