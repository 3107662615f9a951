// SPDX-License-Identifier: MIT OR Apache-2.0
// What a node's program does all day, without a library: sorting, a checksum, products by the hardware
// multiplier. `results` is compared with what a host computes.
#include <stdint.h>

#define REGISTER(address) (*(volatile uint16_t *)(address))
#define WDTCTL REGISTER(0x0120)
#define MPY REGISTER(0x0130)
#define MPYS REGISTER(0x0132)
#define MAC REGISTER(0x0134)
#define MACS REGISTER(0x0136)
#define OP2 REGISTER(0x0138)
#define RESLO REGISTER(0x013A)
#define RESHI REGISTER(0x013C)
#define SUMEXT REGISTER(0x013E)

#define COUNT 64

struct results {
    uint16_t sorted[COUNT];
    uint16_t crc;
    uint16_t dot[3];
    uint16_t signed_dot[3];
    uint16_t product[4];
};

struct results results;
static uint16_t words[COUNT];

static uint16_t next(uint16_t x) {
    x ^= (uint16_t)(x << 7);
    x ^= x >> 9;
    x ^= (uint16_t)(x << 8);
    return x;
}

static uint16_t crc(const uint8_t *bytes, uint16_t count) {
    uint16_t crc = 0xFFFF;
    while (count--) {
        crc ^= (uint16_t)(*bytes++ << 8);
        for (uint8_t bit = 0; bit < 8; bit++) {
            crc = (crc & 0x8000) ? (uint16_t)(crc << 1) ^ 0x1021 : (uint16_t)(crc << 1);
        }
    }
    return crc;
}

// a x b, words low first, by the schoolbook: a carry of each column into the next.
static void multiply(uint16_t out[4], const uint16_t a[2], const uint16_t b[2]) {
    MPY = a[0];
    OP2 = b[0];
    out[0] = RESLO;
    RESLO = RESHI;
    RESHI = 0;
    MAC = a[0];
    OP2 = b[1];
    MAC = a[1];
    OP2 = b[0];
    uint16_t carry = SUMEXT;
    out[1] = RESLO;
    RESLO = RESHI;
    RESHI = carry;
    MAC = a[1];
    OP2 = b[1];
    out[2] = RESLO;
    out[3] = RESHI;
}

__attribute__((noinline)) void done(void) {
    for (;;) {
    }
}

__attribute__((noreturn, used)) void start(void) {
    WDTCTL = 0x5A80;
    uint16_t x = 0xACE1;
    for (uint16_t i = 0; i < COUNT; i++) {
        words[i] = results.sorted[i] = x = next(x);
    }
    for (uint16_t i = 1; i < COUNT; i++) {
        uint16_t value = results.sorted[i], j = i;
        for (; j > 0 && results.sorted[j - 1] > value; j--) {
            results.sorted[j] = results.sorted[j - 1];
        }
        results.sorted[j] = value;
    }
    results.crc = crc((const uint8_t *)words, sizeof words);
    RESLO = 0;
    RESHI = 0;
    for (uint16_t i = 0; i + 1 < COUNT; i++) {
        MAC = words[i] >> 3;
        OP2 = words[i + 1] >> 3;
    }
    results.dot[0] = RESLO;
    results.dot[1] = RESHI;
    results.dot[2] = SUMEXT;
    RESLO = 0;
    RESHI = 0;
    for (uint16_t i = 0; i + 1 < COUNT; i++) {
        MACS = words[i];
        OP2 = words[i + 1];
    }
    results.signed_dot[0] = RESLO;
    results.signed_dot[1] = RESHI;
    results.signed_dot[2] = SUMEXT;
    multiply(results.product, words, words + 2);
    done();
    for (;;) {
    }
}

__attribute__((naked, section(".reset"))) void reset(void) {
    __asm__("mov #0x3900, r1\n br #start");
}

__attribute__((section(".vector"), used)) static void (*const vector)(void) = reset;
