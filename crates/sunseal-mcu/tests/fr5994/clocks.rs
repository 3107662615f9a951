// SPDX-License-Identifier: MIT OR Apache-2.0
//! CS: frequencies, limits, crystals, and the noise of VLO and DCO.

use sunseal_mcu::Until;
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

#[test]
fn after_a_reset_mclk_is_the_dco_of_8_mhz_by_8() {
    let m = Program::new().run_halted();
    assert_eq!(machine().operating_point().mclk_hz, 1_000_000);
    assert!(m.lints().is_empty(), "{:?}", m.lints());
}

#[test]
fn the_dco_has_the_frequencies_of_its_table() {
    for (csctl1, hz) in [
        (0x0000, 1_000_000),
        (0x0002, 2_667_000),
        (0x0006, 4_000_000),
        (0x000C, 8_000_000),
        (0x0048, 16_000_000),
    ] {
        let mut p = Program::clocked(csctl1, 1);
        let end = p.here();
        p.halt();
        let mut m = p.machine();
        m.run(&Until::pc(end), &mut Silent);
        assert_eq!(m.operating_point().mclk_hz, hz);
    }
}

#[test]
fn too_fast_is_a_fault_that_names_the_clock() {
    let fault = fault_of(Program::clocked(0x0048, 0).halt());
    assert!(fault.contains("16.000 MHz with 0 wait states") && fault.contains("NWAITS"), "{fault}");
    let fault = fault_of(Program::clocked(0x004C, 2).halt());
    assert!(fault.contains("24.000 MHz exceeds the 16 MHz"), "{fault}");
    // AUTO sets what the clock needs.
    let mut p = Program::new();
    p.set(FRCTL0, 0xA508).set(CSCTL0, 0xA500).set(CSCTL3, 0).set(CSCTL1, 0x0048).nops(20);
    p.run_halted();
}

#[test]
fn locked_registers_stay_and_a_wrong_password_resets() {
    let mut p = Program::new();
    p.set(CSCTL1, 0x0048).keep(CSCTL1);
    let m = p.run_halted();
    assert_eq!(kept(&m, 0), 0x000C);
    assert_eq!(m.lints().len(), 1);
    // SYSRSTIV: BOR first, then CSPW, which comes again and again.
    let mut p = Program::new();
    p.op("MOV", Abs(SYSRSTIV), R(5)).op("CMP", Imm(2), R(5));
    let skip = p.ahead("JNE");
    p.set(CSCTL0, 0x1200);
    p.land(skip);
    p.op("MOV", R(5), Abs(KEPT));
    let m = p.run_halted();
    assert_eq!(kept(&m, 0), 0x24);
    assert_eq!(m.resets(), 3, "made, loaded, CSPW");
}

#[test]
fn the_crystal_needs_its_pins_and_its_time_and_vlo_stands_in_nowhere() {
    let mut p = Program::new();
    p.keep(CSCTL5).set(PJSEL0, 0x0030).set(CSCTL0, 0xA500).set(CSCTL4, 0xCDC8).keep(CSCTL5);
    let again = p.here();
    p.op("BIC", Imm(3), Abs(CSCTL5)).op("BIC", Imm(2), Abs(SFRIFG1));
    p.op("BIT", Imm(1), Abs(CSCTL5)).back("JNE", again);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    m.run(&Until::pc(again), &mut Silent);
    assert_ne!(kept(&m, 1) & 1, 0, "LFXTOFFG while it starts");
    // ACLK is LFMODCLK until then: 4.8 MHz by 128.
    assert_eq!(m.operating_point().aclk_hz, 37_500);
    let before = m.time();
    m.run(&Until::pc(end), &mut Silent);
    let ms = (m.time().0 - before.0) / 1_000_000_000;
    assert!((799..802).contains(&ms), "{ms}");
    assert_eq!(m.operating_point().aclk_hz, 32_768);
}

/// SMCLK ticks between rising edges of ACLK, from captures of TA2 on its inner input CCI0B.
fn captures(seed: u64, n: usize) -> Vec<f64> {
    let mut p = Program::clocked(0x000C, 0);
    p.set(CSCTL2, 0x0133).set(TA2CCTL0, 0x5900).set(TA2CTL, 0x0224);
    let again = p.here();
    p.wait_set(TA2CCTL0, 1).op("BIC", Imm(1), Abs(TA2CCTL0));
    let took = p.here();
    p.op("MOV", Abs(TA2CCR0), R(5)).back("JMP", again);
    let mut m = p.machine();
    m.set_unit_seed(seed);
    let mut last: Option<u16> = None;
    let mut out = Vec::new();
    while out.len() < n {
        m.run(&Until::pc(took), &mut Silent);
        m.run(&Until::pc(again), &mut Silent);
        let now = m.registers()[5].value as u16;
        if let Some(last) = last {
            out.push(f64::from(now.wrapping_sub(last)));
        }
        last = Some(now);
    }
    out
}

#[test]
fn vlo_periods_counted_by_the_dco_scatter_as_the_data_say_and_follow_the_seed() {
    let n = 600;
    let a = captures(1, n);
    assert_eq!(a, captures(1, n));
    assert_ne!(a, captures(2, n));
    let mean = a.iter().sum::<f64>() / n as f64;
    assert!((mean - 8e6 / 9400.0).abs() < 0.2, "{mean}");
    let sigma = (a.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    // Two edges of 0.1 percent each, and the counting.
    let expected = ((0.001 * mean * 2f64.sqrt()).powi(2) + 1.0 / 6.0).sqrt();
    assert!((sigma / expected - 1.0).abs() < 0.1, "{sigma} {expected}");
}

#[test]
fn dco_edges_scatter_by_a_share_of_their_period() {
    // Stops at instruction boundaries: their times against an even grid of 125 ns.
    let mut p = Program::clocked(0x000C, 0);
    let again = p.here();
    p.nops(1).back("JMP", again);
    let mut m = p.machine();
    m.set_unit_seed(7);
    m.run(&Until::pc(again), &mut Silent);
    let (t0, c0) = (m.time(), m.cycles());
    let n = 2000;
    let mut sum = 0.0;
    for i in 1..=n {
        m.run(&Until::cycles(c0 + 3 * i), &mut Silent);
        let ideal = (m.cycles() - c0) as f64 * 125_000.0;
        sum += ((m.time().0 - t0.0) as f64 - ideal).powi(2);
    }
    let sigma = (sum / n as f64).sqrt() / 125_000.0;
    // 0.25 percent, and once more for the first edge.
    assert!((0.0015..0.006).contains(&sigma), "{sigma}");
}

#[test]
fn a_sleeping_node_costs_nothing() {
    // LPM3 on ACLK from the VLO for an hour, woken each 7 s: the time is passed over.
    let mut p = Program::new();
    p.set(CSCTL0, 0xA500)
        .set(CSCTL2, 0x0133)
        .set(TA0CCR0, 0xFFFF)
        .set(TA0CCTL0, 0x10)
        .set(TA0CTL, 0x0114);
    let again = p.here();
    p.sleep(LPM3 | GIE).back("JMP", again);
    p.handler(VECTOR_TA0_CCR0).reti();
    let mut m = p.machine();
    m.run(&Until::time(Picos(3_600_000_000_000_000)), &mut Silent);
    assert!(m.cycles() < 20_000, "{}", m.cycles());
    assert!(time_in(&m, "cpu", "lpm3") > 3_590_000_000_000_000);
}

#[test]
fn a_timer_of_the_cpus_own_source_has_one_count_on_entry_to_its_handler() {
    // DCORSEL and DCOFSEL, all that there are, with wait states for the fastest.
    for setting in (0..8u16).flat_map(|f| [f << 1, 0x40 | f << 1]) {
        let p = Program::clocked(setting, 2);
        let at = [TA0CCR0, TA0CCTL0, TA0CTL, TA0R];
        let Some(counts) = counts_on_entry(p, at, VECTOR_TA0_CCR0, 100) else { continue };
        // The first entry finds its code in FRAM, the others in the cache.
        assert!(counts[1..].iter().all(|c| *c == counts[1]), "CSCTL1 {setting:#x}: {counts:?}");
    }
}
