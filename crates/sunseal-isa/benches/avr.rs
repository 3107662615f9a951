// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the AVR core on a program like the firmware's, compiled by avr-gcc: multi-word
//! multiplication, CRC over a buffer, block copies, calls and stack traffic. In CPU time of one core, so that
//! other work on the machine does not count.

#[path = "../tests/avr_tools/mod.rs"]
mod avr_tools;
#[macro_use]
mod shared;

use sunseal_isa::avr::{Cpu, FlatBus, Timing};

const PROGRAM: &str = include_str!("programs/avr.c");

benchmarks!(avr, {
    let mut bus = FlatBus::new();
    bus.load(0, &avr_tools::compile("avr_bench", PROGRAM));
    (Cpu::new(Timing::AVRE), bus)
});
