# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tell a recording's format by its content, and open it."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sunseal.errors import SunsealError, unknown
from sunseal.trace import binaries, tables
from sunseal.trace.model import Channel, Raw, Recording

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
NUMPY_MAGIC = b"\x93NUMPY"
JLS_MAGIC = b"jlsfmt\r\n"
FORMATS = (*tables.FORMS, "joulescope", "otii", "chipwhisperer", "numpy", "shepherd")


def open_recording(
    path: Path,
    *,
    form: str | None = None,
    rate_hz: float | None = None,
    unit: str | None = None,
    units: Mapping[str, str] | None = None,
    part: str | None = None,
    uneven: bool = False,
) -> Recording:
    """Open a recording; `form` is one of `FORMATS`, else the content decides.

    `rate_hz` takes even steps whatever the times say, `unit` is that of columns which name none, `units` that of
    columns by their name (`{"current": "mA"}`), `part` the recording of a project or the array of an archive;
    `uneven` takes the steps of time as they come.
    """
    if form is not None and form not in FORMATS:
        raise unknown("format", form, FORMATS)
    if unit is not None and unit not in ("A", "V", "W", "J"):
        raise SunsealError(f"--unit `{unit}` is none of A, V, W and J")
    if not path.exists():
        raise SunsealError(f"the recording `{path}` is not there")
    found = _open(path, form, rate_hz, unit, units or {}, part)
    if found.format not in ("chipwhisperer", "numpy"):
        found = found.with_step(None if rate_hz is None else 1.0 / rate_hz, False if uneven else None)
    elif unit is not None:
        found = replace(found, channels=(Channel("trace", unit),), notes=())
    return found


@contextlib.contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Make a sentence of whatever the readers of ZIP, HDF5, JLS, NumPy and JSON raise on a damaged file."""
    try:
        yield
    except (SunsealError, GeneratorExit):
        raise
    except Exception as e:
        told = str(e).strip().splitlines() or [type(e).__name__]
        raise SunsealError(f"`{path.name}` is damaged, or not what it seems to be: {told[0]}") from e


def _guarded(path: Path, raw: Callable[[tuple[str, ...]], Iterable[Raw]]) -> Callable[[tuple[str, ...]], Iterator[Raw]]:
    def read(names: tuple[str, ...]) -> Iterator[Raw]:
        with _damage_told(path):
            yield from raw(names)

    return read


def _open(
    path: Path, form: str | None, rate_hz: float | None, unit: str | None, units: Mapping[str, str], part: str | None
) -> Recording:
    with _damage_told(path):
        found = _binary(path, form, rate_hz, part)
    if found is not None:
        return replace(found, raw=_guarded(path, found.raw))
    text = tables.head(path)
    layout = tables.recognise(text, form, unit) if text is not None else None
    if text is None or layout is None:
        as_what = f"no recording in the format `{form}`" if form else "in none of the known formats"
        raise SunsealError(f"`{path.name}` is {as_what}", hint=f"`--format` forces one: {', '.join(FORMATS)}")
    return tables.recording(text, layout, rate_hz, units)


def _binary(path: Path, form: str | None, rate_hz: float | None, part: str | None) -> Recording | None:
    """Open what is no text; None where it is."""
    if path.is_dir() or path.suffix == ".otii3":
        return binaries.otii(path, part)
    if path.suffix in (".cwp", ".cfg") or (form == "chipwhisperer" and path.suffix != ".npy"):
        return binaries.chipwhisperer(path, rate_hz)
    with path.open("rb") as file:
        magic = file.read(16)
    if not magic:
        raise SunsealError(f"`{path.name}` is empty")
    if magic.startswith(HDF5_MAGIC):
        return binaries.shepherd(path)
    if magic.startswith(JLS_MAGIC):
        return binaries.jls(path)
    if magic.startswith(NUMPY_MAGIC):
        return binaries.numpy_array(path, rate_hz, form=form or "numpy")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if "session.raw" in names:
            return binaries.ppk2(path)
        if names and all(n.endswith(".npy") for n in names):
            return binaries.numpy_array(path, rate_hz, part)
        raise SunsealError(f"`{path.name}` is a ZIP file of neither a PPK2 session nor NumPy arrays")
    return None
