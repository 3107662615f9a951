# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files of other programs, damaged: an answer, or a sentence that refuses them; never a traceback."""

from __future__ import annotations

import io
import json
import random
import shutil
import struct
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sunseal import _engine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.loop import simulation
from sunseal.planner import plan_requirements
from sunseal.trace import open_recording

DATA = Path(__file__).parent / "data"
CORPUS = boards.home() / "fuzz" / "corpus"
"""Inputs from which fuzzing starts, and every one that once failed."""
REFUSED = (SunsealError, _engine.EngineError)
CELLS = ["", "nan", "inf", "-", ".", "1e999", "1e-9999", "9" * 400, "1.5E-1.0E-01", "0x10", "µ", '"', "\0", "1,2;3"]

BOUNDED = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def changes() -> st.SearchStrategy[list[tuple[int, int, str]]]:
    """Choose what is changed: a kind, a place, and a text to put there."""
    cell = st.sampled_from(CELLS) | st.text(max_size=6)
    return st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1 << 16), cell), min_size=1, max_size=4)


def damaged(content: bytes, todo: list[tuple[int, int, str]]) -> bytes:
    """Change bytes, fields and lines."""
    for kind, place, text in todo:
        if kind == 0:
            content = content[: place % (len(content) + 1)]
        elif kind == 1 and content:
            at = place % len(content)
            content = content[:at] + bytes([content[at] ^ 1 << place % 8]) + content[at + 1 :]
        elif kind == 2:
            at = place % (len(content) + 1)
            content = content[:at] + text.encode() + content[at:]
        else:
            lines = content.split(b"\n")
            at = place % len(lines)
            if kind == 3:
                del lines[at]
            elif kind == 4:
                lines.insert(at, lines[place // 7 % len(lines)])
            else:
                mark = next((m for m in (b";", b",", b"\t", b"=", b" ") if m in lines[at]), b",")
                fields = lines[at].split(mark)
                fields[place // 11 % len(fields)] = text.encode()
                lines[at] = mark.join(fields)
            content = b"\n".join(lines)
    return content


def refuse_or_take(read: Callable[[], object], content: bytes) -> None:
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            read()
    except REFUSED as e:
        assert str(e).strip(), "a refusal is a sentence"
    except Exception as e:
        raise AssertionError(f"{type(e).__name__}: {e}\ninput: {content!r}") from e


def read_through(path: Path) -> None:
    """Open a recording and read every sample."""
    recording = open_recording(path, rate_hz=1e6 if path.suffix in (".npy", ".npz") else None)
    for _ in recording.blocks([c.name for c in recording.channels]):
        pass


def kept(target: str) -> list[Path]:
    return sorted((CORPUS / target).iterdir())


# --- Recordings --------------------------------------------------------------------------------

TEXTS = sorted(p for p in DATA.iterdir() if p.suffix in (".csv", ".txt"))


@pytest.mark.parametrize("path", kept("trace"), ids=lambda p: p.name)
def test_recordings_that_once_ended_in_a_traceback_are_refused(path: Path) -> None:
    with pytest.raises(SunsealError):
        read_through(path)


@BOUNDED
@given(which=st.sampled_from(TEXTS), todo=changes())
def test_damaged_text_recordings_are_read_or_refused(which: Path, todo: list[tuple[int, int, str]]) -> None:
    lines = which.read_bytes().split(b"\n")
    content = damaged(b"\n".join(lines[:60]), todo)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / which.name
        path.write_bytes(content)
        refuse_or_take(lambda: read_through(path), content)


def container(form: str, folder: Path) -> Path:
    """Write a small recording in a binary form."""
    if form == "npy":
        np.save(folder / "a.npy", np.arange(64, dtype=np.float32))
        return folder / "a.npy"
    if form == "npz":
        np.savez(folder / "a.npz", traces=np.arange(64, dtype=np.float32))
        return folder / "a.npz"
    if form == "ppk2":
        raw = b"".join(struct.pack("<fH", float(i), 0x5555) for i in range(40))
        with zipfile.ZipFile(folder / "a.ppk2", "w") as archive:
            archive.writestr("session.raw", raw)
            archive.writestr("metadata.json", json.dumps({"metadata": {"samplesPerSecond": 1000}, "formatVersion": 2}))
        return folder / "a.ppk2"
    if form == "cfg":
        np.save(folder / "x-traces.npy", np.zeros((2, 8)))
        (folder / "a.cfg").write_text("[Trace Config]\nformat=native\nprefix=x-\nscopeSampleRate=1e6\n")
        return folder / "a.cfg"
    import h5py

    with h5py.File(folder / "a.h5", "w") as file:
        data = file.create_group("data")
        data.create_dataset("time", data=np.arange(32, dtype=np.uint64))
        for name in ("voltage", "current"):
            data.create_dataset(name, data=np.arange(32, dtype=np.uint32)).attrs.update(gain=1e-6, offset=0.0)
    return folder / "a.h5"


@pytest.mark.parametrize("form", ["npy", "npz", "ppk2", "cfg", "h5"])
def test_damaged_binary_recordings_are_read_or_refused(form: str, tmp_path: Path) -> None:
    path = container(form, tmp_path)
    good = path.read_bytes()
    noise = random.Random(5)
    for _ in range(120):
        todo = [(noise.randrange(5), noise.randrange(1 << 16), noise.choice(CELLS)) for _ in range(noise.randint(1, 3))]
        content = damaged(good, todo)
        path.write_bytes(content)
        refuse_or_take(lambda: read_through(path), content)


def test_damaged_otii_projects_are_read_or_refused(tmp_path: Path) -> None:
    from test_traces import otii_project

    (tmp_path / "a").mkdir()
    project = tmp_path / "a" / "p.otii3"
    otii_project(project)
    noise = random.Random(7)
    for damaged_file in ("versions/v1/data/project.json", "meta/saved_version", "meta/project_format"):
        path = tmp_path / "a" / "data" / damaged_file
        good = path.read_bytes()
        for _ in range(60):
            content = damaged(good, [(noise.randrange(7), noise.randrange(1 << 16), noise.choice(CELLS))])
            path.write_bytes(content)
            refuse_or_take(lambda: read_through(project), content)
        path.write_bytes(good)


# --- TOML --------------------------------------------------------------------------------------


def values(text: str) -> list[str]:
    """Return other values for a line of TOML."""
    return ["-1", "0", "1e308", "nan", "inf", "-inf", '""', '"x"', "[]", "{}", "true", "[[1]]", "1979-05-27", text * 2]


def toml_changes(content: str, noise: random.Random) -> str:
    lines = content.splitlines()
    for _ in range(noise.randint(1, 2)):
        at = noise.randrange(len(lines))
        key, equals, value = lines[at].partition("=")
        kind = noise.randrange(5)
        if kind < 3 and equals:
            lines[at] = f"{key}= {noise.choice(values(value))}"
        elif kind == 3:
            del lines[at]
        else:
            lines.insert(at, noise.choice(["x = 1", "name = 1", "[node]", "[[x]]", "[storage.x]", "x = [", "= 1"]))
    return "\n".join(lines)


def shaken(good: list[Path], name: str, read: Callable[[Path], object], times: int) -> None:
    noise = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for source in good:
            text = source.read_text(encoding="utf-8")
            tomllib.loads(text)
            for _ in range(times):
                content = toml_changes(text, noise)
                path.write_text(content, encoding="utf-8")
                refuse_or_take(lambda: read(path), content.encode())


def test_damaged_scenarios_are_taken_or_refused(firmware: None) -> None:
    shaken(sorted((boards.home() / "examples/scenarios").glob("*.toml")), "s.toml", simulation.load, 12)


def test_damaged_requirements_are_taken_or_refused() -> None:
    good = sorted((boards.home() / "examples").rglob("*.toml"))
    good = [p for p in good if p.parent.name != "scenarios"]
    assert good, "there are examples of requirements"
    shaken(good, "r.toml", plan_requirements.load, 60)


def test_damaged_boards_are_taken_or_refused() -> None:
    def read(path: Path) -> object:
        board = _engine.Board(str(path))
        data = boards.home() / "data"
        device = str(data / "devices" / "msp430f5438a.toml")
        return _engine.Machine(device, str(path), None, [], None, (0.0, 0.0)), board.device

    shaken(sorted((boards.home() / "data/boards").glob("*.toml")), "b.toml", read, 25)


@pytest.fixture(autouse=True)
def _no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where files that a damaged path names cannot be met."""
    monkeypatch.chdir(tmp_path)
    assert shutil.disk_usage(tmp_path).free > 1 << 20
