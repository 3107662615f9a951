# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makers' headers for programs that others wrote: `<msp430.h>` with its registers, bits, vectors and intrinsics.

`names` of data/registers lists what Texas Instruments' headers call by name beyond what the simulator itself does.
A line is one list, with a comma after each item:

    NMIIE 4                          bit 4; NMIIE_L, too, where a family has its registers' bytes
    DIVA 4*8                         a field of 8 values at bit 4: DIVA_0 to DIVA_7, and its bits DIVA0 to DIVA2
    FRPW 0x9600                      a value
    RTCSEC RTCTIM0_L                 another name
    @0x18 16 PAIES                   a register at this offset of the block, of 16 bits
    TAIV: NONE TACCR1                values of a vector register, 0, 2 and on: TAIV_NONE, and TAIV__NONE
    DMA1TSEL__ 8: DMAREQ TA0CCR0     values of a field at bit 8, by their meaning: DMA1TSEL__TA0CCR0
    ADC12IE[16-31] 0                 several, counted on: bits 0 to 15
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sunseal.kit import chips
from sunseal.kit.chips import Block, ChipError, Register

INTRINSICS = Path(__file__).resolve().parent / "templates" / "msp430_intrinsics.h"
CMSIS = INTRINSICS.parent / "cmsis_core.h"
OLD_NAMES = {"msp430f1611": "msp430x16x.h", "msp430f5438a": "msp430x54xA.h"}
"""Headers that programs of before 2010 include instead."""


def items(block: Block) -> Iterator[tuple[str, int | str | Register | range]]:
    """Read a block's names: with a value, a field as its values, a register, or the name that it is another of."""
    line = ""
    for row in [*block.names.strip().split("\n"), ""]:
        if row.startswith("  "):
            line += row
            continue
        yield from _items_of(line, block)
        line = row


def _items_of(line: str, block: Block) -> Iterator[tuple[str, int | str | Register | range]]:
    if listed := re.fullmatch(r"(\w+): (.*)", line):
        names = [name for form in listed[2].split() for name in _counted(form)]
        yield from ((f"{listed[1]}{dashes}{n}", 2 * i) for dashes in ("_", "__") for i, n in enumerate(names))
    elif meant := re.fullmatch(r"(\w+__) (\d+): (.*)", line):
        yield from ((meant[1] + name, i << int(meant[2])) for i, name in enumerate(meant[3].split()))
    elif placed := re.fullmatch(r"@(0x\w+) (8|16) (\w+)", line):
        yield placed[3], Register(placed[3], block.base + int(placed[1], 16), int(placed[2]))
    else:
        for item in filter(None, line.split(", ")):
            several, _, told = item.rstrip(",").partition(" ")
            for i, name in enumerate(_counted(several)):
                yield name, _value(told, i)


def _value(told: str, i: int) -> int | str | range:
    if field := re.fullmatch(r"(\d+)\*(\d+)", told):
        shift = int(field[1]) + i * (int(field[2]) - 1).bit_length()
        return range(0, int(field[2]) << shift, 1 << shift)
    if told.startswith("0x"):
        return int(told, 16)
    return 1 << int(told) + i if told.isdigit() else _counted(told)[i]


def _counted(form: str) -> list[str]:
    """Write out a counted name such as `ADC12IFG[0-15]`."""
    if several := re.fullmatch(r"(\w*)\[(\d+)-(\d+)\](\w*)", form):
        return [f"{several[1]}{i}{several[4]}" for i in range(int(several[2]), int(several[3]) + 1)]
    return [form]


def _bits(block: Block, told: dict[str, Any], found: dict[str, int]) -> Iterator[str]:
    """Write the values that a block names, and the bytes of those that lie in one."""
    values = dict(block.bits)
    others = []
    for name, value in items(block):
        if isinstance(value, range):
            values |= {f"{name}_{i}": v for i, v in enumerate(value)}
            values |= {f"{name}{i}": value.step << i for i in range((len(value) - 1).bit_length())}
        elif isinstance(value, int):
            values[name] = value
        elif isinstance(value, str):
            others.append(f"#define {name} {value}")
    for field, (shift, count) in block.fields.items():
        values |= {f"{field}{i}": 1 << shift + i for i in range((count - 1).bit_length())}
    for name, value in values.items():
        if found.setdefault(name, value) != value:
            raise ChipError(f"data/registers gives {name} two values, of which {block.name} has 0x{value:X}")
    halves = {}
    for name, value in values.items() if told["low_and_high"] else ():
        if value and not re.search(r"_[LH]$|__", name):
            if value < 0x100:
                halves[f"{name}_L"] = value
            elif not value & 0xFF:
                halves[f"{name}_H"] = value >> 8
    yield from (f"#define {name} 0x{value:04X}" for name, value in values.items())
    yield from (f"#define {name} 0x{value:02X}" for name, value in halves.items() if name not in found)
    yield from others


def vectors(chip: dict[str, Any], told: dict[str, Any]) -> dict[str, int]:
    """Return TI's names of vectors with the numbers that msp430-elf-gcc takes, ours behind SUNSEAL_VECTOR_, too."""
    first = 0xFF80 if chip["core"] == "cpuxv2" else 0xFFE0
    found = {}
    of_gaps = {name for gap in chip.get("gap", ()) for name in gap.get("interrupts", {})}
    for name, at in sorted(chips.interrupts(chip).items(), key=lambda i: i[1]):
        number = (at - first) // 2 + 1
        found[f"SUNSEAL_VECTOR_{name}"] = number
        several = re.fullmatch(r"(.*?)(\d+)(.*)", name)
        theirs = told["vectors"].get(name)
        if theirs is None and several:
            form = told["vectors"].get(f"{several[1]}{{n}}{several[3]}", "")
            theirs = form.replace("{n}", several[2])
        if not theirs and name in of_gaps:
            # What is not modelled has a name of its file's: `usb_ubm` is USB_UBM_VECTOR.
            theirs = name.upper()
        if not theirs:
            raise ChipError(f"data/registers/{chip['family']}.toml: [vectors] lacks `{name}`, which {chip['name']} has")
        found |= {f"{n}_VECTOR": number for n in theirs.split()}
    return found


def msp430(chip: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """Write an MSP430's registers, bits and vectors as C, with those of blocks that the simulator refuses by name."""
    lines: list[str] = []
    found = chips.status_bits(chip)
    for block in chips.blocks(chip, told, gaps=True):
        lines += ["", f"/* {block.name}: {block.source}. */"]
        added = [value for _, value in items(block) if isinstance(value, Register)]
        for r in [*block.registers, *added]:
            lines.append(f"#define {r.name} REG{r.bits}(0x{r.address:04X})")
            if told["low_and_high"] and r.bits == 16:
                lines += [f"#define {r.name}_{half} REG8(0x{r.address + i:04X})" for i, half in enumerate("LH")]
        lines += _bits(block, told, found)
    lines += ["", "/* Vectors, by the numbers of msp430-elf-gcc: __attribute__((interrupt(PORT1_VECTOR))). */"]
    lines += [f"#define {name} {number}" for name, number in vectors(chip, told).items()]
    # A name may stand in two blocks, with one value; arrays are the makers' way to index what is counted.
    lines = list(dict.fromkeys(lines))
    arrays = {"ADC12MEM": "int", "ADC12MCTL": "char"}
    return [*lines, *(f"#define {name} ((volatile {of} *)&{name}0)" for name, of in arrays.items())]


EXCEPTIONS = {"NMI": -14, "HardFault": -13, "MemManage": -12, "BusFault": -11, "UsageFault": -10}
EXCEPTIONS |= {"SVCall": -5, "DebugMon": -4, "PendSV": -2, "SysTick": -1}
"""The core's exceptions as CMSIS names and numbers them (DDI0403, B1.5.2)."""


def _structure(kind: str, block: Block, arrays: dict[str, list[str]]) -> Iterator[str]:
    """Write a block's registers as CMSIS has them: a structure, what lies between them reserved."""
    at = block.base
    yield "typedef struct {"
    members = {names[0]: f"{array}[{len(names)}]" for array, names in arrays.items()}
    within = {name for names in arrays.values() for name in names[1:]}
    for r in sorted(block.registers, key=lambda r: r.address):
        name = r.name.removeprefix(f"{block.name.upper()}_").removeprefix(f"{kind}_")
        if r.address > at:
            yield f"    uint8_t reserved{at - block.base:X}[{r.address - at}];"
        if name not in within:
            yield f"    __IO uint32_t {members.get(name, name)};"
        at = r.address + 4
    yield f"}} {kind}_TypeDef;"


def stm32(chip: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """Write an STM32's registers, bits, interrupts and handlers as CMSIS names them."""
    kinds = {instance["name"]: str(instance["kind"]).upper() for instance in chip["block"]}
    numbers = {name.upper(): n for name, n in chips.interrupts(chip).items() if name.lower() not in ("reset",)}
    numbers = dict(sorted((EXCEPTIONS | numbers).items(), key=lambda i: i[1]))
    lines = ["typedef enum {", *(f"    {name}_IRQn = {n}," for name, n in numbers.items()), "} IRQn_Type;", ""]
    lines += ['#include "cmsis_core.h"']
    known: set[str] = set()
    for block in (b for b in chips.blocks(chip, told) if b.name in kinds):
        kind = kinds[block.name]
        if kind not in known:
            lines += ["", f"/* {block.source}. */", *_structure(kind, block, told["arrays"].get(kind, {}))]
            for name, value in items(block):
                if isinstance(value, range):
                    mask, shift = value.stop - value.step, value.step.bit_length() - 1
                    lines += [
                        f"#define {name}_{i} 0x{value.step << i:X}UL" for i in range((mask >> shift).bit_length())
                    ]
                elif isinstance(value, int):
                    mask, shift = value, max(0, (value & -value).bit_length() - 1)
                lines += [f"#define {name} 0x{mask:X}UL", f"#define {name}_Msk {name}", f"#define {name}_Pos {shift}U"]
            named = {line.split()[1] for line in lines if line.startswith("#define")}
            lines += [f"#define {bit} 0x{value:X}UL" for bit, value in block.bits.items() if bit not in named]
        known.add(kind)
        lines.append(f"#define {block.name.upper()} (({kind}_TypeDef *)0x{block.base:08X}UL)")
    lines += ["", "/* Handlers by CMSIS's names. */"]
    return [
        *lines,
        *(
            f"#define {name.replace('SVCall', 'SVC')}_IRQHandler sunseal_isr_{16 + n}"
            if n >= 0
            else f"#define {name.replace('SVCall', 'SVC')}_Handler sunseal_isr_{16 + n}"
            for name, n in numbers.items()
        ),
    ]


def folder(chip: dict[str, Any], told: dict[str, Any], header: str) -> dict[str, str]:
    """Return the files of a kit's include/, by name: of an MSP430 `<msp430.h>`, what it includes, old names of it."""
    files = {f"{chip['name']}.h": header}
    if chip["family"] == "stm32l4":
        lines = stm32(chip, told)
        guarded = ["#ifndef SUNSEAL_STM32L476XX_H", "#define SUNSEAL_STM32L476XX_H", "", *lines, "", "#endif", ""]
        files["stm32l476xx.h"] = "\n".join(["/* As STMicroelectronics' CMSIS header of this name. */", *guarded])
        files["stm32l4xx.h"] = '#include "stm32l476xx.h"\n'
        files["cmsis_core.h"] = CMSIS.read_text(encoding="utf-8")
    if chip["core"] in chips.MSP430:
        here = f'#include "{chip["name"]}.h"\n'
        flags = {"C": 0x0001, "Z": 0x0002, "N": 0x0004, "V": 0x0100}
        status = "".join(f"#define {flag} 0x{value:04X}\n" for flag, value in flags.items())
        files["msp430.h"] = f"/* As Texas Instruments' header of this name. */\n{here}{status}"
        files["intrinsics.h"] = files["in430.h"] = INTRINSICS.read_text(encoding="utf-8")
        if old := OLD_NAMES.get(chip["name"]):
            files[old] = here
    return files
