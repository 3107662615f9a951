// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreters alone, with the instruments of this crate: the programs of sunseal-isa's benches on flat memory
//! with a leakage sample for each cycle and marks followed, as one observer. What is marked is a factor of the
//! multiplication, and so soon all that is computed. In CPU time of one core; elements are instructions.

#[path = "../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
#[path = "../../sunseal-isa/tests/avr_tools/mod.rs"]
mod avr_tools;
#[path = "../../sunseal-isa/tests/program/mod.rs"]
mod program;
#[path = "../../sunseal-isa/benches/shared/mod.rs"]
mod shared;
#[path = "../../sunseal-isa/tests/thumb_tools/mod.rs"]
mod thumb_tools;

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{Counting, CpuTime, cpu_time};
use sunseal_isa::{Cycles, avr, msp430, thumb};
use sunseal_mcu::Elf;
use sunseal_mcu::leakage::{Leakage, Model};
use sunseal_mcu::taint::Taint;

const CYCLES: Cycles = 20_000_000;

/// An executable of these words at the MSP430's program's place: the least that a loader takes.
fn executable(words: &[u16]) -> Elf {
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut out = b"\x7fELF\x01\x01\x01".to_vec();
    out.resize(16, 0);
    let halves = |out: &mut Vec<u8>, all: &[u16]| {
        all.iter().for_each(|h| out.extend(h.to_le_bytes()));
    };
    let words = |out: &mut Vec<u8>, all: &[u32]| {
        all.iter().for_each(|w| out.extend(w.to_le_bytes()));
    };
    // Executable, MSP430, one segment, no section.
    halves(&mut out, &[2, 105]);
    words(&mut out, &[1, program::CODE, 52, 0, 0]);
    halves(&mut out, &[52, 32, 1, 40, 0, 0]);
    let bytes = code.len() as u32;
    words(&mut out, &[1, 84, program::CODE, program::CODE, bytes, bytes, 5, 2]);
    out.extend(code);
    Elf::parse(&out).expect("the least executable is one")
}

/// The executable that a compiler left in its test's folder.
fn compiled(folder: &Path) -> Elf {
    let bytes = std::fs::read(folder.join("program.elf")).expect("the compiler left it there");
    Elf::parse(&bytes).expect("a compiler's executable is one")
}

/// A factor of the multiplication, by its name in the C programs.
fn factor(elf: &Elf) -> std::ops::Range<u32> {
    let found = elf.symbol("a").expect("the program has a factor `a`");
    found.addr..found.addr + found.size_bytes
}

/// Measures a core; each has types of its own.
macro_rules! measure {
    ($criterion:ident, $name:literal, $elf:expr, $mark:expr, $cpu:ident, $bus:ident, $exit:path) => {
        let mut count = Counting::default();
        $bus.deadline = $cpu.cycles + CYCLES;
        assert_eq!($cpu.run(&mut $bus, &mut count), $exit);
        let mut taint = Some(Taint::new(&$elf));
        taint.as_mut().expect("it is new").mark($mark);
        // An instruction that the deadline falls into goes on to its end.
        let mut buffer = vec![0u8; CYCLES as usize + 64];
        let mut group = $criterion.benchmark_group($name);
        group.throughput(Throughput::Elements(count.instructions));
        group.sample_size(10);
        group.bench_function("leakage-and-taint", |b| {
            b.iter(|| {
                let leakage = Leakage::new(&mut buffer, Model::default(), $cpu.cycles);
                let mut both = (taint.take().expect("the last turn gave it back"), leakage);
                $bus.deadline = $cpu.cycles + CYCLES;
                assert_eq!($cpu.run(&mut $bus, &mut both), $exit);
                assert_eq!(both.1.lost(), 0);
                taint = Some(both.0);
            });
        });
        group.finish();
        let found = taint.expect("the last turn gave it back").findings(&$elf);
        assert!(!found.is_empty(), "the programs branch on what is marked");
    };
}

fn benchmark(c: &mut Criterion<CpuTime>) {
    let elf = executable(&program::words().0);
    let (mut cpu, mut bus) = program::machine(msp430::Timing::CPUXV2);
    let mark = program::FACTOR_A..program::FACTOR_A + 8;
    measure!(c, "msp430", elf, mark, cpu, bus, msp430::Exit::Deadline);

    let source = include_str!("../../sunseal-isa/benches/programs/avr.c");
    let mut bus = avr::FlatBus::new();
    bus.load(0, &avr_tools::compile("avr_bench", source));
    let elf = compiled(&avr_tools::folder("avr_bench"));
    let mut cpu = avr::Cpu::new(avr::Timing::AVRE);
    measure!(c, "avr", elf, factor(&elf), cpu, bus, avr::Exit::Deadline);

    let source = include_str!("../../sunseal-isa/benches/programs/thumb.c");
    let flags = ["-O2", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    let code = thumb_tools::compile("thumb_bench", source, &flags);
    let elf = compiled(&thumb_tools::folder("thumb_bench"));
    let (mut cpu, mut bus) = thumb_tools::machine(&code, thumb::Timing::CORTEX_M4);
    measure!(c, "thumb", elf, factor(&elf), cpu, bus, thumb::Exit::Deadline);
}

criterion_group!(name = benches; config = cpu_time(); targets = benchmark);
criterion_main!(benches);
