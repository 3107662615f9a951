/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MICAz; the same facts as in data/boards/micaz.toml.
 *
 *   PA0..PA2     LEDs, on while low
 *   PA3          chip select of the flash memory; PD5, PD3, PD2 its clock, data in and out
 *   PA4          serial number chip, pulled up
 *   PA5, PA6     CC2420 VREG_EN, RESETn
 *   PB0..PB3     CC2420 CSn, SCLK, SIMO, SOMI; PB7 FIFO, PD4 SFD, PD6 CCA, PE6 FIFOP
 *   PC0          PW0: trigger of the measurement unit, high during the operation
 *   PE0, PE1     log, USART0
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "../mica.h"

#define BOARD_CRYSTAL_HZ 7372800UL
#define BOARD_MCLK_KHZ 7373 /* rounded */
#define BOARD_LOG_BAUD 115200UL

#define BOARD_RADIO_UJ 2000

#define BOARD_LEDS 0x07          /* port A */
#define BOARD_FLASH_CSN BIT3     /* port A */
#define BOARD_SERIAL_ID BIT4     /* port A */
#define BOARD_RADIO_VREG_EN BIT5 /* port A */
#define BOARD_RADIO_RESETN BIT6  /* port A */
#define BOARD_RADIO_CSN BIT0     /* port B */
#define BOARD_RADIO_SOMI BIT3    /* port B */
#define BOARD_RADIO_FIFO BIT7    /* port B */
#define BOARD_FLASH_SO BIT2      /* port D */
#define BOARD_RADIO_SFD BIT4     /* port D */
#define BOARD_RADIO_CCA BIT6     /* port D */
#define BOARD_RADIO_FIFOP BIT6   /* port E */

/* 2467X, "Unconnected pins"; PG3 and PG4 are the watch crystal's: AS0 takes them. */
#define BOARD_PORTS(PORT)                                                                          \
    PORT(PORTA, DDRA, BOARD_LEDS | BOARD_FLASH_CSN, BOARD_SERIAL_ID)                               \
    PORT(PORTB, DDRB, BOARD_RADIO_CSN, BOARD_RADIO_SOMI | BOARD_RADIO_FIFO)                        \
    PORT(PORTC, DDRC, 0, 0)                                                                        \
    PORT(PORTD, DDRD, BOARD_FLASH_SO, BOARD_FLASH_SO | BOARD_RADIO_SFD | BOARD_RADIO_CCA)          \
    PORT(PORTE, DDRE, BOARD_LOG_TXD | BOARD_LOG_RXD, BOARD_LOG_RXD | BOARD_RADIO_FIFOP)            \
    PORT(PORTF, DDRF, 0, 0)                                                                        \
    PORT(PORTG, DDRG, 0, 0)
#include "../pins.h"

#endif
