/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define ISR_ALARM sunseal_isr_ta1_ccr0
#define ISR_UPTIME sunseal_isr_ta0
#define ISR_CAPTURE sunseal_isr_tb0
#define ISR_GDO0 sunseal_isr_port1
#define GDO0 0x80 /* P1.7, board.h */
#define GDO0_IFG P1IFG
#define TB0CCTL_ACLK TB0CCTL6
#define TB0CCR_ACLK  TB0CCR6

#include "msp430/interrupts.inc"
