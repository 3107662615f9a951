/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The trigger of the measurement unit, high during the operation: the pin BOARD_TRIGGER of the port
 * BOARD_TRIGGER_OUT, whose directions are BOARD_TRIGGER_DIR. Included by a board.h.
 */
#ifndef SUNSEAL_BOARD_TRIGGER_H
#define SUNSEAL_BOARD_TRIGGER_H

static inline void board_trigger_init(void) {
    BOARD_TRIGGER_OUT &= (uint8_t)~BOARD_TRIGGER;
    BOARD_TRIGGER_DIR |= BOARD_TRIGGER;
#ifdef LOCKLPM5
    PM5CTL0 &= (uint16_t)~LOCKLPM5; /* until then the pins stay as the reset left them */
#endif
}
static inline void board_trigger_high(void) {
    BOARD_TRIGGER_OUT |= BOARD_TRIGGER;
}
static inline void board_trigger_low(void) {
    BOARD_TRIGGER_OUT &= (uint8_t)~BOARD_TRIGGER;
}

#endif
