# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measure an operation: run it once between its marks, weigh the counts at any voltage and clock."""

from __future__ import annotations

import contextlib
import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine, requests
from sunseal.answers import writing
from sunseal.answers.shown import Shown
from sunseal.catalog import boards, citing, coprocessor, power_sets
from sunseal.errors import SunsealError
from sunseal.machine import images
from sunseal.machine.machine import Machine, timing_pairs
from sunseal.measurement import oracle
from sunseal.requests.asking import answers, switches_of
from sunseal.requests.measuring import Progress, Timing

CYCLES_MAX = 4_000_000_000
"""Cycles behind which a run is given up: 160 s at 25 MHz, ten times the slowest workload here."""

CLOCK_GRACE = 0.005
"""A clock of 8 MHz may be set up as 8.0x: what the engine allows too."""


@dataclass(frozen=True)
class Measurement(Shown):
    """One operation at one operating point, in SI base units; the fields are those of `--json`."""

    workload: str
    board: str
    variant: str
    toolchain: str
    freq_hz: int
    vcc_v: float
    cycles: int
    time_s: float
    energy_j: float
    energy_by_state_j: dict[str, float]
    flash_bytes: int
    ram_bytes: int
    stack_bytes: int
    counts: dict[str, int]
    power_set: str
    result_valid: bool | None
    """True if an independent implementation agrees with the output; None where there is none."""
    uncertainty: dict[str, float]
    unchecked: tuple[str, ...] = ()
    """States and events whose coefficients were written from memory of their document and not read again."""
    assumed: tuple[str, ...] = ()
    """States and events whose coefficients are assumptions of ours and in no document."""
    lints: tuple[str, ...] = ()
    """Slips that a chip would punish, such as a multiplier's result read too early; not in the JSON."""
    measurement_unit: dict[str, float] | None = None
    """Reading that the unit of Mane 2014, section 3.1, would have had, if that was asked for."""
    timing: dict[str, Any] | None = None
    """Switches of the core's timing where they were set: those, and the cycles and joules that the default gives."""
    coprocessor: dict[str, Any] | None = None
    """On a board with one: what it drew on each of its supplies, with the bracket; `mote_j` is the mote alone."""
    memory_path: str | None = None
    """The open question of a Cortex-M4's count of cycles, where nobody has measured the chip's flash, cache and bus."""

    def cite(self) -> citing.Citations:
        """Return the documents behind device, board and coefficients."""
        return citing.of(board=self.board, power_sets=[self.power_set])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in the order of the contract."""
        fields = {k: v for k, v in asdict(self).items() if k != "lints"}
        for asked in ("measurement_unit", "timing", "coprocessor", "memory_path"):
            if fields[asked] is None:
                del fields[asked]
        return fields


@dataclass(frozen=True)
class Program:
    """Program that is run, and the two points between which it is measured."""

    label: str
    image: bytes
    window: tuple[str, str] | None
    """Symbols; None stands for the edges of the trigger mark."""
    workload: boards.Workload | None
    wires: coprocessor.Wires = ()
    """Wires that the variant says of parts on the board."""
    adc_v: tuple[tuple[int, float], ...] = ()
    """Channels of the ADC with the voltage at each."""
    beside_fpga: bool = False
    """It raises the clock of a chip without a crystal to what it runs at beside a coprocessor."""

    @property
    def own_clock(self) -> bool:
        """Tell whether it sets its clocks itself, and so has a price at no other."""
        return self.workload is None or self.workload.own_clock or self.beside_fpga


def builtin(workload: str | boards.Workload, board: str, variant: Mapping[str, str]) -> Program:
    """Load the bench program of a workload."""
    known = boards.workload(workload) if isinstance(workload, str) else workload
    path = boards.firmware_path(board, dict(variant), f"bench-{known.program}")
    beside_fpga = bool(coprocessor.fitted(board)) and boards.load(board).clock_hz is None  # `power_sets.only_clock_hz`
    return Program(
        known.name, path.read_bytes(), None, known, coprocessor.wires(board, variant), beside_fpga=beside_fpga
    )


def own(elf: Path, board: str, window: tuple[str, str] | None, adc_v: Mapping[int, float] | None = None) -> Program:
    """Load the user's program."""
    image = images.read(elf, boards.load(board).device)
    return Program(elf.name, image, window, None, adc_v=tuple(sorted((adc_v or {}).items())))


def fed(workload: str | boards.Workload, board: str, variant: Mapping[str, str] | None = None) -> Machine:
    """Return a board with a workload's program and the operands that it is measured with, just powered on."""
    program = builtin(workload, board, boards.variant((), board) if variant is None else variant)
    assert program.workload is not None
    machine = Machine(board, program.image, timing=dict(program.wires))
    operands = oracle.trial(program.workload).fed
    machine.write("bench_input", operands)
    machine.write("bench_input_len", len(operands).to_bytes(2, "little"))
    return machine


def run(
    program: Program, board: str, progress: Progress | None = None, timing: Timing | None = None
) -> tuple[_engine.Counts, bool | None]:
    """Count one run of a program, from the cache if this very run was made before."""
    work = program.workload
    if work is None:
        return _counted(program, board, None, 0, progress, timing), None
    trial = oracle.trial(work)
    counts = _counted(program, board, trial.fed, trial.output_bytes, progress, timing)
    valid = trial.right(counts.output) if counts.status == oracle.STATUS_OK else False
    if trial.refused is not None:
        refused = _counted(program, board, trial.refused, trial.output_bytes, progress, timing)
        valid = valid and refused.status != oracle.STATUS_OK
    return counts, valid


def count(program: Program, board: str, fed: bytes) -> _engine.Counts:
    """Count one run of a workload's program with an input of one's own, whose output nobody judges."""
    return _counted(program, board, fed, 0, None)


def at_clock(program: Program, weights: power_sets.PowerSet, freq_hz: int, vcc_v: float) -> Program:
    """Write the wait states of a clock into a workload's image; a program of the user's own sets its own."""
    as_set_up = program.beside_fpga and freq_hz == power_sets.DEFAULT_FREQ_HZ
    if program.workload is not None and program.own_clock and not as_set_up:
        raise SunsealError(
            f"`{program.label}` sets up its own clock and takes as long as its oscillator says, so it has no price at "
            "another clock",
            hint=f"`sunseal measure {program.label}` without a clock prices it as it runs",
        )
    waits = power_sets.wait_states(weights, freq_hz, vcc_v)
    if waits == 0 or program.workload is None:
        return program
    at = file_offset(program.image, "bench_wait_states")
    return replace(program, image=program.image[:at] + bytes([waits]) + program.image[at + 1 :])


def file_offset(image: bytes, name: str) -> int:
    """Find where a 32-bit little-endian ELF holds an object's bytes."""
    (shoff,), (shnum,) = struct.unpack_from("<I", image, 32), struct.unpack_from("<H", image, 48)
    sections = [struct.unpack_from("<10I", image, shoff + 40 * i) for i in range(shnum)]
    wanted = name.encode() + b"\0"
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        for at in range(offset, offset + size, 16) if kind == 2 else ():
            label, value, _, _, _, place = struct.unpack_from("<IIIBBH", image, at)
            if image[sections[link][4] + label :].startswith(wanted):
                return int(sections[place][4] + value - sections[place][3])
    raise SunsealError(f"the firmware has no `{name}`", hint="run `make all-boards` in the repository")


def image_bytes(image: bytes) -> int:
    """Return what an ELF's segments bring: the bytes that a programmer writes."""
    (phoff,), (phnum,) = struct.unpack_from("<I", image, 28), struct.unpack_from("<H", image, 44)
    heads = (struct.unpack_from("<5I", image, phoff + 32 * i) for i in range(phnum))
    return sum(size for kind, _, _, _, size in heads if kind == 1)


@answers(requests.Measure)
def measure(to: requests.Measure) -> Measurement:
    """Measure a built-in workload, or your own ELF between two symbols or its trigger marks.

    Without a clock or a supply the board's own are taken (see `operating_point`). Your own ELF, and a workload that
    an oscillator times, is priced at the clock and the core voltage level that it sets up itself; another clock is
    refused. Your own ELF finds the voltages of
    `adc_v` at channels of the ADC. With `unit`, say also what the thesis's measurement unit would have read of it;
    with `timing`, switches of docs/accuracy.md, what the result owes to them.
    """
    program, label = _choose(to)
    board, freq_hz, vcc_v = to.board, to.freq_hz, to.vcc_v
    weights = power_sets.PowerSet(to.power, board, to.allow)
    if program.own_clock:
        counts, valid = run(program, board, to.progress, switches_of(to))
        vcc_v = own_vcc(weights, counts, vcc_v)
        freq_hz = own_clock(program, counts, freq_hz)
        point = weights.inner.weigh_as_run(coprocessor.without(board, counts), vcc_v)
    else:
        freq_hz, vcc_v = power_sets.operating_point(weights, freq_hz, vcc_v)
        only_as_wired(board, weights, freq_hz)
        counts, valid = run(at_clock(program, weights, freq_hz, vcc_v), board, to.progress, switches_of(to))
        point = weights.inner.weigh(coprocessor.without(board, counts), freq_hz, vcc_v)
    measured = _weighed(program.label, board, label, counts, valid, weights, freq_hz, vcc_v, point)
    measured = _with_coprocessor(measured, coprocessor.price(board, counts))
    if to.allow and freq_hz > weights.inner.freq_max_hz(vcc_v) and not measured.lints:
        measured = replace(measured, lints=(_above(weights, freq_hz, vcc_v),))
    if measured.flash_bytes == 0:  # a program in FRAM
        measured = replace(measured, flash_bytes=image_bytes(program.image))
    if to.timing:
        at = {"freq_hz": None if program.own_clock else freq_hz, "vcc_v": vcc_v}
        plain = measure(**{**vars(to), **at, "timing": None, "unit": False, "progress": None})
        default = {"cycles": plain.cycles, "time_s": plain.time_s, "energy_j": plain.energy_j}
        measured = replace(measured, timing={"switches": dict(timing_pairs(to.timing)), "default": default})
    if not to.unit:
        return measured
    return replace(measured, measurement_unit=_unit_reading(weights, counts, freq_hz, vcc_v))


def _above(weights: power_sets.PowerSet, freq_hz: int, vcc_v: float) -> str:
    return (
        f"{_mhz(freq_hz)} is above the {_mhz(weights.inner.freq_max_hz(vcc_v))} that the data sheet allows at "
        f"{vcc_v:g} V, and priced as asked for: a part may fail there, and no printed current speaks for it"
    )


def only_as_wired(board: str, weights: power_sets.PowerSet, freq_hz: int | None) -> None:
    """Refuse another clock of a mote with a coprocessor: its cycles beside the coprocessor's clock would be others."""
    only_hz = power_sets.only_clock_hz(weights.board)
    if only_hz is not None and coprocessor.fitted(board) and freq_hz != only_hz:
        raise SunsealError(
            f"{board} has a coprocessor with a clock of its own, so a run cannot be priced at another clock than the "
            f"mote's, {_mhz(only_hz)}"
        )


def _with_coprocessor(measured: Measurement, price: dict[str, Any] | None) -> Measurement:
    """Add what a coprocessor drew to a measurement of its mote."""
    if price is None:
        return measured
    states = {f"coprocessor.{rail}": energy_j for rail, energy_j in price["rails_j"].items()}
    bracket = {k: measured.uncertainty[k] + price[k] for k in ("energy_low_j", "energy_high_j")}
    unchecked, assumed = (*measured.unchecked, *price["unchecked"]), (*measured.assumed, *price["assumed"])
    price = {k: v for k, v in price.items() if k not in ("unchecked", "assumed")}
    return replace(
        measured,
        unchecked=unchecked,
        assumed=assumed,
        energy_j=measured.energy_j + price["energy_j"],
        energy_by_state_j={**measured.energy_by_state_j, **states},
        uncertainty={**measured.uncertainty, **bracket},
        coprocessor={"mote_j": measured.energy_j, **price},
    )


def _mhz(clock_hz: float) -> str:
    return f"{clock_hz / 1e6:.6g} MHz"


def own_clock(program: Program, counts: _engine.Counts, asked_hz: int | None) -> int:
    """Return the clock that a program of the user's own runs at between its marks; refuse another."""
    clocks = counts.clocks()
    if not clocks:  # asleep from mark to mark
        return asked_hz or power_sets.DEFAULT_FREQ_HZ
    own_hz = clocks[0][0]
    if asked_hz is None or abs(asked_hz - own_hz) <= CLOCK_GRACE * own_hz:
        return own_hz
    ran = ", ".join(f"{_mhz(hz)} at core voltage level {level} ({n:,} cycles)" for hz, level, n in clocks)
    raise SunsealError(
        f"`{program.label}` sets up its own clock and runs at {ran} between its marks, not at the "
        f"{_mhz(asked_hz)} asked for",
        hint="leave the clock out to have that priced, or have the program set up the other clock, with its wait "
        "states and core voltage",
    )


def own_vcc(weights: power_sets.PowerSet, counts: _engine.Counts, vcc_v: float | None) -> float:
    """Return the supply for a program of the user's own: the default where its clock allows that, else the board's."""
    _, default_v = power_sets.operating_point(weights, power_sets.DEFAULT_FREQ_HZ, vcc_v)
    fastest = max((hz for hz, _, _ in counts.clocks()), default=0)
    enough = fastest <= weights.inner.freq_max_hz(default_v) * (1 + CLOCK_GRACE)
    return default_v if vcc_v is not None or enough else weights.board.vcc_v


def _unit_reading(weights: power_sets.PowerSet, counts: _engine.Counts, freq_hz: int, vcc_v: float) -> dict[str, float]:
    reading = weights.inner.unit_reading(counts, freq_hz, vcc_v)
    names = "shunt_ohm adc_bits vref_v sample_rate_hz samples clipped energy_j cycles error_j bound_j".split()
    return {name: getattr(reading, name) for name in names}


@answers(requests.Curve)
def curve(to: requests.Curve) -> list[dict[str, Any]]:
    """Weigh a run over every operating point, each whole megahertz that each voltage allows; wait states make the
    run anew. Your own ELF sets its clock itself: its curve goes over the voltages alone, as does that of a board with
    a coprocessor, whose supplies have voltages of their own and count the same at each of the mote's."""
    program, _ = _choose(to)
    board, voltages_v = to.board, to.voltages_v
    weights = power_sets.PowerSet(to.power, board, to.allow)
    wired_hz = weights.board.clock_hz if coprocessor.fitted(board) else None
    for vcc_v in voltages_v:
        weights.inner.check(wired_hz or 1_000_000, vcc_v)  # a voltage without a legal clock is no empty curve
    if program.own_clock:
        counts, _ = run(program, board, to.progress, switches_of(to))
        own_hz = own_clock(program, counts, None)
        legal = [
            v for v in power_sets.curve_voltages(weights) if own_hz <= weights.inner.freq_max_hz(v) * (1 + CLOCK_GRACE)
        ]
        return [
            _point(own_hz, vcc_v, counts, weights.inner.weigh_as_run(coprocessor.without(board, counts), vcc_v), board)
            for vcc_v in voltages_v or legal
        ]
    points = []
    for vcc_v in voltages_v or power_sets.curve_voltages(weights):
        fastest_hz = weights.inner.freq_max_hz(vcc_v)
        whole_hz = range(1_000_000, fastest_hz + 1, 1_000_000)
        for freq_hz in whole_hz if wired_hz is None else [wired_hz] if wired_hz <= fastest_hz else []:
            # From the profile cache but for the first clock of each number of wait states.
            counts, valid = run(at_clock(program, weights, freq_hz, vcc_v), board, to.progress, switches_of(to))
            if valid is False:
                raise SunsealError(f"`{program.label}` gives a wrong result, so its curve would mean nothing")
            mote = weights.inner.weigh(coprocessor.without(board, counts), freq_hz, vcc_v)
            points.append(_point(freq_hz, vcc_v, counts, mote, board))
    return points


def _point(freq_hz: int, vcc_v: float, counts: _engine.Counts, mote: _engine.Weighed, board: str) -> dict[str, Any]:
    names = ("energy_j", "energy_low_j", "energy_high_j")
    joules = dict(zip(names, power_sets.with_coprocessor(mote, board, counts).energy_j, strict=True))
    return {
        "freq_hz": freq_hz,
        "vcc_v": vcc_v,
        "vcore": mote.vcore,
        "cycles": counts.cycles,
        "time_s": mote.time_s,
        **joules,
        "power_w": joules["energy_j"] / mote.time_s,
    }


@answers(requests.Operation)
def profile(to: requests.Operation) -> dict[str, int]:
    """Return folded stacks (`outer;inner`) and the cycles spent in each."""
    program, _ = _choose(to)
    work = program.workload
    device = boards.device_path(boards.load(to.board).device)
    coprocessor.ready(to.board, program.wires)
    return _engine.profile(
        boards.load(to.board),
        str(device),
        program.image,
        program.window,
        oracle.trial(work).fed if work else None,
        CYCLES_MAX,
        [*timing_pairs(to.timing), *program.wires],
        to.progress,
        list(program.adc_v),
    )


def in_joules(folded: Mapping[str, int], cycles: int, energy_j: float) -> dict[str, float]:
    """Weigh stacks: every cycle between the marks carries the same share of the energy."""
    if cycles <= 0:
        raise SunsealError("no cycles lie between the marks, so there is nothing to weigh")
    return {stack: count * energy_j / cycles for stack, count in folded.items()}


def _choose(to: requests.Operation) -> tuple[Program, str]:
    board, elf = to.board, to.elf
    boards.board_path(board)
    if (to.workload is None) == (elf is None):
        raise SunsealError(
            "nothing to measure, or two things: give a workload or `--elf FILE`",
            hint="`sunseal workloads` lists the workloads",
        )
    window = to.between()
    if elf is not None:
        if to.variant:
            raise SunsealError("`--variant` belongs to a workload; your own ELF is one variant already")
        return own(elf, board, window, to.adc_v), "own"
    assert to.workload is not None
    if to.adc_v:
        raise SunsealError("`--adc` belongs to a program of yours; no workload reads the ADC")
    chosen = boards.variant(tuple(to.variant), board)
    return builtin(to.workload, board, chosen), boards.variant_text(chosen)


def _weighed(
    label: str,
    board: str,
    variant: str,
    counts: _engine.Counts,
    valid: bool | None,
    weights: power_sets.PowerSet,
    freq_hz: int,
    vcc_v: float,
    point: _engine.Weighed,
) -> Measurement:
    lints = tuple(counts.lints)
    if valid is None and len(clocks := counts.clocks()) > 1:
        parts = ", ".join(f"{n:,} cycles at {_mhz(hz)}" for hz, _, n in clocks)
        lints += (f"the program changes its clock between its marks: {parts}; each part is priced at its own",)
    return Measurement(
        workload=label,
        board=board,
        variant=variant,
        toolchain=(boards.carried_compiler(board) if variant != "own" else None) or counts.toolchain,
        freq_hz=freq_hz,
        vcc_v=vcc_v,
        cycles=counts.cycles,
        time_s=point.time_s,
        energy_j=point.energy_j,
        energy_by_state_j=point.by_state_j,
        flash_bytes=counts.flash_bytes,
        ram_bytes=counts.ram_bytes,
        stack_bytes=counts.stack_bytes,
        counts=counts.counts(),
        power_set=weights.name,
        result_valid=valid,
        uncertainty={"energy_low_j": point.energy_low_j, "energy_high_j": point.energy_high_j},
        unchecked=power_sets.used(point.unchecked, point),
        assumed=power_sets.used(point.assumed, point),
        lints=lints,
        memory_path=weights.facts.get("memory_path", {}).get("unknown"),
    )


# --- The cache of operation profiles ---------------------------------------------------------


@cache
def engine_id() -> bytes:
    """Tell one build of the engine from another: by its bytes."""
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).digest()


def _counted(
    program: Program,
    board: str,
    fed: bytes | None,
    takes: int,
    progress: Progress | None,
    timing: Timing | None = None,
) -> _engine.Counts:
    device = boards.load(board).device
    key = hashlib.sha256()
    window = json.dumps(program.window).encode()
    switches = [*timing_pairs(timing), *program.wires]
    for part in (
        engine_id(),
        json.dumps(boards.device(device), sort_keys=True).encode(),
        json.dumps(boards.board(board), sort_keys=True).encode(),
        program.image,
        window,
        fed or b"",
        str(takes).encode(),
        json.dumps(switches).encode(),
        json.dumps(program.adc_v).encode(),
        *(json.dumps(f, sort_keys=True).encode() for f in coprocessor.fitted(board).values()),
        coprocessor.models_id(board).encode(),
    ):
        key.update(len(part).to_bytes(8, "big") + part)
    path = boards.kept("profiles", f"{key.hexdigest()}.json")
    with contextlib.suppress(OSError, _engine.EngineError):
        return _engine.Counts.from_json(path.read_text(encoding="utf-8"))
    coprocessor.ready(board, program.wires)
    counts = _engine.run(
        boards.load(board),
        str(boards.device_path(device)),
        program.image,
        program.window,
        fed,
        takes,
        CYCLES_MAX,
        switches,
        progress,
        list(program.adc_v),
    )
    with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
        writing.write_atomic(boards.cache_dir() / "profiles" / path.name, counts.to_json())
    return counts
