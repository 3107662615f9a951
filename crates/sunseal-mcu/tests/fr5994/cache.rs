// SPDX-License-Identifier: MIT OR Apache-2.0
//! The read cache and its wait states, seen from programs.

use sunseal_mcu::Until;
use sunseal_trace::{Access, Cycles, Flow, Observer, Silent, Width};

use crate::asm::Arg::*;
use crate::support::*;

/// A cache of two sets of two lines, told as a list of lines with the time of their last use, fed by
/// what an observer hears.
#[derive(Default)]
struct Brute {
    lines: Vec<(u32, u64)>,
    time: u64,
    hits: u64,
    misses: u64,
    writes: u64,
    accesses: Vec<(u32, Access)>,
}

impl Brute {
    fn read(&mut self, addr: u32) {
        self.time += 1;
        let line = addr / 8;
        if let Some(l) = self.lines.iter_mut().find(|l| l.0 == line) {
            l.1 = self.time;
            self.hits += 1;
            return;
        }
        let set: Vec<_> = self.lines.iter().filter(|l| l.0 % 2 == line % 2).copied().collect();
        if set.len() == 2 {
            let oldest = set.iter().min_by_key(|l| l.1).unwrap().0;
            self.lines.retain(|l| l.0 != oldest);
        }
        self.lines.push((line, self.time));
        self.misses += 1;
    }

    fn is_fram(addr: u32) -> bool {
        (0x1800..0x1A00).contains(&addr) || (0x4000..0x44000).contains(&addr)
    }

    fn instruction_words(&mut self, pc: u32, bytes: u32) {
        (pc..pc + bytes).step_by(2).filter(|a| Self::is_fram(*a)).for_each(|a| self.read(a));
    }
}

/// Knows the length of each instruction from where the next one begins.
struct Watch {
    brute: Brute,
    last: Option<u32>,
    lengths: Vec<u32>,
}

impl Observer for Watch {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, _: Flow) {
        let bytes = self.lengths[((pc - CODE) / 2) as usize];
        self.brute.instruction_words(pc, bytes);
        for (addr, kind) in std::mem::take(&mut self.brute.accesses) {
            match kind {
                Access::Read => self.brute.read(addr),
                Access::Write => {
                    self.brute.writes += 1;
                    self.brute.lines.retain(|l| l.0 != addr / 8);
                }
            }
        }
        self.last = Some(pc);
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, _: Width, _: u32, _: Cycles) {
        if Brute::is_fram(addr) {
            self.brute.accesses.push((addr, kind));
        }
    }
}

/// Instructions of every length with reads and writes of FRAM all over, in an order that a seed gives.
fn random_program(seed: u64) -> (Program, Vec<u32>) {
    let mut state = seed;
    let mut random = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut p = Program::new();
    let mut starts = Vec::new();
    for _ in 0..400 {
        starts.push(p.here());
        let addr = DATA + 2 * random(24) as u32;
        match random(6) {
            0 => p.op("MOV", Abs(addr), R(5)),
            1 => p.op("MOV", R(5), Abs(addr)),
            2 => p.op("ADD", Abs(addr), Abs(DATA + 2 * random(24) as u32)),
            3 => p.op("ADD", Imm(0x1234), R(6)),
            4 => p.op("MOV", Abs(RAM), R(7)),
            _ => p.nops(1),
        };
    }
    (p, starts)
}

#[test]
fn hits_misses_and_writes_are_those_of_a_brute_force_model() {
    for seed in 0..8 {
        let (mut p, starts) = random_program(seed);
        p.halt();
        // The instructions' lengths, from a look at where each begins.
        let words = (p.here() - CODE) / 2;
        let mut lengths = vec![0; words as usize + 1];
        let mut at = starts.clone();
        // MOV #STACK, SP is two words; MOV #x, &WDTCTL and PM5CTL0 (constant generator) three and two.
        at.extend([CODE, CODE + 4, CODE + 10]);
        at.push(p.here() - 4);
        at.push(p.here());
        at.sort_unstable();
        for w in at.windows(2) {
            lengths[((w[0] - CODE) / 2) as usize] = w[1] - w[0];
        }
        let mut m = p.machine();
        let mut watch = Watch { brute: Brute::default(), last: None, lengths };
        m.run(&Until::halted(), &mut watch);
        let b = watch.brute;
        assert_eq!(
            (events(&m, "fram.hit"), events(&m, "fram.miss"), events(&m, "fram.write")),
            (b.hits, b.misses, b.writes),
            "seed {seed}"
        );
        assert!(b.misses > 100 && b.hits > 500 && b.writes > 50);
    }
}

/// Cycles of 64 NOPs in a row at a clock with so many wait states.
fn nops_at(csctl1: u16, waits: u16) -> u64 {
    let mut p = Program::clocked(csctl1, waits);
    let begin = p.here();
    p.nops(64);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    m.run(&Until::pc(begin), &mut Silent);
    let before = m.cycles();
    m.run(&Until::pc(end), &mut Silent);
    m.cycles() - before
}

#[test]
fn only_a_miss_waits_and_only_where_wait_states_are_set() {
    // 64 words are 16 or 17 lines of four; the first may be there already.
    assert_eq!(nops_at(0x000C, 0), 64);
    let at_16_mhz = nops_at(0x0048, 1);
    assert!((80..=81).contains(&at_16_mhz), "{at_16_mhz}");
    let two = nops_at(0x0048, 2);
    assert_eq!(two - 64, 2 * (at_16_mhz - 64));
}

#[test]
fn a_loop_in_one_line_misses_once() {
    let mut p = Program::clocked(0x0048, 1);
    p.op("MOV", Imm(1000), R(5));
    while !p.here().is_multiple_of(8) {
        p.nops(1);
    }
    let again = p.here();
    p.op("SUB", Cg(1), R(5)).back("JNE", again);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    m.run(&Until::pc(again), &mut Silent);
    let (cycles, misses) = (m.cycles(), events(&m, "fram.miss"));
    m.run(&Until::pc(end), &mut Silent);
    assert_eq!(events(&m, "fram.miss") - misses, 1);
    assert_eq!(m.cycles() - cycles, 3 * 1000 + 1);
}

#[test]
fn a_store_to_code_runs_as_stored() {
    // The instruction behind is changed from ADD #1, R6 (5316h) to ADD #2, R6 (5326h), three times in.
    let mut p = Program::new();
    p.op("MOV", Imm(0), R(6)).op("MOV", Imm(6), R(5));
    let again = p.here();
    let patched = again + 4 + 2 + 2 + 6;
    p.op("CMP", Imm(4), R(5));
    let skip = p.ahead("JNE");
    p.nops(1);
    p.set(patched, 0x5326);
    p.land(skip);
    assert_eq!(p.here(), patched);
    p.op("ADD", Cg(1), R(6));
    p.op("SUB", Cg(1), R(5)).back("JNE", again);
    p.op("MOV", R(6), Abs(KEPT));
    let m = p.run_halted();
    assert_eq!(kept(&m, 0), 1 + 1 + 2 + 2 + 2 + 2);
}
