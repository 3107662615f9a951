# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal waveform` and `sunseal gdb`: a program looked into while it runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from sunseal.catalog import boards, units
from sunseal.cli.console import err, out, writable
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError
from sunseal.machine.waveforms import ENDINGS
from sunseal.requests.asking import ADC, BOARD, FOR, IMAGE, UNTIL, VARIANT, asked, request

if TYPE_CHECKING:
    from sunseal.machine.machine import Machine


def loaded(image: Path, board: str, variant: Sequence[str], adc_v: Mapping[int, float] | None) -> Machine:
    """Return a board with a program of the user's own, or with a workload that has its operands."""
    from sunseal.machine.machine import Machine
    from sunseal.measurement import measuring

    if str(image) in boards.WORKLOADS:
        if adc_v:
            raise SunsealError("`--adc` belongs to a program of yours; no workload reads the ADC")
        return measuring.fed(str(image), board, boards.variant(tuple(variant), board))
    if variant:
        raise SunsealError("`--variant` belongs to a workload; your own ELF is one variant already")
    return Machine(board, image, adc_v=adc_v)


@request
class Recorded:
    """Recorders of a run, and what drives its pins."""

    elf: Path = asked(
        "",
        "Your program, or a workload with its operands in `bench_input`.",
        Path,
        metavar="FILE.elf|WORKLOAD",
    )
    vcd: Path = asked("--out", "The waveform to write, .vcd or .fst.", Path, called="vcd")
    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    pin: Sequence[str] = asked(
        "--pin", "Pin to record, such as P1.0. Repeatable.", list[str], default=(), otherwise="all that move"
    )
    logic_only: bool = asked("--logic-only", "Pins alone, without components' states.", bool, default=False)
    exact: bool = asked("--exact", "Ticks of a picosecond, not as coarse as edges allow.", bool, default=False)
    symbol: Sequence[str] = asked("--symbol", "Variable to record. Repeatable.", list[str], default=())
    stimulus: Path | None = asked("--stimulus", "A dump whose signals drive pins.", Path, default=None)
    drive: Sequence[str] = asked("--drive", "SIGNAL=PIN of the stimulus. Repeatable.", list[str], default=())
    until: str | None = asked(UNTIL, default=None)
    time_s: float | None = asked(FOR, default=None)
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)
    variant: Sequence[str] = asked(VARIANT, default=())


@spread
def waveform_command(asked: Recorded) -> None:
    """Record pins, states and variables as a waveform (VCD or FST), for any viewer.

    States are numbers; a file of their names and one that applies it in GTKWave are written beside it.
    """
    writable(asked.vcd, ENDINGS)
    pairs = [text.partition("=") for text in asked.drive]
    if bad := [signal for signal, eq, name in pairs if not (signal and eq and name)]:
        raise SunsealError(f"--drive `{bad[0]}` is not written `SIGNAL=PIN`, such as `button=P1.1`")
    m = loaded(asked.elf, asked.board, asked.variant, asked.adc_v)
    stop = m.waveform(
        asked.vcd,
        asked.until,
        pins=asked.pin,
        symbols=asked.symbol,
        states=not asked.logic_only,
        exact=asked.exact,
        stimulus=asked.stimulus,
        signals={signal: name for signal, _, name in pairs},
        time_s=asked.time_s,
    )
    out.print(f"wrote {asked.vcd}: {units.show(m.time_s, 's')} of {m.device}, ended by {stop.kind}")


@request
class Served:
    """The board that a debugger gets."""

    elf: Path = asked(IMAGE)
    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    listen: str = asked("--listen", "Address for the debugger.", default="127.0.0.1:3333")
    off_s: float = asked(
        "--off", "Time without supply after each simulated loss.", read=units.time_s, typed="1s", default=1.0
    )
    adc_v: Mapping[int, float] | None = asked(ADC, default=None)


@spread
def gdb_command(asked: Served) -> None:
    """Serve a debugger: breakpoints, watchpoints, registers, through losses of supply.

    It is avr-gdb for an AVR, gdb-multiarch for MSP432 and STM32, and msp430-elf-gdb for an MSP430, which Debian's
    gdb-multiarch does not know; `sunseal doctor` says which is there and how to get it. `monitor help` in it
    lists what else it can do: reset, cut the supply, set its voltage.
    """
    from sunseal.machine.machine import Machine

    m = Machine(asked.board, asked.elf, adc_v=asked.adc_v)
    ended = m.engine.gdb(asked.listen, round(asked.off_s * 1e12), announced(m.device, asked.elf))
    err.print(f"the debugger has {ended}")


def announced(device: str, elf: Path) -> Callable[[str], None]:
    """Return what says where a debugger can come, once it can."""
    import signal

    from sunseal.cli import progress
    from sunseal.kit.doctor import debugger

    def listening(address: str) -> None:
        progress.leave()  # from here on the debugger tells
        err.print(
            f"waiting on {address}; in another terminal: "
            f"{debugger(device)} {escape(shlex.quote(str(elf)))} -ex 'target remote {address}'"
        )
        # From here on Ctrl-C ends this process, also in the middle of a debugger's session.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return listening
