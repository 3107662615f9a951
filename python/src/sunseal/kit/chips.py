# SPDX-License-Identifier: MIT OR Apache-2.0
"""A chip's registers, memories and interrupts from data/devices and data/registers, for whoever writes them out.

`python3 chips.py write|check DEVICE FOLDER` makes what the firmware's build includes: `chip.h` (registers and bits, for
C and for assembly), `memory.h` (where memories lie, for linker scripts too) and, of an MSP430, `vectors.S`; `chips.py
rust FILE` makes the constants of the simulators and of their tests. Builds run it without a virtual environment, so
this module leans on the standard library alone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHANNEL_BYTES = 0x10
"""From one DMA channel's registers to the next one's (SLAU367, DMA registers)."""
SIGNATURES = 8
"""Words at 0xFF80 of an FR5xx that lock JTAG or the BSL unless they are erased (SLAU367P section 1.11.7)."""
MSP430 = ("cpu", "cpuxv2")


class ChipError(Exception):
    """The data of a chip do not fit together."""


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
    names: str = ""
    """Further names that makers' headers have here (`maker_headers` reads it)."""
    base: int = 0
    fields: dict[str, list[int]] = field(default_factory=dict)
    """Fields by their names: at which bit, of how many values."""


def read(path: Path) -> dict[str, Any]:
    """Read a TOML file, of a chip with what it extends beside it, as `sunseal_data::Room::read_file` does."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    base = told.pop("extends", None)
    return told if base is None else _laid(read(path.with_name(f"{base}.toml")), told)


def _laid(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Lay tables over others key by key, and lists of tables with names name by name."""
    whole = dict(under)
    for key, value in over.items():
        base = under.get(key)
        if isinstance(base, dict) and isinstance(value, dict):
            whole[key] = _laid(base, value)
        elif isinstance(base, list) and all(isinstance(t, dict) and "name" in t for t in (*base, *value)):
            named = {table["name"]: table for table in base}
            for table in value:
                if table.get("absent") is True:
                    named.pop(table["name"], None)
                else:
                    named[table["name"]] = _laid(named.get(table["name"], {}), table)
            whole[key] = list(named.values())
        else:
            whole[key] = value
    return whole


def family(name: str, data: Path) -> dict[str, Any]:
    """Return the registers of a family, with those it shares with another one."""
    path = data / "registers" / f"{name}.toml"
    if not path.is_file():
        known = sorted(p.stem for p in path.parent.glob("*.toml"))
        raise ChipError(f"the registers of {name} are not known; known families: {', '.join(known)}")
    told = read(path)
    for same in told.get("same", ()):
        other = family(same["family"], data)["block"]
        told["block"] = {key: other[key] for key in same["blocks"]} | told["block"]
    return told


def interrupts(chip: dict[str, Any]) -> dict[str, int]:
    """List a chip's interrupts, with the addresses of their vectors or with their numbers."""
    found = {name: at for name, at in chip["vectors"].items() if isinstance(at, int)}
    for block in [*chip["block"], *chip.get("gap", ())]:
        found |= block.get("interrupts", {})
    return found


def blocks(chip: dict[str, Any], told: dict[str, Any], gaps: bool = False) -> list[Block]:
    """List a chip's blocks in the order of their addresses; `told` are the registers of its family.

    With `gaps`, blocks that the chip has and the simulator refuses by name are among them.
    """
    found: list[Block] = []
    if not told.get("fixed"):
        found += [_block(told, chip, block) for block in chip["block"]]
        found += [_block(told, chip, block) for block in _gaps(chip, told) if gaps]
    inputs = chip.get("nvic", {}).get("inputs", 0)
    counts = {"inputs32": (inputs + 31) // 32, "inputs4": (inputs + 3) // 4}
    fixed = {key: block for key, block in told["block"].items() if "base" in block and (gaps or "gap" not in block)}
    found += [_made(key, block, _fixed(block, counts), base=block["base"]) for key, block in fixed.items()]
    return sorted(found, key=lambda b: b.registers[0].address)


def _gaps(chip: dict[str, Any], told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield name, kind and base of each block that the chip has as a gap and `told` has registers of."""
    for kind, block in told["block"].items():
        for gap in chip.get("gap", ()) if "gap" in block else ():
            number = gap["name"].removeprefix(block["gap"]).strip()
            if gap["name"].startswith(block["gap"]) and (not number or number.isdigit()):
                offset = block.get("gap_offset", 0)
                yield {"name": kind + number, "kind": kind, "base": gap["start"] + offset, **block.get("counts", {})}


def _block(told: dict[str, Any], chip: dict[str, Any], instance: dict[str, Any]) -> Block:
    """Place a block of a chip: `usci_a1` is number 1 of its kind."""
    name, base, kinds = instance["name"], instance["base"], told["block"]
    if instance["kind"] not in kinds:
        raise ChipError(
            f"data/registers/{chip['family']}.toml has no block `{instance['kind']}`, which {chip['name']} has"
        )
    block = kinds[instance["kind"]]
    if instance["kind"] == "port":
        odd = instance["ports"][0]
        pair = {"odd": odd, "even": odd + 1, "x": name[-1].upper()}
        names = block.get("names", "") + (block.get("names_interrupts", "") if "interrupts" in instance else "")
        return _made(name, block, list(_port(block, instance)), _formatted(names, **pair), base)
    if "pairs" in block:
        pairs = [
            r for i, x in enumerate(block["pairs"]) for r in _pair(block, 2 * i + 1, x, base + i * block["pair_bytes"])
        ]
        return _made(name, block, pairs)
    channels = instance.get("channels", 0)
    counts = {"channels": channels, "pairs": (channels + 1) // 2, "ccrs": instance.get("ccrs", 0)}
    # `gpioa` is letter A of its kind, `usart1` number 1; `ta0` is a timer_a of that number.
    number = name[len(name.rstrip("0123456789")) :]
    if name.startswith(instance["kind"]):
        number = name.removeprefix(instance["kind"]).upper()
    rows = [(n.format(n=number), base + a, b) for n, a, b in _rows(block["registers"])]
    names = block.get("names", "") + block.get("names_of", {}).get(chip["name"], "")
    return _made(name, block, [r for row in rows for r in _counted(*row, counts)], _formatted(names, n=number), base)


def _fixed(block: dict[str, Any], counts: dict[str, int]) -> list[Register]:
    return [r for n, a, b in _rows(block["registers"]) for r in _counted(n, block["base"] + a, b, counts)]


def _formatted(names: str, **facts: Any) -> str:
    """Put a block's number or letters into a text that has braces for nothing else."""
    for key, value in facts.items():
        names = names.replace(f"{{{key}}}", str(value))
    return names


def _made(
    name: str, block: dict[str, Any], registers: list[Register], names: str | None = None, base: int = 0
) -> Block:
    bits = dict(block.get("bits", {}))
    fields = block.get("fields", {})
    for of, (shift, values) in fields.items():
        bits |= {f"{of}_{value}": value << shift for value in range(values)}
    more = block.get("names", "") if names is None else names
    return Block(name, block["source"], registers, bits, more, base, fields)


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


def _port(block: dict[str, Any], instance: dict[str, Any]) -> Iterator[Register]:
    odd, letter = instance["ports"][0], instance["name"][-1].upper()
    asks = {"interrupt_pairs": [letter] if "interrupts" in instance else []}
    for register in _pair({**block, **asks}, odd, letter, instance["base"]):
        if not register.name.startswith(f"P{odd + 1}") or odd + 1 in instance["ports"]:
            yield register


# --- As C and assembly ------------------------------------------------------------------------------


def definitions(chip: dict[str, Any], told: dict[str, Any], prefix: str = "") -> list[str]:
    """Write registers and bits as macros; a register is `prefix` REG8, REG16 or REG32 of its address."""
    lines = []
    known: dict[str, int] = {}
    for block in blocks(chip, told):
        lines += ["", f"/* {block.name}: {block.source}. */"]
        for r in block.registers:
            lines.append(f"#define {r.name} {prefix}REG{r.bits}(0x{r.address:04X})")
            if told["low_and_high"] and r.bits == 16:
                lines += [f"#define {r.name}_{half} {prefix}REG8(0x{r.address + i:04X})" for i, half in enumerate("LH")]
        for bit, value in block.bits.items():
            # A name of two blocks stands at the first.
            if bit not in known:
                lines.append(f"#define {bit} 0x{value:X}")
            elif known[bit] != value:
                raise ChipError(f"data/registers/{chip['family']}.toml gives {bit} two values")
            known[bit] = value
    return lines


def status_bits(chip: dict[str, Any]) -> dict[str, int]:
    """Return the bits of an MSP430's status register; other cores have none that C would name."""
    if chip["core"] not in MSP430:
        return {}
    return {"GIE": 0x8, "CPUOFF": 0x10, "OSCOFF": 0x20, "SCG0": 0x40, "SCG1": 0x80}


def chip_header(chip: dict[str, Any], told: dict[str, Any]) -> str:
    """Write `chip.h`: in assembly a register is its address."""
    guard = f"SUNSEAL_CHIP_{chip['name'].upper()}_H"
    return "\n".join(
        [
            *_made_from(chip, f"Registers of the {chip['name'].upper()}: {told['header']}."),
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            '#include "memory.h"',
            "",
            "#ifdef __ASSEMBLER__",
            *(f"#define SUNSEAL_REG{bits}(address) address" for bits in (8, 16, 32)),
            "#else",
            "#include <stdint.h>",
            *(f"#define SUNSEAL_REG{bits}(address) (*(volatile uint{bits}_t *)(address))" for bits in (8, 16, 32)),
            "#endif",
            "",
            *(f"#define BIT{i:X} 0x{1 << i:04X}" for i in range(8 if chip["core"] == "avre" else 16)),
            *([""] if status_bits(chip) else []),
            *(f"#define {name} 0x{value:04X}" for name, value in status_bits(chip).items()),
            *definitions(chip, told, "SUNSEAL_"),
            "",
            "#endif",
            "",
        ]
    )


def memory_header(chip: dict[str, Any]) -> str:
    """Write `memory.h`: start, size and erase unit of each memory; of an MSP430, where the vectors begin."""
    guard = f"SUNSEAL_MEMORY_{chip['name'].upper()}_H"
    lines = [*_made_from(chip, f"Memories of the {chip['name'].upper()}."), f"#ifndef {guard}", f"#define {guard}"]
    for m in chip["memory"]:
        if m["kind"] != "peripheral":
            name = f"CHIP_{m['name'].upper()}"
            lines += ["", f"/* {m['source']}. */"]
            lines += [f"#define {name} 0x{m['start']:04X}", f"#define {name}_BYTES 0x{m['end'] + 1 - m['start']:X}"]
            if "segment_bytes" in m:
                lines.append(f"#define {name}_SEGMENT_BYTES {m['segment_bytes']}")
    if chip["core"] in MSP430:
        lines += ["", f"#define CHIP_VECTORS 0x{first_vector(chip):04X}"]
    return "\n".join([*lines, "", "#endif", ""])


def first_vector(chip: dict[str, Any]) -> int:
    """Return where the table of an MSP430's vectors begins, the words that are no vectors with it."""
    return 0xFF80 if chip["core"] == "cpuxv2" else min(interrupts(chip).values())


def vectors(chip: dict[str, Any]) -> str:
    """Write the vectors of an MSP430: a row for each, filled up where the silicon has none."""
    at = {address: name for name, address in interrupts(chip).items()}
    first = first_vector(chip)
    rows = [*_made_from(chip, "The table of vectors."), '#include "vectors.inc"', "", "    vectors"]
    if chip["family"] == "msp430fr5xx":
        rows += [
            "    ; Signatures: words here would lock JTAG or the BSL.",
            f"    .rept   {SIGNATURES}",
            "    .word   0xFFFF",
            "    .endr",
        ]
        first += 2 * SIGNATURES
    if empty := (min(at) - first) // 2:
        rows += [f"    .rept   {empty}", "    unexpected", "    .endr"]
    for address in range(min(at), 0xFFFE, 2):
        row = f"    vector  {at[address]}" if address in at else "    unexpected"
        rows.append(f"{row:<36}; 0x{address:04X}")
    rows.append(f"{'    .word   _start':<36}; 0xFFFE")
    return "\n".join(rows) + "\n"


def _made_from(chip: dict[str, Any], what: str) -> list[str]:
    return [
        "/* SPDX-License-Identifier: MIT OR Apache-2.0",
        " *",
        f" * {what}",
        f" * Made by python/src/sunseal/kit/chips.py from data/devices/{chip['name']}.toml.",
        " */",
    ]


def files(chip: dict[str, Any], told: dict[str, Any]) -> dict[str, str]:
    """Return what the firmware's build includes of a chip, by the names of files."""
    made = {"chip.h": chip_header(chip, told), "memory.h": memory_header(chip)}
    return made | ({"vectors.S": vectors(chip)} if chip["core"] in MSP430 else {})


def constants(block: dict[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the offsets of a kind of block's registers, of several ports the first two's, and its bits and masks."""
    counts = {"ccrs": 7, "channels": 1, "pairs": 4, "inputs32": 8, "inputs4": 60}
    rows = _rows(block["registers"] + block.get("interrupts", ""))
    first = ((name.format(n="", x="A", odd=1, even=2), offset, bits) for name, offset, bits in rows)
    masks = {
        of: (1 << (values - 1).bit_length()) - 1 << shift for of, (shift, values) in block.get("fields", {}).items()
    }
    return {r.name: r.address for row in first for r in _counted(*row, counts)}, masks | _made("", block, []).bits


def rust_block(name: str, block: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """Write a kind of block as Rust: offsets as addresses of its bus, bits as wide as its widest register."""
    registers, bits = constants(block)
    offset = "u16" if told.get("byte_wide") else "u32"
    width = 8 if told.get("byte_wide") else max(bits for _, _, bits in _rows(block["registers"]))
    rows = [f"        pub const {n}: {offset} = {at:#x};" for n, at in registers.items()]
    rows += [f"        pub const {n}: u{width} = {value:#x};" for n, value in bits.items()]
    return [f"    pub mod {'r#' if name == 'ref' else ''}{name} {{", *rows, "    }"]


def _addresses(told: dict[str, Any]) -> Iterator[str]:
    """Write a family's addresses, if all its blocks lie at fixed ones; of an AVR those of both bytes of a word, too."""
    known = set()
    for block in told["block"].values() if told.get("fixed") else ():
        if "gap" in block:
            continue
        for r in _fixed(block, {}):
            halves = "LH" if told.get("byte_wide") and r.bits == 16 else ""
            for name, at in [(r.name, r.address), *((r.name + half, r.address + i) for i, half in enumerate(halves))]:
                if name not in known:
                    known.add(name)
                    yield f"    pub const {name}: {'u16' if told.get('byte_wide') else 'u32'} = {at:#x};"


def rust(data: Path) -> str:
    """Write Rust: a module a chip, with addresses, and a module a family, with one for each kind of block."""
    lines = []
    for path in sorted((data / "devices").glob("*.toml")):
        chip = read(path)
        found = {r.name: r.address for b in blocks(chip, family(str(chip["family"]), data)) for r in b.registers}
        found |= {f"VECTOR_{name.upper()}": at for name, at in interrupts(chip).items()}
        rows = (f"    pub const {name}: u32 = {address:#x};" for name, address in found.items())
        lines += [f"pub mod {chip['name']} {{", *rows, "}", ""]
    for path in sorted((data / "registers").glob("*.toml")):
        told = read(path)
        simulated = {name: block for name, block in told["block"].items() if "gap" not in block}
        kinds = [row for name, block in simulated.items() for row in rust_block(name, block, told)]
        lines += [f"pub mod {path.stem} {{", *_addresses(told), *kinds, "}", ""]
    return "\n".join(lines)


def main(args: list[str]) -> int:
    """Write what the build includes, or say what differs."""
    data = Path(__file__).resolve().parents[4] / "data"
    if len(args) == 2 and args[0] == "rust":
        Path(args[1]).write_text(rust(data), encoding="utf-8")
        return 0
    if len(args) != 3 or args[0] not in ("write", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    device, folder = args[1], Path(args[2])
    chip = read(data / "devices" / f"{device}.toml")
    made = files(chip, family(str(chip["family"]), data))
    if args[0] == "write":
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")
        return 0
    stale = [n for n, text in made.items() if not (folder / n).is_file() or (folder / n).read_text("utf-8") != text]
    if stale:
        print(f"{', '.join(stale)} of {folder}: not what the data of {device} give; run make", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
