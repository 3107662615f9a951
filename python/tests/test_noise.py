# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models of noise: parameters that are planted come back, and the engine's own sources are recognised."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli, require
from sunseal import coupon_noise
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.measurement import oracle
from sunseal.secure import noise, randomness

BOARD = "msp430fr5994-launchpad"
PLANTED = noise.Memory(
    ones=0.42,
    noise=0.12,
    drift_per_k=0.004,
    ones_per_k=0.0005,
    temperature_c=20.0,
    to_c=-20.0,
    correlation={1: 0.0, 8: 0.2, 32: 0.0},
    distance=0.0,
    noisy=0.0,
)


def starts(folder: Path, cells: noise.Cells, count: int) -> Path:
    folder.mkdir()
    for i in range(count):
        (folder / f"{i:03}.bin").write_bytes(cells.wake())
    return folder


def of_engine(generator: str) -> randomness.Node:
    try:
        return randomness.Node(BOARD, generator, 1, randomness.OFF_S)
    except SunsealError as e:
        require(False, str(e))
        raise


def test_a_memory_s_parameters_come_back_from_its_starts_at_two_temperatures(tmp_path: Path) -> None:
    warm = starts(tmp_path / "warm", noise.Cells(PLANTED, 16_384, 1, 20.0), 12)
    cold = starts(tmp_path / "cold", noise.Cells(PLANTED, 16_384, 1, -20.0), 12)
    fit = coupon_noise([(warm, 20.0), (cold, -20.0)])
    model = fit.model
    assert isinstance(model, noise.Memory)
    assert fit.judged.exit_status == 0 and len(fit.foretold) == 4
    assert model.ones == pytest.approx(0.42, abs=0.005)
    assert model.noise == pytest.approx(0.12, rel=0.05)
    assert model.drift_per_k == pytest.approx(0.004, rel=0.1)
    assert model.ones_per_k == pytest.approx(0.0005, rel=0.2)
    assert model.correlation[8] == pytest.approx(0.2, abs=0.03)
    assert model.correlation[1] == model.correlation[32] == 0.0


def test_another_law_than_the_model_s_is_found_out_by_the_half_that_judges(tmp_path: Path, sunseal: Cli) -> None:
    drawn = np.random.default_rng(1)
    chance = np.where(drawn.random(65_536) < 0.2, 0.5, drawn.integers(0, 2, 65_536))
    (tmp_path / "coins").mkdir()
    for i in range(20):
        bits = drawn.random(65_536) < chance
        (tmp_path / "coins" / f"{i}.bin").write_bytes(np.packbits(bits, bitorder="little").tobytes())
    fit = coupon_noise([(tmp_path / "coins", None)])
    assert [f.name for f in fit.foretold if not f.holds] == ["cells that change within 10 starts"]
    assert fit.judged.exit_status == 1
    told = sunseal("coupon", "randomness", "--fit", tmp_path / "coins", "--save", tmp_path / "model.toml")
    assert told.status == 1 and "is not to be used" in told.out and not (tmp_path / "model.toml").exists()


def test_the_engine_s_memory_and_oscillator_have_what_the_device_s_file_says() -> None:
    node = of_engine("sram_sha256")
    rows = []
    for _ in range(12):
        node.start()
        rows.append(np.frombuffer(node.machine.read("bench_output"), dtype=np.uint8))
    bits = np.unpackbits(np.stack(rows), axis=1, bitorder="little").astype(bool)
    model = noise.memory_of(bits)
    told = boards.device("msp430fr5994")
    assert model.noisy == pytest.approx(told["sram"]["noisy"], rel=0.05)
    assert model.ones == pytest.approx(told["sram"]["ones"], abs=0.01)
    node = of_engine("osc_noclksft")
    node.listen()
    # The low byte of a count near 850, which does not wrap.
    periods = 768.0 + np.frombuffer(b"".join(node.read(1000) for _ in range(12)), dtype=np.uint8).astype(np.float64)
    found = noise.oscillator_of(periods)
    assert found.period == pytest.approx(8e6 / 9400, rel=0.02)
    assert 100 * found.edge == pytest.approx(told["jitter"]["vlo_sigma_percent"], rel=0.05)
    assert found.accumulating < 0.2 * found.edge and found.wander < 0.1 * found.edge


@pytest.mark.parametrize(("edge", "accumulating", "wander"), [(2e-3, 0, 0), (0, 3e-3, 0), (1e-3, 1e-3, 0)])
def test_an_oscillator_s_noise_is_told_apart(tmp_path: Path, edge: float, accumulating: float, wander: float) -> None:
    drawn = np.random.default_rng(7)
    count = 60_000
    edges = np.cumsum(1000 * (1 + accumulating * drawn.standard_normal(count)))
    edges += 1000 * edge * drawn.standard_normal(count)
    path = tmp_path / "periods.csv"
    path.write_text(
        "# a counter\nindex,count\n" + "".join(f"{i},{p}\n" for i, p in enumerate(np.diff(np.floor(edges))))
    )
    fit = coupon_noise([(path, None)])
    model = fit.model
    assert isinstance(model, noise.Oscillator) and model.counted
    assert fit.judged.exit_status == 0
    assert model.edge == pytest.approx(edge, rel=0.08, abs=4e-4)
    assert model.accumulating == pytest.approx(accumulating, rel=0.08, abs=2e-4)
    assert model.wander < 2e-4


def test_an_oscillator_s_drift_comes_of_its_periods_at_three_temperatures(tmp_path: Path) -> None:
    drawn = np.random.default_rng(5)
    asked = []
    for at_c in (25.0, 0.0, 60.0):
        mean = 1e-4 / (1 + 0.002 * (at_c - 25))
        asked.append((tmp_path / f"{at_c:g}.csv", at_c))
        asked[-1][0].write_text("".join(f"{p}\n" for p in mean * (1 + 1e-3 * drawn.standard_normal(20_000))))
    fit = coupon_noise(asked)
    assert isinstance(fit.model, noise.Oscillator) and not fit.model.counted
    assert fit.model.drift_percent_per_k == pytest.approx(0.2, rel=0.01)
    assert fit.judged.exit_status == 0 and len(fit.foretold) == 7
    with pytest.raises(SunsealError, match="one oscillator's at several temperatures"):
        coupon_noise([asked[0], (asked[1][0], 25.0)])


def test_a_dump_in_ti_txt_is_a_start(tmp_path: Path) -> None:
    cells = noise.Cells(PLANTED, 4096, 1)
    for i in range(6):
        dump = cells.wake()
        rows = "\n".join(dump[at : at + 16].hex(" ").upper() for at in range(0, len(dump), 16))
        (tmp_path / f"{i}.txt").write_text(f"@1C00\n{rows}\nq\n")
    fit = coupon_noise([(tmp_path, None)])
    assert fit.kind == "memory" and fit.samples == 6 and fit.judged.exit_status == 0


def test_a_frequency_that_moves_in_the_second_half_is_not_foretold(tmp_path: Path) -> None:
    drawn = np.random.default_rng(3)
    path = tmp_path / "periods.txt"
    path.write_text("".join(f"{p}\n" for p in np.r_[drawn.normal(1, 1e-3, 20_000), drawn.normal(1.05, 3e-3, 20_000)]))
    fit = coupon_noise([(path, None)])
    assert fit.judged.exit_status == 1 and not fit.foretold[0].holds and not fit.foretold[1].holds


def test_a_saved_model_wakes_the_board_s_memory_and_the_firmware_conditions_it(tmp_path: Path, sunseal: Cli) -> None:
    of_engine("sram_sha256")
    folder = starts(tmp_path / "dumps", noise.Cells(PLANTED, 4096, 1, 20.0), 8)
    saved = tmp_path / "model.toml"
    told = sunseal("coupon", "randomness", "--fit", f"{folder}@20C", "--save", saved, "--json")
    assert told.status == 0, told.err
    made = json.loads(told.out)
    assert made["kind"] == "memory" and made["samples"] == 8
    model = noise.read_model(saved)
    assert isinstance(model, noise.Memory) and model.ones == made["model"]["ones"]
    node = randomness.Node(BOARD, "sram_sha256", 1, randomness.OFF_S, model)
    value, samples = node.value()
    assert value is not None and oracle._generated("sram_sha256", value + samples)
    first = np.unpackbits(np.frombuffer(samples, dtype=np.uint8))
    again = np.unpackbits(np.frombuffer(node.value()[1], dtype=np.uint8))
    assert first.mean() == pytest.approx(0.42, abs=0.02)
    assert (first != again).mean() == pytest.approx(model.distance, rel=0.1)


@pytest.mark.parametrize("name", boards.names("noise"))
def test_silicon_s_memory_carries_what_the_firmware_credits(name: str) -> None:
    model = noise.read_model(Path(name))
    assert isinstance(model, noise.Memory)
    assert model.entropy_bits > 3 * noise.CREDIT
    # The engine's even chances of noisy cells, and the races of the model, give the same distance.
    bits = noise._played(noise.Cells(model, 8192, 1), 8)
    assert noise._distance(bits) == pytest.approx(model.distance, rel=0.05)


def test_a_saved_oscillator_sets_the_board_s_jitter(tmp_path: Path) -> None:
    of_engine("osc_noclksft")
    own = noise.Oscillator(1.0, 2e-3, 0.0, 0.0, True)
    node = randomness.Node(BOARD, "osc_noclksft", 1, randomness.OFF_S, own)
    node.listen()
    periods = 768.0 + np.frombuffer(b"".join(node.read(1000) for _ in range(12)), dtype=np.uint8).astype(np.float64)
    assert noise.oscillator_of(periods).edge == pytest.approx(2e-3, rel=0.05)


def test_what_is_too_short_for_its_estimator_is_refused_by_name(tmp_path: Path, sunseal: Cli) -> None:
    cells = noise.Cells(PLANTED, 64, 1)
    few = starts(tmp_path / "few", cells, 3)
    told = sunseal("coupon", "randomness", "--fit", few)
    assert told.status == 2 and "has 3 starts, and the estimator of noisy cells wants 4" in told.err
    small = starts(tmp_path / "small", cells, 6)
    told = sunseal("coupon", "randomness", "--fit", small)
    assert told.status == 2 and "the estimator of noisy cells has seen" in told.err and "wants 400" in told.err
    alike = tmp_path / "alike"
    alike.mkdir()
    for i in range(6):
        (alike / f"{i}.bin").write_bytes(bytes(range(256)) * 16)
    told = sunseal("coupon", "randomness", "--fit", alike)
    assert told.status == 2 and "has seen 0 flips" in told.err
    short = tmp_path / "short.csv"
    short.write_text("100\n" * 500)
    told = sunseal("coupon", "randomness", "--fit", short)
    assert told.status == 2 and "has 500 periods, and the estimator of edge noise wants 1,000" in told.err
    short.write_text("100\n101\n" * 5000)
    told = sunseal("coupon", "randomness", "--fit", short)
    assert told.status == 2 and "the estimator of wander wants 10,000, and as many to judge" in told.err


@pytest.mark.parametrize(
    ("content", "asked", "why"),
    [
        ({"a.bin": bytes(64), "b.bin": bytes(65)}, "{}", "b.bin` has 65 bytes where others have 64; each start wants"),
        ({"a.bin": bytes(100)}, "{}/a.bin --start-bytes 30", "no whole number of starts of 30 bytes"),
        ({"a.bin": b""}, "{}", "is empty"),
        ({}, "{}", "has no recording in it"),
        ({"a.bin": bytes(400)}, "{} --start-bytes 100", "all ones or all zeros|has seen 0 flips"),
        ({"a.csv": b"1\n2\nx\n"}, "{}/a.csv", "row 3 of .* has `x`, which is no period"),
        ({"a.csv": b"1\n-2\n"}, "{}/a.csv", "row 2 of .* has a period of -2"),
        ({"a.hex": b"00 11"}, "{}", "ends as a file of records and begins as none"),
        ({"a.hex": b":00zz"}, "{}", "begins as Intel HEX and cannot be read"),
        ({"a.csv": b"1\n", "a.bin": b"1"}, "{0}/a.csv --fit {0}/a.bin", "a model is of a memory or of an oscillator"),
        ({"a.bin": b"1"}, "{}/nothing", "there is no recording"),
        ({"a.bin": b"1"}, "{}@warmC", "`warmC`, which is no temperature"),
        ({"a.bin": b"1"}, "{} --claim 1", "--fit makes a model and judges nothing else"),
    ],
)
def test_what_cannot_be_fitted_is_refused(
    tmp_path: Path, sunseal: Cli, content: dict[str, bytes], asked: str, why: str
) -> None:
    import re

    folder = tmp_path / "given"
    folder.mkdir()
    for name, data in content.items():
        (folder / name).write_bytes(data)
    told = sunseal("coupon", "randomness", "--fit", *asked.format(folder).split())
    assert told.status == 2 and re.search(why, told.err.replace("\n", " ")), told.err


def test_a_model_answers_for_its_own_kind_of_noise_alone(tmp_path: Path, sunseal: Cli) -> None:
    saved = tmp_path / "model.toml"
    saved.write_text(noise.Fit("oscillator", noise.Oscillator(1.0, 1e-3, 0, 0, False), ("x",), 1, ()).toml())
    told = sunseal("coupon", "randomness", "--model", saved, "--generator", "sram_sha256")
    assert told.status == 2 and "`sram_sha256` takes other noise" in told.err
    told = sunseal("coupon", "randomness", "--model", saved, "--generator", "osc_noclksft", "--at", "5")
    assert told.status == 2 and "it knows nothing of 5 C" in told.err
    told = sunseal("coupon", "randomness", "--model", "stm32f401re-a", "--generator", "sram_sha256", "--off", "1ms")
    assert told.status == 2 and "not how long it holds" in told.err
    told = sunseal("coupon", "randomness", "--model", "stm32f401re-a", "--generator", "sram_sha256", "--at", "85")
    assert told.status == 2 and "was recorded from -18 to 22 C, and 85 C lies beyond" in told.err
    saved.write_text("[memory]\nones = 0.5\n")
    told = sunseal("coupon", "randomness", "--model", saved, "--generator", "sram_sha256")
    assert told.status == 2 and "is not as --save writes it" in told.err
    saved.write_text("[else]\n")
    told = sunseal("coupon", "randomness", "--model", saved, "--generator", "sram_sha256")
    assert told.status == 2 and "neither [memory] nor [oscillator]" in told.err
    told = sunseal("coupon", "randomness", "--at", "5", "--generator", "sram_sha256")
    assert told.status == 2 and "goes with its --model" in told.err
