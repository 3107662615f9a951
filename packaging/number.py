# SPDX-License-Identifier: MIT OR Apache-2.0
"""The version of this tree, read from the one place that counts: `[workspace.package]` of Cargo.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

CARGO = Path(__file__).resolve().parent.parent / "Cargo.toml"


def version() -> str:
    """Return the version of this tree."""
    told = tomllib.loads(CARGO.read_text(encoding="utf-8"))
    number: str = told["workspace"]["package"]["version"]
    return number
