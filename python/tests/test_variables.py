# SPDX-License-Identifier: MIT OR Apache-2.0
"""Variables with the types of a program's debug data, on three compilers, beside what the program says of itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import require
from sunseal import Machine, SunsealError
from sunseal.catalog import boards

SOURCE = r"""
#include <stdint.h>
enum mode { IDLE, SENDING = 5, FAILED = -2 };
union word { uint32_t whole; uint8_t bytes[4]; };
struct sample { int16_t x; uint8_t tag; float volts; };
typedef struct {
    struct sample samples[3];
    enum mode mode;
    unsigned ready : 1, retries : 3;
    int drift : 5;
    struct { uint8_t inner; };
    union word id;
    const struct sample *last;
} node_t;
volatile node_t node = {
    .samples = {{-1, 1, 0.5f}, {-300, 2, -1.25f}, {32767, 255, 3.0f}},
    .mode = SENDING, .ready = 1, .retries = 5, .drift = -7, .inner = 9, .id = {0x12345678},
};
volatile int64_t grid[2][3] = {{1, -2, 3}, {4, 5, -6000000000}};
volatile uint8_t key[4] = {1, 2, 3, 250};
static volatile _Bool on = 1;
volatile uint32_t sum, calls;
static int32_t step(int32_t by) {
    static volatile int32_t total = 10;
    total += by;
    return total;
}
void done(void) { __asm__ volatile(""); }
int main(void) {
    node.last = (const struct sample *)&node.samples[1];
    for (;;) {
        sum = (uint32_t)step(-3) + (uint32_t)node.samples[2].x + key[3] + (uint32_t)node.retries + (uint32_t)node.drift
              + (uint32_t)node.mode + (uint32_t)grid[1][0] + on;
        calls++;
        done();
    }
}
"""
OTHER = """
#include <stdint.h>
uint16_t unused = 3;
static volatile uint16_t on = 700;
uint16_t also(void) { return on; }
"""
FLAGS = ["-std=c11", "-g", "-ffunction-sections", "-fdata-sections", "-fno-inline"]
MEMORY = {
    "msp430f5438a-anagear": ("0x5c00", "0x1c00", "0xfffe"),
    "msp432p401r-launchpad": ("0x400", "0x20000000", "0"),
}
"""Addresses where code, RAM and the vector of the reset begin."""
BOARDS = ["msp430f5438a-anagear", "micaz", "msp432p401r-launchpad"]


def build(board: str, at: Path, dwarf: str = "-gdwarf-4", level: str = "-Os", text: str = SOURCE) -> Path:
    """Compile a program with start-up code of a kit's folder, or avr-gcc's own."""
    elf = at / "own.elf"
    sources = [at / "program.c", at / "other.c"]
    for path, written in zip(sources, (text, OTHER), strict=True):
        path.write_text(written)
    if board == "micaz":
        require(shutil.which("avr-gcc") is not None, "avr-gcc (firmware/toolchain/get --for tests)")
        avr: list[str | Path] = [
            "avr-gcc",
            "-mmcu=atmega128",
            *FLAGS,
            level,
            dwarf,
            "-Wl,--undefined=also,--gc-sections",
            "-o",
            elf,
            *sources,
        ]
        subprocess.run(avr, check=True, cwd=at, timeout=60)
        return elf
    clang, lld = shutil.which("clang"), shutil.which("ld.lld")
    require(clang is not None and lld is not None, "clang (firmware/toolchain/get)")
    assert clang and lld
    objects: list[str | Path] = []
    code, ram, vectors = MEMORY[board]
    start, script = at / "start.S", at / "link.ld"
    if board == "msp432p401r-launchpad":
        target = ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-mfloat-abi=soft"]
        start.write_text(
            '.syntax unified\n.thumb_func\n.global _start\n_start: b main\n.section .vectors,"a"\n.long top, _start\n'
        )
    else:
        target = ["--target=msp430", "-mhwmult=none"]
        start.write_text('.global _start\n_start: mov #top, r1\n br #main\n.section .vectors,"a"\n.short _start\n')
    script.write_text(  # data lie in RAM as they are loaded: nothing has to copy them
        f"ENTRY(_start) SECTIONS {{ . = {vectors}; .vectors : {{ KEEP(*(.vectors)) }} . = {code};"
        f" .text : {{ *(.text*) *(.rodata*) }} . = {ram}; .data : {{ *(.data*) *(.bss*) }}"
        " _end = .; . += 0x400; top = .;"
        " /DISCARD/ : { *(.ARM.exidx*) } }"
    )
    include = subprocess.run([clang, "-print-resource-dir"], check=True, capture_output=True, text=True).stdout.strip()
    for source in (*sources, start):
        out = at / f"{source.stem}.o"
        words: list[str | Path] = [
            clang,
            *target,
            *FLAGS,
            level,
            dwarf,
            "-isystem",
            f"{include}/include",
            "-c",
            source,
            "-o",
            out,
        ]
        subprocess.run(words, check=True, timeout=60)
        objects.append(out)
    linker: list[str | Path] = [
        lld,
        "-L",
        boards.home() / "firmware",
        "-T",
        script,
        "--undefined=also",
        "--gc-sections",
        *objects,
    ]
    subprocess.run([*linker, "-o", elf], check=True, timeout=60)
    return elf


def running(board: str, elf: Path) -> Machine:
    m = Machine(str(boards.board(board)["device"]), elf)
    m.run(until="done", time_s=1.0)
    return m


@pytest.mark.parametrize("dwarf", ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("board", BOARDS)
def test_each_type_is_read_as_the_program_means_it(board: str, dwarf: str, tmp_path: Path) -> None:
    if (board, dwarf) == ("micaz", "-gdwarf-5"):
        dwarf = "-gdwarf-3"  # avr-gcc 5.4 writes none later than 4
    m = running(board, build(board, tmp_path, dwarf))
    v = m.variables
    assert v["node.samples"] == [
        {"x": -1, "tag": 1, "volts": 0.5},
        {"x": -300, "tag": 2, "volts": -1.25},
        {"x": 32767, "tag": 255, "volts": 3.0},
    ]
    assert (v["node.mode"], v["node.mode"].name) == (5, "SENDING")
    assert (v["node.ready"], v["node.retries"], v["node.drift"], v["node.inner"]) == (1, 5, -7, 9)
    assert v["node.id"] == {"whole": 0x12345678, "bytes": bytes.fromhex("78563412")}
    assert v["node"]["drift"] == -7
    assert v["grid"] == [[1, -2, 3], [4, 5, -6_000_000_000]]
    assert v["grid[1]"] == v["grid"][1]
    assert (v["grid[1][2]"], v["key"], v["key[3]"]) == (-6_000_000_000, b"\1\2\3\xfa", 250)
    assert v["program.c::on"] is True
    assert v["other.c::on"] == 700
    assert v["step::total"] == 7
    assert v.type_of("node.last") == "const struct sample *"
    assert [v["node.last->x"], v["node.last[1].tag"], v["node.last->volts"]] == [-300, 255, -1.25]
    assert v.at(v.address("node.last->x"), "struct sample") == v["node.samples[1]"]
    assert v.at(v.address("node"), "node_t") == v["node"]
    assert v["sum"] == (7 + 32767 + 250 + 5 - 7 + 5 + 4 + 1) & 0xFFFFFFFF
    assert {"node", "grid", "program.c::on", "other.c::on"} <= set(v)
    assert v.type_of("node.samples[1].x") == "int16_t"


@pytest.mark.parametrize("board", BOARDS)
def test_the_program_goes_on_with_what_was_written(board: str, tmp_path: Path) -> None:
    m = running(board, build(board, tmp_path))
    v = m.variables
    v["step::total"] = 100
    v["node"] = {"mode": "FAILED", "retries": 2, "drift": 15}
    v["node.last[1].x"] = -5
    v["node.samples[0].volts"] = 0.25
    v["grid[1]"] = [-9, 0, 1]
    v["key"] = bytes([0, 0, 0, 4])
    v["program.c::on"] = False
    assert (v["node.ready"], v["node.inner"]) == (1, 9), "neighbours of a bit-field stay"
    before = v["calls"]
    m.step()
    m.run(until="done", time_s=1.0)
    assert v["calls"] == before + 1
    assert v["sum"] == (97 - 5 + 4 + 2 + 15 - 2 - 9 + 0) & 0xFFFFFFFF
    assert v["node.samples[0]"] == {"x": -1, "tag": 1, "volts": 0.25}


def test_what_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    v = running("micaz", build("micaz", tmp_path)).variables
    for path, says in {
        "nod": "unknown variable `nod`",
        "node.sample": "unknown member `sample` of `node`",
        "node.samples[3]": "3 elements",
        "node.mode[0]": "has no elements",
        "node.samples[0].x.y": "unknown member `y`",
        "unused": "has no fixed place",
        "on": "`program.c::on`",
        "elsewhere::total": "unknown variable",
        "node+1": "does not go on",
        "node->mode": "no pointer to follow",
    }.items():
        with pytest.raises(SunsealError, match=says.replace("[", r"\[")):
            v[path]
    for path, value, says in [
        ("node.samples[0].x", 40_000, "-32768 to 32767"),
        ("node.retries", 8, "0 to 7"),
        ("node.drift", -17, "-16 to 15"),
        ("node.mode", "SLEEPING", "unknown enumerator"),
        ("key", b"\0\0", "give 4 elements"),
        ("node.id", 3, "give a dictionary"),
        ("sum", 1.5, "give an integer"),
        ("node.samples[0].volts", "much", "does not fit"),
    ]:
        with pytest.raises(SunsealError, match=says):
            v[path] = value
    with pytest.raises(SunsealError, match="unknown type `struct nothing`"):
        v.at(v.address("node"), "struct nothing")
    plain = Machine("atmega128l", build("micaz", tmp_path, "-g0"))
    with pytest.raises(SunsealError, match="-gdwarf-4"):
        plain.variables["node"]
    with pytest.raises(SunsealError, match="no program"):
        Machine("atmega128l").variables["node"]
