# SPDX-License-Identifier: MIT OR Apache-2.0
"""The one error a user meets: a sentence that names what is wrong, where, and what would be right."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable
from typing import ClassVar, Literal

Word = Literal["passed", "findings", "undecided"]
STATUS: dict[Word, int] = {"passed": 0, "findings": 1, "undecided": 3}
"""Exit status of a command by its verdict; one that judges nothing and is done ends with 0, too."""
WRONG = 2
"""Exit status where the question or its input is wrong, so that there is no answer."""


class SunsealError(Exception):
    """Wrong input. The text is one sentence; `hint` says what to do next, if there is a next step."""

    status: ClassVar[int] = WRONG
    """With which a command ends where nobody catches it."""
    word: ClassVar[str] = "error"

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        """Keep the sentence as the exception's text and the hint beside it."""
        super().__init__(sentence)
        self.hint = hint


class UndecidedError(SunsealError):
    """A judgement that could not be made: nothing was compared, or something was not followed."""

    status = STATUS["undecided"]
    word = "undecided"


class FindingsError(SunsealError):
    """A judgement that found something where the answer would be a figure, which there is none then."""

    status = STATUS["findings"]
    word = "findings"


class MissingToolError(SunsealError):
    """A tool that not every user installs; the text says which, and how to get it."""


class Stopped(Exception):  # noqa: N818  # it is no error
    """Ctrl-C or SIGTERM in the middle of something long. The text says what is left and how to go on."""


EXTRAS = {
    "jinja2": "plots",
    "markupsafe": "plots",
    "matplotlib": "plots",
    "pvlib": "climate",
    "scipy": "statistics",
    "h5py": "traces",
    "pyarrow": "traces",
    "pyjls": "traces",
    "vcd": "traces",
    "distributed": "fleet",
    "optuna": "search",
    "sp80022suite": "randomness",
    "sp800_90b": "randomness",
}
"""Packages that not every user installs, and the extra of pyproject.toml that brings each."""


def missing_of(extra: str) -> list[str]:
    """List the packages of an extra that are not installed."""
    return [name for name, of in EXTRAS.items() if of == extra and importlib.util.find_spec(name) is None]


def absent(missing: ModuleNotFoundError) -> SunsealError:
    """Build the error for a package that is not installed, with the extra that brings it."""
    package = (missing.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    return SunsealError(
        f"this needs the package `{package}`, which is not installed",
        hint=f"`pip install 'sunseal[{extra}]'` brings it" if extra else f"`pip install {package}` may bring it",
    )


LISTED_MOST, NEAREST = 16, 3
"""Names that a sentence still bears; of more it holds so many, the nearest."""
LISTS = {
    "part": "parts",
    "part or board": "parts",
    "battery": "parts --kind cell",
    "radio": "parts --kind radio",
    "converter of a battery": "parts --kind converter",
    "board": "boards",
    "device": "boards",
    "device or board": "boards",
    "workload": "workloads",
    "operation": "workloads",
}
"""Kinds of names, and the command of `sunseal` that lists them."""


def unknown(kind: str, name: str, known: Iterable[str], where: str = "", listed: str = "") -> SunsealError:
    """Build the error for a name that is not one of the known ones, with the nearest of them.

    `listed` says where they stand if they are too many for a sentence.
    """
    choices = sorted(known)
    # A key that stands in another table than was thought is nearer than any of like letters.
    elsewhere = [c for c in choices if "." in c and c.rpartition(".")[2] == name.rpartition(".")[2]]
    near = elsewhere or difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    told = f"known: {', '.join(choices) or 'none'}"
    if len(choices) > LISTED_MOST:
        nearest = difflib.get_close_matches(name, choices, n=NEAREST, cutoff=0.0)
        told = f"nearest: {', '.join(nearest)}, of {len(choices)}"
        told += f"; `sunseal {LISTS[kind]}` lists them" if kind in LISTS else ""
    place = f" {where}" if where else ""
    return SunsealError(
        f"unknown {kind} `{name}`{place}; {listed or told}",
        hint=f"did you mean `{near[0]}`?" if near else None,
    )
