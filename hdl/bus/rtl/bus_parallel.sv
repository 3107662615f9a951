// SPDX-License-Identifier: MIT OR Apache-2.0
// Eight data lines and a toggle line (Rizvi et al. 2009, figure 4). The mote owns the toggle line.
//
// Listening, each edge says that a byte lies on the lines. When control wants to send, the next edge says that the mote
// has let go of the lines; they are driven once there is something to say. From then on each edge takes a byte, and the
// one that takes the last lets go again. What the mote must keep to: README.md of hdl/.
module bus_parallel (
`include "../../ports/bus.svh"
    // pins
    input  logic       toggle_i,
    input  logic [7:0] lines_i,
    output logic [7:0] lines_o,
    output logic       drive_o
);
  logic [2:0] toggle_q;  // two flops against metastability, one to compare with
  logic edge_seen, turned_q, answer_q;
  assign edge_seen = toggle_q[2] != toggle_q[1];
  always_ff @(posedge clk_i) begin
    toggle_q <= {toggle_q[1:0], toggle_i};
    if (!rst_ni || !xmit_mode_i) begin
      turned_q <= 1'b0;
      answer_q <= 1'b0;
    end else begin
      if (edge_seen) turned_q <= 1'b1;
      if (byte_ready_i) answer_q <= 1'b1;
    end
  end
  assign clock_wanted_o     = {toggle_q[1:0], toggle_i} != {3{toggle_q[2]}};
  assign drive_o            = turned_q && answer_q;
  assign byte_transferred_o = rst_ni && edge_seen && (!xmit_mode_i || drive_o);
  assign lines_o            = tx_i;
  assign rx_o               = lines_i;
endmodule
