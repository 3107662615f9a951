// SPDX-License-Identifier: MIT OR Apache-2.0
// XTEA (Needham and Wheeler 1997), a byte a clock: four clocks a half-round, 265 a block.
//
// One line of eight bytes holds both halves, the lowest byte first. A half-round reads the half that it changes at the
// line's end and the other half in its middle, and writes the new byte at its beginning: halves never trade places.
module xtea #(
    parameter bit Decrypt = 1'b0
) (
`include "../../ports/cipher.svh"
);
  localparam logic [31:0] Delta = 32'h9e3779b9;
  localparam logic [31:0] Change = Decrypt ? -Delta : Delta;
  localparam logic [31:0] First = Decrypt ? Delta << 5 : 32'd0;
  // Key words in the order of use, two bits each: sum & 3, then (sum >> 11) & 3 of the changed sum.
  function automatic logic [127:0] key_words();
    logic [31:0] sum;
    sum = First;
    for (int i = 0; i < 32; i = i + 1) begin
      key_words[4*i+:2] = Decrypt ? sum[12:11] : sum[1:0];
      sum = sum + Change;
      key_words[4*i+2+:2] = Decrypt ? sum[1:0] : sum[12:11];
    end
  endfunction
  localparam logic [127:0] KeyWords = key_words();

  // step_q is a clock ahead of the bytes: {half-round, byte}.
  logic load_q, run_q, loading_q, running_q, even_q;
  logic [7:0] step_q;
  logic [1:0] byte_q;
  logic begin_now, last_load;
  assign begin_now = start_i && !busy_o;
  assign last_load = load_q && step_q[2:0] == 3'd7;
  assign busy_o    = load_q || run_q || running_q;
  always_ff @(posedge clk_i) begin
    loading_q <= load_q || begin_now;
    running_q <= run_q;
    even_q    <= !step_q[2];
    byte_q    <= step_q[1:0];
    valid_o   <= run_q && step_q[7:3] == 5'd31;
    if (!rst_ni) begin
      load_q    <= 1'b0;
      run_q     <= 1'b0;
      running_q <= 1'b0;
      valid_o   <= 1'b0;
      step_q    <= 8'd0;
    end else begin
      if (begin_now) load_q <= 1'b1;
      else if (last_load) load_q <= 1'b0;
      if (last_load) run_q <= 1'b1;
      else if (step_q == 8'd255) run_q <= 1'b0;
      if (last_load) step_q <= 8'd0;
      else if (begin_now || load_q || run_q) step_q <= step_q + 8'd1;
    end
  end
  logic [1:0] key_word;
  assign key_word = KeyWords[{step_q[7:2], 1'b0}+:2];
  assign key_idx_o = {key_word, ~step_q[1:0]};
  assign data_idx_o = {1'b0, (run_q || running_q ? {!even_q, byte_q} : step_q[2:0]) ^ {Decrypt, 2'b11}};

  // Halves. `other` is the half that stays: its byte, the byte below and the byte above. What is in the lines goes round by
  // itself: this one and the sum's stand still between blocks, and with them the rest.
  logic [7:0] above, other_q, kept, fresh;
  logic [7:4] below_q;
  logic first_byte, last_byte;
  assign first_byte = byte_q == 2'd0;
  assign last_byte  = byte_q == 2'd3;
  tech_delay #(
      .Width(8),
      .Depth(3)
  ) upper_line (
      .clk_i(clk_i),
      .ce_i (busy_o),
      .d_i  (loading_q ? data_i : fresh),
      .q_o  (above)
  );
  always_ff @(posedge clk_i) begin
    other_q <= above;
    below_q <= other_q[7:4];
  end
  tech_delay #(
      .Width(8),
      .Depth(4)
  ) lower_line (
      .clk_i(clk_i),
      .ce_i (1'b1),
      .d_i  (other_q),
      .q_o  (kept)
  );

  // (other << 4 ^ other >> 5) + other, sum + key word, and the half that changes.
  logic [7:0] shifted, mixed, sum, keyed;
  logic mixed_carry, mixed_carry_q, keyed_carry, keyed_carry_q, fresh_carry, fresh_carry_q, sum_carry, sum_carry_q;
  assign shifted = {other_q[3:0], first_byte ? 4'd0 : below_q} ^ {last_byte ? 5'd0 : above[4:0], other_q[7:5]};
  assign {mixed_carry, mixed} = {1'b0, other_q} + {1'b0, shifted} + 9'(mixed_carry_q);
  assign {keyed_carry, keyed} = {1'b0, key_i} + {1'b0, sum} + 9'(keyed_carry_q);
  if (Decrypt) begin : g_minus
    assign {fresh_carry, fresh} = {1'b0, kept} - {1'b0, mixed ^ keyed} - 9'(fresh_carry_q);
  end else begin : g_plus
    assign {fresh_carry, fresh} = {1'b0, kept} + {1'b0, mixed ^ keyed} + 9'(fresh_carry_q);
  end
  always_ff @(posedge clk_i) begin
    mixed_carry_q <= mixed_carry && !last_byte;
    keyed_carry_q <= keyed_carry && !last_byte;
    fresh_carry_q <= fresh_carry && !last_byte;
    sum_carry_q   <= sum_carry && !last_byte && !loading_q;
  end
  assign data_o = fresh;

  // The sum changes while the first half-round of a pair uses it.
  logic [7:0] old_sum, new_sum, change_byte;
  assign change_byte = even_q && !loading_q ? Change[{byte_q, 3'd0}+:8] : 8'd0;
  assign {sum_carry, new_sum} = {1'b0, old_sum} + {1'b0, change_byte} + 9'(sum_carry_q);
  tech_delay #(
      .Width(8),
      .Depth(4)
  ) sum_line (
      .clk_i(clk_i),
      .ce_i (busy_o),
      .d_i  (loading_q ? First[{byte_q, 3'd0}+:8] : new_sum),
      .q_o  (old_sum)
  );
  assign sum = old_sum;
endmodule
