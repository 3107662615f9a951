# SPDX-License-Identifier: MIT OR Apache-2.0
"""Waveforms beside their viewers: which forms there are, names of states for GTKWave, and a dump read back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sunseal import _engine
from sunseal.answers.writing import write_atomic
from sunseal.errors import SunsealError

ENDINGS = (".vcd", ".fst")
UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
UNWRITTEN = "the waveform cannot be written"
"""Words of the engine about a file that it could not write to its end."""
TRANSLATED = "@2022"
"""Flags of a signal in GTKWave's save files: hexadecimal, right-justified, translated by a file."""


@contextmanager
def into(path: Path) -> Iterator[tuple[str, bool]]:
    """Give a place to write a waveform to, which takes its name once it is whole; and tell whether it is an FST.

    A run that ends by a fault has a whole one, too.
    """
    if path.suffix not in ENDINGS:
        raise SunsealError(f"`{path}` cannot be written: its name must end in {' or '.join(ENDINGS)}")
    handle, place = tempfile.mkstemp(dir=path.absolute().parent, prefix=".sunseal.")
    os.close(handle)
    try:
        yield place, path.suffix == ".fst"
    except _engine.EngineError as e:
        if UNWRITTEN in str(e):
            Path(place).unlink(missing_ok=True)
        raise
    finally:
        written = Path(place)
        if written.is_file() and written.stat().st_size:
            written.chmod(0o644)
            written.replace(path)
        written.unlink(missing_ok=True)


def name_states(path: Path, device: str, components: Sequence[str], states: Sequence[str]) -> list[Path]:
    """Write what GTKWave shows numbers of states by: a file of names, and a save file that applies it."""
    if not states:
        return []
    names, save = path.with_suffix(".states.txt"), path.with_suffix(".gtkw")
    bits = (max(len(states), 2) - 1).bit_length()
    digits = -(-bits // 4)
    rows = "".join(f"{number:0{digits}x} {name}\n" for number, name in enumerate(states))
    write_atomic(names, rows)
    wide = f"[{bits - 1}:0]" if bits > 1 else ""
    shown = "".join(
        f"{TRANSLATED}\n^1 {names.absolute()}\n{device}.states.{component.replace(' ', '_')}{wide}\n"
        for component in components
    )
    write_atomic(save, f'[dumpfile] "{path.absolute()}"\n{shown}')
    return [names, save]


@dataclass
class Dumped:
    """A dump of our own, read back: scope and name of each signal by its code, and changes in picoseconds."""

    signals: dict[str, tuple[str, str]] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    changes: list[tuple[int, str, int]] = field(default_factory=list)
    end_ps: int = 0


def read(path: Path) -> Dumped:
    """Read a dump that a run of ours wrote."""
    told, scopes, tick_ps, now = Dumped(), list[str](), 1, 0
    with path.open(encoding="utf-8") as lines:
        text = ""
        for line in lines:
            text += line
            if "$enddefinitions" in line:
                break
        for part in text.split("$end\n"):
            word = part.split()
            if word[:1] == ["$timescale"]:
                tick_ps = int(word[1]) * UNITS_PS[word[2]]
            elif word[:2] == ["$comment", "states:"]:
                pairs = " ".join(word[2:]).split(", ")
                told.states = {int(number): name for number, _, name in (pair.partition(" ") for pair in pairs)}
            elif word[:1] == ["$scope"]:
                scopes.append(word[2])
            elif word[:1] == ["$upscope"]:
                scopes.pop()
            elif word[:1] == ["$var"]:
                told.signals[word[3]] = (scopes[-1], word[4])
        for line in lines:
            if line[0] == "#":
                now = int(line[1:]) * tick_ps
            elif line[0] == "b":
                value, code = line[1:].split()
                if "x" not in value:
                    told.changes.append((now, code, int(value, 2)))
            elif line[0] in "01":
                told.changes.append((now, line[1:].strip(), int(line[0])))
    told.end_ps = now
    return told
