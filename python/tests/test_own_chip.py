# SPDX-License-Identifier: MIT OR Apache-2.0
"""A chip that is not here, from files of the user's own: its difference from a sibling, its board, its coefficients."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import Bench, EngineError, Machine, SunsealError
from sunseal.catalog import boards, citing
from sunseal.kit import chips, maker_headers
from test_new import fetched

CHIP = """extends = "msp430fr5969"
name = "msp430fr5968"

[[memory]]
name = "fram"
end = 0xFFFF
source = "SLAS704G section 6.11, memory organization: FR5968, 47 KB from 0x4400; recalled"

[tlv]
device_id = 0x8168

[[block]]
name = "ta3"
absent = true
"""
BOARD = """extends = "msp430fr5969-launchpad"
name = "mine"
title = "A board of mine: MSP430FR5968"
device = "msp430fr5968"

[power]
set = "msp430fr5968-datasheet"
"""
SET = """[set]
name = "msp430fr5968-datasheet"
title = "MSP430FR5968, by the sheet that it shares with the FR5969"
device = "msp430fr5968"
cite = "SLAS704G"
extends = "msp430fr5969-datasheet"

[source.slas704g]
document = "SLAS704G"
place = "device comparison: one sheet for both"
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the three files, in the working directory."""
    folder = tmp_path / "sunseal"
    for room, name, text in (
        ("devices", "msp430fr5968", CHIP),
        ("boards", "mine", BOARD),
        ("power", "msp430fr5968-datasheet", SET),
    ):
        (folder / room).mkdir(parents=True)
        (folder / room / f"{name}.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_sibling_is_its_difference(own: Path, sunseal: Cli) -> None:
    chip, base = boards.device("msp430fr5968"), boards.device("msp430fr5969")
    ends = {m["name"]: m["end"] for m in chip["memory"]}
    assert ends == {m["name"]: m["end"] for m in base["memory"]} | {"fram": 0xFFFF}
    assert [b["name"] for b in base["block"] if b not in chip["block"]] == ["ta3"]
    assert "msp430fr5968" in boards.names("devices")
    m = Machine("mine")
    assert m.device == "msp430fr5968" and m.read(0x1A04, 2) == b"\x68\x81"
    Machine("msp430fr5969").read(0x12000, 2)
    with pytest.raises(EngineError, match="0x12000"):
        m.read(0x12000, 2)
    row = next(b for b in json.loads(sunseal("boards", "--json").out) if b["board"] == "mine")
    assert row["device"] == "msp430fr5968" and row["power_sets"] == ["msp430fr5968-datasheet"]
    said = [s.text for s in citing.of(board="mine").sources]
    assert any("FR5968, 47 KB" in text for text in said) and any("2 KB" in text for text in said)


def test_a_new_program_runs_and_is_weighed_on_it(own: Path, sunseal: Cli, tmp_path: Path) -> None:
    require(shutil.which("make") is not None, "make")
    assert sunseal("new", "node", "--board", "mine").status == 0
    made = subprocess.run(
        ["make", "-s", f"SUNSEAL={sys.executable} -m sunseal"], cwd="node", check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    node = Bench("mine", tmp_path / "node" / "build" / "node.elf")
    node.run(until_uart="ready\r\n", within="2s")
    assert node.text == "hello from mine\r\nready\r\n"
    assert node.energy_j > 0


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("msp430fr5969", "msp430fr5970", 'extends "msp430fr5970", and'),
        ("end = 0xFFFF", "end = 0xFFFE", "must start even and end odd"),
        (
            'name = "ta3"\nabsent = true',
            'name = "ta9"\nkind = "timer_z"\nbase = 0x700\nsize_bytes = 32\nsource = "mine"',
            "timer_z",
        ),
        ('extends = "msp430fr5969"', 'extends = "msp430fr5968"', "extends itself"),
    ],
)
def test_what_no_chip_can_be_is_a_sentence(own: Path, sunseal: Cli, old: str, new: str, sentence: str) -> None:
    path = own / "devices" / "msp430fr5968.toml"
    assert sunseal("part", "check", path).status == 0
    path.write_text(CHIP.replace(old, new, 1))
    done = sunseal("part", "check", path)
    assert done.status == 2 and sentence in " ".join(done.err.split()), done.err
    with pytest.raises((EngineError, SunsealError)):
        Machine("mine")


def test_both_readers_lay_a_chip_alike(own: Path) -> None:
    """The build reads chips without the engine: the same tables come out."""
    for path in sorted((boards.home() / "data" / "devices").glob("*.toml")):
        assert chips.read(path) == boards.device(path.stem)
    (own / "devices" / "msp430fr5969.toml").write_text(boards.device_path("msp430fr5969").read_text())
    assert chips.read(own / "devices" / "msp430fr5968.toml") == boards.device("msp430fr5968")


# --- A sibling with a third Timer_A ------------------------------------------------------------------

SIBLING = Path(__file__).resolve().parents[2] / "examples" / "sibling_chip"


def test_a_sibling_has_one_more_timer_by_its_file_alone(
    sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The F5529 of examples/: vectors, `TA2IV`, the output unit at its pin, and what its bytes and lines count."""
    require(shutil.which("make") is not None, "make")
    shutil.copytree(SIBLING, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    assert sum(len(p.read_text().splitlines()) for p in SIBLING.rglob("*.toml")) < 200
    assert sunseal("new", "node", "--from", "ta2.c", "--board", "f5529lp").status == 0
    made = subprocess.run(
        ["make", "-s", f"SUNSEAL={sys.executable} -m sunseal"], cwd="node", check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    m = Machine("f5529lp", "node/build/node.elf")
    m.run(time_s=0.1)
    log = [(t, pin, level) for t, _, pin, level in m.pin_log() if t > 0.05]
    lamp, other, out = ([(t, level) for t, p, level in log if p == pin] for pin in ("P1.0", "P4.7", "P2.4"))
    period_s = lamp[1][0] - lamp[0][0]
    assert period_s == pytest.approx(1000 / 1.048576e6, rel=0.01)
    assert len(lamp) == pytest.approx(0.05 / period_s, abs=1) and abs(len(other) - len(lamp)) <= 1
    high_s = sum(t - before for (before, was), (t, _) in itertools.pairwise(out) if was)
    assert high_s / (out[-1][0] - out[0][0]) == pytest.approx(0.25, abs=0.01)
    with pytest.raises(EngineError, match="0x00640"):
        Machine("msp430f5529").read(0x0640, 2)  # USCI_A2, which the F5438A has


def test_vectors_and_registers_of_the_sibling_are_ti_s_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each vector of the msp430mcu headers, and where each timer and serial interface begins."""
    header = fetched("tests").parent / "debian" / "usr" / "msp430" / "include" / "msp430f5529.h"
    require(header.is_file(), "msp430mcu")
    text = header.read_text(encoding="latin-1")
    theirs = {
        name: 0xFF80 + int(at, 16) for name, at in re.findall(r"#define (\w+)_VECTOR +\(0x00([0-9A-F]{2})\)", text)
    }
    monkeypatch.chdir(SIBLING)
    chip = boards.device("msp430f5529")
    told = chips.family("msp430x5xx", boards.home() / "data")
    ours = maker_headers.vectors(chip, told)
    assert len(theirs) == 23
    for name, at in theirs.items():
        assert 0xFF80 + 2 * (ours[f"{name}_VECTOR"] - 1) == at, name
    bases = dict(re.findall(r"#define __MSP430_BASEADDRESS_(T\dA\d|T0B7|USCI_\w\d)__ +(0x\w+)", text))
    named = {"ta0": "T0A5", "ta1": "T1A3", "ta2": "T2A3", "tb0": "T0B7"}
    blocks = {b["name"]: b["base"] for b in chip["block"]}
    for name, base in blocks.items():
        theirs_name = named.get(name) or (name.upper() if name.startswith("usci") else None)
        if theirs_name:
            assert int(bases.pop(theirs_name), 16) == base, name
    assert bases == {}
