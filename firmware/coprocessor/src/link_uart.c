/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * USART1 at BOARD_COPROCESSOR_UBRR with the double rate. The serial flash shares its pins, and is
 * not selected.
 */
#include "board.h"
#include "link.h"

/* A frame at 460,800 baud takes 160 cycles; a look takes 6 or more. */
#define LOOKS_MAX 4000U

void link_open(void) {
    UBRR1H = 0;
    UBRR1L = BOARD_COPROCESSOR_UBRR;
    UCSR1A = U2X;
    UCSR1B = TXEN | RXEN;
}

void link_close(void) {
    UCSR1B = 0;
}

/* The receiver itself wakes; its interrupt stays until UDR1 is read. */
static volatile bool seen;

void __vector_30(void) __attribute__((signal, used, externally_visible));
void __vector_30(void) {
    UCSR1B &= (uint8_t)~RXCIE;
    seen = true;
}

void link_watch(bool on) {
    if (on) {
        UCSR1B |= RXCIE;
    } else {
        UCSR1B &= (uint8_t)~RXCIE;
        seen = false;
    }
}

bool link_seen(void) {
    return seen;
}

void link_send_byte(uint8_t byte) {
    while ((UCSR1A & UDRE) == 0) {
    }
    UDR1 = byte;
}

void link_send(const uint8_t *bytes, uint16_t count) {
    while (count-- != 0)
        link_send_byte(*bytes++);
}

void link_turn(void) {}

uint8_t link_status(void) {
    if ((UCSR1A & RXC) == 0)
        return 0;
    const uint8_t status = UDR1;
    return (status & (uint8_t)~STATUS_REASON) == STATUS_READY ? status : 0;
}

uint16_t link_polls_max(void) {
    return 60000; /* 20 cycles a look */
}

bool link_is_slow(void) {
    /* Two bytes are still on their way, and the status takes a frame: 480 cycles. */
    return true;
}

bool link_receive(uint8_t *bytes, uint16_t count) {
    while (count-- != 0) {
        uint16_t looks = LOOKS_MAX;
        while ((UCSR1A & RXC) == 0) {
            if (--looks == 0)
                return false;
        }
        *bytes++ = UDR1;
    }
    return true;
}

void link_finish(void) {}
