#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ask NIST's estimators of the generators: randomness.py write|check [PART]..., with the extra `randomness`.

A part's tables go between its marks in docs/reference/randomness.md, and with them a digest of each generator's first
starts: test_randomness_page.py holds them to what the firmware gives, which takes seconds, where `check` asks
everything anew: one to five minutes of processor time a part. Parts: sram, osc_noclksft, osc_clksft; else all that the
page has marks for.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sunseal.secure import estimators
from sunseal.secure.randomness import GENERATORS, OFF_S, ROW_BITS, SHIFT, Node, randomness

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "randomness.md"
BOARD = "msp430fr5994-launchpad"
SEED = 1
STARTS, SAMPLES = 2, 200
"""That a digest is of."""
PARTS = {
    "sram": [name for name in GENERATORS if name.startswith("sram")],
    **{name: [name] for name in GENERATORS if name.startswith("osc")},
}
"""Generators that are asked together: SRAM's have one source."""
BLOCK = re.compile(r"<!-- figures: (\w+) -->\n(.*?)<!-- end of figures -->\n", re.DOTALL)
MARK = re.compile(r"^<!-- starts: (.*) -->$", re.MULTILINE)


def starts(generators: Sequence[str], seed: int = SEED) -> dict[str, str]:
    """Return a digest of each generator's first values and raw samples, and of its oscillators' read one by one."""
    found = {}
    for generator in generators:
        digest = hashlib.sha256()
        node = Node(BOARD, generator, seed, OFF_S)
        for _ in range(STARTS):
            value, samples = node.value()
            digest.update(value or b"refused")
            digest.update(samples)
        if generator in SHIFT:
            node.listen()
            digest.update(node.read(SAMPLES))
        found[generator] = digest.hexdigest()[:16]
    return found


def blocks() -> dict[str, str]:
    """Return what the page has of each part."""
    return dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))


def told() -> dict[str, str]:
    """Return the digests that the page has."""
    marks = [MARK.search(block) for block in blocks().values()]
    return dict(word.split("=") for mark in marks if mark for word in mark[1].split())


def measured(part: str) -> dict[str, Any]:
    """Judge the source and the generators of a part."""
    return randomness(PARTS[part], board=BOARD, bits=ROW_BITS[part.partition("_")[0]], seed=SEED).as_json()


def tables(found: dict[str, Any], digests: dict[str, str]) -> Iterator[str]:
    """Lines of a part."""
    yield f"<!-- starts: {' '.join(f'{name}={digest}' for name, digest in digests.items())} -->"
    for source in found["sources"]:
        yield from _source(source)
    yield "| generator | starts | bits | SP 800-22 |"
    yield "|---|--:|--:|---|"
    for one in found["generators"]:
        judged = one["sp800_22"]
        yield f"| `{one['generator']}` | {one['starts']:,} | {judged['bits']:,} | {_verdict(one)} |"
    names = [test["test"] for test in found["generators"][0]["sp800_22"]["tests"] if test["p"] is not None]
    yield f"\nTests that apply to so many bits: {', '.join(names)}."


def _verdict(one: dict[str, Any]) -> str:
    if one["holds"]:
        return str(one["sentence"])
    failed = [test for test in one["sp800_22"]["tests"] if test["test"] in one["sp800_22"]["failed"]]
    return (
        "**fails**: "
        + ", ".join(f"{test['test']} (p {test['p']:.2g})" for test in failed)
        + "; " * bool(one["refused"] or one["repeated"])
        + (one["sentence"] if one["refused"] or one["repeated"] else "")
    )


def _source(source: dict[str, Any]) -> Iterator[str]:
    over = source["restarts"]
    columns = {"in a row": source["sequential"], "start after start": over["rows"], "place by place": over["columns"]}
    if source["sequential"] == over["rows"]:
        # A start of memory is over before a million are read.
        del columns["in a row"]
    if source["low_bit"] is not None:
        columns["lowest bit, in a row"] = source["low_bit"]
    yield f"| source `{source['source']}`, bits a sample | {' | '.join(columns)} |"
    yield "|---|" + "--:|" * len(columns)
    for name in estimators.ESTIMATORS:
        cells = [column["of_samples"].get(name) for column in columns.values()]
        if any(cell is not None for cell in cells):
            yield f"| {name} | {' | '.join('' if cell is None else f'{cell:.3g}' for cell in cells)} |"
    least = [min(c["of_bits"].values()) if c["of_bits"] else None for c in columns.values()]
    yield f"| the least of the bits' | {' | '.join('' if cell is None else f'{cell:.3g}' for cell in least)} |"
    mean = f"{over['mean_by_place_bits']:.3g}"
    places = [mean if name == "place by place" else "" for name in columns]
    yield f"| most common value of each place, their mean | {' | '.join(places)} |"
    alike = f"Alike in all starts: {over['constant_columns']} of 1,000."
    claim = f"{source['claim_bits']:g}"
    yield f"\nClaimed {claim}: {source['sentence'].removeprefix(f'the claim of {claim} ')}. {alike}\n"


def main(mode: str, parts: Sequence[str]) -> int:
    """Write the parts, or say whether they stand there."""
    there = blocks()
    if mode not in ("write", "check") or any(part not in there for part in parts):
        print(f"usage: randomness.py write|check [PART]...; the page has {', '.join(there)}", file=sys.stderr)
        return 2
    for part in parts or there:
        new = "\n".join(tables(measured(part), starts(PARTS[part]))) + "\n"
        if mode == "write":
            text = PAGE.read_text(encoding="utf-8")
            begin = f"<!-- figures: {part} -->\n"
            PAGE.write_text(text.replace(begin + blocks()[part], begin + new), encoding="utf-8")
        elif new != there[part]:
            print(f"{PAGE} is not current: python firmware/tests/randomness.py write {part}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "", sys.argv[2:]))
