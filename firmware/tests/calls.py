# SPDX-License-Identifier: MIT OR Apache-2.0
"""A known answer as one call of one C function: the same on the host and on every simulated target."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

VECTORS = Path(__file__).resolve().parents[2] / "data" / "vectors"


@dataclass(frozen=True)
class In:
    """A pointer to bytes that the function only reads."""

    data: bytes


@dataclass(frozen=True)
class InOut:
    """A pointer to bytes that the function reads and writes."""

    data: bytes


@dataclass(frozen=True)
class Out:
    """A pointer to so many bytes that the function writes; full of 0xA5 before."""

    size: int


Argument = In | InOut | Out | int | np.integer[Any]


@dataclass(frozen=True)
class Call:
    """One function, its arguments, and what must come of it."""

    name: str
    """Source and number of the vector, such as "wycheproof aes_ccm 12: flipped bit in the tag"."""
    group: str
    """Which `library-<group>.elf` holds the function."""
    function: str
    args: tuple[Argument, ...]
    expected: int | None
    """The return value; None for a void function."""
    outputs: tuple[bytes | None, ...]
    """What the InOut and Out arguments hold afterwards, in their order; None is not looked at."""
    slow: bool = False
    """Hundreds of millions of cycles: slow targets run a sample of these."""


def load(name: str) -> Any:
    """Read one file of data/vectors."""
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def cases() -> Iterator[Call]:
    """All calls of all the modules beside this one that are named vectors_<family>."""
    for path in sorted(Path(__file__).parent.glob("vectors_*.py")):
        yield from import_module(path.stem).cases()
