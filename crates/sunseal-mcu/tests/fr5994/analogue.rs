// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of ADC12_B and REF_A.

use crate::asm::Arg::*;
use crate::support::*;

/// Converts channel A2 into memory 0 with the given MCTL bits, 2 V at the pin.
fn convert(mctl: u16, reference: Option<u16>) -> Program {
    let mut p = Program::new();
    if let Some(select) = reference {
        p.set(REFCTL0, select | 1).wait_set(REFCTL0, 0x1000);
    }
    p.set(ADC12CTL0, 0x0210).set(ADC12CTL1, 0x0200).set(ADC12MCTL0, 2 | mctl);
    p.op("BIS", Imm(3), Abs(ADC12CTL0));
    p.wait_clear(ADC12CTL1, 1).keep(ADC12IFGR0).keep(ADC12MEM0).keep(ADC12IFGR0).keep(ADC12IFGR2);
    p
}

fn result(p: &mut Program, volts: f64) -> [u16; 4] {
    p.halt();
    let mut m = p.machine();
    m.adc_volts(2, volts);
    halt(&mut m);
    [0, 1, 2, 3].map(|n| kept(&m, n))
}

#[test]
fn a_voltage_becomes_a_code_against_supply_or_reference() {
    let [before, code, after, _] = result(&mut convert(0, None), 1.5);
    assert_eq!((before, after), (1, 0), "reading the memory clears its flag");
    assert!(code.abs_diff(2048) <= 1, "{code}");
    let [_, code, ..] = result(&mut convert(0x0100, Some(0x20)), 1.0);
    assert!(code.abs_diff((1.0 / 2.5 * 4095.0) as u16) <= 1, "{code}");
}

#[test]
fn the_window_comparator_tells_below_inside_and_above() {
    for (volts, flag) in [(0.2, 0x04), (1.5, 0x02), (2.9, 0x08)] {
        let mut p = Program::new();
        p.set(ADC12LO, 1000).set(ADC12HI, 3000);
        p.set(ADC12CTL0, 0x0210).set(ADC12CTL1, 0x0200).set(ADC12MCTL0, 0x4002);
        p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_clear(ADC12CTL1, 1).keep(ADC12IFGR2);
        assert_eq!(result(&mut p, volts)[0], flag);
    }
}

#[test]
fn a_conversion_takes_its_sampling_and_fourteen_clocks() {
    // ADC12CLK = MODOSC, ADC12SHT0 = 2: 16 + 14 cycles of 4.8 MHz, 6.25 us.
    let mut p = convert(0, None);
    p.halt();
    let mut m = p.machine();
    m.adc_volts(2, 1.0);
    halt(&mut m);
    let on = time_in(&m, "adc12", "on");
    assert!((6_200_000..7_300_000).contains(&on), "{on}");
    assert_eq!(events(&m, "adc12.conversion"), 1);
}

#[test]
fn half_the_supply_and_the_temperature_are_inside() {
    for (map, channel, volts) in [(0x40, 31, 1.5), (0x80, 30, 0.7625)] {
        let mut p = Program::new();
        p.set(ADC12CTL0, 0x0210)
            .set(ADC12CTL1, 0x0200)
            .set(ADC12CTL3, map)
            .set(ADC12MCTL0, channel);
        p.op("BIS", Imm(3), Abs(ADC12CTL0)).wait_clear(ADC12CTL1, 1).keep(ADC12MEM0);
        let code = result(&mut p, 0.0)[0];
        assert!(code.abs_diff((volts / 3.0 * 4095.0) as u16) <= 1, "{code}");
    }
}
