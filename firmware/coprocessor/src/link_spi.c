/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * SPI by program, mode 0: the chip's own SPI is the radio's. Four pins of port C; SCK is high and
 * low for BOARD_COPROCESSOR_READ_CYCLES or more together.
 */
#include "board.h"
#include "link.h"

#define SELECTED (uint8_t)~BOARD_COPROCESSOR_CS

void link_open(void) {
    PORTC |= BOARD_COPROCESSOR_CS;
    PORTC &= (uint8_t)~(BOARD_COPROCESSOR_SCK | BOARD_COPROCESSOR_MOSI);
    DDRC |= BOARD_COPROCESSOR_CS | BOARD_COPROCESSOR_SCK | BOARD_COPROCESSOR_MOSI;
    DDRC &= (uint8_t)~BOARD_COPROCESSOR_MISO;
    PORTC |= BOARD_COPROCESSOR_MISO; /* pulled up where nobody drives it */
    link_ready_open();
}

void link_close(void) {
    link_ready_close();
    const uint8_t pins = BOARD_COPROCESSOR_CS | BOARD_COPROCESSOR_SCK | BOARD_COPROCESSOR_MOSI |
                         BOARD_COPROCESSOR_MISO;
    PORTC &= (uint8_t)~pins;
    DDRC |= pins;
}

/* A branch by each bit, of keys too: the wire shows the bit itself. */
static uint8_t exchange(uint8_t byte) {
    for (uint8_t i = 0; i < 8; i++) {
        if (byte & 0x80)
            PORTC |= BOARD_COPROCESSOR_MOSI;
        else
            PORTC &= (uint8_t)~BOARD_COPROCESSOR_MOSI;
        byte = (uint8_t)(byte << 1);
        if (PINC & BOARD_COPROCESSOR_MISO)
            byte |= 1;
        PORTC |= BOARD_COPROCESSOR_SCK;
        PORTC &= (uint8_t)~BOARD_COPROCESSOR_SCK;
    }
    return byte;
}

void link_send_byte(uint8_t byte) {
    PORTC &= SELECTED;
    (void)exchange(byte);
}

void link_send(const uint8_t *bytes, uint16_t count) {
    while (count-- != 0)
        (void)exchange(*bytes++);
}

void link_turn(void) {}

uint8_t link_status(void) {
    const uint8_t status = exchange(0);
    return (status & (uint8_t)~STATUS_REASON) == STATUS_READY ? status : 0;
}

uint16_t link_polls_max(void) {
    return 6000; /* 200 cycles a look, which is a byte */
}

bool link_is_slow(void) {
    return false;
}

bool link_receive(uint8_t *bytes, uint16_t count) {
    while (count-- != 0)
        *bytes++ = exchange(0);
    return true;
}

void link_finish(void) {
    PORTC |= BOARD_COPROCESSOR_CS;
}
