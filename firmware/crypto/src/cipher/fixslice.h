/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_FIXSLICE_H
#define SUNSEAL_FIXSLICE_H

#include <stdint.h>

/*
 * Two blocks in eight slices: bit b of the byte in row r and column c of block n is bit
 * 8r + 2c + n of slice b. Fixslicing (Adomnicai and Peyrin, CHES 2021): ShiftRows is left out, so
 * that after k of them row r stands rk columns too far, and MixColumns of that round looks for its
 * neighbours there. Round keys stand in the same way, and take up the constant 0x63 of the S-box,
 * which MixColumns leaves as it is.
 */

static inline void sunseal_fixslice_swap(uint32_t *a, uint32_t *b, uint8_t shift, uint32_t mask) {
    uint32_t t = (*a >> shift ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

/* Words 2c + n of bytes r to slices b of bits 2c + n, and back. */
static inline void sunseal_fixslice_turn(uint32_t q[8]) {
    for (uint8_t i = 0; i < 8; i = (uint8_t)(i + 2)) {
        sunseal_fixslice_swap(&q[i], &q[i + 1], 1, 0x55555555);
    }
    for (uint8_t i = 0; i < 8; i = (uint8_t)(i + 1 + (i & 1) * 2)) {
        sunseal_fixslice_swap(&q[i], &q[i + 2], 2, 0x33333333);
    }
    for (uint8_t i = 0; i < 4; i++) {
        sunseal_fixslice_swap(&q[i], &q[i + 4], 4, 0x0f0f0f0f);
    }
}

/* Each byte to the right by 2k bits: columns by k. */
static inline uint32_t sunseal_fixslice_columns(uint32_t x, uint8_t k) {
    switch (k) {
    case 1:
        return (x >> 2 & 0x3f3f3f3f) | (x & 0x03030303) << 6;
    case 2:
        return (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    case 3:
        return (x >> 6 & 0x03030303) | (x & 0x3f3f3f3f) << 2;
    default:
        return x;
    }
}

#endif
