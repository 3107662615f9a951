# SPDX-License-Identifier: MIT OR Apache-2.0
"""`--request FILE`: a command's arguments and options out of a file, and the JSON Schema of such files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from sunseal.catalog import boards
from sunseal.errors import SunsealError, unknown

OPTION = "--request"
KEPT_OUT = {"help", "request"}
"""Options that a file cannot give."""
KINDS = {int: "integer", float: "number"}
"""Types of JSON Schema; anything else is typed as text, a quantity with its unit."""
Command = Any
"""Command of Click, or a group of them."""


def expanded(args: Sequence[str], command: Command) -> list[str]:
    """Put what a request's file says in its place; what stands on the command line beside it comes after, and holds."""
    place = next((i for i, arg in enumerate(args) if arg == OPTION or arg.startswith(f"{OPTION}=")), None)
    if place is None or "--" in args[:place]:
        return list(args)
    _, equals, named = args[place].partition("=")
    given = args[place + 1 : place + 2] if not equals else [named]
    if not given or not given[0]:
        raise SunsealError("`--request` needs a file in TOML or JSON")
    rest = [*args[:place], *args[place + (1 if equals else 2) :]]
    if any(arg == OPTION or arg.startswith(f"{OPTION}=") for arg in rest):
        raise SunsealError("`--request` stands twice: one file is a whole request")
    names, leaf = _leaf(rest, command)
    if not takes(leaf):
        raise SunsealError(f"`{' '.join(names) or 'sunseal'}` takes no `--request`; {_hint()}")
    return [*names, *_arguments(Path(given[0]), names, leaf), *rest[len(names) :]]


def takes(command: Command) -> bool:
    """Tell whether a command has the option."""
    return any(p.name == "request" for p in getattr(command, "params", ()))


def _hint() -> str:
    return "its `--help` lists what it does take"


def _leaf(args: Sequence[str], command: Command) -> tuple[list[str], Command]:
    """Walk from group to command by the first arguments."""
    names: list[str] = []
    while len(args) > len(names) and hasattr(command, "list_commands"):
        below = command.get_command(None, args[len(names)])
        if below is None:
            break
        names.append(args[len(names)])
        command = below
    return names, command


def _arguments(path: Path, names: list[str], command: Command) -> Iterator[str]:
    told = _read(path)
    meant, asked = told.pop("command", None), " ".join(names)
    if meant is not None and meant != asked:
        raise SunsealError(f"`{path}` is a request to `{meant}`, and this is `{asked}`")
    known = dict(keys(command))
    for key, value in told.items():
        if key not in known:
            raise unknown("key", key, known, f"in `{path}`, a request to `{asked}`")
        yield from _typed(path, key, value, known[key])


def _read(path: Path) -> dict[str, Any]:
    if path.suffix != ".json":
        return boards.read_toml(path)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise SunsealError(f"`{path}` cannot be read: {e.strerror or e}") from e
    except ValueError as e:
        raise SunsealError(f"`{path}` is not valid JSON: {e}") from e
    if not isinstance(told, dict):
        raise SunsealError(f"`{path}` holds no object; a request is an object of arguments and options")
    told.pop("$schema", None)
    return told


def keys(command: Command) -> Iterator[tuple[str, Any]]:
    """Yield what a file may name, with its parameter: an option without its dashes, an argument by its name."""
    for p in command.params:
        if p.name not in KEPT_OUT:
            longest = max(p.opts, key=len) if p.param_type_name == "option" else p.name
            yield longest.lstrip("-").replace("-", "_"), p


def _several(p: Any) -> bool:
    return bool(getattr(p, "multiple", False)) or p.nargs == -1


def _flag(p: Any) -> bool:
    return bool(getattr(p, "is_flag", False))


def _typed(path: Path, key: str, value: Any, p: Any) -> Iterator[str]:
    """Write a value as it would be typed."""
    wrong = f"`{path}`: `{key}` is {json.dumps(value, default=str)}; it must be "
    if _flag(p):
        if not isinstance(value, bool):
            raise SunsealError(wrong + "true or false")
        yield from p.opts[:1] if value else p.secondary_opts[:1]
        return
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not _several(p):
        raise SunsealError(wrong + "one value, and no list")
    for one in values:
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            raise SunsealError(wrong + ("a list of texts or numbers" if _several(p) else "a text or a number"))
        typed = str(one)
        if p.param_type_name == "option":
            yield f"{max(p.opts, key=len)}={typed}"
        elif typed.startswith("-"):
            raise SunsealError(wrong + "an argument, and an argument does not begin with a dash")
        else:
            yield typed


# --- Schemas ------------------------------------------------------------------------------------


def commands(command: Command, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Command]]:
    """Yield every command that takes a request, by its path."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from commands(command.get_command(None, name), (*above, name))
    elif takes(command):
        yield " ".join(above), command


def schema(named: str, root: Command) -> dict[str, Any]:
    """Return the JSON Schema of a request to a command, named with dashes: `measure`, `coupon-rate`."""
    known = {path.replace(" ", "-"): (path, command) for path, command in commands(root)}
    if named not in known:
        raise unknown("request", named, known)
    path, command = known[named]
    told: dict[str, Any] = {
        "$schema": {"type": "string"},
        "command": {"const": path, "description": "The command, to be refused by another."},
    }
    told |= {key: _described(p) for key, p in keys(command)}
    return {
        "title": f"A request to `sunseal {path}`",
        "type": "object",
        "properties": told,
        "additionalProperties": False,
    }


def _of_one(kind: Any) -> Any:
    """Return the type of one value, of a list or of what may be absent."""
    inner = [one for one in get_args(kind) if one is not type(None)]
    return _of_one(inner[0]) if inner else kind


def _described(p: Any) -> dict[str, Any]:
    about = {"description": " ".join(p.help.split())} if getattr(p, "help", None) else {}
    if _flag(p):
        return {**about, "type": "boolean"}
    kind: dict[str, Any] = {"type": KINDS.get(_of_one(p.type_descriptor.annotation), "string")}
    kind |= {key: end for key, end in (("minimum", p.min), ("maximum", p.max)) if end is not None}
    return {**about, **({"type": "array", "items": kind} if _several(p) else kind)}
