// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor on the 9-pin parallel bus; drive_o switches the pads of lines_o.
module coprocessor_parallel #(
`include "../../ports/coprocessor_parameters.svh"
) (
`include "../../ports/coprocessor_clocks.svh"
    input  logic       toggle_i,
    input  logic [7:0] lines_i,
    output logic [7:0] lines_o,
    output logic       drive_o,
    output logic       irq_o
);
`define BUS bus_parallel
`include "../../ports/coprocessor_body.svh"
endmodule
