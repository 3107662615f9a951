// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supply lost in the middle of an instruction or a DMA burst, and hazards of running code again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sunseal_mcu::elf::{Elf, Symbol, SymbolKind};
use sunseal_mcu::war::War;
use sunseal_mcu::{Machine, Part, Stop, Until, Wiring};
use sunseal_trace::{Picos, Silent};

use crate::asm::{self, Arg::*, ONCE, Size::*};
use crate::support::*;

/// The words at `addr` after a cut in each cycle from `begin` to `end`, which stand between two instructions.
fn after_each_cycle(
    m: &mut Machine,
    begin: u32,
    end: u32,
    addr: u32,
    words: usize,
) -> Vec<Vec<u16>> {
    let until = |pc| Until { cycles: Some(10_000_000), ..Until::pc(pc) };
    assert_eq!(m.run(&until(begin), &mut Silent), Stop::Pc(begin));
    let start = m.snapshot();
    let first = m.cycles();
    assert_eq!(m.run(&until(end), &mut Silent), Stop::Pc(end));
    let last = m.cycles();
    let cut = |at| {
        m.restore(&start).unwrap();
        assert_eq!(m.run_to_cut(&Until::cycles(at)), Stop::BrownOut);
        assert!(!m.is_powered());
        assert_eq!(m.cycles(), at, "not a cycle more, not one less");
        let bytes = m.read_mem(addr, 2 * words).unwrap();
        bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
    };
    (first..=last).map(cut).collect()
}

const OLD: u16 = 0xAAAA;

#[test]
fn a_pushm_that_is_cut_leaves_the_words_it_has_pushed() {
    let mut p = Program::new();
    for i in 0..8 {
        p.set(DATA + 2 * i, OLD);
        p.op("MOV", Imm(0x1100 * (8 + i)), R(8 + i as u16));
    }
    p.op("MOV", Imm(DATA + 16), R(1));
    let begin = p.here();
    p.put(asm::many("PUSHM", W, 8, 15));
    let end = p.here();
    p.halt();
    let seen = after_each_cycle(&mut p.machine(), begin, end, DATA, 8);
    // SLAU367P, table 4-10: 2 + n cycles; the highest register goes first, downwards from the top.
    assert_eq!(seen.len(), 1 + 2 + 8);
    for (cycle, words) in seen.iter().enumerate() {
        let pushed = cycle.saturating_sub(2);
        let expect: Vec<u16> =
            (0..8).map(|i| if i + pushed >= 8 { 0x1100 * (8 + i) as u16 } else { OLD }).collect();
        assert_eq!(*words, expect, "cut in cycle {cycle}");
    }
}

#[test]
fn a_20_bit_store_that_is_cut_leaves_its_low_word() {
    let mut p = Program::new();
    p.set(DATA, OLD).set(DATA + 2, OLD);
    let begin = p.here();
    p.put(asm::double_x("MOV", A, Imm(0x5_1234), Abs(DATA), ONCE));
    let end = p.here();
    p.halt();
    let seen = after_each_cycle(&mut p.machine(), begin, end, DATA, 2);
    let n = seen.len();
    assert!(seen[..n - 2].iter().all(|w| w == &[OLD, OLD]), "{seen:x?}");
    assert_eq!(seen[n - 2..], [[0x1234, OLD], [0x1234, 5]]);
}

#[test]
fn a_dma_burst_that_is_cut_leaves_the_words_it_has_moved() {
    let mut p = Program::new();
    for i in 0..8 {
        p.set(DATA + 2 * i, OLD).set(RAM + 2 * i, 0x100 + i as u16);
    }
    p.set(DMA0SA, RAM as u16).set(DMA0DA, DATA as u16).set(DMA0SZ, 8);
    // Block transfer, words, both addresses up, software trigger.
    p.set(DMA0CTL, 0x1F11);
    let begin = p.here();
    p.nops(1);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    // The CPU stands still in front of this instruction while the block moves.
    m.run(&Until::cycles(m.cycles() + 1), &mut Silent);
    while m.pc() != begin {
        m.run(&Until::cycles(m.cycles() + 1), &mut Silent);
    }
    let start = m.snapshot();
    let first = m.cycles();
    m.run(&Until::pc(end), &mut Silent);
    let moved = |m: &mut Machine, at| {
        m.restore(&start).unwrap();
        m.run_to_cut(&Until::cycles(at));
        let done = (0..8).take_while(|i| word(m, DATA + 2 * i) == 0x100 + *i as u16).count();
        assert!((done as u32..8).all(|i| word(m, DATA + 2 * i) == OLD), "in order, none half");
        done
    };
    let last = m.cycles();
    let counts: Vec<_> = (first..=last).map(|at| moved(&mut m, at)).collect();
    assert_eq!(counts[0], 0);
    assert_eq!(*counts.last().unwrap(), 8);
    // Two cycles a word (SLAU367P, table 11-3): each count is seen for two of them.
    for n in 1..8 {
        assert_eq!(counts.iter().filter(|c| **c == n).count(), 2, "{counts:?}");
    }
}

#[test]
fn a_cut_from_far_away_is_the_cut_from_near_by_and_time_says_the_same_as_cycles() {
    let mut p = Program::clocked(0x0048, 1);
    p.op("MOV", Imm(DATA), R(1)).op("MOV", Imm(200), R(5));
    let again = p.here();
    p.put(asm::many("PUSHM", W, 4, 11)).op("ADD", Imm(8), R(1)).op("ADD", Imm(3), R(9));
    p.op("SUB", Cg(1), R(5)).back("JNE", again);
    p.halt();
    let mut m = p.machine();
    let start = m.snapshot();
    for at in (m.cycles() + 1000..m.cycles() + 1060).step_by(7) {
        m.restore(&start).unwrap();
        m.run_to_cut(&Until::cycles(at));
        let (far, time) = (m.snapshot().to_bytes(), m.time());
        m.restore(&start).unwrap();
        m.run(&Until::cycles(at - 30), &mut Silent);
        m.run_to_cut(&Until::cycles(at));
        assert_eq!(m.snapshot().to_bytes(), far, "cycle {at}");
        m.restore(&start).unwrap();
        m.run_to_cut(&Until::time(time));
        assert_eq!(m.snapshot().to_bytes(), far, "at {time:?}");
        // Within the cycle nothing more has happened.
        m.restore(&start).unwrap();
        m.run_to_cut(&Until::time(Picos(time.0 + 1000)));
        assert_eq!((m.cycles(), m.time().0), (at, time.0 + 1000));
    }
}

/// A part that counts how often it was selected, and forgets nothing when the machine goes back.
struct Selections(Arc<AtomicU32>);

impl Part for Selections {
    fn select(&mut self, _: Picos) {
        self.0.fetch_add(1, Relaxed);
    }
    fn state(&self) -> &str {
        "on"
    }
}

#[test]
fn a_part_hears_of_each_write_in_front_of_a_cut_once() {
    let mut p = Program::clocked(0x0048, 1);
    p.set_b(P1OUT, 1).set_b(P1DIR, 1).set(PM5CTL0, 0).op("MOV", Imm(DATA + 64), R(1));
    let again = p.here();
    p.set_b(P1OUT, 0).set_b(P1OUT, 1);
    // Longer than the last cycles in front of a cut, so that the run goes back behind those writes.
    p.put(asm::many("PUSHM", W, 16, 15)).op("ADD", Imm(32), R(1)).back("JMP", again);
    let mut m = p.machine();
    let count = Arc::new(AtomicU32::new(0));
    let wiring = Wiring { serial: Some("eusci_b0"), cs: Some("P1.0".parse().unwrap()) };
    m.attach_part("ear", wiring, Box::new(Selections(Arc::clone(&count)))).unwrap();
    m.run(&Until::cycles(m.cycles() + 100), &mut Silent);
    let start = m.snapshot();
    for at in m.cycles() + 300..m.cycles() + 360 {
        m.restore(&start).unwrap();
        count.store(0, Relaxed);
        m.run(&Until::cycles(at), &mut Silent);
        let (plain, behind) = (count.swap(0, Relaxed), m.cycles() > at);
        m.restore(&start).unwrap();
        assert_eq!(m.run_to_cut(&Until::cycles(at)), Stop::BrownOut);
        let cut = count.load(Relaxed);
        assert!(cut == plain || behind && cut + 1 == plain, "cycle {at}: {cut} of {plain}");
        assert!(plain > 3, "{plain}");
    }
}

#[test]
fn asleep_the_supply_goes_at_the_time_that_was_named() {
    let mut p = Program::clocked(0x000C, 0);
    p.set(CSCTL2, 0x0133).set(TA0CCR0, 999).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0114);
    p.sleep(LPM3 | GIE);
    p.halt();
    p.handler(VECTOR_TA0_CCR0).reti();
    let mut m = p.machine();
    let at = Picos(m.time().0 + 3_000_000_000);
    assert_eq!(m.run_to_cut(&Until::time(at)), Stop::BrownOut);
    assert_eq!(m.time(), at);
}

/// Cells in FRAM, and a program between `begin` and `end` that is watched.
fn hazards(
    commits: impl Fn(&[u32]) -> Vec<u32>,
    body: impl Fn(&mut Program) -> Vec<u32>,
) -> Vec<(String, u32, u64, u64)> {
    let mut p = Program::new();
    let begin = p.here();
    let marks = body(&mut p);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    m.write_mem(DATA, &[0; 12]).unwrap();
    m.run(&Until::pc(begin), &mut Silent);
    let mut war = War::of(m.device(), &commits(&marks)).unwrap();
    assert_eq!(m.run(&Until::pc(end), &mut war), Stop::Pc(end));
    let object = |name: &str, addr, size_bytes| Symbol {
        name: name.to_owned(),
        addr,
        size_bytes,
        kind: SymbolKind::Object,
        global: true,
    };
    let mut elf = Elf::default();
    elf.symbols.extend([
        object("a", DATA, 2),
        object("b", DATA + 2, 2),
        object("table", DATA + 4, 8),
    ]);
    let name = |h: sunseal_mcu::war::Hazard| (h.symbol.unwrap(), h.bytes, h.times, h.changes);
    war.findings(&elf).into_iter().map(name).collect()
}

const CELL_A: u32 = DATA;
const CELL_B: u32 = DATA + 2;

#[test]
fn only_a_read_before_a_write_in_one_region_is_a_hazard() {
    let none = |_: &[u32]| Vec::new();
    // a = a + 1
    let found = hazards(none, |p| {
        p.op("ADD", Cg(1), Abs(CELL_A));
        vec![]
    });
    assert_eq!(found, [("a".to_owned(), 2, 2, 1)], "the low byte changes, the high one does not");
    // a = 5; a = a + 1: written first, so it can be run again.
    let found = hazards(none, |p| {
        p.set(CELL_A, 5).op("ADD", Cg(1), Abs(CELL_A));
        vec![]
    });
    assert_eq!(found, []);
    // b = a; a = 3 is a hazard, in RAM it is none.
    let swap = |from: u32| {
        hazards(none, move |p: &mut Program| {
            p.op("MOV", Abs(from), Abs(CELL_B)).set(from, 3);
            vec![]
        })
    };
    assert_eq!(swap(CELL_A), [("a".to_owned(), 2, 2, 1)]);
    assert_eq!(swap(RAM), []);
    // Only one byte of a word was read.
    let found = hazards(none, |p| {
        p.op_b("MOV", Abs(CELL_A + 1), R(5)).set(CELL_A, 0x1234);
        vec![]
    });
    assert_eq!(found, [("a".to_owned(), 1, 1, 1)]);
}

#[test]
fn a_commit_between_read_and_write_makes_them_safe() {
    let program = |p: &mut Program| {
        p.op("MOV", Abs(CELL_A), R(5));
        let commit = p.here();
        p.op("ADD", Cg(1), R(5)).op("MOV", R(5), Abs(CELL_A));
        vec![commit]
    };
    assert_eq!(hazards(|m| m.to_vec(), program), []);
    assert_eq!(hazards(|_| vec![], program).len(), 1);
    // The accesses of the instruction at the commit belong to the region that begins there.
    let own = |p: &mut Program| {
        p.op("MOV", Abs(CELL_A), R(5));
        let commit = p.here();
        p.op("ADD", R(5), Abs(CELL_A));
        vec![commit]
    };
    let found = hazards(|m| m.to_vec(), own);
    assert_eq!(found.len(), 1, "it reads and writes: {found:?}");
}

#[test]
fn elements_of_a_table_are_one_finding() {
    let found = hazards(
        |_| vec![],
        |p| {
            p.op("MOV", Imm(DATA + 4), R(5)).op("MOV", Imm(4), R(6));
            let again = p.here();
            p.op("ADD", Cg(1), X(0, 5)).op("ADD", Cg(2), R(5));
            p.op("SUB", Cg(1), R(6)).back("JNE", again);
            vec![]
        },
    );
    assert_eq!(found, [("table".to_owned(), 8, 8, 4)]);
}
