# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal waveform` and `sunseal gdb`: a program looked into while it runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from sunseal import boards, units
from sunseal.cli.console import err, out, writable
from sunseal.cli.options import Adc, Board, Image, ImageOrWorkload, Seconds, Until, Variant, adc_of, loaded
from sunseal.errors import SunsealError


def waveform_command(
    elf: ImageOrWorkload,
    vcd: Annotated[Path, typer.Option("--out", help="The value change dump to write.")],
    board: Board = boards.DEFAULT_BOARD,
    pin: Annotated[list[str] | None, typer.Option("--pin", help="Pin to record, such as P1.0. Repeatable.")] = None,
    symbol: Annotated[list[str] | None, typer.Option("--symbol", help="Variable to record. Repeatable.")] = None,
    stimulus: Annotated[Path | None, typer.Option("--stimulus", help="A dump whose signals drive pins.")] = None,
    drive: Annotated[list[str] | None, typer.Option("--drive", help="SIGNAL=PIN of the stimulus. Repeatable.")] = None,
    until: Until = None,
    time: Seconds = None,
    adc: Adc = None,
    variant: Variant = None,
) -> None:
    """Record pins, states and variables as a value change dump (VCD), for any waveform viewer."""
    writable(vcd, (".vcd",))
    pairs = [text.partition("=") for text in drive or ()]
    if bad := [signal for signal, eq, name in pairs if not (signal and eq and name)]:
        raise SunsealError(f"--drive `{bad[0]}` is not written `SIGNAL=PIN`, such as `button=P1.1`")
    m = loaded(elf, board, variant, adc)
    stop = m.waveform(
        vcd,
        until,
        pins=pin or [boards.load(board).trigger],
        symbols=symbol or (),
        stimulus=stimulus,
        signals={signal: name for signal, _, name in pairs},
        time_s=None if time is None else units.time_s(time),
    )
    out.print(f"wrote {vcd}: {units.show(m.time_s, 's')} of {m.device}, ended by {stop.kind}")


def gdb_command(
    elf: Image,
    board: Board = boards.DEFAULT_BOARD,
    listen: Annotated[str, typer.Option("--listen", help="Address for the debugger.")] = "127.0.0.1:3333",
    off: Annotated[str, typer.Option("--off", help="How long the supply stays away after each simulated loss.")] = "1s",
    adc: Adc = None,
) -> None:
    """Serve a debugger: breakpoints, watchpoints, registers, through losses of supply.

    It is avr-gdb for an AVR, gdb-multiarch for MSP432 and STM32, and msp430-elf-gdb for an MSP430, which Debian's
    gdb-multiarch does not know; `sunseal doctor` says which is there and how to get it. `monitor help` in it
    lists what else it can do: reset, cut the supply, set its voltage.
    """
    from sunseal.machine import Machine

    m = Machine(board, elf, adc_v=adc_of(adc))
    ended = m.engine.gdb(listen, round(units.time_s(off, "--off") * 1e12), announced(m.device, elf))
    err.print(f"the debugger has {ended}")


def announced(device: str, elf: Path) -> Callable[[str], None]:
    """Return what says where a debugger can come, once it can."""
    import signal

    from sunseal.cli import progress
    from sunseal.doctor import debugger

    def listening(address: str) -> None:
        progress.leave()  # from here on the debugger tells
        err.print(
            f"waiting on {address}; in another terminal: "
            f"{debugger(device)} {escape(shlex.quote(str(elf)))} -ex 'target remote {address}'"
        )
        # From here on Ctrl-C ends this process, also in the middle of a debugger's session.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return listening
