// SPDX-License-Identifier: MIT OR Apache-2.0
// Every cipher, a byte a clock each way; it asks for bytes by their places.
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       start_i,     // taken when busy_o is low
    output logic       busy_o,
    output logic [3:0] key_idx_o,   // key byte wanted a clock later on key_i
    input  logic [7:0] key_i,
    output logic [3:0] data_idx_o,  // data byte wanted a clock later on data_i, or the place of the byte on data_o
    input  logic [7:0] data_i,
    output logic       valid_o,     // data_o is a byte of the result
    output logic [7:0] data_o
