# SPDX-License-Identifier: MIT OR Apache-2.0
"""Field and long-number arithmetic of the built libraries, alone, against Python's integers.

`python -m pytest firmware/tests/test_fields.py` runs what `make -C firmware library` has built for
each board: results for random and extreme numbers and all overlaps of operands, one count of cycles
for all of them, no instruction that runs as the data want, and the registers that a caller keeps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from heads import heads
from table import COLUMNS

from sunseal import EngineError, Machine

BUILD = Path(__file__).resolve().parents[1] / "build"
# One board of each device: the others' libraries are the same.
LIBRARIES = sorted(path for column in COLUMNS for path in (BUILD / column).glob("library-ecc*.elf"))
"""One of all curves, or on an MSP430 one for each."""

KEPT = {
    "avr": [*(f"r{n}" for n in range(2, 18)), "r28", "r29"],
    "msp430": [f"R{n}" for n in range(4, 11)],
    "arm": [f"R{n}" for n in range(4, 12)],
}
"""The registers that a function gives back, by the calling convention's name."""


@dataclass(frozen=True)
class Field:
    """A prime field of the library."""

    name: str
    p: int
    size_bytes: int
    scale: int = 1
    """What a product is divided by (Montgomery)."""


FIELDS = [
    Field("fe160", 2**160 - 2**31 - 1, 20),
    Field("fe224", 2**224 - 2**96 + 1, 28),
    Field("fe256", 2**256 - 2**224 + 2**192 + 2**96 - 1, 32, 2**256),
    Field("fe25519", 2**255 - 19, 32),
]


@dataclass(frozen=True)
class Operation:
    """One function of a field and what it computes."""

    field: Field
    name: str
    arity: int
    value: Callable[..., int]

    @property
    def function(self) -> str:
        """Its C name."""
        return f"sunseal_{self.field.name}_{self.name}"


def operations() -> Iterator[Operation]:
    """List all functions of all fields."""
    for field in FIELDS:
        r = pow(field.scale, -1, field.p)
        yield Operation(field, "mul", 2, lambda a, b, r=r: a * b * r)
        yield Operation(field, "sqr", 1, lambda a, r=r: a * a * r)
        yield Operation(field, "add", 2, lambda a, b: a + b)
        yield Operation(field, "sub", 2, lambda a, b: a - b)
        if field.name == "fe25519":
            yield Operation(field, "mul121665", 1, lambda a: 121665 * a)
        else:
            half = pow(2, -1, field.p)
            yield Operation(field, "half", 1, lambda a, half=half: a * half)
            yield Operation(field, "three_halves", 1, lambda a, half=half: 3 * a * half)
            yield Operation(field, "sub2", 2, lambda a, b: a - 2 * b)
            yield Operation(field, "mul_sub", 3, lambda a, b, c, r=r: a * b * r - c)


OPERATIONS = list(operations())
OVERLAPS = {
    1: [(0, 1), (0, 0)],
    2: [(0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0)],
    3: [(0, 1, 2, 3), (0, 0, 1, 2), (0, 1, 0, 2), (0, 1, 2, 0), (0, 1, 1, 2), (0, 1, 2, 2), (0, 0, 0, 0)],
}
"""Which places the result and the operands take."""


def numbers(field: Field) -> list[int]:
    """Extremes of a field: what lies beside 0, p, 2^n, and runs of ones and zeros."""
    top = 1 << (8 * field.size_bytes)
    near = [0, field.p, 2 * field.p, top, top - field.p, top >> 1, 2 * (top - field.p)]
    found = {(n + d) % top for n in near for d in range(-2, 3)}
    found |= {((1 << k) - 1) << s & (top - 1) for k in (8, 32, 64, 96, 128) for s in (0, 8, 31, 64, 96, 128)}
    found |= {int.from_bytes(bytes([v]) * field.size_bytes, "little") for v in (0x55, 0x80, 0xAA, 0x7F, 0xFE)}
    half = field.size_bytes // 2
    ones = (1 << (8 * half)) - 1
    found |= {ones, ones << (8 * half), ones | 1 << (8 * half), top - 1 - ones + 1}
    return sorted(found)


def stated_cycles(function: str) -> int:
    """Read the count of cycles from the head of a routine for AVR."""
    (count,) = [head.base for head in heads() if head.name == function and head.file.stem.endswith("_avr")]
    return count


def family(m: Machine) -> str:
    """Name the kind of core."""
    return "avr" if m.device.startswith("at") else "arm" if m.device.startswith("msp432") else "msp430"


def has(m: Machine, function: str) -> bool:
    """Say whether a library has it: some operations are one core's alone."""
    try:
        m.address(function)
    except EngineError:
        return False
    return True


def machine(library: Path) -> Machine:
    """Start a library and stop it in main."""
    m = Machine(library.parents[1].name, library)
    m.run(until="main")
    return m


def kept(m: Machine) -> list[str]:
    """Name the registers that a function must give back."""
    return KEPT[family(m)]


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Machine:
    """One machine for each library."""
    return machine(request.param)


def test_a_library_is_built() -> None:
    """Without one, the tests below would be none."""
    assert LIBRARIES, "run `make -C firmware library`"


CURVES = {"library-ecc-secp160r1": "fe160", "library-ecc-p224": "fe224", "library-ecc-p256": "fe256"}
CURVES |= {"library-ecc-25519": "fe25519"}
"""The field of a library of one curve; `library-ecc` has all of them."""
CORTEX_M4 = ("three_halves", "sub2", "mul_sub", "negate_if", "pick", "abscissa")
"""Routines that the Cortex-M4 alone has: elsewhere they are calls of the others."""


def is_in(library: Path, function: str) -> bool:
    """Say whether a library is to have a function: of its curve, and not the Cortex-M4's alone."""
    _, field, routine = function.split("_", 2)
    own = CURVES.get(library.stem, field)
    return field == own and (routine not in CORTEX_M4 or library.parts[-3].startswith("msp432"))


def on_libraries(name: str, functions: dict[str, object]) -> pytest.MarkDecorator:
    """Run a test with each value of a parameter, by the function it calls, on each library that has that."""
    cases = [
        pytest.param(path, value, id="-".join((*path.parts[-3:-1], path.stem[8:], function[8:])))
        for path in LIBRARIES
        for function, value in functions.items()
        if is_in(path, function)
    ]
    return pytest.mark.parametrize(("target", name), cases, indirect=["target"])


def test_libraries_have_what_their_tests_call_and_nothing_is_left_out_by_mistake() -> None:
    """What `is_in` leaves out is not there, and what it takes is."""
    functions = [operation.function for operation in OPERATIONS]
    functions += [f"sunseal_{field.name}_{routine}" for field in FIELDS[:3] for routine in ("negate_if", "pick")]
    for path in LIBRARIES:
        m = Machine(path.parents[1].name, path)
        for function in (*functions, "sunseal_fe160_abscissa"):
            try:
                m.address(function)
                there = True
            except EngineError:
                there = False
            assert there == is_in(path, function), (path, function)


@on_libraries("operation", {operation.function: operation for operation in OPERATIONS})
def test_field(target: Machine, operation: Operation) -> None:
    """Right results with any overlap, in one count of cycles, and the caller's registers kept."""
    field, m = operation.field, target
    size = field.size_bytes
    m.release()
    places = [m.place(size) for _ in range(4)]
    rng = random.Random(operation.function)
    extremes = numbers(field)
    tuples = [tuple(rng.choice(extremes) for _ in range(operation.arity)) for _ in range(150)]
    tuples += [tuple(rng.getrandbits(8 * size) for _ in range(operation.arity)) for _ in range(50)]
    if operation.arity == 1:
        tuples += [(a,) for a in extremes]
    overlaps = OVERLAPS[operation.arity]
    cycles = set()
    for n, values in enumerate(tuples):
        where = [places[i] for i in overlaps[n % len(overlaps)]]
        for place, value in zip(where[1:], values, strict=True):
            m.write(place, value.to_bytes(size, "little"))
        given = [int.from_bytes(m.read(place, size), "little") for place in where[1:]]
        for register in kept(m):
            m.registers[register] = 0x5A
        cycles.add(m.call(operation.function, *where).cycles)
        got = int.from_bytes(m.read(where[0], size), "little")
        assert (got - operation.value(*given)) % field.p == 0, [hex(v) for v in (*given, got)]
        assert all(m.registers[register] == 0x5A for register in kept(m))
        for place, value in zip(where[1:], given, strict=True):
            assert place == where[0] or int.from_bytes(m.read(place, size), "little") == value
    assert len(cycles) == 1, cycles
    if family(m) == "avr":
        assert cycles == {stated_cycles(operation.function)}


@on_libraries("operation", {operation.function: operation for operation in OPERATIONS})
def test_field_is_constant_time(target: Machine, operation: Operation) -> None:
    """No instruction runs as the operands want."""
    m, size = target, operation.field.size_bytes
    m.release()
    rng = random.Random(0)
    places = [m.place(rng.randbytes(size)) for _ in range(operation.arity + 1)]
    # What stands at the result is never read.
    assert m.leaks([(place, size) for place in places[1:]], call=(operation.function, *places)) == []


@on_libraries("field", {f"sunseal_{field.name}_negate_if": field for field in FIELDS[:3]})
def test_negation_by_mask(target: Machine, field: Field) -> None:
    """The number itself, or its negative modulo p; the Cortex-M4 has it as one routine."""
    function, size = f"sunseal_{field.name}_negate_if", field.size_bytes
    target.release()
    place, cycles = target.place(size), set()
    for value in numbers(field):
        for mask in (0, 0xFFFF):
            target.write(place, value.to_bytes(size, "little"))
            for register in kept(target):
                target.registers[register] = 0x5A
            cycles.add(target.call(function, place, np.uint16(mask)).cycles)
            got = int.from_bytes(target.read(place, size), "little")
            assert (got + value) % field.p == 0 if mask else got == value
            assert all(target.registers[register] == 0x5A for register in kept(target))
    assert len(cycles) == 1, cycles
    assert target.leaks([(place, size)], call=(function, place, np.uint16(0xFFFF))) == []


@on_libraries("field", {"sunseal_fe160_abscissa": FIELDS[0]})
def test_abscissa(target: Machine, field: Field) -> None:
    """x - h - 2 s, and s less that, as an addition of points wants them."""
    function = "sunseal_fe160_abscissa"
    target.release()
    rng, cycles = random.Random(function), set()
    places = [target.place(20) for _ in range(3)]
    for _ in range(200):
        values = [rng.choice([*numbers(field), rng.getrandbits(160)]) for _ in range(3)]
        for place, value in zip(places, values, strict=True):
            target.write(place, value.to_bytes(20, "little"))
        for register in kept(target):
            target.registers[register] = 0x5A
        cycles.add(target.call(function, *places).cycles)
        got = [int.from_bytes(target.read(place, 20), "little") for place in places]
        x, h, s = values
        assert got[1] == h
        assert (got[0] - x + h + 2 * s) % field.p == 0, [hex(v) for v in values]
        assert (got[2] - s + got[0]) % field.p == 0, [hex(v) for v in values]
        assert all(target.registers[register] == 0x5A for register in kept(target))
    assert len(cycles) == 1, cycles
    assert target.leaks([(place, 20) for place in places], call=(function, *places)) == []


@on_libraries("field", {f"sunseal_{field.name}_pick": field for field in FIELDS[:3]})
def test_pick(target: Machine, field: Field) -> None:
    """Each point of a table, and its negative."""
    function, size = f"sunseal_{field.name}_pick", field.size_bytes
    target.release()
    rng, cycles = random.Random(function), set()
    ordinates = [1, field.p - 1, *(rng.randrange(1, field.p) for _ in range(30))]
    points = [(rng.getrandbits(8 * size), y) for y in ordinates]
    table = target.place(b"".join(v.to_bytes(size, "little") for point in points for v in point))
    place = target.place(2 * size)
    for number, (x, y) in enumerate(points):
        for mask in (0, 0xFFFF):
            for register in kept(target):
                target.registers[register] = 0x5A
            cycles.add(target.call(function, place, table, np.uint16(number), np.uint16(mask)).cycles)
            want = x.to_bytes(size, "little") + (field.p - y if mask else y).to_bytes(size, "little")
            assert target.read(place, 2 * size) == want
            assert all(target.registers[register] == 0x5A for register in kept(target))
    assert len(cycles) == 1, cycles
