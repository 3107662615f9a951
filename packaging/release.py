#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Release: one number in the places that hold it, and a wheel that others' tools find nothing wrong with.

    release.py version 0.3.0         write a number into Cargo.toml, Cargo.lock, CITATION.cff, examples in the docs
    release.py check WHEEL           hold a wheel, the changelog and the citation to what a release asks; exit 1 if not

`make release-check` builds the wheel first, runs `check`, and installs it where nothing else is (tests/test_wheel.py).
"""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path

import changelog
import components
import front
from number import version

ROOT = Path(__file__).resolve().parent.parent
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
JUDGES, CITATION = BUILT / "judges", BUILT / "citation"
"""Others' tools, which `make test-python` and `make release-check` install (packaging/judges.txt, citation.txt)."""
HOLDERS = {
    "Cargo.toml": r'(?<=^version = ")[^"]+',
    "CITATION.cff": r"(?<=^version: ).+$",
    "docs/how-to/library.md": r"(?<=sunseal-crypto-)\d+\.\d+\.\d+",
    "docs/reference/stability.md": r'(?<=^sunseal )\d+\.\d+\.\d+(?=, data)|(?<="version": ")\d+\.\d+\.\d+(?=", "data")',
    "docs/reference/verdicts.md": r'(?<="version": ")\d+\.\d+\.\d+(?=", "data")',
}
"""Places in files that hold the version; Cargo.toml's is the one that counts."""
FIELDS = (
    "Metadata-Version Name Version Summary Keywords Author License-Expression License-File Requires-Python "
    "Description-Content-Type Classifier Requires-Dist Provides-Extra"
).split()
"""Fields of a package's metadata that an index shows (PEP 566, 639, 643)."""
WHEEL_MB_MOST = 60.0


def set_version(new: str, root: Path = ROOT) -> int:
    """Write a version everywhere that it stands."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        print(f"`{new}` is no version: write MAJOR.MINOR.PATCH, as 1.2.3", file=sys.stderr)
        return 2
    for name, place in HOLDERS.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(place, new, text, flags=re.M), encoding="utf-8")
    subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=root, check=True)
    return 0


def numbers(root: Path = ROOT) -> Iterator[str]:
    """Say where another version stands than Cargo.toml's."""
    ours = version()
    for name, place in HOLDERS.items():
        found = re.findall(place, (root / name).read_text(encoding="utf-8"), flags=re.M)
        if set(found) != {ours}:
            yield f"{name}: has version {', '.join(sorted(set(found))) or 'nowhere'}, and Cargo.toml {ours}"
    for crate in sorted((root / "crates").glob("*/Cargo.toml")):
        if "version.workspace = true" not in crate.read_text(encoding="utf-8"):
            yield f"{crate.relative_to(root)}: has a version of its own; write `version.workspace = true`"


def history() -> Iterator[str]:
    """Say what is wrong with the changelog: it has this version, or fragments to make its section of."""
    page = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield from changelog.page_errors(page)
    yield from changelog.fragment_errors(ROOT / "changelog")
    if f"\n## {version()}" not in page and not changelog.fragments(ROOT / "changelog"):
        yield f"CHANGELOG.md: has no section {version()}, and changelog/ no fragment to make it of"


def page() -> Iterator[str]:
    """Say whether the front page is that of this README."""
    if front.PAGE.read_text(encoding="utf-8") != front.current():
        yield "packaging/front.md: is not made of this README.md; run packaging/front.py write"


def judged(name: str, place: Path, module: str, *args: str) -> Iterator[str]:
    """Say what somebody else's tool finds."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(place)!r}); {module}", *args]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        yield f"{name}: {' '.join((done.stdout + done.stderr).split())[-400:]}"


def citation() -> Iterator[str]:
    """Say what cffconvert finds wrong with CITATION.cff."""
    yield from judged("CITATION.cff", CITATION, "from cffconvert.cli.cli import cli; cli()", "--validate")


def metadata(told: Message) -> Iterator[str]:
    """Say which field of a wheel's metadata is missing or none that an index knows."""
    yield from (f"METADATA: lacks {field}" for field in FIELDS if told.get(field) is None)
    if told["Version"] != version():
        yield f"METADATA: has version {told['Version']}, and Cargo.toml {version()}"
    known = "from trove_classifiers import classifiers; sys.exit(bool(set(sys.argv[1:]) - classifiers))"
    yield from judged("classifiers that no index knows", JUDGES, known, *told.get_all("Classifier", []))


def wheel(path: Path) -> Iterator[str]:
    """Say what is wrong with a wheel: metadata, front page, licences, components, size."""
    yield from judged(
        "twine check", JUDGES, "from twine.__main__ import main; sys.exit(main())", "check", "--strict", str(path)
    )
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        info = next(name for name in names if name.endswith(".dist-info/METADATA")).removesuffix("METADATA")
        yield from metadata(email.message_from_bytes(packed.read(f"{info}METADATA")))
        for licence in ("LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY"):
            if not any(name.startswith(info) and name.endswith(licence) for name in names):
                yield f"{path.name}: does not bring {licence}"
        try:
            told = packed.read(f"{info}sboms/sunseal.cdx.json").decode()
        except KeyError:
            yield f"{path.name}: has no list of its components"
            return
    yield from bill(told)
    if path.stat().st_size > WHEEL_MB_MOST * 1e6:
        yield f"{path.name}: has {path.stat().st_size / 1e6:.0f} MB; {WHEEL_MB_MOST:g} are enough"


def bill(told: str) -> Iterator[str]:
    """Say what is wrong with a list of components: by CycloneDX's own schema, and by what cargo links in today."""
    check = (
        "from cyclonedx.validation.json import JsonStrictValidator; from cyclonedx.schema import SchemaVersion; "
        "sys.exit(str(e) if (e := JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.argv[1])) else 0)"
    )
    yield from judged("components", JUDGES, check, told)
    if json.loads(told) != components.sbom(components.metadata()):
        yield "components: are not those of this tree; build the wheel again"


def check(path: Path) -> int:
    """Say of each part of a release whether it may leave."""
    if not path.is_file():
        print(f"there is no wheel `{path}`; `make wheel` builds one", file=sys.stderr)
        return 2
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "version": numbers,
        "changelog": history,
        "front page": page,
        "citation": citation,
        "wheel": lambda: wheel(path),
    }
    wrong = 0
    for name, part in parts.items():
        found = list(part())
        wrong += len(found)
        print(f"{'wrong' if found else 'ok':<7}{name}", *(f"       {said}" for said in found), sep="\n", flush=True)
    if not wrong:
        print(f"{path.name} may be released as {version()}; the tag v{version()} is yours to set")
    return 1 if wrong else 0


def main() -> int:
    """Write a version, or check a release."""
    match sys.argv[1:]:
        case ["version", new]:
            return set_version(new)
        case ["check", path]:
            return check(Path(path))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
