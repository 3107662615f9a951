# SPDX-License-Identifier: MIT OR Apache-2.0
"""Registers of chips as others than us have them: crates that svd2rust made of the makers' descriptions, cortex-m for
the core, headers of msp430mcu and avr-libc.

A crate's source is read as text: the comment above a register says its offset, the one above a field its bits.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CRATES = {
    "cortex-m": "0.7.7",
    "msp430f5529": "0.2.0",
    "msp430fr5969": "0.2.0",
    "msp430fr5994": "0.2.0",
    "msp430fr6972": "0.2.1",
    "msp432p401r": "0.1.2",
    "stm32l4": "0.16.0",
}


@dataclass
class Place:
    """A register as somebody else describes it: its names, and the masks of its fields."""

    names: set[str]
    fields: dict[str, int] = field(default_factory=dict)


Places = dict[int, list[Place]]


def fetch(folder: Path) -> dict[str, Path]:
    """Let cargo bring the crates; return where their sources lie."""
    needs = "\n".join(
        f'{name} = {{ version = "={version}", default-features = false }}' for name, version in CRATES.items()
    )
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "makers"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[dependencies]\n{needs}\n[workspace]\n'
    )
    (folder / "lib.rs").touch()
    command = ["cargo", "metadata", "--format-version", "1", "--manifest-path", str(folder / "Cargo.toml")]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {p["name"]: Path(p["manifest_path"]).parent / "src" for p in told["packages"] if p["name"] in CRATES}


def plain(name: str) -> str:
    """Return a name as all of them would write it."""
    return name.replace("r#", "").replace("_", "").upper()


DOC = re.compile(r'(?:///|#\s*!?\s*\[\s*doc\s*=\s*")(.*)')
REGISTER = re.compile(r"0x([0-9a-f]+)(?:\.\.0x([0-9a-f]+))? - ")
BITS = re.compile(r"Bits? (\d+)(?::(\d+))? - ")
NAMED = re.compile(r"pub (?:const )?(?:unsafe )?(?:fn )?(\w+)\s*(?:\(|:)")


def described(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the comment above each thing that has a name, the name and what follows it."""
    doc = ""
    for line in lines:
        text = line.strip()
        if told := DOC.match(text):
            if REGISTER.match(told[1]) or BITS.match(told[1]):
                doc = told[1]
        elif doc and (named := NAMED.match(text)):
            yield doc, named[1], text[named.end() :]
            doc = ""


def block(text: str, more: dict[str, str]) -> dict[int, Place]:
    """Read a module of a peripheral: its registers by their offsets; `more` are its registers' own modules."""
    found: dict[int, Place] = {}
    for doc, name, rest in described(text.splitlines()):
        if not (told := REGISTER.match(doc)) or name.endswith("_iter"):
            continue
        fields = {}
        for doc_of_field, field_name, _ in described(more.get(name, "").splitlines()):
            if bits := BITS.match(doc_of_field):
                low, high = int(bits[1]), int(bits[2] or bits[1])
                fields[plain(field_name)] = (2 << high) - (1 << low)
        count, stride_bytes = 1, 0
        if several := re.match(r"\s*\[(\w+); (\d+)\]", rest):
            cell = re.search(rf"pub struct {several[1]} {{\s*register: VolatileCell<u(\d+)>", text)
            count, stride_bytes = int(several[2]), int(cell[1]) // 8 if cell else 0
        for i in range(count):
            place = found.setdefault(int(told[1], 16) + i * stride_bytes, Place(set()))
            place.names |= {plain(name)} if count == 1 else {f"{plain(name)}{i}"}
            place.fields |= fields
    return found


def modules(text: str, indent: str) -> dict[str, str]:
    """Cut a source that is one file into its modules."""
    return dict(re.findall(rf"^{indent}pub mod (\w+) {{$(.*?)^{indent}}}$", text, re.M | re.S))


def crate(source: Path, chip: str = "") -> Places:
    """Read a crate's registers by their addresses; `chip` is a module of it."""
    top = source / chip / "mod.rs" if chip else source / "lib.rs"
    text = top.read_text()
    places: Places = {}
    blocks: dict[str, dict[int, Place]] = {}
    in_one_file = modules(text, "")
    for instance, name, base in re.findall(
        r"(?:pub type (\w+) = [\w:]+<)?(\w+)::RegisterBlock[^;]{0,30}?\b(0x[0-9a-f_]+)", text
    ):
        if name not in blocks:
            if (path := top.parent / f"{name}.rs").is_file():
                own = path.read_text()
                more = {p.stem: p.read_text() for p in (top.parent / name).glob("*.rs")}
            else:
                own = in_one_file[name]
                more = modules(own, "    ")
            blocks[name] = block(own, more)
        for at, place in blocks[name].items():
            names = place.names | {plain(instance or name) + n for n in place.names}
            places.setdefault(int(base, 16) + at, []).append(Place(names, place.fields))
    return places


WIDTHS = {"u8": 1, "u16": 2, "u32": 4}


def cortex_m(source: Path) -> Places:
    """Read the core's registers: structs of cortex-m, whose fields lie one behind the other."""
    places: Places = {}
    folder = source / "peripheral"
    for name, base in re.findall(r"(\w+)::RegisterBlock = (0x[0-9A-F_]+)", (folder / "mod.rs").read_text()):
        text = (folder / f"{name}.rs").read_text()
        start = text.index("pub struct RegisterBlock {")
        at, there = int(base, 16), True
        for line in text[start : text.index("\n}", start)].splitlines():
            if cfg := re.match(r"\s*#\[cfg\((.*)\)\]", line):
                there = "not(armv6m)" in cfg[1] or "armv7m" in cfg[1]
            elif told := re.match(r"\s*(?:pub )?(\w+): (\[?)(?:\w+<)?(u\d+|Comparator)>?(?:; ([\w:]+)\])?", line):
                count = {"": 1, "NVIC::BITMAP_WORDS": 16}.get(told[4] or "") or int(told[4])
                size_bytes = WIDTHS.get(told[3], 16)
                for i in range(count) if there else ():
                    register = plain(told[1]) + (str(i) if told[2] else "")
                    places.setdefault(at + i * size_bytes, []).append(Place({register, name.upper() + register}))
                at += count * size_bytes if there else 0
                there = True
    return places


def header(path: Path) -> tuple[dict[str, int], dict[str, tuple[str, int]]]:
    """Read a C header: names that are numbers, and names of bytes of a word, with the word and the byte's place."""
    text = path.read_text("latin-1")
    told = re.findall(r"^#define (\w+)\s+(\(?[0-9A-Fa-fxuUlL*+<|() ]+\)?)\s*(?:/\*.*)?$", text, re.M)
    numbers = {name: re.sub(r"(?<=[0-9A-Fa-f])[uUlL]+", "", value) for name, value in told if value.strip("() ")}
    bytes_ = re.findall(r"^#define (\w+)\s+\(?(\w+)_([LH])\b", text, re.M)
    return (
        {name: int(eval(value)) for name, value in numbers.items()},
        {name: (word, "LH".index(half)) for name, word, half in bytes_},
    )


def memory_map(path: Path) -> dict[str, int]:
    """Read a linker script's addresses of registers."""
    return {name: int(at, 16) for name, at in re.findall(r"__(\w+) = (0x\w+);", path.read_text())}


def rust_numbers(folder: Path) -> dict[str, int]:
    """Read the constants that the sources of a folder name."""
    text = "\n".join(path.read_text() for path in sorted(folder.glob("*.rs")))
    told = re.findall(r"const (\w+): u32 = (0x[0-9a-f_]+|\d+)(?: << (\d+))?;", text, re.I)
    return {name: int(value, 0) << int(shift or 0) for name, value, shift in told}
