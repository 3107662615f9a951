# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal run`: a program on a board as on a bench."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from sunseal._engine import EngineError
from sunseal.catalog import boards, coprocessor, units
from sunseal.cli.console import Json, err, print_json, writable
from sunseal.cli.spread import given_of, spread
from sunseal.errors import SunsealError
from sunseal.requests.asking import ALLOW, BOARD, FOR, SEED, VCC, adc_channel, asked, once, request

if TYPE_CHECKING:
    from sunseal.machine.running import Bench, Ended

LOOK_S = 0.02
"""Between two looks at the keyboard of a program that stands still."""

OFF_S = 1.0
"""Time for which the supply stays away after each loss that a debugger asks for."""

LINGER_S = 1.0
"""Time for which the last words wait in the pseudo-terminal for their reader, and a program for the next terminal."""

BARE_CAPACITOR = re.compile(r"[\d.]+ ?[a-zµ]?F(@[\d.]+ ?[a-zµ]?W)?")
"""A capacitor in place of a scenario, with the power that fills it."""

LEAK_OHM_F = 100.0
"""Resistance times capacitance of a capacitor that leaks I = 0.01 C V, the usual limit of tantalum and electrolytic."""

PENDING_BYTES = 4096
"""Bytes that are kept for a terminal that has not been opened yet; what comes on top is lost, as on a real line."""


@request
class Ends:
    """Places where a run ends, and the status of each."""

    within: float | None = asked(FOR, default=None)
    until: Sequence[str] = asked(
        "--until", "Symbol or address at which the run ends. Repeatable.", list[str], default=()
    )
    until_uart: str | None = asked("--until-uart", "Text at which the run ends.", default=None)
    status: str | None = asked("--exit", "Variable whose low byte is the exit status at the end.", default=None)


@request
class Line:
    """The serial line between the program and the terminal."""

    uart: str | None = asked(
        "--uart", "Serial interface to talk to.", default=None, otherwise="the one that the board leads out"
    )
    baud: int | None = asked(
        "--baud",
        "Bit rate at which the terminal types and reads, 8N1.",
        int,
        default=None,
        otherwise="as the program set its UART",
    )
    typed: Path | None = asked(
        "--input", "File to type into the UART; - is standard input.", Path, called="typed", default=None
    )
    typed_at_s: float = asked(
        "--input-at", "Simulated time from which it is typed.", read=units.time_s, typed="100ms", default=0.1
    )
    pty: bool = asked(
        "--pty", "Lead the UART to a pseudo-terminal, in real time, for your terminal program.", bool, default=False
    )


@request
class Inputs:
    """Inputs that are connected to the board."""

    adc: Sequence[str] = asked(
        "--adc", "CHANNEL=1.2V or CHANNEL=FILE.csv (seconds, volts). Repeatable.", list[str], default=()
    )
    pin: Sequence[str] = asked(
        "--pin",
        "P1.3=0, =1, =toggle@1Hz, =FILE.csv (seconds, 0 or 1) or =FILE.vcd:SIGNAL. Repeatable.",
        list[str],
        default=(),
    )
    i2c: Sequence[str] = asked(
        "--i2c", "[SERIAL:]0x48=tmp102:21.5C, a device at an I2C address. Repeatable.", list[str], default=()
    )
    spi: Sequence[str] = asked(
        "--spi", "SERIAL:P6.7=fm25v02, a device that a pin selects. Repeatable.", list[str], default=()
    )

    def buses(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield each bus with its devices."""
        yield from (("i2c", self.i2c), ("spi", self.spi))

    def connect(self, bench: Bench) -> None:
        """Connect everything to a bench."""
        once((adc_channel(given)[0] for given in self.adc), "--adc names channel")
        once((given.partition("=")[0] for given in self.pin), "--pin names")
        for given in self.adc:
            _connect(bench, given)
        for given in self.pin:
            _drive(bench, given)
        for bus, devices in self.buses():
            for given in devices:
                bench.put(bus, given)


@request
class Records:
    """Files that a run leaves."""

    pin_log: Path | None = asked("--pin-log", "Write every edge of an output pin into this .csv.", Path, default=None)
    vcd: Path | None = asked("--vcd", "Write pins and states into this .vcd or .fst.", Path, default=None)
    vcd_pin: Sequence[str] = asked(
        "--vcd-pin", "A pin in it. Repeatable.", list[str], default=(), otherwise="all that move"
    )
    tracks: Path | None = asked(
        "--tracks", "Write states, pins, supply, joules over time for Perfetto.", Path, default=None
    )
    trace: Path | None = asked(
        "--trace", "Write each instruction with its registers into this .csv or .parquet.", Path, default=None
    )
    frames: Path | None = asked(
        "--frames --pcap", "Write what radios sent into this .csv or .pcap.", Path, default=None
    )

    def __post_init__(self) -> None:
        """Refuse a file that could not be written before anything is run for it."""
        writable(self.pin_log, (".csv",))
        writable(self.vcd, (".vcd", ".fst"))
        writable(self.tracks, (".pftrace", ".perfetto-trace"))
        writable(self.trace, (".csv", ".parquet"))
        writable(self.frames, (".csv", ".pcap"))

    def keep(self, bench: Bench) -> None:
        """Have a bench keep what will be written."""
        if self.frames is not None:
            bench.keep_frames()
        if self.trace is not None:
            bench.keep_trace()

    def write(self, bench: Bench) -> None:
        """Write what a bench has kept; the VCD was written while it ran."""
        if self.pin_log is not None:
            rows = (f"{at_s!r},{name},{int(level)}\n" for at_s, _, name, level in bench.machine.pin_log())
            self.pin_log.write_text("time_s,pin,level\n" + "".join(rows), encoding="utf-8")
        if self.trace is not None:
            _write_trace(bench, self.trace)
        if self.frames is not None:
            from sunseal.machine.air import write_frames

            write_frames(self.frames, bench.frames, lambda _: bench.board)


@request
class Supply:
    """Supply that feeds the board, and the power set that weighs it."""

    scenario: Path | None = asked(
        "--supply",
        "Feed it from a scenario's store and light, or from a bare capacitor, `100uF`, with a steady income, "
        "`100uF@1mW`; for --for.",
        Path,
        metavar="SCENARIO.toml|100uF[@1mW]",
        called="scenario",
        default=None,
    )
    vcc_v: float | None = asked(VCC, default=None)
    power: str | None = asked("--power", "Power set for the joules.", default=None)
    allow: Sequence[str] = asked(ALLOW, default=())


@spread
def run_command(
    ctx: typer.Context,
    elf: Annotated[Path, typer.Argument(metavar="FILE", help="Your program, an ELF; or several on one air, a TOML.")],
    board: Annotated[str, BOARD] = boards.DEFAULT_BOARD,
    *,
    ends: Ends,
    line: Line,
    inputs: Inputs,
    records: Records,
    gdb: Annotated[
        str | None, typer.Option("--gdb", metavar="HOST:PORT", help="Serve a debugger, which runs the program.")
    ] = None,
    supply: Supply,
    seed: Annotated[int | None, SEED] = None,
    as_json: Json = False,
) -> None:
    """Run a program as on a bench: its UART on your terminal, voltages and levels at its inputs.

    What it writes goes to standard output, how it ended to standard error. Without `--for`, `--until` or `--until-uart`
    it runs until it stops for good. The exit status is 0, or what the program says by semihosting or `--exit`; 1
    where it faults, is reset again and again, or misses its end.
    """
    from sunseal.cli import progress

    if sys.stdout.isatty() and not as_json:
        progress.leave()  # what the program writes shows that it runs
    given = [name for group in (ends, line, inputs, records, supply) for name in given_of(group)]
    given += ["--gdb"] * (gdb is not None)
    if elf.suffix == ".toml":
        if refused := [name for name in given if name not in ("--for", "--until-uart", "--frames")]:
            raise SunsealError(f"`{refused[0]}` is of one program alone, and `{elf}` names several on an air")
        _on_air(elf, ends, records.frames, seed, as_json)
        return
    if records.vcd_pin and records.vcd is None:
        raise SunsealError("`--vcd-pin` belongs to `--vcd`")
    if supply.scenario is not None:
        if refused := [
            name for name in given if name not in ("--for", "--adc", "--i2c", "--spi", "--supply", "--vcc", "--power")
        ]:
            raise SunsealError(
                f"`{refused[0]}` is of a bench with a steady supply, and `--supply` feeds the program from a store "
                "that may fail; leave one out"
            )
        source = ctx.get_parameter_source("board")
        own = source is None or source.name == "DEFAULT"  # else the scenario's board
        bare = str(supply.scenario)
        if BARE_CAPACITOR.fullmatch(bare):
            told = _from_capacitor(bare, supply, elf, board, ends.within)
        else:
            told = _as_fed(supply, elf, None if own else board, ends.within)
        if seed is not None:
            told["seed"] = seed
        told["adc"] = {**told.get("adc", {}), **_voltages(inputs.adc)}
        for bus, devices in inputs.buses():
            told[bus] = [*told.get(bus, ()), *devices]
        _fed(told, supply.scenario, as_json)
        return
    if records.tracks is not None and (records.trace is not None or records.vcd is not None):
        other = "--trace" if records.trace is not None else "--vcd"
        raise SunsealError(f"`--tracks` cannot stand beside `{other}`: run it once with each, the run is the same")
    if records.trace is not None and records.vcd is not None:
        raise SunsealError("`--trace` cannot stand beside `--vcd`: run it once with each, the run is the same")
    if gdb is not None:
        running = [
            n for n in given if n in ("--for", "--until", "--until-uart", "--pty", "--vcd", "--trace", "--tracks")
        ]
        running += [f"--pin {level}" for level in inputs.pin if not level.endswith(("=0", "=1"))]
        if running:
            raise SunsealError(
                f"`{running[0]}` cannot stand beside `--gdb`: the debugger runs the program, not the bench"
            )
    _on_a_bench(elf, board, ends, line, inputs, records, gdb, supply, seed, as_json)


def _on_a_bench(
    elf: Path,
    board: str,
    ends: Ends,
    line: Line,
    inputs: Inputs,
    records: Records,
    gdb: str | None,
    supply: Supply,
    seed: int | None,
    as_json: bool,
) -> None:
    from sunseal.machine.running import Bench

    bench = Bench(
        board,
        elf,
        uart=line.uart,
        baud=line.baud,
        power=supply.power,
        vcc_v=supply.vcc_v,
        seed=seed or 0,
        allow=supply.allow,
    )
    inputs.connect(bench)
    if ends.status is not None:
        bench.machine.address(ends.status)
    records.keep(bench)
    if line.typed is not None:
        bench.send(_read(line.typed), line.typed_at_s)
    shown = line.uart if line.uart is not None else bench.uart
    if not as_json:
        bench.on_output = lambda name, data: _show(name, data, shown)
    recording: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if records.vcd is not None:
        recording = bench.recording(records.vcd, records.vcd_pin)
    elif records.tracks is not None:
        recording = bench.tracking(records.tracks)
    with _terminal(bench, shown) if line.pty else contextlib.nullcontext(), recording:
        ended = _debugged(bench, elf, gdb) if gdb is not None else _play(bench, ends)
    records.write(bench)
    code = ended.exit_status
    if ends.status is not None and ended.why != "failed":
        code = bench.machine.read_int(ends.status) & 0xFF
    _tell(bench, ended, shown, line.baud, as_json)
    if code:
        raise typer.Exit(code)


def _places(bench: Bench, given: Sequence[str]) -> list[str | int]:
    """Read symbols, which the program must have, and addresses such as 0x5c00."""
    places: list[str | int] = []
    for text in given:
        try:
            places.append(int(text, 16) if text.startswith("0x") else text)
        except ValueError:
            raise SunsealError(f"--until `{text}` is no address: write hexadecimal digits behind 0x") from None
    bench.machine.addresses(places)
    return places


def _write_trace(bench: Bench, path: Path) -> None:
    import pandas as pd

    rows = pd.DataFrame(bench.trace)
    if path.suffix == ".csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_parquet(path, index=False)


def _play(bench: Bench, ends: Ends) -> Ended:
    from sunseal.machine.running import Ended

    places = _places(bench, ends.until)
    try:
        return bench.run(places or None, until_uart=ends.until_uart, within=ends.within)
    except KeyboardInterrupt:
        return Ended("time", "stopped by hand")
    except LineClosedError:
        raise
    except EngineError as e:
        return Ended("failed", str(e), 1)
    except SunsealError as e:
        if not ends.until and ends.until_uart is None:
            raise
        return Ended("failed", str(e), 1)


def _on_air(path: Path, ends: Ends, frames: Path | None, seed: int | None, as_json: bool) -> None:
    """Run the programs of a file on one air; each line that one writes has its name in front."""
    from sunseal.machine import network

    net = network.load(path, seed)
    lines = _Lines()
    if not as_json:
        net.on_output = lines.heard
    failed = by = why = None
    try:
        by = net.run(until_uart=ends.until_uart, within=ends.within)
    except KeyboardInterrupt:
        why = "stopped by hand"
    except (EngineError, SunsealError) as e:
        if net.air.time_s == 0:
            raise
        failed = str(e)
    lines.rest()
    if frames is not None:
        net.write_frames(frames)
    if as_json:
        nodes = {}
        for name, b in net.nodes.items():
            wrote = {uart: data.decode("utf-8", errors="replace") for uart, data in b.received.items()}
            radio = b.machine.radio
            sent = {} if radio is None else {"sent": radio.sent, "received": radio.received}
            nodes[name] = {"board": b.board, "cycles": b.machine.cycles, "resets": b.resets, "uart": wrote, **sent}
        told = {"time_s": net.air.time_s, "ended_by": by, "failed": failed, "frames": len(net.frames), "nodes": nodes}
        print_json("run-network", told)
    else:
        why = why or failed or ("the time is over" if by is None else f"{by} wrote `{ends.until_uart}`")
        err.print(f"{'[bold red]failed:[/]' if failed else 'ended:'} {escape(why)}")
        err.print(f"{units.show(net.air.time_s, 's')}, {len(net.nodes)} nodes, {len(net.frames)} frames on the air")
    if failed is not None:
        raise typer.Exit(1)


class _Lines:
    """Whole lines of several nodes, each with its node's name in front."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], str] = {}

    def heard(self, name: str, serial: str, data: bytes) -> None:
        *whole, rest = (self._begun.get((name, serial), "") + data.decode("utf-8", errors="replace")).split("\n")
        self._begun[name, serial] = rest
        for line in whole:
            print(f"{name}: {line.rstrip(chr(13))}", flush=True)

    def rest(self) -> None:
        for (name, _), line in self._begun.items():
            if line:
                print(f"{name}: {line}", flush=True)


def _debugged(bench: Bench, elf: Path, listen: str) -> Ended:
    """Let a debugger run the program, with what is connected to its inputs."""
    from sunseal.cli.debug import announced
    from sunseal.machine.running import Ended

    how = bench.machine.engine.gdb(listen, int(OFF_S * 1e12), announced(bench.machine.device, elf))
    bench.collect()
    return Ended("debugger", f"the debugger has {how}")


def _from_capacitor(bare: str, supply: Supply, elf: Path, board: str, within: float | None) -> dict[str, Any]:
    """Return the scenario of a program on a capacitor that nothing but a steady power fills, and say what it takes."""
    from sunseal import _engine

    capacitance, _, income = bare.partition("@")
    capacitance_f = units.parse(capacitance, "F", "--supply")
    income_w = units.parse(income, "W", "--supply") if income else 0.0
    own = boards.board(board)["power"]
    begins_v = own["vcc_v"] if supply.vcc_v is None else supply.vcc_v
    lasts_s = 60.0 if within is None else within
    store = {"capacitor": "tantalum-330u", "plain": True, "capacitance_f": capacitance_f}
    store |= {"leak_ohm": LEAK_OHM_F / capacitance_f, "output": "direct", "initial_v": begins_v}
    if income:
        store |= {"charger": "diode", "diode_v": 0.0, "v_max_v": begins_v}
    tables: dict[str, Any] = {"name": f"{elf.name} on {board}", "board": board, "firmware": str(elf.absolute())}
    tables |= {"duration_s": lasts_s, "supply": store, "power": {"set": supply.power or own["set"]}}
    if income:
        tables["harvest"] = {"constant_w": income_w}
    err.print(
        f"assumed: {units.show(capacitance_f, 'F')} of 60 mohm that loses 1 % of its charge a second, the limit of "
        f"tantalum and electrolytic capacitors; full at {begins_v:g} V (`--vcc`), the rail is the store; "
        f"{units.show(income_w, 'W') + ' comes in, all of it stored' if income else 'nothing comes in'}; "
        f"{units.show(lasts_s, 's')} (`--for`). A scenario says anything else.",
        markup=False,
    )
    told: dict[str, Any] = json.loads(_engine.Scenario.from_json(json.dumps(tables)).to_json())
    return told


def _as_fed(supply: Supply, elf: Path, board: str | None, within: float | None) -> dict[str, Any]:
    """Return a scenario with a program of one's own in place of the scenario's."""
    from sunseal.catalog import places
    from sunseal.loop import simulation
    from sunseal.schemas import keypaths

    assert supply.scenario is not None
    loaded = simulation.load(supply.scenario, elf)
    places.look_beside(loaded.folder)
    told = simulation.facts(loaded)
    told |= keypaths.from_folder({bus: told.get(bus, []) for bus in ("i2c", "spi")}, "scenario", loaded.folder)
    if board is not None:
        told["board"] = board
    told["name"] = f"{elf.name} on {told['board']}"
    if within is not None:
        told["duration_s"] = within
    if supply.vcc_v is not None:
        told["power"]["vcc_v"] = supply.vcc_v
    if supply.power is not None:
        told["power"]["set"] = supply.power
    return told


def _voltages(given: Sequence[str]) -> dict[str, float | str]:
    """Read `--adc` as a scenario has it."""
    told: dict[str, float | str] = {}
    once((adc_channel(text)[0] for text in given), "--adc names channel")
    for text in given:
        channel, what = adc_channel(text)
        file = what.endswith(".csv")
        told[str(channel)] = what if file else units.parse(what, "V", f"--adc {channel}", zero=True)
    return told


def _fed(told: dict[str, Any], supply: Path, as_json: bool) -> None:
    """Run a program on what a scenario's store and light give, by the closed loop."""
    from sunseal import _engine
    from sunseal.catalog import places
    from sunseal.cli import day
    from sunseal.loop import simulation
    from sunseal.report.closing import closing_table

    bare = BARE_CAPACITOR.fullmatch(str(supply)) is not None
    folder = Path.cwd() if bare else boards.scenario_path(supply).parent
    with day.bar(err.console, as_json, told["duration_s"], told["start_s"]) as watch, places.beside(folder):
        try:
            played = simulation.play(_engine.Scenario.from_json(json.dumps(told)), watch)
            if bare and played.untouched():  # what a radio that nobody speaks to takes is no part of the question
                err.print("assumed: no radio, as the program never spoke to the board's", markup=False)
                played = simulation.play(_engine.Scenario.from_json(json.dumps(told | {"radio": "none"})), watch)
        except EngineError as e:
            # What was put together here has no file of its own.
            raise SunsealError(str(e).replace("scenario : ", f"scenario {supply}: ", 1)) from e
    closing, written = played.closing(), played.record["log"]
    never = played.never_ran()
    if as_json:
        print_json("run-supply", {**closing, "uart": written})
    else:
        sys.stdout.write(written)
        sys.stdout.flush()
        err.print(closing_table(closing))
        if never is not None:
            err.print(escape(never))
    if never is not None:
        raise typer.Exit(1)


def _tell(bench: Bench, ended: Ended, shown: str | None, baud: int | None, as_json: bool) -> None:
    # A supply or clock that the power set does not cover is a gap in the joules, not in the run.
    try:
        energy_j, gap = bench.energy_j, None
    except (SunsealError, EngineError) as e:
        energy_j, gap = None, str(e)
    if as_json:
        print_json(
            "run",
            {
                "board": bench.board,
                "ended": ended.why,
                "why": ended.detail,
                "time_s": bench.time_s,
                "cycles": bench.machine.cycles,
                "energy_j": energy_j,
                "energy_gap": gap,
                "device_energy_j": bench.machine.device_energy_j,
                "resets": bench.resets,
                "last_reset": bench.machine.last_reset(),
                "uart": {name: data.decode("utf-8", errors="replace") for name, data in bench.received.items()},
                "semihosting": bench.console.decode("utf-8", errors="replace"),
                "uart_baud": bench.machine.baud,
                "uart_framing_errors": bench.machine.framing_errors,
                "lints": bench.machine.lints(),
            },
        )
        return
    sys.stdout.flush()
    if shown is not None and not bench.received.get(shown, b"\n").endswith(b"\n"):
        err.print()  # the program was in the middle of a line
    drawn_in = "chip and coprocessor" if coprocessor.fitted(bench.board) else "the chip"
    joules = f"energy unknown ({gap})" if energy_j is None else f"{units.show(energy_j, 'J')} in {drawn_in}"
    first = "[bold red]failed:[/]" if ended.why == "failed" else "ended:"
    err.print(f"{first} {escape(ended.detail)}")
    err.print(f"{units.show(bench.time_s, 's')}, {bench.machine.cycles:,} cycles, {escape(joules)}")
    for name, device_j in bench.machine.device_energy_j.items():
        shown_j = "energy unknown" if device_j is None else units.show(device_j, "J")
        err.print(f"{name}: {shown_j}", markup=False)
    if (resets := bench.explain_resets()) and ended.why != "reset loop":
        err.print(resets, style="bold", markup=False)
    if _is_unexpected(bench):
        err.print(
            "[bold]warning:[/] an interrupt that the program has no handler for was taken, and the CPU stays in "
            "sunseal_unexpected: write the handler, or leave the interrupt disabled"
        )
    for name, data in bench.received.items():
        if name != shown:
            err.print(f"{name} wrote {len(data)} bytes that are not shown; `--uart {name}` shows them")
        _tell_rate(bench, name, baud if name == shown else None)
    for lint in bench.machine.lints():
        err.print(f"[bold]warning:[/] {escape(lint)}")


def _is_unexpected(bench: Bench) -> bool:
    """Say whether the CPU is where start-up code sends an interrupt without a handler."""
    try:
        trap = bench.machine.address("sunseal_unexpected")
    except (SunsealError, EngineError):
        return False
    return trap <= bench.machine.registers["PC"] & ~1 < trap + 4


STANDARD_BAUD = (
    300, 600, 1200, 2400, 4800, 9600, 14_400, 19_200, 28_800, 31_250, 38_400, 56_000, 57_600, 76_800, 115_200, 128_000,
    230_400, 250_000, 256_000, 460_800, 500_000, 921_600, 1_000_000, 2_000_000, 3_000_000
)  # fmt: skip
"""Rates that terminals and other chips can be set to."""
MOST_OFF = 0.03
"""Largest error of a rate that a terminal still reads: a receiver samples the tenth bit half a bit, 5 %, from its
edge."""


def _tell_rate(bench: Bench, name: str, baud: int | None) -> None:
    """Say how fast an interface wrote, and warn where that is no rate that somebody would read it at."""
    rate = bench.machine.baud.get(name)
    if not rate:
        return
    if baud is not None and abs(rate / baud - 1) > MOST_OFF:
        err.print(
            f"[bold]warning:[/] {name} wrote at {rate:,} baud, and the terminal read at {baud:,}: what it read is "
            f"garbage, {bench.machine.framing_errors.get(name, 0)} bytes of it framing errors"
        )
        return
    nearest = min(STANDARD_BAUD, key=lambda standard: abs(rate / standard - 1))
    off = rate / nearest - 1
    if abs(off) > MOST_OFF:
        err.print(
            f"[bold]warning:[/] {name} wrote at {rate:,} baud, {100 * abs(off):.0f} % from {nearest:,}, the nearest "
            "usual rate: a terminal reads garbage"
        )
    else:
        err.print(f"{name} wrote at {rate:,} baud", markup=False)


def _show(name: str, data: bytes, shown: str | None) -> None:
    if shown is not None and name not in (shown, "semihosting"):
        return
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _read(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except OSError as e:
        raise SunsealError(f"the input `{path}` cannot be read: {e.strerror or e}") from e


def _connect(bench: Bench, given: str) -> None:
    from sunseal.machine.series import read_points

    channel, what = adc_channel(given)
    if what.endswith(".csv"):
        bench.adc(channel, read_points(Path(what), f"--adc {channel}"))
    else:
        bench.adc(channel, units.parse(what, "V", f"--adc {channel}", zero=True))


def _drive(bench: Bench, given: str) -> None:
    from sunseal.machine.series import read_levels, read_points

    name, eq, what = given.partition("=")
    if not (eq and what):
        raise SunsealError(f"--pin `{given}` is not PIN=WHAT, such as `P1.3=1` or `P1.3=toggle@1Hz`")
    if what in ("0", "1"):
        bench.pin(name, what == "1")
    elif what.startswith("toggle@"):
        bench.toggle(name, units.parse(what.removeprefix("toggle@"), "Hz", f"--pin {name}"))
    elif ".vcd" in what:
        file, _, signal = what.partition(".vcd")
        bench.pin(name, read_levels(Path(f"{file}.vcd"), signal.removeprefix(":"), f"--pin {name}"))
    elif what.endswith(".csv"):
        points = read_points(Path(what), f"--pin {name}")
        if bad := [value for _, value in points if value not in (0.0, 1.0)]:
            raise SunsealError(f"`{what}` holds the level {bad[0]:g} for pin {name}; a level is 0 or 1")
        bench.pin(name, [(at_s, value == 1.0) for at_s, value in points])
    else:
        raise SunsealError(f"--pin `{given}`: write 0, 1, toggle@1Hz, a .csv or a .vcd file behind `=`")


def _unread(terminal: int) -> int:
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)), sys.byteorder)


class LineClosedError(SunsealError):
    """The terminal program has closed its end of the line."""


class _Line:
    """A pseudo-terminal for one terminal program after another; the run ends when the last has gone for good."""

    def __init__(self) -> None:
        try:
            import pty
            import tty
        except ImportError as e:
            raise SunsealError("this system has no pseudo-terminals; leave --pty out, or give --input") from e
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.name = os.ttyname(slave)
        os.set_blocking(self.master, False)
        # While this end were open here as well, nobody could be seen to close it.
        os.close(slave)
        self.opened = False
        """True if a terminal program has ever been there."""
        self._gone_s: float | None = None
        self._kept = bytearray()
        self._poll = select.poll()
        self._poll.register(self.master, select.POLLIN)

    def _look(self, wait_s: float) -> tuple[bool, bool]:
        """Say whether a terminal program is there, and whether it has typed."""
        seen = dict(self._poll.poll(wait_s * 1e3)).get(self.master, 0)
        there, typed = not seen & select.POLLHUP, bool(seen & select.POLLIN)
        self.opened |= there or typed
        return there, typed

    def write(self, data: bytes) -> None:
        """Send to the terminal program; keep it while none has been there."""
        there, _ = self._look(0.0)
        if not there:
            self._kept = (self._kept + data)[:PENDING_BYTES]
            return
        # A terminal that nobody reads holds some kilobytes; what comes on top is lost, as on a real line.
        with contextlib.suppress(BlockingIOError):
            os.write(self.master, bytes(self._kept) + data)
        self._kept.clear()

    def read(self, wait_s: float) -> bytes:
        """Return what has been typed within a time.

        Raises
        ------
        LineClosedError where the terminal program has closed its end and none has opened it since.
        """
        there, typed = self._look(wait_s)
        if there and self._kept:
            self.write(b"")
        if typed:
            self._gone_s = None
            return os.read(self.master, 4096)
        if there or not self.opened:
            self._gone_s = None
        else:
            self._gone_s = self._gone_s or time.monotonic()
            if time.monotonic() - self._gone_s > LINGER_S:
                raise LineClosedError(
                    f"the terminal at {self.name} was closed and nobody has opened it since: keep it open while the "
                    "program runs, or leave `--pty` out"
                )
        if not there:
            time.sleep(wait_s)  # an end that is closed is told at once, and nobody types there
        return b""

    def close(self) -> None:
        """Wait a while until what was written has been read; what has not goes with the line."""
        patience_s = time.monotonic() + LINGER_S
        time.sleep(LOOK_S)  # what was just written is on its way through the kernel
        there, _ = self._look(0.0)
        while not there and not self.opened and self._kept and time.monotonic() < patience_s:
            time.sleep(LOOK_S)
            there, _ = self._look(0.0)
        if there:
            self.write(b"")
            slave = os.open(self.name, os.O_RDWR | os.O_NOCTTY)
            time.sleep(LOOK_S)
            while _unread(slave) and time.monotonic() < patience_s:
                time.sleep(LOOK_S)
            os.close(slave)
        os.close(self.master)


@contextlib.contextmanager
def _terminal(bench: Bench, shown: str | None) -> Iterator[None]:
    """Lead the UART to a pseudo-terminal and keep the machine from running ahead of the clock on the wall."""
    line = _Line()
    err.print(f"the UART is at {line.name}; Ctrl-C here ends the run")
    began_s, from_s = time.monotonic(), bench.time_s

    def write(name: str, data: bytes) -> Any:
        if shown is None or name == shown:
            line.write(data)
        elif name == "semihosting":
            _show(name, data, shown)

    last_s = from_s

    def look(b: Bench) -> None:
        nonlocal last_s
        ahead_s = (b.time_s - from_s) - (time.monotonic() - began_s)
        # The time of a program that has stopped for good stands still until a key is pressed.
        wait_s = LOOK_S if b.time_s == last_s else max(ahead_s, 0.0)
        last_s = b.time_s
        if typed := line.read(wait_s):
            b.send(typed)

    bench.on_output, bench.on_slice = write, look
    try:
        yield
    finally:
        line.close()
