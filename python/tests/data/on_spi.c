/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program that clocks `length` bytes of `out` over SPI, the other side selected, keeps what came
 * back in `in`, and does so again. SPI is the first address of an eUSCI_B or a USCI_B (with USCI);
 * PORT the address of PxOUT, SELECT the bit of the pin that selects. The ATmega128 selects by PC0.
 */
#include <stdint.h>

#define REG8(a) (*(volatile uint8_t *)(a))
#define REG16(a) (*(volatile uint16_t *)(a))

volatile uint8_t length;
volatile uint8_t out[32];
volatile uint8_t in[32];

#if defined __AVR__

#define OUT REG8(0x35) /* PORTC */
#undef SELECT
#define SELECT 1

static void start(void) {
    OUT = SELECT;
    REG8(0x34) = SELECT; /* DDRC */
    REG8(0x38) = 0x01;   /* PORTB: SS, which selects a board's radio, stays high */
    REG8(0x37) = 0x07;   /* DDRB: SS, SCK, MOSI */
    REG8(0x2D) = 0x50;   /* SPCR: a master in mode 0 */
}

static uint8_t exchange(uint8_t byte) {
    REG8(0x2F) = byte; /* SPDR */
    while (!(REG8(0x2E) & 0x80))
        ;
    return REG8(0x2F);
}

#else

#define OUT REG8(PORT)
#if defined USCI
#define IFG REG8(SPI + 0x1D)
#else
#define IFG REG16(SPI + 0x2C)
#endif

static void start(void) {
#if defined __MSP430__
    REG16(0x015C) = 0x5A80; /* WDTCTL: hold */
#if !defined USCI
    REG16(0x0130) = 0; /* PM5CTL0: pins unlocked */
#endif
#else
    REG16(0x4000480C) = 0x5A84;
#endif
    OUT |= SELECT;
    REG8(PORT + 2) |= SELECT; /* PxDIR */
    REG16(SPI) = 0xA981;      /* master in mode 0, SMCLK, in reset */
    REG16(SPI + 0x06) = 4;
    REG16(SPI) = 0xA980;
}

static uint8_t exchange(uint8_t byte) {
    REG16(SPI + 0x0E) = byte;
    while (!(IFG & 1))
        ;
    return (uint8_t)REG16(SPI + 0x0C);
}

#endif

/* Where the test writes what is to be sent and reads what came back. */
__attribute__((noinline)) void ready(void) {
    in[0] = in[0];
}

int main(void) {
    start();
    for (;;) {
        ready();
        OUT = (uint8_t)(OUT & ~SELECT);
        for (uint8_t i = 0; i < length; i++)
            in[i] = exchange(out[i]);
        OUT |= SELECT;
    }
}
