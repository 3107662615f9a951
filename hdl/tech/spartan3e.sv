// SPDX-License-Identifier: MIT OR Apache-2.0
// Spartan-3E: look-up tables as shift registers and RAM (DS312, "Distributed RAM", "Shift Registers"), block RAM inferred.
// Read before cells.sv.
`define TECH_SPARTAN3E
