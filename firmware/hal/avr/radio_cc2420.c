/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h's radio: a CC2420 at the SPI, FIFOP at INT6.
 */
#include "board.h"
#include "events.h"
#include "hal.h"

#define INT6 0x40
#define RISING_6 0x30 /* ISC61 | ISC60 */

/* FIFOP: a frame is whole. */
void __vector_7(void) __attribute__((signal, used, externally_visible));
void __vector_7(void) {
    hal_events |= EVENT_RADIO;
}

void hal_spi_init(void) {
    SPCR = SPE | MSTR; /* SCLK rests low, data valid at its rising edge; half of the clock */
    SPSR = SPI2X;
    EICRB = RISING_6;
}

#define RADIO_SUPPLY PORTA
#define RADIO_SELECT PORTB
#include "cc2420.inc"

uint8_t hal_spi_byte(uint8_t out) {
    SPDR = out;
    while ((SPSR & SPIF) == 0) {
    }
    return SPDR;
}

void hal_radio_arm(void) {
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_RADIO;
    EIFR = INT6;
    EIMSK |= INT6;
    if (PINE & BOARD_RADIO_FIFOP)
        hal_events |= EVENT_RADIO; /* it came before */
    interrupts_on();
}

bool hal_radio_wait(uint16_t timeout_ms) {
    hal_alarm_set(timeout_ms);
    uint8_t seen = hal_wait_for(EVENT_ALARM | EVENT_RADIO);
    hal_alarm_clear();
    EIMSK &= (uint8_t)~INT6;
    return (seen & EVENT_RADIO) != 0;
}
