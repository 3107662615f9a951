# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where every command writes: answers to standard output, the rest to standard error."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sunseal.errors import SunsealError

# A pipe has no width of its own.
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout and sys.stdout.isatty() else 120)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Write an answer as JSON; what JSON cannot hold is an error, not a word of JavaScript."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


PICTURE = (".svg", ".png")
PAGE = (".html",)
Report = Annotated[Path | None, typer.Option("--report", help="Write a self-contained HTML report here.")]
Figure = Annotated[Path | None, typer.Option("--figure", help="Draw its main figure into this .svg or .png file.")]


def writable(path: Path | None, endings: Sequence[str] = PICTURE) -> None:
    """Refuse a file that could not be written, before anything long is run for it."""
    if path is None:
        return
    if path.suffix not in endings:
        raise SunsealError(f"`{path}` cannot be written: its name must end in {' or '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise SunsealError(f"`{path}` cannot be written: the folder `{path.parent}` does not exist")
    if path.is_dir():
        raise SunsealError(f"`{path}` cannot be written: it is a folder; name a file in it")
    try:
        with tempfile.TemporaryFile(dir=path.absolute().parent):
            pass
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be written: {e.strerror or e}") from e
