# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal new`: a program of one's own, to begin from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sunseal.catalog import boards
from sunseal.cli.console import Json, out, print_json
from sunseal.cli.spread import spread
from sunseal.requests.asking import BOARD

WHAT = (
    ("main.c", "says hello over the UART, blinks, stops"),
    ("board.h, board.c", "the board's LED and UART"),
    ("include/", "the chip's registers, by its maker's names"),
    ("link.ld", "its memories"),
    ("runtime/", "what starts it and helps the compiler"),
    ("Makefile", "make, make run, make test"),
    ("CMakeLists.txt, toolchain.cmake", "the same by CMake"),
    ("test_node.py, pytest.ini", "a test in the simulator"),
    (".vscode/", "build, run, test and debug from an editor"),
    (".github/, Dockerfile", "the same in CI and in a container"),
    ("README.md", "how to go on"),
)
"""Files that the folder holds, explained for people."""
TAKEN = ("main.c", "board.h, board.c")
"""Files of it that a folder for somebody else's program does without."""


@spread
def new_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is new or empty.")],
    board: Annotated[str, BOARD] = boards.DEFAULT_BOARD,
    programs: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FILE.c", help="A program that somebody else wrote, instead of ours; once for each file."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a folder with a program for a board: it builds by make or CMake and runs at once.

    It has start-up code, the chip's registers and memories, a test, settings for an editor and CI, and a program that
    says hello over the UART, or one of --from, which stays as it is: <msp430.h>, <avr/io.h> and <stm32l476xx.h> are
    there.
    """
    from sunseal import kit

    files = kit.write(folder, board, programs or ())
    if as_json:
        print_json("new", {"board": board, "folder": str(folder), "files": files})
        return
    out.print(f"wrote {folder} for {board}:", markup=False)
    for path in programs or ():
        out.print(f"  {path.name:<38}as it was", markup=False)
    for names, what in WHAT:
        if not (programs and names in TAKEN):
            out.print(f"  {names:<38}{what}", markup=False)
    if (first := kit.compilers_missing(board)) is not None:
        out.print(f"first: {first}, which fetches the compilers once", markup=False)
    out.print(f"next: cd {folder} && make run", markup=False)
