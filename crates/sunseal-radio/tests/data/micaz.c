// SPDX-License-Identifier: MIT OR Apache-2.0
// Two MICAz: number 1 sends a frame that asks for an acknowledgment; whoever gets a frame keeps it in `got`.
// CSn PB0, VREG_EN PA5, RESETn PA6, FIFOP PE6.

#include <avr/io.h>
#include <stdint.h>
#include <util/delay.h>
volatile uint8_t got[64];
volatile uint8_t got_bytes;
static uint8_t byte(uint8_t out) {
    SPDR = out;
    while (!(SPSR & _BV(SPIF))) {
    }
    return SPDR;
}
static void put(uint8_t head, const uint8_t *bytes, uint8_t count) {
    PORTB &= ~1;
    byte(head);
    while (count--)
        byte(*bytes++);
    PORTB |= 1;
}
static void radio_on(uint8_t own) {
    DDRB = 0x07;
    PORTB = 1;
    DDRA = 0x60;
    SPCR = _BV(SPE) | _BV(MSTR);
    SPSR = _BV(SPI2X);
    PORTA = 0x20;
    _delay_us(700);
    PORTA = 0x60;
    _delay_us(10);
    put(0x01, 0, 0);
    _delay_us(1300);
    const uint8_t names[] = {0x80, 0x22, 0x00, own, 0x00};
    put(0xE8, names, 5);
    const uint8_t modem[] = {0x0A, 0xF2};
    put(0x11, modem, 2);
    const uint8_t whole[] = {0x00, 0x7F};
    put(0x1C, whole, 2);
    put(0x03, 0, 0);
    _delay_us(400);
}
static void take(void) {
    while (!(PINE & 0x40)) {
    }
    PORTB &= ~1;
    byte(0x7F);
    uint8_t count = got[0] = byte(0);
    for (uint8_t i = 1; i <= count; i++)
        got[i] = byte(0);
    PORTB |= 1;
    got_bytes = count + 1;
}
int main(void) {
    radio_on(OWN);
#if OWN == 1
    _delay_ms(2);
    const uint8_t frame[] = {FRAME};
    put(0x3E, frame, sizeof frame);
    put(0x04, 0, 0);
#endif
    take();
    for (;;) {
    }
}
