# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal trace`: what a bench measured, and what a harvester recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sunseal import boards, units
from sunseal.cli.console import Figure, err, out, print_json, writable
from sunseal.cli.options import Board, Json, Power, Variant, freq_of
from sunseal.cli.options import Freq as BoardFreq
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError, unknown
from sunseal.measurement import measuring

if TYPE_CHECKING:
    from sunseal.harvest.harvested import Harvested
    from sunseal.trace.capacitor import Virtual
    from sunseal.trace.comparing import Comparison, Simulated
    from sunseal.trace.energy import Bench, Energy, Term, Trigger
    from sunseal.trace.model import Recording, Told


trace_app = typer.Typer(
    help="Read what an instrument recorded: energy of trigger windows, the capacitor method, harvested power.",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(help="A recording; its content says which instrument's.")]
Format = Annotated[
    str | None, typer.Option("--format", help="Take the file for this format instead of what it looks like.")
]
Rate = Annotated[
    str | None, typer.Option("--rate", help="Sample rate, such as 1MHz: even steps whatever the times say.")
]
Unit = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", help="Unit of columns that name none: A, V, W or J; or of one, such as current=mA. Repeatable."
    ),
]
Part = Annotated[str | None, typer.Option("--part", help="Recording of a project, or array of an archive.")]
Uneven = Annotated[bool, typer.Option("--uneven", help="Take steps of time as they come: a long one is no gap.")]
Current = Annotated[
    str | None, typer.Option("--current", help="Channel of the current, shunt voltage, power or energy.")
]
Vcc = Annotated[str | None, typer.Option("--vcc", help="Supply voltage, such as 2.2V.")]
VccChannel = Annotated[str | None, typer.Option("--vcc-channel", help="Channel of the supply voltage.")]
Shunt = Annotated[str | None, typer.Option("--shunt", help="Shunt, such as 100ohm; a probe of 5 mV/mA is 5ohm.")]
Gain = Annotated[float, typer.Option("--gain", help="Gain of the amplifier behind the shunt or probe.")]
Offset = Annotated[float, typer.Option("--offset", help="What the channel shows without a current, in its unit.")]
Scale = Annotated[
    str | None, typer.Option("--scale", help="What 1 is in an array that has no unit, such as 1V or 10mA.")
]
Burden = Annotated[
    bool, typer.Option("--burden", help="--vcc is the voltage before the shunt: take off what falls over it.")
]
AdcBits = Annotated[int | None, typer.Option("--adc-bits", min=1, max=32, help="Bits of the converter.")]
Vref = Annotated[str | None, typer.Option("--vref", help="Range of the converter, such as 0.5V.")]
TriggerName = Annotated[
    str | None, typer.Option("--trigger", help="Channel that marks the windows, or `power`; else the whole recording.")
]
Level = Annotated[float | None, typer.Option("--level", help="Trigger level in the channel's unit; else half way.")]
Hysteresis = Annotated[float | None, typer.Option("--hysteresis", help="Width around it; else a tenth of the range.")]
Falling = Annotated[bool, typer.Option("--falling", help="Windows are where the trigger is low.")]
MinWindow = Annotated[str | None, typer.Option("--min-window", help="Leave out windows shorter than this.")]
SamplesMin = Annotated[int, typer.Option("--samples-min", min=1, help="Samples that a window needs at least.")]
From = Annotated[float | None, typer.Option("--from", help="Begin of the one window, in the recording's seconds.")]
To = Annotated[float | None, typer.Option("--to", help="End of the one window.")]
Freq = Annotated[str | None, typer.Option("--freq", help="CPU clock, for cycles (equation 3.2 of Mane).")]
Tolerance = Annotated[
    list[str] | None,
    typer.Option(
        "--tolerance",
        help="How well a part is known, such as shunt=1%, gain=3%, vcc=0.5%, timebase=50ppm, offset=0.2mV. Repeatable.",
    ),
]


@contextlib.contextmanager
def reading(what: str, total: int | None, quiet: bool) -> Iterator[Told | None]:
    """Show how far a file is read, on stderr and only to a person."""
    if quiet or not err.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err.console, transient=True) as progress:
        task = progress.add_task(what, total=total)

        def told(samples: int) -> None:
            progress.update(task, completed=samples, description=f"{what}: {samples / 1e6:.1f} M samples")

        yield told


def share(text: str, what: str) -> float:
    """Read `1%` or `50ppm` as a share."""
    for ending, factor in (("%", 1e-2), ("ppm", 1e-6)):
        if text.endswith(ending):
            with contextlib.suppress(ValueError):
                value = float(text.removesuffix(ending)) * factor
                if 0 <= value < 1:
                    return value
    raise SunsealError(f"{what} `{text}` is no share: write it as `1%` or `50ppm`")


def _tolerances(given: list[str] | None, known: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given or ():
        name, eq, value = pair.partition("=")
        if not eq or name not in known:
            raise SunsealError(f"--tolerance `{pair}` is none of {', '.join(f'{k}=…' for k in known)}")
        found[name] = value
    return found


def _unitful(text: str, what: str) -> tuple[float, str]:
    for base in ("V", "A", "W"):
        if text.endswith(base):
            return units.parse(text, base, what), base
    raise SunsealError(f"{what} `{text}` is no voltage, current or power: write it such as `1V` or `10mA`")


@dataclass
class Source:
    """A recording, and what its file leaves open."""

    file: File
    form: Format = None
    rate: Rate = None
    unit: Unit = None
    part: Part = None
    uneven: Uneven = False

    def open(self) -> Recording:
        """Open it as what it looks like, or as what it was said to be."""
        from sunseal.trace.formats import open_recording

        rate_hz = None if self.rate is None else units.parse(self.rate, "Hz", "--rate")
        by_name = dict(u.split("=", 1) for u in self.unit or () if "=" in u)
        plain = [u for u in self.unit or () if "=" not in u]
        if len(plain) > 1:
            raise SunsealError(
                f"--unit {' and '.join(plain)}: of columns without a name there is one; write NAME={plain[1]}"
            )
        return open_recording(
            self.file,
            form=self.form,
            rate_hz=rate_hz,
            unit=plain[0] if plain else None,
            units=by_name,
            part=self.part,
            uneven=self.uneven,
        )


@dataclass
class Setup:
    """How the instrument was connected, and how well its parts are known."""

    current: Current = None
    vcc: Vcc = None
    vcc_channel: VccChannel = None
    shunt: Shunt = None
    gain: Gain = 1.0
    offset: Offset = 0.0
    scale: Scale = None
    burden: Burden = False
    adc_bits: AdcBits = None
    vref: Vref = None
    tolerance: Tolerance = None

    def bench(self, static: str | None = None) -> Bench:
        """Return it in SI units."""
        from sunseal.trace.energy import Bench

        if self.vcc is not None and self.vcc_channel is not None:
            raise SunsealError("`--vcc` and `--vcc-channel` exclude each other: choose one of them")
        if not self.gain > 0:
            raise SunsealError(f"--gain {self.gain:g} must be above zero")
        if (self.adc_bits is None) != (self.vref is None):
            raise SunsealError("`--adc-bits` and `--vref` belong together: give both")
        how = _tolerances(self.tolerance, ("shunt", "gain", "vcc", "timebase", "offset"))
        factor, unit = (1.0, None) if self.scale is None else _unitful(self.scale, "--scale")
        return Bench(
            current=self.current,
            vcc_v=None if self.vcc is None else units.voltage_v(self.vcc),
            vcc_channel=self.vcc_channel,
            shunt_ohm=None if self.shunt is None else units.parse(self.shunt, "ohm", "--shunt"),
            gain=self.gain,
            offset=self.offset,
            scale=factor,
            scale_unit=unit,
            burden=self.burden,
            adc_bits=self.adc_bits,
            vref_v=None if self.vref is None else units.voltage_v(self.vref, "--vref"),
            static_w=0.0 if static is None else units.parse(static, "W", "--static"),
            shunt_tolerance=share(how.get("shunt", "0%"), "--tolerance shunt"),
            gain_tolerance=share(how.get("gain", "0%"), "--tolerance gain"),
            vcc_tolerance=share(how.get("vcc", "0%"), "--tolerance vcc"),
            timebase_tolerance=share(how.get("timebase", "0%"), "--tolerance timebase"),
            offset_tolerance=_unitful(how["offset"], "--tolerance offset")[0] if "offset" in how else 0.0,
        )


@dataclass
class Windows:
    """Where in a recording the operation runs."""

    trigger: TriggerName = None
    level: Level = None
    hysteresis: Hysteresis = None
    falling: Falling = False
    min_window: MinWindow = None
    samples_min: SamplesMin = 10

    def chosen(self, begin: float | None = None, end: float | None = None) -> Trigger:
        """Return the trigger in SI units."""
        from sunseal.trace.energy import Trigger

        if self.trigger is None and (self.level is not None or self.hysteresis is not None or self.falling):
            raise SunsealError("`--level`, `--hysteresis` and `--falling` belong to `--trigger CHANNEL`")
        return Trigger(
            self.trigger,
            self.level,
            self.hysteresis,
            self.falling,
            0.0 if self.min_window is None else units.time_s(self.min_window, "--min-window"),
            begin,
            end,
            self.samples_min,
        )


# --- import ----------------------------------------------------------------------------------


@trace_app.command("import")
@spread
def import_command(
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write it as .csv, .npz or .vcd in SI units.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read a whole recording, check it, and say what it holds; with --out, write it in SI units."""
    from sunseal.trace import writers

    recording = source.open()
    with reading(f"reading {source.file.name}", recording.samples, as_json) as told:
        facts = writers.convert(recording, output, told) if output else writers.summary(recording, told)
    if as_json:
        print_json(facts)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("format", " · ".join(filter(None, (facts["format"], escape(facts["device"])))))
    table.add_row(
        "samples",
        f"{facts['samples']:,} in {units.show(facts['time_s'], 's')}, "
        + units.show(float(f"{1 / facts['sample_interval_s']:.6g}"), "Hz"),
    )
    for c in facts["channels"]:
        base = c["unit"] if c["unit"] in ("V", "A", "W", "J") else ""
        least, mean, most = (units.show(c[k], base).strip() for k in ("min", "mean", "max"))
        table.add_row(f"  {escape(c['name'])}", f"{least} to {most}, mean {mean}")
    for note in facts["notes"]:
        table.add_row("note", escape(note))
    out.print(table)
    if output is not None:
        out.print(f"wrote {output}")


# --- energy ----------------------------------------------------------------------------------


@trace_app.command("energy")
@spread
def energy_command(
    source: Source,
    setup: Setup,
    windows: Windows,
    begin: From = None,
    end: To = None,
    subtract_idle: Annotated[
        bool, typer.Option("--subtract-idle", help="Take off the mean power outside the windows.")
    ] = False,
    idle_power: Annotated[str | None, typer.Option("--idle-power", help="Take off this power, such as 3mW.")] = None,
    static: Annotated[
        str | None, typer.Option("--static", help="Add this static power (equations 3 and 4 of Rizvi).")
    ] = None,
    freq: Freq = None,
    rows: Annotated[int, typer.Option("--rows", min=0, help="Windows that the table lists.")] = 12,
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Integrate the power in the trigger's windows (Mane 2014, equations 3.1 and 3.2), with its uncertainty."""
    from sunseal.trace import energy

    writable(figure)
    bench = setup.bench(static)
    chosen = windows.chosen(begin, end)
    recording = source.open()
    with reading(f"reading {source.file.name}", recording.samples, as_json) as told:
        found = energy.measure(
            recording,
            bench,
            chosen,
            subtract_idle=subtract_idle,
            idle_w=None if idle_power is None else units.parse(idle_power, "W", "--idle-power"),
            freq_hz=freq_of(freq),
            told=told,
        )
    if figure is not None:
        from sunseal.report import trace_figures as figures

        with reading(f"drawing {source.file.name}", recording.samples, as_json) as told:
            seen = figures.envelope(recording, bench, chosen, told)
        figures.trace_file(seen, found, f"{source.file.name}, {recording.format}", figure)
    if as_json:
        print_json(found.to_dict())
        return
    _show_energy(found, rows)
    if figure is not None:
        out.print(f"wrote {figure}")


def _show_energy(found: Energy, rows: int) -> None:
    if len(found.windows) > 1 and rows:
        table = Table("window", "begins", "lasts", "energy", "mean power", box=None)
        for number, w in enumerate(found.windows[:rows], 1):
            table.add_row(
                str(number),
                units.show(w.begin_s, "s", 6),
                units.show(w.time_s, "s"),
                units.show(w.energy_j, "J"),
                units.show(w.power_w, "W"),
            )
        out.print(table)
        if len(found.windows) > rows:
            out.print(f"and {len(found.windows) - rows} more (`--rows`)")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    several = len(found.windows) > 1
    table.add_row(
        "mean energy" if several else "energy",
        f"{units.show(found.energy_j, 'J')} ± {units.show(found.expanded_j, 'J', 2)} "
        f"({_percent(found.expanded_j / abs(found.energy_j))}, k = {found.coverage_factor:.2f}, 95 %)"
        if found.terms and found.energy_j
        else units.show(found.energy_j, "J"),
    )
    if found.deviation_j is not None:
        table.add_row("deviation", f"{units.show(found.deviation_j, 'J', 3)} over {len(found.windows)} windows")
    time = f"{units.show(found.time_s, 's')}, {units.show(found.energy_j / found.time_s, 'W')}"
    if found.freq_hz is not None:
        time += f", {found.time_s * found.freq_hz:,.0f} cycles at {found.freq_hz / 1e6:g} MHz"
    table.add_row("time, power", time)
    if found.idle_w is not None:
        table.add_row("idle", units.show(found.idle_w, "W") + (", subtracted" if found.idle_subtracted else ""))
    elif found.idle_subtracted:
        table.add_row("idle", "subtracted as given")
    if found.lsb is not None and found.lsb_j is not None:
        unit = found.channel.unit if found.channel.unit in ("V", "A", "W", "J") else ""
        table.add_row(
            "quantisation",
            f"a step of {units.show(found.lsb, unit, 3)} is {units.show(found.lsb_j, 'J', 3)} a sample"
            + ("" if found.clipped is None else f"; {found.clipped:.1%} of the samples at an end of the range"),
        )
    for term in found.terms:
        table.add_row(f"  u({term.name})", _term(term, found.energy_j))
    for note in found.notes:
        table.add_row("note", escape(note))
    out.print(table)


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %"


def _term(term: Term, energy_j: float) -> str:
    part = f" ({_percent(term.standard_j / abs(energy_j))})" if energy_j else ""
    return f"{units.show(term.standard_j, 'J', 3)}{part}, type {term.kind}"


# --- capacitor -------------------------------------------------------------------------------


@trace_app.command("capacitor")
def capacitor_command(
    workload: Annotated[
        str | None, typer.Argument(metavar="[WORKLOAD]", help="Measure this one at a simulated board.")
    ] = None,
    capacitance: Annotated[str, typer.Option("--capacitance", "-C", help="Such as 1mF.")] = "",
    v1: Annotated[str, typer.Option("--v1", help="Voltage before, such as 3.3V.")] = "",
    v2: Annotated[str | None, typer.Option("--v2", help="Voltage left; the virtual instrument reads it.")] = None,
    time: Annotated[str | None, typer.Option("--time", help="Time between the readings.")] = None,
    operations: Annotated[int, typer.Option("--operations", "-n", min=1, help="Operations in between.")] = 1,
    leak: Annotated[str | None, typer.Option("--leak", help="Leakage as a resistance, such as 10Mohm.")] = None,
    esr: Annotated[str | None, typer.Option("--esr", help="Series resistance, such as 50mohm.")] = None,
    resolution: Annotated[
        str | None, typer.Option("--resolution", help="One step of the voltmeter, such as 1mV.")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            "--tolerance", help="Such as capacitance=2%, gain=0.1%, offset=1mV, leak=50%, esr=20%. Repeatable."
        ),
    ] = None,
    board: Board = boards.DEFAULT_BOARD,
    variant: Variant = None,
    freq: BoardFreq = None,
    power: Power = measuring.DEFAULT_POWER,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Draw the true capacitor and voltmeter from the tolerances.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Energy from the voltage that a capacitor lost: from readings, or at a simulated board."""
    from sunseal.trace import capacitor

    if not capacitance or not v1:
        raise SunsealError("the capacitor method needs `--capacitance` and `--v1`")
    how = _tolerances(tolerance, ("capacitance", "gain", "offset", "leak", "esr"))
    setup = capacitor.Setup(
        capacitance_f=units.parse(capacitance, "F", "--capacitance"),
        capacitance_tolerance=share(how.get("capacitance", "0%"), "--tolerance capacitance"),
        leak_ohm=None if leak is None else units.parse(leak, "ohm", "--leak"),
        leak_tolerance=share(how.get("leak", "0%"), "--tolerance leak"),
        esr_ohm=0.0 if esr is None else units.parse(esr, "ohm", "--esr"),
        esr_tolerance=share(how.get("esr", "0%"), "--tolerance esr"),
        meter_gain_tolerance=share(how.get("gain", "0%"), "--tolerance gain"),
        meter_offset_tolerance_v=units.voltage_v(how["offset"], "--tolerance offset") if "offset" in how else 0.0,
        resolution_v=0.0 if resolution is None else units.voltage_v(resolution, "--resolution"),
    )
    v1_v = units.voltage_v(v1, "--v1")
    if workload is None:
        if v2 is None:
            raise SunsealError("the voltage left is missing: give `--v2`, or a workload whose board is simulated")
        seconds = 0.0 if time is None else units.time_s(time, "--time")
        reading_ = capacitor.calculate(setup, v1_v, units.voltage_v(v2, "--v2"), seconds, operations)
        if as_json:
            print_json(reading_.to_dict())
        else:
            out.print(_capacitor_table(reading_))
        return
    if v2 is not None or time is not None:
        raise SunsealError("`--v2` and `--time` are readings; at a simulated board the instrument takes them itself")
    seen = capacitor.virtual(
        setup,
        workload,
        board=board,
        v1_v=v1_v,
        operations=operations,
        variant=tuple(variant or ()),
        freq_hz=freq_of(freq),
        power=power,
        seed=seed,
    )
    if as_json:
        print_json(seen.to_dict())
    else:
        _show_seen(seen)
    if not seen.agrees:
        raise typer.Exit(1)


def _show_seen(seen: Virtual) -> None:
    table = _capacitor_table(seen.reading)
    table.add_row(
        "ledger", f"{units.show(seen.ledger_j, 'J')} ({escape(seen.workload)} on {seen.board}, {seen.power_set})"
    )
    verdict = "agrees within its uncertainty" if seen.agrees else "[bold red]disagrees[/]"
    table.add_row("instrument", f"{seen.error_j / seen.ledger_j:+.3%} beside the ledger: {verdict}")
    out.print(table)


def _capacitor_table(reading_: Any) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    u = f" ± {units.show(reading_.expanded_j, 'J', 2)} ({_percent(reading_.expanded_j / reading_.energy_j)}, 95 %)"
    table.add_row("energy", units.show(reading_.energy_j, "J") + (u if reading_.terms else "") + " an operation")
    table.add_row("voltages", f"{reading_.v1_v:.6g} V to {reading_.v2_v:.6g} V, {reading_.operations} operations")
    table.add_row("left the capacitor", units.show(reading_.stored_j, "J"))
    if reading_.leak_j:
        table.add_row("leaked", units.show(reading_.leak_j, "J", 3))
    if reading_.esr_j:
        table.add_row("series resistance", units.show(reading_.esr_j, "J", 3))
    for term in reading_.terms:
        table.add_row(f"  u({term.name})", _term(term, reading_.energy_j))
    return table


# --- compare ---------------------------------------------------------------------------------


@trace_app.command("compare")
@spread
def compare_command(
    source: Source,
    workload: Annotated[str, typer.Option("--workload", help="The workload of `sunseal workloads` that ran.")],
    setup: Setup,
    windows: Windows,
    board: Board = boards.DEFAULT_BOARD,
    variant: Variant = None,
    freq: BoardFreq = None,
    power: Power = measuring.DEFAULT_POWER,
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Hold each measured window against a simulated run: cycles, time, energy, power, waveform."""
    from sunseal.trace import comparing, energy

    writable(figure)
    bench = setup.bench()
    chosen = windows.chosen()
    recording = source.open()
    with reading(f"reading {source.file.name}", recording.samples, as_json) as told:
        found = energy.measure(recording, bench, chosen, told=told)
    simulated = comparing.simulate(
        workload,
        board=board,
        variant=variant or (),
        freq_hz=freq_of(freq),
        vcc_v=found.vcc_v if setup.vcc is None else units.voltage_v(setup.vcc),
        power=power,
    )
    compared = comparing.compare(found, simulated)
    if figure is not None:
        from sunseal.report import trace_figures as figures

        window = found.windows[0]
        margin = 0.25 * max(window.time_s, simulated.time_s)
        seen = figures.envelope(
            recording,
            bench,
            chosen,
            from_s=window.begin_s - margin,
            to_s=window.begin_s + max(window.time_s, simulated.time_s) + margin,
        )
        title = f"{source.file.name}, window 1, beside {workload} on {board}"
        figures.comparison_file(seen, compared, window.begin_s, title, figure)
    if as_json:
        print_json(compared.to_dict())
        return
    _show_compared(compared, found, simulated)
    if figure is not None:
        out.print(f"wrote {figure}")


def _show_compared(compared: Comparison, found: Energy, simulated: Simulated) -> None:
    table = Table("window", "time", "cycles", "energy", "power", "time", "energy", "power", box=None)
    for row in compared.rows:
        table.add_row(
            str(row.window),
            units.show(row.time_s, "s"),
            f"{row.cycles:,.0f}",
            units.show(row.energy_j, "J"),
            units.show(row.power_w, "W"),
            *(f"x {r:.3f}" for r in (row.time_ratio, row.energy_ratio, row.power_ratio)),
        )
    table.add_row(
        "simulated",
        units.show(simulated.time_s, "s"),
        f"{simulated.cycles:,}",
        units.show(simulated.energy_j, "J"),
        units.show(simulated.energy_j / simulated.time_s, "W"),
        style="bold",
    )
    out.print(table)
    low, high = simulated.energy_low_j, simulated.energy_high_j
    out.print(
        f"measured / simulated energy {compared.energy_ratio:.3f} ± {found.expanded_j / simulated.energy_j:.3f}; "
        f"{simulated.power_set} ranges from {units.show(low, 'J', 3)} to {units.show(high, 'J', 3)}: "
        + ("the measurement lies within" if compared.within else "the measurement lies outside")
    )


# --- harvest ---------------------------------------------------------------------------------

SOURCES = ("shepherd", "ivonne", "ekho", "siren", "siren-voltage", "climate", "lux")


@trace_app.command("harvest")
def harvest_command(
    file: Annotated[Path, typer.Argument(help="What a harvester recorded, a climate file, or a lux profile.")],
    form: Annotated[
        str | None, typer.Option("--format", help=f"Take the file for one of: {', '.join(SOURCES)}.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write it: .csv for a scenario, .h5 for Shepherd.")
    ] = None,
    panel: Annotated[str | None, typer.Option("--panel", help="Panel of data/parts, for climate and lux.")] = None,
    tilt: Annotated[float, typer.Option("--tilt", help="Tilt of the panel in degrees.")] = 36.0,
    azimuth: Annotated[float, typer.Option("--azimuth", help="Azimuth in degrees; 180 is south.")] = 180.0,
    shading: Annotated[float, typer.Option("--shading", help="Share of the light that arrives.")] = 1.0,
    light: Annotated[str, typer.Option("--light", help="Of a lux profile: led, fluorescent.")] = "led",
    step: Annotated[str | None, typer.Option("--step", help="Put samples together into steps of this length.")] = None,
    points: Annotated[int, typer.Option("--points", min=2, help="Voltages of the grid for curves.")] = 64,
    rate: Annotated[str | None, typer.Option("--rate", help="Curves a second of Ekho, such as 10Hz.")] = None,
    source_resistance: Annotated[
        str | None, typer.Option("--source-resistance", help="Behind a trace of voltages, such as 10kohm.")
    ] = None,
    mpp: Annotated[bool, typer.Option("--mpp", help="Keep the maximum power points alone.")] = False,
    begin: Annotated[str | None, typer.Option("--from", help="Begin after this time, such as 86400s.")] = None,
    lasts: Annotated[str | None, typer.Option("--for", help="Take this long.")] = None,
    as_json: Json = False,
) -> None:
    """Turn a harvester's recording, a climate file or indoor light into a source for `[harvest] trace`."""
    from sunseal.harvest import harvested

    if output is not None and output.suffix not in (".csv", ".h5"):
        raise SunsealError(f"`{output}` cannot be written: its name must end in .csv or .h5")
    found = _source(file, form, panel, tilt, azimuth, shading, light, step, points, rate, source_resistance)
    if begin is not None or lasts is not None:
        found = found.part(
            0.0 if begin is None else units.time_s(begin, "--from"), None if lasts is None else units.time_s(lasts)
        )
    if mpp:
        found = replace(found, grid_v=None, curves_a=None, cells=None)
    if output is not None:
        (harvested.write_csv if output.suffix == ".csv" else harvested.write_shepherd)(found, output)
    facts: dict[str, Any] = {
        "kind": found.kind,
        "steps": len(found.power_w),
        "time_s": float(found.time_s[-1]),
        "energy_j": found.energy_j,
        "power_mean_w": found.energy_j / float(found.time_s[-1]),
        "power_max_w": float(found.power_w.max()),
        "provenance": found.provenance,
    }
    if as_json:
        print_json(facts)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    step_s = float(found.time_s[-1]) / len(found.power_w)
    table.add_row("source", f"{found.kind}, {len(found.power_w):,} steps of {units.show(step_s, 's')}")
    table.add_row("energy", f"{units.show(found.energy_j, 'J')} at the maximum power point")
    table.add_row(
        "power", f"mean {units.show(facts['power_mean_w'], 'W')}, at most {units.show(facts['power_max_w'], 'W')}"
    )
    for key, value in found.provenance.items():
        table.add_row(key, escape(value))
    out.print(table)
    if output is not None:
        out.print(f"wrote {output}")


def _source(
    file: Path,
    form: str | None,
    panel: str | None,
    tilt: float,
    azimuth: float,
    shading: float,
    light: str,
    step: str | None,
    points: int,
    rate: str | None,
    source_resistance: str | None,
) -> Harvested:
    from sunseal.harvest import climate, harvested
    from sunseal.harvest.light import Panel

    if form is not None and form not in SOURCES:
        raise unknown("format", form, SOURCES)
    if not file.is_file():
        raise SunsealError(f"the file `{file}` is not there")
    if not 0 < shading <= 1:
        raise SunsealError(f"--shading {shading:g} is not a share above 0 and up to 1")
    form = form or _source_form(file)
    if form == "shepherd":
        return harvested.shepherd(file, None if step is None else units.time_s(step, "--step"), points)
    if form == "ivonne":
        return harvested.ivonne(file, points)
    if form == "ekho":
        if rate is None:
            raise SunsealError(
                f"`{file.name}` does not say how many curves a second it holds", hint="give `--rate 10Hz`"
            )
        return harvested.ekho(file, units.parse(rate, "Hz", "--rate"))
    if form == "siren":
        return harvested.siren(file)
    if form == "siren-voltage":
        if source_resistance is None:
            raise SunsealError(
                f"`{file.name}` holds the voltage of a source, and not what current it gives",
                hint="give `--source-resistance`, such as 10kohm",
            )
        return harvested.siren_voltage(file, units.parse(source_resistance, "ohm", "--source-resistance"), points)
    if panel is None:
        raise SunsealError(
            f"`{file.name}` is light, and what a panel makes of it is not known", hint="give `--panel PART`"
        )
    if form == "lux":
        return climate.indoors(file, Panel.load(panel), light)
    found = climate.read(file)
    return climate.cells(found, Panel.load(panel), tilt_deg=tilt, azimuth_deg=azimuth, shading=shading, file=file.name)


def _source_form(file: Path) -> str:
    """Tell a source's format by its content."""
    with file.open("rb") as opened:
        magic = opened.read(4096)
    if magic.startswith(b"\x89HDF"):
        return "shepherd"
    if file.suffix == ".iv" or magic[:2] in (b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        return "ivonne"
    if b"\0" in magic:
        return "ekho"
    lines = [line for line in magic.decode("utf-8", errors="replace").splitlines() if not line.startswith("#")]
    if len(lines) > 1 and lines[0].strip().isdigit() and lines[1].count(",") == 1:
        return "siren"
    if lines and lines[0].lower().replace(" ", "").endswith(",lux"):
        return "lux"
    if lines and lines[0].count("\t") == 1 and "," not in lines[0]:
        return "siren-voltage"
    return "climate"
