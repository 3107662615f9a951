/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What duty.c wants of a device; duty_<device>.c has it. The timer runs on the watch crystal (where
 * the board has none, on the reference oscillator) through the sleep.
 */
#ifndef SUNSEAL_DUTY_H
#define SUNSEAL_DUTY_H

#include <stdint.h>

/* How often the timer has fired. Its handler counts and ends the sleep. */
extern volatile uint16_t duty_fired;

/* Raises the CPU's clock as near to mclk_khz as the device comes without being above it, starts the
 * crystal, and puts a radio to sleep that would wake by itself. */
void duty_begin(uint16_t mclk_khz);

/* Starts the timer; it fires so many times in a period. */
uint16_t duty_timer(uint32_t period_s);

/* A pause of so many milliseconds, 250 at most, in front of an operation, asleep: duty_lead behind
 * the firing that ends a period, then whatever is to happen before the pause, then duty_pause, at
 * once. The timer's next firing comes when it would have. duty_pause alone only before the first
 * operation. For boards with a coprocessor. */
void duty_lead(uint8_t ms);
void duty_pause(uint8_t ms);

/* Sleeps until duty_fired is not `seen`; at once if it is not already. */
void duty_sleep(uint16_t seen);

/* The longest time between two interrupts of a timer that counts to `most` and divides a period of
 * so many ticks: answers how many of them make a period. */
static inline uint16_t duty_divide(uint32_t ticks, uint32_t most) {
    uint16_t parts = (uint16_t)((ticks + most - 1) / most);
    while (ticks % parts != 0)
        parts++;
    return parts;
}

#endif
