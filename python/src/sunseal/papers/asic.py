# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal hdl energy`: what a core takes in a cell library, from what each net of its netlist does in simulation.

Yosys maps the core, Icarus simulates the netlist with the library's delays, so that nets glitch as the cells let them,
and each net's edges are weighed by the library's tables:

    E = sum over nets   rises x C x V^2  +  edges x internal(C, slew)
      + sum over inputs edges x passive(slew)  +  leakage x time

C is the pins that hang on a net and its wire, whose length is Donath's mean over a square of these cells. The clock's
share is its net, wires and pins, and what flops take of each of its edges. Pads, a tree of clock buffers and the pins
that feed the core are not in it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sunseal.catalog.boards import home
from sunseal.errors import SunsealError, unknown
from sunseal.papers import base, hdl

LIBRARY = "osu018"
CORES = ("aes128", "xtea", "present128")
"""Designs of `hdl.DESIGNS` that can be weighed."""
PERIOD_NS = 20.0
"""50 MHz, the clock of the report's board; all but leakage is the same at any other."""
BLOCKS = 8
SLEW_NS = 0.12
"""Slew of an input that no cell of the core drives, and of the clock."""
RENT = 0.6
"""Rent's exponent of random logic (Donath 1979: 0.5 to 0.75)."""
FILL = 0.7
"""Share of the area that is cells."""
WIRE_MOST = 2.0
"""The bracket is from no wires at all to so many times their length."""


@dataclass
class Group:
    """A group of a liberty file: `cell (NAND2X1) { ... }`."""

    kind: str
    name: str
    values: dict[str, str] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)

    def of(self, kind: str) -> Iterator[Group]:
        """Return the groups of a kind in it."""
        return (g for g in self.groups if g.kind == kind)


TOKEN = re.compile(r"""/\*.*?\*/|\\\n|"[^"]*"|[\w.+-]+|[(){}:;,]""", re.DOTALL)


def liberty(text: str) -> Group:
    """Read a liberty file: groups, simple attributes, and complex ones as what stands in their brackets."""
    tokens = (t for t in TOKEN.findall(text) if not t.startswith(("/*", "\\")))
    root = Group("", "")
    stack, before = [root], ""
    for token in tokens:
        if token == "}":
            stack.pop()
        elif token == ":":
            stack[-1].values[before] = next(tokens).strip('"')
        elif token == "(":
            inside = list(itertools.takewhile(lambda t: t != ")", tokens))
            told = " ".join(t.strip('"') for t in inside if t != ",")
            if next(tokens, ";") == "{":
                stack.append(Group(before, told))
                stack[-2].groups.append(stack[-1])
            else:
                stack[-1].values[before] = told
        before = token
    return next(root.of("library"))


@dataclass(frozen=True)
class Table:
    """A table of a liberty file over one variable or two, ended flat."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    values: np.ndarray[Any, np.dtype[np.float64]]

    @classmethod
    def of(cls, group: Group) -> Table:
        """Read `index_1`, `index_2` and `values`."""
        x, y, flat = (
            [float(t) for t in re.split(r"[\s,]+", group.values.get(k, "").strip()) if t]
            for k in ("index_1", "index_2", "values")
        )
        return cls(tuple(x), tuple(y), np.array(flat).reshape(len(x), max(len(y), 1)))

    def at(self, x: float, y: float = 0.0) -> float:
        """Interpolate between the printed points."""
        rows = [float(np.interp(x, self.x, column)) for column in self.values.T]
        return rows[0] if not self.y else float(np.interp(y, self.y, rows))


@dataclass(frozen=True)
class Cell:
    """A cell of a library; pF, ns, pJ, nW and square micrometres as the file has them."""

    area: float
    leakage_nw: float
    inputs: Mapping[str, float]
    """Capacitance of each input, the mean of both edges."""
    outputs: tuple[str, ...]
    clock: str | None
    passive: Mapping[str, tuple[Table, Table]]
    """Energies of an input's rise and fall."""
    active: Mapping[str, tuple[tuple[str, Table, Table], ...]]
    """Energies of an output's rise and fall, by the input that led to it."""
    slew: Mapping[str, tuple[Table, ...]]


def _edges(group: Group, rise: str, fall: str) -> tuple[Table, Table] | None:
    up, down = next(group.of(rise), None), next(group.of(fall), None)
    return None if up is None or down is None else (Table.of(up), Table.of(down))


def _cell(group: Group) -> Cell:
    inputs, outputs, clock, passive, active, slew = {}, [], None, {}, {}, {}
    for pin in group.of("pin"):
        powers = [
            (g.values.get("related_pin", ""), _edges(g, "rise_power", "fall_power")) for g in pin.of("internal_power")
        ]
        known = [(related, edges) for related, edges in powers if edges is not None]
        if pin.values.get("direction") == "output":
            outputs.append(pin.name)
            active[pin.name] = tuple((related, *edges) for related, edges in known)
            found = [_edges(g, "rise_transition", "fall_transition") for g in pin.of("timing")]
            slew[pin.name] = tuple(t for edges in found if edges is not None for t in edges)
        else:
            both = [
                float(pin.values.get(k, pin.values["capacitance"])) for k in ("rise_capacitance", "fall_capacitance")
            ]
            inputs[pin.name] = sum(both) / 2
            if pin.values.get("clock") == "true":
                clock = pin.name
            if known:
                passive[pin.name] = known[0][1]
    area, leakage = (float(group.values.get(k, 0.0)) for k in ("area", "cell_leakage_power"))
    return Cell(area, leakage, inputs, tuple(outputs), clock, passive, active, slew)


@dataclass(frozen=True)
class Library:
    """A library's cells and voltage, and the capacitance of a micrometre of wire."""

    name: str
    voltage_v: float
    cells: Mapping[str, Cell]
    wire_pf_per_um: float


@cache
def library(name: str = LIBRARY) -> Library:
    """Read a library of Debian's qflow: cells from its liberty file, wires from second and third metal of its LEF."""
    if name not in hdl.LIBRARIES:
        raise unknown("library", name, hdl.LIBRARIES)
    told = liberty((hdl.tools() / f"{name}_stdcells.lib").read_text())
    units = (
        told.values.get("capacitive_load_unit"),
        told.values.get("voltage_unit"),
        told.values.get("leakage_power_unit"),
    )
    if units != ("1 pf", "1V", "1nW"):
        raise SunsealError(f"{name}_stdcells.lib counts in {units}; 1 pf, 1V and 1nW are what is read here")
    lef = (_qflow(name) / f"{name}_stdcells.lef").read_text()
    metals = [_layer_pf_per_um(name, lef, metal) for metal in ("metal2", "metal3")]
    cells = {g.name: _cell(g) for g in told.of("cell")}
    return Library(name, float(told.values["nom_voltage"]), cells, sum(metals) / len(metals))


def _layer_pf_per_um(name: str, lef: str, metal: str) -> float:
    """Return a wire's capacitance of a width, to what lies below and at both its edges."""
    layer = re.search(rf"^LAYER {metal}\n(.*?)^END {metal}", lef, re.DOTALL | re.MULTILINE)
    found = {}
    for key in ("WIDTH", "CPERSQDIST", "EDGECAPACITANCE"):
        value = re.search(rf"\b{key}\s+([\d.e+-]+)", layer[1]) if layer else None
        if value is None:
            raise SunsealError(f"{name}_stdcells.lef has no {key} of {metal}, so its wires have no capacitance")
        found[key] = float(value[1])
    return found["WIDTH"] * found["CPERSQDIST"] + 2 * found["EDGECAPACITANCE"]


def _qflow(name: str) -> Path:
    share = hdl.tools().parent / "debian" / "usr" / "share" / "qflow" / "tech" / name
    return share if share.exists() else Path("/usr/share/qflow/tech") / name


def wire_um(cells: int, area: float) -> float:
    """Return the mean length from a driver to one of its pins of cells in a square.

    W. E. Donath, Placement and average interconnection lengths of computer logic, IEEE Transactions on Circuits and
    Systems 26(4), 1979; recalled, not read here.
    """
    n, p = float(cells), RENT
    pitches = (
        2 / 9 * (1 - 4 ** (p - 1)) / (1 - n ** (p - 1))
        * (7 * (n ** (p - 0.5) - 1) / (4 ** (p - 0.5) - 1) - (1 - n ** (p - 1.5)) / (1 - 4 ** (p - 1.5)))
    )  # fmt: skip
    return float(pitches * math.sqrt(area / FILL / cells))


# --- What a simulation did ---------------------------------------------------------------------


@dataclass(frozen=True)
class Activity:
    """Edges of each bit of a netlist between the first start and the last block."""

    rises: Mapping[str, int]
    falls: Mapping[str, int]
    time_s: float
    clocks: int


def activity(dump: Path, clock: str) -> Activity:
    """Count edges in a value-change dump: bits by name, of a vector `name[i]`."""
    names: dict[str, list[str]] = {}
    rises, falls, state = Counter[str](), Counter[str](), dict[str, str]()
    first = last = 0
    unit_s = 1e-12
    with dump.open() as lines:
        for line in lines:
            words = line.split()
            if line.startswith("$timescale"):
                told = re.search(r"(\d+)\s*([munpf]?)s", line + next(lines))
                assert told is not None
                unit_s = int(told[1]) * {"m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "": 1.0}[told[2]]
            elif line.startswith("$var"):
                width, code, name = int(words[2]), words[3], words[4].lstrip("\\")
                names[code] = [name] if width == 1 else [f"{name}[{i}]" for i in range(width)]
            elif line.startswith("#"):
                last = int(line[1:])
                first = first or last
            elif words and words[0][0] in "01xzb" and not line.startswith("$"):
                value, code = (words[0][1:], words[1]) if words[0][0] == "b" else (words[0][0], words[0][1:])
                bits = names[code]
                value = value.rjust(len(bits), "0" if value[0] in "01" else value[0])
                for name, new in zip(bits, reversed(value), strict=True):
                    old, state[name] = state.get(name), new
                    if old == "0" and new == "1":
                        rises[name] += 1
                    elif old == "1" and new == "0":
                        falls[name] += 1
    return Activity(rises, falls, (last - first) * unit_s, rises[clock])


# --- Weighing ----------------------------------------------------------------------------------

PARTS = ("switching", "internal", "clock", "leakage")


@dataclass(frozen=True)
class Energy:
    """Energy of a core for so many bytes in a library of cells."""

    design: str
    library: str
    bytes: int
    clocks: int
    cells: int
    parts_j: Mapping[str, float]
    wire_j: float
    """The wires' share of `switching` and `clock`."""
    low_j: float
    """Without wires, and each output by the input that costs the least."""
    high_j: float

    @property
    def energy_j(self) -> float:
        """Return the sum of its parts."""
        return sum(self.parts_j.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {**vars(self), "parts_j": dict(self.parts_j), "energy_j": self.energy_j}


@dataclass(frozen=True)
class Netlist:
    """Cells and what hangs on each net, by the names that a dump has."""

    cells: Mapping[str, tuple[str, Mapping[str, str]]]
    """Type and net of each pin."""

    @classmethod
    def read(cls, path: Path, top: str) -> Netlist:
        """Read what yosys' write_json wrote."""
        module = json.loads(path.read_text())["modules"][top]
        named: dict[Any, str] = {"0": "0", "1": "1", "x": "x"}
        ports = set(module["ports"])
        for name, net in sorted(module["netnames"].items(), key=lambda n: n[0] not in ports):
            bits = net["bits"]
            for i, bit in enumerate(bits):
                named.setdefault(bit, name if len(bits) == 1 else f"{name}[{i}]")
        return cls(
            {
                name: (cell["type"], {pin: named[bits[0]] for pin, bits in cell["connections"].items() if bits})
                for name, cell in module["cells"].items()
            }
        )


def weigh(
    netlist: Netlist, done: Activity, cells: Library, wires: float = 1.0, arc: Any = None
) -> tuple[dict[str, float], float]:
    """Sum up what a simulation took, J: the parts, and the wires' share. `arc` chooses among an output's inputs."""
    pins: dict[str, list[tuple[Cell, str]]] = defaultdict(list)
    area = 0.0
    for kind, connections in netlist.cells.values():
        cell = cells.cells[kind]
        area += cell.area
        for pin, net in connections.items():
            if pin in cell.inputs:
                pins[net].append((cell, pin))
    length_um = wires * wire_um(len(netlist.cells), area)
    wire_pf = {net: len(on) * length_um * cells.wire_pf_per_um for net, on in pins.items()}
    load_pf = {net: wire_pf[net] + sum(cell.inputs[pin] for cell, pin in on) for net, on in pins.items()}
    slew: dict[str, float] = {}
    for kind, connections in netlist.cells.values():
        cell = cells.cells[kind]
        for pin in cell.outputs:
            if pin in connections and cell.slew[pin]:
                load = load_pf.get(connections[pin], 0.0)
                slew[connections[pin]] = float(np.mean([t.at(load, SLEW_NS) for t in cell.slew[pin]]))
    parts, wire_j = dict.fromkeys(PARTS, 0.0), 0.0
    clocks = {net for net, on in pins.items() if any(pin == cell.clock for cell, pin in on)}
    for net, load in load_pf.items():
        of = "clock" if net in clocks else "switching"
        parts[of] += done.rises.get(net, 0) * load * cells.voltage_v**2 * 1e-12
        wire_j += done.rises.get(net, 0) * wire_pf[net] * cells.voltage_v**2 * 1e-12
    choose = arc or (lambda found: float(np.mean(found)))
    for kind, connections in netlist.cells.values():
        cell = cells.cells[kind]
        parts["leakage"] += cell.leakage_nw * 1e-9 * done.time_s
        for pin, tables in cell.passive.items():
            net = connections.get(pin, "x")
            edges = done.rises.get(net, 0), done.falls.get(net, 0)
            of = "clock" if pin == cell.clock else "internal"
            parts[of] += sum(n * t.at(slew.get(net, SLEW_NS)) for n, t in zip(edges, tables, strict=True)) * 1e-12
        for pin in cell.outputs:
            net = connections.get(pin, "x")
            for n, edge in ((done.rises.get(net, 0), 1), (done.falls.get(net, 0), 2)):
                if n and cell.active[pin]:
                    found = [
                        a[edge].at(load_pf.get(net, 0.0), slew.get(connections.get(a[0], "x"), SLEW_NS))  # type: ignore[union-attr]
                        for a in cell.active[pin]
                    ]
                    parts["internal"] += n * choose(found) * 1e-12
    return parts, wire_j


def _vectors(name: str) -> list[str]:
    """Return blocks that look random, each under a key of its own, with what an independent cipher makes of them."""
    block, encrypt = base.cipher_of(name)
    found = []
    for i in range(BLOCKS):
        digest = hashlib.sha256(f"{name} {i}".encode()).digest()
        key, text = digest[:16], digest[16 : 16 + block]
        found.append(f"{key.hex()} {text.hex()} {encrypt(key, text).hex()}")
    return found


@cache
def energy(name: str, library_name: str = LIBRARY) -> Energy:
    """Map, simulate and weigh a core; per 16 bytes, the mean over vectors, whose results are checked."""
    if name not in CORES:
        raise unknown("core", name, CORES)
    design, cells = next(d for d in hdl.DESIGNS if d.name == name), library(library_name)
    block, _ = base.cipher_of(name)
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        hdl.map_gates(
            design, library_name, work, f"write_json {work}/net.json; write_verilog -noattr -noexpr {work}/net.v;"
        )
        blocks = _simulate(design, library_name, work, block)
        done = activity(work / "dump.vcd", "clk_i")
        netlist = Netlist.read(work / "net.json", design.top)
    share = 16 / block / blocks
    parts, wire_j = weigh(netlist, done, cells)
    ends = [
        sum(weigh(netlist, done, cells, wires, arc)[0].values()) * share
        for wires, arc in ((0.0, min), (WIRE_MOST, max))
    ]
    return Energy(
        name,
        library_name,
        16,
        round(done.clocks * share),
        len(netlist.cells),
        {part: joules * share for part, joules in parts.items()},
        wire_j * share,
        ends[0],
        ends[1],
    )


def _simulate(design: hdl.Design, library_name: str, work: Path, block: int) -> int:
    """Run the bench of the cores on a netlist with the library's delays; return how many blocks came out right."""
    lines = _vectors(design.name)
    (work / "vectors").write_text("\n".join(lines) + "\n")
    files = [_qflow(library_name) / f"{library_name}_stdcells.v", work / "net.v", home() / "hdl" / "tb" / "core_tb.sv"]
    defines = [f"-DCORE={design.top}", "-DKEY_BYTES=16", f"-DBLOCK_BYTES={block}"]
    made = work / "core_tb.vvp"
    hdl.run_tool("iverilog", "-g2012", "-gspecify", *defines, "-s", "core_tb", "-o", str(made), *map(str, files))
    plus = [f"+vectors={work / 'vectors'}", f"+half_clock={PERIOD_NS / 2}", f"+dump={work / 'dump.vcd'}"]
    text = hdl.run_tool("vvp", "-n", str(made), *plus)
    found = re.findall(r"(\d+) passed, (\d+) failed", text)
    if not found or found[-1] != (str(len(lines)), "0"):
        raise SunsealError(
            f"{design.name} as a netlist of {library_name} gives wrong results, so its energy would mean nothing"
        )
    return len(lines)


def all_of(names: Sequence[str] | None = None, library_name: str = LIBRARY) -> list[Energy]:
    """Weigh cores, or all."""
    return [energy(name, library_name) for name in names or CORES]
