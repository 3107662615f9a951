/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Start-up of a Cortex-M4: floating-point unit on (its registers serve as a
 * spill), a watchdog that runs after a reset held, .data copied, .bss cleared, .noinit left as it is, main
 * called. When main returns the CPU waits for an interrupt with all of them off,
 * which only a reset ends: the simulator reports it as halted.
 *
 * A handler of an exception or an interrupt is a function named sunseal_isr_<n>
 * after its number in the table; all others lead to sunseal_unexpected.
 */
    .syntax unified
    .thumb

#define CPACR 0xE000ED88 /* DDI0403, B3.2.20 */

#if defined(SUNSEAL_DEVICE_msp432p401r)
#define WDTCTL 0x4000480C /* SLAU356, WDT_A */
#define WDTPW_WDTHOLD 0x5A80
#elif !defined(SUNSEAL_DEVICE_stm32l476rg)
#error "the vector table of this device is not known: define SUNSEAL_DEVICE_<device>"
#endif

    .macro  handlers numbers:vararg
    .irp    number,\numbers
    .weak   sunseal_isr_\number
    .set    sunseal_isr_\number, sunseal_unexpected
    .word   sunseal_isr_\number
    .endr
    .endm

    .section .vectors,"a",%progbits
    .word   __stack_top
    .word   _start
    /* 16 of the core, 41 of the MSP432P401R (SLAS826H, table of NVIC interrupts), 82 of the STM32L476
     * (RM0351, table of the vectors). */
    handlers 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56
#if defined(SUNSEAL_DEVICE_stm32l476rg)
    handlers 57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97
#endif

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
#ifdef WDTCTL
    ldr     r0, =WDTCTL
    movw    r1, #WDTPW_WDTHOLD
    strh    r1, [r0]
#endif
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
