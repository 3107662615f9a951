// SPDX-License-Identifier: MIT OR Apache-2.0
// Storage and S-box cells as plain registers: the default for simulation and for gates.
// Every technology defines the same six modules; a build takes exactly one: this one and spartan3e.sv have the last two in
// lines.sv.

// Delay line: q_o is what d_i was Depth enabled clocks ago.
module tech_delay #(
    parameter int Width = 8,
    parameter int Depth = 4
) (
    input  logic             clk_i,
    input  logic             ce_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  logic [Width*Depth-1:0] line_q;
  always_ff @(posedge clk_i) if (ce_i) line_q <= (Width * Depth)'({line_q, d_i});
  assign q_o = line_q[Width*Depth-1-:Width];
endmodule

// Shift register of 16 with a tap: tap_o is what d_i was tap_i + 1 enabled clocks ago, last_o what it was 16 ago.
// MostTap is the largest tap that is ever asked for, HasLast says whether last_o is used.
module tech_tap #(
    parameter int Width   = 8,
    parameter int MostTap = 15,
    parameter bit HasLast = 1'b0
) (
    input  logic             clk_i,
    input  logic             ce_i,
    input  logic [      3:0] tap_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] tap_o,
    output logic [Width-1:0] last_o
);
  localparam int Stages = HasLast ? 16 : MostTap + 1;
  logic [Width*Stages-1:0] line_q;
  always_ff @(posedge clk_i) if (ce_i) line_q <= (Width * Stages)'({line_q, d_i});
  assign tap_o  = Width'(line_q >> (tap_i * Width));
  assign last_o = line_q[Width*Stages-1-:Width];
endmodule

// 16 bytes, one port to write and one to read; what is read comes a clock later and, on a byte being written, is not defined.
module tech_ram16 (
    input  logic       clk_i,
    input  logic       we_i,
    input  logic [3:0] waddr_i,
    input  logic [7:0] wdata_i,
    input  logic [3:0] raddr_i,
    output logic [7:0] rdata_o
);
  logic [7:0] cells[16];
  always_ff @(posedge clk_i) begin
    if (we_i) cells[waddr_i] <= wdata_i;
    rdata_o <= cells[raddr_i];
  end
endmodule

// A buffer of bytes in block RAM, with ports as tech_ram16 has them.
module tech_ram #(
    parameter int AddrBits = 10
) (
    input  logic                clk_i,
    input  logic                we_i,
    input  logic [AddrBits-1:0] waddr_i,
    input  logic [         7:0] wdata_i,
    input  logic [AddrBits-1:0] raddr_i,
    output logic [         7:0] rdata_o
);
  logic [7:0] cells[2**AddrBits];
  always_ff @(posedge clk_i) begin
    if (we_i) cells[waddr_i] <= wdata_i;
    rdata_o <= cells[raddr_i];
  end
endmodule
