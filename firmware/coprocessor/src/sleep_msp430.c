/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * LPM0 until the line IRQ rises, or until Timer1_A, on SMCLK / 8, has counted 35 ms: the
 * coprocessor may never answer.
 */
#include "board.h"
#include "engine.h"
#include "link.h"

#define LATE_MS 35

/* By its handler, coprocessor/src/wake_msp430.S. */
extern volatile uint8_t coprocessor_late;
volatile uint8_t coprocessor_late;

__attribute__((noinline)) static void idle(struct sunseal_coprocessor *engine) {
    uint16_t status;
    __asm__ volatile("mov sr, %0\n\tdint\n\tnop" : "=r"(status)::"memory");
    coprocessor_late = 0;
    TA1CCR0 = (uint16_t)(LATE_MS * (BOARD_MCLK_KHZ / 8UL));
    TA1CCTL0 = CCIE;
    TA1CTL = TASSEL__SMCLK | ID__8 | MC__UP | TACLR;
    link_watch(true);
    /* Interrupts on and asleep in one instruction: a result that is there already wakes at once. */
    __asm__ volatile("bis %0, sr\n\tnop\n\tdint\n\tnop" ::"i"(CPUOFF | GIE) : "memory");
    TA1CTL = MC__STOP;
    TA1CCTL0 = 0;
    if (coprocessor_late)
        engine->polls = engine->polls_max;
    __asm__ volatile("nop\n\tmov %0, sr\n\tnop" ::"r"(status) : "memory");
}

void sunseal_coprocessor_sleep(struct sunseal_coprocessor *engine) {
    if (engine->sleeps && engine->answer != 0 && !link_seen())
        idle(engine);
}
