/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the LaunchPads of the FR5xx and FR6xx have in common: a lamp on P1.0, which is the trigger
 * of the measurement unit, and the FRAM's wait states.
 */
#ifndef SUNSEAL_LAUNCHPAD_H
#define SUNSEAL_LAUNCHPAD_H

#include "msp430fr5xx.h"

#define BOARD_TRIGGER BIT0 /* port 1 */

#define BOARD_HAS_WAIT_STATES
static inline void board_wait_states(uint8_t waits) {
    FRCTL0 = (uint16_t)(FRCTLPW | waits << 4);
}

#define BOARD_TRIGGER_OUT P1OUT
#define BOARD_TRIGGER_DIR P1DIR
#include "../../boards/trigger.h"

#endif
