# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write so that no one ever sees half of it, not even after Ctrl-C; an OSError names that file."""
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=".sunseal.")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as e:
        Path(name).unlink(missing_ok=True)
        raise OSError(e.errno, e.strerror, str(path)) from e
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_atomic(path: Path, text: str | bytes) -> None:
    """Write a file, and the folders above it, as `whole` does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as out:
        out.write(text.encode() if isinstance(text, str) else text)
