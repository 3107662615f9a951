// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer_A3, Timer_B7 with its latches, the watchdog.

use sunseal_mcu::{Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

const SMCLK_UP_CLR: u16 = 0x0214;
const SMCLK_CONT_CLR: u16 = 0x0224;
const SMCLK_UP_DOWN_CLR: u16 = 0x0234;

#[test]
fn the_counter_counts_cycles_of_its_clock() {
    let mut p = Program::new();
    p.set(TACTL, SMCLK_CONT_CLR).keep(TAR).nops(10).keep(TAR);
    p.set(TBCTL, SMCLK_CONT_CLR).keep(TBR).nops(10).keep(TBR);
    let [a, b, c, d] = all_kept(&p.run_halted());
    // MOV &EDE, &EDE takes 6 cycles on this CPU (SLAU049 table 3-16).
    assert_eq!((b - a, d - c), (10 + 6, 10 + 6));
}

/// A register's value in the third cycle of a read `nops` behind the start of Timer_A in a mode.
fn seen(mode: u16, nops: usize, addr: u32) -> u16 {
    let mut p = Program::new();
    p.set(TACCR0, 100).set(TACTL, mode).nops(nops).op("MOV", Abs(addr), R(5)).halt();
    p.run().register("R5").unwrap() as u16
}

#[test]
fn up_mode_sets_ccifg0_at_ccr0_and_taifg_one_count_later() {
    let mut both = [false; 2];
    for nops in 90..105 {
        let count = seen(SMCLK_CONT_CLR, nops, TAR);
        let flags =
            (seen(SMCLK_UP_CLR, nops, TACCTL0) & 1 == 1, seen(SMCLK_UP_CLR, nops, TACTL) & 1 == 1);
        assert_eq!(flags, (count >= 100, count >= 101), "count {count}");
        both[usize::from(count >= 101)] = true;
    }
    assert_eq!(both, [true; 2]);
}

#[test]
fn up_down_mode_turns_at_ccr0() {
    let t = seen(SMCLK_CONT_CLR, 150, TAR);
    assert_eq!(seen(SMCLK_UP_DOWN_CLR, 150, TAR), 200 - t);
}

#[test]
fn taiv_of_timer_a3_has_its_own_code_for_the_overflow() {
    let vectors = |ctl: u32, ccr: u32, iv: u32| {
        let mut p = Program::new();
        p.set(ccr, 20).set(ccr + 2, 10).set(ccr - 0xE, 0x10).set(ctl, SMCLK_UP_CLR | 2).nops(60);
        p.op("BIC", Imm(0x30), Abs(ctl)).keep(iv).keep(iv).keep(iv);
        all_kept::<3>(&p.run_halted())
    };
    assert_eq!(vectors(TACTL, TACCR0, TAIV), [2, 0x0A, 0]);
    assert_eq!(vectors(TBCTL, TBCCR0, TBIV), [2, 0x0E, 0]);
}

#[test]
fn the_counter_of_timer_b_is_16_12_10_or_8_bits_long() {
    for (cntl, max) in [(0x0000, 0xFFFFu32), (0x0800, 0x0FFF), (0x1000, 0x03FF), (0x1800, 0x00FF)] {
        let mut p = Program::new();
        // Close below the end, then over it.
        p.set(TBR, (max - 20) as u16).set(TBCTL, 0x0220 | cntl).nops(40).keep(TBR).keep(TBCTL);
        let [count, ctl] = all_kept(&p.run_halted());
        let mut q = Program::new();
        q.set(TBR, 0).set(TBCTL, 0x0220).nops(40).keep(TBR);
        let [elapsed] = all_kept(&q.run_halted());
        assert_eq!(u32::from(count), (max - 20 + u32::from(elapsed)) % (max + 1), "{max:#x}");
        assert_eq!(ctl & 1, 1, "TBIFG");
    }
}

#[test]
fn a_period_beyond_the_counters_end_is_that_of_continuous_mode() {
    let mut p = Program::new();
    // 8 bits, up mode, TBCCR0 = 1000: 256 counts.
    p.set(TBCCR0, 1000).set(TBCTL, 0x1A14).nops(300).keep(TBR).keep(TBCCTL0);
    let [count, cctl0] = all_kept(&p.run_halted());
    let mut q = Program::new();
    q.set(TBCCR0, 1000).set(TBCTL, 0x0224).nops(300).keep(TBR);
    let [elapsed] = all_kept(&q.run_halted());
    assert_eq!((count, cctl0 & 1), (elapsed % 256, 0));
}

#[test]
fn a_compare_latch_is_loaded_when_tbr_counts_to_zero() {
    // CLLD = 1 in block 1: the write of TBCCR1 does not count before the counter has come to 0.
    let flag_after = |clld: u16| {
        let mut p = Program::new();
        p.set(TBCCR0, 499).set(TBCCR1, 490).set(TBCCTL1, clld << 9).set(TBCTL, SMCLK_UP_CLR);
        // About 20 counts in: nearer than before.
        p.set(TBCCR1, 60).nops(100).keep(TBCCTL1);
        // Over the end of the first period, and to 100 of the second.
        p.nops(400).op("BIC", Imm(1), Abs(TBCCTL1)).nops(90).keep(TBCCTL1).keep(TBR);
        let [first, second, count] = all_kept(&p.run_halted());
        assert!((100..200).contains(&count), "{count}");
        (first & 1, second & 1)
    };
    assert_eq!(flag_after(0).0, 1, "at once: the flag at 60");
    assert_eq!(flag_after(1), (0, 1), "with the next period");
    // CLLD = 3: when TBR has counted to the old value, 490; so in the second period too.
    assert_eq!(flag_after(3), (0, 1));
}

#[test]
fn a_group_of_latches_waits_for_all_its_members() {
    // TBCLGRP = 1: TBCL1 and TBCL2 together, CLLD of block 1.
    let run = |both: bool| {
        let mut p = Program::new();
        p.set(TBCCR0, 199).set(TBCCR1, 150).set(TBCCR2, 160).set(TBCCTL1, 0x0200);
        p.set(TBCTL, SMCLK_UP_CLR | 0x2000).set(TBCCR1, 50);
        if both {
            p.set(TBCCR2, 160);
        }
        // Into the second period, clear the flag, on to about 100.
        p.nops(180).op("BIC", Imm(1), Abs(TBCCTL1)).nops(75).keep(TBCCTL1).keep(TBR);
        let [cctl, count] = all_kept(&p.run_halted());
        assert!((60..149).contains(&count), "{count}");
        cctl & 1
    };
    assert_eq!((run(false), run(true)), (0, 1));
}

#[test]
fn a_pin_captures_where_pxsel_hands_it_to_the_timer() {
    // TB1 on P4.1: both edges, CCI1A, as an IEEE 802.15.4 driver time-stamps SFD.
    let mut p = Program::new();
    p.bis_b(P4SEL, 0x02).set(TBCTL, SMCLK_CONT_CLR).set(TBCCTL1, 0xC110);
    p.sleep(LPM0 | GIE).keep(TBCCR1).keep(TBCCTL1).halt();
    p.handler(VECTOR_TB).keep(TBIV).wake_and_return();
    let mut m = p.machine();
    m.set_pin(Pin::new(4, 1), Some(false));
    let t = Picos(500_000_000);
    assert_eq!(m.run(&Until::time(t), &mut Silent), Stop::Time);
    m.set_pin(Pin::new(4, 1), Some(true));
    halt(&mut m);
    // 500 us at 0.75 MHz are 375 ticks, less those before the timer was started.
    let (iv, captured, cctl) = (kept(&m, 2), kept(&m, 0), kept(&m, 1));
    assert_eq!(iv, 2);
    assert!((330..375).contains(&captured), "{captured}");
    assert_eq!(cctl & 0x0008, 0x0008, "CCI shows the pin");
    assert_eq!(slips(&m), []);
    // Not handed over, the pin is not heard of.
    let mut p = Program::new();
    p.set(TBCTL, SMCLK_CONT_CLR).set(TBCCTL1, 0xC100).nops(200).keep(TBCCTL1);
    let mut m = p.halt().machine();
    m.run(&Until::cycles(100), &mut Silent);
    m.set_pin(Pin::new(4, 1), Some(true));
    halt(&mut m);
    assert_eq!(kept(&m, 0) & 1, 0);
}

#[test]
fn a_timer_keeps_counting_over_a_power_up_clear() {
    // SLAU049: registers of Timer_A are marked (0), which a PUC does not touch. R15 says which run it is.
    let mut p = Program::bare();
    p.op("MOV", Imm(0x5A80), Abs(WDTCTL));
    p.op("CMP", Imm(0x1234), Abs(RAM));
    let first = p.here();
    p.put(crate::asm::jump("JEQ", 0));
    p.set(RAM, 0x1234).set(TACTL, SMCLK_CONT_CLR).bis_b(P1DIR, 0x01).nops(100);
    // A wrong password.
    p.op("MOV", Cg(0), Abs(WDTCTL));
    let second = p.here();
    p.keep(TAR).keep_b(P1DIR).keep_b(IFG1).halt();
    let mut m = p.machine();
    let words = ((second - first - 2) / 2) as i16;
    let jump = crate::asm::jump("JEQ", words)[0];
    m.write_mem(first, &jump.to_le_bytes()).unwrap();
    halt(&mut m);
    assert!(kept(&m, 0) > 100, "{}", kept(&m, 0));
    assert_eq!((kept(&m, 1), kept(&m, 2) & 1), (0, 1), "P1DIR is cleared, WDTIFG says why");
    assert_eq!(m.resets(), 3);
}

#[test]
fn the_watchdog_resets_after_its_interval() {
    // At power-on: SMCLK, 32768 ticks at 0.75 MHz.
    let mut p = Program::bare();
    let again = p.here();
    p.back("JMP", again);
    let mut m = p.machine();
    let resets = m.resets();
    m.run(&Until::time(Picos(43_000_000_000)), &mut Silent);
    assert_eq!(m.resets(), resets, "43 ms: not yet");
    m.run(&Until::time(Picos(44_000_000_000)), &mut Silent);
    assert_eq!(m.resets(), resets + 1, "43.7 ms");
}

#[test]
fn the_interval_timer_interrupts_and_clears_its_flag() {
    let mut p = Program::bare();
    // Interval mode, ACLK, 64 ticks: 1.953 ms.
    p.set(WDTCTL, 0x5A1F).bis_b(IE1, 1);
    p.sleep(LPM3 | GIE).keep_b(IFG1).set(WDTCTL, 0x5A80).halt();
    p.handler(VECTOR_WDT).wake_and_return();
    let m = p.run();
    assert_eq!(kept(&m, 0) & 1, 0, "single source: its flag clears itself");
    let t = m.time().as_seconds();
    assert!((1.95e-3..2.1e-3).contains(&t), "{t}");
}
