# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parts of one's own: a template of each kind, and the check of a file against reader, units and its kin."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.answers.verdicts import Verdict
from sunseal.catalog import boards, places
from sunseal.errors import SunsealError, unknown

MODELS = {
    "capacitor": "supercap-0f47-branches",
    "cell": "li-ion-lir2450",
    "charger": "ti-bq25570",
    "converter": "ti-tps7a02",
    "harvester": "anagear-an1010",
    "panel": "ixys-slmd600h10l",
    "radio": "cc2420",
    "fpga": "fpga-ice40up5k",
    "peripheral": "mb85rc256v",
}
"""Each kind of part, and the part whose figures a template begins with."""
KINDS = tuple(MODELS)
FAR = 30.0
"""A figure this many times above the largest of its kin, or below the smallest, is questioned."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
"""A key that TOML takes without quotes."""
SAYS = ("source", "note", "recalled", "assumed")
"""Keys that say where figures are from: a new part has its own."""
YEAR_S = 365.25 * 86_400.0
IDLE = ("shutdown", "standby")
"""States of a peripheral between readings, the least current first."""
NO_SOURCE = "who measured it, or document and page"
"""Words that a template has for a source."""


def kinds_of(facts: Mapping[str, Any]) -> list[str]:
    """Name what a part's file says that it is."""
    return [kind for kind in KINDS if kind in facts]


def capacitor_tolerance_rel(facts: Mapping[str, Any]) -> tuple[float, float]:
    """Return how far below and above its nominal capacitance a capacitor may be."""
    high = float(facts["capacitor"]["tolerance_rel"])
    low = float(facts.get("tolerance", {}).get("low_rel", high))
    if not 0 <= low < 1:
        raise SunsealError(
            f"part `{facts['name']}`: by its tolerance of {low:.0%} downwards it may have no capacitance at all",
            hint="give `low_rel` in a table [tolerance], such as 0.2 for -20 %, where the lower end is another",
        )
    return low, high


WARM_C = 25.0
"""Temperature of a store of which nobody says it."""
SWITCHES = {
    "charger": ("v_ok_rising_V", "v_ok_falling_V"),
    "converter": ("v_start_V", "v_in_min_V"),
    "harvester": ("v_on_v", "v_cut_v"),
}
"""Keys of the voltages at which a kind of part switches an output on, and off."""


def switches_v(name: str, kind: str) -> tuple[float | None, float | None]:
    """Return where a part switches an output on and off; None: that it does not, or does not say alone."""
    own = boards.part(name).get(kind, {})
    on_v, off_v = (own.get(key) for key in SWITCHES[kind])
    # A drop-out or a reserve may lie above it.
    alone = own.get("kind") != "linear" and own.get("overhead_reading") != "reserve"
    return on_v, off_v if alone else None


def capacitance_f(name: str) -> float:
    """Return the nominal capacitance of a capacitor."""
    return float(boards.part(name)["capacitor"]["capacitance_f"])


def retention_s(name: str) -> float:
    """Return how long a store keeps 1/e by itself: of its voltage a capacitor, of its charge a cell."""
    facts = boards.part(name)
    if "cell" in facts:
        return 100 / float(facts["cell"]["self_discharge_percent_per_year"]) * YEAR_S
    own = facts["capacitor"]
    return float(own["capacitance_f"] * own["v_rated_v"] / (own["leakage_uA"] * 1e-6))


@dataclass(frozen=True)
class Sensor:
    """Figures of a peripheral that is read now and then, in SI base units."""

    idle_a: float
    convert_a: float
    convert_s: float
    vcc_v: tuple[float, float]


def sensor(name: str) -> Sensor | None:
    """Return what a part draws between readings and at one; None of a part whose file does not say it."""
    told = boards.part(name).get("peripheral", {})
    current_ua = told.get("current_uA", {})
    idle_ua = next((current_ua[state] for state in IDLE if state in current_ua), None)
    if idle_ua is None or "convert" not in current_ua or "convert_ms" not in told:
        return None
    span_v = float(told["vcc_min_v"]), float(told["vcc_max_v"])
    return Sensor(idle_ua * 1e-6, current_ua["convert"] * 1e-6, told["convert_ms"] * 1e-3, span_v)


def deaf_to_temperature(parts: Iterable[str], temperature_c: float | None) -> list[str]:
    """Say of each store that is asked at another temperature than its file has, which figures stay as they are."""
    if temperature_c is None or temperature_c == WARM_C:
        return []
    told = {part: boards.library().deaf_to_temperature(part) for part in dict.fromkeys(parts)}
    return [
        f"the sheet of {part} gives no figures over temperature: at {temperature_c:g} degrees its {what} are counted "
        f"as at {WARM_C:g}"
        for part, what in told.items()
        if what is not None
    ]


# --- A new file ------------------------------------------------------------------------------


def template(kind: str, name: str, extends: str | None = None) -> str:
    """Write a part's file that can be used at once: figures of a part that there is, each with what it means.

    With `extends` it has that part's figures, and the file names in comments what may be changed.
    """
    if kind not in MODELS:
        raise unknown("kind", kind, KINDS)
    if not NAME.fullmatch(name):
        raise SunsealError(
            f"`{name}` is no name of a part: take small letters, digits, `-` and `_`, as in `my-supercap`"
        )
    base = extends or MODELS[kind]
    facts = boards.part(base)
    if kind not in facts:
        raise SunsealError(f"`{base}` is no {kind} but {', '.join(kinds_of(facts))}: a {kind} cannot extend it")
    meanings = _meanings(kind)
    lines = [
        "# What each key means stands above it; `sunseal part check` says whether the file can be.",
        f'name = "{name}"',
    ]
    if extends is not None:
        lines += [f'extends = "{extends}"', f'title = "{name}: {facts["title"]}, changed"', "", f"[{kind}]"]
        lines += [f"# {line}" for line in _table(kind, facts[kind], meanings)[1:] if line and not line.startswith("[")]
        return "\n".join(lines) + "\n"
    figures = {k: v for k, v in facts[kind].items() if k not in SAYS}
    lines += [f'title = "{name}"', ""]
    table = _table(kind, {"source": NO_SOURCE, **figures}, meanings)
    lines += [table[0], f"# The figures are those of {base}: put your own in their place.", *table[1:]]
    if "tolerance" in facts:
        told = "# How far the lower end of the tolerance is below the nominal figure; without it as far as the upper."
        head, *rows = _table("tolerance", facts["tolerance"], {})
        lines += ["", told, head, *rows]
    return "\n".join(lines) + "\n"


def _table(head: str, facts: Mapping[str, Any], meanings: Mapping[str, str], array: bool = False) -> list[str]:
    """Write a table of TOML, its plain values before the tables in it."""
    lines = [f"[[{head}]]" if array else f"[{head}]"]
    inner: list[str] = []
    for key, value in facts.items():
        if isinstance(value, dict):
            inner += ["", *_table(f"{head}.{key}", value, meanings)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                inner += ["", *_table(f"{head}.{key}", row, meanings, array=True)]
        else:
            if key in meanings and not array:
                lines.append(f"# {meanings[key]}")
            shown = key if BARE_KEY.fullmatch(key) else json.dumps(key)
            lines.append(f"{shown} = {json.dumps(value, ensure_ascii=False)}")
    return lines + inner


@cache
def _meanings(kind: str) -> dict[str, str]:
    """Return what each key of a kind means, as the types that read it say."""
    schema = json.loads(_engine.schema("part"))
    found: dict[str, str] = {}

    def walk(node: Any, seen: frozenset[str]) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item, seen)
        if not isinstance(node, dict):
            return
        for key, told in node.get("properties", {}).items():
            if isinstance(told, dict) and "description" in told:
                found.setdefault(key, " ".join(told["description"].split()))
        reference = node.get("$ref", "").rpartition("/")[2]
        if reference and reference not in seen:
            walk(schema["$defs"][reference], seen | {reference})
        for value in node.values():
            walk(value, seen)

    walk(schema["properties"][kind], frozenset())
    return found


# --- A check ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """A file that the engine takes, and what of it is to be questioned."""

    file: str
    name: str
    kinds: tuple[str, ...]
    extends: str | None
    questions: tuple[str, ...]
    compared_with: tuple[str, ...] = ()
    """Parts of its kinds against which its figures were held; none of a board's or a power set's."""

    @property
    def judged(self) -> Verdict:
        """The verdict: the engine has read it, and refuses by an error what cannot be; a question is no finding."""
        return Verdict(f"part check {self.name}", 1 + len(self.compared_with))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, as `--json` prints them."""
        told = {**self.judged.to_dict(), **vars(self), "valid": True}
        return {**told, **{name: list(told[name]) for name in ("kinds", "questions", "compared_with")}}


def check(path: Path) -> Checked:
    """Check the file of a part, board, chip or power set as the engine reads it; what cannot be is a `SunsealError`."""
    raw = boards.read_toml(path)
    base = raw.get("extends")
    with places.beside(path.parent):
        if "set" in raw:
            return _power_set(path, raw)
        if _is_device(raw):
            return _device(path, base)
        if _is_board(raw):
            return _board(path, base)
        _engine_takes(path)
        facts = json.loads(boards.library().table("parts", path))
        if facts["name"] != path.stem:
            raise SunsealError(f"`{path}`: name is `{facts['name']}`; it must be the file's name, `{path.stem}`")
        found = kinds_of(facts)
        for kind in found:
            for wrong in _impossible(kind, facts[kind]):
                raise SunsealError(f"`{path}`: {wrong}")
        if "capacitor" in facts:
            capacitor_tolerance_rel(facts)
        questions = [q for kind in found for q in _questions(kind, facts)]
        questions += [
            f"{kind}.source is still the template's" for kind in found if facts[kind].get("source") == NO_SOURCE
        ]
        if raw.get("title") is None and base is not None:
            questions.append("title is that of the part which it extends: say what is different")
    held = dict.fromkeys(name for kind in found for name in _kin(kind, facts["name"]))
    based = base if isinstance(base, str) else None
    return Checked(str(path), path.stem, tuple(found), based, tuple(questions), tuple(held))


def _is_device(raw: Mapping[str, Any]) -> bool:
    """Say whether a file is a chip's, or extends one."""
    base = raw.get("extends")
    return ("family" in raw and "core" in raw) or (isinstance(base, str) and base in boards.names("devices"))


def _is_board(raw: Mapping[str, Any]) -> bool:
    """Say whether a file, or the one that it extends at last, has a device: beside it may lie parts and boards."""
    seen: set[str] = set()
    while "device" not in raw:
        base = raw.get("extends")
        if not isinstance(base, str) or base in seen:
            return False
        seen.add(base)
        found = boards.library().find("parts", base)
        if found is None:
            return True
        raw = boards.read_toml(Path(found))
    return True


def _engine_takes(path: Path) -> None:
    boards.library().check_part(path)


def _power_set(path: Path, raw: Mapping[str, Any]) -> Checked:
    told: Any = raw["set"]
    device = str(told.get("device", "")) if isinstance(told, dict) else ""
    file = boards.library().find("devices", device)
    if file is not None:
        _engine.PowerSet(boards.library(), path.stem, str(file))
    else:
        # A radio's or a board's: any question to it reads it whole.
        try:
            _engine.state_current_a(boards.library(), path.stem, device, "", "", 3.0)
        except _engine.EngineError as e:
            if "no coefficient" not in str(e):
                raise
    return Checked(str(path), path.stem, ("power set",), told.get("extends"), ())


def _device(path: Path, base: object) -> Checked:
    _engine.Machine(str(path), None, None, [], None, (0.0, 0.0), 0)
    told = json.loads(boards.library().table("devices", path))
    if told["name"] != path.stem:
        raise SunsealError(f"`{path}`: name is `{told['name']}`; it must be the file's name, `{path.stem}`")
    return Checked(str(path), path.stem, ("device",), base if isinstance(base, str) else None, ())


def _board(path: Path, base: object) -> Checked:
    board = _engine.Board(path, boards.library())
    for part in board.parts:
        boards.part_path(part)
    if board.device not in boards.names("devices"):
        raise unknown("device", board.device, boards.names("devices"), f"in `{path}`")
    told = json.loads(boards.library().table("boards", path))
    boards.power_set_path(str(told["power"]["set"]), board.device)
    return Checked(str(path), board.name, ("board",), base if isinstance(base, str) else None, ())


def _impossible(kind: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """Name what no such part can be."""

    def rises(*keys: str) -> Iterator[str]:
        for low, high in itertools.pairwise(keys):
            a, b = facts.get(low), facts.get(high)
            if a is not None and b is not None and not a < b:
                yield f"{kind}.{low} is {a} and {kind}.{high} {b}; the first must be the lower"

    for key, value in _figures(facts):
        signed = key.endswith(("_dBm", "_per_k", "message.send.0"))
        if value < 0 and not signed:
            yield f"{kind}.{key} is {value:g}; it must be zero or more"
        if key.endswith("efficiency") and value > 1:
            yield f"{kind}.{key} is {value:g}; a share of the power is at most 1"
        if re.search(r"(^|\.)percent(\.|$)|efficiency_percent$|mppt_percent$", key) and value > 100:
            yield f"{kind}.{key} is {value:g}; it is at most 100 percent"
    above_zero = {"capacitor": ("capacitance_f", "v_rated_v", "leakage_uA"), "cell": ("capacity_mAh",)}
    for key in above_zero.get(kind, ()):
        if not facts.get(key, 1.0) > 0:
            yield f"{kind}.{key} is {facts[key]:g}; it must be above zero"
    orders: dict[str, tuple[tuple[str, ...], ...]] = {
        "panel": (("v_mp_v", "v_oc_v"), ("i_mp_mA", "i_sc_mA")),
        "harvester": (("v_cut_v", "v_on_v", "v_max_v"),),
        "charger": (("v_ok_falling_V", "v_ok_rising_V", "v_ov_V"), ("cold_until_V", "v_ov_V")),
        "converter": (("v_in_min_V", "v_start_V"),) if facts.get("kind") != "linear" else (),
    }
    for order in orders.get(kind, ()):
        yield from rises(*order)
    if (
        kind == "cell"
        and facts["ocv_V"]
        and not facts["v_end_V"] < facts["ocv_V"][-1][1] * facts.get("cells_in_series", 1)
    ):
        yield f"cell.v_end_V is {facts['v_end_V']}, which is above the full cells' voltage"


def _figures(facts: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Go through the numbers of a table, each with its key; a list's by its key alone."""
    for key, value in facts.items():
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float):
            yield key, float(value)
        elif isinstance(value, dict):
            yield from ((f"{key}.{inner}", v) for inner, v in _figures(value))
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, int | float) and not isinstance(item, bool):
                    yield key, float(item)
                elif isinstance(item, dict):
                    yield from ((f"{key}.{inner}", v) for inner, v in _figures(item))
                elif isinstance(item, list):
                    yield from ((f"{key}.{i}", float(v)) for i, v in enumerate(item) if isinstance(v, int | float))


def _derived(kind: str, facts: Mapping[str, Any]) -> dict[str, float]:
    """Return figures that do not depend on a part's size, by what they are called."""
    if kind == "capacitor":
        charge_c = facts["capacitance_f"] * facts["v_rated_v"]
        return {
            "leakage for its charge (uA/C)": facts["leakage_uA"] / charge_c,
            "time constant of its series resistance (s)": facts["esr_ohm"] * facts["capacitance_f"],
        }
    if kind == "panel" and "v_mp_v" in facts:
        return {"fill factor": facts["v_mp_v"] * facts["i_mp_mA"] / (facts["v_oc_v"] * facts["i_sc_mA"])}
    if kind == "cell":
        return {"open-circuit voltage of one full cell (V)": facts["ocv_V"][-1][1]}
    return {}


def _kin(kind: str, name: str) -> dict[str, Mapping[str, Any]]:
    """Return the package's parts of a kind by their names, but for one of that name; one alone is no kin."""
    package = sorted(p.stem for p in (boards.home() / "data" / "parts").glob("*.toml"))
    # Its base is of its kin; what the part was copied under its own name from is not asked.
    kin = {n: boards.part(n)[kind] for n in package if n != name and kind in boards.part(n)}
    return kin if len(kin) > 1 else {}


def _questions(kind: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """Question what is far from every other part of the kind."""
    own, kin = facts[kind], _kin(kind, facts["name"])
    known: dict[str, list[float]] = {}
    for told in kin.values():
        for key, value in (*_figures(told), *_derived(kind, told).items()):
            if value > 0:
                known.setdefault(key, []).append(value)
    asked = set()
    for key, value in (*_figures(own), *_derived(kind, own).items()):
        if value <= 0 or key in asked or len(known.get(key, ())) < 2:
            continue
        low, high = min(known[key]), max(known[key])
        if low / FAR <= value <= high * FAR:
            continue
        asked.add(key)
        factor = value / high if value > high else low / value
        side = "the largest" if value > high else "the smallest"
        place = key if " " in key else f"{kind}.{key}"
        yield (
            f"{place} is {value:g}, {factor:,.0f} times {'above' if value > high else 'below'} {side} of the other "
            f"{len(kin)} ({low:g} to {high:g}): is that meant, and in this unit?"
        )
    if kind == "panel" and "v_mp_v" in own:
        fill = _derived(kind, own)["fill factor"]
        if not 0.4 <= fill <= 0.88:
            yield f"fill factor is {fill:.2f}; cells of silicon have 0.5 to 0.85"
