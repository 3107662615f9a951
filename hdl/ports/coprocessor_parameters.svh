// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor with whatever bus.
    parameter bit PresentByRounds = 1'b0,  // PRESENT a round a clock instead of a byte a clock
    parameter int AddrBits = 10,
    parameter int TimeoutBits = 17,
    parameter bit Gated = 1'b0  // clk_i may stand still while clock_wanted_o is low; tick_i passes the time
