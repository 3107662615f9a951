// SPDX-License-Identifier: MIT OR Apache-2.0
// Key store: 16 bytes that control can write and only a cipher can read, and whether they were all written.
module keystore #(
    parameter bit BlockRam = 1'b1
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       clear_i,   // the key no longer counts; its bytes are overwritten by the next
    input  logic       we_i,
    input  logic [3:0] waddr_i,
    input  logic [7:0] wdata_i,
    input  logic [3:0] key_idx_i,
    output logic [7:0] key_o,     // a clock after key_idx_i
    output logic       loaded_o
);
  tech_ram #(
      .AddrBits(4),
      .BlockRam(BlockRam)
  ) ram (
      .clk_i  (clk_i),
      .we_i   (we_i),
      .waddr_i(waddr_i),
      .wdata_i(wdata_i),
      .raddr_i(key_idx_i),
      .rdata_o(key_o)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) loaded_o <= 1'b0;
    else if (we_i) loaded_o <= waddr_i == 4'd15;
  end
endmodule
