// SPDX-License-Identifier: MIT OR Apache-2.0
// The gates of aes_sbox equal the table of FIPS 197 for every byte.
module sbox_proof (
    input logic clk_i,
    input logic [7:0] a_i
);
  logic [7:0] s;
  aes_sbox dut (
      .a_i(a_i),
      .s_o(s)
  );
  always @(posedge clk_i) assert (s == aes_pkg::table_sbox(a_i));
endmodule
