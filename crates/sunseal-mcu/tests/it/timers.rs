// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer_A, Timer_B used as one, and the watchdog.

use sunseal_mcu::{LintKind, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

const SMCLK_UP_CLR: u16 = 0x0214;
const SMCLK_CONT_CLR: u16 = 0x0224;
const ACLK_UP_CLR: u16 = 0x0114;

#[test]
fn the_counter_counts_cycles_of_its_clock() {
    let mut p = Program::new();
    // Two reads of TA0R, as many SMCLK ticks apart as MCLK cycles: SMCLK and MCLK are both DCOCLKDIV.
    p.set(TA0CTL, SMCLK_CONT_CLR).keep(TA0R).nops(10).keep(TA0R).halt();
    let m = p.run();
    // MOV &EDE, &EDE takes 5 cycles (SLAU445I table 4-10: 6, less 1 for MOV).
    assert_eq!(kept(&m, 1) - kept(&m, 0), 10 + 5);
}

#[test]
fn the_input_divider_and_its_extension_multiply() {
    let mut p = Program::new();
    // ID = 4, TAIDEX = 2: every 8 x 3 ticks.
    p.set(TA0CTL + 0x20, 2).set(TA0CTL, SMCLK_CONT_CLR | 0x00C0).nops(240).keep(TA0R).halt();
    assert_eq!(kept(&p.run(), 0), 10);
}

/// A register's value in the third cycle of a read `nops` behind the start of TA0 in a mode.
fn seen(mode: u16, nops: usize, addr: u32) -> u16 {
    let mut p = Program::new();
    p.set(TA0CCR0, 100).set(TA0CTL, mode).nops(nops).op("MOV", Abs(addr), R(5)).halt();
    p.run().reg(5) as u16
}

#[test]
fn up_mode_sets_ccifg0_at_ccr0_and_taifg_one_count_later() {
    let mut both = [false; 2];
    for nops in 90..105 {
        let count = seen(SMCLK_CONT_CLR, nops, TA0R);
        let (ccifg, taifg) =
            (seen(SMCLK_UP_CLR, nops, TA0CCTL0) & 1, seen(SMCLK_UP_CLR, nops, TA0CTL) & 1);
        assert_eq!((ccifg == 1, taifg == 1), (count >= 100, count >= 101), "count {count}");
        both[usize::from(count >= 101)] = true;
    }
    assert_eq!(both, [true; 2]);
}

#[test]
fn the_period_in_up_mode_is_ccr0_plus_one() {
    let mut p = Program::new();
    p.op("MOV", Cg(0), R(10)).set(TA0CCR0, 999).set(TA0CCTL0, 0x10).set(TA0CTL, SMCLK_UP_CLR);
    let again = p.here();
    p.sleep(LPM0 | GIE).back("JMP", again);
    p.handler(VECTOR_TA0_CCR0)
        .op("XOR", Imm(1), Abs(PAOUT))
        .set(PADIR, 1)
        .put(vec![crate::asm::RETI]);
    let mut m = p.machine();
    m.run(&Until::time(Picos(20_000_000_000)), &mut Silent);
    let edges: Vec<u128> = m.pin_log().iter().map(|e| e.time_ps).collect();
    let hz = m.operating_point().smclk_hz;
    assert!(edges.len() > 15);
    for pair in edges[1..].windows(2) {
        let ticks = (pair[1] - pair[0]) as f64 * 1e-12 * f64::from(hz);
        assert!((ticks - 1000.0).abs() < 1.01, "{ticks}");
    }
    // Nothing is lost over many periods.
    let all = (edges[edges.len() - 1] - edges[1]) as f64 * 1e-12 * f64::from(hz);
    assert!((all - 1000.0 * (edges.len() - 2) as f64).abs() < 1.01, "{all}");
}

#[test]
fn up_down_mode_turns_at_ccr0() {
    let mut p = Program::new();
    p.set(TA0CCR0, 50).set(TA0CTL, 0x0234).nops(70).keep(TA0R).halt();
    // Somewhere on the way down: 2 x 50 - t.
    let m = p.run();
    let mut q = Program::new();
    q.set(TA0CTL, SMCLK_CONT_CLR).nops(70).keep(TA0R).halt();
    let t = kept(&q.run(), 0);
    assert_eq!(kept(&m, 0), 100 - t);
}

#[test]
fn taiv_names_the_highest_pending_source_and_clears_it() {
    let mut p = Program::new();
    p.set(TA0CCR0, 20).set(TA0CCR1, 10).set(TA0CCTL1, 0x10).set(TA0CTL, SMCLK_UP_CLR | 2).nops(60);
    // Stopping keeps the flags: TAIFG is written back as read.
    p.op("BIC", Imm(0x30), Abs(TA0CTL)).keep(TA0IV).keep(TA0IV).keep(TA0IV);
    let m = p.run_halted();
    assert_eq!([kept(&m, 0), kept(&m, 1), kept(&m, 2)], [2, 14, 0]);
}

#[test]
fn a_timer_on_aclk_wakes_from_lpm3() {
    let mut p = Program::new();
    // ACLK = REFO (32768 Hz): 32768 counts are one second.
    p.set(UCSCTL4, 0x0244);
    p.set(TA0CCR0, 32767)
        .set(TA0CCTL0, 0x10)
        .set(TA0CTL, ACLK_UP_CLR)
        .sleep(LPM3 | GIE)
        .nops(1)
        .halt();
    p.handler(VECTOR_TA0_CCR0).wake_and_return();
    let mut m = p.machine();
    halt(&mut m);
    let s = m.time().as_seconds();
    // The first count comes within a tick of the start.
    assert!((1.0 - 1.0 / 32_768.0..1.001).contains(&s), "{s}");
}

#[test]
fn a_timer_keeps_its_ticks_over_a_year_asleep() {
    let mut p = Program::new();
    // REFO / 8 / 8: all 65,536 counts are 128 seconds.
    p.set(UCSCTL4, 0x0244).set(TA0CTL + 0x20, 7).set(TA0CCR0, 0xFFFF).set(TA0CCTL0, 0x10);
    p.op("MOV", Cg(0), R(10)).op("MOV", Cg(0), R(11)).set(TA0CTL, ACLK_UP_CLR | 0x00C0);
    let again = p.here();
    p.sleep(LPM3 | GIE).op("ADD", Cg(1), R(10)).op("ADDC", Cg(0), R(11)).back("JMP", again);
    p.handler(VECTOR_TA0_CCR0).wake_and_return();
    let mut m = p.machine();
    let periods = 365 * 86_400 / 128;
    // The count of CCR0 comes a 512th of a second before the period ends.
    let end = Picos(128_000_000_000_000) * periods;
    m.run(&Until::time(end - Picos(2_000_000_000)), &mut Silent);
    let woken = |m: &sunseal_mcu::Machine| u64::from(m.reg(11)) << 16 | u64::from(m.reg(10));
    assert_eq!(woken(&m), periods - 1);
    m.run(&Until::time(end), &mut Silent);
    assert_eq!(woken(&m), periods);
    let slept: u128 = m.ledger().spans().map(|(_, s)| s.time.0).max().unwrap();
    assert!(end.0 - slept < 86_400_000_000_000, "{slept} ps of {end} are booked on one state");
}

#[test]
fn software_captures_and_overflow() {
    let mut p = Program::new();
    p.set(TA0CTL, SMCLK_CONT_CLR);
    // CM = both edges, CCIS = GND, CAP: toggling CCIS to VCC captures.
    p.set(TA0CCTL1, 0xE100)
        .op("XOR", Imm(0x1000), Abs(TA0CCTL1))
        .keep(TA0CCTL1)
        .keep(TA0CCR1)
        .keep(TA0R);
    // Read, but CCIFG not cleared: no overflow. CCIFG cleared, but not read: overflow (SLAU367P figure 25-11).
    p.op("XOR", Imm(0x1000), Abs(TA0CCTL1)).keep(TA0CCTL1).op("BIC", Cg(1), Abs(TA0CCTL1));
    p.op("XOR", Imm(0x1000), Abs(TA0CCTL1)).keep(TA0CCTL1);
    // Clearing COV begins anew.
    p.op("BIC", Cg(2), Abs(TA0CCTL1)).op("XOR", Imm(0x1000), Abs(TA0CCTL1)).keep(TA0CCTL1).halt();
    let m = p.run();
    assert_eq!(kept(&m, 0) & 3, 1, "captured");
    assert!(kept(&m, 1) < kept(&m, 2) && kept(&m, 2) - kept(&m, 1) < 20);
    assert_eq!(kept(&m, 3) & 3, 1, "captured again after it was read");
    assert_eq!(kept(&m, 4) & 3, 3, "captured again without being read: COV");
    assert_eq!(kept(&m, 5) & 3, 1);
}

#[test]
fn captures_of_vlo_in_dco_ticks_jitter_by_seed() {
    let mut p = Program::new();
    // ACLK = VLO on capture input B of TB0.6, timer on SMCLK.
    p.set(UCSCTL4, 0x0144).set(TB0CTL, SMCLK_CONT_CLR).set(TB0CCTL6, 0x5100);
    p.op("MOV", Imm(KEPT), R(4)).op("MOV", Imm(40), R(5));
    let again = p.here();
    p.wait_set(TB0CCTL6, 1).op("BIC", Imm(1), Abs(TB0CCTL6)).op("MOV", Abs(TB0CCR6), X(0, 4));
    p.op("ADD", Cg(2), R(4)).op("SUB", Cg(1), R(5)).back("JNE", again).halt();
    let periods = |seed: u64| {
        let mut m = p.machine();
        m.set_unit_seed(seed);
        halt(&mut m);
        assert_eq!(m.lint_count(LintKind::CaptureNobody), 0);
        let t: Vec<u16> = (0..40).map(|i| kept(&m, i)).collect();
        t.windows(2).map(|w| w[1].wrapping_sub(w[0])).collect::<Vec<u16>>()
    };
    let a = periods(1);
    // 9.4 kHz in ticks of the 1.048576 MHz that UCS wakes with.
    let nominal = 1_048_576.0 / 9_400.0;
    assert!(a.iter().all(|&t| (f64::from(t) - nominal).abs() < 3.0), "{a:?}");
    assert!(a.iter().any(|&t| t != a[0]), "no jitter: {a:?}");
    assert_eq!(a, periods(1));
    assert_ne!(a, periods(2));
}

#[test]
fn a_capture_of_nothing_is_flagged_and_an_output_unit_with_pins_is_not() {
    let mut p = Program::new();
    p.set(TA0CCTL1, 0x00E0).set(TA0CCTL0, 0x4100).halt();
    let m = p.run();
    assert_eq!(m.lint_count(LintKind::TimerOutput), 0);
    assert_eq!(m.lint_count(LintKind::CaptureNobody), 1);
}

#[test]
fn a_timer_clocked_from_a_pin_traps() {
    let mut p = Program::new();
    let fault = fault_of(p.set(TA0CTL, 0x0024));
    assert!(fault.contains("TASSEL"), "{fault}");
}

#[test]
fn the_watchdog_resets_after_32768_ticks_of_smclk() {
    let mut p = Program::bare();
    // WDTIFG tells the second start from the first.
    p.op("BIT", Cg(1), Abs(SFRIFG1));
    let first = p.ahead("JEQ");
    p.set(WDTCTL, 0x5A80).keep(SYSRSTIV).keep(SYSRSTIV).halt();
    p.land(first).keep(SYSRSTIV);
    let forever = p.here();
    p.back("JMP", forever);
    let mut m = p.machine();
    let reset_at = {
        let mut n = p.machine();
        let before = n.resets();
        while n.resets() == before {
            let next = n.cycles() + 1;
            n.run(&Until::cycles(next), &mut Silent);
        }
        n.cycles()
    };
    assert!((32_768..32_768 + 8).contains(&reset_at), "{reset_at}");
    halt(&mut m);
    // The first start read BOR (2); the second start finds the watchdog's time-out (0x16) and no more.
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0x16, 0]);
    assert_eq!(kept(&m, 2), 0x02);
}

#[test]
fn a_wrong_watchdog_password_resets() {
    let mut p = Program::bare();
    p.until_cause(0x18, |p| p.set(WDTCTL, 0x0080)).set(WDTCTL, 0x5A80).halt();
    let m = p.run();
    assert_eq!(m.reg(5), 0x18);
    assert_eq!(m.resets(), 3, "new, store, key violation");
}

#[test]
fn the_watchdog_as_interval_timer_interrupts() {
    let mut p = Program::bare();
    // SMCLK / 512, interval mode.
    p.set(WDTCTL, 0x5A1E).set(SFRIE1, 1).sleep(LPM0 | GIE).nops(1).halt();
    p.handler(VECTOR_WDT).op("ADD", Cg(1), Abs(KEPT)).wake_and_return();
    let mut m = p.machine();
    m.write_mem(KEPT, &[0, 0]).unwrap();
    halt(&mut m);
    assert_eq!(kept(&m, 0), 1);
    let s = m.time().as_seconds();
    assert!((512.0 / 1_048_576.0..600.0 / 1_048_576.0).contains(&s), "{s}");
}

#[test]
fn a_machine_that_nothing_can_wake_halts_even_with_timers_running() {
    let mut p = Program::new();
    // The timer runs, its interrupts are off.
    p.set(TA0CCR0, 100).set(TA0CTL, SMCLK_UP_CLR).sleep(LPM0 | GIE);
    let mut m = p.machine();
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted);
}

#[test]
fn a_timer_of_the_cpus_own_source_has_one_count_on_entry_to_its_handler() {
    // Multipliers of REFO, by DCOCLK and by DCOCLKDIV: MCLK and SMCLK from either.
    for n in (20..250u16).step_by(7) {
        for select in [0x0044, 0x0033, 0x0034, 0x0043] {
            let mut p = Program::new();
            p.set(UCSCTL1, 0x0030).set(UCSCTL2, 0x1000 | n).set(UCSCTL4, select);
            let at = [TA0CCR0, TA0CCTL0, TA0CTL, TA0R];
            let Some(counts) = counts_on_entry(p, at, VECTOR_TA0_CCR0, 12) else { continue };
            let same = counts.iter().all(|c| *c == counts[0]);
            assert!(same, "n {n}, UCSCTL4 {select:#06x}: {counts:?}");
        }
    }
}
