# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the generators beside this file share."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def write(files: Mapping[str, str]) -> None:
    """Write files into the folder that the command line names; each is there whole or not at all."""
    if len(sys.argv) != 2:
        sys.exit(f"{Path(sys.argv[0]).name}: the one argument is the folder to write into")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        begun = folder / f"{name}.{os.getpid()}"
        begun.write_text(f"/* Made by {Path(sys.argv[0]).name}. */\n{text}", encoding="ascii")
        begun.replace(folder / name)


def primes(count: int) -> list[int]:
    """The first primes."""
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found
