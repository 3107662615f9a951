/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program that plays messages over I2C which a test has written into `script`, and keeps what
 * came back in `answer`. A message is: address, bytes to write, bytes to read, the bytes to write.
 * Its answer: 0, or 1 where a byte was not acknowledged, then the bytes read. `count` messages lie
 * behind each other. BUS is the first address of an eUSCI_B, a USCI_B (with USCI) or nothing for
 * the ATmega128's TWI; DIVIDER its divider.
 */
#include <stdint.h>

#define REG8(a) (*(volatile uint8_t *)(a))
#define REG16(a) (*(volatile uint16_t *)(a))

volatile uint8_t count;
volatile uint8_t script[512];
volatile uint8_t answer[512];
volatile uint8_t played;

#if defined __AVR__

static uint8_t step(uint8_t bits) {
    REG8(0x74) = bits; /* TWCR: TWINT and TWEN are in all */
    while (!(REG8(0x74) & 0x80))
        ;
    return REG8(0x71) & 0xF8;
}

static void start(void) {
    REG8(0x70) = DIVIDER; /* TWBR */
}

static uint8_t message(uint8_t to, uint8_t writes, const volatile uint8_t *w, uint8_t reads,
                       volatile uint8_t *r) {
    uint8_t refused = 0;
    if (writes || !reads) {
        step(0xA4);
        REG8(0x73) = (uint8_t)(to << 1);
        refused = step(0x84) != 0x18;
        for (; writes && !refused; writes--) {
            REG8(0x73) = *w++;
            refused = step(0x84) != 0x28;
        }
    }
    if (reads && !refused) {
        step(0xA4);
        REG8(0x73) = (uint8_t)(to << 1 | 1);
        refused = step(0x84) != 0x40;
        for (; reads && !refused; reads--) {
            step(reads > 1 ? 0xC4 : 0x84);
            *r++ = REG8(0x73);
        }
    }
    REG8(0x74) = 0x94; /* STOP */
    while (REG8(0x74) & 0x10)
        ;
    return refused;
}

#else

#define STT 0x02
#define STP 0x04
#define TR 0x10
#define NACK 0x20
#define CTLW0 REG16(BUS)
#define BRW REG16(BUS + 0x06)
#define RXBUF REG16(BUS + 0x0C)
#define TXBUF REG16(BUS + 0x0E)
#if defined USCI
#define SA REG16(BUS + 0x12)
#define IFG REG8(BUS + 0x1D)
#else
#define SA REG16(BUS + 0x20)
#define IFG REG16(BUS + 0x2C)
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
    CTLW0 = 0x0FC1; /* I2C master, SMCLK, in reset */
    BRW = DIVIDER;
    CTLW0 = 0x0FC0;
}

static uint8_t message(uint8_t to, uint8_t writes, const volatile uint8_t *w, uint8_t reads,
                       volatile uint8_t *r) {
    uint8_t refused = 0;
    SA = to;
    IFG = 0;
    if (!reads && !writes) {
        CTLW0 |= TR | STT | STP;
        while (CTLW0 & STP)
            ;
        return (IFG & NACK) != 0;
    }
    if (writes) {
        CTLW0 |= TR | STT;
        while (writes--) {
            while (!(IFG & (2 | NACK)))
                ;
            if (IFG & NACK)
                break;
            TXBUF = *w++;
        }
        while (!(IFG & (2 | NACK)))
            ;
        if (!reads)
            CTLW0 |= STP;
    }
    if (reads && !(IFG & NACK)) {
        CTLW0 = (uint16_t)((CTLW0 & ~TR) | STT);
        while (CTLW0 & STT)
            ;
        while (reads && !(IFG & NACK)) {
            if (reads == 1)
                CTLW0 |= STP;
            while (!(IFG & 1))
                ;
            *r++ = (uint8_t)RXBUF;
            reads--;
        }
    }
    refused = (IFG & NACK) != 0;
    if (refused)
        CTLW0 |= STP;
    while (CTLW0 & STP)
        ;
    return refused || (IFG & NACK) != 0;
}

#endif

/* Where the test writes its script. */
__attribute__((noinline)) void ready(void) {
    played = 0;
}

int main(void) {
    start();
    ready();
    const volatile uint8_t *s = script;
    volatile uint8_t *a = answer;
    for (uint8_t i = 0; i < count; i++) {
        uint8_t writes = s[1], reads = s[2];
        a[0] = message(s[0], writes, s + 3, reads, a + 1);
        s += 3 + writes;
        a += 1 + reads;
    }
    played = 1;
    for (;;) {
    }
}
