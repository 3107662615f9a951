#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Feed every known answer to the host test program: python3 firmware/tests/test_host.py PROGRAM."""

import subprocess
import sys

from vectors import Case, cases


def line(case: Case) -> str:
    """operation algorithm expected input..."""
    parts = [value.hex() or "-" for value in (case.expected, *case.inputs)]
    return " ".join([case.operation, case.algorithm, *parts]) + "\n"


def main() -> int:
    """The program's verdict."""
    if len(sys.argv) != 2:
        print("test_host.py: the one argument is the host test program", file=sys.stderr)
        return 2
    text = "".join(map(line, cases()))
    return subprocess.run([sys.argv[1]], input=text, text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
