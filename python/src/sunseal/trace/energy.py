# SPDX-License-Identifier: MIT OR Apache-2.0
"""Energy as a bench with an oscilloscope finds it: find the trigger's windows, integrate, say how sure that is.

Energy is the sum over a window's samples of supply voltage times current times the time each sample holds:
equation 3.1 of Mane 2014, and equations 1 and 2 of Rizvi et al. 2009 (over N samples: their sum takes N + 1).
Uncertainty follows the GUM (JCGM 100:2008); docs/reference/traces.md has each term.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sunseal.catalog.units import show
from sunseal.errors import SunsealError
from sunseal.requests import Bench, Trigger
from sunseal.trace.model import Array, Block, Channel, Recording, Told

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Values = Callable[[Block, Array], Array]
"""Takes a channel of a block, or the power that stands beside it."""
Labels = Callable[[Block, Array], Numbers]
"""Says for each sample of a block, and its power, which window it lies in; 0 is none."""
ROOT_3, ROOT_6, ROOT_12 = math.sqrt(3.0), math.sqrt(6.0), math.sqrt(12.0)
LSB_SAMPLES = 1 << 16
UNIT_HINT = "write it in the header as `current (mA)`, or say what its 1 is with `--scale`, such as 1V or 10mA"
SUPPLY = re.compile(
    r"v|u|mv|v_?(cc|dd|supply|in|out|bat)|(supply|bus|main|battery|target)?[ _]?(voltage|volts?)|supply", re.I
)
"""Names of a channel that can be taken for the supply without being named; `mv` is Otii's main voltage."""
COVERAGE = 0.9545
"""The share of a normal distribution within two standard deviations."""


@dataclass(frozen=True)
class Window:
    """One stretch of the recording, integrated."""

    first: int
    samples: int
    begin_s: float
    time_s: float
    energy_j: float
    """With what is to be subtracted or added."""
    gross_j: float
    power_min_w: float
    power_max_w: float

    @property
    def power_w(self) -> float:
        """Return the mean power of the window."""
        return self.energy_j / self.time_s


@dataclass(frozen=True)
class Term:
    """One source of uncertainty of the mean energy: its standard uncertainty in joules."""

    name: str
    standard_j: float
    kind: str
    """A: from the scatter of the windows; B: from what is known of the instrument."""


@dataclass(frozen=True)
class Energy:
    """The energy of a recording's windows, with its quantisation and its uncertainty."""

    windows: tuple[Window, ...]
    channel: Channel
    terms: tuple[Term, ...]
    idle_w: float | None
    """Mean power outside the windows, None where there is no such sample."""
    idle_subtracted: bool
    vcc_v: float | None
    """Mean supply voltage in the windows."""
    step_s: float
    lsb: float | None
    lsb_j: float | None
    """Energy of one converter step in one sample: how fine equation 3.1 can tell."""
    clipped: float | None
    """Share of the windows' samples at an end of the converter's range."""
    notes: tuple[str, ...] = ()
    freq_hz: float | None = None

    @property
    def energy_j(self) -> float:
        """Mean energy of the windows."""
        return float(np.mean([w.energy_j for w in self.windows]))

    @property
    def time_s(self) -> float:
        """Mean length of the windows."""
        return float(np.mean([w.time_s for w in self.windows]))

    @property
    def deviation_j(self) -> float | None:
        """Standard deviation over the windows."""
        return float(np.std([w.energy_j for w in self.windows], ddof=1)) if len(self.windows) > 1 else None

    @property
    def standard_j(self) -> float:
        """Combined standard uncertainty of the mean energy."""
        return math.hypot(*(t.standard_j for t in self.terms))

    @property
    def coverage_factor(self) -> float:
        """Return the factor for 95.45 %, by the effective degrees of freedom (GUM, G.4.1)."""
        from scipy.special import ndtri, stdtrit

        scatter = math.hypot(*(x.standard_j for x in self.terms if x.kind == "A"), 0.0)
        if scatter == 0.0:
            return float(ndtri((1 + COVERAGE) / 2))
        freedom = self.standard_j**4 / scatter**4 * (len(self.windows) - 1)
        return float(stdtrit(freedom, (1 + COVERAGE) / 2))

    @property
    def expanded_j(self) -> float:
        """Expanded uncertainty: the energy lies within plus and minus this with 95 %."""
        return self.coverage_factor * self.standard_j

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints, in SI units."""
        told: dict[str, Any] = {
            "windows": [vars(w) | {"power_w": w.power_w} for w in self.windows],
            "energy_j": self.energy_j,
            "time_s": self.time_s,
            "power_w": self.energy_j / self.time_s,
            "deviation_j": self.deviation_j,
            "standard_uncertainty_j": self.standard_j,
            "coverage_factor": self.coverage_factor,
            "expanded_uncertainty_j": self.expanded_j,
            "uncertainty": [vars(t) for t in self.terms],
            "idle_w": self.idle_w,
            "idle_subtracted": self.idle_subtracted,
            "vcc_v": self.vcc_v,
            "channel": self.channel.name,
            "sample_interval_s": self.step_s,
            "lsb": self.lsb,
            "lsb_energy_j": self.lsb_j,
            "clipped": self.clipped,
            "notes": list(self.notes),
        }
        if self.freq_hz is not None:
            told["cycles"] = self.time_s * self.freq_hz
        return told


# --- From samples to watts -------------------------------------------------------------------


@dataclass(frozen=True)
class Front:
    """The way from the measured channel to the device's power."""

    bench: Bench
    channel: Channel
    kind: str
    """current, shunt, power or energy."""
    vcc_channel: str | None

    @property
    def needs(self) -> tuple[str, ...]:
        """The channels that must be read."""
        return (self.channel.name,) + ((self.vcc_channel,) if self.vcc_channel else ())

    @property
    def volts_per_ampere(self) -> float:
        """Return the factor that turns amperes into the channel's volts."""
        return (self.bench.shunt_ohm or 1.0) * self.bench.gain if self.kind == "shunt" else self.bench.gain

    def measured(self, block: Block) -> Array:
        """Return the channel in its unit, without its offset."""
        return np.asarray(block.values[self.channel.name] * self.bench.scale - self.bench.offset)

    def supply(self, block: Block) -> Array | float:
        """Return the supply voltage in volts."""
        if self.vcc_channel is not None:
            return block.values[self.vcc_channel]
        return self.bench.vcc_v if self.bench.vcc_v is not None else math.nan

    def power(self, block: Block, energy_next: float | None = None) -> Array:
        """Return the device's power in watts for each sample; of an energy, by the reading of the next sample."""
        x = self.measured(block)
        if self.kind == "energy":
            end = x[-1] if energy_next is None else energy_next * self.bench.scale - self.bench.offset
            return np.asarray(np.diff(x, append=end) / block.width_s / self.bench.gain)
        if self.kind == "power":
            return x / self.bench.gain
        current = x / self.volts_per_ampere
        volts = self.supply(block)
        if self.bench.burden:
            volts = volts - current * (self.bench.shunt_ohm or 0.0)
        return np.asarray(volts * current)

    def slope(self, vcc_v: float) -> float:
        """Return the watts of one unit of the channel."""
        return 1.0 / self.bench.gain if self.kind in ("power", "energy") else vcc_v / self.volts_per_ampere


def front(recording: Recording, bench: Bench, trigger: Trigger) -> Front:
    """Choose the channels: those that are named, else those that can be meant."""
    by_unit: dict[str, list[Channel]] = {}
    taken = {(n or "").lower() for n in (trigger.channel, bench.vcc_channel)}
    for one in recording.channels:
        base = (bench.scale_unit or "?") if one.unit == "?" else one.unit
        if one.name.lower() not in taken:
            by_unit.setdefault(base, []).append(one)
    if bench.current is not None:
        channel = recording.channel(bench.current)
    else:
        order = ["J", "W", "A", "V"] if recording.format.startswith("energytrace") else ["W", "A", "V"]
        if bench.shunt_ohm is not None:
            order = ["V"]
        found = next((by_unit[u] for u in order if by_unit.get(u)), [])
        doubtful = next((c for c in recording.channels if c.doubt), None)
        if not found and doubtful is not None:
            raise SunsealError(doubtful.doubt, hint=UNIT_HINT)
        if len(found) != 1:
            known = ", ".join(f"{c.name} ({c.unit})" for c in recording.channels)
            raise SunsealError(
                f"`{recording.path.name}` has {'more than one channel' if found else 'no channel'} that can be the "
                f"current or the power: {known}",
                hint="name it with `--current`"
                + ("; an array without a unit needs `--scale`, such as 1V or 10mA" if not found else ""),
            )
        channel = found[0]
    base = (bench.scale_unit or "?") if channel.unit == "?" else channel.unit
    kinds = {"A": "current", "V": "shunt", "W": "power", "J": "energy"}
    if base not in kinds:
        raise SunsealError(
            channel.doubt
            or f"channel `{channel.name}` of `{recording.path.name}` has no unit of current, voltage, power or energy",
            hint=UNIT_HINT,
        )
    kind = kinds[base]
    if kind == "shunt" and bench.shunt_ohm is None:
        raise SunsealError(
            f"channel `{channel.name}` of `{recording.path.name}` is a voltage, and what it says of the current is "
            "not known",
            hint="give the shunt, such as `--shunt 100ohm`; a probe of 5 mV/mA is `--shunt 5ohm`",
        )
    if kind != "shunt" and bench.burden:
        raise SunsealError("`--burden` belongs to a shunt: give `--shunt`")
    vcc = bench.vcc_channel
    if vcc is not None:
        vcc = recording.channel(vcc).name
        if recording.channel(vcc).unit != "V":
            raise SunsealError(f"channel `{vcc}` of `{recording.path.name}` is no voltage, so it is no supply")
    elif bench.vcc_v is None and kind in ("current", "shunt"):
        volts = [c for c in by_unit.get("V", []) if c.name != channel.name and SUPPLY.fullmatch(c.name)]
        if len(volts) == 1:
            vcc = volts[0].name
        else:
            raise SunsealError(
                f"the supply voltage of `{recording.path.name}` is not known, so its current is no power",
                hint="give it with `--vcc 2.2V`, or name its channel with `--vcc-channel`",
            )
    return Front(bench, Channel(channel.name, base, channel.lsb), kind, vcc)


# --- Windows ---------------------------------------------------------------------------------


def _by_level(values: Values, low: float, high: float, falling: bool) -> Labels:
    """Number the windows in which a channel is up (or down), with hysteresis between `low` and `high`."""
    state: bool | None = None
    count = 0

    def labels(block: Block, power: Array) -> Numbers:
        nonlocal state, count
        x = values(block, power)
        if state is None:
            state = bool(x[0] > (low + high) / 2)
            if state != falling:
                count = 1
        marks = np.where(x >= high, 1, np.where(x <= low, -1, 0))
        last = np.maximum.accumulate(np.where(marks != 0, np.arange(len(x)), -1))
        up = np.where(last >= 0, marks[np.maximum(last, 0)] > 0, state)
        inside = up != falling
        before = state != falling
        rises = inside & ~np.concatenate([[before], inside[:-1]])
        numbers = count + np.cumsum(rises)
        state, count = bool(up[-1]), int(numbers[-1])
        return np.where(inside, numbers, 0)

    return labels


def _limits(
    recording: Recording, chain: Front, name: str, values: Values, needs: tuple[str, ...]
) -> tuple[float, float]:
    least, most = math.inf, -math.inf
    for block, power in powers(recording, chain, needs):
        x = values(block, power)
        least, most = min(least, float(x.min())), max(most, float(x.max()))
    if least == most:
        raise SunsealError(
            f"the trigger `{name}` of `{recording.path.name}` stays at {least:g}, so there are no windows",
            hint="name another channel with `--trigger`, or leave it out to integrate the whole recording",
        )
    return least, most


@dataclass
class _Sum:
    first: int
    begin_s: float
    samples: int = 0
    time_s: float = 0.0
    energy_j: float = 0.0
    x: float = 0.0
    x2: float = 0.0
    width2: float = 0.0
    volts: float = 0.0
    least_w: float = math.inf
    most_w: float = -math.inf
    clipped: int = 0


@dataclass
class _Sums:
    """Sums that are made in one pass."""

    windows: dict[int, _Sum] = field(default_factory=dict)
    idle_j: float = 0.0
    idle_s: float = 0.0
    idle_p2: float = 0.0
    idle_samples: int = 0
    first_label: int | None = None
    last_label: int = 0
    begin_s: float = 0.0
    end_s: float = 0.0


def measure(
    recording: Recording,
    bench: Bench,
    trigger: Trigger | None = None,
    *,
    subtract_idle: bool = False,
    idle_w: float | None = None,
    freq_hz: float | None = None,
    told: Told | None = None,
) -> Energy:
    """Integrate the windows of a recording; `subtract_idle` takes off the mean power outside them, `idle_w` that."""
    trigger = trigger or Trigger()
    chain = front(recording, bench, trigger)
    labels, needs, notes, cut = _windows(recording, trigger, chain)
    lsb = _lsb(recording, chain)
    ends = _ends(bench, lsb)
    sums = _Sums()
    for block, power in powers(recording, chain, needs, told):
        _add(sums, block, power, labels(block, power), chain, ends)
    _beyond(recording, trigger, sums, notes)
    found = _whole_windows(recording, trigger, sums, cut, notes)
    mean_idle = sums.idle_j / sums.idle_s if sums.idle_s > 0 else None
    taken = idle_w if idle_w is not None else mean_idle if subtract_idle else None
    if subtract_idle and taken is None:
        raise SunsealError(
            f"`{recording.path.name}` has no sample outside the windows, so there is no idle level to subtract",
            hint="give it with `--idle-power`",
        )
    windows = tuple(
        Window(
            s.first,
            s.samples,
            s.begin_s,
            s.time_s,
            s.energy_j + (bench.static_w - (taken or 0.0)) * s.time_s,
            s.energy_j,
            s.least_w,
            s.most_w,
        )
        for s in found.values()
    )
    samples = sum(s.samples for s in found.values())
    total_s = sum(s.time_s for s in found.values())
    volts = sum(s.volts for s in found.values()) / total_s
    vcc = None if math.isnan(volts) else volts
    slope = chain.slope(volts)
    step = total_s / samples
    return Energy(
        windows=windows,
        channel=chain.channel,
        terms=_terms(list(found.values()), windows, chain, slope, lsb, taken, idle_w, sums, cut),
        idle_w=mean_idle,
        idle_subtracted=taken is not None,
        vcc_v=vcc,
        step_s=step,
        lsb=lsb,
        lsb_j=None if lsb is None else (lsb if chain.kind == "energy" else abs(slope) * lsb * step),
        clipped=None if ends is None else sum(s.clipped for s in found.values()) / samples,
        notes=(
            *recording.notes,
            *notes,
            *([f"supply voltage by channel {chain.vcc_channel}"] if chain.vcc_channel else []),
        ),
        freq_hz=freq_hz,
    )


def _beyond(recording: Recording, trigger: Trigger, sums: _Sums, notes: list[str]) -> None:
    """Say where a window by times goes beyond the recording; refuse one that lies beside it."""
    begin, end = (t if t is not None else math.nan for t in (trigger.from_s, trigger.to_s))
    if begin >= sums.end_s or end <= sums.begin_s:
        raise SunsealError(
            f"the window lies beside `{recording.path.name}`, which goes from {show(sums.begin_s, 's', 6)} to "
            f"{show(sums.end_s, 's', 6)}",
            hint="`--from` and `--to` count in the recording's own time",
        )
    if begin < sums.begin_s - 1e-9 * abs(begin):
        notes.append(f"the recording begins at {show(sums.begin_s, 's', 6)}, after `--from`")
    if end > sums.end_s + 1e-9 * abs(end):
        notes.append(f"the recording ends at {show(sums.end_s, 's', 6)}, before `--to`")


def _whole_windows(recording: Recording, trigger: Trigger, sums: _Sums, cut: bool, notes: list[str]) -> dict[int, _Sum]:
    """Leave out what is cut off or too short, saying so in `notes`; refuse windows of too few samples."""
    found = dict(sums.windows)
    if cut and sums.first_label:
        found.pop(sums.first_label)
        notes.append("a window that had begun before the recording is left out")
    if cut and sums.last_label in found:
        found.pop(sums.last_label)
        notes.append("a window that had not ended with the recording is left out")
    short = [k for k, s in found.items() if s.time_s < trigger.window_min_s]
    for k in short:
        found.pop(k)
    if short:
        notes.append(f"{len(short)} windows shorter than {show(trigger.window_min_s, 's')} are left out")
    if not found:
        raise SunsealError(
            f"`{recording.path.name}` has no whole window" + (f": {'; '.join(notes)}" if notes else ""),
            hint="set the trigger's level with `--level`, or record more before and behind the operation",
        )
    for number, s in enumerate(found.values(), 1):
        if s.samples < trigger.samples_min:
            step = s.time_s / s.samples
            raise SunsealError(
                f"window {number} ({recording.where(s.first)}) has {s.samples} samples in {show(s.time_s, 's')}: "
                f"{show(1 / step, 'Hz')} does not resolve it; at least "
                f"{show(trigger.samples_min / s.time_s, 'Hz')} are needed",
                hint="`--min-window` leaves out short windows; `--samples-min` sets how many samples are enough",
            )
    return found


def _windows(recording: Recording, trigger: Trigger, chain: Front) -> tuple[Labels, tuple[str, ...], list[str], bool]:
    """Return what labels the samples, the channels it needs, notes, and whether windows at the ends are cut off."""
    if trigger.from_s is not None or trigger.to_s is not None:
        if trigger.channel is not None:
            raise SunsealError("`--trigger` and `--from`/`--to` exclude each other: choose one of them")
        begin = -math.inf if trigger.from_s is None else trigger.from_s
        end = math.inf if trigger.to_s is None else trigger.to_s
        if not begin < end:
            raise SunsealError(f"the window from {begin:g} s to {end:g} s has no length")
        return lambda b, _: ((b.time_s >= begin) & (b.time_s < end)).astype(np.int64), (), [], False
    if trigger.channel is None:
        if recording.windows:
            starts = np.array([w[0] for w in recording.windows])
            return lambda b, _: np.searchsorted(starts, b.first + np.arange(len(b)), side="right"), (), [], False
        return lambda b, _: np.ones(len(b), dtype=np.int64), (), [], False
    values: Values
    if trigger.channel == "power" and "power" not in [c.name.lower() for c in recording.channels]:
        needs: tuple[str, ...] = ()
        unit = "W"
        values = _power_itself
    else:
        one = recording.channel(trigger.channel)
        needs, unit = (one.name,), one.unit
        values = _of_channel(one.name)
    name = trigger.channel
    if trigger.level is None or trigger.hysteresis is None:
        if unit == "1":
            least, most = 0.0, 1.0
        else:
            least, most = _limits(recording, chain, name, values, needs)
    level = trigger.level if trigger.level is not None else (least + most) / 2
    width = trigger.hysteresis if trigger.hysteresis is not None else (most - least) / 10
    notes = [] if trigger.level is not None else [f"trigger level {level:.4g} {unit.replace('1', '')}".rstrip()]
    return _by_level(values, level - width / 2, level + width / 2, trigger.falling), needs, notes, True


def _power_itself(_: Block, power: Array) -> Array:
    return power


def _of_channel(name: str) -> Values:
    return lambda block, _: block.values[name]


def powers(
    recording: Recording, chain: Front, needs: tuple[str, ...] = (), told: Told | None = None
) -> Iterator[tuple[Block, Array]]:
    """Go through the blocks with their power; of an energy the last sample, which nothing ends, is left out."""
    held: Block | None = None
    for block in recording.blocks(tuple(dict.fromkeys((*chain.needs, *needs))), told):
        if chain.kind != "energy":
            yield block, chain.power(block)
            continue
        if held is not None:
            yield held, chain.power(held, float(block.values[chain.channel.name][0]))
        held = block
    if held is not None and len(held) > 1:
        last = float(held.values[chain.channel.name][-1])
        rest = Block(held.first, held.time_s[:-1], held.width_s[:-1], {n: v[:-1] for n, v in held.values.items()})
        yield rest, chain.power(rest, last)


def _add(
    sums: _Sums,
    block: Block,
    power: Array,
    label: Numbers,
    chain: Front,
    ends: tuple[float, float] | None,
) -> None:
    width = block.width_s
    x = chain.measured(block)
    volts = np.broadcast_to(chain.supply(block), power.shape)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(label)) + 1])
    if sums.first_label is None:
        sums.first_label, sums.begin_s = int(label[0]), float(block.time_s[0])
    sums.last_label = int(label[-1])
    sums.end_s = float(block.time_s[-1] + width[-1])

    def each(values: Array) -> Array:
        return np.add.reduceat(values, starts)

    joules, seconds, counts = each(power * width), each(width), np.diff(np.append(starts, len(label)))
    squares = each(power * power)
    xs, x2s, w2s, vs = each(x), each(x * x), each(width * width), each(volts * width)
    least, most = np.minimum.reduceat(power, starts), np.maximum.reduceat(power, starts)
    at_ends = each(((x <= ends[0]) | (x >= ends[1])).astype(np.float64)) if ends else np.zeros(len(starts))
    for i, start in enumerate(starts):
        key = int(label[start])
        if key == 0:
            sums.idle_j += float(joules[i])
            sums.idle_s += float(seconds[i])
            sums.idle_p2 += float(squares[i])
            sums.idle_samples += int(counts[i])
            continue
        s = sums.windows.setdefault(key, _Sum(block.first + int(start), float(block.time_s[start])))
        s.samples += int(counts[i])
        s.time_s += float(seconds[i])
        s.energy_j += float(joules[i])
        s.x += float(xs[i])
        s.x2 += float(x2s[i])
        s.width2 += float(w2s[i])
        s.volts += float(vs[i])
        s.least_w, s.most_w = min(s.least_w, float(least[i])), max(s.most_w, float(most[i]))
        s.clipped += int(at_ends[i])


# --- Quantisation and uncertainty ------------------------------------------------------------


def _lsb(recording: Recording, chain: Front) -> float | None:
    """Return the converter's step in the channel's unit: given, of the file, or the least difference in the data."""
    bench = chain.bench
    if bench.lsb is not None:
        return bench.lsb
    if bench.adc_bits is not None and bench.vref_v is not None:
        return float(bench.vref_v / 2**bench.adc_bits)
    if chain.channel.lsb is not None:
        return chain.channel.lsb * bench.scale
    for block in recording.blocks((chain.channel.name,)):
        seen = block.values[chain.channel.name][:LSB_SAMPLES]
        levels = np.unique(seen)
        if 2 * len(levels) > len(seen):  # hardly a value twice: what was recorded has been computed since
            return None
        steps = np.diff(levels)
        steps = steps[steps > 1e-9 * float(np.abs(levels).max())]
        return float(steps.min()) * bench.scale if steps.size else None
    return None


def _ends(bench: Bench, lsb: float | None) -> tuple[float, float] | None:
    if bench.vref_v is None or lsb is None:
        return None
    return -bench.offset, bench.vref_v - lsb * 1.5 - bench.offset


def _terms(
    sums: list[_Sum],
    windows: tuple[Window, ...],
    chain: Front,
    slope: float,
    lsb: float | None,
    taken_w: float | None,
    given_w: float | None,
    all_sums: _Sums,
    triggered: bool,
) -> tuple[Term, ...]:
    bench, n = chain.bench, len(windows)
    energy = float(np.mean([w.energy_j - bench.static_w * w.time_s for w in windows]))
    time = float(np.mean([w.time_s for w in windows]))
    step = sum(s.time_s for s in sums) / sum(s.samples for s in sums)
    terms: list[Term] = []

    def relative(name: str, tolerance: float) -> None:
        if tolerance:
            terms.append(Term(name, abs(energy) * tolerance / ROOT_3, "B"))

    if chain.kind == "shunt":
        relative("shunt", bench.shunt_tolerance)
    relative("gain", bench.gain_tolerance)
    if chain.kind in ("shunt", "current"):
        relative("supply voltage", bench.vcc_tolerance)
    relative("time base", bench.timebase_tolerance)
    offset_cancels = taken_w is not None and given_w is None
    if bench.offset_tolerance and not offset_cancels and chain.kind != "energy":
        terms.append(Term("offset", abs(slope) * bench.offset_tolerance / ROOT_3 * time, "B"))
    if lsb is not None:
        if chain.kind == "energy":  # the difference of two readings
            terms.append(Term("quantisation", math.sqrt(2.0) * lsb / ROOT_12 / bench.gain / math.sqrt(n), "B"))
        else:
            # Noise of half a step makes the errors of the samples independent; without it they are one and the same.
            noisy = all(math.sqrt(max(s.x2 / s.samples - (s.x / s.samples) ** 2, 0.0)) >= lsb / 2 for s in sums)
            reach = math.sqrt(sum(s.width2 for s in sums)) / n if noisy else time
            terms.append(Term("quantisation", abs(slope) * lsb / ROOT_12 * reach, "B"))
    if triggered:  # each edge lies anywhere within a sample
        jump_w = abs(energy / time - (0.0 if taken_w is not None else _idle(all_sums) or 0.0))
        terms.append(Term("window edges", jump_w * step / ROOT_6 / math.sqrt(n), "B"))
    if offset_cancels and all_sums.idle_samples > 1:
        mean = _idle(all_sums) or 0.0
        spread = math.sqrt(max(all_sums.idle_p2 / all_sums.idle_samples - mean**2, 0.0))
        terms.append(Term("idle level", spread / math.sqrt(all_sums.idle_samples) * time, "B"))
    if n > 1:
        terms.append(Term("repeatability", float(np.std([w.energy_j for w in windows], ddof=1)) / math.sqrt(n), "A"))
    return tuple(terms)


def _idle(sums: _Sums) -> float | None:
    return sums.idle_j / sums.idle_s if sums.idle_s > 0 else None
