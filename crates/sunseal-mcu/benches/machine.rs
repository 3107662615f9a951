// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second of the whole machine with its ledger on, in CPU time of one core (so that
//! other work on the machine does not count): a program with the firmware's mix of instructions, and
//! the bench images if they are built (`make -C firmware`).

#![allow(missing_docs)] // criterion_group! makes an undocumented function

#[path = "../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
#[path = "../../sunseal-isa/tests/program/mod.rs"]
mod program;

use asm::{Arg::*, Size::W};
use std::path::PathBuf;
use std::time::Instant;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sunseal_mcu::profile::{Profiler, TraceHash};
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Observer, Picos, Silent};

/// Nanoseconds that this thread ran, from the scheduler; wall time where there is no such file.
struct CpuTime(Instant);

impl CpuTime {
    fn ran_ns(&self) -> u64 {
        std::fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|s| s.split_whitespace().next()?.parse().ok())
            .unwrap_or_else(|| self.0.elapsed().as_nanos() as u64)
    }
}

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;
    fn start(&self) -> u64 {
        self.ran_ns()
    }
    fn end(&self, start: u64) -> u64 {
        self.ran_ns() - start
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

/// Secret scalar and entropy of a signature, then a message; key generation reads the first 32 bytes.
fn input(len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|i| (17 * i + 5) as u8).collect();
    // Below every order.
    bytes[0] = 0;
    bytes
}

fn image(name: &str, variant: &str) -> Option<Elf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../firmware/build/msp430f5438a-anagear")
        .join(variant)
        .join(format!("bench-{name}.elf"));
    match std::fs::read(&path) {
        Ok(bytes) => Some(Elf::parse(&bytes).expect("a bench image is an ELF")),
        Err(e) => {
            eprintln!("{}: {e}; build it by `make -C firmware`", path.display());
            None
        }
    }
}

fn load(elf: &Elf, bytes: usize) -> Machine {
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(elf).expect("a bench image fits its device");
    m.write_symbol(elf, "bench_input", &input(bytes)).expect("a bench image has its input");
    m.write_symbol(elf, "bench_input_len", &(bytes as u16).to_le_bytes()).expect("and its length");
    m
}

fn mixed() -> Machine {
    let (words, entry) = program::words();
    let mut m = Machine::new(&Device::msp430f5438a());
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.write_mem(program::CODE, &bytes).expect("the program lies in flash");
    // Holds the watchdog, sets the stack and goes to the program.
    let mut start = asm::double("MOV", W, Imm(0x5A80), Abs(0x015C));
    start.extend(asm::double("MOV", W, Imm(program::STACK), R(1)));
    start.extend(asm::double("MOV", W, Imm(entry), R(0)));
    let bytes: Vec<u8> = start.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.write_mem(0xF000, &bytes).expect("and its start");
    m.write_mem(0xFFFE, &0xF000u16.to_le_bytes()).expect("the reset vector");
    m.reset();
    m
}

/// Sleeps in LPM3 and is woken 1024 times a second by a timer on REFO, to count in RAM.
fn sleeper() -> Machine {
    let words = [
        asm::double("MOV", W, Imm(0x5A80), Abs(0x015C)),
        asm::double("MOV", W, Imm(program::STACK), R(1)),
        // ACLK = REFO; TA0 counts to 32 in up mode and interrupts.
        asm::double("MOV", W, Imm(0x0244), Abs(0x0168)),
        asm::double("MOV", W, Imm(31), Abs(0x0352)),
        asm::double("MOV", W, Imm(0x0010), Abs(0x0342)),
        asm::double("MOV", W, Imm(0x0114), Abs(0x0340)),
        asm::double("BIS", W, Imm(0x00D8), R(2)),
        asm::jump("JMP", -3),
    ]
    .concat();
    let handler = [asm::double("ADD", W, Cg(1), Abs(program::RAM)), vec![asm::RETI]].concat();
    let bytes = |w: &[u16]| w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut m = Machine::new(&Device::msp430f5438a());
    m.write_mem(program::CODE, &bytes(&words)).expect("the program lies in flash");
    m.write_mem(0xF000, &bytes(&handler)).expect("and its handler");
    m.write_mem(0xFFEC, &bytes(&[0xF000, 0, 0, 0, 0, 0, 0, 0, 0, 0x5C00])).expect("the vectors");
    m.reset();
    m
}

fn run<O: Observer>(m: &mut Machine, until: &Until, observer: &mut O) {
    let stop = m.run(until, observer);
    assert!(matches!(stop, Stop::Halted | Stop::Cycles | Stop::Time), "{stop:?}");
}

fn instructions(m: &mut Machine, until: &Until) -> u64 {
    let mut count = TraceHash::<false>::default();
    run(m, until, &mut count);
    count.instructions()
}

fn machine(c: &mut Criterion<CpuTime>) {
    const CYCLES: u64 = 20_000_000;
    let mut group = c.benchmark_group("machine");
    group.sample_size(10);

    let mut m = mixed();
    let next = |m: &Machine| Until::cycles(m.cycles() + CYCLES);
    let until = next(&m);
    let n = instructions(&mut m, &until);
    group.throughput(Throughput::Elements(n));
    group.bench_function("mixed", |b| {
        b.iter(|| {
            let until = next(&m);
            run(&mut m, &until, &mut Silent);
        });
    });

    let mut m = sleeper();
    group.throughput(Throughput::Elements(1024));
    group.bench_function("wakes", |b| {
        b.iter(|| {
            let until = Until::time(Picos(m.time().0 + 1_000_000_000_000));
            run(&mut m, &until, &mut Silent);
        });
    });

    // To go back to the same point again and again is how faults are injected.
    let mut m = mixed();
    run(&mut m, &Until::cycles(10_000), &mut Silent);
    m.log_pins(false);
    group.throughput(Throughput::Elements(1));
    group.bench_function("snapshot", |b| b.iter(|| m.snapshot()));
    let kept = m.snapshot();
    group.bench_function("fork", |b| {
        b.iter(|| {
            m.restore(&kept).expect("the machine's own snapshot");
            run(&mut m, &Until::cycles(10_100), &mut Silent);
        });
    });

    for (name, variant, bytes) in [
        ("ecdsa-p256-keygen", "mpy-none", 32),
        ("ecdsa-p256-sign", "mpy-16", 96),
        ("ecdsa-p256-sign", "mpy-32", 96),
        ("ecdsa-secp160r1-sign", "mpy-32", 85),
        ("sha256-hash", "mpy-none", 128),
    ] {
        let Some(elf) = image(name, variant) else { continue };
        let mut m = load(&elf, bytes);
        let n = instructions(&mut m, &Until::halted());
        group.throughput(Throughput::Elements(n));
        group.bench_function(format!("{name}/{variant}"), |b| {
            b.iter_batched(
                || load(&elf, bytes),
                |mut m| {
                    run(&mut m, &Until::halted(), &mut Silent);
                    m
                },
                criterion::BatchSize::PerIteration,
            );
        });
        if name == "ecdsa-secp160r1-sign" {
            let base = m.device().multiplier().unwrap();
            group.bench_function(format!("{name}/{variant}/profiled"), |b| {
                b.iter_batched(
                    || load(&elf, bytes),
                    |mut m| {
                        run(&mut m, &Until::halted(), &mut Profiler::new(base));
                        m
                    },
                    criterion::BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

fn cpu_time() -> Criterion<CpuTime> {
    Criterion::default().with_measurement(CpuTime(Instant::now()))
}

criterion_group!(name = benches; config = cpu_time(); targets = machine);
criterion_main!(benches);
