# SPDX-License-Identifier: MIT OR Apache-2.0
"""A run over time for Perfetto: states of each component, the radio's among them, pins, supply and joules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sunseal.answers.tracks import Tracks
from sunseal.answers.writing import whole
from sunseal.machine import waveforms

PS_A_NS = 1000


@dataclass(frozen=True)
class Sample:
    """Supply and joules of each component since power-on, at a moment."""

    time_ps: int
    vcc_v: float
    by_component_j: dict[str, float]


def write(path: Path, title: str, dump: Path, samples: Sequence[Sample]) -> None:
    """Write a trace of a dump and what was sampled beside it."""
    told = waveforms.read(dump)
    with whole(path) as out:
        tracks = Tracks(out.write)
        board = tracks.track(title)
        _states(tracks, board, told)
        _numbers(tracks, board, told)
        _samples(tracks, board, samples)


def _states(tracks: Tracks, board: int, told: waveforms.Dumped) -> None:
    parent = tracks.track("states", board)
    mine = {code: tracks.track(name, parent) for code, (scope, name) in told.signals.items() if scope == "states"}
    begun: set[str] = set()
    for at_ps, code, value in told.changes:
        if code in mine:
            if code in begun:
                tracks.end(mine[code], at_ps // PS_A_NS)
            tracks.begin(mine[code], at_ps // PS_A_NS, told.states[value])
            begun.add(code)
    for code, track in mine.items():
        if code in begun:
            tracks.end(track, told.end_ps // PS_A_NS)


def _numbers(tracks: Tracks, board: int, told: waveforms.Dumped) -> None:
    parents: dict[str, int] = {}
    mine: dict[str, int] = {}
    for code, (scope, name) in told.signals.items():
        if scope != "states":
            if scope not in parents:
                parents[scope] = tracks.track(scope, board)
            mine[code] = tracks.counter(name, "level" if scope == "pins" else "", parents[scope])
    for at_ps, code, value in told.changes:
        if code in mine:
            tracks.value(mine[code], at_ps // PS_A_NS, float(value))


def _samples(tracks: Tracks, board: int, samples: Sequence[Sample]) -> None:
    if not samples:
        return
    supply = tracks.counter("supply", "V", board)
    parent = tracks.track("energy since power-on", board)
    whole_j = tracks.counter("chip", "J", parent)
    names = sorted({name for sample in samples for name in sample.by_component_j})
    parts = {name: tracks.counter(name, "J", parent) for name in names}
    for sample in samples:
        at_ns = sample.time_ps // PS_A_NS
        tracks.value(supply, at_ns, sample.vcc_v)
        tracks.value(whole_j, at_ns, sum(sample.by_component_j.values()))
        for name, joules in sample.by_component_j.items():
            tracks.value(parts[name], at_ns, joules)
