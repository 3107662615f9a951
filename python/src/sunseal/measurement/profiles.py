# SPDX-License-Identifier: MIT OR Apache-2.0
"""Profiles in the forms that viewers read: folded stacks, speedscope, pprof, Perfetto."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sunseal.answers import protobuf as pb
from sunseal.answers.tracks import Tracks

Stacks = Mapping[str, float]
"""Weights by folded stack, `outer;inner`."""
SPEEDSCOPE_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
PICO = 1e12


@dataclass(frozen=True)
class Weight:
    """Quantity that stacks are weighed in: its name, the unit of whole numbers, and how many of these one is."""

    name: str
    unit: str
    stacks: Stacks
    scale: float = 1.0

    def whole(self, stack: str) -> int:
        """Return a stack's weight as a whole number of the unit."""
        return round(self.stacks.get(stack, 0.0) * self.scale)


def cycles(stacks: Stacks) -> Weight:
    """Weigh in cycles of the CPU."""
    return Weight("cycles", "count", stacks)


def joules(stacks: Stacks) -> Weight:
    """Weigh in joules, whole picojoules where a form has no fractions."""
    return Weight("energy", "picojoules", stacks, PICO)


def folded(title: str, weights: Sequence[Weight]) -> str:
    """Write the last weight a stack a line, for any tool that draws flame graphs."""
    stacks = weights[-1].stacks
    return "".join(f"{stack} {stacks[stack]:.12g}\n" for stack in sorted(stacks))


def speedscope(title: str, weights: Sequence[Weight]) -> str:
    """Write a file of speedscope, a profile a weight; the last is shown first."""
    names = sorted({name for weight in weights for stack in weight.stacks for name in stack.split(";")})
    index = {name: i for i, name in enumerate(names)}
    profiles = []
    for weight in weights:
        stacks = sorted(weight.stacks)
        values = [weight.stacks[stack] * weight.scale for stack in stacks]
        unit = "cycles" if weight.scale == 1.0 else weight.unit
        profiles.append(
            {
                "type": "sampled",
                "name": f"{title}: {weight.name} ({unit})",
                "unit": "none",
                "startValue": 0,
                "endValue": sum(values),
                "samples": [[index[name] for name in stack.split(";")] for stack in stacks],
                "weights": values,
            }
        )
    told = {
        "$schema": SPEEDSCOPE_SCHEMA,
        "shared": {"frames": [{"name": name} for name in names]},
        "profiles": profiles,
        "name": title,
        "activeProfileIndex": len(weights) - 1,
        "exporter": "sunseal",
    }
    return json.dumps(told, allow_nan=False) + "\n"


class _Texts:
    """Table of texts, each once; the first is empty."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def pprof(title: str, weights: Sequence[Weight]) -> bytes:
    """Write a profile of pprof (`profile.proto`), compressed, a type of samples a weight."""
    texts, functions = _Texts(), dict[str, int]()
    out: list[bytes] = []
    for weight in weights:
        out.append(pb.message(1, pb.number(1, texts(weight.name)), pb.number(2, texts(weight.unit))))
    for stack in sorted({stack for weight in weights for stack in weight.stacks}):
        # The innermost function comes first.
        places = [functions.setdefault(name, len(functions) + 1) for name in reversed(stack.split(";"))]
        out.append(pb.message(2, pb.packed(1, places), pb.packed(2, [weight.whole(stack) for weight in weights])))
    for name, number in functions.items():
        out.append(pb.message(4, pb.number(1, number), pb.message(4, pb.number(1, number))))
        out.append(pb.message(5, pb.number(1, number), pb.number(2, texts(name)), pb.number(3, texts(name))))
    out += [pb.number(13, texts(title)), pb.number(14, texts(weights[-1].name))]
    out += [pb.text(6, text) for text in texts.numbers]
    return gzip.compress(b"".join(out), mtime=0)


def perfetto(title: str, weights: Sequence[Weight]) -> bytes:
    """Write a trace of Perfetto in which functions lie in each other as on a flame graph: a nanosecond is a unit."""
    written: list[bytes] = []
    tracks = Tracks(written.append)
    parent = tracks.track(title)
    for weight in weights:
        unit = "cycle" if weight.scale == 1.0 else weight.unit.removesuffix("s")
        track = tracks.track(f"{weight.name}, 1 ns is a {unit}", parent)
        at, open_names = 0, list[str]()
        for stack in sorted(weight.stacks, key=lambda stack: stack.split(";")):
            names = stack.split(";")
            common = next(
                (i for i, (a, b) in enumerate(zip(open_names, names, strict=False)) if a != b),
                min(len(open_names), len(names)),
            )
            for _ in open_names[common:]:
                tracks.end(track, at)
            for name in names[common:]:
                tracks.begin(track, at, name)
            open_names = names
            at += weight.whole(stack)
        for _ in open_names:
            tracks.end(track, at)
    return b"".join(written)


FORMS: dict[str, tuple[Callable[[str, Sequence[Weight]], str | bytes], tuple[str, ...]]] = {
    "folded": (folded, (".folded", ".txt")),
    "speedscope": (speedscope, (".json",)),
    "pprof": (pprof, (".pprof", ".gz", ".pb")),
    "perfetto": (perfetto, (".pftrace", ".perfetto-trace")),
}
"""Forms of a profile: what writes each, and how its files are named."""
