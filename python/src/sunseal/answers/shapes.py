# SPDX-License-Identifier: MIT OR Apache-2.0
"""JSON Schema of Python's types: a dataclass's fields, with what its source says of each."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import textwrap
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
YES: Schema = {"type": "boolean"}
ANY: Schema = {}
TEXTS: Schema = {"type": "array", "items": TEXT}
PLAIN: dict[Any, Schema] = {
    str: TEXT,
    int: WHOLE,
    float: NUMBER,
    bool: YES,
    type(None): {"type": "null"},
    Path: TEXT,
    bytes: TEXT,
    Any: ANY,
    object: ANY,
    dict: {"type": "object"},
}
OPTIONAL = "x-optional"
"""Marks a key that an answer may leave out; it is in no schema that is published."""


def maybe(schema: Schema) -> Schema:
    """Say of a key that an answer may leave it out."""
    return {**schema, OPTIONAL: True}


def null(schema: Schema) -> Schema:
    """Let a shape take null, too."""
    kind = schema.get("type")
    if set(schema) == {"type"} and kind != "null":
        return {"type": [*(kind if isinstance(kind, list) else [kind]), "null"]}
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def listed(item: Schema) -> Schema:
    """Make a list of a kind of items."""
    return {"type": "array", "items": item}


def table(value: Schema = NUMBER) -> Schema:
    """Make an object whose keys are names: states, objects, parts."""
    return {"type": "object", "additionalProperties": value}


def told(schema: Schema, description: str) -> Schema:
    """Say what a value is."""
    return {**schema, "description": description}


def one_of(*words: Any) -> Schema:
    """Take one of some words."""
    return {"enum": list(words)}


def keys(**properties: Schema) -> Schema:
    """Make an object of these keys; a name that Python has taken ends in `_`."""
    named = {name.rstrip("_"): schema for name, schema in properties.items()}
    required = [name for name, schema in named.items() if OPTIONAL not in schema]
    plain = {n: {k: v for k, v in schema.items() if k != OPTIONAL} for n, schema in named.items()}
    return {"type": "object", "properties": plain, "required": required}


def joined(first: Schema, *others: Schema) -> Schema:
    """Make an object of the keys of several."""
    properties, required = dict(first["properties"]), list(first["required"])
    for other in others:
        properties |= other["properties"]
        required = [name for name in required if name not in other["properties"]] + other["required"]
    return {"type": "object", "properties": properties, "required": required}


def of(kind: type, *without: str, **instead: Schema) -> Schema:
    """Make an object of a dataclass's fields but some; keys that are told otherwise or are no fields are named."""
    hints, said = _hints(kind), _said(kind)
    properties: dict[str, Schema] = {}
    for field in dataclasses.fields(kind):
        if field.name in without or field.name in instead:
            continue
        schema = _schema(hints[field.name])
        properties[field.name] = told(schema, said[field.name]) if field.name in said else schema
    return keys(**properties, **instead)


def _hints(kind: type) -> dict[str, Any]:
    """Resolve what a class's fields are; a name that only type checkers import is anything."""
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        space = vars(sys.modules[owner.__module__])
        for name, written in getattr(owner, "__annotations__", {}).items():
            try:
                found[name] = eval(written, space) if isinstance(written, str) else written  # our own source
            except NameError:
                found[name] = Any
    return found


@cache
def _said(kind: type) -> Mapping[str, str]:
    """Return the strings behind a class's fields, which say what these are."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for field, behind in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and _is_text(behind):
            found[field.target.id] = " ".join(ast.literal_eval(behind.value).split())  # type: ignore[attr-defined]
    return found


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _schema(kind: Any) -> Schema:
    if kind in PLAIN:
        return PLAIN[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _union([_schema(arg) for arg in args])
    if origin is Literal:
        return one_of(*args)
    if origin is tuple and args[-1:] != (...,):
        return {"type": "array", "prefixItems": [_schema(arg) for arg in args], "items": False}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return table(_schema(args[1]))
    if isinstance(origin, type) and issubclass(origin, Sequence | Iterable):
        return listed(_schema(args[0]))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return of(kind)
    raise TypeError(f"{kind} has no JSON Schema here")


def _union(some: list[Schema]) -> Schema:
    if any(schema == ANY for schema in some):
        return ANY
    names = [schema.get("type") for schema in some if set(schema) == {"type"} and isinstance(schema["type"], str)]
    return {"type": names} if len(names) == len(some) else {"anyOf": some}
