/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP432P401R with a CC2500; the same facts as in data/boards/msp432p401r-launchpad.toml.
 *
 *   P1.0         red LED: trigger of the measurement unit, high during the operation
 *   P1.2, P1.3   log, UART (eUSCI_A0) over USB
 *   P1.5..P1.7   CC2500 SCLK, SIMO, SOMI (eUSCI_B0)
 *   P2.4, P2.5   CC2500 GDO2, GDO0
 *   P3.0         CC2500 CSn
 *   P4.0 (A13)   half the storage voltage, while the divider is on
 *   P4.2         divider of the storage voltage, high = on
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "msp432p401r.h"

#define BOARD_TRIGGER BIT0         /* port 1 */
#define BOARD_LOG_RXD BIT2         /* port 1 */
#define BOARD_LOG_TXD BIT3         /* port 1 */
#define BOARD_RADIO_SCLK BIT5      /* port 1 */
#define BOARD_RADIO_SIMO BIT6      /* port 1 */
#define BOARD_RADIO_SOMI BIT7      /* port 1 */
#define BOARD_BUTTONS 0x12         /* port 1, P1.1 and P1.4: to ground */
#define BOARD_RADIO_GDO2 BIT4      /* port 2 */
#define BOARD_RADIO_GDO0 BIT5      /* port 2 */
#define BOARD_RADIO_CSN BIT0       /* port 3 */
#define BOARD_STORAGE_SENSE BIT0   /* port 4 */
#define BOARD_STORAGE_CHANNEL 13   /* ADC14, A13 */
#define BOARD_STORAGE_DIVIDER BIT2 /* port 4 */

/* The divider halves; 5.0 V on the capacitor are the 2.5 V of the reference. */
#define BOARD_STORAGE_DIVIDER_RATIO 2
#define BOARD_ADC_REFERENCE_MV 2500

/* The store, for the energy gate when the configuration has none. */
#define BOARD_STORAGE_UF 100000UL

/* At 16 MHz, 3.3 V and a converter of 85 %, measured on the simulator and rounded up by a quarter:
 * docs/reference/node.md. */
#define BOARD_ENERGIES
#if defined(NODE_secp160r1)
#define BOARD_KEYGEN_UJ 600
#define BOARD_SIGN_UJ 200
#else
#define BOARD_KEYGEN_UJ 700
#define BOARD_SIGN_UJ 350
#endif
#define BOARD_RADIO_UJ 1200

/* SLAU356, FLCTL: buffers of 16 bytes for instructions and data. */
#define BUFI 0x10
#define BUFD 0x20

/* Coupons of the node in sectors of bank 1 that programs leave alone (msp432p401r.ld); SLAS826H:
 * 20,000 erases at least. */
#define BOARD_COUPON_BLOCKS 2
#define BOARD_COUPON_BLOCK_BYTES 4096
#define BOARD_COUPON_ERASES 20000
#define BOARD_COUPON_DRIVER sunseal_coupon_flash_msp432p401r

#define BOARD_HAS_WAIT_STATES
static inline void board_wait_states(uint8_t waits) {
    uint32_t control = waits == 0 ? 0 : (uint32_t)waits << 12 | BUFI | BUFD;
    FLCTL_BANK0_RDCTL = control;
    FLCTL_BANK1_RDCTL = control;
}

#define BOARD_TRIGGER_OUT P1OUT
#define BOARD_TRIGGER_DIR P1DIR
#include "../trigger.h"

/* Every pin that nothing drives is an output at 0, so that no input floats (SLAU356, digital I/O,
 * "Configuration of unused port pins"). PJ stays with the crystals and JTAG. */
static inline void board_pins_init(void) {
    P1OUT = 0;
    P2OUT = 0;
    P3OUT = BOARD_RADIO_CSN;
    P4OUT = 0;
    PCOUT = 0;
    PDOUT = 0;
    PEOUT = 0;
    P1DIR = (uint8_t)~(BOARD_RADIO_SOMI | BOARD_LOG_RXD | BOARD_BUTTONS);
    P2DIR = (uint8_t)~(BOARD_RADIO_GDO0 | BOARD_RADIO_GDO2);
    P3DIR = 0xFF;
    P4DIR = (uint8_t)~BOARD_STORAGE_SENSE;
    P4SEL0 = BOARD_STORAGE_SENSE; /* both: the converter's input */
    P4SEL1 = BOARD_STORAGE_SENSE;
    PCDIR = 0xFFFF;
    PDDIR = 0xFFFF;
    PEDIR = 0xFFFF;
}

#endif
