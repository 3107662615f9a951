// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::Pin;

use crate::support::*;

#[test]
fn an_output_is_read_back_one_instruction_late() {
    let m = run(
        "ldi r16, 0xFF\n out DDRA, r16\n ldi r17, 0x5A\n out PORTA, r17\n in r18, PINA\n in r19, PINA\n in r20, PORTA\n \
         done: rjmp done",
    );
    assert_eq!((r(&m, 18), r(&m, 19), r(&m, 20)), (0x00, 0x5A, 0x5A));
}

#[test]
fn pins_change_behind_the_instruction_with_their_cycle() {
    let m = run("sbi DDRB, 3\n sbi PORTB, 3\n nop\n cbi PORTB, 3\n done: rjmp done");
    assert_eq!(edges(&m), [("PB3".to_owned(), 4, true), ("PB3".to_owned(), 7, false)]);
}

#[test]
fn inputs_are_pulled_up_driven_or_low() {
    let elf = assemble(
        "ldi r16, 0x03\n out PORTC, r16\n nop\n in r18, PINC\n ldi r17, 4\n out SFIOR, r17\n nop\n nop\n in r19, PINC\n \
         done: rjmp done",
    );
    let mut m = load(&elf);
    let pin = |text: &str| text.parse::<Pin>().unwrap();
    m.set_pin(pin("PC1"), Some(false));
    m.set_pin(pin("PC7"), Some(true));
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19)), (0x81, 0x80));
    assert!(m.pin(pin("PC7")) && !m.pin(pin("PC1")));
}

#[test]
fn ports_f_and_g_lie_partly_in_the_extended_space() {
    let m = run(
        "ldi r16, 0xFF\n sts DDRF, r16\n sts PORTF, r16\n sts DDRG, r16\n sts PORTG, r16\n nop\n in r18, PINF\n \
         lds r19, PING\n lds r20, PORTG\n done: rjmp done",
    );
    assert_eq!((r(&m, 18), r(&m, 19), r(&m, 20)), (0xFF, 0x1F, 0x1F));
}

#[test]
fn sbi_writes_back_the_flags_that_it_read() {
    // ADIF is set by a conversion; SBI of ADIE clears it, as the datasheet warns.
    let elf = assemble(
        "ldi r16, 0x40\n out ADMUX, r16\n ldi r16, 0xC1\n out ADCSRA, r16\n w: sbis ADCSRA, 4\n rjmp w\n in r18, ADCSRA\n \
         sbi ADCSRA, 3\n in r19, ADCSRA\n done: rjmp done",
    );
    let mut m = load(&elf);
    m.adc_volts(0, 1.0);
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19)), (0x91, 0x89));
}
