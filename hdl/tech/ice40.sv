// SPDX-License-Identifier: MIT OR Apache-2.0
// iCE40: memories, the S-box and the far end of long lines in SB_RAM40, inferred; short lines as registers. What an SB_RAM40
// reads of a byte being written is not defined: without no_rw_check yosys would add what defines it. Read before cells.sv.
`define TECH_ICE40
