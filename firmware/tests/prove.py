#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Run the bounded proofs of tests/proofs with CBMC: python3 prove.py [PROOF...].

Each is run twice: with the host's sizes of integers and pointers, and with those of the 16-bit targets.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FIRMWARE = Path(__file__).resolve().parents[1]
FOLDER = FIRMWARE / "tests" / "proofs"
CHECKS = (
    "--bounds-check --pointer-check --pointer-overflow-check --signed-overflow-check --undefined-shift-check".split()
)
TIMEOUT_S = 900
WIDTHS = {"host": (), "16-bit": ("--16", "--little-endian")}
PREPROCESS = {
    "host": ("cc", "-E", "-P"),
    "16-bit": ("clang", "--target=msp430", "-ffreestanding", "-nostdlibinc", "-E", "-P"),
}
"""The targets' own preprocessor, for their own limits and widths."""


@dataclass(frozen=True)
class Proof:
    """One function of one file."""

    file: Path
    function: str
    sources: tuple[Path, ...]
    unwind: str
    width: str

    @property
    def name(self) -> str:
        """As it is typed and printed."""
        return f"{self.file.stem}/{self.function.removeprefix('prove_')} ({self.width})"

    def command(self, cbmc: str, folder: Path) -> list[str]:
        """What runs it; the preprocessed sources go into the folder."""
        files = []
        for source in (self.file, FOLDER / "wipe.c", *self.sources):
            files.append(str(folder / f"{source.stem}.c"))
            model = self.file.stem != "buffers"
            Path(files[-1]).write_text(preprocessed(source, self.width, model), encoding="utf-8")
        bound = ["--unwind", self.unwind, "--unwinding-assertions", "--function", self.function]
        return [cbmc, *CHECKS, *WIDTHS[self.width], *bound, *files]


@cache
def preprocessed(source: Path, width: str, model: bool = True) -> str:
    """A source as its compiler sees it; with the model of buffers.h, but for the proof of that itself."""
    includes = [f"-I{FIRMWARE / folder}" for folder in ("crypto/src", "crypto/include", "build/tables")]
    includes += ["-isystem", str(FIRMWARE / "runtime" / "include")] if width != "host" else []
    includes += ["-include", str(FOLDER / "model.h")] if model else []
    command = [*PREPROCESS[width], *includes, str(source)]
    command[0] = tool(command[0], "firmware") if width != "host" else command[0]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@cache
def tool(name: str, group: str) -> str:
    """A program from PATH or from where the toolchain lies."""
    found = shutil.which(name)
    if found is None:
        get = [sys.executable, str(FIRMWARE / "toolchain" / "get"), "--for", group, "--print-bin"]
        found = f"{subprocess.run(get, capture_output=True, text=True, check=True).stdout.strip()}/{name}"
        if not Path(found).exists():
            raise SystemExit(f"prove.py: {name} is missing; run `firmware/toolchain/get --for {group}`")
    return found


def proofs() -> list[Proof]:
    """All of them."""
    found = []
    for file in sorted(FOLDER.glob("*.c")):
        text = file.read_text(encoding="utf-8")
        sources = " ".join(re.findall(r"sources: (.*)", text))
        unwind = re.search(r"unwind: (\d+)", text)
        if not sources or not unwind:
            continue
        files = tuple(f for pattern in sources.split() for f in sorted((FIRMWARE / "crypto" / "src").glob(pattern)))
        # Macros make some of them.
        for function in re.findall(r"void (prove_\w+)\(void\)", preprocessed(file, "host")):
            found += [Proof(file, function, files, unwind[1], width) for width in WIDTHS]
    return found


def run(proof: Proof, cbmc: str) -> tuple[Proof, float, str]:
    """Say what failed, or nothing."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            command = proof.command(cbmc, Path(folder))
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return proof, TIMEOUT_S, f"{proof.name}: no verdict in {TIMEOUT_S} s"
    wrong = [line for line in done.stdout.splitlines() if line.endswith(": FAILURE")]
    if done.returncode == 0 and "VERIFICATION SUCCESSFUL" in done.stdout:
        return proof, time.monotonic() - begun, ""
    return proof, time.monotonic() - begun, "\n".join(wrong or [done.stdout[-2000:] + done.stderr[-2000:]])


def main() -> int:
    """The verdict."""
    cbmc = tool("cbmc", "proofs")
    chosen = [p for p in proofs() if not sys.argv[1:] or any(word in p.name for word in sys.argv[1:])]
    if not chosen:
        print(f"prove.py: no proof is named {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 2
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for proof, seconds, wrong in pool.map(lambda p: run(p, cbmc), chosen):
            if wrong or sys.stderr.isatty():
                print(f"{proof.name}: {'FAILED' if wrong else 'proved'} in {seconds:.1f} s", file=sys.stderr)
            if wrong:
                failed += 1
                print(wrong, file=sys.stderr)
    print(f"prove.py: {len(chosen) - failed} of {len(chosen)} proved")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
