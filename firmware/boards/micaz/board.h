/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MICAz: the trigger is PW0, PC0; the same facts as in data/boards/micaz.toml.
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdint.h>

#define BOARD_TRIGGER 0x01
/* 2467X, register summary: PORTC and DDRC. */
#define TRIGGER_OUT (*(volatile uint8_t *)0x35)
#define TRIGGER_DIR (*(volatile uint8_t *)0x34)

static inline void board_trigger_init(void) {
    TRIGGER_OUT &= (uint8_t)~BOARD_TRIGGER;
    TRIGGER_DIR |= BOARD_TRIGGER;
}
static inline void board_trigger_high(void) {
    TRIGGER_OUT |= BOARD_TRIGGER;
}
static inline void board_trigger_low(void) {
    TRIGGER_OUT &= (uint8_t)~BOARD_TRIGGER;
}

#endif
