# SPDX-License-Identifier: MIT OR Apache-2.0
"""Journal of a long question's answers: what an interrupted call leaves, and the same call goes on from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sunseal.answers import writing
from sunseal.errors import SunsealError


class Answers:
    """Answers by name, in memory and, where there is a file, as its lines; the first line says what was asked."""

    def __init__(self, path: Path | None, asked: Mapping[str, Any]) -> None:
        """Read what an earlier call has left; another question's journal is refused."""
        self.path = path
        self._known: dict[str, Any] = {}
        if path is None:
            return
        if not path.exists():
            writing.write_atomic(path, json.dumps({"asked": dict(asked)}) + "\n")
            return
        lines = path.read_bytes().splitlines(keepends=True)
        head = _object(lines[0]) if lines else None
        if head is None or "asked" not in head:
            raise SunsealError(f"`{path}` is no journal of answers", hint="name another file, or move it away")
        differs = [key for key in {**head["asked"], **asked} if head["asked"].get(key) != asked.get(key)]
        if differs:
            was, now = head["asked"].get(differs[0]), asked.get(differs[0])
            raise SunsealError(
                f"`{path}` keeps answers to another question: `{differs[0]}` was {was} and is {now}",
                hint="name another file for this one",
            )
        # The last line may have been cut while it was written.
        whole = [line for line in lines[1:] if line.endswith(b"\n")]
        found = [told for line in whole if (told := _object(line)) is not None and "name" in told]
        self._known = {told["name"]: told["answer"] for told in found}
        if len(found) < len(lines) - 1:
            kept = [json.dumps(head), *(json.dumps(told) for told in found)]
            writing.write_atomic(path, "".join(f"{line}\n" for line in kept))

    def get(self, name: str) -> Any | None:
        """Return an answer that is known."""
        return self._known.get(name)

    def keep(self, name: str, answer: Any) -> None:
        """Add an answer, which JSON holds without loss."""
        self._known[name] = answer
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "answer": answer}) + "\n")

    def __len__(self) -> int:
        """Count the answers that there are."""
        return len(self._known)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None
