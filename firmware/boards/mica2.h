/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What a MICA2 has with and without a board on its expansion connector; the same facts as in
 * data/boards/mica2*.toml.
 *
 *   PA0..PA2     LEDs, on while low
 *   PA3          chip select of the flash memory; PD5, PD3, PD2 its clock, data in and out
 *   PA4          serial number chip, pulled up
 *   PA6          CC1000 CHP_OUT
 *   PB0          SS of the SPI as a slave, low on the board; PB1..PB3 CC1000 DCLK, DIO, DIO
 *   PD4, PD6, PD7  CC1000 PALE, PCLK, PDATA
 *   PE0, PE1     log, USART0
 *   PF0          CC1000 RSSI
 */
#ifndef SUNSEAL_BOARD_MICA2_H
#define SUNSEAL_BOARD_MICA2_H

#include "mica.h"

#define BOARD_CRYSTAL_HZ 7372800UL
#define BOARD_MCLK_KHZ 7373 /* rounded */
#define BOARD_LOG_BAUD 115200UL
#define BOARD_POWER 0x0F   /* 0 dBm at 433 MHz (SWRS048, table 3) */
#define BOARD_WINDOW_MS 40 /* an answer takes 10 ms on the air */

#define BOARD_RADIO_UJ 5000

#define BOARD_LEDS 0x07        /* port A */
#define BOARD_FLASH_CSN BIT3   /* port A */
#define BOARD_SERIAL_ID BIT4   /* port A */
#define BOARD_RADIO_CHP BIT6   /* port A */
#define BOARD_RADIO_MISO BIT3  /* port B */
#define BOARD_RADIO_SPI 0x0F   /* port B, SS to MISO */
#define BOARD_FLASH_SO BIT2    /* port D */
#define BOARD_RADIO_PALE BIT4  /* port D */
#define BOARD_RADIO_PCLK BIT6  /* port D */
#define BOARD_RADIO_PDATA BIT7 /* port D */
#define BOARD_RADIO_RSSI BIT0  /* port F */

/* 2467X, "Unconnected pins"; PG3 and PG4 are the watch crystal's: AS0 takes them. */
#define BOARD_PORTS(PORT)                                                                          \
    PORT(PORTA, DDRA, BOARD_LEDS | BOARD_FLASH_CSN, BOARD_SERIAL_ID | BOARD_RADIO_CHP)             \
    PORT(PORTB, DDRB, 0, BOARD_RADIO_SPI)                                                          \
    PORT(PORTC, DDRC, 0, 0)                                                                        \
    PORT(PORTD, DDRD, BOARD_FLASH_SO | BOARD_RADIO_PALE | BOARD_RADIO_PCLK, BOARD_FLASH_SO)        \
    PORT(PORTE, DDRE, BOARD_LOG_TXD | BOARD_LOG_RXD, BOARD_LOG_RXD)                                \
    PORT(PORTF, DDRF, 0, BOARD_RADIO_RSSI)                                                         \
    PORT(PORTG, DDRG, 0, 0)
#include "pins.h"

#endif
