// SPDX-License-Identifier: MIT OR Apache-2.0
//! FRAM: protection, its power, and what a cut of the supply leaves.

use sunseal_mcu::{Stop, Until};
use sunseal_trace::Silent;

use crate::asm::Arg::*;
use crate::support::*;

#[test]
fn what_is_stored_stays_over_a_power_cut_word_by_word() {
    // An 8-word copy, cut behind any of its cycles: whole words from the front, the rest as before.
    let mut p = Program::new();
    p.op("MOV", Imm(DATA), R(4)).op("MOV", Imm(RAM), R(5)).op("MOV", Imm(8), R(6));
    let begin = p.here();
    let again = p.here();
    p.op("MOV", Imm(0x1234), X(0, 4)).op("ADD", Imm(2), R(4));
    p.op("SUB", Imm(1), R(6)).back("JNE", again);
    p.halt();
    let mut seen = std::collections::BTreeSet::new();
    for after in 0..90 {
        let mut m = p.machine();
        m.write_mem(DATA, &[0xEE; 16]).unwrap();
        m.run(&Until::pc(begin), &mut Silent);
        m.run(&Until::cycles(m.cycles() + after), &mut Silent);
        m.set_vcc(0.5);
        assert!(!m.is_powered());
        m.set_vcc(3.0);
        m.power_on(1);
        let done = (0..8).take_while(|i| word(&m, DATA + 2 * i) == 0x1234).count();
        assert!((done as u32..8).all(|i| word(&m, DATA + 2 * i) == 0xEEEE), "{after}");
        seen.insert(done);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), (0..=8).collect::<Vec<_>>());
}

#[test]
fn write_protection_refuses_and_tells() {
    let mut p = Program::new();
    p.set(DATA, 0x1111).set(FRCTL0, 0xA501).set(DATA, 0x2222).keep(DATA).keep(GCCTL1);
    let m = p.run_halted();
    assert_eq!((kept(&m, 0), kept(&m, 1)), (0x1111, 0x0010));
}

#[test]
fn wrong_passwords_reset() {
    for (addr, value, code) in
        [(FRCTL0, 0x0010, 0x1A), (MPUCTL0, 0x0001, 0x22), (PMMCTL0, 0x0040, 0x20)]
    {
        let mut p = Program::new();
        p.op("MOV", Abs(SYSRSTIV), R(5)).op("CMP", Imm(2), R(5));
        let skip = p.ahead("JNE");
        p.set(addr, value);
        p.land(skip);
        p.op("MOV", R(5), Abs(KEPT));
        assert_eq!(kept(&p.run_halted(), 0), code);
    }
}

#[test]
fn memory_switched_off_powers_up_when_it_is_used_and_the_access_waits() {
    let mut p = Program::new();
    p.set(FRCTL0, 0xA500);
    let off = p.here();
    p.set(GCCTL0, 0);
    let behind = p.here();
    p.keep(GCCTL0);
    p.halt();
    let mut m = p.machine();
    m.run(&Until::pc(off), &mut Silent);
    m.run(&Until::pc(behind), &mut Silent);
    assert_eq!(m.state_of("fram"), Some("off"));
    let before = m.cycles();
    halt(&mut m);
    // The code itself lies there: 6 us at 1 MHz, then the two instructions.
    assert_eq!(m.cycles() - before, 6 + 5 + 2);
    assert_eq!(kept(&m, 0), 4, "FRPWR is set again");
    assert_eq!(events(&m, "fram.power_up"), 1);
}

/// Segments: below 8000h all rights, to 10000h read and execute, above read only.
fn protected(sam: u16, control: u16) -> Program {
    let mut p = Program::new();
    p.set(MPUCTL0, 0xA500)
        .set(MPUSEGB1, 0x0800)
        .set(MPUSEGB2, 0x1000)
        .set(MPUSAM, sam)
        .set(MPUCTL0, 0xA501 | control);
    p
}

#[test]
fn a_violation_is_refused_flagged_and_interrupts() {
    let mut p = protected(0x1157, 0x10);
    p.set(DATA + 0x100, 0x5555);
    p.nops(1).keep(DATA + 0x100).keep(MPUCTL1).halt();
    p.handler(VECTOR_SYSNMI).keep(SYSSNIV).keep(SYSSNIV).reti();
    let m = p.run();
    assert_eq!(kept(&m, 0), 0xFFFF, "as it was");
    assert_eq!(kept(&m, 1), 0, "the vector register served the flag");
    assert_eq!((kept(&m, 2), kept(&m, 3)), (0x0E, 0), "MPUSEG2IFG");
}

#[test]
fn a_violation_resets_where_it_is_told_to() {
    let mut p = Program::new();
    p.op("MOV", Abs(SYSRSTIV), R(5)).op("CMP", Imm(2), R(5));
    let skip = p.ahead("JNE");
    p.set(MPUCTL0, 0xA500)
        .set(MPUSEGB1, 0x0800)
        .set(MPUSEGB2, 0x1000)
        .set(MPUSAM, 0x11D7)
        .set(MPUCTL0, 0xA501)
        .set(DATA + 0x100, 1);
    p.land(skip);
    p.op("MOV", R(5), Abs(KEPT)).op("MOV", Abs(MPUCTL1), Abs(KEPT + 2));
    let m = p.run_halted();
    assert_eq!(kept(&m, 0), 0x2C, "SYSRSTIV: MPUSEG2IFG");
    assert_eq!(kept(&m, 1), 2, "the flag stays over the PUC");
}

#[test]
fn executing_without_the_right_runs_nothing_of_it() {
    // Segment 3 may be read, not executed: the call ends at JMP $ (3FFFh), with the flag set.
    let mut p = protected(0x1157, 0);
    p.put(crate::asm::calla(Imm(0x10000))).halt();
    let mut m = p.machine();
    m.write_mem(0x10000, &[0x30, 0x41]).unwrap();
    let stop = m.run(&Until::cycles(m.cycles() + 5000), &mut Silent);
    assert_eq!(stop, Stop::Cycles);
    assert_eq!(m.pc(), 0x10000);
}

#[test]
fn encapsulation_is_refused_with_a_sentence() {
    let mut p = Program::new();
    p.set(MPUCTL0, 0xA500).set(MPUIPC0, 0x0040);
    assert!(fault_of(p.halt()).contains("encapsulation"));
}

#[test]
fn code_above_64_kilobytes_runs_by_address_instructions() {
    let mut p = Program::new();
    p.put(crate::asm::calla(Imm(0x2_0000))).op("MOV", R(5), Abs(KEPT)).halt();
    let mut m = p.machine();
    // MOV #1234h, R5; RETA
    let words: [u16; 3] = [0x4035, 0x1234, 0x0110];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.write_mem(0x2_0000, &bytes).unwrap();
    halt(&mut m);
    assert_eq!(kept(&m, 0), 0x1234);
}

#[test]
fn gaps_trap_with_their_name() {
    for (addr, name) in [(0x8C0, "COMP_E"), (0xA80, "LEA"), (0x43E, "CapTouch")] {
        let mut p = Program::new();
        p.set(addr, 1);
        let fault = fault_of(p.halt());
        assert!(fault.contains(name), "{fault}");
    }
}
