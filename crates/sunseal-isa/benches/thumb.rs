// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the Armv7E-M core on a program like the firmware's, compiled by arm-none-eabi-gcc:
//! multi-word multiplication with UMAAL, CRC over a buffer, block copies, calls, stack traffic and floats. In
//! CPU time of one core, so that other work on the machine does not count.
//!
//! `silent`: exact cycle limit before every instruction, the full timing model, nobody looks on. `counting`:
//! with an observer that hears of every instruction and every data access, and counts cycles, flow, accesses and
//! bits.

#![allow(missing_docs)] // of what criterion_group makes

mod shared;
#[path = "../tests/thumb_tools/mod.rs"]
mod thumb_tools;

use criterion::{Criterion, criterion_group, criterion_main};
use shared::{CpuTime, cpu_time};
use sunseal_isa::thumb::{Cpu, Exit, FlatBus, Timing};
use sunseal_isa::{Observer, Silent};

const PROGRAM: &str = include_str!("programs/thumb.c");

fn run<O: Observer>((cpu, bus): &mut (Cpu, FlatBus), observer: &mut O, cycles: u64) {
    bus.deadline = cpu.cycles + cycles;
    assert_eq!(cpu.run(bus, observer), Exit::Deadline);
}

fn benchmark(c: &mut Criterion<CpuTime>) {
    let flags = ["-O2", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    let code = thumb_tools::compile("thumb_bench", PROGRAM, &flags);
    let mut machine = thumb_tools::machine(&code, Timing::CORTEX_M4);
    shared::benchmark(c, "thumb", &mut machine, |m, n| run(m, &mut Silent, n), run);
}

criterion_group!(name = benches; config = cpu_time(); targets = benchmark);
criterion_main!(benches);
