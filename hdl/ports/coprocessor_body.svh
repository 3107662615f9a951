// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor and the bus that BUS names between it and the pins.
  logic byte_ready, xmit_mode, bus_reset, byte_transferred, core_wants, bus_wants;
  assign clock_wanted_o = core_wants || bus_wants;
  logic [7:0] tx, rx;
  coprocessor #(
      .PresentByRounds(PresentByRounds),
      .AddrBits(AddrBits),
      .BlockRam(BlockRam),
      .TimeoutBits(TimeoutBits),
      .Gated(Gated)
  ) core (
      .clock_wanted_o(core_wants),
      .byte_ready_o(byte_ready),
      .xmit_mode_o(xmit_mode),
      .bus_reset_o(bus_reset),
      .byte_transferred_i(byte_transferred),
      .tx_o(tx),
      .rx_i(rx),
      .*
  );
  `BUS bus (
      .rst_ni(rst_ni && !bus_reset),
      .clock_wanted_o(bus_wants),
      .byte_ready_i(byte_ready),
      .xmit_mode_i(xmit_mode),
      .byte_transferred_o(byte_transferred),
      .tx_i(tx),
      .rx_o(rx),
      .*
  );
`undef BUS
