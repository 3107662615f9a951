# SPDX-License-Identifier: MIT OR Apache-2.0
"""A chip's registers and memories by the makers' names, as a C header and a linker script for a new program.

What `data/devices` and `data/registers` say is read by `chips`, which the firmware's build runs too.
"""

from __future__ import annotations

import textwrap
from typing import Any

from sunseal.catalog import boards
from sunseal.catalog.boards import architecture, device
from sunseal.errors import SunsealError
from sunseal.kit import chips, maker_headers
from sunseal.kit.chips import Block, Register

__all__ = ["Block", "Register", "blocks", "device", "family", "header", "include", "link_script", "runtime"]


def family(name: str) -> dict[str, Any]:
    """Return the registers of a family, with those it shares with another one."""
    try:
        return chips.family(name, boards.home() / "data")
    except chips.ChipError as error:
        raise SunsealError(str(error)) from error


def blocks(name: str) -> list[Block]:
    """List a chip's blocks in the order of their addresses."""
    chip = device(name)
    try:
        return chips.blocks(chip, family(str(chip["family"])))
    except chips.ChipError as error:
        raise SunsealError(str(error)) from error


# --- As C ------------------------------------------------------------------------------------------


def header(name: str) -> str:
    """Write a chip's registers as a C header."""
    chip = device(name)
    told = family(str(chip["family"]))
    guard = f"{name.upper()}_H"
    lines = [
        f"/* Registers of the {name.upper()}: {told['header']}.",
        " * Written by `sunseal new` from Sunseal's data. */",
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
    try:
        lines += maker_headers.msp430(chip, told) if chip["core"] in chips.MSP430 else chips.definitions(chip, told)
    except chips.ChipError as error:
        raise SunsealError(str(error)) from error
    return "\n".join([*lines, "", *_handlers(chip), "", "#endif", ""])


def include(name: str) -> dict[str, str]:
    """Return the files of a kit's include/: the chip's header, and makers' as other people's programs name them."""
    chip = device(name)
    return maker_headers.folder(chip, family(str(chip["family"])), header(name))


def _core_lines(chip: dict[str, Any]) -> list[str]:
    if not (bits := chips.status_bits(chip)):
        return []
    modes = {"LPM0": "CPUOFF", "LPM1": "(SCG0 | CPUOFF)", "LPM2": "(SCG1 | CPUOFF)", "LPM3": "(SCG1 | SCG0 | CPUOFF)"}
    modes |= {"LPM4": "(SCG1 | SCG0 | OSCOFF | CPUOFF)"}
    named = [f"#define {name} 0x{value:04X}" for name, value in bits.items()]
    lines = ["", "/* Status register. */", *named, *(f"#define {name}_bits {made}" for name, made in modes.items())]
    return [*lines, "", '#include "intrinsics.h"']


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
        numbers = ", ".join(
            f"{name} {16 + n}" for name, n in sorted(chips.interrupts(chip).items(), key=lambda i: i[1])
        )
        return [
            "/* An interrupt's handler: ISR(24) { ... } by its number in the table of vectors, which are:",
            *(f" * {line}" for line in _wrapped(numbers)),
            " */",
            "#define ISR(number) void sunseal_isr_##number(void); void sunseal_isr_##number(void)",
            *_WAKES,
        ]
    names = ", ".join(n for n, _ in sorted(chips.interrupts(chip).items(), key=lambda i: i[1]) if n != "reset")
    return [
        "/* An interrupt's handler: ISR(ta0_ccr0) { ... }. The names:",
        *(f" * {line}" for line in _wrapped(names)),
        " */",
        "#define ISR(name) void sunseal_isr_##name(void); \\",
        "    __attribute__((interrupt(SUNSEAL_VECTOR_##name))) void sunseal_isr_##name(void)",
        "/* One that ends the low-power mode, WAKING_ISR(ta0_ccr0) { ... }: the status register that it goes back to",
        " * has its bits cleared. */",
        "#define WAKING_ISR(name) static inline __attribute__((always_inline)) void sunseal_woken_##name(void); \\",
        "    ISR(name) { sunseal_woken_##name(); __bic_SR_register_on_exit(LPM4_bits); } \\",
        "    static inline __attribute__((always_inline)) void sunseal_woken_##name(void)",
    ]


_WAKES = (
    "/* The same: each interrupt ends the sleep. On an MSP430 only WAKING_ISR does. */",
    "#define WAKING_ISR(number) ISR(number)",
)


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
        first = chips.first_vector(chip)
        regions["flash"] = ("rx", program["start"], first - 3)
        regions["trap"] = ("rx", first - 2, first - 1)
        regions["vectors"] = ("r", first, 0xFFFF)
    rows = [
        f"    {region:<7} ({mode}) : ORIGIN = 0x{start:04X}, LENGTH = 0x{end + 1 - start:04X}"
        for region, (mode, start, end) in regions.items()
    ]
    extra = ['REGION_ALIAS("work", ram)', "__stack_least = 256;", ""] if core == "msp430" else []
    sections = (boards.home() / "firmware" / "runtime" / core / "sections.ld").read_text(encoding="utf-8")
    if core == "msp430":
        sections = _with_foreign(_with_vectors(sections, chip), fram="fram" in memories)
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
"""Sections in which msp430-gcc, TI's compiler and runtimes for intermittent computing put variables that outlast the
supply."""


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
        "    .interrupt_numbers 0 : { KEEP(*(__interrupt_vector_*)) }",
        *(f"    .{name} 0 : {{ *(.{name}) }}" for name in (*debug, "symtab", "strtab", "shstrtab")),
    ]
    first = "    .debug_abbrev 0"
    refused = (
        'ASSERT(SIZEOF(.interrupt_numbers) == 0, "the chip has no interrupt of the number that a handler of the '
        'program names: the end of its header in include/ has their names")'
    )
    return sections.replace(first, "\n".join([*rows, first]), 1).rstrip() + f"\n{refused}\n"


def _with_vectors(sections: str, chip: dict[str, Any]) -> str:
    """Place each handler's section by the number of its vector, and fill those without one with the trap's address."""
    start = sections.index("    /* The table is vectors.S")
    end = sections.index("    .debug_abbrev 0")
    first = chips.first_vector(chip)
    trap = (first - 2).to_bytes(2, "little").hex().upper()
    base = 0xFF80 if chip["core"] == "cpuxv2" else 0xFFE0
    numbers = sorted({(at - base) // 2 + 1 for at in chips.interrupts(chip).values() if at != 0xFFFE})
    signatures = chips.SIGNATURES if chip["family"] == "msp430fr5xx" else 0
    rows = [
        "    /* Where an interrupt without a handler goes, to stay: jmp $. */",
        "    .unexpected : { sunseal_unexpected = .; SHORT(0x3FFF) } > trap",
        "    /* interrupt(N) puts a handler's address into __interrupt_vector_N, as msp430-elf-gcc numbers them. */",
        "    .vectors : {",
        "        __vectors = .;",
        *["        SHORT(0xFFFF) /* other words would lock JTAG or the BSL */"] * signatures,
        *(
            f"        . = __vectors + 0x{base + 2 * (n - 1) - first:02X}; KEEP(*(__interrupt_vector_{n}))"
            for n in numbers
        ),
        f"        . = __vectors + 0x{0xFFFE - first:02X}; SHORT(_start)",
        f"    }} > vectors =0x{trap}{trap}",
        "",
        "",
    ]
    return sections[:start] + "\n".join(rows) + sections[end:]


def runtime(chip: dict[str, Any]) -> str:
    """Return the folder of firmware/runtime that starts a chip."""
    return architecture(chip["name"])
