# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal schema`: what each kind of file may hold, for editors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sunseal.cli.console import out
from sunseal.errors import SunsealError
from sunseal.schemas import files as schemas


def schema_command(
    kind: Annotated[str | None, typer.Argument(help=f"One of {', '.join(schemas.TITLES)}; output/NAME.")] = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write all into this folder.")] = None,
    check: Annotated[Path | None, typer.Option("--check", help="Compare the files of this folder.")] = None,
) -> None:
    """Print the JSON Schema of a kind of file, or of what a command prints by --json: output/inject, for one.

    `--write` and `--check` take a folder of all; exit status 1 if one is not that of this build.
    """
    if sum(given is not None for given in (kind, write, check)) != 1:
        raise SunsealError(
            f"give one of a kind ({', '.join(schemas.TITLES)}, output/NAME), `--write FOLDER` or `--check FOLDER`"
        )
    if kind is not None:
        sys.stdout.write(schemas.text(kind))
    elif write is not None:
        for path in schemas.write(write):
            out.print(f"wrote {path}")
    elif check is not None:
        schemas.check(check)
        out.print(f"{check} is what is read now")
