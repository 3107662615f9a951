/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the LaunchPads of the FR5xx and FR6xx have in common: a lamp on P1.0, which is the trigger of the
 * measurement unit, and the FRAM's wait states.
 */
#ifndef SUNSEAL_LAUNCHPAD_H
#define SUNSEAL_LAUNCHPAD_H

#include "msp430fr5xx.h"

#define BOARD_TRIGGER BIT0 /* port 1 */

#define BOARD_HAS_WAIT_STATES
static inline void board_wait_states(uint8_t waits) {
    FRCTL0 = (uint16_t)(FRCTLPW | waits << 4);
}

static inline void board_trigger_init(void) {
    P1OUT &= (uint8_t)~BOARD_TRIGGER;
    P1DIR |= BOARD_TRIGGER;
    PM5CTL0 &= (uint16_t)~LOCKLPM5; /* until then the pins stay as the reset left them */
}
static inline void board_trigger_high(void) {
    P1OUT |= BOARD_TRIGGER;
}
static inline void board_trigger_low(void) {
    P1OUT &= (uint8_t)~BOARD_TRIGGER;
}

#endif
