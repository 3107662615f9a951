# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write recordings and runs for other tools: CSV and NumPy in SI units, VCD for waveform viewers."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from sunseal import __version__
from sunseal.answers import writing
from sunseal.errors import SunsealError
from sunseal.trace.model import Array, Block, Recording, Told

Take = Callable[[Block], None]


@contextmanager
def whole(path: Path, binary: bool = False) -> Any:
    """Write a file so that no one ever sees half of it."""
    if not path.absolute().parent.is_dir():
        raise SunsealError(f"`{path}` cannot be written: the folder `{path.parent}` does not exist")
    with writing.whole(path) as file:
        if binary:
            yield file
            return
        text = io.TextIOWrapper(file, encoding="utf-8")
        try:
            yield text
        finally:
            text.detach()  # flushed; the file is closed by who has opened it


def summary(recording: Recording, told: Told | None = None, take: Take | None = None) -> dict[str, Any]:
    """Read a whole recording once and say what it holds, in SI units."""
    names = [c.name for c in recording.channels]
    least, most = dict.fromkeys(names, math.inf), dict.fromkeys(names, -math.inf)
    sums, seconds, samples, begin = dict.fromkeys(names, 0.0), 0.0, 0, None
    for block in recording.blocks(names, told):
        begin = float(block.time_s[0]) if begin is None else begin
        samples += len(block)
        seconds += float(block.width_s.sum())
        for n in names:
            x = block.values[n]
            least[n], most[n] = min(least[n], float(x.min())), max(most[n], float(x.max()))
            sums[n] += float((x * block.width_s).sum())
        if take is not None:
            take(block)
    return {
        "format": recording.format,
        "device": recording.device,
        "samples": samples,
        "begin_s": begin,
        "time_s": seconds,
        "sample_interval_s": seconds / samples,
        "channels": [
            {"name": c.name, "unit": c.unit, "min": least[c.name], "mean": sums[c.name] / seconds, "max": most[c.name]}
            for c in recording.channels
        ],
        "windows": len(recording.windows),
        "notes": list(recording.notes),
    }


def convert(recording: Recording, path: Path, told: Told | None = None) -> dict[str, Any]:
    """Write a recording in SI units; the ending chooses CSV, NumPy or VCD."""
    names = [c.name for c in recording.channels]
    if path.suffix == ".csv":
        with whole(path) as file:
            file.write(
                ",".join(
                    ["time_s", *(f"{c.name} ({c.unit})" if c.unit in "VAWJ" else c.name for c in recording.channels)]
                )
                + "\n"
            )

            def rows(block: Block) -> None:
                table = np.column_stack([block.time_s, *(block.values[n] for n in names)])
                np.savetxt(file, table, fmt=["%.12g", *["%.9g"] * len(names)], delimiter=",")

            return summary(recording, told, rows)
    if path.suffix == ".npz":
        parts: list[Block] = []
        facts = summary(recording, told, parts.append)
        arrays = {n: np.concatenate([b.values[n] for b in parts]) for n in names}
        with whole(path, binary=True) as file:
            np.savez(file, allow_pickle=False, time_s=np.concatenate([b.time_s for b in parts]), **arrays)
        return facts
    if path.suffix == ".vcd":
        units = {c.name: c.unit for c in recording.channels}
        with whole(path) as file:
            dump = Vcd(file, {n: "wire" if units[n] == "1" else "real" for n in names})
            return summary(recording, told, lambda b: dump.samples(b.time_s, b.values))
    raise SunsealError(f"`{path}` cannot be written: its name must end in .csv, .npz or .vcd")


class Vcd:
    """A value change dump (IEEE 1364-2005, clause 18) of real numbers and levels over time."""

    def __init__(self, file: IO[str], kinds: Mapping[str, str], timescale_s: float = 1e-9) -> None:
        """Write the head; kinds are `real` or `wire` by the signal's name."""
        self.file, self.tick_s = file, timescale_s
        self.kinds = dict(kinds)
        self.keys = {name: _key(i) for i, name in enumerate(kinds)}
        self.last: dict[str, float] = {}
        self.begin_s: float | None = None
        self.now = -1
        file.write(f"$version\n    Sunseal {__version__}\n$end\n$timescale 1 ns $end\n$scope module recording $end\n")
        for name, kind in kinds.items():
            bits = 64 if kind == "real" else 1
            file.write(f"$var {kind} {bits} {self.keys[name]} {name.replace(' ', '_')} $end\n")
        file.write("$upscope $end\n$enddefinitions $end\n")

    def samples(self, time_s: Array | Sequence[float], values: Mapping[str, Array | Sequence[float]]) -> None:
        """Add samples in the order of time; time 0 is that of the first."""
        columns = {n: np.asarray(v, dtype=np.float64) for n, v in values.items()}
        for i, when in enumerate(time_s):
            self.begin_s = float(when) if self.begin_s is None else self.begin_s
            told = [(n, float(v[i])) for n, v in columns.items() if self.last.get(n) != v[i]]
            if not told:
                continue
            now = round((float(when) - self.begin_s) / self.tick_s)
            if now > self.now:
                self.file.write(f"#{now}\n")
                self.now = now
            for name, value in told:
                text = f"r{value:.9g} " if self.kinds[name] == "real" else str(int(value > 0.5))
                self.file.write(f"{text}{self.keys[name]}\n")
                self.last[name] = value


def _key(number: int) -> str:
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if number == 0:
            return text
