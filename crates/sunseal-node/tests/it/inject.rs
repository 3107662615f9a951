// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cuts at every cycle of small programs: where they land, and what flash makes of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{self, CODE, FOREVER, STOP_WATCHDOG};
use sunseal_mcu::{Device, Elf, Machine, Part, Pin, Stop, Until, Wiring};
use sunseal_node::inject::{InjectError, Stretch, reboot};
use sunseal_trace::{Picos, Silent};

const SECOND: Picos = Picos(1_000_000_000_000);
const INFO: u32 = 0x1880;
const WORD: u16 = 0x1234;

/// The machine with a program, and the address behind its last instruction.
fn machine(body: &[u16]) -> (Machine, u32) {
    let words = [&STOP_WATCHDOG[..], body, &[FOREVER]].concat();
    let mut m = Machine::new(&Device::msp430f5438a());
    m.load(&Elf::parse(&common::elf(&words)).unwrap()).unwrap();
    (m, CODE + 2 * (words.len() as u32 - 1))
}

fn info(m: &Machine) -> u16 {
    let b = m.read_mem(INFO, 2).unwrap();
    u16::from_le_bytes([b[0], b[1]])
}

#[test]
fn a_flash_word_is_old_then_anything_between_then_new() {
    let body = [
        0x40B2,
        0xA500,
        0x0144, // mov #FWPW, &FCTL3
        0x40B2,
        0xA540,
        0x0140, // mov #FWPW + WRT, &FCTL1
        0x40B2,
        WORD,
        INFO as u16, // mov #WORD, &INFO
        0x40B2,
        0xA510,
        0x0144, // mov #FWPW + LOCK, &FCTL3
    ];
    let (mut m, end) = machine(&body);
    let mut stretch = Stretch::walk(&mut m, &[end], 100_000).unwrap();
    assert_eq!(info(&m), WORD);
    let origin = m.cycles() - stretch.cycles();
    let held: Vec<u16> = (0..=stretch.cycles())
        .map(|at| {
            stretch.cut(&mut m, at).unwrap();
            assert_eq!((m.cycles() - origin, m.is_powered()), (at, false));
            info(&m)
        })
        .collect();
    let begun = held.iter().position(|w| *w != 0xFFFF).unwrap();
    let ended = held.iter().rposition(|w| *w != WORD).unwrap();
    // Programming clears bits that are to be 0 and no others.
    assert!(held.iter().all(|w| w & WORD == WORD), "{held:04x?}");
    let half = held[begun..=ended].iter().filter(|w| **w != WORD && **w != 0xFFFF).count();
    assert!(half > (ended - begun) / 2, "most cuts in between leave neither");
    // 64 to 85 us by the data sheet, at about 1 MHz after reset.
    assert!((60..100).contains(&(ended - begun)), "{}", ended - begun);
    // Old, under way and new are among the points that the stretch names itself.
    let kinds: Vec<u16> = stretch.writes().iter().map(|at| held[*at as usize]).collect();
    assert!(kinds.contains(&0xFFFF) && kinds.contains(&WORD), "{kinds:04x?}");
    assert!(kinds.iter().any(|w| *w != 0xFFFF && *w != WORD), "{kinds:04x?}");
}

#[test]
fn the_machine_boots_again_and_a_cut_in_any_order_is_the_same() {
    // mov #0x1C00, R5 ; mov #3, R6 ; inc 0(R5) ; dec R6 ; jnz
    let (mut m, end) = machine(&[0x4035, 0x1C00, 0x4036, 3, 0x5395, 0, 0x8316, 0x23FC]);
    let mut stretch = Stretch::walk(&mut m, &[end], 100_000).unwrap();
    let mut after = |at| {
        stretch.cut(&mut m, at).unwrap();
        reboot(&mut m, SECOND, 7);
        assert!(m.is_powered());
        let _ = m.run(&Until { cycles: Some(m.cycles() + 10_000), ..Until::pc(end) }, &mut Silent);
        assert_eq!(m.pc(), end);
        m.snapshot().to_bytes()
    };
    let up: Vec<_> = (0..20).map(&mut after).collect();
    let down: Vec<_> = (0..20).rev().map(&mut after).collect();
    assert!(up.iter().eq(down.iter().rev()));
    assert!(matches!(stretch.cut(&mut m, 1_000_000), Err(InjectError::Outside { .. })));
}

#[test]
fn a_run_that_does_not_come_to_the_end_is_told() {
    let (mut m, end) = machine(&[]);
    let told = |e: Result<Stretch, InjectError>| e.err().unwrap().to_string();
    let text = told(Stretch::walk(&mut m, &[end + 0x100], 1000));
    assert!(text.contains("it stays for good in a loop of one jump at 0x"), "{text}");
    let (mut m, end) = machine(&[0x3FFE, 0x4303]); // jmp to the instruction before
    let text = told(Stretch::walk(&mut m, &[end], 1000));
    assert!(text.contains("it still runs at 0x") && text.contains("name an end"), "{text}");
    let (mut m, end) = machine(&[0xD032, 0x00F0]); // bis #LPM4, SR
    let text = told(Stretch::walk(&mut m, &[end], 1000));
    assert!(text.contains("it sleeps, and nothing can wake it, at 0x"), "{text}");
    let (mut m, end) = machine(&[0x4030, 0x0C00]); // br #0x0C00, where nothing is
    let text = told(Stretch::walk(&mut m, &[end], 1000));
    assert!(text.contains("the uninterrupted run stops in cycle"), "{text}");
}

const P1_0: Pin = Pin { port: 1, bit: 0 };

/// Counts the edges of P1.0. What it has seen it cannot unsee: no snapshot holds it.
struct Edges(Arc<AtomicU64>);

impl Part for Edges {
    fn listens(&self) -> &[Pin] {
        &[P1_0]
    }
    fn pin(&mut self, _: Picos, _: Pin, _: bool) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn state(&self) -> &str {
        "on"
    }
}

/// Writes RAM, FRAM and a port, reads a timer that runs and a checksum that goes on with each write.
fn fr5994(edges: &Arc<AtomicU64>) -> Machine {
    let words = [
        0x40B2, 0x5A80, 0x015C, // mov #WDTPW+WDTHOLD, &WDTCTL
        0x4031, 0x2C00, // mov #0x2C00, SP
        0x4382, 0x0130, // clr &PM5CTL0
        0x43D2, 0x0204, // mov.b #1, &P1DIR
        0x40B2, 0x0224, 0x0340, // mov #TASSEL__SMCLK+MC__CONTINUOUS+TACLR, &TA0CTL
        0x5039, 3, // again: add #3, R9
        0xE982, 0x1C10, // xor R9, &0x1C10
        0x5392, 0xF000, // inc &0xF000
        0xE3D2, 0x0202, // xor.b #1, &P1OUT
        0x521B, 0x0350, // add &TA0R, R11
        0x5B82, 0xF002, // add R11, &0xF002
        0x4982, 0x0150, // mov R9, &CRCDI
        0x521C, 0x0154, // add &CRCINIRES, R12
        0x153B, // pushm #4, R11
        0x1738, // popm #4, R11
        0x3FED, // jmp again
    ];
    let mut m = Machine::new(&Device::named("msp430fr5994").unwrap());
    m.load(&Elf::parse(&common::elf(&words)).unwrap()).unwrap();
    m.attach_part("edges", Wiring::default(), Box::new(Edges(Arc::clone(edges)))).unwrap();
    assert_eq!(m.run(&Until::cycles(1000), &mut Silent), Stop::Cycles);
    m
}

#[test]
fn a_cut_comes_out_as_if_each_instruction_had_been_stepped_up_to_it() {
    let edges = Arc::new(AtomicU64::new(0));
    let mut m = fr5994(&edges);
    let start = m.snapshot();
    let begin = m.cycles() + 400;
    // More than one turn of the loop: each of its instructions is cut in each of its cycles.
    for at in begin..begin + 80 {
        m.restore(&start).unwrap();
        edges.store(0, Ordering::Relaxed);
        // The last boundary at or before the cut: from there nothing is run twice.
        let (mut here, mut seen) = (m.snapshot(), 0);
        loop {
            assert_eq!(m.run(&Until::cycles(m.cycles() + 1), &mut Silent), Stop::Cycles);
            if m.cycles() > at {
                break;
            }
            (here, seen) = (m.snapshot(), edges.load(Ordering::Relaxed));
        }
        let end = |m: &mut Machine| {
            assert_eq!(m.run_to_cut(&Until::cycles(at)), Stop::BrownOut);
            let registers: Vec<u32> = (0..16).map(|r| m.reg(r)).collect();
            let memory = [(0x1C10, 2), (0x2BF0, 16), (0xF000, 4)]
                .map(|(addr, bytes)| m.read_mem(addr, bytes).unwrap().to_vec());
            ((m.cycles(), m.time(), registers, memory), m.snapshot().to_bytes())
        };
        m.restore(&here).unwrap();
        edges.store(seen, Ordering::Relaxed);
        let stepped = (end(&mut m), edges.load(Ordering::Relaxed));
        m.restore(&start).unwrap();
        edges.store(0, Ordering::Relaxed);
        let replayed = (end(&mut m), edges.load(Ordering::Relaxed));
        assert_eq!(stepped.0.0, replayed.0.0, "cut in cycle {at}");
        assert!(stepped.0.1 == replayed.0.1, "cut in cycle {at}: other state");
        assert_eq!(stepped.1, replayed.1, "cut in cycle {at}: a pin was driven twice");
        assert!(stepped.1 > 3, "the port is written all the while");
    }
}
