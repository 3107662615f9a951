// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor with whatever bus; its pins follow.
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       tick_i,          // with Gated, a slow clock that never stands still
    output logic       tick_wanted_o,
    output logic       clock_wanted_o,  // with Gated, clk_i may stand still while it is low
