// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC12_A with REF, as the node uses them: the store's voltage behind a switched divider. And CRC16.

use sunseal_mcu::{LintKind, Pin};

use crate::asm::Arg::*;
use crate::support::*;

const ON_16_CYCLES: u16 = 0x0210;
const SHP_MODOSC: u16 = 0x0200;
const P6_7: Pin = Pin::new(6, 7);
const PCOUT: u32 = 0x242;
const PCDIR: u32 = 0x244;

/// Converts A0 against the 2.5 V reference, `settle` NOPs after switching it on.
fn convert(settle: usize) -> Program {
    let mut p = Program::new();
    p.set(REFCTL0, 0x00A1)
        .set(ADC12CTL0, ON_16_CYCLES)
        .set(ADC12CTL1, SHP_MODOSC)
        .set(ADC12MCTL0, 0x10);
    p.nops(settle)
        .op("BIS", Imm(3), Abs(ADC12CTL0))
        .wait_set(ADC12IFG, 1)
        .keep(ADC12MEM0)
        .keep(ADC12IFG)
        .halt();
    p
}

#[test]
fn a_conversion_scales_to_the_reference() {
    for (volts, code) in [(0.0, 0), (1.25, 2048), (2.5, 4095), (3.0, 4095), (0.3, 491)] {
        let mut m = convert(100).machine();
        m.adc_volts(0, volts);
        halt(&mut m);
        assert_eq!(kept(&m, 0), code, "{volts} V");
        assert_eq!(kept(&m, 1), 0, "reading clears the flag");
        assert_eq!(m.lints(), []);
    }
}

#[test]
fn an_unsettled_reference_is_flagged() {
    let mut m = convert(0).machine();
    m.adc_volts(0, 1.0);
    halt(&mut m);
    assert_eq!(m.lint_count(LintKind::ReferenceNotReady), 1);
}

#[test]
fn the_2_5_v_reference_below_its_supply_is_flagged() {
    let mut m = convert(100).machine();
    m.set_vcc(2.6);
    m.adc_volts(0, 1.0);
    halt(&mut m);
    // AVCC(min) is 2.8 V for 2.5 V (SLAS655H, built-in reference).
    assert_eq!(m.lint_count(LintKind::ReferenceSupply), 1);
}

#[test]
fn the_store_is_seen_through_a_divider_that_a_pin_switches() {
    let mut p = Program::new();
    p.set_b(PCDIR + 1, 0).set_b(PCDIR, 0x80).set(REFCTL0, 0x00A1).set(ADC12CTL0, ON_16_CYCLES);
    p.set(ADC12CTL1, SHP_MODOSC).set(ADC12MCTL0, 0x10).nops(120);
    for level in [0x00, 0x80] {
        // P6 is the high half of port C: P5 and P6.
        p.set_b(PCDIR, 0).set_b(PCDIR + 1, 0x80).set_b(PCOUT + 1, level).op(
            "BIS",
            Imm(3),
            Abs(ADC12CTL0),
        );
        p.wait_set(ADC12IFG, 1).keep(ADC12MEM0);
    }
    p.halt();
    let mut m = p.machine();
    m.adc_input(0, Box::new(|probe| if probe.pin(P6_7) { 3.6 * 0.5 } else { 0.0 }));
    halt(&mut m);
    assert_eq!(kept(&m, 0), 0);
    assert_eq!(kept(&m, 1), (1.8f64 / 2.5 * 4095.0).round() as u16);
}

#[test]
fn conversion_time_is_sample_and_thirteen_clocks() {
    let mut p = Program::new();
    p.set_b(PADIR, 1).set(ADC12CTL0, ON_16_CYCLES).set(ADC12CTL1, 0x0218).set(ADC12IE, 1);
    p.set_b(PAOUT, 1).op("BIS", Imm(3), Abs(ADC12CTL0)).sleep(LPM0 | GIE).halt();
    p.handler(VECTOR_ADC12).set_b(PAOUT, 0).keep(ADC12IV).keep(ADC12MEM0).wake_and_return();
    let mut m = p.machine();
    m.adc_volts(0, 1.5);
    halt(&mut m);
    let log = m.pin_log();
    // SMCLK: 16 + 13 ticks; from the mark: BIS #N, &EDE 5, entry 6, MOV.B 4, and edges to align.
    let cycles = (log[1].time_ps - log[0].time_ps) as f64 * 1e-12 * 1_048_576.0;
    assert!((cycles - (16 + 13 + 5 + 6 + 4) as f64).abs() <= 1.0, "{cycles}");
    assert_eq!(kept(&m, 0), 6);
}

#[test]
fn the_supply_halved_is_channel_11_and_avcc_a_reference() {
    let mut p = Program::new();
    p.set(ADC12CTL0, ON_16_CYCLES).set(ADC12CTL1, SHP_MODOSC).set(ADC12MCTL0, 0x0B);
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_set(ADC12IFG, 1).keep(ADC12MEM0).halt();
    assert_eq!(kept(&p.run(), 0), 2048);
}

#[test]
fn a_sequence_fills_its_memories_and_ends_at_eos() {
    let mut p = Program::new();
    p.set(ADC12CTL0, ON_16_CYCLES | 0x80)
        .set(ADC12CTL1, SHP_MODOSC | 2)
        .set(ADC12MCTL0, 0x0100)
        .set(ADC12MCTL0 + 2, 0x0082);
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_set(ADC12IFG, 4).nops(200).keep(ADC12IFG);
    p.keep(ADC12MEM0).keep(ADC12MEM0 + 2).keep(ADC12MEM0 + 4).halt();
    let mut m = p.machine();
    for channel in 0..4 {
        m.adc_volts(channel, 0.5 * f64::from(channel + 1));
    }
    halt(&mut m);
    assert_eq!(kept(&m, 0), 7);
    let code = |v: f64| (v / 3.0 * 4095.0).round() as u16;
    assert_eq!([kept(&m, 1), kept(&m, 2), kept(&m, 3)], [code(0.5), code(1.0), code(1.5)]);
}

#[test]
fn a_channel_without_a_voltage_faults_and_settings_are_locked_by_enc() {
    let fault = fault_of(&convert(100));
    assert!(fault.contains("A0 has no voltage"), "{fault}");
    let mut p = Program::new();
    p.set(ADC12CTL0, ON_16_CYCLES | 2).set(ADC12CTL2, 0x0010).halt();
    assert_eq!(p.run().lint_count(LintKind::LockedBits), 1);
}

#[test]
fn adc_and_reference_are_components_with_states() {
    // How long each was on, and the machine.
    let times = |settle| {
        let mut m = convert(settle).machine();
        m.adc_volts(0, 1.0);
        halt(&mut m);
        let (ledger, v) = (m.ledger(), m.vocabulary());
        assert_eq!(ledger.event(v.find_event("adc12.conversion").unwrap()), 1);
        let on = v.find_state("on").unwrap();
        let each = ["adc12", "ref"].map(|name| {
            let own = v.find_component(name).unwrap();
            let spans = || ledger.spans().filter(|(k, _)| k.component == own);
            let all: u128 = spans().map(|(_, s)| s.time.0).sum();
            assert_eq!(all, m.time().0, "{name} is in one state or the other all the time");
            spans().filter(|(k, _)| k.state == on).map(|(_, s)| s.time.0).sum::<u128>()
        });
        (each, m.time().0)
    };
    // The reference is on from its setting to the end: a longer wait is a longer time. The converter is on while
    // it samples for 16 ticks of MODOSC (4.8 MHz) and converts for 13, with those that synchronise and store.
    let ([adc, reference], whole) = times(100);
    let ([adc_late, reference_late], whole_late) = times(1100);
    assert!(whole_late > whole && reference < whole);
    assert_eq!(adc_late, adc);
    assert_eq!(reference_late - reference, whole_late - whole);
    let ticks = adc as f64 * 4.8e-6;
    assert!((29.0..33.0).contains(&ticks), "{ticks}");
}

#[test]
fn crc16_over_its_check_string() {
    let mut p = Program::new();
    p.set(CRCINIRES, 0xFFFF);
    for b in b"123456789" {
        p.set_b(CRCDI + 2, *b);
    }
    p.keep(CRCINIRES).set(CRCINIRES, 0xFFFF);
    for b in b"123456789" {
        p.set_b(CRCDI, b.reverse_bits());
    }
    let m = p.keep(CRCINIRES).run_halted();
    // CRC-16/IBM-3740 of the CRC catalogue.
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0x29B1, 0x29B1]);
    assert_eq!(m.ledger().event(m.vocabulary().find_event("crc16.byte").unwrap()), 18);
}
