# SPDX-License-Identifier: MIT OR Apache-2.0
"""Build the documentation as a site that needs no network: `make docs`.

The pages of docs/ are brought together with what is generated: the commands from the command line, the Python interface
from its docstrings, a page for each board, chip and part from data/. Sphinx makes HTML of it and fails at a dead link.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

import sunseal
from sunseal import _engine, boards, units
from sunseal.cli import app
from sunseal.planner import asleep

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
Facts = Mapping[str, Any]

NAVIGATION = {
    "Start": ["tutorial", "reference/install"],
    "How to": [f"reference/{page}" for page in ("run", "parts", "sweep", "traces", "intermittent", "coupon")],
    "Reference": ["commands/index", "python", "reference/scenario"],
    "Boards, chips, parts": ["boards/index", "chips/index", "parts/index"],
    "How sure": ["accuracy", "reference/crypto", "reference/constant-time", "reference/vectors", "reference/mutants"],
    "About": ["nomenclature", "decisions"],
}
REST = "Reference"
"""Where a page of docs/ stands that NAVIGATION does not name."""


def main() -> int:
    """Bring the pages together and build them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "docs", help="where source/ and html/ are written")
    out = parser.parse_args().out
    source, html = out / "source", out / "html"
    shutil.rmtree(out, ignore_errors=True)
    gather(source)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", f"version={version}", source, html],
        check=False,
    )
    if built.returncode == 0:
        print(f"wrote {html / 'index.html'}")
    return built.returncode


def gather(source: Path) -> None:
    """Write everything that Sphinx reads."""
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("pages.py", "requirements.txt", "__pycache__"))
    for page in source.rglob("*.md"):
        page.write_text(within(page.read_text(encoding="utf-8"), page.relative_to(source).parent), encoding="utf-8")
    write(source / "index.md", index(source))
    write(source / "decisions.md", decisions(source))
    for room, name, text in (*commands(), *of_boards(), *of_chips(), *of_parts()):
        write(source / room / f"{name}.md", text)
    write(source / "python.md", python())


def write(path: Path, text: str) -> None:
    """Write a page, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def within(text: str, folder: Path) -> str:
    """Name files of the tree outside docs/ instead of linking to them: the site does not carry them."""

    def name(match: re.Match[str]) -> str:
        target = (DOCS / folder / match[2]).resolve()
        if target.is_relative_to(DOCS) or not target.exists():
            return match[0]
        return f"{match[1]} (`{target.relative_to(ROOT)}`)" if match[1].strip("`") != str(match[2]) else match[1]

    return LINK.sub(name, text)


def toctree(pages: Iterable[str], caption: str = "", depth: int = 1, hidden: bool = False) -> str:
    """Write a list of pages."""
    options = [f":caption: {caption}"] * bool(caption) + [f":maxdepth: {depth}"] + [":hidden:"] * hidden
    return "\n".join(["```{toctree}", *options, "", *pages, "```", ""])


def index(source: Path) -> str:
    """Write the first page: what Sunseal is, and what stands where."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(p for p in readme.split("\n\n") if p and not p.startswith(("#", "!", "[", "<", "```")))
    named = {page for pages in NAVIGATION.values() for page in pages}
    there = [p.relative_to(source).with_suffix("").as_posix() for p in sorted(source.rglob("*.md"))]
    rest = [p for p in there if p not in named and not p.startswith(("adr/", "pictures/")) and p != "index"]
    trees = []
    for caption, pages in NAVIGATION.items():
        trees.append(toctree([*pages, *(rest if caption == REST else [])], caption))
    return "\n".join(["# Sunseal", "", within(first, Path("..")), "", *trees])


def decisions(source: Path) -> str:
    """List the decisions on record."""
    pages = sorted(p.relative_to(source).with_suffix("").as_posix() for p in (source / "adr").glob("*.md"))
    return "\n".join(["# Decisions", "", "What was decided, and why.", "", toctree(pages)])


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write a table; one without rows is nothing."""
    lines = ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    if not lines:
        return ""
    names = list(head)
    return "\n".join(["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *lines, ""])


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


# --- Commands --------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, str, str]]:
    """Write a page a command, and their list."""
    group: Any = typer.main.get_command(app.app)
    rows = []
    for name, (_, sentence) in app.COMMANDS.items():
        command = group.get_command(None, name)
        rows.append((f"[`sunseal {name}`]({name}.md)", sentence))
        yield "commands", name, "\n".join(_command(command, f"sunseal {name}", 1))
    told = "Every command takes `-h`; exit status 0: done, 1: the answer is no, 2: the input is wrong."
    body = [table(("command", "does"), rows), toctree(app.COMMANDS, hidden=True)]
    yield "commands", "index", "\n".join(["# Commands", "", told, "", *body])


def _command(command: Any, path: str, depth: int) -> Iterator[str]:
    yield f"{'#' * depth} `{path}`"
    yield ""
    # Some helps are laid out by hand; a paragraph of Markdown is what is left of it.
    for paragraph in (command.help or "").replace("\b", "").split("\n\n"):
        yield " ".join(paragraph.split()).replace("<", "&lt;")
        yield ""
    parameters = [p for p in command.params if not getattr(p, "hidden", False) and "--help" not in p.opts]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    options = [p for p in parameters if p.param_type_name == "option"]
    yield table(("argument", ""), ((f"`{_metavar(p)}`", p.help or "") for p in arguments))
    yield table(("option", "", "default"), ((_spelled(p), p.help or "", _default(p)) for p in options))
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _command(inner, f"{path} {name}", depth + 1)


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


WORDS = {int: " N", float: " X", Path: " FILE"}


def _spelled(option: Any) -> str:
    named = f" {option.metavar}" if option.metavar else WORDS.get(option.type_descriptor.annotation, " TEXT")
    return ", ".join(f"`{name}{'' if option.is_flag else named}`" for name in (*option.opts, *option.secondary_opts))


def _default(option: Any) -> str:
    value = option.default
    if option.required:
        return "required"
    if value is None or callable(value) or value in (False, (), []):
        return ""
    return f"`{getattr(value, 'value', value)}`"


# --- Python ----------------------------------------------------------------------------------


def python() -> str:
    """Write the page of the public names, by their docstrings."""
    lines = ["# Python", "", "What `import sunseal` offers; figures are in SI base units, the unit last in a name.", ""]
    functions = [n for n in sunseal.__all__ if not isinstance(getattr(sunseal, n), type) and n[0] != "_"]
    classes = [n for n in sunseal.__all__ if isinstance(getattr(sunseal, n), type)]
    for title, names, directive, options in (
        ("Functions", functions, "autofunction", []),
        ("Classes", classes, "autoclass", ["   :members:", "   :undoc-members:"]),
    ):
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"### {name}", "", "```{eval-rst}", f".. {directive}:: sunseal.{name}", *options, "```", ""]
    return "\n".join(lines)


# --- Boards, chips, parts --------------------------------------------------------------------


def read(room: str, name: str) -> dict[str, Any]:
    """Read a data file of the tree."""
    return tomllib.loads((ROOT / "data" / room / f"{name}.toml").read_text(encoding="utf-8"))


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
    """Write a fact."""
    if isinstance(told, bool):
        return "yes" if told else "no"
    if isinstance(told, Mapping):
        return ", ".join(f"{k} = {value(v)}" for k, v in told.items())
    if isinstance(told, list):
        return ", ".join(value(v) for v in told)
    return f"`{told}`"


META = ("source", "recalled", "name")


def facts(told: Facts, skip: Iterable[str] = ()) -> str:
    """Write each table of a data file, with its source."""
    lines = []
    for key, block in told.items():
        if not isinstance(block, Mapping) or key in skip:
            continue
        lines += [
            f"### {key}",
            "",
            table(("key", "value"), ((f"`{k}`", value(v)) for k, v in block.items() if k not in META)),
        ]
        lines += [sourced(block), ""]
    return "\n".join(lines)


def sourced(block: Facts) -> str:
    """Say where a block's figures come from."""
    recalled = " Written from memory of that source, not read again." if block.get("recalled") else ""
    return f"Source: {block['source']}.{recalled}".replace("<", "&lt;") if "source" in block else ""


def missing(part: str) -> str:
    """List what of a device or part is not modelled."""
    rows = boards.gaps(part)
    if not rows:
        return "No gap is on record.\n"
    return table(("block", "addresses", "what happens, and why"), rows)


def power_set(name: str, depth: int = 3) -> str:
    """Write what a power set says that a chip or part draws, and by which document."""
    told = read("power", name)
    head = told["set"]
    lines = [f"{'#' * depth} {name}", "", f"{head['title']}. {head.get('cite', '')}", ""]
    if "extends" in head:
        lines += [f"What does not stand here is that of `{head['extends']}`.", ""]
    rows = [
        (f"`{c['component']}`", f"`{c['state']}`", c.get("law", ""), _drawn(c), c.get("source", ""))
        for c in told.get("current", ())
    ]
    lines.append(table(("component", "state", "law", "current", "source"), rows))
    rows = [(f"`{e['event']}`", _drawn(e), e.get("source", "")) for e in told.get("event", ())]
    lines.append(table(("event", "charge or energy", "source"), rows))
    rows = [
        (key, f"{s.get('document', '')}, {s.get('place', '')}", s.get("note", ""))
        for key, s in told.get("source", {}).items()
    ]
    lines.append(table(("source", "document and place", "how it was read"), rows))
    return "\n".join(lines)


KEPT = ("component", "state", "event", "law", "source", "rows")


def _drawn(row: Facts) -> str:
    own = {k: v for k, v in row.items() if k not in KEPT}
    each = [value(r) for r in row.get("rows", ())]
    return "; ".join([value(own), *each] if own else each)


def of_chips() -> Iterator[tuple[str, str, str]]:
    """Write a page a chip."""
    headings = re.findall(r"^#+ (.+)$", (DOCS / "accuracy.md").read_text(encoding="utf-8"), re.M)
    rows = []
    for name in names("devices"):
        told = read("devices", name)
        carriers = [b for b in names("boards") if read("boards", b)["device"] == name]
        on = ", ".join(f"[{b}](../boards/{b}.md)" for b in carriers)
        rows.append((f"[{name.upper()}]({name}.md)", told["core"], on))
        levels = _engine.levels(str(ROOT / "data" / "devices" / f"{name}.toml"))
        near = [h for h in headings if name.upper() in h.upper()]
        lines = [f"# {name.upper()}", "", preface("devices", name), ""]
        lines += [f"Core: `{told['core']}`, family: `{told['family']}`. Boards: {on or 'none'}.", ""]
        lines += ["## Clock and voltage", "", table(("clock up to", "supply from"), _levels(levels))]
        lines += ["## Not modelled", "", missing(name)]
        lines += ["## Where it is known to differ, and what is assumed", ""]
        lines += [f"- [{h}](../accuracy.md#{anchor(h)})" for h in near] or ["- [Accuracy](../accuracy.md)"]
        lines += ["", "## What it draws", ""]
        lines += [power_set(p) for p in names("power") if read("power", p)["set"].get("device") == name]
        lines += ["## What is modelled", "", "### memory", "", _memory(told)]
        lines += [facts(told, ("vectors",)), listed(told)]
        yield "chips", name, "\n".join(lines)
    body = ["# Chips", "", table(("chip", "core", "boards"), rows), toctree(names("devices"), hidden=True)]
    yield "chips", "index", "\n".join(body)


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


def listed(told: Facts) -> str:
    """Write lists of tables, such as captures and pulls."""
    lines = []
    for key, items in told.items():
        if isinstance(items, list) and key not in ("memory", "gap", "partial", "absent") and items:
            lines += [f"### {key}", "", *(f"- {value(i)}" for i in items), ""]
    return "\n".join(lines)


def of_boards() -> Iterator[tuple[str, str, str]]:
    """Write a page a board."""
    rows = []
    for name in names("boards"):
        told = read("boards", name)
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
        kinds = [k for k in told if isinstance(told[k], Mapping) and k != "tolerance"]
        rows.append((f"[{name}]({name}.md)", ", ".join(kinds), told["title"]))
        lines = [f"# {name}", "", f"{told['title']}. {preface('parts', name)}", ""]
        if boards.gaps(name):
            lines += ["## Not modelled", "", missing(name)]
        sets = [p for p in names("power") if read("power", p)["set"].get("device") == name]
        if sets:
            lines += ["## What it draws", "", *(power_set(p) for p in sets)]
        lines += ["## What its file says", "", facts(told), listed(told)]
        yield "parts", name, "\n".join(lines)
    body = ["# Parts", "", table(("part", "kind", "what"), rows), toctree(names("parts"), hidden=True)]
    yield "parts", "index", "\n".join(body)


if __name__ == "__main__":
    sys.exit(main())
