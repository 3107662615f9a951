# SPDX-License-Identifier: MIT OR Apache-2.0
"""Clippy's messages from stdin, as `make check` pipes them: printed, but for comments that need not be written.

rustc has one lint (`missing_docs`) for all that is public. Names and units of fields and variants may speak for
themselves; so do registers and bits, which have their makers' names. Functions, types, traits and constants of a
library are documented.
"""

from __future__ import annotations

import json
import re
import sys

MISSING = "missing documentation for "
MEMBER = re.compile(MISSING + r"an? (struct field|variant)$")
MAKERS_NAMES = "sunseal_registers"


def refused(line: str) -> str | None:
    """Return a message as a person reads it; None for one that may stand and for what is no message."""
    entry = json.loads(line)
    if entry.get("reason") != "compiler-message" or MEMBER.match(entry["message"]["message"]):
        return None
    target, message = entry["target"], entry["message"]
    library = {"lib", "cdylib"} & set(target["kind"]) and target["name"] != MAKERS_NAMES
    # sunseal-dev takes the assembler that tests of the cores have.
    library = library and not any("/tests/" in span["file_name"] for span in message["spans"])
    if message["message"].startswith(MISSING) and not library:
        return None
    if not message["spans"] and message["level"] != "error":  # "12 warnings emitted"
        return None
    return str(message["rendered"])


if __name__ == "__main__":
    found = [text for line in sys.stdin if line.startswith("{") and (text := refused(line))]
    print("\n".join(found), end="")
    sys.exit(1 if found else 0)
