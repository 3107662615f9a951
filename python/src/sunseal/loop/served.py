# SPDX-License-Identifier: MIT OR Apache-2.0
"""A day before the real server: the scenario that is played, and the account that the server gives of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sunseal.catalog import boards
from sunseal.errors import SunsealError

ACCEPTED = 0
SIGNED_KINDS = ("response", "report")


def built_in(board: str = boards.DEFAULT_BOARD) -> Path:
    """Return the scenario that `sunseal demo` plays for a board."""
    boards.board_path(board)
    folder = boards.home() / "examples" / "scenarios"
    if board == boards.DEFAULT_BOARD:
        return folder / "day.toml"
    path = folder / f"node-{board}.toml"
    if not path.is_file():
        known = [boards.DEFAULT_BOARD, *sorted(p.stem.removeprefix("node-") for p in folder.glob("node-*.toml"))]
        raise SunsealError(
            f"{board} has no scenario with the node's program", hint=f"boards that have one: {', '.join(known)}"
        )
    return path


@dataclass(frozen=True)
class Served:
    """Account that the server gives of the day."""

    node: dict[str, Any]
    summary: dict[str, Any]
    events: list[dict[str, Any]]
    intruder: list[dict[str, Any]]
    """Messages sent under the node's name by somebody else, and the verdict on it."""

    def judged(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the events that carry a verdict, of these kinds."""
        return [e for e in self.events if e["kind"] in kinds and e["verdict"] is not None]

    def closing(self) -> dict[str, Any]:
        """Count what was asked, answered, verified and refused."""
        challenges = self.summary["challenges"]
        signed = self.judged(*SIGNED_KINDS)
        refused: dict[str, int] = {}
        for event in signed:
            if event["verdict"] != ACCEPTED:
                refused[event["verdict_name"]] = refused.get(event["verdict_name"], 0) + 1
        return {
            "asked": challenges["asked"],
            "answered": sum(1 for e in signed if e["kind"] == "response"),
            "reports": sum(1 for e in signed if e["kind"] == "report") - len(self.intruder),
            "verified": sum(1 for e in signed if e["verdict"] == ACCEPTED),
            "verified_by_kind": {
                kind: sum(1 for e in signed if e["kind"] == kind and e["verdict"] == ACCEPTED) for kind in SIGNED_KINDS
            },
            "refused": sum(refused.values()),
            "refused_by_verdict": dict(sorted(refused.items())),
            "challenges": challenges,
            "accepted_by_security_bits": self.summary["accepted_by_security_bits"],
            "intruder": self.intruder,
        }
