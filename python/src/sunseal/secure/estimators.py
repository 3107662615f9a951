# SPDX-License-Identifier: MIT OR Apache-2.0
"""Statistics of noise and of random bits: SP 800-90B's estimators and SP 800-22's tests, by packages that have them.

Both packages are NIST's own code behind Python: `sp800-90b` is its entropy assessment, `sp80022suite` its test suite.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal.errors import SunsealError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLES = 1_000_000
"""SP 800-90B, section 3.1.1: consecutive samples that an estimate wants."""
RESTARTS = 1000
"""The same, section 3.1.4.1: restarts, and samples of each."""
SANITY = 1 - 0.99 ** (1 / (2 * RESTARTS))
"""Chance of a false alarm for one row or column (NIST's tool, of section 3.1.4.3): one in a hundred for all 2,000."""
SIGNIFICANCE = 0.001
"""SP 800-22, section 1.1.5: a level from 0.001 to 0.01; here for all tests of one stream together."""
TEMPLATE_BITS = 9
"""Bits of the templates that do not overlap (SP 800-22, section 2.7.7: 9 or 10)."""


# --- Entropy -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entropy:
    """Min-entropy of a sample by each estimator, in bits."""

    samples: int
    width: int
    """Bits of a sample."""
    symbols: int
    """Different values that were seen."""
    of_samples: dict[str, float]
    """By SP 800-90B's section, of samples as they are."""
    of_bits: dict[str, float]
    """The same of the samples' bits, times their number in a sample; empty where a sample is one bit."""

    @property
    def least(self) -> float:
        """Return the least estimate, which is the one that counts."""
        return min([*self.of_samples.values(), *self.of_bits.values(), float(self.width)])

    @property
    def by(self) -> str:
        """Name the estimator that gave the least."""
        every = {**{f"{n}, bits": v for n, v in self.of_bits.items()}, **self.of_samples}
        return min(every, key=lambda name: every[name])

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "samples": self.samples,
            "bits_per_sample": self.width,
            "symbols": self.symbols,
            "min_entropy_bits": _short(self.least),
            "by": self.by,
            "of_samples": {name: _short(value) for name, value in self.of_samples.items()},
            "of_bits": {name: _short(value) for name, value in self.of_bits.items()},
        }


def _short(value: float) -> float:
    return float(f"{value:.4g}")


ESTIMATORS = {
    "most common value": "most_common",
    "collision": "collision",
    "Markov": "markov",
    "compression": "compression",
    "t-tuple": "t_tuple_and_lrs",
    "longest repeated substring": "t_tuple_and_lrs",
    "most common in window": "multi_most_common",
    "lag": "lag_prediction",
    "Markov chains": "multi_markov",
    "LZ78Y": "lz78y",
}
"""Sections 6.3.1 to 6.3.10, in their order, and the package's names."""
REPEATED = 10_000
"""A stretch of samples that no source repeats which is any."""
BINARY = ("collision", "Markov", "compression")
"""Estimators for bits alone."""


def enough(samples: bytes, width: int, what: str) -> None:
    """Refuse samples that are too few, or do not fit their width."""
    if not 1 <= width <= 8:
        raise SunsealError(f"a sample of {width} bits is none that the estimators take: 1 to 8 are")
    if len(samples) < SAMPLES:
        raise SunsealError(
            f"{what} has {len(samples):,} samples, and SP 800-90B wants {SAMPLES:,} of them (section 3.1.1)",
            hint="several recordings of one source may be joined, of 1,000 samples or more each",
        )
    if (most := max(samples)) >> width:
        raise SunsealError(f"{what} has a sample of {most}, which {width} bits do not hold: a byte holds one sample")


def entropy(samples: bytes, width: int, what: str = "the source") -> Entropy:
    """Estimate the min-entropy of a sample by every estimator of SP 800-90B, section 6.3."""
    import sp800_90b

    enough(samples, width, what)
    symbols = len(set(samples))
    if symbols == 1:
        # The package refuses them; section 6.3.1 says it: a value that always comes.
        return Entropy(len(samples), width, 1, {"most common value": 0.0}, {})
    if (bound := _of_a_long_repeat(samples)) is not None:
        return Entropy(len(samples), width, symbols, {"longest repeated substring": bound}, {})
    # Bits of samples are as many as NIST's tool looks at.
    with _silent():
        data = sp800_90b.Data(samples, width, True)
        of_samples = dict(_estimates(data, "h_", symbols == 2))
        bits = {} if width == 1 else {n: width * v for n, v in _estimates(data, "h_bitstring_", True)}
    return Entropy(len(samples), width, symbols, of_samples, bits)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep what the package's C code prints, such as of symbols that are narrow, out of the command's output."""
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept = os.dup(1)
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # a file descriptor is what is wanted
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)


def _of_a_long_repeat(samples: bytes) -> float | None:
    """Return the estimate of section 6.3.6 at a stretch of `REPEATED` samples that comes twice; None without one.

    The package's search for the longest takes time as its length squared, and can only lower what is next to nothing.
    """
    for at in range(0, len(samples) - REPEATED, REPEATED):
        if samples.find(samples[at : at + REPEATED], at + 1) >= 0:
            return -math.log2(1 / math.comb(len(samples) - REPEATED + 1, 2)) / REPEATED
    return None


def _estimates(data: Any, prefix: str, binary: bool) -> Iterator[tuple[str, float]]:
    pair: tuple[float, float] | None = None
    for name, call in ESTIMATORS.items():
        if name in BINARY and not binary:
            continue
        if call == "t_tuple_and_lrs":
            pair = pair or getattr(data, prefix + call)()
            value = pair[name != "t-tuple"]
        else:
            value = getattr(data, prefix + call)()
        # Below 0 the estimator does not apply to these samples.
        if value >= 0:
            yield name, value


@dataclass(frozen=True)
class Restarts:
    """Estimates from samples of 1,000 restarts of a source: section 3.1.4."""

    rows: Entropy
    """Entropy of restart after restart."""
    columns: Entropy
    """Entropy of the first sample of each restart, then of the second of each..."""
    most_seen: int
    """Count of the most common value of a row or column."""
    allowed: int
    """Count that it may have, at the entropy that is claimed or estimated."""
    by_place: float
    """Mean over columns of the most common value estimate of each: what a sample holds on average over its places."""
    constant: int
    """Columns that are the same in every restart."""

    @property
    def sane(self) -> bool:
        """Say whether no value is seen too often in a row or column: section 3.1.4.3."""
        return self.most_seen <= self.allowed

    @property
    def least(self) -> float:
        """Return the least estimate of rows and columns."""
        return min(self.rows.least, self.columns.least)

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "rows": self.rows.as_json(),
            "columns": self.columns.as_json(),
            "most_seen": self.most_seen,
            "most_allowed": self.allowed,
            "mean_by_place_bits": _short(self.by_place),
            "constant_columns": self.constant,
        }


def restarts(
    matrix: bytes, width: int, initial: float, what: str = "the source", known: Entropy | None = None
) -> Restarts:
    """Judge a source by 1,000 samples of each of 1,000 restarts; `initial` is what was estimated or claimed before.

    `known` are the estimates of the matrix row by row, where they were made already.
    """
    import numpy as np
    from scipy import stats

    if len(matrix) != RESTARTS * RESTARTS:
        raise SunsealError(
            f"{what} has {len(matrix):,} samples of restarts, and SP 800-90B wants {RESTARTS:,} of each of "
            f"{RESTARTS:,} restarts, {RESTARTS**2:,} (section 3.1.4.1)"
        )
    rows = np.frombuffer(matrix, dtype=np.uint8).reshape(RESTARTS, RESTARTS)
    columns = np.ascontiguousarray(rows.T)
    by_row, by_column = _most_common(rows), _most_common(columns)
    chance = 2.0**-initial
    likely = by_column / RESTARTS
    above = np.minimum(1.0, likely + 2.576 * np.sqrt(likely * (1 - likely) / (RESTARTS - 1)))
    return Restarts(
        known or entropy(matrix, width, what),
        entropy(columns.tobytes(), width, what),
        int(max(by_row.max(), by_column.max())),
        int(stats.binom.isf(SANITY, RESTARTS, chance)),
        float(-np.log2(above).mean()),
        int((by_column == RESTARTS).sum()),
    )


def _most_common(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    import numpy as np

    return np.array([np.bincount(row, minlength=256).max() for row in rows])


# --- Random bits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statistic:
    """One test of SP 800-22: what it takes, and how many p-values the package takes the least of."""

    title: str
    bits: int
    """Input size that its section recommends."""
    run: Callable[[Any, bytes], float]
    least_of: int = 1


@dataclass(frozen=True)
class Tested:
    """Answer of one test."""

    title: str
    p: float | None
    """Chance of something as uncommon from random bits, corrected for the test's own number of p-values."""
    why: str = ""
    """Reason for which it was not asked."""

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {"test": self.title, "p": None if self.p is None else _short(self.p), "not_asked": self.why or None}


@dataclass(frozen=True)
class Bits:
    """Answers of SP 800-22 on a stream of bits."""

    bits: int
    tests: tuple[Tested, ...] = field(repr=False)

    @property
    def asked(self) -> list[Tested]:
        """Return the tests that apply to so many bits."""
        return [test for test in self.tests if test.p is not None]

    @property
    def threshold(self) -> float:
        """Return the p-value below which a test fails: the level shared among the tests."""
        return SIGNIFICANCE / len(self.asked)

    @property
    def failed(self) -> list[Tested]:
        """Return the tests that fail."""
        return [test for test in self.asked if test.p is not None and test.p < self.threshold]

    @property
    def least(self) -> Tested:
        """Return the test with the least p-value."""
        return min(self.asked, key=lambda test: 1.0 if test.p is None else test.p)

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "bits": self.bits,
            "threshold": _short(self.threshold),
            "failed": [test.title for test in self.failed],
            "tests": [test.as_json() for test in self.tests],
        }


def _serial_bits(count: int) -> int:
    """Return m of the serial test: below log2 n - 2 (section 2.11.7), 16 as in NIST's examples."""
    return min(16, math.ceil(math.log2(count)) - 3)


def _entropy_bits(count: int) -> int:
    """Return m of approximate entropy: below log2 n - 5 (section 2.12.7), 10 as in NIST's suite."""
    return min(10, math.ceil(math.log2(count)) - 6)


def templates(bits: int) -> list[str]:
    """Return the words that do not overlap themselves: no beginning is an end as well (SP 800-22, section 2.7)."""
    words = map("".join, itertools.product("01", repeat=bits))
    return [word for word in words if not any(word[:n] == word[-n:] for n in range(1, bits))]


def _by_templates(suite: Any, stream: bytes) -> float:
    # The package reads the words from a file in the folder where it runs, and does not bring it.
    words = templates(TEMPLATE_BITS)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        (Path(folder) / "templates").mkdir()
        lines = "".join(f"{' '.join(word)}\n" for word in words)
        (Path(folder) / "templates" / f"template{TEMPLATE_BITS}").write_text(lines, encoding="ascii")
        return float(suite.non_overlapping_template_matchings(TEMPLATE_BITS, stream))


STATISTICS = (
    Statistic("frequency", 100, lambda suite, s: suite.frequency(s)),
    Statistic("frequency within a block", 100, lambda suite, s: suite.block_frequency(128, s)),
    Statistic("cumulative sums", 100, lambda suite, s: suite.cumulative_sums(s), 2),
    Statistic("runs", 100, lambda suite, s: suite.runs(s)),
    Statistic("longest run of ones", 128, lambda suite, s: suite.longest_run_of_ones(s)),
    Statistic("rank of matrices", 38_912, lambda suite, s: suite.rank(s)),
    Statistic("Fourier transform", 1000, lambda suite, s: suite.discrete_fourier_transform(s)),
    Statistic("templates that do not overlap", 1_000_000, _by_templates, 148),
    Statistic("templates that overlap", 1_000_000, lambda suite, s: suite.overlapping_template_matchings(9, s)),
    Statistic("Maurer's universal", 387_840, lambda suite, s: suite.universal(s)),
    Statistic("approximate entropy", 1000, lambda suite, s: suite.approximate_entropy(_entropy_bits(len(s)), s)),
    Statistic("random excursions", 1_000_000, lambda suite, s: suite.random_excursions(s), 8),
    Statistic("random excursions, variant", 1_000_000, lambda suite, s: suite.random_excursions_variant(s), 18),
    Statistic("serial", 1000, lambda suite, s: suite.serial(_serial_bits(len(s)), s), 2),
    Statistic("linear complexity", 1_000_000, lambda suite, s: suite.linear_complexity(500, s)),
)
"""Sections 2.1 to 2.15, with the block lengths of NIST's suite; input sizes are those of each section's x.7."""
BITS_MIN = 1000


def statistics(stream: bytes, what: str = "the stream") -> Bits:
    """Ask SP 800-22's tests of bits, which lie in bytes, the highest bit first; those that want more are named."""
    import numpy as np
    import sp80022suite

    count = 8 * len(stream)
    if count < BITS_MIN:
        raise SunsealError(f"{what} has {count:,} bits, and SP 800-22's tests want {BITS_MIN:,} at least")
    bits = np.unpackbits(np.frombuffer(stream, dtype=np.uint8)).tobytes()
    told = []
    for test in STATISTICS:
        if count < test.bits:
            told.append(Tested(test.title, None, f"wants {test.bits:,} bits"))
            continue
        try:
            p = test.run(sp80022suite, bits)
        except ValueError as e:
            told.append(Tested(test.title, None, str(e).rstrip(".").lower()))
        else:
            told.append(Tested(test.title, min(1.0, test.least_of * p)))
    return Bits(count, tuple(told))
