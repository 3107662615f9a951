/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What both MICA2 with an FPGA on the expansion connector share; the same facts as in
 * data/boards/mica2-fpga-*.toml. The connector's names of the pins: TinyOS,
 * tos/platform/mica2/hardware.h.
 *
 *   PC0..PC7   PW0..PW7: the eight lines; of the SPI, SCK, CS, MOSI, MISO are PC0..PC3
 *   PB4        PWM0: toggle
 *   PB5        PWM1A: supply of the FPGA, on while high
 *   PD2, PD3   USART1
 *   PE6        INT2, the chip's INT6: a result is ready
 *   PE7        INT3: trigger of the measurement unit, which PW0 is on a MICA2 alone
 */
#ifndef SUNSEAL_BOARD_MICA2_FPGA_H
#define SUNSEAL_BOARD_MICA2_FPGA_H

#define BOARD_TRIGGER BIT7
#define BOARD_TRIGGER_OUT PORTE
#define BOARD_TRIGGER_DIR DDRE

#include "mica2.h"

#define BOARD_COPROCESSOR_TOGGLE BIT4    /* port B */
#define BOARD_COPROCESSOR_SUPPLY BIT5    /* port B */
#define BOARD_COPROCESSOR_SCK BIT0       /* port C */
#define BOARD_COPROCESSOR_CS BIT1        /* port C */
#define BOARD_COPROCESSOR_MOSI BIT2      /* port C */
#define BOARD_COPROCESSOR_MISO BIT3      /* port C */
#define BOARD_COPROCESSOR_IRQ BIT6       /* port E, INT6 */
#define BOARD_COPROCESSOR_IRQ_RISES 0x30 /* EICRB: ISC61 | ISC60 */
#define BOARD_COPROCESSOR_UBRR 1         /* 460,800 baud: 7372800 / 8 / 2 */

static inline void board_coprocessor_power(bool on) {
    DDRB |= BOARD_COPROCESSOR_SUPPLY;
    if (on)
        PORTB |= BOARD_COPROCESSOR_SUPPLY;
    else
        PORTB &= (uint8_t)~BOARD_COPROCESSOR_SUPPLY;
}

/* SBIW and BRNE, 4 cycles a turn. */
static inline void board_coprocessor_wait(void) {
    for (uint8_t ms = BOARD_COPROCESSOR_BOOT_MS; ms != 0; ms--) {
        uint16_t turns = BOARD_MCLK_KHZ / 4;
        __asm__ volatile("1: sbiw %0, 1\n\tbrne 1b" : "+w"(turns));
    }
}

#endif
