// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the MSP430 core on a program like the firmware's: multi-word
//! multiplication in software, CRC over a buffer, block copies, calls and stack traffic. In CPU time
//! of one core, so that other work on the machine does not count. Always with the exact cycle limit
//! before every instruction; then
//!
//! - `silent`: nobody looks on;
//! - `counting`: cycles by where control went, accesses by kind and their bits, as an energy profile needs them.

#![allow(missing_docs)] // of what criterion_group makes

#[path = "../tests/asm/mod.rs"]
mod asm;
#[path = "../tests/program/mod.rs"]
mod program;
mod shared;

use criterion::{Criterion, criterion_group, criterion_main};
use shared::{CpuTime, cpu_time};
use sunseal_isa::msp430::{Cpu, Exit, FlatBus, Timing};
use sunseal_isa::{Observer, Silent};

fn run<O: Observer>((cpu, bus): &mut (Cpu, FlatBus), observer: &mut O, cycles: u64) {
    bus.deadline = cpu.cycles + cycles;
    assert_eq!(cpu.run(bus, observer), Exit::Deadline);
}

fn benchmark(c: &mut Criterion<CpuTime>) {
    let mut machine = program::machine(Timing::CPUXV2);
    shared::benchmark(c, "msp430", &mut machine, |m, n| run(m, &mut Silent, n), run);
}

criterion_group!(name = benches; config = cpu_time(); targets = benchmark);
criterion_main!(benches);
