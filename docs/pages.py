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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gallery
import papers
import typer
from facts import DOCS, ROOT, of_boards, of_chips, of_parts, table, toctree

import sunseal
from sunseal.cli import app, examples

ACCURACY = [f"accuracy/{page.stem}" for page in sorted((DOCS / "accuracy").glob("*.md"))]
NAVIGATION = {
    "Learn": [
        "tutorial",
        *(f"tutorials/{page}" for page in ("reproduce", "verifier", "intermittent", "coupons")),
        "gallery/index",
    ],
    "How to": [
        "reference/install",
        "how-to/library",
        "guide",
        "operating",
        "questions",
        "runtimes",
        *(
            f"reference/{page}"
            for page in (
                *("run", "debug", "viewers", "verdicts", "parts", "sweep", "traces"),
                *("intermittent", "inject", "survival", "modes", "coupon"),
            )
        ),
    ],
    "How it works": ["method", "accuracy", *ACCURACY, "glossary", "nomenclature", "decisions"],
    "Reference": ["commands/index", "python", "reference/scenario", "reference/stability"],
    "Boards, chips, parts": ["boards/index", "chips/index", "parts/index"],
    "Measured": [
        "papers/index",
        "figures",
        *(f"reference/{page}" for page in ("crypto", "constant-time", "faults", "vectors", "mutants", "performance")),
    ],
}
REST = "Reference"
"""Heading of pages of docs/ that NAVIGATION does not name."""
DOORS = (
    ("measure, profile and debug a program of your own", "[An afternoon with Sunseal](tutorial.md), sections 1 to 3"),
    ("design a node: algorithm, board, clock, store, panel, battery", "[the same](tutorial.md), sections 4 and 5"),
    ("know how long a cell lasts, or what a LoRa packet costs", "[Twelve questions](questions.md)"),
    (
        "see published figures beside ours",
        "[the papers' tables](papers/index.md), [Reproduce a paper](tutorials/reproduce.md)",
    ),
    ("verify what nodes sign", "[Run a verifier](tutorials/verifier.md)"),
    ("write a program that outlasts its supply", "[An intermittent program](tutorials/intermittent.md)"),
    ("run a framework for intermittent computing that I have", "[Bring your runtime](runtimes.md)"),
    ("know whether work done ahead pays", "[Are coupons worth it here](tutorials/coupons.md)"),
    (
        "look something up",
        "[commands](commands/index.md), [Python](python.md), [scenario files](reference/scenario.md)",
    ),
    ("know how sure a figure is", "[the method](method.md), [accuracy](accuracy.md)"),
    ("know what of a chip is modelled", "[boards](boards/index.md), [chips](chips/index.md), [parts](parts/index.md)"),
)
"""Doors: who comes, and where they begin."""


def main() -> int:
    """Bring the pages together and build them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "docs", help="where source/ and html/ are written")
    out = parser.parse_args().out
    source, html = out / "source", out / "html"
    shutil.rmtree(out, ignore_errors=True)
    gather(source)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    options = ["-j", "auto", "-W", "--keep-going", "-q", "-d", out / "doctrees", "-D", f"version={version}"]
    built = subprocess.run([sys.executable, "-m", "sphinx", *options, source, html], check=False)
    if built.returncode:
        return built.returncode
    if loaded := list(from_the_net(html)):
        print("these pages load something from the network:", *loaded, sep="\n", file=sys.stderr)
        return 1
    print(f"wrote {html / 'index.html'}")
    return 0


LOADS = re.compile(
    r"""<(?:script|link|img|iframe|source|use|object|embed)\b[^>]*?\b(?:src|href|data)=["']((?:https?:)?//[^"']+)"""
    r"""|url\(\s*["']?((?:https?:)?//[^"')]+)|@import\s+["']((?:https?:)?//[^"']+)""",
    re.I,
)


def from_the_net(html: Path) -> Iterator[str]:
    """Yield each address that a page or a style sheet would load from elsewhere; a link to be clicked is none."""
    for path in sorted(p for p in html.rglob("*") if p.suffix in (".html", ".css", ".svg")):
        for match in LOADS.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(html)}: {next(filter(None, match.groups()))}"


IGNORED = shutil.ignore_patterns(
    "pages.py",
    "facts.py",
    "papers.py",
    "errata.py",
    "gallery.py",
    "catalogue.py",
    "modes.py",
    "survival.py",
    "requirements.txt",
    "__pycache__",
)


def gather(source: Path, run: bool = True) -> None:
    """Write everything that Sphinx reads; the gallery, and ours beside the papers' figures, only if `run`."""
    shutil.copytree(DOCS, source, ignore=IGNORED)
    for page in source.rglob("*.md"):
        page.write_text(within(page.read_text(encoding="utf-8"), page.relative_to(source).parent), encoding="utf-8")
    write(source / "index.md", index(source))
    write(source / "decisions.md", decisions(source))
    for room, name, text in (*commands(), *of_boards(), *of_chips(), *of_parts()):
        write(source / room / f"{name}.md", text)
    for room, name, text in papers.of_papers(papers.computed if run else lambda _: ()):
        write(source / room / f"{name}.md", text)
    write(source / "python.md", python())
    if run:
        for name, text in gallery.notebooks(source / "gallery"):
            write(source / "gallery" / f"{name}.md", text)


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


def index(source: Path) -> str:
    """Write the first page: what Sunseal is, and what stands where."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(p for p in readme.split("\n\n") if p and not p.startswith(("#", "!", "[", "<", "```")))
    named = {page for pages in NAVIGATION.values() for page in pages}
    there = [p.relative_to(source).with_suffix("").as_posix() for p in sorted(source.rglob("*.md"))]
    rest = [p for p in there if p not in named and not p.startswith(("adr/", "pictures/")) and p != "index"]
    trees = []
    for caption, pages in NAVIGATION.items():
        trees.append(toctree([*pages, *(rest if caption == REST else [])], caption, hidden=True))
    picture = "![A day of the demo: the store's voltage, what the node did, where the joules went](pictures/demo.png)"
    doors = table(("to ...", "begin with"), DOORS)
    return "\n".join(["# Sunseal", "", within(first, Path("..")), "", doors, picture, "", *trees])


def decisions(source: Path) -> str:
    """List the decisions on record."""
    pages = sorted(p.relative_to(source).with_suffix("").as_posix() for p in (source / "adr").glob("*.md"))
    return "\n".join(["# Decisions", "", "What was decided, and why.", "", toctree(pages)])


# --- Commands --------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, str, str]]:
    """Write a page a command, and their list."""
    group: Any = typer.main.get_command(app.app)
    body = []
    for heading, listed in app.GROUPS.items():
        rows = [(f"[`sunseal {name}`]({name}.md)", sentence) for name, (_, sentence) in listed.items()]
        body += [f"## {heading}", "", table(("command", "does"), rows)]
    for name in app.COMMANDS:
        yield "commands", name, "\n".join(_command(group.get_command(None, name), f"sunseal {name}", 1))
    told = (
        "Every command takes `-h`; exit status 0: done or passed, 1: findings, 2: the question or its input is wrong, "
        "3: undecided ([verdicts](../reference/verdicts.md))."
    )
    yield "commands", "index", "\n".join(["# Commands", "", told, "", *body, toctree(app.COMMANDS, hidden=True)])


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
    yield table(("option", ""), ((_spelled(p), f"{p.help or ''} {_default(p)}".strip()) for p in options))
    for asked, line in examples.lines(path.partition(" ")[2]):
        yield f"{asked}:\n\n```sh\n{line}\n```\n"
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
        return "Required."
    if value is None or callable(value) or value in (False, (), []):
        return ""
    return f"Default: `{getattr(value, 'value', value)}`."


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


if __name__ == "__main__":
    sys.exit(main())
