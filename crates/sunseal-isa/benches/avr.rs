// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the AVR core on a program like the firmware's, compiled by avr-gcc: multi-word
//! multiplication, CRC over a buffer, block copies, calls and stack traffic. In CPU time of one core, so that
//! other work on the machine does not count.

#![allow(missing_docs)] // of what criterion_group makes

#[path = "../tests/avr_tools/mod.rs"]
mod avr_tools;

use std::time::Instant;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sunseal_isa::avr::{Cpu, Exit, FlatBus, Timing};
use sunseal_isa::{Access, Cycles, Flow, Observer, Silent, Width};

const PROGRAM: &str = r#"
#include <stdint.h>
static uint8_t a[20], b[20], product[40], buffer[256];

__attribute__((noinline)) static void multiply(void) {
    for (uint8_t i = 0; i < 40; i++) product[i] = 0;
    for (uint8_t i = 0; i < 20; i++) {
        uint16_t carry = 0;
        for (uint8_t j = 0; j < 20; j++) {
            carry += product[i + j] + (uint16_t)a[i] * b[j];
            product[i + j] = carry;
            carry >>= 8;
        }
        product[i + 20] = carry;
    }
}

__attribute__((noinline)) static uint16_t crc(uint16_t seed) {
    for (uint16_t i = 0; i < sizeof buffer; i++) {
        seed ^= (uint16_t)buffer[i] << 8;
        for (uint8_t bit = 0; bit < 8; bit++) seed = seed & 0x8000 ? seed << 1 ^ 0x1021 : seed << 1;
    }
    return seed;
}

__attribute__((noinline)) static uint16_t fibonacci(uint16_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void) {
    uint16_t seed = 1;
    for (;;) {
        for (uint8_t i = 0; i < 20; i++) { a[i] += seed + i; b[i] ^= seed * i; }
        multiply();
        for (uint16_t i = 0; i < sizeof buffer; i++) buffer[i] = product[i % 40] + i;
        seed = crc(seed) + fibonacci(12);
    }
}
"#;

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
            Flow::Call { .. } | Flow::Interrupt { .. } => 2,
            Flow::Return | Flow::InterruptReturn => 3,
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

fn run<O: Observer>(cpu: &mut Cpu, bus: &mut FlatBus, observer: &mut O, cycles: u64) {
    bus.deadline = cpu.cycles + cycles;
    assert_eq!(cpu.run(bus, observer), Exit::Deadline);
}

fn benchmark(c: &mut Criterion<CpuTime>) {
    const CYCLES: u64 = 20_000_000;
    let mut bus = FlatBus::new();
    bus.load(0, &avr_tools::compile("avr_bench", PROGRAM));
    let mut cpu = Cpu::new(Timing::AVRE);
    let mut count = Counting::default();
    run(&mut cpu, &mut bus, &mut count, CYCLES);
    let mut group = c.benchmark_group("avr");
    group.throughput(Throughput::Elements(count.instructions));
    group.sample_size(10);
    group.bench_function("silent", |b| b.iter(|| run(&mut cpu, &mut bus, &mut Silent, CYCLES)));
    group.bench_function("counting", |b| b.iter(|| run(&mut cpu, &mut bus, &mut count, CYCLES)));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime(Instant::now()));
    targets = benchmark
}
criterion_main!(benches);
