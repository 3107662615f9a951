# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal man`: a manual page a command, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from sunseal import __version__
from sunseal.cli import examples
from sunseal.cli.console import out
from sunseal.errors import SunsealError

STATUS = {
    "0": "Done.",
    "1": "The answer is no: a requirement that nothing meets, a cut that is not survived, a secret that leaks.",
    "2": "The input is wrong; one sentence says what, where, and what would be right.",
}


def man_command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="As ~/.local/share/man/man1; made if it is absent.")],
) -> None:
    """Write a manual page for each command into a folder, which `man sunseal-measure` finds on its path."""
    pages = dict(manual())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (folder / f"{name}.1").write_text(text, encoding="utf-8")
    except OSError as e:
        raise SunsealError(f"`{folder}` cannot be written: {e.strerror or e}", hint="name another folder") from e
    out.print(f"wrote {len(pages)} pages into {folder}; `man -l {folder}/sunseal.1` shows the first")


def manual() -> Iterator[tuple[str, str]]:
    """Yield name and text of each page: the program's with the list of commands, then theirs."""
    from sunseal.cli.app import COMMANDS, GROUPS, app

    group: Any = typer.main.get_command(app)
    listed = [".SH COMMANDS"]
    for heading, commands in GROUPS.items():
        listed.append(f".SS {heading}")
        for name, (_, told) in commands.items():
            listed += [".TP", f"\\fBsunseal\\-{_plain(name)}\\fR(1)", _plain(told)]
    yield "sunseal", _page("sunseal", group, listed)
    for name, (_, told) in COMMANDS.items():
        yield f"sunseal-{name}", _page(f"sunseal {name}", group.get_command(None, name), [], told)


def _plain(text: str) -> str:
    """Keep roff from reading a text as its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("\b", "")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def _page(path: str, command: Any, rest: list[str], summary: str = "") -> str:
    sentence = summary or " ".join((command.help or "").split("\n\n")[0].split())
    lines = [
        f'.TH "{path.replace(" ", "-").upper()}" "1" "" "sunseal {__version__}" "Sunseal"',
        ".SH NAME",
        f"{_plain(path.replace(' ', '-'))} \\- {_plain(sentence.rstrip('.'))}",
        ".SH SYNOPSIS",
        *_synopsis(path, command),
        ".SH DESCRIPTION",
        *_paragraphs(command),
        *_parameters(command),
    ]
    if path != "sunseal":
        for name, inner in sorted(getattr(command, "commands", {}).items()):
            lines += [f'.SH "{path} {name}"'.upper(), *_synopsis(f"{path} {name}", inner), ".PP", *_paragraphs(inner)]
            lines += _parameters(inner)
    named = path.partition(" ")[2]
    inner = (f"{named} {name}" for name in sorted(getattr(command, "commands", {})))
    shown = [line for name in (named, *inner) for line in examples.lines(name)]
    if shown:
        lines.append(".SH EXAMPLES")
        for asked, line in shown:
            lines += [".TP", _plain(f"{asked}:"), f"\\fB{_plain(line)}\\fR"]
    lines += [*rest, ".SH EXIT STATUS"]
    for status, told in STATUS.items():
        lines += [".TP", f"\\fB{status}\\fR", _plain(told)]
    return "\n".join([*lines, ""])


def _shown(command: Any, kind: str) -> list[Any]:
    return [p for p in command.params if p.param_type_name == kind and not getattr(p, "hidden", False)]


def _synopsis(path: str, command: Any) -> Iterator[str]:
    words = [f"\\fB{_plain(path)}\\fR", "[\\fIOPTIONS\\fR]"]
    words += [f"\\fI{_plain(_named(p))}\\fR" for p in _shown(command, "argument")]
    yield " ".join([*words, *(["\\fICOMMAND\\fR ..."] if getattr(command, "commands", None) else [])])


def _paragraphs(command: Any) -> Iterator[str]:
    for index, paragraph in enumerate((command.help or "").replace("\b", "").split("\n\n")):
        if paragraph.split():
            yield from [".PP"] * (index > 0)
            yield _plain(" ".join(paragraph.split()))


def _named(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _parameters(command: Any) -> Iterator[str]:
    for argument in _shown(command, "argument"):
        yield from (".TP", f"\\fI{_plain(_named(argument))}\\fR", _plain(argument.help or ""))
    for option in _shown(command, "option"):
        if "--help" in option.opts:
            continue
        names = ", ".join(f"\\fB{_plain(name)}\\fR" for name in (*option.opts, *option.secondary_opts))
        value = "" if option.is_flag else f" \\fI{_plain(option.metavar or option.name.upper())}\\fR"
        default = option.default
        shown = default is not None and not callable(default) and default not in (False, (), [])
        told = " ".join((option.help or "").split()) + (
            f" Default: {getattr(default, 'value', default)}." if shown else ""
        )
        yield from (".TP", f"{names}{value}", _plain(told.strip()))
