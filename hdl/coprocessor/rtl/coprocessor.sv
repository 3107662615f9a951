// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor behind table I's byte interface: ciphers, key store, control.
module coprocessor #(
`include "../../ports/coprocessor_parameters.svh"
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       tick_i,
    output logic       tick_wanted_o,
    output logic       clock_wanted_o,
    output logic       byte_ready_o,
    output logic       xmit_mode_o,
    output logic       bus_reset_o,
    input  logic       byte_transferred_i,
    output logic [7:0] tx_o,
    input  logic [7:0] rx_i,
    output logic       irq_o
);
  logic [2:0] start, busy, valid;
  logic [1:0] cipher;
  logic [3:0] key_idx[4], data_idx[4], present_key_idx, present_data_idx;
  logic [7:0] result[4], present_result;
  logic [7:0] key_byte, data_byte, key_wdata;
  logic [3:0] key_waddr;
  logic key_we, key_clear, key_loaded;

  control #(
      .AddrBits(AddrBits),
      .BlockRam(BlockRam),
      .TimeoutBits(TimeoutBits),
      .Gated(Gated)
  ) commands (
      .start_o(start),
      .busy_i(|busy),
      .cipher_o(cipher),
      .data_idx_i(data_idx[cipher]),
      .data_o(data_byte),
      .valid_i(|valid),
      .data_i(result[cipher]),
      .key_we_o(key_we),
      .key_clear_o(key_clear),
      .key_waddr_o(key_waddr),
      .key_wdata_o(key_wdata),
      .key_loaded_i(key_loaded),
      .*
  );

  keystore #(
      .BlockRam(BlockRam)
  ) keys (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .clear_i(key_clear),
      .we_i(key_we),
      .waddr_i(key_waddr),
      .wdata_i(key_wdata),
      .key_idx_i(key_idx[cipher]),
      .key_o(key_byte),
      .loaded_o(key_loaded)
  );

`define CIPHER(i, key_place, data_place, byte_out) \
    .start_i(start[i]), .busy_o(busy[i]), .valid_o(valid[i]), .key_i(key_byte), .data_i(data_byte), \
    .key_idx_o(key_place), .data_idx_o(data_place), .data_o(byte_out), .*
  aes128 aes (`CIPHER(0, key_idx[0], data_idx[0], result[0]));
  xtea tea (`CIPHER(1, key_idx[1], data_idx[1], result[1]));
  if (PresentByRounds) begin : g_rounds
    present_round present (`CIPHER(2, present_key_idx, present_data_idx, present_result));
  end else begin : g_serial
    present_serial present (`CIPHER(2, present_key_idx, present_data_idx, present_result));
  end
`undef CIPHER
  // The fourth is nobody's. An array that is assigned to itself, simulators take for a loop.
  assign {key_idx[2], key_idx[3]}   = {2{present_key_idx}};
  assign {data_idx[2], data_idx[3]} = {2{present_data_idx}};
  assign {result[2], result[3]}     = {2{present_result}};
endmodule
