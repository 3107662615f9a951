# SPDX-License-Identifier: MIT OR Apache-2.0
"""NIST's estimators: on streams with known answers, on seeded bad ones, and on samples of the board's firmware."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli, refused, require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.papers import published
from sunseal.secure import estimators, randomness

BOARD = "msp430fr5994-launchpad"
MILLION = estimators.SAMPLES
# Compiled where they are installed, so no lock has them: `make randomness` brings them, conftest.py leaves these tests
# out elsewhere.
PACKAGES = pytest.mark.nist_packages


def _built(generator: str) -> None:
    try:
        boards.firmware_path(BOARD, boards.variant((), BOARD), f"bench-trng-{generator.replace('_', '-')}-256bit")
    except SunsealError as e:
        require(False, f"{e} (make all-boards)")


def bits_of(stream: str) -> bytes:
    return int(stream, 2).to_bytes(len(stream) // 8, "big")


def digits_of_e(count: int) -> int:
    """Return floor(e 2^(count - 2)): so many binary digits, the two before the point among them."""
    one = 1 << (count + 62)
    total = term = one
    n = 1
    while term:
        term //= n
        total += term
        n += 1
    return total >> 64


@PACKAGES
def test_the_digits_of_e_give_what_nist_printed_of_them() -> None:
    """SP 800-22 revision 1a, appendix B: p-values of the first million binary digits of e."""
    found = estimators.statistics(digits_of_e(MILLION).to_bytes(MILLION // 8, "big"))
    p = {test.title: test.p for test in found.tests}
    printed = {
        "frequency": 0.953749,
        "frequency within a block": 0.211072,
        "cumulative sums": 1.0,  # twice the less of 0.669887 and 0.724266
        "runs": 0.561917,
        "longest run of ones": 0.718945,
        "rank of matrices": 0.306156,
        "Fourier transform": 0.847187,
        "templates that overlap": 0.110434,
        "Maurer's universal": 0.282568,
        "approximate entropy": 0.700073,
        "serial": 2 * 0.462921,
        "linear complexity": 0.826335,
    }
    assert {name: p[name] for name in printed} == pytest.approx(printed, abs=2e-6)
    assert not found.failed


def test_templates_that_do_not_overlap_are_as_many_as_nist_has() -> None:
    assert [len(estimators.templates(m)) for m in range(2, 11)] == [2, 4, 6, 12, 20, 40, 74, 148, 284]
    assert "000000001" in estimators.templates(9)


@PACKAGES
def test_random_bits_pass_and_seeded_faults_fail() -> None:
    good = random.Random(1).randbytes(20_000)
    found = estimators.statistics(good)
    assert not found.failed, found.failed
    assert len(found.asked) == 9
    assert {t.why for t in found.tests if t.p is None} == {"wants 1,000,000 bits", "wants 387,840 bits"}
    lots = random.Random(2)
    faults = {
        "biased": bits_of("".join("1" if lots.random() < 0.52 else "0" for _ in range(160_000))),
        "sticky": bits_of("".join("01"[lots.random() < 0.48] * 2 for _ in range(80_000))),
        "repeated": good[:32] * 625,
        "a counter": b"".join(i.to_bytes(2, "big") for i in range(10_000)),
    }
    for fault, stream in faults.items():
        assert estimators.statistics(stream).failed, fault


@PACKAGES
def test_too_few_bits_and_samples_are_said_with_the_figure_that_is_needed() -> None:
    with pytest.raises(SunsealError, match=r"has 800 bits, and SP 800-22's tests want 1,000 at least"):
        estimators.statistics(bytes(100))
    with pytest.raises(SunsealError, match=r"has 999 samples, and SP 800-90B wants 1,000,000"):
        estimators.entropy(bytes(999), 8)
    with pytest.raises(SunsealError, match=r"wants 1,000 of each of 1,000 restarts, 1,000,000"):
        estimators.restarts(bytes(10), 8, 1.0)
    with pytest.raises(SunsealError, match=r"a sample of 2, which 1 bits do not hold"):
        estimators.entropy(bytes([2]) * MILLION, 1)


@PACKAGES
def test_a_source_that_repeats_itself_is_told_at_once() -> None:
    found = estimators.entropy(random.Random(5).randbytes(25_000) * 40, 8)
    assert found.by == "longest repeated substring"
    assert found.least < 0.01


@PACKAGES
def test_what_the_package_prints_stays_out_of_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    lots = random.Random(6)
    # Two of eight bits: the package says that symbols are narrow.
    assert estimators.entropy(bytes(lots.choices(range(4), k=MILLION)), 8).symbols == 4
    print("after")
    assert capfd.readouterr().out == "after\n"


@PACKAGES
def test_a_constant_source_holds_nothing_and_a_biased_bit_what_its_bias_leaves() -> None:
    assert estimators.entropy(bytes(MILLION), 8).least == 0
    lots = random.Random(3)
    biased = estimators.entropy(bytes(lots.random() < 0.75 for _ in range(MILLION)), 1)
    # -log2 0.75 = 0.415
    assert biased.of_samples["most common value"] == pytest.approx(0.415, abs=0.005)
    # The compression estimate is known to lie low.
    assert 0.2 < biased.least <= 0.415
    assert biased.of_bits == {}


@PACKAGES
def test_bytes_that_wake_alike_repeat_values_and_no_health_test_sees_it() -> None:
    """A supply that is away for too short a time: the seeded bad source."""
    _built("sram_sha256")
    node = randomness.Node(BOARD, "sram_sha256", 1, 1e-3)
    values = [node.value()[0] for _ in range(40)]
    assert None not in values
    judged = randomness._outputs("sram_sha256", values)
    assert judged.repeated == 39
    assert not judged.holds
    assert "had come before" in judged.sentence
    node = randomness.Node(BOARD, "sram_sha256", 1, randomness.OFF_S)
    fresh = randomness._outputs("sram_sha256", [node.value()[0] for _ in range(40)])
    assert fresh.holds
    assert (fresh.repeated, fresh.refused) == (0, 0)


@PACKAGES
def test_a_board_is_judged_from_its_starts_to_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, on a hundredth of the samples that the standard wants."""
    for generator in ("sram_sha256", "osc_noclksft"):
        _built(generator)
    for module, name, value in (
        (estimators, "RESTARTS", 100),
        (estimators, "SAMPLES", 10_000),
        (estimators, "REPEATED", 1000),
        (randomness, "READ_AT_ONCE", 100),
    ):
        monkeypatch.setattr(module, name, value)
    heard: list[tuple[int, int]] = []
    found = randomness.randomness(
        ["sram_sha256", "osc_noclksft"], bits=1024, heard=lambda done, of: heard.append((done, of))
    )
    told = json.loads(json.dumps(found.as_json()))
    assert heard[-1][0] == heard[-1][1] == 100 + 4 + 200
    sram, jitter = told["sources"]
    assert (sram["source"], sram["claim_bits"], jitter["source"], jitter["claim_bits"]) == (
        "sram",
        0.125,
        "jitter",
        0.5,
    )
    assert not sram["holds"]
    assert sram["restarts"]["constant_columns"] > 20
    assert jitter["restarts"]["constant_columns"] == 0
    assert jitter["low_bit"]["bits_per_sample"] == 1
    assert [g["starts"] for g in told["generators"]] == [100, 4]
    assert all(g["refused"] == g["repeated"] == 0 for g in told["generators"])
    short = randomness.randomness(["sram_sha256"], bits=1024, off_s=1e-3)
    assert short.outputs[0].repeated == 99
    assert short.sources[0].restarts is not None
    assert short.sources[0].restarts.constant == 100
    assert not short.holds


def test_oscillators_read_by_the_firmware_differ_from_start_to_start() -> None:
    _built("osc_noclksft")
    node = randomness.Node(BOARD, "osc_noclksft", 1, 10.0)
    rows = []
    for _ in range(3):
        node.listen()
        rows.append(node.read(200) + node.read(200))
    assert len(set(rows)) == 3
    assert all(5 <= len(set(row)) <= 16 for row in rows)


def test_a_source_is_awarded_what_restarts_leave_of_it() -> None:
    def seen(least: float) -> estimators.Entropy:
        return estimators.Entropy(MILLION, 8, 256, {"most common value": least}, {})

    def source(rows: float, columns: float, most: int) -> randomness.Noise:
        over = estimators.Restarts(seen(rows), seen(columns), most, 900, 0.5, 0)
        return randomness.Noise("jitter", 0.5, seen(1.5), None, over)

    assert source(1.4, 1.3, 890).assessed == 0.5
    assert source(1.4, 1.3, 890).holds
    # More than half of the claim, less than the claim; less than half; a value too often.
    assert (source(1.4, 0.3, 890).assessed, source(1.4, 0.3, 890).holds) == (0.3, False)
    assert source(1.4, 0.2, 890).assessed is None
    assert "nothing awarded" in source(1.4, 1.3, 901).sentence


@PACKAGES
def test_a_recording_of_ones_own_is_judged(sunseal: Cli, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.bin", tmp_path / "bad.bin"
    good.write_bytes(random.Random(4).randbytes(4000))
    bad.write_bytes(bytes(4000))
    done = sunseal("coupon", "randomness", "--values", good, "--json")
    told: dict[str, Any] = json.loads(done.out)
    assert (done.status, told["simulated"], told["holds"]) == (0, False, True)
    assert told["generators"][0]["sp800_22"]["bits"] == 32_000
    done = sunseal("coupon", "randomness", "--values", bad)
    assert done.status == 1
    assert "fails frequency" in " ".join(done.out.split())
    short = sunseal("coupon", "randomness", "--raw", good)
    assert short.status == 2
    assert "good.bin has 4,000 samples, and SP 800-90B wants 1,000,000" in " ".join(short.err.split())


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--generator", "sram"), "unknown generator `sram`"),
        (("--board", "telosb"), "telosb has none of the generators"),
        (("--board", "msp432p401r-launchpad", "--generator", "osc_clksft"), "has no generator `osc_clksft`"),
        (("--bits", "10"), "10 bits are too few: SP 800-22's tests want 1,000"),
        (("--seed", "-1"), "the seed -1 is negative"),
        (("--restarts", "x"), "are judged beside a recording in a row"),
        (("--raw", "nothing.bin", "--claim", "9"), "a claim of 9 bits a sample is none"),
        (("--raw", "x", "--bits", "5000"), "recordings have no generator"),
        (("--claim", "1"), "--claim goes with --raw"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(sunseal: Cli, args: tuple[str, ...], says: str) -> None:
    done = sunseal("coupon", "randomness", *args)
    refused(done, says)


def test_packages_that_are_not_there_are_named_before_anything_runs(
    sunseal: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sp800_90b", "sp80022suite"):
        monkeypatch.setitem(sys.modules, name, None)
    done = sunseal("coupon", "randomness", "--generator", "sram_sha256")
    assert done.status == 2
    assert "pip install 'sunseal[randomness]'" in " ".join(done.err.split())


@PACKAGES
def test_a_paper_s_claim_that_all_pass_stands_beside_what_ours_fail() -> None:
    _built("sram_aes_folded")
    (table,) = (t for name, (_, t) in published._tables().items() if name == "suslowicz2017/section-4.3.1")
    rows = {r["generator"]: r for r in table["row"]}
    # What ends in a cipher passes whatever goes in; a bias that Von Neumann leaves does not.
    folded, biased = (published._row(BOARD, table, rows[name], None) for name in ("sram_aes_folded", "sram_xor32cvn"))
    assert (folded.published, folded.ours, folded.verdict) == (0, 0, published.AGREES)
    assert biased.ours and biased.ours >= 2 and biased.verdict == published.DIFFERS
    assert "fails frequency" in biased.note
