# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal trace`: what a bench measured, and what a harvester recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sunseal.catalog import boards, units
from sunseal.cli.console import Figure, Json, VerdictFiles, err, facts_table, judge, out, print_json, writable
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError, unknown
from sunseal.requests import Bench, Trigger, tolerances
from sunseal.requests.asking import BOARD, FREQ, POWER, VARIANT, Option, Quantity, asked, request

if TYPE_CHECKING:
    from sunseal.harvest.harvested import Harvested
    from sunseal.trace.capacitor import Virtual
    from sunseal.trace.comparing import Comparison, Simulated
    from sunseal.trace.energy import Energy, Term
    from sunseal.trace.model import Recording, Told


trace_app = typer.Typer(
    help="Read what an instrument recorded: energy of trigger windows, the capacitor method, harvested power.",
    no_args_is_help=True,
)

FORMAT = Option("--format", "Take the file for this format instead of what it looks like.", called="form")


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


@request
class Source:
    """A recording, and what its file leaves open."""

    file: Path = asked("", "A recording; its content says which instrument's.", Path)
    form: str | None = asked(FORMAT, default=None)
    rate_hz: float | None = asked(
        "--rate", "Sample rate, such as 1MHz: even steps whatever the times say.", read=Quantity("Hz"), default=None
    )
    unit: Sequence[str] = asked(
        "--unit",
        "Unit of columns that name none: A, V, W or J; or of one, such as current=mA. Repeatable.",
        list[str],
        default=(),
    )
    part: str | None = asked("--part", "Recording of a project, or array of an archive.", default=None)
    uneven: bool = asked("--uneven", "Take steps of time as they come: a long one is no gap.", bool, default=False)

    def open(self) -> Recording:
        """Open it as what it looks like, or as what it was said to be."""
        from sunseal.trace.formats import open_recording

        by_name = dict(u.split("=", 1) for u in self.unit if "=" in u)
        plain = [u for u in self.unit if "=" not in u]
        if len(plain) > 1:
            raise SunsealError(
                f"--unit {' and '.join(plain)}: of columns without a name there is one; write NAME={plain[1]}"
            )
        told = {**vars(self), "unit": plain[0] if plain else None, "units": by_name}
        return open_recording(told.pop("file"), **told)


def _connected(bench: Bench, static_w: float = 0.0) -> Bench:
    """Refuse what cannot be connected so."""
    if bench.vcc_v is not None and bench.vcc_channel is not None:
        raise SunsealError("`--vcc` and `--vcc-channel` exclude each other: choose one of them")
    if not bench.gain > 0:
        raise SunsealError(f"--gain {bench.gain:g} must be above zero")
    if (bench.adc_bits is None) != (bench.vref_v is None):
        raise SunsealError("`--adc-bits` and `--vref` belong together: give both")
    return replace(bench, static_w=static_w)


def _between(trigger: Trigger, begin: float | None = None, end: float | None = None) -> Trigger:
    """Refuse a level of no channel."""
    if trigger.channel is None and (trigger.level is not None or trigger.hysteresis is not None or trigger.falling):
        raise SunsealError("`--level`, `--hysteresis` and `--falling` belong to `--trigger CHANNEL`")
    return replace(trigger, from_s=begin, to_s=end)


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
        print_json("trace-import", facts)
        return
    table = facts_table()
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


@request
class Integral:
    """Corrections that are taken off a recording's power, and added to it."""

    begin: float | None = asked("--from", "Begin of the one window, in the recording's seconds.", float, default=None)
    end: float | None = asked("--to", "End of the one window.", float, called="end", default=None)
    subtract_idle: bool = asked("--subtract-idle", "Take off the mean power outside the windows.", bool, default=False)
    idle_w: float | None = asked("--idle-power", "Take off this power, such as 3mW.", read=Quantity("W"), default=None)
    static_w: float = asked(
        "--static", "Add this static power (equations 3 and 4 of Rizvi).", read=Quantity("W"), default=0.0
    )
    freq_hz: int | None = asked(
        "--freq", "CPU clock, for cycles (equation 3.2 of Mane).", read=units.freq_hz, default=None
    )


@trace_app.command("energy")
@spread
def energy_command(
    source: Source,
    setup: Bench,
    trigger: Trigger,
    integral: Integral,
    rows: Annotated[int, typer.Option("--rows", min=0, help="Windows that the table lists.")] = 12,
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Integrate the power in the trigger's windows (Mane 2014, equations 3.1 and 3.2), with its uncertainty."""
    from sunseal.trace import energy

    writable(figure)
    bench = _connected(setup, integral.static_w)
    chosen = _between(trigger, integral.begin, integral.end)
    recording = source.open()
    with reading(f"reading {source.file.name}", recording.samples, as_json) as told:
        found = energy.measure(
            recording,
            bench,
            chosen,
            subtract_idle=integral.subtract_idle,
            idle_w=integral.idle_w,
            freq_hz=integral.freq_hz,
            told=told,
        )
    if figure is not None:
        from sunseal.report import trace_figures as figures

        with reading(f"drawing {source.file.name}", recording.samples, as_json) as told:
            seen = figures.envelope(recording, bench, chosen, told)
        figures.trace_file(seen, found, f"{source.file.name}, {recording.format}", figure)
    if as_json:
        print_json("trace-energy", found.to_dict())
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
    table = facts_table()
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


@request
class Discharge:
    """A capacitor that fed operations, and what is known of it and of the voltmeter."""

    workload: str | None = asked("", "Measure this one at a simulated board.", metavar="[WORKLOAD]", default=None)
    capacitance_f: float | None = asked("--capacitance -C", "Such as 1mF.", read=Quantity("F"), default=None)
    v1_v: float | None = asked("--v1", "Voltage before, such as 3.3V.", read=units.voltage_v, default=None)
    v2_v: float | None = asked(
        "--v2", "Voltage left; the virtual instrument reads it.", read=units.voltage_v, default=None
    )
    time_s: float | None = asked("--time", "Time between the readings.", read=units.time_s, default=None)
    operations: int = asked("--operations -n", "Operations in between.", int, min=1, default=1)
    leak_ohm: float | None = asked(
        "--leak", "Leakage as a resistance, such as 10Mohm.", read=Quantity("ohm"), default=None
    )
    esr_ohm: float = asked("--esr", "Series resistance, such as 50mohm.", read=Quantity("ohm"), default=0.0)
    resolution_v: float = asked(
        "--resolution", "One step of the voltmeter, such as 1mV.", read=units.voltage_v, default=0.0
    )
    tolerance: Sequence[str] = asked(
        "--tolerance",
        "Such as capacitance=2%, gain=0.1%, offset=1mV, leak=50%, esr=20%. Repeatable.",
        list[str],
        default=(),
    )
    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    variant: Sequence[str] = asked(VARIANT, default=())
    freq_hz: int | None = asked(FREQ, default=None)
    power: str = asked(POWER, default=boards.DEFAULT_POWER)
    seed: int | None = asked("--seed", "Draw the true capacitor and voltmeter from the tolerances.", int, default=None)


@trace_app.command("capacitor")
@spread
def capacitor_command(asked: Discharge, files: VerdictFiles, as_json: Json = False) -> None:
    """Energy from the voltage that a capacitor lost: from readings, or at a simulated board.

    Exit status 1: at a simulated board the instrument disagrees with the ledger.
    """
    from sunseal.trace import capacitor

    if asked.capacitance_f is None or asked.v1_v is None:
        raise SunsealError("the capacitor method needs `--capacitance` and `--v1`")
    shares, offset = tolerances(asked.tolerance, ("capacitance", "gain", "offset", "leak", "esr"))
    setup = capacitor.Setup(
        capacitance_f=asked.capacitance_f,
        leak_ohm=asked.leak_ohm,
        esr_ohm=asked.esr_ohm,
        resolution_v=asked.resolution_v,
        meter_gain_tolerance=shares.pop("gain_tolerance", 0.0),
        meter_offset_tolerance_v=units.voltage_v(offset, "--tolerance offset") if offset is not None else 0.0,
        **shares,
    )
    if asked.workload is None:
        if asked.v2_v is None:
            raise SunsealError("the voltage left is missing: give `--v2`, or a workload whose board is simulated")
        reading_ = capacitor.calculate(setup, asked.v1_v, asked.v2_v, asked.time_s or 0.0, asked.operations)
        if as_json:
            print_json("trace-capacitor", reading_.to_dict())
        else:
            out.print(_capacitor_table(reading_))
        return
    if asked.v2_v is not None or asked.time_s is not None:
        raise SunsealError("`--v2` and `--time` are readings; at a simulated board the instrument takes them itself")
    seen = capacitor.virtual(
        setup,
        asked.workload,
        board=asked.board,
        v1_v=asked.v1_v,
        operations=asked.operations,
        variant=tuple(asked.variant),
        freq_hz=asked.freq_hz,
        power=asked.power,
        seed=asked.seed,
    )
    judge("trace-capacitor-virtual", seen.judged, as_json, seen.to_dict, lambda: _show_seen(seen), files)


def _show_seen(seen: Virtual) -> None:
    table = _capacitor_table(seen.reading)
    table.add_row(
        "ledger", f"{units.show(seen.ledger_j, 'J')} ({escape(seen.workload)} on {seen.board}, {seen.power_set})"
    )
    verdict = "agrees within its uncertainty" if seen.agrees else "[bold red]disagrees[/]"
    table.add_row("instrument", f"{seen.error_j / seen.ledger_j:+.3%} beside the ledger: {verdict}")
    out.print(table)


def _capacitor_table(reading_: Any) -> Table:
    table = facts_table()
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


@request
class Simulation:
    """The run that a measurement is held against."""

    board: str = asked(BOARD, default=boards.DEFAULT_BOARD)
    variant: Sequence[str] = asked(VARIANT, default=())
    freq_hz: int | None = asked(FREQ, default=None)
    power: str = asked(POWER, default=boards.DEFAULT_POWER)


@trace_app.command("compare")
@spread
def compare_command(
    source: Source,
    workload: Annotated[str, typer.Option("--workload", help="The workload of `sunseal workloads` that ran.")],
    setup: Bench,
    trigger: Trigger,
    simulation: Simulation,
    figure: Figure = None,
    *,
    files: VerdictFiles,
    as_json: Json = False,
) -> None:
    """Hold each measured window against a simulated run: cycles, time, energy, power, waveform.

    Exit status 1: the measured energy, with its uncertainty, lies outside of the range of the power set.
    """
    from sunseal.trace import comparing, energy

    writable(figure)
    bench, chosen = _connected(setup), _between(trigger)
    recording = source.open()
    with reading(f"reading {source.file.name}", recording.samples, as_json) as told:
        found = energy.measure(recording, bench, chosen, told=told)
    vcc_v = found.vcc_v if bench.vcc_v is None else bench.vcc_v
    simulated = comparing.simulate(workload, vcc_v=vcc_v, **vars(simulation))
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
        title = f"{source.file.name}, window 1, beside {workload} on {simulation.board}"
        figures.comparison_file(seen, compared, window.begin_s, title, figure)

    def show() -> None:
        _show_compared(compared, found, simulated)
        if figure is not None:
            out.print(f"wrote {figure}")

    judge("trace-compare", compared.judged, as_json, compared.to_dict, show, files)


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


@request
class Harvest:
    """A harvester's recording, a climate file or indoor light, and what makes a source of it."""

    file: Path = asked("", "Recording of a harvester, a climate file, or a lux profile.", Path)
    form: str | None = asked(
        "--format", f"Take the file for one of: {', '.join(SOURCES)}.", called="form", default=None
    )
    output: Path | None = asked(
        "--out -o", "Write it: .csv for a scenario, .h5 for Shepherd.", Path, called="output", default=None
    )
    panel: str | None = asked("--panel", "Panel of data/parts, for climate and lux.", default=None)
    tilt_deg: float = asked("--tilt", "Tilt of the panel in degrees.", float, default=36.0)
    azimuth_deg: float = asked("--azimuth", "Azimuth in degrees; 180 is south.", float, default=180.0)
    shading: float = asked("--shading", "Share of the light that arrives.", float, default=1.0)
    light: str = asked("--light", "Lamp of a lux profile: led, fluorescent.", default="led")
    step_s: float | None = asked(
        "--step", "Put samples together into steps of this length.", read=units.time_s, default=None
    )
    points: int = asked("--points", "Voltages of the grid for curves.", int, min=2, default=64)
    rate_hz: float | None = asked("--rate", "Curves a second of Ekho, such as 10Hz.", read=Quantity("Hz"), default=None)
    source_ohm: float | None = asked(
        "--source-resistance",
        "Resistance behind a trace of voltages, such as 10kohm.",
        read=Quantity("ohm"),
        default=None,
    )
    mpp: bool = asked("--mpp", "Keep the maximum power points alone.", bool, default=False)
    begin_s: float = asked(
        "--from", "Begin after this time, such as 86400s.", read=units.time_s, called="begin", default=0.0
    )
    lasts_s: float | None = asked("--for", "Take this long.", read=units.time_s, called="lasts", default=None)

    def read(self) -> Harvested:
        """Read the file as what it looks like, or as what it was said to be."""
        from sunseal.harvest import climate, harvested
        from sunseal.harvest.light import Panel

        file = self.file
        if self.form is not None and self.form not in SOURCES:
            raise unknown("format", self.form, SOURCES)
        if not file.is_file():
            raise SunsealError(f"the file `{file}` is not there")
        if not 0 < self.shading <= 1:
            raise SunsealError(f"--shading {self.shading:g} is not a share above 0 and up to 1")
        for name, value, most in (("--tilt", self.tilt_deg, 180), ("--azimuth", self.azimuth_deg, 360)):
            if not 0 <= value <= most:
                raise SunsealError(f"{name} {value:g} does not lie between 0 and {most} degrees")
        form = self.form or _source_form(file)
        if form == "shepherd":
            return harvested.shepherd(file, self.step_s, self.points)
        if form == "ivonne":
            return harvested.ivonne(file, self.points)
        if form == "ekho":
            if self.rate_hz is None:
                raise SunsealError(
                    f"`{file.name}` does not say how many curves a second it holds", hint="give `--rate 10Hz`"
                )
            return harvested.ekho(file, self.rate_hz)
        if form == "siren":
            return harvested.siren(file)
        if form == "siren-voltage":
            if self.source_ohm is None:
                raise SunsealError(
                    f"`{file.name}` holds the voltage of a source, and not what current it gives",
                    hint="give `--source-resistance`, such as 10kohm",
                )
            return harvested.siren_voltage(file, self.source_ohm, self.points)
        if self.panel is None:
            raise SunsealError(
                f"`{file.name}` is light, and what a panel makes of it is not known", hint="give `--panel PART`"
            )
        panel = Panel.load(self.panel)
        if form == "lux":
            return climate.indoors(file, panel, self.light, self.shading)
        sky = {"tilt_deg": self.tilt_deg, "azimuth_deg": self.azimuth_deg, "shading": self.shading}
        return climate.cells(climate.read(file), panel, **sky, file=file.name)


@trace_app.command("harvest")
@spread
def harvest_command(asked: Harvest, as_json: Json = False) -> None:
    """Turn a harvester's recording, a climate file or indoor light into a source for `[harvest] trace`."""
    from sunseal.harvest import harvested

    output = asked.output
    if output is not None and output.suffix not in (".csv", ".h5"):
        raise SunsealError(f"`{output}` cannot be written: its name must end in .csv or .h5")
    found = asked.read()
    if asked.begin_s or asked.lasts_s is not None:
        found = found.part(asked.begin_s, asked.lasts_s)
    if asked.mpp:
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
        print_json("trace-harvest", facts)
        return
    table = facts_table()
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
    lines = [line for line in magic.decode("utf-8-sig", errors="replace").splitlines() if not line.startswith("#")]
    if len(lines) > 1 and lines[0].strip().isdigit() and lines[1].count(",") == 1:
        return "siren"
    if lines and lines[0].lower().replace(" ", "").endswith(",lux"):
        return "lux"
    if lines and lines[0].count("\t") == 1 and "," not in lines[0]:
        return "siren-voltage"
    return "climate"
