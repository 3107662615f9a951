# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings of instruments: read alike in every form, integrated, with an uncertainty that holds."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Cli
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.harvest import climate
from sunseal.measurement import measuring
from sunseal.trace import (
    FORMATS,
    Bench,
    Channel,
    Energy,
    Recording,
    Trigger,
    capacitor,
    comparing,
    measure,
    model,
    open_recording,
    writers,
)

DATA = Path(__file__).parent / "data"


def load_make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", DATA / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = load_make()
WINDOW_J = MAKE.VCC_V * MAKE.BUSY_A * 12 * MAKE.STEP_S
IDLE_W = MAKE.VCC_V * MAKE.IDLE_A
SHUNT = Bench(vcc_v=MAKE.VCC_V, shunt_ohm=MAKE.SHUNT_OHM)


def in_memory(values: dict[str, Any], step_s: float, units: dict[str, str], block: int = 1 << 20) -> Recording:
    """Make a recording of arrays, read in blocks of a size."""
    arrays = {k: np.asarray(v, dtype=np.float64) for k, v in values.items()}
    count = len(next(iter(arrays.values())))

    def raw(names: tuple[str, ...]) -> Iterator[model.Raw]:
        for at in range(0, count, block):
            yield None, {n: arrays[n][at : at + block] for n in names}

    channels = tuple(Channel(n, units[n]) for n in arrays)
    return Recording(Path("memory"), "memory", channels, raw, samples=count, step_s=step_s)


# --- Formats ---------------------------------------------------------------------------------


def test_the_recordings_are_as_their_maker_writes_them() -> None:
    assert {n: (DATA / n).read_text(encoding="utf-8") for n in MAKE.files()} == MAKE.files()


@pytest.mark.parametrize(
    ("name", "form", "bench", "trigger"),
    [
        ("tektronix-tds.csv", "tektronix", SHUNT, "power"),
        ("tektronix-mso.csv", "tektronix", Bench("CH1", MAKE.VCC_V, shunt_ohm=MAKE.SHUNT_OHM), "CH2"),
        ("rigol.csv", "rigol", SHUNT, "CH2"),
        ("siglent.csv", "siglent", SHUNT, "CH2"),
        ("keysight.csv", "keysight", SHUNT, "ch2"),
        ("lecroy.csv", "lecroy", SHUNT, "power"),
        ("picoscope.csv", "picoscope", SHUNT, "Channel B"),
        ("ppk2.csv", "ppk2", Bench(vcc_v=MAKE.VCC_V), "D0"),
        ("energytrace.csv", "energytrace", Bench(), "power"),
        ("energytrace-util.txt", "energytrace-util", Bench(), "power"),
        ("units.csv", "csv", Bench(), "GPI0"),
        ("decimal-comma.csv", "csv", Bench(vcc_v=MAKE.VCC_V), "Marke"),
    ],
)
def test_every_text_form_holds_the_same_windows_and_energy(name: str, form: str, bench: Bench, trigger: str) -> None:
    recording = open_recording(DATA / name)
    assert recording.format == form
    found = measure(recording, bench, Trigger(trigger))
    assert [(w.first, w.samples) for w in found.windows] == [(a, b - a) for a, b in MAKE.WINDOWS]
    assert found.energy_j == pytest.approx(WINDOW_J, rel=2e-3)
    assert found.idle_w == pytest.approx(IDLE_W, rel=2e-3)
    assert found.time_s == pytest.approx(12 * MAKE.STEP_S, rel=1e-6)


def ppk2_file(path: Path) -> None:
    pairs = [0b10 if b else 0b01 for b in MAKE.BUSY]
    raw = b"".join(struct.pack("<fH", a * 1e6, 0x5554 | p) for a, p in zip(MAKE.CURRENT_A, pairs, strict=True))
    told = {"metadata": {"samplesPerSecond": 10_000, "startSystemTime": 0}, "formatVersion": 2}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("session.raw", raw)
        archive.writestr("metadata.json", json.dumps(told))
        archive.writestr("minimap.raw", b"")


def otii_project(path: Path) -> None:
    data = path.parent / "data"
    samples = {"mc": MAKE.CURRENT_A, "mv": [MAKE.VCC_V] * MAKE.SAMPLES}
    measurements = []
    for name, kind in (("mc", "current"), ("mv", "voltage")):
        (data / "data" / "project" / f"id-{name}").mkdir(parents=True)
        np.array(samples[name], "<f4").tofile(data / "data" / "project" / f"id-{name}" / "samples.dat")
        source = {"type": "samples", "name": name, "data_type": kind, "sample_rate": 10_000, "device": "arc"}
        measurements.append({"measurement": {"id": name, "source": source}, "data": {"id": f"id-{name}"}, "offset": 0})
    (data / "meta").mkdir()
    (data / "meta" / "saved_version").write_text("v1\n")
    (data / "meta" / "project_format").write_text("17\n")
    (data / "versions" / "v1" / "data").mkdir(parents=True)
    project = {"recordings": [{"id": "r", "measurements": measurements}]}
    (data / "versions" / "v1" / "data" / "project.json").write_text(json.dumps(project))
    path.write_text("{}")


def jls_file(path: Path) -> None:
    pyjls = pytest.importorskip("pyjls")
    with pyjls.Writer(str(path)) as writer:
        writer.source_def(source_id=1, name="JS220")
        for key, name, base, values in (
            (1, "current", "A", MAKE.CURRENT_A),
            (2, "voltage", "V", [MAKE.VCC_V] * MAKE.SAMPLES),
        ):
            kind = pyjls.DataType.F32
            writer.signal_def(signal_id=key, source_id=1, sample_rate=10_000, data_type=kind, name=name, units=base)
            writer.fsr_f32(key, 0, np.array(values, np.float32))


def shepherd_file(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["mode"] = "emulator"
        data = file.create_group("data")
        data.attrs["datatype"], data.attrs["window_samples"] = "ivsample", 0
        # Nanoseconds since 1970, which a float cannot tell apart.
        stamps = 1_700_000_000_000_000_000 + np.arange(MAKE.SAMPLES) * round(MAKE.STEP_S * 1e9)
        columns = (
            ("time", stamps.astype("u8"), 1e-9),
            ("current", np.round(np.array(MAKE.CURRENT_A) / 1e-9).astype("u4"), 1e-9),
            ("voltage", np.full(MAKE.SAMPLES, round(MAKE.VCC_V / 1e-6), "u4"), 1e-6),
        )
        for name, raw, gain in columns:
            data.create_dataset(name, data=raw).attrs.update({"gain": gain, "offset": 0.0})


@pytest.mark.parametrize(
    ("name", "make", "bench", "trigger"),
    [
        ("a.ppk2", ppk2_file, Bench(vcc_v=MAKE.VCC_V), "D0"),
        ("a.otii3", otii_project, Bench(), "power"),
        ("a.jls", jls_file, Bench(), "power"),
        ("a.h5", shepherd_file, Bench(), "power"),
    ],
)
def test_every_binary_form_holds_the_same_windows_and_energy(
    tmp_path: Path, name: str, make: Callable[[Path], None], bench: Bench, trigger: str
) -> None:
    make(tmp_path / name)
    found = measure(open_recording(tmp_path / name), bench, Trigger(trigger))
    assert [(w.first, w.samples) for w in found.windows] == [(a, b - a) for a, b in MAKE.WINDOWS]
    assert found.energy_j == pytest.approx(WINDOW_J, rel=1e-6)


def test_a_chipwhisperer_project_is_a_window_for_each_trace(tmp_path: Path) -> None:
    """Three traces of shares of the converter's range; behind a 1 V range and 50 ohm each has its own energy."""
    traces = np.repeat([[0.1], [0.2], [0.3]], 400, axis=1)
    (tmp_path / "traces").mkdir()
    np.save(tmp_path / "traces" / "2026_traces.npy", traces)
    (tmp_path / "traces" / "config_2026_.cfg").write_text(
        "[Trace Config]\nformat = native\nprefix = 2026_\nnumTraces = 3\nscopeSampleRate = 0\n[[Inner]]\n"
    )
    (tmp_path / "p.cwp").write_text("[Trace Management]\ntracefile0 = traces/config_2026_.cfg\nenabled0 = True\n")
    recording = open_recording(tmp_path / "p.cwp", rate_hz=29.5e6)
    found = measure(recording, Bench(vcc_v=3.3, shunt_ohm=50.0, scale=1.0, scale_unit="V"))
    want = 3.3 * np.array([0.1, 0.2, 0.3]) / 50 * 400 / 29.5e6
    assert [w.energy_j for w in found.windows] == pytest.approx(want.tolist(), rel=1e-12)
    assert found.deviation_j == pytest.approx(float(np.std(want, ddof=1)))
    with pytest.raises(SunsealError, match="does not say how fast"):
        open_recording(tmp_path / "p.cwp")


# --- Equations -------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 1023), min_size=20, max_size=400),
    st.integers(1, 64),
    st.floats(1.8, 3.6),
    st.floats(1, 1e3),
)
@settings(max_examples=60)
def test_codes_of_a_converter_give_equations_3_1_and_3_2_of_mane(
    codes: list[int], block: int, vcc_v: float, shunt_ohm: float
) -> None:
    vref_v, bits, step_s, freq_hz = 0.5, 10, 1 / 20e6, 8e6
    volts = np.array(codes) * vref_v / 2**bits
    recording = in_memory({"adc": volts}, step_s, {"adc": "V"}, block)
    bench = Bench(vcc_v=vcc_v, shunt_ohm=shunt_ohm, adc_bits=bits, vref_v=vref_v)
    found = measure(recording, bench, freq_hz=freq_hz)
    assert found.energy_j == pytest.approx(vcc_v * sum(codes) * vref_v / (2**bits * shunt_ohm) * step_s, abs=1e-18)
    assert found.to_dict()["cycles"] == pytest.approx(len(codes) * step_s * freq_hz)
    assert found.lsb_j == pytest.approx(vcc_v * vref_v / (2**bits * shunt_ohm) * step_s)


def test_the_bench_reads_what_the_engines_model_of_manes_unit_reads(firmware: None) -> None:
    """100 ohm, 0.5 V, 10 bits that cut off, 20 MS/s: codes of the simulated power, against `measure --unit`."""
    run = comparing.simulate("sha256-hash", board=boards.DEFAULT_BOARD, freq_hz=8_000_000, vcc_v=2.2)
    unit = measuring.measure("sha256-hash", freq_hz=8_000_000, vcc_v=2.2, unit=True).measurement_unit
    assert unit is not None
    step_s, lsb = 1 / unit["sample_rate_hz"], unit["vref_v"] / 2 ** unit["adc_bits"]
    time = (np.arange(unit["samples"]) + 0.5) * step_s
    codes = np.floor(run.at(time) / 2.2 * unit["shunt_ohm"] / lsb)
    bench = Bench(vcc_v=2.2, shunt_ohm=unit["shunt_ohm"], adc_bits=int(unit["adc_bits"]), vref_v=unit["vref_v"])
    found = measure(in_memory({"adc": codes * lsb}, step_s, {"adc": "V"}), bench)
    assert found.energy_j == pytest.approx(unit["energy_j"], rel=1e-5)
    # What the converter cuts off is within its quantisation: a step everywhere at most.
    assert 0 <= run.energy_j - found.energy_j <= found.lsb_j * unit["samples"]  # type: ignore[operator]


def test_a_trigger_is_not_taken_for_the_supply(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(rows())
    with pytest.raises(SunsealError, match=r"the supply voltage of .* is not known"):
        measure(open_recording(path), Bench("I"))


def test_dynamic_and_static_power_are_rizvis_equation_4_with_its_first_term_put_right() -> None:
    """A probe of 5 mV/mA is 5 ohm; 3 mW static power of the mote (table V) is added once, not twice."""
    probe_v = np.full(1000, 5 * 8e-3)
    recording = in_memory({"probe": probe_v}, 1e-6, {"probe": "V"})
    found = measure(recording, Bench(vcc_v=3.0, shunt_ohm=5.0, static_w=3e-3))
    assert found.energy_j == pytest.approx(3.0 * 8e-3 * 1e-3 + 3e-3 * 1e-3)


def test_the_burden_of_a_shunt_is_taken_off() -> None:
    recording = in_memory({"v": np.full(100, 0.5)}, 1e-3, {"v": "V"})
    whole = measure(recording, Bench(vcc_v=3.0, shunt_ohm=100.0)).energy_j
    device = measure(recording, Bench(vcc_v=3.0, shunt_ohm=100.0, burden=True)).energy_j
    assert whole - device == pytest.approx((5e-3) ** 2 * 100 * 0.1)


@given(st.lists(st.floats(-1, 4), min_size=30, max_size=300), st.integers(1, 50), st.booleans(), st.floats(0, 0.8))
@settings(max_examples=80)
def test_windows_are_those_of_a_schmitt_trigger_however_the_file_is_cut(
    levels: list[float], block: int, falling: bool, width: float
) -> None:
    """Against a loop over the samples, one by one."""
    current = np.linspace(1, 2, len(levels))
    trigger = Trigger("t", 1.5, width, falling, samples_min=1)
    state = levels[0] > 1.5
    inside: list[bool] = []
    for x in levels:
        state = True if x >= 1.5 + width / 2 else False if x <= 1.5 - width / 2 else state
        inside.append(state != falling)
    starts = [i for i in range(1, len(inside)) if inside[i] and not inside[i - 1]]
    want = []
    for start in starts:
        end = next((i for i in range(start, len(inside)) if not inside[i]), None)
        if end is not None:
            want.append((start, end - start, float(current[start:end].sum()) * 2e-3))
    recording = in_memory({"i": current, "t": levels}, 1e-3, {"i": "A", "t": "V"}, block)
    if not want:
        with pytest.raises(SunsealError, match="no whole window"):
            measure(recording, Bench(vcc_v=2.0), trigger)
        return
    found = measure(recording, Bench(vcc_v=2.0), trigger)
    assert [(w.first, w.samples) for w in found.windows] == [w[:2] for w in want]
    assert [w.energy_j for w in found.windows] == pytest.approx([w[2] for w in want])


def test_subtracting_the_idle_level_leaves_what_the_operation_adds() -> None:
    recording = open_recording(DATA / "units.csv")
    found = measure(recording, Bench(), Trigger("GPI0"), subtract_idle=True)
    assert found.energy_j == pytest.approx(MAKE.VCC_V * (MAKE.BUSY_A - MAKE.IDLE_A) * 12 * MAKE.STEP_S)
    given_ = measure(recording, Bench(), Trigger("GPI0"), idle_w=IDLE_W)
    assert given_.energy_j == pytest.approx(found.energy_j)


# --- Uncertainty -----------------------------------------------------------------------------


def test_the_energy_lies_within_its_uncertainty_as_often_as_that_says() -> None:
    """300 benches whose shunt, supply, offset and clock are off by what their tolerances allow."""
    rng = np.random.default_rng(5)
    busy_w, vcc_v, shunt_ohm, step_s, lsb = 9e-3, 3.0, 20.0, 1e-5, 1e-4
    hits = 0
    for _ in range(300):
        shunt, vcc, clock = (1 + rng.uniform(-t, t) for t in (0.02, 0.01, 0.005))
        begin = rng.uniform(40, 41)
        true_s = 333.3 * step_s
        # The instrument's clock is off: it counts other samples in the same time.
        edges = begin, begin + true_s / (step_s * clock)
        at = np.arange(500)
        busy = (at >= edges[0]) & (at < edges[1])
        amps = np.where(busy, busy_w, busy_w / 10) / (vcc_v * vcc)
        volts = amps * shunt_ohm * shunt + rng.uniform(-5e-4, 5e-4) + rng.normal(0, 2e-4, len(at))
        shown = np.round(volts / lsb) * lsb
        bench = Bench(
            "v",
            vcc_v,
            shunt_ohm=shunt_ohm,
            lsb=lsb,
            shunt_tolerance=0.02,
            vcc_tolerance=0.01,
            timebase_tolerance=0.005,
            offset_tolerance=5e-4,
        )
        recording = in_memory({"v": shown, "t": busy}, step_s, {"v": "V", "t": "1"})
        found = measure(recording, bench, Trigger("t"))
        hits += abs(found.energy_j - busy_w * true_s) <= found.expanded_j
    # 95 % are promised; a sum of uniform errors keeps a little more.
    assert 0.93 <= hits / 300 <= 1.0


def test_each_term_is_its_closed_form() -> None:
    samples, step_s, volts = 1000, 1e-4, 0.2
    recording = in_memory({"v": np.full(samples, volts)}, step_s, {"v": "V"})
    bench = Bench(vcc_v=3.0, shunt_ohm=10.0, lsb=1e-3, shunt_tolerance=0.01, offset_tolerance=2e-3)
    found = measure(recording, bench)
    energy = 3.0 * volts / 10.0 * samples * step_s
    terms = {t.name: t.standard_j for t in found.terms}
    assert terms["shunt"] == pytest.approx(energy * 0.01 / math.sqrt(3))
    assert terms["offset"] == pytest.approx(3.0 / 10.0 * 2e-3 / math.sqrt(3) * samples * step_s)
    # No noise: the same rounding error in every sample.
    assert terms["quantisation"] == pytest.approx(3.0 / 10.0 * 1e-3 / math.sqrt(12) * samples * step_s)
    assert found.standard_j == pytest.approx(math.hypot(*terms.values()))
    assert found.coverage_factor == pytest.approx(2.0, abs=1e-3)
    noisy = in_memory({"v": volts + np.tile([1e-3, -1e-3], samples // 2)}, step_s, {"v": "V"})
    terms = {t.name: t.standard_j for t in measure(noisy, bench).terms}
    assert terms["quantisation"] == pytest.approx(3.0 / 10.0 * 1e-3 / math.sqrt(12) * step_s * math.sqrt(samples))


def test_three_windows_that_scatter_get_the_factor_of_student() -> None:
    """GUM, table G.2: two degrees of freedom at 95.45 % are 4.53."""
    power = np.concatenate([np.concatenate([np.zeros(50), np.full(100, p)]) for p in (1.0, 1.1, 1.3)] + [np.zeros(50)])
    recording = in_memory({"p": power, "t": power > 0}, 1e-6, {"p": "W", "t": "1"})
    found = measure(recording, Bench("p", lsb=1e-9), Trigger("t"))
    assert found.coverage_factor == pytest.approx(4.53, abs=0.02)
    assert {t.name: t.kind for t in found.terms}["repeatability"] == "A"


# --- Bad input -------------------------------------------------------------------------------

HEAD = "time (s),I (mA),T (V)\n"


def rows(count: int = 60, change: Callable[[int, list[str]], list[str]] | None = None) -> str:
    lines = []
    for i in range(count):
        cells = [f"{i * 1e-3:.3f}", "1.5", "3" if 20 <= i < 40 else "0"]
        lines.append(",".join(change(i, cells) if change else cells))
    return HEAD + "\n".join(lines) + "\n"


def cell(row: int, column: int, text: str) -> Callable[[int, list[str]], list[str]]:
    return lambda i, cells: [*cells[:column], text, *cells[column + 1 :]] if i == row else cells


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            rows(change=lambda i, c: [f"{(i + (i > 30) * 5) * 1e-3:.3f}", *c[1:]]),
            r"line 33 of .*a gap of 6 ms before it",
        ),
        (rows(change=cell(30, 0, "0.010")), r"line 32 of .*the time goes back by 19 ms"),
        (rows(change=cell(30, 0, "0.029")), r"line 32 of .*the time stands still at 29 ms"),
        (rows(change=cell(30, 1, "")), r"line 32 of .*channel `I` is no number"),
        (rows(change=cell(30, 1, "NaN")), r"line 32 of .*channel `I` is no number"),
        (rows(change=cell(30, 1, "inf")), r"line 32 of .*`I` is beyond the instrument's range"),
        (rows(change=cell(30, 1, "∞")), r"line 32 of .*`I` is beyond the instrument's range"),
        (rows(change=cell(30, 1, "n/a?")), r"line 32 of .*`n/a\?` is no number \(column 2, `I`\)"),
        (rows(change=lambda i, c: [*c, "7"] if i == 30 else c), r"line 32 of .*has 4 fields"),
        (rows().replace("I (mA)", "I (mAh)"), r"line 1 of .*unit `mAh`"),
        (rows().replace("I (mA)", "current"), r"line 1 of .*`current` names no unit"),
        (rows().replace(HEAD, ""), "has no header"),
        (HEAD, "a.csv` is in none of the known formats"),
        ("", "is empty"),
        (
            rows(change=lambda i, c: [*c[:2], "3" if 20 <= i < 24 else "0"]),
            r"window 1 \(line 22 .* 4 samples in 4 ms: 1 kHz",
        ),
        (rows(change=lambda i, c: [*c[:2], "3"]), "the trigger `T` .* stays at 3"),
        (rows(change=lambda i, c: [*c[:2], "3" if i < 20 else "0"]), "no whole window: .*had begun before"),
        (
            "Record Length,Analog:99\nSample Interval,1E-3\nSecond,Volt\n0,1\n0.001,1\n",
            "says it has 99 samples, but holds 2",
        ),
        (
            "Model,X\nSample Interval,0.001\nRecord Length,4\nVertical Units,A,V\nTIME,I,T\n"
            "0,1,0\n1e-3,1,0\n5e-3,1,3\n6e-3,1,0\n",
            r"line 8 of .*3 ms after what the header's sample interval",
        ),
    ],
)
def test_what_cannot_be_measured_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SunsealError, match=says):
        recording = open_recording(path)
        writers.summary(recording)
        measure(recording, Bench(current="I" if "I (m" in text else None, vcc_v=3.0), Trigger("T"))


def test_columns_without_a_unit_are_read_with_the_one_that_is_given(tmp_path: Path, sunseal: Cli) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,current,voltage,note\n" + "".join(f"{i * 1e-3:.3f},2,3.3,7\n" for i in range(20)))
    done = sunseal("trace", "energy", path, "--unit", "current=mA", "--unit", "voltage=V", "--json")
    assert json.loads(done.out)["energy_j"] == pytest.approx(2e-3 * 3.3 * 20e-3)
    with pytest.raises(SunsealError, match=r"line 1 of .*column `current` names no unit"):
        measure(open_recording(path), Bench(vcc_v=3.0))
    assert "is no unit of current" in sunseal("trace", "import", path, "--unit", "note=mAh").err


def test_numbers_without_a_name_are_refused_and_seconds_are_said_to_be_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time (ms),current (mA)\n" + "".join(f"{i},0,1,5\n" for i in range(20)))
    with pytest.raises(SunsealError, match=r"line 2 of .*a number in field 3, for which line 1 has no name"):
        open_recording(path)
    # A first column without a name counts the rows.
    path.write_text(",Time,I (mA)\n" + "".join(f"{i},{i * 1000 + 5},2\n" for i in range(20)))
    found = measure(open_recording(path), Bench(vcc_v=3.0))
    assert found.energy_j == pytest.approx(2e-3 * 3.0 * 20_000)
    assert "column `Time` names no unit: seconds are taken" in found.notes
    path.write_text("time (min),I (mA)\n" + "".join(f"{i},2\n" for i in range(20)))
    with pytest.raises(SunsealError, match=r"no column of time: line 1 of .*the unit `min`"):
        open_recording(path)


def test_a_window_by_times_ends_where_it_was_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time (s),P (W)\n" + "".join(f"{i / 1000:.3f},{1 if i < 0 else 3}\n" for i in range(-100, 100)))

    def energy(*window_s: float | None) -> Energy:
        return measure(open_recording(path), Bench(), Trigger(from_s=window_s[0], to_s=window_s[1]))

    assert energy(None, 0.0).energy_j == pytest.approx(0.1) and energy(-0.05, 0.0).energy_j == pytest.approx(0.05)
    assert energy(0.0, 0.1).energy_j == pytest.approx(0.3) and energy(0.0, 0.1).notes == ()
    assert energy(-1.0, 9.0).notes == (
        "the recording begins at -100 ms, after `--from`",
        "the recording ends at 100 ms, before `--to`",
    )
    with pytest.raises(SunsealError, match=r"lies beside .*from -100 ms to 100 ms"):
        energy(5.0, 9.0)


def test_a_trailing_empty_line_is_no_sample(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(rows() + "\n\n")
    assert writers.summary(open_recording(path))["samples"] == 60


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda b: b[:-3], "is cut off"),
        (lambda b: b[:36] + struct.pack("<f", math.nan) + b[40:], "sample 6 of .*no number"),
    ],
)
def test_a_damaged_ppk2_session_is_refused(tmp_path: Path, change: Callable[[bytes], bytes], says: str) -> None:
    ppk2_file(tmp_path / "good.ppk2")
    with zipfile.ZipFile(tmp_path / "good.ppk2") as good, zipfile.ZipFile(tmp_path / "bad.ppk2", "w") as bad:
        for name in good.namelist():
            body = good.read(name)
            bad.writestr(name, change(body) if name == "session.raw" else body)
    with pytest.raises(SunsealError, match=says):
        measure(open_recording(tmp_path / "bad.ppk2"), Bench(vcc_v=3.0))


# --- The capacitor ---------------------------------------------------------------------------

SETUP = capacitor.Setup(100e-6, 0.02, 5e6, 0.3, 0.5, 0.5, 1e-3, 1e-3, 1e-3)


def test_the_capacitor_method_is_half_c_v_squared_less_what_leaked() -> None:
    found = capacitor.calculate(capacitor.Setup(1e-3, leak_ohm=1e5, esr_ohm=2.0), 3.0, 2.0, 10.0, 4)
    stored = 0.5e-3 * (9 - 4)
    leak = 10 * (9 + 6 + 4) / 3 / 1e5
    esr = 2.0 * (1e-3 / 10) ** 2 * 10
    assert found.energy_j == pytest.approx((stored - leak - esr) / 4)
    assert found.terms == ()


@given(st.floats(1e-6, 1.0), st.floats(2.0, 3.6), st.floats(0.5, 0.95), st.integers(1, 1000))
@settings(max_examples=50)
def test_terms_are_the_derivatives_of_the_calculation(c: float, v1: float, part: float, n: int) -> None:
    """Each tolerance moved by itself moves the energy by the root of three of its term."""
    v2, time = v1 * part, 1.0
    setup = capacitor.Setup(c, 1e-4, 1e9 / c, 1e-4, 0.0, 0.0, 1e-4, 1e-5, 0.0)
    found = capacitor.calculate(setup, v1, v2, time, n)
    terms = {t.name: t.standard_j * math.sqrt(3) for t in found.terms}
    moved = capacitor.calculate(capacitor.Setup(c * (1 + 1e-4), leak_ohm=1e9 / c), v1, v2, time, n).energy_j
    assert moved - found.energy_j == pytest.approx(terms["capacitance"], rel=1e-2)
    gain = capacitor.calculate(capacitor.Setup(c, leak_ohm=1e9 / c), v1 * (1 + 1e-4), v2 * (1 + 1e-4), time, n).energy_j
    assert gain - found.energy_j == pytest.approx(terms["voltmeter gain"], rel=1e-2)
    offset = capacitor.calculate(capacitor.Setup(c, leak_ohm=1e9 / c), v1 + 1e-5, v2 + 1e-5, time, n).energy_j
    assert offset - found.energy_j == pytest.approx(terms["voltmeter offset"], rel=1e-2)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((SETUP, 2.0, 3.0, 1.0), "must have lost voltage"),
        ((SETUP, 3.0, 2.0, 0.0), "need the time"),
        ((capacitor.Setup(1e-6, leak_ohm=10.0), 3.0, 2.9, 10.0), "nothing is left"),
    ],
)
def test_readings_that_cannot_be_are_refused(args: tuple[Any, ...], says: str) -> None:
    with pytest.raises(SunsealError, match=says):
        capacitor.calculate(*args)


def test_the_virtual_instrument_agrees_with_the_ledger_within_its_uncertainty(firmware: None) -> None:
    """40 capacitors and voltmeters drawn from the tolerances, at one board."""
    agree = []
    for seed in range(40):
        seen = capacitor.virtual(SETUP, "sha256-hash", board=boards.DEFAULT_BOARD, v1_v=3.3, operations=5, seed=seed)
        agree.append(seen.agrees)
    assert np.mean(agree) >= 0.9
    exact = capacitor.Setup(100e-6, leak_ohm=5e6, esr_ohm=0.5)
    perfect = capacitor.virtual(exact, "sha256-hash", board=boards.DEFAULT_BOARD, v1_v=3.3, operations=5)
    assert perfect.reading.energy_j == pytest.approx(perfect.ledger_j, rel=2e-4)


@pytest.mark.parametrize("v1_v", [2.5, 3.0, 3.1, 3.3])
def test_an_exact_instrument_agrees_with_the_ledger(firmware: None, v1_v: float) -> None:
    """No tolerance, no noise: what is left is the last digits of the capacitor's energies."""
    for operations in (1, 3, 5):
        seen = capacitor.virtual(
            capacitor.Setup(100e-6), "sha256-hash", board=boards.DEFAULT_BOARD, v1_v=v1_v, operations=operations
        )
        assert seen.reading.expanded_j == 0.0
        assert seen.agrees, seen.error_j
        assert abs(seen.error_j) < 1e-9 * seen.ledger_j


def test_a_capacitor_that_cannot_carry_the_run_says_how_far_it_got(firmware: None) -> None:
    with pytest.raises(SunsealError, match=r"fallen to 1\.[78].* V after \d of 5 operations"):
        capacitor.virtual(
            capacitor.Setup(3e-6), "sha256-hash", board=boards.DEFAULT_BOARD, v1_v=3.3, operations=5, freq_hz=1_000_000
        )


# --- Beside a simulation ---------------------------------------------------------------------


@pytest.mark.parametrize("board", [boards.DEFAULT_BOARD, "msp430fr5994-launchpad", "micaz"])
def test_the_simulated_waveform_holds_the_ledgers_energy_between_the_triggers_edges(firmware: None, board: str) -> None:
    run = comparing.simulate("sha256-hash", board=board)
    time = (np.arange(20_000) + 0.5) / 20_000 * run.time_s
    assert float(run.at(time).mean()) * run.time_s == pytest.approx(run.energy_j, rel=1e-3)
    after = run.at(np.array([run.time_s * 1.1]))
    assert 0 < float(after[0]) < 0.5 * run.energy_j / run.time_s, "the node sleeps when it is done"


def test_a_trace_of_the_simulation_itself_compares_as_one(firmware: None, tmp_path: Path, sunseal: Cli) -> None:
    run = comparing.simulate("sha256-hash", board=boards.DEFAULT_BOARD, vcc_v=2.2)
    step_s = run.time_s / 2000
    time = np.arange(-400, 2480) * step_s
    inside = (time >= 0) & (time < run.time_s)
    power = np.where(inside, run.at(np.maximum(time, 0)) * 1.05, 1e-6)
    path = tmp_path / "bench.csv"
    np.savetxt(
        path,
        np.column_stack([time, power / 2.2 * 1e3, inside * 2.2]),
        delimiter=",",
        header="time (s),current (mA),trigger (V)",
        comments="",
        fmt="%.12g",
    )
    args = ["trace", "compare", path, "--workload", "sha256-hash", "--vcc", "2.2V", "--trigger", "trigger"]
    done = sunseal(*args, "--json", "--plot", tmp_path / "beside.svg")
    told = json.loads(done.out)
    assert told["energy_ratio"] == pytest.approx(1.05, rel=2e-3)
    assert told["windows"][0]["time_ratio"] == pytest.approx(1.0, rel=1e-3)
    assert told["windows"][0]["cycles"] == pytest.approx(told["simulated"]["cycles"], rel=1e-3)
    assert told["within"] is True
    picture = (tmp_path / "beside.svg").read_text()
    assert "simulated" in picture and "measured" in picture
    assert sunseal(*args).out.count("x 1.05") == 2


def test_the_page_names_every_format() -> None:
    page = (boards.home() / "docs" / "reference" / "traces.md").read_text(encoding="utf-8")
    from sunseal.cli.trace import SOURCES

    assert [f for f in (*FORMATS, *SOURCES) if f"| `{f}` |" not in page] == []
    for name in climate.LIGHTS:
        shine = climate.light(name)
        assert f"| {shine.efficacy_lm_w:.1f} | {shine.mismatch:.3f} |" in page


# --- Command line ----------------------------------------------------------------------------


def test_energy_prints_windows_uncertainty_and_a_picture_of_them(tmp_path: Path, sunseal: Cli) -> None:
    args = ["trace", "energy", DATA / "units.csv", "--trigger", "GPI0", "--tolerance", "gain=1%", "--freq", "8MHz"]
    done = sunseal(*args, "--plot", tmp_path / "windows.svg")
    assert done.status == 0
    assert "18 µJ ± " in done.out and "9,600 cycles at 8 MHz" in done.out and "u(gain)" in done.out
    picture = (tmp_path / "windows.svg").read_text()
    assert "1: 18 µJ" in picture and "2: 18 µJ" in picture and "idle 3 mW" in picture
    told = json.loads(sunseal(*args, "--json").out)
    assert len(told["windows"]) == 2 and told["energy_j"] == pytest.approx(WINDOW_J)
    assert told["expanded_uncertainty_j"] >= 2 * WINDOW_J * 0.01 / math.sqrt(3)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["energy", DATA / "rigol.csv"], ["more than one channel", "--current"]),
        (["energy", DATA / "rigol.csv", "--current", "CH1", "--vcc", "3V"], ["what it says of the current", "--shunt"]),
        (["energy", DATA / "rigol.csv", "--current", "CH1", "--shunt", "100ohm"], ["supply voltage", "--vcc 2.2V"]),
        (["energy", DATA / "rigol.csv", "--current", "CH9"], ["unknown channel `CH9`"]),
        (["energy", DATA / "units.csv", "--format", "rigol"], ["no recording in the format `rigol`"]),
        (["energy", DATA / "units.csv", "--format", "riggol"], ["unknown format `riggol`", "did you mean `rigol`"]),
        (["energy", DATA / "units.csv", "--level", "1"], ["belong to `--trigger"]),
        (["energy", DATA / "units.csv", "--tolerance", "shunt=5"], ["is no share"]),
        (["energy", DATA / "units.csv", "--adc-bits", "10"], ["give both"]),
        (["energy", DATA / "units.csv", "--offset", "nan"], ["--offset `nan` must be a finite number"]),
        (["energy", DATA / "units.csv", "--gain", "inf"], ["--gain `inf` must be a finite number"]),
        (["energy", "nowhere.csv"], ["`nowhere.csv` is not there"]),
        (["import", DATA / "units.csv", "-o", "x.docx"], [".csv, .npz or .vcd"]),
        (["capacitor", "-C", "1mF"], ["--v1"]),
        (["capacitor", "-C", "1mF", "--v1", "3V"], ["--v2"]),
        (["harvest", DATA / "units.csv", "--panel", "ixys-slmd121h04l"], ["no climate file"]),
        (["harvest", DATA / "units.csv", "--tilt", "400"], ["--tilt 400 does not lie between 0 and 180 degrees"]),
        (["harvest", DATA / "units.csv", "--azimuth", "-90"], ["--azimuth -90 does not lie between 0 and 360"]),
    ],
)
def test_a_wrong_call_is_one_sentence_and_nothing_else(args: list[str | Path], says: list[str], sunseal: Cli) -> None:
    done = sunseal("trace", *args)
    assert (done.status, done.out) == (2, "")
    lines = [line for line in done.err.strip().splitlines() if not line.startswith("hint:")]
    assert len(lines) == 1 and lines[0].startswith("error: "), done.err
    for part in says:
        assert part in done.err


def test_what_is_imported_is_written_in_si_units_and_read_again(tmp_path: Path, sunseal: Cli) -> None:
    assert sunseal("trace", "import", DATA / "picoscope.csv", "-o", tmp_path / "si.csv").status == 0
    again = measure(open_recording(tmp_path / "si.csv"), SHUNT, Trigger("Channel B"))
    assert again.energy_j == pytest.approx(WINDOW_J, rel=1e-6)
    assert sunseal("trace", "import", DATA / "units.csv", "-o", tmp_path / "si.vcd").status == 0
    dump = (tmp_path / "si.vcd").read_text()
    keys = {m[2]: m[1] for m in re.finditer(r"\$var \w+ \d+ (\S+) (\S+) \$end", dump)}
    edges = [int(m[1]) for m in re.finditer(rf"#(\d+)\n(?:[^#]*\n)?[01]{re.escape(keys['GPI0'])}\n", dump)]
    assert edges == [0, 1_000_000, 2_200_000, 3_400_000, 4_600_000]
