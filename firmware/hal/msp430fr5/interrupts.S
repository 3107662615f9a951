/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define ISR_ALARM sunseal_isr_ta1_ccr0
#define ISR_UPTIME sunseal_isr_ta0
#define ISR_CAPTURE sunseal_isr_tb0
#define ISR_GDO0 sunseal_isr_port6
#define GDO0 0x02 /* P6.1, board.h */
#define GDO0_IFG P6IFG
#define TB0CCTL_ACLK TB0CCTL2
#define TB0CCR_ACLK  TB0CCR2

#include "msp430/interrupts.inc"

    ; Information memory of a device that was just programmed reads as erased flash does: FRAM keeps
    ; what stood there before.
    .section .info_erased,"a",@progbits
    .fill   192, 2, 0xFFFF          ; segments D, C and B
