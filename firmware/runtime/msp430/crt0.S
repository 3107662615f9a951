/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Start-up: stack, watchdog held, .data copied, .bss cleared, .noinit left as
 * it is, main called. When main returns the CPU stops in LPM4 with interrupts
 * off, from which only a reset leads out: the simulator reports it as halted.
 *
 * An interrupt handler is a function with one of the names in vectors.S;
 * all other vectors lead to sunseal_unexpected.
 */
#if defined(SUNSEAL_DEVICE_msp430f1611)
#define WDTCTL 0x0120 /* SLAU049, watchdog timer */
#else
#define WDTCTL 0x015C /* SLAU208 and SLAU367, WDT_A */
#endif

    .section .text.start,"ax",@progbits
    .global _start
    .type _start,@function
_start:
    mov     #__stack_top, sp
    mov     #0x5A80, &WDTCTL        ; WDTPW | WDTHOLD
    mov     #__data_load, r12
    mov     #__data_start, r13
1:  cmp     #__data_end, r13
    jhs     2f
    mov     @r12+, 0(r13)
    incd    r13
    jmp     1b
2:  mov     #__bss_start, r13
3:  cmp     #__bss_end, r13
    jhs     4f
    clr     0(r13)
    incd    r13
    jmp     3b
4:  call    #main
    .global sunseal_halt
sunseal_halt:
    mov     #0x00F0, sr             ; SCG1 | SCG0 | OSCOFF | CPUOFF, GIE clear
    jmp     sunseal_halt
    .size _start, . - _start
