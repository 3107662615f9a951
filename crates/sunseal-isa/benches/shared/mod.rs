// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the benchmarks share: CPU time of one core, so that other work on the machine does not count, and an
//! observer that counts what an energy profile needs.

#![allow(dead_code)] // each benchmark uses its part

mod clock;
#[path = "../../../sunseal-py/src/yardstick.rs"]
mod yardstick;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkGroup, Criterion, Throughput};
use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

/// Nanoseconds that this thread ran.
pub struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;
    fn start(&self) -> u64 {
        clock::thread_ns()
    }
    fn end(&self, start: u64) -> u64 {
        clock::thread_ns() - start
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

/// Criterion by CPU time.
pub fn cpu_time() -> Criterion<CpuTime> {
    Criterion::default().with_measurement(CpuTime)
}

/// The yardstick beside a group's figures, which are divided by its own: other work and another processor leave the
/// quotient alone. The group's throughput is another afterwards.
pub fn beside_yardstick(group: &mut BenchmarkGroup<'_, CpuTime>) {
    group.throughput(Throughput::Elements(yardstick::run().0));
    group.bench_function("yardstick", |b| b.iter(yardstick::run));
}

/// What an energy profile needs of each instruction: cycles by where control went, accesses by kind.
#[derive(Default)]
pub struct Counting {
    pub cycles: [u64; 4],
    pub instructions: u64,
    pub depth: i64,
    pub reads: u64,
    pub writes: u64,
    pub bits: u64,
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

/// The program of a core's benchmarks, `silent` and `counting`, on the CPU and bus that `$machine` makes.
#[allow(unused_macros)] // only the benchmarks of a core alone take it
macro_rules! benchmarks {
    ($core:ident, $machine:expr) => {
        fn run<O: sunseal_isa::Observer>(
            (cpu, bus): &mut (sunseal_isa::$core::Cpu, sunseal_isa::$core::FlatBus),
            observer: &mut O,
        ) {
            bus.deadline = cpu.cycles + 20_000_000;
            assert_eq!(cpu.run(bus, observer), sunseal_isa::$core::Exit::Deadline);
        }

        fn benchmark(c: &mut criterion::Criterion<shared::CpuTime>) {
            let mut machine = $machine;
            let mut count = shared::Counting::default();
            run(&mut machine, &mut count);
            let mut group = c.benchmark_group(stringify!($core));
            group.throughput(criterion::Throughput::Elements(count.instructions));
            group.sample_size(10);
            group.bench_function("silent", |b| {
                b.iter(|| run(&mut machine, &mut sunseal_isa::Silent));
            });
            group.bench_function("counting", |b| b.iter(|| run(&mut machine, &mut count)));
            shared::beside_yardstick(&mut group);
            group.finish();
        }

        criterion::criterion_group!(name = benches; config = shared::cpu_time(); targets = benchmark);
        criterion::criterion_main!(benches);
    };
}
