/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The line IRQ of the parallel bus and the SPI: INT6, which rises when a result waits.
 */
#include "board.h"
#include "link.h"

static volatile bool seen;

void __vector_7(void) __attribute__((signal, used, externally_visible));
void __vector_7(void) {
    EIMSK &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
    seen = true;
}

void link_ready_open(void) {
    DDRE &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
    PORTE |= BOARD_COPROCESSOR_IRQ; /* pulled up where nobody drives it */
    EICRB |= BOARD_COPROCESSOR_IRQ_RISES;
}

void link_ready_close(void) {
    link_watch(false);
    PORTE &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
    DDRE |= BOARD_COPROCESSOR_IRQ;
}

void link_watch(bool on) {
    if (on) {
        EIMSK |= BOARD_COPROCESSOR_IRQ;
    } else {
        EIMSK &= (uint8_t)~BOARD_COPROCESSOR_IRQ;
        EIFR = BOARD_COPROCESSOR_IRQ;
        seen = false;
    }
}

bool link_seen(void) {
    return seen;
}
