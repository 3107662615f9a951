# SPDX-License-Identifier: MIT OR Apache-2.0
"""Side channels: t-test and attacks against SciPy and toys with known answers, then the board's own programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from conftest import Cli, refused, require
from sunseal.catalog import boards
from sunseal.errors import Stopped, SunsealError
from sunseal.secure import aes_rounds, attacking, leakage

pytest.importorskip("scared")

BOARD = "msp430fr5994-launchpad"
KEY = bytes(range(0x30, 0x40))
WEIGHTS = np.array([value.bit_count() for value in range(1 << 16)])


def _built() -> None:
    for program in ("library-cipher", *(f"library-ecc-{kind}" for kind in leakage.CURVES), "bench-coupon-ctr-use"):
        try:
            boards.firmware_path(BOARD, boards.variant((), BOARD), program)
        except SunsealError as e:
            require(False, f"{e} (make all-boards)")


def toy(noise: float, *, masked: bool = False, changing: slice = slice(9, 12)) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A device whose samples are the weights of its S-box outputs of four rounds, or of these under fresh masks."""
    from scared import aes

    rng = np.random.default_rng(7)
    while True:
        counter = np.full((500, 16), 0x5A, dtype=np.uint8)
        counter[:, changing] = rng.integers(0, 256, counter[:, changing].shape)
        samples = []
        for number in range(1, 5):
            key = np.frombuffer(KEY, dtype=np.uint8)
            out = aes.base.encrypt(counter, key, at_round=number, after_step=aes.base.Steps.SUB_BYTES)
            mask = rng.integers(0, 256, out.shape, dtype=np.uint8)
            samples.append(WEIGHTS[out ^ mask if masked else out])
        clean = np.concatenate(samples, axis=1)
        yield (clean + rng.normal(0, noise, clean.shape)).astype(np.float32), {"counter": counter}


PLACES = {number: [np.array([16 * (number - 1) + byte]) for byte in range(16)] for number in range(1, 5)}


def attacked(noise: float, most: int, **how: Any) -> attacking.Attack:
    return attacking.aes_by_counter(attacking.Recording(toy(noise, **how), most), KEY, PLACES)


def test_t_is_that_of_scipy_whatever_the_batches() -> None:
    rng = np.random.default_rng(1)
    samples = rng.normal(20, [1, 3, 9], (4000, 3)).astype(np.float32)
    second = rng.random(4000) < 0.3
    samples[second] += np.array([0, 0.2, 1], dtype=np.float32)
    t = attacking.welch((samples[i : i + 700], second[i : i + 700]) for i in range(0, 4000, 700))
    expected = stats.ttest_ind(samples[~second].astype(float), samples[second].astype(float), equal_var=False)
    assert t == pytest.approx(expected.statistic, rel=1e-5)
    still = np.full((100, 2), 3, dtype=np.float32)
    assert attacking.welch([(still, np.arange(100) % 2 == 1)]).tolist() == [0, 0]


def test_t_and_correlations_are_those_of_scared() -> None:
    import scared
    from estraces import read_ths_from_ram

    rng = np.random.default_rng(2)
    values = rng.integers(0, 256, (2000, 5), dtype=np.uint8)
    samples = rng.normal(20, 3, (2000, 7)).astype(np.float32)
    samples[:, :5] += WEIGHTS[values]
    samples[:, 6] = 4  # never changes
    second = rng.random(2000) < 0.5
    test = scared.TTestAnalysis(precision="float64")
    test.run(scared.TTestContainer(*(read_ths_from_ram(samples[chosen, :6]) for chosen in (~second, second))))
    t = attacking.welch([(samples[:900], second[:900]), (samples[900:], second[900:])])
    assert t[:6] == pytest.approx(test.result, rel=2e-3)  # n in place of n - 1
    theirs = scared.CPADistinguisher(precision="float64")
    theirs.update(samples[:, :6], scared.HammingWeight()(values[:, None, :])[:, 0])
    for precision, near in ((np.float64, 1e-9), (np.float32, 1e-5)):
        ours = attacking.Correlation(precision)
        for cut in (slice(0, 700), slice(700, 2000)):
            ours.update(samples[cut] - samples[0], values[cut])
        assert ours.found()[:, :6] == pytest.approx(theirs.compute(), abs=near)
        assert not ours.found()[:, 6].any()


def test_rounds_of_aes_are_those_of_scared_and_lead_back_to_the_key() -> None:
    from scared import aes

    rng = np.random.default_rng(3)
    blocks = rng.integers(0, 256, (50, 16), dtype=np.uint8)
    keys = aes_rounds.round_keys(KEY)
    for number in range(1, 11):
        theirs = aes.base.encrypt(
            blocks, np.frombuffer(KEY, dtype=np.uint8), at_round=number, after_step=aes.base.Steps.SUB_BYTES
        )
        assert (aes_rounds.substituted(blocks, KEY, number) == theirs).all()
        assert aes_rounds.key_of(keys[number], number) == KEY


def test_thresholds_and_the_traces_foretold_are_those_of_the_formulas() -> None:
    assert attacking.threshold(1, 10**9) == pytest.approx(stats.norm.ppf(1 - 0.5e-5))
    for samples in (1000, 10_000):
        by_chance = 1 - (1 - 2 * stats.norm.sf(attacking.threshold(samples, 10**9))) ** samples
        assert by_chance == pytest.approx(1e-5, rel=1e-5)
    # Mangard 2004: about 28 over the square of a small correlation.
    assert attacking.foretold(0.01) == pytest.approx(28 / 0.01**2, rel=0.02)
    assert attacking.foretold(0.0) is None


@pytest.mark.parametrize("traces", [4, 10])
def test_few_traces_of_nothing_do_not_differ(traces: int) -> None:
    """With so few traces t of some of 9,000 samples is above what the normal distribution allows where nothing
    leaks."""
    rng = np.random.default_rng(traces)
    t = attacking.welch([(rng.normal(0, 1, (traces, 9000)).astype(np.float32), np.arange(traces) % 2 == 1)])
    test = leakage.Test("key", traces, t)
    assert np.abs(t).max() > 6.1
    assert not test.leaks


def test_values_that_always_differ_do_so_in_json_too() -> None:
    """Without noise both groups stand still, so that t is infinite."""
    apart = np.repeat(np.array([[1.0], [2.0]], dtype=np.float32), 5, axis=0)
    test = leakage.Test("key", 10, attacking.welch([(apart, np.arange(10) >= 5)]))
    told = test.as_json()
    assert (told["leaks"], told["t_most"]) == (True, None)
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize("noise", [4.0, 10.0])
def test_a_leaky_toy_is_disclosed_with_the_traces_foretold(noise: float) -> None:
    found = attacked(noise, 8000)
    assert found.found
    foretold = attacking.foretold(math.sqrt(2 / (2 + noise**2)))
    assert foretold is not None
    assert found.disclosed_at is not None
    assert foretold / 4 < found.disclosed_at < 2 * foretold
    assert [len(step) for step in found.steps] == [3, 12, 16, 16]


def test_a_block_that_changes_everywhere_gives_the_key_in_one_step() -> None:
    found = attacked(2.0, 1000, changing=slice(0, 16))
    assert found.found
    assert [len(step) for step in found.steps] == [16]


def test_a_masked_toy_is_not_disclosed() -> None:
    found = attacked(0.5, 4000, masked=True)
    assert not found.found
    assert found.disclosed_at is None
    assert len(found.steps) == 1
    assert found.traces == 4000


def test_a_wrong_table_of_hypotheses_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [chunk for chunk, _ in zip(toy(1.0), range(4), strict=False)]
    assert attacking.aes_by_counter(attacking.Recording(iter(chunks), 2000), KEY, PLACES).found
    monkeypatch.setattr(aes_rounds, "SBOX", np.roll(aes_rounds.SBOX, 1))
    assert not attacking.aes_by_counter(attacking.Recording(iter(chunks), 2000), KEY, PLACES).found


def test_the_words_of_a_product_give_its_secret_factor() -> None:
    secret, words = 0xC0DE_4800, 2  # the lowest word ends in zeros
    rng = np.random.default_rng(5)

    def chunks(factor_of: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
        while True:
            factors = rng.integers(0, 1 << 16, (500, words), dtype=np.uint16)
            low = [int(f[0]) | int(f[1]) << 16 for f in factors]
            clean = np.array([[WEIGHTS[p * secret >> 16 * i & 0xFFFF] for i in range(words)] for p in low])
            noisy = (clean + rng.normal(0, 1, clean.shape)).astype(np.float32)
            yield noisy, {"factor": factor_of(factors)}

    places = [np.array([0]), np.array([1])]
    found = attacking.product(attacking.Recording(chunks(lambda f: f), 1000), secret, words, places)
    assert found.found
    others = attacking.Recording(chunks(lambda f: f[::-1]), 500)
    assert not attacking.product(others, secret, words, places).found


@pytest.fixture(scope="module")
def played() -> leakage.Leakage:
    _built()
    return leakage.leakage("ctr", traces=800, noise=2.0)


def test_a_coupon_takes_the_key_out_of_message_time_and_not_out_of_its_making(played: leakage.Leakage) -> None:
    whole, production, coupon = played.phases
    for phase in (whole, production):
        assert phase.attack.found
        assert phase.profiled
        assert phase.tests[0].leaks
    assert not coupon.attack.found
    assert not coupon.profiled
    by = {test.of: test for test in coupon.tests}
    assert not by["key"].leaks
    assert by["message"].leaks
    assert all(value > 0.9 for value in coupon.shows.values())


def test_the_command_prints_what_the_function_returns_and_draws_it(
    sunseal: Cli, played: leakage.Leakage, tmp_path: Path
) -> None:
    page, figure = tmp_path / "leakage.html", tmp_path / "leakage.svg"
    asked = ("--traces", "800", "--noise", "2", "--report", str(page), "--figure", str(figure))
    done = sunseal("coupon", "leakage", "--json", *asked)
    # Traces of fixed and of random messages differ: a finding.
    assert done.status == 1, done.err
    told = json.loads(done.out)
    assert told.pop("schema")["name"] == "coupon-leakage" and told.pop("sunseal")
    assert told == json.loads(json.dumps(played.as_json()))
    assert "<svg" in figure.read_text(encoding="utf-8")
    assert "making a coupon" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", leakage.CURVES)
def test_a_signatures_private_key_is_found_from_coupons(kind: str) -> None:
    _built()
    found = leakage.leakage(kind, traces=300, noise=0.5)
    (coupon,) = found.phases
    assert coupon.attack.found
    assert all(test.leaks for test in coupon.tests)
    assert len(coupon.attack.steps) == leakage.CURVES[kind][1]


def test_an_interrupted_question_goes_on_from_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _built()
    journal = tmp_path / "answers"
    asked: dict[str, Any] = {"traces": 100, "noise": 0.5, "journal": journal}
    whole = leakage.leakage("secp160r1", traces=100, noise=0.5)
    product = attacking.product

    def interrupted(*_: Any) -> attacking.Attack:
        raise KeyboardInterrupt

    monkeypatch.setattr(attacking, "product", interrupted)
    with pytest.raises(Stopped, match="2 answers are kept"):
        leakage.leakage("secp160r1", **asked)
    with journal.open("ab") as file:
        file.write(b'{"name": "cut short')
    monkeypatch.setattr(attacking, "product", product)
    monkeypatch.setattr(attacking, "welch", interrupted)  # both t-tests are known
    assert leakage.leakage("secp160r1", **asked).as_json() == whole.as_json()
    monkeypatch.setattr(attacking, "product", interrupted)
    assert leakage.leakage("secp160r1", **asked).as_json() == whole.as_json()
    with pytest.raises(SunsealError, match="answers to another question: `seed` was 1 and is 2"):
        leakage.leakage("secp160r1", seed=2, **asked)
    (tmp_path / "other").write_text("no journal\n", encoding="utf-8")
    with pytest.raises(SunsealError, match="is no journal of answers"):
        leakage.leakage("secp160r1", traces=100, journal=tmp_path / "other")


def test_traces_of_different_lengths_are_refused() -> None:
    program = leakage.Program()
    program._fitting(np.zeros(5, dtype=np.uint8))
    with pytest.raises(SunsealError, match="not aligned"):
        program._fitting(np.zeros(6, dtype=np.uint8))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--kind", "ccm"), "unknown kind of coupon whose leakage is played `ccm`; known: ctr, p224, p256, secp160r1"),
        (("--way", "hw"), "what switches inside of an accelerator is in no trace of ours"),
        (("--way", "s-box"), "unknown way `s-box`; known: sbox, tbox"),
        (("--board", "micaz"), "the firmware of micaz keeps no coupons"),
        (("--board", "nothing"), "unknown board `nothing`"),
        (("--board", "msp432p401r-launchpad", "--kind", "p256"), "keeps other words than those that the attack"),
        (("--traces", "0"), "0 traces are too few: 4 to 1,000,000"),
        (("--traces", "1000001"), "1,000,001 traces are too many"),
        (("--noise", "-1"), "noise of -1 bits is none"),
        (("--noise", "nan"), "--noise `nan` must be a finite number"),
        (("--seed", "-1"), "the seed -1 is negative"),
        (("--figure", "x.gif"), "its name must end in .svg, .png or .pdf"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(sunseal: Cli, args: tuple[str, ...], says: str) -> None:
    done = sunseal("coupon", "leakage", *args)
    refused(done, says)
