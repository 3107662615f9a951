// SPDX-License-Identifier: MIT OR Apache-2.0
// A Spartan-3E block RAM with two ports of nine bits, as far as the coprocessor's netlist uses it: yosys has no model of its
// own. A port reads what was there before a write. The cells begin unknown, whatever INIT says, so they must be written first.
`define PORT(x) \
    input  logic        CLK``x, \
    input  logic        EN``x, \
    input  logic        WE``x, \
    input  logic        SSR``x, \
    input  logic [10:0] ADDR``x, \
    input  logic [ 7:0] DI``x, \
    input  logic        DIP``x, \
    output logic [ 7:0] DO``x, \
    output logic        DOP``x
`define ACCESS(x) \
  always @(posedge CLK``x) begin \
    if (EN``x) {DOP``x, DO``x} <= SSR``x ? SRVAL_``x : cells[ADDR``x]; \
    if (EN``x && WE``x) cells[ADDR``x] <= {DIP``x, DI``x}; \
  end

module RAMB16_S9_S9 #(
    parameter logic [8:0] SRVAL_A = '0,
    parameter logic [8:0] SRVAL_B = '0,
    parameter WRITE_MODE_A = "READ_FIRST",
    parameter WRITE_MODE_B = "READ_FIRST"
) (
    `PORT(A),
    `PORT(B)
);
  logic [8:0] cells[2048];
  `ACCESS(A)
  `ACCESS(B)
  initial
    if (WRITE_MODE_A != "READ_FIRST" || WRITE_MODE_B != "READ_FIRST") begin
      $display("RAMB16_S9_S9: only READ_FIRST is modelled");
      $finish;
    end
endmodule

`undef PORT
`undef ACCESS
