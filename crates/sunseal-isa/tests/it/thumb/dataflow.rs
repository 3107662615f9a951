// SPDX-License-Identifier: MIT OR Apache-2.0
//! What instructions depend on, tried: what is said not to matter is changed and must not.

use crate::log::Writes;
use crate::thumb_tools;
use sunseal_isa::thumb::{
    Condition, Context, Cpu, Exit, FlatBus, Insn, Kind, Timing, dataflow, decode, psr,
};
use sunseal_isa::{Dataflow, Fault, FaultKind, Registers, Width};
use sunseal_trace::Pointed;

/// R0 to R14, N, Z, C, V, Q, GE, S0 to S31, FPSCR's flags.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    r: [u32; 16],
    apsr: u32,
    s: [u32; 32],
    float_flags: u32,
    cycles: u64,
    stored: Vec<(u32, Width, u32)>,
}

/// Words by xorshift64* (Vigna 2016).
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }
}

fn at_zero(words: [u16; 2]) -> Option<Insn> {
    at_zero_in(words, Context::Outside)
}

fn at_zero_in(words: [u16; 2], context: Context) -> Option<Insn> {
    let fetch = |addr: u32| match addr {
        0 | 2 => Ok(words[addr as usize / 2]),
        _ => Err(Fault::new(FaultKind::NotCode, addr)),
    };
    decode(0, context, fetch).ok()
}

/// A register's bits in APSR; `None` for those that are no flag.
fn apsr_bits(register: u8) -> Option<u32> {
    Some(match register {
        64 => psr::C,
        65 => psr::Z,
        66 => psr::N,
        67 => psr::V,
        71 => psr::Q,
        72 => psr::GE,
        _ => return None,
    })
}

const ALL: [u8; 15 + 32 + 6] = {
    let mut all = [0; 53];
    let mut i = 0;
    while i < 15 {
        all[i] = i as u8;
        i += 1;
    }
    while i < 47 {
        all[i] = 32 + (i - 15) as u8;
        i += 1;
    }
    let flags = [64, 65, 66, 67, 71, 72];
    while i < 53 {
        all[i] = flags[i - 47];
        i += 1;
    }
    all
};

struct Bench {
    cpu: Cpu,
    bus: FlatBus,
}

impl Bench {
    fn run(&mut self, words: [u16; 2], before: &Run) -> Option<Run> {
        self.run_in(words, before, 0)
    }

    /// The same in the IT state `it`.
    fn run_in(&mut self, words: [u16; 2], before: &Run, it: u32) -> Option<Run> {
        self.bus.code_mut()[..4].copy_from_slice(&[
            words[0].to_le_bytes()[0],
            words[0].to_le_bytes()[1],
            words[1].to_le_bytes()[0],
            words[1].to_le_bytes()[1],
        ]);
        self.cpu.invalidate(0..8);
        let mut state = self.cpu.state();
        (state.r, state.s) = (before.r, before.s);
        state.psr = psr::T | before.apsr | (it & 3) << 25 | (it & 0xFC) << 8;
        state.fpscr = before.float_flags;
        state.pipeline = Default::default();
        state.cycles = 0;
        state.exclusive = false;
        state.control = 4;
        self.cpu.set_state(&state);
        let mut stores = Writes::default();
        let exit = self.cpu.step(&mut self.bus, &mut Pointed::new(&mut stores));
        matches!(exit, Exit::Deadline | Exit::Status).then(|| Run {
            r: self.cpu.r,
            apsr: self.cpu.psr & psr::APSR,
            s: self.cpu.s,
            float_flags: self.cpu.fpscr & 0xF000_0000,
            cycles: self.cpu.cycles,
            stored: stores.0,
        })
    }
}

fn value(run: &Run, register: u8) -> u32 {
    match apsr_bits(register) {
        Some(bits) => run.apsr & bits,
        None if register < 32 => run.r[usize::from(register)],
        None => run.s[usize::from(register) - 32],
    }
}

fn change(run: &mut Run, register: u8, by: u32) {
    match apsr_bits(register) {
        Some(bits) => run.apsr ^= bits,
        None if register < 32 => run.r[usize::from(register)] ^= by,
        None => run.s[usize::from(register) - 32] ^= by,
    }
}

/// Changes one register after the other and compares what must not care.
fn check(
    bench: &mut Bench,
    words: [u16; 2],
    insn: &Insn,
    flow: &Dataflow,
    random: &mut Random,
) -> bool {
    let mut before = Run {
        r: std::array::from_fn(|_| FlatBus::RAM + (random.word() & 0xFFFC)),
        apsr: random.word() & psr::APSR,
        s: std::array::from_fn(|_| random.word()),
        float_flags: random.word() & 0xF000_0000,
        cycles: 0,
        stored: Vec::new(),
    };
    before.r[15] = 0;
    let Some(plain) = bench.run(words, &before) else { return false };
    for changed in ALL {
        let set = Registers::of(if changed < 64 { changed } else { 0 });
        let set = match changed {
            64 => Registers::C,
            65 => Registers::Z,
            66 => Registers::N,
            67 => Registers::V,
            71 => Registers::Q,
            72 => Registers::GE,
            _ => set,
        };
        let mut other = before.clone();
        change(&mut other, changed, if changed == 13 { 0x100 } else { random.word() | 1 });
        if flow.address.meets(set) {
            continue;
        }
        let Some(got) = bench.run(words, &other) else { continue };
        let what = || format!("{insn} ({words:04x?}) with {changed} changed: {flow:?}");
        if !flow.time.meets(set) && !flow.branch.meets(set) {
            assert_eq!(got.cycles, plain.cycles, "time of {}", what());
        }
        if !flow.branch.meets(set) {
            assert_eq!(got.r[15], plain.r[15], "way of {}", what());
        }
        let flows = flow.reads.meets(set);
        if !flows {
            assert_eq!(got.stored, plain.stored, "stores of {}", what());
        }
        for result in ALL {
            let (a, b) = (value(&plain, result), value(&got, result));
            let as_register = if result < 64 {
                Registers::of(result)
            } else {
                match result {
                    64 => Registers::C,
                    65 => Registers::Z,
                    66 => Registers::N,
                    67 => Registers::V,
                    71 => Registers::Q,
                    _ => Registers::GE,
                }
            };
            let written = flow.writes.meets(as_register);
            if !written {
                // What it held, changed or not. A stepped base is in neither set.
                let stepped = plain.r.get(usize::from(result)) != before.r.get(usize::from(result));
                if result >= 32 || !stepped {
                    assert_eq!(b, value(&other, result), "{result} kept by {}", what());
                }
                continue;
            }
            let may = flows || changed == result && flow.keeps.meets(as_register);
            assert!(may || a == b, "{result} depends in {}", what());
        }
    }
    true
}

#[test]
fn what_is_said_not_to_matter_does_not() {
    let mut bench = Bench { cpu: Cpu::new(Timing::CORTEX_M4), bus: FlatBus::new() };
    bench.bus.scb.cpacr = 0xF << 20;
    let mut random = Random(7);
    let mut tried = 0;
    let narrow = (0..0xE800u32).step_by(7).map(|first| [first as u16, 0xBF00]);
    let mut encodings: Vec<_> = narrow.collect();
    for first in 0xE800..=0xFFFFu32 {
        for (fixed, free) in
            [(0, 0xFFFF), (0xF000, 0x0FFF), (0xF080, 0x0F3F), (0x0A00, 0xF1FF), (0x8000, 0x0FFF)]
        {
            encodings.push([first as u16, (fixed | random.word() & free) as u16]);
        }
    }
    for words in encodings {
        let Some(insn) = at_zero(words) else { continue };
        // These lead out of the core or change what registers are.
        if matches!(
            insn.kind,
            Kind::It { .. }
                | Kind::Msr { .. }
                | Kind::Mrs { .. }
                | Kind::Vmsr { .. }
                | Kind::Vmrs { .. }
        ) {
            continue;
        }
        tried += u32::from(check(&mut bench, words, &insn, &dataflow(&insn), &mut random));
    }
    assert!(tried > 10_000, "{tried}");
}

/// The last instruction of an IT block, skipped and not: where its time is said not to depend on the condition, it
/// takes the same cycles; loads, stores, branches and divisions are never said to.
#[test]
fn a_condition_decides_no_time_of_data_processing() {
    const LAST_EQ: u32 = 0x08;
    let mut bench = Bench { cpu: Cpu::new(Timing::CORTEX_M4), bus: FlatBus::new() };
    bench.bus.scb.cpacr = 0xF << 20;
    let mut random = Random(11);
    let (mut same, mut other) = (0, 0);
    let narrow = (0..0xE800u32).step_by(3).map(|first| [first as u16, 0xBF00]);
    let wide = (0xE800..=0xFFFFu32)
        .flat_map(|first| [0, 0xF0F0, 0x8000, 0x0A00].map(|second| (first, second)));
    let mut encodings: Vec<_> = narrow.collect();
    encodings.extend(wide.map(|(first, or)| [first as u16, (or | random.word() & 0x7FFF) as u16]));
    for words in encodings {
        let context = Context::Last(Condition::Eq);
        let Some(insn) = at_zero_in(words, context) else { continue };
        let flow = dataflow(&insn);
        if flow.time.meets(Registers::Z) {
            other += 1;
            continue;
        }
        let touches = flow.reads_memory || flow.writes_memory || flow.branch_memory;
        assert!(!touches && flow.branch.is_empty(), "{insn}");
        let mut before = Run {
            r: std::array::from_fn(|_| FlatBus::RAM + (random.word() & 0xFFFC)),
            apsr: random.word() & psr::APSR & !psr::Z,
            s: std::array::from_fn(|_| random.word()),
            float_flags: 0,
            cycles: 0,
            stored: Vec::new(),
        };
        before.r[15] = 0;
        let skipped = bench.run_in(words, &before, LAST_EQ).unwrap();
        before.apsr |= psr::Z;
        let Some(done) = bench.run_in(words, &before, LAST_EQ) else { continue };
        assert_eq!((skipped.cycles, skipped.r[15]), (done.cycles, done.r[15]), "{insn}");
        same += 1;
    }
    assert!(same > 5_000 && other > 5_000, "{same} {other}");
    for (select, takes) in
        [([0x4608, 0xBF00], false), ([0xEA6F, 0x0001], false), ([0x6808, 0xBF00], true)]
    {
        let insn = at_zero_in(select, Context::Last(Condition::Eq)).unwrap();
        assert_eq!(dataflow(&insn).time.meets(Registers::Z), takes, "{insn}");
    }
}

fn flow_of(source: &str) -> Dataflow {
    let code = thumb_tools::assemble("thumb_dataflow", source);
    let words = [0, 2].map(|i| u16::from_le_bytes([code[i], *code.get(i + 1).unwrap_or(&0)]));
    dataflow(&at_zero(words).unwrap())
}

#[test]
fn the_manuals_special_cases() {
    let r = Registers::of;
    let divide = flow_of("udiv r0, r1, r2");
    assert_eq!(divide.time, r(1) | r(2));
    assert_eq!(flow_of("eor.w r0, r1, r1").reads, Registers::NONE);
    assert_eq!(flow_of("umaal r0, r1, r2, r3").reads, r(0) | r(1) | r(2) | r(3));
    assert_eq!(flow_of("beq.w 0x100").branch, Registers::Z);
    let pop = flow_of("pop.w {r4, r5, pc}");
    assert!(pop.branch_memory && pop.reads_memory);
    assert_eq!(pop.transfer.as_slice(), [4, 5, 0xFF]);
    assert_eq!(flow_of("vldr d1, [r3]").transfer.as_slice(), [34, 35]);
    let tbb = flow_of("tbb [r1, r2]");
    assert!(tbb.branch_memory && tbb.address == r(1) | r(2));
    let bfi = flow_of("bfi r0, r1, #2, #3");
    assert_eq!((bfi.keeps, bfi.reads), (r(0), r(1)));
}
