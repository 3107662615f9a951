# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal.sweep`: a scenario or a plan at many points, into one table.

A point that could not be run is a row with the sentence in column `error`; points that are done are kept by a journal.
"""

from __future__ import annotations

import contextvars
import hashlib
import json
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal import _engine, requests
from sunseal.answers import writing
from sunseal.catalog import boards, places
from sunseal.errors import SunsealError
from sunseal.loop.cluster import connected
from sunseal.requests.asking import answers
from sunseal.requests.points import Sampler
from sunseal.schemas import keypaths
from sunseal.sweeps import figures, sampling, searching
from sunseal.sweeps.figures import Row
from sunseal.sweeps.journal import Journal
from sunseal.sweeps.sampling import Point

if TYPE_CHECKING:
    import pandas as pd

Heard = Callable[[int, int], None]
ENDINGS = (".parquet", ".csv")
TABLE_EVERY_S = 60.0
"""So often the table is written while points come, by the clock on the wall."""


@dataclass(frozen=True)
class Sweep:
    """Sweep that is to be run."""

    tables: dict[str, Any]
    """As they stand in the file."""
    kind: str
    folder: Path | None
    points: list[Point]
    spec: dict[str, Any]
    """Specification that makes it this sweep and no other; JSON."""
    count: int = 0
    search: searching.Search | None = None
    """Search from which the next points come; `points` grows by rounds then."""


def prepare(
    given: str | Path | Mapping[str, Any],
    over: Mapping[str, Any],
    sampler: str | Sampler,
    samples: int | None,
    seed: int,
    goal: searching.Goal | None = None,
) -> Sweep:
    """Read and check everything that can be before a point is run."""
    tables, folder, where = keypaths.read(given)
    kind = keypaths.kind_of(tables, where)
    if not over and not callable(sampler):
        raise SunsealError("nothing is swept: `over` names no key")
    search, points = None, []
    told_over: dict[str, Any] = {}
    if callable(sampler):
        points = sampling.own(sampler, over, samples, seed, kind)
        count = len(points)
    else:
        axes = [sampling.axis(path, told, kind) for path, told in over.items()]
        count = sampling.count(axes, sampler, samples)
        if goal is not None:
            search = searching.Search(axes, seed, goal)
        else:
            points = sampling.points(axes, sampler, samples, seed)
        told_over = {a.path: list(a.values) or [*(a.ends or ()), *(["log"] * a.log)] for a in axes}
    spec = {
        "file": tables,
        "over": told_over,
        "sampler": getattr(sampler, "__qualname__", sampler),
        "samples": samples,
        "seed": seed,
        "points": hashlib.sha256(json.dumps(points, sort_keys=True).encode()).hexdigest(),
        "files": _digests(tables, points if search is None else sampling.each(axes), kind, folder),
        "engine": _engine.VERSION,
    }
    if search is not None and goal is not None:
        # Another version may choose other points.
        spec |= {"minimise" if goal.least else "maximise": goal.figure, "optuna": search.version}
    return Sweep(tables, kind, folder, points, json.loads(json.dumps(spec, default=str)), count, search)


def _digests(tables: dict[str, Any], points: Sequence[Point], kind: str, folder: Path | None) -> dict[str, str]:
    """Return the SHA-256 of each file that a point reads: programs, traces, weather, own parts and boards."""
    found: dict[str, str] = {}
    for path in keypaths.PATHS[kind]:
        # A point names a file by its own key, or by a table above it.
        naming = [p for p in points if any(path == key or path.startswith(f"{key}.") for key in p)]
        for name in {keypaths.get(keypaths.changed(tables, p), path) for p in naming or [{}]}:
            file = (folder or Path()) / str(name)
            if isinstance(name, str) and file.is_file():
                found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    with places.beside(folder or Path.cwd()):
        for room in boards.ROOMS:
            for name in boards.names(room):
                path_of = boards.library().find(room, name)
                if path_of is not None and not Path(path_of).is_relative_to(boards.home() / "data"):
                    found[f"{room}/{name}"] = hashlib.sha256(Path(path_of).read_bytes()).hexdigest()
    return dict(sorted(found.items()))


# --- One point -------------------------------------------------------------------------------


def run_point(sweep: Sweep, point: Point, stopped: Callable[[], bool] = lambda: False) -> Row:
    """Return the figures of a point, or `error` with the sentence why there are none."""
    try:
        tables = keypaths.changed(sweep.tables, point)
        return _figures(sweep, tables, stopped) | {"error": ""}
    except (SunsealError, _engine.EngineError) as e:
        hint = getattr(e, "hint", None)
        return {"error": f"{e}; {hint}" if hint else str(e)}


def _figures(sweep: Sweep, tables: dict[str, Any], stopped: Callable[[], bool]) -> Row:
    if sweep.kind == "requirements":
        from sunseal.planner import plan, plan_requirements

        return figures.of_planned(plan.plan(plan_requirements.read(tables, folder=sweep.folder), best=1))
    from sunseal.loop import simulation

    def watch(_time_s: float, _vcap_v: float, _brown_outs: int, _sent: int) -> None:
        if stopped():
            raise KeyboardInterrupt

    told = keypaths.from_folder(tables, "scenario", sweep.folder)
    return figures.of_played(simulation.play_tables(told, sweep.folder, watch))


# --- The table -------------------------------------------------------------------------------


def table(sweep: Sweep, rows: Mapping[int, Row]) -> pd.DataFrame:
    """Return the points that are done, in their order: what was set, the figures, `remark` and `error`."""
    import pandas as pd

    done = [i for i in sorted(rows) if i < len(sweep.points)]
    paths = list(sweep.points[0])
    named = {name: None for i in done for name in rows[i] if name not in paths and name not in ("remark", "error")}
    columns: dict[str, Any] = {}
    for path in paths:
        columns[path] = _column([sweep.points[i][path] for i in done])
    for name in named:
        # A message that was never sent was sent no times.
        absent = 0 if name.startswith("messages_") else None
        columns[name] = _column([rows[i].get(name, absent if not rows[i]["error"] else None) for i in done])
    for name in ("remark", "error"):
        columns[name] = [rows[i].get(name, "") for i in done]
    frame = pd.DataFrame(columns, index=pd.Index(done, name="point"))
    frame.attrs["sweep"] = {key: sweep.spec[key] for key in ("over", "sampler", "samples", "seed")}
    if sweep.search is not None:
        frame.attrs["best"] = sweep.search.goal.best({i: rows[i] for i in done})
    return frame


def _column(values: list[Any]) -> Any:
    """Give a column one type, what is missing as pandas has it; values of several types are text, tables JSON."""
    import pandas as pd

    kinds = {type(v) for v in values if v is not None}
    if None in values and kinds in ({int}, {bool}):
        return pd.array(values, dtype="Int64" if kinds == {int} else "boolean")
    if kinds <= {int, float}:
        return [math.nan if v is None else v for v in values]
    if len(kinds) == 1 and not kinds & {dict, list}:
        return values
    return [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]


def _write(frame: pd.DataFrame, out: Path) -> None:
    data = frame.to_csv().encode() if out.suffix == ".csv" else frame.to_parquet()
    try:
        writing.write_atomic(out, data)
    except OSError as e:
        raise SunsealError(
            f"`{out}` cannot be written: {e.strerror or e}", hint="make room; the same call writes it"
        ) from e


# --- All points ------------------------------------------------------------------------------


def _without_sigint() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(sweep: Sweep, todo: Sequence[int], jobs: int) -> Iterator[tuple[int, Row]]:
    """Yield points as they are done.

    The engine lets go of the interpreter, so that threads play scenarios side by side; a plan is Python, and takes
    processes.
    """
    stop = False
    threads = sweep.kind == "scenario" or jobs == 1
    pool: Executor
    if threads:
        pool = ThreadPoolExecutor(jobs)
    else:
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _without_sigint)

    def start(index: int) -> Future[Row]:
        if threads:
            return pool.submit(contextvars.copy_context().run, run_point, sweep, sweep.points[index], lambda: stop)
        return pool.submit(run_point, alone, sweep.points[index])

    # Only its own point travels to a process.
    alone = Sweep(sweep.tables, sweep.kind, sweep.folder, [], {})
    left = iter(todo)
    waiting: dict[Future[Row], int] = {}
    try:
        for index in left:
            waiting[start(index)] = index
            if len(waiting) < 2 * jobs:
                continue
            ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                yield waiting.pop(future), future.result()
        while waiting:
            ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                yield waiting.pop(future), future.result()
    except BrokenProcessPool as e:
        raise SunsealError(
            "a process that ran a point has ended",
            hint="is there memory for fewer `jobs`? A script that asks for more than one needs its "
            '`if __name__ == "__main__":`; the same call goes on',
        ) from e
    finally:
        stop = True
        # A process cannot be told to stop in the middle of a point; Python 3.14 has a method for this.
        for process in (getattr(pool, "_processes", None) or {}).values() if waiting else ():
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _on_dask(sweep: Sweep, todo: Sequence[int], address: str) -> Iterator[tuple[int, Row]]:
    """Yield points as a cluster's workers are done with them; files are looked for where those are."""
    with connected(address) as (dask, client):
        alone = client.scatter(Sweep(sweep.tables, sweep.kind, sweep.folder, [], {}), broadcast=True)
        futures = {client.submit(run_point, alone, sweep.points[i], pure=False): i for i in todo}
        for future in dask.as_completed(list(futures)):
            yield futures[future], future.result()


def _rounds(prepared: Sweep, rows: Mapping[int, Row]) -> Iterator[range]:
    """Yield which points are next: all of them, or a search's next, which knows what the rounds before came to."""
    if prepared.search is None:
        yield range(prepared.count)
        return
    while (first := len(prepared.points)) < prepared.count:
        prepared.points.extend(prepared.search.ask(min(searching.ROUND, prepared.count - first)))
        asked = range(first, len(prepared.points))
        yield asked
        prepared.search.tell([rows[i] for i in asked])


@answers(requests.Sweep)
def sweep(to: requests.Sweep) -> pd.DataFrame:
    """Run a scenario, or a plan of requirements, at many points; a row a point, SI units last in the columns' names.

    `over` maps key paths (`supply.capacitance_f`, `task[0].every`) to lists of values, or for a sampler also to ranges
    `(low, high)` and `(low, high, "log")`. `sampler` is `grid`, `sobol`, `halton`, `saltelli` (for `sobol_indices`),
    `optuna` (the extra `search`: each round of points is chosen by what the rounds before came to, so that the figure
    named by `minimise` or `maximise` becomes so; `attrs["best"]` is the best point), or a function of `over`, `samples`
    and a generator. A point that could not be run has the sentence in `error`; a figure that a point does not have, as
    of a part that its board lacks, is missing there.

    `jobs` are threads for a scenario (one a core) and processes for a plan (one unless asked for: the main module of a
    script that asks for more needs its `if __name__ == "__main__"`); with `dask`, points go to the scheduler at that
    address, whose workers need this package and the files. With `out`, a .parquet or .csv file, points are
    kept as they come in `out` and ".points" behind it, and the same call goes on. `heard` gets points done, and all.
    """
    path = None if to.out is None else Path(to.out)
    if path is not None and path.suffix not in ENDINGS:
        raise SunsealError(f"`{path}` cannot be written: its name must end in {' or '.join(ENDINGS)}")
    if path is not None and path.suffix == ".parquet":
        import_module("pyarrow")  # asked for before anything long
    if to.jobs is not None and to.jobs < 1:
        raise SunsealError(f"`jobs` is {to.jobs}; one or more are needed")
    goal = searching.Goal.of(to.minimise, to.maximise, to.sampler)
    prepared = prepare(to.scenario_or_plan, to.over, to.sampler, to.samples, to.seed, goal)
    workers = to.jobs or (os.cpu_count() or 1 if prepared.kind == "scenario" else 1)
    journal = Journal(prepared.spec, prepared.count, path)
    tell = to.heard or (lambda _done, _of: None)
    written_s = time.monotonic()
    try:
        tell(len(journal.rows), prepared.count)
        for asked in _rounds(prepared, journal.rows):
            todo = [i for i in asked if i not in journal.rows]
            for index, row in _run_on(prepared, todo, workers, to.dask):
                journal.keep(index, row)
                tell(len(journal.rows), prepared.count)
                if path is not None and time.monotonic() - written_s > TABLE_EVERY_S:
                    _write(table(prepared, journal.rows), path)
                    written_s = time.monotonic()
    finally:
        journal.close()
        if path is not None and prepared.points and journal.rows:
            _write(table(prepared, journal.rows), path)
    return table(prepared, journal.rows)


def _run_on(sweep: Sweep, todo: Sequence[int], jobs: int, dask: str | None) -> Iterator[tuple[int, Row]]:
    if not todo:
        return
    yield from _run(sweep, todo, jobs) if dask is None else _on_dask(sweep, todo, dask)
