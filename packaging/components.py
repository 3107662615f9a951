#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Components that a wheel carries, with licences: from `cargo metadata` and from what the package asks of Python.

components.py sbom               print the list as CycloneDX 1.6
components.py licences           print the texts of the licences of what is linked in
components.py check              say which licence is not among those that are allowed; exit 1 if one is
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CARRIERS = ("sunseal-py", "sunseal-server")
"""Crates whose programs a wheel carries: the engine and the server."""
ALLOWED = frozenset(
    "MIT Apache-2.0 BSD-2-Clause BSD-3-Clause ISC Zlib Unicode-3.0 Unlicense 0BSD CC0-1.0 BSL-1.0 OpenSSL MIT-0".split()
)
"""Licences under which a wheel may be handed on with nothing but their texts beside it (SPDX identifiers)."""
EXCEPTIONS = frozenset({"LLVM-exception"})
TEXTS = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|UNLICENSE|COPYRIGHT)", re.I)
OF_NREL = {
    "type": "data",
    "name": "TMY3 723170 Greensboro Piedmont Triad",
    "version": "1991-2005 update",
    "supplier": {"name": "National Renewable Energy Laboratory"},
    "description": "Hours of light and air of a typical year, and the sun's place in them; a work of the US government",
}
"""Facts of others that a wheel carries beside the sources that `data/` names block by block."""


def metadata() -> dict[str, Any]:
    """Return what cargo says of all packages on this machine's platform."""
    host = re.search(r"^host: (.+)$", _output(["rustc", "-vV"]), re.MULTILINE)
    assert host is not None
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host[1]]
    told: dict[str, Any] = json.loads(_output(asked))
    return told


def _output(command: list[str]) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def carried(told: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, list[str]]]:
    """Return the packages that are linked into the carriers, by their id, and what each leans on.

    What only runs while something is compiled (build scripts, macros) is not carried, nor is what only tests use.
    """
    packages = {p["id"]: p for p in told["packages"]}
    nodes = {n["id"]: n for n in told["resolve"]["nodes"]}

    def linked(package: str) -> bool:
        return not any("proc-macro" in target["kind"] for target in packages[package]["targets"])

    edges: dict[str, list[str]] = {}
    left = [p["id"] for p in told["packages"] if p["name"] in CARRIERS]
    while left:
        package = left.pop()
        if package in edges:
            continue
        normal = [d["pkg"] for d in nodes[package]["deps"] if any(k["kind"] is None for k in d["dep_kinds"])]
        edges[package] = sorted(filter(linked, normal))
        left += edges[package]
    return {package: packages[package] for package in edges}, edges


def expression(package: dict[str, Any]) -> str:
    """Return a crate's licence as SPDX writes it; a slash was cargo's earlier `OR`."""
    return str(package.get("license") or "").replace("/", " OR ")


def allowed(licence: str) -> bool:
    """Say whether an expression can be met by allowed licences alone."""
    words = re.findall(r"\(|\)|[^\s()]+", licence)

    def either() -> bool:
        met = both()
        while words and words[0] == "OR":
            words.pop(0)
            met |= both()
        return met

    def both() -> bool:
        met = one()
        while words and words[0] == "AND":
            words.pop(0)
            met &= one()
        return met

    def one() -> bool:
        word = words.pop(0) if words else ""
        if word == "(":
            met = either()
            return bool(words) and words.pop(0) == ")" and met
        met = word in ALLOWED
        if words and words[0] == "WITH":
            words.pop(0)
            met &= words.pop(0) in EXCEPTIONS if words else False
        return met

    return either() and not words


def errors(packages: dict[str, dict[str, Any]]) -> list[str]:
    """Name what must not be handed on: a package without a licence, or with one that is not allowed."""
    return [
        f"{p['name']} {p['version']}: `{expression(p) or 'no licence'}` is not among the licences that are allowed"
        for p in packages.values()
        if not allowed(expression(p))
    ]


def requirements() -> list[str]:
    """Return what the package asks of Python's index where no extra is wanted."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.split(r"[<>=!~ ;]", text, maxsplit=1)[0] for text in project["dependencies"]]


def pinned() -> dict[str, str]:
    """Return the versions of requirements.txt, which are tested with each other."""
    lines = (ROOT / "requirements.txt").read_text(encoding="ascii").splitlines()
    found = (re.match(r"([\w.-]+)==([\w.]+)", line) for line in lines)
    return {match[1].lower(): match[2] for match in found if match}


def sbom(told: dict[str, Any]) -> dict[str, Any]:
    """Write the list of components; the same sources give the same bytes."""
    packages, edges = carried(told)
    version = next(p["version"] for p in packages.values() if p["name"] == CARRIERS[0])
    ours = {i for i, p in packages.items() if p["source"] is None}
    refs = {i: f"pkg:cargo/{p['name']}@{p['version']}" for i, p in packages.items()}
    root = f"pkg:pypi/sunseal@{version}"
    parts: list[dict[str, Any]] = [_crate(p, refs[i]) for i, p in packages.items() if i not in ours]
    versions = pinned()
    for name in requirements():
        of = {"version": versions[name]} if name in versions else {}
        ref = f"pkg:pypi/{name}" + (f"@{of['version']}" if of else "")
        told_of = f"{name}, which is installed beside the wheel; this version is tested"
        parts.append({"type": "library", "bom-ref": ref, "name": name, **of, "purl": ref, "scope": "optional"})
        parts[-1]["description"] = told_of
    parts.append({**OF_NREL, "bom-ref": "data:tmy3-723170"})
    asked = sorted({refs[d] for i in ours for d in edges[i] if d not in ours})
    asked += [p["bom-ref"] for p in parts if not p["bom-ref"].startswith("pkg:cargo/")]
    depends = [{"ref": root, "dependsOn": sorted(asked)}]
    others = sorted((i for i in edges if i not in ours), key=refs.__getitem__)
    depends += [{"ref": refs[i], "dependsOn": [refs[d] for d in edges[i]]} for i in others]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "sunseal",
                "version": version,
                "purl": root,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "authors": [{"name": "Sunseal developers"}],
            },
        },
        "components": sorted(parts, key=lambda p: p["bom-ref"]),
        "dependencies": depends,
    }


def _crate(package: dict[str, Any], ref: str) -> dict[str, Any]:
    found = {"type": "library", "bom-ref": ref, "name": package["name"], "version": package["version"], "purl": ref}
    if package.get("description"):
        found["description"] = " ".join(package["description"].split())
    return {**found, "licenses": [{"expression": expression(package)}]}


def texts(packages: dict[str, dict[str, Any]]) -> str:
    """Write the licences of what is linked in: each text once, under the names of those that have it."""
    under: dict[str, list[str]] = {}
    for package in sorted(packages.values(), key=lambda p: (p["name"], p["version"])):
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']} ({expression(package)})"
        for text in _of(Path(package["manifest_path"]).parent) or ["(its archive has no file with the licence's text)"]:
            under.setdefault(text, []).append(name)
    blocks = ["\n".join(names) + "\n\n" + text for text, names in under.items()]
    head = "Licences of what the engine and the server of Sunseal are linked with, each text once.\n"
    return head + "".join(f"\n{'=' * 100}\n{block.rstrip()}\n" for block in blocks)


def _of(folder: Path) -> Iterator[str] | list[str]:
    files = sorted(p for p in folder.iterdir() if p.is_file() and TEXTS.match(p.name) and p.suffix != ".rs")
    return [p.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n") for p in files]


def main() -> int:
    """Print the list or the texts, or check the licences."""
    asked = sys.argv[1:]
    if asked not in (["sbom"], ["licences"], ["check"]):
        print(__doc__, file=sys.stderr)
        return 2
    told = metadata()
    packages, _ = carried(told)
    if wrong := errors(packages):
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    if asked == ["sbom"]:
        print(json.dumps(sbom(told), indent=1))
    elif asked == ["licences"]:
        print(texts(packages), end="")
    else:
        others = sum(p["source"] is not None for p in packages.values())
        print(f"{others} crates of others are linked in, each under a licence that is allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
