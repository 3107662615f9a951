// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital ports: levels, pulls, interrupts, the pin log.

use sunseal_mcu::{Pin, Stop, Until};
use sunseal_trace::Silent;

use crate::asm::Arg::*;
use crate::support::*;

const P1_0: Pin = Pin::new(1, 0);
const P1_7: Pin = Pin::new(1, 7);

#[test]
fn output_pins_are_logged_with_cycle_and_time() {
    let mut p = Program::new();
    p.op_b("BIS", Imm(1), Abs(PADIR))
        .op_b("BIS", Imm(1), Abs(PAOUT))
        .nops(100)
        .op_b("BIC", Imm(1), Abs(PAOUT))
        .halt();
    let m = p.run();
    let log = m.pin_log();
    assert_eq!(log.len(), 2);
    assert!(log[0].level && !log[1].level);
    assert_eq!(log[0].pin, P1_0);
    // BIC.B #imm, &EDE is 5 cycles (4 from the constant generator, which `Imm` does not use).
    assert_eq!(log[1].cycles - log[0].cycles, 105);
    let hz = f64::from(1_048_576);
    let dt = (log[1].time_ps - log[0].time_ps) as f64 * 1e-12;
    assert!((dt * hz - 105.0).abs() < 1e-3);
}

#[test]
fn the_mark_counts_exactly_the_cycles_between_its_edges() {
    // 20 instructions of known length between two writes of the same kind.
    let mut p = Program::new();
    p.set_b(PADIR, 1).set_b(PAOUT, 1);
    p.op("MOV", Imm(7), R(5)).op("ADD", R(5), R(6)).op("MOV", R(5), Abs(RAM)).op(
        "XOR",
        R(5),
        Abs(RAM),
    );
    p.set_b(PAOUT, 0).halt();
    let m = p.run();
    let log = m.pin_log();
    // 2 + 1 + 3 + 4 and MOV.B #imm, &EDE 4 (SLAU445I table 4-10).
    assert_eq!(log[1].cycles - log[0].cycles, 2 + 1 + 3 + 4 + 4);
}

#[test]
fn inputs_follow_outside_levels_and_pulls() {
    let mut p = Program::new();
    p.set(PADIR, 0x0001).set(PAOUT, 0x0003).set(PAREN, 0x0006);
    p.keep(PAIN).halt();
    let mut m = p.machine();
    m.set_pin(P1_7, Some(true));
    halt(&mut m);
    // P1.0 out high, P1.1 pulled up, P1.2 pulled down, P1.7 driven.
    assert_eq!(kept(&m, 0) & 0xFF, 0x83);
}

#[test]
fn a_pin_watched_stops_the_run_behind_the_instruction() {
    let mut p = Program::new();
    p.set_b(PADIR, 1).set_b(PAOUT, 1).op("MOV", Imm(1), R(7)).halt();
    let mut m = p.machine();
    let Stop::Pin(edge) = m.run(&Until::pin_edge(P1_0), &mut Silent) else { panic!("no edge") };
    assert!(edge.level);
    assert_eq!(m.reg(7), 0);
    halt(&mut m);
    assert_eq!(m.reg(7), 1);
}

#[test]
fn an_edge_wakes_from_lpm4_and_p1iv_names_it() {
    let mut p = Program::new();
    p.set(PAIE, 0x0080).set(PAIES, 0x0080).set(PAIFG, 0).sleep(LPM4 | GIE).keep(P1IV).halt();
    p.handler(VECTOR_PORT1).keep(P1IV).wake_and_return();
    let mut m = p.machine();
    m.set_pin(P1_7, Some(true));
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted, "only the outside can wake it");
    m.set_pin(P1_7, Some(false));
    halt(&mut m);
    // Kept word 1 is the handler's: P1IFG.7 is 0x10, and reading cleared it.
    assert_eq!([kept(&m, 1), kept(&m, 0)], [0x10, 0]);
}

#[test]
fn choosing_the_edge_that_the_level_has_had_sets_the_flag() {
    let mut p = Program::new();
    p.set(PAIFG, 0).set(PAIES, 0x00C0).keep(PAIFG).set(PAIFG, 0).set(PAIES, 0).keep(PAIFG).halt();
    let mut m = p.machine();
    m.set_pin(P1_7, Some(true));
    halt(&mut m);
    // To falling: P1.6, which is low. Back to rising: P1.7, which is high.
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0x40, 0x80]);
}

#[test]
fn the_wrong_edge_does_not_wake() {
    let mut p = Program::new();
    p.set(PAIE, 0x0080).set(PAIES, 0).set(PAIFG, 0).sleep(LPM4 | GIE).halt();
    p.handler(VECTOR_PORT1).wake_and_return();
    let mut m = p.machine();
    m.set_pin(P1_7, Some(true));
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted);
    let pc = m.reg(0);
    m.set_pin(P1_7, Some(false));
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted);
    assert_eq!(m.reg(0), pc);
}

#[test]
fn interrupts_are_taken_by_priority_and_return_where_they_came_from() {
    let mut p = Program::new();
    // A pin of P1 and a software flag of TA0.0 at once: TA0.0 is the higher.
    p.op("MOV", Imm(KEPT), R(4)).set(PAIE, 1).set(TA0CCTL0, 0x11).set(PAIFG, 1).op(
        "MOV",
        Imm(0x1234),
        R(5),
    );
    p.op("BIS", Imm(u32::from(GIE)), R(2)).nops(3).op("MOV", Imm(3), X(0, 4)).halt();
    p.handler(VECTOR_TA0_CCR0)
        .op("MOV", Imm(1), X(0, 4))
        .op("ADD", Cg(2), R(4))
        .put(vec![crate::asm::RETI]);
    p.handler(VECTOR_PORT1)
        .op("MOV", Abs(P1IV), X(0, 4))
        .op("ADD", Cg(2), R(4))
        .put(vec![crate::asm::RETI]);
    let m = p.run();
    assert_eq!([kept(&m, 0), kept(&m, 1), kept(&m, 2)], [1, 2, 3]);
    assert_eq!(m.reg(5), 0x1234);
    assert_eq!(m.reg(1), STACK);
}

#[test]
fn the_instruction_behind_eint_runs_first() {
    let mut p = Program::new();
    p.set(TA0CCTL0, 0x11).op("MOV", Cg(0), R(5)).op("BIS", Imm(u32::from(GIE)), R(2)).op(
        "MOV",
        Cg(1),
        R(5),
    );
    p.op("MOV", Cg(2), R(5)).halt();
    p.handler(VECTOR_TA0_CCR0).op("MOV", R(5), Abs(KEPT)).put(vec![crate::asm::RETI]);
    assert_eq!(kept(&p.run(), 0), 1);
}

#[test]
fn interrupt_entry_and_return_take_six_and_five_cycles() {
    let mut p = Program::new();
    p.set(TA0CCTL0, 0x11).op("BIS", Imm(u32::from(GIE)), R(2)).nops(1).nops(5).halt();
    p.handler(VECTOR_TA0_CCR0).put(vec![crate::asm::RETI]);
    let with = p.run().cycles();
    let mut p = Program::new();
    p.set(TA0CCTL0, 0x00).op("BIS", Imm(u32::from(GIE)), R(2)).nops(1).nops(5).halt();
    assert_eq!(with - p.run().cycles(), 6 + 5);
}

#[test]
fn writing_an_input_register_traps() {
    let mut p = Program::new();
    let fault = fault_of(p.set(PAIN, 1));
    assert!(fault.contains("PxIN") && fault.contains("0x00200"), "{fault}");
}
