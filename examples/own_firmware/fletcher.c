/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program of your own: Fletcher's checksum over 64 bytes, between the edges
 * of the board's trigger pin (P1.0), then a stop for good. One file, no library.
 */
#include <stdint.h>

#define WDTCTL (*(volatile uint16_t *)0x015C) /* SLAS655, peripheral register map */
#define P1OUT (*(volatile uint8_t *)0x0202)
#define P1DIR (*(volatile uint8_t *)0x0204)

uint8_t message[64];
volatile uint16_t checksum;

__attribute__((noinline)) uint16_t fletcher16(const uint8_t *data, uint16_t size) {
    uint16_t a = 0, b = 0;
    while (size--) {
        a += *data++;
        if (a >= 255) a -= 255;
        b += a;
        if (b >= 255) b -= 255;
    }
    return (uint16_t)(b << 8 | a);
}

__attribute__((noinline)) void done(void) {
    __asm__ volatile("bis #0xF0, sr"); /* LPM4, interrupts off: the machine has halted */
}

int main(void) {
    for (uint16_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)i;
    P1DIR |= 1;
    P1OUT |= 1;
    checksum = fletcher16(message, sizeof message);
    P1OUT &= (uint8_t)~1;
    done();
    return 0;
}

__attribute__((naked, section(".text.start"))) void _start(void) {
    __asm__ volatile("mov #__stack_top, r1\n\t"
                     "mov #0x5A80, &0x015C\n\t" /* hold the watchdog */
                     "call #main\n"
                     "1: jmp 1b");
}

__attribute__((section(".vectors"), used)) static void (*const vectors[64])(void) = {[63] = _start};
