/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Timer_B on ACLK / 8, and LPM3: SLAU049, SLAU208 and SLAU367, Timer_B, "Up mode".
 */
#include "chip.h"
#include "duty.h"

#ifndef SUNSEAL_DEVICE_msp430f1611
#define TBCTL TB0CTL
#define TBCCTL0 TB0CCTL0
#define TBCCR0 TB0CCR0
#endif
#define ACLK_BY_8_UP 0x01D4 /* TBSSEL_1 | ID_3 | MC_1 | TBCLR */
#define LPM3_GIE 0x00D8     /* SCG1 | SCG0 | CPUOFF | GIE */

#define TICKS_HZ (32768 / 8)

volatile uint16_t duty_fired;

/* Sleeps until a counter of interrupts is not `seen`. */
static inline __attribute__((always_inline)) void sleep_while(const volatile uint16_t *fired,
                                                              uint16_t seen) {
    __asm__ volatile("dint\n\tnop" ::: "memory");
    while (*fired == seen) {
        /* Interrupts on and asleep in one instruction. */
        __asm__ volatile("bis %0, sr\n\tnop\n\tdint\n\tnop" ::"i"(LPM3_GIE) : "memory");
    }
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
}

uint16_t duty_timer(uint32_t period_s) {
    uint16_t parts = duty_divide(period_s * TICKS_HZ, 0x10000);
    TBCCR0 = (uint16_t)(period_s * TICKS_HZ / parts - 1);
    TBCCTL0 = CCIE;
    TBCTL = ACLK_BY_8_UP;
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
    return parts;
}

void duty_sleep(uint16_t seen) {
    sleep_while(&duty_fired, seen);
}

#if defined(SUNSEAL_AES_FPGA)
/* Its handler counts, as duty_fired's does. */
extern volatile uint16_t duty_paused;
volatile uint16_t duty_paused;

void duty_lead(uint8_t ms) {
    (void)ms; /* compare 1 leaves the period alone */
}

/* The counter stands at 0, or at TBCCR0 with 0 to come: the CPU is faster than a tick. */
void duty_pause(uint8_t ms) {
    const uint16_t seen = duty_paused;
    TB0CCR1 = (uint16_t)((ms * (uint32_t)TICKS_HZ + 999) / 1000);
    TB0CCTL1 = CCIE;
    sleep_while(&duty_paused, seen);
}
#endif
