# SPDX-License-Identifier: MIT OR Apache-2.0
"""The one contract of all that judges: passed, findings or undecided, and the status with which a command ends.

A verdict can pass only where something was compared and nothing is left open: that rule stands here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sunseal.answers.shown import Shown
from sunseal.errors import STATUS, FindingsError, UndecidedError, Word

NOTHING = "nothing was compared"


@dataclass(frozen=True)
class Finding:
    """One thing that speaks against what was judged."""

    rule: str
    """Kind of finding, a word: `not-survived`, `branch`, `not-met`."""
    told: str
    """Sentence for a person."""
    place: str = ""
    """Function and offset, or a name, as it was told."""
    file: str | None = None
    line: int | None = None

    @classmethod
    def at(cls, rule: str, told: str, place: str) -> Finding:
        """Make a finding at a place whose source line, where it has one, ends it: `main+0x16 (sum.c:33)` or `a.c:3`."""
        found = re.search(r"(?:^|\()([^()]+):(\d+)\)?$", place)
        return cls(rule, told, place, found[1] if found else None, int(found[2]) if found else None)


@dataclass(frozen=True)
class Verdict(Shown):
    """Outcome of a judgement: what speaks against it, how much was compared, what is left open."""

    of: str
    """Thing that was judged, as the command was asked: `inject sum.elf`."""
    compared: int
    """Number of comparisons that were made; with none a verdict is undecided, whatever else holds."""
    findings: tuple[Finding, ...] = ()
    open: tuple[str, ...] = ()
    """Questions that the comparisons leave open, a sentence each."""
    parts: tuple[Verdict, ...] = ()
    """Verdicts that it is made of, as of a table's rows or a matrix's cells."""

    @classmethod
    def joined(cls, of: str, parts: Iterable[Verdict], findings: Iterable[Finding] = ()) -> Verdict:
        """Join verdicts: findings of one are findings of all, and what one leaves open is open in all."""
        parts = tuple(parts)
        found = (*findings, *(f for part in parts for f in part.findings))
        left = tuple(dict.fromkeys(f"{part.of}: {why}" for part in parts if not part.findings for why in part.why))
        return cls(of, sum(part.compared for part in parts), found, left, parts)

    @property
    def word(self) -> Word:
        """The verdict in a word."""
        return "findings" if self.findings else "undecided" if self.why else "passed"

    @property
    def why(self) -> tuple[str, ...]:
        """All that is left open; empty where it passed."""
        return self.open if self.compared or self.open else (NOTHING,)

    @property
    def passed(self) -> bool:
        """True where something was compared, nothing speaks against it and nothing is left open."""
        return self.word == "passed"

    @property
    def exit_status(self) -> int:
        """The command's exit status."""
        return STATUS[self.word]

    def to_dict(self) -> dict[str, Any]:
        """Return the keys by which every judging command tells its verdict in JSON."""
        return {"verdict": self.word, "why": list(self.why)}


def judged(error: FindingsError | UndecidedError, of: str) -> Verdict:
    """Return the verdict that an error is: a judgement that could not be made, or that refutes what was asked for."""
    if isinstance(error, UndecidedError):
        return Verdict(of, 0, open=(str(error),))
    return Verdict(of, 1, (Finding("refuted", str(error)),))


def listed(names: Sequence[str], most: int = 5) -> str:
    """Name the first of many."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
