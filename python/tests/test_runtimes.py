# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runtimes that users bring: their section names, linker scripts and interrupt attributes, under cuts and resets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import Machine, kit
from sunseal.catalog import boards

BOARD = "msp430fr5969-launchpad"
OURS = Path(__file__).resolve().parent / "data" / "runtime"
TOTAL = sum(range(60))


@pytest.fixture(scope="module")
def tools() -> Path:
    get = [sys.executable, str(boards.home() / "firmware" / "toolchain" / "get"), "--print-bin"]
    folder = Path(subprocess.run(get, check=True, capture_output=True, text=True).stdout.strip())
    require(folder.is_dir(), "what `firmware/toolchain/get` brings")
    return folder


@pytest.fixture(scope="module")
def start(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a new program: a runtime is built with its header and its start-up code."""
    folder = tmp_path_factory.mktemp("kit") / "node"
    kit.write(folder, BOARD)
    command: list[str | Path] = [
        "sh",
        "runtime/assemble",
        "crt0.o",
        "runtime/crt0.S",
        tools / "clang",
        tools / "msp430-elf-as",
    ]
    subprocess.run([*command, "-DSUNSEAL_DEVICE_msp430fr5969=1"], cwd=folder, check=True)
    return folder


def build(tools: Path, start: Path, elf: Path, *defines: str) -> Path:
    obj = elf.with_suffix(".o")
    flags = "--target=msp430 -std=c11 -nostdlibinc -ffreestanding -g -Os -ffunction-sections".split()
    places: list[str | Path] = ["-I", start / "include", "-isystem", start / "runtime" / "include"]
    source = OURS / "runtime.c"
    subprocess.run([tools / "clang", *flags, *places, *defines, "-c", source, "-o", obj], check=True)
    script = OURS / "msp430fr5969.ld"
    subprocess.run([tools / "ld.lld", "-T", script, "--gc-sections", "-o", elf, obj, start / "crt0.o"], check=True)
    return elf


def test_a_runtime_goes_on_through_resets_by_its_own_timer(tools: Path, start: Path, tmp_path: Path) -> None:
    m = Machine("msp430fr5969", build(tools, start, tmp_path / "resets.elf", "-DEXPIRES"))
    m.run(until="finished", cycles=10_000_000)
    assert m.read_int("result") == TOTAL
    # Twenty ticks of ACLK are too few for all sixty rounds, so that the handler at the vector ran.
    assert 2 < m.read_int("boots") < m.resets


def test_cuts_tell_a_runtime_that_flips_from_one_that_writes_in_place(
    tools: Path, start: Path, tmp_path: Path, sunseal: Cli
) -> None:
    def cut(elf: Path) -> tuple[int, int, int]:
        done = sunseal("inject", elf, "--board", BOARD, "--to", "finished", "--golden", "result", "--json")
        told = json.loads(done.out)
        return done.status, told["cuts"], told["failed"]

    status, cuts, failures = cut(build(tools, start, tmp_path / "flips.elf"))
    assert (status, failures) == (0, 0) and cuts > 1000
    status, _, failures = cut(build(tools, start, tmp_path / "place.elf", "-DIN_PLACE"))
    assert status == 1 and failures > 0


def make(folder: Path, main: str) -> subprocess.CompletedProcess[str]:
    kit.write(folder, BOARD)
    (folder / "main.c").write_text('#include "msp430fr5969.h"\n' + main)
    command = ["make", "-s", f"SUNSEAL={sys.executable} -m sunseal"]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


def test_a_kit_keeps_variables_by_other_names_in_fram(tools: Path, tmp_path: Path) -> None:
    names = (".persistent", ".TI.persistent", ".nv_vars", ".nv", ".fram_vars")
    rows = [f'__attribute__((section("{n}"))) volatile uint16_t v{i} = {i};' for i, n in enumerate(names)]
    sums = "".join(f" v{i}++;" for i in range(len(names)))
    done = make(tmp_path / "node", "\n".join([*rows, f"int main(void) {{{sums} return 0; }}", ""]))
    assert done.returncode == 0, done.stderr
    m = Machine("msp430fr5969", tmp_path / "node" / "build" / "node.elf")
    m.run()
    m.power_cut()
    assert [m.read_int(f"v{i}") for i in range(len(names))] == [i + 1 for i in range(len(names))]
    assert all(m.address(f"v{i}") >= 0x4400 for i in range(len(names)))


def test_a_kit_refuses_what_would_be_lost_without_a_word(tools: Path, tmp_path: Path) -> None:
    main = '__attribute__((section(".mine"))) int kept = 1; int main(void) { return kept++; }'
    done = make(tmp_path / "node", main)
    assert done.returncode != 0 and "in '.mine'" in done.stderr, done.stderr
