// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the AVR core on a program like the firmware's, compiled by avr-gcc: multi-word
//! multiplication, CRC over a buffer, block copies, calls and stack traffic. In CPU time of one core, so that
//! other work on the machine does not count.

#![allow(missing_docs)] // of what criterion_group makes

#[path = "../tests/avr_tools/mod.rs"]
mod avr_tools;
mod shared;

use criterion::{Criterion, criterion_group, criterion_main};
use shared::{CpuTime, cpu_time};
use sunseal_isa::avr::{Cpu, Exit, FlatBus, Timing};
use sunseal_isa::{Observer, Silent};

const PROGRAM: &str = include_str!("programs/avr.c");

fn run<O: Observer>((cpu, bus): &mut (Cpu, FlatBus), observer: &mut O, cycles: u64) {
    bus.deadline = cpu.cycles + cycles;
    assert_eq!(cpu.run(bus, observer), Exit::Deadline);
}

fn benchmark(c: &mut Criterion<CpuTime>) {
    let mut bus = FlatBus::new();
    bus.load(0, &avr_tools::compile("avr_bench", PROGRAM));
    let mut machine = (Cpu::new(Timing::AVRE), bus);
    shared::benchmark(c, "avr", &mut machine, |m, n| run(m, &mut Silent, n), run);
}

criterion_group!(name = benches; config = cpu_time(); targets = benchmark);
criterion_main!(benches);
