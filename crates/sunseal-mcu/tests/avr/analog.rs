// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::support::*;

/// Cycles from the write of ADCSRA to ADIF, by polling with a loop of three cycles.
fn conversion(first: bool, adps: u32) -> u64 {
    let warm = "ldi r17, 0xC0 + PS\n out ADCSRA, r17\n v: sbis ADCSRA, 4\n rjmp v\n";
    let source = format!(
        ".equ PS, {adps}\n ldi r16, 0x40\n out ADMUX, r16\n sbi DDRB, 0\n {} ldi r17, 0xD0 + PS\n sbi PORTB, 0\n \
         out ADCSRA, r17\n w: sbis ADCSRA, 4\n rjmp w\n cbi PORTB, 0\n in r20, ADCL\n in r21, ADCH\n done: rjmp done",
        if first { "" } else { warm }
    );
    let elf = assemble(&source);
    let mut m = load(&elf);
    m.adc_volts(0, 1.5);
    finish(&mut m, &elf);
    assert_eq!(r(&m, 20) | r(&m, 21) << 8, 512, "1.5 of 3 V");
    let e = edges(&m);
    e[e.len() - 1].1 - e[e.len() - 2].1
}

#[test]
fn conversions_take_25_and_13_clocks_of_the_prescaler() {
    for (first, clocks) in [(true, 25), (false, 13)] {
        for (adps, divider) in [(3, 8), (7, 128)] {
            let got = conversion(first, adps);
            // Up to the next edge of the ADC clock, and the polling.
            let least = clocks * divider;
            assert!((least..=least + divider + 8).contains(&got), "{first} {adps}: {got}");
        }
    }
}

#[test]
fn results_are_adjusted_and_stay_while_half_read() {
    let elf = assemble(
        "ldi r16, 0xE0\n out ADMUX, r16\n ldi r17, 0xC3\n out ADCSRA, r17\n w: sbic ADCSRA, 6\n rjmp w\n in r18, ADCL\n \
         in r19, ADCH\n done: rjmp done",
    );
    let mut m = load(&elf);
    m.adc_volts(0, 1.28);
    finish(&mut m, &elf);
    // Half of the internal 2.56 V, left adjusted.
    assert_eq!((r(&m, 18), r(&m, 19)), (0x00, 0x80));
}

#[test]
fn free_running_conversions_follow_one_another_every_13_clocks() {
    let elf = assemble(
        "ldi r16, 0x40\n out ADMUX, r16\n sbi DDRB, 0\n ldi r17, 0xE4\n out ADCSRA, r17\n ldi r18, 6\n w: sbis ADCSRA, 4\n rjmp w\n \
         sbi ADCSRA, 4\n sbi PORTB, 0\n cbi PORTB, 0\n dec r18\n brne w\n done: rjmp done",
    );
    let mut m = load(&elf);
    m.adc_volts(0, 0.5);
    finish(&mut m, &elf);
    let rises: Vec<u64> = edges(&m).into_iter().filter(|e| e.2).map(|e| e.1).collect();
    for pair in rises.windows(2) {
        assert!((pair[1] - pair[0]).abs_diff(13 * 16) <= 4, "{rises:?}");
    }
}

#[test]
fn the_input_is_held_when_it_is_sampled() {
    // The first conversion's sample is 13.5 of its 25 clocks of 128 cycles away. A pin that switches the voltage falls
    // before and behind it.
    for (turns, expected) in [(380, 0), (480, 512)] {
        let elf = assemble(&format!(
            "sbi DDRB, 1\n sbi PORTB, 1\n ldi r16, 0x40\n out ADMUX, r16\n ldi r17, 0xC7\n out ADCSRA, r17\n ldi r24, lo8({turns})\n \
             ldi r25, hi8({turns})\n l: sbiw r24, 1\n brne l\n cbi PORTB, 1\n w: sbic ADCSRA, 6\n rjmp w\n in r20, ADCL\n \
             in r21, ADCH\n done: rjmp done"
        ));
        let mut m = load(&elf);
        m.adc_input(0, Box::new(|probe| if probe.pin("PB1".parse().unwrap()) { 1.5 } else { 0.0 }));
        finish(&mut m, &elf);
        assert_eq!(r(&m, 20) | r(&m, 21) << 8, expected, "{turns}");
    }
}

#[test]
fn a_channel_without_a_voltage_is_named() {
    let said =
        fault("ldi r16, 0x43\n out ADMUX, r16\n ldi r17, 0xC0\n out ADCSRA, r17\n l: rjmp l");
    assert!(said.contains("channel 3"), "{said}");
    let said = fault("ldi r16, 0x48\n out ADMUX, r16");
    assert!(said.contains("differential"), "{said}");
}
