// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections from block to block and to pins without the CPU: output units, triggers, DMA, clocks.

use sunseal_mcu::{LintKind, Machine, Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

const MS: u128 = 1_000_000_000;
const P1_0: Pin = Pin::new(1, 0);
const P1_2: Pin = Pin::new(1, 2);

/// DCOx, MODx and RSELx, all of them that the chip takes at 3 V.
#[test]
fn a_timer_of_the_cpus_own_source_has_one_count_on_entry_to_its_handler() {
    let mut tried = 0;
    for setting in 0..8u8 * 8 * 3 {
        let (rsel, dco, modulation) =
            (setting / 24, setting / 3 % 8, [0, 5, 27][setting as usize % 3]);
        let mut p = Program::new();
        p.set_b(DCOCTL, dco << 5 | modulation).set_b(BCSCTL1, 0x80 | rsel);
        let at = [TACCR0, TACCTL0, TACTL, TAR];
        let Some(counts) = counts_on_entry(p, at, VECTOR_TA_CCR0, 40) else { continue };
        tried += 1;
        assert!(counts.iter().all(|c| *c == counts[0]), "{rsel} {dco} {modulation}: {counts:?}");
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn zero_in_ccr0_clears_the_count_and_stops_it() {
    for up in [0x0214, 0x0234] {
        let mut p = Program::new();
        p.set(TACCR0, 500).set(TACTL, up).nops(70).set(TACCR0, 0).nops(3).keep(TAR);
        // "The timer starts incrementing in the up direction from zero" (SLAU356I, 19.2.2).
        p.set(TACCR0, 300).keep(TAR);
        let [stopped, started] = all_kept(&p.run_halted());
        assert_eq!(stopped, 0);
        assert!((1..10).contains(&started), "{started}");
    }
}

#[test]
fn dma_moves_a_pattern_to_a_port_while_the_cpu_sleeps_for_good() {
    let mut p = Program::new();
    let pattern = RAM + 0x400;
    p.set(pattern, 0x0201).set(pattern + 2, 0x0003).set_b(P1DIR, 3);
    p.set(DMACTL0, 1).set(DMA0SA, pattern as u16).set(DMA0DA, P1OUT as u16).set(DMA0SZ, 4);
    // Repeated single transfers of bytes, the source counts up.
    p.set(DMA0CTL, 0x4000 | 0x0300 | 0x00C0 | 0x10).set(TACTL, 0x0220).sleep(LPM0);
    let mut m = p.machine();
    assert_eq!(m.run(&Until::time(Picos(m.time().0 + 2000 * MS)), &mut Silent), Stop::Time);
    // A transfer a wrap of 65,536 ticks: 1, 2, 3, 0.
    let tick_ps = 1e12 / 750_000.0;
    let wraps = |pin| spans(&m, pin, tick_ps * 65_536.0);
    assert_eq!(wraps(P1_0), [1; 21], "22 wraps in 2 s");
    assert_eq!(wraps(Pin::new(1, 1)), [2; 10]);
}

/// Spans of P1.2, which is TA1, in ticks, with TACCR0 = 100 - 1 (or 100 in up/down mode) and TACCR1 = `ccr1`.
fn output(mode: u16, ctl: u16, ccr1: u16) -> Vec<u64> {
    let mut p = Program::new();
    p.set_b(P1DIR, 4).set_b(P1SEL, 4).set(TACCR0, if ctl == 0x0214 { 99 } else { 100 });
    p.set(TACCR1, ccr1).set(TACCTL1, mode << 5).set(TACTL, ctl).sleep(LPM0);
    let mut m = p.machine();
    m.run(&Until::time(Picos(m.time().0 + 2 * MS)), &mut Silent);
    assert_eq!(slips(&m), [], "mode {mode}");
    spans(&m, P1_2, 1e12 / 750_000.0)
}

/// High and low by turns, as many ticks each, behind what comes of an output that begins low.
fn by_turns(spans: &[u64], high: u64, low: u64) -> bool {
    spans.len() > 8 && spans[2..].iter().zip([high, low].iter().cycle()).all(|(a, b)| a == b)
}

/// SLAU049 section 11.2.5 and its figures 11-12 and 11-14.
#[test]
fn output_units_move_their_pins_by_their_modes() {
    const UP: u16 = 0x0214;
    const UP_DOWN: u16 = 0x0234;
    assert_eq!(output(1, UP, 30), [], "set: it rises once and stays");
    for (mode, high, low) in [(2, 70, 30), (3, 70, 30), (4, 100, 100), (6, 30, 70), (7, 30, 70)] {
        let spans = output(mode, UP, 30);
        assert!(by_turns(&spans, high, low), "mode {mode}: {spans:?}");
    }
    assert_eq!(output(5, UP, 30), [], "reset: it never rises");
    assert_eq!(output(7, UP, 0), [], "a duty cycle of none");
    let spans = output(7, UP, 99);
    assert!(by_turns(&spans, 99, 1), "{spans:?}");
    // Up and down: a period of 200, TACCR1 passed twice in it, TACCR0 at the turn.
    for (mode, high, low) in [(2, 60, 140), (3, 130, 70), (6, 140, 60), (7, 70, 130)] {
        let spans = output(mode, UP_DOWN, 30);
        assert!(by_turns(&spans, high, low), "mode {mode} up and down: {spans:?}");
    }
}

#[test]
fn a_timers_output_starts_the_converter() {
    // TA1 rises each 1,000 ticks; each conversion toggles P1.0 by its interrupt.
    let mut p = Program::new();
    p.set_b(P1DIR, 1).set(ADC12CTL0, 0x0210).set(ADC12CTL1, 0x0604).set(ADC12IE, 1);
    p.op("BIS", Imm(2), Abs(ADC12CTL0));
    p.set(TACCR1, 500).set(TACCTL1, 0x0060).set(TACCR0, 999).set(TACTL, 0x0210);
    let again = p.here();
    p.sleep(LPM0 | GIE).back("JMP", again);
    p.handler(VECTOR_ADC12).op("MOV", Abs(ADC12MEM0), R(5)).op_b("XOR", Cg(1), Abs(P1OUT)).reti();
    let mut m = p.machine();
    m.adc_volts(0, 1.0);
    m.run(&Until::time(Picos(m.time().0 + 20 * MS)), &mut Silent);
    let spans = spans(&m, P1_0, 1e12 / 750_000.0);
    assert!(spans.len() > 11, "{spans:?}");
    // ADC12OSC and the interrupt are not the timer's: a few of its ticks.
    assert!(spans.iter().all(|s| s.abs_diff(1000) <= 3), "{spans:?}");
    assert_eq!(slips(&m), []);
    // In the modes that do not repeat, ENC has to fall and rise first.
    let mut once = Program::new();
    once.set(ADC12CTL0, 0x0210).set(ADC12CTL1, 0x0600).op("BIS", Imm(2), Abs(ADC12CTL0));
    once.set(TACCR1, 50).set(TACCTL1, 0x0060).set(TACCR0, 99).set(TACTL, 0x0210).nops(2000).halt();
    let mut m = once.machine();
    m.adc_volts(0, 1.0);
    halt(&mut m);
    assert_eq!(m.ledger().event(m.vocabulary().find_event("adc12.conversion").unwrap()), 1);
}

#[test]
fn channels_without_a_voltage_are_asked_for_at_once() {
    // Channels 1, 3 and 4 in a sequence.
    let mut p = Program::new();
    p.set(ADC12CTL0, 0x0090).set(ADC12CTL1, 0x0202);
    p.set_b(ADC12MCTL0, 1).set_b(ADC12MCTL0 + 1, 3).set_b(ADC12MCTL0 + 2, 0x84);
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_set(ADC12IFG, 4).halt();
    let mut m = p.machine();
    m.adc_volts(3, 1.0);
    let said = fault_in(&mut m);
    assert!(said.contains("A1 has no voltage") && said.contains("(1, 4)"), "{said}");
    assert!(said.contains("`--adc 1=1.2V --adc 4=1.2V`"), "{said}");
}

#[test]
fn clocks_that_a_pin_should_carry_are_named() {
    let mut p = Program::new();
    p.set_b(P5SEL, 0x70).set_b(P5DIR, 0x70).set_b(P5OUT, 0).set_b(P5OUT, 1);
    let m = p.run_halted();
    let said: Vec<String> = m.lints().iter().map(|l| l.kind.to_string()).collect();
    for (pin, clock) in [("P5.4", "MCLK"), ("P5.5", "SMCLK"), ("P5.6", "ACLK")] {
        let named = said.iter().filter(|s| s.starts_with(&format!("{pin} should carry {clock},")));
        assert_eq!(named.count(), 1, "{pin}: {said:?}");
    }
    assert!(matches!(m.lints()[0].kind, LintKind::ClockOutput { .. }));
}

/// TA1's input CCI1A is P1.2; rising edges, the interrupt off.
const CAPTURE: u16 = 0x4100;

#[test]
fn a_capture_of_a_pin_that_is_an_output_sees_what_the_chip_drives() {
    // TA1 toggles with TACCR1 and P1.2 carries it; TBCCR0 has no such pin, TACCR1 none but its own.
    let mut p = Program::new();
    p.set_b(P1DIR, 4)
        .set_b(P1SEL, 4)
        .set(TACCTL1, CAPTURE)
        .set(TACTL, 0x0220)
        .nops(8)
        .keep(TACCTL1);
    let m = p.run_halted();
    assert_eq!(slips(&m), [LintKind::CaptureOutput { pin: P1_2 }]);
    let said = m.lints()[0].kind.to_string();
    assert!(said.starts_with("capture armed on P1.2, which is an output"), "{said}");
    assert_eq!(kept(&m, 0) & 1, 0, "nothing moves the pin, nothing is captured");
    // As an input it is what a capture is for; armed before the pin is given to it, too.
    let mut p = Program::new();
    p.set(TACCTL1, CAPTURE).set_b(P1SEL, 4).set(TACTL, 0x0220).sleep(LPM0);
    let mut m = p.machine();
    m.set_pin(P1_2, Some(false));
    m.run(&Until::time(Picos(m.time().0 + MS)), &mut Silent);
    m.set_pin(P1_2, Some(true));
    m.run(&Until::time(Picos(m.time().0 + MS)), &mut Silent);
    assert_eq!(slips(&m), []);
    assert_eq!(m.register_value(TACCTL1, 2).unwrap() & 1, 1);
}

#[test]
fn an_edge_that_a_capture_waits_for_at_a_pin_it_was_not_given_is_told() {
    let mut p = Program::new();
    p.set(TACCTL1, CAPTURE).set(TACTL, 0x0220).sleep(LPM0);
    let mut m = p.machine();
    for level in [false, true, false] {
        m.set_pin(P1_2, Some(level));
        m.run(&Until::time(Picos(m.time().0 + MS)), &mut Silent);
    }
    assert_eq!(slips(&m), [LintKind::CaptureUnselected { pin: P1_2 }]);
    assert_eq!(m.register_value(TACCTL1, 2).unwrap() & 1, 0, "it never came to the timer");
}

#[test]
fn dma_into_flash_is_told_as_the_controllers() {
    let mut p = Program::new();
    p.set(DMA0SA, RAM as u16).set(DMA0DA, FLASH_DATA as u16).set(DMA0SZ, 1);
    p.set(DMA0CTL, 0x1000 | 0x11).nops(20).halt();
    let said = fault_in(&mut p.machine());
    assert!(said.starts_with("DMA transfer from 0x01100 to 0x08000: store to flash"), "{said}");
}

#[test]
fn a_sleep_that_nothing_can_end_says_why() {
    let asleep = |p: &mut Program| {
        let mut m = p.machine();
        m.run(&Until::time(Picos(m.time().0 + MS)), &mut Silent);
        m.asleep_for_good().unwrap_or_default()
    };
    let deaf = asleep(Program::new().sleep(LPM4));
    assert!(deaf.contains("(lpm4) with GIE in SR clear"), "{deaf}");
    let still = asleep(Program::new().sleep(LPM3 | GIE));
    assert!(still.contains("(lpm3) and nothing can wake it"), "{still}");
    // SMCLK stands in LPM3 unless a block asks for it, as Timer_A does; without its interrupt it wakes nobody.
    assert!(
        asleep(Program::new().set(TACTL, 0x0220).sleep(LPM3 | GIE)).contains("nothing can wake")
    );
    assert_eq!(asleep(Program::new().set(TACTL, 0x0222).sleep(LPM0 | GIE)), "");
    assert_eq!(asleep(Program::new().set_b(P1IE, 1).sleep(LPM4 | GIE)), "", "a pin may");
    assert_eq!(asleep(&mut Program::new()), "", "it is awake");
}

fn overclocked(p: &Program) -> Machine {
    let mut device = device();
    device.set_timing("overclock", "true").unwrap();
    let mut m = Machine::new(&device);
    p.store_in(&mut m);
    m
}

#[test]
fn a_clock_slightly_above_its_limit_runs_by_permission_with_a_remark() {
    // The fastest DCO with its internal resistor, some 4.9 MHz, at a supply that allows 4.4.
    let mut p = Program::new();
    p.set_b(DCOCTL, 0xE0).set_b(BCSCTL1, 0x87).nops(20).halt();
    let mut refused = p.machine();
    refused.set_vcc(1.9);
    let said = fault_in(&mut refused);
    assert!(said.contains("exceeds the") && said.contains("`--allow overclock`"), "{said}");
    let mut allowed = overclocked(&p);
    allowed.set_vcc(1.9);
    halt(&mut allowed);
    assert!(slips(&allowed).contains(&LintKind::Overclocked), "{:?}", slips(&allowed));
    // Far above, nobody knows what it does.
    let mut p = Program::new();
    p.set_b(BCSCTL1, 0x04).nops(200).set_b(BCSCTL2, 0x80).nops(20).halt();
    let mut far = overclocked(&p);
    far.fit_crystal("xt2", 8_000_000).unwrap();
    far.set_vcc(1.9);
    let said = fault_in(&mut far);
    assert!(said.contains("exceeds the") && !said.contains("--allow"), "{said}");
}
