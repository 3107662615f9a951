/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP430FR5994: the trigger is LED1, P1.0; the same facts as in
 * data/boards/msp430fr5994-launchpad.toml.
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdint.h>

#define BOARD_TRIGGER 0x01
/* SLASE54, port P1; SLAU367, PMM. */
#define TRIGGER_OUT (*(volatile uint8_t *)0x0202)
#define TRIGGER_DIR (*(volatile uint8_t *)0x0204)
#define PM5CTL0 (*(volatile uint16_t *)0x0130)
#define LOCKLPM5 0x0001

/* SLAU367, FRCTL_A: password and NWAITS. */
#define FRCTL0 (*(volatile uint16_t *)0x0140)
#define FRCTLPW 0xA500

#define BOARD_HAS_WAIT_STATES
static inline void board_wait_states(uint8_t waits) {
    FRCTL0 = (uint16_t)(FRCTLPW | waits << 4);
}

static inline void board_trigger_init(void) {
    TRIGGER_OUT &= (uint8_t)~BOARD_TRIGGER;
    TRIGGER_DIR |= BOARD_TRIGGER;
    PM5CTL0 &= (uint16_t)~LOCKLPM5; /* until then the pins stay as the reset left them */
}
static inline void board_trigger_high(void) {
    TRIGGER_OUT |= BOARD_TRIGGER;
}
static inline void board_trigger_low(void) {
    TRIGGER_OUT &= (uint8_t)~BOARD_TRIGGER;
}

#endif
