# SPDX-License-Identifier: MIT OR Apache-2.0
"""Instructions of a machine: as they lie in its memory, and as they ran, with the registers behind each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from sunseal import _engine
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Trace: TypeAlias = "NDArray[np.void]"
    """A row an instruction: columns `address`, `cycle` (in which it began), `cycles`, `text`, and the registers."""

MOST = 500_000
"""Number of instructions that a trace holds unless it is told otherwise: with 16 registers 40 MB."""
COLUMNS = ("address", "cycles", "text")
"""Columns in front of the registers in a row of the engine's."""


@dataclass(frozen=True)
class Instruction:
    """An instruction as it lies in memory."""

    address: int
    data: bytes
    text: str
    """Mnemonic and operands as the maker's manual writes them; `.word` where the bytes are no instruction."""


def disassemble(inner: _engine.Machine, start: int, size_bytes: int) -> list[Instruction]:
    """List the instructions of a range of memory, the last of them whole."""
    found = []
    for address, length, text in _engine.disassemble(inner, start, start + size_bytes):
        data = bytes(inner.read(address, length))
        found.append(Instruction(address, data, text or f".word {int.from_bytes(data, 'little'):#06x}"))
    return found


def trace(
    inner: _engine.Machine, most: int, goal: tuple[int | None, int | None, list[int], str | None]
) -> tuple[Trace, tuple[str, str]]:
    """Run to a goal; return what ran and how the run ended: `fault`, `state` where the trace was full, or a goal."""
    import numpy as np

    if most < 1:
        raise SunsealError(f"a trace of {most} instructions holds nothing: give `most` as 1 or more")
    ended, names, began, words, texts = _engine.trace(inner, most, *goal)
    told = np.frombuffer(words, dtype="<u4").reshape(-1, len(COLUMNS) + len(names))
    fields: list[tuple[str, Any]] = [("address", "u4"), ("cycle", "u8"), ("cycles", "u4"), ("text", object)]
    rows = np.empty(len(told), dtype=[*fields, *((name, "u4") for name in names)])
    rows["cycle"] = np.frombuffer(began, dtype="<u8")
    for i, name in enumerate((*COLUMNS, *names)):
        rows[name] = np.array(texts, dtype=object)[told[:, i]] if name == "text" else told[:, i]
    return rows, ended


def full(most: int) -> SunsealError:
    """Build the error for a run that is longer than its trace may be."""
    return SunsealError(
        f"the trace holds {most:,} instructions, and the run goes on behind them",
        hint="give a nearer end, or in Python a larger `most`",
    )
