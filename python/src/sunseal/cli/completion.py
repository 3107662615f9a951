# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal completion`, and what the Tab key offers for the values of options."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sunseal.errors import unknown

SHELLS = ["bash", "zsh", "fish"]


def completion_command(
    shell: Annotated[
        str,
        typer.Argument(metavar="bash|zsh|fish", help="Shell that the script is for.", autocompletion=lambda: SHELLS),
    ],
) -> None:
    """Print the script that completes commands, options, boards and workloads.

    It belongs into the shell's start: `eval "$(sunseal completion bash)"` in ~/.bashrc, the same with zsh in ~/.zshrc
    below compinit; for fish `sunseal completion fish > ~/.config/fish/completions/sunseal.fish`.
    """
    from typer._completion_shared import get_completion_script

    from sunseal.cli.app import COMPLETING

    if shell not in SHELLS:
        raise unknown("shell", shell, SHELLS)
    script = get_completion_script(prog_name="sunseal", complete_var=COMPLETING, shell=shell)
    sys.stdout.write(script + "\n")


def boards(incomplete: str) -> list[str]:
    """Offer the names of the boards."""
    from sunseal.catalog.boards import names

    return [name for name in names("boards") if name.startswith(incomplete)]


def workloads(incomplete: str) -> list[tuple[str, str]]:
    """Offer the workloads, with what each does."""
    from sunseal.catalog.boards import WORKLOADS

    return [(w.name, w.summary) for w in WORKLOADS.values() if w.name.startswith(incomplete)]


def power_sets(incomplete: str) -> list[str]:
    """Offer the parameter sets."""
    from sunseal.catalog.boards import names

    return [name for name in names("power") if name.startswith(incomplete)]
