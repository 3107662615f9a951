// SPDX-License-Identifier: MIT OR Apache-2.0
//! Low-power modes, LPM3.5 and LPM4.5, the supply supervisor.

use sunseal_mcu::{Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

const MS: u128 = 1_000_000_000;

/// When the handler of a timer's interrupt has run its first instruction, in picoseconds.
fn wake_time(mode: u16) -> u128 {
    // TA0 on ACLK from the VLO.
    let mut p = Program::clocked(0x000C, 0);
    p.set(CSCTL2, 0x0133).set(TA0CCR0, 99).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0114);
    p.sleep(mode | GIE);
    p.halt();
    p.handler(VECTOR_TA0_CCR0).nops(1);
    let behind = p.here();
    p.reti();
    let mut m = p.machine();
    m.run(&Until::pc(behind), &mut Silent);
    let woken = ["pmm.wake_lpm0", "pmm.wake_lpm1", "pmm.wake_lpm2", "pmm.wake_lpm3"];
    assert_eq!(woken.map(|e| events(&m, e)).iter().sum::<u64>(), 1);
    m.time().0
}

#[test]
fn deeper_modes_wake_later_by_the_printed_times() {
    let [lpm0, lpm1, lpm2, lpm3] = [LPM0, LPM1, LPM2, LPM3].map(wake_time);
    // The same program but for the mode: only the wake-up differs. 0.4 us + 1.5 periods of 8 MHz and on to the edge of
    // the DCO, which ran on: 5 periods; 6, 6, 6.6 us + 2.
    let us = |a: u128, b: u128| (a as f64 - b as f64) / 1e6;
    assert!((us(lpm1, lpm0) - (6.0 - 0.625)).abs() < 0.02, "{}", us(lpm1, lpm0));
    // In LPM1, too, the DCO ran on: up to its next edge goes by before.
    let (two, three) = (us(lpm2, lpm1), us(lpm3, lpm1));
    assert!((-0.125..0.02).contains(&two), "{two}");
    assert!((three - two - 0.85).abs() < 0.02, "{three}");
}

/// Sleeps in LPM4.5 (or 3.5 with the RTC) at its first start; keeps what it finds at the next.
fn deep(rtc: bool) -> Program {
    let mut p = Program::bare();
    p.set(WDTCTL, 0x5A80);
    p.op("MOV", Abs(SYSRSTIV), R(5)).op("CMP", Imm(8), R(5));
    let woken = p.ahead("JEQ");
    p.set_b(P1OUT, 0x01).set_b(P1DIR, 0x01).set(PM5CTL0, 0);
    p.set(PAIES, 0).set(PAIFG, 0).set(PAIE, 0x0020);
    if rtc {
        p.set(PJSEL0, 0x30).set(CSCTL0, 0xA500).set(CSCTL4, 0xCDC8);
        let again = p.here();
        p.op("BIC", Imm(3), Abs(CSCTL5)).op("BIT", Imm(1), Abs(CSCTL5)).back("JNE", again);
        // Prescaler 1 interrupts each half second: RT1IPx = 5, divide by 64.
        p.set(RTCCTL0, 0xA500).set(RTCCTL13, 0x0020).set(RTCPS1CTL, 0x0016);
    }
    p.set(RAM + 0x200, 0xBEEF).set(DATA, 0xF00D);
    p.set(PMMCTL0, 0xA550);
    p.sleep(LPM4 | GIE);
    p.nops(1);
    p.land(woken);
    p.op("MOV", R(5), Abs(KEPT))
        .op("MOV", Abs(PMMIFG), Abs(KEPT + 2))
        .op("MOV", Abs(PM5CTL0), Abs(KEPT + 4))
        .op("MOV", Abs(PAIFG), Abs(KEPT + 6))
        .op("MOV", Abs(DATA), Abs(KEPT + 8))
        .op("MOV", Abs(RTCPS1CTL), Abs(KEPT + 10))
        .op("BIS", Imm(2), Abs(RTCPS1CTL))
        .op("MOV", Abs(RTCIV), Abs(KEPT + 12));
    p
}

const P1_5: Pin = Pin::new(1, 5);

#[test]
fn shut_down_it_holds_its_pins_and_an_edge_wakes_it_through_a_reset() {
    let mut p = deep(false);
    p.halt();
    let mut m = p.machine();
    m.set_pin(P1_5, Some(false));
    m.run(&Until::time(Picos(m.time().0 + 1500 * MS)), &mut Silent);
    assert_eq!(m.state_of("cpu"), Some("lpm45"));
    assert!(m.pin(Pin::new(1, 0)), "the output is held");
    let resets = m.resets();
    let before = m.time();
    m.set_pin(P1_5, Some(true));
    m.run(&Until::pc(CODE + 4), &mut Silent);
    let us = (m.time().0 - before.0) / 1_000_000;
    assert!((250..260).contains(&us), "{us}");
    assert!(m.pin(Pin::new(1, 0)), "and still is, behind the reset");
    halt(&mut m);
    assert_eq!(m.resets(), resets + 1);
    assert_eq!(kept(&m, 0), 8, "SYSRSTIV: LPM5WU");
    assert_eq!(kept(&m, 1) & 0x8000, 0x8000, "PMMLPM5IFG");
    assert_eq!(kept(&m, 2), 1, "LOCKLPM5");
    assert_eq!(kept(&m, 3), 0x20, "the flag of the edge");
    assert_eq!(kept(&m, 4), 0xF00D, "FRAM keeps");
    assert_ne!(word(&m, RAM + 0x200), 0xBEEF, "RAM does not, over a second");
    assert_eq!(events(&m, "pmm.wake_lpm45"), 1);
}

#[test]
fn with_the_clock_running_it_is_lpm3_5_and_the_calendar_wakes_it() {
    let mut p = deep(true);
    p.halt();
    let mut m = p.machine();
    m.run(&Until::time(Picos(m.time().0 + 1500 * MS)), &mut Silent);
    assert_eq!(m.state_of("cpu"), Some("lpm4"), "woken by the prescaler, it has run to its end");
    assert_eq!(kept(&m, 0), 8);
    assert_eq!(kept(&m, 5) & 3, 1, "its flag stays, its interrupt is to be enabled again");
    assert_eq!(kept(&m, 6), 12, "RTCIV: RT1PSIFG");
    let slept = time_in(&m, "cpu", "lpm35");
    assert!((495 * MS..505 * MS).contains(&slept), "{slept}");
    assert_eq!(events(&m, "pmm.wake_lpm35"), 1);
}

#[test]
fn supervised_it_is_held_in_reset_below_the_level() {
    let mut p = Program::new();
    p.op("MOV", Abs(SYSRSTIV), R(5)).op("MOV", R(5), Abs(DATA));
    let again = p.here();
    p.back("JMP", again);
    let mut m = p.machine();
    m.run(&Until::pc(again), &mut Silent);
    m.set_vcc(1.80);
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::BrownOut);
    m.set_vcc(1.85);
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::BrownOut, "not yet at the rising level");
    m.set_vcc(1.9);
    m.run(&Until::pc(again), &mut Silent);
    assert_eq!(word(&m, DATA), 0x0E, "SYSRSTIV: SVSHIFG");
}

#[test]
fn pins_move_only_when_they_are_let_go_of() {
    let mut p = Program::bare();
    p.set(WDTCTL, 0x5A80).set_b(P1DIR, 1).set_b(P1OUT, 1);
    let locked = p.here();
    p.set(PM5CTL0, 0);
    let free = p.here();
    p.halt();
    let mut m = p.machine();
    m.run(&Until::pc(locked), &mut Silent);
    assert!(!m.pin(Pin::new(1, 0)));
    m.run(&Until::pc(free), &mut Silent);
    assert!(m.pin(Pin::new(1, 0)));
}

/// Set to second 58, woken at the minute, and read behind the wake-up: not a part of a second is lost, as LFXT swings on
/// for the calendar while its pins are held (SLAU367P, LPM3.5 and its PM5CTL0).
#[test]
fn the_calendar_loses_nothing_at_a_wake_from_lpm3_5() {
    let mut p = Program::bare();
    p.set(WDTCTL, 0x5A80).op("CMP", Imm(8), Abs(SYSRSTIV));
    let cold = p.ahead("JNE");
    // Woken, the pins are given to the crystal before they are let go of: P1.0 follows the lowest bit of the seconds.
    p.set(PJSEL0, 0x30).set(PM5CTL0, 0).set_b(P1DIR, 1);
    let again = p.here();
    p.op_b("MOV", Abs(RTCTIM0), R(5)).op_b("AND", Cg(1), R(5)).op_b("MOV", R(5), Abs(P1OUT));
    p.back("JMP", again).land(cold);
    p.set(PJSEL0, 0x30).set(PM5CTL0, 0).set(CSCTL0, 0xA500).op("BIC", Imm(1), Abs(CSCTL4));
    let swings = p.here();
    p.op("BIC", Imm(3), Abs(CSCTL5)).op("BIC", Imm(2), Abs(SFRIFG1));
    p.op("BIT", Imm(2), Abs(SFRIFG1)).back("JNE", swings);
    p.set(RTCCTL0, 0xA500).set(RTCCTL13, 0x0060).set(RTCTIM0, 58).set(RTCCTL0, 0xA540);
    p.set(RTCCTL13, 0x0020).set(PMMCTL0, 0xA550).sleep(LPM4 | GIE);
    let mut m = p.machine();
    let up_to = |m: &mut sunseal_mcu::Machine, state: &str| {
        while m.state_of("cpu") != Some(state) {
            m.run(&Until::time(Picos(m.time().0 + MS)), &mut Silent);
        }
        m.time().0
    };
    up_to(&mut m, "lpm35");
    let woken = up_to(&mut m, "active.fram");
    m.run(&Until::time(Picos(woken + 1500 * MS)), &mut Silent);
    let rises: Vec<u128> = edges(&m, Pin::new(1, 0)).iter().filter(|e| e.1).map(|e| e.0).collect();
    assert_eq!(rises.len(), 1, "at second 1");
    assert!(rises[0].abs_diff(woken + 1000 * MS) < 2 * MS, "{} ms", (rises[0] - woken) / MS);
}

/// A supply that is cut and is back in one moment has been away for long, as far as RAM can tell: who means a short cut
/// lets its time pass.
#[test]
fn ram_is_lost_over_a_cut_unless_a_short_time_has_passed() {
    let p = Program::new();
    let left = |off_ms: u128| {
        let mut m = p.machine();
        m.write_mem(RAM, &[0xAA; 64]).unwrap();
        m.power_cut();
        m.run(&Until::time(Picos(m.time().0 + off_ms * MS)), &mut Silent);
        m.power_on(5);
        m.read_mem(RAM, 64).unwrap() == [0xAA; 64]
    };
    assert_eq!([left(0), left(1), left(10_000)], [false, true, false]);
}
