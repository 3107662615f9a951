# SPDX-License-Identifier: MIT OR Apache-2.0
"""A recording of an instrument: channels with units, read in blocks, checked as it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sunseal.catalog.units import PREFIX, show
from sunseal.errors import SunsealError, unknown

Array = npt.NDArray[np.float64]
BLOCK_SAMPLES = 1 << 18
"""So many samples of each channel are in memory at once: 2 MiB a channel."""
GAP_STEPS = 1.5
"""A step longer than so many of the usual ones is a gap."""

WORDS = {
    "s": "s",
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "v": "V",
    "volt": "V",
    "volts": "V",
    "a": "A",
    "amp": "A",
    "amps": "A",
    "ampere": "A",
    "amperes": "A",
    "w": "W",
    "watt": "W",
    "watts": "W",
    "j": "J",
    "joule": "J",
    "joules": "J",
}
"""Units as instruments spell them out, without a prefix."""
BASES = ("s", "V", "A", "W", "J")


def unit(text: str) -> tuple[str, float] | None:
    """Read a unit as instruments write it: `mA` is ("A", 1e-3), `Volt` ("V", 1), `0.1uJ` ("J", 1e-7)."""
    text = text.strip().replace("μ", "u").replace("µ", "u")
    count = re.match(r"\d+(\.\d+)?\s*", text)
    factor = float(count.group()) if count else 1.0
    text = text[count.end() :] if count else text
    if text.lower() in WORDS:
        return WORDS[text.lower()], factor
    for base in BASES:
        if text.endswith(base) and text.removesuffix(base) in PREFIX:
            return base, factor * 10.0 ** PREFIX[text.removesuffix(base)]
    return None


@dataclass(frozen=True)
class Channel:
    """One signal of a recording, in SI base units."""

    name: str
    unit: str
    """V, A, W, J (energy since the beginning), 1 for a digital level, or ? where the file does not say."""
    lsb: float | None = None
    """One step of its converter, where the file says so."""
    doubt: str = ""
    """Reason for which it has no unit, with the line."""


@dataclass(frozen=True)
class Block:
    """Block of consecutive samples."""

    first: int
    """Number of the first sample, from 0."""
    time_s: Array
    width_s: Array
    """Time for which each sample holds: until the next one."""
    values: dict[str, Array]

    def __len__(self) -> int:
        """Count the block's samples."""
        return len(self.time_s)


Raw = tuple[Array | None, dict[str, Array]]
"""Times (None: even steps) and values, as a reader takes them from the file."""
Told = Callable[[int], object]
"""Hears how many samples were read."""


@dataclass(frozen=True)
class Recording:
    """Recording that a file holds. Nothing is read before `blocks` is gone through."""

    path: Path
    format: str
    channels: tuple[Channel, ...]
    raw: Callable[[tuple[str, ...]], Iterable[Raw]]
    """Reads the channels of these names, in blocks."""
    samples: int | None = None
    step_s: float | None = None
    """Time from sample to sample, where the samples are even and the file or the user says how far apart."""
    start_s: float = 0.0
    even: bool = True
    """True if a longer step than usual is a gap."""
    verify: bool = False
    """True if the file's times are held against `step_s`, which its header gives."""
    first_line: int | None = None
    """Line of the first sample, in a text file."""
    windows: tuple[tuple[int, int], ...] = ()
    """Samples from and to of windows that the instrument cut itself, such as ChipWhisperer's traces."""
    device: str = ""
    notes: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)

    def where(self, sample: int) -> str:
        """Say where in the file a sample lies."""
        if self.first_line is not None:
            return f"line {self.first_line + sample} of `{self.path.name}`"
        return f"sample {sample} of `{self.path.name}`"

    def channel(self, name: str) -> Channel:
        """Return a channel by its name, whatever the case."""
        for one in self.channels:
            if one.name.lower() == name.lower():
                return one
        raise unknown("channel", name, [c.name for c in self.channels], f"in `{self.path.name}`")

    def only(self, base: str, what: str) -> Channel | None:
        """Return the one channel of a unit, None where there is none; more than one is an error."""
        found = [c for c in self.channels if c.unit == base]
        if len(found) > 1:
            raise SunsealError(
                f"`{self.path.name}` has more than one channel in {base}: {', '.join(c.name for c in found)}; "
                f"say which one is {what}"
            )
        return found[0] if found else None

    def with_step(self, step_s: float | None, even: bool | None = None) -> Recording:
        """Take even steps of this length whatever the file says, or take its steps as they come."""
        changed = self if step_s is None else replace(self, step_s=step_s, verify=False)
        return changed if even is None else replace(changed, even=even)

    def blocks(self, names: Iterable[str], told: Told | None = None) -> Iterator[Block]:
        """Go through the samples of some channels; the first that is wrong raises a sentence with its place."""
        names = tuple(dict.fromkeys(names))
        held: tuple[float, dict[str, float]] | None = None
        first, usual, seen = 0, self.step_s, 0
        for times, values in self.raw(names):
            count = len(next(iter(values.values()))) if values else len(times if times is not None else ())
            if count == 0:
                continue
            for name in names:
                self._finite(name, values[name], seen)
            time = self._times(times, seen, count)
            before = held[0] if held else None
            usual = self._forward(time, before, seen, usual)
            if self.step_s is not None:
                yield Block(seen, time, np.full(count, self.step_s), values)
            else:  # the last sample waits for the next one, which ends it
                if held is not None:
                    time = np.concatenate([[held[0]], time])
                joined = {n: np.concatenate([[held[1][n]], v]) if held else v for n, v in values.items()}
                if len(time) > 1:
                    yield Block(first, time[:-1], np.diff(time), {n: v[:-1] for n, v in joined.items()})
                first += len(time) - 1
                held = float(time[-1]), {n: float(v[-1]) for n, v in joined.items()}
            seen += count
            if told is not None:
                told(seen)
        if seen == 0:
            raise SunsealError(f"`{self.path.name}` holds no samples")
        if self.samples is not None and self.samples > seen:
            raise SunsealError(
                f"`{self.path.name}` says it has {self.samples} samples, but holds {seen}: it is cut off"
            )
        if held is not None:
            if usual is None:
                raise SunsealError(f"`{self.path.name}` holds one sample, which has no length", hint="give `--rate`")
            yield Block(first, np.array([held[0]]), np.array([usual]), {n: np.array([v]) for n, v in held[1].items()})

    def _finite(self, name: str, values: Array, seen: int) -> None:
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            at = int(bad[0])
            what = "no number (NaN)" if np.isnan(values[at]) else "beyond the instrument's range (infinite)"
            raise SunsealError(
                f"{self.where(seen + at)}: channel `{name}` is {what}",
                hint="export it again with a larger range, or cut the recording before or behind it",
            )

    def _times(self, times: Array | None, seen: int, count: int) -> Array:
        if self.step_s is None:
            assert times is not None, "a reader gives times or the recording its step"
            if (bad := np.flatnonzero(~np.isfinite(times))).size:
                raise SunsealError(f"{self.where(seen + int(bad[0]))}: the time is no number (NaN)")
            return times
        even = np.asarray(self.start_s + (seen + np.arange(count)) * self.step_s)
        if self.verify and times is not None:
            off = times - even
            wrong = ~(np.abs(off) <= 0.5 * self.step_s + self._resolution_s + 1e-9 * np.abs(even))
            if (bad := np.flatnonzero(wrong)).size:
                at = int(bad[0])
                raise SunsealError(
                    f"{self.where(seen + at)}: the time {show(float(times[at]), 's', 6)} is "
                    f"{show(abs(float(off[at])), 's')} {'after' if off[at] > 0 else 'before'} what the header's sample "
                    f"interval of {show(self.step_s, 's')} says: there is a gap, or time goes back",
                    hint="`--rate` takes even steps whatever the times say",
                )
        return even

    def _forward(self, time: Array, before: float | None, seen: int, usual: float | None) -> float | None:
        """Refuse time that stands, goes back or jumps; return the usual step."""
        if self.step_s is not None:
            return usual
        steps = np.diff(time) if before is None else np.diff(time, prepend=before)
        offset = seen + (1 if before is None else 0)
        if (bad := np.flatnonzero(steps <= 0)).size:
            at = int(bad[0])
            if steps[at] == 0:
                still = show(float(time[at + len(time) - len(steps)]), "s", 6)
                raise SunsealError(
                    f"{self.where(offset + at)}: the time stands still at {still}",
                    hint="the export rounds its times; give the sample rate with `--rate`",
                )
            raise SunsealError(
                f"{self.where(offset + at)}: the time goes back by {show(-float(steps[at]), 's')}; "
                "samples must come in the order of time"
            )
        if usual is None and steps.size:
            usual = float(np.median(steps))
        if self.even and usual is not None and steps.size:
            # Two digits of a rounded time may differ by one each.
            rounding = 2 * np.spacing(float(np.abs(time).max())) + self._resolution_s
            if (bad := np.flatnonzero(steps > GAP_STEPS * usual + rounding)).size:
                at = int(bad[0])
                raise SunsealError(
                    f"{self.where(offset + at)}: a gap of {show(float(steps[at]), 's')} before it; "
                    f"the samples are {show(usual, 's')} apart",
                    hint="`--uneven` takes the steps as they come",
                )
        return usual

    @property
    def _resolution_s(self) -> float:
        return float(self.facts.get("time_resolution_s", "0"))
