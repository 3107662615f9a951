# SPDX-License-Identifier: MIT OR Apache-2.0
"""Flash and RAM of each function of the cryptographic library alone, as the linker leaves it: `sizes.py write|check`.

A program that keeps one function and drops the rest is linked of the package's sources, for each target by a compiler
that users have. What it takes besides, of a C library or the compiler's own, is not counted, nor is the user's program.
The table stands in the package's README.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIRMWARE = ROOT / "firmware"
README = ROOT / "packaging" / "crypto" / "package" / "README.md"
TABLE = re.compile(r"(?<=<!-- sizes -->\n).*?(?=<!-- end of sizes -->)", re.S)
SHF_WRITE, SHF_ALLOC = 1, 2

OPERATIONS = {
    "ECDSA P-256: key pair": ["ecdsa_p256_keygen"],
    "ECDSA P-256: sign": ["ecdsa_p256_sign"],
    "ECDSA P-256: verify": ["ecdsa_p256_verify"],
    "ECDH P-256": ["ecdh_p256"],
    "ECDSA P-224: sign": ["ecdsa_p224_sign"],
    "ECDSA secp160r1: sign": ["ecdsa_secp160r1_sign"],
    "X25519": ["x25519"],
    "Ed25519: sign": ["ed25519_sign"],
    "Ed25519: verify": ["ed25519_verify"],
    "RSA-2048-PSS: sign": ["rsa2048_sign_pss_sha256"],
    "RSA-2048-PSS: verify": ["rsa2048_verify_pss_sha256"],
    "SHA-256": ["sha256"],
    "SHA-512": ["sha512"],
    "HMAC-SHA-256": ["hmac_sha256"],
    "HKDF-SHA-256": ["hkdf_sha256"],
    "AES-128-CCM: seal and open": ["aes128", "ccm_seal", "ccm_open"],
    "AES-128-CTR": ["aes128", "ctr"],
    "AES-128-CMAC": ["aes128", "cmac"],
    "Ascon-AEAD128: seal": ["ascon_aead128_seal"],
    "Ascon-Hash256": ["ascon_hash256"],
    "LMS: verify": ["lms_verify"],
    "HMAC-DRBG": ["hmac_drbg_instantiate", "hmac_drbg_generate"],
}
"""Rows of the table: public names, without their prefix, that a program keeps."""


@dataclass(frozen=True)
class Target:
    """A compiler with its options, which makes objects of all sources, and its linker."""

    heading: str
    compiler: str
    linker: str


LEAN = "-ffunction-sections -fdata-sections"
TARGETS = {
    "armv7em": Target(
        "Cortex-M4, GCC 12 -Os",
        f"arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os {LEAN}",
        "arm-none-eabi-ld --gc-sections --unresolved-symbols=ignore-all -e 0",
    ),
    "avr": Target(
        "ATmega128, GCC 5.4 -Os",
        f"avr-gcc -mmcu=atmega128 -Os {LEAN}",
        "avr-ld -mavr51 --gc-sections --unresolved-symbols=ignore-all -e 0",
    ),
    "msp430": Target(
        "MSP430F5438A, clang 19 -Os",
        f"clang --target=msp430-elf -mmcu=msp430f5438a -fno-integrated-as -Wa,-mcpu=430 -Os {LEAN}"
        f" -isystem {HERE}/boards/libc",
        "ld.lld --image-base=0x4000 --gc-sections --unresolved-symbols=ignore-all -e 0",
    ),
}


@cache
def tools_path() -> str:
    """Return a PATH with the cross compilers, the build tools, and what the machine has."""
    folders = []
    for group in ("consumers", "tests", "firmware"):
        asked = [str(FIRMWARE / "toolchain" / "get"), "--for", group, "--print-bin"]
        folders.append(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    return os.pathsep.join([*folders, os.environ["PATH"]])


def make(out: Path) -> Path:
    """Make the package in a folder and return its archive."""
    made = ["make", "-s", "-C", str(FIRMWARE), "dist", f"DIST={out}"]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    return next(out.glob("sunseal-crypto-*.tar.gz"))


def compiled(target: Target, package: Path, folder: Path, path: str, defines: str = "") -> None:
    """Compile every source of the package into objects of a folder."""
    folder.mkdir(parents=True)
    with tarfile.open(package) as tar:
        tar.extractall(folder, filter="data")
    command = f"{target.compiler} {defines} -c $(find . -path '*/src/*.[cS]')"
    subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, check=True)


def linked(target: Target, folder: Path, names: list[str], path: str) -> Path:
    """Link a program that keeps these functions and what they need."""
    out = folder / f"{names[0]}-{len(names)}.elf"
    keep = " ".join(f"-u sunseal_{name}" for name in names)
    env = {**os.environ, "PATH": path}
    subprocess.run(f"{target.linker} {keep} *.o -o {out}", shell=True, cwd=folder, env=env, check=True)
    return out


def kept(elf: Path) -> set[str]:
    """Return the names of functions and objects that a program has."""
    with elf.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        there = (s.name for s in symbols.iter_symbols() if s["st_shndx"] != "SHN_UNDEF")
        return {name for name in there if name.startswith("sunseal_")}


def size(elf: Path) -> tuple[int, int]:
    """Return the bytes of flash and of RAM that a program's sections take."""
    flash = ram = 0
    with elf.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not section["sh_flags"] & SHF_ALLOC or section.name in (".eh_frame", ".ARM.exidx"):
                continue
            if section["sh_type"] != "SHT_NOBITS":
                flash += section["sh_size"]
            if section["sh_flags"] & SHF_WRITE:
                ram += section["sh_size"]
    return flash, ram


def table(package: Path, work: Path, path: str) -> str:
    """Return the table of all functions on all targets."""
    cells: dict[str, list[str]] = {row: [] for row in OPERATIONS}
    for name, target in TARGETS.items():
        compiled(target, package, work / name, path)
        for row, names in OPERATIONS.items():
            flash, ram = size(linked(target, work / name, names, path))
            cells[row] += [f"{flash:,}", f"{ram:,}"]
    heads = [f"{t.heading}: {what}" for t in TARGETS.values() for what in ("flash", "RAM")]
    lines = [f"| bytes | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    lines += [f"| {row} | {' | '.join(values)} |" for row, values in cells.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the README's table, or say whether it is what the linkers give."""
    if sys.argv[1:] not in (["write"], ["check"]):
        print("error: sizes.py takes `write` or `check`", file=sys.stderr)
        return 2
    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as work:
        found = table(make(Path(work) / "dist"), Path(work), tools_path())
    now = TABLE.sub(lambda _: found, text)
    if sys.argv[1] == "write":
        README.write_text(now, encoding="utf-8")
    elif now != text:
        told = f"{README.relative_to(ROOT)} is not current: run `tests/consumers/sizes.py write`"
        print(f"error: {told}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
