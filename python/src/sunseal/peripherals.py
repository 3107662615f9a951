# SPDX-License-Identifier: MIT OR Apache-2.0
"""A chip's I/O registers by the names of its manual, as the CPU would read them now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sunseal import _engine
from sunseal.errors import SunsealError, unknown

if TYPE_CHECKING:
    from sunseal.kit.chips import Register

AVR_DATA = 0x80_0000
"""Where the debugger sees an AVR's data space."""


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
        """Count them."""
        return len(self._registers())
