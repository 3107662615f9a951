// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers that follow each other by themselves do what single steps do, and need no more stack.

use crate::asm::{self, Arg};
use crate::log::Log;
use crate::program;
use proptest::prelude::*;
use sunseal_isa::{Cycles, Fault, Silent, avr, msp430, thumb};

/// Runs one core up to a deadline at once and another step by step: why they stopped and what they told.
macro_rules! both {
    ($core:ident, $machine:expr, $cycles:expr) => {{
        let (mut cpu, mut bus) = $machine;
        let (mut stepped, mut other) = $machine;
        let end = cpu.cycles + $cycles;
        bus.deadline = end;
        let (mut log, mut expected) = (Log::default(), Log::default());
        let exit = cpu.run(&mut bus, &mut log);
        let by_steps = loop {
            if stepped.cycles >= end {
                break $core::Exit::Deadline;
            }
            match stepped.step(&mut other, &mut expected) {
                $core::Exit::Deadline => {}
                exit => break exit,
            }
        };
        prop_assert_eq!(log, expected);
        prop_assert_eq!(exit, by_steps);
        prop_assert_eq!(cpu.cycles, stepped.cycles);
        prop_assert_eq!(cpu.state(), stepped.state());
    }};
}

fn msp430_of(words: &[u16]) -> (msp430::Cpu, msp430::FlatBus) {
    let (mut cpu, mut bus) = program::machine(msp430::Timing::CPUXV2);
    bus.load(program::CODE, words);
    cpu.r[msp430::PC] = program::CODE;
    for r in 4..16 {
        cpu.r[r] = program::RAM + 0x100 * r as u32;
    }
    (cpu, bus)
}

/// Words from [`IO`] on as registers of a peripheral, some of which answer at once where they may.
struct Registers {
    flat: msp430::FlatBus,
    at_once: bool,
}

const IO: u32 = 0x4C0;

impl Registers {
    fn is_plain(&self, addr: u32) -> bool {
        self.at_once && (IO..IO + 0x30).contains(&addr)
    }
}

impl msp430::Bus for Registers {
    fn read(&mut self, addr: u32, width: msp430::Width, at: Cycles) -> Result<u16, Fault> {
        self.flat.read(addr, width, at)
    }

    fn write(
        &mut self,
        addr: u32,
        width: msp430::Width,
        value: u16,
        at: Cycles,
    ) -> Result<(), Fault> {
        self.flat.write(addr, width, value, at)
    }

    fn read_plain(&self, addr: u32, width: msp430::Width, at: Cycles) -> Option<u16> {
        if addr < program::RAM { None } else { self.flat.read_plain(addr, width, at) }
    }

    fn write_plain(&mut self, addr: u32, width: msp430::Width, value: u16, at: Cycles) -> bool {
        addr >= program::RAM && self.flat.write_plain(addr, width, value, at)
    }

    fn read_plain_register(&self, addr: u32, _: Cycles) -> Option<u16> {
        self.is_plain(addr).then(|| self.flat.word(addr))
    }

    fn write_plain_register(&mut self, addr: u32, value: u16, at: Cycles) -> bool {
        self.is_plain(addr) && self.flat.write_plain(addr, msp430::Width::Word, value, at)
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        self.flat.fetch(addr)
    }

    fn cacheable(&self, addr: u32) -> bool {
        self.flat.cacheable(addr)
    }

    fn deadline(&self) -> Cycles {
        self.flat.deadline
    }
}

/// Registers of a peripheral, memory and R4 to R8; R9 to R11 point to memory.
fn place() -> impl Strategy<Value = Arg> {
    prop_oneof![
        4 => (0u32..0x1C).prop_map(|n| Arg::Abs(IO + 2 * n)),
        1 => (0u32..8).prop_map(|n| Arg::Abs(program::RAM + 2 * n)),
        1 => (0i32..8, 9u16..12).prop_map(|(x, r)| Arg::X(2 * x, r)),
        2 => (4u16..9).prop_map(Arg::R),
    ]
}

fn operand() -> impl Strategy<Value = Arg> {
    prop_oneof![
        8 => place(),
        1 => (9u16..12).prop_map(Arg::At),
        1 => (9u16..12).prop_map(Arg::Inc),
        1 => any::<u16>().prop_map(|n| Arg::Imm(n.into())),
    ]
}

/// SUBC.B and AND.B set flags, then MOVA R7, X(SR) writes where they point to, then a jump back.
#[test]
fn msp430_address_of_flags_is_made_of_the_last_ones() -> Result<(), TestCaseError> {
    both!(msp430, msp430_of(&[0x71E2, 0x1C00, 0xF3C0, 0xBFFA, 0x0772, 0x3FFA]), 10);
    Ok(())
}

fn avr_of(words: &[u16]) -> (avr::Cpu, avr::FlatBus) {
    let mut bus = avr::FlatBus::new();
    bus.load(0, words);
    let mut cpu = avr::Cpu::new(avr::Timing::AVRE);
    for (i, r) in cpu.r.iter_mut().enumerate() {
        *r = if i % 2 == 0 { 0x40 } else { 3 };
    }
    (cpu, bus)
}

fn thumb_of(words: &[u16]) -> (thumb::Cpu, thumb::FlatBus) {
    let mut bus = thumb::FlatBus::new();
    for (at, word) in bus.code_mut().chunks_mut(2).zip(words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
    bus.scb.cpacr = 0xF << 20;
    let mut cpu = thumb::Cpu::new(thumb::Timing::CORTEX_M4);
    for r in 0..13 {
        cpu.r[r] = thumb::FlatBus::RAM + 0x400 * r as u32;
    }
    cpu.r[13] = thumb::FlatBus::RAM + 0x8000;
    (cpu, bus)
}

/// Whatever words, then a branch back to the first: `last` of so many words.
fn looped(random: Vec<u16>, last: impl Fn(usize) -> u16) -> Vec<u16> {
    let back = last(random.len());
    random.into_iter().chain([back]).collect()
}

proptest! {
    #[test]
    fn msp430_runs_as_it_steps(random in prop::collection::vec(any::<u16>(), 1..24), cycles in 1u64..5000) {
        let words = looped(random, |n| 0x3C00 | (-(n as i16) - 1) as u16 & 0x3FF);
        both!(msp430, msp430_of(&words), cycles);
    }

    /// The formats without extension words, among registers: nothing faults, and handlers follow each other for long.
    #[test]
    fn msp430_arithmetic_runs_as_it_steps(
        random in prop::collection::vec((4u16..16, 0u16..12, 0u16..12, any::<bool>()), 1..24), cycles in 1u64..9000,
    ) {
        let word = |(op, s, d, byte): (u16, u16, u16, bool)| op << 12 | (s + 4) << 8 | u16::from(byte) << 6 | (d + 4);
        let words = looped(random.into_iter().map(word).collect(), |n| 0x3C00 | (-(n as i16) - 1) as u16 & 0x3FF);
        both!(msp430, msp430_of(&words), cycles);
    }

    /// What registers answer at once is what they answer by the long way.
    #[test]
    fn msp430_registers_are_as_quick_as_they_are_slow(
        random in prop::collection::vec(
            (0usize..12, prop_oneof![3 => Just(asm::Size::W), 1 => Just(asm::Size::B)], operand(), place()),
            1..24,
        ),
        cycles in 1u64..2000,
    ) {
        // MOV, ADD and ADDC most often.
        let op = |n: usize| asm::DOUBLE[n % if n < 8 { 3 } else { 12 }];
        let words: Vec<u16> = random.into_iter().flat_map(|(n, size, src, dst)| asm::double(op(n), size, src, dst)).collect();
        let words = looped(words, |n| 0x3C00 | (-(n as i16) - 1) as u16 & 0x3FF);
        let [quick, slow] = [true, false].map(|at_once| {
            let (mut cpu, mut flat) = msp430_of(&words);
            flat.map(IO & !0xFF..(IO & !0xFF) + 0x100, msp430::PageKind::Ram);
            flat.deadline = cycles;
            let mut bus = Registers { flat, at_once };
            let mut log = Log::default();
            let exit = cpu.run(&mut bus, &mut log);
            (exit, log, cpu.state(), bus.flat.bytes()[IO as usize..program::CODE as usize].to_vec())
        });
        prop_assert_eq!(quick, slow);
    }

    #[test]
    fn avr_runs_as_it_steps(random in prop::collection::vec(any::<u16>(), 1..24), cycles in 1u64..5000) {
        let words = looped(random, |n| 0xC000 | (-(n as i16) - 1) as u16 & 0xFFF);
        both!(avr, avr_of(&words), cycles);
    }

    /// ADD, ADC, SUB, EOR, MOV and the like, of any registers.
    #[test]
    fn avr_arithmetic_runs_as_it_steps(random in prop::collection::vec(0x0C00u16..0x3000, 1..24), cycles in 1u64..9000) {
        let words = looped(random, |n| 0xC000 | (-(n as i16) - 1) as u16 & 0xFFF);
        both!(avr, avr_of(&words), cycles);
    }

    #[test]
    fn thumb_runs_as_it_steps(random in prop::collection::vec(any::<u16>(), 1..24), cycles in 1u64..5000) {
        let words = looped(random, |n| 0xE000 | (-(n as i16) - 2) as u16 & 0x7FF);
        both!(thumb, thumb_of(&words), cycles);
    }

    /// 16-bit data processing with IT blocks among it.
    #[test]
    fn thumb_arithmetic_runs_as_it_steps(
        random in prop::collection::vec(prop_oneof![6 => 0u16..0x4400, 1 => 0xBF11u16..0xBFE0], 1..24), cycles in 1u64..9000,
    ) {
        let words = looped(random, |n| 0xE000 | (-(n as i16) - 2) as u16 & 0x7FF);
        both!(thumb, thumb_of(&words), cycles);
    }
}

#[test]
fn long_runs_need_little_stack() {
    let bounded = std::thread::Builder::new().stack_size(512 << 10).spawn(|| {
        let (mut cpu, mut bus) = program::machine(msp430::Timing::CPUXV2);
        bus.deadline = 3_000_000;
        assert_eq!(cpu.run(&mut bus, &mut Silent), msp430::Exit::Deadline);
        // EOR, ADC, RJMP; EORS, ADCS, B.
        let (mut cpu, mut bus) = avr_of(&[0x2701, 0x1F01, 0xCFFD]);
        bus.deadline = 3_000_000;
        assert_eq!(cpu.run(&mut bus, &mut Silent), avr::Exit::Deadline);
        let (mut cpu, mut bus) = thumb_of(&[0x4048, 0x4148, 0xE7FC]);
        bus.deadline = 3_000_000;
        assert_eq!(cpu.run(&mut bus, &mut Silent), thumb::Exit::Deadline);
    });
    bounded.expect("a thread").join().expect("the runs fit its stack");
}
