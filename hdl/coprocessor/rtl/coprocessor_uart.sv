// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor on a UART; a bit lasts Divider clocks.
module coprocessor_uart #(
    parameter int Divider = 16,
`include "../../ports/coprocessor_parameters.svh"
) (
`include "../../ports/coprocessor_clocks.svh"
    input  logic rx_pin_i,
    output logic tx_pin_o,
    output logic irq_o
);
`define BUS bus_uart #(.Divider(Divider))
`include "../../ports/coprocessor_body.svh"
endmodule
