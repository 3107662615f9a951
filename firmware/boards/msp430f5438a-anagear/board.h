/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Wiring of the node of Mane 2014 as we build it; the same facts as in
 * data/boards/msp430f5438a-anagear.toml.
 *
 *   P1.0         trigger of the measurement unit, high during the operation
 *   P1.6, P1.7   CC2500 GDO2, GDO0
 *   P3.0..P3.3   CC2500 CSn, SIMO, SOMI, SCLK (USCI_B0)
 *   P5.6         log, UART transmit (USCI_A1)
 *   P6.0 (A0)    half the storage voltage, while the divider is on
 *   P6.7         divider of the storage voltage, high = on
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "msp430f5438a.h"

#define BOARD_TRIGGER BIT0         /* port 1 */
#define BOARD_RADIO_GDO2 BIT6      /* port 1 */
#define BOARD_RADIO_GDO0 BIT7      /* port 1 */
#define BOARD_RADIO_CSN BIT0       /* port 3 */
#define BOARD_RADIO_SIMO BIT1      /* port 3 */
#define BOARD_RADIO_SOMI BIT2      /* port 3 */
#define BOARD_RADIO_SCLK BIT3      /* port 3 */
#define BOARD_LOG_TXD BIT6         /* port 5 */
#define BOARD_STORAGE_SENSE BIT0   /* port 6, ADC12 channel A0 */
#define BOARD_STORAGE_DIVIDER BIT7 /* port 6 */

#define BOARD_RADIO_CSN_OUT P3OUT
#define BOARD_RADIO_SOMI_IN P3IN
#define BOARD_RADIO_GDO0_IFG P1IFG
#define BOARD_RADIO_GDO0_IE P1IE

/* The divider halves; 5.0 V on the capacitor are the 2.5 V of the reference. */
#define BOARD_STORAGE_DIVIDER_RATIO 2
#define BOARD_ADC_REFERENCE_MV 2500

/* The supercapacitor, for the energy gate when the configuration has none. */
#define BOARD_STORAGE_UF 100000UL /* 0.1 F */

/* Coupons of the node in segments of main flash that programs leave alone (link.ld); SLAS655: 10^4
 * erases at least. */
#define BOARD_COUPON_BLOCKS 4
#define BOARD_COUPON_BLOCK_BYTES 512
#define BOARD_COUPON_ERASES 10000
#define BOARD_COUPON_DRIVER sunseal_coupon_flash_msp430f5438a
/* Their programs keep the curve's table above 64 KB (link_coupons.ld). */
void hal_load_tables(void);
#define BOARD_LOAD_TABLES hal_load_tables

#define BOARD_TRIGGER_OUT P1OUT
#define BOARD_TRIGGER_DIR P1DIR
#include "../trigger.h"

/* Every pin that nothing drives is an output at 0, so that no input floats (SLAU208, digital I/O,
 * "Configuration of unused port pins"). PJ stays with JTAG. */
static inline void board_pins_init(void) {
    P3OUT = BOARD_RADIO_CSN;
    PAOUT = 0;
    P4OUT = 0;
    PCOUT = 0;
    PDOUT = 0;
    PEOUT = 0;
    P11OUT = 0;
    P1DIR = (uint8_t)~(BOARD_RADIO_GDO0 | BOARD_RADIO_GDO2);
    P2DIR = 0xFF;
    P3DIR = (uint8_t)~BOARD_RADIO_SOMI;
    P4DIR = 0xFF;
    P5DIR = 0xFF;
    P6DIR = (uint8_t)~BOARD_STORAGE_SENSE;
    P6SEL = BOARD_STORAGE_SENSE;
    PDDIR = 0xFFFF;
    PEDIR = 0xFFFF;
    P11DIR = 0xFF;
}

#endif
