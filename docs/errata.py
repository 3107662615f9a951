# SPDX-License-Identifier: MIT OR Apache-2.0
"""Errata of chips and radios, from data/errata: what silicon does, what that means for a program, what happens here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sunseal.catalog import boards

FOLDER = Path(__file__).resolve().parents[1] / "data" / "errata"
MODELS = ("follows", "does not", "not concerned")
"""Words for how a run here shows an erratum. Not concerned: it lies in what is not modelled and traps, or is out of
reach."""

HEAD = {"document", "read", "unread", "none", "erratum"}
FIELDS = ("id", "revisions", "silicon", "program", "model", "here", "source")


class ErrataError(ValueError):
    """A file of data/errata that says something wrong; its sentence names the file."""


def read(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """Read and check the errata of a chip or part."""
    path = folder / f"{name}.toml"
    told = boards.read_toml(path)
    for fault in faults(told):
        raise ErrataError(f"data/errata/{path.name}: {fault}")
    return told


def faults(told: Mapping[str, Any]) -> Iterable[str]:
    """Yield what is wrong in a file, a sentence each."""
    yield from (f"unknown key `{key}`; known are {', '.join(sorted(HEAD))}" for key in told.keys() - HEAD)
    if not _is_text(told.get("document")):
        yield "`document` must name the maker's list"
    errata = told.get("erratum", [])
    if bool(errata) == ("none" in told):
        yield "it must have either tables [[erratum]] or a sentence `none` that says why there are none"
    elif not _is_text(told.get("none" if "none" in told else "read")):
        yield (
            "`none` must say why there are no errata" if "none" in told else "`read` must say what of the list was read"
        )
    for number, erratum in enumerate(errata, 1):
        place = f"erratum {erratum.get('id', number)}"
        for key in erratum.keys() - {*FIELDS, "recalled"}:
            yield f"{place}: unknown key `{key}`; known are {', '.join(FIELDS)} and recalled"
        yield from (f"{place}: `{key}` must be a sentence" for key in FIELDS if not _is_text(erratum.get(key)))
        if erratum.get("model") not in MODELS:
            yield f"{place}: `model` must be one of {', '.join(MODELS)}"
        if not isinstance(erratum.get("recalled", False), bool):
            yield f"{place}: `recalled` must be true or false"
    named = [str(e.get("id")) for e in errata] + list(told.get("unread", []))
    yield from (f"`{name}` stands there twice" for name in sorted({n for n in named if named.count(n) > 1}))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def section(name: str) -> tuple[list[str], list[tuple[tuple[str, ...], ...]]]:
    """Return the sentences above a chip's or part's table of errata, and its rows: cells of lines."""
    facts = read(name)
    if "none" in facts:
        return [f"Maker's list: {facts['document']}. {facts['none']}."], []
    above = [f"Maker's list: {facts['document']}. Read: {facts['read']}."]
    if unread := facts.get("unread"):
        above.append(f"On the list, but its text not read, and not looked for in the model: {', '.join(unread)}.")
    return above, [
        (
            (f"**{e['id']}**", f"revisions: {e['revisions']}"),
            (f"{e['silicon']}.", f"({e['source']}{', partly from memory' if e.get('recalled') else ''})"),
            (f"{e['program']}.",),
            (f"**{e['model']}**: {e['here']}.",),
        )
        for e in facts["erratum"]
    ]
