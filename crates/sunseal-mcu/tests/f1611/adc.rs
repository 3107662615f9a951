// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC12 with its references and sequence modes.

use sunseal_mcu::LintKind;

use crate::asm::Arg::*;
use crate::support::*;

/// ADC12 on, sampled for 64 cycles of ADC12OSC, started by ADC12SC on channel 0.
fn single(mctl: u8, ctl0: u16) -> Program {
    let mut p = Program::new();
    p.set(ADC12CTL0, 0x0410 | ctl0).set(ADC12CTL1, 0x0200).set_b(ADC12MCTL0, mctl);
    p
}

fn convert(p: &mut Program) -> &mut Program {
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_set(ADC12IFG, 1).keep(ADC12MEM0).keep(ADC12IFG)
}

#[test]
fn a_conversion_against_the_supply() {
    let mut m = convert(&mut single(0, 0)).halt().machine();
    m.adc_volts(0, 0.75);
    halt(&mut m);
    assert_eq!(kept(&m, 0), 1024, "a quarter of 4095, rounded");
    assert_eq!(kept(&m, 1) & 1, 0, "reading ADC12MEM0 clears the flag");
    assert_eq!(m.ledger().event(m.vocabulary().find_event("adc12.conversion").unwrap()), 1);
}

#[test]
fn both_internal_references_and_their_slips() {
    let against = |ctl0: u16, wait: bool, vcc_v: f64| {
        let mut p = single(0x10, ctl0);
        if wait {
            // 17 ms at 0.75 MHz.
            p.op("MOV", Imm(5000), R(5));
            let again = p.here();
            p.op("SUB", Cg(1), R(5)).back("JNE", again);
        }
        let mut m = convert(&mut p).halt().machine();
        m.set_vcc(vcc_v);
        m.adc_volts(0, 0.75);
        halt(&mut m);
        (kept(&m, 0), slips(&m))
    };
    assert_eq!(against(0x0020, true, 3.0), (2048, vec![]), "1.5 V");
    assert_eq!(against(0x0060, true, 3.0), (1229, vec![]), "2.5 V");
    assert_eq!(against(0x0060, false, 3.0).1, [LintKind::ReferenceNotReady]);
    assert_eq!(against(0x0060, true, 2.5).1, [LintKind::ReferenceSupply]);
    assert_eq!(against(0x0000, true, 3.0).1, [LintKind::ReferenceNotReady], "off");
}

#[test]
fn the_temperature_sensor_and_half_the_supply() {
    let channel = |mctl: u8| kept(&convert(&mut single(mctl, 0)).run_halted(), 0);
    // 986 mV and 3.55 mV a degree at 25 degrees, of 3 V.
    assert_eq!(channel(10), (1.07475f64 / 3.0 * 4095.0).round() as u16);
    assert_eq!(channel(11), 2048);
}

#[test]
fn a_sequence_fills_its_memories_and_ends_at_eos() {
    let mut p = Program::new();
    // Sequence from ADC12MEM1, MSC, both sample times 4.
    p.set(ADC12CTL0, 0x0090).set(ADC12CTL1, 0x1202);
    p.set_b(ADC12MCTL0 + 1, 0).set_b(ADC12MCTL0 + 2, 1).set_b(ADC12MCTL0 + 3, 0x80 | 2);
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_set(ADC12IFG, 8);
    p.keep(ADC12IFG).keep(ADC12MEM0 + 2).keep(ADC12MEM0 + 4).keep(ADC12MEM0 + 6).halt();
    let mut m = p.machine();
    for (channel, volts) in [(0, 0.31), (1, 1.6), (2, 2.8)] {
        m.adc_volts(channel, volts);
    }
    halt(&mut m);
    assert_eq!(all_kept(&m), [0x0E, 423, 2184, 3822]);
}

#[test]
fn a_conversion_takes_sampling_and_thirteen_cycles() {
    // From MCLK (ADC12SSEL = 2), SHT0 = 64 cycles: 64 + 13 behind the start.
    let flagged = |nops: usize| {
        let mut p = Program::new();
        p.set(ADC12CTL0, 0x0410).set(ADC12CTL1, 0x0210).set_b(ADC12MCTL0, 11);
        p.op("BIS", Imm(3), Abs(ADC12CTL0)).nops(nops).keep(ADC12IFG);
        kept(&p.run_halted(), 0) & 1
    };
    // MOV &EDE reads in its third cycle.
    let first = (60..90).find(|n| flagged(*n) == 1).unwrap();
    assert_eq!(first, 64 + 13 - 3);
}

#[test]
fn its_interrupt_has_a_vector_register() {
    let mut p = single(11, 0);
    p.set(ADC12IE, 1).op("BIS", Imm(3), Abs(ADC12CTL0)).sleep(LPM0 | GIE).halt();
    p.handler(VECTOR_ADC12)
        .keep(ADC12IV)
        .keep(ADC12IV)
        .keep(ADC12MEM0)
        .keep(ADC12IV)
        .wake_and_return();
    // Only reading the result clears its flag, not the vector register.
    assert_eq!(all_kept(&p.run()), [6, 6, 2048, 0]);
}

#[test]
fn what_is_not_modelled_is_refused() {
    let mut p = single(0, 0);
    p.set(ADC12CTL1, 0).op("BIS", Imm(3), Abs(ADC12CTL0));
    assert!(fault_of(&p).contains("extended sample"), "{}", fault_of(&p));
    let mut p = single(4, 0);
    convert(&mut p);
    assert!(fault_of(&p).contains("A4 has no voltage"), "{}", fault_of(&p));
}
