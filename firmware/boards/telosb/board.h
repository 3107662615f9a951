/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * TelosB; the same facts as in data/boards/telosb.toml.
 *
 *   P1.0         CC2420 FIFOP; P1.3 FIFO, P1.4 CCA, P4.1 SFD
 *   P2.0         GIO0: trigger of the measurement unit, high during the operation
 *   P3.1..P3.3   CC2420 SIMO, SOMI, SCLK (USART0), which the flash memory shares
 *   P3.6, P3.7   log, UART (USART1) over USB
 *   P4.2         CC2420 CSn; P4.5 VREG_EN, P4.6 RESETn
 *   P4.4         chip select of the flash memory
 *   P5.4..P5.6   LEDs, on while low
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "msp430f1611.h"

#define BOARD_TRIGGER BIT0       /* port 2 */
#define BOARD_RADIO_FIFOP BIT0   /* port 1 */
#define BOARD_RADIO_FIFO BIT3    /* port 1 */
#define BOARD_RADIO_CCA BIT4     /* port 1 */
#define BOARD_RADIO_SIMO BIT1    /* port 3 */
#define BOARD_RADIO_SOMI BIT2    /* port 3 */
#define BOARD_RADIO_SCLK BIT3    /* port 3 */
#define BOARD_LOG_TXD BIT6       /* port 3 */
#define BOARD_LOG_RXD BIT7       /* port 3 */
#define BOARD_RADIO_SFD BIT1     /* port 4 */
#define BOARD_RADIO_CSN BIT2     /* port 4 */
#define BOARD_FLASH_CSN BIT4     /* port 4 */
#define BOARD_RADIO_VREG_EN BIT5 /* port 4 */
#define BOARD_RADIO_RESETN BIT6  /* port 4 */
#define BOARD_LEDS 0x70          /* port 5 */
#define BOARD_BUTTON BIT7        /* port 2, pulled up */
#define BOARD_SERIAL_ID BIT4     /* port 2, pulled up */

/* 6 MHz want 2.7 V (SLAS368, figure 1), as writing flash does. */
#define BOARD_MCLK_KHZ 6000

/* Two AA cells, for the energy gate when the configuration has none: it is always open. */
#define BOARD_STORAGE_UF UINT32_C(0xFFFFFFFF)

#define BOARD_TRIGGER_OUT P2OUT
#define BOARD_TRIGGER_DIR P2DIR
#include "../trigger.h"

/* SLAU049, digital I/O. */
#define BOARD_PORTS(PORT)                                                                          \
    PORT(P1OUT, P1DIR, 0, BOARD_RADIO_FIFOP | BOARD_RADIO_FIFO | BOARD_RADIO_CCA)                  \
    PORT(P2OUT, P2DIR, 0, BOARD_SERIAL_ID | BOARD_BUTTON)                                          \
    PORT(P3OUT, P3DIR, BOARD_LOG_TXD, BOARD_RADIO_SOMI | BOARD_LOG_RXD)                            \
    PORT(P4OUT, P4DIR, BOARD_RADIO_CSN | BOARD_FLASH_CSN, BOARD_RADIO_SFD)                         \
    PORT(P5OUT, P5DIR, BOARD_LEDS, 0)                                                              \
    PORT(P6OUT, P6DIR, 0, 0)
#include "../pins.h"

#endif
