/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h's radio: a CC1000 with its registers on three pins of port D, which clocks its bits through
 * the SPI as the microcontroller's master.
 */
#include "board.h"
#include "events.h"
#include "hal.h"

static volatile uint8_t outgoing, incoming;

/* The next byte lies ready before its first bit is due. */
void __vector_17(void) __attribute__((signal, used, externally_visible));
void __vector_17(void) {
    incoming = SPDR;
    SPDR = outgoing;
    hal_events |= EVENT_RADIO;
}

void hal_spi_init(void) {
    PORTD |= BOARD_RADIO_PALE | BOARD_RADIO_PCLK;
}

/* PCLK falls and rises: the chip takes PDATA when it falls (SWRS048, "3-wire serial control"). */
static void put_bits(uint8_t value) {
    for (uint8_t bit = 0x80; bit != 0; bit >>= 1) {
        if (value & bit)
            PORTD |= BOARD_RADIO_PDATA;
        else
            PORTD &= (uint8_t)~BOARD_RADIO_PDATA;
        PORTD &= (uint8_t)~BOARD_RADIO_PCLK;
        PORTD |= BOARD_RADIO_PCLK;
    }
}

static void address(uint8_t value) {
    PORTD &= (uint8_t)~BOARD_RADIO_PALE;
    put_bits(value);
    PORTD |= BOARD_RADIO_PALE;
}

void hal_radio_write(uint8_t reg, uint8_t value) {
    address((uint8_t)(reg << 1 | 1));
    put_bits(value);
}

uint8_t hal_radio_read(uint8_t reg) {
    uint8_t value = 0;
    address((uint8_t)(reg << 1));
    DDRD &= (uint8_t)~BOARD_RADIO_PDATA;
    for (uint8_t i = 0; i < 8; i++) {
        PORTD &= (uint8_t)~BOARD_RADIO_PCLK;
        hal_delay_us(1);
        value = (uint8_t)(value << 1 | ((PIND & BOARD_RADIO_PDATA) != 0));
        PORTD |= BOARD_RADIO_PCLK;
    }
    DDRD |= BOARD_RADIO_PDATA;
    return value;
}

void hal_stream_start(bool send, uint8_t first, uint16_t timeout_ms) {
    if (send)
        DDRB |= BOARD_RADIO_MISO;
    SPCR = SPIE | SPE;
    SPDR = first;
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_RADIO;
    interrupts_on();
    hal_alarm_set(timeout_ms);
}

bool hal_stream_byte(uint8_t out, uint8_t *in) {
    outgoing = out;
    /* Both may come at once, and the alarm comes once. */
    if ((hal_wait_for(EVENT_ALARM | EVENT_RADIO) & EVENT_ALARM) != 0)
        return false;
    *in = incoming;
    return true;
}

void hal_stream_stop(void) {
    hal_alarm_clear();
    SPCR = 0;
    DDRB &= (uint8_t)~BOARD_RADIO_MISO;
}
