/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP432P401R: the trigger is the red LED, P1.0; the same facts as in
 * data/boards/msp432p401r-launchpad.toml.
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdint.h>

#define BOARD_TRIGGER 0x01
/* SLAU356, digital I/O. */
#define TRIGGER_OUT (*(volatile uint8_t *)0x40004C02)
#define TRIGGER_DIR (*(volatile uint8_t *)0x40004C04)

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
