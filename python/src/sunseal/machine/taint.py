# SPDX-License-Identifier: MIT OR Apache-2.0
"""Secret bytes followed through a run: what they decide, and what the runs could not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sunseal.answers.shown import Shown
from sunseal.answers.verdicts import NOTHING, Finding, Verdict
from sunseal.errors import Word

if TYPE_CHECKING:
    from sunseal.machine.machine import Machine

Judged = Literal["clean", "findings", "undecided"]
CALLED: dict[Word, Judged] = {"passed": "clean", "findings": "findings", "undecided": "undecided"}
"""Words for a verdict here: `clean` says more than that something passed."""
TOLD = {
    "branch": "a branch depends on secret data",
    "address": "an address depends on secret data",
    "cached-address": "an address behind a cache depends on secret data",
    "time": "the time of an instruction depends on secret data",
}
UNSEEN = (
    "A run shows the paths that it took: other public inputs may lead elsewhere (--input FILE). Not judged: code that "
    "did not run, what happened before the marks were set, and what the model of the chip leaves out."
)


@dataclass(frozen=True)
class Leak:
    """An instruction that lets marked data out by the way it runs."""

    kind: str
    """branch, address, cached-address, or time."""
    pc: int
    count: int
    place: str
    """Place of the finding: function and offset."""
    line: str | None
    """Source file and line, where the image has debug data."""
    instruction: str

    @property
    def told(self) -> str:
        """Tell what marked data does there, for a sentence."""
        return TOLD.get(self.kind, f"marked data shows by {self.kind}")


@dataclass(frozen=True)
class Secret:
    """Fate of the bytes of one secret, over all runs."""

    name: str
    bytes: int
    read: int
    """So many were read in some run."""
    overwritten: int
    """So many were overwritten in some run before they were read."""


@dataclass(frozen=True)
class Block:
    """A peripheral block that was given marked data."""

    name: str
    followed: bool
    place: str | None
    """The instruction that gave it marked data first; none for a transfer by DMA."""


@dataclass(frozen=True)
class Covered:
    """Coverage of the runs of a verdict."""

    runs: int
    secrets: list[Secret]
    functions: list[str]
    """Functions that ran while a register or what they read was marked."""
    code_bytes: int
    """Bytes of code of all functions of the image."""
    code_bytes_run: int
    blocks: list[Block]
    unseen: str = UNSEEN

    @property
    def code_share(self) -> float:
        """Share of the image's code that ran while marks were followed."""
        return self.code_bytes_run / self.code_bytes if self.code_bytes else 0.0


@dataclass(frozen=True)
class ConstantTime(Shown):
    """Verdict of runs: `clean` is given only where secret bytes were read and nothing is left open."""

    findings: list[Leak]
    covered: Covered
    why: list[str]
    """Questions that are left open; not empty where the verdict is `undecided`."""

    @property
    def judged(self) -> Verdict:
        """The verdict; compared is how many secret bytes were read."""
        found = (
            Finding.at(leak.kind, f"{leak.told} at {leak.place}: {leak.instruction}", leak.line or leak.place)
            for leak in self.findings
        )
        read = sum(secret.read for secret in self.covered.secrets)
        names = ", ".join(secret.name for secret in self.covered.secrets)
        return Verdict(f"constant-time of {names or 'no secret'}", read, tuple(found), tuple(self.why))

    @property
    def verdict(self) -> Judged:
        """The verdict in a word."""
        return CALLED[self.judged.word]

    @property
    def exit_status(self) -> int:
        """The command's exit status."""
        return self.judged.exit_status

    def as_json(self) -> dict[str, Any]:
        """The verdict as the command prints it."""
        c = self.covered
        return {
            "verdict": self.verdict,
            "findings": [vars(leak) for leak in self.findings],
            "covered": {
                "runs": c.runs,
                "secrets": [vars(s) for s in c.secrets],
                "functions": c.functions,
                "code_bytes": c.code_bytes,
                "code_bytes_run": c.code_bytes_run,
                "code_share": c.code_share,
                "blocks": [vars(b) for b in c.blocks],
                "unseen": c.unseen,
            },
            "why": self.why,
        }


@dataclass
class Run:
    """One run with marked bytes, as the engine tells it."""

    names: list[str]
    """Names of the secrets."""
    leaks: list[Leak] = field(default_factory=list)
    fates: list[bytes] = field(default_factory=list)
    """A byte for each byte of each secret: 0 not read, 1 read, 2 overwritten unread."""
    blocks: list[Block] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    ran: list[tuple[int, int]] = field(default_factory=list)
    code_bytes: int = 0
    why: list[str] = field(default_factory=list)


ENDS = {
    "halted": "the program stopped for good",
    "time": "the time given was over",
    "cycles": "the cycles given were over",
    "brown-out": "the supply was lost",
}


def follow(
    machine: Machine,
    names: Sequence[str],
    secret: list[tuple[int, int]],
    public: list[tuple[int, int]],
    goal: tuple[int | None, int | None, list[int], str | None],
) -> Run:
    """Run the machine with the bytes of `secret` marked."""
    _, _, stops, pin = goal
    before = machine.resets
    (kind, what), leaks, (fates, blocks, functions, ran, code_bytes) = machine.engine.taint(secret, public, *goal)
    run = Run(list(names), [], [bytes(f) for f in fates], [Block(*b) for b in blocks], functions, ran, code_bytes)
    for leak in (Leak(*one) for one in leaks):
        if leak.kind == "unknown":
            run.why.append(f"marks end at {leak.place}: the instruction there is not in the image")
        else:
            run.leaks.append(leak)
    here = machine.describe(machine.pc)
    if kind == "fault":
        run.why.append(f"the run ended in a fault: {what}{resets(machine, before)}")
    elif kind in ENDS and (stops or pin or kind != "halted"):
        goals = [*map(machine.describe, stops), *([f"an edge of {pin}"] if pin else [])]
        early = f" before {' or '.join(goals)} was reached" if goals else " before the program came to its end"
        run.why.append(f"{ENDS[kind]}{early}, at {here}{resets(machine, before)}")
    return run


def resets(machine: Machine, since: int) -> str:
    """Tell the resets of a run, for the end of a sentence."""
    told = machine.explain_resets(since)
    return f"; meanwhile {told}" if told else ""


def judge(runs: Sequence[Run]) -> ConstantTime:
    """Join runs of one image with the same secrets to one verdict."""
    why: dict[str, None] = {}
    leaks: dict[tuple[int, str], Leak] = {}
    blocks: dict[tuple[str, bool], Block] = {}
    functions: dict[str, None] = {}
    for run in runs:
        why.update(dict.fromkeys(run.why))
        functions.update(dict.fromkeys(run.functions))
        for leak in run.leaks:
            old = leaks.get((leak.pc, leak.kind))
            count = leak.count + (old.count if old else 0)
            leaks[leak.pc, leak.kind] = Leak(**{**vars(leak), "count": count})
        for block in run.blocks:
            blocks.setdefault((block.name, block.followed), block)
    for block in blocks.values():
        if not block.followed:
            by = f"at {block.place}" if block.place else "by DMA"
            why[f"the block {block.name} was given secret data {by}: what it does with it is not followed"] = None
    secrets = []
    names = runs[0].names if runs else []
    for i, name in enumerate(names):
        each = [run.fates[i] for run in runs if run.fates]
        columns = list(zip(*each, strict=True))
        secret = Secret(name, len(columns), sum(1 in c for c in columns), sum(2 in c for c in columns))
        secrets.append(secret)
        if secret.overwritten:
            why[f"{secret.overwritten} of {secret.bytes} bytes of {name} were overwritten before they were read"] = None
        if each and not secret.read:
            why[f"no byte of {name} was read"] = None
    found = [leaks[key] for key in sorted(leaks)]
    ran = _union([span for run in runs for span in run.ran])
    code_bytes = max((run.code_bytes for run in runs), default=0)
    covered = Covered(len(runs), secrets, sorted(functions), code_bytes, ran, list(blocks.values()))
    if not why and not any(secret.read for secret in secrets):
        why[NOTHING] = None
    return ConstantTime(found, covered, list(why))


def _union(spans: list[tuple[int, int]]) -> int:
    """Bytes in any of the stretches."""
    total = end = 0
    for first, last in sorted(spans):
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total
