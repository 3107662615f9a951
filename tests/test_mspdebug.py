# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whole operations of the firmware, run by our machine and by mspdebug's simulator to the same state.

Our machine runs a bench image to the rising edge of the trigger mark; registers, RAM and flash of that moment go into
mspdebug (Debian's 0.22: the 16-bit CPU, no peripherals of a 5xx device, no multiplier), which runs on by itself to
the instruction behind the falling edge. Then registers and every byte of RAM are compared: result, status, stack.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "firmware/build/msp430f5438a-anagear/mpy-none"
MESSAGE = b"sunseal: the same state in two simulators"
ENTROPY, ADDED_ENTROPY = bytes(range(1, 33)), bytes(range(0x41, 0x61))
ORDER_BYTES = {"ecdsa-secp160r1": 21, "ecdsa-p256": 32}
FIELD_BYTES = {"ecdsa-secp160r1": 20, "ecdsa-p256": 32}
FREE_FLASH = 0xF000  # no bench image reaches this; asserted where it is used
P1OUT = 0x202
NAMES = ["PC", "SP", "SR", "R3", *(f"R{n}" for n in range(4, 16))]


@pytest.fixture(scope="module")
def mspdebug() -> str:
    program = shutil.which("mspdebug")
    if program is None:
        if os.environ.get("SUNSEAL_REQUIRE_TOOLS"):
            pytest.fail("needed for this run and missing: mspdebug")
        pytest.skip("mspdebug is not installed; `firmware/toolchain/get --for tests` gets it")
    return program


@pytest.fixture(scope="module")
def run_elf() -> Path:
    """The example that runs an image on our machine."""
    # The selection of `make test-rust`: with another one, other features would have the simulator compiled once more.
    crates = ["--workspace", "--exclude", "sunseal-py"]
    command = ["cargo", "build", "--locked", "--quiet", "--release", *crates, "--example", "run_elf"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/examples/run_elf"


def image(workload: str) -> Path:
    path = IMAGES / f"bench-{workload}.elf"
    assert path.is_file(), f"{path.relative_to(ROOT)} is not built; run `make firmware`"
    return path


def ours(run_elf: Path, workload: str, fed: bytes, *options: str) -> bytes:
    """Return what our machine leaves in bench_output."""
    command = [str(run_elf), str(image(workload)), "--input", fed.hex(), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "\nbench_status 0\n" in done.stdout, done.stdout
    output = re.search(r"^bench_output ([0-9a-f]+)$", done.stdout, re.MULTILINE)
    assert output, done.stdout
    return bytes.fromhex(output[1])


def inputs(run_elf: Path, workload: str) -> bytes:
    """Bench input by workload; a signature to verify is made by our machine before."""
    curve, _, operation = workload.rpartition("-")
    if operation == "hash":
        return MESSAGE
    if operation == "keygen":
        return ENTROPY
    key = ours(run_elf, f"{curve}-keygen", ENTROPY)
    order, field = ORDER_BYTES[curve], FIELD_BYTES[curve]
    d, public = key[:order], key[order : order + 2 * field]
    fed = d + ADDED_ENTROPY + MESSAGE
    if operation == "sign":
        return fed
    return public + ours(run_elf, f"{curve}-sign", fed)[: 2 * order] + MESSAGE


def length(word: int) -> int:
    """Bytes of the instruction that begins with `word`; only of those that may move elsewhere."""
    if 0x1000 <= word < 0x1300:  # one operand
        mode, register = word >> 4 & 3, word & 0xF
        assert (mode, register) != (1, 0), f"{word:#06x} is relative to its place"
        return 2 + 2 * ((mode == 1 and register != 3) or (mode, register) == (3, 0))
    assert word >= 0x4000, f"{word:#06x} is a jump, or no instruction of the 16-bit CPU"
    mode, source, indexed, destination = word >> 4 & 3, word >> 8 & 0xF, word >> 7 & 1, word & 0xF
    assert (mode, source) != (1, 0) and (indexed, destination) != (1, 0), f"{word:#06x} is relative to its place"
    return 2 + 2 * ((mode == 1 and source != 3) or (mode, source) == (3, 0)) + 2 * indexed


def single_steps(word: int) -> list[int]:
    """Write what the 16-bit CPU does instead of PUSHM.W, POPM.W and the shifts by several bits; empty for others."""
    count, register = (word >> 4 & 0xF) + 1, word & 0xF
    if word & 0xFF00 == 0x1500:  # PUSHM.W: the highest register is coded, and pushed first
        return [0x1200 | register - i for i in range(count)]
    if word & 0xFF00 == 0x1700:  # POPM.W: the lowest register is coded, and popped first
        return [0x4130 | register + i for i in range(count)]
    if word & 0xF0F0 == 0x0050:  # RRCM, RRAM, RLAM, RRUM: RRC; RRA; ADD to itself; CLRC, RRC
        once = (
            [0x1000 | register],
            [0x1100 | register],
            [0x5000 | register << 8 | register],
            [0xC312, 0x1000 | register],
        )
        return once[word >> 8 & 3] * ((word >> 10 & 3) + 1)
    return []


class Flash:
    """A program's flash in which what the 16-bit CPU lacks becomes single steps elsewhere."""

    def __init__(self, path: Path) -> None:
        self.start, self.bytes, self.free = start(path), bytearray(path.read_bytes()), FREE_FLASH
        used = self.bytes[FREE_FLASH - self.start :][:0x400]
        assert set(used) == {0xFF}, "an image grew into the flash that this test uses"

    def word(self, addr: int) -> int:
        return int.from_bytes(self.bytes[addr - self.start :][:2], "little")

    def write(self, addr: int, data: bytes) -> None:
        at = addr - self.start
        self.bytes[at : at + len(data)] = data

    def replace(self, pc: int) -> None:
        """Branches at `pc` to single steps of the 430X instructions there, the instruction behind, and back."""
        words: list[int] = []
        behind = pc
        while steps := single_steps(self.word(behind)):
            words += steps
            behind += 2
        if behind == pc:
            pytest.fail(
                f"{self.word(pc):#06x} at {pc:#06x} is neither of the 16-bit CPU nor one that it can step through"
            )
        moved = b""
        # The branch takes four bytes.
        if behind < pc + 4:
            first = behind
            behind += length(self.word(first))
            moved = bytes(self.bytes[first - self.start : behind - self.start])
        branch = 0x4030.to_bytes(2, "little")
        new = b"".join(w.to_bytes(2, "little") for w in words) + moved + branch + behind.to_bytes(2, "little")
        self.write(self.free, new)
        self.write(pc, branch + self.free.to_bytes(2, "little"))
        self.free += len(new)


def mspdebug_runs(program: str, folder: Path, ram: Path, flash: Flash, registers: list[int], stop: int) -> list[int]:
    """Registers at the breakpoint `stop`; RAM goes into the file `theirs`."""
    for _ in range(40):
        (folder / "patched").write_bytes(flash.bytes)
        commands = [f"load_raw {ram} {start(ram):#x}", f"load_raw {folder / 'patched'} {flash.start:#x}"]
        commands += [f"set {number} {value & 0xFFFF:#x}" for number, value in enumerate(registers)]
        commands += [f"mw {P1OUT:#x} 1"]  # the mark is up; the edge's AND.B sets flags from it
        commands += [f"setbreak {stop:#x}", "run", "regs"]
        commands += [f"save_raw {start(ram):#x} {ram.stat().st_size} {folder / 'theirs'}"]
        (folder / "commands").write_text("\n".join([*commands, "exit", ""]))
        command = [program, "-n", "-q", "sim", f"read {folder / 'commands'}"]
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
        )
        said = done.stdout + done.stderr
        met = re.search(r"^sim: unknown single-operand opcode: 0x\w+ \(PC = 0x(\w+)\)$", said, re.MULTILINE)
        if not met:
            found = dict(re.findall(r"\( *(\w+): ([0-9a-f]+)\)", said.partition("=> regs\n")[2]))
            assert "error processing" not in said and len(found) == 16, said[-600:]
            return [int(found[name], 16) for name in NAMES]
        flash.replace(int(met[1], 16))
    pytest.fail("mspdebug meets ever more instructions that it lacks")


def state(folder: Path, edge: str) -> tuple[list[int], Path, Path]:
    """Registers, and the files of RAM and flash, whose names end in their start."""
    registers = [int(text, 16) for text in (folder / f"{edge}.registers").read_text().split()]
    (ram,), (flash,) = folder.glob(f"{edge}.ram.*"), folder.glob(f"{edge}.flash.*")
    return registers, ram, flash


def start(path: Path) -> int:
    return int(path.suffix[1:], 16)


@pytest.mark.parametrize(
    "workload",
    [
        "ecdsa-secp160r1-sign",
        "ecdsa-secp160r1-verify",
        "ecdsa-p256-sign",
        "ecdsa-p256-verify",
        "sha1-hash",
        "sha256-hash",
    ],
)
def test_both_simulators_end_in_the_same_state(workload: str, mspdebug: str, run_elf: Path, tmp_path: Path) -> None:
    ours(run_elf, workload, inputs(run_elf, workload), "--state", str(tmp_path))
    registers, ram, flash = state(tmp_path, "begin")
    expected, ram_after, flash_after = state(tmp_path, "end")
    assert flash.read_bytes() == flash_after.read_bytes()
    assert ram.read_bytes() != ram_after.read_bytes()
    theirs = mspdebug_runs(mspdebug, tmp_path, ram, Flash(flash), registers, expected[0])
    assert theirs == [value & 0xFFFF for value in expected]
    here, there = ram_after.read_bytes(), (tmp_path / "theirs").read_bytes()
    differing = [start(ram) + i for i, (a, b) in enumerate(zip(here, there, strict=True)) if a != b]
    assert not differing, f"RAM differs at {', '.join(f'{at:#06x}' for at in differing[:8])}"
