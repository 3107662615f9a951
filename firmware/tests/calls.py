# SPDX-License-Identifier: MIT OR Apache-2.0
"""A known answer as one call of one C function: the same on the host and on every simulated target."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import model
import numpy as np
import vectors

CURVES = {curve.name: curve for curve in model.CURVES}
ERROR_H = Path(__file__).resolve().parents[1] / "crypto" / "include" / "sunseal" / "error.h"
ERRORS = {
    name: int(value) for name, value in re.findall(r"SUNSEAL_ERR_(\w+) = (-\d+)", ERROR_H.read_text(encoding="utf-8"))
}
"""What the library may answer, by name."""
PENDING = 1
"""`SUNSEAL_PENDING`: call again."""
VECTORS = Path(__file__).resolve().parents[2] / "data" / "vectors"


@dataclass(frozen=True)
class Pointed:
    """A pointer to bytes."""

    data: bytes


class In(Pointed):
    """A pointer to bytes that the function only reads."""


class InOut(Pointed):
    """A pointer to bytes that the function reads and writes."""


@dataclass(frozen=True)
class Out:
    """A pointer to so many bytes that the function writes; full of 0xA5 before."""

    size: int


@dataclass(frozen=True)
class Named:
    """The address of what the library has under a name."""

    name: str


class Symbol(Named):
    """The address of an object of the library, such as `sunseal_aes128_tbox`."""


class Function(Named):
    """The address of a function of the library, as a member of a structure."""


@dataclass(frozen=True)
class Into:
    """A pointer into the buffer of another argument of the same call."""

    argument: int
    offset: int


@dataclass(frozen=True)
class Struct:
    """A pointer to a structure of pointers and NumPy numbers, laid out as the target's compiler does it."""

    members: tuple[In | InOut | Out | Symbol | Function | Struct | np.integer[Any], ...]


Argument = In | InOut | Out | Symbol | Into | Struct | int | np.integer[Any]


@dataclass(frozen=True)
class Part:
    """One of several functions that are called one behind the other: again while it answers `PENDING`."""

    function: str
    arguments: tuple[int, ...]
    """Which of the call's."""


@dataclass(frozen=True)
class Call:
    """One function, its arguments, and what must come of it."""

    name: str
    """Source and number of the vector, such as "wycheproof aes_ccm 12: flipped bit in the tag"."""
    group: str
    """Which `library-<group>.elf` holds the function."""
    function: str
    args: tuple[Argument, ...]
    expected: int | tuple[int, ...] | None
    """The return value; one of several, where the vectors name no reason; None for a void function."""
    outputs: tuple[bytes | None, ...]
    """What the InOut and Out arguments hold afterwards, in their order, those of structures in their place; None
    is not looked at."""
    slow: bool = False
    """Hundreds of millions of cycles: slow targets run a sample of these."""
    parts: tuple[Part, ...] = ()
    """What is called instead of `function`, which then is only what the row is named by; the last answer counts."""


def load(name: str) -> Any:
    """Read one file of data/vectors."""
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


STEPPED_BYTES = {"secp160r1": (92, 280, 120), "p224": (124, 344, 156), "p256": (140, 360, 176)}
"""Of the structures of a scalar multiplication, a signature and a coupon in steps (sunseal/ecdsa_steps.h)."""


def in_steps(call: Call) -> Call:
    """A key pair, a signature or a coupon by its functions in steps: with the same entropy the same bytes."""
    curve, _, operation = call.function.removeprefix("sunseal_ecdsa_").partition("_")
    point, signature, coupon = STEPPED_BYTES[curve]
    if operation == "keygen":
        stem, size, begun, step = f"scalarmul_{curve}", point, (0, 2, 3), (0,)
        (d, _), (_, q, entropy) = call.outputs, call.args
        assert d is not None
        args: tuple[Argument, ...] = (InOut(bytes(size)), q, In(d), entropy)
        outputs = call.outputs[1:]
    elif operation == "sign":
        stem, size, begun, step = f"ecdsa_{curve}_sign", signature, (0, 2, 3, 4, 5), (0,)
        args, outputs = (InOut(bytes(size)), *call.args), call.outputs
    else:
        stem, size, begun, step = f"ecdsa_{curve}_offline", coupon, (0, 2), (0, 1)
        args, outputs = (InOut(bytes(size)), *call.args), call.outputs
    parts = [Part(f"sunseal_{stem}_begin", begun), Part(f"sunseal_{stem}_step", step)]
    if operation != "sign_offline":
        parts.append(Part(f"sunseal_{stem}_finish", (0, 1)))
    name = f"{call.name}, in steps"
    wiped = bytes(size)
    return replace(
        call, name=name, function=parts[1].function, args=args, outputs=(wiped, *outputs), parts=tuple(parts)
    )


def first() -> Iterator[Call]:
    """The cases of the two curves and the hashes, as calls."""
    for case in vectors.cases():
        curve = f"sunseal_ecdsa_{case.algorithm}_{case.operation}"
        blocks = tuple(map(In, case.inputs))
        size = len(case.expected)
        if case.operation == "keygen":
            private = CURVES[case.algorithm].order_bytes
            yield Call(
                case.name,
                "ecc",
                curve,
                (Out(private), Out(size - private), *blocks),
                0,
                (case.expected[:private], case.expected[private:]),
            )
        elif case.operation == "sign":
            d, digest, added = blocks
            args = (Out(size), d, digest, len(digest.data), added)
            if added.data:
                yield Call(case.name, "ecc", curve, args, 0, (case.expected,))
            else:
                # Without added entropy, as RFC 6979 prints them, the library signs for tests only.
                yield Call(case.name, "ecc", f"{curve}_added", (*args, 0), 0, (case.expected,))
        elif case.operation == "verify":
            q, signature, digest = blocks
            n = CURVES[case.algorithm].n
            half = len(signature.data) // 2
            r, s = (int.from_bytes(part, "big") for part in (signature.data[:half], signature.data[half:]))
            in_range = 0 < r < n and 0 < s < n
            # u1 G + u2 Q may be infinity where r and s are in range.
            refusals = ("SIGNATURE", "INFINITY") if in_range else ("SIGNATURE_RANGE",)
            yield Call(
                case.name,
                "ecc",
                curve,
                (q, signature, digest, len(digest.data)),
                0 if case.expected == b"\x01" else tuple(ERRORS[name] for name in refusals),
                (),
                slow=True,
            )


def cases() -> Iterator[Call]:
    """All calls: of the first two curves, of the modules vectors_<family>, and what those must refuse."""
    known = list(first())
    for path in sorted(Path(__file__).parent.glob("vectors_*.py")):
        known += import_module(path.stem).cases()
    yield from known
    for call in known:
        if call.expected == 0 and re.fullmatch(r"sunseal_ecdsa_\w+_(keygen|sign|sign_offline)", call.function):
            yield in_steps(call)
    yield from import_module("refused").cases(known)
