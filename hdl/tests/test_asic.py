# SPDX-License-Identifier: MIT OR Apache-2.0
"""Energy of cores in a cell library: the reader of liberty files, the sum against hand figures, the cores."""

from __future__ import annotations

from pathlib import Path

import pytest

from sunseal.errors import SunsealError
from sunseal.papers import asic, hdl

TEXT = """
library (small) { /* a comment: { */
  nom_voltage : 2.0;
  capacitive_load_unit (1,pf);
  cell (INV) {
    area : 10; cell_leakage_power : 3.0;
    pin(A) { direction : input; capacitance : 0.5; rise_capacitance : 0.4; fall_capacitance : 0.6; }
    pin(Y) {
      direction : output; capacitance : 0;
      timing() { related_pin : "A";
        rise_transition(t) { index_1 ("0, 2"); index_2 ("0, 1"); values ( \\
          "0.1, 0.1", "0.3, 0.3"); }
        fall_transition(t) { index_1 ("0, 2"); index_2 ("0, 1"); values ("0.1, 0.1", "0.3, 0.3"); }
      }
      internal_power() { related_pin : "A";
        rise_power(t) { index_1 ("0, 2"); index_2 ("0, 1"); values ("1, 1", "3, 3"); }
        fall_power(t) { index_1 ("0, 2"); index_2 ("0, 1"); values ("2, 2", "6, 6"); }
      }
    }
  }
  cell (FF) {
    area : 30; cell_leakage_power : 7.0;
    pin(CK) { direction : input; capacitance : 0.25; clock : true;
      internal_power() {
        rise_power(p) { index_1 ("0, 1"); values ("5, 5"); }
        fall_power(p) { index_1 ("0, 1"); values ("4, 4"); }
      }
    }
    pin(Q) { direction : output; capacitance : 0; }
  }
}
"""


def test_liberty_file_is_read_as_it_stands() -> None:
    told = asic.liberty(TEXT)
    assert (told.kind, told.name, told.values["capacitive_load_unit"]) == ("library", "small", "1 pf")
    inv, ff = (asic._cell(g) for g in told.of("cell"))
    assert (inv.area, inv.leakage_nw, inv.inputs, inv.outputs, inv.clock) == (10, 3, {"A": 0.5}, ("Y",), None)
    assert ff.clock == "CK"
    ((related, rise, fall),) = inv.active["Y"]
    # Between the points linear, beyond them flat.
    assert (related, rise.at(1.0, 0.5), rise.at(9.0, 0.5), fall.at(0.5, 0.0)) == ("A", 2.0, 3.0, 3.0)


def test_sum_is_that_by_hand() -> None:
    cells = {g.name: asic._cell(g) for g in asic.liberty(TEXT).of("cell")}
    library = asic.Library("small", 2.0, cells, 0.01)
    # ck clocks a flop, whose output drives two inverters, one of which drives a third.
    net = asic.Netlist(
        {
            "f": ("FF", {"CK": "ck", "Q": "q"}),
            **{n: ("INV", {"A": a, "Y": y}) for n, a, y in (("a", "q", "x"), ("b", "q", "y"), ("c", "x", "z"))},
        }
    )
    done = asic.Activity({"ck": 10, "q": 2, "x": 3}, {"ck": 10, "q": 1, "x": 2}, 1e-6, 10)
    parts, wire_j = asic.weigh(net, done, library, wires=0.0)
    assert wire_j == 0.0
    # q carries two inputs of 0.5 pF and rises twice, x one and rises three times, at (2 V)^2.
    assert parts["switching"] == pytest.approx((2 * 1.0 + 3 * 0.5) * 4 * 1e-12)
    # ck: 0.25 pF ten times, and what the flop takes of each edge.
    assert parts["clock"] == pytest.approx((10 * 0.25 * 4 + 10 * 5 + 10 * 4) * 1e-12)
    # x at 0.5 pF: 1.5 a rise, 3 a fall; y and z were never seen to move.
    assert parts["internal"] == pytest.approx((3 * 1.5 + 2 * 3) * 1e-12)
    assert parts["leakage"] == pytest.approx((3 * 3 + 7) * 1e-9 * 1e-6)
    wired, wire_j = asic.weigh(net, done, library)
    length_pf = asic.wire_um(4, 60.0) * 0.01
    assert wire_j == pytest.approx((2 * 2 + 3 + 10) * length_pf * 4e-12)
    assert wired["switching"] + wired["clock"] == pytest.approx(parts["switching"] + parts["clock"] + wire_j)


def test_dump_is_counted_edge_by_edge(tmp_path: Path) -> None:
    lines = [
        "$timescale",
        "  1ps",
        "$end",
        "$var wire 1 ! clk $end",
        "$var wire 2 % v [1:0] $end",
        "#100",
        "x!",
        "bx %",
    ]
    lines += ["#200", "0!", "b0 %", "#300", "1!", "b1 %", "#400", "0!", "b10 %", "#1100", "1!"]
    dump = tmp_path / "dump.vcd"
    dump.write_text("\n".join(lines) + "\n")
    done = asic.activity(dump, "clk")
    # What was unknown before has not moved.
    assert (dict(done.rises), dict(done.falls)) == ({"clk": 2, "v[0]": 1, "v[1]": 1}, {"clk": 1, "v[0]": 1})
    assert (done.time_s, done.clocks) == (pytest.approx(1e-9), 2)


@pytest.mark.parametrize("core", asic.CORES)
def test_core_is_weighed_on_its_right_results(core: str) -> None:
    hdl.tools()
    found = asic.energy(core)
    blocks = 1 if core == "aes128" else 2
    per_block = {"aes128": 222, "xtea": 265, "present128": 265}[core]
    assert blocks * per_block <= found.clocks <= blocks * (per_block + 2)
    assert found.low_j < found.energy_j < found.high_j
    assert 0 < found.wire_j < found.parts_j["switching"] + found.parts_j["clock"]
    # Femtojoules a cell and clock, as cells of 0.18 um take.
    assert 1e-14 < found.energy_j / found.clocks / found.cells < 1e-12


def test_wrong_names_are_told() -> None:
    with pytest.raises(SunsealError, match="des"):
        asic.energy("des")
    with pytest.raises(SunsealError, match="tsmc"):
        asic.energy("xtea", "tsmc")
    # Its wires' edges have no capacitance in Debian's file.
    with pytest.raises(SunsealError, match=r"osu035_stdcells.lef has no EDGECAPACITANCE of metal2"):
        asic.energy("xtea", "osu035")
