/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * TelosB: the trigger is GIO0, P2.0; the same facts as in data/boards/telosb.toml.
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdint.h>

#define BOARD_TRIGGER 0x01
/* SLAS368, port P2. */
#define TRIGGER_OUT (*(volatile uint8_t *)0x0029)
#define TRIGGER_DIR (*(volatile uint8_t *)0x002A)

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
