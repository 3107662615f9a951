// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every machine with its ledger open, in CPU time of one core (so that other work does not count): a whole
//! signature by the bench image of its board (`make firmware` builds them), with nobody looking on, counted as an
//! energy profile does, with a leakage sample for each cycle, with marks followed, with both. Elements are
//! instructions. Then a node that sleeps, and snapshots.

#[path = "../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
#[path = "../../sunseal-isa/tests/program/mod.rs"]
mod program;
#[path = "../../sunseal-isa/benches/shared/mod.rs"]
mod shared;

use std::path::PathBuf;

use asm::{Arg::*, Size::W};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{Counting, CpuTime, beside_yardstick, cpu_time};
use sunseal_mcu::leakage::{Leakage, Model};
use sunseal_mcu::taint::Taint;
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Observer, Picos, Silent};

const IMAGE: &str = "bench-ecdsa-secp160r1-sign.elf";
const INPUT_BYTES: usize = 85;
/// Board, variant of its images, device.
const BOARDS: [(&str, &str, &str); 6] = [
    ("telosb", "mpy-16", "msp430f1611"),
    ("msp430f5438a-anagear", "mpy-32", "msp430f5438a"),
    ("msp430fr5994-launchpad", "mpy-32", "msp430fr5994"),
    ("micaz", "default", "atmega128l"),
    ("msp432p401r-launchpad", "default", "msp432p401r"),
    ("nucleo-l476rg", "default", "stm32l476rg"),
];

fn image(board: &str, variant: &str) -> Option<Elf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../firmware/build")
        .join(board)
        .join(variant)
        .join(IMAGE);
    match std::fs::read(&path) {
        Ok(bytes) => Some(Elf::parse(&bytes).expect("a bench image is an ELF")),
        Err(e) => {
            eprintln!("{}: {e}; build it by `make firmware`", path.display());
            None
        }
    }
}

/// A machine with the image and its input, before its first instruction.
fn load(device: &Device, elf: &Elf) -> Machine {
    let mut m = Machine::new(device);
    if device.name == "atmega128l" {
        // MICAz's fuses and crystal.
        m.write_mem(0x82_0000, &[0xFF, 0xD9, 0xFF]).expect("an ATmega128 has fuses");
        m.fit_crystal("xtal", 7_372_800).expect("and a crystal");
    }
    m.load(elf).expect("a bench image fits its device");
    let mut input: Vec<u8> = (0..INPUT_BYTES).map(|i| (17 * i + 5) as u8).collect();
    // Below every order.
    input[0] = 0;
    m.write_symbol(elf, "bench_input", &input).expect("a bench image has its input");
    let length = (INPUT_BYTES as u16).to_le_bytes();
    m.write_symbol(elf, "bench_input_len", &length).expect("and its length");
    m
}

/// With key and entropy marked.
fn mark(taint: &mut Taint, elf: &Elf) {
    let input = elf.symbol("bench_input").expect("a bench image has its input").addr;
    taint.mark(input..input + INPUT_BYTES as u32);
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

fn to_the_end<O: Observer>(m: &mut Machine, observer: &mut O) {
    run(m, &Until::cycles(m.cycles() + 100_000_000), observer);
}

fn signatures(c: &mut Criterion<CpuTime>) {
    for (board, variant, name) in BOARDS {
        let Some(elf) = image(board, variant) else { continue };
        let device = Device::named(name).expect("it is a device of this repository");
        let mut m = load(&device, &elf);
        // Each turn goes back to the beginning: a small part of its time.
        let start = m.snapshot();
        let origin = m.cycles();
        let back = |m: &mut Machine| m.restore(&start).expect("the machine's own snapshot");
        let mut count = Counting::default();
        to_the_end(&mut m, &mut count);
        let mut buffer = vec![0u8; (m.cycles() - origin) as usize];
        let mut taint = Taint::of(&device, &elf);
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        group.throughput(Throughput::Elements(count.instructions));
        group.bench_function("silent", |b| {
            b.iter(|| {
                back(&mut m);
                to_the_end(&mut m, &mut Silent);
            });
        });
        group.bench_function("counting", |b| {
            b.iter(|| {
                back(&mut m);
                to_the_end(&mut m, &mut count);
            });
        });
        group.bench_function("leakage", |b| {
            b.iter(|| {
                back(&mut m);
                to_the_end(&mut m, &mut Leakage::new(&mut buffer, Model::default(), origin));
            });
        });
        group.bench_function("taint", |b| {
            b.iter(|| {
                back(&mut m);
                mark(&mut taint, &elf);
                to_the_end(&mut m, &mut taint);
            });
        });
        let mut both = Some(taint);
        group.bench_function("leakage-and-taint", |b| {
            b.iter(|| {
                back(&mut m);
                let taint = both.take().expect("the last turn gave it back");
                let leakage = Leakage::new(&mut buffer, Model::default(), origin);
                let mut observer = (taint, leakage);
                mark(&mut observer.0, &elf);
                to_the_end(&mut m, &mut observer);
                both = Some(observer.0);
            });
        });
        beside_yardstick(&mut group);
        group.finish();
    }
}

fn machine(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("machine");
    group.sample_size(10);

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
    group.finish();
}

criterion_group!(name = benches; config = cpu_time(); targets = signatures, machine);
criterion_main!(benches);
