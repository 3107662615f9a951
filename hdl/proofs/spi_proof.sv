// SPDX-License-Identifier: MIT OR Apache-2.0
// Every eight edges of SCK are one byte, with the bits that the master gave, and the byte out is the one that waited,
// for any SCK whose halves last four clocks or more. An edge within a clock's setup time is sampled either way.
module spi_proof (
    input logic clk_i,
    input logic wants_edge_i,
    input logic early_i,
    input logic bit_i,
    input logic answers_i,
    input logic [7:0] tx_i
);
  logic [3:0] reset_q = 4'd0;
  logic sck_q = 1'b0;
  logic before_q = 1'b0;
  logic mosi_q = 1'b0;
  logic select_q = 1'b0;
  logic [3:0] since_q = 4'd0;
  logic [2:0] bits_q = 3'd0;
  logic [7:0] given_q = 8'd0;
  logic owed_q = 1'b0;
  logic miso, transferred;
  logic [7:0] rx;
  bus_spi dut (
      .clk_i(clk_i),
      .rst_ni(reset_q[3]),
      .sck_i(sck_q != before_q && !early_i ? before_q : sck_q),
      .cs_ni(!select_q),
      .mosi_i(mosi_q),
      .miso_o(miso),
      .byte_ready_i(1'b0),
      .xmit_mode_i(1'b0),
      .byte_transferred_o(transferred),
      .tx_i(tx_i),
      .rx_o(rx)
  );
  always @(posedge clk_i) begin
    before_q <= sck_q;
    if (!reset_q[3]) reset_q <= reset_q + 4'd1;
    else begin
      select_q <= 1'b1;
      since_q  <= since_q == 4'd15 ? 4'd15 : since_q + 4'd1;
      if (transferred) owed_q <= 1'b0;
      if (select_q && wants_edge_i && since_q >= 4'd3) begin
        since_q <= 4'd0;
        sck_q   <= !sck_q;
        if (!sck_q) begin
          given_q <= {given_q[6:0], mosi_q};
          bits_q  <= bits_q + 3'd1;
          if (bits_q == 3'd7) owed_q <= 1'b1;
        end else mosi_q <= bit_i;
      end
      if (transferred) assert (owed_q && rx == given_q);
      if (wants_edge_i && since_q >= 4'd3) assert (!owed_q);
      assert (miso);
    end
  end
endmodule
