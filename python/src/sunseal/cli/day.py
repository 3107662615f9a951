# SPDX-License-Identifier: MIT OR Apache-2.0
"""One simulated day against the real server: every joule and every verdict of it."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from sunseal import _engine
from sunseal.answers.writing import write_atomic
from sunseal.catalog import boards
from sunseal.errors import Stopped, SunsealError, missing_of
from sunseal.loop import simulation
from sunseal.loop.served import Served, built_in
from sunseal.loop.services import Intruder, Services, capture, last_report, spoilt
from sunseal.loop.simulation import Played

CHALLENGES = 24
NODE_NAME = "demo"


# --- Progress --------------------------------------------------------------------------------


@contextlib.contextmanager
def bar(console: Console, quiet: bool, duration_s: float, start_s: float = 0.0) -> Iterator[simulation.Watch | None]:
    """Show the simulated time of day, the storage voltage and how long it will take."""
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("starting", total=duration_s)

        def watch(simulated_s: float, vcap_v: float, brown_outs: int, sent: int) -> None:
            minutes = int((start_s + simulated_s) / 60.0)
            progress.update(
                task,
                completed=simulated_s,
                description=f"{minutes // 60:02d}:{minutes % 60:02d}  store {vcap_v:.2f} V  "
                f"{sent} packets  {brown_outs} brown-outs",
            )

        yield watch
        progress.update(task, completed=duration_s)


@contextlib.contextmanager
def _steps(console: Console, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Say in one changing line what is being measured for the report."""
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("measuring for the report") as status:
        yield lambda what: status.update(f"measuring for the report: {what}")


# --- The day ---------------------------------------------------------------------------------


def run(
    folder: Path,
    *,
    seed: int,
    scenario: Path | None,
    console: Console,
    quiet: bool,
    board: str = boards.DEFAULT_BOARD,
) -> dict[str, Any]:
    """Play the day, write everything into `folder`, and return the closing table."""
    drawn = not missing_of("plots")
    path = scenario or built_in(board)
    loaded = simulation.load(path).seeded(seed)
    told = simulation.facts(loaded)
    if not (told.get("node") or {}).get("node_id"):
        raise SunsealError(f"`{path}` gives no node.node_id; the demo needs it to open the server for the node")
    lit = "sunlight" in told["harvest"]
    began = time.monotonic()
    played_from = ["--scenario", str(scenario)] if scenario else []
    if board != boards.DEFAULT_BOARD:
        played_from += ["--board", board]
    again = shlex.join(["sunseal", "demo", "--seed", str(seed), *played_from, "--out", str(folder)])
    with _atomic_folder(folder, again) as work:
        with tempfile.TemporaryDirectory(prefix="sunseal-") as scratch:
            with _ends(Path(scratch), loaded, seed) if lit else contextlib.nullcontext(list) as ends:
                with bar(console, quiet, told["duration_s"], told["start_s"]) as watch:
                    played, served, played_s = _day(Path(scratch), loaded, seed, watch)
                at_ends = ends()
            shutil.copyfile(Path(scratch) / "air.pcap", work / "air.pcap")
        closing = {**served.closing(), **played.closing(), **({"ends": at_ends} if lit else {})}
        if drawn:
            _draw(work, played, served, closing, _steps(console, quiet))
        write_atomic(work / "series.csv", played.series_csv())
        write_atomic(work / "events.jsonl", _lines(served.events))
        _write_json(
            work / "demo.json",
            {"closing": closing, "scenario": played.scenario, "record": played.record},
        )
    wall_s = time.monotonic() - began
    simulated_s = played.record["simulated_s"]
    return {
        **closing,
        "wall_s": wall_s,
        "played_wall_s": played_s,
        "simulated_over_wall": simulated_s / played_s,
        "files": sorted(str(folder / p.name) for p in folder.iterdir() if p.is_file()),
    }


def _draw(
    work: Path,
    played: Played,
    served: Served,
    closing: Mapping[str, Any],
    steps: contextlib.AbstractContextManager[Callable[[str], None]],
) -> None:
    """Write the report and its pictures, for which the extra `plots` must be there."""
    from sunseal.report import scenario as report

    with steps as step:
        page, pictures = report.demo_page(played, served, closing, step)
    write_atomic(work / "report.html", page)
    for draw in pictures:
        draw(work)


def _day(
    folder: Path, loaded: _engine.Scenario, seed: int, watch: simulation.Watch | None, reading: int = 0
) -> tuple[Played, Served, float]:
    """Play a day against a server and a gateway of its own; return what came of it, and how long the playing took."""
    told = simulation.facts(loaded)
    with Services(folder, seed) as services:
        _prepare(services, told)
        began = time.monotonic()
        played = simulation.play(loaded.answered_by(services.gateway), watch, reading=reading)
        played_s = time.monotonic() - began
        intruder = _intrude(services, played)
        served = Served(
            services.call("GET", f"/v1/nodes/{told['node']['node_id']}"),
            services.call("GET", "/v1/summary"),
            list(services.events()),
            intruder,
        )
    return played, served, played_s


ENDS = {-1: "darkest", 1: "brightest"}
"""Readings of a panel's datasheet that the day is played again by."""
VERDICT = ("asked", "answered", "verified", "starts", "brown_outs")
"""Figures of a day that are told of the ends, too."""


@contextlib.contextmanager
def _ends(folder: Path, loaded: _engine.Scenario, seed: int) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Play the day at both ends of what the panel's datasheet leaves open, beside what the block plays."""
    over = threading.Event()

    def watch(_simulated_s: float, _vcap_v: float, _brown_outs: int, _sent: int) -> None:
        if over.is_set():
            raise Stopped("the day itself was stopped")

    def end(reading: int) -> dict[str, Any]:
        own = folder / ENDS[reading]
        own.mkdir()
        played, served, _ = _day(own, loaded, seed, watch, reading)
        closing = {**served.closing(), **played.closing()}
        return {"reading": ENDS[reading], "in_j": closing["energy"]["in_j"], **{k: closing[k] for k in VERDICT}}

    with ThreadPoolExecutor(len(ENDS)) as pool:
        days = [pool.submit(end, reading) for reading in ENDS]
        try:
            yield lambda: [day.result() for day in days]
        finally:
            over.set()


def _prepare(services: Services, told: Mapping[str, Any]) -> None:
    """Open enrolment, and queue challenges evenly over the day."""
    node = told["node"]
    period = {"period_us": int(node["period_s"] * 1e6)} if node.get("period_s") else {}
    services.call("POST", "/v1/nodes", {"node_id": node["node_id"], "name": NODE_NAME, **period}, time_us=0)
    if node.get("mode") == "periodic":
        return
    step_us = told["duration_s"] * 1e6 / CHALLENGES
    for k in range(CHALLENGES):
        due = {"not_before_us": int((k + 0.5) * step_us)}
        services.call("POST", f"/v1/nodes/{node['node_id']}/challenges", due, time_us=0)


def _intrude(services: Services, played: Played) -> list[dict[str, Any]]:
    """Replay the node's last report, then send it with a flipped bit; the server must refuse both."""
    packets = capture(services.pcap)
    kept = last_report(packets)
    if not kept:
        return []
    time_us = int(played.record["simulated_s"] * 1e6)
    tried = []
    for name, sent, gap_us in (
        ("replay", kept, 11_000_000),  # within ten seconds it could be another gateway's
        ("flipped bit", spoilt(kept), 12_000_000),
    ):
        after = max((e["event_id"] for e in services.events()), default=0)
        with Intruder(services.gateway) as intruder:
            for i, packet in enumerate(sent):
                intruder.send(time_us + gap_us + 10_000 * i, packet)
        verdicts = [e for e in services.events() if e["event_id"] > after and e["verdict"] is not None]
        if not verdicts:
            raise SunsealError(f"the server did not judge the intruder's {name}, which it received")
        tried.append(
            {
                "what": name,
                "verdict": verdicts[-1]["verdict"],
                "verdict_name": verdicts[-1]["verdict_name"],
            }
        )
    return tried


# --- Files -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _atomic_folder(folder: Path, again: str) -> Iterator[Path]:
    """Fill a folder aside and move its files into place at the end: all of them or none."""
    if folder.exists() and not folder.is_dir():
        raise SunsealError(f"`{folder}` is a file; --out names a folder")
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise SunsealError(f"the folder `{folder}` cannot be written: its permissions forbid it")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as e:
        raise SunsealError(f"the folder `{folder}` cannot be written: {e.strerror or e}") from e
    before = signal.getsignal(signal.SIGTERM)

    def terminated(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGTERM, terminated)
        yield aside
        aside.chmod(0o755)
        folder.mkdir(exist_ok=True)
        for path in aside.iterdir():
            path.replace(folder / path.name)
    except KeyboardInterrupt as e:
        raise Stopped(
            f"`{folder}` is as it was before; `{again}` plays the same day again, "
            "and what was measured for the report is kept"
        ) from e
    finally:
        signal.signal(signal.SIGTERM, before)
        shutil.rmtree(aside, ignore_errors=True)


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)


def _write_json(path: Path, value: Any) -> None:
    write_atomic(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n")
