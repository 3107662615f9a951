/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The interrupts that end the sleep: IRQ on port 6, and Timer1_A. In assembly, because they change
 * the saved status register so that the program goes on after RETI.
 */
#include "chip.h"

#define LPM_BITS 0x00F0 /* SCG1 | SCG0 | OSCOFF | CPUOFF */

    .section .text.coprocessor_ready,"ax",@progbits
    .global sunseal_isr_port6
sunseal_isr_port6:
    bic.b   #BIT1, &P6IE
    mov.b   #1, &coprocessor_ready
    bic     #LPM_BITS, 0(sp)
    reti

    .section .text.coprocessor_late,"ax",@progbits
    .global sunseal_isr_ta1_ccr0
sunseal_isr_ta1_ccr0:
    mov.b   #1, &coprocessor_late
    bic     #LPM_BITS, 0(sp)
    reti
