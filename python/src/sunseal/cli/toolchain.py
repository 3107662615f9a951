# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal toolchain`: cross compilers and other tools of Debian's packages, into the user's cache."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import typer

from sunseal.catalog import boards
from sunseal.cli import progress
from sunseal.errors import unknown

PURPOSES = ("firmware", "avr", "gdb", "hdl", "matrix", "proofs", "spin", "tests", "torture", "viewers")

toolchain_app = typer.Typer(
    help="Fetch cross compilers and other tools into your cache, without root.", no_args_is_help=True
)


@toolchain_app.command("get")
def get_command(
    purpose: Annotated[
        str, typer.Option("--for", help=f"Purpose: {', '.join(PURPOSES[:-1])} or {PURPOSES[-1]}.")
    ] = "firmware",
    print_bin: Annotated[
        bool, typer.Option("--print-bin", help="Print the folder to put on PATH, and fetch nothing.")
    ] = False,
) -> None:
    """Fetch the tools for a purpose once; `sunseal doctor` says which are there."""
    if purpose not in PURPOSES:
        raise unknown("purpose", purpose, PURPOSES)
    script = boards.home() / "firmware" / "toolchain" / "get"
    command = [sys.executable, str(script), "--for", purpose, *(["--print-bin"] if print_bin else [])]
    progress.leave()  # the program tells itself what it does
    status = subprocess.run(command, check=False).returncode
    if status:
        raise typer.Exit(status)
