# SPDX-License-Identifier: MIT OR Apache-2.0
"""The library's algorithms from firmware/*/algorithms/*.toml, for whoever measures, tests or links them.

A file describes one algorithm or a family:

    title, source     what it is, and the documents that define it
    group             which library-<group>.elf holds it; order: its place among those of a group
    headers           what of include/sunseal declares it
    [each], [set.X]   variables, and their values in each variant: `{curve}` in a text below becomes that of a set, a
                      text that is nothing but `{curve}` its value; {set} is X, {CURVE} the text in upper case. like:
                      the set whose values hold where X gives none
    [implementations] of a block cipher, by the object's name behind `sunseal_`: see Implementation
    [functions]       of the headers, by the name behind `sunseal_`: see Function
    [bench]           what its generated bench programs share: see Bench
    [workloads]       defaults of the workloads
    [[workload]]      see Workload; once for each set (or those of `sets`) if it holds a variable, set by set

Builds run this without a virtual environment, so it leans on the standard library alone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

GROUPS = ("ecc", "rsa", "hash", "cipher", "ots", "random", "coupon", "handshake")
"""In the order in which workloads are listed."""
TIMINGS = ("constant", "tables", "vartime")
"""No secret decides anything; it chooses addresses of look-ups; it decides more than that, or nothing is secret."""
SIZES = ("ram_bytes", "coupon_bytes", "nvm_bytes")
"""Needs that are numbers: a board has as much, or says nothing of it and has enough."""
COPROCESSOR = "coprocessor"
"""A board that has it runs the workloads that the coprocessor does, and nothing else."""

Table = Mapping[str, Any]
T = TypeVar("T")


class AlgorithmError(Exception):
    """A description is wrong: which file, which key, and what would be right."""


@dataclass(frozen=True)
class Part:
    """A run of bytes of a workload's input or output, such as `key[16]`; of `in[64..]` 64 bytes are fed, and the
    program takes other lengths."""

    name: str
    size: int
    open: bool = False


Layout = tuple[Part, ...]


@dataclass(frozen=True)
class Mark:
    """Bytes of an argument: `key`, `key[8:]` or, of what members of structures point to, `source.1.0`."""

    argument: str
    members: tuple[int, ...] = ()
    first: int = 0
    end: int | None = None


@dataclass(frozen=True)
class Function:
    """A public function of the library."""

    name: str
    arguments: tuple[str, ...]
    """By the names and in the order of the header."""
    secret: tuple[Mark, ...] = ()
    """Secrets that are followed through binaries; without any, the function is judged by those that call it."""
    released: tuple[Mark, ...] = ()
    """Outputs that are no secret any more."""
    tag: str = ""
    """Argument where the tag stands that may be forged."""
    timing: str = "constant"
    renews: bool = False
    """It writes over secret state unread."""


@dataclass(frozen=True)
class Implementation:
    """A block cipher as the library offers it: a `struct sunseal_block`."""

    name: str
    key_bytes: int
    block_bytes: int
    tables: bool = False
    """It looks up by secret bytes."""
    decrypts: bool = True
    chosen: bool = False
    """It is another name for one of the others, each board's choice."""
    needs: tuple[str, ...] = ()
    ram_bytes: int = 0
    vartime_on: tuple[str, ...] = ()
    """Devices whose memory makes look-ups differ in time."""

    @property
    def symbol(self) -> str:
        """Return the object's name in C."""
        return f"sunseal_{self.name}"


@dataclass(frozen=True)
class Workload:
    """`<algorithm>[-<parameter>]-<operation>`, one bench program each.

    It is generated where `run` says how (firmware/bench/generate.py), else it is written by hand.
    """

    name: str
    algorithm: str
    parameter: str | None
    operation: str
    hash: str
    security_bits: int
    summary: str
    input: Layout = ()
    output: Layout = ()
    secret: tuple[str, ...] = ()
    """Parts of the input that are marked where its program is followed."""
    released: tuple[str, ...] = ()
    """Parts of the output that are no secret; all of it unless the description names some."""
    own_clock: bool = False
    """Its program sets the clocks, and an oscillator says how long it takes: it is priced as it runs."""
    timing: str = "constant"
    """Unless it is said, what functions and cipher do that it runs."""
    vartime_on: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Requirements of a board: words of HAS in its board.mk."""
    ram_bytes: int = 0
    coupon_bytes: int = 0
    """A coupon, which must not be longer than what is erased at once."""
    nvm_bytes: int = 0
    """Bytes of FRAM beside the program."""
    coprocessor: bool = False
    """The coprocessor does it, too."""
    listed: bool = True
    duty: bool = True
    """There is a duty-<name>.elf."""
    followed: bool = False
    """Its whole program is followed with its secrets marked, since no single call shows what it does."""
    cipher: str = ""
    """The implementation that it is about."""
    by_hand: str = ""
    """The file of firmware/bench that its WORKLOAD stands in."""
    set_up: bool = False
    """That file has a SETUP for it, too."""
    run: tuple[str, ...] = ()
    """Functions between the marks, each only if the one before it succeeded. An argument is the part of input or
    output of its name; `x_len` is the length of x, `in` and `out` are what the program takes and gives."""
    before: tuple[str, ...] = ()
    """Functions in front of the marks."""
    given: Table = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """Arguments that are none of these, in C."""
    code: str = ""
    """Declarations in C; parts of the input stand there by name."""
    first: tuple[str, ...] = ()
    """Statements in front of `run`."""
    digest_into: str = ""
    """Buffer to which the hash of the message goes if it stands in front of the marks."""
    unchecked: bool = False
    """True if the functions' answers are not looked at: they cannot refuse these buffers."""
    group: str = ""
    file: str = ""

    @property
    def program(self) -> str:
        """Name of its ELF behind `bench-`: C has no `-`, the Makefile writes each `_` so."""
        return self.name.replace("_", "-")

    @property
    def symbol(self) -> str:
        """Return its name in C, behind `bench_`."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Bench:
    """The generated bench programs of a file."""

    input_bytes: int
    output_bytes: int
    digest: str = "sunseal_{hash}"
    """The function in C that hashes a message for those that sign or verify."""
    code: str = ""


@dataclass(frozen=True)
class Description:
    """Description of an algorithm or a family, as its file has it."""

    path: Path
    title: str
    source: str
    group: str
    bench: Bench | None
    functions: tuple[Function, ...]
    implementations: tuple[Implementation, ...]
    workloads: tuple[Workload, ...]
    order: int = 100
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """All of them, in the order of groups, `order` and names of files."""

    files: tuple[Description, ...]
    functions: dict[str, Function]
    implementations: dict[str, Implementation]
    workloads: dict[str, Workload]


def layout(text: str, where: str) -> Layout:
    """Read `key[16] nonce[13] in[64..]`."""
    parts = []
    for word in text.split():
        found = re.fullmatch(r"(\w+)\[(\d+)(\.\.)?\]", word)
        if found is None:
            raise AlgorithmError(f"{where}: `{word}` is no part of a layout, such as `key[16]` or `message[64..]`")
        parts.append(Part(found[1], int(found[2]), found[3] is not None))
    if any(part.open for part in parts[:-1]) and where.endswith("`input`"):
        raise AlgorithmError(f"{where}: only the last part may have other lengths, as the program knows no other end")
    return tuple(parts)


def mark(text: str, arguments: tuple[str, ...], where: str) -> Mark:
    """Read `key[8:]` or `source.1.0`."""
    found = re.fullmatch(r"(\w+)((?:\.\d+)*)(?:\[(\d*):(\d*)\])?", text)
    if found is None:
        raise AlgorithmError(f"{where}: `{text}` is neither an argument nor bytes of one, such as `key[8:]`")
    if found[1] not in arguments:
        raise AlgorithmError(f"{where}: `{found[1]}` is no argument; there are: {', '.join(arguments)}")
    members = tuple(int(i) for i in found[2].split(".")[1:])
    return Mark(found[1], members, int(found[3] or 0), int(found[4]) if found[4] else None)


def _filled(value: Any, variables: Table, where: str) -> Any:
    """Put a set's values in place of `{name}`."""
    if isinstance(value, list):
        return [_filled(v, variables, where) for v in value]
    if isinstance(value, dict):
        return {k: _filled(v, variables, where) for k, v in value.items()}
    if not isinstance(value, str) or "{" not in value:
        return value
    names = re.findall(r"\{(\w+)\}", value)
    if missing := [name for name in names if name not in variables]:
        raise AlgorithmError(f"{where}: no set gives `{missing[0]}`; there are: {', '.join(variables) or 'no sets'}")
    if names and value == f"{{{names[0]}}}":
        return variables[names[0]]
    return re.sub(r"\{(\w+)\}", lambda m: str(variables[m[1]]), value)


def _varies(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_varies(v) for pair in value.items() for v in pair)
    return any(map(_varies, value)) if isinstance(value, list) else bool(re.search(r"\{\w+\}", str(value)))


def _sets(told: Table, where: str) -> dict[str, dict[str, Any]]:
    """Return the variables of each set, those in upper case with them."""
    tables = told.get("set", {})
    found: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        like = table.get("like")
        if like is not None and like not in found:
            raise AlgorithmError(f"{where}: [set.{name}] is like `{like}`, and no such set stands above it")
        own = {k: v for k, v in table.items() if k != "like"}
        found[name] = {**told.get("each", {}), **(found[like] if like else {}), **own, "set": name}
    return {n: {**{k.upper(): str(v).upper() for k, v in table.items()}, **table} for n, table in found.items()}


KINDS: dict[str, Any] = {"str": str, "int": int, "bool": bool, "str | None": (str, type(None)), "Table": Mapping}
KINDS |= {"Path": Path, "Bench | None": (Bench, type(None))}


def _checked(kind: type[T], table: Table, where: str) -> T:
    """Make a dataclass of a table: a key that it does not know, one that it lacks and a wrong type are named."""
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for key, value in table.items():
        if key not in known:
            raise AlgorithmError(f"{where}: unknown key `{key}`; there are: {', '.join(known)}")
        told = str(known[key].type)
        wanted = KINDS.get(told, tuple)
        texts = told != "tuple[str, ...]" or all(isinstance(v, str) for v in value)
        if not isinstance(value, wanted) or (told == "int" and isinstance(value, bool)) or not texts:
            shown = list(value) if isinstance(value, tuple) else value
            raise AlgorithmError(
                f"{where}: `{key}` is {shown!r}, which is no {told.replace('tuple[str, ...]', 'list of names')}"
            )
        if key == "timing" and value not in TIMINGS:
            raise AlgorithmError(f"{where}: `timing` is `{value}`; there are: {', '.join(TIMINGS)}")
    lacking = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in table]
    if lacking:
        raise AlgorithmError(f"{where}: `{lacking[0]}` is missing")
    return kind(**table)


def _tuples(table: Table) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}


def _named(kind: type[T], told: Table, sets: Mapping[str, Table], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give a table of functions or implementations, name by name, once for each set where it varies."""
    seen: dict[str, Any] = {}
    for key, table in told.items():
        for variables in (_varies({key: table}) and sets.values()) or ({},):
            at = f"{where}, `{key}`"
            name, filled = _filled(key, variables, at), _filled(table, variables, at)
            if seen.setdefault(name, filled) != filled:
                raise AlgorithmError(f"{at}: its sets say different things of `{name}`")
            if not isinstance(filled, dict):
                raise AlgorithmError(f"{at} is no table of a {kind.__name__.lower()}")
    yield from seen.items()


def _function(name: str, told: Table, where: str) -> Function:
    table = _tuples(told)
    arguments = table.get("arguments", ())
    for key in ("secret", "released"):
        if key in table:
            table[key] = tuple(mark(text, arguments, f"{where}, `{key}`") for text in table[key])
    if table.get("tag"):
        mark(table["tag"], arguments, f"{where}, `tag`")
    return _checked(Function, {"name": name, **table}, where)


def _workloads(told: Table, sets: Mapping[str, Table], where: str) -> Iterator[dict[str, Any]]:
    """Give the workloads' tables, filled: runs of those that vary set by set."""
    shared = told.get("workloads", {})
    run: list[dict[str, Any]] = []

    def expanded() -> Iterator[dict[str, Any]]:
        for name, variables in sets.items() or [("", {})]:
            for table in run:
                if name in table.get("sets", (name,)):
                    yield _filled({k: v for k, v in table.items() if k != "sets"}, variables, where)

    for own in told.get("workload", []):
        table = {**shared, **own}
        if unknown := [name for name in table.get("sets", ()) if name not in sets]:
            raise AlgorithmError(f"{where}, `sets`: there is no set `{unknown[0]}`; there are: {', '.join(sets)}")
        # `sets` that all workloads share name nothing that this one lacks.
        if _varies({k: v for k, v in table.items() if k != "sets"}):
            run.append(table)
            continue
        yield from expanded()
        run = []
        yield {k: v for k, v in table.items() if k != "sets"}
    yield from expanded()


def _workload(told: Table, implementations: Table, where: str) -> Workload:
    table = _tuples(told)
    table["parameter"] = table.get("parameter") or None
    words = (table.get("algorithm"), table["parameter"], table.get("operation"))
    table.setdefault("name", "-".join(word for word in words if word))
    table.setdefault("hash", "")
    at = f"{where}, workload `{table['name']}`"
    for key in ("input", "output"):
        if not isinstance(table.get(key), str):
            raise AlgorithmError(f"{at}: `{key}` is missing; a layout is such as `key[16] message[64..]`, or empty")
        table[key] = layout(table[key], f"{at}, `{key}`")
    for key, of, default in (("secret", "input", ()), ("released", "output", True)):
        names = tuple(part.name for part in table[of])
        found = table.get(key, default)
        if not isinstance(found, tuple) and found is not True:
            raise AlgorithmError(
                f"{at}: `{key}` is {found!r}, which is no list of names; true stands for all of its {of}"
            )
        table[key] = names if found is True else found
        if unknown := [name for name in table[key] if name not in names]:
            raise AlgorithmError(
                f"{at}: `{key}` names `{unknown[0]}`, which is no part of its {of}: {', '.join(names)}"
            )
    if table.get("cipher"):
        if table["cipher"] not in implementations:
            raise AlgorithmError(f"{at}: there is no implementation `{table['cipher']}`: {', '.join(implementations)}")
        behind: Implementation = implementations[table["cipher"]]
        table.setdefault("needs", behind.needs)
        table.setdefault("ram_bytes", behind.ram_bytes)
        table.setdefault("vartime_on", behind.vartime_on)
    if bool(table.get("run")) == bool(table.get("by_hand")):
        raise AlgorithmError(f"{at}: either `run` says how it runs or `by_hand` which file of firmware/bench does")
    return _checked(Workload, table, at)


def utf8(path: Path) -> str:
    """Read a text file in UTF-8."""
    return path.read_text(encoding="utf-8")


KEYS = (
    "title", "source", "group", "order", "headers", "each", "set", "implementations", "functions", "bench",
    "workloads", "workload",
)  # fmt: skip


def _read(path: Path, text: str, implementations: dict[str, Implementation]) -> Description:
    where = "/".join(path.parts[-4:])
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise AlgorithmError(f"{where} is not valid TOML: {e}") from e
    if unknown := [key for key in told if key not in KEYS]:
        raise AlgorithmError(f"{where}: unknown key `{unknown[0]}`; there are: {', '.join(KEYS)}")
    if told.get("group") not in GROUPS:
        raise AlgorithmError(f"{where}: `group` is `{told.get('group')}`; there are: {', '.join(GROUPS)}")
    sets = _sets(told, where)
    ours = tuple(
        _checked(Implementation, {"name": name, **_tuples(table)}, f"{where}, implementation `{name}`")
        for name, table in _named(Implementation, told.get("implementations", {}), sets, where)
    )
    implementations.update((i.name, i) for i in ours)
    functions = tuple(
        _function(name, table, f"{where}, function `{name}`")
        for name, table in _named(Function, told.get("functions", {}), sets, where)
    )
    bench = _checked(Bench, told["bench"], f"{where}, [bench]") if "bench" in told else None
    works = [
        _workload({**table, "group": told["group"], "file": path.stem}, implementations, where)
        for table in _workloads(told, sets, where)
    ]
    if bench is None and (generated := [work.name for work in works if work.run]):
        raise AlgorithmError(f"{where}: workload `{generated[0]}` says what to run, and [bench] is missing")
    made = {"path": path, "bench": bench, "functions": functions, "implementations": ours, "workloads": tuple(works)}
    return _checked(Description, {**_tuples({k: told[k] for k in KEYS[:5] if k in told}), **made}, where)


@cache
def library(firmware: Path, data: Path) -> Library:
    """Read all descriptions below `firmware`, and hold them to one another, its boards and the devices of `data`."""
    implementations: dict[str, Implementation] = {}
    # Modes stand in a file of their own, ciphers in others: those first that define implementations.
    paths = sorted(firmware.glob("*/algorithms/*.toml"))
    if not paths:
        raise AlgorithmError(f"`{firmware}` holds no descriptions of algorithms (`crypto/algorithms/*.toml`)")
    texts = [(path, utf8(path)) for path in paths]
    texts.sort(key=lambda told: "[implementations]" not in told[1])
    found = [_read(path, text, implementations) for path, text in texts]
    files = tuple(sorted(found, key=lambda d: (GROUPS.index(d.group), d.order, d.path.stem)))
    made = Library(files, _by_name(files, "functions"), implementations, _by_name(files, "workloads"))
    boards = {path.parent.name: board_mk(firmware, path.parent.name) for path in firmware.glob("boards/*/board.mk")}
    has = {word.partition("=")[0] for told in boards.values() for word in _words(told)}
    for told in files:
        things: tuple[Implementation | Workload, ...] = (*told.implementations, *told.workloads)
        for thing in things:
            _held(thing, f"{told.path.name}, `{thing.name}`", made, has, data)
    needed = {COPROCESSOR, *SIZES, *(word for work in made.workloads.values() for word in work.needs)}
    for board in sorted(boards):
        words = [word.partition("=")[0] for word in boards[board].get("HAS", [])]
        if unknown := [word for word in words if word not in needed]:
            known = ", ".join(sorted(needed))
            raise AlgorithmError(
                f"boards/{board}: HAS names `{unknown[0]}`, which no workload needs; there are: {known}"
            )
    return replace(made, workloads={name: _timed(work, made) for name, work in made.workloads.items()})


def _held(thing: Implementation | Workload, at: str, made: Library, has: set[str], data: Path) -> None:
    """Hold needs to what boards have, and names to what there is."""
    if unknown := [word for word in thing.needs if word not in has]:
        known = ", ".join(sorted(has))
        raise AlgorithmError(f"{at}: `needs` names `{unknown[0]}`, which no board.mk has in HAS or RADIO: {known}")
    if unknown := [name for name in thing.vartime_on if not (data / "devices" / f"{name}.toml").is_file()]:
        raise AlgorithmError(f"{at}: `vartime_on` names `{unknown[0]}`, which is no device")
    called = (*thing.before, *thing.run) if isinstance(thing, Workload) else ()
    if unknown := [name for name in called if name not in made.functions]:
        raise AlgorithmError(f"{at}: there is no function `{unknown[0]}`")


def _timed(work: Workload, made: Library) -> Workload:
    found = [work.timing, *(made.functions[name].timing for name in work.run)]
    behind = made.implementations.get(work.cipher)
    if behind is not None and behind.tables and not behind.chosen:
        found.append("tables")
    return replace(work, timing=max(found, key=TIMINGS.index))


def _by_name(files: tuple[Description, ...], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for told in files:
        for thing in getattr(told, kind):
            if thing.name in found:
                raise AlgorithmError(f"{told.path.name}: `{thing.name}` stands twice among the {kind}")
            found[thing.name] = thing
    return found


def board_mk(firmware: Path, board: str) -> dict[str, list[str]]:
    """Read what the firmware says of a board: `NAME := words` in board.mk, and in what it includes of `boards`."""
    folder = firmware / "boards"
    text = (folder / board / "board.mk").read_text(encoding="utf-8")
    for shared in re.findall(r"^include \$\(HERE\)/boards/(\S+)$", text, re.MULTILINE):
        text += (folder / shared).read_text(encoding="utf-8")
    return {k: v.split() for k, v in re.findall(r"^(\w+)\s*:=(.*)$", text, re.MULTILINE)}


def _words(told: Mapping[str, list[str]]) -> list[str]:
    """Return what a board.mk says that the board has."""
    return [*told.get("HAS", []), *told.get("RADIO", [])]


def board_has(firmware: Path, data: Path, board: str, read: Callable[[Path], str] = utf8) -> dict[str, int]:
    """Return what a board has of what workloads need: words of HAS and the radio as 1, and sizes.

    `read` opens the file of its chip; a process with the engine passes the reader that opens each file once.
    """
    told = board_mk(firmware, board)
    found = {"ram_bytes": _ram_bytes(data / "devices" / f"{told['DEVICE'][0]}.toml", read)}
    for word in _words(told):
        name, _, size = word.partition("=")
        found[name] = int(size) if size else 1
    return found


@cache
def _ram_bytes(device: Path, read: Callable[[Path], str]) -> int:
    told = tomllib.loads(read(device))
    memories = [m for m in told.get("memory", ()) if m.get("kind") == "ram"]
    if not memories and "extends" in told:
        return _ram_bytes(device.with_name(f"{told['extends']}.toml"), read)
    return max(int(m["end"] - m["start"]) + 1 for m in memories)


def on(work: Workload, has: Mapping[str, int]) -> bool:
    """Say whether a board, by what it has, runs a workload."""
    if COPROCESSOR in has:
        return work.coprocessor
    return all(word in has for word in work.needs) and all(
        getattr(work, size) <= has.get(size, getattr(work, size)) for size in SIZES
    )
