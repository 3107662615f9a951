# SPDX-License-Identifier: MIT OR Apache-2.0
"""Key paths of a scenario or requirements file, such as `supply.capacitance_f` or `task[0].every`: found, set."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sunseal.catalog import boards
from sunseal.errors import SunsealError, unknown
from sunseal.requests.points import split
from sunseal.schemas import files as schemas

ANY = "*"
"""Stands for a name that the file's author chooses, such as a symbol below `write`."""
PATHS: dict[str, tuple[str, ...]] = {
    "scenario": ("firmware", "harvest.trace", "harvest.sunlight.weather", "load.trace"),
    "requirements": ("climate.trace", "climate.weather"),
}
"""Keys that name a file; it is taken from the folder of the file that they stand in."""


@cache
def known(kind: str) -> dict[str, dict[str, Any]]:
    """Return each key path of a kind of file, an index as `[0]`, with its schema."""
    whole = schemas.schema(kind)
    found: dict[str, dict[str, Any]] = {}

    def walk(node: dict[str, Any], path: str, depth: int) -> None:
        if "$ref" in node:
            node = {**node, **whole["$defs"][node["$ref"].rpartition("/")[2]]}
        if path:
            found.setdefault(path, node)
        if depth > 8:
            return
        dot = "." if path else ""
        for name, inner in node.get("properties", {}).items():
            walk(inner, f"{path}{dot}{name}", depth + 1)
        free = node.get("additionalProperties")
        if isinstance(free, dict):
            walk(free, f"{path}{dot}{ANY}", depth + 1)
        if isinstance(node.get("items"), dict):
            walk(node["items"], f"{path}[0]", depth + 1)
        for one in (*node.get("anyOf", ()), *node.get("oneOf", ())):
            walk(one, path, depth + 1)

    walk(whole, "", 0)
    return found


def check(path: str, kind: str) -> dict[str, Any]:
    """Return the schema of a key path; one that a kind of file does not have is an error that names the nearest."""
    every = known(kind)
    whole = re.sub(r"\[\d+\]", "[0]", path)
    split(path)
    above = whole.rpartition(".")[0]
    for name in (whole, f"{above}.{ANY}"):
        if name in every:
            return every[name]
    article = {"scenario": "a scenario", "requirements": "a requirements file"}[kind]
    names = (name for name in every if ANY not in name)
    raise unknown("key", path, names, f"of {article}", f"`sunseal schema {kind}` has them all")


KINDS: dict[str, tuple[type, ...]] = {"number": (int, float), "integer": (int,), "string": (str,), "boolean": (bool,)}


def plain(value: Any, path: str, schema: Mapping[str, Any]) -> Any:
    """Return a value as a file would hold it; one of another type than the key's is an error."""
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    wanted = schema.get("type")
    if value is None or wanted not in KINDS:
        return value
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, KINDS[wanted]) and isinstance(value, bool) == (wanted == "boolean")
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        raise SunsealError(f"`{path}` is {value!r}; it must be {_SAID[wanted]}")
    return value


_SAID = {"number": "a number", "integer": "a whole number", "string": "text", "boolean": "true or false"}


def kind_of(tables: Mapping[str, Any], where: str) -> str:
    """Tell a scenario from requirements by the keys that only one of them has."""
    if "task" in tables or "security" in tables:
        return "requirements"
    if "board" in tables or "duration_s" in tables:
        return "scenario"
    raise SunsealError(
        f"`{where}` is neither a scenario (it has no `board`) nor requirements of a plan (it has no [[task]])"
    )


def get(tables: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a key path; None if nothing does."""
    at: Any = tables
    for step in split(path):
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            return None
    return at


def put(tables: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a key path, with the tables above it; None takes the key away."""
    *above, last = split(path)
    at: Any = tables
    for i, step in enumerate(above):
        if isinstance(at, dict):
            at = at.setdefault(step, [] if i + 1 < len(above) and isinstance(above[i + 1], int) else {})
        elif isinstance(at, list) and isinstance(step, int) and step < len(at):
            at = at[step]
        else:
            raise SunsealError(f"`{path}`: there is no such table; a list has {len(at) if isinstance(at, list) else 0}")
    if isinstance(at, list):
        if not isinstance(last, int) or last >= len(at):
            raise SunsealError(f"`{path}`: the list has {len(at)} entries, from 0 on")
        at[last] = value
    elif not isinstance(at, dict):
        raise SunsealError(f"`{path}`: what is above it is {at!r} and no table")
    elif value is None:
        at.pop(last, None)
    else:
        at[last] = value


def changed(tables: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a file's tables with other values at some key paths."""
    told = copy.deepcopy(dict(tables))
    for path, value in values.items():
        put(told, path, value)
    return told


def from_folder(tables: Mapping[str, Any], kind: str, folder: Path | None) -> dict[str, Any]:
    """Return a copy in which files are named from the working directory and not from the file's folder."""
    told = copy.deepcopy(dict(tables))
    if folder is None:
        return told
    for path in PATHS[kind]:
        name = get(told, path)
        # A weather that is no file here is one of those that pvlib ships.
        if isinstance(name, str) and (not path.endswith("weather") or (folder / name).is_file()):
            put(told, path, str(folder / name))
    if kind == "scenario":
        from sunseal.machine import devices

        for channel, volts in told.get("adc", {}).items():
            if isinstance(volts, str):
                told["adc"][channel] = str(folder / volts)
        for bus in ("i2c", "spi"):
            if bus in told:
                told[bus] = [devices.from_folder(text, folder) for text in told[bus]]
    return told


def read(given: str | Path | Mapping[str, Any], kind: str | None = None) -> tuple[dict[str, Any], Path | None, str]:
    """Return the tables of a file or of a mapping, the file's folder, and what to call it."""
    if isinstance(given, Mapping):
        return copy.deepcopy(dict(given)), None, str(given.get("name", kind or "tables"))
    path = Path(given) if kind == "requirements" else boards.scenario_path(Path(given))
    return dict(boards.read_toml(path)), path.parent, path.name
