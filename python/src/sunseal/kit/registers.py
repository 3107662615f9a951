# SPDX-License-Identifier: MIT OR Apache-2.0
"""A chip's registers and memories by the makers' names, as a C header and a linker script.

Registers lie in `data/registers`, a file a family, by block; where a chip has which block, in `data/devices`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sunseal import boards
from sunseal.errors import SunsealError, unknown

CHANNEL_BYTES = 0x10
"""From one DMA channel's registers to the next one's (SLAU367, DMA registers)."""
PORT_PAIRS = "abcdef"


@dataclass(frozen=True)
class Register:
    """A register where the chip has it."""

    name: str
    address: int
    bits: int


@dataclass(frozen=True)
class Block:
    """A peripheral of a chip: its registers, and the names of their bits."""

    name: str
    source: str
    registers: list[Register]
    bits: dict[str, int]


def device(name: str) -> dict[str, Any]:
    """Return what `data/devices` says of a chip."""
    if name not in boards.names("devices"):
        raise unknown("device", name, boards.names("devices"))
    return boards.read_toml(boards.home() / "data" / "devices" / f"{name}.toml")


def family(name: str) -> dict[str, Any]:
    """Return the registers of a family, with those it shares with another one."""
    path = boards.home() / "data" / "registers" / f"{name}.toml"
    if not path.is_file():
        known = sorted(p.stem for p in path.parent.glob("*.toml"))
        raise SunsealError(f"the registers of {name} are not known; known families: {', '.join(known)}")
    told: dict[str, Any] = boards.read_toml(path)
    if same := told.get("same"):
        other = family(same["family"])["block"]
        told["block"] = {key: other[key] for key in same["blocks"]} | told["block"]
    return told


def blocks(name: str) -> list[Block]:
    """List a chip's blocks in the order of their addresses."""
    chip = device(name)
    told = family(str(chip["family"]))
    found: list[Block] = []
    for peripheral, base in chip.get("peripherals", {}).items():
        if peripheral != "source":
            found.append(_block(told, chip, peripheral, base))
    found += [
        _made(key, block, [r for n, a, b in _rows(block["registers"]) for r in _counted(n, block["base"] + a, b, {})])
        for key, block in told["block"].items()
        if "base" in block
    ]
    return sorted(found, key=lambda b: b.registers[0].address)


def _block(told: dict[str, Any], chip: dict[str, Any], peripheral: str, base: int) -> Block:
    """Place the block that a peripheral is: `usci_a1` is number 1 of `usci_a`, `gpioa` letter A of `gpio`."""
    kinds: dict[str, Any] = told["block"]
    channels = chip.get("dma", {}).get("channels", 0)
    counts = {"channels": channels, "pairs": (channels + 1) // 2}
    if peripheral.startswith("port_") and peripheral not in kinds:
        return _made(peripheral, kinds["port"], list(_port(kinds["port"], chip, peripheral[-1], base)))
    numbered = peripheral.rstrip("0123456789")
    kind = next((k for k in (peripheral, numbered, peripheral[:-1]) if k in kinds), None)
    if kind is None:
        raise SunsealError(f"data/registers/{chip['family']}.toml has no block `{numbered}`, which {chip['name']} has")
    if "pairs" in (block := kinds[kind]):
        pairs = [
            r for i, x in enumerate(block["pairs"]) for r in _pair(block, 2 * i + 1, x, base + i * block["pair_bytes"])
        ]
        return _made(peripheral, block, pairs)
    counts["ccrs"] = chip.get("timers", {}).get(f"{peripheral}_ccrs", told.get("ccrs", 0))
    number = peripheral.removeprefix(kind).upper()
    rows = [(n.format(n=number), base + a, b) for n, a, b in _rows(block["registers"])]
    return _made(peripheral, block, [r for row in rows for r in _counted(*row, counts)])


def _made(name: str, block: dict[str, Any], registers: list[Register]) -> Block:
    bits = dict(block.get("bits", {}))
    for field, (shift, values) in block.get("fields", {}).items():
        bits |= {f"{field}_{value}": value << shift for value in range(values)}
    return Block(name, block["source"], registers, bits)


def _rows(table: str) -> Iterator[tuple[str, int, int]]:
    for line in table.split("\n"):
        if line.strip():
            offset, bits, name = line.split()
            yield name, int(offset, 16), int(bits)


def _counted(name: str, address: int, bits: int, counts: dict[str, int]) -> Iterator[Register]:
    """Write out `ADC12MEM[16]`, or how many a chip has: `TA0CCR[ccrs]`."""
    several = re.search(r"\[(\w+)\]", name)
    if several is None:
        yield Register(name, address, bits)
        return
    count = int(several[1]) if several[1].isdigit() else counts[several[1]]
    stride = CHANNEL_BYTES if several[1] == "channels" else bits // 8
    for i in range(count):
        yield Register(name.replace(several[0], str(i)), address + i * stride, bits)


def _pair(block: dict[str, Any], odd: int, letter: str, base: int) -> Iterator[Register]:
    """Two ports of eight bits that are one of sixteen: P1 and P2 are PA."""
    interrupts = letter in block.get("interrupt_pairs", [])
    for name, offset, bits in _rows(block["registers"] + (block["interrupts"] if interrupts else "")):
        yield Register(name.format(x=letter, odd=odd, even=odd + 1), base + offset, bits)


def _port(block: dict[str, Any], chip: dict[str, Any], letter: str, base: int) -> Iterator[Register]:
    ports = chip.get("ports", {"last": 2 * len(PORT_PAIRS), "interrupt_ports": [1, 2, 3, 4]})
    odd = 2 * PORT_PAIRS.index(letter) + 1
    asks = {"interrupt_pairs": [letter.upper()] if odd in ports["interrupt_ports"] else []}
    for register in _pair({**block, **asks}, odd, letter.upper(), base):
        if not register.name.startswith(f"P{odd + 1}") or odd + 1 <= ports["last"]:
            yield register


# --- As C ------------------------------------------------------------------------------------------


def header(name: str) -> str:
    """Write a chip's registers as a C header."""
    chip = device(name)
    told = family(str(chip["family"]))
    guard = f"{name.upper()}_H"
    lines = [
        f"/* Registers of the {name.upper()}: {told['header']}.",
        " * Written by `sunseal new` from Sunseal's data; the simulator has each of them. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdint.h>",
        "",
        "#define REG8(address) (*(volatile uint8_t *)(address))",
        "#define REG16(address) (*(volatile uint16_t *)(address))",
        "#define REG32(address) (*(volatile uint32_t *)(address))",
        "",
        *(f"#define BIT{i:X} 0x{1 << i:04X}" for i in range(8 if chip["core"] == "avre" else 16)),
    ]
    lines += _core_lines(chip)
    known: dict[str, int] = {}
    for block in blocks(name):
        lines += ["", f"/* {block.name}: {block.source}. */"]
        for r in block.registers:
            lines.append(f"#define {r.name} REG{r.bits}(0x{r.address:04X})")
            if told["low_and_high"] and r.bits == 16:
                lines += [f"#define {r.name}_{half} REG8(0x{r.address + i:04X})" for i, half in enumerate("LH")]
        for bit, value in block.bits.items():
            # A name of two blocks stands at the first.
            if bit not in known:
                lines.append(f"#define {bit} 0x{value:X}")
            elif known[bit] != value:
                raise SunsealError(f"data/registers/{chip['family']}.toml gives {bit} two values")
            known[bit] = value
    return "\n".join([*lines, "", *_handlers(chip), "", "#endif", ""])


def _core_lines(chip: dict[str, Any]) -> list[str]:
    if chip["core"] not in ("cpu", "cpuxv2"):
        return []
    bits = {"GIE": 0x8, "CPUOFF": 0x10, "OSCOFF": 0x20, "SCG0": 0x40, "SCG1": 0x80}
    modes = {"LPM0": "CPUOFF", "LPM1": "(SCG0 | CPUOFF)", "LPM2": "(SCG1 | CPUOFF)", "LPM3": "(SCG1 | SCG0 | CPUOFF)"}
    modes |= {"LPM4": "(SCG1 | SCG0 | OSCOFF | CPUOFF)"}
    named = [f"#define {name} 0x{value:04X}" for name, value in bits.items()]
    return ["", "/* Status register. */", *named, *(f"#define {name}_bits {made}" for name, made in modes.items())]


def _handlers(chip: dict[str, Any]) -> list[str]:
    """Say how an interrupt's handler is written, and what the interrupts are called."""
    if chip["core"] == "avre":
        return [
            "/* An interrupt's handler: ISR(12) { ... } for vector 12, counted from reset as 0. */",
            "#define ISR_(number) __attribute__((signal, used)) void __vector_##number(void)",
            "#define ISR(number) void __vector_##number(void); ISR_(number)",
            *_WAKES,
        ]
    if chip["core"] == "cortex_m4":
        numbers = ", ".join(f"{name} {16 + n}" for name, n in chip["interrupts"].items() if isinstance(n, int))
        return [
            "/* An interrupt's handler: ISR(24) { ... } by its number in the table of vectors, which are:",
            *(f" * {line}" for line in _wrapped(numbers)),
            " */",
            "#define ISR(number) void sunseal_isr_##number(void); void sunseal_isr_##number(void)",
            *_WAKES,
        ]
    names = ", ".join(n for n, a in sorted(chip["vectors"].items(), key=lambda v: str(v[1])) if n not in _NO_HANDLER)
    return [
        "/* An interrupt's handler: ISR(ta0_ccr0) { ... }. The names:",
        *(f" * {line}" for line in _wrapped(names)),
        " */",
        "#define ISR(name) void sunseal_isr_##name(void); __attribute__((interrupt(2))) void sunseal_isr_##name(void)",
        "/* One that ends the low-power mode, WAKING_ISR(ta0_ccr0) { ... }: the status register that it goes back to",
        " * has its bits cleared first. */",
        "#define WAKING_ISR(name) \\",
        '    __asm__(".text\\n\\t.global sunseal_isr_" #name "\\nsunseal_isr_" #name ":\\n\\t" \\',
        '            "bic #0xF0, 0(r1)\\n\\tbr #sunseal_woken_" #name "\\n"); \\',
        "    void sunseal_woken_##name(void); \\",
        "    __attribute__((interrupt(2), used)) void sunseal_woken_##name(void)",
    ]


_WAKES = (
    "/* The same: each interrupt ends the sleep. On an MSP430 only WAKING_ISR does. */",
    "#define WAKING_ISR(number) ISR(number)",
)
_NO_HANDLER = ("reset", "source")


def _wrapped(text: str, columns: int = 96) -> list[str]:
    return textwrap.wrap(text, columns)


# --- As a linker script ------------------------------------------------------------------------------


def link_script(name: str) -> str:
    """Write a chip's memories as a linker script around the sections of its family's start-up code."""
    chip = device(name)
    memories = {m["name"]: m for m in chip["memory"]}
    ram = memories.get("ram") or memories["sram"]
    program = memories.get("flash") or memories["fram"]
    regions = {"ram": ("rw", ram["start"], ram["end"]), "flash": ("rx", program["start"], program["end"])}
    source = [f"{region['name']}: {region['source']}" for region in (ram, program)]
    core = runtime(chip)
    if core == "msp430":
        vectors = 0xFF80 if chip["core"] == "cpuxv2" else min(a for a in chip["vectors"].values() if isinstance(a, int))
        regions["flash"] = ("rx", program["start"], vectors - 1)
        regions["vectors"] = ("r", vectors, 0xFFFF)
    rows = [
        f"    {region:<7} ({mode}) : ORIGIN = 0x{start:04X}, LENGTH = 0x{end + 1 - start:04X}"
        for region, (mode, start, end) in regions.items()
    ]
    extra = ['REGION_ALIAS("work", ram)', "__stack_least = 256;", ""] if core == "msp430" else []
    sections = (boards.home() / "firmware" / "runtime" / core / "sections.ld").read_text(encoding="utf-8")
    if core == "msp430":
        sections = _with_foreign(sections, fram="fram" in memories)
    return "\n".join(
        [
            f"/* Memories of the {name.upper()}, written by `sunseal new` from Sunseal's data.",
            *(f" * {line}" for line in source),
            " */",
            f"OUTPUT_ARCH({ {'msp430': 'msp430', 'avr': 'avr:51', 'armv7em': 'arm'}[core] })",
            "ENTRY(_start)",
            "",
            "MEMORY {",
            *rows,
            "}",
            *extra,
            sections[sections.index("SECTIONS {") :].rstrip(),
            "",
        ]
    )


PERSISTENT = ".persistent .persistent.* .TI.persistent .nv .nv.* .nv_vars .fram_vars"
"""What msp430-gcc, TI's compiler and runtimes for intermittent computing call variables that outlast the supply."""


def _with_foreign(sections: str, fram: bool) -> str:
    """Take sections by the names that other people's programs use, and refuse a handler that no vector would lead to.

    `--orphan-handling=error` refuses every other name: a linker puts it into RAM without a word, where it is forgotten.
    """
    if fram:
        sections = sections.replace("*(.nvm .nvm.*)", f"*(.nvm .nvm.* {PERSISTENT})")
    discarded = "\n                *(__interrupt_vector_*)"
    assert discarded in sections
    sections = sections.replace(discarded, "")
    debug = ("debug_addr", "debug_line_str", "debug_loclists", "debug_rnglists", "debug_str_offsets")
    rows = [
        "    /* ISR() of the chip's header names the handler; the number that the compiler wants beside it is 2. */",
        "    /DISCARD/ : { *(__interrupt_vector_2) }",
        "    .interrupt_numbers 0 : { KEEP(*(__interrupt_vector_*)) }",
        *(f"    .{name} 0 : {{ *(.{name}) }}" for name in (*debug, "symtab", "strtab", "shstrtab")),
    ]
    first = "    .debug_abbrev 0"
    refused = (
        "ASSERT(SIZEOF(.interrupt_numbers) == 0, \"this script finds an interrupt's handler by its name: "
        "write ISR(ta0_ccr0) { ... } with a name from the end of the chip's header, not interrupt(number)\")"
    )
    return sections.replace(first, "\n".join([*rows, first]), 1).rstrip() + f"\n{refused}\n"


def runtime(chip: dict[str, Any]) -> str:
    """Return the folder of firmware/runtime that starts a chip."""
    cores = {"cpu": "msp430", "cpuxv2": "msp430", "avre": "avr", "cortex_m4": "armv7em"}
    if chip["core"] not in cores:
        raise SunsealError(f"there is no start-up code for {chip['name']}, whose core is {chip['core']}")
    return cores[chip["core"]]
