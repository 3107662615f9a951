# SPDX-License-Identifier: MIT OR Apache-2.0
"""All that a node could be: operating points by protocol mode by supply, weighed against requirements at once.

Two steps. `loads` joins the tasks' operations at every operating point of every board into what a supply has to
carry. `judge` sets one supply against all loads: margins, cost, and which requirements hold. A million configurations
are some forty thousand loads against some ninety supplies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from sunseal import _engine
from sunseal.answers import writing
from sunseal.catalog import boards, coprocessor, places, power_sets, si
from sunseal.errors import SunsealError
from sunseal.loop.cluster import connected
from sunseal.measurement import measuring, oracle, switching
from sunseal.planner import asleep, lifetime, operations
from sunseal.planner import plan_link as links
from sunseal.planner import plan_supplies as supply
from sunseal.planner import radio as radios
from sunseal.planner.plan_requirements import ONCE, REPEATED, STEPS, Requirements

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
PLACE = ["board", "variant", "vcc_v", "freq_hz", "cell"]
"""Columns that tell one operating point from another; `cell` names the battery whose mean voltage it is, else empty."""
DAY_S = 86_400.0
REQUIREMENTS = ("security", "latency", "link", "flash", "ram", "duty", "energy")
ENDS = ("", "_low", "_high")
"""Endings of columns: typical, lowest and highest coefficient."""
POWERS = ("compute", "radio", "sleep", "listen", "coprocessor")
"""Parts of the mean power; the last is a coprocessor that waits, a start of one is computing."""
AIR = ("byte", "packet", "message")
MESSAGE_MAX = 160
"""Bytes of a message that every bench program's buffer holds."""
PERIOD_BYTES = 128
"""A whole number of blocks of every cipher and hash here; SHA-512's is the longest."""


# --- Operating points ------------------------------------------------------------------------


def chosen_operations(requirements: Requirements) -> list[operations.Operation]:
    """List the operations that the tasks may be done by, on the allowed boards and variants."""
    names = list(dict.fromkeys(w for t in requirements.tasks for w in t.workloads))
    names = [w for w in names if boards.WORKLOADS[w].operation not in STEPS]
    allow = requirements.allow
    found = operations.operations(names, allow.get("boards"))
    if "variants" in allow:
        wished = set(allow["variants"])
        known = {f"{k}={v}" for o in found for k, v in o.variant}
        for pair in sorted(wished - known):
            raise SunsealError(
                f"allow.variants has `{pair}`; the allowed boards know {', '.join(sorted(known)) or 'none'}"
            )
        found = [o for o in found if all(f"{k}={v}" in wished for k, v in o.variant)]
    if not found:
        raise SunsealError(
            f"`{requirements.name}`: none of the allowed boards has firmware for any of {', '.join(names)}"
        )
    return found


def points(requirements: Requirements, progress: operations.Progress | None = None) -> pd.DataFrame:
    """Weigh the operations at every allowed operating point, and, for batteries, at each battery's mean voltage."""
    chosen = chosen_operations(requirements)
    power = requirements.power_set
    frame = pd.DataFrame()
    if requirements.climate is not None or requirements.lifetime_s is not None:
        frame = operations.points(chosen, power=power, voltages_v=requirements.voltages_v, progress=progress)
        frame["cell"] = ""
        with_radio, least = sends(requirements), frame[["board", "freq_hz"]].drop_duplicates()
        needed = {
            (b, f): needs_v(b, f, power, with_radio, requirements.radio) for b, f in least.itertuples(index=False)
        }
        frame["cutoff_v"] = [needed[key] for key in zip(frame.board, frame.freq_hz, strict=True)]
    if requirements.lifetime_s is not None:
        places = direct_places(requirements, sorted({o.board for o in chosen}))
        for cell, by_board in places.items():
            some = [o for o in chosen if by_board.get(o.board)]
            if not some:
                continue
            pairs = {b: [(v, f) for v, f, _ in rows] for b, rows in by_board.items()}
            ends = {(b, v, f): c for b, rows in by_board.items() for v, f, c in rows}
            more = operations.points(some, power=power, places=pairs, progress=progress)
            more["cell"] = cell
            keys = zip(more.board, more.vcc_v, more.freq_hz, strict=True)
            more["cutoff_v"] = [ends[key] for key in keys]
            frame = pd.concat([frame, more], ignore_index=True)
    if requirements.clocks_hz:
        frame = frame[frame.freq_hz.isin(requirements.clocks_hz)].reset_index(drop=True)
    if frame.empty:
        wished = ", ".join(f"{c / 1e6:g} MHz" for c in requirements.clocks_hz)
        at = f" at {wished}" if wished else ""
        raise SunsealError(
            f"no allowed board has a legal operating point{at}; `sunseal boards` lists supplies and clocks"
        )
    return frame


def direct_places(
    requirements: Requirements, board_names: Sequence[str]
) -> dict[str, dict[str, list[tuple[float, int, float]]]]:
    """For each cell straight on a board's rail: mean voltage, clock, and the voltage at which that clock ends.

    The rail of such a node falls with its cell: what it takes is weighed at the cell's mean voltage over the charge
    above the cut-off, to 10 mV.
    """
    found: dict[str, dict[str, list[tuple[float, int, float]]]] = {}
    if requirements.voltages_v:
        return found
    everything = supply.batteries(requirements.allow, board_names, requirements.temperature_c)
    direct = [(b.part, b.of()) for b in everything if b.kind == "direct"]
    weights = {b: power_sets.PowerSet(requirements.power_set, b) for b in board_names}
    for part, cell in direct:
        for board in board_names:
            if cell.full_v > rail_limits(board, sends(requirements), requirements.radio)[1]:
                continue
            rows = []
            for freq_hz in clocks(weights[board]):
                needed_v = needs_v(board, freq_hz, requirements.power_set, sends(requirements), requirements.radio)
                cutoff_v = max(needed_v, cell.end_v)
                mean_v = cell.mean_v(cutoff_v)
                if mean_v is not None and weights[board].inner.freq_max_hz(round(mean_v, 2)) >= freq_hz:
                    rows.append((round(mean_v, 2), freq_hz, cutoff_v))
            found.setdefault(part, {})[board] = rows
    return found


def clocks(weights: power_sets.PowerSet) -> list[int]:
    """Return the clocks that a board can run at whatever its voltage."""
    highest_v = max(v for _, v, _ in weights.inner.levels())
    return operations.clocks_hz(weights, highest_v)


@places.cached
def needs_v(board: str, freq_hz: int, power: str, with_radio: bool, other: str | None) -> float:
    """Return the least rail at which a board works at a clock: that of its chip, and of its radio where it is used."""
    low_v, _ = rail_limits(board, with_radio, other)
    legal = [v for f, v, _ in power_sets.PowerSet(power, board).inner.levels() if f >= freq_hz]
    return max(low_v, min(legal, default=low_v))


@places.cached
def rail_limits(board: str, with_radio: bool, other: str | None = None) -> tuple[float, float]:
    """Return the least and the highest supply of a board's chip, and where something is sent of its radio, or of the
    `other` that it carries."""
    facts: Any = boards.board(board)
    device = boards.device(facts["device"])
    levels = _engine.levels(str(boards.device_path(facts["device"])))
    low_v, high_v = min(v for _, v, _ in levels), si.vcc_max_v(device)
    if with_radio and (other is not None or "radio" in facts):
        part = facts["radio"]["part"] if other is None else radios.of_board(board, other).part
        radio: Any = boards.part(part)
        low_v = max(low_v, float(radio["radio"]["vcc_min_v"]))
        high_v = min(high_v, float(radio["radio"]["vcc_max_v"]))
    return low_v, high_v


def sends(requirements: Requirements) -> bool:
    """Say whether anything goes on the air or is listened for."""
    return requirements.link is not None or "asynchronous" in requirements.modes


# --- Loads -----------------------------------------------------------------------------------


def loads(requirements: Requirements, frame: pd.DataFrame) -> pd.DataFrame:
    """Join the tasks' operations at each operating point, in each protocol mode; SI base units.

    `*_w` are mean powers at the rail, with `_low` and `_high` at the ends of the coefficients; `gate_j` is what one
    round of all tasks takes, times the safety factor of equation 6.1.
    """
    air = _air(requirements, frame)
    made = []
    for mode in requirements.modes:
        joined: pd.DataFrame | None = None
        for i in range(len(requirements.tasks)):
            options = _options(requirements, i, frame, air, mode)
            if len(requirements.tasks) > 1:
                options = _unbeaten(options)
            joined = options if joined is None else _joined(joined, options, i)
        assert joined is not None
        joined["mode"] = mode
        made.append(_with_rest(requirements, joined, air, mode))
    return pd.concat(made, ignore_index=True)


def _air(requirements: Requirements, frame: pd.DataFrame) -> pd.DataFrame:
    """For each board and voltage: what it draws asleep and on the air, and whether the link holds; SI base units."""
    rows = []
    link = requirements.link
    for board, vcc_v in frame[["board", "vcc_v"]].drop_duplicates().itertuples(index=False):
        carried = requirements.radio
        waiting = asleep.of_board(board, vcc_v, requirements.power_set, carried)
        row: dict[str, Any] = {"board": board, "vcc_v": vcc_v, "dbm": np.nan, "link_margin_db": np.inf}
        row |= {"tx_w": 0.0, "dbm_worst": np.nan, **{f"{of}_s": 0.0 for of in AIR}}
        for i, end in enumerate(ENDS):
            row |= {f"cpu{end}_w": waiting.total_w[i], f"beside{end}_w": waiting.beside_w[i], f"rx{end}_w": 0.0}
        row |= {f"{of}{end}_j": 0.0 for of in AIR for end in (*ENDS, "_worst")}
        low_v, high_v = rail_limits(board, sends(requirements), carried)
        # Straight on a cell it has started at the full cell's voltage; a regulated rail must let it start.
        row["legal"] = max(low_v, power_sets.starts_from_v(board)) - 1e-9 <= vcc_v <= high_v + 1e-9
        if carried is not None or _has_radio(board):
            radio = radios.of_board(board, carried)
            if sends(requirements):
                for end, value in zip(ENDS, radio.power_w(radio.receive, vcc_v), strict=True):
                    row[f"rx{end}_w"] = value
            if link is not None:
                dbm, spare_db = links.least_dbm(radio, link)
                worst, _ = links.least_dbm(radio, link, requirements.uncertainty.path_loss_db[1])
                row |= {"link_margin_db": spare_db, "dbm": np.nan if dbm is None else dbm}
                row["dbm_worst"] = np.nan if worst is None else worst
                most = max(radio.send)
                priced, strong = (
                    radios.prices(radio, most if d is None else d, vcc_v, link.listen_s) for d in (dbm, worst)
                )
                row["tx_w"] = priced.heaviest_w
                for of in AIR:
                    row[f"{of}_s"] = getattr(priced, f"{of}_s")
                    row[f"{of}_worst_j"] = getattr(strong, f"send_{of}_j")[0]
                    for end, value in zip(ENDS, getattr(priced, f"send_{of}_j"), strict=True):
                        row[f"{of}{end}_j"] = value
        elif sends(requirements):
            row["link_margin_db"] = -np.inf
        rows.append(row)
    return pd.DataFrame(rows)


def _has_radio(board: str) -> bool:
    return "radio" in boards.board(board)


def own_bytes(work: boards.Workload) -> int:
    """Return the message that a bench program of `REPEATED` works on of itself."""
    return work.input[-1].size


def played_bytes(work: boards.Workload, size_bytes: int) -> tuple[int, int]:
    """Split a message: what a bench program's buffer holds of it, and how many `PERIOD_BYTES` are beyond that."""
    if work.operation not in REPEATED:
        return size_bytes, 0
    if work.operation == "encrypt" and work.parameter != "ctr":
        block = boards.algorithms().implementations[work.cipher].block_bytes
        size_bytes = math.ceil(size_bytes / block) * block
    beyond = 0 if size_bytes == own_bytes(work) else max(math.ceil((size_bytes - MESSAGE_MAX) / PERIOD_BYTES), 0)
    return size_bytes - beyond * PERIOD_BYTES, beyond


def fed(work: boards.Workload, length: int) -> bytes:
    """Return a bench program's input with a message of a length that its buffer holds."""
    whole = oracle.trial(work).fed
    if work.operation not in REPEATED:
        return whole
    own = own_bytes(work)
    return whole[:-own] + (whole[-own:] * math.ceil(max(length, 1) / own))[:length]


@cache
def work_share(workload: str, board: str, variant: str, size_bytes: int) -> float:
    """Return what a message takes of the bench's own run, by cycles.

    The bench's program runs on a message of that length, as long as its buffer holds it; what is longer costs as
    much more as each further `PERIOD_BYTES` cost there. So one byte costs a block, and no more.
    """
    work = boards.workload(workload)
    if work.operation not in REPEATED:
        return 1.0
    chosen = dict(pair.split("=") for pair in variant.split(",") if pair)
    program = measuring.builtin(work, board, chosen)

    def cycles(length: int) -> int:
        counts = measuring.count(program, board, fed(work, length))
        if counts.status != oracle.STATUS_OK:
            raise SunsealError(f"{workload} on {board} refuses a message of {length} bytes, so it has no price")
        return counts.cycles

    length, beyond = played_bytes(work, size_bytes)
    found = cycles(length)
    if beyond:
        found += beyond * (cycles(MESSAGE_MAX) - cycles(MESSAGE_MAX - PERIOD_BYTES))
    return found / cycles(own_bytes(work))


@cache
def _fpga_shares(
    workload: str, board: str, variant: str, vcc_v: float, freq_hz: int, size_bytes: int, power: str
) -> tuple[float, float]:
    """Return the same in energy and in time beside a coprocessor: the mote sleeps through long messages."""
    work = boards.workload(workload)
    if work.operation not in REPEATED:
        return 1.0, 1.0
    chosen = dict(pair.split("=") for pair in variant.split(",") if pair)
    program, weights = measuring.builtin(work, board, chosen), power_sets.PowerSet(power, board)

    def cost(length: int) -> Array:
        counts = measuring.count(program, board, fed(work, length))
        if counts.status != oracle.STATUS_OK:
            raise SunsealError(f"{workload} on {board} refuses a message of {length} bytes, so it has no price")
        found = power_sets.weighed(weights, board, counts, freq_hz, vcc_v)
        return np.array([found.energy_j[0], found.time_s])

    length, beyond = played_bytes(work, size_bytes)
    found = cost(length)
    if beyond:
        # Between two lengths through which the mote waits alike.
        found += beyond * 2 * (cost(MESSAGE_MAX) - cost(MESSAGE_MAX - PERIOD_BYTES // 2))
    more, times = found / cost(own_bytes(work))
    return float(more), float(times)


def _shares(rows: pd.DataFrame, size_bytes: int, power: str) -> tuple[Array, Array]:
    """Return what a message takes of each row's own run, in energy and in time."""
    names = ["workload", "board", "variant", "vcc_v", "freq_hz"]
    found = []
    for work, board, variant, vcc_v, freq_hz in rows[names].itertuples(index=False, name=None):
        if coprocessor.fitted(board):
            found.append(_fpga_shares(work, board, variant, vcc_v, freq_hz, size_bytes, power))
        else:
            found.append((share := work_share(work, board, variant, size_bytes), share))
    shares = np.array(found, dtype=float).reshape(-1, 2)
    return shares[:, 0], shares[:, 1]


def body_bytes(work: boards.Workload, data_bytes: int) -> int:
    """Return the body of the message that carries an operation's data, with its signature, tag or public key."""
    return radios.REPORT_BYTES + data_bytes + radios.added_bytes(work)


def _options(requirements: Requirements, i: int, frame: pd.DataFrame, air: pd.DataFrame, mode: str) -> pd.DataFrame:
    """Price one task by each of its operations at each operating point."""
    task = requirements.tasks[i]
    rows = frame[frame.workload.isin(task.workloads)].merge(air, on=["board", "vcc_v"], how="left")
    works = {w: boards.workload(w) for w in task.workloads}
    more, times = _shares(rows, task.size_bytes, requirements.power_set)
    link, every_s = requirements.link, task.every_s if mode == "periodic" else task.asked_s
    on_air: dict[str, Array] = dict.fromkeys(AIR, np.zeros(len(rows)))
    if link is not None and task.sends_bytes is not None:
        sent = {w: body_bytes(k, task.sends_bytes) for w, k in works.items()}
        size = np.asarray(rows.workload.map(sent), dtype=np.float64)
        packets = np.ceil(size / radios.FRAGMENT_BYTES)
        on_air = {"byte": size, "packet": packets, "message": np.ceil(packets / radios.FRAGMENTS_MAX)}
    tries = 1.0 + (link.retries if link is not None else 0.0)
    time_s = rows.time_s.to_numpy() * times
    out = rows[[*PLACE, "cutoff_v", "workload", "security_bits", "legal"]].copy()
    for end in ENDS:
        out[f"compute{end}_j"] = rows[f"energy{end}_j"].to_numpy() * more
    for end in (*ENDS, "_worst"):
        out[f"radio{end}_j"] = tries * sum(on_air[of] * rows[f"{of}{end}_j"].to_numpy() for of in AIR)
    for name in ("compute", "compute_low", "compute_high", "radio", "radio_low", "radio_high", "radio_worst"):
        out[f"{name}_w"] = out[f"{name}_j"] / every_s
    for end in ENDS:
        out[f"start{end}_j"], out[f"wait{end}_w"] = rows[f"start{end}_j"].to_numpy(), rows[f"wait{end}_w"].to_numpy()
        out[f"start{end}_w"] = out[f"start{end}_j"] / every_s
    # The mote sleeps through a configuration.
    out["start_s"], out["start_busy"] = rows.start_s.to_numpy(), rows.start_awake_s.to_numpy() / every_s
    out["on_busy"] = np.where(out.wait_w > 0.0, time_s / every_s, 0.0)
    # Of the task alone, for what is said of it; the other columns are summed over tasks.
    out[f"task{i}_compute_w"], out[f"task{i}_radio_w"], out[f"task{i}_start_w"] = (
        out.compute_w,
        out.radio_w,
        out.start_w,
    )
    out["round_j"] = out.compute_j + out.radio_j
    out["round_high_j"] = out.compute_high_j + out.radio_high_j
    air_s = tries * sum(on_air[of] * rows[f"{of}_s"].to_numpy() for of in AIR)
    out["busy_s"] = time_s + air_s
    out["busy"] = out.busy_s / every_s
    out["cpu_latency_s"] = time_s
    on_air_w = np.where(on_air["byte"] > 0, rows.tx_w.to_numpy(), 0.0)
    out["peak_w"] = np.maximum(rows.power_w.to_numpy(), on_air_w) + rows.beside_w.to_numpy()
    out["flash_bytes"] = rows.flash_bytes.to_numpy()
    out["memory_bytes"] = rows.ram_bytes.to_numpy() + rows.stack_bytes.to_numpy()
    return out[out.legal].drop(columns="legal").reset_index(drop=True)


SUMMED = (
    *("compute_j", "radio_j", "round_j", "round_high_j", "busy", "busy_s", "cpu_latency_s", "flash_bytes"),
    *("compute_w", "compute_low_w", "compute_high_w", "radio_w", "radio_low_w", "radio_high_w", "radio_worst_w"),
    *("start_j", "start_high_j", "start_w", "start_low_w", "start_high_w", "start_s", "start_busy", "on_busy"),
)
LARGEST = ("peak_w", "memory_bytes", "wait_w", "wait_low_w", "wait_high_w")
DROPPED = (
    *("compute_low_j", "compute_high_j", "radio_low_j", "radio_high_j", "radio_worst_j", "start_low_j"),
    *("start_high_j", "start_low_w", "start_high_w", "wait_w", "wait_low_w", "wait_high_w"),
)


def _joined(left: pd.DataFrame, right: pd.DataFrame, i: int) -> pd.DataFrame:
    both = left.merge(right, on=[*PLACE, "cutoff_v"], suffixes=("", "_next"))
    for name in SUMMED:
        both[name] = both[name] + both[f"{name}_next"]
    for name in LARGEST:
        both[name] = np.maximum(both[name], both[f"{name}_next"])
    both["security_bits"] = np.minimum(both.security_bits, both.security_bits_next)
    both["workload"] = both.workload + " + " + both.workload_next
    return both.drop(columns=[c for c in both if str(c).endswith("_next")])


def _unbeaten(options: pd.DataFrame) -> pd.DataFrame:
    """Keep, at each operating point, what no other operation beats or equals in everything that can decide."""
    names = ["compute_j", "radio_j", "round_high_j", "busy", "busy_s", "peak_w", "flash_bytes"]
    values = options[[*names, "memory_bytes", "start_high_j", "start_s", "wait_w"]].to_numpy(dtype=float)
    values = np.column_stack([values, -options.security_bits.to_numpy(dtype=float)])
    keep = np.ones(len(options), dtype=bool)
    for _, here in options.groupby(PLACE, sort=False).indices.items():
        some = values[here]
        no_worse = (some[:, None, :] <= some[None, :, :]).all(axis=2)
        better = no_worse & ((some[:, None, :] < some[None, :, :]).any(axis=2) | np.tri(len(some), k=-1, dtype=bool).T)
        keep[here] = ~better.any(axis=0)
    return options[keep].reset_index(drop=True)


def _between_uses(joined: pd.DataFrame) -> pd.DataFrame:
    """Split the loads with a coprocessor in two: left on between uses, and switched off, where each use starts it.

    Which of them takes less, and whether a task may wait for a start, is the judgement's to say.
    """
    fitted = joined.wait_w.to_numpy() > 0.0
    left_on = joined.assign(coprocessor=np.where(fitted, switching.ON, ""))
    idle = np.maximum(1.0 - left_on.on_busy, 0.0)
    for end in ENDS:
        left_on[f"coprocessor{end}_w"] = left_on[f"wait{end}_w"] * idle
    off = joined[fitted & np.isfinite(joined.start_j.to_numpy())].assign(coprocessor=switching.OFF)
    for end in ENDS:
        off[f"coprocessor{end}_w"] = 0.0
        off[f"compute{end}_w"] += off[f"start{end}_w"]
    for name, more in (("compute_j", "start_j"), ("round_j", "start_j"), ("round_high_j", "start_high_j")):
        off[name] += off[more]
    for name, more in (("busy_s", "start_s"), ("cpu_latency_s", "start_s"), ("busy", "start_busy")):
        off[name] += off[more]
    for name in [c for c in off if str(c).startswith("task") and str(c).endswith("_start_w")]:
        off[name.replace("_start_w", "_compute_w")] += off[name]
    return pd.concat([left_on, off], ignore_index=True) if len(off) else left_on


def _with_rest(requirements: Requirements, joined: pd.DataFrame, air: pd.DataFrame, mode: str) -> pd.DataFrame:
    """Add sleep, listening and a coprocessor's rest, and sum up."""
    joined = _between_uses(joined)
    names = ["board", "vcc_v", *(f"{of}{end}_w" for of in ("cpu", "beside", "rx") for end in ENDS)]
    rest = joined[["board", "vcc_v"]].merge(air[[*names, "dbm", "dbm_worst", "link_margin_db"]], on=["board", "vcc_v"])
    out = joined.drop(columns=[c for c in DROPPED if c in joined])
    share = requirements.window_s[1] / requirements.window_s[0] if mode == "asynchronous" else 0.0
    quiet = np.maximum(1.0 - out.busy.to_numpy(), 0.0)
    for name in ENDS:
        # What the board draws beside its CPU, it draws while that computes too.
        out[f"sleep{name}_w"] = rest[f"cpu{name}_w"].to_numpy() * quiet + rest[f"beside{name}_w"] * (1.0 - quiet)
        out[f"listen{name}_w"] = rest[f"rx{name}_w"].to_numpy() * share
        out[f"mean{name}_w"] = sum(out[f"{part}{name}_w"] for part in POWERS)
    for name in ("dbm", "dbm_worst", "link_margin_db"):
        out[name] = rest[name].to_numpy()
    # A task runs to its end: whoever asks while all the others have asked too waits for them.
    out["latency_s"] = out.busy_s + (requirements.window_s[0] if mode == "asynchronous" else 0.0)
    out["latency_share"] = out.latency_s / min(task.latency_s for task in requirements.tasks)
    out["gate_j"] = out.round_j * requirements.safety
    out["asleep_w"] = rest.cpu_w.to_numpy()
    return out


# --- Judging ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """One supply against all loads: arrays as long as the loads, `fits` where they can be joined at all."""

    fits: Flags
    needed: Array
    """Figure that the energy requirement asks for: the load at the store, W; or the lifetime, s."""
    had: Array
    """Figure that the supply gives of it."""
    drawn_w: Array
    """Power that the store or the battery gives for the load, on average."""
    cost: Array
    met: dict[str, Flags]
    is_battery: bool

    @property
    def margin(self) -> Array:
        """Return how far from failing the energy is: 0 at the edge, 1 for twice of what is needed."""
        found: Array = self.had / self.needed - 1.0
        return found

    @property
    def all_met(self) -> Flags:
        """Return where every requirement holds."""
        whole = self.fits.copy()
        for holds in self.met.values():
            whole &= holds
        return whole

    def all_but(self, name: str) -> Flags:
        """Return where every requirement but one holds."""
        whole = self.fits.copy()
        for other, holds in self.met.items():
            if other != name:
                whole &= holds
        return whole


def common(requirements: Requirements, table: pd.DataFrame) -> dict[str, Flags]:
    """Tell the requirements that no supply changes."""
    most = {"flash": requirements.flash_bytes, "ram": requirements.ram_bytes}
    column = {"flash": "flash_bytes", "ram": "memory_bytes"}
    found = {
        "security": table.security_bits.to_numpy() >= requirements.security_bits,
        "latency": table.latency_share.to_numpy() <= 1.0,
        "link": table.link_margin_db.to_numpy() >= 0.0,
        "duty": table.busy.to_numpy() <= 1.0,
    }
    for name, bound in most.items():
        if bound is not None:
            found[name] = table[column[name]].to_numpy() <= bound
    return found


def price(
    requirements: Requirements, table: pd.DataFrame, drawn_w: Array, parts: Sequence[str], extra: Mapping[str, float]
) -> Array:
    """Weigh a configuration: energy, latency and program of the load, and what the supply brings."""
    w = requirements.weights
    cost: Array = w["joules_per_day"] * drawn_w * DAY_S
    cost = cost + w["seconds"] * table.latency_s.to_numpy() + w["flash_bytes"] * table.flash_bytes.to_numpy()
    cost = cost + sum(w[name] * value for name, value in extra.items())
    if w["prices"]:
        supply_price = sum(requirements.prices.get(p, math.nan) for p in parts)
        by_board = {b: requirements.prices.get(b, math.nan) for b in table.board.unique()}
        cost = cost + w["prices"] * (supply_price + table.board.map(by_board).to_numpy(dtype=float))
    return cost


def judge_harvested(
    requirements: Requirements,
    table: pd.DataFrame,
    one: supply.Harvested,
    most_w: Callable[[Array], Array],
    met: Mapping[str, Flags],
) -> Judged:
    """Set a harvested supply against all loads; `most_w` tells what it carries above a gate."""
    vcc_v = table.vcc_v.to_numpy()
    fits = one.carries(vcc_v) & (table.cell.to_numpy() == "")
    needed = needed_w(one, table)
    had = most_w(lowest_j(requirements, one, table))
    extra = {"farads": one.store.capacitance_f, "panel_watts": one.panel_w}
    if one.store.is_cell:
        extra["battery_joules"] = one.full_j
    cost = price(requirements, table, needed, one.parts, extra)
    enough = had >= needed
    return Judged(fits & ~np.isnan(cost), needed, had, needed, cost, {**met, "energy": enough}, False)


Columns = pd.DataFrame | Mapping[str, Array]
"""Loads by their columns: of one load arrays alone, as pandas takes longer to reach a column than to use it."""


def _columns(table: Columns, names: str) -> Iterator[Array]:
    return (np.asarray(table[name]) for name in names.split())


def needed_w(one: supply.Harvested, table: Columns, efficiency: float = 1.0) -> Array:
    """Return what a store gives for loads on average: what the output draws asleep and awake, each at the efficiency of
    its own current, and what the store's resistance loses while the node is awake."""
    vcc_v, busy, compute_w, radio_w, mean_w = _columns(table, "vcc_v busy compute_w radio_w mean_w")
    busy, round_w = np.clip(busy, 1e-9, 1.0), compute_w + radio_w
    awake_w = one.drawn_w(round_w / busy, vcc_v, efficiency)
    asleep_w = one.drawn_w((mean_w - round_w) / np.maximum(1.0 - busy, 1e-6), vcc_v, efficiency)
    found: Array = awake_w * busy + asleep_w * (1.0 - busy)
    return found


def at_store(one: supply.Harvested, table: Columns) -> Array:
    """Return what a store gives for a joule of loads' rounds."""
    peak_w, vcc_v = _columns(table, "peak_w vcc_v")
    found: Array = one.drawn_w(peak_w, vcc_v) / peak_w
    return found


def gate_j(one: supply.Harvested, table: Columns) -> Array:
    """Return what the store must hold above its cut-off before a round: the gate, and what its resistance takes."""
    gate, peak_w, vcc_v = _columns(table, "gate_j peak_w vcc_v")
    found: Array = gate * at_store(one, table) + one.reserve_j(peak_w, vcc_v)
    return found


def lowest_j(requirements: Requirements, one: supply.Harvested, table: Columns) -> Array:
    """Return down to what a store may fall on a day whose rounds are all done: below the gate by what the load takes in
    half a period.

    A round that finds less than its gate waits until it falls due again, and has found enough if the light is back
    before: at a sudden dawn one period after the store fell below the gate to nearly two, by the round's phase; at a
    slow one, whose first light does not lift the store yet, earlier.
    """
    waited_j = needed_w(one, table) * shortest_s(requirements, table) / 2
    found: Array = np.maximum(gate_j(one, table) - waited_j, 0.0)
    return found


def shortest_s(requirements: Requirements, table: Columns) -> Array:
    """Return the shortest period of the tasks, in each load's mode."""
    periodic, asked = (min(getattr(t, name) for t in requirements.tasks) for name in ("every_s", "asked_s"))
    (mode,) = _columns(table, "mode")
    found: Array = np.where(mode == "periodic", periodic, asked)
    return found


def judge_battery(
    requirements: Requirements, table: pd.DataFrame, one: supply.Battery, met: Mapping[str, Flags]
) -> Judged:
    """Set a battery against all loads."""
    fits, had, drawn_w = battery_life(table, one)
    needed = np.full(len(table), requirements.lifetime_s, dtype=float)
    cost = price(requirements, table, drawn_w, one.parts, {"battery_joules": one.full_j})
    return Judged(fits & ~np.isnan(cost), needed, had, drawn_w, cost, {**met, "energy": had >= needed}, True)


def battery_life(
    table: pd.DataFrame,
    one: supply.Battery,
    *,
    capacity: float = 1.0,
    self_discharge: float = 1.0,
) -> tuple[Flags, Array, Array]:
    """Return which loads a battery can be joined to, how long it lasts under them, and what it gives for them.

    It ends where the heaviest pulse first pulls the rail below what the clock needs, or the radio (`lifetime.lives`);
    there a converter that assists comes on.
    """
    vcc_v, needed_v = table.vcc_v.to_numpy(), table.cutoff_v.to_numpy(dtype=float)
    fits = table.cell.to_numpy() == ("" if one.kind == "linear" else one.part)
    if one.kind != "direct":
        fits &= vcc_v >= needed_v
    life, drawn_w = np.zeros(len(table)), table.mean_w.to_numpy().copy()
    at = np.flatnonzero(fits)
    if len(at) == 0:
        return fits, life, drawn_w
    some = table.iloc[at]
    busy, round_w = np.clip(some.busy.to_numpy(), 1e-9, 1.0), (some.compute_w + some.radio_w).to_numpy()
    found = lifetime.lives(
        one.of(capacity, self_discharge),
        vcc_v=vcc_v[at],
        asleep_w=(some.mean_w.to_numpy() - round_w) / np.maximum(1.0 - busy, 1e-6),
        awake_w=round_w / busy,
        busy=busy,
        peak_w=some.peak_w.to_numpy(),
        needs_v=needed_v[at],
    )
    life[at], drawn_w[at] = found.lasts_s, np.where(found.lasts_s > 0, found.drawn_w, drawn_w[at])
    return fits, life, drawn_w


# --- All of it -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """Everything that a plan chooses from."""

    requirements: Requirements
    table: pd.DataFrame
    harvested: list[supply.Harvested]
    batteries: list[supply.Battery]
    lights: dict[str, supply.Light]
    carried: supply.Carried | None
    refused: list[str]
    frame: pd.DataFrame
    """Operations at operating points, of which `table` was made."""

    @property
    def supplies(self) -> list[supply.Harvested | supply.Battery]:
        """Return all supplies, harvested ones first."""
        return [*self.harvested, *self.batteries]

    @property
    def configurations(self) -> int:
        """Count loads by supplies, those that cannot be joined left out."""
        return sum(int(j.fits.sum()) for _, j in self.judged())

    def judge(self, i: int) -> Judged:
        """Set one supply against all loads."""
        met = common(self.requirements, self.table)
        if i < len(self.harvested):
            assert self.carried is not None
            carried = self.carried
            return judge_harvested(
                self.requirements, self.table, self.harvested[i], lambda gate: carried.most_w(i, gate), met
            )
        return judge_battery(self.requirements, self.table, self.batteries[i - len(self.harvested)], met)

    def judged(self) -> Iterator[tuple[int, Judged]]:
        """Go through all supplies."""
        for i in range(len(self.supplies)):
            yield i, self.judge(i)


def field(
    requirements: Requirements, frame: pd.DataFrame | None = None, progress: operations.Progress | None = None
) -> Field:
    """Bring everything together that a plan chooses from; `frame` as `points` gives it, if it is known."""
    # Before the operations are counted, which takes longer: it may refuse a part.
    harvested, refused = (
        supply.harvested(requirements.allow, requirements.temperature_c)
        if requirements.climate is not None
        else ([], [])
    )
    harvested = _bounded(requirements, harvested, refused)
    if requirements.climate is not None:
        harvested, dark = supply.lit(harvested, requirements)
        refused = [*refused, *dark]
    frame = points(requirements, progress) if frame is None else frame
    table = loads(requirements, frame)
    if table.empty:
        raise SunsealError(
            f"`{requirements.name}`: no allowed board can do all tasks at one operating point that its radio allows too"
        )
    lights = {p: supply.light(requirements, p) for p in sorted({s.panel for s in harvested})}
    carried = supply.carried(harvested, lights, requirements.survive_share) if harvested else None
    batteries = []
    if requirements.lifetime_s is not None:
        batteries = supply.batteries(requirements.allow, sorted(table.board.unique()), requirements.temperature_c)
        batteries = _bounded(requirements, batteries, refused)
    if not harvested and not batteries:
        raise SunsealError(f"`{requirements.name}`: the allowed parts make no supply: {'; '.join(refused)}")
    if requirements.weights["prices"]:
        _priced(requirements, table, [*harvested, *batteries])
    return Field(requirements, table, harvested, batteries, lights, carried, refused, frame)


S = TypeVar("S", supply.Harvested, supply.Battery)


def _bounded(requirements: Requirements, supplies: list[S], refused: list[str]) -> list[S]:
    """Leave out what is too heavy or too large, and what nobody says that of; the reasons go to `refused`.

    Stores and panels count; chips weigh some hundredths of a gram.
    """
    found = supplies
    for key, bound in (("mass_g", requirements.mass_g), ("volume_cm3", requirements.volume_cm3)):
        if bound is None:
            continue
        facts = {p: boards.part(p) for s in found for p in s.parts}
        told = {p: f.get(key) for p, f in facts.items() if {"capacitor", "cell", "panel"} & f.keys()}
        unknown_of = sorted(p for p, value in told.items() if value is None)
        refused += [f"{p}: its file has no {key}, so it cannot be held against bounds.{key}" for p in unknown_of]
        kept = []
        for one in (s for s in found if not set(unknown_of) & set(s.parts)):
            whole = sum(float(told.get(p) or 0.0) for p in one.parts)
            if whole <= bound:
                kept.append(one)
            else:
                refused.append(f"{one.name}: {key} is {whole:g}, and bounds.{key} {bound:g}")
        found = kept
    return found


def _priced(
    requirements: Requirements, table: pd.DataFrame, supplies: Sequence[supply.Harvested | supply.Battery]
) -> None:
    parts = {p for s in supplies for p in s.parts} | set(table.board.unique())
    missing = sorted(parts - set(requirements.prices))
    if missing:
        raise SunsealError(
            f"`{requirements.name}`: [prices] has no {', '.join(missing)}; give each a price or leave it out by [allow]"
        )


COLUMNS = (
    *("workload", "board", "variant", "vcc_v", "freq_hz", "mode", "security_bits", "latency_s", "flash_bytes"),
    *("memory_bytes", "mean_w", "mean_low_w", "mean_high_w", "dbm", "coprocessor"),
)


def rows(field: Field, i: int, judged: Judged) -> pd.DataFrame:
    """Return one supply's configurations as a frame: loads, supply, margin, cost, and what is met."""
    at = np.flatnonzero(judged.fits)
    out = field.table.iloc[at][list(COLUMNS)].reset_index(drop=True)
    out["supply"] = field.supplies[i].name
    out["margin"] = judged.margin[at]
    out["cost"] = judged.cost[at]
    for name, holds in judged.met.items():
        out[f"meets_{name}"] = holds[at]
    out["qualifies"] = judged.all_met[at]
    return out


def write(field: Field, path: Path, heard: Callable[[int, int], None] | None = None, dask: str | None = None) -> int:
    """Write every configuration into a Parquet file, a row group for each supply; return how many there are."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    count, writer = 0, None
    with writing.whole(path) as file:
        for done, piece in enumerate(_pieces(field, dask)):
            table = pa.Table.from_pandas(piece, preserve_index=False)
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema, compression="zstd")
            writer.write_table(table)
            count += len(piece)
            if heard is not None:
                heard(done + 1, len(field.supplies))
        if writer is not None:
            writer.close()
    return count


def _pieces(field: Field, dask: str | None) -> Iterator[pd.DataFrame]:
    if dask is None:
        for i, judged in field.judged():
            yield rows(field, i, judged)
        return
    with connected(dask) as (_, client):
        shared = client.scatter(field, broadcast=True)
        futures = [client.submit(_piece, shared, i, pure=False) for i in range(len(field.supplies))]
        for future in futures:
            yield future.result()


def _piece(field: Field, i: int) -> pd.DataFrame:
    """Judge one supply on a worker."""
    return rows(field, i, field.judge(i))


def used_up(requirements: Requirements) -> list[str]:
    """Say which signatures were left out because their keys are used up."""
    named = {w for t in requirements.tasks for w in t.workloads}
    signs = any(boards.WORKLOADS[w].operation == "sign" for w in named)
    return [f"{w} ({why})" for w, why in ONCE.items() if signs and w not in named]
