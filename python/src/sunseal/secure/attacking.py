# SPDX-License-Identifier: MIT OR Apache-2.0
"""Welch's t-test and correlation attacks on sets of traces.

A set of traces is an array with a row a trace and a column a sample. What an attack finds is held against the key
that the traces were made with, so that each guess has the number of traces from which it was right.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sunseal.secure import aes_rounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

Samples: TypeAlias = "NDArray[np.float32]"
Values: TypeAlias = "NDArray[np.unsignedinteger[Any]]"
Told = Callable[[int], object]
"""Hears how many traces were taken so far."""
ALPHA = 1e-5
"""Rate at which a t-test over all samples of a trace may err where nothing leaks."""
CHECKED_FIRST, CHECKED_RATIO = 50, 1.2
"""Numbers of traces at which a guess is looked at."""
SETTLED = 4
"""A guess that has been right from a number of traces on to so many times it is not followed further."""
VALUES_AT_ONCE = 1 << 22
COARSE, KEPT = 4000, 1024
"""Numbers of traces of a coarse pass, and of a word's guesses that go on behind it."""


def threshold(samples: int, traces: int, alpha: float = ALPHA) -> float:
    """Return the |t| that any of so many samples exceeds by chance with probability `alpha` (Ding et al. 2017).

    They take the normal distribution, as of many traces. Of few, t is Student's, with the fewest degrees of freedom
    that Welch's test can have: those of the smaller group, half of the traces.
    """
    from scipy import special  # scipy.stats takes a second to import

    each = -math.expm1(math.log1p(-alpha) / max(samples, 1))
    return float(-special.stdtrit(traces // 2 - 1, each / 2))


def welch(batches: Iterable[tuple[Samples, NDArray[np.bool_]]]) -> NDArray[np.float64]:
    """Return Welch's t of each sample between the traces of two groups; 0 where no trace differs from another."""
    origin: NDArray[np.float64] | None = None
    counts = np.zeros(2)
    sums: list[Any] = [0.0, 0.0]
    squares: list[Any] = [0.0, 0.0]
    for samples, second in batches:
        # The same constant off both groups changes no t, and keeps the sums of squares small; a whole one keeps those
        # of traces without noise exact.
        origin = np.rint(samples.mean(axis=0, dtype=np.float64)) if origin is None else origin
        for i, chosen in enumerate((~second, second)):
            part = samples[chosen] - origin
            counts[i] += len(part)
            sums[i] += part.sum(axis=0)
            squares[i] += (part * part).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (total / count for total, count in zip(sums, counts, strict=True))
        spread = [s / n - m * m for s, n, m in zip(squares, counts, (one, other), strict=True)]
        still = (spread[0] <= 0) & (spread[1] <= 0) & (one == other)
        of_means = spread[0] / (counts[0] - 1) + spread[1] / (counts[1] - 1)
        return np.where(still, 0.0, (one - other) / np.sqrt(of_means))


def foretold(correlation: float, alpha: float = 1e-4) -> int | None:
    """Return the traces that an attack wants at a correlation (Mangard 2004, equation 6); None at none."""
    if not 0 < correlation < 1:
        return 4 if correlation >= 1 else None
    z = -statistics.NormalDist().inv_cdf(alpha)
    return math.ceil(3 + 8 * (z / math.log((1 + correlation) / (1 - correlation))) ** 2)


@dataclass(frozen=True)
class Guessed:
    """A byte or a word of a secret as an attack sees it."""

    name: str
    right: int
    best: int
    """The guess on top at the end."""
    disclosed_at: int | None
    """From so many traces on the right guess was on top; None where it is not."""
    correlation: float
    """Correlation of the right guess, at the end."""
    curve: tuple[tuple[int, float, float], ...]
    """Traces, correlation of the right guess, and of the best of the others."""

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            **{name: value for name, value in vars(self).items() if name != "curve"},
            "correlation": float(f"{self.correlation:.4g}"),
            "traces_foretold": foretold(self.correlation) if self.disclosed_at is not None else None,
        }


Places: TypeAlias = "Sequence[NDArray[np.intp]]"
"""For each byte that is attacked the samples that are looked at; none at all stands for every sample."""


class Correlation:
    """Pearson's correlations of values with samples, from the sums over traces that come in batches."""

    def __init__(self, precision: type[np.floating[Any]] = np.float64) -> None:
        """Begin with no trace; products of a batch are summed in `precision`, those of batches in double."""
        self.precision = precision
        self.traces = 0
        self.x: Any = 0.0
        self.xx: Any = 0.0
        self.y: Any = 0.0
        self.yy: Any = 0.0
        self.xy: Any = 0.0

    def update(self, samples: Samples, values: Values) -> None:
        """Take traces, a row each, and the Hamming weights of what stands in the columns of `values`."""
        weights = np.bitwise_count(values)
        x, y = samples.astype(self.precision), weights.astype(self.precision)
        self.traces += len(x)
        self.x += x.sum(axis=0, dtype=np.float64)
        self.xx += (x * x).sum(axis=0, dtype=np.float64)
        self.y += weights.sum(axis=0, dtype=np.float64)
        self.yy += (weights.astype(np.uint16) ** 2).sum(axis=0, dtype=np.float64)
        self.xy += y.T @ x

    def found(self) -> NDArray[np.float64]:
        """Return a row a value, a column a sample; what never changes correlates with nothing."""
        n = self.traces
        with np.errstate(all="ignore"):
            of_x, of_y = (
                np.sqrt(n * square - total * total) for square, total in ((self.xx, self.x), (self.yy, self.y))
            )
            together = n * self.xy - np.outer(self.y, self.x)
            found: NDArray[np.float64] = np.nan_to_num(together / np.outer(of_y, of_x), nan=0.0, posinf=0.0, neginf=0.0)
        return found


def profiled(samples: Samples, values: Values, least: float = 0.5) -> list[NDArray[np.intp]]:
    """Return where each value's Hamming weight shows, on a device of one's own whose secrets are known.

    `values` has a row a trace and a column a value. A value that shows nowhere with a correlation of `least` gives no
    places.
    """
    return [np.flatnonzero(row >= max(least, 0.9 * row.max())) for row in _shown(samples, values)]


def shown(samples: Samples, values: Values) -> float:
    """Return the mean over some values of how well the Hamming weight of each shows anywhere."""
    return float(_shown(samples, values).max(axis=1).mean())


def _shown(samples: Samples, values: Values) -> NDArray[np.float64]:
    found = Correlation()
    found.update(samples, values)
    return found.found()


class Recording:
    """Traces that are recorded as far as they are asked for, with what is known of each."""

    def __init__(self, chunks: Iterator[tuple[Samples, dict[str, Any]]], most: int, told: Told | None = None) -> None:
        """Take chunks of samples and known values from a recorder, up to so many traces."""
        self._chunks, self.most, self._told = chunks, most, told
        self._samples: list[Samples] = []
        self._known: list[dict[str, Any]] = []
        self._origin: Samples | None = None
        self.recorded = 0

    def rows(self, start: int, end: int) -> Iterator[tuple[Samples, dict[str, Any]]]:
        """Go through the traces from one number to another, less the mean of the first ones; no batch is empty."""
        at = 0
        index = 0
        while at < end:
            if index == len(self._samples):
                samples, known = next(self._chunks)
                self._origin = samples.mean(axis=0) if self._origin is None else self._origin
                self._samples.append(samples - self._origin)
                self._known.append(known)
                self.recorded += len(samples)
                if self._told is not None:
                    self._told(self.recorded)
            samples, known = self._samples[index], self._known[index]
            low, high = max(start - at, 0), min(end - at, len(samples))
            if low < high:
                yield samples[low:high], {name: values[low:high] for name, values in known.items()}
            at += len(samples)
            index += 1


def checkpoints(most: int) -> list[int]:
    """Return the numbers of traces at which guesses are looked at, the last one being all."""
    steps = math.ceil(math.log(max(most / CHECKED_FIRST, 1), CHECKED_RATIO))
    grid = {min(math.ceil(CHECKED_FIRST * CHECKED_RATIO**i), most) for i in range(steps + 1)}
    return sorted(grid | {most})


Predicted: TypeAlias = "Callable[[dict[str, Any], NDArray[Any]], Values]"
"""Values that each guess predicts: of what is known of some traces and of guesses, values of shape (traces, guesses,
secrets)."""
_Curve: TypeAlias = "list[tuple[int, float, float]]"


def _follow(
    traces: Recording,
    predicted: Predicted,
    right: Sequence[int],
    guesses: NDArray[Any],
    places: Places,
    ends: Sequence[int],
) -> tuple[NDArray[Any], list[_Curve]]:
    """Correlate samples with the Hamming weight of what guesses predict; return scores at the end and over traces.

    The model's sign is known: a guess has the greatest correlation of its `places`, not the greatest absolute one. It
    ends early where each right guess has settled.
    """
    attack = Correlation(np.float32)
    some = all(len(p) for p in places) and len(places) > 0
    columns: Any = np.unique(np.concatenate(places)) if some else slice(None)
    shown: list[Any] = [np.isin(columns, p) for p in places] if some else [slice(None)] * len(right)
    index = [int(np.flatnonzero(guesses == value)[0]) for value in right]
    rows = max(VALUES_AT_ONCE // (len(guesses) * len(right)), 1)
    curves: list[_Curve] = [[] for _ in right]
    scores = np.zeros((len(guesses), len(right)))
    begun = 0
    for end in ends:
        for samples, known in traces.rows(begun, end):
            for low in range(0, len(samples), rows):
                cut = slice(low, low + rows)
                values = predicted({name: v[cut] for name, v in known.items()}, guesses)
                attack.update(samples[cut][:, columns], values.reshape(len(values), -1))
        begun = end
        found = attack.found().reshape(len(guesses), len(right), -1)
        scores = np.stack([found[:, i, where].max(axis=-1) for i, where in enumerate(shown)], axis=1)
        for i, at in enumerate(index):
            others = np.delete(scores[:, i], at)
            curves[i].append((end, float(scores[at, i]), float(others.max())))
        if all((first := _settled(curve)) is not None and first * SETTLED <= end for curve in curves):
            break
    return scores, curves


def correlate(
    traces: Recording, predicted: Predicted, right: Sequence[int], names: Sequence[str], places: Places = ()
) -> list[Guessed]:
    """Attack bytes by correlation, with all guesses of each."""
    scores, curves = _follow(traces, predicted, right, np.arange(256, dtype=np.uint8), places, checkpoints(traces.most))
    return [
        Guessed(name, value, int(best), _settled(curve), curve[-1][1], tuple(curve))
        for name, value, best, curve in zip(names, right, scores.argmax(axis=0), curves, strict=True)
    ]


def _settled(curve: Sequence[tuple[int, float, float]]) -> int | None:
    """Return from how many traces on the right guess is above all others."""
    settled = None
    for traces, right, other in curve:
        if right <= other:
            settled = None
        elif settled is None:
            settled = traces
    return settled


# --- AES ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """A correlation attack on a whole key, in the steps that it takes."""

    steps: tuple[tuple[Guessed, ...], ...]
    """Each builds on the bytes of the one before; after a step that fails there are no more."""
    found: bool
    """True if the key of the last step is the right one."""
    traces: int
    """Traces that it had."""

    @classmethod
    def known(cls, told: Mapping[str, Any]) -> Attack:
        """Make it again from what `dataclasses.asdict` made of it, by way of JSON."""

        def guessed(one: Mapping[str, Any]) -> Guessed:
            return Guessed(**{**one, "curve": tuple((n, right, other) for n, right, other in one["curve"])})

        return cls(tuple(tuple(map(guessed, step)) for step in told["steps"]), told["found"], told["traces"])

    @property
    def parts(self) -> list[Guessed]:
        """Every guess of every step."""
        return [guess for step in self.steps for guess in step]

    @property
    def disclosed_at(self) -> int | None:
        """The traces from which every guess of the key was right."""
        at = [guess.disclosed_at for guess in self.parts]
        return max(n for n in at if n is not None) if self.found else None

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "key_found": self.found,
            "disclosed_at": self.disclosed_at,
            "traces": self.traces,
            "steps": [[guess.as_json() for guess in step] for step in self.steps],
        }


_Step: TypeAlias = "tuple[NDArray[np.bool_], NDArray[np.uint8]]"
"""Bytes of a state that change from trace to trace, and what a round adds to each byte."""


def _into_round(counters: NDArray[np.uint8], steps: Sequence[_Step]) -> NDArray[np.uint8]:
    """Carry counter blocks through rounds of which only the bytes that change are known; the rest counts as 0."""
    state = counters
    for changing, added in steps:
        substituted = np.where(changing, aes_rounds.SBOX[state ^ added], np.uint8(0))
        state = aes_rounds.mix_columns(aes_rounds.shift_rows(substituted))
    return state


def _spread(changing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the bytes that change behind ShiftRows and MixColumns."""
    return np.repeat(changing[aes_rounds.SHIFTED].reshape(4, 4).any(axis=1), 4)


def aes_by_counter(traces: Recording, key: bytes, places: Mapping[int, Places]) -> Attack:
    """Find an AES-128 key by the outputs of its S-box, where only some bytes of the block that goes in change.

    After Jaffe 2007: what the others bring into a round is a constant, which is guessed together with the round key;
    one or two rounds later every byte changes, and then what is guessed is a round key alone, from which the others
    follow. `known["counter"]` holds the blocks, `places` for each round where its 16 outputs show. A step that fails is
    the last one.
    """
    first = next(traces.rows(0, min(CHECKED_FIRST, traces.most)))[1]["counter"]
    changing = (first != first[0]).any(axis=0)
    steps: list[_Step] = []
    told: list[tuple[Guessed, ...]] = []
    alone = True
    while True:
        number = len(steps) + 1
        at = np.flatnonzero(changing)

        def outputs(known: dict[str, Any], guesses: Values, at: Any = at) -> Values:
            before = _into_round(known["counter"], steps)[:, at]
            values: Values = aes_rounds.SBOX[before[:, None, :] ^ guesses[None, :, None]]
            return values

        inside = aes_rounds.INVERSE_SBOX[aes_rounds.substituted(first[:1], key, number)]
        right = (inside ^ _into_round(first[:1], steps))[0]
        names = [f"round {number}, byte {b}" for b in at]
        shown = [places[number][int(b)] for b in at] if number in places else ()
        guesses = correlate(traces, outputs, right[at].tolist(), names, shown)
        told.append(tuple(guesses))
        added = np.zeros(16, dtype=np.uint8)
        added[at] = [guess.best for guess in guesses]
        if any(guess.disclosed_at is None for guess in guesses):
            return Attack(tuple(told), False, min(traces.recorded, traces.most))
        if alone and changing.all():
            found = aes_rounds.key_of(added, number - 1)
            return Attack(tuple(told), found == key, min(traces.recorded, traces.most))
        alone = bool(changing.all())
        steps.append((changing, added))
        changing = _spread(changing)


# --- A product with a secret factor ----------------------------------------------------------------------


def product(traces: Recording, secret: int, words: int, places: Places = (), modulus: int | None = None) -> Attack:
    """Find a factor by the words of its product with known ones, 16 bits at a time from the lowest on.

    `known["factor"]` holds the known factors as rows of words, lowest first. Word i of a product depends on words 0 to
    i of the secret factor alone; so does what stands there in a Montgomery product, with its `modulus`. `places` says
    for each word where it shows. A word that fails is the last one.
    """
    found = 0
    told: list[tuple[Guessed, ...]] = []
    for word in range(words):

        def values(known: dict[str, Any], guesses: Values, word: int = word, found: int = found) -> Values:
            rows = known["factor"]
            below = np.array([word_of(row, found, word, modulus) for row in rows], dtype=np.uint16)
            predicted: Values = (below[:, None] + rows[:, :1] * guesses[None, :])[:, :, None]
            return predicted

        right = secret >> 16 * word & 0xFFFF
        told.append((_word_guessed(traces, values, right, f"word {word}", places[word : word + 1]),))
        found |= told[-1][0].best << 16 * word
        if told[-1][0].disclosed_at is None:
            return Attack(tuple(told), False, min(traces.recorded, traces.most))
    return Attack(tuple(told), found == secret, min(traces.recorded, traces.most))


def _word_guessed(traces: Recording, predicted: Predicted, right: int, name: str, places: Places) -> Guessed:
    """Attack 16 bits, which shift by a place and still look alike: all guesses first, then the best of them."""
    every = np.arange(1 << 16, dtype=np.uint16)
    ends = checkpoints(traces.most)
    coarse = [n for n in ends if n <= COARSE] or ends
    scores, (curve,) = _follow(traces, predicted, [right], every, places, coarse)
    best = int(scores.argmax())
    first = _settled(curve)
    if ends[-1] > coarse[-1] and (first is None or first * SETTLED > curve[-1][0]):
        kept = np.union1d(np.argsort(scores[:, 0])[-KEPT:], [right]).astype(np.uint16)
        scores, (rest,) = _follow(traces, predicted, [right], kept, places, ends)
        best = int(kept[scores.argmax()])
        curve += [point for point in rest if point[0] > curve[-1][0]]
    return Guessed(name, right, best, _settled(curve), curve[-1][1], tuple(curve))


DIGIT_BITS = 32
"""Bits of a digit of a Montgomery product by MPY32, which reduces behind each digit."""


def word_of(factor: NDArray[np.uint16], secret: int, word: int, modulus: int | None = None) -> int:
    """Return one word of a known factor's product with a number: plain, or in the sum of a Montgomery product.

    That sum is T <- (T + a b_j + m n) / 2^32 over the digits b_j of the secret, with m so that the division is exact
    (Montgomery 1985); a word of digit j is that of T + a b_j.
    """
    if modulus is None:
        low = int.from_bytes(factor[: word + 1].astype("<u2").tobytes(), "little")
        return low * secret >> 16 * word & 0xFFFF
    known, radix = int.from_bytes(factor.astype("<u2").tobytes(), "little"), 1 << DIGIT_BITS
    digit, half = divmod(word, DIGIT_BITS // 16)
    minus_inverse, total = -pow(modulus, -1, radix), 0
    for j in range(digit):
        total += known * (secret >> DIGIT_BITS * j & (radix - 1))
        total = total + total * minus_inverse % radix * modulus >> DIGIT_BITS
    return total + known * (secret >> DIGIT_BITS * digit & (radix - 1)) >> 16 * half & 0xFFFF
