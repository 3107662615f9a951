// SPDX-License-Identifier: MIT OR Apache-2.0
//! Basic clock module: DCO, crystals, dividers, the oscillator fault, and the supply that MCLK needs.

use sunseal_mcu::{Device, LintKind, Machine, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

/// MCLK with these registers, at a supply, in hertz.
fn mclk_hz(vcc_v: f64, dcoctl: u8, bcsctl1: u8, bcsctl2: u8) -> f64 {
    let mut p = Program::new();
    p.set_b(DCOCTL, dcoctl).set_b(BCSCTL1, bcsctl1).set_b(BCSCTL2, bcsctl2);
    let stop = p.here();
    p.nops(1).halt();
    let mut m = p.machine();
    m.set_vcc(vcc_v);
    assert_eq!(m.run(&Until::pc(stop), &mut Silent), Stop::Pc(stop));
    f64::from(m.operating_point().mclk_hz)
}

#[test]
fn the_dco_has_the_frequencies_of_the_data_sheet() {
    // SLAS272H 'DCO Frequency': typical at DCO = 3, 2.2 V and 3 V, in MHz.
    let at_2v2 = [0.12, 0.19, 0.30, 0.49, 0.77, 1.2, 1.9, 2.9];
    let at_3v = [0.13, 0.18, 0.28, 0.47, 0.75, 1.3, 2.0, 3.2];
    for rsel in 0..8u8 {
        let r = usize::from(rsel);
        for (vcc_v, mhz) in [(2.2, at_2v2[r]), (3.0, at_3v[r])] {
            let is = mclk_hz(vcc_v, 0x60, 0x80 | rsel, 0);
            assert!((is / (mhz * 1e6) - 1.0).abs() < 1e-6, "RSEL {rsel} at {vcc_v} V: {is}");
        }
    }
    // f(DCO77) lies between 4.4 and 5.4 MHz at 3 V, f(DCO47) at 1.7 to 2.5 times f(DCO40).
    let f77 = mclk_hz(3.0, 0xE0, 0x87, 0);
    assert!((4.4e6..5.4e6).contains(&f77), "{f77}");
    let ratio = mclk_hz(3.0, 0xE0, 0x84, 0) / mclk_hz(3.0, 0x00, 0x84, 0);
    assert!((1.7..2.5).contains(&ratio), "{ratio}");
}

#[test]
fn modulation_lies_between_two_taps_and_rises() {
    let mut last = mclk_hz(3.0, 0x60, 0x84, 0);
    let next_tap = mclk_hz(3.0, 0x80, 0x84, 0);
    for modulation in 1..32 {
        let f = mclk_hz(3.0, 0x60 | modulation, 0x84, 0);
        assert!(f > last && f < next_tap, "MOD {modulation}: {f}");
        last = f;
    }
    // With DCOx = 7 there is no tap above: MODx has no effect.
    assert_eq!(mclk_hz(3.0, 0xFF, 0x84, 0), mclk_hz(3.0, 0xE0, 0x84, 0));
}

#[test]
fn an_external_resistor_gives_the_printed_frequency() {
    // RSEL = 4, DCO = 3, DCOR = 1: 1.8 MHz at 2.2 V, 1.95 MHz at 3 V.
    assert!((mclk_hz(2.2, 0x60, 0x84, 0x01) / 1.8e6 - 1.0).abs() < 1e-6);
    assert!((mclk_hz(3.0, 0x60, 0x84, 0x01) / 1.95e6 - 1.0).abs() < 1e-6);
}

#[test]
fn dividers_and_the_watch_crystal() {
    let f = mclk_hz(3.0, 0x60, 0x84, 0);
    for (divm, by) in [(0x00, 1.0), (0x10, 2.0), (0x20, 4.0), (0x30, 8.0)] {
        assert!((mclk_hz(3.0, 0x60, 0x84, divm) * by / f - 1.0).abs() < 1e-5);
    }
    // SELM = 3: LFXT1CLK.
    assert_eq!(mclk_hz(3.0, 0x60, 0x84, 0xC0), 32_768.0);
    // ACLK under DIVA, SMCLK under DIVS.
    let mut p = Program::new();
    p.set_b(BCSCTL1, 0xA4).set_b(BCSCTL2, 0x04).nops(1);
    let stop = p.here();
    p.nops(1).halt();
    let mut m = p.machine();
    m.run(&Until::pc(stop), &mut Silent);
    let point = m.operating_point();
    assert_eq!(point.aclk_hz, 32_768 / 4);
    assert!((f64::from(point.smclk_hz) * 4.0 - f).abs() < 4.0);
}

#[test]
fn aclk_captured_by_timer_a_measures_the_dco() {
    // As start-up code calibrates: TACCTL2 captures ACLK on CCI2B in ticks of SMCLK.
    let mut p = Program::new();
    p.set(TACTL, 0x0224).set(TACCTL2, 0x5100);
    for _ in 0..3 {
        p.wait_set(TACCTL2, 1).op("BIC", Imm(1), Abs(TACCTL2)).keep(TACCR2);
    }
    let m = p.run_halted();
    let expected = 0.75e6 / 32_768.0;
    for i in 1..2 {
        let ticks = f64::from(kept(&m, i + 1).wrapping_sub(kept(&m, i)));
        // A loop pass may miss one edge of ACLK (23 cycles of MCLK): then it is a multiple.
        let edges = (ticks / expected).round();
        assert!(edges >= 1.0 && (ticks - edges * expected).abs() < 2.0, "{ticks} ticks");
    }
}

#[test]
fn ofifg_stays_while_an_oscillator_that_is_wanted_fails() {
    let mut p = Program::new();
    // Set at power-on; clears, since nothing fails.
    p.keep_b(IFG1).bic_b(IFG1, 2).keep_b(IFG1);
    // XT2 on, but no crystal is fitted: it comes back at once.
    p.bic_b(BCSCTL1, 0x80).bic_b(IFG1, 2).keep_b(IFG1);
    let m = p.run_halted();
    assert_eq!([kept(&m, 0) & 2, kept(&m, 1) & 2, kept(&m, 2) & 2], [2, 0, 2]);
}

#[test]
fn a_crystal_that_a_board_fits_drives_mclk() {
    let mut p = Program::new();
    p.bic_b(BCSCTL1, 0x80).bic_b(IFG1, 2).keep_b(IFG1).set_b(BCSCTL2, 0x80).nops(1);
    let stop = p.here();
    p.nops(1).halt();
    let mut m = p.machine();
    m.set_vcc(3.6);
    m.fit_crystal("xt2", 8_000_000).unwrap();
    assert_eq!(m.run(&Until::pc(stop), &mut Silent), Stop::Pc(stop));
    assert_eq!(m.operating_point().mclk_hz, 8_000_000);
    assert_eq!(kept(&m, 0) & 2, 0);
    let what = m.fit_crystal("xt3", 1).unwrap_err().to_string();
    assert!(what.contains("xt3"), "{what}");
}

#[test]
fn without_its_crystal_mclk_falls_back_to_the_dco_and_aclk_rests() {
    // SELM = 2: XT2CLK, which does not oscillate.
    let f = mclk_hz(3.0, 0x60, 0x84, 0x80);
    assert!((f / 0.75e6 - 1.0).abs() < 1e-6);
    let mut p = Program::new();
    p.nops(1);
    let stop = p.here();
    p.nops(1).halt();
    let mut m = p.machine();
    m.fit_crystal("lfxt1", 0).unwrap();
    m.run(&Until::pc(stop), &mut Silent);
    assert_eq!(m.operating_point().aclk_hz, 0);
}

#[test]
fn a_clock_above_what_the_supply_allows_is_a_fault_that_names_both() {
    // SLAS368 figure 1: 4.15 MHz at 1.8 V, 8 MHz at 3.6 V, a straight line between.
    let mut p = Program::new();
    p.set_b(DCOCTL, 0xE0).set_b(BCSCTL1, 0x87).halt();
    let mut m = p.machine();
    m.set_vcc(1.85);
    let what = fault_in(&mut m);
    assert!(what.contains("MCLK 4.") && what.contains("1.850 V"), "{what}");
    // With the resistor it is fast enough to be too fast at 3 V, where 6.717 MHz are allowed.
    let mut p = Program::new();
    p.set_b(BCSCTL2, 0x01).set_b(DCOCTL, 0xE0).set_b(BCSCTL1, 0x87).halt();
    let what = fault_of(&p);
    assert!(what.contains("6.717 MHz") && what.contains("3.000 V"), "{what}");
    let mut m = Program::new().nops(1000).clone().machine();
    m.set_vcc(1.75);
    let what = fault_in(&mut m);
    assert!(what.contains("1.750 V is outside 1.8 to 3.6 V"), "{what}");
}

#[test]
fn a_setting_that_only_the_fastest_part_overdoes_is_flagged() {
    // RSEL = 7, DCO = 7 at 2.0 V: typically 4.5 MHz of 4.58 MHz allowed, but up to 5.3 MHz.
    let mut p = Program::new();
    p.set_b(DCOCTL, 0xE0).set_b(BCSCTL1, 0x87).halt();
    let mut m = p.machine();
    m.set_vcc(2.0);
    halt(&mut m);
    assert_eq!(slips(&m), [LintKind::DcoTooFast]);
    let mut p = Program::new();
    p.set_b(BCSCTL1, 0x87).halt();
    assert_eq!(slips(&p.run()), []);
}

#[test]
fn the_dco_starts_in_six_microseconds_and_the_crystal_wakes_at_once() {
    // P1.0 rises before the sleep and falls in the handler.
    let span = |mode: u16, bcsctl2: u8| {
        let mut p = Program::new();
        p.set_b(BCSCTL2, bcsctl2).set_b(P1DIR, 1);
        p.set(TACCR0, 100).set(TACCTL0, 0x10).set(TACTL, 0x0114);
        p.sleep(mode | GIE).nops(1).halt();
        p.handler(VECTOR_TA_CCR0).set_b(P1OUT, 1).wake_and_return();
        let m = p.run();
        m.pin_log()[0].time()
    };
    let cycle = 1e12 / 0.75e6;
    let (lpm0, lpm3) = (span(LPM0, 0).0 as f64, span(LPM3, 0).0 as f64);
    // In LPM0 MCLK runs on: the entry waits for its next edge, at most one cycle.
    let later = lpm3 - lpm0;
    assert!((6e6 - cycle..=6e6).contains(&later), "{later} ps");
    let (lpm0, lpm3) = (span(LPM0, 0xC0), span(LPM3, 0xC0));
    assert_eq!(lpm0, lpm3, "MCLK from LFXT1, which runs in LPM3");
}

#[test]
fn smclk_rests_in_lpm2_and_lpm3_and_aclk_in_lpm4() {
    for (mode, smclk, aclk) in [
        (LPM0, true, true),
        (LPM1, true, true),
        (LPM2, false, true),
        (LPM3, false, true),
        (LPM4, false, false),
    ] {
        let mut p = Program::new();
        p.op("MOV", Imm(mode.into()), R(2)).nops(1);
        let mut m = p.machine();
        m.run(&Until::time(Picos(1_000_000_000)), &mut Silent);
        let point = m.operating_point();
        assert_eq!((point.smclk_hz != 0, point.aclk_hz != 0), (smclk, aclk), "{mode:#x}");
        assert_eq!(point.mclk_hz, 0);
    }
}

#[test]
fn oscillators_follow_temperature_and_supply_as_each_data_sheet_says() {
    // Percent per kelvin and per volt of MCLK as it is after a reset; the F5438A's FLL holds it to REFO.
    for (device, per_k, per_v) in [
        ("msp430f1611", -0.38, 0.0),
        ("msp430f5438a", 0.01, 1.0),
        ("msp430fr5994", 0.01, 0.0),
        ("msp432p401r", 0.025, 0.05),
    ] {
        let mut m = Machine::new(&Device::named(device).unwrap());
        m.set_vcc(3.0);
        let hz = |m: &Machine| f64::from(m.operating_point().mclk_hz);
        let room = hz(&m);
        m.set_temperature(75.0);
        assert!((hz(&m) / room - 1.0 - per_k * 0.5).abs() < 1e-5, "{device}: {}", hz(&m) / room);
        m.set_temperature(25.0);
        assert_eq!(hz(&m), room);
        m.set_vcc(3.5);
        let by_supply = (hz(&m) / room - 1.0) * 100.0 / 0.5;
        // The F1611's comes from the two voltages of its table.
        if device != "msp430f1611" {
            assert!((by_supply - per_v).abs() < 0.02, "{device}: {by_supply} % per volt");
        }
    }
    // A crystal stays.
    let mut m = Machine::new(&Device::named("atmega128l").unwrap());
    let room = m.operating_point();
    m.set_temperature(85.0);
    assert_eq!(m.operating_point(), room);
}

#[test]
fn with_the_external_resistor_the_dco_drifts_less() {
    let drift = |bcsctl2: u8| {
        let mut p = Program::new();
        p.set_b(DCOCTL, 0x60).set_b(BCSCTL1, 0x84).set_b(BCSCTL2, bcsctl2);
        let stop = p.here();
        p.nops(1).halt();
        let mut m = p.machine();
        m.run(&Until::pc(stop), &mut Silent);
        let room = f64::from(m.operating_point().mclk_hz);
        m.set_temperature(-15.0);
        (f64::from(m.operating_point().mclk_hz) / room - 1.0) / -40.0 * 100.0
    };
    assert!((drift(0) + 0.38).abs() < 1e-3 && (drift(1) + 0.1).abs() < 1e-3);
}
