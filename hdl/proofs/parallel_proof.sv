// SPDX-License-Identifier: MIT OR Apache-2.0
// No byte is lost or doubled on the toggle bus, and never do both sides drive it, for any phase and any ratio of the
// clocks within the contract: a toggle at least Apart clocks after the last, the byte on the lines from before the
// toggle until Apart clocks after it, and the lines driven again Release clocks after the toggle that takes the last byte. A toggle within a clock's setup time is sampled either way (sampled_early_i).
module parallel_proof #(
    parameter int Apart = 4,
    parameter int Release = 8
) (
    input logic clk_i,
    input logic wants_toggle_i,
    input logic sampled_early_i,
    input logic [7:0] byte_i,
    input logic xmit_i,
    input logic ready_i,
    input logic [7:0] tx_i
);
  // The mote: it knows which byte of a command is the last, and which of an answer.
  logic toggle_q = 1'b0;
  logic before_q = 1'b0;
  logic [3:0] since_q = 4'd15;
  logic [7:0] lines_q = 8'd0;
  logic owed_q = 1'b0;    // a toggle that the bus must report
  logic last_q = 1'b0;    // the byte under way is the last in its direction
  logic drives_q = 1'b1;  // the mote drives the lines
  logic away_q = 1'b0;    // the mote has given the lines away
  logic started_q = 1'b0;
  // Control: turns two clocks after the last byte was transferred.
  logic xmit_q = 1'b0;
  logic [1:0] gap_q = 2'd0;

  logic transferred, drive, toggles, settled;
  logic [7:0] lines_out, rx;
  assign toggles = settled && wants_toggle_i && since_q >= Apart - 1 && (away_q ? drive && !last_q : drives_q);
  bus_parallel dut (
      .clk_i(clk_i),
      .rst_ni(started_q),
      .toggle_i(toggle_q != before_q && !sampled_early_i ? before_q : toggle_q),
      .lines_i(lines_q),
      .lines_o(lines_out),
      .drive_o(drive),
      .byte_ready_i(ready_i && xmit_q),
      .xmit_mode_i(xmit_q),
      .byte_transferred_o(transferred),
      .tx_i(tx_i),
      .rx_o(rx)
  );
  always @(posedge clk_i) begin
    started_q <= 1'b1;
    before_q  <= toggle_q;
    if (since_q != 4'd15) since_q <= since_q + 4'd1;
    if (transferred) owed_q <= 1'b0;
    if (toggles) begin
      toggle_q <= !toggle_q;
      since_q  <= 4'd0;
      if (!away_q && last_q) begin
        away_q   <= 1'b1;
        drives_q <= 1'b0;
        last_q   <= 1'b0;
      end else begin
        if (!away_q) lines_q <= byte_i;
        owed_q <= 1'b1;
        last_q <= xmit_i;
      end
    end else if (away_q && last_q && since_q >= Release) begin
      away_q   <= 1'b0;
      last_q   <= 1'b0;
      drives_q <= 1'b1;
    end
    gap_q <= transferred && last_q ? 2'd2 : gap_q != 2'd0 ? gap_q - 2'd1 : 2'd0;
    if (gap_q == 2'd1) xmit_q <= !xmit_q;
  end
  // The reset lasts long enough for the line to pass the flops.
  logic [2:0] age_q = 3'd0;
  assign settled = age_q == 3'd7;
  always @(posedge clk_i) if (!settled) age_q <= age_q + 3'd1;

  always @(posedge clk_i)
    if (settled) begin
      if (transferred) begin
        assert (owed_q);
        if (!away_q) assert (rx == lines_q);
      end
      if (toggles) assert (!owed_q || transferred);
      assert (!(drive && drives_q));
      assert (lines_out == tx_i);
    end
endmodule
