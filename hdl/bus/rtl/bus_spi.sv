// SPDX-License-Identifier: MIT OR Apache-2.0
// SPI slave, mode 0, the highest bit first; pins are sampled by clk_i, so that SCK may have an eighth of its frequency.
//
// Until control has something to say each byte out is 0xFF. A byte that becomes ready after the first edge of SCK
// waits for the next; a status that becomes ready at that edge begins with the same bit as 0xFF.
module bus_spi (
`include "../../ports/bus.svh"
    // pins
    input  logic       sck_i,
    input  logic       cs_ni,
    input  logic       mosi_i,
    output logic       miso_o
);
  logic [2:0] sck_q;
  logic [1:0] cs_nq, mosi_q;
  logic [2:0] bit_q;
  logic [7:0] out_q;
  logic waiting_q, sending_q, started_q, rises, falls;
  assign rises = sck_q[1] && !sck_q[2];
  assign falls = !sck_q[1] && sck_q[2];
  always_ff @(posedge clk_i) begin
    sck_q  <= {sck_q[1:0], sck_i};
    cs_nq  <= {cs_nq[0], cs_ni};
    mosi_q <= {mosi_q[0], mosi_i};
    byte_transferred_o <= 1'b0;
    if (!rst_ni || !xmit_mode_i || (byte_transferred_o && sending_q)) waiting_q <= 1'b0;
    if (rst_ni && byte_ready_i) waiting_q <= 1'b1;
    if (!rst_ni || cs_nq[1]) begin
      bit_q     <= 3'd0;
      started_q <= 1'b0;
      sending_q <= 1'b0;
      out_q     <= 8'hff;
    end else begin
      if (rises) begin
        rx_o      <= {rx_o[6:0], mosi_q[1]};
        bit_q     <= bit_q + 3'd1;
        started_q <= 1'b1;
        byte_transferred_o <= bit_q == 3'd7 && (sending_q || !xmit_mode_i);
      end else if (falls) begin
        out_q     <= {out_q[6:0], 1'b1};
        started_q <= bit_q != 3'd0;
      end else if (!started_q) begin
        out_q     <= waiting_q ? tx_i : 8'hff;
        sending_q <= waiting_q;
      end
    end
  end
  // Behind an edge of SCK or CS until it has gone through, and for whatever a flop is about to get.
  logic stale, unselected;
  assign stale = !started_q && (sending_q != waiting_q || out_q != (waiting_q ? tx_i : 8'hff));
  assign unselected = bit_q != 3'd0 || started_q || sending_q || out_q != 8'hff;
  assign clock_wanted_o = {cs_nq, cs_ni} != {3{cs_ni}} || {sck_q[1:0], sck_i} != {3{sck_q[2]}} || byte_transferred_o
      || (cs_nq[1] ? unselected : stale) || (waiting_q && !xmit_mode_i);
  assign miso_o = out_q[7];
endmodule
