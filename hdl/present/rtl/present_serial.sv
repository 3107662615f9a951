// SPDX-License-Identifier: MIT OR Apache-2.0
// PRESENT-128 encryption (CHES 2007), a byte a clock: eight clocks a round, 265 a block.
//
// The S-boxes' outputs go to eight lines, one for each bit of the low and of the high nibble, so that the next round
// finds each word of the permutation in two of them: the permutation is where a line is tapped. The key's halves are two
// lines of bytes; a rotation by 61 is a half's turn and three bits, taken between neighbouring bytes.
module present_serial (
`include "../../ports/cipher.svh"
);
  // Phases, eight clocks each: the key's low half, round 1 with the key's high half and the data, rounds 2 to 32.
  logic busy_q, low_half_q;
  logic [2:0] byte_q;
  logic [4:0] round_q;  // modulo 32
  logic first_byte, last_byte, first_round;
  logic low_half_late_q;
  assign first_byte  = byte_q == 3'd0;
  assign last_byte   = byte_q == 3'd7;
  assign first_round = low_half_q || round_q == 5'd1;
  assign busy_o      = busy_q;
  assign valid_o     = busy_q && round_q == 5'd0 && !low_half_q;
  always_ff @(posedge clk_i) begin
    low_half_late_q <= low_half_q;
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      byte_q     <= 3'd0;
      round_q    <= 5'd0;
      low_half_q <= 1'b1;
    end else if (!busy_q) begin
      busy_q     <= start_i;
      round_q    <= 5'd0;
      low_half_q <= 1'b1;
    end else begin
      byte_q <= byte_q + 3'd1;
      if (last_byte) begin
        low_half_q <= 1'b0;
        round_q    <= round_q + 5'd1;
        busy_q     <= low_half_q || round_q != 5'd0;
      end
    end
  end
  // A byte is asked for a clock before its use.
  logic [2:0] next_byte;
  assign next_byte  = busy_q ? byte_q + 3'd1 : 3'd0;
  assign key_idx_o  = ~{busy_q && (!low_half_q || last_byte), next_byte};
  assign data_idx_o = {1'b0, ~(valid_o ? byte_q : next_byte)};

  // State.
  logic [7:0] permuted, keyed, substituted, key_high;
  assign keyed       = (first_round ? data_i : permuted) ^ key_high;
  assign substituted = {present_pkg::sbox(keyed[7:4]), present_pkg::sbox(keyed[3:0])};
  assign data_o      = keyed;
  logic [3:0] taps[4];
  logic [3:0] word[4][2];
  for (genvar i = 0; i < 4; i++) begin : g_place
    assign taps[i] = 4'd7 + {1'b0, byte_q[2:1], 1'b0} - (byte_q[0] ? 4'd3 : 4'd0) - 4'(i);
    for (genvar odd = 0; odd < 2; odd++) begin : g_parity
      tech_tap #(
          .Width(4)
      ) line (
          .clk_i (clk_i),
          .ce_i  (busy_q),
          .tap_i (taps[i]),
          .d_i   (substituted[4*odd+:4]),
          .tap_o (word[i][odd]),
          .last_o()
      );
      assign permuted[2*i+odd] = word[i][odd][byte_q[2:1]];
    end
  end

  // Key: new byte j is made when byte j + 1 passes, byte 7 from the byte 0 that was kept.
  logic [7:0] high_line, low, low_next, high_next, turned, key_sboxes;
  logic [7:0] high_before_q;
  logic [7:3] low_before_q;
  logic [2:0] high_first_q, low_first_q, counter_high;
  assign key_high = first_round ? key_i : high_line;
  always_ff @(posedge clk_i) begin
    high_before_q <= key_high;
    low_before_q  <= low[7:3];
    if (first_byte) begin
      high_first_q <= key_high[2:0];
      low_first_q  <= low[2:0];
    end
  end
  // The counter of the round whose key was used: at byte 0 it is already the next round's.
  logic [4:0] counter;
  assign counter      = round_q - 5'd1;
  assign turned       = {first_byte ? high_first_q : low[2:0], low_before_q};
  assign key_sboxes   = {present_pkg::sbox({high_first_q, low_before_q[7]}), present_pkg::sbox(low_before_q[6:3])};
  assign counter_high = byte_q == 3'd1 ? round_q[4:2] : 3'd0;
  assign high_next    = (first_byte ? key_sboxes : turned) ^ {5'd0, counter_high};
  assign low_next     = low_half_late_q ? high_before_q :
      {first_byte ? {low_first_q[2:1] ^ counter[1:0], low_first_q[0]} : key_high[2:0], high_before_q[7:3]};
  tech_delay #(
      .Width(8),
      .Depth(7)
  ) high_half (
      .clk_i(clk_i),
      .ce_i (busy_q),
      .d_i  (high_next),
      .q_o  (high_line)
  );
  tech_delay #(
      .Width(8),
      .Depth(7)
  ) low_half (
      .clk_i(clk_i),
      .ce_i (busy_q),
      .d_i  (low_next),
      .q_o  (low)
  );
endmodule
