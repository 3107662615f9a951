/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Start-up of the ATmega128: zero register, stack, .data copied, .bss cleared,
 * .noinit left as it is, main called. When main returns the CPU sleeps in
 * power-down with interrupts off, from which only a reset leads out: the
 * simulator reports it as halted.
 *
 * An interrupt handler is a function named as GCC names it (__vector_1 ...);
 * all other vectors lead to sunseal_unexpected.
 */
#define SPL 0x3D /* I/O addresses: 2467X, register summary */
#define SPH 0x3E
#define SREG 0x3F
#define MCUCR 0x35
#define RAMPZ 0x3B
#define SE_AND_POWER_DOWN 0x30 /* SE | SM1 */

    .section .vectors,"ax",@progbits
    .global _start
    .type _start,@function
_start:
    jmp     sunseal_start
    .irp    number,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34
    .weak   __vector_\number
    .set    __vector_\number, sunseal_unexpected
    jmp     __vector_\number
    .endr
    .size _start, . - _start

    ; GCC asks for libgcc's copying by these names; ours stands below.
    .global __do_copy_data
    .global __do_clear_bss
    .section .text.start,"ax",@progbits
    .type sunseal_start,@function
sunseal_start:
__do_copy_data:
__do_clear_bss:
    clr     r1
    out     SREG, r1
    ldi     r28, lo8(__stack_top)
    ldi     r29, hi8(__stack_top)
    out     SPH, r29
    out     SPL, r28
    ldi     r26, lo8(__data_start)
    ldi     r27, hi8(__data_start)
    ldi     r30, lo8(__data_load)
    ldi     r31, hi8(__data_load)
    ldi     r16, hh8(__data_load)
    out     RAMPZ, r16
    ldi     r17, hi8(__data_end)
    rjmp    2f
1:  elpm    r0, Z+
    st      X+, r0
2:  cpi     r26, lo8(__data_end)
    cpc     r27, r17
    brne    1b
    out     RAMPZ, r1
    ldi     r26, lo8(__bss_start)
    ldi     r27, hi8(__bss_start)
    ldi     r17, hi8(__bss_end)
    rjmp    4f
3:  st      X+, r1
4:  cpi     r26, lo8(__bss_end)
    cpc     r27, r17
    brne    3b
    call    main
    .global sunseal_halt
sunseal_halt:
    cli
    ldi     r16, SE_AND_POWER_DOWN
    out     MCUCR, r16
    sleep
    rjmp    sunseal_halt
    .size sunseal_start, . - sunseal_start

    ; An interrupt that nobody expects is a fault of the program: stay here, the
    ; watchdog starts the node anew.
    .section .text.sunseal_unexpected,"ax",@progbits
    .global sunseal_unexpected
sunseal_unexpected:
    rjmp    sunseal_unexpected
