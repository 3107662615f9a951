# SPDX-License-Identifier: MIT OR Apache-2.0
"""Registers and bits of data/registers, of which headers of firmware and the simulators' constants are made, are those
that the makers' own descriptions have: each name is looked up at somebody else's.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

import pytest

import makers
from makers import Place, Places, plain
from sunseal.catalog import boards
from sunseal.kit import chips, maker_headers, registers
from test_new import fetched

DATA = boards.home() / "data"
# By device: headers of msp430mcu (of 2012; the FR5969's is the nearest to all FR5xx), crates and their modules.
SOURCES: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "msp430f1611": (("msp430f1611",), ()),
    "msp430f5438a": (("msp430f5438a",), (("msp430f5529", ""),)),
    "msp430fr5969": (("msp430fr5969",), (("msp430fr5969", ""),)),
    "msp430fr5994": (("msp430fr5969",), (("msp430fr5994", ""), ("msp430fr5969", ""))),
    "msp430fr6989": (("msp430fr5969",), (("msp430fr6972", ""), ("msp430fr5994", ""))),
    "msp432p401r": ((), (("msp432p401r", ""), ("cortex-m", ""))),
    "stm32l476rg": ((), (("stm32l4", "stm32l4x6"), ("cortex-m", ""))),
}
# Where msp430mcu is older than the chip: SLAU367 and SLAS704 have PxSELC at 0x16.
EARLY = re.compile(r"P\wSELC")
# Registers that the nearest description lacks, as its chip does: (device, names).
LACKING = {
    "msp430fr6989": r"P10\w+",  # SLAS789D, table 6-51: port P10
    # DDI0439, section 4.1: ACTLR, which TI's description of the MSP432 has; the crate has channels of DMA as clusters.
    "stm32l476rg": r"ACTLR|DMA[12]_C(CR|NDTR|PAR|MAR)[1-7]",
}
# Bits that no description names; sections of Arm's and ST's manuals as recalled. Arm's: DDI0403 B3.2.6 (SEVONPEND),
# B3.2.15 (CFSR), B3.2.16 (HFSR), C1.8.7 (DWT_CTRL). ST's: RM0351, 6.4.28 (RTCSEL), 3.3.5 (keys), 3.7.5 (START there).
# 31.4.7 (OC1PE, of CCMR1 as it is for outputs), 11.6.3 (CCR1, a cluster of each channel in the crate).
# TI's: SLAU356, CSKEY: the key that is written.
UNNAMED = {
    "armv7m.core": "SEVONPEND IBUSERR PRECISERR UNSTKERR BFARVALID UNDEFINSTR INVSTATE INVPC NOCP UNALIGNED "
    "DIVBYZERO FORCED",
    "armv7m.dwt": "EXCEVTENA SLEEPEVTENA",
    "msp432p4.cs": "CSKEY_VAL",
    "stm32l4.dma": "DMA_CCR1_EN DMA_CCR1_TCIE DMA_CCR1_HTIE DMA_CCR1_TEIE DMA_CCR1_DIR DMA_CCR1_CIRC DMA_CCR1_PINC "
    "DMA_CCR1_MINC DMA_CCR1_PSIZE DMA_CCR1_MSIZE DMA_CCR1_PL DMA_CCR1_MEM2MEM",
    "stm32l4.flash": "FLASH_KEYR_KEY1 FLASH_KEYR_KEY2 FLASH_CR_STRT",
    "stm32l4.pwr": "PWR_CR1_LPMS_STOP1 PWR_CR1_LPMS_STOP2 PWR_CR1_LPMS_STANDBY PWR_CR1_VOS_RANGE1 PWR_CR1_VOS_RANGE2",
    "stm32l4.rcc": "RCC_BDCR_RTCSEL_LSE",
    "stm32l4.spi": "SPI_CR2_DS_8",
    "stm32l4.tim": "TIM_CCMR1_OC1PE",
}
ALIASES = {"CPUID": "BASE", "SHPR1": "SHPR0", "SHPR2": "SHPR4", "SHPR3": "SHPR8"}
PORT = re.compile(r"P(\d+|[A-F])(IN|OUT|DIR|REN|DS|SEL[01C]?|IES|IE|IFG)")


@dataclass
class Told:
    """Registers of a device as somebody else has them."""

    places: list[Places] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    addresses: dict[str, int] = field(default_factory=dict)

    def at(self, address: int) -> list[Place]:
        return [place for places in self.places for place in places.get(address, ())]

    @cached_property
    def fields(self) -> dict[str, list[tuple[int, Place, int]]]:
        """Masks of fields with their registers, by the fields' names, with their registers' names and without."""
        found: dict[str, list[tuple[int, Place, int]]] = defaultdict(list)
        for address, place in ((a, p) for places in self.places for a, several in places.items() for p in several):
            of_it = {form for n in place.names for form in forms(n)}
            for name, mask in place.fields.items():
                for known in {name, *(n + name for n in of_it)}:
                    found[known].append((address, place, mask))
        return found


def forms(name: str) -> set[str]:
    """Return how a register may be called: with its block's number or without, by a port or a pair of ports."""
    name = plain(ALIASES.get(name, name.removeprefix("ID_")))
    found = {name, re.sub(r"\d+", "X", name, count=1), re.sub(r"\d+", "", name, count=1), name.rstrip("0123456789")}
    found.add(re.sub(r"I2C\d", "I2C", name, count=1))  # whose own digit comes first
    found |= {name + "INPUT"}  # ST's of CCMRx as it is for capture
    if port := PORT.fullmatch(name):
        one = port[1].isdigit()
        found.add(f"P{chr(65 + (int(port[1]) - 1) // 2) if one else 2 * ord(port[1]) - 129}{port[2]}")
    if priority := re.fullmatch(r"NVICIPR(\d+)", name):
        found.add(f"IPR{4 * int(priority[1])}")
    return found


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    sources = makers.fetch(tmp_path_factory.mktemp("makers"))
    mcu = fetched("tests").parent / "debian" / "usr" / "msp430"
    read: dict[tuple[str, str], Places] = {}
    found: dict[str, Told] = {}
    for device, (headers, crates) in SOURCES.items():
        one = found[device] = Told()
        for name in headers:
            numbers, halves = makers.header(mcu / "include" / f"{name}.h")
            places = makers.memory_map(mcu / "lib" / "ldscripts" / name / "periph.x")
            one.numbers |= numbers
            one.addresses |= places | {n: places[w] + i for n, (w, i) in halves.items() if w in places}
        for crate, module in crates:
            if (key := (crate, module)) not in read:
                of_core = crate == "cortex-m"
                read[key] = makers.cortex_m(sources[crate]) if of_core else makers.crate(sources[crate], module)
            one.places.append(read[key])
            if crate == "cortex-m":
                core = makers.rust_numbers(sources[crate] / "peripheral")
                one.numbers |= {re.sub(r"^(?:SCB|DCB)_[A-Z]+_", "", name): value for name, value in core.items()}
    return found


def is_there(told: Told, r: chips.Register) -> bool:
    """Look a register up where it lies; a byte of a word that others name as a whole, at the word."""
    if told.addresses.get(r.name) == r.address:
        return True
    if r.name in told.addresses and not EARLY.fullmatch(r.name):
        return False
    if any(place.names & forms(r.name) for place in told.at(r.address)):
        return True
    if mapped := re.fullmatch(r"(P\dMAP)(\d)", r.name):  # two a word
        low = int(mapped[2]) & 6
        return any(f"{mapped[1]}{low}{low + 1}" in p.names for p in told.at(r.address - int(mapped[2]) % 2))
    return r.bits == 8 and any(place.names & forms(r.name) for place in told.at(r.address - 1))


@pytest.mark.parametrize("device", SOURCES)
def test_registers_lie_where_the_makers_say(device: str, told: dict[str, Told]) -> None:
    found = [r for block in registers.blocks(device) for r in block.registers]
    unknown = [r for r in found if not is_there(told[device], r)]
    assert [r for r in unknown if not re.fullmatch(LACKING.get(device, ""), r.name)] == []
    # Of DMA the crate has clusters of channels, by other names.
    assert len([r for r in unknown if not re.fullmatch(r"DMA\d_C\w+", r.name)]) < 8 < len(found)


def test_a_register_that_lies_elsewhere_is_noticed(told: dict[str, Told]) -> None:
    for device, name in (("stm32l476rg", "RCC_CFGR"), ("msp430fr5994", "UCA0BRW"), ("msp432p401r", "CSCTL1")):
        (r,) = (r for block in registers.blocks(device) for r in block.registers if r.name == name)
        assert is_there(told[device], r)
        assert not is_there(told[device], chips.Register(r.name, r.address + r.bits // 8, r.bits))


def verdict(told: Told, block: chips.Block, name: str, value: int) -> bool | None:
    """Say whether somebody else has a bit so, or otherwise; None if nobody names it."""
    ours = {form for r in block.registers for form in forms(r.name)}
    first, last = (pick(r.address for r in block.registers) for pick in (min, max))

    def masks(of: str) -> list[int]:
        found = told.fields.get(plain(of), ())
        return [mask for at, place, mask in found if first <= at <= last + 3 or place.names & ours]

    numbered = re.fullmatch(r"(.*?)_?(\d+)", name)
    if (
        told.numbers.get(name) == value
        or value in masks(name)
        or (name.endswith(("KEY", "PW")) and any(value & ~mask == 0 for mask in masks(name)))
        or ("__" in name and any(value & ~mask == 0 for mask in masks(name.split("__", maxsplit=1)[0])))
        or (numbered and any(value == int(numbered[2]) * (mask & -mask) for mask in masks(numbered[1])))
    ):
        return True
    return False if masks(name) or name in told.numbers else None


def families() -> list[str]:
    return sorted(p.stem for p in (DATA / "registers").glob("*.toml") if p.stem != "atmega128")


def users(family: str, kind: str) -> list[tuple[str, chips.Block]]:
    """List devices that have a kind of block of a family, with the first such block of each."""
    found = []
    for device in SOURCES:
        chip = registers.device(device)
        all_told = chips.read(DATA / "registers" / f"{chip['family']}.toml")
        shared = [s["family"] for s in all_told.get("same", ()) if kind in s["blocks"]]
        if family == (shared[0] if shared and kind not in all_told["block"] else chip["family"]):
            names = [kind, *(b["name"] for b in chip["block"] if b["kind"] == kind)]
            found += [(device, b) for b in registers.blocks(device) if b.name in names][:1]
    return found


def disagreeing(family: str, told: dict[str, Told]) -> dict[str, list[str]]:
    """List bits that somebody else has otherwise, or that nobody has."""
    found: dict[str, list[str]] = defaultdict(list)
    for kind, block in chips.read(DATA / "registers" / f"{family}.toml")["block"].items():
        _, bits = chips.constants(block)
        # A field's own name is a mask here, which headers of 2012 lack; its values say where it lies.
        masks = {f for f, (_, values) in block.get("fields", {}).items() if bits[f] == bits[f"{f}_{values - 1}"]}
        having = users(family, kind)
        for name, value in bits.items():
            verdicts = [verdict(told[device], of, name, value) for device, of in having]
            if False in verdicts or (True not in verdicts and name not in masks):
                found[f"{family}.{kind}"].append(name)
    return dict(found)


@pytest.mark.parametrize("family", families())
def test_bits_are_the_makers(family: str, told: dict[str, Told]) -> None:
    unnamed = {kind: names.split() for kind, names in UNNAMED.items() if kind.startswith(f"{family}.")}
    assert disagreeing(family, told) == unnamed


def test_a_bit_that_lies_elsewhere_is_noticed(told: dict[str, Told]) -> None:
    for family, kind, name in (
        ("stm32l4", "usart", "USART_CR1_TE"),
        ("msp432p4", "cs", "HFXT_EN"),
        ("msp430fr5xx", "aes256", "AESCM"),
        ("msp430x1xx", "usart", "URXSE"),
    ):
        (device, block), *_ = users(family, kind)
        _, bits = chips.constants(chips.family(family, DATA)["block"][kind])
        assert verdict(told[device], block, name, bits[name]) is not False
        assert verdict(told[device], block, name, bits[name] << 1) is False


# What msp430mcu's FR5969 of 2012, before the chip was sold, has and the chip has not: SLAU367's COMP_E and CapTouch
# stood as Comparator_B and CAPSIO, FRAM's controller and the ports' drive strength as on the FR57xx.
BEFORE_THE_CHIP = re.compile(
    r"CB\w+|CAPSIO\w*|P[A-D1-4J]DS(_[LH])?|NAUTO(_L)?|NACCESS\w*|BUSY(_L)?|ACCV(IE|IFG)(_L)?|PMMLP(RST|SVEN|RNG.)(_L)?|"
    r"PMMAMRNG.(_L)?|PMMCTL1(KEY|_[LH])?|ADC12IV_ADC10\w+|SYSSNIV_(SVS|ACCTEIFG)|TA[23]IV_TA1CCR1|COMP_B_VECTOR|"
    r"DMACTL[23](_[LH])?"
)


@pytest.mark.parametrize("device", ["msp430f1611", "msp430f5438a", "msp430fr5969"])
def test_a_kits_header_has_each_name_of_the_makers(device: str) -> None:
    mcu = fetched("tests").parent / "debian" / "usr" / "msp430"
    numbers, _ = makers.header(mcu / "include" / f"{device}.h")
    places = makers.memory_map(mcu / "lib" / "ldscripts" / device / "periph.x")
    files = registers.include(device)
    ours = dict(re.findall(r"^ *#define (\w+) (.*)$", files[f"{device}.h"] + files["msp430.h"], re.MULTILINE))

    def value(name: str) -> int:
        text = ours[name]
        while word := re.search(r"(?<!\w)[A-Z_]\w*", text):
            text = text.replace(word[0], ours[word[0]] if not word[0].startswith("REG") else "", 1)
        return int(eval(text))

    # A name that ends in _ is a register's address for assembly; a vector is an offset, here msp430-elf-gcc's number.
    theirs = {name: n // 2 + 1 if name.endswith("_VECTOR") else n for name, n in numbers.items()}
    theirs = {name: n for name, n in (theirs | places).items() if not re.match(r"__|\w+_$", name)}
    told = {name: value(name) for name in theirs if name in ours}
    assert {name: n for name, n in told.items() if n != theirs[name] and not EARLY.match(name)} == {}
    lacking = {name for name in theirs if name not in ours}
    assert {name for name in lacking if device != "msp430fr5969" or not BEFORE_THE_CHIP.fullmatch(name)} == set()
    assert len(told) > 700


def contradicted(device: str, told: dict[str, Told]) -> tuple[list[str], int]:
    """List what a kit's header names and somebody else has otherwise; say of how many names somebody has any."""
    chip = registers.device(device)
    found, known = [], 0
    for block in chips.blocks(chip, registers.family(str(chip["family"])), gaps=True):
        for name, named in maker_headers.items(block):
            # A field's name is its mask in CMSIS.
            value = named.stop - named.step if isinstance(named, range) and "stm32" in device else named
            if isinstance(value, int) and "IV_" not in name:
                said = verdict(told[device], block, name, value)
                known += said is True
                found += [name] if said is False else []
            elif isinstance(value, chips.Register):
                found += [] if is_there(told[device], value) else [name]
    return found, known


@pytest.mark.parametrize("device", ["msp430fr5994", "msp430fr6989", "stm32l476rg"])
def test_no_name_of_a_newer_chip_is_contradicted(device: str, told: dict[str, Told]) -> None:
    found, known = contradicted(device, told)
    assert found == []
    assert known > 200


def test_the_atmega128s_are_avr_libcs() -> None:
    # The compiler knows its avr-libc, be it fetched or Debian's own that was there before.
    compiler = [str(fetched("avr") / "avr-gcc"), "-mmcu=atmega128", "-E", "-dM", "-x", "c", "-"]
    text = subprocess.run(compiler, input="#include <avr/io.h>", check=True, capture_output=True, text=True).stdout
    io = re.findall(r"#define (\w+)\s+_SFR_IO(?:8|16)\s*\(\s*(0x\w+)\s*\)", text)
    memory = re.findall(r"#define (\w+)\s+_SFR_MEM(?:8|16)\s*\(\s*(0x\w+)\s*\)", text)
    places = {n: int(at, 16) + 0x20 for n, at in io} | {n: int(at, 16) for n, at in memory}
    found = [r for block in registers.blocks("atmega128l") for r in block.registers]
    assert {r.name: r.address for r in found} == {r.name: places.get(r.name) for r in found}
    bits = {n: 1 << int(at) for n, at in re.findall(r"#define\s+(\w+)\s+(\d)\b", text)}
    ours = {n: v for block in registers.blocks("atmega128l") for n, v in block.bits.items()}
    assert ours == {n: bits.get(n) for n in ours}
    assert len(found) > 90 < len(ours)
