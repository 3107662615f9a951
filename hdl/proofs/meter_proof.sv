// SPDX-License-Identifier: MIT OR Apache-2.0
// The meter's sum is the sum of the counted samples, and 2^22 samples of 10 bits do not overflow it.
module meter_proof (
    input logic clk_i,
    input logic trigger_i,
    input logic sampled_i,
    input logic [9:0] sample_i
);
  logic started_q = 1'b0;
  logic [31:0] sum, sum_before_q;
  logic [22:0] count, count_before_q;
  logic [9:0] sample_q;
  logic tx, sending, overrun;
  meter #(
      .Divider(2)
  ) dut (
      .clk_i(clk_i),
      .rst_ni(started_q),
      .trigger_i(trigger_i),
      .sample_i(sample_i),
      .sampled_i(sampled_i),
      .tx_pin_o(tx),
      .sending_o(sending),
      .sum_o(sum),
      .count_o(count),
      .overrun_o(overrun)
  );
  // One step exact in 34 bits, and the sum bounded by the count: together no sum wraps.
  logic age_q = 1'b0;
  always @(posedge clk_i) begin
    started_q      <= 1'b1;
    age_q          <= started_q;
    count_before_q <= count;
    sum_before_q   <= sum;
    sample_q       <= sample_i;
    if (age_q) begin
      assert (count <= 23'h400000);
      assert (40'(sum) <= {7'd0, count, 10'd0} - 40'(count));
      if (count == 23'd0) assert (sum == 32'd0);
      else if (count != count_before_q) begin
        assert (count == count_before_q + 23'd1);
        assert (34'(sum) == 34'(sum_before_q) + 34'(sample_q));
      end else assert (sum == sum_before_q);
    end
  end
endmodule
