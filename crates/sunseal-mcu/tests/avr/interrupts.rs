// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::{Pin, Stop, Until};
use sunseal_trace::Silent;

use crate::support::*;

/// Vectors INT0 (0x04), INT1 (0x08), TIMER2 OVF (0x28), USART0 UDRE (0x4C): each handler appends its letter at Y.
const LOG: &str = "rjmp start\n .org 0x04\n rjmp int0\n .org 0x08\n rjmp int1\n .org 0x28\n rjmp t2\n .org 0x4c\n rjmp udre\n \
    int0: ldi r20, 'A'\n st Y+, r20\n reti\n int1: ldi r20, 'B'\n st Y+, r20\n reti\n \
    t2: ldi r20, 'C'\n st Y+, r20\n reti\n udre: ldi r20, 'D'\n st Y+, r20\n cbi UCSR0B, 5\n reti\n \
    start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 0xFF\n out SPL, r16\n ldi r28, 0\n ldi r29, 2\n";

fn log(m: &sunseal_mcu::Machine) -> String {
    let bytes = m.read_mem(DATA + 0x200, 8).unwrap();
    bytes
        .iter()
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_lowercase())
        .map(|&b| char::from(b))
        .collect()
}

fn cleared(m: &mut sunseal_mcu::Machine) {
    m.write_mem(DATA + 0x200, &[0; 16]).unwrap();
}

#[test]
fn the_lower_vector_comes_first_and_the_program_gets_one_instruction_in_between() {
    // Falling edges at PD0 and PD1 by the program, timer 2 overflowed, the transmitter empty: then SEI.
    let elf = assemble(&format!(
        "{LOG} ldi r16, 0x0A\n sts EICRA, r16\n ldi r16, 3\n out EIMSK, r16\n out PORTD, r16\n out DDRD, r16\n \
         ldi r16, 0x40\n out TIMSK, r16\n ldi r16, 1\n out TCCR2, r16\n ldi r16, 0xFE\n out TCNT2, r16\n \
         ldi r16, 0x28\n out UCSR0B, r16\n clr r16\n out PORTD, r16\n clr r21\n clr r22\n \
         sei\n inc r21\n inc r21\n inc r21\n inc r21\n inc r21\n done: rjmp done"
    ));
    let mut m = load(&elf);
    cleared(&mut m);
    finish(&mut m, &elf);
    assert_eq!(log(&m), "ABCD");
    let mut m = load(&elf);
    cleared(&mut m);
    // In the third handler three instructions behind SEI have run: one behind it, one behind each RETI.
    let t2 = elf.symbol("t2").unwrap().addr;
    assert_eq!(m.run(&Until::pc(t2), &mut Silent), Stop::Pc(t2));
    assert_eq!(r(&m, 21), 3);
}

#[test]
fn entry_takes_four_cycles_and_the_vectors_jump_its_own() {
    // INT0 on a rising edge that the program makes: SBI (pin up behind its second cycle), then NOPs.
    let elf = assemble(
        "jmp start\n .org 0x04\n jmp int0\n int0: sbi PORTB, 0\n reti\n start: ldi r16, 0x10\n out SPH, r16\n \
         ldi r16, 3\n sts EICRA, r16\n ldi r16, 1\n out EIMSK, r16\n sbi DDRB, 0\n sbi DDRD, 0\n sei\n nop\n \
         sbi PORTD, 0\n nop\n nop\n nop\n done: rjmp done",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    let [raise, answer] = &edges(&m)[..] else { panic!("{:?}", edges(&m)) };
    assert_eq!((&raise.0[..], &answer.0[..]), ("PD0", "PB0"));
    // 4 of entry, 3 of JMP, 2 of SBI.
    assert_eq!(answer.1 - raise.1, 9);
}

#[test]
fn a_low_level_interrupts_as_long_as_it_is_low() {
    let elf = assemble(&format!(
        "{LOG} ldi r16, 1\n out EIMSK, r16\n sbi PORTD, 0\n nop\n nop\n sei\n nop\n done: rjmp done"
    ));
    let mut m = load(&elf);
    cleared(&mut m);
    finish(&mut m, &elf);
    assert_eq!(log(&m), "");
    let pd0: Pin = "PD0".parse().unwrap();
    m.set_pin(pd0, Some(false));
    let more = Until::cycles(m.cycles() + 60);
    assert_eq!(m.run(&more, &mut Silent), Stop::Cycles);
    m.set_pin(pd0, Some(true));
    let more = Until::cycles(m.cycles() + 60);
    assert_eq!(m.run(&more, &mut Silent), Stop::Cycles);
    let n = log(&m).len();
    assert!((3..=5).contains(&n), "{}", log(&m));
    // The main program gets one instruction between two handlers, so its loop still turns.
    assert_eq!(m.pc(), elf.symbol("done").unwrap().addr);
}

#[test]
fn vectors_move_to_the_boot_section_by_their_timed_sequence() {
    let elf = assemble(
        "rjmp start\n .org 0x04\n sbi PORTB, 0\n reti\n start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 0x02\n sts EICRA, r16\n \
         ldi r16, 1\n out EIMSK, r16\n sbi DDRB, 0\n sbi DDRB, 1\n sbi PORTD, 0\n sbi DDRD, 0\n \
         ldi r16, 1\n ldi r17, 2\n out MCUCR, r17\n in r18, MCUCR\n out MCUCR, r16\n out MCUCR, r17\n in r19, MCUCR\n \
         cbi PORTD, 0\n sei\n nop\n nop\n done: rjmp done\n .org 0x1e004\n sbi PORTB, 1\n reti",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19)), (0, 2));
    let pins: Vec<String> = edges(&m).into_iter().map(|e| e.0).collect();
    assert!(pins.contains(&"PB1".to_owned()) && !pins.contains(&"PB0".to_owned()), "{pins:?}");
}

#[test]
fn a_handler_that_enables_interrupts_is_itself_interrupted() {
    let elf = assemble(
        "rjmp start\n .org 0x04\n rjmp int0\n .org 0x08\n rjmp int1\n int0: inc r20\n reti\n \
         int1: cbi PORTD, 0\n sei\n nop\n nop\n mov r21, r20\n reti\n \
         start: ldi r16, 0x10\n out SPH, r16\n clr r20\n clr r21\n ldi r16, 0x0A\n sts EICRA, r16\n ldi r16, 3\n \
         out PORTD, r16\n out DDRD, r16\n out EIMSK, r16\n sei\n cbi PORTD, 1\n nop\n nop\n done: rjmp done",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    assert_eq!((r(&m, 20), r(&m, 21)), (1, 1));
}
