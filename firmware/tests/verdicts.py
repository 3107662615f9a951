#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Follow secrets through every target's binary: python verdicts.py write|check [COLUMN...].

One known answer of each function that takes a secret is run with the secret's bytes marked. What the marked
bytes decide (a branch, an address, a cycle count, a cache hit) is a finding. The verdicts go to
docs/reference/constant-time.md; a function that its header calls constant-time and that has a finding beyond
those allowed below fails.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from calls import Call, In, InOut, Out, Symbol
from rich.progress import track
from table import ALL, COLUMNS, FIRMWARE, HOST, Target, content, implementations

from sunseal import EngineError, Leak, SunsealError

TABLE = FIRMWARE.parent / "docs" / "reference" / "constant-time.md"
HEADERS = FIRMWARE / "crypto" / "include" / "sunseal"

SECRET: dict[str, tuple[Sequence[int], Sequence[int]]] = {
    r"ecdsa_\w+_keygen|x25519_keygen|ed25519_keygen": ((2,), (1,)),
    r"ecdsa_\w+_sign": ((1, 4), (0,)),
    r"ecdsa_\w+_sign_offline": ((1,), ()),
    r"ecdsa_\w+_sign_online": ((1, 2), (0,)),
    r"ecdh_\w+|x25519": ((1,), ()),
    r"ed25519_sign": ((1,), (0,)),
    r"rsa\d+_private": ((1, 3), (0,)),
    r"rsa\d+_sign_pkcs1_\w+": ((1, 3), (0,)),
    r"rsa\d+_sign_pss_\w+": ((1, 4), (0,)),
    r"rsa\d+_encrypt_oaep": ((2, 4), (0,)),
    r"rsa\d+_decrypt_oaep": ((2, 4), ()),
    r"sha1|sha256|sha512|ascon_hash256": ((1,), ()),
    r"hmac_sha\d+": ((1, 3), (0,)),
    r"hmac_sha\d+_verify": ((2,), ()),
    r"hkdf_sha256_extract": ((3,), ()),
    r"hkdf_sha256_expand": ((2,), ()),
    r"hkdf_sha256": ((4,), ()),
    r"ascon_aead128_(seal|open)": ((0, 5), (4, 7)),
    r"ecb_(en|de)crypt": ((1, 4), ()),
    r"ctr": ((1, 5), ()),
    r"cmac": ((1, 3), (5,)),
    r"cmac_check": ((1,), ()),
    r"ccm_seal_once": ((1, 8), (7, 10)),
    r"ccm_open_once": ((1,), ()),
}
"""Arguments that are secret, by the function's name behind `sunseal_`, and outputs that are not any more."""

OUTCOMES = ("sunseal_rsa_verdict",)
"""Bytes through which a function lets its outcome out on purpose, and nothing else."""

LOOK_UPS = re.compile(r" sunseal_(aes128(_sbox|_tbox)?|present(80|128)_table)$")
"""Ciphers whose headers say that they look up by secret bytes."""

ALLOWED = {
    r"order_in_range\(": "a candidate or key outside [1, n-1] is refused",
    r"coupon->state": "the coupon's state, which is no secret",
    r"sunseal_differ\(|return differs": "whether the tag is right",
    r"SUNSEAL_ERR_INFINITY": "whether the shared secret is zero",
}
"""Source lines that may branch on a secret, and what of it they tell."""

TOO_LONG = {("msp430f5438a-anagear/mpy-none", "rsa2048"), ("micaz/default", "rsa2048")}
"""Minutes each; the code is that of RSA-1024."""


def secrets_of(function: str) -> tuple[Sequence[int], Sequence[int]] | None:
    """The secret and the public arguments of a function."""
    for pattern, marks in SECRET.items():
        if re.fullmatch(f"sunseal_({pattern})", function):
            return marks
    return None


@cache
def examples() -> dict[str, Call]:
    """For each function with a secret, and each cipher that it may be given, the first known answer that succeeds."""
    found: dict[str, Call] = {}
    for call in ALL:
        if secrets_of(call.function) is None or call.expected not in (0, None):
            continue
        if any(isinstance(a, In) and not a.data for a in (call.args[i] for i in secrets_of(call.function)[0])):
            continue
        found.setdefault(subject(call), call)
    return found


def subject(call: Call) -> str:
    """What a row speaks of: the function, and the cipher that it is given."""
    names = [a.name for a in call.args if isinstance(a, Symbol)]
    return " ".join([call.function, *names])


def source_line(line: str | None) -> str:
    """The text of `file:line`."""
    if line is None:
        return ""
    file, _, number = line.rpartition(":")
    path = FIRMWARE / file
    return path.read_text(encoding="utf-8").splitlines()[int(number) - 1] if path.is_file() else ""


def judge(target: Target, call: Call) -> tuple[str, list[Leak]]:
    """Run a call with its secrets marked."""
    m = target.machine
    args, _ = target.prepare(call)
    secret, public = secrets_of(call.function)

    def span(i: int) -> tuple[int, int]:
        arg = call.args[i]
        assert isinstance(arg, In | InOut | Out)
        return int(args[i]), len(content(arg))

    released = [span(i) for i in public] + [(m.address(name), 1) for name in OUTCOMES if target.has(name)]
    leaks = m.leaks([span(i) for i in secret], public=released, call=(call.function, *args))
    reasons, rest = Counter(), []
    for leak in leaks:
        text = source_line(leak.line)
        # A conditional instruction that is passed over takes another time.
        decides = leak.kind in ("branch", "time")
        reason = next((why for what, why in ALLOWED.items() if decides and re.search(what, text)), None)
        if reason:
            reasons[reason] += 1
        else:
            rest.append(leak)
    return "; ".join(sorted(reasons)), rest


def work(job: tuple[str, str]) -> tuple[str, str, str, list[str]]:
    """The verdict of one column about one subject."""
    column, name = job
    call = examples()[name]
    for target in implementations(column):
        assert isinstance(target, Target)
        if not target.has(call.function):
            continue
        if not all(target.has(a.name) for a in call.args if isinstance(a, Symbol)):
            break
        try:
            told, rest = judge(target, call)
        except (EngineError, SunsealError) as e:
            return column, name, "", [f"{column}: {name}: {e}"]
        kinds = {leak.kind for leak in rest}
        if LOOK_UPS.search(name) and kinds and kinds <= {"address", "cached-address"}:
            verdict = "no: cached look-ups, `_vartime` by the header" if "cached-address" in kinds else "look-ups"
            return column, name, verdict + (f": {told}" if told and verdict == "look-ups" else ""), []
        if rest:
            places = Counter((leak.kind, leak.place.partition("+")[0], leak.line) for leak in rest)
            lines = [f"{column}: {name}: {kind} in {where} ({line})" for kind, where, line in places]
            return column, name, "leaks", lines
        return column, name, f"yes: {told}" if told else "yes", []
    return column, name, "", []


HEAD = """# Constant time, by following secrets through the binaries

Written by `.venv/bin/python firmware/tests/verdicts.py write`; CI runs the same and compares. Each function that
takes a secret runs once on each simulated target, the target's own binary, with the secret's bytes marked and
followed through registers, memory and peripherals (`Machine.leaks`).

- yes: no branch, address or cycle count of the run depended on a marked byte.
- yes and a number: the same but for what the note says, which is no secret.
- look-ups: marked bytes choose addresses of table look-ups. On these parts each takes the same number of cycles
  (no cache, one memory); who cannot have that takes a bitsliced implementation or the accelerator.
- An empty cell: the function is not in this target's library, or (RSA-2048 without a multiplier and on AVR) takes
  too long to follow; its code is that of RSA-1024.

A run says this of the way it took; the differential tests beside it compare the traces of many secrets.
"""


def tabulate(columns: Sequence[str], cells: dict[tuple[str, str], str]) -> str:
    """The verdicts as Markdown."""
    notes: list[str] = []

    def short(verdict: str) -> str:
        word, _, told = verdict.partition(": ")
        if not told:
            return word
        if told not in notes:
            notes.append(told)
        return f"{word} ({notes.index(told) + 1})"

    lines = [HEAD, "| function | " + " | ".join(COLUMNS[c] for c in columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for name in sorted(examples()):
        function, *ciphers = name.split()
        what = " ".join([f"`{function}`", *(c.removeprefix("sunseal_") for c in ciphers)])
        lines.append(f"| {what} | " + " | ".join(short(cells.get((c, name), "")) for c in columns) + " |")
    lines += ["", *(f"{i}. {note}." for i, note in enumerate(notes, 1))]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """The verdict."""
    targets = [c for c in COLUMNS if c != HOST]
    if len(sys.argv) < 2 or sys.argv[1] not in ("write", "check") or any(c not in targets for c in sys.argv[2:]):
        print(f"verdicts.py: write or check, then any of the columns {', '.join(targets)}", file=sys.stderr)
        return 2
    columns = sys.argv[2:] or targets
    cells: dict[tuple[str, str], str] = {}
    errors: list[str] = []
    jobs = [(c, n) for c in columns for n in sorted(examples()) if not any(c == t and w in n for t, w in TOO_LONG)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for column, name, verdict, found in track(
            pool.map(work, jobs), total=len(jobs), description="secrets", disable=not sys.stderr.isatty()
        ):
            cells[column, name] = verdict
            errors += found
    for error in errors:
        print(error, file=sys.stderr)
    if errors or len(columns) < len(targets):
        return bool(errors)
    table = tabulate(columns, cells)
    if sys.argv[1] == "write":
        TABLE.write_text(table, encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != table:
        print(f"verdicts.py: {TABLE.name} is out of date; run `verdicts.py write` and look at it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
