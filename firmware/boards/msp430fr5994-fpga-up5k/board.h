/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP430FR5994 with an iCE40 UP5K on its BoosterPack headers; the same facts as in
 * data/boards/msp430fr5994-fpga-up5k.toml.
 *
 *   P1.0         LED1: trigger of the measurement unit, high during the operation
 *   P5.0..P5.3   MOSI, MISO, SCK (eUSCI_B1), CS
 *   P6.1         a result is ready
 *   P6.2         supply of the FPGA, on while high
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdbool.h>

#include "launchpad.h"

#define BOARD_COPROCESSOR_BOOT_MS 80 /* data/parts: it takes 70 ms */

#define BOARD_COPROCESSOR_SPI_PINS (BIT0 | BIT1 | BIT2) /* port 5 */
#define BOARD_COPROCESSOR_MISO BIT1                     /* port 5 */
#define BOARD_COPROCESSOR_CS BIT3                       /* port 5 */
#define BOARD_COPROCESSOR_IRQ BIT1                      /* port 6 */
#define BOARD_COPROCESSOR_SUPPLY BIT2                   /* port 6 */

/* The coprocessor wants 8 clocks of 24 MHz in a period of SCK: 333 ns or more. An even divider, so
 * that both halves of a period last alike: 500 ns. */
#define BOARD_MCLK_KHZ 8000
#define BOARD_COPROCESSOR_SCK_DIVIDER 4

/* From here on sleeping saves more than it takes; a byte takes 4.8 cycles of AES, 11 of XTEA, 2.3
 * of PRESENT: as on MICA2, whose clock is as fast within a tenth. */
#define BOARD_COPROCESSOR_SLEEP_BYTES_AES 112
#define BOARD_COPROCESSOR_SLEEP_BYTES_XTEA 56
#define BOARD_COPROCESSOR_SLEEP_BYTES_PRESENT 224

/* The DCO as it is after reset, 8 MHz, without its dividers by 8: beside the coprocessor's clock
 * the mote's is what its cycles depend on. */
#define BOARD_HAS_CLOCK
static inline void board_clock(void) {
    CSCTL0 = CSKEY;
    CSCTL3 = 0;
    CSCTL0_H = 0; /* a byte that is no key locks; a word would reset */
}

static inline void board_coprocessor_power(bool on) {
    P6DIR |= BOARD_COPROCESSOR_SUPPLY;
    if (on)
        P6OUT |= BOARD_COPROCESSOR_SUPPLY;
    else
        P6OUT &= (uint8_t)~BOARD_COPROCESSOR_SUPPLY;
}

/* DEC and JNZ, 3 cycles a turn. */
static inline void board_coprocessor_wait(void) {
    for (uint8_t ms = BOARD_COPROCESSOR_BOOT_MS; ms != 0; ms--) {
        uint16_t turns = BOARD_MCLK_KHZ / 3 + 1;
        __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
    }
}

#endif
