# SPDX-License-Identifier: MIT OR Apache-2.0
"""A played scenario over time for Perfetto: what the node did, messages and losses of power, voltage, watts, joules."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from sunseal.answers.tracks import Tracks
from sunseal.answers.writing import whole

NS = 1e9


def write(path: Path, record: dict[str, Any]) -> None:
    """Write the trace of a run's record."""
    with whole(path) as out:
        tracks = Tracks(out.write)
        node = tracks.track(f"{record['scenario']} on {record['board']}")
        doing = tracks.track("activity", node)
        for stretch in record["timeline"]:
            tracks.begin(doing, round(stretch["from_s"] * NS), stretch["doing"])
            tracks.end(doing, round(stretch["to_s"] * NS))
        kinds: dict[str, int] = {}
        for event in record["events"]:
            kind = event["kind"]
            if kind not in kinds:
                kinds[kind] = tracks.track(kind, node)
            tracks.instant(kinds[kind], round(event["time_s"] * NS), event["text"] or kind)
        _series(tracks, node, record)
        _window(tracks, node, record.get("window"))


def _series(tracks: Tracks, node: int, record: dict[str, Any]) -> None:
    series = record["series"]
    ends = [point["time_s"] for point in series[1:]] + [record["simulated_s"]]
    voltage = tracks.counter("storage voltage", "V", node)
    offered, taken = tracks.counter("panel offers", "W", node), tracks.counter("node takes", "W", node)
    joules, sum_j = tracks.counter("node took", "J", node), 0.0
    for point, end_s in zip(series, ends, strict=True):
        begin_ns, end_ns = round(point["time_s"] * NS), round(end_s * NS)
        tracks.value(offered, begin_ns, point["panel_w"])
        tracks.value(taken, begin_ns, point["load_w"])
        tracks.value(voltage, end_ns, point["vcap_v"])
        sum_j += point["load_w"] * (end_s - point["time_s"])
        tracks.value(joules, end_ns, sum_j)


def _window(tracks: Tracks, node: int, window: dict[str, Any] | None) -> None:
    """Write the stretch that was told step by step."""
    if window is None:
        return
    steps = tracks.track("window: activity", node)
    voltage, taken = (
        tracks.counter("window: storage voltage", "V", node),
        tracks.counter("window: node takes", "W", node),
    )
    for (begin_s, end_s), state, watts in zip(
        pairwise(window["time_s"]), window["state"], window["load_w"], strict=False
    ):
        tracks.begin(steps, round(begin_s * NS), state)
        tracks.end(steps, round(end_s * NS))
        tracks.value(taken, round(begin_s * NS), watts)
    for at_s, volts in zip(window["time_s"], window["vcap_v"], strict=False):
        tracks.value(voltage, round(at_s * NS), volts)
