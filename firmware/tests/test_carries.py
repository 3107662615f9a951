# SPDX-License-Identifier: MIT OR Apache-2.0
"""A carry that is dropped anywhere in the field of P-256 gives a wrong result, on every target and on the host.

What a routine executes does not depend on its operands, so that one call shows all of its instructions. Each that takes
a carry or a borrow is made, in the program memory of the simulated part, one that forgets it, and some of the operands
below must then give a wrong result. The few that no operand tells from the right ones never take a carry: the first of
a chain, and what adds to an end that has room.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_fields import BUILD, LIBRARIES, OPERATIONS, Operation, family, has, machine, numbers

from sunseal import EngineError, Machine, SunsealError
from sunseal.machine import abi

FIELD = "fe256"
NEVER = {"avr": 31, "msp430": 5, "arm": 9}
"""Instructions to which no carry ever comes, at most: the first of a chain, an end that has room, 14 of AVR's half."""
NO_MATTER = {"sunseal_product8_sqr+0xa"}
"""Takes the highest bit of limb 0 into twice limb 1, where the products leave it out: any operand would tell."""

MOST_CYCLES = 1_000_000
"""A hundred times the longest routine's: one that was changed may run in circles."""

Call = Callable[..., int]
"""A field's routine, of numbers to a number."""


def operands(operation: Operation) -> list[tuple[int, ...]]:
    """Tuples of operands: limbs that are all ones, nearly, or zero, and results beside 0, p and 2^n."""
    field, rng, arity = operation.field, random.Random(operation.function), operation.arity
    bits, p = 8 * field.size_bytes, field.p
    radix = 1 << bits

    def limbs(width: int) -> int:
        top = (1 << width) - 1
        return sum(rng.choice((0, 1, top >> 1, top - 1, top, top)) << at for at in range(0, bits, width))

    def run() -> int:
        ones = ((1 << rng.randrange(1, bits)) + rng.choice((-1, 0, 1))) << rng.choice((0, 8, 32, 64, 96, 128))
        return ones % radix

    found = [tuple(limbs(width) for _ in range(arity)) for width in (8, 16, 32, 64, 128) for _ in range(24)]
    found += [tuple(run() for _ in range(arity)) for _ in range(80)]
    # What is left once 2^n or p has been taken off, or put on: low ends that carry or borrow through every limb.
    ends = {0, 1, radix - p - 2}
    for at in range(0, bits, 16):
        ends |= {1 << at, (1 << at) - 1, (radix - p) >> at << at, limbs(32) % (1 << at + 1), limbs(16) >> at << at}
    for end in sorted(e for e in ends if e < radix - p - 1):
        by = rng.randrange(radix - p - 1 - end)
        found += {
            "add": [(radix - 1 - by, p + 1 + end + by)],  # a + b = 2^n + p + end
            "sub": [(by, p + 1 + end + by)],  # a - b = -p - 1 - end
            # 2 b - a = p + end, 2 p + end and 2^n + p + end
            "sub2": [
                (by & -2 | (p + end) & 1, (k + end + (by & -2 | k + end & 1)) // 2) for k in (p, 2 * p, radix + p)
            ],
            "three_halves": [((k + end) // 3,) for k in (p, radix, 2 * p, radix + p, 2 * radix)],
        }.get(operation.name, [])
    for _ in range(400 if operation.name in ("mul", "mul_sub") else 0):
        # The product as it is before the last subtraction: 2^n and an end.
        end = rng.choice(sorted(ends)) if rng.random() < 0.5 else limbs(rng.choice((16, 32)))
        a, value = radix - 1 - rng.getrandbits(160), (radix + end) % p
        if a % p == 0:
            continue
        b = value * field.scale * pow(a, -1, p) % p
        b += p if b + p < radix else 0
        before = (a * b + (-a * b * pow(p, -1, radix)) % radix * p) >> bits if field.scale > 1 else 0
        if before >= radix:
            found.append((a, b, (value + p + end % (radix - p)) % radix)[:arity])
    extremes = numbers(field)
    found += [tuple(rng.choice(extremes) for _ in range(arity)) for _ in range(60)]
    found += [tuple(rng.getrandbits(bits) for _ in range(arity)) for _ in range(20)]
    return [values for values in found if all(0 <= v < radix for v in values)]


def wrong(operation: Operation, call: Call, tuples: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The first operands whose result differs."""
    p = operation.field.p
    return next((values for values in tuples if (call(*values) - operation.value(*values)) % p), None)


def on_target(m: Machine, operation: Operation) -> Call:
    """The routine as a function of numbers."""
    size, convention, back = operation.field.size_bytes, abi.of(m.device), m.address("main")
    m.release()
    first = m.place((1 + operation.arity) * size)
    places = [first + i * size for i in range(1 + operation.arity)]
    function, top = m.address(operation.function), convention.stack(m)

    def call(*values: int) -> int:
        m.write(places[1], b"".join(value.to_bytes(size, "little") for value in values))
        # Machine.call without the measure of its stack.
        convention.enter(m, function, places, back)
        m.run(until=back, cycles=MOST_CYCLES)
        if m.pc != back:
            raise SunsealError(f"{operation.function} has not returned after {MOST_CYCLES} cycles")
        convention.leave(m, top)
        return int.from_bytes(m.read(places[0], size), "little")

    return call


def executed(m: Machine, operation: Operation) -> list[int]:
    """The addresses of the instructions that a call executes."""
    m.release()
    places = [m.place(operation.field.size_bytes) for _ in range(1 + operation.arity)]
    back, before, found = m.address("main"), m.snapshot(), set[int]()
    abi.of(m.device).enter(m, m.address(operation.function), places, back)
    while m.pc != back:
        found.add(m.pc)
        m.step()
    m.restore(before)
    return sorted(found)


def without_carry(device: str, code: bytes) -> bytes | None:
    """The instruction that forgets the carry or borrow which this one takes; None for one that takes none."""
    first = int.from_bytes(code[:2], "little")
    second = code[2:4]
    if device.startswith("msp430"):
        other = {6: 5, 7: 8}.get(first >> 12)  # ADDC, SUBC
        return None if other is None else (other << 12 | first & 0xFFF).to_bytes(2, "little")
    if device.startswith("atmega"):
        for mask, takes, other in ((0xFC00, 0x1C00, 0x0C00), (0xFC00, 0x0800, 0x1800), (0xF000, 0x4000, 0x5000)):
            if first & mask == takes:  # ADC, SBC, SBCI
                return (other | first & ~mask & 0xFFFF).to_bytes(2, "little")
        return None
    for takes, other in ((0x4140, 0x1800), (0x4180, 0x1A00)):
        if first & 0xFFC0 == takes:  # ADCS, SBCS of two low registers
            return (other | (first >> 3 & 7) << 6 | (first & 7) << 3 | first & 7).to_bytes(2, "little")
    for takes, other in ((0xEB40, 0xEB00), (0xEB60, 0xEBA0), (0xF140, 0xF100), (0xF160, 0xF1A0)):
        if first & 0xFBE0 == takes & 0xFBE0 and first & 0xEBE0 == takes & 0xEBE0:
            return (other | first & 0x041F).to_bytes(2, "little") + second
    return None


def mutants(m: Machine, operation: Operation) -> Iterator[tuple[int, bytes, bytes]]:
    """Where a carry is taken, what stands there, and what forgets it."""
    for at in executed(m, operation):
        code = m.read(at, 4)
        if (other := without_carry(m.device, code)) is not None:
            yield at, code[: len(other)], other


def carries(m: Machine, at: int, calls: list[tuple[Call, list[tuple[int, ...]]]]) -> set[bool]:
    """What the carry is whenever the program comes to an instruction."""
    register, bit = {"avr": ("SREG", 0), "msp430": ("SR", 0), "arm": ("xPSR", 29)}[family(m)]
    seen = set[bool]()
    m.hook(at, lambda m: seen.add(bool(m.registers[register] >> bit & 1)))
    for call, tuples in calls:
        for values in tuples:
            call(*values)
    m.unhook(at)
    return seen


@pytest.mark.parametrize(
    "library",
    [path for path in LIBRARIES if path.stem in ("library-ecc", "library-ecc-p256")],
    ids=lambda path: "-".join(path.parts[-3:-1]),
)
def test_a_dropped_carry_gives_a_wrong_result(library: Path) -> None:
    m = machine(library)
    alive: dict[int, list[Operation]] = {}
    killed, found = set[int](), 0
    for operation in OPERATIONS:
        if operation.field.name != FIELD or not has(m, operation.function):
            continue
        tuples = operands(operation)
        changed, call, clean = list(mutants(m, operation)), on_target(m, operation), m.snapshot()
        assert wrong(operation, call, tuples) is None
        m.restore(clean)
        for at, code, other in changed:
            if at in killed:
                continue
            found += at not in alive
            m.write(at, other)
            try:
                survives = wrong(operation, call, tuples) is None
            except EngineError:
                survives = False
            m.restore(clean)
            m.write(at, code)
            if survives:
                alive.setdefault(at, []).append(operation)
            else:
                killed.add(at)
    left = {at: where for at, where in alive.items() if at not in killed and m.describe(at) not in NO_MATTER}
    assert found > 100
    for at, where in left.items():
        told = carries(m, at, [(on_target(m, operation), operands(operation)) for operation in where])
        assert len(told) == 1, f"{m.describe(at)} takes a carry, and nothing tells when it does not"
    assert len(left) <= NEVER[family(m)], [m.describe(at) for at in left]


@pytest.mark.parametrize("name", ["mul", "sqr", "add", "sub"])
def test_carries_on_the_host(name: str) -> None:
    """The portable twin, whose carries are sums of wider words: dropped by hand, it falls to the same operands."""
    library = ctypes.CDLL(str(BUILD / "host" / "libsunseal.so"))
    (operation,) = (o for o in OPERATIONS if o.field.name == FIELD and o.name == name)

    def call(*values: int) -> int:
        buffers = [ctypes.create_string_buffer(value.to_bytes(32, "little"), 32) for value in (0, *values)]
        getattr(library, operation.function)(*buffers)
        return int.from_bytes(buffers[0].raw, "little")

    assert wrong(operation, call, operands(operation)) is None
