# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sources of random coupons under NIST's estimators: raw noise of the board's own firmware, and what it makes of it.

A simulated source is arithmetic from a seed: what is judged is that the firmware reads, tests and conditions it as it
should, never the silicon. A chip's own recordings are judged by the same functions (`recorded`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sunseal import requests
from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import boards, citing
from sunseal.errors import SunsealError, unknown
from sunseal.machine.machine import Machine
from sunseal.measurement import coupon
from sunseal.requests.asking import answers
from sunseal.secure import estimators, noise
from sunseal.secure.estimators import Bits, Entropy, Restarts

Model = noise.Memory | noise.Oscillator | None
GENERATORS = (*coupon.RANDOM, *coupon.UNTESTED)
CLAIMS = {"sram": noise.CREDIT, "jitter": 1 / 2, "jitter, shifting": 1 / 2}
"""Min-entropy of a sample that firmware/crypto/include/sunseal/random.h assumes, in bits."""
SHIFT = {"osc_clksft": 16, "osc_noclksft": 0}
VALUE_BYTES = 32
VALUES_BITS = {"sram": 1_000_000, "osc": 100_000}
"""Bits of a generator that are tested unless asked otherwise; a value of oscillators takes three seconds of theirs."""
READ_AT_ONCE = 1000
HEALTH = -86
"""Status of a failed health test: `SUNSEAL_ERR_HEALTH` of firmware/crypto/include/sunseal/error.h."""
OFF_S = 10.0
"""Without supply between two starts: RAM has then forgotten all it held."""
SYSTEM = "a simulated source proves the code and not the silicon"


@dataclass(frozen=True)
class Noise:
    """A raw source: its estimates, and what is claimed of it."""

    name: str
    claim: float | None
    """Bits of min-entropy a sample; None where none is claimed."""
    entropy: Entropy
    low_bit: Entropy | None
    """Entropy of the lowest bits alone, where only these are used."""
    restarts: Restarts | None

    @property
    def initial(self) -> float:
        """Return the least of estimate and claim: section 3.1.3."""
        return min(self.entropy.least, self.claim if self.claim is not None else float(self.entropy.width))

    @property
    def assessed(self) -> float | None:
        """Return what SP 800-90B, section 3.1.4.2, awards; None where the restarts award nothing."""
        r = self.restarts
        if r is None:
            return self.initial
        return min(self.initial, r.least) if r.sane and r.least >= self.initial / 2 else None

    @property
    def holds(self) -> bool:
        """Say whether what is awarded is what is claimed; without a claim, whether anything is."""
        awarded = self.assessed
        return awarded is not None and awarded > 0 and (self.claim is None or awarded >= self.claim)

    @property
    def sentence(self) -> str:
        """Say what comes of it."""
        e, r = self.entropy, self.restarts
        seen = f"{e.least:.3g} bits a sample in a row ({e.by})"
        if r is not None:
            seen += f", {r.rows.least:.3g} over restarts, {r.columns.least:.3g} place by place ({r.columns.by})"
        if r is not None and not r.sane:
            times = f"one value comes {r.most_seen} times in {estimators.RESTARTS}, where {r.allowed} are allowed"
            return f"nothing awarded: {times}; {seen}"
        if r is not None and self.assessed is None:
            return f"nothing awarded: restarts give less than half of {self.initial:.3g}; {seen}"
        if self.claim is None:
            return f"{self.assessed:.3g} bits a sample awarded: {seen}"
        verdict = "holds" if self.holds else "does not hold"
        return f"the claim of {self.claim:g} {verdict}: {self.assessed:.3g} awarded; {seen}"

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "source": self.name,
            "claim_bits": self.claim,
            "assessed_bits": None if self.assessed is None else float(f"{self.assessed:.4g}"),
            "holds": self.holds,
            "sequential": self.entropy.as_json(),
            "low_bit": None if self.low_bit is None else self.low_bit.as_json(),
            "restarts": None if self.restarts is None else self.restarts.as_json(),
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Output:
    """Output of a generator, and what SP 800-22 says of it."""

    name: str
    starts: int
    refused: int
    """Starts whose health tests failed, so that nothing was given."""
    repeated: int
    """Values that had come before."""
    bits: Bits | None
    """None where too little was given to ask anything."""

    @property
    def holds(self) -> bool:
        """Say whether nothing was refused or repeated, and no test failed."""
        return self.bits is not None and not (self.refused or self.repeated or self.bits.failed)

    @property
    def sentence(self) -> str:
        """Say what comes of it."""
        told = []
        if self.refused:
            told.append(f"{self.refused:,} of {self.starts:,} starts gave nothing: health tests failed")
        if self.repeated:
            told.append(f"{self.repeated:,} of {self.starts - self.refused:,} values had come before")
        if self.bits is not None and self.bits.failed:
            told.append(f"fails {', '.join(test.title for test in self.bits.failed)}")
        if self.bits is not None and not told:
            least = self.bits.least
            told.append(f"passes {len(self.bits.asked)} tests, least p {least.p:.2g} ({least.title})")
        return "; ".join(told)

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "generator": self.name,
            "starts": self.starts,
            "refused": self.refused,
            "repeated": self.repeated,
            "holds": self.holds,
            "sp800_22": None if self.bits is None else self.bits.as_json(),
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Randomness(Shown):
    """Sources and generators of a board, or recordings, as NIST's estimators see them."""

    board: str | None
    """Name of the board; None for recordings."""
    seed: int
    off_s: float
    sources: tuple[Noise, ...]
    outputs: tuple[Output, ...]
    model: Path | None = None
    """Fitted to a chip's recording, in place of the simulated noise."""

    @property
    def holds(self) -> bool:
        """Say whether there is something, every claim holds and every output passes."""
        return (
            bool(self.sources or self.outputs)
            and all(s.holds for s in self.sources)
            and all(o.holds for o in self.outputs)
        )

    @property
    def judged(self) -> Verdict:
        """The verdict, a part for each source and generator.

        A source of which nothing is claimed is held against its restarts alone: without them nothing was compared.
        """
        parts = []
        for s in self.sources:
            compared = (s.claim is not None) + (s.restarts is not None)
            left = () if compared else ("nothing is claimed of it (--claim BITS), so that nothing was compared",)
            found = () if s.holds else (Finding("source", f"source {s.name}: {s.sentence}", s.name),)
            parts.append(Verdict(f"source {s.name}", compared, found, left))
        for o in self.outputs:
            asked = len(o.bits.asked) if o.bits is not None else 0
            bad = not o.holds and bool(asked or o.refused or o.repeated)
            found = (Finding("generator", f"{o.name}: {o.sentence}", o.name),) if bad else ()
            left = () if asked else ("it gave too few bits for any test",)
            parts.append(Verdict(f"generator {o.name}", asked, found, left))
        return Verdict.joined(f"coupon randomness of {self.board or 'recordings'}", parts)

    @property
    def sentence(self) -> str:
        """Say it in a line."""
        parts = [(f"source {s.name}", s.holds) for s in self.sources] + [(o.name, o.holds) for o in self.outputs]
        bad = [name for name, holds in parts if not holds]
        if bad:
            return f"{len(bad)} of {len(parts)} do not stand NIST's estimators: {', '.join(bad)}"
        return f"{len(parts)} of {len(parts)} stand NIST's estimators"

    @property
    def remarks(self) -> list[str]:
        """Say what this is no proof of."""
        passed = "passing tests is no proof of randomness: a counter under a cipher passes all of them"
        if self.board is None:
            return [passed]
        places = [s for s in self.sources if s.name == "sram" and s.restarts is not None]
        told = [
            f"sram: {s.restarts.constant:,} of {estimators.RESTARTS:,} bytes woke alike in all starts, and hold "
            f"nothing; over all places a byte holds {s.restarts.by_place:.3g} bits on average, and the firmware's "
            f"credit of {s.claim:g} is for such an average, each place read once a start"
            for s in places
            if s.restarts is not None
        ]
        return [
            *told,
            *(
                f"{output.name}: Von Neumann takes a bias that both bits of a pair have alike, and cells of a memory "
                "have each its own, so every unit keeps some of it"
                for output in self.outputs
                if "xor" in output.name and not output.holds
            ),
            f"noise of the model {self.model}: as good as its recording, of one unit"
            if self.model is not None
            else f"{SYSTEM}: SRAM and jitter are arithmetic from a seed here, with shares and spreads that were "
            "assumed (docs/accuracy.md); record your chip and ask with --raw and --restarts",
            passed,
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            **self.judged.to_dict(),
            "board": self.board,
            "simulated": self.board is not None,
            "seed": self.seed,
            "off_s": self.off_s,
            "holds": self.holds,
            "sources": [source.as_json() for source in self.sources],
            "generators": [output.as_json() for output in self.outputs],
            "sentence": self.sentence,
            "remarks": self.remarks,
        }

    def cite(self) -> citing.Citations:
        """Return the paper whose table 6 names the generators."""
        return citing.of(papers=[coupon.PAPER_POWER])


# --- Firmware on the board -----------------------------------------------------------------------------


class Node:
    """A board with a generator's program, switched off and on again for each start."""

    def __init__(
        self, board: str, generator: str, seed: int, off_s: float, model: Model = None, at_c: float | None = None
    ) -> None:
        """Load the program; seeds of the starts follow each other from `seed`.

        A `model` takes the place of the simulated noise, a memory's at a temperature.
        """
        program = boards.firmware_path(board, boards.variant((), board), f"bench-{_workload(generator).program}")
        with tempfile.TemporaryDirectory() as folder:
            own = noise.device_file(board, model, Path(folder)) if isinstance(model, noise.Oscillator) else None
            self.machine = Machine(board, program, device_file=own)
        self.cells = None
        if isinstance(model, noise.Memory):
            self.cells = noise.Cells(model, len(self.machine.read("bench_output")), seed, at_c)
        self.shift = SHIFT.get(generator)
        self._seed, self._off_ps, self.starts = seed, round(off_s * 1e12), 0
        self._context = self._samples = 0

    def start(self) -> None:
        """Take the supply away and bring it back."""
        self.machine.power_cut()
        # Noise of two seeds shares no start; the unit, with its own cells and places, stays the same.
        self.machine.engine.reboot(self._off_ps, (self._seed << 32) + self.starts + 1)
        self.starts += 1
        if self.cells is not None:
            self.machine.write("bench_output", self.cells.wake())

    def value(self) -> tuple[bytes | None, bytes]:
        """Start, and return 256 bits, or None where health tests failed, with the raw samples behind them."""
        self.start()
        self.machine.run()
        status = int.from_bytes(self.machine.read("bench_status"), "little", signed=True)
        out = self.machine.read("bench_output")
        if status not in (0, HEALTH):
            raise SunsealError(f"the generator's program ends with status {status}, so its output says nothing")
        return (None if status else out[:VALUE_BYTES]), out[VALUE_BYTES:]

    def listen(self) -> None:
        """Start, with the clocks as the generator wants them, and no sample read yet."""
        m = self.machine
        self.start()
        m.run(until="main")
        m.call("bench_setup", 0, 0, 0)
        if not self._samples:
            self._context, self._samples = m.place(16), m.place(READ_AT_ONCE)
        m.write(self._context, bytes([self.shift or 0]) + bytes(15))

    def read(self, count: int) -> bytes:
        """Return the oscillators' next samples by the firmware's own reading, `READ_AT_ONCE` or fewer."""
        done = self.machine.call("sunseal_jitter_read", self._context, self._samples, count)
        if done.value != 0:
            raise SunsealError(f"the oscillators' samples end with status {done.value}")
        return self.machine.read(self._samples, count)


def _workload(generator: str) -> boards.Workload:
    return boards.workload(f"trng-{generator}-256bit")


def _oscillators(node: Node, told: Callable[[], object]) -> Iterator[bytes]:
    """Go through 1,000 samples of each of 1,000 starts, then a million of the last start."""
    for _ in range(estimators.RESTARTS):
        node.listen()
        yield node.read(READ_AT_ONCE)
        told()
    for _ in range(estimators.SAMPLES // READ_AT_ONCE):
        yield node.read(READ_AT_ONCE)
        told()


def _jitter(node: Node, told: Callable[[], object]) -> Noise:
    pieces = list(_oscillators(node, told))
    matrix, row = b"".join(pieces[: estimators.RESTARTS]), b"".join(pieces[estimators.RESTARTS :])
    name = "jitter, shifting" if node.shift else "jitter"
    low = bytes(sample & 1 for sample in row)
    return _judged(name, row, 8, CLAIMS[name], matrix, low)


def _judged(
    name: str, row: bytes, width: int, claim: float | None, matrix: bytes | None, low: bytes | None = None
) -> Noise:
    found = estimators.entropy(row, width, name)
    noise = Noise(name, claim, found, None if low is None else estimators.entropy(low, 1, name), None)
    if matrix is None:
        return noise
    over = estimators.restarts(matrix, width, noise.initial, name, found if matrix == row else None)
    return Noise(name, claim, found, noise.low_bit, over)


def _outputs(name: str, values: Sequence[bytes | None]) -> Output:
    given = [value for value in values if value is not None]
    stream = b"".join(given)
    judged = estimators.statistics(stream, name) if 8 * len(stream) >= estimators.BITS_MIN else None
    return Output(name, len(values), len(values) - len(given), len(given) - len(set(given)), judged)


# --- The answers -----------------------------------------------------------------------------------------


@answers(requests.Randomness)
def randomness(to: requests.Randomness) -> Randomness:
    """Judge raw sources and outputs of a board's generators, by its firmware, over many starts of one unit.

    A raw source is judged by SP 800-90B, a generator's output by SP 800-22 of `bits` bits; without it a million of
    SRAM, 100,000 of oscillators. `off_s` is how long the supply stays away between two starts.
    """
    asked = _asked(to.generators, to.board)
    if to.bits is not None and to.bits < estimators.BITS_MIN:
        raise SunsealError(f"{to.bits:,} bits are too few: SP 800-22's tests want {estimators.BITS_MIN:,} at least")
    if to.seed < 0:
        raise SunsealError(f"the seed {to.seed} is negative: it is a number from 0 on")
    model = _model(to, asked)
    _packages()
    wanted = {g: -(-(to.bits or VALUES_BITS[g.partition("_")[0]]) // (8 * VALUE_BYTES)) for g in asked}
    sram = next((g for g in asked if g.startswith("sram")), None)
    if sram is not None:
        wanted[sram] = max(wanted[sram], estimators.RESTARTS)
    of = sum(wanted.values()) + sum(2 * estimators.RESTARTS for g in asked if g in SHIFT)
    done = 0

    def told() -> None:
        nonlocal done
        done += 1
        if to.heard is not None:
            to.heard(done, of)

    sources, outputs = [], []
    for generator in asked:
        node = Node(to.board, generator, to.seed, to.off_s, model, to.at_c)
        values: list[bytes | None] = []
        raw: list[bytes] = []
        for _ in range(wanted[generator]):
            value, samples = node.value()
            values.append(value)
            if generator == sram and len(raw) < estimators.RESTARTS:
                raw.append(samples)
            told()
        if raw:
            sources.append(_sram(raw))
        if generator in SHIFT:
            sources.append(_jitter(Node(to.board, generator, to.seed, to.off_s, model), told))
        outputs.append(_outputs(generator, values))
    return Randomness(to.board, to.seed, to.off_s, tuple(sources), tuple(outputs), to.model)


def _model(to: requests.Randomness, generators: Sequence[str]) -> Model:
    """Read the noise that was asked for, and refuse what it says nothing of."""
    if to.model is None:
        if to.at_c is not None:
            raise SunsealError("a temperature of memory goes with its --model: the simulated one has none")
        return None
    model = noise.read_model(to.model)
    kind = "sram" if isinstance(model, noise.Memory) else "osc"
    if other := next((g for g in generators if not g.startswith(kind)), None):
        raise SunsealError(
            f"the model `{to.model}` is of {'memory' if kind == 'sram' else 'an oscillator'}, and `{other}` takes "
            f"other noise: name generators that begin with {kind}_ by --generator"
        )
    if isinstance(model, noise.Memory) and to.off_s < OFF_S:
        raise SunsealError(
            f"the model `{to.model}` says what memory wakes to, not how long it holds: leave --off away, or take "
            f"{OFF_S:g}s and more"
        )
    if to.at_c is not None:
        told = (model.temperature_c, model.to_c) if isinstance(model, noise.Memory) else ()
        known_c = sorted(c for c in told if c is not None)
        if len(known_c) < 2:
            raise SunsealError(f"the model `{to.model}` is of one temperature: it knows nothing of {to.at_c:g} C")
        if not known_c[0] <= to.at_c <= known_c[-1]:
            raise SunsealError(
                f"the model `{to.model}` was recorded from {known_c[0]:g} to {known_c[-1]:g} C, and {to.at_c:g} C lies "
                "beyond: record there, and fit again"
            )
    return model


ROW_BITS = {"sram": 102_400, "osc": 16_384}
"""Bits of a row of a generator that a row of a paper asks about."""


def values_of(generator: str, board: str) -> Output:
    """Have a generator give values, a start each, and ask SP 800-22 of them."""
    import sp80022suite  # noqa: F401

    node = Node(board, generator, 1, OFF_S)
    count = -(-ROW_BITS[generator.partition("_")[0]] // (8 * VALUE_BYTES))
    return _outputs(generator, [node.value()[0] for _ in range(count)])


def _sram(starts: Sequence[bytes]) -> Noise:
    """Judge memory by the first samples of each start: a start is over before a million are read.

    So the samples in a row are those of start after start, as section 3.1.3 joins smaller sets.
    """
    matrix = b"".join(samples[: estimators.RESTARTS] for samples in starts)
    return _judged("sram", matrix, 8, CLAIMS["sram"], matrix)


def _asked(generators: Sequence[str] | None, board: str) -> list[str]:
    boards.board_path(board)
    there = [g for g in GENERATORS if boards.has_workload(board, _workload(g).name)]
    for name in generators or ():
        if name not in GENERATORS:
            raise unknown("generator", name, GENERATORS)
        if name not in there:
            raise SunsealError(
                f"{board} has no generator `{name}`", hint=f"it has {', '.join(there) or 'none of them'}"
            )
    if not there:
        raise SunsealError(
            f"{board} has none of the generators of random coupons",
            hint="msp430fr5994-launchpad, msp432p401r-launchpad and msp430f5438a-anagear have some",
        )
    return list(dict.fromkeys(generators or (name for name in there if name not in coupon.UNTESTED)))


@answers(requests.Recorded)
def recorded(to: requests.Recorded) -> Randomness:
    """Judge recordings: raw samples and samples of restarts, a byte each, and random bytes."""
    if to.over_restarts is not None and to.raw is None:
        raise SunsealError("samples of restarts are judged beside a recording in a row: give it with --raw")
    if to.claim is not None and not 0 < to.claim <= to.width:
        raise SunsealError(f"a claim of {to.claim:g} bits a sample is none: it lies above 0, up to {to.width}")
    _packages()
    sources, outputs = [], []
    if to.raw is not None:
        matrix = None if to.over_restarts is None else _file(to.over_restarts)
        sources.append(_judged(to.raw.name, _file(to.raw), to.width, to.claim, matrix))
    if to.output is not None:
        outputs.append(Output(to.output.name, 1, 0, 0, estimators.statistics(_file(to.output), to.output.name)))
    return Randomness(None, 0, 0.0, tuple(sources), tuple(outputs))


def _file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise SunsealError(f"the recording `{path}` cannot be read: {e.strerror or e}") from e


def _packages() -> None:
    """Ask for both packages before anything runs; a missing one is named."""
    import sp800_90b  # noqa: F401
    import sp80022suite  # noqa: F401
