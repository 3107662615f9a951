# SPDX-License-Identifier: MIT OR Apache-2.0
"""A message's encryption in software beside the same in a coprocessor, each supply apart (Rizvi et al. 2009).

The mote is a MICA2 in both; the coprocessor's key is loaded before, as a key schedule is made before.
"""

from __future__ import annotations

import hashlib
import itertools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, coprocessor, power_sets, si
from sunseal.errors import MissingToolError, SunsealError, unknown
from sunseal.machine.machine import Machine
from sunseal.measurement import measuring, switching
from sunseal.papers import asic, base, hdl
from sunseal.papers.slices import Mapped, law

MOTE = "mica2"
BATCH_BYTES = 256
"""Bytes that the bench of software takes at once."""
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
"""Key of FIPS 197, appendix A.1; no cycle here depends on it."""
BUSES = ("parallel", "spi", "uart")


@dataclass(frozen=True)
class Cost:
    """Cost of a message."""

    cycles: int
    """Cycles of the mote's CPU."""
    time_s: float
    mote_j: float
    rails_j: Mapping[str, float]
    """Energy of the FPGA, by supply; none in software."""

    def energy_j(self, supplies: str = "all") -> float:
        """Return mote and FPGA with `all` its supplies, or its `core` alone, as the report could measure."""
        counted = self.rails_j.values() if supplies == "all" else [v for k, v in self.rails_j.items() if k == supplies]
        return self.mote_j + sum(counted)

    def less(self, other: Cost) -> Cost:
        """Return what came behind another time of the same run."""
        rails_j = {name: energy_j - other.rails_j[name] for name, energy_j in self.rails_j.items()}
        return Cost(self.cycles - other.cycles, self.time_s - other.time_s, self.mote_j - other.mote_j, rails_j)


@cache
def missing() -> str | None:
    """Say what of the tools that simulate hardware is not installed, and how to get it."""
    there, told = coprocessor.tool()
    return None if there else told


def _tools() -> None:
    lacking = missing()
    if lacking is not None:
        raise MissingToolError(lacking)


def _ready(board: str, wires: coprocessor.Wires) -> None:
    _tools()
    coprocessor.ready(board, wires)


def _fpga(board: str) -> tuple[str, dict[str, Any]]:
    found = coprocessor.fitted(board)
    if len(found) != 1:
        raise SunsealError(f"{board} has no coprocessor to set beside software")
    return next(iter(found.items()))


def _weighed(board: str, counts: _engine.Counts) -> Cost:
    weights = power_sets.PowerSet(boards.DEFAULT_POWER, board)
    freq_hz, vcc_v = power_sets.operating_point(weights, None, None)
    point = weights.inner.weigh(coprocessor.without(board, counts), freq_hz, vcc_v)
    price = coprocessor.price(board, counts)
    return Cost(counts.cycles, point.time_s, point.energy_j, {} if price is None else price["rails_j"])


def _text(size: int) -> bytes:
    return b"".join(hashlib.sha256(bytes([i])).digest() for i in range(-(-size // 32)))[:size]


@cache
def message(cipher: str, size: int, board: str = MOTE, bus: str | None = None) -> Cost:
    """Encrypt a message of so many bytes on a board, on a mote without an FPGA in software; its result is checked.

    Software's bench takes 256 bytes at once, so that longer messages are whole multiples of that.
    """
    if bus is None and size > BATCH_BYTES:
        times, rest = divmod(size, BATCH_BYTES)
        if rest:
            raise SunsealError(f"a message of {size} bytes is no multiple of {BATCH_BYTES}, as longer ones are here")
        one = message(cipher, BATCH_BYTES, board)
        return Cost(one.cycles * times, one.time_s * times, one.mote_j * times, {})
    block, encrypt = base.cipher_of(cipher)
    chosen = {} if bus is None else {"aes": "fpga", "bus": bus}
    program = measuring.builtin(f"{cipher}-encrypt", board, chosen)
    if bus is not None:
        _ready(board, program.wires)
    text = _text(size)
    device = str(boards.board(board)["device"])
    counts = _engine.run(
        boards.load(board),
        str(boards.device_path(device)),
        program.image,
        None,
        KEY + text,
        size,
        measuring.CYCLES_MAX,
        list(program.wires),
        None,
    )
    right = b"".join(encrypt(KEY, text[i : i + block]) for i in range(0, size, block))
    if counts.status != 0 or counts.output != right:
        raise SunsealError(f"{cipher} of {size} bytes on {board} gives a wrong result, so its cost would mean nothing")
    return _weighed(board, counts)


PHASES = ("send", "encrypt", "return")


@cache
def phases(cipher: str, board: str) -> dict[str, Cost]:
    """Split a message of 16 bytes on the parallel bus where the report's triggers did, by the toggles.

    Sent is what goes before the toggle that turns the bus, returned what comes from the first one behind it.
    """
    block, _ = base.cipher_of(cipher)
    sent = 16 + (1 if block == 16 else 2)  # a command byte, with a length behind it for two blocks
    wires = coprocessor.wires(board, {"bus": "parallel"})
    _ready(board, wires)
    elf = boards.firmware_path(board, {"aes": "fpga", "bus": "parallel"}, f"bench-{cipher}-encrypt")
    m = Machine(board, elf, timing=dict(wires))
    m.write("bench_input", KEY + _text(16))
    m.write("bench_input_len", (32).to_bytes(2, "little"))
    toggle, facts = str(_fpga(board)[1]["toggle"]), boards.board(board)
    trigger = facts["trigger"]

    def until(pin: str, edges: int) -> Cost:
        for _ in range(edges):
            if m.run(pin=pin).kind != "pin":
                raise SunsealError(f"{cipher} on {board} ended before its bus had toggled {sent + 18} times")
        return _weighed(board, m.engine.counts())

    at = [until(trigger["pin"], 1), until(toggle, sent + 1), until(toggle, 1), until(trigger["pin"], 1)]
    return {name: after.less(before) for name, (before, after) in zip(PHASES, itertools.pairwise(at), strict=True)}


def at_rest_w(board: str, rail: str | None = None) -> float:
    """Return what an FPGA draws with its clock stopped, by the coefficients: one supply, or all."""
    name, fpga = _fpga(board)
    return sum(_state_w(fpga, r, name, "on") for r in fpga["fpga"]["rail"] if rail is None or r["name"] == rail)


def _state_w(fpga: Mapping[str, Any], rail: Mapping[str, Any], name: str, state: str) -> float:
    volts = si.rail_v(rail)
    typ_a, _, _ = _engine.state_current_a(boards.library(), rail["power_set"], fpga["part"], name, state, volts)
    return typ_a * volts


def boot_j(board: str) -> float:
    """Return what all supplies take while an FPGA loads its configuration."""
    name, fpga = _fpga(board)
    time_s = float(fpga["fpga"]["boot_ms"]) * 1e-3
    return time_s * sum(_state_w(fpga, r, name, "configuring") for r in fpga["fpga"]["rail"])


def between(board: str, bus: str = "parallel", cipher: str = "aes128") -> switching.Between:
    """Return what an FPGA takes from one use to the next, by its own bench program."""
    _ready(board, coprocessor.wires(board, {"bus": bus}))
    found = switching.of(f"{cipher}-encrypt", board, (("aes", "fpga"), ("bus", bus)))
    assert found is not None
    return found


def idle_w(board: str) -> float:
    """Return what an FPGA draws that waits for a command on the parallel bus, on all supplies."""
    return between(board).wait_w[0]


def pause_s(board: str) -> float:
    """Return the time between uses from which switching an FPGA off saves: one start over what it draws idle."""
    return between(board).pause_s


def bytes_for_a_boot(cipher: str, board: str) -> float | None:
    """Return the bytes that one start must serve until mote and FPGA take less than software; None: it never pays.

    In messages of 1,024 bytes on the parallel bus, all supplies counted.
    """
    saved_j = message(cipher, 1024).energy_j() - message(cipher, 1024, board, "parallel").energy_j()
    return None if saved_j <= 0 else 1024 * between(board, cipher=cipher).start_j[0] / saved_j


@cache
def mapped(name: str) -> Mapped:
    """Map a design of hdl/ to cells of a Spartan-3E."""
    _tools()
    (design,) = (d for d in hdl.DESIGNS if d.name == name)
    with tempfile.TemporaryDirectory() as work:
        return hdl.map_spartan3e(design, Path(work))


def may_be_slices(estimate: float, slices: float) -> bool:
    """Tell whether so many slices lie within what an estimate leaves open: then neither is less."""
    low, high = law().bounds
    return low * estimate <= slices <= high * estimate


def asic_j(cipher: str) -> float:
    """Return what a cipher's core takes for 16 bytes in a cell library of 0.18 um at 1.8 V."""
    _tools()
    return asic.energy(cipher).energy_j


def _of_asic(board: str, raw: Mapping[str, Any]) -> tuple[float, str]:
    """Weigh a core as an ASIC; beside software with the mote's part of the exchange on the parallel bus."""
    cipher, own = raw["cipher"], asic_j(raw["cipher"])
    e = asic.energy(cipher)
    told = f"{cipher} in {e.library}, 16 bytes, {e.low_j * 1e9:.3g} to {e.high_j * 1e9:.3g} nJ, the core alone"
    if raw["quantity"] == "asic_j":
        return own, told
    mote_j = message(cipher, 16, board, "parallel").mote_j
    return (mote_j + own) / message(cipher, 16).mote_j, f"{told}; with the mote of {board}, parallel, over software"


def _counted(raw: Mapping[str, Any]) -> str:
    return "all supplies" if raw.get("supplies", "all") == "all" else f"of the FPGA the {raw['supplies']} supply alone"


def _of_message(board: str, raw: Mapping[str, Any]) -> tuple[float, str]:
    cipher, size, bus = raw["cipher"], raw.get("bytes", 16), raw.get("bus", "parallel")
    cost, where = message(cipher, size, board, bus), f"{cipher}, {size:,} bytes, {board}, {bus}"
    value = {"time_s": cost.time_s, "cycles": float(cost.cycles), "energy_j": cost.energy_j(raw.get("supplies", "all"))}
    told = f"{where}, {_counted(raw)}" if raw["quantity"] == "energy_j" else where
    if "over" not in raw:
        return value[raw["quantity"]], told
    over: dict[str, Any] = raw["over"]
    if "bus" in over or "cipher" in over:
        below, beside = _of_message(board, {k: v for k, v in raw.items() if k != "over"} | over)
        return value[raw["quantity"]] / below, f"{told}; over {beside}"
    own = message(cipher, size)
    software = {"time_s": own.time_s, "cycles": float(own.cycles), "energy_j": own.mote_j}[raw["quantity"]]
    return value[raw["quantity"]] / software, f"{told}; over software on {MOTE}, {own.cycles:,} cycles"


def _of_phase(board: str, raw: Mapping[str, Any]) -> tuple[float, str]:
    found = phases(raw["cipher"], board)
    whole = sum(cost.energy_j("core") for cost in found.values())
    one = found[raw["phase"]]
    return 100 * one.energy_j("core") / whole, f"mote and the FPGA's core, {one.cycles:,} cycles of the mote"


def figure(board: str, raw: Mapping[str, Any]) -> tuple[float, str]:
    """Compute what a row of data/published asks of a mote with a coprocessor, and say where."""
    quantity, at = raw["quantity"], raw.get("board", board)
    if quantity in ("time_s", "cycles", "energy_j"):
        return _of_message(at, raw)
    if quantity in ("asic_j", "asic_over_software"):
        return _of_asic(at, raw)
    if quantity == "share_percent":
        return _of_phase(at, raw)
    if quantity == "slices":
        found = [mapped(name) for name in raw["designs"]]
        slices, rams = sum(law().estimate(m) for m in found), sum(m.block_rams for m in found)
        return float(round(slices)), f"{' and '.join(raw['designs'])}, {rams or 'no'} block RAMs; {law().told(slices)}"
    if quantity == "bytes_for_a_boot":
        needed = bytes_for_a_boot(raw["cipher"], at)
        if needed is None:
            raise SunsealError(f"{raw['cipher']} of {at} takes more than software, so no boot is ever paid back")
        return needed, f"{raw['cipher']} in messages of 1,024 bytes, {at}, parallel, all supplies"
    of_board = {
        "at_rest_w": lambda: at_rest_w(at, raw.get("rail")),
        "idle_w": lambda: idle_w(at),
        "boot_j": lambda: boot_j(at),
        "start_j": lambda: between(at).start_j[0],
        "pause_s": lambda: pause_s(at),
    }
    if quantity not in of_board:
        raise unknown("quantity", quantity, of_board, f"of `{raw['label']}` in data/published")
    return of_board[quantity](), at
