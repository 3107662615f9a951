// SPDX-License-Identifier: MIT OR Apache-2.0
// Every bus towards the coprocessor; its pins follow.
    input  logic       clk_i,
    input  logic       rst_ni,
    output logic       clock_wanted_o,  // something has changed on the pins, or goes on
    // table I of the paper
    input  logic       byte_ready_i,
    input  logic       xmit_mode_i,
    output logic       byte_transferred_o,
    input  logic [7:0] tx_i,
    output logic [7:0] rx_o,
