# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pages of boards, chips and parts, from data/: what is modelled and what not, and what it draws by which document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import errata

from sunseal import _engine
from sunseal.catalog import boards, units
from sunseal.planner import asleep

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
Facts = Mapping[str, Any]


def toctree(pages: Iterable[str], caption: str = "", depth: int = 1, hidden: bool = False) -> str:
    """Write a list of pages."""
    options = [f":caption: {caption}"] * bool(caption) + [f":maxdepth: {depth}"] + [":hidden:"] * hidden
    return "\n".join(["```{toctree}", *options, "", *pages, "```", ""])


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write a table; one without rows is nothing."""
    lines = ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    if not lines:
        return ""
    names = list(head)
    return "\n".join(["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *lines, ""])


BREAK = "\v"
"""Sign that stands for a new line within a cell."""


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace(BREAK, "<br>")


def read(room: str, name: str) -> dict[str, Any]:
    """Read a data file of the tree."""
    return boards.read_toml(ROOT / "data" / room / f"{name}.toml")


def names(room: str) -> list[str]:
    """List the data files of a room of the tree; those of the user are not documentation."""
    return sorted(p.stem for p in (ROOT / "data" / room).glob("*.toml"))


def preface(room: str, name: str) -> str:
    """Return the comment at the head of a data file: what it is and where its figures come from."""
    lines = (ROOT / "data" / room / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    head = []
    for line in lines[1:]:
        if not line.startswith("#"):
            break
        head.append(line.removeprefix("#").strip())
    return " ".join(head)


def value(told: Any) -> str:
    """Write a fact as its cell."""
    if isinstance(told, bool):
        return "yes" if told else "no"
    if isinstance(told, Mapping):
        return ", ".join(f"{k} = {value(v)}" for k, v in told.items())
    if isinstance(told, list):
        return ", ".join(value(v) for v in told)
    return f"`{told}`" if str(told) else "none"


META = ("source", "recalled", "assumed", "name")


def facts(told: Facts, skip: Iterable[str] = ()) -> str:
    """Write each table of a data file, with its source."""
    lines = []
    for key, block in told.items():
        if not isinstance(block, Mapping) or key in skip:
            continue
        lines += [
            f"### {key}",
            "",
            table(("key", "value"), ((f"`{k}`", _fact(key, v)) for k, v in block.items() if k not in META)),
        ]
        lines += [sourced(block), ""]
    return "\n".join(lines)


def _fact(key: str, told: Any) -> str:
    return _at(told) if key == "vectors" and isinstance(told, int) else value(told)


def _at(number: int) -> str:
    """Write an address as such, and the number of an interrupt as such."""
    return f"`{number:#06x}`" if number > 0xFF else f"`{number}`"


def sourced(block: Facts) -> str:
    """Say where a block's figures come from."""
    recalled = " Written from memory of that source, not read again." if block.get("recalled") else ""
    assumed = f" Assumed: {block['assumed']}." if "assumed" in block else ""
    return f"Source: {block['source']}.{recalled}{assumed}".replace("<", "&lt;") if "source" in block else ""


def missing(part: str) -> str:
    """List what of a device or part is not modelled."""
    rows = boards.gaps(part)
    if not rows:
        return "No gap is on record.\n"
    if not any(addresses for _, addresses, _ in rows):
        return table(("block", "what happens, and why"), ((block, told) for block, _, told in rows))
    return table(("block", "addresses", "what happens, and why"), rows)


def power_set(name: str, depth: int = 3) -> str:
    """Write what a power set says that a chip or part draws, and by which document."""
    told = read("power", name)
    head = told["set"]
    lines = [f"{'#' * depth} {name}", "", f"{head['title']}. {head.get('cite', '')}", ""]
    if "extends" in head:
        lines += [f"What does not stand here is that of `{head['extends']}`.", ""]
    rows: list[tuple[Any, ...]] = [
        (f"`{c['component']}`", f"`{c['state']}`", c.get("law", ""), _drawn(c), c.get("source", ""))
        for c in told.get("current", ())
    ]
    lines.append(table(("component", "state", "law", "current", "source"), rows))
    rows = [(f"`{e['event']}`", _drawn(e), e.get("source", "")) for e in told.get("event", ())]
    lines.append(table(("event", "charge or energy", "source"), rows))
    rows = [
        (key, f"{s.get('document', '')}, {s.get('place', '')}", BREAK.join(_read(s)))
        for key, s in told.get("source", {}).items()
    ]
    lines.append(table(("source", "document and place", "how it was read"), rows))
    return "\n".join(lines)


def _read(source: Facts) -> Iterator[str]:
    """Yield how a source of a power set was read, and the marks that it bears."""
    if "note" in source:
        yield source["note"]
    if source.get("recalled"):
        yield "Written from memory of the document."
    if "assumed" in source:
        yield f"Assumed: {source['assumed']}."


KEPT = ("component", "state", "event", "law", "source", "rows")
SCALES = {
    "hz": (1, "Hz"),
    "mhz": (1e6, "Hz"),
    "v": (1, "V"),
    "ma": (1e-3, "A"),
    "ua": (1e-6, "A"),
    "na": (1e-9, "A"),
    "nc": (1e-9, "C"),
    "uc": (1e-6, "C"),
    "nj": (1e-9, "J"),
    "uj": (1e-6, "J"),
    "pf": (1e-12, "F"),
}
"""Units at the end of a key of data/power, in SI."""
CONDITIONS = {"vcore": "core at", "vcc": "", "mclk": "", "aclk_from": "ACLK from", "aclk_below": "ACLK below"}


def _drawn(row: Facts) -> str:
    own = {k: v for k, v in row.items() if k not in KEPT}
    rows = row.get("rows", ())
    unnamed = {"vcore"} if {r.get("vcore") for r in rows} == {0} else set()  # a chip of one level has none to name
    lines = [_coefficient({k: v for k, v in r.items() if k not in unnamed}) for r in rows]
    return BREAK.join([*([_coefficient(own)] if own else []), *lines])


def _coefficient(row: Facts) -> str:
    """Write one row of a power set: under which conditions it holds, and how much it is."""
    where, what = [], []
    for key, told in row.items():
        name, _, unit = key.rpartition("_")
        if key == "vcore":
            where.append(f"level {told}")
        elif key == "uncertainty_rel":
            what.append(f"± {100 * told:g} %")
        elif key in ("vcc_rel_per_v", "vcc_slope_rel_per_v"):
            what.append(f"{'±' if key == 'vcc_rel_per_v' else '+'} {100 * told:g} % per volt away from there")
        elif key == "typ_ua_per_mhz":
            what.append(f"{told:g} µA/MHz")
        elif key == "same_as":
            what.append(f"that of `{told['component']}` `{told['state']}`")
        elif key in {"plus", "smclk_above_1mhz"}:
            further = _coefficient({k: v for k, v in told.items() if k != "source"})
            what.append(f"and {'for SMCLK above 1 MHz' if key != 'plus' else 'always'} {further}")
        elif key == "reason":
            what.append(told)
        elif unit in SCALES:
            scale, si = SCALES[unit]
            shown = ", ".join(units.show(v * scale, si) for v in (told if isinstance(told, list) else [told]))
            if name in CONDITIONS:
                where.append(f"{CONDITIONS[name]} {shown}".strip())
            else:
                what.append({"typ": shown, "max": f"at most {shown}"}.get(name, f"`{name}` {shown}"))
        else:
            what.append(f"{key} {value(told)}")
    return ": ".join(", ".join(part) for part in (where, what) if part)


def of_chips() -> Iterator[tuple[str, str, str]]:
    """Write a page a chip."""
    pages = sorted((DOCS / "accuracy").glob("*.md"))
    headings = [(p.stem, h) for p in pages for h in re.findall(r"^#+ (.+)$", p.read_text(encoding="utf-8"), re.M)]
    rows = []
    for name in names("devices"):
        told = read("devices", name)
        carriers = [b for b in names("boards") if boards.board(b)["device"] == name]
        on = ", ".join(f"[{b}](../boards/{b}.md)" for b in carriers)
        rows.append((f"[{name.upper()}]({name}.md)", told["core"], on))
        levels = _engine.levels(str(ROOT / "data" / "devices" / f"{name}.toml"))
        near = [(p, h) for p, h in headings if name.upper() in h.upper() or h in OF_CORES.get(told["core"], ())]
        lines = [f"# {name.upper()}", "", _lead(name), ""]
        lines += [f"Core: `{told['core']}`, family: `{told['family']}`. Boards: {on or 'none'}.", ""]
        lines += ["## Clock and voltage", "", table(("clock up to", "supply from"), _levels(levels))]
        lines += ["## Memory", "", _memory(told)]
        lines += ["## Not modelled", "", missing(name)]
        lines += ["## Errata and assumptions", "", ERRATA, "", errata_of(name), ASSUMPTIONS, ""]
        lines += [f"- [{h}](../accuracy/{p}.md#{anchor(h)})" for p, h in near] or ["- [Accuracy](../accuracy.md)"]
        lines += ["", "## What it draws", "", DRAWS, ""]
        lines += [power_set(p) for p in names("power") if read("power", p)["set"].get("device") == name]
        lines += ["## What is modelled", "", _blocks(told), facts(told), listed(told)]
        yield "chips", name, "\n".join(lines)
    body = ["# Chips", "", table(("chip", "core", "boards"), rows), toctree(names("devices"), hidden=True)]
    yield "chips", "index", "\n".join(body)


ERRATA = (
    "What the model *does not* show goes unnoticed here: a program without the workaround runs, and fails on the chip. "
    "*Not concerned* is an erratum in what is not modelled: reaching for it traps, or nothing here can."
)
ASSUMPTIONS = "Where silicon is known to differ from the manual otherwise, or the manual says nothing, is told under:"
DRAWS = (
    "Currents are at 25 °C, typical; *at most* is the printed maximum, ± what is taken where none is printed. A state "
    "without a current says why. How they become joules: [the method](../method.md)."
)


OF_CORES = {
    core: (family, "Where sources disagree: named switches", "Where silicon is known to differ from the manual")
    for core, family in (
        ("cpuxv2", "The core (MSP430X, timing of CPUXV2)"),
        ("cpu", "The MSP430 cores: three timing families"),
    )
}
"""Sections of docs/accuracy on a core that several chips have."""


def errata_of(name: str) -> str:
    """Write the maker's errata of a chip or part, and whether the model shows them."""
    above, rows = errata.section(name)
    return "\n\n".join(
        [
            *(line.replace("<", "&lt;") for line in above),
            table(ERRATUM, ((BREAK.join(cell) for cell in row) for row in rows)),
        ]
    )


ERRATUM = ("erratum", "what silicon does", "what it means for a program", "the model")


def _lead(name: str) -> str:
    """Return what a device's file says of its documents; the sentence on `recalled` is the pages' own."""
    told = preface("devices", name).split(": facts of the silicon, each block with its source. ", 1)[-1]
    return re.sub(r"\s*`?recalled = true`?:.*$", "", told)


def anchor(heading: str) -> str:
    """Return the anchor that MyST gives a heading (GitHub's rule)."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _levels(levels: Iterable[tuple[int, float, int]]) -> Iterator[tuple[str, str]]:
    for freq_hz, vcc_v, _ in levels:
        yield units.show(freq_hz, "Hz"), units.show(vcc_v, "V")


def _memory(told: Facts) -> str:
    rows = (
        (
            m["name"],
            m["kind"],
            f"`{m['start']:#07x}` to `{m['end']:#07x}`",
            f"{m['end'] - m['start'] + 1:,}",
            m.get("source", ""),
        )
        for m in told["memory"]
    )
    return table(("name", "kind", "addresses", "bytes", "source"), rows)


def _blocks(told: Facts) -> str:
    """Write the peripheral blocks of a chip: where each lies, what it asks for and runs by."""
    rows = []
    for block in told["block"]:
        stretches = [block, *block.get("apart", ())]
        further = {k: v for k, v in block.items() if k in ("ccrs", "channels", "ports")}
        rows.append(
            (
                f"`{block['name']}`",
                f"`{block['kind']}`",
                BREAK.join(f"`{s['base']:#06x}`, {s['size_bytes']} bytes" for s in stretches),
                BREAK.join(f"`{name}` {_at(number)}" for name, number in block.get("interrupts", {}).items()),
                ", ".join(block.get("clocks", ())),
                value(further) if further else "",
                block["source"],
            )
        )
    heads = ("name", "kind", "registers from", "interrupts", "clocks", "", "source")
    return "\n".join(["### Blocks", "", table(heads, rows), *_triggers(told)])


def _triggers(told: Facts) -> Iterator[str]:
    for block in told["block"]:
        if triggers := block.get("triggers"):
            yield f"Triggers of `{block['name']}`, by number: {value(triggers)}.\n"


def listed(told: Facts) -> str:
    """Write lists of tables, such as captures and pulls."""
    lines = []
    for key, items in told.items():
        if isinstance(items, list) and key not in ("memory", "block", "gap", "partial", "absent") and items:
            lines += [f"### {key}", "", *(f"- {value(i)}" for i in items), ""]
    return "\n".join(lines)


def of_boards() -> Iterator[tuple[str, str, str]]:
    """Write a page a board."""
    rows = []
    for name in names("boards"):
        told = boards.board(name)  # with what it extends
        chip = told["device"]
        rows.append((f"[{name}]({name}.md)", f"[{chip.upper()}](../chips/{chip}.md)", told["title"]))
        vcc_v = float(told["power"]["vcc_v"])
        lines = [f"# {name}", "", told["title"], "", f"Chip: [{chip.upper()}](../chips/{chip}.md).", ""]
        lines += [sourced(told), "", "## What is missing beside the real board", ""]
        lines += [table(("what", "instead"), ((a["name"], a["what"]) for a in told.get("absent", ())))]
        for part in parts_of(told):
            lines += [f"Of its part [{part}](../parts/{part}.md):", "", missing(part)]
        lines += [f"What the chip lacks stands on [its page](../chips/{chip}.md#not-modelled).", ""]
        lines += ["## What it draws asleep", "", _asleep(name, vcc_v)]
        lines += [f"Awake: see [the chip](../chips/{chip}.md#what-it-draws).", "", "## Its wires and parts", ""]
        lines += [facts(told), listed(told)]
        yield "boards", name, "\n".join(lines)
    body = ["# Boards", "", table(("board", "chip", "what"), rows), toctree(names("boards"), hidden=True)]
    yield "boards", "index", "\n".join(body)


def parts_of(told: Facts) -> list[str]:
    """Name the parts of a board that have a file."""
    blocks = [b for b in told.values() if isinstance(b, Mapping)] + list(told.get("part", ()))
    found = [str(v) for b in blocks for k, v in b.items() if isinstance(v, str) and v in set(names("parts"))]
    return list(dict.fromkeys(found))


def _asleep(board: str, vcc_v: float) -> str:
    drawn = asleep.of_board(board, vcc_v)
    parts = (
        ("chip, waiting for its timer", drawn.cpu_w),
        ("watch crystal's oscillator, where it is counted apart", drawn.oscillator_w),
        ("radio, in its state of least current", drawn.radio_w),
        ("residual current of the board", drawn.residual_w),
        ("together", drawn.total_w),
    )
    rows = ((what, *(units.show(w, "W", 3) for w in ends)) for what, ends in parts if ends is not None and any(ends))
    told = [
        f"At {vcc_v:g} V, by the power set `datasheet` of the chip:",
        "",
        table(("", "typical", "low", "high"), rows),
    ]
    return "\n".join([*told, *([f"{drawn.remark}.", ""] if drawn.remark else [])])


def of_parts() -> Iterator[tuple[str, str, str]]:
    """Write a page a part: radios, stores, panels, chargers, converters, FPGAs."""
    rows = []
    for name in names("parts"):
        told = read("parts", name)
        kinds = [k for k in told if isinstance(told[k], Mapping) and k not in ("chip", "tolerance")]
        rows.append((f"[{name}]({name}.md)", ", ".join(kinds), told["title"]))
        lines = [f"# {name}", "", " ".join([f"{told['title']}.", preface("parts", name)]).strip(), ""]
        if boards.gaps(name):
            lines += ["## Not modelled", "", missing(name)]
        if (errata.FOLDER / f"{name}.toml").exists():
            lines += ["## Errata", "", ERRATA, "", errata_of(name)]
        sets = [p for p in names("power") if read("power", p)["set"].get("device") == name]
        if sets:
            lines += ["## What it draws", "", *(power_set(p) for p in sets)]
        lines += ["## What its file says", "", facts(told), listed(told)]
        yield "parts", name, "\n".join(lines)
    body = ["# Parts", "", table(("part", "kind", "what"), rows), toctree(names("parts"), hidden=True)]
    yield "parts", "index", "\n".join(body)
