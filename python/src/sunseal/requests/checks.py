# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks of a program under test, as a Python file of the user's has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sunseal.errors import SunsealError

if TYPE_CHECKING:
    from sunseal.machine.machine import Argument, Machine, Place

Invariant = Callable[["Machine"], object]
"""Fails by `AssertionError` or by returning False."""
Call = Callable[["Machine"], "tuple[Place, *tuple[Argument, ...]]"]
"""Puts arguments in place and says what to call: a function and its arguments."""
Points = Literal["cycles", "writes"] | Sequence[int]


@dataclass(frozen=True)
class Checks:
    """Checks that a file of them brings."""

    invariants: list[Invariant]
    setup: Invariant | None
    call: Call | None


def checks(path: Path) -> Checks:
    """Read a Python file: its functions `check_*`, and `setup` and `call` if they are there."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as e:
        raise SunsealError(f"the checks `{path}` cannot be read: {e.strerror or e}") from e
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), names)  # the user's own file, named by the user
    except Exception as e:
        raise SunsealError(f"the checks `{path}` do not run: {type(e).__name__}: {e}") from e
    invariants = [f for n, f in names.items() if n.startswith("check_") and callable(f)]
    found = Checks(invariants, names.get("setup"), names.get("call"))
    if not invariants and found.setup is None and found.call is None:
        raise SunsealError(f"`{path}` has no function `check_...(machine)`, `setup(machine)` or `call(machine)`")
    return found
