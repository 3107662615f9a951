# SPDX-License-Identifier: MIT OR Apache-2.0
"""Peripherals of a chip as they can be reached from outside: I/O registers by name, the lines of serial interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sunseal import _engine
from sunseal.errors import SunsealError, unknown
from sunseal.machine.abi import AVR_DATA

if TYPE_CHECKING:
    from sunseal.kit.chips import Register
    from sunseal.machine.machine import Machine


BAUD = 9600
BITS_A_BYTE = 10
"""Bits of a byte in 8N1: start bit, eight data bits, stop bit."""


class Peripherals(Mapping[str, int]):
    """Values of I/O registers by name. Looking changes nothing: a receive buffer keeps its byte, a flag stays set."""

    def __init__(self, inner: _engine.Machine, device: str) -> None:
        """Look at the registers of a machine; their names are read when the first is asked for."""
        self._inner, self._device = inner, device
        self._found: dict[str, Register] | None = None

    def _registers(self) -> dict[str, Register]:
        if self._found is None:
            from sunseal.kit import registers

            self._found = {r.name: r for block in registers.blocks(self._device) for r in block.registers}
        return self._found

    def __getitem__(self, name: str) -> int:
        """Return what a register holds."""
        known = self._registers()
        if name not in known:
            raise unknown("register", name, known, f"of {self._device}", "`list(machine.io)` names them")
        return self.at(known[name].address, known[name].bits)

    def at(self, address: int, bits: int) -> int:
        """Return what a register of 8, 16 or 32 bits at an address holds; an AVR's data space lies at 0x800000."""
        if bits not in (8, 16, 32):
            raise SunsealError(f"a register has 8, 16 or 32 bits, not {bits}")
        from sunseal.kit import registers

        base = AVR_DATA if registers.device(self._device)["core"] == "avre" and address < AVR_DATA else 0
        return self._inner.register_value(base + address, bits // 8)

    def __iter__(self) -> Iterator[str]:
        """Go through the names in the order of their addresses."""
        return iter(self._registers())

    def __len__(self) -> int:
        """Count how many there are."""
        return len(self._registers())


class Uart:
    """The other end of a serial interface."""

    def __init__(self, machine: Machine, name: str, baud: int | None) -> None:
        """Stand at the line of a machine; `Machine.uart` makes it. Without a rate it types 9600 bits a second."""
        self.name, self.baud = name, baud
        self._machine = machine
        self.typed_until_ps = 0
        """Time at which the last byte that was typed will have arrived."""

    def send(self, data: bytes | str, at_s: float | None = None) -> None:
        """Type bytes, behind what was typed before, from `at_s` of machine time on."""
        engine = self._machine.engine
        start = max(engine.time_ps, self.typed_until_ps, 0 if at_s is None else round(at_s * 1e12))
        bit_ps = 0 if self.baud is None else round(1e12 / self.baud)
        for byte in data.encode() if isinstance(data, str) else data:
            start += BITS_A_BYTE * (bit_ps or 10**12 // BAUD)
            engine.uart_in(self.name, start, byte, bit_ps)
        self.typed_until_ps = start

    def read(self) -> bytes:
        """Return what the program has written there since the last call."""
        self._machine.take_uarts()
        return self._machine.taken(self.name)
