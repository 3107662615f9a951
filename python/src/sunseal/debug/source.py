# SPDX-License-Identifier: MIT OR Apache-2.0
"""Source lines and functions of a program by its debug data, and the addresses where they begin."""

from __future__ import annotations

import bisect
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

DIE = Any
PARENTS_MAX = 8
"""Folders above the program in which sources with a relative name are looked for."""


@dataclass(frozen=True)
class Row:
    """Instructions from `address` to before `end` that belong to a line."""

    address: int
    end: int
    file: str
    line: int
    starts: bool
    """True where a statement begins."""
    after_prologue: bool
    second: bool
    """True where another line begins at the same address, too: a function that begins so has no prologue."""


@dataclass(frozen=True)
class Function:
    """Code of a function in one stretch."""

    name: str
    low: int
    high: int
    die: DIE


@dataclass(frozen=True)
class Line:
    """Line of a source file with code."""

    file: str
    number: int
    addresses: tuple[int, ...]


class Program:
    """Lines and functions of an image; without debug data it has none, and `missing` says so."""

    def __init__(self, image: bytes, elf: Path, folders: Sequence[Path] = ()) -> None:
        """Read the image; sources with relative names lie in `folders`, beside the ELF, or above it."""
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.elf.elffile import ELFFile

        self.missing = ""
        self._folders = [*folders, elf.absolute().parent, *list(elf.absolute().parents)[1:PARENTS_MAX]]
        self._found: dict[str, str] = {}
        self.rows: list[Row] = []
        self.functions: list[Function] = []
        self._tops: list[DIE] = []
        self.dwarf: Any = None
        try:
            file = ELFFile(io.BytesIO(image))
            self.entries = _symbols(file)
            self.dwarf = file.get_dwarf_info()
            if self.dwarf.has_debug_info:
                self._read()
        except (ELFError, DWARFError, AssertionError, KeyError) as damaged:
            self.missing = f"the debug data of {elf.name} cannot be read: {damaged}; build it anew"
        if not self.rows and not self.missing:
            self.missing = f"{elf.name} has no debug data with source lines; compile it with `-g -gdwarf-4`"
        self._starts = [row.address for row in self.rows]
        self._lows = [function.low for function in self.functions]

    def _read(self) -> None:
        for unit in self.dwarf.iter_CUs():
            top = unit.get_top_DIE()
            self._tops.append(top)
            self.rows += _rows(self.dwarf, unit, top)
            self.functions += _functions(top)
        self.rows.sort(key=lambda row: (row.address, row.end))
        self.functions.sort(key=lambda function: function.low)

    # --- By address ------------------------------------------------------------------------------

    def row(self, address: int) -> Row | None:
        """Return the row that an address lies in, if it belongs to a line."""
        i = bisect.bisect_right(self._starts, address) - 1
        found = self.rows[i] if i >= 0 else None
        return found if found is not None and address < found.end and found.line else None

    def near(self, address: int) -> Row | None:
        """Return the row that an address lies in, or of no line's code the one in front of it in its function."""
        function = self.function(address)
        if (row := self.row(address)) is not None or function is None:
            return row
        return next((r for r in reversed(self.within(function)) if r.address <= address and r.line), None)

    def function(self, address: int) -> Function | None:
        """Return the function that an address lies in."""
        i = bisect.bisect_right(self._lows, address) - 1
        found = self.functions[i] if i >= 0 else None
        return found if found is not None and address < found.high else None

    def within(self, function: Function) -> list[Row]:
        """List the rows of a function."""
        low, high = (bisect.bisect_left(self._starts, at) for at in (function.low, function.high))
        return self.rows[low:high]

    def body(self, function: Function) -> int:
        """Return the address behind a function's prologue: where the compiler says so, or its second line."""
        rows = self.within(function)
        if rows and rows[0].address == function.low and rows[0].second:
            return function.low
        told = [row.address for row in rows if row.after_prologue]
        later = [r.address for r in rows if r.starts and r.address > function.low]
        return told[0] if told else later[0] if later else function.low

    # --- By name ---------------------------------------------------------------------------------

    @cached_property
    def files(self) -> dict[str, list[Row]]:
        """Rows at which statements begin, by file."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.starts and row.line:
                found.setdefault(row.file, []).append(row)
        return found

    def located(self, file: str) -> str | None:
        """Return where a source file of the debug data lies here; None where it does not."""
        if file not in self._found:
            places = [Path(file)] if Path(file).is_absolute() else [folder / file for folder in self._folders]
            self._found[file] = next((str(p.resolve()) for p in places if p.is_file()), "")
        return self._found[file] or None

    def named(self, path: str) -> list[str]:
        """List the files of the debug data that a client means by a path: the same file, else the most alike name."""
        real = str(Path(path).resolve()) if path else ""
        if same := [file for file in self.files if self.located(file) == real]:
            return same
        parts = PurePosixPath(path.replace("\\", "/")).parts[::-1]
        alike = {file: _alike(parts, PurePosixPath(file).parts[::-1]) for file in self.files}
        best = max(alike.values(), default=0)
        return [file for file, count in alike.items() if count == best] if best else []

    def line(self, files: Sequence[str], number: int) -> Line | None:
        """Find the first line from `number` on that has code, and where its statements begin in each function."""
        rows = [row for file in files for row in self.files[file] if row.line >= number]
        if not rows:
            return None
        nearest = min(row.line for row in rows)
        starts: dict[int, int] = {}
        for row in rows:
            if row.line != nearest:
                continue
            function = self.function(row.address)
            key = row.address if function is None else function.low
            at = self.body(function) if function is not None and row.address == function.low else row.address
            starts[key] = min(at, starts.get(key, at))
        file = next(row.file for row in rows if row.line == nearest)
        return Line(file, nearest, tuple(sorted(set(starts.values()))))

    def entries_of(self, name: str) -> list[int]:
        """List where a function begins, behind its prologue, and where it was inlined."""
        found = [self.body(f) for f in self.functions if f.name == name]
        found += [low for low, inlined in self._inlined if inlined == name]
        if not found and name in self.entries:
            found = [self.entries[name]]
        return sorted(set(found))

    @cached_property
    def _inlined(self) -> list[tuple[int, str]]:
        return [
            (low, name_of(die))
            for function in self.functions
            for die in _below(function.die)
            if die.tag == "DW_TAG_inlined_subroutine"
            for low, _ in ranges(die)[:1]
        ]


def _symbols(file: Any) -> dict[str, int]:
    table = file.get_section_by_name(".symtab")
    thumb = 1 if file["e_machine"] == "EM_ARM" else 0
    return {
        symbol.name: symbol["st_value"] & ~thumb
        for symbol in (table.iter_symbols() if table is not None else ())
        if symbol["st_info"]["type"] in ("STT_FUNC", "STT_NOTYPE") and symbol["st_shndx"] != "SHN_UNDEF" and symbol.name
    }


def _rows(dwarf: Any, unit: Any, top: DIE) -> Iterator[Row]:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return
    names, before, second = _names(program, top), None, False
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address == state.address:
            second = second or before.line != state.line
        # Linkers leave sections that they dropped at address 0.
        elif before is not None and before.address < state.address and before.address:
            file = names.get(before.file, "")
            line = before.line if file else 0
            yield Row(
                before.address, state.address, file, line, bool(before.is_stmt), bool(before.prologue_end), second
            )
            second = False
        else:
            second = False
        before = None if state.end_sequence else state


def _names(program: Any, top: DIE) -> dict[int, str]:
    """Return the files of a line program by number, with the folder that they were compiled in where it is told."""
    header = program.header
    folder = _text(top, "DW_AT_comp_dir")
    folders = [d.decode(errors="replace") for d in header["include_directory"]]
    first = 0 if header["version"] >= 5 else 1
    found = {}
    for number, entry in enumerate(header["file_entry"], first):
        index = entry.dir_index
        of = folders[index - first] if 0 <= index - first < len(folders) else ""
        path = PurePosixPath(folder if folder not in ("", ".") else "", of, entry.name.decode(errors="replace"))
        found[number] = str(path)
    return found


def _functions(top: DIE) -> Iterator[Function]:
    for die in top.iter_children():
        if die.tag == "DW_TAG_subprogram":
            for low, high in ranges(die):
                if low:
                    yield Function(name_of(die), low, high, die)


def _below(die: DIE) -> Iterator[DIE]:
    for child in die.iter_children():
        yield child
        yield from _below(child)


def ranges(die: DIE) -> list[tuple[int, int]]:
    """List the stretches of addresses that an entry of the debug data covers."""
    attributes = die.attributes
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        return [(low, high.value if high.form == "DW_FORM_addr" else low + high.value)]
    if "DW_AT_ranges" not in attributes:
        return []
    from elftools.dwarf.ranges import BaseAddressEntry

    base = die.cu.get_top_DIE().attributes.get("DW_AT_low_pc")
    at, found = base.value if base is not None else 0, []
    lists = die.dwarfinfo.range_lists()
    for entry in lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, die.cu):
        if isinstance(entry, BaseAddressEntry):
            at = entry.base_address
        else:
            shift = 0 if entry.is_absolute else at
            found.append((shift + entry.begin_offset, shift + entry.end_offset))
    return found


def name_of(die: DIE) -> str:
    """Return an entry's name, or that of what it is an instance of."""
    for way in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if "DW_AT_name" not in die.attributes and way in die.attributes:
            return name_of(die.get_DIE_from_attribute(way))
    return _text(die, "DW_AT_name") or "?"


def _text(die: DIE, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode(errors="replace") if found is not None else ""


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    """Count the parts of two paths that are the same, from their ends."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count
