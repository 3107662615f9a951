# SPDX-License-Identifier: MIT OR Apache-2.0
"""Variables of a program, read and written with the types that its debug data gives them.

>>> from sunseal import Machine
>>> m = Machine("telosb", "node.elf")
>>> m.variables["state.samples[2]"]  # doctest: +SKIP
-17
>>> m.variables["link.c::retries"] = 3  # doctest: +SKIP

A path is a variable's name, or `file.c::name` and `function::name` where several have it, then members (`.x`, behind
a pointer `->x`) and elements (`[2]`). Integers, pointers and bit-fields are int, enumerations `Enumerated`, arrays
lists (of one-byte integers: bytes), structures and unions dictionaries. A pointer of an AVR counts from the
start of the data space, which machines have at 0x800000.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal, Protocol

from sunseal.errors import SunsealError, unknown
from sunseal.machine.abi import AVR_DATA

Value = Any
"""int, float, bool, bytes, or a list or dictionary of these."""
DIE = Any
"""An entry of the debug data (`elftools.dwarf.die.DIE`), or `_Rows`, which stands for a type that has none."""
_STEP = re.compile(r"(->|\.)([A-Za-z_]\w*)|\[(\d+)\]")
_START = re.compile(r"(?:(?P<scope>[^:\[\]]+)::)?(?P<name>[A-Za-z_$][\w$]*)")
_NO_TYPES = (
    "the program has no debug data with types; compile it with `-g -gdwarf-4` (avr-gcc's `-g` alone writes stabs)"
)
_ADDR, _ADDRX, _PLUS_UCONST = 0x03, 0xA1, 0x23
_NAMED_ONLY = ("typedef", "const_type", "volatile_type", "restrict_type", "atomic_type")
_WRAPPERS = tuple(f"DW_TAG_{word}" for word in _NAMED_ONLY)


class _Memory(Protocol):
    """Memory as a machine gives it: bytes at an address, and a way to change them."""

    def read(self, place: int, size_bytes: int) -> bytes: ...

    def write(self, place: int, data: bytes) -> None: ...


HELD = 1 << 40
"""Address of a value that lies in registers: beyond all memory."""


class _Held:
    """Memory with the bytes of a value, which lies in registers, beyond its end."""

    def __init__(self, memory: _Memory, raw: bytes) -> None:
        self._memory, self._raw = memory, raw

    def read(self, place: int, size_bytes: int) -> bytes:
        if place < HELD:
            return self._memory.read(place, size_bytes)
        return self._raw[place - HELD : place - HELD + size_bytes]

    def write(self, place: int, data: bytes) -> None:
        if place >= HELD:
            raise SunsealError("the value lies in registers; change those")
        self._memory.write(place, data)


class Enumerated(int):
    """A value of an enumeration; `name` is None where no enumerator has it."""

    name: str | None

    def __new__(cls, value: int, name: str | None) -> Enumerated:
        """Make it of the number and its enumerator."""
        made = super().__new__(cls, value)
        made.name = name
        return made

    def __repr__(self) -> str:
        """Show name and number."""
        return f"{self.name or '?'} ({int(self)})"


@dataclass(frozen=True)
class _Place:
    """Place of a value, and its type; `bits` is the offset and width of a bit-field."""

    address: int
    type: DIE
    path: str
    bits: tuple[int, int] | None = None


@dataclass(frozen=True)
class Parameter:
    """An argument or result of a function, as its debug data have it."""

    name: str
    type: str
    """As C writes it."""
    size_bytes: int
    kind: Literal["integer", "float", "pointer", "other"]
    signed: bool = False


@dataclass(frozen=True)
class Prototype:
    """Types that a function takes and gives back; `result` is None where it gives nothing back."""

    parameters: tuple[Parameter, ...]
    result: Parameter | None


class Variables(MutableMapping[str, Value]):
    """Variables with a fixed place in memory, by path."""

    def __init__(self, memory: _Memory, image: bytes | None) -> None:
        """Look at the image's debug data only when the first variable is asked for."""
        self._memory = memory
        self._image = image
        self._found: dict[str, list[tuple[str, DIE]]] | None = None

    def __getitem__(self, path: str) -> Value:
        """Read what a path names."""
        return self._read(self._place(path))

    def __setitem__(self, path: str, value: Value) -> None:
        """Write what a path names; a structure takes a dictionary of the members that change."""
        self._write(self._place(path), value)

    def __delitem__(self, path: str) -> None:
        """Refuse: a program's variables stay."""
        raise SunsealError(f"variable `{path}` belongs to the program and cannot be removed")

    def __iter__(self) -> Iterator[str]:
        """Go through the variables outside of functions; one whose name several files have is told with its file."""
        for name, dies in sorted(self._index().items()):
            for unit, die in dies:
                if self._address(die) is not None:
                    yield name if len(dies) == 1 else f"{unit}::{name}"

    def __len__(self) -> int:
        """Count how many there are."""
        return sum(1 for _ in self)

    def address(self, path: str) -> int:
        """Return where it lies; a bit-field lies in the byte that holds its lowest bit."""
        return self._place(path).address

    def type_of(self, path: str) -> str:
        """Return its type as C writes it."""
        return _spell(self._place(path).type)

    def item(self, path: str) -> Item:
        """Return what a path names, with its parts."""
        return Item(self, self._place(path), path)

    def placed(self, die: DIE, name: str, address: int) -> Item:
        """Return a variable of the debug data whose address is known."""
        return Item(self, _Place(address, _type(_declared(die)), name), name)

    def held(self, die: DIE, name: str, raw: bytes) -> Item:
        """Return a variable of the debug data whose bytes are known: it lies in registers."""
        inner = Variables(_Held(self._memory, raw), self._image)
        return inner.placed(die, name, HELD)

    def constant(self, die: DIE, name: str, value: int | bytes) -> Item:
        """Return a variable of the debug data that the compiler has put a constant for."""
        size = self.size_bytes(die)
        raw = value if isinstance(value, bytes) else (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        return self.held(die, name, raw)

    @staticmethod
    def size_bytes(die: DIE) -> int:
        """Return the size of a variable of the debug data."""
        return _size(_type(_declared(die)))

    def at(self, address: int, type_name: str) -> Value:
        """Read memory as a type of the program: `at(0x2400, "struct sample")`, `at(p, "config_t")`."""
        return self._read(_Place(address, self._named_type(type_name), f"{type_name} at {address:#x}"))

    def put(self, address: int, type_name: str, value: Value) -> None:
        """Write memory as a type of the program."""
        self._write(_Place(address, self._named_type(type_name), f"{type_name} at {address:#x}"), value)

    def prototype(self, function: str) -> Prototype | None:
        """Return what a function takes and gives back; None where no debug data tell."""
        try:
            for top in self._units():
                for die in top.iter_children():
                    if die.tag != "DW_TAG_subprogram" or "DW_AT_declaration" in die.attributes:
                        continue
                    told = _declared(die)
                    if _text(told, "DW_AT_name") != function:
                        continue
                    given = [c for c in die.iter_children() if c.tag == "DW_TAG_formal_parameter"]
                    result = _parameter(told) if "DW_AT_type" in told.attributes else None
                    return Prototype(tuple(_parameter(_declared(p)) for p in given), result)
        except SunsealError:
            return None
        return None

    # --- Where it lies ---------------------------------------------------------------------------

    def _units(self) -> Iterator[DIE]:
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.elf.elffile import ELFFile

        if self._image is None:
            raise SunsealError("the machine has no program, so it has no variables; give it an ELF")
        try:
            dwarf = ELFFile(io.BytesIO(self._image)).get_dwarf_info()
            if not dwarf.has_debug_info:
                raise SunsealError(_NO_TYPES)
            for unit in dwarf.iter_CUs():
                yield unit.get_top_DIE()
        except (ELFError, DWARFError, AssertionError, KeyError) as damaged:
            raise SunsealError(f"the program's debug data cannot be read: {damaged}; build it anew") from damaged

    def _index(self) -> dict[str, list[tuple[str, DIE]]]:
        """Find the variables of all files once: those that are defined, or that have a place."""
        if self._found is None:
            found: dict[str, list[tuple[str, DIE]]] = {}
            for top in self._units():
                unit = PurePath(_text(top, "DW_AT_name")).name
                for die in top.iter_children():
                    if die.tag != "DW_TAG_variable" or "DW_AT_declaration" in die.attributes:
                        continue
                    if name := _text(_declared(die), "DW_AT_name"):  # a literal has none
                        found.setdefault(name, []).append((unit, die))
            self._found = found
        return self._found

    def _local(self, function: str, name: str) -> list[tuple[str, DIE]]:
        """Find static variables of a function, those of its blocks and of where it was inlined too."""

        def within(die: DIE) -> Iterator[DIE]:
            for child in die.iter_children():
                yield child
                yield from within(child)

        def owner(die: DIE) -> str:
            while die is not None and die.tag != "DW_TAG_subprogram":
                die = die.get_parent()
            return _text(_declared(die), "DW_AT_name") if die is not None else ""

        return [
            (function, die)
            for top in self._units()
            for sub in top.iter_children()
            if sub.tag == "DW_TAG_subprogram"
            for die in within(sub)
            if die.tag == "DW_TAG_variable"
            and _text(_declared(die), "DW_AT_name") == name
            and owner(_declared(die)) == function
        ]

    def _variable(self, path: str) -> tuple[DIE, int, str]:
        start = _START.match(path)
        if start is None:
            raise SunsealError(f"`{path}` is no path to a variable; write name, file.c::name or name.member[2]")
        scope, name = start["scope"], start["name"]
        dies = self._index().get(name, [])
        if scope is not None:
            dies = [found for found in dies if found[0] == scope] or self._local(scope, name)
        if not dies:
            told = f"{scope}::{name}" if scope else name
            if scope is None and self._has_symbol(name):
                raise SunsealError(f"`{name}` is in the program, without a type: compile its file with `-g -gdwarf-4`")
            listed = "`list(machine.variables)` names those outside of functions"
            raise unknown("variable", told, self._index(), listed=listed)
        placed = [(unit, die, at) for unit, die in dies if (at := self._address(die)) is not None]
        if not placed:
            raise SunsealError(
                f"variable `{name}` has no fixed place: compiler or linker left it out, or it is in registers; "
                "declare it volatile, or compile with -O0 or -Og"
            )
        if len({at for _, _, at in placed}) > 1:
            units = " and ".join(sorted({unit for unit, _, _ in placed}))
            raise SunsealError(f"{units} each have a variable `{name}`; write one of them as `{placed[0][0]}::{name}`")
        return placed[0][1], placed[0][2], path[start.end() :]

    def _has_symbol(self, name: str) -> bool:
        from elftools.elf.elffile import ELFFile

        table: Any = ELFFile(io.BytesIO(self._image or b"")).get_section_by_name(".symtab")
        return table is not None and bool(table.get_symbol_by_name(name))

    def _address(self, die: DIE) -> int | None:
        """Return the fixed address of a variable, if its place is one."""
        location = die.attributes.get("DW_AT_location")
        if location is None or not isinstance(location.value, list):
            return None
        ops = _expression(die, location.value)
        if not ops or ops[0].op not in (_ADDR, _ADDRX) or any(op.op != _PLUS_UCONST for op in ops[1:]):
            return None
        base = ops[0].args[0] if ops[0].op == _ADDR else die.dwarfinfo.get_addr(die.cu, ops[0].args[0])
        # Linkers write 0 for what they leave out.
        return int(base) + sum(int(op.args[0]) for op in ops[1:]) if base else None

    def _place(self, path: str) -> _Place:
        die, address, rest = self._variable(path)
        return self._walked(_Place(address, _type(_declared(die)), path), path[: len(path) - len(rest)], rest)

    def _walked(self, here: _Place, told: str, rest: str) -> _Place:
        """Go on from a place by members and elements."""
        while rest:
            step = _STEP.match(rest)
            if step is None:
                raise SunsealError(f"`{rest}` does not go on from `{told}`; write .member, ->member or [element]")
            if step[1] == "->" or (step[3] and _bare(here.type).tag == "DW_TAG_pointer_type"):
                here = self._target(here, told)
                if step[3]:
                    here = replace(here, address=here.address + int(step[3]) * _size(here.type))
            elif step[3]:
                here = self._element(here, int(step[3]), told)
            if step[2]:
                here = self._member(here, step[2], told)
            told, rest = told + step[0], rest[step.end() :]
        return here

    def _target(self, place: _Place, told: str) -> _Place:
        """Follow a pointer to its target."""
        kind = _bare(place.type)
        if kind.tag != "DW_TAG_pointer_type" or "DW_AT_type" not in kind.attributes:
            raise SunsealError(f"`{told}` is {_spell(place.type)}, no pointer to follow")
        space = AVR_DATA if "AVR" in kind.dwarfinfo.config.machine_arch else 0
        return _Place(self._read(place) + space, _type(kind), place.path)

    @staticmethod
    def _member(place: _Place, name: str, told: str) -> _Place:
        members = dict(_members(_bare(place.type)))
        if name not in members:
            raise unknown("member", name, members, where=f"of `{told}`, which is {_spell(place.type)}")
        offset, kind, bits = members[name]
        return _Place(place.address + offset, kind, place.path, bits)

    @staticmethod
    def _element(place: _Place, index: int, told: str) -> _Place:
        if _bare(place.type).tag != "DW_TAG_array_type":
            raise SunsealError(f"`{told}` is {_spell(place.type)}, which has no elements")
        kind, counts = _array(_bare(place.type))
        if index >= counts[0]:
            raise SunsealError(f"`{told}` has {counts[0]} elements, so there is none of index {index}")
        inner = _Rows(kind, counts[1:]) if counts[1:] else kind
        return _Place(place.address + index * _size(inner), inner, place.path)

    def _named_type(self, name: str) -> DIE:
        word, _, rest = name.partition(" ")
        tags = {"struct": "DW_TAG_structure_type", "union": "DW_TAG_union_type", "enum": "DW_TAG_enumeration_type"}
        wanted = (tags[word], rest) if word in tags and rest else (None, name)
        names: set[str] = set()
        for top in self._units():
            for die in top.iter_children():
                if "DW_AT_declaration" in die.attributes or not (called := _text(die, "DW_AT_name")):
                    continue
                if die.tag in ("DW_TAG_typedef", "DW_TAG_base_type") or die.tag in tags.values():
                    if called == wanted[1] and (wanted[0] or die.tag) == die.tag:
                        return die
                    names.add(_spell(die))
        raise unknown("type", name, names, where="in the program's debug data")

    # --- What it holds ---------------------------------------------------------------------------

    def _read(self, place: _Place) -> Value:
        if place.bits is not None:
            return _field(place.type, self._memory.read(place.address, (sum(place.bits) + 7) // 8), place.bits)
        size = _size(place.type)
        return _decode(place.type, self._memory.read(place.address, size) if size else b"")

    def _write(self, place: _Place, value: Value) -> None:
        kind = _bare(place.type)
        if place.bits is not None:
            offset, width = place.bits
            size = (offset + width + 7) // 8
            number = _number(kind, value, width, place.path)
            held = int.from_bytes(self._memory.read(place.address, size), "little")
            held = held & ~((1 << width) - 1 << offset) | (number & (1 << width) - 1) << offset
            self._memory.write(place.address, held.to_bytes(size, "little"))
        elif kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
            if not isinstance(value, Mapping):
                raise SunsealError(f"`{place.path}` is {_spell(place.type)}: give a dictionary of its members")
            for name, item in value.items():
                self._write(self._member(place, name, place.path), item)
        elif kind.tag == "DW_TAG_array_type":
            counts = _array(kind)[1]
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != counts[0]:
                raise SunsealError(f"`{place.path}` is {_spell(place.type)}: give {counts[0]} elements")
            for index, item in enumerate(value):
                self._write(self._element(place, index, place.path), item)
        else:
            self._memory.write(place.address, _encode(kind, value, place.path))


class Item:
    """A variable, or a part of one, as a debugger shows it: name, type, value, place, and what is in it."""

    def __init__(self, variables: Variables, place: _Place, name: str) -> None:
        """Stand for a place of a machine's memory."""
        self._variables, self._place = variables, place
        self.name = name

    @property
    def type(self) -> str:
        """Return its type as C writes it."""
        return _spell(self._place.type)

    @property
    def value(self) -> Value:
        """Read the value of the variable."""
        return self._variables._read(self._place)

    @property
    def address(self) -> int | None:
        """Return where it lies in memory; None where it does not."""
        return None if self._place.address >= HELD else self._place.address

    @property
    def is_pointer(self) -> bool:
        """Tell whether it is a pointer."""
        return self._place.bits is None and _bare(self._place.type).tag == "DW_TAG_pointer_type"

    def put(self, value: Value) -> None:
        """Write the value of the variable."""
        self._variables._write(self._place, value)

    def part(self, rest: str) -> Item:
        """Go on by `.member`, `->member` and `[element]`."""
        return Item(self._variables, self._variables._walked(self._place, self.name, rest.strip()), self.name + rest)

    @property
    def counts(self) -> tuple[int, int]:
        """Count its members, or what it points to, and its elements."""
        kind = _bare(self._place.type)
        if self._place.bits is not None:
            return 0, 0
        if kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
            return len(dict(_members(kind))), 0
        if kind.tag == "DW_TAG_array_type":
            return 0, (_array(kind)[1] or [0])[0]
        return int(self._leads_on(kind)), 0

    def _leads_on(self, kind: DIE) -> bool:
        """Tell whether it is a pointer to something that can be read."""
        if kind.tag != "DW_TAG_pointer_type" or "DW_AT_type" not in kind.attributes or not self.value:
            return False
        target = _bare(_type(kind)) if _has_type(_type(kind)) else None
        return (
            target is not None
            and target.tag != "DW_TAG_subroutine_type"
            and ("DW_AT_byte_size" in target.attributes or target.tag in ("DW_TAG_array_type", "DW_TAG_pointer_type"))
        )

    def parts(self, most: int) -> list[Item]:
        """List its members, its first so many elements, or what it points to."""
        kind, own = _bare(self._place.type), self._variables
        if kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
            return [Item(own, own._member(self._place, name, self.name), name) for name, _ in _members(kind)]
        if kind.tag == "DW_TAG_array_type":
            count = min(self.counts[1], most)
            return [Item(own, own._element(self._place, i, self.name), f"[{i}]") for i in range(count)]
        return [Item(own, own._target(self._place, self.name), f"*{self.name}")] if self.counts[0] else []


def _has_type(die: DIE) -> bool:
    """Tell whether what names and qualifies a type leads to one: `const void` does not."""
    while die.tag in _WRAPPERS:
        if "DW_AT_type" not in die.attributes:
            return False
        die = _type(die)
    return True


class _Rows:
    """Element of an array of several dimensions: an array without its first dimension."""

    tag = "DW_TAG_array_type"

    def __init__(self, kind: DIE, counts: list[int]) -> None:
        self.kind, self.counts = kind, counts


def _text(die: DIE, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode(errors="replace") if found is not None else ""


def _declared(die: DIE) -> DIE:
    """Return the entry that names a variable: its declaration, where the definition refers to one."""
    for way in ("DW_AT_specification", "DW_AT_abstract_origin"):
        if way in die.attributes:
            return die.get_DIE_from_attribute(way)
    return die


def _expression(die: DIE, block: list[int]) -> list[Any]:
    from elftools.dwarf.dwarf_expr import DWARFExprParser

    return list(DWARFExprParser(die.cu.structs).parse_expr(block))


def _type(die: DIE) -> DIE:
    if "DW_AT_type" not in die.attributes:
        raise SunsealError(f"`{_text(die, 'DW_AT_name') or die.tag}` has no type in the debug data")
    return die.get_DIE_from_attribute("DW_AT_type")


def _bare(die: DIE) -> DIE:
    """Return the type under its names and qualifiers."""
    while die.tag in _WRAPPERS:
        die = _type(die)
    return die


def _parameter(die: DIE) -> Parameter:
    kind, bare = _type(die), _bare(_type(die))
    numbers = (_BOOL, _SIGNED, _SIGNED_CHAR, _UNSIGNED, _UNSIGNED_CHAR)
    is_number = bare.tag == "DW_TAG_enumeration_type" or _encoding(bare) in numbers
    what: Literal["integer", "float", "pointer", "other"] = "integer" if is_number else "other"
    if bare.tag == "DW_TAG_pointer_type":
        what = "pointer"
    elif _encoding(bare) == _FLOAT and _size(bare) in (4, 8):
        what = "float"
    return Parameter(_text(die, "DW_AT_name"), _spell(kind), _size(bare), what, is_number and _signed(bare))


def _array(die: DIE) -> tuple[DIE, list[int]]:
    """Return the type of an array's elements and its dimensions; one without a bound has none."""
    if isinstance(die, _Rows):
        return die.kind, die.counts
    counts = []
    for child in die.iter_children():
        if child.tag == "DW_TAG_subrange_type":
            count, upper = child.attributes.get("DW_AT_count"), child.attributes.get("DW_AT_upper_bound")
            bound = int(count.value) if count else int(upper.value) + 1 if upper else 0
            counts.append(max(bound, 0))
    return _type(die), counts


def _size(die: DIE) -> int:
    bare = _bare(die)
    if bare.tag == "DW_TAG_array_type":
        kind, counts = _array(bare)
        size = _size(kind)
        for count in counts:
            size *= count
        return size
    if "DW_AT_byte_size" in bare.attributes:
        return int(bare.attributes["DW_AT_byte_size"].value)
    if bare.tag == "DW_TAG_pointer_type":
        # Addresses are 4 bytes in clang's debug data for the MSP430, whose pointers are 2 in the small model it knows.
        return 2 if "msp430" in bare.dwarfinfo.config.machine_arch else int(bare.cu["address_size"])
    raise SunsealError(f"{_spell(die)} has no size in the debug data; it is declared, not defined")


def _members(die: DIE) -> Iterator[tuple[str, tuple[int, DIE, tuple[int, int] | None]]]:
    """Go through members: name, offset in bytes, type, and a bit-field's offset and width from there."""
    for child in die.iter_children():
        if child.tag != "DW_TAG_member":
            continue
        attributes = child.attributes
        start = attributes["DW_AT_data_member_location"].value if "DW_AT_data_member_location" in attributes else 0
        if isinstance(start, list):  # DWARF 2 adds it to the structure's address by an expression
            start = _expression(child, start)[0].args[0]
        offset, kind, bits = int(start), _type(child), None
        if "DW_AT_bit_size" in attributes:
            width = int(attributes["DW_AT_bit_size"].value)
            if "DW_AT_data_bit_offset" in attributes:
                low = int(attributes["DW_AT_data_bit_offset"].value) + 8 * offset
            else:  # DWARF 3 counts from the storage unit's highest bit (section 5.5.6)
                unit = attributes.get("DW_AT_byte_size")
                of = int(unit.value) if unit else _size(kind)
                low = 8 * (offset + of) - int(attributes["DW_AT_bit_offset"].value) - width
            offset, bits = low // 8, (low % 8, width)
        name = _text(child, "DW_AT_name")
        if name:
            yield name, (offset, kind, bits)
        else:  # an unnamed structure's members are the outer one's
            for inner, (more, of_kind, of_bits) in _members(_bare(kind)):
                yield inner, (offset + more, of_kind, of_bits)


def _spell(die: DIE) -> str:
    """Return a type as C writes it."""
    words = {
        "DW_TAG_const_type": "const ",
        "DW_TAG_volatile_type": "volatile ",
        "DW_TAG_structure_type": "struct ",
        "DW_TAG_union_type": "union ",
        "DW_TAG_enumeration_type": "enum ",
    }
    if die.tag == "DW_TAG_array_type":
        kind, counts = _array(die)
        return _spell(kind) + "".join(f"[{count}]" for count in counts)
    if die.tag == "DW_TAG_pointer_type":
        return (_spell(_type(die)) if "DW_AT_type" in die.attributes else "void") + " *"
    if die.tag == "DW_TAG_subroutine_type":
        return "a function"
    if die.tag in ("DW_TAG_const_type", "DW_TAG_volatile_type"):
        return words[die.tag] + (_spell(_type(die)) if "DW_AT_type" in die.attributes else "void")
    return words.get(die.tag, "") + (_text(die, "DW_AT_name") or "without a name")


def _encoding(die: DIE) -> int:
    found = die.attributes.get("DW_AT_encoding")
    return int(found.value) if found is not None else 0


_BOOL, _FLOAT, _SIGNED, _SIGNED_CHAR, _UNSIGNED, _UNSIGNED_CHAR = 2, 4, 5, 6, 7, 8


def _signed(die: DIE) -> bool:
    if die.tag == "DW_TAG_enumeration_type":
        return any(int(c.attributes["DW_AT_const_value"].value) < 0 for c in die.iter_children())
    return _encoding(die) in (_SIGNED, _SIGNED_CHAR)


def _decorated(die: DIE, number: int) -> Value:
    """Give a number its enumerator, or the look of a truth value."""
    if die.tag == "DW_TAG_enumeration_type":
        names = {int(c.attributes["DW_AT_const_value"].value): _text(c, "DW_AT_name") for c in die.iter_children()}
        return Enumerated(number, names.get(number))
    return bool(number) if _encoding(die) == _BOOL else number


def _field(die: DIE, raw: bytes, bits: tuple[int, int]) -> Value:
    """Make a value of the bytes that hold a bit-field."""
    kind, (low, width) = _bare(die), bits
    number = int.from_bytes(raw, "little") >> low & (1 << width) - 1
    negative = _signed(kind) and number >> (width - 1)
    return _decorated(kind, number - (1 << width) if negative else number)


def _decode(die: DIE, raw: bytes) -> Value:
    """Make a value of the bytes of a type."""
    kind = _bare(die)
    if kind.tag == "DW_TAG_array_type":
        of, counts = _array(kind)
        inner = _Rows(of, counts[1:]) if counts[1:] else of
        if not counts[1:] and _encoding(_bare(of)) in (_SIGNED_CHAR, _UNSIGNED, _UNSIGNED_CHAR) and _size(of) == 1:
            return raw
        size = _size(inner)
        return [_decode(inner, raw[at * size : (at + 1) * size]) for at in range(counts[0] if counts else 0)]
    if kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
        values = {}
        for name, (offset, of, bits) in _members(kind):
            size = _size(of) if bits is None else (sum(bits) + 7) // 8
            part = raw[offset : offset + size]
            values[name] = _decode(of, part) if bits is None else _field(of, part, bits)
        return values
    if _encoding(kind) == _FLOAT:
        return _float(kind).unpack(raw)[0]
    return _decorated(kind, int.from_bytes(raw, "little", signed=_signed(kind)))


def _float(die: DIE) -> struct.Struct:
    sizes = {4: "<f", 8: "<d"}
    if _size(die) not in sizes:
        raise SunsealError(f"{_spell(die)} of {_size(die)} bytes is neither a float nor a double of IEEE 754")
    return struct.Struct(sizes[_size(die)])


def _number(die: DIE, value: Value, width_bits: int, path: str) -> int:
    """Check that a number, or an enumerator's name, fits."""
    if isinstance(value, str) and die.tag == "DW_TAG_enumeration_type":
        named = {_text(c, "DW_AT_name"): int(c.attributes["DW_AT_const_value"].value) for c in die.iter_children()}
        if value not in named:
            raise unknown("enumerator", value, named, where=f"of {_spell(die)}")
        value = named[value]
    try:
        number = value.__index__()
    except AttributeError:
        raise SunsealError(f"`{path}` is {_spell(die)}: give an integer, not {value!r}") from None
    low, high = (-1 << width_bits - 1, 1 << width_bits - 1) if _signed(die) else (0, 1 << width_bits)
    if not low <= number < high:
        raise SunsealError(f"{number} does not fit `{path}`, {_spell(die)}: it holds {low} to {high - 1}")
    return int(number)


def _encode(die: DIE, value: Value, path: str) -> bytes:
    """Make the bytes of a value of a type without members."""
    size = _size(die)
    if _encoding(die) == _FLOAT:
        try:
            return _float(die).pack(value)
        except (struct.error, OverflowError, TypeError):
            raise SunsealError(f"`{path}` is {_spell(die)}: {value!r} does not fit it") from None
    return _number(die, value, 1 if _encoding(die) == _BOOL else 8 * size, path).to_bytes(
        size, "little", signed=_signed(die)
    )
