# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal hdl size`: what the cores of `hdl/` take on Spartan-3E, iCE40 and in gates, beside their goals."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sunseal.answers.verdicts import Finding, Verdict
from sunseal.catalog.boards import home
from sunseal.errors import MissingToolError, SunsealError, unknown
from sunseal.papers.slices import Mapped, law, read_netlist

LIBRARIES = ("osu035", "osu018")
TARGETS = ("spartan3e", "ice40", "gates")


@dataclass(frozen=True)
class Design:
    """A top module, how it is built on each target, and the most that it may take there."""

    name: str
    top: str
    parameters: dict[str, int]
    slices: float | None = None
    ice40: str = ""  # a device of nextpnr
    goals: dict[str, float] | None = None  # on iCE40: logic cells, block RAMs, and the least frequency in hertz
    gates: bool = True

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the targets that it is built for, of `TARGETS`."""
        return ("ice40" if self.ice40 else "spartan3e", *(("gates",) if self.gates else ()))


DESIGNS = (
    Design("aes128", "aes128", {}, 160),
    Design("xtea", "xtea", {}, 100),
    Design("present128", "present_serial", {}, 115),
    Design("present80-rounds", "present_round", {"KeyBits": 80}, 250),
    Design("present128-rounds", "present_round", {"KeyBits": 128}),
    Design("coprocessor-parallel", "coprocessor_parallel", {}, 470, gates=False),
    Design("coprocessor-parallel-lutram", "coprocessor_parallel", {"AddrBits": 4, "BlockRam": 0}, 471, gates=False),
    Design("coprocessor-uart", "coprocessor_uart", {}, gates=False),
    Design("coprocessor-spi", "coprocessor_spi", {}, gates=False),
    Design(
        "coprocessor-parallel-up5k",
        "coprocessor_up5k",
        {},
        ice40="up5k",
        goals={"logic_cells": 1100, "block_rams": 8, "freq_hz": 24e6},
        gates=False,
    ),
    Design("meter", "meter", {}, ice40="hx1k", goals={"logic_cells": 1280, "block_rams": 16, "freq_hz": 20e6}),
)
PACKAGES = {"up5k": "sg48", "hx1k": "tq144"}
Row = dict[str, Any]


def sources(technology: str, folder: Path | None = None) -> list[Path]:
    """Packages first, then what chooses a technology, its cells, the cores."""
    hdl = folder or home() / "hdl"
    rtl = sorted(hdl.glob("*/rtl/*.sv"))
    packages = [p for p in rtl if p.stem.endswith("_pkg")]
    chosen = [] if technology == "behavioural" else [hdl / "tech" / f"{technology}.sv"]
    return [*packages, *chosen, hdl / "tech" / "cells.sv", *(p for p in rtl if p not in packages)]


@cache
def tools() -> Path:
    """The folder with yosys, nextpnr and the simulators."""
    script = home() / "firmware" / "toolchain" / "get"
    done = subprocess.run(
        ["python3", str(script), "--for", "hdl", "--print-bin"], capture_output=True, text=True, check=False
    )
    folder = Path(done.stdout.strip())
    if done.returncode or not (folder / "yosys").exists():
        raise MissingToolError("the hardware tools are missing", hint="run `sunseal toolchain get --for hdl`")
    return folder


def run_tool(name: str, *arguments: str, cwd: Path | None = None) -> str:
    """Run one of the tools; what it printed, or its last line as an error."""
    command = [str(tools() / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line.lower()]
        raise SunsealError(f"{name} failed with status {done.returncode}: {(lines or ['it said nothing'])[-1].strip()}")
    return done.stdout + done.stderr


def synthesize(design: Design, technology: str, commands: str, folder: Path | None = None) -> str:
    """Read the sources, set the parameters, run the commands of yosys."""
    # The oscillators of a device stand around the design in a file of their own.
    around = (folder or home() / "hdl") / "tech" / f"{design.ice40}.sv"
    files = " ".join(str(p) for p in [*sources(technology, folder), *([around] if around.exists() else [])])
    chosen = "".join(f"chparam -set {k} {v} {design.top}; " for k, v in design.parameters.items())
    return run_tool("yosys", "-q", "-p", f"read_verilog -sv {files}; {chosen}hierarchy -top {design.top}; {commands}")


def map_spartan3e(design: Design, work: Path, hdl: Path | None = None) -> Mapped:
    """Map a design to cells of a Spartan-3E and count them."""
    flags = "-family xc3se -nowidelut -noiopad -flatten"
    net = work / "net.json"
    synthesize(design, "spartan3e", f"synth_xilinx {flags} -top {design.top}; write_json {net}", hdl)
    return read_netlist(net)


def place(design: Design, work: Path) -> dict[str, float]:
    """Place and route for iCE40; the slower clock of nextpnr's and icetime's counts."""
    package = PACKAGES[design.ice40]
    synthesize(design, "ice40", f"synth_ice40 -abc2 -top {design.top} -json {work}/net.json")
    target = [f"--{design.ice40}", "--package", package, "--seed", "1", "--freq", "30"]
    files = ["--json", f"{work}/net.json", "--asc", f"{work}/net.asc"]
    text = run_tool("nextpnr-ice40", *target, *files, "--pcf-allow-unconstrained", "--timing-allow-fail")
    timing = run_tool("icetime", "-d", design.ice40, "-P", package, "-t", f"{work}/net.asc")

    def found(pattern: str, where: str) -> float:
        values = re.findall(pattern, where)
        if not values:
            raise SunsealError(
                f"{design.name}: the placer's answer lacks `{pattern}`; another version of nextpnr or icetime?"
            )
        return float(values[-1])

    freqs = (found(r"Max frequency for clock [^:]*: ([0-9.]+) MHz", text), found(r"\(([0-9.]+) MHz\)", timing))
    return {
        "logic_cells": found(r"ICESTORM_LC:\s*(\d+)/", text),
        "block_rams": found(r"ICESTORM_RAM:\s*(\d+)/", text),
        "freq_hz": min(freqs) * 1e6,
    }


def map_gates(design: Design, library: str, work: Path, then: str = "") -> None:
    """Map a design to a cell library and write its area; every net inside gets a name of one word and one bit."""
    liberty = tools() / f"{library}_stdcells.lib"
    steps = (
        f"synth -flatten -top {design.top}; dfflibmap -liberty {liberty}; abc -liberty {liberty}; opt_clean -purge; "
        f"splitnets; rename -hide; rename -enumerate; tee -q -o {work}/area.txt stat -liberty {liberty}; {then}"
    )
    synthesize(design, "behavioural", steps)


def gates(design: Design, library: str, work: Path) -> float:
    """Area in two-input NAND gates of a cell library, without wires."""
    liberty = tools() / f"{library}_stdcells.lib"
    map_gates(design, library, work)
    area = re.findall(r"Chip area[^:]*: ([0-9.]+)", (work / "area.txt").read_text())
    nand = re.search(r"cell \(NAND2X1\) \{.*?area : ([0-9.]+)", liberty.read_text(), re.S)
    if not area or not nand:
        raise SunsealError(
            f"{liberty.name}: no area of the design or of NAND2X1; Debian's qflow-tech-{library} has both"
        )
    return float(area[-1]) / float(nand.group(1))


def size(names: list[str] | None = None, targets: list[str] | None = None) -> list[Row]:
    """Synthesize designs; a list of {design, target, value, unit, estimate, goal}."""
    known = {d.name: d for d in DESIGNS}
    for name in names or ():
        if name not in known:
            raise unknown("design", name, known)
    for target in targets or ():
        if target not in TARGETS:
            raise unknown("target", target, TARGETS)
    wanted = set(targets or TARGETS)
    for design in (known[name] for name in names or ()):
        if not wanted & set(design.targets):
            others = [d.name for d in DESIGNS if wanted & set(d.targets)]
            raise SunsealError(
                f"`{design.name}` is not built for {' or '.join(t for t in TARGETS if t in wanted)}, "
                f"but for {' and '.join(design.targets)}",
                hint=f"built for that: {', '.join(others)}",
            )
    rows: list[Row] = []

    def row(design: str, target: str, value: float, unit: str, estimate: str | None, goal: float | None) -> None:
        rows.append(
            {"design": design, "target": target, "value": value, "unit": unit, "estimate": estimate, "goal": goal}
        )

    for design in [known[n] for n in names] if names else DESIGNS:
        with tempfile.TemporaryDirectory() as made:
            work = Path(made)
            built = wanted & set(design.targets)
            if "spartan3e" in built:
                mapped = map_spartan3e(design, work)
                slices = round(law().estimate(mapped), 1)
                row(design.name, "xc3s500e", slices, "slices", law().told(slices), design.slices)
                row(design.name, "xc3s500e", mapped.block_rams, "block_rams", "as yosys maps", None)
            if "ice40" in built:
                for unit, value in place(design, work).items():
                    row(design.name, design.ice40, value, unit, None, (design.goals or {}).get(unit))
            if "gates" in built:
                for library in LIBRARIES:
                    value = round(gates(design, library, work), 0)
                    row(design.name, library, value, f"GE({library})", "cells without wires", None)
    return rows


def judged(rows: Sequence[Row]) -> Verdict:
    """Judge what designs take: a goal that is missed is a finding, and rows without a goal are not compared."""
    missed = tuple(
        Finding(
            "missed",
            f"{r['design']} on {r['target']}: {r['value']:g} {r['unit']}, the goal is {r['goal']:g}",
            r["design"],
        )
        for r in rows
        if meets(r) is False
    )
    return Verdict("hdl size", sum(meets(r) is not None for r in rows), missed)


def meets(row: Row) -> bool | None:
    """Tell whether a row meets its goal; None where it has none."""
    if row["goal"] is None:
        return None
    return bool(row["value"] >= row["goal"] if row["unit"] == "freq_hz" else row["value"] <= row["goal"])
