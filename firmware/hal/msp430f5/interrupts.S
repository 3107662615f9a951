/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Interrupt handlers. In assembly, because they change the saved status register
 * so that the program goes on after RETI, which C cannot say; clang has no
 * __bic_SR_register_on_exit.
 */
#define P1IFG       0x021C
#define TA0CTL      0x0340
#define TAIFG       0x0001
#define TB0CCTL6    0x03CE
#define TB0CCR6     0x03DE
#define CCIE        0x0010
#define CAPTURED    0x0003      /* COV | CCIFG */
#define LPM_BITS    0x00F0      /* SCG1 | SCG0 | OSCOFF | CPUOFF */
#define GDO0        0x80        /* P1.7, board.h */

#define EVENT_ALARM 0x01        /* hal.c */
#define EVENT_RADIO 0x02
#define EVENT_CAPTURE 0x04

    ; Timer1_A CCR0: the alarm of a sleep or of a radio timeout.
    .section .text.sunseal_isr_timer1_a0,"ax",@progbits
    .global sunseal_isr_timer1_a0
sunseal_isr_timer1_a0:
    bis.b   #EVENT_ALARM, &hal_events
    bic     #LPM_BITS, 0(sp)
    reti

    ; Timer0_A overflow: the high word of the uptime. Sleep goes on.
    .section .text.sunseal_isr_timer0_a1,"ax",@progbits
    .global sunseal_isr_timer0_a1
sunseal_isr_timer0_a1:
    bic     #TAIFG, &TA0CTL
    inc     &hal_uptime_high
    reti

    ; Port 1: the radio's end of packet.
    .section .text.sunseal_isr_port1,"ax",@progbits
    .global sunseal_isr_port1
sunseal_isr_port1:
    bic.b   #GDO0, &P1IFG
    bis.b   #EVENT_RADIO, &hal_events
    bic     #LPM_BITS, 0(sp)
    reti

    ; Timer0_B CCR6: an edge of the slow clock, timed. The last one wakes.
    .section .text.sunseal_isr_timer0_b1,"ax",@progbits
    .global sunseal_isr_timer0_b1
sunseal_isr_timer0_b1:
    push    r15
    mov     &hal_capture_next, r15
    mov     &TB0CCR6, 0(r15)
    bic     #CAPTURED, &TB0CCTL6
    incd    r15
    mov     r15, &hal_capture_next
    cmp     &hal_capture_end, r15
    jne     1f
    bic     #CCIE, &TB0CCTL6
    bis.b   #EVENT_CAPTURE, &hal_events
    bic     #LPM_BITS, 2(sp)
1:  pop     r15
    reti
