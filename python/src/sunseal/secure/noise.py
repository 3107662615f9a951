# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models of noise that are fitted to a chip's recordings: memory at start-up, and periods of an oscillator.

A cell of memory is a race with a lead of its own, noise at each start, and a drift with temperature (Maes 2013, "An
Accurate Probabilistic Reliability Model for Silicon PUFs", CHES): all three follow from how often values of one cell
agree. An oscillator's edges have noise of their own, noise that accumulates, and wander: the Allan variance of sums of
periods tells them apart. Half of each recording is fitted and the other half judges.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal import requests
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import boards
from sunseal.errors import SunsealError, unknown
from sunseal.machine import images
from sunseal.requests.asking import answers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]
    """A row a start, a column a cell."""
    Series = NDArray[np.float64]

IMAGES = (".hex", ".ihex", ".ihx", ".s19", ".srec", ".txt")
"""Endings of dumps that are no bare bytes: Intel HEX, Motorola S-records, TI-TXT."""
STARTS_MIN = 4
"""Two are fitted, two judge."""
FLIPS_MIN = 400
"""Disagreements of a cell with itself that an estimate wants: it is then known to a twentieth."""
PERIODS_MIN = {"edge noise": 1_000, "accumulating noise": 1_000, "wander": 10_000}
"""Periods that each estimator of an oscillator wants."""
LAGS = (1, 8, 32)
"""Cells so far apart are asked for correlation: in a byte, of the next byte, of the next word."""
SIGNIFICANT = 4.0
"""Deviations by which a correlation differs from none."""
WITHIN = 0.10
"""Share within which what the model foretells of memory agrees with the half that judges."""
WITHIN_RATE = 0.002
"""Share for mean periods at other temperatures."""
WITHIN_JITTER = 0.20
"""Share for an oscillator's Allan variances."""
ASKED = (1, 2, 4, 8)
"""Sums of so many periods are held to the model."""
CREDIT = 1 / 8
"""Bits of min-entropy that firmware/crypto/include/sunseal/random.h credits a byte of memory."""


@dataclass(frozen=True)
class Foretold:
    """A figure that was not fitted, of the half that judges."""

    name: str
    model: float
    seen: float
    within: float

    @property
    def holds(self) -> bool:
        """Say whether the model foretells it."""
        return abs(self.model - self.seen) <= self.within * max(abs(self.seen), abs(self.model))


@dataclass(frozen=True)
class Memory:
    """A memory's cells at start-up."""

    ones: float
    """Share of cells that start as ones."""
    noise: float
    """Deviation of a start's noise, in deviations of the cells' own leads."""
    drift_per_k: float | None
    """Deviation of a cell's drift, in the same, a kelvin; None where all was recorded at one temperature."""
    ones_per_k: float | None
    """Change of the share of ones, a kelvin."""
    temperature_c: float | None
    """At which noise and ones hold."""
    to_c: float | None
    """Farthest other temperature that was recorded."""
    correlation: dict[int, float]
    """Correlation of the leads of two cells, by how many cells they are apart; 0 where none was significant."""
    distance: float
    """Share of cells that differ between two starts."""
    noisy: float
    """Share of cells that noise decides where each has an even chance: the engine's `[sram]`."""

    def chances(self) -> Series:
        """Return the chance of a one of evenly chosen cells."""
        import numpy as np
        from scipy.stats import norm

        leads = norm.ppf((np.arange(4096) + 0.5) / 4096)
        threshold = -norm.ppf(self.ones) * math.sqrt(1 + self.noise**2)
        chances: Series = norm.cdf((leads - threshold) / self.noise)
        return chances

    def steady(self, starts: int) -> float:
        """Return the share of cells that are the same in so many starts."""
        p = self.chances()
        return float((p**starts + (1 - p) ** starts).mean())

    @property
    def entropy_bits(self) -> float:
        """Min-entropy a byte, on average over places whose chances are known."""
        import numpy as np

        p = self.chances()
        return float(-8 * np.log2(np.maximum(p, 1 - p)).mean())

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the tables of a model file."""
        named = {str(lag): rho for lag, rho in self.correlation.items()}
        own = {k: v for k, v in asdict(self).items() if k != "correlation" and v is not None}
        return {"memory": own, "memory.correlation": named}


class Cells:
    """Memory that wakes by a model, start after start; one seed is one unit."""

    def __init__(self, model: Memory, size_bytes: int, seed: int, temperature_c: float | None = None) -> None:
        """Draw the leads and drifts of the unit's cells."""
        import numpy as np
        from scipy.signal import lfilter
        from scipy.stats import norm

        count = 8 * size_bytes
        warm = 64 * max(LAGS)
        # Leads and drifts are the unit's; noise is another at each temperature.
        unit, drifts = (np.random.default_rng([seed, what]) for what in (0, 1))
        self._drawn = np.random.default_rng([seed, 2, round(1000 * (temperature_c or 0.0)) & 0xFFFFFFFF])
        fresh = unit.standard_normal(count + warm)
        follows = lfilter([1.0], _autoregression(model.correlation), fresh)[warm:]
        self._leads = follows / follows.std()
        kelvin = 0.0
        if temperature_c is not None and model.temperature_c is not None:
            kelvin = temperature_c - model.temperature_c
        drift = (model.drift_per_k or 0.0) * kelvin
        if drift:
            self._leads = self._leads + drift * drifts.standard_normal(count)
        ones = min(max(model.ones + (model.ones_per_k or 0.0) * kelvin, 1e-6), 1 - 1e-6)
        self._noise = model.noise
        self._threshold = -norm.ppf(ones) * math.sqrt(1 + self._noise**2 + drift**2)

    def wake(self) -> bytes:
        """Return what the memory holds at the next start."""
        import numpy as np

        noise = self._noise * self._drawn.standard_normal(self._leads.size)
        return np.packbits(self._leads + noise > self._threshold, bitorder="little").tobytes()


def _autoregression(correlation: dict[int, float]) -> list[float]:
    """Return the filter whose output has these correlations (Yule and Walker), 1 first; lags not named have none."""
    import numpy as np

    lags = [lag for lag, rho in correlation.items() if rho]
    if not lags:
        return [1.0]
    among = np.array([[correlation.get(abs(a - b), 0.0) if a != b else 1.0 for b in lags] for a in lags])
    weights = np.linalg.solve(among, np.array([correlation[lag] for lag in lags]))
    taps = [1.0] + [0.0] * max(lags)
    for lag, weight in zip(lags, weights, strict=True):
        taps[lag] = -float(weight)
    return taps


@dataclass(frozen=True)
class Oscillator:
    """A slow oscillator's edges, in periods."""

    period: float
    """Mean period, in the recording's unit."""
    edge: float
    """Deviation of an edge around its place, in periods: the engine's `[jitter]`."""
    accumulating: float
    """Deviation that each period adds to all that follow."""
    wander: float
    """Root of the Allan variance's part that grows with the square of the time: flicker, at one period."""
    counted: bool
    """Periods are counts of a fast clock, whose steps are not taken for noise."""
    drift_percent_per_k: float | None = None
    """Drift of its frequency, against the clock that counts; None where all was recorded at one temperature."""

    def allan(self, periods: int) -> float:
        """Return the Allan variance of sums of so many periods, in squares of the recording's unit."""
        step = 1 / 12 if self.counted else 0.0
        own = 3 * self.edge**2 + periods * self.accumulating**2 + (periods * self.wander) ** 2
        return self.period**2 * own + 3 * step

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the tables of a model file."""
        return {"oscillator": {k: v for k, v in asdict(self).items() if v is not None}}


@dataclass(frozen=True)
class Fit:
    """A model, what it was fitted to, and what the half that judges says of it."""

    kind: str
    """Kind of source, `memory` or `oscillator`."""
    model: Memory | Oscillator
    recordings: tuple[str, ...]
    samples: int
    """Number of starts, or of periods."""
    foretold: tuple[Foretold, ...]

    @property
    def judged(self) -> Verdict:
        """The verdict: each figure that was not fitted is compared."""
        found = tuple(
            Finding(
                "not-foretold", f"{f.name}: {f.model:.4g} by the model, {f.seen:.4g} in the half that judges", f.name
            )
            for f in self.foretold
            if not f.holds
        )
        return Verdict(f"coupon randomness --fit, {self.kind}", len(self.foretold), found, ())

    @property
    def sentence(self) -> str:
        """Say it in a line."""
        m = self.model
        if isinstance(m, Memory):
            told = f"{100 * m.ones:.4g} % ones, two starts differ in {100 * m.distance:.3g} % of the cells"
            return f"{told}: {m.entropy_bits:.3g} bits of min-entropy a byte on average over known places"
        parts = ((m.edge, "of a period each edge"), (m.accumulating, "accumulating"), (m.wander, "wandering"))
        return ", ".join(f"{100 * share:.3g} % {what}" for share, what in parts)

    @property
    def remarks(self) -> list[str]:
        """Say what of it the engine plays, and what stays open."""
        m = self.model
        if not self.judged.passed:
            return [
                "the half that judges is not as the other: several units or temperatures in one recording, or noise of "
                "another kind; the model is not to be used, and --save writes none"
            ]
        if isinstance(m, Memory):
            enough = "holds" if m.entropy_bits >= CREDIT else "does NOT hold"
            near = [f"{lag} apart {rho:+.3f}" for lag, rho in m.correlation.items() if rho]
            return [
                f"the firmware's credit of {CREDIT:g} bit a byte {enough} for such cells",
                f"a board's file would say of them: [sram] ones = {m.ones:.4g}, noisy = {m.noisy:.4g}",
                f"leads of neighbours are correlated: {', '.join(near)}" if near else "no neighbours are correlated",
                "recorded at one temperature: nothing is known of another"
                if m.drift_per_k is None
                else f"a cell drifts by {m.drift_per_k:.3g} deviations of the leads a kelvin",
            ]
        left = (
            []
            if m.accumulating == m.wander == 0
            else ["the engine plays edges alone: by what accumulates or wanders, later samples are less predictable"]
        )
        return [
            f"a board's file would say of it: [jitter] vlo_sigma_percent = {100 * m.edge:.4g}, dco_sigma_percent = 0",
            "edges of the fast clock that counts are in it: one series cannot tell both apart",
            "recorded at one temperature: nothing is known of its drift"
            if m.drift_percent_per_k is None
            else f"and [drift] vlo_percent_per_K = {m.drift_percent_per_k:.3g}, with the fast clock's own in it",
            *left,
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        m = self.model
        own = asdict(m)
        if isinstance(m, Memory):
            own["correlation"] = {str(lag): rho for lag, rho in m.correlation.items()}
            own["entropy_bits_per_byte"] = m.entropy_bits
        return {
            **self.judged.to_dict(),
            "kind": self.kind,
            "recordings": list(self.recordings),
            "samples": self.samples,
            "model": own,
            "foretold": [{**asdict(f), "holds": f.holds} for f in self.foretold],
            "sentence": self.sentence,
            "remarks": self.remarks,
        }

    def toml(self) -> str:
        """Write the model's file."""
        lines = [f"# Fitted to {self.samples:,} {'starts' if self.kind == 'memory' else 'periods'} of:"]
        lines += [f"#   {name}" for name in self.recordings]
        for table, values in self.model.tables().items():
            lines += ["", f"[{table}]"]
            lines += [f"{k} = {str(v).lower() if isinstance(v, bool) else repr(v)}" for k, v in values.items()]
        return "\n".join(lines) + "\n"


# --- Memory ------------------------------------------------------------------------------------------------


def _agreement(first: Bits, second: Bits) -> float:
    """Return the correlation of two hidden normal values of whose signs each pair shows (tetrachoric)."""
    from scipy.optimize import brentq
    from scipy.stats import multivariate_normal, norm

    a, b, both = float(first.mean()), float(second.mean()), float((first & second).mean())
    if not (0 < a < 1 and 0 < b < 1):
        raise SunsealError("memory is all ones or all zeros: nothing woke, so there is no noise to be fitted")
    at = [norm.ppf(a), norm.ppf(b)]

    def over(rho: float) -> float:
        return float(multivariate_normal.cdf(at, mean=[0, 0], cov=[[1, rho], [rho, 1]])) - both

    low, high = -0.999999, 0.999999
    if over(high) <= 0:
        return high
    return low if over(low) >= 0 else float(brentq(over, low, high, xtol=1e-7))


def _pairs(bits: Bits, other: Bits, lag: int = 0) -> tuple[Bits, Bits]:
    """Return every start's cells beside another start's, `lag` cells on."""
    import numpy as np

    n = len(bits)
    second = other if other is not bits else np.roll(bits, 1, axis=0)
    m = min(n, len(second))
    end = bits.shape[1] - lag
    return bits[:m, :end], second[:m, lag:]


def _distance(bits: Bits) -> float:
    """Return the share of cells that differ between two starts, over all pairs."""
    n, ones = len(bits), bits.sum(axis=0, dtype=float)
    return float((2 * ones * (n - ones)).mean() / (n * (n - 1)))


def memory_of(bits: Bits, temperature_c: float | None = None, others: Sequence[tuple[float, Bits]] = ()) -> Memory:
    """Fit the cells of one unit; `others` are its starts at other temperatures.

    Raises:
        SunsealError: If an estimator has too little; it is named.
    """
    n, cells = bits.shape
    distance = _distance(bits)
    flips = distance * cells * n / 2
    if flips < FLIPS_MIN:
        raise SunsealError(
            f"the estimator of noisy cells has seen {flips:,.0f} flips in {n} starts of {cells // 8:,} bytes, and "
            f"wants {FLIPS_MIN}",
            hint="record more starts, or more of the memory; starts that are all alike had their supply kept",
        )
    rho = _agreement(*_pairs(bits, bits))
    noise = math.sqrt(max(1 / rho - 1, 1e-12)) if rho > 0 else math.inf
    if not math.isfinite(noise):
        raise SunsealError("cells agree with themselves no more than by chance: that is no recording of one unit")
    ones = float(bits.mean())
    drifts, shifts = [], []
    for other_c, other in others:
        kelvin = other_c - (temperature_c or 0.0)
        across = _agreement(*_pairs(bits, other))
        own = math.sqrt(1 + noise**2)
        drifts.append(math.sqrt(max((1 / (across * own)) ** 2 - own**2, 0.0)) / abs(kelvin))
        shifts.append((float(other.mean()) - ones) / kelvin)
    correlation = {}
    for lag in LAGS:
        seen = _agreement(*_pairs(bits, bits, lag)) * (1 + noise**2)
        correlation[lag] = seen if abs(seen) > SIGNIFICANT * 1.6 * (1 + noise**2) / math.sqrt(cells) else 0.0
    return Memory(
        ones=ones,
        noise=noise,
        drift_per_k=sum(drifts) / len(drifts) if drifts else None,
        ones_per_k=sum(shifts) / len(shifts) if shifts else None,
        temperature_c=temperature_c,
        to_c=max((c for c, _ in others), key=lambda c: abs(c - (temperature_c or 0.0)), default=None),
        correlation=correlation,
        distance=distance,
        # A noisy cell's chance is even over 0 to 1, bent so that its mean is the share of ones.
        noisy=min(distance * (2 - ones) / (2 * ones * (1 - ones)), 1.0),
    )


def _bits_of(path: Path) -> Bits:
    """Read a start: Intel HEX or another file of images, or its bytes as they are."""
    import numpy as np

    try:
        content = path.read_bytes()
    except OSError as e:
        raise SunsealError(f"the recording `{path}` cannot be read: {e.strerror or e}") from e
    if content and path.suffix.lower() in IMAGES:
        if content[:1] not in (b":", b"S", b"@"):
            raise SunsealError(
                f"the recording `{path}` ends as a file of records and begins as none: Intel HEX begins with `:`, "
                "S-records with `S`, TI-TXT with `@`; bare bytes end in .bin"
            )
        content = b"".join(data for _, data in images.records(content, path))
    if not content:
        raise SunsealError(f"the recording `{path}` is empty")
    bits: Bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8), bitorder="little").astype(bool)
    return bits


def _starts(place: Path, start_bytes: int | None) -> Bits:
    """Read the starts of one temperature: a folder's files, a start each, or a file of starts one behind the other."""
    import numpy as np

    files = sorted(f for f in place.iterdir() if f.is_file()) if place.is_dir() else [place]
    if not files:
        raise SunsealError(f"the folder `{place}` has no recording in it")
    rows = [(f, _bits_of(f)) for f in files]
    if start_bytes is not None:
        if (odd := next((f for f, r in rows if r.size % (8 * start_bytes)), None)) is not None:
            raise SunsealError(f"the recording `{odd}` is no whole number of starts of {start_bytes:,} bytes")
        rows = [(f, part) for f, r in rows for part in r.reshape(-1, 8 * start_bytes)]
    sizes = Counter(r.size // 8 for _, r in rows)
    (usual, _), *_ = sizes.most_common(1)
    for file, row in rows:
        if row.size // 8 == usual:
            continue
        raise SunsealError(
            f"`{file}` has {row.size // 8:,} bytes where others have {usual:,}; each start wants the same memory, "
            "whole, and a folder holds nothing else"
        )
    if len(rows) < STARTS_MIN:
        raise SunsealError(
            f"`{place}` has {len(rows)} start{'s' * (len(rows) > 1)}, and the estimator of noisy cells wants "
            f"{STARTS_MIN}",
            hint="a folder has a file a start; a file of many starts wants --start-bytes",
        )
    return np.stack([r for _, r in rows])


def _fit_memory(asked: Sequence[tuple[Path, float | None]], start_bytes: int | None) -> Fit:
    groups = [(place, at_c, _starts(place, start_bytes)) for place, at_c in asked]
    if len(groups) > 1 and any(at_c is None for _, at_c, _ in groups):
        raise SunsealError(
            "several recordings of a memory are of one unit at several temperatures: name each, FILE@25C"
        )
    (first, first_c, bits), *rest = groups
    if (odd := next((g for g in rest if g[2].shape[1] != bits.shape[1]), None)) is not None:
        raise SunsealError(f"`{odd[0]}` has starts of another size than `{first}`: both are of one memory")
    if (odd := next((g for g in rest if g[1] == first_c), None)) is not None:
        raise SunsealError(f"`{odd[0]}` is at the temperature of `{first}`: put both into one folder")
    others = [(at_c, b) for _, at_c, b in rest if at_c is not None]
    model = memory_of(bits[::2], first_c, [(c, b[::2]) for c, b in others])
    judges = bits[1::2]
    n = len(judges)
    foretold = [
        Foretold("cells that differ between two starts", model.distance, _distance(judges), WITHIN),
        Foretold("ones", model.ones, float(judges.mean()), WITHIN),
        Foretold(
            f"cells that change within {n} starts",
            1 - model.steady(n),
            float((judges.any(axis=0) & ~judges.all(axis=0)).mean()),
            WITHIN,
        ),
    ]
    for at_c, other in others:
        played = Cells(model, bits.shape[1] // 8, 1, at_c)
        here = Cells(model, bits.shape[1] // 8, 1, first_c)
        foretold.append(
            Foretold(
                f"cells that differ from those at {at_c:g} C",
                _between(_played(here, 2), _played(played, 2)),
                _between(judges, other[1::2]),
                WITHIN,
            )
        )
    names = tuple(str(place) for place, _, _ in groups)
    return Fit("memory", model, names, sum(len(b) for _, _, b in groups), tuple(foretold))


def _played(cells: Cells, starts: int) -> Bits:
    import numpy as np

    rows = [np.frombuffer(cells.wake(), dtype=np.uint8) for _ in range(starts)]
    bits: Bits = np.unpackbits(np.stack(rows), axis=1, bitorder="little").astype(bool)
    return bits


def _between(first: Bits, second: Bits) -> float:
    """Return the share of cells that differ between starts of two recordings, over all pairs."""
    a, b = first.mean(axis=0), second.mean(axis=0)
    return float((a * (1 - b) + b * (1 - a)).mean())


# --- Oscillators -------------------------------------------------------------------------------------------


def _series(path: Path) -> Series:
    """Read periods: a number a line, the last column of a CSV; a head and lines that begin with # are left out."""
    import numpy as np

    try:
        rows = [row for row in csv.reader(path.read_text(encoding="utf-8").splitlines()) if row]
    except (OSError, UnicodeDecodeError) as e:
        raise SunsealError(f"the recording `{path}` cannot be read: {getattr(e, 'strerror', None) or e}") from e
    found: list[float] = []
    for number, row in enumerate(rows):
        if row[0].lstrip().startswith("#"):
            continue
        try:
            value = float(row[-1])
        except ValueError as e:
            if not found and number < 20:
                continue
            raise SunsealError(f"row {number + 1} of `{path}` has `{row[-1]}`, which is no period") from e
        if not (math.isfinite(value) and value > 0):
            raise SunsealError(f"row {number + 1} of `{path}` has a period of {value:g}; each is above 0")
        found.append(value)
    return np.array(found)


def allan(periods: Series, length: int) -> tuple[float, int]:
    """Return the Allan variance of sums of so many periods, and of how many differences it is."""
    import numpy as np

    whole = periods[: len(periods) // length * length].reshape(-1, length).sum(axis=1)
    steps = np.diff(whole)
    return float((steps**2).mean() / 2), len(steps)


def oscillator_of(periods: Series, what: str = "the recording") -> Oscillator:
    """Fit edges, what accumulates and wander to the Allan variances of sums of periods.

    Raises:
        SunsealError: If an estimator has too little; it is named.
    """
    import numpy as np
    from scipy.optimize import nnls

    short = [(name, least) for name, least in PERIODS_MIN.items() if len(periods) < least]
    if short:
        told = ", ".join(f"that of {name} {least:,}" for name, least in short)
        raise SunsealError(f"{what} has {len(periods):,} periods, and of the estimators {told} is wanted")
    mean = float(periods.mean())
    counted = bool((periods == np.round(periods)).all())
    lengths = [2**i for i in range(20) if 2**i * 64 <= len(periods)]
    rows, right = [], []
    for n in lengths:
        seen, steps = allan(periods, n)
        seen -= 3 / 12 if counted else 0.0
        # A variance of so many steps is known to this share of itself.
        weight = math.sqrt(steps) / max(abs(seen), 1e-30)
        rows.append([weight * 3, weight * n, weight * n**2])
        right.append(weight * seen)
    (edge, accumulating, wander), _ = nnls(np.array(rows), np.array(right))
    shares = [math.sqrt(v) / mean for v in (edge, accumulating, wander)]
    return Oscillator(mean, shares[0], shares[1], shares[2], counted)


def _halves(path: Path) -> tuple[Series, Series]:
    series = _series(path)
    half = len(series) // 2
    for name, least in PERIODS_MIN.items():
        if half < least:
            raise SunsealError(
                f"`{path}` has {len(series):,} periods, and the estimator of {name} wants {least:,}, and as many to "
                "judge"
            )
    return series[:half], series[half:]


def _fit_oscillator(asked: Sequence[tuple[Path, float | None]]) -> Fit:
    import numpy as np

    recorded = [(path, at_c, *_halves(path)) for path, at_c in asked]
    path, first_c, fitted_on, judges = recorded[0]
    model = oscillator_of(fitted_on, f"`{path}`")
    foretold = [Foretold("mean period", model.period, float(judges.mean()), 0.01)]
    for n in ASKED:
        seen, _ = allan(judges, n)
        foretold.append(Foretold(f"Allan variance of {n} period{'s' * (n > 1)}", model.allan(n), seen, WITHIN_JITTER))
    temperatures = [c for _, c, _, _ in recorded if c is not None]
    if len(recorded) > 1:
        if len(set(temperatures)) < len(recorded):
            raise SunsealError("several series of periods are one oscillator's at several temperatures: FILE@25C each")
        rates = [model.period / float(half.mean()) for _, _, half, _ in recorded]
        slope, at_zero = np.polyfit(temperatures, rates, 1)
        model = replace(model, drift_percent_per_k=100 * float(slope / (at_zero + slope * (first_c or 0.0))))
        for _, at_c, _, other in recorded[1:]:
            told = model.period / (at_zero + slope * (at_c or 0.0))
            foretold.append(Foretold(f"mean period at {at_c:g} C", float(told), float(other.mean()), WITHIN_RATE))
    count = sum(len(half) + len(other) for _, _, half, other in recorded)
    return Fit("oscillator", model, tuple(str(p) for p, *_ in recorded), count, tuple(foretold))


def _of_periods(path: Path) -> bool:
    """Say whether a file is a series of periods; TI-TXT, a memory's, begins with an address."""
    if path.is_dir() or path.suffix.lower() not in (".csv", ".txt"):
        return False
    try:
        with path.open("rb") as file:
            return file.read(1) != b"@"
    except OSError as e:
        raise SunsealError(f"the recording `{path}` cannot be read: {e.strerror or e}") from e


@answers(requests.Fitted)
def fitted(to: requests.Fitted) -> Fit:
    """Make a model of a recording: start-up dumps of a memory, or periods of an oscillator (.csv, .txt)."""
    if not to.recordings:
        raise SunsealError("nothing is named to be fitted", hint="name a folder of start-up dumps or a file of periods")
    if missing := next((place for place, _ in to.recordings if not place.exists()), None):
        raise SunsealError(f"there is no recording `{missing}`")
    series = [_of_periods(place) for place, _ in to.recordings]
    if not any(series):
        return _fit_memory(to.recordings, to.start_bytes)
    if not all(series) or to.start_bytes is not None:
        raise SunsealError(
            "a model is of a memory or of an oscillator: periods have no start's bytes, and no dumps beside"
        )
    return _fit_oscillator(to.recordings)


def device_file(board: str, model: Oscillator, folder: Path) -> Path:
    """Write a board's device with this jitter in place of its own; all of it is the slow oscillator's edges."""
    name = str(boards.board(board)["device"])
    told = boards.device(name)
    shares = {"vlo_sigma_percent": 100 * model.edge, "sigma_percent": 100 * model.edge, "dco_sigma_percent": 0.0}
    tables = {"jitter": told.get("jitter", {}), "clock.vlo_jitter": told.get("clock", {}).get("vlo_jitter", {})}
    lines = [f'extends = "{name}"']
    for table, keys in tables.items():
        lines += [line for key in keys if key in shares for line in (f"[{table}]", f"{key} = {shares[key]!r}")]
    if len(lines) == 1:
        raise SunsealError(f"{name} has no oscillator with jitter that the model could take the place of")
    path = folder / f"{name}-by-model.toml"
    path.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    return path


def read_model(path: Path) -> Memory | Oscillator:
    """Read a model's file, as `--save` wrote it, or one of data/noise by its name."""
    if not path.exists() and path.suffix != ".toml":
        if str(path) not in boards.names("noise"):
            raise unknown("model of noise", str(path), boards.names("noise"), "nor a file of that name")
        path = boards.home() / "data" / "noise" / f"{path}.toml"
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise SunsealError(f"the model `{path}` cannot be read: {e.strerror or e}") from e
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise SunsealError(f"the model `{path}` is no TOML: {e}") from e
    kind = next((k for k in ("memory", "oscillator") if k in told), None)
    if kind is None:
        raise SunsealError(f"the model `{path}` has neither [memory] nor [oscillator]: --save writes one")
    own = {k: v for k, v in told[kind].items() if k not in ("source", "assumed")}
    try:
        if kind == "oscillator":
            return Oscillator(**own)
        near = {int(lag): float(rho) for lag, rho in own.pop("correlation", {}).items()}
        optional = {k: own.pop(k, None) for k in ("drift_per_k", "ones_per_k", "temperature_c", "to_c")}
        return Memory(correlation=near, **own, **optional)
    except (TypeError, ValueError) as e:
        raise SunsealError(f"[{kind}] of the model `{path}` is not as --save writes it: {e}") from e
