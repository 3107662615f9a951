// SPDX-License-Identifier: MIT OR Apache-2.0
// UART, one start bit, eight data bits from the lowest, one stop bit; a bit lasts Divider clocks.
module bus_uart #(
    parameter int Divider = 16
) (
`include "../../ports/bus.svh"
    // pins
    input  logic       rx_pin_i,
    output logic       tx_pin_o
);
  localparam int CountBits = $clog2(Divider);
  localparam logic [CountBits-1:0] BitEnd = CountBits'(Divider - 1);
  localparam logic [CountBits-1:0] BitMiddle = CountBits'(Divider / 2 - 1);

  // Receiver: samples in the middle of each bit, counted from the edge of the start bit.
  logic [2:0] pin_q;
  logic [CountBits-1:0] rx_count_q, tx_count_q;
  logic [3:0] rx_bit_q, tx_bit_q;
  logic [8:0] tx_shift_q;
  logic rx_busy_q, tx_busy_q, received_q, sent_q;
  always_ff @(posedge clk_i) begin
    pin_q      <= {pin_q[1:0], rx_pin_i};
    received_q <= 1'b0;
    if (!rst_ni) begin
      pin_q     <= 3'b111;
      rx_busy_q <= 1'b0;
    end else if (!rx_busy_q) begin
      rx_count_q <= BitMiddle;
      rx_bit_q   <= 4'd0;
      rx_busy_q  <= pin_q[2] && !pin_q[1];
    end else if (rx_count_q != '0) rx_count_q <= rx_count_q - 1'b1;
    else begin
      rx_count_q <= BitEnd;
      rx_bit_q   <= rx_bit_q + 4'd1;
      if (rx_bit_q == 4'd0) rx_busy_q <= !pin_q[1];
      else if (rx_bit_q == 4'd9) begin
        rx_busy_q  <= 1'b0;
        received_q <= pin_q[1] && !xmit_mode_i;
      end else rx_o <= {pin_q[1], rx_o[7:1]};
    end
  end

  always_ff @(posedge clk_i) begin
    sent_q <= 1'b0;
    if (!rst_ni) tx_busy_q <= 1'b0;
    else if (!tx_busy_q) begin
      tx_busy_q  <= byte_ready_i;
      tx_shift_q <= {tx_i, 1'b0};
      tx_count_q <= BitEnd;
      tx_bit_q   <= 4'd0;
    end else if (tx_count_q != '0) tx_count_q <= tx_count_q - 1'b1;
    else begin
      tx_count_q <= BitEnd;
      tx_shift_q <= {1'b1, tx_shift_q[8:1]};
      tx_bit_q   <= tx_bit_q + 4'd1;
      tx_busy_q  <= tx_bit_q != 4'd9;
      sent_q     <= tx_bit_q == 4'd9;
    end
  end
  assign clock_wanted_o     = rx_busy_q || tx_busy_q || received_q || sent_q || {pin_q, rx_pin_i} != 4'hf;
  assign tx_pin_o           = !tx_busy_q || tx_shift_q[0];
  assign byte_transferred_o = received_q || sent_q;
endmodule
