// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the Armv7E-M core on a program like the firmware's, compiled by arm-none-eabi-gcc:
//! multi-word multiplication with UMAAL, CRC over a buffer, block copies, calls, stack traffic and floats. In
//! CPU time of one core, so that other work on the machine does not count.
//!
//! `silent`: exact cycle limit before every instruction, the full timing model, nobody looks on. `counting`:
//! with an observer that hears of every instruction and every data access, and counts cycles, flow, accesses and
//! bits.

#[macro_use]
mod shared;
#[path = "../tests/thumb_tools/mod.rs"]
mod thumb_tools;

use sunseal_isa::thumb::Timing;

const PROGRAM: &str = include_str!("programs/thumb.c");

benchmarks!(thumb, {
    let flags = ["-O2", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    let code = thumb_tools::compile("thumb_bench", PROGRAM, &flags);
    thumb_tools::machine(&code, Timing::CORTEX_M4)
});
