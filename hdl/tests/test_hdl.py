# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cores, buses, netlists and proofs of `hdl/`, and whether seeded faults are found."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import bench
import conversation
import pytest
from bench import CORES, HDL

from sunseal.errors import SunsealError
from sunseal.papers import hdl

slow = pytest.mark.skipif("SUNSEAL_SLOW" not in os.environ, reason="takes long; `make test-hdl-all` sets SUNSEAL_SLOW")


@pytest.fixture(autouse=True, scope="session")
def _tools() -> None:
    with bench.tools_or_skip():
        hdl.tools()


# Clocks a block, as README.md has them.
CLOCKS = {
    "aes128": 222,
    "xtea": 265,
    "xtea-decrypt": 265,
    "present128": 265,
    "present128-rounds": 56,
    "present80-rounds": 50,
}


def check_core(core: str, simulate: object, files: list[Path], work: Path) -> None:
    module, _, key_bytes, block_bytes = CORES[core]
    lines = bench.core_lines(core)
    if core == "aes128":
        rng = random.Random(19)
        keys = [(rng.randbytes(16), rng.randbytes(16)) for _ in range(50)]
        lines += [(k.hex(), p.hex(), conversation.aes_ecb(k, p).hex()) for k, p in keys]
    (work / "vectors").write_text("".join(" ".join(line) + "\n" for line in lines))
    defines = {"CORE": module, "KEY_BYTES": str(key_bytes), "BLOCK_BYTES": str(block_bytes)}
    text = simulate("core_tb", [*files, HDL / "tb" / "core_tb.sv"], defines, work, f"+vectors={work / 'vectors'}")  # type: ignore[operator]
    assert bench.verdict(text) == (len(lines), 0), text
    assert f"{CLOCKS[core]} clocks a block" in text, text


@pytest.mark.parametrize("technology", ["behavioural", "ice40", "spartan3e"])
@pytest.mark.parametrize("core", CORES)
def test_core_gives_the_vectors_in_icarus(core: str, technology: str, tmp_path: Path) -> None:
    check_core(core, bench.icarus, [*cell_models(technology), *hdl.sources(technology)], tmp_path)


@slow
@pytest.mark.parametrize("core", CORES)
def test_core_gives_the_vectors_in_verilator(core: str, tmp_path: Path) -> None:
    check_core(core, bench.verilator, hdl.sources("behavioural"), tmp_path)


def cell_models(technology: str) -> list[Path]:
    """The vendor's cells that a technology names, from yosys."""
    return [yosys_cells("xilinx")] if technology == "spartan3e" else []


def yosys_cells(family: str) -> Path:
    share = hdl.tools().parent / "debian" / "usr" / "share" / "yosys"
    return (share if share.exists() else Path("/usr/share/yosys")) / family / "cells_sim.v"


@pytest.mark.parametrize("core", ["aes128", "xtea", "present128"])
def test_netlist_for_spartan3e_gives_the_vectors(core: str, tmp_path: Path) -> None:
    top = CORES[core][0]
    net = tmp_path / "net.v"
    flags = "-family xc3se -nowidelut -noiopad -flatten"
    hdl.synthesize(
        hdl.Design(core, top, {}), "spartan3e", f"synth_xilinx {flags} -top {top}; write_verilog -noattr {net}"
    )
    check_core(core, bench.icarus, [*cell_models("spartan3e"), net], tmp_path)


def converse(
    bus: str,
    script: conversation.Script,
    work: Path,
    simulate: object,
    *plus: str,
    folder: Path = HDL,
    rounds: str = "1'b0",
    technology: str = "behavioural",
    cells: Sequence[Path] = (),
    **defines: str,
) -> str:
    (work / "script").write_text(script.text())
    files = [*cells, *hdl.sources(technology, folder), HDL / "tb" / "coprocessor_tb.sv"]
    chosen = {bus.upper(): "", "ROUNDS": rounds, **defines}
    return simulate("coprocessor_tb", files, chosen, work, f"+script={work / 'script'}", *plus)  # type: ignore[operator]


@pytest.mark.parametrize("script", ["vectors", "random"])
@pytest.mark.parametrize("bus", ["parallel", "uart", "spi"])
def test_coprocessor_answers_on_every_bus(bus: str, script: str, tmp_path: Path) -> None:
    said = conversation.from_vectors() if script == "vectors" else conversation.random_messages(7)
    text = converse(bus, said, tmp_path, bench.icarus)
    assert bench.verdict(text) == (said.answers, 0), text


def test_coprocessor_answers_with_present_a_round_a_clock(tmp_path: Path) -> None:
    said = conversation.from_vectors()
    text = converse("parallel", said, tmp_path, bench.icarus, rounds="1'b1")
    assert bench.verdict(text) == (said.answers, 0), text


@pytest.mark.parametrize("script", ["vectors", "random"])
@pytest.mark.parametrize("bus", ["parallel", "uart", "spi"])
def test_coprocessor_answers_with_a_clock_that_stands_still(bus: str, script: str, tmp_path: Path) -> None:
    # As the UP5K has it; there what is read of a byte being written is not defined: unknown here.
    said = conversation.from_vectors() if script == "vectors" else conversation.random_messages(7)
    text = converse(bus, said, tmp_path, bench.icarus, rounds="1'b1", technology="ice40", GATED="", COLLIDE="")
    assert bench.verdict(text) == (said.answers, 0), text


# How each family is synthesized, as the UP5K is placed and as slices are counted, and what the bench is told of it.
FAMILIES: dict[str, tuple[str, dict[str, int], dict[str, str]]] = {
    "ice40": (
        "synth_ice40 -abc2",
        {"PresentByRounds": 1, "TimeoutBits": 7, "Gated": 1},
        {"GATED": "", "NO_ICE40_DEFAULT_ASSIGNMENTS": ""},
    ),
    "spartan3e": ("synth_xilinx -family xc3se -nowidelut -noiopad -flatten", {"TimeoutBits": 12}, {}),
}


@cache
def netlist(family: str, bus: str, folder: Path) -> Path:
    """The whole coprocessor on one bus, without the UP5K's oscillators around it."""
    synth, chosen, _ = FAMILIES[family]
    top, net = f"coprocessor_{bus}", folder / f"{family}_{bus}.v"
    divider = {"Divider": 16} if bus == "uart" else {}
    design = hdl.Design(top, top, {**chosen, **divider})
    hdl.synthesize(design, family, f"{synth} -top {top}; write_verilog -noattr {net}")
    return net


def converse_with_netlist(family: str, bus: str, made: Path, work: Path, **defines: str) -> tuple[tuple[int, int], int]:
    """The verdict on its answers, and how many bytes they are."""
    said = conversation.from_vectors()
    (work / "script").write_text(said.text())
    cells = [yosys_cells("ice40")] if family == "ice40" else [yosys_cells("xilinx"), HDL / "tb" / "ramb16.sv"]
    files = [*cells, netlist(family, bus, made), HDL / "tb" / "coprocessor_tb.sv"]
    chosen = {bus.upper(): "", "NETLIST": "", **FAMILIES[family][2], **defines}
    text = bench.icarus("coprocessor_tb", files, chosen, work, f"+script={work / 'script'}")
    return bench.verdict(text), said.answers


@pytest.fixture(scope="module")
def netlists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("netlists")


@pytest.mark.parametrize("bus", ["parallel", pytest.param("uart", marks=slow), pytest.param("spi", marks=slow)])
@pytest.mark.parametrize("family", FAMILIES)
def test_netlist_of_the_whole_answers(family: str, bus: str, netlists: Path, tmp_path: Path) -> None:
    verdict, answers = converse_with_netlist(family, bus, netlists, tmp_path)
    assert verdict == (answers, 0)


def test_netlist_is_clocked_twice_where_the_wish_is_not_held(netlists: Path, tmp_path: Path) -> None:
    (_, failed), _ = converse_with_netlist("ice40", "parallel", netlists, tmp_path, UNHELD="")
    assert failed > 0


@pytest.mark.parametrize("half_clock", ["7.3", "15.1", "20.83"])
def test_parallel_bus_holds_at_other_clocks(half_clock: str, tmp_path: Path) -> None:
    said = conversation.from_vectors()
    text = converse("parallel", said, tmp_path, bench.icarus, f"+half_clock={half_clock}")
    assert bench.verdict(text) == (said.answers, 0), text


@pytest.mark.parametrize("technology", ["behavioural", "spartan3e"])
def test_coprocessor_without_block_ram_answers_messages_of_a_block(technology: str, tmp_path: Path) -> None:
    said = conversation.from_vectors(16)
    said.command(b"\x42\x04")  # 32 bytes have no room
    said.give_up()
    said.command(b"\xc0")
    said.answer(b"", 0x82)
    cells = cell_models(technology)
    text = converse("parallel", said, tmp_path, bench.icarus, technology=technology, cells=cells, NO_BLOCK_RAM="")
    assert bench.verdict(text) == (said.answers, 0), text


@slow
@pytest.mark.parametrize("bus", ["parallel", "uart", "spi"])
def test_coprocessor_answers_in_verilator(bus: str, tmp_path: Path) -> None:
    said = conversation.random_messages(8)
    text = converse(bus, said, tmp_path, bench.verilator)
    assert bench.verdict(text) == (said.answers, 0), text


# Steps, and whether they are those of an induction.
PROOFS = {
    "sbox_proof": (2, False),
    "meter_proof": (5, True),
    "parallel_proof": (26, False),
    "uart_proof": (6, True),
    "spi_proof": (10, True),
}


def holds(name: str, work: Path, folder: Path = HDL) -> bool:
    """Whether a proof goes through: from reset for its steps, and by induction for all where it is one."""
    steps, induct = PROOFS[name]
    begins = bench.prove(name, steps, folder, work=work)
    return begins and (not induct or bench.prove(name, steps, folder, work=work, induct=True))


@pytest.mark.parametrize("name", PROOFS)
def test_proof_holds(name: str, tmp_path: Path) -> None:
    assert holds(name, tmp_path)


def meter_netlist(family: str, count_bits: int, work: Path, folder: Path = HDL) -> list[Path]:
    """The meter synthesized for a family, with the bench's Divider, and the cells that it is made of."""
    synth, net = FAMILIES[family][0], work / "meter_net.v"
    design = hdl.Design("meter", "meter", {"Divider": 6, "CountBits": count_bits})
    hdl.synthesize(design, family, f"{synth} -top meter; write_verilog -noattr {net}", folder)
    return [yosys_cells("ice40" if family == "ice40" else "xilinx"), net]


def meter_messages(
    windows: list[list[int]], count_bits: int, work: Path, folder: Path = HDL, family: str | None = None
) -> list[str]:
    """Run the meter over windows of samples, with samples before and after each; the messages that it sent, in hex.

    It is the source, or its netlist for a family.
    """
    lines = []
    for window in windows:
        lines += ["s 3ff", "t 1", *(f"s {s:x}" for s in window), "t 0", "s 2aa", "m"]
    (work / "script").write_text("\n".join(lines) + "\n")
    defines = {"COUNT_BITS": str(count_bits)}
    if family is None:
        files = hdl.sources("behavioural", folder)
    else:
        files = meter_netlist(family, count_bits, work, folder)
        defines |= {"NETLIST": "", "NO_ICE40_DEFAULT_ASSIGNMENTS": ""}
    files = [*files, HDL / "tb" / "meter_tb.sv"]
    text = bench.icarus("meter_tb", files, defines, work, f"+script={work / 'script'}")
    return re.findall(r"message of 8 bytes, 0 without a stop bit:(\w{16})", text)


def meter_expected(windows: list[list[int]], count_bits: int) -> list[str]:
    """Sum in five bytes, count in three, the lowest first; the top bit says that samples were left out."""
    most = 1 << count_bits
    messages = []
    for window in windows:
        count = min(len(window), most) | (len(window) > most) << 23
        messages.append((sum(window[:most]).to_bytes(5, "little") + count.to_bytes(3, "little")).hex())
    return messages


def meter_windows() -> list[list[int]]:
    """Windows of no sample, one, the largest samples, and more than 2^5 of them."""
    rng = random.Random(22)
    return [
        [],
        [1023],
        [1023] * 32,
        [rng.randrange(1024) for _ in range(33)],
        *([rng.randrange(1024) for _ in range(n)] for n in (7, 300)),
    ]


@pytest.mark.parametrize("count_bits", [22, 5])
def test_meter_sends_the_sum_and_the_count(count_bits: int, tmp_path: Path) -> None:
    windows = meter_windows()
    assert meter_messages(windows, count_bits, tmp_path) == meter_expected(windows, count_bits)


@pytest.mark.parametrize("count_bits", [22, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_meter_as_a_netlist_sends_them_too(family: str, count_bits: int, tmp_path: Path) -> None:
    windows = meter_windows()
    assert meter_messages(windows, count_bits, tmp_path, family=family) == meter_expected(windows, count_bits)


def test_meter_as_a_netlist_shows_what_its_source_lacks(tmp_path: Path) -> None:
    copy = tmp_path / "hdl"
    shutil.copytree(HDL, copy, ignore=shutil.ignore_patterns("tests"))
    name, old, new, _ = FAULTS["meter keeps its sum"]
    (copy / name).write_text((copy / name).read_text().replace(old, new))
    assert meter_messages(meter_windows(), 5, tmp_path, copy, "ice40") != meter_expected(meter_windows(), 5)


def reaches_an_output(wires: list[str], rounds: int, work: Path, folder: Path = HDL) -> set[str]:
    """Which of these wires lead to an output of the coprocessor once the ciphers are taken out."""
    files = " ".join(str(p) for p in hdl.sources("behavioural", folder))
    ciphers = "*/t:*aes128* */t:*xtea* */t:*present_*"
    names = " ".join(f"w:*{wire}" for wire in wires)
    # No opt_clean: it would rename the wires that are asked for, and drop the key store as its readers are gone.
    script = (
        f"read_verilog -sv {files}; chparam -set PresentByRounds {rounds} coprocessor; hierarchy -top coprocessor; "
        f"proc; select -assert-count 3 {ciphers}; delete {ciphers}; flatten; "
        f"select -assert-count {len(wires)} {names}; tee -q -o {work}/cone select -list o:* %ci*"
    )
    hdl.run_tool("yosys", "-q", "-p", script)
    found = (work / "cone").read_text().splitlines()
    return {wire for wire in wires if any(line.endswith("/" + wire) for line in found)}


KEY_STORE = ["keys.loaded_o", "keys.ram.rdata_o"]  # whether there is a key, and its bytes


@pytest.mark.parametrize("rounds", [0, 1])
def test_key_reaches_nothing_but_the_ciphers(rounds: int, tmp_path: Path) -> None:
    assert reaches_an_output(KEY_STORE, rounds, tmp_path) == {"keys.loaded_o"}


# What is broken, in which file, and the tests that must notice.
FAULTS = {
    "sbox gate": ("aes/rtl/aes_sbox.sv", "t2 = y12 & y15", "t2 = y12 | y15", "sbox_proof"),
    "no synchroniser": (
        "bus/rtl/bus_parallel.sv",
        "toggle_q <= {toggle_q[1:0], toggle_i};",
        "toggle_q <= {toggle_q[0], toggle_i, toggle_i};",
        "synchroniser",
    ),
    "early turn": ("bus/rtl/bus_parallel.sv", "turned_q && answer_q", "xmit_mode_i", "parallel_proof"),
    "bytes while turned": ("bus/rtl/bus_parallel.sv", "(!xmit_mode_i || drive_o)", "1'b1", "parallel_proof"),
    "SPI bits reversed": ("bus/rtl/bus_spi.sv", "{rx_o[6:0], mosi_q[1]}", "{mosi_q[1], rx_o[7:1]}", "spi"),
    "key on the data": ("coprocessor/rtl/coprocessor.sv", ".data_i(result[cipher]),", ".data_i(key_byte),", "keystore"),
    "meter counts outside": ("meter/rtl/meter.sv", "if (trigger_q[1]) begin", "if (sampled_i) begin", "meter"),
    "meter says no overrun": ("meter/rtl/meter.sv", "{overrun_o, 23", "{1'b0, 23", "meter"),
    "meter keeps its sum": (
        "meter/rtl/meter.sv",
        "open_q    <= 1'b1;\n        sum_o     <= '0;",
        "open_q    <= 1'b1;",
        "meter",
    ),
    "meter a bit short": ("meter/rtl/meter.sv", "SumBits'(sample_i)", "SumBits'(sample_i[8:0])", "meter_proof"),
    "swapped bytes": (
        "control/rtl/control.sv",
        "idx_q        <= idx_next;",
        "idx_q        <= idx_next ^ 4'd1;",
        "parallel",
    ),
    "counter without carry": ("control/rtl/control.sv", "(carry_q && iv == 8'hff)", "1'b0", "parallel"),
    "clock stops before the answer": ("control/rtl/control.sv", "|| fetch_q || ready_q || quiet", "|| quiet", "gated"),
    "time stands still with the clock": ("control/rtl/control.sv", "|| (open && {tick", "|| (1'b0 && {tick", "gated"),
    "tag not chained": ("control/rtl/control.sv", "mac && !first_q ? iv", "1'b0 ? iv", "parallel"),
    "key counts when cleared": ("keystore/rtl/keystore.sv", "!rst_ni || clear_i", "!rst_ni", "parallel"),
    "UART samples a clock early": ("bus/rtl/bus_uart.sv", "Divider / 2 - 1", "Divider / 2 - 2", "uart_proof"),
    "UART without a stop bit": ("bus/rtl/bus_uart.sv", "tx_bit_q != 4'd9", "tx_bit_q != 4'd8", "uart_proof"),
    "UART doubles a byte": ("bus/rtl/bus_uart.sv", "received_q <= 1'b0;", "", "uart_proof"),
    "SPI byte a bit short": ("bus/rtl/bus_spi.sv", "bit_q == 3'd7", "bit_q == 3'd6", "spi_proof"),
    "SPI takes 0xFF for an answer": ("bus/rtl/bus_spi.sv", "(sending_q || !xmit_mode_i)", "1'b1", "spi_proof"),
    "SPI doubles a byte": ("bus/rtl/bus_spi.sv", "|| (byte_transferred_o && sending_q)", "", "spi_proof"),
    "SPI samples beside the edge": ("bus/rtl/bus_spi.sv", "mosi_q[1]}", "mosi_q[0]}", "spi_proof"),
    "UART late": ("bus/rtl/bus_uart.sv", "Divider / 2 - 1", "Divider - 1", "uart"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_seeded_fault_is_found(fault: str, tmp_path: Path) -> None:
    name, old, new, finder = FAULTS[fault]
    copy = tmp_path / "hdl"
    shutil.copytree(HDL, copy, ignore=shutil.ignore_patterns("tests"))
    source = (copy / name).read_text()
    assert source.count(old) == 1, f"{name} holds `{old}` {source.count(old)} times"
    (copy / name).write_text(source.replace(old, new))
    if finder == "synchroniser":
        assert not two_flops_after_the_pin(copy)
        assert two_flops_after_the_pin(HDL)
    elif finder == "keystore":
        assert "keys.ram.rdata_o" in reaches_an_output(KEY_STORE, 0, tmp_path, copy)
    elif finder == "meter":
        assert meter_messages(meter_windows(), 5, tmp_path, copy) != meter_expected(meter_windows(), 5)
    elif finder.endswith("_proof"):
        assert not holds(finder, tmp_path, copy)
    elif finder == "gated":
        said = conversation.random_messages(7)
        text = converse("parallel", said, tmp_path, bench.icarus, folder=copy, GATED="")
        assert bench.verdict(text)[0] < said.answers
    else:
        said = conversation.random_messages(7)
        passed, _ = bench.verdict(converse(finder, said, tmp_path, bench.icarus, folder=copy))
        assert passed < said.answers


def two_flops_after_the_pin(folder: Path) -> bool:
    """Whether the toggle line reaches one flop alone, whose output reaches another alone, beside the clock's gate."""
    source = (folder / "bus" / "rtl" / "bus_parallel.sv").read_text()
    gate = "  assign clock_wanted_o     = {toggle_q[1:0], toggle_i} != {3{toggle_q[2]}};\n"
    assert source.count(gate) == 1
    rest = source.replace(gate, "")
    return rest.count("toggle_i") == 2 and "{toggle_q[1:0], toggle_i}" in rest and "toggle_q[0]" not in rest


@cache
def figures() -> dict[str, list[str]]:
    """Rows of README.md's tables of figures, by design."""
    text = (HDL / "README.md").read_text(encoding="utf-8").partition("## Figures and goals")[2].partition("\n- ")[0]
    rows = [[c.strip(" `").replace(",", "") for c in line.strip("|").split("|")] for line in text.splitlines()]
    return {f"{len(row)} columns, {row[0]}": row[1:] for row in rows if len(row) > 1}


def test_readme_has_every_design() -> None:
    assert {name.partition(", ")[2] for name in figures()} >= {d.name for d in hdl.DESIGNS}


@pytest.mark.parametrize("name", [d.name for d in hdl.DESIGNS if d.gates])
def test_readme_has_the_gates(name: str, tmp_path: Path) -> None:
    (design,) = (d for d in hdl.DESIGNS if d.name == name)
    assert figures()[f"6 columns, {name}"][4] == f"{hdl.gates(design, 'osu018', tmp_path):.0f}"


@pytest.mark.parametrize("name", [d.name for d in hdl.DESIGNS if not d.ice40])
def test_core_stays_within_its_slices_and_readme_has_them(name: str) -> None:
    rows = {r["unit"]: r for r in hdl.size([name], ["spartan3e"])}
    assert hdl.meets(rows["slices"]) is not False, rows
    told, between, block_rams, goal, _ = figures()[f"6 columns, {name}"]
    assert told == f"{rows['slices']['value']:.1f}"
    assert f"estimate, {between}: " in rows["slices"]["estimate"]
    assert block_rams == f"{rows['block_rams']['value']}"
    assert goal == f"{rows['slices']['goal'] or ''}"


@pytest.mark.parametrize("name", ["meter", "coprocessor-parallel-up5k"])
def test_design_stays_within_its_ice40(name: str) -> None:
    rows = {r["unit"]: r for r in hdl.size([name], ["ice40"])}
    assert rows["freq_hz"]["value"] >= rows["freq_hz"]["goal"]
    assert rows["block_rams"]["value"] <= rows["block_rams"]["goal"]
    assert rows["logic_cells"]["value"] <= rows["logic_cells"]["goal"]
    cells, _, block_rams, _, freq_mhz, _ = figures()[f"7 columns, {name}"]
    told = [rows["logic_cells"]["value"], rows["block_rams"]["value"], round(rows["freq_hz"]["value"] / 1e6, 1)]
    assert [float(cells), float(block_rams), float(freq_mhz)] == told


def test_design_that_is_not_built_for_any_target_asked_is_refused() -> None:
    """Nothing at all, exit 0, is no answer to the size of a core on an iCE40."""
    with pytest.raises(SunsealError, match="`aes128` is not built for ice40, but for spartan3e and gates") as e:
        hdl.size(["meter", "aes128"], ["ice40"])
    assert e.value.hint == "built for that: coprocessor-parallel-up5k, meter"
    with pytest.raises(SunsealError, match="`coprocessor-spi` is not built for ice40 or gates, but for spartan3e"):
        hdl.size(["coprocessor-spi"], ["gates", "ice40"])
