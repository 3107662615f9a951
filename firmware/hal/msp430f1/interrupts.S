/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Interrupt handlers. In assembly, because they change the saved status register so that the
 * program goes on after RETI, which C cannot say.
 */
#include "chip.h"

#define FIFOP       0x01        /* P1.0, board.h */
#define LPM_BITS    0x00F0      /* SCG1 | SCG0 | OSCOFF | CPUOFF */

#define EVENT_ALARM 0x01        /* hal.c */
#define EVENT_RADIO 0x02

    ; Timer_B CCR0: the alarm of a sleep or of a radio timeout.
    .section .text.sunseal_isr_tb_ccr0,"ax",@progbits
    .global sunseal_isr_tb_ccr0
sunseal_isr_tb_ccr0:
    bis.b   #EVENT_ALARM, &hal_events
    bic     #LPM_BITS, 0(sp)
    reti

    ; Timer_B overflow: the high word of the uptime. Sleep goes on.
    .section .text.sunseal_isr_tb,"ax",@progbits
    .global sunseal_isr_tb
sunseal_isr_tb:
    tst     &TBIV               ; reading clears the flag
    inc     &hal_uptime_high
    reti

    ; Port 1: a frame of the radio.
    .section .text.sunseal_isr_port1,"ax",@progbits
    .global sunseal_isr_port1
sunseal_isr_port1:
    bic.b   #FIFOP, &P1IFG
    bis.b   #EVENT_RADIO, &hal_events
    bic     #LPM_BITS, 0(sp)
    reti
