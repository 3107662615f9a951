/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP430FR5994 with a CC2500; the same facts as in data/boards/msp430fr5994-launchpad.toml.
 *
 *   P1.0         LED1: trigger of the measurement unit, high during the operation
 *   P1.3 (A3)    half the storage voltage, while the divider is on
 *   P1.4         divider of the storage voltage, high = on
 *   P2.0, P2.1   log, UART (eUSCI_A0) over USB
 *   P5.0..P5.3   CC2500 SIMO, SOMI, SCLK (eUSCI_B1), CSn
 *   P6.1, P6.2   CC2500 GDO0, GDO2
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "launchpad.h"

#define BOARD_STORAGE_SENSE BIT3   /* port 1 */
#define BOARD_STORAGE_CHANNEL 3    /* ADC12_B, A3 */
#define BOARD_STORAGE_DIVIDER BIT4 /* port 1 */
#define BOARD_LOG_TXD BIT0         /* port 2 */
#define BOARD_LOG_RXD BIT1         /* port 2 */
#define BOARD_RADIO_SIMO BIT0      /* port 5 */
#define BOARD_RADIO_SOMI BIT1      /* port 5 */
#define BOARD_RADIO_SCLK BIT2      /* port 5 */
#define BOARD_RADIO_CSN BIT3       /* port 5 */
#define BOARD_RADIO_GDO0 BIT1      /* port 6 */
#define BOARD_RADIO_GDO2 BIT2      /* port 6 */

#define BOARD_RADIO_CSN_OUT P5OUT
#define BOARD_RADIO_SOMI_IN P5IN
#define BOARD_RADIO_GDO0_IFG P6IFG
#define BOARD_RADIO_GDO0_IE P6IE

/* The divider halves; 5.0 V on the capacitor are the 2.5 V of the reference. */
#define BOARD_STORAGE_DIVIDER_RATIO 2
#define BOARD_ADC_REFERENCE_MV 2500

/* The store, for the energy gate when the configuration has none: 0.22 F on the board. */
#define BOARD_STORAGE_UF 220000UL

/* Coupons of the node in FRAM that programs leave alone (link.ld): at most so many. */
#define BOARD_COUPON_FRAM_SLOTS 24

/* Every pin that nothing drives is an output at 0, so that no input floats (SLAU367, digital I/O,
 * "Configuration of unused port pins"). PJ stays with JTAG and the crystal. */
static inline void board_pins_init(void) {
    PAOUT = 0;
    PBOUT = 0;
    P5OUT = BOARD_RADIO_CSN;
    P6OUT = 0;
    PDOUT = 0;
    P1DIR = (uint8_t)~BOARD_STORAGE_SENSE;
    P1SEL0 = BOARD_STORAGE_SENSE; /* both: the converter's input */
    P1SEL1 = BOARD_STORAGE_SENSE;
    P2DIR = (uint8_t)~BOARD_LOG_RXD;
    PBDIR = 0xFFFF;
    P5DIR = (uint8_t)~BOARD_RADIO_SOMI;
    P6DIR = (uint8_t)~(BOARD_RADIO_GDO0 | BOARD_RADIO_GDO2);
    PDDIR = 0xFFFF;
}

#endif
