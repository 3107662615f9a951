// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor with whatever bus.
    parameter bit PresentByRounds = 1'b0,  // PRESENT a round a clock instead of a byte a clock
    parameter int AddrBits = 10,  // a message of 2^AddrBits bytes
    parameter bit BlockRam = 1'b1,  // else no block RAM of a Spartan-3E, with a message of one block (AddrBits 4)
    parameter int TimeoutBits = 17,
    parameter bit Gated = 1'b0  // clk_i may stand still while clock_wanted_o is low; tick_i passes the time
