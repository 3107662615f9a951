// SPDX-License-Identifier: MIT OR Apache-2.0
// Storage and S-box cells, each with what it promises and its body on each technology. Without a definition they are plain
// registers and logic: the default for simulation and for gates. TECH_ICE40 (ice40.sv) and TECH_SPARTAN3E (spartan3e.sv)
// choose another.

// Delay line: q_o is what d_i was Depth enabled clocks ago.
module tech_delay #(
    parameter int Width = 8,
    parameter int Depth = 4
) (
    input  logic             clk_i,
    input  logic             ce_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
`ifdef TECH_SPARTAN3E
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
`else
  logic [Width*Depth-1:0] line_q;
  always_ff @(posedge clk_i) if (ce_i) line_q <= (Width * Depth)'({line_q, d_i});
  assign q_o = line_q[Width*Depth-1-:Width];
`endif
endmodule

// Shift register of 16 with a tap: tap_o is what d_i was tap_i + 1 enabled clocks ago, last_o what it was 16 ago.
// MostTap is the largest tap that is ever asked for, HasLast says whether last_o is used.
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
`ifdef TECH_SPARTAN3E
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
`elsif TECH_ICE40
  localparam int Stages = MostTap + 1;
  localparam logic [3:0] RingEnd = 4'(15 - Stages);
  logic [Width*Stages-1:0] line_q;
  logic [Width*16-1:0] line_of_16;
  always_ff @(posedge clk_i) if (ce_i) line_q <= (Width * Stages)'({line_q, d_i});
  assign line_of_16 = (Width * 16)'(line_q);
  assign tap_o = Width'(line_of_16 >> (tap_i * Width));
  if (HasLast) begin : g_ring
    // The stages beyond the taps: a ring in RAM, read a place ahead of where it is written.
    (* no_rw_check *) logic [Width-1:0] cells[16];
    logic [3:0] place_q, next_place;
    initial place_q = 4'd0;
    assign next_place = place_q == RingEnd ? 4'd0 : place_q + 4'd1;
    always_ff @(posedge clk_i) begin
      if (ce_i) begin
        place_q <= next_place;
        cells[place_q] <= line_q[Width*Stages-1-:Width];
        last_o <= cells[next_place];
      end
    end
  end else begin : g_no_ring
    assign last_o = '0;
  end
`else
  localparam int Stages = HasLast ? 16 : MostTap + 1;
  logic [Width*Stages-1:0] line_q;
  always_ff @(posedge clk_i) if (ce_i) line_q <= (Width * Stages)'({line_q, d_i});
  assign tap_o  = Width'(line_q >> (tap_i * Width));
  assign last_o = line_q[Width*Stages-1-:Width];
`endif
endmodule

// 16 bytes, one port to write and one to read; what is read comes a clock later and, on a byte being written, is not
// defined: COLLIDE makes it unknown in a simulation.
module tech_ram16 (
    input  logic       clk_i,
    input  logic       we_i,
    input  logic [3:0] waddr_i,
    input  logic [7:0] wdata_i,
    input  logic [3:0] raddr_i,
    output logic [7:0] rdata_o
);
`ifdef TECH_SPARTAN3E
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
`else
  tech_ram #(.AddrBits(4)) ram (.*);
`endif
endmodule

// A buffer of bytes in block RAM, with ports as tech_ram16 has them; 16 of a Spartan-3E in tables where BlockRam is 0.
module tech_ram #(
    parameter int AddrBits = 10,
    parameter bit BlockRam = 1'b1
) (
    input  logic                clk_i,
    input  logic                we_i,
    input  logic [AddrBits-1:0] waddr_i,
    input  logic [         7:0] wdata_i,
    input  logic [AddrBits-1:0] raddr_i,
    output logic [         7:0] rdata_o
);
`ifdef TECH_SPARTAN3E
  if (!BlockRam && AddrBits == 4) begin : g_tables
    tech_ram16 ram (.*);
  end else begin : g_block
    (* ram_style = "block" *) logic [7:0] cells[2**AddrBits];
    always_ff @(posedge clk_i) begin
      if (we_i) cells[waddr_i] <= wdata_i;
      rdata_o <= cells[raddr_i];
    end
  end
`else
`ifdef TECH_ICE40
  (* no_rw_check *)
`endif
  logic [7:0] cells[2**AddrBits];
  always_ff @(posedge clk_i) begin
    if (we_i) cells[waddr_i] <= wdata_i;
    rdata_o <= cells[raddr_i];
`ifdef COLLIDE
    if (we_i && waddr_i == raddr_i) rdata_o <= 8'hxx;
`endif
  end
`endif
endmodule

// The S-box of AES, its result a clock later.
module tech_sbox (
    input  logic       clk_i,
    input  logic [7:0] a_i,
    output logic [7:0] s_o
);
`ifdef TECH_ICE40
  (* ram_style = "block" *) logic [7:0] table_of_bytes[256];
  integer i;
  initial begin
    for (i = 0; i < 256; i = i + 1) table_of_bytes[i] = aes_pkg::table_sbox(i);
  end
  always_ff @(posedge clk_i) s_o <= table_of_bytes[a_i];
`else
  logic [7:0] s;
  aes_sbox sbox (
      .a_i(a_i),
      .s_o(s)
  );
  always_ff @(posedge clk_i) s_o <= s;
`endif
endmodule

// The three lines of aes128: S-box bytes of 4 clocks ago, those of a tap (2, 3 or 6), and key bytes of 8 clocks ago, of the
// clock before while load_i. They need not go on while ce_i is low.
module tech_aes_lines (
    input  logic       clk_i,
    input  logic       ce_i,
    input  logic       load_i,
    input  logic [3:0] tap_i,
    input  logic [7:0] sbox_i,
    input  logic [7:0] key_i,
    output logic [7:0] byte_o,
    output logic [7:0] next_o,
    output logic [7:0] key_o
);
`ifdef TECH_ICE40
  // What lies more than four clocks back waits in one memory for both lines, 16 bits wide, read two places ahead of the
  // writing.
  logic [31:0] line_q;
  logic [ 7:0] key_q;
  logic [ 2:0] place_q, read_place;
  logic [15:0] far;
  (* no_rw_check, ram_style = "block" *) logic [15:0] cells[8];
  initial place_q = 3'd0;
  assign read_place = {place_q[2:1] + 2'd1, place_q[0]};
  always_ff @(posedge clk_i) begin
    if (ce_i) begin
      line_q  <= {line_q[23:0], sbox_i};
      key_q   <= key_i;
      place_q <= place_q + 3'd1;
      cells[place_q] <= {key_q, sbox_i};
      far <= cells[read_place];
    end
  end
  assign byte_o = line_q[31:24];
  assign next_o = tap_i[2] ? far[7:0] : tap_i[0] ? line_q[31:24] : line_q[23:16];
  assign key_o  = load_i ? key_q : far[15:8];
`else
  tech_delay #(
      .Width(8),
      .Depth(4)
  ) byte_line (
      .clk_i(clk_i),
      .ce_i (1'b1),
      .d_i  (sbox_i),
      .q_o  (byte_o)
  );
  tech_tap #(
      .Width  (8),
      .MostTap(6)
  ) next_line (
      .clk_i (clk_i),
      .ce_i  (1'b1),
      .tap_i (tap_i),
      .d_i   (sbox_i),
      .tap_o (next_o),
      .last_o()
  );
  tech_tap #(
      .Width  (8),
      .MostTap(7)
  ) key_wait (
      .clk_i (clk_i),
      .ce_i  (1'b1),
      .tap_i (load_i ? 4'd0 : 4'd7),
      .d_i   (key_i),
      .tap_o (key_o),
      .last_o()
  );
`endif
endmodule
