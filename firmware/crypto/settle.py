# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the generators beside this file share: how they say that their files are stale, or write them."""

import sys
from collections.abc import Mapping
from pathlib import Path


def command(script: str) -> str:
    """What writes a generator's files, as it stands in each of them."""
    return f"python3 firmware/crypto/{Path(script).name} write"


def settle(files: Mapping[Path, str], script: str) -> int:
    """Write the files, or say which are stale, by the command line's one argument; return the exit status."""
    if sys.argv[1:] not in (["write"], ["check"]):
        print(f"{Path(script).name}: the one argument is 'write' or 'check'", file=sys.stderr)
        return 2
    stale = 0
    for path, text in files.items():
        if sys.argv[1] == "write":
            path.write_text(text, encoding="ascii")
        elif not path.is_file() or path.read_text(encoding="ascii") != text:
            print(f"{path.name} is stale: run `{command(script)}`", file=sys.stderr)
            stale = 1
    return stale
