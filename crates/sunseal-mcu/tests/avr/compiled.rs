// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::{Stop, Until};
use sunseal_trace::Silent;

use crate::support::*;

const PROGRAM: &str = r#"
#include <stdint.h>
#include <avr/io.h>
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <avr/pgmspace.h>
#include <avr/eeprom.h>

uint16_t initialised[4] = {1, 22, 333, 4444};
volatile uint8_t ticks;
volatile uint32_t result;
uint8_t EEMEM stored = 0x5A;
const char text[] PROGMEM = "sunseal";

ISR(TIMER1_COMPA_vect) { ticks++; }

int main(void) {
    OCR1A = 7372;
    TCCR1B = _BV(WGM12) | _BV(CS10);
    TIMSK = _BV(OCIE1A);
    set_sleep_mode(SLEEP_MODE_IDLE);
    sei();
    while (ticks < 10) sleep_mode();
    cli();
    uint32_t sum = 0;
    for (uint8_t i = 0; i < 4; i++) sum += initialised[i];
    for (uint8_t i = 0; i < 7; i++) sum = sum * 31 + pgm_read_byte(&text[i]);
    result = sum + eeprom_read_byte(&stored);
    for (;;) sleep_mode();
}
"#;

#[test]
fn a_compiled_program_loads_and_runs_with_its_data_where_they_belong() {
    let elf = build("c", PROGRAM, &["-Os", "-std=gnu99"]);
    assert_eq!(elf.symbol("initialised").unwrap().addr >> 16, 0x80);
    let mut m = load(&elf);
    let stored = elf.symbol("stored").unwrap().addr;
    assert_eq!(stored >> 16, 0x81);
    m.write_symbol(&elf, "stored", &[0x5A]).unwrap();
    // With interrupts off nothing wakes it again.
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted);
    let mut expected = (1_u32 + 22 + 333 + 4444, 0).0;
    for byte in b"sunseal" {
        expected = expected.wrapping_mul(31).wrapping_add(u32::from(*byte));
    }
    expected = expected.wrapping_add(0x5A);
    assert_eq!(m.read_symbol(&elf, "result").unwrap(), expected.to_le_bytes());
    assert_eq!(m.read_symbol(&elf, "ticks").unwrap(), [10]);
    // Ten periods of 7373 cycles, nearly all of them asleep.
    let time = micros(m.time());
    assert!((10_000.0..10_150.0).contains(&time), "{time}");
    assert!(m.cycles() < 6000, "{}", m.cycles());
}

#[test]
fn registers_have_the_names_that_gdb_knows() {
    let mut m = run("ldi r31, 0x12\n done: rjmp done");
    let names: Vec<String> = m.registers().iter().map(|r| r.name.to_string()).collect();
    assert_eq!(names.len(), 35);
    assert_eq!(names[31..], ["r31", "SREG", "SP", "PC"]);
    assert_eq!(m.register("r31").unwrap(), 0x12);
    m.set_register("SREG", 0x80).unwrap();
    m.set_register("SP", 0x1234).unwrap();
    m.set_register("PC", 0x100).unwrap();
    assert_eq!((m.register("SREG").unwrap(), m.sp(), m.pc()), (0x80, 0x80_1234, 0x100));
    assert!(m.set_register("R0", 0).is_err());
}

#[test]
fn an_image_for_another_place_is_refused() {
    let source = ".section .far,\"ax\"\n.global main\nmain: rjmp main\n";
    let elf = build("S", source, &["-nostartfiles", "-Wl,--section-start=.far=0x21000"]);
    let said = mica2().load(&elf).unwrap_err().to_string();
    assert!(said.contains("0x21000"), "{said}");
}
