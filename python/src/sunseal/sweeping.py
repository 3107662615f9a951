# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal.sweep`: a scenario or a plan at many points, into one table.

A journal beside the table (`x.parquet.points`: JSON, the spec and then a line a point) holds every point that is done,
so that the same call goes on with it. A point that could not be run is a row with the sentence in column `error`.
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
from typing import IO, TYPE_CHECKING, Any

from sunseal import _engine, boards, keypaths, places, sampling, sweep_figures
from sunseal.errors import SunsealError, unknown
from sunseal.measurement import measuring
from sunseal.sampling import Point, Sampler
from sunseal.sweep_figures import Row

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Heard = Callable[[int, int], None]
ENDINGS = (".parquet", ".csv")
TABLE_EVERY_S = 60.0
"""So often the table is written while points come, by the clock on the wall."""


@dataclass(frozen=True)
class Sweep:
    """What is to be run."""

    tables: dict[str, Any]
    """As they stand in the file."""
    kind: str
    folder: Path | None
    points: list[Point]
    spec: dict[str, Any]
    """What makes it this sweep and no other; JSON."""


def prepare(
    given: str | Path | Mapping[str, Any],
    over: Mapping[str, Any],
    sampler: str | Sampler,
    samples: int | None,
    seed: int,
) -> Sweep:
    """Read and check everything that can be before a point is run."""
    tables, folder, where = keypaths.read(given)
    kind = keypaths.kind_of(tables, where)
    if not over and not callable(sampler):
        raise SunsealError("nothing is swept: `over` names no key")
    if callable(sampler):
        points = sampling.own(sampler, over, samples, seed, kind)
        told_over: dict[str, Any] = {}
    else:
        axes = [sampling.axis(path, told, kind) for path, told in over.items()]
        points = sampling.points(axes, sampler, samples, seed)
        told_over = {a.path: list(a.values) or [*(a.ends or ()), *(["log"] * a.log)] for a in axes}
    spec = {
        "file": tables,
        "over": told_over,
        "sampler": getattr(sampler, "__qualname__", sampler),
        "samples": samples,
        "seed": seed,
        "points": hashlib.sha256(json.dumps(points, sort_keys=True).encode()).hexdigest(),
        "files": _digests(tables, points, kind, folder),
        "engine": _engine.VERSION,
    }
    return Sweep(tables, kind, folder, points, json.loads(json.dumps(spec, default=str)))


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
    with places.beside(folder):
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

        return sweep_figures.of_planned(plan.plan(plan_requirements.read(tables, folder=sweep.folder), best=1))
    from sunseal.loop import simulation

    def watch(_time_s: float, _vcap_v: float, _brown_outs: int, _sent: int) -> None:
        if stopped():
            raise KeyboardInterrupt

    told = keypaths.from_folder(tables, "scenario", sweep.folder)
    return sweep_figures.of_played(simulation.play_tables(told, sweep.folder, watch))


# --- What is done is kept --------------------------------------------------------------------


class Journal:
    """The points that are done, in memory and, where the sweep has a file, beside it."""

    def __init__(self, sweep: Sweep, out: Path | None) -> None:
        """Read what an earlier call of the same sweep has left."""
        self.rows: dict[int, Row] = {}
        self.path = None if out is None else out.with_name(f"{out.name}.points")
        self._file: IO[str] | None = None
        if self.path is None or out is None:
            return
        if self.path.is_file():
            self._read(sweep)
        elif out.exists():
            raise SunsealError(
                f"`{out}` is there, and `{self.path}`, which says of what sweep, is not",
                hint="name another file, or move that one away",
            )
        else:
            measuring.write_atomic(self.path, json.dumps(sweep.spec) + "\n")
        self._file = self.path.open("a", encoding="utf-8")

    def _read(self, sweep: Sweep) -> None:
        assert self.path is not None
        text = self.path.read_text(encoding="utf-8")
        head, *lines = text.splitlines(keepends=True) or [""]
        try:
            spec = json.loads(head)
        except ValueError:
            spec = None
        if not isinstance(spec, dict):
            raise SunsealError(f"`{self.path}` is no journal of a sweep", hint="name another file, or move it away")
        if differs := difference(spec, sweep.spec):
            raise SunsealError(
                f"`{self.path}` keeps another sweep: {differs}",
                hint="name another file for this one, or remove both files of that one",
            )
        good = len(head)
        for line in lines:
            if not line.endswith("\n"):
                break  # the last one was being written when the process ended
            told = json.loads(line)
            self.rows[int(told["point"])] = told["row"]
            good += len(line)
        if good < len(text):
            measuring.write_atomic(self.path, text[:good])

    def keep(self, index: int, row: Row) -> None:
        """Add a point."""
        self.rows[index] = row
        if self._file is not None:
            try:
                self._file.write(json.dumps({"point": index, "row": row}) + "\n")
                self._file.flush()
            except OSError as e:
                raise SunsealError(
                    f"`{self.path}` cannot be written: {e.strerror or e}", hint="make room; the same call goes on"
                ) from e

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


def difference(was: Any, now: Any, path: str = "") -> str:
    """Say where two specs differ first; an empty text if they do not."""
    if was == now:
        return ""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            if told := difference(was.get(key), now.get(key), f"{path}.{key}" if path else str(key)):
                return told
    if path == "points":
        return "its sampler gave other points"
    if path.startswith("files."):
        return f"`{path.removeprefix('files.')}` has changed since"
    return f"`{path}` was {_short(was)} and is {_short(now)}"


def _short(value: Any) -> str:
    text = json.dumps(value) if value is not None else "absent"
    return text if len(text) <= 60 else f"{text[:57]}..."


def table(sweep: Sweep, rows: Mapping[int, Row]) -> pd.DataFrame:
    """Return the points that are done, in their order: what was set, the figures, `remark` and `error`."""
    import pandas as pd

    done = sorted(rows)
    paths = list(sweep.points[0])
    figures = {name: None for i in done for name in rows[i] if name not in paths and name not in ("remark", "error")}
    columns: dict[str, Any] = {}
    for path in paths:
        columns[path] = _column([sweep.points[i][path] for i in done])
    for name in figures:
        # A message that was never sent was sent no times.
        absent = 0 if name.startswith("messages_") else None
        columns[name] = _column([rows[i].get(name, absent if not rows[i]["error"] else None) for i in done])
    for name in ("remark", "error"):
        columns[name] = [rows[i].get(name, "") for i in done]
    frame = pd.DataFrame(columns, index=pd.Index(done, name="point"))
    frame.attrs["sweep"] = {key: sweep.spec[key] for key in ("over", "sampler", "samples", "seed")}
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
        measuring.write_atomic(out, data)
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


def sweep(
    scenario_or_plan: str | Path | Mapping[str, Any],
    over: Mapping[str, Any],
    *,
    sampler: str | Sampler = "grid",
    samples: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    out: str | Path | None = None,
    heard: Heard | None = None,
) -> pd.DataFrame:
    """Run a scenario, or a plan of requirements, at many points; a row a point, SI units last in the columns' names.

    `over` maps key paths (`supply.capacitance_f`, `task[0].every`) to lists of values, or for a sampler also to ranges
    `(low, high)` and `(low, high, "log")`. `sampler` is `grid`, `sobol`, `halton`, `saltelli` (for `sobol_indices`), or
    a function of `over`, `samples` and a generator. A point that could not be run has the sentence in `error`; a figure
    that a point does not have, as of a part that its board lacks, is missing there.

    `jobs` are threads for a scenario (one a core) and processes for a plan (one unless asked for: the main module of a
    script that asks for more needs its `if __name__ == "__main__"`). With `out`, a .parquet or .csv file, points are
    kept as they come in `out` and ".points" behind it, and the same call goes on. `heard` gets points done, and all.
    """
    path = None if out is None else Path(out)
    if path is not None and path.suffix not in ENDINGS:
        raise SunsealError(f"`{path}` cannot be written: its name must end in {' or '.join(ENDINGS)}")
    if path is not None and path.suffix == ".parquet":
        import_module("pyarrow")  # asked for before anything long
    if jobs is not None and jobs < 1:
        raise SunsealError(f"`jobs` is {jobs}; one or more are needed")
    prepared = prepare(scenario_or_plan, over, sampler, samples, seed)
    workers = jobs or (os.cpu_count() or 1 if prepared.kind == "scenario" else 1)
    journal = Journal(prepared, path)
    todo = [i for i in range(len(prepared.points)) if i not in journal.rows]
    tell = heard or (lambda _done, _of: None)
    written_s = time.monotonic()
    try:
        tell(len(journal.rows), len(prepared.points))
        for index, row in _run(prepared, todo, workers) if todo else ():
            journal.keep(index, row)
            tell(len(journal.rows), len(prepared.points))
            if path is not None and time.monotonic() - written_s > TABLE_EVERY_S:
                _write(table(prepared, journal.rows), path)
                written_s = time.monotonic()
    finally:
        journal.close()
        if path is not None and journal.rows:
            _write(table(prepared, journal.rows), path)
    return table(prepared, journal.rows)


# --- Sensitivity -----------------------------------------------------------------------------

RESAMPLES = 1000
CONFIDENCE = 0.95


def sobol_indices(frame: pd.DataFrame, figure: str, *, seed: int = 1) -> pd.DataFrame:
    """Return first-order and total Sobol indices of a figure over the keys of a sweep with `sampler="saltelli"`.

    Estimators of Saltelli et al. 2010, table 2, (b) and (f); `_low` and `_high` enclose the middle 95 % of 1000
    resamplings. An index of a figure that does not vary is missing.
    """
    import numpy as np
    import pandas as pd

    told = frame.attrs.get("sweep", {})
    if told.get("sampler") != "saltelli":
        raise SunsealError('Sobol indices need the points of a sweep with `sampler="saltelli"`')
    paths, samples = list(told["over"]), int(told["samples"])
    if figure not in frame or not pd.api.types.is_numeric_dtype(frame[figure]):
        numbers = [c for c in frame.columns if pd.api.types.is_numeric_dtype(frame[c]) and c not in paths]
        raise unknown("figure", figure, numbers, "of this sweep")
    values = frame[figure].to_numpy(dtype=float, na_value=np.nan)
    if len(values) != samples * (len(paths) + 2) or not np.isfinite(values).all():
        lost = int((~np.isfinite(values)).sum()) + samples * (len(paths) + 2) - len(values)
        raise SunsealError(
            f"{lost} points of the sweep have no `{figure}`; indices need all {samples * (len(paths) + 2)}"
        )
    # Around their mean: the first-order estimator's spread grows with the square of it.
    f_a, f_b, *mixed = (values - values[: 2 * samples].mean()).reshape(-1, samples)
    draws = np.random.default_rng(seed).integers(0, samples, (RESAMPLES, samples))
    rows = []
    for path, f_ab in zip(paths, mixed, strict=True):
        row: Row = {"key": path}
        for name, of in (("first_order", _first_order), ("total", _total)):
            row[name] = float(of(f_a, f_b, f_ab))
            again = of(f_a[draws], f_b[draws], f_ab[draws])
            ends = np.quantile(again[np.isfinite(again)], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
            row[f"{name}_low"], row[f"{name}_high"] = (float(e) for e in ends)
        rows.append(row)
    return pd.DataFrame(rows).set_index("key")


def _variance(f_a: np.ndarray[Any, Any], f_b: np.ndarray[Any, Any]) -> Any:
    import numpy as np

    return np.concatenate([f_a, f_b], axis=-1).var(axis=-1)


def _first_order(f_a: Any, f_b: Any, f_ab: Any) -> Any:
    return (f_b * (f_ab - f_a)).mean(axis=-1) / _variance(f_a, f_b)


def _total(f_a: Any, f_b: Any, f_ab: Any) -> Any:
    return ((f_a - f_ab) ** 2).mean(axis=-1) / (2 * _variance(f_a, f_b))
