# SPDX-License-Identifier: MIT OR Apache-2.0
"""Documents that a result rests on: the `source` lines of the data files that entered, and the papers among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sunseal.answers.shown import Shown
from sunseal.catalog import boards

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """A document behind some of a data file."""

    file: str
    """From the repository's root; what is no file, such as computed light, has a name."""
    text: str
    """Document, with page or table where there is one."""
    note: str = ""
    recalled: bool = False
    """Written from memory of the document, and not read again."""
    assumed: str = ""
    """Reasons for figures that no document gives: why they are ours, and what would settle them."""


@dataclass(frozen=True)
class Paper:
    """One of the papers whose figures `sunseal reproduce` prints."""

    key: str
    cite: str

    def bibtex(self) -> str:
        """Write an entry from the line that cites the paper: authors, title, where, year."""
        pieces = self.cite.split(", ")
        authors = [p for p in pieces if re.match(r"[A-Z]\. ", p)]
        title, *where = pieces[len(authors) :]
        told = ", ".join(where)
        (year,) = re.findall(r"\d{4}", self.key)
        kind, place = "inproceedings", "booktitle"
        if "thesis" in told:
            kind, place = "mastersthesis", "school"
        elif "report" in told:
            kind, place = "techreport", "institution"
        fields = {
            "author": " and ".join(authors),
            "title": title,
            place: re.sub(rf"[, ]*{year}$", "", told).removeprefix("MSc thesis, "),
            "year": year,
        }
        return f"@{kind}{{{self.key},\n" + "".join(f"  {k} = {{{v}}},\n" for k, v in fields.items()) + "}"


@dataclass(frozen=True)
class Citations(Shown):
    """Sources that a result rests on. `str()` is for people, `bibtex()` for a paper, `frame()` for a notebook."""

    sources: tuple[Source, ...] = ()
    papers: tuple[Paper, ...] = ()

    def __add__(self, other: Citations) -> Citations:
        """Join two, each document of a file once."""
        return Citations(
            tuple(dict.fromkeys(self.sources + other.sources)), tuple(dict.fromkeys(self.papers + other.papers))
        )

    def __iter__(self) -> Iterator[Source]:
        """Go through the sources."""
        return iter(self.sources)

    def __len__(self) -> int:
        """Count how many sources there are."""
        return len(self.sources)

    def __str__(self) -> str:
        """Write a paper a line, then each file with its documents."""
        lines = [p.cite for p in self.papers]
        for file in dict.fromkeys(s.file for s in self.sources):
            lines.append(f"{file}:")
            lines += [
                f"  {s.text}{' (recalled, not read again)' if s.recalled else ''}"
                + (f" (assumed: {s.assumed})" if s.assumed else "")
                for s in self.sources
                if s.file == file
            ]
        return "\n".join(lines)

    @property
    def unchecked(self) -> list[str]:
        """Name the files of which something was written from memory and not read again."""
        return list(dict.fromkeys(s.file for s in self.sources if s.recalled))

    @property
    def assumed(self) -> list[str]:
        """Name the files of which something is our assumption and in no document."""
        return list(dict.fromkeys(s.file for s in self.sources if s.assumed))

    def unread(self) -> Iterator[tuple[str, str]]:
        """Yield a word and a sentence for the files with recalled figures, and for those with assumptions."""
        for word, told, files in (
            ("unchecked", "in part recalled, not read again", self.unchecked),
            ("assumed", "in part by us, in no document", self.assumed),
        ):
            if files:
                names = ", ".join(file.removeprefix("data/").removesuffix(".toml") for file in files)
                yield word, f"{told}: {names}"

    def bibtex(self) -> str:
        """Return a BibTeX entry for each of the papers; data sheets are in `sources`."""
        return "\n\n".join(p.bibtex() for p in self.papers)

    def frame(self) -> pd.DataFrame:
        """Return a row a source: file, text, note, recalled, assumed."""
        import pandas as pd

        return pd.DataFrame([asdict(s) for s in self.sources], columns=["file", "text", "note", "recalled", "assumed"])


NOTHING = Citations()


def of(
    *,
    board: str | None = None,
    power_sets: Iterable[str] = (),
    parts: Iterable[str] = (),
    papers: Iterable[str] = (),
    climate: Mapping[str, str] | None = None,
) -> Citations:
    """Collect what stands behind a board with its device, sets of coefficients, parts, papers and light.

    A paper is also found by its name in a file or in one of its sources.
    """
    found = NOTHING
    if board is not None:
        device = str(boards.board(board)["device"])
        found += _file(boards.device_path(device)) + _file(boards.board_path(board))
    for name in power_sets:
        found += _power_set(name.strip())
    for part in parts:
        found += _file(boards.part_path(part))
    if climate:
        found += Citations(
            tuple(Source("light", f"{key.replace('_', ' ')}: {value}") for key, value in climate.items())
        )
    known = _papers()
    return found + Citations(papers=tuple(known[key] for key in papers))


def of_scenario(scenario: Mapping[str, Any], power_sets: Iterable[str] = ()) -> Citations:
    """Collect what stands behind a scenario's board, its supply as the scenario changes it, and its coefficients.

    Without `power_sets`, those that the scenario or else its board names.
    """
    board = str(scenario["board"])
    told: Any = boards.board(board)
    named = [s for s in power_sets if s] or [scenario["power"].get("set") or told["power"]["set"]]
    if scenario.get("load"):  # its steps are currents: no set priced them, and no radio was there
        return of(board=board, parts=supply_parts(board, scenario["supply"]))
    parts = supply_parts(board, scenario["supply"])
    radio = scenario.get("radio") or told.get("radio", "none")
    if radio != "none":
        parts.append(str(radio["part"] if isinstance(radio, Mapping) else radio))
    return of(board=board, power_sets=map(str, named), parts=parts)


def supply_parts(board: str, changed: Mapping[str, Any] | None = None) -> list[str]:
    """Return the parts of a board's supply, or those that a scenario puts in their place."""
    told: Any = boards.board(board).get("supply", {})
    wished = {k: v for k, v in (changed or {}).items() if v is not None}
    named = {**told, **wished}
    if "charger" in wished and "output" in wished:
        named.pop("harvester", None)  # nothing of it is left
    if "cell" in wished and "capacitor" not in wished:
        named.pop("capacitor", None)
    known = boards.names("parts")
    return [str(v) for v in named.values() if v in known]


def _power_set(name: str) -> Citations:
    path = boards.power_set_path(name, "")
    told: Any = boards.read_toml(path)
    base = told["set"].get("extends")
    return _file(path) + (_power_set(str(base)) if base else NOTHING)


@cache
def _papers() -> dict[str, Paper]:
    found = {}
    for name in boards.names("published"):
        told: Any = boards.read_toml(boards.home() / "data" / "published" / f"{name}.toml").get("paper")
        if told is not None:
            found[told["key"]] = Paper(told["key"], told["cite"])
    return found


@cache
def _file(path: Path) -> Citations:
    """Read a file's sources, each once, and see whose paper they name."""
    told: Any = boards.read_toml(path)
    name = str(path.relative_to(boards.home()) if path.is_relative_to(boards.home()) else path)
    sources = tuple(dict.fromkeys(Source(name, *entry) for entry in _sources(told, _keys(told))))
    base = told.get("extends")
    for room in ("parts", "boards", "devices"):
        if isinstance(base, str) and (under := boards.library().find(room, base)) is not None:
            sources += _file(under).sources
    named = " ".join([path.stem, *(s.text for s in sources)]).lower()
    papers = tuple(p for key, p in _papers().items() if key in named or _spoken(key, named))
    return Citations(sources, papers)


def _keys(told: Mapping[str, Any]) -> frozenset[str]:
    """Return the short names under which a set of coefficients keeps its documents."""
    kept = told.get("source")
    return frozenset(kept) if isinstance(kept, dict) else frozenset()


def _sources(value: object, keys: frozenset[str]) -> Iterator[tuple[str, str, bool, str]]:
    if isinstance(value, list):
        for item in value:
            yield from _sources(item, keys)
    if not isinstance(value, dict):
        return
    text = value.get("source")
    if "document" in value:
        text = ", ".join(filter(None, (value["document"], value.get("place"))))
    if isinstance(text, str) and text not in keys:
        yield text, str(value.get("note", "")), bool(value.get("recalled", False)), str(value.get("assumed", ""))
    for item in value.values():
        yield from _sources(item, keys)


def _spoken(key: str, text: str) -> bool:
    """Say whether a text names a paper as people do: `Mane 2014` for mane2014, `Rizvi et al. 2009`."""
    match = re.fullmatch(r"([a-z]+)(\d{4})", key)
    return match is not None and re.search(rf"\b{match[1]}\b(?: et al\.?,?)? {match[2]}", text) is not None
