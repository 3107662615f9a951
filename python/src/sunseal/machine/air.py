# SPDX-License-Identifier: MIT OR Apache-2.0
"""Machines whose radios share an air.

>>> from sunseal import Air
>>> air = Air(seed=1)
>>> a = air.machine("micaz", "sender.elf")
>>> b = air.machine("micaz", "receiver.elf", x_m=20)
>>> air.run(time_s=0.5)
>>> b.radio.received
1
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sunseal import _engine
from sunseal.errors import SunsealError
from sunseal.machine.machine import Machine


@dataclass(frozen=True)
class Frame:
    """A transmission that has ended, as a listener beside its sender hears it."""

    sender: Machine
    start_s: float
    end_s: float
    carrier_hz: int
    data: bytes
    """Length byte and frame; the bare bytes of a CC1000."""
    sent: _engine.Sent = field(repr=False, compare=False)
    """The same for the engine, with how it was modulated."""


def frames_of(sent: Iterable[_engine.Sent], machines: Sequence[Machine]) -> list[Frame]:
    """Return transmissions with the machines that sent them, which are numbered as they joined the air."""
    return [
        Frame(machines[s.antenna], s.start_ps * 1e-12, s.end_ps * 1e-12, s.carrier_hz, bytes(s.data), s) for s in sent
    ]


def write_frames(path: Path, frames: Sequence[Frame], name_of: Callable[[Machine], str]) -> None:
    """Write what was sent: as CSV (sender, start and end in seconds, carrier in hertz, bytes in hex), or as .pcap.

    A capture has a frame at the time of its end, in microseconds: those of IEEE 802.15.4 with their check sequence, or
    a CC2500's packets as docs/reference/link.md has them.

    Raises
    ------
    SunsealError where a CC1000 sent, or radios of two kinds: a .pcap cannot hold that, nothing is written.
    """
    if path.suffix == ".pcap":
        try:
            capture = _engine.capture([f.sent for f in frames])
        except _engine.EngineError as e:
            raise SunsealError(f"`{path}` cannot be written: {e}") from e
        path.write_bytes(capture)
        return
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(("sender", "start_s", "end_s", "carrier_hz", "data"))
        for f in frames:
            rows.writerow((name_of(f.sender), repr(f.start_s), repr(f.end_s), f.carrier_hz, f.data.hex()))


class Air:
    """One air for machines of boards with radios, which run on it in lock-step; the same seed gives the same bytes."""

    def __init__(
        self,
        seed: int = 1,
        *,
        exponent: float = 3.0,
        loss_db: float | None = None,
        frame_loss: float = 0.0,
        capture_db: float | None = None,
    ) -> None:
        """Make an air: loss by distance with an exponent (2 in free space, more among walls), or the same between all.

        `frame_loss` is the share of frames lost beside what noise and others destroy. With `capture_db`, a frame so
        much stronger than the sum of the others is not harmed by them.
        """
        if not 0 <= frame_loss <= 1:
            raise SunsealError(f"frame_loss is {frame_loss}, a share from 0 to 1 is wanted")
        if not 0 <= seed < 1 << 64:
            raise SunsealError(f"seed is {seed}; a whole number from 0 to 2^64 - 1 is wanted")
        self._inner = _engine.Air(seed, exponent, loss_db, frame_loss, capture_db)
        self._machines: list[Machine] = []

    def machine(
        self,
        board: str,
        elf: str | os.PathLike[str] | bytes | None = None,
        *,
        x_m: float = 0.0,
        y_m: float = 0.0,
        timing: Mapping[str, str | bool | int] | None = None,
        seed: int = 0,
    ) -> Machine:
        """Put a new machine of a board on the air, its antenna at a place in metres. All begin at time 0.

        `timing` and `seed` as for `Machine`.
        """
        if self.time_s > 0:
            raise SunsealError(
                f"the air has run for {self.time_s} s, and all its machines begin at the same time",
                hint="make all machines before the first run",
            )
        machine = Machine(board, elf, timing=timing, air=self._inner, place=(x_m, y_m), seed=seed)
        self._machines.append(machine)
        return machine

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The machines in the order in which they came."""
        return tuple(self._machines)

    @property
    def time_s(self) -> float:
        """The time to which all machines have come, in seconds."""
        return min((m.time_s for m in self._machines), default=0.0)

    def _antenna(self, machine: Machine) -> int:
        for number, one in enumerate(self._machines):
            if one is machine:
                return number
        raise SunsealError("the machine is not on this air", hint="make it by Air.machine")

    def place(self, machine: Machine, x_m: float, y_m: float) -> None:
        """Move a machine's antenna."""
        self._inner.place(self._antenna(machine), x_m, y_m)

    def link(self, a: Machine, b: Machine, loss_db: float) -> None:
        """Set the path loss between two machines, both ways, whatever their distance."""
        self._inner.link(self._antenna(a), self._antenna(b), loss_db)

    def run(self, time_s: float) -> None:
        """Run all machines for so many seconds more.

        A fault of a program, or what it asks of its radio that cannot be, raises EngineError with the machine's
        number and board.
        """
        if time_s < 0:
            raise SunsealError(f"time_s is {time_s}, machines only run forwards")
        if not self._machines:
            raise SunsealError("the air has no machines", hint="put them on it by Air.machine")
        end_ps = min(m.engine.time_ps for m in self._machines) + round(time_s * 1e12)
        named = [(f"{n} ({m.board})", m.engine) for n, m in enumerate(self._machines)]
        self._inner.run(named, end_ps)

    def frames(self) -> list[Frame]:
        """Return the transmissions that have ended since the last call."""
        return frames_of(self._inner.captured(), self._machines)
