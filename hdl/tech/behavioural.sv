// SPDX-License-Identifier: MIT OR Apache-2.0
// Storage and S-box cells as plain registers: the default for simulation and for gates.
// Every file of this folder defines the same six modules; a build takes exactly one of them.

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

// The S-box of AES, its result a clock later.
module tech_sbox (
    input  logic       clk_i,
    input  logic [7:0] a_i,
    output logic [7:0] s_o
);
  logic [7:0] s;
  aes_sbox sbox (
      .a_i(a_i),
      .s_o(s)
  );
  always_ff @(posedge clk_i) s_o <= s;
endmodule

// The three lines of aes128: S-box bytes of 4 clocks ago, those of a tap (2, 3 or 6), and key bytes of 8 clocks ago, of the
// clock before while load_i. They need not go on while ce_i is low.
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
  tech_delay #(
      .Width(8),
      .Depth(4)
  ) byte_line (
      .clk_i(clk_i),
      .ce_i (1'b1),
      .d_i  (sbox_i),
      .q_o  (byte_o)
  );
  tech_tap #(
      .Width  (8),
      .MostTap(6)
  ) next_line (
      .clk_i (clk_i),
      .ce_i  (1'b1),
      .tap_i (tap_i),
      .d_i   (sbox_i),
      .tap_o (next_o),
      .last_o()
  );
  tech_tap #(
      .Width  (8),
      .MostTap(7)
  ) key_wait (
      .clk_i (clk_i),
      .ce_i  (1'b1),
      .tap_i (load_i ? 4'd0 : 4'd7),
      .d_i   (key_i),
      .tap_o (key_o),
      .last_o()
  );
endmodule
