# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal schema`: what each kind of file may hold, for editors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from sunseal.cli.console import out
from sunseal.errors import SunsealError
from sunseal.schemas import files as schemas

REQUEST = "request/"
"""In front of the name of a command, for the files that its `--request` takes."""


def schema_command(
    kind: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(schemas.TITLES)}; output/NAME; request/NAME.")
    ] = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write all into this folder.")] = None,
    check: Annotated[Path | None, typer.Option("--check", help="Compare the files of this folder.")] = None,
) -> None:
    """Print the JSON Schema of a kind of file, of what a command prints by --json (output/inject), or of its requests.

    A request is a file that `--request` takes: request/measure, request/coupon-rate.

    `--write` and `--check` take a folder of all; exit status 1 if one is not that of this build.
    """
    if sum(given is not None for given in (kind, write, check)) != 1:
        raise SunsealError(
            f"give one of a kind ({', '.join(schemas.TITLES)}, output/NAME, request/NAME), `--write FOLDER` or "
            "`--check FOLDER`"
        )
    if kind is not None and kind.startswith(REQUEST):
        from sunseal.cli import requesting
        from sunseal.cli.app import app

        told = requesting.schema(kind.removeprefix(REQUEST), typer.main.get_command(app))
        sys.stdout.write(json.dumps({"$schema": schemas.DRAFT, **told}, indent=1, ensure_ascii=False) + "\n")
    elif kind is not None:
        sys.stdout.write(schemas.text(kind))
    elif write is not None:
        for path in schemas.write(write):
            out.print(f"wrote {path}")
    elif check is not None:
        schemas.check(check)
        out.print(f"{check} is what is read now")
