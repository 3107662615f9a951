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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from sunseal import _engine, boards
from sunseal.errors import Stopped, SunsealError
from sunseal.harvest import light as harvest
from sunseal.loop import simulation
from sunseal.loop.services import Intruder, Services, capture, last_report, spoilt
from sunseal.loop.simulation import Played
from sunseal.measurement.measuring import write_atomic
from sunseal.units import duration, show

CHALLENGES = 24
NODE_NAME = "demo"
ACCEPTED = 0
YEAR_S = 365.25 * harvest.DAY_S
SIGNED_KINDS = ("response", "report")


def built_in(board: str = boards.DEFAULT_BOARD) -> Path:
    """Return the scenario that `sunseal demo` plays for a board."""
    boards.board_path(board)
    folder = boards.home() / "examples" / "scenarios"
    if board == boards.DEFAULT_BOARD:
        return folder / "day.toml"
    path = folder / f"node-{board}.toml"
    if not path.is_file():
        known = [boards.DEFAULT_BOARD, *sorted(p.stem.removeprefix("node-") for p in folder.glob("node-*.toml"))]
        raise SunsealError(
            f"{board} has no scenario with the node's program", hint=f"boards that have one: {', '.join(known)}"
        )
    return path


@dataclass(frozen=True)
class Served:
    """Account that the server gives of the day."""

    node: dict[str, Any]
    summary: dict[str, Any]
    events: list[dict[str, Any]]
    intruder: list[dict[str, Any]]
    """Messages sent under the node's name by somebody else, and the verdict on it."""

    def judged(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the events that carry a verdict, of these kinds."""
        return [e for e in self.events if e["kind"] in kinds and e["verdict"] is not None]

    def closing(self) -> dict[str, Any]:
        """Count what was asked, answered, verified and refused."""
        challenges = self.summary["challenges"]
        signed = self.judged(*SIGNED_KINDS)
        refused: dict[str, int] = {}
        for event in signed:
            if event["verdict"] != ACCEPTED:
                refused[event["verdict_name"]] = refused.get(event["verdict_name"], 0) + 1
        return {
            "asked": challenges["asked"],
            "answered": sum(1 for e in signed if e["kind"] == "response"),
            "reports": sum(1 for e in signed if e["kind"] == "report") - len(self.intruder),
            "verified": sum(1 for e in signed if e["verdict"] == ACCEPTED),
            "verified_by_kind": {
                kind: sum(1 for e in signed if e["kind"] == kind and e["verdict"] == ACCEPTED) for kind in SIGNED_KINDS
            },
            "refused": sum(refused.values()),
            "refused_by_verdict": dict(sorted(refused.items())),
            "challenges": challenges,
            "accepted_by_security_bits": self.summary["accepted_by_security_bits"],
            "intruder": self.intruder,
        }


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
    from sunseal.report import scenario as report

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
        with _steps(console, quiet) as step:
            page, pictures = report.demo_page(played, served, closing, step)
        write_atomic(work / "report.html", page)
        write_atomic(work / "series.csv", played.series_csv())
        write_atomic(work / "events.jsonl", _lines(served.events))
        _write_json(
            work / "demo.json",
            {"closing": closing, "scenario": played.scenario, "record": played.record},
        )
        for draw in pictures:
            draw(work)
    wall_s = time.monotonic() - began
    simulated_s = played.record["simulated_s"]
    return {
        **closing,
        "wall_s": wall_s,
        "played_wall_s": played_s,
        "simulated_over_wall": simulated_s / played_s,
        "files": sorted(str(folder / p.name) for p in folder.iterdir() if p.is_file()),
    }


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


# --- The closing table -----------------------------------------------------------------------


def rows(closing: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say the closing figures in words; rows that a run without a server lacks are left out."""
    out: list[tuple[str, str]] = []
    if "asked" in closing:
        kinds = closing["verified_by_kind"]
        refused = ", ".join(f"{n} {name}" for name, n in closing["refused_by_verdict"].items())
        bits = ", ".join(f"{n} at {b} bit" for b, n in closing["accepted_by_security_bits"].items())
        out += [
            ("authentications asked", f"{closing['asked']} challenges queued by the server"),
            (
                "answered",
                f"{closing['answered']} responses; {closing['reports']} reports came unasked",
            ),
            (
                "verified",
                f"{closing['verified']}: {kinds['response']} responses, {kinds['report']} reports ({bits})",
            ),
            ("refused", f"{closing['refused']}: {refused}" if refused else "0"),
        ]
        for attempt in closing["intruder"]:
            out.append((f"  intruder's {attempt['what']}", attempt["verdict_name"]))
    energy = closing["energy"]
    most_j = max(abs(energy[key]) for key in ("in_j", "out_j", "lost_j", "stored_delta_j"))

    def joules(value: float) -> str:
        return show(value, "J", like=most_j)

    out.append(("energy in", joules(energy["in_j"])))
    if "low_light" in closing:
        out.append(("  uncertain at low light", harvest.low_light_text(closing["low_light"])))
    out += _at_ends(closing)
    out.append(("energy out", joules(energy["out_j"])))
    out += [
        (f"  {name}", joules(j)) for name, j in sorted(energy["by_component_j"].items(), key=lambda kv: -kv[1]) if j > 0
    ]
    out += [("  never used", sentence) for sentence in closing.get("untouched", [])]
    out += _by_function(closing.get("functions", []))
    if not closing.get("residual_known", True):
        out.append(("  not counted", f"the residual current of {closing['board']}: nobody's measurement is known here"))
    out += [("  not counted", sentence) for sentence in closing.get("remarks", [])]
    out.append(("energy lost", joules(energy["lost_j"])))
    out += [(f"  {name}", joules(j)) for name, j in sorted(energy["lost_by_j"].items(), key=lambda kv: -kv[1]) if j > 0]
    out += [
        ("change of the store", joules(energy["stored_delta_j"])),
        ("balance", f"{closing['energy_balance_rel']:.1e} of the energy moved"),
        ("starts, brown-outs", f"{closing['starts']}, {closing['brown_outs']}"),
        *([("first cut", f"after {_long(closing['first_cut_s'])}")] if "first_cut_s" in closing else []),
        *_repeated(closing.get("repeated")),
        *([("supervisor resets", f"{closing['supervisor_resets']:,}")] if closing["supervisor_resets"] else []),
        *_of_load(closing.get("load")),
        *of_coupons(closing.get("coupons")),
        ("CPU cycles", f"{closing['cycles']:,}"),
        ("simulated time", duration(closing["simulated_s"])),
    ]
    if "simulated_over_wall" in closing:
        out.append(
            (
                "simulated over wall time",
                f"{closing['simulated_over_wall']:,.0f} ({closing['played_wall_s']:.1f} s for the day, "
                f"{closing['wall_s']:.1f} s in all)",
            )
        )
    return out


def _at_ends(closing: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say the day's verdict, and whether it is the same at both ends of what is open of the panel."""
    if "ends" not in closing:
        return []

    def verdict(day: Mapping[str, Any]) -> str:
        outs = int(day["brown_outs"])
        return f"{day['answered']} of {day['asked']} answered, {outs} brown-out{'' if outs == 1 else 's'}"

    said, days = verdict(closing), closing["ends"]
    same = all(verdict(day) == said for day in days)
    told = [("verdict", f"{said}; {'the same at both ends of the light' if same else 'NOT the same at both ends'}")]
    for day in days:
        more = f"{day['verified']} verified, {show(day['in_j'], 'J')} in"
        told.append((f"  by the {day['reading']} reading", f"{verdict(day)}; {more}"))
    return told


def _repeated(told: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say which part of a run was extrapolated."""
    if told is None:
        return []
    cycles = f"{told['cycles']:,} cycles of load or of starts and cuts"
    return [
        ("  extrapolated", f"{cycles}, {_long(told['time_s'])} in all, each like those played before and behind it")
    ]


def _long(seconds: float) -> str:
    """Write a time that may be years."""
    return f"{seconds / YEAR_S:.3g} years" if seconds >= YEAR_S else duration(seconds)


def of_coupons(told: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say what became of a node's coupons; energies are at the rail, and lie in the load's."""
    if told is None:
        return []
    return [
        ("coupons produced", f"{told['produced']:,} for {show(told['produced_j'], 'J')}"),
        ("  used", f"{told['used']:,} signatures for {show(told['used_j'], 'J')}"),
        ("  no coupon left", f"{told['fallbacks']:,} signatures computed whole for {show(told['fallback_j'], 'J')}"),
        ("  discarded", f"{told['discarded']:,}, {show(told['discarded_j'], 'J')} lost with them"),
        ("  interrupted", f"{told['interrupted']:,} begun and not kept, {show(told['interrupted_j'], 'J')}"),
        (
            "  in the store",
            f"{told['in_store_begin']:,} at the beginning, {told['in_store_end']:,} at the end; "
            f"{show(told['open_j'], 'J')} to find them at starts",
        ),
    ]


def _of_load(load: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say what a load by profile met."""
    if load is None:
        return []
    safe = load["v_safe_v"]
    return [
        ("rounds of the load", f"{load['rounds']:,}, and {load['rounds_cut']:,} that were cut off"),
        ("lowest terminal", f"{load['terminal_min_v']:.4g} V"),
        (
            "V_safe",
            "none: a full store does not carry one round"
            if safe is None
            else f"{safe:.4f} V at rest carry one round without light",
        ),
    ]


FUNCTIONS = 12
"""So many functions have a row of their own."""


def _by_function(functions: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Say what each function took while it ran itself, the most first, and which component took it."""
    if not functions:
        return []
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for row in functions:
        parts.setdefault(row["function"], []).append(row)
    joules = {name: sum(row["energy_j"] for row in rows) for name, rows in parts.items()}
    most = sorted(joules, key=lambda name: -joules[name])
    total_j = sum(joules.values())
    out = [("energy by function", show(total_j, "J"))]
    for name in most[:FUNCTIONS]:
        first = parts[name][0]
        by = ", ".join(f"{row['component']} {show(row['energy_j'], 'J', 3, total_j)}" for row in parts[name][:3])
        out.append((f"  {name}", f"{show(joules[name], 'J', like=total_j)} in {show(first['time_s'], 's')}: {by}"))
    rest = most[FUNCTIONS:]
    if rest:
        out.append((f"  and {len(rest)} more", show(sum(joules[name] for name in rest), "J", like=total_j)))
    return out


def closing_table(closing: Mapping[str, Any]) -> Table:
    """Lay the closing figures out for a terminal."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in rows(closing):
        table.add_row(name, value, style="dim" if name.startswith("  ") else None)
    return table
