// SPDX-License-Identifier: MIT OR Apache-2.0
// PRESENT-80 or PRESENT-128 encryption (CHES 2007), a round a clock between loading and unloading by bytes.
//
// The state is kept with the round key already added; bytes come and go by shifting, the lowest first.
module present_round #(
    parameter int KeyBits = 128
) (
`include "../../ports/cipher.svh"
);
  localparam int KeyBytes = KeyBits / 8;
  typedef enum logic [1:0] {
    StIdle,
    StLoad,
    StRounds,
    StUnload
  } state_e;
  state_e state_q;
  logic [4:0] count_q;
  logic [KeyBits-1:0] key_q, rotated, key_next;
  logic [63:0] block_q, substituted, permuted;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      count_q <= 5'd0;
    end else begin
      count_q <= count_q + 5'd1;
      case (state_q)
        StIdle: begin
          count_q <= 5'd0;
          if (start_i) state_q <= StLoad;
        end
        StLoad:
        if (count_q == 5'(KeyBytes - 1)) begin
          count_q <= 5'd1;
          state_q <= StRounds;
        end
        StRounds:
        if (count_q == 5'd31) begin
          count_q <= 5'd0;
          state_q <= StUnload;
        end
        default:
        if (count_q == 5'd7) begin
          count_q <= 5'd0;
          state_q <= StIdle;
        end
      endcase
    end
  end
  assign busy_o  = state_q != StIdle;
  assign valid_o = state_q == StUnload;
  logic [3:0] next_byte;
  assign next_byte  = state_q == StLoad ? count_q[3:0] + 4'd1 : 4'd0;
  assign key_idx_o  = 4'(KeyBytes - 1) - next_byte;
  assign data_idx_o = valid_o ? {1'b0, ~count_q[2:0]} : (4'(KeyBytes - 1) - next_byte) & 4'd7;

  for (genvar i = 0; i < 16; i++) begin : g_sbox
    assign substituted[4*i+:4] = present_pkg::sbox(block_q[4*i+:4]);
  end
  for (genvar i = 0; i < 64; i++) begin : g_permutation
    assign permuted[i==63?63 : (16*i)%63] = substituted[i];
  end

  assign rotated = {key_q[KeyBits-62:0], key_q[KeyBits-1-:61]};
  if (KeyBits == 80) begin : g_80
    assign key_next = {present_pkg::sbox(rotated[79:76]), rotated[75:20], rotated[19:15] ^ count_q, rotated[14:0]};
  end else begin : g_128
    assign key_next = {
      present_pkg::sbox(rotated[127:124]),
      present_pkg::sbox(rotated[123:120]),
      rotated[119:67],
      rotated[66:62] ^ count_q,
      rotated[61:0]
    };
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StLoad) key_q <= {key_i, key_q[KeyBits-1:8]};
    else if (state_q == StRounds) key_q <= key_next;
    if (state_q == StRounds) block_q <= permuted ^ key_next[KeyBits-1-:64];
    else if (busy_o) block_q <= {data_i ^ key_i, block_q[63:8]};
  end
  assign data_o = block_q[7:0];
endmodule
