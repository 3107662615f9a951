# SPDX-License-Identifier: MIT OR Apache-2.0
"""Thousands of nodes over years: what the firmware costs is measured once, then supplies are played against light.

A fleet is a TOML file: a scenario (board, program, store), a climate, and how the nodes differ. It is played in
pieces; each piece's results are one Parquet file, so that a run which is cut off goes on where it was.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sunseal import _engine
from sunseal.answers import writing
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, citing, places
from sunseal.errors import Stopped, SunsealError, unknown
from sunseal.harvest import light as harvest
from sunseal.loop import simulation
from sunseal.loop.cluster import connected
from sunseal.measurement import measuring

if TYPE_CHECKING:
    import pandas as pd

DAY_S = 86_400.0
PIECE = 64
"""Nodes of one piece: a second or two of work for a year."""
MEASURED_S = 1800.0
"""Time for which the closed loop plays to measure a profile."""

Heard = Callable[[int, int], None]
"""Nodes done, of all."""
Trace = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Task:
    """Something a node does again and again; energies at the regulated output."""

    name: str
    period_s: float
    energy_j: float
    time_s: float
    gate_j: float
    """Energy that the store must hold above the cut-off before the node begins (Mane 2014, equation 6.1)."""
    deadline_s: float | None = None
    """Up to when it must be done after it fell due to be done in time; None: until it falls due again."""


@dataclass(frozen=True)
class Work:
    """Something that a node does in one go; energy at the regulated output."""

    energy_j: float
    time_s: float
    gate_j: float


@dataclass(frozen=True)
class Coupons:
    """Part of a task that is done ahead and kept, and when (`sunseal_node::CouponProfile`)."""

    slots: int
    make: Work
    from_coupon: Work
    every_s: float = 10.0
    refill_above_v: float | None = None
    """From where on the store has a surplus; None: as a node's program without `[node.coupons]`."""
    ready: int = 0
    """Number of coupons at the beginning."""
    task: int = 0


@dataclass(frozen=True)
class NodeProfile:
    """A node as its firmware was measured."""

    sleep_w: float
    start_j: float
    start_s: float
    poll_s: float
    tasks: tuple[Task, ...]
    coupons: Coupons | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the engine's shape."""
        return {**asdict(self), "tasks": [asdict(t) for t in self.tasks]}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> NodeProfile:
        """Read the shape that `to_dict` returns."""
        coupons = told.get("coupons")
        if coupons is not None:
            works = {key: Work(**coupons[key]) for key in ("make", "from_coupon")}
            coupons = Coupons(**{**coupons, **works})
        return cls(**{**told, "tasks": tuple(Task(**t) for t in told["tasks"]), "coupons": coupons})


# --- The profile of a node's program ---------------------------------------------------------


def profile_of(scenario: _engine.Scenario) -> NodeProfile:
    """Measure what a scenario's node costs asleep, at a start and in each period, by the closed loop.

    The node's own program runs against the real server and gateway in plenty of light: with its period for
    `MEASURED_S` and for twice that, and with half its period. Three runs, three unknowns: start, sleep, round. The
    result is kept beside the other profiles.
    """
    told = simulation.facts(scenario)
    if not (told.get("node") or {}).get("node_id"):
        raise SunsealError(
            f"`{told['name']}` gives no node.node_id: a profile is measured of the node's own program, enrolled",
            hint="or give the profile itself: [profile] with sleep_w, start_j, start_s, poll_s and [[profile.task]]",
        )
    firmware = Path(told["firmware"])
    try:
        image = firmware.read_bytes()
    except OSError as e:
        raise SunsealError(f"the program `{firmware}` cannot be read: {e.strerror or e}") from e
    key = hashlib.sha256(measuring.engine_id() + image + _data_id())
    key.update(
        json.dumps(
            {k: told.get(k) for k in ("board", "radio", "power", "supply", "node", "seed")}, sort_keys=True
        ).encode()
    )
    path = boards.cache_dir() / "profiles" / f"node-{key.hexdigest()}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        return NodeProfile.from_dict(json.loads(path.read_text(encoding="utf-8")))
    found = _measured(told, image)
    with suppress(OSError):
        writing.write_atomic(path, json.dumps(found.to_dict(), indent=1))
    return found


def _data_id() -> bytes:
    """Tell one state of the device, part and power files from another."""
    seen = hashlib.sha256()
    own = [boards.library().find(room, name) for room in boards.ROOMS for name in boards.names(room)]
    for path in own:
        if path is not None:
            seen.update(path.name.encode() + path.read_bytes())
    return seen.digest()


def _measured(told: dict[str, Any], image: bytes) -> NodeProfile:
    from sunseal.loop.services import Services

    own = told["supply"]
    if not (own.get("harvester") or own.get("charger") or "supply" in boards.board(str(told["board"]))):
        raise SunsealError(
            f"`{told['name']}`: {told['board']} has no harvester, and a fleet lives on light",
            hint="name a harvester or charger, a capacitor and a panel in the scenario's [supply]; "
            f"`sunseal lifetime --board {told['board']}` says how long a battery lasts",
        )
    config = _config(told, image)
    period_s = float(config["period_s"])
    span_s = max(MEASURED_S, 8 * period_s)
    runs = []
    for duration_s, every_s in ((span_s, period_s), (2 * span_s, period_s), (span_s, period_s / 2)):
        scenario = json.loads(json.dumps(told))
        scenario["node"]["period_s"] = max(1, round(every_s))
        scenario["start_s"] = 0.0
        scenario["duration_s"] = duration_s
        scenario["harvest"] = {"constant_w": 1.0}
        scenario["supply"]["initial_v"] = None
        scenario["faults"] = {}
        with tempfile.TemporaryDirectory(prefix="sunseal-") as scratch, Services(Path(scratch), told["seed"]) as served:
            opened = {"node_id": told["node"]["node_id"], "name": "profile", "period_us": int(every_s * 1e6)}
            served.call("POST", "/v1/nodes", opened, time_us=0)
            record = simulation.play(
                _engine.Scenario.from_json(json.dumps(scenario)).answered_by(served.gateway)
            ).record
        rounds = rounds_of(record)
        load = record["energy"]["supply"]["load_j"]
        asleep_s = sum(i["time_s"] for i in record["energy"]["load"]["items"] if _asleep(i))
        runs.append((1.0, duration_s, float(rounds), load, duration_s - asleep_s))
    table = np.array(runs)
    if np.linalg.matrix_rank(table[:, :3]) < 3:
        raise SunsealError(
            f"`{told['name']}` did {table[:, 2].astype(int).tolist()} rounds in its three measuring runs; it "
            "needs more of them with half the period"
        )
    start_j, sleep_w, round_j = np.linalg.solve(table[:, :3], table[:, 3])
    start_s, _, round_s = np.linalg.solve(table[:, :3], table[:, 4])
    margin = config["margin_percent"] / 100
    gate_j = (config["overhead_uj"] + margin * (config["sign_uj"] + config["radio_uj"])) * 1e-6
    return NodeProfile(
        sleep_w=float(sleep_w),
        start_j=float(max(start_j, 0.0)),
        start_s=float(max(start_s, 1e-3)),
        poll_s=float(config["poll_s"]),
        tasks=(Task("round", period_s, float(round_j), float(max(round_s, 1e-6)), gate_j),),
    )


def rounds_of(record: Mapping[str, Any]) -> int:
    """Count the periods in which a node did its work: a REPORT, or a HELLO with what came of it; its first HELLO
    says that it has booted."""
    sent = record["messages"]["sent"]
    return max(int(sent.get("REPORT", 0)) + int(sent.get("HELLO", 0)) - 1, 0)


def _asleep(item: Mapping[str, Any]) -> bool:
    return item["component"] == "cpu" and item["kind"] == "state" and not item["name"].startswith("active")


def _config(told: Mapping[str, Any], image: bytes) -> dict[str, float]:
    """Read the node's settings: the scenario's over those in the program (docs/reference/node.md, node_config)."""
    at = measuring.file_offset(image, "node_config")
    offsets = {
        "period_s": (24, 4),
        "margin_percent": (34, 2),
        "overhead_uj": (36, 4),
        "sign_uj": (44, 4),
        "radio_uj": (48, 4),
        "poll_s": (52, 2),
    }
    own = {k: int.from_bytes(image[at + o : at + o + n], "little") for k, (o, n) in offsets.items()}
    wished = {k: v for k, v in told["node"].items() if k in own and v is not None}
    return {**own, **wished}


# --- The fleet -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """Distribution of a quantity over the nodes: `fixed`, `uniform` between two, `normal` (mean, deviation),
    `choice`."""

    kind: str
    values: tuple[float, ...]

    @classmethod
    def read(cls, told: Any, key: str) -> Spread:
        """Read `0.5`, `{uniform = [0.2, 1]}`, `{normal = [1, 0.1]}` or `{choice = [1, 2]}`."""
        if isinstance(told, int | float) and not isinstance(told, bool):
            return cls("fixed", (float(told),))
        shapes = "a number, {uniform = [low, high]}, {normal = [mean, deviation]} or {choice = [...]}"
        if not isinstance(told, dict) or len(told) != 1:
            raise SunsealError(f"{key} is {told!r}; it must be {shapes}")
        ((kind, values),) = told.items()
        sizes = {"uniform": 2, "normal": 2, "choice": None}
        good = isinstance(values, list) and all(isinstance(v, int | float) and math.isfinite(v) for v in values)
        if kind not in sizes or not good or not values or sizes[kind] not in (None, len(values)):
            raise SunsealError(f"{key} is {told!r}; it must be {shapes}")
        if kind == "uniform" and values[0] > values[1]:
            raise SunsealError(f"{key}: uniform from {values[0]} to {values[1]} runs backwards")
        return cls(kind, tuple(float(v) for v in values))

    def draw(self, random: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Draw `count` values, a node each."""
        a = self.values
        if self.kind == "uniform":
            return random.uniform(a[0], a[1], count)
        if self.kind == "normal":
            return random.normal(a[0], a[1], count)
        return random.choice(np.array(a), count)


KEYS = {"name", "scenario", "nodes", "days", "seed", "climate", "spread", "profile"}
CLIMATE = {"weather", "tilt_deg", "azimuth_deg", "shading", "panel", "trace", "constant_w"}
LIMITS = {
    "tilt_deg": (0.0, 90.0, "from 0 to 90"),
    "azimuth_deg": (0.0, 360.0, "from 0 to 360"),
    "shading": (math.ulp(0.0), 1.0, "above 0 to 1"),
    "constant_w": (math.ulp(0.0), math.inf, "above 0"),
}
"""Least and most of the numbers of a climate."""
SPREADS = {"light", "capacitance_f", "period_s", "tilt_deg"}


@dataclass(frozen=True)
class Fleet:
    """A fleet, read and drawn: nothing in it is left to chance any more."""

    name: str
    scenario: _engine.Scenario
    days: int
    profiles: list[NodeProfile]
    nodes: list[dict[str, Any]]
    traces: list[Trace]
    provenance: dict[str, str] = field(default_factory=dict)
    """Origin of the light, as its file tells it."""

    @property
    def id(self) -> str:
        """Tell this fleet, on this engine, from any other."""
        seen = hashlib.sha256(measuring.engine_id() + _data_id() + self.scenario.to_json().encode())
        seen.update(json.dumps([self.days, [p.to_dict() for p in self.profiles], self.nodes]).encode())
        for time_s, power_w in self.traces:
            seen.update(np.array([time_s, power_w]).tobytes())
        return seen.hexdigest()


def load(path: Path, profile: NodeProfile | None = None, seed: int | None = None) -> Fleet:
    """Read a fleet file, measure its profile if it brings none, compute its light, and draw its nodes.

    `seed`, of what the nodes draw, goes before the file's.
    """
    told: dict[str, Any] = boards.read_toml(path)
    for key in told:
        if key not in KEYS:
            raise unknown("key", key, KEYS, f"in `{path}`")
    for key in ("scenario", "nodes"):
        if key not in told:
            raise SunsealError(f"`{path}` lacks `{key}`")
    count, days, drawn = (told.get(k, d) for k, d in (("nodes", 0), ("days", 365), ("seed", 1)))
    seed = drawn if seed is None else seed
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise SunsealError(f"`{path}`: seed is {seed!r}; it must be a whole number, zero or more")
    for key, value in (("nodes", count), ("days", days)):
        if not isinstance(value, int) or value < 1:
            raise SunsealError(f"`{path}`: {key} is {value!r}; it must be a whole number, one or more")
    scenario = simulation.load(path.parent / str(told["scenario"]))
    with places.beside(scenario.folder):
        if profile is None:
            profile = _given_profile(told["profile"], path) if "profile" in told else profile_of(scenario)
        climate = _climate(told.get("climate", {}), path)
        spread = {k: Spread.read(v, f"`{path}`: spread.{k}") for k, v in told.get("spread", {}).items()}
        for key in spread:
            if key not in SPREADS:
                raise unknown("key", key, SPREADS, f"in [spread] of `{path}`")
        if "tilt_deg" in spread and (own := [key for key in ("trace", "constant_w") if key in climate]):
            raise SunsealError(f"`{path}`: spread.tilt_deg stands beside climate.{own[0]}, which no tilt changes")
        name = str(told.get("name", path.stem))
        return _drawn(name, path, scenario, profile, climate, spread, count, days, seed)


def _climate(told: Any, path: Path) -> Mapping[str, Any]:
    """Read what feeds the nodes: one light, and what belongs to it."""
    if not isinstance(told, dict):
        raise SunsealError(f"`{path}`: climate is {told!r}; it must be a table")
    for key, value in told.items():
        if key not in CLIMATE:
            raise unknown("key", key, CLIMATE, f"in [climate] of `{path}`")
        if key not in LIMITS:
            if not isinstance(value, str):
                raise SunsealError(f"`{path}`: climate.{key} is {value!r}; it must be a text")
            continue
        least, most, words = LIMITS[key]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not least <= value <= most or not math.isfinite(value):
            raise SunsealError(f"`{path}`: climate.{key} is {value!r}; it must be a number {words}")
    own = [key for key in ("trace", "constant_w") if key in told]
    for key in told:
        if own and key != own[0]:
            raise SunsealError(f"`{path}`: climate.{key} stands beside `{own[0]}`, the panel's own power")
    return told


def _given_profile(told: Mapping[str, Any], path: Path) -> NodeProfile:
    try:
        given = {**told, "tasks": told.get("task", [])}
        given.pop("task", None)
        return NodeProfile.from_dict(given)
    except TypeError as e:
        raise SunsealError(f"`{path}`: [profile] is not whole: {e}") from e


def _drawn(
    name: str,
    path: Path,
    scenario: _engine.Scenario,
    profile: NodeProfile,
    climate: Mapping[str, Any],
    spread: Mapping[str, Spread],
    count: int,
    days: int,
    seed: int,
) -> Fleet:
    random = np.random.default_rng(seed)
    # In one order, whatever stands in the file, so that a quantity more does not change the others.
    drawn = {
        key: spread[key].draw(np.random.default_rng([seed, i]), count)
        for i, key in enumerate(sorted(SPREADS))
        if key in spread
    }
    for key, values in drawn.items():
        if key != "tilt_deg" and not (values > 0).all():
            raise SunsealError(f"`{path}`: spread.{key} gives {values.min():g}; it must stay above zero")
    if "tilt_deg" in spread and spread["tilt_deg"].kind != "choice":
        raise SunsealError(f"`{path}`: spread.tilt_deg must be a choice: each tilt is a year of weather of its own")
    tilts = sorted(set(drawn["tilt_deg"].tolist())) if "tilt_deg" in drawn else [float(climate.get("tilt_deg", 36.0))]
    lights = [_trace(scenario, {**climate, "tilt_deg": tilt}, path) for tilt in tilts]
    traces = [trace for trace, _ in lights]
    periods = (
        sorted(set(drawn["period_s"].tolist()))
        if "period_s" in drawn
        else [profile.tasks[0].period_s if profile.tasks else 0.0]
    )
    if len(periods) > 1000:
        raise SunsealError(f"`{path}`: spread.period_s gives {len(periods)} periods; take a choice")
    profiles = [every(profile, p) for p in periods] if "period_s" in drawn else [profile]
    longest_s = max((t.period_s for p in profiles for t in p.tasks), default=0.0)
    phases = random.uniform(0.0, 1.0, count) * longest_s
    nodes = []
    for i in range(count):
        nodes.append(
            {
                "profile": periods.index(drawn["period_s"][i]) if "period_s" in drawn else 0,
                "trace": tilts.index(drawn["tilt_deg"][i]) if "tilt_deg" in drawn else 0,
                "light_scale": float(drawn["light"][i]) if "light" in drawn else 1.0,
                "phase_s": float(phases[i]),
                "capacitance_f": float(drawn["capacitance_f"][i]) if "capacitance_f" in drawn else None,
            }
        )
    return Fleet(name, scenario, days, profiles, nodes, traces, lights[0][1])


def every(profile: NodeProfile, period_s: float) -> NodeProfile:
    """Change the first task's period, and the others' in proportion."""
    scale = period_s / profile.tasks[0].period_s
    tasks = tuple(replace(t, period_s=t.period_s * scale) for t in profile.tasks)
    return replace(profile, tasks=tasks)


def _trace(scenario: _engine.Scenario, climate: Mapping[str, Any], path: Path) -> tuple[Trace, dict[str, str]]:
    """Return the light, and where it is from."""
    if "constant_w" in climate:
        power_w = float(climate["constant_w"])
        return ([0.0, DAY_S], [power_w] * 2), {"constant": f"{power_w:g} W, as the fleet file says"}
    if "trace" in climate:
        return trace_file(path.parent / str(climate["trace"])), {"trace": str(climate["trace"])}
    light = sunlight(simulation.facts(scenario)["board"], climate)
    return (light.time_s.tolist(), light.power_w.tolist()), light.provenance


def sunlit(board: str, climate: Mapping[str, Any]) -> Trace:
    """Return `sunlight` as the engine takes it."""
    light = sunlight(board, climate)
    return light.time_s.tolist(), light.power_w.tolist()


def sunlight(board: str, climate: Mapping[str, Any]) -> harvest.Trace:
    """Compute a typical year of a board's panel, by the hour; `climate` as in a fleet file."""
    facts: Any = boards.board(board)
    panel = climate.get("panel") or facts.get("supply", {}).get("panel")
    if panel is None:
        raise SunsealError(f"{board} has no panel, so no sun feeds it; name one with `panel`")
    return harvest.sunlight(
        "01-01",
        days=365,
        step_s=3600.0,
        panel=harvest.Panel.load(str(panel)),
        tilt_deg=float(climate.get("tilt_deg", 36.0)),
        azimuth_deg=float(climate.get("azimuth_deg", 180.0)),
        weather=str(climate.get("weather", harvest.DEFAULT_WEATHER)),
        shading=float(climate.get("shading", 1.0)),
    )


def trace_file(path: Path) -> Trace:
    """Read `time_s,power_w` lines; the engine says what else is wrong with them."""
    try:
        table = np.loadtxt(path, delimiter=",", comments="#", dtype=str, ndmin=2, encoding="utf-8-sig")
        if table[0].tolist() != ["time_s", "power_w"]:
            raise SunsealError(f"`{path}` has the head `{','.join(table[0])}`; a fleet's trace has `time_s,power_w`")
        numbers = table[1:].astype(float)
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be read: {e.strerror or e}") from e
    except (ValueError, IndexError) as e:
        raise SunsealError(f"`{path}` is no table of numbers under `time_s,power_w`: {e}") from e
    return numbers[:, 0].tolist(), numbers[:, 1].tolist()


# --- Playing it ------------------------------------------------------------------------------


def play(
    fleet: Fleet, which: slice = slice(None), heard: Callable[[int], object] | None = None
) -> list[dict[str, Any]]:
    """Play some of a fleet's nodes and return their fates, in order."""
    with places.beside(fleet.scenario.folder):
        return _play(fleet, which, heard)


def _play(fleet: Fleet, which: slice, heard: Callable[[int], object] | None) -> list[dict[str, Any]]:
    plan = {
        "duration_s": fleet.days * DAY_S,
        "profiles": [p.to_dict() for p in fleet.profiles],
        "nodes": fleet.nodes[which],
    }
    fates: list[dict[str, Any]] = json.loads(
        _engine.fleet(boards.library(), fleet.scenario, json.dumps(plan), fleet.traces, heard)
    )
    return fates


def play_one(
    profile: NodeProfile,
    trace: Trace,
    days: float,
    *,
    board: str = boards.DEFAULT_BOARD,
    vcc_v: float | None = None,
    supply: Mapping[str, Any] | None = None,
    light: float = 1.0,
    capacitance_f: float | None = None,
) -> dict[str, Any]:
    """Play one node of a profile and return its fate; `supply` is the table of a scenario, else the board's own.

    Of the board a supply knows only the chip's brown-out.
    """
    scenario: dict[str, Any] = {"name": "one node", "board": board, "firmware": "none", "duration_s": 1.0}
    if vcc_v is not None:
        scenario["power"] = {"vcc_v": vcc_v}
    if supply is not None:
        scenario["supply"] = dict(supply)
    node = {"profile": 0, "trace": 0, "light_scale": light, "phase_s": 0.0, "capacitance_f": capacitance_f}
    plan = {"duration_s": days * DAY_S, "profiles": [profile.to_dict()], "nodes": [node]}
    parsed = _engine.Scenario.from_json(json.dumps(scenario))
    fate: dict[str, Any]
    (fate,) = json.loads(_engine.fleet(boards.library(), parsed, json.dumps(plan), [trace], None))
    return fate


def frame(fleet: Fleet, fates: Sequence[Mapping[str, Any]], first: int = 0) -> pd.DataFrame:
    """Return one row a node, SI base units, unit last; `first` is the number of the first of them."""
    import pandas as pd

    names = [t.name for t in fleet.profiles[0].tasks]
    rows = []
    for i, fate in enumerate(fates):
        node = fleet.nodes[first + i]
        row: dict[str, Any] = {"node": first + i, "phase_s": node["phase_s"], "light": node["light_scale"]}
        row["capacitance_f"] = math.nan if node["capacitance_f"] is None else node["capacitance_f"]
        row["period_s"] = fleet.profiles[node["profile"]].tasks[0].period_s if names else math.nan
        for name, task in zip(names, fate["tasks"], strict=True):
            row |= {f"{name}_{k}": task[k] for k in ("due", "done", "lost")}
        row |= {k: v for k, v in fate.items() if k not in ("tasks", "sums")}
        row["survived_share"] = fate["days_survived"] / fate["days"] if fate["days"] else math.nan
        row |= fate["sums"]
        rows.append(row)
    return pd.DataFrame(rows)


def run(
    fleet: Fleet, folder: Path, *, jobs: int | None = None, dask: str | None = None, heard: Heard | None = None
) -> pd.DataFrame:
    """Play a fleet into `folder`, a Parquet file for each piece; what is there already is not played again.

    With `dask`, the pieces go to the scheduler at that address (`pip install sunseal[fleet]`); its workers need this
    package. Ctrl-C leaves the finished pieces.
    """
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    _claim(fleet, folder)
    pieces = [slice(at, min(at + PIECE, len(fleet.nodes))) for at in range(0, len(fleet.nodes), PIECE)]
    paths = {p.start: folder / f"part-{p.start // PIECE:05}.parquet" for p in pieces}
    missing = [p for p in pieces if not paths[p.start].is_file()]
    done = len(fleet.nodes) - sum(p.stop - p.start for p in missing)
    if heard is not None:
        heard(done, len(fleet.nodes))
    try:
        for piece, fates in _played(fleet, missing, jobs, dask):
            _write(frame(fleet, fates, piece.start), paths[piece.start])
            done += piece.stop - piece.start
            if heard is not None:
                heard(done, len(fleet.nodes))
    except KeyboardInterrupt as e:
        raise Stopped(
            f"{done} of {len(fleet.nodes)} nodes are in `{folder}`; the same command goes on from there"
        ) from e
    return pd.concat([pd.read_parquet(paths[p.start]) for p in pieces], ignore_index=True)


def _claim(fleet: Fleet, folder: Path) -> None:
    """Refuse a folder that holds pieces of another fleet, of another engine, or of other data."""
    mark = folder / "fleet.json"
    if mark.is_file():
        try:
            known = json.loads(mark.read_text(encoding="utf-8")).get("id")
        except (OSError, ValueError, AttributeError) as e:
            raise SunsealError(f"`{mark}` cannot be read, so what lies beside it cannot be trusted: {e}") from e
        if known != fleet.id:
            raise SunsealError(
                f"`{folder}` holds another fleet, or one of another build: its pieces are not those of `{fleet.name}`",
                hint="take another --out, or remove the folder",
            )
        return
    if any(folder.glob("part-*.parquet")):
        raise SunsealError(
            f"`{folder}` holds pieces of a fleet and no fleet.json that says of which; take another --out"
        )
    told = {
        "id": fleet.id,
        "name": fleet.name,
        "nodes": len(fleet.nodes),
        "days": fleet.days,
        "profiles": [p.to_dict() for p in fleet.profiles],
        "engine": _engine.VERSION,
    }
    writing.write_atomic(mark, json.dumps(told, indent=1) + "\n")


def _write(rows: pd.DataFrame, path: Path) -> None:
    """Write a piece so that nobody ever sees half of it."""
    piece = io.BytesIO()
    rows.to_parquet(piece, index=False)
    try:
        writing.write_atomic(path, piece.getvalue())
    except OSError as e:
        raise SunsealError(
            f"`{path}` cannot be written: {e.strerror or e}", hint="make room; the same command goes on"
        ) from e


def _played(
    fleet: Fleet, pieces: Sequence[slice], jobs: int | None, dask: str | None
) -> Iterator[tuple[slice, list[dict[str, Any]]]]:
    """Yield the pieces as they are done; the engine lets go of the interpreter, so threads are enough."""
    if dask is not None:
        yield from _on_dask(fleet, pieces, dask)
        return
    stop = False

    def heard(_: int) -> None:
        if stop:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        waiting: dict[Future[list[dict[str, Any]]], slice] = {pool.submit(play, fleet, p, heard): p for p in pieces}
        try:
            while waiting:
                ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield waiting.pop(future), future.result()
        finally:
            stop = True
            for future in waiting:
                future.cancel()


def _on_dask(fleet: Fleet, pieces: Sequence[slice], address: str) -> Iterator[tuple[slice, list[dict[str, Any]]]]:
    with connected(address) as (dask, client):
        # A scenario is an object of the engine; its JSON travels.
        shared = client.scatter(
            (
                fleet.scenario.to_json(),
                fleet.days,
                [p.to_dict() for p in fleet.profiles],
                fleet.traces,
                fleet.scenario.folder,
            ),
            broadcast=True,
        )
        futures = {client.submit(_piece, shared, fleet.nodes[p], pure=False): p for p in pieces}
        for future in dask.as_completed(list(futures)):
            yield futures[future], future.result()


def _piece(shared: Any, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Play a piece on a worker."""
    scenario, days, profiles, traces, folder = shared
    profiles = [NodeProfile.from_dict(p) for p in profiles]
    with places.beside(folder):
        return play(Fleet("piece", _engine.Scenario.from_json(scenario), days, profiles, nodes, traces))


def summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what `--json` prints: shares and quantiles over the fleet."""
    share = rows.survived_share
    due = rows.filter(regex="_due$").sum(axis=1).sum()
    done = rows.filter(regex="_done$").sum(axis=1).sum()
    return {
        "nodes": len(rows),
        "node_days": int(rows.days.sum()),
        "survived_share": {f"p{q}": float(share.quantile(q / 100)) for q in (5, 50, 95)},
        "nodes_never_down": int((rows.days_survived == rows.days).sum()),
        "brown_outs": int(rows.brown_outs.sum()),
        "done_share": float(done / due) if due else None,
        "curtailed_share": float(rows.curtailed_j.sum() / rows.panel_j.sum()) if rows.panel_j.sum() > 0 else None,
        "energy_balance_rel_max": float(rows.balance_rel.abs().max()),
    }


@dataclass(frozen=True)
class FleetRun(Shown):
    """A fleet that was played: a row a node."""

    fleet: Fleet
    rows: pd.DataFrame
    """One row a node, SI base units, unit last."""

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        return self.rows

    def summary(self) -> dict[str, Any]:
        """Return shares and quantiles over the fleet: what `sunseal fleet --json` prints."""
        low_light = self.fleet.provenance.get("low_light")
        return {**summary(self.rows), **({"low_light": low_light} if low_light else {})}

    def cite(self) -> citing.Citations:
        """Return the documents behind board, parts, coefficients and light."""
        told = simulation.facts(self.fleet.scenario)
        return citing.of_scenario(told) + citing.of(climate=self.fleet.provenance)
