# SPDX-License-Identifier: MIT OR Apache-2.0
"""Side channels of coupons: an operation whole, its coupon in the making, and its use, in simulated traces.

Every trace is a run of the board's firmware with a sample of Hamming weights and distances a cycle (`power_trace`)
and Gaussian noise on each. Each phase is asked two questions: does a t-test tell a fixed secret from random ones, and
does a correlation attack find the key (measurement/attacking.py).
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from sunseal import requests
from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog import boards, citing
from sunseal.errors import Stopped, SunsealError, unknown
from sunseal.machine import abi
from sunseal.machine.machine import Machine
from sunseal.measurement import coupon, oracle
from sunseal.measurement.journal import Answers
from sunseal.requests.asking import answers
from sunseal.secure import aes_rounds, attacking

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row: TypeAlias = "dict[str, bytes]"
"""Inputs of one run."""
Rows: TypeAlias = "dict[str, NDArray[np.uint8]]"
"""The same for many runs: a row a run."""
"""Hears how many traces are done, of how many at most."""

KINDS = {
    "ctr": "AES-128 in counter mode",
    "secp160r1": "ECDSA secp160r1",
    "p224": "ECDSA P-224",
    "p256": "ECDSA P-256",
}
CURVES = {"secp160r1": (oracle.SECP160R1, 12, 20), "p224": (oracle.P224, 14, 28), "p256": (oracle.P256, 16, 32)}
"""Kinds of ECDSA: the curve, words of 16 bits that a scalar takes, and bytes of the hash that is signed."""
PLAIN = ("p256",)
"""Curves whose scalars the library multiplies whole, in halves, before it reduces; others digit by digit."""
WAYS = ("sbox", "tbox")
"""Ciphers in software; what is inside of an accelerator is in no trace of ours."""
CHUNK = 500
PROFILED = 500
"""Traces of a device of the attacker's own, whose key is known."""
ROUNDS = range(1, 5)
"""Rounds of AES that the attack looks into."""
MESSAGE_BYTES, NONCE_BYTES, BLOCK = 128, 8, 16
TRACES_MIN, TRACES_MAX = 4, 1_000_000


# --- Programs ----------------------------------------------------------------------------------------


class Program:
    """A program of the board whose runs are traced: the same number of cycles in each."""

    samples = 0

    def run(self, row: Row) -> NDArray[np.uint8]:
        """Run once and return its samples, which the next run overwrites."""
        raise NotImplementedError

    def _fitting(self, trace: NDArray[np.uint8]) -> NDArray[np.uint8]:
        self.samples = self.samples or len(trace)
        if len(trace) != self.samples:
            raise SunsealError(
                f"a run takes {len(trace):,} cycles and another one {self.samples:,}: traces that are not aligned are "
                "not compared"
            )
        return trace


def _library(board: str, group: str) -> Machine:
    machine = Machine(board, boards.firmware_path(board, boards.variant((), board), f"library-{group}"))
    machine.run(until="main")
    return machine


class _Called(Program):
    """A function of the library, called with buffers that are written before."""

    def __init__(self, machine: Machine, buffer_bytes: int) -> None:
        self.machine = machine
        self._convention = abi.of(machine.device)
        self._out = np.empty(buffer_bytes, dtype=np.uint8)

    def _traced(self, function: str, args: tuple[int, ...], cycles: int | None = None) -> NDArray[np.uint8]:
        m = self.machine
        self._convention.enter(m, m.address(function), args, m.address("main"))
        return m.power_trace(until=None if cycles else "main", cycles=cycles, out=self._out)


class Counter(_Called):
    """`sunseal_ctr_update` with a cipher in software: what encrypts a message, and what makes a keystream of zeros."""

    def __init__(self, board: str, way: str, share: float = 1.0) -> None:
        """Trace the first block of a message, in as many cycles as one block takes, or a share from its beginning."""
        super().__init__(_library(board, "cipher"), 1 << 16)
        m = self.machine
        self._cipher = m.address(f"sunseal_aes128_{way}")
        self._key, self._counter = m.place(BLOCK), m.place(BLOCK)
        self._schedule, self._ctr = m.place(512, align_bytes=16), m.place(64)
        self._in, self._done = m.place(MESSAGE_BYTES), m.place(MESSAGE_BYTES)
        self._fresh, self._ready = m.snapshot(), m.snapshot()
        self._ready_for: bytes | None = None
        row = {"key": bytes(16), "counter": bytes(16), "message": bytes(MESSAGE_BYTES)}
        self._enter(row)
        block = m.call("sunseal_ctr_update", self._ctr, self._done, self._in, BLOCK)
        self._enter(row)
        m.call("sunseal_ctr_update", self._ctr, self._done, self._in, MESSAGE_BYTES)
        if m.read(self._done, MESSAGE_BYTES) != _counter_mode(row):
            raise SunsealError(f"`sunseal_aes128_{way}` encrypts wrongly on {board}, so its traces say nothing")
        self.samples = int(share * block.cycles)

    def _enter(self, row: Row) -> None:
        m = self.machine
        if self._ready_for != row["key"]:
            m.restore(self._fresh)
            m.write(self._key, row["key"])
            m.call("sunseal_block_set_key", self._cipher, self._schedule, self._key, 16)
            self._ready, self._ready_for = m.snapshot(), row["key"]
        m.restore(self._ready)
        m.write(self._counter, row["counter"])
        m.write(self._in, row["message"])
        m.call("sunseal_ctr_init", self._ctr, self._cipher, self._schedule, self._counter)

    def run(self, row: Row) -> NDArray[np.uint8]:
        """Encrypt up to the end of the stretch that is traced."""
        self._enter(row)
        args = (self._ctr, self._done, self._in, MESSAGE_BYTES)
        return self._fitting(self._traced("sunseal_ctr_update", args, self.samples)[: self.samples])


class CounterCoupon(Program):
    """The bench's use of a keystream coupon, made in each run by the store in front of the marks."""

    FIRST: ClassVar[Mapping[str, tuple[str, ...]]] = {"msp430": ("R14", "R15"), "armv7em": ("R2",)}
    """Registers of `sunseal_coupon_format`'s third argument, by the instruction set."""

    def __init__(self, board: str) -> None:
        """Load the program; the store's first number is the run's."""
        program = boards.firmware_path(board, boards.variant((), board), "bench-coupon-ctr-use")
        self.machine = m = Machine(board, program)
        self._pin = boards.load(board).trigger
        self._fresh = m.snapshot()
        self._out = np.empty(1 << 20, dtype=np.uint8)
        self._begin = 0
        registers = self.FIRST[boards.architecture(m.device)]
        bits = 32 // len(registers)

        def begin_at(machine: Machine) -> None:
            for i, name in enumerate(registers):
                machine.registers[name] = self._begin >> bits * i & ((1 << bits) - 1)

        m.hook("sunseal_coupon_format", begin_at)
        # A pool's first coupon has the number at which it begins, or one a little above.
        self._above = 0
        self._make({"key": bytes(16), "counter": bytes(16), "message": bytes(MESSAGE_BYTES)})
        m.run()
        self._above = self._given()

    def _make(self, row: Row) -> None:
        m = self.machine
        m.restore(self._fresh)
        self._begin = int.from_bytes(row["counter"][NONCE_BYTES : NONCE_BYTES + 4], "big") - self._above & 0xFFFFFFFF
        fed = row["key"] + row["counter"][:NONCE_BYTES] + row["message"]
        m.write("bench_input", fed)
        m.write("bench_input_len", len(fed).to_bytes(2, "little"))
        m.run(pin=self._pin)

    def _given(self) -> int:
        return int.from_bytes(self.machine.read("bench_output", MESSAGE_BYTES + 4)[MESSAGE_BYTES:], "little")

    def run(self, row: Row) -> NDArray[np.uint8]:
        """Make a coupon and trace its use."""
        self._make(row)
        m = self.machine
        trace = self._fitting(m.power_trace(pin=self._pin, out=self._out))
        if m.read("bench_output", MESSAGE_BYTES) != _counter_mode(row):
            raise SunsealError("a coupon gives a wrong keystream, so its traces say nothing")
        return trace


def _counter_mode(row: Row) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(row["key"]), modes.CTR(row["counter"])).encryptor()
    return cipher.update(row["message"])


class SignOnline(_Called):
    """`sunseal_ecdsa_<curve>_sign_online`: s of a hash, of (1/k, r) from a coupon.

    r is random and not that of k G, which would take 2 million cycles a trace and changes nothing of what is computed
    here.
    """

    READY = 0x53656C21
    """`COUPON_READY` in ecdsa.inc: without it nothing is signed, and the first run is refused."""
    RANDOM_BYTES = 32
    """Bytes that a scalar is drawn from."""

    def __init__(self, board: str, kind: str) -> None:
        """Load the library's functions of the curve."""
        super().__init__(_library(board, f"ecc-{kind}"), 1 << 20)
        self.curve, self.words, self.hash_bytes = CURVES[kind]
        self._function = f"sunseal_ecdsa_{kind}_sign_online"
        m, order = self.machine, self.curve.order_bytes
        self._coupon, self._sig = m.place(4 + 3 * 2 * self.words), m.place(2 * order)
        self._d, self._hash = m.place(order), m.place(self.hash_bytes)
        self._fresh = m.snapshot()

    def below_n(self, data: bytes) -> int:
        """Return a number in [1, n) from 32 random bytes; the bias, 2^-32 at most, shows in no trace."""
        return int.from_bytes(data, "big") % (self.curve.n - 1) + 1

    def scaled(self, number: int) -> int:
        """Return a number as the coupon keeps it, times 2 to the bits of its words."""
        return (number << 16 * self.words) % self.curve.n

    def factors(self, rows: Rows) -> dict[str, Any]:
        """Return r of each signature as the library multiplies it with d, in words of 16 bits."""
        scaled = [self.scaled(self.below_n(r.tobytes())).to_bytes(2 * self.words, "little") for r in rows["r"]]
        return {"factor": np.array([np.frombuffer(r, dtype="<u2") for r in scaled])}

    def run(self, row: Row) -> NDArray[np.uint8]:
        """Sign once, with fresh inputs."""
        m, n, order = self.machine, self.curve.n, self.curve.order_bytes
        d, k, r = (self.below_n(row[name]) for name in ("d", "k", "r"))
        # bits2int of RFC 6979: the leftmost bits, as many as n has.
        e = int.from_bytes(row["hash"], "big") >> max(8 * self.hash_bytes - n.bit_length(), 0)
        m.restore(self._fresh)
        inverse = pow(k, -1, n)
        kept = (r, self.scaled(r), self.scaled(inverse))
        numbers = b"".join(value.to_bytes(2 * self.words, "little") for value in kept)
        m.write(self._coupon, self.READY.to_bytes(4, "little") + numbers)
        m.write(self._d, d.to_bytes(order, "big"))
        m.write(self._hash, row["hash"])
        # The fifth argument lies on the stack.
        args = (self._sig, self._coupon, self._d, self._hash, self.hash_bytes)
        trace = self._fitting(self._traced(self._function, args))
        if int.from_bytes(m.read(self._sig + order, order), "big") != inverse * (e + d * r) % n:
            raise SunsealError("the library signs wrongly, so its traces say nothing")
        return trace


# --- Sets of traces ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """Traces of a question: how many, with which noise, from which seed."""

    traces: int
    noise: float
    """Standard deviation, in switched bits."""
    seed: int

    def random(self, stream: str, chunk: int) -> np.random.Generator:
        """Return the generator of one chunk of one set of traces."""
        return np.random.default_rng([self.seed, zlib.crc32(stream.encode()), chunk])

    def record(self, program: Program, rows: Rows, columns: Any, rng: np.random.Generator) -> attacking.Samples:
        """Run a program once for each row and add noise to the samples that are wanted."""
        count = len(next(iter(rows.values())))
        traces: NDArray[np.uint8] | None = None
        for i in range(count):
            trace = program.run({name: values[i].tobytes() for name, values in rows.items()})[columns]
            traces = np.empty((count, len(trace)), dtype=np.uint8) if traces is None else traces
            traces[i] = trace
        assert traces is not None
        samples = traces.astype(np.float32)
        return samples + np.float32(self.noise) * rng.standard_normal(samples.shape, dtype=np.float32)


Draw = Callable[[np.random.Generator, int], Rows]


def _bytes(rng: np.random.Generator, count: int, size: int) -> NDArray[np.uint8]:
    return rng.integers(0, 256, (count, size), dtype=np.uint8)


def _repeated(value: bytes, count: int) -> NDArray[np.uint8]:
    return np.tile(np.frombuffer(value, dtype=np.uint8), (count, 1))


@dataclass(frozen=True)
class Test:
    """A t-test, one fixed value against random ones."""

    of: str
    """Input that is fixed in half of the traces."""
    traces: int
    t: NDArray[np.float64]
    """Welch's t of each cycle."""

    @property
    def most(self) -> float:
        """Return the greatest |t|."""
        return float(np.abs(self.t).max())

    @property
    def threshold(self) -> float:
        """Return what |t| exceeds by chance once in 10^5 tests."""
        return attacking.threshold(len(self.t), self.traces)

    @property
    def leaks(self) -> bool:
        """Say whether the two groups differ."""
        return self.most > self.threshold

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "fixed": self.of,
            "traces": self.traces,
            "samples": len(self.t),
            # Infinite where two different values are the same in every trace, as without noise.
            "t_most": float(f"{self.most:.4g}") if math.isfinite(self.most) else None,
            "at_cycle": int(np.abs(self.t).argmax()),
            "threshold": float(f"{self.threshold:.4g}"),
            "samples_above": int((np.abs(self.t) > self.threshold).sum()),
            "leaks": self.leaks,
        }


@dataclass(frozen=True)
class Phase:
    """Phase in which something is computed: at message time whole, ahead of it, at message time from a coupon."""

    name: str
    title: str
    tests: tuple[Test, ...]
    attack: attacking.Attack
    target: str
    """Target of the attack."""
    profiled: bool
    """True if the attacker's own device shows where the attacked values are."""
    shows: Mapping[str, float]
    """Correlations, without noise, of samples with the Hamming weights of words that are no key."""

    @property
    def answer(self) -> str:
        """Say whether the attack found its target."""
        attack = self.attack
        if attack.disclosed_at is not None:
            return f"found from {attack.disclosed_at:,} traces on"
        right = sum(part.disclosed_at is not None for part in attack.parts)
        some = f", {right} of {len(attack.parts)} parts right" if right else ""
        return f"not found with {attack.traces:,} traces{some}"

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            "phase": self.name,
            "title": self.title,
            "tests": [test.as_json() for test in self.tests],
            "attack": {"on": self.target, "places_known": self.profiled, **self.attack.as_json()},
            "shows": {name: float(f"{value:.4g}") for name, value in self.shows.items()},
        }


@dataclass(frozen=True)
class Leakage(Shown):
    """Secrets that traces of an operation give away, with coupons and without."""

    kind: str
    way: str
    board: str
    asked: Asked
    phases: tuple[Phase, ...]

    @property
    def sentence(self) -> str:
        """Say from which phase the key is found."""
        return "; ".join(f"{phase.title}: {phase.target} is {phase.answer}" for phase in self.phases)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Return the questions and their answers: when, what was asked, what came out."""
        told = []
        for phase in self.phases:
            told.append((phase.title, f"correlation, for {phase.target}", phase.answer))
            for test in phase.tests:
                verdict = "differ" if test.leaks else "do not differ"
                most = f"{verdict}: |t| up to {test.most:.3g}, {test.threshold:.3g} by chance"
                told.append((phase.title, f"t-test, fixed {test.of} against random", most))
        return told

    @property
    def remarks(self) -> list[str]:
        """Say what shows beside a key, what was not asked, and what a model cannot say."""
        shows = [phase.shows for phase in self.phases if phase.shows]
        told = [
            f"a coupon's use shows, as correlation with the weight of 16-bit words without noise, "
            f"{', '.join(f'{name} {value:.2f}' for name, value in words.items())}"
            for words in shows
        ]
        return [*told, NOT_PLAYED["ctr" if self.kind == "ctr" else "ecdsa"], MODEL]

    @property
    def judged(self) -> Verdict:
        """The verdict: a t-test that tells two kinds of traces apart, or a key that is found, is a finding."""
        found, left, asked = list[Finding](), list[str](), 0
        for phase in self.phases:
            for test in phase.tests:
                asked += 1
                told = f"traces of a fixed {test.of} differ from those of random ones"
                if test.leaks:
                    found.append(Finding("t-test", f"{phase.title}: {told}", phase.name))
                elif math.isnan(test.most):
                    left.append(f"{phase.title}: no t-test of a fixed {test.of}, as the traces are alike")
            asked += bool(phase.attack.parts)
            if phase.attack.found:
                found.append(Finding("key-found", f"{phase.title}: {phase.target} is {phase.answer}", phase.name))
        return Verdict(f"coupon leakage of {self.kind} on {self.board}", asked, tuple(found), tuple(left))

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        return {
            **self.judged.to_dict(),
            "kind": self.kind,
            "way": self.way,
            "board": self.board,
            "traces": self.asked.traces,
            "noise_bits": self.asked.noise,
            "seed": self.asked.seed,
            "phases": [phase.as_json() for phase in self.phases],
            "sentence": self.sentence,
            "remarks": self.remarks,
        }

    def cite(self) -> citing.Citations:
        """Return the paper whose sections 3.5.2 and 3.5.3 this plays."""
        return citing.of(papers=[coupon.PAPER_POWER])


MODEL = (
    "A model of Hamming weights has no glitches, no coupling between wires, no supply filter, no other work on the "
    "chip, and noise that was chosen. What it shows is there on a chip, too, with another number of traces; what it "
    "does not show may be there all the same"
)
NOT_PLAYED = {
    "ctr": (
        "The attacker knows program and counter, has a device of his own, and records aligned traces. A keystream is "
        "used once: one trace of it cannot be averaged, but templates read more from one trace than correlation does"
    ),
    "ecdsa": (
        "The operation whole ends in the same multiplication by the same routine. Not played: 1/k and k G, each used "
        "once, which single-trace and template attacks take and coupons move to production; a few known bits of each "
        "of many nonces give d by lattices"
    ),
}


class _Questions:
    """The questions to one phase of an operation."""

    def __init__(self, asked: Asked, name: str, heard: Callable[[int], object], answers: Answers) -> None:
        self.asked, self.name, self.heard, self.answers = asked, name, heard, answers

    def test(self, program: Program, of: str, fixed: Draw, drawn: Draw) -> Test:
        """Compare traces of two ways to draw, in an order that is random too."""
        stream = f"{self.name} t {of}"
        if (known := self.answers.get(stream)) is not None:
            self.heard(self.asked.traces)
            return Test(of, self.asked.traces, np.array(known))

        def batches() -> Iterator[tuple[attacking.Samples, NDArray[np.bool_]]]:
            for chunk, begun in enumerate(range(0, self.asked.traces, CHUNK)):
                count = min(CHUNK, self.asked.traces - begun)
                rng = self.asked.random(stream, chunk)
                one, other = fixed(rng, count), drawn(rng, count)
                second = rng.permutation(count) % 2 == 1
                rows = {key: np.where(second[:, None], other[key], one[key]) for key in one}
                yield self.asked.record(program, rows, slice(None), rng), second
                self.heard(count)

        t = attacking.welch(batches())
        self.answers.keep(stream, t.tolist())
        return Test(of, self.asked.traces, t)

    def attack(self, played: Callable[[], attacking.Attack]) -> attacking.Attack:
        """Play an attack, if its answer is not known."""
        stream = f"{self.name} attack"
        if (known := self.answers.get(stream)) is not None:
            self.heard(known["traces"])
            return attacking.Attack.known(known)
        found = played()
        self.answers.keep(stream, asdict(found))
        return found

    def recording(
        self, program: Program, draw: Draw, known: Callable[[Rows], dict[str, Any]], columns: Any
    ) -> attacking.Recording:
        """Return traces for an attack, recorded when they are looked at."""

        def chunks() -> Iterator[tuple[attacking.Samples, dict[str, Any]]]:
            for chunk in itertools.count():
                rng = self.asked.random(f"{self.name} attack", chunk)
                rows = draw(rng, CHUNK)
                yield self.asked.record(program, rows, columns, rng), known(rows)
                self.heard(CHUNK)

        return attacking.Recording(chunks(), self.asked.traces)

    def own_device(self, program: Program, draw: Draw) -> tuple[attacking.Samples, Rows]:
        """Return traces without noise of a device whose secrets are known."""
        rng = self.asked.random(f"{self.name} own device", 0)
        rows = draw(rng, PROFILED)
        return replace(self.asked, noise=0.0).record(program, rows, slice(None), rng), rows


def _wanted(places: list[Any]) -> tuple[Any, list[Any]]:
    """Return the samples that are worth recording, and places among these."""
    if not all(len(p) for p in places):
        return slice(None), []
    columns = np.unique(np.concatenate(places))
    return columns, [np.searchsorted(columns, p) for p in places]


# --- AES in counter mode -------------------------------------------------------------------------------


def _counters(rng: np.random.Generator, count: int, nonce: bytes) -> NDArray[np.uint8]:
    """Return counter blocks of messages of a device: its nonce, a number of 32 bits below 2^24, and 0."""
    blocks = np.zeros((count, BLOCK), dtype=np.uint8)
    blocks[:, :NONCE_BYTES] = np.frombuffer(nonce, dtype=np.uint8)
    blocks[:, NONCE_BYTES + 1 : NONCE_BYTES + 4] = _bytes(rng, count, 3)
    return blocks


def _ctr_phase(
    asked: Asked, name: str, board: str, way: str, heard: Callable[[int], object], answers: Answers
) -> Phase:
    secrets = asked.random("device", 0)
    key, nonce, text = (_bytes(secrets, 1, size).tobytes() for size in (16, NONCE_BYTES, MESSAGE_BYTES))
    ask = _Questions(asked, f"ctr {name}", heard, answers)

    def draw(*, fixed_key: bool, message: bytes | None = None) -> Draw:
        def rows(rng: np.random.Generator, count: int) -> Rows:
            return {
                "key": _repeated(key, count) if fixed_key else _bytes(rng, count, 16),
                "counter": _counters(rng, count, nonce),
                "message": _bytes(rng, count, MESSAGE_BYTES) if message is None else _repeated(message, count),
            }

        return rows

    def of_its_own(rng: np.random.Generator, count: int) -> Rows:
        own = _repeated(_bytes(rng, 1, 16).tobytes(), count)
        blocks = _bytes(rng, count, BLOCK)
        if name == "coupon":
            blocks[:, NONCE_BYTES] = 0
            blocks[:, NONCE_BYTES + 4 :] = 0  # the block's number in its message
        return {"key": own, "counter": blocks, "message": _bytes(rng, count, MESSAGE_BYTES)}

    title = {
        "whole": "AES at message time",
        "production": "making a coupon",
        "coupon": "a coupon at message time",
    }[name]
    # A keystream is what zeros are encrypted to.
    zeros = bytes(MESSAGE_BYTES) if name == "production" else None
    program: Program = CounterCoupon(board) if name == "coupon" else Counter(board, way)
    tests = [ask.test(program, "key", draw(fixed_key=True, message=zeros), draw(fixed_key=False, message=zeros))]
    if name != "production":
        tests.append(ask.test(program, "message", draw(fixed_key=True, message=text), draw(fixed_key=True)))
    # Half a block has the rounds that are attacked.
    attacked = program if name == "coupon" else Counter(board, way, 0.5)
    own, rows = ask.own_device(attacked, of_its_own)
    outputs = [_outputs(rows, number) for number in ROUNDS]
    found = [p for values in outputs for p in attacking.profiled(own, values)]
    columns, places = _wanted(found)
    by_round = {number: places[16 * i : 16 * i + 16] for i, number in enumerate(ROUNDS)} if places else {}

    def by_counter() -> attacking.Attack:
        known = draw(fixed_key=True, message=zeros)
        traces = ask.recording(attacked, known, lambda rows: {"counter": rows["counter"]}, columns)
        return attacking.aes_by_counter(traces, key, by_round)

    attack = ask.attack(by_counter)
    shows = _ctr_shows(own, rows) if name == "coupon" else {}
    return Phase(name, title, tuple(tests), attack, "the key", bool(places), shows)


def _outputs(rows: Rows, number: int) -> NDArray[np.uint8]:
    """Return the outputs of a round's S-boxes."""
    return aes_rounds.substituted(rows["counter"], rows["key"][0].tobytes(), number)


def _ctr_shows(samples: attacking.Samples, rows: Rows) -> dict[str, float]:
    """Return how well message, keystream and ciphertext show, words of 16 bits of the first block."""
    sealed = np.array(
        [list(_counter_mode({n: v[i].tobytes() for n, v in rows.items()})[:BLOCK]) for i in range(len(samples))],
        dtype=np.uint8,
    )
    message = np.ascontiguousarray(rows["message"][:, :BLOCK])
    words = {"message": message, "keystream": message ^ sealed, "ciphertext": sealed}
    return {name: attacking.shown(samples, values.view("<u2")) for name, values in words.items()}


# --- ECDSA -------------------------------------------------------------------------------------------


def _ecdsa_phase(asked: Asked, kind: str, board: str, heard: Callable[[int], object], answers: Answers) -> Phase:
    secrets = asked.random("device", 0)
    program = SignOnline(board, kind)
    size = dict.fromkeys(("d", "k", "r"), program.RANDOM_BYTES) | {"hash": program.hash_bytes}
    key, digest = (_bytes(secrets, 1, size[name]).tobytes() for name in ("d", "hash"))
    ask = _Questions(asked, f"{kind} coupon", heard, answers)

    def draw(d: bytes | None, e: bytes | None = None) -> Draw:
        def rows(rng: np.random.Generator, count: int) -> Rows:
            drawn = {name: _bytes(rng, count, bytes_of) for name, bytes_of in size.items()}
            drawn |= {} if d is None else {"d": _repeated(d, count)}
            return drawn | ({} if e is None else {"hash": _repeated(e, count)})

        return rows

    tests = (
        ask.test(program, "key", draw(key), draw(None)),
        ask.test(program, "message", draw(key, digest), draw(key)),
    )
    own, rows = ask.own_device(program, draw(_bytes(secrets, 1, size["d"]).tobytes()))
    factor = program.factors(rows)["factor"]
    secret = program.below_n(rows["d"][0].tobytes())
    n, every = None if kind in PLAIN else program.curve.n, range(program.words)
    words = np.array([[attacking.word_of(f, secret, i, n) for i in every] for f in factor], dtype=np.uint16)
    columns, places = _wanted(attacking.profiled(own, words))

    def attacked() -> attacking.Attack:
        traces = ask.recording(program, draw(key), program.factors, columns)
        return attacking.product(traces, program.below_n(key), program.words, places, n)

    title = "a coupon at message time"
    return Phase("coupon", title, tests, ask.attack(attacked), "the key d", bool(places), {})


# --- The answer ----------------------------------------------------------------------------------------


@answers(requests.Leak)
def leakage(to: requests.Leak) -> Leakage:
    """Ask simulated traces of an operation, whole, in the making of its coupon and in the coupon's use, for its key.

    `noise` is the standard deviation that is added to each sample, in switched bits; `way` the cipher in software.
    Each t-test takes `traces` traces, and each attack as many as it needs, up to `traces`. `journal` is a file that
    keeps each answer: the same call after an interruption goes on from the question that it stopped in.
    """
    kind, board, traces, heard = to.kind, to.board, to.traces, to.heard
    _refuse(kind, to.way, board, traces, to.noise, to.seed)
    recorded = Asked(traces, to.noise, to.seed)
    way = to.way if kind == "ctr" else ""
    found = Answers(to.journal, _spec(kind, way, board, recorded))
    names = ("whole", "production", "coupon") if kind == "ctr" else ("coupon",)
    of, done = traces * (8 if kind == "ctr" else 3), 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        if heard is not None:
            heard(min(done, of), of)

    try:
        phases = [
            _ctr_phase(recorded, name, board, way, more, found)
            if kind == "ctr"
            else _ecdsa_phase(recorded, kind, board, more, found)
            for name in names
        ]
    except KeyboardInterrupt as e:
        if to.journal is None:
            raise
        raise Stopped(f"{len(found)} answers are kept in `{to.journal}`; the same command goes on from there") from e
    return Leakage(kind, way, board, recorded, tuple(phases))


def _spec(kind: str, way: str, board: str, asked: Asked) -> dict[str, Any]:
    """Say what is asked, and of which programs: answers of others are none."""
    variant = boards.variant((), board)
    programs = ("library-cipher", "bench-coupon-ctr-use") if kind == "ctr" else (f"library-ecc-{kind}",)
    sums = {name: zlib.crc32(boards.firmware_path(board, variant, name).read_bytes()) for name in programs}
    return {"kind": kind, "way": way, "board": board, **asdict(asked), "sunseal": version("sunseal"), **sums}


def _refuse(kind: str, way: str, board: str, traces: int, noise: float, seed: int) -> None:
    """Refuse what cannot be asked, before anything is recorded."""
    if kind not in KINDS:
        raise unknown("kind of coupon whose leakage is played", kind, KINDS)
    if way in ("hw", "fixslice"):
        why = {
            "hw": "what switches inside of an accelerator is in no trace of ours, so that finding nothing says nothing",
            "fixslice": "bits of many bytes lie in one word there, which the attack's hypotheses on bytes do not fit",
        }[way]
        raise SunsealError(f"the way `{way}` is not attacked: {why}", hint=f"known: {', '.join(WAYS)}")
    if way not in WAYS:
        raise unknown("way", way, WAYS)
    boards.board_path(board)
    if not boards.has_workload(board, f"coupon-{kind}-use"):
        raise SunsealError(f"the firmware of {board} keeps no coupons, so they leak nothing there")
    if kind in CURVES and not _has_mpy32(board):
        raise SunsealError(
            f"the multiplication of {board} keeps other words than those that the attack on d looks for, so that "
            "finding nothing says nothing",
            hint="ask an MSP430 with MPY32, such as msp430fr5994-launchpad",
        )
    if not TRACES_MIN <= traces <= TRACES_MAX:
        few = "few" if traces < TRACES_MIN else "many"
        raise SunsealError(f"{traces:,} traces are too {few}: {TRACES_MIN} to {TRACES_MAX:,} are taken")
    if not 0 <= noise < float("inf"):
        raise SunsealError(f"noise of {noise:g} bits is none: a standard deviation of 0 or more is")
    if seed < 0:
        raise SunsealError(f"the seed {seed} is negative: it is a number from 0 on")


def _has_mpy32(board: str) -> bool:
    """Say whether the board's firmware multiplies by MPY32."""
    return boards.variant((), board).get("mpy") == "32"
