# SPDX-License-Identifier: MIT OR Apache-2.0
"""Evidence behind a reproduced figure: its task, resources, coefficients and run, and the class that follows by rule.

Nobody types a class. A row of data/published says what is asked of which program, and what input was solved from an
answer (`solved`); a power set says which of its anchors were fitted (`fitted = true`). The class follows from both, so
that fitting one more coefficient changes the class of the rows that use it without an edit of theirs. A row whose run
was weighed has the single coefficients that moved its figure: an anchor of others does not make it a fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, places
from sunseal.errors import SunsealError
from sunseal.papers.arithmetic import arithmetic

Raw = dict[str, Any]
CLASSES = {
    "independent": "ours comes from our firmware and models; no coefficient was fitted to the figure beside it",
    "fitted": "a coefficient of ours was fitted to this very figure, so that it shows the fit and no more",
    "by_construction": "our model gives this whatever its coefficients are",
    "arithmetic": "the paper's own arithmetic on its own printed inputs",
    "back_solved": "an input is printed nowhere and was solved from the answer",
    "not_printed": "the paper only draws it, or loses it: ours stands alone",
}
"""Worth of a row's agreement, by class."""
INGREDIENTS: dict[str, set[str]] = {
    "energy_j": {"energy"},
    "edp_js": {"energy", "time"},
    "power_w": {"energy", "time"},
    "ua_per_mhz": {"energy"},
    "operations": {"energy"},
    "lifetime_h": {"energy"},
    "cheapest_hz": {"energy"},
    "step_hz": {"energy"},
    "clock_for_energy_hz": {"energy"},
    "clock_for_time_hz": {"time"},
    "time_s": {"time"},
    "duty_percent": {"time"},
    "cycles": {"cycles"},
    "read_j": {"energy"},
    "rate_hz": {"energy"},
    "load_j": {"energy"},
    "harvested_j": {"energy"},
    "node_j": {"energy"},
    "inflection_w": {"energy"},
}
"""Measures of a run that a quantity is made of; a quantity that is not named is a count or a fact."""
WITHIN = 5e-3
"""Share by which a printed figure may differ from the anchor that it is: both are rounded."""
NEAR = 0.10
"""Share within which two figures read off a curve are one."""
_NUMBER = re.compile(r"\d+\.?\d*(?:[eE][+-]?\d+)?")
RUN_KEYS = frozenset(
    (
        *("workload", "variant", "mpy", "message_bytes", "head", "parameter", "plus", "minus", "calls", "coupon"),
        *(
            "guard",
            "whole",
            "runtime",
            "generator",
            "cipher",
            "bus",
            "designs",
            "light_w",
            "store",
            "factor",
            "symbols",
            "rail",
            "loss",
            "packet_bytes",
            "window",
        ),
    )
)
"""Keys of a row that make another run of it; voltage and clock only weigh one."""
FACT_KEYS = ("quantity", "part", "memory", "state", "freq_max_hz")
"""Keys that make another fact, where nothing runs."""
_COMMON = {"board", "power_set", "variant", "vcc_v", "freq_hz", "workload"}


@dataclass(frozen=True)
class Anchor:
    """A measured energy that a power set was fitted to."""

    power_set: str
    vcc_v: float
    freq_hz: float
    cycles: float
    energy_j: float
    place: str
    coefficients: frozenset[str] = frozenset()
    """Names of what its set states itself, of which it was fitted."""

    @property
    def edp_js(self) -> float:
        """Energy-delay product of the anchor's run."""
        return self.energy_j * self.cycles / self.freq_hz

    def has(self, coefficient: str) -> bool:
        """Tell whether a coefficient, named with its set, was fitted to this anchor."""
        power_set, _, name = coefficient.partition(": ")
        return power_set == self.power_set and name in self.coefficients


@dataclass(frozen=True)
class Evidence:
    """Provenance of one figure, and the class that follows from it."""

    kind: str
    """Class of the evidence, one of CLASSES."""
    why: str
    """Rule by which the class follows."""
    task: str
    """Operation of ours whose figure stands beside the paper's."""
    resources: str
    """Board, variant, voltage and clock that it runs with."""
    coefficients: tuple[str, ...]
    """Single coefficients that weigh it, else power sets, with the anchors that were fitted to them."""
    run: str
    """Identity of the run or fact that the figure rests on: rows of one run share it."""


def of(board: str, table: Raw, raw: Raw, used: Iterable[str] = ()) -> Evidence:
    """Derive the evidence of a row of data/published; `board` is its paper's, `used` what its run was weighed by.

    Raises:
        SunsealError: If no rule gives a class.
    """
    if "class" in raw:
        raise SunsealError(
            f"`{raw['label']}` in {table['id']} of data/published names a class; leave it out: it follows by rule"
        )
    asked = _Asked(board, table, raw)
    single = sorted({*used}) if asked.sets() else []
    anchors = tuple(a for a in asked.anchors() if not single or any(a.has(name) for name in single))
    kind, why = _class(asked, anchors)
    coefficients = tuple(
        f"{name} (fitted to {'; '.join(places)})" if places else name
        for name in single or asked.sets()
        for places in [[a.place for a in anchors if a.power_set == name or a.has(name)]]
    )
    return Evidence(kind, why, asked.task(), asked.resources(), coefficients, asked.run())


_USED: ContextVar[set[str] | None] = ContextVar("coefficients", default=None)


@contextmanager
def noting() -> Iterator[set[str]]:
    """Gather the coefficients that are told by `note` meanwhile."""
    used: set[str] = set()
    token = _USED.set(used)
    try:
        yield used
    finally:
        _USED.reset(token)


def note(coefficients: Iterable[str]) -> None:
    """Tell what a figure was weighed by to whoever gathers it."""
    if (used := _USED.get()) is not None:
        used.update(coefficients)


def weighed_by(power_set: str, joules: Mapping[str, float]) -> frozenset[str]:
    """Name the coefficients behind states and events that took energy, each with the set that states it."""
    return frozenset(f"{_stated(power_set, name)}: {name}" for name, energy_j in joules.items() if energy_j > 0.0)


def _stated(power_set: str, name: str) -> str:
    own, base = _own(power_set)
    return power_set if name in own or base is None else _stated(base, name)


@places.cached
def _own(power_set: str) -> tuple[frozenset[str], str | None]:
    """Read the names of the coefficients that a set states itself, and the set that it extends."""
    data: Raw = boards.read_toml(boards.home() / "data" / "power" / f"{power_set}.toml")
    currents = (f"{c['component']}.{c['state']}" for c in data.get("current", ()))
    return frozenset((*currents, *(e["event"] for e in data.get("event", ())))), data["set"].get("extends")


@dataclass(frozen=True)
class _Asked:
    """A row with its table's defaults."""

    paper_board: str
    table: Raw
    raw: Raw

    def get(self, key: str, default: Any = None) -> Any:
        return self.raw.get(key, self.table.get(key, default))

    @property
    def kind(self) -> str:
        return "expr" if "expr" in self.raw else str(self.get("kind"))

    @property
    def board(self) -> str:
        return str(self.get("board", self.paper_board))

    @property
    def quantity(self) -> str:
        return str(self.raw.get("quantity", ""))

    @property
    def needs(self) -> set[str]:
        """Measures that the figure is made of."""
        if self.quantity == "formula":
            return {name.partition("_")[0] for name in ("energy_j", "time_s", "cycles") if name in self.raw["formula"]}
        if self.kind in ("surplus", "unit", "radio"):
            return {"energy"}
        return INGREDIENTS.get(self.quantity, set())

    def sets(self) -> tuple[str, ...]:
        """Power sets whose coefficients the figure uses."""
        if self.kind == "expr" or "energy" not in self.needs or self.quantity == "packet_energy_j":
            return ()
        name = str(self.get("power_set", boards.DEFAULT_POWER))
        if self.kind == "radio":
            return (boards.power_set_path(name, str(self.raw["radio"]).partition("-")[0]).stem,)
        at = boards.board(self.board)
        device = str(at["device"])
        own = boards.power_set_path(name, device).stem
        return (own, boards.power_set_path(name, str(at["radio"]["part"])).stem) if self.kind == "base" else (own,)

    def anchors(self) -> tuple[Anchor, ...]:
        return tuple(a for name in self.sets() for a in fitted(name))

    def points(self) -> Iterator[tuple[float | None, float | None]]:
        """Yield the operating points at which the figure takes its price."""
        vcc_v = self.get("vcc_v")
        clock = self.raw.get("published") if self.quantity == "clock_for_energy_hz" else self.get("freq_hz")
        yield vcc_v, clock
        if over := self.raw.get("over"):
            yield over.get("vcc_v", vcc_v), over.get("freq_hz", clock)

    def one_level(self) -> bool:
        """Tell whether both clocks of a ratio run at one core voltage."""
        device = str(boards.board(self.board)["device"])
        levels = _engine.levels(str(boards.device_path(device)))
        clocks = [float(f) for _, f in self.points() if f is not None]
        return len({next((core for top, _, core in levels if f <= top), None) for f in clocks}) == 1

    def hardly_moves(self, anchors: tuple[Anchor, ...]) -> bool:
        """Tell whether a formula knows little of our energy, about those that its power set was fitted to."""

        def at(energy_j: float) -> float:
            return arithmetic(self.raw["formula"].replace("energy_j", repr(energy_j)))

        ratios = [at(factor * a.energy_j) / at(a.energy_j) for a in anchors for factor in (0.5, 2.0)]
        return bool(ratios) and all(abs(r - 1) < NEAR for r in ratios) and "over" not in self.raw

    def printed(self) -> list[float]:
        """Return the numbers that the paper's side of the row is made of."""
        given = [self.raw.get("published"), self.raw.get("original"), self.raw.get("limit")]
        return [float(n) for g in given if g is not None for n in (_NUMBER.findall(g) if isinstance(g, str) else [g])]

    def task(self) -> str:
        if self.kind == "expr":
            return "the paper's arithmetic"
        named = [
            str(self.raw[k]) for k in ("workload", "coupon", "generator", "cipher", "store", "radio") if k in self.raw
        ]
        named += ["+".join(self.raw["designs"])] if "designs" in self.raw else []
        sized = f", {self.raw['message_bytes']} bytes" if "message_bytes" in self.raw else ""
        more = [
            f"{sign} {o['workload']}" for sign, key in (("+", "plus"), ("-", "minus")) for o in self.raw.get(key, ())
        ]
        more += [f"+ {c['times']} x {c['function']}" for c in self.raw.get("calls", ())]
        return " ".join([*(named or [self.get("workload") or self.quantity or self.kind]), *more]) + sized

    def resources(self) -> str:
        if self.kind == "expr":
            return ""
        variant = self.raw.get("variant") or ([f"mpy={self.raw['mpy']}"] if "mpy" in self.raw else [])
        at = [f"{v:g} {unit}" for v, unit in ((self.get("vcc_v"), "V"), (self.get("freq_hz"), "Hz")) if v is not None]
        return ", ".join([self.board, *variant, *at])

    def run(self) -> str:
        """Name the machine's execution, or the fact: what is weighed twice ran once."""
        if self.kind == "expr":
            return f"expr {self.raw['expr']}"
        own = {k: v for k, v in sorted(self.raw.items()) if k in RUN_KEYS}
        if self.kind not in ("paper", "measure", "energy", "curve", "unit", "metered", "footprint"):
            own |= {"kind": self.kind, **{k: self.raw[k] for k in FACT_KEYS if k in self.raw}}
        variant = own.pop("variant", None) or ([f"mpy={own.pop('mpy')}"] if "mpy" in own else [])
        workload = own.pop("workload", self.get("workload", ""))
        rest = ", ".join(f"{k}={v}" for k, v in own.items())
        return " ".join(filter(None, (str(workload), f"on {self.board}", *variant, rest)))


@places.cached
def fitted(power_set: str) -> tuple[Anchor, ...]:
    """Read the anchors that coefficients of a power set were fitted to, those of the set that it extends among them."""
    data: Raw = boards.read_toml(boards.home() / "data" / "power" / f"{power_set}.toml")
    below = fitted(data["set"]["extends"]) if "extends" in data["set"] else ()
    return below + tuple(
        Anchor(
            power_set,
            float(a["vcc_v"]),
            float(a["mclk_mhz"]) * 1e6,
            float(a["cycles"]),
            float(a["energy_mj"]) * 1e-3,
            str(a["place"]).partition(";")[0],
            _own(power_set)[0],
        )
        for a in data.get("anchor", ())
        if a.get("fitted")
    )


# --- Rules -----------------------------------------------------------------------------------


def _class(asked: _Asked, anchors: tuple[Anchor, ...]) -> tuple[str, str]:
    for kind, rule in RULES:
        if why := rule(asked, anchors):
            return kind, why
    raise SunsealError(
        f"no rule gives `{asked.raw['label']}` in {asked.table['id']} of data/published a class; it must ask something "
        "of our programs, or have `expr`"
    )


def _not_printed(asked: _Asked, _: tuple[Anchor, ...]) -> str:
    return "" if "published" in asked.raw else "the paper prints no figure"


def _back_solved(asked: _Asked, _: tuple[Anchor, ...]) -> str:
    solved = asked.get("solved")
    if isinstance(solved, str):
        return solved
    # A clock that was solved from cycles and delay makes the delay, and no more than the delay.
    if isinstance(solved, dict) and asked.needs & set(solved["from"]):
        return f"{solved['input']} is not printed; it was solved from the paper's own {' and '.join(solved['from'])}"
    return ""


def _arithmetic(asked: _Asked, _: tuple[Anchor, ...]) -> str:
    if "expr" in asked.raw:
        return "an expression of printed inputs"
    own = asked.needs == {"time"} and "cycles" in asked.raw
    return "the paper's own cycles over its clock" if own else ""


def _by_construction(asked: _Asked, anchors: tuple[Anchor, ...]) -> str:
    if asked.kind == "unit":
        return "our measurement unit reads our own board"
    if asked.quantity == "step_hz":
        return "the law steps where the device's core voltage does"
    over = set(asked.raw.get("over", ()))
    if "energy" in asked.needs and over == {"vcc_v"}:
        return "a regulator draws one charge at either voltage, so that every coefficient cancels"
    if "energy" in asked.needs and over == {"freq_hz"} and asked.get("better") == "below" and asked.one_level():
        return "the law has a term that falls with the clock, whatever its coefficient is"
    if asked.quantity == "power_w" and over and not over & (_COMMON - {"workload", "variant"}):
        return "our CPU draws one current at one clock, whatever it runs"
    if asked.quantity == "formula" and asked.needs == {"energy"} and asked.hardly_moves(anchors):
        return "the formula moves by less than a tenth where our energy doubles or halves"
    return ""


def _fitted(asked: _Asked, anchors: tuple[Anchor, ...]) -> str:
    for a in anchors:
        here = any(
            vcc_v is not None and clock is not None and math.isclose(vcc_v, a.vcc_v) and abs(clock - a.freq_hz) < 1.0
            for vcc_v, clock in asked.points()
        )
        theirs = any(math.isclose(n, of, rel_tol=WITHIN) for n in asked.printed() for of in (a.energy_j, a.edp_js))
        if here or (theirs and ("original" in asked.raw or isinstance(asked.raw.get("published"), str))):
            return f"{a.power_set} was fitted to {a.place}"
    return ""


def _independent(asked: _Asked, _: tuple[Anchor, ...]) -> str:
    return "" if asked.kind in ("expr", "None") else "nothing that it uses was fitted to the figure beside it"


RULES: tuple[tuple[str, Callable[[_Asked, tuple[Anchor, ...]], str]], ...] = (
    ("not_printed", _not_printed),
    ("by_construction", _by_construction),
    ("fitted", _fitted),
    ("back_solved", _back_solved),
    ("arithmetic", _arithmetic),
    ("independent", _independent),
)
"""Classes in the order in which they are asked: the first rule that speaks decides."""
