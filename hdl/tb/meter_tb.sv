// SPDX-License-Identifier: MIT OR Apache-2.0
// The meter between a trigger, a sampler and a UART receiver. Lines of the script, in hex:
//   s SAMPLE     a new sample, for one clock
//   t LEVEL      the trigger line, at any phase of the clock; then enough clocks for it to be heard
//   m            await the message of eight bytes and print it
`timescale 1ns / 1ps
module meter_tb;
  localparam int Divider = 6;
  localparam real Clock = 50.0;
  localparam real Bit = Divider * Clock;
  logic clk = 1'b0;
  logic rst_n = 1'b0;
  logic trigger = 1'b0;
  logic sampled = 1'b0;
  logic [9:0] sample = 10'd0;
  logic tx, sending;
  int file, value, polls, received, framing;
  int seed = 1;
  string path, word;
  logic [7:0] in;
  logic [7:0] message[8];

`ifdef NETLIST
  // Its parameters were chosen when it was synthesized.
  meter dut (
`else
  meter #(
      .Divider(Divider),
      .CountBits(`COUNT_BITS)
  ) dut (
`endif
      .clk_i(clk),
      .rst_ni(rst_n),
      .trigger_i(trigger),
      .sample_i(sample),
      .sampled_i(sampled),
      .tx_pin_o(tx),
      .sending_o(sending),
      .sum_o(),
      .count_o(),
      .overrun_o()
  );
  always #(Clock / 2) clk = ~clk;

  always @(negedge tx)
    if (rst_n) begin
      #(Bit * 0.5);
      for (int i = 0; i < 8; i = i + 1) begin
        #(Bit) in[i] = tx;
      end
      #(Bit);
      if (tx !== 1'b1) framing = framing + 1;
      if (received < 8) message[received] = in;
      received = received + 1;
    end

  initial begin
    received = 0;
    framing = 0;
    if (!$value$plusargs("script=%s", path)) $fatal(1, "+script=FILE is missing");
    file = $fopen(path, "r");
    repeat (4) @(negedge clk);
    rst_n = 1'b1;
    while ($fscanf(file, "%s", word) == 1) begin
      if (word == "m") begin
        polls = 0;
        while (received < 8 && polls < 2000) begin
          @(negedge clk);
          polls = polls + 1;
        end
        // A ninth byte would come now.
        repeat (20 * Divider) @(negedge clk);
        $display("message of %0d bytes, %0d without a stop bit:%02x%02x%02x%02x%02x%02x%02x%02x", received, framing,
                 message[0], message[1], message[2], message[3], message[4], message[5], message[6], message[7]);
        received = 0;
        framing = 0;
      end else begin
        if ($fscanf(file, "%h", value) != 1) $fatal(1, "a value is missing");
        if (word == "t") begin
          #(0.001 * ($random(seed) & 16'hffff)) trigger = value[0];
          repeat (5) @(negedge clk);
        end else begin
          sample  = value[9:0];
          sampled = 1'b1;
          @(negedge clk) sampled = 1'b0;
        end
      end
    end
    $finish;
  end
endmodule
