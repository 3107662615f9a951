# SPDX-License-Identifier: MIT OR Apache-2.0
"""Rooms and what each may lean on: read from cargo metadata, the Python imports and the C includes."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Each crate and the crates of this house that it may use. Adding a line here is a decision: say why in docs/adr/.
MAY_USE: dict[str, set[str]] = {
    "sunseal-trace": set(),
    "sunseal-data": set(),
    "sunseal-isa": {"sunseal-trace"},
    "sunseal-part": {"sunseal-trace"},
    "sunseal-registers": set(),
    "sunseal-dev": {"sunseal-isa", "sunseal-mcu"},
    "sunseal-mcu": {"sunseal-trace", "sunseal-isa", "sunseal-part", "sunseal-data", "sunseal-registers"},
    "sunseal-power": {"sunseal-trace", "sunseal-data"},
    "sunseal-link": set(),
    "sunseal-radio": {"sunseal-trace", "sunseal-part", "sunseal-mcu", "sunseal-link", "sunseal-data"},
    "sunseal-board": {
        "sunseal-trace",
        "sunseal-data",
        "sunseal-part",
        "sunseal-mcu",
        "sunseal-power",
        "sunseal-radio",
        "sunseal-hdl",
    },
    "sunseal-node": {
        "sunseal-trace",
        "sunseal-data",
        "sunseal-board",
        "sunseal-mcu",
        "sunseal-power",
        "sunseal-link",
        "sunseal-radio",
        "sunseal-hdl",
    },
    "sunseal-hdl": {"sunseal-trace", "sunseal-part", "sunseal-data"},
    "sunseal-secp160r1": set(),
    "sunseal-verify": {"sunseal-link", "sunseal-secp160r1"},
    "sunseal-server": {"sunseal-link", "sunseal-verify", "workspace-hack"},
    "workspace-hack": set(),
    "sunseal-py": {
        "sunseal-trace",
        "sunseal-mcu",
        "sunseal-power",
        "sunseal-node",
        "sunseal-radio",
        "sunseal-link",
        "sunseal-hdl",
        "sunseal-verify",
        "sunseal-data",
        "sunseal-board",
        "workspace-hack",
    },
}


@cache
def metadata() -> dict[str, Any]:
    """Crates of the workspace as cargo tells them."""
    out = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    told: dict[str, Any] = json.loads(out.stdout)
    return told


def dependencies() -> dict[str, set[str]]:
    """The normal (not test-only) dependencies of the crates of the workspace."""
    return {p["name"]: {d["name"] for d in p["dependencies"] if d["kind"] is None} for p in metadata()["packages"]}


def test_every_crate_leans_only_on_what_it_may() -> None:
    edges = dependencies()
    assert set(edges) <= set(MAY_USE), "a new crate needs its line in MAY_USE"
    broken = {n: sorted(used & set(edges) - MAY_USE[n]) for n, used in edges.items()}
    assert not any(broken.values()), broken


def test_the_page_tells_what_each_crate_leans_on() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `crates/([\w-]+)` \|.*\| ([^|]+) \|$", page, re.M))
    ours = {
        name: {word.removeprefix("sunseal-") for word in used - {"workspace-hack"}} for name, used in MAY_USE.items()
    }
    read = {
        name: set(re.findall(r"[a-z]\w+", re.sub(r"\(.*?\)|`.*?`|nothing", "", cell))) for name, cell in told.items()
    }
    assert read == ours


def test_one_crate_reads_toml() -> None:
    assert [name for name, used in dependencies().items() if "toml" in used] == ["sunseal-data"]


def test_what_judges_cores_is_not_built_by_default() -> None:
    left = set(metadata()["workspace_members"]) - set(metadata()["workspace_default_members"])
    assert [re.sub(r".*/|#.*", "", member) for member in left] == ["sunseal-dev"]


def test_crate_folder_is_named_like_the_crate() -> None:
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        name = re.search(r'^name = "([^"]+)"', manifest.read_text(), re.M)
        assert name and name.group(1) == manifest.parent.name


# Modules that still name one another, by crate: a pair that is cut leaves this list, and none joins it.
STILL_PAIRS: dict[str, set[str]] = {
    "sunseal-dev": {"avr torture", "thumb torture"},
    "sunseal-hdl": {"coprocessor wiring"},
    "sunseal-link": {"error frame", "error message", "frame message"},
    "sunseal-node": {"config coupons", "config scenario", "load record", "load scenario"},
    "sunseal-power": {"cell parts", "circuit supply"},
    "sunseal-py": {"machine view", "inject machine", "air machine", "device machine"},
    "sunseal-radio": {"gateway medium"},
}


def crate_arrows(sources: dict[str, str]) -> dict[str, set[str]]:
    """Module below `src` -> the modules that it names, by paths from the crate's root; `lib.rs` re-exports names."""
    rooms = {path.split("/")[0].removesuffix(".rs") for path in sources} - {"lib", "main"}
    exported = re.findall(r"pub(?:\(crate\))? use (?:crate::|self::)?(\w+)::([^;]+);", sources.get("lib.rs", ""))
    home = {name: room for room, names in exported if room in rooms for name in re.findall(r"\w+", names)}
    arrows: dict[str, set[str]] = {room: set() for room in rooms}
    for path, text in sources.items():
        room = path.split("/")[0].removesuffix(".rs")
        for braces, one in re.findall(r"\bcrate::(?:\{([^;]*?)\}\s*;|(\w+))", re.sub(r"//.*", "", text)):
            flat = re.sub(r"\{[^{}]*\}", "", braces)
            for name in [one] if one else re.findall(r"(?:^|,)\s*(\w+)", flat):
                if room in rooms and (found := name if name in rooms else home.get(name)):
                    arrows[room].add(found)
    return arrows


def pairs(arrows: dict[str, set[str]]) -> set[str]:
    """Find modules that name each other."""
    return {f"{a} {b}" for a in arrows for b in arrows[a] if a < b and a in arrows.get(b, ())}


def test_modules_of_a_crate_do_not_name_each_other() -> None:
    found = {}
    for crate in sorted((ROOT / "crates").glob("sunseal-*/src")):
        sources = {str(p.relative_to(crate)): p.read_text() for p in crate.rglob("*.rs")}
        if two := pairs(crate_arrows(sources)):
            found[crate.parent.name] = two
    assert found == {crate: {" ".join(sorted(p.split())) for p in two} for crate, two in STILL_PAIRS.items()}
    both = {"lib.rs": "pub use b::B;", "a.rs": "use crate::{B, c::D};", "b/mod.rs": "crate::a::f();", "c.rs": ""}
    assert pairs(crate_arrows(both)) == {"a b"}


def test_instruments_look_at_chips_and_no_chip_at_an_instrument() -> None:
    src = ROOT / "crates" / "sunseal-mcu" / "src"
    arrows = crate_arrows({str(p.relative_to(src)): p.read_text() for p in src.rglob("*.rs")})
    above = {"instruments", "debugging", "machine", "engine"}
    assert {room: arrows[room] & above for room in ("device", "blocks")} == {"device": set(), "blocks": set()}
    assert {room: arrows[room] & {"instruments", "debugging", "machine"} for room in ("cores", "families")} == {
        "cores": set(),
        "families": set(),
    }


def python_files() -> list[Path]:
    return sorted((ROOT / "python" / "src" / "sunseal").rglob("*.py"))


# A room of the Python package and the rooms that it may import, in a function or at its head; `errors` is everybody's.
MAY_IMPORT: dict[str, set[str]] = {
    "answers": set(),
    "catalog": {"answers"},
    "requests": {"catalog"},
    "kit": {"answers", "catalog"},
    "machine": {"answers", "catalog", "kit", "requests"},
    "debug": {"catalog", "kit", "machine"},
    "measurement": {"answers", "catalog", "machine", "requests"},
    "trace": {"answers", "catalog", "machine", "measurement", "requests"},
    "harvest": {"answers", "catalog", "trace"},
    "secure": {"answers", "catalog", "machine", "measurement", "requests"},
    "loop": {"answers", "catalog", "harvest", "kit", "machine", "measurement"},
    "planner": {"answers", "catalog", "harvest", "loop", "measurement", "requests"},
    "papers": {"answers", "catalog", "loop", "machine", "measurement", "planner", "requests", "secure"},
    "schemas": {
        "answers",
        "catalog",
        "kit",
        "loop",
        "machine",
        "measurement",
        "papers",
        "planner",
        "requests",
        "secure",
        "trace",
    },
    "sweeps": {"answers", "catalog", "loop", "planner", "requests", "schemas"},
    "report": {
        "answers",
        "catalog",
        "harvest",
        "loop",
        "measurement",
        "papers",
        "planner",
        "requests",
        "secure",
        "trace",
    },
    "api": {"catalog", "loop", "measurement", "planner", "requests", "schemas"},
    "benchmark": {"catalog", "loop", "machine", "measurement", "planner", "secure"},
}
MAY_IMPORT["cli"] = set(MAY_IMPORT)
BESIDE_THE_ROOMS = {"__init__", "__main__", "errors"}


def package_modules() -> dict[str, Path]:
    """Each module of the package by its dotted name below `sunseal`; a room's `__init__` by the room's."""
    package = ROOT / "python" / "src" / "sunseal"
    parts = {path: path.relative_to(package).with_suffix("").parts for path in python_files()}
    return {".".join(p[:-1] if p[-1] == "__init__" and p[1:] else p): path for path, p in parts.items()}


def package_imports(name: str, modules: dict[str, Path]) -> set[str]:
    """Modules of the package that one imports, anywhere in it but for types alone."""
    found: set[str] = set()
    tree = ast.parse(modules[name].read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.module is None or id(node) in for_types:
            continue
        first, *rest = node.module.split(".")
        for alias in node.names if first == "sunseal" else ():
            whole, above = ".".join((*rest, alias.name)), ".".join(rest)
            found |= {whole if whole in modules else above} & set(modules) - {name}
    return found


def test_a_python_room_imports_only_what_it_may() -> None:
    modules = package_modules()
    rooms = {name.partition(".")[0] for name in modules}
    assert rooms - BESIDE_THE_ROOMS == set(MAY_IMPORT), "a room needs its line, and no module stands beside the rooms"
    broken, used = [], {room: set[str]() for room in MAY_IMPORT}
    for name in modules:
        room = name.partition(".")[0]
        for other in {o.partition(".")[0] for o in package_imports(name, modules)} - {room, "errors"}:
            # Of what stands beside the rooms only `python -m sunseal` knows the command line.
            if room in MAY_IMPORT and other in MAY_IMPORT[room]:
                used[room].add(other)
            elif (room, other) != ("__main__", "cli"):
                broken.append(f"sunseal.{name} imports sunseal.{other}")
    assert not broken
    assert {room: to for room, to in MAY_IMPORT.items() if to - used[room] and room != "cli"} == {}, "no longer used"


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """Nodes that some way leads back to."""
    left = {name: set(to) for name, to in arrows.items()}
    while ends := {name for name, to in left.items() if not to & set(left)}:
        left = {name: to for name, to in left.items() if name not in ends}
    return sorted(left)


def test_imports_make_no_circle() -> None:
    """Imports inside functions count: a module that waits with one still needs it."""
    modules = package_modules()
    assert circles({name: package_imports(name, modules) for name in modules}) == []
    assert circles(MAY_IMPORT) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]


@pytest.mark.parametrize("path", python_files(), ids=lambda p: p.name)
def test_python_sees_only_the_engine(path: Path) -> None:
    """Python reaches the crates by `_engine` alone: it never loads another compiled module of ours."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            assert not name.startswith("sunseal_"), f"{path.name} imports {name}"
            assert name.split(".")[0] not in {"tests", "conftest"}, f"{path.name} imports {name}"


SUPPLIES = ("capacitor", "cell", "charger", "converter", "harvester", "panel")
ALSO_OURS = {
    "capacitance_f",
    "esr_ohm",
    "v_max_v",
    "v_on_v",
    "v_cut_v",
    "kind",
    "source",
    "note",
    "rechargeable",
    "point",
}
ALSO_OURS |= {
    "recalled",
    "assumed",
    "temperature",
    "efficiency",
    "rate",
    "branch",
    "overhead_reading",
    "charge_efficiency",
}
# What reads files of parts and boards: units' powers of ten end there.
READS_UNITS = ("catalog/", "harvest/part_fitting.py")


def test_a_key_with_a_unit_is_read_by_the_modules_of_parts_alone() -> None:
    """Python weighs no supply: what a part's file says with a unit goes to the engine, or through `part_files`."""
    schema = json.loads((ROOT / "docs" / "reference" / "schema" / "part.schema.json").read_text())
    # What else is called so is a scenario's, or an answer's.
    ours = {key for kind in SUPPLIES for key in schema["$defs"][f"{kind.title()}Part"]["properties"]} - ALSO_OURS
    data_key = re.compile(r"[a-z]\w*_(?=[A-Za-z]*[A-Z])[a-z]{0,2}[A-Z][a-zA-Z]*")
    package, found = ROOT / "python" / "src" / "sunseal", dict[str, set[str]]()
    for path in python_files():
        name = str(path.relative_to(package))
        for node in ast.walk(ast.parse(path.read_text())):
            keys: list[ast.expr] = [node.slice] if isinstance(node, ast.Subscript) else []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                keys = node.args[:1]
            for key in keys:
                told = key.value if isinstance(key, ast.Constant) else None
                if isinstance(told, str) and (told in ours or data_key.fullmatch(told)):
                    found.setdefault(name, set()).add(told)
    assert {name: keys for name, keys in found.items() if not name.startswith(READS_UNITS)} == {}
    assert "catalog/si.py" in found


# A room of firmware/ and the rooms whose headers it may include.
MAY_INCLUDE: dict[str, set[str]] = {
    "crypto": {"crypto"},
    "runtime": {"runtime"},
    "boards": {"boards", "hal"},
    "hal": {"hal", "boards", "runtime"},
    "intermittent": {"intermittent", "crypto", "runtime"},
    "coupon": {"coupon", "crypto", "intermittent", "runtime"},
    "handshake": {"handshake", "crypto", "runtime"},
    "coprocessor": {"coprocessor", "crypto", "boards", "hal", "runtime"},
    "bench": {"bench", "crypto", "coprocessor", "intermittent", "coupon", "handshake", "hal", "boards", "runtime"},
    "node": {"node", "crypto", "coupon", "intermittent", "hal", "boards", "runtime"},
    "base": {"base", "node", "crypto", "coprocessor", "hal", "boards", "runtime"},
    "tests": {"tests", "crypto", "intermittent", "coupon", "hal", "node", "bench", "boards", "runtime"},
}

C_HEADERS = {"limits.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}


def firmware_headers() -> dict[str, set[str]]:
    """Header file name -> the rooms of firmware/ that hold one of that name."""
    rooms: dict[str, set[str]] = {}
    for header in (ROOT / "firmware").rglob("*.h"):
        parts = header.relative_to(ROOT / "firmware").parts
        # runtime/include stands in for the C library, which every room may use.
        if parts[0] != "build" and parts[:2] != ("runtime", "include"):
            rooms.setdefault(header.name, set()).add(parts[0])
    return rooms


def firmware_sources() -> list[Path]:
    return [
        p
        for p in sorted((ROOT / "firmware").rglob("*"))
        if p.suffix in {".c", ".h", ".S"} and p.relative_to(ROOT / "firmware").parts[0] in MAY_INCLUDE
    ]


def test_firmware_includes_only_what_it_may() -> None:
    headers = firmware_headers()
    sources = firmware_sources()
    assert sources, "no firmware sources found: is the tree complete?"
    broken = []
    for path in sources:
        room = path.relative_to(ROOT / "firmware").parts[0]
        for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', path.read_text(), re.M):
            assert "crates/" not in name and "hdl/" not in name, f"{path}: {name}"
            owners = headers.get(Path(name).name)
            # Headers that C itself names are everybody's, also where firmware/runtime is who has them.
            if name in C_HEADERS:
                continue
            if owners and not owners & MAY_INCLUDE[room]:
                broken.append(f"{path.relative_to(ROOT)} includes {name} of {sorted(owners)}")
    assert not broken


def test_data_holds_facts_only() -> None:
    allowed = {".toml", ".json", ".csv", ".md"}
    odd = [p for p in (ROOT / "data").rglob("*") if p.is_file() and p.suffix not in allowed and p.name != "LICENSE"]
    assert not odd


FORBIDDEN = re.compile(
    r"(index\.crates\.io|static\.crates\.io|pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org"
    r"|deb\.debian\.org|proxy\.golang\.org|repo1?\.maven)",
)


def test_no_tracked_file_names_a_registry_host() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    broken = []
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file() and path != Path(__file__).resolve():
            text = path.read_bytes().decode("utf-8", "ignore")
            if FORBIDDEN.search(text):
                broken.append(name)
    assert not broken


CODE = {".rs", ".py", ".pyi", ".c", ".h", ".S", ".inc", ".sv", ".v", ".mk"}


def tracked(*endings: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    found = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return [p for p in found if p.suffix in endings and p.is_file()]


def test_no_file_of_code_is_above_900_lines() -> None:
    counts = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in tracked(*CODE)}
    assert {name: n for name, n in counts.items() if n > 900} == {}


# Functions of Rust that are one table, a row an instruction.
TABLES = {
    "avr/dataflow.rs": "dataflow",
    "avr/insn.rs": "decode",
    "avr/op.rs": "lower",
    "thumb/dataflow.rs": "unconditional",
    "thumb/execute.rs": "execute",
    "thumb/execute/unit.rs": "execute_float",
    "thumb/fast.rs": "fast",
    "thumb/insn/narrow.rs": "decode_narrow",
    "thumb/insn/wide.rs": "coprocessor",
    "thumb/text.rs": "text",
}

FUNCTION = re.compile(r"(?: *)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*fn (\w+)")


def functions_of(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Each function of a file that rustfmt has set, and its lines: it ends at the brace that stands as far in as it."""
    for start, line in enumerate(lines):
        head = FUNCTION.match(line)
        if not head or line.endswith(";"):
            continue
        indent = len(line) - len(line.lstrip())
        for end in range(start, len(lines)):
            last = lines[end]
            ends = end > start and len(last) - len(last.lstrip()) == indent
            if line.endswith("}") or (ends and (last.strip() == "}" or last.endswith(";"))):
                yield head[1], end - start + 1
                break


def test_no_function_of_rust_but_tables_is_above_80_lines() -> None:
    isa = ROOT / "crates" / "sunseal-isa" / "src"
    long = {
        (str(path.relative_to(isa) if path.is_relative_to(isa) else path.relative_to(ROOT)), name): n
        for path in tracked(".rs")
        for name, n in functions_of(path.read_text().splitlines())
        if n > 80
    }
    assert set(long) == set(TABLES.items()), long


def python_functions(*paths: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Each function of Python files, with the name of its file."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield str(path.relative_to(ROOT)), node


def test_no_function_of_python_is_above_80_lines() -> None:
    long = {
        (name, f.name): lines
        for name, f in python_functions(*tracked(".py"))
        if (lines := (f.end_lineno or f.lineno) - f.lineno + 1) > 80
    }
    assert long == {}


def test_no_function_of_the_package_has_more_than_14_parameters() -> None:
    """More questions to a function or a command than that are a request (`sunseal.requests.asking`)."""
    wide = {
        (name, f.name): given
        for name, f in python_functions(*python_files())
        if (given := len(f.args.posonlyargs + f.args.args + f.args.kwonlyargs)) > 14
    }
    assert wide == {}


def test_an_option_of_the_command_line_stands_once() -> None:
    """Its spelling and help are written in one place, whichever commands have it."""
    seen: dict[tuple[str, str], list[str]] = {}
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("Option", "asked", "typer.Option"):
                continue
            told = [*node.args, *(k.value for k in node.keywords if k.arg == "help")]
            words = [t.value for t in told if isinstance(t, ast.Constant) and isinstance(t.value, str) and t.value]
            if len(words) > 1:
                seen.setdefault((words[0], words[-1]), []).append(f"{path.name}:{node.lineno}")
    assert len(seen) > 150
    assert {option: places for option, places in seen.items() if len(places) > 1} == {}
