// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::stops::check;
use crate::support::*;

#[test]
fn runs_stop_at_skips_handlers_and_rewritten_code() {
    // Timer 0 interrupts a loop of skips over one and two words; then the boot section erases and fills page 0x200,
    // whose code runs before and behind.
    let elf = assemble(
        "jmp start\n .org 0x40\n jmp tick\n .org 0x200\n inc r22\n ret\n .org 0x400\n \
         tick: in r15, SREG\n inc r20\n out SREG, r15\n reti\n \
         start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 0xFF\n out SPL, r16\n ldi r16, 1\n out TIMSK, r16\n out TCCR0, r16\n \
         ldi r24, 40\n sei\n \
         again: inc r21\n sbrc r21, 0\n sts 0x200, r21\n sbrs r21, 1\n inc r23\n cpse r21, r21\n jmp start\n push r21\n pop r19\n \
         dec r24\n brne again\n call 0x200\n jmp boot\n .org 0x1e000\n \
         boot: ldi r30, 0\n ldi r31, 2\n cli\n ldi r16, 0x03\n rcall do\n ldi r16, 0x11\n rcall do\n \
         ldi r16, 0x08\n mov r0, r16\n ldi r16, 0x95\n mov r1, r16\n ldi r16, 0x01\n rcall do\n clr r1\n \
         ldi r16, 0x05\n rcall do\n ldi r16, 0x11\n rcall do\n call 0x200\n done: rjmp done\n \
         do: sts SPMCSR, r16\n spm\n w: lds r17, SPMCSR\n sbrc r17, 0\n rjmp w\n ret",
    );
    let mut m = load(&elf);
    let places = check(&mut m, 80_000);
    for label in ["tick", "done"] {
        assert!(places.contains(&elf.symbol(label).unwrap().addr), "{label}");
    }
    assert!(places.contains(&0x200) && !places.contains(&0x204));
    assert_eq!(m.read_mem(0x200, 2).unwrap(), [0x08, 0x95], "RET in place of INC");
    assert_eq!(r(&m, 22), 1, "so it ran once");
    assert!(r(&m, 20) > 1, "interrupts came");
}

#[test]
fn runs_stop_behind_accesses_of_memory_registers_and_flash() {
    // Loads and stores of every form, the stack, I/O bits, registers as memory, LPM; timer 0 interrupts.
    let elf = assemble(
        "jmp start\n .org 0x40\n jmp tick\n .org 0x200\n tick: push r16\n in r16, SREG\n inc r20\n out SREG, r16\n pop r16\n \
         reti\n leaf: ret\n \
         start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 0xFF\n out SPL, r16\n ldi r16, 1\n out TIMSK, r16\n out TCCR0, r16\n \
         ldi r28, 0x80\n ldi r29, 2\n ldi r30, 0\n ldi r31, 2\n ldi r24, 40\n sei\n \
         again: movw r26, r28\n st X+, r24\n st -X, r24\n ld r5, X\n std Y+3, r24\n ldd r5, Y+3\n sts 0x300, r24\n \
         lds r6, 0x300\n sts 0x12, r24\n push r24\n rcall leaf\n pop r7\n lpm r8, Z+\n sbi PORTB, 1\n cbi PORTB, 1\n \
         in r9, PORTB\n out PORTC, r24\n dec r24\n brne again\n done: rjmp done",
    );
    let mut m = load(&elf);
    check(&mut m, 3_000);
    assert!(
        r(&m, 20) > 1 && r(&m, 18) == 1,
        "interrupts came, and a register was written as memory"
    );
}
