# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal examples`: what comes along to begin with, and copies of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sunseal.cli.console import Json, escape, out, print_json
from sunseal.errors import SunsealError


def examples_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Examples to copy; `all` is all of them.")
    ] = None,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder that they are copied to.")] = Path("examples"),
    where: Annotated[bool, typer.Option("--where", help="Print the folder in which they lie, and copy none.")] = False,
    as_json: Json = False,
) -> None:
    """List the examples that came with the package, or copy some to work on.

    The programs that a scenario names are copied beside it. A file that is there already and differs is left as it is,
    and nothing is copied then.
    """
    from sunseal.kit import carried

    if where:
        if names or as_json:
            raise SunsealError("--where prints a folder alone: leave out the names and --json")
        out.print(str(carried.folder()), markup=False)
        return
    if names:
        files = carried.copy(names, to)
        if as_json:
            print_json("examples-copied", {"folder": str(to), "files": files})
            return
        out.print(f"copied {len(files)} files into {to}:", markup=False)
        for name in files:
            out.print(f"  {name}", markup=False)
        return
    found = carried.listed()
    if as_json:
        print_json("examples", [vars(example) for example in found])
        return
    widest = max(len(example.name) for example in found)
    for example in found:
        out.print(f"[bold]{example.name.ljust(widest)}[/]  {escape(example.about)}")
    out.print("next: `sunseal examples NAME` copies one, `sunseal examples all` all of them, into ./examples")
