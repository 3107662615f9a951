/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * SPI by eUSCI_B1 of an FR5xx, mode 0, with BOARD_COPROCESSOR_SCK_DIVIDER ticks of SMCLK a bit, and
 * the line IRQ on port 6. While one byte is shifted the next one waits in the buffer.
 */
#include "board.h"
#include "link.h"

#define SPI_MASTER (UCCKPH | UCMSB | UCMST | UCSYNC | UCSSEL__SMCLK)

/* By its handler, coprocessor/src/wake_msp430.S. */
extern volatile uint8_t coprocessor_ready;
volatile uint8_t coprocessor_ready;

void link_open(void) {
    P5OUT |= BOARD_COPROCESSOR_CS;
    P5DIR |= BOARD_COPROCESSOR_CS;
    UCB1CTLW0 = SPI_MASTER | UCSWRST;
    UCB1BRW = BOARD_COPROCESSOR_SCK_DIVIDER;
    P5SEL0 |= BOARD_COPROCESSOR_SPI_PINS;
    UCB1CTLW0 = SPI_MASTER;
    P6DIR &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
    P6IES &= (uint8_t)~BOARD_COPROCESSOR_IRQ; /* it rises */
}

void link_close(void) {
    link_watch(false);
    UCB1CTLW0 = SPI_MASTER | UCSWRST;
    P5SEL0 &= (uint8_t)~BOARD_COPROCESSOR_SPI_PINS;
    P5OUT &= (uint8_t)~(BOARD_COPROCESSOR_SPI_PINS | BOARD_COPROCESSOR_CS);
    P5DIR |= BOARD_COPROCESSOR_SPI_PINS | BOARD_COPROCESSOR_CS;
    P6OUT &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
    P6DIR |= BOARD_COPROCESSOR_IRQ;
}

void link_send_byte(uint8_t byte) {
    P5OUT &= (uint8_t)~BOARD_COPROCESSOR_CS;
    while ((UCB1IFG & UCTXIFG) == 0) {
    }
    UCB1TXBUF = byte;
}

void link_send(const uint8_t *bytes, uint16_t count) {
    while (count-- != 0) {
        while ((UCB1IFG & UCTXIFG) == 0) {
        }
        UCB1TXBUF = *bytes++;
    }
}

void link_turn(void) {
    while (UCB1STATW & UCBUSY) {
    }
    (void)UCB1RXBUF; /* of the last one, and none is ready */
}

static uint8_t next(void) {
    while ((UCB1IFG & UCRXIFG) == 0) {
    }
    return (uint8_t)UCB1RXBUF;
}

uint8_t link_status(void) {
    UCB1TXBUF = 0;
    const uint8_t status = next();
    return (status & (uint8_t)~STATUS_REASON) == STATUS_READY ? status : 0;
}

uint16_t link_polls_max(void) {
    return 18000; /* 70 cycles a look, of which a byte takes 32 */
}

bool link_is_slow(void) {
    return false;
}

bool link_receive(uint8_t *bytes, uint16_t count) {
    UCB1TXBUF = 0;
    while (--count != 0) {
        while ((UCB1IFG & UCTXIFG) == 0) {
        }
        UCB1TXBUF = 0;
        *bytes++ = next();
    }
    *bytes = next();
    return true;
}

void link_finish(void) {
    P5OUT |= BOARD_COPROCESSOR_CS;
}

void link_watch(bool on) {
    if (on) {
        P6IE |= BOARD_COPROCESSOR_IRQ;
    } else {
        P6IE &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
        P6IFG &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
        coprocessor_ready = 0;
    }
}

bool link_seen(void) {
    return coprocessor_ready != 0;
}
