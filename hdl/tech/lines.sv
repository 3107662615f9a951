// SPDX-License-Identifier: MIT OR Apache-2.0
// The S-box as logic and the lines of aes128 as taps, for technologies whose registers or look-up tables hold lines well.

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
