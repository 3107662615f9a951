// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the FR5969 and the FR6989 have otherwise than the FR5994.

use sunseal_mcu::{Device, LintKind, Machine, Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

const FR5969: &str = "msp430fr5969";
const FR6989: &str = "msp430fr6989";
/// Of both, behind 2 KB of RAM.
const STACK_TOP: u32 = 0x2400;
const VECTOR_RTC_FR6989: u32 = 0xFFC8;

/// Begins as the FR5994's programs, with a stack that both chips have.
fn program() -> Program {
    let mut p = Program::new();
    p.op("MOV", Imm(STACK_TOP), R(1));
    p
}

fn machine(p: &Program, device: &str) -> Machine {
    let mut m = Machine::new(&Device::named(device).unwrap());
    p.store_in(&mut m);
    m
}

fn run(p: &mut Program, device: &str) -> Machine {
    let mut m = machine(p.halt(), device);
    halt(&mut m);
    m
}

fn fault(p: &Program, device: &str) -> String {
    match machine(p, device).run(&Until::time(Picos(1_000_000_000)), &mut Silent) {
        Stop::Fault(f) => f.to_string(),
        other => panic!("no fault but {other:?}"),
    }
}

/// The watch crystal swings.
fn with_crystal(p: &mut Program) {
    p.set(PJSEL0, 0x30).set(CSCTL0, 0xA500).set(CSCTL4, 0xCDC8);
    let again = p.here();
    p.op("BIC", Imm(3), Abs(CSCTL5)).op("BIT", Imm(1), Abs(CSCTL5)).back("JNE", again);
}

#[test]
fn the_calendar_of_rtc_b_needs_no_key_and_its_alarm_wakes() {
    let mut p = program();
    with_crystal(&mut p);
    // RTCCTL01: hold, calendar mode; RTCCTL23 is left alone.
    p.set(RTCCTL0, 0x6000)
        .set(RTCYEAR, 2023)
        .set(RTCDATE, 12 << 8 | 31)
        .set(RTCTIM1, 23)
        .set(RTCTIM0, 58 << 8 | 50)
        .set(RTCAMINHR, 0x0080)
        .set(RTCCTL0, 0x2020);
    p.sleep(LPM3 | GIE);
    p.keep(RTCTIM0).keep(RTCTIM1).keep(RTCDATE).keep(RTCYEAR).keep(RTCCTL0).halt();
    p.handler(VECTOR_RTC).keep(RTCIV).wake_and_return();
    let mut m = machine(&p, FR5969);
    m.run(&Until::halted(), &mut Silent);
    assert_eq!([0, 1, 2, 3].map(|n| kept(&m, n)), [0, 1 << 8, 1 << 8 | 1, 2024]);
    // Running, ready, the alarm enabled and its flag taken; the minute has set its own.
    assert_eq!(kept(&m, 4) & 0xF0F2, 0x3020);
    assert_eq!(kept(&m, 5), 6, "RTCIV: alarm");
}

#[test]
fn the_vectors_of_rtc_b_and_rtc_c_stand_in_their_own_order() {
    for (device, control, vector, code) in [
        (FR5969, (RTCCTL0, 0x2000), VECTOR_RTC, 10),
        (FR6989, (RTCCTL13, 0x0020), VECTOR_RTC_FR6989, 12),
    ] {
        let mut p = program();
        with_crystal(&mut p);
        p.set(RTCCTL0, 0xA500 & if device == FR6989 { 0xFFFF } else { 0 });
        p.set(control.0, control.1).set(RTCPS1CTL, 0x0002);
        p.sleep(LPM3 | GIE);
        p.halt();
        p.handler(vector).keep(RTCIV).wake_and_return();
        let mut m = machine(&p, device);
        m.run(&Until::halted(), &mut Silent);
        assert_eq!(kept(&m, 0), code, "{device}: prescaler 1");
    }
}

#[test]
fn a_program_that_polls_sees_the_flags_of_the_rtc_without_interrupts() {
    for (device, control) in [(FR5969, (RTCCTL0, 0x2000)), (FR6989, (RTCCTL13, 0x0020))] {
        let mut p = program();
        with_crystal(&mut p);
        p.set(RTCCTL0, if device == FR6989 { 0xA500 } else { 0x6000 });
        // RT1PS by 256: every two seconds.
        p.set(RTCPS1CTL, 0x001C).set(RTCTIM0, 0).set(control.0, control.1);
        let until = |p: &mut Program, bit: u32, register: u32| {
            let again = p.here();
            p.op("BIT", Imm(bit), Abs(register)).back("JEQ", again);
        };
        until(&mut p, 1, RTCCTL0);
        p.keep(RTCTIM0);
        until(&mut p, 1, RTCPS1CTL);
        p.keep(RTCTIM0).set(RTCPS1CTL, 0x001C);
        // A write in an odd second leaves the prescalers alone.
        until(&mut p, 1, RTCTIM0);
        p.set(RTCAMINHR, 0);
        until(&mut p, 1, RTCPS1CTL);
        p.keep(RTCTIM0).halt();
        let mut m = machine(&p, device);
        m.run(&Until::time(Picos(8_000_000_000_000)), &mut Silent);
        assert_eq!([0, 1, 2].map(|n| kept(&m, n)), [1, 2, 4], "{device}");
    }
}

#[test]
fn rtc_b_has_no_registers_where_rtc_c_has_its_calibration() {
    let mut p = program();
    p.set(0x4A4, 0);
    assert!(fault(&p, FR5969).contains("0x004a4"), "{}", fault(&p, FR5969));
}

#[test]
fn frctl_has_seven_wait_states_and_no_write_protection() {
    for (device, bits) in [(FR5969, 0x9670), (FR6989, 0x9670), ("msp430fr5994", 0x96F9)] {
        let mut p = program();
        p.set(FRCTL0, 0xA5F9).keep(FRCTL0);
        let mut m = machine(p.halt(), device);
        m.run(&Until::time(Picos(1_000_000_000)), &mut Silent);
        // With WPROT on, the word does not get out of the register; without, it is kept in RAM.
        assert_eq!(kept(&m, 0), bits, "{device}");
    }
}

#[test]
fn the_fr6989_has_ports_9_and_10_and_the_fr5969_ends_with_port_4() {
    let mut p = program();
    p.set_b(0x284, 0x80).set_b(0x282, 0x80);
    let m = run(&mut p, FR6989);
    let edge = m.pin_log().last().unwrap();
    assert_eq!((edge.pin, edge.level), (Pin { port: 9, bit: 7 }, true));
    let mut p = program();
    p.set_b(0x244, 1);
    assert!(fault(&p, FR5969).contains("0x00244"), "{}", fault(&p, FR5969));
}

#[test]
fn what_a_chip_lacks_or_is_not_modelled_traps_by_name() {
    let mut p = program();
    p.set(0xA00, 1);
    assert!(fault(&p, FR6989).contains("LCD_C"), "{}", fault(&p, FR6989));
    let mut p = program();
    p.set(CRC32DIW0, 1);
    assert!(fault(&p, FR5969).contains("0x00980"), "{}", fault(&p, FR5969));
    assert_eq!(run(&mut p, FR6989).pc() & 1, 0, "the FR6989 has it");
}

#[test]
fn memory_ends_where_the_data_sheets_say() {
    for (device, end) in [(FR5969, 0x13FFF), (FR6989, 0x23FFF)] {
        let m = Machine::new(&Device::named(device).unwrap());
        assert!(m.read_mem(end, 1).is_ok() && m.read_mem(end + 1, 1).is_err(), "{device}");
        assert!(m.read_mem(0x23FF, 1).is_ok() && m.read_mem(0x2400, 1).is_err(), "{device}");
    }
}

#[test]
fn the_second_eusci_b_of_the_fr6989_asks_for_dma_by_24_and_25() {
    // TI's msp430fr6989.h; 20 to 23 belong to slave addresses of eUSCI_B0.
    let waiting = |select: u16| {
        let mut p = program();
        p.set(UCB0CTLW0 + 0x40, 0x0981).set(UCB0BRW + 0x40, 8).set(UCB0CTLW0 + 0x40, 0x0980);
        p.set(DMACTL0, select)
            .set(DMA0SA, RAM as u16)
            .set(DMA0DA, RAM as u16 + 0x600)
            .set(DMA0SZ, 1)
            .set(DMA0CTL, 0x0010)
            .set(UCB0IFG + 0x40, 0)
            .set(UCB0IFG + 0x40, 2)
            .nops(8)
            .keep(DMA0CTL);
        p
    };
    for (select, flag) in [(24, 1), (25, 2)] {
        let mut p = waiting(select);
        p.set(UCB0IFG + 0x40, 0).set(UCB0IFG + 0x40, flag).nops(8).keep(DMA0CTL);
        let m = run(&mut p, FR6989);
        let done = [kept(&m, 0) & 8, kept(&m, 1) & 8];
        assert_eq!(done, if flag == 2 { [8, 8] } else { [0, 8] }, "trigger {select}");
    }
    for select in [20, 21, 22, 23] {
        let text = fault(waiting(select).halt(), FR6989);
        assert!(text.contains("DMA channel"), "trigger {select}: {text}");
    }
}

#[test]
fn a_trigger_and_an_output_that_a_sibling_lacks_are_told_of() {
    // ADC12SHS 7 is TA4.1, which the FR5969 has not; the FR6989's TA3 has no pins.
    let mut p = program();
    p.set(ADC12CTL0, 0x0010).set(ADC12CTL1, 0x1E00).op("BIS", Imm(2), Abs(ADC12CTL0));
    assert!(fault(&p, FR5969).contains("ADC12 trigger 7"), "{}", fault(&p, FR5969));
    let mut p = program();
    let m = run(p.set(TA3CCTL1, 0x00E0), FR6989);
    assert_eq!(m.lint_count(LintKind::TimerOutput), 1);
}

#[test]
fn the_fr6989_has_timers_and_clocks_at_its_own_pins() {
    // P1.0 is TA0.1 by its first function, P1.6 by its third: reset/set, 3 of 10 counts high.
    for (sel0, sel1, pin) in [(0x01, 0x00, Pin::new(1, 0)), (0x40, 0x40, Pin::new(1, 6))] {
        let mut p = program();
        p.set(PM5CTL0, 0).set_b(P1DIR, 0x41).set_b(P1SEL0, sel0).set_b(P1SEL1, sel1);
        p.set(TA0CCR0, 9).set(TA0CCR1, 3).set(TA0CCTL1, 0x00E0).set(TA0CTL, 0x0214).sleep(LPM0);
        let mut m = machine(&p, FR6989);
        m.run(&Until::time(Picos(m.time().0 + 1_000_000_000)), &mut Silent);
        let edges: Vec<_> = m.pin_log().iter().filter(|e| e.pin == pin).collect();
        let span = |n: usize| (edges[n + 1].time_ps - edges[n].time_ps) as f64 / 1e6;
        assert!(edges.len() > 20, "{pin}: {edges:?}");
        let (high, low) = (span(10), span(11));
        let high = if edges[10].level { high / (high + low) } else { low / (high + low) };
        assert!((high - 0.3).abs() < 0.01, "{pin}: {high}");
        assert_eq!(m.lint_count(LintKind::TimerOutput), 0);
    }
    let mut p = program();
    p.set(PM5CTL0, 0).set_b(P4DIR, 1).set_b(P4SEL0, 1).set_b(P4SEL1, 1);
    let m = run(&mut p, FR6989);
    assert!(m.lints()[0].kind.to_string().starts_with("P4.0 should carry MCLK,"));
}
