// SPDX-License-Identifier: MIT OR Apache-2.0
// SPI framing, for messages without end. Each byte that the mote sends while control listens is received once and as it
// was; each byte that control has ready is read by the mote once and as it is, and until there is one the mote reads
// 0xFF. So for any phase and any clock of the mote within the contract, in samples of clk_i: SCK rises Period or more
// after its last rise and Low or more after it or CS fell, and is high for one or more; MOSI is looked at where SCK rises
// and nowhere else (noise_i); CS may be taken away between two bits. Control is as fast as control.sv is: a byte is
// ready three clocks after the last was transferred, the status (its highest bit set) whenever it is.
// Names with a dot are the bus's own registers: what is asserted of them makes the rest inductive.
module spi_proof #(
    parameter int Period = 8,
    parameter int Low = 4
) (
    input logic clk_i,
    input logic wants_i,
    input logic cuts_i,
    input logic noise_i,
    input logic last_i,
    input logic ready_i,
    input logic [7:0] byte_i,
    input logic [7:0] tx_i
);
  logic [2:0] age_q = 3'd0;
  logic settled;
  assign settled = age_q == 3'd7;
  always @(posedge clk_i) if (!settled) age_q <= age_q + 3'd1;

  // The mote: what it puts on its lines, the bit under way, what it has read.
  logic sck_q = 1'b0, before_q = 1'b0, cs_nq = 1'b1;
  logic [2:0] bit_q = 3'd0;
  logic [3:0] since_q = 4'd15;
  logic [2:0] low_q = 3'd0;
  logic [7:0] byte_q, sent_q, read_q;
  logic [2:0] done_q = 3'd0;  // its byte is complete, so many clocks ago
  logic rises, miso;
  assign rises = sck_q && !before_q;
  always @(posedge clk_i) begin
    before_q <= sck_q;
    since_q  <= rises ? 4'd1 : since_q == 4'd15 ? since_q : since_q + 4'd1;
    low_q    <= sck_q || cs_nq ? 3'd0 : low_q == 3'd7 ? low_q : low_q + 3'd1;
    done_q   <= {done_q[1:0], rises && bit_q == 3'd7};
    if (!settled) begin
      {sck_q, before_q, bit_q, low_q, done_q} <= '0;
      cs_nq   <= 1'b1;
      since_q <= 4'd15;
    end else if (sck_q) sck_q <= wants_i;
    else if (cuts_i) cs_nq <= !cs_nq;
    else if (!cs_nq && wants_i && low_q >= Low - 1 && since_q >= Period - 1) sck_q <= 1'b1;
    if (rises) begin
      bit_q  <= bit_q + 3'd1;
      read_q <= {read_q[6:0], miso};
      if (bit_q == 3'd7) {byte_q, sent_q} <= {byte_i, byte_q};
    end else if (cs_nq) {bit_q, byte_q} <= {3'd0, byte_i};
  end

  // Control.
  logic xmit_q = 1'b0, first_q = 1'b0, said_q = 1'b0, got_q = 1'b0, fetch_q = 1'b0, ready_q = 1'b0, pending_q = 1'b0;
  logic status, transferred;
  logic [7:0] tx_q, rx;
  assign status = xmit_q && first_q && !said_q && ready_i;
  always @(posedge clk_i) begin
    got_q   <= transferred;
    fetch_q <= got_q;
    ready_q <= status || (fetch_q && xmit_q && !first_q);
    if (status || (fetch_q && xmit_q && !first_q)) tx_q <= tx_i | {status, 7'd0};
    if (status) said_q <= 1'b1;
    pending_q <= ready_q || (pending_q && !transferred);
    if (got_q && !xmit_q) {xmit_q, first_q, said_q} <= {last_i, 2'b10};
    if (got_q && xmit_q) {xmit_q, first_q} <= {!last_i, 1'b0};
    if (!settled) {xmit_q, first_q, said_q, got_q, fetch_q, ready_q, pending_q} <= '0;
  end

  bus_spi dut (
      .clk_i(clk_i),
      .rst_ni(settled),
      .sck_i(sck_q),
      .cs_ni(cs_nq),
      .mosi_i(rises ? byte_q[~bit_q] : noise_i),
      .miso_o(miso),
      .byte_ready_i(ready_q),
      .xmit_mode_i(xmit_q),
      .byte_transferred_o(transferred),
      .tx_i(tx_q),
      .rx_o(rx)
  );
  always @(posedge clk_i)
    if (settled) begin
      assert (!transferred || done_q[2]);
      if (done_q[2] && !xmit_q) assert (transferred && rx == sent_q);
      if (done_q[2] && xmit_q) assert (read_q == (transferred ? tx_q : 8'hff) && (first_q || transferred));
    end

  // What the bus is at, two clocks behind the mote.
  (* hierconn *) logic [2:0] \dut.sck_q , \dut.bit_q ;
  (* hierconn *) logic [1:0] \dut.cs_nq ;
  (* hierconn *) logic [7:0] \dut.out_q ;
  (* hierconn *) logic \dut.waiting_q , \dut.sending_q , \dut.started_q ;
  logic [2:0] bit1_q = 3'd0, bit2_q = 3'd0;
  logic [7:0] byte1_q, byte2_q;
  logic cs1_nq = 1'b1, full, over;
  logic [3:0] read_bits;
  logic [2:0] falls;
  logic [7:0] shifted, mask;
  assign full      = done_q[0] || done_q[1];
  assign over      = bit2_q == 3'd0 && \dut.sck_q [2];  // between the last rise of a byte and its fall
  assign read_bits = full ? 4'd8 : {1'b0, bit_q};
  assign falls     = bit2_q - 3'(\dut.sck_q [2]);
  assign shifted   = 8'({tx_q, 8'hff} >> (4'd8 - falls));
  assign mask      = ~(8'hff << read_bits);
  always @(posedge clk_i) begin
    {bit2_q, bit1_q}   <= settled ? {bit1_q, bit_q} : '0;
    {byte2_q, byte1_q} <= {byte1_q, byte_q};
    cs1_nq             <= !settled || cs_nq;
  end
  always @(posedge clk_i)
    if (settled) begin
      assert (\dut.sck_q [0] == before_q && \dut.cs_nq [0] == cs1_nq);
      assert (!(cs_nq && (sck_q || before_q)));
      assert (sck_q || low_q == 3'd0 || !before_q);
      assert (low_q <= 3'd1 || !\dut.sck_q [1] );
      assert (low_q <= 3'd2 || !\dut.sck_q [2] );
      assert (\dut.bit_q == bit2_q);
      assert ((rx & ~(8'hff << bit2_q)) == byte2_q >> (4'd8 - bit2_q));
      assert (\dut.started_q == (bit2_q != 3'd0 || \dut.sck_q [2]));
      assert (\dut.waiting_q == pending_q);
      assert (!pending_q || (xmit_q && (said_q || !first_q)));
      if (xmit_q && !first_q) assert (pending_q || transferred || got_q || fetch_q || ready_q);
      if (xmit_q && first_q && said_q) assert (pending_q || ready_q || got_q || transferred);
      if (!xmit_q) assert (!ready_q);
      assert (done_q == 3'd0 || bit_q == 3'd0);
      if (xmit_q && !first_q && \dut.started_q && !over) assert (\dut.sending_q );
      assert (!transferred || since_q == 4'd3);
      assert (!got_q || since_q == 4'd4);
      assert (!fetch_q || since_q == 4'd5);
      assert (first_q || !ready_q || since_q == 4'd6);
      if (!over && \dut.sending_q ) begin
        assert (\dut.out_q == shifted || (!\dut.started_q && \dut.out_q == 8'hff));
        if (\dut.started_q ) assert (pending_q);
      end
      if (over) assert (&\dut.out_q [6:0]);
      if (!\dut.sending_q ) assert (\dut.out_q == 8'hff);
      if (!over && xmit_q) assert ((read_q & mask) == ((\dut.sending_q ? tx_q : 8'hff) >> (4'd8 - read_bits)));
    end
endmodule
