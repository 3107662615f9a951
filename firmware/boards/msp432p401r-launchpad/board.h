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

/* SLAU356, FLCTL: wait states of each bank; buffers of 16 bytes for instructions and data. */
#define BANK0_RDCTL (*(volatile uint32_t *)0x40011010)
#define BANK1_RDCTL (*(volatile uint32_t *)0x40011014)
#define BUFI 0x10
#define BUFD 0x20

#define BOARD_HAS_WAIT_STATES
static inline void board_wait_states(uint8_t waits) {
    uint32_t control = waits == 0 ? 0 : (uint32_t)waits << 12 | BUFI | BUFD;
    BANK0_RDCTL = control;
    BANK1_RDCTL = control;
}

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
