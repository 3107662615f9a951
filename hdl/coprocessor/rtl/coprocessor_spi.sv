// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor as an SPI slave.
module coprocessor_spi #(
    parameter bit PresentByRounds = 1'b0,
    parameter int AddrBits = 10,
    parameter int TimeoutBits = 17,
    parameter bit Gated = 1'b0
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       tick_i,          // with Gated, a slow clock that never stands still
    output logic       tick_wanted_o,
    output logic       clock_wanted_o,  // with Gated, clk_i may stand still while it is low
    input  logic sck_i,
    input  logic cs_ni,
    input  logic mosi_i,
    output logic miso_o,
    output logic irq_o
);
  logic byte_ready, xmit_mode, bus_reset, byte_transferred, core_wants, bus_wants;
  assign clock_wanted_o = core_wants || bus_wants;
  logic [7:0] tx, rx;
  coprocessor #(
      .PresentByRounds(PresentByRounds),
      .AddrBits(AddrBits),
      .TimeoutBits(TimeoutBits),
      .Gated(Gated)
  ) core (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .tick_i(tick_i),
      .tick_wanted_o(tick_wanted_o),
      .clock_wanted_o(core_wants),
      .byte_ready_o(byte_ready),
      .xmit_mode_o(xmit_mode),
      .bus_reset_o(bus_reset),
      .byte_transferred_i(byte_transferred),
      .tx_o(tx),
      .rx_i(rx),
      .irq_o(irq_o)
  );
  bus_spi bus (
      .clk_i(clk_i),
      .rst_ni(rst_ni && !bus_reset),
      .clock_wanted_o(bus_wants),
      .sck_i(sck_i),
      .cs_ni(cs_ni),
      .mosi_i(mosi_i),
      .miso_o(miso_o),
      .byte_ready_i(byte_ready),
      .xmit_mode_i(xmit_mode),
      .byte_transferred_o(byte_transferred),
      .tx_i(tx),
      .rx_o(rx)
  );
endmodule
