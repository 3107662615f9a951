/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What hal.c gives to the radio's side of it.
 */
#ifndef SUNSEAL_AVR_EVENTS_H
#define SUNSEAL_AVR_EVENTS_H

#include <stdint.h>

#define EVENT_TICK 0x01
#define EVENT_ALARM 0x02
#define EVENT_RADIO 0x04
#define EVENT_EEPROM 0x08

/* Set by interrupts. */
extern volatile uint8_t hal_events;

static inline void interrupts_off(void) {
    __asm__ volatile("cli" ::: "memory");
}

static inline void interrupts_on(void) {
    __asm__ volatile("sei" ::: "memory");
}

/* EVENT_ALARM so many milliseconds from now. */
void hal_alarm_set(uint16_t ms);
void hal_alarm_clear(void);

/* Idles until one of the events, which it clears; returns those that came. */
uint8_t hal_wait_for(uint8_t events);

#endif
