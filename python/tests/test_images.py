# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs in the formats of programmers, beside the ELF that they were made from; I/O registers by name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import Bench, EngineError, Machine, SunsealError
from sunseal.catalog import boards
from sunseal.kit import registers

BOARDS = ["msp430fr5994-launchpad", "telosb", "micaz", "msp432p401r-launchpad", "nucleo-l476rg"]
FORMS = {"hex": "ihex", "srec": "srec"}


def kept(board: str) -> Path:
    return boards.firmware_path(board, boards.variant((), board), "bench-aes128-encrypt")


def written(board: str, form: str, folder: Path) -> Path:
    """Have binutils write the bytes that a programmer takes."""
    objcopy = shutil.which("msp430-elf-objcopy") or shutil.which("objcopy") or shutil.which("llvm-objcopy")
    require(objcopy is not None, "objcopy (firmware/toolchain/get)")
    assert objcopy
    out = folder / f"node.{form}"
    sections = ["-R", ".eeprom", "-R", ".fuse"] if board == "micaz" else []
    subprocess.run([objcopy, "-O", FORMS[form], *sections, kept(board), out], check=True, timeout=60)
    return out


def ti_txt(source: Path) -> str:
    """Write Intel HEX as TI's text (SLAU131, Hex Conversion Utility, TI-TXT)."""
    lines, there = [], -1
    for record in source.read_text().splitlines():
        size, address, kind, data = int(record[1:3], 16), int(record[3:7], 16), record[7:9], record[9:-2]
        assert kind in ("00", "01", "03"), "this program lies below 64 KiB"
        if kind != "00":
            continue
        lines += [f"@{address:04X}"] if address != there else []
        lines.append(" ".join(data[2 * i : 2 * i + 2] for i in range(size)))
        there = address + size if size == 16 else -1  # a short line ends a section
    return "\n".join([*lines, "q", ""])


def after(board: str, program: Path) -> tuple[int, dict[str, int]]:
    machine = Machine(board, program)
    machine.run(cycles=20_000)
    return machine.cycles, dict(machine.registers)


@pytest.mark.parametrize("board", BOARDS)
def test_an_image_runs_as_the_elf_it_was_made_from(firmware: None, board: str, tmp_path: Path) -> None:
    expected = after(board, kept(board))
    for form in FORMS:
        assert after(board, written(board, form, tmp_path)) == expected
    if board.startswith("msp430"):
        text = tmp_path / "node.txt"
        text.write_text(ti_txt(tmp_path / "node.hex"))
        assert after(board, text) == expected


def test_bare_bytes_have_their_address_behind_the_name(tmp_path: Path) -> None:
    # MOV #0x1234, R5; JMP $; and the reset's vector, of a program at 0x4400.
    code = bytes.fromhex("35403412ff3f").ljust(0xBBFE, b"\xff") + b"\x00\x44"
    (tmp_path / "app.bin").write_bytes(code)
    bench = Bench("msp430fr5994-launchpad", tmp_path / "app.bin@0x4400")
    bench.run(within="1ms")
    assert bench.machine.registers["R5"] == 0x1234
    with pytest.raises(EngineError, match="ELF header"):
        Machine("msp430fr5994-launchpad", tmp_path / "app.bin")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (":10440000000000000000000000000000000000FF\n", "begins as Intel HEX and cannot be read as that"),
        (":00000001FF\n", "holds no bytes"),
        ("S1nonsense\n", "begins as Motorola S-records and cannot be read as that"),
        ("@zz\nq\n", "begins as TI-TXT and cannot be read as that"),
    ],
)
def test_a_damaged_image_is_refused(sunseal: Cli, tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "node.hex").write_text(text)
    done = sunseal("run", tmp_path / "node.hex", "--board", "telosb", "--for", "1ms")
    assert done.status == 2 and sentence in " ".join(done.err.split())


def test_a_file_that_no_chip_could_hold_is_refused_before_it_is_read(sunseal: Cli, tmp_path: Path) -> None:
    path = tmp_path / "huge.elf"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    done = sunseal("run", path, "--board", "telosb")
    assert done.status == 2 and "has 1,099,511,627,776 bytes, more than any of these chips" in " ".join(
        done.err.split()
    )


def test_looking_at_a_register_changes_nothing(firmware: None) -> None:
    looked, left = (Machine("msp430fr5994-launchpad", kept("msp430fr5994-launchpad")) for _ in range(2))
    for machine in (looked, left):
        machine.run(cycles=5_000)
    seen = {name: looked.io[name] for name in looked.io}
    assert seen == {name: looked.io[name] for name in looked.io}
    assert seen["WDTCTL"] & 0xFF80 == 0x6980, "the watchdog is held, and its password reads 0x69 (SLAU367, WDTCTL)"
    for machine in (looked, left):
        machine.run(cycles=20_000)
    assert (looked.cycles, dict(looked.registers)) == (left.cycles, dict(left.registers))
    with pytest.raises(SunsealError, match="unknown register `P1OUTT` of msp430fr5994"):
        looked.io["P1OUTT"]


@pytest.mark.parametrize("device", boards.names("devices"))
def test_each_register_of_a_kit_can_be_read(device: str) -> None:
    machine = Machine(device)
    assert len(machine.io) == sum(len(block.registers) for block in registers.blocks(machine.device))
    refused = {}
    for name in machine.io:
        try:
            machine.io[name]
        except EngineError as e:
            if "whose clock is off; set bit" not in str(e):  # a chip that reads nothing there either
                refused[name] = str(e)
    assert not refused
