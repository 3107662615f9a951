// SPDX-License-Identifier: MIT OR Apache-2.0
//! What instruments cost: the same signature with nobody looking on, with leakage samples, with taint, with
//! both, all in one run and in CPU time of one core. Elements are instructions; of leakage alone, bytes are
//! samples.

#![allow(missing_docs)] // criterion_group! makes an undocumented function

use std::path::PathBuf;
use std::time::Instant;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sunseal_mcu::leakage::{Leakage, Model};
use sunseal_mcu::profile::TraceHash;
use sunseal_mcu::taint::Taint;
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Observer, Silent};

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

const INPUT_BYTES: usize = 85;

/// A bench program with its input in place, before its first instruction.
fn machine(elf: &Elf) -> Machine {
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(elf).expect("a bench image fits its device");
    let mut input: Vec<u8> = (0..INPUT_BYTES).map(|i| (17 * i + 5) as u8).collect();
    // Below every order.
    input[0] = 0;
    m.write_symbol(elf, "bench_input", &input).expect("a bench image has its input");
    m.write_symbol(elf, "bench_input_len", &(INPUT_BYTES as u16).to_le_bytes())
        .expect("and its length");
    m
}

/// With key and entropy marked.
fn taint(m: &Machine, elf: &Elf) -> Taint {
    let mut taint = Taint::of(m.device(), elf);
    let input = elf.symbol("bench_input").expect("a bench image has its input").addr;
    taint.mark(input..input + INPUT_BYTES as u32);
    taint
}

fn run<O: Observer>(m: &mut Machine, observer: &mut O) {
    assert_eq!(m.run(&Until::halted(), observer), Stop::Halted);
}

fn instruments(c: &mut Criterion<CpuTime>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../firmware/build/msp430f5438a-anagear/mpy-32/bench-ecdsa-secp160r1-sign.elf");
    let elf = match std::fs::read(&path) {
        Ok(bytes) => Elf::parse(&bytes).expect("a bench image is an ELF"),
        Err(e) => panic!("{}: {e}; build it by `make firmware`", path.display()),
    };
    let mut count = TraceHash::<false>::default();
    let mut m = machine(&elf);
    run(&mut m, &mut count);
    let mut buffer = vec![0u8; m.cycles() as usize];
    let mut group = c.benchmark_group("instruments");
    group.sample_size(20);
    group.throughput(Throughput::Elements(count.instructions()));
    let setup = || machine(&elf);
    group.bench_function("silent", |b| {
        b.iter_batched_ref(setup, |m| run(m, &mut Silent), BatchSize::PerIteration);
    });
    group.bench_function("leakage", |b| {
        b.iter_batched_ref(
            setup,
            |m| run(m, &mut Leakage::new(&mut buffer, Model::default(), 0)),
            BatchSize::PerIteration,
        );
    });
    let with_taint = || {
        let m = machine(&elf);
        let taint = taint(&m, &elf);
        (m, taint)
    };
    group.bench_function("taint", |b| {
        b.iter_batched_ref(with_taint, |(m, t)| run(m, t), BatchSize::PerIteration);
    });
    group.bench_function("leakage+taint", |b| {
        b.iter_batched(
            with_taint,
            |(mut m, t)| {
                let mut both = (t, Leakage::new(&mut buffer, Model::default(), 0));
                run(&mut m, &mut both);
                (m, both.0)
            },
            BatchSize::PerIteration,
        );
    });
    group.throughput(Throughput::Bytes(m.cycles()));
    group.bench_function("leakage/samples", |b| {
        b.iter_batched_ref(
            setup,
            |m| run(m, &mut Leakage::new(&mut buffer, Model::default(), 0)),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn cpu_time() -> Criterion<CpuTime> {
    Criterion::default().with_measurement(CpuTime(Instant::now()))
}

criterion_group!(name = benches; config = cpu_time(); targets = instruments);
criterion_main!(benches);
