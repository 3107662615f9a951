// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the MSP430 core on a program like the firmware's: multi-word
//! multiplication in software, CRC over a buffer, block copies, calls and stack traffic. In CPU time
//! of one core, so that other work on the machine does not count. Always with the exact cycle limit
//! before every instruction; then
//!
//! - `silent`: nobody looks on;
//! - `counting`: cycles by where control went, accesses by kind and their bits, as an energy profile needs them.

#[path = "../tests/asm/mod.rs"]
mod asm;
#[path = "../tests/program/mod.rs"]
mod program;
#[macro_use]
mod shared;

use sunseal_isa::msp430::Timing;

benchmarks!(msp430, program::machine(Timing::CPUXV2));
