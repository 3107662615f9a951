# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command line, a module a group of commands; nothing else of the package may import it."""


def main() -> None:
    """Enter from the console script."""
    from sunseal.cli.app import main as enter

    enter()
