// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruction sets: decode, execute and disassemble over a bus.
