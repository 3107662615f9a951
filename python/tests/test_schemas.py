# SPDX-License-Identifier: MIT OR Apache-2.0
"""The published schemas: what readers take they take, what readers refuse they refuse."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from sunseal import _engine
from sunseal.catalog import boards, part_files
from sunseal.errors import SunsealError
from sunseal.loop import fleet, simulation
from sunseal.machine import network
from sunseal.planner import plan_requirements
from sunseal.schemas import files as schemas
from validating import wrong

HOME = boards.home()


def refused(kind: str, told: dict[str, Any]) -> list[str]:
    whole = schemas.schema(kind)
    return list(wrong(told, whole, whole))


def scenario(path: Path) -> object:
    return simulation.load(path)


PROFILE = fleet.NodeProfile(1e-6, 0.0, 0.0, 60.0, (fleet.Task("sign", 600.0, 1e-3, 0.1, 2e-3),))
READERS: dict[str, Callable[[Path], object]] = {
    "part": part_files.check,
    "board": part_files.check,
    "power-set": part_files.check,
    "scenario": scenario,
    "requirements": plan_requirements.load,
    "fleet": lambda path: fleet.load(path, PROFILE),
    "network": network.load,
}
EXAMPLES: dict[str, list[Path]] = {
    "part": sorted((HOME / "data/parts").glob("*.toml")),
    "board": sorted((HOME / "data/boards").glob("*.toml")),
    "power-set": sorted((HOME / "data/power").glob("*.toml")),
    "scenario": sorted((HOME / "examples/scenarios").glob("*.toml")),
    "requirements": sorted((HOME / "examples").glob("requirements*.toml")),
    "fleet": [HOME / "examples/fleet.toml"],
    "network": [HOME / "examples/two-motes.toml"],
}
ALL = [(kind, path) for kind, paths in EXAMPLES.items() for path in paths]


@pytest.mark.parametrize(("kind", "path"), ALL, ids=lambda v: v.stem if isinstance(v, Path) else v)
def test_each_example_validates(kind: str, path: Path) -> None:
    assert refused(kind, tomllib.loads(path.read_text())) == []


def tables(told: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Go through the tables of a file whose keys are fixed."""
    if isinstance(told, dict):
        yield at
        for key, value in told.items():
            yield from tables(value, (*at, key))
    elif isinstance(told, list):
        for i, value in enumerate(told):
            if isinstance(value, dict):
                yield from tables(value, (*at, i))


OPEN = {"write", "prices", "crystal", "leds", "timing", "source", "radio", "part"}
"""Tables whose keys are names: symbols, parts, oscillators, wires."""


def toml(told: dict[str, Any]) -> str:
    def value(v: Any) -> str:
        if isinstance(v, bool):
            return str(v).lower()
        if isinstance(v, dict):
            return "{ " + ", ".join(f"{_key(k)} = {value(x)}" for k, x in v.items()) + " }"
        if isinstance(v, list):
            return "[" + ", ".join(map(value, v)) + "]"
        return repr(v) if isinstance(v, int | float) else '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def _key(k: str) -> str:
        return k if re.fullmatch(r"[\w-]+", k) else f'"{k}"'

    return "".join(f"{_key(k)} = {value(v)}\n" for k, v in told.items())


@pytest.mark.parametrize("kind", list(READERS))
def test_a_seeded_wrong_key_is_refused_by_both(kind: str, tmp_path: Path) -> None:
    """In every table of an example, by schema and by reader."""
    path = EXAMPLES[kind][0] if kind != "part" else HOME / "data/parts/supercap-0f47-branches.toml"
    told = tomllib.loads(path.read_text())
    room = {"part": "parts", "board": "boards", "power-set": "power"}.get(kind)
    copied = tmp_path / (room or ".") / path.name
    copied.parent.mkdir(exist_ok=True)
    if kind == "fleet":
        told["scenario"] = str(HOME / "examples" / told["scenario"])
    for node in told.get("node", []) if kind == "network" else []:
        node |= {key: str(HOME / "examples" / node[key]) for key in ("elf", "input") if key in node}
    copied.write_text(toml(told))
    READERS[kind](copied)  # what is written here is what was read
    seeded = 0
    for at in tables(told):
        if OPEN & set(map(str, at)) and not (kind == "part" and at[:1] == ("radio",)):
            continue
        bad = copy.deepcopy(told)
        place: Any = bad
        for step in at:
            place = place[step]
        place["seeded_wrong_key"] = 1
        assert refused(kind, bad), f"the schema takes a wrong key in {at}"
        copied.write_text(toml(bad))
        with pytest.raises((SunsealError, _engine.EngineError)):
            READERS[kind](copied)
        seeded += 1
    assert seeded >= 2


@pytest.mark.parametrize("kind", ["requirements", "fleet", "network"])
def test_schemas_by_hand_know_the_reader_s_keys(kind: str, tmp_path: Path) -> None:
    """A reader's error lists its keys: they are the schema's."""
    told = tomllib.loads(EXAMPLES[kind][-1].read_text())
    if kind == "fleet":
        told["scenario"] = str(HOME / "examples" / told["scenario"])
    elif kind == "requirements":
        told["battery"] = {"lifetime": "2years"}
    for node in told.get("node", []) if kind == "network" else []:
        node |= {key: str(HOME / "examples" / node[key]) for key in ("elf", "input") if key in node}
    whole = schemas.schema(kind)
    names = [None, *(k for k, v in whole["properties"].items() if "properties" in v)]
    names += {"requirements": ["task"], "network": ["node", "link"]}.get(kind, [])
    held = 0
    for name in names:
        if name == "profile":
            continue  # it is read by the names of a Python class
        bad = copy.deepcopy(told)
        schema = whole if name is None else whole["properties"][name]
        schema = schema.get("items", schema)
        place = bad if name is None else bad.setdefault(name, {})
        (place[0] if isinstance(place, list) else place)["seeded_wrong_key"] = 1
        file = tmp_path / "r.toml"
        file.write_text(toml(bad))
        with pytest.raises(SunsealError, match="seeded_wrong_key") as error:
            READERS[kind](file)
        known = str(error.value).rpartition("known: ")[2].split(", ")
        if name == "prices":
            continue  # its keys are the parts and boards that there are
        assert set(known) == set(schema["properties"]), name
        held += 1
    assert held >= 3


def test_a_file_that_extends_needs_only_what_it_changes() -> None:
    assert refused("part", {"name": "a", "extends": "b", "capacitor": {"leakage_uA": 4.0}}) == []
    assert refused("part", {"name": "a", "extends": "b", "capacitor": {"leakage_ua": 4.0}})
    assert refused("part", {"name": "a", "title": "a", "capacitor": {"leakage_uA": 4.0}})
    assert refused("board", {"name": "a", "extends": "telosb", "radio": "none"}) == []
    assert refused("board", {"name": "a", "extends": "telosb", "radio": "off"})


def test_the_published_schemas_are_those_of_this_build(sunseal: Cli, tmp_path: Path) -> None:
    schemas.check(HOME / schemas.FOLDER)
    schemas.write(tmp_path)
    (tmp_path / "part.schema.json").write_text("{}\n")
    done = sunseal("schema", "--check", tmp_path)
    assert done.status == 1 and "is not the schema of what is read now" in done.err
    assert sunseal("schema", "part").out == schemas.text("part")
    assert sunseal("schema", "parts").status == 2 and sunseal("schema").status == 2
