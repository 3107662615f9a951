# SPDX-License-Identifier: MIT OR Apache-2.0
"""Options by the request: a command takes such a dataclass, and its fields become the command's options."""

from __future__ import annotations

import dataclasses
import inspect
import keyword
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer

from sunseal.catalog import units
from sunseal.cli import completion
from sunseal.errors import SunsealError
from sunseal.requests.asking import Fields, Option

NOTHING = inspect.Parameter.empty
REQUEST = Option("--request", "Take arguments and options from a file, TOML or JSON.", Path, metavar="FILE")


KINDS = {str: "TEXT", list[str]: "TEXT", Path: "FILE", list[Path]: "FILE", int: "N", float: "NUMBER"}
OFFERED = {"boards": "BOARD", "workloads": "WORKLOAD", "power_sets": "SET"}


class Place(NamedTuple):
    """Place that a parameter of a command goes to in a group."""

    field: str
    key: str | None
    """Key of the field's table, if it has one."""
    read: Callable[[Any], Any] | None
    parameter: inspect.Parameter


def given_of(group: Any) -> list[str]:
    """Name the options of a request that were given: those whose values are not as they would be without."""
    given = [field for field in dataclasses.fields(group) if getattr(group, field.name) not in (field.default, [])]
    # Of several spellings the first is its name.
    return [field.metadata["option"].name.split()[0] for field in given]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each request that it takes (`requests.asking`), in the order of its parameters.

    Another parameter is annotated by an `Option`, or by what Typer shall know of it.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[Any], list[Place]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if dataclasses.is_dataclass(kind):
            groups[name] = kind, list(_places(kind))  # type: ignore[assignment]
            parameters += [place.parameter for place in groups[name][1]]
        else:
            parameters.append(_parameter(name, kind, parameter.default))
    if groups:
        parameters.append(_parameter("request", Annotated[Path | None, REQUEST], None))

    def spreading(request: Path | None = None, **given: Any) -> None:
        # A request's file is read before the command line is (`requesting.expanded`).
        for name, (kind, places) in groups.items():
            given[name] = kind(**_fields(places, given))
        command(**given)

    spreading.__doc__, spreading.__name__ = command.__doc__, command.__name__
    spreading.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spreading.__annotations__ = {p.name: p.annotation for p in parameters}
    return spreading


def _places(kind: Any) -> Iterator[Place]:
    """Yield the parameters of a group."""
    for field in dataclasses.fields(kind):
        told = field.metadata.get("option", {})
        for key, option in told.items() if isinstance(told, Mapping) else ((None, told),):
            default = option.typed
            if field.default is dataclasses.MISSING:
                default = NOTHING if default is None else default
            elif key is None and option.read is None and field.default != ():
                default = field.default
            name = option.called or re.split("[ /]", option.name)[0].lstrip("-").replace("-", "_")
            name = field.name if not name or keyword.iskeyword(name) else name
            typed = option.kind | None if default is None else option.kind
            read = None if option.read is None else lambda value, o=option: o.read(value, o.name)
            yield Place(field.name, key, read, _parameter(name, Annotated[typed, option], default))


def _metavar(option: Option) -> str | None:
    """Return the word for what is typed: its own, of a quantity what it measures, else what is offered or its type."""
    if option.metavar or option.kind is bool:
        return option.metavar
    word = units.MEASURES.get(option.read) or units.MEASURES.get(getattr(option.read, "unit", None))
    word = word or OFFERED.get(option.offers or "") or KINDS.get(option.kind)
    return word if option.name or word is None else None


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    """Make a parameter as Typer takes it."""
    typed, *told = get_args(kind) if hasattr(kind, "__metadata__") else (kind,)
    if told and isinstance(told[0], Option):
        option: Option = told[0]
        shown = {"help": option.help, "metavar": _metavar(option), "min": option.min, "max": option.max}
        if option.otherwise:
            shown["show_default"] = option.otherwise
        shown["autocompletion"] = getattr(completion, option.offers) if option.offers else None
        kind = Annotated[typed, typer.Option(*option.name.split(), **shown) if option.name else typer.Argument(**shown)]  # type: ignore[arg-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _fields(places: list[Place], given: dict[str, Any]) -> dict[str, Any]:
    """Read what the command line gave of a group; what it did not give is as the field has it."""
    fields: dict[str, Any] = {}
    for field, key, read, parameter in places:
        value = given.pop(parameter.name)
        if value in (None, []):
            continue
        if isinstance(value, float) and not math.isfinite(value):
            option = re.sub("_", "-", parameter.name)
            raise SunsealError(f"--{option} `{value}` must be a finite number")
        value = value if read is None else read(value)
        if isinstance(value, Fields):
            fields |= value
        elif key is None:
            fields[field] = value
        else:
            fields.setdefault(field, {})[key] = value
    return fields
