// SPDX-License-Identifier: MIT OR Apache-2.0
// Energy meter (Mane 2014, figures 3.1 to 3.3): sums the ADC's samples while the trigger is high and counts them.
//
// After the trigger has fallen, sum and count go out over a UART, eight bytes, the lowest first: five of the sum, three
// of the count. The sum holds 2^22 samples of 10 bits; where more come, the meter stops and the count's top bit is set.
module meter #(
    parameter int Divider = 174,  // clocks a bit: 115,200 baud at 20 MHz
    parameter int SampleBits = 10,
    parameter int CountBits = 22  // at most 2^CountBits samples
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            trigger_i,   // asynchronous, from the microcontroller
    input  logic [          SampleBits-1:0] sample_i,    // from the ADC, in the time of clk_i
    input  logic                            sampled_i,   // sample_i is a new one
    output logic                            tx_pin_o,
    output logic                            sending_o,   // a trigger is not heard before this falls
    output logic [SampleBits+CountBits-1:0] sum_o,
    output logic [             CountBits:0] count_o,
    output logic                            overrun_o
);
  localparam int SumBits = SampleBits + CountBits;
  logic [1:0] trigger_q;
  logic open_q, transferred, ready_q, full;
  logic [2:0] index_q;
  logic [7:0] tx;
  logic [63:0] message;
  assign full    = count_o[CountBits];
  assign message = {overrun_o, 23'(count_o), 40'(sum_o)};
  assign tx      = message[{index_q, 3'd0}+:8];

  always_ff @(posedge clk_i) begin
    trigger_q <= {trigger_q[0], trigger_i};
    ready_q   <= 1'b0;
    if (!rst_ni) begin
      trigger_q <= 2'b00;
      open_q    <= 1'b0;
      sending_o <= 1'b0;
      sum_o     <= '0;
      count_o   <= '0;
      overrun_o <= 1'b0;
      index_q   <= 3'd0;
    end else if (sending_o) begin
      if (transferred) begin
        index_q   <= index_q + 3'd1;
        sending_o <= index_q != 3'd7;
        ready_q   <= index_q != 3'd7;
      end
    end else if (!open_q) begin
      if (trigger_q[1]) begin
        open_q    <= 1'b1;
        sum_o     <= '0;
        count_o   <= '0;
        overrun_o <= 1'b0;
      end
    end else begin
      if (sampled_i && full) overrun_o <= 1'b1;
      else if (sampled_i) begin
        sum_o   <= sum_o + SumBits'(sample_i);
        count_o <= count_o + 1'b1;
      end
      if (!trigger_q[1]) begin
        open_q    <= 1'b0;
        sending_o <= 1'b1;
        ready_q   <= 1'b1;
      end
    end
  end

  bus_uart #(
      .Divider(Divider)
  ) uart (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .rx_pin_i(1'b1),
      .tx_pin_o(tx_pin_o),
      .byte_ready_i(ready_q),
      .xmit_mode_i(1'b1),
      .byte_transferred_o(transferred),
      .tx_i(tx),
      .rx_o()
  );
endmodule
