// SPDX-License-Identifier: MIT OR Apache-2.0
// UART framing, for frames without end. Receiver: whatever the line does within Off clocks of an edge between two bits
// (a sender's rate, its jitter, the phase of the clocks), each frame gives its byte once; the next start bit may come
// Off clocks early, or at any time later. Transmitter: start bit, eight bits from the lowest, stop bit, each Divider
// clocks, told once. Names with a dot are the bus's own registers: what is asserted of them makes the rest inductive.
module uart_proof #(
    parameter int Divider = 26,
    parameter int Off = Divider / 2 - 1
) (
    input logic clk_i,
    input logic starts_i,
    input logic noise_i,
    input logic [7:0] byte_i,
    input logic ready_i,
    input logic [7:0] tx_i
);
  localparam int Middle = Divider / 2 + 2;  // where a bit is sampled, behind two flops
  localparam int Count = $clog2(Divider);
  logic [2:0] age_q = 3'd0;
  logic settled;
  assign settled = age_q == 3'd7;
  always @(posedge clk_i) if (!settled) age_q <= age_q + 3'd1;

  // A sender: clock place_q of bit_q, 0 (start) to 9 (stop); 10 is a line at rest.
  logic [3:0] bit_q = 4'd10;
  logic [Count-1:0] place_q = '0;
  logic [7:0] frame_q;
  logic had_q = 1'b0;
  logic may_start, starts, near, level;
  logic [9:0] frame;
  assign frame     = {1'b1, frame_q, 1'b0};
  assign may_start = bit_q == 4'd10 || (bit_q == 4'd9 && place_q >= Divider - Off);
  assign starts    = settled && starts_i && may_start;
  assign near      = !may_start && ((bit_q != 4'd0 && place_q < Off) || place_q >= Divider - Off);
  assign level     = starts ? 1'b0 : near ? noise_i : bit_q == 4'd10 || frame[bit_q];
  always @(posedge clk_i) begin
    if (!settled) begin
      bit_q   <= 4'd10;
      place_q <= '0;
      had_q   <= 1'b0;
    end else if (starts) begin
      bit_q   <= 4'd0;
      place_q <= 'd1;
      frame_q <= byte_i;
      had_q   <= 1'b1;
    end else if (bit_q != 4'd10) begin
      place_q <= place_q == Divider - 1 ? '0 : place_q + 1'b1;
      if (place_q == Divider - 1) bit_q <= bit_q + 4'd1;
    end
  end
  // Each frame's stop bit reaches the first clock at which the next may start; its byte is due two clocks later.
  logic [1:0] due_q = 2'd0;
  logic [7:0] due_byte_q;
  always @(posedge clk_i) begin
    due_q <= settled ? {due_q[0], bit_q == 4'd9 && place_q == Middle - 1} : 2'd0;
    if (bit_q == 4'd9) due_byte_q <= frame_q;
  end

  logic transferred;
  logic [7:0] rx;
  bus_uart #(
      .Divider(Divider)
  ) receiver (
      .clk_i(clk_i),
      .rst_ni(settled),
      .rx_pin_i(level),
      .tx_pin_o(),
      .byte_ready_i(1'b0),
      .xmit_mode_i(1'b0),
      .byte_transferred_o(transferred),
      .tx_i(8'd0),
      .rx_o(rx)
  );
  (* hierconn *) logic \receiver.rx_busy_q , \receiver.tx_busy_q ;
  (* hierconn *) logic [3:0] \receiver.rx_bit_q ;
  (* hierconn *) logic [Count-1:0] \receiver.rx_count_q ;
  logic late;
  logic [3:0] sampled;  // bits of the frame's byte
  assign late    = place_q > Middle;
  assign sampled = bit_q >= 4'd9 ? 4'd8 : late ? bit_q : bit_q == 4'd0 ? 4'd0 : bit_q - 4'd1;
  always @(posedge clk_i)
    if (settled) begin
      assert (transferred == due_q[1]);
      if (transferred) assert (rx == due_byte_q);

      assert (bit_q <= 4'd10 && place_q < Divider && (bit_q != 4'd10 || place_q == '0) && (bit_q != 4'd0 || place_q != '0));
      assert (had_q || (bit_q == 4'd10 && due_q == 2'd0));
      assert (!\receiver.tx_busy_q );
      if (bit_q == 4'd10 || (bit_q == 4'd9 && late) || (bit_q == 4'd0 && place_q == 'd2)) assert (!\receiver.rx_busy_q );
      else if (bit_q == 4'd0 && place_q == 'd1)
        assert (!\receiver.rx_busy_q || (\receiver.rx_bit_q == 4'd9 && \receiver.rx_count_q == '0));
      else begin
        assert (\receiver.rx_busy_q && \receiver.rx_bit_q == bit_q + 4'(late));
        assert (\receiver.rx_count_q == (late ? Divider : 0) + Middle - place_q);
      end
      if (had_q) assert (rx >> (4'd8 - sampled) == (frame_q & ~(8'hff << sampled)));
    end

  // What the transmitter must put out.
  logic sends_q = 1'b0;
  logic told_q = 1'b0;
  logic [3:0] tx_bit_q = 4'd0;
  logic [Count-1:0] tx_place_q = '0;
  logic [7:0] tx_frame_q;
  logic [9:0] tx_frame;
  logic pin, sent;
  assign tx_frame = {1'b1, tx_frame_q, 1'b0};
  logic [18:0] tx_rest;
  assign tx_rest = {9'h1ff, tx_frame} >> tx_bit_q;
  bus_uart #(
      .Divider(Divider)
  ) transmitter (
      .clk_i(clk_i),
      .rst_ni(settled),
      .rx_pin_i(1'b1),
      .tx_pin_o(pin),
      .byte_ready_i(ready_i && !sends_q),
      .xmit_mode_i(1'b1),
      .byte_transferred_o(sent),
      .tx_i(tx_i),
      .rx_o()
  );
  (* hierconn *) logic \transmitter.tx_busy_q , \transmitter.rx_busy_q , \transmitter.received_q ;
  (* hierconn *) logic [3:0] \transmitter.tx_bit_q ;
  (* hierconn *) logic [8:0] \transmitter.tx_shift_q ;
  (* hierconn *) logic [Count-1:0] \transmitter.tx_count_q ;
  always @(posedge clk_i) begin
    told_q <= settled && sends_q && tx_bit_q == 4'd9 && tx_place_q == Divider - 1;
    if (!settled) {sends_q, tx_bit_q, tx_place_q} <= '0;
    else if (!sends_q) begin
      sends_q    <= ready_i;
      tx_frame_q <= tx_i;
      tx_bit_q   <= 4'd0;
      tx_place_q <= '0;
    end else begin
      tx_place_q <= tx_place_q == Divider - 1 ? '0 : tx_place_q + 1'b1;
      if (tx_place_q == Divider - 1) begin
        tx_bit_q <= tx_bit_q + 4'd1;
        sends_q  <= tx_bit_q != 4'd9;
      end
    end
  end
  always @(posedge clk_i)
    if (settled) begin
      assert (pin == (sends_q ? tx_frame[tx_bit_q] : 1'b1));
      assert (sent == told_q);

      assert (tx_bit_q <= 4'd10 && tx_place_q < Divider);
      assert (!\transmitter.rx_busy_q && !\transmitter.received_q );
      assert (\transmitter.tx_busy_q == sends_q);
      if (sends_q) begin
        assert (\transmitter.tx_bit_q == tx_bit_q);
        assert (\transmitter.tx_count_q == Divider - 1 - tx_place_q);
        assert (\transmitter.tx_shift_q == tx_rest[8:0]);
      end
    end
endmodule
