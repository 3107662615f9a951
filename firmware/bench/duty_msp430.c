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

#if defined(SUNSEAL_AES_FPGA)
/* Where the timer ends, by parts of a period; behind a pause it ends sooner, once. */
static uint16_t part_top;

static void whole_parts(void) {
    TBCCR0 = part_top;
}

void duty_lead(uint8_t ms) {
    (void)ms; /* duty_pause takes whole ticks, of 1/4096 s */
}

void duty_pause(uint8_t ms) {
    const uint16_t ticks = (uint16_t)((ms * (uint32_t)TICKS_HZ + 999) / 1000);
    const uint16_t seen = duty_fired;
    TBCCR0 = ticks - 1;
    duty_sleep(seen);
    duty_fired = seen; /* this firing is none of the period's */
    TBCCR0 = part_top - ticks;
}
#else
static void whole_parts(void) {}
#endif

uint16_t duty_timer(uint32_t period_s) {
    uint16_t parts = duty_divide(period_s * TICKS_HZ, 0x10000);
    TBCCR0 = (uint16_t)(period_s * TICKS_HZ / parts - 1);
#if defined(SUNSEAL_AES_FPGA)
    part_top = TBCCR0;
#endif
    TBCCTL0 = CCIE;
    TBCTL = ACLK_BY_8_UP;
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
    return parts;
}

void duty_sleep(uint16_t seen) {
    __asm__ volatile("dint\n\tnop" ::: "memory");
    while (duty_fired == seen) {
        /* Interrupts on and asleep in one instruction. */
        __asm__ volatile("bis %0, sr\n\tnop\n\tdint\n\tnop" ::"i"(LPM3_GIE) : "memory");
    }
    whole_parts();
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
}
