# SPDX-License-Identifier: MIT OR Apache-2.0
"""Text exports: oscilloscopes, power analysers, and any table whose header names its units.

The header decides; docs/reference/traces.md shows each form and where it is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sunseal.errors import SunsealError, unknown
from sunseal.trace.model import BLOCK_SAMPLES, Array, Channel, Raw, Recording, unit

HEAD_LINES = 100
TIME_WORDS = ("time", "timestamp", "second", "t", "x-axis", "x")
DIGITAL = re.compile(r"d\d+|gpi\d*|gpo\d*|trigger|trig|digital.*|dio\d+", re.IGNORECASE)
NO_UNIT = ", which is none of current, voltage, power, energy or time"
NUMBER = re.compile(r"[+-]?(\d{1,300}\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$", re.ASCII)


@dataclass
class Column:
    """A column of numbers: where it stands, what it is called, and its unit."""

    index: int
    name: str
    unit: str
    scale: float = 1.0
    bit: int | None = None
    """Bit that is meant of a column that holds a word of bits as text, from the left."""
    doubt: str = ""


@dataclass
class Layout:
    """Layout by which a text file is to be read."""

    format: str
    first: int
    """Lines before the first sample."""
    columns: list[Column]
    time: Column | None = None
    step_s: float | None = None
    start_s: float | None = None
    even: bool = True
    samples: int | None = None
    device: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Text:
    """The beginning of a text file, cut into fields."""

    path: Path
    lines: list[str]
    rows: list[list[str]]
    separator: str
    decimal: str

    def numeric(self, row: int) -> list[int]:
        """Return the columns of a row that hold numbers."""
        return [i for i, cell in enumerate(self.rows[row]) if self._number(cell)]

    def _number(self, cell: str) -> bool:
        return bool(NUMBER.match(cell.replace(self.decimal, ".", 1) if self.decimal != "." else cell))

    def value(self, cell: str) -> float:
        """Read a number of the head."""
        if not self._number(cell):
            raise SunsealError(f"`{self.path.name}`: `{cell}` is no number where the head or the first sample has one")
        return float(cell.replace(self.decimal, ".", 1) if self.decimal != "." else cell)

    def key(self, *names: str) -> list[str] | None:
        """Return the fields behind a key of the head, such as `Sample Interval`."""
        wanted = [n.lower() for n in names]
        for row in self.rows:
            if row and row[0].lstrip("#").strip().lower() in wanted:
                return [cell for cell in row[1:] if cell]
        return None


def head(path: Path) -> Text | None:
    """Read the beginning of a file; None where it is no text."""
    with path.open("rb") as file:
        begin = file.read(1 << 16)
    if b"\0" in begin:
        return None
    text = begin.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    if len(begin) == 1 << 16:
        lines = lines[:-1]
    lines = lines[:HEAD_LINES]
    body = [line for line in lines if line.strip() and not line.startswith("#")] or lines
    last = body[-1] if body else ""
    blank = " " if len(last.split()) > 1 else ","
    separator = next((s for s in (";", "\t", ",") if s in last), blank)
    decimal = "," if separator in (";", "\t") and re.search(r"\d,\d", last) and "." not in last else "."
    rows = [
        line.split() if separator == " " else [c.strip().strip('"') for c in line.split(separator)] for line in lines
    ]
    return Text(path, lines, rows, separator, decimal)


# --- The forms -------------------------------------------------------------------------------


def _after(text: Text, names: int, units: int | None = None) -> int:
    """Return the first row of numbers behind the rows of names and units."""
    begin = max(names, units if units is not None else names) + 1
    for row in range(begin, len(text.rows)):
        if text.numeric(row):
            return row
    raise SunsealError(f"`{text.path.name}` has a header but no samples behind it")


def _find(text: Text, test: str) -> int | None:
    return next((i for i, line in enumerate(text.lines) if re.match(test, line.lstrip("#"), re.IGNORECASE)), None)


def _named(text: Text, cell: str, where: str, default: str | None = None) -> tuple[str, str, float, str]:
    """Take a header cell apart: name, unit, factor, and what is doubtful about it."""
    forms = (
        r"(?P<name>.+?)\s*[\(\[](?P<unit>[^)\]]+)[\)\]]\s*$",
        r"(?P<name>[^/]+)/(?P<unit>[^/]+)$",
        r"(?P<name>.+)_(?P<unit>[A-Za-zµμ]+)$",
        r"(?P<name>.+)\s(?P<unit>[A-Za-zµμ]+)$",
    )
    for form in forms:
        match = re.match(form, cell)
        if match is not None and (known := unit(match["unit"])) is not None:
            return match["name"].strip(), *known, ""
    if DIGITAL.fullmatch(cell):
        return cell, "1", 1.0, ""
    if (match := re.match(forms[0], cell)) is not None:
        return match["name"].strip(), "?", 1.0, f"{where}: column `{cell}` has the unit `{match['unit']}`{NO_UNIT}"
    if default is not None:
        return cell, default, 1.0, ""
    return cell, "?", 1.0, f"{where}: column `{cell}` names no unit of current, voltage, power or energy"


def _channels(
    text: Text, names: int, units: list[str] | None, first: int, default: str | None
) -> tuple[Column | None, list[Column]]:
    """Make columns of a row of names, with a row of units or units in the names."""
    time: Column | None = None
    columns: list[Column] = []
    place = f"line {names + 1} of `{text.path.name}`"
    numeric = text.numeric(first)
    for index, cell in enumerate(text.rows[names]):
        if not cell or index not in numeric:
            continue
        given = units[index] if units and index < len(units) else ""
        is_time = time is None and cell.lstrip("#").split("(")[0].split("[")[0].strip().lower() in TIME_WORDS
        if given and not (DIGITAL.fullmatch(cell) and unit(given.strip("()[]")) is None):
            found = unit(given.strip("()[]"))
            name, doubt = cell, ""
            base, scale = found or ("?", 1.0)
            if found is None:
                doubt = f"line {names + 2} of `{text.path.name}`: column `{cell}` has the unit `{given}`{NO_UNIT}"
        else:
            name, base, scale, doubt = _named(text, cell.lstrip("#"), place, "s" if is_time else default)
        if base == "s" and time is None:
            time = Column(index, name, "s", scale)
        elif base != "s":
            columns.append(Column(index, name, base, scale, doubt=doubt))
    return time, columns


def _number_after(cells: list[str] | None) -> float | None:
    """Read the number of `Analog:5.0E-05` or `5.0E-05`."""
    if not cells:
        return None
    try:
        return float(cells[0].split(":")[-1])
    except ValueError:
        return None


def _tektronix_tds(text: Text, default: str | None) -> Layout | None:
    """Header in the first three columns, samples beside it from the first line (TDS1000 to TDS3000)."""
    rows = text.rows
    if not rows or rows[0][0] != "Record Length" or len(rows[0]) < 5 or not {3, 4} <= set(text.numeric(0)):
        return None
    units = text.key("Vertical Units") or [default or "V"]
    known = unit(units[0])
    name = (text.key("Source") or ["CH1"])[0]
    if known is None:
        raise SunsealError(f"`{text.path.name}`: `Vertical Units,{units[0]}` is no unit of voltage, current or power")
    return Layout(
        "tektronix",
        0,
        [Column(4, name, *known)],
        Column(3, "time", "s"),
        step_s=_number_after(text.key("Sample Interval")),
        device=(text.key("Model Number") or [""])[0],
    )


def _tektronix(text: Text, default: str | None) -> Layout | None:
    """Keys with a value for each channel, then `TIME,CH1,...` (MSO, DPO, MDO, TBS)."""
    names = _find(text, r"TIME,")
    if names is None or text.key("Sample Interval") is None or text.key("Record Length") is None:
        return None
    first = _after(text, names)
    labels = [c for c in text.rows[names][1:] if c]
    given = text.key("Vertical Units") or []
    units = ["s", *((given[i] if i < len(given) else default or "V") for i in range(len(labels)))]
    time, columns = _channels(text, names, units, first, default)
    return Layout(
        "tektronix", first, columns, time, _number_after(text.key("Sample Interval")), device=_word(text, "Model")
    )


def _word(text: Text, key: str) -> str:
    return " ".join(text.key(key) or [])


def _rigol(text: Text, default: str | None) -> Layout | None:
    """`X,CH1,Start,Increment` and the values of start and increment in the second line (DS1000Z)."""
    if not text.rows or text.rows[0][:1] != ["X"] or "Increment" not in text.rows[0]:
        return None
    names, units = text.rows[0], text.rows[1]
    numbers = [i for i in range(len(units)) if i in text.numeric(1)]
    if len(numbers) < 2:
        raise SunsealError(f"line 2 of `{text.path.name}` lacks the start and the increment of the time")
    first = _after(text, 1)
    columns, notes = [], []
    for index, name in enumerate(names):
        if index == 0 or name in ("Start", "Increment", "") or index >= len(text.rows[first]):
            continue
        if index not in text.numeric(first):
            notes.append(f"column {name} holds no decimal numbers and is left out")
            continue
        known = unit(units[index]) or (default or "V", 1.0)
        columns.append(Column(index, name, *known))
    start, step = (text.value(units[i]) for i in numbers[:2])
    return Layout("rigol", first, columns, None, step, start, notes=notes)


def _siglent(text: Text, default: str | None) -> Layout | None:
    """`Record Length,Analog:n`, keys, then `Second,Volt` or `Second,Value` (SDS series)."""
    names = _find(text, r"Second\s*,")
    length = text.key("Record Length")
    if names is None or (not (length and length[0].lower().startswith("analog")) and text.key("Source") is None):
        return None
    first = _after(text, names)
    given = text.key("Vertical Units") or []
    row = text.rows[names]
    sources = text.key("Source") or [g.split(":")[0] for g in given if ":" in g]
    columns = []
    for i, index in enumerate(c for c in text.numeric(first) if c != 0):
        word = given[i].split(":")[-1] if i < len(given) else (row[index] if index < len(row) else "")
        known = unit(word) or (default or "V", 1.0)
        name = sources[i] if i < len(sources) else f"CH{i + 1}"
        columns.append(Column(index, name, *known))
    step = _number_after(text.key("Sample Interval"))
    rate = _number_after(text.key("Sample Rate"))
    if step is None and rate:
        step = 1.0 / rate
    samples = _number_after(length)
    return Layout("siglent", first, columns, Column(0, "time", "s"), step, samples=int(samples) if samples else None)


def _keysight(text: Text, default: str | None) -> Layout | None:
    """`x-axis,1,2` and a line of units (InfiniiVision)."""
    if not text.rows or text.rows[0][:1] != ["x-axis"]:
        return None
    first = _after(text, 1)
    time, columns = _channels(text, 0, text.rows[1], first, default)
    for c in columns:
        c.name = f"CH{c.name}" if c.name.isdigit() else c.name
    return Layout("keysight", first, columns, time)


def _lecroy(text: Text, default: str | None) -> Layout | None:
    """Read a LeCroy oscilloscope's head: `LECROY...,id,Waveform`, `Segments,n,SegmentSize,m`, `Time,Ampl`."""
    if not text.lines or not text.lines[0].upper().startswith("LECROY"):
        return None
    segments = text.key("Segments")
    names = _find(text, r"Time\s*,")
    if segments is None or names is None:
        raise SunsealError(f"`{text.path.name}` begins like a LeCroy export but lacks `Segments` or `Time,Ampl`")
    if segments[0] != "1":
        raise SunsealError(
            f"`{text.path.name}` holds {segments[0]} segments, whose times begin anew: one can be read",
            hint="export each segment into a file of its own",
        )
    first = _after(text, names)
    base = default or "V"
    columns = [Column(i, text.rows[names][i], base) for i in text.numeric(first) if i > 0 and i < len(text.rows[names])]
    notes = [] if default else ["LeCroy's export names no unit: volts are taken; `--unit A` says otherwise"]
    size = int(segments[2]) if len(segments) > 2 and segments[2].isdigit() else None
    return Layout("lecroy", first, columns, Column(0, "time", "s"), samples=size, device=text.rows[0][0], notes=notes)


def _picoscope(text: Text, default: str | None) -> Layout | None:
    """`Time,Channel A`, a line of units in parentheses, an empty line."""
    if len(text.rows) < 3 or not re.match(r"\(.+\)$", text.rows[1][0] or "") or len(text.rows[0]) < 2:
        return None
    if not re.match(r".+ [A-Z]$", text.rows[0][1]):  # Channel A, Kanal B
        return None
    first = _after(text, 1)
    time, columns = _channels(text, 0, text.rows[1], first, default)
    return Layout("picoscope", first, columns, time)


def _ppk2(text: Text, default: str | None) -> Layout | None:
    """`Timestamp(ms),Current(uA)`, with `D0-D7` a word of bits and `D0`...`D7` a column each."""
    names = text.rows[0] if text.rows else []
    if names[:2] != ["Timestamp(ms)", "Current(uA)"]:
        return None
    columns = [Column(1, "current", "A", 1e-6)]
    for index, name in enumerate(names[2:], 2):
        if name == "D0-D7" and "D0" not in names:
            columns += [Column(index, f"D{bit}", "1", bit=bit) for bit in range(8)]
        elif DIGITAL.fullmatch(name):
            columns.append(Column(index, name, "1"))
    return Layout("ppk2", _after(text, 0), columns, Column(0, "time", "s", 1e-3), device="Nordic Power Profiler Kit II")


def _energytrace(text: Text, default: str | None) -> Layout | None:
    """TI's `Time (ns),Current (nA),Voltage (mV),Energy (uJ)`: the energy is what is measured."""
    names = text.rows[0] if text.rows else []
    folded = [re.sub(r"\s", "", n).lower() for n in names]
    if not ({"time(ns)", "current(na)", "voltage(mv)"} <= set(folded) and any(n.startswith("energy") for n in folded)):
        return None
    first = _after(text, 0)
    time, columns = _channels(text, 0, None, first, default)
    return Layout("energytrace", first, columns, time, even=False, device="TI EnergyTrace")


def _energytrace_util(text: Text, default: str | None) -> Layout | None:
    """Four columns without a name, after `#`: us, nA, mV, nJ (energytrace-util)."""
    if text.separator not in (" ", "\t"):
        return None
    first = next((i for i in range(len(text.rows)) if len(text.numeric(i)) == 4 == len(text.rows[i])), None)
    if first is None or not all(line.startswith("#") or not line.strip() for line in text.lines[:first]):
        return None
    columns = [Column(1, "current", "A", 1e-9), Column(2, "voltage", "V", 1e-3), Column(3, "energy", "J", 1e-9)]
    return Layout("energytrace-util", first, columns, Column(0, "time", "s", 1e-6), even=False, device="TI EnergyTrace")


def _generic(text: Text, default: str | None) -> Layout | None:
    """Any table: a line of names with units, or a line of names and one of units, then numbers."""
    first = next((i for i in range(len(text.rows)) if text.numeric(i) and _is_data(text, i)), None)
    if first is None:
        return None
    above = [i for i in range(first) if any(text.rows[i]) and (i == first - 1 or not text.lines[i].startswith("#"))]
    if not above:
        raise SunsealError(
            f"`{text.path.name}` begins with numbers and has no header, so its units are unknown",
            hint="write a first line such as `time (s),current (mA)`",
        )
    names, units = above[-1], None
    if len(above) > 1 and all(not c or unit(c.strip("()[]")) for c in text.rows[above[-1]]):
        names, units = above[-2], text.rows[above[-1]]
    unnamed = [i for i in text.numeric(first) if i >= len(text.rows[names]) or not text.rows[names][i]]
    if unnamed and unnamed[0] > 0:  # a first column without a name counts the rows
        raise SunsealError(
            f"line {first + 1} of `{text.path.name}` has a number in field {unnamed[0] + 1}, for which "
            f"line {names + 1} has no name",
            hint="name each column; decimal commas need another separator than a comma",
        )
    time, columns = _channels(text, names, units, first, default)
    notes = []
    bare = time is not None and not (units and units[time.index]) and unit(time.name) is None
    if time is not None and bare and time.name == text.rows[names][time.index].lstrip("#"):
        notes.append(f"column `{time.name}` names no unit: seconds are taken")
    return Layout("csv", first, columns, time, notes=notes)


def _is_data(text: Text, row: int) -> bool:
    """Say whether a row and the next are samples: numbers only, but for what a channel beyond its range has."""
    cells = [c for c in text.rows[row] if c]
    return len(text.numeric(row)) * 2 > len(cells) and (row + 1 == len(text.rows) or bool(text.numeric(row + 1)))


FORMS = {
    "tektronix": (_tektronix_tds, _tektronix),
    "rigol": (_rigol,),
    "siglent": (_siglent,),
    "keysight": (_keysight,),
    "lecroy": (_lecroy,),
    "picoscope": (_picoscope,),
    "ppk2": (_ppk2,),
    "energytrace": (_energytrace,),
    "energytrace-util": (_energytrace_util,),
    "csv": (_generic,),
}


def recognise(text: Text, wanted: str | None, default: str | None) -> Layout | None:
    """Find the form of a text file, or hold it against the one that is wanted."""
    tried = [f for name, forms in FORMS.items() for f in forms if wanted in (None, name)]
    for form in tried:
        layout = form(text, default)
        if layout is not None:
            return layout
    return None


# --- Reading ---------------------------------------------------------------------------------


def recording(text: Text, layout: Layout, rate_hz: float | None, units: Mapping[str, str]) -> Recording:
    """Make a recording of a text file and its layout, with the units of columns by name."""
    for name, given in units.items():
        column = next((c for c in layout.columns if c.name.lower() == name.lower()), None)
        if column is None:
            raise unknown("channel", name, [c.name for c in layout.columns], f"in `{text.path.name}`")
        known = unit(given)
        if known is None or known[0] == "s":
            raise SunsealError(f"--unit `{name}={given}`: `{given}` is no unit of current, voltage, power or energy")
        column.unit, column.scale, column.doubt = *known, ""
    names = [c.name for c in layout.columns]
    doubled = next((n for n in names if names.count(n) > 1), None)
    if doubled is not None:
        for c in layout.columns:
            if names.count(c.name) > 1:
                c.name = f"{c.name}#{c.index}"
    if not layout.columns:
        raise SunsealError(f"`{text.path.name}` has no column of current, voltage, power or energy")
    row = text.rows[layout.first]
    start, resolution = layout.start_s or 0.0, 0.0
    if layout.time is not None:
        start = text.value(row[layout.time.index]) * layout.time.scale
        shown = [r[layout.time.index] for r in text.rows[layout.first :] if len(r) > layout.time.index]
        finest = min(
            _resolution(c.replace(text.decimal, ".")) for c in shown if NUMBER.match(c.replace(text.decimal, "."))
        )
        resolution = finest * layout.time.scale
    step = 1.0 / rate_hz if rate_hz else layout.step_s
    if layout.time is None and step is None:
        doubt = next((c.doubt for c in layout.columns if c.doubt and re.match(r"time|t\b", c.name, re.IGNORECASE)), "")
        raise SunsealError(
            f"`{text.path.name}` has no column of time" + (f": {doubt}" if doubt else ""),
            hint="give its sample rate: `--rate 1MHz`" + (", or write the time in s, ms, us or ns" if doubt else ""),
        )

    def raw(wanted: tuple[str, ...]) -> Iterator[Raw]:
        chosen = [c for c in layout.columns if c.name in wanted]
        return _numbers(text, layout, chosen, use_time=layout.time is not None and rate_hz is None)

    return Recording(
        path=text.path,
        format=layout.format,
        channels=tuple(Channel(c.name, c.unit, doubt=c.doubt) for c in layout.columns),
        raw=raw,
        samples=layout.samples,
        step_s=step,
        start_s=start,
        even=layout.even,
        verify=layout.time is not None and rate_hz is None and step is not None,
        first_line=layout.first + 1,
        device=layout.device,
        notes=tuple(layout.notes),
        facts={"time_resolution_s": repr(resolution)},
    )


def _resolution(cell: str) -> float:
    """Return the value of a number's last digit."""
    mantissa, _, exponent = cell.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - digits}")


def _numbers(text: Text, layout: Layout, chosen: list[Column], use_time: bool) -> Iterator[Raw]:
    import pandas as pd

    time = layout.time if use_time else None
    bits = {c.index for c in chosen if c.bit is not None}
    width = len(text.rows[layout.first])
    options: dict[str, Any] = {
        "sep": r"\s+" if text.separator == " " else text.separator,
        "decimal": text.decimal,
        "header": None,
        "names": list(range(width)),
        "skiprows": layout.first,
        "skip_blank_lines": False,
        "dtype": dict.fromkeys(bits, str) or None,
        "chunksize": BLOCK_SAMPLES,
        "encoding": "utf-8-sig" if layout.first == 0 else "utf-8",
        "encoding_errors": "replace",
        "na_values": ["-nan", "nan(ind)"],
    }
    row, blank = 0, 0
    try:
        with pd.read_csv(text.path, **options) as reader:
            for frame in reader:
                empty = frame.isna().all(axis=1).to_numpy()
                kept = len(frame) - int(np.argmin(empty[::-1])) if not empty.all() else 0
                if kept and blank:
                    raise SunsealError(f"line {layout.first + row - blank + 1} of `{text.path.name}` is empty")
                blank = blank + len(frame) - kept
                if kept:
                    part = frame.iloc[:kept]
                    yield (
                        _column(text, layout, part, time, row) if time else None,
                        {c.name: _column(text, layout, part, c, row) for c in chosen},
                    )
                row += kept if blank == 0 else kept + blank
    except pd.errors.ParserError as e:
        found = re.search(r"line (\d+), saw (\d+)", str(e))
        place = f"line {found[1]} of `{text.path.name}` has {found[2]} fields" if found else f"`{text.path.name}`: {e}"
        raise SunsealError(f"{place}; the lines before it have {width}") from e
    except pd.errors.EmptyDataError as e:
        raise SunsealError(f"`{text.path.name}` holds no samples") from e


def _column(text: Text, layout: Layout, frame: Any, column: Column, row: int) -> Array:
    import pandas as pd

    series = frame[column.index]
    if column.bit is not None:
        return np.asarray(series.str.strip().str[column.bit] == "1", dtype=np.float64)
    if not pd.api.types.is_numeric_dtype(series):
        # An integer of more digits than a float holds would be an OverflowError even where errors are coerced.
        far = series.map(lambda cell: isinstance(cell, (str, int)) and len(str(cell)) > 300)
        numbers = pd.to_numeric(series.mask(far.astype(bool)), errors="coerce")
        if text.decimal == ",":
            numbers = pd.to_numeric(series.astype(str).str.replace(",", ".", regex=False), errors="coerce")
        wrong = np.flatnonzero(numbers.isna().to_numpy() & series.notna().to_numpy())
        if wrong.size:
            at = int(wrong[0])
            cell = str(series.iloc[at]).strip()[:40]
            beyond = cell.lstrip("+-") in ("∞", "inf", "Inf", "Infinity")
            raise SunsealError(
                f"line {layout.first + row + at + 1} of `{text.path.name}`: "
                + (f"channel `{column.name}` is beyond the instrument's range" if beyond else f"`{cell}` is no number")
                + f" (column {column.index + 1}, `{column.name}`)" * (not beyond),
                hint="measure again with a larger range" if beyond else None,
            )
        series = numbers
    return np.asarray(series.to_numpy(dtype=np.float64) * column.scale)
