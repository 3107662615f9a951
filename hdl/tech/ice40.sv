// SPDX-License-Identifier: MIT OR Apache-2.0
// iCE40: memories, the S-box and the far end of long lines in SB_RAM40, inferred; short lines as registers.
// The modules and what they promise: behavioural.sv. What an SB_RAM40 reads of a byte being written is not defined: without
// no_rw_check yosys would add what defines it, and COLLIDE makes it unknown in a simulation.

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
  localparam int Stages = MostTap + 1;
  localparam logic [3:0] RingEnd = 4'(15 - Stages);
  logic [Width*Stages-1:0] line_q;
  logic [Width*16-1:0] line_of_16;
  always_ff @(posedge clk_i) if (ce_i) line_q <= (Width * Stages)'({line_q, d_i});
  assign line_of_16 = (Width * 16)'(line_q);
  assign tap_o = Width'(line_of_16 >> (tap_i * Width));
  if (HasLast) begin : g_ring
    // The stages beyond the taps: a ring in RAM, read a place ahead of where it is written.
    (* no_rw_check *) logic [Width-1:0] cells[16];
    logic [3:0] place_q, next_place;
    initial place_q = 4'd0;
    assign next_place = place_q == RingEnd ? 4'd0 : place_q + 4'd1;
    always_ff @(posedge clk_i) begin
      if (ce_i) begin
        place_q <= next_place;
        cells[place_q] <= line_q[Width*Stages-1-:Width];
        last_o <= cells[next_place];
      end
    end
  end else begin : g_no_ring
    assign last_o = '0;
  end
endmodule

module tech_ram16 (
    input  logic       clk_i,
    input  logic       we_i,
    input  logic [3:0] waddr_i,
    input  logic [7:0] wdata_i,
    input  logic [3:0] raddr_i,
    output logic [7:0] rdata_o
);
  (* no_rw_check *) logic [7:0] cells[16];
  always_ff @(posedge clk_i) begin
    if (we_i) cells[waddr_i] <= wdata_i;
    rdata_o <= cells[raddr_i];
`ifdef COLLIDE
    if (we_i && waddr_i == raddr_i) rdata_o <= 8'hxx;
`endif
  end
endmodule

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
  (* no_rw_check *) logic [7:0] cells[2**AddrBits];
  always_ff @(posedge clk_i) begin
    if (we_i) cells[waddr_i] <= wdata_i;
    rdata_o <= cells[raddr_i];
`ifdef COLLIDE
    if (we_i && waddr_i == raddr_i) rdata_o <= 8'hxx;
`endif
  end
endmodule

module tech_sbox (
    input  logic       clk_i,
    input  logic [7:0] a_i,
    output logic [7:0] s_o
);
  (* ram_style = "block" *) logic [7:0] table_of_bytes[256];
  integer i;
  initial begin
    for (i = 0; i < 256; i = i + 1) table_of_bytes[i] = aes_pkg::table_sbox(i);
  end
  always_ff @(posedge clk_i) s_o <= table_of_bytes[a_i];
endmodule

// What lies more than four clocks back waits in one memory for both lines, 16 bits wide, read two places ahead of the writing.
module tech_aes_lines (
    input  logic       clk_i,
    input  logic       ce_i,
    input  logic       load_i,
    input  logic [3:0] tap_i,
    input  logic [7:0] sbox_i,
    input  logic [7:0] key_i,
    output logic [7:0] byte_o,
    output logic [7:0] next_o,
    output logic [7:0] key_o
);
  logic [31:0] line_q;
  logic [ 7:0] key_q;
  logic [ 2:0] place_q, read_place;
  logic [15:0] far;
  (* no_rw_check, ram_style = "block" *) logic [15:0] cells[8];
  initial place_q = 3'd0;
  assign read_place = {place_q[2:1] + 2'd1, place_q[0]};
  always_ff @(posedge clk_i) begin
    if (ce_i) begin
      line_q  <= {line_q[23:0], sbox_i};
      key_q   <= key_i;
      place_q <= place_q + 3'd1;
      cells[place_q] <= {key_q, sbox_i};
      far <= cells[read_place];
    end
  end
  assign byte_o = line_q[31:24];
  assign next_o = tap_i[2] ? far[7:0] : tap_i[0] ? line_q[31:24] : line_q[23:16];
  assign key_o  = load_i ? key_q : far[15:8];
endmodule
