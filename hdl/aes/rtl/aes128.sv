// SPDX-License-Identifier: MIT OR Apache-2.0
// AES-128 encryption (FIPS 197), a byte a clock: one S-box, 20 clocks a round, 222 a block.
//
// A round has 20 steps. Steps 0 to 15 read the state in the order of ShiftRows and send it through the S-box; steps 17,
// 18, 19 and the next 0 send the four key bytes of RotWord through the same S-box. A column's results leave MixColumns
// from six steps after its bytes were read and go to the place that they came from, so that the state is never copied:
// the byte of row r and column c lies, after n rounds, at column c + n r. Round 0 loads; of round 10 the results
// are the ciphertext.
module aes128 (
`include "../../ports/cipher.svh"
);
  localparam logic [3:0] LastRound = 4'd10;

  logic [4:0] step_q;
  logic [3:0] round_q;
  logic busy_q;
  logic [3:0] idx_q;
  logic load, key_load, last_step, finish;
  assign load      = round_q == 4'd0;
  assign key_load  = load && !(step_q[4] && step_q[1]);
  assign last_step = step_q[4] && step_q[1:0] == 2'd3;
  assign finish    = round_q[3] && round_q[1] && round_q[0] && step_q[0];  // round 11, step 1
  assign busy_o    = busy_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || finish) begin
      busy_q  <= 1'b0;
      step_q  <= 5'd0;
      round_q <= 4'd0;
    end else if (busy_q || start_i) begin
      busy_q <= 1'b1;
      step_q <= last_step ? 5'd0 : step_q + 5'd1;
      if (last_step) round_q <= round_q + 4'd1;
    end
  end

  // Windows of the steps: bytes are loaded at 1 to 16 of round 0; results leave at 6 to 19 and at 0 and 1 of the next.
  logic from_6, to_1, out_window, load_window;
  assign from_6      = step_q[4] || step_q[3] || (step_q[2] && step_q[1]);
  assign to_1        = step_q[4:1] == 4'd0;
  assign load_window = load && busy_q && (step_q[4] ? step_q[3:0] == 4'd0 : step_q[3:0] != 4'd0);
  assign out_window  = !load && (from_6 || (to_1 && round_q != 4'd1));
  assign valid_o     = last_q && out_window;
  assign key_idx_o   = step_q[3:0];
  assign data_idx_o  = idx_q;
  always_ff @(posedge clk_i) begin
    if (!busy_q) idx_q <= 4'd0;
    else if (load_window || valid_o) idx_q <= idx_q + 4'd1;
  end

  // State: the column turns by the row once a round.
  logic [1:0] column;
  logic [3:0] waddr;
  logic [7:0] state, sum;
  assign column = step_q[3:2] + (step_q[0] ? round_q[1:0] : 2'd0) + (step_q[1] ? {round_q[0], 1'b0} : 2'd0);
  tech_tap #(
      .Width  (4),
      .MostTap(5)
  ) address_line (
      .clk_i (clk_i),
      .ce_i  (1'b1),
      .tap_i (load ? 4'd1 : 4'd5),
      .d_i   ({column, step_q[1:0]}),
      .tap_o (waddr),
      .last_o()
  );
  tech_ram16 state_ram (
      .clk_i  (clk_i),
      .we_i   (key_load || out_window),
      .waddr_i(waddr),
      .wdata_i(sum),
      .raddr_i({column, step_q[1:0]}),
      .rdata_o(state)
  );

  // S-box: key bytes 13, 14, 15, 12 at steps 17, 18, 19 and 0, else the state.
  logic [7:0] key_tap, sbox;
  logic key_slot;
  assign key_slot = (step_q[4] && step_q[1:0] != 2'd0) || step_q == 5'd0;
  tech_sbox shared_sbox (
      .clk_i(clk_i),
      .a_i  (key_slot ? key_tap : state),
      .s_o  (sbox)
  );

  // MixColumns: b ^ t ^ 2 (b ^ next b), t the sum of the column. In round 10 t is 0 and the next byte is the byte itself.
  logic [7:0] key_next, key_used;
  logic [7:0] column_q, total_q, total, byte_b, next_b, diff, mixed;
  logic last_q;
  assign total = (step_q[1:0] == 2'd2 || !busy_q ? 8'd0 : column_q) ^ sbox;
  always_ff @(posedge clk_i) begin
    column_q <= total;
    if (step_q[1:0] == 2'd1) begin
      total_q <= round_q == LastRound ? 8'd0 : total;
      last_q  <= round_q == LastRound;
    end
  end
  tech_aes_lines lines (
      .clk_i (clk_i),
      .ce_i  (busy_q),
      .load_i(load),
      .tap_i ({1'b0, step_q[1:0] == 2'd1 && !last_q, 1'b1, last_q}),  // 2, for the last row 6, in round 10 always 3
      .sbox_i(sbox),
      .key_i (key_next),
      .byte_o(byte_b),
      .next_o(next_b),
      .key_o (key_used)
  );
  assign diff  = byte_b ^ next_b;
  assign mixed = byte_b ^ total_q ^ {diff[6:0], 1'b0} ^ (diff[7] ? 8'h1b : 8'h00);

  // Key schedule: byte i of the next round key at steps 18, 19, 0 to 13; used eight clocks later.
  logic [7:0] key_last, rcon_q;
  logic first_word, key_step;
  assign first_word = (step_q[4] && step_q[1]) || to_1;
  assign key_step   = busy_q && (key_load ? step_q != 5'd17 : !(step_q[3:1] == 3'd7 || (step_q[4] && !step_q[1])));
  assign key_next   = key_load ? key_i : key_last ^ (first_word ? sbox : key_tap)
                      ^ (step_q[4] && step_q[1:0] == 2'd2 ? rcon_q : 8'd0);
  always_ff @(posedge clk_i) begin
    if (!busy_q) rcon_q <= 8'h01;
    else if (last_step) rcon_q <= {rcon_q[6:0], 1'b0} ^ (rcon_q[7] ? 8'h1b : 8'h00);
  end
  logic [3:0] key_tap_address;
  always_comb begin
    case (step_q)
      5'd17:   key_tap_address = 4'd2;
      5'd18:   key_tap_address = 4'd1;
      5'd19:   key_tap_address = 4'd1;
      5'd0:    key_tap_address = 4'd5;
      default: key_tap_address = 4'd3;
    endcase
  end
  tech_tap #(
      .Width  (8),
      .MostTap(5),
      .HasLast(1'b1)
  ) key_line (
      .clk_i (clk_i),
      .ce_i  (key_step),
      .tap_i (key_tap_address),
      .d_i   (key_next),
      .tap_o (key_tap),
      .last_o(key_last)
  );

  assign sum    = (load ? data_i : mixed) ^ key_used;
  assign data_o = sum;
endmodule
