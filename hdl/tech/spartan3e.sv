// SPDX-License-Identifier: MIT OR Apache-2.0
// Spartan-3E: look-up tables as shift registers and RAM (DS312, "Distributed RAM", "Shift Registers"), block RAM inferred.
// The modules and what they promise: behavioural.sv.

module tech_delay #(
    parameter int Width = 8,
    parameter int Depth = 4
) (
    input  logic             clk_i,
    input  logic             ce_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  localparam logic [3:0] Address = 4'(Depth - 1);
  for (genvar i = 0; i < Width; i++) begin : g_bit
    SRL16E srl (
        .Q  (q_o[i]),
        .A0 (Address[0]),
        .A1 (Address[1]),
        .A2 (Address[2]),
        .A3 (Address[3]),
        .CE (ce_i),
        .CLK(clk_i),
        .D  (d_i[i])
    );
  end
endmodule

module tech_tap #(
    parameter int Width   = 8,
    parameter int MostTap = 15,
    parameter bit HasLast = 1'b0
) (
    input  logic             clk_i,
    input  logic             ce_i,
    input  logic [      3:0] tap_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] tap_o,
    output logic [Width-1:0] last_o
);
  for (genvar i = 0; i < Width; i++) begin : g_bit
    SRLC16E srl (
        .Q  (tap_o[i]),
        .Q15(last_o[i]),
        .A0 (tap_i[0]),
        .A1 (tap_i[1]),
        .A2 (tap_i[2]),
        .A3 (tap_i[3]),
        .CE (ce_i),
        .CLK(clk_i),
        .D  (d_i[i])
    );
  end
endmodule

module tech_ram16 (
    input  logic       clk_i,
    input  logic       we_i,
    input  logic [3:0] waddr_i,
    input  logic [7:0] wdata_i,
    input  logic [3:0] raddr_i,
    output logic [7:0] rdata_o
);
  logic [7:0] rdata;
  for (genvar i = 0; i < 8; i++) begin : g_bit
    RAM16X1D ram (
        .DPO  (rdata[i]),
        .SPO  (),
        .A0   (waddr_i[0]),
        .A1   (waddr_i[1]),
        .A2   (waddr_i[2]),
        .A3   (waddr_i[3]),
        .DPRA0(raddr_i[0]),
        .DPRA1(raddr_i[1]),
        .DPRA2(raddr_i[2]),
        .DPRA3(raddr_i[3]),
        .D    (wdata_i[i]),
        .WCLK (clk_i),
        .WE   (we_i)
    );
  end
  always_ff @(posedge clk_i) rdata_o <= rdata;
endmodule

module tech_ram #(
    parameter int AddrBits = 10
) (
    input  logic                clk_i,
    input  logic                we_i,
    input  logic [AddrBits-1:0] waddr_i,
    input  logic [         7:0] wdata_i,
    input  logic [AddrBits-1:0] raddr_i,
    output logic [         7:0] rdata_o
);
  (* ram_style = "block" *) logic [7:0] cells[2**AddrBits];
  always_ff @(posedge clk_i) begin
    if (we_i) cells[waddr_i] <= wdata_i;
  end
  always_ff @(posedge clk_i) rdata_o <= cells[raddr_i];
endmodule
