/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MICA2DOT; the same facts as in data/boards/mica2dot.toml.
 *
 *   PA2          LED, on while low
 *   PE5          chip select of the flash memory; PA3, PA7, PA6 its clock, data in and out
 *   PE7          CC1000 CHP_OUT
 *   PB0          SS of the SPI as a slave, low on the board; PB1..PB3 CC1000 DCLK, DIO, DIO
 *   PC0          PW0: trigger of the measurement unit, high during the operation
 *   PD5, PD6, PD7  CC1000 PALE, PCLK, PDATA
 *   PE0, PE1     log, USART0
 *   PF0          CC1000 RSSI
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "../mica.h"

#define BOARD_CRYSTAL_HZ 4000000UL
#define BOARD_MCLK_KHZ 4000
#define BOARD_LOG_BAUD 19200UL
#define BOARD_POWER 0x0F   /* 0 dBm at 433 MHz (SWRS048, table 3) */
#define BOARD_WINDOW_MS 40 /* an answer takes 10 ms on the air */

#define BOARD_RADIO_UJ 5000

#define BOARD_LED BIT2         /* port A */
#define BOARD_FLASH_SO BIT6    /* port A */
#define BOARD_RADIO_MISO BIT3  /* port B */
#define BOARD_RADIO_SPI 0x0F   /* port B, SS to MISO */
#define BOARD_RADIO_PALE BIT5  /* port D */
#define BOARD_RADIO_PCLK BIT6  /* port D */
#define BOARD_RADIO_PDATA BIT7 /* port D */
#define BOARD_FLASH_CSN BIT5   /* port E */
#define BOARD_RADIO_CHP BIT7   /* port E */
#define BOARD_RADIO_RSSI BIT0  /* port F */

/* 2467X, "Unconnected pins"; PG3 and PG4 are the watch crystal's: AS0 takes them. */
#define BOARD_PORTS(PORT)                                                                          \
    PORT(PORTA, DDRA, BOARD_LED | BOARD_FLASH_SO, BOARD_FLASH_SO)                                  \
    PORT(PORTB, DDRB, 0, BOARD_RADIO_SPI)                                                          \
    PORT(PORTC, DDRC, 0, 0)                                                                        \
    PORT(PORTD, DDRD, BOARD_RADIO_PALE | BOARD_RADIO_PCLK, 0)                                      \
    PORT(PORTE, DDRE, BOARD_LOG_TXD | BOARD_LOG_RXD | BOARD_FLASH_CSN,                             \
         BOARD_LOG_RXD | BOARD_RADIO_CHP)                                                          \
    PORT(PORTF, DDRF, 0, BOARD_RADIO_RSSI)                                                         \
    PORT(PORTG, DDRG, 0, 0)
#include "../pins.h"

#endif
