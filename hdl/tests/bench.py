# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tests of `hdl/` share: vectors, simulators, netlists, proofs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest

from sunseal import Machine
from sunseal.errors import SunsealError
from sunseal.papers import hdl

HDL = Path(__file__).resolve().parent.parent
VECTORS = HDL.parent / "data" / "vectors"
# core -> its module with parameters, vectors, bytes of key and block
CORES = {
    "aes128": ("aes128", "aes128", 16, 16),
    "xtea": ("xtea", "xtea", 16, 8),
    "xtea-decrypt": ("xtea #(.Decrypt(1))", "xtea", 16, 8),
    "present128": ("present_serial", "present128", 16, 8),
    "present128-rounds": ("present_round #(.KeyBits(128))", "present128", 16, 8),
    "present80-rounds": ("present_round #(.KeyBits(80))", "present80", 10, 8),
}
# Ciphers of the driver and their bytes of a block; its refusal of what answers wrong.
CIPHERS = {"aes128": 16, "xtea": 8, "present128": 8}
ERR_ENGINE = -46
Line = tuple[str, str, str]


@contextmanager
def tools_or_skip() -> Iterator[None]:
    """Skip where a tool is missing, unless SUNSEAL_REQUIRE_TOOLS says that none may be."""
    try:
        yield
    except SunsealError as e:
        if "SUNSEAL_REQUIRE_TOOLS" in os.environ:
            raise
        pytest.skip(str(e))


def vectors(name: str) -> list[Line]:
    """(key, block, result) in hex, from the file that C, Rust and Python read."""
    if name == "aes128":
        rows = json.loads((VECTORS / "aes128.json").read_text())["ecb"]
    elif name == "xtea":
        rows = json.loads((VECTORS / "xtea.json").read_text())["xtea"]
    else:
        rows = json.loads((VECTORS / "present.json").read_text())[name]
    step = 32 if name == "aes128" else 16
    return [
        (r["key"], r["plaintext"][i : i + step], r["ciphertext"][i : i + step])
        for r in rows
        for i in range(0, len(r["plaintext"]), step)
    ]


def messages(cipher: str) -> list[tuple[bytes, bytes, bytes]]:
    """Key, plaintext, ciphertext of the vectors, the blocks of one key as one message."""
    found = []
    for key, blocks in groupby(vectors(cipher), key=lambda v: v[0]):
        lines = list(blocks)[: 256 // CIPHERS[cipher]]
        texts = ("".join(b for _, b, _ in lines), "".join(c for _, _, c in lines))
        found.append((bytes.fromhex(key), bytes.fromhex(texts[0]), bytes.fromhex(texts[1])))
    return found


def goes_on_as_before(m: Machine, finish: Callable[[Machine, int], bytes], right: bytes) -> None:
    """Hold a run from a snapshot to the run that went on from there."""
    kept = m.snapshot()
    assert finish(m, len(right)) == right
    cycles = m.cycles
    m.restore(kept)
    assert finish(m, len(right)) == right
    assert m.cycles == cycles


def core_lines(core: str) -> list[Line]:
    _, name, _, _ = CORES[core]
    lines = vectors(name)
    return [(k, c, p) for k, p, c in lines] if core.endswith("decrypt") else lines


def icarus(top: str, files: list[Path], defines: dict[str, str], work: Path, *plus: str) -> str:
    made = work / f"{top}.vvp"
    flags = [f"-D{k}={v}" if v else f"-D{k}" for k, v in defines.items()]
    hdl.run_tool("iverilog", "-g2012", "-grelative-include", *flags, "-s", top, "-o", str(made), *map(str, files))
    return hdl.run_tool("vvp", "-n", str(made), *plus)


def verilator(top: str, files: list[Path], defines: dict[str, str], work: Path, *plus: str) -> str:
    flags = [f"-D{k}={v}" if v else f"-D{k}" for k, v in defines.items()]
    made = [
        "--binary",
        "--timing",
        "--relative-includes",
        "-Wno-fatal",
        "-Wno-lint",
        "-Wno-style",
        "-O0",
        "--top-module",
        top,
        "-Mdir",
        str(work / "v"),
    ]
    hdl.run_tool("verilator", *made, *flags, *map(str, files))
    done = subprocess.run([str(work / "v" / f"V{top}"), *plus], capture_output=True, text=True, check=False)
    return done.stdout


def verdict(text: str) -> tuple[int, int]:
    """Read the bench's closing line: how many passed and how many failed."""
    found = re.findall(r"(\d+) passed, (\d+) failed", text)
    assert found, text[-500:]
    return int(found[-1][0]), int(found[-1][1])


def prove(name: str, steps: int, folder: Path = HDL, *, work: Path, induct: bool = False) -> bool:
    """Whether the assertions of proofs/NAME.sv hold for so many steps, or by induction for all."""
    files = [*hdl.sources("behavioural", folder), folder / "proofs" / f"{name}.sv"]
    made = work / f"{name}.smt2"
    script = (
        f"read_verilog -formal -sv {' '.join(map(str, files))}; prep -flatten -top {name}; async2sync; dffunmap; "
        f"write_smt2 -wires {made}"
    )
    hdl.run_tool("yosys", "-q", "-p", script)
    command = [
        str(hdl.tools() / "yosys-smtbmc"),
        "--noprogress",
        "--unroll",
        "-s",
        "z3",
        *(["-i"] if induct else []),
        "-t",
        str(steps),
        str(made),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Status:" in done.stdout, done.stdout + done.stderr
    return "Status: PASSED" in done.stdout
