/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_SUPPLY_H
#define SUNSEAL_SUPPLY_H

#include <stdint.h>

/*
 * Waiting for the supply
 * ======================
 *
 * A part that starts where its supervisor lets go (1.88 V) falls back below it within
 * milliseconds: the store must be given time to fill before the work begins. MSP430FR5994: sleeps
 * in LPM3 and looks every 54 ms (512 periods of the VLO) by one conversion of 60 us, so that the
 * wait costs about a microampere and fills the store in light that feeds no more than that.
 *
 * Uses ADC12_B and REF_A, which are off afterwards, and WDT_A as an interval timer with its vector,
 * handed back as it was. Stack: 30 bytes. Static memory: none.
 */

/* The channel: the part's own supply, or 0 to 15 for a pin on which the board has the store's
 * voltage divided down to 1.2 V. */
#define SUNSEAL_SUPPLY 31

/* Codes of the ADC: 12 bits against 1.2 V. The supply is halved inside: up to 2400 mV. */
#define SUNSEAL_SUPPLY_MV(mv) ((uint16_t)((mv) * 4095UL / 2400))
#define SUNSEAL_SUPPLY_PIN_MV(mv) ((uint16_t)((mv) * 4095UL / 1200))

/* Returns when the channel's voltage is above a code of at most 4094: at once, or asleep until
 * then. Interrupts are on meanwhile and off behind it if they were. */
void sunseal_supply_wait(uint8_t channel, uint16_t above);

#endif
