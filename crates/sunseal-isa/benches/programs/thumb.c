// SPDX-License-Identifier: MIT OR Apache-2.0
// The benchmarks' program, a mix like the firmware's: multi-word multiplication with UMAAL, CRC over a buffer, block copies, calls, stack traffic and floats.
// It counts its rounds at a fixed place, so that other simulators can be asked how far they came.
#define ROUNDS 0x20007000
#include <stdint.h>
static uint32_t a[8], b[8], product[16];
static uint8_t buffer[256];
static volatile float mean;

int main(void);
__attribute__((section(".start"), noreturn)) void start(void) { for (;;) main(); }

static inline uint32_t umaal(uint32_t *high, uint32_t low, uint32_t n, uint32_t m) {
    __asm__("umaal %0, %1, %2, %3" : "+r"(low), "+r"(*high) : "r"(n), "r"(m));
    return low;
}

__attribute__((noinline)) static void multiply(void) {
    for (int i = 0; i < 16; i++) product[i] = 0;
    for (int i = 0; i < 8; i++) {
        uint32_t carry = 0;
        for (int j = 0; j < 8; j++) product[i + j] = umaal(&carry, product[i + j], a[i], b[j]);
        product[i + 8] = carry;
    }
}

__attribute__((noinline)) static uint32_t crc(uint32_t seed) {
    for (uint32_t i = 0; i < sizeof buffer; i++) {
        seed ^= buffer[i] << 8;
        for (int bit = 0; bit < 8; bit++) seed = seed & 0x8000 ? seed << 1 ^ 0x1021 : seed << 1;
    }
    return seed;
}

__attribute__((noinline)) static uint32_t fibonacci(uint32_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void) {
    static uint32_t seed;
    for (int turn = 0; turn < 100; turn++) {
        ++*(volatile uint32_t *)ROUNDS;
        for (uint32_t i = 0; i < 8; i++) { a[i] += seed + i; b[i] ^= seed * i; }
        for (int k = 0; k < 8; k++) multiply();
        for (uint32_t i = 0; i < sizeof buffer; i++) buffer[i] = product[i % 16] + i;
        seed = crc(seed) + fibonacci(12);
        float sum = mean;
        for (int i = 0; i < 32; i++) sum = sum * 0.5f + (float)buffer[i];
        mean = sum;
    }
    return 0;
}
