// SPDX-License-Identifier: MIT OR Apache-2.0
// The benchmarks' program, a mix like the firmware's: multi-word multiplication, CRC over a buffer, block copies, calls and stack traffic.
// It counts its rounds at a fixed place, so that other simulators can be asked how far they came.
#define ROUNDS 0x0F00
#include <stdint.h>
static uint8_t a[20], b[20], product[40], buffer[256];

__attribute__((noinline)) static void multiply(void) {
    for (uint8_t i = 0; i < 40; i++) product[i] = 0;
    for (uint8_t i = 0; i < 20; i++) {
        uint16_t carry = 0;
        for (uint8_t j = 0; j < 20; j++) {
            carry += product[i + j] + (uint16_t)a[i] * b[j];
            product[i + j] = carry;
            carry >>= 8;
        }
        product[i + 20] = carry;
    }
}

__attribute__((noinline)) static uint16_t crc(uint16_t seed) {
    for (uint16_t i = 0; i < sizeof buffer; i++) {
        seed ^= (uint16_t)buffer[i] << 8;
        for (uint8_t bit = 0; bit < 8; bit++) seed = seed & 0x8000 ? seed << 1 ^ 0x1021 : seed << 1;
    }
    return seed;
}

__attribute__((noinline)) static uint16_t fibonacci(uint16_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void) {
    uint16_t seed = 1;
    for (;;) {
        ++*(volatile uint16_t *)ROUNDS;
        for (uint8_t i = 0; i < 20; i++) { a[i] += seed + i; b[i] ^= seed * i; }
        multiply();
        for (uint16_t i = 0; i < sizeof buffer; i++) buffer[i] = product[i % 40] + i;
        seed = crc(seed) + fibonacci(12);
    }
}
