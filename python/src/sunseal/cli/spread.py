# SPDX-License-Identifier: MIT OR Apache-2.0
"""Options by the group: a command takes a dataclass, and its fields become the command's options."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def asked_of(request: Any) -> dict[str, Any]:
    """Return by the option's name what a command was given of a request: what is not as it would be without."""
    hints = get_type_hints(type(request), include_extras=True)
    asked = {}
    for field in dataclasses.fields(request):
        value = getattr(request, field.name)
        (option,) = (told for told in hints[field.name].__metadata__ if hasattr(told, "param_decls"))
        if value not in (field.default, []):
            asked[option.default] = value  # in an annotation Typer keeps the first spelling there
    return asked


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each dataclass that it takes, in the order of its parameters.

    A field is annotated as a parameter of a command would be, with what Typer shall know of it.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    requests: dict[str, type[Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not dataclasses.is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        requests[name] = kind  # type: ignore[assignment]
        fields = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            parameters.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=fields[field.name]
                )
            )

    def spreading(**given: Any) -> None:
        for name, kind in requests.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in dataclasses.fields(kind)})
        command(**given)

    spreading.__doc__, spreading.__name__ = command.__doc__, command.__name__
    spreading.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spreading.__annotations__ = {p.name: p.annotation for p in parameters}
    return spreading
