# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs as files: ELF, Intel HEX, Motorola S-records, TI-TXT, and bare bytes at an address."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from sunseal.catalog import boards
from sunseal.errors import SunsealError

ELF = b"\x7fELF"
MOST_BYTES = 256 * 1024 * 1024
"""Size above which a file is no program of such a chip, whatever debug data it has; it is refused before it is read."""
_MACHINES = {"avre": 83, "cortex_m4": 40}
"""`e_machine` by core; the MSP430's is 105. System V ABI, chapter 4, and each processor's supplement."""
_MSP430 = 105
_HEAD, _SEGMENT = struct.Struct("<16sHHIIIIIHHHHHH"), struct.Struct("<8I")


def read(path: Path, device: str) -> bytes:
    """Return a program's file as an ELF; one of another format has no symbols and no debug data.

    Bare bytes have their address behind the name, `app.bin@0x4400`; the others are told by what they hold.

    Raises
    ------
    SunsealError if the file cannot be read, is damaged, or is none of these.
    """
    named = re.fullmatch(r"(.+)@(0x[0-9a-fA-F]+|\d+)", str(path))
    bare = named is not None and not path.exists()
    place = Path(named[1]) if named is not None and bare else path
    try:
        if (size := place.stat().st_size) > MOST_BYTES:
            raise SunsealError(f"the program `{place}` has {size:,} bytes, more than any of these chips could hold")
        data = place.read_bytes()
    except OSError as e:
        raise SunsealError(f"the program `{place}` cannot be read: {e.strerror or e}") from e
    if bare and named is not None:
        return elf([(int(named[2], 0), data)], device)
    if data.startswith(ELF) or not data[:1] or data[:1] not in b":S@":
        return data  # the engine says what is wrong with what is none
    return elf(records(data, place), device)


def records(data: bytes, path: Path) -> list[tuple[int, bytes]]:
    """Return the bytes of Intel HEX, Motorola S-records or TI-TXT, with their addresses."""
    import bincopy

    file = bincopy.BinFile()
    form, add = {
        b":": ("Intel HEX", file.add_ihex),
        b"S": ("Motorola S-records", file.add_srec),
        b"@": ("TI-TXT", file.add_ti_txt),
    }[data[:1]]
    try:
        add(data.decode("ascii"))
    except (bincopy.Error, ValueError) as e:
        raise SunsealError(f"the file `{path}` begins as {form} and cannot be read as that: {e}") from e
    if not len(file.segments):
        raise SunsealError(f"the file `{path}`, {form}, holds no bytes")
    return [(int(segment.minimum_address), bytes(segment.data)) for segment in file.segments]


def elf(segments: list[tuple[int, bytes]], device: str) -> bytes:
    """Wrap bytes at addresses as an ELF of a device: a segment each, no sections."""
    told = boards.device(device)
    machine = _MACHINES.get(str(told["core"]), _MSP430)
    start = _HEAD.size + len(segments) * _SEGMENT.size
    heads, bodies = b"", b""
    for address, data in segments:
        size = len(data)
        heads += _SEGMENT.pack(1, start + len(bodies), address, address, size, size, 7, 1)
        bodies += data
    entry = segments[0][0] if segments else 0
    head = _HEAD.pack(
        *(ELF + b"\x01\x01\x01" + bytes(9), 2, machine, 1, entry, _HEAD.size, 0, 0),
        *(_HEAD.size, _SEGMENT.size, len(segments), 0, 0, 0),
    )
    return head + heads + bodies
