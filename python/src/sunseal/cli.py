# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command line. Exit 0: done; 1: the answer is no; 2: the input is wrong."""

from __future__ import annotations

import contextlib
import difflib
import math
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from typer.exceptions import TyperException

from sunseal import __version__, _engine, boards, measuring, units
from sunseal.console import PAGE, Figure, Report, err, out, print_json, writable
from sunseal.constant_time_command import constant_time_command
from sunseal.coupon_command import coupon_app
from sunseal.errors import Stopped, SunsealError
from sunseal.fleet_command import fleet_command
from sunseal.hdl import hdl_app
from sunseal.node_command import node_app
from sunseal.planner.plan_command import plan_command
from sunseal.planner.supply_commands import lifetime_command, size_command
from sunseal.planner.tune_command import tune_command
from sunseal.traces.commands import trace_app

app = typer.Typer(
    help="Run a sensor node's real firmware on a cycle-exact simulated board and account for every joule.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON in SI base units instead of a table.")]
Board = Annotated[str, typer.Option("--board", help="A board of `sunseal boards`.")]
Variant = Annotated[
    list[str] | None,
    typer.Option("--variant", help="A hardware fact, such as mpy=none, mpy=16, mpy=32. Repeatable."),
]
Freq = Annotated[
    str | None,
    typer.Option(
        "--freq",
        help="CPU clock, such as 8MHz; else the board's crystal, or 8 MHz. Your own ELF has the clock that it sets.",
    ),
]
Vcc = Annotated[str | None, typer.Option("--vcc", help="Supply voltage, such as 2.2V; else the board's.")]
Power = Annotated[str, typer.Option("--power", help="Parameter set: datasheet, mane2014.")]
WorkloadName = Annotated[
    str | None,
    typer.Argument(
        metavar="[WORKLOAD|FILE.elf]",
        help="A workload of `sunseal workloads`, or a program of yours.",
    ),
]
TimingSwitch = Annotated[
    list[str] | None,
    typer.Option(
        "--timing",
        metavar="NAME=VALUE",
        help="A disputed row of the core's timing (docs/accuracy.md), against the default. Repeatable.",
    ),
]
ElfPath = Annotated[Path | None, typer.Option("--elf", help="Your own program instead of a workload.")]
FromSymbol = Annotated[str | None, typer.Option("--from", help="Symbol where the measurement begins.")]
ToSymbol = Annotated[str | None, typer.Option("--to", help="Symbol where it ends.")]
Marks = Annotated[
    bool,
    typer.Option("--marks", help="Measure from the rise to the fall of the board's trigger pin."),
]


def _timing(switches: list[str] | None) -> dict[str, str]:
    pairs = [switch.partition("=") for switch in switches or ()]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise SunsealError(
                f"--timing `{name}{equals}{value}` is not NAME=VALUE, such as `pc_write_one_less=true`",
                hint="docs/accuracy.md lists the switches of each core",
            )
    return {name: value for name, _, value in pairs}


def _freq(text: str | None) -> int | None:
    return None if text is None else units.freq_hz(text)


def _vcc(text: str | None) -> float | None:
    return None if text is None else units.voltage_v(text)


def _target(workload: str | None, elf: Path | None) -> tuple[str | None, Path | None]:
    """Take a first argument that is written like a file for a program of the user's own."""
    if workload is None or workload in boards.WORKLOADS:
        return workload, elf
    if elf is None and (workload.endswith(".elf") or os.sep in workload or Path(workload).is_file()):
        return None, Path(workload)
    return workload, elf


def _window(elf: Path | None, start: str | None, end: str | None, marks: bool) -> tuple[str, str] | None:
    if elf is None:
        if start or end or marks:
            raise SunsealError("`--from`, `--to` and `--marks` need a program of yours: add `--elf FILE`")
        return None
    if marks and (start or end):
        raise SunsealError("`--marks` and `--from`/`--to` exclude each other: choose one of them")
    if start and end:
        return start, end
    if start or end:
        given, lacks = ("--from", "--to") if start else ("--to", "--from")
        raise SunsealError(f"`{given}` needs its other end: add `{lacks} SYMBOL`")
    return None


@contextlib.contextmanager
def _counting(quiet: bool, what: str) -> Iterator[measuring.Progress | None]:
    """Show how far a run is, on stderr and only to a person."""
    if quiet or not err.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def report(cycles: int) -> None:
            progress.update(task, description=f"{what}: {cycles / 1e6:,.0f} M cycles")

        yield report


# --- What there is ---------------------------------------------------------------------------


@app.command("boards")
def boards_command(
    gaps: Annotated[
        bool, typer.Option("--gaps", help="List what of each device and part is not modelled instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the boards, their device and its voltage and clock limits."""
    if gaps:
        _show_gaps(as_json)
        return
    rows: list[dict[str, Any]] = []
    for name in boards.names("boards"):
        board = _engine.Board(str(boards.board_path(name)))
        levels = _engine.levels(str(boards.home() / "data" / "devices" / f"{board.device}.toml"))
        rows.append(
            {
                "board": name,
                "device": board.device,
                "parts": board.parts,
                "variants": [f"{k}={v}" for k, values in boards.variants(name).items() for v in values],
                "power_sets": [p for p in boards.names("power") if p.startswith(board.device)],
                "levels": [{"freq_max_hz": f, "vcc_min_v": v, "vcore": n} for f, v, n in levels],
            }
        )
    if as_json:
        print_json(rows)
        return
    table = Table("board", "device", "parts", "variants", "clock up to, from", "power sets", box=None)
    for row in rows:
        table.add_row(
            row["board"],
            row["device"],
            ", ".join(row["parts"]),
            "\n".join(row["variants"]),
            "\n".join(f"{p['freq_max_hz'] / 1e6:g} MHz, {p['vcc_min_v']:g} V" for p in row["levels"]),
            "\n".join(row["power_sets"]),
        )
    out.print(table)


def _show_gaps(as_json: bool) -> None:
    rows = [
        {"part": part, "block": block, "addresses": addresses, "what": what}
        for part in [*boards.names("devices"), *boards.names("parts")]
        for block, addresses, what in boards.gaps(part)
    ]
    if as_json:
        print_json(rows)
        return
    table = Table("part", "block", "addresses", "what happens, and why", box=None)
    for row in rows:
        table.add_row(*row.values())
    out.print(table)


@app.command("workloads")
def workloads_command(as_json: Json = False) -> None:
    """List the operations that `measure`, `profile` and `curve` know."""
    if as_json:
        print_json(
            [
                {"workload": w.name, "security_bits": w.security_bits, "summary": w.summary}
                for w in boards.WORKLOADS.values()
            ]
        )
        return
    table = Table("workload", "security", "what it does", box=None)
    for w in boards.WORKLOADS.values():
        level = f"{w.security_bits} bit" + (", legacy" if w.security_bits < 112 else "")
        table.add_row(w.name, level, w.summary)
    out.print(table)


# --- One operation ---------------------------------------------------------------------------


@app.command("measure")
def measure_command(
    workload: WorkloadName = None,
    board: Board = boards.DEFAULT_BOARD,
    variant: Variant = None,
    freq: Freq = None,
    vcc: Vcc = None,
    power: Power = measuring.DEFAULT_POWER,
    elf: ElfPath = None,
    start: FromSymbol = None,
    end: ToSymbol = None,
    marks: Marks = False,
    timing: TimingSwitch = None,
    unit: Annotated[
        bool, typer.Option("--unit", help="Also say what the measurement unit of Mane 2014 would have read.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure one operation: cycles, time, joules, memory, and whether its result is right."""
    workload, elf = _target(workload, elf)
    with _counting(as_json, workload or (elf.name if elf else "")) as progress:
        m = measuring.measure(
            workload,
            board=board,
            variant=variant or (),
            freq_hz=_freq(freq),
            vcc_v=_vcc(vcc),
            power=power,
            elf=elf,
            window=_window(elf, start, end, marks),
            unit=unit,
            timing=_timing(timing),
            progress=progress,
        )
    for lint in m.lints:
        err.print(f"[bold yellow]warning:[/] {escape(lint)}")
    if as_json:
        print_json(m.to_dict())
    else:
        _show_measurement(m)
    if m.result_valid is False:
        raise typer.Exit(1)


def _show_measurement(m: measuring.Measurement) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    valid = {
        True: "agrees with an independent implementation",
        False: "[bold red]wrong: an independent implementation disagrees[/]",
        None: "not checked: your own program",
    }[m.result_valid]
    low, high = m.uncertainty["energy_low_j"], m.uncertainty["energy_high_j"]
    table.add_row("workload", ", ".join(filter(None, (f"{escape(m.workload)} on {m.board}", m.variant))))
    table.add_row("operating point", f"{units.show(m.freq_hz, 'Hz')}, {m.vcc_v:g} V, {m.power_set}")
    table.add_row("cycles", f"{m.cycles:,}")
    table.add_row("time", units.show(m.time_s, "s"))
    table.add_row(
        "energy",
        f"{units.show(m.energy_j, 'J')}  ({units.show(low, 'J', 3)} to {units.show(high, 'J', 3)})",
    )
    for state, joules in sorted(m.energy_by_state_j.items(), key=lambda kv: -kv[1]):
        if joules > 0:
            table.add_row(f"  {state}", units.show(joules, "J"))
    if m.coprocessor is not None:
        own = m.coprocessor
        bracket = f"{units.show(own['energy_low_j'], 'J', 3)} to {units.show(own['energy_high_j'], 'J', 3)}"
        table.add_row("mote alone", units.show(own["mote_j"], "J"))
        table.add_row(
            "coprocessor",
            f"{units.show(own['energy_j'], 'J')}  ({bracket}), {own['clocks']:,} clocks, {own['toggles']:,} toggles",
        )
    if m.measurement_unit is not None:
        read = m.measurement_unit
        table.add_row(
            "measurement unit",
            f"{units.show(read['energy_j'], 'J')} in {read['cycles']:,.0f} cycles by {read['samples']:,} samples at "
            f"{read['sample_rate_hz'] / 1e6:g} MS/s; {read['error_j'] / m.energy_j:+.2%} beside the energy above, "
            f"{read['clipped'] / read['samples']:.0%} clipped",
        )
    if m.timing is not None:
        before = m.timing["default"]
        switches = ", ".join(f"{name}={value}" for name, value in m.timing["switches"].items())
        more = [new / (old or 1) - 1 for new, old in ((m.cycles, before["cycles"]), (m.energy_j, before["energy_j"]))]
        table.add_row(
            "by default",
            f"{before['cycles']:,} cycles, {units.show(before['energy_j'], 'J')}: {escape(switches)} makes it "
            f"{more[0]:+.4%} in cycles, {more[1]:+.4%} in joules",
        )
    table.add_row("flash, RAM, stack", f"{m.flash_bytes:,}, {m.ram_bytes:,}, {m.stack_bytes:,} bytes")
    table.add_row("toolchain", escape(m.toolchain))
    table.add_row("result", valid)
    out.print(table)


@app.command("curve")
def curve_command(
    workload: WorkloadName = None,
    board: Board = boards.DEFAULT_BOARD,
    variant: Variant = None,
    power: Power = measuring.DEFAULT_POWER,
    vcc: Annotated[list[str] | None, typer.Option("--vcc", help="Only these voltages. Repeatable.")] = None,
    elf: ElfPath = None,
    start: FromSymbol = None,
    end: ToSymbol = None,
    marks: Marks = False,
    timing: TimingSwitch = None,
    plot: Annotated[
        Path | None, typer.Option("--figure", "--plot", help="Draw the curve into this .svg or .png file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Weigh one run over every voltage and clock that the device allows."""
    writable(plot)
    workload, elf = _target(workload, elf)
    with _counting(as_json, workload or (elf.name if elf else "")) as progress:
        points = measuring.curve(
            workload,
            board=board,
            variant=variant or (),
            power=power,
            voltages_v=[units.voltage_v(v) for v in vcc or ()],
            elf=elf,
            window=_window(elf, start, end, marks),
            timing=_timing(timing),
            progress=progress,
        )
    if plot is not None:
        from sunseal import charts

        charts.curve(points, f"{workload or elf} on {board}").write(plot)
    if as_json:
        print_json(points)
        return
    table = Table("supply", "clock", "level", "time", "energy", "power", box=None)
    best = min(points, key=lambda p: p["energy_j"])
    for p in points:
        table.add_row(
            f"{p['vcc_v']:g} V",
            f"{p['freq_hz'] / 1e6:g} MHz",
            str(p["vcore"]),
            units.show(p["time_s"], "s"),
            units.show(p["energy_j"], "J") + (" (least)" if p is best else ""),
            units.show(p["power_w"], "W"),
            style="bold" if p is best else None,
        )
    out.print(table)
    if plot is not None:
        out.print(f"wrote {plot}")


@app.command("profile")
def profile_command(
    workload: WorkloadName = None,
    board: Board = boards.DEFAULT_BOARD,
    variant: Variant = None,
    freq: Freq = None,
    vcc: Vcc = None,
    power: Power = measuring.DEFAULT_POWER,
    elf: ElfPath = None,
    start: FromSymbol = None,
    end: ToSymbol = None,
    marks: Marks = False,
    timing: TimingSwitch = None,
    weight: Annotated[str, typer.Option("--weight", help="cycles or joules.")] = "cycles",
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw a flame graph into this file.")] = None,
    diff: Annotated[
        Path | None,
        typer.Option("--diff", help="Folded stacks of an earlier build to compare with."),
    ] = None,
    coverage: Annotated[
        Path | None,
        typer.Option("--coverage", help="Write how often each source line of your program ran (lcov) instead."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print folded stacks, ready for any flame graph tool, or draw the flame graph."""
    if weight not in ("cycles", "joules"):
        raise SunsealError(f"--weight `{weight}` is neither `cycles` nor `joules`")
    writable(svg, (".svg",))
    freq_hz, vcc_v = _freq(freq), _vcc(vcc)
    before = _read_folded(diff) if diff is not None else None
    workload, elf = _target(workload, elf)
    window = _window(elf, start, end, marks)
    if coverage is not None:
        _cover(coverage, elf, board, window)
        return
    with _counting(as_json, workload or (elf.name if elf else "")) as progress:
        folded: dict[str, float] = dict(
            measuring.profile(
                workload,
                board=board,
                variant=variant or (),
                elf=elf,
                window=window,
                timing=_timing(timing),
                progress=progress,
            )
        )
        if weight == "joules":
            m = measuring.measure(
                workload,
                board=board,
                variant=variant or (),
                freq_hz=freq_hz,
                vcc_v=vcc_v,
                power=power,
                elf=elf,
                window=window,
                timing=_timing(timing),
            )
            folded = measuring.in_joules({k: int(v) for k, v in folded.items()}, m.cycles, m.energy_j)
    unit = "J" if weight == "joules" else "cycles"
    if svg is not None:
        from sunseal import plots

        title = f"{workload or (elf.name if elf else '')} on {board}"
        measuring.write_atomic(svg, plots.flame_graph(folded, unit, title, before))
    if as_json:
        print_json({"unit": unit, "stacks": folded, "before": before})
    elif before is not None:
        _show_diff(folded, before, unit)
    elif svg is None:
        for stack in sorted(folded):
            value = folded[stack]
            sys.stdout.write(f"{stack} {value:.12g}\n")
    if svg is not None and not as_json:
        out.print(f"wrote {svg}")


def _cover(path: Path, elf: Path | None, board: str, window: tuple[str, str] | None) -> None:
    from sunseal.machine import Machine

    if elf is None:
        raise SunsealError("`--coverage` belongs to a program of yours; give its ELF")
    writable(path, (".info", ".lcov"))
    m = Machine(board, elf)
    if window is not None:
        m.run(until=window[0])
    measuring.write_atomic(path, m.coverage(window[1] if window else None))
    out.print(f"wrote {path}")


Image = Annotated[Path, typer.Argument(metavar="FILE.elf", help="Your program.")]
Until = Annotated[str | None, typer.Option("--until", help="Symbol where the run ends; else the program's end.")]
Seconds = Annotated[str | None, typer.Option("--for", help="Simulated time to run, such as 20ms.")]


app.command("constant-time")(constant_time_command)


@app.command("waveform")
def waveform_command(
    elf: Image,
    vcd: Annotated[Path, typer.Option("--out", help="The value change dump to write.")],
    board: Board = boards.DEFAULT_BOARD,
    pin: Annotated[list[str] | None, typer.Option("--pin", help="Pin to record, such as P1.0. Repeatable.")] = None,
    symbol: Annotated[list[str] | None, typer.Option("--symbol", help="Variable to record. Repeatable.")] = None,
    stimulus: Annotated[Path | None, typer.Option("--stimulus", help="A dump whose signals drive pins.")] = None,
    drive: Annotated[list[str] | None, typer.Option("--drive", help="SIGNAL=PIN of the stimulus. Repeatable.")] = None,
    until: Until = None,
    time: Seconds = None,
) -> None:
    """Record pins, states and variables as a value change dump (VCD), for any waveform viewer."""
    from sunseal.machine import Machine

    writable(vcd, (".vcd",))
    pairs = [text.partition("=") for text in drive or ()]
    if bad := [signal for signal, eq, name in pairs if not (signal and eq and name)]:
        raise SunsealError(f"--drive `{bad[0]}` is not written `SIGNAL=PIN`, such as `button=P1.1`")
    m = Machine(board, elf)
    stop = m.waveform(
        vcd,
        until,
        pins=pin or [_engine.Board(str(boards.board_path(board))).trigger],
        symbols=symbol or (),
        stimulus=stimulus,
        signals={signal: name for signal, _, name in pairs},
        time_s=None if time is None else units.time_s(time),
    )
    out.print(f"wrote {vcd}: {units.show(m.time_s, 's')} of {m.device}, ended by {stop.kind}")


@app.command("gdb")
def gdb_command(
    elf: Image,
    board: Board = boards.DEFAULT_BOARD,
    listen: Annotated[str, typer.Option("--listen", help="Address for the debugger.")] = "127.0.0.1:3333",
    off: Annotated[str, typer.Option("--off", help="How long the supply stays away after each simulated loss.")] = "1s",
) -> None:
    """Serve a debugger: breakpoints, watchpoints, registers, through losses of supply.

    It is avr-gdb for an AVR, gdb-multiarch for the MSP432, and msp430-elf-gdb for an MSP430, which Debian's
    gdb-multiarch does not know; `sunseal doctor` says which is there and how to get it. `monitor help` in it
    lists what else it can do: reset, cut the supply, set its voltage.
    """
    import signal

    from sunseal.doctor import debugger
    from sunseal.machine import Machine

    m = Machine(board, elf)

    def listening(address: str) -> None:
        err.print(
            f"waiting on {address}; in another terminal: "
            f"{debugger(m.device)} {escape(shlex.quote(str(elf)))} -ex 'target remote {address}'"
        )
        # From here on Ctrl-C ends this process, also in the middle of a debugger's session.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    ended = m.engine.gdb(listen, round(units.time_s(off, "--off") * 1e12), listening)
    err.print(f"the debugger has {ended}")


def _read_folded(path: Path) -> dict[str, float]:
    stacks: dict[str, float] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as e:
        raise SunsealError(f"the earlier profile `{path}` cannot be read: {e.strerror or e}") from e
    except UnicodeDecodeError as e:
        raise SunsealError(f"the earlier profile `{path}` is not text: {e}") from e
    for number, line in enumerate(lines, 1):
        stack, _, value = line.rpartition(" ")
        try:
            stacks[stack] = float(value)
        except ValueError:
            stack = ""
        if not stack or not 0 <= stacks[stack] < math.inf:
            raise SunsealError(
                f"`{path}` line {number} is not a folded stack: write `outer;inner 123`",
                hint="`sunseal profile ... > old.folded` makes such a file",
            )
    return stacks


def _show_diff(folded: dict[str, float], before: dict[str, float], unit: str) -> None:
    def leaves(stacks: dict[str, float]) -> dict[str, float]:
        sums: dict[str, float] = {}
        for stack, value in stacks.items():
            leaf = stack.rsplit(";", 1)[-1]
            sums[leaf] = sums.get(leaf, 0.0) + value
        return sums

    now, old = leaves(folded), leaves(before)
    table = Table("function", "before", "now", "change", box=None)
    for name in sorted(now | old, key=lambda n: -abs(now.get(n, 0) - old.get(n, 0))):
        a, b = old.get(name, 0.0), now.get(name, 0.0)
        if a != b:
            table.add_row(escape(name), f"{a:,.6g}", f"{b:,.6g}", f"{b - a:+,.6g} {unit}")
    total_a, total_b = sum(old.values()), sum(now.values())
    table.add_row("all", f"{total_a:,.6g}", f"{total_b:,.6g}", f"{total_b - total_a:+,.6g} {unit}")
    out.print(table)


# --- Planning --------------------------------------------------------------------------------

app.command("tune")(tune_command)
app.command("size")(size_command)
app.command("lifetime")(lifetime_command)
app.command("plan")(plan_command)


# --- Losses of power -------------------------------------------------------------------------


@app.command("inject")
def inject_command(
    elf: Image,
    board: Board = boards.DEFAULT_BOARD,
    start: Annotated[str, typer.Option("--from", help="Symbol where the stretch to cut begins.")] = "main",
    end: Annotated[str | None, typer.Option("--to", help="Symbol where it ends; else the program's halt.")] = None,
    at: Annotated[
        str, typer.Option("--at", help="cycles, writes (to non-volatile memory), or cycles of the stretch: 12,40-60.")
    ] = "cycles",
    every: Annotated[int, typer.Option("--every", min=1, help="Only each n-th of these points.")] = 1,
    until: Annotated[
        str | None, typer.Option("--until", help="Symbol that the program must reach after the reboot; else --to.")
    ] = None,
    golden: Annotated[
        list[str] | None,
        typer.Option("--golden", help="Symbol that must then hold what it holds uninterrupted. Repeatable."),
    ] = None,
    assertion: Annotated[
        list[str] | None,
        typer.Option("--assert", help="Symbol that must never be reached; else sunseal_assert_failed. Repeatable."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Python file: check_*(machine) must hold; setup(machine), call(machine)."),
    ] = None,
    again: Annotated[
        list[int] | None,
        typer.Option("--again", min=0, help="Cycles behind the reboot after which the power goes again. Repeatable."),
    ] = None,
    off: Annotated[str, typer.Option("--off", help="How long the supply stays away.")] = "1s",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="CPU cycles allowed after the reboot.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the noise with which RAM wakes.")] = 1,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first failure.")] = False,
    as_json: Json = False,
) -> None:
    """Cut the power at every cycle of a stretch, boot again and check that the program keeps its word.

    Exit status 1 if a cut is not survived: the earliest one is told with registers and last instructions.
    """
    from sunseal import injecting

    checks = injecting.checks(check) if check is not None else injecting.Checks([], None, None)
    with _bar(as_json, "cuts") as progress:
        done = injecting.inject(
            elf,
            board,
            start=start,
            end=end,
            call=checks.call,
            points=_points(at),
            every=every,
            setup=checks.setup,
            until=until,
            limit_cycles=limit,
            golden=golden or (),
            invariants=checks.invariants,
            assertions=assertion,
            again=again or (),
            off_s=units.time_s(off, "--off"),
            seed=seed,
            stop_at_first=first,
            progress=progress,
        )
    if as_json:
        print_json(done.to_dict())
    else:
        _show_injection(done)
    if not done.passed:
        raise typer.Exit(1)


def _points(text: str) -> Any:
    if text in ("cycles", "writes"):
        return text
    wanted: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            raise SunsealError(
                f"--at `{text}` is neither `cycles` nor `writes` nor numbers of cycles such as `12,40-60`"
            ) from None
        wanted.extend(range(first, last + 1))
    return wanted


_SHOWING: list[str] = []
"""Bars that are on the screen: a console takes one at a time."""


@contextlib.contextmanager
def _bar(quiet: bool, what: str) -> Iterator[Any]:
    """Show how many of a known number are done, on stderr and only to a person."""
    if quiet or not err.is_terminal:
        yield None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(what, total=None)
        _SHOWING.append(what)
        try:
            yield lambda done, of: progress.update(task, completed=done, total=of)
        finally:
            _SHOWING.clear()


def _show_injection(done: Any) -> None:
    out.print(f"{done.cuts:,} cuts in a stretch of {done.stretch_cycles:,} cycles, {done.failed:,} not survived")
    first = done.earliest
    if first is None:
        return
    out.print(f"[bold red]cycle {first.cycle}[/], in {escape(first.place)}: {escape(first.reason)}")
    sys.stdout.write(first.trace)
    width = 4
    named = [f"{name}={value:0{width}x}" for name, value in first.registers.items()]
    for i in range(0, len(named), 8):
        out.print("  " + " ".join(named[i : i + 8]), style="dim")
    for failure in done.failures[1:11]:
        out.print(f"cycle {failure.cycle}, in {escape(failure.place)}: {escape(failure.reason)}", style="dim")
    if done.failed > 11:
        out.print(f"and {done.failed - 11:,} more", style="dim")


@app.command("war")
def war_command(
    elf: Image,
    board: Board = boards.DEFAULT_BOARD,
    start: Annotated[str, typer.Option("--from", help="Symbol where the run is looked at first.")] = "main",
    end: Annotated[str | None, typer.Option("--to", help="Symbol where it ends; else the program's halt.")] = None,
    commit: Annotated[
        list[str] | None,
        typer.Option("--commit", help="Symbol at which progress is kept: a new region begins. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="Object that keeps itself consistent. Repeatable.")
    ] = None,
    check: Annotated[Path | None, typer.Option("--check", help="Python file with setup(machine).")] = None,
    as_json: Json = False,
) -> None:
    """Find non-volatile bytes that are read and then written between two commits.

    Code that is run again after a loss of power goes wrong there. Exit status 1 if there are any.
    """
    from sunseal import injecting

    setup = injecting.checks(check).setup if check is not None else None
    found = injecting.war(elf, board, start=start, end=end, commits=commit or (), ignore=ignore or (), setup=setup)
    if as_json:
        print_json([vars(h) for h in found])
    elif not found:
        out.print(f"no write after read in non-volatile memory of `{elf.name}`")
    else:
        table = Table("object", "address", "bytes", "read by", "written by", "times", "changing", box=None)
        for h in found:
            where = (escape(h.symbol or ""), f"{h.address:#07x}", str(h.bytes), escape(h.read_place))
            table.add_row(*where, escape(h.write_place), f"{h.count:,}", f"{h.changes:,}")
        out.print(table)
    if found:
        raise typer.Exit(1)


# --- Published figures -----------------------------------------------------------------------


@app.command("reproduce")
def reproduce_command(
    table_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="A table, such as mane2014/table-4.1.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every table there is.")] = False,
    report: Report = None,
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Print published figures beside ours, with ratio and verdict, and what each agreement is worth."""
    from sunseal import published

    if (table_id is None) != everything:
        raise SunsealError("`reproduce` takes one table or `--all`; the tables are " + ", ".join(published.ids()))
    writable(report, PAGE)
    writable(figure)
    wanted = published.ids() if table_id is None else [table_id]
    with _counting(as_json, "reproducing") as progress:
        tables = [published.reproduce(i, progress) for i in wanted]
    if report is not None or figure is not None:
        from sunseal import published_page

        if figure is not None:
            published_page.main(tables).write(figure)
        if report is not None:
            measuring.write_atomic(report, published_page.page(tables))
    if as_json:
        print_json([t.to_dict() for t in tables])
    else:
        for t in tables:
            _show_table(t)
        _show_classes(tables)
    if any(row.verdict in (published.NOT_MET, published.NOT_COMPUTED) for t in tables for row in t.rows):
        raise typer.Exit(1)


def _show_classes(tables: Sequence[Any]) -> None:
    from sunseal import published

    found = published.counts(tables)
    verdicts = [v for v in published.VERDICTS if any(of[v] for of in found.values())]
    table = Table("class", *verdicts, "what it is worth", box=None)
    for name, of in found.items():
        table.add_row(name.replace("_", " "), *(str(of[v] or "") for v in verdicts), published.CLASSES[name])
    out.print(table)
    for paper, confirmed in dict.fromkeys((t.id.partition("/")[0], t.confirmed) for t in tables):
        out.print(f"{paper}: {confirmed}")


def _show_table(t: Any) -> None:
    table = Table("", "published", "ours", "ratio", "verdict", "class", title=f"{t.id}: {t.title}", box=None)
    table.title_justify = "left"
    for row in t.rows:
        table.add_row(
            row.label,
            row.show(row.published),
            row.show(row.ours),
            f"{row.ratio:.3f}" if row.ratio is not None else "",
            row.verdict,
            row.class_name,
        )
    out.print(table)
    for row in t.rows:
        if row.note:
            out.print(f"  {row.label}: {row.note}", style="dim")
    out.print(f"  source: {t.source}\n", style="dim")


# --- The closed loop -------------------------------------------------------------------------


@app.command("simulate")
def simulate_command(
    scenario: Annotated[Path, typer.Argument(help="A scenario file (TOML).")],
    report: Report = None,
    figure: Figure = None,
    series: Annotated[Path | None, typer.Option("--series", help="Write the storage voltage over time as CSV.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Where the run is kept while it goes; else beside what is written."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from it: the same bytes come out.")] = False,
    functions: Annotated[
        bool, typer.Option("--functions", help="Tell the energy by function and component; takes longer.")
    ] = False,
    window: Annotated[
        str | None,
        typer.Option("--window", metavar="FROM..TO", help="A stretch of the run told step by step, as 60..61.5s."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a scenario: harvester, storage and node in a closed loop, down to the last joule.

    A run of more than half a minute is kept in a checkpoint, and so is one that Ctrl-C or SIGTERM stops. Exit status 1
    if the node never executed an instruction.
    """
    from sunseal import demo, simulation

    writable(report, PAGE)
    writable(figure)
    writable(series, (".csv",))
    writable(checkpoint, (".checkpoint",))
    beside = next((file.parent for file in (report, figure, series) if file is not None), Path())
    kept = checkpoint or beside / f"{scenario.stem}.checkpoint"
    if resume and not kept.is_file():
        raise SunsealError(f"there is no checkpoint `{kept}`; name it with `--checkpoint`, or leave `--resume` away")
    if kept.is_file() and not resume:
        err.print(f"`{escape(str(kept))}` keeps an earlier run (`--resume` goes on with it); this takes its place")
    loaded = simulation.load(scenario).observed(functions, None if window is None else _stretch(window))
    told = simulation.facts(loaded)
    options = [("--report", report), ("--figure", figure), ("--series", series), ("--checkpoint", checkpoint)]
    given = [text for name, file in options if file is not None for text in (name, str(file))]
    given += ["--functions"] * functions + (["--window", window] if window is not None else [])
    again = shlex.join(["sunseal", "simulate", str(scenario), *given])
    goes_on = f"`{kept}` keeps the run; `{again} --resume` goes on with it"
    keep = simulation.Checkpoint(kept, resume, told=lambda sentence: err.print(escape(sentence)))
    try:
        with _ended_by_sigterm(), demo.bar(err, as_json, told["duration_s"], told["start_s"]) as watch:
            played = simulation.play(loaded, watch, keep)
    except KeyboardInterrupt as e:
        raise Stopped(goes_on if kept.is_file() else f"nothing was written; `{again}` plays the same again") from e
    closing = played.closing()
    try:
        if series is not None:
            measuring.write_atomic(series, played.series_csv())
        if report is not None or figure is not None:
            from sunseal import plots
            from sunseal import report as reporting

            if figure is not None:
                plots.day_file(reporting.day_of(played), figure, played.record["scenario"])
            if report is not None:
                measuring.write_atomic(report, reporting.scenario_page(played, closing))
    except OSError as e:
        where = os.fsdecode(e.filename) if e.filename else "the output"
        raise SunsealError(
            f"`{where}` cannot be written: {e.strerror or e}", hint=goes_on if kept.is_file() else None
        ) from e
    kept.unlink(missing_ok=True)
    if as_json:
        print_json(closing)
    else:
        out.print(demo.closing_table(closing))
    if (never := played.never_ran()) is not None:
        err.print(escape(never))
        raise typer.Exit(1)


def _stretch(text: str) -> tuple[float, float]:
    """Read two times of a run, in seconds where no unit stands."""
    ends = text.split("..")
    if len(ends) != 2:
        raise SunsealError(f"`--window {text}` is no stretch of a run: write FROM..TO, as in 60..61.5s")

    def read(end: str) -> float:
        with contextlib.suppress(ValueError):
            return float(end)
        return units.time_s(end, "--window")

    return read(ends[0]), read(ends[1])


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end what runs the way Ctrl-C does, with what is left said."""
    import signal

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


app.command("fleet")(fleet_command)


@app.command("demo")
def demo_command(
    folder: Annotated[Path, typer.Option("--out", help="Where report, capture and series are written.")] = Path(
        "out/demo"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same bytes.")] = 1,
    scenario: Annotated[Path | None, typer.Option("--scenario", help="Another scenario than the one built in.")] = None,
    board: Annotated[str, typer.Option("--board", help="Whose built-in scenario is played.")] = boards.DEFAULT_BOARD,
    as_json: Json = False,
) -> None:
    """Run one day of a node against the real server, and write the report."""
    from sunseal import demo

    if scenario and board != boards.DEFAULT_BOARD:
        raise SunsealError("--scenario names its board itself; leave out --board")
    result = demo.run(folder, seed=seed, scenario=scenario, console=err, quiet=as_json, board=board)
    if as_json:
        print_json(result)
    else:
        out.print(demo.closing_table(result))
        out.print(f"report: {folder / 'report.html'}")
    if result["verified"] == 0 or any(a["verdict"] == 0 for a in result["intruder"]):
        raise typer.Exit(1)


# --- Traces of instruments and harvesters ----------------------------------------------------

app.add_typer(trace_app, name="trace")
app.add_typer(coupon_app, name="coupon")
app.add_typer(hdl_app, name="hdl")


# --- Services --------------------------------------------------------------------------------

_PASS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command("serve", context_settings=_PASS)
def serve_command(ctx: typer.Context) -> None:
    """Run the verifying server (`sunseal serve --help` lists its options)."""
    _exec_server("serve", ctx.args)


@app.command("gateway", context_settings=_PASS)
def gateway_command(ctx: typer.Context) -> None:
    """Run the gateway between the radio and the server (`--help` lists its options)."""
    _exec_server("gateway", ctx.args)


@app.command("token", context_settings=_PASS)
def token_command(ctx: typer.Context) -> None:
    """Make, list or end tokens in the server's database (`--help` lists its options)."""
    _exec_server("token", ctx.args)


app.add_typer(node_app, name="node")


def _exec_server(role: str, args: list[str]) -> None:
    from sunseal.doctor import server_path

    sys.stdout.flush()
    program = str(server_path())
    # `--json` holds on every command; the server's one line of output is JSON in any case.
    os.execv(program, [program, role, *(a for a in args if a != "--json")])


# --- Tools and figures -----------------------------------------------------------------------


@app.command("doctor")
def doctor_command(as_json: Json = False) -> None:
    """Say which tools are there, which are missing, and how to get them."""
    from sunseal import doctor

    findings = doctor.examine()
    missing = doctor.required_missing(findings)
    if as_json:
        print_json([vars(f) for f in findings])
    else:
        for f in findings:
            if f.ok:
                out.print(f"[green]ok[/]       {escape(f.name)} {f.version}  [dim]{escape(f.place)}[/]")
            else:
                out.print(f"[yellow]missing[/]  {escape(f.name)}: {escape(f.get)}  [dim]({f.needed_for})[/]")
        if missing:
            out.print(f"not ready: {', '.join(missing)} missing")
        else:
            out.print("ready: `sunseal demo` has all it needs")
    if missing:
        raise typer.Exit(1)


@app.command("bench")
def bench_command(
    part: Annotated[
        str | None, typer.Argument(metavar="[engine|loop|year|fleet|planner|crypto]", help="Only this part.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="With `crypto`: say whether the page is current, change nothing.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="With `loop`: write docs/reference/loop.md anew, year and fleet in it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the simulator's own speed, and what cryptography costs: the tracked figures.

    `bench crypto` writes docs/reference/crypto.md anew.
    """
    from sunseal import bench, bench_loop

    if page and part != "loop":
        raise SunsealError("`--page` belongs to `bench loop`")

    if check and part != "crypto":
        raise SunsealError("`--check` belongs to `bench crypto`")
    if part == "crypto" and not as_json:
        _crypto_page(check)
        return
    with contextlib.nullcontext() if as_json else err.status("measuring"):
        rows = [row for name in ((part, "year", "fleet") if page else (part,)) for row in bench.run(name)]
    if page:
        measuring.write_atomic(boards.home() / bench_loop.PAGE, bench_loop.page(rows))
    if as_json:
        print_json(rows)
        return
    table = Table("figure", "value", "unit", "conditions", box=None)
    for row in rows:
        table.add_row(row["name"], f"{row['value']:,.4g}", row["unit"], row["conditions"])
    out.print(table)


def _crypto_page(check: bool) -> None:
    from sunseal import crypto_table

    path = boards.home() / crypto_table.PATH
    with err.status("measuring") as status:
        page = crypto_table.page(lambda what: status.update(f"measuring {escape(what)}"))
    if not check:
        measuring.write_atomic(path, page)
        out.print(f"wrote {crypto_table.PATH}")
        return
    written = path.read_text(encoding="utf-8") if path.is_file() else ""
    if written == page:
        out.print(f"{crypto_table.PATH} is current")
        return
    names = ", ".join(crypto_table.differing(written, page))
    out.print(f"{crypto_table.PATH} is not current: {escape(names)}; run `sunseal bench crypto`")
    raise typer.Exit(1)


def _version(value: bool) -> None:
    if value:
        out.print(f"sunseal {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Run a sensor node's real firmware on a cycle-exact simulated board; account for every joule."""


def _one_line(text: str) -> str:
    """Drop the excerpt that a TOML parser draws under its message."""
    return " ".join(line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*\d*\s*\|", line))


def _fail(sentence: str, hint: str | None = None) -> int:
    sentence = _one_line(sentence)
    err.print(f"[bold red]error:[/] {escape(sentence)}")
    if hint:
        err.print(f"[bold]hint:[/] {escape(hint)}")
    return 2


ALIVE_AFTER_S = 1.0
AGAIN = "nothing was written; run the same command again"
INTERRUPTED = 130
"""128 and the number of SIGINT; Typer returns it for a Ctrl-C that nobody caught."""


def _stopped(told: str) -> int:
    err.print(f"stopped; {escape(told)}")
    return INTERRUPTED


def _usage(e: TyperException, args: Sequence[str]) -> int:
    sentence = getattr(e, "format_message", lambda: str(e))()
    sentence = sentence[:1].lower() + sentence[1:].rstrip(".")
    hint = "`sunseal --help` lists the commands"
    commands = [c.name or "" for c in app.registered_commands] + [str(g.name) for g in app.registered_groups]
    if args and args[0] in commands:
        hint = f"`sunseal {args[0]} --help` lists its options"
    elif args and (near := difflib.get_close_matches(args[0], commands, n=1)):
        hint = f"did you mean `sunseal {near[0]}`?"
    return _fail(sentence, hint)


def run(args: Sequence[str]) -> int:
    """Run a command and return its exit status."""
    with _alive("--json" in args):
        return _run(args)


@contextlib.contextmanager
def _alive(quiet: bool) -> Iterator[None]:
    """Show a person the cycles of any machine that runs for more than a moment and that no other bar tells of."""
    if quiet or not err.is_terminal:
        yield
        return
    from sunseal import machine

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    progress = Progress(*columns, console=err, transient=True)
    task = progress.add_task("", total=None)
    began = time.monotonic()

    def tell(cycles: int) -> None:
        if time.monotonic() - began > ALIVE_AFTER_S and not _SHOWING:
            progress.start()
            progress.update(task, description=f"{cycles / 1e6:,.0f} M cycles")

    machine.watching = tell
    try:
        yield
    finally:
        machine.watching = None
        progress.stop()


def _run(args: Sequence[str]) -> int:
    command = typer.main.get_command(app)
    try:
        status = command(args=list(args), prog_name="sunseal", standalone_mode=False)
    except SunsealError as e:
        return _fail(str(e), e.hint)
    except _engine.EngineError as e:
        return _fail(str(e))
    except Stopped as e:
        return _stopped(str(e))
    except typer.Abort:
        return _stopped(AGAIN)
    except TyperException as e:
        return _usage(e, args)
    except KeyboardInterrupt:
        return _stopped(AGAIN)
    except SystemExit:
        # Typer ends like this when nobody reads the output any more, as behind `| head -1`.
        return 0
    except OSError as e:
        place = f"`{os.fsdecode(e.filename)}`" if e.filename else "the output"
        return _fail(f"{place} cannot be read or written: {e.strerror or e}")
    if status == INTERRUPTED:
        return _stopped(AGAIN)
    return status if isinstance(status, int) else 0


def main() -> None:
    """Enter from the console script."""
    if sys.stdout is None:
        sys.exit(_fail("standard output is closed, so there is nowhere to write the answer: open it, or name a file"))
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # what is left has no reader
    except OSError as e:
        # Some Pythons keep what they could not write and say so again.
        status = status if status == 2 else _fail(f"standard output cannot be written: {e.strerror or e}")
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    sys.exit(status)
