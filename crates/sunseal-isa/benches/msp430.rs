// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the MSP430 core on a program like the firmware's: multi-word
//! multiplication in software, CRC over a buffer, block copies, calls and stack traffic. In CPU time
//! of one core, so that other work on the machine does not count. Always with the exact cycle limit
//! before every instruction; then
//!
//! - `silent`: nobody looks on;
//! - `counting`: cycles by where control went, accesses by kind and their bits, as an energy profile needs them;
//! - `leakage-and-taint`: a byte of Hamming weights and distances for each instruction, and marks followed through
//!   registers, flags and memory.

#![allow(missing_docs)] // of what criterion_group makes

#[path = "../tests/asm/mod.rs"]
mod asm;
#[path = "../tests/program/mod.rs"]
mod program;

use std::time::Instant;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sunseal_isa::msp430::{Cpu, Exit, Timing};
use sunseal_isa::{Access, Cycles, Flow, Observer, Silent, Width};

/// Nanoseconds that this thread ran, from the scheduler; wall time where there is no such file.
struct CpuTime(Instant);

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;
    fn start(&self) -> u64 {
        std::fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|s| s.split_whitespace().next()?.parse().ok())
            .unwrap_or_else(|| self.0.elapsed().as_nanos() as u64)
    }
    fn end(&self, start: u64) -> u64 {
        self.start() - start
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// What an energy profile needs of each instruction: cycles by where control went, accesses by kind.
#[derive(Default)]
struct Counting {
    cycles: [u64; 4],
    instructions: u64,
    depth: i64,
    reads: u64,
    writes: u64,
    bits: u64,
}

impl Observer for Counting {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    #[inline(always)]
    fn instruction(&mut self, _: u32, _: u32, cycles: u32, flow: Flow) {
        self.instructions += 1;
        let class = match flow {
            Flow::Next => 0,
            Flow::Jump => 1,
            Flow::Call { .. } | Flow::Interrupt { .. } => {
                self.depth += 1;
                2
            }
            Flow::Return | Flow::InterruptReturn => {
                self.depth -= 1;
                3
            }
        };
        self.cycles[class] += u64::from(cycles);
    }

    #[inline(always)]
    fn access(&mut self, _: u32, _: u32, kind: Access, _: Width, value: u32, _: Cycles) {
        match kind {
            Access::Read => self.reads += 1,
            Access::Write => self.writes += 1,
        }
        self.bits += u64::from(value.count_ones());
    }
}

fn run<O: Observer>(
    cpu: &mut Cpu,
    bus: &mut sunseal_isa::msp430::FlatBus,
    observer: &mut O,
    cycles: u64,
) {
    bus.deadline = cpu.cycles + cycles;
    assert_eq!(cpu.run(bus, observer), Exit::Deadline);
}

fn benchmark(c: &mut Criterion<CpuTime>) {
    const CYCLES: u64 = 20_000_000;
    let (mut cpu, mut bus) = program::machine(Timing::CPUXV2);
    let mut count = Counting::default();
    run(&mut cpu, &mut bus, &mut count, CYCLES);
    let mut group = c.benchmark_group("msp430");
    group.throughput(Throughput::Elements(count.instructions));
    group.sample_size(10);
    group.bench_function("silent", |b| b.iter(|| run(&mut cpu, &mut bus, &mut Silent, CYCLES)));
    group.bench_function("counting", |b| b.iter(|| run(&mut cpu, &mut bus, &mut count, CYCLES)));
    let mut watch = program::LeakageAndTaint::new(&bus);
    group.bench_function("leakage-and-taint", |b| {
        b.iter(|| run(&mut cpu, &mut bus, &mut watch, CYCLES));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime(Instant::now()));
    targets = benchmark
}
criterion_main!(benches);
