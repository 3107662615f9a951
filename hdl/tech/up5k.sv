// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor with the oscillators of an iCE40 UP5K: 48 MHz by two, whose output stands still while nothing is wanted,
// and 10 kHz for the time that a transfer may stand still. Read beside ice40.sv, by place and route alone.
//
// Behind each edge the wish flickers until it has settled; while the clock is high it holds itself, so that no second edge
// comes of that.
module coprocessor_up5k #(
    parameter bit PresentByRounds = 1'b1
) (
    input  logic       rst_ni,
    input  logic       toggle_i,
    input  logic [7:0] lines_i,
    output logic [7:0] lines_o,
    output logic       drive_o,
    output logic       irq_o
);
  logic clk, clock_wanted, tick, tick_wanted;
  SB_HFOSC #(
      .CLKHF_DIV("0b01")
  ) fast (
      .CLKHFPU(1'b1),
      .CLKHFEN(clock_wanted || clk),
      .CLKHF  (clk)
  );
  SB_LFOSC slow (
      .CLKLFPU(1'b1),
      .CLKLFEN(tick_wanted),
      .CLKLF  (tick)
  );
  coprocessor_parallel #(
      .PresentByRounds(PresentByRounds),
      .TimeoutBits(7),
      .Gated(1'b1)
  ) coprocessor (
      .clk_i(clk),
      .rst_ni(rst_ni),
      .tick_i(tick),
      .tick_wanted_o(tick_wanted),
      .clock_wanted_o(clock_wanted),
      .toggle_i(toggle_i),
      .lines_i(lines_i),
      .lines_o(lines_o),
      .drive_o(drive_o),
      .irq_o(irq_o)
  );
endmodule
