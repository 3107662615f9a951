/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ascon.h"

/* Each word as its even and its odd bits: then a rotation is one of each half, which the shifter of
 * the next instruction does for nothing. __builtin_memcpy of four bytes is one load or store of any
 * alignment; memcpy is a call where the library is built freestanding. */

static void exchange(uint32_t *x, uint8_t shift, uint32_t mask) {
    uint32_t t = (*x ^ *x >> shift) & mask;
    *x ^= t ^ t << shift;
}

/* Even bits to the lower half, odd bits to the upper one. */
static uint32_t apart(uint32_t x) {
    exchange(&x, 1, 0x22222222);
    exchange(&x, 2, 0x0c0c0c0c);
    exchange(&x, 4, 0x00f000f0);
    exchange(&x, 8, 0x0000ff00);
    return x;
}

static uint32_t together(uint32_t x) {
    exchange(&x, 8, 0x0000ff00);
    exchange(&x, 4, 0x00f000f0);
    exchange(&x, 2, 0x0c0c0c0c);
    exchange(&x, 1, 0x22222222);
    return x;
}

void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t bytes[8]) {
    uint32_t low, high;
    __builtin_memcpy(&low, bytes, 4);
    __builtin_memcpy(&high, bytes + 4, 4);
    low = apart(low);
    high = apart(high);
    state->half[2 * index] ^= (low & 0xffff) | high << 16;
    state->half[2 * index + 1] ^= low >> 16 | (high & 0xffff0000);
}

void sunseal_ascon_get(uint8_t bytes[8], const struct sunseal_ascon_state *state, uint8_t index) {
    uint32_t even = state->half[2 * index], odd = state->half[2 * index + 1];
    uint32_t low = together((even & 0xffff) | odd << 16);
    uint32_t high = together(even >> 16 | (odd & 0xffff0000));
    __builtin_memcpy(bytes, &low, 4);
    __builtin_memcpy(bytes + 4, &high, 4);
}
