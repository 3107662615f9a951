/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program that talks: it writes `ready`, answers what is typed, and on `q` stops with a status. On the AVR `a` asks
 * for ADC channel 3 and `p` for pin PD0; the Cortex-M4 talks by semihosting alone.
 */
#include <stdint.h>

#define REG8(a) (*(volatile uint8_t *)(a))
#define REG16(a) (*(volatile uint16_t *)(a))

volatile uint8_t status;

static void put(char c);

static void text(const char *s) {
    while (*s)
        put(*s++);
}

#if defined __AVR__
/* ATmega128L, 7.3728 MHz: 9600 baud by a divider of 16 * 48. */
static void start(void) {
    REG8(0x29) = 47;   /* UBRR0L */
    REG8(0x2A) = 0x18; /* UCSR0B: RXEN, TXEN */
}
static void put(char c) {
    while (!(REG8(0x2B) & 0x20)) /* UCSR0A: UDRE */
        ;
    REG8(0x2C) = (uint8_t)c; /* UDR0 */
}
static char get(void) {
    while (!(REG8(0x2B) & 0x80)) /* RXC */
        ;
    return (char)REG8(0x2C);
}
static void number(uint16_t n) {
    char digits[6];
    uint8_t i = 0;
    do {
        digits[i++] = (char)('0' + n % 10);
    } while (n /= 10);
    while (i)
        put(digits[--i]);
    put('\n');
}
static void other(char c) {
    if (c == 'a') {
        REG8(0x27) = 0x43; /* ADMUX: AVCC, channel 3 */
        REG8(0x26) = 0xC6; /* ADCSRA: ADEN, ADSC, clock / 64 */
        while (REG8(0x26) & 0x40)
            ;
        uint16_t low = REG8(0x24);
        number((uint16_t)(low | (uint16_t)REG8(0x25) << 8));
    } else if (c == 'p') {
        number(REG8(0x30) & 1); /* PIND */
    } else {
        put(c);
    }
}
#elif defined __MSP430__
/* MSP430FR5994, SMCLK of 1 MHz: 9600 baud by table 30-5 of SLAU367P. */
static void start(void) {
    REG16(0x015C) = 0x5A80; /* WDTCTL: hold */
    REG8(0x020D) |= 3;      /* P2SEL1: UCA0TXD, UCA0RXD */
    REG16(0x0130) = 0;      /* PM5CTL0: pins unlocked */
    REG16(0x05C0) = 0x0081; /* UCA0CTLW0: SMCLK, in reset */
    REG16(0x05C6) = 6;
    REG16(0x05C8) = 0x2081;
    REG16(0x05C0) = 0x0080;
}
static void put(char c) {
    while (!(REG16(0x05DC) & 2)) /* UCA0IFG: UCTXIFG */
        ;
    REG16(0x05CE) = (uint8_t)c;
}
static char get(void) {
    while (!(REG16(0x05DC) & 1)) /* UCRXIFG */
        ;
    return (char)REG16(0x05CC);
}
static void other(char c) {
    put(c);
}
#else
static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void start(void) {
    REG16(0x4000480C) = 0x5A80; /* WDTCTL: hold */
}
static void put(char c) {
    semihosting(3, &c);
}
static char get(void) {
    return 'q';
}
static void other(char c) {
    put(c);
}
#endif

int main(void) {
    start();
    text("ready\n");
    for (;;) {
        char c = get();
        if (c == 'q')
            break;
        other(c);
    }
    text("bye\n");
    status = 7;
#if defined __ARM_ARCH
    const uint32_t block[2] = {0x20026, 5};
    semihosting(4, "by name\n");
    semihosting(0x20, block);
#endif
    for (;;)
        ;
}
