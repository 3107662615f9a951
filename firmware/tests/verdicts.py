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
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Literal

from calls import ERRORS, Call, In, InOut, Out, Struct, Symbol
from refused import REFUSED
from rich.progress import track
from table import ALL, COLUMNS, FIRMWARE, HOST, Target, content, fits, implementations, symbols

from sunseal import ConstantTime, EngineError, Leak, Machine, SunsealError
from sunseal.catalog.algorithms import Function, Layout
from sunseal.catalog.boards import WORKLOADS, algorithms
from sunseal.measurement import oracle

LIBRARY = algorithms()
TABLE = FIRMWARE.parent / "docs" / "reference" / "constant-time.md"

REFUSING = {r"rsa1024_decrypt_oaep": "DECRYPTION", r"(entropy|health_sample|generate_\w+)": "HEALTH"}
"""What is wrong in the known answers that are compared: each is followed, and all must take the same cycles."""

OUTCOMES = ("sunseal_rsa_verdict",)
"""Bytes through which a function lets its outcome out on purpose, and nothing else."""

ALLOWED = {
    r"order_in_range\(": "a candidate or key outside [1, n-1] is refused",
    r"coupon->state": "the coupon's state, which is no secret",
    r"kind_sealed\.c.*status [!=]= SUNSEAL_": "whether a sealed coupon's tag is right",
    r"sunseal_verdict_(refuses|end)\(|SUNSEAL_RETURN\(|mp_verdict.c.*(nonzero\(|0 - value|agrees \^)": (
        "whether what is compared, a tag or a padding, is right"
    ),
    r"SUNSEAL_ERR_INFINITY": "whether the shared secret is zero",
    r"health\.c.*health->failed|(entropy|generator)\.c.*(status|final)": "whether a health test failed",
    r"lms\.c.*(changed|status)": "whether a node of the tree, which is public, reads back",
    r"pool\.inc.*is_zero\(": "whether the sum of a pool's nonces is zero",
    r"(fram|flash)\.c.*crc ==": "whether a coupon is whole",
    r"flash\.c.*reads_back|flash_\w+\.c.*!done": "whether flash holds what was written",
}
"""Source lines that may branch on a secret, and what of it they tell."""

TOO_LONG = {("msp430f5438a-anagear/mpy-none", "rsa2048"), ("micaz/default", "rsa2048")}
"""Minutes each; the code is that of RSA-1024."""


PROGRAMS = tuple(work for work in WORKLOADS.values() if work.followed)
"""Programs of the bench that are followed whole, from reset to end."""

PROGRAMS_TOO_LONG = re.compile(r"msp430f5438a-anagear/mpy-(none|16) .*-pool-")
"""A pool is 64 multiplications."""


def described(function: str) -> Function | None:
    """What the library's descriptions say of a function, if they name a secret of it."""
    told = LIBRARY.functions.get(function.removeprefix("sunseal_"))
    return told if told is not None and told.secret else None


@cache
def examples() -> dict[str, tuple[Call, ...]]:
    """What is run for each row: the first known answer that succeeds, by function and cipher, and calls that fail."""
    found: dict[str, tuple[Call, ...]] = {}
    for call in ALL:
        if call.parts or described(call.function) is None or call.name.startswith(REFUSED):
            continue
        if not all(size for _, _, size in spans(call, "secret")):
            continue
        if call.expected == 0:
            if subject(call) not in found:
                found[subject(call)] = (call,)
                if forged := tuple(forgeries(call)):
                    found[f"{subject(call)}, forged tag"] = forged
        elif (wrong := refusing(call.function)) and call.expected == ERRORS[wrong]:
            name = f"{subject(call)}, {wrong.lower()}"
            found[name] = (*found.get(name, ()), call)
    return found


def refusing(function: str) -> str | None:
    """What is wrong in known answers of a function that are compared."""
    return next((wrong for name, wrong in REFUSING.items() if re.fullmatch(f"sunseal_({name})", function)), None)


def forgeries(call: Call) -> Iterator[Call]:
    """The call with its tag changed at one end, and at the other."""
    told = described(call.function)
    if told is None or not told.tag:
        return
    at = told.arguments.index(told.tag)
    tag = call.args[at]
    assert isinstance(tag, In)
    for changed in (bytes([tag.data[0] ^ 1]) + tag.data[1:], tag.data[:-1] + bytes([tag.data[-1] ^ 128])):
        args = (*call.args[:at], In(changed), *call.args[at + 1 :])
        yield replace(call, args=args, expected=ERRORS["TAG"])


def subject(call: Call) -> str:
    """What a row speaks of: the function, and the cipher that it is given."""
    names = [a.name for a in call.args if isinstance(a, Symbol)]
    return " ".join([call.function, *names])


def spans(call: Call, which: Literal["secret", "released"]) -> list[tuple[In | InOut | Out, int, int]]:
    """The secret bytes, or those that are none any more: of which buffer, from where, how many."""
    found = []
    told = described(call.function)
    assert told
    for mark in getattr(told, which):
        arg: object = call.args[told.arguments.index(mark.argument)]
        for i in mark.members:
            assert isinstance(arg, Struct)
            arg = arg.members[i]
        if isinstance(arg, In | InOut | Out):
            end = len(content(arg)) if mark.end is None else mark.end
            found.append((arg, mark.first, end - mark.first))
    return found


def source_line(line: str | None) -> str:
    """The text of `file:line`."""
    if line is None:
        return ""
    file, _, number = line.rpartition(":")
    path = FIRMWARE / file
    return path.read_text(encoding="utf-8").splitlines()[int(number) - 1] if path.is_file() else ""


def judge(target: Target, call: Call) -> tuple[set[str], list[Leak]]:
    """Run a call with its secrets marked."""
    m = target.machine
    args, buffers = target.prepare(call)

    def marked(which: Literal["secret", "released"]) -> list[tuple[int, int]]:
        return [
            (next(at for buffer, at in buffers if buffer is arg) + first, size)
            for arg, first, size in spans(call, which)
        ]

    released = marked("released") + [(m.address(name), 1) for name in OUTCOMES if target.has(name)]
    judged = m.constant_time(marked("secret"), public=released, call=(call.function, *args))
    told = described(call.function)
    return sorted_out(judged, renewed=told is not None and told.renews)


def sorted_out(judged: ConstantTime, *, renewed: bool = False) -> tuple[set[str], list[Leak]]:
    """What of a verdict's findings is allowed, by its reason, and the rest; a run that is no verdict is an error."""
    why = [w for w in judged.why if not (renewed and "were overwritten before they were read" in w)]
    if judged.verdict == "undecided" and why:
        raise SunsealError(f"the run is no verdict: {'; '.join(why)}")
    reasons, rest = set[str](), []
    for leak in judged.findings:
        text = f"{leak.line} {source_line(leak.line)}"
        # A conditional instruction that is passed over takes another time.
        decides = leak.kind in ("branch", "time")
        reason = next((why for what, why in ALLOWED.items() if decides and re.search(what, text)), None)
        if reason:
            reasons.add(reason)
        else:
            rest.append(leak)
    return reasons, rest


def work(job: tuple[str, str]) -> tuple[str, str, str, list[str]]:
    """The verdict of one column about one subject."""
    column, name = job
    calls = examples()[name]
    for target in implementations(column):
        assert isinstance(target, Target)
        if not target.has(calls[0].function):
            continue
        if not all(fits(call, column) for call in calls):
            break
        if not all(map(target.has, symbols(calls[0]))):
            break
        told, leaks, cycles = set[str](), list[Leak](), defaultdict[tuple[object, ...], set[int]](set)
        try:
            for call in calls:
                reasons, rest = judge(target, call)
                told |= reasons
                leaks += rest
                if len(calls) > 1:
                    numbers, _ = target.prepare(call)
                    lengths = tuple(arg for arg in call.args if isinstance(arg, int))
                    cycles[lengths].add(target.machine.call(call.function, *numbers).cycles)
        except (EngineError, SunsealError) as e:
            return column, name, "", [f"{column}: {name}: {e}"]
        verdict, errors = sentence(calls[0], leaks)
        errors += [f"{sorted(taken)} cycles, by what is wrong" for taken in cycles.values() if len(taken) > 1]
        note = f": {'; '.join(sorted(told))}" if told and not verdict.startswith(("no", "leaks")) else ""
        return column, name, verdict + note, [f"{column}: {name}: {error}" for error in errors]
    return column, name, "", []


def program_work(job: tuple[str, str]) -> tuple[str, str, str, list[str]]:
    """The verdict of one column about one program of the bench, run from reset to its end on the oracle's input."""
    column, name = job
    work = next(w for w in PROGRAMS if w.name == name)
    elf = FIRMWARE / "build" / column / f"bench-{work.program}.elf"
    if not elf.is_file() or PROGRAMS_TOO_LONG.match(f"{column} {name}"):
        return column, name, "", []
    machine, trial = Machine(column.partition("/")[0], elf), oracle.trial(work)
    machine.write("bench_input", trial.fed)
    machine.write("bench_input_len", len(trial.fed).to_bytes(2, "little"))
    secret, released = (
        [(machine.address(f"bench_{buffer}") + at, size) for at, size in placed(layout, names)]
        for buffer, layout, names in (("input", work.input, work.secret), ("output", work.output, work.released))
    )
    try:
        judged = machine.constant_time(secret, public=released)
        told, leaks = sorted_out(judged)
    except (EngineError, SunsealError) as e:
        return column, name, "", [f"{column}: {name}: {e}"]
    errors = []
    status = int.from_bytes(machine.read("bench_status"), "little", signed=True)
    if status != 0 or trial.right(machine.read("bench_output")[: trial.output_bytes]) is False:
        errors.append(f"status {status}, or a wrong output")
    kinds = {leak.kind for leak in leaks}
    if work.timing == "tables" and kinds and kinds <= {"address", "cached-address"}:
        verdict = "look-ups"
    else:
        verdict, found = clean_or_not(leaks)
        errors += found
    note = f": {'; '.join(sorted(told))}" if told and verdict != "leaks" else ""
    return column, name, verdict + note, [f"{column}: {name}: {error}" for error in errors]


def placed(layout: Layout, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where named parts of a layout lie, and how many bytes each has."""
    at = 0
    for part in layout:
        if part.name in names:
            yield at, part.size
        at += part.size


def clean_or_not(leaks: list[Leak]) -> tuple[str, list[str]]:
    """Yes, or what fails."""
    places = Counter((leak.kind, leak.place.partition("+")[0], leak.line) for leak in leaks)
    return "leaks" if leaks else "yes", [f"{kind} in {where} ({line})" for kind, where, line in places]


def looks_up(call: Call) -> bool:
    """Whether the header of a function, or of the cipher that it is given, names look-ups by secret bytes."""
    told = described(call.function)
    given = {a.name for a in call.args if isinstance(a, Symbol)}
    return (told is not None and told.timing == "tables") or any(
        cipher.tables and cipher.symbol in given for cipher in LIBRARY.implementations.values()
    )


def sentence(call: Call, leaks: list[Leak]) -> tuple[str, list[str]]:
    """The verdict in a word, and what fails."""
    kinds = {leak.kind for leak in leaks}
    if looks_up(call) and kinds and kinds <= {"address", "cached-address"}:
        return ("no: cached look-ups, `_vartime` by the header" if "cached-address" in kinds else "look-ups"), []
    return clean_or_not(leaks)


HEAD = """# Constant time, by following secrets through the binaries

Written by `.venv/bin/python firmware/tests/verdicts.py write`; CI runs the same and compares. Each function that
takes a secret runs once on each simulated target, the target's own binary, with the secret's bytes marked and
followed through registers, memory and peripherals (`Machine.leaks`).

- yes: no branch, address or cycle count of the run depended on a marked byte.
- yes and a number: the same but for what the note says, which is no secret.
- look-ups: marked bytes choose addresses of table look-ups. On these parts each takes the same number of cycles
  (no cache, one memory); who cannot have that takes a bitsliced implementation or the accelerator.
- forged tag, decryption, health: calls that fail, each wrong at another place (the tag's first byte or its last;
  what is wrong in the padding). They are followed in the same way, and all of a row take the same cycles.
- An empty cell: the function is not in this target's library, its RAM does not hold the example (a tree of LMS on
  AVR), or (RSA-2048 without a multiplier and on AVR) it takes too long to follow; its code is that of RSA-1024.

A run says this of the way it took; the differential tests beside it compare the traces of many secrets.

Compilers are judged by `sunseal constant-time --matrix`, and that by `firmware/tests/compilers.py`: 25 seeded leaks and
12 good selects for four instruction sets at -O0 to -Os. By clang 13.0.1, 14.0.6, 15.0.6, 16.0.6 and 19.1.7
(`firmware/toolchain/get --for matrix`), avr-gcc 5.4.0 and arm-none-eabi-gcc 12.2.1 these are 4,070 binaries: of 2,750
with a leak, 2,745 have findings and clang breaks at one, in each version, at -O0 for AVR; of 1,320 selects, 1,318 are
clean. In the others, a sum with carries at -O3 for AVR by clang 16 and 19 (not by 13 to 15), a carry becomes a branch
(BRCS, BRLO), as their output shows. A binary takes 0.09 s of processor time, 0.069 s for compiling and linking and
0.019 s for following; two cores that other programs kept busy judged 856 a minute, 5,000 in six minutes.
"""


PROGRAMS_HEAD = """## Programs: coupons, and signatures in steps

Whole programs of the bench (`firmware/bench`), followed from reset to their end: the store in FRAM or flash is made,
a coupon produced and, where the name says use, claimed, used and wiped. Marked are keys, seeds, entropy and what is
encrypted, not a message that is signed or a peer's public key; the output is no secret, but for one shared by ECDH. A
function that is called in steps (`sunseal/ecdsa_steps.h`) keeps its secrets from call to call, so it is judged by the
programs that call it. Of a pool on an F5438A without MPY32 nothing was followed: 64 multiplications take too long.
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
        call, _, failing = name.partition(", ")
        function, *ciphers = call.split()
        what = " ".join([f"`{function}`", *(c.removeprefix("sunseal_") for c in ciphers)])
        what += f", {failing}" if failing else ""
        lines.append(f"| {what} | " + " | ".join(short(cells.get((c, name), "")) for c in columns) + " |")
    kept = [c for c in columns if any(cells.get((c, work.name)) for work in PROGRAMS)]
    lines += ["", PROGRAMS_HEAD, "| program | " + " | ".join(COLUMNS[c] for c in kept) + " |"]
    lines.append("|---" * (1 + len(kept)) + "|")
    for work in PROGRAMS:
        lines.append(f"| `{work.name}` | " + " | ".join(short(cells.get((c, work.name), "")) for c in kept) + " |")
    lines += ["", "## Notes", "", *(f"{i}. {note}." for i, note in enumerate(notes, 1))]
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
    programs = [(c, w.name) for c in columns for w in PROGRAMS]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        done = chain(pool.map(work, jobs), pool.map(program_work, programs))
        total = len(jobs) + len(programs)
        for column, name, verdict, found in track(
            done, total=total, description="secrets", disable=not sys.stderr.isatty()
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
