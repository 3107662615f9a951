// SPDX-License-Identifier: MIT OR Apache-2.0
// The coprocessor as an SPI slave.
module coprocessor_spi #(
`include "../../ports/coprocessor_parameters.svh"
) (
`include "../../ports/coprocessor_clocks.svh"
    input  logic sck_i,
    input  logic cs_ni,
    input  logic mosi_i,
    output logic miso_o,
    output logic irq_o
);
`define BUS bus_spi
`include "../../ports/coprocessor_body.svh"
endmodule
