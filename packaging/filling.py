# SPDX-License-Identifier: MIT OR Apache-2.0
"""Things that go into a wheel once it is built: answers kept by its own engine, the sun's place, the components."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import components

ROOT = Path(__file__).resolve().parent.parent
PREPARED = (
    *(f"tune --operation {operation} --json" for operation in "sign verify agree encrypt seal tag hash".split()),
    "plan {home}/examples/requirements.toml --json",
    "plan {home}/examples/requirements-battery.toml --json",
    "size --json",
    "lifetime --json",
)
"""Questions whose runs travel along: a first `tune`, `size` or `plan` then weighs what was counted already."""
SKIES = """
from sunseal.harvest import light
for asked in light.CARRIED:
    light.computed_sky(light.DEFAULT_WEATHER, *asked).save(light.carried_path(light.DEFAULT_WEATHER, *asked))
"""
COUNTED = re.compile(r"sunseal/(_engine\.|home/(data|firmware|examples)/|(catalog|harvest|measurement|planner|loop)/)")
"""Parts of a wheel that what is kept was made of."""
RECORD = re.compile(r"[^/]+\.dist-info/RECORD")


def fill(wheel: Path, cache: Path) -> int:
    """Put what commands of PREPARED keep into a wheel, with its components; return how many files were kept."""
    kept = prepared(wheel, cache)
    told = components.metadata()
    info = wheel.name.split("-")
    sbom = f"{info[0]}-{info[1]}.dist-info/sboms/sunseal.cdx.json"
    text = json.dumps(components.sbom(told), indent=1) + "\n"
    amend(wheel, {**{f"sunseal/home/cache/{name}": data for name, data in kept.items()}, sbom: text.encode()})
    return len(kept)


def prepared(wheel: Path, cache: Path) -> dict[str, bytes]:
    """Run PREPARED by what a wheel holds, and return the files that its cache has then.

    They are kept in a folder that is named by what they are made of, so that the same wheel is not asked twice.
    """
    with zipfile.ZipFile(wheel) as packed:
        record = next(name for name in packed.namelist() if RECORD.fullmatch(name))
        lines = [line for line in packed.read(record).decode().splitlines() if COUNTED.match(line)]
        key = hashlib.sha256("\n".join([*sorted(lines), *PREPARED, SKIES]).encode()).hexdigest()[:16]
        folder = cache / key
        if not (folder / "whole").is_file():
            with tempfile.TemporaryDirectory() as scratch:
                packed.extractall(scratch)
                _ask(Path(scratch), folder)
            (folder / "whole").touch()
    files = sorted(path for path in (folder / "sunseal").rglob("*") if path.is_file())
    return {path.relative_to(folder / "sunseal").as_posix(): path.read_bytes() for path in files}


def _ask(unpacked: Path, cache: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "SUNSEAL_HOME"}
    env |= {"PYTHONPATH": str(unpacked), "XDG_CACHE_HOME": str(cache)}
    home = unpacked / "sunseal" / "home"
    asked = [["-c", SKIES], *(["-m", "sunseal", *line.format(home=home).split()] for line in PREPARED)]
    for words in asked:
        told = " ".join(words[2:]) or "the sun's place"
        print(f"packaging/wheel: kept for first answers: {told}", file=sys.stderr, flush=True)
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=unpacked, env=env, check=False, capture_output=True, text=True)
        if done.returncode not in (0, 1):  # 1 is an answer too: no
            sys.exit(f"packaging/wheel: `{told}` ended with {done.returncode}: {done.stderr.strip()}")


def amend(wheel: Path, files: dict[str, bytes]) -> None:
    """Add files to a wheel and to its RECORD; it is written anew, whole or not at all."""
    fresh = wheel.with_name(f".{wheel.name}")
    with zipfile.ZipFile(wheel) as packed, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        entries = packed.infolist()
        record = next(e for e in entries if RECORD.fullmatch(e.filename))
        stamp = record.date_time
        for entry in entries:
            if entry is not record and entry.filename not in files:
                out.writestr(entry, packed.read(entry))
        lines = [line for line in packed.read(record).decode().splitlines() if line.split(",")[0] not in files]
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            out.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
        own = [line for line in lines if line.startswith(f"{record.filename},")]
        out.writestr(record, "\n".join([*(line for line in lines if line not in own), *own]) + "\n")
    fresh.replace(wheel)
