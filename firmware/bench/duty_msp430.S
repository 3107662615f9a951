/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The timer's interrupt. In assembly, because it changes the saved status register so that the
 * program goes on after RETI.
 */
#if defined(SUNSEAL_DEVICE_msp430f1611)
#define HANDLER sunseal_isr_tb_ccr0
#else
#define HANDLER sunseal_isr_tb0_ccr0
#endif

#define LPM_BITS 0x00F0 /* SCG1 | SCG0 | OSCOFF | CPUOFF */

    .section .text.duty_handler,"ax",@progbits
    .global HANDLER
HANDLER:
    inc     &duty_fired
    bic     #LPM_BITS, 0(sp)
    reti

#if defined(SUNSEAL_AES_FPGA)
#include "chip.h"

    .section .text.duty_pause_handler,"ax",@progbits
    .global sunseal_isr_tb0
sunseal_isr_tb0:
    bic     #0x0011, &TB0CCTL1      ; CCIE, CCIFG: once
    inc     &duty_paused
    bic     #LPM_BITS, 0(sp)
    reti
#endif
