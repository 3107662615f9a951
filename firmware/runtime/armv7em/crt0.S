/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Start-up of a Cortex-M4: floating-point unit on (its registers serve as a
 * spill), watchdog held, .data copied, .bss cleared, .noinit left as it is, main
 * called. When main returns the CPU waits for an interrupt with all of them off,
 * which only a reset ends: the simulator reports it as halted.
 *
 * A handler of an exception or an interrupt is a function named sunseal_isr_<n>
 * after its number in the table; all others lead to sunseal_unexpected.
 */
    .syntax unified
    .thumb

#define CPACR 0xE000ED88  /* DDI0403, B3.2.20 */
#define WDTCTL 0x4000480C /* SLAU356, WDT_A */
#define WDTPW_WDTHOLD 0x5A80

    .section .vectors,"a",%progbits
    .word   __stack_top
    .word   _start
    /* SLAS826H, table of NVIC interrupts: 16 of the core, 41 of the MSP432P401R. */
    .irp    number,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56
    .weak   sunseal_isr_\number
    .set    sunseal_isr_\number, sunseal_unexpected
    .word   sunseal_isr_\number
    .endr

    .section .text.start,"ax",%progbits
    .global _start
    .type _start,%function
_start:
    ldr     r0, =CPACR
    ldr     r1, [r0]
    orr     r1, r1, #0x00F00000
    str     r1, [r0]
    dsb
    isb
    ldr     r0, =WDTCTL
    movw    r1, #WDTPW_WDTHOLD
    strh    r1, [r0]
    ldr     r0, =__data_start
    ldr     r1, =__data_end
    ldr     r2, =__data_load
    b       2f
1:  ldr     r3, [r2], #4
    str     r3, [r0], #4
2:  cmp     r0, r1
    blo     1b
    ldr     r0, =__bss_start
    ldr     r1, =__bss_end
    movs    r3, #0
    b       4f
3:  str     r3, [r0], #4
4:  cmp     r0, r1
    blo     3b
    bl      main
    .global sunseal_halt
    .type sunseal_halt,%function
sunseal_halt:
    cpsid   i
5:  wfi
    b       5b
    .pool
    .size _start, . - _start

    /* An exception that nobody expects is a fault of the program: stay here, the
     * watchdog starts the node anew. */
    .section .text.sunseal_unexpected,"ax",%progbits
    .global sunseal_unexpected
    .type sunseal_unexpected,%function
sunseal_unexpected:
    b       sunseal_unexpected
