# SPDX-License-Identifier: MIT OR Apache-2.0
"""A judge of the published schemas, and of each answer in JSON that a test asks a command for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sunseal.schemas import files as schemas

KNOWN = {
    "$schema",
    "$defs",
    "_enum",
    "enumDescriptions",
    "title",
    "description",
    "default",
    "examples",
    "if",
    "then",
    "else",
}
TYPES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
}


def wrong(told: Any, schema: Any, whole: dict[str, Any], at: str = "") -> Iterator[str]:
    """Check as JSON Schema 2020-12 does, by the keywords that these schemas use; any other is a mistake here."""
    if isinstance(schema, bool):
        if not schema:
            yield f"{at}: nothing may stand here"
        return
    for word, what in schema.items():
        match word:
            case "$ref":
                yield from wrong(told, whole["$defs"][what.rpartition("/")[2]], whole, at)
            case "type":
                kinds = what if isinstance(what, list) else [what]
                if not any(
                    isinstance(told, TYPES[k]) and (k == "boolean" or not isinstance(told, bool)) for k in kinds
                ):
                    yield f"{at}: is no {what}"
            case "enum" if told not in what:
                yield f"{at}: is none of {what}"
            case "const" if told != what:
                yield f"{at}: is not {what}"
            case "required" if isinstance(told, dict):
                yield from (f"{at}: lacks {key}" for key in what if key not in told)
            case "properties" if isinstance(told, dict):
                for key, inner in what.items():
                    if key in told:
                        yield from wrong(told[key], inner, whole, f"{at}.{key}")
            case "additionalProperties" if isinstance(told, dict):
                for key in told.keys() - schema.get("properties", {}).keys():
                    if what is False:
                        yield f"{at}: unknown {key}"
                    else:
                        yield from wrong(told[key], what, whole, f"{at}.{key}")
            case "items" if isinstance(told, list) and what is not False:
                begin = len(schema.get("prefixItems", ()))
                for i, item in enumerate(told[begin:]):
                    yield from wrong(item, what, whole, f"{at}[{i}]")
            case "prefixItems" if isinstance(told, list):
                for i, (item, inner) in enumerate(zip(told, what, strict=False)):
                    yield from wrong(item, inner, whole, f"{at}[{i}]")
            case "minItems" if isinstance(told, list) and len(told) < what:
                yield f"{at}: fewer than {what}"
            case "maxItems" if isinstance(told, list) and len(told) > what:
                yield f"{at}: more than {what}"
            case "maxProperties" if isinstance(told, dict) and len(told) > what:
                yield f"{at}: has more than {what} keys"
            case "minLength" if isinstance(told, str) and len(told) < what:
                yield f"{at}: is too short"
            case "minimum" if isinstance(told, int | float) and told < what:
                yield f"{at}: is below {what}"
            case "maximum" if isinstance(told, int | float) and told > what:
                yield f"{at}: is above {what}"
            case "exclusiveMinimum" if isinstance(told, int | float) and told <= what:
                yield f"{at}: is not above {what}"
            case "anyOf" if all(list(wrong(told, some, whole, at)) for some in what):
                yield f"{at}: is none of its shapes"
            case "allOf":
                for every in what:
                    yield from wrong(told, every, whole, at)
            case "oneOf" if sum(not list(wrong(told, some, whole, at)) for some in what) != 1:
                yield f"{at}: is not one of its shapes"
            case _:
                assert word in KNOWN | set(CASES), f"the schema uses {word}, which this test does not know"
    if "if" in schema:
        way = "else" if list(wrong(told, schema["if"], whole, at)) else "then"
        yield from wrong(told, schema.get(way, True), whole, at)


CASES = re.findall(r'case "(\w+)"', Path(__file__).read_text())


def closed(schema: Any) -> Any:
    """Take no key that a schema does not name, unless it says what others are."""
    if isinstance(schema, list):
        return [closed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(inner) for key, inner in schema.items()}
    if found.get("type") == "object" and isinstance(found.get("properties"), dict):
        found.setdefault("additionalProperties", False)
    return found


@cache
def _output(name: str) -> Any:
    return closed(schemas.schema(f"{schemas.OUTPUT}{name}"))


def wrong_output(printed: str) -> list[str]:
    """Say what of a command's JSON is not as it is published under the name that it has."""
    told = json.loads(printed)
    if told == []:
        return []
    first = told[0] if isinstance(told, list) else told
    named = first.get("schema", {}).get("name")
    if named is None:
        return ["the answer names no schema"]
    whole = _output(named)
    return list(wrong(told, whole, whole))
