// SPDX-License-Identifier: MIT OR Apache-2.0
// A Spartan-3E block RAM with two ports of nine bits, as far as the coprocessor's netlist uses it: yosys has no model of its
// own. A port reads what was there before a write. The cells begin unknown, whatever INIT says, so they must be written first.
module RAMB16_S9_S9 #(
    parameter logic [8:0] SRVAL_A = '0,
    parameter logic [8:0] SRVAL_B = '0,
    parameter WRITE_MODE_A = "READ_FIRST",
    parameter WRITE_MODE_B = "READ_FIRST"
) (
    input  logic        CLKA,
    input  logic        ENA,
    input  logic        WEA,
    input  logic        SSRA,
    input  logic [10:0] ADDRA,
    input  logic [ 7:0] DIA,
    input  logic        DIPA,
    output logic [ 7:0] DOA,
    output logic        DOPA,
    input  logic        CLKB,
    input  logic        ENB,
    input  logic        WEB,
    input  logic        SSRB,
    input  logic [10:0] ADDRB,
    input  logic [ 7:0] DIB,
    input  logic        DIPB,
    output logic [ 7:0] DOB,
    output logic        DOPB
);
  logic [8:0] cells[2048];
  always @(posedge CLKA) begin
    if (ENA) {DOPA, DOA} <= SSRA ? SRVAL_A : cells[ADDRA];
    if (ENA && WEA) cells[ADDRA] <= {DIPA, DIA};
  end
  always @(posedge CLKB) begin
    if (ENB) {DOPB, DOB} <= SSRB ? SRVAL_B : cells[ADDRB];
    if (ENB && WEB) cells[ADDRB] <= {DIPB, DIB};
  end
  initial
    if (WRITE_MODE_A != "READ_FIRST" || WRITE_MODE_B != "READ_FIRST") begin
      $display("RAMB16_S9_S9: only READ_FIRST is modelled");
      $finish;
    end
endmodule
