// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor on the 9-pin parallel bus; drive_o switches the pads of lines_o.
module coprocessor_parallel #(
    parameter bit PresentByRounds = 1'b0,
    parameter int AddrBits = 10,
    parameter int TimeoutBits = 17
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       toggle_i,
    input  logic [7:0] lines_i,
    output logic [7:0] lines_o,
    output logic       drive_o,
    output logic       irq_o
);
  logic byte_ready, xmit_mode, bus_reset, byte_transferred;
  logic [7:0] tx, rx;
  coprocessor #(
      .PresentByRounds(PresentByRounds),
      .AddrBits(AddrBits),
      .TimeoutBits(TimeoutBits)
  ) core (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .byte_ready_o(byte_ready),
      .xmit_mode_o(xmit_mode),
      .bus_reset_o(bus_reset),
      .byte_transferred_i(byte_transferred),
      .tx_o(tx),
      .rx_i(rx),
      .irq_o(irq_o)
  );
  bus_parallel bus (
      .clk_i(clk_i),
      .rst_ni(rst_ni && !bus_reset),
      .toggle_i(toggle_i),
      .lines_i(lines_i),
      .lines_o(lines_o),
      .drive_o(drive_o),
      .byte_ready_i(byte_ready),
      .xmit_mode_i(xmit_mode),
      .byte_transferred_o(byte_transferred),
      .tx_i(tx),
      .rx_o(rx)
  );
endmodule
