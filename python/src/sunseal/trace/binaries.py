# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings that are no text: PPK2 sessions, Otii projects, JLS, ChipWhisperer, NumPy, Shepherd HDF5."""

from __future__ import annotations

import configparser
import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from sunseal.errors import SunsealError
from sunseal.trace.model import BLOCK_SAMPLES, Array, Channel, Raw, Recording

PPK2_FRAME = np.dtype([("current_ua", "<f4"), ("bits", "<u2")])
PPK2_VERSION = 2
OTII_FORMAT = 17
"""The project format whose layout is known (see docs/reference/traces.md)."""
OTII_UNITS = {"current": "A", "voltage": "V", "power": "W"}
JLS_UNITS = {"A": "A", "V": "V", "W": "W", "": "1"}


def ppk2(path: Path) -> Recording:
    """Read a session of Nordic's Power Profiler app: a ZIP of `session.raw` and `metadata.json`."""
    try:
        with zipfile.ZipFile(path) as archive:
            told = json.loads(archive.read("metadata.json"))
            size = archive.getinfo("session.raw").file_size
    except (KeyError, ValueError) as e:
        raise SunsealError(f"`{path.name}` is a ZIP file but no PPK2 session: {e}") from e
    version = told.get("formatVersion")
    if version != PPK2_VERSION:
        raise SunsealError(f"`{path.name}` has formatVersion {version}; version {PPK2_VERSION} can be read")
    rate = told.get("metadata", {}).get("samplesPerSecond")
    if not isinstance(rate, (int, float)) or not rate > 0:
        raise SunsealError(f"`{path.name}`: `metadata.samplesPerSecond` in metadata.json is {rate!r}, no rate above 0")
    if size % PPK2_FRAME.itemsize:
        raise SunsealError(
            f"`session.raw` in `{path.name}` has {size} bytes, no multiple of {PPK2_FRAME.itemsize}: it is cut off"
        )

    def raw(names: tuple[str, ...]) -> Iterator[Raw]:
        with zipfile.ZipFile(path) as archive, archive.open("session.raw") as file:
            while part := file.read(BLOCK_SAMPLES * PPK2_FRAME.itemsize):
                frames = np.frombuffer(part, dtype=PPK2_FRAME)
                values: dict[str, Array] = {}
                for name in names:
                    if name == "current":
                        values[name] = frames["current_ua"].astype(np.float64) * 1e-6
                    else:  # two bits a pin: 1 always low, 2 always high, 3 both within the sample
                        values[name] = ((frames["bits"] >> (2 * int(name[1:]) + 1)) & 1).astype(np.float64)
                yield None, values or {"": np.zeros(len(frames))}

    return Recording(
        path,
        "ppk2",
        (Channel("current", "A"), *(Channel(f"D{i}", "1") for i in range(8))),
        raw,
        samples=size // PPK2_FRAME.itemsize,
        step_s=1.0 / rate,
        device="Nordic Power Profiler Kit II",
    )


def otii(path: Path, which: str | None) -> Recording:
    """Read a recording of an Otii 3 project: the `.otii3` file beside its folder `data`."""
    roots = [path.parent / "data"] if path.is_file() else [path / "data", path]
    root = next((r for r in roots if (r / "meta" / "saved_version").is_file()), None)
    if root is None:
        raise SunsealError(f"`{path}` is no Otii 3 project: there is no `data/meta/saved_version` beside it")
    version = (root / "meta" / "saved_version").read_text(encoding="utf-8").strip()
    form = (root / "meta" / "project_format").read_text(encoding="utf-8").strip()
    if form != str(OTII_FORMAT):
        raise SunsealError(
            f"the Otii project `{path.name}` has format {form}; format {OTII_FORMAT} is the one whose layout is known",
            hint="export its recordings as CSV in Otii, and read those",
        )
    project = root / "versions" / version / "data" / "project.json"
    try:
        recordings = json.loads(project.read_text(encoding="utf-8"))["recordings"]
    except (ValueError, KeyError) as e:
        raise SunsealError(f"`{project}` is no project of Otii 3: {e}") from e
    if not recordings:
        raise SunsealError(f"the Otii project `{path.name}` has no recording")
    numbers = {str(i + 1): r for i, r in enumerate(recordings)}
    if which is None and len(recordings) > 1:
        raise SunsealError(
            f"the Otii project `{path.name}` has {len(recordings)} recordings; choose one with `--part 1` to "
            f"`--part {len(recordings)}`"
        )
    chosen = numbers.get(which or "1")
    if chosen is None:
        raise SunsealError(f"the Otii project `{path.name}` has recordings 1 to {len(recordings)}, not `{which}`")
    files: dict[str, tuple[Path, float, float]] = {}
    channels, notes = [], []
    for item in chosen.get("measurements", []):
        source = item.get("measurement", {}).get("source", {})
        name, kind = str(source.get("name", "")), str(source.get("data_type", ""))
        data = (item.get("data") or {}).get("id")
        samples = root / "data" / "project" / str(data) / "samples.dat"
        if source.get("type") != "samples" or kind not in OTII_UNITS or not samples.is_file():
            notes.append(f"channel {name or '?'} ({kind or source.get('type')}) is left out")
            continue
        rate = float(source.get("sample_rate") or 0)
        if rate <= 0:
            raise SunsealError(f"channel `{name}` of `{path.name}` has no sample rate in project.json")
        files[name] = samples, rate, float(item.get("offset", 0)) * 1e-6
        channels.append(Channel(name, OTII_UNITS[kind]))
    rates = {(rate, start) for _, rate, start in files.values()}
    if not files:
        raise SunsealError(f"the recording of `{path.name}` has no channel of samples")
    if len(rates) > 1:  # those of the current's rate belong together
        first = next((n for n, c in zip(files, channels, strict=True) if c.unit == "A"), next(iter(files)))
        keep = files[first][1:]
        notes += [f"channel {n} has another sample rate and is left out" for n in files if files[n][1:] != keep]
        channels = [c for c in channels if files[c.name][1:] == keep]
    _, rate, start = files[channels[0].name]
    counts = {files[c.name][0].stat().st_size // 4 for c in channels}

    def raw(names: tuple[str, ...]) -> Iterator[Raw]:
        with ExitStack() as stack:
            names = names or (channels[0].name,)
            opened = {n: stack.enter_context(files[n][0].open("rb")) for n in names}
            left = min(counts)
            while left > 0:
                take = min(left, BLOCK_SAMPLES)
                left -= take
                yield None, {n: np.fromfile(f, "<f4", take).astype(np.float64) for n, f in opened.items()}

    return Recording(
        path,
        "otii",
        tuple(channels),
        raw,
        samples=min(counts),
        step_s=1.0 / rate,
        start_s=start,
        device="Qoitech Otii",
        notes=tuple(notes),
    )


def jls(path: Path) -> Recording:
    """Read a Joulescope file by Jetperch's own library, `pyjls`."""
    try:
        import pyjls
    except ImportError as e:
        raise SunsealError(
            f"`{path.name}` is a Joulescope file, and the library `pyjls` that reads it is not installed",
            hint="install it, or export CSV from the Joulescope UI",
        ) from e
    try:
        with pyjls.Reader(str(path)) as reader:
            signals = [s for s in reader.signals.values() if s.sample_rate and s.units in JLS_UNITS]
            kinds = {s.signal_id: str(pyjls.data_type_as_str(s.data_type)) for s in signals}
    except RuntimeError as e:
        raise SunsealError(f"`{path.name}` cannot be read as JLS: {e}") from e
    signals = [s for s in signals if s.units or kinds[s.signal_id] in ("u1", "u4")]
    if not signals:
        raise SunsealError(f"`{path.name}` has no signal in A, V or W")
    lead = next((s for s in signals if s.units == "A"), signals[0])
    together = [s for s in signals if (s.sample_rate, s.length) == (lead.sample_rate, lead.length)]
    notes = tuple(f"signal {s.name} has another rate or length and is left out" for s in signals if s not in together)

    def raw(names: tuple[str, ...]) -> Iterator[Raw]:
        chosen = [s for s in together if s.name in names] or [lead]
        with pyjls.Reader(str(path)) as reader:
            for first in range(0, lead.length, BLOCK_SAMPLES):
                take = min(BLOCK_SAMPLES, lead.length - first)
                yield (
                    None,
                    {
                        s.name: _jls_values(reader.fsr(s.signal_id, first, take), kinds[s.signal_id], take)
                        for s in chosen
                    },
                )

    return Recording(
        path,
        "joulescope",
        tuple(Channel(s.name, JLS_UNITS[s.units]) for s in together),
        raw,
        samples=lead.length,
        step_s=1.0 / lead.sample_rate,
        device="Joulescope",
        notes=notes,
    )


def _jls_values(data: Any, kind: str, count: int) -> Array:
    if kind == "u1":
        data = np.unpackbits(data, bitorder="little")[:count]
    elif kind == "u4":
        pairs = np.stack([data & 0x0F, data >> 4], axis=1).reshape(-1)
        data = pairs[:count]
    return np.asarray(data, dtype=np.float64)


# --- ChipWhisperer and NumPy -----------------------------------------------------------------


def chipwhisperer(path: Path, rate_hz: float | None) -> Recording:
    """Read a ChipWhisperer project (`.cwp`) or the configuration of its traces (`.cfg`)."""
    config = _cfg(path)
    if path.suffix == ".cwp":
        name = config.get("Trace Management", "tracefile0", fallback="")
        if not name:
            raise SunsealError(f"`{path.name}` names no traces: it lacks `tracefile0` in [Trace Management]")
        if config.has_option("Trace Management", "tracefile1"):
            raise SunsealError(
                f"`{path.name}` has more than one set of traces; name the `.cfg` file of the one that is meant"
            )
        path, project = path.parent / name.replace("\\", "/"), path
        if not path.is_file():
            raise SunsealError(f"`{project.name}` names `{name}`, which is not there")
        config = _cfg(path)
    if not config.has_section("Trace Config"):
        raise SunsealError(f"`{path.name}` has no [Trace Config], so it is no set of ChipWhisperer traces")
    told = config["Trace Config"]
    if told.get("format", "native") != "native":
        raise SunsealError(f"`{path.name}` says the traces have the format `{told['format']}`; `native` can be read")
    array = path.parent / f"{told.get('prefix', '')}traces.npy"
    if not array.is_file():
        raise SunsealError(f"`{path.name}` belongs to `{array.name}`, which is not there")
    rate = rate_hz or float(told.get("scopeSampleRate", "0") or 0)
    return numpy_array(array, rate or None, device="ChipWhisperer", form="chipwhisperer")


def _cfg(path: Path) -> configparser.ConfigParser:
    config = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    config.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        # Sections in double brackets are ConfigObj's, within those in single ones; none of them is needed.
        lines = [s for s in path.read_text(encoding="utf-8").splitlines() if not s.strip().startswith("[[")]
        config.read_string("\n".join(lines))
    except (configparser.Error, UnicodeDecodeError) as e:
        raise SunsealError(f"`{path.name}` is no ChipWhisperer configuration: {str(e).splitlines()[0]}") from e
    return config


def numpy_array(
    path: Path, rate_hz: float | None, name: str | None = None, device: str = "", form: str = "numpy"
) -> Recording:
    """Read a NumPy array: one trace, or a row for each, every row a window of its own.

    ChipWhisperer stores shares of the converter's range, from -0.5 to 0.5, not volts.
    """
    try:
        loaded: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as e:
        raise SunsealError(f"`{path.name}` is no NumPy file of numbers: {e}") from e
    if not isinstance(loaded, np.ndarray):
        names = list(loaded.files)
        name = name or ("traces" if "traces" in names else names[0] if len(names) == 1 else None)
        if name not in names:
            raise SunsealError(f"`{path.name}` holds the arrays {', '.join(names)}; choose one with `--part NAME`")
        loaded = loaded[name]
    if loaded.ndim not in (1, 2) or loaded.size == 0 or loaded.dtype.kind not in "fiu":
        raise SunsealError(
            f"`{path.name}` holds an array of shape {loaded.shape} of {loaded.dtype}; a trace has one dimension, "
            "a set of traces two, of numbers"
        )
    if rate_hz is None:
        raise SunsealError(f"`{path.name}` does not say how fast it was sampled", hint="give `--rate`, such as 29.5MHz")
    rows = loaded.reshape(1, -1) if loaded.ndim == 1 else loaded
    points = rows.shape[1]

    def raw(_: tuple[str, ...]) -> Iterator[Raw]:
        at_once = max(1, BLOCK_SAMPLES // points)
        for row in range(0, rows.shape[0], at_once):
            yield None, {"trace": np.asarray(rows[row : row + at_once], dtype=np.float64).reshape(-1)}

    return Recording(
        path,
        form,
        (Channel("trace", "?"),),
        raw,
        samples=rows.size,
        step_s=1.0 / rate_hz,
        windows=tuple((i * points, (i + 1) * points) for i in range(rows.shape[0])) if loaded.ndim == 2 else (),
        device=device,
        notes=("the array has no unit: `--scale` says what one step of it is, such as 1V",),
    )


# --- Shepherd --------------------------------------------------------------------------------


def shepherd(path: Path) -> Recording:
    """Read the voltage and current that Shepherd recorded (datatype `ivtrace`, formerly `ivsample`)."""
    import h5py

    with h5py.File(path, "r") as file:
        data = shepherd_data(file, path)
        if (kind := data.attrs.get("datatype", "ivsample")) not in ("ivsample", "ivsamples", "ivtrace"):
            raise SunsealError(
                f"`{path.name}` holds {kind}, the curves of a source, not a load's current",
                hint="`sunseal trace harvest` reads those",
            )
        gains = {k: (float(data[k].attrs["gain"]), float(data[k].attrs["offset"])) for k in ("voltage", "current")}
        tick = float(data["time"].attrs.get("gain", 1e-9))
        samples = int(data["voltage"].shape[0])
        begin = int(data["time"][0]) if samples else 0

    def raw(names: tuple[str, ...]) -> Iterator[Raw]:
        with h5py.File(path, "r") as file:
            data = file["data"]
            for at in range(0, samples, BLOCK_SAMPLES):
                # Nanoseconds since 1970 do not fit a float's 53 bits: the beginning is taken off first.
                since = data["time"][at : at + BLOCK_SAMPLES].astype(np.int64) - begin
                yield (
                    since.astype(np.float64) * tick,
                    {n: data[n][at : at + BLOCK_SAMPLES] * gains[n][0] + gains[n][1] for n in names or ("voltage",)},
                )

    return Recording(
        path,
        "shepherd",
        tuple(Channel(k, u, lsb=gains[k][0]) for k, u in (("voltage", "V"), ("current", "A"))),
        raw,
        samples=samples,
        device="Shepherd",
        facts={"time_resolution_s": repr(tick)},
    )


def shepherd_data(file: Any, path: Path) -> Any:
    """Return the group `data` of a Shepherd file, with what it must have."""
    data = file.get("data")
    lacks = [k for k in ("time", "voltage", "current") if data is None or k not in data]
    if lacks:
        raise SunsealError(f"`{path.name}` is HDF5 but no Shepherd recording: it lacks `data/{lacks[0]}`")
    for name in ("voltage", "current"):
        for fact in ("gain", "offset"):
            if fact not in data[name].attrs:
                raise SunsealError(f"`{path.name}`: `data/{name}` lacks the attribute `{fact}`, so it has no unit")
    lengths = {data[k].shape[0] for k in ("time", "voltage", "current")}
    if len(lengths) > 1:
        raise SunsealError(f"`{path.name}`: time, voltage and current have {sorted(lengths)} samples; they must agree")
    return data
