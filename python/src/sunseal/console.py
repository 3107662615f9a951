# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where every command writes: answers to standard output, the rest to standard error."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

# A pipe has no width of its own.
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout and sys.stdout.isatty() else 120)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Write an answer as JSON; what JSON cannot hold is an error, not a word of JavaScript."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
