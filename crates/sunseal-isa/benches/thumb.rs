// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the Armv7E-M core on a program like the firmware's, compiled by arm-none-eabi-gcc:
//! multi-word multiplication with UMAAL, CRC over a buffer, block copies, calls, stack traffic and floats. In
//! CPU time of one core, so that other work on the machine does not count.
//!
//! `silent`: exact cycle limit before every instruction, the full timing model, nobody looks on. `counting`:
//! with an observer that hears of every instruction and every data access, and counts cycles, flow, accesses and
//! bits.

#![allow(missing_docs)] // of what criterion_group makes

#[path = "../tests/thumb_tools/mod.rs"]
mod thumb_tools;

use std::time::Instant;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sunseal_isa::thumb::{Cpu, Exit, FlatBus, Timing};
use sunseal_isa::{Access, Cycles, Flow, Observer, Silent, Width};

const PROGRAM: &str = r#"
#include <stdint.h>
static uint32_t a[8], b[8], product[16];
static uint8_t buffer[256];
static volatile float mean;

int main(void);
__attribute__((section(".start"), noreturn)) void start(void) { for (;;) main(); }

static inline uint32_t umaal(uint32_t *high, uint32_t low, uint32_t n, uint32_t m) {
    __asm__("umaal %0, %1, %2, %3" : "+r"(low), "+r"(*high) : "r"(n), "r"(m));
    return low;
}

__attribute__((noinline)) static void multiply(void) {
    for (int i = 0; i < 16; i++) product[i] = 0;
    for (int i = 0; i < 8; i++) {
        uint32_t carry = 0;
        for (int j = 0; j < 8; j++) product[i + j] = umaal(&carry, product[i + j], a[i], b[j]);
        product[i + 8] = carry;
    }
}

__attribute__((noinline)) static uint32_t crc(uint32_t seed) {
    for (uint32_t i = 0; i < sizeof buffer; i++) {
        seed ^= buffer[i] << 8;
        for (int bit = 0; bit < 8; bit++) seed = seed & 0x8000 ? seed << 1 ^ 0x1021 : seed << 1;
    }
    return seed;
}

__attribute__((noinline)) static uint32_t fibonacci(uint32_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void) {
    static uint32_t seed;
    for (int turn = 0; turn < 100; turn++) {
        for (uint32_t i = 0; i < 8; i++) { a[i] += seed + i; b[i] ^= seed * i; }
        for (int k = 0; k < 8; k++) multiply();
        for (uint32_t i = 0; i < sizeof buffer; i++) buffer[i] = product[i % 16] + i;
        seed = crc(seed) + fibonacci(12);
        float sum = mean;
        for (int i = 0; i < 32; i++) sum = sum * 0.5f + (float)buffer[i];
        mean = sum;
    }
    return 0;
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
    let flags = ["-O2", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    let code = thumb_tools::compile("thumb_bench", PROGRAM, &flags);
    let (mut cpu, mut bus) = thumb_tools::machine(&code, Timing::CORTEX_M4);
    let mut count = Counting::default();
    run(&mut cpu, &mut bus, &mut count, CYCLES);
    let mut group = c.benchmark_group("thumb");
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
