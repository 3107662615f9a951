// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor behind table I's byte interface: ciphers, key store, control.
module coprocessor #(
    parameter bit PresentByRounds = 1'b0,  // PRESENT a round a clock instead of a byte a clock
    parameter int AddrBits = 10,
    parameter int TimeoutBits = 17,
    parameter bit Gated = 1'b0  // clk_i may stand still while clock_wanted_o is low; tick_i passes the time
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
      .TimeoutBits(TimeoutBits),
      .Gated(Gated)
  ) commands (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .tick_i(tick_i),
      .tick_wanted_o(tick_wanted_o),
      .clock_wanted_o(clock_wanted_o),
      .byte_ready_o(byte_ready_o),
      .xmit_mode_o(xmit_mode_o),
      .bus_reset_o(bus_reset_o),
      .byte_transferred_i(byte_transferred_i),
      .tx_o(tx_o),
      .rx_i(rx_i),
      .irq_o(irq_o),
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
      .key_loaded_i(key_loaded)
  );

  keystore keys (
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

  aes128 aes (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .start_i(start[0]),
      .busy_o(busy[0]),
      .key_idx_o(key_idx[0]),
      .key_i(key_byte),
      .data_idx_o(data_idx[0]),
      .data_i(data_byte),
      .valid_o(valid[0]),
      .data_o(result[0])
  );

  xtea tea (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .start_i(start[1]),
      .busy_o(busy[1]),
      .key_idx_o(key_idx[1]),
      .key_i(key_byte),
      .data_idx_o(data_idx[1]),
      .data_i(data_byte),
      .valid_o(valid[1]),
      .data_o(result[1])
  );

  if (PresentByRounds) begin : g_rounds
    present_round present (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .start_i(start[2]),
        .busy_o(busy[2]),
        .key_idx_o(present_key_idx),
        .key_i(key_byte),
        .data_idx_o(present_data_idx),
        .data_i(data_byte),
        .valid_o(valid[2]),
        .data_o(present_result)
    );
  end else begin : g_serial
    present_serial present (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .start_i(start[2]),
        .busy_o(busy[2]),
        .key_idx_o(present_key_idx),
        .key_i(key_byte),
        .data_idx_o(present_data_idx),
        .data_i(data_byte),
        .valid_o(valid[2]),
        .data_o(present_result)
    );
  end
  // The fourth is nobody's. An array that is assigned to itself, simulators take for a loop.
  assign {key_idx[2], key_idx[3]}   = {2{present_key_idx}};
  assign {data_idx[2], data_idx[3]} = {2{present_data_idx}};
  assign {result[2], result[3]}     = {2{present_result}};
endmodule
