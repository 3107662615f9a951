// SPDX-License-Identifier: MIT OR Apache-2.0
//! UCS: DCO and FLL, REFO, VLO; low-power modes and their wake-up times; time itself.

use sunseal_mcu::{LintKind, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

#[test]
fn after_reset_the_fll_gives_1_048576_mhz() {
    let m = Program::new().machine();
    let p = m.operating_point();
    // FLLN = 31, FLLD = 2, REFO: DCOCLKDIV = 32 x 32768 (SLAU208, UCS, operation after reset).
    assert_eq!((p.mclk_hz, p.smclk_hz, p.aclk_hz, p.vcore), (1_048_576, 1_048_576, 32_768, 0));
}

/// Raises the core to `level` in steps and the DCO to `n` x 32768 Hz in range `rsel`.
pub fn fast(p: &mut Program, level: u8, rsel: u16, n: u16) {
    p.set_b(PMMCTL0 + 1, 0xA5);
    for l in 1..=u16::from(level) {
        p.set(SVSMHCTL, 0x4400 | l << 8 | l).wait_set(PMMIFG, 0x10);
        p.set(SVSMLCTL, 0x4400 | l).wait_set(PMMIFG, 0x01).op("BIC", Imm(0x7), Abs(PMMIFG));
        p.set_b(PMMCTL0, l as u8).wait_set(PMMIFG, 0x4).set(SVSMLCTL, 0x4400 | l << 8 | l);
        p.op("BIC", Imm(0x77), Abs(PMMIFG));
    }
    p.set_b(PMMCTL0 + 1, 0);
    // REFO as FLL reference, FLLD = 1, MCLK = SMCLK = DCOCLK.
    p.sleep(SCG0).set(UCSCTL0, 0).set(UCSCTL3, 0x0020).set(UCSCTL1, rsel << 4).set(UCSCTL2, n - 1);
    p.op("BIC", Imm(SCG0.into()), R(2)).set(UCSCTL4, 0x0233);
}

#[test]
fn the_fll_multiplies_its_reference() {
    let mut p = Program::new();
    fast(&mut p, 2, 6, 488);
    let m = p.halt().run();
    assert_eq!(m.ledger().spans().map(|(k, _)| k.point.mclk_hz).max(), Some(488 * 32_768));
    assert_eq!(m.operating_point().vcore, 2);
    assert_eq!(m.lint_count(LintKind::DcoRange), 0);
}

#[test]
fn a_dco_range_that_not_every_part_reaches_is_flagged() {
    let mut p = Program::new();
    // 16 MHz in DCORSEL 4 (12.3 to 28.2 MHz at the top): typical parts may, slow ones do not.
    fast(&mut p, 2, 4, 488);
    assert!(p.halt().run().lint_count(LintKind::DcoRange) > 0);
}

#[test]
fn cycles_and_time_agree_over_changes_of_clock() {
    let mut p = Program::new();
    p.nops(1000).set(UCSCTL3, 0x0020).set(UCSCTL2, 121).set(UCSCTL4, 0x0233).nops(4000);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    assert_eq!(m.run(&Until::pc(end), &mut Silent), Stop::Pc(end));
    let (ledger, total) = (m.ledger(), m.time().as_seconds());
    let cpu = m.vocabulary().find_component("cpu").unwrap();
    let (mut cycles, mut time_s) = (0, 0.0);
    for (key, span) in ledger.spans().filter(|(k, _)| k.component == cpu) {
        cycles += span.cycles;
        time_s += span.time.as_seconds();
        let expected = span.cycles as f64 / f64::from(key.point.mclk_hz);
        assert!((span.time.as_seconds() - expected).abs() < 3e-6, "{key:?} {span:?}");
    }
    assert_eq!(cycles, m.cycles());
    assert!((time_s - total).abs() < 1e-12);
}

#[test]
fn mclk_from_vlo_and_refo() {
    let mut p = Program::new();
    p.set(UCSCTL4, 0x0111).nops(20);
    let end = p.here();
    p.set(UCSCTL4, 0x0222).nops(20).halt();
    let mut m = p.machine();
    m.run(&Until::pc(end), &mut Silent);
    assert_eq!(m.operating_point().mclk_hz, 9_400);
    assert!(m.time().as_seconds() > 20.0 / 9_400.0);
    halt(&mut m);
    let points: Vec<u32> = m.ledger().spans().map(|(k, _)| k.point.mclk_hz).collect();
    assert!(points.contains(&32_768));
}

#[test]
fn an_absent_crystal_holds_its_fault_flags_and_refo_stands_in() {
    let mut p = Program::new();
    p.set(UCSCTL4, 0x0044)
        .op("BIC", Imm(0xF), Abs(UCSCTL7))
        .op("BIC", Cg(2), Abs(SFRIFG1))
        .keep(UCSCTL7)
        .keep(SFRIFG1);
    // Without it selected anywhere, the flags can be cleared.
    p.set(UCSCTL3, 0x0020).set(UCSCTL4, 0x0244).op("BIC", Imm(0xF), Abs(UCSCTL7)).op(
        "BIC",
        Cg(2),
        Abs(SFRIFG1),
    );
    p.keep(UCSCTL7).keep(SFRIFG1).halt();
    let m = p.run();
    assert_ne!(kept(&m, 0) & 2, 0, "XT1LFOFFG");
    assert_ne!(kept(&m, 1) & 2, 0, "OFIFG");
    assert_eq!(kept(&m, 2) & 0xF, 0);
    assert_eq!(kept(&m, 3) & 2, 0);
}

/// Time from the timer's event to the first instruction of the handler.
fn wake_time_s(mode: u16, svsmlctl: u16, setup: impl Fn(&mut Program)) -> f64 {
    let mut p = Program::new();
    setup(&mut p);
    p.set_b(PMMCTL0 + 1, 0xA5).set(SVSMLCTL, svsmlctl).wait_set(PMMIFG, 1).set_b(PMMCTL0 + 1, 0);
    p.set(UCSCTL4, 0x0233).set(PADIR, 1);
    p.set(TA0CCR0, 99).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0114).sleep(mode | GIE).nops(1).halt();
    p.handler(VECTOR_TA0_CCR0).set_b(PAOUT, 1).wake_and_return();
    let mut m = p.machine();
    halt(&mut m);
    let edge = m.pin_log()[0].time_ps as f64 * 1e-12;
    // ACLK edges lie at multiples of its period; the one that woke is the last before the handler.
    let period = 1.0 / 32_768.0;
    let line_start = {
        // The timer started at its write; count 99 is a whole number of ticks of ACLK from power-on.
        (edge / period).floor() * period
    };
    let mclk = 1.0 / f64::from(m.ledger().spans().map(|(k, _)| k.point.mclk_hz).max().unwrap());
    // 6 cycles of entry and 4 of the write of the pin (its last cycle) are not the oscillator's.
    edge - line_start - 9.0 * mclk
}

#[test]
fn wake_up_times_are_those_of_the_data_sheet() {
    let fll = |p: &mut Program| {
        p.sleep(SCG0)
            .set(UCSCTL0, 0)
            .set(UCSCTL3, 0x0020)
            .set(UCSCTL1, 0x0050)
            .set(UCSCTL2, 243)
            .op("BIC", Imm(SCG0.into()), R(2));
    };
    // 244 x 32768 = 8.0 MHz. SVSLFP and SVMLFP off: 150 us; on: 3.5 us (SLAS655H 8.42).
    let near = |mode, svs, expected: f64, tolerance: f64| {
        let t = wake_time_s(mode, svs, fll) % (1.0 / 32_768.0);
        let expected = expected % (1.0 / 32_768.0);
        assert!((t - expected).abs() < tolerance, "mode {mode:#x}: {t} instead of {expected}");
    };
    for mode in [LPM2, LPM3] {
        near(mode, 0x4400, 150e-6, 0.5e-6);
        near(mode, 0xCC00, 3.5e-6, 0.5e-6);
    }
    for mode in [LPM0, LPM1] {
        near(mode, 0x4400, 0.0, 0.5e-6);
    }
}

#[test]
fn each_low_power_mode_is_a_state_with_its_clocks() {
    for (mode, name, smclk, aclk) in [
        (LPM0, "lpm0", true, true),
        (LPM1, "lpm1", true, true),
        (LPM2, "lpm2", false, true),
        (LPM3, "lpm3", false, true),
        (LPM4, "lpm4", false, false),
    ] {
        let mut p = Program::new();
        p.set(PAIE, 1).sleep(mode | GIE);
        let mut m = p.machine();
        m.run(&Until::time(Picos(1_000_000_000_000)), &mut Silent);
        assert_eq!(m.state_of("cpu"), Some(name));
        let point = m.operating_point();
        assert_eq!(
            (point.mclk_hz, point.smclk_hz != 0, point.aclk_hz != 0),
            (0, smclk, aclk),
            "{name}"
        );
        assert_eq!(m.time(), Picos(1_000_000_000_000), "asleep, a time limit is met exactly");
    }
}

#[test]
fn sleep_books_time_and_no_cycles() {
    let mut p = Program::new();
    p.set(PAIE, 1).sleep(LPM3 | GIE);
    let mut m = p.machine();
    m.run(&Until::time(Picos(5_000_000_000_000)), &mut Silent);
    let v = m.vocabulary();
    let (cpu, lpm3) = (v.find_component("cpu").unwrap(), v.find_state("lpm3").unwrap());
    let ledger = m.ledger();
    let asleep: Vec<_> =
        ledger.spans().filter(|(k, _)| k.component == cpu && k.state == lpm3).collect();
    assert_eq!(asleep.len(), 1);
    assert_eq!(asleep[0].1.cycles, 0);
    assert!((asleep[0].1.time.as_seconds() - 5.0).abs() < 1e-3);
}

#[test]
fn cycles_in_ram_are_counted_apart() {
    let mut p = Program::new();
    // A loop of 100 rounds in RAM: SUB #1, R5 (1 cycle), JNE (2), RET (4).
    p.set(RAM + 0x200, 0x8315).set(RAM + 0x202, 0x23FE).set(RAM + 0x204, 0x4130);
    p.op("MOV", Imm(100), R(5)).call(RAM + 0x200).halt();
    let m = p.run();
    let v = m.vocabulary();
    let ram = v.find_state("active.ram").unwrap();
    let ledger = m.ledger();
    let cycles: u64 = ledger.spans().filter(|(k, _)| k.state == ram).map(|(_, s)| s.cycles).sum();
    assert_eq!(cycles, 100 * 3 + 4);
}

#[test]
fn state_changes_stop_a_run_that_asks_for_them() {
    let mut p = Program::new();
    p.set(TA0CCR0, 99)
        .set(TA0CCTL0, 0x10)
        .set(TA0CTL, 0x0114)
        .sleep(LPM3 | GIE)
        .set(TA0CTL, 0)
        .halt();
    p.handler(VECTOR_TA0_CCR0).wake_and_return();
    let mut m = p.machine();
    let until =
        Until { state_change: true, time: Some(Picos(1_000_000_000_000)), ..Until::default() };
    let mut seen = Vec::new();
    loop {
        match m.run(&until, &mut Silent) {
            Stop::StateChange => seen.push(m.state_of("cpu").unwrap().to_owned()),
            Stop::Halted | Stop::Time => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(
        seen.contains(&"lpm3".to_owned()) && seen.contains(&"active.flash".to_owned()),
        "{seen:?}"
    );
    assert_eq!(m.state_of("cpu"), Some("lpm4"));
}
